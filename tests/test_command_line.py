"""The command line takes an assignment before and behind the options, and says what it cannot take."""

import argparse
import importlib
import re
from pathlib import Path

import pytest

from grading.__main__ import main
from grading.autograder.preparation import start_fork_server
from grading.command_line import parse
from grading.folder.errors import CourseError

A, B = "01_causal_mask", "02_positional_encoding"


@pytest.mark.parametrize(
    "words",
    [
        "collect here 01_causal_mask --course x",
        "collect here --course x 01_causal_mask",
        "collect --course x here " + A,
    ],
)
def test_collect_takes_its_assignment_anywhere(words: str) -> None:
    options = parse(words.split())
    assert (options.path, options.assignment, options.course) == (Path("here"), A, Path("x"))


@pytest.mark.parametrize("words", [f"{A} {B} --workers 1", f"{A} --workers 1 {B}", f"--workers 1 {A} {B}"])
def test_autograde_takes_its_assignments_anywhere(words: str) -> None:
    assert parse(["autograde", *words.split()]).assignment == [A, B]


@pytest.mark.parametrize(
    "words", ["collect here a --json b", "autograde --quickly", "report a b", "doctor f --no-copy a b"]
)
def test_what_is_too_much_is_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words.split())
    assert "unrecognized arguments" in capsys.readouterr().err


def test_a_folder_without_a_course_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["regrade", A, "--course", str(tmp_path)]) != 0
    assert f"{tmp_path} is no course folder" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "told"), [
    ("autograde --course /nope", "there is no folder /nope; expected a course folder"),
    ("export --course /nope", "there is no folder /nope"),
    ("autograde --workers 0", "--workers 0 would grade nothing; expected 1 or more"),
    ("autograde --workers -2", "--workers -2 would grade nothing"),
    ("build 99", "99"),
    ("build 99 --check", "99"),
    ("new 99_none token_count", "no notebook is called '99_none'"),
    ("prove causal_maks", "no exercise is called 'causal_maks'; did you mean causal_mask?"),
    ("doctor .", ". is a folder; expected a notebook file"),
    ("doctor nope.ipynb", "there is no file nope.ipynb"),
])  # fmt: skip
def test_what_cannot_be_done_is_said_in_one_sentence(words: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    message = capsys.readouterr().err.strip()
    assert told in message
    assert "\n" not in message


COMMANDS = [
    "autograde",
    "build",
    "collect",
    "demo",
    "doctor",
    "due",
    "essays",
    "extend",
    "export",
    "feedback",
    "hand-back",
    "new",
]
COMMANDS += ["regrade", "report", "similar", "solutions"]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_commands_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    (_, examples) = re.split(r"^examples?:\n", capsys.readouterr().out, flags=re.MULTILINE)
    line = examples.splitlines()[0]
    assert line.startswith(f"  python -m grading {command}")
    words = line.replace("'", "").split()[3:]
    assert parse(words).run.endswith(":command")


def test_every_command_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    known = "build,new,prove,release,book,demo,due,extend,collect,autograde,regrade,essays,similar,feedback,hand-back"
    assert f"{{{known},solutions,report,export,doctor}}" in capsys.readouterr().out


class Undecided(CourseError):
    status = 1


@pytest.mark.parametrize(
    ("problem", "status", "message"),
    [
        (CourseError("take the other one."), 2, "take the other one.\n"),
        (Undecided("take one."), 1, "take one.\n"),
        (OSError(28, "No space left on device"), 2, "a file cannot be read or written ([Errno 28] No space left"),
        (KeyboardInterrupt(), 130, "stopped; what was written is whole. Run the same command again"),
    ],
)
def test_what_a_person_can_mend_is_one_sentence(
    problem: BaseException,
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def command(options: argparse.Namespace) -> int:
        raise problem

    monkeypatch.setattr(importlib.import_module("grading.classroom.collect"), "command", command)
    assert main(["collect", "here"]) == status
    captured = capsys.readouterr()
    assert captured.err.startswith(message)
    assert not captured.out


def test_windows_is_told_that_it_cannot_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(CourseError, match="Nothing was graded; grade on Linux"):
        start_fork_server(unsafe=True)
