"""Formulas: those of questions travel as trees; those of answers are worked out where the answer runs, to numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import mpmath

from tutor.checking.texts import one_line

DIGITS = 50
MAX_DEPTH, MAX_TEXT = 60, 80  # of a tree, and of each text in it
LARGEST = 160_000  # bits before or after the point of a number that is worked out: five digits hold its exponent
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,5})?", re.ASCII)
_NO_NUMBER = "Undefined"  # what stands in a tree before a sentence that says why a formula has no number
_BY_ZERO = "the expression divides by zero"
_NOT_REAL = "the expression is not a real number for the values tried"
_NO_PIECE = "the expression has no value for the values tried"
_NOT_WHOLE = "the expression has a sum or product that is not over whole numbers"
_TOO_LARGE = "a number in the expression is too large to compute"
_ODD = "the expression cannot be worked out"
_REASONS = frozenset({_BY_ZERO, _NOT_REAL, _NO_PIECE, _NOT_WHOLE, _TOO_LARGE, _ODD})


class NotPlain(ValueError):
    """The value, or its encoded form, is not plain: too large, too deep, or of another kind.

    Its sentence may quote what somebody else has written: it is one line, and not long.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(one_line(sentence))


@dataclass(frozen=True)
class Expression:
    """A sympy expression as a tree: `("Symbol", "L")`, `("Add", a, b)`, `("Integer", "2")` and so on.

    One that an answer gives has been worked out there and is a single leaf: `("Float", digits)`; `("Symbol", name)` for
    a symbol that has no value; or `("Undefined", sentence)`, which says why it has no number.
    `bare` names its symbols that were made without assumptions: to sympy they are others than those of the notebooks.
    """

    tree: tuple[Any, ...]
    bare: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def from_sympy(cls, expression: Any) -> Expression:
        """Returns a sympy expression as a tree."""
        return cls(_tree(expression))

    @classmethod
    def worked_out(cls, expression: Any, at: Mapping[str, Any]) -> Expression:
        """Returns the number of a sympy expression, to 50 digits, with each symbol replaced by its value in `at`.

        What is written but not worked out yet (`Sum`, `Subs`) is worked out first.

        Raises:
            NotPlain: when it has parts that are not simple.
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
        return cls(_number(expression, at), tuple(bare[:20]))

    @classmethod
    def from_data(cls, data: Any, bare: Any = None) -> Expression:
        """Returns the expression of a tree in lists, as JSON gives it. Safe on hostile data.

        Raises:
            NotPlain: when it is no tree of a formula, or too large.
        """
        names = [one_line(name, 50) for name in bare[:20] if isinstance(name, str)] if isinstance(bare, list) else []
        return cls(_checked_tree(data), tuple(names))

    def value(self, at: Mapping[str, Any]) -> mpmath.mpf:
        """Returns the number of an expression that was worked out at the point `at`, to 50 digits.

        Raises:
            NotPlain: when it has none, for a symbol that `at` does not name or another reason.
        """
        head, *rest = self.tree
        if head == "Symbol":
            known = ", ".join(sorted(at)) or "numbers"
            raise NotPlain(f"the expression has a symbol {rest[0]}; expected only {known}")
        if head != "Float":
            raise NotPlain(rest[0] if head == _NO_NUMBER else _ODD)
        with mpmath.workdps(DIGITS):
            number = mpmath.mpf(rest[0])
        if not mpmath.isfinite(number):
            raise NotPlain(_BY_ZERO)
        return number

    def to_sympy(self) -> Any:
        """Returns the sympy expression of a question; its symbols are positive integers, as in the notebooks."""
        import sympy

        def build(tree: tuple[Any, ...]) -> Any:
            head, *rest = tree
            if head == "Symbol":
                return sympy.Symbol(rest[0], positive=True, integer=True)
            return getattr(sympy, head)(*(rest if head in _NUMBERS else map(build, rest)))

        return build(self.tree)


_BRANCHING = ("Add", "Mul", "Pow")  # what the formulas of questions are made of
_LEAVES = {"Symbol": 1, _NO_NUMBER: 1, "Integer": 1, "Float": 1, "Rational": 2}  # how many texts follow the name
_NUMBERS = ("Integer", "Float", "Rational")


def _tree(expression: Any) -> tuple[Any, ...]:
    """Returns the tree of a sympy expression."""
    if expression.is_Symbol:
        return ("Symbol", str(expression.name)[:50])
    if expression.is_Rational:
        return (
            ("Integer", str(expression.p)) if expression.q == 1 else ("Rational", str(expression.p), str(expression.q))
        )
    if expression.is_Float:
        return ("Float", str(expression))
    return (type(expression).__name__, *map(_tree, expression.args))


def _checked_tree(data: Any, depth: int = 0) -> tuple[Any, ...]:
    """Returns a tree in lists as one in tuples; raises `NotPlain` when it is none."""
    if not isinstance(data, list | tuple) or not data or depth > MAX_DEPTH:
        raise NotPlain("the expression is damaged or too large")
    head, *rest = data
    if head in _BRANCHING:
        return (head, *(_checked_tree(branch, depth + 1) for branch in rest))
    if head not in _LEAVES:
        raise NotPlain(f"the expression has an unknown part {str(head)[:40]!r}")
    if len(rest) != _LEAVES[head] or not all(isinstance(text, str) and len(text) <= MAX_TEXT for text in rest):
        raise NotPlain("the expression is damaged or too large")
    if head in _NUMBERS and not all(map(_NUMBER.fullmatch, rest)):
        raise NotPlain("the expression has a number that cannot be read")
    if head == "Symbol" and one_line(rest[0]) != rest[0]:
        raise NotPlain("the expression has a symbol whose name holds signs that cannot be seen")
    if head == _NO_NUMBER and rest[0] not in _REASONS:
        raise NotPlain("the expression is damaged")
    return (head, *rest)


# --- the number of a formula, where the answer runs -------------------------------------------------------------------


class _NoNumberError(Exception):
    """A formula has no number; `tree` says why, as in `Expression`."""

    def __init__(self, reason: str, kind: str = _NO_NUMBER) -> None:
        super().__init__(reason)
        self.tree = (kind, reason)


def _power(base: mpmath.mpf, exponent: mpmath.mpf) -> mpmath.mpf:
    if mpmath.mag(exponent) > 1_000:  # which would take long to be found too large
        raise _NoNumberError(_TOO_LARGE)
    return base**exponent


def _or_pole(function: Callable[..., mpmath.mpf]) -> Callable[..., mpmath.mpf]:
    """Returns a function that is infinite at a pole, such as (-1)!: one divided by it is 0, as in sympy."""

    def of(*values: mpmath.mpf) -> mpmath.mpf:
        try:
            return function(*values)
        except ValueError:
            return mpmath.inf

    return of


def _truth(holds: Callable[[mpmath.mpf, mpmath.mpf], bool]) -> Callable[..., mpmath.mpf]:
    """Returns a comparison of two numbers as one that gives 1 for true and 0 for false."""
    return lambda first, second: mpmath.mpf(int(holds(first, second)))


def _equal(first: mpmath.mpf, second: mpmath.mpf) -> bool:
    return bool(abs(first - second) <= mpmath.mpf(10) ** -30 * (1 + abs(second)))


def _floor(value: mpmath.mpf) -> mpmath.mpf:
    """Returns the largest whole number that is not above a value; one that only rounding keeps from it is reached."""
    nearest = mpmath.nint(value)
    return nearest if _equal(value, nearest) else mpmath.floor(value)


_FUNCTIONS: dict[str, Callable[..., mpmath.mpf]] = {  # by their names in sympy
    "Add": lambda *values: mpmath.fsum(values),
    "Mul": lambda *values: mpmath.fprod(values),
    "Pow": _power,
    **{name: getattr(mpmath, name) for name in ("exp", "cosh", "sinh", "tanh", "coth", "sech", "log", "sign")},
    "floor": _floor,
    "ceiling": lambda value: -_floor(-value),
    "Abs": abs,
    "Max": max,
    "Min": min,
    "factorial": _or_pole(mpmath.factorial),
    "gamma": _or_pole(mpmath.gamma),
    "binomial": _or_pole(mpmath.binomial),
    "FallingFactorial": _or_pole(mpmath.ff),
    "RisingFactorial": _or_pole(mpmath.rf),
    "Mod": lambda value, divisor: value - divisor * _floor(value / divisor),
    # Conditions of a Piecewise: 1 for true, 0 for false.
    "Equality": _truth(_equal),
    "Unequality": _truth(lambda first, second: not _equal(first, second)),
    "StrictLessThan": _truth(lambda first, second: first < second and not _equal(first, second)),
    "LessThan": _truth(lambda first, second: first < second or _equal(first, second)),
    "StrictGreaterThan": _truth(lambda first, second: first > second and not _equal(first, second)),
    "GreaterThan": _truth(lambda first, second: first > second or _equal(first, second)),
    "And": min,
    "Or": max,
    "Not": lambda value: 1 - value,
}
_LOOPS: dict[str, Callable[..., mpmath.mpf]] = {"Sum": mpmath.fsum, "Product": mpmath.fprod}
_CONSTANTS = {"Pi": mpmath.pi, "Exp1": mpmath.e, "BooleanTrue": 1, "BooleanFalse": 0}


def _number(expression: Any, at: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the tree of the number that a sympy expression is at a point, or of why it has none."""
    try:
        with mpmath.workdps(DIGITS):
            value = _evaluate(expression, at)
            if not mpmath.isfinite(value):
                return (_NO_NUMBER, _BY_ZERO)
            return ("Float", mpmath.nstr(value, DIGITS + 5))  # so many that no digit is lost when it is read
    except _NoNumberError as problem:
        return problem.tree
    except NotPlain:
        raise
    except (ArithmeticError, AttributeError, TypeError, ValueError):  # of what no formula has: a sum over the number pi
        return (_NO_NUMBER, _ODD)


def _evaluate(expression: Any, at: Mapping[str, Any]) -> mpmath.mpf:
    result = _leaf(expression, at)
    if result is None:
        result = _branching(expression, at)
    if not isinstance(result, mpmath.mpf) or mpmath.isnan(result):
        raise _NoNumberError(_NOT_REAL)
    if result and mpmath.isfinite(result) and abs(mpmath.mag(result)) > LARGEST:
        raise _NoNumberError(_TOO_LARGE)
    return result


def _branching(expression: Any, at: Mapping[str, Any]) -> Any:
    kind = type(expression).__name__
    if kind == "Piecewise":
        return _piecewise(expression.args, at)
    if kind in _LOOPS:
        return _loop(kind, expression.function, expression.limits, at)
    if kind not in _FUNCTIONS:
        raise NotPlain(
            f"the expression has a part of kind {kind}; what is read are sums, products, powers, exp, log, hyperbolic "
            "functions, factorials, binomials, gamma, floor, Min, Max and Piecewise"
        )
    values = [_evaluate(branch, at) for branch in expression.args]
    try:
        return _FUNCTIONS[kind](*values)
    except (ZeroDivisionError, OverflowError) as problem:
        raise _NoNumberError(_BY_ZERO) from problem


def _leaf(expression: Any, at: Mapping[str, Any]) -> mpmath.mpf | None:
    """Returns the value of a symbol or a number; of what has branches, None."""
    if expression.is_Symbol:
        name = str(expression.name)
        if name not in at:
            raise _NoNumberError(name[:50], "Symbol")
        return mpmath.mpf(at[name])
    if expression.is_Rational:
        return mpmath.mpf(expression.p) / mpmath.mpf(expression.q)
    if expression.is_Float:
        return mpmath.mpf(str(expression))
    constant = _CONSTANTS.get(type(expression).__name__)
    return None if constant is None else mpmath.mpf(constant)


def _piecewise(pieces: Sequence[Any], at: Mapping[str, Any]) -> mpmath.mpf:
    """Returns the value of the first piece whose condition holds; the others are not looked at."""
    for value, condition in pieces:
        if _evaluate(condition, at):
            return _evaluate(value, at)
    raise _NoNumberError(_NO_PIECE)


def _loop(kind: str, body: Any, limits: Sequence[Any], at: Mapping[str, Any]) -> mpmath.mpf:
    """Returns a sum or product of a body over whole numbers from a lowest to a highest value; `limits` end outside."""
    if not limits:
        return _evaluate(body, at)
    *inner, (index, *bounds) = limits
    low, high = (_evaluate(bound, at) for bound in bounds)
    if not (mpmath.isint(low) and mpmath.isint(high)):
        raise _NoNumberError(_NOT_WHOLE)
    numbers = range(int(low), int(high) + 1)
    return _LOOPS[kind](_loop(kind, body, inner, {**at, str(index.name): number}) for number in numbers)
