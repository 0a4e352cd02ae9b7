"""Texts that somebody else has written, as they may be shown."""

import unicodedata

LONGEST = 400  # signs of a sentence


def clean(text: str) -> str:
    """Returns a text that can be written to a file: halves of characters, which JSON can hold, become "?"."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def one_line(text: str, longest: int = LONGEST) -> str:
    """Returns the beginning of a text as one line without signs that cannot be seen, which could feign other lines."""
    beginning = clean(text[:longest])
    if not beginning.isprintable():
        beginning = "".join(sign if sign.isprintable() else " " for sign in beginning)
    return " ".join(beginning.split())


def is_latin_name(name: str) -> bool:
    """Says whether a text is a name of Python in Latin letters: in other alphabets some look like blanks and stops."""
    latin = all(sign.isascii() or unicodedata.name(sign, "").startswith("LATIN ") for sign in name)
    return latin and name.isidentifier()
