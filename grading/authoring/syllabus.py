"""The syllabus and the picture of the path, made from the heads of solutions/*.py with every build.

A notebook's aims, time, points and prerequisites come from its source. What it builds on, where it stands in the
picture, and the questions it answers are told here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grading.authoring.source import BuildError

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 236, 92, 34, 52, 16  # px
COLOURS = {
    "tools": "#6b6b6b",
    "attention": "#0072b2",
    "models": "#00795a",
    "pretraining": "#a8457b",
    "translation": "#b35900",
}


@dataclass(frozen=True)
class Place:
    """Where a notebook stands: its part of the course, what it builds on, and its box in the picture."""

    part: str
    column: int
    row: int
    builds_on: tuple[str, ...]
    questions: tuple[str, ...]  # the first one stands in the picture


PLACES = {
    "00": Place("tools", 0, 0, (), ("How do I run, check, hand in?",)),
    "01": Place(
        "attention",
        1,
        0,
        ("00",),
        (
            "Why may no word look ahead?",
            "What goes wrong when the future is removed after the softmax, and not before?",
            "How do I prove, from outside, that a model does not look ahead?",
        ),
    ),
    "02": Place(
        "attention",
        2,
        0,
        ("01",),
        (
            "How does it know the order?",
            "Why can attention alone not tell who hunts whom?",
            "What do sinusoids, a table, ALiBi and rotations buy, and what do they cost?",
            "What happens on sentences longer than any in training?",
        ),
    ),
    "03": Place(
        "attention",
        3,
        0,
        ("02",),
        (
            "How do the parts fit together?",
            "Why are scores divided by the root of the width, and by nothing else?",
            "Why several heads, if they cost no more than one?",
        ),
    ),
    "08": Place(
        "attention",
        0,
        1,
        ("03",),
        (
            "What can one head do?",
            "How sharp must a query be to copy a value?",
            "Why does one head fail when a key changes its length, and why do two hold still?",
        ),
    ),
    "04": Place(
        "models",
        1,
        1,
        ("03",),
        (
            "Can it classify instead?",
            "Which row of a padded batch has read the whole text?",
            "How do I know which weights have been loaded, and which will learn?",
        ),
    ),
    "05": Place(
        "models",
        2,
        1,
        ("04",),
        (
            "Where are the parameters?",
            "Which terms of a published count are wrong, even where its total is right?",
            "How much memory does training take?",
        ),
    ),
    "11": Place(
        "translation",
        3,
        1,
        ("03",),
        (
            "How does it translate?",
            "What does the decoder read in training, and what when it writes?",
            "When does a beam find a better sentence than the greedy way?",
            "What does BLEU measure, and what not?",
        ),
    ),
    "09": Place(
        "attention",
        0,
        2,
        ("08",),
        (
            "Does it need queries and keys?",
            "What can scores do that do not compare two words?",
            "Which task shows the difference, and why in one layer only?",
        ),
    ),
    "06": Place(
        "pretraining",
        1,
        2,
        ("04",),
        (
            "What does pretraining buy?",
            "How many labels is it worth?",
            "How do I compare two ways of training so that the result can be believed?",
        ),
    ),
    "12": Place(
        "translation",
        3,
        2,
        ("11", "05"),
        (
            "Which settings, and why?",
            "Does a model overfit, underfit, or does it not train at all?",
            "Why does a deep post-norm model need a warm-up?",
        ),
    ),
    "07": Place(
        "pretraining",
        1,
        3,
        ("06",),
        (
            "What do both sides add?",
            "Which words can a causal model never take into account, whatever its size?",
            "What can a masked model not do?",
        ),
    ),
    "10": Place(
        "pretraining",
        2,
        3,
        ("06",),
        (
            "Where does a fact live?",
            "Why does a model that has read answer more, and how does it answer about people it has never read about?",
            "When should it rather not answer?",
        ),
    ),
}


@dataclass(frozen=True)
class Head:
    """What the source of a notebook tells about it."""

    folder: str
    title: str
    aims: tuple[str, ...]
    time: str
    before: str
    points: str
    exercises: int
    essays: int

    @property
    def name(self) -> str:
        """The folder's name in words, without its number."""
        return self.folder[3:].replace("_", " ")


def head(path: Path) -> Head:
    """Returns what a source tells, from its first cell and its markers."""
    text = path.read_text(encoding="utf-8")
    first = "\n".join(line.removeprefix("#").strip() for line in text.split("\n# %% ")[1].splitlines()[1:])
    title = re.search(r"^# \d\d · (.+)$", first, re.MULTILINE)
    aims = re.search(r"^\*\*When you are done, you can\*\*\n((?:.+\n)+)", first, re.MULTILINE)
    told = re.search(r"^\*\*Time\*\*: about ([^.]+)\. \*\*Before this\*\*: ((?:.+\n?)+)", first, re.MULTILINE)
    if title is None or aims is None or told is None:
        raise BuildError(
            f"{path.name}: its first cell lacks a part; expected '# NN · Title', '**When you are done, you can**' "
            "with a list, and '**Time**: about 2 h. **Before this**: ...'."
        )
    if path.stem[:2] not in PLACES:
        raise BuildError(f"{path.name} has no place in the course; give it one in PLACES of grading/syllabus.py.")
    lines = re.split(r"(?:^|\n)- ", aims.group(1).strip())[1:]
    points = sum(float(number) for number in re.findall(r"points=([\d.]+)", text))
    return Head(
        path.stem,
        title.group(1),
        tuple(" ".join(line.split()) for line in lines),
        told.group(1),
        " ".join(told.group(2).split()),
        f"{points:g} point{'s' * (points != 1)}",
        len(re.findall(r'check="', text)),
        len(re.findall(r'essay="', text)),
    )


def made(sources: Sequence[Path]) -> dict[str, str]:
    """Returns the files that are made of the sources: their path in the repository, and their text.

    Raises:
        BuildError: when a source does not tell what is needed, or has no place.
    """
    known = {path.stem[:2]: head(path) for path in sources}
    return {"docs/syllabus.md": syllabus(known), "docs/images/path.svg": picture(known)}


def syllabus(known: dict[str, Head]) -> str:
    """Returns docs/syllabus.md."""
    hours = sum(_minutes(one.time) for one in known.values()) / 60
    total = sum(float(one.points.split()[0]) for one in known.values())
    lines = [
        "# Syllabus",
        "",
        f"{len(known)} notebooks, about {hours:.0f} hours, {total:g} points. `make build` makes this page from the "
        "first cells of the notebooks.",
        "",
        "![The path through the course](images/path.svg)",
        "",
        "**In which order?** 00 to 03 first, then 04. After that the branches are free: 05; 06 and then 07 or 10; "
        "08 and then 09 (which also counts as 05 does); 11 and, with 05, 12.",
        "",
        "**With six sessions of two hours?** 01, 03, 04, 06, 07, 11.",
    ]
    for number, one in known.items():
        asked = [f"{one.exercises} exercise{'s' * (one.exercises != 1)}"]
        asked += [f"{one.essays} essay{'s' * (one.essays != 1)}"] * (one.essays > 0)
        lines += [
            "",
            f"## {number} · {one.title}",
            "",
            f"`{one.folder}`: about {one.time}, {one.points} ({' and '.join(asked)}).",
            f"**Before this**: {one.before}",
            "",
            "**Questions it answers**",
            "",
            *(f"- {question}" for question in PLACES[number].questions),
            "",
            "**When you are done, you can**",
            "",
            *(f"- {aim}" for aim in one.aims),
        ]
    return "\n".join(lines) + "\n"


def _minutes(time: str) -> int:
    hours, minutes = re.search(r"(\d+) h", time), re.search(r"(\d+) min", time)
    return 60 * int(hours.group(1) if hours else 0) + int(minutes.group(1) if minutes else 0)


def corner(number: str) -> tuple[int, int]:
    """Returns the upper left corner of a box (px)."""
    place = PLACES[number]
    return MARGIN + place.column * (WIDTH + GAP_X), MARGIN + place.row * (HEIGHT + GAP_Y)


def arrow(start: str, end: str) -> str:
    """Returns the line from one box to another: along the row, or down, across and down."""
    (x0, y0), (x1, y1) = corner(start), corner(end)
    if y0 == y1:
        points = [(x0 + WIDTH, y0 + HEIGHT // 2), (x1 - 7, y1 + HEIGHT // 2)]
    elif (start, end) == ("05", "12"):  # into the side of the box: the way from above is taken
        points = [(x0 + WIDTH // 2, y0 + HEIGHT), (x0 + WIDTH // 2, y1 + HEIGHT // 2), (x1 - 7, y1 + HEIGHT // 2)]
    else:
        middle = y1 - GAP_Y // 2
        points = [(x0 + WIDTH // 2, y0 + HEIGHT), (x0 + WIDTH // 2, middle)]
        points += [(x1 + WIDTH // 2, middle), (x1 + WIDTH // 2, y1 - 7)]
    path = " ".join(f"{x},{y}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="#555555" stroke-width="1.6" marker-end="url(#tip)"/>'


def box(number: str, one: Head) -> str:
    """Returns one notebook: number and name, its question, time and points."""
    (x, y), place = corner(number), PLACES[number]
    colour = COLOURS[place.part]
    return (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff" stroke="{colour}" '
        f'stroke-width="2"/><rect x="{x}" y="{y}" width="7" height="{HEIGHT}" rx="3" fill="{colour}"/>'
        f'<text x="{x + 18}" y="{y + 27}" class="name" fill="{colour}">{number} · {html.escape(one.name)}</text>'
        f'<text x="{x + 18}" y="{y + 51}" class="question">{html.escape(place.questions[0])}</text>'
        f'<text x="{x + 18}" y="{y + 75}" class="small">{one.time}, {one.points}</text>'
    )


def picture(known: dict[str, Head]) -> str:
    """Returns docs/images/path.svg, with a description for those who do not see it."""
    places = {number: place for number, place in PLACES.items() if number in known}
    width, height = MARGIN * 2 + 4 * WIDTH + 3 * GAP_X, MARGIN * 2 + 4 * HEIGHT + 3 * GAP_Y
    arrows = [arrow(start, end) for end, place in places.items() for start in place.builds_on if start in places]
    boxes = [box(number, known[number]) for number in places]
    told = "; ".join(f"{n} builds on {' and '.join(p.builds_on)}" for n, p in places.items() if p.builds_on)
    style = (
        "text{font-family:Helvetica,Arial,sans-serif}.name{font-size:14px;font-weight:700}"
        ".question{font-size:13.5px;fill:#222222}.small{font-size:12px;fill:#555555}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img"><title>The path through the {len(known)} notebooks</title><desc>{told}.</desc>'
        f'<style>{style}</style><defs><marker id="tip" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#555555"/></marker></defs>'
        f'<rect width="{width}" height="{height}" fill="#fafafa"/>\n' + "\n".join(arrows + boxes) + "\n</svg>\n"
    )
