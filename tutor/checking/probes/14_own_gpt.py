"""What is looked at of a call in notebook 14 alone: the numbers a module begins with, where gradients are recorded."""

from __future__ import annotations

from typing import Any

import torch

from tutor.checking import model_probes
from tutor.checking.probes.registry import Call, built, probed


@probed("first numbers")
def _first_values(call: Call) -> dict[str, Any]:
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


@probed("recording")
def _recording(call: Call) -> Any:
    """Returns whether gradients are recorded where that submodule runs."""
    model = call.inputs[0] if call.module is None else call.module
    return model_probes.recording(model, call.question.part, call.act)
