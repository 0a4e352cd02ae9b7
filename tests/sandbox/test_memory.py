"""Memory that is freed stays with the process."""

import platform
import subprocess
import sys

import pytest

from benchmarks.memory import measure
from helpers.memory import give_back_freed_memory, keep_freed_memory


@pytest.mark.all
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be set to keep what is freed")
def test_a_step_gets_the_pages_of_the_step_before() -> None:
    assert keep_freed_memory()
    assert 10 * measure(kept=True, steps=10).pages < measure(kept=False, steps=10).pages


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be asked for it")
def test_what_lies_free_is_given_back() -> None:
    code = (
        "import resource, helpers\n"
        "from helpers.memory import give_back_freed_memory\n"
        "pages = lambda: int(open('/proc/self/statm').read().split()[1])\n"
        "held = [bytes(str(number), 'ascii') * 2**19 for number in range(100)]\n"
        "end = bytes(2**16)\n"  # keeps the heap from shrinking by itself
        "del held\n"
        "before = pages()\n"
        "assert give_back_freed_memory()\n"
        "print((before - pages()) * resource.getpagesize() // 2**20)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 80


def test_where_there_is_no_glibc_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not keep_freed_memory()
    assert not give_back_freed_memory()
