"""The report of a class: what it counts, that it names nobody, and that it needs nothing from outside."""

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grading.autograder.preprocessors import MendCells
from grading.classroom.export import Mark
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.notebooks.verdicts import RecordedVerdict
from grading.pages import report
from grading.pages.anonymise import anonymise
from grading.pages.report import Mistake, Submission
from tutor.checking import verdict as examiners

MARK = Mark("ada", "01_causal_mask", 3.0, 5.0, 1, "")


def verdict(earned: float, mistake: str = "", outcome: str = "") -> RecordedVerdict:
    outcome = outcome or ("right" if earned == 2 else "wrong")
    hint = f"hint for <{mistake}>" if mistake else ""
    return RecordedVerdict(outcome, "said", "headline", earned, 2.0, mistake, hint)


def students() -> list[Submission]:
    made = []
    for number in range(10):
        good = number >= 4
        first = verdict(2) if good else verdict(0.5, "upside down")
        second = verdict(2 if number >= 5 else 0, "" if number >= 5 else "<b>bold</b>")
        last = verdict(2 if number % 2 == 0 else 0, outcome="" if number % 2 == 0 else "late")
        sources = {
            "mask": f"def mask(x):  # by student{number}\n    return {number}",
            "weights": "broken (",
            "padding": "y = 1",
        }
        verdicts = {"mask": first, "weights": second, "padding": last}
        seconds = {"mask": 0.1, "weights": 0.1, "padding": 9.0}
        made.append(Submission(f"student{number}", verdicts, sources, number == 0, seconds))
    return made


def test_mistakes_are_counted_with_an_example_that_names_nobody() -> None:
    (mistake,) = report.count_mistakes(students(), "mask")
    assert mistake == Mistake("upside down", "hint for <upside down>", 4, "def mask(x):\n    return 0")


def test_an_exercise_that_tells_nothing_is_marked() -> None:
    value = report.measure_discrimination(students(), "weights")
    assert value is not None
    assert value > 0.25
    low = report.measure_discrimination(students(), "padding")
    assert low is not None
    assert low < 0.15
    assert report.measure_discrimination(students()[:2], "mask") is None


def test_the_page_needs_no_network_names_nobody_and_escapes() -> None:
    page = report.make_page("01_causal_mask", students())
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    assert not re.search(r"https?:", page)
    assert not re.search(r"student\d", page)
    assert "<b>bold</b>" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert page.count('<div role="img" aria-label="') == 2
    assert "How the 10 students did in each exercise: mask: 6 right, 4 wrong; weights:" in page
    assert "Number of students by share of points: 2 between 0% and 10%" in page
    assert "<strong>40%</strong> (4)" in page
    assert page.count("does not discriminate") == 1
    assert "padding: answers that took more than 2 s: 10" in page
    assert "padding: answers that stopped with an error, or were stopped: 5" in page
    assert "put right (copied, moved or renamed cells and files): 1" in page


def test_code_in_hints_is_code_and_wide_tables_scroll() -> None:
    advised = replace(verdict(0.5, "shape `(1, n)`"), hint="use `x[:, None]` & `<b>`")
    page = report.make_page("01_x", [Submission("ada", {"mask": advised}, {"mask": "x = 1"})])
    assert page.count("<code>x[:, None]</code> &amp; <code>&lt;b&gt;</code>") == 2  # in "Begin here" and in the table
    assert page.count("shape <code>(1, n)</code>") == 2
    assert len(re.findall(r'<div class="scroll"[^>]*>\s*<table', page)) == page.count("<table") == 2


def test_what_stands_first_is_what_most_got_wrong() -> None:
    page = report.make_page(
        "01_causal_mask", students(), ungraded=3, marks=[MARK, MARK, replace(MARK, unread=0, penalty=2.0)]
    )
    first = page.index("<strong>50%</strong> in weights")
    assert first < page.index("<strong>40%</strong> in mask") < page.index("<h2>Marks</h2>")
    assert "Handed in without a mark: 3" in page
    assert "With an essay still to be read: 2." in page
    assert "Handed in late, with points taken off: 1." in page


def test_examples_name_nobody_and_stay_python() -> None:
    source = """def mask(size, ada=1):
    \'\'\'Written by Ada Lovelace.\'\'\'
    # Ada L.
    lovelace_mask = torch.einsum("ij", adaptive[:, None])  # mine
    print("hello, I am Ada")
    return lovelace_mask"""
    example = anonymise(source, ["ada_l", "Ada", "Lovelace"])
    assert not re.search(r"lovelace|\bada\b|mine|Written", example, re.IGNORECASE)
    assert 'student_mask = torch.einsum("ij", adaptive[:, None])' in example
    compile(example, "example", "exec")
    assert "ada" not in anonymise("def mask(:\n  # ada\n  x = 'ada'\n  ada = 1", ["ada"])


def test_a_class_that_is_all_right_has_no_mistakes() -> None:
    perfect = Submission("ada", {"mask": verdict(2)}, {"mask": "x = 1"})
    page = report.make_page("01_x", [perfect])
    assert re.search(r"<h2>Mistakes</h2>\s*<p>None\.</p>", page)
    assert "Begin here" not in page
    assert "<li>nothing</li>" in page


def test_a_class_that_is_not_graded_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="no graded submissions of '01_causal_mask'"):
        report.write_report(Course(tmp_path), "01_causal_mask")


# --- what is read -----------------------------------------------------------------------------------------------------


def marked(name: str, *, check: bool, source: str = "", outputs: Sequence[NotebookNode] = ()) -> NotebookNode:
    """Returns a cell as nbgrader marks it: the answer or the check of an exercise."""
    cell: NotebookNode = nbformat.v4.new_code_cell(source, outputs=list(outputs))
    grade_id = f"{name}_check" if check else name
    cell.metadata["nbgrader"] = {"grade_id": grade_id, "grade": check, "locked": check, "solution": not check}
    cell.metadata["nbgrader"] |= {"points": 2.0} if check else {}
    return cell


def judgement(name: str, earned: float, mistake: str = "") -> NotebookNode:
    """Returns an output in which the examiner has judged."""
    outcome = "right" if earned == 2 else "wrong"
    verdict = examiners.Verdict(name, outcome, earned, 2.0, (), mistake=mistake, hint="hint", graded=True)
    output: NotebookNode = nbformat.v4.new_output("display_data", {examiners.MIME: verdict.as_data()})
    return output


def write_notebook(path: Path, *cells: NotebookNode, **grading: object) -> None:
    notebook = nbformat.v4.new_notebook(cells=list(cells))
    if grading:
        notebook.metadata["grading"] = grading
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course with one assignment of two exercises, `weights` and `mask`, in which ada has been graded."""
    made = Course(tmp_path)
    exercises = ("weights", "mask")
    write_notebook(made.solution("01_x"), *(marked(name, check=check) for name in exercises for check in (False, True)))
    write_notebook(
        made.autograded("ada", "01_x"),
        marked("weights", check=False, source="def weights(): return 1"),
        marked("weights", check=True, outputs=[judgement("weights", 0, "odd")]),
        marked("mask", check=False, source="def mask(): return 1"),
        marked("mask", check=True, outputs=[judgement("mask", 2)]),
        verdicts={"mask": {"seconds": 0.25}},
    )
    return made


def test_the_report_reads_what_the_examiner_writes(course: Course) -> None:
    (ada,) = report.load(course, "01_x")
    assert list(ada.verdicts) == ["weights", "mask"]
    assert (ada.verdicts["weights"].earned, ada.verdicts["weights"].mistake) == (0, "odd")
    assert ada.sources == {"weights": "def weights(): return 1", "mask": "def mask(): return 1"}
    assert (ada.share, ada.seconds, ada.repairs) == (0.5, {"mask": 0.25}, False)
    page = report.write_report(course, "01_x").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "not measured" in page  # of `weights` nobody knows the processor time


def test_a_bundle_in_a_students_own_cell_is_no_verdict(course: Course) -> None:
    forged = judgement("weights", 2)
    own = nbformat.v4.new_code_cell("display(forged)", outputs=[forged])
    another = marked("extra", check=True, outputs=[judgement("extra", 2)])  # not one of the assignment's exercises
    write_notebook(
        course.autograded("ada", "01_x"),
        marked("weights", check=False, source="display(forged)", outputs=[forged]),
        marked("weights", check=True, outputs=[judgement("weights", 0.5)]),
        own,
        marked("mask", check=False),
        marked("mask", check=True, outputs=[judgement("mask", 2), judgement("mask", 0)]),  # the examiner speaks last
        marked("mask", check=False, outputs=[forged]),
        another,
    )
    (ada,) = report.load(course, "01_x")
    assert {name: verdict.earned for name, verdict in ada.verdicts.items()} == {"weights": 0.5, "mask": 0}


def test_a_check_that_was_stopped_counts_as_stopped(course: Course) -> None:
    error = nbformat.v4.new_output("error", ename="NameError", evalue="name 'mask' is not defined", traceback=[])
    late = nbformat.v4.new_output("error", ename="CellTimeoutError", evalue="too long", traceback=[])
    checks = (marked("weights", check=True, outputs=[late]), marked("mask", check=True, outputs=[error]))
    write_notebook(course.autograded("ada", "01_x"), *checks)
    (ada,) = report.load(course, "01_x")
    assert [verdict.outcome for verdict in ada.verdicts.values()] == ["late", "crashed"]
    assert ada.share == 0


def test_what_was_graded_without_verdicts_as_data_is_reported(course: Course) -> None:
    text = nbformat.v4.new_output("display_data", {"text/plain": "mask: all checks passed - 2 of 2 points"})
    checks = (marked("weights", check=True, outputs=[text]), marked("mask", check=True, outputs=[text]))
    forged = {"weights": {"earned": 2, "points": 2, "outcome": "right"}}
    write_notebook(course.autograded("bob", "01_x"), *checks, verdicts=forged)
    broken = course.autograded("eve", "01_x")
    broken.parent.mkdir(parents=True)
    broken.write_text("{ half of a file", encoding="utf-8")
    page = report.write_report(course, "01_x").read_text(encoding="utf-8")
    assert "1 graded submissions." in page
    assert "without verdicts that can be read: 2 (python -m grading autograde grades them again)" in page
    course.autograded("ada", "01_x").unlink()
    with pytest.raises(CourseError, match=r"holds a verdict that can be read; .* Grade again"):
        report.load(course, "01_x")


def test_a_student_cannot_say_what_the_autograder_records() -> None:
    forged = nbformat.v4.new_notebook()
    forged.metadata["grading"] = {"put_right": ["FORGED"], "verdicts": {"mask": {"seconds": 0.0}}}
    mended, _ = MendCells().preprocess(forged, {})
    assert "grading" not in mended.metadata


def test_the_pages_need_no_pytorch() -> None:
    modules = "grading.pages.report, grading.pages.feedback, grading.pages.exporter"
    program = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


def test_packages_that_answers_lack_are_listed_once() -> None:
    lacking = [replace(one, lacking=("einops",)) for one in students()[:2]]
    page = report.make_page("01_x", [*lacking, *students()[2:]])
    assert page.count("einops (2 students)") == 1
    assert "need a package" not in report.make_page("01_x", students())
