"""Slips of people who know the answer: put right and said, or lost with the reason that is the real one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from grading.autograder.grade_submission import Graded, _report_what_stopped
from grading.autograder.graded_notebook import graded_notebook, load_master
from grading.autograder.outcome import GRADED, Outcome
from grading.autograder.reporting import summary
from grading.autograder.submission import Work, read
from grading.folder.course import ROOT, Course
from grading.sandbox.student_process import ForkServerClient
from tests.autograder.test_habits import MASK, PADDING, Habit, changed, code, graded, own, place
from tests.classroom.submissions import ASSIGNMENT
from tutor.checking.slips import NO_GPU
from tutor.checking.verdict import Verdict

pytestmark = pytest.mark.sandbox

STUB = 'raise NotImplementedError("Replace this line by your answer")'

ABOVE = "stands below a line `raise NotImplementedError(...)`; marked without that line"


@pytest.fixture(scope="module")
def students() -> Iterator[ForkServerClient]:
    with ForkServerClient() as made:
        yield made


def above(line: str = STUB, text: str = "") -> str:
    head, _, body = MASK.partition("\n")
    return f"{head}\n    {text}\n    {line}\n{body}" if text else f"{head}\n    {line}\n{body}"


def in_front(source: str) -> Habit:
    """A cell of the student's own above all answers, which are right."""

    def change(notebook: nbformat.NotebookNode) -> None:
        notebook.cells.insert(place(notebook, "causal_mask"), code(source))

    return change


# What is marked as it was meant: what is changed, and what the note says.
PUT_RIGHT = {
    "line_above": (own(above()), ABOVE),
    "line_above_bare": (own(above("raise NotImplementedError")), ABOVE),
    "line_behind_docstring": (own(above(text='"""Returns the mask."""')), ABOVE),
    "line_above_in_another_cell": (own("pass", above()), ABOVE),
    "fence": (own(f"```python\n{MASK}```"), "a chat writes around code"),
    "prose": (own(f"Here is the function:\n{MASK}"), "a chat writes around code"),
    "zero_width": (own(MASK.replace("return ", "return \u200b")), "signs that nobody sees"),
    "zero_width_before_def": (own(f"\u200b{MASK}"), "signs that nobody sees"),
    "quotation_marks": (own(MASK.replace("-torch.inf", "float(\u201c-inf\u201d)")), "typographic quotation marks"),
    "tabs": (own(MASK.replace("\n    ", "\n    n = size\n\t", 1)), "tabs mixed with spaces"),
    "device_cuda": (in_front("torch.set_default_device('cuda')"), "default device"),
    "device_mps": (in_front("torch.set_default_device(torch.device('mps'))"), "default device"),
    "device_meta": (own("torch.set_default_device('meta')\n" + MASK), "default device"),
    "device_below": (own(MASK, below="torch.set_default_device('cuda')"), "default device"),
    "dtype": (in_front("torch.set_default_dtype(torch.float16)"), "default dtype"),
}


@pytest.mark.parametrize("name", PUT_RIGHT)
def test_a_slip_is_put_right_and_said(students: ForkServerClient, tmp_path: Path, name: str) -> None:
    change, note = PUT_RIGHT[name]
    folder = changed(tmp_path / "ada" / ASSIGNMENT, change)
    before = (folder / f"{ASSIGNMENT}.ipynb").read_bytes()
    result = graded(students, folder)
    for answer in ("causal_mask", "attention_weights", "padding_mask"):
        assert result.verdicts[answer].outcome == "right", (str(result.verdicts[answer]), result.errors, result.repairs)
    assert sum(note in line for line in result.repairs) == 1, result.repairs
    assert (folder / f"{ASSIGNMENT}.ipynb").read_bytes() == before


def test_a_wrong_answer_stays_wrong_when_a_slip_is_put_right(students: ForkServerClient, tmp_path: Path) -> None:
    wrong = above().replace(", 1)", ", 2)")
    result = graded(students, changed(tmp_path / "ada" / ASSIGNMENT, own(f"```python\n{wrong}```")))
    assert result.verdicts["causal_mask"].outcome == "wrong"
    assert len(result.repairs) == 2


def test_the_graded_notebook_shows_what_was_written(students: ForkServerClient, tmp_path: Path) -> None:
    folder = changed(tmp_path / "ada" / ASSIGNMENT, own(above()))
    master = load_master(Course(ROOT), ASSIGNMENT)
    notebook = graded_notebook(master, read(folder, master), graded(students, folder), "")
    assert any(STUB in cell.source and "torch.triu" in cell.source for cell in notebook.cells)


def test_a_cell_that_is_still_to_be_written_is_not_attempted(students: ForkServerClient, tmp_path: Path) -> None:
    result = graded(students, changed(tmp_path / "ada" / ASSIGNMENT, own(f"def causal_mask(size):\n    {STUB}")))
    assert result.verdicts["causal_mask"].outcome == "not attempted"
    assert result.repairs == []


# What is lost: what is changed, what verdict and note say, and the package that is lacking.
LOST = {
    "import_in_the_cell": (own(f"import einops_of_mine\n{MASK}"), "No module named 'einops_of_mine'", "einops_of_mine"),
    "import_of_a_part": (own(f"from jaxtyped.parts import x\n{MASK}"), "No module named 'jaxtyped'", "jaxtyped"),
    "import_within": (
        own(MASK.replace("    ", "    import seaborn_of_mine\n    ", 1)),
        "causal_mask needs the package seaborn_of_mine",
        "seaborn_of_mine",
    ),
    "import_that_may_fail": (
        own(
            "try:\n    import wandb_of_mine\nexcept ImportError:\n    wandb_of_mine = None\n"
            + MASK.replace("    ", "    wandb_of_mine.log(size)\n    ", 1)
        ),
        "causal_mask needs the package wandb_of_mine",
        "wandb_of_mine",
    ),
    "syntax": (own(MASK.replace(", 1)", ", 1")), "SyntaxError: incomplete input (line 2 of the cell", ""),
    "own_error": (own(f"size = 1 / 0\n{MASK}"), "ZeroDivisionError: division by zero", ""),
    "gpu": (own(MASK.replace(", 1)", ", 1).cuda()")), NO_GPU, ""),
    "gpu_by_to": (own(MASK.replace(", 1)", ", 1).to('cuda')")), NO_GPU, ""),
    "gpu_by_device": (own(MASK.replace("inf)", "inf, device='cuda')")), NO_GPU, ""),
    "gpu_of_apple": (own(MASK.replace(", 1)", ", 1).to('mps')")), NO_GPU, ""),
    "gpu_in_the_cell": (own(f"INF = torch.ones(1).cuda()\n{MASK}"), NO_GPU, ""),
}


@pytest.mark.parametrize("name", LOST)
def test_what_is_lost_is_lost_with_its_reason(students: ForkServerClient, tmp_path: Path, name: str) -> None:
    change, sentence, package = LOST[name]
    result = graded(students, changed(tmp_path / "ada" / ASSIGNMENT, change))
    verdict = result.verdicts["causal_mask"]
    assert verdict.outcome == "crashed"
    assert verdict.earned == 0
    assert "bound nowhere" not in str(verdict)
    assert sum(sentence in line for line in result.repairs) == 1, result.repairs
    assert result.lacking == ({package: ["causal_mask"]} if package else {})
    if name != "import_that_may_fail":
        assert (f"The package {package} is not there" if package else sentence) in str(verdict), str(verdict)
    assert result.verdicts["padding_mask"].outcome == "right"


def test_an_import_in_a_cell_of_ones_own_is_named_where_answers_lack_it(
    students: ForkServerClient, tmp_path: Path
) -> None:
    def change(notebook: nbformat.NotebookNode) -> None:
        in_front("from einops_of_mine import rearrange")(notebook)
        own(PADDING.replace("torch.arange(size)[None]", "rearrange(torch.arange(size), 'n -> 1 n')"), name="padding_mask")(notebook)  # fmt: skip

    result = graded(students, changed(tmp_path / "ada" / ASSIGNMENT, change))
    assert result.lacking == {"einops_of_mine": ["padding_mask"]}
    assert "No module named 'einops_of_mine'" in str(result.verdicts["padding_mask"])


def test_a_class_gets_one_list_of_packages_that_its_answers_lack() -> None:
    outcomes = [
        Outcome(name, ASSIGNMENT, GRADED, 1.0, lacking=["einops", *more]) for name, *more in map(list, ("a", "bc", "d"))
    ]
    assert "need a package that is not there where they are graded: einops (3 students), c (1 student). " in summary(
        outcomes, 1.0
    )
    assert "package" not in summary([Outcome("a", ASSIGNMENT, GRADED, 1.0)], 1.0)


def test_a_mark_names_the_line_that_makes_a_tensor_on_the_cpu() -> None:
    said = "stage 'x': `torch.arange` makes a tensor on the CPU, and inputs stand elsewhere"
    graded = Graded({"causal_mask": Verdict("causal_mask", "wrong", 2.9, 3.0, (), said, graded=True)})
    _report_what_stopped(graded, Work({"causal_mask": "def f(x):\n    return torch.arange(x.size(0))"}))
    end = "in place of `torch.arange(x.size(0))` write `torch.arange(x.size(0), device=x.device)`"
    assert graded.verdicts["causal_mask"].sentence == f"{said}. Line 2 of the cell: {end}"


def test_a_module_that_a_cell_writes_is_no_package_that_is_lacking(students: ForkServerClient, tmp_path: Path) -> None:
    habit = own("%%writefile mine.py\nlow = 1 / 0", f"from mine import low\n{MASK}")

    def change(notebook: nbformat.NotebookNode) -> None:
        habit(notebook)
        own(f"import mine\n{PADDING}", name="padding_mask")(notebook)

    result = graded(students, changed(tmp_path / "ada" / ASSIGNMENT, change))
    assert result.verdicts["padding_mask"].outcome == "crashed"
    assert result.lacking == {}
