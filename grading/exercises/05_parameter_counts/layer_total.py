"""Exercise layer_total of notebook 05."""

from __future__ import annotations

from grading.definitions.definition import Definition
from grading.exercises.draws import both
from tutor.checking.answers import Question

from ._common import (
    ATTENTION,
    BLOCK,
    FEED_FORWARD,
    NORMS,
    A,
    D,
    F,
    _draw_edges,
    _draw_points,
    _edges,
    _formula,
    _point,
    layer_total,
)

exercise = Definition(minutes=10, difficulty=1)
exercise.reference(layer_total)


@exercise.stage(
    "F = D: as many as there are squares in the picture",
    points=1,
    public=[Question(at=_point("DFA", D=4)), Question(at=_point("DFA", D=1)), Question(at=_point("DFA", D=7, A=3))],
)
def _(rng):
    """Count the squares of the picture for D = 4, then put D = F = 4 into your formula."""
    return [Question(at=_point("DFA", A=3)), *_draw_points(2, symbols="DFA")(rng)]


@exercise.stage(
    "any F",
    points=1,
    public=[
        Question(at=_point("DFA", F=16)),
        Question(at=_point("DFA", D=200, F=800, A=5)),
        Question(at=_point("DFA", D=20, F=3)),
        *_edges("DFA", any_f=True),
    ],
    sealed=True,
    decisive=True,
)
def _(rng):
    """Add up your sixteen formulas of one layer. F stands in three of them: in both matrices of the feed-forward part,
    and in the bias of the Linear that puts out F numbers. The norms have the width D, whatever F is.
    """
    return both(_draw_points(4, "F", symbols="DFA"), _draw_edges("DFA", any_f=True))(rng)


exercise.mistake(
    "2D of the two norms is missing",
    "At F = D you have 8D in place of 10D. A layer has two norms, and each has a weight and a bias: 4D.",
    _formula(ATTENTION + FEED_FORWARD + 2 * D),
)

exercise.mistake(
    "the biases of the feed-forward part are lost",
    "Both Linears of the feed-forward part have a bias, a number for each output: F for hidden, D for output.",
    _formula(ATTENTION + 2 * D * F + NORMS),
)

exercise.mistake(
    "4D is missing: the norms, or the biases of the attention",
    "Each of the two norms has a weight and a bias of D numbers, and each of the four Linears of the attention "
    "has a bias of D numbers. One of these is not in your formula.",
    _formula(ATTENTION + FEED_FORWARD),
)

exercise.mistake(
    "biases are lost",
    "All six Linears have a bias: one number for each output.",
    _formula(4 * D**2 + 2 * D * F + NORMS),
)

exercise.mistake(
    "all biases are lost, those of the norms too",
    "Six Linears and two norms have a bias each.",
    _formula(4 * D**2 + 2 * D * F + 2 * D),
)

exercise.mistake(
    "only matrices are counted",
    "Biases and norms are small but they are there: at D = 4, count the narrow columns in the picture.",
    _formula(4 * D**2 + 2 * D * F),
)

exercise.mistake(
    "the heads multiply the weights",
    "Heads split the width D among them: with more heads, each gets fewer rows of the same matrices.",
    _formula(A * ATTENTION + FEED_FORWARD + NORMS),
)

exercise.mistake(
    "the heads multiply query, key and value",
    "Heads split the width D among them: with more heads, each gets fewer rows of the same matrices.",
    _formula(ATTENTION + FEED_FORWARD + NORMS + 3 * (A - 1) * (D**2 + D)),
)

exercise.mistake(
    "the heads multiply matrices, not biases",
    "Heads split the width D among them: with more heads, each gets fewer rows of the same matrices.",
    _formula(ATTENTION + FEED_FORWARD + NORMS + 4 * (A - 1) * D**2),
)

exercise.mistake(
    "the output projection is lost",
    "Attention has four matrices: query, key, value, and the output that joins the heads.",
    _formula(3 * (D**2 + D) + FEED_FORWARD + NORMS),
)

exercise.mistake(
    "F is taken to be D",
    "Your formula is right at F = D. The feed-forward part has a width of its own: keep F in it.",
    _formula(BLOCK),
)

exercise.mistake(
    "both biases of the feed-forward part have D numbers",
    "hidden puts out F numbers, so its bias has F.",
    _formula(ATTENTION + 2 * D * F + 2 * D + NORMS),
)

exercise.mistake(
    "both biases of the feed-forward part have F numbers",
    "output puts out D numbers, so its bias has D.",
    _formula(ATTENTION + 2 * D * F + 2 * F + NORMS),
)

exercise.mistake(
    "one matrix of the feed-forward part is lost",
    "The feed-forward part goes from D to F and back from F to D: two matrices.",
    _formula(ATTENTION + D * F + F + NORMS),
)
