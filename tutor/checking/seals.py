"""Wanted values that are known only by their fingerprints: say what is wrong with an answer without telling them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tutor.checking import plain
from tutor.checking.compare import FORGOTTEN, QuotesValues, keys_difference, name_of, number_text
from tutor.checking.fingerprints import TEXT, digest


@dataclass(frozen=True)
class Sealed:
    """A wanted value known only by its fingerprints, so that the file of examples does not reveal the answer.

    `seal` is what `fingerprints.seal` gives: a text, or for a dict or a sequence a text for each part.
    """

    seal: Any


def sealed_problem(seal: Any, value: Any, at: Mapping[str, Any] | None, salt: str) -> str | None:
    """Returns None when a value has these fingerprints, else one sentence."""
    if value is None:
        return FORGOTTEN
    if isinstance(seal, dict):
        if not isinstance(value, dict):
            return f"expected a dict with {len(seal)} entries, got {name_of(value)}"
        value = {str(key): item for key, item in value.items()}
        problem = keys_difference(seal, value)
        parts = {f"at entry {key!r}": (part, value.get(key)) for key, part in seal.items()}
        return problem or _parts_problem(parts, at, salt)
    if isinstance(seal, list):
        if not isinstance(value, tuple | list) or len(value) != len(seal):
            return f"expected {len(seal)} values, got {name_of(value)}"
        pairs = enumerate(zip(seal, value, strict=True))
        return _parts_problem({f"value {n} of {len(seal)}": pair for n, pair in pairs}, at, salt)
    if seal.startswith(TEXT):
        if not isinstance(value, str):
            return f"expected a text, got {name_of(value)}"
        return None if TEXT + digest(value, at, salt) == seal else QuotesValues(f"{value[:80]!r} is not the right one")
    return _number_problem(seal, value, at, salt)


def _number_problem(seal: str, value: Any, at: Mapping[str, Any] | None, salt: str) -> str | None:
    try:
        if digest(value, at, salt) == seal:
            return None
        numeric = isinstance(value, plain.Expression | int | float)
        shown = number_text(value, at) if numeric else repr(value)
    except plain.NotPlain as problem:
        return str(problem)
    if numeric and at:
        place = ", ".join(f"{name} = {number}" for name, number in at.items())
        return QuotesValues(f"at {place} it gives {shown}, which is not the right value")
    if at and isinstance(value, str):
        return f"expected a formula or a number, got the text {shown[:80]}"
    text = shown if numeric or isinstance(value, str) else name_of(value)
    return QuotesValues(f"{text[:80]} is not the right value")


def _parts_problem(parts: Mapping[str, tuple[Any, Any]], at: Mapping[str, Any] | None, salt: str) -> str | None:
    for place, (seal, value) in parts.items():
        problem = sealed_problem(seal, value, at, salt)
        if problem:
            return type(problem)(f"{place}: {problem}")
    return None
