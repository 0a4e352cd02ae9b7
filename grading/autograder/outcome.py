"""What became of one submission in a run. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass, field

GRADED, UNCHANGED, FAILED = "graded", "unchanged", "could not be graded"


@dataclass
class Outcome:
    """What a run did with one submission: `state` is GRADED, UNCHANGED or FAILED.

    `odd` are sentences on what an honest submission does not do: a person should look at it.
    """

    student: str
    assignment: str
    state: str
    score: float | None = None
    reason: str = ""
    put_right: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
