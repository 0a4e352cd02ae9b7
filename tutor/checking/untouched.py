"""Keep the course's own code as it is in a process in which an answer could put other code in its place.

What looks for that, and what watches the calls of an answer, works there as a copy that no name leads to.
"""

from __future__ import annotations

import builtins
import functools
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Collection
from importlib.abc import SourceLoader
from itertools import chain, compress, islice
from operator import attrgetter, is_
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch
from torch import nn

OURS = ("tutor.checking", "grading.sandbox.serve")
ASKS = ("tutor.checking.answers", "grading.sandbox.serve")  # with these, and what they use, an answer is asked
OF_A_FUNCTION = ("__code__", "__defaults__", "__kwdefaults__")


def nameless(name: str) -> ModuleType:
    """Returns a copy of a module that is not in `sys.modules`: what is replaced in the module itself is not asked.

    Raises:
        ModuleNotFoundError: when there is no such module.
    """
    module = ModuleType(name)
    exec(_code_of(name), vars(module))
    return module


@functools.cache
def _code_of(name: str) -> CodeType:
    """Returns the code of a module of ours, read once for all students' processes."""
    spec = importlib.util.find_spec(name)
    loader = getattr(spec, "loader", None)
    if not isinstance(loader, SourceLoader) or (code := loader.get_code(name)) is None:
        raise ModuleNotFoundError(f"there is no module {name!r} to make a copy of")
    return code


class Untouched:
    """The code that asks an answer, and methods of tensors and modules, as they are now: `restore` brings them back.

    What an answer has replaced, a function, a method or a table, would else say of it what the answer likes: as would
    what that code calls elsewhere (`torch.equal`, `sorted`), and what hides an inherited method or a built-in function.
    """

    def __init__(self) -> None:
        modules = _used_by([sys.modules[name] for name in ASKS if name in sys.modules])
        places: list[tuple[Any, dict[str, Any]]] = [(module, _held(module)) for module in modules]
        kinds = [value for _, held in places for value in held.values() if isinstance(value, type)]
        ours = [kind for kind in dict.fromkeys(kinds) if kind.__module__.startswith(OURS)]
        places += [(kind, _methods(kind)) for kind in (*ours, torch.Tensor, nn.Module)]
        self._owners = [(owner, held, frozenset(vars(owner))) for owner, held in places]
        self._look_at_owners()
        values = [value for _, held in places for value in held.values()]
        functions = (value for value in values if isinstance(value, FunctionType))
        self._functions = [one for one in dict.fromkeys(functions) if one.__module__.startswith(OURS)]
        self._parts = [part for part in map(self._part, OF_A_FUNCTION) if part[2]]
        self._tables = [(value, dict(value)) for value in values if isinstance(value, dict)]
        self._built_in, self._put_back = dict(vars(builtins)), vars(builtins).update
        self._called = [(vars(owner), names, values) for owner, names, values in _called_by(self._functions)]

    def _part(self, name: str) -> tuple[str, list[FunctionType], list[Any]]:
        """Returns a part of the functions that have it: defaults that are given to others change no call of ours."""
        functions = [one for one in self._functions if getattr(one, name) is not None]
        return name, functions, list(map(attrgetter(name), functions))

    def restore(self) -> None:
        """Puts everything back in its place; first what Python has built in, of which the rest is made."""
        self._put_back(self._built_in)
        if not self._owners_are_as_they_were():
            self._restore_owners()
        for held, names, values in self._called:
            if not all(map(is_, map(held.get, names), values)):
                held.update(zip(names, values, strict=True))
        for name, functions, parts in self._parts:
            if not all(map(is_, map(attrgetter(name), functions), parts)):
                for function, part in zip(functions, parts, strict=True):
                    setattr(function, name, part)
        for table, content in self._tables:
            if table != content:
                table.clear()
                table.update(content)

    def _look_at_owners(self) -> None:
        """Notes where in its owner everything stands.

        What a dictionary holds keeps its order, so all are looked at in one go: a new name moves what follows,
        unless something behind the last held name of its owner has gone.
        """
        self._all_values = [vars(owner).values() for owner, _, _ in self._owners]
        self._is_held = [name in held for owner, held, _ in self._owners for name in vars(owner)]
        ordered = [(name, held[name]) for owner, held, _ in self._owners for name in vars(owner) if name in held]
        self._held_values = [value for _, value in ordered]
        ends = [(vars(owner), _ends(list(vars(owner)), held)) for owner, held, _ in self._owners]
        self._behind = [(names, len(last), last) for names, last in ends if len(last) > 1 or names is ends[-1][0]]

    def _owners_are_as_they_were(self) -> bool:
        now = compress(chain.from_iterable(self._all_values), self._is_held)
        return all(map(is_, now, self._held_values)) and all(
            tuple(islice(reversed(names), number)) == ends for names, number, ends in self._behind
        )

    def _restore_owners(self) -> None:
        for owner, held, known in self._owners:
            for name, value in held.items():
                if vars(owner).get(name) is not value:
                    setattr(owner, name, value)
            for name in vars(owner).keys() - known:
                if _hides(owner, name):
                    delattr(owner, name)
        self._look_at_owners()  # Python, too, adds names to a class, as when one of its objects is first copied


def _used_by(modules: list[ModuleType]) -> list[ModuleType]:
    """Returns modules with those of the course's own that they use: what judges a reply is in another process."""
    found = list(modules)
    for module in found:  # it grows
        values = vars(module).values()
        names = {
            value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "") for value in values
        }
        used = [sys.modules[name] for name in names if str(name).startswith(OURS) and name in sys.modules]
        found += [one for one in used if one not in found]
    return found


def _called_by(functions: list[FunctionType]) -> list[tuple[ModuleType, tuple[str, ...], tuple[Any, ...]]]:
    """Returns the modules outside the course that functions name, and what they name there: names with their values."""
    found = defaultdict[ModuleType, set[str]](set)
    codes = [(one.__code__, one.__globals__) for one in functions]
    for code, names in codes:  # it grows
        codes += [(part, names) for part in code.co_consts if isinstance(part, CodeType)]
        reached = [names[name] for name in code.co_names if isinstance(names.get(name), ModuleType)]
        for owner in reached:  # it grows: torch.random is reached by torch
            held = {name: vars(owner)[name] for name in code.co_names if name in vars(owner)}
            within = f"{owner.__name__}."
            parts = [value for value in held.values() if isinstance(value, ModuleType)]
            reached += [one for one in parts if one.__name__.startswith(within) and one not in reached]
            found[owner] |= {name for name, value in held.items() if callable(value) or value in parts}
    return [
        (owner, tuple(names), tuple(vars(owner)[name] for name in names))
        for owner, names in found.items()
        if not owner.__name__.startswith(OURS)
    ]


def _ends(names: list[str], held: Collection[str]) -> tuple[str, ...]:
    """Returns the last name that is held and those behind it, the last one first."""
    last = max((n for n, name in enumerate(names) if name in held), default=0)
    return tuple(names[: last - 1 if last else None : -1])


def _hides(owner: Any, name: str) -> bool:
    """Says whether a name that came later stands in front of an inherited part of a class, or of a built-in one."""
    if isinstance(owner, type):
        return any(name in vars(base) for base in owner.__mro__[1:])
    return hasattr(builtins, name)


def _held(module: ModuleType) -> dict[str, Any]:
    """Returns the functions, classes, modules and tables in a module, by name."""
    held = vars(module).items()
    tables = {name for name, value in held if isinstance(value, dict) and name.lstrip("_").isupper()}
    return {name: value for name, value in held if callable(value) or isinstance(value, ModuleType) or name in tables}


def _methods(kind: type) -> dict[str, Any]:
    return {name: value for name, value in vars(kind).items() if callable(value) and name != "__class__"}
