"""Examples by hand: no student is graded on one, and what is stored is what reference and mistakes give."""

from __future__ import annotations

import json

import pytest

from grading.definitions import catalogue
from grading.definitions.exercise import load_one
from grading.folder.course import ROOT
from tutor.checking import by_hand, plain

WITH = [
    (notebook, name)
    for notebook in catalogue.notebooks()
    for name in catalogue.names(notebook)
    if "exercise.by_hand(" in (catalogue.FOLDER / notebook / f"{name}.py").read_text("utf-8")
]


@pytest.mark.parametrize(("notebook", "name"), WITH)
def test_an_example_by_hand_is_no_question_of_a_students_own(notebook: str, name: str) -> None:
    exercise = load_one(notebook, name)
    assert exercise.hand is not None
    example = exercise.hand.question.encode()
    for student in ("anna", "boris", "chloé"):
        stages = exercise.drawn_examples(student).stages
        own = [case.ask.encode() for stage in stages for case in stage.cases if case.hidden]
        assert own
        assert example not in own


@pytest.mark.parametrize(("notebook", "name"), WITH)
def test_an_example_by_hand_tells_a_mistake_from_what_is_right(notebook: str, name: str) -> None:
    stored = json.loads((ROOT / "tutor" / "check_examples" / notebook / f"{name}.json").read_text("utf-8"))
    example, exercise = stored["by_hand"], load_one(notebook, name)
    made = exercise.worked_by_hand()
    assert made is not None
    wanted, mistakes = made
    assert by_hand.same(plain.decode(example["wanted"]), wanted, 1e-4)
    values = [value for _, value in by_hand.leaves(plain.decode(example["wanted"]))]
    assert values
    assert all(isinstance(value, bool | int | float | str) for value in values)
    assert example["mistakes"].keys() == mistakes.keys() <= stored["hints"].keys()
    for result in example["mistakes"].values():
        assert not by_hand.same(plain.decode(result), wanted, example["tolerance"])
