"""A known mistake is the first answer of the bank with its name, and runs as the definition's own code does."""

from __future__ import annotations  # so that `compile` evaluates no annotation, as in the module that is tested

import builtins
import dis
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

from grading import exercises
from grading.definitions import bank, catalogue, exercise, known_mistakes
from grading.definitions.definition import ExerciseError

FACTOR = '''"""Exercise factor of notebook 20."""

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

exercise = Definition()


@exercise.reference
def factor(n: int) -> int:
    return 2


@exercise.stage("numbers", points=1, public=[Question((3,))])
def _(rng):
    """What is it for 3?"""
    yield Question((rng.randint(4, 9),))
'''
DEFINITION = '''"""Exercise doubled of notebook 20."""

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

HERE = 3
exercise = Definition()


@exercise.reference
def doubled(n: int) -> int:
    return 2 * n


@exercise.stage("numbers", points=1, public=[Question((5,))])
def _(rng):
    """What is it for 5?"""
    yield Question((rng.randint(6, 9),))


exercise.mistake("made here", "Double it.", lambda n: n + 17)
'''
ANSWERS = """# %% right: a product
def doubled(n):
    return 2 * n


# %% wrong: one more -> the sum
# hint: That is a sum.
# ~ 2 * n => 2 + n

# %% wrong: by a lambda -> made here
# ~ 2 * n => n + 17

# %% wrong: in another style -> the sum
# ~ 2 * n => n + 1 + 1

# %% wrong: nobody knows it -> not known yet
# ~ 2 * n => n - 1

# %% wrong: a square -> the square
# hint: That is
# hint: a square.
# ~ 2 * n => n * n

# %% wrong: zero ->
# ~ 2 * n => 0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An exercise `doubled`, which stands after another one, in a course of its own."""
    made = tmp_path / "20_trial"
    made.mkdir()
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    monkeypatch.setattr(exercises, "__path__", [str(tmp_path)])
    monkeypatch.setattr(catalogue, "names", lambda notebook: ["factor", "doubled"])
    (made / "factor.py").write_text(FACTOR, encoding="utf-8")
    (made / "doubled.py").write_text(DEFINITION, encoding="utf-8")
    (made / "doubled.answers.py").write_text(ANSWERS, encoding="utf-8")
    exercise.load_one.cache_clear()
    yield made
    exercise.load_one.cache_clear()
    for module in [name for name in sys.modules if name.startswith("grading.exercises.20")]:
        del sys.modules[module]


def test_it_is_the_first_answer_with_its_name_in_the_order_of_the_file(folder: Path) -> None:
    mistakes = exercise.load_one("20_trial", "doubled").mistakes
    assert [(one.name, one.hint, one.answer(5)) for one in mistakes] == [
        ("the sum", "That is a sum.", 7),
        ("made here", "Double it.", 22),
        ("the square", "That is a square.", 25),
    ]


def test_without_answers_there_is_what_the_definition_makes(folder: Path) -> None:
    (folder / "doubled.answers.py").unlink()
    assert [one.name for one in exercise.load_one("20_trial", "doubled").mistakes] == ["made here"]


@pytest.mark.parametrize(
    ("used", "value"),
    [
        ("HERE", 3),
        ("BESIDE", 4),
        ("factor(5) + 3", 5),
        ("int(torch.ones(2, 3).sum())", 6),
        ("math.gcd(n, 10)", 5),
        ("len([Tensor, nn.Linear, F.softmax])", 3),
    ],
)
def test_it_may_use_what_stands_beside_it(folder: Path, used: str, value: int) -> None:
    (folder / "_common.py").write_text("BESIDE, HERE = 4, 0\n", encoding="utf-8")
    (folder / "doubled.answers.py").write_text(ANSWERS.replace("2 + n", used), encoding="utf-8")
    assert exercise.load_one("20_trial", "doubled").mistakes[0].answer(5) == value


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "# ~ 2 * n => n * n",
            "# ~ return 2 * n => return n n",
            "doubled.py: the answer 'a square' is a known mistake",
        ),
        (
            "# ~ 2 * n => n * n",
            "# ~ doubled => tripled",
            "but does not run: doubled-wrong-a square: the answer does not",
        ),
        ("-> made here\n", "-> made here\n# hint: Twice.\n", "two mistakes of doubled have the same name"),
    ],
)
def test_what_cannot_be_is_said_with_the_answer(folder: Path, old: str, new: str, message: str) -> None:
    assert ANSWERS.count(old) == 1
    (folder / "doubled.answers.py").write_text(ANSWERS.replace(old, new), encoding="utf-8")
    with pytest.raises(ExerciseError, match=re.escape(message)):
        exercise.load_one("20_trial", "doubled")


def _looked_up(code: CodeType) -> set[str]:
    """Returns the global names that code looks up, in functions and classes within it too."""
    steps = list(dis.get_instructions(code))
    own = {step.argval for step in steps if step.opname in ("STORE_NAME", "STORE_GLOBAL")}
    names = {step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")} - own
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return names.union(*map(_looked_up, inner)) - own


@pytest.mark.parametrize("notebook", catalogue.notebooks())
def test_every_name_that_a_known_mistake_looks_up_is_there(notebook: str) -> None:
    """One that is not would be a mistake of another kind: it raises NameError where a student's answer does not."""
    lost = []
    for name in catalogue.names(notebook):
        answers = [answer for answer in bank.of_exercise(notebook, name) if answer.hint]
        module = importlib.import_module(f"grading.exercises.{notebook}.{name}")
        there = known_mistakes._variables(module, notebook, name, "\n".join(answer.source for answer in answers))
        for answer in answers:
            code = compile(answer.source, answer.label, "exec")
            found = _looked_up(code) - set(there) - set(vars(builtins)) - {"__module__", "__qualname__", "__name__"}
            lost += [(answer.label, found)] if found else []
    assert not lost
