"""Who is in the class: `gradebook/students.csv`, as nbgrader, Moodle or Canvas export it, or typed by hand."""

from __future__ import annotations

import codecs
import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grading.errors import CourseError

# What the columns are called in a hand-made list, in nbgrader, in Moodle and in Canvas; the first that is there counts.
ID_COLUMNS = (
    *("id", "student_id", "student id", "username", "user name", "sis login id", "id number", "sis user id"),
    *("email", "email address", "e-mail"),
)
FIRST_COLUMNS = ("first_name", "first name", "firstname", "given name")
LAST_COLUMNS = ("last_name", "last name", "lastname", "surname", "family name")
FULL_COLUMNS = ("full name", "fullname", "full_name", "name", "student")
NUMBER_COLUMNS = ("lms_user_id", "identifier", "participant", "canvas id", "moodle id")  # not a university's own
CANVAS_COLUMNS = {"sis login id", "sis user id"}  # beside them, a column "id" holds Canvas's own numbers
MAX_BYTES = 20 << 20
SAFE_ID = re.compile(r"(?![.-])[\w.@-]{1,100}(?<!\.)")
SEPARATORS = ",;\t"
WORKBOOKS = (b"PK\3\4", b"\xd0\xcf\x11\xe0")  # how .xlsx and .xls begin
IN_NAMES = "’‘´·–-\xa0"  # signs beyond ASCII that a name may have besides letters
SPOILT = re.compile(r"\d([.,]\d+)?E\+\d+")  # what Excel shows and saves of a number with twelve digits or more
SAVE_AS = 'in Excel: Save As, "CSV UTF-8".'


@dataclass(frozen=True)
class Person:
    """One line of the roster: the course's id, the name, and every column as it stands there, by lower-case title."""

    id: str
    first: str = ""
    last: str = ""
    columns: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """First and last name; "" where neither is known."""
        return f"{self.first} {self.last}".strip()

    def get(self, *titles: str) -> str:
        """Returns the first column of these titles that is not empty, else ""."""
        return next((self.columns[title] for title in titles if self.columns.get(title)), "")


class Roster:
    """Finds people by id, e-mail address, name, or the number that a site gives them.

    `titles` are those of the columns as they stand in the file; `western` says that its alphabet was guessed.
    """

    def __init__(self, people: Iterable[Person] = (), titles: Sequence[str] = (), *, western: bool = False) -> None:
        self.people = {person.id: person for person in people}
        self.titles = tuple(titles)
        self.western = western
        self._found: dict[str, set[str]] = {}
        for person in self.people.values():
            for key in _keys(person):
                self._found.setdefault(key, set()).add(person.id)

    def __bool__(self) -> bool:
        return bool(self.people)

    def __iter__(self) -> Iterator[Person]:
        return iter(self.people.values())

    def find(self, *, number: str = "", name: str = "", label: str = "") -> set[str]:
        """Returns the ids of all who fit; a number, where the roster has it, decides between equal names.

        When number and name tell different people, all of them are returned: nobody may get another's work.

        Args:
            number: what Moodle or Canvas calls the participant.
            name: first and last name, in any order, joined or not.
            label: an id or an e-mail address.
        """
        by_number = self._found.get(f"number {number}", set()) if number else set()
        if label:
            return self._found.get(f"label {_plain(label)}", set()) or self._found.get(f"name {_words(label)}", set())
        by_name = self._found.get(f"name {_words(name)}", set()) or self._found.get(f"joined {_letters(name)}", set())
        if by_number and by_name:
            return by_number & by_name or by_number | by_name
        return by_number or by_name


def _keys(person: Person) -> set[str]:
    keys = {f"label {_plain(person.id)}"}
    keys |= {f"label {_plain(person.columns[title])}" for title in ID_COLUMNS if person.columns.get(title)}
    canvas = ("id",) if CANVAS_COLUMNS & set(person.columns) else ()
    for title in (*NUMBER_COLUMNS, *canvas):
        digits = re.fullmatch(r"(?:\D*\s)?(\d+)", person.columns.get(title, ""))
        if digits:
            keys.add(f"number {digits[1]}")
    if person.first or person.last:
        keys.add(f"name {_words(f'{person.first} {person.last}')}")
        keys.add(f"joined {_letters(person.last + person.first)}")
        keys.add(f"joined {_letters(person.first + person.last)}")
    return keys


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold()


def _letters(text: str) -> str:
    """Returns letters and digits only, accents removed: what Canvas makes of a name."""
    decomposed = unicodedata.normalize("NFKD", _plain(text))
    return "".join(sign for sign in decomposed if sign.isalnum())


def _words(text: str) -> str:
    return " ".join(sorted(_letters(word) for word in re.split(r"[\s,_]+", text) if _letters(word)))


def valid_id(text: str) -> bool:
    """Says whether a text can be a student's id: a folder is called after it."""
    return SAFE_ID.fullmatch(text) is not None


def load(path: Path) -> Roster:
    """Returns the roster of a CSV file, as sites and Excel write it.

    Alphabet (UTF-8, UTF-16, Windows-1252) and separator (comma, semicolon, tab) are told by what stands in it.

    Raises:
        CourseError: when it cannot be read, has no column of ids, or two people share an id.
    """
    text, western = _decode(path)
    if announced := re.match(r"sep=([,;\t])(?=\r?\n)", text):  # Excel's own first line
        text = text[announced.end() :]
    separator = announced[1] if announced else max(SEPARATORS, key=lambda sign: _fit(text, sign))
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        rows = [(reader.line_num, row) for row in reader if any(value.strip() for value in row)]
    except csv.Error as problem:
        raise CourseError(f"{path} is not a CSV file ({problem}); export it again.") from problem
    (_, head), *lines = rows or [(1, [])]
    titles = [title.strip() for title in head]
    plain_titles = [title.casefold() for title in titles]
    if not set(plain_titles) & set(ID_COLUMNS):
        raise CourseError(
            f"{path} has no column of ids; expected one called id, username, ID number, SIS Login ID or email, with a "
            "title in the first line."
        )
    people: dict[str, Person] = {}
    for number, row in lines:
        person = _person(dict(zip(plain_titles, (value.strip() for value in row), strict=False)))
        if person is None:
            continue
        if wrong := _wrong(person, western=western):
            raise CourseError(f"{path}, line {number}: {wrong}")
        if person.id in people:
            raise CourseError(f"{path}, line {number}: the id {person.id!r} stands there twice; give one to each.")
        people[person.id] = person
    return Roster(people.values(), titles, western=western)


def _decode(path: Path) -> tuple[str, bool]:
    """Returns the text of a file, and whether it was read as Windows-1252 because it is nothing that says what it is.

    Excel's "CSV" is Windows-1252 where Western European languages are spoken, its "Unicode Text" UTF-16.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise CourseError(f"{path} cannot be read ({problem.strerror}); expected a CSV file.") from problem
    if len(data) > MAX_BYTES:
        raise CourseError(f"{path} has more than {MAX_BYTES >> 20} MB; expected one line for each student.")
    if data.startswith(WORKBOOKS):
        raise CourseError(f"{path} is an Excel workbook; expected a CSV file ({SAVE_AS[:-1]}).")
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if marked else ("utf-8-sig", "cp1252"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text, encoding == "cp1252"
    raise CourseError(f"{path} is in no alphabet that can be told; expected UTF-8, UTF-16 or Windows-1252: {SAVE_AS}")


def _fit(text: str, separator: str) -> tuple[bool, int]:
    """Returns how well a separator fits: whether it makes a column of ids, and how many columns."""
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        titles = next((row for row in rows if any(value.strip() for value in row)), [])
    except csv.Error:
        return False, 0
    return bool({title.strip().casefold() for title in titles} & set(ID_COLUMNS)), len(titles)


def _wrong(person: Person, *, western: bool) -> str:
    """Returns what is wrong with a line of the roster and what to do, "" for nothing."""
    if SPOILT.fullmatch(person.id):
        return (
            f"the id {person.id!r} is what Excel makes of a long number; export the list again and open it with that "
            "column as Text, or not at all."
        )
    if not valid_id(person.id):
        return f"the id {person.id!r} cannot name a folder; expected letters, digits and .@_- only, at most 100."
    if western and any(sign > "\x7f" and not sign.isalpha() and sign not in IN_NAMES for sign in person.name):
        return f"{person.name!r} is no name: the file is in another alphabet than Windows-1252; {SAVE_AS}"
    return ""


def _person(columns: dict[str, str]) -> Person | None:
    """Returns the person of a line; None for empty lines and for Canvas's line of maximal points."""
    line = Person("", columns=columns)
    identifier = unicodedata.normalize("NFC", line.get(*ID_COLUMNS))
    full = line.get(*FULL_COLUMNS)
    if not identifier or full == "Points Possible":
        return None
    first, last = line.get(*FIRST_COLUMNS), line.get(*LAST_COLUMNS)
    if not (first or last) and full:
        if "," in full:  # Canvas: "Lovelace, Ada"
            last, _, first = (part.strip() for part in full.partition(","))
        else:
            first, _, last = (part.strip() for part in full.partition(" "))
    return Person(identifier, first, last, columns)
