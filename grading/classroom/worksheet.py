"""Moodle's offline grading worksheet: marks and short comments go in, every other byte stays as Moodle wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grading.classroom.export import Mark, number
from grading.classroom.roster import ID_COLUMNS, MAX_BYTES
from grading.classroom.worksheet_columns import find_columns, participant
from grading.folder.errors import CourseError

OURS = re.compile(
    r"[\d.]+ of [\d.]+ points\.( [\d.]+ points were taken off for lateness\.)?"
    r"( Written answers still to be read: \d+\.)?( Your feedback page has the reasons\.)?"
)
ENCODINGS = ("utf-8", "cp1252")  # what Moodle writes, and what an old Excel makes of it


@dataclass
class Line:
    """One line: its fields as they stand in the file, with their quotation marks, and what ends it."""

    fields: list[str]
    end: str

    def value(self, column: int | None) -> str:
        """Returns the text of a column, "" when the line has no such column."""
        if column is None or column >= len(self.fields):
            return ""
        return _bare(self.fields[column]).strip()


class Worksheet:
    """A grading worksheet in memory. `replaced` are (student, old grade, new grade), `kept` whose comment stays.

    Raises:
        CourseError: when the file cannot be read, or is no grading worksheet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.replaced: list[tuple[str, str, str]] = []
        self.kept: list[str] = []
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as problem:
            raise CourseError(f"{path} cannot be read ({problem.strerror}); expected a grading worksheet.") from problem
        text, self._encoding = _decode(path, data)
        self._mark = "\ufeff" if text.startswith("\ufeff") else ""
        text = text[len(self._mark) :]
        self._separator, self._lines, titles = _table(path, text)
        rows = [[line.value(at) for at in range(len(line.fields))] for line in self._lines[1:]]
        columns = find_columns(titles, [row for row in rows if any(row)])
        if columns is None or columns.grade is None:
            raise CourseError(
                f"{path} is no grading worksheet with grades in numbers: expected the file as Moodle writes it, in any "
                "language (the assignment, Download grading worksheet)."
            )
        self._columns, self._grade = columns, columns.grade
        plain = [title.casefold() for title in titles]
        self._ids = {plain.index(title) for title in ID_COLUMNS if title in plain} - {columns.key}
        self._ids |= {*columns.ids, *([] if columns.mail is None else [columns.mail])}
        self._by_number: dict[str, Line] = {}
        for line in self._lines[1:]:
            if number := participant(line.value(columns.key)):
                if number in self._by_number:
                    raise CourseError(f"{path}: the participant {number} stands there twice; download it again.")
                self._by_number[number] = line

    def has(self, participant: str) -> bool:
        """Says whether a participant's number stands in it."""
        return participant in self._by_number

    def name(self, participant: str) -> str:
        """Returns the full name beside a participant's number, "" where none stands."""
        line = self._by_number.get(participant)
        return line.value(self._columns.name) if line else ""

    def find(self, labels: Iterable[str]) -> str:
        """Returns the number of the one participant who has one of these ids or addresses; "" for none or several."""
        wanted = {label.casefold() for label in labels if label}
        if not self._ids:  # the school hides them: then students are called by their numbers
            found = [label for label in wanted if label in self._by_number]
            return found[0] if len(found) == 1 else ""
        found = [
            number
            for number, line in self._by_number.items()
            if wanted & {line.value(column).casefold() for column in self._ids}
        ]
        return found[0] if len(found) == 1 else ""

    def other_scale(self, mark: Mark, participant: str) -> str:
        """Returns the highest grade that Moodle allows a participant, when it is not the assignment's; else ""."""
        highest = self._by_number[participant].value(self._columns.highest)
        try:
            return "" if not highest or abs(float(highest.replace(",", ".")) - mark.points) < 0.005 else highest
        except ValueError:  # a scale in words
            return highest

    def grade(self, student: str, participant: str, mark: Mark, *, has_page: bool) -> None:
        """Puts in a student's mark, and a comment where no person has written one.

        Args:
            student: how the student is called in `replaced` and `kept`.
            participant: the number, which `has` knows.
            mark: the student's mark; without a score nothing is changed.
            has_page: whether the student gets a feedback page.
        """
        if mark.score is None:
            return
        line = self._by_number[participant]
        value = number(mark.score)
        if "," in line.value(self._columns.highest):  # the decimal sign of Moodle's language
            value = value.replace(".", ",")
        before = line.value(self._grade)
        if _as_number(before) != _as_number(value):
            if _as_number(before) is not None:
                self.replaced.append((student, before, value))
            self._set(line, self._grade, value)
        column = self._columns.comments
        if column is None:
            return
        there = line.value(column)
        if there and not OURS.fullmatch(there):
            self.kept.append(student)
        else:
            self._set(line, column, comment(mark, has_page=has_page))

    def _set(self, line: Line, column: int, value: str) -> None:
        """Writes a field; it has quotation marks when it had them before or needs them."""
        line.fields += [""] * (column + 1 - len(line.fields))
        quoted = line.fields[column].startswith('"') or re.search(rf'[{self._separator}"\s]', value)
        escaped = value.replace('"', '""')
        line.fields[column] = f'"{escaped}"' if quoted else value

    def content(self) -> bytes:
        """Returns the file: in its own encoding, with its own separators, quotation marks and line ends.

        A field with the separator of another language's spreadsheet gets quotation marks: no part of it is a formula.
        """
        text = "".join(self._separator.join(map(_safe, line.fields)) + line.end for line in self._lines)
        return (self._mark + text).encode(self._encoding)


def _safe(field: str) -> str:
    return f'"{field}"' if not field.startswith('"') and re.search(r"[;,\t]", field) else field


def comment(mark: Mark, *, has_page: bool) -> str:
    """Returns the short comment that stands beside a mark in Moodle; `OURS` knows it again."""
    sentences = [f"{number(mark.score)} of {number(mark.points)} points."]
    if mark.penalty:
        sentences.append(f"{number(mark.penalty)} points were taken off for lateness.")
    if mark.unread:
        sentences.append(f"Written answers still to be read: {mark.unread}.")
    if has_page:
        sentences.append("Your feedback page has the reasons.")
    return " ".join(sentences)


def is_worksheet(path: Path) -> bool:
    """Says whether a file is a grading worksheet with grades in numbers, in any language."""
    try:
        with path.open("rb") as file:
            text, _ = _decode(path, file.read(MAX_BYTES + 1))
        _, lines, titles = _table(path, text.removeprefix("\ufeff"))
    except (OSError, CourseError):
        return False
    rows = [[line.value(at) for at in range(len(line.fields))] for line in lines[1:]]
    found = find_columns(titles, [row for row in rows if any(row)])
    return found is not None and found.grade is not None


def _table(path: Path, text: str) -> tuple[str, list[Line], list[str]]:
    """Returns the separator of a CSV text, its lines, and the titles in the first of them."""
    separator = max(",;\t", key=text.split("\n", 1)[0].count)
    lines = _split(path, text, separator)
    return separator, lines, [_bare(field).strip() for field in lines[0].fields] if lines else []


def _as_number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def _decode(path: Path, data: bytes) -> tuple[str, str]:
    """Returns the text of a file, its mark of byte order included, and the encoding that gives the same bytes."""
    if len(data) > MAX_BYTES:
        raise CourseError(f"{path} has more than {MAX_BYTES >> 20} MB; expected one line for each student.")
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            return _decode_as(path, data, (encoding,))
    return _decode_as(path, data, ENCODINGS)


def _decode_as(path: Path, data: bytes, encodings: Iterable[str]) -> tuple[str, str]:
    for encoding in encodings:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    raise CourseError(f"{path} is no text that can be read; expected a CSV file in UTF-8. Download it again.")


def _bare(field: str) -> str:
    return field[1:-1].replace('""', '"') if field.startswith('"') else field


def _split(path: Path, text: str, separator: str) -> list[Line]:
    """Returns the lines of a CSV text, with the fields as they are written."""
    one = re.compile(rf'("[^"]*(?:""[^"]*)*"|[^{separator}\r\n"][^{separator}\r\n]*|)({separator}|\r\n|\r|\n|\Z)')
    lines, fields, place = list[Line](), list[str](), 0
    while place < len(text):
        found = one.match(text, place)
        if not found:
            raise CourseError(f"{path}, line {len(lines) + 1}: the quotation marks are damaged; download it again.")
        fields.append(found[1])
        place = found.end()
        if found[2] != separator:
            lines.append(Line(fields, found[2]))
            fields = []
    return [*lines, Line([*fields, ""], "")] if fields else lines
