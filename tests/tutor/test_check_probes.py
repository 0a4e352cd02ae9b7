"""What a question probes of a call: modules that are built, models that come back, many draws."""

import copy
import inspect
import json
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from grading.definitions.definition import Mistake, Stage
from grading.definitions.exercise import Exercise
from helpers import models
from helpers.models import Classifier
from tests.tutor.checking import LANGUAGE_MODEL, TOKENS, asked, classifier_of
from tutor.checking import plain
from tutor.checking.answers import InProcess, Question
from tutor.checking.judging import judge
from tutor.checking.plain import Generator, Model
from tutor.checking.probes import PROBES
from tutor.checking.probes.registry import probed
from tutor.checking.probes.several_notebooks import DRAWS


class Scale(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


class Shift(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.weight


class Frozen(Scale):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.weight.requires_grad_(False)


def module_exercise() -> Exercise:
    asks = [Question((torch.ones(2, 3),), build={"width": 3}, weights={"weight": torch.tensor([1.0, 2.0, 4.0])})]
    parameters = [Question(build={"width": 3}, probe="parameters")]
    return Exercise(
        Scale,
        [
            Stage("parameters", 1, "one trainable vector", parameters, lambda rng: parameters, view="parameters"),
            Stage("outputs", 1, "multiply", asks, lambda rng: asks),
        ],
        [Mistake("added in place of multiplied", "Multiply.", Shift), Mistake("frozen", "Train it.", Frozen)],
    )


def test_a_parameter_under_two_names_is_reported_under_both() -> None:
    class Tied(Scale):
        def __init__(self, width: int) -> None:
            super().__init__(width)
            self.head = nn.Linear(1, width, bias=False)
            self.head.weight = self.weight

    found = InProcess(Tied).ask(Question(build={"width": 3}, probe="parameters")).value
    assert found == {"weight": ((3,), True), "head.weight (the same as weight)": ((3,), True)}


def test_a_module_is_built_given_weights_and_called() -> None:
    examples = module_exercise().public_examples()
    assert judge(examples, InProcess(Scale)).outcome == "right"
    assert judge(examples, InProcess(Shift)).mistake == "added in place of multiplied"
    assert judge(examples, InProcess(Frozen)).mistake == "frozen"
    assert judge(examples, InProcess(nn.Identity)).outcome != "right"
    verdict = judge(examples, InProcess(lambda width: width))
    assert verdict.sentence == "it stopped with TypeError: expected a class of nn.Module, got one that makes a int"


def test_every_part_of_a_question_is_explained_in_its_order() -> None:
    arguments = inspect.cleandoc(Question.__doc__ or "").partition("Args:\n")[2].partition("\n\n")[0]
    explained = re.findall(r"^    (\w[\w, ]*):", arguments, re.M)
    assert [name for names in explained for name in names.split(", ")] == [part.name for part in fields(Question)]


def test_an_unknown_probe_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no probe 'resutl'; expected one of: after, again, "):
        Question((1,), probe="resutl")
    with pytest.raises(ValueError, match="there is no probe 'all'"):
        Question.decode({"take": "all"})


def test_a_call_of_a_module_shows_how_it_was_built() -> None:
    examples = module_exercise().public_examples()
    assert judge(examples, InProcess(Shift)).call == (
        "check.given(0)(torch.tensor([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]))  # check.given(0) is Scale(width=3) with the "
        "weights of this check"
    )
    assert judge(examples, InProcess(Frozen)).call == "Scale(width=3)"


def sharing_classifier_of(model: Any) -> nn.Module:
    return Classifier(model.base, 3)


def test_a_returned_model_is_called_whole_or_in_part() -> None:
    assert asked(classifier_of, LANGUAGE_MODEL, follow_up=(TOKENS,)).shape == (1, 3)
    hidden = asked(classifier_of, LANGUAGE_MODEL, follow_up=(TOKENS,), part="base")
    assert torch.equal(hidden, asked(lambda model: model.base, LANGUAGE_MODEL, follow_up=(TOKENS,)))
    assert asked(classifier_of, LANGUAGE_MODEL, probe="parameters", part="head") == {
        "weight": ((3, 8), True),
        "bias": ((3,), True),
    }


def test_the_origin_of_each_weight_is_reported() -> None:
    other = replace(LANGUAGE_MODEL, seed=7, spread=0.1, state=True)

    def mixed(model: Any, weights: dict[str, Tensor]) -> Any:
        for name, weight in model.named_parameters():
            weight.data = weights[name] if "layers" in name else weight.data + 1 if "head" in name else weight.data
        return model

    origins = asked(mixed, LANGUAGE_MODEL, other, probe="origins")
    assert origins["base.layers.0.attention_norm.weight"] == "as in input 2"
    assert origins["base.embedding.weight"] == "as in input 1"
    assert origins["head.bias"] == "new"
    same = replace(LANGUAGE_MODEL, state=True)
    origins = asked(lambda model, weights: model, LANGUAGE_MODEL, same, probe="origins", entries=("head.*",))
    assert origins == {"head.weight": "as in input 1 and 2", "head.bias": "as in input 1 and 2"}


def test_shared_memory_is_reported() -> None:
    assert asked(classifier_of, LANGUAGE_MODEL, probe="shared") == set()
    names = asked(sharing_classifier_of, LANGUAGE_MODEL, probe="shared")
    assert "base.embedding.weight" in names
    assert "head.weight" not in names
    assert asked(sharing_classifier_of, LANGUAGE_MODEL, probe="shared", changes=(0,)) == set()


NAMES = {"parameters": "head.weight (the same as embedding.weight)", "state": "head.weight"}  # of the second one


def test_a_tensor_with_two_names_is_two_entries() -> None:
    class Tied(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.embedding, self.head = nn.Embedding(5, width), nn.Linear(width, 5, bias=False)
            self.head.weight = self.embedding.weight

    found = {probe: InProcess(Tied).ask(Question(build={"width": 2}, probe=probe)).value for probe in NAMES}
    shape = (5, 2), True
    assert found == {probe: {"embedding.weight": shape, name: shape} for probe, name in NAMES.items()}


def test_only_what_a_gradient_reaches_learns() -> None:
    def flagged(model: Any) -> nn.Module:
        model.base.requires_grad_(False)
        return model

    assert asked(flagged, LANGUAGE_MODEL, probe="learns", follow_up=(TOKENS,)) == {"head.weight": 48, "head.bias": 6}
    assert asked(lambda m: m.requires_grad_(False), LANGUAGE_MODEL, probe="learns", follow_up=(TOKENS,)) == {}
    assert len(asked(lambda m: m.eval(), LANGUAGE_MODEL, probe="learns", follow_up=(TOKENS,))) == 19


@pytest.mark.parametrize(("given", "sentence"), [({"head.weight": 1}, "expected a model (an nn.Module), got a dict")])
def test_what_is_no_model_is_reported(given: Any, sentence: str) -> None:
    reply = InProcess(lambda model: given).ask(Question((LANGUAGE_MODEL,), probe="origins"))
    assert reply.outcome == "unreadable"  # nothing has stopped
    assert sentence in reply.error
    assert InProcess(lambda model: None).ask(Question((LANGUAGE_MODEL,), probe="origins")).value is None
    reply = InProcess(lambda model: given).ask(Question((LANGUAGE_MODEL,), probe="learns", follow_up=(TOKENS,)))
    assert sentence in reply.error


def from_its_seed(generator: torch.Generator) -> Tensor:
    return torch.rand(9, generator=torch.Generator().manual_seed(generator.initial_seed()))


@pytest.mark.parametrize(
    ("answer", "again", "other", "once_more"),
    [
        (lambda generator: torch.rand(9, generator=generator), "the same results", "other results", "other results"),
        (lambda generator: torch.rand(9), "other results", "other results", "other results"),
        (lambda generator: torch.ones(9), "the same results", "the same results", "the same results"),
        (from_its_seed, "the same results", "other results", "the same results"),
    ],
)
def test_whether_chance_comes_from_the_generator_is_seen(answer: Any, again: str, other: str, once_more: str) -> None:
    seen = InProcess(answer).ask(Question((plain.Generator(5),), probe="seeds")).value
    assert seen == {
        "the same seed again": again,
        "another seed": other,
        "the same generator once more": once_more,
    }


def test_what_a_returned_loss_can_teach_is_seen() -> None:
    ask = Question((LANGUAGE_MODEL, torch.tensor([[1, 2]])), probe="learns")
    learned = InProcess(lambda model, tokens: model(tokens).mean()).ask(ask)
    assert learned.value["head.weight"] == 6 * 8
    assert not learned.changed_inputs
    assert InProcess(lambda model, tokens: model(tokens).mean().detach()).ask(ask).value == {}
    assert InProcess(lambda model, tokens: model.head(model.base(tokens).detach()).sum()).ask(ask).value.keys() == {
        "head.weight",
        "head.bias",
    }
    assert InProcess(lambda model, tokens: 1.5).ask(ask).value == 1.5


BATCH = Model("Batch", {"rows": torch.arange(1), "tokens": TOKENS, "lengths": torch.tensor([TOKENS.shape[1]]),
                        "target": TOKENS, "scored": torch.arange(TOKENS.shape[1])})  # fmt: skip


def one_step(model: Any, batch: Any, optimizer: torch.optim.Optimizer, clear: bool = True) -> None:
    if clear:
        optimizer.zero_grad()
    model(batch.tokens, batch.lengths).square().mean().backward()
    optimizer.step()


def measured(model: Any, switch: Callable[[nn.Module], Any], again: bool = False) -> float:
    switched = copy.deepcopy(model) if again else model
    for part in switched.modules():
        switch(part)
    return float(switched(TOKENS).mean())


@pytest.mark.parametrize("again", [False, True])
def test_a_model_or_its_copy_that_runs_in_training_mode_is_seen(again: bool) -> None:
    training, probe = replace(LANGUAGE_MODEL, training=True), "mode while it runs"
    for switch, seen in [
        (nn.Module.eval, "no"),
        (lambda part: None, "a"),
        (lambda part: isinstance(part, nn.Dropout) and part.eval(), "a"),
    ]:
        found = asked(lambda model, switch=switch: measured(model, switch, again), training, probe=probe)
        assert found == f"{seen} part of the model runs in training mode"
    assert asked(lambda model: 1.0, training, probe=probe) == "no part of the model runs in training mode"


def test_what_a_call_has_made_of_a_model_is_looked_at() -> None:
    before = asked(lambda model: None, LANGUAGE_MODEL, probe="after")
    after = asked(one_step, LANGUAGE_MODEL, BATCH, plain.Optimizer("SGD", 0.1), changes=(0,), probe="after")
    assert before.keys() == after.keys()
    assert not torch.equal(before["head.bias"], after["head.bias"])
    outputs = [
        asked(
            one_step, left, BATCH, plain.Optimizer("SGD", 0.1), clear, changes=(0,), probe="after", follow_up=(TOKENS,)
        )
        for clear in (True, False)
        for left in (LANGUAGE_MODEL, replace(LANGUAGE_MODEL, gradients=0.5))
    ]
    assert torch.equal(outputs[0], outputs[1])  # old gradients are cleared
    assert torch.equal(outputs[0], outputs[2])  # there are none
    assert not torch.allclose(outputs[0], outputs[3])


def test_a_model_comes_in_the_requested_mode_and_its_mode_is_reported() -> None:
    training = replace(LANGUAGE_MODEL, training=True)
    assert asked(lambda model: model.training, training) is True
    assert asked(lambda model: model.training, LANGUAGE_MODEL) is False
    assert asked(lambda model: model.eval(), training, probe="mode") == "evaluation mode"
    assert asked(lambda model: None, training, probe="mode") == "training mode"


def test_a_part_in_another_mode_than_the_model_is_named() -> None:
    def one_part_in_evaluation(model: Any) -> Any:
        model.base.norm.eval()
        return model

    training = replace(LANGUAGE_MODEL, training=True)
    as_it_came = asked(lambda model: model, training, probe="modes")
    assert as_it_came == {"mode": "training mode", "parts in the other mode": set()}
    assert asked(one_part_in_evaluation, training, probe="modes")["parts in the other mode"] == {"base.norm"}


def test_runs_of_a_part_of_a_model_are_counted() -> None:
    """Of a model among the inputs or of one that is built; and weights may come as a recipe."""
    sizes = {"source_vocab_size": 7, "target_vocab_size": 7, "d_model": 8, "n_layers": 1, "n_heads": 2}
    recipe, tokens = Model("EncoderDecoder", sizes, seed=3), torch.tensor([[4, 5]])
    question = Question((recipe, tokens), probe="calls", part="encoder")

    def runs(answer: Callable[..., Any]) -> Any:
        return InProcess(answer).ask(question).value

    assert runs(lambda model, source: model(source, source)) == "once"
    assert runs(lambda model, source: [model(source, source) for _ in range(3)]) == "more than once"
    assert runs(lambda model, source: model.encoder.forward(source)) == "once"
    assert runs(lambda model, source: type(model.encoder).forward(model.encoder, source)) == "once"
    assert runs(lambda model, source: copy.deepcopy(model).encoder.forward(source)) == "once"
    assert runs(lambda model, source: model.decoder.embedding(source)) == "never"
    assert runs(lambda model, source: None) is None

    built = replace(question, inputs=(tokens, tokens), build=sizes)
    assert InProcess(models.EncoderDecoder).ask(built).value == "once"
    weights = Model("EncoderDecoder", sizes, seed=3, spread=0.2, state=True)
    first, second = (
        InProcess(models.EncoderDecoder).ask(Question((tokens, tokens), build=sizes, weights=given)).value
        for given in (weights, replace(weights, seed=4))
    )
    assert not torch.equal(first, second)


def test_it_is_seen_whether_gradients_are_recorded() -> None:
    tokens = torch.tensor([[4, 5]])
    question = Question((LANGUAGE_MODEL, tokens), probe="recording", part="head")

    def seen(answer: Callable[..., Any]) -> Any:
        return InProcess(answer).ask(question).value

    assert seen(lambda model, tokens: model(tokens)) == "gradients are recorded"
    assert seen(lambda model, tokens: model(tokens).detach()) == "gradients are recorded"
    assert seen(torch.no_grad()(lambda model, tokens: model(tokens))) == "no gradients are recorded"
    assert seen(torch.inference_mode()(lambda model, tokens: model(tokens))) == "no gradients are recorded"
    assert seen(lambda model, tokens: model.requires_grad_(False)(tokens)) == "no gradients are recorded"
    assert seen(lambda model, tokens: model.base(tokens)) == "it never runs"
    assert seen(lambda model, tokens: None) is None


def test_draws_are_calls_in_a_row_with_one_generator() -> None:
    def answer(rng: torch.Generator) -> Tensor:
        return torch.randint(0, 1000, (3,), generator=rng)

    reply = InProcess(answer).ask(Question((Generator(3),), probe="draws"), 20)
    rng = torch.Generator().manual_seed(3)
    assert len(reply.value) == DRAWS
    wanted = torch.stack([answer(rng) for _ in range(DRAWS)])
    assert torch.equal(torch.stack(reply.value), wanted)
    pairs = InProcess(lambda rng: (answer(rng), torch.zeros(2))).ask(Question((Generator(3),), probe="draws"), 20)
    assert torch.equal(pairs.value[0], wanted)  # stacked
    assert pairs.value[1].shape == (DRAWS, 2)
    uneven = InProcess(lambda rng: (answer(rng)[answer(rng) > 500],)).ask(Question((Generator(3),), probe="draws"), 20)
    assert len(uneven.value) == DRAWS  # one by one


class Doubled(nn.Linear):
    def merged(self) -> nn.Linear:
        plain_layer = nn.Linear(self.in_features, self.out_features)
        plain_layer.load_state_dict({"weight": 2 * self.weight, "bias": self.bias})
        return plain_layer


class DoubledItself(Doubled):
    def merged(self) -> nn.Linear:
        self.weight.data *= 2
        return self


class DoubledOnce(Doubled):
    kept: dict[str, Tensor]

    def merged(self) -> nn.Linear:
        if not hasattr(self, "kept"):
            self.kept = {"weight": 2 * self.weight.detach()}
        plain_layer = nn.Linear(self.in_features, self.out_features)
        plain_layer.load_state_dict({"weight": self.kept["weight"], "bias": self.bias})
        return plain_layer


class SharesBias(Doubled):
    def merged(self) -> nn.Linear:
        plain_layer = super().merged()
        plain_layer.bias = self.bias
        return plain_layer


def test_a_merged_layer_is_looked_at_and_what_is_left_of_the_first() -> None:
    weights = {"weight": torch.tensor([[3.0]]), "bias": torch.tensor([1.0])}
    ask = Question((torch.ones(1, 1),), build={"in_features": 1, "out_features": 1}, weights=weights, probe="merged")
    kept, changed = (InProcess(kind).ask(ask).value for kind in (Doubled, DoubledItself))
    assert kept["the merged layer"]["weight"].item() == changed["the merged layer"]["weight"].item() == 6
    assert kept["the layer itself, afterwards"].item() == 4
    assert changed["the layer itself, afterwards"].item() == 7
    assert InProcess(nn.Linear).ask(ask).error_type == "AttributeError"
    once, shares = (InProcess(kind).ask(ask).value for kind in (DoubledOnce, SharesBias))
    missed = "weights whose change it misses"
    assert (kept[missed], once[missed], shares[missed]) == (set(), {"weight"}, set())
    assert shares["shared with the layer itself"] == {"bias"}
    assert shares["the merged layer"]["bias"].item() == 1  # as it was, whatever was changed later on


def test_it_is_seen_whose_gradients_a_call_has_changed() -> None:
    def answer(model: nn.Module) -> None:
        model.get_parameter("head.bias").grad = None
        model.get_parameter("head.weight").grad = torch.zeros_like(model.get_parameter("head.weight"))

    ask = Question((replace(LANGUAGE_MODEL, gradients=0.5),), probe="changed gradients", changes=(0,))
    assert InProcess(answer).ask(ask).value == {"head.bias", "head.weight"}
    assert InProcess(lambda model: None).ask(ask).value == set()


class Table(nn.Module):
    """Ten thousand rows, made in a way that a test names."""

    def __init__(self, way: str) -> None:
        super().__init__()
        shape = 10_000, 4
        made = {
            "as is asked for": lambda: torch.randn(shape),
            "small": lambda: 0.02 * torch.randn(shape),
            "between 0 and 1": lambda: torch.rand(shape),
            "some rows twice": lambda: torch.randn(5_000, 4).repeat(2, 1),
            "one row": lambda: torch.randn(1, 1).expand(shape).clone(),
            "the same again": lambda: torch.randn(shape, generator=torch.Generator().manual_seed(1)),
        }
        self.weight = nn.Parameter(made[way]())


@pytest.mark.parametrize(
    ("way", "unusual"),
    [
        ("as is asked for", {}),
        ("small", {"standard deviation": 0.02}),
        ("between 0 and 1", {"mean": 0.5, "standard deviation": 0.3, "share within one standard deviation": 0.6}),
        ("some rows twice", {"rows": "some alike"}),
        ("the same again", {"of two new modules": "the same numbers"}),
    ],
)
def test_the_first_numbers_of_a_module_are_reported(way: str, unusual: dict[str, Any]) -> None:
    found = InProcess(Table).ask(Question(build={"way": way}, probe="first numbers")).value
    usual: dict[str, Any] = {"mean": 0.0, "standard deviation": 1.0, "share within one standard deviation": 0.7}
    usual |= {"rows": "different", "of two new modules": "other numbers"}
    assert found == {f"weight: {name}": value for name, value in (usual | unusual).items()}


def test_rows_that_begin_alike_are_reported() -> None:
    ask = Question(build={"way": "one row"}, probe="first numbers", entries=("*: rows",))
    assert InProcess(Table).ask(ask).value == {"weight: rows": "all alike"}


def test_a_model_that_comes_back_may_get_weights_before_it_is_asked() -> None:
    def doubled(model: Any) -> Any:
        return nn.Sequential(model, nn.Linear(2, 2, bias=False))

    place = {"0.weight": torch.eye(2), "0.bias": torch.tensor([1.0, 0.0]), "1.weight": 2 * torch.eye(2)}
    ask = Question((1,), follow_up=(torch.tensor([[3.0, 4.0]]),), weights=place)
    assert InProcess(lambda _: doubled(nn.Linear(2, 2))).ask(ask).value.tolist() == [[8.0, 8.0]]


class Thin(nn.Module):
    """A layer whose second factor is always the same, which the first call does not show: the first is zero."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.up = nn.Parameter(torch.zeros(3, 3))
        generator = torch.Generator().manual_seed(seed) if seed else None
        self.down = nn.Parameter(torch.randn(3, 3, generator=generator))

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x) + x @ self.down @ self.up


@pytest.mark.parametrize(("seed", "result"), [(0, "begin with different numbers"), (1, "begin with the same numbers")])
def test_a_weight_that_two_new_modules_have_in_common_is_reported(seed: int, result: str) -> None:
    ask = Question((torch.ones(1, 3),), build={"seed": seed}, probe="random numbers")
    assert InProcess(Thin).ask(ask).value["two new modules"] == result


def test_a_part_of_a_module_is_asked_by_itself() -> None:
    class Steps(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(width, width, bias=False), nn.Identity()

    weights = {"first.weight": 2 * torch.eye(2)}
    ask = Question((torch.ones(1, 2),), build={"width": 2}, weights=weights, probe="part", part="first")
    assert torch.equal(InProcess(Steps).ask(ask).value, 2 * torch.ones(1, 2))


def test_a_probe_is_in_the_file_of_the_notebook_that_asks_for_it(repository: Path) -> None:
    asked = defaultdict[str, set[str]](set)
    for path in (repository / "tutor" / "check_examples").glob("*/*.json"):
        stages = json.loads(path.read_text("utf-8"))["stages"]
        for case in (case for stage in stages if not stage.get("cost") for case in stage["cases"]):
            asked[case["ask"].get("take", "result")].add(path.parent.name)
    for name, probe in PROBES.items():
        place = probe.act.__module__.rpartition(".")[2]
        assert place == "several_notebooks" or asked[name] == {place}, name


def test_no_probe_takes_the_name_of_another() -> None:
    with pytest.raises(ValueError, match="two probes are called 'result'"):
        probed("result")(lambda call: None)
