"""The sentences of a verdict are data: each is used, and what is put into one has a name."""

import re
from pathlib import Path
from string import Formatter
from typing import Any

from tutor.checking import sentences

NAMES = [name for name in vars(sentences) if name.isupper() and name not in ("OWN_WEIGHTS", "SAME_OBJECT")]


def texts(value: Any) -> list[str]:
    if isinstance(value, dict | tuple):
        return [text for part in (value.values() if isinstance(value, dict) else value) for text in texts(part)]
    return [value]


def test_what_is_put_into_a_sentence_has_a_name() -> None:
    patterns = [pattern for pairs in sentences.OF_A_PROBE.values() for pattern, _ in pairs]
    for text in [text for name in NAMES for text in texts(getattr(sentences, name)) if text not in patterns]:
        for _, field, _, _ in Formatter().parse(text):
            assert field is None or field.isidentifier(), text


def test_what_replaces_a_sentence_is_found_in_it() -> None:
    for pattern, text in [pair for pairs in sentences.OF_A_PROBE.values() for pair in pairs]:
        wanted = {field for _, field, _, _ in Formatter().parse(text) if field}
        assert wanted == set(re.compile(pattern).groupindex), text


def test_each_sentence_is_said_somewhere(repository: Path) -> None:
    code = "\n".join(
        path.read_text("utf-8")
        for folder in ("tutor", "grading/definitions")
        for path in (repository / folder).rglob("*.py")
        if path.name != "sentences.py"
    )
    assert [name for name in NAMES if not re.search(rf"\b{name}\b", code)] == []
