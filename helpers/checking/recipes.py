"""Inputs told by a recipe: what cannot travel as plain numbers is built where the answer runs.

Each class here is one kind of recipe. Its fields are all that `plain` encodes, checked by their types on decoding; the
fields after `KW_ONLY` are written only where they differ from their default.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from helpers.checking.expressions import Expression
from helpers.checking.limits import seed_torch


@dataclass(frozen=True)
class Model:
    """A model of `helpers.models` told by its recipe: class name, arguments, and seed of its initial weights.

    A `Batch` or a `Vocabulary` of `helpers.data` may be told in the same way, by name and arguments.

    With `noise`, each call adds different normal noise of this size to the output, as rounding does on a GPU.
    `tie` names a parameter and the one it shall share: `("head.weight", "base.embedding.weight")`. `freeze` holds
    beginnings of names: these parameters do not train. `spread` adds normal noise of this size to every parameter,
    norms and biases too, as training would have moved them. With `state` only the weights come, as a dict by name.
    With `training` it comes in training mode, not in evaluation mode. `gradients` is the size of all numbers in the
    gradients that an earlier step has left.
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
    gradients: float = 0.0

    def build(self) -> Any:
        """Returns the model, or its weights by name, or the `Batch` or `Vocabulary`.

        Raises:
            KeyError: when there is no such class.
        """
        from helpers import data, models

        if self.name in ("Batch", "Vocabulary"):
            return {"Batch": data.Batch, "Vocabulary": data.Vocabulary}[self.name](**self.arguments)
        kinds: dict[str, Any] = {name: kind for name, kind in vars(models).items() if inspect.isclass(kind)}
        with torch.random.fork_rng(devices=[]):
            seed_torch(self.seed)
            model: nn.Module = kinds[self.name](**build(self.arguments)).eval()
        if self.tie:
            _tie(model, *self.tie)
        if self.spread:
            _shake(model, self.spread, torch.Generator().manual_seed(self.seed))
        self._prepare_gradients(model)
        if self.noise:
            generator = torch.Generator().manual_seed(self.seed)
            model.register_forward_hook(lambda module, inputs, output: _noisy(output, self.noise, generator))
        model.train(self.training)
        return {name: weight.clone() for name, weight in model.state_dict().items()} if self.state else model

    def _prepare_gradients(self, model: nn.Module) -> None:
        for name, parameter in model.named_parameters():
            if name.startswith(self.freeze):
                parameter.requires_grad_(False)
            elif self.gradients:
                parameter.grad = torch.full_like(parameter, self.gradients)

    def in_words(self) -> str:
        """Returns what a student is told of it."""
        shared = f" whose {self.tie[0]} is {self.tie[1]}" if self.tie else ""
        frozen = f" with {', '.join(self.freeze)}* frozen" if self.freeze else ""
        mode = " in training mode" if self.training else ""
        return f"{'the weights of ' if self.state else ''}a {self.name}{shared}{frozen}{mode}"


@dataclass(frozen=True)
class Optimizer:
    """A new optimizer of `torch.optim`, told by name and learning rate, of the parameters of the first model given."""

    name: str
    lr: float

    def build(self, model: nn.Module) -> torch.optim.Optimizer:
        """Returns the optimizer of what trains in a model."""
        kind = {"SGD": torch.optim.SGD, "Adam": torch.optim.Adam, "AdamW": torch.optim.AdamW}[self.name]
        made: torch.optim.Optimizer = kind([p for p in model.parameters() if p.requires_grad], lr=self.lr)
        return made

    def in_words(self) -> str:
        """Returns what a student is told of it."""
        return f"{self.name} with lr {self.lr:g}"


@dataclass(frozen=True)
class Generator:
    """A new `torch.Generator` told by its seed: random numbers that an answer shall draw from."""

    seed: int

    def build(self) -> torch.Generator:
        """Returns a new generator with this seed."""
        return torch.Generator().manual_seed(self.seed)

    def in_words(self) -> str:
        """Returns what a student is told of it."""
        return f"a generator with seed {self.seed}"


@dataclass(frozen=True)
class Recorded:
    """A function told by what it gives: a stand-in for one that takes hours. Each of its calls is noted.

    `results` are pairs: the arguments of a call, and what it gives for them; None gives None for whatever it is asked.
    Call number `stop_at`, counted from 1, is interrupted as by Ctrl-C.
    """

    name: str
    results: list[tuple[list[Any], Any]] | None = None
    stop_at: int = 0

    def __post_init__(self) -> None:
        """Raises ValueError when the results are not pairs of a list and a value."""
        for pair in self.results or ():
            if not (isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], list)):
                raise ValueError(f"a result of {self.name}: expected (list of arguments, value), got {pair!r:.80}")

    def build(self) -> Any:
        """Returns the function."""
        from helpers.checking.spies import Spy

        return Spy(self)

    def in_words(self) -> str:
        """Returns what a student is told of it."""
        return self.name + (f" (interrupted at call {self.stop_at})" if self.stop_at else "")


Recipe = Model | Optimizer | Generator | Recorded

# How the encoded form of each begins: its first field stands under this name.
RECIPES: dict[str, type[Recipe]] = {
    "model": Model,
    "optimizer": Optimizer,
    "generator": Generator,
    "recorded": Recorded,
}


def build(value: Any) -> Any:
    """Returns what an answer gets for a plain value: recipes are built, expressions become sympy's."""
    if isinstance(value, Model | Generator | Recorded):
        return value.build()
    if isinstance(value, Expression):
        return value.to_sympy()
    if isinstance(value, list | tuple):
        return type(value)(build(item) for item in value)
    if isinstance(value, dict):
        return {key: build(item) for key, item in value.items()}
    return value


def build_inputs(values: Sequence[Any]) -> list[Any]:
    """Returns the inputs of a call; an optimizer gets the parameters of the first model before it."""
    inputs: list[Any] = []
    for value in values:
        inputs.append(value.build(first_model(inputs)) if isinstance(value, Optimizer) else build(value))
    return inputs


def first_model(inputs: Sequence[Any]) -> nn.Module:
    """Returns the first model among the inputs of a call.

    Raises:
        LookupError: when there is none, which is a fault of the question.
    """
    for value in inputs:
        if isinstance(value, nn.Module):
            return value
    raise LookupError("the question needs a model among its inputs, and has none")


def _tie(model: nn.Module, name: str, shared: str) -> None:
    """Makes the parameter `name` the very same object as the parameter `shared`."""
    owner, _, leaf = name.rpartition(".")
    setattr(model.get_submodule(owner), leaf, model.get_parameter(shared))


def _shake(model: nn.Module, size: float, generator: torch.Generator) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=size)


def _noisy(output: Tensor, size: float, generator: torch.Generator) -> Tensor:
    return output + size * torch.randn(output.shape, generator=generator)
