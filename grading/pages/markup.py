"""What anybody wrote, printed or drew, as HTML that does nothing: Markdown, Python in colours, outputs of cells.

Raw HTML is shown as it was typed, links become text, formulas MathML, and a picture is decoded and encoded again.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape
from mistune import HTMLRenderer
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES

from grading.pages.mathml import mathml

MAX_SHOWN = 10_000  # signs of one output
MAX_PICTURE = 4 << 20
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
MAX_BLOCKS = 300  # beginnings of LaTeX in one text: the end of each is looked for to the end of the text
BEGINNING = re.compile(r"\\begin|\\\\[\[(]")
FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)
WIDE = 24  # signs of a formula that may be wider than a telephone
OWN_FIGURE = re.compile(
    r'(?:<style>[^<>]*</style>)?<img alt="([^"<>]*)"[^<>]*src="data:image/png;base64,([A-Za-z0-9+/=]+)"[^<>]*>'
)


def cut(text: str) -> str:
    """Returns text without what steers a terminal, cut after `MAX_SHOWN` signs."""
    bare = ANSI.sub("", text)
    left_out = len(bare) - MAX_SHOWN
    return bare if left_out <= 0 else f"{bare[:MAX_SHOWN]}\n... ({left_out} signs more)"


def python(source: str) -> Markup:
    """Returns Python as a block in colours."""
    shown = Markup("")
    for token, text in PythonLexer(stripnl=False).get_tokens(cut(source).rstrip("\n")):
        kind = next((STANDARD_TYPES[part] for part in reversed(token.split()) if part in STANDARD_TYPES), "")
        shown += Markup('<span class="{}">{}</span>').format(kind, text) if kind else escape(text)
    return Markup('<pre class="code" tabindex="0">{}</pre>').format(shown)


def sentence(text: str) -> Markup:
    """Returns a sentence, with what stands between two backticks as code."""
    parts = re.split(r"`([^`\n]+)`", cut(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if odd % 2 else part for odd, part in enumerate(parts)
    )


# --- Markdown ---------------------------------------------------------------------------------------------------------


class _Renderer(HTMLRenderer):
    """Markdown without raw HTML, without links, with formulas as MathML.

    `under` is the level of the heading that it stands under: its own headings come below that one. Those of a text
    that is whole begin just below, and leave no level out; a cell of a notebook may begin at any level.
    """

    def __init__(self, under: int, *, whole: bool) -> None:
        super().__init__(escape=True, allow_harmful_protocols=False)
        self._under, self._whole = under, whole
        self._open = list[int]()  # the levels of the headings that the next one may stand under

    def heading(self, text: str, level: int, **attributes: Any) -> str:
        self._open = [one for one in self._open if one < level] + [level]
        level = min(6, self._under + (len(self._open) if self._whole else level))
        return f"<h{level}>{text}</h{level}>\n"

    def paragraph(self, text: str) -> str:
        wide = any(len(re.sub(r"<[^>]*>", "", formula)) > WIDE for formula in FORMULA.findall(text))
        scrolls = ' class="formula" tabindex="0"' if wide else ""
        return f"<p{scrolls}>{text}</p>\n"

    def table(self, text: str) -> str:
        return f'<div class="scroll" role="group" aria-label="table" tabindex="0">\n<table>\n{text}</table>\n</div>\n'

    def table_cell(self, text: str, align: str | None = None, *, head: bool = False) -> str:
        tag = "th" if head and text.strip() else "td"  # an empty title is read aloud as one
        style = f' style="text-align:{align}"' if align in ("left", "center", "right") else ""
        return f"  <{tag}{style}>{text}</{tag}>\n"

    def text(self, text: str) -> str:
        return html.escape(text)  # quotes too: then not even a grep finds an address in an attribute

    def inline_html(self, html: str) -> str:
        return self.text(html)

    def block_html(self, html: str) -> str:
        return f"<p>{self.text(html.strip())}</p>\n"

    def codespan(self, text: str) -> str:
        return f"<code>{self.text(text)}</code>"

    def block_code(self, code: str, info: str | None = None) -> str:
        is_python = (info or "").strip().split(" ")[0] in ("python", "py", "python3")
        return str(python(code)) if is_python else f'<pre tabindex="0">{self.text(code)}</pre>\n'

    def block_math(self, text: str) -> str:
        return f'<p class="formula" tabindex="0">{mathml(text, block=True)}</p>\n'

    def inline_math(self, text: str) -> str:
        return mathml(text)

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")

    def link(self, text: str, url: str, title: str | None = None) -> str:
        if url.startswith("#"):
            return text
        address = self.text(url)
        return address if address == text else f"{text} ({address})"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return f"[picture: {self.text(html.unescape(re.sub(r'<[^>]*>', '', text)))}]"


def markdown(text: str, under: int = 0, *, whole: bool = True) -> Markup:
    """Returns Markdown as HTML: raw HTML is shown as it was typed, links are text, formulas are MathML.

    Args:
        text: the Markdown.
        under: the level of the page's heading that it stands under, 0 to 6.
        whole: whether it is a text of its own, and no cell of a notebook whose other cells have headings too.
    """
    if len(BEGINNING.findall(text)) > MAX_BLOCKS:
        return Markup('<pre tabindex="0">{}</pre>').format(cut(text))
    made = MarkdownWithMath(renderer=_Renderer(under, whole=whole)).render(text[: 10 * MAX_SHOWN])
    return Markup(made)  # every part is escaped


# --- outputs of cells -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Output:
    """What a page shows of an output: a picture with its description, or text; `is_error` marks what went wrong."""

    text: str
    picture: str = ""
    is_error: bool = False


def read_output(output: Mapping[str, Any]) -> Output:
    """Returns what can be shown of an output of a cell: its picture, else its text, never its HTML."""
    kind = output.get("output_type")
    if kind == "stream":
        return Output(cut(_text(output.get("text"))), is_error=output.get("name") == "stderr")
    if kind == "error":
        return Output(cut(f"{output.get('ename')}: {output.get('evalue')}"), is_error=True)
    data, metadata = output.get("data", {}), output.get("metadata", {})
    own = OWN_FIGURE.fullmatch(_text(data.get("text/html")).strip())
    if own:
        return _read_picture(own[2], html.unescape(own[1]))
    for name in ("image/png", "image/jpeg"):
        if name in data:
            alt = metadata.get("alt") or (metadata.get(name) or {}).get("alt") or ""
            return _read_picture(_text(data[name]), str(alt))
    return Output(cut(_text(data.get("text/plain") or data.get("text/html") or "[an output that a page cannot show]")))


def _read_picture(encoded: str, alt: str) -> Output:
    """Returns a picture, decoded and encoded again, so that its attribute can hold nothing else."""
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError):
        return Output("[a picture that cannot be read]")
    kind = "png" if data.startswith(b"\x89PNG\r\n") else "jpeg" if data.startswith(b"\xff\xd8\xff") else ""
    if not kind or len(data) > MAX_PICTURE:
        return Output("[a picture that cannot be shown]")
    alt = ANSI.sub("", alt)[:2000] or "A figure that this cell made, without a description."
    return Output(alt, picture=f"data:image/{kind};base64,{base64.b64encode(data).decode()}")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "".join(str(part) for part in value or ())
