"""Random answers: many draws of one generator, and the words in which `spans` tells what they have in common."""

from typing import Any

import pytest
import torch
from torch import Tensor

from helpers.checking.answers import Ask, InProcess, Reply
from helpers.checking.measures import measured
from helpers.checking.plain import Generator
from helpers.checking.takes import DRAWS

MASK, PAD = 4, 0
TEXT = torch.arange(5, 11)


def test_draws_are_calls_in_a_row_with_one_generator() -> None:
    def answer(rng: torch.Generator) -> Tensor:
        return torch.randint(0, 1000, (3,), generator=rng)

    reply = InProcess(answer).ask(Ask((Generator(3),), take="draws"), 20)
    rng = torch.Generator().manual_seed(3)
    assert len(reply.value) == DRAWS
    assert torch.equal(torch.stack(reply.value), torch.stack([answer(rng) for _ in range(DRAWS)]))


def told(of: str, *wholes: list[int]) -> Any:
    """Returns what is said of draws with these numbers, each cut into x and y."""
    draws = [(torch.tensor(whole[:-1]), torch.tensor(whole[1:])) for whole in wholes]
    beside = {"of": of, "mask": MASK, "padding": PAD}
    ask = Ask((TEXT, Generator(0), len(wholes[0]) - 1), take="draws", beside=beside)
    return measured("spans", ask, Reply("value", draws)).value


@pytest.mark.parametrize(
    ("whole", "masks", "order", "padding"),
    [
        ([5, 6, 4, 9, 4, 7, 8, 0, 0], "two", "prefix, suffix, content", "at the end only"),
        ([4, 7, 8, 9, 4, 5, 6, 0, 0], "two", "prefix, suffix, content", "at the end only"),
        ([5, 6, 4, 7, 8, 4, 9, 0, 0], "two", "prefix, content, suffix", "at the end only"),
        ([5, 6, 4, 9, 7, 8, 0, 0, 0], "one", "another", "at the end only"),
        ([5, 6, 4, 9, 4, 8, 7, 0, 0], "two", "another", "at the end only"),
        ([5, 6, 4, 9, 0, 4, 7, 8, 0], "two", "another", "between"),
    ],
)
def test_the_pattern_is_told(whole: list[int], masks: str, order: str, padding: str) -> None:
    assert told("pattern", whole) == {"<mask>": masks, "order": order, "padding": padding}


def test_lengths_and_places_are_told() -> None:
    first, last = [4, 6, 7, 8, 4, 5, 0, 0, 0], [5, 6, 4, 4, 7, 8, 0, 0, 0]
    assert told("kept", first, last) == {"shortest": 4, "longest": 4, "all lengths": "equally often"}
    assert set(told("place", first, last).values()) == {"sometimes"}
    assert set(told("place", first).values()) == {"sometimes", "never"}
    said = told("content", first, last)
    assert list(said.values()) == ["never empty", "about 40 %", "varies"]
    assert told("content", [5, 6, 7, 8, 4, 4, 0, 0, 0])["content"] == "sometimes empty"


def test_the_shift_is_told() -> None:
    x = torch.tensor([5, 6, 4, 9])
    ask = Ask((TEXT, Generator(0), 4), beside={"of": "shift", "mask": MASK, "padding": PAD})
    for y, said in (([6, 4, 9, 4], "x one place ahead"), ([5, 6, 4, 9], "x itself"), ([1, 5, 6, 4], "something else")):
        assert measured("spans", ask, Reply("value", (x, torch.tensor(y)))).value == {"y": said}


@pytest.mark.parametrize(
    "value", [3, (torch.zeros(4),), (torch.zeros(4), torch.zeros(4)), (torch.zeros(3).long(),) * 2]
)
def test_what_are_no_two_rows_is_said_in_one_sentence(value: Any) -> None:
    ask = Ask((TEXT, Generator(0), 4), beside={"of": "shift", "mask": MASK, "padding": PAD})
    reply = measured("spans", ask, Reply("value", value))
    assert reply.outcome == "unreadable"
    assert reply.error.startswith("expected two")
