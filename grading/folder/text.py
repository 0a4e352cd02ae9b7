"""Text that somebody else has chosen, made safe to print. Standard library only."""

from __future__ import annotations


def printable(text: str, limit: int = 200) -> str:
    """Returns text in which no sign is left that a terminal would obey, each as its escape, cut at `limit` signs."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)[:limit]


def one_line(text: str, limit: int = 300) -> str:
    """Returns text on one line, with single spaces, cut at `limit` signs."""
    return " ".join(text.split())[:limit]
