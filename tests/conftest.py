"""What every test may use."""

import os
from pathlib import Path

import pytest

# Before anything imports matplotlib: tests draw into memory, on machines without a screen too.
os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the clone."""
    return Path(__file__).resolve().parent.parent
