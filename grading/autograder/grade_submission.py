"""Grade one submission: a pure function of the answers, the exercises and the student's name."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from grading.autograder.submission import Master, Work, exercise_of, plan
from grading.examiner import examine
from grading.exercise import Exercise
from grading.sandbox.student_process import Student, Students
from helpers.checking.serve import ChannelError, ProcessEnded
from helpers.checking.verdict import Verdict


@dataclass(frozen=True)
class Budget:
    """Processor seconds that grading may take: for one cell, for one exercise's questions, and for a notebook.

    A notebook gets `notebook` seconds for each of its exercises, and once more for the rest.
    """

    cell: float = 20.0
    exercise: float = 10.0
    notebook: float = 30.0


USED_UP = "the time for this notebook was used up"


@dataclass
class Graded:
    """The verdicts on one submission, the errors of its cells, and where the time went.

    `seconds` are by part of the work; `spent` is the processor time of each exercise's answers.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    put_right: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)
    left: float = math.inf  # of the notebook's time


def grade(
    students: Students,
    master: Master,
    work: Work,
    exercises: dict[str, Exercise],
    student: str,
    budget: Budget = Budget(),
) -> Graded:
    """Returns the verdicts on a submission; never raises for anything that a submission can do."""
    graded = Graded(put_right=list(work.put_right), left=budget.notebook * (1 + len(exercises)))
    _grade(students, master, work, exercises, student, graded, budget, everything=False)
    extra = any(not name for name, _ in work.code)
    if extra and any(_name_missing(graded, name) for name in exercises):
        before, graded = graded, Graded(put_right=list(work.put_right), left=graded.left)
        _grade(students, master, work, exercises, student, graded, budget, everything=True)
        for name, verdict in before.verdicts.items():
            if verdict.earned > graded.verdicts[name].earned:
                graded.verdicts[name] = verdict
        graded.put_right.append("an answer uses what further cells define; they were run too")
    return graded


def _name_missing(graded: Graded, name: str) -> bool:
    return "NameError" in graded.errors.get(name, "") or graded.verdicts[name].error_type == "NameError"


def _grade(
    students: Students,
    master: Master,
    work: Work,
    exercises: dict[str, Exercise],
    name: str,
    graded: Graded,
    budget: Budget,
    *,
    everything: bool,
) -> None:
    cells, culprits = plan(master, work, everything=everything), Counter[int]()
    process = _started(students, cells, culprits, graded, budget)
    for check in master.cells("check"):
        exercise = exercises[exercise_of(check)]
        start = time.perf_counter()
        if exercise.name not in work.answers:
            graded.errors.setdefault(exercise.name, "its cell is missing")
        for again in (False, True):
            answer = process.answer(exercise.name)
            before = answer.spent()
            if graded.left <= 0:
                answer.dead = USED_UP
            verdict = examine(exercise, answer, name, min(budget.exercise, max(graded.left, 0.1)))
            graded.spent[exercise.name] = answer.spent() - before
            if not answer.dead:
                break
            verdict = replace(verdict, earned=0.0)
            graded.left -= process.close()
            if graded.left > 0:  # this exercise ended the process: the others get a new one
                process = _started(students, cells, culprits, graded, budget)
            if again or not answer.ended:
                break  # else somebody else may have ended it, for want of memory perhaps: it gets a second chance
        graded.verdicts[exercise.name] = verdict
        _add(graded, "examiner and answers", start)
    graded.left -= process.close()


def _started(
    students: Students, cells: Sequence[tuple[str, str]], culprits: Counter[int], graded: Graded, budget: Budget
) -> Student:
    """Returns a process in which all cells have run, but those that block it or end it twice, while there is time."""
    while True:
        start = time.perf_counter()
        process = students.student()
        _add(graded, "fork", start)
        start = time.perf_counter()
        for index, (name, source) in enumerate(cells):
            if culprits[index] >= 2:
                continue
            if process.used() > graded.left:
                graded.errors[name] = USED_UP
                continue
            try:
                error = process.run(source, budget.cell)
            except ChannelError as problem:
                culprits[index] += 1 if isinstance(problem, ProcessEnded) else 2
                graded.errors[name] = f"the cell ended its process: {problem}"
                break
            if error:
                graded.errors[name] = error
            elif culprits[index]:
                graded.errors.pop(name, None)  # it was not the cell that ended the process
        else:
            _add(graded, "cells", start)
            return process
        graded.left -= process.close()
        _add(graded, "cells", start)


def _add(graded: Graded, part: str, start: float) -> None:
    graded.seconds[part] = graded.seconds.get(part, 0.0) + time.perf_counter() - start
