"""The report of a class: what it counts, that it names nobody, and that it needs nothing from outside."""

import re
from pathlib import Path

import nbformat
import pytest

from grading import report
from grading.classroom import ClassroomError
from grading.report import Submission


def verdict(earned: float, mistake: str = "", outcome: str = "", seconds: float = 0.1) -> dict[str, object]:
    outcome = outcome or ("right" if earned == 2 else "wrong")
    hint = f"hint for <{mistake}>" if mistake else ""
    told = {"earned": earned, "points": 2.0, "outcome": outcome, "mistake": mistake, "hint": hint}
    return told | {"sentence": "", "seconds": seconds}


def students() -> list[Submission]:
    made = []
    for number in range(10):
        good = number >= 4
        first = verdict(2) if good else verdict(0.5, "upside down")
        second = verdict(2 if number >= 5 else 0, "" if number >= 5 else "<b>bold</b>")
        last = verdict(2 if number % 2 == 0 else 0, outcome="" if number % 2 == 0 else "late", seconds=9.0)
        sources = {
            "mask": f"def mask(x):  # by student{number}\n    return {number}",
            "weights": "broken (",
            "padding": "y = 1",
        }
        verdicts = {"mask": first, "weights": second, "padding": last}
        made.append(Submission(f"student{number}", verdicts, sources, ["moved"] if number == 0 else []))
    return made


def test_mistakes_are_counted_with_an_example_that_names_nobody() -> None:
    ((mistake, hint, count, example),) = report.mistakes(students(), "mask")
    assert (mistake, hint, count) == ("upside down", "hint for <upside down>", 4)
    assert "def mask(x):" in example
    assert "student" not in example


def test_an_exercise_that_tells_nothing_is_marked() -> None:
    value = report.discrimination(students(), "weights")
    assert value is not None
    assert value > 0.25
    low = report.discrimination(students(), "padding")
    assert low is not None
    assert low < 0.15
    assert report.discrimination(students()[:2], "mask") is None


def test_the_page_needs_no_network_names_nobody_and_escapes() -> None:
    page = report.page("01_causal_mask", students())
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    assert "http" not in re.sub(r"base64,[A-Za-z0-9+/=]+", "", page)
    assert not re.search(r"student\d", page)
    assert "<b>bold</b>" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert page.count('<img alt="') == 2
    assert "<strong>40%</strong> (4)" in page
    assert "<strong>does not discriminate</strong>" in page
    assert "padding: 10 answers took more than 2 s" in page
    assert "padding: 5 answers stopped with an error or were stopped" in page
    assert "1 notebooks had to be put right" in page


def test_a_class_that_is_not_graded_is_told(tmp_path: Path) -> None:
    with pytest.raises(ClassroomError, match="no graded submissions of '01_causal_mask'"):
        report.run(tmp_path, "01_causal_mask")


def test_the_report_reads_what_the_autograder_writes(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook()
    for name in ("weights", "mask"):
        cell = nbformat.v4.new_code_cell(f"def {name}(): return 1")
        cell.metadata["nbgrader"] = {"grade_id": name}
        notebook.cells.append(cell)
    notebook.metadata["grading"] = {"verdicts": {"mask": verdict(2), "weights": verdict(0, "odd")}, "put_right": []}
    path = tmp_path / "gradebook" / "autograded" / "ada" / "01_x" / "01_x.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    (one,) = report.load(tmp_path, "01_x")
    assert list(one.verdicts) == ["weights", "mask"]
    assert one.share == 0.5
    assert report.run(tmp_path, "01_x").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
