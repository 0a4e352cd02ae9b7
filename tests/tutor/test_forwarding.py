# ruff: noqa: E501 - an answer stands on a line
"""A ready-made part is no answer, by whatever door: its calls are seen while the answer is asked."""

import sys
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest
import torch

from grading.definitions.definition import Stage
from grading.definitions.exercise import Exercise
from helpers import models
from tests.tutor.test_parts_used import USING, made
from tutor.checking import forwarding
from tutor.checking.answers import InProcess, Question, Reply
from tutor.checking.clock import TooSlow
from tutor.checking.forwarding import REFUSED
from tutor.checking.judging import judge
from tutor.checking.recipes import Model
from tutor.checking.sentences import NO_ANSWER
from tutor.checking.untouched import nameless

SINUSOIDS = "helpers.models.sinusoids"
DOORS = {
    "its name put together": "import helpers.models as m\ndef f(n, d): return getattr(m, 'sinu' + 'soids')(n, d)",
    "vars": "import helpers.models as m\ndef f(n, d): return vars(m)['sinusoids'](n, d)",
    "vars, before": "import helpers.models as m\nhave = {**vars(m)}\ndef f(n, d): return have['sinusoids'](n, d)",
    "a list": "from helpers.models import sinusoids\nparts = [sinusoids]\ndef f(n, d): return parts[0](n, d)",
    "a list within": "from helpers.models import sinusoids\ndef f(n, d): return [sinusoids][0](n, d)",
    "map": "import helpers.models as m\nparts = [m.sinusoids]\ndef f(n, d): return list(map(parts[0], [n], [d]))[0]",
    "an attribute": "import helpers.models as m\nclass A: pass\nA.x = [m.sinusoids]\ndef f(n, d): return A.x[0](n, d)",
    "sys.modules": "import sys, helpers.models\ndef f(n, d): return sys.modules['helpers.models'].__dict__['sinusoids'](n, d)",
    "importlib": "import importlib\ndef f(n, d): return getattr(importlib.import_module('helpers.models'), 'sinusoids')(n, d)",
    "its source": "import inspect, helpers.models as m\ndef f(n, d):\n  own = dict(vars(m))\n"
    "  exec(inspect.getsource(vars(m)['sinusoids']), own)\n  return own['sinusoids'](n, d)",
    "its source, as the module": "import inspect, helpers.models as m\ndef f(n, d):\n"
    "  own = dict(vars(m))\n  exec(compile(inspect.getsource(own['sinusoids']), m.__file__, 'exec'), own)\n"
    "  return own['sinusoids'](n, d)",
    "its code": "import types, helpers.models as m\ncode = vars(m)['sinusoids'].__code__\n"
    "def f(n, d): return types.FunctionType(code, vars(m))(n, d)",
    "its code, renamed": "import types, helpers.models as m\n"
    "f = types.FunctionType(vars(m)['sinusoids'].__code__, vars(m), 'f')",
    "a model that makes it": "import helpers.models as m\n"
    "def f(n, d): return m.TransformerBase(5, d, 1, 1, positions='sinusoidal').position[:n]",
    "another thread": "import threading, helpers.models as m\nhave = {**vars(m)}\ndef f(n, d):\n  found = []\n"
    "  thread = threading.Thread(target=lambda: found.append(have['sinusoids'](n, d)))\n"
    "  thread.start(); thread.join()\n  return found[0]",
    "unwatched": "import sys, helpers.models as m\nhave = {**vars(m)}\ndef f(n, d):\n  watch = sys.getprofile()\n"
    "  sys.setprofile(None)\n  found = have['sinusoids'](n, d)\n  sys.setprofile(watch)\n  return found",
    "caught": "import helpers.models as m\nhave = {**vars(m)}\ndef f(n, d):\n  try: return have['sinusoids'](n, d)\n"
    "  except BaseException: return have['torch'].zeros(n, d)",
}
OTHERS = {
    "its own": "import torch\ndef f(n, d): return torch.zeros(n, d)",
    "another part": "import helpers.models as m\ndef f(n, d): return m.rotary_angles(m.torch.arange(n), d)",
    "a function of that name": "def sinusoids(n, d): return n * d\ndef f(n, d): return sinusoids(n, d)",
    "a model without it": "import helpers.models as m\n"
    "def f(n, d): return m.TransformerBase(5, d, 1, 1, positions='learned').position[:n]",
}


def asked(source: str, *parts: str, question: Question | None = None) -> Reply:
    """Returns the reply of what a notebook calls `f`."""
    return InProcess(made(source)).ask(replace(question or Question((6, 4)), forbids=parts), 20)


def refused(reply: Reply) -> bool:
    return reply.error_types == (REFUSED,)


PLAIN = {name: source for name, source in USING.items() if "f(n, d)" in source}


@pytest.mark.parametrize("source", [*DOORS.values(), *PLAIN.values()], ids=[*DOORS, *PLAIN])
def test_a_part_of_the_helpers_is_seen_by_whatever_door(source: str) -> None:
    reply = asked(source, SINUSOIDS)
    assert refused(reply), reply
    assert reply.error == f"{REFUSED}: {SINUSOIDS}"


@pytest.mark.parametrize("source", OTHERS.values(), ids=OTHERS)
def test_what_is_no_part_is_not_refused(source: str) -> None:
    assert asked(source, SINUSOIDS).outcome == "value"


ASLEEP = {
    "its note": "watch.Watch._note = lambda self, part: None",
    "who calls": "watch.Watch._is_of_answer = lambda self, frame: False",
    "whose a frame is": "watch._package = lambda frame: 'torch'",
    "what a part is": "watch._is_part = lambda part, code: False",
    "what is known": "watch._known = lambda parts: ({}, {}, {}, False)",
    "the code of a method": "watch.Watch._note.__code__ = (lambda self, part: None).__code__",
    "its own object": "sys.getprofile().__self__._names.clear()",
    "its object by a frame": "sys._getframe(9).f_locals",
}


@pytest.mark.parametrize("source", ASLEEP.values(), ids=ASLEEP)
def test_a_watch_that_no_name_leads_to_is_not_put_to_sleep(source: str) -> None:
    """As in grading: the answer replaces what it can import, and calls the part then."""
    found = made(
        f"import sys, helpers.models as m, tutor.checking.forwarding as watch\n"
        f"def f(n, d):\n  {source}\n  return getattr(m, 'sinu' + 'soids')(n, d)"
    )
    untouched, watch = nameless("tutor.checking.untouched").Untouched(), nameless(forwarding.__name__).Watch
    try:
        reply = InProcess(found, watch=watch).ask(Question((6, 4), forbids=(SINUSOIDS,)))
    finally:
        untouched.restore()
    assert refused(reply), reply


TAKEN = {
    SINUSOIDS: "import helpers.models as m\nhave = m.sinusoids\nm.sinusoids = lambda n, d: None\n"
    "def f(n, d): return have(n, d)",
    "helpers.models.Attention": "import helpers.models as m\nhave = m.Attention\nm.Attention = 1\n"
    "def f(n, d): return have(d, 1).query.weight",
    "helpers.models.Attention._heads": "import torch, helpers.models as m\nhave = m.Attention._heads\n"
    "m.Attention._heads = None\ndef f(n, d): return have(m.Attention(d, 1), torch.ones(1, n, d))",
    "torch.nn.MultiheadAttention": "import torch\nhave = torch.nn.MultiheadAttention\n"
    "torch.nn.MultiheadAttention = None\ndef f(n, d): return have(d, 1).in_proj_weight",
}


@pytest.mark.parametrize(("part", "source"), TAKEN.items(), ids=TAKEN)
def test_a_part_in_whose_place_an_answer_has_put_another_is_known(
    part: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    forwarding.parts_there()
    for owner, name in (
        (models, "sinusoids"), (models, "Attention"), (models.Attention, "_heads"), (torch.nn, "MultiheadAttention")
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, getattr(owner, name))  # so that it is put back
    copy = nameless(forwarding.__name__)
    copy.hold(forwarding.parts_there())
    reply = InProcess(made(source), watch=copy.Watch).ask(Question((6, 4), forbids=(part,)))
    assert refused(reply), reply


def test_a_model_that_an_answer_has_the_course_make_is_its_own() -> None:
    shape = {"vocab_size": 5, "d_model": 4, "n_layers": 1, "n_heads": 2}
    source = (
        "from helpers.models import Context\n"
        "from tutor.checking.building import build\nfrom tutor.checking.recipes import Model\n"
        f"def f(x): return build(Model('TransformerBase', {shape})).layers[0](x, Context())"
    )
    for _ in range(2):  # the second time it is a copy, of which no part is made anew
        assert refused(asked(source, "helpers.models.Layer", question=Question((torch.zeros(1, 3, 4),))))


def test_time_that_is_up_in_the_middle_of_a_look_is_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception within a profile function takes that function away, as an answer does that hides from it."""

    def look(watch: forwarding.Watch, frame: FrameType, event: str, function: Any) -> None:
        if frame.f_code.co_name == "f":
            raise TooSlow

    monkeypatch.setattr(forwarding.Watch, "_watch", look)
    assert asked("def f(n, d): return n", SINUSOIDS).outcome == "late"


def test_a_short_method_that_is_written_as_in_the_helpers_is_no_part() -> None:
    source = """import torch
from torch import nn
class Norm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d_model)), eps
def f(n, d): return Norm(d).weight"""
    assert asked(source, "helpers.llama.RMSNorm").outcome == "value"
    copied = """import inspect, torch, helpers.llama
own = dict(vars(helpers.llama))
exec(inspect.getsource(own['RMSNorm']), own)
def f(n, d): return own['RMSNorm'](d)(torch.ones(n, d))"""
    assert refused(asked(copied, "helpers.llama.RMSNorm"))


def test_a_layer_of_a_model_that_an_answer_builds_is_a_part_and_of_one_that_it_was_given_is_none() -> None:
    shape = {"vocab_size": 5, "d_model": 4, "n_layers": 1, "n_heads": 2}
    x = torch.zeros(1, 3, dtype=torch.long)
    question = Question((Model("TransformerBase", shape), x))
    builds = f"import helpers.models as m\ndef f(model, x): return m.TransformerBase(**{shape}).layers[0](model(x))"
    uses = "def f(model, x): return model(x)"
    before = f"import helpers.models as m\nown = m.TransformerBase(**{shape})\ndef f(model, x): return own(x)"
    assert refused(asked(builds, "helpers.models.Layer", question=question))
    assert refused(asked(before, "helpers.models.Layer", question=question))
    assert asked(uses, "helpers.models.Layer", question=question).outcome == "value"
    again = Question(question.inputs, probe="again", follow_up=question.inputs)
    assert asked(uses, "helpers.models.Layer", question=again).outcome == "value"


ATTEND = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\nq = torch.ones(1, 2, 3, 4)\n"
GRU = "import torch\nfrom torch import nn\nx, h, w, u = torch.ones(2, 3), torch.ones(2, 4), torch.ones(12, 3), torch.ones(12, 4)\n"
NORM = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\nx = torch.ones(2, 4)\n"
STEP = "import torch\np = torch.ones(3, requires_grad=True)\np.grad = torch.ones(3)\n"
OF_TORCH = [  # the parts, and how they are used
    ("torch.nn.functional.scaled_dot_product_attention", ATTEND + "def f(n, d): return F.scaled_dot_product_attention(q, q, q)"),
    ("torch.nn.functional.scaled_dot_product_attention", ATTEND + "def f(n, d): return getattr(F, 'scaled_dot_' + 'product_attention')(q, q, q)"),
    ("torch.nn.functional.scaled_dot_product_attention", ATTEND + "def f(n, d): return torch.ops.aten.scaled_dot_product_attention(q, q, q)"),
    ("torch.nn.functional.scaled_dot_product_attention", ATTEND + "def f(n, d): return torch._C._nn.scaled_dot_product_attention(q, q, q)"),
    ("torch.nn.functional.scaled_dot_product_attention", ATTEND + "import functools\npart = [functools.partial(F.scaled_dot_product_attention, q, q)]\ndef f(n, d): return part[0](q)"),
    ("torch.nn.functional.scaled_dot_product_attention(enable_gqa)", ATTEND + "def f(n, d): return F.scaled_dot_product_attention(q, q[:, :1], q[:, :1], enable_gqa=True)"),
    ("torch.gru_cell", GRU + "def f(n, d): return torch.gru_cell(x, h, w, u)"),
    ("torch.gru_cell", GRU + "def f(n, d): return torch._VF.gru_cell(x, h, w, u)"),
    ("torch.gru_cell", GRU + "def f(n, d): return torch._C._VariableFunctions.gru_cell(x, h, w, u)"),
    ("torch.gru_cell", GRU + "def f(n, d): return torch.ops.aten.gru_cell(x, h, w, u)"),
    ("torch.gru_cell", GRU + "part = torch.ops.aten.gru_cell.default\ndef f(n, d): return part(x, h, w, u)"),
    ("torch.gru_cell", GRU + "def f(n, d): return list(map(torch.gru_cell, [x], [h], [w], [u]))[0]"),
    ("torch.gru_cell", GRU + "cell = nn.GRUCell(3, 4)\ndef f(n, d): return cell(x, h)"),
    ("torch.nn.GRUCell", GRU + "def f(n, d): return [nn.GRUCell][0](3, 4)(x, h)"),
    ("torch.rms_norm", NORM + "def f(n, d): return torch.rms_norm(x, (4,))"),
    ("torch.rms_norm", NORM + "def f(n, d): return F.rms_norm(x, (4,))"),
    ("torch.rms_norm", NORM + "part = nn.RMSNorm(4)\ndef f(n, d): return part(x)"),
    ("torch.nn.RMSNorm", NORM + "def f(n, d): return vars(nn)['RMSNorm'](4)(x)"),
    ("torch.optim.AdamW", STEP + "def f(n, d): return getattr(torch.optim, 'Adam' + 'W')([p]).step()"),
    ("torch.optim.Adam", STEP + "kinds = {'a': torch.optim.AdamW}\nown = kinds['a']([p])\ndef f(n, d): return own.step()"),
    ("torch.distributions.Categorical", "import torch\nkinds = [torch.distributions.Categorical]\ndef f(n, d): return kinds[0](logits=torch.ones(n)).log_prob(torch.tensor(1))"),
    ("torch.nn.Transformer.generate_square_subsequent_mask", "import torch\ndef f(n, d): return torch.nn.Transformer.generate_square_subsequent_mask(n)"),
    ("torch.nn.modules.transformer._generate_square_subsequent_mask", "import torch\ndef f(n, d): return torch.nn.Transformer.generate_square_subsequent_mask(n)"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "source"), OF_TORCH)
def test_a_part_of_pytorch_is_seen_by_whatever_door(part: str, source: str) -> None:
    reply = asked(source, part)
    assert (reply.error_types, reply.error) == ((REFUSED,), f"{REFUSED}: {part}"), reply


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("torch.nn.functional.scaled_dot_product_attention(enable_gqa)", ATTEND + "def f(n, d): return F.scaled_dot_product_attention(q, q, q)"),
        ("torch.gru_cell", GRU + "def f(n, d): return torch.lstm_cell(x, [h, h], torch.ones(16, 3), torch.ones(16, 4))[0]"),
        ("torch.rms_norm", NORM + "def f(n, d): return F.layer_norm(x, (4,))"),
    ],
)  # fmt: skip
def test_another_part_of_pytorch_may_be_used(part: str, source: str) -> None:
    assert asked(source, part).outcome == "value"


def zeros(n: int, d: int) -> torch.Tensor:
    """Returns the reference."""
    return torch.zeros(n, d)


def test_whoever_calls_a_part_is_told_as_where_its_name_is_read_and_earns_nothing() -> None:
    stages = [Stage("all", 2, "look", [Question((3, 4))], lambda rng: [Question((rng.randint(4, 9), 4))])]
    defined = Exercise(zeros, stages, [], forbids=(SINUSOIDS,))
    only_in_secret = (
        "import torch, helpers.models as m\n"
        "def f(n, d): return 0 * getattr(m, 'sinu' + 'soids')(n, d) if n > 3 else torch.zeros(n, d)"
    )
    always = "import helpers.models as m\ndef f(n, d): return 0 * getattr(m, 'sinu' + 'soids')(n, d)"
    kinds: list[tuple[str, Any, bool]] = [
        (always, defined.check_examples(), False),
        (always, defined.drawn_examples("ada"), True),
        (only_in_secret, defined.drawn_examples("ada"), True),
    ]
    for source, examples, hidden in kinds:
        verdict = judge(examples, InProcess(made(source)), hidden=hidden)
        assert (verdict.outcome, verdict.earned) == ("wrong", 0)
        assert verdict.sentence == NO_ANSWER.format(parts=f"`{SINUSOIDS}`")
    own = made("import torch\ndef f(n, d): return torch.zeros(n, d)")
    assert judge(defined.drawn_examples("ada"), InProcess(own), hidden=True).outcome == "right"


@pytest.mark.parametrize(
    ("part", "call"),
    [
        ("causal_upper_left", "getattr(bias, 'causal_' + 'upper_left')(n, d).shape"),
        ("CausalBias._materialize", "bias.CausalBias(bias.CausalVariant.UPPER_LEFT, n, d)._materialize()"),
    ],
)
def test_a_part_of_a_module_of_pytorch_that_is_imported_by_the_answer_is_seen(
    part: str, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "torch.nn.attention.bias", raising=False)
    monkeypatch.delattr(torch.nn.attention, "bias", raising=False)
    forwarding._known.cache_clear()
    asks = Question((3, 4), forbids=(f"torch.nn.attention.bias.{part}",))
    imports = "import importlib\ndef f(n, d):\n  bias = importlib.import_module('torch.nn.attention.bias')\n"
    reply = InProcess(made(f"{imports}  return {call}")).ask(asks)
    forwarding._known.cache_clear()
    assert (reply.error_type, reply.error) == (REFUSED, f"{REFUSED}: {asks.forbids[0]}")
    own = "def causal_upper_left(n, d): return n * d\ndef f(n, d): return causal_upper_left(n, d)"
    assert InProcess(made(own)).ask(asks).value == 12
