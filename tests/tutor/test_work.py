"""The student's working place: nothing that a student wrote is lost, whatever the newer release brings."""

from __future__ import annotations

import ast
import copy
import json
import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from nbgrader.utils import compute_checksum

from grading.autograder.nbgrader_commands import nbgrader
from grading.folder.course import COURSE_ID
from grading.notebooks import answers, cells
from tutor import __main__ as report
from tutor import merging, overview, work

NAME = "01_small"
STUB = 'def first(x):\n    """Doubles x."""\n    raise NotImplementedError("Replace this line by your answer")'
OTHER_STUB = STUB.replace("Doubles x.", "Doubles x, a tensor.")
ANSWER = 'def first(x):\n    """Doubles x."""\n    return 2 * x'

Notebook = dict[str, Any]


def cell(identifier: str, source: str, kind: str = "markdown", **settings: Any) -> Any:
    """Returns a cell; one with settings of nbgrader's has its checksum, as `nbgrader generate_assignment` makes it."""
    new = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
    made = new(source, id=identifier)
    if settings:
        flags = {"grade": False, "solution": False, "locked": False, "schema_version": 3, "task": False}
        made.metadata["nbgrader"] = {**flags, "grade_id": identifier, "cell_type": kind, **settings}
        made.metadata["nbgrader"]["checksum"] = compute_checksum(made)
    return made


def setup(source: str = "import torch") -> Any:
    return cell("setup", source, "code", locked=True)


def exercise(source: str = STUB, name: str = "first") -> Any:
    return cell(name, source, "code", solution=True)


def check(name: str = "first", points: float = 2) -> Any:
    return cell(f"{name}_check", f"check({name})", "code", grade=True, locked=True, points=points)


def essay(points: float = 1) -> Any:
    return cell("why", overview.ESSAY_STUB, grade=True, solution=True, points=points)


def notebook(*given: Any) -> Notebook:
    """Returns a released notebook, its cells of text and experiment numbered as the build numbers them."""
    made = copy.deepcopy(list(given))
    for number, one in enumerate(made):
        if "nbgrader" not in one.metadata:
            one["id"] = f"cell-{number:03d}"
    metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return dict(nbformat.v4.new_notebook(cells=made, metadata=metadata))


def text(source: str) -> Any:
    return cell("text", source)


def experiment(source: str) -> Any:
    made = cell("experiment", source, "code")
    made.metadata["tags"] = ["experiment"]
    return made


TITLE, STORY, FIGURE = text("# Title"), text("A story."), experiment("plot(first)")
OLD = notebook(TITLE, setup(), STORY, exercise(), check(), FIGURE, essay())


def sources(merged: Notebook) -> list[str]:
    return [merging.text(one) for one in merged["cells"]]


def edited(release: Notebook, **texts: str) -> Notebook:
    """Returns a student's copy of a release in which cells have another text, by id (`_` for `-`)."""
    mine = copy.deepcopy(release)
    for one in mine["cells"]:
        one["source"] = texts.get(one["id"].replace("-", "_"), one["source"])
    return mine


def put_in(mine: Notebook, place: int, source: str, kind: str = "code") -> None:
    mine["cells"].insert(place, cell(f"mine{len(mine['cells'])}", source, kind))


# --- one notebook -----------------------------------------------------------------------------------------------------


def test_the_checksum_is_nbgraders(repository: Path) -> None:
    found = 0
    for path in repository.glob("notebooks/*/*.ipynb"):
        for one in json.loads(path.read_text("utf-8"))["cells"]:
            if settings := one["metadata"].get("nbgrader"):
                found += 1
                assert merging.checksum(merging.text(one), settings) == settings["checksum"], (path, one["id"])
    assert found > 150


def test_answers_stay_texts_are_renewed_and_new_cells_come() -> None:
    mine = edited(OLD, first=ANSWER, why="Because.")
    put_in(mine, 3, "my_own = 1")  # below the story
    put_in(mine, 1, "My own text.", "markdown")  # below the title
    mine["cells"][6]["outputs"] = shown = [nbformat.v4.new_output("stream", text="all checks passed")]
    assert mine["cells"][6]["id"] == "first_check"
    new = notebook(
        TITLE, setup("import torch, math"), text("A better story."), exercise(), check(), text("New."), FIGURE, essay()
    )
    merged = merging.merge(mine, OLD, new)
    assert sources(merged.notebook) == [
        "# Title",
        "My own text.",
        "import torch, math",
        "A better story.",
        "my_own = 1",
        ANSWER,
        "check(first)",
        "New.",
        "plot(first)",
        "Because.",
    ]
    assert merged.summary == ("2 answers stay, 2 cells of your own stay, 2 texts and checks are renewed, 1 cell is new")
    assert merged.remarks == []
    assert merged.notebook["cells"][6]["outputs"] == shown
    assert merged.notebook["cells"][8]["id"] == "cell-006"  # that of the newer release
    nbformat.validate(nbformat.from_dict(merged.notebook))
    read = answers.read_cells(merged.notebook["cells"], new["cells"])
    assert read.answer("first") == ANSWER


def test_where_another_beginning_is_required_the_answer_stays_below_it() -> None:
    mine = edited(OLD, first=ANSWER)
    new = notebook(TITLE, setup(), STORY, exercise(OTHER_STUB), check(), FIGURE, essay())
    merged = merging.merge(mine, OLD, new)
    place = sources(merged.notebook).index(ANSWER)
    notice = merged.notebook["cells"][place - 1]
    assert notice["cell_type"] == "markdown"
    assert merging.text(notice).startswith("**The newer release begins this exercise in another way.**")
    assert OTHER_STUB in merging.text(notice)
    [remark] = merged.remarks
    assert remark.startswith("`first` begins in another way now. Your answer stays as it is;")
    again = merging.merge(merged.notebook, new, new)
    assert again.notebook["cells"] == merged.notebook["cells"]  # until the student deletes it
    third = notebook(TITLE, setup(), exercise(OTHER_STUB.replace("tensor", "number")), check(), FIGURE, essay())
    last = merging.merge(merged.notebook, new, third)
    [advice] = [one for one in sources(last.notebook) if one.startswith("**The newer release")]
    assert "a number" in advice


def test_an_unanswered_exercise_gets_its_new_beginning() -> None:
    new = notebook(TITLE, setup(), STORY, exercise(OTHER_STUB), check(points=5), FIGURE, essay(points=3))
    merged = merging.merge(OLD, OLD, new)
    assert sources(merged.notebook) == sources(new)
    assert merged.summary == "1 text or check is renewed"


def test_other_points_are_no_other_beginning() -> None:
    new = notebook(TITLE, setup(), STORY, exercise(), check(points=5), FIGURE, essay(points=3))
    merged = merging.merge(edited(OLD, first=ANSWER, why="Because."), OLD, new)
    assert merged.remarks == []
    points = [
        one["metadata"]["nbgrader"].get("points") for one in merged.notebook["cells"] if "nbgrader" in one["metadata"]
    ]
    assert points == [None, None, 5, 3]


def test_what_a_student_tried_in_an_experiment_stays() -> None:
    mine = edited(OLD, cell_005="plot(first, size=9)")
    longer = notebook(TITLE, text("New."), setup(), STORY, exercise(), check(), FIGURE, essay())
    assert "plot(first, size=9)" in sources(merging.merge(mine, OLD, longer).notebook)
    anew = notebook(TITLE, setup(), STORY, exercise(), check(), experiment("draw(first)"), essay())
    merged = merging.merge(mine, OLD, anew)
    found = sources(merged.notebook)
    place = found.index("draw(first)")
    assert found[place + 2] == "plot(first, size=9)"
    assert "yours below" in found[place + 1]
    assert len(merged.remarks) == 1


def test_a_deleted_text_stays_deleted_and_a_deleted_check_comes_back() -> None:
    mine = copy.deepcopy(OLD)
    mine["cells"] = [one for one in mine["cells"] if one["id"] not in ("cell-002", "first_check")]
    new = notebook(TITLE, setup(), STORY, exercise(), check(), FIGURE, text("New."), essay())
    merged = merging.merge(mine, OLD, new)
    assert sources(merged.notebook) == [
        "# Title", "import torch", STUB, "check(first)", "plot(first)", "New.", overview.ESSAY_STUB
    ]  # fmt: skip
    assert merged.remarks == ["`first_check` was missing; its cell is put back."]


def test_an_exercise_that_is_no_longer_asked_for_leaves_its_answer() -> None:
    new = notebook(TITLE, setup(), STORY, FIGURE, essay())
    merged = merging.merge(edited(OLD, first=ANSWER), OLD, new)
    [own] = [one for one in merged.notebook["cells"] if merging.text(one) == ANSWER]
    assert "nbgrader" not in own["metadata"]
    assert sources(merging.merge(OLD, OLD, new).notebook) == sources(new)


def test_an_answer_to_an_exercise_that_has_moved_to_another_notebook_stays(repository: Path) -> None:
    """RMSNorm was asked for in notebook 15, before 16 was there."""
    released, later = (
        json.loads((repository / "notebooks" / name / f"{name}.ipynb").read_text("utf-8"))
        for name in ("15_cheap_adaptation", "16_real_model")
    )
    moved = [one for one in later["cells"] if merging._name(one) in ("RMSNorm", "RMSNorm_check")]
    assert len(moved) == 2
    stays = [one for one in released["cells"] if merging._name(one) not in map(merging._name, moved)]
    older, released = ({**released, "cells": cells} for cells in ([*stays, *moved], stays))
    mine = copy.deepcopy(older)
    own = {
        "RMSNorm": "class RMSNorm(nn.Module):\n    eps = 1e-6",
        "LoRALinear": "class LoRALinear(nn.Linear):\n    rank = 4",
    }
    for one in mine["cells"]:
        one["source"] = own.get(merging._name(one), one["source"])
    merged = merging.merge(mine, older, released)
    [norm] = [one for one in merged.notebook["cells"] if merging.text(one) == own["RMSNorm"]]
    assert "nbgrader" not in norm["metadata"]
    assert answers.read_cells(merged.notebook["cells"], released["cells"]).answer("LoRALinear") == own["LoRALinear"]
    assert merged.answers == 2
    assert merged.remarks == ["`RMSNorm` is no longer asked for here; your answer stays, as a cell of your own."]
    assert any("another notebook asks for it now" in merging.text(one) for one in merged.notebook["cells"])


def test_an_answer_in_two_cells_stays_in_both() -> None:
    mine = edited(OLD, first="import math")
    mine["cells"].insert(4, {**copy.deepcopy(mine["cells"][3]), "id": "split", "source": ANSWER})
    new = notebook(TITLE, setup(), text("Another story."), exercise(), check(), FIGURE, essay())
    merged = merging.merge(mine, OLD, new)
    assert answers.read_cells(merged.notebook["cells"], new["cells"]).answer("first") == f"import math\n\n{ANSWER}"


def test_cells_that_change_places_take_their_answers_along() -> None:
    old = notebook(TITLE, exercise(), check(), STORY, exercise(STUB, "second"), check("second"))
    new = notebook(TITLE, exercise(STUB, "second"), check("second"), STORY, exercise(), check())
    mine = edited(old, first=ANSWER)
    put_in(mine, 2, "print(first(1))")
    found = sources(merging.merge(mine, old, new).notebook)
    assert found == ["# Title", STUB, "check(second)", "A story.", ANSWER, "print(first(1))", "check(first)"]


def test_without_the_release_that_it_was_made_from_everything_of_the_students_stays() -> None:
    mine = edited(OLD, first=ANSWER, cell_002="A story, and my note.")
    put_in(mine, 3, "my_own = 1")
    new = notebook(
        TITLE, text("New."), setup(), text("A better story."), exercise(OTHER_STUB), check(), FIGURE, essay()
    )
    found = sources(merging.merge(mine, None, new).notebook)
    assert {ANSWER, "A story, and my note.", "my_own = 1", "New.", "A better story."} <= set(found)
    assert any(OTHER_STUB in one for one in found)


WORDS = ["one", "two", "three", "four", "five", "six"]


@pytest.mark.parametrize("seed", range(40))
def test_nothing_of_the_students_is_ever_lost(seed: int) -> None:
    """Any changes of the release meet any changes of the student; what the student wrote is there, and once."""
    rng = random.Random(seed)

    def release(version: str) -> Notebook:
        middle = [exercise(STUB + rng.choice(["", "\n    # " + version]), name) for name in WORDS if rng.random() < 0.8]
        middle += [check(name) for name in WORDS if rng.random() < 0.8]
        middle += [text(rng.choice([f"{word}, as ever", f"{word} {version}"])) for word in WORDS]
        rng.shuffle(middle)
        return notebook(TITLE, setup(version), *middle)

    old, new = release("old"), release("new")
    mine, written = copy.deepcopy(old), []
    for number, one in enumerate(mine["cells"]):
        if rng.random() < 0.4 and one["id"] != "setup" and not one["id"].endswith("_check"):
            written.append(f"mine {number}")
            one["source"] = written[-1]
    for number in range(5):
        written.append(f"own {number}")
        put_in(mine, rng.randrange(len(mine["cells"]) + 1), written[-1], rng.choice(["code", "markdown"]))
    if rng.random() < 0.3:
        del mine["cells"][rng.randrange(len(mine["cells"]))]
        written = [one for one in written if one in sources(mine)]
    base = old if seed % 4 else None
    before = copy.deepcopy((mine, old, new))
    merged = merging.merge(mine, base, new).notebook
    assert (mine, old, new) == before
    found = sources(merged)
    assert [found.count(one) for one in written] == [1] * len(written)
    names = [cells.grade_id(one) for one in merged["cells"] if cells.grade_id(one)]
    assert names == [cells.grade_id(one) for one in new["cells"] if cells.grade_id(one)]
    nbformat.validate(nbformat.from_dict(merged))
    assert merging.merge(merged, new, new).notebook["cells"] == merged["cells"]


# --- the folder -------------------------------------------------------------------------------------------------------


class Course:
    """A course folder as students have it, with one small notebook."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "work" / NAME / f"{NAME}.ipynb"
        self.release(OLD)

    def release(self, released: Notebook) -> None:
        path = self.folder / "notebooks" / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(released), "utf-8")

    def write(self, mine: Notebook) -> None:
        self.file.write_text(json.dumps(mine), "utf-8")

    def read(self) -> Notebook:
        return dict(json.loads(self.file.read_text("utf-8")))

    def update(self) -> list[str]:
        """Returns what `python -m tutor work` says."""
        made = work.Work(self.folder)
        assert made.follow()
        return made.lines


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course whose working place has just been made."""
    made = Course(tmp_path / "Übungen à faire")
    [line] = made.update()
    assert line == (
        f"1 of 1 notebooks in {made.folder / 'work'} is a copy of what {made.folder / 'notebooks'} holds. "
        "They are yours: no command writes over what you write there."
    )
    return made


NEW = notebook(TITLE, setup(), text("A better story."), exercise(OTHER_STUB), check(), FIGURE, essay())


def test_a_copy_is_made_once_and_left_alone(course: Course) -> None:
    course.write(edited(OLD, first=ANSWER))
    before = course.file.read_bytes(), course.file.stat().st_mtime_ns
    assert course.update() == [f"Your 1 notebooks in {course.folder / 'work'} are those of the newest release."]
    assert (course.file.read_bytes(), course.file.stat().st_mtime_ns) == before


def test_a_newer_release_is_merged_and_reported(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course.write(edited(OLD, first=ANSWER))
    mine = course.file.read_bytes()
    course.release(NEW)
    monkeypatch.chdir(course.folder)
    assert report.main(["work"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{NAME}: there is a newer release: 1 answer stays, 1 text or check is renewed."
    assert lines[1].startswith("  `first` begins in another way now.")
    kept = course.folder / "work" / ".course" / "before"
    assert lines[2:] == [f"What {course.folder / 'work'} held before is kept in {kept}."]
    assert (kept / NAME / f"{NAME}.ipynb").read_bytes() == mine
    assert ANSWER in sources(course.read())
    assert course.update()[0].startswith("Your 1 notebooks")


def test_a_notebook_that_jupyter_trusts_stays_trusted(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else JupyterLab shows the boxes of the checks without their colours until they are run again."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(course.folder / "home"))
    mine = edited(OLD, first=ANSWER)
    mine["cells"][5]["outputs"] = [nbformat.v4.new_output("display_data", data={"text/html": "<b>a figure</b>"})]

    def is_trusted() -> bool:
        return bool(NotebookNotary().check_signature(nbformat.read(course.file, as_version=4)))

    course.write(mine)
    course.release(NEW)
    course.update()
    assert not is_trusted()  # nobody has
    course.write(mine)
    NotebookNotary().sign(nbformat.read(course.file, as_version=4))
    course.update()
    assert "A better story." in sources(course.read())
    assert is_trusted()


def test_a_file_saved_over_the_merged_one_is_merged_again(course: Course) -> None:
    """JupyterLab was open during the merge, and its user chose to overwrite."""
    course.write(edited(OLD, first=ANSWER))
    course.release(NEW)
    course.update()
    course.write(edited(OLD, first=ANSWER + " + 0"))
    assert "there is a newer release" in course.update()[0]
    found = sources(course.read())
    assert {ANSWER + " + 0", "A better story."} <= set(found)
    assert "A story." not in found


def test_what_was_worked_on_in_the_released_folder_counts_as_answered(tmp_path: Path) -> None:
    made = Course(tmp_path)
    made.release(edited(OLD, first=ANSWER))
    made.update()
    made.release(NEW)
    made.update()
    assert ANSWER in sources(made.read())


@pytest.mark.parametrize("data", [b"", b'{"cells": [', b"\xff\xfe", b"[]", b'{"nbformat": 4, "cells": [3]}'])
def test_a_damaged_file_is_kept(course: Course, data: bytes) -> None:
    course.file.write_bytes(data)
    [line] = course.update()
    assert line.startswith(
        f"{NAME}: your file was damaged (no whole notebook). It is kept as {NAME}_damaged.ipynb; a fr"
    )
    assert course.file.with_name(f"{NAME}_damaged.ipynb").read_bytes() == data
    assert sources(course.read()) == sources(OLD)
    course.file.write_bytes(b"again")
    course.update()
    assert course.file.with_name(f"{NAME}_damaged-2.ipynb").read_bytes() == b"again"


def test_a_damaged_file_comes_back_from_what_was_saved_last(course: Course) -> None:
    checkpoint = course.file.parent / ".ipynb_checkpoints" / f"{NAME}-checkpoint.ipynb"
    checkpoint.parent.mkdir()
    checkpoint.write_text(json.dumps(edited(OLD, first=ANSWER)))
    course.file.write_bytes(b'{"cells": [{"cell_')
    course.release(NEW)
    first, second, *_ = course.update()
    assert first.endswith("what you had saved by hand last is in its place again.")
    assert "1 answer stays" in second
    assert {ANSWER, "A better story."} <= set(sources(course.read()))


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_what_cannot_be_written_stays_as_it_was(course: Course, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    course.write(edited(OLD, first=ANSWER))
    before = course.file.read_bytes()
    course.release(NEW)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    [line] = course.update()
    assert line.startswith(f"{NAME}: it cannot be read or written ([Errno 28] No space left on device), so it stays")
    assert course.file.read_bytes() == before
    assert [path.name for path in course.file.parent.iterdir()] == [f"{NAME}.ipynb"]
    monkeypatch.undo()
    assert "1 answer stays" in course.update()[0]  # it is done the next time


def test_what_is_saved_at_this_moment_is_left_alone(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    course.write(edited(OLD, first=ANSWER))
    course.release(NEW)
    merge: Callable[..., Any] = merging.merge

    def slow(*arguments: Any) -> Any:
        course.write(edited(OLD, first="just saved"))
        return merge(*arguments)

    monkeypatch.setattr(work, "merge", slow)
    assert course.update() == [f"{NAME}: it was saved at this very moment, so it stays as it is; run this again."]
    assert "just saved" in sources(course.read())


def test_a_damaged_release_changes_nothing(course: Course) -> None:
    course.write(edited(OLD, first=ANSWER))
    (course.folder / "notebooks" / NAME / f"{NAME}.ipynb").write_text("<<<<<<< HEAD")
    [line] = course.update()
    assert "is no whole notebook, so yours stays as it is" in line
    assert ANSWER in sources(course.read())


def test_files_beside_a_notebook_come_too(course: Course) -> None:
    (course.folder / "notebooks" / NAME / "figure.png").write_bytes(b"drawn")
    course.update()
    mine = course.file.with_name("figure.png")
    assert mine.read_bytes() == b"drawn"
    (course.folder / "notebooks" / NAME / "figure.png").write_bytes(b"drawn anew")
    course.update()
    assert mine.read_bytes() == b"drawn anew"
    mine.write_bytes(b"my own")
    course.update()
    assert mine.read_bytes() == b"my own"


def test_progress_reads_what_is_in_work(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(course.folder)
    assert overview.command([]) == 0
    assert capsys.readouterr().out.startswith(
        f"What the checks say in the saved notebooks of {course.folder / 'work'}:"
    )


def test_what_is_handed_in_by_the_exchange_comes_from_there(repository: Path, tmp_path: Path) -> None:
    name = "00_start_here"
    shutil.copy(repository / "nbgrader_config.py", tmp_path)
    shutil.copytree(repository / "notebooks" / name, tmp_path / "notebooks" / name)
    exchange = tmp_path / "gradebook" / "exchange" / COURSE_ID
    shutil.copytree(repository / "notebooks" / name, exchange / "outbound" / name)
    (exchange / "inbound").mkdir()
    for folder in (exchange.parent, exchange / "inbound"):
        folder.chmod(0o777)
    assert work.Work(tmp_path).follow()
    mine = tmp_path / "work" / name / f"{name}.ipynb"
    mine.write_text(mine.read_text("utf-8").replace("# 00", "# My own 00"), "utf-8")
    done = nbgrader(tmp_path, "submit", name)
    assert done.returncode == 0, done.stderr[-2000:]
    [arrived] = (exchange / "inbound").glob(f"*/{name}.ipynb")
    assert arrived.read_bytes() == mine.read_bytes()


@pytest.mark.parametrize("words", [["work", "a", "b"], ["work", "nowhere"]])
def test_what_cannot_be_is_reported_in_one_sentence(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert report.main(words) > 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_file_in_the_place_of_the_folder_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Course(tmp_path)
    (tmp_path / "work").write_text("mine")
    assert report.main(["work", str(tmp_path)]) == 1
    assert "cannot be made" in capsys.readouterr().out
    assert (tmp_path / "work").read_text() == "mine"


@pytest.mark.parametrize("module", [work, merging])
def test_it_needs_nothing_but_the_standard_library(module: Any) -> None:
    """It runs in a student's folder before anything is installed."""
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    optional = {"nbformat"}  # whose signatures are kept
    names |= {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
    assert {name.partition(".")[0] for name in names} - sys.stdlib_module_names - optional <= {"tutor"}
