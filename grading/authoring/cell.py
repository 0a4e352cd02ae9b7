"""One cell of a notebook's source."""

from dataclasses import dataclass

EXPERIMENTS = {"experiment", "interactive", "measured"}


@dataclass(frozen=True)
class Cell:
    """One cell of a source, with the line of its marker."""

    kind: str  # "prose", "code", "exercise", "check", "essay" or one of WORDS
    name: str
    points: float | None
    source: str
    language: str  # "markdown" or "code"
    line: int
    minutes: float = 0  # what the answer takes, of a check cell or an essay
    difficulty: int = 0  # 1 to 3, 0 where none is given
    is_open: bool = False  # an experiment whose code students read

    @property
    def is_experiment(self) -> bool:
        """Whether no mark depends on it."""
        return self.kind in EXPERIMENTS

    @property
    def is_folded(self) -> bool:
        """Whether students see the caption of an experiment, and its code when they open it."""
        return self.is_experiment and not self.is_open
