"""A student's Jupyter without its server: starts kernels as the hub's settings say, and does with them what it is told.

Each line of the standard input is JSON, [what, kernel, ...]; each line of the output is the answer. Run by
`test_forked_kernels.py` as an ordinary account, with the folder of the hub's settings.
"""

import json
import logging
import os
import sys
import threading
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager
from traitlets.config.loader import PyFileConfigLoader

SECONDS = 300.0
said: list[str] = []


class Said(logging.Handler):
    """Keeps what the provisioner logs."""

    def emit(self, record: logging.LogRecord) -> None:
        said.append(record.getMessage())


class User:
    """Kernels by name."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.managers: dict[str, Any] = {}
        self.clients: dict[str, Any] = {}

    def start(self, name: str, **more: str) -> list[Any]:
        """Starts a kernel; returns its process, whether that was forked, and what was logged."""
        said.clear()
        manager: Any = KernelManager(config=self.config, parent=None)
        if "transport_encryption" in manager.trait_names():
            manager.transport_encryption = "auto"
        # As in a server, where the application is the factory's parent.
        manager.start_kernel(cwd=os.getcwd(), env=os.environ | more)
        self.managers[name] = manager
        self.clients[name] = client = manager.client()
        client.start_channels()
        client.wait_for_ready(timeout=SECONDS)
        return [manager.provisioner.pid, type(manager.provisioner.process).__name__ == "Process", list(said)]

    def run(self, name: str, source: str) -> str:
        """Runs a cell; returns what it has shown, an error as its name."""
        shown = []

        def show(message: dict[str, Any]) -> None:
            content = message["content"]
            data = content.get("data", {})
            shown.append(content.get("text") or content.get("ename") or next(iter(data), ""))

        self.clients[name].execute_interactive(source, output_hook=show, timeout=SECONDS)
        return "".join(shown).strip()

    def interrupt(self, name: str, source: str) -> str:
        """Runs a cell that says "now" and would not end, and interrupts it then."""
        shown = []

        def show(message: dict[str, Any]) -> None:
            shown.append(message["content"].get("text") or message["content"].get("ename") or "")
            if "now" in shown[-1]:
                threading.Timer(0.2, self.managers[name].interrupt_kernel).start()

        self.clients[name].execute_interactive(source, output_hook=show, timeout=SECONDS)
        return "".join(shown)

    def restart(self, name: str) -> int:
        """Restarts a kernel; returns its new process."""
        self.managers[name].restart_kernel()
        self.clients[name].wait_for_ready(timeout=SECONDS)
        return int(self.managers[name].provisioner.pid)

    def alive(self, name: str) -> bool:
        """Says whether a kernel runs."""
        return bool(self.managers[name].is_alive())

    def stop(self, name: str) -> bool:
        """Ends a kernel; says whether it still runs."""
        self.clients[name].stop_channels()
        self.managers[name].shutdown_kernel()
        return self.alive(name)


settings = Path(sys.argv[1])
loader = PyFileConfigLoader("jupyter_server_config.py", path=str(settings / "student"))
found = loader.load_config()
os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] = found.KernelProvisionerFactory.default_provisioner_name
logger = logging.getLogger("traitlets")
logger.addHandler(Said())
user = User(found)
for line in sys.stdin:
    what, *arguments = json.loads(line)
    more = arguments.pop() if what == "start" else {}
    print(json.dumps(getattr(user, what)(*arguments, **more)), flush=True)
