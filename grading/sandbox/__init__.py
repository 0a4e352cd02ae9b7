"""Lock a forked process into a sandbox made of the Linux kernel's own parts. Knows processes, not marks.

`enter` is called in a freshly forked, still single-threaded child. After it the process has: a root of its own with a
read-only system and one small writable folder; no network; process ids, IPC and host name of its own; an unused user
id and no way to new privileges; limits on memory, CPU time, processes, files; and a filter on system calls. Nothing
outside is needed: no helper program, no container service, and neither root nor a configured kernel.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import resource
import select
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
PR_CAPBSET_READ, PR_CAPBSET_DROP = 23, 24
# User ids that no account has, for a run as root: each sandbox takes its own, because the kernel counts the processes
# of a user, and one student's must not use up another's.
UNUSED_IDS = range(61_184, 65_184)
PACKAGES = ("site-packages", "dist-packages")
SOCKET_BYTES = 212_992  # what a socket may hold in the kernel, which no process is charged for

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
    """What a sandboxed process may see: `readable` files and folders keep their paths, `home` is its empty folder.

    `hidden` folders are shown empty where they lie in a readable one; a readable one in a hidden one is shown.
    """

    readable: Sequence[Path] = ()
    hidden: Sequence[Path] = ()
    home: str = "/home/student"
    limits: Limits = field(default_factory=Limits)


def readable_system() -> list[Path]:
    """Returns what running Python needs to read: the system's programs and libraries, and this Python's folders."""
    wanted = [
        Path(p) for p in ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/localtime")
    ]
    wanted += [Path("/etc/alternatives"), Path("/etc/fonts"), Path(sys.base_prefix), Path(sys.prefix)]
    shown = [path for path in dict.fromkeys(wanted) if os.path.exists(path)]  # False, too, where we may not look
    links = [path.resolve() for path in shown if path.is_symlink()]  # shown as links: what they point to as well
    for path in [*links, *(Path(folder) for folder in sys.path if Path(folder).name in PACKAGES)]:
        if os.path.exists(path) and path not in shown and not any(other in path.parents for other in shown):
            shown.append(path)
    return shown


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise SandboxError(number, f"{name} failed: {os.strerror(number)}")


def _mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    _call("mount", source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode())


def enter(policy: Policy, parent: int = 0) -> None:
    """Locks this process in, and returns in its one child (process 2 of the sandbox); the caller stays as supervisor.

    The supervisor ends with the child's exit status; with 124 after the wall time, 137 when memory or processes ran
    out, 152 after the processor time of all processes together. When it is killed, the kernel kills everything inside,
    and when this process or its `parent` is killed, the supervisor ends.

    Raises:
        SandboxError: when the kernel refuses a part; the process must then exit without running anything.
    """
    die_with(parent or os.getppid())
    uid, gid, root = os.geteuid(), os.getegid(), _unshare()
    inner = (UNUSED_IDS[os.getpid() % len(UNUSED_IDS)],) * 2 if uid == 0 else (uid, gid)
    if not root:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{inner[0]} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{inner[1]} {gid} 1")
    alive, held = os.pipe()  # `held` closes when this process ends, however it ends
    first = os.fork()  # the first process of the new process ids: when it dies, all die
    if first:
        os.close(alive)
        os._exit(_status(os.waitpid(first, 0)[1]))
    os.close(held)
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _call("sethostname", b"sandbox", 7)
    _new_root(policy, *inner)
    child = os.fork()
    if child:
        _drop(inner if root else None)
        _call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)  # the student's process cannot write into the supervisor
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the only signal that it would take from inside
        _supervise(child, policy.limits, alive)
    os.close(alive)
    os.setsid()
    _limit(policy.limits)
    _drop(inner if root else None)
    _call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)  # the supervisor may read how much memory it uses
    os.chdir(policy.home)
    _filter_calls()


def die_with(parent: int) -> None:
    """Has the kernel end this process when its `parent` ends, however that ends; on Linux only."""
    if sys.platform.startswith("linux"):
        _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)  # it ended before the line above


def limit_growth(more: int) -> None:
    """Limits the memory that this process, and each that it starts, may still take, to `more` bytes; on Linux only."""
    if sys.platform.startswith("linux"):
        limit = (_kilobytes("/proc/self/status", (b"VmData:",)) << 10) + more
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _unshare() -> bool:
    """Leaves the machine's namespaces, and says whether that was done with root's rights or as an ordinary user."""
    wanted = NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS
    if os.geteuid() == 0 and _libc.unshare(wanted) == 0:
        return True
    _call("unshare", wanted | NEWUSER)  # an ordinary user, or a root without rights, as in some containers
    return False


def _new_root(policy: Policy, uid: int, gid: int) -> None:
    """Makes a root of read-only binds and a small writable folder, and leaves the old root for good."""
    base = tempfile.mkdtemp(prefix="sandbox-")
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    _mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    told = [(path, True) for path in policy.readable] + [(path, False) for path in policy.hidden]
    for path, readable in sorted(told, key=lambda pair: len(pair[0].parts)):  # what lies deeper comes on top
        if readable:
            _bind(path, base)
        elif Path(f"{base}{path}").is_dir():
            _mount("tmpfs", f"{base}{path}", "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=755")
    _make_read_only(base)
    for name in ("proc", "tmp", "dev", policy.home.lstrip("/"), "old"):
        os.makedirs(f"{base}/{name}", exist_ok=True)
    _mount("proc", f"{base}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for name in ("null", "zero", "urandom", "random"):
        Path(f"{base}/dev/{name}").touch()
        _mount(f"/dev/{name}", f"{base}/dev/{name}", "", MS_BIND)
    room = f"size={policy.limits.disk},nr_inodes=10k,mode=700,uid={uid},gid={gid}"
    _mount("tmpfs", f"{base}{policy.home}", "tmpfs", MS_NOSUID | MS_NODEV, room)
    os.symlink(policy.home, f"{base}/dev/shm")
    if not os.listdir(f"{base}/tmp"):  # else something readable lies in it, and it stays read-only
        os.rmdir(f"{base}/tmp")
        os.symlink(policy.home, f"{base}/tmp")
    number = {"x86_64": 155, "aarch64": 41}[platform.machine()]
    if _libc.syscall(number, base.encode(), f"{base}/old".encode()) != 0:
        raise SandboxError(ctypes.get_errno(), "pivot_root failed")
    os.chdir("/")
    os.rmdir(f"/old{base}")  # where it stood, in every namespace
    _call("umount2", b"/old", 2)  # MNT_DETACH
    os.rmdir("/old")
    _mount("tmpfs", "/", "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def _bind(path: Path, base: str) -> None:
    """Shows a file or folder at its own path below `base`; links are made again as links."""
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


def _make_read_only(base: str) -> None:
    """Makes every mount below `base` read-only, those that came along inside a folder too."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        point = line.split()[4].encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "surrogateescape")
        if point.startswith(f"{base}/"):
            kept = MS_NOEXEC if os.statvfs(point).f_flag & os.ST_NOEXEC else 0  # the kernel wants it kept
            _mount("none", point, "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | kept)


def _limit(limits: Limits) -> None:
    """Sets the kernel's limits of the student's process, which all that it starts inherit."""
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


def _drop(ids: tuple[int, int] | None) -> None:
    """Gives up every privilege: the user when root's `ids` are given, and every capability."""
    for capability in range(64):
        if _libc.prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1:
            _call("prctl", PR_CAPBSET_DROP, capability, 0, 0, 0)
    if ids is not None:
        uid, gid = ids
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    version_3, none = struct.pack("Ii", 0x20080522, 0), bytes(24)  # capabilities: effective, permitted, inheritable
    _call("capset", version_3, none)
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _status(status: int) -> int:
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _supervise(child: int, limits: Limits, alive: int) -> None:
    """Waits for the student's process, watching what all processes of the sandbox use together; never returns."""
    end, code = time.monotonic() + limits.wall, -1
    while code < 0:
        done, status = os.waitpid(-1, os.WNOHANG)
        if done == child:
            code = _status(status)
        elif done == 0:
            used = _used()
            if time.monotonic() > end:
                code = 124
            elif used.cpu > limits.cpu + 1:
                code = 128 + signal.SIGXCPU
            elif used.processes > limits.processes or (used.memory > limits.memory and _memory() > limits.memory):
                code = 137
            elif select.select([alive], [], [], 0.02)[0]:
                code = 1  # the process that waits for us was killed
    os._exit(code)  # the kernel kills whatever is left in these process ids


@dataclass
class _Used:
    """What all processes of the sandbox use: processes and threads, processor seconds, memory in bytes at most."""

    processes: int = 0
    cpu: float = 0.0
    memory: int = 0


def _used() -> _Used:
    """Returns what the sandbox uses now, from one small file for each process: a part of a millisecond."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    used, ticks = _Used(cpu=ended.ru_utime + ended.ru_stime, memory=_buffers()), os.sysconf("SC_CLK_TCK")
    for name in _others():
        try:
            fields = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
        used.cpu += sum(map(int, fields[11:15])) / ticks
        used.processes += int(fields[17])
        used.memory += int(fields[21]) * resource.getpagesize()
    return used


def at_work(supervisor: int) -> tuple[int, bool] | None:
    """Returns what the processes of a sandbox have used (ticks), and whether one of them can go on; None if unknown.

    Called from outside, with the process that `enter` has left as supervisor; the two supervisors do not count.
    """
    parents = dict[int, list[tuple[int, int, bool]]]()
    try:
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                fields = path.read_bytes().rpartition(b")")[2].split()
                one = int(path.parent.name), sum(map(int, fields[11:13])), fields[0] in (b"R", b"D")
                parents.setdefault(int(fields[1]), []).append(one)
    except OSError:
        return None
    below = [one for inner, _, _ in parents.get(supervisor, []) for one in parents.get(inner, [])]
    if not below:
        return None
    for number, _, _ in below:  # grows while it is gone through
        below += parents.get(number, [])
    return sum(ticks for _, ticks, _ in below), any(ready for _, _, ready in below)


def _others() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def _buffers() -> int:
    """Returns how much memory the kernel may hold in sockets; there is no network, so they are all of one kind."""
    return (Path("/proc/net/unix").read_bytes().count(b"\n") - 1) * SOCKET_BYTES


def _memory() -> int:
    """Returns the memory, in bytes, of all processes of the sandbox, without pages of files.

    A page that several processes share counts once in all, so a forked process costs what it has changed.
    """
    total = _buffers()
    for name in _others():
        try:
            total += _kilobytes(f"/proc/{name}/smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:")) << 10
        except PermissionError:  # a process that does not let itself be looked at: each page counts in full
            total += _kilobytes(f"/proc/{name}/status", (b"RssAnon:", b"RssShmem:")) << 10
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
    return total


def _kilobytes(path: str, names: tuple[bytes, ...]) -> int:
    return sum(int(line.split()[1]) for line in Path(path).read_bytes().splitlines() if line.startswith(names))


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
        # memory and queues that belong to no process, so that nobody could count them
        "memfd_create": 319, "memfd_secret": 447, "shmget": 29, "msgget": 68, "semget": 64, "mq_open": 240,
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
        "memfd_create": 279, "memfd_secret": 447, "shmget": 194, "msgget": 186, "semget": 190, "mq_open": 180,
    },
}  # fmt: skip
# audit, clone, socket, socketpair, clone3
_ARCH = {"x86_64": (0xC000003E, 56, 41, 53, 435), "aarch64": (0xC00000B7, 220, 198, 199, 435)}
_NAMESPACES = NEWNS | NEWUSER | NEWPID | NEWNET | NEWIPC | NEWUTS | 0x2000000 | 0x80  # with cgroup and time
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000


def _filter_calls() -> None:
    """Loads a seccomp filter: denied calls fail with "not permitted"; sockets are for this machine's processes only."""
    machine = platform.machine()
    arch, clone, socket, socketpair, clone3 = _ARCH[machine]
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
    program += [(jump_eq, 1, 0, socket), (jump_eq, 0, 3, socketpair)]
    program += [(load, 0, 0, 16), (jump_eq, 1, 0, 1), (give, 0, 0, no)]  # AF_UNIX is 1
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
        f"{'a user id of its own' if os.geteuid() == 0 else 'its own user namespace'}, no privileges, "
        "system calls filtered",
        f"{Limits().memory >> 20} MB memory, {Limits().cpu:g} s CPU, {Limits().wall:g} s in all, "
        f"{Limits().processes} processes, {Limits().file_size >> 20} MB a file",
    ]
