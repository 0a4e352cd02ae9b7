"""`python -m grading COMMAND`: the instructor's and the maintainer's command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    options = _parsed(_parser(), arguments)
    if options.command == "build":
        return _build(options)
    if options.command == "autograde":
        from grading.sandbox import probe
        from grading.sandbox.fork_server import Zygote

        with Zygote(protected=not probe()) as zygote:  # it imports PyTorch while this process does so too
            from grading.autograder import run as autograde

            return autograde.main(options, zygote)
    if options.command == "grade":
        from grading import assignments as released
        from grading.classroom import plain_grading as classroom

        return classroom.run(options.assignment, (options.course or released.ROOT).resolve())
    if options.command == "demo":
        from grading.classroom.demo import run

        return run(options.folder)
    if options.command == "doctor":  # a student's copy of the course has all that it needs
        from grading.classroom import doctor

        return doctor.run(options.file, options.assignment, write=not options.no_copy)
    return _with_a_class(options)


def _parsed(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Returns the options. Argparse takes no assignment that stands behind an option; here it may stand anywhere."""
    options, rest = parser.parse_known_args(arguments)
    named = getattr(options, "assignment", None)
    if rest and not any(word.startswith("-") for word in rest):
        if isinstance(named, list):
            options.assignment, rest = [*named, *rest], []
        elif named == "":
            options.assignment, *rest = rest
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m grading", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    builder = commands.add_parser("build", help="make the notebooks from their text sources")
    builder.add_argument("notebook", nargs="*", help="only these, by the start of their names: 01")
    builder.add_argument("--check", action="store_true", help="change nothing; fail when a made file is stale")
    demo = commands.add_parser("demo", help="build a small class under gradebook/ and grade it with plain nbgrader")
    demo.add_argument("--folder", default=None, help="course folder to build in (default: this one)")
    collect = commands.add_parser("collect", help="take submissions from a folder or zip of Moodle, Canvas or your own")
    collect.add_argument("path", type=Path, help="the folder or zip file")
    collect.add_argument("assignment", nargs="?", default="", help="what it is for, where file names do not tell")
    collect.add_argument("--roster", type=Path, default=None, help="list of students (default: gradebook/students.csv)")
    collect.add_argument("--time", default=None, help="when it came in: '2026-01-12 18:00' (default: the files' times)")
    collect.add_argument("--json", action="store_true", help="print what became of each file as JSON")
    grade = commands.add_parser("grade", help="autograde one assignment with plain nbgrader, print marks and reasons")
    grade.add_argument("assignment", help="its full name: 01_causal_mask")
    safe = commands.add_parser("autograde", help="grade a class the safe way: in sandboxes, in parallel")
    safe.add_argument("assignment", nargs="*", help="full names (default: all that have submissions)")
    safe.add_argument("--student", action="append", default=[], help="only this student; may be repeated")
    safe.add_argument("--workers", type=int, default=None, help="processes (default: one for each core)")
    safe.add_argument("--force", action="store_true", help="grade unchanged submissions again")
    safe.add_argument("--unsafe", action="store_true", help="grade even where no sandbox can be made")
    safe.add_argument("--json", action="store_true", help="print the outcomes as JSON, and nothing else")
    again = commands.add_parser("regrade", help="grade again, unchanged or not: an assignment, a student, an exercise")
    again.add_argument("assignment", help="its full name: 01_causal_mask")
    again.add_argument("--student", action="append", default=[], help="only this student; may be repeated")
    again.add_argument("--exercise", default="", help="only the mark of this exercise: causal_mask")
    again.add_argument("--unsafe", action="store_true", help="grade even where no sandbox can be made")
    feedback = commands.add_parser("feedback", help="write the feedback pages, with marks and comments as they are now")
    feedback.add_argument("assignment", nargs="*", help="full names (default: all that are graded)")
    feedback.add_argument("--student", action="append", default=[], help="only this student; may be repeated")
    report = commands.add_parser("report", help="one HTML page: marks, exercises, and which mistakes the class made")
    report.add_argument("assignment", help="its full name: 01_causal_mask")
    export = commands.add_parser("export", help="write the marks for a spreadsheet, for Canvas or for Moodle")
    export.add_argument("assignment", nargs="*", help="full names (default: all)")
    export.add_argument("--format", choices=("csv", "canvas", "moodle"), default="csv")
    export.add_argument("--out", default=None, help="the file (default: gradebook/marks_FORMAT.csv); - prints it")
    for command in (collect, grade, safe, again, feedback, report, export):
        command.add_argument("--course", type=Path, default=None, help="course folder (default: this one)")
    doctor = commands.add_parser("doctor", help="say what is wrong with a notebook file, and write a mended copy")
    doctor.add_argument("file", type=Path, help="the notebook")
    doctor.add_argument("assignment", nargs="?", default="", help="what it is, where neither name nor cells tell")
    doctor.add_argument("--no-copy", action="store_true", help="only say what is wrong")
    return parser


def _with_a_class(options: argparse.Namespace) -> int:
    """Runs a command that works on the class in a course folder."""
    from grading.assignments import ROOT
    from grading.errors import CourseError

    course = (options.course or ROOT).resolve()
    try:
        if options.command == "collect":
            from grading.classroom import collect

            return collect.run(
                course, options.path, options.assignment, options.roster, options.time, as_json=options.json
            )
        if options.command == "regrade":
            from grading.autograder import regrade

            return regrade.run(course, options.assignment, options.student, options.exercise, unsafe=options.unsafe)
        if options.command == "feedback":
            from grading.pages import feedback

            return feedback.run(course, options.assignment, options.student)
        if options.command == "export":
            from grading.classroom import export

            return export.run(course, options.format, options.out, options.assignment)
        from grading.pages import report

        print(report.run(course, options.assignment))
    except CourseError as problem:
        print(problem, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; what was written is whole. Run the same command again to go on.", file=sys.stderr)
        return 130
    return 0


def _build(options: argparse.Namespace) -> int:
    from grading.authoring.build import command
    from grading.errors import CourseError

    try:
        return command(options)
    except CourseError as problem:
        print(problem, file=sys.stderr)
        return problem.status
    except OSError as problem:
        print(
            f"a file could not be written ({problem}); what was made before is whole.",
            file=sys.stderr,
        )
        return 1


if __name__ == "__main__":
    sys.exit(main())
