"""Due dates and extensions: the commands `due` and `extend`. Both are nbgrader's own, in its gradebook, in UTC."""

from __future__ import annotations

import argparse
import datetime
import difflib
import math
from collections.abc import Mapping

from grading.classroom import roster
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.folder.text import printable
from grading.folder.times import read_time, shown

MOST_DAYS = 3660


def command(options: argparse.Namespace) -> int:
    """Runs `python -m grading due` or `extend`."""
    return _due(options) if options.command == "due" else _extend(options)


def _due(options: argparse.Namespace) -> int:
    """Sets, shows or removes the due date of an assignment."""
    course = _course(options)
    if options.time and options.remove:
        raise CourseError("give a time or --remove, not both.")
    if options.time or options.remove:
        moment = read_time(options.time).replace(tzinfo=None) if options.time else None
        course.refuse_damaged_gradebook()
        with course.gradebook() as book:
            book.update_or_create_assignment(options.assignment, duedate=moment)
    _show(course, options.assignment)
    if options.time or options.remove:
        _say_what_to_run(course, options.assignment)
    return 0


def _extend(options: argparse.Namespace) -> int:
    """Sets, shows or removes somebody's extension."""
    course, assignment, student = _course(options), options.assignment, options.student
    wishes = [options.days is not None, bool(options.to), options.remove]
    if sum(wishes) > 1:
        raise CourseError("give one of --days, --to and --remove.")
    if not any(wishes):
        if student:
            _refuse_nobody(course, student)
        _show(course, assignment, student)
        return 0
    if not student:
        raise CourseError(f"whose extension? expected: extend {assignment} STUDENT --days 2.")
    _refuse_nobody(course, student)
    end = read_time(options.to).replace(tzinfo=None) if options.to else None
    if options.days is not None and not (math.isfinite(options.days) and 0 < options.days <= MOST_DAYS):
        raise CourseError(f"--days {options.days:g} is no extension; expected more than 0 and at most {MOST_DAYS}.")
    with course.gradebook() as book:
        found = book.update_or_create_assignment(assignment)
        extension = None if options.days is None else datetime.timedelta(days=options.days)
        if end is not None:
            if found.duedate is None:
                raise CourseError(f"{assignment} has no due date to extend; set one first: due {assignment} TIME.")
            if end <= found.duedate:
                raise CourseError(
                    f"{shown(end)} is no extension: {assignment} is due {shown(found.duedate)}. Give a later time."
                )
            extension = end - found.duedate
        book.update_or_create_student(student)
        with book.db.no_autoflush:  # nbgrader's own way of making one warns otherwise
            submission = book.update_or_create_submission(assignment, student)
        submission.extension = extension
        book.db.commit()
    _show(course, assignment, student)
    _say_what_to_run(course, assignment)
    return 0


def _course(options: argparse.Namespace) -> Course:
    course = Course((options.course or ROOT).resolve())
    course.refuse_unknown(options.assignment)
    course.refuse_damaged_gradebook()
    return course


def _show(course: Course, assignment: str, student: str = "") -> None:
    """Prints the due date of an assignment and the extensions of a student, of everybody where none is named."""
    date: datetime.datetime | None = None
    extensions: Mapping[str, datetime.timedelta] = {}
    if course.has_gradebook():
        with course.gradebook() as book:
            if found := next((one for one in book.assignments if one.name == assignment), None):
                date = found.duedate
                extensions = {one.student_id: one.extension for one in found.submissions if one.extension}
    print(f"{assignment} is due {shown(date)}" if date else f"{assignment} has no due date: nothing is late")
    chosen = {one: extensions[one] for one in sorted(extensions) if one == student or not student}
    for one, extension in chosen.items():
        until = f", until {shown(date + extension)}" if date else ""
        days = extension / datetime.timedelta(days=1)
        print(f"{printable(one)} has {days:.4g} {'day' if days == 1 else 'days'} more{until}")
    if student and not chosen:
        print(f"{printable(student)} has no extension")


def _say_what_to_run(course: Course, assignment: str) -> None:
    if any((course.class_folder / "autograded").glob(f"[!.]*/{assignment}")):
        print(f"What lateness costs is counted by the next run: python -m grading autograde {assignment}")


def _refuse_nobody(course: Course, student: str) -> None:
    """Raises CourseError for an id that neither the list of students, nor the gradebook, nor a submission has."""
    listed = roster.load(course.roster) if course.roster.exists() else roster.Roster()
    known = {*listed.people, *(path.name for path in course.submissions.glob("[!.]*"))}
    if course.has_gradebook():
        with course.gradebook() as book:
            known |= {one.id for one in book.students}
    if student in known:
        return
    near = sorted(listed.find(label=student)) or difflib.get_close_matches(student, known, 3)
    meant = f" Is {' or '.join(near)} meant?" if near else ""
    raise CourseError(
        f"nobody is called {student[:60]!r}; expected an id of {course.roster} or of the gradebook, as the tables of "
        f"autograde show it.{meant}"
    )
