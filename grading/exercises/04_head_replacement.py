"""Exercises of notebook 04: from language model to classifier."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask
from helpers.checking.plain import Model
from helpers.data import EOS, PAD, SOS
from helpers.models import Classifier, LanguageModel, TransformerBase

Weights = dict[str, Tensor]


# --- lm_pair ----------------------------------------------------------------------------------------------------------


def lm_pair(tokens: list[int]) -> tuple[list[int], list[int]]:
    return [SOS, *tokens], [*tokens, EOS]


def _draw_sentences(low: int, high: int, count: int) -> Callable[[random.Random], list[Ask]]:
    def draw(rng: random.Random) -> list[Ask]:
        return [Ask((rng.sample(range(4, 1000), rng.randint(low, high)),)) for _ in range(count)]

    return draw


def _draw_repeated_word(rng: random.Random) -> list[Ask]:
    words = [rng.randrange(4, 1000) for _ in range(rng.randint(3, 6))]
    return [Ask(([*words, words[-1], words[-1]],)), Ask(([*words, *words],))]


LM_PAIR = Exercise(
    lm_pair,
    [
        Stage(
            "one word, and several",
            0.5,
            "With the one word 7 there are two questions: what comes after <sos>? (7) And after 7? (<eos>) Write input "
            "and target one below the other: under each number of the input stands the one after it.",
            [Ask(([7],)), Ask(([7, 5, 9],)), Ask(([8, 4, 6, 5],))],
            lambda rng: [*_draw_sentences(1, 1, 2)(rng), *_draw_sentences(2, 12, 3)(rng)],
        ),
        Stage(
            "a sentence that repeats a word",
            0.5,
            "A word may come several times, also at the end: shift by the place, never by the value.",
            [Ask(([5, 9, 5, 5],))],
            _draw_repeated_word,
        ),
        Stage(
            "no words at all",
            0.5,
            "An empty sentence still asks one question: <sos> is followed by <eos>.",
            [Ask(([],))],
            lambda rng: [Ask(([],))],
        ),
        Stage(
            "the list of words is left as it was",
            0.5,
            "The words belong to the caller: append, insert and += would change that very list. Make two new ones.",
            [Ask(([7, 5, 9],))],
            _draw_sentences(2, 12, 2),
            measure="inputs kept",
        ),
    ],
    [
        Mistake(
            "the target is not shifted",
            "Under each number of the input stands the same number: the model would learn to copy what it reads. "
            "The target is one place ahead.",
            lambda tokens: ([SOS, *tokens], [SOS, *tokens]),
        ),
        Mistake(
            "the whole sentence is input and target",
            "Both lists go from <sos> to <eos>. The input needs no <eos> (nothing follows it) and the target no <sos> "
            "(nothing asks for it); dropping one from each shifts them.",
            lambda tokens: ([SOS, *tokens, EOS], [SOS, *tokens, EOS]),
        ),
        Mistake(
            "<eos> is lost, and the last word is no longer read",
            "The target ends with the last word, so the model never learns when to stop. The last word is an input "
            "too: what follows it is <eos>.",
            lambda tokens: ([SOS, *tokens][: max(1, len(tokens))], tokens),
        ),
        Mistake(
            "<eos> is lost: the target is one shorter",
            "The last word of the input has no answer under it. What follows it is <eos>: without it the model never "
            "learns when to stop.",
            lambda tokens: ([SOS, *tokens], tokens),
        ),
        Mistake(
            "<eos> is in the input too",
            "The input is one longer than the target: nobody asks what follows <eos>.",
            lambda tokens: ([SOS, *tokens, EOS], [*tokens, EOS]),
        ),
        Mistake(
            "<sos> is lost",
            "Without <sos> nobody asks for the first word: the model could not begin a sentence.",
            lambda tokens: (tokens, [*tokens[1:], EOS]),
        ),
        Mistake(
            "input and target are exchanged",
            "The input begins with <sos>, the target ends with <eos>.",
            lambda tokens: ([*tokens, EOS], [SOS, *tokens]),
        ),
        Mistake(
            "the target is two places ahead",
            "Under each number stands the next but one. The answer after <sos> is the first word.",
            lambda tokens: ([SOS, *tokens], [*tokens[1:], EOS, EOS][: len(tokens) + 1]),
        ),
    ],
)


# --- last_token -------------------------------------------------------------------------------------------------------


def last_token(hidden: Tensor, lengths: Tensor) -> Tensor:
    return hidden[torch.arange(len(hidden)), lengths - 1]


def _hidden(b: int, n: int, d: int, seed: int) -> Tensor:
    numbers = torch.randn(b, n, d, generator=torch.Generator().manual_seed(seed))
    return (100 * numbers).round() / 100  # two decimals, to be read in the picture


def _draw_padded(low: int, texts: tuple[int, int], spare: int) -> Callable[[random.Random], list[Ask]]:
    """Returns what draws a batch of texts of at least `low` tokens; `spare` columns at most are padding for all."""

    def draw(rng: random.Random) -> list[Ask]:
        n, d = rng.randint(6, 9), rng.choice([2, 3, 5])
        lengths = [rng.randint(low, n) for _ in range(rng.randint(*texts))]
        return [Ask((_hidden(len(lengths), n + rng.randint(0, spare), d, rng.randrange(10**6)), torch.tensor(lengths)))]

    return draw


def _middle_first(rng: random.Random) -> list[int]:
    """Returns three lengths of which the first is neither the largest nor the smallest."""
    low, middle, high = sorted(rng.sample(range(2, 7), 3))
    return [middle, high, low]


def _row(place: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Returns an answer that takes from each text the row at `place(hidden, lengths)`."""
    return lambda hidden, lengths: hidden[torch.arange(len(hidden)), place(hidden, lengths)]


def _mean_of_real(hidden: Tensor, lengths: Tensor) -> Tensor:
    return torch.stack([rows[:length].mean(dim=0) for rows, length in zip(hidden, lengths.tolist(), strict=True)])


LAST_TOKEN = Exercise(
    last_token,
    [
        Stage(
            "a tensor of shape (b, d)",
            0.5,
            "One row of d numbers for each text: the axis of the tokens is gone.",
            [Ask((_hidden(2, 4, 3, 1), torch.tensor([4, 2])))],
            _draw_padded(2, (2, 5), 2),
            view="shape",
        ),
        Stage(
            "one text",
            0.5,
            "A text of length 3 has its tokens at the places 0, 1 and 2: count the last one. The result is (1, d) "
            "here: squeeze() without an axis would take the axis of the texts away, too.",
            [Ask((_hidden(1, 7, 2, 2), torch.tensor([3])))],
            lambda rng: [Ask((_hidden(1, 9, 3, rng.randrange(10**6)), torch.tensor([rng.choice([3, 4, 6, 7])])))],
        ),
        Stage(
            "several texts without padding",
            0.5,
            "Where all texts are as long as the batch is wide, the last real token is the last row.",
            [Ask((_hidden(3, 4, 2, 3), torch.tensor([4, 4, 4])))],
            lambda rng: [Ask((_hidden(4, 5, 3, rng.randrange(10**6)), torch.tensor([5] * 4)))],
        ),
        Stage(
            "several texts of different lengths",
            1,
            "Each text has its own last place: text number k takes row lengths[k] - 1 of hidden[k].",
            [
                Ask((_hidden(3, 6, 2, 4), torch.tensor([3, 6, 2]))),
                Ask((_hidden(2, 6, 3, 5), torch.tensor([4, 2]))),
            ],
            lambda rng: [
                *_draw_padded(2, (6, 9), 2)(rng),
                Ask((_hidden(3, 9, 2, rng.randrange(10**6)), torch.tensor(_middle_first(rng)))),
            ],
        ),
        Stage(
            "a text of <sos> alone",
            0.5,
            "A length of 1 means that the only real token is at place 0.",
            [Ask((_hidden(3, 4, 2, 6), torch.tensor([2, 1, 4])))],
            lambda rng: [Ask((_hidden(3, 6, 3, rng.randrange(10**6)), torch.tensor([rng.randint(2, 5), 1, 6])))],
        ),
    ],
    [
        Mistake(
            "the last row of the batch, which is mostly padding",
            "hidden[:, -1] is the last real token of the longest text only. For all the others it is a row of <pad>.",
            lambda hidden, lengths: hidden[:, -1],
        ),
        Mistake(
            "one row too far: the first padding",
            "Places are counted from 0: a text of 3 tokens ends at place 2. At place 3 the padding begins, or the "
            "batch ends.",
            _row(lambda hidden, lengths: lengths),
        ),
        Mistake(
            "one row too far, and held inside the batch",
            "Places are counted from 0: a text of 3 tokens ends at place 2. Clamping only hides the error for the "
            "longest text.",
            _row(lambda hidden, lengths: lengths.clamp(max=hidden.shape[1] - 1)),
        ),
        Mistake(
            "one row too early",
            "This is the last token but one. A text of 3 tokens ends at place 2.",
            _row(lambda hidden, lengths: lengths - 2),
        ),
        Mistake(
            "texts and places are exchanged",
            "hidden is (b, n, d), the texts first: hidden[texts, places], and not hidden[places, texts].",
            lambda hidden, lengths: hidden[lengths - 1, torch.arange(len(hidden))],
        ),
        Mistake(
            "every text is read at the places of all texts",
            "hidden[:, places] gives a table of every text with every place, (b, b, d). Pair them: "
            "hidden[torch.arange(b), places].",
            lambda hidden, lengths: hidden[:, lengths - 1],
        ),
        Mistake(
            "the length of the first text for all",
            "Every text has a length of its own, lengths[k].",
            lambda hidden, lengths: hidden[:, int(lengths[0]) - 1],
        ),
        Mistake(
            "the mean of all rows, padding included",
            "The padding takes part in this mean, and the question is for one row.",
            lambda hidden, lengths: hidden.mean(dim=1),
        ),
        Mistake(
            "the mean of the real rows",
            "Mean pooling is another rule, with which section 7 compares. Here only the last real token counts: in a "
            "causal model it is the one that has read everything.",
            _mean_of_real,
        ),
        Mistake(
            "the first row",
            "Row 0 is <sos>, which in a causal model has seen nothing but itself.",
            lambda hidden, lengths: hidden[:, 0],
        ),
    ],
)


# --- models by recipe -------------------------------------------------------------------------------------------------

TOKENS = torch.tensor([[SOS, 4, 6, 5, 3, 2], [SOS, 5, 4, PAD, PAD, PAD]])  # every word of a vocabulary of 7
LENGTHS = torch.tensor([6, 3])


def _base(seed: int, **options: Any) -> Model:
    shape = {"vocab_size": 7, "d_model": 8, "n_layers": 1, "n_heads": 2, "dropout": 0.0, "max_len": 12}
    return Model("TransformerBase", shape | options, seed)


def _language_model(seed: int, **options: Any) -> Model:
    return Model("LanguageModel", {"base": _base(seed, **options)}, seed, spread=0.3)


def _classifier(seed: int, n_classes: int = 2, **options: Any) -> Model:
    return Model("Classifier", {"base": _base(seed, **options), "n_classes": n_classes}, seed, spread=0.3)


OTHER_OPTIONS: list[dict[str, Any]] = [  # that no default has: a base built anew gives other hidden states
    {"n_heads": 4, "positions": "alibi"},
    {"n_heads": 1, "norm_first": True, "n_layers": 2},
    {"n_heads": 4, "positions": "learned", "d_feedforward": 12},
    {"n_heads": 4, "causal": False},
    {"positions": "rotary", "d_model": 12},
]


def _other_options(rng: random.Random) -> dict[str, Any]:
    return rng.choice(OTHER_OPTIONS)


def _seed(rng: random.Random) -> int:
    return rng.randrange(10**6)


# --- replace_head -----------------------------------------------------------------------------------------------------


def replace_head(model: LanguageModel, n_classes: int) -> Classifier:
    return Classifier(copy.deepcopy(model.base), n_classes)


def _swap_asks(**settings: Any) -> Callable[[random.Random], list[Ask]]:
    def draw(rng: random.Random) -> list[Ask]:
        first = Ask((_language_model(_seed(rng)), rng.choice([3, 4, 5])), **settings)
        second = Ask((_language_model(_seed(rng), n_layers=2, d_model=12), rng.choice([2, 6])), **settings)
        return [first, second]

    return draw


def _new_base(model: Any, n_classes: int) -> nn.Module:
    old = model.base
    fresh = TransformerBase(old.embedding.num_embeddings, old.d_model, len(old.layers), old.n_heads)
    return Classifier(fresh, n_classes)


def _head_exchanged_in_place(model: Any, n_classes: int) -> nn.Module:
    model.head = nn.Linear(model.base.d_model, n_classes)
    return model  # type: ignore[no-any-return]


def _classifier_with_head(model: Any, inputs: int, outputs: int, bias: bool = True) -> nn.Module:
    changed = Classifier(copy.deepcopy(model.base), outputs)  # the new head comes after it, as in most answers:
    changed.head = nn.Linear(inputs, outputs, bias)  # so it has the random numbers that theirs has
    return changed


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


THEN = (TOKENS, LENGTHS)
ALIKE = (
    torch.tensor([[SOS, 4, 6, PAD, PAD, PAD], [SOS, 4, 6, 5, 3, 5]]),
    torch.tensor([3, 3]),
)  # the same up to place 2

REPLACE_HEAD = Exercise(
    replace_head,
    [
        Stage(
            "a classifier: one row of n_classes numbers for each text",
            0.5,
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
            "Every weight under base. must be 'as in input 1', the language model; the head is new.",
            [Ask((_language_model(2), 4), take="origins")],
            _swap_asks(take="origins"),
        ),
        Stage(
            "the base gives the same hidden states",
            0.5,
            "The same weights in a base of another make (heads, positions, mask) compute something else. Take a copy "
            "of the base, and do not build one anew.",
            [Ask((_language_model(3, n_heads=4, positions="alibi"), 3), then=THEN, part="base")],
            lambda rng: [
                Ask((_language_model(_seed(rng), **options), rng.choice([2, 3, 6])), then=THEN, part="base")
                for options in OTHER_OPTIONS
            ],
        ),
        Stage(
            "what comes after the last real token makes no difference",
            0.5,
            "The head must read the last real token of each text, found by its length: Classifier does it.",
            [Ask((_language_model(4), 3), then=ALIKE)],
            lambda rng: [Ask((_language_model(_seed(rng), n_layers=2), rng.randint(2, 5)), then=ALIKE)],
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
            "training the new model does not change the old one",
            0.5,
            "The two models must not share parameters: give the new one a copy of the base, copy.deepcopy(model.base).",
            [Ask((_language_model(1), 3), take="shared")],
            _swap_asks(take="shared"),
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
)


# --- load_base --------------------------------------------------------------------------------------------------------


def load_base(model: Classifier, checkpoint: Weights) -> Classifier:
    wanted = model.base.state_dict()
    given = {name.removeprefix("base."): weight for name, weight in checkpoint.items() if name.startswith("base.")}
    different = sorted(wanted.keys() ^ given.keys())
    if different:
        raise ValueError(f"the checkpoint's base has other weights than the model's: {different[0]}.")
    for name, weight in given.items():
        if weight.shape != wanted[name].shape:
            raise ValueError(f"{name} is {tuple(weight.shape)} in the checkpoint, {tuple(wanted[name].shape)} here.")
    model.base.load_state_dict(given)
    return model


def _checkpoint(seed: int, **options: Any) -> Model:
    return replace(_language_model(seed, **options), state=True)


def _load_asks(*, n_classes: int = 3, **settings: Any) -> Callable[[random.Random], list[Ask]]:
    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for options in ({}, _other_options(rng)):
            inputs = _classifier(_seed(rng), n_classes, **options), _checkpoint(_seed(rng), **options)
            asks.append(Ask(inputs, changes=(0,), **settings))
        return asks

    return draw


def _load_ask(**settings: Any) -> list[Ask]:
    return [Ask((_classifier(1, 3), _checkpoint(2)), changes=(0,), **settings)]


def _other_width(rng: random.Random) -> list[Ask]:
    """Returns bases of other shapes; of the last, the first weights fit and only later ones do not."""
    sizes = {"d_model": rng.choice([4, 12, 16]), "vocab_size": rng.choice([6, 9]), "d_feedforward": rng.choice([6, 12])}
    return [
        Ask((_classifier(_seed(rng)), _checkpoint(_seed(rng), **{name: size})), changes=(0, 1))
        for name, size in sizes.items()
    ]


def _other_names(rng: random.Random) -> list[Ask]:
    few, many = rng.choice([(1, 2), (1, 3), (2, 3)])
    return [
        Ask((_classifier(_seed(rng), n_layers=many), _checkpoint(_seed(rng), n_layers=few)), changes=(0, 1)),
        Ask((_classifier(_seed(rng), n_layers=few), _checkpoint(_seed(rng), n_layers=many)), changes=(0, 1)),
        Ask((_classifier(_seed(rng)), replace(_base(_seed(rng)), spread=0.3, state=True)), changes=(0, 1)),
    ]


PUBLIC_WIDTH = [
    Ask((_classifier(1), _checkpoint(2, d_model=4)), changes=(0, 1)),  # whether they change is asked in other stages
    Ask((_classifier(1), _checkpoint(2, vocab_size=9)), changes=(0, 1)),
    Ask((_classifier(1), _checkpoint(2, d_feedforward=12)), changes=(0, 1)),
]
PUBLIC_NAMES = [
    Ask((_classifier(1, n_layers=2), _checkpoint(2)), changes=(0, 1)),
    Ask((_classifier(1), _checkpoint(2, n_layers=2)), changes=(0, 1)),
    Ask((_classifier(1), replace(_base(2), spread=0.3, state=True)), changes=(0, 1)),
]


def _model_only(asks: list[Ask]) -> list[Ask]:
    """Returns the questions with the checkpoint free to change: only the model must stay as it was."""
    return [replace(ask, changes=(1,)) for ask in asks]


def _stripped(checkpoint: Weights) -> Weights:
    return {name.removeprefix("base."): weight for name, weight in checkpoint.items() if name.startswith("base.")}


def _nothing_loaded(model: Any, checkpoint: Weights) -> Any:
    model.base.load_state_dict(checkpoint, strict=False)
    return model


def _whole_loaded(model: Any, checkpoint: Weights) -> Any:
    model.load_state_dict(checkpoint)
    return model


def _fitting_shapes_loaded(model: Any, checkpoint: Weights) -> Any:
    own = model.state_dict()
    fitting = {n: weight for n, weight in checkpoint.items() if n in own and own[n].shape == weight.shape}
    model.load_state_dict(fitting, strict=False)
    return model


def _fitting_base_loaded(model: Any, checkpoint: Weights) -> Any:
    _fitting_shapes_loaded(model, {n: weight for n, weight in checkpoint.items() if n.startswith("base.")})
    return model


def _partly_loaded(model: Any, checkpoint: Weights) -> Any:
    model.base.load_state_dict(_stripped(checkpoint), strict=False)
    return model


def _error_of_torch(model: Any, checkpoint: Weights) -> Any:
    model.base.load_state_dict(_stripped(checkpoint))
    return model


def _names_compared(model: Any, checkpoint: Weights) -> Any:
    if _stripped(checkpoint).keys() != model.base.state_dict().keys():
        raise ValueError("the checkpoint's base has other weights than the model's.")
    return _error_of_torch(model, checkpoint)


def _silent(model: Any, checkpoint: Weights) -> Any:
    try:
        return load_base(model, checkpoint)
    except ValueError:
        return model


def _half_loaded(model: Any, checkpoint: Weights) -> Any:
    try:
        return _error_of_torch(model, checkpoint)
    except RuntimeError as problem:
        raise ValueError(str(problem)) from problem


def _head_anew(model: Any, checkpoint: Weights) -> Any:
    load_base(model, checkpoint)
    return Classifier(model.base, model.head.out_features)


def _checkpoint_changed(model: Any, checkpoint: Weights) -> Any:
    for name in [name for name in checkpoint if not name.startswith("base.")]:
        del checkpoint[name]
    return load_base(model, checkpoint)


def _memory_taken_over(model: Any, checkpoint: Weights) -> Any:
    load_base(model, checkpoint)
    for name, parameter in model.base.named_parameters():
        parameter.data = checkpoint[f"base.{name}"]
    return model


def _prefix_stripped_as_letters(model: Any, checkpoint: Weights) -> Any:
    letters = {name.lstrip("base."): w for name, w in checkpoint.items() if name.startswith("base.")}
    model.base.load_state_dict(letters, strict=False)
    return model


LOAD_BASE = Exercise(
    load_base,
    [
        Stage(
            "the base has the weights of the checkpoint",
            1,
            "Every weight under base. must be 'as in input 2', the checkpoint. Compare the names on both sides: "
            "checkpoint has 'base.embedding.weight', model.base calls it 'embedding.weight'.",
            _load_ask(take="origins", entries=("base.*",)),
            _load_asks(take="origins", entries=("base.*",)),
        ),
        Stage(
            "the head is left alone",
            0.5,
            "The head must be 'as in input 1', the model, also where the checkpoint's head has its shape.",
            [
                *_load_ask(take="origins", entries=("head.*",)),
                Ask((_classifier(1, 7), _checkpoint(2)), changes=(0,), take="origins", entries=("head.*",)),
            ],
            lambda rng: [
                *_load_asks(take="origins", entries=("head.*",))(rng),
                *_load_asks(n_classes=7, take="origins", entries=("head.*",))(rng),
            ],
        ),
        Stage(
            "the model runs with them",
            0.5,
            "The model that comes back must give the logits of its own head on the base of the checkpoint.",
            _load_ask(then=THEN),
            _load_asks(then=THEN),
        ),
        Stage(
            "a base of other shapes: a ValueError",
            0.5,
            "Compare the shapes before you load, and raise ValueError with one sentence when one differs.",
            PUBLIC_WIDTH,
            _other_width,
            raises="ValueError",
        ),
        Stage(
            "a base with other names: a ValueError",
            1,
            "A layer too few, a layer too many, or names without base.: none of it may pass in silence. Compare the "
            "two sets of names before you load.",
            PUBLIC_NAMES,
            _other_names,
            raises="ValueError",
        ),
        Stage(
            "after a ValueError the model is as it was",
            0.5,
            "Whatever is copied before the error stays: load_state_dict copies all that fits and complains about the "
            "rest afterwards. Check all names and all shapes first, then load.",
            _model_only([*PUBLIC_WIDTH, *PUBLIC_NAMES]),
            lambda rng: _model_only([*_other_width(rng), *_other_names(rng)]),
            measure="inputs kept",
            raises="ValueError",
        ),
        Stage(
            "the checkpoint is left as it was",
            0.5,
            "Others may load the same checkpoint: do not pop or rename its entries, make a new dict.",
            _load_ask(),
            _load_asks(),
            measure="inputs kept",
        ),
        Stage(
            "training the model does not change the checkpoint",
            0.5,
            "The weights must be copied into the model, as load_state_dict does (without assign=True).",
            _load_ask(take="shared"),
            _load_asks(take="shared"),
        ),
    ],
    [
        Mistake(
            "strict=False, and nothing is loaded",
            "No name fits: the checkpoint says 'base.embedding.weight', model.base 'embedding.weight'. strict=False "
            "turns this into silence. Take the prefix off, and never use strict=False without reading what it returns.",
            _nothing_loaded,
        ),
        Mistake(
            "torch's error in place of a ValueError",
            "load_state_dict raises RuntimeError, after having loaded a part. Check names and shapes first, and raise "
            "ValueError with a sentence of your own.",
            _error_of_torch,
        ),
        Mistake(
            "names are compared, shapes are not",
            "The same names may hold other shapes: load_state_dict then raises RuntimeError, after having loaded a "
            "part. Compare the shapes too, and raise ValueError with a sentence of your own.",
            _names_compared,
        ),
        Mistake(
            "the whole checkpoint is loaded, head included",
            "The checkpoint's head scores V words and does not fit; where it does by chance, it overwrites yours. Take "
            "only the names that begin with base.",
            _whole_loaded,
        ),
        Mistake(
            "whatever fits by shape is loaded",
            "What does not fit is skipped in silence, and a head that fits by chance is overwritten. Take exactly the "
            "names of the base, and raise ValueError when one of them does not fit.",
            _fitting_shapes_loaded,
        ),
        Mistake(
            "what does not fit in the base is skipped in silence",
            "A base that is half trained and half random is worse than an error: raise ValueError.",
            _fitting_base_loaded,
        ),
        Mistake(
            "strict=False: missing layers pass in silence",
            "With strict=False a missing or an additional layer is no error, and a part of the base stays random. "
            "Compare the names yourself.",
            _partly_loaded,
        ),
        Mistake(
            "after the error the model is half loaded",
            "load_state_dict copies what fits before it raises, so catching its error comes too late: the model is "
            "already a mixture. Compare names and shapes first.",
            _half_loaded,
        ),
        Mistake(
            "the head is a new one",
            "The head may have been trained already: keep it as it is.",
            _head_anew,
        ),
        Mistake(
            "entries are removed from the checkpoint",
            "The caller's checkpoint has lost its head. Make a new dict with the names that you need.",
            _checkpoint_changed,
        ),
        Mistake(
            "model and checkpoint share their memory",
            "Training the model would change the checkpoint too: copy the numbers (load_state_dict or copy_).",
            _memory_taken_over,
        ),
        Mistake(
            "lstrip takes letters, not a prefix",
            "'base.embedding.weight'.lstrip('base.') is 'mbedding.weight': lstrip removes any of these letters. Use "
            "removeprefix. And strict=False has hidden it from you.",
            _prefix_stripped_as_letters,
        ),
        Mistake(
            "no error is raised: the model comes back as it was",
            "Whoever calls the function would believe that the weights are loaded, and a printed sentence stops no "
            "program. Where the base does not fit, raise ValueError.",
            _silent,
        ),
    ],
)


# --- freeze_base ------------------------------------------------------------------------------------------------------


def freeze_base(model: Classifier) -> Classifier:
    model.base.requires_grad_(False)
    return model


def _freeze_ask(model: Model, **settings: Any) -> Ask:
    return Ask((model,), changes=(0,), **settings)


def _large(seed: int) -> Model:
    """Returns a classifier of width 200 with two classes, as in the full-size run."""
    return _classifier(seed, 2, d_model=200)


def _freezing(chosen: Callable[[str], bool]) -> Callable[[Any], Any]:
    """Returns an answer that freezes the parameters whose names are chosen."""

    def freeze(model: Any) -> Any:
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(not chosen(name))
        return model

    return freeze


def _norms_left(model: Any) -> Any:
    for module in model.base.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            module.requires_grad_(False)
    return model


def _new_head(model: Any) -> Any:
    return _classifier_with_head(freeze_base(model), model.head.in_features, model.head.out_features)


def _frozen_new_head(model: Any) -> Any:
    changed = _new_head(model)
    changed.base.requires_grad_(False)
    return changed


LEARNED = {"positions": "learned", "norm_first": True, "n_layers": 2}

FREEZE_BASE = Exercise(
    freeze_base,
    [
        Stage(
            "the head still learns",
            0.5,
            "head.weight and head.bias must keep requires_grad=True.",
            [_freeze_ask(_classifier(1, 3), then=THEN, take="learns", entries=("head.*",))],
            lambda rng: [_freeze_ask(_classifier(_seed(rng), 3), then=THEN, take="learns", entries=("head.*",))],
        ),
        Stage(
            "nothing else learns",
            1,
            "Print the names of all parameters with requires_grad=True: only those of the head may be left.",
            [_freeze_ask(_classifier(1, 3), then=THEN, take="learns")],
            lambda rng: [
                _freeze_ask(_classifier(_seed(rng), rng.randint(2, 5), n_layers=2), then=THEN, take="learns"),
            ],
        ),
        Stage(
            "402 numbers at D = 200, C = 2",
            0.5,
            "The head is a Linear from 200 numbers to 2: 2 * 200 weights and 2 biases.",
            [_freeze_ask(_large(1), then=THEN, take="learns")],
            lambda rng: [_freeze_ask(_large(_seed(rng)), then=THEN, take="learns")],
        ),
        Stage(
            "also where positions are learned and a last norm follows",
            0.5,
            "Not every parameter of the base belongs to a layer: base.position and base.norm exist in some models.",
            [_freeze_ask(_classifier(2, 2, **LEARNED), then=THEN, take="learns")],
            lambda rng: [_freeze_ask(_classifier(_seed(rng), 4, **LEARNED), then=THEN, take="learns")],
        ),
        Stage(
            "no weight changes its value",
            0.5,
            "Freezing says what training may change later. It changes no number: every weight stays 'as in input 1'.",
            [_freeze_ask(_classifier(3, 2), take="origins")],
            lambda rng: [_freeze_ask(_classifier(_seed(rng), 3, **_other_options(rng)), take="origins")],
        ),
    ],
    [
        Mistake(
            "nothing is frozen",
            "Every parameter still learns. A module has no flag of its own: `model.base.requires_grad = False` only "
            "makes a new attribute, and eval() turns off dropout. Use requires_grad_(False), or set the flag of each "
            "parameter.",
            lambda model: model,
        ),
        Mistake(
            "the base comes back without its head",
            "Return the whole model: model, and not model.base.",
            lambda model: model.base.requires_grad_(False),
        ),
        Mistake(
            "the head is frozen too",
            "Nothing can learn any more. Freeze model.base, not model.",
            _freezing(lambda name: True),
        ),
        Mistake(
            "the head is frozen in place of the base",
            "It is the other way round: the new head starts from random numbers and must learn.",
            _freezing(lambda name: name.startswith("head.")),
        ),
        Mistake(
            "the norms still learn",
            "Layer norms have a weight and a bias of D numbers each, and they are part of the base.",
            _norms_left,
        ),
        Mistake(
            "the embedding still learns",
            "base.layers is not the whole base: the embedding is the largest part of it.",
            _freezing(lambda name: name.startswith("base.layers.")),
        ),
        Mistake(
            "only the embedding is frozen",
            "The embedding is the largest part of the base, but its layers learn as well.",
            _freezing(lambda name: name == "base.embedding.weight"),
        ),
        Mistake(
            "the biases of the base still learn",
            "A parameter called bias is a parameter too.",
            _freezing(lambda name: name.startswith("base.") and name.endswith("weight")),
        ),
        Mistake(
            "learned positions still learn",
            "base.position is a parameter of the base itself and belongs to none of its parts: loop over "
            "base.parameters(), which knows them all.",
            _freezing(lambda name: name.startswith("base.") and name != "base.position"),
        ),
        Mistake(
            "the head is a new one",
            "Freezing changes no number: the head may have been trained already.",
            _frozen_new_head,
        ),
    ],
)

EXERCISES = [LM_PAIR, LAST_TOKEN, REPLACE_HEAD, LOAD_BASE, FREEZE_BASE]
