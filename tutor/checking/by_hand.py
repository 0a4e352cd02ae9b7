"""Compare values that were worked out by hand: nested lists of numbers or texts, at their positions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from torch import Tensor

Position = tuple[int, ...]


def leaves(value: Any, position: Position = ()) -> Iterator[tuple[Position, Any]]:
    """Yields the single values of nested lists, or of a tensor, each with its position."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from leaves(part, (*position, number))
    else:
        yield position, value


def alike(yours: Any, wanted: Any, tolerance: float) -> bool:
    """Says whether two single values are the same, numbers within a tolerance."""
    if isinstance(yours, int | float) and isinstance(wanted, int | float):
        return math.isclose(yours, wanted, rel_tol=tolerance, abs_tol=tolerance)
    if isinstance(yours, str) and isinstance(wanted, str):
        return yours.strip() == wanted
    return type(yours) is type(wanted) and bool(yours == wanted)


def same(first: Any, second: Any, tolerance: float) -> bool:
    """Says whether two results have the same values at the same positions, within a tolerance."""
    one, two = dict(leaves(first)), dict(leaves(second))
    return one.keys() == two.keys() and all(alike(one[position], two[position], tolerance) for position in one)


def shape(values: Mapping[Position, Any]) -> str:
    """Returns how many values there are, and in which form, in words."""
    depth = max(map(len, values), default=0)
    if depth == 0:
        return "one value" if values else "none"
    sizes = [len({position[: level + 1] for position in values if len(position) > level}) for level in range(depth)]
    counts = [sizes[0], *(later // earlier for earlier, later in pairwise(sizes))]
    if math.prod(counts) == len(values) and all(len(position) == depth for position in values):
        *lists, last = counts
        return "".join(f"{count} list{'s' * (count > 1)} of " for count in lists) + f"{last} value{'s' * (last > 1)}"
    return f"{len(values)} values in {counts[0]} lists of unequal length"


def at(position: Position) -> str:
    """Returns a position in words: "value 3", or "row 1, value 2"; counted from 1."""
    *outer, last = position
    rows = "".join(f"{'row' if number == len(outer) - 1 else 'block'} {one + 1}, " for number, one in enumerate(outer))
    return f"{rows}value {last + 1}"
