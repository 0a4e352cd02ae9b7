"""The code of a student as an example for everybody: without what could name its author."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Sequence

EXAMPLE_LINES = 14
MAX_SIGNS = 20_000  # of a source that are looked at: some of the first lines are shown, however long it is


def anonymise(source: str, names: Iterable[str]) -> str:
    """Returns the first lines of an example without what could name its author.

    Comments, docstrings and long texts go; what is left of the author's id and names becomes "student".
    """
    if len(source) > MAX_SIGNS:
        source = source[:MAX_SIGNS].rpartition("\n")[0]
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
        source = _join(tokens, _blank_texts(tokens))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        source = "\n".join(line for line in source.splitlines() if "#" not in line and '"' not in line)
    parts = {part for name in names for part in re.split(r"[\W_]+", name) if len(part) > 2}
    for part in sorted(parts, key=len, reverse=True):
        source = re.sub(rf"(?<![^\W_]){re.escape(part)}(?![^\W\d_])", "student", source, flags=re.IGNORECASE)
    lines = [line.rstrip() for line in source.splitlines() if line.strip()]
    return "\n".join(lines[:EXAMPLE_LINES] + ["..."] * (len(lines) > EXAMPLE_LINES))


def _blank_texts(tokens: Sequence[tokenize.TokenInfo]) -> list[str]:
    """Returns the text of each token that is no comment; docstrings and long texts are "...", in quotes."""
    texts, before = list[str](), tokenize.NEWLINE
    for token in tokens:
        text = token.string
        if token.type == tokenize.COMMENT:
            continue
        if token.type == tokenize.STRING and (" " in text.strip() or len(text) > 24 or before == tokenize.NEWLINE):
            text = '"..."'
        if token.type not in (tokenize.INDENT, tokenize.DEDENT, tokenize.NL):
            before = token.type
        texts.append(text)
    return texts


def _join(tokens: Sequence[tokenize.TokenInfo], texts: Iterable[str]) -> str:
    """Returns the texts of all tokens but comments with the spaces that stood before each of them."""
    parts, place, row = list[str](), 0, 0
    without_comments = (token for token in tokens if token.type != tokenize.COMMENT)
    for token, text in zip(without_comments, texts, strict=True):
        if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        if token.start[0] != row:
            row, place = token.start[0], 0
        ends_line = token.type in (tokenize.NEWLINE, tokenize.NL)
        parts += ["\n"] if ends_line else [token.line[place : token.start[1]], text]
        row, place = token.end
    return "".join(parts)
