"""JupyterLab as a user meets it: start it, open a notebook, type, run, read.

Nothing here sleeps: each step waits for what a user would wait for. The waits are generous, since the
machines that run tests are often busy; a quiet one is done long before they end.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from playwright.sync_api import (
    ConsoleMessage,
    Error,
    FrameLocator,
    Locator,
    Page,
    Request,
    ViewportSize,
    expect,
)

from deploy.environment import KERNELS, lab_variables

TOKEN = "browser-tests"
START_SECONDS = 600.0  # for JupyterLab to answer
STEP_SECONDS = 240.0  # for what follows a click
RUN_SECONDS = 1200.0  # for a whole notebook, in JupyterLab or under Validate
SCREEN: ViewportSize = {"width": 1280, "height": 800}


# --- the server -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Server:
    """A running JupyterLab."""

    address: str
    log: Path

    def request(self, method: str, path: str) -> Any:
        """Asks its REST interface and returns the decoded answer."""
        headers = {"Authorization": f"token {TOKEN}"}
        question = urllib.request.Request(self.address + path, method=method, headers=headers)
        with urllib.request.urlopen(question, timeout=STEP_SECONDS) as reply:
            text = reply.read()
        return json.loads(text) if text else None

    def end_kernels(self) -> None:
        """Closes all notebooks, as "Shut Down All" does: a kernel outlives the page that started it."""
        for session in self.request("GET", "/api/sessions"):
            self.request("DELETE", f"/api/sessions/{session['id']}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _variables(home: Path, root: Path, student: bool) -> dict[str, str]:
    """Returns the environment of a user of this Python whose home folder is new."""
    programs = str(Path(sys.executable).parent)  # nbgrader starts `alembic` by name
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    return kept | {
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        **lab_variables(root, {}, student=student),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "OMP_NUM_THREADS": "1",
        "PATH": os.pathsep.join([programs, os.environ.get("PATH", "")]),
    }


@contextmanager
def jupyterlab(course: Path, root: Path, home: Path) -> Iterator[Server]:
    """Starts JupyterLab in a course folder on the files under `root`, and ends it with its kernels."""
    port = _free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}"]
    command += [f"--IdentityProvider.token={TOKEN}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    profile = home / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    shutil.copy(KERNELS, profile)  # as `make lab` puts it into the environment
    log = home / "jupyterlab.log"
    variables = _variables(home, root, student=root != course)
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, cwd=course, env=variables, stdout=output, stderr=subprocess.STDOUT)
    server = Server(f"http://127.0.0.1:{port}", log)
    try:
        _wait_for_answer(server, process)
        yield server
    finally:
        if process.poll() is None:
            try:
                server.end_kernels()
            except OSError as problem:
                print(f"kernels were left to JupyterLab's own shutdown: {problem}")
        process.terminate()  # the first signal ends the kernels that are left, then JupyterLab
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for_answer(server: Server, process: subprocess.Popen[bytes]) -> None:
    limit = time.monotonic() + START_SECONDS
    while True:
        try:
            server.request("GET", "/api/status")
            return
        except (urllib.error.URLError, OSError) as problem:
            if process.poll() is not None or time.monotonic() > limit:
                tail = server.log.read_text(encoding="utf-8", errors="replace")[-2000:]
                raise RuntimeError(f"JupyterLab does not answer ({problem}):\n{tail}") from problem
        time.sleep(0.2)


# --- what the browser reports beside the page -------------------------------------------------


@dataclass
class Witness:
    """Notes what must not happen: requests that leave this machine, and errors in the console."""

    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Listens to a page from now on."""
        page.on("request", self._note_request)
        page.on("console", self._note_message)
        page.on("pageerror", self._note_error)

    def _note_request(self, request: Request) -> None:
        place = urlparse(request.url)
        if place.scheme in ("http", "https", "ws", "wss") and place.hostname != "127.0.0.1":
            self.outside.append(request.url)

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _note_error(self, error: Error) -> None:
        self.errors.append(str(error))


# --- a notebook -------------------------------------------------------------------------------


def open_notebook(page: Page, server: Server, path: str) -> None:
    """Opens a notebook in JupyterLab and waits until its kernel is ready."""
    page.goto(f"{server.address}/lab/tree/{path}?reset&token={TOKEN}")
    kernel = page.locator(".jp-NotebookPanel-toolbar .jp-KernelName")
    expect(kernel).to_contain_text("Python 3", timeout=START_SECONDS * 1000)
    wait_until_idle(page)


def wait_until_idle(page: Page, seconds: float = RUN_SECONDS) -> None:
    """Waits until the kernel has nothing left to do."""
    busy = page.locator(".jp-NotebookPanel .jp-InputPrompt", has_text="[*]")
    expect(busy).to_have_count(0, timeout=seconds * 1000)
    kernel = page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    expect(kernel).to_have_count(1, timeout=seconds * 1000)


def cell(page: Page, index: int) -> Locator:
    """Returns a cell by its place in the notebook, scrolled into view: only what is in view is drawn."""
    locator = page.locator(f'.jp-Notebook-cell[data-windowed-list-index="{index}"]')
    locator.wait_for(state="attached")
    locator.scroll_into_view_if_needed()
    return locator


def put_at_the_top(cell: Locator) -> None:
    """Scrolls until a cell is the first that is seen."""
    cell.evaluate("cell => cell.scrollIntoView({block: 'start'})")


def source_of(cell: Locator) -> str:
    """Returns the text in a cell's editor."""
    lines: list[str] = cell.locator(".cm-content .cm-line").evaluate_all("lines => lines.map(line => line.textContent)")
    return "\n".join(lines)


def click_into(cell: Locator) -> None:
    """Puts the cursor into a cell; a text cell is opened for editing first."""
    if cell.locator(".jp-MarkdownOutput:visible").count():
        cell.locator(".jp-MarkdownOutput").dblclick()
    cell.locator(".cm-content").click()


def type_into(cell: Locator, text: str) -> None:
    """Replaces the text of a cell, key by key, and makes sure that it arrived as typed."""
    keyboard = cell.page.keyboard
    click_into(cell)
    keyboard.press("ControlOrMeta+a")
    keyboard.press("Delete")
    for number, line in enumerate(text.split("\n")):
        if number:
            keyboard.press("Enter")
            keyboard.press("Shift+Home")  # over what the editor indents by itself
        keyboard.type(line) if line else keyboard.press("Delete")
    assert source_of(cell) == text, f"the editor made this of what was typed:\n{source_of(cell)}"


def run(cell: Locator) -> None:
    """Runs one cell with Control-Enter and waits until it has finished; one that is folded is opened first."""
    if (caption := cell.locator(".jp-InputPlaceholder .jp-Placeholder-content")).count():
        caption.click()
    prompt = cell.locator(".jp-InputPrompt")
    before = prompt.text_content() or ""
    cell.locator(".cm-content").click()
    cell.page.keyboard.press("Control+Enter")
    expect(prompt).not_to_have_text(before)
    expect(prompt).to_have_text(re.compile(r"\[\d+\]"))


def render(cell: Locator) -> None:
    """Ends the editing of a text cell."""
    cell.page.keyboard.press("Control+Enter")
    cell.locator(".jp-MarkdownOutput").wait_for()


def choose(page: Page, menu: str, *entries: str) -> None:
    """Chooses an entry of JupyterLab's menu bar: Settings, Theme, JupyterLab Dark."""
    page.locator(".lm-MenuBar-itemLabel").get_by_text(menu, exact=True).click()
    for entry in entries:
        page.locator(".lm-Menu-itemLabel").get_by_text(entry, exact=True).click()


def run_all_cells(page: Page) -> None:
    """Runs the whole notebook, which nobody has run before, and makes sure that no cell fails or warns."""
    choose(page, "Run", "Run All Cells")
    last = page.locator(".jp-CodeCell .jp-InputPrompt").last.filter(has_text=re.compile(r"\[\d+\]"))
    failure = page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']")
    last.or_(failure).first.wait_for(state="attached", timeout=RUN_SECONDS * 1000)
    wait_until_idle(page)
    messages = failure.all_inner_texts()
    assert not messages, "\n".join(messages)


def outputs(cell: Locator) -> Locator:
    """Returns what a cell shows below its source."""
    return cell.locator(".jp-OutputArea-output")


def validate(page: Page) -> str:
    """Clicks nbgrader's button Validate, reads the dialog, closes it, and returns its text."""
    page.get_by_role("button", name="Validate").click()
    dialog = page.locator(".jp-Dialog-content")
    expect(dialog).to_contain_text("Validation Results", timeout=RUN_SECONDS * 1000)
    text = dialog.inner_text()
    dialog.get_by_role("button", name="Ok").click()
    dialog.wait_for(state="detached")
    return text


# --- formgrader ---------------------------------------------------------------------------------


def open_formgrader(page: Page, server: Server) -> FrameLocator:
    """Opens formgrader from JupyterLab's menu, with the file browser put away, and returns its page."""
    page.goto(f"{server.address}/lab?reset&token={TOKEN}")
    choose(page, "Nbgrader", "Formgrader")
    formgrader = page.frame_locator("iframe[src*=formgrader]")
    formgrader.locator("tbody tr").first.wait_for()
    files = page.locator("#jp-left-stack")
    if files.is_visible():
        page.keyboard.press("ControlOrMeta+b")
        files.wait_for(state="hidden")
    return formgrader


def follow(formgrader: FrameLocator, link: str) -> None:
    """Clicks a link of formgrader's menu at the left."""
    formgrader.locator(".nav-pills").get_by_role("link", name=link, exact=True).click()


# --- what can be read ---------------------------------------------------------------------------

CONTRASTS = """
panel => {
  const parse = text => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = colour => colour.slice(0, 3).map(value => value / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const over = (top, below) => {
    const alpha = top.length > 3 ? top[3] : 1;
    return [0, 1, 2].map(i => alpha * top[i] + (1 - alpha) * below[i]);
  };
  const background = element => element
    ? over(parse(getComputedStyle(element).backgroundColor), background(element.parentElement))
    : [255, 255, 255];
  const texts = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const text = texts.currentNode.textContent.trim(), place = texts.currentNode.parentElement;
    if (!text) continue;
    const behind = background(place);
    const [a, b] = [light(over(parse(getComputedStyle(place).color), behind)), light(behind)];
    found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), text]);
  }
  return found;
}
"""


def hard_to_read(panel: Locator) -> list[str]:
    """Returns the texts of a panel whose contrast is below 4.5, the least that WCAG 2 (AA) allows."""
    contrasts = panel.evaluate(CONTRASTS)
    assert contrasts, "the panel holds no text"
    return [f"{text} ({contrast:.1f})" for contrast, text in contrasts if contrast < 4.5]
