"""The bank as a whole: every notebook has its proof, and questions are drawn for each student."""

from pathlib import Path

from grading import exercise
from grading.examiner import examine
from helpers.checking.answers import InProcess
from tests.bank_proof import drawn


def test_every_notebook_has_its_proof(repository: Path) -> None:
    files = {path.stem.removeprefix("test_bank_") for path in (repository / "tests").glob("test_bank_*.py")}
    assert files == {notebook[:2] for notebook in exercise.notebooks()}


def test_the_examiner_asks_what_is_drawn_here() -> None:
    defined = exercise.load("01_causal_mask")["causal_mask"]
    asked: list[int] = []
    examine(defined, InProcess(lambda size: asked.append(size)), "ada")
    assert asked == [case.ask.inputs[0] for stage in drawn(defined, "ada").stages for case in stage.cases]


def test_drawn_questions_depend_on_the_student_and_are_the_same_each_time() -> None:
    defined = exercise.load("01_causal_mask")["padding_mask"]

    def questions(seed: str) -> list[object]:
        return [case.ask.encode() for stage in defined.drawn_examples(seed).stages for case in stage.cases]

    assert questions("ada") == questions("ada")
    assert questions("ada") != questions("blaise")
