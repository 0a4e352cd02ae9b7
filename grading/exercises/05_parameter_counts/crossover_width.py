"""Exercise crossover_width of notebook 05."""

from __future__ import annotations

from sympy import Expr

from grading.definitions.exercise import Exercise, Mistake, Stage
from tutor.checking.answers import Ask

from ._common import A, M, V, _formula


def crossover_width() -> Expr:
    return (V - 10 * M) / (6 * M)


def _crossover_point(words: int, layers: int, heads: int = 2) -> Ask:
    return Ask(at={"V": words, "M": layers, "A": heads})


EXERCISE = Exercise(
    crossover_width,
    [
        Stage(
            "one layer: 34 words cross at D = 4",
            0.5,
            "At D = 4 the layer has 136 numbers, and an embedding of 34 words has 34 * 4 = 136 as well.",
            [_crossover_point(34, 1), _crossover_point(64, 1), _crossover_point(13, 1)],
            lambda rng: [
                *(_crossover_point(6 * d + 10, 1, 4) for d in rng.sample(range(3, 60), 2)),
                _crossover_point(rng.randint(11, 15), 1, 4),  # the solution need not be a whole number, nor 1 or more
            ],
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
            decisive=True,
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
    hints=(
        (
            '"As many parameters as": write this as an equation, the embedding on one side, $M$ layers at $F = D$ '
            "on the other. Which factor do all its terms have in common? What remains when both sides are divided by "
            "it, and where is the unknown $D$ then?"
        ),
        (
            "Two layers of width 3: $2 \\cdot (6 \\cdot 9 + 10 \\cdot 3) = 168$ numbers. An embedding with 3 numbers "
            "for each word has as many with 56 words. Now backwards: 56 words and 2 layers are given, and $D$ is "
            "looked for. Divided by $D$, the equation reads $56 = 2 \\cdot (6D + 10) = 12 D + 20$, so $D = 36/12 = "
            "3$. The 20 was taken *off*. Do the same with $V$ and $M$."
        ),
        (
            "The equation, with one bracket left open: $$V D = M \\cdot (\\ldots)$$ with your `layer_total().subs(F, "
            "D)` in the bracket. Divide by $D$, bring what has no $D$ to the other side (mind its sign, and its "
            "$M$), divide by what stands with $D$. Or let `sympy` do it: `sympy.solve(sympy.Eq(..., ...), D)` gives "
            "a list, of which you return what is in it, not the list.\n\n"
            "V and M are left. Test: `crossover_width().subs({V: 56, M: 2})` must be 3, and `{V: 34, M: 1}` gives 4. "
            "The head is not in the equation."
        ),
    ),
)
