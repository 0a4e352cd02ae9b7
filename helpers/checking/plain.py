"""Plain values: all that ever passes between an answer and whoever checks it.

A plain value is `None`, a bool, int, float or string; a list, tuple, set or dict of plain values; a tensor; a sympy
expression; a model or a generator told by its recipe. `encode` makes JSON-ready data of one, `decode` goes back, so an
answer may run in this process or in another one. Nothing here unpickles, imports by name or evaluates text.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import mpmath
import torch
from torch import Tensor

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
MAX_DEPTH, MAX_ITEMS, MAX_BYTES, MAX_TEXT = 12, 20_000, 32_000_000, 20_000


class NotPlain(ValueError):
    """The value, or its encoded form, is not plain: too large, too deep, or of another kind."""


@dataclass(frozen=True)
class Other:
    """A value that cannot be compared, told by its type and a few characters of its text."""

    type_name: str
    text: str = ""


@dataclass(frozen=True)
class Model:
    """A model of `helpers.models` told by its recipe: class name, arguments, and seed of its initial weights.

    A `Batch` or a `Vocabulary` of `helpers.data` may be told in the same way, by name and arguments.

    With `noise`, each call adds different normal noise of this size to the output, as rounding does on a GPU.
    `tie` names a parameter and the one it shall share: `("head.weight", "base.embedding.weight")`. `freeze` holds
    beginnings of names: these parameters do not train. `spread` adds normal noise of this size to every parameter,
    norms and biases too, as training would have moved them. With `state` only the weights come, as a dict by name.
    With `training` it comes in training mode, not in evaluation mode. `gradients` is the size of all numbers in the
    gradients that an earlier step has left.
    """

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    noise: float = 0.0
    tie: tuple[str, ...] = ()
    freeze: tuple[str, ...] = ()
    spread: float = 0.0
    state: bool = False
    training: bool = False
    gradients: float = 0.0


@dataclass(frozen=True)
class Optimizer:
    """A new optimizer of `torch.optim`, told by name and learning rate, of the parameters of the first model given."""

    name: str
    lr: float


@dataclass(frozen=True)
class Generator:
    """A new `torch.Generator` told by its seed: random numbers that an answer shall draw from."""

    seed: int


@dataclass(frozen=True)
class Recorded:
    """A function told by what it gives: a stand-in for one that takes hours. Each of its calls is noted.

    `results` are pairs: the arguments of a call, and what it gives for them; None gives None for whatever it is asked.
    Call number `stop_at`, counted from 1, is interrupted as by Ctrl-C.
    """

    name: str
    results: list[tuple[list[Any], Any]] | None = None
    stop_at: int = 0


@dataclass(frozen=True)
class Expression:
    """A sympy expression as a tree: `("Symbol", "L")`, `("Add", a, b)`, `("Integer", "2")` and so on."""

    tree: tuple[Any, ...]

    def value(self, at: Mapping[str, Any]) -> mpmath.mpf:
        """Returns the value, to 50 digits, with each symbol replaced by its value in `at`.

        Raises:
            NotPlain: for a symbol that `at` does not name, an unknown function, or a number beyond all use.
        """
        with mpmath.workdps(50):
            return _evaluate(self.tree, at)

    def to_sympy(self) -> Any:
        """Returns the sympy expression; its symbols are positive integers, as in the notebooks."""
        import sympy

        def build(tree: tuple[Any, ...]) -> Any:
            head, *rest = tree
            if head == "Symbol":
                return sympy.Symbol(rest[0], positive=True, integer=True)
            if head == "Integer":
                return sympy.Integer(int(rest[0]))
            if head == "Float":
                return sympy.Float(rest[0])
            if head == "Rational":
                return sympy.Rational(int(rest[0]), int(rest[1]))
            if head in _CONSTANTS:
                return {"Pi": sympy.pi, "Exp1": sympy.E}[head]
            return getattr(sympy, head)(*map(build, rest))

        return build(self.tree)


# How many branches each has in a tree; 0 for any number of them, from one on.
_FUNCTIONS = {"Add": 0, "Mul": 0, "Pow": 2, "exp": 1, "log": 1}
_FUNCTIONS |= {"floor": 1, "ceiling": 1, "Abs": 1, "Max": 0, "Min": 0, "factorial": 1, "binomial": 2}
_CONSTANTS = {"Pi": mpmath.pi, "Exp1": mpmath.e}


def _evaluate(tree: tuple[Any, ...], at: Mapping[str, Any]) -> mpmath.mpf:
    head, *rest = tree
    if head == "Symbol":
        if rest[0] not in at:
            raise NotPlain(f"the expression has a symbol {rest[0]}; expected only {', '.join(sorted(at)) or 'numbers'}")
        return mpmath.mpf(at[rest[0]])
    if head in ("Integer", "Float"):
        return mpmath.mpf(rest[0])
    if head == "Rational":
        return mpmath.mpf(rest[0]) / mpmath.mpf(rest[1])
    if head in _CONSTANTS:
        return mpmath.mpf(_CONSTANTS[head])
    values = [_evaluate(branch, at) for branch in rest]
    if head == "Add":
        return mpmath.fsum(values)
    if head == "Mul":
        return mpmath.fprod(values)
    try:
        if head == "Pow":
            base, exponent = values
            size = abs(exponent) * (1 + abs(mpmath.log(abs(base), 2))) if base else abs(exponent)
            if size > 100_000:
                raise NotPlain("a power in the expression is too large to compute")
            result = base**exponent
        elif head == "exp":
            if abs(values[0]) > 100_000:
                raise NotPlain("an exponential in the expression is too large to compute")
            result = mpmath.exp(values[0])
        elif head == "log":
            result = mpmath.log(values[0])
        else:
            result = _counted(head, values)
    except (ZeroDivisionError, OverflowError) as problem:
        raise NotPlain("the expression divides by zero") from problem
    if not isinstance(result, mpmath.mpf):
        raise NotPlain("the expression is not a real number for the values tried")
    return result


def _summed(expression: Any) -> Any:
    """Returns a sympy expression with its sums over an index worked out, as `Sum(...).doit()` does."""
    import sympy

    indexed = isinstance(expression, sympy.Basic) and expression.has(sympy.Sum, sympy.Product)
    return expression.doit() if indexed else expression


def _counted(head: str, values: list[mpmath.mpf]) -> mpmath.mpf:
    """Returns the value of a function of whole numbers, or of one that rounds or chooses."""
    if head in ("factorial", "binomial"):
        if not all(0 <= value <= (10_000 if head == "factorial" else 10**9) for value in values):
            raise NotPlain(f"a {head} in the expression is below zero, or too large to compute")
        return mpmath.factorial(values[0]) if head == "factorial" else mpmath.binomial(*values)
    if head in ("Max", "Min"):
        return max(values) if head == "Max" else min(values)
    return {"floor": mpmath.floor, "ceiling": mpmath.ceil, "Abs": abs}[head](values[0])


def _tree(expression: Any, budget: list[int]) -> tuple[Any, ...]:
    """Returns the tree of a sympy expression; raises `NotPlain` when it has parts that are not simple."""
    budget[0] -= 1
    if budget[0] < 0:
        raise NotPlain("the expression has more than 2000 parts")
    kind = type(expression).__name__
    if expression.is_Symbol:
        return ("Symbol", str(expression.name)[:50])
    if expression.is_Integer:
        return ("Integer", str(int(expression)))
    if expression.is_Rational:
        return ("Rational", str(expression.p), str(expression.q))
    if expression.is_Float:
        return ("Float", str(expression))
    if kind in _CONSTANTS:
        return (kind,)
    if kind in _FUNCTIONS:
        return (kind, *(_tree(branch, budget) for branch in expression.args))
    raise NotPlain(f"the expression has a part of kind {kind}; expected sums, products, powers, exp and log")


def _checked_tree(data: Any, budget: list[int], depth: int = 0) -> tuple[Any, ...]:
    budget[0] -= 1
    if not isinstance(data, list | tuple) or not data or budget[0] < 0 or depth > 60:
        raise NotPlain("the expression is damaged or too large")
    head, *rest = data
    if head in ("Symbol", "Integer", "Float", "Rational"):
        wanted = 2 if head == "Rational" else 1
        if len(rest) != wanted or not all(isinstance(part, str) and len(part) <= 400 for part in rest):
            raise NotPlain("the expression is damaged")
        if head != "Symbol" and not all(math.isfinite(_number(part)) for part in rest):
            raise NotPlain("the expression has a number that is not finite")
        if head in ("Integer", "Rational") and 0 in [int(part) for part in rest][1:]:
            raise NotPlain("the expression divides by zero")
        return (head, *rest)
    if head in _CONSTANTS and not rest:
        return (head,)
    if head in _FUNCTIONS and (len(rest) == _FUNCTIONS[head] or (rest and not _FUNCTIONS[head])):
        return (head, *(_checked_tree(branch, budget, depth + 1) for branch in rest))
    raise NotPlain(f"the expression has an unknown part {str(head)[:40]!r}")


def _number(text: str) -> float:
    try:
        return float(mpmath.mpf(text))
    except (ValueError, OverflowError, TypeError) as problem:
        raise NotPlain(f"{text[:40]!r} is not a number") from problem


def encode(value: Any) -> Any:
    """Returns JSON-ready data for a plain value; anything else becomes its type's name (`Other`).

    Raises:
        NotPlain: when the value is nested too deeply, has too many items or too many bytes.
    """
    return _encode(value, 0, {"items": MAX_ITEMS, "bytes": MAX_BYTES})


def _spend(budget: dict[str, int], what: str, amount: int) -> None:
    budget[what] -= amount
    if budget[what] < 0:
        raise NotPlain(f"the value is too large (more than {MAX_ITEMS} items or {MAX_BYTES // 10**6} MB)")


def _encode(value: Any, depth: int, budget: dict[str, int]) -> Any:
    _spend(budget, "items", 1)
    if depth > MAX_DEPTH:
        raise NotPlain(f"the value is nested more than {MAX_DEPTH} levels deep")
    if value is None or isinstance(value, bool):
        return value
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()  # a numpy number is as good as a number
    if isinstance(value, int):
        if abs(value) >= 10**400:
            raise NotPlain("the number has more than 400 digits")
        return int(value) if abs(value) < 2**53 else {"int": str(int(value))}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, str):
        _spend(budget, "bytes", 4 * len(value))
        if len(value) > MAX_TEXT:
            raise NotPlain(f"the text has {len(value)} characters; at most {MAX_TEXT} are read")
        return str(value)
    if isinstance(value, Tensor):
        return _encode_tensor(value, budget)
    if isinstance(value, Expression):
        return {"expression": value.tree}
    if isinstance(value, Model):
        arguments = _encode(value.arguments, depth + 1, budget)
        recipe = {
            "model": value.name,
            "arguments": arguments,
            "seed": value.seed,
            "noise": value.noise,
        }
        changes = {"tie": list(value.tie), "freeze": list(value.freeze), "spread": value.spread, "state": value.state}
        changes |= {"training": value.training, "gradients": value.gradients}
        return recipe | {name: change for name, change in changes.items() if change}
    if isinstance(value, Generator):
        return {"generator": value.seed}
    if isinstance(value, Recorded):
        return {"recorded": value.name, "results": _encode(value.results, depth + 1, budget), "stop_at": value.stop_at}
    if isinstance(value, Optimizer):
        return {"optimizer": value.name, "lr": value.lr}
    if isinstance(value, Other):
        return {"other": value.type_name, "text": value.text}
    if isinstance(value, list | tuple | set | frozenset):
        kind = "list" if isinstance(value, list) else "tuple" if isinstance(value, tuple) else "set"
        items = [_encode(item, depth + 1, budget) for item in value]
        return items if kind == "list" else {kind: sorted(items, key=repr) if kind == "set" else items}
    if isinstance(value, Mapping):
        pairs = [[_encode(key, depth + 1, budget), _encode(item, depth + 1, budget)] for key, item in value.items()]
        return {"dict": pairs}
    if hasattr(value, "free_symbols") and hasattr(value, "is_Symbol"):
        return {"expression": _tree(_summed(value), [2000])}
    return {"other": type(value).__name__[:80], "text": ""}


def _encode_tensor(value: Tensor, budget: dict[str, int]) -> dict[str, Any]:
    if value.device.type == "meta" or value.layout != torch.strided:
        return {
            "other": f"{value.layout} tensor on {value.device.type}".removeprefix("torch."),
            "text": "",
        }
    _spend(budget, "bytes", value.numel() * value.element_size())
    name = str(value.dtype).removeprefix("torch.")
    if name not in DTYPES:
        return {"other": f"tensor of {name}", "text": ""}
    plain = value.detach().to("cpu").resolve_conj().resolve_neg().contiguous()
    data = plain.reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""
    return {
        "tensor": name,
        "shape": list(plain.shape),
        "base64": base64.b64encode(data).decode("ascii"),
    }


def decode(data: Any) -> Any:
    """Returns the plain value that `encode` was given (a sympy expression comes back as `Expression`).

    Raises:
        NotPlain: when the data is not what `encode` makes, or beyond its limits. Safe on hostile data.
    """
    try:
        return _decode(data, 0, {"items": MAX_ITEMS, "bytes": MAX_BYTES})
    except NotPlain:
        raise
    except (TypeError, ValueError, LookupError, ArithmeticError, RuntimeError) as problem:
        raise NotPlain("the data is damaged") from problem


def _decode(data: Any, depth: int, budget: dict[str, int]) -> Any:
    _spend(budget, "items", 1)
    if depth > MAX_DEPTH:
        raise NotPlain(f"the value is nested more than {MAX_DEPTH} levels deep")
    if data is None or isinstance(data, bool | float):
        return data
    if isinstance(data, int):
        if abs(data) >= 10**400:
            raise NotPlain("the number has more than 400 digits")
        return data
    if isinstance(data, str):
        _spend(budget, "bytes", 4 * len(data))
        return clean(data)
    if isinstance(data, list):
        return [_decode(item, depth + 1, budget) for item in data]
    if not isinstance(data, dict):
        raise NotPlain(f"a {type(data).__name__} is not plain data")
    if "tensor" in data:
        return _decode_tensor(data, budget)
    if "int" in data and str(data["int"]).lstrip("-").isdigit() and len(data["int"]) <= 401:
        return int(data["int"])
    if data.get("float") in ("inf", "-inf", "nan"):
        return float(data["float"])
    if "expression" in data:
        return Expression(_checked_tree(data["expression"], [2001]))
    for kind, make in (("tuple", tuple), ("set", set)):
        if isinstance(data.get(kind), list):
            return make(_decode(item, depth + 1, budget) for item in data[kind])
    if isinstance(data.get("dict"), list):
        pairs = [[_decode(part, depth + 1, budget) for part in pair] for pair in data["dict"] if len(pair) == 2]
        return {_key(key): item for key, item in pairs}
    if isinstance(data.get("model"), str):
        arguments = _decode(data.get("arguments"), depth + 1, budget)
        tie, freeze = (tuple(map(str, data.get(name, ()))) for name in ("tie", "freeze"))
        seed, noise = int(data.get("seed", 0)), float(data.get("noise", 0.0))
        spread, state = float(data.get("spread", 0.0)), data.get("state") is True
        training, gradients = data.get("training") is True, float(data.get("gradients", 0.0))
        return Model(data["model"], dict(arguments), seed, noise, tie, freeze, spread, state, training, gradients)
    if isinstance(data.get("optimizer"), str):
        return Optimizer(data["optimizer"], float(data["lr"]))
    if type(data.get("generator")) is int:
        return Generator(data["generator"] % 2**63)
    if isinstance(data.get("recorded"), str):
        results = _decode(data.get("results"), depth + 1, budget)
        results = None if results is None else [(list(given), gives) for given, gives in results]
        return Recorded(clean(data["recorded"][:80]), results, int(data.get("stop_at", 0)))
    if isinstance(data.get("other"), str):
        return Other(clean(data["other"][:80]), clean(str(data.get("text", ""))[:200]))
    raise NotPlain(f"unknown plain data with keys {sorted(map(str, data))[:5]}")


def clean(text: str) -> str:
    """Returns a text that can be written to a file: halves of characters, which JSON can hold, become "?"."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _key(key: Any) -> Any:
    return key if is_simple(key) else str(key)


def is_simple(value: Any) -> bool:
    """Says whether a value can be an entry of a set and be compared with `==`."""
    if isinstance(value, tuple):
        return all(is_simple(part) for part in value)
    return isinstance(value, str | int | float | bool)


def _decode_tensor(data: dict[str, Any], budget: dict[str, int]) -> Tensor:
    dtype, shape = DTYPES.get(str(data["tensor"])), data.get("shape")
    if dtype is None or not isinstance(shape, list) or len(shape) > 12:
        raise NotPlain("the tensor's dtype or shape is damaged")
    if not all(isinstance(size, int) and 0 <= size < 2**31 for size in shape):
        raise NotPlain("the tensor's shape is damaged")
    if "values" in data:  # the readable form of helpers/check_examples/
        return torch.tensor([float(value) for value in data["values"]], dtype=torch.float64).to(dtype).reshape(shape)
    try:
        raw = base64.b64decode(data["base64"], validate=True)
    except (KeyError, TypeError, ValueError) as problem:
        raise NotPlain("the tensor's data is damaged") from problem
    _spend(budget, "bytes", len(raw))
    if len(raw) != math.prod(shape) * dtype.itemsize:
        raise NotPlain("the tensor's data does not fit its shape")
    if not raw:
        return torch.empty(shape, dtype=dtype)
    flat = torch.frombuffer(bytearray(raw), dtype=torch.uint8)
    if dtype == torch.bool:
        return (flat != 0).reshape(shape)
    return flat.view(dtype).reshape(shape)


def canonical(value: Any, at: Mapping[str, Any] | None = None) -> str:
    """Returns a text that is the same for equal values: numbers and expressions to 12 digits, dicts sorted by key.

    Two expressions that are algebraically equal have the same text when evaluated at the same point `at`.
    """
    if isinstance(value, Tensor) and value.numel() == 1:
        value = value.item()
    if isinstance(value, float):
        value = Expression(("Float", str(float(value))))
    if isinstance(value, bool | int):
        value = Expression(("Integer", str(int(value))))
    if isinstance(value, Expression):
        with mpmath.workdps(50):
            return str(mpmath.nstr(value.value(at or {}), 12))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {canonical(value[key], at)}" for key in sorted(value, key=str)) + "}"
    if isinstance(value, list | tuple | torch.Size):
        return "(" + ", ".join(canonical(item, at) for item in value) + ")"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(canonical(item, at) for item in value)) + "}"
    return repr(value)


def evaluated(value: Any, at: Mapping[str, Any] | None) -> Any:
    """Returns the value with each expression replaced by its number at `at`, which does not tell the formula."""
    if isinstance(value, Expression):
        number = value.value(at or {})
        return int(number) if mpmath.isint(number) else Expression(("Float", mpmath.nstr(number, 30)))
    if isinstance(value, dict):
        return {key: evaluated(item, at) for key, item in value.items()}
    return type(value)(evaluated(item, at) for item in value) if isinstance(value, list | tuple) else value


def seal(value: Any, at: Mapping[str, Any] | None, salt: str) -> Any:
    """Returns the fingerprint of a value; of a dict or a sequence, one fingerprint for each of its parts."""
    if isinstance(value, dict):
        return {str(key): seal(item, at, salt) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [seal(item, at, salt) for item in value]
    return digest(value, at, salt)


def digest(value: Any, at: Mapping[str, Any] | None, salt: str) -> str:
    """Returns a fingerprint of `canonical(value, at)`: lets a check know a right number without telling it."""
    return hashlib.sha256(f"{salt}|{canonical(value, at)}".encode()).hexdigest()[:16]
