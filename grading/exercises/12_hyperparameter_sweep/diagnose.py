"""Exercise diagnose of notebook 12."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import partial

from grading.definitions.definition import Definition, Stage
from grading.exercises.draws import Draw
from tutor.checking.answers import Question

Losses = list[float]


exercise = Definition(minutes=15, difficulty=2)


@exercise.reference
def diagnose(train_loss: Losses, dev_loss: Losses) -> str:
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    if dev_loss[-1] < 0.95 * dev_loss[-2]:
        return "underfits"
    return "fits"


# The first training loss, and 80 % of it: the same to the last bit in whatever way the two are compared.
AT_80_PER_CENT = ((2.9, 2.32), (5.15, 4.12), (5.8, 4.64))


def _falling(start: float, end: float, epochs: int, speed: float) -> Losses:
    """Returns losses that fall from `start` to near `end` (the faster, the larger `speed`)."""
    return [round(end + (start - end) * math.exp(-speed * n), 3) for n in range(epochs)]


def _flat(rng: random.Random) -> tuple[Losses, Losses]:
    """A run that stays at the level of its first epoch; chance moves both losses a little."""
    level, epochs = rng.uniform(2.5, 5), rng.randint(6, 14)
    train, dev = ([round(level * rng.uniform(0.95, 1.02), 3) for _ in range(epochs)] for _ in range(2))
    train[0] = round(level * rng.uniform(1.0, 1.05), 3)
    dev[-1] = round(dev[-2] * rng.uniform(0.985, 1.0), 3)
    return train, dev


def _flat_and_uneven(rng: random.Random) -> tuple[Losses, Losses]:
    """A failed run whose dev loss jumps: at its end it is far above its lowest value."""
    train, dev = _flat(rng)
    dev[len(dev) // 2] = round(0.8 * min(dev), 3)
    return train, dev


def _up_and_down(rng: random.Random) -> tuple[Losses, Losses]:
    """A failed run whose training loss rises first and falls far once, and ends near its first value."""
    train, dev = _flat(rng)
    train[1], train[2] = round(1.4 * train[0], 3), round(0.7 * train[0], 3)
    return train, dev


def _nearly_at_the_limit(rng: random.Random) -> tuple[Losses, Losses]:
    """A failed run that ends at 82 % of its first training loss: it has fallen by a fifth of its last one."""
    first, epochs = rng.uniform(4, 6), rng.randint(6, 9)
    train = [round(first * (1 - 0.18 * n / (epochs - 1)), 3) for n in range(epochs)]
    return train, [round(1.1 * loss, 3) for loss in train]


def _just_above_the_limit(rng: random.Random) -> tuple[Losses, Losses]:
    """A failed run that ends at 80.4 % of its first training loss."""
    first, (train, dev) = rng.uniform(4, 6), _good(rng)
    return [first, *train[1:-1], round(0.804 * first, 3)], dev


def _not_a_number(rng: random.Random) -> tuple[Losses, Losses]:
    epochs, broken = rng.randint(6, 12), rng.randint(2, 4)
    train, dev = _falling(5, 1, epochs, 0.4), _falling(4.5, 1.2, epochs, 0.4)
    return train[:-broken] + [math.nan] * broken, dev[:-broken] + [math.nan] * broken


def _not_a_number_in_training(rng: random.Random) -> tuple[Losses, Losses]:
    """The training loss breaks in the last epoch, in which the dev loss is measured before the weights break."""
    train, dev = _good(rng)
    return [*train[:-1], math.nan], dev


def _good(rng: random.Random) -> tuple[Losses, Losses]:
    """Both have fallen and lie flat; there is a gap, and the dev loss is a little above its lowest."""
    epochs, low = rng.randint(12, 16), rng.uniform(0.5, 1)
    train = _falling(rng.uniform(4, 5), low * 0.7, epochs, 0.6)
    dev = _falling(rng.uniform(4, 5), low, epochs, 0.7)
    return train, [*dev[:-2], round(dev[-3] * 1.005, 3), round(dev[-3] * rng.uniform(1.02, 1.04), 3)]


def _good_and_quiet(rng: random.Random) -> tuple[Losses, Losses]:
    """Both fall a little to the very end, by less than 5 % in an epoch."""
    train, dev = _good(rng)
    return train, [*dev[:-2], round(dev[-3] * 0.995, 3), round(dev[-3] * rng.uniform(0.975, 0.985), 3)]


def _good_and_eager(rng: random.Random) -> tuple[Losses, Losses]:
    """The training loss still falls by more than 10 % in an epoch, the dev loss has nothing more to gain."""
    _, dev = _good(rng)
    speed = rng.uniform(0.14, 0.18)
    return [round(4.5 * math.exp(-speed * n), 3) for n in range(len(dev))], dev


def _good_and_high(rng: random.Random, last: float) -> tuple[Losses, Losses]:
    """A run with losses near 4, where a few per cent are much: the last dev loss is `last` times the one before."""
    epochs, low = rng.randint(9, 12), rng.uniform(3.8, 4.2)
    train, dev = _falling(8, low * 0.9, epochs, 0.7), _falling(8.5, low, epochs, 1.0)
    return train, [*dev[:-1], round(dev[-2] * last, 3)]


def _good_after_a_drop(rng: random.Random) -> tuple[Losses, Losses]:
    """The dev loss falls far in the last epoch but one, and by less than 5 % in the last."""
    train, dev = _good(rng)
    return train, [*dev[:-2], round(0.7 * min(dev[:-2]), 3), round(0.7 * min(dev[:-2]) * rng.uniform(0.97, 0.98), 3)]


def _good_after_a_bump(rng: random.Random) -> tuple[Losses, Losses]:
    """The dev loss was 16 % above its lowest, and has come back to less than 10 % above it."""
    train, dev = _good(rng)
    lowest = min(dev[:-4])
    return train, [
        *dev[:-4],
        *(round(lowest * factor * rng.uniform(0.995, 1.005), 3) for factor in (1.0, 1.16, 1.11, 1.07)),
    ]


def _good_at_the_limit(rng: random.Random) -> tuple[Losses, Losses]:
    """The training loss has fallen to exactly 80 % of its first value."""
    (first, last), (_, dev) = rng.choice(AT_80_PER_CENT), _good(rng)
    between = sorted((round(rng.uniform(last, first), 2) for _ in dev[1:-1]), reverse=True)
    return [first, *between, last], dev


def _bent(rng: random.Random, rise: float, lowest: tuple[float, float] = (0.8, 1.2)) -> tuple[Losses, Losses]:
    """The training loss falls to nearly nothing, the dev loss falls and rises again to `rise` times its lowest."""
    down, up = rng.randint(4, 6), rng.randint(5, 8)
    low = rng.uniform(*lowest)
    dev = _falling(rng.uniform(4, 5), low, down, 1.0)
    dev += [round(dev[-1] * (1 + (rise - 1) * (n + 1) / up), 3) for n in range(up)]
    return _falling(5, 0.02, down + up, rng.uniform(0.4, 0.6)), dev


def _both_turn(rng: random.Random) -> tuple[Losses, Losses]:
    """The training loss rises a little, too, from the epoch on in which the dev loss turns."""
    train, dev = _bent(rng, rng.uniform(1.5, 2.0))
    best = dev.index(min(dev))
    return [*train[: best + 1], *(round(train[best] * (1 + 0.05 * n), 3) for n in range(1, len(dev) - best))], dev


def _bent_and_falling(rng: random.Random) -> tuple[Losses, Losses]:
    """The dev loss has doubled and falls again, by more than 5 %; it is still far above its lowest."""
    train, dev = _bent(rng, 2.0)
    return [*train, train[-1]], [*dev, round(dev[-1] * rng.uniform(0.82, 0.88), 3)]


def _from_the_first_on(rng: random.Random) -> tuple[Losses, Losses]:
    """The dev loss is at its lowest after the first epoch, jumps, and creeps up to less than 10 % above the second."""
    epochs, low = rng.randint(5, 8), rng.uniform(2.5, 3.5)
    ends = low * rng.uniform(1.055, 1.065), low * rng.uniform(1.135, 1.145)
    rising = [ends[0] + (ends[1] - ends[0]) * n / (epochs - 2) for n in range(epochs - 1)]
    return _falling(5, 0.5, epochs, 0.6), [round(loss, 3) for loss in (low, *rising)]


def _jump(rng: random.Random) -> tuple[Losses, Losses]:
    """The dev loss is at its lowest until the last epoch; the training loss is not low."""
    epochs, low = rng.randint(8, 12), rng.uniform(2.6, 3.0)
    dev = _falling(rng.uniform(5, 6), low, epochs, 0.8)
    return _falling(6, low * 0.8, epochs, 0.6), [*dev[:-1], round(dev[-2] * rng.uniform(1.25, 1.35), 3)]


def _dip(rng: random.Random) -> tuple[Losses, Losses]:
    """The dev loss has risen a little and falls again by more than 5 %, to just above its lowest."""
    train, dev = _unfinished(rng)
    lowest = dev[-1]
    return [*train, train[-1], train[-1]], [
        *dev,
        round(lowest * rng.uniform(1.075, 1.085), 3),
        round(lowest * rng.uniform(1.005, 1.015), 3),
    ]


def _not_a_number_between(rng: random.Random) -> tuple[Losses, Losses]:
    """One epoch's training loss was no number; the run has gone on and fallen."""
    train, dev = _good(rng)
    place = rng.randint(1, len(train) - 2)
    return [*train[:place], math.nan, *train[place + 1 :]], dev


def _three_epochs(rng: random.Random) -> tuple[Losses, Losses]:
    """The shortest run, whose dev loss turns."""
    low = rng.uniform(0.5, 3)
    return [5.0, round(1.1 * low, 3), low], [5.5, round(1.1 * low, 3), round(rng.uniform(1.3, 1.5) * low, 3)]


def _unfinished(rng: random.Random) -> tuple[Losses, Losses]:
    epochs, speed = rng.randint(5, 9), rng.uniform(0.15, 0.2)
    train = [round(5 * math.exp(-speed * n), 3) for n in range(epochs)]
    return train, [round(1.15 * loss, 3) for loss in train]


Curves = Callable[[random.Random], tuple[Losses, Losses]]


def _curves(*kinds: Curves) -> tuple[list[Question], Draw]:
    def draw(rng: random.Random) -> list[Question]:
        return [Question(kind(rng)) for kind in kinds]

    return draw(random.Random(63)), draw


def _long_runs() -> list[Question]:
    """Returns runs of 200 epochs: one that fits, and one whose dev loss turns after 150 of them."""
    falling = [1 + 3 * 0.97**epoch for epoch in range(200)]
    turning = [loss if epoch < 150 else loss + 0.02 * (epoch - 149) for epoch, loss in enumerate(falling)]
    return [Question((falling, [loss + 0.05 for loss in falling])), Question((falling, turning))]


exercise.add(
    Stage(
        "a flat training loss fails to train",
        0.5,
        "Look at the training loss first, its last value beside its first one. While it has not fallen, the model has "
        "learned next to nothing, and what the dev loss does is of no interest.",
        *_curves(_flat, _flat_and_uneven, _up_and_down, _nearly_at_the_limit, _just_above_the_limit),
        decisive=True,
    ),
    Stage(
        "a dev loss that turns upwards overfits",
        0.5,
        "Compare the last dev loss with the lowest of the run, not with the first one or with the training loss, and "
        "do so before you ask whether it still falls.",
        *_curves(
            *(partial(_bent, rise=rise) for rise in (1.6, 1.3, 4.5)),
            partial(_bent, rise=1.103, lowest=(1.5, 2.0)),  # 10.3 % above the lowest, which is 9.3 % below it
            _bent_and_falling,
            _both_turn,
            _jump,
            _three_epochs,
            _from_the_first_on,
        ),
    ),
    Stage(
        "a dev loss that still falls underfits",
        0.5,
        "Compare the last dev loss with the one before: is it lower by more than 5 % of that, however small the losses "
        "are?",
        *_curves(_unfinished, _unfinished, _dip, partial(_good_and_high, last=0.947)),
    ),
    Stage(
        "a run that is as it should be fits",
        0.5,
        "It has trained if the last training loss is at most 80 % of the first: exactly 80 % too. A gap between the "
        "two losses is usual, and a dev loss moves a little by chance. Overfitting begins 10 % above its lowest; it "
        "still falls, and underfits, when it is more than 5 % below the one before.",
        *_curves(
            _good,
            _good_and_quiet,
            _good_after_a_drop,
            _good_after_a_bump,
            _good_and_eager,
            partial(_good_and_high, last=1.06),
            partial(_good_and_high, last=0.97),
            # the one before is more than 5 % above the last, which is less than 5 % below the one before
            partial(_good_and_high, last=0.951),
            _good_at_the_limit,
        ),
    ),
    Stage(
        "a training loss that is no number",
        2,
        "With NaN, every comparison is False, also nan > 1. Ask whether the last training loss is at most 80 % "
        "of the "
        "first, not whether it is high; what happened in between does not count.",
        *_curves(_not_a_number, _not_a_number_in_training, _not_a_number_between),
    ),
)


exercise.large += [*_long_runs()]


def _by(
    rng: random.Random, epochs: int, scale: float, *, train: float = 0.3, rise: float = 1.0, fall: float = 1.0
) -> Question:
    """Returns a run: the training loss ends at `train` of its first value, the dev loss at `rise` times its lowest,

    or, where `rise` is 1, at its lowest, which is `fall` times the loss before.
    """
    low = rng.uniform(1, 1.5) * scale
    first = 5 * scale
    train_loss = [first - (first - train * first) * n / (epochs - 1) for n in range(epochs)]
    falling = [low * (1 + 2 * 0.6**n) if fall == 1 else 3 * low for n in range(epochs - 2)]
    dev_loss = [*falling[: epochs - 2], low, rise * low] if fall == 1 else [*falling, low, fall * low]
    return Question((train_loss, dev_loss))


EPOCHS, SCALES = (3, range(33, 36), range(301, 304)), (0.001, 1.0, 1000.0)  # a loss may be of any size


@exercise.corners("a dev loss that turns upwards overfits", epochs=EPOCHS, rise=(1.102, 1.15), scale=SCALES)
def _(rng: random.Random, epochs: int, rise: float, scale: float) -> Question:
    """Asks just above 10 %, in the third digit; what is exactly at the limit rounding would decide."""
    return _by(rng, epochs, scale, rise=rise)


@exercise.corners("a dev loss that still falls underfits", epochs=EPOCHS, fall=(0.949, 0.9), scale=SCALES)
def _(rng: random.Random, epochs: int, fall: float, scale: float) -> Question:
    return _by(rng, epochs, scale, fall=fall)


@exercise.corners("a run that is as it should be fits", epochs=EPOCHS, end=(1.098, 1.0, 0.951), scale=SCALES)
def _(rng: random.Random, epochs: int, end: float, scale: float) -> Question:
    return _by(rng, epochs, scale, rise=end) if end > 1 else _by(rng, epochs, scale, fall=end - 1e-9)


@exercise.corners("a flat training loss fails to train", epochs=EPOCHS, train=(0.802, 1.0, 2.0), scale=SCALES)
def _(rng: random.Random, epochs: int, train: float, scale: float) -> Question:
    return _by(rng, epochs, scale, train=train, rise=rng.choice((1.0, 1.3)))
