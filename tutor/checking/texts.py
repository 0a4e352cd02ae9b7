"""Texts that somebody else has written, as they may be shown."""

import builtins
import unicodedata

LONGEST = 400  # signs of a sentence
INCOMPLETE = getattr(builtins, "_IncompleteInputError", SyntaxError)  # what Python says since 3.13 of an open bracket
SYNTAX_ERRORS = (SyntaxError, IndentationError, TabError, INCOMPLETE)


def name_of_error(problem: BaseException) -> str:
    """Returns the name of an exception's class as books have it."""
    return "SyntaxError" if type(problem) is INCOMPLETE else type(problem).__name__


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
