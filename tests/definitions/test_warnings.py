"""What the notebooks warn of costs: each warning of a text names an answer of the bank that loses half of its points.

`tests/bank/NN_name/warnings.toml` lists the warnings of a notebook, each in the words of its source:

    [[warning]]
    says = "words of the source, as they stand there"
    exercise = "causal_mask"
    answer = "title of the wrong answer in the bank"

Where no exercise of the course asks what a text warns of, `none = "the reason"` stands in place of the last two. A list
is complete when there is a `says` in each paragraph that warns (below a heading that warns, in any of its cell), and on
each misconception of a rubric; one `says` may go on over several of them.
"""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import pytest

from grading.authoring import bank, source
from grading.authoring.bank import BankAnswer
from grading.definitions import catalogue
from grading.folder.course import ROOT
from tests.definitions import kept
from tests.definitions.test_bank import asked, public_questions
from tutor.checking.judging import judge

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LIST = "warnings.toml"
HEADING = re.compile(r"#+ .*\b(mistakes?|traps?|wrong)\b", re.IGNORECASE)
IN_TEXT = re.compile(
    r"\b(?:traps?|temptations?|tempting"
    r"|(?:the|a|an|common|classical|usual|expensive|this) mistakes?|mistake of (?:ours|section)"
    r"|wrong (?:axis|way|twice)|often wrong|get wrong|go wrong in|all three are wrong"
    r"|must (?:not|never))\b",
    re.IGNORECASE,
)
MISCONCEPTIONS = re.compile(r"(?:\*\*Misconceptions[^*]*\*\*|Costs marks):(.+?)(?=\n\s*\n|$)", re.DOTALL)
BETWEEN = re.compile(r";(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)(?![^(]*\))")  # semicolons outside of quotation and of brackets
APART = re.compile(r"\n\s*>?\s*\n|\n(?=(?:> ?)?(?:[-*] |\d+\. ))")  # paragraphs, and items of a list


@dataclass(frozen=True)
class Warned:
    """One entry of a list."""

    notebook: str
    says: str
    exercise: str = ""
    answer: str = ""
    none: str = ""

    def __str__(self) -> str:
        return f"{self.notebook[:2]}-{self.exercise or 'none'}-{self.says[:40]}"


@cache
def listed(notebook: str) -> tuple[Warned, ...]:
    """Returns the list of a notebook."""
    path = ROOT / "tests" / "bank" / notebook / LIST
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("warning", []) if path.exists() else []
    return tuple(Warned(notebook, **entry) for entry in entries)


def joined(text: str) -> str:
    """Returns a text in one line, without the signs of quoted paragraphs."""
    return " ".join(re.sub(r"(?m)^> ?", "", text).split())


@cache
def texts(notebook: str) -> tuple[tuple[str, str], ...]:
    """Returns the kind and the text of each cell that may warn: prose, rubrics, docstrings of exercises."""
    found = []
    for cell in source.read(ROOT / "solutions" / f"{notebook}.py"):
        if cell.language == "markdown":
            found.append((cell.kind, cell.source))
        elif cell.kind == "exercise":
            named = [n for n in ast.walk(ast.parse(cell.source)) if isinstance(n, ast.FunctionDef | ast.ClassDef)]
            found += [("docstring", ast.get_docstring(one) or "") for one in named]
    return tuple(found)


def places(notebook: str) -> Iterator[str]:
    """Yields each place that must have an entry, in one line: a paragraph, what is below a heading, a misconception."""
    for kind, text in texts(notebook):
        if kind == "essay":
            found = MISCONCEPTIONS.search(text)
            assert found, f"a rubric without misconceptions: {text[:200]}"
            yield from (part.strip() for part in BETWEEN.split(joined(found.group(1))))
            continue
        prose = "\n".join(line for line in text.split("\n") if not line.lstrip("> ").startswith("|"))  # no tables
        for part in re.split(r"(?m)^(?=#+ )", prose):
            paragraphs = [part] if HEADING.match(part) else APART.split(part)
            yield from (one for one in map(joined, paragraphs) if HEADING.match(one) or IN_TEXT.search(one))


def has_entry(place: str, entries: Sequence[Warned]) -> bool:
    """Says whether an entry stands in a place, or goes on over the whole of it."""
    return any(joined(one.says) in place or place in joined(one.says) for one in entries)


each_notebook = pytest.mark.parametrize("notebook", catalogue.notebooks())
ALL = [one for notebook in catalogue.notebooks() for one in listed(notebook) if one.exercise]


@each_notebook
def test_a_list_quotes_its_notebook(notebook: str) -> None:
    everything = [joined(text) for _, text in texts(notebook)]
    for one in listed(notebook):
        assert any(joined(one.says) in text for text in everything), one.says
        assert bool(one.none) != bool(one.exercise and one.answer), f"an exercise and an answer, or none: {one}"


@each_notebook
def test_nothing_that_a_notebook_warns_of_is_missing(notebook: str) -> None:
    missing = [place for place in places(notebook) if not has_entry(place, listed(notebook))]
    file = f"tests/bank/{notebook}/{LIST}"
    assert not missing, f"without an entry in {file}:\n" + "\n".join(f"- {place[:300]}" for place in missing)


def wrong_answer(warning: Warned) -> BankAnswer:
    """Returns the answer that makes the mistake; exercises have one name in the whole course."""
    (home,) = [notebook for notebook in catalogue.notebooks() if warning.exercise in catalogue.names(notebook)]
    answers = [one for one in bank.answers(home) if (one.exercise, one.title) == (warning.exercise, warning.answer)]
    assert [one.right for one in answers] == [False], f"{warning.exercise} has no such wrong answer: {warning.answer}"
    return answers[0]


@pytest.mark.parametrize("warning", ALL, ids=str)
def test_what_a_notebook_warns_of_costs_half_in_the_check(warning: Warned) -> None:
    answer = wrong_answer(warning)
    public = judge(public_questions(answer), asked(answer), kept.PATIENCE)
    assert public.outcome != "right", str(public)
    assert public.earned <= public.points / 2, str(public)


@pytest.mark.all
@pytest.mark.parametrize("warning", ALL, ids=str)
def test_what_a_notebook_warns_of_costs_half_in_grading(warning: Warned) -> None:
    answer = wrong_answer(warning)
    marked = kept.marked(answer, kept.STUDENT, asked(answer))
    assert marked.earned <= marked.points / 2, str(marked)
