"""Kernels that the hub's service forks (`warm.py`); where none is forked, one starts as ever.

`settings/student/jupyter_server_config.py` has a student's JupyterLab take them.
"""

import asyncio
from pathlib import Path
from typing import Any

from forking import SOCKETS, forked
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

KNOWN = {"cwd", "env"}  # what of the options of `subprocess.Popen` is handed on


class ForkedProvisioner(LocalProvisioner):
    """Has kernels forked, and starts those itself for which that cannot be."""

    process: Any

    async def launch_kernel(self, cmd: list[str], **how: Any) -> Any:
        """Starts the process; returns how to connect to the kernel."""
        try:
            if unknown := how.keys() - KNOWN:
                raise OSError(f"it wants {', '.join(sorted(unknown))}")
            folder = str(Path(how.get("cwd") or "").absolute())
            self.process = await asyncio.to_thread(forked, SOCKETS / "kernels", cmd, how["env"], folder)
        except OSError as problem:
            self.log.warning("This kernel is not forked but starts by itself: %s", problem)
            return await super().launch_kernel(cmd, **how)
        self.pid = self.pgid = self.process.pid  # it leads a group of its own
        self.cwd = how.get("cwd", Path.cwd())
        return self.connection_info
