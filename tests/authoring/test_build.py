"""The build: what it makes, what it refuses, and that nothing leaks into what students get."""

import dataclasses
import itertools
import json
import os
import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch

from grading.__main__ import main
from grading.authoring import build, examples, pacing, source, syllabus
from grading.authoring.errors import BuildError
from grading.definitions import catalogue, exercise
from grading.folder.course import ROOT
from grading.notebooks.cells import BEGIN_HIDDEN, is_experiment
from grading.notebooks.cells import BEGIN_SOLUTION as BEGIN
from grading.notebooks.cells import END_SOLUTION as END
from tests import tiers
from tutor.checking import plain

STEMS = [path.stem for path in build.sources()]

HEAD = """# %% [markdown]
# # 01
#
# | exercise | what | points |
# |---|---|---|
# | `causal_mask` | the mask | 3 |
# | `attention_weights` | weights | 3 |
# | `wasted_scores` | formula | 2 |
# | `future_influence` | bool | 3 |
# | `padding_mask` | padding | 3 |
# | **total** | | **14** |
"""
EXERCISE = """
# %% exercise="{name}"
def {name}(*inputs):
    ### BEGIN SOLUTION
    return 1
    ### END SOLUTION
"""
HAND = '\n# %% by_hand\nby_hand("attention_weights", ...)\n'
NAMES = ("causal_mask", "attention_weights", "wasted_scores", "future_influence", "padding_mask")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "01_causal_mask.py"
    path.write_text(text, encoding="utf-8")
    return path


def whole(**changes: str) -> str:
    """Returns a small source for notebook 01 in which every part fits."""
    return HEAD + HAND + "".join(EXERCISE.format(name=name) for name in NAMES)


def refused(tmp_path: Path, text: str) -> str:
    path = written(tmp_path, text)
    with pytest.raises(BuildError) as raised:
        source.validate(path, source.read(path))
    return str(raised.value)


BY_MISTAKES: dict[str, Any] = {"mistakes": {}, "traces": []}


def without_mistakes(made: Any) -> Any:
    """Returns encoded examples without what known mistakes make of the questions."""
    stages = [stage | {"cases": [case | BY_MISTAKES for case in stage["cases"]]} for stage in made["stages"]]
    hand = {"by_hand": made["by_hand"] | {"mistakes": {}}} if "by_hand" in made else {}
    return made | {"stages": stages} | hand


@pytest.mark.parametrize("stem", sorted(tiers.changed_notebooks()))
def test_made_files_of_a_changed_notebook_agree_in_all_but_what_mistakes_give(
    stem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mistakes' names and hints are compared; to ask them takes most of a build's time. The next test asks all."""
    encode, agree = examples.encode, build.agrees

    def encoded(defined: exercise.Exercise) -> dict[str, Any]:
        hints = {mistake.name: mistake.hint for mistake in defined.mistakes}
        return encode(dataclasses.replace(defined, mistakes=())) | {"hints": hints}

    def agrees(file: Path, content: str) -> bool:
        if file.parent.parent.name != "check_examples":
            return agree(file, content)
        return examples.same(*(without_mistakes(json.loads(text)) for text in (file.read_text("utf-8"), content)))

    monkeypatch.setattr(examples, "encode", encoded)
    monkeypatch.setattr(build, "agrees", agrees)
    assert build.check([stem]) == []


@pytest.mark.all
@pytest.mark.parametrize("notebook", catalogue.notebooks())
def test_made_files_are_the_same_without_the_processors_vector_instructions(notebook: str) -> None:
    """What is asked in public hangs on no rounding: it is built on one processor, and checked on any other."""
    plain = os.environ | {"ATEN_CPU_CAPABILITY": "default", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "grading", "build", notebook[:2], "--check"]
    result = subprocess.run(command, cwd=ROOT, env=plain, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("stored", "made", "same"),
    [
        ([56.97303, 0.1047178], [56.97315, 0.1047346], True),  # gradients: two processors round differently
        ([0.9, 0.1047178], [0.9, 0.1047346], False),
        ([56.97303, 0.1047178], [56.97303, 0.106], False),
        (["inf", 56.97303, 0.1], ["-inf", 56.97303, 0.1], False),
        ([2, 3], [2, 4], False),
    ],
)
def test_small_numbers_may_differ_by_what_large_ones_beside_them_are_rounded(
    stored: list[object], made: list[object], same: bool
) -> None:
    assert examples.same({"values": stored}, {"values": made}) == same


def test_what_is_asked_is_written_with_the_fewest_digits_that_make_the_same_numbers() -> None:
    drawn = torch.randn(2000, generator=torch.Generator().manual_seed(1))
    ends = torch.tensor([0.1, 1 / 3, 2**-149, 3.4e38, -0.0, torch.inf, -torch.inf, 2**24 + 2.0])
    for tensor in (drawn, ends, (10 * drawn).round() / 10, drawn.half(), drawn.bfloat16(), drawn.long(), drawn > 0):
        written = examples._asked(plain.encode({"x": tensor}))
        again = plain.decode(json.loads(json.dumps(written)))["x"]
        assert again.dtype == tensor.dtype
        assert torch.equal(again, tensor)
    assert examples._asked(plain.encode(ends[:1]))["values"] == [0.1]


def test_the_small_source_is_accepted(tmp_path: Path) -> None:
    path = written(tmp_path, whole())
    source.validate(path, source.read(path))


def test_an_unknown_word_is_refused_with_file_and_line(tmp_path: Path) -> None:
    text = whole() + "\n# %% exercize\nx = 1\n"
    line = text.splitlines().index("# %% exercize") + 1
    assert f"01_causal_mask.py:{line}: unknown word 'exercize'" in refused(tmp_path, text)


def test_an_unknown_key_is_refused(tmp_path: Path) -> None:
    assert "unknown word 'point'" in refused(tmp_path, whole() + "\n# %% point=3\nx = 1\n")


def test_duplicate_ids_are_refused(tmp_path: Path) -> None:
    text = whole() + '\n# %% exercise="causal_mask"\n### BEGIN SOLUTION\n### END SOLUTION\n'
    assert "'causal_mask' is already the id of line" in refused(tmp_path, text)


def test_a_check_cell_is_added_behind_its_exercise_with_the_points_of_the_table(tmp_path: Path) -> None:
    cells = source.read(written(tmp_path, whole()))
    at = next(number for number, cell in enumerate(cells) if (cell.kind, cell.name) == ("exercise", "wasted_scores"))
    added = cells[at + 1]
    assert (added.kind, added.name, added.points, added.source) == ("check", "wasted_scores", 2, "check(wasted_scores)")


def test_what_an_exercise_takes_stands_before_it_and_in_the_table_which_sums_it(tmp_path: Path) -> None:
    text = whole().replace(
        '\n# %% exercise="wasted_scores"', '\n# %% [markdown]\n# Count.\n\n# %% exercise="wasted_scores"'
    )
    text = text.replace("| **14**", "| **16**").replace("# | **total**", "# | *essay* `why` | why | 2 |\n# | **total**")
    cells = source.read(written(tmp_path, text + '\n# %% [markdown] essay="why"\n# A rubric.\n'))
    texts = [one.source for one, after in itertools.pairwise(cells) if after.name == "wasted_scores"]
    assert texts[0] == "Count.\n\n*About 8 minutes, difficulty ●○○.*"
    (before,) = (
        one for one, after in itertools.pairwise(cells) if (after.kind, after.name) == ("exercise", "padding_mask")
    )
    assert (before.kind, before.source) == ("prose", "*About 8 minutes, difficulty ●○○.*")  # behind a check cell
    assert [line for line in cells[0].source.splitlines() if line.startswith("|")] == [
        "| exercise | what | minutes | difficulty | points |",
        "|---|---|---|---|---|",
        "| `causal_mask` | the mask | 8 | ●○○ | 3 |",
        "| `attention_weights` | weights | 8 | ●○○ | 3 |",
        "| `wasted_scores` | formula | 8 | ●○○ | 2 |",
        "| `future_influence` | bool | 15 | ●●○ | 3 |",
        "| `padding_mask` | padding | 8 | ●○○ | 3 |",
        "| *essay* `why` | why | 16 |  | 2 |",
        "| **total** | | **63** |  | **16** |",
    ]


def test_an_exercise_that_says_no_minutes_counts_by_its_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "effort", lambda notebook, name: None)
    cells = source.read(written(tmp_path, whole()))
    assert "| `wasted_scores` | formula | 10 |  | 2 |" in cells[0].source
    assert not any("difficulty ●" in cell.source for cell in cells)


def test_an_exercise_without_a_row_in_the_table_is_refused(tmp_path: Path) -> None:
    text = whole().replace("| `padding_mask` | padding | 3 |\n# ", "")
    assert "the table in the head gives 'padding_mask' no points; expected a number above 0" in refused(tmp_path, text)


def test_a_row_without_its_exercise_is_refused(tmp_path: Path) -> None:
    text = whole().replace("# | **total**", "# | `lost` | nothing | 2 |\n# | **total**")
    assert "the table in the head has a row for 'lost', and no cell is called so" in refused(tmp_path, text)


def test_an_exercise_without_definition_is_refused(tmp_path: Path) -> None:
    text = whole().replace("causal_mask", "casual_mask")
    wanted = "exercise 'casual_mask' has no definition; expected it in grading/exercises/01_causal_mask/casual_mask.py"
    assert wanted in refused(tmp_path, text)


def test_a_definition_without_exercise_is_refused(tmp_path: Path) -> None:
    without = whole().replace(EXERCISE.format(name="padding_mask"), "")
    assert "defines 'padding_mask', and the notebook has no such exercise" in refused(tmp_path, without)


def test_points_that_are_not_those_of_the_stages_are_refused(tmp_path: Path) -> None:
    text = whole().replace("| formula | 2 |", "| formula | 5 |").replace("**14**", "**17**")
    assert "the table in the head gives 'wasted_scores' 5 points, its stages add up to 2" in refused(tmp_path, text)


def test_a_wrong_total_is_refused(tmp_path: Path) -> None:
    assert "the table's last row must be" in refused(tmp_path, whole().replace("**14**", "**15**"))


def test_a_solution_outside_an_exercise_is_refused(tmp_path: Path) -> None:
    text = whole() + "\n# %% experiment\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n"
    assert "belong, in pairs, into exercise cells and nowhere else" in refused(tmp_path, text)


def test_a_hidden_test_written_by_hand_is_refused(tmp_path: Path) -> None:
    text = whole() + "\n# %% experiment\n### BEGIN HIDDEN TESTS\nx = 1\n### END HIDDEN TESTS\n"
    assert "hidden tests are written by the build" in refused(tmp_path, text)


def test_a_cell_is_one_thing(tmp_path: Path) -> None:
    assert "a cell is one thing" in refused(tmp_path, whole() + '\n# %% exercise="a" essay="a"\nx = 1\n')


@pytest.mark.parametrize("points", ["0", "-1", "three", ""])
def test_points_must_be_a_number_above_zero(tmp_path: Path, points: str) -> None:
    text = whole().replace("| formula | 2 |", f"| formula | {points} |")
    assert "expected a number above 0" in refused(tmp_path, text)


def test_what_a_check_brings_along_is_small() -> None:
    """Every clone and every student's wheel holds it: a long question needs one long axis, not two."""
    sizes = {path.name: path.stat().st_size for path in ROOT.glob("tutor/check_examples/*/*.json")}
    assert {name: size for name, size in sizes.items() if size > 2_400_000} == {}


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the course's sources, and of what is made of notebook 01 and of all heads."""
    made = [ROOT / name for name in ("README.md", "docs/syllabus.md", "docs/glossary.md", "pyproject.toml")]
    made += [ROOT / "docs/before.md", ROOT / "docs/recap.md", *ROOT.glob("*/00_start_here/*.html")]
    made += [ROOT / "docs/images/path.svg", *ROOT.glob("*/00_start_here/path.svg"), ROOT / "solutions/words.md"]
    made += [
        *ROOT.glob("tutor/check_examples/*.json"),
        ROOT / "nbgrader_config.py",
        *build.sources(),
        *ROOT.glob("*/01_causal_mask/*.ipynb"),
    ]
    for path in [*made, *ROOT.glob("tutor/check_examples/01_causal_mask/*")]:
        copied = tmp_path / path.relative_to(ROOT)
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_bytes(path.read_bytes())
    monkeypatch.setattr(build, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.all
def test_a_drift_is_named(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build.check(["01"]) == []

    released = copy / "notebooks/01_causal_mask/01_causal_mask.ipynb"
    released.write_text(released.read_text().replace("The causal mask", "A causal mask", 1))
    examples = copy / "tutor/check_examples/01_causal_mask/causal_mask.json"
    kept = json.loads(examples.read_text())
    kept["hints"]["the diagonal is blocked too"] = "changed by hand"
    examples.write_text(json.dumps(kept))
    examples.with_name("padding_mask.json").write_text('{"cut off')
    examples.with_name("causal_task.json").write_text("{}")
    (copy / "README.md").write_text((copy / "README.md").read_text().replace(" | 16 |", " | 17 |", 1))
    assert main(["build", "01", "--check"]) == 1
    folder, defined = "tutor/check_examples/01_causal_mask", "grading/exercises/01_causal_mask"
    assert capsys.readouterr().out.splitlines() == [
        f"{folder}/causal_mask.json: stale, {defined}/causal_mask.py says something else",
        f"{folder}/padding_mask.json: stale, {defined}/padding_mask.py says something else",
        "notebooks/01_causal_mask/01_causal_mask.ipynb: stale, its source 01_causal_mask.py says something else",
        "README.md: stale, the heads of the sources say something else",
        f"{folder}/causal_task.json: has no source; remove it",
        "run `make build` and commit the result.",
    ]


@pytest.mark.parametrize("sign", ["[passed] ", "&#10003;</span> "], ids=["as text", "as a page"])
def test_a_check_that_shows_the_stages_of_before_is_named(copy: Path, sign: str) -> None:
    solved = copy / "solutions/01_causal_mask/01_causal_mask.ipynb"
    solved.write_text(solved.read_text("utf-8").replace(f"{sign}one token alone", f"{sign}the name of before"))
    (sentence,) = build.check(["01"])
    assert sentence.endswith("01_causal_mask.ipynb: stale, causal_mask's check shows stages that are no longer its own")


def test_the_build_writes_what_differs_and_nothing_else(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "execute", lambda draft, folder, experiments=True: draft)  # a kernel takes a minute
    monkeypatch.setattr(build, "refuse_lost_marks", lambda name, notebook, how: None)
    changed = copy / "tutor/check_examples/01_causal_mask/causal_mask.json"
    changed.write_text("{}")
    before = {path: path.stat().st_mtime_ns for path in copy.rglob("*.json")}
    printed: list[str] = []
    build.build(["01"], log=printed.append)
    assert [path for path, time in before.items() if path.stat().st_mtime_ns != time] == [changed]
    assert printed == [
        "tutor/check_examples/01_causal_mask/causal_mask.json: made",
        "solutions/01_causal_mask/01_causal_mask.ipynb: made",  # without outputs, as no kernel ran here
        "notebooks/01_causal_mask/01_causal_mask.ipynb: unchanged",
    ]
    assert build.check(["01"]) == []


def test_experiments_keep_their_outputs_where_only_a_text_is_changed(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def execute(draft: nbformat.NotebookNode, folder: Path, experiments: bool = True) -> nbformat.NotebookNode:
        assert not experiments
        run = deepcopy(draft)
        run.cells = [one for one in run.cells if not is_experiment(one)]
        for cell in run.cells:
            if cell.cell_type == "code":
                cell.outputs = [nbformat.v4.new_output("execute_result", execution_count=7)]
        return run

    monkeypatch.setattr(build, "execute", execute)
    monkeypatch.setattr(build, "refuse_lost_marks", lambda name, notebook, how: None)
    source, file = copy / "solutions/01_causal_mask.py", copy / "solutions/01_causal_mask/01_causal_mask.ipynb"
    before = [cell.outputs for cell in nbformat.read(file, as_version=4).cells if is_experiment(cell)]
    assert any(before)
    text = source.read_text(encoding="utf-8").replace("\n# ## ", "\n# Well.\n#\n# ## ", 1)
    text = text.replace("# %% experiment\n# @title ", "# %% experiment\n# @title Anew: ", 1)
    source.write_text(text, encoding="utf-8")
    build.build(["01"], keep=True, log=lambda line: None)
    made = [cell for cell in nbformat.read(file, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in made if is_experiment(cell)] == before
    assert [cell.execution_count for cell in made] == list(range(1, len(made) + 1))
    assert all(cell.outputs[0].execution_count == cell.execution_count for cell in made if not is_experiment(cell))

    changed = text.replace("# @title Anew: ", "# @title Anew\nx = 1  # ", 1)
    source.write_text(changed, encoding="utf-8")
    with pytest.raises(
        BuildError, match=r"01_causal_mask: this experiment is new, '# @title Anew': build it without --keep\."
    ):
        build.build(["01"], keep=True, log=lambda line: None)


def test_a_notebook_runs_beside_what_is_made_of_all_sources(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last cell shows the points of all exercises, also of one that is new."""
    stale = copy / "tutor/check_examples/notebooks.json"
    wanted = stale.read_text(encoding="utf-8")
    stale.write_text("{}", encoding="utf-8")
    found = list[str]()

    def execute(draft: nbformat.NotebookNode, folder: Path, experiments: bool = True) -> nbformat.NotebookNode:
        found.append(stale.read_text(encoding="utf-8"))
        return draft

    monkeypatch.setattr(build, "execute", execute)
    monkeypatch.setattr(build, "refuse_lost_marks", lambda name, notebook, how: None)
    build.build(["01"], log=lambda line: None)
    assert found == [wanted, wanted]


@pytest.mark.parametrize("problem", [BuildError("the solution notebook does not run"), KeyboardInterrupt()])
def test_a_build_that_fails_changes_no_file(
    problem: BaseException, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = copy / "tutor/check_examples/01_causal_mask/padding_mask.json"
    new.unlink()
    for name in ("tutor/check_examples/notebooks.json", "tutor/check_examples/01_causal_mask/causal_mask.json"):
        (copy / name).write_text("{}", encoding="utf-8")
    before = {path: path.read_bytes() for path in copy.rglob("*.*")}
    found = list[bool]()

    def execute(draft: nbformat.NotebookNode, folder: Path, experiments: bool = True) -> nbformat.NotebookNode:
        found.append(new.exists())
        raise problem

    monkeypatch.setattr(build, "execute", execute)
    with pytest.raises(type(problem)):
        build.build(["01"], log=lambda line: None)
    assert found == [True]  # the run has it, as its checks read it
    assert {path: path.read_bytes() for path in copy.rglob("*.*")} == before


def test_what_is_wrong_in_a_later_source_is_found_before_a_notebook_runs(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "execute", lambda *_, **__: pytest.fail("a notebook is run"))
    source = copy / "solutions/02_positional_encoding.py"
    source.write_text(source.read_text("utf-8").replace("# | `order_blindness` |", "# | `order_blind` |"), "utf-8")
    with pytest.raises(BuildError, match="order_blind"):
        build.build(["00", "02"], log=lambda line: None)


def test_examples_are_made_without_running_a_notebook(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "execute", lambda *_, **__: pytest.fail("a notebook is run"))
    changed = copy / "tutor/check_examples/01_causal_mask/causal_mask.json"
    changed.write_text("{}")
    assert main(["build", "01", "--examples"]) == 0
    assert capsys.readouterr().out == "tutor/check_examples/01_causal_mask/causal_mask.json: made\n"
    assert build.check(["01"]) == []


# --- the head of a source ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("#   course:", "#   curse:", "its head has no place in the course; expected below `course:`"),
        ("#     part: attention\n", "", "its head has no place in the course"),
        ("#     part: attention", "#     part: attentive", "'part': 'attentive'"),
        ("#     column: 1", "#     column: one", "'column': 'one'"),
        ('#     builds_on: ["00"]', "#     builds_on: [00]", "'builds_on': [0]"),
        ("#     row: 0", "#     row: 0\n#     colour: red", "'colour': 'red'"),
        ('#     builds_on: ["00"]', '#     builds_on: ["77"]', "builds on '77'; expected one of: 00, 01"),
        ("#     column: 1", "#     column: 0", "has the column and row of notebook 00"),
        ("# # 01 · The causal mask", "# # The causal mask", "its first cell lacks a part"),
        ("#     row: 0", "#     row: 0\n#     running: long", "'running': 'long'"),
        ("#     questions:", f"#     questions:\n#       - {'x' * 31}?", "has room for 31 signs; got 32"),
        ("about 1 h 30 min", "about 20 min", "its head says '20 min', but at a student's pace"),
    ],
)
def test_a_head_that_says_too_little_is_refused(copy: Path, old: str, new: str, message: str) -> None:
    path = copy / "solutions/01_causal_mask.py"
    assert old in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BuildError) as raised:
        build.common_products()
    assert message in str(raised.value)
    assert "01_causal_mask.py" in str(raised.value)


def test_a_students_pace_counts_what_students_read_and_answer() -> None:
    def cell(kind: str, text: str, minutes: float = 0) -> source.Cell:
        language = "code" if kind in ("experiment", "setup", "exercise", "check") else "markdown"
        return source.Cell(kind, "", None, text, language, 1, minutes)

    words, lines = pacing.WORDS_PER_MINUTE, pacing.LINES_PER_MINUTE
    assert pacing.pace([cell("prose", "word " * 3 * words)]) == pytest.approx(3)
    assert pacing.pace([cell("setup", "x = 1\n\n" * 2 * lines)], running=4) == pytest.approx(2 + 4)
    folded = cell("experiment", "x = 1\n" * 2 * lines)
    assert pacing.pace([folded, dataclasses.replace(folded, is_open=True)]) == pytest.approx(2)
    assert pacing.pace([cell("questions", "word " * words)]) == pytest.approx(1)
    unread = [cell("exercise", "a solution\n" * 99), cell("check", "check(f)", 9), cell("essay", "a rubric " * 99, 16)]
    assert pacing.pace(unread) == pytest.approx(9 + 16)
    assert [pacing.in_quarters(minutes) for minutes in (2, 14, 58, 66, 111, 181)] == [
        "5 min", "15 min", "1 h", "1 h", "1 h 45 min", "3 h",
    ]  # fmt: skip


def test_a_readme_without_its_markers_is_refused(copy: Path) -> None:
    path = copy / "README.md"
    path.write_text(path.read_text(encoding="utf-8").replace(syllabus.END_TABLE, ""), encoding="utf-8")
    with pytest.raises(BuildError, match=r"README.md has no table of notebooks; expected a line <!-- made by"):
        build.common_products()


def test_a_new_notebook_takes_its_place_by_its_head_alone(copy: Path) -> None:
    text = (copy / "solutions/12_hyperparameter_sweep.py").read_text(encoding="utf-8").replace("# # 12 ·", "# # 77 ·")
    text = text.replace('builds_on: ["11", "05"]', 'builds_on: ["12"]').replace("#     row: 2", "#     row: 7")
    text = re.sub(r"^# - \*\*(?=.*: )", "# - **another ", text, flags=re.MULTILINE)  # a glossary has each word once
    (copy / "solutions/77_after_the_sweep.py").write_text(text, encoding="utf-8")
    made = {path.name: content for path, content in build.common_products().items()}
    assert "12 after 11 and 05; 77 after 12." in made["syllabus.md"]
    assert "77 builds on 12." in made["path.svg"]
    assert "| `77_after_the_sweep` | a sweep that can be interrupted" in made["README.md"]


# --- what students get ------------------------------------------------------------------------------------------------


def regions(text: str, begin: str, end: str) -> list[str]:
    return re.findall(rf"{begin}\n(.*?)\n[ \t]*{end}", text, re.DOTALL)


@pytest.mark.parametrize("stem", STEMS)
def test_code_needs_no_horizontal_scroll_bar(stem: str) -> None:
    path = ROOT / "solutions" / f"{stem}.py"
    notebook = build.solution_notebook(path, source.read(path), "https://example.org/course")
    lines = [line for cell in notebook.cells if cell.cell_type == "code" for line in cell.source.split("\n")]
    assert [line for line in lines if len(line) > 108] == []  # what a laptop shows beside the list of files


@pytest.mark.parametrize("stem", STEMS)
def test_no_released_byte_holds_a_solution(stem: str) -> None:
    notebook = nbformat.read(ROOT / "notebooks" / stem / f"{stem}.ipynb", as_version=4)
    released = "\n".join(cell.source for cell in notebook.cells)
    raw = (ROOT / "notebooks" / stem / f"{stem}.ipynb").read_text(encoding="utf-8")
    for word in (
        "BEGIN SOLUTION",
        "BEGIN HIDDEN",
        "from grading",
        "grading.definitions.examiner",
        "MARK SCHEME",
        "Rubric",
    ):
        assert word not in raw, word
    text = (ROOT / "solutions" / f"{stem}.py").read_text(encoding="utf-8")
    for region in regions(text, BEGIN, END):
        lines = [line.strip() for line in region.splitlines() if len(line.strip()) > 25]
        leaked = [line for line in lines if line in released]
        assert not leaked, leaked
    assert not any(cell.get("outputs") for cell in notebook.cells)


@pytest.mark.parametrize("stem", STEMS)
def test_canaries_planted_in_the_solution_do_not_come_out(stem: str) -> None:
    path = ROOT / "solutions" / f"{stem}.py"
    notebook = build.solution_notebook(path, source.read(path), "https://example.org/course")
    planted = 0
    for cell in notebook.cells:
        for mark in (BEGIN, BEGIN_HIDDEN):
            if mark in cell.source:
                cell.source = cell.source.replace(mark, f"{mark}\n    # canary-{planted}")
                planted += 1
        settings = cell.metadata.get("nbgrader", {})
        if settings.get("grade") and settings.get("solution"):
            cell.source += f" canary-{planted}"
            planted += 1
    assert planted >= 2
    assert "canary" in build.text(notebook)
    assert "canary" not in build.text(build.release(notebook))


def test_the_public_examples_do_not_reveal_a_sealed_answer() -> None:
    for stem in STEMS:
        folder = ROOT / "tutor" / "check_examples" / stem
        assert {file.stem for file in folder.iterdir()} == exercise.load(stem).keys()
        for name, defined in exercise.load(stem).items():
            stored = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            own = [entry for entry in stored["stages"] if not entry.get("cost")]
            for stage, entry in zip(defined.stages, own, strict=True):
                for case in entry["cases"]:
                    assert ("sealed" in json.dumps(case["wanted"])) == stage.sealed, (name, stage.name)
            kept = [case["ask"] for entry in stored["stages"] if entry.get("cost") for case in entry["cases"]]
            if any(stage.sealed for stage in defined.stages):  # what every answer keeps reveals no result
                assert all(ask["take"] == "random numbers" for ask in kept), name


def of_one_cell(source: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source)],
        metadata={"kernelspec": {"name": "python3", "display_name": "p"}, "language_info": {"name": "python"}},
    )


def test_a_cell_that_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="ZeroDivisionError"):
        build.execute(of_one_cell("1 / 0"), tmp_path)


def test_a_notebook_asks_the_modules_of_its_own_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "tutor" / "__init__.py"
    installed.parent.mkdir()
    installed.write_text("raise ImportError('the tutor of another clone')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    executed = build.execute(of_one_cell("import tutor\nprint(tutor.__file__)"), tmp_path)
    assert executed.cells[0].outputs[0].text.strip() == str(ROOT / "tutor" / "__init__.py")


def test_an_unknown_notebook_is_refused_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "77", "--check"]) == 2
    assert "no notebook is called '77'; expected one of: 00_start_here" in capsys.readouterr().err


# --- what students do before and behind an experiment -----------------------------------------------------------------

GUESSED = """
# %% guess
guess("the loss", ...)

# %% experiment
# @title The loss
loss = 3.0

# %% reveal
reveal("the loss", loss)
"""


def test_a_guess_and_what_reveals_it_are_cells_on_which_no_mark_depends(tmp_path: Path) -> None:
    path = written(tmp_path, whole() + GUESSED)
    cells = source.read(path)
    source.validate(path, cells)
    made = build.solution_notebook(path, cells).cells[-3:]
    assert all(is_experiment(cell) for cell in made)
    assert [cell.metadata.tags[-1] for cell in made] == ["guess", "experiment", "reveal"]
    assert [cell.metadata.get("jupyter") for cell in made] == [None, {"source_hidden": True}, None]
    assert made[1].metadata.cellView == "form"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('reveal("the loss"', 'reveal("a loss"', "'a loss' is revealed, and was not to be guessed before"),
        (
            "# %% reveal\n",
            "# %% experiment open=true\n",
            "'the loss' is to be guessed, and no cell behind it reveals it",
        ),
        ('guess("the loss", ...)', "loss = ...", 'expected one line guess("what it is about", ...)'),
        ("# @title The loss\n", "", "expected `# @title` and what the cell shows as its first line"),
        ("# %% experiment\n", "# %% experiment open=true\n", "not both"),
        ("# %% guess\n", "# %% guess open=true\n", "expected `open=true`, and for an experiment"),
        ("# %% guess\n", '# %% guess\nguess("the loss", ...)\n\n# %% guess\n', "'the loss' is asked twice"),
    ],
)
def test_guesses_and_captions_that_do_not_fit_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert GUESSED.count(old) == 1
    assert message in refused(tmp_path, whole() + GUESSED.replace(old, new))


def test_an_experiment_that_is_open_needs_no_caption(tmp_path: Path) -> None:
    path = written(tmp_path, whole() + "\n# %% experiment open=true\nloss = 3.0\n")
    cells = source.read(path)
    source.validate(path, cells)
    assert "jupyter" not in build.solution_notebook(path, cells).cells[-1].metadata


@pytest.mark.parametrize("name", ["causal_mask", "no_exercise"])
def test_an_example_by_hand_that_no_exercise_has_is_refused(tmp_path: Path, name: str) -> None:
    message = 'expected by_hand("EXERCISE", ...) with one of: attention_weights.'
    assert message in refused(tmp_path, whole() + HAND.replace("attention_weights", name))


def test_an_example_by_hand_that_no_cell_asks_for_is_refused(tmp_path: Path) -> None:
    text = whole().replace(HAND, "")
    assert "'attention_weights' has an example by hand, and no cell asks for it" in refused(tmp_path, text)


def test_another_caption_makes_no_other_experiment() -> None:
    one, other = (nbformat.v4.new_code_cell(f"{caption}x = 1") for caption in ("# @title One\n", ""))
    assert build._computed(one) == build._computed(other) != build._computed(nbformat.v4.new_code_cell("x = 2"))
    assert build._computed(nbformat.v4.new_code_cell("%time x")) == "%time x"
