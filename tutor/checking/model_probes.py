"""See a model that an answer returns, in plain values: what it gives, where its weights come from, what of it learns.

The model itself never leaves the process of the answer. `tutor.checking.probes` says what is wanted of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tutor.checking import plain
from tutor.checking.compare import SAME_AS
from tutor.checking.recipes import DATA


class Values(NamedTuple):
    """A tensor as it was: two are equal when type, shape and all bytes are."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    data: bytes

    def tensor(self) -> Tensor:
        """Returns the tensor anew."""
        empty = torch.empty(self.shape, dtype=self.dtype)
        return torch.frombuffer(bytearray(self.data), dtype=self.dtype).reshape(self.shape) if self.data else empty


State = dict[tuple[str, str], Any]  # (place in the input such as ".head.bias" or "['target']", kind) -> what it is
# kind of a change -> what is changed of an input, in words
CHANGES = {
    "kind": "what it is",
    "mode": "the mode",
    "hooks": "the hooks",
    "settings": "the settings",
    "requires_grad": "whether a gradient is asked for",
    "gradients": "the gradients",
    "numbers": "the numbers",
    "weights": "the weights",
    "entries": "the entries",
}
NUMBERS = (bool, int, float)
_hooks = attrgetter("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def state_of(value: Any) -> State:
    """Returns what must be the same of an input before and after a call: of a model weights, what trains, and modes.

    Of a tensor, besides its numbers, it is whether it asks for a gradient, and which it has; of a batch and a
    vocabulary, all they hold.

    Raises:
        NotPlain: when it is too large to be looked at.
    """
    state: State = {}
    _add_state(state, value, "")
    return state


def _add_state(state: State, value: Any, place: str) -> None:
    if isinstance(value, nn.Module):
        _add_state_of_module(state, value, place)
    elif isinstance(value, Tensor) and value.device.type != "meta" and value.layout == torch.strided:
        state[place, "numbers"] = Values(value.dtype, tuple(value.shape), plain.raw(value))
        state[place, "requires_grad"] = value.requires_grad
        gradient = value.grad if value.is_leaf else None
        state[place, "gradients"] = gradient is not None and Values(
            gradient.dtype, tuple(gradient.shape), plain.raw(gradient)
        )
    elif isinstance(value, dict) and len(value) <= plain.MAX_KEYS and all(isinstance(name, str) for name in value):
        state[place, "kind"] = "dict"
        for name, part in value.items():
            _add_state(state, part, f"{place}[{name!r}]")
    elif type(value).__name__ in DATA:
        state[place, "kind"] = type(value).__name__
        for name, part in vars(value).items():
            _add_state(state, part, f"{place}.{name}")
    elif isinstance(value, list) and any(type(part).__name__ in DATA for part in value):
        state[place, "entries"] = len(value)
        for number, part in enumerate(value):
            _add_state(state, part, f"{place}[{number}]")
    else:
        state[place, "entries"] = plain.encode(value)


def _add_state_of_module(state: State, model: nn.Module, place: str) -> None:
    state[place, "kind"] = type(model).__name__
    for name, part in model.named_modules():
        here = f"{place}.{name}" if name else place
        state[here, "mode"] = part.training
        state[here, "hooks"] = sum(map(len, _hooks(part)))
        state[here, "settings"] = settings(part)
        for key, tensor in (*part._parameters.items(), *part._buffers.items()):
            if tensor is not None and key not in part._non_persistent_buffers_set:
                at = f"{here}.{key}"
                state[at, "kind"] = type(tensor).__name__
                _add_state(state, tensor, at)
                if (at, "numbers") in state:
                    state[at, "weights"] = state.pop((at, "numbers"))


def settings(part: nn.Module) -> dict[str, Any]:
    """Returns the attributes of a module beside its weights: numbers such as `p` of a dropout, of others the types."""
    own = {name: value for name, value in vars(part).items() if name[0] != "_" and name != "training"}
    return {name: value if type(value) in NUMBERS else type(value).__name__ for name, value in own.items()}


def kinds(model: nn.Module) -> dict[str, str]:
    """Returns of each part, weight and setting of a model what it is: the mode, whether it trains, the number."""
    found = dict[str, str]()
    for name, part in model.named_modules():
        found[name or "the model"] = "in training mode" if part.training else "in evaluation mode"
        found |= {f"{name}.{key}".strip("."): str(value) for key, value in settings(part).items()}
    for name, weight in model.named_parameters(remove_duplicate=False):
        found[name] = "trains" if weight.requires_grad else "frozen"
    return found | dict.fromkeys((name for name, _ in model.named_buffers()), "a buffer")


def changes(before: State, after: State) -> list[str]:
    """Returns the kinds of `CHANGES` that an input has gone through, none where it is as it was."""
    if before == after:
        return []
    others = [key for key in before | after if _other(key, before, after)]
    differ = {key[1] if key in before and key in after else "entries" for key in others}
    return [kind for kind in CHANGES if kind in differ]


def _other(key: tuple[str, str], before: State, after: State) -> bool:
    return key not in before or key not in after or before[key] != after[key]


def without_gradients(state: State) -> State:
    """Returns a state without the gradients of tensors, for a question that itself has them computed."""
    return {key: value for key, value in state.items() if key[1] != "gradients"}


def change_in_words(name: str, before: State, after: State) -> str:
    """Returns one sentence on the first thing of an input, called `name`, that a call has changed: what it was and is.

    Its mode comes before its weights, and what it had at first before what is new.
    """
    key = next(key for key in before | after if _other(key, before, after))
    place, kind = key
    if key not in after:
        return f"`{name}{place}` is no longer there"
    if key not in before:
        return f"`{name}{place}` was not there before"
    was, now = before[key], after[key]
    if kind == "mode":
        mode = {True: "training mode", False: "evaluation mode"}
        return f"`{name}{place}` came in {mode[was]} and is in {mode[now]} now"
    if kind == "hooks":
        return f"`{name}{place}` came with {was} hooks and has {now} now"
    if kind == "requires_grad":
        asks = {True: "asked for a gradient", False: "asked for no gradient"}
        return f"`{name}{place}` {asks[was]} and {asks[now].replace('asked', 'asks')} now"
    if kind == "gradients":
        then = "another one" if was and now else "one" if now else "none"
        return f"`{name}{place}` came with {'a' if was else 'no'} gradient and has {then} now"
    if kind == "settings":
        changed = next(key for key in was | now if was.get(key) != now.get(key))
        had = f"was {was[changed]}" if changed in was else "was not there before"
        return f"`{name}{place}.{changed}` {had} and is {now.get(changed, 'gone')} now"
    if isinstance(was, Values):
        was, now = was.tensor(), now.tensor()
    elif kind == "entries" and not isinstance(was, int):
        was, now = plain.decode(was), plain.decode(now)
    return _first_difference(f"{name}{place}", was, now)


def _first_difference(name: str, was: Any, now: Any) -> str:
    """Returns in one sentence where two plain values first differ; `name` stands for the value as Python code."""
    if isinstance(was, Tensor) and isinstance(now, Tensor):
        return _difference_of_tensors(name, was, now)
    if isinstance(was, list | tuple) and isinstance(now, list | tuple) and type(was) is type(now):
        pairs = enumerate(zip(was, now, strict=False))
        first = next((n for n, (one, other) in pairs if plain.encode(one) != plain.encode(other)), -1)
        if first >= 0 and len(was) == len(now):
            return _first_difference(f"{name}[{first}]", was[first], now[first])
        return f"`{name}` had {len(was)} entries and has {len(now)} now"
    if isinstance(was, dict) and isinstance(now, dict):
        for key in was | now:
            if key not in now:
                return f"`{name}[{key!r}]` is no longer there"
            if key not in was:
                return f"`{name}[{key!r}]` was not there before"
            if plain.encode(was[key]) != plain.encode(now[key]):
                return _first_difference(f"{name}[{key!r}]", was[key], now[key])
    return f"`{name}` was {_text(was)} and is {_text(now)} now"


def _difference_of_tensors(name: str, was: Tensor, now: Tensor) -> str:
    """As `_first_difference`: where a change is seen in the digits that are shown, if it is seen anywhere."""
    if was.dtype != now.dtype or was.shape != now.shape:
        return f"`{name}` was {_text(was)} and is {_text(now)} now"
    other = was.ne(now) & ~(was.isnan() & now.isnan())
    if was.is_floating_point():
        seen = other & ~torch.isclose(was.double(), now.double(), rtol=1e-5, atol=0.0, equal_nan=True)
        other = seen if bool(seen.any()) else other
    position = other.nonzero()[0].tolist() if bool(other.any()) else [0] * was.dim()
    at = f"[{', '.join(map(str, position))}]" if position else ""
    return f"`{name}{at}` was {_distinctly(was[tuple(position)], now[tuple(position)])} now"


def _distinctly(was: Tensor, now: Tensor) -> str:
    """Returns a number and what it is now, with as many digits as it takes to tell them apart."""
    texts = next(
        pair for digits in (6, 9, 17) if len(set(pair := (_text(was, digits), _text(now, digits)))) == 2 or digits == 17
    )
    return " and is ".join(texts)


def _text(value: Any, digits: int = 6) -> str:
    if isinstance(value, Tensor):
        return f"{value.item():.{digits}g}" if value.dim() == 0 else f"of shape {tuple(value.shape)} and {value.dtype}"
    text = str(value.to_sympy()) if isinstance(value, plain.Expression) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


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

    None stays None: a forgotten return, reported as such by whoever compares.

    Raises:
        NotPlain: when it is no model; the answer has not stopped, but given something else.
    """
    if model is None:
        return None
    if not isinstance(model, nn.Module):
        raise plain.NotPlain(f"expected a model (an nn.Module), got a {type(model).__name__}")
    return look(model.get_submodule(part))


def output(model: Any, part: str, inputs: Sequence[Any]) -> Any:
    """Returns what a model that an answer has returned, or its submodule `part`, gives in evaluation mode."""

    def called(seen: nn.Module) -> Any:
        seen.eval()
        return seen(*inputs)

    with torch.no_grad():
        return see(model, part, called)


def parameters(model: nn.Module) -> dict[str, Any]:
    """Returns name -> (shape, trainable) for every parameter and buffer of a module.

    What stands in it under two names, as the weight of a tied head, is listed under both: so `state_dict` has it.
    """
    held = *model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)
    first, found = dict[int, str](), {}
    for name, one in held:
        known = first.setdefault(id(one), name)
        label = name if known == name else f"{name}{SAME_AS}{known})"
        found[label] = (tuple(one.shape), one.requires_grad)
    return found


def origins(model: nn.Module, inputs: Sequence[Mapping[str, Tensor]]) -> dict[str, str]:
    """Returns for each weight which inputs had the same numbers under the same name: "as in input 1", or "new".

    Args:
        model: whose weights these are.
        inputs: name -> tensor of each input, as it was.
    """
    result = {}
    for name, weight in model.state_dict().items():
        same = [str(n) for n, held in enumerate(inputs, 1) if name in held and torch.equal(held[name], weight)]
        result[name] = f"as in input {' and '.join(same)}" if same else "new"
    return result


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
    return {name: gradient.numel() for name, gradient in learning(model, inputs).items()}


def learning(model: nn.Module, inputs: Sequence[Any]) -> dict[str, Tensor]:
    """Returns name -> gradient, of the sum of squares of a model's output, for each parameter that it reaches.

    One that asks for a gradient and gets none is there, too, with a name as in `learns`, and zeros.

    Raises:
        TypeError: when the model gives no tensor.
    """
    model.eval()
    with torch.enable_grad():
        given = model(*inputs)
        if not isinstance(given, Tensor):
            raise TypeError(f"expected a tensor from the model, got a {type(given).__name__}")
        names = reached(given.square(), model)
    found = {name: p.grad for name, p in model.named_parameters() if name in names and p.grad is not None}
    asking = {name: p for name, p in model.named_parameters() if p.requires_grad and name not in names}
    return found | {f"{name} (asks for a gradient and gets none)": p.new_zeros(p.shape) for name, p in asking.items()}


def reached(output: Tensor, model: nn.Module) -> dict[str, int]:
    """Returns name -> how many numbers, for each parameter of a model that a gradient of `output` reaches."""
    model.zero_grad(set_to_none=True)
    if output.requires_grad:
        output.sum().backward()
    return {name: p.numel() for name, p in model.named_parameters() if p.grad is not None}


def calls(model: nn.Module, part: str, act: Callable[[], Any]) -> str | None:
    """Returns how often the submodule `part` of a model runs during `act()`; None when `act` returns None.

    It runs when it is called, and when its `forward` is, also that of a copy, or through its class. "never", "once" or
    "more than once": how often more than once is a matter of taste in a wrong answer.
    """
    called: list[int] = []
    forwarded: list[int] = []
    module = model.get_submodule(part)

    def note(*_: Any) -> None:
        called.append(1)

    hook = module.register_forward_hook(note)
    owner: Any = next(one for one in type(module).__mro__ if "forward" in vars(one))
    forward = owner.forward

    @functools.wraps(forward)
    def noted(self: nn.Module, *args: Any, **named: Any) -> Any:
        if note in self._forward_hooks.values():  # a copy has the hook, too; another module of this class has not
            forwarded.append(1)
        return forward(self, *args, **named)

    owner.forward = noted
    try:
        result = act()
    finally:
        owner.forward = forward
        hook.remove()
    runs = max(len(called), len(forwarded))  # a call does both
    return None if result is None else ("never", "once", "more than once")[min(runs, 2)]


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
