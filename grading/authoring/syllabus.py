"""The syllabus, the picture of the path and README's table, made from the heads of solutions/*.py with every build.

The head of a source says below `course:` where its notebook stands, what it builds on, and the questions it answers;
its first cell states aims, time and prerequisites, and its markers the points.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading.authoring import plans, source
from grading.authoring.errors import BuildError
from grading.authoring.pacing import LINES_PER_MINUTE, QUARTER, WORDS_PER_MINUTE, in_quarters, pace, sittings

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 236, 92, 34, 52, 16  # px
QUESTION = 31  # signs that a box has room for
COLOURS = {
    "tools": "#6b6b6b",
    "attention": "#0072b2",
    "models": "#00795a",
    "pretraining": "#a8457b",
    "translation": "#b35900",
}

PLANS_SAID = (
    "In each plan no notebook asks for one that is not in it. `make release` with the name of a plan writes a zip of "
    "its notebooks alone. Points and essays are those of the whole notebooks; `docs/instructor.md` says how to leave "
    "out an exercise."
)

BEGIN_TABLE, END_TABLE = "<!-- made by `make build` from the heads of the sources -->", "<!-- made until here -->"


@dataclass(frozen=True)
class Place:
    """Where a notebook stands: its part of the course, what it builds on, and its box in the picture."""

    teaches: str
    part: str
    column: int
    row: int
    builds_on: tuple[str, ...]  # the way in, and what is needed besides
    questions: tuple[str, ...]  # the first one stands in the picture
    remark: str = ""  # in the order of reading
    running: int = 0  # minutes that its cells take on two cores


def place(path: Path) -> Place:
    """Returns the place that the head of a source states.

    Raises:
        BuildError: when the head lacks a part, or has one that is not understood.
    """
    metadata = source.course_metadata(path)
    try:
        parts: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in metadata.items()}
        found = Place(**parts)
    except (AttributeError, TypeError):
        found = None
    if found is None or not _fits(found):
        raise BuildError(
            f"{path.name}: its head has no place in the course; expected below `course:` the texts teaches and part "
            f'({", ".join(COLOURS)}), the whole numbers column and row, the lists builds_on (such as ["03"]) and '
            f"questions, and perhaps a remark, and as running the minutes that its cells take; got {metadata!r}."
        )
    if len(found.questions[0]) > QUESTION:
        raise BuildError(
            f"{path.name}: the first of its questions stands in the picture of the path, which has room for {QUESTION} "
            f"signs; got {len(found.questions[0])}: {found.questions[0]!r}. Put a short one first."
        )
    return found


def _fits(place: Place) -> bool:
    texts = (place.teaches, place.part, place.remark, *place.builds_on, *place.questions)
    numbers = (place.column, place.row, place.running)
    lists = isinstance(place.builds_on, tuple) and isinstance(place.questions, tuple) and place.questions
    return bool(lists and all(isinstance(text, str) for text in texts) and place.part in COLOURS) and all(
        type(number) is int and number >= 0 for number in numbers
    )


@dataclass(frozen=True)
class Head:
    """What the source of a notebook states about it."""

    folder: str
    place: Place
    title: str
    aims: tuple[str, ...]
    time: str
    before: str
    points: float
    exercises: int
    essays: int
    sittings: int

    @property
    def name(self) -> str:
        """The folder's name in words, without its number."""
        return self.folder[3:].replace("_", " ")

    @property
    def minutes(self) -> int:
        """The time it takes."""
        return _minutes(self.time)


def _minutes(words: str) -> int:
    hours, minutes = re.search(r"(\d+) h", words), re.search(r"(\d+) min", words)
    return 60 * int(hours.group(1) if hours else 0) + int(minutes.group(1) if minutes else 0)


def head(path: Path) -> Head:
    """Returns what a source states, from its head, its first cell and its markers.

    Raises:
        BuildError: when one of them lacks a part, or the head gives another time than a student takes.
    """
    cells = source.read(path)
    first = cells[0].source + "\n"
    title = re.search(r"^# \d\d · (.+)$", first, re.MULTILINE)
    aims = re.search(r"^\*\*When you are done, you can\*\*\n((?:.+\n)+)", first, re.MULTILINE)
    effort = re.search(r"^\*\*Time\*\*: about ([^.]+)\. \*\*Before this\*\*: ((?:.+\n?)+)", first, re.MULTILINE)
    if title is None or aims is None or effort is None:
        raise BuildError(
            f"{path.name}: its first cell lacks a part; expected '# NN · Title', '**When you are done, you can**' "
            "with a list, and '**Time**: about 2 h. **Before this**: ...'."
        )
    where = place(path)
    takes = pace(cells, where.running)
    if abs(takes - _minutes(effort.group(1))) > QUARTER:
        raise BuildError(
            f"{path.name}: its head says {effort.group(1)!r}, but at a student's pace (`pacing.pace`) it takes "
            f"{takes:.0f} minutes; write 'about {in_quarters(takes)}'."
        )
    parts = sittings(cells, where.running)
    return Head(
        path.stem,
        where,
        title.group(1),
        tuple(" ".join(line.split()) for line in re.split(r"(?:^|\n)- ", aims.group(1).strip())[1:]),
        effort.group(1),
        " ".join(effort.group(2).split()),
        sum(cell.points or 0 for cell in cells),
        sum(cell.kind == "check" for cell in cells),
        sum(cell.kind == "essay" for cell in cells),
        len(parts),
    )


def heads(sources: Sequence[Path]) -> dict[str, Head]:
    """Returns the heads of the sources by the numbers of their notebooks.

    Raises:
        BuildError: when a source lacks what is needed, or what two of them state does not fit together.
    """
    known = {path.stem[:2]: head(path) for path in sources}
    boxes: dict[tuple[int, int], str] = {}
    for number, one in known.items():
        if missing := sorted(set(one.place.builds_on) - known.keys()):
            raise BuildError(f"{one.folder}.py builds on {missing[0]!r}; expected one of: {', '.join(known)}.")
        other = boxes.setdefault((one.place.column, one.place.row), number)
        if other != number:
            raise BuildError(f"{one.folder}.py has the column and row of notebook {other}; give it another box.")
    return known


def made(sources: Sequence[Path], readme: str) -> dict[str, str]:
    """Returns the files that are made of all heads: their path in the repository, and their text.

    Raises:
        BuildError: when the heads do not fit together, or README has no place for the table.
    """
    known = heads(sources)
    refuse_gaps(known)
    return {
        "docs/syllabus.md": syllabus(known),
        "docs/images/path.svg": picture(known),
        "README.md": with_table(readme, known),
    }


def with_table(readme: str, known: Mapping[str, Head]) -> str:
    """Returns README with one row for each notebook between its two markers."""
    before, begin, rest = readme.partition(f"{BEGIN_TABLE}\n")
    _, end, after = rest.partition(f"{END_TABLE}\n")
    if not begin or not end:
        raise BuildError(f"README.md has no table of notebooks; expected a line {BEGIN_TABLE} and a line {END_TABLE}.")
    rows = ["| notebook | what it teaches | time | points |", "|---|---|---|---|"]
    rows += [f"| `{one.folder}` | {one.place.teaches} | {_short(one)} | {one.points:g} |" for one in known.values()]
    return f"{before}{begin}{chr(10).join(rows)}\n{end}{after}"


def _short(one: Head) -> str:
    hours, minutes = divmod(one.minutes, 60)
    return f"{minutes} min" if not hours else f"{hours} h {minutes}" if minutes else f"{hours} h"


def syllabus(known: Mapping[str, Head]) -> str:
    """Returns docs/syllabus.md."""
    hours = sum(one.minutes for one in known.values()) / 60
    total = sum(one.points for one in known.values())
    lines = [
        "# Syllabus",
        "",
        f"{len(known)} notebooks, about {hours:.0f} hours, {total:g} points. `make build` makes this page from the "
        "first cells of the notebooks.",
        "",
        "**Before notebook 01**: [Before you start](before.md), ten minutes on tensors, modules, losses and training.",
        "",
        "![The path through the course](images/path.svg)",
        "",
        f"**In which order?** {reading_order(known)}",
        "",
        "**With less time?** [Plans for six and for twelve weeks](#plans-for-a-term) stand at the end.",
        "",
        f"**How are the times counted?** {WORDS_PER_MINUTE} words and {LINES_PER_MINUTE} lines of open code a minute, "
        "the minutes that stand before each exercise, "
        f"{source.MINUTES_PER_POINT['essay']} for each point of an essay, and what the cells take on two cores. All of "
        "these are estimates of ours. For comparison: most adults read 175 to 300 words of plain English a minute, and "
        "fewer in a second language "
        "([Brysbaert 2019](https://doi.org/10.1016/j.jml.2019.104047)).",
    ]
    for number, one in known.items():
        tasks = [f"{one.exercises} exercise{'s' * (one.exercises != 1)}"]
        tasks += [f"{one.essays} essay{'s' * (one.essays != 1)}"] * (one.essays > 0)
        in_sittings = f" in {one.sittings} sittings" if one.sittings > 1 else ""
        running = one.place.running
        computing = f", {running} minute{'s' * (running != 1)} of it computing" if running else ""
        lines += [
            "",
            f"## {number} · {one.title}",
            "",
            f"`{one.folder}`: about {one.time}{in_sittings}{computing}, {_points(one)} ({' and '.join(tasks)}).",
            f"**Before this**: {one.before}",
            "",
            "**Questions it answers**",
            "",
            *(f"- {question}" for question in one.place.questions),
            "",
            "**When you are done, you can**",
            "",
            *(f"- {aim}" for aim in one.aims),
        ]
    lines += ["", "## Plans for a term", "", PLANS_SAID, *plan_tables(known)]
    return "\n".join(lines) + "\n"


def asked_for(head: Head) -> set[str]:
    """Returns the numbers of the notebooks that one asks for, in the first sentence of what it says comes before it."""
    return set(re.findall(r"\b(\d\d)\b", re.split(r"\.(?:\s|$)", head.before)[0]))


def refuse_gaps(known: Mapping[str, Head]) -> None:
    """Refuses a plan in which a notebook asks for one that is not in it.

    Raises:
        BuildError: naming both.
    """
    for plan in plans.PLANS:
        chosen = plans.notebooks(plan)
        for number in chosen:
            if lost := sorted(asked_for(known[number]) - set(chosen)) if number in known else []:
                raise BuildError(
                    f"{known[number].folder}.py: **Before this** asks for {lost[0]} in its first sentence, and the "
                    f"plan {plan} has no {lost[0]}; say in a sentence of its own what is needed of it."
                )


def plan_tables(known: Mapping[str, Head]) -> Iterator[str]:
    """Yields the lines of a section on each plan, for the syllabus."""
    for plan, weeks in plans.PLANS.items():
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


def _points(one: Head) -> str:
    return f"{one.points:g} point{'s' * (one.points != 1)}"


def reading_order(known: Mapping[str, Head]) -> str:
    """Returns the order of reading in words: the way that is common to all, and then what comes after what."""
    after = {one: [n for n, other in known.items() if other.place.builds_on[:1] == (one,)] for one in known}
    way = [min(known)]
    while len(after[way[-1]]) == 1:
        way += after[way[-1]]

    def labelled(number: str) -> str:
        remark = known[number].place.remark
        return f"{number} ({remark})" if remark else number

    def steps(start: str) -> list[str]:
        """Returns what comes after a notebook, each branch down to its end: "05 and 06 after 04"."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for number in after[start]:
            groups.setdefault(known[number].place.builds_on, []).append(number)
        here = [f"{_and([labelled(n) for n in group])} after {_and(needed)}" for needed, group in groups.items()]
        return here + [step for number in after[start] for step in steps(number)]

    common = f"Read {way[0]} to {way[-1]} first, in this order." if len(way) > 1 else f"Read {way[0]} first."
    free = "; ".join(steps(way[-1]))
    return f"{common} Then go on as you like, but take each one only after those it needs: {free}." if free else common


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def corner(place: Place) -> tuple[int, int]:
    """Returns the upper left corner of a box (px)."""
    return MARGIN + place.column * (WIDTH + GAP_X), MARGIN + place.row * (HEIGHT + GAP_Y)


def arrow(start: Place, end: Place, *, besides: bool) -> str:
    """Returns the line from one box to another.

    It goes along the row, or down, across and down. What is needed `besides` the way in comes in at the side: the way
    from above is taken.
    """
    (x0, y0), (x1, y1) = corner(start), corner(end)
    if y0 == y1:
        points = [(x0 + WIDTH, y0 + HEIGHT // 2), (x1 - 7, y1 + HEIGHT // 2)]
    elif besides:
        below, between = y0 + HEIGHT + GAP_Y // 2, x1 - GAP_X // 2  # down between the columns, behind no box
        points = [(x0 + WIDTH // 2, y0 + HEIGHT), (x0 + WIDTH // 2, below), (between, below)]
        points += [(between, y1 + HEIGHT // 2), (x1 - 7, y1 + HEIGHT // 2)]
    else:
        middle = y1 - GAP_Y // 2
        points = [(x0 + WIDTH // 2, y0 + HEIGHT), (x0 + WIDTH // 2, middle)]
        points += [(x1 + WIDTH // 2, middle), (x1 + WIDTH // 2, y1 - 7)]
    path = " ".join(f"{x},{y}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="#555555" stroke-width="1.6" marker-end="url(#tip)"/>'


def box(number: str, one: Head) -> str:
    """Returns one notebook: number and name, its question, time and points."""
    (x, y), colour = corner(one.place), COLOURS[one.place.part]
    return (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff" stroke="{colour}" '
        f'stroke-width="2"/><rect x="{x}" y="{y}" width="7" height="{HEIGHT}" rx="3" fill="{colour}"/>'
        f'<text x="{x + 18}" y="{y + 27}" class="name" fill="{colour}">{number} · {html.escape(one.name)}</text>'
        f'<text x="{x + 18}" y="{y + 51}" class="question">{html.escape(one.place.questions[0])}</text>'
        f'<text x="{x + 18}" y="{y + 75}" class="small">{one.time}, {_points(one)}</text>'
    )


def picture(known: Mapping[str, Head]) -> str:
    """Returns docs/images/path.svg, with a description for those who do not see it."""
    rows = sorted(known.items(), key=lambda item: (item[1].place.row, item[1].place.column))
    places = {number: one.place for number, one in rows}
    columns, lines = (max(numbers) + 1 for numbers in zip(*((p.column, p.row) for p in places.values()), strict=True))
    width = MARGIN * 2 + columns * WIDTH + (columns - 1) * GAP_X
    height = MARGIN * 2 + lines * HEIGHT + (lines - 1) * GAP_Y
    arrows = [
        arrow(places[start], end, besides=number > 0)
        for end in places.values()
        for number, start in enumerate(end.builds_on)
    ]
    boxes = [box(number, one) for number, one in rows]
    needs = "; ".join(f"{n} builds on {' and '.join(p.builds_on)}" for n, p in places.items() if p.builds_on)
    style = (
        "text{font-family:Helvetica,Arial,sans-serif}.name{font-size:14px;font-weight:700}"
        ".question{font-size:13.5px;fill:#222222}.small{font-size:12px;fill:#555555}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img"><title>The path through the {len(known)} notebooks</title><desc>{needs}.</desc>'
        f'<style>{style}</style><defs><marker id="tip" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#555555"/></marker></defs>'
        f'<rect width="{width}" height="{height}" fill="#fafafa"/>\n' + "\n".join(arrows + boxes) + "\n</svg>\n"
    )
