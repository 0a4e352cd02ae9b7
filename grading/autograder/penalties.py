"""Points off for late work: nbgrader's own step, with the plugin and the settings that the course has chosen."""

from __future__ import annotations

from typing import Any

from grading.folder.course import Course
from grading.folder.database import nbgrader_settings
from grading.folder.errors import CourseError


class PenaltyError(CourseError):
    """A course's late-penalty plugin has stopped with an error; the message says with which."""


class LatePenalties:
    """Does to a submission in the gradebook what nbgrader's `AssignLatePenalties` does to it.

    nbgrader's step opens a connection of its own and commits; here everything belongs to the caller's transaction.

    Raises:
        CourseError: when nbgrader's settings or the plugin that they name cannot be read.
    """

    def __init__(self, course: Course) -> None:
        from nbgrader.preprocessors import AssignLatePenalties

        settings = nbgrader_settings(course.root)
        try:
            self._step = AssignLatePenalties(config=settings)
            self._step.init_plugin()
        except Exception as problem:  # whatever a plugin raises: traitlets' own errors, and those of its module
            raise CourseError(
                f"the late-penalty plugin cannot be made ({type(problem).__name__}: {problem}); expected a class that "
                "c.AssignLatePenalties.plugin_class in nbgrader_config.py names."
            ) from problem

    def assign(self, submission: Any) -> float:
        """Sets the penalty of a submission in nbgrader's gradebook, and returns it (in points).

        What is late is for the gradebook to say: due date, extension and the time at which the work came in. Its scores
        must have been sent to the database. Where the course has switched nbgrader's step off, nothing is changed.

        Raises:
            PenaltyError: when the plugin stops with an error.
        """
        for notebook in submission.notebooks:
            if self._step.enabled:
                notebook.late_submission_penalty = self._penalty(submission, notebook)
        return float(sum(notebook.late_submission_penalty or 0.0 for notebook in submission.notebooks))

    def _penalty(self, submission: Any, notebook: Any) -> float | None:
        late = submission.total_seconds_late
        if late <= 0:
            return None
        try:
            self._step.init_plugin()  # nbgrader makes a new one for each notebook
            penalty = self._step.plugin_inst.late_submission_penalty(submission.student_id, notebook.score, late)
            return None if penalty is None else float(self._step._check_late_penalty(notebook, penalty))
        except Exception as problem:  # the plugin is the course's own
            raise PenaltyError(f"the late-penalty plugin stopped with {type(problem).__name__}: {problem}") from problem
