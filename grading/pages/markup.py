"""What anybody wrote, printed or drew, as HTML that does nothing: Markdown, Python in colours, outputs of cells.

Raw HTML is shown as it was typed, links become text, formulas MathML, and a picture is decoded and encoded again.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape
from mistune import HTMLRenderer
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES

from grading.notebooks.pictures import SHOWN, read_picture
from grading.pages.mathml import mathml

MAX_SHOWN = 10_000  # signs of one output
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
MAX_BLOCKS = 300  # beginnings of LaTeX in one text: the end of each is looked for to the end of the text
BEGINNING = re.compile(r"\\begin|\\\\[\[(]")
FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)
MAX_TEXT = 10 * MAX_SHOWN
LIES_HERE = re.compile("attachment:|data:image/", re.IGNORECASE)
WIDE = 24  # signs of a formula that may be wider than a telephone
NOT_SHOWN = f"not shown: expected {SHOWN} that lies in the notebook"
MAX_PICTURES = 16 << 20  # signs of base64 that the pictures of one text may have: 12 MB
MAX_AGAIN = 1 << 20  # of pictures that the text has shown before
MAX_ADDRESSES = 2 * MAX_TEXT  # signs: one address may stand once, and be pointed to often
IMG_TAG = re.compile(r"(<img\b[^>]*>)", re.IGNORECASE)
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
    shown = list[str]()
    for token, text in PythonLexer(stripnl=False).get_tokens(cut(source).rstrip("\n")):
        kind = _kind(token)
        shown.append(f'<span class="{kind}">{escape(text)}</span>' if kind else escape(text))
    return Markup(f'<pre class="code" tabindex="0">{"".join(shown)}</pre>')


@functools.cache
def _kind(token: Any) -> str:
    """Returns the class that a kind of token has in a style sheet of Pygments, or the nearest kind above it."""
    return next((STANDARD_TYPES[part] for part in reversed(token.split()) if part in STANDARD_TYPES), "")


def sentence(text: str) -> Markup:
    """Returns a sentence, with what stands between two backticks as code."""
    parts = re.split(r"`([^`\n]+)`", cut(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if odd % 2 else part for odd, part in enumerate(parts)
    )


# --- Markdown ---------------------------------------------------------------------------------------------------------


class _Renderer(HTMLRenderer):
    """Markdown without raw HTML, without links, with formulas as MathML, and with the pictures that lie in it.

    `under` is the level of the heading that it stands under: its own headings come below that one. Those of a text
    that is whole begin just below, and leave no level out; a cell of a notebook may begin at any level.
    """

    def __init__(self, under: int, pictures: Mapping[str, Any], *, whole: bool) -> None:
        super().__init__(escape=True, allow_harmful_protocols=False)
        self._under, self._whole, self._pictures = under, whole, pictures
        self._open = list[int]()  # the levels of the headings that the next one may stand under
        self._read = dict[object, tuple[str, str] | None]()  # pictures by where they lie: a text may refer to one often
        self._written = set[str]()
        self._room, self._again, self._addresses = MAX_PICTURES, MAX_AGAIN, MAX_ADDRESSES  # what is left

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
        return "".join(self._tag(part) if odd % 2 else self.text(part) for odd, part in enumerate(IMG_TAG.split(html)))

    def block_html(self, html: str) -> str:
        return f"<p>{self.inline_html(html.strip())}</p>\n"

    def _tag(self, tag: str) -> str:
        """Returns a picture of the notebook for the tag of one; any other tag as it was typed."""
        found = _ImageTag(tag).found
        return self._picture(found.get("alt", ""), found["src"]) if "src" in found else self.text(tag)

    def _picture(self, alt: str, url: str) -> str:
        """Returns a picture that lies in the notebook, decoded and encoded again, or what is shown in its place."""
        alt = ANSI.sub("", alt)[:2000] or "a picture without a description"
        found = self._find(url)
        if found is None:
            return f"[picture: {self.text(alt)} ({NOT_SHOWN})]"
        if found[1] in self._written:
            self._again -= len(found[1])
            if self._again < 0:
                return f"[picture: {self.text(alt)} (the same one stands above)]"
        else:
            if len(found[1]) > self._room:
                most = f"the pictures of one text have at most {MAX_PICTURES * 3 // 4 >> 20} MB on this page"
                return f"[picture: {self.text(alt)} (not shown: {most})]"
            self._room -= len(found[1])
            self._written.add(found[1])
        alt = html.escape(alt).replace("=", "&#61;").replace(":", "&#58;")  # then not even a grep finds an attribute
        return f'<img alt="{alt}" src="data:{found[0]};base64,{found[1]}">'

    def _find(self, url: str) -> tuple[str, str] | None:
        """Returns kind and base64 of a picture of the notebook that can be shown, else None."""
        held = None if url[:5].lower() == "data:" else self._held(url)
        key: object = url if held is None else id(held)
        if key not in self._read:
            encoded = unquote(url.partition(";base64,")[2]) if held is None else _text(next(iter(held.values()), ""))
            self._read[key] = read_picture(encoded)
        return self._read[key]

    def _held(self, url: str) -> Mapping[str, Any] | None:
        held = self._pictures.get(url[11:]) or self._pictures.get(unquote(url[11:]))
        return held if isinstance(held, Mapping) else None

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
        if address == text:
            return address
        self._addresses -= len(address)
        return f"{text} ({address})" if self._addresses >= 0 else text

    def image(self, text: str, url: str, title: str | None = None) -> str:
        alt = html.unescape(re.sub(r"<[^>]*>", "", text))
        return self._picture(alt, url) if LIES_HERE.match(url) else f"[picture: {self.text(alt)}]"


class _ImageTag(HTMLParser):
    """Reads `src` and `alt` of a tag whose picture lies in the notebook."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self.feed(tag)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "img" and LIES_HERE.match(attributes.get("src", "")):
            self.found = {name: attributes[name] for name in ("src", "alt") if name in attributes}


def markdown(text: str, under: int = 0, *, whole: bool = True, pictures: Mapping[str, Any] | None = None) -> Markup:
    """Returns Markdown as HTML: raw HTML is shown as it was typed, links are text, formulas are MathML.

    Args:
        text: the Markdown.
        under: the level of the page's heading that it stands under, 0 to 6.
        whole: whether it is a text of its own, and no cell of a notebook whose other cells have headings too.
        pictures: the attachments of its cell; what is no safe picture is reported as left out.
    """
    if len(BEGINNING.findall(text)) > MAX_BLOCKS:
        return Markup('<pre tabindex="0">{}</pre>').format(cut(text))
    try:
        made = MarkdownWithMath(renderer=_Renderer(under, pictures or {}, whole=whole)).render(text[:MAX_TEXT])
    except Exception as problem:  # noqa: BLE001 - whatever a stranger's text does to a parser: the page goes on
        reason = f"its Markdown cannot be read ({type(problem).__name__}); it is shown as it was typed"
        return Markup('<p>{}</p>\n<pre tabindex="0">{}</pre>').format(reason, cut(text))
    left_out = Markup("<p>... ({} characters more)</p>").format(len(text) - MAX_TEXT) if len(text) > MAX_TEXT else ""
    return Markup(made) + left_out  # every part is escaped


@pass_context
def markdown_of_cell(context: Context, text: str) -> Markup:
    """Returns the Markdown of the cell that nbconvert is at, with its pictures; for formgrader's pages."""
    cell = context.get("cell")
    pictures = cell.get("attachments") if isinstance(cell, Mapping) else None
    return markdown(text, pictures=pictures if isinstance(pictures, Mapping) else None)


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
    found = read_picture(encoded)
    if found is None:
        return Output("[a picture that cannot be shown]")
    alt = ANSI.sub("", alt)[:2000] or "A figure that this cell made, without a description."
    return Output(alt, picture=f"data:{found[0]};base64,{found[1]}")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "".join(str(part) for part in value or ())
