"""A class whose gradebook is in PostgreSQL: several writers, and a server that is killed on the way."""

from __future__ import annotations

import argparse
import datetime
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import nbformat
import pytest

from benchmarks.gradebook import by_the_api, rows
from grading.__main__ import main
from grading.autograder import gradebook
from grading.autograder import run as autograde
from grading.autograder.gradebook import UnwritableError, Writer
from grading.autograder.marks import Marked, Written
from grading.autograder.nbgrader_commands import nbgrader
from grading.autograder.outcome import GRADED, UNCHANGED, Outcome
from grading.autograder.penalties import LatePenalties
from grading.autograder.preparation import start_fork_server
from grading.classroom import demo
from grading.classroom.demo_class import MARKER
from grading.folder.course import Course
from grading.folder.errors import CourseError
from tests.classroom.servers import PASSWORD, Server, why_no_server
from tests.classroom.submissions import ASSIGNMENT, AUTOMATIC, recorded_mark
from tests.conftest import why_no_sandbox

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.all,
    pytest.mark.skipif(bool(why_no_server()), reason=why_no_server()),
]
ADA, DENIS = "ada_perfect", "denis_mistaken"
MARKS = {ADA: AUTOMATIC, DENIS: 1.25}
ZERO = 'c.LateSubmissionPlugin.penalty_method = "zero"\n'


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


def use(course: Path, address: str) -> Course:
    """Says in the settings of a course folder where its gradebook is."""
    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(f"\nc.CourseDirectory.db_url = {address!r}\n")
    return Course(course)


Runs = Callable[..., dict[str, Outcome]]


@pytest.fixture(scope="module")
def run() -> Iterator[Runs]:
    """A function that grades, all its runs with one fork server: each takes seconds to start."""
    if why_no_sandbox():
        pytest.skip(why_no_sandbox())
    with start_fork_server(unsafe=False) as fork_server:

        def run(course: Course, log: list[str] | None = None, **settings: Any) -> dict[str, Outcome]:
            on_outcome, on_message = settings.pop("heard", lambda _: None), (list[str]() if log is None else log).append
            wanted = autograde.Settings(course, workers=1, progress=False, **settings)
            return {one.student: one for one in autograde.run(wanted, fork_server, on_outcome, on_message)}

        yield run


@pytest.fixture(scope="module")
def course(server: Server, run: Runs, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A class of two, graded."""
    made = tmp_path_factory.mktemp("postgresql") / "course"
    made.mkdir()
    demo.make(made)
    (made / "gradebook" / MARKER).unlink()  # real students, who are collected later, come into no invented class
    for folder in (made / "gradebook" / "submitted").iterdir():
        if folder.name not in MARKS:
            shutil.rmtree(folder)
    with (made / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(ZERO)
    course = use(made, server.database("class"))
    assert {student: one.score for student, one in run(course).items()} == MARKS
    return course


@pytest.fixture(scope="module")
def notebooks(course: Course) -> list[nbformat.NotebookNode]:
    """Two graded notebooks, of which writers get copies."""
    return [nbformat.read(course.autograded(student, ASSIGNMENT), as_version=4) for student in MARKS]


def copy(course: Course, folder: Path, address: str) -> Course:
    """Returns the class in another folder and another database, which has its assignment and no marks."""
    shutil.copytree(course.root, folder)
    made = use(folder, address)
    with made.gradebook() as new, course.gradebook() as old:
        if not new.assignments:
            source = old.find_notebook(ASSIGNMENT, ASSIGNMENT)
            new.add_assignment(ASSIGNMENT)
            new.add_notebook(ASSIGNMENT, ASSIGNMENT)
            for cell in source.grade_cells:
                new.add_grade_cell(
                    cell.name, ASSIGNMENT, ASSIGNMENT, max_score=cell.max_score, cell_type=cell.cell_type
                )
            for cell in source.solution_cells:
                new.add_solution_cell(cell.name, ASSIGNMENT, ASSIGNMENT)
    return made


def command_output(capsys: pytest.CaptureFixture[str], *command: str) -> tuple[int, str]:
    """Runs a command; returns its status, and all that it has printed, in which there is never a password."""
    capsys.readouterr()  # what was printed before
    status = main([*command])
    captured = capsys.readouterr()
    output = captured.out + captured.err
    assert PASSWORD not in output
    assert "Traceback" not in output
    return status, output


def test_lateness_is_counted_anew(course: Course, run: Runs) -> None:
    with course.gradebook() as book:
        book.update_or_create_assignment(ASSIGNMENT, duedate=datetime.datetime(2026, 1, 12, 17))  # an hour too early
        book.grant_extension(ASSIGNMENT, ADA, hours=2)
    outcomes = run(course)
    assert (outcomes[DENIS].penalty, outcomes[ADA].penalty) == (1.25, 0.0)
    assert run(course, students=[DENIS], force=True)[DENIS].penalty == 1.25
    with course.gradebook() as book:
        book.update_or_create_assignment(ASSIGNMENT, duedate=None)  # Ada's extension stays, where nbgrader would stop
    assert run(course)[DENIS].score == 1.25
    with course.gradebook() as book:
        book.grant_extension(ASSIGNMENT, ADA)


def test_nbgraders_own_commands_write_there(course: Course) -> None:
    graded = course.autograded(DENIS, ASSIGNMENT)
    shutil.rmtree(graded.parent)  # else it is left as it is
    done = nbgrader(course.root, "autograde", ASSIGNMENT, "--student", DENIS)
    assert done.returncode == 0, done.stderr
    assert recorded_mark(course, DENIS) == MARKS[DENIS]
    assert graded.exists()


def test_the_rows_are_those_of_nbgraders_own_api(
    course: Course, server: Server, notebooks: list[nbformat.NotebookNode], tmp_path: Path
) -> None:
    theirs = copy(course, tmp_path / "theirs", f"sqlite:///{tmp_path}/theirs.db")
    ours = copy(course, tmp_path / "ours", server.database("ours"))
    students = {f"s{number}": notebooks[number % 2] for number in range(2)}
    by_the_api(theirs, ASSIGNMENT, students)
    with closing(Writer(ours, LatePenalties(ours))) as writer:
        for _ in range(2):  # the second time the rows are there
            results = writer.write([Marked(ASSIGNMENT, name, notebook, None) for name, notebook in students.items()])
            assert [one.score for one in results if isinstance(one, Written)] == [AUTOMATIC, 1.25]
    assert rows(ours) == rows(theirs)


def test_what_the_database_refuses_costs_its_own_submission_only(
    course: Course, server: Server, notebooks: list[nbformat.NotebookNode], tmp_path: Path
) -> None:
    made = copy(course, tmp_path / "course", server.database("refused"))
    names = ["before", "x" * 129, "behind"]  # nbgrader's column has 128 signs
    with closing(Writer(made, LatePenalties(made))) as writer:
        results = writer.write([Marked(ASSIGNMENT, name, notebooks[0], None) for name in names])
    assert isinstance(results[1], UnwritableError)
    assert "too long" in str(results[1])
    assert {*rows(made)} == {"before", "behind"}
    assert not made.autograded(names[1], ASSIGNMENT).exists()
    assert not list(made.class_folder.rglob("*.half"))


def test_two_writers_and_a_reader_of_essays_at_once(
    course: Course, server: Server, notebooks: list[nbformat.NotebookNode], tmp_path: Path
) -> None:
    address = server.database("both")
    folders = [copy(course, tmp_path / name, address) for name in ("one", "two")]
    students = {f"s{number:03d}": notebooks[number % 2] for number in range(40)}
    problems = list[BaseException]()

    def write(course: Course, order: int, batch: int) -> None:
        try:
            marked = [Marked(ASSIGNMENT, name, notebook, None) for name, notebook in students.items()][::order]
            with closing(Writer(course, LatePenalties(course))) as writer:
                for start in range(0, len(marked), batch):
                    assert all(isinstance(one, Written) for one in writer.write(marked[start : start + batch]))
        except BaseException as problem:  # noqa: BLE001 - for the test, in its own thread
            problems.append(problem)

    threads = [threading.Thread(target=write, args=args) for args in zip(folders, (1, -1), (7, 5), strict=True)]
    with folders[0].gradebook() as book:
        book.update_or_create_student("s000")
        book.update_or_create_submission(ASSIGNMENT, "s000")
        for thread in threads:
            thread.start()
        for mark in (0.5, 1.0, 1.5):
            grade = book.find_grade("mask_essay", ASSIGNMENT, ASSIGNMENT, "s000")
            grade.manual_score, grade.needs_manual_grade = mark, False
            book.db.commit()
        for thread in threads:
            thread.join()
    assert not problems, problems
    found = rows(folders[1])
    assert {*found} == {*students}
    assert all(len(one[1]) == 1 for one in found.values())  # one notebook for each, and its marks once
    assert ("mask_essay", None, 1.5) in [grade[:3] for grade in found["s000"][1][0][2]]
    with folders[0].gradebook() as book:
        scores = {one.student_id: one.score for one in book.assignment_submissions(ASSIGNMENT)}
    assert scores.pop("s000") == AUTOMATIC + 1.5
    assert [*scores.values()].count(AUTOMATIC) == 19
    assert [*scores.values()].count(1.25) == 20


def test_a_server_killed_in_the_middle_of_a_run_and_started_again(course: Course, server: Server, run: Runs) -> None:
    before, messages, finished = rows(course), list[str](), list[Outcome]()
    again = threading.Timer(1.0, server.start)

    def kill(outcome: Outcome) -> None:
        finished.append(outcome)
        if len(finished) == 1:
            server.kill()
            again.start()

    outcomes = run(course, messages, force=True, heard=kill)
    again.join()
    assert {student: one.state for student, one in outcomes.items()} == dict.fromkeys(MARKS, GRADED)
    assert rows(course) == before
    (sentence,) = messages
    assert re.search(
        r"did not answer for [\d.]+ s, and does again: no mark is lost, and none is written twice", sentence
    )
    assert f"PostgreSQL's database class on 127.0.0.1:{server.port}" in sentence
    assert PASSWORD not in sentence


def test_a_server_that_stays_away_ends_the_run_and_the_next_goes_on(
    course: Course, server: Server, run: Runs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = rows(course)
    monkeypatch.setattr(gradebook, "WAIT", 0.5)
    for path in course.class_folder.rglob("autograded/*/*/*.ipynb"):
        path.unlink()
    with pytest.raises(CourseError) as stopped:
        run(course, heard=lambda outcome: server.kill())
    assert re.search(r"has not answered for 0 s: .*; what was written is whole, .* it goes on", str(stopped.value))
    try:
        hand_back = ("hand-back", ASSIGNMENT, "--format", "moodle")
        for command in (("report", ASSIGNMENT), ("feedback", ASSIGNMENT), ("export",), hand_back):
            status, output = command_output(capsys, *command, "--course", str(course.root))
            assert status == 2
            assert re.fullmatch(r"the gradebook \(PostgreSQL.*\) cannot be reached: .* same command again\.\n", output)
        with pytest.raises(CourseError, match="cannot be reached"):
            run(course)
    finally:
        server.start()
    states = {student: one.state for student, one in run(course).items()}
    assert sorted(states.values()) == [GRADED, UNCHANGED]  # what was written before the server went is not done again
    assert rows(course) == before


def test_a_wrong_password_is_reported_without_it(
    course: Course, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(course.root, tmp_path / "course", ignore=shutil.ignore_patterns("gradebook"))
    use(tmp_path / "course", server.address("class", password=f"{PASSWORD}-wrong"))
    status, output = command_output(capsys, "export", "--course", str(tmp_path / "course"))
    assert status == 2
    assert "password authentication failed" in output


def test_a_database_of_something_else_and_one_that_cannot_hold_names(server: Server) -> None:
    server.ask("create database other", "create database ascii encoding 'SQL_ASCII' template template0")
    server.ask("create table own (id int)", database="other")
    from grading.folder.database import Address

    other, ascii_ = (Address(server.address(name), Path()) for name in ("other", "ascii"))
    with pytest.raises(CourseError, match="expected an empty database"):
        other.refuse_damaged()
    with pytest.raises(CourseError, match="encoding SQL_ASCII"):
        ascii_.open("course")
    assert not ascii_.exists()


def test_the_demo_writes_nobody_into_a_class(course: Course, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo, "Course", lambda: course)
    with pytest.raises(CourseError, match="the demo would write its students into PostgreSQL's database class"):
        demo.command(argparse.Namespace(folder=str(tmp_path), unsafe=False))
    assert not any(tmp_path.iterdir())
