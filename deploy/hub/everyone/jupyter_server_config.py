"""Has kernels listen on files of their account instead of ports of the machine; the settings beside it say the rest.

Every account may connect to a port; and where a hundred kernels start at once, another program has sometimes taken one
before the kernel for which it was chosen is there. That kernel then ends, and is started again.
"""

import contextlib
import socket
import uuid
from pathlib import Path

from jupyter_core.paths import jupyter_runtime_dir

c = get_config()  # noqa: F821 - Jupyter defines it when it reads this file


def can_listen(folder: Path) -> bool:
    """Says whether a kernel's file can be made: the path of a hub's folder may be too long for that."""
    file = folder / f"kernel-{uuid.uuid4()}-ipc-10"
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(file))
        file.unlink()
        return True
    return False


c.KernelManager.transport = "ipc" if can_listen(Path(jupyter_runtime_dir())) else "tcp"
