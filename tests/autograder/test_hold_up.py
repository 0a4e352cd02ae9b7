"""A class in which some try to hold whoever grades: the run ends, and every honest mark is as without them."""

import socket
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import hold_up
from grading.autograder import run as autograde
from grading.autograder.grade_submission import Budget
from grading.autograder.outcome import GRADED, Outcome
from grading.folder.course import Course
from grading.sandbox import student_process
from grading.sandbox.fork_server import ForkServer
from grading.sandbox.serve import ChannelError, receive
from grading.sandbox.student_process import STANDSTILL, WAITING, Pace, Patience
from grading.sandbox.supervision import Work

pytestmark = pytest.mark.all


@pytest.mark.sandbox
def test_honest_marks_are_the_same_among_submissions_that_cost_much(tmp_path: Path) -> None:
    names = hold_up.make(tmp_path, honest=4, hostile=6)
    course, budget = Course(tmp_path), Budget(idle=6.0)
    with ForkServer() as fork_server:
        alone = autograde.run(
            autograde.Settings(course, students=names, workers=2, progress=False, budget=budget), fork_server
        )
        both = autograde.run(
            autograde.Settings(course, workers=2, progress=False, budget=budget, force=True), fork_server
        )
    before, after = ({one.student: one for one in outcomes} for outcomes in (alone, both))
    assert len(after) == 10
    assert all(one.state == GRADED for one in after.values()), after
    assert {name: after[name].score for name in names} == {name: before[name].score for name in names}
    assert all(not after[name].odd for name in names)
    hostile = [one for name, one in after.items() if name not in names]
    assert all(one.score == 0 for one in hostile)
    assert [one.student for one in hostile if "dear" in one.student and not one.odd] == []


@pytest.mark.sandbox
def test_a_fork_server_that_is_killed_costs_nobody(tmp_path: Path) -> None:
    """As when memory runs out and the system ends it: workers start others in its place."""
    hold_up.make(tmp_path, honest=4, hostile=0)
    course, runs = Course(tmp_path), list[dict[str, float | None]]()
    with ForkServer() as fork_server:

        def kill(outcome: Outcome) -> None:
            fork_server._process.kill()

        for _ in range(2):  # in the second it has ended before the first submission
            settings = autograde.Settings(course, workers=2, progress=False, force=True)
            runs.append({one.student: one.score for one in autograde.run(settings, fork_server, kill)})
    assert sorted(filter(None, runs[0].values())) == [1.25, 6.0, 14.0]
    assert runs[0] == runs[1]


# --- how long a process is waited for ---------------------------------------------------------------------------------


def works(share: float, *, ready: bool = False, blocked: bool = False) -> Callable[[int], Work]:
    """Returns what a process has done after so many seconds that uses this share of a CPU."""
    return lambda now: Work(share * now, ready, blocked)


def waited_for(
    monkeypatch: pytest.MonkeyPatch, does: Callable[[int], Work], standstill: float, patience: Patience
) -> int:
    """Returns after how many looks, one each second, a process is no longer waited for; 300 when it still is."""
    clock = [0]
    monkeypatch.setattr(student_process, "time", SimpleNamespace(monotonic=lambda: float(clock[0])))
    monkeypatch.setattr(student_process, "at_work", lambda pid: does(clock[0]))
    watch = student_process._Standstill(1, standstill, patience)
    for second in range(1, 300):
        clock[0] = second
        try:
            watch.look()
        except ChannelError:
            return second
    return 300


@pytest.mark.parametrize(("does", "standstill", "least", "most"), [
    pytest.param(works(1.0, ready=True), STANDSTILL, 300, 300, id="it works"),
    pytest.param(works(0.01, ready=True), STANDSTILL, 300, 300, id="it waits for a processor"),
    pytest.param(works(0.01), STANDSTILL, 10, 12, id="an answer sleeps"),
    pytest.param(works(0.0, blocked=True), STANDSTILL, 15, 18, id="an answer waits for a child by vfork"),
    pytest.param(works(0.04, blocked=True), STANDSTILL, 15, 20, id="the same, and works a little beside"),
    pytest.param(works(0.01), WAITING, 30, 32, id="a cell sleeps"),
    pytest.param(works(0.06), STANDSTILL, 45, 50, id="it works a little more than a standstill"),
    pytest.param(works(0.5), STANDSTILL, 90, 93, id="it works half of the time"),
    pytest.param(lambda now: Work(max(0, now - 13), now > 13, False), WAITING, 300, 300, id="a download, then work"),
])  # fmt: skip
def test_who_waits_is_waited_for_a_while(
    monkeypatch: pytest.MonkeyPatch, does: Callable[[int], Work], standstill: float, least: int, most: int
) -> None:
    assert least <= waited_for(monkeypatch, does, standstill, Patience(idle=Budget().idle)) <= most


def test_others_may_work_in_the_place_of_who_hardly_works(monkeypatch: pytest.MonkeyPatch) -> None:
    paces: list[Pace] = []
    patience = Patience(idle=20.0, on_pace=paces.append)
    assert waited_for(monkeypatch, works(0.06), STANDSTILL, patience) < 30
    assert paces == [Pace.IDLE]
    assert patience.has_waited
    waited_for(monkeypatch, lambda now: Work(now, now > 20, False), WAITING, Patience(on_pace=paces.append))
    assert paces == [Pace.IDLE]  # it works all the time
    waited_for(monkeypatch, lambda now: Work(max(0, now - 9), now > 9, False), WAITING, Patience(on_pace=paces.append))
    assert paces == [Pace.IDLE, Pace.IDLE, Pace.RUNNING]


def test_the_time_that_is_counted_is_what_was_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process says of its own time counts only where it is more."""
    seconds = iter(range(100))
    monkeypatch.setattr(student_process, "at_work", lambda pid: works(1.0, ready=True)(next(seconds)))
    watch = student_process._Standstill(1, STANDSTILL, Patience())
    for _ in range(6):
        watch.look()
    assert watch.cpu == 5.0


def test_who_drips_is_not_looked_at_just_when_something_came() -> None:
    """Such a look would find it at work each time on a busy machine, and it would be waited for as long as it drips."""
    ours, theirs = socket.socketpair()
    looks, stop, came = list[float](), threading.Event(), [0.0]

    def drip() -> None:
        theirs.sendall(struct.pack(">I", 1 << 20))
        while not stop.wait(0.3):
            came[0] = time.monotonic()
            theirs.sendall(b"[")

    def look() -> None:
        looks.append(time.monotonic() - came[0])
        if len(looks) == 8:
            raise ChannelError("seen enough")

    sender = threading.Thread(target=drip)
    sender.start()
    try:
        with pytest.raises(ChannelError, match="enough"):
            receive(ours, 60, look)
    finally:
        stop.set()
        sender.join()
        ours.close()
        theirs.close()
    assert sorted(looks)[4] > 0.02  # about half of 0.3 s; right after a byte it is less than a millisecond
