"""The report of a class: what it counts, that it names nobody, and that it needs nothing from outside."""

import re
from pathlib import Path

import nbformat
import pytest

from grading.errors import CourseError
from grading.pages import report
from grading.pages.report import Submission


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
    assert not re.search(r"https?:", page)
    assert not re.search(r"student\d", page)
    assert "<b>bold</b>" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert page.count('<svg role="img" aria-label="') == 2
    assert "How the 10 students did in each exercise: mask: 6 right, 4 wrong; weights:" in page
    assert "Number of students by share of points: 2 between 0% and 10%" in page
    assert "<strong>40%</strong> (4)" in page
    assert page.count("does not discriminate") == 1
    assert "padding: answers that took more than 2 s: 10" in page
    assert "padding: answers that stopped with an error, or were stopped: 5" in page
    assert "put right (copied, moved or renamed cells and files): 1" in page


def test_what_stands_first_is_what_most_got_wrong() -> None:
    page = report.page("01_causal_mask", students(), ungraded=3, unread=2)
    first = page.index("<strong>50%</strong> in weights")
    assert first < page.index("<strong>40%</strong> in mask") < page.index("<h2>Marks</h2>")
    assert "Handed in without a mark: 3" in page
    assert "With an essay still to be read: 2." in page


def test_examples_name_nobody_and_stay_python() -> None:
    source = """def mask(size, ada=1):
    \'\'\'Written by Ada Lovelace.\'\'\'
    # Ada L.
    lovelace_mask = torch.einsum("ij", adaptive[:, None])  # mine
    print("hello, I am Ada")
    return lovelace_mask"""
    example = report.anonymous(source, ["ada_l", "Ada", "Lovelace"])
    assert not re.search(r"lovelace|\bada\b|mine|Written", example, re.IGNORECASE)
    assert 'student_mask = torch.einsum("ij", adaptive[:, None])' in example
    compile(example, "example", "exec")
    assert "ada" not in report.anonymous("def mask(:\n  # ada\n  x = 'ada'\n  ada = 1", ["ada"])


def test_a_class_that_is_all_right_has_no_mistakes() -> None:
    perfect = Submission("ada", {"mask": verdict(2)}, {"mask": "x = 1"}, [])
    page = report.page("01_x", [perfect])
    assert "<h2>Mistakes</h2>\n<p>None.</p>" in page
    assert "Begin here" not in page


def test_a_class_that_is_not_graded_is_told(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="no graded submissions of '01_causal_mask'"):
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
