"""Exercise bits_per_byte of notebook 14."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw, fixed, seed_from
from tutor.checking.answers import Question
from tutor.checking.plain import Model

from ._common import LN2, _tokens

exercise = Definition(minutes=12, difficulty=2, forbids=("helpers.training.evaluate",))


@exercise.reference
def bits_per_byte(model: Any, tokens: Tensor, n_bytes: int) -> float:
    return _measured(model, tokens, n_bytes)


def _measured(
    model: Any,
    tokens: Tensor,
    n_bytes: int,
    *,
    evaluate: bool = True,
    unit: float = LN2,
    mean: str = "bytes",
    shift: bool = True,
    back: bool = True,
    record: bool = False,
    recut: bool = False,
    too_many: bool = False,
) -> float:
    """Measures a model; the options are the ways in which it goes wrong."""
    training = model.training
    if evaluate:
        model.eval()
    with torch.set_grad_enabled(record):
        logits, target = (model(tokens[:, :-1]), tokens[:, 1:]) if shift else (model(tokens), tokens)
        logits = model(tokens)[:, :-1] if too_many else logits
    if back:
        model.train(training)
    if recut:
        b, n, v = logits.shape
        logits = logits.reshape(b, v, n).transpose(1, 2)
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="sum").item()
    by = {"bytes": n_bytes, "tokens": target.numel(), "mean": n_bytes * target.numel(), "texts": n_bytes * len(target)}
    return loss / unit / by[mean]


V = 11


def _model(seed: int, spread: float = 0.5, **options: Any) -> Model:
    shape = {"vocab_size": V, "d_model": 8, "n_layers": 1, "n_heads": 2, "dropout": 0.0, "norm_first": True}
    base = Model("TransformerBase", shape | {"max_len": 12} | options, seed)
    return Model("LanguageModel", {"base": base}, seed, spread=spread)


def _asked(rng: random.Random, training: bool = False, learned: bool = False, **options: Any) -> Question:
    """Returns a question; with `learned` positions the model has no more of them than it is to read tokens."""
    b, n = rng.choice([(2, 6), (3, 5), (4, 7)])
    if learned:
        options |= {"positions": "learned", "max_len": n - 1}
    model = replace(_model(seed_from(rng), **options), training=training)
    return Question((model, _tokens(rng, b, n, V), rng.randint(2 * b * n, 4 * b * n)))


def _plain(rng: random.Random) -> list[Question]:
    """Draws a model that is unsure, one with no more positions than it needs, and one that is sure, often wrongly."""
    return [_asked(rng), _asked(rng, learned=True), _asked(rng, spread=1.5)]


def _dropping(rng: random.Random) -> list[Question]:
    ask = _asked(rng, training=True, dropout=1.0)
    return [ask, replace(ask, probe="mode while it runs")]


def _recording(rng: random.Random) -> list[Question]:
    return [replace(_asked(rng), probe="recording", part="head")]


def _by_hand() -> Question:
    """Returns a question on one text of three tokens, of which the second has the chance 1/4, the third 1/16."""
    chances = torch.full((4, 4), 1 / 4)  # of each token, after each token
    chances[1] = 5 / 16
    chances[1, 2] = 1 / 16
    model = Model("SumOfSomeWords", {"strengths": torch.eye(3), "says": chances.log()})
    return Question((model, torch.tensor([[0, 1, 2]]), 6))


exercise.by_hand(_by_hand())


def _stage(name: str, points: float, feedback: str, draw: Draw, **options: Any) -> Stage:
    return Stage(name, points, feedback, fixed(draw, 3), draw, **options)


exercise.add(
    _stage(
        "the bits of all tokens, shared out among the bytes",
        1.25,
        "The model reads tokens[:, :-1]; it may have no position for one more. Add up the cross-entropy of all b * n "
        "positions (natural logarithms), divide by log(2) and by the number of bytes. F.cross_entropy wants the "
        "vocabulary as axis 1: exchange axes with transpose, or flatten logits and targets.",
        _plain,
        decisive=True,
    ),
    _stage(
        "a model in training mode is measured without dropout",
        0.5,
        "model.eval() switches dropout off: what is measured is the model as it will be used.",
        _dropping,
        decisive=True,
    ),
    _stage(
        "without gradients",
        0.25,
        "Nothing is learned here: under torch.no_grad() PyTorch does not keep what a backward pass would need.",
        _recording,
    ),
)


@exercise.corners(
    "the bits of all tokens, shared out among the bytes",
    rows=(1, range(65, 68)),
    length=(1, 2, range(33, 36), range(301, 304)),
    n_bytes=(1, 1_000_003),
)
def _(rng: random.Random, rows: int, length: int, n_bytes: int) -> Question | None:
    """Asks for one token and for many, and for more rows than fit into a usual batch, mostly no round number of them.

    A number of the order of 1 comes of one row in a few bytes.
    """
    if rows * length > 3000:
        return None
    model = _model(seed_from(rng), spread=0.4, max_len=max(length, 2))
    return Question((model, _tokens(rng, rows, length + 1, V), n_bytes if n_bytes == 1 else rows * length // 2 + 1))
