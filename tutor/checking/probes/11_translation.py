"""What is looked at of a call in notebook 11 alone: what a translator decodes with one context and then another."""

from __future__ import annotations

import copy
from typing import Any

import torch

from tutor.checking.building import build_inputs
from tutor.checking.probes.registry import Call, probed


@probed("contexts", is_result=True)
def _contexts(call: Call) -> dict[str, Any]:
    """Encodes the source of the question and then that of `follow_up`, and decodes twice with what came first.

    The second time the context is one that notes the weights of attention. At last the words are decoded one by one,
    with a cache in the context.
    """
    module: Any = call.module
    source, lengths, target = call.inputs
    context = module.encode(source, lengths)
    module.encode(*build_inputs(copy.deepcopy(call.question.follow_up or ())))
    first = module.decode(target[:, :-1], context)
    context.maps = {}
    found = {"the first words": first, "all words": module.decode(target, context)}
    found |= {"attentions whose weights stand in the context": len(context.maps)}
    context.maps, context.cache = None, {}
    steps = [module.decode(word, context) for word in target.split(1, dim=1)]
    return found | {"word by word, with a cache": torch.cat(steps, dim=1)}
