"""Replies that no honest process sends: forged, broken, too large, and values that are odd but plain."""

from __future__ import annotations

import base64
import random
from typing import Any

from tests.hostile.case import Case

_FORGE = """
import json, os, socket, struct
_channel = socket.socket(fileno=os.dup(3))
def _say(data, size=None):
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    _channel.sendall(struct.pack(">I", len(raw) if size is None else size) + raw)
def causal_mask(size):
    {action}
    os._exit(0)
"""


def _tensor(dtype: Any, shape: Any, data: Any) -> dict[str, Any]:
    return {"tensor": dtype, "shape": shape, "base64": data}


_FLOAT = base64.b64encode(bytes(4)).decode()
# Each is sent in place of a value. Some are plain and merely odd; the others must be refused, without an error.
VALUES: list[Any] = [
    None, True, 0, -1, 10**18, 1.5, "", "x" * 1000, "\ud800", "\x00", [], {}, [[[[]]]], {"int": "9" * 390},
    {"int": 5}, {"int": "--5"}, {"int": "²"}, {"int": "9" * 5000}, {"float": "nan"}, {"float": "inf"}, {"float": 7},
    {"tuple": [1, [2]]}, {"tuple": 3}, {"set": [[1]]}, {"set": [{"dict": []}]}, {"set": "abc"}, {"dict": [1, 2]},
    {"dict": [[1]]}, {"dict": [[[1], 2]]}, {"dict": [[{"tuple": [[1]]}, 2]]}, {"dict": 5}, {"unknown": 1},
    {"other": "Exercise", "text": "x"}, {"other": "<script>", "text": "<script>"}, {"other": 5},
    {"model": "LanguageModel"}, {"model": "os", "arguments": 5}, {"model": "x", "seed": "y"},
    {"model": "x", "arguments": {"dict": []}, "tie": 5}, {"model": "x", "arguments": {"dict": []}, "noise": "many"},
    _tensor("float32", [1], _FLOAT), _tensor("float32", [2], _FLOAT), _tensor("float32", [-1], _FLOAT),
    _tensor("float32", [True], _FLOAT), _tensor("float32", [1.0], _FLOAT), _tensor("float32", "1", _FLOAT),
    _tensor("float32", [1] * 13, _FLOAT), _tensor("float32", [0], ""), _tensor("float32", [0, 2**31 - 1, 2**31 - 1], ""),
    _tensor("object", [1], _FLOAT), _tensor(None, [1], _FLOAT), _tensor("float32", [1], None),
    _tensor("float32", [1], "%%%"), _tensor("complex64", [0, 0, 0], ""), _tensor("bool", [4], _FLOAT),
    {"tensor": "float32", "shape": [2], "values": ["a", "b"]}, {"tensor": "float32", "shape": [9], "values": [1]},
    {"tensor": "int64", "shape": [1], "values": [1e300]}, {"tensor": "int64", "shape": [1], "values": 3},
    {"expression": []}, {"expression": ["Symbol", "L"]}, {"expression": ["Symbol", "secret"]},
    {"expression": ["Integer", "1.5"]}, {"expression": ["Rational", "1", "0"]}, {"expression": ["Integer", "1" * 400]},
    {"expression": ["Float", "9e99999"]}, {"expression": ["Float", "1e999999"]}, {"expression": ["Float", "nan"]},
    {"expression": ["Undefined", "the expression divides by zero"]}, {"expression": ["Undefined", "<script>"]},
    {"expression": ["Pow", ["Integer", "0"], ["Integer", "-1"]]}, {"expression": ["Lambda", "os.system"]},
]  # fmt: skip


def odd_values(rng: random.Random, count: int) -> list[Any]:
    """Returns encoded values: each of `VALUES`, then combinations of them."""
    made = list(VALUES)
    while len(made) < count:
        part = [rng.choice(VALUES) for _ in range(rng.randrange(4))]
        kind = rng.choice(["list", "tuple", "set", "dict"])
        made.append(part if kind == "list" else {kind: list(zip(part, part, strict=True)) if kind == "dict" else part})
    return made


def odd_replies(rng: random.Random, count: int) -> list[Any]:
    """Returns decoded JSON in place of replies: wrong types in every place, odd values."""
    outcomes: list[Any] = ["value", "crashed", "late", "not attempted", "unreadable", "right", None, 5, [], {}]
    odd: list[Any] = [None, 5, [], {}, "x", ["x"], [5], True, "<b>", "\ud800", "x" * 10_000]
    made: list[Any] = [None, 5, "value", [], {}, {"outcome": "value"}]
    for value in odd_values(rng, count):
        fields = {name: rng.choice(odd) for name in ("error", "error_types", "place", "printed", "changed_inputs")}
        made.append({"outcome": "value", "value": value} | (fields if rng.random() < 0.5 else {}))
    while len(made) < count + 60:
        fields = {name: rng.choice(odd) for name in ("error", "error_types", "place", "printed", "changed_inputs")}
        made.append({"outcome": rng.choice(outcomes), "value": rng.choice(VALUES), **fields})
    return made


def _forged(name: str, action: str, least: float = 3.0) -> Case:
    return Case(name, {"causal_mask": _FORGE.replace("{action}", action)}, least=least)


CASES = [
    _forged("reply_empty", "_say(b'')"),
    _forged("reply_not_json", "_say(b'verdict: right')"),
    _forged("reply_not_a_dict", "_say([1, 2, 3])"),
    _forged("reply_says_right", "_say({'outcome': 'right', 'earned': 3, 'points': 3, 'ok': True, 'cpu': 0.0})", least=0),
    _forged("reply_marks", "[_say({'outcome': 'value', 'value': 3.0, 'cpu': 0.0, 'mark': 3}) for _ in range(20)]", least=0),
    _forged("reply_time_is_nan", "_say(b'{\"outcome\": \"late\", \"cpu\": NaN}')", least=0),
    _forged("reply_time_is_negative", "_say({'outcome': 'late', 'cpu': -1e9})", least=0),
    _forged("reply_time_is_text", "_say({'outcome': 'late', 'cpu': 'none', 'error': ['x'], 'error_types': 5})", least=0),
    _forged("reply_claims_a_huge_size", "_say(b'{}', 2**32 - 1)"),
    _forged("reply_cut_off", "_say(b'{\"outcome\"', 1000)"),
    _forged("reply_deeply_nested", "_say(b'[' * 200000)"),
    _forged("reply_of_too_many_parts", "_say(b'[' + b'{},' * 4000000 + b'{}]')"),
    _forged("reply_of_many_digits", "_say(b'{\"cpu\": ' + b'9' * 1000000 + b'}')"),
    _forged("reply_with_surrogates", "_say({'outcome': 'crashed', 'error': '\\ud800', 'error_types': ['\\ud800']})", least=0),
    _forged("reply_drips", "\n    for _ in range(10**6): _channel.sendall(b'\\0'); import time; time.sleep(0.01)"),
    _forged("reply_with_open_files", "\n    for _ in range(200): socket.send_fds(_channel, [b'\\0\\0\\0\\2{}'], [3] * 200)"),
    _forged("reply_with_urgent_bytes", "\n    for _ in range(3): _channel.send(b'x', socket.MSG_OOB); import time; time.sleep(0.2)"),
    _forged("reply_of_another_program", "os.dup2(3, 1); os.execv('/usr/bin/yes', ['yes', '{}'])"),
    _forged("reply_of_half_a_channel", "_channel.shutdown(socket.SHUT_WR)"),
    Case("replies_from_a_thread", {"causal_mask": _FORGE.split("def causal_mask")[0] + "import threading\ndef _for_ever():\n    while True: _say({'outcome': 'value', 'value': True, 'cpu': 0.0})\nthreading.Thread(target=_for_ever, daemon=True).start()"}, least=0),
    *(
        Case(f"reply_{name}", {"causal_mask": f"from grading.sandbox import serve\n{patch}\ndef causal_mask(size):\n    return torch.zeros(size)"}, least=0)
        for name, patch in {
            "in_place_of_the_next_question": "_next = serve.receive\ndef _skip(channel):\n    asked = _next(channel)\n    if 'ask' not in asked: return asked\n    serve.send(channel, {'outcome': 'value', 'value': True, 'cpu': 0.0})\n    return _next(channel)\nserve.receive = _skip",
            "of_what_was_asked": "_read, _encode = serve.Question.decode, serve.encode_reply\ndef _seen(data):\n    serve.seen = data\n    return _read(data)\nserve.Question.decode = _seen\nserve.encode_reply = lambda reply: {**_encode(reply), 'value': serve.seen.get('inputs')}",
            "that_was_given_before": "_encode, _old = serve.encode_reply, []\ndef _same(reply):\n    _old.append(_encode(reply))\n    return _old[0]\nserve.encode_reply = _same",
        }.items()
    ),
    Case("cell_reply_with_surrogates", {"causal_mask": "raise ValueError('\\ud800 <b>')"}),
    Case("cell_output_of_surrogates", {"causal_mask": "print('\\ud800' * 1000)\ndef causal_mask(size):\n    return '\\udfff'"}),
    Case("value_too_deep", {"causal_mask": "def causal_mask(size):\n    x = []\n    for _ in range(10**5): x = [x]\n    return x"}),
    Case("value_in_a_circle", {"causal_mask": "def causal_mask(size):\n    x = []; x.append(x)\n    return x"}),
    Case("value_too_large", {"causal_mask": "def causal_mask(size):\n    return torch.zeros(3000, 3000)"}),
    Case("value_is_an_endless_generator", {"causal_mask": "import itertools\ndef causal_mask(size):\n    return itertools.count()"}),
    Case("value_is_huge_without_memory", {"causal_mask": "def causal_mask(size):\n    return torch.zeros(1).expand(10**9)"}),
    Case("value_of_a_map_that_is_over", {"causal_mask": "def causal_mask(size):\n    out = []\n    torch.vmap(lambda x: (out.append(x), x)[1])(torch.zeros(size, size))\n    return out[0]"}, least=3.0),
    Case("value_without_numbers", {"causal_mask": "from torch._subclasses import FakeTensorMode\ndef causal_mask(size):\n    with FakeTensorMode(): return torch.zeros(size, size)"}, least=3.0),
    Case("value_whose_memory_is_gone", {"causal_mask": "def causal_mask(size):\n    x = torch.zeros(size, size)\n    x.untyped_storage().resize_(0)\n    return x"}, most=3.5, least=3.0),  # its shape is right
    Case("formula_that_lies", {"wasted_scores": "class Lie(sympy.Symbol):\n    is_Symbol, is_Rational, q = False, True, 1\n    p = property(lambda self: 10 ** 500)\ndef wasted_scores(*given):\n    return Lie('L')"}, least=3.0),
    Case("value_is_a_huge_number", {"causal_mask": "def causal_mask(size):\n    return 7 ** 10**6"}),
]  # fmt: skip
