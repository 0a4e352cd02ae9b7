"""An answer that denies in its own process what it has done is found out all the same."""

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tutor import checking
from tutor.checking import answers, model_probes, plain
from tutor.checking.answers import InProcess, Question
from tutor.checking.probes import PROBES, several_notebooks
from tutor.checking.untouched import Untouched, nameless

X = torch.arange(6.0)


@pytest.fixture(autouse=True)
def untouched() -> Iterator[Untouched]:
    """As in grading: a copy that no name leads to."""
    made: Untouched = nameless(Untouched.__module__).Untouched()
    yield made
    made.restore()


def denies_changes() -> None:
    model_probes.changes = lambda before, after: []


def denies_states() -> None:
    model_probes.state_of = lambda value: {}


def denies_by_code() -> None:
    model_probes.changes.__code__ = (lambda before, after: []).__code__


def empties_the_table() -> None:
    model_probes.CHANGES.clear()


def denies_by_method() -> None:
    InProcess._changed = lambda *inputs: ("", "")  # type: ignore[method-assign]


def denies_in_a_tensor() -> None:
    torch.Tensor.data_ptr = lambda self: 0  # type: ignore[method-assign]
    plain.raw = lambda tensor: b""


def denies_behind_a_deletion() -> None:
    kept = {name: vars(torch.Tensor)[name] for name in list(vars(torch.Tensor))[-4:]}
    for name in kept:
        delattr(torch.Tensor, name)
    torch.Tensor.data_ptr = lambda self: 0  # type: ignore[method-assign]
    for name in list(kept)[1:]:
        setattr(torch.Tensor, name, kept[name])


def denies_by_a_name_in_front() -> None:
    model_probes.zip = lambda *lists, **named: []  # type: ignore[attr-defined]
    model_probes.any = lambda found: False  # type: ignore[attr-defined]


def denies_in_python() -> None:
    builtins.zip = lambda *lists, **named: iter(())  # type: ignore[assignment,misc]
    builtins.enumerate = lambda *lists: iter(())  # type: ignore[assignment,misc]


def denies_in_torch() -> None:
    torch.equal = lambda one, other: True  # type: ignore[assignment]
    torch.Tensor.shape = property(lambda self: torch.Size([]))  # type: ignore[assignment]


def replaces_the_reply() -> None:
    kind = answers.Reply
    answers.Reply = lambda *parts, **named: kind(*parts, **(named | {"changed_inputs": ""}))  # type: ignore


def denies_what_looks_for_denials() -> None:
    denies_changes()
    Untouched._owners_are_as_they_were = lambda self: True  # type: ignore[method-assign]


def denies_what_puts_back() -> None:
    denies_changes()
    Untouched.restore.__code__ = (lambda self: None).__code__


def denies_by_a_name_in_front_of_what_looks() -> None:
    denies_changes()
    checking.untouched.all = lambda found: True  # type: ignore[attr-defined]


def denies_what_looking_is_made_of() -> None:
    denies_changes()
    checking.untouched.compress = lambda values, held: iter(())  # type: ignore


DENIALS = [
    denies_what_looks_for_denials,
    denies_what_puts_back,
    denies_by_a_name_in_front_of_what_looks,
    denies_what_looking_is_made_of,
    denies_changes,
    denies_states,
    denies_by_code,
    empties_the_table,
    denies_by_method,
    denies_in_a_tensor,
    denies_behind_a_deletion,
    denies_by_a_name_in_front,
    denies_in_python,
    denies_in_torch,
    replaces_the_reply,
]


@pytest.mark.parametrize("deny", DENIALS)
@pytest.mark.parametrize("ends", [False, True])
def test_a_change_of_an_input_cannot_be_denied(deny: Callable[[], None], ends: bool, untouched: Untouched) -> None:
    def answer(x: Tensor) -> Tensor:
        x += 1
        deny()
        if ends:
            raise ValueError
        return x

    asked = InProcess(answer, "cpu", alone=True, restore=untouched.restore)
    assert asked.ask(Question((X,))).changed_inputs == "input 1: numbers"
    assert asked.ask(Question((X,))).changed_inputs == "input 1: numbers"  # nor later
    assert "data_ptr" not in vars(torch.Tensor)  # hides an inherited method


def test_seeded_random_numbers_and_a_mode_cannot_be_denied(untouched: Untouched) -> None:
    def seeded(x: Tensor) -> Tensor:
        torch.manual_seed(1)
        states = iter(range(9))
        several_notebooks._random_states = lambda: {"torch": next(states), "random": 0, "numpy": 0}
        return x

    def in_evaluation(model: nn.Module) -> int:
        model.eval()
        several_notebooks._mode = lambda call: "training mode"
        several_notebooks.first_model = lambda inputs: nn.Linear(1, 1)  # type: ignore[attr-defined]
        return 1

    asked = InProcess(seeded, "cpu", alone=True, restore=untouched.restore)
    for _ in range(2):
        assert asked.ask(Question((X,), probe="random numbers")).value["torch"] == "seeded anew"
    shape = {"vocab_size": 5, "d_model": 4, "n_layers": 1, "n_heads": 2}
    question = Question((plain.Model("TransformerBase", shape, training=True),), probe="mode", changes=(0,))
    asked = InProcess(in_evaluation, "cpu", alone=True, restore=untouched.restore)
    for _ in range(2):
        assert asked.ask(question).value == "evaluation mode"


def test_a_name_that_python_adds_to_a_class_is_looked_at_once(untouched: Untouched) -> None:
    """As `__slotnames__` at the first copy of an object: each later look would else be the slow one."""
    Question.__added__ = []  # type: ignore[attr-defined]
    try:
        assert not untouched._owners_are_as_they_were()
        untouched.restore()
        assert untouched._owners_are_as_they_were()
        model_probes.changes = lambda before, after: []
        assert not untouched._owners_are_as_they_were()
    finally:
        del Question.__added__  # type: ignore[attr-defined]


def test_what_an_answer_adds_stays(untouched: Untouched) -> None:
    nn.Module.count = lambda self: 3  # type: ignore[attr-defined]
    try:
        untouched.restore()
        assert nn.Linear(1, 1).count() == 3  # type: ignore[operator]
    finally:
        del nn.Module.count  # type: ignore[attr-defined]


@pytest.mark.parametrize("owner", [torch.Tensor, nn.Linear, torch, builtins, model_probes], ids=str)
def test_nothing_that_hides_a_part_stays(owner: Any, untouched: Untouched) -> None:
    names = {torch.Tensor: "data_ptr", nn.Linear: "forward", torch: "equal", builtins: "zip", model_probes: "zip"}
    before, is_own = getattr(owner, names[owner], None), names[owner] in vars(owner)
    setattr(owner, names[owner], lambda *inputs: 0)
    untouched.restore()
    if owner is nn.Linear:  # no part of what looks at a model
        owner.forward = before  # type: ignore[method-assign,assignment]
    assert getattr(owner, names[owner], None) is before
    assert (names[owner] in vars(owner)) is is_own


def test_what_looks_at_a_call_is_put_back_in_whichever_file_it_is(untouched: Untouched) -> None:
    codes = {name: probe.act.__code__ for name, probe in PROBES.items()}
    for probe in PROBES.values():
        probe.act.__code__ = (lambda call: None).__code__
    untouched.restore()
    assert {name: probe.act.__code__ for name, probe in PROBES.items()} == codes
