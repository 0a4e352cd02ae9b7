"""The command `autograde`: grade a class the safe way."""

from __future__ import annotations

import argparse
import sys
import time

from grading.autograder import reporting
from grading.autograder.outcome import FAILED
from grading.autograder.preparation import chosen, lock_in
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError


def command(options: argparse.Namespace) -> int:
    """Grades, prints a table or JSON, and returns 0 only when every submission has a mark, else SOME_WITHOUT_MARK."""
    start = time.perf_counter()
    if options.workers is not None and options.workers < 1:
        raise CourseError(f"--workers {options.workers} would grade nothing; expected 1 or more, or leave it out.")
    course = Course((options.course or ROOT).resolve())
    with reporting.Log(course.root, "autograde") as log:
        log.write(f"autograde {vars(options)}")
        chosen(course, options.assignment, options.student)  # refuses what is mistyped, before anything is imported
        with lock_in(unsafe=options.unsafe, cluster=options.cluster) as fork_server:  # both import PyTorch meanwhile
            from grading.autograder import run

            settings = run.Settings(
                course,
                options.assignment,
                options.student,
                workers=options.workers,
                force=options.force,
                unsafe=options.unsafe,
                cluster=options.cluster,
            )
            outcomes = run.run(settings, fork_server, log.outcome, log.write_and_print)
        if not options.assignment and not options.student:
            outcomes += reporting.strays(course)
        names = reporting.names(course)
        summary = reporting.summary(outcomes, time.perf_counter() - start, names)
        log.write(summary)
    print(reporting.as_json(outcomes) if options.json else f"{reporting.table(outcomes, names)}\n\n{summary}")
    print(f"log: {log.path}", file=sys.stderr)
    return reporting.SOME_WITHOUT_MARK if any(outcome.state == FAILED for outcome in outcomes) else 0
