"""Does a mark hang on what is drawn? Every answer of the bank, for many students: each must get one mark.

    python -m benchmarks.luck                       # all notebooks, 20 students
    python -m benchmarks.luck 01 --students 5
    python -m benchmarks.luck 01 causal_mask
    python -m benchmarks.luck 14 GPT --slips 1      # what `benchmarks/slips.py` makes of the first right answer, too

`tests/definitions/test_bank.py` asks the same for three students. Prints a line for each answer whose marks differ
between students, or do not fit what the student's own check says: refused there and full marks, called right and less,
more points "so far" than are given; and for each answer of the bank that gets another name. Then a table of the counts.
"""

import argparse
import ast
import itertools
import sys
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace

from benchmarks.slips import with_a_slip
from grading.authoring import bank
from grading.definitions import catalogue, exercise
from grading.definitions.exercise import Exercise
from tests.definitions import more
from tests.definitions.kept import PATIENCE, AskedOnce
from tutor.checking.clock import TooSlow, time_limit
from tutor.checking.judging import Examples, judge
from tutor.checking.verdict import Verdict

SECONDS = 10.0  # for one slip, which may never end


@dataclass
class Count:
    """How many answers were asked, and how many of them each thing was found of."""

    asked: int = 0
    marks_differ: int = 0
    red_and_full: int = 0
    green_and_less: int = 0
    more_so_far: int = 0
    other_name: int = 0

    def add(self, public: Verdict, graded: list[Verdict], answer: bank.BankAnswer | None) -> str:
        """Counts what was found of one answer, which is one of the bank's unless it is a slip; returns it in words."""
        marks, full = {one.earned for one in graded}, public.points
        names = {one.mistake for one in (*graded, public)}
        found = {
            "marks_differ": len(marks) > 1,
            "red_and_full": public.outcome != "right" and full in marks,
            "green_and_less": public.outcome == "right" and marks != {full},
            "more_so_far": public.outcome != "right" and public.earned > min(marks),
            "other_name": answer is not None and not answer.right and names != {answer.mistake},
        }
        self.asked += 1
        for name, is_so in found.items():
            setattr(self, name, getattr(self, name) + is_so)
        if answer is not None and (marks != {full} if answer.right else full in marks and public.outcome == "right"):
            found["right and refused" if answer.right else "wrong and full"] = True
        return ", ".join(name.replace("_", " ") for name, is_so in found.items() if is_so)

    def row(self, *names: str) -> str:
        """Returns a row of the table."""
        return f"| {' | '.join(names)} | {' | '.join(f'{number:,}' for number in astuple(self))} |"


def without_mistakes(examples: Examples) -> Examples:
    """Returns examples that know of no mistakes: of a slip no name is expected, and to find one takes half the time."""
    stages = (
        replace(one, cases=tuple(replace(case, mistakes={}, traces=None) for case in one.cases))
        for one in examples.stages
    )
    return replace(examples, stages=tuple(stages))


def examine(notebook: str, defined: Exercise, students: int, every: int) -> Count:
    """Prints the answers to one exercise that luck has a part in; returns the counts."""
    start, count = time.process_time(), Count()
    check, drawn = defined.check_examples(), [defined.drawn_examples(f"student {n}") for n in range(students)]
    answers = [one for one in bank.answers(notebook) + more.answers(notebook) if one.exercise == defined.name]
    for answer in answers:
        student = AskedOnce(bank.run(answer))
        public = judge(check, student, PATIENCE)
        graded = [judge(examples, student, PATIENCE, hidden=True) for examples in drawn]
        _report(count.add(public, graded, answer), answer.label, public, graded)
    if every:
        check, drawn = without_mistakes(check), list(map(without_mistakes, drawn))
        for label, student in _slips(next(one for one in answers if one.right), every):
            public = judge(check, student, SECONDS)
            if public.outcome != "late":  # nothing hangs on what is drawn, and each student would take as long
                graded = [judge(examples, student, SECONDS, hidden=True) for examples in drawn]
                _report(count.add(public, graded, None), label, public, graded)
    print(f"{notebook} {defined.name}: {count}, {time.process_time() - start:.0f} s", flush=True)
    return count


def _slips(answer: bank.BankAnswer, every: int) -> Iterator[tuple[str, AskedOnce]]:
    """Yields one of so many slips in an answer: its lines that are changed, and the answer to ask."""
    lines = ast.unparse(ast.parse(answer.source)).splitlines()
    for source in itertools.islice(with_a_slip(answer.source), 0, None, every):
        label = next((line.strip() for line in source.splitlines() if line not in lines), "a line less")
        try:
            with time_limit(SECONDS):
                student = AskedOnce(bank.run(replace(answer, source=source)))
        except (Exception, TooSlow):  # noqa: BLE001, S112 - whatever is wrong with it: it is seen at once
            continue
        yield f"slip: {label}", student


def _report(found: str, label: str, public: Verdict, graded: list[Verdict]) -> None:
    if found:
        marks = sorted({one.earned for one in graded})
        names = sorted({one.mistake for one in graded})
        print(f"  {label}: {found}; check {public.earned:g} {public.mistake!r}, {marks} {names}", flush=True)


def main() -> None:
    """Examines the chosen exercises."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", nargs="?", default="", help="the start of a notebook's name: 01")
    parser.add_argument("exercise", nargs="*", help="only these exercises")
    parser.add_argument("--students", type=int, default=20)
    parser.add_argument(
        "--slips", type=int, default=0, metavar="N", help="also one slip of N in the first right answer"
    )
    options = parser.parse_args()
    rows, total = list[str](), Count()
    for notebook in catalogue.notebooks():
        for name in catalogue.names(notebook) if notebook.startswith(options.notebook) else ():
            if not options.exercise or name in options.exercise:
                one = examine(notebook, exercise.load_one(notebook, name), options.students, options.slips)
                rows.append(one.row(notebook[:2], name))
                total = Count(*map(sum, zip(astuple(total), astuple(one), strict=True)))
    names = " | ".join(name.replace("_", " ") for name in vars(total))
    print(f"\n| notebook | exercise | {names} |\n|---|---|{'---|' * len(astuple(total))}")
    print("\n".join([*rows, total.row("all", "")]))
    sys.exit(bool(sum(astuple(total)[1:])))


if __name__ == "__main__":
    main()
