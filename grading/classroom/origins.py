"""Under which name of its site each submission came: what is handed back has to carry the same numbers."""

from __future__ import annotations

from dataclasses import dataclass

from grading.classroom.placing import Arrived
from grading.classroom.recognition import CANVAS, MOODLE, SAKAI
from grading.classroom.side_file import SideFile
from grading.folder.course import Course


@dataclass(frozen=True)
class Origin:
    """What a site says of a submission in the name of its file or folder.

    `name` is the student's name as the site writes it, `number` the person's (Moodle: of this assignment only), and
    `delivery` that of the file, "" in Moodle. `late` is the word that Canvas puts between for late work, else "".
    """

    site: str
    name: str
    number: str
    delivery: str = ""
    late: str = ""

    @property
    def folder(self) -> str:
        """The folder in which the site looks for feedback, where it gives one back by the folder of the submission."""
        sakai = SAKAI.fullmatch(self.name.rsplit("/", 1)[-1])
        return f"{self.name}/Feedback Attachment(s)" if sakai else self.name


def read_origin(name: str) -> Origin | None:
    """Returns what a name of a file, or a path of folders with "/" at its end, says; None for one that says nothing."""
    if name.endswith("/"):
        return Origin("folders", name[:-1], "")
    if moodle := MOODLE.fullmatch(name):
        return Origin("moodle", moodle["name"], moodle["number"])
    if canvas := CANVAS.fullmatch(name):
        late = name[len(canvas["name"]) + 1 : canvas.start("number")]
        return Origin("canvas", canvas["name"], canvas["number"], canvas["delivery"], late.rstrip("_"))
    return None


class Origins:
    """The names under which the submissions of a class came, in a file of the class."""

    def __init__(self, course: Course) -> None:
        remedy = ", and collect the same zip files again: what is there stays as it is."
        self._file = SideFile(course, "site_names.json", remedy)
        self.close = self._file.close

    def remember(self, arrived: Arrived) -> None:
        """Keeps the name of a file that is the student's submission now; one without a site's name changes nothing."""
        name, parts = arrived.owner.site_name, arrived.item.parts
        if not read_origin(name) and name in parts[: len(parts) - 1 - arrived.item.inner]:
            name = "/".join(parts[: parts.index(name) + 1]) + "/"
        key = f"{arrived.student}/{arrived.assignment}"
        if read_origin(name) and (not name.endswith("/") or self._file.known.get(key, "/").endswith("/")):
            self._file.known[key] = name

    def find(self, student: str, assignment: str) -> Origin | None:
        """Returns under which name a submission came, None where no site has given it one."""
        return read_origin(self._file.known.get(f"{student}/{assignment}", ""))
