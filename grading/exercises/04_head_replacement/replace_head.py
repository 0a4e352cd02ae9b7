"""Exercise replace_head of notebook 04."""

from __future__ import annotations

import copy
import random
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import Draw, both, seed_from
from helpers.data import PAD, SOS
from helpers.models import Classifier, LanguageModel, TransformerBase
from tutor.checking.answers import Ask
from tutor.checking.building import build
from tutor.checking.plain import Model

from ._common import OTHER_OPTIONS, THEN, _classifier_with_head, _language_model


def replace_head(model: LanguageModel, n_classes: int) -> Classifier:
    return Classifier(copy.deepcopy(model.base), n_classes)


def _swap_asks(**settings: Any) -> Draw:
    def draw(rng: random.Random) -> list[Ask]:
        first = Ask((_language_model(seed_from(rng)), rng.choice([3, 4, 5])), **settings)
        second = Ask((_language_model(seed_from(rng), n_layers=2, d_model=12), rng.choice([2, 6])), **settings)
        return [first, second]

    return draw


def _in_training(seed: int) -> Model:
    return replace(_language_model(seed), training=True)


def _asked_for_rows(seed: int, n_classes: int) -> Ask:
    """Returns a question that carries what the old head says of the last real tokens, `(b, V)`."""
    model = _language_model(seed)
    tokens, lengths = THEN
    with torch.no_grad():
        old = build(model)(tokens, lengths)[torch.arange(len(tokens)), lengths - 1]
    return Ask((model, n_classes), then=THEN, beside={"old": old})


def _new_base(model: Any, n_classes: int) -> nn.Module:
    old = model.base
    fresh = TransformerBase(old.embedding.num_embeddings, old.d_model, len(old.layers), old.n_heads)
    return Classifier(fresh, n_classes)


def _head_exchanged_in_place(model: Any, n_classes: int) -> nn.Module:
    model.head = nn.Linear(model.base.d_model, n_classes)
    return model  # type: ignore[no-any-return]


class _LastRow(Classifier):
    def forward(self, tokens: Tensor, padding: Tensor | None = None) -> Tensor:
        logits: Tensor = self.head(self.base(tokens, padding)[:, -1])
        return logits


def _frozen_classifier(model: Any, n_classes: int) -> nn.Module:
    changed = replace_head(model, n_classes)
    changed.base.requires_grad_(False)
    return changed


def _old_model_emptied(model: Any, n_classes: int) -> nn.Module:
    changed = replace_head(model, n_classes)
    del model.head
    return changed


ALIKE = (
    torch.tensor([[SOS, 4, 6, PAD, PAD, PAD], [SOS, 4, 6, 5, 3, 5]]),
    torch.tensor([3, 3]),
)  # the same up to place 2

EXERCISE = Exercise(
    replace_head,
    [
        Stage(
            "a classifier: one row of n_classes numbers for each text",
            0.25,
            "Called on tokens (b, n) and lengths (b,), the new model must give (b, n_classes): Classifier of "
            "helpers.models does so.",
            [Ask((_language_model(1), 3), then=THEN)],
            _swap_asks(then=THEN),
            view="shape",
        ),
        Stage(
            "all of it can learn, the new head included",
            0.5,
            "The head has n_classes * D + n_classes numbers, and nothing is frozen yet.",
            [Ask((_language_model(1), 3), then=THEN, take="learns")],
            _swap_asks(then=THEN, take="learns"),
        ),
        Stage(
            "the base has the weights of the language model",
            1,
            "Every weight under base. must be 'as in input 1', the language model; the head is new, also "
            "where the old one has as many outputs.",
            [Ask((_language_model(seed), n), take="origins") for seed, n in ((1, 4), (2, 4), (3, 7))],
            both(_swap_asks(take="origins"), lambda rng: [Ask((_language_model(seed_from(rng)), 7), take="origins")]),
            decisive=True,
        ),
        Stage(
            "the head is a new one, and no part of the old one",
            0.25,
            "The rows of the old head score words. A new Linear begins with numbers of its own: Classifier makes one.",
            [_asked_for_rows(5, 3)],
            lambda rng: [_asked_for_rows(seed_from(rng), rng.randint(2, 5))],
            measure="new head",
        ),
        Stage(
            "the base gives the same hidden states",
            0.5,
            "The same weights in a base of another make (heads, positions, mask) compute something else. Take a copy "
            "of the base, and do not build one anew.",
            [Ask((_language_model(3, **options), 3), then=THEN, part="base") for options in OTHER_OPTIONS],
            lambda rng: [
                Ask((_language_model(seed_from(rng), **options), rng.choice([2, 3, 6])), then=THEN, part="base")
                for options in rng.sample(OTHER_OPTIONS, 2)
            ],
            decisive=True,
        ),
        Stage(
            "what comes after the last real token makes no difference",
            0.5,
            "The head must read the last real token of each text, found by its length: Classifier does it.",
            [Ask((_language_model(4), 3), then=ALIKE)],
            lambda rng: [Ask((_language_model(seed_from(rng), n_layers=2), rng.randint(2, 5)), then=ALIKE)],
            measure="rows alike",
        ),
        Stage(
            "the old model is left as it was",
            0.5,
            "The language model must keep its head and all its weights: do not assign to model.head.",
            [Ask((_language_model(1), 3))],
            _swap_asks(),
            measure="inputs kept",
        ),
        Stage(
            "training the new model does not change the old one, which stays in its mode",
            0.5,
            "The two models must not share parameters: give the new one a copy of the base, copy.deepcopy(model.base). "
            "And do not call eval() or train() on the old one.",
            [Ask((_language_model(1), 3), take="shared"), Ask((_in_training(1), 3), take="mode")],
            both(_swap_asks(take="shared"), lambda rng: [Ask((_in_training(seed_from(rng)), 4), take="mode")]),
            decisive=True,
        ),
    ],
    [
        Mistake(
            "the old model is changed",
            "The language model is no longer what it was: it has lost its head, or it no longer learns. Leave it alone "
            "and work on a copy.",
            _old_model_emptied,
        ),
        Mistake(
            "the head reads the last row",
            "The last row is padding for most texts. Take the last real token, as in section 3: pass the lengths on.",
            lambda model, n_classes: _LastRow(copy.deepcopy(model.base), n_classes),
        ),
        Mistake(
            "the head is exchanged inside the old model",
            "The language model has lost its head and can no longer write; and what comes back still gives one row per "
            "token. Make a new Classifier around a copy of the base.",
            _head_exchanged_in_place,
        ),
        Mistake(
            "still a language model: one row for each token",
            "A head of the right width is not enough: LanguageModel applies it to every token, (b, n, C). A Classifier "
            "reads the last real token, (b, C).",
            lambda model, n_classes: _head_exchanged_in_place(copy.deepcopy(model), n_classes),
        ),
        Mistake(
            "the base is shared with the old model",
            "Both models hold the same parameters: training the classifier would ruin the language model without a "
            "word. Copy the base with copy.deepcopy.",
            lambda model, n_classes: Classifier(model.base, n_classes),
        ),
        Mistake(
            "the base is a new one",
            "A base that is built anew starts from random numbers: everything the language model has learned is lost. "
            "Copy the base that you were given.",
            _new_base,
        ),
        Mistake(
            "always two classes",
            "The new head has 2 outputs whatever n_classes says: pass it on to Classifier.",
            lambda model, n_classes: Classifier(copy.deepcopy(model.base)),
        ),
        Mistake(
            "the head still has one output for each word",
            "The new head has V outputs in place of n_classes.",
            lambda model, n_classes: Classifier(copy.deepcopy(model.base), model.head.out_features),
        ),
        Mistake(
            "the head does not expect D numbers",
            "The head reads a hidden state of model.base.d_model numbers. This is not V, the outputs of the old head, "
            "nor always 48, the width of the notebook's own model.",
            lambda model, n_classes: _classifier_with_head(model, model.head.out_features, n_classes),
        ),
        Mistake(
            "the head has no bias",
            "The new head has n_classes * D numbers; a Linear also has a bias for each class.",
            lambda model, n_classes: _classifier_with_head(model, model.base.d_model, n_classes, bias=False),
        ),
        Mistake(
            "the base is frozen already",
            "Freezing is a decision of its own, the subject of section 6. Here everything shall be able to learn.",
            _frozen_classifier,
        ),
    ],
    hints=(
        (
            "Section 4 shows three ways that are wrong: the one line `victim.head = nn.Linear(D, 2)` is wrong in two "
            'ways, and the "subtler form" in one. What must be different so that none of them happens? Which class '
            "of `helpers.models` reads one row for each text, and what does it want to be made of?"
        ),
        (
            "Two names are not two things: after `a = [1, 2]`, `b = a` and `b.append(3)`, the list `a` has three "
            "numbers. After `b = copy.deepcopy(a)` it would have kept its two. It is the same with modules: a deep "
            "copy has the same weights *and* the same make (heads, positions, mask), but memory of its own. A base "
            "built anew with `TransformerBase(...)` has other numbers, and perhaps another make.\n\n"
            "Look at the first lines of `Classifier` in `helpers/models.py`: it is given a base and a number of "
            "classes, and makes the head by itself."
        ),
        (
            "Two things are made, and one is left alone:\n"
            "1. The part of the language model that the classifier needs: which attribute of `model` is it? Make a "
            "deep copy of this part (`copy` is there already), with the same hidden states as before.\n"
            "2. A `Classifier` around the copy, with the right number of classes: its head is a new `Linear` from "
            "$D$ to `n_classes`.\n"
            "3. Nothing else: no assignment to `model`, no `eval()`, no freezing.\n\n"
            "Test with `new = replace_head(language_model, 3)`: `new.head.out_features` is 3, `torch.equal` says "
            "True of the two embedding weights, and `new.base is language_model.base` is False."
        ),
    ),
)
