"""What the book holds of a notebook: all there is to read, and no answer. `tests/browser/test_book.py` reads it."""

import re
from pathlib import Path

import nbformat
import pytest

from grading.folder.course import ROOT, Course
from grading.notebooks import cells
from grading.notebooks.cells import BEGIN_SOLUTION as BEGIN
from grading.notebooks.cells import END_SOLUTION as END
from grading.pages import book
from tests.authoring.test_build import STEMS, regions

COURSE = Course(ROOT)


def page(stem: str) -> nbformat.NotebookNode:
    solved, released = (nbformat.read(path, as_version=4) for path in (COURSE.solution(stem), COURSE.released(stem)))
    return book.page_of(solved, released)


@pytest.mark.parametrize("stem", STEMS)
def test_a_page_has_all_texts_and_pictures_and_no_answer(stem: str) -> None:
    solved, made = nbformat.read(COURSE.solution(stem), as_version=4), page(stem)
    texts = [cell.source for cell in solved.cells if cell.cell_type == "markdown" and not cells.grade_id(cell)]
    texts = [book.BESIDE.sub(book._in_book, text) for text in texts]
    assert [cell.source for cell in made.cells if cell.source in texts] == texts
    shown = [output for cell in made.cells for output in cell.get("outputs", ())]
    wanted = [cell.outputs for cell in solved.cells if cells.is_experiment(cell) and "widget" not in cell.metadata.tags]
    assert [output for output in shown if "data" in output] == [
        output for outputs in wanted for output in outputs if "data" in output
    ]
    text, sources = "\n".join(cell.source for cell in made.cells), ROOT / "solutions" / f"{stem}.py"
    for region in regions(sources.read_text(encoding="utf-8"), BEGIN, END):
        lines = [line.strip() for line in region.splitlines() if len(line.strip()) > 25]
        assert not [line for line in lines if line in text]
    for word in ("check(", "MARK SCHEME", "grading.definitions.examiner"):
        assert not [cell.source for cell in made.cells if cell.cell_type == "code" and word in cell.source], word


@pytest.mark.parametrize("stem", STEMS)
def test_where_a_notebook_has_dots_the_book_says_so(stem: str) -> None:
    """The text says "in place of the dots": what the book says of them comes next, and no guess is there."""
    solved, made = nbformat.read(COURSE.solution(stem), as_version=4), page(stem)
    wanted = [
        book.INSTEAD[tag] for cell in solved.cells for tag in cell.metadata.get("tags", ()) if tag in book.INSTEAD
    ]
    assert [cell.source for cell in made.cells if cell.source in book.INSTEAD.values()] == wanted
    for place, cell in enumerate(made.cells):
        if cell.cell_type == "markdown" and re.search(r"\bthe dots, or\b|in place of the dots\.?$", cell.source):
            assert any(other.source in book.INSTEAD.values() for other in made.cells[place + 1 : place + 3])
    for word in ("guess(", "by_hand(", "reveal("):
        assert not [cell for cell in made.cells if cell.cell_type == "code" and cell.source.startswith(word)]


def test_a_folder_with_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("three years")
    with pytest.raises(book.BookError, match="holds something else than a book"):
        book.make_book(COURSE, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_each_line_of_the_glossary_leads_to_its_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "page_of", lambda solved, released: nbformat.v4.new_notebook())
    book._write_sources(COURSE, tmp_path / "source")
    text = (tmp_path / "source" / "glossary.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    links = [re.search(r" \(\[(\d\d)\]\((\w+)\.ipynb\)\)$", line) for line in lines]
    assert len(lines) >= 5 * len(STEMS)
    assert all(link and link[2].startswith(link[1]) and link[2] in STEMS for link in links)
    assert "make build" not in text
    assert "\nglossary\n" in (tmp_path / "source" / "index.md").read_text(encoding="utf-8")
    assert (tmp_path / "source" / "before.md").is_file()


@pytest.mark.parametrize(
    ("link", "leads_to"),
    [
        ("before.html", "before.md"),
        ("../00_start_here/before.html", "before.md"),
        ("recap.html", "recap.md"),
        ("path.svg", "images/path.svg"),
    ],
)
def test_a_link_to_what_lies_beside_the_first_notebook_leads_to_a_page(link: str, leads_to: str) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"See [the page]({link}).")])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    assert book.page_of(notebook, notebook).cells[0].source == f"See [the page]({leads_to})."
