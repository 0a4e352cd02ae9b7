"""Hints on request: three for every exercise, each one more than the last, and never the answer."""

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterator

import pytest

from grading.authoring.prove import is_asked
from grading.definitions import catalogue, exercise
from tutor import hints
from tutor.hints import hint

EXERCISES = [(one, name) for one in catalogue.notebooks() for name in catalogue.names(one) if is_asked(name)]
each_exercise = pytest.mark.parametrize(("notebook", "name"), EXERCISES, ids=lambda one: one)


@pytest.fixture(autouse=True)
def nothing_asked() -> Iterator[None]:
    hints._asked.clear()
    yield
    hints._asked.clear()


def _statements(code: str) -> set[str]:
    """Returns the statements of a function's or a class's methods that say something, without spaces."""
    bodies = [node.body for node in ast.walk(ast.parse(textwrap.dedent(code))) if isinstance(node, ast.FunctionDef)]
    lines = {ast.unparse(one) for body in bodies for one in body if not isinstance(one, ast.FunctionDef)}
    return {re.sub(r"\s", "", line) for line in lines if len(line) > 25}


@each_exercise
def test_an_exercise_has_three_hints_and_none_is_the_answer(notebook: str, name: str) -> None:
    defined = exercise.load_one(notebook, name)
    assert len(defined.hints) == 3
    assert len(set(defined.hints)) == 3
    assert all(40 <= len(one) <= 900 for one in defined.hints), [len(one) for one in defined.hints]
    text = re.sub(r"\s", "", " ".join(defined.hints))
    statements = _statements(inspect.getsource(defined.reference))
    given = {line for line in statements if line in text}
    assert len(given) < max(2, len(statements)), f"the hints hold the whole answer: {given}"
    last = [line for line in statements if line.startswith("return")]
    assert not [line for line in last if line in text and len(statements) == 1], "the hints hold the answer's one line"


def test_every_file_of_hints_belongs_to_an_exercise() -> None:
    files = {(path.parent.name, path.name.removesuffix(".hints.md")) for path in catalogue.FOLDER.glob("*/*.md")}
    assert files == set(EXERCISES)


def test_what_students_get_are_these_hints() -> None:
    expected = {name: list(exercise.load_one(notebook, name).hints) for notebook, name in EXERCISES}
    assert json.loads(hints.HINTS.read_text("utf-8")) == expected


def test_each_call_shows_the_next_hint_and_then_all(capsys: pytest.CaptureFixture[str]) -> None:
    def causal_mask(size: int) -> None:
        """The answer, not yet written."""

    texts = json.loads(hints.HINTS.read_text("utf-8"))["causal_mask"]
    seen = []
    for _ in range(4):
        hint(causal_mask)
        seen.append(capsys.readouterr().out)
    assert [f"Hint {number} of 3" in seen[number - 1] for number in (1, 2, 3)] == [True] * 3
    assert texts[0] in seen[0]
    assert texts[1] not in seen[0]
    assert ["shows the next one" in one for one in seen] == [True, True, False, False]
    assert all(text in seen[3] for text in texts)


def test_a_number_and_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    hint("causal_mask", 2)
    assert "Hint 2 of 3" in capsys.readouterr().out
    hint("causal_mask")
    assert "Hint 1 of 3" in capsys.readouterr().out


def test_what_is_asked_wrongly_gets_one_sentence() -> None:
    with pytest.raises(LookupError, match=r"no exercise is called 'mask'; expected one of: .*causal_mask"):
        hint("mask")
    with pytest.raises(ValueError, match="causal_mask has the hints 1 to 3; got 7"):
        hint("causal_mask", 7)


def test_grading_shows_none(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    hint("causal_mask")
    assert capsys.readouterr().out == ""
