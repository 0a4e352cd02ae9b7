"""Exercise future_influence of notebook 01."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import count, repeat
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from, until
from tutor.checking.answers import Question
from tutor.checking.building import build
from tutor.checking.plain import Model

exercise = Definition(
    minutes=15,
    difficulty=2,
    exceptions=("it stays on the device of its inputs",),  # a table of yes and no is of use anywhere
)


@exercise.reference
def future_influence(model: Any, tokens: Tensor, vocab_size: int) -> Tensor:
    size = tokens.shape[0]
    with torch.no_grad():
        before = model(tokens.unsqueeze(0))[0]
        influence = torch.zeros(size, size, dtype=torch.bool)
        for j in range(size):
            changed = tokens.clone()
            changed[j] = (changed[j] + 1) % vocab_size
            after = model(changed.unsqueeze(0))[0]
            influence[:, j] = (after - before).abs().amax(dim=-1) > 1e-5
    return influence


def _model(causal: bool, vocab_size: int, seed: int, *, n_layers: int = 1, **options: Any) -> Model:
    shape = {"vocab_size": vocab_size, "d_model": 16, "n_layers": n_layers, "n_heads": 2, "dropout": 0.0}
    base = Model("TransformerBase", shape | {"causal": causal}, seed)
    return Model("LanguageModel", {"base": base}, seed, **options)


def _tokens(size: int, vocab_size: int, seed: int) -> Tensor:
    """Returns a sentence with the last word in it, twice in a row, and with word 0.

    Adding 1 to the last word without a remainder leaves the vocabulary, and its neighbour is no other word.
    """
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(vocab_size, (size,), generator=generator)
    positions = torch.randint(size - 1, (), generator=generator)
    tokens[positions], tokens[positions + 1], tokens[(positions + 2) % size] = vocab_size - 1, vocab_size - 1, 0
    return tokens


def _changes(ask: Question, step: int = 1) -> tuple[Tensor, Tensor]:
    """Returns what another word in place of a token does to the outputs, `(n, n, k)`, and the outputs that it changes.

    Both are of changed token j and output i, in this order.
    """
    recipe, tokens, vocab_size = ask.inputs
    model, positions = build(replace(recipe, noise=0.0)), torch.arange(len(tokens))
    changed = tokens.repeat(len(tokens), 1)
    changed[positions, positions] = (tokens + step) % vocab_size
    with torch.no_grad():
        before = model(tokens.unsqueeze(0))
        changes = torch.cat([model(row.unsqueeze(0)) - before for row in changed])
    return changes, changes.abs().amax(dim=-1) > 1e-5


def _sure(changes: Tensor, influence: Tensor, weakest: float = 0.12) -> bool:
    """Says whether an output changes by more than `weakest` or not at all."""
    sizes = changes.abs().amax(dim=-1)
    return bool((sizes[~influence] == 0).all()) and float(sizes[influence].min()) > weakest


def _plain(changes: Tensor, influence: Tensor) -> bool:
    """Says whether each influence is strong, and seen in every number of an output."""
    return _sure(changes, influence) and float(changes[influence].abs().min()) > 3e-5


def _sometimes_less(changes: Tensor, influence: Tensor) -> bool:
    """Says whether each influence is strong and seen in every number, but some outputs only become smaller."""
    return _plain(changes, influence) and float(changes[influence].amax(dim=-1).min()) < -1e-3


def _without_rule(sees: Tensor) -> bool:
    """Says whether who sees whom, `(n, n)` of output i and token j, follows no rule of positions."""
    ahead, behind = sees.triu(1).any(), (~sees).tril(-1).any()
    return bool(ahead & behind) and len(sees.unique(dim=0)) > 2 and not torch.equal(sees, sees.T)


# Such questions are rare: here are seeds with which they are found at once, and `_asked` makes sure of it.
UNMASKED = (4, 17, 21, 22, 24, 34, 37, 38, 40, 42, 45, 46)


def _asked(
    kind: Callable[[Tensor, Tensor], bool],
    causal: bool,
    vocab_size: int,
    size: int,
    seed: int,
    **options: Any,
) -> Question:
    """Returns the first question, from this seed on, whose changes are of this kind: luck decides on no mark."""

    def make(seed: int) -> Question:
        return Question((_model(causal, vocab_size, seed, **options), _tokens(size, vocab_size, seed), vocab_size))

    return until(count(seed), make, lambda ask: kind(*_changes(ask)))


def _told(
    rng: random.Random,
    sees: Tensor,
    step: Tensor,
    *,
    weakest: float | None = None,
    noise: float = 0.0,
    kind: Callable[[Tensor, Tensor], bool] = _sometimes_less,
    hushed: bool = False,
) -> Question:
    """Returns a question on a model that is told who `sees` whom, `(n, n)` of output i and token j.

    A Transformer that is to do the same needs scores so large that its rounding would count. Of the two words of its
    vocabulary the second says more than the first, by `step` `(k,)`. With `weakest` one influence is so weak. With
    `hushed` a word that follows the first one says nothing: what a token does hangs on the one before it.
    """

    def make(rng: random.Random) -> Question:
        seed, size = rng.randrange(2**31), len(sees)
        generator = torch.Generator().manual_seed(seed)
        strengths = 1 + torch.rand(size, size, generator=generator)
        strengths *= 1 - 2 * torch.randint(2, (size, size), generator=generator)
        if weakest is not None:
            i, j = rng.choice(sees.nonzero().tolist())
            strengths[i, j] = weakest
        first = torch.randn(len(step), generator=generator)
        says = torch.stack([first, first + step])
        arguments = {"strengths": strengths * sees, "says": says, "hushed": hushed}
        return Question((Model("SumOfSomeWords", arguments, noise=noise), _tokens(size, 2, seed), 2))

    return until(repeat(rng), make, lambda ask: kind(*_changes(ask)))


def _irregular_sight(rng: random.Random, size: int) -> Tensor:
    """Returns who sees whom, `(n, n)`, by no rule of positions: all but one see themselves."""

    def make(rng: random.Random) -> Tensor:
        generator = torch.Generator().manual_seed(rng.randrange(2**31))
        sees = (torch.rand(size, size, generator=generator) < 0.4) | torch.eye(size, dtype=torch.bool)
        blind = int(torch.randint(size, (), generator=generator))
        sees[blind, blind] = False
        return sees

    return until(repeat(rng), make, lambda sees: _without_rule(sees) and bool(sees.any(dim=1).all()))


def _some_words(size: int, rng: random.Random, noise: float = 0.0) -> Question:
    """Returns a question on a model in which each output depends on a few words only, whose outputs become smaller."""
    return _told(rng, _irregular_sight(rng, size), torch.tensor([0.75, 0.5]), noise=noise)


def _one_upon_the_other(model: Any, tokens: Tensor, vocab_size: int) -> Tensor:
    """Returns the influences where changed tokens stay changed, and each step is compared with the one before."""
    size, changed = tokens.shape[0], tokens.clone()
    before = model(tokens.unsqueeze(0))[0]
    influence = torch.zeros(size, size, dtype=torch.bool)
    for j in range(size):
        changed[j] = (changed[j] + 1) % vocab_size
        after = model(changed.unsqueeze(0))[0]
        influence[:, j] = (after - before).abs().amax(dim=-1) > 1e-5
        before = after
    return influence


def _any_word(rng: random.Random, sees: Tensor, tokens: Tensor, vocab_size: int) -> Question:
    """Returns a question on a model that is told who sees whom, in which it does not matter which other word is taken.

    Whichever stands in place of a token, it is seen in the outputs that see the token: any two words say something
    that differs by 0.5 at least.
    """

    def make(rng: random.Random) -> Question:
        generator = torch.Generator().manual_seed(rng.randrange(2**31))
        strengths = (1 + torch.rand(sees.shape, generator=generator)) * sees
        first = torch.randperm(vocab_size, generator=generator) / 2
        says = torch.stack([first, torch.randn(vocab_size, generator=generator)], dim=1)
        return Question((Model("SumOfSomeWords", {"strengths": strengths, "says": says}), tokens, vocab_size))

    def fits(ask: Question) -> bool:
        found = [_changes(ask, step) for step in range(1, vocab_size)]
        return all(_plain(changes, seen) and torch.equal(seen, sees.T) for changes, seen in found)

    return until(repeat(rng), make, fits)


def _past(size: int, rng: random.Random) -> Question:
    """Returns a question on a sentence of some of nine words, in which each token is seen by those after it."""
    past = torch.ones(size, size, dtype=torch.bool).tril()
    return _any_word(rng, past, _tokens(size, 9, seed_from(rng)), 9)


@exercise.stage(
    "a bool tensor of shape (n, n)",
    points=0.25,
    public=[_asked(_plain, True, 10, 4, 1), _past(3, random.Random(13))],
    view="shape",
)
def _(rng: random.Random) -> list[Question]:
    """One row for each output i and one column for each changed token j; True or False in each entry."""
    return [_past(rng.choice([5, 6, 7]), rng)]


@exercise.stage(
    "a model with a causal mask: nothing from the future",
    points=0.25,
    public=[_asked(_plain, True, 10, 4, 1), _asked(_plain, True, 12, 3, 7)],
)
def _(rng: random.Random) -> list[Question]:
    """In a causal model, changing token j changes the outputs i >= j and no others: expect the lower triangle."""
    # Draws an even vocabulary: in an odd one the word in the middle is its own mirror image.
    return [_asked(_plain, True, rng.randrange(10, 21, 2), rng.randint(3, 5), seed_from(rng))]


def _everything_sometimes_less(changes: Tensor, influence: Tensor) -> bool:
    """Says whether every output changes with every token, but some outputs only become smaller."""
    return bool(influence.all()) and _sometimes_less(changes, influence)


def _unmasked(seed: int) -> Question:
    return _asked(_plain, False, 14, 4, seed)


def _two_words(seed: int) -> Question:
    """Returns a question on a vocabulary of two words without a mask: both outputs often become smaller."""
    return _asked(_everything_sometimes_less, False, 2, 4, seed, spread=1.0)


def _hidden_states(seed: int) -> Question:
    """Returns a question on a model whose numbers of an output add up to 0: so do their changes."""
    ask = _unmasked(seed)
    return replace(ask, inputs=(ask.inputs[0].arguments["base"], *ask.inputs[1:]))


@exercise.stage(
    "a model without a mask: everything from everywhere",
    points=0.25,
    public=[_unmasked(4), _two_words(18), _hidden_states(17)],
)
def _(rng: random.Random) -> list[Question]:
    """Without a mask every token changes every output: expect True everywhere. It is enough that one number of an
    output changes, up or down.
    """
    # Draws a model without a mask, and two that are told: outputs only become smaller, and changes add up to 0.
    everything = torch.ones(4, 4, dtype=torch.bool)
    cancelling = torch.tensor([0.5, -0.5, 0.25, -0.25])
    return [
        _unmasked(rng.choice(UNMASKED)),
        _told(rng, everything, torch.tensor([0.75, 0.5])),
        _told(rng, everything, cancelling, kind=_plain),
    ]


def _hushed_words(size: int, rng: random.Random) -> Question:
    """Returns a question on a model in which a token counts or not, depending on the word before it.

    It is seen there that each changed sentence is compared with the original one, and not with the one before.
    """

    def make(rng: random.Random) -> Question:
        return _told(rng, _irregular_sight(rng, size), torch.tensor([0.75, 0.5]), kind=_sure, hushed=True)

    def fits(ask: Question) -> bool:
        given = build(ask.inputs[0]), *ask.inputs[1:]
        return not torch.equal(_one_upon_the_other(*given), future_influence(*given))

    return until(repeat(rng), make, fits)


def _one_number(size: int, rng: random.Random) -> Question:
    """Returns a question on a model whose outputs are one number each."""
    return _told(rng, _irregular_sight(rng, size), torch.tensor([0.75]))


@exercise.stage(
    "a model in which each output depends on a few words only",
    points=1.25,
    public=[
        _some_words(5, random.Random(2)),
        _some_words(4, random.Random(3)),
        _one_number(3, random.Random(4)),
        _hushed_words(4, random.Random(5)),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """A model need not be a Transformer: in this one each output adds up what some of the words say, and one word may
    silence the next. Nothing follows from positions, and nothing from how the model was made: change each word of the
    sentence that is given, and compare each output with what it was.
    """
    return [_some_words(4, rng), _some_words(6, rng), _one_number(5, rng), _hushed_words(5, rng)]


def _weak(changes: Tensor, influence: Tensor) -> bool:
    """Says whether the weakest influence is between 2e-4 and 8e-4, and some outputs only become smaller."""
    weakest = float(changes[influence].abs().amax(dim=-1).min())
    return _sure(changes, influence, 2e-4) and weakest < 8e-4 and float(changes[influence].amax(dim=-1).min()) < -1e-3


def _weak_words(seed: int) -> Question:
    """Returns a question with a weak influence; with seed 1269 (45) one is not seen in the first (last) number."""
    return _asked(_weak, True, 2, 6, seed, spread=0.5)


def _few_numbers(seed: int) -> Question:
    """Returns a question in which an influence is seen in four of three hundred numbers of an output.

    The mean of the changes is as small as rounding then; the largest of them, and their sum, are not.
    """
    return Question((_model(True, 300, seed, faint=0.008), _tokens(4, 300, seed), 300))


def _rounded_near_zero(seed: int) -> Question:
    """Returns a question with the least rounding, and outputs near 0, of which no rounding is a small share."""
    return _asked(_plain, True, 10, 4, seed, noise=3e-7)


# Steps of rounding, and how many numbers of an output are to lie between two: digits, and those of half precision.
STEPS = {1e-2: 1, 1e-3: 4, 1e-4: 4, 1e-5: 4, 1e-6: 1, 2.0**-12: 3, 2.0**-9: 1}


def _on_borders(rng: random.Random) -> Question:
    """Returns a question with the least rounding whose outputs all lie where a number is rounded up or down.

    Two of them lie where digits that are cut off change. Each output sees one token, not its own.
    """
    steps = [step for step, count in STEPS.items() for _ in range(count)]
    borders = [step * (rng.randrange(int(0.26 / step) + 1, int(0.49 / step)) + 0.5) for step in steps]
    first = torch.tensor([*borders, *(rng.randrange(26, 50) / 100 for _ in range(2))])  # of half precision up to 0.5
    arguments = {"strengths": torch.eye(4).roll(rng.randint(1, 3), 0), "says": torch.stack([first, first + 0.25])}
    seed = seed_from(rng)
    return Question((Model("SumOfSomeWords", arguments, seed, noise=2e-7), _tokens(4, 2, seed), 2))


@exercise.stage(
    "a weak influence counts, rounding does not",
    points=0.5,
    public=[
        _some_words(4, random.Random(11), noise=1e-6),
        _weak_words(1269),
        _weak_words(45),
        _few_numbers(256),
        _rounded_near_zero(3),
        _on_borders(random.Random(6)),
    ],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Two runs of the same model may differ by rounding, near 1e-6, and a token may change an output by less than
    0.001, up or down, in one of its numbers more than in another. Count each change above a tolerance between the two,
    such as 1e-5, in any of the numbers. Compare their difference with it: two numbers that are rounded first may be
    rounded to two sides, however near to each other they are.
    """
    # Draws rounding, a weak influence, one seen in four of three hundred numbers, rounding near 0 and on borders.
    few = torch.zeros(300)
    few[torch.tensor(rng.sample(range(1, 299), 4))] = torch.tensor([4.0, 3.0, -4.0, 3.5]) * 1e-4
    past, step = torch.ones(6, 6, dtype=torch.bool).tril(), torch.tensor([0.75, 0.5])
    return [
        _some_words(4, rng, noise=1e-6),
        _told(rng, past, step, weakest=rng.uniform(4e-4, 9e-4), kind=_weak),
        _told(rng, _irregular_sight(rng, 4), few, kind=lambda changes, influence: _sure(changes, influence, 2e-4)),
        _rounded_near_zero(seed_from(rng)),
        _on_borders(rng),
    ]


def _all_words(rng: random.Random) -> Question:
    """Returns a question on a sentence that holds each of three words once."""
    words = torch.randperm(3, generator=torch.Generator().manual_seed(rng.randrange(2**31)))
    return _any_word(rng, torch.ones(3, 3, dtype=torch.bool), words, 3)


def _one_word(word: int, size: int, vocab_size: int, rng: random.Random) -> Question:
    """Returns a question on a sentence that repeats one word, in which each token is seen by those after it."""
    past = torch.ones(size, size, dtype=torch.bool).tril()
    return _any_word(rng, past, torch.full((size,), word), vocab_size)


@exercise.stage(
    "any word of the vocabulary can be changed, the first and the last too",
    points=0.5,
    public=[
        _all_words(random.Random(5)),
        _one_word(0, 3, 7, random.Random(4)),
        _one_word(6, 3, 7, random.Random(5)),
    ],
)
def _(rng: random.Random) -> list[Question]:
    """A changed token must still be a word: stay between 0 and vocab_size - 1, and differ from the old one, whatever
    that is and whatever else stands in the sentence.
    """
    return [_all_words(rng), _one_word(0, 3, rng.randint(5, 9), rng)]


@exercise.corners(
    "any word of the vocabulary can be changed, the first and the last too",
    n=(1, 2, 3),
    vocab_size=(2, range(3, 6)),
)
def _(rng: random.Random, n: int, vocab_size: int) -> Question:
    """Asks about a single token, and about a vocabulary of two words or little more."""
    tokens = torch.tensor([rng.choice([0, vocab_size - 1, rng.randrange(vocab_size)]) for _ in range(n)])
    return _any_word(rng, torch.ones(n, n, dtype=torch.bool), tokens, vocab_size)


@exercise.corners(
    "a model in which each output depends on a few words only", n=(2, range(33, 36)), sight=("past", "itself")
)
def _(rng: random.Random, n: int, sight: str) -> Question:
    """Asks about longer sentences: of outputs that see all the past, or but one token each."""
    sees = torch.ones(n, n, dtype=torch.bool).tril() if sight == "past" else torch.eye(n, dtype=torch.bool)
    return _told(rng, sees, torch.tensor([0.75, 0.5]), kind=_sure)
