"""The build: what it makes, what it refuses, and that nothing leaks into what students get."""

import json
import re
from pathlib import Path

import nbformat
import pytest

from grading import exercise
from grading.__main__ import main
from grading.authoring import build, source, syllabus
from grading.authoring.source import BuildError

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

# %% check="{name}" points={points}
check({name})
"""
POINTS = {"causal_mask": 3, "attention_weights": 3, "wasted_scores": 2, "future_influence": 3, "padding_mask": 3}


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "01_causal_mask.py"
    path.write_text(text, encoding="utf-8")
    return path


def whole(**changes: str) -> str:
    """Returns a small source for notebook 01 in which every part fits."""
    return HEAD + "".join(EXERCISE.format(name=name, points=points) for name, points in POINTS.items())


def refused(tmp_path: Path, text: str) -> str:
    path = written(tmp_path, text)
    with pytest.raises(BuildError) as raised:
        source.validate(path, source.read(path))
    return str(raised.value)


def test_every_made_file_agrees_with_its_source() -> None:
    assert build.check() == []


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


def test_an_exercise_without_check_is_refused(tmp_path: Path) -> None:
    text = whole() + '\n# %% exercise="more"\n### BEGIN SOLUTION\n### END SOLUTION\n'
    assert "exercise 'more' has no check" in refused(tmp_path, text)


def test_a_check_without_definition_is_refused(tmp_path: Path) -> None:
    text = whole().replace("causal_mask", "casual_mask")
    assert (
        "check 'casual_mask' has no definition; expected it in grading/exercises/01_causal_mask/casual_mask.py"
        in refused(tmp_path, text)
    )


def test_a_definition_without_check_is_refused(tmp_path: Path) -> None:
    without = whole().replace(EXERCISE.format(name="padding_mask", points=3), "")
    assert "defines 'padding_mask', but the notebook has no check for it" in refused(tmp_path, without)


def test_points_that_are_not_those_of_the_stages_are_refused(tmp_path: Path) -> None:
    text = whole().replace('check="wasted_scores" points=2', 'check="wasted_scores" points=5')
    assert "says 5 points, its stages add up to 2" in refused(tmp_path, text)


def test_points_that_are_not_those_of_the_table_are_refused(tmp_path: Path) -> None:
    text = whole().replace("| `padding_mask` | padding | 3 |", "| `padding_mask` | padding | 4 |")
    assert "the table in the head gives 'padding_mask' 4.0 points" in refused(tmp_path, text)


def test_a_wrong_total_is_refused(tmp_path: Path) -> None:
    assert "the table's last row must be" in refused(tmp_path, whole().replace("**14**", "**15**"))


def test_a_solution_outside_an_exercise_is_refused(tmp_path: Path) -> None:
    text = whole() + "\n# %% experiment\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n"
    assert "belong, in pairs, into exercise cells and nowhere else" in refused(tmp_path, text)


def test_a_hidden_test_written_by_hand_is_refused(tmp_path: Path) -> None:
    text = whole() + "\n# %% experiment\n### BEGIN HIDDEN TESTS\nx = 1\n### END HIDDEN TESTS\n"
    assert "hidden tests are written by the build" in refused(tmp_path, text)


def test_a_cell_is_one_thing(tmp_path: Path) -> None:
    assert "a cell is one thing" in refused(tmp_path, whole() + '\n# %% exercise="a" check="a" points=1\nx = 1\n')


@pytest.mark.parametrize("points", ["0", "-1", '"three"', "true"])
def test_points_must_be_a_number_above_zero(tmp_path: Path, points: str) -> None:
    text = whole().replace('check="wasted_scores" points=2', f'check="wasted_scores" points={points}')
    assert "expected a number above 0" in refused(tmp_path, text)


def test_a_drift_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    released = Path("notebooks/01_causal_mask/01_causal_mask.ipynb")
    solved = Path("solutions/01_causal_mask/01_causal_mask.ipynb")
    files = ["pyproject.toml", "nbgrader_config.py", "solutions/01_causal_mask.py", str(released), str(solved)]
    for name in [*files, "helpers/check_examples/01_causal_mask.json"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((build.ROOT / name).read_bytes())
    examples = tmp_path / "helpers" / "check_examples" / "01_causal_mask.json"
    kept = json.loads(examples.read_text())
    for name, text in syllabus.made([tmp_path / "solutions/01_causal_mask.py"]).items():
        build.write(tmp_path / name, text)
    monkeypatch.setattr(build, "ROOT", tmp_path)
    assert build.check() == []

    (tmp_path / released).write_text((tmp_path / released).read_text().replace("The causal mask", "A causal mask", 1))
    kept["causal_mask"]["hints"]["the diagonal is blocked too"] = "changed by hand"
    examples.write_text(json.dumps(kept))
    assert main(["build", "--check"]) == 1
    told = capsys.readouterr().out
    assert f"{released}: stale" in told
    assert "helpers/check_examples/01_causal_mask.json: stale" in told
    assert str(solved) not in told


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "made.txt"
    build.write(path, "old")

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(build.os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        build.write(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["made.txt"]


def regions(text: str, begin: str, end: str) -> list[str]:
    return re.findall(rf"{begin}\n(.*?)\n[ \t]*{end}", text, re.DOTALL)


@pytest.mark.parametrize("stem", STEMS)
def test_code_needs_no_horizontal_scroll_bar(stem: str) -> None:
    path = build.ROOT / "solutions" / f"{stem}.py"
    notebook = build.solution_notebook(path, source.read(path), "https://example.org/course")
    lines = [line for cell in notebook.cells if cell.cell_type == "code" for line in cell.source.split("\n")]
    assert [line for line in lines if len(line) > 108] == []  # what a laptop shows beside the list of files


@pytest.mark.parametrize("stem", STEMS)
def test_no_released_byte_holds_a_solution(stem: str) -> None:
    told = nbformat.read(build.ROOT / "notebooks" / stem / f"{stem}.ipynb", as_version=4)
    released = "\n".join(cell.source for cell in told.cells)
    raw = (build.ROOT / "notebooks" / stem / f"{stem}.ipynb").read_text(encoding="utf-8")
    for word in ("BEGIN SOLUTION", "BEGIN HIDDEN", "from grading", "grading.examiner", "MARK SCHEME", "Rubric"):
        assert word not in raw, word
    text = (build.ROOT / "solutions" / f"{stem}.py").read_text(encoding="utf-8")
    for region in regions(text, source.BEGIN, source.END):
        lines = [line.strip() for line in region.splitlines() if len(line.strip()) > 25]
        told_elsewhere = [line for line in lines if line in released]
        assert not told_elsewhere, told_elsewhere
    assert not any(cell.get("outputs") for cell in told.cells)


@pytest.mark.parametrize("stem", STEMS)
def test_canaries_planted_in_the_solution_do_not_come_out(stem: str) -> None:
    path = build.ROOT / "solutions" / f"{stem}.py"
    notebook = build.solution_notebook(path, source.read(path), "https://example.org/course")
    planted = 0
    for cell in notebook.cells:
        for mark in (source.BEGIN, build.BEGIN_HIDDEN):
            if mark in cell.source:
                cell.source = cell.source.replace(mark, f"{mark}\n    # canary-{planted}")
                planted += 1
        told = cell.metadata.get("nbgrader", {})
        if told.get("grade") and told.get("solution"):
            cell.source += f" canary-{planted}"
            planted += 1
    assert planted >= 2
    assert "canary" in build.text(notebook)
    assert "canary" not in build.text(build.release(notebook))


def test_the_public_examples_do_not_tell_a_sealed_answer() -> None:
    for stem in STEMS:
        file = build.ROOT / "helpers" / "check_examples" / f"{stem}.json"
        told = json.loads(file.read_text(encoding="utf-8"))
        assert told.keys() == exercise.load(stem).keys()
        for name, defined in exercise.load(stem).items():
            for stage, entry in zip(defined.stages, told[name]["stages"], strict=True):
                for case in entry["cases"]:
                    assert ("sealed" in json.dumps(case["wanted"])) == stage.sealed, (name, stage.name)


@pytest.mark.parametrize("stem", STEMS)
def test_every_check_passes_without_the_experiments(stem: str, tmp_path: Path) -> None:
    path = build.ROOT / "solutions" / f"{stem}.py"
    draft = build.solution_notebook(path, source.read(path), "https://example.org/course")
    executed = build.execute(draft, tmp_path, experiments=False)
    assert len(executed.cells) < len(draft.cells) or stem == "00_start_here"
    marks = build.marks(executed)
    assert marks
    assert all(mark == points for mark, points in marks.values()), marks


def test_a_cell_that_fails_is_named(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("1 / 0")],
        metadata={"kernelspec": {"name": "python3", "display_name": "p"}, "language_info": {"name": "python"}},
    )
    with pytest.raises(BuildError, match="ZeroDivisionError"):
        build.execute(notebook, tmp_path)


def test_an_unknown_notebook_is_refused_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "77", "--check"]) == 1
    assert "no notebook is called '77'; expected one of: 00_start_here" in capsys.readouterr().err
