"""Memory that is freed stays with the process: a training step needs the same amount again a moment later."""

import ctypes
import gc
import sys
from typing import Any

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h
LARGEST = 32 * 2**20  # bytes of what is kept when it is freed; glibc takes no more for a limit (mallopt(3))
KEPT = 512 * 2**20  # bytes that may lie free at the end of the heap


def keep_freed_memory() -> bool:
    """Tells the C library to keep freed memory, and returns whether it will.

    Without it, glibc gives much of what a step frees back to Linux, and Linux clears new pages for the next step: 3,000
    pages and a fifth more time for a small language model (`python -m benchmarks.memory`). Other systems have another
    `malloc`, and nothing is to be told there.
    """
    library = _glibc()
    return library is not None and all(
        [library.mallopt(M_MMAP_THRESHOLD, LARGEST), library.mallopt(M_TRIM_THRESHOLD, KEPT)]
    )


def give_back_freed_memory() -> bool:
    """Gives back what lies free, once, and returns whether there was any: behind a large step that is not repeated."""
    gc.collect()
    library = _glibc()
    return library is not None and bool(library.malloc_trim(0))


def _glibc() -> Any:
    """Returns the C library where it is glibc, else None."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "gnu_get_libc_version") else None  # musl, as in Alpine, has no such name
