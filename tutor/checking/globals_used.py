"""What a function or a class of a notebook uses: global variables, parts of a module; and what a cell binds."""

from __future__ import annotations

import contextlib
import dis
import functools
import importlib
import inspect
import re
import symtable
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType, ModuleType
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


# --- which of some parts, such as `helpers.models.sinusoids`, an answer uses ------------------------------------------

COURSE = "helpers"  # the package that notebooks compute with
WITHIN_A_NAME = ("PUSH_NULL", "SWAP", "ROT_TWO", "POP_TOP", "CACHE", "EXTENDED_ARG")  # between instructions of a name
UNKNOWN = object()  # what an expression gives that only a call could show


def parts_used(answer: Any, parts: Sequence[str]) -> list[str]:
    """Returns which of some parts an answer uses, itself or by what it uses of the same notebook; calls nothing.

    Found are names, in whatever way they are imported, also within a function or as an attribute of a module, base
    classes, and a method by its name where it is not known whose it is. What a text names (`getattr(models, name)`),
    or what lies in a list or a dict, is not found.

    Args:
        parts: full names of functions and classes, such as "helpers.models.sinusoids", or of methods.
    """
    of_parts = {id(value): part for part in parts if (value := named(part)) is not UNKNOWN}
    methods = {part.rpartition(".")[2]: part for part in parts if inspect.isclass(named(part.rpartition(".")[0]))}
    here = {"__main__", getattr(answer, "__module__", "__main__")}
    found, waiting, seen = set[str](), [answer], dict[int, Any]()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if id(value) in of_parts:
            found.add(of_parts[id(value)])
        elif isinstance(value, MethodType):
            waiting.append(value.__func__)
        elif isinstance(value, functools.partial):
            waiting += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, type):
            waiting += [*value.__mro__[1:], *functions_of(value)]
        elif isinstance(value, FunctionType) and value.__globals__.get("__name__") in here:
            used, attributes = _used_by(value)
            waiting += used
            found |= {methods[name] for name in attributes & methods.keys()}
        elif isinstance(getattr(value, "__wrapped__", None), FunctionType):
            waiting.append(value.__wrapped__)
    return sorted(found)


def named(part: str) -> Any:
    """Returns what a full name such as "helpers.models.Attention" stands for: a module, or something in one.

    Of other packages than the course's own nothing is imported that is not yet.
    """
    module, _, name = part.rpartition(".")
    if part.partition(".")[0] == COURSE:
        with contextlib.suppress(ImportError):
            return importlib.import_module(part)
    if part in sys.modules:
        return sys.modules[part]
    return _attribute(named(module), name) if module else UNKNOWN


def _attribute(value: Any, name: str) -> Any:
    """Returns an attribute of a module or a class, of others `UNKNOWN`; runs no code of theirs."""
    if isinstance(value, ModuleType):
        return vars(value).get(name, UNKNOWN)
    found = inspect.getattr_static(value, name, UNKNOWN) if isinstance(value, type) else UNKNOWN
    return getattr(found, "__func__", found)


def _used_by(function: FunctionType) -> tuple[list[Any], set[str]]:
    """Returns what a function names, and the names of attributes of what only a call could show."""
    given = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), *vars(function).values()]
    variables = dict[str, Any]()
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # nothing is in it yet
            variables[name] = cell.cell_contents
    reader = _Reader(function.__globals__, variables, given, set())
    reader.read(function.__code__)
    return reader.used, reader.attributes


@dataclass
class _Reader:
    """Follows the names in a code from one instruction to the next: `used` is what they stand for."""

    names: Mapping[str, Any]
    variables: dict[str, Any]
    used: list[Any]
    attributes: set[str]
    value: Any = UNKNOWN  # on top of the stack
    module: Any = UNKNOWN  # from which names are imported
    constant: Any = None  # on top of the stack

    def read(self, code: CodeType) -> None:
        """Reads a code, and then those within it."""
        for one in dis.get_instructions(code):
            if one.opname not in WITHIN_A_NAME:
                self.value = self._loaded(one.opname, one.argval)
                self.constant = one.argval if one.opname == "LOAD_CONST" else None
            if self.value is not UNKNOWN:
                self.used.append(self.value)
        for part in code.co_consts:
            if isinstance(part, CodeType):
                self.read(part)

    def _loaded(self, operation: str, argument: Any) -> Any:
        """Returns what an instruction leaves on top of the stack, where that can be known."""
        name = argument[-1] if isinstance(argument, tuple) and argument else argument
        kind = "_".join(operation.split("_")[:2])
        if operation in ("LOAD_GLOBAL", "LOAD_NAME"):
            return self.names.get(name, UNKNOWN)
        if operation == "IMPORT_NAME":
            self.module = named(name if self.constant else name.partition(".")[0])
            return self.module
        if operation == "IMPORT_FROM":
            return _attribute(self.module, name)
        if operation in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"):
            return self._attribute(name)
        if kind in ("STORE_FAST", "STORE_DEREF"):
            self.variables[name] = self.value
        return self.variables.get(name, UNKNOWN) if kind in ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE") else UNKNOWN

    def _attribute(self, name: str) -> Any:
        attribute = _attribute(self.value, name)
        if attribute is UNKNOWN:
            self.attributes.add(name)
        return attribute
