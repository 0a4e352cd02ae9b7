"""What `--all` asks besides the bank: wrong answers that fail wherever another one of the same exercise fails.

As long as the questions are what they are, whatever catches the other one catches these too. `tests/bank/more.jsonl`
has one in a line, whole: `exercise` ("NN_name/EXERCISE"), `title`, `mistake` and `source`.
"""

import json
from functools import cache

from grading.definitions.bank import BankAnswer
from grading.folder.course import ROOT

PATH = ROOT / "tests" / "bank" / "more.jsonl"


@cache
def _all() -> tuple[BankAnswer, ...]:
    rows = map(json.loads, PATH.read_text(encoding="utf-8").splitlines())
    return tuple(
        BankAnswer(notebook, name, False, row["title"], row["mistake"], row["source"])
        for row in rows
        for notebook, name in [row["exercise"].split("/")]
    )


def answers(notebook: str) -> list[BankAnswer]:
    """Returns those to the exercises of a notebook."""
    return [answer for answer in _all() if answer.notebook == notebook]
