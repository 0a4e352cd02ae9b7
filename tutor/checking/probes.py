"""A question, and what it takes of a call: its result, what becomes of a model, how often a part of it ran, ..."""

from __future__ import annotations

import copy
import inspect
import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatch
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tutor.checking import model_probes, places, plain, spies
from tutor.checking.building import build, build_inputs, first_model
from tutor.checking.globals_used import parts_used
from tutor.checking.interruptions import STOPS, holds_batches, interrupted
from tutor.checking.limits import seed_torch
from tutor.checking.recipes import DATA

TWO_NEW, DIFFER = "two new modules", "begin with different numbers"  # of the take "random numbers"
OWN_WEIGHTS, OTHERS = "its own weights, after a call", "others"  # of the take "again"
SOME_DROPOUT = 0.25  # of models of the take "left"
SAME_OBJECT, NEW_OBJECT = "the same object as at first, or in its memory", "new each time"  # of the take "again"
OTHER = 1.5  # times its weights, a module has other ones
ROW = 12  # calls in a row of the take "seeds"
DRAWS = 600  # enough to know shares to 5 %

# Under which names parts of a question are stored and sent, where these are not those of the fields.
WIRE_NAMES = {"probe": "take", "extra": "beside", "follow_up": "then"}


@dataclass(frozen=True)
class Question:
    """One question: the inputs of a call, and for an expression the values at which to look at it.

    Args:
        inputs, keywords: plain values for the call.
        at: values of the symbols of a sympy answer, as `{"L": 5}`.
        build: for a module answer, the arguments of its constructor; the call is then made on the module.
        weights: for a module answer, tensors for its parameters by name, or a `Model` that has them (with `state`);
            None keeps those of the seed. It is asked in evaluation mode, or with `training` of the `Model` in training.
            For an answer that returns a model, of which `follow_up` asks an output, tensors that the model gets before.
        take: what to take of the call, one of `PROBES`, which says of each what it gives.
        then: for an answer that returns a model, inputs with which that model is called; with the take "again", the
            inputs of the call in between.
        part: the submodule of a returned model to look at or to call, such as "base".
        changes: the inputs, counted from 0, that the call is meant to change; all others must stay as they were.
        entries: patterns such as `*.bias`; of a dict that is taken, only the entries they fit count.
        beside: plain values by name that a measure of the answer needs and the answer does not get.
        forbids: full names of ready-made parts; where the answer calls one, the reply says so (`forwarding`).
        apart: give each call copies of the inputs that must stay as they are, and put models back after it.

    Raises:
        ValueError: when nothing is known by the name in `probe`.
    """

    inputs: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)
    at: dict[str, Any] | None = None
    build: dict[str, Any] | None = None
    weights: dict[str, Any] | plain.Model | None = None
    probe: str = "result"
    entries: tuple[str, ...] = ()
    follow_up: tuple[Any, ...] | None = None
    part: str = ""
    changes: tuple[int, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
    apart: bool = False
    forbids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuses a name that nothing is taken by."""
        if self.probe not in PROBES:
            raise ValueError(f"there is no take {self.probe!r}; expected one of: {', '.join(PROBES)}.")

    def encode(self) -> dict[str, Any]:
        """Returns JSON-ready data, without the parts left at their defaults; whoever gets it leaves it as it is."""
        return self._encoded

    @cached_property
    def _encoded(self) -> dict[str, Any]:
        return {WIRE_NAMES.get(name, name): plain.encode(value) for name, value in self._given().items()}

    def _given(self) -> dict[str, Any]:
        """Returns the parts that are not left at their defaults, by name."""
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: value for name, value in parts.items() if value not in ((), {}, None, "result", "", False)}

    def fresh(self) -> Question:
        """Returns the question made of fresh copies, as from `decode(encode())`."""
        return Question(**{name: plain.fresh(value) for name, value in self._given().items()})

    @classmethod
    def decode(cls, data: dict[str, Any]) -> Question:
        """Returns the `Question` that `encode` was given."""
        fields_of = {old: new for new, old in WIRE_NAMES.items()}
        return cls(**{fields_of.get(name, name): plain.decode(value) for name, value in data.items()})


@dataclass(frozen=True)
class Call:
    """A call that is to be made: the question, what is called, and its inputs, built from their recipes.

    Where it is asked where weights come from, `before` holds the weights of each input as they were, by name, and
    `memory` the tensors of the inputs that must stay, so that their memory is not given to others. `module` is what the
    answer, a class, was built to: then that is the function.
    """

    question: Question
    answer: Callable[..., Any]
    function: Callable[..., Any]
    inputs: list[Any]
    keywords: dict[str, Any]
    before: list[dict[str, Tensor]]
    memory: list[Tensor]
    module: nn.Module | None

    def act(self) -> Any:
        """Makes the call; returns its result."""
        return self.function(*self.inputs, **self.keywords)

    def act_on(self, inputs: Sequence[Any], function: Callable[..., Any] | None = None) -> Any:
        """Makes the call, or that of another function, with inputs that are built anew from these recipes."""
        given = build_inputs(copy.deepcopy(inputs))
        return (function or self.function)(*given, **{name: build(v) for name, v in self.question.keywords.items()})

    def output(self, model: Any) -> Any:
        """Returns what a model, or its submodule `part`, gives for the inputs `follow_up`."""
        if self.module is None and self.question.weights is not None and isinstance(model, nn.Module):
            _load(model, build(self.question.weights))
        return model_probes.output(model, self.question.part, build(self.question.follow_up))

    def seen(self, look: Callable[[nn.Module], Any]) -> Any:
        """Makes the call; returns what `look` sees of the model that comes back, or of its submodule `part`."""
        return model_probes.see(self.act(), self.question.part, look)


def prepare(
    question: Question,
    answer: Callable[..., Any],
    inputs: list[Any],
    keywords: dict[str, Any],
    restore: Callable[[], None] = lambda: None,
) -> Call:
    """Returns the call that a question asks for; builds the module where it says how.

    What is not the result itself is looked at after `restore`.

    Raises:
        TypeError: when a module is to be built, and the answer is no class of `nn.Module`.
    """
    before, memory = list[dict[str, Tensor]](), list[Tensor]()
    if question.probe == "origins":
        weights = map(model_probes.weights_of, inputs)
        before = [{name: tensor.detach().clone() for name, tensor in held.items()} for held in weights]
    if question.probe == "shared":
        stay = [value for number, value in enumerate(inputs) if number not in question.changes]
        memory = [tensor for value in stay for tensor in model_probes.held_by(value)]
    module = None if question.build is None else built(question, answer)
    function = answer if module is None else module
    function = _with_inputs_apart(function, question.changes) if question.apart else function
    if question.probe not in RESULTS:
        function = _restored(function, restore)
    return Call(question, answer, function, inputs, keywords, before, memory, module)


def _restored(function: Callable[..., Any], restore: Callable[[], None]) -> Callable[..., Any]:
    def call(*inputs: Any, **keywords: Any) -> Any:
        try:
            return function(*inputs, **keywords)
        finally:
            restore()

    return call


def _with_inputs_apart(function: Callable[..., Any], changes: Sequence[int]) -> Callable[..., Any]:
    """Returns a function that calls another with copies of its inputs, through which gradients pass.

    A model is given itself, so that gradients arrive there; its modes, weights and what trains are put back.
    """

    def call(*inputs: Any, **keywords: Any) -> Any:
        stay = [n not in changes for n in range(len(inputs))]
        before = [
            _held(value) for value, stays in zip(inputs, stay, strict=True) if stays and isinstance(value, nn.Module)
        ]
        try:
            given = [_apart(value) if stays else value for value, stays in zip(inputs, stay, strict=True)]
            return function(*given, **keywords)
        finally:
            for put_back in before:
                put_back()

    return call


def _apart(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.clone() if value.requires_grad else value.detach().clone()
    return copy.deepcopy(value) if isinstance(value, list | dict | set) or type(value).__name__ in DATA else value


def _held(model: nn.Module) -> Callable[[], None]:
    """Returns what puts a model back as it is now, without a trace where nothing has changed."""
    modes = [(part, part.training) for part in model.modules()]
    weights = [(tensor, tensor.detach().clone(), tensor.requires_grad) for tensor in model_probes.held_by(model)]

    def put_back() -> None:
        for part, mode in modes:
            part.training = mode
        for tensor, numbers, asks in weights:
            tensor.requires_grad_(asks)
            if not torch.equal(tensor, numbers):
                tensor.data.copy_(numbers)

    return put_back


def built(question: Question, answer: Callable[..., Any]) -> nn.Module:
    module, weights = answer(**(question.build or {})), question.weights
    if not isinstance(module, nn.Module):
        raise TypeError(f"expected a class of nn.Module, got one that makes a {type(module).__name__}")
    if question.probe in ("parameters", "state"):
        return module  # it is only looked at
    if weights is not None:
        _load(module, build(weights))
    module.train(isinstance(weights, plain.Model) and weights.training)
    return module


def _load(module: nn.Module, weights: dict[str, Tensor]) -> None:
    """Gives a module the weights that it has a place for, so that one forgotten bias does not fail every question."""
    places = module.state_dict()
    with torch.no_grad():
        for name, weight in weights.items():
            if name in places and places[name].shape == weight.shape:
                places[name].copy_(weight)


def probe(call: Call) -> Any:
    """Makes a call; returns what its question takes of it, of a dict only the entries that count."""
    taken = PROBES[call.question.probe][1](call)
    if not (call.question.entries and isinstance(taken, dict)):
        return taken
    return {
        name: value
        for name, value in taken.items()
        if any(fnmatch(str(name), pattern) for pattern in call.question.entries)
    }


def _result(call: Call) -> Any:
    result = call.act()
    return result if call.question.follow_up is None else call.output(result)


def _parts(call: Call) -> list[str]:
    return parts_used(call.answer, call.question.inputs)


def _names(call: Call) -> Any:
    result = _result(call)
    return {str(name) for name in result} if isinstance(result, dict) else result


def _parameters(call: Call) -> Any:
    return call.seen(model_probes.parameters) if call.module is None else model_probes.parameters(call.module)


def _state(call: Call) -> dict[str, Any]:
    """Returns name -> (shape, trainable) for all that a checkpoint keeps of a module: a tensor may have two names."""
    kept = call.module.state_dict(keep_vars=True) if call.module is not None else {}
    return {name: (tuple(tensor.shape), tensor.requires_grad) for name, tensor in kept.items()}


def _first_numbers(call: Call) -> dict[str, Any]:
    """Returns of each parameter, and buffer, of a new module what is known of numbers drawn by chance.

    Shares and standard deviations come with one decimal, so that the module must be large where they are compared; what
    would be 0 with one, and is not, comes with one digit.
    Within one standard deviation of the mean are 0.68 of normal numbers, and 0.58 of uniform ones.
    """
    first, second = (built(call.question, call.answer).state_dict() for _ in range(2))
    found = dict[str, Any]()
    for name, numbers in first.items():
        values = numbers.double()
        found[f"{name}: mean"] = round(float(values.mean()), 1) + 0.0  # no -0.0
        spread = float(values.std(correction=0))
        found[f"{name}: standard deviation"] = round(spread, 1) or float(f"{spread:.0e}")
        near = (values - values.mean()).abs() <= values.std(correction=0)
        found[f"{name}: share within one standard deviation"] = round(float(near.double().mean()), 1)
        rows = values.flatten(1) if values.dim() > 1 else values[:, None] if values.dim() else values[None, None]
        kinds = len(rows.unique(dim=0))
        alike = "all alike" if kinds <= 1 else "some alike" if kinds < len(rows) else "different"
        found[f"{name}: rows"] = alike
        same = name in second and torch.equal(numbers, second[name])
        found[f"{name}: of two new modules"] = "the same numbers" if same else "other numbers"
    return found


def _origins(call: Call) -> Any:
    return call.seen(lambda model: model_probes.origins(model, call.before))


def _shared(call: Call) -> Any:
    """Returns what a returned model shares with an input that must stay, or with what another call returns."""
    memory, other = call.memory, call.act_on(call.question.inputs)
    if isinstance(other, nn.Module) and not call.question.changes:
        memory = [*memory, *model_probes.held_by(other)]
    return call.seen(lambda model: model_probes.shared(model, memory))


def _learns(call: Call) -> Any:
    if call.question.follow_up is not None:
        return call.seen(lambda model: model_probes.learns(model, build(call.question.follow_up)))
    result = call.act()
    return model_probes.reached(result, first_model(call.inputs)) if isinstance(result, Tensor) else result


def _learning(call: Call) -> Any:
    return call.seen(lambda model: model_probes.learning(model, build(call.question.follow_up)))


def _calls(call: Call) -> Any:
    model = call.inputs[0] if call.module is None else call.module
    return model_probes.calls(model, call.question.part, call.act)


def _recording(call: Call) -> Any:
    model = call.inputs[0] if call.module is None else call.module
    return model_probes.recording(model, call.question.part, call.act)


def _part(call: Call) -> Any:
    model = call.inputs[0] if call.module is None else call.module
    inputs = call.inputs[1:] if call.module is None else call.inputs
    return model.get_submodule(call.question.part)(*inputs)


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


def _log(call: Call) -> list[list[Any]]:
    return spies.log(call.inputs, call.act)


def _resumed(call: Call) -> Any:
    """Returns what the call gives when it is made once more on what it was given, after it was stopped."""
    with suppress(spies.Interrupted, spies.Failed):
        call.act()
    return call.act()


def _after(call: Call) -> Any:
    call.act()
    model = first_model(call.inputs)
    return dict(model.state_dict()) if call.question.follow_up is None else call.output(model)


def _mode(call: Call) -> str:
    """Returns the mode of a model after the call; or which of its parts is in another one, or drops another share."""
    model, modes = first_model(call.inputs), {True: "training mode", False: "evaluation mode"}
    parts, was = dict(model.named_modules()), model.training
    dropouts = _with_some_dropout(model)
    came = [part.training for part in parts.values()]
    call.act()
    found = modes[model.training]
    for (name, part), mode in zip(parts.items(), came, strict=True):
        if model.training == was and part.training != mode:
            found = f"`{name}` is in {modes[part.training]} now"
            break
        if isinstance(part, nn.Dropout) and part.p != (dropouts[part] or SOME_DROPOUT):
            found = f"`{name}.p` was {dropouts[part] or SOME_DROPOUT} and is {part.p} now"
            break
    _put_back(dropouts)
    return found


def _with_some_dropout(model: nn.Module) -> dict[nn.Dropout, float]:
    """Lets each dropout of a model drop something; returns the share of each before."""
    dropouts = {part: part.p for part in model.modules() if isinstance(part, nn.Dropout)}
    for part, share in dropouts.items():
        part.p = share or SOME_DROPOUT
    return dropouts


def _put_back(dropouts: dict[nn.Dropout, float]) -> None:
    for part, share in dropouts.items():
        part.p = share


def _modes(call: Call) -> Any:
    return call.seen(model_probes.modes)


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


def _of_a_loader(call: Call) -> Any:
    """Returns what a call gives for batches that have another order when they are read a second time."""
    inputs = [_Loader(value) if holds_batches(value) else value for value in call.inputs]
    return call.function(*inputs, **call.keywords)


def _interrupted(call: Call) -> dict[str, Any]:
    return interrupted(call.function, call.question.inputs, call.keywords, call.question.changes)


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
    for weight, numbers in zip(model.parameters(), weights, strict=True):
        weight.copy_(numbers)


def _left(call: Call) -> dict[str, str]:
    """Returns what becomes of the parts, weights and settings that a model has when it comes, where it is changed.

    Of the model that is returned, or else of the first one among the inputs, whose mode may then be another one. What
    it has not had before is not reported.
    """
    model = first_model(call.inputs)
    dropouts = _with_some_dropout(model)
    before, result = model_probes.kinds(model), call.act()
    after = model_probes.kinds(result if isinstance(result, nn.Module) else model)
    _put_back(dropouts)
    parts = () if isinstance(result, nn.Module) else {name or "the model" for name, _ in model.named_modules()}
    return {name: after.get(name, "no longer there") for name in before if name not in parts}


def _methods(call: Call) -> dict[str, Any]:
    """Returns what the methods give that `entries` names, for the inputs of the call, after one with others."""
    call.act_on(call.question.follow_up or ())
    return {name: getattr(call.module, name)(*call.inputs) for name in call.question.entries}


def _of_a_function_again(call: Call, came: Sequence[Any]) -> dict[str, Any]:
    """Makes the call, and once more with the very same inputs, as they were and with other numbers.

    Inputs that the call is meant to change are not given to it twice. `came` holds the inputs as they came.
    """
    found = {"first": call.act()}
    if not call.question.changes:
        found["at once again"] = call.act()
        found["the same inputs, with other numbers"] = _with_other_numbers(call, came)
    return found


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


def _with_other_numbers(call: Call, first: Sequence[Any]) -> Any:
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


def _gradients_again(call: Call) -> dict[str, Tensor]:
    """Returns the gradients after an evaluation: what is kept of that lets none pass."""
    with torch.no_grad():
        call.act_on(call.question.inputs)
    return _gradients(call)


def _gradients(call: Call) -> dict[str, Tensor]:
    """Returns the gradients of a weighted sum of the result, of inputs and parameters, where one arrives."""
    inputs: list[Any] = []
    for value in call.inputs:
        inputs.append(value.detach().clone().requires_grad_() if is_differentiable(value) else value)
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


def _contexts(call: Call) -> dict[str, Any]:
    """Encodes the source of the question and then that of `follow_up`, and decodes twice with what came first.

    The second time the context is one that notes the weights of attention.
    """
    module: Any = call.module
    source, lengths, target = call.inputs
    context = module.encode(source, lengths)
    module.encode(*build_inputs(copy.deepcopy(call.question.follow_up or ())))
    first = module.decode(target[:, :-1], context)
    context.maps = {}
    found = {"the first words": first, "all words": module.decode(target, context)}
    return found | {"attentions whose weights stand in the context": len(context.maps)}


def _merged(call: Call) -> dict[str, Any]:
    """Returns the weights of the layer that `merged()` of a module gives, and what the module gives afterwards.

    Also which of these weights lie in the module's memory, of which weights of the module it has changed whether they
    learn, and which type they have when the module is in double.
    """
    module: Any = call.module
    held, learned = list(module.state_dict().values()), _learning_weights(module)
    merged = module.merged()
    found = {
        "the merged layer": model_probes.see(merged, "", model_probes.weights_of),
        "the layer itself, afterwards": call.act(),
        "shared with the layer itself": model_probes.see(merged, "", lambda layer: model_probes.shared(layer, held)),
        "what learns otherwise afterwards": learned ^ _learning_weights(module),
    }
    module.double()
    found["merged in double precision"] = model_probes.see(module.merged(), "", model_probes.types)
    return found


def _learning_weights(module: nn.Module) -> set[str]:
    return {name for name, weight in module.named_parameters() if weight.requires_grad}


def _in_training(call: Call) -> Any:
    if call.module is not None:
        call.module.train()
    return call.act()


def _in_double(call: Call) -> str:
    """Returns the type of the numbers in the result, where inputs and weights are in double precision."""
    floats = [isinstance(value, Tensor) and value.is_floating_point() for value in call.inputs]
    inputs = [value.double() if is_float else value for value, is_float in zip(call.inputs, floats, strict=True)]
    inputs = [copy.deepcopy(value).double() if isinstance(value, nn.Module) else value for value in inputs]
    if call.module is not None:
        call.module.double()
    result = call.function(*inputs, **call.keywords)
    return str(result.dtype) if isinstance(result, Tensor) else type(result).__name__


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


# Those of which the result itself comes back; what the others say is found out in the process of the answer.
RESULTS = (
    "result",
    "draws",
    "resumed",
    "after",
    "again",
    "gradients",
    "gradients again",
    "in training",
    "contexts",
    "part",
    "merged",
    "learning",
)
# Those that call `backward` themselves, so that what the inputs have of gradients says nothing of the answer.
MAKES_GRADIENTS = ("gradients", "gradients again", "learns", "learning")
# name -> (what is taken, in words; the function that makes the call and takes it)
PROBES: dict[str, tuple[str, Callable[[Call], Any]]] = {
    "result": ("the result; with `then`, what the returned model gives for these inputs, in evaluation mode", _result),
    "names": ("the keys of a dict that is the result", _names),
    "parameters": ("shapes and what trains, of a returned model or, without a call, of one that is built", _parameters),
    "state": ("the entries of the state_dict() of a module that is built: shapes and what trains", _state),
    "first numbers": (
        "of a module that is built: mean, standard deviation and rows of each weight that it begins with, and whether "
        "a second one begins with others",
        _first_numbers,
    ),
    "origins": ("of a returned model: which input has the same numbers under the same name, for each weight", _origins),
    "shared": (
        "of a returned model: the parameters in the memory of an input that must stay, or of another call's",
        _shared,
    ),
    "learns": (
        "the parameters that a gradient reaches: with `then` of a returned model's output for these inputs, else of a "
        "tensor that a model among the inputs has made",
        _learns,
    ),
    "learning": (
        "of a returned model: the gradients that reach its parameters from its output for `then`, as numbers",
        _learning,
    ),
    "seeds": ("whether generators of the same seed give the same results, and others do not", _seeds),
    "draws": (f"what {DRAWS} calls in a row give, which share the inputs and so the generator", _draws),
    "after": ("of the first model among the inputs, after the call: its weights, or what it gives for `then`", _after),
    "mode": ("the mode of the first model among the inputs after the call, or which part is not as it came", _mode),
    "modes": ("of a returned model: its mode, and the names of its parts that are in the other one", _modes),
    "log": ("the calls of the recorded functions among the inputs, in order, with the arguments as they were", _log),
    "resumed": ("what a call that was stopped gives when it is made once more, on what it was given", _resumed),
    "again": ("what the call gives, at once again, after one with the inputs `then`, and that one gives", _again),
    "gradients": ("the gradients that arrive at inputs and parameters from a weighted sum of the result", _gradients),
    "in training": ("the result of a module in training mode", _in_training),
    "in double": ("the type of the result where inputs and weights are in double precision", _in_double),
    "device": ("whether what the call makes stands where its inputs do", _device),
    "changed model": (
        "what the call gives, after half of the model among its inputs was frozen, and when all trains as before",
        _of_a_changed_model,
    ),
    "interrupted": (
        "what a call leaves that what it was given has stopped, and what the same call gives then",
        _interrupted,
    ),
    "loader": ("the result for batches that have another order when they are read a second time", _of_a_loader),
    "returned twice": (
        "of two models returned for one that changes in between: whose weights the second has, and what both share",
        _returned_twice,
    ),
    "left": ("of a model that is changed or returned: what becomes of its parts, weights, modes and settings", _left),
    "methods": ("what the methods that `entries` names give, after a call with the inputs `then`", _methods),
    "gradients again": ("these gradients, after the same call in an evaluation without gradients", _gradients_again),
    "contexts": ("of a translator: what it decodes with a context, another one encoded in between", _contexts),
    "merged": (
        "of a module: the weights of the layer that `merged()` gives, its own result afterwards, which weights the two "
        "share, and the types of the weights when the module is in double precision",
        _merged,
    ),
    "random numbers": (
        "whether the call seeds the caller's random numbers or changes PyTorch's settings; of a class, whether two new "
        "modules differ",
        _random_numbers,
    ),
    "part": ("what the submodule `part` gives for the inputs, of the module that is built or of the first one", _part),
    "calls": ("how often the submodule `part` runs, of the module that is built or of the first input", _calls),
    "recording": ("whether gradients are recorded where that submodule runs", _recording),
    "parts used": ("of the parts whose full names are the inputs: which the answer uses; it is not called", _parts),
}
