"""Warms up as the hub's service does, and prints which modules keep a value that the environment or the home had then.

    python warm_memory.py KIND FOLDER_OF_SETTINGS MARK CACHE

All variables whose value differs from fork to fork have MARK in it.
"""

import gc
import os
import sys
from pathlib import Path
from typing import Any


def texts(value: Any) -> list[str]:
    """Returns a value itself and what a container has directly, so far as they are texts or paths."""
    parts = list(value.values()) if isinstance(value, dict) else value
    all_of = [*parts] if isinstance(parts, tuple | list | set | frozenset) else [parts]
    known = (str, bytes, os.PathLike)
    return [os.fsdecode(one) for one in all_of if isinstance(one, known) and not isinstance(one, type)]


def main(kind: str, settings: str, mark: str, cache: str) -> None:
    """Prints a line for each name: where it is, and what it is called."""
    sys.path.insert(0, settings)
    import warm

    warm.warm_up(warm.KINDS[kind], Path(cache))
    gc.unfreeze()  # else they are not among the objects
    ours = (vars(sys.modules["__main__"]), os.environ.__dict__["_data"])
    for one in gc.get_objects():
        if type(one) is dict and not any(one is other for other in ours):
            for name, value in list(one.items()):
                if any(mark in text for text in texts(value)):
                    print(one.get("__name__") or one.get("__module__") or list(one)[:3], name)


if __name__ == "__main__":
    main(*sys.argv[1:])
