"""A machine of its own for one process: namespaces, and a root of read-only binds with one small writable room."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grading.sandbox import kernel, system_calls
from grading.sandbox.limits import Limits

NEWNS, NEWUSER, NEWPID, NEWNET, NEWIPC, NEWUTS = 0x20000, 0x10000000, 0x20000000, 0x40000000, 0x8000000, 0x4000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2
# User ids that no account has, for a run as root: each sandbox takes its own, because the kernel counts the processes
# of a user, and one student's must not use up another's.
UNUSED_IDS = range(61_184, 65_184)
PACKAGES = ("site-packages", "dist-packages")
SHARED_MEMORY = Path("/dev/shm")
OLD_ROOT = ".old_root"  # while the root is made


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


@dataclass(frozen=True)
class Identity:
    """As whom the student's process runs; `by_root` when root's rights are there to become that user."""

    uid: int
    gid: int
    by_root: bool


def leave_namespaces() -> Identity:
    """Leaves the machine's namespaces, with root's rights or as an ordinary user. The next child is process 1.

    Raises:
        SandboxError: when the kernel refuses it.
    """
    uid, gid = os.geteuid(), os.getegid()
    inner = (UNUSED_IDS[os.getpid() % len(UNUSED_IDS)],) * 2 if uid == 0 else (uid, gid)
    wanted = NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS
    if uid == 0 and kernel.libc.unshare(wanted) == 0:
        return Identity(*inner, by_root=True)
    kernel.call("unshare", wanted | NEWUSER)  # an ordinary user, or a root without rights, as in some containers
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{inner[0]} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{inner[1]} {gid} 1")
    return Identity(*inner, by_root=False)


def change_root(policy: Policy, owner: Identity) -> None:
    """Makes a root of read-only binds and a small writable /tmp, and leaves the old root for good.

    The home is a folder of /tmp. So is /dev/shm where something readable lies below it; else it is a link to the home.

    Raises:
        SandboxError: when the kernel refuses a part.
    """
    base = tempfile.mkdtemp(prefix="sandbox-")
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    _mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    os.mkdir(f"{base}/tmp")
    room = f"size={policy.limits.disk},nr_inodes=10k,mode=700,uid={owner.uid},gid={owner.gid}"
    _mount("tmpfs", f"{base}/tmp", "tmpfs", MS_NOSUID | MS_NODEV, room)
    writable = [Path(policy.home)]
    if any(SHARED_MEMORY in path.parents for path in policy.readable):
        writable.append(SHARED_MEMORY)
    places = [*((path, "write") for path in writable), *((path, "read") for path in policy.readable)]
    places += [(path, "hide") for path in policy.hidden]
    for path, right in sorted(places, key=lambda place: len(place[0].parts)):  # what lies deeper comes on top
        if right == "write":
            os.mkdir(f"{base}/tmp/{path.name}", 0o700)
            os.chown(f"{base}/tmp/{path.name}", owner.uid, owner.gid)
            os.makedirs(f"{base}{path}", exist_ok=True)
            _mount(f"{base}/tmp/{path.name}", f"{base}{path}", "", MS_BIND)
        elif right == "read":
            _bind(path, base)
        elif Path(f"{base}{path}").is_dir():
            _mount("tmpfs", f"{base}{path}", "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=755")
    _make_read_only(base, [Path("/tmp"), *writable])
    for name in ("proc", "dev", OLD_ROOT):
        os.makedirs(f"{base}/{name}", exist_ok=True)
    _mount("proc", f"{base}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for name in ("null", "zero", "urandom", "random"):
        Path(f"{base}/dev/{name}").touch()
        _mount(f"/dev/{name}", f"{base}/dev/{name}", "", MS_BIND)
    if SHARED_MEMORY not in writable:
        os.symlink(policy.home, f"{base}{SHARED_MEMORY}")
    system_calls.call("pivot_root", base.encode(), f"{base}/{OLD_ROOT}".encode())
    os.chdir("/")
    os.rmdir(f"/{OLD_ROOT}{base}")  # where it stood, in every namespace
    kernel.call("umount2", f"/{OLD_ROOT}".encode(), MNT_DETACH)
    os.rmdir(f"/{OLD_ROOT}")
    _mount("tmpfs", "/", "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def _mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    kernel.call("mount", source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode())


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


def _make_read_only(base: str, writable: Sequence[Path]) -> None:
    """Makes every mount below `base` but the `writable` ones read-only, those that came along inside a folder too."""
    kept_writable = {f"{base}{path}" for path in writable}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        point = line.split()[4].encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "surrogateescape")
        if point.startswith(f"{base}/") and point not in kept_writable:
            kept = MS_NOEXEC if os.statvfs(point).f_flag & os.ST_NOEXEC else 0  # the kernel wants it kept
            _mount("none", point, "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | kept)
