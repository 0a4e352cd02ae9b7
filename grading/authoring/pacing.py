"""How long a student takes for the cells of a notebook, and for each of its sittings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from grading.authoring.cell import Cell
from grading.notebooks.cells import BEGIN_SOLUTION as BEGIN
from grading.notebooks.cells import END_SOLUTION as END

# A student's pace. Most adults read between 175 and 300 words of plain English non-fiction a minute, fewer in a second
# language (Brysbaert 2019, https://doi.org/10.1016/j.jml.2019.104047). Our texts have formulas to follow and tables to
# compare, so we count with less. This and the other rates are estimates: replace them by what a class reports.
WORDS_PER_MINUTE = 130
LINES_PER_MINUTE = 20  # of the code that is given, and not folded
QUARTER = 15  # minutes: times are given in quarters of an hour
SITTING = 105  # minutes: the longest that an evening should take


def pace(cells: Sequence[Cell], running: float = 0) -> float:
    """Returns the minutes that a student takes for cells: to read them, to answer them, and to wait for them.

    Args:
        cells: of a source; rubrics and solutions are not read by students, and count by the minutes of their answers.
        running: minutes that the cells take.
    """
    words = sum(len(cell.source.split()) for cell in cells if cell.kind in ("prose", "questions", "pause"))
    answers = sum(cell.minutes for cell in cells)
    return words / WORDS_PER_MINUTE + lines_given(cells) / LINES_PER_MINUTE + answers + running


def sittings(cells: Sequence[Cell], running: float) -> list[float]:
    """Returns the minutes of each sitting of a notebook: what lies between its places to stop.

    What the cells of a sitting take to run is its share of `running`, by the number of its experiments.
    """
    number, parts = 0, list[tuple[int, Cell]]()
    for cell in cells:
        number += cell.kind == "pause"
        parts.append((number, cell))
    groups = [[cell for _, cell in group] for _, group in groupby(parts, key=lambda part: part[0])]
    runs = [sum(cell.is_experiment for cell in group) for group in groups]
    return [pace(group, running * run / max(1, sum(runs))) for group, run in zip(groups, runs, strict=True)]


def lines_given(cells: Sequence[Cell]) -> int:
    """Returns how many lines of code students are given to read: those of exercises are theirs, and some are folded."""
    given = [cell for cell in cells if cell.language == "code" and cell.kind not in ("exercise", "check")]
    return sum(bool(line.strip()) for cell in given if not cell.is_folded for line in cell.source.splitlines())


def lines_written(cells: Sequence[Cell]) -> int:
    """Returns how many lines the solutions of a notebook have."""
    solved = [re.findall(rf"{BEGIN}\n(.*?){END}", cell.source, re.DOTALL) for cell in cells if cell.kind == "exercise"]
    return sum(bool(line.strip()) for parts in solved for part in parts for line in part.splitlines())


def in_quarters(minutes: float) -> str:
    """Returns a time in words, such as "2 h 45 min": in quarters of an hour, below one in steps of five minutes."""
    step = QUARTER if minutes > 4 * QUARTER else 5
    hours, rest = divmod(max(step, step * round(minutes / step)), 60)
    return " ".join([f"{hours} h"] * (hours > 0) + [f"{rest} min"] * (rest > 0))
