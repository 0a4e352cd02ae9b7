"""Grade one submission: a pure function of the answers, the exercises and the seed of its questions."""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib.util import find_spec

from grading.autograder.submission import Master, Work, plan
from grading.definitions.examiner import examine
from grading.definitions.exercise import Exercise
from grading.definitions.reading_time import BudgetExceeded, CpuBudget
from grading.notebooks.cells import defines, exercise_of
from grading.sandbox.serve import ChannelError, ProcessEnded
from grading.sandbox.student_process import ForkServerClient, Pace, Patience, Student
from tutor.checking.answers import Question, Reply
from tutor.checking.slips import NO_GPU, WANTS_GPU, WITHOUT_GPU, packages, with_place_on_cpu
from tutor.checking.verdict import Verdict


@dataclass(frozen=True)
class Budget:
    """What grading may take: CPU seconds for one cell, for one exercise's questions, and for a notebook.

    A notebook gets `notebook` seconds, and `each` for each of its exercises. Where its further cells have used them up,
    the answers by themselves get `alone` seconds more. To read and compare the replies to one exercise's questions may
    take the examiner `reading` seconds, and `READ_IN_ALL` times as long for all together. `wall` are wall-clock seconds
    in which a submission's processes are waited for, whatever they do, and `idle` those of them in which they wait for
    anything but a CPU.
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
TOO_EXPENSIVE = "its replies cost too much to read"
READ_IN_ALL = 2
LACKING = re.compile(r"No module named '(\w+)")
NO_PACKAGE = (
    "The package {} is not there where this is graded. Write the answer without it, or ask whoever grades whether it "
    "can be installed."
)
STARTS = 10  # processes that one submission gets, and two more for each exercise: each new one runs its cells again


@dataclass
class Graded:
    """The verdicts on one submission, the errors of its cells, and where the time went.

    `seconds` are by part of the work; `spent` is the CPU time of each exercise's answers. `odd` says in sentences
    for whoever looks after the class what an honest submission does not do; `expensive` whether reading was broken off;
    `lacking` are packages that are not there where it is graded, each with the answers that stopped for want of it.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    repairs: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)
    left: float = math.inf  # of the notebook's time
    odd: list[str] = field(default_factory=list)
    expensive: bool = False
    lacking: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class DeadAnswer:
    """An `Answer` that is never asked, and why."""

    reason: str

    def ask(self, question: Question, seconds: float) -> Reply:
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
    on_pace: Callable[[Pace], None] = lambda pace: None,
) -> Graded:
    """Returns the verdicts on a submission; never raises for anything that a submission can do.

    `on_pace` is called when the submission's process stands still for a moment, and when it does so no longer.
    """
    patience = Patience(budget.wall, budget.idle, on_pace)
    grading = _Grading(
        students, master, work, exercises, seed, budget, patience, CpuBudget(READ_IN_ALL * budget.reading)
    )
    graded = grading.run(budget.notebook + budget.each * len(exercises))
    used_up = (graded.left <= 0 or patience.wall <= 0) and any(not name for name, _ in work.code)
    if used_up:
        spoiled, repair = _lost(graded, work), "further cells used up the time; marked without them: {}"
    else:
        spoiled = [name for name in _lost(graded, work) if work.is_spoiled(name)]
        repair = "a further cell changes what an answer uses; marked without it: {}"
    if spoiled:
        patience.wall = max(patience.wall, budget.alone)
        _improve(graded, grading, spoiled, Way.ANSWERS_ALONE, repair)
    if overtaken := [name for name in _lost(graded, work) if work.is_overtaken(name)]:
        repair = "a later cell changes what an answer uses; marked without that cell: {}"
        _improve(graded, grading, overtaken, Way.IN_PLACE, repair)
    _report_what_stopped(graded, work)
    graded.odd = patience.odd
    return graded


def _report_what_stopped(graded: Graded, work: Work) -> None:
    """Reports why answers are not there: the error of a cell that may have made them, or that no cell does."""
    outcomes = {name: graded.verdicts[name].outcome for name in _lost(graded, work)}
    stopped = [
        name
        for name, outcome in outcomes.items()
        if outcome == "crashed" or (outcome == "not attempted" and work.is_in_further_cell(name))
    ]
    if stopped and graded.errors.get(""):
        graded.repairs.append(f"a cell that is no answer's own stopped: {graded.errors['']}")
    for name in outcomes:
        verdict = graded.verdicts[name]
        said = with_place_on_cpu(verdict.sentence, work.answers.get(name, ""))
        graded.verdicts[name] = replace(verdict, sentence=said)
        if error := graded.errors.get(name):
            graded.repairs.append(f"the cell of {name} stopped: {error}")
        if graded.verdicts[name].mistake == NO_GPU or WANTS_GPU.search(graded.errors.get(name, "")):
            graded.repairs.append(f"{name}: {NO_GPU}")
    _explain_what_stopped(graded, work, stopped)
    _find_lacking_packages(graded, work, stopped)
    for name in stopped:
        defined = any(defines(source, name) for _, source in work.code)
        if graded.verdicts[name].error_type == "NameError" and not defined:
            graded.repairs.append(f"no cell defines {name}: is what it asks for called otherwise?")


def _explain_what_stopped(graded: Graded, work: Work, stopped: Collection[str]) -> None:
    """Puts the error of a cell into the verdict on an answer that is not there, or lacks a name, because of it."""
    for name in stopped:
        verdict = graded.verdicts[name]
        error = graded.errors.get(name)
        said = f"Its cell stopped with {error}"
        if not error and (error := graded.errors.get("")):
            said = f"A cell that is no answer's own stopped with {error}"
        if not error or verdict.error_type != "NameError":
            continue
        missing = LACKING.search(error)
        feedback = NO_PACKAGE.format(missing[1]) if missing else ""
        changed = replace(verdict, sentence=said, feedback=feedback, mistake="", hint="")
        if WANTS_GPU.search(error):
            changed = replace(changed, mistake=NO_GPU, hint=WITHOUT_GPU)
        graded.verdicts[name] = changed


def _find_lacking_packages(graded: Graded, work: Work, stopped: Collection[str]) -> None:
    """Notes for each answer that has stopped at an import which package it is, where that is no file of the student."""
    for name in stopped:
        verdict, source = graded.verdicts[name], work.answers.get(name, "")
        errors = [graded.errors.get(name, "")]
        if verdict.error_type == "NameError":
            errors.append(graded.errors.get("", ""))
        lacking = {found[1] for error in errors if (found := LACKING.search(error))}
        lacking |= {one for one in packages(source) if find_spec(one) is None and not _is_of_student(one, work)}
        if lacking and verdict.error_type in ("ModuleNotFoundError", "ImportError"):
            graded.verdicts[name] = replace(verdict, feedback=NO_PACKAGE.format(min(lacking)))
        for package in sorted(lacking):
            graded.lacking.setdefault(package, []).append(name)
            if not any(package in line and name in line for line in graded.repairs):
                graded.repairs.append(f"{name} needs the package {package}, which is not there where this is graded")


def _is_of_student(module: str, work: Work) -> bool:
    """Says whether a module lies beside the notebook, or a cell may write it."""
    file = f"{module}.py"
    beside = any(path.partition("/")[0] in (module, file) for path in work.files)
    return beside or any(file in source or f"{module}/" in source for _, source in work.code)


class Way(Enum):
    """How the cells of a submission are run, and when its answers are asked."""

    ALL = "all cells, and then the questions"
    ANSWERS_ALONE = "only the cells of answers, and then the questions"
    IN_PLACE = "all cells in their order, and the questions to each answer right after its cells, as in a notebook"


def _lost(graded: Graded, work: Work) -> list[str]:
    """Returns the answers that have not all their points."""
    return [name for name, verdict in graded.verdicts.items() if verdict.outcome != "right" and name in work.answers]


def _improve(graded: Graded, grading: _Grading, names: list[str], way: Way, repair: str) -> None:
    """Asks some answers once more, their cells run in another way, and keeps what gives them more points.

    A further cell may have given a name another meaning, after the answer was checked.
    """
    if graded.expensive:
        return
    budget = grading.budget.alone if way is Way.ANSWERS_ALONE else 0.0
    again = grading.run(max(graded.left, budget), way, names)
    better = [name for name in names if again.verdicts[name].earned > graded.verdicts[name].earned]
    graded.verdicts |= {name: again.verdicts[name] for name in better}
    if better:
        graded.repairs.append(repair.format(", ".join(better)))
    graded.left = again.left
    graded.expensive |= again.expensive


@dataclass
class _Grading:
    """Runs one submission's cells in a student's process and examines its answers there, once or more often."""

    _students: ForkServerClient
    _master: Master
    _work: Work
    _exercises: Mapping[str, Exercise]
    _seed: str
    budget: Budget
    _patience: Patience
    _reading: CpuBudget
    _process: Student | None = None
    _defaults: set[str] = field(default_factory=set)

    def run(self, seconds: float, way: Way = Way.ALL, names: Collection[str] | None = None) -> Graded:
        """Returns the verdicts, on some answers only where `names` says so, after about `seconds` at most."""
        self._cells = plan(self._master, self._work, everything=way is not Way.ANSWERS_ALONE)
        self._culprits = Counter[int]()  # cells that have ended the process, and how often
        self._starts = STARTS + 2 * len(self._exercises)
        self._graded = graded = Graded(repairs=list(self._work.repairs), left=seconds)
        self._process, self._ran, self._end = None, 0, len(self._cells)
        self._asked = False  # whether the submission's code knows a question
        examined = [self._exercises[exercise_of(check)] for check in self._master.cells("check")]
        examined = [exercise for exercise in examined if names is None or exercise.name in names]
        ends = {name: end + len(self._cells) - len(self._work.code) for name, end in self._work.ends().items()}
        if way is Way.IN_PLACE:
            examined.sort(key=lambda exercise: ends.get(exercise.name, self._end))
        for exercise in examined:
            if exercise.name not in self._work.answers:
                graded.errors.setdefault(exercise.name, "its cell is missing")
            if way is Way.IN_PLACE:
                self._end = ends.get(exercise.name, len(self._cells))
            if not self._over():
                self._run_cells()
            start, left = time.perf_counter(), self._patience.wall
            graded.verdicts[exercise.name] = self._verdict(exercise)
            waited = left - self._patience.wall
            self._add("answers", seconds=waited)
            self._add("examiner", seconds=time.perf_counter() - start - waited)
        self._close()
        return graded

    def _verdict(self, exercise: Exercise, *, again: bool = False) -> Verdict:
        """Returns the verdict on one answer. One that ends the process earns nothing; the others get a new process."""
        graded = self._graded
        if self._over():
            return self._never_asked(exercise, USED_UP)
        answer = self._run_cells().answer(exercise.name)
        before, self._asked = answer.spent(), True
        try:
            seconds = min(self.budget.exercise, max(graded.left, 0.1))
            reading = self._reading.limited(self.budget.reading)
            verdict = examine(exercise, answer, self._seed, seconds, reading)
        except BudgetExceeded:
            graded.expensive = True
            self._patience.note(f"the replies to {exercise.name} cost too much to read")
            answer.dead = TOO_EXPENSIVE
            verdict = self._never_asked(exercise, TOO_EXPENSIVE)
        graded.spent[exercise.name] = answer.spent() - before
        if not (answer.dead or answer.out_of_step):
            return verdict
        self._close()
        if answer.ended and not again:  # somebody else may have ended it, for want of memory perhaps
            return self._verdict(exercise, again=True)
        return replace(verdict, earned=0.0) if answer.dead else verdict

    def _never_asked(self, exercise: Exercise, reason: str) -> Verdict:
        """Returns the verdict on an answer that was not asked, or whose replies were not read: why, and no points."""
        return replace(examine(exercise, DeadAnswer(reason), self._seed, 0.1), earned=0.0, sentence=reason)

    def _over(self) -> bool:
        """Says whether the time for this submission was used up."""
        return self._graded.left <= 0 or self._patience.wall <= 0

    def _close(self) -> None:
        """Ends the process, if there is one, and counts what it has used."""
        if self._process is not None:
            self._graded.left -= self._process.close()
        self._process, self._ran = None, 0

    def _run_cells(self) -> Student:
        """Returns a process in which the cells up to `_end` have run, while there is time.

        Cells that block it or twice end it are left out.
        """
        while True:
            process = self._process or self._started()
            start = time.perf_counter()
            while self._process is not None and self._ran < self._end:
                self._run_next(process)
            self._add("cells", start)
            if self._process is not None:
                return process

    def _started(self) -> Student:
        """Returns a new process, in which no cell has run."""
        self._starts -= 1
        if self._starts < 0 or self._reading.left <= 0:
            self._graded.left = 0.0
        start = time.perf_counter()
        self._process = process = self._students.student(self._patience)
        self._add("fork", start)
        try:
            problems = [process.put(file, data) for file, data in self._work.files.items()]
        except ChannelError as problem:  # no cell has run in it: somebody else has ended it
            problems = [str(problem)]
        for reason in filter(None, problems):
            self._note("", f"a file beside the notebook could not be written: {reason}")
        return process

    def _run_next(self, process: Student) -> None:
        """Runs the next cell, but one that has ended the process before; or notes that it ends it, and why."""
        graded, index = self._graded, self._ran
        self._ran, (name, source) = index + 1, self._cells[index]
        if self._culprits[index] >= 2:
            return
        if process.used() > graded.left or self._patience.wall <= 0:
            self._note(name, USED_UP)
            return
        try:
            with self._reading.limited(self.budget.reading):
                error = process.run(source, self.budget.cell)
        except (ChannelError, BudgetExceeded) as problem:
            graded.expensive |= isinstance(problem, BudgetExceeded)
            self._culprits[index] += 1 if isinstance(problem, ProcessEnded) else 2
            self._note(name, f"the cell ended its process: {problem or TOO_EXPENSIVE}")
            self._close()
            return
        for default in process.defaults - self._defaults:
            whose = f"the cell of {name}" if name else "a cell that is no answer's own"
            graded.repairs.append(f"{whose} sets PyTorch's default {default}; marked without it")
        self._defaults |= process.defaults
        if error:
            self._note(name, error)
        elif self._culprits[index] and not self._asked:
            graded.errors.pop(name, None)  # it was not the cell that ended the process

    def _note(self, name: str, error: str) -> None:
        """Notes the error of an answer's last cell, or of the first cell that is no answer's own.

        Not of one that is run again after a question: an answer that knows it may have left something behind, if only
        in a counter of the kernel that all processes share.
        """
        if not self._asked and (name or not self._graded.errors.get(name)):
            self._graded.errors[name] = error

    def _add(self, part: str, start: float = 0.0, seconds: float | None = None) -> None:
        """Adds the seconds that a part took, or those since its `start`."""
        spent = time.perf_counter() - start if seconds is None else seconds
        self._graded.seconds[part] = self._graded.seconds.get(part, 0.0) + spent
