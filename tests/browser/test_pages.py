"""What grading makes to be read: by everybody, on a telephone, in the light and in the dark."""

from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from grading.folder.course import ROOT, Course
from grading.pages import exporter, report, similar, solutions
from tests.classroom.submissions import ASSIGNMENT, perfect
from tests.pages.test_essay_page import make_class, served
from tests.pages.test_report import students
from tests.pages.test_similar import a_class

TELEPHONE = 390  # CSS pixels


@pytest.fixture(params=["light", "dark"])
def reader(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": TELEPHONE, "height": 800}, color_scheme=request.param)
    yield page
    page.close()


def faults(page: Page) -> list[tuple[str, str]]:
    """Returns what axe-core finds, and what is wider than the screen."""
    result = [(one["id"], one["nodes"][0]["html"]) for one in Axe().run(page).response["violations"]]
    wide = "[...document.querySelectorAll('main > *')].filter(e => e.scrollWidth > innerWidth).map(e => e.outerHTML)"
    if page.evaluate("document.documentElement.scrollWidth") > TELEPHONE:
        result += [("too wide", html[:200]) for html in page.evaluate(wide)]
    return result


def feedback_page() -> str:
    """Returns the page of a whole notebook, with long code, tables and formulas; nobody has graded it."""
    notebook = perfect()
    notebook.cells.append(nbformat.v4.new_markdown_cell(f"| {'wide | ' * 20}\n|{'---|' * 20}\n| {'table | ' * 20}\n"))
    notebook.cells.append(nbformat.v4.new_markdown_cell(f"`{'x' * 90}` and ${'+'.join(['x_i'] * 40)}$"))
    return exporter.make_page(notebook, {"notebook": ASSIGNMENT, "student": "s" * 60, "score": 1.0, "max_score": 2.0})


def report_page() -> str:
    return report.make_page(ASSIGNMENT, students())


def solutions_page() -> str:
    return solutions.make_page(Course(ROOT), ASSIGNMENT)


@pytest.mark.parametrize("made", [feedback_page, report_page, solutions_page])
def test_everybody_can_read_a_page(reader: Page, made: Callable[[], str]) -> None:
    reader.set_content(made())
    assert faults(reader) == []


def test_everybody_can_read_the_report_of_similar_answers(reader: Page, tmp_path: Path) -> None:
    _, page, _ = similar.write_report(a_class(tmp_path), ASSIGNMENT)
    reader.goto(page.as_uri())
    assert faults(reader) == []


def test_everybody_can_mark_essays(reader: Page, tmp_path: Path) -> None:
    with served(make_class(tmp_path / "course")) as address:
        reader.goto(address)
        assert faults(reader) == []
        reader.get_by_role("link").first.click()
        reader.get_by_role("article").first.wait_for()
        assert faults(reader) == []
