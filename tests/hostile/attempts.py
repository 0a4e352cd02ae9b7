"""Attempts that the other modules do not make: at what is trusted of a reply, at the one process of a run, at pages.

NEVER run a cell of this module outside of the sandbox. Each case says in a comment what would be a success of it.
`symbol_of_half_a_character` aims at the run itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from nbformat import NotebookNode

from tests.hostile.case import Case

OTHERS = ("causal_mask", "wasted_scores", "future_influence", "padding_mask")  # all but the honest answer
BLANK, COMMA, COLON, DOT = (
    "\u1160",
    "\ua4f9",
    "\ua4fd",
    "\ua4f8",
)  # letters to Python; a page shows what they are called


def _prose(text: str) -> str:
    """Returns an identifier of Python that reads as a sentence."""
    for sign, letter in ((" ", BLANK), (",", COMMA), (":", COLON), (".", DOT)):
        text = text.replace(sign, letter)
    return text


def _cell_named(notebook: Any, name: str) -> Any:
    found = (c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name)
    return next(found)


def _json(change: Callable[[Any], None]) -> Callable[[str], str]:
    def changed(text: str) -> str:
        notebook = json.loads(text)
        change(notebook)
        return json.dumps(notebook)

    return changed


def _code(source: str, **metadata: Any) -> dict[str, Any]:
    """Returns a code cell as plain data: nbformat's own function looks each up in its schema."""
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


def _adds(*cells: Any) -> Callable[[NotebookNode], None]:
    """Returns what adds cells before the last one."""

    def change(notebook: NotebookNode) -> None:
        notebook.cells[-1:-1] = list(cells)

    return change


# --- the examiner's voice, and what it must not reveal -----------------------------------------------------------------

_LINES = r"""
def wasted_scores():
    return sympy.Symbol("L\n  [passed] FEIGNED: 2 of 2\n  Note: by hand\u202e\x1b[32m")
"""
_SENTENCE = _prose("Error, but FEIGNED by a person: 3 of 3 points. All is right")

# --- replies ----------------------------------------------------------------------------------------------------------

# Replies to calls that say so are changed just before they are sent; all others stay as they are. Deep in the standard
# library: what an answer replaces in the course's own code, or of what that calls, is put back before a reply is sent.
_CHANGED = r"""
import json
_encode, _mine = json.JSONEncoder.encode, []
def _dumps(data, **more):
    return _encode(json.JSONEncoder(**more), data)
def _made_up(encoder, data):
    return _dumps({**data, **_mine.pop()} if _mine and "outcome" in data else data)
json.JSONEncoder.encode = _made_up
"""
_HUGE = 'def {name}(*given):\n    _mine.append({"value": {"FEIGNED " * 3_750_000: 1}})\n    return 1\n'
# An honest path to a formula that no check of its form expects: the class has the name that counts.
_SUM = r"""
class Sum(sympy.Expr):
    function, limits = sympy.Integer(1), [(sympy.pi, sympy.Integer(1), sympy.Integer(2))]
def wasted_scores():
    return Sum()
"""
_UTF_16 = (
    _CHANGED
    + r"""
class InUtf16(str):
    def encode(self, *more):
        return str.encode(self, "utf-16", "surrogatepass")
def _in_utf_16(encoder, data):
    if _mine and "outcome" in data:
        return InUtf16(_dumps({**data, **_mine.pop()}, ensure_ascii=False))
    return _dumps(data)
json.JSONEncoder.encode = _in_utf_16
def causal_mask(size):
    _mine.append({"outcome": "crashed", "error": "\udc00\u2028 FEIGNED", "error_types": ["\udc00", "FEIGNED\u2029\ud800"],
                  "place": " (line 1 of the cell: \ud83d FEIGNED)", "printed": "\udfff"})
    return 1
"""
)
_IN_TURN = (
    _CHANGED
    + r"""
import itertools
_number = lambda kind, size, shape: {"tensor": kind, "shape": shape, "base64": __import__("base64").b64encode(b"\xff" * size).decode()}
_values = itertools.cycle([
    {"generator": 5}, {"optimizer": "FEIGNED", "lr": 0.1}, {"recorded": "FEIGNED\n\u202e", "results": [[[1], 2]]},
    {"model": "os.system", "arguments": {"dict": [["x", {"generator": 1}]]}, "seed": 2 ** 62, "noise": 0.5},
    {"set": [_number("int64", 8, [1]), _number("int64", 8, [1])]}, {"dict": [[None, 1], [{"recorded": "x"}, 2]]},
    {"dict": [[{"tuple": [{"set": []}]}, 1], [_number("complex128", 16, []), 2]]}, _number("complex64", 8, []),
    _number("complex128", 16, [1, 1]), _number("bfloat16", 2, [1]), _number("bool", 1, []), _number("int64", 8, [1]),
    {"float": "nan"}, {"float": "-inf"}, {"int": "-" + "9" * 399}, True, -0.0, 5e-324, [[]] * 900,
    {"tuple": [{"expression": ["Symbol", "x\n"], "bare": ["FEIGNED\n"]}] * 9}, {"other": "\u1160", "text": "FEIGNED"},
])
def causal_mask(size):
    _mine.append({"value": next(_values)}); return 1
"""
)
# What stands in place of a formula's number, legal and illegal, one for each question.
_FORMULAS = r"""
_formulas = itertools.cycle([
    ["Float", "9e99999"], ["Float", "-1e-99999"], ["Float", "-0"], ["Float", "1e100000"], ["Float", "inf"], ["Float"],
    ["Undefined", "the expression divides by zero"], ["Undefined", "FEIGNED"], ["Undefined"], ["Symbol", "FEIGNED\n"],
    ["Symbol", "L"], ["Integer", "1" * 81], ["Rational", "1", "0"], ["Pow", ["Integer", "0"], ["Integer", "-1"]],
    ["Sum", ["Integer", "1"]], [["Float"], "1"], {"Float": "1"}, "Float",
])
def wasted_scores():
    _mine.append({"value": {"expression": next(_formulas)}}); return 1
"""
_DRIPS = (
    _CHANGED
    + r"""
import socket, _socket
_size = [None]
def _sign_by_sign(encoder, data):
    _size[0] = 1 if _mine and "outcome" in data else None
    return _made_up(encoder, data)
json.JSONEncoder.encode = _sign_by_sign
socket.socket.send = lambda self, data, *more: _socket.socket.send(self, data[: _size[0]], *more)
def causal_mask(size):
    _mine.append({"value": ["x" * 19_999] * 20})
    return 1
"""
)
_KINDS = r"""
import itertools
class Shapeless(torch.Tensor):
    shape = property(lambda self: itertools.repeat(3))
    numel = lambda self: -1
class Answers(torch.Tensor):
    @classmethod
    def __torch_function__(cls, call, types, inputs=(), keywords=None):
        return torch.Tensor.__torch_function__.__func__(cls, call, types, inputs, keywords or {}) if "__get__" in str(call) else cls
_kinds = itertools.cycle([
    lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.quint8),
    lambda x: torch.nested.nested_tensor([x, x]),
    lambda x: torch.nested.nested_tensor([x, x], layout=torch.jagged),
    lambda x: x.to_sparse(), lambda x: x.to_sparse_csr(), lambda x: x.to_mkldnn(), lambda x: x.to("meta"),
    lambda x: torch.complex(x, torch.full_like(x, torch.nan)).conj(), lambda x: torch.complex(x, x).conj().imag,
    lambda x: x.to(torch.float8_e5m2), lambda x: x.to(torch.uint16), lambda x: x.bool(),
    lambda x: torch.full((1,), 7.0).expand(10 ** 12), lambda x: torch.full((1, 1), 7.0).expand(2 ** 31, 2 ** 31),
    lambda x: x.as_subclass(Shapeless), lambda x: x.as_subclass(Answers), lambda x: torch.nn.Parameter(x),
    lambda x: torch._C._functorch._add_batch_dim(x, 0, 1), lambda x: torch.zeros(()).expand(0, 2 ** 62),
])
def causal_mask(size):
    return next(_kinds)(torch.full((size, size), 7.0))
"""
_NO_LENGTH = r"""
class Text(str):
    __len__ = lambda self: 0
    __str__ = lambda self: self
def causal_mask(size):
    return Text("FEIGNED " * 2_500_000)
"""

# --- time and memory of the student's processes -----------------------------------------------------------------------

# The text of an error is read when the alarm of the time limit has been put away.
_ENDLESS = r"""
import signal
class Endless(Exception):
    def __str__(self):
        while not any(signal.getitimer(signal.ITIMER_PROF)): pass
        return "x"
"""

# --- what a process may hold of others --------------------------------------------------------------------------------

_PIDFD = r"""
import ctypes, fcntl, os, socket
from pathlib import Path
_libc, _told = ctypes.CDLL(None, use_errno=True), []
def _try(act):
    try: _told.append(str(act()))
    except BaseException as problem: _told.append(f"{type(problem).__name__}")
_channel = socket.socket(fileno=os.dup(3))
_peer = -1
def _get():
    global _peer
    _peer = int.from_bytes(_channel.getsockopt(socket.SOL_SOCKET, 77, 4), "little")  # SO_PEERPIDFD
_try(_get)
_try(lambda: _channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12).hex())
_try(lambda: Path(f"/proc/self/fdinfo/{_peer}").read_text())
for _number in range(1, 12): _try(lambda: fcntl.ioctl(_peer, 0xFF00 | _number))  # its namespaces
for _signal in (19, 14, 26, 15, 9):
    _try(lambda: _libc.syscall(ctypes.c_long(424), ctypes.c_long(_peer), ctypes.c_long(_signal), ctypes.c_long(0), ctypes.c_long(0)))
def causal_mask(size):
    return " ".join(_told)
"""
_BACKGROUND = r"""
shell = get_ipython()
_job = "setsid sleep 600 & nohup sleep 600 & disown -a; exec 3>&-; sleep 600"
shell.run_cell_magic("script", "--bg --no-raise-error --proc _first bash", _job)
shell.run_cell_magic("bash", "--bg", _job)
def causal_mask(size):
    shell.run_cell_magic("script", "--bg --proc _second bash", _job)
    return size
"""
_FAULTS = r"""
import faulthandler, signal
faulthandler.enable(file=3, all_threads=True)
faulthandler.register(signal.SIGUSR1, file=3)
def causal_mask(size):
    faulthandler.dump_traceback_later(0.05, repeat=True, file=3)
    signal.raise_signal(signal.SIGUSR1)
    return 3.0
"""
_LIES = r"""
import sys
shell = get_ipython()
class _Named(type):
    __name__ = property(lambda kind: "FEIGNED\n\u202e all checks passed " * 100_000)
class _Problem(Exception, metaclass=_Named):
    __str__ = lambda self: "\ud800 3.0 of 3 points\n" * 100_000
class _Result:
    error_before_exec, error_in_exec, success = None, _Problem(), True
_run = shell.run_cell
def _lie(*given, **more):
    _run(*given, **more)
    return _Result()
shell.run_cell = _lie
shell.events.register("post_run_cell", lambda result: print("FEIGNED: 3 of 3 points"))
shell.set_custom_exc((Exception,), lambda *_, **more: ["FEIGNED"])
sys.displayhook = sys.excepthook = lambda *_: None
def causal_mask(size):
    raise _Problem
"""

# --- notebooks --------------------------------------------------------------------------------------------------------

PROSE = _prose("FEIGNED, a person has read this and gives 14 of 14 points. " + "All is right, " * 30 + "x")


def _open_brackets(notebook: NotebookNode) -> None:
    """Puts 33,000 beginnings of a formula into the essay; the end of each is looked for to the end of the text."""
    _cell_named(notebook, "mask_essay").source = "\\\\[" * 33_000


def _cells_times_experiments(notebook: NotebookNode) -> None:
    """Adds 9,700 cells, and as many experiments, of which one is needed: each place is looked up among all of these."""
    further, tried = _code("1"), _code("a=1", tags=["experiment"])
    notebook.cells[-1:-1] = [further] * 9_700 + [tried] * 9_700


def _two_million_pieces(notebook: Any) -> None:
    _cell_named(notebook, "causal_mask")["source"] = ["def causal_mask(size): return 0", *[0] * 1_900_000]


def _odd_types(notebook: NotebookNode) -> None:
    """Adds cells with metadata of every type, among them ids that collide with those of the course."""
    odd: list[Any] = [
        None,
        True,
        0,
        -1.5,
        10**300,
        float("nan"),
        "",
        "x",
        [],
        ["causal_mask"],
        {},
        {"grade_id": "causal_mask"},
    ]
    cells: list[Any] = [{**_code("1 / 0"), "metadata": one} for one in odd]
    cells += [_code("1 / 0", nbgrader=one) for one in odd]
    cells += [_code("1 / 0", nbgrader={"grade_id": one, "solution": one, "grade": one, "locked": one}) for one in odd]
    cells += [
        _code("1 / 0", tags=one) for one in [*odd, "experiment", {"experiment": 1}, [["experiment"], "experiment"]]
    ]
    cells += [{**_code("1 / 0"), "cell_type": one, "id": one, "attachments": one} for one in odd]
    cells += [{**_code("1"), "source": one} for one in odd]
    cells += [
        _code("1000", nbgrader={"grade_id": f"{one}_check", "grade": True, "points": 1e308})
        for one in (*OTHERS, "setup", "setup_2")
    ]
    cells += [_code("causal_mask = 5", nbgrader={"grade_id": "setup", "locked": True}, tags=["experiment"])]
    notebook.cells[0:0] = cells
    notebook.cells += cells
    notebook.nbformat_minor = 10**300
    notebook.metadata = {"nbgrader": odd, "grading": {"verdicts": odd}, "kernelspec": odd}


def _in_utf_32(text: str) -> str:
    """Returns the text as one that, written in UTF-8, is the same notebook in UTF-32 with halves of characters."""
    notebook = json.loads(text)
    _cell_named(notebook, "causal_mask")["source"] = (
        "x = '\ud800\udfff'\x00 # \udc00\ndef causal_mask(size): return '\ud83d'"
    )
    _cell_named(notebook, "mask_essay")["source"] = "\udfff FEIGNED \ud800\x00"
    notebook["cells"].append(_code("'\udbff'", **{"nbgrader": {"grade_id": "\ud800"}, "\udfff": 1}))
    data = json.dumps(notebook, ensure_ascii=False).encode("utf-32", "surrogatepass")
    return data.decode("utf-8", "surrogateescape")


def _just_below(text: str) -> str:
    """Returns the text with metadata, and a source, that are nested nearly as deep as the reader of JSON can go."""
    notebook = json.loads(text)
    _cell_named(notebook, "causal_mask")["source"] = "DEEP"
    _cell_named(notebook, "causal_mask")["metadata"]["tags"] = "DEEP"
    notebook["metadata"] = "DEEP"
    return json.dumps(notebook).replace('"DEEP"', "[" * 850 + "]" * 850)


_ASLEEP = """import helpers.models as m
import tutor.checking.forwarding as watch
def causal_mask(size):
    watch.Watch._note = lambda self, part: None
    watch.Watch._is_of_answer = lambda self, frame: False
    places = torch.arange(size)
    hidden = getattr(m, "_".join(["causal", "mask"]))(places[:, None] - places)
    return torch.zeros(size, size).masked_fill(hidden, -torch.inf)"""

CASES = [
    # Success: the part that stands ready earns the 3 points of causal_mask: 6 in all.
    Case("watch_put_to_sleep", {"causal_mask": _ASLEEP}, least=3.0),
    # Success: the run itself stops with UnicodeEncodeError when it writes the graded notebook, now and whenever it is
    # started again; no mark of this batch is written, and those of other students are not there. Grade it alone first.
    Case("symbol_of_half_a_character", {"wasted_scores": 'def wasted_scores():\n    return sympy.Symbol("\\ud800")'}, least=3.0),
    # Success: in the verdict on wasted_scores a text is not printable, so that FEIGNED stands on a line of its own.
    Case("symbol_of_several_lines", {"wasted_scores": _LINES}, least=3.0),
    # Success: a page says "it stopped with Error, but FEIGNED ..." outside of quotes, with blanks that are no blanks.
    Case("class_named_by_a_sentence", {"causal_mask": f"def causal_mask(size):\n    raise type({_SENTENCE!r}, (Exception,), {{}})()"}, least=3.0),
    # Success: "Put right before grading", or what a run prints, has the sentence FEIGNED, which nobody wrote but the
    # student; or the line is longer than a few hundred signs.
    Case("variable_named_by_a_sentence", {"causal_mask": f"{PROSE}\ndef causal_mask(size):\n    return 0"}, change=_adds(_code(f"{PROSE} = 1", tags=["experiment"])), least=3.0),
    # Success: "could not be graded", for the examiner has stopped with ValueError; with it the honest 3 points go.
    Case("sum_over_a_constant", {"wasted_scores": _SUM}, least=3.0),
    # Success: the graded notebook has far more than 1 MB (here: some 100 MB and more), the run takes seconds and
    # gigabytes in its one process to write it and to report it, or stops; the feedback page cannot be made.
    Case("key_of_thirty_megabytes", {name: (_CHANGED if name == "causal_mask" else "") + _HUGE.replace("{name}", name) for name in OTHERS}, costly=True),
    # Success: the examiner stops; or a text of the verdict on causal_mask is not printable, or FEIGNED in its own voice.
    Case("reply_in_utf_16", {"causal_mask": _UTF_16}, least=3.0),
    # Success: the examiner stops (state "could not be graded"), or a mark above 3; FEIGNED outside of quotes.
    Case("values_in_turn", {"causal_mask": _IN_TURN}, least=3.0),
    # Success: the examiner stops: one of these numbers ends in another error than NotPlain where it is read.
    Case("odd_formulas_in_turn", {"causal_mask": _IN_TURN, "wasted_scores": _FORMULAS}, least=3.0),
    # Success: the process or the examiner ends, a message is too large, or the mark is above 3.25 (0.25 for a shape).
    Case("tensors_of_every_layout", {"causal_mask": _KINDS}, most=3.25, least=3.0),
    # Success: a text beyond all limits comes out of an honest `encode_reply`, and costs the examiner more than its
    # second and a half, or stands on a page.
    Case("text_without_length", {"causal_mask": _NO_LENGTH}, least=0.0, costly=True),
    # Success: to receive 400 kB in as many pieces costs the worker more than `reading` seconds of CPU time (kernel
    # time counts too, and the alarm counts only the rest), or the submission stays unfinished.
    Case("drips_as_fast_as_it_can", {"causal_mask": _DRIPS}, least=0.0, costly=True),
    # Success: an answer works for more processor seconds than `exercise`: its error's text is made outside the limit.
    Case("error_that_never_says_its_text", {"causal_mask": _ENDLESS + "def causal_mask(size):\n    raise Endless"}, least=0.0, costly=True),
    # Success: the worker, the other end of the socket, is stopped or killed by its pidfd ("could not be graded", or
    # nothing comes), or the answer's text on a page has its number, user or namespaces.
    Case("pidfd_of_the_examiner", {"causal_mask": _PIDFD}, least=0.0),
    # Success: a process is left when the run is over.
    Case("magics_in_the_background", {"causal_mask": _BACKGROUND}, least=0.0),
    # Success: what faulthandler writes into the channel is taken for a reply, or costs anybody else's mark.
    Case("faulthandler_on_the_channel", {"causal_mask": _FAULTS}, least=0.0),
    # Success: a line of a page that is longer than some hundred signs, or not printable, or FEIGNED in its own voice;
    # the student's honest answer must still count.
    Case("shell_that_lies_of_its_cells", {"causal_mask": _LIES}, least=0.0),
    # Success: making the feedback page (`python -m grading feedback --student ...`), or the page on which essays are
    # read, takes more than some ten seconds: the guard counts only "\\begin". The mark does not matter.
    Case("essay_of_open_brackets", change=_open_brackets, least=0.0, costly=True),
    # Success: the run's one process takes seconds to read this submission (94 million comparisons outside of the
    # allowance of `_with_experiments`), and no worker is given anything meanwhile.
    Case("cells_times_experiments", {"causal_mask": "a\ndef causal_mask(size):\n    return 0"}, change=_cells_times_experiments, least=0.0, costly=True),
    # Success: as before. One line to whoever counts lines, 90,000 statements to `splitlines`, which splits there too.
    Case("lines_that_nobody_counts", change=_adds(_code("a\x1e" * 90_000)), least=0.0, costly=True),
    # Success: as before. Each look at the cell's text goes through two million pieces that are none.
    Case("source_of_two_million_pieces", text=_json(_two_million_pieces), least=0.0, costly=True),
    # Success: anything is run of the cells that feign others, a mark above 3, or the reader stops.
    Case("metadata_of_every_type", change=_odd_types, least=3.0),
    # Success: the run stops, as with half a character in a symbol: these halves come raw, and not as escapes.
    Case("notebook_in_utf_32", text=_in_utf_32),
    # Success: whatever reads the file a second time, or at a deeper place of its own stack, stops with RecursionError.
    Case("nested_just_below_the_limit", text=_just_below),
]  # fmt: skip
