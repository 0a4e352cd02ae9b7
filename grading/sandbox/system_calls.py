"""The filter on system calls: an allow list by name, made into the kernel's form by libseccomp.

What is not on the list fails with "operation not permitted", whatever its number; the numbers of other architectures
(32-bit and x32 programs) end the process. `build_filter` is slow and is called once, before the forks; `load_filter`
takes half a millisecond in each process.

With the environment variable COURSE_SANDBOX_DEBUG set, `grading autograde` prints to standard error each call that a
sandbox refuses, once for each sandbox: what to look at when honest code fails with "operation not permitted".
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import socket
import struct
from functools import cache

from grading.sandbox import kernel, seccomp
from grading.sandbox.kernel import SandboxError
from grading.sandbox.seccomp import number

MACHINES = ("x86_64", "aarch64")  # on others `clone` takes its flags elsewhere
DEBUG = "COURSE_SANDBOX_DEBUG"

# Container runtimes start from a longer list. Theirs also has what no notebook needs (clocks, other users, kernel keys,
# asynchronous disk access, watching files) and memory and queues that belong to no process, so that nobody could count
# them (memfd_create, shmget, msgget, semget, mq_open). A name that this machine does not have is passed over.
FILES = """
    access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64
    fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fdatasync fgetxattr flistxattr fremovexattr
    fsetxattr fstat fstatfs fsync ftruncate futimesat getcwd getdents getdents64 getxattr ioctl lchown lgetxattr link
    linkat listxattr llistxattr lremovexattr lseek lsetxattr lstat mkdir mkdirat newfstatat open openat openat2 pread64
    preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv removexattr rename renameat
    renameat2 rmdir sendfile setxattr splice stat statfs statx symlink symlinkat sync_file_range truncate umask unlink
    unlinkat utime utimensat utimes write writev
"""
MEMORY = """
    brk get_mempolicy madvise map_shadow_stack mbind membarrier mincore mlock mlock2 mlockall mmap mprotect mremap mseal
    msync munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect set_mempolicy
"""
PROCESSES = """
    arch_prctl capget execve execveat exit exit_group fork futex futex_requeue futex_wait futex_waitv futex_wake
    get_robust_list getcpu getegid geteuid getgid getgroups getpgid getpgrp getpid getppid getpriority getresgid
    getresuid getrlimit getrusage getsid gettid getuid kill pause pidfd_open pidfd_send_signal prctl prlimit64
    restart_syscall rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
    rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getparam
    sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setparam sched_setscheduler sched_yield
    set_robust_list set_tid_address setpgid setpriority setrlimit setsid sigaltstack tgkill tkill vfork wait4 waitid
"""
SOCKETS = """
    accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg sendmmsg sendmsg
    sendto setsockopt shutdown
"""
WAITING = """
    epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 pipe pipe2 poll ppoll
    pselect6 select signalfd signalfd4 timerfd_create timerfd_gettime timerfd_settime
"""
TIME_AND_MACHINE = """
    alarm clock_getres clock_gettime clock_nanosleep getitimer getrandom gettimeofday nanosleep setitimer sysinfo time
    timer_create timer_delete timer_getoverrun timer_gettime timer_settime times uname
"""
ALLOWED = frozenset(f"{FILES} {MEMORY} {PROCESSES} {SOCKETS} {WAITING} {TIME_AND_MACHINE}".split())
# Locks are the kernel's own, and those on files that all sandboxes read would carry messages from one to another. Who
# takes one hears that it has it: a student is alone with its own files, and programs such as sqlite need them.
LOCKS = {"F_SETLK": 6, "F_SETLKW": 7, "F_OFD_SETLK": 37, "F_OFD_SETLKW": 38}
FCNTL = {
    "F_DUPFD": 0, "F_GETFD": 1, "F_SETFD": 2, "F_GETFL": 3, "F_SETFL": 4, "F_SETOWN": 8, "F_GETOWN": 9, "F_SETSIG": 10,
    "F_GETSIG": 11, "F_SETOWN_EX": 15, "F_GETOWN_EX": 16, "F_DUPFD_CLOEXEC": 1030, "F_SETPIPE_SZ": 1031,
    "F_GETPIPE_SZ": 1032, "F_ADD_SEALS": 1033, "F_GET_SEALS": 1034,
}  # fmt: skip
LOCAL_SOCKETS = ("socket", "socketpair")  # allowed for processes of this machine only
NEW_NAMESPACES = 0x7E020080  # the flags of `clone` that make namespaces
INT = 0xFFFFFFFF  # of a C int the kernel looks at these bits only

SET_MODE_FILTER, NEW_LISTENER = 1, 1 << 3
NOTIF_RECV, NOTIF_SEND = 0xC0502100, 0xC0182101  # ioctl on a listener: 80 bytes come, 24 go


def missing_library() -> str:
    """Returns "" when libseccomp can be used here, else one sentence that says what to install."""
    try:
        seccomp.library()
    except OSError:
        return (
            "the library libseccomp is missing, which filters system calls: install the system's package libseccomp2 "
            "(Debian, Ubuntu) or libseccomp (Fedora, Arch, conda)."
        )
    return ""


def call(name: str, *arguments: object) -> int:
    """Makes a system call that the C library has no function for, and returns its result.

    Raises:
        SandboxError: when it fails.
    """
    return kernel.checked(name, kernel.libc.syscall(number(name), *arguments))


@cache
def build_filter(*, debug: bool) -> bytes:
    """Returns the filter as the kernel takes it. In debug mode denied calls wait for an answer (`DeniedCalls`)."""
    # The form is a tree: for each call the kernel looks at 9 numbers, not at 300.
    attributes = {seccomp.BAD_ARCHITECTURE: seccomp.KILL_PROCESS, seccomp.OPTIMIZE: 2}
    made = seccomp.Filter(seccomp.NOTIFY if debug else seccomp.error(errno.EPERM), attributes)
    for name in sorted(ALLOWED):
        if number(name) >= 0:
            made.rule(seccomp.ALLOW, name)
    for name in LOCAL_SOCKETS:
        made.rule(seccomp.ALLOW, name, (0, INT, socket.AF_UNIX))
    for command in FCNTL.values():
        made.rule(seccomp.ALLOW, "fcntl", (1, INT, command))
    for command in LOCKS.values():
        made.rule(seccomp.error(0), "fcntl", (1, INT, command))
    made.rule(seccomp.error(0), "flock")
    made.rule(seccomp.ALLOW, "clone", (0, NEW_NAMESPACES, 0))
    if number("clone3") >= 0:  # its flags cannot be seen; the C library then takes clone
        made.rule(seccomp.error(errno.ENOSYS), "clone3")
    with os.fdopen(os.memfd_create("filter"), "w+b") as file:
        made.write(file)
        file.seek(0)
        return file.read()


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def load_filter(*, debug: bool) -> int:
    """Filters this process's calls from now on, for good; returns in debug mode the listener, a file descriptor.

    Raises:
        SandboxError: when the kernel refuses it.
    """
    steps = build_filter(debug=debug)
    program = _Program(len(steps) // 8, steps)
    return call("seccomp", SET_MODE_FILTER, NEW_LISTENER if debug else 0, ctypes.byref(program))


class DeniedCalls:
    """Debug mode: the student's process loads a filter whose denied calls the supervisor answers, and logs.

    Made before the fork of the student's process; `load` is for the student's process, the rest for the supervisor.
    """

    def __init__(self, log: int) -> None:
        self._log, self.listener = log, -1
        self._ours, self._theirs = socket.socketpair()
        self._logged = set[tuple[int, int]]()

    def load(self) -> None:
        """Loads the filter, and leaves nothing open."""
        self._ours.close()
        listener = load_filter(debug=True)
        with self._theirs:
            socket.send_fds(self._theirs, [b"l"], [listener])
        os.close(listener)
        os.close(self._log)

    def receive(self) -> None:
        """Waits until the student's process has its filter."""
        self._theirs.close()
        with self._ours:
            _, listeners, _, _ = socket.recv_fds(self._ours, 1, 1)
        if not listeners:
            raise SandboxError("the student's process ended before its system calls were filtered")
        self.listener = listeners[0]

    def refuse_next(self) -> None:
        """Refuses the call that waits; the first of its kind is written to the log."""
        request = bytearray(80)
        with contextlib.suppress(FileNotFoundError):  # its process has just ended
            fcntl.ioctl(self.listener, NOTIF_RECV, request)
            identity, call_number, first = struct.unpack_from("Q8xi12xQ", request)
            if (call_number, first & INT) not in self._logged:
                self._logged.add((call_number, first & INT))
                name = seccomp.name(call_number) or f"system call {call_number}"
                os.write(self._log, f"sandbox: refused {name}({first & INT:#x}, ...)\n".encode())
            fcntl.ioctl(self.listener, NOTIF_SEND, struct.pack("QqiI", identity, 0, -errno.EPERM, 0))
