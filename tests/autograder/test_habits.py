"""What honest people do in notebooks: what `check` calls right there is right in grading, or grading says what happened.

Each habit is a notebook with right answers to three exercises. It is run twice: cell by cell as in the student's own
kernel, and as a submission in the sandbox.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from nbformat import NotebookNode

from grading.autograder.grade_submission import Graded, grade
from grading.autograder.graded_notebook import load_master
from grading.autograder.submission import read
from grading.definitions import catalogue
from grading.folder.course import ROOT, Course
from grading.sandbox.student_process import ForkServerClient
from tests.classroom.submissions import ASSIGNMENT, cell, released
from tests.tiers import all_only
from tutor.checking.judging import Examples
from tutor.checks import check, public_examples

pytestmark = pytest.mark.sandbox

MASK = "def causal_mask(size):\n    return torch.triu(torch.full((size, size), -torch.inf), 1)\n"
WEIGHTS = "def attention_weights(scores, mask):\n    return torch.softmax(scores + mask, dim=-1)\n"
PADDING = "def padding_mask(lengths, size):\n    return torch.arange(size)[None] >= lengths.clamp(min=1)[:, None]\n"
RIGHT = {"causal_mask": MASK, "attention_weights": WEIGHTS, "padding_mask": PADDING}
ALONE = f"import torch\n{MASK}"  # as a file of its own
PROGRAM = Path(__file__).parents[1] / "programs" / "run_in_notebook.py"

Habit = Callable[[NotebookNode], None]


def code(source: str) -> NotebookNode:
    return nbformat.v4.new_code_cell(source)


def place(notebook: NotebookNode, name: str) -> int:
    return int(notebook.cells.index(cell(notebook, name)))


def own(*cells: str, below: str = "", name: str = "causal_mask") -> Habit:
    """The answer in the exercise's own cell, further cells right behind it, and one at the end of the notebook."""

    def change(notebook: NotebookNode) -> None:
        cell(notebook, name).source = cells[0]
        at = place(notebook, name) + 1
        notebook.cells[at:at] = map(code, cells[1:])
        notebook.cells += [code(below)] if below else []

    return change


def above(*cells: str) -> Habit:
    """Cells before the exercise's own one, which stays as it was released."""

    def change(notebook: NotebookNode) -> None:
        stub(notebook, "causal_mask")
        at = place(notebook, "causal_mask")
        notebook.cells[at:at] = map(code, cells)

    return change


def stub(notebook: NotebookNode, name: str) -> None:
    cell(notebook, name).source = cell(released(), name).source


def with_check(notebook: NotebookNode, name: str, source: str) -> None:
    cell(notebook, f"{name}_check").source = source


def all_first(notebook: NotebookNode) -> None:
    for name in RIGHT:
        stub(notebook, name)
    notebook.cells.insert(place(notebook, "causal_mask"), code("\n\n".join(RIGHT.values())))


def all_last(notebook: NotebookNode) -> None:
    for name in RIGHT:
        stub(notebook, name)
    notebook.cells.append(code("\n\n".join([*RIGHT.values(), *(f"check({name})" for name in RIGHT)])))


def two_in_one(notebook: NotebookNode) -> None:
    stub(notebook, "padding_mask")
    cell(notebook, "causal_mask").source = f"{MASK}\n\n{PADDING}"


def two_in_a_later_one(notebook: NotebookNode) -> None:
    stub(notebook, "causal_mask")
    cell(notebook, "padding_mask").source = f"{MASK}\n\n{PADDING}"


def stub_copied_behind(notebook: NotebookNode, *, source: str = "", kept_id: bool = True) -> None:
    twin = copy.deepcopy(cell(released(), "causal_mask"))
    twin.id = "twin"
    twin.source = source or twin.source
    if not kept_id:
        del twin.metadata["nbgrader"]
    notebook.cells.insert(place(notebook, "causal_mask_check") + 1, twin)


def short_stub_behind(notebook: NotebookNode) -> None:
    stub_copied_behind(notebook, source="def causal_mask(size):\n    raise NotImplementedError")


def stub_without_id_behind(notebook: NotebookNode) -> None:
    stub_copied_behind(notebook, source="# a spare\ndef causal_mask(size):\n    raise NotImplementedError('Replace this line by your answer')", kept_id=False)  # fmt: skip


def answer_in_the_check(notebook: NotebookNode) -> None:
    stub(notebook, "causal_mask")
    with_check(notebook, "causal_mask", f"{MASK}\ncheck(causal_mask)")


def merged_with_its_check(notebook: NotebookNode) -> None:
    cell(notebook, "causal_mask").source = f"{MASK}\ncheck(causal_mask)"
    notebook.cells.remove(cell(notebook, "causal_mask_check"))


def imports_in_the_first_cell(notebook: NotebookNode) -> None:
    cell(notebook, "setup").source += "\nimport numpy as np\nLOWEST = -torch.inf"
    cell(
        notebook, "causal_mask"
    ).source = "def causal_mask(size):\n    return torch.from_numpy(np.triu(np.full((size, size), LOWEST, dtype='float32'), 1))"


def cell_of_another_notebook(notebook: NotebookNode) -> None:
    helper = code("def blocked(n):\n    return torch.full((n, n), -torch.inf)")
    helper.metadata["nbgrader"] = {"grade_id": "softmax", "solution": True, "grade": False, "locked": False}
    notebook.cells.insert(place(notebook, "causal_mask"), helper)
    cell(notebook, "causal_mask").source = "def causal_mask(size):\n    return torch.triu(blocked(size), 1)"


def reset_in_every_answer(notebook: NotebookNode) -> None:
    for name, source in RIGHT.items():
        cell(notebook, name).source = f"%reset -f\nimport torch\nfrom tutor.checks import check\n\n{source}"


def helper_and_reset(notebook: NotebookNode) -> None:
    notebook.cells.insert(place(notebook, "causal_mask"), code("def low():\n    return -torch.inf"))
    cell(notebook, "causal_mask").source = MASK.replace("-torch.inf", "low()")
    notebook.cells.insert(place(notebook, "causal_mask_check") + 1, code("%reset -f\nimport torch"))
    notebook.cells.insert(place(notebook, "attention_weights"), code("from tutor.checks import check"))


def same_helper_twice(notebook: NotebookNode) -> None:
    cell(notebook, "causal_mask").source = "def helper(n):\n    return torch.full((n, n), -torch.inf)\n\n\ndef causal_mask(size):\n    return torch.triu(helper(size), 1)"  # fmt: skip
    cell(notebook, "padding_mask").source = "def helper(n):\n    return n.clamp(min=1)[:, None]\n\n\ndef padding_mask(lengths, size):\n    return torch.arange(size)[None] >= helper(lengths)"  # fmt: skip


def check_of_a_module(notebook: NotebookNode) -> None:
    own(f"%%writefile mine.py\n{ALONE}", "import mine")(notebook)
    with_check(notebook, "causal_mask", "check(mine.causal_mask)")


HABITS: dict[str, Habit] = {
    "writefile_and_import": own(f"%%writefile mine.py\n{ALONE}", "from mine import causal_mask"),
    "writefile_and_star": own(f"%%writefile mine.py\n{ALONE}", "from mine import *"),
    "writefile_above": above(f"%%writefile mine.py\n{ALONE}", "from mine import causal_mask"),
    "writefile_and_star_above": above(f"%%writefile mine.py\n{ALONE}", "from mine import *"),
    "writefile_and_use": own("pass", f"%%writefile mine.py\n{ALONE}", "import mine\ncausal_mask = mine.causal_mask"),
    "writefile_appended": own("%%writefile mine.py\nimport torch", f"%%writefile -a mine.py\n{MASK}", "from mine import causal_mask"),
    # Python goes by size and second: a file of the same size, written in the same second, is not loaded anew.
    "writefile_anew_and_reload": own("%%writefile mine.py\nimport torch\ndef causal_mask(size):\n    return 'not yet'", "import mine, importlib", f"%%writefile mine.py\n{ALONE}", "importlib.reload(mine)\nfrom mine import causal_mask"),
    "writefile_and_autoreload": own("%load_ext autoreload\n%autoreload 2", "%%writefile mine.py\nimport torch\ndef causal_mask(size):\n    return 'not yet'", "from mine import causal_mask", f"%%writefile mine.py\n{ALONE}"),
    "writefile_in_a_folder": own("import os\nos.makedirs('parts', exist_ok=True)\n%cd parts", f"%%writefile mine.py\n{ALONE}", "from mine import causal_mask"),
    "package": own("!mkdir -p parts && touch parts/__init__.py", f"%%writefile parts/masks.py\n{ALONE}", "from parts.masks import causal_mask"),
    "run": own(f"%%writefile mine.py\n{ALONE}", "%run mine.py"),
    "run_above": above(f"%%writefile mine.py\n{ALONE}", "%run mine.py"),
    "run_in_the_notebook": own(f"%%writefile mine.py\n{MASK}", "%run -i mine.py"),
    "exec_of_a_file": above(f"%%writefile mine.py\n{ALONE}", "exec(open('mine.py').read())"),
    "written_by_python": above(f"open('mine.py', 'w').write({ALONE!r})", "import mine\nfrom mine import causal_mask"),
    "check_of_a_module": check_of_a_module,
    "reset_below": own(MASK, below="%reset -f"),
    "reset_at_once": own(MASK, "check(causal_mask)\n%reset -f", "import torch, sympy\nfrom tutor.checks import check"),
    "reset_in_every_answer": reset_in_every_answer,
    "helper_and_reset": helper_and_reset,
    "reset_selective": own(MASK, below="%reset_selective -f torch"),
    "reset_by_python": own(MASK, below="get_ipython().reset(new_session=False)"),
    "globals_cleared": own(MASK, below="for name in [one for one in globals() if not one.startswith('_')]:\n    globals().pop(name)"),
    "names_deleted": own(MASK, below="del torch, causal_mask"),
    "name_rebound": own(MASK, below="torch = 5"),
    "default_dtype": own(MASK, below="torch.set_default_dtype(torch.float64)\ntorch.softmax = None"),
    "compile": own(f"@torch.compile\n{MASK}", "causal_mask(3)"),
    "compile_with_options": own(f"@torch.compile(fullgraph=True, dynamic=True)\n{MASK}"),
    "compile_called": own(f"{MASK}\ncausal_mask = torch.compile(causal_mask, mode='reduce-overhead')"),
    "compile_a_module": own("class Mask(torch.nn.Module):\n    def forward(self, size):\n        return torch.triu(torch.full((size, size), -torch.inf), 1)\n\n\ncausal_mask = Mask()\ncausal_mask.compile()"),
    "jit_script": own("@torch.jit.script\ndef causal_mask(size: int):\n    return torch.triu(torch.full((size, size), float('-inf')), 1)"),
    "partial": own("import functools\ndef mask(value, size):\n    return torch.triu(torch.full((size, size), value), 1)\n\n\ncausal_mask = functools.partial(mask, -torch.inf)"),
    "vmap": own("one_row = lambda i, row: torch.where(row > i, -torch.inf, 0.0)\ndef causal_mask(size):\n    row = torch.arange(size)\n    return torch.vmap(one_row, in_dims=(0, None))(row, row)"),
    "trace": own("traced = torch.jit.trace(lambda square: torch.triu(square, 1), torch.ones(2, 2))\ndef causal_mask(size):\n    return traced(torch.full((size, size), -torch.inf))"),
    "in_a_class": own("class Answers:\n    @staticmethod\n    def mask(size):\n        return torch.triu(torch.full((size, size), -torch.inf), 1)\n\n\ncausal_mask = Answers.mask"),
    "bound_below": own("def my_mask(size):\n    return torch.triu(torch.full((size, size), -torch.inf), 1)", "causal_mask = my_mask"),
    "global_state": own("calls = 0\ndef causal_mask(size):\n    global calls\n    calls += 1\n    return torch.triu(torch.full((size, size), -torch.inf), 1)"),
    "main_guard": own(f"{MASK}\nif __name__ == '__main__':\n    print(causal_mask(3))"),
    "env": own("%env LOWEST=-inf", "import os\ndef causal_mask(size):\n    return torch.triu(torch.full((size, size), float(os.environ['LOWEST'])), 1)"),
    "time": own(f"%%time\n{MASK}"),
    "capture": own(f"%%capture output\n{MASK}"),
    "timeit_and_more": own(MASK, "%%timeit -n 1 -r 1\ncausal_mask(3)", "%timeit -n 1 -r 1 causal_mask(3)", "%prun -q causal_mask(3)"),
    "other_languages": own(MASK, "%%html\n<b>mask</b>", "%%latex\n$m_{ij}$", "%%bash\necho done", "%%javascript\nalert(1)", "%%markdown\ntext", f"%%script {sys.executable}\nprint(1)"),
    "missing_magic": own(MASK, "%%cython\ndef f(): pass", "%load missing.py", "%%nothing\nx"),
    "two_in_one": two_in_one,
    "two_in_a_later_one": two_in_a_later_one,
    "all_first": all_first,
    "all_last": all_last,
    "stub_copied_behind": stub_copied_behind,
    "short_stub_behind": short_stub_behind,
    "stub_without_id_behind": stub_without_id_behind,
    "answer_above_its_stub": above(MASK),
    "lambda_above_its_stub": above("causal_mask = lambda size: torch.triu(torch.full((size, size), -torch.inf), 1)"),
    "answer_in_the_check": answer_in_the_check,
    "merged_with_its_check": merged_with_its_check,
    "imports_in_the_first_cell": imports_in_the_first_cell,
    "cell_of_another_notebook": cell_of_another_notebook,
    "same_helper_twice": same_helper_twice,
    "file_beside": own("from mine import causal_mask"),
    "file_beside_run": own("%run mine.py"),
    "file_beside_of_two": own("import both\ncausal_mask = both.causal_mask"),
    "file_beside_in_a_folder": own("from parts.masks import causal_mask"),
    "data_beside": own("import json\nlowest = float(json.load(open('numbers.json'))['lowest'])\ndef causal_mask(size):\n    return torch.triu(torch.full((size, size), lowest), 1)"),
}  # fmt: skip
# What lies beside each notebook; only what its cells name may matter.
BESIDE = {
    "file_beside": {"mine.py": ALONE},
    "file_beside_run": {"mine.py": ALONE},
    "file_beside_of_two": {"both.py": "from mine import causal_mask", "mine.py": ALONE},
    "file_beside_in_a_folder": {"parts/masks.py": ALONE},
    "data_beside": {"numbers.json": '{"lowest": "-inf"}'},
}
# Right when each cell is run as it is written; run from top to bottom, a cell still to be written takes the answer's place.
RED_BY_RUN_ALL = {
    *("writefile_above", "writefile_and_star_above", "run_above", "exec_of_a_file", "written_by_python"),
    *("answer_above_its_stub", "lambda_above_its_stub", "all_first", "two_in_one", "all_last", "two_in_a_later_one"),
}
# One of each kind: files, a name that is lost, cells that were moved or copied, what lies beside the notebook.
SAMPLE = ["writefile_and_import", "helper_and_reset", "two_in_one", "file_beside"]


def filled(name: str) -> NotebookNode:
    notebook = released()
    for exercise_name, source in RIGHT.items():
        cell(notebook, exercise_name).source = source
    HABITS[name](notebook)
    return notebook


def put(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True)
    (folder / f"{ASSIGNMENT}.ipynb").write_text(nbformat.writes(filled(name)), encoding="utf-8")
    for file, text in BESIDE.get(name, {}).items():
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def outputs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, dict[str, str]]]:
    """What `check` says in each notebook of this run where its student works, and the errors of its cells."""
    tests = [item for item in request.session.items if isinstance(item, pytest.Function) and item.path == request.path]
    asked = {test.callspec.params["name"] for test in tests if "outputs" in test.fixturenames}
    names = [name for name in HABITS if name in asked]
    folders = [put(tmp_path_factory.mktemp("work") / name, name) for name in names]
    environment = {name: value for name, value in os.environ.items() if name != "NBGRADER_EXECUTION"}
    environment |= {
        "CXX": "no-compiler",  # as on many a laptop: the cells that call what is compiled stop, and its check does not
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "IPYTHONDIR": str(tmp_path_factory.mktemp("ipython")),
    }
    ran = subprocess.run(
        [sys.executable, PROGRAM, *folders], env=environment, capture_output=True, text=True, check=True
    )
    return dict(zip(names, map(json.loads, ran.stdout.splitlines()), strict=True))


@pytest.fixture(scope="module")
def students() -> Iterator[ForkServerClient]:
    with ForkServerClient() as made:
        yield made


@dataclass(frozen=True)
class Public:
    """An exercise that asks what `check` asks: what is graded here is how cells are run, not what is drawn."""

    name: str

    def variant(self, seed: str) -> Examples:
        return public_examples(self.name)[self.name]


def graded(students: ForkServerClient, folder: Path) -> Graded:
    master = load_master(Course(ROOT), ASSIGNMENT)
    asked: Any = {name: Public(name) for name in catalogue.names(ASSIGNMENT)}
    return grade(students, master, read(folder, master), asked, "public")


@pytest.mark.parametrize("name", [*SAMPLE, *all_only(*(one for one in HABITS if one not in SAMPLE))])
def test_what_check_calls_right_is_right_in_grading(
    students: ForkServerClient, outputs: dict[str, dict[str, dict[str, str]]], tmp_path: Path, name: str
) -> None:
    result = graded(students, put(tmp_path / "ada" / ASSIGNMENT, name))
    verdicts = {one: str(verdict) for one, verdict in result.verdicts.items()}
    lost = [one for one in RIGHT if result.verdicts[one].outcome != "right"]
    assert not lost, (verdicts, result.errors, result.repairs)
    right = {one for one, text in outputs[name]["said"].items() if "all checks passed" in text}
    assert right >= set(RIGHT) or name in RED_BY_RUN_ALL, (outputs[name], right)


def changed(folder: Path, change: Habit) -> Path:
    """Writes a submission with right answers, but for a change."""
    notebook = released()
    for name, source in RIGHT.items():
        cell(notebook, name).source = source
    change(notebook)
    folder.mkdir(parents=True)
    (folder / f"{ASSIGNMENT}.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")
    return folder


TOLD = {
    "module_not_handed_in": (
        above("from missing import causal_mask"),
        "a cell that is no answer's own stopped: ModuleNotFoundError: No module named 'missing'",
    ),
    "other_name": (own(MASK.replace("causal_mask", "my_mask")), "no cell defines causal_mask"),
}


def older_notebook(notebook: NotebookNode) -> None:
    """One of an older release: its first cell, and an answer, import what has moved since."""
    older = "from helpers.check import check\nfrom helpers.data import PAD, load\nfrom helpers.hints import hint"
    cell(notebook, "setup").source = cell(notebook, "setup").source.replace(
        "from tutor import by_hand, check, guess, hint, reveal", older
    )
    assert older in cell(notebook, "setup").source
    notebook.cells.append(code("from helpers.progress import progress"))
    cell(notebook, "causal_mask").source = f"from helpers import data\n{MASK.replace('1)', 'data.PAD + 1)')}"


def test_an_older_notebook_loses_no_mark(students: ForkServerClient, tmp_path: Path) -> None:
    result = graded(students, changed(tmp_path / "ada" / ASSIGNMENT, older_notebook))
    assert [result.verdicts[name].outcome for name in RIGHT] == ["right"] * len(RIGHT), result.errors
    assert not result.errors


@pytest.mark.parametrize("name", TOLD)
def test_what_grading_cannot_do_is_reported(students: ForkServerClient, tmp_path: Path, name: str) -> None:
    change, sentence = TOLD[name]
    result = graded(students, changed(tmp_path / "ada" / ASSIGNMENT, change))
    assert result.verdicts["causal_mask"].earned == 0
    assert any(line.startswith(sentence) for line in result.repairs), result.repairs
    assert result.verdicts["padding_mask"].outcome == "right"


def test_a_check_of_something_else_says_what_grading_asks(capsys: pytest.CaptureFixture[str]) -> None:
    world: dict[str, Any] = {"__name__": "__main__", "torch": torch, "check": check}
    exec(f"{MASK}\nmy_mask = lambda size: causal_mask(size)\ncheck(my_mask, 'causal_mask')", world)
    output = capsys.readouterr().out
    assert "all checks passed" in output
    assert "Grading asks what your notebook calls `causal_mask`, which is not what was checked here" in output
    exec("check(causal_mask)", world)
    assert "Grading asks" not in capsys.readouterr().out


@pytest.mark.all
def test_two_students_graded_without_a_sandbox_do_not_find_each_others_files() -> None:
    with ForkServerClient(protected=False) as unprotected:
        first, second = unprotected.student(), unprotected.student()
        assert first.run("open('mine.py', 'w').write('value = 1')", 10.0) == ""
        assert first.run("import mine", 10.0) == ""
        assert "No module named 'mine'" in second.run("import mine", 10.0)
        first.close()
        second.close()
