"""Every command goes to the gradebook that `db_url` names, a file elsewhere or a server, and to no other."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grading import command_line
from grading.classroom import demo, essays
from grading.classroom.demo_class import MARKER
from grading.classroom.essays import Given, Mark
from grading.folder.course import ROOT, Course
from grading.pages import essays as pages
from tests.autograder.test_postgresql import ADA, DENIS, MARKS, command_output, use
from tests.classroom.servers import Server, why_no_server
from tests.classroom.submissions import ASSIGNMENT, AUTOMATIC

pytestmark = [pytest.mark.sandbox, pytest.mark.all]
RENÉE = "renée"
WITHOUT_A_CLASS = {"build", "new", "prove", "release", "book"}  # they make what everybody gets, and look at no work


@pytest.fixture(params=["file", "server"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "file":
        yield f"sqlite:///{tmp_path}/elsewhere.db"
    elif why_no_server():
        pytest.skip(why_no_server())
    else:
        with Server() as server:
            yield server.database("class")


@pytest.fixture
def course(address: str, tmp_path: Path) -> Course:
    """A class of two, of whom nothing is graded yet."""
    made = tmp_path / "course"
    made.mkdir()
    demo.make(made)
    shutil.copytree(ROOT / "notebooks" / ASSIGNMENT, made / "notebooks" / ASSIGNMENT)
    (made / "gradebook" / MARKER).unlink()  # real students, who are collected later, come into no invented class
    for folder in (made / "gradebook" / "submitted").iterdir():
        if folder.name not in MARKS:
            shutil.rmtree(folder)
    return use(made, address)


def commands() -> set[str]:
    """Returns the names of all commands, from the command line's own parser."""
    actions = command_line._parser()._actions
    (found,) = (one for one in actions if isinstance(one, argparse._SubParsersAction))
    return {*found.choices}


async def read_one(course: Course, assignments: list[str], port: int, *, show: Callable[[str], object]) -> None:
    """Does what a reader does in place of the server: looks at the page, and gives the one group of answers a mark."""
    asked = essays.question(course, ASSIGNMENT, "mask_essay")
    assert ", given 3 times" in pages.question_page(course, asked)
    (group,) = essays.groups(essays.answers(course, asked))
    essays.save(course, asked, [Given(one.key, Mark(1.5, "Good."), one.seen) for one in group.answers])


def test_every_command(
    course: Course, address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(pages, "serve", read_one)
    monkeypatch.setattr(demo, "Course", lambda: Course(course.root))
    work = course.submitted(ADA, ASSIGNMENT) / f"{ASSIGNMENT}.ipynb"
    (tmp_path / "in").mkdir()
    shutil.copy(work, tmp_path / "in" / f"{RENÉE}_{ASSIGNMENT}.ipynb")
    course.roster.write_text(f"id,first_name,last_name\n{RENÉE},Renée,Côté\n", encoding="utf-8")
    total = f"{AUTOMATIC + 1.5:g}"
    steps: dict[str, tuple[list[str], int, str]] = {
        "collect": ([str(tmp_path / "in"), ASSIGNMENT], 0, "1 collected"),
        "due": ([ASSIGNMENT, "2126-01-12 18:00 Z"], 0, "2126-01-12 18:00 UTC"),
        "extend": ([ASSIGNMENT, RENÉE, "--days", "2"], 0, f"{RENÉE} has 2 days more, until 2126-01-14 18:00"),
        "autograde": (["--workers", "1"], 0, "3 graded"),
        "essays": ([ASSIGNMENT], 0, f"{ASSIGNMENT} mask_essay: 0 of 3 read"),
        "regrade": ([ASSIGNMENT, "--student", ADA, "--exercise", "causal_mask"], 0, f"{total}    {total}"),
        "feedback": ([], 0, ": 3\n"),
        "report": ([ASSIGNMENT], 0, "report"),
        "similar": ([ASSIGNMENT], 0, "similar"),
        "solutions": ([ASSIGNMENT, "--early"], 0, "solutions"),
        "hand-back": ([ASSIGNMENT, "--format", "moodle"], 1, "of 3 students"),
        "export": ([ASSIGNMENT, "--out", "-"], 0, f'"{ADA}","","","{ASSIGNMENT}","{total}",'),
        "doctor": ([str(work), "--no-copy"], 0, "nothing in the file had to be mended"),
        "demo": (["--folder", str(tmp_path / "demo")], 2, "the demo would write its students into"),
    }
    assert {*steps} | WITHOUT_A_CLASS == commands()
    for words in (["build"], ["release"], ["new", ASSIGNMENT, "token_count"]):
        assert not hasattr(command_line.parse(words), "course")
    for name, (arguments, status, expected) in steps.items():
        here = [] if name in ("doctor", "demo") else ["--course", str(course.root)]
        found = command_output(capsys, name, *arguments, *here)
        assert (found[0], expected in found[1]) == (status, True), (name, *found)
        assert not [*course.root.rglob("*.db")], name
    with course.gradebook() as book:
        scores = {one.student_id: one.score for one in book.assignment_submissions(ASSIGNMENT)}
        assert book.find_student(RENÉE).first_name == "Renée"
    assert scores == {ADA: AUTOMATIC + 1.5, RENÉE: AUTOMATIC + 1.5, DENIS: MARKS[DENIS] + 1.5}
    assert total in course.feedback(ADA, ASSIGNMENT).read_text(encoding="utf-8")
    assert (tmp_path / "elsewhere.db").exists() == address.startswith("sqlite")
    assert not (tmp_path / "demo").exists()
