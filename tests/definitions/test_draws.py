"""What the definitions of several notebooks draw with; and that no draw can go on without an end."""

import ast
import random
import re
from itertools import count, repeat

import pytest

from grading.definitions import catalogue
from grading.definitions.definition import ExerciseError
from grading.exercises.draws import until


def test_the_first_that_fits_is_returned_of_seeds_and_of_a_generator() -> None:
    assert until(count(3), lambda seed: seed * seed, lambda square: square > 20) == 25
    rng, same = random.Random(1), random.Random(1)
    found = until(repeat(rng), lambda rng: rng.randrange(100), lambda number: number > 90)
    drawn = next(number for number in iter(lambda: same.randrange(100), None) if number > 90)
    assert (found, rng.getstate()) == (drawn, same.getstate())


def test_what_never_fits_ends_with_the_names_of_exercise_and_function() -> None:
    tries = []

    def of_the_wrong_kind(seed: int) -> int:
        tries.append(seed)
        return seed

    of_the_wrong_kind.__module__ = "grading.exercises.01_causal_mask.future_influence"
    sentence = (
        "future_influence: in 1,000 tries test_what_never_fits_ends_with_the_names_of_exercise_and_function made "
        "nothing that fits."
    )
    with pytest.raises(ExerciseError, match=re.escape(sentence)):
        until(count(), of_the_wrong_kind, lambda number: number < 0, 1_000)
    assert tries == list(range(1_000))


def test_no_definition_waits_without_an_end() -> None:
    for path in catalogue.FOLDER.rglob("*.py"):
        if path.name.endswith(".answers.py"):  # what students type may wait
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value
            assert not endless, f"{path}:{node.lineno}: use `until` of grading/exercises/draws.py"
