"""What tests keep: found again while nothing has changed that decides it, and never when something has."""

import os
import shutil
from pathlib import Path

import pytest

from grading.definitions import catalogue
from tests.definitions import kept


def test_what_was_made_is_found_again_and_made_anew_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    made = iter(range(9))
    assert [kept.kept(lambda: next(made), "a", "b") for _ in range(3)] == [0, 0, 0]
    assert kept.kept(lambda: next(made), "a", "c") == 1
    assert kept.kept(lambda: next(made), "ab") == 2
    assert kept.kept(lambda: next(made), "a", "b", anew=True) == 3
    assert kept.kept(lambda: next(made), "a", "b") == 3


def test_a_changed_definition_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(catalogue.FOLDER / "01_causal_mask", tmp_path / "01_causal_mask")
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    monkeypatch.setattr(kept, "known_mistakes", lambda notebook: [])
    definition = kept.definition.__wrapped__
    before = definition("01_causal_mask")
    assert before == definition("01_causal_mask")
    path = tmp_path / "01_causal_mask" / "causal_mask.py"
    path.write_text(path.read_text("utf-8") + "\n# changed\n", encoding="utf-8")
    assert before != definition("01_causal_mask")


def test_what_nobody_has_used_is_forgotten(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / f"{name}.pickle").write_bytes(b"")
    os.utime(tmp_path / "old.pickle", (0, 0))
    kept.forget_the_old(tmp_path)
    assert [path.stem for path in tmp_path.iterdir()] == ["new"]
