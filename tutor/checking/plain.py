"""Plain values: all that ever passes between an answer and whoever checks it.

A plain value is `None`, a bool, int, float or string; a list, tuple, set or dict of plain values; a tensor; a sympy
expression, or its number at a point; a model or a generator as its recipe. `encode` makes JSON-ready data of one,
`decode` goes back, so an answer may run in this process or in another one. Nothing here unpickles, imports by name or
evaluates text.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import Field, dataclass, fields
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import torch
from torch import Tensor

# Recipes and expressions are plain values too, and so found here by whoever handles plain values.
from tutor.checking.expressions import Expression as Expression
from tutor.checking.expressions import NotPlain as NotPlain
from tutor.checking.recipes import RECIPES, Recipe
from tutor.checking.recipes import Generator as Generator
from tutor.checking.recipes import Model as Model
from tutor.checking.recipes import Optimizer as Optimizer
from tutor.checking.recipes import Recorded as Recorded
from tutor.checking.texts import clean, one_line

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.bool,
        torch.uint8,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.float16,
        torch.bfloat16,
        torch.float32,
        torch.float64,
        torch.complex64,
        torch.complex128,
    )
}
NOT_FINITE = ("inf", "-inf", "nan")  # as texts: JSON has no such numbers
_NUMBERS = frozenset(DTYPES.values())
_SMALL = 2**53  # every float holds the whole numbers below it
_LONGEST = 10**400  # the smallest number of more than 400 digits; Python would work it out at each use
MAX_DEPTH, MAX_ITEMS, MAX_BYTES, MAX_TEXT = 12, 20_000, 32_000_000, 20_000
# Keys of dicts and members of sets: whoever chooses them can have Python compare each with all others.
MAX_KEYS = 1_000


@dataclass(frozen=True)
class Other:
    """A value that cannot be compared, described by its type and a few characters of its text."""

    type_name: str
    text: str = ""


class _Budget:
    """How many items, bytes and keys a value may still have, and the point at which its formulas are worked out."""

    def __init__(self, at: Mapping[str, Any] | None = None) -> None:
        self._items, self._bytes, self._keys, self.at = MAX_ITEMS, MAX_BYTES, MAX_KEYS, at

    def spend(self, items: int = 0, bytes: int = 0, keys: int = 0) -> None:
        """Raises NotPlain when this is more than is left."""
        self._items -= items
        self._bytes -= bytes
        self._keys -= keys
        if self._items < 0 or self._bytes < 0:
            raise NotPlain(f"the value is too large (more than {MAX_ITEMS} items or {MAX_BYTES // 10**6} MB)")
        if self._keys < 0:
            raise NotPlain(f"the value is too large (more than {MAX_KEYS} members of sets and keys of dicts)")

    def enter(self, depth: int) -> None:
        """Counts one more item, at this depth."""
        self._items -= 1
        if self._items < 0:
            self.spend()
        if depth > MAX_DEPTH:
            raise NotPlain(f"the value is nested more than {MAX_DEPTH} levels deep")


# --- encode -----------------------------------------------------------------------------------------------------------


def encode(value: Any) -> Any:
    """Returns JSON-ready data for a plain value; anything else becomes its type's name (`Other`).

    Raises:
        NotPlain: when the value is nested too deeply, has too many items or too many bytes.
    """
    return _encode(value, 0, _Budget())


def _encode(value: Any, depth: int, budget: _Budget) -> Any:
    budget.enter(depth)
    if value is None or isinstance(value, bool):
        return value
    if type(value) in _USUAL:
        return _USUAL[type(value)](value, depth, budget)
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()  # a numpy number is as good as a number
    for kind, encode_kind in _ENCODERS.items():
        if isinstance(value, kind):
            return encode_kind(value, depth, budget)
    if hasattr(value, "free_symbols") and hasattr(value, "is_Symbol"):
        formula = Expression.from_sympy(value) if budget.at is None else Expression.worked_out(value, budget.at)
        return _encode_expression(formula)
    return {"other": type(value).__name__[:80], "text": ""}


def _encode_int(value: int, depth: int, budget: _Budget) -> Any:
    _refuse_long(value)
    return int(value) if abs(value) < _SMALL else {"int": str(int(value))}


def _refuse_long(number: int) -> None:
    if abs(number) >= _LONGEST:
        raise NotPlain("the number has more than 400 digits")


def _encode_float(value: float, depth: int, budget: _Budget) -> Any:
    return float(value) if math.isfinite(value) else {"float": str(float(value))}


def _encode_text(value: str, depth: int, budget: _Budget) -> str:
    budget.spend(bytes=4 * len(value))
    _refuse_long_text(value)
    return str(value)


def _refuse_long_text(text: str) -> None:
    if len(text) > MAX_TEXT:
        raise NotPlain(f"the text has {len(text)} characters; at most {MAX_TEXT} are read")


def _encode_tensor(value: Tensor, depth: int, budget: _Budget) -> dict[str, Any]:
    if value.device.type == "meta" or value.layout != torch.strided:
        return {
            "other": f"{value.layout} tensor on {value.device.type}".removeprefix("torch."),
            "text": "",
        }
    budget.spend(bytes=value.numel() * value.element_size())
    name = str(value.dtype).removeprefix("torch.")
    if name not in DTYPES:
        return {"other": f"tensor of {name}", "text": ""}
    return {
        "tensor": name,
        "shape": list(value.shape),
        "base64": binascii.b2a_base64(raw(value), newline=False).decode("ascii"),
    }


def raw(tensor: Tensor) -> bytes:
    """Returns the numbers of a tensor as bytes, in the order of its last index."""
    if not tensor.numel():
        return b""
    here = tensor.detach()
    if here.device.type != "cpu" or here.is_conj() or here.is_neg():
        here = here.to("cpu").resolve_conj().resolve_neg()
    if here.dtype != torch.bfloat16:  # which numpy does not have
        return here.numpy().tobytes()
    return here.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def _encode_recipe(value: Recipe, depth: int, budget: _Budget) -> dict[str, Any]:
    """Returns the fields of a recipe, the first one under the name of its kind; see `tutor.checking.recipes`."""
    data = {}
    for name, field in _PARTS[type(value)].items():
        part = getattr(value, field.name)
        if field.kw_only and part == field.default:
            continue
        if isinstance(part, str | int | float):
            data[name] = part
        else:
            data[name] = _encode(list(part) if isinstance(part, tuple) else part, depth + 1, budget)
    return data


def _parts(kind: type[Recipe]) -> dict[str, Field[Any]]:
    """Returns the fields of a kind of recipe by their names in the encoded form."""
    tag = next(tag for tag, other in RECIPES.items() if other is kind)
    first, *rest = fields(kind)
    return {tag: first} | {field.name: field for field in rest}


_PARTS = {kind: _parts(kind) for kind in RECIPES.values()}


def _encode_items(value: Iterable[Any], depth: int, budget: _Budget) -> Any:
    if isinstance(value, set | frozenset):
        budget.spend(keys=len(value))
    items = [_encode(item, depth + 1, budget) for item in value]
    if isinstance(value, list):
        return items
    return {"tuple": items} if isinstance(value, tuple) else {"set": sorted(items, key=repr)}


def _encode_expression(value: Expression) -> dict[str, Any]:
    return {"expression": value.tree} | ({"bare": list(value.bare)} if value.bare else {})


def _encode_dict(value: Mapping[Any, Any], depth: int, budget: _Budget) -> dict[str, Any]:
    budget.spend(keys=len(value))
    pairs = [[_encode(key, depth + 1, budget), _encode(item, depth + 1, budget)] for key, item in value.items()]
    return {"dict": pairs}


_ENCODERS: dict[Any, Callable[[Any, int, _Budget], Any]] = {
    int: _encode_int,
    float: _encode_float,
    str: _encode_text,
    Tensor: _encode_tensor,
    Expression: lambda value, depth, budget: _encode_expression(value),
    Recipe: _encode_recipe,
    Other: lambda value, depth, budget: {"other": value.type_name, "text": value.text},
    list | tuple | set | frozenset: _encode_items,
    Mapping: _encode_dict,
}
_USUAL = {
    kind: encode_kind
    for kind in (int, float, str, Tensor, torch.nn.Parameter, list, tuple, set, dict)
    for known, encode_kind in _ENCODERS.items()
    if issubclass(kind, known)
}


# --- copy -------------------------------------------------------------------------------------------------------------


def fresh(value: Any, at: Mapping[str, Any] | None = None) -> Any:
    """Returns `decode(encode(value))`, a copy that shares nothing with the value, without the way through text.

    Where `at` names a point, a dict of symbols' values, there is of each formula its number at that point.

    Raises:
        NotPlain: when the value is beyond the limits of `encode`, or nothing that `decode` can make.
    """
    return _fresh(value, 0, _Budget(at))


def _fresh(value: Any, depth: int, budget: _Budget) -> Any:
    kind = type(value)
    if kind in _AS_THEY_ARE or (kind is int and -_SMALL < value < _SMALL):
        budget.enter(depth)
        return value
    if kind is str:
        budget.enter(depth)
        return clean(_encode_text(value, depth, budget)).encode().decode()  # another object, as it is behind a socket
    if kind is Tensor and value.device.type == "cpu" and value.layout == torch.strided and value.dtype in _NUMBERS:
        budget.enter(depth)
        budget.spend(bytes=value.numel() * value.element_size())
        return value.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    if kind in (list, tuple):
        budget.enter(depth)
        return kind(_fresh(item, depth + 1, budget) for item in value)
    if kind is dict and all(type(key) is str and key.isascii() for key in value):
        budget.enter(depth)
        budget.spend(keys=len(value), items=len(value))
        return {key: _fresh(item, depth + 1, budget) for key, item in value.items()}
    data = _encode(value, depth, budget)
    with _damage_as_not_plain():
        return _decode(data, depth, _Budget())


# --- decode -----------------------------------------------------------------------------------------------------------


def decode(data: Any) -> Any:
    """Returns the plain value that `encode` was given (a sympy expression comes back as `Expression`).

    Raises:
        NotPlain: when the data is not what `encode` makes, or beyond its limits. Safe on hostile data.
    """
    with _damage_as_not_plain():
        return _decode(data, 0, _Budget())


@contextmanager
def _damage_as_not_plain() -> Iterator[None]:
    """Tells what reading data can raise as `NotPlain`."""
    try:
        yield
    except NotPlain:
        raise
    except (TypeError, ValueError, LookupError, ArithmeticError, RuntimeError) as problem:
        raise NotPlain("the data is damaged") from problem


_AS_THEY_ARE = frozenset({type(None), bool, float})


def _decode(data: Any, depth: int, budget: _Budget) -> Any:
    budget.enter(depth)
    if type(data) in _AS_THEY_ARE:
        return data
    if isinstance(data, int):
        _refuse_long(data)
        return data
    if isinstance(data, str):
        budget.spend(bytes=4 * len(data))
        _refuse_long_text(data)
        return clean(data)
    if isinstance(data, list):
        return [_decode(item, depth + 1, budget) for item in data]
    if not isinstance(data, dict):
        raise NotPlain(f"a {type(data).__name__} is not plain data")
    for tag, decode_tagged in _DECODERS.items():
        if tag in data:
            return decode_tagged(data, depth, budget)
    for tag, kind in RECIPES.items():
        if tag in data:
            return _decode_recipe(kind, data, depth, budget)
    raise NotPlain(f"unknown plain data with keys {sorted(map(str, data))[:5]}")


_SIMPLE = str | int | float | bool


def is_simple(value: Any) -> bool:
    """Says whether a value can be an entry of a set and be compared with `==`."""
    if isinstance(value, tuple):
        return all(is_simple(part) for part in value)
    return isinstance(value, _SIMPLE)


def _decode_tensor(data: dict[str, Any], depth: int, budget: _Budget) -> Tensor:
    dtype, shape = DTYPES.get(str(data["tensor"])), data.get("shape")
    if dtype is None or not isinstance(shape, list) or len(shape) > 12:
        raise NotPlain("the tensor's dtype or shape is damaged")
    if not all(isinstance(size, int) and 0 <= size < 2**31 for size in shape):
        raise NotPlain("the tensor's shape is damaged")
    if "values" in data:  # the readable form of tutor/check_examples/
        budget.spend(bytes=8 * len(data["values"]))
        if any(isinstance(value, str) and value not in NOT_FINITE for value in data["values"]):
            raise NotPlain("the tensor's data is damaged")  # long texts of digits take long to read
        return torch.tensor([float(value) for value in data["values"]], dtype=torch.float64).to(dtype).reshape(shape)
    try:
        raw = base64.b64decode(data["base64"], validate=True)
    except (KeyError, TypeError, ValueError) as problem:
        raise NotPlain("the tensor's data is damaged") from problem
    budget.spend(bytes=len(raw))
    if len(raw) != math.prod(shape) * dtype.itemsize:
        raise NotPlain("the tensor's data does not fit its shape")
    if not raw:
        return torch.empty(shape, dtype=dtype)
    flat = torch.frombuffer(bytearray(raw), dtype=torch.uint8)
    if dtype == torch.bool:
        return (flat != 0).reshape(shape)
    return flat.view(dtype).reshape(shape)


def _decode_int(data: dict[str, Any], depth: int, budget: _Budget) -> int:
    digits = data["int"]
    if not (isinstance(digits, str) and digits.removeprefix("-").isdecimal() and len(digits) <= 401):
        raise NotPlain("the whole number is damaged")
    return int(digits)


def _decode_float(data: dict[str, Any], depth: int, budget: _Budget) -> float:
    if data["float"] not in NOT_FINITE:
        raise NotPlain("the number is damaged")
    return float(data["float"])


def _decode_items(items: Any, depth: int, budget: _Budget) -> list[Any]:
    if not isinstance(items, list):
        raise NotPlain("the parts of a value are damaged")
    return [_decode(item, depth + 1, budget) for item in items]


def _decode_set(data: dict[str, Any], depth: int, budget: _Budget) -> set[Any]:
    budget.spend(keys=len(data["set"]))
    return set(_decode_items(data["set"], depth, budget))


def _decode_dict(data: dict[str, Any], depth: int, budget: _Budget) -> dict[Any, Any]:
    if not isinstance(data["dict"], list) or not all(isinstance(pair, list) for pair in data["dict"]):
        raise NotPlain("the parts of a value are damaged")
    budget.spend(keys=len(data["dict"]))
    pairs = [(_decode(key, depth + 1, budget), _decode(item, depth + 1, budget)) for key, item in data["dict"]]
    return {key if is_simple(key) else _named(key): item for key, item in pairs}


def _named(key: Any) -> str:
    """Returns what stands for a key that cannot be compared; large ones take long to be written out."""
    if key is None or (isinstance(key, Tensor) and key.numel() <= 10):
        return str(key)
    return f"tensor of shape {tuple(key.shape)}" if isinstance(key, Tensor) else f"a {type(key).__name__}"


def _decode_other(data: dict[str, Any], depth: int, budget: _Budget) -> Other:
    if not isinstance(data["other"], str):
        raise NotPlain("the name of a type is damaged")
    return Other(one_line(data["other"], 80), one_line(str(data.get("text", "")), 200))


_DECODERS: dict[str, Callable[[dict[str, Any], int, _Budget], Any]] = {
    "tensor": _decode_tensor,
    "int": _decode_int,
    "float": _decode_float,
    "expression": lambda data, depth, budget: Expression.from_data(data["expression"], data.get("bare")),
    "tuple": lambda data, depth, budget: tuple(_decode_items(data["tuple"], depth, budget)),
    "set": _decode_set,
    "dict": _decode_dict,
    "other": _decode_other,
}


def _decode_recipe(kind: type[Recipe], data: dict[str, Any], depth: int, budget: _Budget) -> Recipe:
    """Returns the recipe whose fields these are; raises `NotPlain` for one of another type than it is declared with."""
    values, types = {}, _TYPES[kind]
    for name, field in _PARTS[kind].items():
        if name not in data:
            continue  # it has its default; without one the recipe cannot be made, which is a TypeError
        value, wanted = _decode(data[name], depth + 1, budget), types[field.name]
        if get_origin(wanted) is tuple and isinstance(value, list):
            value = tuple(value)
        if not _fits(value, wanted):
            raise NotPlain(f"the {name} of a recipe is damaged")
        values[field.name] = value
    return kind(**values)


_TYPES = {kind: get_type_hints(kind) for kind in RECIPES.values()}


def _fits(value: Any, wanted: Any) -> bool:
    """Says whether a field of a recipe has the type it is declared with; the parts of a list or a dict may be any."""
    if isinstance(wanted, UnionType):
        return any(_fits(value, one) for one in get_args(wanted))
    if wanted is float:
        return type(value) in (int, float) and math.isfinite(value)
    if wanted is int:
        return type(value) is int and 0 <= value < 2**63
    if get_origin(wanted) is tuple:
        return isinstance(value, tuple) and all(isinstance(name, str) for name in value)
    return isinstance(value, get_origin(wanted) or wanted)
