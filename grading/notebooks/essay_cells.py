"""Which of a student's cells hold a written answer, wherever it was written. Standard library only.

An essay has a cell of its own. Students also write above or below it, in a second cell, in a raw or a code cell, into
the question, or in a cell that has lost its metadata. What stands near the essay's place belongs to it; where nothing
does, what the student has written elsewhere is shown instead, for a person to judge.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any
from urllib.parse import quote, unquote

from grading.notebooks.cells import AROUND, bare, defines, grade_id, is_experiment, kind, text
from grading.notebooks.pictures import read_picture

Pictures = dict[str, dict[str, str]]  # as nbformat has attachments: base64 by kind, by name

MAX_PICTURES = 12 << 20  # of all pictures of an essay
LOOKED_INTO = 100_000  # characters of a cell that are compared or parsed; the longest cell of the course has 3,000
DROPPED = "not-shown"  # the name that a picture has in the text when it is not kept
DATA_URI = re.compile(r"data:image/[\w.+-]{1,40}(?:;[\w=-]{1,40}){0,4},([A-Za-z0-9+/%]+={0,2})")
COURSE_ID = re.compile(r"cell-\d{3}")  # the id that the build gives a cell without a name
# Letters. A longer text elsewhere may be an essay; a short one only behind the last text of the notebook, or by name.
LONG, SHORT, THIN = 60, 15, 60
FEW = 2  # texts of the course that a student may have overwritten; with more of them the file is of another release
REFERENCE = re.compile(r"attachment:([^)\s\"'>]+)")
NO_PICTURE = re.compile(
    r"(?:!\[[^\]\n]{0,500}\]\(|<img\b[^>\n]{0,200}?\bsrc\s*=\s*[\"']?)(?!attachment:|data:)[^)\s\"']", re.IGNORECASE
)
NUMBERS = ("first", "second", "third", "fourth")


@dataclass
class Essay:
    """A written answer: Markdown, the pictures that it refers to as `attachment:NAME`, and what is odd about it.

    `text` is "" where nothing was written; `has_cell` says whether its own cell is in the file.
    """

    text: str = ""
    pictures: Pictures = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    has_cell: bool = False


@dataclass
class _Piece:
    """A text of the student's. `essay` is set for an essay's own cell; `anchor` for a text added to a released cell.

    `after` is the released cell that it follows. `by_id` says that its cell is known by its id alone, `overwritten`
    that it stands in the place of a text of the course.
    """

    index: int
    cell: Any
    text: str
    after: int
    essay: str = ""
    anchor: int | None = None
    by_id: bool = False
    is_prose: bool = True
    overwritten: bool = False


def read_essays(student: Sequence[Any], released: Sequence[Any], taken: Iterable[Any] = ()) -> dict[str, Essay]:
    """Returns the essays of a notebook by name, found in a student's cells; nothing in them makes it raise.

    Args:
        student: the cells of the student's file.
        released: the cells of the released notebook.
        taken: cells of the student that answer exercises.
    """
    places = {grade_id(cell): place for place, cell in enumerate(released) if kind(cell) == "essay"}
    if not places:
        return {}
    course = _Released(released, {grade_id(cell) for cell in student})
    stubs = {bare(text(released[place])) for place in places.values()}
    pieces = _pieces([part for cell in student for part in course.unmerged(cell)], course, {id(cell) for cell in taken})
    left = [one for one in pieces if not one.essay and bare(one.text) in stubs]  # merged with another cell
    pieces = [one for one in pieces if one not in left]
    stored = {name: held for cell in student for name, held in _attachments(cell).items()}
    own = {name: [one for one in pieces if one.essay == name] for name in places}
    near = {
        name: [one for one in pieces if not one.essay and _is_near(one, place, course)]
        for name, place in places.items()
    }
    written = {
        name: [one for one in cells if (one.text.strip() or _has_content(one)) and bare(one.text) not in stubs]
        for name, cells in own.items()
    }
    last = max(place for place, cell in enumerate(released) if cell.get("cell_type") == "markdown")
    made = {}
    for number, (name, place) in enumerate(places.items()):
        parts, notes = [*written[name], *near[name]], _notes(own[name], written[name], near[name])
        if sum(_size(one.text) for one in parts) < THIN:
            others = [one for other in places if other != name and not written[other] for one in near[other]]
            free = [one for one in pieces if not one.essay and one not in parts and one not in others]
            far = [one for one in free if _may_answer(one, name, at_end=one.after >= max(last, place))]
            if not parts and not far and len(places) > 1:
                taken_pieces = [one for other in places if other != name for one in (*written[other], *near[other])]
                far = [one for one in taken_pieces if _has_part(one.text, number)]
            parts += far
            if far:
                notes.append("has little or nothing in its place; what the student wrote elsewhere stands with it")
        parts.sort(key=lambda one: one.index)
        made[name] = _joined(parts, notes, stored)
        made[name].has_cell = bool(own[name]) or any(_is_near(one, place, course) for one in left)
    return made


# --- the student's texts ----------------------------------------------------------------------------------------------


class _Released:
    """The cells of a released notebook, by what a student's cell may share with them."""

    def __init__(self, cells: Sequence[Any], there: Collection[str]) -> None:
        """Takes the cells, and the names of those that the student's file has."""
        self.cells, self._there = cells, there
        self._by_name = {grade_id(cell): place for place, cell in enumerate(cells) if kind(cell)}
        self._by_id = {str(cell.get("id") or ""): place for place, cell in enumerate(cells)}
        self._by_text: dict[str, list[int]] = {}
        for place, cell in enumerate(cells):
            self._by_text.setdefault(bare(text(cell)), []).append(place)
        self._texts = [place for place in range(len(cells)) if self.is_text(place)]
        self._comments = {line for cell in cells for line in _comments(text(cell))}
        self._exercises = [grade_id(cell) for cell in cells if kind(cell) == "solution"]

    def is_text(self, place: int) -> bool:
        """Says whether there is a text of the course, one that needs no answer."""
        is_there = 0 <= place < len(self.cells)
        return is_there and self.cells[place].get("cell_type") == "markdown" and not kind(self.cells[place])

    def place(self, cell: Any, after: int) -> int | None:
        """Returns which released cell this one is: by its name, else by its id, else by its text."""
        named = self._by_name.get(grade_id(cell))
        if named is None:
            by_id = self._by_id.get(_id(cell))
            named = by_id if by_id is not None and self._is_lost(by_id) else None
        if named is not None:
            return named
        same = self._by_text.get(bare(text(cell)), []) if text(cell).strip() else []
        return next((one for one in same if one > after), same[0] if same else None)

    def _is_lost(self, place: int) -> bool:
        name = grade_id(self.cells[place])
        return bool(kind(self.cells[place])) and name not in self._there

    def is_copy(self, cell: Any, place: int) -> bool:
        """Says whether a cell without a name is a further copy of a cell that is there."""
        name = grade_id(self.cells[place])
        return name != grade_id(cell) and name in self._there

    def added(self, cell: Any) -> tuple[int, str] | None:
        """Returns which text of the course a cell is with changes, and what was added to it; None when it is none."""
        source, given = text(cell), self._by_id.get(_id(cell))
        if len(source) > LOOKED_INTO:
            return None
        short = bare(source)
        for place in [given, *self._texts] if given is not None and self.is_text(given) else self._texts:
            original = text(self.cells[place])
            holds = len(bare(original)) >= LONG and bare(original) in short
            more = _added(original, source) if holds or place == given else None
            if more is not None or holds:
                return place, source if more is None else more
        return None

    def unmerged(self, cell: Any) -> list[Any]:
        """Returns the cells that were merged to an essay's own one: texts of the course, and what is not of these."""
        source, short = text(cell), bare(text(cell))
        place = self._by_name.get(grade_id(cell), self._by_id.get(_id(cell)))
        if place is None or kind(self.cells[place]) != "essay" or len(source) > LOOKED_INTO:
            return [cell]
        parts = [source]
        for original in (text(self.cells[one]) for one in self._texts):
            if len(bare(original)) >= LONG and bare(original) in short:
                form = r"\s+".join(map(re.escape, original.split()))
                parts = [part for one in parts for part in re.split(f"({form})", one, maxsplit=1)]
        parts = [part.strip("\n") for part in parts if part.strip()]
        course = [bare(part) in self._by_text and len(bare(part)) >= LONG for part in parts]
        own = course.index(False) if False in course else None
        if len(parts) < 2:
            return [cell]
        attached = {"attachments": _attachments(cell)}
        return [
            {**cell, "source": part} if at == own else {"cell_type": "markdown", "source": part, **attached}
            for at, part in enumerate(parts)
        ]

    def comments(self, source: str) -> str:
        """Returns the comments of a code cell that are the student's."""
        return "\n".join(line for line in _comments(source) if line not in self._comments)

    def answers(self, source: str) -> bool:
        """Says whether a code cell defines what an exercise requires."""
        return any(defines(source, name) for name in self._exercises)

    def is_older(self, cell: Any) -> bool:
        """Says whether a cell has the id of a text of the course, and another text: that of another release perhaps."""
        return COURSE_ID.fullmatch(_id(cell)) is not None


def _id(cell: Any) -> str:
    return str(cell.get("id") or "") if isinstance(cell, dict) else ""


def _comments(source: str) -> list[str]:
    return re.findall(r"#.*", source)


def _type(cell: Any) -> str:
    cell_type = cell.get("cell_type") if isinstance(cell, dict) else ""
    return cell_type if cell_type in ("code", "markdown") else "raw"


def _pieces(student: Sequence[Any], released: _Released, taken: Collection[int]) -> list[_Piece]:
    """Returns what the student has written, in order: all but code, and texts of the course as they were released."""
    found, after = list[_Piece](), -1
    for index, cell in enumerate(student):
        place = released.place(cell, after)
        if place is not None:
            if released.is_copy(cell, place):
                continue
            after = place
            if kind(released.cells[place]) == "essay":
                name = grade_id(released.cells[place])
                shown = _without_comment_signs(text(cell)) if _type(cell) == "code" else text(cell)
                found.append(_Piece(index, cell, shown, place, name, by_id=grade_id(cell) != name))
            elif _type(cell) == "code" and _size(notes := released.comments(text(cell))) >= LONG:
                notes = _without_comment_signs(notes)
                found += [_Piece(index, cell, notes, after)] if re.search(r"\bessay", notes, re.IGNORECASE) else []
        elif id(cell) not in taken:
            piece = _further(index, cell, after, released)
            after = after if piece.anchor is None else piece.anchor
            found += [piece] if _has_content(piece) else []
    if sum(one.overwritten for one in found) > FEW:
        return [one for one in found if not one.overwritten]
    return found


def _further(index: int, cell: Any, after: int, released: _Released) -> _Piece:
    """Returns a cell that is none of the course, or one of its texts with what the student has added to it."""
    if _type(cell) == "code":
        shown, is_prose = _of_code(text(cell))
        size = _size(released.comments(text(cell)))
        answers = released.answers(text(cell))
        if not answers and not is_experiment(cell):
            strings = _size("".join(_strings(text(cell))))
            size += strings if 2 * (size + strings) >= _size(text(cell)) else 0
        is_answer = is_prose or size >= LONG  # else it is code, to try something
        return _Piece(
            index, cell, shown if is_answer else "", after, is_prose=is_prose or (size >= 2 * LONG and not answers)
        )
    if (added := released.added(cell)) is not None:
        return _Piece(index, cell, added[1], after, anchor=added[0])
    return _Piece(index, cell, text(cell), after, overwritten=released.is_older(cell))


def _added(given: str, source: str) -> str | None:
    """Returns what was added to a released text, None where the other one is not that text with changes."""
    old, new = ([line.strip() for line in one.split("\n")] for one in (given, source))
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    if 2 * sum(_size("".join(old[a:b])) for what, a, b, _, _ in changes if what == "equal") < max(1, _size(given)):
        return None
    longer = LONG  # lines that are worded otherwise are those of another release
    parts = [
        "\n".join(source.split("\n")[c:d])
        for what, a, b, c, d in changes
        if what == "insert" or (what == "replace" and _size("".join(new[c:d])) > _size("".join(old[a:b])) + longer)
    ]
    return "\n\n".join(parts).strip()


def _of_code(source: str) -> tuple[str, bool]:
    """Returns a code cell as Markdown, and whether it is a text: comments, strings, or no Python at all."""
    fence = "`" * (1 + max([2, *(len(ticks) for ticks in re.findall("`+", source))]))
    as_code = f"{fence}python\n{source}\n{fence}"
    if len(source) > LOOKED_INTO or not source.strip():
        return as_code if source.strip() else "", False
    magic, _, rest = source.partition("\n")
    if re.match(r"\s*%%(markdown|html|latex|svg|javascript)\b", magic):
        return rest, True
    lines = [re.sub(r"^(\s*)[%!].*", r"\1pass", line) for line in source.split("\n")]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a text may hold what Python warns of
            body = ast.parse("\n".join(lines)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        words = [line for line in source.split("\n") if len(re.findall(r"[^\W\d_]+(?=[\s,.;:!?]|$)", line)) >= 4]
        is_text = 2 * len("".join(words)) >= len(source.strip())
        return (_without_comment_signs(source), True) if is_text else (as_code, False)
    return as_code, all(map(_only_shows_text, body))


def _without_comment_signs(source: str) -> str:
    """Returns a text from a code cell, in which a line that begins with # is a comment and no heading."""
    if all(line.lstrip().startswith("#") for line in source.split("\n") if line.strip()):
        return re.sub(r"(?m)^[ \t]*#+ ?", "", source)
    return re.sub(r"(?m)^([ \t]*)#", r"\1\\#", source)


def _strings(source: str) -> list[str]:
    """Returns the strings of a code cell; none where it is no Python, or long."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source if len(source) <= LOOKED_INTO else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [one.value for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _only_shows_text(statement: ast.stmt) -> bool:
    """Says whether a statement is a text, shows one, or gives it a name."""
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Call) and isinstance(statement, ast.Expr):
        if getattr(value.func, "id", "") in AROUND:
            return False  # a guess, or what was worked out by hand
        parts = [*value.args, *(one.value for one in value.keywords)]
        return (
            bool(parts)
            and all(isinstance(one, ast.Constant | ast.JoinedStr | ast.Call) for one in parts)
            and any(
                isinstance(one, ast.Constant) and isinstance(one.value, str) for part in parts for one in ast.walk(part)
            )
        )
    kinds = ast.Expr | ast.Assign | ast.AnnAssign
    return isinstance(statement, kinds) and isinstance(value, ast.Constant) and isinstance(value.value, str)


# --- what belongs to which essay --------------------------------------------------------------------------------------


def _is_near(piece: _Piece, place: int, released: _Released) -> bool:
    """Says whether a text stands between an essay's question and the next cell of the course, or was added to these."""
    if piece.overwritten:
        return False
    question = place - 1 if released.is_text(place - 1) else place
    if piece.anchor is None:
        return piece.after in (question, place)
    follows = place + 2 < len(released.cells) and kind(released.cells[place + 2]) == "essay"  # it asks that question
    return piece.anchor == question or (piece.anchor == place + 1 and not follows)


def _may_answer(piece: _Piece, name: str, *, at_end: bool) -> bool:
    """Says whether a text that stands elsewhere may be an essay."""
    if not piece.is_prose:
        return False
    names_it = re.search(rf"\bessay|{re.escape(name)}", piece.text, re.IGNORECASE) is not None
    return _size(piece.text) >= (SHORT if at_end or names_it else LONG)


def _has_part(source: str, number: int) -> bool:
    """Says whether a text names the essay of this number, from 0, or has several headings, of which one may be its."""
    numbered = rf"\b(?:essay|question|part|answer)\s*{number + 1}\b|^\W*{number + 1}\s*[.):]"
    word = rf"|\b{NUMBERS[number]}\b" if number < len(NUMBERS) else ""
    headings = re.findall(r"^ {0,3}(?:#{1,6} |\*\*[^*\n]+\*\*:?\s*$)", source, re.MULTILINE)
    return len(headings) > 1 or re.search(numbered + word, source, re.IGNORECASE | re.MULTILINE) is not None


def _size(source: str) -> int:
    """Returns how many letters and digits a text has, those of scripts without spaces for three."""
    source = DATA_URI.sub("", source)
    if source.isascii():
        return len(re.sub(r"[\W_]", "", source))
    return sum(3 if sign > "\u2e80" else 1 for sign in source if sign.isalnum())


def _has_content(piece: _Piece) -> bool:
    return _size(piece.text) > 0 or bool(DATA_URI.search(piece.text)) or bool(_attachments(piece.cell))


def _notes(own: Sequence[_Piece], written: Sequence[_Piece], near: Sequence[_Piece]) -> list[str]:
    """Returns what is odd about where an essay was written."""
    notes = list[str]()
    if any(one.by_id for one in own):
        notes.append("its cell has lost its metadata; it was found by its place or its id")
    retyped = {_type(one.cell) for one in written} - {"markdown"}
    notes += [f"its cell is a {one} cell" for one in sorted(retyped)]
    if len(written) > 1:
        notes.append(f"its cell stands {len(written)} times")
    for one in near:
        what = "the cell" if _type(one.cell) == "markdown" else f"the {_type(one.cell)} cell"
        if one.anchor is not None:
            where = "in the text of its question" if not own or one.index < own[0].index else "in the text below it"
        elif not own:
            where = f"in {what} at its place; its own is missing, or has lost its metadata"
        else:
            where = f"in {what} {'above' if one.index < own[0].index else 'below'} its own"
        notes.append(f"{'goes on' if written else 'written'} {where}")
    return [f"{note} ({times} times)" if times > 1 else note for note, times in Counter(notes).items()]


# --- texts and pictures -----------------------------------------------------------------------------------------------


def _attachments(cell: Any) -> Mapping[str, Any]:
    held = cell.get("attachments") if isinstance(cell, dict) else None
    return held if isinstance(held, dict) else {}


def _joined(parts: Sequence[_Piece], notes: list[str], stored: Mapping[str, Any]) -> Essay:
    """Returns the texts of an essay as one, with their pictures; what cannot be shown of these is among the notes.

    `stored` are the pictures of all cells: the text that shows one may have moved to another cell.
    """
    made, texts, dropped, missing = Essay(notes=notes), dict[str, str](), 0, 0
    for one in parts:
        source = one.text
        referred = {unquote(name) for name in REFERENCE.findall(source)}
        attached = {name: held for name, held in stored.items() if name in referred} | dict(_attachments(one.cell))
        missing += sum(not any(name.startswith(reference) for name in attached) for reference in referred)
        missing += len(NO_PICTURE.findall(source))
        for name, held in attached.items():
            written_as = [f"attachment:{form}" for form in dict.fromkeys((name, quote(name, errors="replace")))]
            refers = any(form in source for form in written_as)
            if not refers and source.strip():
                continue  # one that the student has taken out of the text
            kept = _keep(made, name, next(iter(held.values()), "") if isinstance(held, dict) else "")
            dropped += not kept
            for form in written_as:
                source = source if kept == name else source.replace(form, f"attachment:{kept or DROPPED}")
            source = source if refers else f"![{kept or name}](attachment:{kept or DROPPED})"

        def attach(match: re.Match[str]) -> str:
            nonlocal dropped
            kept = _keep(made, f"picture-{len(made.pictures) + 1}", unquote(match[1]))
            dropped += not kept
            return f"attachment:{kept or DROPPED}"

        texts.setdefault(bare(source), DATA_URI.sub(attach, source))
    made.text = "\n\n".join(texts.values())
    if missing:
        made.notes.append(f"pictures that its text shows and that are not in the file: {missing}")
    if dropped:
        made.notes.append(f"pictures of it that cannot be shown: {dropped} (they are in the file that was handed in)")
    return made


def _keep(made: Essay, name: str, held: Any) -> str:
    """Keeps a picture of an essay that can be shown; returns its name, which no other one has, "" when it cannot."""
    encoded = "".join(one for one in held if isinstance(one, str)) if isinstance(held, list) else held
    found = read_picture(encoded) if isinstance(encoded, str) else None
    total = sum(len(data) for kinds in made.pictures.values() for data in kinds.values())
    if found is None or total + len(found[1]) > MAX_PICTURES * 4 // 3:
        return ""
    if name in made.pictures or not 0 < len(name) <= 200:
        name = f"picture-{len(made.pictures) + 1}"
    made.pictures[name] = {found[0]: found[1]}
    return name
