"""Grade one submission: a pure function of the answers, the exercises and the seed of its questions."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from grading.autograder.submission import Master, Work, plan
from grading.cells import exercise_of
from grading.examiner import examine
from grading.exercise import Exercise
from grading.names import used
from grading.reading_time import Allowance, TooDear
from grading.sandbox.student_process import ForkServerClient, Pace, Patience, Student
from helpers.checking.answers import Ask, Reply
from helpers.checking.serve import ChannelError, ProcessEnded
from helpers.checking.verdict import Verdict


@dataclass(frozen=True)
class Budget:
    """What grading may take: processor seconds for one cell, for one exercise's questions, and for a notebook.

    A notebook gets `notebook` seconds, and `each` for each of its exercises. Where its further cells have used them up,
    the answers by themselves get `alone` seconds more. To read and compare the replies to one exercise's questions may
    take the examiner `reading` seconds, and `READ_IN_ALL` times as long for all together. `wall` are seconds by the
    clock on the wall in which a submission's processes are waited for, whatever they do, and `idle` those of them in
    which they wait for anything but a processor.
    """

    cell: float = 20.0
    exercise: float = 10.0
    notebook: float = 30.0
    each: float = 3.0
    alone: float = 10.0
    reading: float = 4.0
    wall: float = 120.0
    idle: float = 45.0


USED_UP = "the time for this notebook was used up"
TOO_DEAR = "its replies cost too much to read"
READ_IN_ALL = 2
STARTS = 10  # processes that one submission gets, and two more for each exercise: each new one runs its cells again


@dataclass
class Graded:
    """The verdicts on one submission, the errors of its cells, and where the time went.

    `seconds` are by part of the work; `spent` is the processor time of each exercise's answers. `odd` says in sentences
    for whoever looks after the class what an honest submission does not do; `dear` whether reading was broken off.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    put_right: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)
    left: float = math.inf  # of the notebook's time
    odd: list[str] = field(default_factory=list)
    dear: bool = False


@dataclass(frozen=True)
class DeadAnswer:
    """An `Answer` that is never asked, and why."""

    reason: str

    def ask(self, question: Ask, seconds: float) -> Reply:
        """Returns the reason in place of a result."""
        return Reply("late", error=self.reason)

    def spent(self) -> float:
        """Returns no time."""
        return 0.0


def grade(  # noqa: PLR0913 - the whole of what a mark depends on
    students: ForkServerClient,
    master: Master,
    work: Work,
    exercises: Mapping[str, Exercise],
    seed: str,
    budget: Budget = Budget(),
    heard: Callable[[Pace], None] = lambda pace: None,
) -> Graded:
    """Returns the verdicts on a submission; never raises for anything that a submission can do.

    `heard` is told when the submission's process stands still for a moment, and when it does so no longer.
    """
    patience = Patience(budget.wall, budget.idle, heard)
    grading = _Grading(
        students, master, work, exercises, seed, budget, patience, Allowance(READ_IN_ALL * budget.reading)
    )
    graded = grading.run(budget.notebook + budget.each * len(exercises))
    lost = [name for name, verdict in graded.verdicts.items() if verdict.outcome != "right" and name in work.answers]
    used_up = (graded.left <= 0 or patience.wall <= 0) and any(not name for name, _ in work.code)
    spoiled = [name for name in lost if used_up or work.further_names() & {name, *used([work.answers[name]])}]
    if spoiled and not graded.dear:
        # A further cell may have given a name another meaning, after the answer was checked.
        patience.wall = max(patience.wall, budget.alone)
        alone = grading.run(max(graded.left, budget.alone), everything=False)
        for name in spoiled:
            if alone.verdicts[name].earned > graded.verdicts[name].earned:
                graded.verdicts[name] = alone.verdicts[name]
                graded.put_right.append(
                    f"further cells used up the time; {name} was marked without them"
                    if used_up
                    else f"a further cell changes what {name} uses; it was marked without it"
                )
        graded.dear |= alone.dear
    graded.odd = patience.odd
    return graded


@dataclass
class _Grading:
    """Runs one submission's cells in a student's process and examines its answers there, once or more often."""

    _students: ForkServerClient
    _master: Master
    _work: Work
    _exercises: Mapping[str, Exercise]
    _seed: str
    _budget: Budget
    _patience: Patience
    _reading: Allowance

    def run(self, seconds: float, *, everything: bool = True) -> Graded:
        """Returns the verdicts, after about `seconds` at most; without `everything` only the answers are run."""
        self._cells = plan(self._master, self._work, everything=everything)
        self._culprits = Counter[int]()  # cells that have ended the process, and how often
        self._starts = STARTS + 2 * len(self._exercises)
        self._graded = graded = Graded(put_right=list(self._work.put_right), left=seconds)
        self._process = self._started()
        for check in self._master.cells("check"):
            exercise = self._exercises[exercise_of(check)]
            start = time.perf_counter()
            exercise.variant(self._seed)  # drawn here, where its time is told by itself
            self._add("drawing", start)
            if exercise.name not in self._work.answers:
                graded.errors.setdefault(exercise.name, "its cell is missing")
            start, left = time.perf_counter(), self._patience.wall
            graded.verdicts[exercise.name] = self._verdict(exercise)
            waited = left - self._patience.wall
            self._add("answers", seconds=waited)
            self._add("examiner", seconds=time.perf_counter() - start - waited)
        graded.left -= self._process.close()
        return graded

    def _verdict(self, exercise: Exercise, *, again: bool = False) -> Verdict:
        """Returns the verdict on one answer. One that ends the process earns nothing; the others get a new process."""
        graded = self._graded
        if self._over():
            return replace(examine(exercise, DeadAnswer(USED_UP), self._seed, 0.1), earned=0.0)
        answer = self._process.answer(exercise.name)
        before = answer.spent()
        try:
            seconds = min(self._budget.exercise, max(graded.left, 0.1))
            reading = self._reading.limited(self._budget.reading)
            verdict = examine(exercise, answer, self._seed, seconds, reading)
        except TooDear:
            graded.dear = True
            self._patience.note(f"the replies to {exercise.name} cost too much to read")
            answer.dead = TOO_DEAR
            verdict = examine(exercise, DeadAnswer(TOO_DEAR), self._seed, 0.1)
        graded.spent[exercise.name] = answer.spent() - before
        if not (answer.dead or answer.out_of_step):
            return verdict
        graded.left -= self._process.close()
        if not self._over():
            self._process = self._started()
        if answer.ended and not again:  # somebody else may have ended it, for want of memory perhaps
            return self._verdict(exercise, again=True)
        return replace(verdict, earned=0.0) if answer.dead else verdict

    def _over(self) -> bool:
        """Says whether the time for this submission was used up."""
        return self._graded.left <= 0 or self._patience.wall <= 0

    def _started(self) -> Student:
        """Returns a process in which all cells have run, but those that block or twice end it, while there is time."""
        graded = self._graded
        while True:
            self._starts -= 1
            if self._starts < 0 or self._reading.left <= 0:
                graded.left = 0.0
            start = time.perf_counter()
            process = self._students.student(self._patience)
            self._add("fork", start)
            start = time.perf_counter()
            for index, (name, source) in enumerate(self._cells):
                if self._culprits[index] >= 2:
                    continue
                if process.used() > graded.left or self._patience.wall <= 0:
                    graded.errors[name] = USED_UP
                    continue
                try:
                    with self._reading.limited(self._budget.reading):
                        error = process.run(source, self._budget.cell)
                except (ChannelError, TooDear) as problem:
                    graded.dear |= isinstance(problem, TooDear)
                    self._culprits[index] += 1 if isinstance(problem, ProcessEnded) else 2
                    graded.errors[name] = f"the cell ended its process: {problem or TOO_DEAR}"
                    break
                if error:
                    graded.errors[name] = error
                elif self._culprits[index]:
                    graded.errors.pop(name, None)  # it was not the cell that ended the process
            else:
                self._add("cells", start)
                return process
            graded.left -= process.close()
            self._add("cells", start)

    def _add(self, part: str, start: float = 0.0, seconds: float | None = None) -> None:
        """Adds the seconds that a part took, or those since its `start`."""
        spent = time.perf_counter() - start if seconds is None else seconds
        self._graded.seconds[part] = self._graded.seconds.get(part, 0.0) + spent
