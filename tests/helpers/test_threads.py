"""Small models work on one thread, threads that wait sleep, and a large model gets its cores by one call."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from helpers import threads

SAID = "import os; print(torch.get_num_threads(), os.environ.get('OMP_WAIT_POLICY'))"


def words_of(program: str, **settings: str) -> list[str]:
    """Returns the words that a program prints which runs with these settings of OpenMP, and no others."""
    kept = {name: value for name, value in os.environ.items() if name not in threads.SETTINGS}
    done = subprocess.run(
        [sys.executable, "-c", program], env=kept | settings, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("program", "settings", "wanted"),
    [
        ("import helpers, torch", {}, "1 passive"),
        pytest.param("import helpers, torch", {"OMP_NUM_THREADS": "2"}, "2 passive", marks=pytest.mark.all),
        ("import torch; torch.set_num_threads(2); import helpers", {}, "1 None"),
        pytest.param("import torch, helpers", {"OMP_NUM_THREADS": "2"}, "1 None", marks=pytest.mark.all),
        pytest.param(
            "import torch, helpers",
            {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE"},
            "2 PASSIVE",
            marks=pytest.mark.all,
        ),
        pytest.param(
            "import helpers, torch; from helpers.device import set_threads; set_threads(2)",
            {},
            "2 passive",
            marks=pytest.mark.all,
        ),
    ],
)
def test_no_thread_spins_whatever_is_imported_first(program: str, settings: dict[str, str], wanted: str) -> None:
    assert words_of(f"{program}; {SAID}", **settings) == wanted.split()


def test_a_hub_gives_every_program_the_same_settings(repository: Path) -> None:
    source = (repository / "deploy" / "hub" / "roles.py").read_text("utf-8")
    [line] = [line for line in source.splitlines() if line.startswith("THREADS = ")]
    module = ModuleType("told")
    exec(line, vars(module))
    assert module.THREADS == threads.SETTINGS
