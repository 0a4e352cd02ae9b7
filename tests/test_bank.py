"""The proof of every exercise: right answers get full marks, wrong ones lose marks and get the right hint."""

import pytest

from grading import bank, exercise
from grading.examiner import examine
from grading.exercise import Exercise
from helpers.check import public_examples
from helpers.checking.answers import InProcess
from helpers.checking.verdict import judge

PATIENCE = 60.0  # seconds for one answer: on a busy machine an answer may not lose to the clock
SEEDS = ("public", "a student", "another student")
ANSWERS = [answer for notebook in exercise.notebooks() for answer in bank.answers(notebook)]
EXERCISES = [one for notebook in exercise.notebooks() for one in exercise.load(notebook).values()]


@pytest.mark.parametrize("answer", [a for a in ANSWERS if a.right], ids=lambda a: a.label)
def test_a_right_answer_gets_full_marks(answer: bank.BankAnswer) -> None:
    defined = exercise.load(answer.notebook)[answer.exercise]
    student = InProcess(bank.run(answer))
    public = judge(public_examples()[answer.exercise], student, PATIENCE)
    assert public.outcome == "right", str(public)
    for seed in SEEDS:
        verdict = examine(defined, student, seed, PATIENCE)
        assert (verdict.outcome, verdict.earned) == ("right", defined.points), str(verdict)


@pytest.mark.parametrize("answer", [a for a in ANSWERS if not a.right], ids=lambda a: a.label)
def test_a_wrong_answer_loses_marks_and_gets_its_hint(answer: bank.BankAnswer) -> None:
    defined = exercise.load(answer.notebook)[answer.exercise]
    student = InProcess(bank.run(answer))
    for seed in SEEDS:
        verdict = examine(defined, student, seed, PATIENCE)
        assert verdict.outcome != "right", str(verdict)
        assert verdict.earned < defined.points
        assert verdict.mistake == answer.mistake, str(verdict)
    hints = {mistake.name: mistake.hint for mistake in defined.mistakes}
    assert verdict.hint == hints.get(answer.mistake, "")
    if answer.mistake:
        public = judge(public_examples()[answer.exercise], student, PATIENCE)
        assert public.mistake == answer.mistake, str(public)
        assert public.hint == hints[answer.mistake]


@pytest.mark.parametrize("defined", EXERCISES, ids=lambda e: e.name)
def test_each_known_mistake_differs_from_the_reference_and_from_the_others(
    defined: Exercise,
) -> None:
    for seed in SEEDS:
        examples = defined.drawn_examples(seed)
        for mistake in defined.mistakes:
            verdict = judge(examples, InProcess(mistake.answer), PATIENCE, pictures=False)
            assert verdict.outcome != "right", f"{mistake.name} passes every check"
            assert verdict.mistake == mistake.name


@pytest.mark.parametrize("defined", EXERCISES, ids=lambda e: e.name)
def test_the_bank_is_rich_enough(defined: Exercise) -> None:
    mine = [answer for answer in ANSWERS if answer.exercise == defined.name]
    assert sum(answer.right for answer in mine) >= 3
    assert sum(not answer.right for answer in mine) >= 5
    titles = [answer.label for answer in mine]
    assert len(set(titles)) == len(titles)
    shown = {answer.mistake for answer in mine}
    missing = [mistake.name for mistake in defined.mistakes if mistake.name not in shown]
    assert not missing, f"known mistakes without an answer in the bank: {missing}"


def test_the_bank_has_no_answers_to_unknown_exercises() -> None:
    assert {answer.exercise for answer in ANSWERS} == {defined.name for defined in EXERCISES}


def test_drawn_questions_depend_on_the_student_and_are_the_same_each_time() -> None:
    defined = exercise.load("01_causal_mask")["padding_mask"]

    def questions(seed: str) -> list[object]:
        return [case.ask.encode() for stage in defined.drawn_examples(seed).stages for case in stage.cases]

    assert questions("ada") == questions("ada")
    assert questions("ada") != questions("blaise")
