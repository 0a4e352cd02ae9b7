"""Ask an answer: call what a student wrote with plain inputs, and take plain values back.

An answer is a function, or a class of `nn.Module`. Whoever asks sees only `Question` and `Reply`, both plain, so the
same question can be put to code in this process (`InProcess`) or in another one. Asking never changes the student's
objects: inputs are fresh copies, and random state, gradient mode, warnings and printed output are put back.
"""

from __future__ import annotations

import inspect
import random
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import torch

from tutor.checking import forwarding, model_probes, plain, probes
from tutor.checking.building import build, build_inputs
from tutor.checking.clock import BUSY, PATIENCE, KeptWaiting, Timer, TooSlow, time_limit
from tutor.checking.limits import output_kept, state_kept
from tutor.checking.probes import Question as Question
from tutor.checking.probes.several_notebooks import is_differentiable
from tutor.checking.slips import RAISED_ABOVE, is_in_cell, is_raised_above
from tutor.checking.slips import STUB as STUB

# What replies without a value or an exception say, so that whoever gets them knows them from what an answer makes up.
NOT_ATTEMPTED = "nothing to check yet: this cell is still to be written"
LATE = r"it was stopped after \d+\.\d s; is there a loop that never ends\?"  # a pattern
PLACE = r" \(line \d+ of the cell(: .*)?\)"  # a pattern
UNREADABLE = "the result cannot be read: "  # how it begins


@dataclass(frozen=True)
class Reply:
    """What came back: `outcome` is "value", "not attempted", "crashed", "late" or "unreadable".

    `value` is plain. `error` says in one sentence what went wrong, `error_types` names the exception's
    classes, and `place` the line of the notebook's cell where it happened. `changed_inputs` says which inputs the call
    has changed that it should not, and what of them, also when it ended with an exception: "input 1: mode; input 2:
    numbers", kinds of `model_probes.CHANGES`. `change` says it of the first in one sentence, by the answer's own names.
    """

    outcome: str
    value: Any = None
    error: str = ""
    error_types: tuple[str, ...] = ()
    place: str = ""
    printed: str = ""
    changed_inputs: str = ""
    change: str = ""

    @property
    def error_type(self) -> str:
        """The name of the exception's class, "" when there was none."""
        return self.error_types[0] if self.error_types else ""


class Answer(Protocol):
    """The one interface between an exercise and an answer, wherever the answer runs."""

    def ask(self, question: Question, seconds: float) -> Reply:
        """Returns the reply to one question, after at most about `seconds`."""

    def spent(self) -> float:
        """Returns the time used so far, in seconds of the answer's own clock."""


def find(variables: Mapping[str, Any], name: str, here: Path) -> Any:
    """Returns the answer of this name in a notebook: a variable, or a part of a module beside the notebook.

    Args:
        variables: those of the notebook.
        name: the exercise.
        here: the notebook's folder.

    Raises:
        LookupError: when there is none.
    """
    if name in variables:
        return variables[name]
    for value in list(variables.values()):
        file = getattr(value, "__file__", None) if isinstance(value, ModuleType) else None
        if file and here in Path(file).absolute().parents and hasattr(value, name):
            return getattr(value, name)
    raise LookupError(name)


class InProcess:
    """An answer that runs in this very process: for `check()`, for plain nbgrader and for known mistakes.

    `clock` is that of `time_limit`. `alone` says that nothing but answers runs in the process, so that nobody misses
    the state of random numbers. `restore` puts back what an answer may have changed of the course's own code, before it
    is looked at what the call has done.
    """

    def __init__(
        self,
        answer: Any,
        clock: str = "thread",
        *,
        alone: bool = False,
        restore: Callable[[], None] = lambda: None,
        watch: type[forwarding.Watch] = forwarding.Watch,
    ) -> None:
        self.answer, self.clock, self.alone, self._restore, self._watch = answer, clock, alone, restore, watch
        self._cpu = time.process_time if clock == "cpu" else time.thread_time
        self._start, self._waited, self._asks_again = self._cpu(), 0.0, True

    def spent(self) -> float:
        """Returns the CPU time used so far, or a part of the time that it took, if that is more; in seconds."""
        return max(self._cpu() - self._start, self._waited / PATIENCE)

    def ask(self, question: Question, seconds: float = 2.0) -> Reply:
        """Returns the reply to one question, after at most about `seconds`; whatever the answer does, it is a reply.

        Where the answer was kept waiting, it is asked again: once, since an answer may wait for ever.

        Raises:
            KeyboardInterrupt: when the user, and not the answer, has pressed Ctrl-C.
        """
        waited, reply = self._waited, self.ask_once(question.fresh(), seconds)
        if reply.error == BUSY and self._asks_again:
            self._waited, self._asks_again = waited, False
            reply = self.ask_once(question.fresh(), seconds)
        return reply

    def ask_once(self, question: Question, seconds: float) -> Reply:
        """Returns the reply as `ask` does, to a question that nobody else holds: what it gives may be changed."""
        watch = self._watch(question.forbids)
        reply = self._reply(question, seconds, watch)
        if watch.used:
            named = ", ".join(watch.used)
            return Reply("crashed", error=f"{forwarding.REFUSED}: {named}", error_types=(forwarding.REFUSED,))
        return reply

    def _reply(self, question: Question, seconds: float, watch: forwarding.Watch) -> Reply:
        printed, inputs, before, restore = StringIO(), list[Any](), list[model_probes.State](), self._restore
        try:
            inputs = build_inputs(question.inputs)
            if probes.PROBES[question.probe].asks_gradients:
                _ask_gradients(inputs)
            keywords = {name: build(value) for name, value in question.keywords.items()}
            before = [model_probes.state_of(value) for value in inputs]
            with ExitStack() as stack:
                stack.enter_context(state_kept(generators=not self.alone))
                stack.enter_context(output_kept(printed))
                stack.enter_context(_not_compiled())
                timer = stack.enter_context(time_limit(seconds, self.clock))
                stack.callback(self._count_waiting, timer)
                try:
                    with watch.watching(inputs):
                        taken = probes.probe(probes.prepare(question, self.answer, inputs, keywords, restore))
                finally:
                    restore()
                value = plain.fresh(taken, question.at or {})  # its formulas too take the answer's own time
            changed, sentence = self._changed(question, inputs, before)
            return Reply("value", value, printed=_shortened(printed), changed_inputs=changed, change=sentence)
        except KeptWaiting:
            return Reply("late", error=BUSY)
        except TooSlow:
            late = f"it was stopped after {seconds:.1f} s; is there a loop that never ends?"
            return Reply("late", error=late)
        except plain.NotPlain as problem:
            return Reply("unreadable", error=f"{UNREADABLE}{problem}")
        except NotImplementedError as problem:
            if STUB in str(problem) or not str(problem):
                return Reply("not attempted", error=RAISED_ABOVE if is_raised_above(problem) else NOT_ATTEMPTED)
            return _crash(problem, printed, self._changed(question, inputs, before))
        except (Exception, SystemExit, KeyboardInterrupt) as problem:
            if isinstance(problem, KeyboardInterrupt) and _interrupted_by_user(problem):
                raise
            return _crash(problem, printed, self._changed(question, inputs, before))

    def _changed(self, question: Question, inputs: list[Any], before: list[model_probes.State]) -> tuple[str, str]:
        """Returns which inputs that must stay as they were are no longer so, as `Reply.changed_inputs` and `change`."""
        found, sentence = list[str](), ""
        for n, (value, was) in enumerate(zip(inputs, before, strict=False)):
            if n in question.changes:
                continue
            try:
                now = model_probes.state_of(value)
                if probes.PROBES[question.probe].makes_gradients:
                    was, now = model_probes.without_gradients(was), model_probes.without_gradients(now)
                kinds = model_probes.changes(was, now)
                if kinds and not sentence:
                    sentence = model_probes.change_in_words(self._name_of_input(question, n), was, now)
            except Exception:  # noqa: BLE001 - what a call has made unreadable is changed
                kinds = ["kind"]
            found += [f"input {n + 1}: {' and '.join(kinds)}"] if kinds else []
        return "; ".join(found), sentence

    def _name_of_input(self, question: Question, number: int) -> str:
        """Returns what the answer calls an input, counted from 0; of a module its `forward` does."""
        function = self.answer if question.build is None else getattr(self.answer, "forward", self.answer)
        try:
            names = [name for name in inspect.signature(function).parameters if name != "self"]
        except (TypeError, ValueError):
            names = []
        return names[number] if number < len(names) else f"input {number + 1}"

    def _count_waiting(self, timer: Timer) -> None:
        self._waited += timer.waited


def _ask_gradients(inputs: list[Any]) -> None:
    """Has each input ask for a gradient that can, before the call: one that no longer does after it has changed."""
    for value in inputs:
        if is_differentiable(value):
            value.requires_grad_()


def _not_compiled() -> AbstractContextManager[Any]:
    """Has what `torch.compile` gives run as it was written: it is asked once for each size, and may lack a compiler."""
    return torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else nullcontext()


def _crash(problem: BaseException, printed: StringIO, changed: tuple[str, str]) -> Reply:
    kinds = tuple(kind.__name__ for kind in type(problem).__mro__ if kind is not object)
    place = ""
    for frame in reversed(traceback.extract_tb(problem.__traceback__)):
        if is_in_cell(frame):
            place = f" (line {frame.lineno} of the cell: {(frame.line or '').strip()[:120]})".replace(": )", ")")
            break
    try:
        message = " ".join(str(problem).split())[:300]
    except Exception as second:  # noqa: BLE001 - a student's own exception class may fail in any way
        message = f"an exception whose text cannot be read ({type(second).__name__})"
    text = f"{type(problem).__name__}: {message}" if message else type(problem).__name__
    return Reply("crashed", None, text, kinds, place, _shortened(printed), *changed)


def _interrupted_by_user(problem: KeyboardInterrupt) -> bool:
    """Says whether Ctrl-C came from the user (Python's own handler) and not from a `raise` in the answer."""
    frames = traceback.extract_tb(problem.__traceback__)
    return not (frames and "KeyboardInterrupt" in (frames[-1].line or ""))


def _shortened(printed: StringIO) -> str:
    return printed.getvalue()[:500]


def timed(answer: Answer, questions: list[Question], seconds: float, order: str = "") -> list[Reply]:
    """Returns the reply to each question; all of them together get `seconds`. After a late reply the rest are late.

    With `order`, a seed, they are asked in an order drawn from it, and what is late is the same: of those that would
    come before a late one, all are asked; half of the time more is there for them.
    """
    numbers, replies = list(range(len(questions))), dict[int, Reply]()
    if order:
        random.Random(order).shuffle(numbers)
    end, in_time = answer.spent() + seconds, len(questions)  # all before this one
    for number in numbers:
        left = end - answer.spent()
        if number >= in_time or left <= 0:
            in_time = min(in_time, number)
            continue
        replies[number] = reply = answer.ask(questions[number], left)
        if reply.outcome == "late":
            end += seconds / 2 if in_time == len(questions) else 0.0
            in_time = number
    used_up = Reply("late", error="the time for this exercise was used up")
    return [replies[number] if number in replies and number <= in_time else used_up for number in range(len(questions))]
