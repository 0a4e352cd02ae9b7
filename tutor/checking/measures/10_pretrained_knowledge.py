"""What is measured of answers in notebook 10: how spans of a text are moved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from tutor.checking.answers import Question
from tutor.checking.compare import dtype_kind, name_of
from tutor.checking.measures.registry import NotMeasured, measure

SHORTEST = 4  # of a text of so many numbers all are kept each time
Pair = tuple[list[int], list[int]]  # x and y of a draw: hundreds are looked at, and lists are fast
FAR_APART = 6.5  # standard errors: no right answer is so far from what is even, in any number of classes


@measure("spans", "what your function does to a text")
def _spans(ask: Question, value: Any) -> dict[str, Any]:
    """Returns in words how spans were moved behind a text, of `(x, y)` or of many draws of it (`Question.probe`).

    The inputs are a text `(n,)` of numbers that all differ, a generator and a size; x and y are of that size. Only
    `extra["of"]` is reported: "shift", "pattern", "kept", "content", "ends" or "place". `extra` also holds the numbers
    of `mask` and `padding`. Means have a tolerance of more than six standard errors. Of draws that are all the same,
    nothing is reported that hangs on which one it is.
    """
    text, mask, padding = ask.inputs[0], ask.extra["mask"], ask.extra["padding"]
    of, draws = ask.extra["of"], _drawn_pairs(ask, value)
    report = _report(of, text, draws, mask, padding)
    varies = of in ("content", "ends", "place") or (of == "kept" and len(text) > SHORTEST)
    if not varies or len(draws) == 1 or any(one != draws[0] for one in draws):
        return report
    return dict.fromkeys(report, "the same in all draws")


def _report(of: str, text: Tensor, draws: list[Pair], mask: int, padding: int) -> dict[str, Any]:
    """Returns what `_spans` reports of one draw or of many that differ."""
    if of == "shift":
        return {"y": _shift(text, draws, mask, padding)}
    # of the whole, which x and y share; whether its end is padding or -100 is asked by "shift" alone
    last = [padding if y[-1] == -100 else y[-1] for _, y in draws]
    parts = [_parts([*x, end], mask, padding) for (x, _), end in zip(draws, last, strict=True)]
    if of == "pattern":
        counts = {len(found) - 1 for found in parts}
        masks = {0: "none", 1: "one", 2: "two"}.get(min(counts), "") if len(counts) == 1 else ""
        return {
            "<mask>": masks or f"sometimes {'fewer' if min(counts) < 2 else 'more'} than two",
            "order": _order(text, parts),
            "padding": "at the end only" if not any(padding in found for one in parts for found in one) else "between",
            "the last number of y": "always <mask>" if all(end == mask for end in last) else "not always <mask>",
        }
    sizes = [sum(map(len, one)) for one in parts]  # how much of the text is kept
    if of == "kept":
        low, high, mean = min(sizes), max(sizes), sum(sizes) / len(sizes)
        at_ends = _more_at_the_ends([(size - low, high - low) for size in sizes])
        even = abs(mean - (low + high) / 2) < 0.1 * mean and abs(at_ends) < FAR_APART
        return {"shortest": low, "longest": high, "all lengths": "equally often" if even else "some more often"}
    thirds = [one for one in parts if len(one) == 3]
    if of == "ends":
        at = {"begins with the first": 0, "ends with the last": 1}
        seldom = {name: sum(not one[part] for one in thirds) < 0.15 * len(draws) for name, part in at.items()}
        return {f"the content {name} number": "seldom" if seldom[name] else "often" for name in at}
    if of == "place":
        at = {"the first": 0, "the last": 1}  # where no prefix, or no suffix, is left
        often = {name: any(not one[part] and one[2] for one in thirds) for name, part in at.items()}
        ends = {f"{name} number is in the content": "sometimes" if often[name] else "never" for name in at}
        position = _position(thirds) if 2 * len(thirds) > len(draws) else "not to be told"
        together = _together(thirds, _kept_and_position)
        return ends | {"the position": position, "how much is kept, and the position": together}
    contents = [one[2] for one in thirds]
    share = sum(map(len, contents)) / max(1, sum(sizes))
    long = [one for one in thirds if sum(map(len, one)) > 12]
    cut = all(contents) and _cut_at_the_end(long)
    length = "about 25 %" if abs(share - 0.25) < 0.04 else f"about {5 * round(20 * share)} %"
    by_size = {(size, len(one[-1])) for size, one in zip(sizes, parts, strict=True)}
    return {
        "content": "sometimes empty" if not all(contents) else "never empty",
        "mean length": "less than is drawn, because some are cut at the end" if cut else length,
        "length, where as much is kept": "varies" if len(by_size) > len(set(sizes)) else "always the same",
        "length and position": "go together" if cut else _together(long, _length_and_position),
    }


def _cut_at_the_end(thirds: list[list[list[int]]]) -> bool:
    """Says whether contents that begin so late that they do not fit are cut where what is kept ends.

    Then many end there, and are shorter than those that begin in the first half: about 0.7 times as long, a right
    answer's as long, and where those that do not fit are moved to the last position, 1.2 times. The mean of all of
    them, near 21 %, would not tell: five standard errors and more are wanted.
    """
    shares = [
        (prefix / (prefix + suffix + content), suffix, content / (prefix + suffix + content))
        for prefix, suffix, content in (map(len, one) for one in thirds)
    ]
    at_end = [length for _, suffix, length in shares if not suffix]
    early = [length for start, suffix, length in shares if suffix and start < 0.5]
    return bool(early) and len(at_end) > 0.12 * len(thirds) and fmean(at_end) < 0.9 * fmean(early)


def _position(thirds: list[list[list[int]]]) -> str:
    """Returns whether contents stand near the end as often as near the beginning, with six standard errors.

    Of few positions less than half may lie in the middle, one of five for example: what counts is how many more are
    drawn.
    """
    positions = [(len(one[0]), len(one[0]) + len(one[1])) for one in thirds if one[0] or one[1]]
    mean = sum(start / last for start, last in positions) / max(1, len(positions))
    if abs(mean - 0.5) > 0.075:
        return "more often near the beginning" if mean < 0.5 else "more often near the end"
    expected = [sum(_in_the_middle(start, last) for start in range(last + 1)) / (last + 1) for _, last in positions]
    more = (sum(_in_the_middle(*position) for position in positions) - sum(expected)) / max(1, len(positions))
    if abs(more) > 0.13:
        return "more often in the middle" if more > 0 else "more often near both ends"
    at_ends = _more_at_the_ends(positions)
    if abs(at_ends) > FAR_APART:
        return "more often in the middle" if at_ends < 0 else "more often near both ends"
    return "evenly"


def _more_at_the_ends(positions: Iterable[tuple[int, int]]) -> float:
    """Returns how many more positions `(start, last)` are 0 or `last` than of even draws, in standard errors.

    A share that is rounded, for example, gives the first and the last position half as often as each other one.
    """
    found = [(start in (0, last), 2 / (last + 1)) for start, last in positions if last > 1]
    spread = math.sqrt(sum(share * (1 - share) for _, share in found))
    return sum(at_end - share for at_end, share in found) / spread if found else 0.0


def _in_the_middle(start: int, last: int) -> bool:
    """Says whether a position from 0 to `last` is nearer to the middle than to both ends."""
    return last < 4 * start < 3 * last


def _length_and_position(prefix: int, suffix: int, content: int) -> tuple[float, float]:
    return content / (prefix + suffix + content), prefix / (prefix + suffix)


def _kept_and_position(prefix: int, suffix: int, content: int) -> tuple[float, float]:
    return prefix + suffix + content, prefix / (prefix + suffix)


def _together(thirds: list[list[list[int]]], look: Callable[[int, int, int], tuple[float, float]]) -> str:
    """Returns whether two numbers that `look` sees in the sizes of prefix, suffix and content go together."""
    pairs = [look(*map(len, one)) for one in thirds if one[2] and (one[0] or one[1])]
    if len(pairs) < 100 or 1 in map(len, map(set, zip(*pairs, strict=True))):  # what never varies goes with nothing
        return "drawn apart"
    both = torch.tensor(pairs, dtype=torch.float64).T
    return "drawn apart" if abs(float(torch.corrcoef(both)[0, 1])) < 0.3 else "go together"


def _shift(text: Tensor, draws: list[Pair], mask: int, padding: int) -> str:
    """Returns in words how y is shifted against x, the same in all draws."""
    known = {*text.tolist(), mask}  # with what a whole may begin
    found: dict[str, Callable[[list[int], list[int]], bool]] = {
        "x one position ahead": lambda x, y: y[:-1] == x[1:],
        "x itself": lambda x, y: y == x,
        "x one position behind": lambda x, y: y[1:] == x[:-1] and y[0] in known,
        "x one position ahead, but -100 for the padding": lambda x, y: (
            y[:-1] == [-100 if number == padding else number for number in x[1:]]
        ),
    }
    return next((name for name, fits in found.items() if all(fits(x, y) for x, y in draws)), "something else")


def _drawn_pairs(ask: Question, value: Any) -> list[Pair]:
    """Returns x and y of each draw; of many draws they may come stacked, and then all are as the first one."""
    shape = (ask.inputs[2],)
    if ask.probe != "draws":
        return [_pair(value, shape)]
    if isinstance(value, list):
        return [_pair(one, shape) for one in value]
    stacked = [part for part in value if isinstance(part, Tensor) and part.dim()] if isinstance(value, tuple) else []
    _pair(tuple(part[0] for part in stacked if len(part)), shape)
    return list(zip(*(part.tolist() for part in stacked), strict=False))


def _pair(value: Any, shape: tuple[int, ...]) -> Pair:
    """Returns the numbers of two tensors of whole numbers of this shape."""
    tensors = [part for part in value if isinstance(part, Tensor)] if isinstance(value, tuple | list) else []
    if len(tensors) != 2 or len(value) != 2:
        raise NotMeasured(f"expected two tensors of shape {shape}, x and y, got {name_of(value)}")
    if wrong := [part for part in tensors if tuple(part.shape) != shape or dtype_kind(part) != "integer"]:
        raise NotMeasured(f"expected two integer tensors of shape {shape}, got {name_of(wrong[0])}")
    return tensors[0].tolist(), tensors[1].tolist()


def _parts(whole: list[int], mask: int, padding: int) -> list[list[int]]:
    """Returns what stands before, between and after the masks, without the padding at the end."""
    parts, start = list[list[int]](), 0
    for _ in range(whole.count(mask)):
        end = whole.index(mask, start)
        parts.append(whole[start:end])
        start = end + 1
    end = len(whole)
    while end > start and whole[end - 1] == padding:
        end -= 1
    return [*parts, whole[start:end]]


def _order(text: Tensor, parts: list[list[list[int]]]) -> str:
    """Returns in which order three parts put together are the beginning of the text."""
    numbers = text.tolist()
    orders = {"prefix, suffix, content": (0, 2, 1), "prefix, content, suffix": (0, 1, 2)}
    for name, order in orders.items():
        joined = [[number for part in order for number in one[part]] for one in parts if len(one) == 3]
        if len(joined) == len(parts) and all(one == numbers[: len(one)] for one in joined):
            return name
    return "another"
