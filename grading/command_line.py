"""The command line of `python -m grading`. Imports nothing that takes time: a mistyped word is answered at once."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

PROGRAM = "python -m grading"


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Returns the options, with the command's function as `run`: "module:function"; ends the process when one is wrong.

    Argparse takes no assignment that stands behind an option; here it may stand anywhere.
    """
    parser = _parser()
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
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description="The instructor's and the maintainer's commands. Each has a help of its own."
    )
    commands = parser.add_subparsers(dest="command", required=True)

    def add(name: str, run: str, summary: str, *examples: str) -> argparse.ArgumentParser:
        lines = "\n".join(f"  {PROGRAM} {name} {example}".rstrip() for example in examples)
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=f"example{'s' if len(examples) > 1 else ''}:\n{lines}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(run=run)
        return command

    build = add(
        "build", "grading.authoring.build:command", "make the notebooks from their text sources", "01", "--check"
    )
    build.add_argument("notebook", nargs="*", help="only these, by the start of their names: 01")
    ways = build.add_mutually_exclusive_group()
    ways.add_argument("--check", action="store_true", help="change nothing; fail when a made file is stale")
    ways.add_argument("--examples", action="store_true", help="make what the checks ask, and run no notebook")
    ways.add_argument("--keep", action="store_true", help="run no experiment: each keeps its output")

    new = add(
        "new",
        "grading.authoring.new_exercise:command",
        "write the files of a new exercise, which passes its own tests at once",
        "01_causal_mask token_count",
    )
    new.add_argument("notebook", help="its notebook's full name: 01_causal_mask")
    new.add_argument("name", help="the name of the function or class that a student writes")

    prove = add(
        "prove",
        "grading.authoring.prove:command",
        "prove an exercise: right answers earn all, wrong ones lose marks and get their hint",
        "causal_mask",
        "causal_mask --students 20",
    )
    prove.add_argument("exercise", help="the name of its function or class")
    prove.add_argument("--students", type=int, default=1, help="on the questions of so many students (default: 1)")

    release = add(
        "release",
        "grading.authoring.release:command",
        "write what students get: a wheel of the helpers, and a zip with it and the notebooks",
        "--out /tmp/dist",
        "--route six-weeks",
    )
    release.add_argument("--out", type=Path, default=None, help="the folder (default: dist)")
    release.add_argument("--route", default="", help="a plan of docs/syllabus.md: its notebooks alone")

    book = add(
        "book",
        "grading.pages.book:command",
        "write the course as a book for reading: no answers, no network needed",
        "--out /tmp/book",
    )
    book.add_argument("--out", type=Path, default=None, help="the folder (default: dist/book)")

    demo = add(
        "demo",
        "grading.classroom.demo:command",
        "build a small class in demo/, grade it and write its feedback",
        "--folder /tmp/class",
    )
    demo.add_argument("--folder", default=None, help="course folder to build (default: demo/)")

    due = add(
        "due",
        "grading.classroom.due:command",
        "set or show when an assignment is due, and who has an extension",
        "01_causal_mask",
        "01_causal_mask '2026-01-12 18:00'",
        "01_causal_mask '2026-01-12 18:00 Europe/Berlin'",
    )
    due.add_argument("assignment", help="its full name: 01_causal_mask")
    due.add_argument(
        "time", nargs="?", default="", help="in this machine's zone, or with one: Europe/Berlin, +01:00, Z"
    )
    due.add_argument("--remove", action="store_true", help="it is due no more: nothing is late")

    extend = add(
        "extend",
        "grading.classroom.due:command",
        "give one student more time",
        "01_causal_mask ada --days 2",
        "01_causal_mask ada --to '2026-01-14 18:00'",
        "01_causal_mask ada --remove",
    )
    extend.add_argument("assignment", help="its full name: 01_causal_mask")
    extend.add_argument("student", nargs="?", default="", help="the id; without one all extensions are shown")
    extend.add_argument("--days", type=float, default=None, help="days after the due date; 0.5 for 12 hours")
    extend.add_argument("--to", default="", metavar="TIME", help="until when, written as for `due`")
    extend.add_argument("--remove", action="store_true", help="take the extension away")

    collect = add(
        "collect",
        "grading.classroom.collect:command",
        "take submissions from a folder or zip of any learning site or your own",
        "submissions.zip 01_causal_mask",
        "mended.ipynb 01_causal_mask --time '2026-01-12 18:00'",
        "gradebook/unknown/20260112-180000-1a2b3c/list.csv 01_causal_mask",
    )
    collect.add_argument("path", type=Path, help="the folder or zip file, or a filled-in list of unknown files")
    collect.add_argument("assignment", nargs="?", default="", help="what it is for, where file names do not tell")
    collect.add_argument("--roster", type=Path, default=None, help="list of students (default: gradebook/students.csv)")
    collect.add_argument("--time", default=None, help="when it came in, as for `due` (default: the files' times)")
    collect.add_argument("--mend", action="store_true", help="mend damaged files, as doctor does; originals are kept")
    collect.add_argument("--json", action="store_true", help="print what became of each file as JSON")

    autograde = add(
        "autograde",
        "grading.autograder.autograde:command",
        "grade a class the safe way: in sandboxes, in parallel",
        "",
        "01_causal_mask --student ada --force",
        "--cluster tcp://10.0.0.5:8786",
    )
    autograde.add_argument("assignment", nargs="*", help="full names (default: all that have submissions)")
    where = autograde.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, default=None, help="processes (default: one for each core)")
    where.add_argument(
        "--cluster", default="", metavar="ADDRESS", help="grade on the workers of this Dask scheduler: docs/cluster.md"
    )
    autograde.add_argument("--force", action="store_true", help="grade unchanged submissions again")
    autograde.add_argument("--json", action="store_true", help="print the outcomes as JSON, and nothing else")

    regrade = add(
        "regrade",
        "grading.autograder.regrade:command",
        "grade again, unchanged or not: an assignment, a student, an exercise",
        "01_causal_mask --student ada --exercise causal_mask",
    )
    regrade.add_argument("assignment", help="its full name: 01_causal_mask")
    regrade.add_argument("--exercise", default="", help="only the mark of this exercise: causal_mask")

    essays = add(
        "essays",
        "grading.pages.essays:command",
        "read essays by keyboard: all answers to one question on a page of this machine, names hidden",
        "",
        "01_causal_mask --port 9100",
    )
    essays.add_argument("assignment", nargs="*", help="full names (default: all that are graded)")
    essays.add_argument("--port", type=int, default=0, help="on which port (default: a free one)")

    similar = add(
        "similar",
        "grading.pages.similar:command",
        "which answers of a class are closer than chance: an HTML page and a table, for the instructor's eyes only",
        "01_causal_mask",
    )
    similar.add_argument("assignment", help="its full name: 01_causal_mask")

    feedback = add(
        "feedback",
        "grading.pages.feedback:command",
        "write the feedback pages, with marks and comments as they are now",
        "01_causal_mask --student ada",
    )
    feedback.add_argument("assignment", nargs="*", help="full names (default: all that are graded)")

    hand_back = add(
        "hand-back",
        "grading.classroom.hand_back:command",
        "write the zip of feedback pages that Moodle or Canvas takes, or release them through nbgrader's exchange",
        "01_causal_mask --format moodle",
        "01_causal_mask --format moodle --worksheet worksheet.csv",
    )
    hand_back.add_argument("assignment", help="its full name: 01_causal_mask")
    hand_back.add_argument("--format", choices=("moodle", "canvas", "folders", "exchange"), required=True)
    hand_back.add_argument(
        "--worksheet",
        type=Path,
        default=None,
        help="Moodle's grading worksheet of this assignment (default: gradebook/students.csv, when it is one)",
    )
    hand_back.add_argument("--out", type=Path, default=None, help="the folder (default: gradebook/hand_back)")

    solutions = add(
        "solutions",
        "grading.pages.solutions:command",
        "write a page of worked solutions for students, when the time of everybody is over",
        "01_causal_mask",
        "01_causal_mask --early",
    )
    solutions.add_argument("assignment", help="its full name: 01_causal_mask")
    solutions.add_argument("--early", action="store_true", help="write it though somebody may still hand in")

    report = add(
        "report",
        "grading.pages.report:command",
        "one HTML page: marks, exercises, and which mistakes the class made",
        "01_causal_mask",
    )
    report.add_argument("assignment", help="its full name: 01_causal_mask")

    export = add(
        "export",
        "grading.classroom.export:command",
        "write the marks for a spreadsheet, for Canvas or for Moodle",
        "--format canvas",
        "01_causal_mask --format csv --out marks.csv",
        "--format exercises",
    )
    export.add_argument("assignment", nargs="*", help="full names (default: all)")
    export.add_argument("--format", choices=("csv", "exercises", "canvas", "moodle"), default="csv")
    export.add_argument("--out", default=None, help="the file (default: gradebook/marks_FORMAT.csv); - prints it")

    # A student's copy of the course has all that this one needs.
    doctor = add(
        "doctor",
        "grading.classroom.doctor:command",
        "say what is wrong with a notebook file, and write a mended copy",
        "work/01_causal_mask/01_causal_mask.ipynb",
    )
    doctor.add_argument("file", type=Path, help="the notebook")
    doctor.add_argument("assignment", nargs="?", default="", help="what it is, where neither name nor cells tell")
    doctor.add_argument("--no-copy", action="store_true", help="only say what is wrong")

    for command in (autograde, regrade, feedback, hand_back):
        command.add_argument("--student", action="append", default=[], help="only this student; may be repeated")
    for command in (demo, autograde, regrade):
        command.add_argument("--unsafe", action="store_true", help="grade even where no sandbox can be made")
    with_a_class = (collect, autograde, regrade, essays, similar, feedback, hand_back, solutions, report, export)
    for command in (book, due, extend, *with_a_class):
        command.add_argument("--course", type=Path, default=None, help="course folder (default: this one)")
    return parser
