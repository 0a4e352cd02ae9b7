"""Builds what recipes describe: models, optimizers, generators and recorded functions, where the answer runs."""

from __future__ import annotations

import copy
import inspect
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from tutor.checking import plain
from tutor.checking.expressions import Expression
from tutor.checking.limits import seed_torch
from tutor.checking.recipes import DATA, Generator, Model, Optimizer, Recorded
from tutor.checking.spies import Spy

MODELS = 400  # that are kept to be copied; more than one exercise asks with, else each answer makes all of them anew
LARGEST = 1 << 18  # numbers of a model that is kept
CONSTANT = frozenset({type(None), bool, int, float, str})
_models = dict[str, tuple[nn.Module, bool]]()  # by recipe; the second says whether it is small
ALIVE, SMALL = 300, 50_000  # models that were made last, of at most so many numbers
_alive = deque[nn.Module](maxlen=ALIVE)
hand_out: Callable[[nn.Module], None] | None = None  # is told of each model that is made


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
    from helpers import batches, vocabulary

    if recipe.name in DATA:
        kind = {"Batch": batches.Batch, "Vocabulary": vocabulary.Vocabulary}[recipe.name]
        return kind(**recipe.arguments)
    model, is_small = _new(recipe)
    if hand_out is not None:
        hand_out(model)
    if recipe.faint:
        _fade(model.head, recipe.faint)
    if torch.get_default_dtype() != torch.float32:
        model.to(torch.get_default_dtype())  # so that it fits the masks that it makes in a call
    if recipe.dtype:
        model.to(getattr(torch, recipe.dtype))
    if recipe.tie:
        _tie(model, *recipe.tie)
    if recipe.freeze or recipe.gradients:
        _prepare_gradients(model, recipe)
    if recipe.noise:
        generator = torch.Generator().manual_seed(recipe.seed)
        model.register_forward_hook(lambda module, inputs, output: _noisy(output, recipe.noise, generator))
    _set_modes(model, recipe)
    if recipe.state:
        return {name: weight.clone() for name, weight in model.state_dict().items()}
    _keep_alive(model, is_small=is_small)
    return model


def _keep_alive(model: nn.Module, *, is_small: bool) -> None:
    """Keeps a small model, so that no later one gets its identity: what is found by it would be found by luck."""
    if is_small:
        _alive.append(model)


def forget_alive() -> None:
    """Lets go of the models made so far: a process in which no answer has run yet holds none that one could find."""
    _alive.clear()


def _set_modes(model: nn.Module, recipe: Model) -> None:
    if recipe.training:
        model.train()
    for part in recipe.in_evaluation:
        model.get_submodule(part).eval()


def _new(recipe: Model) -> tuple[nn.Module, bool]:
    """Returns the model with its first weights, in evaluation mode, and whether it is small.

    The same few models are needed again and again, and to make one takes ten times as long as to copy it.
    """
    if _is_noisy(recipe.arguments):  # the noise has a generator of its own
        return _made(recipe)
    plain_recipe = Model(recipe.name, recipe.arguments, recipe.seed, spread=recipe.spread, meta=recipe.meta)
    key = json.dumps([plain.encode(plain_recipe), str(torch.empty(0).device), torch.is_inference_mode_enabled()])
    if key not in _models:
        made = _made(recipe)
        if sum(tensor.numel() for tensor in (*made[0].parameters(), *made[0].buffers())) > LARGEST:
            return made
        while len(_models) >= MODELS:
            del _models[next(iter(_models))]
        _models[key] = made
    model, is_small = _models[key]
    return copied(model), is_small


def _made(recipe: Model) -> tuple[nn.Module, bool]:
    model = _make(recipe)
    return model, sum(map(torch.numel, model.parameters())) <= SMALL


def _is_noisy(value: Any) -> bool:
    if isinstance(value, Model):
        return bool(value.noise) or _is_noisy(value.arguments)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return any(map(_is_noisy, parts))


def _make(recipe: Model) -> nn.Module:
    from helpers import models
    from tutor.checking.sequence_layers import LAYERS

    kinds: dict[str, Any] = {name: kind for name, kind in vars(models).items() if inspect.isclass(kind)} | LAYERS
    with torch.random.fork_rng(devices=[]), _single_precision():  # a seed gives the same numbers to everybody
        seed_torch(recipe.seed)
        with torch.device("meta") if recipe.meta else nullcontext():
            model: nn.Module = kinds[recipe.name](**build(recipe.arguments)).eval()
        if recipe.spread:
            _shake(model, recipe.spread, torch.Generator().manual_seed(recipe.seed))
    return model


def copied(model: nn.Module) -> nn.Module:
    """Returns a copy of a module of `helpers.models` that shares nothing with it, as `copy.deepcopy` does, but fast."""
    return _module_copied(model, {})


def _module_copied(module: nn.Module, made: dict[int, Tensor]) -> nn.Module:
    if isinstance(module, nn.RNNBase):  # it holds its weights in a list, too, which `copy` knows how to rebuild
        return copy.deepcopy(module)
    new = object.__new__(type(module))
    held = new.__dict__
    held.update(module.__dict__)
    for name, value in module.__dict__.items():
        if type(value) in CONSTANT:
            continue
        if not value:
            held[name] = type(value)()
        elif name == "_parameters" or name == "_buffers":
            held[name] = {key: tensor if tensor is None else _copied(tensor, made) for key, tensor in value.items()}
        elif name == "_modules":
            held[name] = {key: part if part is None else _module_copied(part, made) for key, part in value.items()}
        else:
            held[name] = copy.deepcopy(value)
    return new


def _copied(tensor: Tensor, made: dict[int, Tensor]) -> Tensor:
    """Returns a copy of a tensor; one that stands in two places, is found in `made` the second time."""
    if id(tensor) not in made:
        new = tensor.detach().clone()
        if isinstance(tensor, nn.Parameter):
            new = nn.Parameter(new, requires_grad=tensor.requires_grad)
        if tensor.grad is not None:
            new.grad = tensor.grad.clone()
        made[id(tensor)] = new
    return made[id(tensor)]


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
        frozen = name.startswith(recipe.freeze) if recipe.freeze else False
        if recipe.gradients and (recipe.frozen_late or not frozen):
            parameter.grad = torch.full_like(parameter, recipe.gradients)
        parameter.requires_grad_(parameter.requires_grad and not frozen)


def _optimizer(recipe: Optimizer, model: nn.Module) -> torch.optim.Optimizer:
    """Returns the optimizer of what trains in a model, or in some of its parts, and of what has trained before."""
    kind = {"SGD": torch.optim.SGD, "Adam": torch.optim.Adam, "AdamW": torch.optim.AdamW}[recipe.name]
    held = (one for name, one in model.named_parameters() if name.startswith(recipe.holds or ""))
    trains = [parameter for parameter in held if parameter.requires_grad or parameter.grad is not None]
    groups = [{"params": trains[first :: recipe.groups]} for first in range(recipe.groups)]
    settings = {"momentum": recipe.momentum, "weight_decay": recipe.weight_decay}
    made: torch.optim.Optimizer = kind(groups, lr=recipe.lr, **{name: size for name, size in settings.items() if size})
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
