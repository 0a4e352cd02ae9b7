"""The filter on system calls: what honest notebooks need passes, and nothing else does."""

import asyncio
import ctypes
import errno
import faulthandler
import mmap
import multiprocessing
import os
import platform
import re
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from grading import sandbox
from grading.sandbox import kernel, seccomp, system_calls
from tests.sandbox.sandboxed import inside

pytestmark = pytest.mark.sandbox

# What a notebook, with the libraries of the course and the programs that it starts, was seen to call.
NEEDED = """
    accept4 access arch_prctl bind brk chdir chmod clock_nanosleep close connect copy_file_range dup dup2 epoll_create1
    epoll_ctl epoll_wait eventfd2 execve exit exit_group fallocate fcntl flock fork fstat fsync ftruncate futex getcwd
    getdents64 getegid geteuid getgid getpeername getpgrp getpid getppid getrandom getrusage getsockname getsockopt
    gettid getuid ioctl kill link listen lseek lstat madvise mkdir mmap mprotect mremap msync munmap newfstatat open
    openat pipe2 poll ppoll prctl pread64 prlimit64 pselect6 pwrite64 read readlink recvfrom recvmsg rename rmdir rseq
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigtimedwait sched_getaffinity sched_setaffinity sched_yield select
    sendfile sendmsg sendto set_robust_list set_tid_address setitimer setpgid setrlimit setsid setsockopt shutdown
    sigaltstack socketpair stat statfs statx symlink sysinfo tgkill timer_create timer_settime umask uname unlink
    utimensat vfork wait4 waitid write writev
"""
# What could reach out of a sandbox, or memory and queues that nobody counts.
DANGEROUS = """
    acct add_key adjtimex bpf chroot clock_settime delete_module fanotify_init finit_module fsconfig fsmount fsopen
    fspick init_module inotify_init1 io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load
    kexec_load keyctl memfd_create memfd_secret mknod mknodat mount mount_setattr move_mount mq_open msgget
    name_to_handle_at open_by_handle_at open_tree perf_event_open personality pidfd_getfd pivot_root process_vm_readv
    process_vm_writev ptrace quotactl reboot request_key semget setdomainname sethostname setns settimeofday shmget
    swapoff swapon syslog umount2 unshare userfaultfd vhangup
"""
# Newer kernels let their own probes make these calls past every filter, and refuse them to others in their own way.
PROBES = {"x86_64": (335, 336)}.get(platform.machine(), ())
PROBED = [(str(errno.EPERM), 0), (str(errno.ENXIO), 0), ("", 128 + signal.SIGILL)]
UNKNOWN = (600, 10_000, 0x3FFFFFFF)  # numbers that no kernel has
X86_64 = platform.machine() == "x86_64"


def test_the_list_names_what_notebooks_need_and_nothing_dangerous() -> None:
    conditional = {"clone", "clone3", "fcntl", "flock", *system_calls.LOCAL_SOCKETS}
    assert set(NEEDED.split()) - conditional <= system_calls.ALLOWED
    assert not system_calls.ALLOWED & (set(DANGEROUS.split()) | conditional)


def test_the_names_are_those_of_the_kernel() -> None:
    """A mistyped name would be passed over, and the call refused."""
    newer = {"fchmodat2", "futex_requeue", "futex_wait", "futex_wake", "map_shadow_stack", "mseal"}
    unknown_to_the_library = -1
    assert {name for name in system_calls.ALLOWED if seccomp.number(name) == unknown_to_the_library} <= newer


def _raw(number: int, *arguments: int) -> int:
    """Makes a system call; returns its error, or 0."""
    return ctypes.get_errno() if kernel.libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) < 0 else 0


def test_every_call_that_is_not_on_the_list_is_refused() -> None:
    names = [*system_calls.ALLOWED, *system_calls.LOCAL_SOCKETS, "clone", "clone3", "fcntl", "flock"]
    listed = {seccomp.number(name) for name in names}
    others = [number for number in (*range(512), *UNKNOWN) if number not in listed and number not in PROBES]
    assert len(others) > 150
    assert inside(lambda: [n for n in others if _raw(n, -1, -1, -1, -1, -1) != errno.EPERM]) == ("[]", 0)
    dangerous = [number for number in map(seccomp.number, DANGEROUS.split()) if number >= 0]
    assert set(dangerous) <= set(others)
    for number in PROBES:

        def probe(number: int = number) -> int:
            faulthandler.disable()
            return _raw(number)

        assert inside(probe) in PROBED


def test_sockets_are_for_this_machine_and_children_for_these_namespaces() -> None:
    def refused() -> list[tuple[str, int]]:
        tried: list[tuple[str, int, int]] = [("socket", family, socket.SOCK_STREAM) for family in (0, *range(2, 46))]
        tried += [("socketpair", socket.AF_INET, socket.SOCK_STREAM)]
        namespaces = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
        tried += [("clone", flag | signal.SIGCHLD, 0) for flag in namespaces]
        return [(name, first) for name, first, second in tried if _raw(seccomp.number(name), first, second) != 1]

    assert inside(refused) == ("[]", 0)
    assert inside(lambda: _raw(seccomp.number("clone3"), 0, 0)) == (str(errno.ENOSYS), 0)


@pytest.mark.skipif(not X86_64, reason="only x86_64 processors have x32 numbers and a 32-bit entry")
def test_the_entries_of_other_architectures_end_the_process() -> None:
    def enter_32_bit() -> int:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # getpid by number 20 through interrupt 0x80
        return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()

    assert inside(lambda: _raw(0x40000000 + 39)) == ("", 128 + signal.SIGSYS)  # getpid
    output, status = inside(enter_32_bit)
    assert (output, status in (128 + signal.SIGSYS, 128 + signal.SIGSEGV)) == (
        "",
        True,
    )  # some kernels have no such entry


# --- what honest notebooks do -----------------------------------------------------------------------------------------


def _threads() -> int:
    torch.set_num_threads(2)
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda n: int(torch.ones(n).sum()), range(50))) == 1225
    return int(np.linalg.inv(np.eye(200)).sum())


def _programs() -> int:
    assert subprocess.run(["ls", "-l", "/usr"], capture_output=True, check=True).stdout
    assert os.system("echo x > y; cat y | sort | head -1 > /dev/null; cp -a y z; mv z y; tail -n 1 y > z; rm y z") == 0
    done = subprocess.run([sys.executable, "-Ic", "print(1 + 1)"], capture_output=True, check=True)
    return int(done.stdout)


def _twice(number: int) -> int:
    return 2 * number


def _workers() -> int:
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(2, context) as pool:
        assert list(pool.map(_twice, range(5))) == [0, 2, 4, 6, 8]
    queue = context.Queue()
    worker = context.Process(target=queue.put, args=(torch.ones(3).tolist(),))
    worker.start()
    assert queue.get(timeout=600) == [1, 1, 1]
    worker.join()
    shared = shared_memory.SharedMemory(create=True, size=4096)
    shared.close()
    shared.unlink()
    return 0


def _files() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a").write_text("a")
        shutil.copy2(folder / "a", folder / "b")
        (folder / "b").rename(folder / "c")
        os.link(folder / "a", folder / "d")
        os.symlink("a", folder / "e")
        os.truncate(folder / "a", 0)
        os.utime(folder / "a")
        np.save(folder / "f.npy", np.ones(3))
        np.load(folder / "f.npy", mmap_mode="r+").flush()
        torch.save(torch.ones(3), folder / "g.pt")
        with sqlite3.connect(folder / "h.db") as database:
            database.execute("create table t (n)")
        return len(os.listdir(folder)) + shutil.disk_usage(folder).total * 0


def _sockets() -> int:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("here")
        server.listen()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect("here")
            client.sendall(b"x")
            with server.accept()[0] as accepted:
                return len(accepted.recv(1))


def _waiting() -> int:
    async def both() -> None:
        await asyncio.gather(asyncio.sleep(0.01), asyncio.to_thread(time.sleep, 0.01))
        process = await asyncio.create_subprocess_exec("true")
        assert await process.wait() == 0

    asyncio.run(both())
    with select.epoll() as events:
        assert events.poll(0.01) == []
    signal.signal(signal.SIGALRM, lambda number, frame: None)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.pause()
    timer = threading.Timer(0.01, lambda: None)
    timer.start()
    timer.join()
    return 0


def _machine() -> int:
    assert len(os.urandom(4)) == 4
    assert os.sched_getaffinity(0)
    assert os.getloadavg()
    return len(platform.uname().system)


@pytest.mark.parametrize("work", [_threads, _programs, _workers, _files, _sockets, _waiting, _machine])
def test_honest_work_is_not_refused(work: Callable[[], Any]) -> None:
    output, status = inside(work)
    assert (output.isdigit(), status) == (True, 0), output


# --- when something is wrong ------------------------------------------------------------------------------------------


def test_refused_calls_are_reported_in_debug_mode() -> None:
    def try_twice() -> list[int]:
        refused = [_raw(seccomp.number("socket"), socket.AF_INET, 1, 0) for _ in range(2)]
        return [
            *refused,
            _raw(seccomp.number("unshare"), 0x20000),
            _raw(10_000),
            _raw(seccomp.number("getpid")),
        ]

    read, write = os.pipe()
    assert inside(try_twice, log=write) == (str([errno.EPERM] * 4 + [0]), 0)
    os.close(write)
    with os.fdopen(read) as log:
        lines = log.read().splitlines()
    expected = ["socket(0x2, ...)", "unshare(0x20000, ...)", "system call 10000("]
    assert [line.partition("sandbox: refused ")[2].startswith(e) for line, e in zip(lines, expected, strict=True)]


def test_a_missing_library_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise OSError("libseccomp.so.2: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(seccomp, "library", missing)
    assert re.fullmatch(r"the library libseccomp is missing, .*libseccomp2.*\.", sandbox.probe())


def test_what_the_library_refuses_is_an_error() -> None:
    with pytest.raises(sandbox.SandboxError, match="cannot make a filter"):
        seccomp.Filter(0x12345678, {})
    with pytest.raises(sandbox.SandboxError, match="cannot make the filter on system calls: "):
        seccomp.Filter(seccomp.ALLOW, {seccomp.OPTIMIZE: 100})


def test_the_package_does_not_load_the_library_before_it_is_used(repository: Path) -> None:
    program = (
        "import sys, grading.sandbox\nfrom grading.sandbox import seccomp\n"
        "print([n for n in ('torch', 'numpy') if n in sys.modules], seccomp.library.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=repository, capture_output=True, text=True, check=True)
    assert done.stdout == "[] 0\n"
