"""All protections together: lock a process in, find out whether this machine can, and say what they are."""

from __future__ import annotations

import os
import platform
import signal
import struct
import sys
import tempfile

from grading.folder.errors import CourseError
from grading.sandbox import kernel, limits, namespaces, system_calls
from grading.sandbox.limits import Limits
from grading.sandbox.namespaces import Identity, Policy
from grading.sandbox.supervision import exit_status, supervise


def enter(policy: Policy, parent: int = 0, log: int = -1) -> None:
    """Locks this process in, and returns in its one child (process 2 of the sandbox); the caller stays as supervisor.

    The supervisor ends with the child's exit status; with 124 after the wall time, 137 when memory or processes ran
    out, 152 after the CPU time of all processes together. When it is killed, the kernel kills everything inside,
    and when this process or its `parent` is killed, the supervisor ends.

    Args:
        policy: what the process may see and use.
        parent: the process to die with; the parent of this one by default.
        log: a file descriptor for the names of refused system calls, in debug mode.

    Raises:
        SandboxError: when the kernel refuses a part; the process must then exit without running anything.
        OSError: the same, when files of the kernel or the temporary folder cannot be written.
    """
    limits.die_with(parent or os.getppid())
    owner = namespaces.leave_namespaces()
    alive, held = os.pipe()  # `held` closes when this process ends, however it ends
    first = os.fork()  # the first process of the new process ids: when it dies, all die
    if first:
        os.close(alive)
        os._exit(exit_status(os.waitpid(first, 0)[1]))
    os.close(held)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.call("sethostname", b"sandbox", 7)
    namespaces.change_root(policy, owner)
    denied = system_calls.DeniedCalls(log) if log >= 0 else None
    child = os.fork()
    if child:
        _drop_privileges(owner)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # the student's process cannot write into the supervisor
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the only signal that it would take from inside
        if denied:
            denied.receive()
        supervise(child, policy.limits, alive, denied)
    os.close(alive)
    os.setsid()
    limits.apply(policy.limits)
    _drop_privileges(owner)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # the supervisor may read how much memory it uses
    os.chdir(policy.home)
    os.environ["TMPDIR"] = policy.home
    tempfile.tempdir = None  # Python keeps the folder that it chose first, which was one of the machine's
    if denied:
        denied.load()
    else:
        system_calls.load_filter(debug=False)


def _drop_privileges(owner: Identity) -> None:
    """Gives up every privilege: the user, when this is done with root's rights, and every capability."""
    for capability in range(64):
        if kernel.libc.prctl(kernel.PR_CAPBSET_READ, capability, 0, 0, 0) == 1:
            kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
    if owner.by_root:
        os.setgroups([])
        os.setresgid(owner.gid, owner.gid, owner.gid)
        os.setresuid(owner.uid, owner.uid, owner.uid)
    version_3, none = struct.pack("Ii", 0x20080522, 0), bytes(24)  # capabilities: effective, permitted, inheritable
    kernel.call("capset", version_3, none)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def probe() -> str:
    """Returns "" when a whole sandbox can be made here, else one sentence that says what is missing."""
    if not sys.platform.startswith("linux"):
        return f"{platform.system()} has no kernel namespaces; the sandbox needs Linux."
    if platform.machine() not in system_calls.MACHINES:
        return f"the sandbox's filter on system calls is not written for {platform.machine()} processors."
    if missing := system_calls.missing_library():
        return missing
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            enter(Policy(namespaces.readable_system(), limits=Limits(wall=20)))
            os.write(write, b"ok")
        except (OSError, CourseError) as problem:
            os.write(write, str(problem).encode())
        finally:
            os._exit(0)
    os.close(write)
    output = b""
    while chunk := os.read(read, 4096):
        output += chunk
    os.close(read)
    os.waitpid(pid, 0)
    if output == b"ok":
        return ""
    return f"the kernel refuses the sandbox: {output.decode(errors='replace') or 'it ended without a word'}."


def protections() -> list[str]:
    """Returns one line for each protection of `enter`, for the head of a run."""
    return [
        "own root: read-only system, one empty writable folder of "
        f"{Limits().disk >> 20} MB, no view of solutions, gradebook or other submissions",
        "no network; own process ids, IPC and host name; everything dies with the submission",
        f"{'a user id of its own' if os.geteuid() == 0 else 'its own user namespace'}, no privileges, "
        "system calls filtered",
        f"{Limits().memory >> 20} MB memory, {Limits().cpu:g} s CPU, {Limits().wall:g} s in all, "
        f"{Limits().processes} processes, {Limits().file_size >> 20} MB a file",
    ]
