"""The global variables that a function or a class of a notebook uses, and those that what it calls there uses."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any


def globals_used(answer: Any) -> set[str]:
    """Returns the names of global variables that an answer, or what it uses of the same notebook, looks up.

    What a function of another module looks up there is no variable of the notebook.
    """
    found, waiting, seen = set[str](), [answer], set[int]()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        for function in functions_of(value):
            if function.__globals__.get("__name__") != "__main__":
                continue
            for name in _looked_up(function.__code__):
                found.add(name)
                other = function.__globals__.get(name)
                if getattr(other, "__module__", None) == getattr(answer, "__module__", ""):
                    waiting.append(other)
    return found


def functions_of(value: Any) -> Iterator[FunctionType]:
    """Yields a function, or the methods of a class; what a decorator has wrapped too."""
    value = getattr(value, "__wrapped__", value)
    for part in (value, *vars(value).values()) if isinstance(value, type) else (value,):
        part = getattr(part, "__wrapped__", getattr(part, "__func__", part))
        if isinstance(part, FunctionType):
            yield part


def _looked_up(code: CodeType) -> Iterator[str]:
    yield from (str(one.argval) for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _looked_up(part)
