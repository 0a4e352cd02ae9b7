"""Exercises of notebook 01: the square mask, causality, and padding."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import sympy
import torch
from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask, InProcess
from helpers.checking.plain import Model

INF = float("inf")


# --- causal_mask ------------------------------------------------------------------------------------------------------


def causal_mask(size: int) -> Tensor:
    return torch.triu(torch.full((size, size), -INF), diagonal=1)


def _sizes(low: int, high: int, count: int) -> Any:
    def draw(rng: random.Random) -> list[Ask]:
        return [Ask((size,)) for size in rng.sample(range(low, high + 1), count)]

    return draw


def _diagonal_blocked(size: int) -> Tensor:
    return torch.triu(torch.full((size, size), -INF))


def _transposed(size: int) -> Tensor:
    return causal_mask(size).T


def _ones_where_blocked(size: int) -> Tensor:
    return torch.triu(torch.ones(size, size), diagonal=1)


def _ones_where_allowed(size: int) -> Tensor:
    return torch.tril(torch.ones(size, size))


def _ones_where_allowed_infinity_where_blocked(size: int) -> Tensor:
    return _ones_where_allowed(size) + causal_mask(size)


def _from_scores(size: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(size, size, generator=generator)
    return torch.where(torch.triu(scores, diagonal=1) != 0, -INF, 0.0)


def _large_number(size: int) -> Tensor:
    return torch.triu(torch.full((size, size), -1e9), diagonal=1)


CAUSAL_MASK = Exercise(
    causal_mask,
    [
        Stage(
            "a floating point tensor of shape (size, size)",
            0.5,
            "The mask has one row and one column for each token, and holds floating point numbers.",
            [Ask((4,))],
            _sizes(2, 12, 2),
            view="shape",
        ),
        Stage(
            "one token alone",
            0.5,
            "With size 1 the only token looks at itself: what must be added to its score?",
            [Ask((1,))],
            lambda rng: [Ask((1,))],
        ),
        Stage(
            "the first row: token 0 sees only itself",
            1,
            "Print the first row: token 0 may look at token 0 and at nothing after it.",
            [Ask((5,))],
            _sizes(3, 12, 2),
            view="first row",
        ),
        Stage(
            "every row",
            1,
            "Row i is the token that looks, column j the token looked at: allowed (0) where j <= i.",
            [Ask((3,)), Ask((5,))],
            _sizes(2, 24, 4),
        ),
    ],
    [
        Mistake(
            "the diagonal is blocked too",
            "A token may look at itself: start the blocked part one place above the diagonal.",
            _diagonal_blocked,
        ),
        Mistake(
            "the past is blocked in place of the future",
            "Your mask is the transpose of the wanted one: -inf belongs above the diagonal, where j > i.",
            _transposed,
        ),
        Mistake(
            "1 where blocked, in place of -inf",
            "The mask is added to the scores before the softmax; adding 1 makes a blocked token more likely. "
            "Blocked places need -inf, the others 0.",
            _ones_where_blocked,
        ),
        Mistake(
            "1 where allowed and 0 where blocked",
            "This would be a mask to multiply with. Ours is added to the scores: 0 where allowed, -inf where blocked.",
            _ones_where_allowed,
        ),
        Mistake(
            "allowed places hold 1, not 0",
            "Blocked places are right. But the mask is added to the scores, and what is allowed must stay as it is: "
            "add 0 there, not 1.",
            _ones_where_allowed_infinity_where_blocked,
        ),
        Mistake(
            "a large finite number in place of -inf",
            "-1e9 mostly works, but it overflows in half precision, and when a whole row is blocked it gives equal "
            "weights without a warning. Use float('-inf').",
            _large_number,
        ),
    ],
)


# --- attention_weights ------------------------------------------------------------------------------------------------


def attention_weights(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores + mask, dim=-1)


def _scores(*shape: int, seed: int = 0) -> Tensor:
    scores = torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).mul(4).round().div(2)
    scores[..., 0, -1] = 0.0  # a score of 0 in the future: a mask built from the scores leaks there
    return scores


def _masked(*shape: int, seed: int = 0) -> Ask:
    return Ask((_scores(*shape, seed=seed), causal_mask(shape[-1])))


def _draw_masked(*leading: int) -> Any:
    def draw(rng: random.Random) -> list[Ask]:
        size = rng.randint(3, 9)
        return [_masked(*leading, size + step, size + step, seed=rng.randrange(10**6)) for step in range(2)]

    return draw


def _draw_any_mask(rng: random.Random) -> list[Ask]:
    """A mask that is not causal: random places blocked, one place in each row left open."""
    size = rng.randint(4, 8)
    generator = torch.Generator().manual_seed(rng.randrange(10**6))
    blocked = torch.rand(size, size, generator=generator) < 0.5
    blocked[torch.arange(size), torch.randint(size, (size,), generator=generator)] = False
    mask = torch.zeros(size, size).masked_fill(blocked, -INF)
    return [Ask((_scores(2, size, size, seed=rng.randrange(10**6)), mask))]


def _softmax_over_queries(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores + mask, dim=-2)


def _softmax_over_first_axis(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores + mask, dim=0)


def _mask_after_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1).masked_fill(mask == -INF, 0.0)


def _mask_added_after_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1) + mask


def _mask_multiplied(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores * mask, dim=-1)


def _scores_zeroed(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores.masked_fill(mask == -INF, 0.0), dim=-1)


def _zero_blocks(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores.masked_fill(mask == 0, -INF), dim=-1)


def _zero_blocks_by_a_large_number(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores.masked_fill(mask == 0, -1e9), dim=-1)


def _mask_from_scores(scores: Tensor, mask: Tensor) -> Tensor:
    upper = torch.triu(scores, diagonal=1)
    return torch.softmax(torch.where(upper != 0, -INF, scores), dim=-1)


def _mask_forgotten(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1)


ATTENTION_WEIGHTS = Exercise(
    attention_weights,
    [
        Stage(
            "the shape of the scores",
            0.5,
            "One weight for each score: the result has the shape of `scores`.",
            [_masked(4, 4, seed=1)],
            _draw_masked(),
            view="shape",
        ),
        Stage(
            "each row sums to 1",
            0.5,
            "A row holds the weights of one query over all keys: the softmax runs along the last axis, after masking.",
            [_masked(4, 4, seed=1)],
            _draw_masked(),
            view="row sums",
        ),
        Stage(
            "the first row: all weight on the first token",
            0.5,
            "Token 0 sees only itself, so its row must be 1, 0, 0, ...",
            [_masked(4, 4, seed=2)],
            _draw_masked(),
            view="first row",
        ),
        Stage(
            "every row",
            1,
            "Add the mask to the scores, then take the softmax of each row.",
            [_masked(3, 3, seed=3), _masked(5, 5, seed=4)],
            lambda rng: [*_draw_masked()(rng), *_draw_any_mask(rng)],
        ),
        Stage(
            "batches and heads: (b, h, n, n)",
            0.5,
            "Count axes from the end: -1 is the last one whatever stands before it.",
            [_masked(2, 2, 3, 3, seed=5)],
            lambda rng: [*_draw_masked(2, 3)(rng), *_draw_masked(4)(rng)],
        ),
    ],
    [
        Mistake(
            "softmax over the wrong axis (down the columns)",
            "Each query shares its attention over the keys: the softmax runs along the last axis, dim=-1.",
            _softmax_over_queries,
        ),
        Mistake(
            "softmax over the first axis",
            "dim=0 is the batch as soon as there is one. Count from the end: dim=-1.",
            _softmax_over_first_axis,
        ),
        Mistake(
            "the mask comes after the softmax",
            "The blocked scores have already taken their share, so rows no longer sum to 1. Mask first, then softmax "
            "(or divide each row by its new sum).",
            _mask_after_softmax,
        ),
        Mistake(
            "the mask is added after the softmax",
            "Weights of -inf mean nothing. Add the mask to the scores, before the softmax.",
            _mask_added_after_softmax,
        ),
        Mistake(
            "the mask is multiplied",
            "0 times a score is 0 and -inf times 0 is NaN. This mask is made to be added.",
            _mask_multiplied,
        ),
        Mistake(
            "blocked scores are set to 0",
            "A score of 0 still gets exp(0) = 1 before normalisation. A blocked score must be -inf.",
            _scores_zeroed,
        ),
        Mistake(
            "0 in the mask is taken for blocked",
            "Many programs write masked_fill(mask == 0, ...), for masks of 1 and 0. In ours 0 means allowed and -inf "
            "blocked: just add it to the scores.",
            _zero_blocks,
        ),
        Mistake(
            "0 in the mask is taken for blocked, by a large finite number",
            "Many programs write masked_fill(mask == 0, -1e9), for masks of 1 and 0. In ours 0 means allowed and -inf "
            "blocked: just add it to the scores.",
            _zero_blocks_by_a_large_number,
        ),
        Mistake(
            "the mask is built from the scores",
            "Where a score happens to be 0, `triu(scores)` is 0 too and the future leaks through. "
            "Use the mask you are given.",
            _mask_from_scores,
        ),
        Mistake(
            "the mask is not used",
            "These are the weights without any mask: every token still sees the future.",
            _mask_forgotten,
        ),
    ],
)


# --- wasted_scores ----------------------------------------------------------------------------------------------------

L = sympy.Symbol("L", positive=True, integer=True)


def wasted_scores() -> sympy.Expr:
    return L * (L - 1) / 2


def _at(symbol: str, low: int, high: int, count: int) -> Any:
    return lambda rng: [Ask(at={symbol: value}) for value in rng.sample(range(low, high + 1), count)]


WASTED_SCORES = Exercise(
    wasted_scores,
    [
        Stage(
            "5 tokens: 10 scores",
            0.5,
            "Count the -inf in the 5 x 5 mask above by hand, then put L = 5 into your formula.",
            [Ask(at={"L": 5})],
            lambda rng: [Ask(at={"L": 5})],
        ),
        Stage(
            "any number of tokens",
            1.5,
            "Row i throws away L - 1 - i scores. Sum over the rows, or take the square without its diagonal and "
            "halve it.",
            [Ask(at={"L": 1}), Ask(at={"L": 8}), Ask(at={"L": 31})],
            _at("L", 6, 5000, 4),
            sealed=True,
        ),
    ],
    [
        Mistake(
            "the diagonal is counted",
            "The L scores of the diagonal are kept: each token looks at itself. Take them off.",
            lambda: L * (L + 1) / 2,
        ),
        Mistake(
            "all scores are counted",
            "The scores of the past and of the token itself are used; only j > i is wasted.",
            lambda: L**2,
        ),
        Mistake(
            "both triangles are counted",
            "The scores below the diagonal are the past, which is used. Only one of the two triangles is wasted.",
            lambda: L * (L - 1),
        ),
        Mistake(
            "half of all scores",
            "Exactly half would split the diagonal in two. First take the diagonal off, then halve.",
            lambda: L**2 / 2,
        ),
        Mistake(
            "one row in place of all",
            "L - 1 is what the first row throws away; the second one throws away L - 2, and so on. Sum over the rows.",
            lambda: L - 1,
        ),
    ],
)


# --- future_influence -------------------------------------------------------------------------------------------------


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


def _influence(
    model: Any,
    tokens: Tensor,
    vocab_size: int,
    *,
    counts: Callable[[Tensor], Tensor] = lambda change: change.abs().amax(dim=-1) > 1e-5,
    only: int | None = None,
    step: int = 1,
) -> Tensor:
    size = tokens.shape[0]
    before = model(tokens.unsqueeze(0))[0]
    influence = torch.zeros(size, size, dtype=torch.bool)
    for j in range(size) if only is None else [only]:
        changed = tokens.clone()
        changed[j] = (changed[j] + step) % vocab_size
        influence[:, j] = counts(model(changed.unsqueeze(0))[0] - before)
    return influence


def _above(tolerance: float) -> Callable[[Tensor], Tensor]:
    return lambda change: change.abs().amax(dim=-1) > tolerance


def _transposed_influence(model: Any, tokens: Tensor, vocab_size: int) -> Tensor:
    return _influence(model, tokens, vocab_size).T


def _model(causal: bool, vocab_size: int, seed: int, noise: float = 0.0) -> Model:
    shape = {"vocab_size": vocab_size, "d_model": 16, "n_layers": 2, "n_heads": 2, "dropout": 0.0}
    base = Model("TransformerBase", shape | {"causal": causal}, seed)
    return Model("LanguageModel", {"base": base}, seed, noise)


def _tokens(size: int, vocab_size: int, seed: int) -> Tensor:
    """Returns a sentence with the last word in it: adding 1 to that without a remainder leaves the vocabulary."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(vocab_size, (size,), generator=generator)
    first, second = torch.randperm(size, generator=generator)[:2]
    tokens[first], tokens[second] = vocab_size - 1, 0
    return tokens


def _changes(ask: Ask, causal: bool) -> Tensor:
    """Returns what the next word in place of a token does to the outputs, one row for each influence `(m, k)`."""

    def changes(model: Any, tokens: Tensor, vocab_size: int) -> Tensor:
        places = torch.arange(len(tokens))
        changed = tokens.repeat(len(tokens), 1)
        changed[places, places] = (tokens + 1) % vocab_size
        rows: Tensor = model(changed) - model(tokens.unsqueeze(0))  # (j, i, k)
        return rows[places.unsqueeze(1) <= places] if causal else rows.flatten(0, 1)

    found: Tensor = InProcess(changes, clock="cpu").ask(ask, 20).value
    return found


def _plain(changes: Tensor) -> bool:
    """Says whether each influence is strong, and seen in every output, and by an increase too."""
    strong = float(changes.abs().amax(dim=-1).min()) > 0.12
    return strong and float(changes.abs().min()) > 3e-5 and float(changes.amax(dim=-1).min()) > 3e-5


def _sometimes_less(changes: Tensor) -> bool:
    """Says whether each influence is strong and seen in every output, but some outputs only become smaller."""
    strong = float(changes.abs().amax(dim=-1).min()) > 0.12
    return strong and float(changes.abs().min()) > 3e-5 and float(changes.amax(dim=-1).min()) < -1e-3


def _weak(changes: Tensor) -> bool:
    """Says whether the weakest influence is below 0.001, and some are not seen in every output or only as a loss."""
    weakest = float(changes.abs().amax(dim=-1).min())
    return 2e-4 < weakest < 8e-4 and float(changes.abs().min()) < 5e-6 and float(changes.amax(dim=-1).min()) < -1e-3


# Seeds of weak changes in a sentence of 28 of two words. They are rare, one in 30, so they have been searched for once.
WEAK = (2, 29, 53, 79, 91, 152, 190, 223, 264, 265, 285, 327, 330, 336, 358, 366, 416, 431, 453, 500)


def _asked(
    kind: Callable[[Tensor], bool],
    causal: bool,
    vocab_size: int,
    size: int,
    seed: int,
    *,
    noise: float = 0.0,
    tokens: Tensor | None = None,
) -> Ask:
    """Returns the first question, from this seed on, whose changes are of this kind: luck decides on no mark."""
    while True:
        words = _tokens(size, vocab_size, seed) if tokens is None else tokens
        ask = Ask((_model(causal, vocab_size, seed, noise), words, vocab_size))
        if kind(_changes(ask, causal)):
            return ask
        seed += 1


def _two_words(causal: bool, seed: int) -> Ask:
    """Returns a question on a vocabulary of two words: both outputs often become smaller."""
    return _asked(_sometimes_less, causal, 2, 4, seed)


def _draw_influence(causal: bool, two_words: bool = False) -> Any:
    def draw(rng: random.Random) -> list[Ask]:
        vocab_size, size, seed = rng.randint(10, 40), rng.randint(4, 6), rng.randrange(10**6)
        first = _asked(_plain, causal, vocab_size, size, seed)
        return [first, _two_words(causal, rng.randrange(10**6))] if two_words else [first]

    return draw


def _draw_weak_influence(rng: random.Random) -> list[Ask]:
    return [
        _asked(_plain, True, 12, 5, rng.randrange(10**6), noise=1e-6),
        _asked(_weak, True, 2, 28, rng.choice(WEAK)),
    ]


def _draw_last_word(rng: random.Random) -> list[Ask]:
    return [_asked(_plain, True, 6, 4, rng.randrange(10**6), tokens=torch.tensor([5, 0, 5, 2]))]


FUTURE_INFLUENCE = Exercise(
    future_influence,
    [
        Stage(
            "a bool tensor of shape (n, n)",
            0.5,
            "One row for each output i and one column for each changed token j; True or False in each place.",
            [_asked(_plain, True, 10, 4, 1)],
            _draw_influence(True),
            view="shape",
        ),
        Stage(
            "a model with a causal mask: nothing from the future",
            0.5,
            "In a causal model, changing token j may change the outputs i >= j only: expect the lower triangle.",
            [_asked(_plain, True, 10, 4, 1)],
            _draw_influence(True),
        ),
        Stage(
            "a weak influence counts, rounding does not",
            0.5,
            "Two runs of the same model may differ by rounding, near 1e-6, and a distant token may change an output by "
            "less than 0.001, up or down. Count each change above a tolerance between the two, such as 1e-5.",
            [
                _asked(_plain, True, 10, 4, 4, noise=1e-6),
                _asked(_weak, True, 2, 28, 5),
            ],
            _draw_weak_influence,
        ),
        Stage(
            "a model without a mask: everything from everywhere",
            1,
            "Without a mask every token changes every output: expect True everywhere.",
            [_asked(_plain, False, 10, 5, 2), _two_words(False, 6)],
            _draw_influence(False, two_words=True),
        ),
        Stage(
            "the last word of the vocabulary can be changed too",
            0.5,
            "A changed token must still be a word: stay between 0 and vocab_size - 1, and differ from the old one.",
            [_asked(_plain, True, 6, 3, 3, tokens=torch.tensor([5, 0, 5]))],
            _draw_last_word,
        ),
    ],
    [
        Mistake(
            "the token is replaced by itself",
            "Nothing changes if the new token equals the old one: add 1 to it, modulo the size of the vocabulary. "
            "(A tolerance that is far too wide gives the same picture.)",
            lambda model, tokens, vocab_size: _influence(model, tokens, vocab_size, step=0),
        ),
        Mistake(
            "only one token is changed",
            "Only one column is filled. Change each token in turn, starting each time from the original tokens.",
            lambda model, tokens, vocab_size: _influence(model, tokens, vocab_size, only=tokens.shape[0] - 1),
        ),
        Mistake(
            "only the first token is changed",
            "Only the first column is filled. Change each token in turn, starting each time from the original tokens.",
            lambda model, tokens, vocab_size: _influence(model, tokens, vocab_size, only=0),
        ),
        Mistake(
            "rows and columns are exchanged",
            "Row i is the output that is read, column j the token that was changed: fill column j with the changes "
            "of all outputs.",
            _transposed_influence,
        ),
        Mistake(
            "the tolerance is so wide that weak influences are lost",
            "A distant token may change an output by less than 0.001. Rounding stays near 1e-6: "
            "take a tolerance of 1e-5.",
            lambda model, tokens, vocab_size: _influence(model, tokens, vocab_size, counts=_above(0.1)),
        ),
        Mistake(
            "the tolerance is so small that rounding counts as a change",
            "Outputs that should be equal may differ by rounding. Compare with a tolerance near 1e-5, not with !=.",
            lambda model, tokens, vocab_size: _influence(model, tokens, vocab_size, counts=_above(0.0)),
        ),
        Mistake(
            "only an increase counts: the absolute value is missing",
            "Where all outputs become smaller, the largest difference is negative. Take abs() before the maximum.",
            lambda model, tokens, vocab_size: _influence(
                model, tokens, vocab_size, counts=lambda change: change.amax(dim=-1) > 1e-5
            ),
        ),
        Mistake(
            "all numbers of an output must change",
            "It is an influence as soon as one of the numbers of output i changes: any() or amax(), not all().",
            lambda model, tokens, vocab_size: _influence(
                model, tokens, vocab_size, counts=lambda change: (change.abs() > 1e-5).all(dim=-1)
            ),
        ),
        Mistake(
            "changes pile up",
            "The tokens changed earlier stay changed. Start each time from a fresh copy: tokens.clone().",
            lambda model, tokens, vocab_size: _changes_pile_up(model, tokens, vocab_size),
        ),
        Mistake(
            "True where nothing changes",
            "The answer is inverted: True must stand where changing token j does change output i.",
            lambda model, tokens, vocab_size: ~_influence(model, tokens, vocab_size),
        ),
        Mistake(
            "the changed token leaves the vocabulary",
            "Adding 1 to the last word gives a word that does not exist. Take the remainder modulo vocab_size.",
            lambda model, tokens, vocab_size: _influence(model, tokens, 10**9),
        ),
        Mistake(
            "the model gets a sentence without a batch",
            "The model reads batches `(1, n)`, and tokens is `(n,)`: give it tokens.unsqueeze(0) and take [0] of the "
            "result.",
            lambda model, tokens, vocab_size: model(tokens),
        ),
    ],
)


def _changes_pile_up(model: Any, tokens: Tensor, vocab_size: int) -> Tensor:
    size, changed = tokens.shape[0], tokens.clone()
    before = model(tokens.unsqueeze(0))[0]
    influence = torch.zeros(size, size, dtype=torch.bool)
    for j in range(size):
        changed[j] = (changed[j] + 1) % vocab_size
        influence[:, j] = (model(changed.unsqueeze(0))[0] - before).abs().amax(dim=-1) > 1e-5
    return influence


# --- padding_mask -----------------------------------------------------------------------------------------------------


def padding_mask(lengths: Tensor, size: int) -> Tensor:
    return torch.arange(size) >= lengths.clamp(min=1).unsqueeze(1)


def _draw_lengths(low: int, high: int) -> Any:
    def draw(rng: random.Random) -> list[Ask]:
        size = high + rng.randint(0, 3)
        rows = rng.choice([count for count in range(5, 9) if count != size])  # a transposed mask has another shape
        lengths = [rng.randint(low, high) for _ in range(rows - 2)] + [low, size]
        rng.shuffle(lengths)
        return [Ask((torch.tensor(lengths), size))]

    return draw


def _draw_length(rng: random.Random) -> list[Ask]:
    """Draws a length that is not half of the size: padding at the start would be the inverted mask there."""
    size = rng.randint(6, 9)
    return [Ask((torch.tensor([rng.choice([length for length in range(1, 6) if 2 * length != size])]), size))]


PADDING_MASK = Exercise(
    padding_mask,
    [
        Stage(
            "a bool tensor of shape (b, size)",
            0.5,
            "One row for each sequence, one column for each place; True or False in each.",
            [Ask((torch.tensor([2, 4]), 5))],
            _draw_lengths(1, 6),
            view="shape",
        ),
        Stage(
            "one sequence",
            0.5,
            "A sequence of length 3 padded to 4 is real, real, real, padding: False, False, False, True.",
            [Ask((torch.tensor([3]), 4))],
            _draw_length,
        ),
        Stage(
            "a batch of several lengths",
            1,
            "Compare every place 0, 1, 2, ... with the length of its own row.",
            [Ask((torch.tensor([3, 1, 5]), 5))],
            _draw_lengths(1, 7),
        ),
        Stage(
            "no row without anything to see",
            1,
            "An empty sequence (length 0) would have all places padded, and the softmax of its rows would be NaN: "
            "leave its first place visible.",
            [Ask((torch.tensor([0, 2]), 3))],
            _draw_lengths(0, 5),
        ),
    ],
    [
        Mistake(
            "the mask is inverted",
            "It is True at the real tokens. A padding mask marks what is to be ignored.",
            lambda lengths, size: torch.arange(size) < lengths.clamp(min=1).unsqueeze(1),
        ),
        Mistake(
            "the mask is inverted, and an empty sequence has nothing to see",
            "It is True at the real tokens; a padding mask marks what is to be ignored. Mind length 0 as well.",
            lambda lengths, size: torch.arange(size) < lengths.unsqueeze(1),
        ),
        Mistake(
            "off by one: the last real token is marked as padding",
            "A sequence of length 2 has real tokens at places 0 and 1; place 2 is the first padding.",
            lambda lengths, size: torch.arange(size) >= lengths.unsqueeze(1) - 1,
        ),
        Mistake(
            "off by one: the first padding is taken for a token",
            "A sequence of length 2 has real tokens at places 0 and 1; place 2 is padding already: >= and not >.",
            lambda lengths, size: torch.arange(size) > lengths.unsqueeze(1),
        ),
        Mistake(
            "padding at the start in place of the end",
            "Our batches are padded on the right. With padding at the start, the first rows of the causal mask see "
            "nothing but padding, and their softmax would be NaN.",
            lambda lengths, size: torch.arange(size) < size - lengths.unsqueeze(1),
        ),
        Mistake(
            "an empty sequence has nothing to see",
            "With length 0 every place is padding, the whole row of scores is -inf and its softmax is NaN. "
            "Treat a length of 0 as 1.",
            lambda lengths, size: torch.arange(size) >= lengths.unsqueeze(1),
        ),
    ],
)

EXERCISES = [CAUSAL_MASK, ATTENTION_WEIGHTS, WASTED_SCORES, FUTURE_INFLUENCE, PADDING_MASK]
