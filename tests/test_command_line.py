"""The command line takes an assignment before and behind the options, and says what it cannot take."""

from pathlib import Path

import pytest

from grading.__main__ import main
from grading.command_line import parse

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
    assert main(["grade", A, "--course", str(tmp_path)]) != 0
    assert f"{tmp_path} is no course folder" in capsys.readouterr().err
