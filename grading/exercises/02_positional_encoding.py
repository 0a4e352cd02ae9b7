"""Exercises of notebook 02: order blindness, sinusoids, learned positions, ALiBi, rotary positions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask, InProcess
from helpers.checking.plain import Model

INF = float("inf")


def _numbers(*shape: int, seed: int = 0) -> Tensor:
    """Returns random numbers in steps of a quarter, easy to read in a failing check."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).mul(4).round().div(4)


# --- order_blindness --------------------------------------------------------------------------------------------------


def order_blindness(encoder: Any, x: Tensor, permutation: Tensor) -> float:
    with torch.no_grad():
        permuted_after = encoder(x)[:, permutation]
        permuted_before = encoder(x[:, permutation])
    return float((permuted_after - permuted_before).abs().max())


def _blindness(
    encoder: Any, x: Tensor, first: Any, second: Any, size: Any = lambda change: change.abs().max()
) -> float:
    return float(size(encoder(x)[first] - encoder(x[second])))


def _permuted_batch(encoder: Any, x: Tensor, permutation: Tensor) -> float:
    return _blindness(encoder, x, permutation, permutation)


def _permuted_input_only(encoder: Any, x: Tensor, permutation: Tensor) -> float:
    return _blindness(encoder, x, slice(None), (slice(None), permutation))


def _permuted_output_only(encoder: Any, x: Tensor, permutation: Tensor) -> float:
    return _blindness(encoder, x, (slice(None), permutation), slice(None))


def _permuted_back(encoder: Any, x: Tensor, permutation: Tensor) -> float:
    return _blindness(encoder, x, (slice(None), permutation.argsort()), (slice(None), permutation))


def _average_difference(encoder: Any, x: Tensor, permutation: Tensor) -> float:
    places = (slice(None), permutation)
    return _blindness(encoder, x, places, places, lambda change: change.abs().mean())


def _signed_difference(encoder: Any, x: Tensor, permutation: Tensor) -> float:
    places = (slice(None), permutation)
    return _blindness(encoder, x, places, places, lambda change: change.max())


def _encoder(seed: int, positions: str = "none", causal: bool = False) -> Model:
    shape = {"vocab_size": 12, "d_model": 8, "n_layers": 2, "n_heads": 2, "dropout": 0.0, "max_len": 16}
    return Model("TransformerBase", shape | {"positions": positions, "causal": causal}, seed)


def _sentences(b: int, n: int, seed: int) -> Tensor:
    """Returns b sentences of n words, of which each has no word twice."""
    return torch.rand(b, 12, generator=torch.Generator().manual_seed(seed)).argsort(dim=1)[:, :n].contiguous()


def _turning(n: int, seed: int) -> Tensor:
    """Returns a permutation that is not its own inverse."""
    while True:
        permutation = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
        if not torch.equal(permutation[permutation], torch.arange(n)):
            return permutation
        seed += 1


def _blind(b: int, n: int, seed: int, positions: str = "none", causal: bool = False) -> Ask:
    return Ask((_encoder(seed, positions, causal), _sentences(b, n, seed), _turning(n, seed)))


def _seeing(b: int, n: int, seed: int, positions: str = "none", causal: bool = False) -> Ask:
    """Returns a question whose largest difference is negative: `max` without `abs` gives another number."""
    while True:
        ask = _blind(b, n, seed, positions, causal)
        largest, signed = (InProcess(answer).ask(ask).value for answer in (order_blindness, _signed_difference))
        if largest - signed > 0.05:
            return ask
        seed += 1


def _draw_blind(*sizes: tuple[int, int], see: bool = False, **options: Any) -> Any:
    make = _seeing if see else _blind
    return lambda rng: [make(b, n, rng.randrange(10**6), **options) for b, n in sizes]


ORDER_BLINDNESS = Exercise(
    order_blindness,
    [
        Stage(
            "an encoder without positions: 0",
            0.5,
            "Encode, then take the outputs in the new order; put the words in the new order, then encode. Without "
            "positions the two must agree.",
            [_blind(5, 5, 1), _blind(6, 4, 2)],
            _draw_blind((5, 5), (7, 6)),
        ),
        Stage(
            "an encoder with positions: not 0",
            0.5,
            "With positions the order counts. Return the largest of all absolute differences, one number.",
            [_seeing(4, 4, 5, "sinusoidal"), _seeing(1, 5, 6, "learned")],
            _draw_blind((4, 4), (1, 6), see=True, positions="sinusoidal"),
        ),
        Stage(
            "several sentences of any length",
            0.5,
            "x is (b, n) and the outputs are (b, n, d): the words stand along axis 1 in both.",
            [_blind(3, 6, 3), _seeing(3, 5, 4, "rotary")],
            _draw_blind((2, 7), (6, 5), see=True, positions="rotary"),
        ),
        Stage(
            "a causal encoder without positions: not 0 either",
            0.5,
            "Ask the encoder itself; do not conclude from its settings. Under a causal mask the first word sees one "
            "word and the last one sees all.",
            [_seeing(2, 5, 7, causal=True), _seeing(3, 4, 8, causal=True)],
            _draw_blind((2, 6), (3, 4), see=True, causal=True),
        ),
    ],
    [
        Mistake(
            "the batch axis is permuted",
            "You exchange whole sentences, and no encoder mixes sentences: this is 0 for every model, even for one "
            "with "
            "positions. The words stand along axis 1: x[:, permutation].",
            _permuted_batch,
        ),
        Mistake(
            "only the input is permuted",
            "The words have moved, so the outputs have moved with them. Take encoder(x) in the new order too before "
            "you compare.",
            _permuted_input_only,
        ),
        Mistake(
            "only the output is permuted",
            "Both ways must move the words once: one before the encoder, the other after it.",
            _permuted_output_only,
        ),
        Mistake(
            "one side is permuted forwards, the other backwards",
            "Both sides need the same order: index both with `permutation`, or undo it on one side only, with argsort.",
            _permuted_back,
        ),
        Mistake(
            "the average in place of the largest difference",
            "An average over many small differences hides a large one. Take the maximum of the absolute values.",
            _average_difference,
        ),
        Mistake(
            "the largest difference without absolute values",
            "A difference of -3 is larger than one of +1: take abs() before max().",
            _signed_difference,
        ),
    ],
)


# --- sinusoidal_encoding ----------------------------------------------------------------------------------------------


def sinusoidal_encoding(max_len: int, d_model: int) -> Tensor:
    return _sinusoids(max_len, torch.arange(d_model) // 2 * 2 / d_model)


def _sinusoids(max_len: int, exponents: Tensor, *, start: int = 0, swapped: bool = False) -> Tensor:
    """Returns the table for one exponent per column, worked out in double precision."""
    places = torch.arange(start, start + max_len, dtype=torch.float64).unsqueeze(1)
    angles = places / 10000 ** (exponents.double())
    even = torch.arange(len(exponents)) % 2 == 0
    return torch.where(even ^ swapped, angles.sin(), angles.cos()).float()


def _exponents(d_model: int) -> Tensor:
    return torch.arange(d_model) // 2 * 2 / d_model


def _halves(max_len: int, d_model: int) -> Tensor:
    table = sinusoidal_encoding(max_len, d_model)
    return torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)


def _pair_number_only(max_len: int, d_model: int) -> Tensor:
    return _sinusoids(max_len, torch.arange(d_model) // 2 / d_model)


def _draw_tables(*widths: int) -> Any:
    return lambda rng: [Ask((rng.randint(5, 30), width)) for width in widths]


SINUSOIDAL_ENCODING = Exercise(
    sinusoidal_encoding,
    [
        Stage(
            "a floating point tensor of shape (max_len, d_model)",
            0.5,
            "One row for each position, one column for each number of the width.",
            [Ask((5, 4))],
            _draw_tables(4, 8),
            view="shape",
        ),
        Stage(
            "position 0: 0, 1, 0, 1, ...",
            0.5,
            "At position 0 every angle is 0: sin 0 = 0 stands in the even columns, cos 0 = 1 in the odd ones.",
            [Ask((3, 6))],
            _draw_tables(4, 10),
            view="first row",
        ),
        Stage(
            "one pair of columns: sin p, cos p",
            0.5,
            "With d_model = 2 there is only i = 0: the angle at position p is p / 10000^0 = p.",
            [Ask((4, 2))],
            _draw_tables(2),
            tolerance=1e-3,
        ),
        Stage(
            "every pair at its own speed",
            1.5,
            "Columns 2i and 2i + 1 share the angle p / 10000^(2i / d_model). For d_model = 4 the second pair is 100 "
            "times "
            "slower than the first.",
            [Ask((6, 4)), Ask((9, 10))],
            lambda rng: [Ask((rng.randint(5, 40), width)) for width in (4, 6, 2 * rng.randint(4, 16))],
            tolerance=1e-3,
        ),
    ],
    [
        Mistake(
            "sine and cosine are exchanged",
            "The sine stands in the even columns 0, 2, 4, ... and the cosine in the odd ones.",
            lambda max_len, d_model: _sinusoids(max_len, _exponents(d_model), swapped=True),
        ),
        Mistake(
            "the exponent is not divided by d_model",
            "10000^(2i) leaves every pair but the first standing still. The exponent runs from 0 to almost 1: 2i / "
            "d_model.",
            lambda max_len, d_model: _sinusoids(max_len, _exponents(d_model) * d_model),
        ),
        Mistake(
            "every pair turns at the same speed",
            "The exponent 2i / d_model is missing: without it all pairs say the same, and far positions look alike.",
            lambda max_len, d_model: _sinusoids(max_len, torch.zeros(d_model)),
        ),
        Mistake(
            "positions start at 1",
            "The first token has position 0, so the first row is 0, 1, 0, 1, ...",
            lambda max_len, d_model: _sinusoids(max_len, _exponents(d_model), start=1),
        ),
        Mistake(
            "all sines, then all cosines",
            "The right numbers in the wrong columns: sine and cosine of one pair are neighbours, columns 2i and 2i + "
            "1.",
            _halves,
        ),
        Mistake(
            "each column has its own speed",
            "The two columns of a pair share one angle. In an odd column 2i + 1 the exponent is still 2i / d_model.",
            lambda max_len, d_model: _sinusoids(max_len, torch.arange(d_model) / d_model),
        ),
        Mistake(
            "the factor 2 of the exponent is counted twice",
            "arange(0, d_model, 2) is 2i already; twice that makes the pairs slow down too fast.",
            lambda max_len, d_model: _sinusoids(max_len, 2 * _exponents(d_model)),
        ),
        Mistake(
            "the factor 2 of the exponent is missing",
            "Pair number i has the exponent 2i / d_model, not i / d_model.",
            _pair_number_only,
        ),
    ],
)


# --- add_positions ----------------------------------------------------------------------------------------------------


def add_positions(x: Tensor, encoding: Tensor) -> Tensor:
    return x + encoding[: x.shape[1]]


def _added_in_place(x: Tensor, encoding: Tensor) -> Tensor:
    x += encoding[: x.shape[1]]
    return x


def _placed(b: int, n: int, d: int, max_len: int, seed: int = 0) -> Ask:
    return Ask((_numbers(b, n, d, seed=seed), _numbers(max_len, d, seed=seed + 1)))


def _draw_placed(*kinds: tuple[int, int, int]) -> Any:
    """Draws for each kind (b, n, spare rows) one question, narrower than long; b and n may be 0 for "any"."""

    def draw(rng: random.Random) -> list[Ask]:
        asks = []
        for b, n, spare in kinds:
            n = n or rng.randint(3, 6)
            b = b or rng.choice([size for size in range(2, 7) if size != n])
            d = rng.choice([width for width in (2, 4) if width < n])
            asks.append(_placed(b, n, d, max(b, n) + spare, rng.randrange(10**6)))
        return asks

    return draw


def _equal_sizes(rng: random.Random) -> list[Ask]:
    size = rng.randint(3, 5)
    return [_placed(size, size, 2, size + rng.randint(1, 4), rng.randrange(10**6))]


ADD_POSITIONS = Exercise(
    add_positions,
    [
        Stage(
            "the shape of x",
            0.5,
            "Adding positions changes numbers, not the shape: the result is (b, n, d).",
            [_placed(2, 3, 2, 3, 1), _placed(2, 3, 4, 5, 2), _placed(3, 3, 2, 5, 9)],
            _draw_placed((2, 4, 0), (3, 5, 2), (4, 4, 1)),
            view="shape",
        ),
        Stage(
            "one sentence",
            0.5,
            "Token j of the sentence gets row j of the table; the rows after the last token are not used.",
            [_placed(1, 3, 2, 3, 3), _placed(1, 3, 2, 5, 4)],
            _draw_placed((1, 0, 0), (1, 0, 3)),
        ),
        Stage(
            "as many sentences as words",
            1,
            "With b = n a wrong axis raises no error. Check by hand: x[0, 1] and x[1, 1] both get row 1 of the table.",
            [_placed(3, 3, 2, 5, 5)],
            _equal_sizes,
        ),
        Stage(
            "any batch, any length",
            0.5,
            "Cut the table to the number of words, which is x.shape[1], and let torch line the shapes up from the end.",
            [_placed(4, 2, 4, 6, 6), _placed(2, 5, 2, 7, 7)],
            _draw_placed((5, 3, 1), (0, 0, 2), (0, 0, 4)),
        ),
        Stage(
            "x is left as it was",
            0.5,
            "The caller still needs the words without positions: make a new tensor, x + ..., and do not write into x.",
            [_placed(2, 3, 2, 4, 8)],
            _draw_placed((0, 0, 1), (0, 0, 3)),
            measure="inputs kept",
        ),
    ],
    [
        Mistake(
            "positions are added along the batch axis",
            "Sentence 0 gets position 0, sentence 1 gets position 1, and all words of a sentence get the same: nothing "
            "says their order. Position j belongs to x[:, j], in every sentence.",
            lambda x, encoding: x + encoding[: x.shape[0]].unsqueeze(1),
        ),
        Mistake(
            "the table has its extra axis in the wrong place",
            "(n, 1, d) belongs to sequence-first tensors (n, b, d). Against (b, n, d) it is added along the batch axis "
            "when b = n, and fails otherwise. The table needs no extra axis here, or (1, n, d).",
            lambda x, encoding: x + encoding[: x.shape[1]].unsqueeze(1),
        ),
        Mistake(
            "the table is not cut to the length",
            "The table has rows for longer sentences too: take its first n rows, encoding[:x.shape[1]].",
            lambda x, encoding: x + encoding,
        ),
        Mistake(
            "the table is cut to the number of sentences",
            "x.shape[0] is the batch size. It works by luck when b = n. The number of words is x.shape[1].",
            lambda x, encoding: x + encoding[: x.shape[0]],
        ),
        Mistake(
            "the last rows of the table in place of the first",
            "The first word has position 0: the table is cut at the end, not at the start.",
            lambda x, encoding: x + encoding[len(encoding) - x.shape[1] :],
        ),
        Mistake(
            "every word gets position 0",
            "One row for all words does not tell them apart: word j gets row j.",
            lambda x, encoding: x + encoding[0],
        ),
        Mistake(
            "multiplied in place of added",
            "Positions are added to the word vectors; a product would wipe out a word where the table is 0.",
            lambda x, encoding: x * encoding[: x.shape[1]],
        ),
        Mistake(
            "x is scaled by the square root of d",
            "The factor sqrt(d) of section 3.4 of the paper belongs to the embedding and is in x already.",
            lambda x, encoding: x * math.sqrt(x.shape[2]) + encoding[: x.shape[1]],
        ),
        Mistake(
            "only the positions are returned",
            "The words are lost: return x plus the positions.",
            lambda x, encoding: encoding[: x.shape[1]].expand_as(x),
        ),
        Mistake(
            "x is changed in place",
            "`x += ...` writes into the tensor of the caller, who would add positions to it a second time. Write "
            "x + ..., which makes a new tensor.",
            _added_in_place,
        ),
    ],
)


# --- shift_matrix -----------------------------------------------------------------------------------------------------


def shift_matrix(offset: int, d_model: int) -> Tensor:
    return _turns(offset / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model))


def _turns(angles: Tensor, signs: tuple[float, float] = (1.0, -1.0)) -> Tensor:
    """Returns 2 x 2 blocks [[cos, sign * sin], [sign * sin, cos]] along the diagonal."""
    upper, lower = (sign * angles.sin() for sign in signs)
    blocks = [torch.stack(block).view(2, 2) for block in zip(angles.cos(), upper, lower, angles.cos(), strict=True)]
    matrix: Tensor = torch.block_diag(*blocks)
    return matrix.float()


def _speeds(d_model: int) -> Tensor:
    return 1 / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


def _only_from_zero(offset: int, d_model: int) -> Tensor:
    first, goal = sinusoidal_encoding(1, d_model)[0], _sinusoids(1, _exponents(d_model), start=offset)[0]
    return torch.outer(goal, first) / first.dot(first)


def _halves_turned(offset: int, d_model: int) -> Tensor:
    order = torch.arange(d_model).view(-1, 2).T.flatten()  # 0, 2, 4, ..., 1, 3, 5, ...
    return shift_matrix(offset, d_model)[order][:, order]


def _rolled_columns(offset: int, d_model: int) -> Tensor:
    return torch.eye(d_model).roll(offset, dims=0)


def _shift(offset: int, d_model: int) -> Ask:
    """Returns a question that looks at what R makes of the encodings of near and far positions."""
    places = torch.tensor([*range(d_model + 1), 100, 1000, 5000], dtype=torch.float64).unsqueeze(1)
    angles = places * _speeds(d_model)
    return Ask((offset, d_model), beside={"rows": torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)})


def _draw_offsets(*widths: int) -> Any:
    """Draws offsets to both sides for each width, none of which turns the columns back to their places."""

    def draw(rng: random.Random) -> list[Ask]:
        return [_shift(sign * (width * rng.randint(1, 3) + 1), width) for width in widths for sign in (1, -1)]

    return draw


SHIFT_MATRIX = Exercise(
    shift_matrix,
    [
        Stage(
            "a floating point tensor of shape (d_model, d_model)",
            0.5,
            "R turns a vector of d_model numbers into another one of d_model numbers.",
            [_shift(1, 4)],
            _draw_offsets(4, 8),
            view="shape",
        ),
        Stage(
            "offset 0: nothing moves",
            0.5,
            "R @ PE[p] = PE[p] for every p, not for one p only: which matrix changes no vector at all?",
            [_shift(0, 4)],
            lambda rng: [_shift(0, 2 * rng.randint(2, 6))],
            measure="shifted rows",
        ),
        Stage(
            "one pair: a rotation by the offset",
            1,
            "sin(p + k) = sin p cos k + cos p sin k: the factors of sin p and cos p are the first row of R. Then do "
            "the "
            "same for cos(p + k).",
            [_shift(1, 2), _shift(-2, 2)],
            _draw_offsets(2),
            tolerance=1e-3,
            measure="shifted rows",
        ),
        Stage(
            "every pair by its own angle",
            1,
            "Pair i turns by offset / 10000^(2i / d_model): 2 x 2 blocks along the diagonal, 0 everywhere else.",
            [_shift(3, 4), _shift(5, 6), _shift(-7, 8)],
            _draw_offsets(4, 6, 12),
            tolerance=1e-3,
            measure="shifted rows",
        ),
    ],
    [
        Mistake(
            "the sign of the sine is wrong: it goes back in place of forward",
            "Your matrix leads from position p to p - offset (it is the transpose of the wanted one). The plus stands "
            "in "
            "the first row: sin(p + k) = cos k sin p + sin k cos p.",
            lambda offset, d_model: shift_matrix(-offset, d_model),
        ),
        Mistake(
            "it works for one position only",
            "Your matrix takes PE[0] to PE[offset], but not PE[1] to PE[1 + offset]. R must not depend on p: use the "
            "addition formulas of sine and cosine.",
            _only_from_zero,
        ),
        Mistake(
            "every pair turns by the same angle",
            "Each pair has its own speed: the angle of pair i is offset / 10000^(2i / d_model).",
            lambda offset, d_model: _turns(torch.full((d_model // 2,), float(offset), dtype=torch.float64)),
        ),
        Mistake(
            "the factor 2 of the exponent is counted twice",
            "arange(0, d_model, 2) is 2i already; twice that makes the pairs turn too slowly.",
            lambda offset, d_model: _turns(offset * _speeds(d_model) ** 2),
        ),
        Mistake(
            "the factor 2 of the exponent is missing",
            "Pair number i turns by offset / 10000^(2i / d_model), not by offset / 10000^(i / d_model).",
            lambda offset, d_model: _turns(offset * _speeds(d_model) ** 0.5),
        ),
        Mistake(
            "both sines have a plus",
            "cos(p + k) = cos p cos k - sin p sin k has a minus. Without it the matrix is no rotation and changes "
            "lengths.",
            lambda offset, d_model: _turns(offset * _speeds(d_model), (1.0, 1.0)),
        ),
        Mistake(
            "only the cosines, on the diagonal",
            "sin(p + k) needs cos p as well as sin p: the sine of the offset stands beside the diagonal.",
            lambda offset, d_model: _turns(offset * _speeds(d_model), (0.0, 0.0)),
        ),
        Mistake(
            "pairs from the two halves",
            "In our table sine and cosine of one pair are neighbours, so the 2 x 2 blocks stand along the diagonal.",
            _halves_turned,
        ),
        Mistake(
            "the columns are shifted in place of the positions",
            "This matrix moves the numbers of one vector to other columns. The offset moves the position: each pair "
            "turns.",
            _rolled_columns,
        ),
    ],
)


# --- LearnedPositions -------------------------------------------------------------------------------------------------


class LearnedPositions(nn.Module):
    table: Tensor

    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] > len(self.table):
            raise ValueError(f"{x.shape[1]} tokens, but the table has {len(self.table)} positions")
        return x + self.table[: x.shape[1]]


class _NeverTrains(LearnedPositions):
    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        super().__init__(max_len, d_model, torch.randn(max_len, d_model) if fixed is None else fixed)


class _AlwaysTrains(LearnedPositions):
    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        super().__init__(max_len, d_model)
        if fixed is not None:
            self.table.data = fixed


class _FixedIsIgnored(LearnedPositions):
    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        super().__init__(max_len, d_model)


class _PlainTensor(LearnedPositions):
    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        nn.Module.__init__(self)
        self.table = torch.randn(max_len, d_model) if fixed is None else fixed


class _AlongTheBatch(LearnedPositions):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] > len(self.table):
            raise ValueError("too long")
        return x + self.table[: x.shape[0]].unsqueeze(1)


class _NotCut(LearnedPositions):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] > len(self.table):
            raise ValueError("too long")
        return x + self.table


class _NotRefused(LearnedPositions):
    def forward(self, x: Tensor) -> Tensor:
        return x + self.table[: x.shape[1]]


class _CountedAgain(LearnedPositions):
    def forward(self, x: Tensor) -> Tensor:
        return x + self.table[torch.arange(x.shape[1]) % len(self.table)]


class _LastRowAgain(LearnedPositions):
    def forward(self, x: Tensor) -> Tensor:
        return x + self.table[torch.arange(x.shape[1]).clamp(max=len(self.table) - 1)]


class _CutOff(LearnedPositions):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).detach()


class _Called(LearnedPositions):
    """Keeps a table under another name, and works otherwise."""

    name = "pe"

    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        nn.Module.__init__(self)
        if fixed is None:
            self.register_parameter(self.name, nn.Parameter(torch.randn(max_len, d_model)))
        else:
            self.register_buffer(self.name, fixed)

    def forward(self, x: Tensor) -> Tensor:
        table: Tensor = next(iter(self.state_dict(keep_vars=True).values()))
        if x.shape[1] > len(table):
            raise ValueError("too long")
        return x + table[: x.shape[1]]


class _Embedded(_Called):
    name = "table"

    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        nn.Module.__init__(self)
        table = nn.Embedding(max_len, d_model) if fixed is None else nn.Embedding.from_pretrained(fixed)
        self.add_module(self.name, table)


class _AnotherName(_Embedded):
    name = "embedding"


class _Exchanged(LearnedPositions):
    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        super().__init__(d_model, max_len, fixed)


def _built(max_len: int, d: int) -> Ask:
    return Ask(build={"max_len": max_len, "d_model": d}, take="parameters")


def _built_fixed(max_len: int, d: int) -> Ask:
    table = sinusoidal_encoding(max_len, d)
    return Ask(build={"max_len": max_len, "d_model": d, "fixed": table}, take="parameters")


def _trained(max_len: int, d: int) -> Ask:
    """Returns a question that looks at which numbers a gradient reaches, for sentences of all places."""
    return Ask((max_len, d), take="learns", then=(torch.zeros(2, max_len, d),))


def _learned(b: int, n: int, d: int, max_len: int, seed: int) -> Ask:
    table = _numbers(max_len, d, seed=seed + 1)
    return Ask((_numbers(b, n, d, seed=seed),), build={"max_len": max_len, "d_model": d}, weights={"table": table})


def _fixed(b: int, n: int, d: int, max_len: int, seed: int) -> Ask:
    table = _numbers(max_len, d, seed=seed + 1)
    return Ask((_numbers(b, n, d, seed=seed),), build={"max_len": max_len, "d_model": d, "fixed": table})


def _draw_sizes(make: Any) -> Any:
    return lambda rng: [make(rng.randint(8, 20), 2 * rng.randint(1, 3))]


def _draw_calls(rng: random.Random) -> list[Ask]:
    n, seed = rng.randint(3, 5), rng.randrange(10**6)
    return [_learned(2, n, 4, n, seed), _learned(n, n, 4, n + 2, seed), _fixed(2, n, 2, n + rng.randint(1, 3), seed)]


def _draw_too_long(rng: random.Random) -> list[Ask]:
    max_len, seed = rng.randint(3, 5), rng.randrange(10**6)
    return [_learned(2, max_len + extra, 2, max_len, seed) for extra in (1, rng.randint(2, 4))]


LEARNED_POSITIONS = Exercise(
    LearnedPositions,
    [
        Stage(
            "max_len x d_model trainable numbers in `table`",
            0.5,
            "Print [(name, p.shape) for name, p in LearnedPositions(10, 4).named_parameters()]: expect one parameter "
            "of shape (10, 4) called table. What makes a tensor trainable is nn.Parameter.",
            [_built(10, 4)],
            _draw_sizes(_built),
            view="parameters",
        ),
        Stage(
            "a fixed table: nothing to train",
            0.5,
            "A sinusoidal table is computed, not learned: it is a buffer (register_buffer), and .parameters() must be "
            "empty.",
            [_built_fixed(6, 4)],
            _draw_sizes(_built_fixed),
            view="parameters",
        ),
        Stage(
            "added to the words",
            1,
            "As in add_positions: x plus the first n rows of the table, along the words.",
            [_learned(2, 3, 2, 3, 1), _learned(3, 3, 2, 5, 2), _fixed(2, 3, 2, 4, 3)],
            _draw_calls,
        ),
        Stage(
            "training reaches the table",
            0.5,
            "A loss must send a gradient through the result to self.table: add self.table itself, not a copy.",
            [_trained(10, 4)],
            _draw_sizes(_trained),
        ),
        Stage(
            "longer than the table: a ValueError",
            0.5,
            "There is no row for word max_len. Compare x.shape[1] with max_len before adding and raise ValueError.",
            [_learned(1, 4, 2, 3, 4), _learned(2, 5, 2, 3, 5)],
            _draw_too_long,
            raises="ValueError",
        ),
    ],
    [
        Mistake(
            "the learned table is a buffer",
            "A buffer is saved with the model but never trained. Positions that shall be learned need nn.Parameter.",
            _NeverTrains,
        ),
        Mistake(
            "the fixed table is counted as trainable",
            "The sinusoidal table is the same before and after training: it has 0 trainable numbers. Use "
            "register_buffer, "
            "not nn.Parameter.",
            _AlwaysTrains,
        ),
        Mistake(
            "the fixed table is not used",
            "When `fixed` is given, it is the table, as it stands, and nothing is learned.",
            _FixedIsIgnored,
        ),
        Mistake(
            "the table is a plain tensor",
            "self.table = torch.randn(...) is invisible to the optimizer, to .to(device) and to checkpoints. Wrap it: "
            "nn.Parameter(...), or register_buffer for a fixed one.",
            _PlainTensor,
        ),
        Mistake(
            "the table has another name",
            "The checks load a table by its name: the only parameter must be called `table` (with nn.Embedding it "
            "would be "
            "`something.weight`).",
            _AnotherName,
        ),
        Mistake(
            "the table has another name: pe",
            "The checks load a table by its name: the only parameter, or buffer when `fixed` is given, must be called "
            "`table`.",
            _Called,
        ),
        Mistake(
            "the table is an nn.Embedding",
            "An nn.Embedding is a module with a parameter `weight`, here called `table.weight`. The table itself must "
            "be the parameter `table`: nn.Parameter(torch.randn(max_len, d_model)).",
            _Embedded,
        ),
        Mistake(
            "training does not reach the table",
            "`.data`, `.detach()` and torch.no_grad() cut the result off from the table: it is a parameter, but no "
            "step of training would change it. Add self.table itself.",
            _CutOff,
        ),
        Mistake(
            "rows and columns of the table are exchanged",
            "One row for each position: the table is (max_len, d_model).",
            _Exchanged,
        ),
        Mistake(
            "positions are added along the batch axis",
            "All words of a sentence get the same position here. Row j belongs to x[:, j].",
            _AlongTheBatch,
        ),
        Mistake(
            "the table is not cut to the length",
            "A sentence of n words needs the first n rows: self.table[:x.shape[1]].",
            _NotCut,
        ),
        Mistake(
            "too long a sentence is not refused clearly",
            "Without a rule, torch stops with an error on shapes that names neither positions nor max_len. Compare "
            "x.shape[1] with the table's length yourself and raise ValueError.",
            _NotRefused,
        ),
        Mistake(
            "positions beyond the table start again at 0",
            "With a remainder, word max_len silently looks like word 0, and the model is fooled. Raise ValueError.",
            _CountedAgain,
        ),
        Mistake(
            "positions beyond the table repeat the last row",
            "Then the model cannot tell the late words apart, and nobody is told. Raise ValueError.",
            _LastRowAgain,
        ),
    ],
)


# --- alibi_bias -------------------------------------------------------------------------------------------------------


def alibi_bias(n_heads: int, size: int) -> Tensor:
    return _sloped(_slopes(n_heads), size)


def _slopes(n_heads: int) -> Tensor:
    return 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)


def _distances(size: int) -> Tensor:
    return (torch.arange(size).unsqueeze(1) - torch.arange(size)).float()


def _sloped(slopes: Tensor, size: int, future: float | None = -INF) -> Tensor:
    """Returns minus slope times distance; above the diagonal `future`, or for None the same formula."""
    bias = -slopes.view(-1, 1, 1) * _distances(size)
    return bias if future is None else bias.masked_fill(_distances(size) < 0, future)


def _draw_heads(*counts: int) -> Any:
    return lambda rng: [Ask((count, rng.randint(4, 9))) for count in counts]


ALIBI_BIAS = Exercise(
    alibi_bias,
    [
        Stage(
            "a floating point tensor of shape (n_heads, size, size)",
            0.5,
            "One square for each head.",
            [Ask((8, 3))],
            _draw_heads(8, 4),
            view="shape",
        ),
        Stage(
            "the first row of each head: the future is blocked",
            0.5,
            "Token 0 sees only itself: 0 for it, -inf for all the others, in every head.",
            [Ask((8, 4))],
            _draw_heads(8, 2),
            view="first row",
        ),
        Stage(
            "8 heads: slopes 1/2, 1/4, ..., 1/256",
            1,
            "In head 0 the last row reads ..., -1, -1/2, 0: minus half a point for each step back.",
            [Ask((8, 4))],
            _draw_heads(8),
        ),
        Stage(
            "any number of heads",
            1,
            "Head k (from 0) of h heads has the slope 2^(-8 (k + 1) / h): with 2 heads 1/16 and 1/256.",
            [Ask((2, 3)), Ask((4, 5)), Ask((16, 2))],
            _draw_heads(1, 2, 4, 16),
        ),
    ],
    [
        Mistake(
            "the slopes are positive",
            "Your bias rewards distance: the farther a word, the higher its score. It must be minus slope times "
            "distance.",
            lambda n_heads, size: _sloped(-_slopes(n_heads), size),
        ),
        Mistake(
            "symmetric: the future is not blocked",
            "-slope * |i - j| lets a token see the future as well as the past. Here the bias holds the causal mask "
            "too: "
            "-inf where j > i.",
            lambda n_heads, size: -_slopes(n_heads).view(-1, 1, 1) * _distances(size).abs(),
        ),
        Mistake(
            "the future is rewarded",
            "For j > i the distance i - j is negative, and minus slope times it is a bonus. Put -inf there.",
            lambda n_heads, size: _sloped(_slopes(n_heads), size, None),
        ),
        Mistake(
            "the future has a bias of 0",
            "0 is the best score there is, and the future gets it. Put -inf where j > i.",
            lambda n_heads, size: _sloped(_slopes(n_heads), size, 0.0),
        ),
        Mistake(
            "the past is blocked in place of the future",
            "Row i is the token that looks: -inf belongs above the diagonal, where j > i.",
            lambda n_heads, size: _sloped(_slopes(n_heads), size).transpose(1, 2),
        ),
        Mistake(
            "the slopes halve from head to head, whatever the number of heads",
            "That is right for 8 heads. In general the factor is 2^(-8 / h), so that the last slope is always 1/256.",
            lambda n_heads, size: _sloped(2.0 ** -torch.arange(1, n_heads + 1), size),
        ),
        Mistake(
            "the first slope is 1",
            "Head 0 has the slope 2^(-8 / h), not 2^0: the exponents run from 1 to h.",
            lambda n_heads, size: _sloped(2.0 ** (-8 * torch.arange(n_heads) / n_heads), size),
        ),
        Mistake(
            "the slopes go down in equal steps",
            "Slopes are geometric: each is the one before times the same factor. So some heads look near and others "
            "far.",
            lambda n_heads, size: _sloped(torch.arange(n_heads, 0, -1) / n_heads, size),
        ),
        Mistake(
            "the heads stand in the opposite order",
            "Head 0 has the steepest slope and looks nearest; the last one has 1/256.",
            lambda n_heads, size: _sloped(_slopes(n_heads).flip(0), size),
        ),
        Mistake(
            "the distance is squared",
            "ALiBi is linear: each step back costs the same.",
            lambda n_heads, size: (
                -_slopes(n_heads).view(-1, 1, 1) * _distances(size) ** 2 + _sloped(torch.zeros(1), size)
            ),
        ),
    ],
)


# --- rotary -----------------------------------------------------------------------------------------------------------


def rotary(x: Tensor, positions: Tensor) -> Tensor:
    return _rotated(x, positions)


def _turned(x: Tensor, angles: Tensor, signs: tuple[float, float] = (-1.0, 1.0)) -> Tensor:
    even, odd = x[..., 0::2], x[..., 1::2]
    first = even * angles.cos() + signs[0] * odd * angles.sin()
    second = signs[1] * even * angles.sin() + odd * angles.cos()
    return torch.stack([first, second], dim=-1).flatten(-2)


def _angles(x: Tensor, positions: Tensor) -> Tensor:
    return (positions.double().unsqueeze(1) * _speeds(x.shape[-1])).float()  # (n, d/2)


def _rotated(x: Tensor, positions: Tensor, parts: str = "qk", **options: Any) -> Tensor:
    """Returns x with the parts named (queries, keys, values) turned."""
    angles = _angles(x, positions)
    pairs = zip("qkv", x, strict=True)
    return torch.stack([_turned(part, angles, **options) if name in parts else part for name, part in pairs])


def _rotated_at_speeds(power: float) -> Callable[[Tensor, Tensor], Tensor]:
    """Returns a `rotary` whose speeds are a power of the right ones."""

    def answer(x: Tensor, positions: Tensor) -> Tensor:
        angles = (positions.double().unsqueeze(1) * _speeds(x.shape[-1]) ** power).float()
        return torch.stack([_turned(x[0], angles), _turned(x[1], angles), x[2]])

    return answer


def _first_half_overwritten(x: Tensor, positions: Tensor) -> Tensor:
    angles, turned = _angles(x, positions), x.clone()
    even, odd = turned[:2, ..., 0::2], turned[:2, ..., 1::2]
    even.copy_(even * angles.cos() - odd * angles.sin())
    odd.copy_(even * angles.sin() + odd * angles.cos())
    return turned


def _not_side_by_side(x: Tensor, positions: Tensor) -> Tensor:
    turned = _rotated(x, positions)
    return torch.cat([torch.cat([turned[:2, ..., 0::2], turned[:2, ..., 1::2]], dim=-1), x[2:]])


def _rotated_halves(x: Tensor, positions: Tensor) -> Tensor:
    order = torch.arange(x.shape[-1]).view(2, -1).T.flatten()  # 0, d/2, 1, d/2 + 1, ...
    return _rotated(x[..., order], positions)[..., order.argsort()]


def _rotated_alike(x: Tensor, positions: Tensor) -> Tensor:
    angles = positions.float().unsqueeze(1).expand(-1, x.shape[-1] // 2)
    return torch.stack([_turned(x[0], angles), _turned(x[1], angles), x[2]])


def _rotated_by_head(x: Tensor, positions: Tensor) -> Tensor:
    angles = _angles(x, positions).unsqueeze(1)  # (n, 1, d/2): along the heads
    return torch.stack([_turned(x[0], angles), _turned(x[1], angles), x[2]])


def _sinusoids_added(x: Tensor, positions: Tensor) -> Tensor:
    angles = _angles(x, positions)
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return torch.stack([x[0] + table, x[1] + table, x[2]])


def _qkv(b: int, h: int, n: int, d: int, seed: int) -> Tensor:
    return _numbers(3, b, h, n, d, seed=seed)


def _places(n: int, rng: random.Random) -> Tensor:
    """Returns different places, not in order."""
    while True:
        places = rng.sample(range(1, 1 + 3 * n), n)
        if places != sorted(places):
            return torch.tensor(places)


def _draw_rotary(*sizes: tuple[int, int, int, int]) -> Any:
    def draw(rng: random.Random) -> list[Ask]:
        return [Ask((_qkv(b, h, n, d, rng.randrange(10**6)), _places(n, rng))) for b, h, n, d in sizes]

    return draw


def _equal_rows(b: int, h: int, n: int, d: int) -> Tensor:
    """Returns the same vector at every place, with equal numbers: its scores do not depend on how pairs are chosen."""
    return torch.ones(3, b, h, n, d)


def _draw_distances(rng: random.Random) -> list[Ask]:
    places, step = _places(4, rng), rng.randint(20, 60)
    places[rng.randrange(4)] += 40  # so far away that the slow pairs count too
    x = _equal_rows(1, 2, 4, 2 * rng.randint(2, 4))
    return [Ask((x, places)), Ask((x, places + step))]


ROTARY = Exercise(
    rotary,
    [
        Stage(
            "the shape of x",
            0.5,
            "Turning changes numbers, not the shape: queries, keys and values come back in one tensor (3, b, h, n, d).",
            [Ask((_qkv(1, 2, 2, 4, 1), torch.tensor([3, 1])))],
            _draw_rotary((2, 3, 3, 4)),
            view="shape",
        ),
        Stage(
            "at position 0 nothing moves",
            0.5,
            "An angle of 0 has cosine 1 and sine 0: every pair stays as it is. Do you use the positions you are given?",
            [Ask((_qkv(1, 2, 2, 4, 2), torch.tensor([0, 0])))],
            lambda rng: [Ask((_qkv(1, 2, 4, 6, rng.randrange(10**6)), torch.tensor([0, 0, 0, 0])))],
        ),
        Stage(
            "the score depends on the distance only",
            1,
            "The same vector stands at every place. Turned by its position as query and as key, its score may depend "
            "on nothing but the difference of the two positions; the values must stay. Look at the speed as well: pair "
            "i turns by p / 10000^(2i / d).",
            [
                Ask((_equal_rows(1, 2, 3, 4), torch.tensor([3, 0, 41]))),
                Ask((_equal_rows(1, 2, 3, 4), torch.tensor([53, 50, 91]))),
            ],
            _draw_distances,
            measure="scores",
            tolerance=1e-3,
        ),
        Stage(
            "every number",
            1,
            "Neighbours (0, 1), (2, 3), ... are the pairs; pair i at position p turns by p / 10000^(2i / d): "
            "(a, b) becomes (a cos - b sin, a sin + b cos).",
            [
                Ask((_qkv(1, 1, 2, 2, 3), torch.tensor([1, 2]))),
                Ask((_qkv(2, 1, 3, 4, 4), torch.tensor([2, 0, 7]))),
                Ask((_qkv(1, 2, 2, 6, 5), torch.tensor([5, 4]))),
            ],
            _draw_rotary((1, 1, 3, 2), (2, 2, 5, 4), (2, 4, 4, 8)),
            tolerance=1e-3,
        ),
    ],
    [
        Mistake(
            "the values are turned too",
            "Only queries and keys are turned: their score then depends on the distance. A turned value would carry "
            "its "
            "absolute position into the output. x[2] comes back as it is.",
            lambda x, positions: _rotated(x, positions, "qkv"),
        ),
        Mistake(
            "pairs from the two halves",
            "You pair number i with number i + d/2. Some published models do that; ours pairs neighbours: (0, 1), (2, "
            "3), ... "
            "Weights trained with one convention do not work with the other.",
            _rotated_halves,
        ),
        Mistake(
            "turned backwards",
            "The angles have the wrong sign: (a, b) becomes (a cos - b sin, a sin + b cos).",
            lambda x, positions: _rotated(x, -positions),
        ),
        Mistake(
            "both sines have a plus",
            "Without the minus this is no rotation: lengths change, and the score depends on the positions themselves.",
            lambda x, positions: _rotated(x, positions, signs=(1.0, 1.0)),
        ),
        Mistake(
            "every pair turns at the same speed",
            "Pair i turns by p / 10000^(2i / d). With one speed for all, positions one turn apart look alike.",
            _rotated_alike,
        ),
        Mistake(
            "only the first pair is turned",
            "Every pair of numbers turns, pair number i by p / 10000^(2i / d).",
            _rotated_at_speeds(math.inf),  # the first speed is 1, the others are below it
        ),
        Mistake(
            "the factor 2 of the exponent is counted twice",
            "arange(0, d, 2) is 2i already; twice that makes the pairs turn too slowly: p / 10000^(2i / d).",
            _rotated_at_speeds(2),
        ),
        Mistake(
            "the factor 2 of the exponent is missing",
            "Pair number i turns by p / 10000^(2i / d), not by p / 10000^(i / d).",
            _rotated_at_speeds(0.5),
        ),
        Mistake(
            "the second number of a pair is made from the new first one",
            "x[..., 0::2] is a view: once the first results are written into it, the old numbers are lost. Work out "
            "both results before you write either.",
            _first_half_overwritten,
        ),
        Mistake(
            "the turned pairs are not put back side by side",
            "cat puts all first numbers before all second ones. The two numbers of pair i stand in columns 2i and "
            "2i + 1: torch.stack([first, second], dim=-1).flatten(-2).",
            _not_side_by_side,
        ),
        Mistake(
            "0, 1, 2, ... in place of the given positions",
            "The token in row r stands at positions[r], which need not be r: think of the second half of a text.",
            lambda x, positions: _rotated(x, torch.arange(len(positions))),
        ),
        Mistake(
            "only the queries are turned",
            "Then the score depends on the position of the query, not on the distance. Turn the keys x[1] as well.",
            lambda x, positions: _rotated(x, positions, "q"),
        ),
        Mistake(
            "only the keys are turned",
            "Then the score depends on the position of the key, not on the distance. Turn the queries x[0] as well.",
            lambda x, positions: _rotated(x, positions, "k"),
        ),
        Mistake(
            "the positions run along the heads",
            "The angles are (n, d/2), and torch lines them up from the end with (b, h, n, d/2): they need no extra "
            "axis.",
            _rotated_by_head,
        ),
        Mistake(
            "sinusoids are added in place of turning",
            "That is the encoding of section 3, on queries and keys. Rotary positions multiply: each pair is turned.",
            _sinusoids_added,
        ),
    ],
)

EXERCISES = [
    ORDER_BLINDNESS,
    SINUSOIDAL_ENCODING,
    ADD_POSITIONS,
    SHIFT_MATRIX,
    LEARNED_POSITIONS,
    ALIBI_BIAS,
    ROTARY,
]
