"""Exercise load_weights of notebook 16."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question
from tutor.checking.building import build
from tutor.checking.plain import Model

from ._common import _values

exercise = Definition(minutes=25, difficulty=2, forbids=("helpers.weights.copy_into",))
Tensors = dict[str, Tensor]
Names = dict[str, str]


def _own(published: str, names: Names) -> str:
    for theirs, ours in names.items():
        published = published.replace(theirs, ours)
    return published


def _checked(model: nn.Module, tensors: Tensors, names: Names) -> Tensors:
    """Returns the tensors by our names.

    Raises:
        ValueError: as load_weights.
    """
    places, found = model.state_dict(), Tensors()
    for published, tensor in tensors.items():
        own = _own(published, names)
        if own not in places:
            raise ValueError(f"the model has no place for {published}")
        if own in found:
            raise ValueError(f"{published} becomes our {own}, and so does another tensor")
        if tensor.shape != places[own].shape:
            raise ValueError(f"{published} is {tuple(tensor.shape)}, our {own} {tuple(places[own].shape)}")
        found[own] = tensor
    if missing := sorted(set(places) - set(found)):
        raise ValueError(f"nothing is published for our {missing[0]}")
    return found


@exercise.reference
def load_weights(model: nn.Module, tensors: Tensors, names: Names) -> nn.Module:
    model.load_state_dict(_checked(model, tensors, names))
    return model


# What may be published of a TransformerBase, in six manners. In the first three the order of the replacements counts;
# in the fourth a part stands in a name several times; in the last ones, where none does, a replacement makes what the
# later one replaces, which is longer than it, or shorter: there, what is called a query is our key, and the other way
# round.
MANNERS: tuple[Names, ...] = (
    {"model.embed": "embedding", "model.wpe": "position", "model.final": "norm", "model.": ""}
    | {"self_attn.q": "attention.query", "self_attn.k": "attention.key", "self_attn.v": "attention.value"}
    | {"self_attn.o": "attention.output", "in_norm": "attention_norm", "out_norm": "feed_forward_norm"}
    | {"mlp.up": "feed_forward.hidden", "mlp.down": "feed_forward.output"},
    {"token_embd": "embedding", "position_embd": "position", "output_norm": "norm", "blk.": "layers."}
    | {"attn_q.": "attention.query.", "attn_k.": "attention.key.", "attn_v.": "attention.value."}
    | {"attn_output.": "attention.output.", "attn_norm.": "attention_norm.", "ffn_norm.": "feed_forward_norm."}
    | {"ffn_up": "feed_forward.hidden", "ffn_down": "feed_forward.output"},
    {".w": ".weight", ".b": ".bias", "wte": "embedding", "wpe": "position", "ln_f": "norm", "h.": "layers."}
    | {"ln_1": "attention_norm", "ln_2": "feed_forward_norm", "at.q": "attention.query", "at.k": "attention.key"}
    | {"at.v": "attention.value", "at.o": "attention.output", "ff.i": "feed_forward.hidden"}
    | {"ff.o": "feed_forward.output"},
    {"/": ".", "encoder.layer_": "layers.", "table": "embedding", "places": "position", "ln": "norm"}
    | {"first": "attention", "second": "feed_forward"},
    {"stem": "block", "block": "layers", "wte": "embedding", "wpe": "position"},
    {"query": "#", "key": "query", "#": "key", "wte": "embedding", "wpe": "position"},
)


def _published(own: str, names: Names) -> str:
    """Returns the name that becomes ours.

    Raises:
        ValueError: there is none, which is a fault of the table.
    """
    name = own
    for theirs, ours in reversed(names.items()):
        if not ours:
            name = f"{theirs}{name}" if name.startswith("layers.") else name
            continue
        whole = r"(?<!\w)" if ours[0].isalpha() else ""  # "norm" is no part of "attention_norm"
        name = re.sub(whole + re.escape(ours), theirs, name)
    if _own(name, names) != own:
        raise ValueError(f"{own} cannot be published by {names}: {name} gives {_own(name, names)}")
    return name


def _model(seed: int, **options: Any) -> Model:
    shape = {"vocab_size": 5, "d_model": 2, "n_layers": 1, "n_heads": 1, "d_feedforward": 3, "max_len": 4}
    return Model(
        "TransformerBase", shape | {"positions": "learned", "norm_first": True, "dropout": 0.0} | options, seed
    )


def _tensors(model: Model, names: Names, seed: int) -> Tensors:
    """Returns drawn numbers of a model under their published names, in another order than the model's."""
    shapes = {name: tensor.shape for name, tensor in build(model).state_dict().items()}
    mixed = random.Random(seed).sample(sorted(shapes), len(shapes))
    return {_published(name, names): _values(*shapes[name], seed=seed + n) for n, name in enumerate(mixed)}


def _asked(seed: int, manner: int, **options: Any) -> Question:
    model = _model(seed, **options)
    tensors = _tensors(model, MANNERS[manner], seed)
    return Question((model, tensors, dict(MANNERS[manner])), changes=(0,), probe="after")


def _right(rng: random.Random) -> list[Question]:
    """Returns a question for each manner, two of them with a second layer, and one in double precision."""
    width = rng.choice([2, 4])
    layers = (1, 2, 1, 1, 2, 1)
    return [
        _asked(seed_from(rng), manner, d_model=width if manner else 2, n_layers=number)
        for manner, number in enumerate(layers)
    ] + [_in_double(rng)]


def _in_double(rng: random.Random) -> Question:
    """Returns a question on numbers that single precision has not: one is infinite there."""
    ask = _asked(seed_from(rng), 3)
    model, tensors, names = ask.inputs
    doubles = {name: tensor.double() for name, tensor in tensors.items()}
    next(iter(doubles.values())).view(-1)[0] = 1e39
    return replace(ask, inputs=(replace(model, dtype="float64"), doubles, names))


@exercise.stage("every tensor arrives under its own name", points=1, seed=1, decisive=True)
def _(rng: random.Random) -> list[Question]:
    """Replace the parts of each published name, one after the other in the order of `names`, and each wherever it
    stands, also in what the replacements before it have made, and in a name that is one of ours already. What
    comes out is the name in model.state_dict(), whatever the order of the tensors. Several have the same shape: names
    count.
    """
    return _right(rng)


def _runs(rng: random.Random) -> list[Question]:
    tokens = (torch.tensor([[rng.randrange(5) for _ in range(3)]]),)
    first, other = _asked(seed_from(rng), 0), _asked(seed_from(rng), 2, d_model=4)
    model, tensors, names = first.inputs
    frozen = replace(model, freeze=(rng.choice(["embedding", "norm"]), "layers.0.attention"))
    learning = replace(first, inputs=(frozen, tensors, names), probe="parameters")
    return [replace(other, probe="result", follow_up=tokens), learning]


@exercise.stage("the model that comes back runs with them, and as much of it trains as before", points=0.25, seed=2)
def _(rng: random.Random) -> list[Question]:
    """Return the model itself, and let train of it what trained before: numbers are copied into its parameters."""
    return _runs(rng)


def _in_half(rng: random.Random) -> list[Question]:
    """Returns a question of width 4: of two numbers a norm makes 1 and -1, which a model of float16 does, too."""
    model, tensors, names = _asked(seed_from(rng), 1, d_model=4).inputs
    halves = {name: tensor.half() for name, tensor in tensors.items()}
    return [Question((model, halves, names), changes=(0,), probe="result", follow_up=(torch.tensor([[1, 3]]),))]


@exercise.stage("published in half precision, the model keeps its type", points=0.25, seed=3)
def _(rng: random.Random) -> list[Question]:
    """Numbers of float16 go into a model of float32: copy them into its tensors, as load_state_dict does, and do not
    put the published tensors in their place.
    """
    return _in_half(rng)


def _wrong(ask: Question, named: list[Any], **changed: Tensor | None) -> Question:
    """Returns the question with other tensors (None: taken away), and what the message shall name.

    They come last, so that whoever copies while looking has copied all others.
    """
    model, tensors, names = ask.inputs
    rest = {name: tensor for name, tensor in tensors.items() if name not in changed}
    given = rest | {name: tensor for name, tensor in changed.items() if tensor is not None}
    return Question((model, given, names), changes=(0, 1), extra={"named": named})


def _any(rng: random.Random, manner: int | None = None, layers: int = 1) -> Question:
    return _asked(seed_from(rng), rng.randrange(3) if manner is None else manner, n_layers=layers)


def _left(rng: random.Random) -> list[Question]:
    """Returns a tensor more of a name of its own, of one more layer, and one of our name beside the published one.

    The numbers of the last one are those of the published one: it is the name that is taken.
    """
    first, second = _any(rng), _any(rng, 0)
    more = {rng.choice(["lm_head.weight", "rotary.inv_freq"]): _values(2, seed=seed_from(rng))}
    layer = {"model.layers.7.self_attn.q.weight": _values(2, 2, seed=seed_from(rng))}
    third, own = _any(rng, 0), rng.choice(["embedding.weight", "norm.bias"])
    twice = {own: third.inputs[1][_published(own, third.inputs[2])].clone()}
    return [_wrong(first, [*more], **more), _wrong(second, [*layer], **layer), _wrong(third, [], **twice)]


@exercise.stage(
    "a tensor without a place: a ValueError that names it",
    points=0.5,
    seed=4,
    raises="ValueError",
    measure="says why",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Where a replaced name is not in model.state_dict(), or another tensor has become the same one already, raise
    ValueError with the published name: something of the model that was published would be missing in yours.
    """
    return _left(rng)


def _lacking(rng: random.Random) -> list[Question]:
    asks = []
    for ask in (_any(rng), _any(rng, layers=2)):
        model, _, names = ask.inputs
        own = rng.choice(sorted(build(model).state_dict()))
        asks.append(_wrong(ask, [own], **{_published(own, names): None}))
    return asks


@exercise.stage(
    "a tensor that gets nothing: a ValueError that names it",
    points=0.5,
    seed=5,
    raises="ValueError",
    measure="says why",
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Every name of model.state_dict() must have been given a tensor; else a part of the model stays random. The
    message has the model's name for it.
    """
    return _lacking(rng)


def _shaped(rng: random.Random) -> list[Question]:
    """Returns tables of another size, turned over, and of a width that broadcasting would fit."""
    asks = []
    for shape in ((6, 2), (2, 5), (5, 1), (1, 2)):
        ask = _any(rng)
        name = _published("embedding.weight", ask.inputs[2])
        asks.append(_wrong(ask, [shape, (5, 2)], **{name: _values(*shape, seed=seed_from(rng))}))
    return asks


@exercise.stage(
    "another shape: a ValueError that names both", points=0.5, seed=6, raises="ValueError", measure="says why"
)
def _(rng: random.Random) -> list[Question]:
    """Compare the shapes before you copy: copy_ would stretch a width of 1 over the axis. The message has both, such
    as (5, 2) and (2, 5).
    """
    return _shaped(rng)


def _kept(rng: random.Random) -> list[Question]:
    """Returns a question for each reason to stop, and for shapes that `copy_` refuses, and that it takes."""
    asks = _left(rng)[::2] + _lacking(rng)[:1] + _shaped(rng)[::2]
    return [replace(ask, changes=(1,), extra={}) for ask in asks]


@exercise.stage(
    "after a ValueError the model is as it was", points=0.5, seed=7, raises="ValueError", measure="inputs kept"
)
def _(rng: random.Random) -> list[Question]:
    """Whatever is copied before the error stays. Look at all names and all shapes first, then load."""
    return _kept(rng)


def _one(rng: random.Random) -> Question:
    return _asked(seed_from(rng), 0)


@exercise.stage("the published tensors stay as they are", points=0.25, seed=8, measure="inputs kept")
def _(rng: random.Random) -> list[Question]:
    """Others may load them too: take no entry out of the dict, and rename none in it."""
    return [_one(rng)]


@exercise.stage("the model has memory of its own", points=0.25, seed=9)
def _(rng: random.Random) -> list[Question]:
    """Training the model must not change the published tensors: copy the numbers, as load_state_dict does (without
    assign=True).
    """
    return [replace(_one(rng), probe="shared")]


@exercise.corners(
    "every tensor arrives under its own name",
    layers=(1, range(11, 13)),
    names=("published", "our own"),
    size=(1e-3, 1e4),
)
def _(rng: random.Random, layers: int, names: str, size: float) -> Question | None:
    """Asks about numbers of layers with two digits, names that are ours already, and tokens of one number."""
    if layers > 1 and (names, size) != ("published", 1e4):
        return None
    table = rng.choice(MANNERS) if names == "published" else {}
    model = _model(seed_from(rng), d_model=1, d_feedforward=1, n_layers=layers)
    tensors = {name: tensor * size for name, tensor in _tensors(model, table, seed_from(rng)).items()}
    return Question((model, tensors, dict(table)), changes=(0,), probe="after")


@exercise.corners("a tensor that gets nothing: a ValueError that names it", layers=(1, 11), lacking=("first", "last"))
def _(rng: random.Random, layers: int, lacking: str) -> Question | None:
    """Asks without the first tensor, and without one of the last layer."""
    if layers > 1 and lacking == "first":
        return None
    ask = _asked(seed_from(rng), rng.randrange(3), n_layers=layers, d_model=1, d_feedforward=1)
    own = list(build(ask.inputs[0]).state_dict())[0 if lacking == "first" else -3]
    return _wrong(ask, [own], **{_published(own, ask.inputs[2]): None})


# --- mistakes ---------------------------------------------------------------------------------------------------------


def _by(own: Callable[[str], str], model: nn.Module, tensors: Tensors) -> nn.Module:
    """Loads tensors by our names, which `own` makes of theirs."""
    named = Tensors()
    for published, tensor in tensors.items():
        if own(published) in named:
            raise ValueError(f"{published} and another tensor become our {own(published)}")
        named[own(published)] = tensor
    return load_weights(model, named, {})


@exercise.mistake("all parts are replaced at once")
def _(model: nn.Module, tensors: Tensors, names: Names) -> nn.Module:
    """One pattern goes over a name once, and never over what it has put there. Replace part after part: a later one may
    stand in what an earlier one has made.
    """

    def own(published: str) -> str:
        pattern = "|".join(map(re.escape, names))
        return re.sub(pattern, lambda found: names[found[0]], published) if names else published

    return _by(own, model, tensors)
