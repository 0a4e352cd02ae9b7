"""A message of a kernel is found within seconds, also where nothing has woken up who waits for it."""

import asyncio
from queue import Empty
from typing import Any

import pytest
from jupyter_client.channels import AsyncZMQSocketChannel
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from grading.authoring import kernels

MESSAGE = {"content": "the reply"}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """How long the library was told to wait, each time; the message is there at the fourth look."""
    found: list[float | None] = []

    async def get_msg(self: Any, timeout: float | None = None) -> dict[str, Any]:
        found.append(timeout)
        if len(found) < 4:
            raise Empty
        return MESSAGE

    monkeypatch.setattr(AsyncZMQSocketChannel, "get_msg", get_msg)
    return found


def ask(timeout: float | None) -> dict[str, Any]:
    return asyncio.run(kernels.Channel.__new__(kernels.Channel).get_msg(timeout))  # without a socket


@pytest.mark.parametrize("timeout", [None, 300.0])
def test_a_long_wait_looks_each_second(waits: list[float | None], timeout: float | None) -> None:
    assert ask(timeout) == MESSAGE
    assert waits == [kernels.LOOK] * 4


def test_a_wait_that_is_over_is_over(waits: list[float | None]) -> None:
    with pytest.raises(Empty):
        ask(0.0)
    assert waits == [0.0]


def test_a_notebook_runs_with_such_a_client(tmp_path: Any) -> None:
    notebook = new_notebook(cells=[new_code_cell("1 + 1")])
    client = NotebookClient(notebook, kernel_name="python3", kernel_manager_class=kernels.Manager)
    with client.setup_kernel():
        assert isinstance(client.kc, kernels.Client)
        assert isinstance(client.kc.shell_channel, kernels.Channel)
        assert isinstance(client.kc.iopub_channel, kernels.Channel)
        client.execute_cell(notebook.cells[0], 0)
    assert notebook.cells[0].outputs[0].data["text/plain"] == "2"
