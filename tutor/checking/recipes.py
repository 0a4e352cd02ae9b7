"""Inputs given by a recipe: what cannot travel as plain numbers is built where the answer runs (`building`).

Each class here is one kind of recipe. Its fields are all that `plain` encodes, checked by their types on decoding; the
fields after `KW_ONLY` are written only where they differ from their default.
"""

# No `from __future__ import annotations`: Python 3.10 cannot read the type of `KW_ONLY` back from its name.
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Model:
    """A model of `helpers.models` given by its recipe: class name, arguments, and seed of its initial weights.

    A layer of `tutor.checking.sequence_layers` may be given in the same way, and a `Batch` of `helpers.batches` or a
    `Vocabulary` of `helpers.vocabulary` by name and arguments.

    With `noise`, each call adds different normal noise of this size to the output, as rounding does on a GPU. `tie`
    names a parameter and the one it shall share: `("head.weight", "base.embedding.weight")`. `freeze` holds beginnings
    of names: these parameters do not train; with `frozen_late` they did when the gradients were left, and an optimizer
    holds them. `spread` adds normal noise of this size to every parameter, norms and biases too, as training would
    have moved them. With `state` only the weights come, as a dict by name. With `training` it comes in training mode,
    not in evaluation mode, but for its parts `in_evaluation`. `gradients` is the size of all numbers in the gradients
    that an earlier step has left. With `meta` it has shapes but no numbers, so that it may be large. With `faint` the
    head makes only the last four numbers of an output, with weights that are so many times as large: all others are
    always 0. `dtype` is the type of its numbers, "float16" say, where it is not the usual one.
    """

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    noise: float = 0.0
    _: KW_ONLY
    tie: tuple[str, ...] = ()
    freeze: tuple[str, ...] = ()
    spread: float = 0.0
    state: bool = False
    training: bool = False
    in_evaluation: tuple[str, ...] = ()
    gradients: float = 0.0
    meta: bool = False
    faint: float = 0.0
    dtype: str = ""
    frozen_late: bool = False

    def in_words(self) -> str:
        """Returns how a student sees it described."""
        shared = f" whose {self.tie[0]} is {self.tie[1]}" if self.tie else ""
        frozen = f" with {', '.join(self.freeze)}* frozen" if self.freeze else ""
        frozen += " after a step" if self.frozen_late else ""
        mode = " in training mode" if self.training else ""
        mode += f" with its {' and '.join(self.in_evaluation)} in evaluation mode" if self.in_evaluation else ""
        mode += " on the meta device" if self.meta else ""
        mode += f" with {self.dtype} numbers" if self.dtype else ""
        return f"{'the weights of ' if self.state else ''}a {self.name}{shared}{frozen}{mode}"


@dataclass(frozen=True)
class Optimizer:
    """A new optimizer of `torch.optim`, given by name and learning rate, of the parameters of the first model given.

    Every parameter is in one of `groups` groups, by turns. `holds` are beginnings of names: it gets no others.
    """

    name: str
    lr: float
    _: KW_ONLY
    groups: int = 1
    holds: tuple[str, ...] = ()
    momentum: float = 0.0  # of SGD
    weight_decay: float = 0.0

    def in_words(self) -> str:
        """Returns how a student sees it described."""
        settings = [f"{self.name} with lr {self.lr:g}"]
        settings += [f"momentum {self.momentum:g}"] if self.momentum else []
        settings += [f"weight decay {self.weight_decay:g}"] if self.weight_decay else []
        settings += [f"{self.groups} groups of parameters"] if self.groups > 1 else []
        settings += [f"the parameters {', '.join(self.holds)}* alone"] if self.holds else []
        return " and ".join([", ".join(settings[:-1]), settings[-1]] if len(settings) > 1 else settings)


@dataclass(frozen=True)
class Generator:
    """A new `torch.Generator` given by its seed: random numbers that an answer shall draw from."""

    seed: int

    def in_words(self) -> str:
        """Returns how a student sees it described."""
        return f"a generator with seed {self.seed}"


@dataclass(frozen=True)
class Recorded:
    """A function given by what it returns: a stand-in for one that takes hours. Each of its calls is noted.

    `results` are pairs: the arguments of a call, and what it gives for them; None gives None for whatever it is asked.
    Call number `stop_at`, counted from 1, is interrupted as by Ctrl-C or, if it `fails`, ends with a RuntimeError.
    """

    name: str
    results: list[tuple[list[Any], Any]] | None = None
    stop_at: int = 0
    fails: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError when the results are not pairs of a list and a value."""
        for pair in self.results or ():
            if not (isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], list)):
                raise ValueError(f"a result of {self.name}: expected (list of arguments, value), got {pair!r:.80}")

    def in_words(self) -> str:
        """Returns how a student sees it described."""
        stops = f" ({'fails' if self.fails else 'interrupted'} at call {self.stop_at})"
        return self.name + (stops if self.stop_at else "")


DATA = ("Batch", "Vocabulary")  # given as a `Model` is, and no models

Recipe = Model | Optimizer | Generator | Recorded


def models_in(value: Any) -> Iterator[Model]:
    """Yields the models among plain values, however deep, and not those that are parts of another."""
    if isinstance(value, Model):
        if value.name not in DATA:
            yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from models_in(part)
    elif isinstance(value, dict):
        yield from models_in(list(value.values()))


# How the encoded form of each begins: its first field stands under this name.
RECIPES: dict[str, type[Recipe]] = {
    "model": Model,
    "optimizer": Optimizer,
    "generator": Generator,
    "recorded": Recorded,
}
