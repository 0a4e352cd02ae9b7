"""Late work: the points that nbgrader's plugin takes off are the same, whichever way a class is graded."""

import datetime
import json
import re
import shlex
import shutil
import textwrap
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from grading.__main__ import main
from grading.autograder import regrade
from grading.autograder import run as autograde
from grading.autograder.nbgrader_commands import nbgrader
from grading.autograder.outcome import FAILED, GRADED, UNCHANGED, Outcome
from grading.classroom import demo, export
from grading.folder.course import ROOT, Course
from grading.pages import report
from tests.classroom.submissions import ASSIGNMENT, AUTOMATIC, perfect

pytestmark = [pytest.mark.sandbox, pytest.mark.all]

DUE = datetime.datetime(2026, 1, 12, 18)
HOURS_LATE = {"on_time": -1.0, "late": 8.0, "extended": 8.0, "extra": 8.0, "lenient": 8.0, "no_time": None}
ZERO = 'c.LateSubmissionPlugin.penalty_method = "zero"\n'
PLUGIN = '''"""Half a point for each hour; all that there is, and less than nothing, for two students."""

from nbgrader.plugins import BasePlugin


class ByTheHour(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        by_name = {"extra": 1e6, "lenient": -2.0}
        return by_name.get(student_id, 0.5 * total_seconds_late / 3600)
'''
BY_THE_HOUR = 'c.AssignLatePenalties.plugin_class = "by_the_hour.ByTheHour"\n'


def book(course: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{course}/gradebook/gradebook.db", "transformers")


def stamp(course: Path, student: str, hours: float | None) -> None:
    """Writes when a submission came in, in hours after the due date."""
    path = course / "gradebook" / "submitted" / student / ASSIGNMENT / "timestamp.txt"
    path.unlink(missing_ok=True)
    if hours is not None:
        path.write_text(f"{DUE + datetime.timedelta(hours=hours)} UTC", encoding="utf-8")


def make(course: Path, settings: str, students: list[str], due: datetime.datetime | None = DUE) -> Path:
    """Makes a class of perfect submissions, with a due date, an extension and extra credit in the gradebook."""
    demo.make(course)
    shutil.rmtree(course / "gradebook" / "submitted")
    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(settings)
    (course / "by_the_hour.py").write_text(PLUGIN, encoding="utf-8")
    for student in students:
        folder = course / "gradebook" / "submitted" / student / ASSIGNMENT
        folder.mkdir(parents=True)
        nbformat.write(perfect(), folder / f"{ASSIGNMENT}.ipynb")
        stamp(course, student, HOURS_LATE[student])
    done = nbgrader(course, "generate_assignment", ASSIGNMENT, "--force")
    assert done.returncode == 0, done.stderr
    with book(course) as opened:
        opened.update_or_create_assignment(ASSIGNMENT, duedate=due)
        for student in {"extended", "extra"} & set(students):
            opened.update_or_create_student(student)
            opened.add_submission(ASSIGNMENT, student)
        if "extended" in students:
            opened.grant_extension(ASSIGNMENT, "extended", hours=9)
        if "extra" in students:
            opened.find_grade("causal_mask_check", ASSIGNMENT, ASSIGNMENT, "extra").extra_credit = 1.0
        opened.db.commit()
    return course


def found(course: Path) -> dict[str, tuple[float, float, float]]:
    """Returns mark without penalty, penalty, and highest mark of each student, as nbgrader's gradebook has them."""
    with book(course) as opened:
        return {
            one.student_id: (one.score, one.late_submission_penalty, one.max_score)
            for one in opened.assignment_submissions(ASSIGNMENT)
        }


def run(course: Path) -> dict[str, Outcome]:
    settings = autograde.Settings(Course(course), workers=1, progress=False)
    return {one.student: one for one in autograde.run(settings)}


@pytest.mark.parametrize(("settings", "wanted"), [
    pytest.param(ZERO, {"late": AUTOMATIC, "extra": AUTOMATIC + 1, "lenient": AUTOMATIC}, id="zero"),
    pytest.param(BY_THE_HOUR, {"late": 4.0, "extra": AUTOMATIC + 1, "lenient": 0.0}, id="plugin"),
])  # fmt: skip
def test_both_ways_take_the_same_points_off(tmp_path: Path, settings: str, wanted: dict[str, float]) -> None:
    theirs = make(tmp_path / "theirs", settings, list(HOURS_LATE))
    shutil.copytree(theirs, tmp_path / "ours")
    done = nbgrader(theirs, "autograde", ASSIGNMENT)
    assert done.returncode == 0, done.stderr
    outcomes = run(tmp_path / "ours")
    assert found(tmp_path / "ours") == found(theirs)
    taken = {student: penalty for student, (_, penalty, _) in found(tmp_path / "ours").items()}
    assert taken == {"on_time": 0.0, "extended": 0.0, "no_time": 0.0} | wanted
    assert {student: one.penalty for student, one in outcomes.items()} == taken
    assert outcomes["late"].score == AUTOMATIC - wanted["late"]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of two that is graded; one of them is late, which costs half a point for each hour."""
    made = make(tmp_path_factory.mktemp("late"), BY_THE_HOUR, ["late", "on_time"], due=None)
    assert {one.score for one in run(made).values()} == {AUTOMATIC}  # without a due date nothing is late
    return made


def test_a_due_date_counts_for_what_was_graded_before(course: Path) -> None:
    with book(course) as opened:
        opened.update_or_create_assignment(ASSIGNMENT, duedate=DUE)
    outcomes = run(course)
    assert {one.state for one in outcomes.values()} == {UNCHANGED}
    assert (outcomes["late"].score, outcomes["late"].penalty) == (10.0, 4.0)
    assert found(course)["late"][:2] == (AUTOMATIC, 4.0)
    assert found(course)["on_time"][:2] == (AUTOMATIC, 0.0)


def test_a_later_delivery_of_the_same_answers_is_later(course: Path) -> None:
    stamp(course, "on_time", 2.0)
    assert run(course)["on_time"].penalty == 1.0
    stamp(course, "on_time", -1.0)
    assert run(course)["on_time"].score == AUTOMATIC
    assert found(course)["on_time"][:2] == (AUTOMATIC, 0.0)


def test_an_extension_as_the_page_says(course: Path, tmp_path: Path) -> None:
    """Two days more for a student, and what the page says of a plugin, in the words of `docs/late.md`."""
    text = (ROOT / "docs" / "late.md").read_text("utf-8")
    (plugin,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    lines = [line for line in text.splitlines() if line.startswith(".venv/bin/python -m grading ")]
    assert [line.split()[3] for line in lines] == ["due", "due", "extend", "extend"]
    shutil.copytree(course, tmp_path / "course")
    for line in lines:
        words = shlex.split(line.replace(" ada ", " late "))[3:]
        assert main([*words, "--course", str(tmp_path / "course")]) == 0
    assert run(tmp_path / "course")["late"].score == AUTOMATIC
    names: dict[str, Any] = {}
    exec(textwrap.dedent(plugin), names)
    assert names["ByTheHour"]().late_submission_penalty("late", AUTOMATIC, 8 * 3600) == 4.0


def test_late_work_is_reported(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert regrade.run(Course(course), ASSIGNMENT, ["late"]) == 0
    output = capsys.readouterr().out
    assert "late         10      10  handed in late: 4 points taken off" in output
    assert "0 of 1 marks changed" in output
    assert main(["autograde", "--student", "late", "--force", "--json", "--course", str(course)]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert (one["state"], one["score"], one["penalty"]) == (GRADED, 10.0, 4.0)
    marks = {mark.student: mark for mark in export.marks(Course(course))[0]}
    assert (marks["late"].score, marks["late"].penalty, marks["on_time"].penalty) == (10.0, 4.0, 0.0)
    page = report.write_report(Course(course), ASSIGNMENT).read_text(encoding="utf-8")
    assert "Handed in late, with points taken off: 1." in page
    assert main(["feedback", ASSIGNMENT, "--student", "late", "--course", str(course)]) == 0
    page = Course(course).feedback("late", ASSIGNMENT).read_text(encoding="utf-8")
    assert "10 of 16 points" in page
    assert "Handed in late: 4 points taken off." in page


def test_a_plugin_that_stops_costs_the_late_only(course: Path, tmp_path: Path) -> None:
    shutil.copytree(course, tmp_path / "course")
    (tmp_path / "course" / "stops.py").write_text(PLUGIN.replace("0.5 *", "None *"), encoding="utf-8")
    with (tmp_path / "course" / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write('c.AssignLatePenalties.plugin_class = "stops.ByTheHour"\n')
    before = found(tmp_path / "course")
    settings = autograde.Settings(Course(tmp_path / "course"), workers=1, progress=False, force=True)
    outcomes = {one.student: one for one in autograde.run(settings)}
    assert (outcomes["late"].state, outcomes["on_time"].state) == (FAILED, GRADED)
    assert "the late-penalty plugin stopped with TypeError" in outcomes["late"].reason
    assert found(tmp_path / "course") == before
