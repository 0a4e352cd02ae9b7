"""What a question takes of a call: its result, what the call has made of a model, how often a part of it ran, ..."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from helpers.checking import model_probes, plain, spies
from helpers.checking.building import build, build_inputs, first_model

if TYPE_CHECKING:
    from helpers.checking.answers import Ask

DRAWS = 600  # enough to tell shares to 5 %


@dataclass(frozen=True)
class Call:
    """A call that is to be made: the question, what is called, and its inputs, built from their recipes.

    `before` holds what `model_probes.view_of` gives for each input, encoded. `memory` are the tensors of the inputs
    that must stay as they were, held so that their memory is not given to others. `module` is what the answer, a class,
    was built to: then that is the function.
    """

    question: Ask
    function: Callable[..., Any]
    inputs: list[Any]
    keywords: dict[str, Any]
    before: list[Any]
    memory: list[Tensor]
    module: nn.Module | None

    def act(self) -> Any:
        """Makes the call; returns its result."""
        return self.function(*self.inputs, **self.keywords)

    def output(self, model: Any) -> Any:
        """Returns what a model, or its submodule `part`, gives for the inputs `then`."""
        return model_probes.output(model, self.question.part, build(self.question.then))

    def seen(self, look: Callable[[nn.Module], Any]) -> Any:
        """Makes the call; returns what `look` sees of the model that comes back, or of its submodule `part`."""
        return model_probes.see(self.act(), self.question.part, look)


def prepare(
    question: Ask, answer: Callable[..., Any], inputs: list[Any], keywords: dict[str, Any], before: list[Any]
) -> Call:
    """Returns the call that a question asks for; builds the module where it says how.

    Raises:
        TypeError: when a module is to be built, and the answer is no class of `nn.Module`.
    """
    stay = [value for number, value in enumerate(inputs) if number not in question.changes]
    memory = [tensor for value in stay for tensor in model_probes.weights_of(value).values()]
    module = None if question.build is None else _built(question, answer, question.build)
    return Call(question, answer if module is None else module, inputs, keywords, before, memory, module)


def _built(question: Ask, answer: Callable[..., Any], arguments: dict[str, Any]) -> nn.Module:
    module, weights = answer(**arguments), question.weights
    if not isinstance(module, nn.Module):
        raise TypeError(f"expected a class of nn.Module, got one that makes a {type(module).__name__}")
    if question.take == "parameters":
        return module  # it is only looked at
    if weights is not None:
        module.load_state_dict(build(weights))
    module.train(isinstance(weights, plain.Model) and weights.training)
    return module


def take(call: Call) -> Any:
    """Makes a call; returns what its question takes of it, of a dict only the entries that count."""
    taken = TAKES[call.question.take][1](call)
    if not (call.question.entries and isinstance(taken, dict)):
        return taken
    return {
        name: value
        for name, value in taken.items()
        if any(fnmatch(str(name), pattern) for pattern in call.question.entries)
    }


def _result(call: Call) -> Any:
    result = call.act()
    return result if call.question.then is None else call.output(result)


def _names(call: Call) -> Any:
    result = _result(call)
    return {str(name) for name in result} if isinstance(result, dict) else result


def _parameters(call: Call) -> Any:
    return call.seen(model_probes.parameters) if call.module is None else model_probes.parameters(call.module)


def _origins(call: Call) -> Any:
    return call.seen(lambda model: model_probes.origins(model, [plain.decode(view) for view in call.before]))


def _shared(call: Call) -> Any:
    return call.seen(lambda model: model_probes.shared(model, call.memory))


def _learns(call: Call) -> Any:
    if call.question.then is not None:
        return call.seen(lambda model: model_probes.learns(model, build(call.question.then)))
    result = call.act()
    return model_probes.reached(result, first_model(call.inputs)) if isinstance(result, Tensor) else result


def _calls(call: Call) -> Any:
    model = call.inputs[0] if call.module is None else call.module
    return model_probes.calls(model, call.question.part, call.act)


def _draws(call: Call) -> list[Any]:
    return [call.act() for _ in range(DRAWS)]


def _log(call: Call) -> list[list[Any]]:
    return spies.log(call.inputs, call.act)


def _after(call: Call) -> Any:
    call.act()
    model = first_model(call.inputs)
    return dict(model.state_dict()) if call.question.then is None else call.output(model)


def _mode(call: Call) -> str:
    call.act()
    return "training mode" if first_model(call.inputs).training else "evaluation mode"


def _seeds(call: Call) -> dict[str, str] | None:
    """Returns whether generators of the same seed give the result of a call again, and others do not.

    Another one is a generator of another seed, and one that an earlier call has drawn from.
    """
    first = call.act()
    if first is None:
        return None

    def same(shift: int, times: int = 1) -> str:
        inputs = build_inputs([_shifted(value, shift) for value in call.question.inputs])
        keywords = {name: build(value) for name, value in call.question.keywords.items()}
        for _ in range(times):
            result = call.function(*inputs, **keywords)
        return "the same result" if plain.encode(result) == plain.encode(first) else "another result"

    return {"the same seed again": same(0), "another seed": same(1), "the same generator once more": same(0, 2)}


def _shifted(value: Any, shift: int) -> Any:
    return replace(value, seed=value.seed + shift) if isinstance(value, plain.Generator) else value


# name -> (what is taken, in words; the function that makes the call and takes it)
TAKES: dict[str, tuple[str, Callable[[Call], Any]]] = {
    "result": ("the result; with `then`, what the returned model gives for these inputs, in evaluation mode", _result),
    "names": ("the keys of a dict that is the result", _names),
    "parameters": ("shapes and what trains, of a returned model or, without a call, of one that is built", _parameters),
    "origins": ("of a returned model: which input has the same numbers under the same name, for each weight", _origins),
    "shared": ("of a returned model: the parameters that lie in the memory of an input that must stay", _shared),
    "learns": (
        "the parameters that a gradient reaches: with `then` of a returned model's output for these inputs, else of a "
        "tensor that a model among the inputs has made",
        _learns,
    ),
    "seeds": ("whether generators of the same seed give the same result, and others another one", _seeds),
    "draws": (f"what {DRAWS} calls in a row give, which share the inputs and so the generator", _draws),
    "after": ("of the first model among the inputs, after the call: its weights, or what it gives for `then`", _after),
    "mode": ("of the first model among the inputs, after the call: training mode or evaluation mode", _mode),
    "log": ("the calls of the recorded functions among the inputs, in order, with the arguments as they were", _log),
    "calls": ("how often the submodule `part` runs, of the module that is built or of the first input", _calls),
}
