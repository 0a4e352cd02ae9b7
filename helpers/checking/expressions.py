"""Formulas as plain trees: of sympy and back, and their numbers at a point, without evaluating any text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mpmath

DIGITS = 50
MAX_PARTS, MAX_DEPTH, MAX_TEXT = 2000, 60, 400


class NotPlain(ValueError):
    """The value, or its encoded form, is not plain: too large, too deep, or of another kind."""


@dataclass(frozen=True)
class Expression:
    """A sympy expression as a tree: `("Symbol", "L")`, `("Add", a, b)`, `("Integer", "2")` and so on."""

    tree: tuple[Any, ...]

    @classmethod
    def from_sympy(cls, expression: Any) -> Expression:
        """Returns a sympy expression as a tree, with its sums over an index worked out as `Sum(...).doit()` does.

        Raises:
            NotPlain: when it has parts that are not simple, or too many of them.
        """
        import sympy

        indexed = isinstance(expression, sympy.Basic) and expression.has(sympy.Sum, sympy.Product)
        return cls(_tree(expression.doit() if indexed else expression, [MAX_PARTS]))

    @classmethod
    def from_data(cls, data: Any) -> Expression:
        """Returns the expression of a tree in lists, as JSON gives it. Safe on hostile data.

        Raises:
            NotPlain: when it is no tree of a formula, or too large.
        """
        return cls(_checked_tree(data, [MAX_PARTS + 1]))

    def value(self, at: Mapping[str, Any]) -> mpmath.mpf:
        """Returns the value, to 50 digits, with each symbol replaced by its value in `at`.

        Raises:
            NotPlain: for a symbol that `at` does not name, an unknown function, or a number beyond all use.
        """
        with mpmath.workdps(DIGITS):
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


# --- the functions of a formula ---------------------------------------------------------------------------------------


def _power(base: mpmath.mpf, exponent: mpmath.mpf) -> mpmath.mpf:
    size = abs(exponent) * (1 + abs(mpmath.log(abs(base), 2))) if base else abs(exponent)
    if size > 100_000:
        raise NotPlain("a power in the expression is too large to compute")
    return base**exponent


def _exponential(exponent: mpmath.mpf) -> mpmath.mpf:
    if abs(exponent) > 100_000:
        raise NotPlain("an exponential in the expression is too large to compute")
    return mpmath.exp(exponent)


def _hyperbolic(function: Callable[..., mpmath.mpf]) -> Callable[..., mpmath.mpf]:
    """Returns a function made of exponentials that refuses those that are too large to compute."""

    def of(value: mpmath.mpf) -> mpmath.mpf:
        _exponential(value)
        return function(value)

    return of


def _counting(name: str, function: Callable[..., mpmath.mpf], largest: int) -> Callable[..., mpmath.mpf]:
    """Returns a function of whole numbers that refuses those for which it would take too long."""

    def count(*values: mpmath.mpf) -> mpmath.mpf:
        if not all(0 <= value <= largest for value in values):
            raise NotPlain(f"a {name} in the expression is below zero, or too large to compute")
        return function(*values)

    return count


# name, as in sympy -> (how many branches it has in a tree, 0 for any number of them from one on; the function of them)
_FUNCTIONS: dict[str, tuple[int, Callable[..., mpmath.mpf]]] = {
    "Add": (0, lambda *values: mpmath.fsum(values)),
    "Mul": (0, lambda *values: mpmath.fprod(values)),
    "Pow": (2, _power),
    "exp": (1, _exponential),
    "log": (1, mpmath.log),
    "sinh": (1, _hyperbolic(mpmath.sinh)),
    "cosh": (1, _hyperbolic(mpmath.cosh)),
    "tanh": (1, _hyperbolic(mpmath.tanh)),
    "floor": (1, mpmath.floor),
    "ceiling": (1, mpmath.ceil),
    "Abs": (1, abs),
    "Max": (0, lambda *values: max(values)),
    "Min": (0, lambda *values: min(values)),
    "factorial": (1, _counting("factorial", mpmath.factorial, 10_000)),
    "binomial": (2, _counting("binomial", mpmath.binomial, 10**9)),
}
_CONSTANTS = {"Pi": mpmath.pi, "Exp1": mpmath.e}
_LEAVES = {"Symbol": 1, "Integer": 1, "Float": 1, "Rational": 2}  # how many texts follow the name


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
    try:
        result = _FUNCTIONS[head][1](*values)
    except (ZeroDivisionError, OverflowError) as problem:
        raise NotPlain("the expression divides by zero") from problem
    if not isinstance(result, mpmath.mpf):
        raise NotPlain("the expression is not a real number for the values tried")
    return result


def _tree(expression: Any, budget: list[int]) -> tuple[Any, ...]:
    """Returns the tree of a sympy expression; raises `NotPlain` when it has parts that are not simple."""
    budget[0] -= 1
    if budget[0] < 0:
        raise NotPlain(f"the expression has more than {MAX_PARTS} parts")
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
    return (head, *texts)


def _number(text: str) -> float:
    try:
        return float(mpmath.mpf(text))
    except (ValueError, OverflowError, TypeError) as problem:
        raise NotPlain(f"{text[:40]!r} is not a number") from problem
