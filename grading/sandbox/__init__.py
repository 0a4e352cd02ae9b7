"""Lock a forked process into a sandbox made of the Linux kernel's own parts. Knows processes, not marks.

`enter` is called in a freshly forked, still single-threaded child. After it the process has: a root of its own with a
read-only system and one small writable folder; no network; process ids, IPC and host name of its own; an unused user
id and no way to new privileges; limits on memory, CPU time, processes, files; and a filter on system calls. Nothing
outside is needed but the library libseccomp: no helper program, no container service, and neither root nor a
configured kernel.
"""

from grading.sandbox.entry import enter, probe, protections
from grading.sandbox.kernel import SandboxError
from grading.sandbox.limits import Limits, die_with, limit_growth
from grading.sandbox.namespaces import Policy, readable_system

__all__ = [
    "Limits",
    "Policy",
    "SandboxError",
    "die_with",
    "enter",
    "limit_growth",
    "probe",
    "protections",
    "readable_system",
]
