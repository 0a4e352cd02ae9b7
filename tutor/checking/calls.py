"""A question as a line of Python that can be pasted into a cell of the notebook."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tutor.checking import plain
from tutor.checking.probes import Question
from tutor.checking.recipes import Recipe

LONGEST = 160  # characters of an argument that is written out
FEW = 3  # entries at the beginning and at the end of a long list that are shown
NUMBERS = {torch.float32: np.float32, torch.float64: np.float64}
USUAL = (torch.float32, torch.int64, torch.bool)  # types that `torch.tensor` gives by itself
WITHOUT_A_CALL = ("parameters", "state", "first numbers")  # probes of a module that is only built


def as_code(name: str, ask: Question, *, at: bool = False) -> str:
    """Returns the call of a question as Python, with a comment on what cannot stand in it.

    What is no literal, or a long one, is `check.given(n)`, input n of the question, counted from 1; `check.given(0)` is
    the module with the weights of the question.

    Args:
        name: the exercise.
        at: give the values of the symbols at which the result is looked at.
    """
    notes = [", ".join(f"{letter} = {value}" for letter, value in (ask.at or {}).items())] if at and ask.at else []
    notes = [f"at {note}" for note in notes]
    given = list[str]()
    for number, (key, value) in enumerate([*(("", one) for one in ask.inputs), *ask.keywords.items()], 1):
        written = literal(value)
        if written is None:
            written = f"check.given({number})"
            notes.append(f"{written} is {in_words(value)}")
        given.append(f"{key}={written}" if key else written)
    function = name
    if ask.build is not None:
        built = {key: literal(value) for key, value in ask.build.items()}
        function = f"{name}({', '.join(f'{key}={value}' for key, value in built.items())})"
        if ask.weights is not None or None in built.values():
            function, more = "check.given(0)", " with the weights of this check" if ask.weights is not None else ""
            notes.insert(0, f"{function} is {_built_in_words(name, ask)}{more}")
    if ask.build is not None and ask.probe == "part":
        function = f"{function}.get_submodule({ask.part!r})"
    call = function if ask.build is not None and ask.probe in WITHOUT_A_CALL else f"{function}({', '.join(given)})"
    return f"{call}  # {'; '.join(notes)}" if notes else call


def in_one_line(name: str, ask: Question) -> str:
    """Returns the call of a question in words, for a caption."""
    given = [literal(value) or in_words(value) for value in ask.inputs]
    given += [f"{key}={literal(value) or in_words(value)}" for key, value in ask.keywords.items()]
    function = name if ask.build is None else _built_in_words(name, ask)
    return f"{function}({', '.join(given)})"


def _built_in_words(name: str, ask: Question) -> str:
    arguments = [f"{key}={literal(value) or in_words(value)}" for key, value in (ask.build or {}).items()]
    return f"{name}({', '.join(arguments)})"


def literal(value: Any) -> str | None:
    """Returns a plain value as Python, None for one that has no literal or a long one."""
    text = _literal(value)
    return text if text is not None and len(text) <= LONGEST else None


def _literal(value: Any) -> str | None:
    if isinstance(value, Tensor):
        return _tensor(value)
    if isinstance(value, list | tuple | set | dict):
        return _container(value) if len(value) <= LONGEST else None
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value) if value is None or isinstance(value, bool | int | float | str) else None


def _container(value: Any) -> str | None:
    parts = [_literal(part) for part in (value.values() if isinstance(value, dict) else value)]
    if None in parts or value == set():
        return None
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {part}" for key, part in zip(value, parts, strict=True)) + "}"
    inside = ", ".join(map(str, parts))
    if isinstance(value, tuple):
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return f"[{inside}]" if isinstance(value, list) else f"{{{inside}}}"


def _tensor(value: Tensor) -> str | None:
    if value.numel() > LONGEST or not value.numel() or value.is_complex() or value.device.type != "cpu":
        return None
    kind = NUMBERS.get(value.dtype)
    typed = "" if value.dtype in USUAL else f", dtype={value.dtype}"
    return f"torch.tensor({_rows(value.tolist(), kind)}{typed})"


def _rows(value: Any, kind: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_rows(part, kind) for part in value)}]"
    if isinstance(value, float) and not math.isfinite(value):
        return {"inf": "torch.inf", "-inf": "-torch.inf"}.get(str(value), "torch.nan")
    return repr(float(str(kind(value)))) if kind is not None else repr(value)


def in_words(value: Any) -> str:
    """Returns what a value is, with the beginning and the end of a long one; nothing is cut within."""
    if isinstance(value, Recipe):
        return value.in_words()
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, plain.Expression):
        return str(value.to_sympy())
    if isinstance(value, str):
        words = value[:40].rpartition(" ")[0] or value[:20]
        return f"a text of {len(value)} characters that begins with {words!r}"
    if isinstance(value, list | tuple) and value and all(isinstance(part, plain.Model) for part in value):
        return f"a list of {len(value)}, the first of them {in_words(value[0])}"
    if isinstance(value, list | tuple) and len(value) > 2 * FEW:
        parts = [literal(part) or in_words(part) for part in (*value[:FEW], *value[-FEW:])]
        ends = ", ".join(parts[:FEW]), ", ".join(parts[FEW:])
        return f"{len(value)} entries, first {ends[0]} and last {ends[1]}"
    if isinstance(value, dict) and len(value) <= 2 * FEW:
        return "a dict of " + ", ".join(f"{key!r}: {literal(one) or in_words(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of " + ", ".join(literal(part) or in_words(part) for part in value)
    return f"a {type(value).__name__} of {len(value)} entries" if isinstance(value, dict | set) else str(value)
