"""Memory that is freed stays with the process."""

import platform
import sys

import pytest

from benchmarks.memory import measure
from helpers.memory import keep_freed_memory


@pytest.mark.all
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be set to keep what is freed")
def test_a_step_gets_the_pages_of_the_step_before() -> None:
    assert keep_freed_memory()
    assert 10 * measure(kept=True, steps=10).pages < measure(kept=False, steps=10).pages


def test_where_there_is_no_glibc_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not keep_freed_memory()
