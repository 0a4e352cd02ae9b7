"""What a replayed cell shows is compared to the digits that another processor computes too.

Sums come out in another order on another processor, and training multiplies the difference. So a decimal number may
differ by one unit of the last digit that is shown, and in an experiment, which trains, by one hundredth of itself.
Whole numbers and all words are compared as they are.
"""

import re
from typing import Any

from nbval.plugin import IPyNbCell

DECIMAL = re.compile(r"(?<![\w.])[-−]?\d+\.\d+(?:[eE][-+]?\d+)?(?!\.?\w)")  # and no version such as 2.13.0
TRAINED = 0.01  # of a number


class Shown(str):
    """What a cell shows, equal to what differs by rounding alone.

    Args:
        text: what it shows.
        share: by how much of itself a decimal number may differ.
    """

    share: float

    def __new__(cls, text: str, share: float = 0) -> "Shown":
        shown = super().__new__(cls, text)
        shown.share = share
        return shown

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return NotImplemented
        if str.__eq__(self, other):
            return True
        mine, others = DECIMAL.findall(self), DECIMAL.findall(other)
        return (
            around(self) == around(other)
            and len(mine) == len(others)
            and all(are_near(*pair, self.share) for pair in zip(mine, others, strict=True))
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # what is near what is near need not be near


def around(text: str) -> str:
    """Returns what stands around the decimal numbers; 10.0 takes a space less of a table than 9.9."""
    return re.sub(" +", " ", DECIMAL.sub(" ", text))


def are_near(first: str, second: str, share: float) -> bool:
    """Tells whether two decimal numbers are equal but for the last digit shown, or for a share of them."""
    a, b = (float(number.replace("−", "-")) for number in (first, second))
    allowed = max(unit(first), unit(second), share * max(abs(a), abs(b)))
    return abs(a - b) <= allowed * (1 + 1e-6)  # for 0.3 - 0.2 is more than 0.1


def unit(number: str) -> float:
    """Returns what one more in the last digit adds to a decimal number."""
    digits, _, exponent = number.lower().partition("e")
    return float(10 ** (int(exponent or 0) - len(digits.partition(".")[2])))


CLEANED = IPyNbCell.sanitize


def shown(cell: IPyNbCell, output: Any) -> Any:
    """Returns an output without what differs between honest runs (tests/nbval.cfg), to be compared."""
    cleaned = CLEANED(cell, output)
    is_trained = "experiment" in cell.cell.metadata.get("tags", [])
    return Shown(cleaned, TRAINED if is_trained else 0) if isinstance(cleaned, str) else cleaned


def use() -> None:
    """Lets nbval compare so; its cells name their own class, so another one cannot take its place."""
    IPyNbCell.sanitize = shown
