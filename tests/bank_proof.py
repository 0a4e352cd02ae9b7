"""The proof of every exercise: right answers get full marks, wrong ones lose marks and get the right hint.

Each `test_bank_NN.py` names its notebook and takes the tests from here, so that several processes share the work.
"""

import pytest

from grading import exercise
from grading.authoring import bank
from grading.exercise import Exercise
from helpers.check import public_examples
from helpers.checking.answers import InProcess
from helpers.checking.judging import Examples, judge

PATIENCE = 60.0  # seconds for one answer: on a busy machine an answer may not lose to the clock
SEEDS = ("public", "a student", "another student")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Gives each test the answers or the exercises of its module's notebook."""
    notebook = metafunc.module.NOTEBOOK
    answers = bank.answers(notebook)
    exercises = list(exercise.load(notebook).values())
    given = {
        "right": ([a for a in answers if a.right], lambda a: a.label),
        "wrong": ([a for a in answers if not a.right], lambda a: a.label),
        "defined": (exercises, lambda e: e.name),
        "everything": ([(answers, exercises)], lambda _: notebook),
    }
    for name, (values, label) in given.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, values, ids=label)


KEPT: dict[tuple[str, str], Examples] = {}


def drawn(defined: Exercise, seed: str) -> Examples:
    """Returns what the examiner draws; kept, so that each known mistake is run once and not for every answer."""
    key = defined.name, seed
    if key not in KEPT:
        KEPT[key] = defined.drawn_examples(seed)
    return KEPT[key]


def test_a_right_answer_gets_full_marks(right: bank.BankAnswer) -> None:
    answer = right
    defined = exercise.load(answer.notebook)[answer.exercise]
    student = InProcess(bank.run(answer))
    public = judge(public_examples()[answer.exercise], student, PATIENCE)
    assert public.outcome == "right", str(public)
    for seed in SEEDS:
        verdict = judge(drawn(defined, seed), student, PATIENCE, hidden=True)
        assert (verdict.outcome, verdict.earned) == ("right", defined.points), str(verdict)


def test_a_wrong_answer_loses_marks_and_gets_its_hint(wrong: bank.BankAnswer) -> None:
    answer = wrong
    defined = exercise.load(answer.notebook)[answer.exercise]
    student = InProcess(bank.run(answer))
    for seed in SEEDS:
        verdict = judge(drawn(defined, seed), student, PATIENCE, hidden=True)
        assert verdict.outcome != "right", str(verdict)
        assert verdict.earned < defined.points
        assert verdict.mistake == answer.mistake, str(verdict)
    hints = {mistake.name: mistake.hint for mistake in defined.mistakes}
    assert verdict.hint == hints.get(answer.mistake, "")
    if answer.mistake:
        public = judge(public_examples()[answer.exercise], student, PATIENCE)
        assert public.mistake == answer.mistake, str(public)
        assert public.hint == hints[answer.mistake]


def test_each_known_mistake_differs_from_the_reference_and_from_the_others(
    defined: Exercise,
) -> None:
    for seed in SEEDS:
        examples = drawn(defined, seed)
        for mistake in defined.mistakes:
            verdict = judge(examples, InProcess(mistake.answer), PATIENCE, hidden=True)
            assert verdict.outcome != "right", f"{mistake.name} passes every check"
            assert verdict.mistake == mistake.name


def test_the_bank_is_rich_enough(defined: Exercise) -> None:
    notebook = next(name for name in exercise.notebooks() if defined in exercise.load(name).values())
    mine = [answer for answer in bank.answers(notebook) if answer.exercise == defined.name]
    assert sum(answer.right for answer in mine) >= 3
    assert sum(not answer.right for answer in mine) >= 5
    titles = [answer.label for answer in mine]
    assert len(set(titles)) == len(titles)
    shown = {answer.mistake for answer in mine}
    missing = [mistake.name for mistake in defined.mistakes if mistake.name not in shown]
    assert not missing, f"known mistakes without an answer in the bank: {missing}"


def test_the_bank_has_no_answers_to_unknown_exercises(everything: tuple[list[bank.BankAnswer], list[Exercise]]) -> None:
    answers, exercises = everything
    assert {answer.exercise for answer in answers} == {defined.name for defined in exercises}
