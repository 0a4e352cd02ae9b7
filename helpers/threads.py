"""Small models work on one thread, and threads that wait for each other sleep.

PyTorch takes a thread for each core, and OpenMP lets those that wait spin: they burn a core until the last one has
come. Where other programs work beside, the last one comes late, and a training step of a small model takes up to 900
times as long (`python -m benchmarks.busy`). On one thread it does not wait, and sums come out the same everywhere.
`helpers.device.set_threads()` gives a large model its cores.
"""

import os
import sys

# What OpenMP reads when PyTorch is loaded: GNU's (Linux), and Intel's and LLVM's (Windows, Mac).
SETTINGS = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}


def use_one_thread() -> None:
    """Has PyTorch work on one thread in this process, also where it is loaded already.

    What the environment says of these settings stays as it is; only threads of which OpenMP was not told to let them
    sleep, which cannot be mended once it is loaded, are given up.
    """
    if "torch" not in sys.modules:
        for name, value in SETTINGS.items():
            os.environ.setdefault(name, value)
    elif os.environ.get("OMP_WAIT_POLICY", "").lower() != "passive":
        sys.modules["torch"].set_num_threads(1)
