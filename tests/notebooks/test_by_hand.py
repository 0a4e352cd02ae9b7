"""Examples by hand whose inputs the text gives in words: the definition must ask what the text says."""

from __future__ import annotations

import re
from pathlib import Path

from grading.definitions.exercise import load_one

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"


def _row(text: str, name: str) -> list[int]:
    """Returns the numbers of the row of a table that begins with this name."""
    (row,) = re.findall(rf"^# \| (?:\*\*)?{name}(?:\*\*)? \|(.+)\|$", text, re.MULTILINE)
    return [int(number.strip(" *")) for number in row.split("|")]


def test_the_seed_of_the_hidden_words_draws_what_the_text_supposes() -> None:
    text = (SOLUTIONS / "07_bert_contrast.py").read_text(encoding="utf-8")
    exercise = load_one("07_bert_contrast", "mask_tokens")
    assert exercise.hand is not None
    read, target = exercise.reply(exercise.hand.question).value
    assert exercise.hand.question.inputs[0].tolist() == [_row(text, "tokens")]
    assert read.tolist() == [_row(text, "input")]
    assert target.tolist() == [_row(text, "target")]
