"""The course as a book for reading: pages of the executed notebooks without answers, for a browser without a network.

Sphinx with myst-nb makes the pages, Furo lays them out. This module is also the Sphinx extension that draws formulas.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.notebooks import cells
from grading.pages.leaflet import MADE, RECAP
from grading.pages.mathml import mathml

TITLE = "Transformers"
PAGES = ("syllabus", "before", "recap", "glossary")  # of docs/
STYLES = (Path(__file__).with_name("templates") / "book.css", RECAP)
EMPTY_HEADING = re.compile(r"<th[^>]*>(?:<p></p>)?</th>")  # the corner of a table, which is no heading
BESIDE = re.compile(r"\]\((?:\.\./00_start_here/)?(before\.html|recap\.html|path\.svg)")  # beside notebook 00
MOVED = re.compile(r'<pre(?=>)|<div(?= class="(?:table-wrapper|cell_output) )')  # what may be wider than the page
FOLDED = {"setup": "Set-up: what the cells below use", "solution": "The exercise, as it is handed out"}
INSTEAD = {  # of a cell with dots, of which the text above it speaks
    "guess": "*The dots are in the notebook, in a cell that stands here. In this book, guess before you read on.*",
    "by_hand": "*The dots are in the notebook, in a cell that stands here and says whether your values are right. In "
    "this book, write them on paper before you read on.*",
}
SETTINGS: dict[str, Any] = {
    "project": TITLE,
    "html_title": TITLE,
    "language": "en",
    "extensions": ["myst_nb", "grading.pages.book"],
    "myst_enable_extensions": ["dollarmath"],
    "nb_execution_mode": "off",
    "nb_output_stderr": "remove",
    "html_math_renderer": "mathml",
    "html_theme": "furo",
    "html_theme_options": {"source_view_link": ""},
    "html_copy_source": False,
    "html_use_index": False,
    "html_show_copyright": False,
    "pygments_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


class BookError(CourseError):
    """The book cannot be made; the message says why and what to do."""


def make_book(course: Course, out: Path) -> None:
    """Writes the book into the folder `out`: whole, or not at all.

    Raises:
        BookError: when `out` holds something else, Sphinx is missing, or has something to say against a page.
    """
    if out.exists() and not (out / "searchindex.js").is_file() and any(out.iterdir()):
        raise BookError(f"{out} holds something else than a book; name an empty folder with --out.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
        source, made = Path(folder) / "source", Path(folder) / "made"
        _write_sources(course, source)
        _run_sphinx(source, made, Path(folder) / "parsed")
        shutil.rmtree(made / "_sources", ignore_errors=True)
        if out.exists():
            out.rename(Path(folder) / "old")
        made.rename(out)


def _run_sphinx(source: Path, made: Path, parsed: Path) -> None:
    try:
        from sphinx.application import Sphinx
        from sphinx.errors import SphinxError
        from sphinx.util.console import nocolor
    except ImportError as problem:
        raise BookError(f"the book needs Sphinx ({problem}); `make book` installs it.") from problem
    warnings = io.StringIO()
    nocolor()
    try:
        with contextlib.redirect_stderr(warnings):
            app = Sphinx(source, source, made, parsed, "html", status=None, warning=warnings)
            app.build(force_all=True)
    except SphinxError as problem:
        raise BookError(f"Sphinx stopped: {problem}") from problem
    if lines := [line for line in warnings.getvalue().splitlines() if line.strip()]:
        raise BookError("Sphinx is not content; mend what it names:\n" + "\n".join(lines))


# --- what Sphinx reads ------------------------------------------------------------------------------------------------


def _write_sources(course: Course, folder: Path) -> None:
    """Writes a page for each notebook, those of `docs/` for students, and the first page, from the syllabus."""
    folder.mkdir(parents=True)
    settings = "".join(f"{name} = {value!r}\n" for name, value in SETTINGS.items())
    (folder / "conf.py").write_text(settings, encoding="utf-8")
    names = [path.stem for path in sorted((course.root / "solutions").glob("[0-9][0-9]_*.py"))]
    for name in names:
        solved, released = (
            nbformat.read(path, as_version=4) for path in (course.solution(name), course.released(name))
        )
        nbformat.write(page_of(solved, released), folder / f"{name}.ipynb")
    docs = course.root / "docs"
    shutil.copytree(docs / "images", folder / "images")
    pages = {name: MADE.sub("", (docs / f"{name}.md").read_text(encoding="utf-8")) for name in PAGES}
    syllabus = pages.pop("syllabus").replace("# Syllabus", f"# {TITLE}", 1)
    for name in names:  # the heading of each notebook leads to its page
        heading = re.compile(rf"^## ({name[:2]} · .*)$", re.MULTILINE)
        syllabus, pages["recap"] = (heading.sub(rf"## [\1]({name}.ipynb)", one) for one in (syllabus, pages["recap"]))
    numbers = {name[:2]: name for name in names}  # the number behind a line leads to its notebook
    pages["glossary"] = re.sub(
        r" \((\d\d)\)$", lambda found: f" ([{found[1]}]({numbers[found[1]]}.ipynb))", pages["glossary"], flags=re.M
    )
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    tree = "\n".join(["", "```{toctree}", ":hidden:", "", "before", *names, "recap", "glossary", "```", ""])
    (folder / "index.md").write_text(syllabus + tree, encoding="utf-8")


def page_of(solved: NotebookNode, released: NotebookNode) -> NotebookNode:
    """Returns a notebook to read: text and outputs of the solved one, exercises as in the released one, no checks."""
    handed_out = {cells.grade_id(cell): cell.source for cell in released.cells if cells.grade_id(cell)}
    page: NotebookNode = nbformat.v4.new_notebook(
        metadata={"kernelspec": solved.metadata.kernelspec, "language_info": {"name": "python"}}
    )
    page.cells = [made for cell in solved.cells if (made := _cell_of(cell, handed_out))]
    return page


def _in_book(link: re.Match[str]) -> str:
    """Returns the book's own address of what lies beside the first notebook."""
    name = link[1]
    return f"](images/{name}" if name.endswith(".svg") else f"]({name.removesuffix('.html')}.md"


def _cell_of(cell: NotebookNode, handed_out: dict[str, str]) -> NotebookNode | None:
    """Returns what the book has of a cell: nothing of checks and sliders, and words in the place of dots."""
    kind, source = cells.kind(cell), cell.source
    instead = next((text for tag, text in INSTEAD.items() if tag in cells.tags(cell)), "")
    if kind == "check" or "widget" in cells.tags(cell) or (cells.is_around(cell) and not instead):
        return None
    if kind in ("solution", "essay"):
        source = handed_out[cells.grade_id(cell)]
    if instead or cell.cell_type == "markdown":
        text: NotebookNode = nbformat.v4.new_markdown_cell(instead or BESIDE.sub(_in_book, source))
        return text
    caption, source = cells.captioned(source) if cells.is_experiment(cell) else (FOLDED.get(kind, ""), source)
    made: NotebookNode = nbformat.v4.new_code_cell(source, outputs=[] if kind == "solution" else cell.outputs)
    if caption:
        made.metadata["tags"] = ["hide-input"]
        made.metadata["mystnb"] = {"code_prompt_show": caption, "code_prompt_hide": caption}
    return made


# --- the extension ----------------------------------------------------------------------------------------------------


def setup(app: Any) -> dict[str, Any]:
    """Tells Sphinx how formulas are drawn, and which style is ours."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("html-page-context", _mend)
    app.connect("builder-inited", lambda app: app.config.html_static_path.extend(map(str, STYLES)))
    for style in STYLES:
        app.add_css_file(style.name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _mend(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Mends what a screen reader or the keyboard would stumble over: code that only a mouse could move."""
    if "body" in context:
        body = EMPTY_HEADING.sub("<td></td>", context["body"])
        context["body"] = MOVED.sub(r'\g<0> tabindex="0"', body)


def _inline(translator: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    translator.body.append(mathml(node.astext()))
    raise SkipNode


def _block(translator: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    # What is wider than the page is moved by the keyboard too.
    translator.body.append(f'<div class="math" tabindex="0">{mathml(node.astext(), block=True)}</div>')
    raise SkipNode


def command(options: argparse.Namespace) -> int:
    """Runs `python -m grading book`."""
    course = Course((options.course or ROOT).resolve())
    out = (options.out or course.root / "dist" / "book").resolve()
    make_book(course, out)
    print(f"{out / 'index.html'}: open it in a browser.")
    return 0
