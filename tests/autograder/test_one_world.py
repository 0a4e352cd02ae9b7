"""What `check` calls right is right in grading: the same names exist in both."""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from grading.authoring import bank
from grading.autograder.grade_submission import Graded, grade
from grading.autograder.graded_notebook import load_master
from grading.autograder.submission import read
from grading.classroom import demo
from grading.definitions import catalogue, exercise
from grading.definitions.exercise import Exercise
from grading.folder.course import ROOT, Course
from grading.notebooks.cells import grade_id, is_experiment
from grading.notebooks.names import are_short, bound, needed, needs_training, used
from grading.sandbox.student_process import ForkServerClient
from tests.definitions import kept
from tutor.checking.globals_used import globals_used
from tutor.checks import EXPERIMENTS, check

ONLY_WITH_OTHER_DATA = {"texts"}  # of notebook 06: bound in a branch that the embedded corpus does not take
MADE = json.loads(EXPERIMENTS.read_text(encoding="utf-8"))
WRAPPED = """

def everything():
    return ({names},)


real_answer, all_cells_have_run = {name}, False  # an experiment may itself call the answer


def {name}(*arguments, **keywords):
    if all_cells_have_run:
        everything()
    return real_answer(*arguments, **keywords)
"""


@pytest.fixture(scope="module")
def students() -> Iterator[ForkServerClient]:
    with ForkServerClient() as made:
        yield made


def right(notebook: str) -> dict[str, str]:
    """Returns a right answer to each exercise."""
    answers: dict[str, str] = {}
    for one in bank.answers(notebook):
        if one.right:
            answers.setdefault(one.exercise, one.source)
    return answers


def graded(
    students: ForkServerClient,
    notebook: str,
    cells: nbformat.NotebookNode,
    folder: Path,
    asked: Mapping[str, Exercise] | None = None,
) -> Graded:
    """Returns the verdicts on a submission: on all exercises of its notebook, or on those that are to be asked."""
    master = load_master(Course(), notebook)
    folder.mkdir()
    (folder / f"{notebook}.ipynb").write_text(nbformat.writes(cells), encoding="utf-8")
    return grade(students, master, read(folder, master), asked or exercise.load(notebook), kept.IN_SANDBOX)


def filled(notebook: str, answers: dict[str, str]) -> nbformat.NotebookNode:
    released = nbformat.read(ROOT / "notebooks" / notebook / f"{notebook}.ipynb", as_version=4)
    return demo.fill(released, answers)


def lost(result: Graded) -> dict[str, str]:
    return {name: str(verdict) for name, verdict in result.verdicts.items() if verdict.outcome != "right"}


@pytest.mark.sandbox
@pytest.mark.all
@pytest.mark.parametrize("notebook", catalogue.notebooks())
def test_every_name_that_an_experiment_makes_may_be_used(
    notebook: str, students: ForkServerClient, tmp_path: Path
) -> None:
    answers = right(notebook)
    functions = [name for name, one in exercise.load(notebook).items() if inspect.isfunction(one.reference)]
    name, names = functions[-1], [one for one in MADE[notebook]["made"] if one not in ONLY_WITH_OTHER_DATA]
    answers[name] += WRAPPED.format(names=", ".join(names), name=name)
    cells = filled(notebook, answers)
    cells.cells.append(nbformat.v4.new_code_cell("all_cells_have_run = True"))
    defined = exercise.load(notebook)
    asked = {one: replace(defined[one], stages=defined[one].stages[:1]) for one in defined}  # a question says it
    result = graded(students, notebook, cells, tmp_path / "ada", asked)
    assert result.verdicts.keys() == defined.keys()
    assert not lost(result)
    assert any("what that needs of them was run" in line for line in result.repairs)


@pytest.mark.sandbox
@pytest.mark.all
def test_own_cells_always_run(students: ForkServerClient, tmp_path: Path) -> None:
    cells = filled(
        "01_causal_mask",
        right("01_causal_mask")
        | {
            "causal_mask": "def causal_mask(size):\n"
            "    try:\n        return blocked(size)\n    except NameError:\n        return None\n",
            "padding_mask": "def padding_mask(lengths, size):\n"
            "    low = globals().get('LOWEST', 0.0)\n"
            "    return torch.where(torch.arange(size) >= lengths[:, None].clamp(min=1), low, 0.0) < 0\n",
        },
    )
    place = next(n for n, cell in enumerate(cells.cells) if grade_id(cell) == "causal_mask")
    own = "import time\n\ntime.sleep(13)\nLOWEST = float('-inf')\n\n\ndef blocked(size):\n"
    own += "    return torch.full((size, size), LOWEST).triu(1)\n"
    cells.cells.insert(place, nbformat.v4.new_code_cell(own))
    assert not lost(graded(students, "01_causal_mask", cells, tmp_path / "ada"))


@pytest.mark.sandbox
@pytest.mark.all
def test_a_further_cell_that_spoils_an_answer_costs_nothing(students: ForkServerClient, tmp_path: Path) -> None:
    cells = filled("01_causal_mask", right("01_causal_mask"))
    cells.cells.append(nbformat.v4.new_code_cell("def causal_mask(size):\n    return 'an old attempt'\n"))
    result = graded(students, "01_causal_mask", cells, tmp_path / "ada")
    assert not lost(result)
    assert "a further cell changes what an answer uses; marked without it: causal_mask" in result.repairs


def test_a_check_says_what_only_an_experiment_makes(capsys: pytest.CaptureFixture[str]) -> None:
    variables: dict[str, object] = {}
    exec("import torch\n" + right("01_causal_mask")["causal_mask"], variables)
    plain = variables["causal_mask"]
    for names, expected in (("sentence", "all checks passed"), ("sentence, losses", "not yet right")):
        world = {"plain": plain, "sentence": [], "losses": [], "__name__": "__main__"}
        exec(f"def causal_mask(size):\n    {names}\n    return plain(size)\n", world)
        check(world["causal_mask"])
        output = capsys.readouterr().out
        assert expected in output
        assert names.rsplit(", ", maxsplit=1)[-1] in output.split("experiment", maxsplit=1)[0]


def output_of(cells: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Returns what a check says of `causal_mask` after these cells of notebook 01, run in a kernel."""
    shell = SimpleNamespace(user_ns={"__name__": "__main__", "In": [*cells, "check(causal_mask)"]})
    monkeypatch.setattr("tutor.checks.get_ipython", lambda: shell)
    monkeypatch.setattr("tutor.overview.show", print)
    for cell in cells:
        exec(cell, shell.user_ns)
    check(shell.user_ns["causal_mask"])
    return capsys.readouterr().out


@pytest.mark.parametrize("own", ["def losses(size):\n    return size", "from math import floor as losses"])
def test_a_name_that_an_own_cell_binds_is_the_students_whatever_an_experiment_binds(
    own: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = "import torch\ndef causal_mask(size):\n    return torch.full((losses(size),) * 2, -torch.inf).triu(1)"
    assert "all checks passed" in output_of([own, answer], monkeypatch, capsys)
    experiment = next(
        cell.source
        for cell in load_master(Course(), "01_causal_mask").notebook.cells
        if is_experiment(cell) and "losses" in bound([cell.source])
    )
    changed = f"{experiment}\nprint('with something else tried')"
    for cell in (experiment, changed):
        not_run = f"if False:\n{cell}".replace("\n", "\n    ")
        output = output_of([own, not_run, answer], monkeypatch, capsys)
        assert "bound by an experiment, too, which ran last" in output
        assert "all checks passed" in output
        theirs = output_of([f"losses = int\n{not_run}", answer], monkeypatch, capsys)
        assert "made in an experiment that trains a model" in theirs
        assert "0 of 3 points so far" in theirs


@pytest.mark.sandbox
@pytest.mark.all
def test_a_helper_that_has_the_name_of_a_trained_variable_is_graded_as_it_is_checked(
    students: ForkServerClient, tmp_path: Path
) -> None:
    cells = filled(
        "01_causal_mask",
        right("01_causal_mask")
        | {"causal_mask": "def causal_mask(size):\n    return torch.full((losses(size),) * 2, -torch.inf).triu(1)\n"},
    )
    cells.cells.insert(3, nbformat.v4.new_code_cell("def losses(size):\n    return size\n"))
    assert not lost(graded(students, "01_causal_mask", cells, tmp_path / "ada"))


def test_names_are_read_from_source() -> None:
    source = "import torch\nWAYS = ('a', 'b')\nfor name in WAYS:\n    count = len(name)\n%matplotlib inline\n"
    assert bound([source]) == {"torch", "WAYS", "name", "count"}
    assert used(["def f(x):\n    y = x + z\n    return globals()['WAYS'], y\n"]) == {"z", "WAYS"}
    assert used(["def broken(:\n"]) == bound(["def broken(:\n"]) == set()


def test_only_what_a_name_needs_is_run() -> None:
    cells = ["a = 1\nb = a + 1\nc = [b]", "def d():\n    return c\n\nb = 5", "model = train()\nlosses = [model]"]
    assert needed(cells, ["b"]) == ["", "b = 5", ""]
    assert needed(cells, ["c"]) == ["a = 1\nb = a + 1\nc = [b]", "", ""]
    assert needed(cells, ["d"]) == ["a = 1\nb = a + 1\nc = [b]", "def d():\n    return c", ""]
    assert not needs_training(cells, "d")
    assert needs_training(cells, "losses")


@pytest.mark.all
def test_what_many_names_need_is_found_in_bounded_time() -> None:
    """Whoever writes the cells chooses how many names lead to how many others: a chain, and functions of functions."""
    chain = "\n".join(f"a{n} = a{n + 1}" for n in reversed(range(8_000)))
    assert needed([chain], ["a0"]) == [chain]
    functions = "\n".join(f"def f{n}(): f{n + 1}; g{n}\ng{n} = f0" for n in range(3_000))
    assert needed([functions], ["f0"]) == [""]
    assert are_short(["x = 1\n" * 1000] * 10)
    assert not are_short(["x = 1\n" * 1000] * 30)
    assert not are_short(["x" * 50_000] * 5)


@pytest.mark.all
def test_a_cell_that_is_too_long_is_not_looked_into() -> None:
    assert bound(["x = 1\n" * 20_000]) == {"x"}
    assert bound(["x = 1\n" * 50_000]) == set()


@pytest.mark.sandbox
@pytest.mark.all
def test_a_training_is_not_repeated_for_a_cell_that_looks_at_it(students: ForkServerClient, tmp_path: Path) -> None:
    cells = filled("01_causal_mask", right("01_causal_mask"))
    cells.cells.append(nbformat.v4.new_code_cell("print(losses)"))
    result = graded(students, "01_causal_mask", cells, tmp_path / "ada")
    assert not lost(result)
    assert result.repairs == ["`losses` of an experiment would need a training, which was not repeated"]


def test_globals_are_found_through_functions_of_the_same_notebook() -> None:
    world: dict[str, object] = {"__name__": "__main__"}
    exec(
        "def helper(x):\n    return x + OFFSET\n\nclass Answer:\n    def act(self):\n        return helper(SCALE)",
        world,
    )
    assert globals_used(world["Answer"]) == {"helper", "SCALE", "OFFSET"}


def test_the_variables_of_a_module_are_no_variables_of_the_notebook() -> None:
    module: dict[str, object] = {"__name__": "mine"}
    exec("scores = 1\n\ndef answer(size):\n    return scores", module)
    assert globals_used(module["answer"]) == set()


def test_an_installed_course_has_the_names_of_experiments(repository: Path) -> None:
    (patterns,) = re.findall(r"^tutor = (\[.*\])$", (repository / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    name = EXPERIMENTS.relative_to(EXPERIMENTS.parents[1]).as_posix()
    assert name in {
        path.relative_to(EXPERIMENTS.parents[1]).as_posix()
        for pattern in json.loads(patterns)
        for path in EXPERIMENTS.parents[1].glob(pattern)
    }
