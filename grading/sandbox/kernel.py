"""Functions of the C library that Python does not offer, and the error when the kernel refuses one."""

from __future__ import annotations

import ctypes
import os

from grading.folder.errors import CourseError

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
PR_CAPBSET_READ, PR_CAPBSET_DROP = 23, 24

libc = ctypes.CDLL(None, use_errno=True)


class SandboxError(CourseError):
    """A part of the sandbox cannot be made; the message says which."""


def call(name: str, *arguments: object) -> int:
    """Calls a function of the C library and returns its result.

    Raises:
        SandboxError: when it fails.
    """
    return checked(name, getattr(libc, name)(*arguments))


def checked(name: str, result: int) -> int:
    """Returns the result of a call that has just come back from the kernel.

    Raises:
        SandboxError: when it is negative, which is how the kernel refuses.
    """
    if result < 0:
        raise SandboxError(f"{name} failed: {os.strerror(ctypes.get_errno())}")
    return result


def prctl(option: int, value: int) -> None:
    """Sets an option of this process.

    Raises:
        SandboxError: when the kernel refuses it.
    """
    call("prctl", option, value, 0, 0, 0)
