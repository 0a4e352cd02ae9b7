"""What holds the numbers of a notebook's texts.

    python -m tests.notebooks.numbers_held [NN ...]     prints what is left over, as lines for numbers.toml

A number is held by a right equation in which it stands, or by a number near it: in outputs and code of its section,
then of what its paragraph names (a section, a notebook, `docs/results.md`), then of the rest, and at last in a text
where it is held itself. They are read from the nearest on, and only as long as they hold few of all the numbers of the
same form (of two digits, say): what holds nearly any number proves none. The rest is accepted in `numbers.toml`.
"""

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import nbformat

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from tests.notebooks.numbers_in_texts import Number, evaluate, in_equations, informative, numbers, plain, seen_as

ROOT = Path(__file__).resolve().parents[2]
ACCEPTED = Path(__file__).with_name("numbers.toml")
SHARE, IN_TEXTS = 0.15, 0.1  # the most of all numbers of a form that outputs, and texts, may hold to prove one
# A bar's percentage, steps and speed, and the points of a check, which are no results.
NOISE = re.compile(r"\d+%\|[^|\n]*\|\s*\d+/\d+\s*\[[^,\]\n]*,[^,\]\n]*|[\d.]+ of [\d.]+(?=\s+points?\b|\s+all checks)")


@dataclass(frozen=True)
class Piece:
    """A cell of code with what it has put out, or the part of a text below one heading."""

    place: int  # the number of the cell
    section: str  # "3" of "## 3. ...", or the heading's words
    text: str
    is_text: bool = False

    @cached_property
    def numbers(self) -> list[Number]:
        """The numbers that it holds."""
        return numbers(self.text)

    @cached_property
    def _seen(self) -> dict[tuple[float, bool, float], set[int]]:
        return {}

    def seen(self, number: Number) -> set[int]:
        """Returns its numbers in units of one that is written as this one."""
        if number.written_as not in self._seen:
            self._seen[number.written_as] = seen_as(self.numbers, *number.written_as)
        return self._seen[number.written_as]


def names() -> list[str]:
    """Returns the notebooks' names."""
    return sorted(path.stem for path in (ROOT / "solutions").glob("[0-9][0-9]_*.py"))


@cache
def notebook(name: str) -> list[Piece]:
    """Returns the pieces of a solution notebook, whose outputs are stored."""
    return pieces(nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4).cells, name)


def pieces(cells: Iterable[Any], name: str = "") -> list[Piece]:
    """Returns the pieces of the cells of a notebook."""
    found, section = [], "0"
    for place, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            by_hand = "".join(_definition(name, one) for one in re.findall(r'by_hand\(\s*"(\w+)"', cell["source"]))
            text = "\n".join((re.sub(r"(?<![e\d])-(?=\d)", " ", outputs(cell)), literals(cell["source"]), by_hand))
            found.append(Piece(place, section, text))
        if cell["cell_type"] == "markdown":
            for part in re.split(r"(?m)^(?=## )", cell["source"]):
                if heading := re.match(r"## (?:(\d+)\. )?(.*)", part):
                    section = heading.group(1) or heading.group(2)
                if part.strip():
                    found.append(Piece(place, section, plain(written(part)), is_text=True))
    return found


def written(text: str) -> str:
    """Returns a text without the minutes and points of exercises and rubrics, which the build makes or checks."""
    text = re.sub(r"(?m)^\*About [\d.]+ minutes, difficulty .*\*$|^\*\*Time\*\*: about [^.]*\.", " ", text)
    text = re.sub(r"\*sitting \d, about [^*|]*\*|\bWhat follows takes about [^.]*\.", " ", text)
    row = r"(?m)^(\| [^|]*(?:`\w+`|\*\*total\*\*)[^|]*\|[^|]*)\|[^|]*\|[^|]*\|\s*\**[\d.]+\**\s*\|$"
    text = re.sub(row, r"\1|", text)
    if not text.startswith("**Rubric**"):
        return text
    points = r"[012](?:\.\d+)?(?:\s+of \d|\s+lost| points in all)?"
    return re.sub(rf"\((?:(?:[Ff]ull|[Hh]alf|[Nn]o)[^()\d]*)?{points}\)", " ", text)


def outputs(cell: Any) -> str:
    """Returns what a reader sees below a code cell as text: printed lines, tables, alternative texts."""
    parts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        page = re.sub(r"<style\b.*?</style>|<img\b[^>]*>", " ", data.get("text/html", ""), flags=re.DOTALL)
        parts += [output.get("text", ""), data.get("text/plain", ""), re.sub(r"<[^>]*>", " ", page)]
    return NOISE.sub(" ", "\n".join(parts))


def literals(code: str) -> str:
    """Returns the numbers of a program, one a line, exact, without those in comments and texts."""
    try:
        tree = ast.parse(re.sub(r"(?m)^\s*[%!].*$", "pass", code))
    except SyntaxError:
        return ""
    found = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    exact = (value for value in found if isinstance(value, int | float) and not isinstance(value, bool))
    return "\n".join(str(value) if isinstance(value, int) else f"{value:.10f}" for value in exact)


def _definition(name: str, exercise: str) -> str:
    path = ROOT / "grading" / "exercises" / name / f"{exercise}.py"
    return literals(path.read_text(encoding="utf-8")) if path.exists() else ""


# What may hold a number


def sources(piece: Piece, paragraph: str, among: Sequence[Piece]) -> Iterator[Piece]:
    """Yields what may hold the numbers of a paragraph, from the nearest on."""
    code = sorted((one for one in among if not one.is_text), key=lambda one: abs(one.place - piece.place))
    yield from (one for one in code if one.section == piece.section)
    named = set(re.findall(r"\d+", " ".join(re.findall(r"\b[Ss]ections? [\d, and]+", paragraph))))
    yield from (one for one in code if one.section in named - {piece.section})
    for number in re.findall(r"\b\d\d\b", " ".join(re.findall(r"\b[Nn]otebooks? [\d, and]+", paragraph))):
        for name in (name for name in names() if name.startswith(number)):
            yield from sorted(notebook(name), key=lambda one: not one.is_text)
    if "docs/results.md" in paragraph:
        yield from results(paragraph)
    yield from (one for one in code if one.section not in named | {piece.section})


@cache
def _results() -> list[str]:
    return re.split(r"(?m)^(?=##+ )", (ROOT / "docs" / "results.md").read_text(encoding="utf-8"))


def results(paragraph: str) -> list[Piece]:
    """Returns the sections of `docs/results.md`, first those that have most words of a paragraph."""
    words = set(re.findall(r"[a-z]{4,}", paragraph.lower()))
    common = {part: len(words & set(re.findall(r"[a-z]{4,}", part.lower()))) for part in _results()}
    return [Piece(0, "", part) for part in sorted(common, key=lambda part: -common[part])]


def is_held(number: Number, near: Iterable[Piece], share: float = SHARE) -> bool:
    """Returns whether a piece holds a number, of those that together hold few of its form."""
    seen: set[int] = set()
    for piece in near:
        seen |= piece.seen(number)
        if number.own in seen:
            return len([units for units in seen if units in number.form]) <= share * len(number.form) + 1
    return False


# What is accepted


@dataclass(frozen=True)
class Entry:
    """A line of numbers.toml: words of a text with marked numbers, `of <412> rows`, and why they are right."""

    quote: str
    reason: str

    @property
    def words(self) -> str:
        """The words as they stand in the text."""
        return re.sub(r"<([^<>]*)>", r"\1", self.quote)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Returns where the marked numbers begin and end in a text."""
        marks, less = [], 0
        for mark in re.finditer(r"<([^<>]*)>", self.quote):
            marks.append((mark.start() - less, mark.end() - less - 2))
            less += 2
        places = [found.start() for found in re.finditer(re.escape(self.words), text)]
        return [(place + first, place + last) for place in places for first, last in marks]

    def wrong(self, among: Sequence[Piece]) -> str:
        """Returns what is wrong with the entry, "" for nothing."""
        if not self.reason.strip():
            return "has no reason"
        spans = self.spans(self.words)
        marked = [one for one in numbers(self.words) if any(start <= one.start < end for start, end in spans)]
        if not marked or not any(self.words in piece.text for piece in among if piece.is_text):
            return "is not in the text"
        kind, _, rest = self.reason.partition(": ")
        if kind == "arithmetic":
            return _miscalculated(rest.split("; "), marked)
        holding = _holding(kind, among)
        lost = [] if holding is None else [one.written for one in marked if not is_held(one, holding, share=1)]
        return f"says {kind}, which does not hold {', '.join(lost)}" if lost else ""


def _miscalculated(expressions: Sequence[str], marked: Sequence[Number]) -> str:
    """Returns what is wrong with an arithmetic, an expression for each of the marked numbers, "" for nothing."""
    try:
        values = [evaluate(expression) for expression in expressions]
    except ValueError as error:
        return f"has a wrong reason: {error}"
    if len(values) == len(marked) and all(one.agrees(value) for one, value in zip(marked, values, strict=True)):
        return ""
    return f"has an arithmetic that gives {values}"


def _holding(kind: str, among: Sequence[Piece]) -> list[Piece] | None:
    """Returns what a reason names, `section 3`, `notebook 06`, or a file such as `docs/results.md`; None for others."""
    if found := re.fullmatch(r"section (\d+)", kind):
        return [one for one in among if not one.is_text and one.section == found[1]]
    if found := re.fullmatch(r"notebook (\d\d)", kind):
        return [one for name in names() if name.startswith(found[1]) for one in notebook(name)]
    if re.fullmatch(r"[\w./]+/[\w.]+", kind):
        path = ROOT / kind
        return [Piece(0, "", path.read_text(encoding="utf-8"))] if path.exists() else []
    return None


@cache
def accepted() -> dict[str, list[Entry]]:
    """Returns the entries of each notebook."""
    read = tomllib.loads(ACCEPTED.read_text(encoding="utf-8"))
    return {name: [Entry(*pair) for pair in entries.items()] for name, entries in read.items()}


# What is left over


def left(among: Sequence[Piece], entries: Sequence[Entry] = ()) -> list[tuple[Piece, Number]]:
    """Returns the numbers of a notebook's texts that nothing holds, with the texts in which they stand."""
    waiting, proven, stated = [], [], []
    for piece in (one for one in among if one.is_text):
        spans = [span for entry in entries for span in entry.spans(piece.text)]
        by_itself, said = [], []
        for number, held in _numbers(piece, among):
            if held:
                by_itself.append(number)
            elif any(first <= number.start < last for first, last in spans):
                said.append(number)
            else:
                waiting.append((piece, number))
        proven.append(replace(piece, text="\n".join(number.written for number in by_itself)))
        if said:
            stated.append(replace(piece, text="\n".join(number.written for number in said)))
    return [
        (piece, number)
        for piece, number in waiting
        if not any(is_held(number, _nearest(piece, texts), IN_TEXTS) for texts in (proven, stated))
    ]


def _nearest(piece: Piece, texts: Sequence[Piece]) -> list[Piece]:
    return sorted(texts, key=lambda one: (one.section != piece.section, abs(one.place - piece.place)))


@cache
def _paragraphs_of(piece: Piece) -> list[tuple[int, str]]:
    return [(found.start(), found.group()) for found in re.finditer(r".+", piece.text)]


def _numbers(piece: Piece, among: Sequence[Piece]) -> Iterator[tuple[Number, bool]]:
    """Yields the numbers of a text, and whether an equation, an output or code holds them."""
    for start, paragraph in _paragraphs_of(piece):
        found = informative(paragraph)
        spans = in_equations(paragraph) if found else []
        near = list(sources(piece, paragraph, among)) if found else []
        for number in found:
            held = any(first <= number.start < last for first, last in spans) or is_held(number, near)
            yield replace(number, start=start + number.start, end=start + number.end), held


def quoted(piece: Piece, number: Number, around: int = 24) -> str:
    """Returns a number, marked, with some words of the text around it."""
    line = piece.text.rfind("\n", 0, number.start) + 1
    end = piece.text.find("\n", number.end) % (len(piece.text) + 1)
    before = piece.text[max(line, number.start - around) : number.start]
    after = piece.text[number.end : min(end, number.end + around)]
    before = before if number.start - around <= line else before.partition(" ")[2]
    after = after if number.end + around >= end else after.rpartition(" ")[0]
    return f"{before}<{number.written}>{after}"


def line(piece: Piece, number: Number) -> str:
    """Returns a line for numbers.toml that lacks its reason."""
    return f'{json.dumps(quoted(piece, number), ensure_ascii=False)} = ""'


def main(arguments: Sequence[str]) -> None:
    """Prints what is left over, as lines for numbers.toml without their reasons."""
    for name in (name for name in names() if not arguments or name[:2] in arguments):
        found = left(notebook(name), accepted().get(name, []))
        if found:
            print(f"\n[{name}]")
        for piece, number in found:
            print(line(piece, number))


if __name__ == "__main__":
    main(sys.argv[1:])
