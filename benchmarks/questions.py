"""What the questions of a notebook cost: processor time of drawing them, and of asking and judging right answers.

    python -m benchmarks.questions                          # all notebooks, 5 students each
    python -m benchmarks.questions 10 11 --students 20
    python -m benchmarks.questions --against ../before      # another checkout, in turns with this one, as ratios

What is made once for a run, such as the public examples, is made before the clock starts.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path.cwd()))

from grading.authoring import bank  # noqa: E402
from grading.definitions import catalogue, exercise  # noqa: E402
from tutor.checking.answers import InProcess  # noqa: E402
from tutor.checking.judging import judge  # noqa: E402


def spent(act: Callable[[], Any]) -> tuple[float, Any]:
    """Returns the CPU time of a call in milliseconds, and its result."""
    start = time.process_time()
    result = act()
    return 1000 * (time.process_time() - start), result


def measure(notebook: str, students: int) -> tuple[float, float]:
    """Returns the milliseconds for each student of drawing all questions of a notebook, and of judging answers."""
    drawing = judging = 0.0
    for name, one in exercise.load(notebook).items():
        answer = next(mine for mine in bank.answers(notebook) if mine.exercise == name and mine.right)
        right = InProcess(bank.run(answer), clock="cpu")
        judge(one.drawn_examples("to warm up"), right, 60, hidden=True)
        for number in range(students):
            drawn, examples = spent(partial(one.drawn_examples, f"student {number}"))
            judged, verdict = spent(partial(judge, examples, right, 60, hidden=True))
            assert verdict.outcome == "right", verdict
            drawing, judging = drawing + drawn, judging + judged
    return drawing / students, judging / students


def elsewhere(folder: Path, notebook: str, students: int) -> tuple[float, float]:
    """Returns what `measure` gives in another process, in a checkout of the course."""
    command = [sys.executable, str(Path(__file__).resolve()), notebook, "--students", str(students), "--json"]
    environment = os.environ | {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    drawing, judging = json.loads(done.stdout.splitlines()[-1])
    return drawing, judging


def main() -> None:
    """Prints a line for each notebook."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", nargs="*", help="only these, by the start of their names: 01")
    parser.add_argument("--students", type=int, default=5)
    parser.add_argument("--against", type=Path, help="another checkout of the course, to compare with")
    parser.add_argument("--json", action="store_true", help="only the two numbers, of one notebook, in this process")
    options = parser.parse_args()
    wanted = tuple(options.notebook) or ""
    chosen = [name for name in catalogue.notebooks() if name.startswith(wanted)]
    if options.json:
        print(json.dumps(measure(chosen[0], options.students)))
        return
    print(f"{'notebook':28}{'drawing':>10}{'judging':>10}" + (f"{'before':>18}{'ratio':>8}" if options.against else ""))
    for notebook in chosen:
        before = elsewhere(options.against, notebook, options.students) if options.against else ()
        now = elsewhere(ROOT, notebook, options.students)
        line = f"{notebook:28}{now[0]:7.0f} ms{now[1]:7.0f} ms"
        if before:
            line += f"{before[0]:8.0f} + {before[1]:4.0f} ms{sum(now) / sum(before):8.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
