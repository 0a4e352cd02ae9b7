"""Exercise Encoder of notebook 03."""

from __future__ import annotations

import random
from typing import Any

from torch import Tensor, nn

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw
from helpers.checking.answers import Ask

from ._common import EncoderLayer, _bias, _causal, _numbers, _padding, _parameter_stage, _weights, _with


class Encoder(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, n_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        for layer in self.layers:
            x = layer(x, mask)
        return x


class _OneLayerManyTimes(Encoder):
    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, n_layers: int) -> None:
        super().__init__(d_model, n_heads, d_feedforward, 0)
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward)] * n_layers)


class _PlainList(Encoder):
    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, n_layers: int) -> None:
        nn.Module.__init__(self)
        self.layers = [EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers)]  # type: ignore[assignment]


def _mask_in_first_layer(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    for number, layer in enumerate(self.layers):
        x = layer(x, mask if number == 0 else None)
    return x


def _mask_in_last_layer(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    for number, layer in enumerate(self.layers):
        x = layer(x, mask if number == len(self.layers) - 1 else None)
    return x


def _no_mask_in_stack(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    return Encoder.forward(self, x)


def _only_last_counts(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    return self.layers[-1](x, mask)  # type: ignore[no-any-return]


def _only_first_layer(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    return self.layers[0](x, mask)  # type: ignore[no-any-return]


def _results_added(self: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    for layer in self.layers:
        x = x + layer(x, mask)
    return x


def _stack(seed: int, b: int, n: int, build: dict[str, Any], mask: Tensor | None = None) -> Ask:
    weights = _weights(Encoder, build, seed)
    return Ask((_numbers(b, n, build["d_model"], seed=seed), mask), build=build, weights=weights)


def _stack_build(n_layers: int, d: int = 4, h: int = 2, f: int = 3) -> dict[str, Any]:
    return {"d_model": d, "n_heads": h, "d_feedforward": f, "n_layers": n_layers}


def _draw_stack(*layers: int) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        b, n = rng.sample([2, 3, 4, 5, 6], 2)
        sizes = [(b, n), (1, n)]
        builds = [_stack_build(many, *rng.choice([(6, 3, 5), (6, 2, 7)])) for many in layers]
        return [_stack(rng.randrange(10**6), *size, build) for size, build in zip(sizes, builds, strict=True)]

    return draw


def _draw_masked(rng: random.Random) -> list[Ask]:
    b, n = rng.sample([3, 4, 5, 6], 2)
    masks = [(rng.randint(2, 3), _causal(n)), (4, _causal(n)), (2, _padding(b, n, rng)), (2, _bias(n, n))]
    return [_stack(rng.randrange(10**6), b, n, _stack_build(layers, 6, 3, 5), mask) for layers, mask in masks]


EXERCISE = Exercise(
    Encoder,
    [
        _parameter_stage(
            0.25,
            "One `layers = nn.ModuleList(...)` with n_layers different layers: layers.0, layers.1 and so on.",
            _stack_build(3),
            draw=lambda rng: _stack_build(rng.randint(3, 5), 6, 3, 5),
        ),
        Stage(
            "one layer",
            0.25,
            "With one layer the encoder gives what that layer gives.",
            [_stack(1, 1, 3, _stack_build(1))],
            _draw_stack(1, 1),
        ),
        Stage(
            "several layers",
            0.75,
            "The output of a layer is the input of the next one: x = layer(x, mask).",
            [_stack(2, 1, 3, _stack_build(2)), _stack(4, 1, 2, _stack_build(7, 2, 1, 2))],
            lambda rng: _draw_stack(rng.randint(2, 4), rng.randint(5, 7))(rng),
            decisive=True,
        ),
        Stage(
            "the mask, in every layer",
            0.75,
            "Every layer looks at all tokens anew, so every layer needs the mask.",
            [
                _stack(3, 1, 3, _stack_build(3), _causal(3)),
                _stack(5, 2, 3, _stack_build(2), _padding(2, 3, random.Random(1))),
                _stack(6, 1, 3, _stack_build(2), _bias(3, 3)),
            ],
            _draw_masked,
            decisive=True,
        ),
    ],
    [
        Mistake(
            "the mask is dropped from the second layer on",
            "What the first layer hides, the second one shows: a token that may not be seen leaks in there. Give the "
            "mask to every layer.",
            _with(Encoder, forward=_mask_in_first_layer),
        ),
        Mistake(
            "only the last layer gets the mask",
            "By then the layers below have already let everything through. Give the mask to every layer.",
            _with(Encoder, forward=_mask_in_last_layer),
        ),
        Mistake(
            "no layer gets the mask",
            "The encoder takes a mask and must hand it on to each of its layers.",
            _with(Encoder, forward=_no_mask_in_stack),
        ),
        Mistake(
            "one layer is used again and again",
            "`[layer] * n` holds the SAME layer n times, with one set of weights. Make a new layer for each place.",
            _OneLayerManyTimes,
        ),
        Mistake(
            "the layers are in a plain list",
            "torch does not look into a Python list: these weights would not train, move to a GPU or be saved. Use "
            "nn.ModuleList.",
            _PlainList,
        ),
        Mistake(
            "every layer reads the input anew",
            "Only the last layer has an effect here. Each layer must read what the one before it has made.",
            _with(Encoder, forward=_only_last_counts),
        ),
        Mistake(
            "it stops after the first layer",
            "Is there a `return` inside the loop? All layers must run before the result is returned.",
            _with(Encoder, forward=_only_first_layer),
        ),
        Mistake(
            "the layers' results are added to x again",
            "Each layer already has its residuals inside: x = layer(x, mask), without x +.",
            _with(Encoder, forward=_results_added),
        ),
    ],
    hints=(
        (
            "With three layers, what goes into layer 0, into layer 1, into layer 2, and what is returned? What does "
            'each layer get beside the tokens, if you believe the experiment with the causal mask "in the first '
            'layer only"? And how many sets of weights are there?'
        ),
        (
            "Let a layer double its number. Three layers, one on top of the other, make of 5 first 10, then 20, then "
            "40: one variable that is written anew in each round of a loop. (If every layer read the 5, the result "
            "would be 10.) The mask is no such variable: it is the same in each round.\n\n"
            "For the weights: `[layer] * 3` is a list with *one* layer in it, three times the same object. "
            "`[EncoderLayer(...) for _ in range(3)]` calls the constructor three times, so there are three sets of "
            "weights. `nn.ModuleList` takes such a list and lets torch find them."
        ),
        (
            "`__init__`: one line, `self.layers = nn.ModuleList(...)`, with `n_layers` fresh layers inside, each "
            "`EncoderLayer(d_model, n_heads, d_feedforward)`; post-norm is its default. (Or `SpareEncoderLayer`.)\n\n"
            "`forward`; all is `(b, n, d)`:\n"
            "```python\n"
            "for layer in self.layers:\n"
            "    ...  # the tokens become what this layer makes of them, under the mask\n"
            "return x\n"
            "```\n"
            "Two things to look at: the `return` stands *after* the loop, not in it. And nothing is added in the "
            "loop: the residuals are inside of each layer. With one layer, `Encoder` and that layer give the same."
        ),
    ),
)
