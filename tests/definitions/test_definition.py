"""A definition part by part: reference, stages and mistakes beside what is stated of them."""

import random
from collections.abc import Sequence

import pytest

from grading.definitions.definition import Definition, ExerciseError, Mistake, Stage, hints_of
from grading.definitions.exercise import Exercise
from tutor.checking.answers import Question


def defined() -> Definition:
    exercise = Definition(trains=True)

    @exercise.reference
    def doubled(number: int) -> int:
        return 2 * number

    return exercise


def test_parts_are_kept_in_their_order() -> None:
    exercise = defined()

    @exercise.stage("small", points=0.5, public=[Question((1,))])
    def _(rng):
        """Twice what is given."""
        return [Question((rng.randint(2, 9),))]

    @exercise.stage("large", points=1, seed=3, view="shape", decisive=True)
    def draw_large(rng: random.Random) -> Sequence[Question]:
        """Numbers may be large."""
        return [Question((rng.randint(200, 900),))]

    @exercise.mistake("squared")
    def _(number):
        """Add the number to itself."""
        return number**2

    exercise.mistake("the number itself", "Multiply by 2.", abs)
    made = Exercise.of(exercise, exercise.mistakes, ("a hint",))

    assert (made.name, made.trains, made.points, made.hints) == ("doubled", True, 1.5, ("a hint",))
    assert made.reference(4) == 8
    small, large = made.stages
    assert (small.name, small.points, small.feedback, small.public) == (
        "small",
        0.5,
        "Twice what is given.",
        [Question((1,))],
    )
    wanted = Stage(
        "large", 1, "Numbers may be large.", draw_large(random.Random(3)), draw_large, view="shape", decisive=True
    )
    assert large == wanted
    assert [(mistake.name, mistake.hint) for mistake in made.mistakes] == [
        ("squared", "Add the number to itself."),
        ("the number itself", "Multiply by 2."),
    ]
    assert [mistake.answer(-3) for mistake in made.mistakes] == [9, 3]


def test_lines_of_a_paragraph_are_joined() -> None:
    exercise = defined()

    @exercise.mistake("tripled")
    def _(number):
        """Twice means two times,
        not three times.

        See the docstring.
        """
        return 3 * number

    assert exercise.mistakes[0].hint == "Twice means two times, not three times.\n\nSee the docstring."


def test_a_class_may_be_a_mistake() -> None:
    exercise = defined()

    @exercise.mistake("counts")
    class Counter:
        """Start at 0."""

    assert exercise.mistakes == [Mistake("counts", "Start at 0.", Counter)]


def test_a_part_without_its_sentence_is_refused() -> None:
    exercise = defined()
    with pytest.raises(
        ExerciseError, match=r"stage 'small': expected where to look as the docstring of its function\."
    ):

        @exercise.stage("small", points=1, public=[])
        def _(rng):
            return []

    with pytest.raises(ExerciseError, match=r"mistake 'tripled': expected the hint as the docstring of its function\."):

        @exercise.mistake("tripled")
        def _(number):
            return 3 * number


@pytest.mark.parametrize("questions", [{}, {"public": [], "seed": 1}])
def test_public_questions_are_stated_once(questions: dict[str, object]) -> None:
    with pytest.raises(ExerciseError, match=r"stage 'small': expected either public questions or the seed"):
        defined().stage("small", points=1, **questions)  # type: ignore[arg-type]


def test_stages_that_a_function_makes_are_added_each_with_a_name_of_its_own() -> None:
    definition, made = Definition(), [Stage(name, 1, "look", [], lambda rng: []) for name in ("small", "large")]
    definition.add(*made)
    assert definition.stages == made
    with pytest.raises(ExerciseError, match="two stages are called 'large'; expected a name of its own"):
        definition.add(made[1])


def test_a_traceback_says_in_which_part_an_error_was() -> None:
    definition = Definition()

    @definition.stage("small numbers", points=1, public=[])
    def _(rng):
        """Look here."""
        return 1 / 0

    @definition.mistake("by zero")
    def _(number):
        """Do not."""
        raise ZeroDivisionError(number)

    for part in (definition.stages[0].draw, definition.mistakes[0].answer):
        with pytest.raises(ZeroDivisionError) as problem:
            part(random.Random(1))
        assert problem.traceback[-1].name in ("small numbers", "by zero")


def test_a_definition_without_a_reference_is_refused() -> None:
    with pytest.raises(ExerciseError, match="expected one reference, found none"):
        Exercise.of(Definition(), [])


def test_hints_are_divided_by_their_headings() -> None:
    text = "## Hint 1\n\nWhat is 2 times 3?\n\n## Hint 2\n\nOne way:\n```python\nnumber + ...\n\n# end\n```\n"
    assert hints_of(text) == ("What is 2 times 3?", "One way:\n```python\nnumber + ...\n\n# end\n```")
    assert hints_of("") == ()


@pytest.mark.parametrize(
    "text", ["No heading.\n", "## Hint 2\n\nThe second.\n", "## Hint 1\n\nOne.\n\n## Hint 3\n\nTwo."]
)
def test_hints_that_are_not_numbered_are_refused(text: str) -> None:
    with pytest.raises(ExerciseError, match="the headings `## Hint 1`, `## Hint 2`"):
        hints_of(text)
