"""What work beside does to a notebook: a training cell beside busy processes, and many notebooks at once.

    python -m benchmarks.busy                   # about 5 minutes on two quiet cores
    python -m benchmarks.busy --spinning        # and with PyTorch's own threads, which spin: 10 minutes more
    python -m benchmarks.busy --busy 0 --notebooks 2

First the training cell of notebook 01 alone, in turns, in kernels with the settings of `make lab`, of a hub, and of the
wheel where PyTorch is loaded before it (Colab); its time is divided by that of a kernel on one thread in the same turn.
Then the solution of notebook 01 several times at once, with the same settings; the time is divided by that with as many
threads as cores, where those that wait sleep. A check that says "took too long" is counted.
"""

import argparse
import asyncio
import copy
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from deploy.environment import KERNELS
from grading.folder.course import ROOT, Course
from helpers.threads import SETTINGS

NOTEBOOK = "01_causal_mask"
SECONDS = 3600  # for a cell: nothing here is to be stopped
ONE, ASLEEP, SPINNING = "one thread", "threads that sleep", "threads that spin"
# Loads PyTorch with its own settings; `helpers` sees that threads sleep and leaves them alone.
SPIN = "import os, torch; os.environ['OMP_WAIT_POLICY'] = 'passive'"


def settings_of_a_hub() -> dict[str, str]:
    """Returns what `deploy/hub/roles.py` says of threads; to import it one needs JupyterHub."""
    [text] = re.findall(r"^THREADS = (.*)", (ROOT / "deploy" / "hub" / "roles.py").read_text("utf-8"), re.MULTILINE)
    return dict(json.loads(text))


class Way:
    """How a kernel is started: with which environment, and whether the course's extension is loaded first."""

    def __init__(self, place: Path, variables: dict[str, str], *, extension: bool = True, first: str = "") -> None:
        others = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        profile = Path(tempfile.mkdtemp(dir=place)) / "profile_default"
        profile.mkdir()
        if extension:
            shutil.copy(KERNELS, profile)
        self.environment = others | {"IPYTHONDIR": str(profile.parent), "MPLBACKEND": "agg"} | variables
        self.first, self._place = first, place

    def client(self, notebook: NotebookNode) -> NotebookClient:
        """Returns who runs a copy of a notebook."""
        notebook = copy.deepcopy(notebook)
        if self.first:
            notebook.cells.insert(0, nbformat.v4.new_code_cell(self.first))
        where = {"metadata": {"path": str(self._place)}}
        return NotebookClient(notebook, timeout=SECONDS, iopub_timeout=SECONDS, startup_timeout=600, resources=where)


def ways(place: Path, *, spinning: bool) -> dict[str, Way]:
    """Returns how kernels are started, by name."""
    found = {
        ONE: Way(place, {"OMP_NUM_THREADS": "1"}, extension=False),
        ASLEEP: Way(place, {"OMP_WAIT_POLICY": "passive"}, extension=False),
        "make lab": Way(place, {}),
        "hub": Way(place, settings_of_a_hub()),
        "wheel, PyTorch first": Way(place, {}, extension=False, first="import torch"),
    }
    return found | ({SPINNING: Way(place, {}, extension=False, first=SPIN)} if spinning else {})


@contextmanager
def busy(count: int):
    """Lets so many processes work that never wait."""
    with ExitStack() as stack:
        for _ in range(count):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(process.kill)
        yield


async def train(chosen: dict[str, Way], settings: argparse.Namespace) -> dict[str, list[float]]:
    """Returns the seconds of the training cell beside busy processes, by way and in turns."""
    notebook = nbformat.read(Course(ROOT).solution(NOTEBOOK), 4)
    cells = [one for one in notebook.cells if one.cell_type == "code"]
    notebook.cells = [one for one in cells if one.id.startswith("setup") or ".backward()" in one.source]
    times: dict[str, list[float]] = {name: [] for name in chosen}
    async with AsyncExitStack() as stack:
        clients = {name: way.client(notebook) for name, way in chosen.items()}
        for name, client in clients.items():
            await stack.enter_async_context(client.async_setup_kernel(env=chosen[name].environment))
            for index, cell in enumerate(client.nb.cells):
                await client.async_execute_cell(cell, index)  # the training too: its first run loads what it needs
        with busy(settings.busy):
            for _ in range(settings.rounds):
                for name, client in clients.items():
                    start = time.perf_counter()
                    await client.async_execute_cell(client.nb.cells[-1], len(client.nb.cells) - 1)
                    times[name].append(time.perf_counter() - start)
    return times


async def together(way: Way, count: int) -> tuple[float, int, int]:
    """Returns the seconds in which so many copies of the solution have run, the checks, and those that were late."""
    notebook = nbformat.read(Course(ROOT).solution(NOTEBOOK), 4)
    clients = [way.client(notebook) for _ in range(count)]
    start = time.perf_counter()
    await asyncio.gather(*(client.async_execute(env=way.environment) for client in clients))
    seconds = time.perf_counter() - start
    shown = [json.dumps(cell.get("outputs", "")) for client in clients for cell in client.nb.cells]
    return seconds, sum("all checks passed" in one for one in shown), sum("took too long" in one for one in shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--busy", type=int, default=24, help="busy processes beside the training cell (default 24)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of the training cell (default 3)")
    parser.add_argument("--notebooks", type=int, default=8, help="notebooks at once (default 8)")
    parser.add_argument("--spinning", action="store_true", help="also with threads that spin, as PyTorch has them")
    settings = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chosen = ways(Path(folder), spinning=settings.spinning)
        print(f"{os.cpu_count()} cores; load {os.getloadavg()[0]:.0f} before it begins\n")
        times = asyncio.run(train(chosen, settings))
        print(f"| training cell beside {settings.busy} busy processes | s | times {ONE} |\n|---|---|---|")
        for name, seconds in times.items():
            ratio = statistics.median(one / base for one, base in zip(seconds, times[ONE], strict=True))
            print(f"| {name} | {statistics.median(seconds):.1f} | {ratio:.2f} |", flush=True)
        print(f"\n| {settings.notebooks} notebooks at once | s | times {ASLEEP} | checks passed | late |")
        print("|---|---|---|---|---|")
        base = 0.0
        for name in sorted(chosen, key=lambda name: name != ASLEEP):
            took, passed, late = asyncio.run(together(chosen[name], settings.notebooks))
            base = base or took
            print(f"| {name} | {took:.1f} | {took / base:.2f} | {passed} | {late} |", flush=True)


if __name__ == "__main__":
    main()
