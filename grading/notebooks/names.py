"""Which names cells bind and use, and which statements of some cells others need. Standard library only.

Source is read, never run. What cannot be read (a syntax error) binds and uses nothing.
"""

from __future__ import annotations

import ast
import bisect
import builtins
import re
import symtable
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

LONGEST = 200_000  # characters of a cell, or of all together; the longest cell of the course has 3,000
LINES = 20_000  # of all cells together; a notebook of the course has 1,000
STEPS = 200_000  # in which `needed` must find its statements; for a notebook of the course it takes a few hundred
MANY = 20_000  # names that the gradients of a cell may reach, each time anew
LINE_END = re.compile(r"\r\n|\r|\n")  # Python's own: `splitlines` knows others, which may stand in a text
TRAINS = re.compile("train|fit|sweep|learn(?!ing)")
# What a cell may bind or delete variables with, which its statements do not show.
UNCLEAR = re.compile(
    r"^[ \t]*%+(?:reset|reset_selective|xdel|run|load|store|aimport|pylab|macro|edit)\b|get_ipython|import \*"
    r"|\b(?:exec|globals|locals|vars|setattr|delattr|reload)\(",
    re.MULTILINE,
)
# The first words of cells that are not run as Python in the notebook, so that they bind nothing there.
NAMELESS = ("%%writefile", "%%file", "%%bash", "%%sh", "%%script", "%%html", "%%latex", "%%markdown", "%%javascript",
            "%%js", "%%svg", "%%python", "%%perl", "%%ruby", "%%timeit", "#", "%", "!", "?")  # fmt: skip
LOOKS_UP = {"globals", "vars", "locals", "eval", "exec", "getattr"}  # with these, a text may be the name of a variable


@dataclass(frozen=True)
class Statement:
    """A statement at a cell's outermost level: its source, the variables it binds there, those it needs and changes.

    What is changed is bound before: `model` by `model.eval()`, `table` by `table[key] = 1`.
    """

    source: str
    binds: frozenset[str]
    uses: frozenset[str]
    changes: frozenset[str] = frozenset()
    defines: bool = False  # a function or a class


@lru_cache(maxsize=4096)  # all cells of the course, and those that come with each submission
def statements(source: str) -> Sequence[Statement]:
    """Returns the statements of a cell, without comments; none for one that is not Python, or too long to look into."""
    if len(source) > LONGEST or re.match(r"\s*%%(?!time\b|capture\b|prun\b|debug\b)", source):
        return []  # other cell magics do not run their cell as part of the notebook
    source = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in LINE_END.split(source))
    try:
        return _with_gradients([_statement(ast.unparse(node)) for node in ast.parse(source).body])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _with_gradients(cell: list[Statement]) -> list[Statement]:
    """Returns the statements, with `loss.backward()` as one that changes what the cell has made before."""
    before, changed_cell, reached = set[str](), list[Statement](), 0
    for one in cell:
        reached += len(before) if ".backward(" in one.source else 0
        if reached > MANY:  # each takes the names before it once more
            return cell
        changed = before if ".backward(" in one.source and not one.defines else set()
        changed_cell.append(replace(one, changes=one.changes | changed, uses=one.uses | changed))
        before |= one.binds
    return changed_cell


@lru_cache(maxsize=4096)  # `needs_training` asks for a statement again for each variable that needs it
def _statement(source: str) -> Statement:
    (node,) = ast.parse(source).body
    table = symtable.symtable(source, "<cell>", "exec")
    binds = {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}
    handled = {part.name for part in ast.walk(node) if isinstance(part, ast.ExceptHandler) and part.name}
    binds -= handled  # unbound at the end of `except`
    uses = {one.get_name() for one in table.get_symbols() if one.is_referenced()} | _globals_of(table)
    uses -= _bound_before(node)
    texts = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    if uses & LOOKS_UP:
        uses |= {text for text in texts if text.isidentifier()}
    defines = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    changes = set() if defines else {name for part in ast.walk(node) for name in _changed(part)}
    uses |= changes
    return Statement(source, frozenset(binds), frozenset(uses - set(dir(builtins))), frozenset(changes), defines)


def _bound_before(node: ast.stmt) -> set[str]:
    """Returns the variables that a loop or a `with` binds itself, each time, before it uses them: not older values."""
    if not isinstance(node, ast.For | ast.With):
        return set()
    first: set[str] = set()  # used before it is bound
    bound: set[str] = set()
    heads: list[tuple[ast.expr, ast.expr | None]] = [(node.iter, node.target)] if isinstance(node, ast.For) else []
    heads += [(one.context_expr, one.optional_vars) for one in node.items] if isinstance(node, ast.With) else []
    for value, target in heads:
        first |= _loaded(value) - bound
        bound |= _stored(target) if target is not None else set()
    for part in node.body:
        if isinstance(part, ast.For | ast.With):
            own = _bound_before(part)
            first |= _loaded(part) - own - bound
            bound |= own
        elif isinstance(part, ast.Assign | ast.AnnAssign):
            first |= _loaded(part) - bound
            bound |= _stored(part)
        else:
            first |= _loaded(part) - bound
    rest = _loaded(ast.Module(node.orelse, [])) if isinstance(node, ast.For) else set()
    return bound - first - rest


def _loaded(node: ast.AST) -> set[str]:
    """Returns the names that a part reads, deletes or changes in place."""
    read = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Store)}
    return read | {
        one.target.id for one in ast.walk(node) if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)
    }


def _stored(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _changed(node: ast.AST) -> set[str]:
    """Returns the variables that a part of a statement changes, as far as its form shows."""
    if isinstance(node, ast.AugAssign):
        return _roots([node.target])
    if isinstance(node, ast.Assign):
        return _roots(part for target in node.targets for part in ast.walk(target) if not isinstance(part, ast.Name))
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        return _roots([node.value.func])
    if isinstance(node, ast.Call) and TRAINS.search(getattr(node.func, "attr", getattr(node.func, "id", ""))):
        return _roots([*node.args, *(keyword.value for keyword in node.keywords)])
    return set()


def _roots(nodes: Iterable[ast.AST]) -> set[str]:
    """Returns the variables at the beginning of expressions such as `a`, `a.b`, `a[0].b` and `a.get(0).b`."""
    found = set()
    for node in nodes:
        while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
            node = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Name):
            found.add(node.id)
    return found


def _globals_of(table: symtable.SymbolTable) -> set[str]:
    """Returns the global variables that functions and classes inside use."""
    used = set()
    for child in table.get_children():
        used |= {one.get_name() for one in child.get_symbols() if one.is_global() and one.is_referenced()}
        used |= _globals_of(child)
    return used


def bound(sources: Iterable[str]) -> set[str]:
    """Returns the variables that cells bind."""
    return {name for source in sources for one in statements(source) for name in one.binds}


def changed(sources: Iterable[str]) -> set[str]:
    """Returns the variables that cells change without binding them, as `torch.f()` may change `torch`."""
    return {name for source in sources for one in statements(source) for name in one.changes}


def is_unclear(source: str) -> bool:
    """Says whether a cell may bind or delete any variable: it deletes by a magic, or binds what no name here shows."""
    if UNCLEAR.search(source):
        return True
    return bool(source.strip()) and not statements(source) and not source.lstrip().startswith(NAMELESS)


def used(sources: Iterable[str]) -> set[str]:
    """Returns the variables that cells use, in their functions too, but those that the same cell binds before."""
    names = set[str]()
    for source in sources:
        before = set[str]()
        for one in statements(source):
            names |= one.uses - before
            before |= one.binds
    return names


def are_short(sources: Sequence[str]) -> bool:
    """Says whether cells are together short enough to be looked into: who writes them chooses what that costs."""
    if sum(map(len, sources)) > LONGEST:
        return False
    return sum(len(LINE_END.findall(source)) + source.count(";") + 1 for source in sources) <= LINES


def are_few(cells: Sequence[str], wanted: Collection[str]) -> bool:
    """Says whether what each of these variables needs by itself can be looked for in cells, one after the other."""
    return len(wanted) * sum(len(statements(source)) for source in cells) <= STEPS


def needed(cells: Sequence[str], wanted: Iterable[str]) -> list[str]:
    """Returns of each cell the statements that bind the wanted variables, with those that these need in turn.

    Of several that bind a variable the last before its use counts, with those in between that change it. Where that
    takes too long to find out, nothing is needed.
    """
    return ["\n".join(one.source for one in part) for part in _needed(cells, wanted)]


def _needed(cells: Sequence[str], wanted: Iterable[str]) -> list[list[Statement]]:
    flat = [(number, one) for number, cell in enumerate(cells) for one in statements(cell)]
    binding, changing = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for place, (_, one) in enumerate(flat):
        for name in one.binds:
            binding[name].append(place)
        for name in one.changes:
            changing[name].append(place)
    waiting = [(name, len(flat)) for name in wanted]
    seen, chosen, steps = set(waiting), set[int](), 0
    while waiting:
        name, end = waiting.pop()
        if name not in binding:
            continue
        before = bisect.bisect_left(binding[name], end)
        bound_at = binding[name][before - 1]  # the last of all where none stands before
        first, last = bisect.bisect_right(changing[name], bound_at), bisect.bisect_left(changing[name], end)
        for place in (bound_at, *changing[name][first:last]):
            chosen.add(place)
            one = flat[place][1]
            steps += 1 + len(one.uses)
            limit = end if one.defines else place  # a function looks its variables up when it is called
            more = {(used, limit) for used in one.uses} - seen
            seen |= more
            waiting += more
        if steps > STEPS:
            return [[] for _ in cells]
    parts: list[list[Statement]] = [[] for _ in cells]
    for place in sorted(chosen):
        number, one = flat[place]
        parts[number].append(one)
    return parts


def needs_training(cells: Sequence[str], name: str) -> bool:
    """Says whether what a variable needs trains a model when it is run, as far as the names of what it calls show."""
    parts = _with_gradients([_statement(one.source) for part in _needed(cells, [name]) for one in part])
    slow = {name for one in parts for name in one.uses | one.binds if TRAINS.search(name)}
    while more := {name for one in parts if one.defines and one.uses & slow for name in one.binds} - slow:
        slow |= more
    return any(one.uses & slow for one in parts if not one.defines)
