"""The report and a feedback page on a telephone: nothing is wider than the screen."""

from collections.abc import Callable

import nbformat
import pytest
from playwright.sync_api import Browser

from grading.pages import exporter, report
from tests.submissions import ASSIGNMENT, perfect
from tests.test_report import students

TELEPHONE = 390  # CSS pixels


def feedback_page() -> str:
    """Returns the page of a whole notebook, with long code, tables and formulas; nobody has graded it."""
    notebook = perfect()
    notebook.cells.append(nbformat.v4.new_markdown_cell(f"| {'wide | ' * 20}\n|{'---|' * 20}\n| {'table | ' * 20}\n"))
    notebook.cells.append(nbformat.v4.new_markdown_cell(f"`{'x' * 90}` and ${'+'.join(['x_i'] * 40)}$"))
    return exporter.make_page(notebook, {"notebook": ASSIGNMENT, "student": "s" * 60, "score": 1.0, "max_score": 2.0})


def report_page() -> str:
    return report.make_page(ASSIGNMENT, students())


@pytest.mark.parametrize("made", [feedback_page, report_page])
def test_no_page_is_wider_than_a_telephone(browser: Browser, made: Callable[[], str]) -> None:
    page = browser.new_page(viewport={"width": TELEPHONE, "height": 800})
    page.set_content(made())
    wide = "[...document.querySelectorAll('main > *')].filter(e => e.scrollWidth > innerWidth).map(e => e.outerHTML)"
    assert page.evaluate("document.documentElement.scrollWidth") <= TELEPHONE, page.evaluate(wide)
    page.close()
