"""What a kernel says of a cell that cannot run yet: one sentence in place of a page of red.

A kernel that starts for a notebook of the course loads this as an extension: `make lab` and the
students' wheel bring a line of configuration that says so (`deploy/ipython/`). Elsewhere, as in Colab before its first
restart, importing `tutor.checks` in a notebook calls `watch`. From then on
- a cell that needs an exercise without an answer says which one, and counts as run, so that "Run All" goes on;
- a cell that needs a variable of another cell, which has not run or has failed, says so;
- `check` knows when the last run of an answer's cell has failed.

All other errors are shown as ever. Under nbgrader, where marks are given, and under Validate nothing of this acts;
there a cell may use so much CPU time, for nbgrader itself counts wall-clock time. Everywhere what a cell shows is
cut where nobody would read on (`tutor.output`).
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from types import CodeType, TracebackType
from typing import Any

from tutor.checking.clock import time_limit
from tutor.checking.globals_used import functions_of, names_bound
from tutor.checking.slips import RAISED_ABOVE, is_raised_above
from tutor.checking.texts import name_of_error
from tutor.notebooks import notebooks, opened
from tutor.output import limit_output

CELL_SECONDS = 60  # of CPU time that a cell may use under nbgrader; nbgrader_config.py allows more wall-clock time


@dataclass(frozen=True)
class Message:
    """The sentence in place of a traceback; `waits_for` is the exercise without an answer, else ""."""

    sentence: str
    waits_for: str = ""


@dataclass(frozen=True)
class Failed:
    """Why a variable is not there: the run of its cell ended in an error, or waited for an exercise."""

    error: str
    waits_for: str = ""


class Watch:
    """Looks on as cells run in one kernel."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.exercises = {exercise for notebook in notebooks().values() for exercise in notebook.exercises}
        self.missing: dict[str, Failed] = {}  # by the variable that is not there, or is an older one
        self._before: dict[str, Any] = {}  # the answers before the cell that runs now
        self._replaced: tuple[BaseException, Message] | None = None
        self._show = shell.showtraceback
        shell.showtraceback = self._show_or_replace  # also what sliders call for an error
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)

    def _begin(self, info: Any) -> None:
        self._before = {name: self.shell.user_ns.get(name) for name in self.exercises}

    def _end(self, result: Any) -> None:
        """Notes which variables a cell that failed has not made; one that waits for an answer has not failed."""
        if result is None:  # the kernel was interrupted before the cell began
            return
        problem = result.error_before_exec or result.error_in_exec
        waits_for = ""
        if self._replaced is not None and self._replaced[0] is problem and self._replaced[1].waits_for:
            waits_for = self._replaced[1].waits_for
            result.error_in_exec = None
        for name in names_bound(self.shell.transform_cell(result.info.raw_cell)):
            value = self.shell.user_ns.get(name)
            is_old = name in self.exercises and value is self._before.get(name)
            if problem is not None and (value is None or is_old):
                self.missing[name] = Failed(name_of_error(problem), waits_for)
            else:
                self.missing.pop(name, None)
        self._before, self._replaced = {}, None

    def _show_or_replace(self, exc_tuple: Any = None, *arguments: Any, **options: Any) -> None:
        problem = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
        message = self.message_for(problem)
        if problem is None or message is None:
            self._show(exc_tuple, *arguments, **options)
            return
        self._replaced = (problem, message)
        print(message.sentence)

    def message_for(self, problem: Any) -> Message | None:
        """Returns what to say in place of the traceback of an error, None where the traceback is what helps."""
        if not isinstance(problem, NotImplementedError | NameError) or problem.__traceback__ is None:
            return None
        frame = _innermost(problem.__traceback__).tb_frame
        if isinstance(problem, NotImplementedError):
            exercise = self._exercise_of(frame.f_code)
            sentence = f"Not yet: this cell needs your `{exercise}`, which is still to be written."
            if is_raised_above(problem):
                sentence = f"Not yet: this cell needs your `{exercise}`, and there {RAISED_ABOVE}."
            return Message(sentence, exercise) if exercise else None
        if type(problem) is not NameError or problem.name is None or frame.f_globals is not self.shell.user_ns:
            return None
        return self._message_for_name(problem.name, in_cell=frame.f_code.co_name.startswith("<"))

    def _message_for_name(self, name: str, *, in_cell: bool) -> Message | None:
        failed = self.missing.get(name)
        if failed is not None and failed.waits_for:
            sentence = f"Not yet: this cell needs `{name}`, which waits for your `{failed.waits_for}`."
            return Message(sentence, failed.waits_for)
        if failed is not None:
            return Message(
                f"`{name}` is not there: its cell stopped with a {failed.error}. Mend that cell and run it first."
            )
        notebook = opened(self.shell.user_ns)
        known = notebook.names if notebook else {one for other in notebooks().values() for one in other.names}
        if not in_cell or name not in known:
            return None
        return Message(f"`{name}` is not there yet: run the cells above first (menu Run, Run All Above Selected Cell).")

    def _exercise_of(self, code: CodeType) -> str:
        """Returns the exercise whose answer has this code, "" when none has."""
        answers = {name: self.shell.user_ns[name] for name in self.exercises if name in self.shell.user_ns}
        found = (name for name, answer in answers.items() if code in [one.__code__ for one in functions_of(answer)])
        return next(found, "")


def _innermost(traceback: TracebackType) -> TracebackType:
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


class CellLimit:
    """Ends a cell that has used up its CPU time."""

    def __init__(self, shell: Any) -> None:
        self._running = ExitStack()
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)

    def _begin(self, info: Any) -> None:
        self._running.close()
        self._running.enter_context(time_limit(CELL_SECONDS, again=False))  # IPython shows the error undisturbed

    def _end(self, result: Any) -> None:
        self._running.close()


_watch: Watch | CellLimit | None = None


def watch() -> None:
    """Begins to look on, once, in a notebook's kernel: for a person at work, or for nbgrader."""
    global _watch
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if not hasattr(shell, "kernel"):
        return
    limit_output(shell.kernel.session)
    if _watch is None:
        _watch = CellLimit(shell) if "NBGRADER_EXECUTION" in os.environ else Watch(shell)


def load_ipython_extension(shell: Any) -> None:
    """Begins to look on before any cell has run, where the kernel's notebook is one of the course."""
    if opened(shell.user_ns) is not None:
        watch()
    elif hasattr(shell, "kernel"):
        limit_output(shell.kernel.session)


def not_run(exercise: str) -> str:
    """Returns a sentence when the last run of an answer's cell has failed and left an older answer, else ""."""
    failed = _watch.missing.get(exercise) if isinstance(_watch, Watch) else None
    if failed is None:
        return ""
    return (
        f"The last run of its cell stopped with a {failed.error}; what there is comes from an earlier run. "
        "Mend the cell, run it, and then this check."
    )
