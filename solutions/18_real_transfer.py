# ---
# jupyter:
#   course:
#     teaches: "what a really pretrained encoder is worth, and what it costs to use it"
#     part: pretraining
#     column: 1
#     row: 4
#     builds_on: ["07"]
#     questions:
#       - What is a real encoder worth?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 18 · Transfer, for real
#
# **When you are done, you can**
# - make a vector of a text.
#
# **Time**: about 2 h 15 min. **Before this**: notebooks 04, 06 and 07.
#
# | exercise | what it asks | points |
# |---|---|---|
# | `mean_pool` | a text becomes a vector | 2 |
# | `nearest` | which texts lie nearest? | 2 |
# | `linear_probe` | a head on frozen features | 2.5 |
# | `layerwise_rates` | a rate for each depth | 2.5 |
# | `distillation_loss` | a large model teaches a small one | 3 |
# | `dequantise` | the bytes of a file become values | 3 |
# | `quantise` | a byte for each value | 2 |
# | `paired_bootstrap` | is a better than b? | 2 |
# | *essay* `plan_essay` | a plan for 200 labels | 2 |
# | **total** | | **21** |

# %% setup
import math

import torch
from torch import Tensor
from torch.nn import functional as F

from tutor import by_hand, check, hint

# %% by_hand
by_hand("mean_pool", [[..., ...], [..., ...]])

# %% exercise="mean_pool"
def mean_pool(states: Tensor, lengths: Tensor) -> Tensor:
    """Returns the mean of each text's token vectors, `(b, d)`.

    Args:
        states: the encoder's last hidden states, `(b, n, d)`; any numbers at padding.
        lengths: how many tokens each text has, `(b,)`, at least 1; what stands behind is padding.
    """
    ### BEGIN SOLUTION
    is_token = torch.arange(states.shape[1], device=states.device) < lengths[:, None]  # (b, n)
    return (states * is_token[..., None]).sum(dim=1) / lengths[:, None]
    ### END SOLUTION


# %% by_hand
by_hand("nearest", [..., ..., ...])

# %% exercise="nearest"
def nearest(query: Tensor, states: Tensor, k: int) -> list[int]:
    """Returns the numbers of the `k` rows with the largest cosine with the query, the largest first.

    Args:
        query: `(d,)`, not zero.
        states: one vector a text, `(n, d)`, none of them zero; their lengths may differ.
        k: from 1 to n.
    """
    ### BEGIN SOLUTION
    cosines = F.cosine_similarity(states, query[None], dim=1)  # (n,)
    return cosines.argsort(descending=True)[:k].tolist()
    ### END SOLUTION


# %% exercise="linear_probe"
def linear_probe(features: Tensor, labels: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    """Returns the weights `(d,)` and the bias `()` with the smallest loss.

    The loss is the mean cross-entropy over the texts plus `penalty` times the sum of the squared
    weights.

    Args:
        features: `(n, d)`; they stay as they are.
        labels: 0 or 1, `(n,)`, both occur; the logit `features @ weight + bias` is that of class 1.
        penalty: greater than 0.
    """
    ### BEGIN SOLUTION
    features, target = features.detach(), labels.to(features.dtype)
    weight = torch.zeros(features.shape[1], dtype=features.dtype, requires_grad=True)
    bias = torch.zeros((), dtype=features.dtype, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=300, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        logits = features @ weight + bias  # (n,)
        loss = F.binary_cross_entropy_with_logits(logits, target) + penalty * (weight**2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return weight.detach(), bias.detach()
    ### END SOLUTION


# %% by_hand
by_hand("layerwise_rates", [..., ..., ..., ...])

# %% exercise="layerwise_rates"
def layerwise_rates(names: list[str], rate: float, decay: float) -> dict[str, float]:
    """Returns the learning rate of each parameter, by name.

    The head learns at `rate`; each step down multiplies by `decay`: the last layer is one step down,
    what is neither in a layer nor in the head is one step below layer 0.

    Args:
        names: such as `head.weight`, `base.layers.11.norm_1.bias`, `base.embedding.weight`, in any order,
            at least one of a layer, and one of the last layer. All of the head begin with `head.`,
            all of layer i with `base.layers.i.`.
    """
    ### BEGIN SOLUTION
    layers = {name: int(name.split(".")[2]) for name in names if name.startswith("base.layers.")}
    count = 1 + max(layers.values())
    steps = {name: 0 if name.startswith("head.") else count - layers.get(name, -1) for name in names}
    return {name: rate * decay**down for name, down in steps.items()}
    ### END SOLUTION


# %% by_hand
by_hand("distillation_loss", ...)

# %% exercise="distillation_loss"
def distillation_loss(
    student: Tensor, teacher: Tensor, labels: Tensor, temperature: float, share: float
) -> Tensor:
    """Returns the loss of a student who learns from a teacher and from labels: a tensor `()`."""
    ### BEGIN SOLUTION
    soft = (teacher.detach() / temperature).softmax(dim=1)  # (b, C)
    logs = (student / temperature).log_softmax(dim=1)
    gap = F.kl_div(logs, soft, reduction="batchmean")
    return share * temperature**2 * gap + (1 - share) * F.cross_entropy(student, labels)
    ### END SOLUTION


# %% exercise="dequantise"
def dequantise(blocks: Tensor) -> Tensor:
    """Returns the values of blocks of the layout Q4_1, `(n, 32)`, float32.

    Args:
        blocks: bytes, `(n, 20)`, `torch.uint8`.
    """
    ### BEGIN SOLUTION
    scale, minimum = blocks[:, :4].contiguous().view(torch.float16).float().split(1, dim=1)  # (n, 1)
    codes = torch.cat([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], dim=1)  # (n, 32)
    return scale * codes + minimum
    ### END SOLUTION


# %% by_hand
by_hand("quantise", [[..., ..., ...], [..., ..., ...]])

# %% exercise="quantise"
def quantise(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Returns codes `(r, c)`, `torch.int8`, and a scale for each row, `(r,)`."""
    ### BEGIN SOLUTION
    largest = weight.abs().amax(dim=1)  # (r,)
    scales = torch.where(largest > 0, largest / 127, 1.0)
    return (weight / scales[:, None]).round().to(torch.int8), scales
    ### END SOLUTION


# %% by_hand
by_hand("paired_bootstrap", ...)

# %% exercise="paired_bootstrap"
def paired_bootstrap(right_a: Tensor, right_b: Tensor, samples: Tensor) -> tuple[float, float, float]:
    """Returns the difference of two accuracies, a minus b, and the limits of its 95 % interval.

    Args:
        right_a, right_b: which of the same n test examples each model has right, `(n,)`, booleans.
        samples: the numbers of the examples of each drawn test set, `(draws, n)`.
    """
    ### BEGIN SOLUTION
    difference = right_a.double() - right_b.double()  # (n,), 1, 0 or -1
    means = difference[samples].mean(dim=1)  # (draws,)
    return difference.mean().item(), means.quantile(0.025).item(), means.quantile(0.975).item()
    ### END SOLUTION


# %% [markdown]
# ## Essay

# %% [markdown] essay="plan_essay"
# Rubric.
