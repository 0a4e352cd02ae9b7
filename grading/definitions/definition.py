"""How the file of an exercise is written: name, code and advice of each part beside each other.

exercise = Definition()

@exercise.reference
def doubled(number: int) -> int: return 2 * number

@exercise.stage("small numbers", points=1, public=[Question((1,)), Question((4,))])
def _(rng: random.Random) -> list[Question]:
    '''What is 2 times 1? (where to look when the stage fails)'''
    return [Question((rng.randint(2, 9),))]

@exercise.corners("small numbers", number=(0, -1, range(33, 40), range(1001, 1010)))
def _(rng: random.Random, number: int) -> Question:
    return Question((number,))

Its known mistakes are answers of the bank, `EXERCISE.answers.py` beside it; one that no answer can be is made here:

exercise.mistake("the number itself", "Multiply by 2.", abs)
"""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeVar, overload

from grading.definitions.corners import Corners
from grading.folder.errors import CourseError
from tutor.checking.answers import Question

Draw = Callable[[random.Random], Iterable[Question]]
Answer = TypeVar("Answer", bound=Callable[..., Any])
Drawing = TypeVar("Drawing", bound=Draw)
Part = TypeVar("Part", bound=Callable[..., Any])


class ExerciseError(CourseError):
    """The definition of an exercise contradicts itself; the message says which and how."""


@dataclass(frozen=True)
class Stage:
    """One stage of a check.

    Args:
        name: what is checked, in a few words.
        points: what passing it earns.
        feedback: where to look when it fails, one sentence.
        public: questions of the student's own check.
        draw: makes further questions from a seeded generator: those of everybody, and those of each student.
        view: the part of the result that is compared, one of `tutor.checking.compare.VIEWS`.
        tolerance: allowed error, relative and absolute, for floating point numbers.
        sealed: ship only a fingerprint of the public results, because they are the answer itself.
        raises: the class of the exception that is wanted in place of a value; with the measure "says why", one with a
            sentence.
        measure: one of `tutor.checking.measures.MEASURES`: what is compared is measured from the answer.
        decisive: it tests what the exercise is there for: an answer that fails it earns at most half of the points; one
            that fails it at corners alone loses a tenth.
    """

    name: str
    points: float
    feedback: str
    public: Sequence[Question]
    draw: Draw
    view: str = "values"
    tolerance: float = 1e-4
    sealed: bool = False
    raises: str = ""
    measure: str = ""
    decisive: bool = False


@dataclass(frozen=True)
class Mistake:
    """A known wrong answer: its name in a few words, the hint it deserves, and the function or class itself."""

    name: str
    hint: str
    answer: Callable[..., Any]


@dataclass(frozen=True)
class HandExample:
    """The example that the text works out by hand, on which `by_hand` looks at a student's values.

    Args:
        question: what is worked out.
        part: what of the result a student works out; None for all of it. Of a formula its number, with `at` in the
            question and `lambda formula: float(formula.value({}))`.
        tolerance: relative and absolute: how much the digits of a pencil may differ.
    """

    question: Question
    part: Callable[[Any], Any] | None = None
    tolerance: float = 0.01


class Definition:
    """Collects the parts of one exercise, in the order in which the file says them.

    Args:
        minutes: what it takes a student, a guess that a class corrects; 0 where none is given.
        difficulty: 1 (one idea, a line or two), 2 (several demands at once) or 3 (a plan is needed); 0 where none is
            given. The build shows both in front of the exercise and in the table at the notebook's head.
        exceptions: see `Exercise`.
        trains: see `Exercise`.
        forbids: see `Exercise`.

    Attributes:
        references: the right answer; there must be one.
        stages: those so far.
        mistakes: those that are made here; `known_mistakes.of_exercise` has those that are answers of the bank.
        large: see `Exercise`.
        domain: see `Exercise`.
        hand: see `Exercise`.
    """

    def __init__(
        self,
        *,
        minutes: int = 0,
        difficulty: int = 0,
        exceptions: tuple[str, ...] = (),
        trains: bool = False,
        forbids: tuple[str, ...] = (),
    ) -> None:
        if minutes < 0 or difficulty not in (0, 1, 2, 3):
            raise ExerciseError(
                f"minutes={minutes!r}, difficulty={difficulty!r}: expected some minutes and a difficulty of 1 to 3."
            )
        self.minutes, self.difficulty = minutes, difficulty
        self.references: list[Callable[..., Any]] = []
        self.stages: list[Stage] = []
        self.mistakes: list[Mistake] = []
        self.large: list[Question] = []
        self.domain: list[Corners] = []
        self.hand: HandExample | None = None
        self.exceptions, self.trains, self.forbids = exceptions, trains, forbids

    def reference(self, answer: Answer) -> Answer:
        """Takes the right answer; its name is that of the exercise."""
        self.references.append(answer)
        return answer

    def stage(  # noqa: PLR0913 - the fields of a Stage
        self,
        name: str,
        *,
        points: float,
        public: Sequence[Question] | None = None,
        seed: int | None = None,
        view: str = "values",
        tolerance: float = 1e-4,
        sealed: bool = False,
        raises: str = "",
        measure: str = "",
        decisive: bool = False,
    ) -> Callable[[Drawing], Drawing]:
        """Decorates the function that draws a stage's questions; its docstring says where to look.

        Args:
            name: see `Stage`, as for all that is not described here.
            points: what passing it earns.
            public: questions of the student's own check.
            seed: in place of `public`: these questions are drawn, too, from a generator with this seed.

        Raises:
            ExerciseError: when the docstring is missing, or when not exactly one of `public` and `seed` is given.
        """
        if (public is None) == (seed is None):
            raise ExerciseError(f"stage {name!r}: expected either public questions or the seed that draws them.")

        def add(draw: Drawing) -> Drawing:
            feedback = _text(draw, f"stage {name!r}: expected where to look")
            questions = list(draw(random.Random(seed))) if public is None else public
            self.add(Stage(name, points, feedback, questions, draw, view, tolerance, sealed, raises, measure, decisive))
            return _named(draw, name)

        return add

    def add(self, *stages: Stage) -> None:
        """Takes stages that a function has made, where several differ in little.

        Raises:
            ExerciseError: when there is one of this name already.
        """
        for stage in stages:
            if stage.name in [one.name for one in self.stages]:
                raise ExerciseError(f"two stages are called {stage.name!r}; expected a name of its own.")
            self.stages.append(stage)

    def corners(
        self, stage: str, **dimensions: Sequence[Any]
    ) -> Callable[[Callable[..., Question | None]], Callable[..., Question | None]]:
        """Decorates the function that makes a question of a stage from a generator and one value for each dimension.

        See `grading.definitions.corners`.
        """

        def add(question: Callable[..., Question | None]) -> Callable[..., Question | None]:
            self.domain.append(Corners(stage, dimensions, question))
            return _named(question, stage)

        return add

    def by_hand(self, question: Question, part: Callable[[Any], Any] | None = None, tolerance: float = 0.01) -> None:
        """Takes the example that the text works out by hand; see `HandExample`.

        Raises:
            ExerciseError: when there is one already.
        """
        if self.hand is not None:
            raise ExerciseError("expected one example by hand; there is one already.")
        self.hand = HandExample(question, part, tolerance)

    @overload
    def mistake(self, name: str) -> Callable[[Answer], Answer]: ...

    @overload
    def mistake(self, name: str, hint: str, answer: Callable[..., Any]) -> None: ...

    def mistake(
        self, name: str, hint: str = "", answer: Callable[..., Any] | None = None
    ) -> Callable[[Answer], Answer] | None:
        """Decorates a known wrong answer, whose docstring is the hint; or takes both as they are.

        Raises:
            ExerciseError: when the docstring is missing.
        """
        if answer is not None:
            self.mistakes.append(Mistake(name, hint, answer))
            return None

        def add(wrong: Answer) -> Answer:
            self.mistakes.append(Mistake(name, _text(wrong, f"mistake {name!r}: expected the hint"), wrong))
            return _named(wrong, name)

        return add


def _named(part: Part, name: str) -> Part:
    """Gives a function that is called `_` the name of its part, by which a traceback and a profile call it."""
    if isinstance(part, FunctionType) and part.__code__.co_name == "_":
        part.__code__ = part.__code__.replace(co_name=name)
    return part


def _text(documented: Callable[..., Any], expected: str) -> str:
    """Returns a docstring with the lines of each paragraph joined."""
    if not documented.__doc__:
        raise ExerciseError(f"{expected} as the docstring of its function.")
    paragraphs = inspect.cleandoc(documented.__doc__).split("\n\n")
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs).strip()


def hints_of(text: str) -> tuple[str, ...]:
    """Returns the hints of a file `EXERCISE.hints.md`, each below its heading.

    Raises:
        ExerciseError: when the headings are not `## Hint 1`, `## Hint 2`, ... from the first line on.
    """
    before, *parts = re.split(r"^## Hint (\d+)$", text, flags=re.MULTILINE)
    numbers, hints = parts[::2], parts[1::2]
    if before.strip() or numbers != [str(number) for number in range(1, len(numbers) + 1)]:
        raise ExerciseError("expected in .hints.md the headings `## Hint 1`, `## Hint 2`, ... and a hint below each.")
    return tuple(hint.strip() for hint in hints)
