"""Each number of a notebook's texts is held by an output, a formula or a source beside it, or accepted with its reason.

`numbers.toml` has what is accepted. When a text changes, `python -m tests.notebooks.numbers_held NN` prints the lines
that it then lacks, without their reasons. Nothing is executed here.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.notebooks.numbers_held import Entry, Piece, accepted, left, line, literals, names, notebook, pieces, quoted
from tests.notebooks.numbers_in_texts import Number, evaluate, in_equations, informative, numbers, plain


@pytest.mark.parametrize("name", names())
def test_every_number_is_held_or_accepted(name: str) -> None:
    found = left(notebook(name), accepted().get(name, []))
    if lines := "\n".join(line(piece, number) for piece, number in found):
        pytest.fail(f"work each out, and give its reason in numbers.toml:\n[{name}]\n{lines}", pytrace=False)


@pytest.mark.parametrize("name", names())
def test_what_is_accepted_is_in_the_text_and_right(name: str) -> None:
    wrong = [f"{entry.quote!r} {said}" for entry in accepted().get(name, []) if (said := entry.wrong(notebook(name)))]
    assert wrong == []


def test_only_notebooks_have_entries() -> None:
    assert set(accepted()) <= set(names())


def test_a_wrong_number_in_place_of_a_right_one_is_nearly_always_found() -> None:
    rng = random.Random(10)
    found = [one for name in names() for one in replaced(rng, notebook(name), accepted().get(name, []))]
    assert len(found) > 500
    assert sum(found) >= 0.8 * len(found), f"{sum(found)} of {len(found)}"


def replaced(rng: random.Random, among: Sequence[Piece], entries: Sequence[Entry]) -> list[bool]:
    """Puts other numbers of the same form in place of every third, and returns for each whether it is left over."""
    texts = [piece for piece in among if piece.is_text]
    places = [(piece, n) for piece in texts for n in _found(piece)]
    chosen = rng.sample(places, len(places) // 3)
    made: list[Piece] = []
    wrong: list[tuple[int, Number, str]] = []  # where, in the changed texts
    for piece in among:
        text = piece.text
        for number in sorted((n for one, n in chosen if one is piece), key=lambda n: -n.start):
            new = other(rng, number)
            text = text[: number.start] + new + text[number.end :]
            wrong.append((piece.place, number, new))
        made.append(replace(piece, text=text) if text != piece.text else piece)
    lost = [(piece.place, number.written) for piece, number in left(made, entries)]
    return [(place, new) in lost for place, _, new in wrong]


def _found(piece: Piece) -> list[Number]:
    """Returns the numbers of a text whose form is plain: digits, commas and a point, per cent or not."""
    start, found = 0, []
    for paragraph in piece.text.split("\n"):
        found += [replace(n, start=start + n.start, end=start + n.end) for n in informative(paragraph)]
        start += len(paragraph) + 1
    return [n for n in found if re.fullmatch(r"[\d,.]+(?: ?%)?", n.written)]


def other(rng: random.Random, number: Number) -> str:
    """Returns another number of the same form, as a text writes it."""
    units = rng.choice([units for units in (rng.choice(number.form) for _ in range(9)) if units != number.own])
    (digits,) = re.findall(r"^[\d,.]*\d", number.written)
    comma = "," if "," in digits else ""
    return f"{units * number.unit:{comma}.{len(digits.partition('.')[2])}f}" + number.written[len(digits) :]


# The rules, each with what it holds and what it does not


def cells(*texts: str) -> list[Any]:
    """Returns cells: prose, and of a text that begins with ">" code without and with ">>>" code alone."""
    made: list[Any] = []
    for text in texts:
        if text.startswith(">>>"):
            made.append({"cell_type": "code", "source": text[3:], "outputs": []})
        elif text.startswith(">"):
            made.append({"cell_type": "code", "source": "", "outputs": [{"text": text[1:]}]})
        else:
            made.append({"cell_type": "markdown", "source": text})
    return made


def listed(*texts: str) -> list[str]:
    """Returns the numbers of these cells that are left over."""
    return [number.written for _, number in left(pieces(cells(*texts)))]


@pytest.mark.parametrize(
    ("output", "text", "over"),
    [
        ("accuracy 0.7904", "It is 0.79.", []),
        ("accuracy 0.7846", "It is 0.79, or 0.79 %.", ["0.79", "0.79 %"]),
        ("accuracy 0.7904", "It is 79 %, and again 79 per cent.", []),
        ("accuracy 78.9 %", "It is 79 %, or 0.79.", []),
        ("accuracy 78.9 %", "It is 78 %, or 0.78.", ["78 %", "0.78"]),
        ("accuracy 0.79", "It is 0.791.", ["0.791"]),  # more digits than are known
        ("accuracy 0.993, 0.932", "They are 99.3 and 93.2 %.", []),
        ("accuracy 0.993, 0.932", "They are 99.3 and 93.2.", ["99.3", "93.2"]),
        ("1,104,896 parameters", "It has 1.1 million, or about 1,105,000.", []),
        ("1,164,896 parameters", "It has 1.1 million, or about 1,105,000.", ["1.1 million", "1,105,000"]),
        ("loss 3.2e-05", "It is $3.2 \\cdot 10^{-5}$.", []),
        ("loss 3.2e-05", "It is $3.3 \\cdot 10^{-5}$.", ["3.3 × 10^-5"]),
    ],
)
def test_a_number_is_held_by_one_that_is_the_same_when_rounded(output: str, text: str, over: list[str]) -> None:
    assert listed(f">{output}", text) == over


def test_what_readers_see_of_an_output_holds() -> None:
    page = {"text/html": '<style>a{width:51px}</style><table><tr><td>4<b>1</b></td></tr></table><img alt="61">'}
    code = {"cell_type": "code", "source": "x = 31  # 71\ny = '81'", "outputs": [{"data": page}]}
    (piece,) = pieces([code])
    assert sorted(number.value for number in piece.numbers) == [1, 4, 31]
    bar = "100%|███| 12/13 [00:14<00:15, 16.17it/s, loss 0.18, accuracy 0.19]\nf: 20 of 21 points, 22 of 23 words"
    (piece,) = pieces(cells(f">{bar}"))
    assert sorted(number.value for number in piece.numbers) == [0.18, 0.19, 22, 23]


def test_code_holds_by_its_numbers_but_not_by_comments_and_texts() -> None:
    assert literals("rate = 3e-4\n%timeit f(5)\nx = -17  # 23\nname = '29'").split() == ["0.0003000000", "17"]
    assert literals("no program") == ""


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("That is $12 \\cdot 12 = 144$.", "12 × 12 = 144"),
        ("That is $12 \\cdot 12 = 145$.", ""),
        ("These are 20 x 8 x 10 = 1,600 runs.", "20 × 8 × 10 = 1,600"),
        ("(In all 20 + 13 - 1 = 32)", "20 + 13 - 1 = 32"),
        ("These are $\\frac{27}{36} = 75\\,\\%$.", "(27)/(36) = 75 %"),
        ("You need $e^{2} \\approx 7.39$, and $\\ln 50 \\approx 3.91$.", "e^2 ≈ 7.39|ln(50) ≈ 3.91"),
        ("You need $e^{2} \\approx 7.93$, and $\\sqrt{50} \\approx 7.17$.", ""),
        ("So $2 \\times 96 \\times 12{,}288 \\approx 2.4$ million.", "2 × 96 × 12,288 ≈ 2.4 million"),
        ("Here $n = 64 = 64$ and 64 = 64.", ""),  # nothing is computed
        ("Here $12 d = 144$ and $10000^{2i/d} = 100$.", ""),
        ("It is $2^{16} = 4 \\cdot 16{,}384$.", "2^16 = 4 × 16,384"),
    ],
)
def test_the_two_sides_of_a_right_equation_hold_each_other(text: str, held: str) -> None:
    text = plain(text)
    assert "|".join(text[first:last].strip(" .()") for first, last in in_equations(text)) == held.strip("()")


@pytest.mark.parametrize("text", ["2 +", "abs(3)", "x + 1", "2 ** 3000", "1 / 0", "f('x')", "(1, 2)", "10^2000"])
def test_what_is_no_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"arithmetic|large"):
        evaluate(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Notebooks 04, 06 and 12, and section 11, say so; 13 do not.", ["13"]),
        ("See [Press et al. (2022)](https://arxiv.org/abs/2108.12409), section 3.2 and table 14.", []),
        ("See [Press et al. (2026)](https://arxiv.org/abs/2108.12409).", ["2026"]),  # of 2021
        ("So did Devlin et al. (2019, 3.1); in 1997 nobody did.", ["1997"]),
        ("## 12. Twelve\n\nOpen `00_start_here.ipynb`; GPT-2 has 12 layers, word2vec none.", ["12"]),
        ("It has 5 words, 5 %, 5.0 and 5 million.", ["5 %", "5.0", "5 million"]),
        ("It is $50{,}001$, that is $50\\,001$.", ["50,001", "50,001"]),
    ],
)
def test_a_number_counts_that_carries_information(text: str, found: list[str]) -> None:
    assert [number.written for line in plain(text).split("\n") for number in informative(line)] == found


def test_minutes_and_points_are_those_of_the_build() -> None:
    pause = "Done so far: 23. What follows takes about 1 h 15 min. When you come back, 18."
    assert listed("| *sitting 2, about 1 h 45 min* | | | | |", pause) == ["23", "18"]
    table = "| `f` | at 16 words | 12 | ●○○ | 2.5 |\n| **total** | | **12** | | **2.5** |"
    head = f"**Time**: about 2 h 45 min. Then 17.\n\n{table}"
    assert listed(head, "*About 12 minutes, difficulty ●○○.*") == ["17", "16"]
    rubric = "**Rubric** (2 points in all)\n\n- *One* (0.5): (0.5 lost) 0.75.\n- *Half (1 of 2)*: (0.25)"
    assert listed(rubric) == ["0.75"]


def test_a_number_is_held_by_what_is_near() -> None:
    many = " ".join(map(str, range(10, 60)))  # holds half of all numbers of two digits, and so proves none
    assert listed("## 1. One", f">{many}", "It is 31, of 12,345.", ">12345") == ["31"]
    assert listed("## 1. One", ">31", "It is 31.", f">{many}") == []
    assert listed("## 1. One", ">31", "## 2. Two", f">{many}", "In section 1 it is 31.") == ["31"]
    assert listed("## 1. One", ">31", f">{many}", "## 2. Two", "It is 31.") == ["31"]
    assert listed("## 1. One", ">31", "## 2. Two", ">32", "In section 1 it is 31.") == []


def test_a_notebook_that_a_paragraph_names_holds_its_numbers() -> None:
    assert listed("There are 10,500 reviews and 10,511 words, as in notebook 06.") == ["10,511"]
    assert listed("There are 10,500 reviews.\n\nSee notebook 06.") == ["10,500"]


def test_what_is_worked_by_hand_has_its_numbers_in_the_definition() -> None:
    asked = {"cell_type": "code", "source": 'by_hand("choose_setting", ...)', "outputs": []}
    text = {"cell_type": "markdown", "source": "The values are 40.3 and 43.4."}
    found = left(pieces([text, asked], "12_hyperparameter_sweep"))
    assert [number.written for _, number in found] == ["43.4"]


def test_a_text_holds_what_is_proven_in_it() -> None:
    assert listed("## 1. One", "Take 48 and 52.", ">52", "Of these 52.", "## 2. Two", "Not 48, but 52.") == ["48", "48"]


def test_a_text_that_names_the_measured_results_has_its_numbers_there() -> None:
    assert listed("It graded 300 in 247 per minute (`docs/results.md`, the autograder against plain nbgrader).") == []
    assert listed("It graded 300 in 9,991 per minute (`docs/results.md`, the autograder).") == ["9,991"]
    assert listed("It graded 247 per minute.") == ["247"]


# What is accepted


@pytest.mark.parametrize(
    ("quote", "reason", "wrong"),
    [
        ("carries <412> rows", "arithmetic: 512 - 100", ""),
        ("carries <412> rows", "arithmetic: 512 - 101", "has an arithmetic"),
        ("carries <412> rows", "definition", ""),
        ("carries <412> rows", " ", "has no reason"),
        ("carries 412 rows", "definition", "is not in the text"),  # nothing is marked
        ("carries <413> rows", "definition", "is not in the text"),
        ("of <25> and <0.5>", "section 3: the table", ""),
        ("of <25> and <0.5>", "section 4: the table", "says section 4, which does not hold 25, 0.5"),
        ("carries <412> rows", "section 3: the table", "says section 3, which does not hold 412"),
        ("carries <412> rows", "notebook 02: its section 6", ""),
        ("carries <412> rows", "section 9: there is none", "says section 9, which does not hold 412"),
        ("carries <412> rows", "data/README.md: the reviews", "does not hold"),
        ("carries <412> rows", "data/none.md: no file", "does not hold"),
        ("carries <412> rows", "arithmetic: rows - 100", "is no arithmetic"),
        ("of <25> and <0.5>", "arithmetic: 5 * 5", "has an arithmetic"),  # one for each
    ],
)
def test_an_entry_is_in_the_text_and_has_a_reason_that_can_be_checked(quote: str, reason: str, wrong: str) -> None:
    made = pieces(cells("## 3. Three", ">25 0.51", "The table carries 412 rows of 25 and 0.5.\n\n## 4. Four"))
    said = Entry(quote, reason).wrong(made)
    assert (wrong in said) if wrong else said == ""


def test_an_entry_accepts_the_numbers_that_it_marks() -> None:
    (piece,) = pieces(cells("The table carries 412 rows of 25 and 0.5, and 25."))
    entry = Entry("of <25> and <0.5>", "definition")
    assert [piece.text[first:last] for first, last in entry.spans(piece.text)] == ["25", "0.5"]
    assert [number.written for _, number in left([piece], [entry])] == ["412"]


def test_what_is_left_over_is_printed_as_a_line_that_only_lacks_its_reason() -> None:
    (piece,) = pieces(cells("A table of many words carries 412 rows of the noise it was born with.\n\n- 25 more"))
    first, second = (quoted(piece, number) for _, number in left([piece]))
    assert first == "of many words carries <412> rows of the noise it"
    assert second == "- <25> more"
    assert Entry(first, "definition").wrong([piece]) == ""


def test_numbers_are_read_as_they_are_written() -> None:
    assert [number.value for number in numbers("1,250 and 1,25 and 2.5e-3 or 10^-3")] == [1250, 1, 0.0025, 0.001]
