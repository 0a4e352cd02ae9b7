"""Feedback pages: for each exercise the check, the points and the hint; nothing hidden, nothing from outside.

nbgrader's `generate_feedback` makes them (formgrader's button too) with the exporter of this file, which
`nbgrader_config.py` names. The page is built from plain text: whatever a student wrote or printed is escaped, pictures
are decoded and encoded again, formulas become MathML, links become text, and a content policy forbids the rest.
"""

from __future__ import annotations

import base64
import binascii
import html
import logging
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mistune import HTMLRenderer
from nbconvert.exporters import Exporter
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from nbformat import NotebookNode
from nbgrader.preprocessors import GetGrades
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES
from tqdm import tqdm

from grading.authoring.build import BEGIN_HIDDEN, END_HIDDEN
from grading.autograder import reporting as telling
from grading.errors import CourseError
from grading.pages.mathml import mathml
from grading.text import printable

MAX_SHOWN = 10_000  # signs of one output
MAX_PICTURE = 4 << 20
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
HEADLINE = re.compile(
    r"\w+: (all checks passed|not yet right|not attempted yet|stopped with an error|took too long)"
    r"( - [\d.]+ of [\d.]+ points)?"
)
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
OWN_FIGURE = re.compile(r'<img alt="([^"<>]*)"[^<>]*src="data:image/png;base64,([A-Za-z0-9+/=]+)"[^<>]*>')
TELLING_ERRORS = {"NameError", "SyntaxError", "IndentationError", "CellTimeoutError", "NotImplementedError"}


class Grades(GetGrades):  # type: ignore[misc]  # nbgrader has no types
    """nbgrader's step that puts marks and comments into the notebook; adds whether an answer is still to be read."""

    def _get_score(self, cell: NotebookNode, resources: Any) -> None:
        super()._get_score(cell, resources)
        name = cell.metadata.nbgrader.grade_id
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        cell.metadata.nbgrader["unread"] = bool(grade.needs_manual_grade and grade.manual_score is None)


class FeedbackExporter(Exporter):
    """Makes one page of an autograded notebook; used by nbgrader in place of its own exporter."""

    output_mimetype = "text/html"

    def _file_extension_default(self) -> str:
        return ".html"

    def from_notebook_node(  # type: ignore[override]  # nbconvert's own HTML exporter returns a text too
        self, nb: NotebookNode, resources: Any = None, **keywords: Any
    ) -> tuple[str, dict[str, Any]]:
        """Returns the page, after nbgrader's preprocessors have put the marks into the notebook."""
        nb, resources = super().from_notebook_node(nb, resources, **keywords)
        return page(nb, resources.get("nbgrader", {})), resources


# --- text that anybody wrote ------------------------------------------------------------------------------------------


class _Renderer(HTMLRenderer):
    """Markdown without raw HTML, without links, with formulas as MathML."""

    def __init__(self) -> None:
        super().__init__(escape=True, allow_harmful_protocols=False)

    def text(self, text: str) -> str:
        return html.escape(text)  # quotes too: then not even a grep finds an address in an attribute

    def inline_html(self, html: str) -> str:
        return self.text(html)

    def block_html(self, html: str) -> str:
        return f"<p>{self.text(html.strip())}</p>\n"

    def codespan(self, text: str) -> str:
        return f"<code>{self.text(text)}</code>"

    def block_code(self, code: str, info: str | None = None) -> str:
        python = (info or "").strip().split(" ")[0] in ("python", "py", "python3")
        return _code(code) if python else f"<pre>{self.text(code)}</pre>\n"

    def block_math(self, text: str) -> str:
        return f'<p class="formula">{mathml(text, block=True)}</p>\n'

    def inline_math(self, text: str) -> str:
        return mathml(text)

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")

    def link(self, text: str, url: str, title: str | None = None) -> str:
        if url.startswith("#"):
            return text
        told = html.escape(url)
        return told if told == text else f"{text} ({told})"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return f"[picture: {html.escape(html.unescape(re.sub(r'<[^>]*>', '', text)))}]"


def markdown(text: str) -> str:
    """Returns Markdown as HTML: raw HTML is shown as it was typed, links are text, formulas are MathML."""
    return str(MarkdownWithMath(renderer=_Renderer()).render(text[: 10 * MAX_SHOWN]))


def _cut(text: str) -> str:
    bare = ANSI.sub("", text)
    left_out = len(bare) - MAX_SHOWN
    return bare if left_out <= 0 else f"{bare[:MAX_SHOWN]}\n... ({left_out} signs more)"


def _code(source: str) -> str:
    """Returns Python in colours; unlike pygments' own page, with quotes escaped like everything else."""
    shown = ""
    for token, text in PythonLexer(stripnl=False).get_tokens(_cut(source).rstrip("\n")):
        kind = next((STANDARD_TYPES[one] for one in reversed(token.split()) if one in STANDARD_TYPES), "")
        shown += f'<span class="{kind}">{html.escape(text)}</span>' if kind else html.escape(text)
    return f'<pre class="code">{shown}</pre>'


def _pre(text: str, kind: str = "") -> str:
    return f'<pre class="output {kind}">{html.escape(_cut(text))}</pre>'


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "".join(str(part) for part in value or ())


def _picture(encoded: str, alt: str) -> str:
    """Returns a picture, decoded and encoded again, so that its attribute can hold nothing else."""
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError):
        return _pre("[a picture that cannot be read]")
    kind = "png" if data.startswith(b"\x89PNG\r\n") else "jpeg" if data.startswith(b"\xff\xd8\xff") else ""
    if not kind or len(data) > MAX_PICTURE:
        return _pre("[a picture that cannot be shown]")
    told = html.escape(ANSI.sub("", alt)[:2000] or "A figure that this cell made, without a description.", quote=True)
    return f'<img alt="{told}" src="data:image/{kind};base64,{base64.b64encode(data).decode()}">'


def _output(output: Any) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        return _pre(_text(output.get("text")), "stderr" if output.get("name") == "stderr" else "")
    if kind == "error":
        return _pre(f"{output.get('ename')}: {output.get('evalue')}", "stderr")
    data, metadata = output.get("data", {}), output.get("metadata", {})
    own = OWN_FIGURE.fullmatch(_text(data.get("text/html")).strip())
    if own:
        return _picture(own[2], html.unescape(own[1]))
    for name in ("image/png", "image/jpeg"):
        if name in data:
            told = metadata.get("alt") or (metadata.get(name) or {}).get("alt") or ""
            return _picture(_text(data[name]), str(told))
    return _pre(_text(data.get("text/plain") or data.get("text/html") or "[an output that a page cannot show]"))


# --- the page ---------------------------------------------------------------------------------------------------------


def _visible(source: str) -> str:
    """Returns the source of a cell without its hidden part."""
    before, found, rest = source.partition(BEGIN_HIDDEN)
    return (before + rest.partition(END_HIDDEN)[2] if found else before).rstrip()


def _verdict(cell: NotebookNode) -> str:
    """Returns what the examiner said of an exercise, as plain text; of a check's outputs nothing else is shown.

    A print inside an answer, or a traceback through the check, would show the hidden inputs.
    """
    said = [_text(output.get("data", {}).get("text/plain")) for output in cell.get("outputs", [])]
    verdicts = [text for text in said if HEADLINE.fullmatch(text.split("\n", 1)[0])]
    if verdicts:
        return verdicts[-1]
    for output in cell.get("outputs", []):
        if output.get("output_type") == "error":
            name = _text(output.get("ename"))
            told = f": {_text(output.get('evalue'))[:200]}" if name in TELLING_ERRORS else ""
            return f"The check stopped with {name}{told}"
    return "There is no verdict: the check was not run."


def _verdict_block(text: str, full: bool) -> str:
    first, *lines = _cut(text).split("\n")
    body = ""
    for line in lines:
        line = line.strip()
        kind = "said"
        for start, name in (("[passed] ", "passed"), ("[failed] ", "failed"), ("This looks like: ", "mistake")):
            if line.startswith(start):
                kind = name
        told = {"passed": "&#10003; ", "failed": "&#10007; "}.get(kind, "")
        body += f'<div class="{kind}">{told}{html.escape(re.sub(r"^.(passed|failed). ", "", line))}</div>'
    state = "right" if full else "untried" if "not attempted" in first else "wrong"
    return f'<div class="verdict {state}"><div class="headline">{html.escape(first)}</div>{body}</div>'


def _number(value: Any) -> str:
    return f"{float(value or 0):.2f}".rstrip("0").rstrip(".")


def _told(cell: NotebookNode) -> dict[str, Any]:
    return dict(cell.metadata.get("nbgrader", {}))


def _row(cell: NotebookNode) -> str:
    told = _told(cell)
    name = str(told["grade_id"])
    anchor = html.escape(name, quote=True)
    if told.get("solution"):
        says = "still to be read by a person" if told.get("unread") else "read by a person"
    else:
        lines = [line.strip() for line in _verdict(cell).split("\n")]
        hints = [line for line in lines if line.startswith(("This looks like: ", "Where to look: "))]
        head = re.sub(r" - [\d.]+ of [\d.]+ points$", "", lines[0].partition(": ")[2] or lines[0])
        says = ". ".join([head, *hints[:1]])
    shown = html.escape(name.removesuffix("_check"))
    mark = "&ndash;" if told.get("unread") else _number(told.get("score"))
    return (
        f'<tr><td><a href="#{anchor}">{shown}</a></td><td class="mark">{mark} / {_number(told.get("points"))}</td>'
        f"<td>{html.escape(says)}</td></tr>"
    )


def _comment(told: dict[str, Any]) -> str:
    comment = str(told.get("comment") or "")
    return f'<div class="comment"><strong>Comment</strong>{markdown(comment)}</div>' if comment else ""


def _cell(cell: NotebookNode) -> str:
    told = _told(cell)
    anchor = html.escape(str(told.get("grade_id", "")), quote=True)
    mark = f"{_number(told.get('score'))} of {_number(told.get('points'))} points"
    if told.get("solution") and told.get("grade"):
        state = "still to be read by a person" if told.get("unread") else mark
        text = markdown(cell.source) if cell.cell_type == "markdown" else _code(cell.source)
        head = f"<h3>Your answer: {anchor} <span>{state}</span></h3>"
        return f'<section class="graded" id="{anchor}">{head}{text}{_comment(told)}</section>'
    if told.get("solution"):
        shown = "".join(_output(output) for output in cell.get("outputs", []))
        head = f"<h3>Your answer: {anchor}</h3>"
        return f'<section class="graded" id="{anchor}">{head}{_code(cell.source)}{shown}{_comment(told)}</section>'
    if told.get("grade"):
        full = float(told.get("score") or 0) >= float(told.get("points") or 0)
        head = f"<h3>Check: {anchor.removesuffix('_check')} <span>{mark}</span></h3>"
        verdict = _verdict_block(_verdict(cell), full)
        return f'<section class="graded" id="{anchor}">{head}{_code(_visible(cell.source))}{verdict}</section>'
    if cell.cell_type == "markdown":
        return f'<section class="prose">{markdown(cell.source)}</section>'
    if cell.cell_type != "code" or not cell.source.strip():
        return ""
    shown = "".join(_output(output) for output in cell.get("outputs", []))
    return f"<details><summary>code of the notebook</summary>{_code(_visible(cell.source))}</details>{shown}"


def page(notebook: NotebookNode, told: dict[str, Any]) -> str:
    """Returns the feedback page of an autograded notebook in which nbgrader has put marks and comments.

    Args:
        notebook: cells with `score`, `points`, `comment` and `unread` in their nbgrader metadata.
        told: nbgrader's `student`, `notebook`, `score`, `max_score` and `late_penalty`.
    """
    graded = [cell for cell in notebook.cells if _told(cell).get("grade")]
    title = html.escape(f"{told.get('notebook', 'feedback')}: {told.get('student', '')}")
    penalty = float(told.get("late_penalty") or 0)
    unread = sum(bool(_told(cell).get("unread")) for cell in graded)
    notes = [f"{unread} written answer{'s are' if unread > 1 else ' is'} still to be read."] if unread else []
    notes += [f"Handed in late: {_number(penalty)} points taken off."] if penalty else []
    put_right = [str(line) for line in notebook.metadata.get("grading", {}).get("put_right", [])]
    if put_right:
        items = "".join(f"<li>{html.escape(_cut(line))}</li>" for line in put_right)
        right = f'<section class="graded"><h3>Put right before grading</h3><ul>{items}</ul></section>'
    else:
        right = ""
    body = "\n".join(_cell(cell) for cell in notebook.cells if cell.get("id") != "put-right")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_style()}</style></head><body><main>\n<h1>{title}</h1>\n"
        f'<p class="total">{_number(told.get("score"))} of {_number(told.get("max_score"))} points</p>'
        f"<p>{html.escape(' '.join(notes))}</p>\n"
        f"<table><tr><th>exercise</th><th>points</th><th>what was found</th></tr>{''.join(map(_row, graded))}</table>\n"
        f"{right}{body}\n</main></body></html>\n"
    )


def _style() -> str:
    """Returns the page's style, for light and dark screens."""
    light, dark = (
        HtmlFormatter(style=get_style_by_name(name)).get_style_defs(".code") for name in ("default", "github-dark")
    )
    light, dark = (re.sub(r"^(?!\.code).*\n?|^\.code \{.*\n?|/\*.*?\*/", "", s, flags=re.M) for s in (light, dark))
    return (
        ":root{color-scheme:light dark;--back:#fff;--text:#1a1a1a;--soft:#f5f5f5;--line:#d5d5d5;--good:#117733;"
        "--bad:#aa4400;--quiet:#5a5a5a}"
        "@media(prefers-color-scheme:dark){:root{--back:#181a1b;--text:#e6e6e6;--soft:#242728;--line:#45494b;"
        f"--good:#6fcf8f;--bad:#ff9a5c;--quiet:#a8a8a8}}{dark}}}"
        f"@media not all and (prefers-color-scheme:dark){{{light}}}"
        "body{font:16px/1.55 system-ui,sans-serif;margin:0;background:var(--back);color:var(--text)}"
        "main{max-width:54rem;margin:2rem auto;padding:0 1rem}a{color:inherit}"
        "table{border-collapse:collapse;margin:1rem 0}td,th{text-align:left;padding:.35rem .7rem;vertical-align:top;"
        "border-bottom:1px solid var(--line)}.mark{white-space:nowrap}.total{font-size:1.4rem;margin:.2rem 0}"
        "pre{background:var(--soft);padding:.6rem .8rem;overflow:auto;max-height:40rem;font-size:.85rem;"
        "line-height:1.4}code{background:var(--soft);padding:0 .2em}.stderr{border-left:4px solid var(--bad)}"
        ".graded{border:1px solid var(--line);border-radius:6px;padding:.2rem 1rem 1rem;margin:1.2rem 0}"
        ".graded h3{margin:.6rem 0}.graded h3 span{float:right;font-weight:400;color:var(--quiet)}"
        ".verdict{border-left:6px solid var(--bad);background:var(--soft);padding:.5rem .8rem}"
        ".verdict.right{border-color:var(--good)}.verdict.untried{border-color:var(--quiet)}"
        ".headline,.mistake{font-weight:600}.verdict.right .headline{color:var(--good)}"
        ".verdict.wrong .headline{color:var(--bad)}.comment{border-left:6px solid var(--quiet);padding-left:.8rem}"
        ".formula{overflow-x:auto}math{font-size:1.1em}img{max-width:100%;background:#fff}"
        "summary{color:var(--quiet);font-size:.85rem;cursor:pointer}details{margin:.6rem 0}"
        "@media print{details,.graded{break-inside:avoid}}"
    )


# --- the command ------------------------------------------------------------------------------------------------------


class _ToLog(logging.Handler):
    """Takes nbgrader's messages to a log file of ours."""

    def __init__(self, log: telling.Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.say(record.getMessage())


def run(course: Path, assignments: Sequence[str] = (), students: Sequence[str] = (), *, progress: bool = True) -> int:
    """Writes feedback pages with nbgrader's `generate_feedback`; returns 0 only when all could be written.

    Raises:
        CourseError: when nothing that was chosen has been graded.
    """
    from nbgrader.converters import GenerateFeedback
    from nbgrader.converters.base import NbGraderException
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config
    from traitlets.config.loader import PyFileConfigLoader

    autograded = course / "gradebook" / "autograded"
    found = sorted(path for path in autograded.glob("[!.]*/[!.]*/*.ipynb") if path.stem == path.parent.name)
    chosen = [
        path
        for path in found
        if (not assignments or path.stem in assignments) and (not students or path.parts[-3] in students)
    ]
    absent = {*assignments} - {path.stem for path in chosen} | {*students} - {path.parts[-3] for path in chosen}
    if absent or not chosen:
        raise CourseError(
            f"no graded submission {f'of {sorted(absent)[0]!r} ' if absent else ''}in {autograded}; grade first "
            "(python -m grading autograde)."
        )
    config = Config()
    config.merge(PyFileConfigLoader("nbgrader_config.py", str(course)).load_config())
    failed = []
    record = telling.Log(course, "feedback")
    log = logging.Logger("feedback", logging.ERROR)
    log.addHandler(_ToLog(record))
    for path in tqdm(chosen, unit="page", disable=not progress, file=sys.stderr):
        student = path.parts[-3]
        folder = CourseDirectory(config=config, assignment_id=path.stem, student_id=student)
        try:
            GenerateFeedback(coursedir=folder, config=config, force=True, log=log).start()
        except NbGraderException as problem:
            failed.append(f"{student} {path.stem}: {problem}")
    print(f"feedback pages in {course / 'gradebook' / 'feedback'}: {len(chosen) - len(failed)}")
    for line in failed:
        print(f"no page for {printable(line, telling.LONGEST)}", file=sys.stderr)
    if failed:
        print(f"log: {record.path}", file=sys.stderr)
    record.close()
    return 1 if failed else 0
