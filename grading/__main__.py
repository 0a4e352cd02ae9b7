"""`python -m grading COMMAND`: the instructor's and the maintainer's command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m grading", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    builder = commands.add_parser("build", help="make the notebooks from their text sources")
    builder.add_argument("notebook", nargs="*", help="only these, by the start of their names: 01")
    builder.add_argument("--check", action="store_true", help="change nothing; fail when a made file is stale")
    demo = commands.add_parser("demo", help="build a small class under gradebook/ and grade it with plain nbgrader")
    demo.add_argument("--folder", default=None, help="course folder to build in (default: this one)")
    grade = commands.add_parser("grade", help="autograde one assignment with plain nbgrader, print marks and reasons")
    grade.add_argument("assignment", help="its full name: 01_causal_mask")
    safe = commands.add_parser("autograde", help="grade a class the safe way: in sandboxes, in parallel")
    safe.add_argument("assignment", nargs="*", help="full names (default: all that have submissions)")
    safe.add_argument("--student", action="append", default=[], help="only this student; may be repeated")
    safe.add_argument("--workers", type=int, default=None, help="processes (default: one for each core)")
    safe.add_argument("--force", action="store_true", help="grade unchanged submissions again")
    safe.add_argument("--unsafe", action="store_true", help="grade even where no sandbox can be made")
    safe.add_argument("--json", action="store_true", help="print the outcomes as JSON")
    report = commands.add_parser("report", help="one HTML page: marks, exercises, and which mistakes the class made")
    report.add_argument("assignment", help="its full name: 01_causal_mask")
    options = parser.parse_args(arguments)
    if options.command == "build":
        return _build(options.notebook, options.check)
    if options.command == "report":
        return _report(options.assignment)
    if options.command == "autograde":
        from grading import autograde

        return autograde.main(options)
    if options.command == "grade":
        from grading import classroom

        return classroom.run(options.assignment)
    from grading.demo import run

    return run(options.folder)


def _report(assignment: str) -> int:
    from grading import report
    from grading.build import ROOT
    from grading.classroom import ClassroomError

    try:
        print(report.run(ROOT, assignment))
    except ClassroomError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


def _build(selected: Sequence[str], check: bool) -> int:
    from grading import build
    from grading.exercise import ExerciseError
    from grading.source import BuildError

    try:
        if not check:
            build.build(selected)
            return 0
        stale = build.check(selected)
    except (BuildError, ExerciseError) as problem:
        print(problem, file=sys.stderr)
        return 1
    except OSError as problem:
        print(
            f"a file could not be written ({problem}); what was made before is whole.",
            file=sys.stderr,
        )
        return 1
    for line in stale:
        print(line)
    print("run `make build` and commit the result." if stale else "every made file agrees with its source.")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
