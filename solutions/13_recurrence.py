# ---
# jupyter:
#   course:
#     teaches: what recurrence was, and what leaving it has cost and brought
#     part: attention
#     column: 0
#     row: 3
#     builds_on: ["09"]
#     running: 1
#     questions:
#       - Why did recurrence go?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% setup
import math

import sympy
import torch
from torch import Tensor, nn

from helpers import plots
from helpers.check import check
from helpers.hints import hint
from helpers.models import Attention, Context, Recurrent

# %% setup
D, A, L, W = sympy.symbols("D A L W", positive=True, integer=True)

# %% exercise="GRUCell"
class GRUCell(nn.Module):
    """s"""
    ### BEGIN SOLUTION
    pass
    ### END SOLUTION


# %% exercise="unroll"
def unroll(cell, x: Tensor, lengths: Tensor, state: Tensor) -> Tensor:
    """s"""
    ### BEGIN SOLUTION
    pass
    ### END SOLUTION


# %% exercise="gradient_by_distance"
def gradient_by_distance(model, x: Tensor) -> Tensor:
    """s"""
    ### BEGIN SOLUTION
    pass
    ### END SOLUTION


# %% exercise="sliding_window_mask"
def sliding_window_mask(size: int, window: int) -> Tensor:
    """s"""
    ### BEGIN SOLUTION
    i = torch.arange(size).unsqueeze(1)  # (size, 1): the token that looks
    j = torch.arange(size)  # (size,): the token looked at
    seen = (j <= i) & (j > i - window)  # (size, size)
    return torch.zeros(size, size).masked_fill(~seen, -torch.inf)
    ### END SOLUTION


# %% exercise="layers_to_reach"
def layers_to_reach(size: int, window: int) -> int:
    """s"""
    ### BEGIN SOLUTION
    pass
    ### END SOLUTION


# %% exercise="costs"
def costs() -> dict[str, sympy.Expr]:
    """s"""
    ### BEGIN SOLUTION
    pass
    ### END SOLUTION


