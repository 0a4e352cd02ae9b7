"""`check(answer)`: say what an answer does right, where it first goes wrong, and why.

It knows examples, not solutions: `check_examples/` holds for each exercise, for a few small inputs, the wanted result
and the results of the known mistakes. Marks are given elsewhere, on inputs that nobody has seen.
"""

from __future__ import annotations

import difflib
import json
import linecache
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

import torch
from IPython.core.getipython import get_ipython

from tutor import kernel, overview
from tutor.checking import plain, slips
from tutor.checking.answers import InProcess, Question, find
from tutor.checking.building import build, build_inputs
from tutor.checking.globals_used import functions_of, globals_used, line_numbers, names_bound
from tutor.checking.judging import Case, Examples, Raised, Sealed, StageCases, judge
from tutor.checking.probes import built
from tutor.checking.verdict import Verdict
from tutor.notebooks import opened

EXAMPLES = Path(__file__).with_name("check_examples")
EXPERIMENTS = EXAMPLES / "experiments.json"  # the variables of each notebook that only its experiment cells make


_asked = list[tuple[Any, Question]]()  # the answer whose check has shown a question last, and that question
_failures: dict[str, int] = {}  # how often in a row the check of an exercise has failed in this kernel


class NotRightYet(AssertionError):
    """A check that has not passed, under nbgrader's Validate; shown as its sentences, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class NoAnswer(LookupError):
    """What a check was given is no answer; shown as its sentence, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def _files() -> dict[str, Path]:
    """Returns the file of examples of each exercise.

    Raises:
        FileNotFoundError: when none are there.
    """
    files = {path.stem: path for path in sorted(EXAMPLES.glob("*/*.json"))}
    if not files:
        raise FileNotFoundError(
            f"{EXAMPLES.name} beside check.py is empty: install the course again, or run `make build` in a clone."
        )
    return files


@cache
def public_examples(exercise: str = "") -> dict[str, Examples]:
    """Returns the public examples by exercise: of all exercises, or only of one (none, when it is unknown).

    Raises:
        FileNotFoundError: when none are there.
    """
    chosen = {name: path for name, path in _files().items() if exercise in ("", name)}
    return {name: _decode_examples(name, json.loads(path.read_text("utf-8"))) for name, path in chosen.items()}


def _decode_examples(name: str, entry: dict[str, Any]) -> Examples:
    def value(data: Any) -> Any:
        if isinstance(data, dict) and "sealed" in data:
            return Sealed(data["sealed"])
        if isinstance(data, dict) and "raised" in data:
            return Raised(data["raised"], data.get("changed", ""), data.get("said", ""))
        return plain.decode(data)

    def traces(data: list[str | float | None] | None) -> dict[str, str | float] | None:
        if data is None:
            return None
        return {name: trace for name, trace in zip(entry["hints"], data, strict=True) if trace is not None}

    stages = tuple(
        StageCases(
            stage["name"],
            stage["look"],
            stage["points"],
            stage["view"],
            stage["tolerance"],
            tuple(
                Case(
                    Question.decode(case["ask"]),
                    value(case["wanted"]),
                    {k: value(v) for k, v in case.get("mistakes", {}).items()},
                    traces=traces(case.get("traces")),
                    corner=case.get("corner", False),
                )
                for case in stage["cases"]
            ),
            stage.get("measure", ""),
            stage.get("cost", 0.0),
            stage.get("decisive", False),
            stage.get("weak", False),
        )
        for stage in entry["stages"]
    )
    return Examples(
        name,
        entry["signature"],
        stages,
        entry["hints"],
        salt=name,
        kept=entry.get("kept", 0.0),
        forbids=tuple(entry.get("forbids", ())),
    )


def check(answer: Any, name: str | None = None) -> Verdict | None:
    """Checks an answer on the public examples and shows what passed, what failed first, and the likely mistake.

    Args:
        answer: the function or the class that an exercise asks for.
        name: the exercise, where the answer has another name than its exercise.

    Raises:
        LookupError: when no exercise has this name.
        AssertionError: only under nbgrader's Validate, which counts an error as "not right yet".
    """
    if os.environ.get("NBGRADER_EXECUTION") == "autograde":
        return None  # the examiner's own line in the same cell gives the verdict
    variables = sys._getframe(1).f_globals
    name = name or name_of_answer(answer, variables)
    if problem := _no_answer(answer, name, sys._getframe(1)):
        raise NoAnswer(problem)
    examples = public_examples(name)
    if problem := kernel.not_run(name):
        verdict = Verdict(name, "not run", 0.0, examples[name].points, (), sentence=problem)
    else:
        verdict = _with_source(judge(examples[name], InProcess(answer)), answer)
        verdict = _with_experiments(verdict, answer, name)
    if os.environ.get("NBGRADER_EXECUTION") == "validate" and verdict.outcome != "right":
        raise NotRightYet(str(verdict))
    if verdict.question is not None:
        _asked[:] = [(answer, verdict.question)]
    verdict = _with_offer(verdict)
    if is_another := _is_another(answer, name, variables):
        verdict = replace(verdict, notes=(is_another, *verdict.notes))
    else:
        overview.note(verdict)
    overview.show(verdict)
    return None


def _no_answer(answer: Any, name: str, frame: FrameType) -> str:
    """Returns a sentence where what a check was given is no function and no class of an exercise, else ""."""
    files = _files()
    if isinstance(answer, type | FunctionType) or callable(answer):
        of_class = name == type(answer).__name__ and name in files and frame.f_globals.get(name) is type(answer)
        if name in files and not of_class:
            return ""
        if not of_class:
            close = ", ".join(difflib.get_close_matches(name, files, 3)) or "the names in the notebook"
            return f"no exercise is called {name!r}; expected one of: {close}. Say check(answer, 'its_name')."
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    called = [one for one in (name, answer, *re.findall(r"\w+", line)) if isinstance(one, str) and one in files]
    notebook = opened(frame.f_globals)
    example = called[0] if called else next(iter(notebook.exercises if notebook else ()), "causal_mask")
    kind = "class" if isinstance(frame.f_globals.get(example), type) else "function"
    if isinstance(answer, str):
        return f"give check the {kind} itself, not its name as a text: check({example})."
    is_what = f"This is what it returns, a {type(answer).__name__}."
    return f"give check the {kind} itself, without calling it: check({example}). {is_what}"


def _with_source(verdict: Verdict, answer: Any) -> Verdict:
    """Returns the verdict with what an answer's cell shows: where a tensor is made, and that a GPU is asked for."""
    files = {function.__code__.co_filename for function in functions_of(answer)}
    for source in ("".join(linecache.getlines(file)) for file in sorted(files)):
        verdict = replace(verdict, sentence=slips.with_place_on_cpu(verdict.sentence, source))
        on_gpu = torch.cuda.is_available() or torch.backends.mps.is_available()
        if on_gpu and verdict.mistake != slips.NO_GPU and slips.asks_for_gpu(source):
            verdict = replace(verdict, outcome="wrong", earned=0.0, mistake=slips.NO_GPU, hint=slips.WITHOUT_GPU)
    return verdict


def _is_another(answer: Any, name: str, variables: Mapping[str, Any]) -> str:
    """Returns a sentence where what a notebook has checked is not what grading will ask, else ""."""
    try:
        asked = find(variables, name, Path.cwd())
    except LookupError:
        asked = None
    if asked is answer or variables.get("__name__") != "__main__":
        return ""
    return f"Grading asks what your notebook calls `{name}`, which is not what was checked here: write `{name} = ...`."


def given(number: int) -> Any:
    """Returns a new copy of an input of the question that the last check showed; a notebook says `check.given(1)`.

    Args:
        number: counted from 1, those given by name after the others; 0 is the module with the weights of the question.

    Raises:
        LookupError: when no check has shown a question, or it has no such input.
    """
    if not _asked:
        raise LookupError("no check has shown a question yet: run a check that fails, then this line.")
    answer, question = _asked[0][0], _asked[0][1].fresh()
    if number == 0 and question.build is not None:
        return built(question, answer)
    values = [*build_inputs(question.inputs), *map(build, question.keywords.values())]
    if not 1 <= number <= len(values):
        raise LookupError(f"the question that was shown last has {len(values)} inputs; there is no number {number}.")
    return values[number - 1]


check.given = given  # type: ignore[attr-defined]  # so that every notebook has it


def _with_offer(verdict: Verdict) -> Verdict:
    """Returns the verdict, from the second failure in a row on with the offer of a hint."""
    failed = verdict.outcome in ("wrong", "crashed", "late")
    _failures[verdict.name] = _failures.get(verdict.name, 0) + 1 if failed else 0
    if _failures[verdict.name] < 2:
        return verdict
    return replace(verdict, notes=(*verdict.notes, f"`hint({verdict.name})` shows a hint; it costs nothing."))


def _with_experiments(verdict: Verdict, answer: Any, exercise: str) -> Verdict:
    """Returns the verdict with what to say of variables that only experiment cells make.

    Grading makes those that an answer uses, too, unless a model must be trained for it: then the answer cannot be
    marked, and is not right. A name that a cell of the student's own binds is the student's: grading runs that cell.
    """
    experiments = json.loads(EXPERIMENTS.read_text("utf-8")).get(_files()[exercise].parent.name, {})
    made, trained = set(experiments.get("made", ())), set(experiments.get("trained", ()))
    own, lost = _own_names(experiments.get("cells", ()))
    names = globals_used(answer) & (made | trained)
    advice = "Make what you need in the function itself or in a cell of your own, or take it from an argument."
    if found := sorted(names & lost):
        note = f"{_are(found)} bound by an experiment, too, which ran last. Grading uses yours: run your cell again."
        verdict = replace(verdict, notes=(note, *verdict.notes))
    if found := sorted(names & made - own):
        note = f"{_are(found)} made in an experiment, which grading runs only as far as an answer needs it. {advice}"
        verdict = replace(verdict, notes=(note, *verdict.notes))
    if found := sorted(names & trained - own):
        sentence = f"{_are(found)} made in an experiment that trains a model, which grading does not repeat. {advice}"
        if verdict.outcome == "right":
            return replace(verdict, outcome="wrong", earned=0.0, sentence=sentence)
        verdict = replace(verdict, notes=(sentence, *verdict.notes))
    return verdict


def _own_names(experiments: Sequence[Sequence[int]]) -> tuple[set[str], set[str]]:
    """Returns the names that cells of the student's own have bound in this kernel, and which of them others bind now.

    A cell that holds most lines of an experiment cell, `experiments`, is that, with something else tried in it.
    """
    shell = get_ipython()
    own, lost = set[str](), set[str]()
    for cell in shell.user_ns.get("In", ()) if shell is not None else ():
        lines, names = set(line_numbers(cell)), names_bound(cell)
        if any(2 * len(lines & set(known)) > len(set(known)) for known in experiments):
            lost |= own & names
        else:
            own |= names
            lost -= names
    return own, lost


def _are(names: list[str]) -> str:
    return f"{', '.join(f'`{name}`' for name in names)} {'is' if len(names) == 1 else 'are'}"


def name_of_answer(answer: Any, variables: Mapping[str, Any]) -> str:
    """Returns the exercise's name: the variable that holds the answer, else the answer's own name."""
    files = _files()
    names = [name for name, value in variables.items() if value is answer and name in files]
    return names[0] if names else str(getattr(answer, "__name__", type(answer).__name__))


kernel.watch()
