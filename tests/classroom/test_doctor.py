"""The doctor: each kind of damage is reported in a sentence, and the mended copy keeps every answer."""

import copy
import json
import os
import random
import re
import time
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grading.__main__ import main
from grading.autograder.graded_notebook import load_master
from grading.autograder.submission import Master, Work, read
from grading.classroom import doctor, rescue
from grading.classroom.rescue import BeyondMendingError
from grading.folder.course import Course
from grading.notebooks import cells
from tests.classroom.submissions import ASSIGNMENT, cell, perfect
from tests.classroom.submissions import released as released_notebook

NAME = f"{ASSIGNMENT}.ipynb"


def answers(notebook: NotebookNode) -> dict[str, str]:
    kinds = (c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("solution"))
    return {c.metadata.nbgrader.grade_id: c.source for c in kinds}


def examined(folder: Path, content: str | bytes, name: str = NAME) -> tuple[doctor.Diagnosis, Work]:
    """Returns what the doctor says of a file, and what grading reads in the mended copy."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    before = path.read_bytes()
    found = doctor.diagnose(path)
    made = doctor.write_copy(path, found.notebook)
    assert path.read_bytes() == before
    nbformat.validate(nbformat.read(made, as_version=4))
    mended = folder / "mended" / NAME
    mended.parent.mkdir()
    made.rename(mended)
    work = read(mended.parent, load_master(Course(), ASSIGNMENT))
    assert work.repairs == []
    return found, work


def kept(work: Work) -> bool:
    """Says whether every answer of the perfect notebook is there, and nothing else was put into its cell."""
    return {name: text.strip() for name, text in work.answers.items()} == {
        name: text.strip() for name, text in answers(perfect()).items()
    }


def test_a_good_file_is_called_good(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / NAME
    path.write_text(nbformat.writes(perfect()), encoding="utf-8")
    assert main(["doctor", str(path)]) == 0
    assert "nothing in the file had to be mended" in capsys.readouterr().out
    assert [p.name for p in tmp_path.iterdir()] == [NAME]


def test_copied_cells(tmp_path: Path) -> None:
    notebook = perfect()
    for name in ("causal_mask", "causal_mask_check"):
        twin = copy.deepcopy(cell(notebook, name))
        twin.id = f"twin-{name}"
        notebook.cells.insert(3, twin)
    found, work = examined(tmp_path, nbformat.writes(notebook))
    assert "the cell of causal_mask stands 2 times, each time the same; once is kept" in found.problems
    assert "the cell causal_mask_check stands 2 times; once is kept" in found.problems
    assert kept(work)


def test_the_last_of_several_copies_counts_in_the_mended_copy_too(tmp_path: Path) -> None:
    notebook = perfect()
    right = cell(notebook, "causal_mask")
    wrong, again = copy.deepcopy(right), copy.deepcopy(right)
    wrong.source, wrong.id, again.id = "def causal_mask(size):\n    return 0", "wrong", "again"
    place = notebook.cells.index(right)
    notebook.cells[place + 1 : place + 1] = [wrong, again]
    found, work = examined(tmp_path, nbformat.writes(notebook))
    assert any("causal_mask was split or copied with changes" in line for line in found.problems)
    assert work.answers["causal_mask"] == "\n\n".join(one.source for one in (right, wrong, again))


def test_a_copy_of_the_released_cell_below_the_answer_is_not_run_after_it(tmp_path: Path) -> None:
    notebook = perfect()
    place = notebook.cells.index(cell(notebook, "causal_mask"))
    notebook.cells.insert(place + 1, nbformat.v4.new_code_cell(cell(released_notebook(), "causal_mask").source))
    _, work = examined(tmp_path, nbformat.writes(notebook))
    assert kept(work)


def test_a_split_cell(tmp_path: Path) -> None:
    notebook = perfect()
    first = cell(notebook, "attention_weights")
    second = copy.deepcopy(first)
    second.id = "second"
    head, _, tail = first.source.partition("\n")
    first.source, second.source = "import math", f"{head}\n{tail}"
    notebook.cells.insert(notebook.cells.index(first) + 1, second)
    found, work = examined(tmp_path, nbformat.writes(notebook))
    assert any("attention_weights was split or copied with changes" in line for line in found.problems)
    assert work.answers["attention_weights"].startswith("import math\n\ndef attention_weights")


def test_retyped_deleted_and_moved_cells(tmp_path: Path) -> None:
    notebook = perfect()
    mask = cell(notebook, "causal_mask")
    notebook.cells[notebook.cells.index(mask)] = nbformat.v4.new_raw_cell(
        mask.source, metadata=mask.metadata, id=mask.id
    )
    notebook.cells = [
        c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") not in ("padding_mask", "setup")
    ]
    notebook.cells.reverse()
    found, work = examined(tmp_path, nbformat.writes(notebook))
    assert "the cell of causal_mask is no longer a code cell; it is made one again" in found.problems
    assert "the cell of padding_mask was deleted; an empty one is put back" in found.problems
    assert "the cell setup was deleted; it is put back" in found.problems
    assert "its cells are not in their order; they are put back" in found.problems
    assert "not answered yet: padding_mask" in found.advice
    assert work.answers["causal_mask"] == answers(perfect())["causal_mask"]


def test_an_answer_in_a_cell_of_its_own_and_own_cells_are_kept(tmp_path: Path) -> None:
    notebook = perfect()
    mask = cell(notebook, "causal_mask")
    place = notebook.cells.index(mask)
    notebook.cells[place] = nbformat.v4.new_code_cell(mask.source)
    notebook.cells.insert(place, nbformat.v4.new_code_cell("mine = 1"))
    notebook.cells.append(nbformat.v4.new_markdown_cell("my notes"))
    found, work = examined(tmp_path, nbformat.writes(notebook))
    assert found.problems == ["causal_mask stands in another cell than its own; it is put into its own"]
    texts = [cells.text(one) for one in found.notebook["cells"]]
    assert texts.index("mine = 1") < texts.index(mask.source)
    assert texts[-1] == "my notes"
    assert kept(work)


def test_an_answer_below_the_untouched_cell_is_put_into_it(tmp_path: Path) -> None:
    notebook = perfect()
    own = cell(notebook, "causal_mask")
    notebook.cells.insert(notebook.cells.index(own) + 1, nbformat.v4.new_code_cell(own.source))
    own.source = cell(released_notebook(), "causal_mask").source
    found, work = examined(tmp_path, nbformat.writes(notebook))
    assert found.problems == ["causal_mask stands in another cell than its own; it is put into its own"]
    assert found.advice == []
    assert kept(work)


def test_an_id_that_was_changed_is_put_back_and_reported(tmp_path: Path) -> None:
    notebook = perfect()
    cell(notebook, "causal_mask").metadata.nbgrader.grade_id = "my_mask"
    found, work = examined(tmp_path, nbformat.writes(notebook))
    assert found.problems == ["the grading information of causal_mask was lost; it is put back"]
    assert kept(work)


def test_halves_of_characters_do_no_harm(tmp_path: Path) -> None:
    data = json.loads(nbformat.writes(perfect()))
    data["cells"].append({"cell_type": "code", "source": "x = '\ud800'", "metadata": {"tags": ["\udfff"]}})
    data["cells"][-1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "\ud800"}]
    _, work = examined(tmp_path, json.dumps(data))
    assert kept(work)


def test_changed_checks_and_grading_information(tmp_path: Path) -> None:
    notebook = perfect()
    cell(notebook, "causal_mask_check").source = "assert True"
    cell(notebook, "causal_mask").metadata.nbgrader["solution"] = False
    stripped = cell(notebook, "attention_weights")
    stripped.metadata = {}
    found, work = examined(tmp_path, nbformat.writes(notebook))
    assert any("causal_mask_check, which is not to be changed, was changed" in line for line in found.problems)
    assert "the grading information of causal_mask was changed; it is put back" in found.problems
    assert "the grading information of attention_weights was lost; it is put back" in found.problems
    assert kept(work)


def test_kernels(tmp_path: Path) -> None:
    notebook = perfect()
    notebook.metadata["kernelspec"] = {"name": "conda-env-abc", "display_name": "abc", "language": "python"}
    found, _ = examined(tmp_path, nbformat.writes(notebook))
    assert found.problems == ["its kernel is 'conda-env-abc', which others do not have; it is set to python3"]
    notebook.metadata = {"kernelspec": {"name": "ir", "display_name": "R"}, "language_info": {"name": "R"}}
    found, work = examined(tmp_path / "r", nbformat.writes(notebook))
    assert found.problems == ["its kernel is for R; it is set to Python 3"]
    assert kept(work)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95])
def test_a_file_that_is_cut_off_keeps_what_was_whole(tmp_path: Path, share: float) -> None:
    text = nbformat.writes(perfect())
    found, work = examined(tmp_path, text[: int(share * len(text))])
    assert "it is cut off at its end" in found.problems[0]
    wanted = answers(perfect())
    whole = [name for name in wanted if name not in found.lost]
    assert len(whole) >= {0.2: 0, 0.5: 3, 0.8: 4, 0.95: 5}[share]
    for name in whole[:-1]:  # the last one may be there in part
        assert work.answers[name] == wanted[name]
    for name in whole[-1:]:
        assert wanted[name].startswith(work.answers[name].rstrip("\n"))


@pytest.mark.parametrize("end", ['"print(f\\"{1 + 1}', '"print({1})"\n   ]\n  }'])
def test_a_file_may_be_cut_off_behind_any_sign(tmp_path: Path, end: str) -> None:
    notebook = perfect()
    notebook.cells.append(nbformat.v4.new_code_cell('print(f"{1 + 1}")\nprint({1})'))
    text = nbformat.writes(notebook)
    found, _ = examined(tmp_path, text[: text.index(end) + len(end)])
    assert "it is cut off at its end" in found.problems[0]


def test_half_a_cell_of_the_course_is_not_taken_for_one_of_the_students_own(tmp_path: Path) -> None:
    given = perfect()
    halves = [one for one in given.cells if cells.is_experiment(one) and one.source.count("\n") > 2]
    assert len(halves) > 3
    text = nbformat.writes(given)
    for number, one in enumerate(halves):
        third = json.dumps(one.source.split("\n")[2])[:-1]
        cut = text.index(third, text.index(f'"id": "{one.id}"')) + len(third) // 2
        found, _ = examined(tmp_path / str(number), text[:cut])  # nothing that grading would have to put right
        assert len(found.notebook["cells"]) == len(given.cells)


def test_damage_in_the_middle_costs_one_cell(tmp_path: Path) -> None:
    text = nbformat.writes(perfect())
    place = text.index('"grade_id": "wasted_scores"')
    found, work = examined(tmp_path, text[:place] + "\x00\x00\x00" + text[place + 40 :])
    assert "it is damaged (not valid JSON)" in found.problems[0]
    wanted = answers(perfect())
    assert {name for name in wanted if work.answers[name] != wanted[name]} <= {"wasted_scores"}


def test_merge_conflicts_keep_both_versions(tmp_path: Path) -> None:
    lines = nbformat.writes(perfect()).split("\n")
    place = next(i for i, line in enumerate(lines) if "def causal_mask" in line)
    other = lines[place].replace("def causal_mask(size):", "def causal_mask(size):  # theirs")
    lines[place : place + 1] = ["<<<<<<< HEAD", lines[place], "=======", other, ">>>>>>> branch"]
    found, work = examined(tmp_path, "\n".join(lines))
    assert "merge-conflict markers of Git; the first version is taken" in found.problems[0]
    assert kept(work)
    assert any("# theirs" in cells.text(one) for one in found.notebook["cells"])
    inside = perfect()
    cell(inside, "causal_mask").source = "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> branch"
    found, _ = examined(tmp_path / "inside", nbformat.writes(inside))
    assert "the cell of causal_mask holds merge-conflict markers; choose one version" in found.advice


@pytest.mark.parametrize("line", ["<<<<<<<", "<<<<<<< a\n=======", "<<<<<<< a\n||||||| b", "=======", ">>>>>>> a"])
def test_conflicts_that_do_not_end_cost_little(tmp_path: Path, line: str) -> None:
    start = time.process_time()
    with pytest.raises(BeyondMendingError):
        examined(tmp_path, f"{line}\n" * 20_000)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("how", ["crlf", "bom", "utf16", "latin"])
def test_what_editors_do_to_files(tmp_path: Path, how: str) -> None:
    text = nbformat.writes(perfect())
    content = {
        "crlf": text.replace("\n", "\r\n").encode(),
        "bom": b"\xef\xbb\xbf" + text.encode(),
        "utf16": text.encode("utf-16"),
        "latin": text.encode("cp1252", errors="replace"),
    }[how]
    found, work = examined(tmp_path, content)
    finding = {"crlf": "CRLF", "bom": "byte order mark", "utf16": "UTF-16", "latin": "not UTF-8"}[how]
    assert finding in found.problems[0]
    assert kept(work)


@pytest.mark.parametrize(("content", "told"), [
    ("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 5\n", "is a pointer of Git LFS.*git lfs pull"),
    ("<!DOCTYPE html><html></html>", "it is a web page"),
    ("not a notebook", "it is not a notebook"),
])  # fmt: skip
def test_what_is_no_notebook_is_named(
    tmp_path: Path, content: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"{ASSIGNMENT}.ipynb"
    path.write_text(content, encoding="utf-8")
    assert main(["doctor", str(path)]) == 2
    said = capsys.readouterr().err
    assert re.search(told, said)
    assert said.startswith(f"{path.name}: it is")
    assert said.count(path.name) == 1


def test_large_outputs_are_left_out(tmp_path: Path) -> None:
    notebook = perfect()
    cell(notebook, "causal_mask").outputs = [nbformat.v4.new_output("stream", text="x" * (2 << 20))]
    found, work = examined(tmp_path, nbformat.writes(notebook))
    assert found.problems == ["the outputs of cell causal_mask have 2.0 MB; they are left out"]
    assert kept(work)


def test_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my homework.ipynb"
    path.write_text(nbformat.writes(perfect()), encoding="utf-8")
    assert main(["doctor", str(path)]) == 1
    assert f"hand it in as {NAME}" in capsys.readouterr().out
    wrong = tmp_path / "02_positional_encoding.ipynb"
    wrong.write_text(nbformat.writes(perfect()), encoding="utf-8")
    assert main(["doctor", str(wrong)]) == 1
    assert "its cells are those of 01_causal_mask" in capsys.readouterr().out


def test_answers_that_cannot_run_are_reported(tmp_path: Path) -> None:
    notebook = perfect()
    cell(notebook, "causal_mask").source = "%matplotlib inline\ndef causal_mask(size:\n    return 1"
    cell(notebook, "padding_mask").source = "def another(tokens):\n    return 1"
    found, _ = examined(tmp_path, nbformat.writes(notebook))
    assert any("causal_mask is not valid Python (line 2" in line for line in found.advice)
    assert "the cell of padding_mask does not define padding_mask" in found.advice


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("<!DOCTYPE html><html>a page</html>", "is a web page"),
        ('{"a": 1}', "has no cells"),
        ("just text", "is not a notebook"),
        ('{"cells": [', "no cell is whole"),
        ("[" * 100_000, "is not a notebook"),
        (json.dumps({"cells": []}), "neither the name nor the cells"),
    ],
)
def test_what_is_beyond_mending_is_reported(
    tmp_path: Path, content: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.ipynb"
    path.write_text(content, encoding="utf-8")
    assert main(["doctor", str(path)]) == 2
    assert message in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["x.ipynb"]


def test_links_and_missing_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(tmp_path / "none.ipynb")]) == 2
    os.symlink("/etc/hostname", tmp_path / "link.ipynb")
    assert main(["doctor", str(tmp_path / "link.ipynb")]) == 2
    output = capsys.readouterr().err
    assert "there is no file" in output
    assert "is a link" in output


def test_copies_never_replace_a_file(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text(nbformat.writes(perfect()).replace("\n", "\r\n"), encoding="utf-8", newline="")
    assert main(["doctor", str(path)]) == main(["doctor", str(path)]) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        NAME,
        f"{ASSIGNMENT}_mended.ipynb",
        f"{ASSIGNMENT}_mended_2.ipynb",
    ]
    mended = str(tmp_path / f"{ASSIGNMENT}_mended.ipynb")
    assert main(["doctor", mended, "--no-copy"]) == 1  # only its name is left to change


def test_a_students_copy_of_the_course_is_enough(tmp_path: Path) -> None:
    course = tmp_path / "course" / "notebooks" / ASSIGNMENT
    course.mkdir(parents=True)
    nbformat.write(released_notebook(), course / NAME)
    path = tmp_path / NAME
    path.write_text(nbformat.writes(perfect()), encoding="utf-8")
    assert doctor.diagnose(path, course=tmp_path / "course").problems == []


def test_strange_cells_do_no_harm(tmp_path: Path) -> None:
    data = json.loads(nbformat.writes(perfect()))
    data["cells"] += [1, None, {}, {"cell_type": "odd", "source": 3, "metadata": 4, "id": ["x"]}]
    data["cells"].append({"cell_type": "code", "source": ["a", 1], "outputs": 3, "metadata": {"nbgrader": 1}})
    data["metadata"] = []
    found, work = examined(tmp_path, json.dumps(data))
    assert found.problems == ["2 of its cells are no cells; they are left out"]
    assert kept(work)


# --- the mended copy is graded as the original is ---------------------------------------------------------------------


WAYS = ("copy", "wrong copy", "split", "retype", "move", "rename", "own", "elsewhere", "overwrite")


def spoil(notebook: NotebookNode, seed: int) -> None:  # noqa: C901 - a list of independent spoilings
    """Copies, splits, retypes, moves, renames and overwrites cells, and adds further ones, by chance."""
    chance = random.Random(seed)
    for number in range(chance.randint(1, 8)):
        solutions = [one for one in notebook.cells if cells.kind(one) == "solution"]
        if not solutions:
            return
        one = chance.choice(solutions)
        name, place = cells.grade_id(one), notebook.cells.index(one)
        twin = copy.deepcopy(one)
        twin.id = f"twin-{number}"
        how = chance.choice(
            ("copy", "wrong copy", "split", "retype", "move", "rename", "own", "elsewhere", "overwrite")
        )
        if how in ("copy", "wrong copy"):
            twin.source = f"def {name}(*given):\n    return {number}" if how == "wrong copy" else twin.source
            notebook.cells.insert(chance.randint(place, len(notebook.cells)), twin)
        elif how == "split" and "NotImplementedError" not in one.source:  # of a released cell nothing is lost
            one.source, _, twin.source = one.source.partition("\n")
            notebook.cells.insert(place + 1, twin)
        elif how == "retype":
            notebook.cells[place] = nbformat.v4.new_markdown_cell(one.source, metadata=one.metadata, id=one.id)
        elif how == "move":
            notebook.cells.insert(chance.randrange(len(notebook.cells)), notebook.cells.pop(place))
        elif how == "rename":
            one.id = f"renamed-{number}"
        elif how == "own":
            notebook.cells.insert(chance.randrange(len(notebook.cells)), nbformat.v4.new_code_cell(f"own_{number} = 1"))
        elif how != "split":
            mine = nbformat.v4.new_code_cell(f"def {name}(*given):\n    return {-number}")
            if how == "overwrite":  # the released cell stays as it was, and the answer stands in another
                one.source = cell(released_notebook(), name).source
            else:
                del notebook.cells[place]
            notebook.cells.insert(chance.randint(0, len(notebook.cells)), mine)


@pytest.fixture(scope="module")
def master() -> Master:
    return load_master(Course(), ASSIGNMENT)


@pytest.mark.parametrize("seed", range(100))
def test_what_is_run_of_the_mended_copy_is_what_is_run_of_the_original(
    tmp_path: Path, master: Master, seed: int
) -> None:
    notebook = perfect()
    spoil(notebook, seed)
    path = tmp_path / NAME
    path.write_text(json.dumps(notebook), encoding="utf-8")
    original = read(tmp_path, master)
    doctor.write_copy(path, doctor.diagnose(path).notebook).replace(path)
    mended = read(tmp_path, master)
    stubs = {cells.grade_id(one): one.source.strip("\n") for one in master.cells("solution")}
    alone = [one for one in original.repairs if "of experiments" in one]  # a piece that was split off uses variables
    assert [one for one in mended.repairs if not alone or "of experiments" not in one] == []
    for name, stub in stubs.items():
        mine = [cells.text(one) for one in notebook.cells if cells.grade_id(one) == name]
        wanted = original.answers.get(name, stub).strip("\n")
        if len(mine) > 1 and len({source.strip("\n") for source in mine}) == 1 and wanted == "\n\n".join(mine):
            wanted = mine[0].strip("\n")  # the same text again
        if mine and all(source.strip("\n") == stub for source in mine):
            wanted = wanted.split(stub)[-1].strip("\n") or stub  # the released cell, before the answer
        assert "".join(mended.answers[name].split()) == "".join(wanted.split())
    own = [source for name, source in original.code if not name]
    kept_own = [source for name, source in mended.code if not name]
    assert [one for one in sorted(kept_own) if one.startswith("own_")] == [one for one in sorted(own) if "own_" in one]
    assert set(kept_own) <= set(own)


def test_an_essay_in_another_cell_is_no_missing_answer(tmp_path: Path) -> None:
    notebook = perfect()
    place = notebook.cells.index(cell(notebook, "mask_essay"))
    text, notebook.cells[place].source = notebook.cells[place].source, cell(released_notebook(), "mask_essay").source
    notebook.cells.insert(place + 1, nbformat.v4.new_markdown_cell(text))
    path = tmp_path / NAME
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    where = "written in the cell below its own: it is read there, and better put into its own cell"
    assert doctor.diagnose(path).advice == [f"mask_essay {where}"]
    del notebook.cells[place + 1]
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    assert doctor.diagnose(path).advice == ["not answered yet: mask_essay"]


def test_many_broken_cells_are_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {"cell_type": "code", "metadata": {}, "source": "y" * 100_000}  # longer than a piece
    text = '{"cells": [' + '{"cell_type": "code", "metadata": {}, "source": "x", ' * 20_000 + json.dumps(whole)
    seen = list[int]()
    real = json.JSONDecoder.raw_decode

    def raw_decode(self: json.JSONDecoder, piece: str, idx: int = 0) -> tuple[object, int]:
        seen.append(len(piece))
        return real(self, piece, idx)

    monkeypatch.setattr(json.JSONDecoder, "raw_decode", raw_decode)
    found = rescue.load(Path("x.ipynb"), text.encode())
    assert found.cells[-1]["source"] == whole["source"]
    assert sum(seen) < 400 * len(text)  # each error looks through what came before it


def test_cells_nested_too_deeply_are_given_up() -> None:
    text = '{"cells": [{"cell_type": "raw", "source": "a"}, ' + '{"cell_type": "code", "source": ["x", ' * 60_000
    found = rescue.load(Path("x.ipynb"), text.encode())
    assert found.cells[0]["source"] == "a"
    assert len(found.cells) < 100
