"""What the source of a cell shows of slips: found where that is certain, put right where it can mean one thing only."""

import ast
import textwrap

import pytest
import torch

from tests.tutor.checking import verdict
from tests.tutor.test_stuck import Cells, run  # noqa: F401 - a fixture
from tutor.checking import model_probes, plain, slips

STUB = 'raise NotImplementedError("Replace this line by your answer")'
LINE = "return torch.triu(torch.full((size, size), -torch.inf), 1)"
RIGHT = f"def causal_mask(size):\n    {LINE}\n"

# A function, and whether the line of the released cell stands above an answer in it.
ABOVE = {
    "a line below": f"def f(size):\n    {STUB}\n    {LINE}",
    "behind the docstring": f'def f(size):\n    """One.\n\n    Two.\n    """\n    {STUB}\n    {LINE}',
    "without a call": f"def f(size):\n    raise NotImplementedError\n    {LINE}",
    "without its text": f"def f(size):\n    raise NotImplementedError()\n    {LINE}",
    "lines above and below": f"def f(size):\n    n = size\n    {STUB}\n    n += 1\n    {LINE}",
    "twice": f"def f(size):\n    {STUB}\n    {STUB}\n    {LINE}",
    "on one line": f"def f(size):\n    {STUB}; {LINE}",
    "on several lines": f"def f(size):\n    raise NotImplementedError(\n        'Replace this line by your answer'\n    )\n    {LINE}",
    "a method": f"class F:\n    def __init__(self):\n        self.n = 1\n    def forward(self, size):\n        {STUB}\n        {LINE}",
    "a nested function": f"def g():\n    def f(size):\n        {STUB}\n        {LINE}\n    return f",
    "within with": f"def f(size):\n    with torch.no_grad():\n        {STUB}\n        {LINE}",
    "beside a magic": f"%matplotlib inline\ndef f(size):\n    {STUB}\n    {LINE}",
    "behind an accent": f"def f(size):\n    é = 'é'; {STUB}; {LINE}",
}  # fmt: skip
NOT_ABOVE = {
    "a stub": f"def f(size):\n    {STUB}",
    "a stub with pass": f"def f(size):\n    {STUB}\n    pass",
    "a stub with a text": f"def f(size):\n    {STUB}\n    'to do'",
    "a stub twice": f"def f(size):\n    {STUB}\n    raise NotImplementedError",
    "below": f"def f(size):\n    {LINE}\n    {STUB}",
    "in a branch": f"def f(size):\n    if size < 0:\n        raise NotImplementedError\n    {LINE}",
    "in a branch, above": f"def f(size):\n    if size < 0:\n        raise NotImplementedError\n        size = 1\n    {LINE}",
    "in its own words": f"def f(size):\n    raise NotImplementedError('no such size')\n    {LINE}",
    "another error": f"def f(size):\n    raise ValueError\n    {LINE}",
    "a generator that is none": "def f():\n    raise NotImplementedError\n    yield",
    "in a text": f"TEXT = '''\ndef f(size):\n    {STUB}\n    {LINE}\n'''",
    "no Python": f"def f(size:\n    {STUB}\n    {LINE}",
}


@pytest.mark.parametrize("name", ABOVE)
def test_the_released_line_above_an_answer_is_found_and_does_nothing(name: str) -> None:
    source = ABOVE[name]
    assert slips.raised_above(source)
    made = slips.without_raise_above(source)
    assert not slips.raised_above(made)
    assert "NotImplementedError" not in made
    assert len(made.splitlines()) == len(source.splitlines())
    assert made.replace("pass", "").split()[-1] == source.split()[-1]


@pytest.mark.parametrize("name", NOT_ABOVE)
def test_elsewhere_the_line_is_no_slip(name: str) -> None:
    assert not slips.raised_above(NOT_ABOVE[name])
    assert slips.without_raise_above(NOT_ABOVE[name]) == NOT_ABOVE[name]


def test_a_check_says_that_the_line_still_stands_there(run: Cells) -> None:  # noqa: F811
    for source in (ABOVE["a line below"], ABOVE["behind the docstring"], ABOVE["without a call"]):
        (shown,) = run(source.replace("def f", "def causal_mask"), "check(causal_mask)")[1:]
        assert shown.startswith("causal_mask: not yet right - 0 of 3 points so far")
        assert slips.RAISED_ABOVE in shown
        assert "still to be written" not in shown
    (shown,) = run(NOT_ABOVE["a stub"].replace("def f", "def causal_mask"), "check(causal_mask)")[1:]
    assert "not attempted yet" in shown


def test_a_cell_that_needs_such_an_answer_says_it(run: Cells) -> None:  # noqa: F811
    (shown,) = run(ABOVE["a line below"].replace("def f", "def causal_mask"), "causal_mask(2)")[1:]
    assert shown == f"Not yet: this cell needs your `causal_mask`, and there {slips.RAISED_ABOVE}."


def test_a_check_says_it_of_one_method_among_others(run: Cells) -> None:  # noqa: F811
    source = (
        "from torch import nn\nclass RMSNorm(nn.Module):\n    def __init__(self, d_model, eps=1e-6):\n"
        "        super().__init__()\n        self.eps, self.weight = eps, nn.Parameter(torch.ones(d_model))\n"
        f"    def forward(self, x):\n        {STUB}\n        return x * self.weight"
    )
    (shown,) = run(source, "check(RMSNorm)")[1:]
    assert slips.RAISED_ABOVE in shown


# --- what Python cannot read ------------------------------------------------------------------------------------------

MENDED = {
    "a fence": (f"```python\n{RIGHT}```", slips.CHAT),
    "a fence that is indented": (textwrap.indent(f"```python\n{RIGHT}```", "    "), slips.CHAT),
    "a fence without a word": (f"```\n{RIGHT}\n```\n", slips.CHAT),
    "a fence that is not closed": (f"```py\n{RIGHT}", slips.CHAT),
    "the end of a fence": (f"{RIGHT}```", slips.CHAT),
    "tildes": (f"~~~python\n{RIGHT}~~~", slips.CHAT),
    "a chat": (f"Sure! Here's the function:\n\n```python\n{RIGHT}```\n\nIt blocks what comes later. Let me know!", slips.CHAT),
    "a chat without a fence": (f"Here is the function you asked for:\n\n{RIGHT}\nThis works since row i is the token that looks.", slips.CHAT),
    "a list in a chat": (f"```\n{RIGHT}```\n- **triu** keeps the upper part\n- `full` fills it", slips.CHAT),
    "a zero-width space": (RIGHT.replace("return ", "return \u200b"), slips.SIGNS),
    "one within a name": (RIGHT.replace("torch.triu", "torch.tr\u200biu"), slips.SIGNS),
    "one before all": (f"\ufeff\u200b{RIGHT}", slips.SIGNS),
    "joiners and marks": (RIGHT.replace("(size, size)", "(\u2060size,\u200e size\u00ad)"), slips.SIGNS),
    "fixed spaces": (RIGHT.replace("    ", "\u00a0\u00a0\u00a0\u00a0"), slips.SIGNS),
    "wide spaces": (RIGHT.replace(", 1", ",\u30001"), slips.SIGNS),
    "quotation marks": (RIGHT.replace("-torch.inf", "float(\u201c-inf\u201d)"), slips.SIGNS),
    "single ones": (RIGHT.replace("-torch.inf", "float(\u2018-inf\u2019)"), slips.SIGNS),
    "French ones": (RIGHT.replace("-torch.inf", "float(\u00ab-inf\u00bb)"), slips.SIGNS),
    "a real minus": (RIGHT.replace("-torch", "\u2212torch"), slips.SIGNS),
    "wide brackets": (RIGHT.replace("(size, size)", "\uff08size\uff0c size\uff09"), slips.SIGNS),
    "tabs and spaces": (f"def causal_mask(size):\n    mask = 1\n\t{LINE}", slips.TABS),
    "tabs in a class": ("class A:\n    def f(self):\n\tpass\n    def g(self):\n        return 1", slips.TABS),
}  # fmt: skip
LEFT = {
    "no Python": "def causal_mask(size:\n    return 1",
    "a sentence in small letters": f"here is the function\n{RIGHT}",
    "a broken line": f"X = torch.ones(3 3) of all\n{RIGHT}",
    "two meanings": "def f(x):\n    if x:\n        x = 1\n\tx = 2\n    return x",
    "half a quotation": "x = \u201cabc\n",
    "prose alone": "Here is how I would do it: I look at each row.",
}


@pytest.mark.parametrize("name", MENDED)
def test_what_python_cannot_read_is_read_as_it_was_meant(name: str) -> None:
    source, slip = MENDED[name]
    with pytest.raises(SyntaxError):
        ast.parse(source)
    made, found = slips.mended(source)
    assert found == (slip,)
    tree = ast.parse(made)
    if slip != slips.TABS:
        wanted = ast.dump(ast.parse(RIGHT))
        plain = made.replace("float('-inf')", "-torch.inf").replace('float("-inf")', "-torch.inf")
        assert ast.dump(ast.parse(plain)) == wanted
    assert tree.body


@pytest.mark.parametrize("name", LEFT)
def test_what_may_mean_several_things_stays_as_it_is(name: str) -> None:
    assert slips.mended(LEFT[name]) == (LEFT[name], ())


def test_what_python_reads_and_what_stands_in_texts_stays_as_it_is() -> None:
    for source in ("x = '\u201chi\u201d\u200b'", "```", RIGHT, "x = 1 # \u2019\u200b", "%%bash\n\u201cx\u201d", ""):
        assert slips.mended(source)[0] == source
    text = 'name = "don\u2019t \u200b \u2013"\nother =\u200b 2'
    assert slips.mended(text) == (text.replace("=\u200b", "="), (slips.SIGNS,))


def test_of_several_slips_all_are_named() -> None:
    source = f"```python\ndef causal_mask(size):\n    size =\u200b size\n\t{LINE}\n```"
    made, found = slips.mended(source)
    assert found == (slips.CHAT, slips.SIGNS, slips.TABS)
    assert ast.parse(made).body


# --- what grading has not ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "asks"),
    [
        ("def f(x): return x.cuda()", True),
        ("def f(x): return x.to('cuda')", True),
        ("def f(x): return x.to('cuda:0', torch.float32)", True),
        ("def f(x): return torch.zeros(3, device='mps')", True),
        ("device = torch.device('cuda')", True),
        ("def f(x): return x.to(device='xpu')", True),
        ("def f(x): return x.cuda() if torch.cuda.is_available() else x", False),
        ("def f(x): return x.to(x.device)", False),
        ("def f(x): return x.to('cpu')", False),
        ("def f(x): return 'cuda'", False),
        ("def f(x: ", False),
    ],
)
def test_asking_for_a_gpu_is_seen(source: str, asks: bool) -> None:
    assert slips.asks_for_gpu(source) is asks


@pytest.mark.parametrize(
    "message",
    [
        "AssertionError: Torch not compiled with CUDA enabled",
        "RuntimeError: Found no NVIDIA driver on your system.",
        "RuntimeError: PyTorch is not linked with support for mps devices",
    ],
)
def test_a_crash_for_want_of_a_gpu_says_so(message: str) -> None:
    kind, _, text = message.partition(": ")

    def causal_mask(size: int) -> None:
        raise {"AssertionError": AssertionError, "RuntimeError": RuntimeError}[kind](text)

    shown = str(verdict(causal_mask))
    assert f"This looks like: {slips.NO_GPU}. {slips.WITHOUT_GPU}" in shown


def test_packages_are_those_of_a_cell() -> None:
    source = "import einops, numpy as np\nfrom jaxtyping import Float\ndef f():\n    import seaborn.objects\n    from . import x"
    assert slips.packages(source) == {"einops", "numpy", "jaxtyping", "seaborn"}


ARANGE = "`torch.arange` makes a tensor on the CPU, and inputs stand elsewhere"


@pytest.mark.parametrize(
    ("source", "mend"),
    [
        ("def f(x):\n    n = x.shape[0]\n    return torch.arange(n) + x", "`torch.arange(n, device=x.device)`"),
        ("def f(n, tokens: Tensor):\n    return torch.arange(n)", "`torch.arange(n, device=tokens.device)`"),
        (
            "class F:\n  def forward(self, y):\n    return torch.arange(y.size(1))",
            "`torch.arange(y.size(1), device=y.device)`",
        ),
        (
            "def f(x):\n    return torch.arange(3, dtype=torch.long)",
            "`torch.arange(3, dtype=torch.long, device=x.device)`",
        ),
    ],
)
def test_a_tensor_on_the_cpu_is_named_with_its_line_and_the_mend(source: str, mend: str) -> None:
    made = slips.with_place_on_cpu(ARANGE, source)
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "arange" in text)
    assert made.startswith(f"{ARANGE}. Line {line} of the cell: in place of `torch.arange(")
    assert made.endswith(f"write {mend}")


@pytest.mark.parametrize(
    "source",
    ["def f(x):\n    return torch.arange(3, device=x.device)", "def f(x):\n    return torch.ones(3)", "def f(x:"],
)
def test_without_such_a_line_the_sentence_stays(source: str) -> None:
    assert slips.with_place_on_cpu(ARANGE, source) == ARANGE
    assert slips.with_place_on_cpu("it stopped", "def f(x): return torch.arange(3)") == "it stopped"


NORM = (
    "from torch import nn\nclass RMSNorm(nn.Module):\n    def __init__(self, d_model, eps=1e-6):\n"
    "        super().__init__()\n        self.eps, self.weight = eps, nn.Parameter(torch.ones(d_model))\n"
    "    def forward(self, x):\n        {}\n"
    "        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps + more) * self.weight"
)


def test_a_check_names_the_line_that_makes_a_tensor_on_the_cpu(run: Cells) -> None:  # noqa: F811
    (shown,) = run(NORM.format("more = torch.zeros(x.shape[-1])"), "check(RMSNorm)")[1:]
    mend = "in place of `torch.zeros(x.shape[-1])` write `torch.zeros(x.shape[-1], device=x.device)`"
    assert f"Line 7 of the cell: {mend}" in shown


def test_a_check_on_a_gpu_says_that_grading_has_none(run: Cells, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.Tensor, "cuda", lambda self, *inputs: self)
    for source, asks in ((RIGHT.replace(", 1)", ", 1).cuda()"), True), (RIGHT, False)):
        (shown,) = run(source, "check(causal_mask)")[1:]
        assert (slips.NO_GPU in shown) is asks
        assert ("all checks passed" in shown) is not asks


# --- what a check is given --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("causal_mask(3)", "give check the function itself, without calling it: check(causal_mask). This is what it"),
        ("causal_mask(size=3)[0]", "give check the function itself, without calling it: check(causal_mask). This is"),
        ("'causal_mask'", "give check the function itself, without as a text: check(causal_mask)"),
        ("causal_mask(3), 'causal_mask'", "give check the function itself, without calling it: check(causal_mask)"),
        ("None", "give check the function itself, without calling it: check("),
        ("RMSNorm(4)", "give check the class itself, without calling it: check(RMSNorm)"),
        ("my_mask", "no exercise is called 'my_mask'; expected one of: "),
    ],
)
def test_a_check_of_what_is_no_answer_says_what_to_give(run: Cells, given: str, sentence: str) -> None:  # noqa: F811
    cells = [RIGHT, NORM.format("more = 0"), "def my_mask(size): return 1", f"check({given})"]
    shown = run(*cells)[-1]
    assert sentence.replace("without as", "not its name as") in shown
    assert "Traceback" not in shown
    assert len(shown) < 250


def test_of_two_tensors_in_a_tuple_the_entry_that_differs_is_shown() -> None:
    was, now = torch.linspace(0, 1, 60).reshape(1, 2, 30), torch.linspace(0, 1, 60).reshape(1, 2, 30)
    now[0, 1, 7] = 5
    before, after = ({("[0]", "entries"): plain.encode((torch.ones(2), one))} for one in (was, now))
    sentence = model_probes.change_in_words("cache", before, after)
    assert sentence == "`cache[0][1][0, 1, 7]` was 0.627119 and is 5 now"


DEEP = f"x = {'-' * 900}1\n"


@pytest.mark.parametrize(
    "source",
    [
        "\u201c" * 15_000,
        "'''\"\"\"" * 3_000,
        "(" * 15_000,
        "\t \n" * 6_000,
        f"def f():\n    if 1:\n        {DEEP}\ty = 2\n    return x",
        f"def f(x):\n    return torch.arange({'-' * 900}1)\n    raise NotImplementedError",
        "```\n" * 5_000,
        "Here is a line of a chat\n" * 800,
        "\ud83d\u200b = 1",
        "\x00",
        f"def f(x):\n{'    raise NotImplementedError' * 500}",
    ],
)
def test_nothing_raises_for_what_a_cell_holds(source: str) -> None:
    made, _ = slips.mended(source)
    slips.without_raise_above(made)
    slips.with_place_on_cpu(ARANGE, source)
    slips.asks_for_gpu(source)
    slips.packages(source)
    assert isinstance(made, str)
