"""Exercise repair of notebook 05."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import sympy
from sympy import Expr, Integer, Rational

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

from ._common import A, C, D, L, M, V, _draw_points, _point

RIGHT: dict[str, Expr] = {
    "embedding": V * D,
    "positions": Integer(0),
    "attention": 4 * M * (D**2 + D),
    "feed-forward": 2 * M * (D**2 + D),
    "norms": 4 * M * D,
    "head": C * (D + 1),
}


exercise = Definition(minutes=30, difficulty=2)


@exercise.reference
def repair(claim: dict[str, Expr]) -> tuple[str, Expr]:
    return _wrong_term(claim), _total(RIGHT)


def _total(terms: Mapping[str, Expr]) -> Expr:
    return sum(terms.values(), Integer(0))


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
# Terms that stand in the sum once more, or in other terms: who exchanges them in the sum changes more than one.
IN_THE_SUM: list[tuple[str, Expr]] = [("norms", Integer(0)), ("head", V * D)]
AT_TWO_HEADS = ("attention", 2 * A * M * (D**2 + D))  # right where A = 2, as in the published count
HIDDEN_ERRORS: list[tuple[str, Expr]] = [  # not seen where a size is 1, or where C = V
    ("embedding", M * V * D),
    ("attention", 4 * (D**2 + D)),
    ("attention", 4 * A * M * (D**2 + D)),
    ("norms", 2 * A * M * D),
    ("feed-forward", A * M * (D**2 + D)),
    ("head", C * (D + 1) * L),
    ("head", V * (D + 1)),
    ("head", C * D + 1),
    ("positions", Integer(512)),
    # right at the sizes of the examples only: M = 4 and C = 2, or M = 1 and C = 3; or with one size written out
    ("head", C * D + 2),
    ("head", C * D + 3),
    ("norms", 16 * D),
    ("norms", 800 * M),
    ("norms", 4 * D),
    ("attention", 16 * (D**2 + D)),
    ("feed-forward", 8 * (D**2 + D)),
    ("feed-forward", 2 * M * (D**2 + 200)),
    ("embedding", 200 * V),
    ("embedding", 50_001 * D),
]


def _repairs(*claims: dict[str, Expr]) -> list[Question]:
    return [Question((claim,), at=_point("VDMACL", V=977, D=30, M=6, A=3, C=5)) for claim in claims]


def _draw_repairs(*claims: dict[str, Expr]) -> Draw:
    return lambda rng: _repairs_at_drawn_points(rng, *claims)


def _repairs_at_drawn_points(rng: random.Random, *claims: dict[str, Expr]) -> list[Question]:
    return [Question((claim,), at=_draw_points(1, "C", symbols="VDMACL")(rng)[0].at) for claim in claims]


exercise.add(
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
        for word, claim in (("first", FIRST), ("second", SECOND), ("third", THIRD), ("fourth", FOURTH))
    )
)


def _in_other_form(name: str, term: Expr) -> dict[str, Expr]:
    """A claim whose right terms are written in another form than in the notebook."""
    expanded = {"attention": 4 * M * D * (D + 1), "feed-forward": 2 * M * D**2 + 2 * M * D, "head": C * D + C}
    return RIGHT | expanded | {name: term}


@exercise.stage(
    "right terms in another form are left alone",
    points=0.5,
    public=_repairs(_in_other_form("norms", 2 * M * D), _in_other_form("positions", L * D)),
    sealed=True,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """C*D + C and C*(D + 1) mean the same but are not ==. Compare sympy.expand(difference) with 0."""
    return _draw_repairs(_in_other_form("norms", 2 * M * D), _in_other_form("positions", L * D))(rng)


def _reordered(claim: dict[str, Expr], rng: random.Random) -> dict[str, Expr]:
    """Returns the claim with its terms in another order: what counts are their names."""
    return {name: claim[name] for name in rng.sample(sorted(claim), len(claim))}


@exercise.stage(
    "other wrong counts",
    points=0.5,
    public=_repairs(
        _wrong_claim("embedding", 2 * V * D),
        _reordered(_wrong_claim("feed-forward", 2 * M * D**2), random.Random(1)),
        _reordered(_wrong_claim("norms", M * D), random.Random(2)),
        *(_wrong_claim(name, term) for name, term in [AT_TWO_HEADS, *IN_THE_SUM, *HIDDEN_ERRORS]),
    ),
    sealed=True,
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Any term can be the wrong one, wrong in any way and anywhere in the dict: compare all of them by name with
    the right ones, as formulas and not at one size.
    """
    drawn = [(name, rng.choice(OTHER_ERRORS[name])) for name in rng.sample(sorted(OTHER_ERRORS), 2)]
    errors = [AT_TWO_HEADS, *IN_THE_SUM, *rng.sample(HIDDEN_ERRORS, 6), *drawn]
    return _repairs_at_drawn_points(rng, *(_reordered(_wrong_claim(name, term), rng) for name, term in errors))


@exercise.corners("other wrong counts", name=tuple(RIGHT), by=("one more", "a thousandth more"))
def _(rng: random.Random, name: str, by: str) -> Question:
    """Asks about each term, wrong by very little."""
    term = RIGHT[name] + 1 if by == "one more" else RIGHT[name] * Rational(1001, 1000) + D * int(name == "positions")
    return _repairs_at_drawn_points(rng, _reordered(_wrong_claim(name, term), rng))[0]


@exercise.corners("other wrong counts", name=tuple(RIGHT), heads=(1, 2, 3, 4))
def _(rng: random.Random, name: str, heads: int) -> Question:
    """Asks about each term with a letter in it that the right one has not: right for one number of heads."""
    term = (A - heads) * D if name == "positions" else RIGHT[name] * A / heads
    return _repairs_at_drawn_points(rng, _reordered(_wrong_claim(name, term), rng))[0]


def _wrong_term(claim: Mapping[str, Expr], right: Mapping[str, Expr] = RIGHT) -> Any:
    """Return two values: the name of the wrong term and the corrected total."""
    return next((name for name, term in claim.items() if sympy.expand(term - right[name]) != 0), None)
