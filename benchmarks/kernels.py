"""Measures the memory of a notebook's kernel: ready, after the set-up, and after the whole solution (Linux).

    python -m benchmarks.kernels
    python -m benchmarks.kernels --only 01_causal_mask

Private memory is what one kernel more takes; PSS adds its part of what all kernels share, such as PyTorch's code.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("01_causal_mask", "06_pretrained_vs_scratch", "11_translation", "14_own_gpt")


def memory(process: int) -> dict[str, float]:
    """Returns MB of a process: private, pss (shared pages by their part), rss, and CPU seconds so far."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    sizes = {name: int(value.split()[0]) / 1024 for name, _, value in (line.partition(":") for line in lines)}
    ticks = sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]))
    private = sizes["Private_Clean"] + sizes["Private_Dirty"]
    return {"private": private, "pss": sizes["Pss"], "rss": sizes["Rss"], "cpu": ticks / os.sysconf("SC_CLK_TCK")}


def states(name: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Runs a solution in a kernel with one thread, and yields what it takes at three points."""
    notebook = nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4)
    client = NotebookClient(notebook, timeout=3600, resources={"metadata": {"path": str(ROOT)}})
    with client.setup_kernel(env=os.environ | {"OMP_NUM_THREADS": "1"}):
        assert client.km is not None
        process = client.km.provisioner.pid
        yield "ready", memory(process)
        [setup, *_] = [number for number, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
        for number, cell in enumerate(notebook.cells):
            client.execute_cell(cell, number)
            if number == setup:
                yield f"after the set-up of {name}", memory(process)
        yield f"after the whole solution of {name}", memory(process)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=NAMES, help="this notebook (again: and this one)")
    print("| kernel | private, MB | PSS, MB | RSS, MB | CPU, s |\n|---|---|---|---|---|")
    for name in parser.parse_args().only or NAMES:
        for state, taken in states(name):
            figures = " | ".join(f"{taken[part]:.0f}" for part in ("private", "pss", "rss"))
            print(f"| {state} | {figures} | {taken['cpu']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
