"""The proof of every exercise: right answers get full marks, wrong ones lose marks and get the right hint.

`python -m grading prove causal_mask` proves one exercise, with `--students 20` on as many draws.
Without `--all` answers are asked what is public: a right one, in turn two more, one for each known mistake (the last,
which is in another style than the mistake itself where there are two), and a wrong one that makes none; the first right
one is graded, too. With it those of `tests/definitions/more.py` are asked as well. What belongs to one exercise runs in
one process. `test_both_ways.py` asks every answer once more, what another student is.
"""

import functools
import itertools
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence

import pytest
import sacrebleu

from grading.authoring import bank
from grading.authoring.bank import BankAnswer
from grading.authoring.prove import is_asked
from grading.definitions import catalogue, exercise
from grading.definitions.examiner import examine
from tests.definitions import kept, more
from tutor.checking.answers import InProcess
from tutor.checking.judging import Examples, judge
from tutor.checks import public_examples

NOTEBOOKS = [notebook for notebook in catalogue.notebooks() if any(map(is_asked, catalogue.names(notebook)))]
ANSWERS = [answer for notebook in NOTEBOOKS for answer in bank.answers(notebook) if is_asked(answer.exercise)]
MORE = [answer for notebook in NOTEBOOKS for answer in more.answers(notebook) if is_asked(answer.exercise)]
EXERCISES = list(dict.fromkeys((answer.notebook, answer.exercise) for answer in ANSWERS))


def each_answer(right: bool, single: bool = False, always: int = 1000, cheap: int = 1000) -> pytest.MarkDecorator:
    """Gives a test each answer that is right, or that is wrong; with `single` the first right one, or one a mistake.

    Of an exercise so many are asked `always`, and up to the number `cheap` `in_turn`; the others carry the mark `all`.
    """
    chosen = [answer for answer in (ANSWERS if single else ANSWERS + MORE) if answer.right is right]
    if single:
        in_turn = reversed(chosen) if right else chosen  # the last one stays
        chosen = list({(answer.exercise, answer.mistake): answer for answer in in_turn}.values())
    numbers = defaultdict[str, Iterator[int]](itertools.count)
    places = [next(numbers[answer.exercise]) for answer in chosen]
    asked = [
        pytest.param(
            answer,
            id=answer.label,
            marks=() if place < min(always, cheap) else pytest.mark.in_turn if place < cheap else pytest.mark.all,
        )
        for answer, place in zip(chosen, places, strict=True)
    ]
    return pytest.mark.parametrize("answer", asked)


each_exercise = pytest.mark.parametrize(
    ("notebook", "name"),
    [pytest.param(*one, id="-".join(one)) for one in EXERCISES],
)


@pytest.fixture(scope="module")
def students(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """For whom questions are drawn."""
    return kept.students(request.config.getoption("--students"))


def public_questions(answer: BankAnswer) -> Examples:
    """Returns what the check of an exercise asks; fails with what to do where it is not made yet."""
    made = public_examples(answer.exercise)
    if answer.exercise not in made:
        pytest.fail(f"no check examples yet: run python -m grading build {answer.notebook[:2]} --examples")
    return made[answer.exercise]


@functools.lru_cache(maxsize=40)  # the answers to one exercise
def asked(answer: BankAnswer) -> kept.AskedOnce:
    """Returns an answer that is asked each question once, whoever's it is."""
    return kept.AskedOnce(bank.run(answer))


@each_answer(right=True, always=1, cheap=3)
def test_the_check_calls_a_right_answer_right(answer: BankAnswer) -> None:
    public = judge(public_questions(answer), asked(answer), kept.PATIENCE)
    assert public.outcome == "right", str(public)


@each_answer(right=True, single=True)
def test_the_first_right_answer_gets_full_marks(answer: BankAnswer, students: Sequence[str]) -> None:
    test_a_right_answer_gets_full_marks(answer, students)


@pytest.mark.all
@each_answer(right=True)
def test_a_right_answer_gets_full_marks(answer: BankAnswer, students: Sequence[str]) -> None:
    for student in students:
        verdict = kept.verdict(answer, student, asked(answer))
        assert (verdict.outcome, verdict.earned) == ("right", verdict.points), str(verdict)
        assert verdict.points == exercise.load(answer.notebook)[answer.exercise].points


@each_answer(right=False, single=True)
def test_the_check_of_a_wrong_answer_gives_the_hint(answer: BankAnswer) -> None:
    examples = public_questions(answer)
    public = judge(kept.without_corners(examples), asked(answer), kept.PATIENCE)  # corners name no mistake
    if public.mistake != answer.mistake:
        public = judge(examples, asked(answer), kept.PATIENCE)
    if answer.mistake:
        assert public.mistake == answer.mistake, str(public)
        assert public.hint == hint_of(answer)
        assert public.outcome != "right", str(public)
    else:
        marked = kept.marked(answer, kept.STUDENT, asked(answer))
        assert marked.outcome != "right", str(marked)


@pytest.mark.all
@each_answer(right=False)
def test_a_wrong_answer_loses_marks_and_gets_its_hint(answer: BankAnswer, students: Sequence[str]) -> None:
    marks = set[float]()
    for student in students:
        verdict = kept.verdict(answer, student, asked(answer))
        assert verdict.mistake == answer.mistake, str(verdict)
        assert verdict.hint == hint_of(answer)
        assert verdict.outcome != "right", str(verdict)
        marks.add(verdict.earned)
    assert len(marks) == 1, f"the mark hangs on what is drawn: {marks}"
    assert max(marks) < verdict.points
    public = judge(public_questions(answer), asked(answer), kept.PATIENCE)
    assert (public.mistake, public.hint) == (answer.mistake, hint_of(answer)) or not answer.mistake, str(public)
    assert public.earned <= min(marks), f"points so far that grading does not give: {public} | {verdict}"


def hint_of(answer: BankAnswer) -> str:
    """Returns the hint that a wrong answer deserves, "" where none does."""
    mistakes = exercise.load(answer.notebook)[answer.exercise].mistakes
    return {mistake.name: mistake.hint for mistake in mistakes}.get(answer.mistake, "")


@pytest.mark.all
@each_exercise
def test_each_known_mistake_differs_from_the_reference_and_from_the_others(
    notebook: str, name: str, students: Sequence[str]
) -> None:
    for student in students:
        examples = kept.without_corners(kept.drawn(notebook, name, student))
        for mistake in exercise.load(notebook)[name].mistakes:
            verdict = judge(examples, kept.known_mistake(notebook, name, student, mistake.name), hidden=True)
            assert verdict.outcome != "right", f"{mistake.name} passes every check"
            assert verdict.mistake == mistake.name


@each_exercise
def test_the_bank_is_rich_enough(notebook: str, name: str) -> None:
    mine = [answer for answer in ANSWERS if (answer.notebook, answer.exercise) == (notebook, name)]
    further = [answer.label for answer in MORE if (answer.notebook, answer.exercise) == (notebook, name)]
    assert sum(answer.right for answer in mine) >= 3
    assert sum(not answer.right for answer in mine) >= 5
    titles = [answer.label for answer in mine] + further
    assert len(set(titles)) == len(titles)
    shown = {answer.mistake for answer in mine}
    missing = [mistake.name for mistake in exercise.load(notebook)[name].mistakes if mistake.name not in shown]
    assert not missing, f"known mistakes without an answer in the bank: {missing}"


def test_the_bank_has_answers_to_every_exercise_and_to_no_others() -> None:
    assert set(EXERCISES) == {
        (notebook, name) for notebook in catalogue.notebooks() for name in exercise.load(notebook)
    }
    assert {(answer.notebook, answer.exercise) for answer in MORE} <= set(EXERCISES)


def test_the_examiner_asks_what_is_drawn_here() -> None:
    defined = exercise.load("01_causal_mask")["causal_mask"]
    asked: list[int] = []
    examine(defined, InProcess(lambda size: asked.append(size)), "ada")
    drawn = kept.drawn("01_causal_mask", "causal_mask", "ada")
    sizes = [case.ask.inputs[0] for stage in drawn.stages for case in stage.cases if not stage.cost]
    assert set(asked) == set(sizes)
    assert len(set(sizes)) <= len(asked) < len(sizes)  # what two stages ask alike is asked once


def test_drawn_questions_depend_on_the_student_and_are_the_same_each_time() -> None:
    defined = exercise.load("01_causal_mask")["padding_mask"]

    def questions(seed: str) -> list[object]:
        return [case.ask.encode() for stage in defined.drawn_examples(seed).stages for case in stage.cases]

    assert questions("ada") == questions("ada")
    assert questions("ada") != questions("blaise")


WORDS = ("le", "la", "un", "chat", "chien", "dort", "voit", "ne", "pas", "l'", ".", "<oov>")


def test_bleu_is_that_of_sacrebleu_on_hundreds_of_random_corpora() -> None:
    bleu = exercise.load("11_translation")["corpus_bleu"].reference
    rng, above_zero = random.Random(0), 0
    for _ in range(500):
        few = WORDS[: rng.randint(2, len(WORDS))]
        references = [rng.choices(few, k=rng.randint(1, 14)) for _ in range(rng.randint(1, 6))]
        hypotheses = [
            [
                rng.choice((word, word, word, rng.choice(few)))
                for word in words
                for _ in range(rng.choice((0, 1, 1, 1, 2)))
            ]
            for words in references
        ]
        texts, wanted = ([" ".join(words) for words in sentences] for sentences in (hypotheses, references))
        theirs = sacrebleu.corpus_bleu(texts, [wanted], tokenize="none", smooth_method="none", force=True).score
        assert abs(bleu(hypotheses, references) - theirs) < 1e-6, (texts, wanted)
        above_zero += theirs > 0
    assert above_zero > 200  # where BLEU is 0, much could be wrong
