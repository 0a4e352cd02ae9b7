"""What is looked at of a call in notebook 16 alone: what a checkpoint keeps of a module."""

from __future__ import annotations

from typing import Any

from tutor.checking.probes.registry import Call, probed


@probed("state")
def _state(call: Call) -> dict[str, Any]:
    """Returns name -> (shape, trainable) for all that a checkpoint keeps of a module: a tensor may have two names."""
    kept = call.module.state_dict(keep_vars=True) if call.module is not None else {}
    return {name: (tuple(tensor.shape), tensor.requires_grad) for name, tensor in kept.items()}
