"""What an exercise takes: each definition says it, and it is read without importing the definition."""

import pytest

from grading.definitions import catalogue
from grading.definitions.catalogue import Effort
from grading.definitions.definition import Definition, ExerciseError


@pytest.mark.parametrize("notebook", catalogue.notebooks())
def test_every_exercise_says_its_minutes_and_its_difficulty(notebook: str) -> None:
    silent = [name for name in catalogue.names(notebook) if catalogue.effort(notebook, name) is None]
    assert silent == [], "write e.g. `Definition(minutes=10, difficulty=2)` in the definition of each of these"


def test_effort_is_what_the_definition_says() -> None:
    assert catalogue.effort("01_causal_mask", "future_influence") == Effort(minutes=15, difficulty=2)
    assert catalogue.effort("01_causal_mask", "no_such_exercise") is None


@pytest.mark.parametrize(("minutes", "difficulty"), [(-1, 1), (5, 4), (5, -1)])
def test_an_effort_that_cannot_be_is_refused(minutes: int, difficulty: int) -> None:
    with pytest.raises(ExerciseError, match="expected some minutes and a difficulty of 1 to 3"):
        Definition(minutes=minutes, difficulty=difficulty)
