"""Formulas for pages that need no network: LaTeX to MathML, which browsers draw by themselves."""

from __future__ import annotations

import html
import re
from xml.etree.ElementTree import Element

LONGEST = 4000  # signs of LaTeX; the longest formula of the course has 300
_TAGS = (
    "math mrow mi mn mo mtext mspace ms mfrac msqrt mroot mstyle mpadded mphantom menclose msub msup "
    "msubsup munder mover munderover mmultiscripts mtable mtr mtd"
)
TAGS = frozenset(_TAGS.split())
_ATTRIBUTES = (
    "display mathvariant stretchy fence separator form lspace rspace largeop movablelimits symmetric "
    "minsize maxsize accent accentunder linethickness columnalign rowalign columnlines rowlines "
    "columnspacing rowspacing width height depth scriptlevel displaystyle notation"
)
ATTRIBUTES = frozenset(_ATTRIBUTES.split())

# A function of a name and its argument, between which the converter leaves no space: "lnV".
NAMED = re.compile(r"(<mi>(?:ln|log|exp|sin|cos|tan|tanh|max|min)</mi>)(?=<m(?:i|n|frac|sub|sup|sqrt|over)\b)")
SPACED = r'\1<mspace width="0.167em"></mspace>'


def mathml(latex: str, *, block: bool = False) -> str:
    """Returns a formula as MathML, or as code where it cannot be read. Safe for LaTeX that anybody wrote.

    Only presentation elements and their attributes are kept; every text is escaped.
    """
    from latex2mathml.converter import convert_to_element

    code = f'<code class="formula">{html.escape(latex)}</code>'
    if len(latex) > LONGEST:
        return code
    try:
        return NAMED.sub(SPACED, _text(convert_to_element(latex, display="block" if block else "inline")))
    except Exception:  # noqa: BLE001 - whatever a parser makes of what a student typed, the page is made
        return code


def _text(element: Element) -> str:
    """Returns an element as HTML text; what is no presentation element leaves only its content."""
    inside = _escaped(element.text) + "".join(_text(child) + _escaped(child.tail) for child in element)
    tag = element.tag.rpartition("}")[2]
    if tag not in TAGS:
        return inside
    kept = {name: value for name, value in element.attrib.items() if name in ATTRIBUTES}
    attributes = "".join(f' {name}="{html.escape(value, quote=True)}"' for name, value in kept.items())
    return f"<{tag}{attributes}>{inside}</{tag}>"


def _escaped(text: str | None) -> str:
    return html.escape(html.unescape(text or ""))  # the converter writes signs as entities
