"""Run the code cells of notebooks as a student's kernel would, one process each, and print what `check` says in them.

`python run_in_notebook.py FOLDER...`: in each folder lies one notebook. Prints a line of JSON for each: the last first
line of each exercise's check, by exercise, and the errors of cells.
"""

import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import matplotlib as mpl
import nbformat
import pandas  # noqa: F401 - what notebooks need is imported once, for all
import sympy  # noqa: F401
import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import helpers.models
import helpers.plots  # noqa: F401
from grading.notebooks.cells import is_experiment


def run(folder: Path) -> dict[str, dict[str, str]]:
    """Returns what the checks say, and the errors of cells by their numbers; runs all cells but experiments."""
    os.chdir(folder)
    sys.path[0] = ""  # as in a kernel
    settings = Config()
    settings.HistoryManager.enabled = False
    settings.InteractiveShell.colors = "nocolor"
    shell = InteractiveShell.instance(config=settings)
    (path,) = folder.glob("[!.]*.ipynb")
    outputs, errors = dict[str, str](), dict[str, str]()
    for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
        if cell.cell_type != "code" or is_experiment(cell):
            continue
        printed = StringIO()
        with redirect_stdout(printed), redirect_stderr(StringIO()):
            result = shell.run_cell(cell.source)
        if problem := result.error_before_exec or result.error_in_exec:
            errors[str(number)] = f"{type(problem).__name__}: {problem}"
        for line in printed.getvalue().splitlines():
            name, found, rest = line.partition(": ")
            if found and " points" in rest and name.isidentifier():
                outputs[name] = printed.getvalue()[printed.getvalue().index(line) :]
    return {"said": outputs, "errors": errors}


if __name__ == "__main__":
    mpl.use("agg")
    torch.set_num_threads(1)
    for folder in sys.argv[1:]:
        if not (child := os.fork()):
            sys.__stdout__.write(json.dumps(run(Path(folder))) + "\n")
            sys.__stdout__.flush()
            os._exit(0)
        os.waitpid(child, 0)
