"""Kernels of many students at once, forked by the hub's service and started by themselves: seconds, and memory (root).

    python -m benchmarks.hub_kernels --python /srv/course/environment/bin/python
    python -m benchmarks.hub_kernels --kernels 4 --notebook 06_pretrained_vs_scratch

--python names one that every account may run; a hub's environment has it. Each kernel is of an account of its own,
without a name, in a process with the limits of a student's JupyterLab, but for the lower priority. All start together;
the seconds are those until the set-up cell has run. Then the rest of the solution is run, once more all together.
Private memory is what one kernel more takes. A check that says "took too long" is counted.
"""

from __future__ import annotations

import argparse
import grp
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.kernels import memory
from deploy.hub import install
from grading.notebooks.cells import BEGIN_HIDDEN

FIRST_ACCOUNT = 61_201
MEMORY, PROCESSES = 2 << 30, 512  # as in `deploy/hub/roles.py`
THREADS = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}
FORKED, PLAIN = "forked", "local-provisioner"
# Runs as an account: a kernel, its set-up cell, and at a word the other cells; it prints a line of JSON after each.
PROGRAM = """
import json, os, sys, time
from importlib.metadata import EntryPoint
from pathlib import Path
import nbclient, nbformat
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import KernelProvisionerFactory as factory

settings, way, notebook = sys.argv[1:]
sys.path.append(settings)
factory.provisioners["forked"] = EntryPoint("forked", "forked_kernels:ForkedProvisioner", factory.GROUP_NAME)
os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] = way
os.environ["JPY_SESSION_NAME"] = notebook
import forked_kernels
cells = [cell for cell in nbformat.read(notebook, 4).cells if cell.cell_type == "code"]
written = nbformat.v4.new_notebook(cells=cells)
client = nbclient.NotebookClient(written, timeout=None, startup_timeout=600, allow_errors=True)
client.km = manager = KernelManager(kernel_name="python3", transport="ipc")
print("ready", flush=True)
sys.stdin.readline()
begin = time.monotonic()
with client.setup_kernel(cwd=os.getcwd()):
    for number, cell in enumerate(cells):
        client.execute_cell(cell, number)
        if number in (0, len(cells) - 1):
            shown = json.dumps([one.get("outputs", []) for one in cells])
            print(json.dumps({
                "seconds": time.monotonic() - begin, "process": manager.provisioner.pid,
                "forked": type(manager.provisioner.process).__name__ == "Process",
                "errors": sum(out.output_type == "error" for one in cells for out in one.get("outputs", [])),
                "passed": shown.count("all checks passed"), "late": shown.count("took too long"),
            }), flush=True)
            sys.stdin.readline()
"""


class Place:
    """A folder that everybody may enter, with the hub's settings, its service and a home for each account."""

    def __init__(self, folder: Path, python: Path, name: str) -> None:
        self.folder, self.python = folder, python
        folder.chmod(0o755)
        install.settings(folder)
        self.students, self.others = [group for group in grp.getgrall() if group.gr_gid][:2]
        written = json.loads((install.ROOT / "solutions" / name / f"{name}.ipynb").read_text("utf-8"))
        for cell in written["cells"]:  # hidden lines ask the grader, which students have not
            if cell["cell_type"] == "code":
                cell["outputs"] = []
            cell["source"] = "".join(cell["source"]).partition(BEGIN_HIDDEN)[0]
        self.notebook = folder / f"{name}.ipynb"
        self.notebook.write_text(json.dumps(written), "utf-8")

    def environment(self, home: Path) -> dict[str, str]:
        """Returns the environment of a student's program."""
        return {"PATH": f"{self.python.parent}:/usr/bin:/bin", "HOME": str(home), "LC_CTYPE": "C.UTF-8", **THREADS}

    def service(self) -> subprocess.Popen[bytes]:
        """Starts the service, and returns when kernels can be forked."""
        socket = self.folder / "kernels" / "socket"
        command = [self.python, self.folder / "settings" / "warm_kernels.py", socket]
        names = [self.students.gr_name, self.others.gr_name]
        process = subprocess.Popen([*map(str, command), *names], env=self.environment(Path("/nonexistent")), cwd="/")
        while not socket.exists():
            if process.poll() is not None:
                raise RuntimeError("the service has ended; its lines above say why")
            time.sleep(0.1)
        return process

    def user(self, number: int, way: str) -> subprocess.Popen[str]:
        """Starts the program of an account."""
        account = FIRST_ACCOUNT + number
        home = self.folder / f"home-{number}"
        home.mkdir(mode=0o700, exist_ok=True)
        os.chown(home, account, account)

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))
            os.setgroups([self.students.gr_gid])
            os.setresgid(account, account, account)
            os.setresuid(account, account, account)

        command = [self.python, "-c", PROGRAM, self.folder / "settings", way, self.notebook]
        return subprocess.Popen(
            [str(word) for word in command],
            preexec_fn=limit,
            env=self.environment(home),
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )


def told(users: list[subprocess.Popen[str]]) -> list[Any]:
    """Lets all go on, and returns what they then print."""
    for user in users:
        assert user.stdin
        user.stdin.write("\n")
        user.stdin.flush()
    return [json.loads(user.stdout.readline()) for user in users if user.stdout]


def row(way: str, state: str, found: list[Any]) -> float:
    """Prints a row of the table, and returns the longest of the seconds."""
    taken = [memory(one["process"]) for one in found]
    seconds = sorted(one["seconds"] for one in found)
    sums = " | ".join(str(sum(one[name] for one in found)) for name in ("errors", "passed", "late"))
    private = statistics.mean(one["private"] for one in taken)
    cpu = statistics.mean(one["cpu"] for one in taken)
    times = f"{statistics.median(seconds):.1f} | {seconds[-1]:.1f} | {cpu:.2f}"
    load = os.getloadavg()[0]
    print(
        f"| {way} | {state} | {times} | {private:.0f} | {sum(one['pss'] for one in taken):.0f} | {sums} | {load:.0f} |"
    )
    return float(seconds[-1])


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="that every account may run")
    parser.add_argument("--kernels", type=int, default=25, help="at once (default 25; plain ones want 0.4 GB each)")
    parser.add_argument("--notebook", default="01_causal_mask", help="whose solution is run (default 01_causal_mask)")
    parser.add_argument("--setup", action="store_true", help="only the set-up cell")
    parser.add_argument("--way", action="append", choices=(FORKED, PLAIN), help="only this one")
    options = parser.parse_args()
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as name, ExitStack() as ended:
        place = Place(Path(name), options.python, options.notebook)
        service = place.service()
        ended.callback(service.wait)
        ended.callback(service.kill)
        print(f"{os.cpu_count()} cores, {options.kernels} kernels of as many accounts; {options.notebook}\n")
        print(
            "| kernels | after | s, median | s, last | CPU, s | private, MB | PSS, MB | errors | passed | late | load |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
        last = {}
        for way in options.way or (FORKED, PLAIN):
            users = [place.user(number, way) for number in range(options.kernels)]
            for user in users:
                ended.callback(user.kill)
                assert user.stdout
                assert user.stdout.readline() == "ready\n"
            found = told(users)
            assert all(one["forked"] == (way == FORKED) for one in found), found
            last[way] = row(way, "the set-up", found)
            if way == FORKED:
                print(f"(the service itself: {memory(service.pid)['pss']:.0f} MB of PSS)", file=sys.stderr)
            if not options.setup:
                row(way, "all cells", told(users))
            for user in users:
                user.communicate("\n")
        if len(last) == 2:
            print(f"\nForked kernels have run their set-up in 1/{last[PLAIN] / last[FORKED]:.1f} of the time.")


if __name__ == "__main__":
    main()
