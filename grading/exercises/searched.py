"""Questions that few seeds make: their seeds are found by a search, and kept in `seeds.json` beside the exercises.

`python -m grading.exercises.searched 06` looks for those that a change has made unfit, and writes them there.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from grading.definitions import catalogue
from grading.exercises.draws import Draw, until
from tutor.checking.answers import Question

TRIES = 20_000  # seeds that are tried for one that fits


def _itself(number: int) -> int:
    return number


class Kind(NamedTuple):
    """A kind of question: what makes one of a seed, what it must be good for, and how many seeds are kept.

    What is kept of a question may say more than a seed: what `source` makes of the number of a try.
    """

    make: Callable[[Any], Question]
    fits: Callable[[Question], bool]
    number: int
    source: Callable[[int], Any] = _itself


class Searched:
    """The kinds of questions of one exercise whose seeds were searched for.

    Args:
        file: of the exercise's definition.
        kinds: by name.
    """

    def __init__(self, file: str, kinds: Mapping[str, Kind]) -> None:
        self._path, self._exercise, self.kinds = Path(file).with_name("seeds.json"), Path(file).stem, dict(kinds)

    @cached_property
    def _kept(self) -> dict[str, list[Any]]:
        if not self._path.exists():
            return {}
        found = json.loads(self._path.read_text(encoding="utf-8")).get(self._exercise, {})
        return {kind: [tuple(one) if isinstance(one, list) else one for one in kept] for kind, kept in found.items()}

    def seeds(self, kind: str) -> list[Any]:
        """Returns the seeds of a kind; of one that is new they are searched for here, so that its definition loads."""
        if kind not in self._kept:
            self._kept[kind] = list(self._fitting(kind, self.kinds[kind]))
        return self._kept[kind]

    def asked(self, kind: str, number: int = 1) -> Draw:
        """Returns what draws questions of a kind."""
        return lambda rng: [self.kinds[kind].make(seed) for seed in rng.sample(self.seeds(kind), number)]

    def unfit(self, kind: str, most: int) -> list[Any]:
        """Returns those of the first `most` seeds of a kind whose questions are not good for what they are for."""
        return [seed for seed in self.seeds(kind)[:most] if not self.kinds[kind].fits(self.kinds[kind].make(seed))]

    def search(self) -> dict[str, list[Any]]:
        """Returns seeds that fit, by kind: those that are kept and still do, and as many new ones as are missing."""
        return {name: list(self._fitting(name, kind)) for name, kind in self.kinds.items()}

    def _fitting(self, name: str, kind: Kind) -> Iterator[int]:
        old = [seed for seed in self._kept.get(name, ()) if kind.fits(kind.make(seed))][: kind.number]
        yield from old
        new = (seed for seed in map(kind.source, itertools.count(1)) if seed not in old)
        for _ in range(kind.number - len(old)):
            yield until(new, lambda seed: seed, lambda seed: kind.fits(kind.make(seed)), TRIES)


def of(notebook: str) -> dict[str, Searched]:
    """Returns what is searched in the exercises of a notebook, by exercise."""
    modules = {name: import_module(f"grading.exercises.{notebook}.{name}") for name in catalogue.names(notebook)}
    return {name: module.SEARCHED for name, module in modules.items() if hasattr(module, "SEARCHED")}


def main() -> None:
    """Searches for what is missing in a notebook's `seeds.json`, and writes it."""
    notebook = next(name for name in catalogue.notebooks() if name.startswith(sys.argv[1]))
    found = {name: searched.search() for name, searched in of(notebook).items()}
    lines = [
        f' "{name}": {{\n' + ",\n".join(f'  "{kind}": {json.dumps(seeds)}' for kind, seeds in kinds.items()) + "\n }"
        for name, kinds in found.items()
    ]
    catalogue.seeds_of(notebook).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
