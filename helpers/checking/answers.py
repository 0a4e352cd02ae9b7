"""Ask an answer: call what a student wrote with plain inputs, and take plain values back.

An answer is a function, or a class of `nn.Module`. Whoever asks sees only `Ask` and `Reply`, both plain, so the same
question can be put to code in this process (`InProcess`) or in another one. Asking never changes the student's
objects: inputs are fresh copies, and random state, gradient mode, warnings and printed output are put back.
"""

from __future__ import annotations

import ctypes
import inspect
import random
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from io import StringIO
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from helpers.checking import plain, recorded, returned

DRAWS = 600  # enough to tell shares to 5 %
STUB = "Replace this line by your answer"  # what the unanswered cells of a released notebook raise


class TooSlow(BaseException):
    """Raised inside an answer that has used up its time. Not an `Exception`, so `except Exception` lets it pass."""


@dataclass(frozen=True)
class Ask:
    """One question: the inputs of a call, and for an expression the values at which to look at it.

    Args:
        inputs, keywords: plain values for the call.
        at: values of the symbols of a sympy answer, as `{"L": 5}`.
        build: for a module answer, the arguments of its constructor; the call is then made on the module.
        weights: for a module answer, tensors for its parameters by name, or a `Model` that has them (with `state`);
            None keeps those of the seed. It is asked in evaluation mode, or with `training` of the `Model` in training.
        take: "result" of the call; "names": the keys of a dict that it returns; or "parameters": names, shapes and
            which are trainable, without a call. Of a model that it returns also "origins", "shared" and "learns",
            as `helpers.checking.returned` explains; "learns" also of a tensor that a model among the inputs has made.
            "seeds": whether generators of the same seed give the same result.
            "draws": a list of what `DRAWS` calls in a row give, which share the inputs and so the generator.
            Of the first model among the inputs, once the call is over: "after", its weights or what it gives for the
            inputs `then`; "mode", training or evaluation. "log": the calls of `Recorded` functions among the inputs.
            "calls": whether the submodule `part` of the model (the first input, or what is built) runs once meanwhile.
        then: for an answer that returns a model, inputs with which that model is called.
        part: the submodule of a returned model to look at or to call, such as "base".
        changes: the inputs, counted from 0, that the call is meant to change; all others must stay as they were.
        entries: patterns such as `*.bias`; of a dict that it returns, only the entries they fit count.
        beside: plain values by name that a measure of the answer needs and the answer does not get.
    """

    inputs: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)
    at: dict[str, Any] | None = None
    build: dict[str, Any] | None = None
    weights: dict[str, Any] | plain.Model | None = None
    take: str = "result"
    entries: tuple[str, ...] = ()
    then: tuple[Any, ...] | None = None
    part: str = ""
    changes: tuple[int, ...] = ()
    beside: dict[str, Any] = field(default_factory=dict)

    def encode(self) -> dict[str, Any]:
        """Returns JSON-ready data, without the parts left at their defaults."""
        return {
            name: plain.encode(value) for name, value in vars(self).items() if value not in ((), {}, None, "result", "")
        }

    @classmethod
    def decode(cls, data: dict[str, Any]) -> Ask:
        """Returns the `Ask` that `encode` was given."""
        return cls(**{name: plain.decode(value) for name, value in data.items()})


@dataclass(frozen=True)
class Reply:
    """What came back: `outcome` is "value", "not attempted", "crashed", "late" or "unreadable".

    `value` is plain. `error` says in one sentence what went wrong, `error_types` names the exception's
    classes, and `place` the line of the notebook's cell where it happened. `changed_inputs` says whether the call has
    changed an input that it should not, also when it ended with an exception.
    """

    outcome: str
    value: Any = None
    error: str = ""
    error_types: tuple[str, ...] = ()
    place: str = ""
    printed: str = ""
    changed_inputs: bool = False

    @property
    def error_type(self) -> str:
        """The name of the exception's class, "" when there was none."""
        return self.error_types[0] if self.error_types else ""


class Answer(Protocol):
    """The one interface between an exercise and an answer, wherever the answer runs."""

    def ask(self, question: Ask, seconds: float) -> Reply:
        """Returns the reply to one question, after at most about `seconds`."""

    def spent(self) -> float:
        """Returns the time used so far, in seconds of the answer's own clock."""


class InProcess:
    """An answer that runs in this very process: for `check()`, for plain nbgrader and for known mistakes."""

    def __init__(self, answer: Any, clock: str = "wall") -> None:
        self.answer, self.clock = answer, clock

    def spent(self) -> float:
        """Returns the time used so far, in seconds of the answer's own clock."""
        return time.monotonic() if self.clock == "wall" else time.process_time()

    def ask(self, question: Ask, seconds: float = 2.0) -> Reply:
        """Returns the reply to one question, after at most about `seconds`."""
        question = Ask.decode(question.encode())  # fresh copies, and proof that the question is plain
        printed, inputs, before = StringIO(), list[Any](), list[Any]()
        try:
            for value in question.inputs:
                inputs.append(_optimizer(value, inputs) if isinstance(value, plain.Optimizer) else _real(value))
            keywords = {name: _real(value) for name, value in question.keywords.items()}
            before = [plain.encode(returned.view_of(value)) for value in inputs]
            with ExitStack() as stack:
                stack.enter_context(_state_kept())
                stack.enter_context(output_kept(printed))
                stack.enter_context(time_limit(seconds, self.clock))
                result = self._call(question, inputs, keywords, before)
                data = plain.encode(result)
            changed = _changed(question, inputs, before)
            return Reply("value", plain.decode(data), printed=_shortened(printed), changed_inputs=changed)
        except TooSlow:
            return Reply(
                "late",
                error=f"it was stopped after {seconds:.1f} s; is there a loop that never ends?",
            )
        except plain.NotPlain as problem:
            return Reply("unreadable", error=f"the result cannot be read: {problem}")
        except NotImplementedError as problem:
            if STUB in str(problem) or not str(problem):
                return Reply("not attempted", error="nothing to check yet: this cell is still to be written")
            return _crash(problem, printed, _changed(question, inputs, before))
        except (Exception, SystemExit, KeyboardInterrupt) as problem:
            if isinstance(problem, KeyboardInterrupt) and _interrupted_by_user(problem):
                raise
            return _crash(problem, printed, _changed(question, inputs, before))

    def _call(self, question: Ask, inputs: list[Any], keywords: dict[str, Any], before: list[Any]) -> Any:
        if question.build is None:
            stay = [value for n, value in enumerate(inputs) if n not in question.changes]
            memory = [tensor for value in stay for tensor in returned.weights_of(value).values()]
            if question.take == "calls":
                return returned.calls(inputs[0], question.part, lambda: self.answer(*inputs, **keywords))
            if question.take == "draws":
                return [self.answer(*inputs, **keywords) for _ in range(DRAWS)]
            if question.take == "log":
                return recorded.log(inputs, lambda: self.answer(*inputs, **keywords))
            result = self.answer(*inputs, **keywords)
            if question.take in ("after", "mode"):
                return _left(question, next(value for value in inputs if isinstance(value, nn.Module)))
            if question.take == "seeds":
                return None if result is None else self._by_seed(question, result)
            if question.take == "learns" and not isinstance(result, nn.Module | torch.Tensor):
                return result
            if question.take == "learns" and isinstance(result, torch.Tensor):
                return returned.reached(result, next(value for value in inputs if isinstance(value, nn.Module)))
            if question.then is not None or question.take in returned.TAKES:
                then = None if question.then is None else [_real(value) for value in question.then]
                views = [plain.decode(view) for view in before] if question.take == "origins" else []
                result = returned.see(result, question.take, question.part, then, views, memory)
            return _taken(question, result)
        module = self.answer(**question.build)
        if not isinstance(module, nn.Module):
            raise TypeError(f"expected a class of nn.Module, got one that makes a {type(module).__name__}")
        if question.take == "parameters":
            return returned.parameters(module)
        if question.weights is not None:
            module.load_state_dict(_real(question.weights))
        module.train(isinstance(question.weights, plain.Model) and question.weights.training)
        if question.take == "calls":
            return returned.calls(module, question.part, lambda: module(*inputs, **keywords))
        return module(*inputs, **keywords)

    def _by_seed(self, question: Ask, first: Any) -> dict[str, str]:
        """Returns whether generators of the same seed give the result `first` again, and others do not.

        Another one is a generator of another seed, and one that an earlier call has drawn from.
        """

        def same(shift: int, calls: int = 1) -> str:
            inputs = [replace(v, seed=v.seed + shift) if isinstance(v, plain.Generator) else v for v in question.inputs]
            keywords = {name: _real(value) for name, value in question.keywords.items()}
            given = [_real(value) for value in inputs]
            for _ in range(calls):
                result = self.answer(*given, **keywords)
            return "the same result" if plain.encode(result) == plain.encode(first) else "another result"

        return {"the same seed again": same(0), "another seed": same(1), "the same generator once more": same(0, 2)}


def _taken(question: Ask, result: Any) -> Any:
    """Returns the part of a result that the question is about: all of it, but for dicts maybe less."""
    if not isinstance(result, dict):
        return result
    if question.take == "names":
        return {str(name) for name in result}
    if not question.entries:
        return result
    return {k: v for k, v in result.items() if any(fnmatch(str(k), p) for p in question.entries)}


def _real(value: Any) -> Any:
    """Returns what the answer gets for a plain value: models are built, expressions become sympy's."""
    if isinstance(value, plain.Model):
        from helpers import models

        kinds: dict[str, Any] = {name: kind for name, kind in vars(models).items() if inspect.isclass(kind)}
        if value.name in ("Batch", "Vocabulary"):
            from helpers import data

            return {"Batch": data.Batch, "Vocabulary": data.Vocabulary}[value.name](**value.arguments)
        with torch.random.fork_rng(devices=[]):
            seed_torch(value.seed)
            model = kinds[value.name](**_real(value.arguments)).eval()
        if value.tie:
            _tie(model, *value.tie)
        if value.spread:
            _shake(model, value.spread, torch.Generator().manual_seed(value.seed))
        for name, parameter in model.named_parameters():
            if name.startswith(value.freeze):
                parameter.requires_grad_(False)
            elif value.gradients:
                parameter.grad = torch.full_like(parameter, value.gradients)
        if value.noise:
            generator = torch.Generator().manual_seed(value.seed)
            model.register_forward_hook(lambda module, inputs, output: _noisy(output, value.noise, generator))
        model.train(value.training)
        return {name: weight.clone() for name, weight in model.state_dict().items()} if value.state else model
    if isinstance(value, plain.Generator):
        return torch.Generator().manual_seed(value.seed)
    if isinstance(value, plain.Recorded):
        return recorded.Recording(value)
    if isinstance(value, plain.Expression):
        return value.to_sympy()
    if isinstance(value, list | tuple):
        return type(value)(_real(item) for item in value)
    if isinstance(value, dict):
        return {key: _real(item) for key, item in value.items()}
    return value


def _optimizer(recipe: plain.Optimizer, inputs: list[Any]) -> torch.optim.Optimizer:
    """Returns the optimizer of the first model among the inputs made so far."""
    kind = {"SGD": torch.optim.SGD, "Adam": torch.optim.Adam, "AdamW": torch.optim.AdamW}[recipe.name]
    model: nn.Module = next(value for value in inputs if isinstance(value, nn.Module))
    made: torch.optim.Optimizer = kind([p for p in model.parameters() if p.requires_grad], lr=recipe.lr)
    return made


def _left(question: Ask, model: nn.Module) -> Any:
    """Returns what a call has made of a model that was given to it: see `Ask.take`."""
    if question.take == "mode":
        return "training mode" if model.training else "evaluation mode"
    if question.then is None:
        return dict(model.state_dict())
    return returned.see(model, "result", question.part, [_real(value) for value in question.then], [], [])


def _tie(model: nn.Module, name: str, shared: str) -> None:
    """Makes the parameter `name` the very same object as the parameter `shared`."""
    owner, _, leaf = name.rpartition(".")
    setattr(model.get_submodule(owner), leaf, model.get_parameter(shared))


def _shake(model: nn.Module, size: float, generator: torch.Generator) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=size)


def _noisy(output: torch.Tensor, size: float, generator: torch.Generator) -> torch.Tensor:
    return output + size * torch.randn(output.shape, generator=generator)


def _changed(question: Ask, inputs: list[Any], before: list[Any]) -> bool:
    """Says whether an input that must stay as it was is no longer what it was before the call."""
    pairs = [pair for n, pair in enumerate(zip(inputs, before, strict=False)) if n not in question.changes]
    try:
        return any(plain.encode(returned.view_of(value)) != was for value, was in pairs)
    except Exception:  # noqa: BLE001 - what a call has made unreadable is changed
        return True


def _crash(problem: BaseException, printed: StringIO, changed: bool) -> Reply:
    kinds = tuple(kind.__name__ for kind in type(problem).__mro__ if kind is not object)
    place = ""
    for frame in reversed(traceback.extract_tb(problem.__traceback__)):
        if "ipykernel" in frame.filename or frame.filename.startswith("<"):  # a cell of the notebook
            place = f" (line {frame.lineno} of the cell: {(frame.line or '').strip()[:120]})".replace(": )", ")")
            break
    try:
        message = " ".join(str(problem).split())[:300]
    except Exception as second:  # noqa: BLE001 - a student's own exception class may fail in any way
        message = f"an exception whose text cannot be read ({type(second).__name__})"
    text = f"{type(problem).__name__}: {message}" if message else type(problem).__name__
    return Reply("crashed", None, text, kinds, place, _shortened(printed), changed)


def _interrupted_by_user(problem: KeyboardInterrupt) -> bool:
    """Says whether Ctrl-C came from the user (Python's own handler) and not from a `raise` in the answer."""
    frames = traceback.extract_tb(problem.__traceback__)
    return not (frames and "KeyboardInterrupt" in (frames[-1].line or ""))


def _shortened(printed: StringIO) -> str:
    return printed.getvalue()[:500]


def seed_torch(seed: int) -> None:
    """Seeds PyTorch's generator, and those of GPUs where these are in use.

    `torch.manual_seed` also keeps a list of what to do once CUDA starts, with a stack trace for each entry: it grows
    with every call and takes a thousand times as long.
    """
    if torch.cuda.is_initialized():
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


@contextmanager
def _state_kept() -> Iterator[None]:
    """Puts back random state, gradient mode, default dtype and warning filters; seeds them for the answer."""
    python, numpy, grad = random.getstate(), np.random.get_state(), torch.is_grad_enabled()
    dtype = torch.get_default_dtype()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices=devices), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        random.seed(0)
        np.random.seed(0)
        seed_torch(0)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)
            torch.set_grad_enabled(grad)
            torch.set_default_dtype(dtype)


class _Limited(StringIO):
    def write(self, text: str) -> int:
        if self.tell() < 10_000:
            super().write(text[:10_000])
        return len(text)


@contextmanager
def output_kept(printed: StringIO) -> Iterator[None]:
    """Sends what the answer prints or displays to `printed`, so that it cannot count as an error or a mark."""
    capped = _Limited()
    try:
        with ExitStack() as stack:
            stack.enter_context(_display_kept())
            stack.enter_context(redirect_stdout(capped))
            stack.enter_context(redirect_stderr(capped))
            yield
    finally:
        printed.write(capped.getvalue())


@contextmanager
def _display_kept() -> Iterator[None]:
    """Drops what the answer displays, when IPython is there to display it."""
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None:
        yield
        return
    before, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
    try:
        yield
    finally:
        shell.display_pub = before


@contextmanager
def time_limit(seconds: float, clock: str = "wall") -> Iterator[None]:
    """Raises `TooSlow` in this thread when the body runs longer than `seconds`, and again while it goes on.

    `clock` is "wall", or "cpu" to count the time of the processor only, fair on a slow or busy machine.

    By an alarm signal where there is one (it ends `sleep` too), else by an asynchronous exception.
    """
    seconds = max(seconds, 0.01)
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():

        def ring(number: int, frame: Any) -> None:
            raise TooSlow

        timer, number = (
            (signal.ITIMER_REAL, signal.SIGALRM) if clock == "wall" else (signal.ITIMER_PROF, signal.SIGPROF)
        )
        before = signal.signal(number, ring)
        signal.setitimer(timer, seconds, 0.2)
        try:
            yield
        finally:
            signal.setitimer(timer, 0)
            signal.signal(number, before)
        return

    done, thread = threading.Event(), threading.get_ident()

    def watch() -> None:
        wait = seconds
        while not done.wait(wait):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TooSlow))
            wait = 0.2

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def timed(answer: Answer, questions: list[Ask], seconds: float) -> Iterator[Reply]:
    """Yields the reply to each question; all of them together get `seconds`. After a late reply the rest are late."""
    end, late = answer.spent() + seconds, False
    for question in questions:
        left = end - answer.spent()
        if late or left <= 0:
            yield Reply("late", error="the time for this exercise was used up")
            continue
        reply = answer.ask(question, left)
        late = reply.outcome == "late"
        yield reply
