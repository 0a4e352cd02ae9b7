"""See a model that an answer returns, in plain values: what it gives, where its weights come from, what of it learns.

The model itself never leaves the process of the answer. `helpers.checking.takes` says what is wanted of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from helpers.checking import plain
from helpers.checking.recipes import DATA


def state_of(value: Any) -> Any:
    """Returns what must be the same of an input before and after a call: of a model weights, what trains, and modes.

    Of a tensor, besides its numbers, it is whether it asks for a gradient; of a batch and a vocabulary, all they hold.

    Raises:
        NotPlain: when it is too large to be looked at.
    """
    if isinstance(value, nn.Module):
        parts = list(value.named_modules())
        tensors = [
            (f"{place}.{name}", isinstance(tensor, nn.Parameter) and tensor.requires_grad, state_of(tensor))
            for place, part in parts
            for held in (part._parameters, part._buffers)
            for name, tensor in held.items()
            if tensor is not None and name not in part._non_persistent_buffers_set
        ]
        return type(value).__name__, [(place, part.training) for place, part in parts], tensors
    if isinstance(value, Tensor) and value.device.type != "meta" and value.layout == torch.strided:
        return value.dtype, value.shape, value.requires_grad, plain.raw(value)
    if isinstance(value, dict) and len(value) <= plain.MAX_KEYS and all(isinstance(name, str) for name in value):
        return {name: state_of(part) for name, part in value.items()}
    if type(value).__name__ in DATA:
        return type(value).__name__, {name: state_of(part) for name, part in vars(value).items()}
    if isinstance(value, list) and any(type(part).__name__ in DATA for part in value):
        return [state_of(part) for part in value]
    return plain.encode(value)


def weights_of(value: Any) -> dict[str, Tensor]:
    """Returns name -> tensor of an input: of a model, or of a dict of tensors; else nothing."""
    if isinstance(value, nn.Module):
        return dict(value.state_dict())
    if isinstance(value, dict):
        return {str(name): tensor for name, tensor in value.items() if isinstance(tensor, Tensor)}
    return {}


def held_by(value: Any) -> list[Tensor]:
    """Returns the tensors of an input: of a model all parameters and buffers, also those that no checkpoint keeps."""
    if isinstance(value, nn.Module):
        return [*value.parameters(), *value.buffers()]
    return list(weights_of(value).values())


def see(model: Any, part: str, look: Callable[[nn.Module], Any]) -> Any:
    """Returns what `look` sees of a model that an answer has returned, or of its submodule `part`.

    None stays None: a forgotten return, told as such by whoever compares.

    Raises:
        TypeError: when it is no model.
    """
    if model is None:
        return None
    if not isinstance(model, nn.Module):
        raise TypeError(f"expected a model (an nn.Module), got a {type(model).__name__}")
    return look(model.get_submodule(part))


def output(model: Any, part: str, inputs: Sequence[Any]) -> Any:
    """Returns what a model that an answer has returned, or its submodule `part`, gives in evaluation mode."""

    def called(seen: nn.Module) -> Any:
        seen.eval()
        return seen(*inputs)

    with torch.no_grad():
        return see(model, part, called)


def parameters(model: nn.Module) -> dict[str, Any]:
    """Returns name -> (shape, trainable) for every parameter and buffer of a module."""
    found = {name: (tuple(p.shape), p.requires_grad) for name, p in model.named_parameters()}
    return found | {name: (tuple(b.shape), False) for name, b in model.named_buffers()}


def origins(model: nn.Module, inputs: Sequence[Mapping[str, Tensor]]) -> dict[str, str]:
    """Returns for each weight which inputs had the same numbers under the same name: "as in input 1", or "new".

    Args:
        model: whose weights these are.
        inputs: name -> tensor of each input, as it was.
    """
    found = {}
    for name, weight in model.state_dict().items():
        same = [str(n) for n, held in enumerate(inputs, 1) if name in held and torch.equal(held[name], weight)]
        found[name] = f"as in input {' and '.join(same)}" if same else "new"
    return found


def shared(model: nn.Module, memory: Iterable[Tensor]) -> set[str]:
    """Returns the names of the weights that lie in the memory of an input: changing one changes the other."""
    places = {tensor.untyped_storage().data_ptr() for tensor in memory if tensor.numel()}
    held = *model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)
    return {name for name, tensor in held if tensor.numel() and tensor.untyped_storage().data_ptr() in places}


def types(model: nn.Module) -> set[str]:
    """Returns the types of the parameters of a model."""
    return {str(parameter.dtype) for parameter in model.parameters()}


def modes(model: nn.Module) -> dict[str, Any]:
    """Returns the mode of a model, and the names of its parts that are in the other one."""
    others = {name for name, part in model.named_modules() if part.training != model.training}
    return {"mode": "training mode" if model.training else "evaluation mode", "parts in the other mode": others}


def learns(model: nn.Module, inputs: Sequence[Any]) -> dict[str, int]:
    """Returns name -> how many numbers, for each parameter that a gradient of the model's output reaches.

    One that asks for a gradient and gets none is there, too, and named as such: it is not frozen, and does not learn.

    Raises:
        TypeError: when the model gives no tensor.
    """
    model.eval()
    with torch.enable_grad():
        given = model(*inputs)
        if not isinstance(given, Tensor):
            raise TypeError(f"expected a tensor from the model, got a {type(given).__name__}")
        learning = reached(given.square(), model)
    asking = {name: p.numel() for name, p in model.named_parameters() if p.requires_grad and name not in learning}
    return learning | {f"{name} (asks for a gradient and gets none)": count for name, count in asking.items()}


def reached(output: Tensor, model: nn.Module) -> dict[str, int]:
    """Returns name -> how many numbers, for each parameter of a model that a gradient of `output` reaches."""
    model.zero_grad(set_to_none=True)
    if output.requires_grad:
        output.sum().backward()
    return {name: p.numel() for name, p in model.named_parameters() if p.grad is not None}


def calls(model: nn.Module, part: str, act: Callable[[], Any]) -> str | None:
    """Returns how often the submodule `part` of a model runs during `act()`; None when `act` returns None.

    "never", "once" or "more than once": how often more than once is a matter of taste in a wrong answer.
    """
    runs: list[int] = []
    hook = model.get_submodule(part).register_forward_hook(lambda *_: runs.append(1))
    try:
        result = act()
    finally:
        hook.remove()
    return None if result is None else ("never", "once", "more than once")[min(len(runs), 2)]


def recording(model: nn.Module, part: str, act: Callable[[], Any]) -> str | None:
    """Returns whether gradients are recorded where the submodule `part` runs in `act()`; None when that gives None."""
    found: list[bool] = []

    def note(module: nn.Module, inputs: Any, output: Tensor) -> None:
        found.append(output.requires_grad)

    hook = model.get_submodule(part).register_forward_hook(note)
    try:
        result = act()
    finally:
        hook.remove()
    if result is None:
        return None
    return "gradients are recorded" if any(found) else "no gradients are recorded" if found else "it never runs"
