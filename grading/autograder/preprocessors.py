"""Steps of our own in nbgrader's autograding: `nbgrader_config.py` puts them among those of nbgrader.

With them `nbgrader autograde` and formgrader's button run students' code in the sandbox, as `python -m grading
autograde` does. What nbgrader does before and after stays its own: cells from its database, limits, marks, penalties.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import Execute, NbGraderPreprocessor, SaveAutoGrades
from traitlets import Bool

from grading.autograder.graded_notebook import load_master
from grading.autograder.nbgrader_engine import NoSandboxError, engine_process
from grading.autograder.read_before import Answers
from grading.folder.course import Course
from grading.folder.errors import CourseError
from grading.notebooks.cells import grade_id, kind
from grading.notebooks.essay_cells import read_essays

INSTEAD = (
    "Nothing was graded; `c.SandboxedExecute.unprotected = True` in nbgrader_config.py runs students' code with your "
    "rights, without protection."
)


def assignment_of(resources: Any) -> str:
    """Returns the assignment that nbgrader is at; it has one notebook, of the same name."""
    settings = resources["nbgrader"]
    assignment: str = settings["assignment"]
    if settings["notebook"] != assignment:
        raise CourseError(f"{settings['notebook']}.ipynb is no notebook of this course; expected {assignment}.ipynb.")
    return assignment


def _from_engine(step: str, resources: Any) -> NotebookNode:
    """Returns what the engine makes of the submission that nbgrader is at."""
    assignment = assignment_of(resources)
    try:  # nbgrader works in the course folder
        return engine_process(Path.cwd()).ask(step, assignment, resources["nbgrader"]["student"])
    except NoSandboxError as problem:
        raise CourseError(f"{problem} {INSTEAD}") from None


class SandboxedExecute(Execute):  # type: ignore[misc]  # nbgrader has no types
    """Runs the answers in the sandbox, and puts the verdicts where nbgrader looks for them: in the checks' outputs.

    Stands in the place of nbgrader's `Execute`, whose settings (`c.Execute.timeout`) count when it is `unprotected`.
    """

    unprotected = Bool(
        default_value=False,
        help="Run students' code in a plain kernel, with the rights of whoever grades: it can read solutions and other "
        "submissions, write marks, and reach the network. For submissions that you would run yourself.",
    ).tag(config=True)

    def __call__(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Runs this step; `--no-execute` would leave checks without outputs, which nbgrader takes for full marks."""
        if not self.enabled and not self.unprotected:
            raise CourseError(f"without running the answers there are no verdicts: leave out --no-execute. {INSTEAD}")
        done: tuple[NotebookNode, Any] = super().__call__(nb, resources)
        return done

    def preprocess(self, nb: NotebookNode, resources: Any, km: Any = None) -> tuple[NotebookNode, Any]:
        """Returns the notebook with the verdicts.

        Raises:
            CourseError: when the submission cannot be graded, or no sandbox can be made.
        """
        if self.unprotected:
            self.log.warning("NOT PROTECTED: students' code runs with your rights.")
            plain: tuple[NotebookNode, Any] = super().preprocess(nb, resources, km)
            return plain
        graded = _from_engine("grade", resources)
        for line in engine_process(Path.cwd()).protections:
            self.log.info("protected: %s", line)
        found = {grade_id(cell): cell for cell in graded.cells if grade_id(cell)}
        for cell in nb.cells:
            same = found.get(grade_id(cell))
            if kind(cell) == "check" and (same is None or not same.outputs):
                raise CourseError(
                    f"there is no verdict for the check {grade_id(cell)!r}; generate the assignment again."
                )
            if same is not None and cell.cell_type == "code":
                cell.outputs, cell.execution_count = same.outputs, same.execution_count
        nb.cells[:0] = [cell for cell in graded.cells if cell.id == "put-right"]
        nb.metadata["grading"] = graded.metadata["grading"]
        return nb, resources


class TakeAnswers(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Takes the answers out of a submission, and nothing else: the first step, before anything looks at the notebook.

    What nbgrader then mends and copies is the notebook of the course. Its own steps would stop the whole run at one
    submission with forged metadata. Where code runs unprotected, the student's own notebook goes on, with the essays in
    their own cells.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Returns the notebook of the course with the student's answers.

        Raises:
            CourseError: when no answers can be taken from the submission, or no sandbox can be made.
        """
        if SandboxedExecute(config=self.config).unprotected:
            _put_essays(nb, resources["nbgrader"]["assignment"])
            return nb, resources
        self._remove_copies(resources["nbgrader"])
        return _from_engine("rebuild", resources), resources

    def _remove_copies(self, settings: dict[str, str]) -> None:
        """Removes what nbgrader has copied through links: a link can lead to any file that the instructor may read.

        Also what is called as our own unfinished file: it would say that this submission is being graded.
        """
        course = Course(Path.cwd())
        graded = course.autograded(settings["student"], settings["assignment"])
        graded.with_name(f".{graded.name}.half").unlink(missing_ok=True)
        submitted = course.submitted(settings["student"], settings["assignment"])
        copies = course.autograded(settings["student"], settings["assignment"]).parent
        for link in [path for path in submitted.rglob("*") if path.is_symlink()]:
            self.log.warning("%s is a link; what it leads to was not kept", link)
            (copies / link.relative_to(submitted)).unlink(missing_ok=True)


def _put_essays(nb: NotebookNode, assignment: str) -> None:
    """Puts the essays of a student's own notebook into their cells, wherever they were written."""
    released = load_master(Course(Path.cwd()), assignment).notebook.cells
    for name, essay in read_essays(nb.cells, released).items():
        own = [cell for cell in nb.cells if grade_id(cell) == name] if essay.text else []
        if essay.text and not own:
            own = [cell for cell in released if grade_id(cell) == name]
            nb.cells += own
        for cell in own:
            cell.source = essay.text
            if essay.pictures:
                cell.cell_type, cell.attachments = "markdown", essay.pictures


class SaveMarks(SaveAutoGrades):  # type: ignore[misc]  # nbgrader has no types
    """Saves marks and comments as nbgrader's own step does, and leaves what a person has read as read.

    nbgrader's asks for every essay again that has a mark, whatever was graded anew: this one only where the answer is
    another one than a person has read, or the mark of its check has changed.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Returns the notebook as it was; its marks are in the gradebook."""
        settings = resources["nbgrader"]
        self._answers = Answers(Course(Path.cwd()), settings["student"], settings["assignment"], nb)
        done: tuple[NotebookNode, Any] = super().preprocess(nb, resources)
        self._answers.keep()
        return done

    def _add_score(self, cell: NotebookNode, resources: Any) -> None:
        grade = self.gradebook.find_grade(grade_id(cell), self.notebook_id, self.assignment_id, self.student_id)
        for name, value in self._answers.mark(grade, cell).items():
            setattr(grade, name, value)
        self.gradebook.db.commit()


class MendCells(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Mends what would lose honest work, or win marks without any, where code runs unprotected.

    A copied cell is left by nbgrader with empty metadata, and the whole run then stops: here it becomes a plain
    cell. A check cell with a tag that skips it would have no output, which nbgrader takes for full marks: graded
    and locked cells lose their tags. Nor may a student say what `python -m grading autograde` records of a notebook.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Returns the notebook, mended in place."""
        nb.metadata.pop("grading", None)
        mended: tuple[NotebookNode, Any] = super().preprocess(nb, resources)
        return mended

    def preprocess_cell(self, cell: NotebookNode, resources: Any, cell_index: int) -> tuple[NotebookNode, Any]:
        """Returns the cell, mended in place."""
        if "nbgrader" in cell.metadata:
            if cell.metadata.nbgrader:
                cell.metadata.pop("tags", None)
            else:
                del cell.metadata["nbgrader"]
        return cell, resources
