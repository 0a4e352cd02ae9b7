"""Replies that are legal and expensive to read, and processes that hardly work: attempts to hold whoever grades."""

from __future__ import annotations

from collections.abc import Callable

import nbformat
from nbformat import NotebookNode

from tests.hostile.case import Case

# The student's process says the same in place of every reply, in the very form in which an honest one comes.
_LEGAL = """
import json
_value, _encode = {value}, json.JSONEncoder.encode
def _legal(encoder, data):
    return _encode(encoder, {**data, "outcome": "value", "value": _value} if "outcome" in data else data)
json.JSONEncoder.encode = _legal
def {name}(*given, **more): return 1
"""
_LAZY = """
import os, time
def _hardly(every=4.0, work=0.03):
    while True:
        time.sleep(every)
        end = time.process_time() + work
        while time.process_time() < end: pass
"""
_MODULUS = "(2 ** 61 - 1)"


def _further(source: str, count: int) -> Callable[[NotebookNode], None]:
    """Returns what adds so many cells of the student's own before the last one."""

    def change(notebook: NotebookNode) -> None:
        notebook.cells[-1:-1] = [nbformat.v4.new_code_cell(f"import time\n{source}") for _ in range(count)]

    return change


def _copies(count: int) -> Callable[[NotebookNode], None]:
    """Returns what adds so many copies of an exercise's cell, none of which is a code cell."""

    def change(notebook: NotebookNode) -> None:
        settings = {"grade_id": "causal_mask", "solution": True}
        notebook.cells += [nbformat.v4.new_markdown_cell("1", metadata={"nbgrader": settings}) for _ in range(count)]

    return change


def _experiments(lines: int) -> Callable[[NotebookNode], None]:
    """Returns what adds an experiment in which each name needs all before it, and a cell that uses all of them."""
    chain = "\n".join(f"a{n} = a{n - 1}" for n in range(1, lines))

    def change(notebook: NotebookNode) -> None:
        experiment = nbformat.v4.new_code_cell(f"a0 = 1\n{chain}", metadata={"tags": ["experiment"]})
        use = nbformat.v4.new_code_cell(", ".join(f"a{n}" for n in range(lines)))
        notebook.cells[-1:-1] = [experiment, use]

    return change


DEAR = {
    "many_numbers_of_formulas": "[{'expression': ['Float', '9' * 70 + 'e-99999']}] * 9000",
    "a_number_of_a_formula_without_end": "{'expression': ['Float', '9' * 40_000_000]}",
    "a_formula_of_many_parts": "{'expression': ['Add', *[['Pow', ['Integer', '9'], ['Float', '1e99999']]] * 19_000]}",
    "colliding_members": f"{{'set': [{{'int': str(k * {_MODULUS})}} for k in range(19000)]}}",
    "colliding_keys": f"{{'dict': [[{{'int': str(k * {_MODULUS})}}, 1] for k in range(9000)]}}",
    "colliding_tuples": f"{{'set': [{{'tuple': [{{'int': str(k * {_MODULUS})}}]}} for k in range(9000)]}}",
    "a_thousand_colliding_members": f"{{'set': [{{'int': str(k * {_MODULUS})}} for k in range(1000)]}}",
    "a_list_that_collides": f"[{{'int': str(k * {_MODULUS})}} for k in range(19000)]",
    "sets_in_sets_in_lists": "[{'set': [{'set': [1]}]}] * 900",
    "small_dicts": "[{'dict': []}] * 600000",
    "small_lists": "[[]] * 190000",
    "long_text": "'x' * 60_000_000",
    "text_of_commas": "',' * 40_000_000",
    "escaped_text": "chr(1) * 7_000_000",
    "text_of_other_alphabets": "chr(0x1F600) * 3_000_000",
    "numbers_as_a_tensor": "{'tensor': 'float64', 'shape': [190000], 'values': [0.1] * 190000}",
    "texts_as_a_tensor": "{'tensor': 'float64', 'shape': [90000], 'values': ['1' * 300] * 90000}",
    "a_large_tensor": "{'tensor': 'float32', 'shape': [7900000], 'base64': 'AAAA' * 10533334}",
    "a_tensor_of_no_numbers": "{'tensor': 'float32', 'shape': [0] + [2 ** 31 - 1] * 11, 'base64': ''}",
    "long_digits": "{'int': '9' * 40_000_000}",
    "many_long_numbers": "[{'int': '9' * 400}] * 19000",
    "spaces": "[' ' * 19999] * 300",
    "texts_of_digits": "{'tensor': 'float64', 'shape': [9000], 'values': ['1' * 3000] * 9000}",
    "a_long_key": "{'dict': [['x' * 7_000_000, 1]]}",
    "keys_of_tensors": "{'dict': [[{'tensor': 'float64', 'shape': [999], 'base64': 'AAAA' * 2664}, 1]] * 999}",
    "a_model_of_many": "{'model': 'LanguageModel', 'arguments': {'dict': [[str(k), k] for k in range(900)]}, 'seed': 1, 'noise': 0.0}",
}  # fmt: skip


def _dear(name: str, value: str) -> Case:
    source = _LEGAL.replace("{value}", value).replace("{name}", "causal_mask")
    return Case(f"dear_{name}", {"causal_mask": source}, most=3.0, costly=True)


def _lazy(name: str, cell: str = "", answer: str = "return _hardly()", least: float = 3.0) -> Case:
    body = answer.replace("\n", "\n    ")
    return Case(
        f"lazy_{name}",
        {"causal_mask": f"{_LAZY}\ndef causal_mask(size):\n    {body}\n{cell}"},
        least=least,
        costly=True,
    )


# Formulas without end are worked out where they come from, in the answer's own time.
LONG = {
    "sum": "k = sympy.Symbol('k')\n    return sympy.Sum(sympy.Max(k, L) ** sympy.Rational(33, 7), (k, 1, 10**15))",
    "tower": "return sympy.exp(sympy.gamma(10 ** (9 ** (5 * L))))",
}

CASES = [
    *(_dear(name, value) for name, value in DEAR.items()),
    *(
        Case(f"formula_of_a_long_{name}", {"wasted_scores": f"def wasted_scores():\n    {body}"}, least=3.0, costly=True)
        for name, body in LONG.items()
    ),
    _lazy("answer"),
    _lazy("answer_every_second", answer="return _hardly(0.9, 0.01)"),
    _lazy("answer_in_a_child", answer="if os.fork() == 0: _hardly()\nos.wait()"),
    _lazy("answer_in_many_children", answer="while True:\n    if os.fork() == 0: time.sleep(0.3); os._exit(0)\n    os.wait()"),
    _lazy("answer_in_a_thread", answer="import threading\nthreading.Thread(target=_hardly).start()\ntime.sleep(600)"),
    _lazy("answer_that_drips", answer="os.write(3, b'\\0\\0\\1\\0')\nwhile True: os.write(3, b'['); time.sleep(0.5)"),
    _lazy("answer_that_rings", answer="import signal\nsignal.signal(14, lambda *told: None); signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3)\nwhile True: signal.pause()"),
    _lazy("answer_that_takes_no_questions", answer="os.write(3, b'\\0\\0\\0\\2{}'); time.sleep(600)"),
    _lazy("answer_that_is_slow_each_time", answer="time.sleep(0.9)\nreturn torch.zeros(size)"),
    _lazy("cell", cell="_hardly()"),
    _lazy("cell_every_second", cell="_hardly(0.9, 0.01)"),
    _lazy("cell_and_answer", cell="time.sleep(4)", answer="return _hardly()"),
    _lazy("cell_that_drips", cell="os.write(3, b'\\0\\0\\1\\0')\nwhile True: os.write(3, b'['); time.sleep(0.5)"),
    # Above the share of work below which a process stands still; and where the kernel says that it cannot be disturbed.
    _lazy("answer_that_works_a_little", answer="return _hardly(0.4, 0.04)"),
    _lazy("answer_that_works_half_of_the_time", answer="return _hardly(0.2, 0.2)"),
    _lazy("cell_that_works_a_little", cell="_hardly(0.4, 0.04)"),
    _lazy("answer_in_a_child_by_vfork", answer="import ctypes\nif ctypes.CDLL(None).vfork() == 0:\n    time.sleep(600)\n    os._exit(0)"),
    _lazy("answer_that_stops_its_children", answer="import signal\nfor _ in range(5):\n    if os.fork() == 0: signal.pause()\nos.kill(0, signal.SIGSTOP)"),
    _lazy("answer_that_is_stopped_again_and_again", answer="import signal\np = os.getpid()\nif os.fork() == 0:\n    while True:\n        os.kill(p, signal.SIGSTOP); time.sleep(0.3); os.kill(p, signal.SIGCONT); time.sleep(0.05)\nwhile True: pass"),
    _lazy("answer_in_an_idle_class", answer="os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile True: pass"),
    # Who works counts what it has used, whatever it says of it.
    Case("lies_of_its_time", {"causal_mask": "from grading.sandbox import serve\nimport time\ntime.process_time = lambda: 0.0\ndef causal_mask(size):\n    import signal\n    signal.setitimer(signal.ITIMER_PROF, 0)\n    end = time.monotonic() + 9\n    while time.monotonic() < end: pass\n    return 1"}, least=3.0, costly=True),
    Case("waits_in_further_cells", change=_further("time.sleep(1.5)", 20), least=3.0, costly=True),
    Case("works_in_further_cells", change=_further("_end = time.process_time() + 0.4\nwhile time.process_time() < _end: pass", 100), least=3.0, costly=True),
    # Each end of a process is a new start, and each cell a message.
    Case("ends_in_further_cells", change=_further("import os; os._exit(0)", 300), least=3.0, costly=True),
    Case("very_many_further_cells", change=_further("1", 15_000), least=0.0, costly=True),
    Case("very_many_copies_of_another_type", change=_copies(10_000), least=0.0, costly=True),
    # What the one process of a run reads before anything is graded.
    Case("dear_lines_in_further_cells", change=_further("x = 1\n" * 10_000, 70), costly=True),
    Case("dear_long_further_cells", change=_further("x = [" + "1," * 30_000 + "]", 60), costly=True),
    Case("dear_chains_of_names", change=_further("\n".join(f"a{n} = a{n + 1}" for n in range(8_000)) + "\na8000 = lost", 1), costly=True),
    Case("dear_functions_of_functions", change=_further("\n".join(f"def f{n}(): f{n + 1}; g{n}\ng{n} = f0" for n in range(3_000)), 1), costly=True),
    Case("dear_chains_of_experiments", change=_experiments(7_000), costly=True),
    Case("dear_gradients_of_many_names", change=_further("\n".join(f"a{n} = 1" for n in range(8_000)) + "\nz.backward()" * 8_000, 1), costly=True),
    Case("dear_text_in_cells", change=_further("#" * 2_000_000, 4), costly=True, gradable=False, most=0),
    Case("lazy_everywhere", {name: f"{_LAZY}\ndef {name}(*given): _hardly()\n" for name in ("causal_mask", "padding_mask", "future_influence", "wasted_scores")}, costly=True),
    Case("lazy_cells_everywhere", dict.fromkeys(("causal_mask", "padding_mask", "future_influence", "wasted_scores"), f"{_LAZY}\n_hardly()\n"), costly=True),
]  # fmt: skip
