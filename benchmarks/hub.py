"""A class on a hub of docs/hub.md, with and without what is forked: seconds of each student, and memory (Linux, root).

    python -m benchmarks.hub
    python -m benchmarks.hub --students 100 --way forked --at-once 10
    python -m benchmarks.hub --students 4 --notebook 06_pretrained_vs_scratch

Makes accounts and a hub, and removes both. All students start their JupyterLab at once; when the last one is there all
open the notebook, whose set-up cell is run; then all run the rest of the solution, or --at-once of them. That is
harsher than a class, whose students read between two cells: a hundred on two cores lose their connections. A student's
seconds count from the click. Private memory is what one process more takes; PSS of all is that of the hub, its proxy
and its services, too. A check that says "took too long" is counted as late.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import statistics
import tempfile
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

from benchmarks.kernels import memory
from grading.notebooks.cells import BEGIN_HIDDEN
from tests.browser import hub as hubs

SECONDS = 3600.0
LOG = Path(tempfile.gettempdir()) / "hub.log"  # of a class that has failed
FORKED, PLAIN = "forked", "plain"
# Starts everybody's server, and enters it.
SETTINGS = """
c.JupyterHub.services += [{{"name": "benchmark", "api_token": {token!r}}}]
scopes = ["admin:users", "admin:servers", "access:servers"]
c.JupyterHub.load_roles.append({{"name": "benchmark", "services": ["benchmark"], "scopes": scopes}})
"""
WITHOUT = "c.JupyterHub.services = []\n"


def cells_of(name: str) -> list[str]:
    """Returns the code of a solution, but the hidden lines: they ask the grader, which students have not."""
    written = json.loads((hubs.ROOT / "solutions" / name / f"{name}.ipynb").read_text("utf-8"))
    codes = ["".join(cell["source"]) for cell in written["cells"] if cell["cell_type"] == "code"]
    return [code.partition(BEGIN_HIDDEN)[0] for code in codes]


@dataclass
class Student:
    """One who works through a notebook."""

    name: str
    address: str
    token: str
    notebook: str
    kernel: Any = None
    answered: float = 0.0  # seconds from the click until the kernel did
    shown: list[str] = field(default_factory=list)

    async def call(self, path: str, method: str = "GET", body: object = None, refused: Iterable[int] = ()) -> Any:
        """Asks hub or server; returns what they say.

        Raises:
            RuntimeError: for a status of an error that is not among `refused`.
        """
        request = HTTPRequest(
            self.address + path,
            method,
            {"Authorization": f"token {self.token}"},
            None if body is None else json.dumps(body),
            request_timeout=SECONDS,
            connect_timeout=SECONDS,
            allow_nonstandard_methods=True,
        )
        answer = await AsyncHTTPClient().fetch(request, raise_error=False)
        if answer.code >= 400 and answer.code not in refused:
            raise RuntimeError(f"{method} {path}: {answer.code} {answer.body[:300]!r}")
        return json.loads(answer.body) if "json" in answer.headers.get("Content-Type", "") else None

    async def start(self) -> float:
        """Starts the JupyterLab; returns the seconds until it is ready."""
        begin = time.monotonic()
        user = f"/hub/api/users/{self.name}"
        await self.call(user, "POST", {}, refused=[409])
        await self.call(f"{user}/server", "POST", {})
        await self.call(f"{user}/server/progress")  # a stream that ends when it is ready, or cannot be
        if not (await self.call(user))["servers"][""]["ready"]:
            raise RuntimeError(f"{self.name}: JupyterLab does not start")
        return time.monotonic() - begin

    async def open(self, setup: str) -> float:
        """Opens the notebook, as JupyterLab does, and runs its set-up cell; returns the seconds."""
        begin = time.monotonic()
        path = f"{self.notebook}.ipynb"
        wanted = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}}
        session = await self.call(f"/user/{self.name}/api/sessions", "POST", wanted)
        channels = f"/user/{self.name}/api/kernels/{session['kernel']['id']}/channels?session_id={uuid.uuid4().hex}"
        address = self.address.replace("http", "ws", 1) + channels
        headers = {"Authorization": f"token {self.token}"}
        request = HTTPRequest(address, headers=headers, connect_timeout=SECONDS, request_timeout=SECONDS)
        self.kernel = await websocket_connect(request, max_message_size=1 << 30)
        await self.ask("kernel_info", {})
        self.answered = time.monotonic() - begin
        await self.run(setup)
        return time.monotonic() - begin

    async def rest(self, codes: list[str]) -> float:
        """Runs the other cells; returns the seconds."""
        begin = time.monotonic()
        for code in codes:
            await self.run(code)
        return time.monotonic() - begin

    async def run(self, code: str) -> None:
        """Runs a cell, and keeps what it shows."""
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        await self.ask("execute", content)

    async def ask(self, what: str, content: dict[str, object]) -> None:
        """Sends the kernel a request; returns when it has answered and is idle again."""
        number = uuid.uuid4().hex
        header = {"msg_id": number, "msg_type": f"{what}_request", "username": "", "session": "", "version": "5.3"}
        asked = {"header": header, "parent_header": {}, "metadata": {}, "channel": "shell", "content": content}
        await self.kernel.write_message(json.dumps(asked))
        ended: set[str] = set()
        while ended != {"reply", "idle"}:
            message = await self.kernel.read_message()
            if message is None:
                raise RuntimeError(f"{self.name}: the kernel is gone")
            if isinstance(message, bytes):  # with buffers, as those of a widget
                continue
            told = json.loads(message)
            state = told["content"].get("execution_state")
            if state in {"restarting", "dead"}:
                raise RuntimeError(f"{self.name}: the kernel is {state}")
            if told["parent_header"].get("msg_id") != number:
                continue
            if told["msg_type"] == f"{what}_reply":
                ended.add("reply")
            elif state == "idle":
                ended.add("idle")
            elif told["msg_type"] != "status":
                self.shown.append(json.dumps([told["msg_type"], told["content"]]))


def own(process: Path) -> int:
    """Returns the account of a process, -1 when it has ended."""
    try:
        return process.stat().st_uid
    except OSError:
        return -1


def is_below(process: int, ancestor: int) -> bool:
    """Says whether a process was started by another one, or by what that has started."""
    while process > 1 and process != ancestor:
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return process == ancestor


def processes(student: Student) -> dict[str, int]:
    """Returns a student's server and kernel."""
    found = {}
    for process in hubs.processes(student.name):
        words = Path(f"/proc/{process}/cmdline").read_bytes()
        name = Path(f"/proc/{process}/comm").read_text().strip()
        if name == "ipykernel" or b"ipykernel_launcher" in words:
            found["kernel"] = process
        elif name == "jupyterlab" or b"jupyterhub.singleuser" in words:
            found["server"] = process
    return found


def row(way: str, state: str, seconds: list[float], students: list[Student], hub: int) -> None:
    """Prints what a state of the class took."""
    every = [processes(student) for student in students]
    private = []
    for part in ("server", "kernel"):
        sizes = [memory(one[part])["private"] for one in every if part in one]
        private.append(f"{statistics.mean(sizes):.0f}" if sizes else "")
    theirs = {process for one in every for process in one.values()}
    ours = {int(path.name) for path in Path("/proc").glob("[0-9]*") if own(path) == 0}
    whole = sum(memory(process)["pss"] for process in theirs | {one for one in ours if is_below(one, hub)})
    shown = [text for student in students for text in student.shown]
    counts = [sum(text.count(what) for text in shown) for what in ('["error"', "all checks passed", "took too long")]
    times = [f"{value:.1f}" for value in (statistics.median(seconds), max(seconds))]
    columns = [way, state, *times, *private, f"{whole:.0f}", *map(str, counts), f"{os.getloadavg()[0]:.0f}"]
    print(f"| {' | '.join(columns)} |", flush=True)


def available() -> float:
    """Returns the MB of memory that programs could still have."""
    lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    [kilobytes] = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(kilobytes) / 1024


async def watched(floor: float, *work: Any) -> list[float]:
    """Does some work at once; ends with a RuntimeError before the machine's memory does."""
    tasks = asyncio.gather(*work)
    while not (await asyncio.wait([tasks], timeout=0.5))[0]:
        if available() < floor:
            tasks.cancel()
            raise RuntimeError(f"less than {floor:.0f} MB of memory are left, so this class is too large here")
    return list(tasks.result())


async def lesson(way: str, students: list[Student], hub: int, options: argparse.Namespace) -> None:
    """Has all students work through the notebook, and prints a row after each part."""
    AsyncHTTPClient.configure("tornado.simple_httpclient.SimpleAsyncHTTPClient", max_clients=1000)
    setup, *codes = cells_of(students[0].notebook)
    at_once, floor = asyncio.Semaphore(options.at_once or len(students)), options.floor

    async def rest(student: Student) -> float:
        async with at_once:
            return await student.rest(codes)

    row(way, "JupyterLab", await watched(floor, *(one.start() for one in students)), students, hub)
    opened = await watched(floor, *(one.open(setup) for one in students))
    row(way, "the set-up", opened, students, hub)
    cells = [seconds - one.answered for seconds, one in zip(opened, students, strict=True)]
    row(way, "the same, from the kernel's first answer", cells, students, hub)
    if not options.setup:
        row(way, "all cells", await watched(floor, *map(rest, students)), students, hub)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=25, help="(default 25; plain ones want 0.45 GB each)")
    parser.add_argument("--notebook", default="01_causal_mask", help="whose solution is run (default 01_causal_mask)")
    parser.add_argument("--at-once", type=int, help="how many run the cells behind it at the same time (default all)")
    parser.add_argument("--setup", action="store_true", help="only the set-up cell")
    parser.add_argument("--way", action="append", choices=(FORKED, PLAIN), help="only this one")
    parser.add_argument("--floor", type=float, default=2000, help="MB of memory to leave (default 2000)")
    options = parser.parse_args()
    if missing := hubs.why_no_hub():
        parser.error(missing)
    names = [f"hubload-{number:03}" for number in range(options.students)]
    token = secrets.token_hex()
    settings = SETTINGS.format(token=token)
    print(f"{os.cpu_count()} cores, {options.students} students, {options.notebook}\n")
    print("| way | after | s, median | s, last | a server, MB | a kernel, MB | PSS of all, MB "
          "| errors | passed | late | load |\n|---|---|---|---|---|---|---|---|---|---|---|", flush=True)  # fmt: skip
    for way in options.way or (FORKED, PLAIN):
        more = settings if way == FORKED else WITHOUT + settings
        with hubs.running_hub([hubs.TEACHER, *names], more) as hub:
            if way == FORKED:
                for kind in ("kernels", "servers"):
                    hub.service(kind)
            students = [Student(name, hub.address, token, options.notebook) for name in names]
            try:
                asyncio.run(lesson(way, students, hub.process, options))
            except RuntimeError:
                LOG.write_text(hub.log(), encoding="utf-8")
                print(f"What hub and servers have said is in {LOG}.")
                raise


if __name__ == "__main__":
    main()
