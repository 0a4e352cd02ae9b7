"""What became of one submission in a run. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass, field

GRADED, UNCHANGED, FAILED = "graded", "unchanged", "could not be graded"


@dataclass
class Outcome:
    """What a run did with one submission: `state` is GRADED, UNCHANGED or FAILED.

    `score` is the mark, None where the run has set none; `penalty` are the points that lateness has taken off it.
    `odd` are sentences on what an honest submission does not do: a person should look at it. `lacking` are packages
    for want of which an answer has stopped.
    """

    student: str
    assignment: str
    state: str
    score: float | None = None
    reason: str = ""
    repairs: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    penalty: float = 0.0
    lacking: list[str] = field(default_factory=list)

    @property
    def notes(self) -> list[str]:
        """What a person should know of it, as sentences."""
        late = f"handed in late: {self.penalty:g} points taken off" if self.penalty else ""
        look = [f"LOOK AT IT: {odd}" for odd in self.odd]
        return [note for note in (self.reason, late, *self.repairs, *look) if note]
