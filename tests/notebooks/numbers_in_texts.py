"""The numbers of a text that carry information, and the arithmetic that a text writes out.

A number counts that has two digits or more, a decimal point, a sign of per cent, or a million behind it. What points
somewhere is none: a notebook, a section, a link, the year of a cited paper and the places in it.
"""

import ast
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "kB": 1e3, "MB": 1e6, "GB": 1e9}
_LATEX = [
    (r"\{,\}|(?<=\d)\\,(?=\d{3}\b)", ","),
    (r"\\%", " %"),
    (r"\\[,;:! ]|\\q?quad", " "),
    (r"\\(?:cdot|times)\b", "×"),
    (r"\\(?:approx|simeq)\b", "≈"),
    (r"(?<=\d) x (?=\d)", " × "),
    (r"\\pi\b", "π"),
    (r"\\(?:text|mathrm)\b", ""),
    (r"\\(ln|log|exp)\s*\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1((\2)/(\3))"),
    (r"\\[dt]?frac\s*(\d)\s*(\d)", r"(\1)/(\2)"),
    (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"(\1)/(\2)"),
    (r"\\sqrt\s*\{([^{}]*)\}", r"sqrt(\1)"),
    (r"\\sqrt\s*(\d+)", r"sqrt(\1)"),
    (r"\\(ln|log|exp)\b\s*(\d[\d.]*)", r"\1(\2)"),
    (r"\\(ln|log|exp)\b", r"\1"),
    (r"\^\{(-?\d+)\}", r"^\1"),
    (r"\^\{([-+*/×\d. ]+)\}", r"^(\1)"),
    (r"\$\s*(?=(?:thousand|[mb]illion|kB|MB|GB|%|per cent)(?:\b|(?<=%)))", " "),
]


def plain(text: str) -> str:
    """Returns a text of a notebook, a line for each paragraph and item, with its formulas as plain arithmetic."""
    text = re.sub(r"<!--.*?-->|</?[a-z][^<>\n]*>", " ", text, flags=re.DOTALL)
    text = re.sub(r"\[([^\]\n]*)\]\(([^)\s]*)\)", _linked, text)
    text = re.sub(r"https?://\S+", " ", text)
    for pattern, new in _LATEX:
        text = re.sub(pattern, new, text)
    text = re.sub(r"[\u00a0\u202f\u2009]", " ", text.replace("−", "-"))
    text = re.sub(r"(?m)^> ?|^(?=[ \t]*(?:[-*]|\d\.) )", lambda found: "" if found.group() else "\n", text)
    return "\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip())


def _linked(found: re.Match[str]) -> str:
    """Returns a link's words, without the year of the work: at arXiv, of the paper's number or up to three later."""
    words, address = found.groups()
    made = re.search(r"arxiv\.org/\w+/(\d\d)\d\d\.\d", address)

    def kept(year: re.Match[str]) -> str:
        late = int(year.group()) - 2000 - int(made.group(1)) if made else 0
        return " " if 0 <= late <= 3 else f"in {year.group()}"

    return re.sub(r"\b(?:19|20)\d\d\b", kept, words) if address.startswith("http") else words


_NOTEBOOK = r"\*{0,2}(?:0\d|1[0-7])\b(?![.,]\d)\*{0,2}"
_AND = r"\s*(?:,|and|or|to|–|-|/)+\s*"
POINTERS = re.compile(
    rf"\b[Nn]otebooks?\s+{_NOTEBOOK}(?:{_AND}{_NOTEBOOK})*"
    r"|(?:\b[Ss]ections?|§|\b[Tt]ables?|\b[Ff]igures?|\b[Ee]quations?|\b[Aa]lgorithms?|\b[Cc]hapters?|\b[Aa]ppendix)\s*"
    rf"[A-Z]?\.?\d+(?:\.\d+)*(?:{_AND}\d+(?:\.\d+)*(?!\s*%)\b)*"
    r"|\*\*(?:0\d|1[0-7])\*\*|\b0\d\b(?!\.)|\b\d\d_\w+|^#+ \d+(?=[ .])|arXiv:\S+|\bRFC \d+"
    r"|\bet al\.,? \(?(?:19|20)\d\d(?:, \d\.\d[.\d]*)*",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Number:
    """A number as a text writes it."""

    written: str
    value: float
    unit: float  # of its last digit
    is_percent: bool = False
    scale: float = 1  # a million, of "1.1 million"
    start: int = 0
    end: int = 0

    @property
    def is_informative(self) -> bool:
        """Whether it has two digits, or per cent or a million behind it."""
        return len(re.findall(r"\d", self.written)) > 1 or self.is_percent or self.scale > 1

    @property
    def own(self) -> int:
        """The number in units."""
        return round(self.value / self.unit)

    @property
    def written_as(self) -> tuple[float, bool, float]:
        """How it is rounded and what stands behind it, by which others are compared with it."""
        return self.unit, self.is_percent, self.scale

    @cached_property
    def form(self) -> range:
        """All numbers of this form, in units: with as many digits, two at least."""
        digits = max(len(str(self.own)), 2)
        begins_with_zero = self.own < 10 or (self.unit < 1 and self.value < 1)
        return range(1 if begins_with_zero else 10 ** (digits - 1), 10**digits)

    def agrees(self, value: float) -> bool:
        """Returns whether this is a value, or its hundredfold with a sign of per cent, rounded; signs do not count."""
        factor = 0.01 if self.is_percent else 1
        return any(
            abs(abs(value) - self.value * one) <= 0.501 * self.unit * one for one in {factor, factor * self.scale}
        )


def seen_as(found: list[Number], unit: float, is_percent: bool, scale: float) -> set[int]:
    """Returns what numbers are in units of one that is written so, when they are rounded; none with fewer digits."""
    seen = set()
    for other in found:
        factors = [1.0]
        if is_percent and not other.is_percent:
            factors = [1.0, 100.0]
        elif other.is_percent and not is_percent and unit < 1:
            factors = [0.01]
        for factor in (factor / one for factor in factors for one in {1.0, scale}):
            if other.unit * factor <= unit * 1.0001 and other.value * factor < 1e15:
                for units in (other.value * factor / unit, other.value * other.scale * factor / unit):
                    seen |= {math.floor(units + 0.499), math.floor(units + 0.501)}
    return seen


NUMBER = re.compile(
    r"(?<![\w.])(?<!\d,)(?<![A-Za-z]-)(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+)(?P<exponent>e[-+]?\d+)?"
    r"(?:\s*×\s*10\^(?P<ten>-?\d+)|\^(?P<power>-?\d+)(?![\d.]))?"
    r"(?:\s*(?P<percent>%|per cent\b)|\s?(?P<scale>thousand|[mb]illion|kB|MB|GB)\b)?"
)
_OTHER = re.compile(r",? ?(?:and|or|to|against|in place of|,|–|-|/) ?")


def numbers(text: str) -> list[Number]:
    """Returns the numbers of a plain text."""
    found = [number for match in NUMBER.finditer(text) if (number := _number(match))]
    for place in range(len(found) - 2, -1, -1):  # "44 and 99 %", "2 or 3 million": both are
        one, behind = found[place], found[place + 1]
        if not one.is_percent and one.scale == 1 and _OTHER.fullmatch(text[one.end : behind.start]):
            found[place] = replace(one, is_percent=behind.is_percent, scale=behind.scale)
    return found


def _number(match: re.Match[str]) -> Number | None:
    digits = match["digits"].replace(",", "")
    value, unit = float(digits), 10.0 ** -len(digits.partition(".")[2])
    zeros = len(digits) - len(digits.rstrip("0"))
    if "." not in digits and value >= 1000:
        unit = 10.0 ** min(zeros, len(digits) - 2)  # 41,000 is written to its thousands
    tens = 10.0 ** (int((match["exponent"] or "e0")[1:]) + int(match["ten"] or 0))
    value, unit = value * tens, unit * tens
    if match["power"]:
        try:
            value = value ** int(match["power"])
        except (OverflowError, ZeroDivisionError):
            return None
        unit = value / 10
    scale = SCALES.get(match["scale"] or "", 1)
    return Number(match.group(), value, unit, bool(match["percent"]), scale, match.start(), match.end())


def informative(text: str) -> list[Number]:
    """Returns the numbers of a plain text that carry information."""
    hidden = POINTERS.sub(lambda found: " " * len(found.group()), text)
    return [number for number in numbers(hidden) if number.unit and number.is_informative]


# Arithmetic

_OPERATIONS: dict[type, Callable[..., float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
_FUNCTIONS = {"sqrt": math.sqrt, "ln": math.log, "log": math.log, "log2": math.log2, "exp": math.exp}
_CONSTANTS = {"e": math.e, "π": math.pi}
_NAMES = r"(?:sqrt|ln|log2|log|exp)(?=\()"
_SIDE = rf"(?:(?<![A-Za-z]){_NAMES}|(?<![A-Za-z])e(?=\^)|thousand|[mb]illion|π|[\d.,+\-*/×·^()% ])+"
EQUATIONS = re.compile(rf"{_SIDE}(?:[=≈]{_SIDE})+")


def evaluate(expression: str) -> float:
    """Returns the value of an arithmetic expression.

    Raises:
        ValueError: if it is none.
    """
    text = re.sub(r"(?<=\d),(?=\d{3})", "", expression.strip())
    text = re.sub(r"(\d[\d.]*)\s*%", r"(\1/100)", text)
    text = re.sub(r"(\d[\d.]*)\s*(thousand|[mb]illion)", lambda m: f"({m[1]}*{SCALES[m[2]]})", text)
    text = re.sub(rf"\)\s*(?=[(\d]|{_NAMES}|e\^)", ")*", text)
    text = re.sub(rf"(?<![a-z\d.])(\d[\d.]*)\s*(?=\(|{_NAMES}|e\^)", r"\1*", text)
    text = text.replace("×", "*").replace("·", "*").replace("^", "**")
    try:
        return float(_value(ast.parse(text, mode="eval").body))
    except (SyntaxError, ArithmeticError, TypeError, KeyError) as error:
        raise ValueError(f"{expression!r} is no arithmetic") from error


def _value(node: ast.AST) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.Name):
        return _CONSTANTS[node.id]
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Pow) and abs(right) > 1000:
            raise ValueError("too large a power")
        return _OPERATIONS[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp):
        return _OPERATIONS[type(node.op)](_value(node.operand))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        return _FUNCTIONS[node.func.id](_value(node.args[0]))
    raise ValueError("no arithmetic")


def in_equations(text: str) -> list[tuple[int, int]]:
    """Returns the spans of the right equations of a plain text, each of two sides that say the same."""
    spans = []
    for chain in EQUATIONS.finditer(text):
        place, sides = chain.start(), []
        for part in re.split(r"[=≈]", chain.group()):
            sides.append((place, part))
            place += len(part) + 1
        for (start, first), (begin, second) in pairwise(sides):
            left, right = re.split(r",\s", first)[-1], re.split(r",\s|\.\s|\.$", second)[0]
            if _equal(_balanced(left), _balanced(right)):
                spans.append((start + len(first) - len(left), begin + len(right)))
    return spans


def _balanced(side: str) -> str:
    """Returns one side of an equation without the brackets of the text around it."""
    side = side.strip()
    while (more := side.count("(") - side.count(")")) and side:
        if more > 0 and side[0] == "(":
            side = side[1:].strip()
        elif (more < 0 and side[-1] == ")") or (more > 0 and side[-1] == "("):
            side = side[:-1].strip()
        elif more < 0 and side[0] == ")":
            side = side[1:].strip()
        else:
            break
    return side


def _equal(left: str, right: str) -> bool:
    """Returns whether two sides say the same, one of which computes something."""
    if not re.search(r"[\d)]\s*[-+*/×·^]|[a-z]\(|e\^", f"{left} {right}"):
        return False
    try:
        values = evaluate(left), evaluate(right)
    except ValueError:
        return False
    for side, other in ((left, values[1]), (right, values[0])):
        found = numbers(side)
        if found and found[0].written == side.lstrip("- "):
            return found[0].agrees(other)
    return math.isclose(*values, rel_tol=1e-9)
