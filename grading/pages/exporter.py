"""One feedback page: for each exercise the check, the points and the hint; nothing hidden, nothing from outside.

nbgrader's `generate_feedback` makes it (formgrader's button too) with the exporter of this file, which
`nbgrader_config.py` names. What a page shows of a check is its source without the hidden part and the examiner's
verdict: a print inside an answer, or a traceback through the check, would show the hidden inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbconvert.exporters import Exporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import GetGrades

from grading.notebooks import cells
from grading.notebooks.verdicts import RecordedVerdict, read_verdict
from grading.pages.markup import Output, read_output
from grading.pages.rendering import MAX_PAGE, Room, render

LEFT_OUT = "Left out, for the page would be too large to be opened: it stands in the notebook, {}."
NO_VERDICT = "There is no verdict: the check was not run, or has to be graded again."


class Grades(GetGrades):  # type: ignore[misc]  # nbgrader has no types
    """nbgrader's step that puts marks and comments into the notebook; adds who has marked an answer, if anybody."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Puts marks and comments into the notebook, and the student's name into `resources`."""
        settings = resources["nbgrader"]
        with Gradebook(settings["db_url"]) as book:
            try:
                student = book.find_student(settings["student"])
                settings["name"] = f"{student.first_name or ''} {student.last_name or ''}".strip()
            except MissingEntry:
                settings["name"] = ""
        done: tuple[NotebookNode, Any] = super().preprocess(nb, resources)
        return done

    def _get_score(self, cell: NotebookNode, resources: Any) -> None:
        super()._get_score(cell, resources)
        name = cell.metadata.nbgrader.grade_id
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        cell.metadata.nbgrader.update(state_of(cell, grade))


def state_of(cell: NotebookNode, grade: Any) -> dict[str, Any]:
    """Returns whether an essay is `unread`, and what is `said` of it: "read" only where a person has given a mark."""
    read, again = grade.manual_score is not None, bool(grade.needs_manual_grade)
    if read:
        state = "read by a person; changed since, to be read again" if again else "read by a person"
    elif again:
        state = (
            "still to be read by a person" if cell.source.strip() else "its cell is missing; a person will look at it"
        )
    else:
        state = "no answer found in its cell"
    return {"unread": again and not read, "said": state}


class FeedbackExporter(Exporter):
    """Makes one page of an autograded notebook; used by nbgrader in place of its own exporter."""

    output_mimetype = "text/html"

    def _file_extension_default(self) -> str:
        return ".html"

    def from_notebook_node(  # type: ignore[override]  # nbconvert's own HTML exporter returns a text too
        self, nb: NotebookNode, resources: Any = None, **keywords: Any
    ) -> tuple[str, dict[str, Any]]:
        """Returns the page, after nbgrader's preprocessors have put the marks into the notebook."""
        nb, resources = super().from_notebook_node(nb, resources, **keywords)
        return make_page(nb, resources.get("nbgrader", {})), resources


# --- the page ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Section:
    """What a page shows of one cell; `kind` is "essay", "solution", "check", "prose" or "code"."""

    kind: str
    name: str
    source: str
    is_markdown: bool
    outputs: Sequence[Output] = ()
    score: float = 0.0
    points: float = 0.0
    unread: bool = False
    said: str = ""  # of an essay: whether a person has read it
    pictures: Mapping[str, Any] = field(default_factory=dict)
    comment: str = ""
    verdict: RecordedVerdict | None = None

    @property
    def exercise(self) -> str:
        """The exercise that a check is for, or the name of an essay."""
        return self.name.removesuffix("_check")

    @property
    def state(self) -> str:
        """How a check went, for its colour: "right", "untried" or "wrong"."""
        if self.score >= self.points:
            return "right"
        return "untried" if self.verdict and self.verdict.outcome == "not attempted" else "wrong"

    @property
    def hints(self) -> list[str]:
        """The lines of the verdict that say what to do next."""
        lines = self.verdict.lines if self.verdict else ()
        return [line.text for line in lines if line.kind in ("mistake", "look")]


def read_section(cell: NotebookNode) -> Section | None:
    """Returns what a page shows of a cell in which nbgrader has put mark and comment; None for nothing."""
    kind, settings = cells.kind(cell), cells.settings(cell)
    if kind not in ("essay", "solution", "check"):
        kind = {"markdown": "prose", "code": "code"}.get(cell.cell_type, "")
        if not kind or cell.get("id") == "put-right" or (kind == "code" and not cell.source.strip()):
            return None
    is_check = kind == "check"
    return Section(
        kind,
        cells.grade_id(cell),
        _hide(cell.source) if kind in ("check", "code") else cell.source,
        cell.cell_type == "markdown",
        outputs=() if is_check else [read_output(output) for output in cell.get("outputs", [])],
        score=float(settings.get("score") or 0),
        points=float(settings.get("points") or 0),
        unread=bool(settings.get("unread")),
        said=str(settings.get("said") or ""),
        pictures=cell.get("attachments") or {},
        comment=str(settings.get("comment") or ""),
        verdict=read_verdict(cell) if is_check else None,
    )


def _hide(source: str) -> str:
    """Returns the source of a cell without its hidden part."""
    before, found, rest = source.partition(cells.BEGIN_HIDDEN)
    return (before + rest.partition(cells.END_HIDDEN)[2] if found else before).rstrip()


def make_page(notebook: NotebookNode, marks: Mapping[str, Any]) -> str:
    """Returns the feedback page of an autograded notebook in which nbgrader has put marks and comments.

    Args:
        notebook: cells with `score`, `points`, `comment`, `unread` and `said` in their nbgrader metadata.
        marks: nbgrader's `student`, `notebook`, `score`, `max_score` and `late_penalty`, and the student's `name`.
    """
    student = str(marks.get("student", ""))
    whose = f"{marks['name']} ({student})" if marks.get("name") else student
    sections = [section for cell in notebook.cells if (section := read_section(cell))]
    return render(
        "feedback.html",
        title=f"{marks.get('notebook', 'feedback')}: {whose}",
        score=float(marks.get("score") or 0),
        max_score=float(marks.get("max_score") or 0),
        late_penalty=float(marks.get("late_penalty") or 0),
        unread=sum(section.unread for section in sections),
        repairs=[str(line) for line in notebook.metadata.get("grading", {}).get("put_right", [])],
        sections=sections,
        no_verdict=NO_VERDICT,
        room=Room(),
        spare=MAX_PAGE // 2,  # of which answers and checks are sure
        left_out=LEFT_OUT.format(f"{marks['notebook']}.ipynb" if "notebook" in marks else "as it was handed in"),
    )
