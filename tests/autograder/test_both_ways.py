"""The whole bank, graded in a sandbox and in this process: the same verdicts, whichever way a class is graded.

The sandbox's student is not the one of `test_bank.py`: a verdict hangs on the answer, and not on what is drawn.

A plain kernel, where code runs unprotected, has the examiner in the notebook's own process, which is what `InProcess`
stands for here; `test_nbgrader.py` and `benchmarks/autograde.py` compare with nbgrader itself on whole classes.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grading.authoring import bank
from grading.autograder.grade_submission import Budget, grade
from grading.autograder.graded_notebook import load_master
from grading.autograder.submission import Work, plan, read
from grading.classroom import demo
from grading.definitions import catalogue, exercise
from grading.definitions.examiner import examine
from grading.definitions.exercise import Exercise
from grading.folder.course import ROOT, Course
from grading.sandbox.student_process import ForkServerClient
from tests.definitions import kept, more
from tutor.checking.answers import InProcess
from tutor.checking.verdict import Verdict

pytestmark = [pytest.mark.sandbox, pytest.mark.all]
SEED, OTHER = kept.IN_SANDBOX, kept.STUDENT  # of every student here, and of the one in `test_bank.py`
TOGETHER = 6  # submissions in one test, so that a failure names a few


@pytest.fixture(scope="module")
def students() -> Iterator[ForkServerClient]:
    with ForkServerClient() as made:
        yield made


def submissions(notebook: str) -> list[dict[str, bank.BankAnswer]]:
    """Returns submissions, as answers by exercise, in which every answer of the bank occurs."""
    by_exercise = defaultdict(list)
    for answer in bank.answers(notebook) + more.answers(notebook):
        by_exercise[answer.exercise].append(answer)
    rows = zip_longest(*by_exercise.values())
    return [{one.exercise: one for one in row if one is not None} for row in rows]


PARTS = [
    pytest.param(notebook, start, id=f"{notebook}-{start}")
    for notebook in catalogue.notebooks()
    for start in range(0, len(submissions(notebook)), TOGETHER)
]


def work_of(notebook: str, answers: dict[str, bank.BankAnswer], folder: Path) -> Work:
    """Returns what is read from a submission with these answers."""
    folder.mkdir()
    released = nbformat.read(ROOT / "notebooks" / notebook / f"{notebook}.ipynb", as_version=4)
    filled = demo.fill(released, {name: answer.source for name, answer in answers.items()})
    (folder / f"{notebook}.ipynb").write_text(nbformat.writes(filled), encoding="utf-8")
    return read(folder, load_master(Course(), notebook))


def run(cells: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Returns the variables after all cells of a submission, in one namespace as in a kernel."""
    variables: dict[str, Any] = {"__name__": "__main__"}
    for _, source in cells:
        exec(compile(source, "<cell>", "exec"), variables)
    return variables


def judged(asked: Exercise, answer: Any) -> Verdict:
    """Returns the verdict on an answer in this process."""
    return examine(asked, InProcess(answer, kept.CLOCK), SEED, kept.PATIENCE)


def essentials(verdict: Verdict) -> tuple[str, float, str]:
    """Returns what must be the same."""
    return verdict.outcome, verdict.earned, verdict.mistake


@pytest.mark.parametrize(("notebook", "start"), PARTS)
def test_the_whole_bank_gets_the_same_verdicts(
    notebook: str, start: int, students: ForkServerClient, tmp_path_factory: pytest.TempPathFactory
) -> None:
    master, exercises = load_master(Course(), notebook), exercise.load(notebook)
    patience = Budget(cell=60, exercise=60)
    different, lucky = [], []
    for answers in submissions(notebook)[start : start + TOGETHER]:
        work = work_of(notebook, answers, tmp_path_factory.mktemp("work") / "submitted")
        graded = grade(students, master, work, exercises, SEED, patience)
        verdicts = {name: kept.verdict(answer, OTHER) for name, answer in answers.items()}
        others = [name for name in answers if essentials(verdicts[name]) != essentials(graded.verdicts[name])]
        alone = {name: judged(exercises[name], bank.run(answers[name])) for name in others}
        lucky += [
            f"{answers[name].label}: {verdicts[name]} | {alone[name]}"
            for name in others
            if essentials(verdicts[name]) != essentials(alone[name])
        ]
        if others:  # an answer may use another exercise's answer, which is not the reference's, and may keep something
            variables = run(plan(master, work, everything=False))
            for name in [one for one in exercises if one in answers]:  # so all are asked, in the order of the notebook
                verdicts[name] = judged(exercises[name], variables[name])
        different += [
            f"{answers[name].label}: {verdicts[name]} | {graded.verdicts[name]}"
            for name in others
            if essentials(verdicts[name]) != essentials(graded.verdicts[name])
        ]
    assert not lucky, "\n".join(["the mark hangs on what is drawn:", *lucky])
    assert not different, "\n".join(different)
