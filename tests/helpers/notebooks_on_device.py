"""Runs the cells of notebooks on the stand-in device: all of them in full, which takes long, so it is done by hand.

    python -m tests.helpers.notebooks_on_device                 every notebook, each in a process of its own
    python -m tests.helpers.notebooks_on_device 01 06           these
    python -m tests.helpers.notebooks_on_device --everywhere 10 also where the source says `torch.device("cpu")`

Set-up cells, solutions and experiments run; checks do not, since they ask an answer with tensors of their own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grading.authoring import source as sources
from helpers import corpora
from tests.helpers import stand_in_device

ROOT = Path(__file__).resolve().parents[2]
RUN = ("setup", "exercise", "experiment", "interactive", "measured", "code")


def run_notebook(source: Path, *, everywhere: bool = False, rows: int | None = None) -> dict[str, Any]:
    """Runs the code of a notebook's source in this process, and returns its variables.

    Args:
        source: such as `solutions/01_causal_mask.py`.
        everywhere: whether `torch.device("cpu")` in the source becomes the stand-in device, too.
        rows: how many rows of each part of a corpus the notebook finds; without it, all.

    Raises:
        Exception: what a cell raises, with the lines of the source in its traceback.
    """

    def load_few(name: str, drop_copies: bool = False) -> corpora.Corpus:
        corpus = load(name, drop_copies)
        parts = {part: replace(split, rows=split.rows[:rows]) for part, split in corpus.parts.items()}
        return replace(corpus, parts=parts)

    variables: dict[str, Any] = {"__name__": "__main__", "display": print}
    load = corpora.load
    corpora.load = load if rows is None else load_few
    try:
        for cell in sources.read(source):
            if cell.kind not in RUN:
                continue
            text = cell.source
            if everywhere:
                text = text.replace('torch.device("cpu")', f'torch.device("{stand_in_device.NAME}")')
            code = compile("\n" * cell.line + text, str(source), "exec")  # so that lines are those of the file
            exec(code, variables)
    finally:
        corpora.load = load
    return variables


def main(arguments: Sequence[str]) -> int:
    """Runs the notebooks that the command line names; returns 1 when one fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("numbers", nargs="*", help="such as 01; without any, all notebooks")
    parser.add_argument("--everywhere", action="store_true", help='replace torch.device("cpu") in the sources')
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # in this process, one notebook
    parser.add_argument("--rows", type=int, help="leave only so many rows in each part of a corpus")
    options = parser.parse_args(arguments)
    found = [
        p for p in sorted((ROOT / "solutions").glob("*.py")) if not options.numbers or p.name[:2] in options.numbers
    ]
    if options.here:
        stand_in_device.install()
        run_notebook(found[0], everywhere=options.everywhere, rows=options.rows)
        return 0
    failed = 0
    for path in found:
        begun = time.perf_counter()
        command = [sys.executable, "-m", "tests.helpers.notebooks_on_device", "--here", path.name[:2]]
        command += ["--everywhere"] * options.everywhere + (["--rows", str(options.rows)] if options.rows else [])
        settings = {"COURSE_DEVICE": stand_in_device.NAME, "MPLBACKEND": "Agg"}
        done = subprocess.run(command, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True)
        failed += done.returncode != 0
        print(
            f"{path.stem}: {'runs' if done.returncode == 0 else 'FAILS'}, {time.perf_counter() - begun:.0f} s",
            flush=True,
        )
        if done.returncode:
            print("    " + "\n    ".join(done.stderr.splitlines()[-12:]), flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
