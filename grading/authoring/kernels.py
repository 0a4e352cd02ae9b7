"""A client of kernels that looks for messages each second.

pyzmq wakes who waits for a message once, and seldom not at all: a cell had ended, and its reply was found at the time
limit of the cell only. A wait that ends looks once more, so that a short one loses nothing.
"""

import time
from queue import Empty
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.manager import AsyncKernelManager
from traitlets import Type

LOOK = 1.0  # seconds between two looks


class Channel(AsyncZMQSocketChannel):
    """A channel whose waits are cut into short ones."""

    async def get_msg(self, timeout: float | None = None) -> dict[str, Any]:  # type: ignore[override]
        """Returns the next message.

        Raises:
            Empty: when none has come within `timeout` seconds; with None it waits for ever.
        """
        end = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            try:
                return await super().get_msg(max(0.0, min(LOOK, left)))
            except Empty:
                if left <= LOOK:
                    raise


class Client(AsyncKernelClient):
    """A client whose replies and outputs come through such channels."""

    shell_channel_class = iopub_channel_class = Channel


class Manager(AsyncKernelManager):
    """Starts a kernel and makes such a client for it: `NotebookClient(..., kernel_manager_class=Manager)`."""

    client_factory = Type(Client)
