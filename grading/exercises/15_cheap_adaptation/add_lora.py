"""Exercise add_lora of notebook 15."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from grading.definitions.exercise import Exercise, Mistake, Stage
from helpers.models import Classifier
from tutor.checking.answers import Ask
from tutor.checking.plain import Model

from ._common import THEN, LoRALinear, _classifier, _few, _numbers

Names = tuple[str, ...]


def add_lora(model: Classifier, names: Names, rank: int) -> Classifier:
    model.base.requires_grad_(False)
    model.head.requires_grad_(True)
    return _replaced(model, lambda module, name: name in names, rank)


def _replaced(
    model: Classifier,
    chosen: Callable[[nn.Module, str], bool],
    rank: int,
    take_over: Callable[[Any, nn.Linear], None] | None = None,
) -> Classifier:
    """Returns the model with a LoRALinear in the place of each linear layer of its base that is chosen."""
    for module in list(model.base.modules()):
        for name, part in list(module.named_children()):
            if isinstance(part, nn.Linear) and chosen(module, name):
                layer = LoRALinear(part.in_features, part.out_features, rank)
                (take_over or _weights_taken_over)(layer, part)
                setattr(module, name, layer)
    return model


def _weights_taken_over(layer: Any, part: nn.Linear) -> None:
    layer.weight, layer.bias = part.weight, part.bias


def _ask(model: Model, names: Names, rank: int, **settings: Any) -> Ask:
    return Ask((model, names, rank), changes=(0,), **settings)


KINDS: tuple[tuple[Names, int], ...] = ((("query", "value"), 2), (("hidden", "output"), 1), (("key",), 3))
MAKES: tuple[dict[str, Any], ...] = (
    {},
    {"norm_first": False, "positions": "alibi"},
    {"positions": "learned", "n_heads": 4, "d_feedforward": 12},
)


def _learning(seed: int) -> list[Ask]:
    """Returns questions about what learns: three kinds of names, in models of three makes."""
    return [
        _ask(_classifier(seed, 2, **make), names, rank, then=THEN, take="learns")
        for (names, rank), make in zip(KINDS, MAKES, strict=True)
    ]


def _count(rank: int) -> Ask:
    wide = _classifier(1, 2, n_layers=1, d_feedforward=10)
    return _ask(wide, ("value", "hidden", "output"), rank, take="parameters")


def _same(seed: int) -> list[Ask]:
    return [
        _ask(_classifier(seed, 2, **make), names, rank, then=THEN)
        for (names, rank), make in zip(KINDS[:2], MAKES[1:], strict=True)
    ]


def _scale(seed: int, rank: int) -> Ask:
    """Returns a question about the scale of a new layer, which gets factors that are not zero and nothing beside."""
    place = "base.layers.1.attention.query"
    silent = {f"{place}.weight": torch.zeros(4, 4), f"{place}.bias": torch.zeros(4)}
    factors = {f"{place}.down": _numbers(rank, 4, seed=seed), f"{place}.up": _numbers(4, rank, seed=seed + 1)}
    x = _numbers(1, 2, 4, seed=seed + 2)
    return _ask(_classifier(10), ("query", "value"), rank, weights=silent | factors, then=(x,), part=place)


def _modes(seed: int) -> list[Ask]:
    """Returns questions about a model that comes in training mode, and about one that does not."""
    model = _classifier(seed, dropout=0.5)
    return [_ask(replace(model, training=way), ("query", "value"), 2, take="mode") for way in (True, False)]


def _frozen(seed: int, *parts: str) -> Ask:
    """Returns a question about a model of which parts come frozen."""
    return _ask(replace(_classifier(seed, 3), freeze=parts), ("query", "value"), 2, take="parameters")


def _nothing_replaced(seed: int) -> Ask:
    """Returns a question with a name that no layer has: then the head alone learns."""
    return _ask(_classifier(seed, 3), ("gate",), 2, take="parameters")


def _half_frozen(seed: int) -> Ask:
    return _frozen(seed, "base.layers.0", "base.embedding")


def _base_trains(model: Any, names: Names, rank: int) -> Any:
    return _replaced(model, lambda module, name: name in names, rank, _copied)


@torch.no_grad()
def _copied(layer: Any, part: nn.Linear) -> None:
    layer.weight.copy_(part.weight)
    layer.bias.copy_(part.bias)


def _norms_train(model: Any, names: Names, rank: int) -> Any:
    model = add_lora(model, names, rank)
    for module in model.base.modules():
        if isinstance(module, nn.LayerNorm):
            module.requires_grad_(True)
    return model


def _embedding_trains(model: Any, names: Names, rank: int) -> Any:
    model = add_lora(model, names, rank)
    model.base.embedding.requires_grad_(True)
    return model


def _head_frozen(model: Any, names: Names, rank: int) -> Any:
    model = add_lora(model, names, rank)
    model.head.requires_grad_(False)
    return model


def _head_as_it_came(model: Any, names: Names, rank: int) -> Any:
    model.base.requires_grad_(False)
    return _replaced(model, lambda module, name: name in names, rank)


def _factors_frozen(model: Any, names: Names, rank: int) -> Any:
    model = add_lora(model, names, rank)
    model.base.requires_grad_(False)
    return model


def _beside(model: Any, names: Names, rank: int) -> Any:
    model.base.requires_grad_(False)
    return model


def _new_weights(model: Any, names: Names, rank: int) -> Any:
    model.base.requires_grad_(False)
    return _replaced(model, lambda module, name: name in names, rank, lambda layer, part: None)


def _bias_lost(layer: Any, part: nn.Linear) -> None:
    layer.weight = part.weight


def _new_biases(model: Any, names: Names, rank: int) -> Any:
    model.base.requires_grad_(False)
    return _replaced(model, lambda module, name: name in names, rank, _bias_lost)


def _everywhere(model: Any, names: Names, rank: int) -> Any:
    model.base.requires_grad_(False)
    return _replaced(model, lambda module, name: True, rank)


def _always_query_and_value(model: Any, names: Names, rank: int) -> Any:
    return add_lora(model, ("query", "value"), rank)


def _only_attention(model: Any, names: Names, rank: int) -> Any:
    model.base.requires_grad_(False)
    return _replaced(model, lambda module, name: hasattr(module, "query") and name in names, rank)


def _first_layer(model: Any, names: Names, rank: int) -> Any:
    model.base.requires_grad_(False)
    first = set(model.base.layers[0].modules())
    return _replaced(model, lambda module, name: module in first and name in names, rank)


def _always_rank(rank: int) -> Callable[..., Any]:
    return lambda model, names, other: add_lora(model, names, rank)


def _eval_left(model: Any, names: Names, rank: int) -> Any:
    return add_lora(model, names, rank).eval()


def _new_head(model: Any, names: Names, rank: int) -> Any:
    model = add_lora(model, names, rank)
    model.head = nn.Linear(model.head.in_features, model.head.out_features)
    return model


EXERCISE = Exercise(
    add_lora,
    [
        Stage(
            "the head, down and up of the named layers learn, and nothing else",
            1.5,
            "The head, and every linear layer of the base whose last name is among `names`, in every layer and "
            "at any depth; all of the old base is frozen, its norms and its embedding too.",
            [*_learning(2), _half_frozen(3)],
            lambda rng: [*_learning(_few(rng)), _half_frozen(_few(rng))],
            decisive=True,
        ),
        Stage(
            "rank and alpha: rank times (d_in + d_out) numbers for each of them, scaled by 8 / rank",
            0.5,
            "A layer from d_in to d_out has rank * (d_in + d_out) new numbers. Hand `rank` on, and take d_in and d_out "
            "from the old layer: those of the feed-forward part may differ. Leave alpha at its default.",
            [_count(8), _scale(1, 2)],
            lambda rng: [_count(rng.choice([3, 5, 6, 7])), _scale(rng.randrange(10**6), rng.choice([1, 3, 4]))],
        ),
        Stage(
            "the model answers as before",
            1,
            "The new layers take over weight and bias of those whose place they take; their up is zero. So the model "
            "gives the same logits as before.",
            _same(5),
            lambda rng: _same(_few(rng)),
            decisive=True,
        ),
        Stage(
            "no old weight is lost or renamed",
            0.5,
            "Each old weight keeps its name and its numbers, and is 'as in input 1'; new are down and up alone.",
            [_ask(_classifier(8, 3), ("query", "value"), 2, take="origins")],
            lambda rng: [_ask(_classifier(_few(rng), 3, **MAKES[2]), ("hidden", "output"), 2, take="origins")],
        ),
        Stage(
            "the head learns, even if it came frozen",
            0.25,
            "Set the flags of the head to True as well: the model may come in any state.",
            [_frozen(6, "head"), _frozen(6, "head.bias"), _nothing_replaced(6)],
            lambda rng: [_frozen(_few(rng), "head"), _frozen(_few(rng), "head.bias"), _nothing_replaced(_few(rng))],
            view="parameters",
        ),
        Stage(
            "the mode stays",
            0.25,
            "A model that comes in training mode, with its dropout, stays in it, and one in evaluation mode in that: "
            "do not call eval() or train().",
            _modes(9),
            lambda rng: _modes(_few(rng)),
        ),
    ],
    [
        Mistake(
            "the head is frozen",
            "The head is new and must learn: freeze model.base, and not the model.",
            _head_frozen,
        ),
        Mistake(
            "a head that came frozen stays frozen",
            "The head learns afterwards, whatever it did before: set its flags to True.",
            _head_as_it_came,
        ),
        Mistake(
            "the base comes back without its head",
            "Return the whole model: model, and not model.base.",
            lambda model, names, rank: add_lora(model, names, rank).base,
        ),
        Mistake(
            "the base is not frozen",
            "The layers that were not replaced still train: norms, embedding and all the other matrices. Freeze the "
            "base first.",
            _base_trains,
        ),
        Mistake(
            "the norms still learn",
            "Layer norms are part of the base: freeze all of it.",
            _norms_train,
        ),
        Mistake(
            "the embedding still learns",
            "The embedding is part of the base, and the largest one here: freeze all of it.",
            _embedding_trains,
        ),
        Mistake(
            "the new layers have no place in the model",
            "They are made, and nobody calls them: setattr puts a module into the place of another one.",
            _beside,
        ),
        Mistake(
            "down and up are frozen too",
            "The base is frozen after the new layers have come: then their factors are frozen with it. Freeze first, "
            "replace afterwards.",
            _factors_frozen,
        ),
        Mistake(
            "the new layers begin with random weights",
            "A LoRALinear is made with a weight and a bias of its own. Give it those of the layer whose place it "
            "takes: what was learned in pretraining is lost otherwise.",
            _new_weights,
        ),
        Mistake(
            "the new layers begin with random biases",
            "The bias belongs to the layer too: take it over as well as the weight.",
            _new_biases,
        ),
        Mistake(
            "every linear layer is replaced",
            "Only those whose name is among `names`.",
            _everywhere,
        ),
        Mistake(
            "always query and value",
            "Which layers are replaced, `names` says.",
            _always_query_and_value,
        ),
        Mistake(
            "the feed-forward parts are left out",
            "Names such as hidden and output are found in the feed-forward part too: go through all modules of the "
            "base.",
            _only_attention,
        ),
        Mistake(
            "only the first layer of the base",
            "The same names are found in each layer: go through all of them.",
            _first_layer,
        ),
        Mistake(
            "always rank 4",
            "Hand `rank` on to LoRALinear.",
            _always_rank(4),
        ),
        Mistake(
            "the model is left in evaluation mode",
            "eval() freezes nothing: it turns dropout off. Whoever trains the model now trains without dropout.",
            _eval_left,
        ),
        Mistake(
            "the head is a new one",
            "Adding factors changes no old number: the head may have been trained already.",
            _new_head,
        ),
    ],
    hints=(
        "Three things happen, and their order matters: freeze, find, replace. If you freeze the base *last*, what else "
        "is frozen? Which names does `print(model)` show for the linear layers of one layer, and how deep do they lie? "
        "And which numbers must a new layer take over, so that the model answers as before?",
        "In `nn.Sequential(OrderedDict(a=nn.Linear(2, 3), b=nn.ReLU()))`, `named_children()` gives the pairs `a`, "
        'linear layer and `b`, ReLU; `setattr(parent, "a", other)` puts another module in the place of the first. '
        "`model.base.modules()` gives every module at any depth, so each can be asked for its children. Make a list of "
        "them *before* anything is replaced.\n\nA parameter can move: after `new.weight = old.weight`, both layers "
        "hold the same parameter, flag and all.",
        "```python\n"
        "...  # freeze the base; and see that the head learns, even if it came frozen\n"
        "for parent in list(model.base.modules()):\n"
        "    for name, part in list(parent.named_children()):\n"
        "        if ...:  # a linear layer, and a name that is wanted\n"
        "            layer = LoRALinear(...)  # part.in_features, part.out_features\n"
        "            ...  # weight and bias of `part`\n"
        "            setattr(...)  # in the place of `part`\n"
        "return model\n"
        "```\n"
        "Test it: `print([name for name, p in model.named_parameters() if p.requires_grad])` shows head, `down` and "
        "`up` only, and logits before and after are equal.",
    ),
)
