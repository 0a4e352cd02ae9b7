"""Solution notebooks without their experiments, for nbval: set-up, answers, checks, and what they show.

No mark depends on an experiment, and experiments take nearly all of a notebook's time: they train. `make test` replays
the notebooks so, in kernels that share one import of the libraries (`tests/kernels.py`), and `make test-all` in full,
in kernels that share nothing.
"""

import json
from pathlib import Path

from grading.notebooks.cells import is_experiment
from tests.tiers import ROOT
from tutor.files import write_whole

FOLDER = ROOT / ".cache" / "replay"


def write(folder: Path = FOLDER) -> None:
    """Writes each solution notebook without its experiments, and deletes those of notebooks that are gone."""
    made = set()
    for path in sorted((ROOT / "solutions").glob("*/*.ipynb")):
        notebook = json.loads(path.read_text("utf-8"))
        notebook["cells"] = [cell for cell in notebook["cells"] if not is_experiment(cell)]
        cut = folder / path.parent.name / path.name
        write_whole(cut, json.dumps(notebook))
        made.add(cut)
    for path in folder.glob("*/*.ipynb"):
        if path not in made:
            path.unlink()
