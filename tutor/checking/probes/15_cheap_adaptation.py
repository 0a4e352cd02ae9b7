"""What is looked at of a call in notebook 15 alone: modes and gradients of a model, and what a merged layer is."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tutor.checking import model_probes, plain
from tutor.checking.building import first_model
from tutor.checking.probes.registry import Call, probed


@probed("modes", of_a_model=True)
def _modes(call: Call) -> Any:
    """Returns the mode of a returned model, and the names of its parts that are in the other one."""
    return call.seen(model_probes.modes)


@probed("changed gradients")
def _changed_gradients(call: Call) -> set[str]:
    """Returns of which parameters of the first model among the inputs the call has changed the gradient."""
    model = first_model(call.inputs)
    before = _encoded_gradients(model)
    call.act()
    return {name for name, gradient in _encoded_gradients(model).items() if gradient != before.get(name)}


def _encoded_gradients(model: nn.Module) -> dict[str, Any]:
    return {name: plain.encode(weight.grad) for name, weight in model.named_parameters()}


@probed("merged", is_result=True)
def _merged(call: Call) -> dict[str, Any]:
    """Returns the weights of the layer that `merged()` of a module gives, and what the module gives afterwards.

    Also which of these weights lie in the module's memory, of which weights of the module it has changed whether they
    learn, of which weights it goes on giving the old layer when they change, and which type its weights have when the
    module is in double.
    """
    module: Any = call.module
    held, learned = list(module.state_dict().values()), _learning_weights(module)
    merged = module.merged()
    found = {
        "the merged layer": plain.fresh(model_probes.see(merged, "", model_probes.weights_of)),  # before they change
        "the layer itself, afterwards": call.act(),
        "shared with the layer itself": model_probes.see(merged, "", lambda layer: model_probes.shared(layer, held)),
        "what learns otherwise afterwards": learned ^ _learning_weights(module),
    }
    found["weights whose change it misses"] = _missed(module)
    module.double()
    found["merged in double precision"] = model_probes.see(module.merged(), "", model_probes.types)
    return found


@torch.no_grad()
def _missed(module: Any) -> set[str]:
    """Returns the parameters that may change, one after the other, without a change of what `merged()` gives."""
    found, before = set[str](), _merged_weights(module)
    for name, weight in module.named_parameters():
        weight.add_(1)
        after = _merged_weights(module)
        if after == before:
            found.add(name)
        before = after
    return found


def _merged_weights(module: Any) -> Any:
    """Returns the weights of the merged layer in a form that is compared at once, and does not change with them."""
    return plain.encode(model_probes.see(module.merged(), "", model_probes.weights_of))


def _learning_weights(module: nn.Module) -> set[str]:
    return {name for name, weight in module.named_parameters() if weight.requires_grad}
