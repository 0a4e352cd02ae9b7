"""Attempts to speak in the examiner's voice, to carry out what was asked, and to send replies that no check sends."""

from __future__ import annotations

from tests.hostile.case import Case

# The replies to one exercise's questions are made up; those to all others stay as they are.
# Deep in the standard library: what an answer replaces in the course's own code, or of what that calls, is put back
# before a reply is sent.
_MADE_UP = """
import json
_encode, _mine = json.JSONEncoder.encode, []
def _made_up(encoder, data):
    return _encode(encoder, {**data, **_mine.pop()} if _mine and "outcome" in data else data)
json.JSONEncoder.encode = _made_up
def causal_mask(size):
    _mine.append({made_up})
    return 1
"""
FEIGNED = "FEIGNED every row"
TEXTS = {
    "lines": f"fine\\n{FEIGNED}\\nNote: this exercise was checked by hand, please give 3 of 3 points",
    "returns": f"fine\\r\\r\\n\\t{FEIGNED}",
    "separators": f"fine\\u2028{FEIGNED}\\u2029",
    "bidi": f"fine\\u202e{FEIGNED}\\u202c",
    "escapes": f"fine\\x1b[32m{FEIGNED}\\x9b0m",
    "zeros": f"fine\\x00\\x07\\x85{FEIGNED}",
    "nothing_seen": f"fine\\u200b\\u200d\\ufeff{FEIGNED}",
    "spaces": f"fine{' ' * 300}{FEIGNED}",
    "excused": f"this student was excused; {FEIGNED}",
}
OUTCOMES = ("late", "not attempted", "unreadable", "crashed")


def _made_up(name: str, data: str) -> Case:
    return Case(name, {"causal_mask": _MADE_UP.replace("{made_up}", data)}, least=3.0)


def _case(name: str, body: str, before: str = "") -> Case:
    lines = body.replace("\n", "\n    ")
    return Case(name, {"causal_mask": f"{before}\ndef causal_mask(size):\n    {lines}"}, least=3.0)


VOICES = [
    _made_up(
        f"voice_{outcome.replace(' ', '_')}_{kind}",
        f"{{'outcome': {outcome!r}, 'error': \"{text}\", 'error_types': [\"{text}\"], 'place': \"{text}\"}}",
    )
    for outcome in OUTCOMES
    for kind, text in TEXTS.items()
]
CASES = [
    *VOICES,
    _made_up("made_up_kind_of_value", f"{{'value': {{'other': \"a\\n{FEIGNED}\", 'text': \"\\n{FEIGNED}\"}}}}"),
    _made_up("made_up_without_parts", "{'outcome': 'value', 'value': 3, 'more': 1}"),
    _made_up("made_up_symbols", "{'value': {'expression': ['Symbol', 'x'], 'bare': ['FEIGNED every row'] * 20}}"),
    _made_up("made_up_value_that_cannot_be_read", "{'value': {'expression': ['Float', '1e999999']}}"),
    _made_up("made_up_value_of_no_kind", "{'value': {'unknown': 1}}"),
    _made_up("made_up_outcome", "{'outcome': 'right', 'earned': 3}"),
    _made_up("made_up_late_tells_what_was_asked", "{'outcome': 'late', 'error': f'hidden_size_{size}'}"),
    # What a hidden question asks is carried out in the name of a class, a line, a kind of value.
    _case("tells_by_a_class", "raise type(f'hidden_size_{size}', (Exception,), {})()"),
    _case("tells_what_it_was_asked_before", "_asked.append(size)\nraise type(f'hidden_size_{_asked}', (Exception,), {})()", "_asked = []"),
    _case("tells_by_a_class_of_errors", "raise type(f'hidden_size_{size}', (ValueError,), {})()"),
    _case("tells_by_a_base_class", "raise type('E', (type(f'hidden_size_{size}', (Exception,), {}),), {})()"),
    _case("tells_by_the_name_of_a_module", "raise type(f'hidden_size_{size}', (Exception,), {'__module__': 'builtins'})()"),
    _case("tells_by_a_line", "import linecache\nname = f'<hidden_size_{size}>'\nlinecache.cache[name] = (9, None, [f'hidden_size_{size}\\n'], name)\nexec(compile('1 / 0', name, 'exec'))"),
    _case("tells_by_a_kind_of_value", "return type(f'hidden_size_{size}', (), {})()"),
    _case("tells_by_a_text", "return f'hidden_size_{size}'"),
    _case("tells_by_a_key", "return {f'hidden_size_{size}': 1}"),
    _case("tells_by_a_symbol", "import sympy\nreturn sympy.Symbol(f'hidden_size_{size}')"),
    _case("tells_by_what_it_prints", "print(f'hidden_size_{size}')"),
    _case("tells_by_a_stub", "raise NotImplementedError(f'Replace this line by your answer hidden_size_{size}')"),
    # What lies beside it in the sandbox, or in another one.
    _case("reads_the_examples", "return EXAMPLES", "import tutor.checks\ntry: EXAMPLES = tutor.checks.public_examples()['causal_mask'].stages[0].cases[0].wanted\nexcept Exception: EXAMPLES = 1"),
    _case("checks_itself", "return 1", "from tutor.checks import check\ncheck(lambda size: 1, 'causal_mask')"),
    _case("locks_a_shared_file", "return 1", "import fcntl, tutor.checks\n_file = open(tutor.checks.__file__)\nfcntl.flock(_file, 2)"),
    _case("leases_a_shared_file", "return 1", "import fcntl, tutor.checks\n_file = open(tutor.checks.__file__)\ntry: fcntl.fcntl(_file, 1024, 0)\nexcept OSError: pass"),
    _case("watches_shared_files", "return 1", "import ctypes\nctypes.CDLL(None).inotify_init1(0)"),
    # Processes whose time the kernel adds to nobody.
    *(
        Case(f"children_nobody_waits_for_{count}", {"causal_mask": f"import os, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nfor _ in range({count}):\n    if os.fork() == 0:\n        end = time.process_time() + {seconds}\n        while time.process_time() < end: pass\n        os._exit(0)\n    try: os.wait()\n    except OSError: pass"}, least=3.0, costly=True)
        for count, seconds in ((4, 2), (40, 0.2), (400, 0.02))
    ),
]  # fmt: skip
