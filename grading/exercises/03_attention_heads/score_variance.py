"""Exercise score_variance of notebook 03."""

from __future__ import annotations

import sympy

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

D, A = sympy.symbols("D A", positive=True, integer=True)


exercise = Definition(minutes=8, difficulty=1)


@exercise.reference
def score_variance() -> sympy.Expr:
    return D / A


@exercise.stage("one head: the whole width is in the dot product", points=0.5, public=[Question(at={"D": 16, "A": 1})])
def _(rng):
    """First take a single product of two independent numbers of mean 0 and variance 1: its variance is the mean of the
    product's square. A dot product of width D is a sum of D of them, and the variances of independent terms add up. The
    formula has the notebook's own symbols in it, D and A.
    """
    return [Question(at={"D": rng.randint(67, 199), "A": 1})]


@exercise.stage(
    "several heads",
    points=1.5,
    public=[Question(at={"D": 24, "A": 4}), Question(at={"D": 512, "A": 8}), Question(at={"D": 1536, "A": 12})],
    sealed=True,
    decisive=True,
)
def _(rng):
    """How many numbers does the query of ONE head have, when A heads share a width of D?"""
    pairs = [(heads, rng.randint(5, 99)) for heads in rng.sample(range(2, 17), 4)]
    pairs.append((6, rng.randint(400, 500)))  # wider than all others, for every student
    return [Question(at={"D": heads * width, "A": heads}) for heads, width in pairs]


@exercise.mistake("the heads are forgotten")
def _():
    """D is right for a single head. With A heads, a head has only D/A of the numbers, so its dot product has fewer
    terms.
    """
    return D


@exercise.mistake("squared")
def _():
    """Each of the products has variance 1, and variances of independent terms ADD: a sum of w terms has variance w, not
    w squared.
    """
    return (D / A) ** 2


@exercise.mistake("D squared")
def _():
    """Variances add up, they do not multiply; and a head has only D/A of the D numbers."""
    return D**2


@exercise.mistake("the standard deviation in place of the variance")
def _():
    """That is the square root of the variance: the right number to divide the scores by, but the question was the
    variance.
    """
    return sympy.sqrt(D / A)


@exercise.mistake("the scale in place of the variance")
def _():
    """That is what the scores are multiplied with. The question was the variance of the scores before that."""
    return 1 / sympy.sqrt(D / A)


@exercise.mistake("the variance of one product, or of a scaled score")
def _():
    """1 is the variance of a single product, or of a score that has been scaled. Asked is the unscaled one, a sum of
    many products: of how many?
    """
    return sympy.Integer(1)


@exercise.mistake("the variances of all heads are added")
def _():
    """The question is one score of one head, and a head has D/A numbers: divide by A, do not multiply."""
    return D * A
