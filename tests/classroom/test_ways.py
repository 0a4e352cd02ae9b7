"""Feedback comes back by every way that the docs name, to the attempt that it is about, and nobody stops the others."""

import datetime
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from grading.__main__ import main
from grading.autograder import run as autograde
from grading.autograder.nbgrader_commands import nbgrader
from grading.autograder.outcome import GRADED, UNCHANGED
from grading.classroom import demo
from grading.classroom.demo_class import MARKER
from grading.folder.course import Course
from grading.notebooks.beside import SECRET, STAMP, read_beside, write_beside
from tests.tiers import all_only

pytestmark = pytest.mark.sandbox

A = "00_start_here"  # one exercise: grading it is quick
RIGHT, WRONG = "def batch_shape(b, n, d):\n    return (b, n, d)", "def batch_shape(b, n, d):\n    return (b, d, n)"
GRADE = FEEDBACK = ("command", "nbgrader", "formgrader")
RELEASE = ("hand-back", "nbgrader", "formgrader")
# Each way of a step with each way of the two others.
WAYS = [(grade, page, RELEASE[(i + j) % 3]) for i, grade in enumerate(GRADE) for j, page in enumerate(FEEDBACK)]
SAMPLE = [("command", "command", "hand-back"), ("command", "formgrader", "formgrader")]  # no program has to start


def config_of(course: Path) -> Config:
    config = Config()
    config.merge(PyFileConfigLoader("nbgrader_config.py", str(course)).load_config())
    return config


def formgrader(course: Path) -> NbGraderAPI:
    """What formgrader's buttons call."""
    config = config_of(course)
    folder = CourseDirectory(config=config)
    return NbGraderAPI(
        folder, Authenticator(config=config), exchange=ExchangeFactory(config=config), config=config
    )  # fmt: skip


class Student:
    """A student with a folder of their own, who works with nbgrader's exchange as the Assignment List does."""

    def __init__(self, course: Path, name: str) -> None:
        self.name, self.home = name, course.parent / "homes" / name
        self._config = config_of(course)
        self._config.Exchange.cache = str(self.home / "cache")
        self._config.Exchange.assignment_dir = str(self.home)

    def _exchange(self, action: str, assignment: str = A, **more: object) -> Any:
        config = Config(self._config)
        config.CourseDirectory.assignment_id, config.CourseDirectory.student_id = assignment, self.name
        made = getattr(ExchangeFactory(config=config), action)
        folder = CourseDirectory(config=config)
        return made(coursedir=folder, authenticator=Authenticator(config=config), config=config, **more).start()

    def hands_in(self, answer: str, file: str = f"{A}.ipynb") -> None:
        notebook = demo.fill(nbformat.read(Course().released(A), as_version=4), {"batch_shape": answer})
        (self.home / A).mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, self.home / A / file)
        self._exchange("Submit")

    def listed(self) -> list[dict[str, Any]]:
        """Returns the attempts, as the Assignment List shows them, the oldest first."""
        [found] = self._exchange("List", cached=True)
        return list(found["submissions"])

    def fetches(self) -> list[str]:
        """Returns the page of each attempt, the oldest first; "" stands for none."""
        self._exchange("FetchFeedback")
        folders = [self.home / A / "feedback" / one["timestamp"] for one in self.listed()]
        return ["".join(page.read_text("utf-8") for page in folder.glob("*.html")) for folder in folders]


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with an exchange, in which the assignment is released, and nobody has handed in yet."""
    course = tmp_path_factory.mktemp("empty")
    demo.make(course, A)
    shutil.rmtree(Course(course).submissions)
    (course / "gradebook" / MARKER).unlink()  # `collect` takes nobody else into the class of the demo
    inbound = course / "gradebook/exchange/transformers/inbound"
    inbound.mkdir(parents=True)
    for folder in (course / "gradebook/exchange", inbound):
        folder.chmod(0o777)
    with Course(course).gradebook():  # made here: nbgrader looks for `alembic` on PATH to make one
        button(formgrader(course).generate_assignment(A))
    button(formgrader(course).release_assignment(A))
    return course


def copied(course: Path, folder: Path) -> Path:
    return Path(shutil.copytree(course, folder / "course"))


def command(course: Path, *arguments: str) -> None:
    done = nbgrader(course, *arguments)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Traceback" not in done.stderr


def button(done: dict[str, Any]) -> str:
    assert done["success"], done
    return str(done["log"])


def collect(course: Path) -> str:
    return button(formgrader(course).collect(A))


def only(students: Sequence[str]) -> list[str]:
    return [word for student in students for word in ("--student", student)]


def grade(course: Path, way: str, *students: str) -> None:
    if way == "command":
        assert main(["autograde", A, *only(students), "--course", str(course)]) == 0
    for student in students if way != "command" else ():
        if way == "nbgrader":
            command(course, "autograde", A, "--student", student)
        else:
            button(formgrader(course).autograde(A, student))


def write_pages(course: Path, way: str, *students: str) -> None:
    if way == "command":
        assert main(["feedback", A, *only(students), "--course", str(course)]) == 0
    for student in students if way != "command" else ():
        if way == "nbgrader":
            command(course, "generate_feedback", A, "--force", "--student", student)
        else:
            button(formgrader(course).generate_feedback(A, student))


def release(course: Path, way: str, *students: str) -> None:
    if way == "hand-back":
        assert main(["hand-back", A, "--format", "exchange", *only(students), "--course", str(course)]) == 0
    for student in students if way != "hand-back" else ():
        if way == "nbgrader":
            command(course, "release_feedback", A, "--student", student)
        else:
            button(formgrader(course).release_feedback(A, student))


@pytest.mark.parametrize("ways", [SAMPLE, *all_only([one for one in WAYS if one not in SAMPLE])], ids=len)
def test_the_page_comes_back(empty: Path, tmp_path: Path, ways: list[tuple[str, ...]]) -> None:
    """A class in which each student is graded, gets a page, and gets it back in another combination of ways."""
    course = copied(empty, tmp_path)
    students = [Student(course, "-".join(one)) for one in ways]
    for student in students:
        student.hands_in(RIGHT + f"  # {student.name}")
    collect(course)
    for place, step in enumerate((grade, write_pages, release)):
        for way in dict.fromkeys(one[place] for one in ways):
            chosen = ["-".join(one) for one in ways if one[place] == way]
            pattern = "-".join(way if number == place else "*" for number in range(3))  # one program for all of them
            step(course, way, *([pattern] if way == "nbgrader" else chosen))
    for student in students:
        [attempt] = student.listed()
        assert attempt["has_exchange_feedback"], student.name  # the Assignment List offers it
        [page] = student.fetches()
        assert "1 of 1 points" in page, student.name
        assert student.name in page
        assert student.listed()[0]["has_local_feedback"]


# --- several attempts -------------------------------------------------------------------------------------------------


@pytest.fixture
def course(empty: Path, tmp_path: Path) -> Path:
    return copied(empty, tmp_path)


def is_right(page: str) -> bool | None:
    """Says whether a page gives the point; None for no page."""
    return ("1 of 1 points" in page) if page else None


@pytest.mark.all
@pytest.mark.parametrize("way", ["command", "formgrader"])
def test_a_page_goes_back_to_the_attempt_that_it_is_about(course: Path, way: str) -> None:
    ada, back = Student(course, "ada"), "hand-back" if way == "command" else way
    ada.hands_in(WRONG)
    collect(course)
    grade(course, way, "ada")
    write_pages(course, way, "ada")
    ada.hands_in(RIGHT)  # before the page of the first attempt is given back
    collect(course)
    release(course, back, "ada")
    assert [is_right(page) for page in ada.fetches()] == [False, None]
    write_pages(course, way, "ada")  # nothing newer was graded
    release(course, back, "ada")
    assert [is_right(page) for page in ada.fetches()] == [False, None]
    grade(course, way, "ada")
    if way == "command":  # the page is of the other attempt
        assert main(["hand-back", A, "--format", "exchange", "--course", str(course)]) == 1
    else:
        release(course, back, "ada")
    assert [is_right(page) for page in ada.fetches()] == [False, None]
    write_pages(course, way, "ada")
    release(course, back, "ada")
    assert [is_right(page) for page in ada.fetches()] == [False, True]
    assert main(["regrade", A, "--student", "ada", "--course", str(course)]) == 0
    write_pages(course, way, "ada")
    release(course, back, "ada")
    assert [is_right(page) for page in ada.fetches()] == [False, True]


@pytest.mark.all
def test_one_exercise_of_a_newer_attempt_is_not_put_into_the_page_of_the_older(course: Path) -> None:
    ada = Student(course, "ada")
    ada.hands_in(WRONG)
    collect(course)
    grade(course, "command", "ada")
    ada.hands_in(RIGHT)
    collect(course)
    assert main(["regrade", A, "--student", "ada", "--exercise", "batch_shape", "--course", str(course)]) == 0
    submitted, graded = Course(course).submitted("ada", A), Course(course).autograded("ada", A)
    assert read_beside(graded.parent) == read_beside(submitted) != {}
    assert [one.state for one in autograde.run(autograde.Settings(Course(course), progress=False))] == [UNCHANGED]


@pytest.mark.all
def test_the_same_answers_handed_in_again_are_the_newer_attempts(course: Path) -> None:
    ada = Student(course, "ada")
    for _ in range(2):
        ada.hands_in(RIGHT)
        collect(course)
        grade(course, "command", "ada")
    write_pages(course, "command", "ada")
    release(course, "hand-back", "ada")
    assert [is_right(page) for page in ada.fetches()] == [None, True]


@pytest.mark.all
def test_a_newer_attempt_that_came_otherwise_is_not_given_to_the_older(course: Path) -> None:
    ada = Student(course, "ada")
    ada.hands_in(WRONG)
    collect(course)
    grade(course, "command", "ada")
    mail = course.parent / f"ada_{A}.ipynb"
    nbformat.write(demo.fill(nbformat.read(Course().released(A), as_version=4), {"batch_shape": RIGHT}), mail)
    assert main(["collect", str(mail), "--course", str(course)]) == 0
    grade(course, "command", "ada")
    write_pages(course, "command", "ada")
    log = button(formgrader(course).release_feedback(A, "ada"))
    assert "ada gets no page: the submission did not come through the exchange" in log
    assert ada.fetches() == [""]
    assert main(["hand-back", A, "--format", "exchange", "--course", str(course)]) == 1


# --- odd submissions --------------------------------------------------------------------------------------------------


@pytest.mark.all
def test_a_renamed_notebook_and_one_with_another_beside_it_get_their_page(course: Path) -> None:
    ada, bob = Student(course, "ada"), Student(course, "bob")
    ada.hands_in(RIGHT, "my 00.ipynb")
    bob.hands_in(RIGHT)
    bob.hands_in(WRONG, "scratch.ipynb")  # now both files lie in the folder
    collect(course)
    grade(course, "command", "ada", "bob")
    write_pages(course, "formgrader", "ada", "bob")
    release(course, "formgrader", "ada", "bob")
    for student in (ada, bob):
        assert student.listed()[-1]["has_exchange_feedback"]
        assert is_right(student.fetches()[-1])


@pytest.mark.all
def test_submissions_without_a_secret_stop_nobody(course: Path) -> None:
    secrets = {"bob": None, "cay": b"", "dan": b"\xff\xfe", "eve": b"x" * 5000}
    students = [Student(course, name) for name in ("ada", *secrets, "zoe")]
    for student in students:
        student.hands_in(RIGHT)
    for name, secret in secrets.items():
        [folder] = (course / "gradebook/exchange/transformers/inbound").glob(f"{name}+*")
        folder.joinpath(SECRET).unlink()
        if secret is not None:
            folder.joinpath(SECRET).write_bytes(secret)
    collect(course)
    grade(course, "command")
    write_pages(course, "command")
    log = button(formgrader(course).release_feedback(A))
    assert [line for line in log.splitlines() if "gets no page" in line] == [
        f"[WARNING] {name} gets no page: the submission did not come through the exchange (nbgrader collect)"
        for name in secrets
    ]
    assert [is_right(student.fetches()[0]) for student in students] == [True, None, None, None, None, True]


def test_files_beside_a_notebook_are_copied_as_nbgrader_does_and_links_are_not(course: Path) -> None:
    folder = Course(course).submitted("ada", A)
    for name in ("picture.png", "data/table.csv", ".hidden", "mine.py", "a" * 250, "feedback/old.html", "x.IPYNB"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode())
    (folder / f"{A}.ipynb").write_bytes(Course().released(A).read_bytes())
    (folder / "secret.txt").symlink_to(course / "nbgrader_config.py")
    (folder / STAMP).write_text("as soon as possible")
    (folder / SECRET).symlink_to(course / "nbgrader_config.py")
    messages = list[str]()
    settings = autograde.Settings(Course(course), progress=False)
    [outcome] = autograde.run(settings, report=messages.append)
    assert outcome.state == GRADED
    graded = Course(course).autograded("ada", A)
    found = sorted(str(path.relative_to(graded.parent)) for path in graded.parent.rglob("*") if path.is_file())
    assert found == [f"{A}.ipynb", "data/table.csv", "picture.png"]
    assert sorted(sentence.partition(" ")[0][:10] for sentence in messages) == [
        str(folder)[:10],  # its timestamp.txt holds no time
        "aaaaaaaaaa",
        "secret.txt",
    ]


def test_a_folder_that_is_called_like_one_of_the_two_files_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / SECRET / "deep").mkdir(parents=True)
    (tmp_path / STAMP).mkdir()
    write_beside(tmp_path, {SECRET: b"of ada"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {SECRET: b"of ada"}


# --- when a submission came in ----------------------------------------------------------------------------------------


def stamp_of(course: Path, student: str) -> datetime.datetime:
    stamp = Course(course).received(student, A)
    assert stamp is not None
    return stamp


def test_nobody_can_date_work_back(course: Path) -> None:
    inbound = course / "gradebook/exchange/transformers/inbound"
    began = datetime.datetime.now(datetime.timezone.utc)
    for name in ("honest", "file", "folder", "later", "touched", "nonsense"):
        Student(course, name).hands_in(RIGHT)
    folders = {path.name.partition("+")[0]: path for path in inbound.iterdir()}
    old = "2000-01-01 00:00:00.000000 UTC"
    (folders["file"] / STAMP).chmod(0o644)
    (folders["file"] / STAMP).write_text(old)
    for name, time in (("folder", old), ("touched", old), ("later", "2999" + old[4:]), ("nonsense", "last week")):
        folders[name] = folders[name].rename(inbound / f"{name}+{A}+{time}+x")
    os.utime(folders["touched"], (0, 0))
    for path in folders["touched"].iterdir():
        os.utime(path, (0, 0))
    log = collect(course)
    for name, folder in folders.items():
        assert began <= stamp_of(course, name) <= datetime.datetime.now(datetime.timezone.utc)
        renamed = name not in ("honest", "file")
        assert (f"{folder} came in at" in log) == renamed, name
    assert str(stamp_of(course, "honest")).partition("+")[0] in folders["honest"].name
    assert (Course(course).submitted("file", A) / STAMP).read_text() != old
    assert "No newer submission to collect: touched" in collect(course)


@pytest.mark.all
def test_an_answer_that_was_changed_after_the_due_date_is_late(course: Path) -> None:
    ada = Student(course, "ada")
    ada.hands_in(WRONG)
    [folder] = (course / "gradebook/exchange/transformers/inbound").glob("ada+*")
    # As if it were of yesterday: the name alone can be made so.
    yesterday = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1)
    folder.rename(folder.with_name(f"ada+{A}+{yesterday:%Y-%m-%d %H:%M:%S.%f} UTC+x"))
    with Course(course).gradebook() as book:
        book.update_or_create_assignment(A, duedate=yesterday.replace(tzinfo=None) + datetime.timedelta(hours=1))
    collect(course)
    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write('c.LateSubmissionPlugin.penalty_method = "zero"\n')
    grade(course, "command", "ada")
    with Course(course).gradebook() as book:
        assert book.find_submission(A, "ada").total_seconds_late > 80_000


@pytest.mark.all
def test_an_exchange_that_was_restored_can_be_believed(course: Path) -> None:
    Student(course, "ada").hands_in(RIGHT)
    [folder] = (course / "gradebook/exchange/transformers/inbound").glob("ada+*")
    folder.rename(folder.with_name(f"ada+{A}+2026-01-12 17:00:00.000000 UTC+x"))
    command(course, "collect", A, "--CollectOwned.check_time=False")
    assert f"{stamp_of(course, 'ada'):%Y-%m-%d %H:%M}" == "2026-01-12 17:00"
