"""Similar answers: a copy is found under other names, an honest class is left in peace, what is unknown is stated."""

from __future__ import annotations

import csv
import random
import shutil
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import nbformat
import pytest

from grading.__main__ import main
from grading.classroom import demo, similar
from grading.classroom.similar import Exercise
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.pages import similar as report
from tests.classroom.submissions import ASSIGNMENT, released
from tests.pages.test_feedback import Page

# Each step of an exercise in the ways in which students write it, the natural one first.
STEPS = [
    ["{a} = {x}.shape[-1]", "{a} = {x}.size(-1)", "{a} = len({x}[0])", "*_, {a} = {x}.shape"],
    [
        "{b} = torch.arange({a})",
        "{b} = torch.tensor(range({a}))",
        "{b} = torch.cumsum(torch.ones({a}), 0) - 1",
        "{b} = torch.linspace(0, {a} - 1, {a})",
    ],
    [
        "{c} = {b}[None, :] <= {b}[:, None]",
        "{c} = {b}.unsqueeze(0) <= {b}.unsqueeze(1)",
        "{c} = torch.tril(torch.ones({a}, {a})).bool()",
        "{c} = ~torch.triu(torch.ones({a}, {a}), diagonal=1).bool()",
    ],
    [
        "{d} = {x}.masked_fill(~{c}, float('-inf'))",
        "{d} = torch.where({c}, {x}, torch.tensor(-math.inf))",
        "{d} = {x} + torch.zeros({a}, {a}).masked_fill(~{c}, -math.inf)",
        "{d} = {x}.clone()\n    {d}[..., ~{c}] = -math.inf",
    ],
    ["{e} = torch.exp({d})", "{e} = {d}.exp()", "{e} = torch.e ** {d}", "{e} = torch.pow(math.e, {d})"],
    [
        "return {e} / {e}.sum(dim=-1, keepdim=True)",
        "return {e} / torch.sum({e}, -1, True)",
        "{f} = {e}.sum(-1)\n    return {e} / {f}[..., None]",
        "return torch.div({e}, {e}.sum(axis=-1).unsqueeze(-1))",
    ],
]
NAMES = [f"name_{number}" for number in range(20)]
GIVEN = "def attention(x):\n    raise NotImplementedError('Replace this line by your answer')"
WORDS = [f"word{number}" for number in range(25)]


def write(ways: Sequence[str], chance: random.Random) -> str:
    """Returns an answer under names and with comments of its own."""
    names = dict(zip("abcdefx", chance.sample(NAMES, 7), strict=True))
    text = [f'"""Mine, {chance.random()}."""', *ways]
    lines = "\n".join(f"    {way.format(**names)}" for way in text)
    return f"import torch  # {chance.random()}\ndef attention({names['x']}):\n{lines}\n"


def make_class(seed: int, students: int = 60, copies: Iterable[tuple[str, str]] = ()) -> list[Exercise]:
    """Makes a class with five long exercises, a short one and an essay; each of `copies` has all from another one."""
    chance = random.Random(seed)
    whose = {f"s{number:03}": f"s{number:03}" for number in range(students)} | dict(copies)
    made = []
    for number in range(5):
        ways = {one: [chance.choices(step, (6, 2, 1, 1))[0] for step in STEPS] for one in whose}
        answers = {one: write(ways[source], chance) for one, source in whose.items()}
        made.append(Exercise(f"long{number}", True, answers, [GIVEN]))
    short = {one: chance.choice(["return 1", "x = 1\n    return x"]) for one in whose}
    texts = {one: " ".join(chance.choices(WORDS, k=60)) for one in whose}
    made.append(Exercise("short", True, {one: f"def f():\n    {way}" for one, way in short.items()}, ["def f():"]))
    made.append(Exercise("essay", False, {one: texts[source].upper() for one, source in whose.items()}, []))
    return made


def test_a_copy_is_found_under_other_names() -> None:
    found = similar.compare(make_class(1, copies=[("s007", "s003")]))
    (pair,) = found.pairs
    assert (pair.first, pair.second) == ("s003", "s007")
    assert pair.together.reported
    assert pair.together.share > 0.9
    assert pair.together.expected < 0.05
    assert pair.exercises["essay"].reported
    findings = {one.name: one.result for one in found.exercises}
    assert (findings["essay"], findings["short"]) == ("1 pair", "too short to tell")


@pytest.mark.parametrize("seed", range(6))
def test_an_honest_class_is_left_in_peace(seed: int) -> None:
    assert similar.compare(make_class(seed)).pairs == []


def test_one_natural_answer_is_no_copy() -> None:
    same = {
        f"s{number}": "def f(x):\n    return torch.triu(torch.ones(x, x), diagonal=1) * -math.inf"
        for number in range(40)
    }
    found = similar.compare([Exercise("mask", True, same, [GIVEN])])
    assert found.pairs == []
    assert [(one.answers, one.result) for one in found.exercises] == [(40, "too short to tell")]


def test_a_small_class_is_reported() -> None:
    found = similar.compare(make_class(1, students=10, copies=[("s001", "s002")]))
    assert found.pairs == []
    assert {one.result for one in found.exercises} == {f"too few answers to tell: at least {similar.FEWEST} are needed"}


def test_names_comments_and_layout_are_taken_off() -> None:
    one = 'def f(x: int) -> int:\n    """Mine."""\n    y = torch.triu(x)  # upper\n    return (y + 1)'
    other = "def f(size):\n\n    mask: Tensor = torch.triu(\n        size)\n    return mask+1"
    assert similar.tokens(one, is_code=True) == similar.tokens(other, is_code=True)
    assert "triu" in similar.tokens(one, is_code=True)
    assert similar.tokens("Le Masque, cache!", is_code=False) == ["le", "masque", "cache"]


@pytest.mark.parametrize("source", ["def f(:\n  x = 1  # mine", "(" * 20_000, "-" * 20_000 + "1", "x = 'a\0'", '"\\d"'])
def test_nothing_that_a_file_can_hold_stops_it(source: str) -> None:
    assert "mine" not in similar.tokens(source, is_code=True)


@pytest.mark.parametrize("sign", ["'", '"'])
def test_a_text_that_does_not_end_costs_little(sign: str) -> None:
    start = time.process_time()
    assert similar.tokens(f"{sign}{(chr(92) + sign) * 200_000}", is_code=True)
    assert time.process_time() - start < 5


def test_what_was_given_counts_for_nothing() -> None:
    answers = {f"s{number}": f"{GIVEN}\nx{number} = {number} + {number + 1} * {number}" for number in range(30)}
    (summary,) = similar.compare([Exercise("f", True, answers, [GIVEN])]).exercises
    assert summary.tokens < 12


# --- the report -------------------------------------------------------------------------------------------------------


def a_class(folder: Path) -> Course:
    """Makes a class of thirty with two equal essays."""
    made = Course(folder)
    for path in (made.solution(ASSIGNMENT), made.released(ASSIGNMENT)):
        path.parent.mkdir(parents=True)
        shutil.copy(ROOT / path.relative_to(made.root), path)
    chance = random.Random(3)
    text = ""
    for number in range(30):
        text = " ".join(chance.choices(WORDS, k=80)) if number != 1 else text
        path = made.autograded(f"s{number:03}", ASSIGNMENT)
        path.parent.mkdir(parents=True)
        nbformat.write(demo.fill(released(), {"mask_essay": f"{text} <script>alert(1)</script>"}), path)
    return made


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return a_class(tmp_path_factory.mktemp("similar"))


def test_page_and_table_name_both_and_warn(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "names", lambda course: {"s000": '<b>Ada</b> =cmd|"x"!A1', "s001": "=1+1"})
    assert main(["similar", ASSIGNMENT, "--course", str(course.root)]) == 0
    output = capsys.readouterr().out
    assert output.startswith("closer than chance: 1 pair of 30 students; no pair is a proof.")
    *_, page, table = (Path(line) for line in output.splitlines())
    shown = Page(page.read_text(encoding="utf-8"))
    names = [tag for tag, _ in shown.tags]
    assert not {"script", "b", "a", "img"} & set(names)
    assert names.count("main") == names.count("h1") == 1
    assert 's000 (<b>Ada</b> =cmd|"x"!A1) and s001' in shown.text
    assert shown.text.index("What this does not prove") < shown.text.index("s000 (")
    assert "<script>alert(1)</script>" in shown.text
    with table.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    assert {(line["student_a"], line["student_b"]) for line in lines} == {("s000", "s001")}
    assert {line["exercise"]: line["told"] for line in lines} == {"all": "yes", "mask_essay": "yes"}
    assert {line["name_b"] for line in lines} == {"'=1+1"}  # no formula
    assert float(lines[0]["expected_by_chance"]) < 0.05


def test_a_class_that_is_not_graded_is_reported(course: Course, tmp_path: Path) -> None:
    shutil.copytree(course.root / "solutions", tmp_path / "solutions")
    with pytest.raises(CourseError, match="no graded submissions of '01_causal_mask'"):
        report.write_report(Course(tmp_path), ASSIGNMENT)
