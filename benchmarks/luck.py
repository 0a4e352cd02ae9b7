"""Does a mark hang on what is drawn? Every answer of the bank, for many students: each must get one mark.

    python -m benchmarks.luck                       # all notebooks, 20 students
    python -m benchmarks.luck 01 --students 5
    python -m benchmarks.luck 01 causal_mask

`tests/definitions/test_bank.py` asks the same for three students. Prints a line for each answer that luck has a part
in, for each that the student's own check refuses and grading does not, and for each exercise.
"""

import argparse
import sys
import time

from grading.authoring import bank
from grading.definitions import catalogue, exercise
from grading.definitions.exercise import Exercise
from tests.definitions.kept import PATIENCE, AskedOnce
from tutor.checking.judging import Examples, judge
from tutor.checking.verdict import Verdict


def unlucky(answer: bank.BankAnswer, public: Verdict, graded: list[Verdict], full: float) -> bool:
    """Says whether an answer's marks differ, or do not fit what its check says, or the name of its mistake changes."""
    marks, names = {one.earned for one in graded}, {one.mistake for one in (*graded, public)}
    if answer.right:
        return public.outcome != "right" or marks != {full}
    return len(marks) > 1 or full in marks or names != {answer.mistake}


def examine(notebook: str, defined: Exercise, students: int) -> int:
    """Prints the answers to one exercise that luck has a part in; returns how many."""
    start, public, found = time.process_time(), defined.public_examples(), 0
    drawn: list[Examples] = [defined.drawn_examples(f"student {number}") for number in range(students)]
    for answer in (one for one in bank.answers(notebook) if one.exercise == defined.name):
        student = AskedOnce(bank.run(answer))
        checked = judge(public, student, PATIENCE)
        graded = [judge(examples, student, PATIENCE, hidden=True) for examples in drawn]
        if unlucky(answer, checked, graded, defined.points):
            found += 1
            marks = sorted({one.earned for one in graded})
            names = sorted({one.mistake for one in graded})
            print(
                f"  {answer.label} -> {answer.mistake!r}: check {checked.earned:g} {checked.mistake!r}; {marks} {names}"
            )
    print(f"{notebook} {defined.name}: {found} of luck, {time.process_time() - start:.0f} s", flush=True)
    return found


def main() -> None:
    """Examines the chosen exercises."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", nargs="?", default="", help="the start of a notebook's name: 01")
    parser.add_argument("exercise", nargs="?", default="", help="one exercise")
    parser.add_argument("--students", type=int, default=20)
    options = parser.parse_args()
    found = 0
    for notebook in catalogue.notebooks():
        for name in catalogue.names(notebook) if notebook.startswith(options.notebook) else ():
            if options.exercise in ("", name):
                found += examine(notebook, exercise.load_one(notebook, name), options.students)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
