"""Which columns of Moodle's grading worksheet are which, in any language of Moodle: by what they hold, and where.

Moodle writes the titles in the language of whoever downloads the file. The order is always the same: the participant,
the name and other columns that identify (without anonymous marking), the status, the grade, the highest grade, whether
the grade can be changed, when the work was handed in, when it was marked, the comment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# English titles: the one language in which a worksheet is known by its first line.
KEY, GRADE, MARKED = "identifier", "grade", "last modified (grade)"
HIGHEST, COMMENTS, NAME = "maximum grade", "feedback comments", "full name"
PARTICIPANT = re.compile(r"(?P<word>\D*[^\W\d]\D*)(?P<number>\d{1,18})")  # "Participant 42", "Teilnehmer/in42"
MOMENT = re.compile(r"(?=.*\d{1,2}\s?[:.h]\s?\d\d)(?=.*(?<!\d)(?:\d{4}|\d\d)(?!\d)).{8,}", re.DOTALL)
LOGIN = re.compile(r"[A-Za-z0-9_.@-]+")
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
IDENTIFIER = re.compile(r"[\w.@-]{1,100}")


@dataclass(frozen=True)
class Columns:
    """Places of a worksheet's columns; `ids` are those that may identify a person beside name and address.

    `grade` and `highest` are None where the grade is no number.
    """

    key: int
    grade: int | None = None
    highest: int | None = None
    marked: int | None = None
    comments: int | None = None
    name: int | None = None
    mail: int | None = None
    ids: tuple[int, ...] = ()


def participant(text: str) -> str:
    """Returns the number in a cell of the first column, "" without any."""
    found = re.search(r"(?<!\d)\d{1,18}$", text.strip())
    return str(int(found[0])) if found else ""


def find_columns(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Columns | None:
    """Returns the columns of a grading worksheet, None for any other table.

    Args:
        titles: of the columns, as they stand there.
        rows: the cells of each line; a line may have fewer than there are titles.
    """
    plain = [title.strip().casefold() for title in titles]
    table = [[cell.strip() for cell in row] + [""] * (len(plain) - len(row)) for row in rows]
    cells = [[row[at] for row in table] for at in range(len(plain))]
    if {KEY, GRADE, MARKED} <= {*plain}:
        key, grade, marked = map(plain.index, (KEY, GRADE, MARKED))
        highest, comments, name = (plain.index(one) if one in plain else None for one in (HIGHEST, COMMENTS, NAME))
        return Columns(key, grade, highest, marked, comments, name, *_identity(cells, key, name, grade))
    if len(plain) < 5 or not table or not _are_participants(cells[0]):
        return None
    highest = _highest(cells)
    moments = [at for at, column in enumerate(cells) if at > (highest or 1) and _are_moments(column)]
    if not moments or len(moments) + (highest is not None) < 2:
        return None
    if highest is None and any(LOGIN.fullmatch(cell) for cell in cells[0]):
        return None  # a list of members, with when they have come
    last = moments[-1]
    after = last + 1 if last + 1 < len(plain) else None
    end = moments[0] if highest is None else highest - 1
    full = 1 if end > 2 and _differ(cells[1]) else None
    return Columns(0, None if highest is None else end, highest, last, after, full, *_identity(cells, 0, full, end))


def _are_participants(column: Sequence[str]) -> bool:
    """Says whether a column holds one word of any language with a number of its own in each line."""
    found = [PARTICIPANT.fullmatch(cell) for cell in column if cell]
    words = {match["word"] for match in found if match}
    numbers = {match["number"] for match in found if match}
    return bool(found) and all(found) and len(words) == 1 and len(numbers) == len(found)


def _are_moments(column: Sequence[str]) -> bool:
    """Says whether a column holds dates with a time, or the sign that Moodle writes where there is none."""
    return any(column) and all(cell in ("", "-", "–") or MOMENT.fullmatch(cell) for cell in column)


def _highest(cells: Sequence[Sequence[str]]) -> int | None:
    """Returns the last column with one number in each line, grades before and a word after it."""
    for at in range(len(cells) - 2, 1, -1):
        if all(NUMBER.fullmatch(cell) for cell in cells[at]) and len({*cells[at]}) == 1:
            before = cells[at - 1]
            words = {*cells[at + 1]}  # whether the grade can be changed
            numeric = all(cell in ("", "-", "–") or NUMBER.fullmatch(cell) for cell in before)
            if numeric and len(words) < 3 and all(word.strip("-") and not NUMBER.search(word) for word in words):
                return at
    return None


def _identity(
    cells: Sequence[Sequence[str]], key: int, name: int | None, end: int
) -> tuple[int | None, tuple[int, ...]]:
    """Returns the column of addresses and those of ids, of the columns between the name and the grade."""
    first = (name if name is not None else end) + 1
    between = [at for at in range(first, end) if at != key]
    mails = [at for at in between if any(cells[at]) and all("@" in cell for cell in cells[at] if cell)]
    ids = tuple(at for at in between if at not in mails and _differ(cells[at]) and _are_ids(cells[at]))
    return (mails[0] if mails else None), ids


def _differ(column: Sequence[str]) -> bool:
    """Says whether most cells are filled, and the same stands hardly ever in two: a name may be another's too."""
    filled = [cell for cell in column if cell]
    return 2 * len(filled) > len(column) and len({*filled}) * 4 > 3 * len(filled)


def _are_ids(column: Sequence[str]) -> bool:
    """Says whether a column holds one word in each line, never the same, as a login or a university's number is."""
    filled = [cell for cell in column if cell]
    with_digit = any(sign.isdigit() for cell in filled for sign in cell)
    single = all(IDENTIFIER.fullmatch(cell) for cell in filled) and len({*filled}) == len(filled)
    return single and (with_digit or len(filled) > 2)
