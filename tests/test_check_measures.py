"""Answers that are measured: many are right, and what they do is told in words."""

import json
import re
from typing import Any

import pytest
import sympy
import torch
from torch import Tensor

from grading.authoring.examples import encode
from grading.exercise import Exercise, Mistake, Stage
from helpers import check as check_module
from helpers.checking import measures, plain
from helpers.checking.answers import Ask, InProcess, Reply
from helpers.checking.judging import judge
from helpers.checking.measures import measured
from helpers.checking.plain import Generator
from tests.checking import LANGUAGE_MODEL, classifier_of, number_exercise


def test_rows_may_be_asked_to_be_alike() -> None:
    asks = [Ask((LANGUAGE_MODEL,), then=(torch.tensor([[1, 4, 0], [1, 4, 5]]), torch.tensor([2, 2])))]
    stage = Stage("padding", 1, "read the last real token", asks, lambda rng: asks, measure="rows alike")
    examples = Exercise(classifier_of, [stage], []).public_examples()
    assert judge(examples, InProcess(classifier_of)).outcome == "right"
    assert judge(examples, InProcess(lambda model: model)).outcome == "wrong"


def measured_exercise() -> Exercise:
    """Asks for a query that copies the first of two values; what is compared is the output, here the weights."""

    def query(keys: Tensor, scale: float) -> Tensor:
        return scale * keys[0]

    keys = torch.tensor([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]])
    drawn = keys.repeat(2, 1, 1) * torch.tensor([1.0, 2.0])[:, None, None]
    asks = [Ask((keys, 2.0))]
    more = [Ask((keys, 2.0), beside={"keys": drawn, "values": torch.tensor([[3.0], [7.0]])})]
    return Exercise(
        query,
        [
            Stage("weights", 1, "copy", asks, lambda rng: asks, measure="attention"),
            Stage("outputs of two draws", 1, "copy", more, lambda rng: more, measure="attention"),
        ],
        [Mistake("the scale is missing", "Multiply.", lambda keys, scale: keys[0])],
    )


@pytest.mark.parametrize(
    "answer",
    [
        lambda keys, scale: scale * keys[0],
        lambda keys, scale: -scale * keys[1],
        lambda keys, scale: scale * keys[0].double() + torch.tensor([0.0, 0.0, 5.0]),
    ],
)
def test_answers_that_differ_are_right_when_their_measure_is(answer: Any) -> None:
    assert judge(measured_exercise().public_examples(), InProcess(answer)).outcome == "right"


def test_a_mistake_is_recognised_by_its_measure() -> None:
    unscaled = InProcess(lambda keys, scale: keys[0] + torch.tensor([0, 0, 1.0]))
    said = judge(measured_exercise().public_examples(), unscaled)
    assert said.mistake == "the scale is missing"
    assert "the output of attention with your query: 2 of 2 values differ" in str(said)
    hidden = judge(measured_exercise().drawn_examples("ada"), InProcess(lambda keys, scale: keys[0]), hidden=True)
    assert hidden.mistake == "the scale is missing"
    assert not re.search(r"expected 0|got 0", str(hidden))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "did you forget to return the result?"),
        (2.0, "expected a tensor of shape (3,), got the float 2.0"),
        ([1.0, 2.0, 3.0], "expected a tensor of shape (3,), got a list"),
        (torch.zeros(1, 3), "expected a tensor of shape (3,), got (1, 3)"),
        (torch.zeros(3, dtype=torch.complex64), "expected floating point values, got a complex tensor of shape (3,)"),
        (torch.zeros(3, dtype=torch.bool), "expected floating point values, got a bool tensor of shape (3,)"),
        (torch.full((3,), torch.nan), "values are NaN (not a number)"),
        (torch.full((3,), torch.inf), "values are NaN (not a number)"),
        (torch.zeros(3).to_sparse(), "expected a tensor of shape (3,), got a sparse_coo tensor"),
        (torch.zeros(3, device="meta"), "expected a tensor of shape (3,), got a"),
        ({"query": torch.zeros(3)}, "expected a tensor of shape (3,), got a dict"),
        (sympy.Symbol("q"), "expected a tensor of shape (3,), got a sympy expression"),
    ],
)
def test_a_value_that_cannot_be_measured_gets_one_sentence(value: Any, sentence: str) -> None:
    said = judge(measured_exercise().public_examples(), InProcess(lambda keys, scale: value))
    assert said.outcome == "wrong"
    assert sentence in str(said)
    hidden = judge(measured_exercise().drawn_examples("ada"), InProcess(lambda keys, scale: value), hidden=True)
    assert (hidden.outcome, hidden.earned) == ("wrong", 0)


def test_what_lies_beside_a_question_does_not_reach_the_answer() -> None:
    asked: list[Ask] = []

    class Spy(InProcess):
        def ask(self, question: Ask, seconds: float = 2.0) -> Any:
            asked.append(question)
            return super().ask(question, seconds)

    judge(measured_exercise().public_examples(), Spy(lambda keys, scale: keys[0]))
    assert len(asked) == 2
    assert not any(question.beside for question in asked)


def test_a_measure_survives_the_file_of_examples() -> None:
    stored = json.loads(json.dumps(encode(measured_exercise())))
    assert [stage["measure"] for stage in stored["stages"]] == ["attention", "attention"]
    examples = check_module._decode_examples("query", stored)
    assert judge(examples, InProcess(lambda keys, scale: -scale * keys[1])).outcome == "right"
    assert judge(examples, InProcess(lambda keys, scale: keys[0])).mistake == "the scale is missing"
    assert "measure" not in json.dumps(encode(number_exercise()))


@pytest.mark.parametrize("value", [torch.zeros(2, 4), (torch.zeros(4), torch.zeros(4)), [torch.zeros(4)] * 2])
def test_two_heads_may_come_as_one_tensor_or_one_by_one(value: Any) -> None:
    ask = Ask((torch.eye(3, 4), 0, 1, 20.0))
    weights = measures.measured("two heads", ask, Reply("value", value)).value
    assert torch.allclose(weights, torch.full((3,), 1 / 3, dtype=torch.float64))


def test_a_wrong_number_of_matrices_gets_one_sentence() -> None:
    ask = Ask(tuple(4 * row for row in torch.eye(4)))
    reply = measures.measured("self-attention", ask, Reply("value", (torch.eye(4), torch.eye(4))))
    assert (reply.outcome, reply.error) == ("unreadable", "expected 3 tensors of shape (4, 4), got a tuple")
    reply = measures.measured("self-attention", ask, Reply("value", (torch.eye(4), torch.eye(4), torch.eye(3))))
    assert reply.error == "expected a tensor of shape (4, 4), got (3, 3)"


def test_a_matrix_is_measured_by_what_it_makes_of_rows() -> None:
    ask = Ask((1, 2), beside={"rows": torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])})
    shifted = measures.measured("shifted rows", ask, Reply("value", torch.tensor([[1.0, 2.0], [3.0, 4.0]]))).value
    assert shifted.tolist() == [[1.0, 3.0], [4.0, 8.0], [3.0, 7.0]]
    reply = measures.measured("shifted rows", ask, Reply("value", torch.zeros(2)))
    assert (reply.outcome, reply.error) == ("unreadable", "expected a tensor of shape (2, 2), got (2,)")


def test_queries_and_keys_are_measured_by_their_scores() -> None:
    ask = Ask((torch.zeros(3, 1, 1, 2, 2),))
    value = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [3.0, 4.0]], [[9.0, 9.0], [9.0, 9.0]]])
    scores = measures.measured("scores", ask, Reply("value", value.view(3, 1, 1, 2, 2))).value
    assert scores.tolist() == [[[[1.0, 3.0], [2.0, 4.0]]]]
    reply = measures.measured("scores", ask, Reply("value", value[:2].view(2, 1, 1, 2, 2)))
    assert reply.error == "expected a tensor of shape (3, 1, 1, 2, 2), got (2, 1, 1, 2, 2)"


TEXT = torch.tensor([[1, *range(5, 45), 2, 0]])  # <sos>, forty words, <eos>, <pad>


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        ("what is chosen", {"words": "about 50 %", "padding": "none", "other special tokens": "some"}),
        ("targets", {"where scored": "the words that stood there", "where not scored": "changed"}),
        ("what happens", {"<mask>": "about 50 %", "another word": "about 30 %", "left as it is": "about 20 %"}),
        (
            "random words",
            {
                "special tokens": "some",
                "beyond the vocabulary": "some",
                "different words": "many",
                "from the whole vocabulary": "no",
            },
        ),
    ],
)
def test_the_masking_of_words_is_measured(of: str, wanted: dict[str, str]) -> None:
    read, target = TEXT.clone(), torch.full_like(TEXT, -100)
    target[0, :21] = TEXT[0, :21]  # <sos> and half of the words
    read[0, 1:12] = 4  # <mask>
    read[0, 12:18] = torch.tensor([9, 50, 3, 7, 8, 10])  # of which 50 and 3 are no words
    read[0, 30] = 6
    ask = Ask((TEXT, 45), beside={"of": of, "specials": 5})
    assert measures.measured("masking", ask, Reply("value", (read, target))).value == wanted


def test_only_input_and_target_can_be_measured_as_masking() -> None:
    ask = Ask((TEXT, 45), beside={"of": "targets", "specials": 5})
    for value, sentence in [
        (TEXT, "expected two tensors of shape (1, 43), the input and the target"),
        ((TEXT, TEXT[0]), "expected two tensors of shape (1, 43)"),
        ((TEXT, TEXT.float()), "expected whole numbers, got"),
    ]:
        reply = measures.measured("masking", ask, Reply("value", value))
        assert reply.outcome == "unreadable"
        assert reply.error.startswith(sentence)


@pytest.mark.parametrize(
    ("value", "varied"),
    [
        ([4, 5, 6, 4], True),
        ([4, 5, 4, 5], False),
        (torch.tensor([7]), True),
        ([4, torch.tensor(5), torch.tensor([6])], True),
        ([torch.tensor(5), torch.tensor(5)], False),
    ],
)
def test_variety_is_measured(value: Any, varied: bool) -> None:
    assert measures.measured("variety", Ask(), Reply("value", value)).value is varied


@pytest.mark.parametrize("value", ["le roman", [4, "roman"], torch.ones(2)])
def test_only_whole_numbers_have_variety(value: Any) -> None:
    reply = measures.measured("variety", Ask(), Reply("value", value))
    assert reply.outcome == "unreadable"
    assert reply.error.startswith("expected a list of whole numbers, got")


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([6, 4, 9, 4, 0, 0], "x one place ahead"),
        ([7, 5, 6, 4, 9, 4], "x one place behind"),
        ([6, 4, 9, 4, -100, -100], "x one place ahead, but -100 for the padding"),
        ([4, 9, 4, 0, 0, 0], "something else"),
    ],
)
def test_the_shift_of_a_target_is_told(y: list[int], said: str) -> None:
    x = torch.tensor([5, 6, 4, 9, 4, 0])
    ask = Ask((torch.arange(5, 11), plain.Generator(0), 6), beside={"of": "shift", "mask": 4, "padding": 0})
    assert measures.measured("spans", ask, Reply("value", (x, torch.tensor(y)))).value == {"y": said}


def test_how_often_a_span_is_the_first_or_the_last_is_told() -> None:
    middle, last = [5, 6, 4, 8, 4, 7, 0], [5, 6, 4, 4, 7, 8, 0]
    beside = {"of": "ends", "mask": 4, "padding": 0}
    ask = Ask((torch.arange(5, 11), plain.Generator(0), 6), take="draws", beside=beside)
    for wholes, said in (([middle] * 9 + [last], "seldom"), ([middle] * 4 + [last], "often")):
        draws = [(torch.tensor(whole[:-1]), torch.tensor(whole[1:])) for whole in wholes]
        told = measures.measured("spans", ask, Reply("value", draws)).value
        assert list(told.values()) == ["seldom", said]


MASK, PAD = 4, 0
WORDS = torch.arange(5, 11)


def spans_told(of: str, *wholes: list[int]) -> Any:
    """Returns what is said of draws with these numbers, each cut into x and y."""
    draws = [(torch.tensor(whole[:-1]), torch.tensor(whole[1:])) for whole in wholes]
    beside = {"of": of, "mask": MASK, "padding": PAD}
    ask = Ask((WORDS, Generator(0), len(wholes[0]) - 1), take="draws", beside=beside)
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
    assert spans_told("pattern", whole) == {"<mask>": masks, "order": order, "padding": padding}


def test_lengths_and_places_are_told() -> None:
    first, last = [4, 6, 7, 8, 4, 5, 0, 0, 0], [5, 6, 4, 4, 7, 8, 0, 0, 0]
    assert spans_told("kept", first, last) == {"shortest": 4, "longest": 4, "all lengths": "equally often"}
    assert set(spans_told("place", first, last).values()) == {"sometimes"}
    assert set(spans_told("place", first).values()) == {"sometimes", "never"}
    said = spans_told("content", first, last)
    assert list(said.values()) == ["never empty", "about 40 %", "varies"]
    assert spans_told("content", [5, 6, 7, 8, 4, 4, 0, 0, 0])["content"] == "sometimes empty"


def test_the_shift_is_told() -> None:
    x = torch.tensor([5, 6, 4, 9])
    ask = Ask((WORDS, Generator(0), 4), beside={"of": "shift", "mask": MASK, "padding": PAD})
    for y, said in (([6, 4, 9, 4], "x one place ahead"), ([5, 6, 4, 9], "x itself"), ([1, 5, 6, 4], "something else")):
        assert measured("spans", ask, Reply("value", (x, torch.tensor(y)))).value == {"y": said}


@pytest.mark.parametrize(
    "value", [3, (torch.zeros(4),), (torch.zeros(4), torch.zeros(4)), (torch.zeros(3).long(),) * 2]
)
def test_what_are_no_two_rows_is_said_in_one_sentence(value: Any) -> None:
    ask = Ask((WORDS, Generator(0), 4), beside={"of": "shift", "mask": MASK, "padding": PAD})
    reply = measured("spans", ask, Reply("value", value))
    assert reply.outcome == "unreadable"
    assert reply.error.startswith("expected two")


@pytest.mark.parametrize("value", [3, [1], [["train_one", []]], [["train_one", ["a"]]], [["train_one", [{}]]], {}])
def test_a_log_that_is_none_cannot_be_measured_or_tells_nothing(value: Any) -> None:
    ask = Ask(([], None, {}), take="log", beside={"of": "trained"})
    reply = measured("sweep", ask, Reply("value", value))
    assert reply.outcome == "unreadable" or reply.value == []
