"""Functions that stand in for slow ones: they give recorded results, and each of their calls is noted.

So an answer that calls what it is given (a training, a way to save) is asked with plain values like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tutor.checking import plain


class Interrupted(KeyboardInterrupt):
    """A recorded function was told to stop here."""


class Failed(RuntimeError):
    """A recorded function was told to fail here."""


class Spy:
    """The function that a `plain.Recorded` describes. `log` holds its calls: its name, the arguments as they were."""

    def __init__(self, recipe: plain.Recorded) -> None:
        self.recipe, self.log, self.calls = recipe, list[list[Any]](), 0

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Returns what was recorded for these arguments.

        Raises:
            Interrupted, Failed: at the call that the recipe names.
            LookupError: when nothing was recorded for them.
        """
        given = plain.encode([*arguments, *keywords.values()])
        self.calls += 1
        self.log.append([self.recipe.name, plain.decode(given)])
        if self.calls == self.recipe.stop_at:
            raise Failed("as where memory has run out") if self.recipe.fails else Interrupted("as by Ctrl-C")
        if self.recipe.results is None:
            return None
        for wanted, gives in self.recipe.results:
            if plain.encode(wanted) == given:
                return plain.decode(plain.encode(gives))  # a new one at each call
        raise LookupError(f"{self.recipe.name} was called with arguments that are none of those it is made for")


def log(inputs: Sequence[Any], act: Callable[[], Any]) -> list[list[Any]]:
    """Returns the calls of all recorded functions among the inputs during `act()`, in order; one of them may end it."""
    notes: list[list[Any]] = []
    for value in inputs:
        if isinstance(value, Spy):
            value.log = notes
    try:
        act()
    except (Interrupted, Failed):
        notes.append(["interrupted", []])
    return notes
