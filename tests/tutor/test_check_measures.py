"""Answers that are measured: many are right, and what they do is reported in words."""

import json
import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import sympy
import torch
from torch import Tensor

from grading.authoring.examples import encode
from grading.definitions.definition import Mistake, Stage
from grading.definitions.exercise import Exercise
from tests.tutor.checking import LANGUAGE_MODEL, classifier_of, number_exercise
from tutor import checks
from tutor.checking import plain
from tutor.checking.answers import InProcess, Question, Reply
from tutor.checking.judging import judge
from tutor.checking.measures import INPUTS_KEPT, MEASURES, SAYS_WHY, measured
from tutor.checking.measures.registry import measure
from tutor.checking.plain import Generator

hiding = import_module("tutor.checking.measures.07_bert_contrast")
ONE_BY_ONE = hiding.ONE_BY_ONE
moving = import_module("tutor.checking.measures.10_pretrained_knowledge")


def test_rows_may_be_asked_to_be_alike() -> None:
    asks = [Question((LANGUAGE_MODEL,), follow_up=(torch.tensor([[1, 4, 0], [1, 4, 5]]), torch.tensor([2, 2])))]
    stage = Stage("padding", 1, "read the last real token", asks, lambda rng: asks, measure="rows alike")
    examples = Exercise(classifier_of, [stage], []).public_examples()
    assert judge(examples, InProcess(classifier_of)).outcome == "right"
    assert judge(examples, InProcess(lambda model: model)).outcome == "wrong"


@pytest.mark.parametrize(
    ("pairs", "outcome"), [([(1, 2)], "value"), ([[1, 2]], "unreadable"), (None, "value"), (3, "value")]
)
def test_a_list_of_pairs_is_taken_as_it_is_if_they_are_tuples(pairs: Any, outcome: str) -> None:
    found = measured("pairs", Question(), Reply("value", pairs))
    assert (found.outcome, found.value) == (outcome, pairs if outcome == "value" else None)


def measured_exercise() -> Exercise:
    """Asks for a query that copies the first of two values; what is compared is the output, here the weights."""

    def query(keys: Tensor, scale: float) -> Tensor:
        return scale * keys[0]

    keys = torch.tensor([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]])
    drawn = keys.repeat(2, 1, 1) * torch.tensor([1.0, 2.0])[:, None, None]
    asks = [Question((keys, 2.0))]
    more = [Question((keys, 2.0), extra={"keys": drawn, "values": torch.tensor([[3.0], [7.0]])})]
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
    verdict = judge(measured_exercise().public_examples(), unscaled)
    assert verdict.mistake == "the scale is missing"
    assert "the output of attention with your query: 2 of 2 values differ" in str(verdict)
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
    verdict = judge(measured_exercise().public_examples(), InProcess(lambda keys, scale: value))
    assert verdict.outcome == "wrong"
    assert sentence in str(verdict)
    hidden = judge(measured_exercise().drawn_examples("ada"), InProcess(lambda keys, scale: value), hidden=True)
    assert (hidden.outcome, hidden.earned) == ("wrong", 0)


def test_what_lies_beside_a_question_does_not_reach_the_answer() -> None:
    asked: list[Question] = []

    class Spy(InProcess):
        def ask(self, question: Question, seconds: float = 2.0) -> Any:
            asked.append(question)
            return super().ask(question, seconds)

    examples = measured_exercise().public_examples()
    judge(examples, Spy(lambda keys, scale: keys[0]))
    assert len(asked) == 1 < sum(len(stage.cases) for stage in examples.stages if stage.points)  # in two stages
    assert not any(question.extra for question in asked)


def test_a_measure_survives_the_file_of_examples() -> None:
    stored = json.loads(json.dumps(encode(measured_exercise())))
    own = [stage for stage in stored["stages"] if stage["points"]]  # the others cost what they find
    assert [stage["measure"] for stage in own] == ["attention", "attention"]
    assert all("measure" not in stage for stage in stored["stages"] if stage not in own)
    examples = checks._decode_examples("query", stored)
    assert judge(examples, InProcess(lambda keys, scale: -scale * keys[1])).outcome == "right"
    assert judge(examples, InProcess(lambda keys, scale: keys[0])).mistake == "the scale is missing"
    assert "measure" not in json.dumps(encode(number_exercise()))


@pytest.mark.parametrize("value", [torch.zeros(2, 4), (torch.zeros(4), torch.zeros(4)), [torch.zeros(4)] * 2])
def test_two_heads_may_come_as_one_tensor_or_one_by_one(value: Any) -> None:
    ask = Question((torch.eye(3, 4), 0, 1, 20.0))
    weights = measured("two heads", ask, Reply("value", value)).value
    assert torch.allclose(weights, torch.full((3,), 1 / 3, dtype=torch.float64))


def test_a_wrong_number_of_matrices_gets_one_sentence() -> None:
    ask = Question(tuple(4 * row for row in torch.eye(4)))
    reply = measured("self-attention", ask, Reply("value", (torch.eye(4), torch.eye(4))))
    assert (reply.outcome, reply.error) == ("unreadable", "expected 3 tensors of shape (4, 4), got a tuple")
    reply = measured("self-attention", ask, Reply("value", (torch.eye(4), torch.eye(4), torch.eye(3))))
    assert reply.error == "expected a tensor of shape (4, 4), got (3, 3)"


def test_a_matrix_is_measured_by_what_it_makes_of_rows() -> None:
    ask = Question((1, 2), extra={"rows": torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])})
    shifted = measured("shifted rows", ask, Reply("value", torch.tensor([[1.0, 2.0], [3.0, 4.0]]))).value
    assert shifted.tolist() == [[1.0, 3.0], [4.0, 8.0], [3.0, 7.0]]
    reply = measured("shifted rows", ask, Reply("value", torch.zeros(2)))
    assert (reply.outcome, reply.error) == ("unreadable", "expected a tensor of shape (2, 2), got (2,)")


def test_queries_and_keys_are_measured_by_their_scores() -> None:
    ask = Question((torch.zeros(3, 1, 1, 2, 2),))
    value = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [3.0, 4.0]], [[9.0, 9.0], [9.0, 9.0]]])
    scores = measured("scores", ask, Reply("value", value.view(3, 1, 1, 2, 2))).value
    assert scores.tolist() == [[[[1.0, 3.0], [2.0, 4.0]]]]
    reply = measured("scores", ask, Reply("value", value[:2].view(2, 1, 1, 2, 2)))
    assert reply.error == "expected a tensor of shape (3, 1, 1, 2, 2), got (2, 1, 1, 2, 2)"


TEXT = torch.tensor([[1, *range(5, 45), 2, 0]])  # <sos>, forty words, <eos>, <pad>


@pytest.mark.parametrize(
    ("of", "keywords", "wanted"),
    [
        (
            "what is chosen",
            {"share": 0.5},
            {
                "words": "about 50 %",
                "padding": "none",
                "other special tokens": "some",
                "place by place": ONE_BY_ONE,
            },
        ),
        (
            "what is chosen",
            {},
            {
                "words": "more than 15 %",
                "padding": "none",
                "other special tokens": "some",
                "place by place": ONE_BY_ONE,
            },
        ),
        (
            "targets",
            {"share": 0.5},
            {
                "places scored": "some",
                "where scored": "the words that stood there",
                "where not scored": "changed",
            },
        ),
        (
            "what happens",
            {"share": 0.5},
            {
                "<mask>": "less than 80 %",  # of the twenty chosen words: eleven, six and three
                "another word": "more than 10 %",
                "left as it is": "more than 10 %",
                "place by place": ONE_BY_ONE,
            },
        ),
        (
            "random words",
            {"share": 0.5},
            {
                "special tokens": "some",
                "beyond the vocabulary": "some",
                "different words": "many",
                "from the whole vocabulary": "no",
                "place by place": ONE_BY_ONE,
                "the word before it": "",  # reported for small vocabularies only
            },
        ),
    ],
)
def test_the_masking_of_words_is_measured(of: str, keywords: dict[str, Any], wanted: dict[str, str]) -> None:
    read, target = TEXT.clone(), torch.full_like(TEXT, -100)
    target[0, :21] = TEXT[0, :21]  # <sos> and half of the words
    read[0, 1:12] = 4  # <mask>
    read[0, 12:18] = torch.tensor([9, 50, 3, 7, 8, 10])  # of which 50 and 3 are no words
    read[0, 30] = 6
    ask = Question((TEXT, 45), keywords, extra={"of": of, "specials": 5})
    assert measured("masking", ask, Reply("value", (read, target))).value == wanted


@pytest.mark.parametrize(
    ("share", "scored", "expected"),
    [
        (0.0, 0, "0 %"),
        (0.0, 1, "more than 0 %"),
        (0.0, 40, "nearly all"),
        (1.0, 40, "100 %"),
        (1.0, 39, "less than 100 %"),
        (1.0, 1, "hardly any"),
        (0.3, 13, "about 30 %"),
        (0.3, 14, "more than 30 %"),
        (0.3, 10, "less than 30 %"),
        (0.3, 40, "nearly all"),
        (0.3, 0, "hardly any"),
    ],
)
def test_the_share_of_chosen_words_is_reported(share: float, scored: int, expected: str) -> None:
    target = torch.full_like(TEXT, -100)
    target[0, 1 : 1 + scored] = TEXT[0, 1 : 1 + scored]
    ask = Question((TEXT, 45), {"share": share}, extra={"of": "what is chosen", "specials": 5})
    assert measured("masking", ask, Reply("value", (TEXT, target))).value["words"] == expected


@pytest.mark.parametrize(
    ("target", "places", "stood_there"),
    [
        (TEXT, "all", "the words that stood there"),
        (torch.full_like(TEXT, -100), "none", "the words that stood there"),
        (TEXT.masked_fill(TEXT < 5, -100), "some", "the words that stood there"),
        (TEXT + 1, "all", "others"),
    ],
)
def test_which_places_are_scored_is_reported_where_all_words_are_chosen(
    target: Tensor, places: str, stood_there: str
) -> None:
    ask = Question((TEXT, 45), {"share": 1.0}, extra={"of": "targets", "specials": 5})
    expected = {"places scored": places, "where scored": stood_there, "where not scored": "as it was"}
    assert measured("masking", ask, Reply("value", (TEXT, target))).value == expected


ROWS, COLUMNS = 230, 80
EACH, A_ROW, A_COLUMN = (ROWS, COLUMNS), (ROWS, 1), (1, COLUMNS)  # for what a number is drawn


def masking_report(
    of: str,
    words: int = 10,
    share: float = 1.0,
    *,
    choice: tuple[int, int] = EACH,
    fate: tuple[int, int] = EACH,
    other: Callable[[Tensor, torch.Generator], Tensor] | None = None,
) -> Any:
    """Returns the report on many texts of so many words, hidden by these chances; `other` makes other words."""
    rng = torch.Generator().manual_seed(0)
    tokens = torch.randint(5, 5 + words, EACH, generator=rng)
    chosen = (torch.rand(choice, generator=rng) < share).expand(EACH)
    draw = torch.rand(fate, generator=rng).expand(EACH)
    put = other(tokens, rng) if other else torch.randint(5, 5 + words, EACH, generator=rng)
    read = tokens.masked_fill(chosen & (draw < 0.8), 4)
    pair = torch.where(chosen & (draw >= 0.9), put.expand(EACH), read), tokens.masked_fill(~chosen, -100)
    ask = Question((tokens, 5 + words), {"share": share}, extra={"of": of, "specials": 5})
    return measured("masking", ask, Reply("value", pair)).value


def test_what_is_drawn_for_each_place_by_itself_is_reported() -> None:
    chosen = {"words": "about 30 %", "padding": "none", "other special tokens": "none"}
    assert masking_report("what is chosen", share=0.3) == chosen | {"place by place": ONE_BY_ONE}
    hidden = {"<mask>": "about 80 %", "another word": "about 10 %", "left as it is": "about 10 %"}
    assert masking_report("what happens", words=900) == hidden | {"place by place": ONE_BY_ONE}
    for drawn_for, name in ((A_ROW, "text"), (A_COLUMN, "column")):
        expected = f"the places of a {name} have the same fate"
        assert masking_report("what is chosen", share=0.3, choice=drawn_for)["place by place"] == expected
        assert masking_report("what happens", fate=drawn_for)["place by place"] == expected


RANDOM_WORDS = {
    "special tokens": "none",
    "beyond the vocabulary": "none",
    "different words": "many",
    "from the whole vocabulary": "yes",
    "place by place": ONE_BY_ONE,
    "the word before it": "does not count",
}


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        (None, {}),
        (
            lambda tokens, rng: torch.randint(5, 15, A_ROW, generator=rng),
            {"place by place": "the same word in a whole text"},
        ),
        (
            lambda tokens, rng: torch.randint(5, 15, (COLUMNS,), generator=rng),
            {"place by place": "the same word in a whole column"},
        ),
        (lambda tokens, rng: (tokens - 2) % 10 + 5, {"the word before it": "decides which other one comes"}),
        (lambda tokens, rng: torch.randint(6, 15, EACH, generator=rng), {"from the whole vocabulary": "no"}),
        (
            lambda tokens, rng: torch.randint(0, 15, EACH, generator=rng),
            {"special tokens": "some", "from the whole vocabulary": "no"},
        ),
        (
            lambda tokens, rng: torch.randint(5, 16, EACH, generator=rng),
            {"beyond the vocabulary": "some", "from the whole vocabulary": "no"},
        ),
        (
            lambda tokens, rng: torch.randint(5, 8, EACH, generator=rng),
            {"different words": "few", "from the whole vocabulary": "no"},
        ),
        (lambda tokens, rng: tokens, {"different words": "none", "from the whole vocabulary": "no"}),
    ],
)
def test_the_other_words_are_reported(other: Any, differs: dict[str, str]) -> None:
    assert masking_report("random words", other=other) == RANDOM_WORDS | differs


def test_one_other_word_is_reported() -> None:
    report = masking_report("random words", other=lambda tokens, rng: torch.full(EACH, 9))
    assert (report["different words"], report["from the whole vocabulary"]) == ("one", "no")


def test_whether_mask_is_drawn_as_another_word_is_reported() -> None:
    lowest = {low: lambda tokens, rng, low=low: torch.randint(low, 7, EACH, generator=rng) for low in (0, 4, 5)}
    reports = {
        low: masking_report("two words", 2, other=other)["<mask> as another word"] for low, other in lowest.items()
    }
    assert reports == {5: "no", 4: "yes", 0: "no"}  # of 0, "random words" reports it
    assert masking_report("random words", 2, other=lowest[0])["special tokens"] == "some"


def _any_word(low: int, tokens: Tensor, rng: torch.Generator) -> Tensor:
    return torch.randint(low, 7, EACH, generator=rng)


def test_whether_the_word_that_stood_there_is_drawn_as_another_word_is_reported() -> None:
    def same(other: Callable[[Tensor, torch.Generator], Tensor] | None, **settings: Any) -> str:
        report: str = masking_report("two words", 2, other=other, **settings)["the same word as another word"]
        return report

    assert (same(None), same(lambda tokens, rng: 11 - tokens)) == ("yes", "no")
    for low in (0, 4):  # special tokens are drawn, which takes from its share
        assert same(partial(_any_word, low)) == "yes"
    assert same(lambda tokens, rng: 11 - tokens, fate=A_ROW) == "yes"  # chance decides the shares
    ask = Question((TEXT, 7), {"share": 1.0}, extra={"of": "two words", "specials": 5})
    few = measured("masking", ask, Reply("value", (TEXT, torch.full_like(TEXT, -100)))).value
    assert set(few.values()) == {"too few are chosen to tell"}


def test_only_input_and_target_can_be_measured_as_masking() -> None:
    ask = Question((TEXT, 45), extra={"of": "targets", "specials": 5})
    for value, sentence in [
        (TEXT, "expected two tensors of shape (1, 43), the input and the target"),
        ((TEXT, TEXT[0]), "expected two tensors of shape (1, 43)"),
        ((TEXT, TEXT.float()), "expected whole numbers, got"),
    ]:
        reply = measured("masking", ask, Reply("value", value))
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
    assert measured("variety", Question(), Reply("value", value)).value is varied


@pytest.mark.parametrize("value", ["le roman", [4, "roman"], torch.ones(2)])
def test_only_whole_numbers_have_variety(value: Any) -> None:
    reply = measured("variety", Question(), Reply("value", value))
    assert reply.outcome == "unreadable"
    assert reply.error.startswith("expected a list of whole numbers, got")


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ([6, 4, 9, 4, 0, 0], "x one position ahead"),
        ([7, 5, 6, 4, 9, 4], "x one position behind"),
        ([6, 4, 9, 4, -100, -100], "x one position ahead, but -100 for the padding"),
        ([4, 9, 4, 0, 0, 0], "something else"),
    ],
)
def test_the_shift_of_a_target_is_reported(y: list[int], expected: str) -> None:
    x = torch.tensor([5, 6, 4, 9, 4, 0])
    ask = Question((torch.arange(5, 11), plain.Generator(0), 6), extra={"of": "shift", "mask": 4, "padding": 0})
    assert measured("spans", ask, Reply("value", (x, torch.tensor(y)))).value == {"y": expected}


MASK, PAD = 4, 0
WORDS = torch.arange(5, 11)


def spans_report(of: str, *wholes: list[int]) -> Any:
    """Returns the report on draws with these numbers, each cut into x and y."""
    draws = [(torch.tensor(whole[:-1]), torch.tensor(whole[1:])) for whole in wholes]
    extra = {"of": of, "mask": MASK, "padding": PAD}
    ask = Question((WORDS, Generator(0), len(wholes[0]) - 1), probe="draws", extra=extra)
    report = measured("spans", ask, Reply("value", draws)).value
    if len(set(map(len, wholes))) == 1:
        stacked = tuple(torch.stack(column) for column in zip(*draws, strict=True))
        assert measured("spans", ask, Reply("value", stacked)).value == report
    return report


@pytest.mark.parametrize(
    ("whole", "masks", "order", "padding", "last"),
    [
        ([5, 6, 4, 9, 4, 7, 8, 0, 0], "two", "prefix, suffix, content", "at the end only", "not always <mask>"),
        ([4, 7, 8, 9, 4, 5, 6, 0, 0], "two", "prefix, suffix, content", "at the end only", "not always <mask>"),
        ([4, 7, 8, 9, 4, 5, 6, 0, -100], "two", "prefix, suffix, content", "at the end only", "not always <mask>"),
        ([5, 6, 4, 7, 8, 4, 9, 0, 0], "two", "prefix, content, suffix", "at the end only", "not always <mask>"),
        ([5, 6, 4, 9, 7, 8, 0, 0, 0], "one", "another", "at the end only", "not always <mask>"),
        ([5, 6, 7, 8, 9, 0, 0, 0, 0], "none", "another", "at the end only", "not always <mask>"),
        ([5, 6, 4, 9, 4, 8, 7, 0, 0], "two", "another", "at the end only", "not always <mask>"),
        ([5, 6, 4, 9, 0, 4, 7, 8, 0], "two", "another", "between", "not always <mask>"),
        ([5, 6, 4, 8, 9, 4, 7, 0, 4], "sometimes more than two", "another", "between", "always <mask>"),
        ([5, 6, 4, 9, 10, 4, 7, 8, 4], "sometimes more than two", "another", "at the end only", "always <mask>"),
        ([5, 6, 4, 7, 8, 9, 10, 4], "two", "prefix, suffix, content", "at the end only", "always <mask>"),
    ],
)
def test_the_pattern_is_reported(whole: list[int], masks: str, order: str, padding: str, last: str) -> None:
    expected = {"<mask>": masks, "order": order, "padding": padding, "the last number of y": last}
    assert spans_report("pattern", whole) == expected


def test_a_pattern_that_changes_from_draw_to_draw_is_reported() -> None:
    two, one, three = [5, 6, 4, 8, 4, 7, 0, 0], [5, 6, 4, 8, 7, 0, 0, 0], [5, 6, 4, 8, 4, 7, 4, 0]
    ends = [5, 6, 4, 7, 8, 9, 10, 4]
    assert spans_report("pattern", two, one)["<mask>"] == "sometimes fewer than two"
    assert spans_report("pattern", two, three)["<mask>"] == "sometimes more than two"
    assert spans_report("pattern", two, one)["order"] == "another"
    assert spans_report("pattern", two, ends)["order"] == "prefix, suffix, content"
    assert spans_report("pattern", two, ends)["the last number of y"] == "not always <mask>"
    assert spans_report("pattern", ends, ends)["the last number of y"] == "always <mask>"


def test_the_ends_are_drawn_as_often_as_what_lies_between() -> None:
    """A share that is rounded gives the first and the last position, or length, half as often as the others."""
    positions = [[4, 6, 7, 4, 5, 0, 0, 0, 0], [5, 4, 7, 4, 6, 0, 0, 0, 0], [5, 6, 4, 4, 7, 0, 0, 0, 0]]
    lengths = [[*range(5, 5 + kept), 4, 4, *[0] * (7 - kept)] for kept in (4, 5, 6)]
    for counts, position, length in (
        ((200, 200, 200), "evenly", "equally often"),
        ((150, 300, 150), "more often in the middle", "some more often"),
        ((280, 40, 280), "more often near both ends", "some more often"),
    ):
        drawn, kept = (
            [whole for whole, n in zip(of, counts, strict=True) for _ in range(n)] for of in (positions, lengths)
        )
        assert spans_report("place", *drawn)["the position"] == position
        assert spans_report("kept", *kept)["all lengths"] == length


def test_lengths_and_places_are_reported() -> None:
    first, last = [4, 6, 7, 8, 4, 5, 0, 0, 0], [5, 6, 4, 4, 7, 8, 0, 0, 0]
    assert spans_report("kept", first, last) == {"shortest": 4, "longest": 4, "all lengths": "equally often"}
    in_content = {"the first number is in the content": "sometimes", "the last number is in the content": "sometimes"}
    apart = {"how much is kept, and the position": "drawn apart"}
    assert spans_report("place", first, last) == in_content | apart | {"the position": "more often near both ends"}
    never = {"the last number is in the content": "never", "the position": "more often near the beginning"}
    assert spans_report("place", first) == in_content | apart | never
    assert spans_report("content", first, last) == {
        "content": "never empty",
        "mean length": "about 40 %",
        "length, where as much is kept": "varies",
        "length and position": "drawn apart",
    }
    at_the_ends = {
        "the content begins with the first number": "often",
        "the content ends with the last number": "often",
    }
    assert spans_report("ends", first, last) == at_the_ends
    assert spans_report("content", [5, 6, 7, 8, 4, 4, 0, 0, 0])["content"] == "sometimes empty"


def test_how_often_a_span_is_the_first_or_the_last_is_reported() -> None:
    first, middle, last = [4, 6, 7, 8, 4, 5, 0], [5, 6, 4, 8, 4, 7, 0], [5, 6, 4, 4, 7, 8, 0]
    for wholes, at_first, at_last in (
        ([middle] * 9 + [last], "seldom", "seldom"),
        ([middle] * 4 + [last], "seldom", "often"),
        ([middle] * 4 + [first], "often", "seldom"),
    ):
        report = spans_report("ends", *wholes)
        assert report["the content begins with the first number"] == at_first
        assert report["the content ends with the last number"] == at_last


def moved(kept: int, start: int, length: int) -> list[int]:
    """Returns the whole of a text of `kept` numbers whose content begins at `start`."""
    text = list(range(5, 5 + kept))
    return [*text[:start], MASK, *text[start + length :], MASK, *text[start : start + length], PAD]


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        (range(41), "evenly"),
        (range(21), "more often near the beginning"),
        (range(20, 41), "more often near the end"),
        (range(10, 31), "more often in the middle"),
        ([*range(10), *range(31, 41)], "more often near both ends"),
    ],
)
def test_the_place_of_a_content_is_reported(starts: Any, expected: str) -> None:
    assert spans_report("place", *(moved(42, start, 2) for start in starts))["the position"] == expected


def test_no_place_is_reported_where_most_have_no_content() -> None:
    nothing = [5, 6, 7, 8, 9, 0, 0]
    assert spans_report("place", nothing, [5, 6, 4, 8, 4, 7, 0])["the position"] == "not to be told"


def test_whether_long_contents_stand_elsewhere_is_reported() -> None:
    wholes = [moved(20, start, length) for length in range(1, 10) for start in range(21 - length)]
    assert len(wholes) > 100
    assert spans_report("content", *wholes)["length and position"] == "drawn apart"
    long_ones_first = [moved(20, start, length) for length in range(1, 10) for start in [10 - length] * 12]
    assert spans_report("content", *long_ones_first)["length and position"] == "go together"


def test_contents_that_are_cut_at_the_end_are_reported() -> None:
    drawn = [(start, length) for length in range(1, 10) for start in range(20)]
    cut = spans_report("content", *(moved(20, start, min(length, 20 - start)) for start, length in drawn))
    assert cut["mean length"] == "less than is drawn, because some are cut at the end"
    assert cut["length and position"] == "go together"
    shifted = spans_report("content", *(moved(20, min(start, 20 - length), length) for start, length in drawn))
    assert shifted["mean length"] == "about 25 %"


def test_draws_that_are_all_the_same_are_reported() -> None:
    for of in ("kept", "content", "ends", "place"):
        assert set(spans_report(of, *[moved(6, 2, 1)] * 3).values()) == {"the same in all draws"}


def test_whether_the_place_goes_with_how_much_is_kept_is_reported() -> None:
    def padded(kept: int, start: int) -> list[int]:
        return [*moved(kept, start, 1), *[PAD] * (24 - kept)]

    apart = [padded(kept, start) for kept in range(4, 24) for start in range(0, kept, 2)]
    together = [padded(kept, kept - 4) for kept in range(4, 24) for _ in range(6)]
    for wholes, expected in ((apart, "drawn apart"), (together, "go together")):
        assert spans_report("place", *wholes)["how much is kept, and the position"] == expected


def test_the_shift_is_reported() -> None:
    x = torch.tensor([5, 6, 4, 9])
    ask = Question((WORDS, Generator(0), 4), extra={"of": "shift", "mask": MASK, "padding": PAD})
    for y, shift in (
        ([6, 4, 9, 4], "x one position ahead"),
        ([5, 6, 4, 9], "x itself"),
        ([1, 5, 6, 4], "something else"),
    ):
        assert measured("spans", ask, Reply("value", (x, torch.tensor(y)))).value == {"y": shift}


@pytest.mark.parametrize(
    "value", [3, (torch.zeros(4),), (torch.zeros(4), torch.zeros(4)), (torch.zeros(3).long(),) * 2]
)
def test_what_are_no_two_rows_is_reported_in_one_sentence(value: Any) -> None:
    ask = Question((WORDS, Generator(0), 4), extra={"of": "shift", "mask": MASK, "padding": PAD})
    reply = measured("spans", ask, Reply("value", value))
    assert reply.outcome == "unreadable"
    assert reply.error.startswith("expected two")


@pytest.mark.parametrize("value", [3, [1], [["train_one", []]], [["train_one", ["a"]]], [["train_one", [{}]]], {}])
def test_a_log_that_is_none_cannot_be_measured_or_tells_nothing(value: Any) -> None:
    ask = Question(([], None, {}), probe="log", extra={"of": "trained"})
    reply = measured("sweep", ask, Reply("value", value))
    assert reply.outcome == "unreadable" or reply.value == []


def sweep_report(of: str, value: Any) -> Any:
    probe = "result" if of == "rows" else "log"
    asked = Question(([], None, {"old": 1}, None), probe=probe, extra={"of": of})
    return measured("sweep", asked, Reply("value", value)).value


def test_a_sweep_is_described_by_its_calls() -> None:
    trainings = [["train_one", [{"name": name}]] for name in ("wide", "deep")]
    saves = [["save", [table]] for table in ({"old": 1, "wide": 2}, {"old": 1, "wide": 2, "deep": 3})]
    log = [trainings[0], saves[0], trainings[1], saves[1]]
    assert sweep_report("trained", log) == ["wide", "deep"]
    tables = [{"old": 1}, {"old": 1, "wide": 2}, {"old": 1, "wide": 2, "deep": 3}]
    assert sweep_report("saved", log) == [*tables, "not interrupted"]
    assert sweep_report("saved", [*log[:3], ["interrupted", []]]) == [*tables[:2], tables[1], "interrupted"]
    late = [*trainings, *saves]
    assert sweep_report("saved", late) == [tables[0], tables[0], tables[2], "not interrupted"]


@pytest.mark.parametrize("rows", [[{"name": "wide", "dev_loss": 0.5}], [], "rows", [["train_one", []]]])
def test_the_rows_that_a_sweep_returns_are_compared_as_they_are(rows: Any) -> None:
    assert sweep_report("rows", rows) == rows


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((3, 2, 2.5), [2, 2.5, 3]),
        ([2, 3], [2, 3]),
        ([2, 4], [2, 4]),
        (torch.Size([7, 5]), [5, 7]),
        ([], []),
        (7, 7),
        (["b", "a"], ["b", "a"]),
        ([3, None, 2], [3, None, 2]),
        ({"b": 2, "a": 1}, {"b": 2, "a": 1}),
    ],
)
def test_numbers_may_come_in_any_order(value: Any, expected: Any) -> None:
    assert measured("any order", Question(), Reply("value", value)).value == expected


def test_a_tensor_has_one_order_only() -> None:
    value = torch.tensor([3, 2])
    assert measured("any order", Question(), Reply("value", value)).value.tolist() == [3, 2]


def test_a_large_tensor_is_measured_at_places() -> None:
    ask = Question(extra={"places": torch.tensor([[0, 3], [2, 1], [2, 3]]), "shape": (3, 4)})
    right = torch.arange(12.0).view(3, 4)
    assert measured("at places", ask, Reply("value", right)).value.tolist() == [3, 9, 11]
    assert measured("at places", ask, Reply("value", right.flip(0))).value.tolist() == [11, 1, 3]
    for value, error in (
        (right.T, "expected a tensor of shape (3, 4), got (4, 3)"),
        (right[:, :3], "expected a tensor of shape (3, 4), got (3, 3)"),
        (right.tolist(), "expected a tensor of shape (3, 4), got a list"),
        (2.5, "expected a tensor of shape (3, 4), got the float 2.5"),
    ):
        reply = measured("at places", ask, Reply("value", value))
        assert (reply.outcome, reply.error) == ("unreadable", error)


SINUSOIDS = torch.tensor([[0.0, 1.0], [0.8415, 0.5403], [0.9093, -0.4161]])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[0.3, -1.2], [0.7, 0.1], [-0.4, 2.0]], "random numbers"),
        ([[0.0, 0.0]] * 3, "some rows are alike"),
        ([[0.3, -1.2], [0.7, 0.1], [0.3, -1.2]], "some rows are alike"),
        ([[1.0, 1.0], [2.0, 2.0], [5.0, 5.0]], "all numbers of a row are alike"),
        (SINUSOIDS.tolist(), "sinusoids"),
        ([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], "counted numbers"),
    ],
)
def test_what_a_new_table_holds_is_reported(rows: list[list[float]], expected: str) -> None:
    ask = Question((torch.zeros(1, 3, 2),), extra={"sinusoids": SINUSOIDS})
    assert measured("random start", ask, Reply("value", torch.tensor([rows]))).value == expected


def test_of_what_was_added_turned_the_columns_are_the_rows_of_the_table() -> None:
    ask = Question((torch.zeros(1, 3, 3),), extra={"sinusoids": torch.zeros(3, 3), "turned": True})
    columns_alike = torch.tensor([[[0.3, 0.3, 0.3], [-1.2, -1.2, -1.2], [0.7, 0.7, 0.7]]])
    assert measured("random start", ask, Reply("value", columns_alike)).value == "some rows are alike"
    assert measured("random start", ask, Reply("value", columns_alike.mT)).value == "all numbers of a row are alike"


@pytest.mark.parametrize(
    "value", [torch.zeros(3, 2), torch.zeros(1, 4, 2), [], "table", {"table": torch.zeros(1, 3, 2)}]
)
def test_what_is_no_table_has_no_start(value: Any) -> None:
    ask = Question((torch.zeros(1, 3, 2),), extra={"sinusoids": SINUSOIDS})
    reply = measured("random start", ask, Reply("value", value))
    assert reply.outcome == "unreadable"
    assert reply.error.startswith("expected ")


def test_the_weights_at_the_start_are_reported() -> None:
    def start(of: str, rows: Tensor) -> str:
        (report,) = measured(
            "start", Question((torch.eye(8)[None],), extra={"of": of}), Reply("value", rows[None])
        ).value.values()
        return str(report)

    alike = torch.ones(8, 8).tril() / torch.arange(1, 9)[:, None]  # each row sums to one, as weights do
    steps = torch.arange(1.0, 9).repeat(8, 1).tril()
    graded, peaked = steps / steps.sum(dim=1, keepdim=True), torch.eye(8)
    assert [start("alike", rows) for rows in (alike, graded, peaked)] == ["yes", "no", "no"]
    assert [start("sharp", rows) for rows in (alike, graded, peaked)] == ["no", "no", "yes"]
    assert start("sharp", torch.cat([peaked[:4], alike[4:]])) == "no"  # the first rows have little choice
    reply = measured("start", Question((torch.eye(8)[None],), extra={"of": "alike"}), Reply("value", alike))
    assert (reply.outcome, reply.error) == ("unreadable", "expected a tensor of shape (1, 8, 8), got (8, 8)")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"queries": (2, 3), "weights": [2, 3, 3]}, {"queries": "whole numbers", "weights": "whole numbers"}),
        ({"queries": torch.Size([2, 3])}, {"queries": "whole numbers"}),
        ({"queries": (2.0, 3)}, {"queries": "the float 2.0, whole numbers"}),
        ({"queries": (True, 3)}, {"queries": "the bool True, whole numbers"}),
        ({"queries": 6, "keys": "(2, 3)"}, {"queries": "the int 6", "keys": "a str"}),
        ({"queries": torch.zeros(2, 3)}, {"queries": "a floating point tensor of shape (2, 3)"}),
        ({"queries": ()}, {"queries": ""}),
        ({1: (2, 3)}, {"1": "whole numbers"}),
        ({}, {}),
    ],
)
def test_shapes_are_reported(value: Any, expected: dict[str, str]) -> None:
    assert measured("shapes", Question(), Reply("value", value)).value == expected


@pytest.mark.parametrize(
    ("value", "name"),
    [((2, 3), "the tuple (2, 3)"), ("shapes", "a str"), (torch.zeros(2), "a floating point tensor of shape (2,)")],
)
def test_only_a_dict_has_shapes(value: Any, name: str) -> None:
    reply = measured("shapes", Question(), Reply("value", value))
    assert (reply.outcome, reply.error) == ("unreadable", f"expected a dict, got {name}")


OLD_SCORES = torch.tensor([[1.0, 2.0, 3.0, 4.0], [8.0, 6.0, 7.0, 5.0]])  # of two texts, for four words


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (torch.tensor([[0.5, -0.2], [0.1, 0.9]]), "a new head"),
        (OLD_SCORES[:, :3], "rows of the old head"),
        (OLD_SCORES[:, [3, 1]] + 1e-5, "rows of the old head"),
        (torch.tensor([[1.0, 0.5], [8.0, 0.5]]), "a new head"),  # one of two is the old one's
        (torch.tensor([[1.0, 2.0], [6.0, 8.0]]), "a new head"),  # its numbers, but of no single row
        (OLD_SCORES[:1], "a new head"),
        (OLD_SCORES[0], "a new head"),
        ("head", "a new head"),
        ([[1.0], [8.0]], "a new head"),
    ],
)
def test_where_a_head_comes_from_is_reported(value: Any, expected: str) -> None:
    ask = Question(extra={"old": OLD_SCORES})
    assert measured("new head", ask, Reply("value", value)).value == expected


@pytest.mark.parametrize(
    ("likely", "expected"),
    [
        (30, "about half"),
        (12, "about half"),
        (48, "about half"),
        (11, "hardly any"),
        (49, "nearly all"),
        (0, "hardly any"),
    ],
)
@pytest.mark.parametrize("kind", [list, tuple, torch.tensor])
def test_how_often_the_likeliest_words_are_drawn_is_reported(likely: int, expected: str, kind: Any) -> None:
    numbers = [7, 7, 7] + [7, 8] * (likely // 2) + [8] * (likely % 2) + [9] * (60 - likely)
    ask = Question(extra={"given": 3, "likeliest": [7, 8]})
    report = measured("chances", ask, Reply("value", kind(numbers))).value
    assert report == {"of the drawn words": f"{expected} are of the likeliest"}


@pytest.mark.parametrize("value", ["roman", 3, [7, 8.0], ["le", 7], torch.ones(4), torch.ones(2, 4).long(), {7: 8}])
def test_only_whole_numbers_have_chances(value: Any) -> None:
    reply = measured("chances", Question(extra={"given": 1, "likeliest": [7]}), Reply("value", value))
    assert reply.outcome == "unreadable"
    assert reply.error.startswith("expected a list of whole numbers, got")


@pytest.mark.parametrize(
    "value", [(torch.tensor([1, 5]), torch.tensor([5, 2], dtype=torch.int32)), torch.tensor([3]), [3], "tokens", 7]
)
def test_whole_numbers_stay_as_they_are(value: Any) -> None:
    assert measured("whole numbers", Question(), Reply("value", value)).value is value


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (torch.tensor([1.0, 5.0]), "a floating point tensor of shape (2,)"),
        (torch.tensor([True]), "a bool tensor of shape (1,)"),
        (torch.tensor([1j]), "a complex tensor of shape (1,)"),
    ],
)
def test_tokens_that_are_no_whole_numbers_get_one_sentence(wrong: Tensor, name: str) -> None:
    for value in (wrong, (torch.tensor([1]), wrong), [wrong]):
        reply = measured("whole numbers", Question(), Reply("value", value))
        error = f"expected whole numbers, got {name}: tokens are looked up by their number"
        assert (reply.outcome, reply.error) == ("unreadable", error)


def test_places_that_are_drawn_evenly_are_even_also_where_there_are_few() -> None:
    even = [[[0] * start, [0] * (last - start), [1]] for last in (1, 2, 4, 5, 6, 8) for start in range(last + 1)]
    assert moving._position(even) == "evenly"
    middle = [[[0] * 3, [0] * 3, [1]], [[0] * 2, [0] * 4, [1]], [[0] * 4, [0] * 2, [1]]]
    assert moving._position(middle) == "more often in the middle"
    ends = [[[0] * start, [0] * (6 - start), [1]] for start in (0, 1, 5, 6)]
    assert moving._position(ends) == "more often near both ends"


def test_few_words_may_be_spread_less_evenly_than_many() -> None:
    words = torch.arange(600) % 100
    assert hiding._spread(words, 0, 100)
    assert not hiding._spread(words.clamp(max=89), 0, 100)
    few = torch.cat([torch.arange(117) % 90, torch.tensor([90, 91, 92])])  # 2.5 % are of the last tenth
    assert hiding._spread(few, 0, 100)


def test_a_measure_is_in_the_file_of_the_notebook_that_asks_for_it(repository: Path) -> None:
    asked = dict[str, set[str]]()
    for path in (repository / "tutor" / "check_examples").glob("*/*.json"):
        for stage in json.loads(path.read_text("utf-8"))["stages"]:
            asked.setdefault(stage.get("measure", ""), set()).add(path.parent.name)
    where = {name: function.__module__.rpartition(".")[2] for name, (_, function) in MEASURES.items()}
    home = {name: notebooks.pop() if len(notebooks) == 1 else "several_notebooks" for name, notebooks in asked.items()}
    assert where == {name: place for name, place in home.items() if name not in ("", SAYS_WHY, INPUTS_KEPT)}


def test_two_measures_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two measures are called 'pairs'"):
        measure("pairs", "the pairs")(lambda ask, value: value)
