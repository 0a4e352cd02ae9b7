"""Notice when an answer has what it is to write done by a ready-made part, by whatever door it comes to it.

`globals_used.parts_used` reads an answer's code and finds names. Here its calls are watched while it is asked: a part
is known by its code, also where that was copied, and a function written in C by its name. A call counts where the
answer makes it, also through a model of `helpers` that it builds itself; a model that it was given may use any.
"""

from __future__ import annotations

import inspect
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from types import CodeType, FrameType, FunctionType
from typing import Any

from torch import nn
from torch.overrides import TorchFunctionMode

from tutor.checking import building
from tutor.checking.clock import TooSlow
from tutor.checking.globals_used import UNKNOWN, named

READY_MADE = ("helpers", "torch", "tutor")  # packages whose functions are no answer's
OF_PARTS = ("helpers.", "torch.nn")  # where parts are written in Python
PASS_ON = (*READY_MADE, "functools", "contextlib", "threading", "copy", "operator")  # through whose frames is looked
HIDES = "setprofile"  # whoever calls it wants not to be watched
REACHES = frozenset({"getprofile", "_getframe", "get_objects", "get_referrers"})  # nor who calls these in an answer
REFUSED = "PartUsed"  # the class of the exception that a reply names where a part was used


class Watch:
    """Watches the calls that an answer makes; `used` holds the names of the parts that an answer has called."""

    def __init__(self, parts: Sequence[str]) -> None:
        self.used = dict[str, None]()
        self._parts, self._over = tuple(parts), False
        self._codes, self._in_c, self._by_keyword, self._from_c = _known(self._parts)
        self._names = {code.co_name for code in self._codes} | {"__call__", *self._in_c}
        self._seen = dict[int, tuple[CodeType, str]]()
        self._given = weakref.WeakSet[nn.Module]()

    @contextmanager
    def watching(self, inputs: Sequence[Any]) -> Iterator[None]:
        """Watches the calls that are made within; a model among the inputs, or made meanwhile, may use any part."""
        if not self._parts:
            yield
            return
        self._given = weakref.WeakSet()
        for model in (one for one in inputs if isinstance(one, nn.Module)):
            self._given.update(model.modules())
        before, watch, hand_out = sys.getprofile(), self._watch, building.hand_out
        building.hand_out = self._hand_out
        with _Functions(self) if self._from_c else nullcontext():
            threading.setprofile(watch)
            sys.setprofile(watch)
            try:
                yield
            finally:
                # An exception that comes in the middle of a look, out of time or Ctrl-C, ends all looking, too.
                ended = isinstance(sys.exc_info()[1], TooSlow | KeyboardInterrupt)
                hidden = sys.getprofile() is not watch and not ended
                self._over = True
                sys.setprofile(before)
                threading.setprofile(None)  # as it was: nobody else sets it
                building.hand_out = hand_out
                if hidden:
                    self._note(self._parts[0])

    def _hand_out(self, model: nn.Module) -> None:
        """Notes a model that is made for an answer, and not by it."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_globals is vars(building):
            frame = frame.f_back
        if frame is not None and _package(frame) == "tutor":
            self._given.update(model.modules())

    def _note(self, part: str) -> None:
        self.used[part] = None

    def _watch(self, frame: FrameType, event: str, function: Any) -> None:
        if event == "call":
            if frame.f_code.co_name in self._names and (part := self._part_of(frame)) and self._is_of_answer(frame):
                self._note(part)
        elif event == "c_call":
            name = getattr(function, "__name__", "")
            if name in self._in_c and self._is_of_answer(frame):
                self._note(self._in_c[name])
            elif not self._over and (name == HIDES or (name in REACHES and not _package(frame))):
                self._note(self._parts[0])

    def _part_of(self, frame: FrameType) -> str:
        """Returns which part a frame is a call of, "" where it is none."""
        code = frame.f_code
        if code.co_name == "__call__" and self._in_c:
            name = getattr(frame.f_locals.get("self"), "__name__", None)
            if frame.f_globals.get("__name__") == "torch._ops" and isinstance(name, str):
                return self._in_c.get(name.partition(".")[0], "")
        if (part := self._in_c.get(code.co_name, "")).startswith(f"{frame.f_globals.get('__name__')}."):
            return part  # of a module of PyTorch that nobody had imported
        if id(code) not in self._seen:
            self._seen[id(code)] = code, next((part for one, part in self._codes.items() if _is_part(one, code)), "")
        return self._seen[id(code)][1]

    def _is_of_answer(self, frame: FrameType | None) -> bool:
        """Says whether an answer makes a call: nobody that it was given, and nobody who makes what it is given."""
        makes = False
        while frame is not None:
            package = _package(frame)
            own = frame.f_locals.get("self") if package in READY_MADE else None
            if isinstance(own, nn.Module) and own in self._given:
                return False
            if frame.f_globals is vars(building):
                makes = True
            elif package == "tutor" and frame.f_globals["__name__"] != __name__:
                return not makes
            elif package not in PASS_ON:
                return True
            frame = frame.f_back
        return False

    def called(self, function: Any, keywords: dict[str, Any]) -> None:
        """Notes a function of PyTorch that was called in whatever way."""
        name = getattr(function, "__name__", "")
        part = self._in_c.get(name, "")
        for keyword, whole in self._by_keyword.get(name, ()):
            part = whole if keywords.get(keyword) else part
        if part and self._is_of_answer(sys._getframe(2)):
            self._note(part)


class _Functions(TorchFunctionMode):
    """Tells a watch of all functions of PyTorch that are called, from C too, as `map` and `partial` do."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls a function of PyTorch."""
        self._watch.called(function, kwargs or {})
        return function(*args, **(kwargs or {}))


@cache
def _known(
    parts: tuple[str, ...],
) -> tuple[dict[CodeType, str], dict[str, str], dict[str, list[tuple[str, str]]], bool]:
    """Returns what parts are known by: their code; the name of what is written in C; that and a keyword.

    A part such as "torch.nn.functional.scaled_dot_product_attention(enable_gqa)" is the function where that is given.
    The last says whether one may be called from C: of a module that nobody has imported, which counts as written in C,
    the calls are seen as those of any function in Python.
    """
    codes, in_c, by_keyword = dict[CodeType, str](), dict[str, str](), dict[str, list[tuple[str, str]]]()
    from_c = False
    for part in parts:
        name, _, keyword = part.rstrip(")").partition("(")
        last = name.rpartition(".")[2]
        value = named(name)
        functions = [*_functions_held(name), *_functions_of(value)]
        if keyword:
            by_keyword.setdefault(last, []).append((keyword, part))
        elif functions:
            codes |= {code: part for function in functions for code in _codes_of(function)}
        elif value is not UNKNOWN or part.startswith("torch."):
            in_c[last] = part
            from_c |= value is not UNKNOWN
    return codes, in_c, by_keyword, from_c or bool(by_keyword)


_held = dict[str, list[FunctionType]]()  # by the name of the part


def hold(parts: dict[str, list[FunctionType]]) -> None:
    """Notes what parts are before an answer runs, which may keep one and put another thing into its place."""
    _held.update(parts)


@cache
def parts_there() -> dict[str, list[FunctionType]]:
    """Returns the functions of what modules hold by name, and of its methods, as they are when this is called first."""
    modules = [module for name, module in sys.modules.items() if name.startswith(OF_PARTS)]
    return {
        f"{module.__name__}.{name}": functions
        for module in modules
        for name, value in vars(module).items()
        if (functions := list(_functions_of(value)))
    }


def _functions_held(name: str) -> list[FunctionType]:
    """Returns the functions that a part had when it was noted."""
    kind, _, method = name.rpartition(".")
    return _held.get(name) or [function for function in _held.get(kind, ()) if function.__name__ == method]


def _functions_of(value: Any) -> Iterator[FunctionType]:
    """Yields the functions of a part: itself, or the methods of a class."""
    for one in vars(value).values() if inspect.isclass(value) else (value,):
        for held in (one, getattr(one, "fget", None), getattr(one, "__func__", None)):
            if isinstance(held, FunctionType):
                yield held


def _codes_of(function: FunctionType) -> Iterator[CodeType]:
    """Yields the code of a function, and of what a decorator has wrapped in its place."""
    wrapped = getattr(function, "__wrapped__", None)
    yield wrapped.__code__ if isinstance(wrapped, FunctionType) else function.__code__


def _is_part(part: CodeType, code: CodeType) -> bool:
    """Says whether a code is that of a part, or a copy of it, its docstring too, wherever it was compiled.

    One without a docstring, such as an `__init__`, is often written in the very same way by somebody else.
    """
    has_docstring = isinstance(next(iter(part.co_consts), None), str)
    return part is code or (has_docstring and _alike(part, code))


def _alike(one: CodeType, other: CodeType) -> bool:
    return (
        (one.co_name, one.co_names, one.co_varnames) == (other.co_name, other.co_names, other.co_varnames)
        and len(one.co_consts) == len(other.co_consts)
        and all(map(_same_constant, one.co_consts, other.co_consts))
    )


def _same_constant(one: Any, other: Any) -> bool:
    return _alike(one, other) if isinstance(one, CodeType) and isinstance(other, CodeType) else bool(one == other)


def _package(frame: FrameType) -> str:
    """Returns the package that a frame's code belongs to, "" where it only says so: a name alone can be made up."""
    if frame.f_globals is globals():  # also where this is a copy that no name leads to
        return "tutor"
    name = frame.f_globals.get("__name__")
    module = sys.modules.get(name) if isinstance(name, str) else None
    if module is None or vars(module) is not frame.f_globals or frame.f_code.co_filename.startswith("<"):
        return ""
    return str(name).partition(".")[0]
