"""Read a submission: take the answers out of it, by id, and nothing else.

Whatever else a file holds - metadata, outputs, tags, copied or moved cells, links - cannot matter, because the graded
notebook is built from the master. What had to be put right is reported.
"""

from __future__ import annotations

import base64
import hashlib
import json
import textwrap
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from grading.definitions.reading_time import BudgetExceeded, CpuBudget
from grading.folder.files import read_bounded
from grading.folder.text import printable
from grading.notebooks.answers import OTHER_NAME, Reading, read_cells
from grading.notebooks.cells import bare, cells_of, defines, exercise_of, grade_id, is_experiment, is_stub, kind, text
from grading.notebooks.essay_cells import Essay, Pictures
from grading.notebooks.names import are_few, are_short, bound, changed, is_unclear, needed, needs_training, used
from tutor.checking.slips import PLAIN, mended, without_raise_above

MAX_BYTES = 50 << 20  # a notebook with many pictures has 5 MB
MAX_TEXT = 5_000_000  # characters of all cells; the longest notebook of the course has 50,000
MAX_PARTS = 2_000_000  # commas and brackets; the longest notebook of the course has 30 000
MAX_NAMES, MAX_NAME = 12, 40  # names that a sentence lists, and the signs of each
MAX_BESIDE, MAX_LISTED = 4 << 20, 200  # bytes of all files beside a notebook that are read, and paths looked at
SECONDS = 4.0  # of CPU time, to find out what cells need of experiments; for those of the course a part of it


class UnreadableError(ValueError):
    """No answers can be taken from the submission; the message says why, what was expected and what to do."""


@dataclass
class Work:
    """The answers of one submission.

    `answers` are sources of solution cells and texts of essays by grade id, `pictures` those of essays by grade id;
    `code` are all code cells of the student in order, with the id of those that have one, and among them what these
    need of experiment cells; `files` are what lies beside the notebook and is named in its cells, in base64 by path;
    `shown` are answers as they were written, where they are run with a slip put right; `repairs` are sentences on what
    was not as it should be.
    """

    answers: dict[str, str] = field(default_factory=dict)
    pictures: dict[str, Pictures] = field(default_factory=dict)
    code: list[tuple[str, str]] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)

    def ends(self) -> dict[str, int]:
        """Returns how many cells of `code` have run when an answer is whole: up to its own last cell, or the cell that
        defines it in its place.
        """
        found = dict[str, int]()
        for name in self.answers:
            own = [n for n, (owner, source) in enumerate(self.code, 1) if owner == name and not is_stub(source, ())]
            others = [n for n, (_, source) in enumerate(self.code, 1) if defines(source, name)]
            if places := own or others:
                found[name] = places[-1]
        return found

    def is_in_further_cell(self, name: str) -> bool:
        """Says whether a further cell of the student may define an answer."""
        return any(not owner and (defines(source, name) or is_unclear(source)) for owner, source in self.code)

    def is_spoiled(self, name: str) -> bool:
        """Says whether one of the student's further cells may change what an answer uses, or the answer."""
        further = [source for owner, source in self.code if not owner]
        if not are_short([*further, self.answers[name]]):
            return False
        names = {name, *used([self.answers[name]])}
        return any(bound([source]) & names or is_unclear(source) for source in further)

    def is_overtaken(self, name: str) -> bool:
        """Says whether a cell that stands behind an answer may change what it uses, or the answer."""
        sources = [source for _, source in self.code]
        end = self.ends().get(name, len(sources))
        if not are_short(sources):
            return False
        names = {name, *used(sources[:end]), *bound(sources[:end])}
        return any((bound([source]) | changed([source])) & names or is_unclear(source) for source in sources[end:])

    def digest(self) -> str:
        """Returns a fingerprint of everything that grading looks at."""
        further = [sorted(found.items()) for found in (self.files, self.pictures, self.shown) if found]
        data = json.dumps([sorted(self.answers.items()), self.code, self.repairs, *further])
        return hashlib.sha256(data.encode()).hexdigest()


@dataclass(frozen=True)
class Master:
    """The notebook that submissions are rebuilt on: nbgrader's source version, with checks and hidden lines."""

    assignment: str
    notebook: NotebookNode

    def cells(self, wanted: str) -> list[NotebookNode]:
        """Returns the cells of a kind: "setup", "solution", "check" or "essay"."""
        return [cell for cell in self.notebook.cells if kind(cell) == wanted]


def read(folder: Path, master: Master) -> Work:
    """Returns the answers in a submission's folder.

    Raises:
        UnreadableError: when there is no notebook, or it is damaged beyond reading.
    """
    work = Work()
    try:
        path = _notebook_file(folder, master.assignment, work)
    except OSError as problem:
        raise UnreadableError(f"its folder cannot be read ({problem.strerror}); ask for the file again.") from problem
    found = _load(path)
    cells = [cell for cell in found if isinstance(cell, dict)]
    if len(cells) < len(found):
        work.repairs.append(f"{len(found) - len(cells)} cells that are no cells were left out")
    names = [exercise_of(cell) for cell in master.cells("check")]
    if are_short([text(cell) for cell in cells if cell.get("cell_type") != "markdown"]):
        cells = [_put_right(cell, names, work) for cell in cells]
    reading = read_cells(cells, master.notebook.cells)
    work.code = _with_experiments(reading, master, work)
    work.files = _files_beside(path, [source for _, source in work.code], work)
    retyped = dict.fromkeys(name for name, cell in reading.code if name and cell.get("cell_type") != "code")
    work.repairs += [f"the cell of {name} is not a code cell; it was run as one" for name in retyped]
    for name in names:
        copies = sum(not is_stub(text(cell), reading.given) for cell in reading.own.get(name, []))
        if copies > 1:
            work.repairs.append(f"the cell of {name} stands {copies} times; they were run one after the other")
        if name in reading.elsewhere:
            work.repairs.append(f"{name} was found in another cell than its own")
        answer = reading.answer(name)
        if answer is None:
            work.repairs.append(f"the cell of {name} is missing")
        else:
            work.answers[name] = answer
            if len(reading.own.get(name, [])) > 1 or name in reading.elsewhere:
                work.shown.pop(name, None)  # of several cells the notebook shows what was run
    for cell in master.cells("essay"):
        _take_essay(reading.essays[grade_id(cell)], cell, work)
    return work


def _put_right(cell: dict[str, Any], exercises: Sequence[str], work: Work) -> dict[str, Any]:
    """Returns a cell in which slips that can only be meant in one way are put right; the file stays as it is.

    A line of the released cell above an answer does nothing, and what Python cannot read is read as it was meant.
    """
    source = text(cell)
    if cell.get("cell_type") == "markdown" or kind(cell) == "essay":
        return cell
    readable, slips = mended(source)
    whose = f"the answer of {grade_id(cell)}" if grade_id(cell) in exercises else "a cell that is no answer's own"
    work.repairs += [f"{whose} holds {slip}; marked {PLAIN[slip]}" for slip in slips]
    if (made := without_raise_above(readable)) != readable:
        work.repairs.append(f"{whose} stands below a line `raise NotImplementedError(...)`; marked without that line")
    if made == source:
        return cell
    if grade_id(cell) in exercises:
        work.shown[grade_id(cell)] = source
    return cell | {"source": made}


def _take_essay(essay: Essay, cell: NotebookNode, work: Work) -> None:
    """Takes a written answer; the cell as it was released where there is none, so that nobody has to read nothing."""
    name = grade_id(cell)
    work.repairs += [f"{name}: {note}" for note in essay.notes]
    if essay.pictures:
        work.pictures[name] = essay.pictures
    if essay.text or essay.has_cell:
        work.answers[name] = essay.text or cell.source
    else:
        work.repairs.append(f"the cell of {name} is missing")


def _with_experiments(reading: Reading, master: Master, work: Work) -> list[tuple[str, str]]:
    """Returns a student's code, and in its place what it needs of experiment cells, which are not run otherwise."""
    code = [(name, text(cell)) for name, cell in reading.code]
    setups = {grade_id(cell): cell.source for cell in master.cells("setup")}
    theirs = [
        (place, "" if grade_id(cell) in setups else text(cell), grade_id(cell)) for place, cell in reading.experiments
    ]
    ours = [(0, cell.source, "") for cell in master.notebook.cells if is_experiment(cell)]
    sources = [source for _, source in code]
    too_long = "its cells are too long to see what they need of experiments; nothing of these was run"
    if not are_short([*sources, *(source for _, source, _ in theirs)]):
        work.repairs.append(too_long)
        return code
    missing = used(sources) - bound([*sources, *setups.values()])
    wanted = missing & bound(source for _, source, _ in [*theirs, *ours])
    lost = bound(source for _, source, _ in ours) - bound(source for _, source, _ in theirs)
    cells = [*(ours if wanted & lost else []), *theirs]
    experiments = [source for _, source, _ in cells]
    try:
        with CpuBudget(SECONDS).limited(SECONDS):
            slow = _trained(experiments, wanted)
    except BudgetExceeded:
        work.repairs.append(too_long)
        return code
    if slow:  # `check` calls no answer right that needs one of them
        work.repairs.append(f"{_name_list(slow)} of an experiment would need a training, which was not repeated")
    if not (wanted := wanted - slow):
        return code
    work.repairs.append(f"the student's cells use {_name_list(wanted)} of experiments; what that needs of them was run")
    parts = needed(experiments, wanted)
    spoiled = bound(parts)  # what a set-up cell binds, and an experiment binds too, is bound again in its place
    again = {name for name, source in setups.items() if bound([source]) & spoiled}
    parts = [setups[name] if name in again else part for (_, _, name), part in zip(cells, parts, strict=True)]
    before = defaultdict[int, list[tuple[str, str]]](list)
    for (place, _, _), part in zip(cells, parts, strict=True):
        before[place] += [("", part)] if part else []
    return [one for place in range(len(code) + 1) for one in [*before[place], *code[place : place + 1]]]


def _trained(experiments: Sequence[str], wanted: set[str]) -> set[str]:
    """Returns the variables of experiments that need a training.

    Raises:
        BudgetExceeded: when there are too many of them, or too much to go through for each.
    """
    if not are_few(experiments, wanted):
        raise BudgetExceeded
    return {name for name in wanted if needs_training(experiments, name)}


def _files_beside(notebook: Path, sources: Sequence[str], work: Work) -> dict[str, str]:
    """Returns the files beside a notebook that its cells name, or that another of these does, in base64 by path.

    A module is named by its name alone. Links are not followed, and what is too large is left out.
    """
    found = sorted(path for path in islice(notebook.parent.rglob("*"), MAX_LISTED) if _is_of_student(path, notebook))
    read, room, waiting = dict[str, str](), MAX_BESIDE, list(sources)
    while waiting and found:
        source = waiting.pop()
        for path in [path for path in found if (path.stem if path.suffix == ".py" else path.name) in source]:
            found.remove(path)
            place = path.relative_to(notebook.parent).as_posix()
            try:
                data = read_bounded(path, room + 1)
            except OSError as problem:
                work.repairs.append(f"{printable(place)!r} beside the notebook cannot be read ({problem.strerror})")
                continue
            if len(data) > room:
                work.repairs.append(
                    f"{printable(place)!r} was left out: files beside a notebook may have {MAX_BESIDE >> 20} MB in all"
                )
                continue
            room -= len(data)
            read[place] = base64.b64encode(data).decode()
            waiting += [data.decode("utf-8", "replace")] if path.suffix == ".py" else []
    return read


def _is_of_student(path: Path, notebook: Path) -> bool:
    """Says whether a path in a submission's folder is a file of the student's, beside the notebook."""
    parts = path.relative_to(notebook.parent).parts
    places = [notebook.parent.joinpath(*parts[: n + 1]) for n in range(len(parts))]
    if any(part.startswith(".") for part in parts) or any(place.is_symlink() for place in places):
        return False
    return path.is_file() and path != notebook and path.name not in ("timestamp.txt", "submission_secret.txt")


def _name_list(names: set[str]) -> str:
    """Returns a list of names, which a student may have chosen: the first few, and of each what a name needs."""
    listed = ", ".join(f"`{name[:MAX_NAME]}{'...' * (len(name) > MAX_NAME)}`" for name in sorted(names)[:MAX_NAMES])
    return listed if len(names) <= MAX_NAMES else f"{listed} and {len(names) - MAX_NAMES} more"


def _notebook_file(folder: Path, assignment: str, work: Work) -> Path:
    expected = folder / f"{assignment}.ipynb"
    if folder.is_symlink() or folder.parent.is_symlink():
        raise UnreadableError("its folder is a link, not a folder; put the files themselves there.")
    if not folder.parent.name.isprintable():
        raise UnreadableError("its folder's name has signs that nobody can see; name it by the student's id.")
    found = sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() == ".ipynb" and path.is_file() and not path.is_symlink()
    )
    if expected in found:
        return expected
    if len(found) == 1:
        work.repairs.append(f"{OTHER_NAME} {printable(found[0].name)!r} in place of {expected.name!r}")
        return found[0]
    others = sorted(path.name for path in folder.iterdir() if path.name != "timestamp.txt")
    names = ", ".join(repr(printable(name)) for name in others)[:200]
    raise UnreadableError(
        f"no {expected.name} in the submission (found: {names or 'nothing'}); ask for the file again."
    )


def _load(path: Path) -> list[Any]:
    """Returns the cells of a notebook file."""
    try:
        data = read_bounded(path, MAX_BYTES + 1)
    except OSError as problem:
        raise UnreadableError(f"{path.name} cannot be read ({problem.strerror}); ask for the file again.") from problem
    if len(data) > MAX_BYTES:
        raise UnreadableError(f"{path.name} has more than {MAX_BYTES >> 20} MB; ask for it without outputs.")
    if sum(data.count(sign) for sign in (b",", b"[", b"{")) > MAX_PARTS:  # each may take 30 times its text
        raise UnreadableError(f"{path.name} has too many parts for a notebook; ask for it without outputs.")
    try:
        notebook = json.loads(data)  # UTF-8, with or without a mark, or UTF-16, as some editors write
    except (UnicodeDecodeError, ValueError, RecursionError) as problem:
        raise UnreadableError(
            f"{path.name} is damaged: it is not a notebook (not valid JSON); ask for it again, "
            "or see what `python -m grading doctor` can save of it."
        ) from problem
    cells = cells_of(notebook)
    if cells is None:
        raise UnreadableError(f"{path.name} is damaged: it has no cells; ask for it again.")
    if sum(len(text(cell)) for cell in cells) > MAX_TEXT:
        raise UnreadableError(
            f"{path.name} has more than {MAX_TEXT // 10**6} million characters in its cells; ask for it without the "
            "data that stands in them."
        )
    return cells


def rebuilt(master: Master, work: Work) -> NotebookNode:
    """Returns the master with the student's answers in their cells; nothing else of the submission is in it.

    The cells' metadata for nbgrader is the master's own: nobody may change it.
    """
    notebook = _copied(master.notebook)
    notebook["metadata"] = _copied(master.notebook.metadata)
    notebook["cells"] = [_copied(cell) for cell in master.notebook.cells]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if kind(cell) in ("solution", "essay"):
            cell.source = work.shown.get(grade_id(cell), work.answers.get(grade_id(cell), ""))
        if grade_id(cell) in work.pictures:
            cell.attachments = work.pictures[grade_id(cell)]
    return notebook


def _copied(node: NotebookNode) -> NotebookNode:
    """Returns a copy that shares its entries: a deep one takes longer than to write the marks of a submission."""
    made = NotebookNode()
    dict.update(made, node)
    return made


def plan(master: Master, work: Work, *, everything: bool = True) -> Sequence[tuple[str, str]]:
    """Returns what is run before the checks, as (exercise or "", source) in order.

    First the set-up cells of the master, then all code of the student in the student's order; without `everything`
    only the answers, for the student whose further cells spoil them. A cell that is still to be written defines
    nothing that another cell has defined: a copy of it may stand anywhere.
    """
    setup = [("", cell.source) for cell in master.cells("setup")]
    names = [exercise_of(cell) for cell in master.cells("check")]
    answers = work.code if everything else [(name, work.answers[name]) for name in names if name in work.answers]
    given = {bare(cell.source) for cell in master.cells("solution")}
    return [*setup, *((name, _if_missing(name, source, given)) for name, source in answers)]


def _if_missing(name: str, source: str, given: set[str]) -> str:
    """Returns the source of a cell, so that one without an answer does nothing where the exercise has one."""
    if not name or not is_stub(source, given):
        return source
    return f"if {name!r} not in globals():\n{textwrap.indent(source, '    ')}"
