"""The safe autograder on a small class: marks, fairness, resumption, and what a crash costs."""

import copy
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from nbformat import NotebookNode

from grading import sandbox
from grading.autograder import fingerprint, grade_submission, pool
from grading.autograder import run as autograde
from grading.autograder.grade_submission import Graded
from grading.autograder.gradebook import only_run
from grading.autograder.graded_notebook import recorded_key
from grading.autograder.nbgrader_commands import nbgrader
from grading.autograder.outcome import Outcome
from grading.autograder.seeds import secret_of, seed_of
from grading.autograder.submission import Master, Work
from grading.classroom import demo
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.sandbox.student_process import ForkServerClient
from tests.classroom.submissions import ASSIGNMENT, AUTOMATIC, cell, oddities, perfect, released

pytestmark = pytest.mark.sandbox


def put(course: Path, student: str, notebook: NotebookNode | str, name: str = f"{ASSIGNMENT}.ipynb") -> Path:
    """Puts a submission into a class."""
    path = course / "gradebook" / "submitted" / student / ASSIGNMENT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(notebook if isinstance(notebook, str) else nbformat.writes(notebook), encoding="utf-8")
    return path


def honest() -> dict[str, NotebookNode]:
    """Returns submissions that are odd but right: each must keep every automatic point."""
    made = {name: oddities()[name] for name in ("warning", "copied", "kernel")}
    moved = perfect()
    moved.cells.reverse()
    made["moved"] = moved
    bare = perfect()
    for one in bare.cells:
        one.metadata = {}
    made["metadata_lost"] = bare
    split = perfect()
    original = cell(split, "attention_weights")
    second = copy.deepcopy(original)
    second.id = "second-half"
    original.source, second.source = "import math", original.source
    split.cells.insert(split.cells.index(original) + 1, second)
    made["split"] = split
    helper = perfect()
    own = nbformat.v4.new_code_cell("def nothing_above(size):\n    return torch.full((size, size), -torch.inf)")
    cell(helper, "causal_mask").source = "def causal_mask(size):\n    return torch.triu(nothing_above(size), 1)"
    helper.cells.insert(2, own)
    made["own_helper"] = helper
    no_checks = perfect()
    no_checks.cells = [c for c in no_checks.cells if "check(" not in c.source]
    made["checks_deleted"] = no_checks
    magics = perfect()
    cell(magics, "causal_mask").source = "%matplotlib inline\n" + cell(magics, "causal_mask").source
    made["magic"] = magics
    retyped = perfect()
    for one in retyped.cells:
        if one.cell_type == "code":
            one.outputs = [nbformat.v4.new_output("stream", text="x" * 100_000)]
    made["large_outputs"] = retyped
    return made


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("safe")
    demo.make(made)
    put(made, "fatou_endless_loop", perfect())  # endless loops have a test of their own
    for student, notebook in honest().items():
        put(made, student, notebook)
    put(made, "other_name", perfect(), "my homework (1).ipynb")
    put(made, "crlf_and_bom", "\ufeff" + nbformat.writes(perfect()).replace("\n", "\r\n"))
    ending = perfect()
    cell(ending, "causal_mask").source = "import os\nos._exit(0)"
    put(made, "ends_its_process", ending)
    return made


def run(course: Path, **settings: Any) -> list[Outcome]:
    """Grades a class without a progress bar."""
    return autograde.run(autograde.Settings(Course(course), progress=False, **settings))


@pytest.fixture(scope="module")
def outcomes(course: Path) -> dict[str, Outcome]:
    return {one.student: one for one in run(course, workers=2)}


def test_marks_are_those_of_plain_nbgrader(outcomes: dict[str, Outcome]) -> None:
    scores = {
        name: outcomes[name].score for name in ("ada_perfect", "blaise_half_done", "chloe_empty", "denis_mistaken")
    }
    assert scores == {"ada_perfect": AUTOMATIC, "blaise_half_done": 6, "chloe_empty": 0, "denis_mistaken": 1.25}


def test_what_could_not_be_graded_says_why(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["emile_broken_file"].state == outcomes["gael_no_notebook"].state == "could not be graded"
    assert "not valid JSON" in outcomes["emile_broken_file"].reason
    assert "found: nothing" in outcomes["gael_no_notebook"].reason


@pytest.mark.parametrize("student", [*honest(), "other_name", "crlf_and_bom"])
def test_honest_oddities_keep_full_marks(outcomes: dict[str, Outcome], student: str) -> None:
    assert (outcomes[student].state, outcomes[student].score) == ("graded", AUTOMATIC)


def test_what_was_put_right_is_reported(outcomes: dict[str, Outcome], course: Path) -> None:
    assert outcomes["other_name"].repairs == [
        "the file is called 'my homework (1).ipynb' in place of '01_causal_mask.ipynb'"
    ]
    assert "stands 2 times" in outcomes["copied"].repairs[0]
    assert outcomes["own_helper"].repairs == []  # a student's own cells are part of the world of the answers
    graded = course / "gradebook" / "autograded" / "other_name" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    assert "my homework (1).ipynb" in nbformat.read(graded, as_version=4).cells[0].source


def test_a_cell_that_ends_its_process_costs_its_exercise_only(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["ends_its_process"].score == AUTOMATIC - 3


def test_nothing_is_graded_twice(outcomes: dict[str, Outcome], course: Path) -> None:
    again = run(course, students=["ada_perfect", "moved"])
    assert {one.state for one in again} == {"unchanged"}


def test_a_changed_submission_is_graded_again(outcomes: dict[str, Outcome], course: Path) -> None:
    changed = released()
    put(course, "moved", changed)
    (again,) = run(course, students=["moved"], workers=1)
    assert (again.state, again.score) == ("graded", 0)


def test_feedback_has_verdicts_and_no_hidden_value(outcomes: dict[str, Outcome], course: Path) -> None:
    done = nbgrader(course, "generate_feedback", ASSIGNMENT, "--student", "denis_mistaken")
    assert done.returncode == 0, done.stderr
    page = course / "gradebook" / "feedback" / "denis_mistaken" / ASSIGNMENT / f"{ASSIGNMENT}.html"
    text = page.read_text(encoding="utf-8")
    assert "This looks like: the diagonal is blocked too" in text
    assert "causal_mask: not yet right - 0.25 of 3 points" in text


def test_manual_marks_survive_a_second_grading(outcomes: dict[str, Outcome], course: Path) -> None:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course}/gradebook/gradebook.db", "transformers") as book:
        grade = book.find_grade("mask_essay", ASSIGNMENT, ASSIGNMENT, "ada_perfect")
        assert grade.needs_manual_grade
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        book.db.commit()
    (again,) = run(course, students=["ada_perfect"], workers=1, force=True)
    assert again.score == AUTOMATIC + 1.5


def test_a_second_run_says_that_one_is_at_work(course: Path) -> None:
    with only_run(Course(course)), pytest.raises(CourseError, match="another run is grading"):
        run(course)


@pytest.mark.all
def test_a_run_killed_at_any_moment_is_finished_by_the_next(tmp_path: Path) -> None:
    demo.make(tmp_path)
    put(tmp_path, "fatou_endless_loop", perfect())
    program = (
        "from pathlib import Path\nfrom grading.autograder.run import Settings, run\n"
        "from grading.folder.course import Course\n"
        f"if __name__ == '__main__':\n    run(Settings(Course(Path({str(tmp_path)!r})), workers=1, progress=False))\n"
    )
    script = tmp_path / "run.py"
    script.write_text(program)
    path = tmp_path / "gradebook" / "autograded" / "ada_perfect" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    killed = subprocess.Popen([sys.executable, str(script)], start_new_session=True, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 600  # a busy machine is slow
    while not path.exists() and killed.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert path.exists()
    outcomes = {one.student: one for one in run(tmp_path, workers=1)}
    assert outcomes["ada_perfect"].state == "unchanged"
    assert outcomes["denis_mistaken"].score in (1.25, None)
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{tmp_path}/gradebook/gradebook.db", "transformers") as book:
        scores = {one.student_id: one.score for one in book.assignment_submissions(ASSIGNMENT)}
    assert scores["ada_perfect"] == AUTOMATIC
    assert scores["denis_mistaken"] == 1.25


@pytest.mark.all
def test_a_damaged_autograded_file_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    path.write_text("{ half of a file")
    assert recorded_key(path) == ""
    assert recorded_key(tmp_path / "missing.ipynb") == ""


@pytest.mark.all
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited on Linux only")
def test_a_worker_without_bounds_costs_its_own_submission_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demo.make(tmp_path)
    honest_grade = grade_submission.grade

    def greedy(students: ForkServerClient, master: Master, work: Work, known: dict, seed: str, *rest: Any) -> Graded:
        if seed == seed_of(secret_of(Course(tmp_path)), "chloe_empty", work.digest()):
            torch.ones(pool.WORKER_BYTES // 2)  # four bytes each: twice what it may take
        return honest_grade(students, master, work, known, seed, *rest)

    monkeypatch.setattr(pool, "grade", greedy)
    wanted = ["ada_perfect", "blaise_half_done", "chloe_empty"]
    outcomes = {one.student: one for one in run(tmp_path, students=wanted, workers=1)}
    assert outcomes["chloe_empty"].state == "could not be graded"
    assert "memory" in outcomes["chloe_empty"].reason
    assert (outcomes["ada_perfect"].score, outcomes["blaise_half_done"].score) == (AUTOMATIC, 6)


def test_without_a_sandbox_nothing_is_graded(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "probe", lambda: "this machine has no namespaces.")
    with pytest.raises(CourseError, match="Nothing was graded; --unsafe"):
        run(course)


def test_unknown_students_are_refused(course: Path) -> None:
    with pytest.raises(CourseError, match="no submission of nobody"):
        run(course, students=["nobody"])


def test_the_command_line_prints_json(
    course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from grading.__main__ import main

    monkeypatch.setattr(fingerprint, "environment_key", lambda name: "fixed")
    main(["autograde", ASSIGNMENT, "--student", "chloe_empty", "--json", "--course", str(course)])
    (report,) = json.loads(capsys.readouterr().out)
    assert report["student"] == "chloe_empty"
    assert report["score"] == 0


def test_the_fingerprint_holds_what_decides_marks_and_nothing_else() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in fingerprint.sources(ASSIGNMENT)}
    assert {"grading/autograder/submission.py", "grading/autograder/grade_submission.py"} <= found
    assert {
        "grading/definitions/examiner.py",
        "grading/definitions/exercise.py",
        "helpers/models.py",
        "tutor/checking/verdict.py",
    } <= found
    assert not {*fingerprint.WITHOUT_MARKS} & found
    exercises = {name for name in found if name.startswith("grading/exercises/")}
    assert any("causal_mask" in name for name in exercises)
    assert not any("02_positional_encoding" in name for name in exercises)
    assert all(
        (ROOT / name).is_file() for name in (*fingerprint.WITHOUT_MARKS, *(f"grading/{x}" for x in fingerprint.GRADING))
    )
