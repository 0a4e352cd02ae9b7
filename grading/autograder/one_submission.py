"""Read and grade one submission where nbgrader writes the marks: what `run` does to each of a class, and no more."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any

from grading.autograder import pool
from grading.autograder.drawn_sets import DrawnSets
from grading.autograder.entering import knows
from grading.autograder.fingerprint import submission_key
from grading.autograder.grade_submission import Budget, Graded
from grading.autograder.graded_notebook import graded_notebook, load_master
from grading.autograder.seeds import secret_of, seed_of
from grading.autograder.submission import Master, UnreadableError, read, rebuilt
from grading.folder.course import Course
from grading.folder.errors import CourseError
from grading.sandbox.fork_server import ForkServer


class NbgraderEngine:
    """Grades submissions of a course, one at each request."""

    def __init__(self, course: Course, fork_server: ForkServer) -> None:
        self._course, self._fork_server = course, fork_server
        self._masters: dict[str, Master] = {}

    def answer(self, step: str, assignment: str, student: str) -> dict[str, Any]:
        """Returns a `notebook` for the step, "rebuild" or "grade", or why it is `refused`; never raises."""
        try:
            return {
                "notebook": self._rebuild(assignment, student)
                if step == "rebuild"
                else self._grade(assignment, student)
            }
        except (CourseError, UnreadableError) as problem:
            return {"refused": str(problem)}
        except Exception as problem:  # noqa: BLE001 - whatever it is: it is reported, and the next one is graded
            return {"refused": f"the examiner stopped with {type(problem).__name__}: {problem}"[:300]}

    @cached_property
    def _sets(self) -> DrawnSets:
        return DrawnSets.of(self._course, lambda sentence: print(sentence, file=sys.stderr))

    def _rebuild(self, assignment: str, student: str) -> dict[str, Any]:
        """Returns the notebook of the course with the student's answers in it.

        Raises:
            CourseError: when the gradebook or the exercises do not fit the assignment as `solutions/` has it now.
            UnreadableError: when no answers can be taken from the submission.
        """
        master = self._master(assignment, anew=True)
        pool.refuse_unbuilt(master)
        if not knows(self._course, master):
            raise CourseError(
                f"the gradebook does not have {assignment} as solutions/ has it now; run `nbgrader generate_assignment "
                f"{assignment} --force`, then grade again."
            )
        return dict(rebuilt(master, read(self._course.submitted(student, assignment), master)))

    def _master(self, assignment: str, *, anew: bool = False) -> Master:
        """Returns the notebook that nbgrader knows; has what grading it needs made when it is the first time."""
        if assignment not in self._masters:
            pool.prepare(self._fork_server, [assignment], self._sets)
        if anew or assignment not in self._masters:
            self._masters[assignment] = load_master(self._course, assignment)
        return self._masters[assignment]

    def _grade(self, assignment: str, student: str) -> dict[str, Any]:
        """Returns that notebook with the verdicts as outputs of its checks."""
        master = self._master(assignment)
        work = read(self._course.submitted(student, assignment), master)
        seed = seed_of(secret_of(self._course), student, work.digest())
        self._sets.draw(assignment, seed)  # once here for all who meet the same questions: each has a new worker
        job = pool.Job(assignment, student, work, submission_key(work.digest(), assignment, student, seed), seed)
        context = pool.Context(self._fork_server, {assignment: master}, Budget(), self._sets)
        (((_, graded),),) = pool.grade_all([job], 1, context)
        if not isinstance(graded, Graded):
            raise CourseError(graded)
        return dict(graded_notebook(master, work, graded, job.key))
