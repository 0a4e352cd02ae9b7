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

from grading.classroom.worksheet_columns import GRADE, KEY, NAME, find_columns, participant
from grading.folder.errors import CourseError

# What the columns are called in a hand-made list, in nbgrader, in Moodle and in Canvas; the first that is there counts.
ID_COLUMNS = (
    *("id", "student_id", "student id", "studentid", "username", "user name", "sis login id", "id number"),
    *("sis user id", "login", "orgdefinedid", "email", "email address", "e-mail", "github_username", "github username"),
)
MAIL_COLUMNS = ("email", "email address", "e-mail")
FIRST_COLUMNS = ("first_name", "first name", "firstname", "given name")
LAST_COLUMNS = ("last_name", "last name", "lastname", "surname", "family name")
FULL_COLUMNS = ("full name", "fullname", "full_name", "name", "student")
LABEL_COLUMNS = (*ID_COLUMNS, "identifier", "github")  # by which a path may name somebody
NUMBER_COLUMNS = ("lms_user_id", "identifier", "participant", "canvas id", "moodle id")  # not a university's own
CANVAS_COLUMNS = {"sis login id", "sis user id"}  # beside them, a column "id" holds Canvas's own numbers
TEST_STUDENT = ("student, test", "test student")  # whom Canvas puts into each course that somebody has tried out
SHORT = 6  # letters of a name that sites may join or split as they like; fewer are compared word by word
LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"})
GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})  # as ILIAS writes them, for example
MAX_BYTES = 20 << 20
SAFE_ID = re.compile(r"(?![.-])[\w.@-]{1,100}(?<!\.)")
DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)  # Windows makes no folder of that name
SEPARATORS = ",;\t"
PARTICIPANT = "participant's number"  # of a line of a worksheet: the id where there is no other
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


@dataclass
class Phrase:
    """How words that name a person may stand: `splits`, or any where `anyhow`; `is_name` for the full name."""

    splits: set[tuple[str, ...]] = field(default_factory=set)
    is_name: bool = False
    anyhow: bool = False

    def add(self, words: tuple[str, ...], *, is_name: bool) -> None:
        """Adds a way to write it."""
        self.splits.add(words)
        self.is_name = self.is_name or is_name
        self.anyhow = self.anyhow or (is_name and sum(map(len, words)) >= SHORT)


class Roster:
    """Finds people by id, e-mail address, name, or the number that a site gives them.

    `titles` are those of the columns as they stand in the file; `western` says that its alphabet was guessed; `testers`
    are Canvas's numbers of test students, who are nobody.
    """

    def __init__(self, people: Iterable[Person] = (), titles: Sequence[str] = (), *, western: bool = False) -> None:
        self.people = {person.id: person for person in people}
        self.titles = tuple(titles)
        self.western = western
        self.testers = set[str]()
        self._found: dict[str, set[str]] = {}
        self.phrases: dict[str, dict[str, Phrase]] = {}  # whom words name that are joined to one
        self.words: dict[str, set[str]] = {}  # each word of somebody's ids and names
        for person in self.people.values():
            for key in _keys(person):
                self._found.setdefault(key, set()).add(person.id)
            for words, is_name in _phrases(person):
                self.phrases.setdefault("".join(words), {}).setdefault(person.id, Phrase()).add(words, is_name=is_name)
                self.words.setdefault(person.id, set()).update(words)

    def __bool__(self) -> bool:
        return bool(self.people)

    def __iter__(self) -> Iterator[Person]:
        return iter(self.people.values())

    def find(self, *, number: str = "", name: str = "", label: str = "") -> set[str]:
        """Returns the ids of all who fit; a number, where the roster has it, decides between equal names.

        When number and name mean different people, all of them are returned: nobody may get another's work.

        Args:
            number: what Moodle or Canvas calls the participant.
            name: first and last name, in any order, joined or not.
            label: an id or an e-mail address.
        """
        by_number = self._found.get(f"number {number}", set()) if number else set()
        if label:
            return self._found.get(f"label {_plain(label)}", set()) or self._found.get(f"name {_words(label)}", set())
        by_name = self._named(name)
        if by_number and by_name:
            return by_number & by_name or by_number | by_name
        return by_number or by_name

    def _named(self, name: str) -> set[str]:
        for form in (name, german(name)):
            if students := self._found.get(f"name {_words(form)}") or self._found.get(f"joined {_letters(form)}"):
                return students
        return set()

    def person(self, student: str) -> Person | None:
        """Returns who has an id; or, in a class that was collected under Canvas's numbers, who has the number."""
        numbered = self._found.get(f"number {student}", set())
        return self.people.get(student) or (self.people[min(numbered)] if len(numbered) == 1 else None)

    def shortened(self, path: str) -> set[tuple[str, str]]:
        """Returns the numbers in a path that the list has without the zeros at their beginning, with what it has."""
        numbers = re.findall(r"(?<![0-9])0+[1-9][0-9]*(?![0-9])", path)
        return {(one, one.lstrip("0")) for one in numbers if self._found.get(f"label {one.lstrip('0')}")}

    def numbers(self, student: str) -> set[str]:
        """Returns the numbers that a site gives somebody, as far as they stand in the roster."""
        return _numbers(self.people[student]) if student in self.people else set()


def _numbers(person: Person) -> set[str]:
    canvas = ("id",) if CANVAS_COLUMNS & set(person.columns) else ()
    values = [person.columns.get(title, "") for title in (*NUMBER_COLUMNS, *canvas)]
    return {match[1] for text in values if (match := re.fullmatch(r"(?:\D*\s)?(\d+)", text))}


def _keys(person: Person) -> set[str]:
    keys = {f"label {_plain(person.id)}"}
    keys |= {f"label {_plain(person.columns[title])}" for title in ID_COLUMNS if person.columns.get(title)}
    keys |= {f"number {number}" for number in _numbers(person)}
    if person.name:
        for form in (str, german):
            first, last = form(person.first), form(person.last)
            keys.add(f"name {_words(f'{first} {last}')}")
            keys |= {f"joined {_letters(last + first)}", f"joined {_letters(first + last)}"}
            words = f"{first} {last}".split()
            keys |= {f"joined {_letters(''.join(words[-place:] + words[:-place]))}" for place in range(len(words))}
    return keys


def _phrases(person: Person) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yields what can name a person in a path, as words, and whether it is the full name.

    That is ids, addresses and their first parts, and the name with any end of it first, also as sites write it that
    know no accents.
    """
    labels = {person.id, *(person.columns.get(title, "") for title in LABEL_COLUMNS)}
    labels = {label for label in labels if label and not re.fullmatch(r"\D*\s\d+", label)}  # not "Participant 42"
    for label in labels | {label.partition("@")[0] for label in labels}:
        yield words_of(label), False
        yield ("".join(words_of(label)),), False
    plain = unicodedata.normalize("NFC", person.name)
    for name in (plain, german(plain), re.sub(r"[^\x00-\x7f]", "", plain), re.sub(r"[^\x00-\x7f]", " ", plain)):
        words = words_of(name)
        if len("".join(words)) * 2 < len(_letters(plain)):  # too little of it is left
            continue
        for place in range(len(words)):
            yield words[place:] + words[:place], len(words) > 1


def german(text: str) -> str:
    """Returns text with ä, ö, ü, å and ø written as two letters each."""
    return unicodedata.normalize("NFKC", text).casefold().translate(GERMAN)


def words_of(text: str) -> tuple[str, ...]:
    """Returns the words of a text: letters and digits, without case and accents; an apostrophe joins."""
    return tuple(word for part in split_words(text) if (word := _letters(part)))


def split_words(text: str) -> list[str]:
    """Returns the words of a text as they stand there."""
    text = re.sub(r"#U([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), text)  # as `unzip` writes what it cannot
    text = re.sub(r"['’‘`´ʼʻ]", "", text)
    return "".join(sign if sign.isalnum() or unicodedata.category(sign)[0] == "M" else " " for sign in text).split()


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold().removeprefix("#")  # Brightspace: "#ada1815"


def _letters(text: str) -> str:
    """Returns letters and digits only, accents removed: what Canvas makes of a name."""
    decomposed = unicodedata.normalize("NFKD", _plain(text).translate(LETTERS))
    return "".join(sign for sign in decomposed if sign.isalnum())


def _words(text: str) -> str:
    return " ".join(sorted(_letters(word) for word in re.split(r"[\s,_]+", text) if _letters(word)))


def split_ids(text: str) -> list[str]:
    """Returns the ids that a person has written in one field of a table."""
    return list(dict.fromkeys(re.findall(r"[^\s,;+]+", text)))


def valid_id(text: str) -> bool:
    """Says whether a text can be a student's id: a folder is called after it."""
    return SAFE_ID.fullmatch(text) is not None and not DEVICE.fullmatch(text)


def load(path: Path, submitted: Path | None = None) -> Roster:
    """Returns the roster of a CSV file, as sites and Excel write it.

    Args:
        path: the file.
        submitted: the folder of the class's submissions; the one beside the file when None. Who has a folder there
            under Canvas's own number keeps that as the id.

    Raises:
        CourseError: when it cannot be read, has no column of ids, or two people share an id.
    """
    table = _in_english(_read(path, ID_COLUMNS))
    if not {title.casefold() for title in table.titles} & {*ID_COLUMNS} and not _is_worksheet(table):
        raise CourseError(
            f"{path} has no column of ids; expected one called id, username, ID number, SIS Login ID or email, with a "
            "title in the first line, or a grading worksheet as Moodle writes it."
        )
    numbered = _goes_by_numbers(table.rows, submitted or path.parent / "submitted")
    people: dict[str, Person] = {}
    testers = set[str]()
    for number, columns in table.rows:
        if _is_tester(columns):
            testers.add(columns.get("id", ""))
            continue
        person = _person(columns, numbered=numbered)
        if person is None:
            continue
        if wrong := _wrong(person, western=table.western):
            raise CourseError(f"{path}, line {number}: {wrong}")
        if person.id in people:
            raise CourseError(f"{path}, line {number}: the id {person.id!r} stands there twice; give one to each.")
        people[person.id] = person
    found = Roster(people.values(), table.titles, western=table.western)
    found.testers = testers
    return found


def load_groups(path: Path, people: Roster) -> dict[str, tuple[str, ...]]:
    """Returns the members of each group, by the letters of its name; none where there is no such file.

    Args:
        path: a CSV file with the columns `name` and `ids`, ids separated by blanks, commas or "+".
        people: the list of students, in which all members are where there is one.

    Raises:
        CourseError: when it cannot be read, a member is not in the list, or a name is a person's or another group's.
    """
    if not path.exists():
        return {}
    table, found = read_table(path, ["ids"], "ids; expected the columns name and ids"), dict[str, tuple[str, ...]]()
    for line, row in table.rows:
        name, members = row.get("name", ""), split_ids(row.get("ids", ""))
        key = "".join(words_of(name))
        if not key or not members:
            raise CourseError(f"{path}, line {line}: expected the name of a group and the ids of its members.")
        unknown = [one for one in members if not valid_id(one) or (people and one not in people.people)]
        if unknown:
            raise CourseError(
                f"{path}, line {line}: {unknown[0]!r} is not in the list of students; expected an id of it."
            )
        if key in found or people.phrases.get(key):
            raise CourseError(f"{path}, line {line}: {name!r} is the name of another group or a person; rename it.")
        found[key] = tuple(members)
    return found


@dataclass(frozen=True)
class Table:
    """A CSV file: titles as they stand there, and lines as (number, values by lower-case title)."""

    titles: list[str]
    rows: list[tuple[int, dict[str, str]]]
    western: bool


def read_table(path: Path, wanted: Sequence[str], content: str) -> Table:
    """Returns a CSV file in any of the usual alphabets and with any of the usual separators.

    Alphabet (UTF-8, UTF-16, Windows-1252) and separator (comma, semicolon, tab) are recognised by what stands in it.

    Args:
        path: the file.
        wanted: titles of which it has to have one.
        content: what such a column holds, for the message.

    Raises:
        CourseError: when it cannot be read, or has no such column.
    """
    table = _read(path, wanted)
    if not {title.casefold() for title in table.titles} & set(wanted):
        raise CourseError(f"{path} has no column of {content}, with a title in the first line.")
    return table


def _read(path: Path, wanted: Sequence[str]) -> Table:
    """Returns a CSV file, whatever its columns are called."""
    text, western = _decode(path)
    if announced := re.match(r"sep=([,;\t])(?=\r?\n)", text):  # Excel's own first line
        text = text[announced.end() :]
    separator = announced[1] if announced else max(SEPARATORS, key=lambda sign: _fit(text, sign, wanted))
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        rows = [(reader.line_num, row) for row in reader if any(value.strip() for value in row)]
    except csv.Error as problem:
        raise CourseError(f"{path} is not a CSV file ({problem}); export it again.") from problem
    (_, head), *lines = rows or [(1, [])]
    titles = [title.strip() for title in head]
    plain = [title.casefold() for title in titles]
    return Table(
        titles, [(number, dict(zip(plain, map(str.strip, row), strict=False))) for number, row in lines], western
    )


def _in_english(table: Table) -> Table:
    """Returns a table; a worksheet of Moodle in any language gets English titles, and the participants' numbers."""
    plain = [title.casefold() for title in table.titles]
    columns = find_columns(table.titles, [[row.get(title, "") for title in plain] for _, row in table.rows])
    if columns is None:
        return table
    rows = list[tuple[int, dict[str, str]]]()
    places = ((NAME, columns.name), ("email address", columns.mail), ("id number", next(iter(columns.ids), None)))
    named = {title: plain[at] for title, at in places if at is not None}
    for line, row in table.rows:
        number = participant(row.get(plain[columns.key], ""))
        if KEY in row and GRADE in row:
            english = row
        else:  # "ID" is how the German Moodle calls the participant
            own = {title: value for title, value in row.items() if title != plain[columns.key]}
            english = own | {title: row.get(its, "") for title, its in named.items()}
            english |= {KEY: f"Participant {number}"} if number else {}
        rows.append((line, english | {PARTICIPANT: number}))
    return Table(table.titles, rows, table.western)


def _is_worksheet(table: Table) -> bool:
    return any(PARTICIPANT in row for _, row in table.rows)


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


def _fit(text: str, separator: str, wanted: Sequence[str]) -> tuple[bool, int]:
    """Returns how well a separator fits: whether it makes a wanted column, and how many columns."""
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        titles = next((row for row in rows if any(value.strip() for value in row)), [])
    except csv.Error:
        return False, 0
    return bool({title.strip().casefold() for title in titles} & set(wanted)), len(titles)


def _wrong(person: Person, *, western: bool) -> str:
    """Returns what is wrong with a line of the roster and what to do, "" for nothing."""
    if SPOILT.fullmatch(person.id):
        return (
            f"the id {person.id!r} is what Excel makes of a long number; export the list again and open it with that "
            "column as Text, or not at all."
        )
    if not valid_id(person.id):
        expected = "letters, digits and .@_- only, at most 100, and no device of Windows"
        return f"the id {person.id!r} cannot name a folder; expected {expected}."
    if western and any(sign > "\x7f" and not sign.isalpha() and sign not in IN_NAMES for sign in person.name):
        return f"{person.name!r} is no name: the file is in another alphabet than Windows-1252; {SAVE_AS}"
    return ""


def _goes_by_numbers(rows: Iterable[tuple[int, dict[str, str]]], submitted: Path) -> bool:
    """Says whether a class of Canvas has been collected under Canvas's numbers, as it once was: then it stays so."""
    lines = [columns for _, columns in rows if CANVAS_COLUMNS & set(columns)]
    others = {columns.get(title, "") for columns in lines for title in CANVAS_COLUMNS}
    numbers = {columns.get("id", "") for columns in lines} - others
    folders = [submitted.with_name(name) for name in (submitted.name, "autograded", "feedback")]
    return any((folder / number).is_dir() for folder in folders for number in filter(valid_id, numbers))


def _is_tester(columns: dict[str, str]) -> bool:
    """Says whether a line is Canvas's test student."""
    name = columns.get("student", "").casefold()
    return bool(CANVAS_COLUMNS & set(columns)) and name in TEST_STUDENT and not columns.get("sis user id")


def _person(columns: dict[str, str], *, numbered: bool) -> Person | None:
    """Returns the person of a line; None for empty lines and for Canvas's line of maximal points."""
    line = Person("", columns=columns)
    titles: Sequence[str] = ID_COLUMNS
    if CANVAS_COLUMNS & set(columns) and not numbered:
        titles = ("sis login id", "sis user id", *ID_COLUMNS)
    identifier = unicodedata.normalize("NFC", line.get(*titles, PARTICIPANT)).removeprefix("#")
    full = line.get(*FULL_COLUMNS)
    if not identifier or full == "Points Possible":
        return None
    first, last = line.get(*FIRST_COLUMNS), line.get(*LAST_COLUMNS)
    if not (first or last) and full:
        if "," in full:  # Canvas: "Lovelace, Ada"
            last, _, first = (part.strip() for part in full.partition(","))
        elif len(full.split()) == 2:
            first, last = full.split()
        else:
            last = full  # nobody knows where the first name ends
    return Person(identifier, first, last, columns)
