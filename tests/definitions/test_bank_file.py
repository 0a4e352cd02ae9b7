"""A file of the bank is read as it is meant; what cannot be read is reported with file and line."""

import re
from pathlib import Path

import pytest

from grading.authoring.bank import cells
from grading.classroom.similar import tokens
from grading.definitions import bank, catalogue
from grading.definitions.bank import BankAnswer, BankError

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
    path = folder / "table.answers.py"
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


@pytest.mark.parametrize(
    ("difference", "changes"),
    [
        ("# ~ i + j => i * j", {"i + j": "i * j"}),
        ("# ~ append(i + j) => append(i + j, )", {"i + j": "i + j, "}),
        # To nothing, and with the spaces that stand there.
        ("# ~ (i + j) =>", {"(i + j)": ""}),
        ("# ~  + j =>", {" + j": ""}),
        ("# ~ i + =>  i *", {"i +": " i *"}),
        # One after another, in what the ones above have made.
        ("# ~ i + j => i * k\n# ~ * k => * (k + 1)", {"i + j": "i * (k + 1)"}),
    ],
)
def test_a_text_that_is_replaced(tmp_path: Path, difference: str, changes: dict[str, str]) -> None:
    base, answer = read(tmp_path, f"{BASE}{WRONG}{difference}\n")
    expected = base.source
    for old, new in changes.items():
        expected = expected.replace(old, new)
    assert answer.source == expected != base.source


def test_the_base_is_the_first_answer_until_another_is_named(tmp_path: Path) -> None:
    second = (
        "# %% right: a comprehension\ndef table(n):\n    return [[i + j for j in range(n)] for i in range(n)]\n\n\n"
    )
    differences = [
        "# %% wrong: of the first ->\n# ~ i + j => i - j\n",
        "# %% wrong: of one that is named ->\n# of: a comprehension\n# ~ i + j => i * j\n",
        "# %% wrong: of the same ->\n# ~ i + j => j\n",
        "# %% wrong: of a difference ->\n# of: of the first\n# ~ i - j => j - i\n",
        "# %% wrong: lines, of the same ->\n# -    return rows\n",
    ]
    first, other, *wrong = read(tmp_path, BASE + second + "\n".join(differences))
    assert [answer.source for answer in wrong] == [
        first.source.replace("i + j", "i - j"),
        other.source.replace("i + j", "i * j"),
        other.source.replace("i + j", "j"),
        first.source.replace("i + j", "j - i"),
        first.source.replace("i + j", "i - j").replace("\n    return rows", ""),
    ]


HINT = "# hint: Sums, not products:\n# hint: see `+`.\n# hint:\n# hint: Try 2 and 3.\n"


@pytest.mark.parametrize(
    "below", ["def table(n):\n    pass\n", "# of: loops\n# ~ i + j => i * j\n", "# ~ i + j => i * j\n"]
)
def test_the_hint_of_a_mistake_stands_below_its_first_answer(tmp_path: Path, below: str) -> None:
    again = WRONG.replace("a product", "again")
    _, plain = read(tmp_path, BASE + WRONG + below)
    base, known, other = read(tmp_path, BASE + WRONG + HINT + below + again + below)
    assert known.hint == "Sums, not products: see `+`.\n\nTry 2 and 3."
    assert base.hint == plain.hint == other.hint == ""
    assert known.source == plain.source == other.source


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
        (WRONG + "# of: loop\n# -    rows = []\n", 15, "'loop' names 0 answers above; expected the title of one"),
        (BASE + WRONG + "# of: loops\n# -    rows = []\n", 28, "'loops' names 2 answers above; expected"),
        ("# %% right: a\n# ~ 1 => 2\n", 2, "the first answer of a file has code; expected it whole"),
        (WRONG, 15, "expected '# ~ old => new', or '# -', '# +' or '#  ' and a line of code"),
        (WRONG + "# ~ i - j => i * j\n", 15, "'i - j' must stand once in 'loops', as it is after the lines above, and"),
        (WRONG + "# ~ row => line\n", 15, "stands there 6 times; take in what stands beside it"),
        (WRONG + "# ~ i + j => i * j\n# ~ i + j => j\n", 16, "'i + j' must stand once"),
        (WRONG + "# ~ i + j = i * j\n", 15, "expected '# ~ old => new' with two texts, got '# ~ i + j = i * j'"),
        (WRONG + "# ~ i + j => i + j\n", 15, "expected '# ~ old => new' with two texts"),
        (WRONG + "# ~ i + j => i * j\n# -    return rows\n", 16, "expected '# ~ old => new' with two texts"),
        (WRONG + "# -    return rows\n# ~ i + j => i * j\n", 16, "'# ~ old => new', or '# -', '# +' or '#  '"),
        ("# %% right: more\n# hint: No.\ndef table(n):\n    pass\n", 15, "the hint of a mistake below '-> its name'"),
        (WRONG.replace("the product", "") + "# hint: No.\n# ~ i + j => i\n", 15, "below '-> its name'"),
        (
            WRONG + "# ~ i + j => i * j\n\n" + WRONG.replace("a p", "the p") + "# hint: No.\n# ~ i + j => i\n",
            18,
            "expected the hint of a mistake below the first answer with its name; 'the product' has one above",
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
        (WRONG + "# of: loops\n", 16, "or '# -', '# +' or '#  ' and a line of code"),
        (WRONG + "# of: loops\n# -    rows = []\n# ...\n", 17, "or '# ...' between two hunks, got '# ...'"),
        (WRONG + "# of: loops\n# -    rows = []\nrows = ()\n", 17, "got 'rows = ()'"),
        (WRONG + "# of: loops\n# -    rows = []\n\n# +    rows = ()\n", 17, "got ''"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, text: str, line: int, message: str) -> None:
    read_alone = line == 1 or text.startswith("# %% right: a\n")
    with pytest.raises(BankError, match=rf"^table\.answers\.py:{line}: .*{re.escape(message)}"):
        read(tmp_path, text if read_alone else BASE + text)


RIGHT = "# %% right: more\n{}def table(n):\n    return n\n"


def test_a_right_answer_may_be_the_one_beside_the_solution(tmp_path: Path) -> None:
    base, shown = read(tmp_path, BASE + RIGHT.format("# other: It is shorter; the loop is plain.\n"))
    assert shown.other == "It is shorter; the loop is plain."
    assert shown.source == "def table(n):\n    return n"
    assert base.other == ""


def test_only_one_right_answer_is_the_one_beside_the_solution(tmp_path: Path) -> None:
    line = "# other: It is shorter.\n"
    for text in (RIGHT.format(line) + "\n\n" + RIGHT.format(line), RIGHT.format(2 * line), WRONG + line):
        with pytest.raises(BankError, match="expected one line '# other: ' in a file, below a right answer"):
            read(tmp_path, BASE + text)


@pytest.mark.parametrize("notebook", catalogue.notebooks())
def test_every_exercise_names_one_other_right_answer_not_the_solution_itself(notebook: str) -> None:
    solutions = {cell.name: cell.source for cell in cells(notebook) if cell.kind == "exercise"}
    assert sorted(solutions) == sorted(catalogue.names(notebook))
    for name, solution in solutions.items():
        others = [answer for answer in bank.of_exercise(notebook, name) if answer.other]
        assert [answer.right for answer in others] == [True], f"{name}: expected a line '# other: ' in its file"
        # Without docstrings, comments and annotations, and whatever a variable is called.
        assert tokens(others[0].source, is_code=True) != tokens(solution, is_code=True), name
        assert "; " in others[0].other, f"{name}: expected what each of the two does better"
