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
SHARE = 0.1  # and one that is measured as at most 1 only if it is no farther off than this, too
COUNTS = range(2, 11)  # a small count is close only when it is right
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
    print(f"Noted: {as_text(noted)}. The cell after the experiment compares.")


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
class Comparison:
    """A guess beside what was measured."""

    what: str
    yours: Guess
    measured: Guess

    @property
    def is_close(self) -> bool:
        """Whether it was right; a number counts within a factor of two, a share also only within 0.1."""
        if not isinstance(self.yours, float) or not isinstance(self.measured, float):
            return self.yours == self.measured
        if self.measured.is_integer() and self.measured in COUNTS:
            return self.yours == self.measured
        small, large = sorted((abs(self.yours), abs(self.measured)))
        is_near = abs(self.measured) > 1 or abs(self.yours - self.measured) <= SHARE + 1e-9
        same_sign = math.copysign(1, self.yours) == math.copysign(1, self.measured) or large == 0
        return same_sign and is_near and large <= CLOSE * small

    def __str__(self) -> str:
        if self.yours == self.measured:
            return f"You guessed {as_text(self.yours)}, and so it is."
        return f"You guessed {as_text(self.yours)}; it is {as_text(self.measured)}{self._times()}."

    def _times(self) -> str:
        """Returns how many times as much it is, where that is worth saying."""
        if not isinstance(self.yours, float) or not isinstance(self.measured, float) or self.is_close:
            return ""
        ratio = self.measured / self.yours if self.yours else 0.0
        if not 0 < ratio < math.inf or 1 / CLOSE <= ratio <= CLOSE:
            return ""
        return f", {as_text(ratio)} times as much" if ratio > 1 else f", 1/{as_text(1 / ratio)} of that"

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
    comparison = Comparison(what, _made[what], value if isinstance(value, str | list) else float(value))
    overview.note_guess(what, comparison.is_close)
    overview.show(comparison)


def as_text(value: Guess) -> str:
    """Returns a guess or a measurement as text: a whole number in full, another one with three significant digits."""
    if not isinstance(value, float):
        return value if isinstance(value, str) else ", ".join(value)
    if value.is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{float(f'{value:.3g}'):,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"
