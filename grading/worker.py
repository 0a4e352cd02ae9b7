"""Grade one submission: a pure function of the answers, the exercises and the student's name."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from grading.examiner import examine
from grading.exercise import Exercise
from grading.remote import Student, Students
from grading.submission import Master, Work, exercise_of, plan
from helpers.checking.serve import ChannelError
from helpers.checking.verdict import Verdict

CELL_SECONDS, EXERCISE_SECONDS = 20.0, 10.0  # processor time of one cell, and of one exercise's questions


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


def grade(students: Students, master: Master, work: Work, exercises: dict[str, Exercise], student: str) -> Graded:
    """Returns the verdicts on a submission; never raises for anything that a submission can do."""
    graded = Graded(put_right=list(work.put_right))
    _grade(students, master, work, exercises, student, graded, everything=False)
    extra = any(not name for name, _ in work.code)
    if extra and any(_name_missing(graded, name) for name in exercises):
        before, graded = graded, Graded(put_right=list(work.put_right))
        _grade(students, master, work, exercises, student, graded, everything=True)
        for name, verdict in before.verdicts.items():
            if verdict.earned > graded.verdicts[name].earned:
                graded.verdicts[name] = verdict
        graded.put_right.append("an answer uses what further cells define; they were run too")
    return graded


def _name_missing(graded: Graded, name: str) -> bool:
    return "NameError" in graded.errors.get(name, "") or "NameError" in graded.verdicts[name].sentence


def _grade(
    students: Students,
    master: Master,
    work: Work,
    exercises: dict[str, Exercise],
    name: str,
    graded: Graded,
    *,
    everything: bool,
) -> None:
    cells, culprits = plan(master, work, everything=everything), set[int]()
    process = _started(students, cells, culprits, graded)
    for check in master.cells("check"):
        exercise = exercises[exercise_of(check)]
        start = time.perf_counter()
        if exercise.name not in work.answers:
            graded.errors.setdefault(exercise.name, "its cell is missing")
        answer = process.answer(exercise.name)
        before = answer.spent()
        verdict = examine(exercise, answer, name, EXERCISE_SECONDS)
        graded.spent[exercise.name] = answer.spent() - before
        if answer.dead:  # this exercise ended the process: the others get a new one
            verdict.earned = 0.0
            process.close()
            process = _started(students, cells, culprits, graded)
        graded.verdicts[exercise.name] = verdict
        _add(graded, "examiner and answers", start)
    process.close()


def _started(students: Students, cells: Sequence[tuple[str, str]], culprits: set[int], graded: Graded) -> Student:
    """Returns a process in which all cells have run, but those that end or block it."""
    while True:
        start = time.perf_counter()
        process = students.student()
        _add(graded, "fork", start)
        start = time.perf_counter()
        for index, (name, source) in enumerate(cells):
            if index in culprits:
                continue
            try:
                error = process.run(source, CELL_SECONDS)
            except ChannelError as problem:
                culprits.add(index)
                graded.errors[name] = f"the cell ended its process: {problem}"
                break
            if error:
                graded.errors[name] = error
        else:
            _add(graded, "cells", start)
            return process
        process.close()
        _add(graded, "cells", start)


def _add(graded: Graded, part: str, start: float) -> None:
    graded.seconds[part] = graded.seconds.get(part, 0.0) + time.perf_counter() - start
