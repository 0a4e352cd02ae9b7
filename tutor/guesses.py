"""`guess(what, yours)` before an experiment, and behind it `reveal(what, measured)`: your guess beside what came out.

The guess is the text of its cell, so it is kept with the notebook and stays where the notebook is. It earns nothing,
nothing is asked of who leaves the dots, and nothing of it acts where nbgrader gives marks.
"""

from __future__ import annotations

import html
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, TypeAlias

from tutor import overview

CLOSE = 2  # a number is close within this factor
COUNTS = 10  # up to this a whole number is a count, and close only when it is right
Guess: TypeAlias = "float | str | list[str]"

_made: dict[str, Guess] = {}  # the guesses of this kernel, by what they are about


def guess(what: str, yours: Any, among: Sequence[str] = ()) -> None:
    """Notes what you expect an experiment to show; the cell behind the experiment compares.

    Args:
        what: what the guess is about, in a few words.
        yours: a number; or one of `among`; or all of them as a list, in the order that you expect. Dots are no guess.
        among: the possible answers, where it is not a number.
    """
    _made.pop(what, None)
    if isinstance(yours, EllipsisType) or os.environ.get("NBGRADER_EXECUTION") == "autograde":
        return
    noted = _read(yours, among)
    if noted is None:
        print(f"That is no guess yet: expected {_expected(among, yours)} in place of {yours!r}.")
        return
    _made[what] = noted
    print(f"Noted: {said(noted)}. The cell behind the next experiment compares.")


def _read(yours: Any, among: Sequence[str]) -> Guess | None:
    """Returns a guess, None where it is not of the form that is asked for."""
    if not among:
        is_number = isinstance(yours, int | float) and not isinstance(yours, bool) and math.isfinite(yours)
        return float(yours) if is_number else None
    names = {name.casefold(): name for name in among}
    if isinstance(yours, str):
        return names.get(yours.strip().casefold())
    if isinstance(yours, list | tuple) and all(isinstance(one, str) for one in yours):
        order = [names.get(one.strip().casefold(), "") for one in yours]
        return order if sorted(order) == sorted(among) else None
    return None


def _expected(among: Sequence[str], yours: Any) -> str:
    if not among:
        return "a number, such as 0.5 or 40"
    options = ", ".join(f'"{name}"' for name in among)
    return f"all of {options}, as a list" if isinstance(yours, list | tuple) else f"one of {options}"


@dataclass(frozen=True)
class Told:
    """A guess beside what was measured."""

    what: str
    yours: Guess
    measured: Guess

    @property
    def is_close(self) -> bool:
        """Whether it was right; a number counts within a factor of two, but for a small count."""
        if isinstance(self.yours, float) and isinstance(self.measured, float):
            if self.measured.is_integer() and abs(self.measured) <= COUNTS:
                return self.yours == self.measured
            small, large = sorted((abs(self.yours), abs(self.measured)))
            same_sign = math.copysign(1, self.yours) == math.copysign(1, self.measured) or large == 0
            return same_sign and large <= CLOSE * small
        return self.yours == self.measured

    def __str__(self) -> str:
        if isinstance(self.yours, float) and isinstance(self.measured, float):
            return f"You guessed {said(self.yours)}; it is {said(self.measured)}{self._times()}."
        if self.yours == self.measured:
            return f"You guessed {said(self.yours)}, and so it is."
        return f"You guessed {said(self.yours)}; it is {said(self.measured)}."

    def _times(self) -> str:
        """Returns how many times as much it is, where that is worth saying."""
        ratio = float(self.measured) / float(self.yours) if self.yours else 0.0  # type: ignore[arg-type]  # floats here
        if self.is_close or ratio <= 0:
            return ""
        return f", {said(ratio)} times as much" if ratio > 1 else f", 1/{said(1 / ratio)} of that"

    __repr__ = __str__

    def _repr_mimebundle_(self, **keywords: Any) -> dict[str, Any]:
        return {overview.GUESS: {"what": self.what, "close": self.is_close}}

    def _repr_html_(self) -> str:
        from helpers.theme import box, colour

        content = f"<b>{html.escape(self.what)}</b>: {html.escape(str(self))}"
        return box(content, colour("right" if self.is_close else "open"))


def reveal(what: str, measured: Any) -> None:
    """Shows a guess beside what was measured; nothing where there was no guess.

    Args:
        what: what the guess was about, as `guess` was told.
        measured: a number (a tensor of one value, too), the name that came out, or all names in their order. Or a
            function that works it out: it is called only where there is a guess, and changes no random numbers.
    """
    if what not in _made:
        return
    if callable(measured):
        from torch.random import fork_rng

        with fork_rng():
            measured = measured()
    value = [*measured] if isinstance(measured, list | tuple) else measured
    told = Told(what, _made[what], value if isinstance(value, str | list) else float(value))
    overview.note_guess(what, told.is_close)
    overview.show(told)


def said(value: Guess) -> str:
    """Returns a guess or a measurement as text; a number with three digits that count."""
    if not isinstance(value, float):
        return value if isinstance(value, str) else ", ".join(value)
    if 1000 <= abs(value) < 1e15:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"
