"""What is looked at of a call in more than one notebook, or in what every answer keeps."""

from __future__ import annotations

import copy
import inspect
import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tutor.checking import model_probes, places, plain, spies
from tutor.checking.building import build, build_inputs, first_model
from tutor.checking.globals_used import parts_used
from tutor.checking.interruptions import STOPS, holds_batches, interrupted
from tutor.checking.limits import seed_torch
from tutor.checking.probes.registry import Call, built, probed

TWO_NEW, DIFFER = "two new modules", "begin with different numbers"  # of the probe "random numbers"
OWN_WEIGHTS, OTHERS = "its own weights, after a call", "others"  # of the probe "again"
SOME_DROPOUT = 0.25  # of models of the probe "left"
MODES = {True: "training mode", False: "evaluation mode"}
DIGITS, OF_SINGLE = 2.0**-30, ", but with the digits of single precision"  # of the probe "in double"
SAME_OBJECT, NEW_OBJECT = "the same object as at first, or in its memory", "new each time"  # of the probe "again"
OTHER = 1.5  # times its weights, a module has other ones
ROW = 12  # calls in a row of the probe "seeds"
DRAWS = 600  # enough to know shares to 5 %


@probed("result", is_result=True, of_a_model=True)
def _result(call: Call) -> Any:
    """Returns the result; with `follow_up`, what the returned model gives for it, in evaluation mode."""
    result = call.act()
    return result if call.question.follow_up is None else call.output(result)


@probed("names")
def _names(call: Call) -> Any:
    """Returns the keys of a dict that is the result."""
    result = _result(call)
    return {str(name) for name in result} if isinstance(result, dict) else result


@probed("parts used")
def _parts(call: Call) -> list[str]:
    """Returns which parts the answer uses of those whose full names are the inputs; it is not called."""
    return parts_used(call.answer, call.question.inputs)


@probed("parameters", of_a_model=True)
def _parameters(call: Call) -> Any:
    """Returns shapes and what trains, of a returned model or, without a call, of one that is built."""
    return call.seen(model_probes.parameters) if call.module is None else model_probes.parameters(call.module)


@probed("origins", of_a_model=True)
def _origins(call: Call) -> Any:
    """Returns for each weight of a returned model which input has the same numbers under its name."""
    return call.seen(lambda model: model_probes.origins(model, call.before))


@probed("shared", of_a_model=True)
def _shared(call: Call) -> Any:
    """Returns what a returned model shares with an input that must stay, or with what another call returns."""
    memory, other = call.memory, call.act_on(call.question.inputs)
    if isinstance(other, nn.Module) and not call.question.changes:
        memory = [*memory, *model_probes.held_by(other)]
    return call.seen(lambda model: model_probes.shared(model, memory))


@probed("learns", of_a_model=True, makes_gradients=True)
def _learns(call: Call) -> Any:
    """Returns the parameters that a gradient reaches, of a returned model's output for `follow_up` or of a tensor."""
    if call.question.follow_up is not None:
        return call.seen(lambda model: model_probes.learns(model, build(call.question.follow_up)))
    result = call.act()
    return model_probes.reached(result, first_model(call.inputs)) if isinstance(result, Tensor) else result


@probed("learning", is_result=True, makes_gradients=True)
def _learning(call: Call) -> Any:
    """Returns the gradients that reach the parameters of a returned model from its output for `follow_up`."""
    return call.seen(lambda model: model_probes.learning(model, build(call.question.follow_up)))


@probed("calls")
def _calls(call: Call) -> Any:
    """Returns how often the submodule `part` runs, of the module that is built or of the first input."""
    model = call.inputs[0] if call.module is None else call.module
    return model_probes.calls(model, call.question.part, call.act)


@probed("part", is_result=True)
def _part(call: Call) -> Any:
    """Returns what the submodule `part` gives for the inputs, of the module that is built or of the first one."""
    model = call.inputs[0] if call.module is None else call.module
    inputs = call.inputs[1:] if call.module is None else call.inputs
    return model.get_submodule(call.question.part)(*inputs)


@probed("draws", is_result=True)
def _draws(call: Call) -> Any:
    """Returns a list; tuples of tensors that have the same sizes each time are a tuple of stacked ones, sent faster."""
    results = [call.act() for _ in range(DRAWS)]
    kinds = {tuple(map(_kind, one)) if type(one) is tuple else None for one in results}
    if len(kinds) > 1 or any(kind is None for kind in kinds.pop() or [None]):
        return results
    return tuple(torch.stack([part.detach() for part in column]) for column in zip(*results, strict=True))


def _kind(value: Any) -> tuple[torch.dtype, torch.Size] | None:
    """Returns what tensors that can be stacked share."""
    plain = isinstance(value, Tensor) and value.layout == torch.strided and value.device.type != "meta"
    return (value.dtype, value.shape) if plain else None


@probed("log")
def _log(call: Call) -> list[list[Any]]:
    """Returns the calls of the recorded functions among the inputs, in order, with the arguments as they were."""
    return spies.log(call.inputs, call.act)


@probed("resumed", is_result=True)
def _resumed(call: Call) -> Any:
    """Returns what the call gives when it is made once more on what it was given, after it was stopped.

    Then the inputs in `follow_up` take the places of the first ones.
    """
    with suppress(spies.Interrupted, spies.Failed):
        call.act()
    new = build_inputs(call.question.follow_up or ())
    return call.function(*new, *call.inputs[len(new) :], **call.keywords)


@probed("after", is_result=True, of_a_model=True)
def _after(call: Call) -> Any:
    """Returns the weights of the first model among the inputs after the call, or its output for `follow_up`."""
    call.act()
    model = first_model(call.inputs)
    return dict(model.state_dict()) if call.question.follow_up is None else call.output(model)


@probed("mode")
def _mode(call: Call) -> str:
    """Returns the mode of the first model among the inputs, and which of the parts it came with is in the other one."""
    model = first_model(call.inputs)
    parts = dict(model.named_modules())
    call.act()
    mode, other = MODES[model.training], MODES[not model.training]
    return next(
        (f"{mode}, but `{name}` in {other}" for name, one in parts.items() if one.training != model.training), mode
    )


@probed("mode while it runs")
def _mode_while_it_runs(call: Call) -> str:
    """Returns whether a part of the first model among the inputs, or of a copy of it, runs in training mode."""
    modes = set[bool]()

    def note(part: nn.Module, inputs: Any) -> None:
        modes.add(part.training)

    hooks = [part.register_forward_pre_hook(note) for part in first_model(call.inputs).modules()]
    try:
        call.act()
    finally:
        for hook in hooks:
            hook.remove()
    return f"{'a' if True in modes else 'no'} part of the model runs in training mode"


@probed("seeds")
def _seeds(call: Call) -> dict[str, str] | None:
    """Returns whether generators of the same seed give the results of a row of calls again, and others do not.

    Another one is a generator of another seed, and one that the calls before have drawn from. It takes a row of them:
    what has few results often has the same one twice.
    """

    def row(shift: int, before: int = 0) -> list[Any]:
        inputs = build_inputs([_shifted(value, shift) for value in call.question.inputs])
        keywords = {name: build(value) for name, value in call.question.keywords.items()}
        return [call.function(*inputs, **keywords) for _ in range(before + ROW)][before:]

    first = [call.act() for _ in range(ROW)]
    if first[0] is None:
        return None

    def same(other: list[Any]) -> str:
        return "the same results" if plain.encode(other) == plain.encode(first) else "other results"

    return {
        "the same seed again": same(row(0)),
        "another seed": same(row(1)),
        "the same generator once more": same(row(0, ROW)),
    }


def _shifted(value: Any, shift: int) -> Any:
    return replace(value, seed=value.seed + shift) if isinstance(value, plain.Generator) else value


@probed("again", is_result=True)
def _again(call: Call) -> dict[str, Any]:
    """Makes the call, again where something has changed, one with the inputs `follow_up`, and the call once more."""
    inputs = copy.deepcopy(call.question.inputs)
    module = call.module
    found = _of_a_function_again(call, inputs) if module is None else _of_a_module_again(call, inputs, module)
    found["in between"] = call.act_on(call.question.follow_up or ())
    last = call.act_on(inputs)
    same = _handed_out(found["first"], module) & _handed_out(last, module)
    found["asked again"] = last
    found["what is handed out"] = SAME_OBJECT if same else NEW_OBJECT
    return found


@probed("changed model")
def _of_a_changed_model(call: Call) -> dict[str, Any]:
    """Makes the call, again when half of what trains in the first model among the inputs is frozen, and as before.

    An entry is the class of an exception where a call stops.
    """
    model = first_model(call.inputs)
    trains = [weight for weight in model.parameters() if weight.requires_grad]
    found = {"at first": call.act()}
    for weight in trains[: (len(trains) + 1) // 2]:
        weight.requires_grad_(False)  # noqa: FBT003 - PyTorch has no name for it
    found["when half of its weights are frozen"] = _kept_or_stopped(call)
    found["what is frozen then"] = {name for name, weight in model.named_parameters() if not weight.requires_grad}
    for weight in trains:
        weight.requires_grad_(True)  # noqa: FBT003 - PyTorch has no name for it
    found["when all train as before"] = _kept_or_stopped(call)
    return found


def _kept_or_stopped(call: Call) -> Any:
    try:
        return plain.fresh(call.act(), call.question.at or {})
    except Exception as problem:  # noqa: BLE001 - whatever a frozen model brings about
        return STOPS + type(problem).__name__


class _Loader(list[Any]):
    """Batches that come in the opposite order at every second pass, as a loader that shuffles gives them in others."""

    passes = 0

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        return super().__iter__() if self.passes % 2 else super().__reversed__()


@probed("loader")
def _of_a_loader(call: Call) -> Any:
    """Returns what a call gives for batches that have another order when they are read a second time."""
    inputs = [_Loader(value) if holds_batches(value) else value for value in call.inputs]
    return call.function(*inputs, **call.keywords)


@probed("interrupted")
def _interrupted(call: Call) -> dict[str, Any]:
    """Returns what a call leaves that what it was given has stopped, and what the same call gives then."""
    return interrupted(call.function, call.question.inputs, call.keywords, call.question.changes)


@probed("returned twice")
def _returned_twice(call: Call) -> dict[str, Any]:
    """Makes a call that returns a model, changes the weights of the one that was given, and makes the call again.

    Returns which weights of the second model are as those of the given one at that time, and as those of the first
    model; and which it shares with the first. It is the very same object that is given: what is kept of it, or found by
    its identity, no longer holds.
    """
    first, given = call.act(), first_model(call.inputs)
    if not isinstance(first, nn.Module):
        return {}
    came = [weight.detach().clone() for weight in given.parameters()]
    _give(given, [weight + 1 for weight in came])
    now = {name: weight.detach().clone() for name, weight in given.state_dict().items()}
    second = call.act()
    _give(given, came)
    return {
        "where its weights come from": model_probes.see(second, "", lambda model: model_probes.origins(model, [now])),
        "shared with the first": model_probes.see(
            second, "", lambda model: model_probes.shared(model, model_probes.held_by(first))
        ),
    }


@torch.no_grad()
def _give(model: nn.Module, weights: Sequence[Tensor]) -> None:
    for weight, values in zip(model.parameters(), weights, strict=True):
        weight.copy_(values)


@probed("left")
def _left(call: Call) -> dict[str, str]:
    """Returns what becomes of the parts, weights and settings that a model has when it comes, where it is changed.

    Of the model that is returned, or else of the first one among the inputs, whose mode may then be another one. What
    it has not had before is not reported.
    """
    model = first_model(call.inputs)
    dropouts = {part: part.p for part in model.modules() if isinstance(part, nn.Dropout)}
    for part in dropouts:
        part.p = part.p or SOME_DROPOUT
    before, result = model_probes.kinds(model), call.act()
    after = model_probes.kinds(result if isinstance(result, nn.Module) else model)
    for part, share in dropouts.items():
        part.p = share
    parts = () if isinstance(result, nn.Module) else {name or "the model" for name, _ in model.named_modules()}
    return {name: after.get(name, "no longer there") for name in before if name not in parts}


@probed("methods")
def _methods(call: Call) -> dict[str, Any]:
    """Returns what the methods give that `entries` names, for the inputs of the call, after one with others."""
    call.act_on(call.question.follow_up or ())
    return {name: getattr(call.module, name)(*call.inputs) for name in call.question.entries}


def _of_a_function_again(call: Call, came: Sequence[Any]) -> dict[str, Any]:
    """Makes the call, and once more with the very same inputs, as they were and with other numbers.

    Inputs that the call is meant to change are not given to it twice. `came` holds the inputs as they came.
    """
    results = {"first": call.act()}
    if not call.question.changes:
        results["at once again"] = call.act()
        results["the same inputs, with other numbers"] = _with_other_values(call, came)
    return results


def _of_a_module_again(call: Call, came: Sequence[Any], module: nn.Module) -> dict[str, Any]:
    """Makes the call, once more without gradients, and, where all weights that train are others, in both ways.

    Without gradients it is asked as where it is evaluated between two steps. What it has kept of the first weights is
    no longer good then, nor in a deep copy that has others in places of their own. It leaves its own weights alone.
    """
    twin = _with_weights_of_its_own(copy.deepcopy(module))
    before = [weight.detach().clone() for weight in module.parameters()]
    found = {"first": call.act()}
    kept = all(map(torch.equal, before, module.parameters()))
    found[OWN_WEIGHTS] = "as before" if kept else OTHERS
    with torch.no_grad():
        found["at once again, without gradients"] = call.act()
    found["a deep copy with other weights"] = call.act_on(came, twin)
    _built_otherwise(call)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(OTHER if parameter.requires_grad else 1.0)
        found["with other weights, without gradients"] = call.act()
    found["with other weights"] = call.act()
    found["a deep copy, made after these calls"] = call.act_on(came, copy.deepcopy(module))
    return found


def _with_weights_of_its_own(module: nn.Module) -> nn.Module:
    """Returns a module in which new parameters with other numbers have taken the places of those that train."""
    new = {id(old): nn.Parameter(old.detach() * OTHER) for old in module.parameters() if old.requires_grad}
    for part in module.modules():
        for name, old in list(part._parameters.items()):
            if id(old) in new:
                setattr(part, name, new[id(old)])
    return module


def _with_other_values(call: Call, first: Sequence[Any]) -> Any:
    """Returns what a call gives while weights of models, and tensors, among its inputs have other numbers.

    Then they are as before. It is a training step that changes both in place: what was kept of them no longer holds.
    `first` holds the inputs as they came: an answer that has changed them is reported elsewhere, and once.
    """
    models = [value for value in call.inputs if isinstance(value, nn.Module)]
    weights = [parameter.detach() for model in models for parameter in model.parameters()]
    pairs = zip(call.inputs, first, strict=True)
    tensors = [(value, came) for value, came in pairs if is_differentiable(came) and came.dim()]
    turned = [(tensor, tensor.clone()) for tensor in [*weights, *(value for value, _ in tensors)]]
    try:
        for weight in weights:
            weight.neg_()
        for value, came in tensors:
            value.copy_(came.flip(0))  # in another order, they are still such numbers as the call is made for
        return plain.fresh(call.act(), call.question.at or {})
    finally:
        for tensor, before in turned:
            tensor.copy_(before)


def _built_otherwise(call: Call) -> None:
    """Builds another module, with the opposite of what is True or False: what is kept on the class becomes that."""
    flags = {name: not value for name, value in (call.question.build or {}).items() if type(value) is bool}
    if flags:
        call.answer(**{**(call.question.build or {}), **flags})


def _handed_out(value: Any, module: nn.Module | None) -> set[int]:
    """Returns the identities of the lists, dicts and sets in a result, and of the memory of tensors.

    A module may give out its own weights.
    """
    parts = [value, *value] if isinstance(value, tuple | list) else [value]
    tensors = [part for part in parts if isinstance(part, Tensor) and part.numel() and part.device.type != "meta"]
    memory = {part.untyped_storage().data_ptr() for part in tensors if part.layout == torch.strided}
    own = {tensor.untyped_storage().data_ptr() for tensor in (model_probes.held_by(module) if module else ())}
    return {id(part) for part in parts if isinstance(part, list | dict | set)} | (memory - own)


def is_differentiable(value: Any) -> bool:
    """Says whether a gradient may be asked of an input: it is a tensor of finite floating point numbers."""
    return isinstance(value, Tensor) and value.is_floating_point() and bool(value.isfinite().all())


@probed("gradients again", is_result=True, makes_gradients=True, asks_gradients=True)
def _gradients_again(call: Call) -> dict[str, Tensor]:
    """Returns the gradients after an evaluation: what is kept of that lets none pass."""
    with torch.no_grad():
        call.act_on(call.question.inputs)
    return _gradients(call)


@probed("gradients", is_result=True, makes_gradients=True, asks_gradients=True)
def _gradients(call: Call) -> dict[str, Tensor]:
    """Returns the gradients of a weighted sum of the result, of inputs and parameters, where one arrives."""
    inputs = call.inputs
    model = call.module or next((value for value in inputs if isinstance(value, nn.Module)), None)
    named = {f"input {n}": value for n, value in enumerate(inputs, 1) if isinstance(value, Tensor)}
    with torch.enable_grad():
        if model is not None:
            model.zero_grad(set_to_none=True)
            named |= dict(model.named_parameters())
        result = call.function(*inputs, **call.keywords)
    with torch.enable_grad():  # again: the answer may have switched it off
        for part in result if isinstance(result, tuple | list) else [result]:
            if isinstance(part, Tensor) and part.requires_grad:
                seen = part[part.isfinite()]
                seen.mul(torch.cos(torch.arange(seen.numel(), dtype=seen.dtype))).sum().backward(retain_graph=True)
    return {f"a gradient of {name}": value.grad for name, value in named.items() if value.grad is not None}


@probed("in training", is_result=True)
def _in_training(call: Call) -> Any:
    """Returns the result of a module in training mode."""
    if call.module is not None:
        call.module.train()
    return call.act()


@probed("in double")
def _in_double(call: Call) -> str:
    """Returns the type of the numbers in the result, where inputs and weights are in double precision.

    And whether they are numbers of single precision all the same, made double at the end. Those that are given have
    more digits than that: the inputs, or what a module is built with, where that is tensors.
    """
    build_with = {name: _double(value) for name, value in (call.question.build or {}).items()}
    digits = 0.0 if any(map(is_differentiable, build_with.values())) else DIGITS
    inputs = [
        copy.deepcopy(one).double() if isinstance(one, nn.Module) else _double(one, digits) for one in call.inputs
    ]
    function: Callable[..., Any] = call.function
    if call.module is not None:
        function = built(replace(call.question, build=build_with), call.answer).double()
    result = function(*inputs, **call.keywords)
    tensors = [one for one in result if isinstance(one, Tensor)] if isinstance(result, tuple | list) else []
    return " and ".join(map(_type, tensors or [result]))


def _type(value: Any) -> str:
    """Returns the type of the numbers of a tensor; of another value its own."""
    if not isinstance(value, Tensor):
        return type(value).__name__
    return f"{value.dtype}{OF_SINGLE if value.dtype == torch.float64 and _is_single(value) else ''}"


def _double(value: Any, digits: float = DIGITS) -> Any:
    """Returns a tensor in double precision, with more `digits` than single precision has; other values as they are."""
    if isinstance(value, dict):
        return {name: _double(one, digits) for name, one in value.items()}
    return value.double() * (1 + digits) if isinstance(value, Tensor) and value.is_floating_point() else value


def _is_single(values: Tensor) -> bool:
    """Says whether numbers are those of single precision, but for the rounding of double precision."""
    return bool(torch.isclose(values, values.float().double(), rtol=1e-12, atol=0.0, equal_nan=True).all())


@probed("device")
def _device(call: Call) -> str:
    """Returns whether all that the call makes stands on the device of its inputs; see `places`.

    A module is built anew on the processor and moved, and with it what it has registered; then its methods are called
    that `entries` names, with what the call gets or with nothing. A model that comes back is asked for `follow_up`.
    """
    question, behind = call.question, ""
    with places.Places() as seen:
        module = None if call.module is None else built(question, call.answer)
        seen.arrive([module, *call.inputs, *call.keywords.values()])
        results = [(module or call.function)(*call.inputs, **call.keywords)]
        for name in question.entries:
            method = getattr(module, name)
            results.append(method(*call.inputs[: len(inspect.signature(method).parameters)]))
        behind = next(filter(None, map(seen.left_behind, results)), "")
        if question.follow_up is not None and not behind and isinstance(results[0], nn.Module):
            follow_up = build(question.follow_up)
            seen.arrive([follow_up])
            results[0](*follow_up)
    return seen.found or behind or places.ON_ONE


@probed("random numbers")
def _random_numbers(call: Call) -> dict[str, str]:
    """Returns for each library whether the call leaves its random numbers to the caller, or seeds them itself.

    It also reports whether PyTorch's global settings are as before. Of a class it reports whether two new
    modules, with the weights that each begins with, give the same, or have a weight in common that is no constant.
    """
    states, inputs = list[dict[str, object]](), copy.deepcopy(call.question.inputs)
    results, drawn = [], list[set[str]]()
    number_type = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)  # whatever an earlier call has left, as for gradients
    with torch.enable_grad():
        for seed in (101, 202):
            random.seed(seed)
            np.random.seed(seed)
            seed_torch(seed)
            module = None if call.module is None else built(replace(call.question, weights=None), call.answer)
            drawn.append(set() if module is None else _drawn_weights(module))
            results.append(plain.encode(call.act_on(inputs, module)))
            states.append(_random_states())
        settings = {
            "recording of gradients": torch.is_grad_enabled(),
            "default type of numbers": torch.get_default_dtype() == torch.float32,
        }
    torch.set_default_dtype(number_type)
    states_by_name = {name: "seeded anew" if states[0][name] == states[1][name] else "left" for name in states[0]}
    states_by_name |= {name: "as before" if is_kept else "changed" for name, is_kept in settings.items()}
    if call.module is None:
        return states_by_name
    same = results[0] == results[1] or bool(drawn[0] & drawn[1])
    return states_by_name | {TWO_NEW: "begin with the same numbers" if same else DIFFER}


def _drawn_weights(module: nn.Module) -> set[str]:
    """Returns the weights that train and do not begin all alike, with their names, as texts."""
    named = {name: weight.detach() for name, weight in module.named_parameters() if weight.requires_grad}
    return {json.dumps([name, plain.encode(weight)]) for name, weight in named.items() if len(weight.unique()) > 1}


_torch_state, _python_state, _numpy_state = torch.get_rng_state, random.getstate, np.random.get_state


def _random_states() -> dict[str, object]:
    """Returns the state of each library's random numbers, in a form that is compared at once."""
    numbers = _numpy_state()
    in_numpy = numbers[1].tobytes(), *numbers[2:]  # type: ignore[index]
    return {"torch": _torch_state().numpy().tobytes(), "random": _python_state(), "numpy": in_numpy}
