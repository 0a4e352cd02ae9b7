"""What the course adds to Jupyter's server: on what JupyterLab opens, and how many kernels one person may have.

JupyterLab keeps what was open in a *workspace* and opens that again. Who has none yet gets one here, once, in which
notebook 00 is open; on a hub, where notebooks are fetched first, nbgrader's list of assignments. It is an extension of
the server, which `deploy/jupyter/student` switches on. A hub takes `FewKernels` as well (`deploy/hub/student`).
"""

import json
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_config_dir
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from jupyterlab.commands import get_workspaces_dir
from jupyterlab_server.workspaces_handler import WorkspacesManager
from tornado.web import HTTPError
from traitlets import Integer

FIRST = "00_start_here/00_start_here.ipynb"
NAME = "default"  # JupyterLab's word for the workspace of the address /lab


def first_layout(root: Path) -> dict[str, Any]:
    """Returns a workspace for somebody who has opened nothing yet in the folder `root`, as JupyterLab writes it."""
    found = [path for path in (FIRST, f"work/{FIRST}") if (root / path).is_file()]
    if found:
        shown, state = f"notebook:{found[0]}", {"path": found[0], "factory": "Notebook"}
    else:
        shown, state = "nbgrader-assignment-list:nbgrader-assignment-list", {}
    dock = {"type": "tab-area", "currentIndex": 0, "widgets": [shown]}
    left = {"collapsed": False, "visible": True, "current": "filebrowser", "widgets": ["filebrowser"]}
    layout = {"main": {"dock": dock, "current": shown}, "left": left, "relativeSizes": [0.2, 0.8, 0]}
    return {"layout-restorer:data": layout, shown: {"data": state}}


def offer_first_layout(root: Path, workspaces: Path, own: Path) -> None:
    """Writes a workspace into the folder `workspaces`, if none is there.

    Args:
        root: the folder on which JupyterLab opens.
        workspaces: where JupyterLab keeps the workspaces.
        own: where it keeps them when nobody says otherwise; one of there that knows `root` is taken over.
    """
    kept = WorkspacesManager(str(workspaces))
    if kept.load(NAME)["data"]:
        return
    layout = WorkspacesManager(str(own)).load(NAME)["data"]
    recent = layout.get("docmanager:recents", {}).get("opened", [])
    if not any(item.get("root") == str(root) for item in recent):
        layout = first_layout(root)
    kept.save(NAME, json.dumps({"data": layout, "metadata": {"id": NAME}}))


def _load_jupyter_server_extension(server: Any) -> None:
    """Is called by Jupyter's server when it starts."""
    own = Path(jupyter_config_dir(), "lab", "workspaces")
    try:
        offer_first_layout(Path(server.root_dir), Path(get_workspaces_dir()), own)
    except (OSError, ValueError) as problem:  # a full disk, a damaged file: JupyterLab then opens on its launcher
        server.log.warning("JupyterLab cannot be opened on the first notebook: %s", problem)


class FewKernels(AsyncMappingKernelManager):
    """Starts kernels, of which one person has at most `most`: a new one takes the place of the one idle for longest."""

    most = Integer(0, min=0, config=True, help="Kernels of one person at a time; 0: any number.")

    async def start_kernel(self, **options: Any) -> str:  # type: ignore[override]  # as in Jupyter's asynchronous class
        """Starts a kernel and returns its number; `options` are those of Jupyter's server.

        Raises:
            HTTPError: 409 when all kernels are at work, since one that works is not stopped.
        """
        of_mine: Any = self  # some methods of Jupyter's server have no types
        while self.most and len(kernels := of_mine.list_kernels()) >= self.most:
            idle = [kernel for kernel in kernels if kernel["execution_state"] == "idle"]
            if not idle:
                # JupyterLab shows it on one line.
                raise HTTPError(409, f"all kernels that you may have ({self.most}) are busy: wait, or shut one down")
            await of_mine.shutdown_kernel(min(idle, key=lambda kernel: kernel["last_activity"])["id"])
        number: str = await super().start_kernel(**options)
        return number
