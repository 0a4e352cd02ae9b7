"""Honest work that looks odd keeps every point: nothing here is wrong, and each is something that students do."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grading.autograder.grade_submission import Graded, grade
from grading.autograder.graded_notebook import load_master
from grading.autograder.submission import Master, read
from grading.definitions import exercise
from grading.folder.course import ROOT, Course
from grading.sandbox.student_process import ForkServerClient
from tests.classroom.submissions import ASSIGNMENT, AUTOMATIC, cell, perfect

pytestmark = [pytest.mark.sandbox, pytest.mark.all]

MASK = "def causal_mask(size):\n    return torch.triu(torch.full((size, size), -torch.inf), 1)\n"

# What stands before, in or after the answer `causal_mask`, in its own cell. `{mask}` is the right answer.
SOURCES = {
    "future_import": "from __future__ import annotations\n{mask}",
    "stars": "from math import *\nfrom torch.nn import *\n{mask}",
    "shell_line": "!echo hello\n!pip install nothing-that-exists\nfiles = !ls\n{mask}",
    "line_magics": "%matplotlib inline\n%load_ext autoreload\n%autoreload 2\n%config InlineBackend.figure_format = 'retina'\n%time x = 1\n%env MY_SETTING=1\n{mask}",
    "missing_extension": "%load_ext tensorboard\n{mask}",
    "cell_magic": "%%time\n{mask}",
    "capture_magic": "%%capture\n{mask}",
    "other_matplotlib_magics": "%matplotlib notebook\n%matplotlib widget\n%matplotlib qt\n%matplotlib\n{mask}",
    "other_backends": "import matplotlib\nmatplotlib.use('TkAgg')\nimport matplotlib.pyplot as plt\nplt.switch_backend('Qt5Agg')\nplt.plot([1]); plt.show()\n{mask}",
    "interactive_plots": "import matplotlib.pyplot as plt\nplt.ion()\nplt.plot([1])\nplt.pause(0.01)\n{mask}",
    "huge_figure": "import matplotlib.pyplot as plt\nfigure = plt.figure(figsize=(60, 60))\nplt.imshow(torch.rand(500, 500)); plt.show()\n{mask}",
    "many_open_figures": "import matplotlib.pyplot as plt\nfor _ in range(30): plt.figure()\n{mask}",
    "styles": "import matplotlib.pyplot as plt, numpy as np, pandas as pd\nplt.style.use('ggplot'); plt.rcParams.update({'figure.dpi': 300})\nnp.set_printoptions(precision=2); torch.set_printoptions(sci_mode=False); pd.set_option('display.max_rows', 5)\n{mask}",
    "threads": "import os\nos.environ['OMP_NUM_THREADS'] = '8'\ntorch.set_num_threads(8)\ntorch.set_num_interop_threads(2)\n(torch.rand(400, 400) @ torch.rand(400, 400)).sum()\n{mask}",
    "torch_settings": "torch.manual_seed(7); torch.use_deterministic_algorithms(True); torch.autograd.set_detect_anomaly(True)\ntorch.set_grad_enabled(False); torch.set_default_dtype(torch.float64); torch.set_default_device('cpu')\n{mask}",
    "device_of_its_own": "device = torch.device('cuda' if torch.cuda.is_available() else 'mps' if torch.backends.mps.is_available() else 'cpu')\ndef causal_mask(size):\n    return torch.triu(torch.full((size, size), -torch.inf, device=device), 1)",
    "top_level_await": "import asyncio\nawait asyncio.sleep(0)\n{mask}",
    "input": "name = input('Your name? ')\n{mask}",
    "breakpoint": "def causal_mask(size):\n    breakpoint()\n    return torch.triu(torch.full((size, size), -torch.inf), 1)",
    "logging": "import logging\nlogging.basicConfig(level=logging.DEBUG, force=True)\ndef causal_mask(size):\n    logging.warning('size %s', size)\n    return torch.triu(torch.full((size, size), -torch.inf), 1)",
    "warnings_as_errors": "import warnings\nwarnings.simplefilter('error')\ndef causal_mask(size):\n    warnings.warn('old', DeprecationWarning)\n    return torch.triu(torch.full((size, size), -torch.inf), 1)",
    "deprecated_calls": "import numpy as np\nnp.random.seed(0)\ndef causal_mask(size):\n    torch.tensor(torch.ones(1)); torch.range(0, 1)\n    return torch.triu(torch.full((size, size), -torch.inf), 1)",
    "main_block": "{mask}\nif __name__ == '__main__':\n    print(causal_mask(4))",
    "own_tests": "{mask}\nassert causal_mask(3).shape == (3, 3)\nprint(causal_mask(5))",
    "error_after_the_answer": "{mask}\nprint(undefined_name)",
    "long_output": "for n in range(100_000): print(n)\ndef causal_mask(size):\n    print('x' * 100_000)\n    return torch.triu(torch.full((size, size), -torch.inf), 1)",
    "progress_bar": "from tqdm.auto import tqdm\ndef causal_mask(size):\n    for _ in tqdm(range(50)): pass\n    return torch.triu(torch.full((size, size), -torch.inf), 1)",
    "displays": "from IPython.display import display, HTML, Markdown, clear_output\ndef causal_mask(size):\n    display(HTML('<b>x</b>'), Markdown('x')); clear_output()\n    return torch.triu(torch.full((size, size), -torch.inf), 1)\ndisplay(causal_mask(3))\ncausal_mask(3)",
    "widgets": "from ipywidgets import interact\n{mask}\ninteract(lambda n: print(causal_mask(n)), n=(1, 9));",
    "numpy": "import numpy as np\ndef causal_mask(size):\n    return torch.from_numpy(np.triu(np.full((size, size), -np.inf, dtype=np.float32), k=1))",
    "loops": "def causal_mask(size):\n    mask = torch.zeros(size, size)\n    for i in range(size):\n        for j in range(i + 1, size):\n            mask[i, j] = float('-inf')\n    return mask",
    "lambda": "causal_mask = lambda size: torch.triu(torch.full((size, size), -torch.inf), 1)",
    "annotated_assignment": "from typing import Callable\ncausal_mask: Callable = lambda size: torch.triu(torch.full((size, size), -torch.inf), 1)",
    "cached": "from functools import lru_cache\n@lru_cache\ndef kept(size):\n    return torch.triu(torch.full((size, size), -torch.inf), 1)\ndef causal_mask(size):\n    return kept(size).clone()",
    "callable_object": "class Mask:\n    def __call__(self, size):\n        return torch.triu(torch.full((size, size), -torch.inf), 1)\ncausal_mask = Mask()",
    "decorated": "@torch.no_grad()\n{mask}",
    "parameter_needs_grad": "def causal_mask(size):\n    return torch.nn.Parameter(torch.triu(torch.full((size, size), -torch.inf), 1))",
    "names_that_are_not_ascii": "def causal_mask(größe):\n    дырка = torch.full((größe, größe), -torch.inf)  # 掩码 🙈\n    return torch.triu(дырка, 1)",
    "tabs": "def causal_mask(size):\n\treturn torch.triu(torch.full((size, size), -torch.inf), 1)",
    "own_threads": "from concurrent.futures import ThreadPoolExecutor\ndef causal_mask(size):\n    with ThreadPoolExecutor(4) as pool:\n        rows = list(pool.map(lambda i: torch.where(torch.arange(size) > i, -torch.inf, 0.0), range(size)))\n    return torch.stack(rows)",
    "own_workers": "from torch.utils.data import DataLoader\nfor batch in DataLoader(torch.arange(8), batch_size=4, num_workers=2): pass\n{mask}",
    "own_files": "import getpass, os, pickle, tempfile\nfrom pathlib import Path\nPath('notes.txt').write_text('x'); Path.home(); getpass.getuser(); tempfile.mkdtemp()\nos.makedirs('models', exist_ok=True); torch.save(torch.ones(3), 'models/x.pt'); torch.load('models/x.pt')\nos.chdir('models')\n{mask}",
    "redefines_check": "{mask}\ndef check(answer): print('fine')",
    "colab": "try:\n    from google.colab import drive\nexcept ImportError:\n    drive = None\n{mask}",
}  # fmt: skip


def _with_source(source: str) -> Callable[[NotebookNode], None]:
    def change(notebook: NotebookNode) -> None:
        cell(notebook, "causal_mask").source = source.replace("{mask}", MASK)

    return change


def _answered_below(notebook: NotebookNode) -> None:
    """Leaves the given cell as it was released, and answers in a new cell after it."""
    own = cell(notebook, "causal_mask")
    right, place = own.source, notebook.cells.index(own)
    own.source = cell(nbformat.read(ROOT / "notebooks" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", 4), "causal_mask").source
    notebook.cells.insert(place + 1, nbformat.v4.new_code_cell(right))


def _helper_in_another_cell(notebook: NotebookNode) -> None:
    cell(notebook, "causal_mask").source = f"def blocked(size): return torch.full((size, size), -torch.inf)\n{MASK}"
    cell(notebook, "padding_mask").source = "import math\n" + cell(notebook, "padding_mask").source


def _as_markdown(notebook: NotebookNode) -> None:
    own = cell(notebook, "causal_mask")
    own.cell_type = "markdown"
    del own["outputs"], own["execution_count"]


def _older_release(notebook: NotebookNode) -> None:
    """Makes what an earlier version of nbgrader and of the course would have given."""
    notebook.nbformat_minor = 2
    notebook.cells = [one for one in notebook.cells if one.cell_type == "code" or "nbgrader" in one.metadata]
    for one in notebook.cells:
        one.pop("id", None)
        settings = one.metadata.get("nbgrader")
        if settings:
            settings.update(schema_version=1, checksum="0" * 32)
            settings.pop("cell_type", None)
            if settings["grade"]:
                one.source = "# the check of an earlier year\nassert True"
                settings["points"] = 1


def _other_tools(notebook: NotebookNode) -> None:
    notebook.metadata.update(
        {
            "colab": {"provenance": []},
            "accelerator": "GPU",
            "vscode": {"interpreter": {"hash": "0"}},
            "widgets": {"application/vnd.jupyter.widget-state+json": {"state": 5}},
            "kernelspec": {"name": "julia-1.9", "display_name": "Julia", "language": "julia"},
            "language_info": {"name": "julia"},
        }
    )
    for one in notebook.cells:
        one.metadata.update({"id": "x" * 12, "colab": {"base_uri": "https://x"}, "tags": ["experiment"], "jp": None})
        one["attachments"] = {}


def _copied_at_the_end(notebook: NotebookNode) -> None:
    for one in notebook.cells[-6:]:
        notebook.cells.append(copy.deepcopy(one))


def _first_try_kept(notebook: NotebookNode) -> None:
    """Keeps a wrong first try in a copy of the cell above the right one."""
    own = cell(notebook, "causal_mask")
    first = copy.deepcopy(own)
    first.source = "def causal_mask(size):\n    return 0"
    notebook.cells.insert(notebook.cells.index(own), first)


NOTEBOOKS = {
    "answered_below": _answered_below,
    "helper_in_another_cell": _helper_in_another_cell,
    "answer_as_markdown": _as_markdown,
    "older_release": _older_release,
    "other_tools": _other_tools,
    "copied_at_the_end": _copied_at_the_end,
    "first_try_kept": _first_try_kept,
} | {name: _with_source(source) for name, source in SOURCES.items()}


def _lines(text: str) -> str:
    notebook = json.loads(text)
    for one in notebook["cells"]:
        one["source"] = "".join(one["source"]).splitlines(keepends=True)
    return json.dumps(notebook, indent=4, ensure_ascii=False)


FILES: dict[str, tuple[str, Callable[[str], bytes]]] = {
    "utf_16": (f"{ASSIGNMENT}.ipynb", lambda text: text.encode("utf-16")),
    "carriage_returns": (f"{ASSIGNMENT}.ipynb", lambda text: text.replace("\\n", "\\r").encode()),
    "line_by_line": (f"{ASSIGNMENT}.ipynb", lambda text: _lines(text).encode()),
    "one_line": (f"{ASSIGNMENT}.ipynb", lambda text: json.dumps(json.loads(text)).encode()),
    "space_around": (f"{ASSIGNMENT}.ipynb", lambda text: b"\n\n" + text.encode() + b"\n \n"),
    "name_with_accents": ("Übung de Zoë – copie.ipynb", lambda text: text.encode()),
    "name_in_capitals": ("01_Causal_Mask.IPYNB", lambda text: text.encode()),
}


@pytest.fixture(scope="module")
def students() -> Iterator[ForkServerClient]:
    with ForkServerClient() as made:
        yield made


@pytest.fixture(scope="module")
def master() -> Master:
    return load_master(Course(ROOT), ASSIGNMENT)


def _graded(students: ForkServerClient, master: Master, folder: Path) -> Graded:
    return grade(students, master, read(folder, master), exercise.load(ASSIGNMENT), "ada")


def _full(graded: Graded) -> bool:
    details = {name: (one.earned, one.sentence) for name, one in graded.verdicts.items()}
    assert sum(one.earned for one in graded.verdicts.values()) == AUTOMATIC, (details, graded.errors)
    return True


def test_there_are_enough_oddities() -> None:
    assert len(NOTEBOOKS) + len(FILES) >= 50


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_odd_notebooks_keep_full_marks(students: ForkServerClient, master: Master, tmp_path: Path, name: str) -> None:
    notebook = perfect()
    NOTEBOOKS[name](notebook)
    (tmp_path / f"{ASSIGNMENT}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    assert _full(_graded(students, master, tmp_path))


@pytest.mark.parametrize("name", FILES)
def test_odd_files_keep_full_marks(students: ForkServerClient, master: Master, tmp_path: Path, name: str) -> None:
    file, encoded = FILES[name]
    (tmp_path / file).write_bytes(encoded(nbformat.writes(perfect())))
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".DS_Store").write_bytes(b"\0")
    assert _full(_graded(students, master, tmp_path))
