"""What every test may use."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it

# Before anything imports matplotlib: tests draw into memory, on machines without a screen too.
os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the clone."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def project(repository: Path) -> dict[str, Any]:
    """The table [project] of pyproject.toml."""
    return tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
