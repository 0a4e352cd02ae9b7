"""What helps a student: `check` says whether an answer is right, `hint` how to go on, `progress` how far you are.

`python -m tutor` prints what is installed and what is missing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import helpers as helpers  # before PyTorch is loaded: it says on how many threads it works

if TYPE_CHECKING:
    from tutor.checks import check as check
    from tutor.hints import hint as hint
    from tutor.overview import progress as progress

# Loaded on first use: `python -m tutor` runs where PyTorch is not installed yet.
_MODULES = {"check": "checks", "hint": "hints", "progress": "overview"}


def __getattr__(name: str) -> Any:
    """Returns one of the three functions that notebooks import."""
    if name not in _MODULES:
        raise AttributeError(f"module 'tutor' has no attribute {name!r}: it has {', '.join(_MODULES)}")
    return getattr(import_module(f"tutor.{_MODULES[name]}"), name)
