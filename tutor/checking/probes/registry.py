"""A question, and what it probes of a call: the wire, the call that is made, and the table of probes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatch
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from tutor.checking import model_probes, plain
from tutor.checking.building import build, build_inputs
from tutor.checking.recipes import DATA

# Under which names parts of a question are stored and sent, where these are not those of the fields.
WIRE_NAMES = {"probe": "take", "extra": "beside", "follow_up": "then"}


class Probe(NamedTuple):
    """What may be asked of a call.

    Args:
        act: makes the call and returns what is seen.
        is_result: the result itself comes back; what others say is found out in the process of the answer.
        of_a_model: calls that are asked so show what becomes of a model.
        makes_gradients: it calls `backward` itself, so that what the inputs have of gradients says nothing.
        asks_gradients: each input asks for a gradient that can, and must do so after the call, too.
    """

    act: Callable[[Call], Any]
    is_result: bool = False
    of_a_model: bool = False
    makes_gradients: bool = False
    asks_gradients: bool = False


PROBES: dict[str, Probe] = {}


Act = TypeVar("Act", bound=Callable[..., Any])


def probed(name: str, **kinds: bool) -> Callable[[Act], Act]:
    """Decorates a probe with its name and what it is, see `Probe`; its docstring says what it gives.

    Raises:
        ValueError: when another one has this name.
    """

    def add(act: Act) -> Act:
        if name in PROBES:
            raise ValueError(f"two probes are called {name!r}; expected a name of its own.")
        PROBES[name] = Probe(act, **kinds)
        return act

    return add


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
        probe: what to look at of the call, one of `PROBES`, which says of each what it gives.
        entries: patterns such as `*.bias`; of a dict that the probe gives, only the entries they fit count.
        follow_up: for an answer that returns a model, inputs with which that model is called; with the probe "again",
            the inputs of the call in between; with "resumed" those of the second call that are others.
        part: the submodule of a returned model to look at or to call, such as "base".
        changes: the inputs, counted from 0, that the call is meant to change; all others must stay as they were.
        extra: plain values by name that a measure of the answer needs and the answer does not get.
        apart: give each call copies of the inputs that must stay as they are, and put models back after it.
        forbids: full names of ready-made parts; where the answer calls one, the reply says so (`forwarding`).

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
        """Refuses a name that no probe has."""
        if self.probe not in PROBES:
            raise ValueError(f"there is no probe {self.probe!r}; expected one of: {', '.join(sorted(PROBES))}.")

    def encode(self) -> dict[str, Any]:
        """Returns JSON-ready data, without the parts left at their defaults; whoever gets it leaves it as it is."""
        return self._encoded

    @cached_property
    def _encoded(self) -> dict[str, Any]:
        return {WIRE_NAMES.get(name, name): plain.encode(value) for name, value in self._given().items()}

    @cached_property
    def text(self) -> str:
        """The question as it is sent: two are the same where their texts are."""
        return json.dumps(self._encoded)

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
    if not PROBES[question.probe].is_result:
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
        for tensor, values, asks in weights:
            tensor.requires_grad_(asks)
            if not torch.equal(tensor, values):
                tensor.data.copy_(values)

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
    """Makes a call; returns what its question's probe gives, of a dict only the entries that count."""
    found = PROBES[call.question.probe].act(call)
    if not (call.question.entries and isinstance(found, dict)):
        return found
    return {
        name: value
        for name, value in found.items()
        if any(fnmatch(str(name), pattern) for pattern in call.question.entries)
    }
