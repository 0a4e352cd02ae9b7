"""Which of a student's cells answer what: one rule for the autograder and the doctor. Standard library only.

All cells with the id of an exercise are joined in their order, so the last definition counts. Where they do not define
what is required, the last of the student's other code cells that does is joined to them. A cell without an answer, as
it was released, never counts where another one has an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from grading.notebooks import cells
from grading.notebooks.essay_cells import Essay, read_essays

OTHER_NAME = "the file is called"  # how the note on a file's name begins: it may be the name of its author


@dataclass
class Reading:
    """A student's cells, by what they are for.

    `own` are the cells with the id of an exercise or an essay, in order; `elsewhere` is the other cell that answers an
    exercise whose own cells do not; `code` are all code cells of the student in order, with the id of the exercise
    whose own they are, else "". Cells that stand in the released notebook as they are belong to nobody; changed checks
    and set-up cells are the student's, too. `experiments` are the experiment and set-up cells of the notebook, changed
    or not, each with its place among `code`: how many of them stand before. `given` are the texts of the released
    cells that are to be written, without space. `essays` are the written answers, wherever they stand.
    """

    own: dict[str, list[Any]] = field(default_factory=dict)
    elsewhere: dict[str, Any] = field(default_factory=dict)
    code: list[tuple[str, Any]] = field(default_factory=list)
    experiments: list[tuple[int, Any]] = field(default_factory=list)
    given: set[str] = field(default_factory=set)
    essays: dict[str, Essay] = field(default_factory=dict)

    def answer(self, name: str) -> str | None:
        """Returns the answer to an exercise, None when no cell has any."""
        found = [*self.own.get(name, []), *([self.elsewhere[name]] if name in self.elsewhere else [])]
        sources = [cells.text(cell) for cell in found]
        answered = [source for source in sources if not cells.is_stub(source, self.given)]
        return join(answered or sources) if found else None


def join(sources: Iterable[str]) -> str:
    """Returns the sources of several cells as that of one."""
    return "\n\n".join(sources)


def read_cells(student: Sequence[Any], released: Sequence[Any]) -> Reading:
    """Returns what a student's cells are for; nothing in them makes it raise.

    Args:
        student: the cells of the student's file.
        released: the cells of the released notebook, or of the version with hidden tests.
    """
    reading = Reading()
    kinds = {cells.grade_id(cell): cells.kind(cell) for cell in released}
    given = {cells.bare(cells.text(cell)) for cell in released}
    tried = [cell for cell in released if cells.is_experiment(cell)]
    known = {cells.bare(cells.text(cell)) for cell in tried}
    exercises = [cells.exercise_of(cell) for cell in released if cells.kind(cell) == "check"]
    for cell in student:
        name, source = cells.grade_id(cell), cells.text(cell)
        kind = kinds.get(name, "")
        if kind in ("solution", "essay"):
            reading.own.setdefault(name, []).append(cell)
        is_code = isinstance(cell, dict) and cell.get("cell_type") == "code"
        is_experiment = is_code and not name and (cells.bare(source) in known or _changed_experiment(cell, exercises))
        if kind == "setup" or is_experiment:
            reading.experiments.append((len(reading.code), cell))
        if kind == "solution":
            reading.code.append((name, cell))
        elif is_code and kind != "essay" and not is_experiment and source.strip() and cells.bare(source) not in given:
            reading.code.append(("", cell))
    reading.given = {cells.bare(cells.text(cell)) for cell in released if cells.kind(cell) == "solution"}
    written = [(name, cell) for name, cell in reading.code if not cells.is_stub(cells.text(cell), reading.given)]
    for name in exercises:
        answering = [(own, cell) for own, cell in written if cells.defines(cells.text(cell), name)]
        if answering and all(own != name for own, _ in answering):
            reading.elsewhere[name] = answering[-1][1]
    reading.essays = read_essays(student, released, reading.elsewhere.values())
    return reading


def _changed_experiment(cell: Any, exercises: Sequence[str]) -> bool:
    """Says whether a cell is an experiment of the notebook in which the student has tried something else."""
    return cells.is_experiment(cell) and not any(cells.defines(cells.text(cell), name) for name in exercises)
