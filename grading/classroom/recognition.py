"""Whose a delivered file is, and for which assignment: from the names that sites or people give to files and folders.

The outermost name of a person decides: what lies below it is called as its owner likes. What is inside a zip
that somebody has handed in identifies nobody.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from grading.classroom.deliveries import NOTEBOOK, UTC, Item, RefusedError
from grading.classroom.gradescope import Submitters
from grading.classroom.naming import Named, Namer
from grading.classroom.roster import Roster, split_ids, valid_id, words_of
from grading.notebooks import assignments
from grading.notebooks.cells import cells_of

MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<rest>.*))?")
TWICE = re.compile(r"_\d+_assignsubmission_.*_\d+_assignsubmission_")
CANVAS = re.compile(r"(?P<name>[^_/]+)_(?:LATE_)?(?P<number>\d+)_(?P<delivery>\d+)_(?P<rest>.+)", re.IGNORECASE)
BLACKBOARD = re.compile(r"(?P<title>.+?)_(?P<when>attempt_\d{4}(?:-\d\d){5})(?:_(?P<rest>.+)|\.txt)?")
BRIGHTSPACE = re.compile(
    r"(?P<number>\d+)-\d+ - (?P<name>.+?)(?: ?- (?P<when>[A-Z][a-z]+ \d\d?, \d{4} \d{3,4} ?[AP]M)(?: - (?P<rest>.+))?)?"
)
BRIGHTSPACE_TIME = re.compile(r" ?- ([A-Z][a-z]+ \d\d?, \d{4} \d{3,4}) ?([AP]M)")  # a name may hold another one
APLUS = re.compile(r"(?P<names>.+)_file\d+_submission(?P<version>\d{1,6})(?:\.\w+)*")
SAKAI = re.compile(r"[^,()]*, [^()]*\((?P<login>[^()]+)\)")
GROUP = "group"  # as the site of an owner whom gradebook/groups.csv knows
OF_THE_COURSE = {"notebooks", "work", "solutions"}  # folders of a clone of the course, as GitHub Classroom delivers it
OF_THE_SITE = {"index.html", "grades.csv", "grades.xls", "submission_metadata.yml", "feedbackText.html", "comments.txt"}


@dataclass(frozen=True)
class Owner:
    """Whose a file is.

    `students` are several where the site names a group. `source` is what shows it: two sources of one delivery that
    name one person are not believed. `site_name` is the name that a site gave, which feedback may have to carry;
    `number` what the site calls the person, `file` the name that the person gave, `version` a count of attempts and
    `time` when the site says that it came in, where it does.
    """

    students: tuple[str, ...]
    source: str
    site_name: str
    file: str
    site: str = ""
    number: str = ""
    version: int = 0
    time: datetime.datetime | None = None


@dataclass(frozen=True)
class Class:
    """Who and what a file can be of: the course folder, its roster (empty: anybody) and its assignments.

    `requested` is the one assignment of everything, "" when the files decide. `numbered` says whether the numbers of
    Moodle in the roster are those of this delivery, `blind` whether Moodle shows nobody's name in it. `titles`
    are what Blackboard writes before the times in this delivery, `aplus` the folder in which A+ has named every file.
    `submitters` are those of Gradescope's folders; `groups` have members, by the name's letters.
    """

    course: Path
    people: Roster
    known: list[str]
    requested: str = ""
    numbered: bool = True
    blind: bool = False
    titles: frozenset[str] = frozenset()
    aplus: str | None = None
    submitters: Mapping[str, Submitters] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def _namer(self) -> Namer:
        return Namer(self.people, tuple(self.known))

    def assignment(self, item: Item, owner: Owner) -> str:
        """Returns the assignment that a file is for.

        Raises:
            RefusedError: when it is unknown, or is not the requested one.
        """
        name = self._assignment(item, owner.file) or self.requested
        if not name:
            raise RefusedError(f"is for no assignment that can be told; say which: collect PATH {self.known[0]}")
        if self.requested and name != self.requested:
            raise RefusedError(f"is for {name}, not for {self.requested}; collect it without naming an assignment")
        return name

    def _assignment(self, item: Item, file: str) -> str:
        """Returns the assignment that a folder, the file's name or its cells name, "" when none does."""
        folder = next((part for part in reversed(item.parts[:-1]) if part in self.known), "")
        names = (item.parts[-1], file) if item.inner else (file,)
        for name in names:
            if found := folder or assignments.by_name(f"{_stem(name)}.ipynb", self.known):
                return found
        try:
            cells = cells_of(json.loads(item.read()))
        except (ValueError, RecursionError):  # a RefusedError is a ValueError
            return ""
        return assignments.by_content(cells, self.course) if cells else ""

    def owner(self, item: Item) -> Owner:
        """Returns whose a file is.

        Raises:
            RefusedError: when that is unknown; the message says why.
        """
        if item.owner:
            return self._listed(item)
        outside = item.parts[: len(item.parts) - item.inner]
        found = list[tuple[Owner, bool, bool]]()  # who, whether by a site's own form of name, whether weakly
        for at in range(len(outside)):
            is_file = at == len(outside) - 1
            try:
                by_site = self._by_site(outside, at)
            except RefusedError:
                if is_file and found and not found[0][2]:
                    continue  # a person's own file may be called like a site's
                raise
            if by_site and not found:
                return by_site
            if by_site:
                found.append((by_site, True, False))
            elif named := self._named(outside, at):
                found.append((named[0], False, named[1]))
        if not self.people:
            return found[0][0] if found else self._by_layout(outside[-1], outside[:-1])
        if item.inner and not found:
            raise RefusedError(
                f"names nobody of the roster outside of {outside[-1]}; a site's zip is collected by itself"
            )
        return _decide(found)

    def _named(self, parts: Sequence[str], at: int) -> tuple[Owner, bool] | None:
        """Returns whom a name of no site's form names, and whether weakly; None for nobody."""
        part, is_file = parts[at], at == len(parts) - 1
        if members := self._group(self._bare(part, is_file=is_file)):
            return Owner(members, "/".join(parts[: at + 1]), part, parts[-1], GROUP), False
        named = self._name(part, is_file=is_file) if self.people else Named()
        if not named.students:
            return None
        source = "/".join(parts[:at]) + f"/{named.key}" if is_file else "/".join(parts[: at + 1])
        return Owner(tuple(named.students), source, part, parts[-1]), named.weak

    def is_test(self, item: Item) -> bool:
        """Says whether a file is of Canvas's test student."""
        matches = map(CANVAS.fullmatch, item.parts[: len(item.parts) - item.inner])
        return any(match["number"] in self.people.testers for match in matches if match)

    def _listed(self, item: Item) -> Owner:
        """Returns whom a person has written beside a file in a list; the site's name is remembered with it."""
        students = tuple(dict.fromkeys(map(self._login, split_ids(item.owner))))
        for part in item.parts:
            if moodle := MOODLE.fullmatch(part):
                return Owner(students, "", part, item.parts[-1], "moodle", moodle["number"])
            if canvas := CANVAS.fullmatch(part):
                return Owner(students, "", part, canvas["rest"], "canvas", canvas["number"])
        return Owner(students, "", "", item.parts[-1])

    def _name(self, part: str, *, is_file: bool) -> Named:
        """Returns whom a folder or a file's name names: a whole id or name, else words of it."""
        if part in self.known:
            return Named()
        text = self._bare(part, is_file=is_file)
        words = self._namer.named(text)
        whole = self.people.find(label=text)
        return Named(frozenset(whole), weak=words.weak, key=text) if whole else words

    def _bare(self, part: str, *, is_file: bool) -> str:
        """Returns a name without endings and assignment."""
        text = _stem(part) if is_file else part
        for name in self.known:
            text = text.removesuffix(f"_{name}")
        return text

    # --- what sites write ---------------------------------------------------------------------------------------------

    def _by_site(self, parts: Sequence[str], at: int) -> Owner | None:
        """Returns whom a name of a site's form identifies, None for a name of another form.

        Raises:
            RefusedError: when the person is not known.
        """
        part, is_file, above = parts[at], at == len(parts) - 1, "/".join(parts[:at])
        if TWICE.search(part):
            raise RefusedError("has a name in which two of Moodle's stand; its owner may have chosen one of them")
        if moodle := MOODLE.fullmatch(part):  # Moodle without folders: the file's name follows
            return self._numbered("moodle", moodle, above, (moodle["rest"] or "") if is_file else parts[-1])
        if not is_file and (submitters := self.submitters.get("/".join(parts[: at + 1]))):
            students = tuple(dict.fromkeys(map(self._submitter, submitters)))
            return Owner(students, f"{above}/{part}", part, parts[-1], "gradescope")
        if bright := BRIGHTSPACE.fullmatch(part):
            return self._numbered("brightspace", bright, above, (is_file and bright["rest"]) or parts[-1])
        if is_file and (canvas := CANVAS.fullmatch(part)):
            return self._numbered("canvas", canvas, above, canvas["rest"])
        if is_file and (black := BLACKBOARD.fullmatch(part)):
            return self._blackboard(black, above)
        if is_file and above == self.aplus and (aplus := APLUS.fullmatch(part)):
            students = tuple(dict.fromkeys(self._login(name) for name in aplus["names"].split("+")))
            return Owner(students, above, part, "", "aplus", "", int(aplus["version"]))
        if not self.people and not is_file and (sakai := SAKAI.fullmatch(part)):
            return Owner((self._login(sakai["login"]),), f"{above}/{part}", part, parts[-1], "sakai")
        return None

    def _numbered(self, site: str, match: re.Match[str], above: str, file: str) -> Owner:
        number, name = match["number"], match["name"]
        if members := self._group(name):
            return Owner(members, f"{above}/{match.string if site != 'canvas' else name}", match.string, file, site)
        student = self._person(number, name, site)
        attempt = re.search(r"-(\d{1,4})\.\w+$", file) if site == "canvas" else None
        times = BRIGHTSPACE_TIME.findall(match.string) if site == "brightspace" else []
        when = _time(" ".join(times[0]), "%b %d, %Y %I%M %p", "%B %d, %Y %I%M %p") if len(times) == 1 else None
        version = int(attempt[1]) if attempt else 0
        return Owner((student,), f"{above}/number {number}", match.string, file, site, number, version, when)

    def _group(self, name: str) -> tuple[str, ...]:
        """Returns the members of the group that a name is all of, () where it is none."""
        return self.groups.get("".join(words_of(name)), ())

    def _submitter(self, submitter: Mapping[str, str]) -> str:
        """Returns the student whom Gradescope means."""
        label = submitter.get("sid") or submitter.get("email") or ""
        if not self.people:
            return _valid(label)
        labels = [submitter.get(key, "") for key in ("sid", "email")]
        found = set().union(*(self.people.find(label=one) for one in labels if one))
        return _only(found or self.people.find(name=submitter.get("name", "")), submitter.get("name") or label)

    def _person(self, number: str, name: str, site: str) -> str:
        """Returns the student whom a site means by a number and a name."""
        if not self.people and site == "moodle" and self.blind:
            return number
        if not self.people:
            return re.sub(r"[^\w.@-]+", "_", unicodedata.normalize("NFC", name)).strip("_.-").casefold()[:100]
        by_name = _by_name(self.people, name)
        if site == "brightspace":
            by_name = by_name or {*self._namer.named(name).students}
        fits = site == "canvas" or (site == "moodle" and self.numbered)
        by_number = self.people.find(number=number) if fits else set()
        both = by_number & by_name or by_number | by_name if by_number and by_name else by_number or by_name
        return _only(both, f"{name} ({number})")

    def _blackboard(self, match: re.Match[str], above: str) -> Owner:
        """Returns whom Blackboard names: the login stands between the column's title and the time.

        Both may hold a "_". The title is known where it is an assignment's name, or where it stands alone before the
        login of somebody else; without either it is where a login of the roster begins.
        """
        title = match["title"]
        known = [one for one in self._columns if title.startswith(f"{one}_")]
        if known:
            student = self._login(title[len(min(known, key=len)) + 1 :])
        else:
            found = self._ends(title)
            student = _only(set().union(*found.values()), title)
            others = [start for one in self.titles - {title} for start in self._ends(one)]
            if any(start.startswith(f"{one}_") for one in others for start in found):
                raise RefusedError(f"does not show where the login in {title!r} begins")
        when = _time(match["when"], "attempt_%Y-%m-%d-%H-%M-%S")
        return Owner((student,), f"{above}/{title}", match.string, match["rest"] or "", "blackboard", "", 0, when)

    @cached_property
    def _columns(self) -> set[str]:
        """The titles of Blackboard's columns that are known for sure."""
        columns = {title.partition("_")[0] for title in self.titles if title.count("_") == 1}
        names = {"".join(words_of(name)) for name in self.known}
        for title in self.titles:
            places = [at for at, sign in enumerate(title) if sign == "_"]
            columns |= {title[:at] for at in places if "".join(words_of(title[:at])) in names}
        return columns

    def _ends(self, title: str) -> dict[str, set[str]]:
        """Returns who of the roster a title can end with, by what stands before.

        Raises:
            RefusedError: without a roster.
        """
        if not self.people:
            raise RefusedError(
                f"does not show where the login in {title!r} begins; make a list of students, gradebook/students.csv"
            )
        places = [at for at, sign in enumerate(title) if sign == "_"]
        return {title[:at]: found for at in places if (found := self.people.find(label=title[at + 1 :]))}

    def _login(self, login: str) -> str:
        """Returns the student whom a site calls so."""
        if self.people:
            return _only(self.people.find(label=login), login)
        return _valid(login)

    # --- without a roster ---------------------------------------------------------------------------------------------

    def _by_layout(self, file: str, inside: Sequence[str]) -> Owner:
        """Returns the student whom the names of a file and its folders give: STUDENT_ASSIGNMENT, or STUDENT/..."""
        stem = _stem(file)
        place = next((index for index in range(len(inside) - 1, -1, -1) if inside[index] in self.known), None)
        if place == 0:
            raise RefusedError("names no student; expected STUDENT/ASSIGNMENT/file.ipynb")
        own = inside[place - 1] if place is not None else inside[-1] if inside else ""
        if own.casefold() in OF_THE_COURSE:
            raise RefusedError(
                f"lies in {own}/ and names no student; expected a list of students, gradebook/students.csv"
            )
        if place is not None:
            return Owner((_valid(inside[place - 1]),), "/".join(inside[:place]), inside[place - 1], file)
        suffix = next((f"_{name}" for name in self.known if stem.endswith(f"_{name}")), "")
        before = stem.removesuffix(suffix)
        if not inside:
            if not suffix and assignments.by_name(f"{stem}.ipynb", self.known):
                raise RefusedError("names no student; expected STUDENT_ASSIGNMENT.ipynb or a folder for each student")
            return Owner((_valid(before),), f"/{before}", file, file)
        return Owner((_valid(inside[-1]),), "/".join(inside), inside[-1], file)


def _decide(found: list[tuple[Owner, bool, bool]]) -> Owner:
    """Returns the outermost of (owner, by a site, weakly) in a path.

    Raises:
        RefusedError: when there is none, when it names several, or when a site (below a weak one: anything) names
            another.
    """
    if not found:
        raise RefusedError("names nobody of the roster")
    first, _, weak = found[0]
    students = {*first.students}.union(*(one.students for one, by_site, _ in found if by_site or weak))
    if len(students) > (len(first.students) if first.site == GROUP else 1):
        raise RefusedError(f"fits several students of the roster: {', '.join(sorted(students))}")
    return first


def numbers_fit(people: Roster, items: Sequence[Item]) -> bool:
    """Says whether the numbers of Moodle in a roster are those of a delivery: they are new in each assignment.

    They are not where no number fits its name, and two or more do not: one alone may be of somebody who took a name.
    """
    fitting, other = set[str](), set[str]()
    for part in {part for item in items for part in item.parts[: len(item.parts) - item.inner]}:
        if (match := MOODLE.fullmatch(part)) and not TWICE.search(part):
            by_name = _by_name(people, match["name"])
            if by_name and all(people.numbers(student) for student in by_name):
                fits = by_name & people.find(number=match["number"])
                (fitting if fits else other).add(match["number"])
    return bool(fitting) or len(other) < 2


def blackboard_titles(items: Sequence[Item]) -> frozenset[str]:
    """Returns what Blackboard has written before the times, title and login."""
    files = {item.parts[len(item.parts) - item.inner - 1] for item in items}
    return frozenset(match["title"] for name in files if (match := BLACKBOARD.fullmatch(name)))


def aplus_folder(items: Sequence[Item]) -> str | None:
    """Returns the one folder of a delivery of A+, None for another one.

    A+ names every file: where people choose names, one of them may name others.
    """
    files = {item.parts[: len(item.parts) - item.inner] for item in items if item.parts[-1] not in OF_THE_SITE}
    folders = {"/".join(parts[:-1]) for parts in files}
    return folders.pop() if len(folders) == 1 and all(APLUS.fullmatch(parts[-1]) for parts in files) else None


def is_blind(items: Sequence[Item]) -> bool:
    """Says whether all folders of Moodle have one word, "Participant" in some language, and a number of their own."""
    found = {match for item in items for part in item.parts[:-1] if (match := MOODLE.fullmatch(part))}
    names = {match["name"].rpartition("-")[2].replace(match["number"], "").strip() for match in found}
    return len(names) == 1 and not re.search(r"\s", "".join(names)) and len({match["number"] for match in found}) > 1


def sakai_times(items: Sequence[Item]) -> dict[str, datetime.datetime]:
    """Returns when each folder of Sakai came in, which stands in a file of the site; its zip has the time of download.

    Such a file counts only beside the table of marks that Sakai puts into each zip, above what a student can write.
    """
    tables = {item.parts[:-1] for item in items if item.parts[-1] in ("grades.csv", "grades.xls", "grades.xlsx")}
    found = dict[str, datetime.datetime]()
    for item in items:
        folder = item.parts[:-1]
        if item.parts[-1] == "timestamp.txt" and not item.inner and folder and SAKAI.fullmatch(folder[-1]):
            with contextlib.suppress(ValueError):  # a RefusedError is one
                if folder[:-1] in tables:
                    time = datetime.datetime.strptime(item.read().decode("ascii").strip(), "%Y%m%d%H%M%S%f")
                    found["/".join(folder)] = time.replace(tzinfo=UTC)
    return found


def is_sakai_feedback(item: Item) -> bool:
    """Says whether a file is what somebody has given back in Sakai."""
    pairs = zip(item.parts, item.parts[1:], strict=False)
    return any(inner == "Feedback Attachment(s)" and SAKAI.fullmatch(outer) for outer, inner in pairs)


def _by_name(people: Roster, name: str) -> set[str]:
    """Returns whom a site's name means: all of it, or what follows the name of a group ("Group A-Ada Lovelace")."""
    places = [0, *(found.end() for found in re.finditer("-", name))]
    return next(filter(None, (people.find(name=name[place:]) for place in places)), set[str]())


def _time(text: str, *forms: str) -> datetime.datetime | None:
    """Returns a site's local time, None for what is no time."""
    for form in forms:
        with contextlib.suppress(ValueError, OverflowError):
            return datetime.datetime.strptime(text, form).astimezone(UTC)
    return None


def _stem(file: str) -> str:
    """Returns a file's name without its endings: "x" of "x.ipynb", "x.ipynb.txt", "x.json" and "x.zip"."""
    return re.sub(r"(?:\.(?:zip|json|txt))+$", "", NOTEBOOK.sub("", file), flags=re.IGNORECASE)


def _valid(student: str) -> str:
    if not valid_id(student):
        raise RefusedError(f"{student!r} cannot be a student's id; expected letters, digits and .@_- only")
    return student


def _only(found: set[str], label: str) -> str:
    if len(found) > 1:
        raise RefusedError(f"{label} fits several students of the roster: {', '.join(sorted(found))}")
    if not found:
        raise RefusedError(f"{label} is not in the roster")
    return next(iter(found))
