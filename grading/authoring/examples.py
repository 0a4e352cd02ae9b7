"""The examples of a check: what reference and known mistakes make of its questions, as JSON data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grading.definitions.exercise import Exercise
from tutor.checking import fingerprints, plain
from tutor.checking.judging import Case, Raised

FURTHER = ("measure", "cost", "decisive", "weak")  # what is written of a stage where it is not left out
TERMS = 100.0  # how large the terms of a trace are taken to be, where two are compared


def encode(exercise: Exercise) -> dict[str, Any]:
    """Returns what `tutor/check_examples/` holds of an exercise: results, never code."""
    made = exercise.check_examples()
    exercise.refuse_late_mistakes()

    sealed = {stage.name for stage in exercise.stages if stage.sealed}

    def entry(sealed: bool, case: Any, value: Any) -> Any:  # noqa: FBT001 - of the stage
        if isinstance(value, Raised):
            more = {"changed": value.changed, "said": value.said}
            return {"raised": value.error_type} | {name: part for name, part in more.items() if part}
        if sealed and value is not None:
            return {"sealed": fingerprints.seal(value, case.ask.at, exercise.name)}
        return _told(plain.encode(fingerprints.evaluated(value, case.ask.at)))  # numbers, not formulas

    def of_mistakes(sealed: bool, case: Case) -> dict[str, Any]:  # noqa: FBT001
        if case.corner:
            return {"corner": True}  # nobody knows what mistakes make of it
        traces = {"traces": list(map(case.traces.get, made.hints))} if case.traces is not None else {}
        mistakes = {name: _in_order(value, case.wanted) for name, value in case.mistakes.items()}
        return {"mistakes": {name: entry(sealed, case, value) for name, value in mistakes.items()}} | traces

    return {
        "signature": made.signature,
        "hints": dict(made.hints),
        "stages": [
            {
                "name": cases.name,
                "look": cases.feedback,
                "points": cases.points,
                "view": cases.view,
                "tolerance": cases.tolerance,
                **{name: getattr(cases, name) for name in FURTHER if getattr(cases, name)},
                "cases": [
                    {
                        "ask": {name: _asked(value) for name, value in case.ask.encode().items()},
                        "wanted": entry(cases.name in sealed, case, case.wanted),
                        **of_mistakes(cases.name in sealed, case),
                    }
                    for case in cases.cases
                ],
            }
            for cases in made.stages
        ],
    } | {
        name: value
        for name, value in (("kept", made.kept), ("forbids", list(made.forbids)), ("by_hand", _by_hand(exercise)))
        if value
    }


def _by_hand(exercise: Exercise) -> dict[str, Any]:
    """Returns the example by hand: its result, and what known mistakes make of it."""
    made = exercise.worked_by_hand()
    if made is None or exercise.hand is None:
        return {}
    wanted, mistakes = made
    encoded = {name: _told(plain.encode(value)) for name, value in mistakes.items()}
    return {"wanted": _told(plain.encode(wanted)), "tolerance": exercise.hand.tolerance, "mistakes": encoded}


def _in_order(value: Any, wanted: Any) -> Any:
    """Returns what a mistake makes, in the order of what is wanted: who goes through a set has another in each run."""
    if not (isinstance(value, dict) and isinstance(wanted, dict)):
        return value
    return {key: value[key] for key in wanted if key in value} | value


TOLD = 7  # digits: results are compared to five


def _asked(data: Any) -> Any:
    """Returns encoded data with tensors as lists of numbers, of as few digits as make the same tensor again.

    Of double precision nine are enough: a check does not ask for more.
    """
    return _written(data, _shortest)


def _told(data: Any) -> Any:
    """Returns encoded data with tensors as lists of numbers of seven digits."""
    return _written(data, lambda tensor: [float(f"{number:.{TOLD}g}") for number in tensor.tolist()])


def _written(data: Any, decimals: Callable[[Tensor], list[float]]) -> Any:
    if isinstance(data, dict) and "tensor" in data:
        tensor: Tensor = plain.decode(data)
        if tensor.is_complex():
            return data
        flat = tensor.flatten()
        values = decimals(flat) if tensor.is_floating_point() else map(int, flat.tolist())
        finite = [value if math.isfinite(value) else str(value) for value in values]
        return {"tensor": data["tensor"], "shape": data["shape"], "values": finite}
    if isinstance(data, dict):
        return {key: _written(value, decimals) for key, value in data.items()}
    return [_written(value, decimals) for value in data] if isinstance(data, list) else data


def _shortest(tensor: Tensor) -> list[float]:
    if tensor.dtype == torch.float32:
        return [float(str(number)) for number in tensor.numpy()]  # 0.1, not 0.100000001
    return [float(f"{number:.9g}") for number in tensor.tolist()]


def same(first: Any, second: Any, size: float = 1.0) -> bool:
    """Compares two examples; numbers may differ in the last digits, as they do from one CPU to another.

    Sums that cancel leave what the large numbers of a tensor were rounded by: `size` is the largest one beside these.
    The terms of a trace are not known here, so that it counts as a sum of large ones.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        if first.keys() != second.keys():
            return False
        return all(same(first[key], second[key], TERMS if key == "traces" else 1.0) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        size = max([size, *(abs(one) for one in first if isinstance(one, float) and math.isfinite(one))])
        return len(first) == len(second) and all(same(one, two, size) for one, two in zip(first, second, strict=True))
    if isinstance(first, float) and isinstance(second, float | int):
        return math.isclose(first, second, rel_tol=1e-4, abs_tol=1e-5 * size)
    return bool(first == second)
