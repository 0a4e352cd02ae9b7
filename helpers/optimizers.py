"""PyTorch's optimizers work without its compiler, until somebody compiles.

The first optimizer of a process imports `torch._dynamo`, so that `torch.compile` knows where to stop: hundreds of
modules, 35 MB and most of a CPU second in every notebook that trains, for a compiler that nobody asks.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch

# PyTorch's two wrappers that import it: `inner` hides a method from the compiler (torch/_compile.py), and `_use_grad`
# has `step` compute gradients only where the optimizer is differentiable (torch/optim/optimizer.py).
HIDDEN, STEP = "inner", "_use_grad"


def leave_out_compiler() -> None:
    """Has the methods of PyTorch's optimizers do without `torch._dynamo` as long as it is not imported.

    What another version of PyTorch has in the place of these wrappers stays as it is.
    """
    for kind in [found for found in vars(torch.optim).values() if isinstance(found, type)]:
        for name, method in [*vars(kind).items()]:
            code = getattr(method, "__code__", None)
            if code and code.co_name in (HIDDEN, STEP) and "torch._dynamo" in code.co_names:
                setattr(kind, name, _without_compiler(method, code.co_name))


def _without_compiler(method: Any, wrapper: str) -> Callable[..., Any]:
    """Returns a method that does the same as the wrapped one; once the compiler is there, the wrapped one does it."""

    @functools.wraps(method)
    def call(optimizer: torch.optim.Optimizer, *arguments: Any, **options: Any) -> Any:
        if torch.compiler.is_compiling() or "torch._dynamo" in sys.modules:
            return method(optimizer, *arguments, **options)
        has_gradient = optimizer.defaults["differentiable"] if wrapper == STEP else torch.is_grad_enabled()
        with torch.set_grad_enabled(has_gradient):
            return method.__wrapped__(optimizer, *arguments, **options)

    return call
