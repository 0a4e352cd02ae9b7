"""Hand the feedback pages of an assignment back: as the zip files that Moodle and Canvas take, or through nbgrader.

What Moodle and Canvas read in names is in their sources: `mod/assign/feedback/file/importziplib.php`, and
`infer_comment_context_from_filename` in Canvas's `abstract_assignment.rb`.
"""

from __future__ import annotations

import argparse
import datetime
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grading.autograder.nbgrader_commands import nbgrader
from grading.classroom import export, roster
from grading.classroom.export import Mark
from grading.classroom.origins import Origin, Origins
from grading.classroom.roster import Person, Roster
from grading.classroom.worksheet import Worksheet, is_worksheet
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.folder.text import one_line, printable
from grading.notebooks.beside import SECRET, read_beside, why_no_secret
from tutor.files import replacing, write_whole

# The mark of a feedback page, as its template has it; pages from before it wrote `<meta>` have the sentence alone.
SCORE = re.compile(r'<meta name="score" content="([\d.]+)">|<p class="total">([\d.]+) of')
COLLECT = "collect the zip file of the site again (what is there stays)"


@dataclass
class HandedBack:
    """What became of the pages: `students` get theirs; each entry of `left_out` is (student, reason).

    `names` says how each student is shown, by name and id; `files` are those that were written, `notes` sentences on
    what a person has to know or do.
    """

    students: list[str] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: bool = False


@dataclass(frozen=True)
class Pages:
    """The feedback pages of an assignment that can be handed back, by student.

    `wanted` are the students who are to get one, `marks` and `people` everybody's.
    """

    course: Course
    assignment: str
    pages: Mapping[str, Path]
    wanted: Sequence[str]
    marks: Mapping[str, Mark]
    people: Mapping[str, Person]
    out: Path

    def person(self, student: str) -> Person:
        """Returns what is known of a student, the id at least."""
        return self.people.get(student, Person(student))


@dataclass(frozen=True)
class Settings:
    """What is to be handed back, and how.

    `form` is "moodle", "canvas", "folders" or "exchange"; `students` are all who have handed in where none is named;
    `worksheet` is Moodle's grading worksheet of this assignment, without one the roster, when it is one; `out` is the
    folder for the files, without one `gradebook/hand_back`.
    """

    course: Course
    assignment: str
    form: str
    students: Sequence[str] = ()
    worksheet: Path | None = None
    out: Path | None = None


def hand_back(settings: Settings) -> HandedBack:
    """Writes what a site takes to give each student the feedback page, and returns what became of each.

    Raises:
        CourseError: when there is nothing to hand back, or a file of numbers is damaged.
    """
    course = settings.course
    course.refuse_unknown(settings.assignment)
    found = HandedBack()
    chosen = _find_pages(settings, found)
    _refuse_another_site(settings, chosen)
    if settings.form == "moodle":
        file = settings.worksheet or (course.roster if is_worksheet(course.roster) else None)
        _to_moodle(chosen, Worksheet(file) if file else None, found)
    elif settings.form == "canvas":
        _to_canvas(chosen, found)
    elif settings.form == "folders":
        _to_folders(chosen, found)
    else:
        _to_exchange(chosen, found)
    return found


def _find_pages(settings: Settings, found: HandedBack) -> Pages:
    """Returns the pages that show the marks of the gradebook; whoever has none goes to `left_out`."""
    course, assignment, students = settings.course, settings.assignment, settings.students
    listed = roster.load(course.roster) if course.roster.exists() else Roster()
    marks, people = export.marks(course, [assignment])
    everybody = {mark.student: mark for mark in marks}
    if absent := sorted({*students} - {*everybody}):
        raise CourseError(
            f"nobody called {absent[0]!r} has handed in {assignment}; expected the id of a student, as the tables of "
            "autograde show it."
        )
    wanted = [student for student in everybody if not students or student in students]
    if not wanted:
        raise CourseError(f"nothing was handed in for {assignment}; collect and grade first.")
    out = settings.out or course.class_folder / "hand_back"
    chosen = Pages(course, assignment, {}, wanted, everybody, {**people, **listed.people}, out)
    pages = dict[str, Path]()
    for student in wanted:
        person, page = chosen.person(student), course.feedback(student, assignment)
        full = f"{person.first} {person.last}".strip()
        found.names[student] = f"{full} ({student})" if full and full != student else student
        if reason := _why_no_page(course, page, everybody[student]):
            found.left_out.append((student, reason))
        else:
            pages[student] = page
    return replace(chosen, pages=pages)


def _refuse_another_site(settings: Settings, chosen: Pages) -> None:
    """Raises CourseError when everything came from a site whose format is another one, which no page would fit."""
    origins = Origins(chosen.course)
    sites = {one.site for student in chosen.pages if (one := origins.find(student, chosen.assignment))}
    if not sites or settings.form in ("exchange", *sites) or settings.worksheet:
        return
    came = " or ".join(sorted(sites))
    raise CourseError(
        f"what was handed in for {chosen.assignment} came with the names of another site; expected --format {came}, "
        f"got --format {settings.form}. Nothing was written."
    )


def _why_no_page(course: Course, page: Path, mark: Mark) -> str:
    """Returns "", or why a page cannot be handed back."""
    again = f"python -m grading feedback {mark.assignment}"
    if not page.is_file():
        return "no mark, and so no feedback page" if mark.score is None else f"no feedback page; {again}"
    if mark.score is None:
        return f"no mark any more, its points have changed; python -m grading autograde {mark.assignment}"
    graded = course.autograded(mark.student, mark.assignment)
    shown = SCORE.search(page.read_text(encoding="utf-8", errors="replace"))
    gradebook = (mark.score or 0.0) + mark.penalty
    stale = graded.exists() and page.stat().st_mtime < graded.stat().st_mtime
    # A penalty never takes off more than there is: the sum is the score where the mark is above zero.
    if shown and mark.score and abs(float(shown[1] or shown[2]) - gradebook) > 0.006:
        stale = True
    return f"the feedback page is older than the mark; {again}" if stale else ""


# --- Moodle -----------------------------------------------------------------------------------------------------------


def _to_moodle(chosen: Pages, sheet: Worksheet | None, found: HandedBack) -> None:
    """Writes "feedback files", and the grading worksheet where there is one."""
    origins = Origins(chosen.course)
    came = {student: one for student in chosen.marks if (one := _origin(origins, chosen, student, "moodle"))}
    numbers = {student: one.number for student, one in came.items()}
    if sheet:
        listed = {student: _in_worksheet(sheet, chosen.person(student)) for student in chosen.marks}
        other = [one for one in numbers if listed[one] not in ("", numbers[one])]
        if not other and not any(sheet.has(number) for number in numbers.values()):
            other = [*numbers]
        if other:  # Moodle numbers its participants anew in each assignment
            student = other[0]
            found.notes.append(
                f"{sheet.path} is left as it is: it does not fit the numbers of this assignment's submissions "
                f"({found.names.get(student, student)} came as {numbers[student]}). Download the grading worksheet of "
                f"{chosen.assignment} and say --worksheet FILE."
            )
            found.failed, sheet = True, None
        else:
            numbers = {student: number for student, number in listed.items() if number} | numbers
    entries = dict[str, Path]()
    for student, page in _with_own_numbers(chosen, numbers, found, f"{COLLECT}, or say --worksheet FILE"):
        full_name = came[student].name if student in came else sheet.name(numbers[student]) if sheet else ""
        person = chosen.person(student)
        name = _for_a_folder(full_name) or _for_a_folder(f"{person.first} {person.last}") or _for_a_folder(student)
        entries[f"{name}_{numbers[student]}_assignsubmission_file_/{chosen.assignment}.html"] = page
        found.students.append(student)
    if entries:
        _write_zip(chosen.out / f"{chosen.assignment}_moodle.zip", entries, found)
        found.notes.append("In Moodle: the assignment, Submissions, Upload multiple feedback files in a zip.")
    if sheet:
        _fill_in(chosen, sheet, numbers, found)


def _for_a_folder(name: str) -> str:
    """Returns a name without the signs that Moodle reads (it cuts at each `_`) and those that no folder may have."""
    return " ".join("".join(" " if sign in '_/\\:*?"<>|' or not sign.isprintable() else sign for sign in name).split())


def _in_worksheet(sheet: Worksheet, person: Person) -> str:
    """Returns the participant's number beside the id or the address of a student."""
    return sheet.find([person.id, person.get("email address", "email", "e-mail"), person.get("id number")])


def _fill_in(chosen: Pages, sheet: Worksheet, numbers: Mapping[str, str], found: HandedBack) -> None:
    """Writes a copy of the grading worksheet with marks and comments; never one on another scale."""
    shared = _shared(numbers.values())
    here = {
        student: numbers[student]
        for student in chosen.wanted
        if student in numbers and numbers[student] not in shared and sheet.has(numbers[student])
    }
    for student, participant in here.items():
        mark = chosen.marks[student]
        if highest := sheet.other_scale(mark, participant):
            found.notes.append(
                f"{sheet.path} is left as it is: its maximum grade is {highest}, the assignment has "
                f"{export.number(mark.points)} points. Set that maximum in Moodle and download the worksheet again."
            )
            found.failed = True
            return
    for student, participant in here.items():
        sheet.grade(found.names[student], participant, chosen.marks[student], has_page=student in found.students)
    path = chosen.out / f"{chosen.assignment}_worksheet.csv"
    write_whole(path, sheet.content())
    found.files.append(path)
    found.notes.append("In Moodle: the assignment, Submissions, Upload grading worksheet.")
    found.notes += [f"{student}: the grade {old} in Moodle becomes {new}." for student, old, new in sheet.replaced]
    if sheet.kept:
        found.notes.append(f"The comments that somebody has written in Moodle stay: {', '.join(sheet.kept)}.")


# --- Canvas -----------------------------------------------------------------------------------------------------------


def _to_canvas(chosen: Pages, found: HandedBack) -> None:
    """Writes the zip for "Upload Submissions": each page under the name of the file that the student handed in."""
    origins = Origins(chosen.course)
    came = {student: one for student in chosen.marks if (one := _origin(origins, chosen, student, "canvas"))}
    entries = dict[str, Path]()
    for student, page in _with_own_numbers(chosen, {one: came[one].number for one in came}, found, COLLECT):
        one = came[student]
        name = "_".join(filter(None, [one.name, one.late, one.number, one.delivery, f"{chosen.assignment}.html"]))
        if [part for part in name.split("_") if re.fullmatch("[0-9]+", part)][:2] != [one.number, one.delivery]:
            found.left_out.append((student, "Canvas would take the name for a number; give this page back by hand"))
            continue
        entries[name] = page
        found.students.append(student)
    if entries:
        _write_zip(chosen.out / f"{chosen.assignment}_canvas.zip", entries, found)
        found.notes.append(
            "In Canvas: Gradebook, the assignment's menu, Upload Submissions. Canvas shows each page under the name of "
            "the file that was handed in: students save it with the ending .html."
        )


# --- sites that give feedback back by the folder of a submission ------------------------------------------------------


def _to_folders(chosen: Pages, found: HandedBack) -> None:
    """Writes a zip with each page in the folder in which the submission came: for Brightspace, ILIAS and Sakai."""
    origins = Origins(chosen.course)
    came = {student: one.folder for student in chosen.marks if (one := _origin(origins, chosen, student, "folders"))}
    shared = _shared(came.values())
    entries = dict[str, Path]()
    for student, page in chosen.pages.items():
        if student not in came:
            found.left_out.append((student, f"the submission did not come in a folder; {COLLECT}"))
        elif came[student] in shared:
            found.left_out.append((student, f"several students have the folder {came[student]}; hand it back by hand"))
        else:
            entries[f"{came[student]}/{chosen.assignment}.html"] = page
            found.students.append(student)
    if entries:
        _write_zip(chosen.out / f"{chosen.assignment}_folders.zip", entries, found)
        found.notes.append(
            "The folders are those of the download: for the site's upload of feedback files, or for mail."
        )


# --- nbgrader's exchange ----------------------------------------------------------------------------------------------


def _to_exchange(chosen: Pages, found: HandedBack) -> None:
    """Runs nbgrader's `release_feedback` for the pages whose submissions came through the exchange."""
    ready = list[str]()
    for student, page in chosen.pages.items():
        graded = read_beside(chosen.course.autograded(student, chosen.assignment).parent).get(SECRET)
        if graded is None:
            reason = why_no_secret(chosen.course.submitted(student, chosen.assignment))
            found.left_out.append((student, reason))
        elif read_beside(page.parent).get(SECRET) != graded:
            again = f"python -m grading feedback {chosen.assignment}"
            found.left_out.append((student, f"the feedback page is not of the attempt that was graded; {again}"))
        else:
            ready.append(student)
    if not ready:
        return
    folders = (chosen.course.class_folder / "feedback").glob(f"[!.]*/{chosen.assignment}")
    others = sorted({folder.parent.name for folder in folders} - {*ready})
    excluded = [f"--CourseDirectory.student_id_exclude={','.join(others)}"] if others else []
    done = nbgrader(chosen.course.root, "release_feedback", chosen.assignment, *excluded)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise CourseError(
            f"nbgrader release_feedback failed ({one_line(lines[-1] if lines else 'it gave no reason')}); expected an "
            "exchange that can be written: c.Exchange.root in nbgrader_config.py. Make that folder, and run it again."
        )
    found.students += ready
    found.notes.append("Released by nbgrader: students get it by Fetch Feedback, or nbgrader fetch_feedback.")


# --- what all have in common ------------------------------------------------------------------------------------------


def _origin(origins: Origins, chosen: Pages, student: str, site: str) -> Origin | None:
    one = origins.find(student, chosen.assignment)
    return one if one and one.site == site else None


def _shared(numbers: Iterable[str]) -> set[str]:
    """Returns the numbers that several people have: nobody gets a page by one of them."""
    return {number for number, count in Counter(numbers).items() if count > 1}


def _with_own_numbers(
    chosen: Pages, numbers: Mapping[str, str], found: HandedBack, remedy: str
) -> list[tuple[str, Path]]:
    """Returns the pages of students with a number of their own; the others go to `left_out`."""
    shared = _shared(numbers.values())
    own = list[tuple[str, Path]]()
    for student, page in chosen.pages.items():
        if student not in numbers:
            found.left_out.append((student, f"the site's number is not known; {remedy}"))
        elif numbers[student] in shared:
            found.left_out.append((student, f"several students have the number {numbers[student]}; {remedy}"))
        else:
            own.append((student, page))
    return own


def _write_zip(path: Path, entries: Mapping[str, Path], found: HandedBack) -> None:
    """Writes a zip file whole or not at all."""
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, page in entries.items():
            archive.writestr(_entry(name, page), page.read_bytes())
    found.files.append(path)


def _entry(name: str, page: Path) -> zipfile.ZipInfo:
    moment = datetime.datetime.fromtimestamp(page.stat().st_mtime).timetuple()[:6]
    entry = zipfile.ZipInfo(name, max(moment, (1980, 1, 1, 0, 0, 0)))  # a zip file knows no earlier time
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return entry


def command(options: argparse.Namespace) -> int:
    """Runs `python -m grading hand-back`; returns 0 only when everybody who handed in gets a page."""
    course = Course((options.course or ROOT).resolve())
    if options.worksheet and options.format != "moodle":
        raise CourseError("--worksheet is Moodle's grading worksheet; expected with --format moodle only.")
    found = hand_back(
        Settings(course, options.assignment, options.format, options.student, options.worksheet, options.out)
    )
    for path in found.files:
        print(path)
    for sentence in found.notes:
        print(printable(sentence, 1000))
    print(f"\n{len(found.students)} of {len(found.students) + len(found.left_out)} students get their feedback page.")
    reasons: dict[str, list[str]] = {}
    for student, reason in found.left_out:
        reasons.setdefault(reason, []).append(printable(found.names[student]))
    for reason, names in reasons.items():
        print(f"  {export.some(names)}: {printable(reason, 400)}")
    return 1 if found.left_out or found.failed else 0
