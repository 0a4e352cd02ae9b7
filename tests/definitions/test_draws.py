"""What the definitions of several notebooks draw with; and that no draw can go on without an end."""

import ast
import json
import random
import re
from itertools import count, repeat
from pathlib import Path

import pytest

from grading.definitions import catalogue
from grading.definitions.definition import ExerciseError
from grading.exercises import searched
from grading.exercises.draws import until
from grading.exercises.searched import Kind, Searched
from tests.tiers import all_only
from tutor.checking.answers import Question


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
            if isinstance(node, ast.While):
                endless = isinstance(node.test, ast.Constant) and node.test.value
                assert not endless, f"{path}:{node.lineno}: use `until` of grading/exercises/draws.py"


SEARCHED = [
    (notebook, name, kind)
    for notebook in ("06_pretrained_vs_scratch", "10_pretrained_knowledge", "11_translation")
    for name, one in searched.of(notebook).items()
    for kind in one.kinds
]


def test_no_other_notebook_has_searched_seeds() -> None:
    folder = catalogue.definitions("06_pretrained_vs_scratch")[0].parents[1]
    assert {path.parent.name for path in folder.glob("*/seeds.json")} == {notebook for notebook, *_ in SEARCHED}


@pytest.mark.parametrize("most", [2, *all_only(1000)])
@pytest.mark.parametrize(("notebook", "name", "kind"), SEARCHED)
def test_what_was_searched_for_is_still_good_for_it(notebook: str, name: str, kind: str, most: int) -> None:
    kinds = searched.of(notebook)[name]
    kept = json.loads(catalogue.seeds_of(notebook).read_text("utf-8"))[name]
    assert kind in kept, f"run python -m grading.exercises.searched {notebook[:2]}"  # else each process searches anew
    assert len(kinds.seeds(kind)) == len(set(map(str, kinds.seeds(kind)))) == kinds.kinds[kind].number
    assert not kinds.unfit(kind, most), f"run python -m grading.exercises.searched {notebook[:2]}"


def test_seeds_that_still_fit_stay_and_what_is_missing_is_found(tmp_path: Path) -> None:
    (tmp_path / "seeds.json").write_text('{"add": {"even": [8, 3, 6]}}')
    even = Kind(lambda seed: Question((seed,)), lambda ask: ask.inputs[0] % 2 == 0, 4)
    one = Searched(str(tmp_path / "add.py"), {"even": even, "new": even})
    assert one.unfit("even", 3) == [3]
    assert one.search() == {"even": [8, 6, 2, 4], "new": [2, 4, 6, 8]}
    assert sorted(ask.inputs[0] for ask in one.asked("even", 3)(random.Random(1))) == [3, 6, 8]
    assert one.seeds("new") == [2, 4, 6, 8], "what is not kept yet is found when it is asked for"
