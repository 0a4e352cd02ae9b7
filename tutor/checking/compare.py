"""Say in one sentence how a value differs from the wanted one: kind, shape, dtype, NaN, then numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from tutor.checking.fingerprints import canonical
from tutor.checking.plain import MAX_KEYS, Expression, NotPlain, Other, is_simple

VIEWS = {
    "shape": "type and shape",
    "dtype": "shape and number type",
    "values": "every value",
    "first row": "the first row",
    "last row": "the last row",
    "row sums": "the sum of each row",
    "parameters": "names, shapes and which are trainable",
}


ONE_TENSOR = "are one and the same tensor"
NO_VALUES = ("shape", "dtype")  # views that look at no value
DISTINCT = 4  # numbers that differ from each other: fewer are a multiple of others by chance
SAME_AS = " (the same as "  # in the name of a weight that stands in a module once more: what it is called there
FORGOTTEN = "the function returns None: did you forget to return the result?"


class QuotesValues(str):
    """A sentence that quotes wanted or given numbers: not to be shown for hidden inputs."""


KINDS = {"floating": "floating point", "bool": "bool", "integer": "integer", "complex": "complex"}


def dtype_kind(tensor: Tensor) -> str:
    """Returns "floating", "complex", "bool" or "integer"."""
    if tensor.is_floating_point():
        return "floating"
    return "complex" if tensor.is_complex() else "bool" if tensor.dtype == torch.bool else "integer"


def name_of(value: Any) -> str:
    """Returns what a value is, in words a student uses: "a tensor of shape (5, 5)", "None", "a list"."""
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        kind = KINDS[dtype_kind(value)]
        return f"{'an' if kind == 'integer' else 'a'} {kind} tensor of shape {tuple(value.shape)}"
    if isinstance(value, Expression):
        return "a sympy expression"
    if isinstance(value, Other):
        return f"a {value.type_name}"
    if isinstance(value, bool | int | float):
        return f"the {type(value).__name__} {value}"
    if isinstance(value, tuple | list) and len(value) < 7 and all(isinstance(v, int) for v in value):
        return f"the {type(value).__name__} {value}"
    return f"a {type(value).__name__}"


def look(value: Any, view: str) -> Any:
    """Returns the part of a tensor that a view looks at; other values are returned whole."""
    if not isinstance(value, Tensor) or value.dim() < 2:
        return value
    if view == "first row":
        return value[..., 0, :]
    if view == "last row":
        return value[..., -1, :]
    return value.sum(dim=-1) if view == "row sums" else value


def difference(
    wanted: Any,
    got: Any,
    view: str = "values",
    tolerance: float = 1e-4,
    at: Mapping[str, Any] | None = None,
) -> str | None:
    """Returns None when `got` is as wanted in this view, else one sentence that says what differs."""
    if got is None and wanted is not None:
        return FORGOTTEN
    return _part_difference(wanted, got, view, tolerance, at)


def _part_difference(wanted: Any, got: Any, view: str, tolerance: float, at: Mapping[str, Any] | None) -> str | None:
    """As `difference`, for a result or a part of one."""
    try:
        if isinstance(wanted, Tensor):
            return _tensor_difference(wanted, got, view, tolerance)
        if isinstance(wanted, dict):
            return _dict_difference(wanted, got, view, tolerance, at)
        if isinstance(wanted, tuple | list):
            return _sequence_difference(wanted, got, view, tolerance, at)
        if isinstance(wanted, bool | int | float | Expression):
            return _number_difference(wanted, got, view, tolerance, at)
    except NotPlain as problem:
        return str(problem)
    if isinstance(wanted, set) and isinstance(got, tuple | list | set):
        return _set_difference(wanted, got)
    if isinstance(wanted, set) or type(wanted) is not type(got):
        return f"expected {name_of(wanted)}, got {name_of(got)}"
    return None if wanted == got else QuotesValues(f"expected {_short(wanted)}, got {_short(got)}")


def _set_difference(wanted: set[Any], got: Any) -> str | None:
    """As `difference`, for a set; a tuple or a list will do as well."""
    if len(got) > MAX_KEYS:
        return f"expected a set of {len(wanted)} values, got a {type(got).__name__} of {len(got)}"
    strange = [part for part in got if not is_simple(part)]
    if strange:
        kind = type(got).__name__
        return f"expected plain numbers or texts in the {kind}, got {name_of(strange[0])} there"
    found = set(got)
    if found == wanted:
        return None
    sentence = keys_difference(sorted(wanted, key=str), sorted(found, key=str))
    return QuotesValues(sentence) if sentence else None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _tensor_difference(wanted: Tensor, got: Any, view: str, tolerance: float) -> str | None:
    if not isinstance(got, Tensor):
        if isinstance(got, tuple | list) and got and isinstance(got[0], Tensor):
            return (
                f"expected one tensor of shape {tuple(wanted.shape)}, got a {type(got).__name__} of {len(got)} values"
            )
        return f"expected a tensor of shape {tuple(wanted.shape)}, got {name_of(got)}"
    if wanted.shape != got.shape:
        return f"expected shape {tuple(wanted.shape)}, got {tuple(got.shape)}"
    if view == "shape":
        kinds = dtype_kind(wanted), dtype_kind(got)
        if kinds[0] != kinds[1]:
            return f"expected {KINDS[kinds[0]]} values, got {KINDS[kinds[1]]} ({str(got.dtype).removeprefix('torch.')})"
        return None
    if view == "dtype":
        return f"expected {wanted.dtype}, got {got.dtype}" if wanted.dtype != got.dtype else None
    if wanted.dtype == got.dtype and torch.equal(wanted, got):
        return None
    precise = torch.complex128 if wanted.is_complex() or got.is_complex() else torch.float64
    first, second = look(wanted, view).to(precise), look(got, view).to(precise)
    if bool((torch.isnan(second) & ~torch.isnan(first)).any()):
        count = int(torch.isnan(second).sum())
        return f"{count} of {second.numel()} values are NaN (not a number)"
    exact = dtype_kind(wanted) in ("integer", "bool")
    size = (0 if exact else tolerance) * (1 + first.abs().masked_fill(first.isinf(), 0))
    wrong = ~((first == second) | ((first - second).abs() <= size) | (first.isnan() & second.isnan()))
    if not bool(wrong.any()):
        return None
    where = tuple(int(index) for index in wrong.nonzero()[0])
    at = f"[{', '.join(map(str, where))}]" if where else ""
    what = "value" if view in ("values", "parameters") else f"value of {VIEWS[view]}"
    texts = _apart(lambda n: (_digits(first[where], wanted, n), _digits(second[where], got, n)), 4)
    return QuotesValues(
        f"{int(wrong.sum())} of {wrong.numel()} values differ; the first is the {what} at {at or 'the only place'}: "
        f"expected {texts[0]}, got {texts[1]}"
    )


def _apart(texts: Callable[[int], tuple[str, str]], digits: int) -> tuple[str, str]:
    """Returns two numbers as texts of so many digits, or of more where these are the same."""
    for number in (digits, 8):
        first, second = texts(number)
        if first != second:
            return first, second
    return texts(17)


def _digits(value: Tensor, whole: Tensor, digits: int) -> str:
    number = value.item()
    if whole.dtype == torch.bool and value.numel() == 1:
        return str(bool(number))
    return f"{number + 0.0:.{digits}g}" if isinstance(number, float) else str(number)


def _number_difference(wanted: Any, got: Any, view: str, tolerance: float, at: Mapping[str, Any] | None) -> str | None:
    if isinstance(got, Tensor) and got.numel() == 1:
        got = got.item()
    if not isinstance(got, bool | int | float | Expression):
        return f"expected {'a sympy expression' if isinstance(wanted, Expression) else 'a number'}, got {name_of(got)}"
    if view in NO_VALUES:
        whole = isinstance(wanted, int) and isinstance(got, float) and got == got and not got.is_integer()
        return f"expected a whole number, got {name_of(got)}" if whole else None
    if isinstance(got, float) and got != got:
        return None if wanted != wanted else "the result is NaN (not a number)"
    if isinstance(wanted, float):
        if isinstance(got, Expression):
            got = float(got.value(at or {}))
        far = isinstance(got, int) and abs(got) > 10**300  # beyond all floating point numbers
        same = wanted == got or (
            math.isfinite(wanted) and not far and abs(wanted - got) <= tolerance * (1 + abs(wanted))
        )
    elif isinstance(wanted, int) and isinstance(got, float):
        same = abs(wanted - got) <= 1e-9 * (1 + abs(wanted))
    else:
        same = _equal(wanted, got, at)
    if same:
        return None
    first, second = _apart(lambda n: (number_text(wanted, at, n), number_text(got, at, n)), 6)
    if at:
        values = ", ".join(f"{name} = {value}" for name, value in at.items())
        return QuotesValues(f"at {values} expected {first}, got {second}")
    return QuotesValues(f"expected {first}, got {second}")


def _equal(wanted: Any, got: Any, at: Mapping[str, Any] | None) -> bool:
    """Says whether two whole numbers or expressions agree to 12 digits."""
    if isinstance(wanted, int) and isinstance(got, int) and max(abs(wanted), abs(got)) < 10**12:
        return wanted == got  # as by their texts, which take a hundred times as long
    return canonical(wanted, at) == canonical(got, at)


def number_text(value: Any, at: Mapping[str, Any] | None, digits: int = 6) -> str:
    """Returns a number, or an expression's number at the point `at`, whole or with so many digits."""
    text = canonical(value, at) if isinstance(value, Expression) else str(value)
    whole = text.removesuffix(".0") if "." in text else text
    return f"{float(whole):.{digits}g}" if "." in whole else whole


def _sequence_difference(
    wanted: Any, got: Any, view: str, tolerance: float, at: Mapping[str, Any] | None
) -> str | None:
    if not isinstance(got, tuple | list):
        return f"expected a {type(wanted).__name__} of {len(wanted)} values, got {name_of(got)}"
    if len(got) != len(wanted):
        return f"expected {len(wanted)} values, got {len(got)}"
    for index, (first, second) in enumerate(zip(wanted, got, strict=True)):
        problem = _part_difference(first, second, view, tolerance, at)
        if problem:
            return type(problem)(f"value {index + 1} of {len(wanted)}: {problem}")
    return None


def keys_difference(wanted: Collection[Any], got: Collection[Any]) -> str | None:
    """Returns None when the keys of two dicts, or the members of two sets, agree, else one sentence."""
    missing, extra = [k for k in wanted if k not in got], [k for k in got if k not in wanted]
    if missing:
        known = next((str(k) for k in extra if str(k).startswith(f"{missing[0]}{SAME_AS}")), "")
        if known:
            one, _, other = known.rstrip(")").partition(SAME_AS)
            return f"{one!r} and {other!r} {ONE_TENSOR}"
        more = f" ({len(missing)} are)" if len(missing) > 1 else ""
        return f"the entry {_short(missing[0])} is missing{more}"
    if extra:
        more = f" ({len(extra)} are not)" if len(extra) > 1 else ""
        return f"the entry {_short(extra[0])} is not expected{more}"
    return None


def _dict_difference(
    wanted: dict[Any, Any], got: Any, view: str, tolerance: float, at: Mapping[str, Any] | None
) -> str | None:
    if not isinstance(got, dict):
        return f"expected a dict with {len(wanted)} entries, got {name_of(got)}"
    problem = keys_difference(wanted, got)
    if problem or view == "shape":
        return problem
    for key, value in wanted.items():
        problem = _part_difference(value, got[key], view, tolerance, at)
        if problem:
            return type(problem)(f"at entry {key!r}: {problem}")
    return None


def relation(wanted: Sequence[Any], got: Sequence[Any]) -> str:
    """Returns one sentence on how numbers differ from the wanted ones where all differ in one way, else "".

    Args:
        wanted: the results of some questions, tensors or numbers.
        got: what came in their place.
    """
    if not all(map(_are_numbers, (*wanted, *got))):
        return ""
    pairs = [(torch.as_tensor(w).double(), torch.as_tensor(g).double()) for w, g in zip(wanted, got, strict=True)]
    if any(w.shape != g.shape for w, g in pairs):
        return ""
    first, second = (torch.cat([one.flatten() for one in column]) for column in zip(*pairs, strict=True))
    if not bool((first.isfinite() & second.isfinite()).all()) or len(first.unique()) < DISTINCT:
        return ""
    if all(_close(w, g) for w, g in pairs):
        return ""  # each is in its place: they differ by rounding
    if all(_close(w.flatten().sort()[0], g.flatten().sort()[0]) for w, g in pairs):
        return "The numbers are the expected ones, at other indices."
    factor = float(first @ second / (first @ first))
    if abs(factor) > 1e-6 and all(_close(factor * w, g) for w, g in pairs):
        other_sign = abs(factor + 1) < 1e-3
        return "All have the other sign." if other_sign else f"All are {factor:.4g} times the expected ones."
    apart = float((second - first).mean())
    if all(_close(w + apart, g) for w, g in pairs):
        return f"All are {abs(apart):.4g} too {'large' if apart > 0 else 'small'}."
    return ""


def _close(first: Tensor, second: Tensor) -> bool:
    """Says whether the numbers of one result agree, but for a thousandth of each and some digits of the largest."""
    return torch.allclose(first, second, 1e-3, 1e-5 * float(first.abs().max()))


def _are_numbers(value: Any) -> bool:
    if isinstance(value, Tensor):
        return dtype_kind(value) in ("floating", "integer")
    return isinstance(value, int | float) and not isinstance(value, bool)
