"""What helps a student: `check` says whether an answer is right, `hint` how to go on, `progress` how far you are.

`guess` and `reveal` stand around an experiment; `by_hand` looks at what was worked out with a pencil. `resume` goes on
with a notebook on another day.

`python -m tutor` prints what is installed and what is missing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import helpers as helpers  # before PyTorch is loaded: it says on how many threads it works

if TYPE_CHECKING:
    from tutor.checks import check as check
    from tutor.guesses import guess as guess
    from tutor.guesses import reveal as reveal
    from tutor.hands import by_hand as by_hand
    from tutor.hints import hint as hint
    from tutor.overview import progress as progress
    from tutor.resuming import resume as resume

# Loaded on first use: `python -m tutor` runs where PyTorch is not installed yet.
_MODULES = {
    "by_hand": "hands",
    "check": "checks",
    "guess": "guesses",
    "hint": "hints",
    "progress": "overview",
    "resume": "resuming",
    "reveal": "guesses",
}


def __getattr__(name: str) -> Any:
    """Returns one of the functions that notebooks import."""
    if name not in _MODULES:
        raise AttributeError(f"module 'tutor' has no attribute {name!r}: it has {', '.join(_MODULES)}")
    return getattr(import_module(f"tutor.{_MODULES[name]}"), name)
