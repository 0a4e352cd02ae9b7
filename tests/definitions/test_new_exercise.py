"""`python -m grading new` writes an exercise that passes its own tests once its cells stand in the notebook."""

import json
import re
from pathlib import Path

import pytest

from grading.__main__ import main
from grading.definitions import catalogue
from tests.clones import clone, python

NAME = "token_count"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "77_nothing token_count",
            "no notebook is called '77_nothing'; expected one of: 00_start_here, 01_",
        ),
        ("00_start_here token-count", "no function can be called 'token-count'; expected letters, digits"),
        ("00_start_here _count", "no function can be called '_count'"),
        ("00_start_here class", "no function can be called 'class'"),
        ("00_start_here causal_mask", "01_causal_mask has an exercise 'causal_mask' already"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_sentence(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {notebook: catalogue.names(notebook) for notebook in catalogue.notebooks()}
    assert main(["new", *words.split()]) == 2
    assert message in capsys.readouterr().err
    assert {notebook: catalogue.names(notebook) for notebook in catalogue.notebooks()} == before


@pytest.mark.all
def test_a_new_exercise_passes_its_own_tests(repository: Path, tmp_path: Path) -> None:
    course = clone(repository, tmp_path / "course")
    done = python(course, ["-m", "grading", "new", "00_start_here", NAME])
    assert done.returncode == 0, done.stderr
    written = [course / path for path in re.findall(r"^wrote (\S+)$", done.stdout, re.MULTILINE)]
    assert sorted(path.name for path in written) == [f"{NAME}.answers.py", f"{NAME}.hints.md", f"{NAME}.py"]
    assert all(path.is_file() for path in written)

    source = course / "solutions" / "00_start_here.py"
    (row,) = re.findall(r"^# \| .*\n", done.stdout, re.MULTILINE)
    (cells,) = re.findall(r"^# %% exercise.*?^    ### END SOLUTION\n", done.stdout, re.MULTILINE | re.DOTALL)
    total = "# | **total** | | **1** |"
    text = source.read_text(encoding="utf-8").replace(total, f"{row}{total.replace('1', '2')}")
    source.write_text(text.replace('# %% exercise="batch', f'{cells}\n\n# %% exercise="batch', 1), encoding="utf-8")

    commands = re.findall(r"^\.venv/bin/python (.*)$", done.stdout, re.MULTILINE)
    assert len(commands) == 3
    too_early = python(course, commands[1].split())
    assert too_early.returncode != 0
    assert too_early.stderr.splitlines()[-1].endswith("run `python -m grading build 00 --examples` first.")
    printed = list[str]()
    for command in commands:
        ended = python(course, command.split())
        assert ended.returncode == 0, ended.stdout + ended.stderr
        printed.append(ended.stdout)
    assert re.search(r"\b\d+ passed", printed[1])
    assert "failed" not in printed[1]
    hints = json.loads((course / "tutor/check_examples/hints.json").read_text(encoding="utf-8"))
    assert len(hints[NAME]) == 3
    changed = python(course, ["-m", "ruff", "check", *map(str, written)])
    assert changed.returncode == 0, changed.stdout
    laid_out = python(course, ["-m", "ruff", "format", "--check", *map(str, written)])
    assert laid_out.returncode == 0, laid_out.stdout
