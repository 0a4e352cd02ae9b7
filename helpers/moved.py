"""Where things are that notebooks of an older release import from here: whoever still does so is told in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

WHERE = {  # what older notebooks import or start -> what to write today
    "helpers.check": "from tutor import check",
    "helpers.hints": "from tutor import hint",
    "helpers.progress": "from tutor import progress",
    "helpers.data": "from helpers.batches, helpers.corpora or helpers.vocabulary import ...",
    "helpers.weight_files": "from helpers.weights.files import read",
    "helpers.__main__": "python -m tutor",
}


class Moved:
    """Python asks it for a module that it finds nowhere else."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None, /) -> None:
        """Finds nothing.

        Raises:
            ImportError: when the module was here once, with what to write in its place.
        """
        if name in WHERE:
            raise ImportError(
                f"The course no longer has {name}. Run `make lab`, which renews older notebooks and keeps your "
                f"answers, or write `{WHERE[name]}` in its place.",
                name=name,
            )
