"""What is looked at of a call in notebook 15 alone: modes of a model, and what a merged layer is."""

from __future__ import annotations

from typing import Any

from torch import nn

from tutor.checking import model_probes
from tutor.checking.probes.registry import Call, probed


@probed("modes", of_a_model=True)
def _modes(call: Call) -> Any:
    """Returns the mode of a returned model, and the names of its parts that are in the other one."""
    return call.seen(model_probes.modes)


@probed("merged", is_result=True)
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
