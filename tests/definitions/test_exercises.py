"""The definitions: one file for each exercise, found by its name, in the order of the notebook."""

import importlib
import re
import sys
from pathlib import Path

import pytest
import torch

from grading import exercises
from grading.authoring import source
from grading.definitions import catalogue, exercise
from grading.definitions.definition import ExerciseError
from grading.folder.course import ROOT
from tests.clones import clone, python
from tutor import checks as check

ALL = [(notebook, name) for notebook in catalogue.notebooks() for name in catalogue.names(notebook)]

EACH_ALONE = """
import importlib, sys
from grading.definitions import bank, catalogue
assert "torch" not in sys.modules, "naming the exercises has imported PyTorch"
import grading.definitions.exercise
for notebook in catalogue.notebooks():
    for name in catalogue.names(notebook):
        for module in [m for m in sys.modules if m.startswith("grading.exercises.")]:
            del sys.modules[module]
        grading.definitions.exercise.load_one(notebook, name)
        folder = f"grading.exercises.{notebook}"
        shared = {"grading.exercises.draws", "grading.exercises.searched"}
        allowed = {*shared, folder, f"{folder}.{name}"}
        loaded = {m for m in sys.modules if m.startswith("grading.exercises.") and not m.startswith(f"{folder}._")}
        sources = [one.source for one in bank.of_exercise(notebook, name) if one.hint]  # they call earlier answers
        others = {m for m in loaded - allowed if not any(m.rpartition(".")[2] in source for source in sources)}
        print(notebook, name, *sorted(others))
"""


@pytest.mark.all
def test_an_import_of_one_exercise_imports_no_other(repository: Path) -> None:
    ended = python(repository, ["-c", EACH_ALONE])
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == [f"{notebook} {name}" for notebook, name in ALL]


@pytest.mark.parametrize("notebook", catalogue.notebooks())
def test_the_order_is_that_of_the_notebook(notebook: str) -> None:
    cells = source.read(ROOT / "solutions" / f"{notebook}.py")
    asked = [cell.name for cell in cells if cell.kind == "exercise"]
    assert catalogue.names(notebook) == list(exercise.load(notebook)) == asked


def test_every_exercise_has_its_file_of_the_bank(repository: Path) -> None:
    answers = {(path.parent.name, path.name) for path in (repository / "grading" / "exercises").glob("*/*.answers.py")}
    assert answers == {(notebook, f"{name}.answers.py") for notebook, name in ALL}


def test_the_files_that_define_a_notebook_are_known() -> None:
    files = {path.relative_to(catalogue.FOLDER).as_posix() for path in catalogue.definitions("01_causal_mask")}
    assert {"01_causal_mask/causal_mask.py", "01_causal_mask/_common.py", "__init__.py"} <= files
    assert not any(path.startswith("02") or path.endswith(".answers.py") for path in files)
    assert catalogue.seeds_of("06_pretrained_vs_scratch") in catalogue.definitions("06_pretrained_vs_scratch")


@pytest.mark.parametrize("name", ["77_nothing", "../solutions", "", "01_causal_mask/causal_mask"])
def test_an_unknown_notebook_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(LookupError, match=r"no exercises are defined for '.*'; expected one of: 00_start_here, "):
        exercise.load(name)


def test_an_unknown_exercise_is_refused_in_one_sentence() -> None:
    with pytest.raises(LookupError, match="01_causal_mask has no exercise '_common'; expected one of: causal_mask, "):
        exercise.load_one("01_causal_mask", "_common")


def test_a_check_reads_only_the_examples_of_its_own_exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for notebook, name in ALL:
        (tmp_path / notebook).mkdir(exist_ok=True)
        (tmp_path / notebook / f"{name}.json").write_text("cut off")
    own = Path("00_start_here/batch_shape.json")
    (tmp_path / own).write_bytes((check.EXAMPLES / own).read_bytes())
    monkeypatch.setattr(check, "EXAMPLES", tmp_path)
    check.public_examples.cache_clear()
    try:
        assert list(check.public_examples("batch_shape")) == ["batch_shape"]
        with pytest.raises(
            LookupError, match="no exercise is called '00_start_here/batch_shape'; expected one of: batch"
        ):
            check.check(lambda b, n, d: (b, n, d), "00_start_here/batch_shape")
    finally:
        check.public_examples.cache_clear()


# --- a definition that is not as it must be ---------------------------------------------------------------------------

DEFINITION = '''"""Exercise token_count of notebook 00."""

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

exercise = Definition()


@exercise.reference
def token_count(b: int, n: int) -> int:
    return b * n


@exercise.stage("one batch", points=1, public=[Question((2, 5))])
def _(rng):
    """Each of the b sentences has n tokens."""
    for _ in range(3):
        yield Question((rng.randint(2, 9), rng.randint(12, 30)))


@exercise.mistake("the sum")
def _(b, n):
    """Two sentences of five tokens are ten tokens, not seven."""
    return b + n
'''


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("exercise", "other", "token_count.py: expected `exercise = Definition()`, found none"),
        ("token_count", "count_tokens", "expected the reference token_count, found count_tokens"),
        (
            "    return b + n",
            '    return b + n\n\n\nexercise.mistake("the sum", "Multiply.", max)',
            "two mistakes of token_count have the same name",
        ),
        (
            '    """Two sentences of five tokens are ten tokens, not seven."""\n',
            "",
            "token_count.py: mistake 'the sum': expected the hint as the docstring of its function.",
        ),
        ("@exercise.reference\n", "", "token_count.py: expected one reference, found none"),
    ],
)
def test_a_definition_that_contradicts_itself_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, message: str
) -> None:
    folder = tmp_path / "20_trial"
    folder.mkdir()
    (folder / "token_count.py").write_text(DEFINITION.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    monkeypatch.setattr(exercises, "__path__", [str(tmp_path)])
    try:
        with pytest.raises(ExerciseError, match=re.escape(message)):
            exercise.load_one("20_trial", "token_count")
    finally:
        for module in [name for name in sys.modules if name.startswith("grading.exercises.20")]:
            del sys.modules[module]


# --- a new exercise ---------------------------------------------------------------------------------------------------

BANK = """# %% right: a product
def token_count(b, n):
    return b * n


# %% wrong: a sum -> the sum
# hint: Two sentences of five tokens are ten tokens, not seven.
def token_count(b, n):
    return b + n
"""
CELLS = '''# %% exercise="token_count"
def token_count(b, n):
    """Returns how many tokens b sentences of n tokens have."""
    ### BEGIN SOLUTION
    return b * n
    ### END SOLUTION


'''
PROVE = """
import json
from grading.definitions import exercise
from grading.definitions import examiner
from grading.authoring import bank, build, source
from tutor.checking.answers import InProcess

(path,) = build.sources(["00"])
made = {file.name: content for file, content in build.products(path).items()}
print(*exercise.load("00_start_here"))
print(json.loads(made["token_count.json"])["signature"], "token_count_check" in made["00_start_here.ipynb"])
for answer in bank.answers("00_start_here"):
    if answer.exercise == "token_count":
        mark = examiner.examine(exercise.load_one(answer.notebook, answer.exercise), InProcess(bank.run(answer)), "ada")
        print(answer.label, f"{mark.earned:g}", mark.mistake)
"""


@pytest.mark.all
def test_a_new_exercise_is_a_definition_its_answers_and_one_cell(repository: Path, tmp_path: Path) -> None:
    course = clone(repository, tmp_path / "course")
    notebook = course / "solutions" / "00_start_here.py"
    text = notebook.read_text(encoding="utf-8").replace('# %% exercise="batch', CELLS + '# %% exercise="batch', 1)
    text = text.replace(
        "# | **total** | | **1** |", "# | `token_count` | how many tokens | 1 |\n# | **total** | | **2** |"
    )
    notebook.write_text(text, encoding="utf-8")
    definition = DEFINITION.partition('\n\n@exercise.mistake("the sum")')[0]
    (course / "grading/exercises/00_start_here/token_count.py").write_text(definition, encoding="utf-8")
    (course / "grading/exercises/00_start_here/token_count.answers.py").write_text(BANK, encoding="utf-8")
    ended = python(course, ["-c", PROVE])
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == [
        "token_count batch_shape",
        "token_count(b, n) True",
        "token_count-right-a product 1 ",
        "token_count-wrong-a sum 0 the sum",
    ]


def test_tokens_alike_have_less_than_1_together() -> None:
    """However the sum is made, and on every processor: in single precision, in double, and rounded after that."""
    size = importlib.import_module("grading.exercises.14_own_gpt.next_token_distribution").SUMS_BELOW_1
    chances = torch.full((size,), 0.7).softmax(dim=-1)
    assert chances.tolist() == [float(torch.tensor(1 / size))] * size
    in_order = torch.zeros(())
    for chance in chances:
        in_order = in_order + chance
    sums = [chances.cumsum(0)[-1], in_order, chances.double().sum(), chances.double().sum().float()]
    assert max(map(float, sums)) < 1
    assert float(chances.double().sum()) == pytest.approx(1, abs=1e-7)
