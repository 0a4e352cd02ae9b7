"""What gets through? Right answers with one slip each: another sign, another number, a line less.

    python -m benchmarks.slips 01                   # the first right answer to each exercise of notebook 01
    python -m benchmarks.slips 01 causal_mask --answers 3
    python -m benchmarks.slips "" --every 20        # all notebooks, one slip of twenty

The bank holds the wrong answers that somebody has thought of; here are a few dozen for each exercise of which nobody
has. Prints a line for each slip that `check` calls right: with its marks if it loses any in grading, which must never
be, and otherwise to be looked at. Most that get through do the same as before (`dim=1` for `dim=-1` of two axes); one
that does not is a hole: put it into the bank. Those are asked all combinations of the corners of the domain
(`grading/definitions/corners.py`), with values that no student and no check has: where one gives another result there,
it is marked, and counted in the table at the end.
"""

import argparse
import ast
import difflib
import itertools
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from grading.authoring import bank
from grading.definitions import catalogue, exercise
from grading.definitions.exercise import Exercise
from tutor.checking.answers import InProcess
from tutor.checking.clock import TooSlow, time_limit
from tutor.checking.judging import Examples, judge
from tutor.checking.verdict import Verdict

SECONDS = 10.0  # for one answer, which may never end
STUDENTS = ("ada", "blaise")
ROUNDS = 2  # of all combinations of corners, asked of what gets through
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Pow: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def slips_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yields what somebody may write in the place of one part of a program."""
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Constant(value=float(value)):
            yield from (ast.Constant(1.5 * value), ast.Constant(0.0))
        case ast.BinOp(left, op, right):
            if other := OPERATORS.get(type(op)):
                yield ast.BinOp(left, other(), right)
            yield from (left, right)
        case ast.Compare(left, [op, *ops], right):
            if turned := COMPARISONS.get(type(op)):
                yield ast.Compare(left, [turned(), *ops], right)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), values)
            yield from values
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.Slice(lower, upper, step):
            yield from (ast.Slice(None, upper, step), ast.Slice(lower, None, step))
        case ast.Call(function, inputs, keywords):
            yield from (ast.Call(function, inputs, keywords[:n] + keywords[n + 1 :]) for n in range(len(keywords)))
            if len(inputs) > 1:
                yield from (ast.Call(function, inputs[::-1], keywords), ast.Call(function, inputs[:-1], keywords))
            if isinstance(function, ast.Attribute):
                yield function.value  # x in place of x.clone()
            elif len(inputs) == 1:
                yield inputs[0]
        case ast.If(_, body, orelse):
            yield from (ast.Pass(), ast.If(ast.Constant(True), body, orelse), ast.If(ast.Constant(False), body, orelse))
        case ast.For(target, things, body, orelse):
            yield from (ast.Pass(), ast.For(target, things, [*body, ast.Break()], orelse))
        case ast.With(_, [alone]):
            yield alone
        case ast.Assign() | ast.AugAssign() | ast.Expr() | ast.Return() | ast.Raise() | ast.With():
            yield ast.Pass()


def with_a_slip(source: str) -> Iterator[str]:
    """Yields a program with one slip each, all different, none as it was."""
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    hints = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    spared = {id(part) for hint in hints if hint for part in ast.walk(hint)}
    for parent in list(ast.walk(tree)):
        for name, value in list(ast.iter_fields(parent)):
            parts = value if isinstance(value, list) else [value]
            for place, part in enumerate(parts):
                for slip in slips_of(part) if isinstance(part, ast.AST) and id(part) not in spared else ():
                    parts[place] = slip
                    setattr(parent, name, parts if isinstance(value, list) else slip)
                    text = ast.unparse(ast.fix_missing_locations(tree))
                    parts[place] = part
                    setattr(parent, name, value)
                    if text not in seen:
                        seen.add(text)
                        yield text


@dataclass
class Count:
    """How many slips were tried, how many got through, and of these gave another result on a corner of the domain."""

    tried: int = 0
    through: int = 0
    changed: int = 0
    lossy: bool = False  # whether one was called right and loses marks

    def row(self, *names: str) -> str:
        """Returns a row of the table."""
        share = 100 * self.changed / max(1, self.tried)
        return f"| {' | '.join(names)} | {self.tried:,} | {self.through:,} | {self.changed:,} | {share:.1f} % |"


def verdicts(answer: bank.BankAnswer, defined: Exercise) -> list[Verdict]:
    """Returns what `check` says of an answer and, if it calls it right, how it is graded."""
    try:
        with time_limit(SECONDS):
            student = InProcess(bank.run(answer))
    except (Exception, TooSlow):  # noqa: BLE001 - whatever is wrong with it: it is seen at once
        return []
    public = judge(_without_mistakes(defined.check_examples()), student, SECONDS)
    if public.outcome != "right":
        return [public]
    return [
        public,
        *(judge(_without_mistakes(defined.variant(one)), student, SECONDS, hidden=True) for one in STUDENTS),
    ]


def _without_mistakes(examples: Examples) -> Examples:
    """Returns examples that know of no mistakes: a name is not needed here, and takes half of the time."""
    stages = (replace(one, cases=tuple(replace(case, mistakes={}) for case in one.cases)) for one in examples.stages)
    return replace(examples, stages=tuple(stages))


def changes_a_corner(answer: bank.BankAnswer) -> bool:
    """Says whether an answer gives another result than the reference on some combination of corners."""
    student = InProcess(bank.run(answer))
    asked = _all_corners(answer.notebook, answer.exercise)
    return judge(asked, student, 10 * SECONDS, hidden=True).outcome != "right"


@cache
def _all_corners(notebook: str, name: str) -> Examples:
    """Returns examples that ask every combination of corners, `ROUNDS` times with other values."""
    defined = exercise.load_one(notebook, name)
    examples = defined.variant("corners")
    rng = random.Random(f"{defined.name}, all corners")
    stages = []
    for stage, stored in zip(defined.stages, examples.stages, strict=False):
        domain = [one for one in defined.domain if one.stage == stage.name]
        asks = [ask for one in domain for _ in range(ROUNDS) for _, ask in one.every(rng)]
        stages.append(replace(stored, cases=(*stored.cases, *defined.cases(stage, asks))))
    return _without_mistakes(replace(examples, stages=(*stages, *examples.stages[len(stages) :])))


def examine(notebook: str, defined: Exercise, count: int, every: int = 1) -> Count:
    """Prints what gets through of the slips in some right answers, and counts them."""
    start, counted = time.process_time(), Count()
    right = [one for one in bank.answers(notebook) if one.exercise == defined.name and one.right]
    for answer in right[:count]:
        if not any(one.outcome == "right" for one in verdicts(answer, defined)):
            sys.exit(f"{notebook} {defined.name}: {answer.label} is called wrong here; mend that first")
        plain = ast.unparse(ast.parse(answer.source)).splitlines()
        for source in itertools.islice(with_a_slip(answer.source), 0, None, every):
            counted.tried += 1
            _, *graded = verdicts(replace(answer, source=source), defined) or [None]  # type: ignore[list-item]
            if not graded:
                continue
            counted.through += 1
            marks = {one.earned for one in graded if one} - {defined.points}
            counted.lossy |= bool(marks)
            other = changes_a_corner(replace(answer, source=source))
            counted.changed += other
            changed = difflib.unified_diff(plain, source.splitlines(), n=0, lineterm="")
            lines = [line.strip("+- ") for line in changed if line[0] in "+-" and not line.startswith(("+++", "---"))]
            summary = f"green, but {marks}" if marks else "full marks"
            print(f"  {summary}{', another result on a corner' if other else ''}: {'  ->  '.join(lines)}", flush=True)
    print(
        f"{notebook} {defined.name}: {counted.through} of {counted.tried} get through, {counted.changed} of these give "
        f"another result on a corner, {time.process_time() - start:.0f} s",
        flush=True,
    )
    return counted


def main() -> None:
    """Examines the chosen exercises."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", help="the start of a notebook's name: 01")
    parser.add_argument("exercise", nargs="?", default="", help="one exercise")
    parser.add_argument("--answers", type=int, default=1, help="how many right answers get slips")
    parser.add_argument("--every", type=int, default=1, help="try one slip of so many")
    options = parser.parse_args()
    rows, total = list[str](), Count()
    for notebook in catalogue.notebooks():
        for name in catalogue.names(notebook) if notebook.startswith(options.notebook) else ():
            if options.exercise in ("", name):
                one = examine(notebook, exercise.load_one(notebook, name), options.answers, options.every)
                rows.append(one.row(notebook[:2], name))
                total = Count(
                    total.tried + one.tried,
                    total.through + one.through,
                    total.changed + one.changed,
                    total.lossy or one.lossy,
                )
    print("\n| notebook | exercise | slips tried | get through | of these another result on a corner | of all |")
    print("|---|---|---|---|---|---|")
    print("\n".join([*rows, total.row("all", "")]))
    sys.exit(total.lossy)


if __name__ == "__main__":
    main()
