"""What notebook 16 shows of a real model, measured with its own cells.

    python -m benchmarks.real_model --out data/measured_here     # two minutes on one core without a GPU

The model must be there: `python -m helpers.weights fetch smollm2` fetches it once. The exercises of the notebook's
source run, so that the model is that of its solutions, and then the cells of its last experiments. The tables that
these keep are written, one file each.
"""

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
import torch

from grading.authoring import source
from grading.folder.course import Course

NOTEBOOK = "16_real_model"


def tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Yields the tables that the cells of the notebook keep, by name, as soon as they are there.

    Raises:
        SystemExit: the model is not there.
    """
    matplotlib.use("Agg")
    variables: dict[str, Any] = {"__name__": "__main__", "found": {}}
    printed, reached = set[str](), False
    for cell in source.read(Course().source(NOTEBOOK)):
        reached = reached or "GGUF_NAMES" in cell.source
        if cell.kind in ("setup", "exercise") or (reached and cell.kind == "measured"):
            exec(compile(cell.source, f"<{NOTEBOOK}:{cell.line}>", "exec"), variables)
        if reached and variables["real"] is None:
            raise SystemExit("the real model is not here: python -m helpers.weights fetch smollm2")
        for name, table in variables["found"].items():
            if name not in printed:
                printed.add(name)
                yield name, table


def main() -> None:
    """Writes the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results"), help="the folder of the tables")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, table in tables():
        path = arguments.out / f"{name}.tsv"
        table.to_csv(path, sep="\t", index=False, float_format="%.4g", quoting=csv.QUOTE_NONE, lineterminator="\n")
        print(f"{path}: {len(table)} rows")


if __name__ == "__main__":
    main()
