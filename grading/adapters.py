"""Until every command's module has its own `command(options)`: the same, from outside. To be deleted after that."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from grading.course import ROOT


def _course(options: argparse.Namespace) -> Path:
    folder: Path = (options.course or ROOT).resolve()
    return folder


def build(options: argparse.Namespace) -> int:
    from grading.authoring import build
    from grading.authoring.source import BuildError
    from grading.exercise import ExerciseError

    try:
        if not options.check:
            build.build(options.notebook)
            return 0
        stale = build.check(options.notebook)
    except (BuildError, ExerciseError) as problem:
        print(problem, file=sys.stderr)
        return 1
    for line in stale:
        print(line)
    print("run `make build` and commit the result." if stale else "every made file agrees with its source.")
    return 1 if stale else 0


def demo(options: argparse.Namespace) -> int:
    from grading.classroom import demo

    return demo.run(options.folder)


def collect(options: argparse.Namespace) -> int:
    from grading.classroom import collect

    told = (options.path, options.assignment, options.roster, options.time)
    return collect.run(_course(options), *told, as_json=options.json)


def plain_grading(options: argparse.Namespace) -> int:
    from grading.classroom import plain_grading

    return plain_grading.run(options.assignment, _course(options))


def export(options: argparse.Namespace) -> int:
    from grading.classroom import export

    return export.run(_course(options), options.format, options.out, options.assignment)


def doctor(options: argparse.Namespace) -> int:
    from grading.classroom import doctor

    return doctor.run(options.file, options.assignment, write=not options.no_copy)


def feedback(options: argparse.Namespace) -> int:
    from grading.pages import feedback

    return feedback.run(_course(options), options.assignment, options.student)


def report(options: argparse.Namespace) -> int:
    from grading.pages import report

    print(report.run(_course(options), options.assignment))
    return 0
