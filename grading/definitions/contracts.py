"""What every answer keeps, whatever it computes: questions made from those of the stages, in several circumstances.

Whatever the reference keeps, an answer must keep. Each circumstance makes a question from one that the exercise asks
anyway; the reference is asked it too, and where that gives nothing to compare, the question falls away. So an exercise
says only where it wants less: `Exercise.exceptions`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from tutor.checking import plain
from tutor.checking.answers import Question, Reply
from tutor.checking.building import build
from tutor.checking.compare import difference
from tutor.checking.interruptions import LEAVES, STOPS, STOPS_IT, can_stop, holds_batches
from tutor.checking.judging import Case, Raised, StageCases, share
from tutor.checking.places import ON_ONE
from tutor.checking.plain import Other
from tutor.checking.probes import PROBES
from tutor.checking.probes.several_notebooks import DIFFER, TWO_NEW, is_differentiable
from tutor.checking.recipes import DATA, Model, models_in
from tutor.checking.sentences import INPUTS_STAY as INPUTS_STAY
from tutor.checking.sentences import NO_GRADIENT


class Exercise(Protocol):
    """What is needed of an exercise: see `grading.definitions.exercise`."""

    @property
    def reference(self) -> Callable[..., Any]:
        """The right answer."""

    @property
    def points(self) -> float:
        """The full mark."""

    @property
    def exceptions(self) -> tuple[str, ...]:
        """Names of circumstances that are not asked."""

    @property
    def large(self) -> Sequence[Question]:
        """Questions of a size that no table made for small ones covers."""

    @property
    def trains(self) -> bool:
        """Whether gradients must pass through a function."""

    def reply(self, ask: Question) -> Reply:
        """Returns what the reference replies."""


TRIED = 6  # calls among which the one is looked for through which most gradients pass
OF_A_MODEL = ("result", "parameters", "origins", "shared", "learns", "learning", "modes", "mode")  # what comes back
LARGE = "a long input as well as a short one"
STAYS_FROZEN = "a model that is made of a frozen one is frozen, too"  # exceptions within `_left`
KEEPS_MODE = "a model that is made of one in training mode is in training mode, too"
Asks = TypeVar("Asks", bound=Callable[..., Iterator[Question]])


@dataclass(frozen=True)
class Circumstance:
    """One thing that every answer keeps: its name, where to look, and how a question is made from others."""

    name: str
    feedback: str
    asks: Callable[[Exercise, Sequence[Question]], Iterator[Question]]
    of_any_call: bool


CIRCUMSTANCES: list[Circumstance] = []  # in the order of causes


def circumstance(name: str, feedback: str, *, of_any_call: bool = False) -> Callable[[Asks], Asks]:
    """Decorates what makes the questions of a circumstance, from an exercise and the plain calls among its questions.

    With `of_any_call` it gets calls with another probe than the result, too.
    """

    def add(asks: Asks) -> Asks:
        CIRCUMSTANCES.append(Circumstance(name, feedback, asks, of_any_call))
        return asks

    return add


def stages(exercise: Exercise, main: Sequence[StageCases]) -> list[StageCases]:
    """Returns the stages on what every answer keeps, one for each circumstance that has questions.

    Args:
        main: the stages of the exercise, with their public cases.
    """
    asked = [(stage, case) for stage in main for case in stage.cases]
    any_calls = [case.ask for _, case in asked if case.ask.inputs and not isinstance(case.wanted, Raised)]
    plain_calls = [case.ask for stage, case in asked if _is_plain_call(stage, case)]
    found = []
    for one in CIRCUMSTANCES:
        calls = any_calls if one.of_any_call else plain_calls
        if one.name in exercise.exceptions or not calls:
            continue
        made = [(ask, exercise.reply(ask).value) for ask in one.asks(exercise, calls)]
        if cases := [Case(ask, wanted) for ask, wanted in made if _is_comparable(ask, wanted)]:
            found.append(
                StageCases(
                    one.name,
                    one.feedback,
                    0,
                    "values",
                    max(stage.tolerance for stage in main),
                    tuple(cases),
                    cost=share(exercise.points),
                )
            )
    return found


def _is_plain_call(stage: StageCases, case: Case) -> bool:
    """Says whether a question is a call whose result is compared as it is."""
    ask = case.ask
    as_it_is = ask.probe == "result" and ask.follow_up is None and not ask.at and not stage.measure
    return as_it_is and bool(ask.inputs) and not isinstance(case.wanted, Raised)


def _is_comparable(ask: Question, wanted: Any) -> bool:
    """Says whether there is anything to compare in what the reference gives."""
    if ask.probe == "in double":
        return set(str(wanted).split(" and ")) == {"torch.float64"}
    if ask.probe == "device":
        return bool(wanted == ON_ONE)
    return not (wanted is None or isinstance(wanted, Other) or (isinstance(wanted, dict) and not wanted))


@circumstance(
    "asked again, after another question, it gives the same",
    "It keeps something from one call to the next, which does not fit when inputs, weights or a model have changed "
    "or a module was copied; or it hands out the same object twice.",
)
def _again(exercise: Exercise, calls: Sequence[Question]) -> Iterator[Question]:
    """Yields a call with another one in between, and the other way round; of a module ones with the same arguments.

    The other one may be the same but for an input that may be None: what is kept of it would take its place. And it
    may have inputs of the same shapes, by which alone what is kept must not be found.

    What is kept of a call may be too short for the other, or too long. Of the others it is the one that has most inputs
    in common, and the last that differs; of whole numbers each becomes another one by itself. Where there is a model,
    one of the calls in between has the same inputs and another model.
    """
    ask = _richest(calls)
    alike = [other for other in calls if other.build == ask.build and other.keywords == ask.keywords]
    others = [other.inputs for other in reversed(alike) if not _same(other.inputs, ask.inputs)]
    if all(type(value) is int for value in ask.inputs):
        others = [(*ask.inputs[:n], value + 2, *ask.inputs[n + 1 :]) for n, value in enumerate(ask.inputs)]
    elif others:
        alike_most = max(others, key=lambda inputs: _in_common(inputs, ask.inputs))
        if alike_most is not others[0]:
            yield replace(ask, probe="again", follow_up=others[0])
        others = [alike_most]
    for place in _optional(exercise, ask):
        by_axes = {_axes(one.inputs[place]): one for one in [*calls, ask] if _gives(one, place)}
        for one in by_axes.values():
            yield replace(one, probe="again", follow_up=(*one.inputs[:place], None, *one.inputs[place + 1 :]))
    if _is_class(exercise):
        yield from (replace(one, probe="gradients again") for one in _gradients(exercise, calls))
        others.append(_turned(exercise, ask.inputs))
        ways = _richest_of_each_way(exercise, calls)
        yield from (
            replace(one, probe="again", follow_up=_turned(exercise, one.inputs))
            for one in ways
            if _is_other_way(one, ask)
        )
    if loaders := [one for one in calls if any(map(holds_batches, one.inputs)) and not one.changes]:
        yield replace(loaders[-1], probe="loader")
    with_models = [one for one in calls if any(map(_is_alive, one.inputs)) and not (one.changes or one.build)]
    for one in {str([value for value in one.inputs if type(value) is bool]): one for one in with_models}.values():
        yield from _with_a_changed_model(exercise, replace(one, probe="changed model", entries=()))
    other_model = next(_with_another_model(ask.inputs), None)
    for inputs in others or [ask.inputs]:
        yield replace(ask, probe="again", follow_up=other_model or inputs)
        yield replace(ask, inputs=inputs, probe="again", follow_up=ask.inputs)


def _with_a_changed_model(exercise: Exercise, ask: Question) -> Iterator[Question]:
    """Yields the question; where the reference stops, or gives a model, nothing is compared."""
    found = exercise.reply(ask).value
    entries = found.items() if isinstance(found, dict) else ()
    goes = tuple(name for name, one in entries if not (_stops(one) or isinstance(one, Other)))
    if goes:
        yield replace(ask, entries=goes)


def _is_other_way(one: Question, other: Question) -> bool:
    return set(one.build or {}) != set(other.build or {})


def _with_another_model(inputs: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yields the same inputs with a model of other weights for the first of their models.

    They are drawn from another seed; those that its recipe holds as numbers are larger by half.
    """
    for place, value in enumerate(inputs):
        if isinstance(value, Model) and value.name not in DATA and not (value.state or value.meta):
            larger = {key: 1.5 * one for key, one in value.arguments.items() if is_differentiable(one)}
            other = replace(value, seed=value.seed + 1, arguments=value.arguments | larger)
            yield (*inputs[:place], other, *inputs[place + 1 :])
            return


def _turned(exercise: Exercise, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Returns inputs with the numbers of tensors in the opposite order; a mask, and what is no tensor, stays.

    Where an input says the lengths of the sentences before it, their padding stays at the end.
    """
    turned = [
        value.flip(list(range(value.dim()))) if isinstance(value, Tensor) and not value.isinf().any() else value
        for value in inputs
    ]
    for place, parameter in enumerate(_parameters(exercise)[: len(inputs)]):
        if parameter.name.endswith("lengths"):
            pairs = zip(inputs[place - 1].flip(0), turned[place].tolist(), strict=True)
            turned[place - 1] = torch.stack([torch.cat([row[:n].flip(0), row[n:]]) for row, n in pairs])
    return tuple(turned)


def _parameters(exercise: Exercise) -> list[inspect.Parameter]:
    """Returns the parameters of a call: of a module those of `forward`."""
    forward = getattr(exercise.reference, "forward", None)
    called = inspect.signature(forward if forward and _is_class(exercise) else exercise.reference).parameters
    return [parameter for name, parameter in called.items() if name != "self"]


def _optional(exercise: Exercise, ask: Question) -> list[int]:
    """Returns the places of the inputs that are given here and have the default None."""
    pairs = zip(ask.inputs, _parameters(exercise), strict=False)
    return [place for place, (value, one) in enumerate(pairs) if one.default is None and value is not None]


def _gives(ask: Question, place: int) -> bool:
    return len(ask.inputs) > place and ask.inputs[place] is not None


def _axes(value: Any) -> int:
    return value.dim() if isinstance(value, Tensor) else 0


def _in_common(inputs: Sequence[Any], others: Sequence[Any]) -> int:
    return sum(_same(one, other) for one, other in zip(inputs, others, strict=False))


@circumstance(
    "a model keeps the mode in which it came",
    "It calls `model.eval()` or `model.train()` and leaves it at that. Whoever trains the model goes on in the "
    "wrong mode: put it back, or do without. `model.train(was)` puts back the parts too, `model.training = was` "
    "the outermost alone.",
    of_any_call=True,
)
def _modes(exercise: Exercise, calls: Sequence[Question]) -> Iterator[Question]:
    """Yields a call with a model in training mode; that it changes nothing else in the model is asked elsewhere.

    It is the model of most parts, each of which has a mode.
    """
    found = dict[int, Question]()
    for ask in calls:
        for place, value in enumerate(ask.inputs):
            meant = place in ask.changes  # it may be changed, so its mode may be, too
            if isinstance(value, Model) and value.name not in DATA and not (value.state or value.meta or meant):
                inputs = (*ask.inputs[:place], replace(value, training=True), *ask.inputs[place + 1 :])
                changes = tuple({*ask.changes, place})
                asked = replace(ask, inputs=inputs, probe="mode", follow_up=None, entries=(), changes=changes)
                found[sum(1 for _ in build(value).modules())] = asked
                break
    if found:
        yield found[max(found)]


@circumstance(
    "what becomes of a model is what the text says, and no more",
    "A model that is given again may have changed: trained, frozen, or of another number type. Keep nothing of it "
    "from call to call, and leave what the text does not speak of: modes, dropout, and which weights train.",
    of_any_call=True,
)
def _states(exercise: Exercise, calls: Sequence[Question]) -> Iterator[Question]:
    """Yields a call that returns a model twice, for one that has changed in between.

    And what becomes of its parts in a call; it comes in training mode, and with dropout, which other questions do
    without: so it is seen where that is taken out for good.
    """
    for ask in calls:
        if PROBES[ask.probe].of_a_model and _is_alive(ask.inputs[0]) and not ask.build:
            base = replace(ask, probe="returned twice", follow_up=None, entries=(), part="")
            if not ask.changes and isinstance(exercise.reply(base).value, dict):
                yield base
            if 0 in ask.changes or ask.follow_up is not None or ask.probe != "result":
                yield _left(exercise, replace(base, probe="left"))
            else:  # that it changes nothing else in the model is asked elsewhere
                inputs = (replace(ask.inputs[0], training=True), *ask.inputs[1:])
                yield replace(base, probe="left", inputs=inputs, changes=(0, *ask.changes))
            return


def _left(exercise: Exercise, ask: Question) -> Question:
    """Returns the call with a model of which some weights are frozen, if the reference leaves that as it is.

    An exercise that does not speak of modes, or of a frozen model, has an exception for it.
    """
    model: Model = replace(ask.inputs[0], training=True)
    names = [name for name, _ in build(model).named_parameters()]
    if KEEPS_MODE in exercise.exceptions:
        found = exercise.reply(replace(ask, inputs=(model, *ask.inputs[1:]))).value
        ask = replace(ask, entries=tuple(name for name, kind in found.items() if not kind.endswith(" mode")))
    for frozen in () if model.freeze or STAYS_FROZEN in exercise.exceptions else ({names[0], names[-1]}, {names[0]}):
        asked = replace(ask, inputs=(replace(model, freeze=tuple(sorted(frozen))), *ask.inputs[1:]))
        found = exercise.reply(asked).value
        kinds = {name: "frozen" if name in frozen else "trains" for name in names}
        if isinstance(found, dict) and all(found.get(name) == kind for name, kind in kinds.items()):
            return asked
    return replace(ask, inputs=(model, *ask.inputs[1:]))


@circumstance(
    "after an interruption, what it was given is good for the same call once more",
    "What it calls may end with an error, or be interrupted by Ctrl-C, at any time. Make what it adds to something "
    "that was given, or that is kept, in a variable of its own, and add it when it is whole.",
)
def _after_an_interruption(exercise: Exercise, calls: Sequence[Question]) -> Iterator[Question]:
    """Yields a call that what it is given may stop, a recorded function or a model that it does not change.

    Of what the reference itself leaves changed nothing is compared, nor where it stops when it is called again.
    """
    stopping = [
        replace(ask, probe="interrupted", entries=())
        for ask in calls
        if ask.build is None
        and any(map(can_stop, ask.inputs))
        and not any(isinstance(ask.inputs[place], Model) for place in ask.changes)
    ]
    for ask in sorted(stopping, key=lambda ask: sum(map(_numbers_in, ask.inputs)))[:TRIED]:
        found = exercise.reply(ask).value
        if isinstance(found, dict) and any(one is True for name, one in found.items() if name.endswith(STOPS_IT)):
            yield replace(ask, entries=tuple(name for name, one in found.items() if _holds(name, one)))
            return


def _holds(name: str, found: Any) -> bool:
    """Says whether an entry of the probe "interrupted" of the reference must hold for all answers."""
    return not (name.endswith((STOPS_IT, LEAVES)) and found) and not (_stops(found) or isinstance(found, Other))


@circumstance(
    "each method gives what its description says",
    "A method of the class is called by itself: its description says what it gives, and of which shape.",
)
def _methods(exercise: Exercise, calls: Sequence[Question]) -> Iterator[Question]:
    """Yields a call of the methods of a module that have a docstring and take what `forward` takes."""
    entries = _documented(exercise, _takes(exercise))
    if entries and "forward" not in entries:
        ask = _richest(calls)
        alike = (one.inputs for one in reversed(calls) if one.build == ask.build and not _same(one.inputs, ask.inputs))
        yield replace(ask, probe="methods", entries=entries, follow_up=next(alike, ask.inputs))


@circumstance(
    "a gradient passes through, wherever the result depends on a number",
    f"{NO_GRADIENT} One becomes NaN where an exponential is infinite, also in what `torch.where` leaves out.",
)
def _gradients(exercise: Exercise, calls: Sequence[Question]) -> Iterator[Question]:
    """Yields the call through which most gradients pass: where a softmax has one winner, none does.

    One where all inputs are finite numbers, and one where an input is not, as a mask of minus infinity. Of a function
    also where exponentials are 0 or infinite, and of these where most gradients pass and where fewest do: what
    `torch.where` leaves out of the result has gradients all the same, and 0 times infinity is not a number.
    """
    if exercise.trains or _is_class(exercise):
        most = max(sum(value is not None for value in ask.inputs) for ask in calls)
        rich = [ask for ask in reversed(calls) if sum(value is not None for value in ask.inputs) == most]
        alike = dict[tuple[bool, ...], list[Question]]()
        for ask in [ask for ask in rich if not any(map(_is_odd, ask.inputs))] or rich:
            alike.setdefault(tuple(map(is_differentiable, ask.inputs)), []).append(replace(ask, probe="gradients"))
        for asks in alike.values():
            tried = [(ask, exercise.reply(ask).value) for ask in asks[:TRIED]]
            richest = sorted(tried, key=lambda pair: _passing(pair[1]), reverse=True)
            yield next((ask for ask, found in richest if _is_smooth(exercise, ask, found)), richest[0][0])
    if exercise.trains:
        far = [replace(ask, probe="gradients") for ask in calls if any(map(_is_far, ask.inputs))]
        tried = [(ask, exercise.reply(ask).value) for ask in far[-TRIED:]]
        smooth = [(ask, found) for ask, found in tried if _is_smooth(exercise, ask, found)]
        if smooth:
            passing = [_passing(found) for _, found in smooth]
            yield from (smooth[number][0] for number in {passing.index(max(passing)), passing.index(min(passing))})


def _is_far(value: Any) -> bool:
    """Says whether exponentials of a tensor's numbers, or of a model's logits, are 0 or infinite in 32 bits."""
    if isinstance(value, Model):
        return value.spread > 10
    return is_differentiable(value) and bool((value.abs() > 100).any())


def _is_smooth(exercise: Exercise, ask: Question, here: Any) -> bool:
    """Says whether gradients, `here`, change evenly when all numbers become a little larger and a little smaller.

    At the corner of a ReLU, where round numbers add up to 0, they do not, and right answers have different ones. Nor do
    those of several layers with very large weights: there another processor's rounding makes other gradients.
    """
    above, below = (exercise.reply(_moved(ask, by)).value for by in (1e-5, -1e-5))
    if not all(isinstance(found, dict) and found.keys() == above.keys() for found in (above, below, here)):
        return False
    return difference(here, {name: (above[name] + below[name]) / 2 for name in here}) is None


def _moved(ask: Question, by: float) -> Question:
    """Returns the question with each number of inputs and weights a little larger or smaller."""

    def moved(value: Any) -> Any:
        if isinstance(value, Model) and value.spread:
            return replace(value, spread=value.spread * (1 + by))
        if not is_differentiable(value):
            return value
        return value * (1 + by * torch.cos(torch.arange(value.numel())).view_as(value)).to(value.dtype)

    weights = {name: moved(value) for name, value in ask.weights.items()} if isinstance(ask.weights, dict) else None
    return replace(ask, inputs=tuple(map(moved, ask.inputs)), weights=weights or ask.weights)


def _is_odd(value: Any) -> bool:
    """Says whether a tensor holds NaN or infinity: through what may be left out, no gradient is promised."""
    return isinstance(value, Tensor) and value.is_floating_point() and bool((value.isnan() | value.isposinf()).any())


def _passing(gradients: Any) -> int:
    """Returns how many numbers of the gradients are not 0; of what is none of gradients, 0."""
    tensors = gradients.values() if isinstance(gradients, dict) else ()
    return max((int((tensor.abs() > 1e-6).sum()) for tensor in tensors if isinstance(tensor, Tensor)), default=0)


@circumstance(
    "in training mode as in evaluation mode",
    "The exercise asks for nothing that differs between `train()` and `eval()`: no dropout and no noise.",
)
def _in_training(exercise: Exercise, calls: Sequence[Question]) -> Iterator[Question]:
    for ask in _richest_of_each_way(exercise, calls):
        yield replace(ask, probe="in training")


@circumstance(
    "double precision stays double precision",
    "Make new tensors of the type of what is given: `torch.zeros(..., dtype=x.dtype)`, or `x.new_zeros(...)`; do "
    "not call `.float()` on it, and ask for no `dtype=torch.float32`.",
)
def _in_double(exercise: Exercise, calls: Sequence[Question]) -> Iterator[Question]:
    """Yields a call of a module built in each way, and of a function that is given numbers with a point."""
    for ask in _richest_of_each_way(exercise, calls) or [_richest(calls)]:
        if exercise.trains or _is_class(exercise) or any(map(is_differentiable, ask.inputs)):
            yield replace(ask, probe="in double")


@circumstance(
    "it stays on the device of its inputs",
    "On a GPU it stops, or its result lies elsewhere. Make new tensors where the inputs are: "
    "`torch.zeros(..., dtype=x.dtype, device=x.device)`, or `x.new_zeros(...)`; `register_buffer` takes a table along "
    "with its module, and `layer.to(x.device)` puts a new layer there.",
    of_any_call=True,
)
def _any_device(exercise: Exercise, calls: Sequence[Question]) -> Iterator[Question]:
    """Yields a call for each choice of inputs that are left out, of what works on a GPU: of a module and of a function
    through which training passes, or which is given a model.

    Of a module the methods that have a docstring and take nothing, or what `forward` takes, are called, too. Where a
    model comes back, the call is one that is asked what that gives, if there is any.
    """
    found = dict[tuple[bool, ...], Question]()
    methods = _documented(exercise, _takes(exercise), ["self"])
    for ask in calls:
        works_there = exercise.trains or _is_class(exercise) or any(models_in(ask.inputs))
        if works_there and ask.probe == "result" and ask.follow_up is None:
            found[tuple(value is None for value in ask.inputs)] = replace(ask, probe="device", entries=methods)
    models = [ask for ask in calls if ask.probe in OF_A_MODEL and ask.build is None and any(models_in(ask.inputs))]
    if models and not found:
        richest = max(models, key=lambda ask: ask.follow_up is not None)
        found[()] = replace(richest, probe="device", entries=(), part="")
    yield from list(found.values())[:TRIED]


def _documented(exercise: Exercise, *takes: list[str]) -> tuple[str, ...]:
    """Returns the names of a module's own methods that have a docstring and take one of these lists of arguments."""
    members = inspect.getmembers(exercise.reference, inspect.isfunction) if _is_class(exercise) else []
    mine = ((name, one) for name, one in members if name[0] != "_" and not one.__module__.startswith("torch."))
    own = {name: one for name, one in mine if one.__doc__}
    return tuple(name for name, one in own.items() if list(inspect.signature(one).parameters) in takes)


def _takes(exercise: Exercise) -> list[str]:
    """Returns the names of what `forward` of a module takes, `self` among them."""
    forward = getattr(exercise.reference, "forward", None)
    return list(inspect.signature(forward).parameters) if forward and _is_class(exercise) else []


@circumstance(
    "what may be left out has the default of the signature",
    "An argument was left out that the first line of the exercise gives a default.",
)
def _defaults(exercise: Exercise, calls: Sequence[Question]) -> Iterator[Question]:
    """Yields a call without each argument that has a default: one in which it matters that it is left out.

    Where it matters in none of a few, one is yielded if the stages never leave the argument out.
    """
    made = inspect.signature(exercise.reference).parameters
    forward = getattr(exercise.reference, "forward", None)
    called = inspect.signature(forward).parameters if forward and _is_class(exercise) else made
    names = [name for name in called if name != "self"]
    for place, name in enumerate(names):
        given = [ask for ask in calls if len(ask.inputs) > place or name in ask.keywords]
        if called[name].default is not inspect.Parameter.empty and given:
            left = [replace(ask, inputs=ask.inputs[:place], keywords=_without(name, ask.keywords)) for ask in given]
            yield from _revealing(exercise, given, left, always=len(given) == len(calls))
    for name, parameter in made.items() if _is_class(exercise) else ():
        given = [ask for ask in calls if name in (ask.build or {})]
        usual = [ask for ask in given if (ask.build or {})[name] == parameter.default]
        if parameter.default is not inspect.Parameter.empty and given:
            left = [replace(ask, build=_without(name, ask.build or {})) for ask in given]
            yield from _revealing(exercise, given, left, always=len(given) == len(calls) and bool(usual))


def _without(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}


def _revealing(
    exercise: Exercise, given: Sequence[Question], left: Sequence[Question], *, always: bool
) -> Iterator[Question]:
    """Yields the last of a few calls to which the reference replies otherwise when an argument is left out.

    None where a new module is asked that begins with numbers of its own.
    """
    pairs = list(zip(given, left, strict=True))[-TRIED:]
    for ask, without in reversed(pairs):
        found = [exercise.reply(one) for one in (ask, without)]
        if all(one.outcome == "value" for one in found) and not _same(*(one.value for one in found)):
            drawn = exercise.reply(replace(without, probe="random numbers", follow_up=None))
            if without.weights is not None or not _draws_weights(drawn.value):
                yield without
                return
    if always:
        yield left[-1]


@circumstance(
    LARGE,
    "It is right for what is small only. Is there a table, a limit or a number type that a longer input exceeds?",
    of_any_call=True,
)
def _large(exercise: Exercise, calls: Sequence[Question]) -> Iterator[Question]:
    """Yields the large questions, and what gradients pass through the first."""
    yield from exercise.large
    if exercise.trains or _is_class(exercise):
        yield from (replace(ask, probe="gradients") for ask in exercise.large[:1] if ask.probe == "result")


@circumstance(
    "random numbers, and PyTorch's settings, stay the caller's",
    "It calls `torch.manual_seed` or `random.seed`, or makes a generator with a seed of its own: then all who draw "
    "after it draw the same numbers, and two new modules begin with the same weights. Or it switches gradients off "
    "for the whole program: `with torch.no_grad():` does it for some lines.",
    of_any_call=True,
)
def _random_numbers(exercise: Exercise, calls: Sequence[Question]) -> Iterator[Question]:
    """Yields a small call; of a class the richest, or one of a module that draws its first weights, if there is any."""
    chosen = [_richest(calls) if _is_class(exercise) else _smallest(calls)]
    if _is_class(exercise):
        chosen += [ask for ask in calls[:TRIED] if ask.probe == "result"]
    asks = [replace(ask, probe="random numbers", follow_up=None, entries=()) for ask in chosen]
    yield next((ask for ask in asks if _draws_weights(exercise.reply(ask).value)), asks[0])


def _smallest(calls: Sequence[Question]) -> Question:
    """Returns of the calls that give most the one with the fewest numbers."""
    most = max(sum(value is not None for value in ask.inputs) for ask in calls)
    rich = [ask for ask in calls if sum(value is not None for value in ask.inputs) == most]
    return min(rich, key=lambda ask: sum(map(_numbers_in, ask.inputs)))


# --- what several circumstances need ----------------------------------------------------------------------------------


def _is_class(exercise: Exercise) -> bool:
    return isinstance(exercise.reference, type)


def _richest(calls: Sequence[Question]) -> Question:
    """Returns the last of the calls that give most."""
    return max(enumerate(calls), key=lambda one: (sum(value is not None for value in one[1].inputs), one[0]))[1]


def _numbers_in(value: Any) -> int:
    return value.numel() if isinstance(value, Tensor) else value if type(value) is int else 0


def _richest_of_each_way(exercise: Exercise, calls: Sequence[Question]) -> list[Question]:
    """Returns a call of a module built in each way: with and without an argument that may be left out."""
    ways = dict[frozenset[str], list[Question]]()
    for ask in calls if _is_class(exercise) else ():
        ways.setdefault(frozenset(ask.build or {}), []).append(ask)
    return [_richest(alike) for alike in ways.values()]


def _same(one: Any, other: Any) -> bool:
    """Says whether two plain values are the same, to the last digit."""
    return one is other or bool(plain.encode(one) == plain.encode(other))


def _stops(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(STOPS)


def _is_alive(value: Any) -> bool:
    return isinstance(value, Model) and value.name not in DATA and not (value.state or value.meta)


def _draws_weights(found: Any) -> bool:
    return isinstance(found, dict) and found.get(TWO_NEW) == DIFFER


NAMES = (INPUTS_STAY, STAYS_FROZEN, KEEPS_MODE, *(one.name for one in CIRCUMSTANCES))
