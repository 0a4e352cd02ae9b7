"""`by_hand(exercise, yours)`: right, or the known mistake whose result that is, before a line of code is written.

The example is the one that the text works out. Its result, and what the known mistakes make of it, stand beside the
public examples of the exercise; no mark is given for it, and grading never asks it.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

from tutor import overview
from tutor.checking import plain
from tutor.checking.by_hand import alike, at, leaves, same, shape
from tutor.checking.verdict import sentence_as_html
from tutor.checks import EXAMPLES


@dataclass(frozen=True)
class ByHand:
    """What there is to say of values that were worked out by hand."""

    exercise: str
    is_right: bool
    sentence: str

    def __str__(self) -> str:
        return f"{self.exercise}, by hand: {self.sentence}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from helpers.theme import box, colour

        content = f"<b>{html.escape(self.exercise)}, by hand</b>: {sentence_as_html(self.sentence)}"
        return box(content, colour("right" if self.is_right else "wrong"))


def by_hand(exercise: str, yours: Any) -> None:
    """Says whether the example that the text works out is right, or which known mistake gives these values.

    Args:
        exercise: the name of the exercise that the example belongs to.
        yours: a number, a text, or lists of them, as many as the example has; dots are no values yet.

    Raises:
        LookupError: when no exercise of this name has such an example.
    """
    if os.environ.get("NBGRADER_EXECUTION") == "autograde":
        return
    file = {path.stem: path for path in EXAMPLES.glob("*/*.json")}.get(exercise)
    entry = json.loads(file.read_text("utf-8")) if file else {}
    if "by_hand" not in entry:
        raise LookupError(f"there is no example by hand for {exercise!r}; write the name as the cell had it.")
    if any(isinstance(value, EllipsisType) for _, value in leaves(yours)):
        return
    overview.show(judged(exercise, yours, entry["by_hand"], entry["hints"]))


def judged(exercise: str, yours: Any, example: Mapping[str, Any], hints: Mapping[str, str]) -> ByHand:
    """Returns what there is to say of a student's values, for an example of the stored form."""
    wanted, values = dict(leaves(plain.decode(example["wanted"]))), dict(leaves(yours))
    tolerance = example["tolerance"]
    wrong = [one for one, value in wanted.items() if one not in values or not alike(values[one], value, tolerance)]
    if not wrong and values.keys() == wanted.keys():
        return ByHand(exercise, True, "right.")  # noqa: FBT003
    for name, result in example["mistakes"].items():
        if same(plain.decode(result), yours, tolerance):
            return ByHand(exercise, False, f"this looks like: {name}. {hints[name]}")  # noqa: FBT003
    if values.keys() != wanted.keys():
        return ByHand(exercise, False, f"expected {shape(wanted)}, got {shape(values)}.")  # noqa: FBT003
    if len(wanted) == 1:
        return ByHand(exercise, False, "that is not right yet.")  # noqa: FBT003
    others = f"; {len(wrong)} of the {len(wanted)} values are not." if len(wrong) > 1 else ", all others are."
    return ByHand(exercise, False, f"{at(wrong[0])} is not right yet{others}")  # noqa: FBT003
