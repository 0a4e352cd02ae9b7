"""Builds what recipes tell of: models, optimizers, generators and recorded functions, where the answer runs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from helpers.checking.expressions import Expression
from helpers.checking.limits import seed_torch
from helpers.checking.recipes import DATA, Generator, Model, Optimizer, Recorded
from helpers.checking.spies import Spy


def build(value: Any) -> Any:
    """Returns what an answer gets for a plain value: recipes are built, expressions become sympy's."""
    if isinstance(value, Model):
        return _model(value)
    if isinstance(value, Generator):
        return torch.Generator().manual_seed(value.seed)
    if isinstance(value, Recorded):
        return Spy(value)
    if isinstance(value, Expression):
        return value.to_sympy()
    if isinstance(value, list | tuple):
        return type(value)(build(item) for item in value)
    if isinstance(value, dict):
        return {key: build(item) for key, item in value.items()}
    return value


def _model(recipe: Model) -> Any:
    """Returns the model, or its weights by name, or the `Batch` or `Vocabulary`.

    Raises:
        KeyError: when there is no such class.
    """
    from helpers import data, models

    if recipe.name in DATA:
        return getattr(data, recipe.name)(**recipe.arguments)
    kinds: dict[str, Any] = {name: kind for name, kind in vars(models).items() if inspect.isclass(kind)}
    with torch.random.fork_rng(devices=[]), _single_precision():  # a seed gives the same numbers to everybody
        seed_torch(recipe.seed)
        with torch.device("meta") if recipe.meta else nullcontext():
            model: nn.Module = kinds[recipe.name](**build(recipe.arguments)).eval()
        if recipe.spread:
            _shake(model, recipe.spread, torch.Generator().manual_seed(recipe.seed))
    if recipe.faint:
        _fade(model.head, recipe.faint)
    if torch.get_default_dtype() != torch.float32:
        model.to(torch.get_default_dtype())  # so that it fits the masks that it makes in a call
    if recipe.tie:
        _tie(model, *recipe.tie)
    _prepare_gradients(model, recipe)
    if recipe.noise:
        generator = torch.Generator().manual_seed(recipe.seed)
        model.register_forward_hook(lambda module, inputs, output: _noisy(output, recipe.noise, generator))
    if recipe.training:
        model.train()
    return {name: weight.clone() for name, weight in model.state_dict().items()} if recipe.state else model


@contextmanager
def _single_precision() -> Iterator[None]:
    """Makes new floating point numbers single ones, whatever default somebody has set."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@torch.no_grad()
def _fade(head: Any, factor: float) -> None:
    """Leaves only the last four numbers of what a head gives, with weights so many times as large."""
    for weight in (head.weight, head.bias):
        weight[:-4] = 0
        weight[-4:] *= factor


def _prepare_gradients(model: nn.Module, recipe: Model) -> None:
    for name, parameter in model.named_parameters():
        if name.startswith(recipe.freeze):
            parameter.requires_grad_(False)  # noqa: FBT003 - PyTorch has no name for it
        elif recipe.gradients:
            parameter.grad = torch.full_like(parameter, recipe.gradients)


def _optimizer(recipe: Optimizer, model: nn.Module) -> torch.optim.Optimizer:
    """Returns the optimizer of what trains in a model."""
    kind = {"SGD": torch.optim.SGD, "Adam": torch.optim.Adam, "AdamW": torch.optim.AdamW}[recipe.name]
    trains = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [{"params": trains[first :: recipe.groups]} for first in range(recipe.groups)]
    made: torch.optim.Optimizer = kind(groups, lr=recipe.lr)
    return made


def build_inputs(values: Sequence[Any]) -> list[Any]:
    """Returns the inputs of a call; an optimizer gets the parameters of the first model before it."""
    inputs: list[Any] = []
    for value in values:
        inputs.append(_optimizer(value, first_model(inputs)) if isinstance(value, Optimizer) else build(value))
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
    return output + size * torch.randn(output.shape, generator=generator, dtype=torch.float32)
