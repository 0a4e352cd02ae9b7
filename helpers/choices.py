"""One sentence for a name that is not among those to choose from."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

Value = TypeVar("Value")


def refuse_unknown(what: str, given: object, known: Iterable[str]) -> None:
    """Raises ValueError, with the list of what there is, when `given` is none of the names `known`.

    Args:
        what: what is chosen, "schedule" for example.
        given: what somebody has asked for.
        known: the names that there are, in the order of the list.
    """
    names = list(known)
    if given not in names:
        raise ValueError(f"there is no {what} {given!r}: take one of {', '.join(names)}")


def pick(what: str, given: str, table: Mapping[str, Value]) -> Value:
    """Returns what a table holds under a name; raises ValueError with the list of names when it holds nothing."""
    refuse_unknown(what, given, table)
    return table[given]
