"""The global variables that a function or a class of a notebook uses, and those that a cell binds."""

from __future__ import annotations

import dis
import re
import symtable
import zlib
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

DEFINED = re.compile(r"^(?:async\s+def|def|class)\s+(\w+)", re.MULTILINE)


def names_bound(cell: str) -> set[str]:
    """Returns the variables that a cell, in Python, binds at its outermost level; where it is none, its definitions."""
    try:
        table = symtable.symtable(cell, "<cell>", "exec")
    except (SyntaxError, ValueError):
        return set(DEFINED.findall(cell))
    return {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}


def line_numbers(cell: str) -> list[int]:
    """Returns a number for each line of a cell that is not empty, by which the same line is known again."""
    return [zlib.crc32(line.strip().encode("utf-8", "replace")) for line in cell.splitlines() if line.strip()]


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
