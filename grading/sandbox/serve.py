"""The student's side of safe grading: run cells and answer questions over a socket, holding no solution of any kind.

A message is four bytes of length and then JSON. Requests are `{"file": path, "data": base64}`, `{"cell": source}` and
`{"ask": name, "question": {...}, "seconds": s}`; replies say what happened in plain values. Whoever grades keeps the
right answers and compares there, in another process.
"""

from __future__ import annotations

import base64
import builtins
import contextlib
import json
import os
import pdb
import random
import re
import socket
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

from tutor.checking import forwarding, plain
from tutor.checking.answers import LATE, NOT_ATTEMPTED, PLACE, UNREADABLE, InProcess, Question, Reply, find
from tutor.checking.clock import TooSlow, time_limit
from tutor.checking.limits import output_kept, usual_defaults
from tutor.checking.model_probes import CHANGES
from tutor.checking.slips import RAISED_ABOVE
from tutor.checking.texts import SYNTAX_ERRORS, is_latin_name, name_of_error, one_line
from tutor.checking.untouched import nameless

MAX_MESSAGE = 45 << 20  # bytes: the largest value that is plain, a tensor, written as text
MAX_PARTS = 200_000  # the most that a plain value can have is 20,000, of a few signs each
NAMELESS = ("tutor.checking.untouched", "tutor.checking.forwarding")  # what is at work as a copy
_MOMENTS = random.Random()  # when to look: at no time that the other side could know


class ChannelError(ConnectionError):
    """The other side has ended, is too late, or sends what is not a message."""


class ProcessEnded(ChannelError):
    """The other side has ended."""


class NoMessage(ChannelError):
    """The other side sends what is not a message."""


def send(
    channel: socket.socket, message: Any, seconds: float | None = None, each_second: Callable[[], None] = lambda: None
) -> None:
    """Sends one message, which the other side must have taken after `seconds`.

    While it takes nothing, `each_second` is called about once a second; what that raises ends the waiting.

    Raises:
        ChannelError: when the other side has ended, or is too late.
    """
    end = None if seconds is None else time.monotonic() + seconds
    data = json.dumps(message).encode()
    rest = memoryview(struct.pack(">I", len(data)) + data)
    next_look = _next_look()
    while rest:
        with contextlib.suppress(TimeoutError):
            _wait_until(channel, end, next_look)
            rest = rest[channel.send(rest) :]
        if rest and end is not None and time.monotonic() >= end:
            raise ChannelError("it takes no question")
        if time.monotonic() >= next_look:
            each_second()
            next_look = _next_look()


def _next_look() -> float:
    """Returns when to look next at what the other side does: in a second or so.

    A look right after something has come would find the other side at work each time, however little it does.
    """
    return time.monotonic() + _MOMENTS.uniform(0.5, 1.5)


def _wait_until(channel: socket.socket, end: float | None, next_look: float) -> None:
    """Has the next call on a socket wait until `next_look` or `end`; without an end, as long as it takes."""
    if end is not None:
        channel.settimeout(max(0.001, min(end, next_look) - time.monotonic()))


def receive(
    channel: socket.socket, seconds: float | None = None, each_second: Callable[[], None] = lambda: None
) -> Any:
    """Returns the next message, which must be whole after `seconds`.

    Until it is whole, `each_second` is called about once a second; what it raises ends the waiting.

    Raises:
        ChannelError: when the other side has ended or is too late; `NoMessage` when it sends something else.
    """
    end = None if seconds is None else time.monotonic() + seconds
    (size,) = struct.unpack(">I", _read(channel, 4, end, each_second))
    if size > MAX_MESSAGE:
        raise NoMessage(f"it has sent a message of {size >> 20} MB; at most {MAX_MESSAGE >> 20} MB are read")
    data = _read(channel, size, end, each_second)
    if sum(data.count(sign) for sign in (b",", b"[", b"{")) > MAX_PARTS:  # each part may take 30 times its text
        raise NoMessage("it has sent a message of too many parts")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise NoMessage("it has sent a message that is not JSON") from problem


def _read(channel: socket.socket, size: int, end: float | None, each_second: Callable[[], None]) -> bytes:
    parts, next_look = bytearray(), _next_look()
    while len(parts) < size:
        with contextlib.suppress(TimeoutError):
            _wait_until(channel, end, next_look)
            part = channel.recv(min(size - len(parts), 1 << 20))
            if part == b"":
                raise ProcessEnded("its process has ended")
            parts += part
        if end is not None and time.monotonic() >= end and len(parts) < size:  # also while a reply drips
            raise ChannelError("no reply in time")
        if time.monotonic() >= next_look:
            each_second()
            next_look = _next_look()
    return bytes(parts)


def encode_reply(reply: Reply) -> dict[str, Any]:
    """Returns a reply as JSON-ready data."""
    sent = {name: part for name, part in vars(reply).items() if name != "change"}  # which only a notebook shows
    return {**sent, "value": plain.encode(reply.value), "error_types": list(reply.error_types)}


def decode_reply(data: Any) -> Reply:
    """Returns the reply that `encode_reply` was given, but for the sentence on a change. Safe on hostile data.

    Raises:
        plain.NotPlain: when the data is no reply.
    """
    if not isinstance(data, dict) or data.get("outcome") not in OUTCOMES:
        raise plain.NotPlain("the reply is not of the asked form")
    names = data.get("error_types")
    crashed, error = data["outcome"] == "crashed", data.get("error")
    if data["outcome"] != "value" and not (isinstance(error, str) and error):
        raise plain.NotPlain("the reply is not of the asked form")
    if crashed and not (isinstance(names, list) and names):
        raise plain.NotPlain("the reply is not of the asked form")
    place = _text(data.get("place"), 200)
    return Reply(
        data["outcome"],
        plain.decode(data.get("value")),
        _text(data.get("error"), 500),
        tuple(_text(name, 80) for name in names[:20]) if isinstance(names, list) else (),
        place and f" {place}",
        _text(data.get("printed"), 500),
        changed if isinstance(changed := data.get("changed_inputs"), str) and CHANGED.fullmatch(changed) else "",
    )


GENUINE = frozenset({*encode_reply(Reply("value")), "cpu"})  # what every reply of `serve` to a question has
GENUINE_OF_A_CELL = frozenset({"ok", "error", "printed", "defaults", "cpu"})
_KINDS = "|".join(CHANGES)
CHANGED = re.compile(
    rf"(input \d{{1,3}}: ({_KINDS})( and ({_KINDS}))*(; )?){{0,50}}"
)  # a pattern of `Reply.changed_inputs`
OUTCOMES = ("value", "not attempted", "crashed", "late", "unreadable")


def _text(value: Any, longest: int) -> str:
    return one_line(value, longest) if isinstance(value, str) else ""


def in_the_words_of_the_course(reply: Reply) -> bool:
    """Says whether a reply without a value says what `InProcess` says in this place."""
    if reply.outcome == "late":
        return bool(re.fullmatch(LATE, reply.error))
    if reply.outcome == "unreadable":
        return reply.error.startswith(UNREADABLE)
    if reply.outcome == "crashed":
        return not reply.place or bool(re.fullmatch(PLACE, reply.place))
    return reply.outcome != "not attempted" or reply.error in (NOT_ATTEMPTED, RAISED_ABOVE)


def in_own_words(reply: Reply) -> Reply:
    """Returns a reply in which nothing that the answer has made up stands as if the examiner said it."""
    if reply.outcome == "crashed":  # a class may have any name, and nobody is shown the words of the message
        kinds = tuple(name if is_latin_name(name) else f"an error called {name!r}" for name in reply.error_types)
        place = reply.place if in_the_words_of_the_course(reply) else ""
        return replace(reply, error_types=kinds, place=place)
    if in_the_words_of_the_course(reply):
        return reply
    outcome = "unreadable" if reply.outcome == "not attempted" else reply.outcome
    return replace(reply, outcome=outcome, error=f"the answer said: {reply.error!r}")


def make_shell() -> Any:
    """Returns an IPython shell without history, display or threads, ready to be forked."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Shell(InteractiveShell):
        system = InteractiveShell.system_raw  # `!ls` without a terminal, which there is not

        def enable_gui(self, gui: str | None = None) -> None:
            """Does nothing: `%matplotlib inline` is welcome, but there is no screen."""

        def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
            """Runs a line such as `%load_ext x`; where the extension is missing, the rest of the cell still counts."""
            try:
                return super().run_line_magic(magic_name, line, _stack_depth + 1)
            except Exception as problem:  # noqa: BLE001 - whatever it is, it is printed
                print(f"%{magic_name}: {type(problem).__name__}: {problem}")

    settings = Config()
    settings.HistoryManager.enabled = False
    settings.InteractiveShell.colors = "nocolor"
    return Shell.instance(config=settings)


def run_cell(shell: Any, source: str, seconds: float) -> dict[str, Any]:
    """Runs one cell and returns whether it failed, with what error, and what it printed (shortened)."""
    printed = StringIO()
    # A cell may import what the one before has written: here within the same moment, which Python would not notice.
    sys.path_importer_cache.pop(os.getcwd(), None)
    try:
        with output_kept(printed), time_limit(seconds, "cpu"):
            result = shell.run_cell(source, store_history=False, silent=False)
    except TooSlow:
        return {"ok": False, "error": f"the cell was stopped after {seconds:g} s", "printed": ""}
    problem = result.error_before_exec or result.error_in_exec
    if isinstance(problem, TooSlow):
        return {"ok": False, "error": f"the cell was stopped after {seconds:g} s", "printed": ""}
    if problem is None:
        return {"ok": True, "error": "", "printed": printed.getvalue()[:2000]}
    try:
        text = " ".join(str(problem).split())[:300]
    except Exception:  # noqa: BLE001 - a student's own exception class may fail in any way
        text = "its text cannot be read"
    if type(problem) in SYNTAX_ERRORS:
        text = f"{problem.msg} (line {problem.lineno} of the cell: {(problem.text or '').strip()[:120]})"
    return {"ok": False, "error": f"{name_of_error(problem)}: {text}", "printed": printed.getvalue()[:2000]}


def _nobody_is_there() -> None:
    """Answers for the person at the keyboard and the screen: nothing is typed, debugged or shown."""
    import matplotlib as mpl
    from matplotlib import pyplot

    pyplot.switch_backend("agg")  # draws into memory
    sys.path.insert(0, "")  # as in a notebook's kernel: the folder where the cells are at work
    sys.dont_write_bytecode = True  # a module that is written anew within the same second would stay the old one
    builtins.input = lambda prompt="": ""
    sys.breakpointhook = pdb.set_trace = lambda *inputs, **keywords: None
    mpl.use = pyplot.switch_backend = lambda *inputs, **keywords: None


def _put(file: str, data: str) -> dict[str, Any]:
    """Writes a file that lies beside the notebook; says what `run_cell` says."""
    try:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_bytes(base64.b64decode(data))
    except (OSError, ValueError) as problem:
        return {"ok": False, "error": f"{type(problem).__name__}: {problem}", "printed": ""}
    return {"ok": True, "error": "", "printed": ""}


def serve(channel: socket.socket, shell: Any) -> None:
    """Answers requests until the other side ends."""
    _nobody_is_there()
    here, settled = Path.cwd(), False
    untouched, calls = map(nameless, NAMELESS)
    restore, watch = untouched.Untouched().restore, calls.Watch
    calls.hold(forwarding.parts_there())
    while True:
        try:
            request = receive(channel)
        except ChannelError:
            return
        start = time.process_time()
        if "cell" in request:
            reply, settled = run_cell(shell, request["cell"], request["seconds"]), False
            reply["defaults"] = usual_defaults()  # of a device that is not there each later cell would stop
        elif "file" in request:
            reply = _put(request["file"], request["data"])
        else:
            if not settled:  # as the cell of a check in the notebook: `%autoreload` looks for what has changed
                run_cell(shell, "pass", request["seconds"])
                restore()  # after a question it is done where it is asked
            reply, settled = _answer(shell, request, here, restore, watch), True
        send(channel, reply | {"cpu": time.process_time() - start})


def _answer(
    shell: Any, request: dict[str, Any], here: Path, restore: Callable[[], None], watch: type[forwarding.Watch]
) -> dict[str, Any]:
    """Returns the reply to a question."""
    try:
        found = find(shell.user_ns, request["ask"], here)
        answer = InProcess(found, clock="cpu", alone=True, restore=restore, watch=watch)
    except Exception:  # noqa: BLE001 - there is none, or a student's own module looks for it in any way
        name = request["ask"]
        message = f"NameError: after all cells nothing is called {name}: its cell failed, or it is deleted or renamed"
        return encode_reply(Reply("crashed", error=message, error_types=("NameError",)))
    return encode_reply(answer.ask_once(Question.decode(request["question"]), request["seconds"]))
