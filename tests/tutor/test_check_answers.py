"""Asking an answer: it is stopped in time, leaves everything as it was, and gets fresh inputs."""

import json
import random
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy
import torch
from torch import Tensor, nn

from grading.definitions.definition import Stage
from grading.definitions.exercise import Exercise
from helpers.batches import IGNORE, Batch
from helpers.vocabulary import Vocabulary
from tests.tutor.checking import LANGUAGE_MODEL, asked, classifier_of, right_mask, verdict
from tutor.checking import building, clock, plain
from tutor.checking.answers import InProcess, Question
from tutor.checking.clock import BUSY, KeptWaiting, Timer, TooSlow, time_limit
from tutor.checking.judging import judge
from tutor.checking.model_probes import state_of
from tutor.checking.plain import Model
from tutor.checks import public_examples


def test_a_value_nested_too_deeply_is_wrong_and_not_an_error() -> None:
    nested: list[Any] = []
    for _ in range(50):
        nested = [nested]
    assert "nested more than" in str(verdict(lambda size: nested))


def test_an_endless_list_is_wrong_and_not_an_error() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert "nested more than" in str(verdict(lambda size: endless))


@pytest.mark.parametrize("swallow", [True, pytest.param(False, marks=pytest.mark.all)])
def test_an_endless_loop_is_stopped(swallow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "PATIENCE", 1000.0)  # however busy this machine is

    def loop(size: int) -> Tensor:
        while True:
            try:
                size = abs(size) + 1  # a call: Python 3.10 looks for signals at no `try` to which a loop jumps back
            except Exception:
                if not swallow:
                    raise

    examples = public_examples()["causal_mask"]  # the first who asks for any reads those of all exercises: seconds
    start = time.thread_time()
    result = judge(examples, InProcess(loop), seconds=1)
    assert time.thread_time() - start < 5
    assert result.outcome == "late"
    assert "is there a loop that never ends?" in str(result)


def test_an_answer_that_only_waits_is_asked_again_once_and_then_called_late() -> None:
    asked = []

    def waits(size: int) -> Tensor:
        asked.append(size)
        time.sleep(600)
        return right_mask(size)

    result = judge(public_examples()["causal_mask"], InProcess(waits), seconds=0.2)
    assert result.outcome == "late"
    assert BUSY in str(result)
    assert "loop" not in str(result)
    assert len(asked) == 2
    assert asked[0] == asked[1]


def test_an_answer_that_was_kept_waiting_once_is_right() -> None:
    naps = [600.0]

    def waits_at_first(size: int) -> Tensor:
        time.sleep(naps.pop() if naps else 0)
        return right_mask(size)

    assert judge(public_examples()["causal_mask"], InProcess(waits_at_first), seconds=0.5).outcome == "right"


def test_waiting_for_longer_than_the_cpu_time_allowed_is_no_fault() -> None:
    assert InProcess(lambda: time.sleep(0.8)).ask(Question(), seconds=0.5).outcome == "value"


def test_what_other_threads_do_is_not_the_answers_time() -> None:
    def spin() -> None:
        end = time.thread_time() + 0.3
        while time.thread_time() < end:
            pass

    def works_in_threads() -> int:
        threads = [threading.Thread(target=spin) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return 1

    start = time.process_time()
    assert InProcess(works_in_threads).ask(Question(), seconds=0.5).outcome == "value"
    assert time.process_time() - start > 0.5


STOPPED = """
import os, sys, torch
from grading.definitions.examiner import mark
from tutor.checks import check

def causal_mask(size):
    os.write(1, b"asked")
    os.read(0, 1)
    return torch.triu(torch.full((size, size), -torch.inf), diagonal=1)

if sys.argv[1] == "check":
    check(causal_mask)
else:
    print(mark("01_causal_mask", "causal_mask", causal_mask), "points")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="a process cannot be stopped here")
@pytest.mark.parametrize(
    ("way", "seconds", "wanted"),
    [
        ("check", 6, "causal_mask: all checks passed - 3 of 3 points"),
        pytest.param("mark", 11, "3.0 points", marks=pytest.mark.all),
    ],
)
def test_a_process_that_is_stopped_for_longer_than_it_may_work_loses_nothing(
    way: str, seconds: int, wanted: str
) -> None:
    """As a laptop that is closed, or a machine on which others work; the first question is open meanwhile."""
    process = subprocess.Popen([sys.executable, "-c", STOPPED, way], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.read(5) == b"asked"
        process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        process.send_signal(signal.SIGCONT)
        out, _ = process.communicate(b"x" * 1000)
    assert wanted in out.decode()


def test_looks_that_come_late_count_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 0.2, 100.0, 100.2, 101.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    timer = Timer(0.15, lambda: 0.0)
    assert [timer.look() for _ in range(4)] == [None, None, None, KeptWaiting]
    assert timer.waited == pytest.approx(0.2 + 0.4 + 0.2 + 0.4)


def test_the_time_limit_works_outside_the_main_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    from concurrent.futures import ThreadPoolExecutor

    monkeypatch.setattr(clock, "PATIENCE", 1000.0)  # however busy this machine is

    def spin() -> str:
        try:
            with time_limit(0.2):
                while True:
                    pass
        except BaseException as problem:  # noqa: BLE001 - TooSlow is not an Exception, on purpose
            return type(problem).__name__

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(spin).result() == "TooSlow"


def test_a_limit_within_a_limit_leaves_the_outer_one() -> None:
    def spin() -> None:
        with time_limit(0.3):
            with time_limit(60):
                pass
            while True:
                pass

    with pytest.raises(TooSlow):
        spin()


def test_an_answer_runs_on_one_thread_and_the_caller_keeps_its_own() -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        assert InProcess(torch.get_num_threads).ask(Question()).value == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_an_answer_that_exits_is_a_crash() -> None:
    assert "SystemExit" in str(verdict(lambda size: exit(3)))


def test_an_exception_that_cannot_give_its_text() -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def odd(size: int) -> Tensor:
        raise Odd

    assert "whose text cannot be read" in str(verdict(odd))


def test_prints_and_warnings_do_not_come_out(capsys: pytest.CaptureFixture[str]) -> None:
    import sys
    import warnings

    def noisy(size: int) -> Tensor:
        print("hello")
        print("oh", file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        return right_mask(size)

    assert verdict(noisy).outcome == "right"
    assert capsys.readouterr() == ("", "")


def test_an_answer_that_changes_its_input_is_reported() -> None:
    def in_place(scores: Tensor, mask: Tensor) -> Tensor:
        scores += mask
        return torch.softmax(scores, dim=-1)

    result = verdict(in_place, "attention_weights")
    assert (result.outcome, result.earned) == ("wrong", 2.7)  # all is right but this: a tenth
    assert "Work on a copy" in str(result)


def test_check_leaves_random_state_and_settings_as_they_were() -> None:
    def meddling(size: int) -> Tensor:
        random.seed(1)
        np.random.seed(1)
        torch.manual_seed(1)
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        return right_mask(size)

    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()  # type: ignore[index]
    verdict(meddling)
    assert random.getstate() == before[0]
    assert np.random.get_state()[1].tolist() == before[1]  # type: ignore[index]
    assert torch.equal(torch.get_rng_state(), before[2])
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() == torch.float32


def test_a_model_comes_by_its_recipe_and_fresh_each_time() -> None:
    base = Model("TransformerBase", {"vocab_size": 7, "d_model": 8, "n_layers": 1, "n_heads": 2}, seed=3)
    ask = Question((Model("LanguageModel", {"base": base}, seed=3),))
    seen = []

    def spoil(model: nn.Module) -> Tensor:
        seen.append(model)
        weight = next(model.parameters())
        value = weight.detach().clone()
        weight.data.zero_()
        return value

    first, second = InProcess(spoil).ask(ask), InProcess(spoil).ask(ask)
    assert torch.equal(first.value, second.value)
    assert first.value.abs().sum() > 0
    assert first.changed_inputs
    assert seen[0] is not seen[1]


def test_an_input_that_must_stay_as_it_was() -> None:
    def freezing(model: Any) -> nn.Module:
        return model.requires_grad_(False)

    def spoiling(model: Any) -> nn.Module:
        model.head.bias.data += 1
        raise ValueError("too late")

    def careful(model: Any) -> nn.Module:
        raise ValueError("it does not fit")

    assert InProcess(freezing).ask(Question((LANGUAGE_MODEL,))).changed_inputs
    assert not InProcess(freezing).ask(Question((LANGUAGE_MODEL,), changes=(0,))).changed_inputs
    assert InProcess(spoiling).ask(Question((LANGUAGE_MODEL,))).changed_inputs
    asks = [Question((LANGUAGE_MODEL,))]
    kept = Stage("kept", 1, "copy", asks, lambda rng: asks, measure="inputs kept")
    examples = Exercise(classifier_of, [kept], []).public_examples()
    assert judge(examples, InProcess(classifier_of)).outcome == "right"
    assert "`model.base.embedding.weight` asked for a gradient and asks for no gradient now" in str(
        judge(examples, InProcess(freezing))
    )
    kept = Stage("kept", 1, "look first", asks, lambda rng: asks, measure="inputs kept", raises="ValueError")
    examples = Exercise(careful, [kept], []).public_examples()
    assert judge(examples, InProcess(careful)).outcome == "right"
    assert re.search(r"`model.head.bias\[0\]` was \S+ and is \S+ now", str(judge(examples, InProcess(spoiling))))


def test_a_batch_of_which_a_tensor_is_written_over_is_changed() -> None:
    def forgetful(batches: list[Batch]) -> int:
        batches[-1].target[batches[-1].target == IGNORE] = 0
        return len(batches)

    def careful(batches: list[Batch]) -> int:
        return len([batch.target.masked_fill(batch.target == IGNORE, 0) for batch in batches])

    tokens, target = torch.tensor([[4, 5]]), torch.tensor([[5, IGNORE]])
    asked = [Batch(torch.tensor([n]), tokens, torch.tensor([2]), target.clone(), torch.tensor([0])) for n in range(2)]
    before = state_of(asked)
    assert (careful(asked), state_of(asked)) == (2, before)
    assert (forgetful(asked), state_of(asked) == before) == (2, False)
    assert state_of(asked[0]) != state_of(asked[1])


def test_a_vocabulary_that_has_learned_a_word_is_changed() -> None:
    def learning(words: Vocabulary) -> int:
        return words.numbers.setdefault("new", len(words.tokens))

    ask = Question((Model("Vocabulary", {"words": ["le", "chat"]}),))
    assert InProcess(learning).ask(ask).changed_inputs
    assert not InProcess(lambda words: words.encode("le chien")).ask(ask).changed_inputs


def test_a_tensor_that_asks_for_a_gradient_afterwards_is_changed() -> None:
    ask = Question((torch.ones(2),))
    assert InProcess(lambda x: x.requires_grad_().sum().detach()).ask(ask).changed_inputs
    assert not InProcess(lambda x: x.detach().requires_grad_().sum().detach()).ask(ask).changed_inputs


def test_spread_moves_every_parameter_and_the_same_way_each_time() -> None:
    def norm(model: Any) -> Tensor:
        return model.base.layers[0].attention_norm.weight

    shaken = replace(LANGUAGE_MODEL, spread=0.1)
    assert torch.equal(asked(norm, LANGUAGE_MODEL), torch.ones(8))
    assert not torch.equal(asked(norm, shaken), torch.ones(8))
    assert torch.equal(asked(norm, shaken), asked(norm, shaken))


def test_a_model_frozen_after_a_step_has_the_gradients_of_the_step_and_an_optimizer_holds_it() -> None:
    def held(model: Any, optimizer: torch.optim.Optimizer) -> list[bool]:
        embedding = model.base.embedding.weight
        in_it = any(one is embedding for group in optimizer.param_groups for one in group["params"])
        return [embedding.requires_grad, embedding.grad is not None, in_it]

    frozen = replace(LANGUAGE_MODEL, freeze=("base.embedding",), gradients=0.5)
    late = replace(frozen, frozen_late=True)
    given = [InProcess(held).ask(Question((model, plain.Optimizer("SGD", 0.1)))).value for model in (frozen, late)]
    assert given == [[False, False, False], [False, True, True]]
    assert late.in_words().endswith("with base.embedding* frozen after a step")
    assert Question.decode(json.loads(json.dumps(Question((late,)).encode()))) == Question((late,))


def test_a_generator_comes_by_its_seed_and_is_no_changed_input() -> None:
    ask = Question((plain.Generator(5),))
    reply = InProcess(lambda generator: torch.rand(3, generator=generator)).ask(ask)
    assert torch.equal(reply.value, torch.rand(3, generator=torch.Generator().manual_seed(5)))
    assert not reply.changed_inputs
    assert Question.decode(json.loads(json.dumps(ask.encode()))) == ask


def test_a_vocabulary_comes_by_its_words() -> None:
    words = Model("Vocabulary", {"words": ["le", "roman"]})
    assert asked(lambda vocabulary: vocabulary.encode("Le roman inconnu"), words) == [4, 5, 3]


def _tied(**more: Any) -> Model:
    base = Model("TransformerBase", {"vocab_size": 7, "d_model": 8, "n_layers": 2, "n_heads": 2}, seed=3)
    return Model("LanguageModel", {"base": base}, 3, tie=("head.weight", "base.embedding.weight"), **more)


@pytest.mark.parametrize(
    "recipe",
    [
        _tied(),
        _tied(spread=0.5, gradients=2.0, freeze=("base.layers",)),
        _tied(training=True),
        _tied(noise=0.1),
        Model("LanguageModel", {"base": _tied(noise=0.1).arguments["base"]}, 3, meta=True),
        Model("LanguageModel", {"base": Model("TransformerBase", _tied().arguments["base"].arguments, 3, 0.1)}, 3),
    ],
)
def test_a_model_that_was_made_before_is_the_same_and_shares_nothing(recipe: Model) -> None:
    building._models.clear()
    first = building.build(recipe)
    second = building.build(recipe)
    inputs = torch.tensor([[1, 2, 3]])
    assert repr(first) == repr(second)
    for one, other in zip(first.named_parameters(), second.named_parameters(), strict=True):
        assert one[0] == other[0]
        assert one[1].requires_grad == other[1].requires_grad
        assert (one[1].grad is None) == (other[1].grad is None)
        assert type(other[1]) is nn.Parameter
        if not recipe.meta:
            assert torch.equal(one[1], other[1])
            assert one[1].data_ptr() != other[1].data_ptr()
    assert [module.training for module in first.modules()] == [module.training for module in second.modules()]
    if recipe.tie:
        assert second.head.weight is second.base.embedding.weight
    if not recipe.meta and not recipe.training:
        assert torch.equal(first(inputs), second(inputs))  # noise of the same seed, too
    first.register_forward_hook(lambda *_: None)
    first.base.note = "a student's"
    assert not hasattr(building.build(recipe).base, "note")
    assert len(building.build(recipe)._forward_hooks) == bool(recipe.noise)


@pytest.mark.parametrize(
    "value",
    [
        torch.arange(6.0).reshape(2, 3).T,
        torch.tensor([1 + 2j]).conj(),
        torch.ones(2, dtype=torch.bfloat16),
        torch.tensor(True).requires_grad_(False),
        nn.Parameter(torch.ones(2)),
        torch.empty(0, 3),
        torch.empty(2, device="meta"),
        [1, (2.5, float("inf")), {"a": torch.ones(1)}, {2: "two", (1, "é"): None}],
        {3, 4},
        np.float64(0.5),
        2**70,
        sympy.Symbol("x") + 1,
        object(),
        _tied(),
    ],
)
def test_a_fresh_copy_is_what_comes_back_from_text(value: Any) -> None:
    through_text, fresh = plain.decode(plain.encode(value)), plain.fresh(value)
    assert type(fresh) is type(through_text)
    assert plain.encode(fresh) == plain.encode(through_text)
    if isinstance(fresh, Tensor):
        assert fresh.is_contiguous()
        assert fresh.stride() == through_text.stride()
        assert not fresh.requires_grad
        fresh.zero_()
        assert plain.encode(plain.fresh(value)) == plain.encode(through_text)


def test_a_fresh_copy_has_the_limits_of_plain_values() -> None:
    nested: list[Any] = []
    for _ in range(50):
        nested = [nested]
    for value in (nested, [0] * 30_000, torch.zeros(10_000_000), {str(n): n for n in range(2_000)}):
        with pytest.raises(plain.NotPlain):
            plain.encode(value)
        with pytest.raises(plain.NotPlain):
            plain.fresh(value)
