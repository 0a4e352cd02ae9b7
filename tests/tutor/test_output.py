"""What a cell shows is cut where nobody would read on; bars, widgets and checks are not."""

import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from helpers import threads
from tests.tiers import all_only
from tutor.output import CUT, EACH, ERROR, RICH, TEXT, OutputLimit


class Cell:
    """A cell whose messages an `OutputLimit` lets pass or not; `sent` are their contents."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        session = SimpleNamespace(send=lambda stream, message, *rest, **more: self.sent.append(message["content"]))
        self.session, self.name = session, "first"
        OutputLimit(session)

    def __call__(self, kind: str, **content: Any) -> None:
        message = {"msg_type": kind, "content": content, "parent_header": {"msg_id": self.name}}
        self.session.send(None, message, ident=b"x")

    def print(self, text: str) -> None:
        self("stream", name="stdout", text=text)

    def display(self, **data: Any) -> None:
        self("display_data", data={name.replace("_", "/"): value for name, value in data.items()})

    @property
    def printed(self) -> str:
        return "".join(content.get("text", "") for content in self.sent)


def test_what_is_printed_is_cut_once_and_the_next_cell_begins_anew() -> None:
    cell = Cell()
    for _ in range(30):
        cell.print("x" * 99_999 + "\n")
    assert cell.printed.count("x") == 99_999 * 10
    assert cell.printed.count(CUT) == 1
    cell.name = "second"
    cell.print("hello")
    assert cell.sent[-1]["text"] == "hello"


def test_one_piece_that_is_too_long_is_cut_within() -> None:
    cell = Cell()
    cell.print("x" * 3 * TEXT)
    assert cell.printed == f"{'x' * TEXT}\n{CUT}\n"


def test_a_progress_bar_counts_for_the_line_that_stays() -> None:
    cell = Cell()
    for step in range(20_000):
        cell.print(f"\r{step:5} of 20000 [{'#' * 60:60}]")
        if step % 1000 == 0:
            cell.print(f"\repoch {step // 1000} is over\n")
    assert CUT not in cell.printed
    assert len(cell.sent) == 20_020


@pytest.mark.parametrize("kind", ["display_data", "execute_result"])
def test_what_is_displayed_is_cut_and_counted_apart(kind: str) -> None:
    cell = Cell()
    cell.print("x" * 3 * TEXT)
    cell(kind, data={"text/plain": "right", "text/html": "<b>right</b>"})
    assert cell.sent[-1]["data"] == {"text/plain": "right", "text/html": "<b>right</b>"}
    cell(kind, data={"text/plain": "y" * 3 * TEXT, "text/html": "<p>"})
    assert cell.sent[-1]["data"] == {"text/plain": f"{'y' * (TEXT - EACH)}\n{CUT}"}
    cell(kind, data={"text/plain": "more"})
    assert len(cell.sent) == 3


def test_endless_small_displays_are_cut() -> None:
    cell = Cell()
    for number in range(20_000):
        cell.display(text_plain=str(number))
    assert len(cell.sent) == TEXT // EACH + 1
    assert CUT in cell.sent[-1]["data"]["text/plain"]


def test_pictures_have_more_room() -> None:
    cell = Cell()
    for _ in range(30):
        cell.display(text_plain="<Figure>", image_png="z" * 1_000_000)
    assert len(cell.sent) == RICH // 1_000_000 + 1
    assert "image/png" not in cell.sent[-1]["data"]
    assert CUT in cell.sent[-1]["data"]["text/plain"]


def test_what_is_updated_or_cleared_does_not_count() -> None:
    cell = Cell()
    for _ in range(40):
        cell("clear_output", wait=True)
        cell.display(text_plain="<Figure>", image_png="z" * 1_000_000)
        cell("update_display_data", data={"image/png": "z" * 1_000_000})
        cell("comm_msg", data={"value": 1})
    assert len(cell.sent) == 160
    assert not any(CUT in str(content.get("data", {}).get("text/plain")) for content in cell.sent)


def test_an_error_is_shortened() -> None:
    cell = Cell()
    cell("error", ename="ValueError", evalue="e" * 10**6, traceback=["t" * 10**6, "short"])
    assert cell.sent == [{"ename": "ValueError", "evalue": "e" * ERROR, "traceback": ["t" * ERROR, "short"]}]


@pytest.mark.parametrize("extension", [True, *all_only(False)])
def test_a_real_kernel_cuts_and_works_on_one_thread(
    extension: bool, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `make lab`, a hub and the wheel start it, and as elsewhere, where PyTorch is loaded before the course."""
    for name in threads.SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    if extension:
        profile = tmp_path / "ipython" / "profile_default"
        profile.mkdir(parents=True)
        shutil.copy(repository / "deploy" / "ipython" / "ipython_kernel_config.json", profile)
    cells = ["import torch", *([] if extension else ["from tutor.checks import check"])]
    cells += ["print(torch.get_num_threads())", "for i in range(10**5): print(i, 'x' * 20)", "'y' * 10**7"]
    cells += ["print('after')"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, kernel_name="python3", timeout=600, resources=resources).execute(env=dict(os.environ))
    thread_count, *floods, last = notebook.cells[-4:]
    assert thread_count.outputs[0].text == "1\n"
    for flood in floods:
        text = "".join(one.get("text") or one["data"]["text/plain"] for one in flood.outputs)
        assert text.count(CUT) == 1, flood.source
        assert TEXT < len(text) < TEXT + 500, flood.source
    assert last.outputs[0].text == "after\n"
