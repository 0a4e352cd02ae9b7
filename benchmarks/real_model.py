"""What notebook 16 shows of a real model, measured with its own cells.

    python -m helpers.weights fetch smollm2                          # once
    python -m benchmarks.real_model --out data/measured_here         # five minutes on one core

Every cell of the notebook's source that is no essay and no slider runs in order, so that the answers are those of its
solutions. The tables that its cells keep are written, one file each.
"""

import argparse
from pathlib import Path

import matplotlib
import torch

from grading.authoring import source
from grading.folder.course import Course

NOTEBOOK = "16_real_model"
SHOWN = {"setup", "exercise", "experiment", "measured", "code"}


def tables(first: str = "") -> dict[str, object]:
    """Returns the tables that the cells of the notebook keep, by name.

    Args:
        first: cells of training and figures before the one that holds this text are left out.
    """
    matplotlib.use("Agg")
    variables: dict[str, object] = {"__name__": "__main__"}
    reached = not first
    for cell in source.read(Course().source(NOTEBOOK)):
        reached = reached or first in cell.source
        if cell.kind in SHOWN and (reached or cell.kind in ("setup", "exercise")):
            exec(compile(cell.source, f"<{NOTEBOOK}:{cell.line}>", "exec"), variables)
    found = variables["found"]
    assert isinstance(found, dict)
    if variables["real"] is None:
        raise SystemExit("the real model is not here: python -m helpers.weights fetch smollm2")
    return found


def main() -> None:
    """Writes the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results"), help="the folder of the tables")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, table in tables("GGUF_NAMES").items():
        path = arguments.out / f"{name}.tsv"
        table.to_csv(path, sep="\t", index=False, float_format="%.4g", quoting=3, lineterminator="\n")  # type: ignore[attr-defined]
        print(f"{path}: {len(table)} rows")  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
