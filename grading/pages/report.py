"""What a class has understood, as one HTML page: marks, exercises, and above all which mistakes were made."""

from __future__ import annotations

import html
import io
import re
import statistics
import tokenize
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from grading.authoring.build import write
from grading.classroom import roster
from grading.errors import CourseError

SLOW = 2.0  # seconds of processor time after which an answer is called slow
EXAMPLE_LINES = 14
FLAT = 0.15  # below this correlation with the other marks an exercise does not discriminate
KINDS = {"right": "right", "wrong": "wrong", "not attempted": "not attempted"}  # all else has crashed or was too slow
ORDER = ("right", "wrong", "crashed or too slow", "not attempted")
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Submission:
    """What is known of one graded submission: verdicts by exercise, and the code of each answer.

    `names` are what the student may be called, for keeping it out of the page.
    """

    student: str
    verdicts: dict[str, dict[str, Any]]
    sources: dict[str, str]
    put_right: list[str]
    names: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The share of the automatic points that was earned, 0 to 1."""
        earned = sum(float(verdict["earned"]) for verdict in self.verdicts.values())
        return earned / sum(float(verdict["points"]) for verdict in self.verdicts.values())


def load(course: Path, assignment: str) -> list[Submission]:
    """Returns the submissions of an assignment that `python -m grading autograde` has graded.

    Raises:
        CourseError: when there are none.
    """
    own = course / "gradebook" / "students.csv"
    people = roster.load(own).people if own.exists() else {}
    found = []
    for path in sorted((course / "gradebook" / "autograded").glob(f"*/{assignment}/{assignment}.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        told = notebook.metadata.get("grading", {})
        if told.get("verdicts"):
            ids = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in notebook.cells}
            order = [name for name in ids if name in told["verdicts"]]  # that of the notebook
            verdicts = {name: told["verdicts"][name] for name in order}
            sources = {name: ids[name] for name in order}
            student = path.parts[-3]
            person = people.get(student)
            names = (person.first, person.last) if person else ()
            found.append(Submission(student, verdicts, sources, list(told.get("put_right", [])), names))
    if not found:
        raise CourseError(
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
        example = anonymous(first.sources[exercise], [first.student, *first.names])
        found.append((mistake, first.verdicts[exercise]["hint"], count, example))
    return found


def anonymous(source: str, names: Iterable[str]) -> str:
    """Returns the first lines of an example without what could name its author.

    Comments, docstrings and long texts go; what is left of the author's id and names becomes "student".
    """
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
        kept, line = list[tuple[int, str]](), tokenize.NEWLINE
        for token in tokens:
            text = token.string
            if token.type == tokenize.COMMENT:
                continue
            if token.type == tokenize.STRING and (" " in text.strip() or len(text) > 24 or line == tokenize.NEWLINE):
                text = '"..."'
            if token.type not in (tokenize.INDENT, tokenize.DEDENT, tokenize.NL):
                line = token.type
            kept.append((token.type, text))
        source = _laid_out(tokens, kept)
    except (tokenize.TokenError, IndentationError, SyntaxError):
        source = "\n".join(line for line in source.splitlines() if "#" not in line and '"' not in line)
    parts = {part for name in names for part in re.split(r"[\W_]+", name) if len(part) > 2}
    for part in sorted(parts, key=len, reverse=True):
        source = re.sub(rf"(?<![^\W_]){re.escape(part)}(?![^\W\d_])", "student", source, flags=re.IGNORECASE)
    lines = [line.rstrip() for line in source.splitlines() if line.strip()]
    return "\n".join(lines[:EXAMPLE_LINES] + ["..."] * (len(lines) > EXAMPLE_LINES))


def _laid_out(tokens: Sequence[tokenize.TokenInfo], kept: Sequence[tuple[int, str]]) -> str:
    """Returns tokens as text with the spaces that stood before each of them; comments have left `kept`."""
    texts, place, row = list[str](), 0, 0
    rest = iter(kept)
    for token in tokens:
        if token.type == tokenize.COMMENT:
            continue
        _, text = next(rest)
        if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        if token.start[0] != row:
            row, place = token.start[0], 0
        texts.append(token.line[place : token.start[1]] if token.type not in (tokenize.NEWLINE, tokenize.NL) else "")
        texts.append("\n" if token.type in (tokenize.NEWLINE, tokenize.NL) else text)
        row, place = token.end
    return "".join(texts)


def page(assignment: str, submissions: Sequence[Submission], *, ungraded: int = 0, unread: int = 0) -> str:
    """Returns the report as one HTML page that needs nothing from outside and names nobody.

    Args:
        assignment: its name.
        submissions: the graded ones, at least one.
        ungraded: how many were handed in and have no mark.
        unread: how many have answers that a person has not read.
    """
    names = list(submissions[0].verdicts)
    shares = [one.share for one in submissions]
    sentences = [
        f"{len(submissions)} graded submissions.",
        f"Half of the class has {statistics.median(shares):.0%} of the automatic points or more.",
        f"Handed in without a mark: {ungraded} (python -m grading autograde says why)." if ungraded else "",
        f"With an essay still to be read: {unread}." if unread else "",
        "Essays are not in this page, and nobody is named.",
    ]
    body = [
        f"<h1>{html.escape(assignment)}: what the class has understood</h1>",
        f"<p>{' '.join(filter(None, sentences))}</p>",
        _first_look(submissions, names),
        "<h2>Marks</h2>",
        _distribution(shares),
        "<h2>Exercises</h2>",
        _exercises(submissions, names),
        "<h2>Mistakes</h2>",
        *([_mistakes(submissions, name) for name in names] if _any_wrong(submissions) else ["<p>None.</p>"]),
        _trouble(submissions, names),
    ]
    title = f"{html.escape(assignment)}: report"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


STYLE = (
    ":root{color-scheme:light dark;--back:#fff;--text:#1a1a1a;--soft:#f5f5f5;--line:#d5d5d5;--bar:#0072b2;"
    "--k0:#00785a;--k1:#b84f00;--k2:#7b3f98;--k3:#707070;--warn:#aa4400}"
    "@media(prefers-color-scheme:dark){:root{--back:#181a1b;--text:#e6e6e6;--soft:#242728;--line:#45494b;"
    "--bar:#56b4e9;--k0:#2fbf94;--k1:#f0883e;--k2:#c28ae0;--k3:#9a9ea0;--warn:#ff9a5c}}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;background:var(--back);"
    "color:var(--text)}table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.35rem .6rem;"
    "vertical-align:top;border-bottom:1px solid var(--line)}.number{text-align:right;white-space:nowrap}"
    "pre{background:var(--soft);padding:.6rem;overflow:auto;font-size:.85rem}svg{width:100%;height:auto;max-width:46rem;"
    "display:block}svg text{fill:var(--text);font:13px system-ui,sans-serif}.warn{color:var(--warn);font-weight:600}"
    ".bar{fill:var(--bar)}.k0{fill:var(--k0)}.k1{fill:var(--k1)}.k2{fill:var(--k2)}.k3{fill:var(--k3)}"
    "svg .inside{fill:var(--back)}.rule{stroke:var(--line)}summary{cursor:pointer}.share{white-space:nowrap}"
)


def _any_wrong(submissions: Sequence[Submission]) -> bool:
    return any(v["outcome"] not in ("right", "not attempted") for one in submissions for v in one.verdicts.values())


def _first_look(submissions: Sequence[Submission], names: Sequence[str]) -> str:
    """Returns the three mistakes that most students made, in any exercise: where to begin on Monday."""
    found = [(count, name, mistake, hint) for name in names for mistake, hint, count, _ in mistakes(submissions, name)]
    if not found:
        return ""
    rows = "".join(
        f"<li><strong>{count / len(submissions):.0%}</strong> in {html.escape(name)}: "
        f"<strong>{html.escape(mistake)}</strong>. {html.escape(hint)}</li>"
        for count, name, mistake, hint in sorted(found, key=lambda one: -one[0])[:3]
    )
    return f"<h2>Begin here</h2><ol>{rows}</ol>"


# --- figures ----------------------------------------------------------------------------------------------------------


def _figure(width: int, height: int, alt: str, parts: Iterable[str]) -> str:
    """Returns a drawing in the page's own colours, light or dark, with its text for those who do not see it."""
    told = html.escape(alt, quote=True)
    return (
        f'<svg role="img" aria-label="{told}" viewBox="0 0 {width} {height}"><title>{told}</title>'
        + "".join(parts)
        + "</svg>"
    )


def _words(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{html.escape(text)}</text>'


def _distribution(shares: Sequence[float]) -> str:
    bins = [0] * 10
    for share in shares:
        bins[min(9, int(10 * share + 1e-9))] += 1  # 1.0 belongs to the last tenth
    highest, step, base = max(bins), 68, 150
    parts = [f'<line class="rule" x1="20" y1="{base}" x2="700" y2="{base}"/>']
    for tenth, count in enumerate(bins):
        height = 110 * count / highest
        left = 20 + step * tenth
        if count:
            parts.append(
                f'<rect class="bar" x="{left + 5}" y="{base - height:g}" width="{step - 10}" height="{height:g}"/>'
            )
            parts.append(_words(left + step / 2, base - height - 6, str(count)))
        parts.append(_words(left, base + 18, f"{10 * tenth}%"))
    parts += [
        _words(700, base + 18, "100%"),
        _words(360, base + 40, "share of the automatic points (number of students)"),
    ]
    told = [f"{count} between {10 * tenth}% and {10 * tenth + 10}%" for tenth, count in enumerate(bins) if count]
    return _figure(730, 196, "Number of students by share of points: " + ", ".join(told) + ".", parts)


def _exercises(submissions: Sequence[Submission], names: Sequence[str]) -> str:
    counts = {
        name: Counter(KINDS.get(one.verdicts[name]["outcome"], "crashed or too slow") for one in submissions)
        for name in names
    }
    parts, total = list[str](), len(submissions)
    for place, (kind, x) in enumerate(zip(ORDER, (190, 270, 360, 530), strict=True)):
        parts.append(f'<rect class="k{place}" x="{x}" y="2" width="14" height="14"/>')
        parts.append(_words(x + 20, 14, kind, "start"))
    for row, name in enumerate(names):
        left, top = 190.0, 28 + 30 * row
        parts.append(_words(182, top + 16, name if len(name) < 25 else f"{name[:23]}…", "end"))
        for place, kind in enumerate(ORDER):
            width = 530 * counts[name][kind] / total
            if width:
                parts.append(f'<rect class="k{place}" x="{left:g}" y="{top}" width="{width:g}" height="22"/>')
            if width > 24:
                number = f'<text class="inside" x="{left + width / 2:g}" y="{top + 16}" text-anchor="middle">'
                parts.append(f"{number}{counts[name][kind]}</text>")
            left += width
    alt = "; ".join(
        f"{name}: " + ", ".join(f"{counts[name][kind]} {kind}" for kind in ORDER if counts[name][kind])
        for name in names
    )
    rows = "".join(_exercise_row(submissions, name) for name in names)
    return (
        _figure(730, 36 + 30 * len(names), f"How the {total} students did in each exercise: {alt}.", parts)
        + '<table><tr><th>exercise</th><th class="number">mean mark</th><th class="number">all right</th>'
        '<th class="number">processor time: middle, longest</th><th>correlation with the other marks</th></tr>'
        + f"{rows}</table>"
    )


def _exercise_row(submissions: Sequence[Submission], name: str) -> str:
    verdicts = [one.verdicts[name] for one in submissions]
    mean = statistics.mean(float(verdict["earned"]) for verdict in verdicts)
    right = sum(verdict["outcome"] == "right" for verdict in verdicts) / len(verdicts)
    seconds = [float(verdict.get("seconds", 0)) for verdict in verdicts]
    times = f"{statistics.median(seconds):.2f} s, {max(seconds):.2f} s"
    value = discrimination(submissions, name)
    told = "too few or too equal marks" if value is None else f"{value:+.2f}"
    warning = ' - <span class="warn">does not discriminate</span>' if value is not None and value < FLAT else ""
    return (
        f'<tr><td>{html.escape(name)}</td><td class="number">{mean:.2f} of {float(verdicts[0]["points"]):g}</td>'
        f'<td class="number">{right:.0%}</td><td class="number">{times}</td><td>{told}{warning}</td></tr>'
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
        text = f"<strong>{html.escape(mistake)}</strong><br>{html.escape(hint)}{shown}"
        rows += f'<tr><td class="share">{share}</td><td>{text}</td></tr>'
    if unnamed:
        share = f"{unnamed / len(submissions):.0%} ({unnamed})"
        rows += f'<tr><td class="share">{share}</td><td>wrong in a way that no check names</td></tr>'
    return f"<h3>{html.escape(name)}</h3><table><tr><th>students</th><th>mistake</th></tr>{rows}</table>"


def _trouble(submissions: Sequence[Submission], names: Sequence[str]) -> str:
    lines = []
    for name in names:
        slow = [one for one in submissions if one.verdicts[name].get("seconds", 0) > SLOW]
        crashed = [one for one in submissions if one.verdicts[name]["outcome"] in ("crashed", "late")]
        if slow:
            lines.append(f"{name}: answers that took more than {SLOW:g} s: {len(slow)}")
        if crashed:
            lines.append(f"{name}: answers that stopped with an error, or were stopped: {len(crashed)}")
    put_right = sum(bool(one.put_right) for one in submissions)
    if put_right:
        lines.append(f"notebooks put right (copied, moved or renamed cells and files): {put_right}")
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return f"<h2>Slow, crashing, put right</h2><ul>{items or '<li>nothing</li>'}</ul>"


def run(course: Path, assignment: str) -> Path:
    """Writes the report of an assignment into `gradebook/`, and returns its path.

    Raises:
        CourseError: when nothing of it has been graded.
    """
    from grading.classroom import export

    found = load(course, assignment)
    unread = 0
    if (course / "gradebook" / "gradebook.db").exists():
        unread = sum(mark.unread > 0 for mark in export.marks(course, [assignment])[0])
    handed_in = {path.parent.name for path in (course / "gradebook" / "submitted").glob(f"[!.]*/{assignment}")}
    ungraded = len(handed_in - {one.student for one in found})
    path = course / "gradebook" / f"report_{assignment}.html"
    write(path, page(assignment, found, ungraded=ungraded, unread=unread))
    return path
