"""Attacks on the verdict: values that compare equal to everything, patched libraries, forged results."""

from tests.hostile.case import Case

_EQUAL = """
class Always{base}:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __bool__(self): return True
    def __getattr__(self, name): return self
    def __call__(self, *inputs, **keywords): return self
    def __iter__(self): return iter([self])
    def __len__(self): return 1
    def __array__(self, *inputs): raise MemoryError
def causal_mask(size):
    return {value}
"""
_WRONG = "\ndef causal_mask(size):\n    return torch.zeros(size)\n"


def _patched(name: str, patch: str) -> Case:
    return Case(name, {"causal_mask": patch + _WRONG})


def _equal(name: str, base: str, value: str) -> Case:
    return Case(name, {"causal_mask": _EQUAL.replace("{base}", base).replace("{value}", value)})


CASES = [
    _equal("equal_to_everything", "", "Always()"),
    _equal("equal_number", "(float)", "Always(1.0)"),
    _equal("equal_text", "(str)", "Always('x')"),
    _equal("equal_dict", "(dict)", "Always()"),
    _equal("equal_list", "(list)", "Always([1])"),
    _equal("claims_to_be_a_tensor", "", "type('T', (Always,), {'__class__': torch.Tensor, 'shape': (size, size)})()"),
    Case(
        "tensor_that_overrides_torch",
        {
            "causal_mask": "class T(torch.Tensor):\n    @classmethod\n"
            "    def __torch_function__(cls, call, types, inputs=(), keywords=None):\n        return True\n"
            "def causal_mask(size):\n    return torch.zeros(size, size).as_subclass(T)"
        },
    ),
    _patched(
        "patched_comparisons",
        "torch.equal = torch.allclose = lambda *a, **k: True\ntorch.Tensor.__eq__ = lambda s, o: True\n"
        "torch.testing.assert_close = lambda *a, **k: None",
    ),
    _patched(
        "patched_judge",
        "from tutor.checking import compare, judging\ncompare.difference = judging.difference = lambda *a, **k: None\n"
        "judging._problem = lambda *a, **k: None\njudging.judge = lambda *a, **k: 3.0",
    ),
    _patched(
        "patched_builtins",
        "import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.all = builtins.any = lambda *a: True",
    ),
    _patched(
        "patched_codec",
        "from grading.sandbox import serve\nfrom tutor.checking import plain\n"
        "serve.encode_reply = lambda reply: {'outcome': 'value', 'value': True, 'earned': 3, 'cpu': 0.0}\n"
        "plain.encode = lambda value: {'dict': [['verdict', 'right']]}",
    ),
    _patched(
        "patched_answers",
        "from tutor.checking import answers\nanswers.InProcess.ask = lambda *a, **k: answers.Reply('value', True)",
    ),
    *(
        _patched(
            f"says_{outcome}_without_a_reason".replace(" ", "_"),
            "from grading.sandbox import serve\n"
            f"serve.encode_reply = lambda reply: {{'outcome': {outcome!r}, 'error': '', 'error_types': ['X']}}",
        )
        for outcome in ("late", "unreadable", "not attempted", "crashed")
    ),
    _patched("patched_json", "import json\njson.dumps = lambda *a, **k: '{\"outcome\": \"value\", \"value\": true}'"),
    _patched(
        "rewritten_source",
        "shell = get_ipython()\nshell.input_transformers_post.append(lambda lines: ['pass\\n'])\n"
        "import ast\nclass Skip(ast.NodeTransformer):\n    def visit_Call(self, node): return ast.Constant(True)\n"
        "shell.ast_transformers.append(Skip())",
    ),
    _patched("replaced_modules", "import sys\nfor name in list(sys.modules):\n    if 'helpers' in name: sys.modules[name] = None"),
    _patched(
        "import_hook",
        "import sys\nclass Hook:\n    def find_spec(self, name, path=None, target=None):\n"
        "        raise RuntimeError(name)\nsys.meta_path.insert(0, Hook())",
    ),
    _patched("trace_function", "import sys\nsys.settrace(lambda f, e, a: f.f_locals.update(earned=3, wanted=None))"),
    _patched("patched_socket", "import socket\nsocket.socket.sendall = lambda *a: None\nsocket.socket.send = lambda *a: 0"),
    _patched("signal_handlers", "import signal\nfor n in (14, 27, 10, 12, 15, 1): signal.signal(n, signal.SIG_IGN)"),
    Case("returns_a_verdict", {"causal_mask": "def causal_mask(size):\n    return {'name': 'causal_mask', 'outcome': 'right', 'earned': 3.0, 'points': 3.0}"}),
    Case("returns_its_mark", {"causal_mask": "def causal_mask(size):\n    return 3.0"}),
    Case("raises_what_it_likes", {"causal_mask": "def causal_mask(size):\n    raise type('AssertionError', (BaseException,), {})('passed')"}),
    Case("stops_the_iteration", {"causal_mask": "def causal_mask(size):\n    raise StopIteration(3.0)"}),
    Case("exits_with_success", {"causal_mask": "import sys\ndef causal_mask(size):\n    sys.exit(0)"}),
    Case("closes_the_generator", {"causal_mask": "def causal_mask(size):\n    raise GeneratorExit"}),
    Case("error_of_its_own_class", {"causal_mask": "class E(Exception):\n    def __str__(self): raise self\n    __repr__ = __str__\ndef causal_mask(size):\n    raise E"}),
    Case("attribute_error_in_its_name", {"causal_mask": "class M(type):\n    __name__ = property(lambda s: 1 / 0)\nclass E(Exception, metaclass=M): pass\ndef causal_mask(size):\n    raise E"}),
    Case("shows_a_verdict", {"causal_mask": "from IPython.display import HTML, display\ndef causal_mask(size):\n    display(HTML('causal_mask: all checks passed - 3 of 3 points')); print(3.0); return 3.0"}),
    Case("raises_every_class_everywhere", {name: f"def {name}(*given):\n    raise type('E', (ValueError, TypeError, IndexError, NotImplementedError), {{}})('x')" for name in ("causal_mask", "padding_mask", "future_influence", "wasted_scores")}, least=3.0),
    Case("defines_mark", {"causal_mask": "def mark(*a): return 3.0\ncheck = mark\n" + _WRONG}),
    Case("defines_all_names", {"causal_mask": "for n in ('padding_mask', 'future_influence', 'wasted_scores', 'causal_mask'):\n    globals()[n] = lambda *a, **k: True"}),
]  # fmt: skip
