"""What an answer uses of the course's own parts is found by the names in its code, however they are imported."""

import importlib
import sys
from typing import Any

import pytest

from grading.definitions import catalogue, exercise
from grading.definitions.definition import Stage
from grading.definitions.exercise import Exercise
from tutor.checking import globals_used
from tutor.checking.answers import InProcess, Question
from tutor.checking.globals_used import parts_used
from tutor.checking.judging import judge
from tutor.checking.sentences import OWN_PART

SINUSOIDS = ("helpers.models.sinusoids",)
USING = {
    "a name": "from helpers.models import sinusoids\ndef f(n, d): return sinusoids(n, d)",
    "another name": "from helpers.models import sinusoids as s\ndef f(n, d): return s(n, d)",
    "a module": "import helpers.models as m\ndef f(n, d): return m.sinusoids(n, d)",
    "a module of a package": "from helpers import models\ndef f(n, d): return models.sinusoids(n, d)",
    "a full name": "import helpers.models\ndef f(n, d): return helpers.models.sinusoids(n, d)",
    "a name within": "def f(n, d):\n  from helpers.models import rotate, sinusoids as s\n  return s(n, d)",
    "a module within": "def f(n, d):\n  import helpers.models as m\n  return m.sinusoids(n, d)",
    "a full name within": "def f(n, d):\n  import helpers.models\n  return helpers.models.sinusoids(n, d)",
    "a variable": "def f(n, d):\n  from helpers import models as m\n  made = m.sinusoids\n  return made(n, d)",
    "the part itself": "from helpers.models import sinusoids as f",
    "a partial": "import functools, helpers.models as m\nf = functools.partial(m.sinusoids)",
    "a lambda within": "import helpers.models as m\ndef f(n, d): return (lambda: m.sinusoids(n, d))()",
    "a default": "from helpers.models import sinusoids\ndef f(n, d, make=sinusoids): return make(n, d)",
    "another function": "import helpers.models as m\ndef g(n, d): return m.sinusoids(n, d)\ndef f(n): return g(n, 4)",
    "a decorator": "import torch, helpers.models as m\n@torch.no_grad()\ndef f(n, d): return m.sinusoids(n, d)",
    "a closure": "import helpers.models as m\ndef made(s):\n  return lambda n: s(n, 4)\nf = made(m.sinusoids)",
    "a class": "import helpers.models as m\nclass f:\n  def __call__(self, n, d): return m.sinusoids(n, d)",
}
WITHOUT = {
    "an import alone": "from helpers.models import rotate, sinusoids\ndef f(x, angles): return rotate(x, angles)",
    "a variable of that name": "import torch\ndef f(n, d):\n  sinusoids = torch.zeros(n, d)\n  return sinusoids",
    "a function of that name": "def sinusoids(n, d): return n * d\ndef f(n, d): return sinusoids(n, d)",
    "a model that uses it": "from helpers.models import TransformerBase\ndef f(n): return TransformerBase(n, 4, 1, 1)",
    "another cell": "from helpers.models import sinusoids\ndef g(n): return sinusoids(n, 4)\ndef f(n): return n",
}


def made(source: str) -> Any:
    """Returns what a notebook calls `f`."""
    variables: dict[str, Any] = {"__name__": "__main__"}
    exec(source, variables)
    return variables["f"]


@pytest.mark.parametrize("source", USING.values(), ids=USING)
def test_a_part_is_found(source: str) -> None:
    assert parts_used(made(source), SINUSOIDS) == [*SINUSOIDS]


@pytest.mark.parametrize("source", WITHOUT.values(), ids=WITHOUT)
def test_what_is_not_used_is_not_found(source: str) -> None:
    assert parts_used(made(source), SINUSOIDS) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from helpers.models import Attention\nclass f(Attention): pass", True),
        ("from helpers.models import Attention\nclass Spare(Attention): pass\nclass f(Spare): pass", True),
        ("from helpers.models import Attention as A\nclass f:\n  def __init__(self): self.a = A(4, 2)", True),
        ("from helpers.models import Layer\nclass f:\n  def __init__(self): self.a = Layer(4, 2, 8)", False),
    ],
)
def test_a_class_is_found_as_a_base_and_as_a_part(source: str, found: bool) -> None:
    assert bool(parts_used(made(source), ("helpers.models.Attention",))) is found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f(model, x): return model.greedy(x)", True),
        ("from helpers.models import EncoderDecoder\ndef f(model, x): return EncoderDecoder.greedy(model, x)", True),
        ("def greedy(x): return x\ndef f(model, x): return greedy(x)", False),
    ],
)
def test_a_method_is_found_by_its_name_where_its_class_is_not_known(source: str, found: bool) -> None:
    assert bool(parts_used(made(source), ("helpers.models.EncoderDecoder.greedy",))) is found


def test_nothing_is_called_and_no_foreign_module_imported() -> None:
    source = "def f(n, d):\n  import this\n  return this.s + boom()\ndef boom(): raise ValueError"
    sys.modules.pop("this", None)
    assert parts_used(made(source), SINUSOIDS) == []
    assert "this" not in sys.modules


def test_every_part_that_an_exercise_forbids_is_there() -> None:
    named = {
        part for notebook in catalogue.notebooks() for one in exercise.load(notebook).values() for part in one.forbids
    }
    assert len(named) >= 10
    for name in ("torch.nn.attention.bias", "torch.nn.attention.flex_attention"):
        importlib.import_module(name)  # nobody else has
    assert not [part for part in named if globals_used.named(part.partition("(")[0]) is globals_used.UNKNOWN]


def doubled(number: float) -> float:
    """Returns the reference."""
    return 2 * number


def test_an_answer_that_uses_a_forbidden_part_earns_nothing_and_is_reported() -> None:
    asks = [Question((3,)), Question((4,))]
    defined = Exercise(
        doubled, [Stage("all", 2, "look", asks, lambda rng: [Question((rng.randint(5, 99),))])], [], forbids=SINUSOIDS
    )
    wrapper = made("import helpers.models as m\ndef f(number): return 2 * number + 0 * int(m.sinusoids(1, 2)[0, 0])")
    for examples, hidden in ((defined.check_examples(), False), (defined.drawn_examples("ada"), True)):
        verdict = judge(examples, InProcess(wrapper), hidden=hidden)
        assert (verdict.outcome, verdict.earned, verdict.mistake) == ("wrong", 0, OWN_PART)
        assert "it uses `helpers.models.sinusoids`, which is what this exercise asks for" in verdict.sentence
        assert judge(examples, InProcess(made("def f(number): return 2 * number")), hidden=hidden).outcome == "right"
