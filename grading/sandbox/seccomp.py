"""libseccomp's interface, as much of it as a filter on system calls needs. It has been the same since version 2.5.

The library makes a filter out of rules on the calls' names; the kernel is given that filter elsewhere.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import BinaryIO

from grading.sandbox.kernel import SandboxError

ALLOW, NOTIFY, KILL_PROCESS = 0x7FFF0000, 0x7FC00000, 0x80000000
BAD_ARCHITECTURE, OPTIMIZE = 2, 8  # attributes of a filter: what other architectures' calls meet, and its form
MASKED_EQUAL = 7
NATIVE = 0  # the architecture of this machine


def error(number: int) -> int:
    """Returns the action that fails a call with an error number."""
    return 0x00050000 | number


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


@cache
def library() -> ctypes.CDLL:
    """Returns the library.

    Raises:
        OSError: when the system does not have it.
    """
    found = ctypes.CDLL("libseccomp.so.2")
    context = ctypes.c_void_p
    found.seccomp_init.argtypes, found.seccomp_init.restype = (ctypes.c_uint32,), context
    found.seccomp_release.argtypes = (context,)
    found.seccomp_release.restype = None
    found.seccomp_attr_set.argtypes = (context, ctypes.c_int, ctypes.c_uint32)
    found.seccomp_rule_add_array.argtypes = (context, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p)
    found.seccomp_export_bpf.argtypes = (context, ctypes.c_int)
    found.seccomp_syscall_resolve_name_arch.argtypes = (ctypes.c_uint32, ctypes.c_char_p)
    found.seccomp_syscall_resolve_num_arch.argtypes = (ctypes.c_uint32, ctypes.c_int)
    found.seccomp_syscall_resolve_num_arch.restype = ctypes.c_void_p  # a string that the caller frees
    return found


def number(name: str) -> int:
    """Returns the number of a system call on this machine; negative when there is none."""
    return int(library().seccomp_syscall_resolve_name_arch(NATIVE, name.encode()))


def name(call_number: int) -> str:
    """Returns the name of a system call on this machine, "" for an unknown number."""
    address = library().seccomp_syscall_resolve_num_arch(NATIVE, call_number)
    if not address:
        return ""
    text = ctypes.string_at(address).decode("ascii")
    free = ctypes.CDLL(None).free
    free.argtypes, free.restype = (ctypes.c_void_p,), None
    free(address)
    return text


class Filter:
    """A filter that is being made: what every call meets for which there is no rule, and rules.

    Raises:
        SandboxError: when the library refuses an action, an attribute or a rule.
    """

    def __init__(self, otherwise: int, attributes: dict[int, int]) -> None:
        self._context = library().seccomp_init(otherwise)
        if not self._context:
            raise SandboxError("libseccomp cannot make a filter")
        for attribute, value in attributes.items():
            _check(library().seccomp_attr_set(self._context, attribute, value))

    def __del__(self) -> None:
        if self._context:
            library().seccomp_release(self._context)

    def rule(self, action: int, name: str, *equal: tuple[int, int, int]) -> None:
        """Adds what a call meets, where each argument that is named has a value: (place, mask, value)."""
        compared = (_Comparison * len(equal))(*(_Comparison(place, MASKED_EQUAL, *rest) for place, *rest in equal))
        _check(library().seccomp_rule_add_array(self._context, action, number(name), len(equal), compared))

    def write(self, file: BinaryIO) -> None:
        """Writes the filter into a file, as the kernel takes it."""
        _check(library().seccomp_export_bpf(self._context, file.fileno()))


def _check(result: int) -> None:
    if result < 0:  # the library returns the number of an error, and sets no errno
        raise SandboxError(f"libseccomp cannot make the filter on system calls: {os.strerror(-result)}")
