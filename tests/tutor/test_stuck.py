"""A student who is stuck: Run All goes on, and a cell that cannot run yet says so in one sentence."""

from __future__ import annotations

import os
import shutil
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from traitlets.config import Config

from grading.authoring import build, source
from grading.authoring.kernels import Manager
from grading.classroom import demo
from grading.folder.course import ROOT
from tutor import kernel, output
from tutor.checking import clock

SETUP = "import torch\nfrom tutor.checks import check"
STUB = 'def causal_mask(size: int):\n    raise NotImplementedError("Replace this line by your answer")'
RIGHT = "def causal_mask(size: int):\n    return torch.triu(torch.full((size, size), -torch.inf), 1)"
BROKEN = "def causal_mask(size: int):\n    return torch.triu(torch.full((size, size), -torch.inf), 1"


class Cells:
    """A shell that a watch looks on, without a kernel: it runs cells, and returns what each shows and how it ends."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        settings = Config()
        settings.HistoryManager.enabled = False
        settings.InteractiveShell.colors = "nocolor"
        self.shell: Any = InteractiveShell(config=settings)
        monkeypatch.setattr(kernel, "_watch", kernel.Watch(self.shell))
        monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
        monkeypatch.chdir(folder)

    def __call__(self, *cells: str) -> list[str]:
        """Returns what each cell shows; of a cell that ends in an error its class comes first, with a colon."""
        return [self._run(cell) for cell in cells]

    def _run(self, cell: str) -> str:
        printed = StringIO()
        with redirect_stdout(printed):
            result = self.shell.run_cell(cell)
        problem = result.error_before_exec or result.error_in_exec
        return (f"{type(problem).__name__}: " if problem else "") + printed.getvalue().strip()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cells:
    """A shell in which the set-up cell has run."""
    cells = Cells(monkeypatch, tmp_path)
    assert cells(SETUP) == [""]
    return cells


CELL_SECONDS = 300  # for a cell; it takes one on a quiet machine


def execute(notebook: NotebookNode, folder: Path) -> None:
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook, kernel_name="python3", kernel_manager_class=Manager, timeout=CELL_SECONDS, resources=resources
    )
    client.execute(env={**os.environ, "OMP_NUM_THREADS": "1"})


def a_kernel(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Returns what a watch needs of a kernel."""
    monkeypatch.setattr(output, "_limit", None)
    return SimpleNamespace(session=SimpleNamespace(send=None))


def shown(cell: NotebookNode) -> str:
    parts = [
        output.get("text") or output.get("ename") or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
    ]
    return "".join(parts).strip()


# --- Run All on what is half done -------------------------------------------------------------------------------------

WAITS = "Not yet: this cell needs your `causal_mask`, which is still to be written."
WAITS_TOO = "Not yet: this cell needs `square`, which waits for your `causal_mask`."


def test_a_cell_that_needs_an_unanswered_exercise_says_which_and_counts_as_run(run: Cells) -> None:
    assert run(STUB, "check(causal_mask)")[1].startswith("causal_mask: not attempted yet - 0 of 3 points so far")
    outputs = run(
        "square = causal_mask(5)",
        "square.shape",
        "twice = [square for _ in range(2)]",
        "def f():\n    return square\nf()",
    )
    assert outputs == [WAITS, WAITS_TOO, WAITS_TOO, WAITS_TOO]


def test_an_answer_that_is_written_later_is_enough(run: Cells) -> None:
    outputs = run(STUB, "square = causal_mask(2)", RIGHT, "square = causal_mask(2)", "print(len(square))")
    assert outputs == ["", WAITS, "", "", "2"]


def test_the_method_of_an_unanswered_class_is_named(run: Cells) -> None:
    stub = 'class EncoderLayer(torch.nn.Module):\n    def forward(self, x):\n        raise NotImplementedError("x")'
    outputs = run(stub, "torch.nn.Sequential(EncoderLayer())(1)")
    assert outputs[1] == "Not yet: this cell needs your `EncoderLayer`, which is still to be written."


def test_an_answer_behind_a_decorator_is_named(run: Cells) -> None:
    assert run("import torch\n@torch.no_grad()\n" + STUB, "causal_mask(1)")[1] == WAITS


@pytest.mark.parametrize(
    ("cell", "error"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("def mine():\n    raise NotImplementedError('of my own')\nmine()", "NotImplementedError"),
        ("torch.utils.data.Dataset()[0]", "NotImplementedError"),
        ("prnt(1)", "NameError"),
        ("def mine():\n    return squared\nmine()", "NameError"),
        ("def mine():\n    return words\nmine()", "NameError"),
        ("def mine():\n    print(words)\n    words = 1\nmine()", "UnboundLocalError"),
    ],
)
def test_an_error_of_the_students_own_is_shown_as_ever(run: Cells, cell: str, error: str) -> None:
    [output] = run(STUB, cell)[1:]
    assert output.startswith(f"{error}: ----")
    assert "Traceback (most recent call last)" in output


def test_a_slider_over_an_unanswered_exercise_is_calm(run: Cells) -> None:
    """A slider shows an error of its function by itself, and its cell has none."""
    assert run(STUB, "try:\n    causal_mask(1)\nexcept Exception:\n    get_ipython().showtraceback()") == ["", WAITS]


@pytest.mark.parametrize("mode", ["autograde", "validate", ""])
def test_nothing_looks_on_under_nbgrader(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    events = SimpleNamespace(register=lambda *_: None)
    shell = SimpleNamespace(kernel=a_kernel(monkeypatch), showtraceback=None, events=events)
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)
    monkeypatch.setattr(kernel, "_watch", None)
    monkeypatch.setenv("NBGRADER_EXECUTION", mode)
    if not mode:
        monkeypatch.delenv("NBGRADER_EXECUTION")
    kernel.watch()
    assert type(kernel._watch) is (kernel.CellLimit if mode else kernel.Watch)


def test_a_cell_under_nbgrader_ends_when_its_cpu_time_is_used_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kernel, "CELL_SECONDS", 0.5)
    monkeypatch.setattr(clock, "PATIENCE", 1000.0)  # however busy this machine is
    cells = Cells(monkeypatch, tmp_path)
    kernel.CellLimit(cells.shell)
    outputs = cells("while True: pass", "1 + 1")
    assert outputs[0].startswith("TooSlow: ")
    assert "is there a loop that never ends?" in outputs[0]
    assert outputs[1].endswith("2")


def test_nothing_looks_on_in_the_shell_of_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: InteractiveShell.__new__(InteractiveShell))
    monkeypatch.setattr(kernel, "_watch", None)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    kernel.watch()
    assert kernel._watch is None


def test_run_all_of_a_half_done_notebook_has_no_error(tmp_path: Path) -> None:
    stem = "01_causal_mask"
    path = ROOT / "solutions" / f"{stem}.py"
    notebook = build.release(build.solution_notebook(path, source.read(path)))
    notebook = demo.fill(notebook, {"causal_mask": RIGHT})
    execute(notebook, tmp_path)
    assert not [
        output for cell in notebook.cells for output in cell.get("outputs", []) if output.output_type == "error"
    ]
    outputs = [shown(cell) for cell in notebook.cells if cell.cell_type == "code"]
    waiting = [text for text in outputs if text.startswith("Not yet: this cell needs")]
    assert any("`attention_weights`" in text for text in waiting)
    assert not any("`causal_mask`" in text for text in waiting)
    assert outputs[-1].splitlines()[0] == f"{stem}: 3 of 14 points so far"


# --- out of order -----------------------------------------------------------------------------------------------------


def test_a_variable_of_another_cell_asks_for_the_cells_above(run: Cells) -> None:
    above = "run the cells above first (menu Run, Run All Above Selected Cell)."
    outputs = run("check(causal_mask)", STUB, "words", "[one for _ in range(1) for one in words]")
    assert outputs[0] == f"NameError: `causal_mask` is not there yet: {above}"  # still an error: Run All would stop
    assert outputs[2:] == [f"NameError: `words` is not there yet: {above}"] * 2


def test_a_variable_of_another_notebook_is_an_error_as_ever(run: Cells) -> None:
    assert "Traceback" in run(STUB, "french")[1]


def test_a_variable_of_a_cell_that_failed_names_the_error(run: Cells) -> None:
    outputs = run(RIGHT, "table = causal_mask(2) + 'x'", "print(table)")
    wanted = "`table` is not there: its cell stopped with a TypeError. Mend that cell and run it first."
    assert outputs[2] == f"NameError: {wanted}"


def test_a_kernel_that_has_just_started_asks_for_the_cells_above(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "01_causal_mask/01_causal_mask.ipynb")
    [output] = Cells(monkeypatch, tmp_path)("check(causal_mask)")
    assert output == (
        "NameError: `check` is not there yet: run the cells above first (menu Run, Run All Above Selected Cell)."
    )


@pytest.mark.parametrize("name", ["01_causal_mask/01_causal_mask.ipynb", "my_own.ipynb"])
def test_a_kernel_of_the_course_looks_on_from_its_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """The installed course has every kernel of its environment do so. One of another notebook is left alone."""
    events = SimpleNamespace(register=lambda *_: None)
    shell = SimpleNamespace(kernel=a_kernel(monkeypatch), showtraceback=None, events=events, user_ns={})
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)
    monkeypatch.setattr(kernel, "_watch", None)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setenv("JPY_SESSION_NAME", name)
    monkeypatch.chdir(tmp_path)
    kernel.load_ipython_extension(shell)
    assert (kernel._watch is not None) == name.startswith("01")


def test_the_line_for_kernels_is_read_by_them(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It stands in a profile here; installed, it lies in the etc/ipython of the environment and is read likewise."""
    settings = repository / "deploy" / "ipython" / "ipython_kernel_config.json"
    profile = tmp_path / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    shutil.copy(settings, profile)
    folder = tmp_path / "01_causal_mask"
    folder.mkdir()
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("check(causal_mask)")])
    with pytest.raises(CellExecutionError, match="`check` is not there yet: run the cells above first"):
        execute(notebook, folder)
    assert shown(notebook.cells[0]).startswith("`check` is not there yet")


# --- an answer's cell that did not run --------------------------------------------------------------------------------


def test_a_syntax_error_is_not_answered_by_judging_the_old_definition(run: Cells) -> None:
    outputs = run(RIGHT, BROKEN, "check(causal_mask)", RIGHT, "check(causal_mask)")
    assert outputs[1].startswith(("SyntaxError: ", "_IncompleteInputError: "))  # the second since Python 3.13
    older = "The last run of its cell stopped with a SyntaxError; what there is comes from an earlier run."
    assert outputs[2].startswith(f"causal_mask: not checked\n  {older}")
    assert outputs[4].startswith("causal_mask: all checks passed - 3 of 3 points\n")


def test_a_cell_that_fails_after_its_definition_is_judged(run: Cells) -> None:
    outputs = run(RIGHT, f"{RIGHT}\ncausal_mask('x')", "check(causal_mask)")
    assert outputs[1].startswith("TypeError: ")
    assert outputs[2].startswith("causal_mask: all checks passed")


def test_a_syntax_error_at_the_first_run_is_named_by_the_check(run: Cells) -> None:
    output = run(BROKEN, "check(causal_mask)")[1]
    expected = "`causal_mask` is not there: its cell stopped with a SyntaxError. Mend that cell and run it first."
    assert output == f"NameError: {expected}"
