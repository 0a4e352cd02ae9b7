"""What the source of a cell shows of slips: found where that is certain, put right where it can mean one thing only."""

import ast

import pytest

from tests.tutor.checking import verdict
from tests.tutor.test_stuck import Cells, run  # noqa: F401 - a fixture
from tutor.checking import slips

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


def test_a_check_says_it_of_one_method_among_others(run: Cells) -> None:  # noqa: F811
    source = (
        "from torch import nn\nclass RMSNorm(nn.Module):\n    def __init__(self, d_model, eps=1e-5):\n"
        "        super().__init__()\n        self.eps, self.weight = eps, nn.Parameter(torch.ones(d_model))\n"
        f"    def forward(self, x):\n        {STUB}\n        return x * self.weight"
    )
    (shown,) = run(source, "check(RMSNorm)")[1:]
    assert slips.RAISED_ABOVE in shown


# --- what Python cannot read ------------------------------------------------------------------------------------------

MENDED = {
    "a fence": (f"```python\n{RIGHT}```", slips.CHAT),
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
