"""The corners of each exercise's domain: that it says one, and that every student and the check are asked all of it."""

import inspect
import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from grading.definitions import catalogue, exercise
from grading.definitions.corners import Corners
from grading.definitions.definition import Definition, ExerciseError
from grading.definitions.exercise import Exercise
from tutor.checking.answers import InProcess, Question
from tutor.checking.building import build
from tutor.checking.judging import Examples, judge

EXERCISES = [(notebook, name) for notebook in catalogue.notebooks() for name in catalogue.names(notebook)]


@pytest.mark.all
@pytest.mark.parametrize(("notebook", "name"), [pytest.param(*one, id="-".join(one)) for one in EXERCISES])
def test_each_corner_of_the_domain_is_asked_by_the_check_and_of_every_student(notebook: str, name: str) -> None:
    defined = exercise.load(notebook)[name]
    if not inspect.signature(defined.reference).parameters:
        assert not defined.domain, "it takes no arguments, and so it has no domain"
        return
    assert defined.domain, "say with @exercise.corners(...) what its arguments may be"
    for whose, examples in (("the check", defined.check_examples()), ("ada", defined.drawn_examples("ada"))):
        for one in defined.domain:
            found = defined.corners(one)
            asked = {id(ask) for ask in found.values()}
            assert len(asked) == len(found)
            assert not _not_met(one, found), f"{whose} is not asked {_not_met(one, found)}"
            encoded = [ask.encode() for ask in _asked(examples, one.stage)]
            assert all(ask.encode() in encoded for ask in found.values()), f"{whose} is not asked what is drawn"


@pytest.mark.all
@pytest.mark.parametrize(("notebook", "name"), [pytest.param(*one, id="-".join(one)) for one in EXERCISES])
def test_all_that_the_check_asks_is_asked_of_every_student(notebook: str, name: str) -> None:
    defined = exercise.load(notebook)[name]
    check = {one.name: one for one in defined.check_examples().stages}
    for seed in ("ada", "blaise"):
        graded = defined.drawn_examples(seed).stages
        assert [one.name for one in graded] == list(check)
        alone = not any(one.decisive and not one.weak for one in graded)  # weak ones decide, and show something new
        for one in graded:
            asked = [case.ask.encode() for case in one.cases if not case.hidden]
            assert sorted(map(str, asked)) == sorted(str(case.ask.encode()) for case in check[one.name].cases)
            own = [case.ask.encode() for case in one.cases if case.hidden]
            assert bool(own) == (not one.cost and (not one.weak or alone))
            corners = [case.corner for case in one.cases]
            assert corners == sorted(corners)  # they come last: so it is seen whether they fail alone
            assert sum(corners) == sum(case.corner for case in check[one.name].cases)


def _not_met(domain: Corners, found: dict[Any, Question]) -> set[tuple[str, Any]]:
    """Returns the values of dimensions that no question has."""
    met = {pair for corner in found for pair in corner}
    return {
        (name, values[number])
        for name, values in domain.dimensions.items()
        for number in range(len(values))
        if (name, number) not in met
    }


def _asked(examples: Examples, stage: str) -> list[Question]:
    return [case.ask for one in examples.stages if one.name == stage for case in one.cases]


# --- the mechanism itself ---


def capped_exercise(*, decisive: bool = False, points: float = 1) -> Exercise:
    definition = Definition()

    @definition.reference
    def total(count: int, step: int) -> int:
        return count * step

    @definition.stage("small numbers", points=1, public=[Question((2, 3))])
    def _(rng: random.Random) -> list[Question]:
        """Add `step` as often as `count` says."""
        return [Question((rng.randint(2, 9), 3))]

    @definition.stage("all numbers", points=points, public=[Question((5, 3))], decisive=decisive)
    def _(rng: random.Random) -> list[Question]:
        """There is no limit to the numbers."""
        return [Question((rng.randint(2, 9), 3))]

    @definition.mistake("always three")
    def _(count: int, step: int) -> int:
        """Multiply by `step`."""
        return 3 * count

    @definition.corners("all numbers", count=(0, 1, range(65, 70)), step=(-1, 0, 1))
    def _(rng: random.Random, count: int, step: int) -> Question | None:
        return None if count == step == 0 else Question((count, step * rng.randint(1, 9)))

    return Exercise.of(definition, definition.mistakes)


def test_every_value_and_every_pair_of_values_is_met_once() -> None:
    domain = Corners("", {"a": (0, 1, 2), "b": "xy", "c": "pq"}, lambda rng, **values: Question(tuple(values.values())))
    found = [ask.inputs for _, ask in domain.drawn(random.Random(1))]
    for first, second, wanted in ((0, 1, 6), (0, 2, 6), (1, 2, 4)):
        assert len({(inputs[first], inputs[second]) for inputs in found}) == wanted
    assert len(found) < 12 == len(list(domain.every(random.Random(1))))


def test_a_range_stands_for_one_of_its_numbers() -> None:
    domain = Corners("", {"size": (1, range(65, 68))}, lambda rng, size: Question((size,)))
    drawn = {ask.inputs[0] for seed in range(30) for _, ask in domain.drawn(random.Random(seed))}
    assert drawn == {1, 65, 66, 67}


@pytest.mark.parametrize(
    ("answer", "earned"),
    [
        (lambda count, step: count * step, 2),
        (lambda count, step: min(count, 64) * step, 1),  # a cap that no question drawn in the middle meets
        (lambda count, step: count * abs(step), 1),
        (lambda count, step: count * step or 1, 1),
    ],
)
def test_a_corner_fails_its_stage_in_the_check_and_for_every_student(
    answer: Callable[[int, int], int], earned: float
) -> None:
    defined = capped_exercise()
    for number in range(8):
        assert judge(defined.drawn_examples(f"student {number}"), InProcess(answer), hidden=True).earned == earned
    verdict = judge(defined.check_examples(), InProcess(answer))
    assert verdict.earned == earned
    assert verdict.feedback == ("" if earned == 2 else "There is no limit to the numbers.")


@pytest.mark.parametrize(
    ("answer", "earned"),
    [
        (lambda count, step: min(count, 64) * step, 1.8),  # a corner alone: a tenth of the exercise
        (lambda count, step: count * abs(step), 1.8),
        (lambda count, step: step, 0),  # more than corners: the stage that decides, and here the other one, too
        (lambda count, step: min(count, 64) * step if count != 2 else 0, 0.8),  # and another stage that fails
    ],
)
def test_a_corner_costs_a_tenth_and_never_the_stage_that_decides(
    answer: Callable[[int, int], int], earned: float
) -> None:
    defined = capped_exercise(decisive=True)
    graded = [judge(defined.drawn_examples(f"student {n}"), InProcess(answer), hidden=True) for n in range(8)]
    for verdict in [judge(defined.check_examples(), InProcess(answer)), *graded]:
        assert verdict.outcome == "wrong"
        assert verdict.earned == pytest.approx(earned)
        at_corners = [note for note in verdict.notes if "fails only at the edges" in note]
        assert len(at_corners) == (earned in (1.8, 0.8))
        assert all(note.startswith("'all numbers'") and "costs 0.2 of the points" in note for note in at_corners)


def test_corners_alone_take_no_more_than_the_stage_has() -> None:
    defined = capped_exercise(decisive=True, points=0.05)
    verdict = judge(defined.check_examples(), InProcess(lambda count, step: min(count, 64) * step))
    assert verdict.earned == 1


def test_of_a_corner_as_of_all_that_is_asked_in_grading_nothing_is_shown() -> None:
    text = str(judge(capped_exercise().drawn_examples("ada"), InProcess(lambda count, step: 0 * count), hidden=True))
    assert "There is no limit" not in text  # the small numbers fail first
    capped = judge(capped_exercise().drawn_examples("ada"), InProcess(lambda n, step: min(n, 64) * step), hidden=True)
    assert capped.call == ""
    assert capped.question is None
    assert not any(str(number) in capped.sentence for number in range(65, 70))


def test_a_known_mistake_is_named_whatever_it_does_in_corners() -> None:
    defined = capped_exercise()
    assert judge(defined.check_examples(), InProcess(lambda count, step: 3 * count)).mistake == ""  # no question shows


def test_corners_of_a_stage_that_there_is_not_are_refused() -> None:
    definition = Definition()
    definition.reference(abs)
    definition.corners("negative numbers", number=(-1,))(lambda rng, number: Question((number,)))
    with pytest.raises(ExerciseError, match="corners are asked in the stage 'negative numbers'"):
        Exercise.of(definition, definition.mistakes)


def test_whichever_other_word_is_taken_the_influence_is_the_same() -> None:
    """`future_influence` asks for "another word": a right answer may draw it, and then no mark may hang on it."""
    defined = exercise.load("01_causal_mask")["future_influence"]
    name = "any word of the vocabulary can be changed, the first and the last too"
    (corner,) = [one for one in defined.domain if one.stage == name]
    for seed in ("check", *(f"s{number}" for number in range(40, 80))):
        for ask in defined.corners(corner, seed).values():
            recipe, tokens, vocab_size = ask.inputs
            model = build(recipe)
            for j in range(len(tokens)):
                words = [word for word in range(vocab_size) if word != tokens[j]]
                changed = tokens.repeat(len(words), 1)
                changed[:, j] = torch.tensor(words)
                with torch.no_grad():
                    moved = (model(changed) - model(tokens[None])).abs().amax(dim=-1) > 1e-5  # (words, n)
                assert bool((moved == moved[:1]).all()), (seed, tokens, j)
