"""Formulas as plain trees: of sympy and back, and their numbers at a point, without evaluating any text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import mpmath

from tutor.checking.texts import one_line

DIGITS = 50
MAX_PARTS, MAX_DEPTH, MAX_TEXT = 500, 60, 400
MAX_EXPONENT = 400  # of a number: `1e-999999` is six signs to send, and takes for ever to work out
MAX_STEPS = 100_000  # of an evaluation: a part of a second
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,4}))?", re.ASCII)


class NotPlain(ValueError):
    """The value, or its encoded form, is not plain: too large, too deep, or of another kind.

    Its sentence may quote what somebody else has written: it is one line, and not long.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(one_line(sentence))


@dataclass(frozen=True)
class Expression:
    """A sympy expression as a tree: `("Symbol", "L")`, `("Add", a, b)`, `("Integer", "2")` and so on.

    `bare` names its symbols that were made without assumptions: to sympy they are others than those of the notebooks.
    """

    tree: tuple[Any, ...]
    bare: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def from_sympy(cls, expression: Any) -> Expression:
        """Returns a sympy expression as a tree; what is written but not worked out yet (`Sum`, `Subs`) is worked out.

        Raises:
            NotPlain: when it has parts that are not simple, or too many of them.
        """
        import sympy

        if isinstance(expression, sympy.Poly):
            expression = expression.as_expr()
        lazy = (sympy.Sum, sympy.Product, sympy.Subs, sympy.Integral, sympy.Derivative, sympy.UnevaluatedExpr)
        if isinstance(expression, sympy.Basic) and expression.has(*lazy):
            expression = expression.doit()
        bare = sorted(
            str(one.name)[:50] for one in expression.free_symbols if one.is_commutative and one.is_real is None
        )
        return cls(_tree(expression, [MAX_PARTS]), tuple(bare[:20]))

    @classmethod
    def from_data(cls, data: Any, bare: Any = None) -> Expression:
        """Returns the expression of a tree in lists, as JSON gives it. Safe on hostile data.

        Raises:
            NotPlain: when it is no tree of a formula, or too large.
        """
        names = [one_line(name, 50) for name in bare[:20] if isinstance(name, str)] if isinstance(bare, list) else []
        return cls(_checked_tree(data, [MAX_PARTS + 1]), tuple(names))

    def value(self, at: Mapping[str, Any]) -> mpmath.mpf:
        """Returns the value, to 50 digits, with each symbol replaced by its value in `at`.

        Raises:
            NotPlain: for a symbol that `at` does not name, an unknown function, or a number beyond all use.
        """
        value = _value(self.tree, tuple(sorted(at.items())))
        if isinstance(value, str):
            raise NotPlain(value)
        return value

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
            if head in _LOOPS:
                return getattr(sympy, head)(build(rest[0]), tuple(map(build, rest[1:])))
            if head == "ExprCondPair":
                return tuple(map(build, rest))
            return getattr(sympy, head)(*map(build, rest))

        return build(self.tree)


# --- the functions of a formula ---------------------------------------------------------------------------------------


def _power(base: mpmath.mpf, exponent: mpmath.mpf) -> mpmath.mpf:
    if mpmath.isinf(base):
        return mpmath.mpf(0) if exponent < 0 else base**exponent
    size = abs(exponent) * (1 + abs(mpmath.log(abs(base), 2))) if base else abs(exponent)
    if size > 100_000:
        raise NotPlain("a power in the expression is too large to compute")
    return base**exponent


def _growing(function: Callable[[mpmath.mpf], mpmath.mpf]) -> Callable[[mpmath.mpf], mpmath.mpf]:
    """Returns a function that grows as an exponential does, and refuses what would be too large."""

    def grow(exponent: mpmath.mpf) -> mpmath.mpf:
        if abs(exponent) > 100_000:
            raise NotPlain("an exponential in the expression is too large to compute")
        return function(exponent)

    return grow


def _counting(name: str, function: Callable[..., mpmath.mpf], largest: int) -> Callable[..., mpmath.mpf]:
    """Returns a function of whole numbers that refuses those for which it would take too long."""

    def count(*values: mpmath.mpf) -> mpmath.mpf:
        if not all(abs(value) <= largest for value in values):
            raise NotPlain(f"a {name} in the expression is too large to compute")
        try:
            return function(*values)
        except ValueError:  # a pole, such as (-1)!: one divided by it is 0, as in sympy
            return mpmath.inf

    return count


def _truth(holds: Callable[[mpmath.mpf, mpmath.mpf], bool]) -> Callable[..., mpmath.mpf]:
    """Returns a comparison of two numbers as one that gives 1 for true and 0 for false."""
    return lambda first, second: mpmath.mpf(int(holds(first, second)))


def _equal(first: mpmath.mpf, second: mpmath.mpf) -> bool:
    return bool(abs(first - second) <= mpmath.mpf(10) ** -30 * (1 + abs(second)))


def _floor(value: mpmath.mpf) -> mpmath.mpf:
    """Returns the largest whole number that is not above a value; one that only rounding keeps from it is reached."""
    nearest = mpmath.nint(value)
    return nearest if _equal(value, nearest) else mpmath.floor(value)


# name, as in sympy -> (how many branches it has in a tree, 0 for any number of them from one on; the function of them)
_FUNCTIONS: dict[str, tuple[int, Callable[..., mpmath.mpf]]] = {
    "Add": (0, lambda *values: mpmath.fsum(values)),
    "Mul": (0, lambda *values: mpmath.fprod(values)),
    "Pow": (2, _power),
    "exp": (1, _growing(mpmath.exp)),
    "cosh": (1, _growing(mpmath.cosh)),
    "sinh": (1, _growing(mpmath.sinh)),
    "tanh": (1, mpmath.tanh),
    "coth": (1, mpmath.coth),
    "sech": (1, _growing(mpmath.sech)),
    "log": (1, mpmath.log),
    "floor": (1, _floor),
    "ceiling": (1, lambda value: -_floor(-value)),
    "Abs": (1, abs),
    "Max": (0, lambda *values: max(values)),
    "Min": (0, lambda *values: min(values)),
    "factorial": (1, _counting("factorial", mpmath.factorial, 10_000)),
    "gamma": (1, _counting("gamma", mpmath.gamma, 10_000)),
    "binomial": (2, _counting("binomial", mpmath.binomial, 10**9)),
    "FallingFactorial": (2, _counting("falling factorial", mpmath.ff, 10_000)),
    "RisingFactorial": (2, _counting("rising factorial", mpmath.rf, 10_000)),
    "sign": (1, mpmath.sign),
    "Mod": (2, lambda value, divisor: value - divisor * _floor(value / divisor)),
    # Conditions of a Piecewise: 1 for true, 0 for false.
    "Equality": (2, _truth(_equal)),
    "Unequality": (2, _truth(lambda first, second: not _equal(first, second))),
    "StrictLessThan": (2, _truth(lambda first, second: first < second and not _equal(first, second))),
    "LessThan": (2, _truth(lambda first, second: first < second or _equal(first, second))),
    "StrictGreaterThan": (2, _truth(lambda first, second: first > second and not _equal(first, second))),
    "GreaterThan": (2, _truth(lambda first, second: first > second or _equal(first, second))),
    "And": (0, lambda *values: min(values)),
    "Or": (0, lambda *values: max(values)),
    "Not": (1, lambda value: 1 - value),
    # What is not the same function of the values of its branches: see `_piecewise` and `_loop`.
    "Piecewise": (0, max),
    "ExprCondPair": (2, max),
    "Sum": (4, max),
    "Product": (4, max),
}
_LOOPS: dict[str, Callable[..., mpmath.mpf]] = {"Sum": mpmath.fsum, "Product": mpmath.fprod}
_CONSTANTS = {"Pi": mpmath.pi, "Exp1": mpmath.e}
_LEAVES = {"Symbol": 1, "Integer": 1, "Float": 1, "Rational": 2}  # how many texts follow the name


# What takes some ten times as long as a sum or a product counts for as many steps.
_DEAR = {"exp", "cosh", "sinh", "tanh", "coth", "sech", "log", "Pow", "floor", "ceiling", "Mod"}
_DEAREST = {"factorial", "gamma", "binomial", "FallingFactorial", "RisingFactorial"}
_STEPS = dict.fromkeys(_DEAR, 5) | dict.fromkeys(_DEAREST, 50)


@lru_cache(maxsize=256)  # one reply is compared with the wanted result, and with that of each known mistake
def _value(tree: tuple[Any, ...], at: tuple[tuple[str, Any], ...]) -> mpmath.mpf | str:
    """Returns the value of a tree at a point, or in one sentence why it has none."""
    try:
        with mpmath.workdps(DIGITS):
            value = _evaluate(tree, dict(at), [MAX_STEPS])
    except NotPlain as problem:
        return str(problem)
    except (ArithmeticError, TypeError, ValueError):  # of a tree that no formula has, such as a sum over the number pi
        return "the expression cannot be worked out"
    return value if mpmath.isfinite(value) else "the expression divides by zero"


def _evaluate(tree: tuple[Any, ...], at: Mapping[str, Any], steps: list[int]) -> mpmath.mpf:
    head, *rest = tree
    steps[0] -= _STEPS.get(head, 1)
    if steps[0] < 0:
        raise NotPlain("the expression takes too long to work out")
    if head in _LEAVES or head in _CONSTANTS:
        return _leaf(head, rest, at)
    if head == "Piecewise":
        return _piecewise(rest, at, steps)
    if head in _LOOPS:
        return _loop(head, rest, at, steps)
    values = [_evaluate(branch, at, steps) for branch in rest]
    try:
        result = _FUNCTIONS[head][1](*values)
    except (ZeroDivisionError, OverflowError) as problem:
        raise NotPlain("the expression divides by zero") from problem
    if not isinstance(result, mpmath.mpf) or mpmath.isnan(result):
        raise NotPlain("the expression is not a real number for the values tried")
    return result


def _leaf(head: str, texts: Sequence[str], at: Mapping[str, Any]) -> mpmath.mpf:
    if head in _CONSTANTS:
        return mpmath.mpf(_CONSTANTS[head])
    if head == "Rational":
        return mpmath.mpf(texts[0]) / mpmath.mpf(texts[1])
    if head != "Symbol":
        return mpmath.mpf(texts[0])
    if texts[0] not in at:
        raise NotPlain(f"the expression has a symbol {texts[0]}; expected only {', '.join(sorted(at)) or 'numbers'}")
    return mpmath.mpf(at[texts[0]])


def _piecewise(pairs: Sequence[tuple[Any, ...]], at: Mapping[str, Any], steps: list[int]) -> mpmath.mpf:
    """Returns the value of the first piece whose condition holds; the others are not looked at."""
    for head, *pair in pairs:
        if head != "ExprCondPair":
            break
        if _evaluate(pair[1], at, steps):
            return _evaluate(pair[0], at, steps)
    raise NotPlain("the expression has no value for the values tried")


def _loop(head: str, parts: Sequence[tuple[Any, ...]], at: Mapping[str, Any], steps: list[int]) -> mpmath.mpf:
    """Returns a sum or product of a body over a whole number from a lowest to a highest value."""
    body, (kind, index, *_), *bounds = parts
    low, high = (_evaluate(bound, at, steps) for bound in bounds)
    if kind != "Symbol" or not (mpmath.isint(low) and mpmath.isint(high)) or high - low > MAX_STEPS:
        raise NotPlain("the expression has a sum or product that is not over whole numbers, or over too many")
    numbers = range(int(low), int(high) + 1)
    return _LOOPS[head](_evaluate(body, {**at, index: number}, steps) for number in numbers)


def _tree(expression: Any, budget: list[int]) -> tuple[Any, ...]:
    """Returns the tree of a sympy expression; raises `NotPlain` when it has parts that are not simple."""
    budget[0] -= 1
    if budget[0] < 0:
        raise NotPlain(f"the expression has more than {MAX_PARTS} parts")
    kind = type(expression).__name__
    if expression.is_Symbol:
        return ("Symbol", str(expression.name)[:50])
    if expression.is_Rational:
        return (
            ("Integer", str(expression.p)) if expression.q == 1 else ("Rational", str(expression.p), str(expression.q))
        )
    if expression.is_Float:
        return ("Float", str(expression))
    if kind in _CONSTANTS:
        return (kind,)
    if kind in ("BooleanTrue", "BooleanFalse"):
        return ("Integer", str(int(bool(expression))))
    if kind in _LOOPS:
        inner = _tree(expression.function, budget)
        for limits in expression.limits:  # the innermost first
            inner = (kind, inner, *(_tree(part, budget) for part in limits))
        return inner
    if kind in _FUNCTIONS:
        return (kind, *(_tree(branch, budget) for branch in expression.args))
    raise NotPlain(
        f"the expression has a part of kind {kind}; what is read are sums, products, powers, exp, log, hyperbolic "
        "functions, factorials, binomials, gamma, floor, Min, Max and Piecewise"
    )


def _checked_tree(data: Any, budget: list[int], depth: int = 0) -> tuple[Any, ...]:
    """Returns a tree in lists as one in tuples; raises `NotPlain` when it is none."""
    budget[0] -= 1
    if not isinstance(data, list | tuple) or not data or budget[0] < 0 or depth > MAX_DEPTH:
        raise NotPlain("the expression is damaged or too large")
    head, *rest = data
    if head in _LEAVES:
        return _checked_leaf(head, rest)
    if head in _CONSTANTS and not rest:
        return (head,)
    branches = _FUNCTIONS[head][0] if head in _FUNCTIONS else -1
    if branches == len(rest) or (branches == 0 and rest):
        return (head, *(_checked_tree(branch, budget, depth + 1) for branch in rest))
    raise NotPlain(f"the expression has an unknown part {str(head)[:40]!r}")


def _checked_leaf(head: str, texts: list[Any]) -> tuple[Any, ...]:
    if len(texts) != _LEAVES[head] or not all(isinstance(text, str) and len(text) <= MAX_TEXT for text in texts):
        raise NotPlain("the expression is damaged")
    if head != "Symbol" and not all(math.isfinite(_number(text)) for text in texts):
        raise NotPlain("the expression has a number that is not finite")
    if head in ("Integer", "Rational") and 0 in [int(text) for text in texts][1:]:
        raise NotPlain("the expression divides by zero")
    if one_line(texts[0]) != texts[0]:
        raise NotPlain("the expression has a symbol whose name holds signs that cannot be seen")
    return (head, *texts)


def _number(text: str) -> float:
    """Returns a number that is told as a text, as decimal digits; raises `NotPlain` for any other text."""
    found = _NUMBER.fullmatch(text)
    if not found:
        raise NotPlain(f"{text[:40]!r} is not a number")
    if abs(int(found[1] or 0)) > MAX_EXPONENT:
        raise NotPlain(f"the expression has a number beyond 10^{MAX_EXPONENT}")
    return float(mpmath.mpf(text))
