"""The answers of the bank, run as in a student's notebook; what they are says `grading/definitions/bank.py`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from grading.authoring import source
from grading.definitions.bank import BankAnswer, BankError, answers, read
from grading.folder.course import Course

__all__ = ["BankAnswer", "BankError", "answers", "cells", "namespace", "read", "run"]


@cache
def cells(notebook: str) -> Sequence[source.Cell]:
    """Returns the cells of a notebook's source."""
    return source.read(Course().source(notebook))


def namespace(notebook: str, exercise: str) -> dict[str, Any]:
    """Returns the variables that a student has when reaching an exercise: set-up, and the solutions before it."""
    variables: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells(notebook):
        if cell.kind == "exercise" and cell.name == exercise:
            break
        if cell.kind in ("setup", "code", "exercise"):
            exec(compile(cell.source, f"<{notebook}:{cell.line}>", "exec"), variables)
    return variables


def run(answer: BankAnswer) -> Any:
    """Returns the function or class that an answer of the bank defines.

    Raises:
        BankError: when it does not define its exercise's name.
    """
    return answer.made(namespace(answer.notebook, answer.exercise))
