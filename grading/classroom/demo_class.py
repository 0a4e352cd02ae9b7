"""The invented class of `make demo`: it has a course folder of its own, and is never mixed with a real one."""

from __future__ import annotations

from collections.abc import Iterable

from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError

FOLDER = ROOT / "demo"
MARKER = ".made_by_demo"  # a gradebook folder with this file may be made anew
STUDENTS = (
    "ada_perfect",
    "blaise_half_done",
    "chloe_empty",
    "denis_mistaken",
    "emile_broken_file",
    "fatou_endless_loop",
    "gael_no_notebook",
)


def is_demo(course: Course) -> bool:
    """Says whether the class in a course folder is the invented one."""
    return (course.class_folder / MARKER).exists()


def refuse_mixing(course: Course, students: Iterable[str]) -> None:
    """Raises CourseError when real students would come into the demo class, or invented ones into a real class."""
    named = set(students)
    invented, real = sorted(named & set(STUDENTS)), sorted(named - set(STUDENTS))
    if is_demo(course) and real:
        raise CourseError(
            f"{course.class_folder} holds the class of `make demo`, and {_some(real)} would join it: nothing was "
            "collected. Name the course folder of the real class, or move that folder away first."
        )
    if not is_demo(course) and invented:
        raise CourseError(
            f"{_some(invented)} would come out of the class of `make demo` into {course.class_folder}: nothing was "
            f"collected. Leave these files out, or say --course {FOLDER.name}."
        )


def _some(students: list[str]) -> str:
    return ", ".join(students[:3]) + (f" and {len(students) - 3} more" if len(students) > 3 else "")
