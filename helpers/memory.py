"""Memory that is freed stays with the process: a training step needs the same amount again a moment later."""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h
LARGEST = 32 * 2**20  # bytes of what is kept when it is freed; glibc takes no more for a limit (mallopt(3))
KEPT = 512 * 2**20  # bytes that may lie free at the end of the heap


def keep_freed_memory() -> bool:
    """Tells the C library to keep freed memory, and returns whether it will.

    Without it, glibc gives much of what a step frees back to Linux, and Linux clears new pages for the next step: 3,000
    pages and a fifth more time for a small language model (`python -m benchmarks.memory`). Other systems have another
    `malloc`, and nothing is to be told there.
    """
    if sys.platform != "linux":
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):
        return False  # musl, as in Alpine
    return all([library.mallopt(M_MMAP_THRESHOLD, LARGEST), library.mallopt(M_TRIM_THRESHOLD, KEPT)])
