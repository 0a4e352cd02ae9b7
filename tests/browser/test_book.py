"""The book in a browser: offline, by everybody, on a telephone, in the dark; its search finds what it is asked."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from grading.folder.course import ROOT, Course
from grading.pages import book

PAGES = ["index", "before", "recap", *sorted(path.stem for path in (ROOT / "solutions").glob("[0-9][0-9]_*.py"))]
# What keeps people out. Furo's two side bars have no names, which axe-core calls moderate.
GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("book") / "book"
    book.make_book(Course(ROOT), out)
    return out


@pytest.fixture(scope="module", params=["light", "dark"])
def reader(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """A browser that must ask nobody for anything."""
    window = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=request.param)
    tab, asked = window.new_page(), list[str]()
    tab.on("request", lambda wanted: asked.append(wanted.url))
    yield tab
    window.close()
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []


@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_read_a_page(reader: Page, made: Path, name: str) -> None:
    reader.goto((made / f"{name}.html").as_uri())
    found = Axe().run(reader).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in GRAVE] == []
    assert reader.evaluate("document.documentElement.scrollWidth") <= 390
    assert reader.evaluate("[...document.images].filter(one => !one.alt || !one.naturalWidth).length") == 0
    if name[:2].isdigit() and "$" in (ROOT / "solutions" / f"{name}.py").read_text(encoding="utf-8"):
        assert reader.locator("math").count() > 0


def test_the_search_finds_a_word(reader: Page, made: Path) -> None:
    reader.goto((made / "index.html").as_uri())
    reader.goto((made / "search.html").as_uri() + "?q=ALiBi")
    reader.get_by_role("link", name=re.compile("02 · Positional encoding")).first.wait_for()


def test_the_recap_is_printed_on_two_pages(reader: Page, made: Path) -> None:
    reader.goto((made / "recap.html").as_uri())
    assert len(re.findall(rb"/Type\s*/Page\b", reader.pdf(prefer_css_page_size=True))) <= 2


def test_an_exercise_is_folded(reader: Page, made: Path) -> None:
    reader.goto((made / "01_causal_mask.html").as_uri())
    skeleton = reader.get_by_text("def causal_mask")
    assert not skeleton.is_visible()
    reader.get_by_text("The exercise, as it is handed out").first.click()
    assert skeleton.is_visible()
