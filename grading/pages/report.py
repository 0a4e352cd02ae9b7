"""What a class has understood, as one HTML page: marks, exercises, and above all which mistakes were made."""

from __future__ import annotations

import argparse
import json
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grading.autograder.reporting import lacking
from grading.classroom import export, roster
from grading.classroom.roster import Person
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.notebooks import cells
from grading.notebooks.verdicts import RecordedVerdict, read_verdict
from grading.pages.anonymise import anonymise
from tutor.files import write_whole

SLOW = 2.0  # seconds of CPU time after which an answer is called slow
FLAT = 0.15  # below this correlation with the other marks an exercise does not discriminate
OUTCOMES = ("right", "wrong", "crashed or too slow", "not attempted")  # in the order of the bars
STOPPED = ("crashed", "late")


@dataclass(frozen=True)
class Submission:
    """What is known of one graded submission: verdicts and the code of each answer, by exercise.

    `seconds` of CPU time are known where `python -m grading autograde` has graded; `names` are what the student
    may be called, for keeping it out of the page; `lacking` are packages for want of which an answer has stopped.
    """

    student: str
    verdicts: Mapping[str, RecordedVerdict]
    sources: Mapping[str, str]
    repairs: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The share of the automatic points that was earned, 0 to 1."""
        earned = sum(verdict.earned for verdict in self.verdicts.values())
        return earned / (sum(verdict.points for verdict in self.verdicts.values()) or 1.0)


@dataclass(frozen=True)
class Mistake:
    """A known mistake, how many students made it, and the code of one of them."""

    name: str
    hint: str
    count: int
    example: str


@dataclass(frozen=True)
class Exercise:
    """How the class did in one exercise."""

    name: str
    points: float
    mean: float
    counts: Mapping[str, int]
    mistakes: Sequence[Mistake]
    seconds: Sequence[float]
    discrimination: float | None

    @property
    def unnamed(self) -> int:
        """How many were wrong in a way that no check names."""
        wrong = self.counts["wrong"] + self.counts["crashed or too slow"]
        return wrong - sum(mistake.count for mistake in self.mistakes)


# --- what autograding has left ----------------------------------------------------------------------------------------


def load(course: Course, assignment: str) -> list[Submission]:
    """Returns the graded submissions of an assignment whose verdicts can be read, whoever has run the examiner.

    Raises:
        CourseError: when there are none.
    """
    paths = _graded_files(course, assignment)
    folder = course.class_folder / "autograded"
    if not paths:
        raise CourseError(
            f"no graded submissions of {assignment!r} in {folder}; expected some that "
            "`python -m grading autograde` has graded. Run it first."
        )
    course.refuse_unknown(assignment)
    master = cells.cells_of(json.loads(course.solution(assignment).read_text(encoding="utf-8"))) or []
    exercises = [cells.exercise_of(cell) for cell in master if cells.kind(cell) == "check"]
    people = roster.load(course.roster).people if course.roster.exists() else {}
    found = [one for path in paths if (one := _read_submission(path, exercises, people))]
    if not found:
        raise CourseError(
            f"no graded submission of {assignment!r} in {folder} holds a verdict that can be read; expected one for "
            "each exercise. Grade again (python -m grading autograde)."
        )
    return found


def _graded_files(course: Course, assignment: str) -> list[Path]:
    return sorted((course.class_folder / "autograded").glob(f"*/{assignment}/{assignment}.ipynb"))


def _read_submission(path: Path, exercises: Sequence[str], people: Mapping[str, Person]) -> Submission | None:
    """Returns what a graded notebook says of these exercises; None when a verdict is missing or cannot be read."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
    found = cells.cells_of(notebook) or []
    checks = {cells.exercise_of(cell): read_verdict(cell) for cell in found if cells.kind(cell) == "check"}
    verdicts = {name: verdict for name in exercises if (verdict := checks.get(name))}
    if not verdicts or len(verdicts) < len(exercises):
        return None
    answers = {cells.grade_id(cell): cells.text(cell) for cell in found if cells.kind(cell) == "solution"}
    grading = _entry(_entry(notebook, "metadata"), "grading")
    seconds = {name: _entry(_entry(_entry(grading, "verdicts"), name), "seconds") for name in exercises}
    person = people.get(path.parts[-3])
    return Submission(
        path.parts[-3],
        verdicts,
        {name: answers.get(name, "") for name in exercises},
        repairs=bool(_entry(grading, "put_right")),
        seconds={name: float(value) for name, value in seconds.items() if isinstance(value, int | float)},
        names=(person.first, person.last) if person else (),
        lacking=tuple(held) if isinstance(held := _entry(grading, "lacking"), dict) else (),
    )


def _entry(data: Any, key: str) -> Any:
    return data.get(key) if isinstance(data, dict) else None


# --- what it says of the class ----------------------------------------------------------------------------------------


def measure_discrimination(submissions: Sequence[Submission], exercise: str) -> float | None:
    """Returns the correlation of an exercise's mark with the rest of the marks; None when one of them is constant.

    Near 0 or below, the exercise does not separate those who understood from those who did not.
    """
    own = [one.verdicts[exercise].earned for one in submissions]
    rest = [sum(v.earned for name, v in one.verdicts.items() if name != exercise) for one in submissions]
    if len(own) < 3 or len(set(own)) < 2 or len(set(rest)) < 2:
        return None
    return statistics.correlation(own, rest)


def count_mistakes(submissions: Sequence[Submission], exercise: str) -> list[Mistake]:
    """Returns the known mistakes that were made in an exercise, the most frequent first."""
    made: dict[str, list[Submission]] = {}
    for one in submissions:
        if name := one.verdicts[exercise].mistake:
            made.setdefault(name, []).append(one)
    found = []
    for name, those in sorted(made.items(), key=lambda item: -len(item[1])):
        first = min(those, key=lambda one: len(one.sources[exercise]))  # the shortest example is the clearest
        example = anonymise(first.sources[exercise], [first.student, *first.names])
        found.append(Mistake(name, first.verdicts[exercise].hint, len(those), example))
    return found


def summarise(submissions: Sequence[Submission], name: str) -> Exercise:
    """Returns how the class did in one exercise."""
    verdicts = [one.verdicts[name] for one in submissions]
    counts = Counter("crashed or too slow" if v.outcome in STOPPED else v.outcome for v in verdicts)
    return Exercise(
        name,
        points=verdicts[0].points,
        mean=statistics.mean(verdict.earned for verdict in verdicts),
        counts={outcome: counts[outcome] for outcome in OUTCOMES},
        mistakes=count_mistakes(submissions, name),
        seconds=sorted(one.seconds[name] for one in submissions if name in one.seconds),
        discrimination=measure_discrimination(submissions, name),
    )


def count_tenths(shares: Sequence[float]) -> list[int]:
    """Returns how many of the shares (0 to 1) lie in each tenth; 1 belongs to the last."""
    counts = Counter(min(9, int(10 * share + 1e-9)) for share in shares)
    return [counts[tenth] for tenth in range(10)]


def make_page(
    assignment: str,
    submissions: Sequence[Submission],
    *,
    ungraded: int = 0,
    unreadable: int = 0,
    marks: Sequence[export.Mark] = (),
) -> str:
    """Returns the report as one HTML page that needs nothing from outside and names nobody.

    Args:
        assignment: its name.
        submissions: the graded ones, at least one.
        ungraded: how many were handed in and have no mark.
        unreadable: how many were graded and hold no verdict that can be read.
        marks: what the gradebook says of them: which are late, and which a person has still to read.
    """
    from grading.pages.rendering import render  # only now: what is mistyped is answered at once

    shares = [one.share for one in submissions]
    exercises = [summarise(submissions, name) for name in submissions[0].verdicts]
    made = [(mistake, exercise.name) for exercise in exercises for mistake in exercise.mistakes]
    return render(
        "report.html",
        title=f"{assignment}: report",
        assignment=assignment,
        students=len(submissions),
        middle=statistics.median(shares),
        ungraded=ungraded,
        unreadable=unreadable,
        unread=sum(mark.unread > 0 for mark in marks),
        late=sum(mark.penalty > 0 for mark in marks),
        first_look=sorted(made, key=lambda pair: -pair[0].count)[:3],
        tenths=count_tenths(shares),
        exercises=exercises,
        outcomes=OUTCOMES,
        repairs=sum(one.repairs for one in submissions),
        lacking=lacking(one.lacking for one in submissions),
        slow={one.name: sum(value > SLOW for value in one.seconds) for one in exercises},
        limits={"slow": SLOW, "flat": FLAT},
    )


# --- the command ------------------------------------------------------------------------------------------------------


def command(options: argparse.Namespace) -> int:
    """Runs `python -m grading report`."""
    print(write_report(Course((options.course or ROOT).resolve()), options.assignment))
    return 0


def write_report(course: Course, assignment: str) -> Path:
    """Writes the report of an assignment into `gradebook/`, and returns its path.

    Raises:
        CourseError: when nothing of it has been graded.
    """
    submissions = load(course, assignment)
    graded = {path.parts[-3] for path in _graded_files(course, assignment)}
    handed_in = {path.parent.name for path in course.submissions.glob(f"[!.]*/{assignment}")}
    marks = export.marks(course, [assignment])[0] if course.has_gradebook() else []
    stale = {mark.student for mark in marks if mark.score is None} & graded  # their points have changed since
    submissions = [one for one in submissions if one.student not in stale]
    graded -= stale
    if not submissions:
        raise CourseError(
            f"every submission of {assignment} was graded by other points than it has now; grade again (python -m "
            f"grading autograde {assignment})."
        )
    text = make_page(
        assignment,
        submissions,
        ungraded=len(handed_in - graded),
        unreadable=len(graded) - len(submissions),
        marks=marks,
    )
    path = course.class_folder / f"report_{assignment}.html"
    write_whole(path, text)
    return path
