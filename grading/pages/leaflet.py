"""A page of `docs/` as one HTML file, for students: it opens by a double click and needs no network.

Its Markdown is the course's own, so raw HTML (`details`) and links stay what they are; formulas become MathML.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from markupsafe import Markup
from mistune import HTMLRenderer
from nbconvert.filters.markdown_mistune import MarkdownWithMath

from grading.pages.markup import python
from grading.pages.mathml import mathml
from grading.pages.rendering import render

RECAP = Path(__file__).with_name("templates") / "recap.css"
MADE = re.compile(r" `make build` makes this page[^.\n]*\.")  # said to maintainers, not to students


class _Renderer(HTMLRenderer):
    def __init__(self) -> None:
        super().__init__(escape=False)

    def block_code(self, code: str, info: str | None = None) -> str:
        return str(python(code)) if info == "python" else super().block_code(code, info).replace("<pre", PRE, 1)

    def block_math(self, text: str) -> str:
        return f'<p class="formula" tabindex="0">{mathml(text, block=True)}</p>\n'

    def inline_math(self, text: str) -> str:
        return mathml(text)


PRE = '<pre tabindex="0"'  # the keyboard moves what is wider than the page


def leaflet(text: str, style: str = "") -> str:
    """Returns a page of Markdown, which begins with its title, as HTML.

    Args:
        text: the Markdown, the course's own: nothing in it is escaped.
        style: CSS besides that of all pages. The page lies in an element whose id is the title, as in the book.
    """
    [title] = re.findall(r"\A# (.+)$", text, re.MULTILINE)
    markdown: Any = MarkdownWithMath(renderer=_Renderer())
    page = Markup(markdown.render(text))
    return render("leaflet.html", title=title, name=title.lower().replace(" ", "-"), page=page, style=Markup(style))


def recap(text: str) -> str:
    """Returns the page `docs/recap.md` as HTML, two pages when printed."""
    return leaflet(MADE.sub("", text), RECAP.read_text(encoding="utf-8"))
