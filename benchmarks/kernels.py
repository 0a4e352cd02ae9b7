"""Measures the memory of a notebook's kernel: ready, after the set-up, and after the whole solution (Linux).

    python -m benchmarks.kernels
    python -m benchmarks.kernels --only 01_causal_mask
    python -m benchmarks.kernels --cells 16_real_model             # each cell that takes a second of CPU or more

Private memory is what one kernel more takes; PSS adds its part of what all kernels share, such as PyTorch's code. Real
models that were fetched (`COURSE_DATA_CACHE`) are found. The peak of a cell is reset through /proc (VmHWM; pages of
files and libraries are among it). Seconds are the kernel's CPU time: a clock says more of what else a machine does.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
LEAST = 1.0  # CPU seconds of a cell that has a row
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


def peak(process: int) -> float:
    """Returns the most MB that a process has had in memory since this was asked last."""
    lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    [kilobytes] = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    Path(f"/proc/{process}/clear_refs").write_text("5", "ascii")
    return int(kilobytes) / 1024


def cells(name: str) -> Iterator[tuple[str, float, float, float]]:
    """Runs a solution, and yields of each cell its caption, CPU seconds, peak and what is held behind it, in MB."""
    notebook = nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=None, resources={"metadata": {"path": folder}})
        with client.setup_kernel(env=os.environ | {"PYTHONPATH": str(ROOT)}):
            assert client.km is not None
            process = client.km.provisioner.pid
            for number, cell in enumerate(notebook.cells):
                before, _ = memory(process)["cpu"], peak(process)
                client.execute_cell(cell, number)
                after = memory(process)
                caption = cell.source.strip().partition("\n")[0].removeprefix("# @title ")
                yield caption, after["cpu"] - before, peak(process), after["rss"]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=NAMES, help="this notebook (again: and this one)")
    parser.add_argument("--cells", metavar="NAME", help="each cell of this notebook, in place of the table")
    options = parser.parse_args()
    if options.cells:
        print("| cell | CPU, s | peak, MB | held, MB |\n|---|---|---|---|")
        for caption, seconds, most, held in cells(options.cells):
            if seconds >= LEAST:
                print(f"| {caption} | {seconds:.1f} | {most:,.0f} | {held:,.0f} |", flush=True)
        return
    print("| kernel | private, MB | PSS, MB | RSS, MB | CPU, s |\n|---|---|---|---|---|")
    for name in options.only or NAMES:
        for state, taken in states(name):
            figures = " | ".join(f"{taken[part]:.0f}" for part in ("private", "pss", "rss"))
            print(f"| {state} | {figures} | {taken['cpu']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
