"""A file of the bank is read as it is meant; what cannot be read is reported with file and line."""

import re
from pathlib import Path

import pytest

from grading.authoring import bank
from grading.authoring.bank import BankAnswer, BankError

BASE = """\
# %% right: loops
def table(n):
    rows = []
    for i in range(n):
        row = []

        for j in range(n):
            row.append(i + j)

        rows.append(row)
    return rows


"""
WRONG = "# %% wrong: a product -> the product\n"


def read(folder: Path, text: str) -> list[BankAnswer]:
    path = folder / "table.py"
    path.write_text(text, encoding="utf-8")
    return bank.read(path)


def test_answers_that_are_written_whole(tmp_path: Path) -> None:
    base, wrong = read(tmp_path, BASE + "# %% wrong: nothing ->\ndef table(n):\n    pass\n")
    assert base == BankAnswer(tmp_path.name, "table", True, "loops", "", BASE.partition("\n")[2].strip())
    assert wrong == BankAnswer(tmp_path.name, "table", False, "nothing", "", "def table(n):\n    pass")


@pytest.mark.parametrize(
    ("difference", "changes"),
    [
        ("# -            row.append(i + j)\n# +            row.append(i * j)", {"i + j": "i * j"}),
        ("# -        rows.append(row)", {"        rows.append(row)\n": ""}),
        # A line that is added stands beside what stays.
        ("#      return rows\n# +    # the end\n\n", {"return rows": "return rows\n    # the end"}),
        ("# +import math\n# +\n#  def table(n):", {"def": "import math\n\ndef"}),
        # Many editors strip spaces at the end of a line, so "#" is an empty line that stays, as "#  " is.
        ("#          row = []\n# -\n", {"[]\n\n": "[]\n"}),
        ("#          row = []\n#\n# +        # each\n", {"[]\n\n": "[]\n\n        # each\n"}),
        ("#          row = []\n#  \n# +        # each\n", {"[]\n\n": "[]\n\n        # each\n"}),
        # Several hunks.
        (
            "# -def table(n):\n# +def table(m):\n# ...\n# -    for i in range(n):\n# +    for i in range(m):\n",
            {"table(n)": "table(m)", "i in range(n)": "i in range(m)"},
        ),
        # What a hunk adds is no place for the next one.
        (
            "# -    rows = []\n# +    return rows\n# ...\n# -    return rows\n# +    return 0",
            {"return rows": "return 0", "rows = []": "return rows"},
        ),
    ],
)
def test_a_difference(tmp_path: Path, difference: str, changes: dict[str, str]) -> None:
    base, answer = read(tmp_path, f"{BASE}{WRONG}# of: loops\n{difference}\n")
    expected = base.source
    for old, new in changes.items():
        expected = expected.replace(old, new)
    assert expected != base.source
    assert answer == BankAnswer(tmp_path.name, "table", False, "a product", "the product", expected)


def test_the_base_may_be_wrong_and_the_difference_right(tmp_path: Path) -> None:
    text = BASE.replace("right: loops", "wrong: loops ->") + "# %% right: better\n# of: loops\n# -    rows = []\n"
    base, answer = read(tmp_path, text)
    assert (base.right, answer.right) == (False, True)
    assert answer.source == base.source.replace("    rows = []\n", "")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("def table(n):\n", 1, "text before the first marker"),
        ("# %% right\n", 1, "expected '# %% right: title' or"),
        (WRONG + "# of: loop\n# -    rows = []\n", 15, "'loop' names 0 answers above; name one that is written whole"),
        (BASE + WRONG + "# of: loops\n# -    rows = []\n", 28, "'loops' names 2 answers above; name one"),
        (
            WRONG + "# of: loops\n# -    rows = []\n\n# %% wrong: more ->\n# of: a product\n# -    return rows\n",
            19,
            "'a product' is itself a difference; name one that is written whole",
        ),
        (WRONG + "# of: loops\n# -    columns = []\n", 16, "must stand once in 'loops', below the hunk before"),
        (WRONG + "# of: loops\n# -    columns = []\n", 16, "stands there 0 times; copy it"),
        (WRONG + "# of: loops\n# -\n", 16, "stands there 2 times; copy it, with lines around it"),
        (WRONG + "# of: loops\n# +    # a loop\n", 16, "with lines around it"),
        (WRONG + "# of: loops\n#     rows = []\n# +    # a loop\n", 16, "stands there 0 times"),  # a space less
        (WRONG + "# of: loops\n# -    rows = []\n# ...\n# -    row = []\n", 18, "stands there 0 times"),
        (WRONG + "# of: loops\n# -    return rows\n# ...\n# -    rows = []\n", 18, "below the hunk before"),
        (WRONG + "# of: loops\n#      rows = []\n", 16, "this hunk changes nothing"),
        (WRONG + "# of: loops\n# -    rows = []\n# +    rows = []\n", 16, "this hunk changes nothing"),
        (WRONG + "# of: loops\n", 16, "expected '# -', '# +' or '#  ' and a line of code"),
        (WRONG + "# of: loops\n# -    rows = []\n# ...\n", 17, "or '# ...' between two hunks, got '# ...'"),
        (WRONG + "# of: loops\n# -    rows = []\nrows = ()\n", 17, "got 'rows = ()'"),
        (WRONG + "# of: loops\n# -    rows = []\n\n# +    rows = ()\n", 17, "got ''"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(BankError, match=f"^table.py:{line}: .*{re.escape(message)}"):
        read(tmp_path, text if line == 1 else BASE + text)
