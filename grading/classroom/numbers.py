"""Under which number of the site each student hands in: a name alone may be anybody's."""

from __future__ import annotations

import re

from grading.classroom.placing import Arrived
from grading.classroom.side_file import SideFile
from grading.folder.course import Course

EXPORTED = re.compile(r"-20\d{6}T\d{6}Z(?:-\d+)*(?=/|$)")  # what Google puts behind the name of a folder


# What Microsoft Teams puts around a student's name: the same person has both.
SUBMITTED = "Submitted files"
WORKING = re.compile(rf"^(?P<before>(?:[^/]+/)*?)(?P<area>{SUBMITTED}|Working files)(?=/)")


class Numbers:
    """Remembers under which number of the site each student has handed in an assignment, in a file of the class.

    Everybody may choose the name that a site shows. The same goes for a name below a folder that names nobody: it may
    be the folder of somebody whom the course does not know, so it is remembered too.
    """

    def __init__(self, course: Course, *, with_roster: bool) -> None:
        self._course, self._with_roster = course, with_roster
        remedy = ": whose work is whose is then told by the names alone, once."
        self._file = SideFile(course, "site_numbers.json", remedy)
        self.close = self._file.close

    def strange(self, arrived: Arrived) -> str:
        """Returns "" or why a file is not from who has handed in under this name before."""
        if arrived.item.owner:
            return ""
        known, number = self._file.known.get(_of(arrived), []), arrived.owner.number
        remedy = "fill in the list of unknown files, or name both in gradebook/students.csv"
        numbers = [one for one in known if not one.startswith("folder ")]
        if number and numbers and number not in numbers:
            return (
                f"{arrived.student} has handed in {arrived.assignment} as number {', '.join(numbers)} of the site, and "
                f"this is from number {number}: {remedy}"
            )
        folder = self._folder(arrived)
        there = self._course.submitted(arrived.student, arrived.assignment)
        if not folder or folder in known or (number in numbers and not self._with_roster) or not there.exists():
            return ""
        if self._with_roster:
            remedy = "fill in the list of unknown files, or collect that folder by itself if it is the site's own"
        return f"lies in another folder, and {arrived.student} has handed in already: {remedy}"

    def _folder(self, arrived: Arrived) -> str:
        """Returns what is remembered of folders around the name that identifies the student, "" without any.

        With a roster these are the folders above that name, which name nobody.
        """
        source = WORKING.sub(rf"\g<before>{SUBMITTED}", arrived.owner.source.strip("/"))
        above, _, _ = source.rpartition("/")
        if not above:
            return ""
        return f"folder {EXPORTED.sub('', above) if self._with_roster else source}"

    def remember(self, arrived: Arrived) -> None:
        """Keeps what identified the owner of a file that was placed."""
        known = self._file.known.setdefault(_of(arrived), [])
        known += {arrived.owner.number, self._folder(arrived)} - {*known, ""}


def _of(arrived: Arrived) -> str:
    return f"{arrived.student}/{arrived.assignment}"
