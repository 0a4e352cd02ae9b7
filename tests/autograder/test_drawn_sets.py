"""Drawn questions that are kept: found again, exact, by nobody else, and never trusted when they are not one's own."""

import dataclasses
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grading.authoring import bank
from grading.autograder import drawn_sets
from grading.autograder.drawn_sets import DrawnSets
from grading.definitions import catalogue, drawn, exercise
from grading.definitions.examiner import examine
from grading.definitions.exercise import Exercise
from grading.sandbox.fork_server import ForkServer
from grading.sandbox.student_process import ForkServerClient
from tests.tiers import all_only
from tutor.checking.answers import InProcess

NOTEBOOK, NAME, SEED = "01_causal_mask", "padding_mask", "e3a1-of-one-set"
SECRET = b"the secret of a course"
EXERCISES = [(notebook, name) for notebook in catalogue.notebooks() for name in catalogue.names(notebook)]
CHEAP = [(NOTEBOOK, NAME), ("05_parameter_counts", "count_parameters"), ("16_real_model", "RMSNorm")]


@pytest.fixture
def report() -> list[str]:
    """Sentences that were reported."""
    return []


@pytest.fixture
def defined(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Exercise]:
    """Has one exercise be all of its notebook; each call makes it anew, as a new process has it."""
    original = exercise.load_one(NOTEBOOK, NAME)

    def anew() -> Exercise:
        made = dataclasses.replace(original)
        monkeypatch.setattr(exercise, "load", lambda notebook: {NAME: made})
        return made

    return anew


def text(one: Exercise, seed: str = SEED) -> str:
    return json.dumps([drawn.encode(one, drawn.EVERYBODY), drawn.encode(one, seed)])


def asks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has each question to the reference fail."""

    def reply(self: Exercise, ask: Any) -> Any:
        raise AssertionError("the reference is asked")

    monkeypatch.setattr(Exercise, "reply", reply)


@pytest.mark.parametrize("one", [*CHEAP, *all_only(*(one for one in EXERCISES if one not in CHEAP))], ids="-".join)
def test_what_was_kept_is_what_was_drawn(one: tuple[str, str]) -> None:
    notebook, name = one
    original = exercise.load_one(notebook, name)
    answer = bank.run(next(one for one in bank.answers(notebook) if one.exercise == name and not one.right))
    examine(original, InProcess(answer, "cpu"), SEED)  # known mistakes are asked, too
    again = dataclasses.replace(original)
    for seed in (drawn.EVERYBODY, SEED):
        drawn.take(again, seed, json.loads(json.dumps(drawn.encode(original, seed))))
        assert drawn.replies_of_mistakes(again, seed) == drawn.replies_of_mistakes(original, seed)
    assert text(again) == text(original)
    assert text(again, "another seed") == text(original, "another seed")  # also what is drawn beside it
    assert again.variant(SEED).order == original.variant(SEED).order
    verdicts = [str(examine(one, InProcess(answer, "cpu"), SEED)) for one in (original, again)]
    assert verdicts[0] == verdicts[1]


def test_the_next_run_asks_no_reference(
    defined: Callable[[], Exercise], tmp_path: Path, report: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, folder = defined(), tmp_path / "gradebook" / "kept"
    DrawnSets(folder, SECRET, report.append).draw(NOTEBOOK, SEED)
    made = text(first)
    second = defined()
    asks_nothing(monkeypatch)
    DrawnSets(folder, SECRET, report.append).draw(NOTEBOOK, SEED)
    assert text(second) == made
    assert report == []


def test_without_a_folder_it_is_drawn_in_memory(
    defined: Callable[[], Exercise], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, made = text(defined()), defined()
    DrawnSets().draw(NOTEBOOK, SEED)
    asks_nothing(monkeypatch)
    assert text(made) == wanted


def test_what_is_found_out_of_mistakes_is_kept(
    defined: Callable[[], Exercise], tmp_path: Path, report: list[str]
) -> None:
    first, sets = defined(), DrawnSets(tmp_path / "kept", SECRET, report.append)
    sets.draw(NOTEBOOK, SEED)
    wrong = next(one for one in bank.answers(NOTEBOOK) if one.exercise == NAME and one.mistake)
    assert examine(first, InProcess(bank.run(wrong)), SEED).mistake == wrong.mistake
    known = drawn.replies_of_mistakes(first, SEED)
    sets.keep(NOTEBOOK, SEED)
    second = defined()
    DrawnSets(tmp_path / "kept", SECRET, report.append).draw(NOTEBOOK, SEED)
    assert drawn.replies_of_mistakes(second, SEED) == known > 0
    assert text(second) == text(first)


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_only_its_owner_can_read_it(defined: Callable[[], Exercise], tmp_path: Path, report: list[str]) -> None:
    defined()
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o755)
    before = os.umask(0)
    try:
        DrawnSets(folder, SECRET, report.append).draw(NOTEBOOK, SEED)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in files(folder)] == [0o600, 0o600]
    assert SEED not in "".join(map(str, files(folder))) + "".join(path.read_text() for path in files(folder))


@pytest.mark.sandbox
def test_a_students_process_does_not_see_it(defined: Callable[[], Exercise], tmp_path: Path, report: list[str]) -> None:
    defined()
    DrawnSets(tmp_path / "kept", SECRET, report.append).draw(NOTEBOOK, SEED)
    (path, *_) = files(tmp_path / "kept")
    with ForkServer() as fork_server, ForkServerClient(fork_server) as client:
        student = client.student()
        assert "FileNotFoundError" in student.run(f"open({str(path)!r})", 20)
        assert "FileNotFoundError" in student.run(f"import os\nos.listdir({str(path.parent)!r})", 20)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def change(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"hidden": ', b'"hidden":  '))


def exchange(path: Path) -> None:
    """Puts a file that this course has signed in the place of another."""
    other = next(one for one in path.parent.iterdir() if one != path)
    path.write_bytes(other.read_bytes())


def link(path: Path) -> None:
    other = path.with_name("elsewhere")
    path.rename(other)
    path.symlink_to(other)


def sign_what_is_no_question(path: Path) -> None:
    """Writes what only a fault of the course's own could write."""
    folder = path.parents[2]
    data = b'[{"stages": 1}]'
    signature = DrawnSets(folder, SECRET)._signature(path.relative_to(folder), data)
    path.write_bytes(signature + b"\n" + data)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("harm", [cut, change, exchange, link, sign_what_is_no_question, empty])
def test_what_is_damaged_or_foreign_is_drawn_anew(
    defined: Callable[[], Exercise], tmp_path: Path, report: list[str], harm: Callable[[Path], None]
) -> None:
    first, folder = defined(), tmp_path / "kept"
    DrawnSets(folder, SECRET, report.append).draw(NOTEBOOK, SEED)
    for path in files(folder):
        harm(path)
    second = defined()
    DrawnSets(folder, SECRET, report.append).draw(NOTEBOOK, SEED)
    assert text(second) == text(first)
    assert len(report) == 1
    assert "is drawn anew: " in report[0]
    report.clear()
    defined()
    DrawnSets(folder, SECRET, report.append).draw(NOTEBOOK, SEED)  # mended
    assert report == []


def test_another_state_of_the_course_finds_nothing_and_removes_it(
    defined: Callable[[], Exercise], tmp_path: Path, report: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, kept = tmp_path / "kept", list[set[Path]]()
    for secret, environment in ((SECRET, ""), (b"another secret", ""), (b"another secret", "other libraries")):
        monkeypatch.setattr(drawn_sets, "environment_key", lambda assignment, key=environment: key)
        drawn_sets._state.cache_clear()
        defined()
        DrawnSets(folder, secret, report.append).draw(NOTEBOOK, SEED)
        kept.append(set(files(folder)))
    drawn_sets._state.cache_clear()
    assert [len(one) for one in kept] == [2, 2, 2]
    assert len(set.union(*kept)) == 6
    assert report == []


def full(*given: Any, **named: Any) -> Any:
    raise OSError(28, "No space left on device")


def test_on_a_full_disk_it_is_drawn_as_without(
    defined: Callable[[], Exercise], tmp_path: Path, report: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = text(defined())
    made, sets = defined(), DrawnSets(tmp_path / "kept", SECRET, report.append)
    monkeypatch.setattr(drawn_sets, "replacing", full)
    sets.draw(NOTEBOOK, SEED)
    sets.keep(NOTEBOOK, SEED)
    asks_nothing(monkeypatch)
    assert text(made) == wanted
    assert len(report) == 1
    assert "drawn questions cannot be kept ([Errno 28] No space left on device): they are drawn again" in report[0]


def a_file(path: Path) -> None:
    path.write_text("")


def a_link(path: Path) -> None:
    (path.parent / "of somebody else").mkdir()
    path.symlink_to(path.parent / "of somebody else")


def below_a_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("")


@pytest.mark.parametrize("make", [a_file, a_link, below_a_file])
def test_where_no_folder_can_be_made_it_is_drawn_as_without(
    defined: Callable[[], Exercise], tmp_path: Path, report: list[str], make: Callable[[Path], None]
) -> None:
    folder = tmp_path / "gradebook" / "kept"
    folder.parent.mkdir()
    make(folder)
    wanted, made = text(defined()), defined()
    DrawnSets(folder, SECRET, report.append).draw(NOTEBOOK, SEED)
    assert text(made) == wanted
    assert len(report) == 1
    assert "drawn questions cannot be kept" in report[0]
    assert files(tmp_path / "of somebody else") == []
