"""What it costs to read replies: every limit holds, and the examiner's own time is counted."""

from __future__ import annotations

import base64
import contextlib
import math
import os
import time
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode

from grading.autograder import submission
from grading.autograder.submission import Master
from grading.definitions import exercise
from grading.definitions.examiner import examine
from grading.definitions.reading_time import BudgetExceeded, CpuBudget, paused
from grading.notebooks import cells, names
from grading.notebooks.answers import read_cells
from grading.sandbox.serve import decode_reply
from tutor.checking import plain
from tutor.checking.answers import Question, Reply
from tutor.checking.compare import difference
from tutor.checking.measures import measured
from tutor.checking.plain import NotPlain

COLLIDING = [k * (2**61 - 1) for k in range(20_000)]  # Python gives all of them the hash 0


@pytest.mark.parametrize("text", ["1e-5", "0.5", "-3.", "+.25", "1.0e+50", "1E-400", "9" * 70])
def test_a_number_may_be_written_in_any_way(text: str) -> None:
    assert plain.decode({"expression": ["Float", text]}).value({}) == pytest.approx(float(text))


@pytest.mark.parametrize("text", ["1_000", "0x10", "1e", "e5", "", " 1", "1/3", "nan", "inf", "1p5", "١", "1e999999"])
def test_what_is_no_decimal_number_is_refused(text: str) -> None:
    with pytest.raises(NotPlain, match="a number that cannot be read"):
        plain.decode({"expression": ["Float", text]})


@pytest.mark.parametrize("tree", [["Add", *[["Integer", "1"]] * 2], ["Integer", "2"], ["Rational", "4", "2"]])
def test_no_formula_is_worked_out_that_comes_in_a_reply(tree: list[Any]) -> None:
    reply = decode_reply({"outcome": "value", "value": {"expression": tree}})
    assert difference(2, reply.value) == "the expression cannot be worked out"


@pytest.mark.parametrize(
    "data",
    [
        {"set": [{"int": str(one)} for one in COLLIDING]},
        {"dict": [[{"int": str(one)}, 1] for one in COLLIDING[:9000]]},
        {"set": [{"tuple": [{"int": str(one)}]} for one in COLLIDING[:9000]]},
        [{"set": [{"int": str(one)} for one in COLLIDING[:600]]}] * 2,
        {"dict": [[str(n), {"set": [n]}] for n in range(600)]},
    ],
    ids=["set", "dict", "tuples", "several sets", "sets in a dict"],
)
def test_keys_that_collide_are_few(data: Any) -> None:
    with pytest.raises(NotPlain, match="members of sets and keys"):
        plain.decode(data)


def test_what_may_be_sent_may_be_read() -> None:
    for value in ({str(n): n for n in range(1000)}, set(range(1000)), list(range(19_000))):
        assert plain.decode(plain.encode(value)) == value
    with pytest.raises(NotPlain):
        plain.encode(set(range(1001)))


def test_a_list_of_colliding_numbers_is_made_no_set() -> None:
    sentence = difference({1, 2, 3}, COLLIDING)
    assert sentence == "expected a set of 3 values, got a list of 20000"
    reply = measured("variety", Question(), Reply("value", COLLIDING))
    assert reply.outcome == "unreadable"


@pytest.mark.parametrize("count", [200_001, 600_000])
def test_a_message_of_many_small_parts_is_refused(count: int) -> None:
    import socket
    import struct
    import threading

    from grading.sandbox.serve import NoMessage, receive

    ours, theirs = socket.socketpair()
    data = b"[" + b"{}," * count + b"{}]"
    sender = threading.Thread(target=lambda: theirs.sendall(struct.pack(">I", len(data)) + data))
    sender.start()
    with ours, theirs, pytest.raises(NoMessage, match="parts"):
        receive(ours, 60)
    sender.join()


def test_a_long_text_is_refused() -> None:
    with pytest.raises(NotPlain, match="too large"):
        decode_reply({"outcome": "value", "value": "x" * 60_000_000})


# --- what cells need of each other ------------------------------------------------------------------------------------


@pytest.mark.parametrize("lines", ["a{n} = 1\n", "a{n} = 1\nz.backward()\n"])
def test_the_names_that_gradients_reach_are_bounded(lines: str) -> None:
    source = "".join(lines.format(n=n) for n in range(6_000)) + "z.backward()\n" * 3_000
    assert names.are_short([source])
    found = names.statements(source)
    assert len(found) >= 9_000
    assert sum(len(one.changes) + len(one.uses) for one in found) < 100_000


def test_a_cell_of_the_course_keeps_what_its_gradients_reach() -> None:
    (_, last) = names.statements("model = Linear()\n" + "loss.backward()")
    assert "model" in last.changes


def test_names_of_which_each_needs_all_before_are_not_followed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = "a0 = 1\n" + "\n".join(f"a{n} = a{n - 1}" for n in range(1, 600))
    experiment = {"cell_type": "code", "source": chain, "metadata": {"tags": ["experiment"]}}
    use = {"cell_type": "code", "source": ", ".join(f"a{n}" for n in range(600)), "metadata": {}}
    monkeypatch.setattr(submission, "needed", lambda *_: pytest.fail("looked for"))
    work = submission.Work()
    code = submission._with_experiments(read_cells([experiment, use], []), Master("x", NotebookNode(cells=[])), work)
    assert code == [("", use["source"])]
    assert "too long" in work.repairs[0]


# --- the clock --------------------------------------------------------------------------------------------------------


def _work(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        math.sqrt(2)


def test_work_beyond_the_allowance_is_broken_off() -> None:
    allowance = CpuBudget(10)
    with pytest.raises(BudgetExceeded), allowance.limited(0.2):
        _work(60)
    assert 9 < allowance.left < 10
    _work(0.5)  # outside nothing is counted


def test_what_is_left_in_all_counts_too() -> None:
    allowance = CpuBudget(0.3)
    with allowance.limited(5):
        _work(0.2)
    with pytest.raises(BudgetExceeded), allowance.limited(5):
        _work(60)
    assert allowance.left <= 0
    with pytest.raises(BudgetExceeded), allowance.limited(5):
        _work(60)


def test_the_examiners_own_work_is_not_counted() -> None:
    allowance = CpuBudget(0.5)
    with allowance.limited(0.5), paused():
        _work(1.0)
    assert allowance.left > 0.3
    with paused():  # outside of a limit it does nothing
        _work(0.1)


def test_nobody_swallows_the_alarm() -> None:
    def stubborn() -> None:
        while True:
            with contextlib.suppress(Exception):  # as a careless library does
                _work(60)

    with pytest.raises(BudgetExceeded), CpuBudget(0.2).limited(0.2):
        stubborn()


def test_known_mistakes_are_not_charged_to_the_student(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong answer is compared with every known mistake; what that costs is the examiner's own affair."""
    from tutor.checking.answers import InProcess

    ask = InProcess.ask

    def slow(self: Any, question: Question, seconds: float = 2.0) -> Reply:
        _work(0.3)
        return ask(self, question, seconds)

    defined = exercise.load_one("01_causal_mask", "causal_mask")
    drawn = defined.drawn_examples("ada")
    wanted = [case.wanted for stage in drawn.stages for case in stage.cases]
    assert len(wanted) > 5

    class Wrong:
        def ask(self, question: Question, seconds: float) -> Reply:
            return Reply("value", 7)

        def spent(self) -> float:
            return 0.0

    monkeypatch.setattr(type(defined), "variant", lambda self, seed: drawn)
    monkeypatch.setattr(InProcess, "ask", slow)
    allowance = CpuBudget(1.0)
    assert examine(defined, Wrong(), "ada", reading=allowance.limited(1.0)).earned == 0
    assert allowance.left > 0.2


def test_measuring_a_known_mistake_is_not_charged_and_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured in what a mistake gives is the same for every answer that is compared with it."""
    defined = exercise.load_one("10_pretrained_knowledge", "corrupt_span")
    examples = defined.drawn_examples("ada")
    asked = next(case for stage in examples.stages if stage.measure for case in stage.cases if case.hidden)
    done = []

    def slow(measure: str, ask: Question, reply: Reply) -> Reply:
        done.append(measure)
        _work(0.05)
        return measured(measure, ask, reply)

    monkeypatch.setattr(exercise, "measured", slow)
    allowance = CpuBudget(0.5)
    with allowance.limited(0.5):
        first = {name: asked.mistakes[name] for name in asked.mistakes if name in asked.mistakes}
        assert len(done) == len(first) == len(defined.mistakes) > 10
        assert all(asked.mistakes[name] is value for name, value in first.items())
    assert len(done) == len(first)
    assert allowance.left > 0.2


@pytest.mark.parametrize(
    "data",
    [
        {"expression": ["Symbol", "\ud800"]},
        {"expression": ["Add", ["Symbol", "L\n  [passed] all\u202e\x1b[32m"], ["Integer", "1"]]},
        {"expression": ["\ud800\n" * 1000]},
        {"\ud800 FEIGNED\n" * 1_000_000: 1},
    ],
)
def test_what_a_reply_says_is_one_short_line_that_can_be_written(data: dict[str, Any]) -> None:
    with pytest.raises(NotPlain) as error:
        plain.decode(data).value({"L": 5})
    text = str(error.value)
    assert text.isprintable()
    assert len(text.encode()) < 2000


def test_signs_that_only_look_like_ends_of_lines_are_none() -> None:
    (statement,) = names.statements("text = 'one\u2028two\x1ethree'")
    assert statement.binds == {"text"}


def test_what_is_needed_of_experiments_stands_in_its_place() -> None:
    def code(source: str, *tags: str) -> dict[str, Any]:
        return {"cell_type": "code", "metadata": {"tags": list(tags)}, "source": source}

    cells = [
        code("1"),
        code("b = 1", "experiment"),
        code("c = b", "experiment"),
        code("c"),
        code("d = 1", "experiment"),
    ]
    work = submission.Work()
    found = submission._with_experiments(read_cells(cells, []), Master("x", NotebookNode(cells=[])), work)
    assert [source for _, source in found] == ["1", "b = 1", "c = b", "c"]
    assert work.repairs == ["the student's cells use `c` of experiments; what that needs of them was run"]


def test_names_that_a_student_has_chosen_are_shortened() -> None:
    text = submission._name_list({f"{letter}{'x' * 1000}" for letter in "abcdefghijklmnopqrst"})
    assert text.startswith("`axxx")
    assert text.endswith(" and 8 more")
    assert len(text) < 700


# --- which cells answer -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x):\n    'Doubles.'\n    raise NotImplementedError", True),
        ("import torch\nclass F:\n    def g(self):\n        super().g()\n        raise NotImplementedError('x')", True),
        ("def f(kind):\n    if kind == 'a':\n        return 1\n    raise NotImplementedError(kind)", False),
        ("def f(x):\n    raise NotImplementedError\n\n\nf = abs", False),
        ("raise NotImplementedError", False),
        ("def f(:\n    raise NotImplementedError", False),
    ],
)  # fmt: skip
def test_a_cell_that_only_raises_is_no_answer(source: str, expected: bool) -> None:
    assert cells.is_stub(source, ()) == expected
    assert cells.is_stub(source, {cells.bare(source)})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from mine import g, f", True),
        ("from mine import (f, g)", True),
        ("f: Callable = abs", True),
        ("f == abs", False),
        ("from mine import g  # f comes later", False),
        ("from f import g", False),
    ],
)
def test_an_import_is_an_answer(source: str, expected: bool) -> None:
    assert cells.defines(source, "f") == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("%reset -f", True),
        ("  %reset_selective -f torch", True),
        ("exec(open('mine.py').read())", True),
        ("from mine import *", True),
        ("files = !ls", True),
        ("%matplotlib inline", False),
        ("%load_ext autoreload\n%autoreload 2", False),
        ("%%writefile mine.py\ntorch = 5", False),
        ("# notes\n", False),
        ("print(1)", False),
        ("", False),
    ],
)
def test_what_may_bind_any_name_is_known(source: str, expected: bool) -> None:
    assert names.is_unclear(source) == expected
    assert not names.bound(["%%writefile mine.py\ntorch = 5"])
    assert names.bound(["%%time\ntorch = 5"]) == {"torch"}


def test_files_beside_a_notebook_come_along_where_its_cells_name_them(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    for file in ("mine.py", "other.py", "unused.py", "parts/masks.py", "table.csv", ".hidden.py", "timestamp.txt"):
        (tmp_path / file).write_text("import other" if file == "mine.py" else file)
    (tmp_path / "linked.py").symlink_to(tmp_path / "mine.py")
    (tmp_path / "folder").symlink_to(tmp_path / "parts")
    (tmp_path / "large.py").write_bytes(b"#" * (submission.MAX_BESIDE + 1))
    os.mkfifo(tmp_path / "pipe.py")
    named = "mine, parts.masks, table.csv, hidden, timestamp.txt, linked, folder/masks.py, large, pipe"
    work = submission.Work()
    found = submission._files_beside(tmp_path / "notebook.ipynb", [named], work)
    assert sorted(found) == ["mine.py", "other.py", "parts/masks.py", "table.csv"]
    assert base64.b64decode(found["table.csv"]) == b"table.csv"
    assert work.repairs == ["'large.py' was left out: files beside a notebook may have 4 MB in all"]
