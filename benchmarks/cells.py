"""Memory and processor time of each cell of a notebook, measured from outside its kernel.

    python -m benchmarks.cells solutions/16_real_model/16_real_model.ipynb               # cells of a second and more
    python -m benchmarks.cells solutions/16_real_model/16_real_model.ipynb --all         # every cell

A kernel runs the notebook as it stands, in an empty folder; where real models were fetched (`COURSE_DATA_CACHE`), its
cells find them. *Peak* is the most that the kernel had in memory while a cell ran (Linux: VmHWM, pages of files and of
libraries among it), *held* what it has behind it. Seconds are those of the kernel's processor time, since those of a
clock say more of what else the machine does. Linux only: the peak is reset through /proc.
"""

import argparse
import os
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

LEAST = 1.0  # seconds of a cell that is printed without --all


def megabytes(process: int, name: str) -> float:
    """Returns one of the figures that Linux has of a process's memory."""
    lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    [kilobytes] = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
    return int(kilobytes) * 1024 / 1e6


def seconds(process: int) -> float:
    """Returns the processor time that a process has had."""
    told = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Prints a row for each cell, and one for the whole notebook."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--all", action="store_true", help="every cell, not only those of a second and more")
    settings = parser.parse_args()
    notebook = nbformat.read(settings.notebook, as_version=4)
    print("| cell | CPU s | peak, MB | held, MB |\n|---|---|---|---|")
    highest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=None, resources={"metadata": {"path": folder}})
        with client.setup_kernel():
            kernel = client.km.provisioner.process.pid
            for place, cell in enumerate(notebook.cells):
                if cell.cell_type != "code" or not cell.source.strip():
                    continue
                Path(f"/proc/{kernel}/clear_refs").write_text("5", "ascii")  # the peak begins anew
                before = seconds(kernel)
                client.execute_cell(cell, place)
                took, peak = seconds(kernel) - before, megabytes(kernel, "VmHWM")
                highest = max(highest, peak)
                if settings.all or took >= LEAST:
                    caption = cell.source.strip().splitlines()[0].removeprefix("# @title ")
                    print(f"| {caption} | {took:.1f} | {peak:,.0f} | {megabytes(kernel, 'VmRSS'):,.0f} |", flush=True)
            print(f"| all | {seconds(kernel):.0f} | {highest:,.0f} | {megabytes(kernel, 'VmRSS'):,.0f} |")
    print("load: {:.0f}, {:.0f}, {:.0f} processes in the last 1, 5, 15 minutes".format(*os.getloadavg()))


if __name__ == "__main__":
    main()
