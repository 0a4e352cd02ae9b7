"""Which answers of a class are closer than chance: what two share, weighed by how rare it is among all others.

Each answer becomes a set of fingerprints: every run of `RUN` tokens, after comments, docstrings, layout, and the names
that a student is free to choose are taken off, without the runs that the released notebook has itself. An inverted
index says which answers hold a fingerprint. The idea, with runs of characters, is that of S. Schleimer, D. S. Wilkerson
and A. Aiken, "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD 2003; answers are short enough to keep
every fingerprint, where winnowing keeps some of each window.

What is common says little: in most exercises there are two or three natural ways. A fingerprint weighs log2(n / others)
bits, where `others` of the class have it too. Two answers are as close as the bits that they share, times the share
that these are of all bits in both (Dice's coefficient): a copy shares rare ones, and lacks few. How close two answers
are by chance is taken from the class itself: where a pair stands beyond the upper end of all pairs says how many so
close were to be expected if nobody had copied.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grading.folder.course import Course
from grading.folder.errors import CourseError
from grading.notebooks import assignments, cells

RUN = 5  # tokens of a fingerprint
FEWEST = 30  # answers; among fewer, chance cannot be judged
DOUBT = 0.05  # a page of a class in which nobody copied names a pair in so many cases
MAX_SIGNS = 20_000  # of an answer that are looked at
# A text without its second quote ends with its line: to look for that quote from each sign on would take far too long.
TOKEN = re.compile(r"""\d[\w.]*|\w+|'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?|\S""")
FEW = f"too few answers to tell: at least {FEWEST} are needed"
SHORT = "too short to tell"
NAME, COMMENT = "_", re.compile(r"#.*")


@dataclass(frozen=True)
class Exercise:
    """An exercise or an essay with the answers of the class, by student, and what the released notebook gives."""

    name: str
    is_code: bool
    answers: Mapping[str, str]
    given: Sequence[str]


@dataclass(frozen=True)
class Closeness:
    """How close two answers are.

    `share` of the shorter one's fingerprints is in both (0 to 1), common ones too; `bits` is what they share that is
    rare, times the share that this is of both; `expected` is how many pairs so close were to be expected by chance, NaN
    where that is unknown.
    """

    share: float
    bits: float
    expected: float
    reported: bool


@dataclass(frozen=True)
class Pair:
    """Two students whose answers are closer than chance: in one exercise, or in all of them together."""

    first: str
    second: str
    together: Closeness
    exercises: Mapping[str, Closeness]


@dataclass(frozen=True)
class Summary:
    """What is known of one exercise; `tokens` is the middle length of an answer without what was given."""

    name: str
    answers: int
    tokens: int
    result: str


@dataclass(frozen=True)
class Findings:
    """What was found in an assignment; the closest pairs come first."""

    students: int
    pairs: Sequence[Pair]
    exercises: Sequence[Summary]


def load(course: Course, assignment: str) -> list[Exercise]:
    """Returns the exercises and essays of an assignment with the graded answers to them.

    Raises:
        CourseError: when the assignment is unknown, or nothing of it was graded.
    """
    course.refuse_unknown(assignment)
    released = assignments.notebooks(course.root).get(assignment, {}).get("cells", [])
    wanted = {cells.grade_id(cell): cells.kind(cell) for cell in released if cells.kind(cell) in ("solution", "essay")}
    answers: dict[str, dict[str, str]] = {name: {} for name in wanted}
    for path in sorted((course.class_folder / "autograded").glob(f"[!.]*/{assignment}/{assignment}.ipynb")):
        try:
            found = cells.cells_of(json.loads(path.read_text(encoding="utf-8"))) or []
        except (ValueError, RecursionError):
            continue  # the report counts what cannot be read
        for cell in found:
            if cells.grade_id(cell) in wanted:
                answers[cells.grade_id(cell)][path.parts[-3]] = cells.text(cell)[:MAX_SIGNS]
    if not any(answers.values()):
        raise CourseError(
            f"no graded submissions of {assignment!r} in {course.class_folder / 'autograded'}; run "
            "`python -m grading autograde` first."
        )
    given = {
        kind: [cells.text(one) for one in released if one.get("cell_type") == kind] for kind in ("code", "markdown")
    }
    return [
        Exercise(name, kind == "solution", answers[name], given["code" if kind == "solution" else "markdown"])
        for name, kind in wanted.items()
    ]


# --- what an answer is made of ----------------------------------------------------------------------------------------


def tokens(source: str, *, is_code: bool) -> list[str]:
    """Returns the tokens of an answer: of code without what a copier would change first, of text its words."""
    if not is_code:
        return re.findall(r"\w+", source.casefold())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of odd texts, such as "\d"
            tree = ast.parse(source)
        source = ast.unparse(_Bare(tree).visit(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # no Python: its words as they are
        source = COMMENT.sub("", source)
    return TOKEN.findall(source)


class _Bare(ast.NodeTransformer):
    """Takes docstrings, annotations and a student's own names out of code; those of libraries are a choice."""

    def __init__(self, tree: ast.AST) -> None:
        self._own = set[str]()
        for node in ast.walk(tree):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                self._own.add(node.id if isinstance(node, ast.Name) else node.attr)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                self._own.add(node.name)
            elif isinstance(node, ast.arg):
                self._own.add(node.arg)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                self._own.add(node.name)

    def visit(self, node: ast.AST) -> Any:
        """Returns the node without what it holds of the student's own."""
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]  # it has one, as was just seen
        for name in ("annotation", "returns"):
            if getattr(node, name, None) is not None and not isinstance(node, ast.AnnAssign):
                setattr(node, name, None)
        for name in ("id", "attr", "name", "arg"):
            if getattr(node, name, None) in self._own:
                setattr(node, name, NAME)
        return super().visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Returns an assignment without its annotation."""
        if node.value is None:
            return ast.Pass()
        return self.visit(ast.Assign([node.target], node.value, lineno=node.lineno))  # type: ignore[no-any-return]


def fingerprints(source: str, *, is_code: bool) -> set[tuple[str, ...]]:
    """Returns all runs of `RUN` tokens of an answer."""
    found = tokens(source, is_code=is_code)
    return {tuple(found[place : place + RUN]) for place in range(len(found) - RUN + 1)}


# --- how close two answers are ----------------------------------------------------------------------------------------


class _Chance:
    """How many pairs of a class share so many bits by chance, as the upper end of all its pairs shows.

    From the 10 m-th to the m-th closest pair the count falls to a tenth; beyond, it is taken to go on falling so, as
    the tail of most distributions does, but never faster than bits say by themselves: by half for each. The m closest
    pairs, some of which may have copied, have no part in it.
    """

    def __init__(self, bits: Any) -> None:
        import numpy as np

        values = np.sort(bits[np.triu_indices(len(bits), 1)])[::-1]
        self._count = max(5, len(values) // 1000)
        last = min(10 * self._count, len(values))
        self._edge = float(values[self._count - 1])
        fall = (self._edge - float(values[last - 1])) / math.log(last / self._count)
        self._fall = max(fall * (1 + 1 / math.sqrt(self._count)), 1 / math.log(2))  # few pairs show it roughly
        self._pairs = len(values)

    def expected(self, bits: float) -> float:
        """Returns the number of pairs to be expected that share at least so many bits."""
        return min(self._pairs, self._count * math.exp((self._edge - bits) / self._fall))

    def bits(self, expected: float) -> float:
        """Returns from how many bits on fewer pairs are to be expected."""
        return self._edge + self._fall * math.log(self._count / expected)


@dataclass(frozen=True)
class _Compared:
    """An exercise compared: fingerprints by student, and in a square table the bits that each two share.

    On its diagonal is what an answer would share with a copy of it.

    `able` says whether a copy of an answer would be reported, for one answer in four at least.
    """

    name: str
    own: Sequence[set[tuple[str, ...]]]
    shared: Any
    chance: _Chance
    able: bool

    def closeness(self, first: int, second: int, doubt: float) -> Closeness:
        """Returns how close the answers of two students are."""
        pair = [first, second]
        bits = float(_closeness(self.shared[pair][:, pair])[0, 1])
        expected = self.chance.expected(bits) if self.able else math.nan
        return Closeness(_share([self.own[first]], [self.own[second]]), bits, expected, expected < doubt)


def _share(first: Sequence[set[tuple[str, ...]]], second: Sequence[set[tuple[str, ...]]]) -> float:
    """Returns the share of fingerprints, of whoever has fewer, that two students have both."""
    both = sum(len(one & other) for one, other in zip(first, second, strict=True))
    return both / (min(sum(map(len, first)), sum(map(len, second))) or 1)


def _compare(exercise: Exercise, students: Sequence[str], doubt: float) -> _Compared:
    """Compares the answers of these students to one exercise."""
    import numpy as np

    given = set[tuple[str, ...]]().union(*(fingerprints(text, is_code=exercise.is_code) for text in exercise.given))
    own = [fingerprints(exercise.answers.get(one, ""), is_code=exercise.is_code) - given for one in students]
    index: dict[tuple[str, ...], list[int]] = {}
    for place, held in enumerate(own):
        for fingerprint in held:
            index.setdefault(fingerprint, []).append(place)
    answered = sum(map(bool, own))
    shared = np.zeros((len(students), len(students)))
    for places in index.values():
        others = max(1, len(places) - 1)  # one that nobody else has weighs what it would if somebody had copied it
        shared[np.ix_(places, places)] += math.log2(answered / others) / RUN  # a token stands in so many fingerprints
    chance = _Chance(_closeness(shared))
    able = answered >= FEWEST and 4 * sum(np.diag(shared) > chance.bits(doubt)) >= answered
    return _Compared(exercise.name, own, shared, chance, bool(able))


def _closeness(shared: Any) -> Any:
    """Returns what two share, times the share that it is of both, for all pairs of a table of what they share."""
    import numpy as np

    whole = np.diag(shared)
    both = whole[:, None] + whole[None, :]
    return 2 * shared**2 / np.where(both > 0, both, 1)


def compare(exercises: Sequence[Exercise]) -> Findings:
    """Returns which answers are closer than chance in an assignment.

    A pair is reported where fewer than `DOUBT` so close were to be expected on the whole page. An exercise in which not
    even a copy would be reported is too short by itself; it counts together with the others.
    """
    students = sorted({student for exercise in exercises for student in exercise.answers})
    if len(students) < FEWEST:
        return Findings(len(students), [], [Summary(one.name, len(one.answers), 0, FEW) for one in exercises])
    doubt = DOUBT / (len(exercises) + 1)
    compared = [_compare(exercise, students, doubt) for exercise in exercises]
    together = _closeness(sum(one.shared for one in compared))
    chance = _Chance(together)
    close = set(_above(together, chance.bits(doubt)))
    for one in compared:
        close |= set(_above(_closeness(one.shared), one.chance.bits(doubt))) if one.able else set()
    pairs = []
    for i, j in close:
        bits = float(together[i, j])
        share = _share([one.own[i] for one in compared], [one.own[j] for one in compared])
        parts = {one.name: one.closeness(i, j, doubt) for one in compared if one.own[i] and one.own[j]}
        whole = Closeness(share, bits, chance.expected(bits), chance.expected(bits) < doubt)
        pairs.append(Pair(students[i], students[j], whole, parts))
    pairs.sort(key=lambda pair: (-pair.together.bits, pair.first, pair.second))
    return Findings(len(students), pairs, [_summary(one, pairs) for one in compared])


def _above(bits: Any, least: float) -> Iterable[tuple[int, int]]:
    """Returns the places of all pairs that share more bits than these."""
    import numpy as np

    rows, columns = np.nonzero(np.triu(bits, 1) > least)
    return zip(rows.tolist(), columns.tolist(), strict=True)


def _summary(one: _Compared, pairs: Sequence[Pair]) -> Summary:
    lengths = sorted(len(own) + RUN - 1 for own in one.own if own)
    count = sum(one.name in pair.exercises and pair.exercises[one.name].reported for pair in pairs)
    result = "1 pair" if count == 1 else f"{count} pairs"
    if not one.able:
        result = SHORT if len(lengths) >= FEWEST else FEW
    return Summary(one.name, len(lengths), lengths[len(lengths) // 2] if lengths else 0, result)
