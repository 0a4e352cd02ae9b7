"""What a class has understood, as one HTML page: marks, exercises, and above all which mistakes were made."""

from __future__ import annotations

import base64
import html
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
from matplotlib.figure import Figure

from grading.build import write
from grading.classroom import ClassroomError
from helpers.plots import COLOURS, STYLE

SLOW = 2.0  # seconds of processor time after which an answer is called slow
EXAMPLE_LINES = 14


@dataclass(frozen=True)
class Submission:
    """What is known of one graded submission: verdicts by exercise, and the code of each answer."""

    student: str
    verdicts: dict[str, dict[str, Any]]
    sources: dict[str, str]
    put_right: list[str]

    @property
    def share(self) -> float:
        """The share of the automatic points that was earned, 0 to 1."""
        earned = sum(float(verdict["earned"]) for verdict in self.verdicts.values())
        return earned / sum(float(verdict["points"]) for verdict in self.verdicts.values())


def load(course: Path, assignment: str) -> list[Submission]:
    """Returns the submissions of an assignment that `python -m grading autograde` has graded.

    Raises:
        ClassroomError: when there are none.
    """
    found = []
    for path in sorted((course / "gradebook" / "autograded").glob(f"*/{assignment}/{assignment}.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        told = notebook.metadata.get("grading", {})
        if told.get("verdicts"):
            ids = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in notebook.cells}
            order = [name for name in ids if name in told["verdicts"]]  # that of the notebook
            verdicts = {name: told["verdicts"][name] for name in order}
            sources = {name: ids[name] for name in order}
            found.append(Submission(path.parts[-3], verdicts, sources, list(told.get("put_right", []))))
    if not found:
        raise ClassroomError(
            f"no graded submissions of {assignment!r} in {course / 'gradebook' / 'autograded'}; expected some that "
            "`python -m grading autograde` has graded. Run it first."
        )
    return found


def discrimination(submissions: Sequence[Submission], exercise: str) -> float | None:
    """Returns the correlation of an exercise's mark with the rest of the marks; None when one of them is constant.

    Near 0 or below, the exercise does not tell those who understood from those who did not.
    """
    own, rest = [], []
    for one in submissions:
        others = [verdict["earned"] for name, verdict in one.verdicts.items() if name != exercise]
        own.append(float(one.verdicts[exercise]["earned"]))
        rest.append(float(sum(others)))
    if len(own) < 3 or len(set(own)) < 2 or len(set(rest)) < 2:
        return None
    return statistics.correlation(own, rest)


def mistakes(submissions: Sequence[Submission], exercise: str) -> list[tuple[str, str, int, str]]:
    """Returns (mistake, hint, students, an example's code) of an exercise, the most frequent first."""
    counts = Counter(one.verdicts[exercise]["mistake"] for one in submissions if one.verdicts[exercise]["mistake"])
    found = []
    for mistake, count in counts.most_common():
        first = min(
            (one for one in submissions if one.verdicts[exercise]["mistake"] == mistake),
            key=lambda one: len(one.sources[exercise]),  # the shortest example is the clearest
        )
        found.append((mistake, first.verdicts[exercise]["hint"], count, _without_comments(first.sources[exercise])))
    return found


def _without_comments(source: str) -> str:
    """Returns the code of an example without comments, where names could stand, and at most some lines of it."""
    import io
    import tokenize

    try:
        tokens = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type != tokenize.COMMENT]
        source = tokenize.untokenize(tokens)
    except (tokenize.TokenError, IndentationError, SyntaxError):
        source = "\n".join(line for line in source.splitlines() if "#" not in line)
    lines = [line.rstrip() for line in source.splitlines() if line.strip()]
    return "\n".join(lines[:EXAMPLE_LINES] + ["..."] * (len(lines) > EXAMPLE_LINES))


def page(assignment: str, submissions: Sequence[Submission]) -> str:
    """Returns the report as one HTML page that needs nothing from outside."""
    names = list(submissions[0].verdicts)
    shares = [one.share for one in submissions]
    middle = statistics.median(shares)
    body = [
        f"<h1>{html.escape(assignment)}: what the class has understood</h1>",
        f"<p>{len(submissions)} graded submissions. Half of the class has {middle:.0%} of the automatic points or "
        "more. Essays are not in this page.</p>",
        "<h2>Marks</h2>",
        _distribution(shares),
        "<h2>Exercises</h2>",
        _exercises(submissions, names),
        "<h2>Mistakes</h2>",
        *[_mistakes(submissions, name) for name in names],
        _trouble(submissions, names),
    ]
    style = (
        "body{font-family:sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;line-height:1.5}"
        "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;vertical-align:top;"
        "border-bottom:1px solid #ddd}pre{background:#f5f5f5;padding:.6rem;overflow:auto}img{max-width:100%}"
    )
    title = f"{html.escape(assignment)}: report"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{style}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _image(figure: Figure, alt: str) -> str:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="{html.escape(alt, quote=True)}" src="data:image/png;base64,{data}">'


def _distribution(shares: Sequence[float]) -> str:
    bins = [sum(low <= share < low + 0.1 or (share == 1 and low > 0.85) for share in shares) for low in _tenths()]
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(7, 2.6), layout="constrained")
        axes.bar([low + 0.05 for low in _tenths()], bins, width=0.09, color=COLOURS[0])
        axes.set(title="Marks of the class", xlabel="share of the automatic points", ylabel="students", xlim=(0, 1))
        axes.yaxis.get_major_locator().set_params(integer=True)
    parts = [
        f"{count} between {low:.0%} and {low + 0.1:.0%}" for low, count in zip(_tenths(), bins, strict=True) if count
    ]
    return _image(figure, "Number of students by share of points: " + ", ".join(parts) + ".")


def _tenths() -> list[float]:
    return [tenth / 10 for tenth in range(10)]


def _exercises(submissions: Sequence[Submission], names: Sequence[str]) -> str:
    kinds = {"right": "right", "wrong": "wrong", "not attempted": "not attempted"}
    counts = {
        name: Counter(kinds.get(one.verdicts[name]["outcome"], "crashed or too slow") for one in submissions)
        for name in names
    }
    order = ["right", "wrong", "crashed or too slow", "not attempted"]
    colours = dict(zip(order, [COLOURS[3], COLOURS[1], COLOURS[5], "#bbbbbb"], strict=True))
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(7, 0.6 + 0.4 * len(names)), layout="constrained")
        left = [0] * len(names)
        for kind in order:
            sizes = [counts[name][kind] for name in names]
            axes.barh(names, sizes, left=left, color=colours[kind], label=kind)
            left = [start + size for start, size in zip(left, sizes, strict=True)]
        axes.invert_yaxis()
        axes.set(title="Each exercise", xlabel="students")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=4)
    alt = "; ".join(f"{name}: {counts[name]['right']} of {len(submissions)} right" for name in names)
    rows = ""
    for name in names:
        mean = statistics.mean(one.verdicts[name]["earned"] for one in submissions)
        points = submissions[0].verdicts[name]["points"]
        value = discrimination(submissions, name)
        told = "too few or too equal marks" if value is None else f"{value:+.2f}"
        warning = " - <strong>does not discriminate</strong>" if value is not None and value < 0.15 else ""
        rows += f"<tr><td>{html.escape(name)}</td><td>{mean:.2f} of {points:g}</td><td>{told}{warning}</td></tr>"
    return (
        _image(figure, f"For each exercise, how many students were right: {alt}.")
        + "<table><tr><th>exercise</th><th>mean mark</th><th>correlation with the other marks</th></tr>"
        + f"{rows}</table>"
    )


def _mistakes(submissions: Sequence[Submission], name: str) -> str:
    found = mistakes(submissions, name)
    wrong = sum(one.verdicts[name]["outcome"] not in ("right", "not attempted") for one in submissions)
    unnamed = wrong - sum(count for _, _, count, _ in found)
    if not wrong:
        return ""
    rows = ""
    for mistake, hint, count, example in found:
        share = f"<strong>{count / len(submissions):.0%}</strong> ({count})"
        shown = f"<details><summary>an example</summary><pre>{html.escape(example)}</pre></details>"
        rows += (
            f"<tr><td>{share}</td><td><strong>{html.escape(mistake)}</strong><br>{html.escape(hint)}{shown}</td></tr>"
        )
    if unnamed:
        share = f"{unnamed / len(submissions):.0%} ({unnamed})"
        rows += f"<tr><td>{share}</td><td>wrong in a way that no check names</td></tr>"
    return f"<h3>{html.escape(name)}</h3><table><tr><th>students</th><th>mistake</th></tr>{rows}</table>"


def _trouble(submissions: Sequence[Submission], names: Sequence[str]) -> str:
    lines = []
    for name in names:
        slow = [one for one in submissions if one.verdicts[name].get("seconds", 0) > SLOW]
        crashed = [one for one in submissions if one.verdicts[name]["outcome"] in ("crashed", "late")]
        if slow:
            lines.append(f"{name}: {len(slow)} answers took more than {SLOW:g} s")
        if crashed:
            lines.append(f"{name}: {len(crashed)} answers stopped with an error or were stopped")
    put_right = sum(bool(one.put_right) for one in submissions)
    if put_right:
        lines.append(f"{put_right} notebooks had to be put right (copied, moved or renamed cells and files)")
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return f"<h2>Slow, crashing, put right</h2><ul>{items or '<li>nothing</li>'}</ul>"


def run(course: Path, assignment: str) -> Path:
    """Writes the report of an assignment into `gradebook/`, and returns its path."""
    path = course / "gradebook" / f"report_{assignment}.html"
    write(path, page(assignment, load(course, assignment)))
    return path
