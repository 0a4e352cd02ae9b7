"""JupyterLab as an instructor meets it: formgrader on the class of `make demo`, and its feedback."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlparse

import nbformat
import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import FrameLocator, Locator, Page, expect

from grading.authoring import bank
from grading.folder.course import Course
from grading.notebooks import cells
from grading.notebooks.verdicts import read_verdict
from tests.browser.lab import RUN_SECONDS, Server, Witness, follow, hard_to_read, open_formgrader
from tests.classroom.submissions import recorded_mark

ASSIGNMENT = "01_causal_mask"
# nbgrader's own pages fetch the program that draws formulas from there; without it the formulas are
# shown as they are written, and the console says so.
MATHJAX = "cdnjs.cloudflare.com"


@pytest.fixture(autouse=True)
def _nothing_else_happens(witness: Witness) -> Iterator[None]:
    """No request but the one for MathJax leaves this machine, and no other error comes up."""
    yield
    assert {urlparse(address).hostname for address in witness.outside} <= {MATHJAX}
    errors = [text for text in witness.errors if "MathJax" not in text and MATHJAX not in text]
    assert errors == []


def row(formgrader: FrameLocator, text: str) -> Locator:
    """Returns the row of formgrader's table that holds this text."""
    return formgrader.locator("tbody tr").filter(has_text=text)


def open_submissions(formgrader: FrameLocator) -> None:
    """Opens the list of students who handed in."""
    follow(formgrader, "Manage Assignments")
    row(formgrader, ASSIGNMENT).locator(".num-submissions a").click()
    expect(formgrader.locator("h1").last).to_have_text("Manage Submissions")


def open_for_manual_grading(formgrader: FrameLocator, mark: str) -> None:
    """Opens the graded notebook that has this mark so far: formgrader hides the names there."""
    follow(formgrader, "Manual Grading")
    row(formgrader, ASSIGNMENT).get_by_role("link", name=ASSIGNMENT).click()  # the assignment
    expect(formgrader.locator("thead")).to_contain_text("Notebook ID")
    row(formgrader, ASSIGNMENT).get_by_role("link", name=ASSIGNMENT).click()  # its notebook
    row(formgrader, mark).get_by_role("link", name=re.compile("Submission")).click()


def save(page: Page, field: Locator, text: str) -> None:
    """Types into a field of formgrader, leaves it, and waits until it is saved."""
    field.click()
    page.keyboard.type(text)
    with page.expect_response(re.compile(r"/formgrader/api/(grade|comment)/")) as saved:
        page.keyboard.press("Tab")
    assert saved.value.ok, saved.value.url


def test_the_class_is_graded(
    page: Page,
    instructor_lab: Server,
    graded_course: Path,
    save_screenshot: Callable[[Page, str], None],
) -> None:
    handed_in = list((graded_course / "gradebook" / "submitted").iterdir())
    formgrader = open_formgrader(page, instructor_lab)
    count = row(formgrader, ASSIGNMENT).locator(".num-submissions")
    expect(count).to_have_text(str(len(handed_in)))

    open_submissions(formgrader)
    expect(formgrader.locator("tbody tr")).to_have_count(len(handed_in))
    wanted = {
        "ada_perfect": ("needs manual grading", "14 / 16"),
        "chloe_empty": ("graded", "0 / 16"),
        "emile_broken_file": ("needs autograding", ""),
        "gael_no_notebook": ("needs autograding", ""),
    }
    for student, (status, score) in wanted.items():
        expect(row(formgrader, student).locator(".status")).to_have_text(status)
        expect(row(formgrader, student).locator(".score")).to_have_text(score)
    row(formgrader, "gael_no_notebook").scroll_into_view_if_needed()
    save_screenshot(page, "formgrader.png")


def test_an_essay_is_marked_by_hand(page: Page, instructor_lab: Server, graded_course: Path) -> None:
    student = "fatou_endless_loop"
    mark = recorded_mark(Course(graded_course), student)
    formgrader = open_formgrader(page, instructor_lab)
    open_for_manual_grading(formgrader, f"{mark:g} / 16")
    essay = formgrader.locator("#mask_essay")
    essay.scroll_into_view_if_needed()
    expect(formgrader.locator("body")).to_contain_text("Without the mask the model copies")
    # Before formgrader has fetched the marks, it would empty what is typed into a field.
    expect(essay).to_have_class(re.compile("needs_manual_grade"))
    save(page, essay, "1.5")
    comment = formgrader.locator("#mask_essay-comment")
    expect(comment).to_have_attribute("placeholder", re.compile("Type any comments"))
    save(page, comment, "Say more on generation.")

    formgrader = open_formgrader(page, instructor_lab)
    open_submissions(formgrader)
    expect(row(formgrader, student).locator(".score")).to_have_text(f"{mark + 1.5:g} / 16")
    expect(row(formgrader, student).locator(".status")).to_have_text("graded")
    address = f"sqlite:///{graded_course / 'gradebook' / 'gradebook.db'}"
    with Gradebook(address, "transformers") as gradebook:
        where = ("mask_essay", ASSIGNMENT, ASSIGNMENT, student)
        assert gradebook.find_grade(*where).manual_score == 1.5
        assert gradebook.find_comment(*where).comment == "Say more on generation."


HOSTILE = """import pathlib, subprocess
seen = []
for place in ({course!r}, {course!r} + "/solutions/01_causal_mask", "/tmp", "."):
    try:
        pathlib.Path(place, "canary-button").write_text("was here")
        seen += pathlib.Path(place).iterdir()
    except OSError as problem:
        seen.append(problem)
def causal_mask(size):
    raise RuntimeError(f"looked around: {{len(seen)}}")
"""


def test_the_autograde_button_runs_hostile_code_in_the_sandbox(
    page: Page, instructor_lab: Server, graded_course: Path
) -> None:
    course, student = Course(graded_course), "zoe_hostile"
    notebook = nbformat.read(course.submitted("ada_perfect", ASSIGNMENT) / f"{ASSIGNMENT}.ipynb", as_version=4)
    (own,) = (one for one in notebook.cells if cells.grade_id(one) == "causal_mask")
    own.source = HOSTILE.format(course=str(graded_course))
    folder = course.submitted(student, ASSIGNMENT)
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{ASSIGNMENT}.ipynb")

    formgrader = open_formgrader(page, instructor_lab)
    open_submissions(formgrader)
    expect(row(formgrader, student).locator(".status")).to_have_text("needs autograding")
    address = re.compile(rf"/formgrader/api/submission/{ASSIGNMENT}/{student}/autograde")
    with page.expect_response(address, timeout=RUN_SECONDS * 1000) as done:
        row(formgrader, student).locator(".autograde a").click()
    expect(formgrader.locator(".modal-title")).to_have_text("Success")
    answer = done.value.json()
    assert answer["success"], answer
    assert "protected: a user id of its own, no privileges, system calls filtered" in answer["log"]
    formgrader.locator(".modal-footer button").click()
    expect(row(formgrader, student).locator(".score")).to_have_text("11 / 16")
    expect(row(formgrader, student).locator(".status")).to_have_text("needs manual grading")

    graded = course.autograded(student, ASSIGNMENT)
    (verdict,) = (
        read_verdict(one)
        for one in nbformat.read(graded, as_version=4).cells
        if cells.grade_id(one) == "causal_mask_check"
    )
    assert verdict is not None
    assert verdict.outcome == "crashed"
    places = (graded_course, course.solution(ASSIGNMENT).parent, Path("/tmp"), graded.parent)
    assert [place for place in places if (place / "canary-button").exists()] == []


def test_feedback_names_the_mistakes(page: Page, graded_course: Path) -> None:
    student = "denis_mistaken"
    folder = graded_course / "gradebook" / "feedback" / student / ASSIGNMENT
    page.goto((folder / f"{ASSIGNMENT}.html").as_uri())
    panels = page.locator(".verdict")
    exercises = [cell.name for cell in bank.cells(ASSIGNMENT) if cell.kind == "exercise"]
    expect(panels).to_have_count(len(exercises))
    for exercise, panel in zip(exercises, panels.all(), strict=True):
        verdict = re.compile(rf"{exercise}: not yet right - [\d.]+ of \d points")
        expect(panel).to_contain_text(verdict)
        expect(panel).to_contain_text("This looks like: ")
        panel.scroll_into_view_if_needed()
        assert hard_to_read(panel) == []
    hint = "This looks like: the diagonal is blocked too. A token may look at itself"
    expect(panels.first).to_contain_text(hint)
    mark = recorded_mark(Course(graded_course), student)
    expect(page.locator(".total")).to_have_text(f"{mark:g} of 16 points")
    assert page.locator("img:not([alt]), img[alt='']").count() == 0
