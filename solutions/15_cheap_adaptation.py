# %% setup
import copy
import math

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers import plots
from helpers.check import check
from helpers.data import Batches, Split, Vocabulary, for_classifier, for_language_model, load
from helpers.hints import hint
from helpers.models import Classifier, LanguageModel, TransformerBase
from helpers.training import schedule, train

# %% exercise="LoRALinear"
class LoRALinear(nn.Linear):
    """A linear layer that stands still, and beside it two thin matrices that learn.

    d_in, d_out: as of nn.Linear; rank: the width between the two; the change is scaled by alpha / rank.
    Parameters: weight `(d_out, d_in)` and bias `(d_out,)`, frozen; down `(rank, d_in)`, which starts
    with random numbers, and up `(d_out, rank)`, which starts with zeros. No others, and no buffers.
    """

    def __init__(self, d_in: int, d_out: int, rank: int, alpha: float = 8.0) -> None:
        ### BEGIN SOLUTION
        super().__init__(d_in, d_out)
        self.requires_grad_(False)  # before there is anything that shall learn
        self.scale = alpha / rank
        self.down = nn.Parameter(torch.randn(rank, d_in) / math.sqrt(d_in))
        self.up = nn.Parameter(torch.zeros(d_out, rank))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Returns `(..., d_out)` for `x` `(..., d_in)`."""
        ### BEGIN SOLUTION
        change = x @ self.down.T @ self.up.T  # (..., d_in) -> (..., r) -> (..., d_out)
        return super().forward(x) + self.scale * change
        ### END SOLUTION

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """Returns a new, plain layer that does the same; this one stays as it is."""
        ### BEGIN SOLUTION
        plain = nn.Linear(self.in_features, self.out_features)
        plain.weight.copy_(self.weight + self.scale * self.up @ self.down)  # (d_out, d_in)
        plain.bias.copy_(self.bias)
        return plain
        ### END SOLUTION


# %% check="LoRALinear" points=5
check(LoRALinear)

# %% exercise="add_lora"
def add_lora(model: Classifier, names: tuple[str, ...], rank: int) -> Classifier:
    """Returns the model with a LoRALinear in the place of each chosen layer of its base.

    Args:
        names: last names, such as ("query", "value"), of the linear layers to replace: all that
            `model.base` has at any depth. Each new layer takes over weight and bias of the old one.
        rank: of the new layers; alpha is left at its default.

    Afterwards only the head and the factors down and up learn. The logits are those of before, and
    the model is in the mode in which it came. You may change `model` itself, or return a copy.
    """
    ### BEGIN SOLUTION
    model.base.requires_grad_(False)  # first, so that the new factors are not frozen with it
    for parent in list(model.base.modules()):
        for name, part in list(parent.named_children()):
            if name in names and isinstance(part, nn.Linear):
                layer = LoRALinear(part.in_features, part.out_features, rank)
                layer.weight, layer.bias = part.weight, part.bias  # what was learned in pretraining
                setattr(parent, name, layer)
    return model
    ### END SOLUTION


# %% check="add_lora" points=4
check(add_lora)

# %% exercise="unfreeze"
def unfreeze(model: Classifier, step: int) -> Classifier:
    """Returns the model with those parameters set to learn that have their turn at `step`, all others frozen.

    Step 0: the head. Step 1: also the top layer, `model.base.layers[-1]`, and `model.base.norm`. Each
    step after it: one layer more, downwards. One step after the lowest layer, and later: everything.
    The model may come with any flags; nothing else of it changes. You may return a copy.
    """
    ### BEGIN SOLUTION
    base, depth = model.base, len(model.base.layers)
    model.requires_grad_(step > depth)  # what belongs to no layer comes last: embedding, positions
    model.head.requires_grad_(True)
    base.norm.requires_grad_(step >= 1)
    for place, layer in enumerate(base.layers):
        layer.requires_grad_(step >= depth - place)
    return model
    ### END SOLUTION


# %% check="unfreeze" points=3
check(unfreeze)

# %% exercise="RMSNorm"
class RMSNorm(nn.Module):
    """Divides each token by its root mean square, and multiplies by a learned weight.

    d_model: numbers of a token. eps: added to the mean of the squares, before the root.
    Parameters: weight `(d_model,)`, which starts with ones. No others, and no buffers.
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Returns `(..., d_model)` for `x` `(..., d_model)`."""
        ### BEGIN SOLUTION
        mean_square = x.square().mean(dim=-1, keepdim=True)  # (..., 1)
        return x / torch.sqrt(mean_square + self.eps) * self.weight
        ### END SOLUTION


# %% check="RMSNorm" points=2
check(RMSNorm)

# %% exercise="SwiGLU"
class SwiGLU(nn.Module):
    """A gated feed-forward part with as many numbers as a plain one of width d_feedforward.

    Layers, all without biases: gate and hidden from d_model to two thirds of d_feedforward (rounded
    down), and output back to d_model.
    """

    def __init__(self, d_model: int, d_feedforward: int) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        width = 2 * d_feedforward // 3  # three matrices in place of two
        self.gate = nn.Linear(d_model, width, bias=False)
        self.hidden = nn.Linear(d_model, width, bias=False)
        self.output = nn.Linear(width, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Returns `(..., d_model)` for `x` `(..., d_model)`."""
        ### BEGIN SOLUTION
        return self.output(F.silu(self.gate(x)) * self.hidden(x))
        ### END SOLUTION


# %% check="SwiGLU" points=2
check(SwiGLU)

# %% exercise="induction_score"
def induction_score(attention: Tensor) -> Tensor:
    """Returns for each head how much it looks at what followed the same token one block earlier, `(h,)`.

    Args:
        attention: weights `(b, h, n, n)` on texts that are a block of n / 2 tokens, written twice;
            row i holds the weights of the token at place i.

    Returns:
        The mean over the texts and over the rows of the second half, a number from 0 to 1 each.
    """
    ### BEGIN SOLUTION
    half = attention.size(-1) // 2
    rows = torch.arange(half, 2 * half)
    looked_for = rows - half + 1  # the token itself stood at rows - half, what followed it one further
    return attention[:, :, rows, looked_for].mean(dim=(0, 2))  # (b, h, n/2) -> (h,)
    ### END SOLUTION


# %% check="induction_score" points=3
check(induction_score)
