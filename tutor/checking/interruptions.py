"""Stop a call halfway, by what it was given, and look at what it leaves: the same call is made once more on that."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from torch import nn
from torch.nn.modules import module as hooks_on_all

from tutor.checking import model_probes, plain, spies
from tutor.checking.building import build_inputs

STOPS_AT = 2  # which call of a recorded function, batch of a loader, or call of a model does not come to its end
STOPS_IT = "stops the call"  # how the name of an entry ends
LEAVES = "leaves changed"
LASTING = {"kind", "numbers", "weights", "entries"}  # the next call sets modes, hooks and flags again, if it needs them
STOPS = "it stops: "  # before the class of an exception


def can_stop(value: Any) -> bool:
    """Says whether something that is given by this recipe may stop a call."""
    return isinstance(value, plain.Recorded | plain.Model) or holds_batches(value)


def holds_batches(value: Any) -> bool:
    """Says whether an input is a list of at least two batches, or of their recipes."""
    return isinstance(value, list) and len(value) > 1 and all(_is_batch(part) for part in value)


def _is_batch(value: Any) -> bool:
    return type(value).__name__ == "Batch" or (isinstance(value, plain.Model) and value.name == "Batch")


class _Breaking(list[Any]):
    """Batches of which one does not come, at the first pass."""

    def __init__(self, batches: Sequence[Any], error: BaseException, at: int) -> None:
        super().__init__(batches)
        self.error, self.at = error, at

    def __iter__(self) -> Iterator[Any]:
        for number, batch in enumerate(super().__iter__(), 1):
            if number == self.at:
                self.at = 0
                raise self.error
            yield batch


@contextmanager
def _breaking(models: Sequence[nn.Module], error: BaseException, at: int) -> Iterator[None]:
    """Has a call of one of these models, counted from 1, end with an error; no model is given a hook for it."""
    parts, calls, within = {id(part) for model in models for part in model.modules()}, 0, list[nn.Module]()

    def before(module: nn.Module, inputs: Any) -> None:
        nonlocal calls
        if id(module) in parts:
            if not within:
                calls += 1
                if calls == at:
                    raise error
            within.append(module)

    def after(module: nn.Module, inputs: Any, output: Any) -> None:
        if within and within[-1] is module:
            within.pop()

    handles = (
        hooks_on_all.register_module_forward_pre_hook(before),
        hooks_on_all.register_module_forward_hook(after, always_call=True),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def interrupted(
    function: Callable[..., Any], recipes: Sequence[Any], keywords: dict[str, Any], changes: Sequence[int]
) -> dict[str, Any]:
    """Returns what a call leaves that was stopped, and what the same call gives then, on what is left.

    A recorded function stops it, as by Ctrl-C and as by an error; where there is none, a batch that does not come, or a
    model, as by Ctrl-C: at the second call, or else at the first. Inputs in `changes` may be changed by it: of these
    only the second call tells.
    """
    found = dict[str, Any]()
    ways: dict[str, BaseException] = {"Ctrl-C": spies.Interrupted("as by Ctrl-C")}
    if any(isinstance(one, plain.Recorded) for one in recipes):
        ways["an error"] = spies.Failed("as by an error")
    for way, error in ways.items():
        inputs, found[f"{way} {STOPS_IT}"] = _stopped(function, recipes, keywords, error)
        stay = [number for number in range(len(inputs)) if number not in changes]
        came = build_inputs(copy.deepcopy(recipes))
        kinds = {f"input {n + 1}": LASTING & set(_changes(came[n], inputs[n])) for n in stay}
        found[f"{way} {LEAVES}"] = {name: " and ".join(sorted(some)) for name, some in kinds.items() if some}
        found[f"the same call, after {way}"] = _result(function, inputs, keywords)
        saves = [one for one in inputs if isinstance(one, spies.Spy) and one.recipe.results is None]
        if saves:
            found[f"what is saved in the end, after {way}"] = [one.log[-1] if one.log else None for one in saves]
    return found


def _changes(was: Any, now: Any) -> list[str]:
    return model_probes.changes(model_probes.state_of(was), model_probes.state_of(now))


def _stopped(
    function: Callable[..., Any], recipes: Sequence[Any], keywords: dict[str, Any], error: BaseException
) -> tuple[list[Any], bool]:
    """Returns the inputs of a call that an error has ended, as they are then, and whether it has.

    They stop no further call.
    """
    recorded = next((n for n, one in enumerate(recipes) if isinstance(one, plain.Recorded)), None)
    for at in (STOPS_AT, 1):
        given = copy.deepcopy(list(recipes))
        if recorded is not None:
            fails = isinstance(error, spies.Failed)
            given[recorded] = replace(given[recorded], stop_at=at, fails=fails)
        inputs = build_inputs(given)
        loaders = [n for n, one in enumerate(inputs) if holds_batches(one)] if recorded is None else []
        for n in loaders:
            inputs[n] = _Breaking(inputs[n], error, at)
        alone = recorded is None and not loaders
        models = [one for one in inputs if isinstance(one, nn.Module) and alone]
        try:
            with _breaking(models, error, at):
                function(*inputs, **keywords)
        except (Exception, spies.Interrupted):  # noqa: BLE001 - whatever the answer makes of it
            break
    else:
        at = 0
    for n in loaders:
        inputs[n].at = 0
    if recorded is not None:
        inputs[recorded].recipe = recipes[recorded]
    return inputs, bool(at)


def _result(function: Callable[..., Any], inputs: Sequence[Any], keywords: dict[str, Any]) -> Any:
    try:
        return plain.fresh(function(*inputs, **keywords))
    except Exception as problem:  # noqa: BLE001 - whatever what is left brings about
        return STOPS + type(problem).__name__
