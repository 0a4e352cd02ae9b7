"""What an exercise is: a reference, stages with points, and the mistakes that a check must name.

A definition says nothing of where an answer runs: all it ever does is put an `Question` and compare the plain reply.
"""

from __future__ import annotations

import importlib
import inspect
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from types import MappingProxyType
from typing import Any, cast

import torch
from torch import Tensor

from grading.definitions import catalogue, contracts, known_mistakes, reading_time
from grading.definitions.corners import Corners
from grading.definitions.definition import Definition, ExerciseError, HandExample, Mistake, Stage, hints_of
from tutor.checking import by_hand
from tutor.checking.answers import InProcess, Question, Reply
from tutor.checking.compare import NO_VALUES
from tutor.checking.judging import Case, Examples, Raised, StageCases, is_right, share, trace_of, words
from tutor.checking.measures import INPUTS_KEPT, measured
from tutor.checking.plain import NotPlain
from tutor.checking.probes import PROBES

MISTAKE_SECONDS = 5.0  # of CPU time, for one reply of a known mistake; thousands of times what any of them needs
CHECK = "check"  # the seed of what is drawn for everybody
TRIES = 8  # draws of a stage, among which one is looked for that needs a result which is not known yet
OWN = 2  # questions of a stage that are one student's own
KEPT = 40  # drawn examples of one exercise in one process


@dataclass(frozen=True)
class Exercise:
    """One exercise. The name is that of the reference: the function or class a student writes.

    Args:
        exceptions: those of `contracts.NAMES` in which an answer need not do as the reference does.
        large: public questions with inputs that are long and cheap, asked of an answer that is right in all else.
        domain: what its arguments may be, of which everybody is asked the corners.
        trains: gradients must pass through a function's result; through that of a class of `nn.Module` they always do.
        forbids: full names of what is to be written, mostly in `helpers`: an answer that uses one is none.
        hand: the example that the text works out by hand.
        hints: what `hint(name)` shows, in Markdown, each one more than the last: a question that leads there, the idea
            with a small example, the first lines or the shape of each step; never the answer.
    """

    reference: Callable[..., Any]
    stages: Sequence[Stage]
    mistakes: Sequence[Mistake]
    exceptions: tuple[str, ...] = field(default=(), kw_only=True)
    large: Sequence[Question] = field(default=(), kw_only=True)
    domain: Sequence[Corners] = field(default=(), kw_only=True)
    trains: bool = field(default=False, kw_only=True)
    forbids: tuple[str, ...] = field(default=(), kw_only=True)
    hand: HandExample | None = field(default=None, kw_only=True)
    hints: tuple[str, ...] = field(default=(), kw_only=True)

    @classmethod
    def of(cls, definition: Definition, mistakes: Sequence[Mistake], hints: tuple[str, ...] = ()) -> Exercise:
        """Returns the exercise that a file defines, with these known mistakes.

        Raises:
            ExerciseError: when the definition has not exactly one reference, or corners of a stage that it has not.
        """
        if len(definition.references) != 1:
            raise ExerciseError(f"expected one reference, found {len(definition.references) or 'none'}.")
        stages = [stage.name for stage in definition.stages]
        if lost := [one.stage for one in definition.domain if one.stage not in stages]:
            raise ExerciseError(f"corners are asked in the stage {lost[0]!r}; expected one of: {', '.join(stages)}.")
        return cls(
            definition.references[0],
            definition.stages,
            mistakes,
            exceptions=definition.exceptions,
            large=definition.large,
            domain=definition.domain,
            trains=definition.trains,
            forbids=definition.forbids,
            hand=definition.hand,
            hints=hints,
        )

    @property
    def name(self) -> str:
        """The exercise's name, and the grade id of its solution cell."""
        return self.reference.__name__

    @property
    def points(self) -> float:
        """The full mark."""
        return sum(stage.points for stage in self.stages)

    @property
    def signature(self) -> str:
        """The name with its arguments, without annotations."""
        parameters = inspect.signature(self.reference).parameters.values()
        return f"{self.name}({', '.join(parameter.name for parameter in parameters)})"

    def public_examples(self) -> Examples:
        """Returns the examples of the student's own check."""
        return self._public

    def check_examples(self) -> Examples:
        """Returns what a check asks: what grading asks of everybody.

        Of known mistakes the questions that are drawn hold traces: enough to see that an answer makes another one.
        """
        stages = []
        for everybodys, public in zip(self._of_everybody.stages, self._public.stages, strict=True):
            further = everybodys.cases[len(public.cases) :]
            traced = [
                one if one.corner else replace(one, mistakes={}, traces=self._traces(public, one)) for one in further
            ]
            stages.append(replace(public, cases=(*public.cases, *traced)))
        return replace(self._public, stages=tuple(stages))

    @cached_property
    def _public(self) -> Examples:
        return self._examples(list(self._public_cases.values()))

    @cached_property
    def _public_cases(self) -> dict[str, tuple[Case, ...]]:
        return {stage.name: self.cases(stage, stage.public) for stage in self.stages}

    def _traces(self, stage: StageCases, case: Case) -> dict[str, str | float] | None:
        """Returns what a further question holds of known mistakes: nothing where the results are formulas."""
        if case.ask.at or isinstance(case.wanted, Raised):
            return None
        self._refuse_late_mistakes(stage, case)
        found = {name: trace_of(stage, case, made, self.name) for name, made in case.mistakes.items()}
        return {name: trace for name, trace in found.items() if trace is not None}

    def refuse_late_mistakes(self) -> None:
        """Asks every known mistake the public questions.

        Raises:
            ExerciseError: when one was stopped by the clock: what it would give is not known, and no check may say it.
        """
        for stage in self._public.stages:
            for case in stage.cases:
                self._refuse_late_mistakes(stage, case)

    def _refuse_late_mistakes(self, stage: StageCases, case: Case) -> None:
        results = cast(Results, case.mistakes)
        if late := next((name for name in results if results.reply(name).outcome == "late"), None):
            raise ExerciseError(
                f"{self.name}, stage '{stage.name}': the mistake '{late}' had no result after {MISTAKE_SECONDS:g} s of "
                "a processor. Let it end sooner, or build again when the machine is less busy."
            )

    def worked_by_hand(self) -> tuple[Any, dict[str, Any]] | None:
        """Returns what is right in the example by hand, and what each known mistake makes of it; None without one.

        A mistake that stops with an error, or that gives what is right, is not among them.

        Raises:
            ExerciseError: when the reference gives no value.
        """
        if self.hand is None:
            return None
        part = self.hand.part or (lambda value: value)
        reply = self.reply(self.hand.question)
        if reply.outcome != "value":
            raise ExerciseError(f"{self.name}: the reference gives {reply.error or 'nothing'} in the example by hand.")
        wanted, made = part(reply.value), dict[str, Any]()
        for name, value in Results(self, self.hand.question, "").items():
            try:
                result = None if isinstance(value, Raised) else part(value)
            except (IndexError, KeyError, TypeError, AttributeError, NotPlain):  # a mistake's need not have this part
                continue
            if result is not None and not by_hand.same(result, wanted, self.hand.tolerance):
                made[name] = result
        return wanted, made

    def drawn_examples(self, seed: str) -> Examples:
        """Returns the examples for grading: all that the check asks, and questions of this student's own.

        So what the check refuses has not full marks, and what it calls right is right here, whoever's it is. What is
        drawn for the student holds up who knows the check's results: a question for each stage that is not weak. All
        are asked in an order that the seed draws: the number of a call reveals nothing of its stage.
        """
        return self._with_own(seed, self._drawn_own(seed))

    def _drawn_own(self, seed: str) -> list[tuple[Case, ...]]:
        """Returns what is asked with a seed alone, by stage."""
        pairs = zip(self.stages, self._of_everybody.stages, strict=False)
        return [tuple(self._new_cases(stage, asked, seed)) for stage, asked in pairs]

    def _with_own(self, seed: str, own: Sequence[Sequence[Case]]) -> Examples:
        """Returns what is asked with a seed: everybody's questions, and its own."""
        pairs = zip(self._of_everybody.stages, own, strict=False)
        stages = [replace(asked, cases=_corners_last((*asked.cases, *cases))) for asked, cases in pairs]
        kept = self._of_everybody.stages[len(stages) :]
        return replace(self._of_everybody, stages=(*stages, *kept), order=f"{self.name}|{seed}")

    def everybodys(self) -> Examples:
        """Returns what everybody is asked, made once in a process."""
        return self._of_everybody

    def take_everybodys(self, examples: Examples) -> None:
        """Takes what everybody is asked from where it was kept, so that it is not made."""
        vars(self)["_of_everybody"] = examples
        vars(self)["_weak"] = frozenset(stage.name for stage in examples.stages if stage.weak)

    @cached_property
    def _of_everybody(self) -> Examples:
        """The public examples, what is drawn for the check, and the corners; made once in a process."""
        stages = [
            replace(public, cases=(*public.cases, *self._of_check[stage.name], *self._corner_cases(stage)))
            for stage, public in zip(self.stages, self._public.stages, strict=False)
        ]
        return replace(self._public, stages=(*stages, *self._public.stages[len(stages) :]))

    def _corner_cases(self, stage: Stage) -> list[Case]:
        """Returns the corners of a stage, of which nobody knows what mistakes make.

        What every answer keeps is not asked of them: they are large, or far from what a gradient can be measured of.
        """
        asks = [ask for one in self.domain if one.stage == stage.name for ask in self.corners(one).values()]
        return [Case(ask, self._wanted(stage, ask), corner=True) for ask in asks]

    def corners(self, domain: Corners, seed: str = CHECK) -> dict[tuple[tuple[str, int], ...], Question]:
        """Returns the questions about the corners of a domain by corner: everybody's, unless a seed draws others."""
        rng = random.Random(f"{self.name}|{self.domain.index(domain)}|{seed}")
        return {tuple(corner.items()): ask for corner, ask in domain.drawn(rng)}

    def _drawn(self, stage: Stage, seed: str) -> list[Question]:
        return list(stage.draw(random.Random(f"{self.name}|{stage.name}|{seed}")))

    # --- what is known, and what is not: no stage is passed by results that everybody can read -----------------------

    @cached_property
    def _of_check(self) -> dict[str, tuple[Case, ...]]:
        """What is asked of everybody in each stage, further than the public questions."""
        return {stage.name: self.cases(stage, self._drawn(stage, CHECK)) for stage in self.stages}

    def _new_cases(self, stage: Stage, asked: StageCases, seed: str) -> list[Case]:
        """Returns what a stage asks of one student: where it is not weak, a question whose result no check knows.

        And so many more of the same draw: who knows the check's results may be wrong in some questions only. Where no
        such question is found, it is all that is drawn first.
        """
        if asked.weak:  # beside others; where no other decides, all that is drawn shows who only knows the check
            others = any(one.decisive and one.name not in self._weak for one in self.stages)
            own = () if others else self.cases(stage, self._drawn(stage, seed))
            return [replace(case, hidden=True) for case in own]
        for asks in self._draws(stage, seed):
            shuffled = random.Random(f"{self.name}|{stage.name}|{seed}|order").sample(asks, len(asks))
            for ask in shuffled:
                (case,) = self.cases(stage, [ask])
                if self._is_new(stage, case, self._known_of_check):
                    more = [other for other in shuffled if other is not ask][: OWN - 1]
                    return [replace(one, hidden=True) for one in (case, *self.cases(stage, more))]
        return [replace(case, hidden=True) for case in self.cases(stage, self._drawn(stage, seed))]

    def _draws(self, stage: Stage, seed: str) -> Iterator[list[Question]]:
        """Yields what is drawn with a seed, and then with others made of it."""
        yield self._drawn(stage, seed)
        yield from (self._drawn(stage, f"{seed}|{number}") for number in range(1, TRIES))

    @cached_property
    def _weak(self) -> frozenset[str]:
        """Names of the stages that can be passed without doing what the exercise asks.

        Those whose questions have no other results than the public ones, whatever is drawn, or ones that are 0 or 1
        everywhere; that take what the answer's own process says of a call.
        """
        return frozenset(stage.name for stage in self.stages if self._is_weak(stage))

    def _is_weak(self, stage: Stage) -> bool:
        drawn = self._of_check[stage.name]
        if not any(PROBES[case.ask.probe].is_result for case in drawn):
            return True
        further = (self._drawn(stage, f"{CHECK}|{number}") for number in range(1, TRIES))
        tries = chain([drawn], (self.cases(stage, asks) for asks in further))
        return not any(self._is_new(stage, case, self._known_of_public) for cases in tries for case in cases)

    @cached_property
    def _known_of_public(self) -> Sequence[tuple[Question, Reply]]:
        return self._known_replies(self._public_cases)

    @cached_property
    def _known_of_check(self) -> Sequence[tuple[Question, Reply]]:
        """Replies that everybody can read in the examples of the check."""
        return self._known_replies({stage.name: stage.cases for stage in self._of_everybody.stages})

    def _known_replies(self, asked: Mapping[str, Sequence[Case]]) -> Sequence[tuple[Question, Reply]]:
        cases = [(stage, case) for stage in self.stages if not stage.sealed for case in asked[stage.name]]
        return [(case.ask, self._reply(stage, case)) for stage, case in cases if PROBES[case.ask.probe].is_result]

    def _reply(self, stage: Stage, case: Case) -> Reply:
        """Returns what the reference replies in a case, without asking it again where the case holds all of it."""
        as_it_is = not stage.measure and not isinstance(case.wanted, Raised)
        return Reply("value", case.wanted) if as_it_is else self.reply(case.ask)

    def _is_new(self, stage: Stage, case: Case, known: Sequence[tuple[Question, Reply]]) -> bool:
        """Says whether a question is one to which no known reply is right, nor one that is 0 or 1 everywhere.

        Where only the shape counts, it is enough that no known one has it.
        """
        if not PROBES[case.ask.probe].is_result:
            return False
        rule = StageCases(stage.name, "", 0, stage.view, stage.tolerance, (), stage.measure)
        value = self._reply(stage, case).value
        looks = isinstance(value, Tensor) and stage.view not in NO_VALUES
        alike = (torch.full_like(value, number) for number in (0, 1) if looks)
        replies = [reply for ask, reply in known if ask.probe == case.ask.probe]
        replies += [Reply("value", tensor) for tensor in alike]
        return not any(is_right(rule, case, measured(stage.measure, case.ask, one), self.name) for one in replies)

    def variant(self, seed: str) -> Examples:
        """Returns the drawn examples, made when they are first needed: a class meets the same few over and over."""
        if seed not in self._variants:
            self.take_own(seed, self._drawn_own(seed))
        return self._variants[seed][1]

    def own(self, seed: str) -> Sequence[tuple[Case, ...]]:
        """Returns what is asked with a seed alone, by stage."""
        self.variant(seed)
        return self._variants[seed][0]

    def take_own(self, seed: str, own: Sequence[tuple[Case, ...]]) -> None:
        """Takes what is asked with a seed alone from where it was kept, so that it is not drawn."""
        while len(self._variants) >= KEPT:
            self._variants.pop(next(iter(self._variants)))
        self._variants[seed] = own, self._with_own(seed, own)

    @cached_property
    def _variants(self) -> dict[str, tuple[Sequence[tuple[Case, ...]], Examples]]:
        return {}

    def _examples(self, cases: Sequence[tuple[Case, ...]]) -> Examples:
        stages = [
            StageCases(
                stage.name,
                stage.feedback,
                stage.points,
                stage.view,
                stage.tolerance,
                mine,
                stage.measure,
                decisive=stage.decisive,
                weak=stage.name in self._weak,
            )
            for stage, mine in zip(self.stages, cases, strict=True)
        ]
        own_stage = any(stage.measure == INPUTS_KEPT for stage in self.stages)
        return Examples(
            self.name,
            self.signature,
            (*stages, *contracts.stages(self, stages)),
            {m.name: m.hint for m in self.mistakes},
            salt=self.name,
            forbids=self.forbids,
            kept=0.0 if own_stage or contracts.INPUTS_STAY in self.exceptions else share(self.points),
        )

    def cases(self, stage: Stage, asks: Sequence[Question]) -> tuple[Case, ...]:
        """Returns questions of a stage with what the reference replies, and what known mistakes do when looked at."""
        return tuple(Case(ask, self._wanted(stage, ask), Results(self, ask, stage.measure)) for ask in asks)

    def reply(self, ask: Question) -> Reply:
        """Returns what the reference replies; on a busy machine it may not lose to the clock."""
        return InProcess(self.reference, clock="cpu", alone=True).ask(ask, 20)

    def _wanted(self, stage: Stage, ask: Question) -> Any:
        reply = self.reply(ask)
        result = outcome(measured(stage.measure, ask, reply))
        if (result.error_type if isinstance(result, Raised) else "") != stage.raises:
            raise ExerciseError(f"{self.name}, stage '{stage.name}': the reference gives {reply.error or result!r}.")
        return result


class Results(Mapping[str, Any]):
    """What each known mistake makes of one question, computed when first looked at; `replies` are those so far."""

    def __init__(
        self, exercise: Exercise, ask: Question, measure: str, replies: Mapping[str, Reply] = MappingProxyType({})
    ) -> None:
        self._mistakes = {mistake.name: mistake for mistake in exercise.mistakes}
        self._ask, self._measure = ask, measure
        self.replies, self._outcomes = dict(replies), dict[str, Any]()

    def reply(self, name: str) -> Reply:
        """Returns the reply of a known mistake."""
        if name not in self.replies:
            with reading_time.paused():  # a known mistake runs in the examiner, and is not the student's
                answer = InProcess(self._mistakes[name].answer, clock="cpu", alone=True)
                self.replies[name] = answer.ask(self._ask, MISTAKE_SECONDS)
        return self.replies[name]

    def __getitem__(self, name: str) -> Any:
        if name not in self._outcomes:
            reply = self.reply(name)
            with reading_time.paused():
                self._outcomes[name] = outcome(measured(self._measure, self._ask, reply))
        return self._outcomes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._mistakes

    def __iter__(self) -> Iterator[str]:
        return iter(self._mistakes)

    def __len__(self) -> int:
        return len(self._mistakes)


def _corners_last(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Returns the cases of a stage in the order that `judge` needs to see whether a corner alone fails."""
    return tuple(sorted(cases, key=lambda case: case.corner))


def outcome(reply: Reply) -> Any:
    """Returns what a reply stands for in a case: its value, or the class of the exception it raised."""
    if reply.outcome == "value":
        return reply.value
    return Raised((reply.error_types or ("TimeoutError",))[0], reply.changed_inputs, words(reply))


@cache
def load_one(notebook: str, name: str) -> Exercise:
    """Returns one exercise of a notebook; imports no other.

    Raises:
        LookupError: when the notebook has no such exercise.
        ExerciseError: when its definition contradicts itself.
    """
    known = catalogue.names(notebook)
    if name not in known:
        raise LookupError(f"{notebook} has no exercise {name!r}; expected one of: {', '.join(known)}.")
    place = f"grading/exercises/{notebook}/{name}.py"
    hints = catalogue.FOLDER / notebook / f"{name}.hints.md"
    try:
        module = importlib.import_module(f"grading.exercises.{notebook}.{name}")
        definition = getattr(module, "exercise", None)
        if not isinstance(definition, Definition):
            raise ExerciseError("expected `exercise = Definition()`, found none.")
        shown = hints_of(hints.read_text(encoding="utf-8")) if hints.exists() else ()
        exercise = Exercise.of(definition, known_mistakes.of_exercise(module, definition), shown)
    except ExerciseError as problem:
        raise ExerciseError(f"{place}: {problem}") from problem
    if exercise.name != name:
        raise ExerciseError(
            f"{place}: expected the reference {name}, found {exercise.name}; the file is called as the function or "
            "class that a student writes."
        )
    mistakes = [mistake.name for mistake in exercise.mistakes]
    if len(set(mistakes)) < len(mistakes):
        raise ExerciseError(f"{notebook}: two mistakes of {name} have the same name.")
    return exercise


@cache
def load(notebook: str) -> dict[str, Exercise]:
    """Returns the exercises of a notebook by name, in order.

    Raises:
        LookupError: when the notebook has no definitions.
        ExerciseError: when a definition contradicts itself.
    """
    return {name: load_one(notebook, name) for name in catalogue.names(notebook)}
