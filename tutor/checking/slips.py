"""Slips that the source of a cell or an error's text shows, and what of them can be put right. Standard library only.

Source is read, never run, and nothing here raises for what it holds. What is put right is what Python itself refuses,
and what can then mean one thing only.
"""

from __future__ import annotations

import ast
import linecache
import re
import textwrap
import traceback
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence

LONGEST = 20_000  # characters of a cell; the longest one of the course has 3,000
STUB = "Replace this line by your answer"  # what the unanswered cells of a released notebook raise
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
RAISED_ABOVE = "`raise NotImplementedError(...)` still stands above your answer: delete it"  # 80 signs with its indent

NO_GPU = "an answer that asks for a GPU, and grading has none"
WITHOUT_GPU = (
    "Use the device of what is given: `x.device`, and `torch.arange(n, device=x.device)` for what is made anew. "
    '`.cuda()`, `.to("cuda")` and `device="mps"` stop on every computer without one.'
)
WANTS_GPU = re.compile(
    r"not compiled with CUDA|Found no NVIDIA driver|No CUDA GPUs|No HIP GPUs|CUDA driver|on a CUDA device|CUDA error"
    r"|not linked with support for mps|MPS (?:backend|device)|not compiled with XPU|No XPU devices"
    r"|'aten::[\w.]+' with arguments from the '(?:CUDA|MPS|XPU)' backend"
)
GPU_NAME = re.compile(r"(?:cuda|mps|xpu|hip)(?::\d+)?")
ASKS_FIRST = re.compile(r"is_available\(|device_count\(|is_built\(|current_accelerator\(")


def parsed(source: str) -> ast.Module | None:
    """Returns a cell as a tree, None where it is not Python; lines for IPython alone count as lines that do nothing."""
    if len(source) > LONGEST or re.match(r"\s*%%(?!time\b|capture\b|prun\b|debug\b)", source):
        return None
    for text in dict.fromkeys((source, re.sub(r"(?m)^([ \t]*)[%!?][^\n]*", r"\1pass", source))):
        try:
            with warnings.catch_warnings():  # of a text such as "\d", which is no slip of this kind
                warnings.simplefilter("ignore")
                return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


# --- the line of the released cell, left above the answer -------------------------------------------------------------


def raised_above(source: str) -> list[ast.Raise]:
    """Returns the lines of the released cell that stand in a function above code, which is never reached then."""
    tree = parsed(source) if "NotImplementedError" in source else None
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)] if tree else []
    return [one for function in functions for one in _above_code(function.body)]


def _above_code(block: Sequence[ast.stmt]) -> Iterator[ast.Raise]:
    for number, one in enumerate(block):
        if isinstance(one, ast.Raise) and _is_of_stub(one) and any(map(_does_something, block[number + 1 :])):
            yield one
        elif isinstance(one, ast.With):
            yield from _above_code(one.body)


def _is_of_stub(node: ast.Raise) -> bool:
    """Says whether a `raise` is that of a released cell, its text or the call perhaps deleted."""
    raised = node.exc
    if isinstance(raised, ast.Call) and not raised.keywords:
        texts = [part.value if isinstance(part, ast.Constant) else None for part in raised.args]
        if texts and not (isinstance(texts[0], str) and (STUB in texts[0] or not texts[0])):
            return False
        raised = raised.func
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError" and node.cause is None


def _does_something(node: ast.stmt) -> bool:
    """Says whether a statement is part of an answer: no text, no `pass`, no second such line, no bare `yield`."""
    if isinstance(node, ast.Expr):
        is_bare = isinstance(node.value, ast.Yield) and node.value.value is None
        return not (isinstance(node.value, ast.Constant) or is_bare)
    return not (isinstance(node, ast.Pass) or (isinstance(node, ast.Raise) and _is_of_stub(node)))


def is_raised_above(problem: NotImplementedError) -> bool:
    """Says whether the line of a cell that has raised this stands above code of the same function."""
    return any(
        node.lineno <= (frame.lineno or 0) <= (node.end_lineno or 0)
        for frame in traceback.extract_tb(problem.__traceback__)[-1:]
        if is_in_cell(frame)
        for node in raised_above("".join(linecache.getlines(frame.filename)))
    )


def is_in_cell(frame: traceback.FrameSummary) -> bool:
    """Says whether a line of a traceback is one of a notebook's cell."""
    return "ipykernel" in frame.filename or frame.filename.startswith("<")


def without_raise_above(source: str) -> str:
    """Returns a cell in which these lines do nothing; all others stand where they stood."""
    found = raised_above(source)
    if not found:
        return source
    lines = [line.encode() for line in source.split("\n")]
    for node in reversed(found):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        rest = lines[last][node.end_col_offset :]
        lines[first : last + 1] = [lines[first][: node.col_offset] + b"pass" + rest, *[b""] * (last - first)]
    return b"\n".join(lines).decode()


# --- what Python cannot read ------------------------------------------------------------------------------------------

FENCE = re.compile(r"[ \t]*(?:```|~~~)[ \t]*[\w+-]*[ \t]*")
SENTENCE = re.compile(r"(?:(?:[-*>#]+|\d+[.)])\s*)?[*_`]*[A-Z](?!\w*\s*[(.\[])[^=]*")  # a line of a chat
WORDS = re.compile(r"[^\W\d_]+")
TEXT_OR_COMMENT = re.compile(
    r"""'''.*?'''|\"\"\".*?\"\"\"|'(?:\\.|[^'\\\n]){0,1000}'|"(?:\\.|[^"\\\n]){0,1000}"|\#[^\n]*""", re.DOTALL
)
QUOTES = (("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'), ("\u2018\u2019\u201a\u201b\u2032\u00b4", "'"))
QUOTED = [(re.compile(f"[{marks}]([^{marks}{plain}\n]*)[{marks}]"), rf"{plain}\1{plain}") for marks, plain in QUOTES]
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212"

CHAT = "what a chat writes around code"
SIGNS = "signs that nobody sees, or typographic quotation marks and dashes"
TABS = "tabs mixed with spaces"
PLAIN = {CHAT: "without it", SIGNS: "with plain ones", TABS: "with spaces"}  # how a cell is marked that holds such


def mended(source: str) -> tuple[str, tuple[str, ...]]:
    """Returns a cell that Python can read, and what was put right: `CHAT`, `SIGNS`, `TABS`; as it is where nothing can.

    A text in quotation marks that Python knows, and a comment, stay as they are.
    """
    if len(source) > LONGEST or parsed(source) is not None:
        return source, ()
    found = [(source, tuple[str, ...]())]
    steps: list[tuple[str, Callable[[str], list[str]]]] = [
        (CHAT, _without_chat),
        (SIGNS, lambda text: [_with_plain_signs(text)]),
        (TABS, _with_spaces),
    ]
    for name, step in steps:
        found += [(text, (*names, name)) for before, names in found for text in step(before) if text != before]
        readable = [(text, names) for text, names in found if (tree := parsed(text)) is not None and tree.body]
        if readable:
            return readable[0] if name != TABS or _mean_one_thing([text for text, _ in readable]) else (source, ())
    return source, ()


def _mean_one_thing(sources: Sequence[str]) -> bool:
    """Says whether cells that Python can read are the same program."""
    try:
        return len({ast.dump(tree) for source in sources if (tree := parsed(source)) is not None}) == 1
    except RecursionError:  # nested too deeply to be compared
        return False


def _without_chat(source: str) -> list[str]:
    """Returns a cell without fences, without what stands outside of them, and without sentences between the lines."""
    lines = source.split("\n")
    fences = [n for n, line in enumerate(lines) if FENCE.fullmatch(line)]
    found = list[list[str]]()
    if fences:
        found.append([line for line in lines if not FENCE.fullmatch(line)])
        inside = [n for first, last in zip(fences[::2], [*fences[1::2], len(lines)], strict=False)
                  for n in range(first + 1, last)]  # fmt: skip
        found.append([lines[n] for n in inside])
    found.append([line for line in lines if not (FENCE.fullmatch(line) or _is_sentence(line))])
    return [textwrap.dedent("\n".join(kept)) for kept in found]


def _is_sentence(line: str) -> bool:
    """Says whether a line is a sentence in words, and no Python."""
    return SENTENCE.fullmatch(line) is not None and len(WORDS.findall(line)) >= 3 and parsed(line) is None


def _with_plain_signs(source: str) -> str:
    """Returns a cell with signs that Python knows in place of invisible and typographic ones."""
    for pattern, plain in QUOTED:
        source = "".join(part if is_text else pattern.sub(plain, part) for part, is_text in _parts(source))
    return "".join(part if is_text else "".join(map(_plain, part)) for part, is_text in _parts(source))


def _parts(source: str) -> Iterator[tuple[str, bool]]:
    """Yields a cell in parts, and of each whether it is a text or a comment."""
    end = 0
    for found in TEXT_OR_COMMENT.finditer(source):
        yield source[end : found.start()], False
        yield found.group(), True
        end = found.end()
    yield source[end:], False


def _plain(sign: str) -> str:
    """Returns the sign of a program that is meant by another one: none for an invisible one, a space for any space."""
    if sign.isascii():
        return sign
    if sign in DASHES:
        return "-"
    kind = unicodedata.category(sign)
    if kind == "Cf":
        return ""
    if kind == "Zs":
        return " "
    usual = unicodedata.normalize("NFKC", sign)  # such as brackets and commas of full width
    return usual if len(usual) == 1 and usual.isascii() else sign


def _with_spaces(source: str) -> list[str]:
    """Returns a cell with spaces in place of tabs at the beginning of lines, a tab as wide as editors show it."""
    if "\t" not in source:
        return []

    def expanded(size: int) -> str:
        return re.sub(r"(?m)^[ \t]+", lambda found: found.group().expandtabs(size), source)

    return list(dict.fromkeys(map(expanded, (4, 8, 2))))


# --- what grading has not ---------------------------------------------------------------------------------------------


def asks_for_gpu(source: str) -> bool:
    """Says whether source puts something on a GPU, and does not ask anywhere whether there is one."""
    tree = parsed(source) if not ASKS_FIRST.search(source) else None
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree else []
    return any(_is_on_gpu(call) for call in calls)


def _is_on_gpu(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in ("cuda", "xpu") and isinstance(call.func, ast.Attribute):
        return True
    named = [one.value for one in call.keywords if one.arg == "device"]
    given = [*named, *(call.args if name in ("to", "device", "set_default_device") else [])]
    return any(
        isinstance(one, ast.Constant) and isinstance(one.value, str) and GPU_NAME.fullmatch(one.value) is not None
        for one in given
    )


def packages(source: str) -> set[str]:
    """Returns the packages that a cell imports, by their first names."""
    tree = parsed(source)
    found = set[str]()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


MAKERS = {"arange", "zeros", "ones", "full", "empty", "eye", "tensor", "linspace", "rand", "randn", "randint",
          "randperm", "tril_indices", "triu_indices", "as_tensor", "logspace", "normal", "from_numpy"}  # fmt: skip


def made_on_cpu(source: str) -> list[ast.Call]:
    """Returns the calls of a cell's functions that make a tensor without a word on its device, in their order."""
    tree = parsed(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)] if tree else []
    calls = {id(part): part for node in functions for part in ast.walk(node) if isinstance(part, ast.Call)}
    found = [one for one in calls.values() if _makes_on_cpu(one)]
    return sorted(found, key=lambda one: (one.lineno, one.col_offset))


def _makes_on_cpu(call: ast.Call) -> bool:
    function = call.func
    of_torch = isinstance(function, ast.Attribute) and getattr(function.value, "id", "") == "torch"
    known = all(one.arg not in (None, "device") for one in call.keywords)
    return of_torch and isinstance(function, ast.Attribute) and function.attr in MAKERS and known


ON_CPU = re.compile(r"`torch\.(\w+)`(?: makes a tensor on the CPU|; the inputs stand elsewhere)")


def with_place_on_cpu(sentence: str, source: str) -> str:
    """Returns a sentence on a tensor that is made on the CPU with the line of the cell that makes it, and the mend."""
    found = ON_CPU.search(sentence)
    calls = made_on_cpu(source) if found else []
    call = next((one for one in calls if found and getattr(one.func, "attr", "") == found[1]), None)
    if call is None or len(text := _as_text(call)) > 100 or not text.endswith(")"):
        return sentence
    separator = ", " if call.args or call.keywords else ""
    mend = f"{text[:-1]}{separator}device={_input_of(source, call)}.device)"
    return f"{sentence}. Line {call.lineno} of the cell: in place of `{text}` write `{mend}`"


def _as_text(call: ast.Call) -> str:
    try:
        return ast.unparse(call)
    except RecursionError:  # nested too deeply for a sentence
        return ""


def _input_of(source: str, call: ast.Call) -> str:
    """Returns the name of an input that is a tensor, as far as the function around a call shows it; else "x"."""
    tree = parsed(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)] if tree else []
    around = [node for node in functions if node.lineno <= call.lineno <= (node.end_lineno or 0)]
    for function in reversed(around):
        inputs = [one for one in function.args.args if one.arg != "self"]
        annotated = [one.arg for one in inputs if one.annotation and "Tensor" in ast.unparse(one.annotation)]
        used = {
            node.value.id
            for node in ast.walk(function)
            if isinstance(node, ast.Attribute) and node.attr in OF_TENSORS and isinstance(node.value, ast.Name)
        }
        if names := annotated or [one.arg for one in inputs if one.arg in used]:
            return names[0]
    return "x"


OF_TENSORS = {"shape", "size", "dim", "ndim", "device", "dtype", "numel", "view", "reshape", "transpose", "masked_fill",
              "unsqueeze", "float", "new_zeros", "mean", "sum", "clamp", "clone", "T", "mT", "permute"}  # fmt: skip
