"""Exercise layers_to_reach of notebook 13."""

from __future__ import annotations

import random

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

exercise = Definition(minutes=8, difficulty=1)


@exercise.reference
def layers_to_reach(size: int, window: int) -> int:
    return -(-(size - 1) // (window - 1))


@exercise.stage(
    "each layer a full window", points=0.75, public=[Question((9, 3)), Question((13, 4)), Question((16, 4))]
)
def _(rng: random.Random) -> list[Question]:
    """A layer carries a token's news window - 1 positions on, since one position of the window is the token itself.
    They must go from position 0 to position size - 1, and no layer further.
    """
    # Draws an odd and an even number of layers: Python rounds halves to the even number.
    asks = []
    for window, counts in zip(rng.sample([3, 4, 5], 2), ((3, 5, 7), (4, 6)), strict=True):
        layers = rng.choice([other for other in counts if other != window])
        asks.append(Question((layers * (window - 1) + 1, window)))
    return asks


@exercise.stage(
    "with a rest", points=0.5, public=[Question((10, 4)), Question((12, 4)), Question((18, 5))], decisive=True
)
def _(rng: random.Random) -> list[Question]:
    """What is left over needs one more layer: round up."""
    # Draws sizes for which one more layer is needed than half of a rounded quotient would say, and others.
    asks = []
    for window in rng.sample([4, 5, 6], 2):
        layers = rng.randint(3, 6)
        asks += [Question((layers * (window - 1) + 2, window)), Question((layers * (window - 1) + window - 1, window))]
    rng.shuffle(asks)
    return asks


@exercise.stage(
    "one token, a window of two, and one as long as the sentence",
    points=0.5,
    public=[Question((1, 3)), Question((6, 2)), Question((5, 5)), Question((4, 9)), Question((3, 4_000_000))],
)
def _(rng: random.Random) -> list[Question]:
    """One token needs no layer at all. With a window of 2 each layer carries one position on. A window as long as the
    sentence needs one layer.
    """
    size = rng.randint(5, 9)
    return [
        Question((1, rng.randint(2, 5))),
        Question((size, 2)),
        Question((size, size)),
        Question((size, size + 3)),
        Question((2, rng.randint(2, 9) * 1_000_000)),
    ]


@exercise.stage("a large window, hundreds of layers", points=0.25, public=[Question((600, 300)), Question((301, 2))])
def _(rng: random.Random) -> list[Question]:
    """However small the rest is, it needs one more layer. And there may be any number of layers."""
    # Draws a small rest of a large window, and a sentence for which hundreds of layers are needed.
    window = rng.randint(250, 400)
    return [Question((rng.randint(2, 3) * (window - 1) + 2, window)), Question((2 * rng.randint(130, 175) + 2, 2))]


exercise.by_hand(Question((12, 3)))

SIZES = (1, 2, range(33, 40), range(65, 80), range(101, 110), range(321, 330), range(1001, 1100))
WINDOWS = (2, "a few", "one position less", "the sentence", "beyond it")


@exercise.corners("a large window, hundreds of layers", size=SIZES, window=WINDOWS)
def _(rng: random.Random, size: int, window: int | str) -> Question | None:
    """Asks for the products of masks, too, which are slow where a thousand tokens take a thousand layers."""
    few = rng.randint(3, 7) if size < 100 else rng.randint(9, 17)
    known: dict[int | str, int] = {2: 2, "a few": few, "one position less": size - 1, "the sentence": size}
    known["beyond it"] = size + rng.randint(1, 400)
    width = known[window]
    return None if width < 2 or (size > 1000 and width == 2) else Question((size, width))
