"""Plans for terms of six and of twelve weeks: which notebooks, in which week; `syllabus` has their hours and points."""

from __future__ import annotations

from collections.abc import Sequence

from grading.authoring.errors import BuildError

PLANS: dict[str, Sequence[Sequence[str]]] = {  # by name, the numbers of the notebooks of each week
    "six-weeks": (("00", "01"), ("03",), ("04",), ("06",), ("07",), ("11",)),
    "twelve-weeks": (
        ("00", "01"),
        ("02",),
        ("03",),
        ("04",),
        ("05",),
        ("06",),
        ("07",),
        ("10",),
        ("14",),
        ("15",),
        ("16",),
        ("17",),
    ),
}


def notebooks(plan: str) -> list[str]:
    """Returns the numbers of a plan's notebooks, in order.

    Raises:
        BuildError: when there is no such plan.
    """
    if plan not in PLANS:
        raise BuildError(f"no plan is called {plan!r}; expected one of: {', '.join(PLANS)}.")
    return [number for week in PLANS[plan] for number in week]
