"""The course on a device that is not the processor: a stand-in, since there is no GPU here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.device import SETTING
from tests.helpers import stand_in_device

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.all
def test_the_course_runs_on_a_device_that_is_not_the_processor() -> None:
    """In a process of its own: PyTorch cannot forget a device."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/helpers/on_stand_in_device.py"]
    others = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    settings = others | {SETTING: stand_in_device.NAME, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
