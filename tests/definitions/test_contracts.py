"""What every answer keeps is asked of every exercise, in the notebook as in grading, and costs a tenth."""

import copy
import functools
import itertools
import random
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from grading.definitions import catalogue, contracts, exercise
from grading.definitions.definition import Stage
from grading.definitions.exercise import Exercise
from tutor.checking.answers import InProcess, Question
from tutor.checking.building import build
from tutor.checking.judging import judge
from tutor.checking.places import ON_ONE
from tutor.checking.plain import Model, Recorded
from tutor.checking.sentences import INPUTS_STAY, KEEPS, NEEDLESS_GRADIENT
from tutor.checking.verdict import Verdict

AGAIN, MODE, MODEL, INTERRUPTED, METHODS, GRADIENT, TRAINING, DOUBLE, DEVICE, DEFAULT, LARGE, RANDOM = (
    one.name for one in contracts.CIRCUMSTANCES
)
X = torch.arange(6.0).reshape(2, 3)


def doubled(x: Tensor, factor: float = 2.0) -> Tensor:
    """Returns x times a factor."""
    return x * factor


class Scale(nn.Module):
    """Multiplies by one learned number."""

    def __init__(self, start: float = 1.0) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(start))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.factor


def function_exercise(**options: Any) -> Exercise:
    asks = [Question((X, 2.0)), Question((torch.ones(4), 3.0))]
    return Exercise(doubled, [Stage("all", 2, "look", asks, lambda rng: [Question((X + 1, 2.0))])], [], **options)


def module_exercise() -> Exercise:
    def ask(x: Tensor) -> Question:
        return Question((x,), build={"start": 1.0}, weights={"factor": torch.tensor(3.0)})

    return Exercise(Scale, [Stage("all", 2, "look", [ask(X), ask(X[:1])], lambda rng: [ask(X + 1)])], [])


def lost(defined: Exercise, answer: Any) -> list[str]:
    """Returns what an answer does not keep, the same in the notebook and in grading; each costs a tenth."""
    verdicts = [judge(defined.public_examples(), InProcess(answer))]
    verdicts.append(judge(defined.drawn_examples("ada"), InProcess(answer), hidden=True))
    found = [[name for name, passed in verdict.stages if not passed] for verdict in verdicts]
    assert found[0] == found[1]
    for verdict, names in zip(verdicts, found, strict=True):
        assert verdict.earned == pytest.approx(2 - 0.2 * len(names))
        assert (verdict.outcome == "right") == (not names)
    return found[0]


def in_place(x: Tensor, factor: float = 2.0) -> Tensor:
    return x.mul_(factor)


def detached(x: Tensor, factor: float = 2.0) -> Tensor:
    return x.detach() * factor


def single(x: Tensor, factor: float = 2.0) -> Tensor:
    return x.float() * factor


def without_default(x: Tensor, factor: float) -> Tensor:
    return x * factor


def other_default(x: Tensor, factor: float = 3.0) -> Tensor:
    return x * factor


def seeded(x: Tensor, factor: float = 2.0) -> Tensor:
    torch.manual_seed(0)
    return x * factor


def seeded_elsewhere(x: Tensor, factor: float = 2.0) -> Tensor:
    random.seed(1)
    np.random.seed(1)
    return x * factor


def switched_off(x: Tensor, factor: float = 2.0) -> Tensor:
    result = x * factor
    torch.set_grad_enabled(False)
    return result


def made_double(x: Tensor, factor: float = 2.0) -> Tensor:
    torch.set_default_dtype(torch.float64)
    return x * factor


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        (doubled, []),
        (lambda x, factor=2.0: factor * x.clone(), []),
        (in_place, [INPUTS_STAY]),
        (detached, [GRADIENT]),
        (single, [DOUBLE]),
        (without_default, [DEFAULT]),
        (other_default, [DEFAULT]),
        (seeded, [RANDOM]),
        (seeded_elsewhere, [RANDOM]),
        (switched_off, [RANDOM]),
        (made_double, [RANDOM]),
    ],
)
def test_what_a_function_does_not_keep_costs_a_tenth(answer: Any, names: list[str]) -> None:
    assert lost(function_exercise(trains=True), answer) == names


def on_the_processor(x: Tensor, factor: float = 2.0) -> Tensor:
    return x * torch.full((x.shape[-1],), factor, dtype=x.dtype)


def gathered_there(x: Tensor, factor: float = 2.0) -> Tensor:
    result = torch.zeros(x.shape, dtype=x.dtype)
    for position, number in enumerate(x.flatten()):
        result.view(-1)[position] = number * factor
    return result


def on_the_same_device(x: Tensor, factor: float = 2.0) -> Tensor:
    by_device = torch.full((1,), factor, device=x.device, dtype=x.dtype)
    by_tensor = torch.arange(x.shape[-1]).to(x) * 0
    with torch.device(x.device):
        zeros = torch.zeros(x.shape[-1])
    return x * (by_device + by_tensor + x.new_zeros(1)) * torch.tensor(1.0) + zeros.to(x.dtype)


def by_numbers(x: Tensor, factor: float = 2.0) -> Tensor:
    rows = x.view(-1, x.shape[-1])
    return (rows[torch.arange(len(rows))] * factor).view_as(x)  # an index may lie on the CPU


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (on_the_processor, "`torch.full` makes a tensor on the CPU, and inputs stand elsewhere"),
        (gathered_there, "the result is on the CPU, by `torch.zeros`; the inputs stand elsewhere"),
        (on_the_same_device, ""),
        (by_numbers, ""),
    ],
)
def test_what_is_made_on_another_device_costs_a_tenth_and_is_named(answer: Any, sentence: str) -> None:
    defined = function_exercise(trains=True)
    assert lost(defined, answer) == [DEVICE] * bool(sentence)
    assert judge(defined.public_examples(), InProcess(answer)).sentence == sentence
    assert lost(function_exercise(), answer) == []  # what neither trains nor gets a model is not asked


class TableLeftBehind(nn.Module):
    """Multiplies by one learned number, and adds a table of zeros that does not move with it."""

    def __init__(self, start: float = 1.0) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(start))
        self.keep(torch.zeros(1, 3))

    def keep(self, table: Tensor) -> None:
        self.table = table

    def forward(self, x: Tensor) -> Tensor:
        return (x.double() * self.factor + self.table).to(x.dtype)


class TableTakenAlong(TableLeftBehind):
    def keep(self, table: Tensor) -> None:
        self.register_buffer("table", table)


def test_a_table_of_a_module_moves_with_it_when_it_is_registered() -> None:
    assert lost(module_exercise(), TableLeftBehind) == [DEVICE]
    assert lost(module_exercise(), TableTakenAlong) == []


def with_a_head(model: nn.Module) -> nn.Module:
    """Returns the model with a layer more."""
    model.add_module("head", nn.Linear(4, 2).to(next(model.parameters()).device))
    return model


def with_a_head_on_the_processor(model: nn.Module) -> nn.Module:
    model.add_module("head", nn.Linear(4, 2))
    return model


def moved_and_given_a_head(model: nn.Module) -> nn.Module:
    return with_a_head(model.cpu())


def in_a_copy(model: nn.Module) -> nn.Module:
    return with_a_head(copy.deepcopy(model))


def with_a_head_made_there(model: nn.Module) -> nn.Module:
    with torch.device(next(model.parameters()).device):
        return with_a_head_on_the_processor(model)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (with_a_head_on_the_processor, "`head.weight` comes back on the CPU"),
        (moved_and_given_a_head, "`embedding.weight` comes back on the CPU"),
        (in_a_copy, ""),
        (with_a_head_made_there, ""),
    ],
)
def test_a_model_that_comes_back_stands_where_it_came(answer: Any, sentence: str) -> None:
    asks = [Question((Model("TransformerBase", SMALL, seed),), probe="parameters", changes=(0,)) for seed in (1, 2)]
    defined = Exercise(with_a_head, [Stage("all", 2, "look", asks[:1], lambda rng: asks[1:])], [])
    assert lost(defined, answer) == [DEVICE] * bool(sentence)
    assert judge(defined.public_examples(), InProcess(answer)).sentence.startswith(sentence)


def loaded(model: nn.Module, state: dict[str, Tensor]) -> nn.Module:
    """Returns the model with the numbers of a state."""
    model.load_state_dict(state)
    return model


def replaced(model: nn.Module, state: dict[str, Tensor]) -> nn.Module:
    for name, tensor in state.items():
        place, _, last = name.rpartition(".")
        part = model.get_submodule(place)
        setattr(part, last, nn.Parameter(tensor.clone(), getattr(part, last).requires_grad))
    return model


def as_data(model: nn.Module, state: dict[str, Tensor]) -> nn.Module:
    for name, parameter in model.named_parameters():
        parameter.data = state[name].clone()
    return model


def as_data_there(model: nn.Module, state: dict[str, Tensor]) -> nn.Module:
    for name, parameter in model.named_parameters():
        parameter.data = state[name].clone().to(parameter.device)
    return model


@pytest.mark.parametrize(("answer", "stays"), [(replaced, False), (as_data, False), (as_data_there, True)])
def test_a_state_is_read_on_the_cpu_and_goes_where_the_model_is(answer: Any, stays: bool) -> None:
    models = [Model("Classifier", {"base": Model("TransformerBase", SMALL)}, seed) for seed in (1, 2, 3)]
    asks = [
        Question((one, replace(other, state=True)), probe="origins", changes=(0,))
        for one, other in itertools.pairwise(models)
    ]
    defined = Exercise(loaded, [Stage("all", 2, "look", asks[:1], lambda rng: asks[1:])], [])
    assert lost(defined, answer) == [DEVICE] * (not stays)


class Merges(Scale):
    """Has a method that takes nothing."""

    def merged(self) -> nn.Module:
        """Returns a layer."""
        layer = nn.Linear(1, 1, bias=False).to(self.factor.device)
        layer.weight.data.copy_(self.factor.detach())
        return layer


class MergesOnTheProcessor(Merges):
    def merged(self) -> nn.Module:
        layer = nn.Linear(1, 1, bias=False)
        layer.weight.data.copy_(self.factor.detach())
        return layer


def test_the_methods_of_a_module_stay_on_its_device() -> None:
    defined = replace(module_exercise(), reference=Merges)
    assert lost(defined, Merges) == []
    assert lost(defined, MergesOnTheProcessor) == [DEVICE]


@pytest.mark.parametrize("notebook", catalogue.notebooks())
def test_no_reference_leaves_the_device_unseen(notebook: str) -> None:
    circumstance = next(one for one in contracts.CIRCUMSTANCES if one.name == DEVICE)
    for defined in exercise.load(notebook).values():
        public = [ask for stage in defined.stages if not stage.raises for ask in stage.public if ask.inputs]
        asks = list(circumstance.asks(defined, public)) if public else []
        with_tensors = [ask for ask in asks if ask.build or any(isinstance(value, Tensor) for value in ask.inputs)]
        if DEVICE not in defined.exceptions:
            assert [defined.reply(ask).value for ask in with_tensors] == [ON_ONE] * len(with_tensors), defined.name


def test_numpy_and_plain_numbers_lose_device_and_gradient_for_one_tenth() -> None:
    def by_numpy(x: Tensor, factor: float = 2.0) -> Tensor:
        return torch.from_numpy(x.detach().numpy() * factor).to(x.dtype)

    assert lost(function_exercise(trains=True), by_numpy) == [GRADIENT]


def distance(x: Tensor, goal: Tensor) -> Tensor:
    """Returns how far x is from a goal, through which nothing is learned."""
    return (x - goal.detach()).square()


def distance_with_frozen_goal(x: Tensor, goal: Tensor) -> Tensor:
    goal.requires_grad_(False)
    return (x - goal).square()


def distance_with_detached_goal(x: Tensor, goal: Tensor) -> Tensor:
    return (x - goal.detach_()).square()


def test_an_input_that_no_longer_asks_for_a_gradient_has_changed() -> None:
    asks = [Question((X, torch.zeros(X.shape))), Question((X + 2, X))]
    stage = Stage("all", 2, "look", asks, lambda rng: [Question((X + 1, X))])
    defined = Exercise(distance, [stage], [], trains=True)
    assert lost(defined, distance) == []
    for answer in (distance_with_frozen_goal, distance_with_detached_goal):
        assert lost(defined, answer) == [INPUTS_STAY]
        verdict = judge(defined.public_examples(), InProcess(answer))
        assert "`goal` asked for a gradient and asks for no gradient now" in verdict.sentence
        assert "`x.detach()`" in verdict.feedback

    def through_both(x: Tensor, goal: Tensor) -> Tensor:
        return (x - goal).square()

    verdict = judge(defined.public_examples(), InProcess(through_both))
    assert verdict.sentence == "a gradient of input 2 arrives, where nothing is to be learned"
    assert verdict.feedback == NEEDLESS_GRADIENT  # and nothing that warns of `.detach()`


def in_place_and_seeded(x: Tensor, factor: float = 2.0) -> Tensor:
    torch.manual_seed(0)
    return x.mul_(factor)


def in_place_and_cut_off(x: Tensor, factor: float = 2.0) -> Tensor:
    return x.detach().mul_(factor)


def test_two_faults_cost_two_tenths_and_what_follows_from_one_costs_nothing() -> None:
    long = {"large": [Question((torch.ones(300), 2.0))], "trains": True}
    assert lost(function_exercise(**long), detached) == [GRADIENT]  # and no gradient of a long input
    assert lost(function_exercise(**long), in_place) == [INPUTS_STAY]
    assert lost(function_exercise(**long), in_place_and_seeded) == [INPUTS_STAY, RANDOM]
    assert lost(function_exercise(**long), in_place_and_cut_off) == [INPUTS_STAY, GRADIENT]


class Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.linear(self.norm(x))


class ResidualInPlace(Residual):
    def forward(self, x: Tensor) -> Tensor:
        x += self.linear(self.norm(x))  # autograd needs what is overwritten
        return x


def test_an_input_that_is_overwritten_costs_a_tenth_where_autograd_refuses_it_too() -> None:
    silent = {"norm.weight": torch.ones(2), "norm.bias": torch.zeros(2)}
    silent |= {"linear.weight": torch.zeros(2, 2), "linear.bias": torch.zeros(2)}
    loud = silent | {"linear.weight": torch.tensor([[1.0, 2.0], [0.5, 1.0]])}
    asks = [
        Question((torch.tensor([[1.0, 3.0], [0.5, 2.0]]),), build={"width": 2}, weights=one) for one in (silent, loud)
    ]
    defined = Exercise(Residual, [Stage("all", 2, "look", asks, lambda rng: asks)], [])
    assert lost(defined, ResidualInPlace) == [INPUTS_STAY]
    verdict = judge(defined.public_examples(), InProcess(ResidualInPlace))
    assert "`x[0, 0]` was 1 and is 1.9999" in verdict.sentence  # and not that it asks for a gradient now, which follows
    assert "x = x + 1" in verdict.feedback


def spoiled(change: Any) -> Verdict:
    """Returns the verdict on an answer that changes a dictionary, a list, a tensor and a model."""
    shape = {"vocab_size": 5, "d_model": 4, "n_layers": 1, "n_heads": 2}
    model = Model("TransformerBase", shape, training=True)

    def wanted(setting: dict[str, Any], words: list[str], x: Tensor, net: nn.Module) -> int:
        return len(setting)

    def answer(setting: dict[str, Any], words: list[str], x: Tensor, net: nn.Module) -> int:
        size = len(setting)
        change(setting, words, x, net)
        return size

    asks = [Question(({"lr": 0.1, "name": "a"}, ["le", "chat"], torch.tensor([[7, 5, 4]]), model))]
    defined = Exercise(wanted, [Stage("all", 2, "look", asks, lambda rng: asks)], [])
    graded = judge(defined.drawn_examples("ada"), InProcess(answer), hidden=True)
    assert graded.outcome == "wrong"
    assert "no longer as it was" in graded.sentence
    assert re.search(r" of `(setting|words|x|net)`", graded.sentence)
    return judge(defined.public_examples(), InProcess(answer))


@pytest.mark.parametrize(
    ("change", "sentence", "advice"),
    [
        (lambda s, w, x, m: s.update(loss=1), "`setting['loss']` was not there before", "dict(entries)"),
        (lambda s, w, x, m: s.pop("lr"), "`setting['lr']` is no longer there", "dict(entries)"),
        (lambda s, w, x, m: s.update(lr=1), "`setting['lr']` was 0.1 and is 1 now", "dict(entries)"),
        (lambda s, w, x, m: w.append("dort"), "`words` had 2 entries and has 3 now", "list(words)"),
        (lambda s, w, x, m: w.sort(), "`words[0]` was 'le' and is 'chat' now", "list(words)"),
        (lambda s, w, x, m: x[0, 1:2].fill_(1), "`x[0, 1]` was 5 and is 1 now", "masked_fill"),
        (
            lambda s, w, x, m: x.squeeze_(),
            "`x` was of shape (1, 3) and torch.int64 and is of shape (3,)",
            "masked_fill",
        ),
        (lambda s, w, x, m: m.eval(), "`net` came in training mode and is in evaluation mode now", "model.train(was)"),
        (
            lambda s, w, x, m: m.layers[0].eval(),
            "`net.layers.0` came in training mode and is in evaluation mode now",
            "model.train(was)",
        ),
        (
            lambda s, w, x, m: m.requires_grad_(False),
            "`net.embedding.weight` asked for a gradient and asks for no gradient now",
            "requires_grad_",
        ),
        (
            lambda s, w, x, m: m(x % 5).square().sum().backward(),
            "`net.embedding.weight` came with no gradient and has one now",
            "torch.autograd.grad",
        ),
        (lambda s, w, x, m: m.embedding.weight.data.fill_(3), "is 3 now", "copy.deepcopy(model)"),
        (
            lambda s, w, x, m: m.register_forward_hook(lambda *_: None),
            "`net` came with 0 hooks and has 1 now",
            "handle.remove()",
        ),
    ],
)
def test_what_has_changed_is_named_with_what_it_was_and_fitting_advice(change: Any, sentence: str, advice: str) -> None:
    verdict = spoiled(change)
    assert sentence in verdict.sentence
    assert advice in verdict.feedback
    assert verdict.earned == pytest.approx(1.8)


def powers(count: int, base: int = 2) -> Tensor:
    """Returns the first powers of a number."""
    return float(base) ** torch.arange(count)


def powers_exercise() -> Exercise:
    asks = [Question((5, 2)), Question((3, 3))]
    return Exercise(powers, [Stage("all", 2, "look", asks, lambda rng: [Question((4, 2))])], [])


def test_what_is_kept_of_an_earlier_call_costs_a_tenth() -> None:
    by_base = dict[int, Tensor]()
    once = functools.cache(powers)
    large = {base: powers(60, base) for base in range(9)}

    def too_short(count: int, base: int = 2) -> Tensor:
        return by_base.setdefault(base, powers(count, base))[:count].clone()

    assert lost(powers_exercise(), powers) == []
    assert lost(powers_exercise(), too_short) == [AGAIN]
    assert lost(powers_exercise(), lambda count, base=2: once(count, base)) == [
        AGAIN
    ]  # whoever changes it changes both
    assert lost(powers_exercise(), lambda count, base=2: large[base][:count]) == [AGAIN]
    assert lost(powers_exercise(), lambda count, base=2: large[base][:count].clone()) == []


def test_what_is_kept_of_tensors_that_change_in_place_costs_a_tenth() -> None:
    known = dict[int, tuple[Tensor, Tensor]]()

    def by_identity(x: Tensor, factor: float = 2.0) -> Tensor:
        if id(x) not in known or known[id(x)][0] is not x:
            known[id(x)] = x, x * factor
        return known[id(x)][1].clone()

    assert lost(function_exercise(), by_identity) == [AGAIN]


SMALL = {"vocab_size": 5, "d_model": 4, "n_layers": 1, "n_heads": 2}


def trained(model: nn.Module) -> int:
    """Returns how many numbers train."""
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


def test_a_model_that_is_given_by_its_numbers_has_others_in_the_call_in_between() -> None:
    def applied(model: nn.Module, tokens: Tensor) -> Tensor:
        return model(tokens)

    tokens = torch.tensor([[0, 1]])
    recipe = Model("SumOfSomeWords", {"strengths": torch.eye(2), "says": torch.tensor([[1.0], [2.0]])})
    asks = [Question((recipe, tokens))]
    examples = Exercise(applied, [Stage("all", 2, "look", asks, lambda rng: asks)], []).public_examples()
    again = [case.ask for stage in examples.stages for case in stage.cases if case.ask.probe == "again"]
    between = next(ask.follow_up for ask in again if ask.follow_up)
    assert not torch.equal(build(recipe)(tokens), build(between[0])(tokens))


def test_what_is_kept_of_a_model_that_is_frozen_later_costs_a_tenth() -> None:
    asks = [Question((Model("TransformerBase", SMALL, seed),)) for seed in (1, 2)]
    defined = Exercise(trained, [Stage("all", 2, "look", asks, lambda rng: asks)], [])
    assert lost(defined, trained) == []
    assert lost(defined, functools.cache(trained)) == [AGAIN]


def headless(model: nn.Module) -> nn.Module:
    """Returns a copy of a model."""
    return copy.deepcopy(model)


class Replacing:
    """Returns a copy of a model, by its identity the first one that it has made."""

    def __init__(self) -> None:
        self.made = dict[int, nn.Module]()

    def __call__(self, model: nn.Module) -> nn.Module:
        return self.made.setdefault(id(model), copy.deepcopy(model))


class Sharing(Replacing):
    """Returns copies that share one part."""

    def __call__(self, model: Any) -> nn.Module:
        made: Any = copy.deepcopy(model)
        first: Any = self.made.setdefault(id(model), made)
        made.embedding = first.embedding
        made.embedding.weight.data.copy_(model.embedding.weight)
        return made


def without_dropout(model: nn.Module) -> nn.Module:
    made = copy.deepcopy(model)
    for part in made.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    return made


def in_evaluation(model: nn.Module) -> nn.Module:
    return copy.deepcopy(model).eval()


def in_buffers(model: Any) -> nn.Module:
    made: Any = copy.deepcopy(model)
    weight = made.embedding.weight.detach()
    del made.embedding.weight
    made.embedding.register_buffer("weight", weight)
    return made


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        (headless, []),
        (Replacing(), [MODEL]),
        (Sharing(), [MODEL]),
        (without_dropout, [MODEL]),
        (in_evaluation, [MODEL]),
        (in_buffers, [MODEL]),
    ],
)
def test_what_becomes_of_a_model_that_is_returned_costs_a_tenth(answer: Any, names: list[str]) -> None:
    tokens = torch.tensor([[1, 2, 3]])
    asks = [Question((Model("TransformerBase", SMALL, seed, training=True),), follow_up=(tokens,)) for seed in (1, 2)]
    defined = Exercise(headless, [Stage("all", 2, "look", asks, lambda rng: asks)], [])
    assert lost(defined, answer) == names


def test_no_model_gets_the_identity_of_one_before_it() -> None:
    """What an answer keeps by it would be found by luck: a mark would hang on where memory was free."""
    assert len({id(build(Model("TransformerBase", SMALL, seed))) for seed in range(60)}) == 60


def thawed(model: nn.Module) -> nn.Module:
    return copy.deepcopy(model).requires_grad_(True)


@pytest.mark.parametrize(("answer", "names"), [(thawed, []), (in_evaluation, []), (without_dropout, [MODEL])])
def test_an_exercise_that_says_nothing_of_modes_and_frozen_models_leaves_them_out(
    answer: Any, names: list[str]
) -> None:
    asks = [Question((Model("TransformerBase", SMALL, seed),), probe="learns") for seed in (1, 2)]
    stages = [Stage("all", 2, "look", asks, lambda rng: asks)]
    assert lost(Exercise(headless, stages, []), answer) == [MODEL]
    silent = (contracts.STAYS_FROZEN, contracts.KEEPS_MODE)
    assert lost(Exercise(headless, stages, [], exceptions=silent), answer) == names


def test_what_is_kept_on_a_model_is_reported() -> None:
    def keeps(model: Any) -> int:
        model.known = {"size": size_of(model)}
        return int(model.known["size"])

    def thaws(model: nn.Module) -> int:
        model.requires_grad_(True)
        return size_of(model)

    asks = [Question((Model("TransformerBase", SMALL),))]
    defined = Exercise(size_of, [Stage("all", 2, "look", asks, lambda rng: asks)], [])
    assert lost(defined, keeps) == [INPUTS_STAY]
    verdict = judge(defined.public_examples(), InProcess(keeps))
    assert "`model.known` was not there before and is dict now" in verdict.sentence
    assert lost(defined, thaws) == [AGAIN]


def test_dropout_that_is_set_to_0_for_good_is_reported_of_the_model() -> None:
    def without(model: Any) -> int:
        model.layers[0].dropout.p = 0.0
        return size_of(model)

    asks = [Question((Model("TransformerBase", SMALL | {"dropout": 0.5}),))]
    defined = Exercise(size_of, [Stage("all", 2, "look", asks, lambda rng: asks)], [])
    assert lost(defined, without) == [INPUTS_STAY]
    verdict = judge(defined.public_examples(), InProcess(without))
    assert "`model.layers.0.dropout.p` was 0.5 and is 0.0 now" in verdict.sentence


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_dropout_that_is_set_to_0_for_good_costs_a_tenth_also_where_it_is_0_already(share: float) -> None:
    def without(model: nn.Module) -> int:
        for part in model.modules():
            if isinstance(part, nn.Dropout):
                part.p = 0.0
        return size_of(model)

    asks = [Question((Model("TransformerBase", SMALL | {"dropout": share}),))]
    defined = Exercise(size_of, [Stage("all", 2, "look", asks, lambda rng: asks)], [])
    assert lost(defined, without) == [INPUTS_STAY if share else MODEL]
    assert lost(defined, size_of) == []


class Halved(Scale):
    """Multiplies by one learned number, and tells half of that."""

    def halved(self, x: Tensor) -> Tensor:
        """Returns half of the result."""
        return self(x) / 2


def test_a_method_with_a_description_is_called_by_itself() -> None:
    defined = Exercise(Halved, module_exercise().stages, [])
    assert lost(defined, Halved) == []
    assert lost(defined, Scale) == [METHODS]


class NotCopied(Scale):
    def forward(self, x: Tensor) -> Tensor:
        self.last = x * self.factor  # a tensor with a history, which `copy.deepcopy` refuses
        return self.last * 1


def test_a_module_can_be_copied_after_a_call() -> None:
    assert lost(module_exercise(), NotCopied) == [AGAIN]


class Signed(Scale):
    """Multiplies by one learned number, or by its opposite."""

    def __init__(self, start: float = 1.0, negative: bool = False) -> None:
        super().__init__(start)
        self.negative = negative

    def forward(self, x: Tensor) -> Tensor:
        return -x * self.factor if self.negative else x * self.factor


class SignedByClass(Signed):
    def __init__(self, start: float = 1.0, negative: bool = False) -> None:
        super().__init__(start)
        del self.negative
        type(self).negative = negative


def test_what_is_kept_on_a_class_costs_a_tenth() -> None:
    def ask(negative: bool) -> Question:
        build = {"start": 1.0, "negative": negative}
        return Question((X,), build=build, weights={"factor": torch.tensor(3.0)})

    defined = Exercise(Signed, [Stage("all", 2, "look", [ask(True), ask(False)], lambda rng: [ask(True)])], [])
    assert lost(defined, Signed) == []
    assert lost(defined, SignedByClass) == [AGAIN]


def size_of(model: nn.Module) -> int:
    """Returns how many numbers a model has."""
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("mode", [True, False])
def test_a_mode_that_is_left_changed_costs_a_tenth(mode: bool) -> None:
    shape = {"vocab_size": 5, "d_model": 4, "n_layers": 1, "n_heads": 2}
    models = [Model("TransformerBase", shape | {"n_layers": layers}) for layers in (1, 2)]
    defined = Exercise(
        size_of,
        [Stage("all", 2, "look", [Question((models[0],))], lambda rng: [Question((models[1],))])],
        [],
        exceptions=(AGAIN,),
    )

    def left(model: nn.Module) -> int:
        return size_of(model.train(mode))

    def put_back(model: nn.Module) -> int:
        before = model.training
        result = size_of(model.train(mode))
        model.train(before)
        return result

    def outermost(model: nn.Module) -> int:
        before = model.training
        result = size_of(model.train(mode))
        model.training = before
        return result

    assert lost(defined, size_of) == lost(defined, put_back) == []
    assert lost(defined, left) == lost(defined, outermost) == [INPUTS_STAY if mode else MODE]


def test_a_function_that_training_does_not_pass_through_needs_no_gradients() -> None:
    assert lost(function_exercise(), detached) == []
    assert lost(function_exercise(), single) == [DOUBLE]  # which any function of tensors keeps


def single_and_back(x: Tensor, factor: float = 2.0) -> Tensor:
    return (x.float() * factor).to(x.dtype)


def test_digits_of_single_precision_are_reported_where_the_type_is_double() -> None:
    assert lost(function_exercise(), single_and_back) == [DOUBLE]
    verdict = judge(function_exercise().public_examples(), InProcess(single_and_back))
    assert "torch.float64, but with the digits of single precision" in verdict.sentence


def test_what_the_reference_itself_makes_single_is_not_asked_in_double() -> None:
    asks = [Question((X, 2.0)), Question((torch.ones(4), 3.0))]
    defined = Exercise(single, [Stage("all", 2, "look", asks, lambda rng: [Question((X + 1, 2.0))])], [])
    assert lost(defined, doubled) == lost(defined, single) == []


class Added(nn.Module):
    """Adds a table that it is given."""

    table: Tensor

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.register_buffer("table", table)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table


class AddedSingle(Added):
    """Keeps the table in single precision."""

    def __init__(self, table: Tensor) -> None:
        super().__init__(table.float())


def test_a_module_keeps_a_table_in_double_precision_that_comes_so() -> None:
    build_with = {"table": X[0]}
    asks = [Question((x,), build=build_with) for x in (X, X + 1)]
    defined = Exercise(Added, [Stage("all", 2, "look", asks, lambda rng: asks)], [])
    assert lost(defined, Added) == []
    assert lost(defined, AddedSingle) == [DOUBLE]


def test_an_exercise_may_say_what_it_does_not_ask() -> None:
    assert lost(function_exercise(exceptions=(RANDOM,)), seeded) == []
    assert lost(function_exercise(exceptions=(INPUTS_STAY, DEFAULT)), other_default) == []


def test_a_long_input_is_asked_of_an_answer_that_is_right_for_short_ones() -> None:
    def cut(x: Tensor, factor: float = 2.0) -> Tensor:
        return torch.cat([x[:64] * factor, x[64:]])

    large = function_exercise(large=[Question((torch.ones(300), 2.0))])
    assert lost(large, cut) == [LARGE]
    assert lost(large, doubled) == lost(function_exercise(), cut) == []


class Noisy(Scale):
    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.dropout(x * self.factor, 0.5, self.training)


class Stopped(Scale):
    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor:
        return x * self.factor


class Kept(Scale):
    def forward(self, x: Tensor) -> Tensor:
        if not hasattr(self, "known"):
            self.known = self.factor.detach().clone()
        return x * (self.factor + (self.known - self.factor.detach()))


class Anew(Scale):
    def __init__(self, start: float = 1.0) -> None:
        super().__init__(start)
        torch.manual_seed(0)


class Single(Scale):
    def forward(self, x: Tensor) -> Tensor:
        return (x * self.factor).float()


class KeptWithoutGradients(Scale):
    def forward(self, x: Tensor) -> Tensor:
        if torch.is_grad_enabled():
            return x * self.factor
        if not hasattr(self, "known"):
            self.known = self.factor.clone()
        return x * self.known


class KeptForTraining(Scale):
    def forward(self, x: Tensor) -> Tensor:
        if not hasattr(self, "view"):
            self.view = self.factor[...]  # where no gradient was recorded, none passes through it ever after
        return x * self.view


class HoldsOn(Scale):
    def __init__(self, start: float = 1.0) -> None:
        super().__init__(start)
        self.scaled = lambda x: x * self.factor

    def forward(self, x: Tensor) -> Tensor:
        return self.scaled(x)


class ChangesItself(Scale):
    """Gives what it should, with another number at each call."""

    def __init__(self, start: float = 1.0) -> None:
        super().__init__(start)
        self.sign = 1.0

    def forward(self, x: Tensor) -> Tensor:
        result = x * self.factor * self.sign
        self.factor.data.neg_()
        self.sign = -self.sign
        return result


class InPlaceWithoutGradients(Scale):
    def forward(self, x: Tensor) -> Tensor:
        return x * self.factor if torch.is_grad_enabled() else x.mul_(self.factor)


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        (Scale, []),
        (Noisy, [TRAINING]),
        (KeptWithoutGradients, [AGAIN]),
        (KeptForTraining, [AGAIN]),
        (HoldsOn, [AGAIN]),
        (ChangesItself, [AGAIN]),
        (InPlaceWithoutGradients, [INPUTS_STAY]),
        (Stopped, [GRADIENT]),
        (Kept, [AGAIN]),
        (Anew, [RANDOM]),
        (Single, [DOUBLE]),
    ],
)
def test_what_a_module_does_not_keep_costs_a_tenth(answer: type[nn.Module], names: list[str]) -> None:
    assert lost(module_exercise(), answer) == names


def test_a_list_is_not_handed_out_twice() -> None:
    def fresh(words: list[str]) -> list[str]:
        return [*words, "end"]

    known: dict[str, list[str]] = {}
    asks = [Question((["a"],)), Question((["b", "c"],))]
    defined = Exercise(fresh, [Stage("all", 2, "look", asks, lambda rng: asks)], [])
    assert lost(defined, fresh) == []
    assert lost(defined, lambda words: known.setdefault(str(words), [*words, "end"])) == [AGAIN]


def test_what_is_kept_is_asked_of_answers_that_are_right_in_all_else() -> None:
    verdict: Verdict = judge(function_exercise().public_examples(), InProcess(lambda x, factor: seeded(x) + 1))
    assert (verdict.earned, verdict.stages) == (0.0, (("all", False),))
    assert judge(function_exercise().public_examples(), InProcess(doubled)).stages[-1] == (KEEPS, True)


@pytest.mark.parametrize("name", ["synthesizer_scores", "SynthesizerAttention"])
def test_no_gradient_is_asked_for_at_the_corner_of_a_relu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There `clamp(min=0)` has the slope 1 and `relu` 0, and both are right."""
    defined = exercise.load_one("09_synthesizer", name)
    drawn = [defined.public_examples(), *(defined.drawn_examples(f"student {number}") for number in range(12))]
    monkeypatch.setattr(torch, "relu", lambda x: x.clamp(min=0))
    for examples in drawn:
        verdict = judge(examples, InProcess(defined.reference), hidden=True)
        assert verdict.outcome == "right", str(verdict)


@pytest.mark.parametrize("notebook", catalogue.notebooks())
def test_exceptions_name_circumstances(notebook: str) -> None:
    for name, defined in exercise.load(notebook).items():
        assert set(defined.exceptions) <= set(contracts.NAMES), name


@pytest.mark.parametrize("notebook", catalogue.notebooks())
def test_the_reference_answers_every_large_question(notebook: str) -> None:
    for name, defined in exercise.load(notebook).items():
        assert all(defined.reply(ask).outcome == "value" for ask in defined.large), name


@pytest.mark.parametrize("notebook", catalogue.notebooks())
def test_every_exercise_has_a_stage_that_decides(notebook: str) -> None:
    undecided = [n for n, one in exercise.load(notebook).items() if not any(stage.decisive for stage in one.stages)]
    assert not undecided


def test_without_the_stage_that_decides_there_is_half_of_the_points() -> None:
    once = Stage("once", 3, "look", [Question((X, 1.0))], lambda rng: [Question((X + rng.random(), 1.0))])
    often = Stage(
        "often", 1, "look", [Question((X, 2.0))], lambda rng: [Question((X, rng.random() + 2))], decisive=True
    )
    verdict = judge(
        Exercise(doubled, [once, often], []).drawn_examples("ada"), InProcess(lambda x, factor: x), hidden=True
    )
    assert verdict.stages[:2] == (("once", True), ("often", False))
    assert verdict.earned == 2


# --- after an interruption --------------------------------------------------------------------------------------------


def totals(lengths: dict[str, int], measure: Any, known: dict[str, int]) -> dict[str, int]:
    """Returns what is measured of each text that is not yet known."""
    return {name: known[name] if name in known else measure(length) for name, length in lengths.items()}


def kept_when_whole(lengths: dict[str, int], measure: Any, known: dict[str, int]) -> dict[str, int]:
    for name in lengths.keys() - known.keys():
        known[name] = measure(lengths[name])
    return {name: known[name] for name in lengths}


def kept_too_early(lengths: dict[str, int], measure: Any, known: dict[str, int]) -> dict[str, int]:
    for name in lengths:
        if name not in known:
            known[name] = 0
            known[name] += measure(lengths[name])
    return {name: known[name] for name in lengths}


def filled_on_error(lengths: dict[str, int], measure: Any, known: dict[str, int]) -> dict[str, int]:
    try:
        return kept_when_whole(lengths, measure, known)
    except RuntimeError:
        known.update(dict.fromkeys(lengths, 0))
        raise


def filled_on_ctrl_c(lengths: dict[str, int], measure: Any, known: dict[str, int]) -> dict[str, int]:
    try:
        return kept_when_whole(lengths, measure, known)
    except KeyboardInterrupt:
        known.update(dict.fromkeys(lengths, 0))
        raise


def taken_out_meanwhile(lengths: dict[str, int], measure: Any, known: dict[str, int]) -> dict[str, int]:
    name, length = lengths.popitem()
    result = totals(lengths, measure, known) | {name: known[name] if name in known else measure(length)}
    lengths[name] = length
    return result


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        (totals, []),
        (kept_when_whole, []),
        (kept_too_early, [INTERRUPTED]),
        (filled_on_error, [INTERRUPTED]),
        (filled_on_ctrl_c, [INTERRUPTED]),
        (taken_out_meanwhile, [INTERRUPTED]),
    ],
)
def test_what_an_interrupted_call_leaves_is_good_for_the_next_one(answer: Any, names: list[str]) -> None:
    measure = Recorded("measure", [([length], 10 * length) for length in range(9)])
    asks = [Question(({"le": 2, "chat": 4, "dort": 5}, measure, {}), changes=(2,))]
    defined = Exercise(totals, [Stage("all", 2, "look", asks, lambda rng: asks)], [])
    assert lost(defined, answer) == names


TALKS = Model("LanguageModel", {"base": Model("TransformerBase", SMALL)}, spread=0.1)


class Summing:
    """Adds up what a model gives for batches; the sum is kept on the way, and begun anew at the end."""

    def __init__(self) -> None:
        self.sum = 0.0

    def __call__(self, model: nn.Module, batches: list[Any]) -> float:
        for batch in batches:
            self.sum += float(model(batch.tokens).sum())
        total, self.sum = self.sum, 0.0
        return total


def summed(model: nn.Module, batches: list[Any]) -> float:
    """Returns the sum of what a model gives."""
    return sum(float(model(batch.tokens).sum()) for batch in batches)


def summed_at_once(model: nn.Module, batches: list[Any]) -> float:
    return float(model(torch.cat([batch.tokens for batch in batches])).sum())


def test_batches_that_do_not_come_and_a_model_that_stops_leave_nothing_behind() -> None:
    def batch(*numbers: int) -> Model:
        tokens = torch.tensor([numbers])
        of = {"rows": tokens[0, :1], "lengths": torch.tensor([len(numbers)]), "scored": tokens[0]}
        return Model("Batch", {"tokens": tokens, "target": tokens, **of})

    many = [Question((TALKS, [batch(1, 2), batch(3, 4), batch(0, 1)]))]
    defined = Exercise(summed, [Stage("all", 2, "look", many, lambda rng: many)], [])
    assert lost(defined, summed) == []
    assert lost(defined, summed_at_once) == []
    assert lost(defined, Summing()) == [INTERRUPTED]

    def once(model: nn.Module, x: Tensor) -> Tensor:
        return model(x)

    def lent(model: Any, x: Tensor) -> Tensor:
        found = once(model, x)
        before = model.base.embedding.weight.data
        model.base.embedding.weight.data = before.clone() + 1
        model(x)
        model.base.embedding.weight.data = before
        return found

    of_model = [Question((TALKS, torch.tensor([[1, 2, 3]])))]
    defined = Exercise(once, [Stage("all", 2, "look", of_model, lambda rng: of_model)], [])
    assert lost(defined, once) == []
    assert lost(defined, lent) == [INTERRUPTED]


def test_which_weights_train_stays_as_it_is_where_a_model_is_to_be_changed() -> None:
    def halved(model: nn.Module) -> None:
        for weight in model.parameters():
            weight.data *= 0.5

    def with_new_weights(model: nn.Module) -> None:
        for part in model.modules():
            for name, weight in list(part.named_parameters(recurse=False)):
                setattr(part, name, nn.Parameter(weight.detach() / 2))

    def thawed(model: nn.Module) -> None:
        halved(model)
        model.requires_grad_(True)

    asks = [Question((Model("TransformerBase", SMALL, seed),), probe="after", changes=(0,)) for seed in (1, 2)]
    defined = Exercise(halved, [Stage("all", 2, "look", asks, lambda rng: asks)], [])
    assert lost(defined, halved) == []
    assert lost(defined, with_new_weights) == [MODEL]
    assert lost(defined, thawed) == [MODEL]
