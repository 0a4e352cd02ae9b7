"""The known mistakes of an exercise: the first answer of the bank with each name, and what the definition makes."""

from __future__ import annotations

import importlib
import itertools
import math
import re
from types import ModuleType
from typing import Any

import torch

from grading.definitions import bank, catalogue
from grading.definitions.bank import BankAnswer
from grading.definitions.definition import Definition, ExerciseError, Mistake

# What an answer may use besides the names of the definition and of what stands beside it.
USUAL = {"math": math, "torch": torch, "Tensor": torch.Tensor, "nn": torch.nn, "F": torch.nn.functional}


def of_exercise(module: ModuleType, definition: Definition) -> list[Mistake]:
    """Returns the known mistakes of an exercise, in the order in which the bank's file first has their names.

    Raises:
        BankError: when the file cannot be read.
        ExerciseError: when an answer that is a known mistake cannot be run.
    """
    notebook, name = module.__name__.split(".")[-2:]
    answers = bank.of_exercise(notebook, name)
    known = [answer for answer in answers if answer.hint]
    variables = _variables(module, notebook, name, "\n".join(answer.source for answer in known)) if known else {}
    made = [Mistake(answer.mistake, answer.hint, _made(answer, variables)) for answer in known]
    place = {mistake: number for number, mistake in enumerate(dict.fromkeys(answer.mistake for answer in answers))}
    return sorted([*definition.mistakes, *made], key=lambda mistake: place.get(mistake.name, len(place)))


def _variables(module: ModuleType, notebook: str, name: str, sources: str) -> dict[str, Any]:
    """Returns what known mistakes may use: the definition's names, those beside it, references of earlier exercises."""
    folder = f"grading.exercises.{notebook}"
    has_common = (catalogue.FOLDER / notebook / "_common.py").is_file()
    common = vars(importlib.import_module(f"{folder}._common")) if has_common else {}
    variables = USUAL | common | vars(module)
    earlier = itertools.takewhile(lambda other: other != name, catalogue.names(notebook))
    wanted = {other for other in earlier if re.search(rf"\b{other}\b", sources)} - set(variables)
    references = {other: importlib.import_module(f"{folder}.{other}").exercise.references[0] for other in wanted}
    variables.pop(name, None)  # the answer itself defines it
    return variables | references


def _made(answer: BankAnswer, variables: dict[str, Any]) -> Any:
    try:
        return answer.made(dict(variables))
    except Exception as problem:
        raise ExerciseError(f"the answer {answer.title!r} is a known mistake, but does not run: {problem}") from problem
