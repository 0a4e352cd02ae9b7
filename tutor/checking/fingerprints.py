"""Fingerprints of values: a check knows by them that an answer is right, and the file of examples does not show it."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import mpmath
import torch
from torch import Tensor

from tutor.checking.expressions import DIGITS, Expression

TEXT = "text "  # before the fingerprint of a text, so that a check can say that one is wanted


def canonical(value: Any, at: Mapping[str, Any] | None = None) -> str:
    """Returns a text that is the same for equal values: numbers and expressions to 12 digits, dicts sorted by key.

    Two expressions that are algebraically equal have the same text when worked out at the same point `at`.
    """
    if isinstance(value, Tensor) and value.numel() == 1:
        value = value.item()
    if isinstance(value, bool | int | float):
        value = Expression(("Float", str(value + 0)))
    if isinstance(value, Expression):
        with mpmath.workdps(DIGITS):
            return str(mpmath.nstr(value.value(at or {}), 12))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {canonical(value[key], at)}" for key in sorted(value, key=str)) + "}"
    if isinstance(value, list | tuple | torch.Size):
        return "(" + ", ".join(canonical(item, at) for item in value) + ")"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(canonical(item, at) for item in value)) + "}"
    return repr(value)


def evaluated(value: Any, at: Mapping[str, Any] | None) -> Any:
    """Returns the value with a formula's number at `at` to 30 digits, and as an int where it is a whole one."""
    if isinstance(value, Expression):
        number = value.value(at or {})
        return int(number) if mpmath.isint(number) else Expression(("Float", mpmath.nstr(number, 30)))
    if isinstance(value, dict):
        return {key: evaluated(item, at) for key, item in value.items()}
    return type(value)(evaluated(item, at) for item in value) if isinstance(value, list | tuple) else value


def trace(value: Any) -> tuple[float, float]:
    """Returns one number that equal values share, a weighted sum of their numbers, and how large its terms are in all.

    It shows, in a few bytes, whether a long result is another one; texts count by a checksum.
    """
    values = torch.cat([torch.zeros(0, dtype=torch.float64), *_values(value)])
    terms = torch.cos(1 + 0.7 * torch.arange(len(values), dtype=torch.float64)) * values
    return terms.sum().item(), terms.abs().sum().item()


def _values(value: Any) -> Iterator[Tensor]:
    """Yields the numbers of a plain value, in order; a number for what is not finite, and for what is no number."""
    if isinstance(value, Tensor):
        real = torch.view_as_real(value) if value.is_complex() else value
        yield torch.nan_to_num(real.detach().double(), 0.75, 1.5, -1.5).flatten()
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from _values(value[key])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _values(part)
    elif isinstance(value, set | frozenset):
        yield from _values(sorted(value, key=str))
    elif isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**53):
        yield from _values(torch.tensor([value], dtype=torch.float64))
    else:
        yield torch.tensor([zlib.crc32(repr(value).encode()) / 2**32], dtype=torch.float64)


def seal(value: Any, at: Mapping[str, Any] | None, salt: str) -> Any:
    """Returns the fingerprint of a value; of a dict or a sequence, one fingerprint for each of its parts."""
    if isinstance(value, dict):
        return {str(key): seal(item, at, salt) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [seal(item, at, salt) for item in value]
    return (TEXT if isinstance(value, str) else "") + digest(value, at, salt)


def digest(value: Any, at: Mapping[str, Any] | None, salt: str) -> str:
    """Returns a fingerprint of `canonical(value, at)`: lets a check know a right number without telling it.

    It is slow on purpose and differs from point to point, so that trying all small numbers takes long.
    """
    point = ", ".join(f"{name} = {(at or {})[name]}" for name in sorted(at or {}))
    return _slow_hash(canonical(value, at), f"{salt}|{point}")


@lru_cache(maxsize=4096)
def _slow_hash(text: str, salt: str) -> str:
    """Returns 16 hexadecimal digits; takes about 10 ms and 4 MB."""
    return hashlib.scrypt(text.encode(), salt=salt.encode(), n=2**12, r=8, p=1, dklen=8).hex()
