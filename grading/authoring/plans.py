"""Plans for terms of six and of twelve weeks: which notebooks, in which week, with hours, points and essays to read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from grading.authoring.errors import BuildError

if TYPE_CHECKING:
    from grading.authoring.syllabus import Head

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


def asked_for(head: Head) -> set[str]:
    """Returns the numbers of the notebooks that one asks for, in the first sentence of what it says comes before it."""
    return set(re.findall(r"\b(\d\d)\b", re.split(r"\.(?:\s|$)", head.before)[0]))


def refuse_gaps(known: Mapping[str, Head]) -> None:
    """Refuses a plan in which a notebook asks for one that is not in it.

    Raises:
        BuildError: naming both.
    """
    for plan in PLANS:
        chosen = notebooks(plan)
        for number in chosen:
            if lost := sorted(asked_for(known[number]) - set(chosen)) if number in known else []:
                raise BuildError(
                    f"{known[number].folder}.py: **Before this** asks for {lost[0]} in its first sentence, and the "
                    f"plan {plan} has no {lost[0]}; say in a sentence of its own what is needed of it."
                )


def tables(known: Mapping[str, Head]) -> Iterator[str]:
    """Yields the lines of a section on each plan, for the syllabus."""
    for plan, weeks in PLANS.items():
        chosen = [known[number] for week in weeks for number in week if number in known]
        hours = sum(one.minutes for one in chosen) / 60
        yield from (
            "",
            f"### {plan.replace('-', ' ').capitalize()}: `make release ROUTE={plan}`",
            "",
            f"{len(chosen)} notebooks, about {hours:.0f} hours, {hours / len(weeks):.1f} a week.",
            "",
            "| week | notebooks | hours | points | essays to read, for each student |",
            "|---|---|---|---|---|",
        )
        for number, week in enumerate(weeks, 1):
            parts = [known[one] for one in week if one in known]
            names = ", ".join(f"`{one.folder}`" for one in parts)
            hours = sum(one.minutes for one in parts) / 60
            points, essays = sum(one.points for one in parts), sum(one.essays for one in parts)
            yield f"| {number} | {names} | {hours:g} | {points:g} | {essays} |"
