"""Exercises of notebook 05: count by hand, by sympy and by numel."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import sympy
from sympy import Expr, Integer

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask
from helpers.checking.plain import Model

V, D, F, M, A, C, L = sympy.symbols("V D F M A C L", positive=True, integer=True)

POSITIONS = 2048  # the default max_len of helpers.models: L*D and 2048*D are the same mistake


def _point(symbols: str = "VDFMACL", **values: int) -> dict[str, int]:
    """Returns values for all symbols that an answer may have in it, those of the known mistakes too."""
    point = {"V": 10, "D": 4, "M": 1, "A": 2, "L": POSITIONS} | values
    point.setdefault("F", point["D"])
    point.setdefault("C", point["V"])
    return {name: point[name] for name in symbols}


def _draw_small(rng: random.Random) -> list[Ask]:
    """Draws points to be counted by hand; all sizes differ in all of them, so that no two formulas agree by chance."""
    sizes = zip(
        *(rng.sample(choice, 3) for choice in (range(11, 40), range(3, 9), range(2, 7), range(3, 10))), strict=True
    )
    return [Ask(at=_point(V=v, D=d, M=m, C=c, A=4)) for v, d, m, c in sizes]


def _draw_points(count: int, *free: str, symbols: str = "VDFMACL") -> Callable[[random.Random], list[Ask]]:
    """Draws points; of F and C only those in `free` are chosen apart from D and V."""

    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for _ in range(count):
            values = {
                "V": rng.randint(900, 60_000),
                "M": rng.randint(3, 24),
                "A": rng.randint(3, 16),
            }
            values["D"] = rng.randint(20, 800)
            choices = {"F": values["D"] + rng.randint(7, 3000), "C": rng.randint(3, 40)}
            values |= {name: choices[name] for name in free}
            asks.append(Ask(at=_point(symbols, **values)))
        return asks

    return draw


def _formula(expression: Any) -> Callable[[], Any]:
    return lambda: expression


# --- count_parameters -----------------------------------------------------------------------------


def count_parameters(model: Any, trainable_only: bool = False) -> int:
    numbers = (p for p in model.parameters() if p.requires_grad or not trainable_only)
    return sum(p.numel() for p in numbers)


TIED = ("head.weight", "base.embedding.weight")


def _base(positions: str = "none", **changes: Any) -> Model:
    shape = {"vocab_size": 10, "d_model": 4, "n_layers": 1, "n_heads": 2, "max_len": 16}
    return Model("TransformerBase", shape | {"positions": positions} | changes)


def _language_model(positions: str = "none", *, tie: tuple[str, ...] = (), **changes: Any) -> Model:
    return Model("LanguageModel", {"base": _base(positions, **changes)}, tie=tie)


def _classifier(n_classes: int = 2, positions: str = "none", **changes: Any) -> Model:
    arguments = {"base": _base(positions, **changes), "n_classes": n_classes}
    return Model("Classifier", arguments, freeze=("base",))


def _shape(rng: random.Random) -> dict[str, Any]:
    width = 4 * rng.randint(2, 4)
    return {
        "vocab_size": rng.randint(11, 40),
        "d_model": width,
        "n_layers": rng.randint(1, 3),
        "d_feedforward": width + rng.randint(1, 9),
        "max_len": rng.randint(17, 30),
        "norm_first": rng.random() < 0.5,
    }


def _draw_models(make: Callable[[random.Random], list[tuple[Any, ...]]]) -> Any:
    return lambda rng: [Ask(inputs) for inputs in make(rng)]


def _with_buffers(model: Any, trainable_only: bool = False) -> int:
    tensors = [*model.parameters(), *model.buffers()]
    return sum(t.numel() for t in tensors if t.requires_grad or not trainable_only)


def _always_with_buffers(model: Any, trainable_only: bool = False) -> int:
    return count_parameters(model, trainable_only) + _buffers(model)


def _buffers(model: Any) -> int:
    return sum(math.prod(b.shape) for b in model.buffers())


def _shared_twice(model: Any, trainable_only: bool = False) -> int:
    named = model.named_parameters(remove_duplicate=False)
    return sum(p.numel() for _, p in named if p.requires_grad or not trainable_only)


def _from_state_dict(model: Any, trainable_only: bool = False) -> int:
    return sum(t.numel() for t in model.state_dict().values())


def _frozen_only(model: Any, trainable_only: bool = False) -> int:
    everything = count_parameters(model)
    return everything - count_parameters(model, True) if trainable_only else everything


def _flag_inverted(model: Any, trainable_only: bool = False) -> int:
    return count_parameters(model, not trainable_only)


def _matrices_only(model: Any, trainable_only: bool = False) -> int:
    chosen = [p for p in model.parameters() if p.requires_grad or not trainable_only]
    return sum(p.numel() for p in chosen if p.dim() > 1)


def _without_biases(model: Any, trainable_only: bool = False) -> int:
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad or not trainable_only]
    return sum(p.numel() for n, p in named if "bias" not in n)


def _tensors(model: Any, trainable_only: bool = False) -> int:
    return sum(1 for p in model.parameters() if p.requires_grad or not trainable_only)


def _rows(model: Any, trainable_only: bool = False) -> int:
    return sum(len(p) for p in model.parameters() if p.requires_grad or not trainable_only)


def _sides_added(model: Any, trainable_only: bool = False) -> int:
    return sum(sum(p.shape) for p in model.parameters() if p.requires_grad or not trainable_only)


def _every_level(model: Any, trainable_only: bool = False) -> int:
    return sum(count_parameters(module, trainable_only) for module in model.modules())


def _without_positions(model: Any, trainable_only: bool = False) -> int:
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad or not trainable_only]
    return sum(p.numel() for n, p in named if "position" not in n)


COUNT_PARAMETERS = Exercise(
    count_parameters,
    [
        Stage(
            "a plain model: every number of every tensor",
            0.5,
            "Go through model.parameters() and add up how many numbers each tensor has: p.numel().",
            [Ask((_language_model(),))],
            _draw_models(lambda rng: [(_language_model(**_shape(rng)),) for _ in range(2)]),
        ),
        Stage(
            "buffers do not count, learned positions do",
            0.5,
            "Sinusoidal positions are a buffer: model.buffers(), not model.parameters(). Learned ones are parameters.",
            [Ask((_language_model("sinusoidal"),)), Ask((_language_model("learned"),))],
            _draw_models(lambda rng: [(_language_model(p, **_shape(rng)),) for p in ("sinusoidal", "learned")]),
        ),
        Stage(
            "shared weights count once",
            1,
            "Here the head uses the matrix of the embedding: two names, one matrix in memory.",
            [Ask((_language_model(tie=TIED), flag)) for flag in (False, True)],
            _draw_models(
                lambda rng: [(_language_model("sinusoidal", tie=TIED, **_shape(rng)), flag) for flag in (False, True)]
            ),
        ),
        Stage(
            "only what trains, when asked",
            1,
            "The base of this classifier is frozen: its parameters have requires_grad = False. Leave them "
            "out only when trainable_only is True.",
            [Ask((_classifier(2, "sinusoidal"), flag)) for flag in (True, False)],
            _draw_models(
                lambda rng: [
                    (_classifier(rng.randint(2, 9), "sinusoidal", **_shape(rng)), flag) for flag in (True, False)
                ]
            ),
        ),
    ],
    [
        Mistake(
            "buffers are counted",
            "Buffers, such as the table of sinusoidal positions, are stored with the model but never "
            "trained: count model.parameters() only.",
            _with_buffers,
        ),
        Mistake(
            "buffers are counted, even among what trains",
            "Buffers, such as the table of sinusoidal positions, never train: count model.parameters() only.",
            _always_with_buffers,
        ),
        Mistake(
            "shared weights are counted twice",
            "The head and the embedding are the same matrix under two names. model.parameters() gives it once.",
            _shared_twice,
        ),
        Mistake(
            "counted from the state_dict",
            "A state_dict lists shared weights under each of their names and does not say what trains. "
            "Use model.parameters().",
            _from_state_dict,
        ),
        Mistake(
            "trainable_only is ignored",
            "With trainable_only=True, leave out each parameter whose requires_grad is False.",
            lambda model, trainable_only=False: count_parameters(model),
        ),
        Mistake(
            "frozen parameters are always left out",
            "Frozen parameters count too, unless trainable_only is True.",
            lambda model, trainable_only=False: count_parameters(model, True),
        ),
        Mistake(
            "the frozen parameters are counted in place of the others",
            "requires_grad is True for a parameter that trains. Keep these.",
            _frozen_only,
        ),
        Mistake(
            "trainable_only is turned round",
            "With trainable_only=True the frozen ones are left out, with False they are counted.",
            _flag_inverted,
        ),
        Mistake(
            "only matrices are counted: biases and norms are lost",
            "A bias and the two vectors of a norm are parameters as well, though they have one axis only.",
            _matrices_only,
        ),
        Mistake("biases are lost", "Biases train like all the rest: count them.", _without_biases),
        Mistake(
            "tensors are counted, not numbers",
            "A matrix of 10 rows and 4 columns is one tensor and 40 parameters: add up p.numel().",
            _tensors,
        ),
        Mistake(
            "rows are counted, not numbers",
            "len(p) is the number of rows. A matrix of 10 rows and 4 columns has 40 numbers: p.numel().",
            _rows,
        ),
        Mistake(
            "the sides of a matrix are added, not multiplied",
            "A matrix of 10 rows and 4 columns has 10 * 4 numbers, not 10 + 4: p.numel().",
            _sides_added,
        ),
        Mistake(
            "parameters are counted again at every level",
            "module.parameters() already looks into all the modules inside: do not sum it over model.modules().",
            _every_level,
        ),
        Mistake(
            "learned positions are left out",
            "Learned positions are trained like the embedding. What decides is not the name: a parameter "
            "counts, a buffer does not.",
            _without_positions,
        ),
    ],
)


# --- parameter_formulas ---------------------------------------------------------------------------

LAYER = "base.layers.0"
PROJECTIONS = ("query", "key", "value", "output")


def parameter_formulas() -> dict[str, Expr]:
    return _formulas()


def _formulas(
    projection: Expr = D**2,
    projection_bias: Expr = D,
    hidden: Expr = F * D,
    hidden_bias: Expr = F,
    output: Expr = D * F,
    output_bias: Expr = D,
    norm: Expr = D,
    embedding: Expr = V * D,
    head: Expr = C * D,
    head_bias: Expr = C,
) -> dict[str, Expr]:
    formulas = {"base.embedding.weight": embedding}
    for name in PROJECTIONS:
        formulas[f"{LAYER}.attention.{name}.weight"] = projection
        formulas[f"{LAYER}.attention.{name}.bias"] = projection_bias
    for name, pair in {"hidden": (hidden, hidden_bias), "output": (output, output_bias)}.items():
        (
            formulas[f"{LAYER}.feed_forward.{name}.weight"],
            formulas[f"{LAYER}.feed_forward.{name}.bias"],
        ) = pair
    for name in ("attention_norm", "feed_forward_norm"):
        formulas[f"{LAYER}.{name}.weight"] = formulas[f"{LAYER}.{name}.bias"] = norm
    return formulas | {"head.weight": head, "head.bias": head_bias}


def _formulas_without(*endings: str) -> dict[str, Expr]:
    return {n: f for n, f in _formulas().items() if not n.endswith(endings)}


def _entries(*patterns: str) -> dict[str, Any]:
    points = [_point(V=50, D=6, F=11, C=3, A=2), _point(V=64, D=8, F=32, C=7, A=4)]

    def draw(rng: random.Random) -> list[Ask]:
        return [Ask(at=ask.at, entries=patterns) for ask in _draw_points(2, "F", "C")(rng)]

    return {
        "public": [Ask(at=point, entries=patterns) for point in points],
        "draw": draw,
        "sealed": True,
    }


PARAMETER_FORMULAS = Exercise(
    parameter_formulas,
    [
        Stage(
            "one entry for each parameter, under its own name",
            0.5,
            "Print the names of example.named_parameters(): these 19 names are the keys.",
            [Ask(take="names")],
            lambda rng: [Ask(take="names")],
        ),
        Stage(
            "the embedding and the head",
            0.5,
            "The embedding has one row of D numbers for each of V words; the head one row of D numbers, and "
            "one bias, for each of C classes.",
            **_entries("base.embedding.*", "head.*"),
        ),
        Stage(
            "the attention",
            1,
            "Each of the four projections turns D numbers into D numbers. Compare with A = 1 and A = 4 heads "
            "in the table above.",
            **_entries("*.attention.*"),
        ),
        Stage(
            "the feed-forward part",
            1,
            "hidden turns D numbers into F, output turns F into D; a bias has one number for each output.",
            **_entries("*.feed_forward.*"),
        ),
        Stage(
            "the norms",
            1,
            "A norm multiplies each of D numbers by a weight of its own and adds a bias of its own.",
            **_entries("*_norm.*"),
        ),
    ],
    [
        Mistake(
            "biases are lost",
            "Each Linear and each norm has a bias: one number for each output.",
            lambda: _formulas_without("bias"),
        ),
        Mistake(
            "biases are set to 0",
            "A bias has one number for each output, and it trains.",
            lambda: {n: Integer(0) if n.endswith("bias") else f for n, f in _formulas().items()},
        ),
        Mistake(
            "a bias is one number",
            "A bias has one number for each output: D, F or C of them.",
            lambda: {n: Integer(1) if n.endswith("bias") else f for n, f in _formulas().items()},
        ),
        Mistake(
            "the heads multiply the weights",
            "A heads do not have a D x D matrix each. They share one: each head works on its own D/A rows.",
            lambda: _formulas(projection=A * D**2),
        ),
        Mistake(
            "the heads multiply weights and biases",
            "A heads do not have D x D matrices of their own. They share one: each works on its own D/A rows.",
            lambda: _formulas(projection=A * D**2, projection_bias=A * D),
        ),
        Mistake(
            "only one head is counted",
            "D/A rows belong to one head; the matrix holds those of all A heads: D rows.",
            lambda: _formulas(projection=D**2 / A, projection_bias=D / A),
        ),
        Mistake(
            "F is taken to be D",
            "The feed-forward part has its own width F; F = D is only the default.",
            lambda: _formulas(hidden=D**2, hidden_bias=D, output=D**2),
        ),
        Mistake(
            "the two biases of the feed-forward part are exchanged",
            "A bias has one number for each output: hidden puts out F numbers, output D.",
            lambda: _formulas(hidden_bias=D, output_bias=F),
        ),
        Mistake(
            "a bias has one number for each input",
            "A bias is added to the outputs: it has one number for each of these.",
            lambda: _formulas(hidden_bias=D, output_bias=F, head_bias=D),
        ),
        Mistake(
            "a norm is taken for a matrix",
            "A norm keeps the D numbers apart: a vector of weights and a vector of biases, D numbers each.",
            lambda: {n: D**2 if n.endswith("norm.weight") else f for n, f in _formulas().items()},
        ),
        Mistake(
            "the norms are lost",
            "A LayerNorm has parameters too: a weight and a bias, D numbers each.",
            lambda: {n: f for n, f in _formulas().items() if "norm" not in n},
        ),
        Mistake(
            "the head has V outputs",
            "Write C for the outputs of the head: V for a language model, but 2 for a review that is good or bad.",
            lambda: _formulas(head=V * D, head_bias=V),
        ),
        Mistake(
            "the head bias is lost",
            "The head is a Linear with a bias: one number for each of its C outputs.",
            lambda: _formulas_without("head.bias"),
        ),
        Mistake(
            "positions are counted",
            "Sinusoidal positions are a buffer: named_parameters() does not list them, they do not train.",
            lambda: _formulas() | {"base.position": L * D},
        ),
    ],
)


# --- layer_total ----------------------------------------------------------------------------------

ATTENTION, FEED_FORWARD, NORMS = 4 * (D**2 + D), 2 * D * F + F + D, 4 * D
BLOCK = 6 * D**2 + 10 * D  # a layer at F = D


def layer_total() -> Expr:
    return ATTENTION + FEED_FORWARD + NORMS


LAYER_TOTAL = Exercise(
    layer_total,
    [
        Stage(
            "F = D: as many as there are squares in the picture",
            1,
            "Count the squares of the picture for D = 4, then put D = F = 4 into your formula.",
            [Ask(at=_point("DFA", D=4)), Ask(at=_point("DFA", D=1))],
            lambda rng: [Ask(at=_point("DFA", A=3)), *_draw_points(2, symbols="DFA")(rng)],
        ),
        Stage(
            "any F",
            1,
            "Add up your sixteen formulas of one layer: those of the feed-forward part contain F.",
            [Ask(at=_point("DFA", F=16)), Ask(at=_point("DFA", D=200, F=800, A=5))],
            _draw_points(4, "F", symbols="DFA"),
            sealed=True,
        ),
    ],
    [
        Mistake(
            "one norm is counted",
            "At F = D you have 8D in place of 10D. A layer has two norms, and each has a weight and a bias: 4D.",
            _formula(ATTENTION + FEED_FORWARD + 2 * D),
        ),
        Mistake(
            "the biases of the feed-forward part are lost",
            "Both Linears of the feed-forward part have a bias, a number for each output: F for hidden, D for output.",
            _formula(ATTENTION + 2 * D * F + NORMS),
        ),
        Mistake(
            "4D is missing: the norms, or the biases of the attention",
            "Each of the two norms has a weight and a bias of D numbers, and each of the four Linears of the attention "
            "has a bias of D numbers. One of these is not in your formula.",
            _formula(ATTENTION + FEED_FORWARD),
        ),
        Mistake(
            "biases are lost",
            "All six Linears have a bias: one number for each output.",
            _formula(4 * D**2 + 2 * D * F + NORMS),
        ),
        Mistake(
            "all biases are lost, those of the norms too",
            "Six Linears and two norms have a bias each.",
            _formula(4 * D**2 + 2 * D * F + 2 * D),
        ),
        Mistake(
            "only matrices are counted",
            "Biases and norms are small but they are there: at D = 4, count the narrow columns in the picture.",
            _formula(4 * D**2 + 2 * D * F),
        ),
        Mistake(
            "the heads multiply the weights",
            "Heads split the width D among them: with more heads, each gets fewer rows of the same matrices.",
            _formula(A * ATTENTION + FEED_FORWARD + NORMS),
        ),
        Mistake(
            "the output projection is lost",
            "Attention has four matrices: query, key, value, and the output that joins the heads.",
            _formula(3 * (D**2 + D) + FEED_FORWARD + NORMS),
        ),
        Mistake(
            "F is taken to be D",
            "Your formula is right at F = D. The feed-forward part has a width of its own: keep F in it.",
            _formula(BLOCK),
        ),
        Mistake(
            "both biases of the feed-forward part have D numbers",
            "hidden puts out F numbers, so its bias has F.",
            _formula(ATTENTION + 2 * D * F + 2 * D + NORMS),
        ),
        Mistake(
            "both biases of the feed-forward part have F numbers",
            "output puts out D numbers, so its bias has D.",
            _formula(ATTENTION + 2 * D * F + 2 * F + NORMS),
        ),
        Mistake(
            "one matrix of the feed-forward part is lost",
            "The feed-forward part goes from D to F and back from F to D: two matrices.",
            _formula(ATTENTION + D * F + F + NORMS),
        ),
    ],
)


# --- language_model_total, classifier_total, frozen_total -----------------------------------------

EMBEDDING, HEAD = V * D, C * (D + 1)
ONE_NORM, NO_BIASES = 6 * D**2 + 8 * D, 6 * D**2 + 4 * D
HEADS_MULTIPLY = A * ATTENTION + 2 * (D**2 + D) + NORMS


def language_model_total() -> Expr:
    return (EMBEDDING + M * BLOCK + HEAD).subs(C, V)


def classifier_total() -> Expr:
    return EMBEDDING + M * BLOCK + HEAD


def frozen_total() -> Expr:
    return HEAD


def _whole_model_mistakes(head: Expr) -> list[Mistake]:
    """Returns the mistakes that both whole models share; `head` is the right formula of their head."""
    rest, outputs = EMBEDDING + M * BLOCK, sympy.expand(head).coeff(D)
    return [
        Mistake(
            "the head bias is lost",
            "The head adds one number to each of its outputs: a weight of D numbers and a bias for each.",
            _formula(rest + outputs * D),
        ),
        Mistake(
            "the bias of the head is one number",
            "The head has one bias for each of its outputs.",
            _formula(rest + outputs * D + 1),
        ),
        Mistake(
            "the bias of the head has D numbers",
            "The head has one bias for each of its outputs, not for each of its inputs.",
            _formula(rest + outputs * D + D),
        ),
        Mistake(
            "the head is lost",
            "After the last layer a Linear turns D numbers into the scores: it has weights too.",
            _formula(rest),
        ),
        Mistake(
            "positions are counted",
            "Sinusoidal positions are computed once and kept in a buffer; nothing trains them.",
            _formula(rest + head + L * D),
        ),
        Mistake(
            "the embedding is lost",
            "Each of the V words has a vector of D numbers; the head has a matrix of its own and does not share it.",
            _formula(M * BLOCK + head),
        ),
        Mistake(
            "one layer is counted",
            "There are M layers, each with its own weights.",
            _formula(EMBEDDING + BLOCK + head),
        ),
        Mistake(
            "2D is missing in each layer, such as one norm",
            "You have 8D in place of 10D in each layer: there are two norms, of 2D numbers each (and the two biases of "
            "the feed-forward part are 2D as well).",
            _formula(EMBEDDING + M * ONE_NORM + head),
        ),
        Mistake(
            "biases are lost in the layers",
            "All six Linears of a layer have a bias.",
            _formula(EMBEDDING + M * NO_BIASES + head),
        ),
        Mistake(
            "the heads multiply the weights",
            "Heads split the width D among them; the number of weights does not depend on A.",
            _formula(EMBEDDING + M * HEADS_MULTIPLY + head),
        ),
        Mistake(
            "a norm after the last layer is counted",
            "Ours is a post-norm model (section 3.1 of the paper): nothing follows the last layer but the head.",
            _formula(rest + head + 2 * D),
        ),
    ]


LANGUAGE_MODEL_TOTAL = Exercise(
    language_model_total,
    [
        Stage(
            "small models: by hand",
            0.5,
            "With V = 10, D = 4 and M = 1 the embedding has 10 * 4 numbers, the layer those of the picture, the head "
            "10 * 4 and 10 biases.",
            [Ask(at=_point(C=3)), Ask(at=_point(V=23, D=6, M=2, C=5))],
            _draw_small,
        ),
        Stage(
            "any vocabulary, width and number of layers",
            1.5,
            "One embedding, M layers, one head with a bias for each of the V words.",
            [Ask(at=_point(V=50001, D=200, M=4, C=2)), Ask(at=_point(V=977, D=30, M=6, A=3, C=5))],
            _draw_points(4, "C"),
            sealed=True,
        ),
    ],
    [
        *_whole_model_mistakes(V * (D + 1)),
        Mistake(
            "the head has C outputs",
            "The head of a language model scores all V words: the formula has V, D and M in it, and no C.",
            _formula(EMBEDDING + M * BLOCK + HEAD),
        ),
    ],
)

CLASSIFIER_TOTAL = Exercise(
    classifier_total,
    [
        Stage(
            "small models: by hand",
            0.5,
            "Embedding and layer are those of the language model; with D = 4 and C = 2 the head has 2 rows of 4 "
            "numbers and 2 biases.",
            [Ask(at=_point(C=2)), Ask(at=_point(V=23, D=6, M=2, C=3))],
            _draw_small,
        ),
        Stage(
            "any size",
            1.5,
            "Embedding, M layers, and a head with C outputs in place of V.",
            [Ask(at=_point(V=50001, D=200, M=4, C=2)), Ask(at=_point(V=977, D=30, M=6, A=3, C=5))],
            _draw_points(4, "C"),
            sealed=True,
        ),
    ],
    [
        *_whole_model_mistakes(HEAD),
        Mistake(
            "the head has V outputs",
            "A classifier has one output for each class: C, not V.",
            _formula(EMBEDDING + M * BLOCK + V * (D + 1)),
        ),
        Mistake(
            "the head of the language model is kept",
            "The head of the language model is taken off, and a new one with C outputs is put on.",
            _formula(EMBEDDING + M * BLOCK + V * (D + 1) + HEAD),
        ),
        Mistake(
            "each word has its own head",
            "One head serves all positions: the classifier puts it on the last token only.",
            _formula(EMBEDDING + M * BLOCK + L * HEAD),
        ),
    ],
)

FROZEN_TOTAL = Exercise(
    frozen_total,
    [
        Stage(
            "small models: by hand",
            0.5,
            "Only the head trains: with D = 4 and C = 2 it has 2 rows of 4 numbers, and 2 biases.",
            [Ask(at=_point(C=2)), Ask(at=_point(V=23, D=6, M=2, C=3))],
            _draw_small,
        ),
        Stage(
            "any size",
            0.5,
            "Whatever V and M are, they are in the frozen base.",
            [Ask(at=_point(V=50001, D=200, M=4, C=2)), Ask(at=_point(V=977, D=30, M=6, A=3, C=5))],
            _draw_points(3, "C"),
            sealed=True,
        ),
    ],
    [
        Mistake(
            "the head bias is lost",
            "The head trains a bias for each class, too.",
            _formula(C * D),
        ),
        Mistake(
            "the frozen parameters are counted too",
            "This is the whole classifier. Count what still trains when the base is frozen.",
            _formula(EMBEDDING + M * BLOCK + HEAD),
        ),
        Mistake(
            "the frozen parameters are counted in place of the others",
            "This is the base, which is frozen. Count what still trains.",
            _formula(EMBEDDING + M * BLOCK),
        ),
        Mistake(
            "the bias of the head is one number",
            "The head has one bias for each class.",
            _formula(C * D + 1),
        ),
        Mistake(
            "the bias of the head has D numbers",
            "The head has one bias for each of its C outputs, not for each of its D inputs.",
            _formula(C * D + D),
        ),
        Mistake(
            "the embedding trains",
            "The base is the embedding and the layers: all of it is frozen.",
            _formula(EMBEDDING + HEAD),
        ),
        Mistake(
            "the last layer trains",
            "The base is the embedding and all its layers: all of it is frozen.",
            _formula(BLOCK + HEAD),
        ),
        Mistake(
            "the head has V outputs",
            "A classifier has one output for each class: C, not V.",
            _formula(V * (D + 1)),
        ),
    ],
)


# --- when_is_it_right -----------------------------------------------------------------------------


def when_is_it_right(claim: Expr) -> Integer | None:
    found = _solutions(claim)
    right = len(found) == 1 and found[0].is_Integer and found[0] >= 1
    return found[0] if right else None


def _solutions(claim: Expr, truth: Expr = BLOCK) -> list[Expr]:
    return list(sympy.solve(sympy.Eq(sympy.expand(claim), sympy.expand(truth)), A))


def _unchecked(claim: Expr) -> Expr:
    return _solutions(claim)[0]


def _at_one_width(claim: Expr) -> Any:
    found = _solutions(claim.subs(D, 200), BLOCK.subs(D, 200))
    return found[0] if found and found[0].is_Integer and found[0] >= 1 else None


LINEAR = D**2 + D  # weights and bias of one D x D projection
PUBLISHED = A * 3 * LINEAR + 4 * D
AT_200_ONLY = A * 3 * LINEAR + 800
HEADED = A * 4 * LINEAR + 2 * LINEAR + 2 * D
FRACTION = A * 4 * LINEAR + 4 * D


ZERO_HEADS = A * D**2 + BLOCK  # right for A = 0 only
FACTORED = A * D * (3 * D + 3) + 4 * D  # right for A = 2, but not written as a sum of powers


def _claims(*claims: Expr) -> list[Ask]:
    return [Ask((claim,), at={"D": 200, "F": 300}) for claim in claims]


def _draw_claims(rng: random.Random) -> list[Ask]:
    """Claims that are right for exactly one A: many heads, few heads, and 2 heads written in two ways."""
    many, few = rng.choice([5, 6]), rng.choice([1, 2])
    return _claims(
        A * LINEAR + (6 - many) * LINEAR + 4 * D, A * 2 * LINEAR + (6 - 2 * few) * LINEAR + 4 * D, PUBLISHED, FACTORED
    )


def _draw_never_right(rng: random.Random) -> list[Ask]:
    extra = rng.choice([2, 3])
    return _claims(A * 3 * LINEAR + 200 * extra + (4 - extra) * D, HEADED, FRACTION, ZERO_HEADS)


WHEN_IS_IT_RIGHT = Exercise(
    when_is_it_right,
    [
        Stage(
            "the count of the text",
            1,
            "Solve claim = right count for A: sympy.solve(sympy.Eq(claim, right), A) gives a list of solutions.",
            _claims(PUBLISHED),
            lambda rng: _claims(PUBLISHED),
            sealed=True,
        ),
        Stage(
            "other claims",
            0.5,
            "Use the claim that is handed in, and the right count of a layer at F = D. Two formulas may be equal and "
            "written in different ways: expand their difference.",
            _claims(A * LINEAR + 2 * LINEAR + 4 * D, A * LINEAR + 4 * D, FACTORED),
            _draw_claims,
            sealed=True,
        ),
        Stage(
            "a claim that no number of heads makes right: None",
            0.5,
            "A solution that contains D is right for some widths at most, and an empty list says that there is "
            "none (there are no half heads, and A is at least 1): return None.",
            _claims(HEADED, FRACTION, AT_200_ONLY, ZERO_HEADS),
            _draw_never_right,
        ),
    ],
    [
        Mistake(
            "the list of solve is returned",
            "sympy.solve gives a list of solutions; return the one in it, with [0].",
            _solutions,
        ),
        Mistake(
            "the solution is not looked at",
            "Look at what solve gives: where the list is empty, or its solution contains D, no number of heads "
            "makes the claim right for every width. Return None there.",
            _unchecked,
        ),
        Mistake(
            "solved at one width only",
            "A claim may be right at D = 200 by chance. Solve with the symbol D, or try several widths.",
            _at_one_width,
        ),
        Mistake(
            "compared with a count that has one norm",
            "The right count of a layer has 10D, not 8D: two norms.",
            lambda claim: _solutions(claim, ONE_NORM)[0],
        ),
        Mistake(
            "compared with a count without biases",
            "The right count of a layer has the biases of all six Linears.",
            lambda claim: _solutions(claim, NO_BIASES)[0],
        ),
        Mistake(
            "F is left in the count that the claim is compared with",
            "Claims are about a layer at F = D, and your solution has F in it: put layer_total().subs(F, D) in the "
            "equation.",
            lambda claim: _solutions(claim, layer_total())[0],
        ),
        Mistake(
            "None, whatever the claim says",
            "The count of the text is right for one number of heads. If you compare with layer_total(), put F = D "
            "in it first: with F in it, no claim is right.",
            lambda claim: None,
        ),
        Mistake(
            "one head, whatever the claim says",
            "Heads do not multiply the weights, that is true. But the question is for which A this claim, wrong "
            "as it is, gives the right number.",
            lambda claim: 1,
        ),
        Mistake(
            "two heads, whatever the claim says",
            "2 is right for the count of the text. Solve for A: your function is asked about other claims too.",
            lambda claim: 2,
        ),
    ],
)


# --- repair ---------------------------------------------------------------------------------------

RIGHT: dict[str, Expr] = {
    "embedding": V * D,
    "positions": Integer(0),
    "attention": 4 * M * (D**2 + D),
    "feed-forward": 2 * M * (D**2 + D),
    "norms": 4 * M * D,
    "head": C * (D + 1),
}


def repair(claim: dict[str, Expr]) -> tuple[str, Expr]:
    return _wrong_term(claim), _total(RIGHT)


def _total(terms: Mapping[str, Expr]) -> Expr:
    return sum(terms.values(), Integer(0))


def _wrong_term(claim: Mapping[str, Expr], right: Mapping[str, Expr] = RIGHT) -> Any:
    return next((name for name, term in claim.items() if sympy.expand(term - right[name]) != 0), None)


def _with_right(**changes: Expr) -> Callable[[dict[str, Expr]], Any]:
    """Returns the answer of somebody who takes these terms for right (None when nothing looks wrong)."""
    right = RIGHT | {name.replace("_", "-"): term for name, term in changes.items()}

    def answer(claim: dict[str, Expr]) -> Any:
        name = _wrong_term(claim, right)
        return None if name is None else (name, _total(right))

    return answer


def _by_form(claim: dict[str, Expr]) -> Any:
    return next(name for name, term in claim.items() if term != RIGHT[name]), _total(RIGHT)


def _uncorrected(claim: dict[str, Expr]) -> Any:
    return _wrong_term(claim), _total(claim)


def _removed(claim: dict[str, Expr]) -> Any:
    name = _wrong_term(claim)
    return name, _total(claim) - claim[name]


def _term_only(claim: dict[str, Expr]) -> Any:
    name = _wrong_term(claim)
    return name, RIGHT[name]


def _wrong_claim(name: str, term: Expr, **others: Expr) -> dict[str, Expr]:
    return RIGHT | others | {name: term}


FIRST = _wrong_claim("norms", 2 * M * D)
SECOND = _wrong_claim("attention", 4 * M * D**2)
THIRD = _wrong_claim("positions", L * D)
FOURTH = _wrong_claim("head", C * D)

OTHER_ERRORS: dict[str, list[Expr]] = {
    "embedding": [2 * V * D, V * (D + 1)],
    "attention": [3 * M * (D**2 + D), A * M * (D**2 + D)],
    "feed-forward": [2 * M * D**2, M * (D**2 + D), 8 * M * (D**2 + D)],
    "norms": [2 * D, M * D, 6 * M * D],
}
HIDDEN_ERRORS: list[tuple[str, Expr]] = [  # not seen where a size is 1, or where C = V
    ("embedding", M * V * D),
    ("attention", 4 * (D**2 + D)),
    ("attention", 4 * A * M * (D**2 + D)),
    ("head", C * (D + 1) * L),
    ("head", V * (D + 1)),
    ("head", C * D + 1),
]


def _repairs(*claims: dict[str, Expr]) -> list[Ask]:
    return [Ask((claim,), at=_point("VDMACL", V=977, D=30, M=6, A=3, C=5)) for claim in claims]


def _draw_repairs(*claims: dict[str, Expr]) -> Any:
    return lambda rng: _repairs_at_drawn_points(rng, *claims)


def _repairs_at_drawn_points(rng: random.Random, *claims: dict[str, Expr]) -> list[Ask]:
    return [Ask((claim,), at=_draw_points(1, "C", symbols="VDMACL")(rng)[0].at) for claim in claims]


def _draw_other_errors(rng: random.Random) -> list[Ask]:
    drawn = [(name, rng.choice(OTHER_ERRORS[name])) for name in rng.sample(sorted(OTHER_ERRORS), 2)]
    return _repairs_at_drawn_points(rng, *(_wrong_claim(name, term) for name, term in [*HIDDEN_ERRORS, *drawn]))


def _in_other_form(name: str, term: Expr) -> dict[str, Expr]:
    """A claim whose right terms are written in another form than in the notebook."""
    expanded = {
        "attention": 4 * M * D * (D + 1),
        "feed-forward": 2 * M * D**2 + 2 * M * D,
        "head": C * D + C,
    }
    return RIGHT | expanded | {name: term}


REPAIR = Exercise(
    repair,
    [
        *(
            Stage(
                f"the {word} count",
                0.5,
                "Go through the terms one by one and compare each with your formula from above; return the name of "
                "the wrong one and the sum of all terms with that one put right.",
                _repairs(claim),
                _draw_repairs(claim),
                sealed=True,
            )
            for word, claim in (
                ("first", FIRST),
                ("second", SECOND),
                ("third", THIRD),
                ("fourth", FOURTH),
            )
        ),
        Stage(
            "right terms in another form are left alone",
            0.5,
            "C*D + C and C*(D + 1) mean the same but are not ==. Compare sympy.expand(difference) with 0.",
            _repairs(_in_other_form("norms", 2 * M * D), _in_other_form("positions", L * D)),
            _draw_repairs(_in_other_form("norms", 2 * M * D), _in_other_form("positions", L * D)),
            sealed=True,
        ),
        Stage(
            "other wrong counts",
            0.5,
            "Any term can be the wrong one, and wrong in any way: compare all of them with the right ones, as formulas "
            "and not at one size.",
            _repairs(
                _wrong_claim("embedding", 2 * V * D),
                _wrong_claim("feed-forward", 2 * M * D**2),
                *(_wrong_claim(name, term) for name, term in HIDDEN_ERRORS),
            ),
            _draw_other_errors,
            sealed=True,
        ),
    ],
    [
        Mistake(
            "formulas are compared by their form",
            "== compares how two formulas are written. Expand their difference and see whether it is 0: "
            "sympy.expand(term - right) == 0.",
            _by_form,
        ),
        Mistake(
            "the total is not corrected",
            "The name is right, but the total still has the wrong term in it: put the right one in its place.",
            _uncorrected,
        ),
        Mistake(
            "the wrong term is removed, not corrected",
            "Taking the wrong term off leaves a hole: add the right one.",
            _removed,
        ),
        Mistake(
            "the term alone in place of the total",
            "The second value is the corrected count of the whole model: the sum of all terms.",
            _term_only,
        ),
        Mistake(
            "name and total are exchanged",
            "Return the name of the wrong term first, then the corrected total.",
            lambda claim: repair(claim)[::-1],
        ),
        Mistake(
            "only the name",
            "Return two values: the name of the wrong term and the corrected total.",
            _wrong_term,
        ),
        Mistake(
            "only the total",
            "Return two values: the name of the wrong term and the corrected total.",
            lambda claim: _total(RIGHT),
        ),
        Mistake(
            "positions are taken for trainable",
            "Sinusoidal positions are a buffer: 0 parameters.",
            _with_right(positions=L * D),
        ),
        Mistake(
            "one norm is taken for right",
            "A layer has two norms of 2D numbers each: 4 M D in all.",
            _with_right(norms=2 * M * D),
        ),
        Mistake(
            "a head without bias is taken for right",
            "The head has C biases.",
            _with_right(head=C * D),
        ),
        Mistake(
            "attention without biases is taken for right",
            "Each of the four projections has a bias of D numbers.",
            _with_right(attention=4 * M * D**2),
        ),
        Mistake(
            "layers without biases are taken for right",
            "Each of the six Linears of a layer has a bias of D numbers (at F = D).",
            _with_right(attention=4 * M * D**2, feed_forward=2 * M * D**2),
        ),
    ],
)


# --- crossover_width ------------------------------------------------------------------------------


def crossover_width() -> Expr:
    return (V - 10 * M) / (6 * M)


def _crossover_point(words: int, layers: int, heads: int = 2) -> Ask:
    return Ask(at={"V": words, "M": layers, "A": heads})


CROSSOVER_WIDTH = Exercise(
    crossover_width,
    [
        Stage(
            "one layer: 34 words cross at D = 4",
            0.5,
            "At D = 4 the layer has 136 numbers, and an embedding of 34 words has 34 * 4 = 136 as well.",
            [_crossover_point(34, 1), _crossover_point(64, 1)],
            lambda rng: [_crossover_point(6 * d + 10, 1, 4) for d in rng.sample(range(3, 60), 2)],
        ),
        Stage(
            "any vocabulary and number of layers",
            1.5,
            "Write the equation V D = M (...), divide both sides by D, and solve for the D that is left.",
            [_crossover_point(50001, 4), _crossover_point(977, 6)],
            lambda rng: [
                _crossover_point(rng.randint(900, 60_000), rng.randint(2, 24), rng.randint(3, 9)) for _ in range(4)
            ],
            sealed=True,
        ),
    ],
    [
        Mistake(
            "the number of layers is lost",
            "There are M layers on one side and one embedding on the other.",
            _formula((V - 10) / 6),
        ),
        Mistake(
            "biases and norms are neglected",
            "V/(6M) is a good estimate for large V; the exact equation has the 10D of each layer too.",
            _formula(V / (6 * M)),
        ),
        Mistake(
            "one norm is counted",
            "A layer has 10D beside 6D^2, not 8D.",
            _formula((V - 8 * M) / (6 * M)),
        ),
        Mistake(
            "biases are lost in the layers",
            "A layer has 10D beside 6D^2: six biases and two norms.",
            _formula((V - 4 * M) / (6 * M)),
        ),
        Mistake(
            "M multiplies the matrices only",
            "All of a layer comes M times: M (6D^2 + 10D) has 10 M D in it.",
            _formula((V - 10) / (6 * M)),
        ),
        Mistake(
            "a sign is turned",
            "V D = M (6 D^2 + 10 D): when the 10 M D go to the other side, they are taken off.",
            _formula((V + 10 * M) / (6 * M)),
        ),
        Mistake(
            "the head is put beside the embedding",
            "The question is about the embedding alone, V D. (With the head it is a good question, too.)",
            _formula((2 * V - 10 * M) / (6 * M)),
        ),
        Mistake(
            "the list of solve is returned",
            "sympy.solve gives a list of solutions; return the one that is larger than 0, with [0].",
            _formula([(V - 10 * M) / (6 * M)]),
        ),
        Mistake(
            "the heads multiply the weights",
            "Heads split the width D among them; A is not in the equation.",
            _formula((V - (4 * A + 6) * M) / ((4 * A + 2) * M)),
        ),
    ],
)


# --- training_bytes -------------------------------------------------------------------------------


def training_bytes(model: Any) -> int:
    return 4 * count_parameters(model) + 12 * count_parameters(model, True)


TRAINING_BYTES = Exercise(
    training_bytes,
    [
        Stage(
            "a model that trains as a whole",
            1,
            "A number that trains is kept four times: itself, its gradient, and Adam's two moments; 4 bytes each.",
            [Ask((_language_model(),)), Ask((_language_model(n_layers=2),))],
            _draw_models(lambda rng: [(_language_model(**_shape(rng)),) for _ in range(2)]),
        ),
        Stage(
            "a frozen base",
            0.5,
            "What is frozen has no gradient and no moments: its weights are all that is kept.",
            [Ask((_classifier(),))],
            _draw_models(lambda rng: [(_classifier(rng.randint(2, 9), **_shape(rng)),) for _ in range(2)]),
        ),
        Stage(
            "shared weights once, buffers not at all",
            0.5,
            "One matrix under two names is one matrix in memory; buffers are left out of this count.",
            [Ask((_language_model("sinusoidal", tie=TIED),))],
            _draw_models(lambda rng: [(_language_model("sinusoidal", tie=TIED, **_shape(rng)),)]),
        ),
    ],
    [
        Mistake(
            "one of the two moments is forgotten",
            "You count 12 bytes for a number that trains. Weight, gradient and Adam's *two* moments are 16: the "
            "running mean of the gradient and that of its square.",
            lambda model: 4 * count_parameters(model) + 8 * count_parameters(model, True),
        ),
        Mistake(
            "Adam's moments are forgotten",
            "Adam keeps two more numbers for each one that trains: running means of the gradient and of its square.",
            lambda model: 4 * count_parameters(model) + 4 * count_parameters(model, True),
        ),
        Mistake(
            "only the weights are counted",
            "Training keeps a gradient and two moments beside each weight.",
            lambda model: 4 * count_parameters(model),
        ),
        Mistake(
            "frozen parameters get gradients and moments",
            "What is frozen keeps its weights only: 4 bytes and not 16.",
            lambda model: 16 * count_parameters(model),
        ),
        Mistake(
            "frozen weights take no memory",
            "Frozen weights do not train, but they are there: 4 bytes each.",
            lambda model: 16 * count_parameters(model, True),
        ),
        Mistake(
            "the flag is turned round",
            "requires_grad is True for a number that trains: this one takes 16 bytes, a frozen one 4.",
            lambda model: 16 * count_parameters(model) - 12 * count_parameters(model, True),
        ),
        Mistake(
            "numbers are counted, not bytes",
            "A float32 takes 4 bytes.",
            lambda model: count_parameters(model) + 3 * count_parameters(model, True),
        ),
        Mistake(
            "bits in place of bytes",
            "A float32 has 32 bits, which are 4 bytes.",
            lambda model: 32 * count_parameters(model) + 96 * count_parameters(model, True),
        ),
        Mistake(
            "two bytes for a number",
            "A float32 takes 4 bytes; 2 would be a half precision number.",
            lambda model: 2 * count_parameters(model) + 6 * count_parameters(model, True),
        ),
        Mistake(
            "eight bytes for a number",
            "A float32 takes 4 bytes; 8 would be a float64.",
            lambda model: 8 * count_parameters(model) + 24 * count_parameters(model, True),
        ),
        Mistake(
            "shared weights are counted twice",
            "One matrix under two names is one matrix in memory, with one gradient.",
            lambda model: 4 * _shared_twice(model) + 12 * _shared_twice(model, True),
        ),
        Mistake(
            "buffers are counted",
            "Buffers are left out of this count, and they never have a gradient.",
            lambda model: training_bytes(model) + 4 * _buffers(model),
        ),
    ],
)

EXERCISES = [
    COUNT_PARAMETERS,
    PARAMETER_FORMULAS,
    LAYER_TOTAL,
    LANGUAGE_MODEL_TOTAL,
    CLASSIFIER_TOTAL,
    FROZEN_TOTAL,
    WHEN_IS_IT_RIGHT,
    REPAIR,
    CROSSOVER_WIDTH,
    TRAINING_BYTES,
]
