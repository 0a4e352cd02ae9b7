"""What is measured of answers in notebook 06: words that are drawn."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from tutor.checking.answers import Question
from tutor.checking.compare import name_of
from tutor.checking.measures.registry import NotMeasured, measure


@measure("variety", "whether most of the words differ from each other")
def _variety(ask: Question, value: Any) -> bool:
    """Returns whether more than half of the numbers of a list are different ones."""
    numbers = _whole_list(value)
    return 2 * len(set(numbers)) > len(numbers)


@measure("two calls", "what two calls in a row draw")
def _two_calls(ask: Question, value: Any) -> str:
    """Returns in words whether a list that is drawn is another one when it is drawn again, of what "again" takes."""
    if not isinstance(value, dict):
        raise NotMeasured(f"expected a list, got {name_of(value)}")
    first, *others = [_whole_list(part) for name, part in value.items() if isinstance(part, list | tuple | Tensor)]
    return "another one each time" if len(others) > 1 and first not in others else "the same one again"


LARGEST = 2**53  # of larger whole numbers, many can be made that Python's sets take for each other at first


def _whole_list(value: Any) -> list[int]:
    """Returns the whole numbers of a tensor, or of a list of numbers or of tensors with one number."""
    numbers = value.tolist() if isinstance(value, Tensor) else value
    if isinstance(numbers, list | tuple):
        numbers = [one.item() if isinstance(one, Tensor) and one.numel() == 1 else one for one in numbers]
    if not isinstance(numbers, list | tuple) or not all(isinstance(number, int) for number in numbers):
        raise NotMeasured(f"expected a list of whole numbers, got {name_of(value)}")
    if not all(abs(number) < LARGEST for number in numbers):
        raise NotMeasured("expected a list of numbers of words, got one that is far too large")
    return list(numbers)


@measure("chances", "how often the likeliest words are drawn")
def _chances(ask: Question, value: Any) -> dict[str, str]:
    """Returns in words how many of the words behind the prompt are of `extra["likeliest"]`, a list of numbers.

    The prompt has `extra["given"]` words. Those are meant to come half of the time; of 60 words, between a fifth and
    four fifths of them are about half: chance alone leaves that less than once in a million times. With
    `extra["rarest"]`, which are meant to come a fifth of the time, it is noted whether any comes: none does by chance
    about once in a million times.
    """
    numbers = _whole_list(value)
    new = numbers[ask.extra["given"] :]
    if "rarest" in ask.extra:
        is_one = len(set(new)) == 1  # again and again: which one says nothing
        drawn = not is_one and bool(set(new) & set(ask.extra["rarest"]))
        return {"of the rare words": "some are drawn" if drawn else "none is drawn"}
    likeliest = set(ask.extra["likeliest"])
    share = sum(number in likeliest for number in new) / max(1, len(new))
    share_in_words = "hardly any" if share < 0.2 else "nearly all" if share > 0.8 else "about half"
    return {"of the drawn words": f"{share_in_words} are of the likeliest"}
