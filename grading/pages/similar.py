"""The report of answers that are closer than chance: a page with the answers side by side, and a table."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from grading.autograder.reporting import called, names
from grading.classroom import similar
from grading.classroom.export import harmless, text
from grading.classroom.similar import Closeness, Exercise, Findings
from grading.folder.course import ROOT, Course
from tutor.files import write_whole

SHOWN = 50  # pairs on the page; the table has all
TITLES = [
    "student_a",
    "name_a",
    "student_b",
    "name_b",
    "exercise",
    "told",
    "shared_percent",
    "bits",
    "expected_by_chance",
]


def make_page(assignment: str, findings: Findings, exercises: Sequence[Exercise], known: Mapping[str, str]) -> str:
    """Returns the report as one HTML page that needs nothing from outside; it names students.

    Args:
        assignment: its name.
        findings: what `similar.compare` has found.
        exercises: the answers.
        known: the students' names, by id.
    """
    from grading.pages.rendering import Room, render  # only now: what is mistyped is answered at once

    students = {student for pair in findings.pairs for student in (pair.first, pair.second)}
    return render(
        "similar.html",
        title=f"{assignment}: similar answers",
        assignment=assignment,
        findings=findings,
        pairs=findings.pairs[:SHOWN],
        answers={one.name: one for one in exercises},
        called={student: called(student, known) for student in students},
        fewest=similar.FEWEST,
        doubt=similar.DOUBT,
        room=Room(),
    )


def rows(findings: Findings, known: Mapping[str, str]) -> list[list[str]]:
    """Returns the lines of the table, titles first: each pair with all exercises together, then with each of them."""
    lines = [TITLES]
    for pair in findings.pairs:
        whose = [pair.first, known.get(pair.first, ""), pair.second, known.get(pair.second, "")]
        for name, one in {"all": pair.together, **pair.exercises}.items():
            lines.append([harmless(value) for value in (*whose, name, *_values(one))])
    return lines


def _values(one: Closeness) -> list[str]:
    expected = "" if math.isnan(one.expected) else f"{one.expected:.2g}"
    return ["yes" if one.reported else "no", f"{100 * one.share:.0f}", f"{one.bits:.1f}", expected]


def write_report(course: Course, assignment: str) -> tuple[Findings, Path, Path]:
    """Writes page and table of an assignment into `gradebook/`; returns what was found, and their paths.

    Raises:
        CourseError: when nothing of it has been graded.
    """
    exercises = similar.load(course, assignment)
    findings, known = similar.compare(exercises), names(course)
    page = course.class_folder / f"similar_{assignment}.html"
    table = page.with_suffix(".csv")
    write_whole(page, make_page(assignment, findings, exercises, known))
    write_whole(table, "\ufeff" + text(rows(findings, known)))  # the mark is for Excel, as in an export
    return findings, page, table


def command(options: argparse.Namespace) -> int:
    """Runs `python -m grading similar`."""
    findings, page, table = write_report(Course((options.course or ROOT).resolve()), options.assignment)
    if findings.students < similar.FEWEST:
        print(f"{findings.students} students: too few to tell, at least {similar.FEWEST} are needed.")
    else:
        found = f"{len(findings.pairs)} pair{'s' if len(findings.pairs) != 1 else ''}"
        print(f"closer than chance: {found} of {findings.students} students; no pair is a proof.")
    print(f"{page}\n{table}")
    return 0
