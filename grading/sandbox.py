"""Lock a forked process into a sandbox made of the Linux kernel's own parts. Knows processes, not marks.

`enter` is called in a freshly forked, still single-threaded child. After it the process has: a root of its own with a
read-only system and one small writable folder; no network; process ids, IPC and host name of its own; an unused user
id and no way to new privileges; limits on memory, CPU time, processes, files; and a filter on system calls. Nothing
outside is needed: no helper program, no container service, and neither root nor a configured kernel.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

NEWNS, NEWUSER, NEWPID, NEWNET, NEWIPC, NEWUTS = 0x20000, 0x10000000, 0x20000000, 0x40000000, 0x8000000, 0x4000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = (
    1,
    2,
    4,
    8,
    32,
    4096,
    16384,
    1 << 18,
)
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 22, 4, 38
UNUSED_ID = 61_771  # a user id that no account has; only used when we are root

_libc = ctypes.CDLL(None, use_errno=True)


class SandboxError(OSError):
    """The kernel refuses a part of the sandbox; the message says which."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Sizes in bytes, times in seconds."""

    memory: int = 2 << 30
    cpu: float = 60.0
    wall: float = 300.0
    processes: int = 64
    open_files: int = 256
    file_size: int = 32 << 20
    disk: int = 64 << 20


@dataclass(frozen=True)
class Policy:
    """What a sandboxed process may see: `readable` files and folders keep their paths, `home` is its empty folder."""

    readable: Sequence[Path] = ()
    home: str = "/home/student"
    limits: Limits = field(default_factory=Limits)


def readable_system() -> list[Path]:
    """Returns what running Python needs to read: the system's programs and libraries, and this Python's folders."""
    wanted = [
        Path(p) for p in ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/localtime")
    ]
    wanted += [Path("/etc/alternatives"), Path("/etc/fonts"), Path(sys.base_prefix), Path(sys.prefix)]
    return [path for path in dict.fromkeys(wanted) if path.exists()]


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise SandboxError(number, f"{name} failed: {os.strerror(number)}")


def _mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    _call("mount", source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode())


def enter(policy: Policy) -> None:
    """Locks this process in, and returns in its one child (process 2 of the sandbox); the caller stays as supervisor.

    The supervisor ends with the child's exit status, or 124 after the wall time, 137 when memory ran out. When it is
    killed, the kernel kills everything inside.

    Raises:
        SandboxError: when the kernel refuses a part; the process must then exit without running anything.
    """
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    root = os.geteuid() == 0
    uid, gid = os.geteuid(), os.getegid()
    _call("unshare", NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS | (0 if root else NEWUSER))
    if not root:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    first = os.fork()  # the first process of the new process ids: when it dies, all die
    if first:
        os._exit(_status(os.waitpid(first, 0)[1]))
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _call("sethostname", b"sandbox", 7)
    _new_root(policy, uid if not root else UNUSED_ID, gid if not root else UNUSED_ID)
    child = os.fork()
    if child:
        _drop(root, policy, limited=False)
        _call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)  # the student's process cannot write into the supervisor
        _supervise(child, policy.limits)
    os.setsid()
    _drop(root, policy, limited=True)
    os.chdir(policy.home)
    _filter_calls()


def _new_root(policy: Policy, uid: int, gid: int) -> None:
    """Makes a root of read-only binds and a small writable folder, and leaves the old root for good."""
    base = tempfile.mkdtemp(prefix="sandbox-")
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    _mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    for path in policy.readable:
        _bind(path, base)
    for name in ("proc", "tmp", "dev", policy.home.lstrip("/"), "old"):
        os.makedirs(f"{base}/{name}", exist_ok=True)
    _mount("proc", f"{base}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for name in ("null", "zero", "urandom", "random"):
        Path(f"{base}/dev/{name}").touch()
        _mount(f"/dev/{name}", f"{base}/dev/{name}", "", MS_BIND)
    size = policy.limits.disk
    _mount("tmpfs", f"{base}{policy.home}", "tmpfs", MS_NOSUID | MS_NODEV, f"size={size},mode=700,uid={uid},gid={gid}")
    os.symlink(policy.home, f"{base}/dev/shm")
    if not os.listdir(f"{base}/tmp"):  # else something readable lies in it, and it stays read-only
        os.rmdir(f"{base}/tmp")
        os.symlink(policy.home, f"{base}/tmp")
    number = {"x86_64": 155, "aarch64": 41}[platform.machine()]
    if _libc.syscall(number, base.encode(), f"{base}/old".encode()) != 0:
        raise SandboxError(ctypes.get_errno(), "pivot_root failed")
    os.chdir("/")
    _call("umount2", b"/old", 2)  # MNT_DETACH
    os.rmdir("/old")
    _mount("tmpfs", "/", "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def _bind(path: Path, base: str) -> None:
    """Shows a file or folder read-only at its own path below `base`; links are made again as links."""
    target = f"{base}{path}"
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if path.is_symlink():
        os.symlink(os.readlink(path), target)
        return
    if path.is_dir():
        os.makedirs(target, exist_ok=True)
    else:
        Path(target).touch()
    _mount(str(path), target, "", MS_BIND | MS_REC)
    _mount(str(path), target, "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def _drop(root: bool, policy: Policy, *, limited: bool) -> None:
    """Gives up every privilege, and for the student's process sets its limits."""
    if limited:
        limits = policy.limits
        cpu = max(1, int(limits.cpu))
        for kind, value in (
            (resource.RLIMIT_CPU, cpu),
            (resource.RLIMIT_NOFILE, limits.open_files),
            (resource.RLIMIT_FSIZE, limits.file_size),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_NPROC, limits.processes),
            (resource.RLIMIT_AS, limits.memory + (8 << 30)),  # addresses; the supervisor watches real memory
        ):
            resource.setrlimit(kind, (value, value + 1 if kind == resource.RLIMIT_CPU else value))
    if root:
        os.setgroups([])
        os.setresgid(UNUSED_ID, UNUSED_ID, UNUSED_ID)
        os.setresuid(UNUSED_ID, UNUSED_ID, UNUSED_ID)
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _status(status: int) -> int:
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _supervise(child: int, limits: Limits) -> None:
    """Waits for the student's process, watching wall time and the memory of all processes; never returns."""
    end, status, code = time.monotonic() + limits.wall, 0, -1
    while code < 0:
        done, status = os.waitpid(-1, os.WNOHANG)
        if done == child:
            code = _status(status)
        elif done == 0:
            if time.monotonic() > end:
                code = 124
            elif _memory() > limits.memory:
                code = 137
            else:
                time.sleep(0.02)
    os._exit(code)  # the kernel kills whatever is left in these process ids


def _memory() -> int:
    """Returns the real memory, in bytes, of all other processes of the sandbox, without pages of files.

    Pages that a forked process still shares with its parent count for both: on the safe side.
    """
    total = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            try:
                pages = Path(f"/proc/{name}/statm").read_text().split()
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has just ended
            total += (int(pages[1]) - int(pages[2])) * resource.getpagesize()
    return total


# --- the filter on system calls ---------------------------------------------------------------------------------------

# Names that no answer needs: mounting, namespaces, tracing, kernel modules, keys, clocks, other processes' memory.
_DENIED = {
    "x86_64": {
        "ptrace": 101, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308,
        "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170, "init_module": 175, "delete_module": 176,
        "acct": 163, "settimeofday": 164, "add_key": 248, "request_key": 249, "keyctl": 250, "mknod": 133,
        "mknodat": 259,
        "perf_event_open": 298, "name_to_handle_at": 303, "open_by_handle_at": 304, "process_vm_readv": 310,
        "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "bpf": 321, "userfaultfd": 323, "kexec_load": 246,
        "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
        "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_getfd": 438, "mount_setattr": 442,
        "personality": 135, "quotactl": 179, "kexec_file_load": 320,
    },
    "aarch64": {
        "ptrace": 117, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "unshare": 97, "setns": 268,
        "swapon": 224, "swapoff": 225, "reboot": 142, "sethostname": 161, "init_module": 105, "delete_module": 106,
        "acct": 89, "settimeofday": 170, "add_key": 217, "request_key": 218, "keyctl": 219, "mknodat": 33,
        "perf_event_open": 241, "name_to_handle_at": 264, "open_by_handle_at": 265, "process_vm_readv": 270,
        "process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "bpf": 280, "userfaultfd": 282, "kexec_load": 104,
        "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
        "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_getfd": 438, "mount_setattr": 442,
        "personality": 92, "quotactl": 60, "kexec_file_load": 294,
    },
}  # fmt: skip
_ARCH = {"x86_64": (0xC000003E, 56, 41, 435), "aarch64": (0xC00000B7, 220, 198, 435)}  # audit, clone, socket, clone3
_NAMESPACES = NEWNS | NEWUSER | NEWPID | NEWNET | NEWIPC | NEWUTS | 0x2000000 | 0x80  # with cgroup and time
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000


def _filter_calls() -> None:
    """Loads a seccomp filter: denied calls fail with "not permitted"; sockets are for this machine's processes only."""
    machine = platform.machine()
    arch, clone, socket, clone3 = _ARCH[machine]
    load, jump_eq, jump_set, jump_ge, give = 0x20, 0x15, 0x45, 0x35, 0x06
    no = _ERRNO | errno.EPERM
    program: list[tuple[int, int, int, int]] = [
        (load, 0, 0, 4),  # the architecture: another one would have other numbers
        (jump_eq, 1, 0, arch),
        (give, 0, 0, _KILL),
        (load, 0, 0, 0),  # the number of the call
    ]
    if machine == "x86_64":
        program += [(jump_ge, 0, 1, 0x40000000), (give, 0, 0, no)]  # the x32 numbers
    for number in sorted(_DENIED[machine].values()):
        program += [(jump_eq, 0, 1, number), (give, 0, 0, no)]
    program += [(jump_eq, 0, 1, clone3), (give, 0, 0, _ERRNO | errno.ENOSYS)]  # its flags cannot be seen: use clone
    program += [
        (jump_eq, 0, 3, clone),
        (load, 0, 0, 16),
        (jump_set, 0, 1, _NAMESPACES),
        (give, 0, 0, no),
        (load, 0, 0, 0),
    ]
    program += [(jump_eq, 0, 3, socket), (load, 0, 0, 16), (jump_eq, 1, 0, 1), (give, 0, 0, no)]  # AF_UNIX is 1
    program += [(give, 0, 0, _ALLOW)]
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    buffer = ctypes.create_string_buffer(code)

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))

    filled = Program(len(program), ctypes.cast(buffer, ctypes.c_void_p))
    _call("prctl", PR_SET_SECCOMP, 2, ctypes.byref(filled), 0, 0)


# --- what this machine allows -----------------------------------------------------------------------------------------


def probe() -> str:
    """Returns "" when a whole sandbox can be made here, else one sentence that says what is missing."""
    if not sys.platform.startswith("linux"):
        return f"{platform.system()} has no kernel namespaces; the sandbox needs Linux."
    if platform.machine() not in _ARCH:
        return f"the sandbox's filter on system calls is not written for {platform.machine()} processors."
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            enter(Policy(readable_system(), limits=Limits(wall=20)))
            os.write(write, b"ok")
        except OSError as problem:
            os.write(write, str(problem).encode())
        finally:
            os._exit(0)
    os.close(write)
    told = b""
    while chunk := os.read(read, 4096):
        told += chunk
    os.close(read)
    os.waitpid(pid, 0)
    if told == b"ok":
        return ""
    return f"the kernel refuses the sandbox: {told.decode(errors='replace') or 'it ended without a word'}."


def protections() -> list[str]:
    """Returns one line for each protection of `enter`, for the head of a run."""
    return [
        "own root: read-only system, one empty writable folder of "
        f"{Limits().disk >> 20} MB, no view of solutions, gradebook or other submissions",
        "no network; own process ids, IPC and host name; everything dies with the submission",
        f"user {UNUSED_ID if os.geteuid() == 0 else 'namespace'}, no new privileges, system calls filtered",
        f"{Limits().memory >> 20} MB memory, {Limits().cpu:g} s CPU, {Limits().wall:g} s in all, "
        f"{Limits().processes} processes, {Limits().file_size >> 20} MB a file",
    ]
