"""Exercise training_loop of notebook 14."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw, fixed, seed_from
from tutor.checking.answers import Question
from tutor.checking.building import build_inputs
from tutor.checking.plain import Model, Optimizer

from ._common import _telling, _tokens

Batches = list[Tensor]


exercise = Definition(minutes=20, difficulty=2, forbids=("helpers.training.train", "helpers.training.take_step"))


@exercise.reference
def training_loop(
    model: Any, optimizer: torch.optim.Optimizer, batches: Batches, passes: int, peak: float, warmup_steps: int
) -> list[float]:
    return _train(model, optimizer, batches, passes, peak, warmup_steps)


def _up_and_down(step: int, steps: int, warmup_steps: int) -> float:
    return min(step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1))


def _clip(model: nn.Module) -> None:
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def _train(
    model: Any,
    optimizer: torch.optim.Optimizer,
    batches: Batches,
    passes: int,
    peak: float,
    warmup_steps: int,
    *,
    factor: Callable[[int, int, int], float] = _up_and_down,
    first: int = 1,
    by: str = "step",
    clear: bool = True,
    clip: Callable[[nn.Module], Any] = _clip,
    mode: bool = True,
    shift: bool = True,
    late: bool = False,
) -> list[float]:
    """Trains a model; the options are the ways in which it goes wrong."""
    losses, steps, step = list[float](), passes * len(batches), first - 1
    if mode:
        model.train()
    for number in range(passes):
        for place, tokens in enumerate(batches):
            step += 1
            count, whole = {
                "step": (step, steps),
                "pass": (number + 1, passes),
                "batch": (place + 1, len(batches)),
                "one pass": (step, len(batches)),
            }[by]
            rate = peak * factor(count, whole, warmup_steps)
            if not late:
                _set(optimizer, rate)
            read, target = (tokens[:, :-1], tokens[:, 1:]) if shift else (tokens, tokens)
            loss = F.cross_entropy(model(read).flatten(0, 1), target.flatten())
            if clear:
                optimizer.zero_grad()
            loss.backward()
            clip(model)
            optimizer.step()
            losses.append(loss.item())
            if late:
                _set(optimizer, rate)
    return losses


def _set(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


V, WIDEST = 9, 8  # the widest batch of a question has so many positions


def _model(seed: int, spread: float, **options: Any) -> Model:
    shape = {"vocab_size": V, "d_model": 8, "n_layers": 1, "n_heads": 2, "dropout": 0.0, "norm_first": True}
    base = Model("TransformerBase", shape | {"max_len": WIDEST} | options, seed)
    return Model("LanguageModel", {"base": base}, seed, spread=spread)


SHORT, LONG = 0.02, 1.0  # what is added to all weights: so much that the gradient is never to be clipped, or is


def _gradients(ask: Question) -> list[list[Tensor]]:
    """Returns the gradients of each step, as long as they are before they are clipped."""
    found: list[list[Tensor]] = []

    def note(model: nn.Module) -> None:
        found.append([parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None])
        _clip(model)

    _train(*build_inputs(ask.inputs), clip=note)
    return found


def _norm(gradients: list[Tensor]) -> float:
    return math.sqrt(sum(float(gradient.square().sum()) for gradient in gradients))


def _is_short(ask: Question) -> bool:
    """Says whether nothing is clipped in any step."""
    return max(map(_norm, _gradients(ask))) < 0.95


def _is_long(ask: Question) -> bool:
    """Says whether all gradients are clipped, the first also by parameter, by group, and number by number."""
    first, *others = _gradients(ask)
    if any(_norm(gradients) < 1.5 for gradients in others):
        return False
    norms = sorted(map(_norm, ([one] for one in first)))
    each = [_norm(first[group :: ask.inputs[1].groups]) for group in range(ask.inputs[1].groups)]
    return norms[-2] > 1.2 and max(float(one.abs().max()) for one in first) > 1.2 and min(each) > 1.2


def _asked(rng: random.Random, batches: int, passes: int, warmup_steps: int, **options: Any) -> Question:
    tells = _is_long if options.get("spread") == LONG else _is_short
    ask: Question = _telling(rng, lambda rng: _any(rng, batches, passes, warmup_steps, **options), tells)
    return ask


def _any(
    rng: random.Random,
    batches: int,
    passes: int,
    warmup_steps: int,
    *,
    spread: float = SHORT,
    peak: float = 0.3,
    groups: int = 1,
    **options: Any,
) -> Question:
    model = _model(seed_from(rng), spread, **options)
    # It has a rate of its own, which the loop replaces; and who moves the weights without it forgets the rest.
    made = Optimizer("SGD", 5.0, groups=groups, momentum=0.5, weight_decay=0.05)
    widths = [WIDEST, *(rng.randint(5, 7) for _ in range(batches - 1))]
    texts = [_tokens(rng, rng.randint(4, 6), width, V) for width in rng.sample(widths, batches)]
    return Question((model, made, texts, passes, round(peak * rng.uniform(0.8, 1.2), 3), warmup_steps), changes=(0, 1))


def _one_step(rng: random.Random) -> list[Question]:
    """Asks also where the model is sure, and wrong: that tells losses apart which are alike where it knows nothing.

    The first model has no position for the last token; where all had none, whoever reads it would stop alike.
    """
    return [_asked(rng, 1, 1, 1, max_len=WIDEST - 1), _asked(rng, 1, 1, 1, spread=LONG)]


def _one_pass(rng: random.Random) -> list[Question]:
    """Asks about a model with as many positions as it is to read tokens, as in the notebook."""
    return [_asked(rng, 4, 1, 2, groups=2, max_len=WIDEST - 1)]


def _passes(rng: random.Random) -> list[Question]:
    """Asks for six steps: two batches in three passes, with a warm-up of four; no number stands for another."""
    return [_asked(rng, 2, 3, 4)]


def _long(rng: random.Random) -> list[Question]:
    """Asks about two passes and two groups: every gradient is clipped.

    Also of a model whose head is its embedding, and of one so sure that its losses are above 100.
    """
    found = _asked(rng, 2, 2, 1, spread=LONG, peak=0.5, groups=2)
    tied = _asked(rng, 2, 1, 1, spread=LONG, peak=0.5)
    model = replace(tied.inputs[0], tie=("head.weight", "base.embedding.weight"))
    return [found, replace(tied, inputs=(model, *tied.inputs[1:])), _any(rng, 1, 2, 1, spread=6.0)]


def _left(rng: random.Random) -> list[Question]:
    ask = _asked(rng, 2, 1, 1, groups=2)
    return [replace(ask, inputs=(replace(ask.inputs[0], gradients=0.3), *ask.inputs[1:]))]


def _dropping(rng: random.Random) -> list[Question]:
    """Asks with a dropout of everything: then chance plays no part in what is left. In one model only the base is still
    as who measured it has left it.
    """
    one, part = _any(rng, 1, 1, 1, dropout=1.0, spread=LONG), _asked(rng, 1, 3, 1, dropout=1.0)
    model = replace(part.inputs[0], training=True, in_evaluation=("base",))
    return [replace(part, inputs=(model, *part.inputs[1:])), one]  # the last one is asked in further circumstances


def _seen_after(ask: Question) -> Question:
    """Returns the question what the model gives after the training: of the last step the losses tell nothing."""
    return replace(ask, probe="after", follow_up=(torch.tensor([[1, 2, 3, 4]]),))


def _step(rng: random.Random) -> list[Question]:
    return [_seen_after(_asked(rng, 3, 1, 1))]


def _stage(name: str, points: float, feedback: str, draw: Draw, **options: Any) -> Stage:
    return Stage(name, points, feedback, fixed(draw, 5), draw, **options)


exercise.add(
    _stage(
        "one batch: its loss",
        0.5,
        "Read all but the last token of each row, for which the model may have no position, and ask for all but the "
        "first; note the loss as it is before the step.",
        _one_step,
    ),
    _stage(
        "three batches: the steps",
        0.5,
        "Set the rate, clear, backward, clip, step: each once; it is the optimizer that moves the weights. With three "
        "steps and a warm-up of 1, the rates are the peak, two thirds of it, and one third. A gradient shorter than 1 "
        "stays as it is.",
        _step,
    ),
    _stage(
        "the rate rises to its peak and falls again, step by step",
        1,
        "At step t of T (counted from 1) with a warm-up of W steps, the rate is peak * min(t / W, (T - t + 1) / "
        "(T - W + 1)). Set it before the step, in every group of the optimizer.",
        _one_pass,
        decisive=True,
    ),
    _stage(
        "several passes: the steps go on counting",
        0.25,
        "T is the number of all steps, passes * len(batches); in the second pass the count goes on.",
        _passes,
        decisive=True,
    ),
    _stage(
        "a long gradient is scaled down to length 1",
        0.25,
        "nn.utils.clip_grad_norm_(model.parameters(), 1.0), after backward and before the step. The length is the root "
        "of the sum of all squares, of all parameters of the model together.",
        _long,
    ),
    _stage(
        "gradients left by somebody else do not count",
        0.25,
        "optimizer.zero_grad() before every backward, the first one included. It clears every group.",
        _left,
    ),
    _stage(
        "the model is in training mode",
        0.25,
        "Whoever measured it before may have left it in evaluation mode: model.train() at the beginning.",
        _dropping,
    ),
)


@exercise.corners(
    "several passes: the steps go on counting",
    batches=(1, 2),
    passes=(1, range(10, 12)),
    warmup=("the first step", "all steps"),
)
def _(rng: random.Random, batches: int, passes: int, warmup: str) -> Question | None:
    """Asks for one step and for many, and for a warm-up as long as the training. Small rates keep rounding small.

    No gradient is to be clipped: that is another stage. Many steps are many passes over one batch: they take long.
    """
    if batches > 1 and passes > 1:
        return None
    steps = batches * passes
    return _asked(rng, batches, passes, 1 if warmup == "the first step" else steps, peak=0.1)
