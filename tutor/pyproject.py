"""What pyproject.toml says. It is read where nothing is installed, too, so this is the standard library alone."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

# Python 3.10 has no reader of TOML: it takes the package that pyproject.toml asks for, or pip's copy of it.
READERS = ("tomllib", "tomli", "pip._vendor.tomli")


def read_pyproject(folder: Path) -> dict[str, Any]:
    """Returns the tables of the pyproject.toml in a folder.

    Raises:
        ModuleNotFoundError: when this Python is 3.10 and has neither tomli nor pip.
        tomllib.TOMLDecodeError: when the file is no TOML; it is a ValueError.
    """
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    for name in READERS:
        try:
            tables: dict[str, Any] = import_module(name).loads(text)
        except ModuleNotFoundError:
            continue
        return tables
    raise ModuleNotFoundError(f"there is none of {', '.join(READERS)} to read pyproject.toml with; run `make lab`")
