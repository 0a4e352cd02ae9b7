"""Written answers are found wherever they stand; what is no answer sends nobody's untouched cell to a reader."""

from __future__ import annotations

import copy
import functools
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from grading.autograder.graded_notebook import load_master
from grading.autograder.submission import Master, Work, read, rebuilt
from grading.folder.course import Course
from grading.notebooks.cells import grade_id, is_around, is_experiment, kind
from grading.notebooks.essay_cells import DROPPED, Essay, read_essays
from grading.notebooks.pictures import read_picture
from tests.classroom.submissions import ASSIGNMENT, cell, released
from tests.pages.test_feedback import EVIL, PNG

ESSAY = "mask_essay"
TEXT = "Without the mask the model copies the next word from its own input.\n\nKeys and values can be kept."
MORE = "When it generates, the earlier states stay as they were."
STUB = cell(released(), ESSAY).source
GIF, WEBP, JPEG = "R0lGODlhAQABAAAAACw=", "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==", "/9j/wAALCAABAAEBAREA"


@functools.cache
def master(name: str = ASSIGNMENT) -> Master:
    return load_master(Course(), name)


def place(notebook: NotebookNode) -> int:
    return int(notebook.cells.index(cell(notebook, ESSAY)))


def below(notebook: NotebookNode, *made: NotebookNode) -> None:
    at = place(notebook) + 1
    notebook.cells[at:at] = made


def found(notebook: NotebookNode, name: str = ESSAY) -> Essay:
    """Returns an essay of a student's notebook, read as it comes from a file."""
    cells = json.loads(nbformat.writes(notebook))["cells"]
    before = copy.deepcopy(cells)
    essay = read_essays(cells, master().notebook.cells)[name]
    assert cells == before
    return essay


def _two_cells(notebook: NotebookNode) -> None:
    cell(notebook, ESSAY).source = TEXT
    below(notebook, new_markdown_cell(MORE))


def _above(notebook: NotebookNode) -> None:
    notebook.cells.insert(place(notebook), new_markdown_cell(TEXT))


def _lost(notebook: NotebookNode, *, ids: bool = True, everything: bool = False) -> None:
    cell(notebook, ESSAY).source = TEXT
    for one in notebook.cells if everything else [cell(notebook, ESSAY)]:
        one.metadata = {}
        one.id = one.id if ids else f"{random.Random(one.id).getrandbits(32):08x}"


def _in_the_question(notebook: NotebookNode) -> None:
    notebook.cells[place(notebook) - 1].source += f"\n\n{TEXT}"


def _on_the_last_line_of_the_question(notebook: NotebookNode) -> None:
    notebook.cells[place(notebook) - 1].source += f" {TEXT}"


def _merged_with_the_question(notebook: NotebookNode) -> None:
    _in_the_question(notebook)
    notebook.cells.remove(cell(notebook, ESSAY))


def _at_the_end(notebook: NotebookNode) -> None:
    notebook.cells.append(new_markdown_cell("Because it would copy its input."))


def _at_the_beginning(notebook: NotebookNode) -> None:
    notebook.cells.insert(0, new_markdown_cell(TEXT))


def _own_cell_is_gone(notebook: NotebookNode) -> None:
    below(notebook, new_markdown_cell(TEXT))
    notebook.cells.remove(cell(notebook, ESSAY))


def _moved(notebook: NotebookNode) -> None:
    own = cell(notebook, ESSAY)
    notebook.cells.remove(own)
    own.source = TEXT
    notebook.cells.insert(2, own)


def _pointer(notebook: NotebookNode) -> None:
    cell(notebook, ESSAY).source = "See the end of the notebook."
    notebook.cells.append(new_markdown_cell(TEXT))


def _split(notebook: NotebookNode) -> None:
    """As nbgrader's own metadata are copied when a cell is split: both halves have the same id for grading."""
    own = cell(notebook, ESSAY)
    own.source, second = TEXT, copy.deepcopy(own)
    second.source, second.id = MORE, "second"
    below(notebook, second)


def _retyped(kind: str) -> Callable[[NotebookNode], None]:
    def change(notebook: NotebookNode) -> None:
        own = cell(notebook, ESSAY)
        own.cell_type, own.source = kind, TEXT
        if kind == "code":
            own.outputs, own.execution_count = [], None

    return change


def _as_code(source: str) -> Callable[[NotebookNode], None]:
    """Puts the text into a code cell below; `{text}` stands for it on one line."""
    return lambda notebook: below(notebook, new_code_cell(source.replace("{text}", TEXT.replace("\n\n", " "))))


def _in_an_answer(notebook: NotebookNode) -> None:
    cell(notebook, "padding_mask").source += "\n\n# Essay\n# " + TEXT.replace("\n\n", "\n# ")


def _over_a_text(step: int) -> Callable[[NotebookNode], None]:
    def change(notebook: NotebookNode) -> None:
        notebook.cells[place(notebook) + step].source = TEXT

    return change


def _merged(notebook: NotebookNode, text: str) -> None:
    """Merges the essay's cell with the text below it, as Shift+M does."""
    after = notebook.cells.pop(place(notebook) + 1)
    cell(notebook, ESSAY).source = f"{text}\n\n{after.source}"


FOUND = {
    "in its own cell": (lambda n: setattr(cell(n, ESSAY), "source", TEXT), ""),
    "in the cell below": (lambda n: below(n, new_markdown_cell(TEXT)), "written in the cell below its own"),
    "above": (_above, "written in the cell above its own"),
    "in two cells below": (lambda n: below(n, new_markdown_cell(TEXT), new_markdown_cell(MORE)), "its own (2 times)"),
    "on in a second cell": (_two_cells, "goes on in the cell below its own"),
    "in a raw cell": (lambda n: below(n, new_raw_cell(TEXT)), "written in the raw cell below its own"),
    "in a code cell": (lambda n: below(n, new_code_cell(TEXT)), "written in the code cell below its own"),
    "as comments": (lambda n: below(n, new_code_cell("# " + TEXT.replace("\n", "\n# "))), "the code cell below"),
    "as a print": (lambda n: below(n, new_code_cell(f"print({TEXT!r})")), "the code cell below"),
    "as a magic": (lambda n: below(n, new_code_cell(f"%%markdown\n{TEXT}")), "the code cell below"),
    "as raw": (_retyped("raw"), "its cell is a raw cell"),
    "as code": (_retyped("code"), "its cell is a code cell"),
    "without metadata": (_lost, "its cell has lost its metadata"),
    "without metadata and id": (lambda n: _lost(n, ids=False), "its own is missing, or has lost its metadata"),
    "without any metadata": (lambda n: _lost(n, everything=True), "its cell has lost its metadata"),
    "without any metadata and ids": (lambda n: _lost(n, ids=False, everything=True), "lost its metadata"),
    "in the question": (_in_the_question, "written in the text of its question"),
    "on the question's last line": (_on_the_last_line_of_the_question, "written in the text of its question"),
    "merged with the question": (_merged_with_the_question, "in the text of its question"),
    "at the end": (_at_the_end, "elsewhere"),
    "at the beginning": (_at_the_beginning, "elsewhere"),
    "where its cell is gone": (_own_cell_is_gone, "its own is missing, or has lost its metadata"),
    "in its cell, moved": (_moved, ""),
    "behind a pointer": (_pointer, "elsewhere"),
    "in a split cell": (_split, "its cell stands 2 times"),
    "as a string with a name": (_as_code('answer = ("{text}"\n    "")\nprint(answer)'), "the code cell below"),
    "as an f-string": (_as_code('loss = 0.31\nprint(f"{text} {loss:.1f}")'), "the code cell below"),
    "as a sum of strings": (_as_code('print("{text}" +\n      "\\n")'), "the code cell below"),
    "as a docstring": (_as_code('def essay():\n    """{text}"""'), "the code cell below"),
    "as Markdown to display": (_as_code('from IPython.display import Markdown\nMarkdown("{text}")'), "code cell below"),
    "as comments of an answer": (_in_an_answer, "elsewhere"),
    "over the question": (_over_a_text(-1), "elsewhere"),
    "over the text below": (_over_a_text(1), "elsewhere"),
    "merged with the text below": (lambda n: _merged(n, TEXT), ""),
    "as one character": (lambda n: setattr(cell(n, ESSAY), "source", "?"), ""),
}  # fmt: skip


@pytest.mark.parametrize("where", FOUND)
def test_an_essay_is_found(where: str) -> None:
    change, note = FOUND[where]
    notebook = released()
    change(notebook)
    essay = found(notebook)
    words = "".join(one.source for one in notebook.cells if STUB not in one.source)
    assert essay.text
    assert "What to remember" not in essay.text
    for line in (*TEXT.split("\n\n"), MORE, "Because it would copy its input."):
        if line in words:
            assert line in essay.text, where
    assert STUB not in essay.text
    assert note in "; ".join(essay.notes), essay.notes
    assert bool(note) == bool(essay.notes)


def test_the_text_of_its_own_cell_alone_is_kept_as_it_is() -> None:
    notebook = released()
    text = f"{STUB}\n\n  {TEXT}  \n"
    cell(notebook, ESSAY).source = text
    assert found(notebook).text == text  # whoever has read it need not read it again


HEADING = re.compile(r"(?m)^ {0,3}#")


@pytest.mark.parametrize("form", ["all comments", "some lines"])
@pytest.mark.parametrize("place", ["its own cell", "the cell below"])
def test_a_comment_in_a_code_cell_is_no_heading(form: str, place: str) -> None:
    notebook = released()
    lines = [line for line in TEXT.split("\n") if line]
    source = "\n".join(f"# {line}" for line in lines) if form == "all comments" else f"# {lines[0]}\n" + TEXT
    if place == "its own cell":
        _retyped("code")(notebook)
        cell(notebook, ESSAY).source = source
    else:
        below(notebook, new_code_cell(source))
    text = found(notebook).text
    assert lines[0] in text
    fenced = text.startswith("```")
    assert fenced or not HEADING.search(text)
    assert fenced == (form == "all comments" and place != "its own cell")


def _note(text: str) -> Callable[[NotebookNode], None]:
    def change(notebook: NotebookNode) -> None:
        notebook.cells.insert(9, new_markdown_cell(text))

    return change


def _copied_answers(notebook: NotebookNode) -> None:
    for one in released().cells[:20]:
        one.id = f"copy-{one.id}"
        one.metadata = {}
        notebook.cells.append(one)


def _older_release(notebook: NotebookNode) -> None:
    """Texts of the course as another release had them: longer, reworded, under other ids."""
    for number, one in enumerate(notebook.cells):
        if one.cell_type == "markdown" and not one.metadata:
            one.source = one.source.replace("the", "that old").replace(".", ", as was said in the first release.")
            one.id = f"cell-{number + 1:03d}"


def _experiments(notebook: NotebookNode) -> None:
    for one in notebook.cells:
        if is_experiment(one):
            one.source += "\nprint('a student has looked at the shapes of all the tensors of this figure here')"
    notebook.cells.append(
        new_code_cell("for size in (2, 4, 8, 16):\n    print(size, causal_mask(size).shape, 'is the shape of my mask')")
    )
    notebook.cells.insert(12, new_code_cell("my_mask = causal_mask(4)\nmy_mask"))


def _guessed(notebook: NotebookNode) -> None:
    """Guesses and values by hand as students write them, also where the tags of the cells are lost."""
    for one in notebook.cells:
        if is_around(one):
            one.source = re.sub(r"\.\.\.", "0.25", one.source)
            one.metadata = {}


def _commented(notebook: NotebookNode) -> None:
    """Comments as people write them, on what their code does."""
    text = "The function above takes lengths and gives back a tensor of bool. I have tried it with several sizes."
    for one in notebook.cells:
        if one.cell_type == "code" and not is_experiment(one):
            one.source += f"\n\n# {text}"
    notebook.cells.insert(9, new_code_cell(f"# {text}\ncausal_mask(3)"))


def _question_merged(notebook: NotebookNode) -> None:
    notebook.cells[place(notebook) - 1].source += f"\n\n{STUB}"
    notebook.cells.remove(cell(notebook, ESSAY))


def _merged_to_the_question(notebook: NotebookNode) -> None:
    question = notebook.cells.pop(place(notebook) - 1)
    cell(notebook, ESSAY).source = f"{question.source}\n\n{STUB}"


NOTHING = {
    "as released": lambda n: None,
    "spaces": lambda n: setattr(cell(n, ESSAY), "source", f"  {STUB}\n\n"),
    "emptied": lambda n: setattr(cell(n, ESSAY), "source", " \n"),
    "an empty cell below": lambda n: below(n, new_markdown_cell(" \n"), new_code_cell("")),
    "code below": lambda n: below(n, new_code_cell("steps = 3\nprint(steps, causal_mask(steps))  # try it")),
    "a line below": lambda n: below(n, new_markdown_cell("---")),
    "the stub again below": lambda n: below(n, new_markdown_cell(STUB)),
    "a short note": _note("softmax over the keys!"),
    "a note to oneself": _note("TODO: ask in class why -inf and not -1e9 here"),
    "experiments": _experiments,
    "guesses": _guessed,
    "copies of the course": _copied_answers,
    "another release": _older_release,
    "code that answers": lambda n: n.cells.append(new_code_cell(f"def causal_mask(size):\n    return {TEXT!r}")),
    "comments on code": _commented,
    "merged with the text below": lambda n: _merged(n, STUB),
    "merged with the question": _question_merged,
    "merged to the question": _merged_to_the_question,
    "metadata lost": lambda n: [setattr(one, "metadata", {}) for one in n.cells],
}  # fmt: skip


@pytest.mark.parametrize("what", NOTHING)
def test_what_is_no_essay_is_none(what: str) -> None:
    notebook = released()
    NOTHING[what](notebook)
    essay = found(notebook)
    assert (essay.text, essay.pictures, essay.has_cell) == ("", {}, True), what


def test_a_long_text_elsewhere_is_shown_where_the_essay_s_place_is_empty_only() -> None:
    notebook = released()
    _note(TEXT)(notebook)
    assert TEXT in found(notebook).text
    cell(notebook, ESSAY).source = f"{MORE} {MORE}"
    assert found(notebook).text == f"{MORE} {MORE}"


@pytest.mark.parametrize("name", ["06_pretrained_vs_scratch", "10_pretrained_knowledge"])
def test_of_several_essays_each_has_its_own(name: str) -> None:
    given = json.loads(Course().released(name).read_text(encoding="utf-8"))["cells"]
    cells = master(name).notebook.cells
    essays = list(read_essays(given, cells))
    assert len(essays) > 1
    texts = {essay: f"{TEXT} This is on {essay}." for essay in essays}
    moved, lost = [], []
    for one in given:
        essay = one["metadata"].get("nbgrader", {}).get("grade_id", "")
        moved += [one, {"cell_type": "markdown", "metadata": {}, "source": texts[essay]}] if essay in essays else [one]
        lost.append({"cell_type": one["cell_type"], "metadata": {}, "source": texts.get(essay, one["source"])})
    for layout in (moved, lost):
        assert {essay: one.text for essay, one in read_essays(layout, cells).items()} == texts
    first, second, *_ = essays[-2:]
    both = copy.deepcopy(given)
    for one in both:
        if one["metadata"].get("nbgrader", {}).get("grade_id") == first:
            number = len(essays)
            one["source"] = f"Essay {number - 1}: {TEXT}\n\nEssay {number}: {MORE}"
    assert MORE in read_essays(both, cells)[second].text  # both answers in the first one's cell
    both = [*both]
    at = next(n for n, one in enumerate(both) if grade_id(one) == first)
    both[at]["source"], text = "", both[at]["source"]
    both.insert(at + 1, {"cell_type": "markdown", "metadata": {}, "source": text})  # both below it
    assert MORE in read_essays(both, cells)[second].text


def test_cells_of_two_essays_that_were_merged_are_told_apart() -> None:
    name = "07_bert_contrast"
    cells = json.loads(Course().released(name).read_text(encoding="utf-8"))["cells"]
    at = [n for n, one in enumerate(cells) if kind(one) == "essay"]
    question = "".join(cells[at[1] - 1]["source"])
    cells[at[0]]["source"] = f"{TEXT}\n\n{question}\n\n{MORE}"
    del cells[at[0] + 1 : at[1] + 1]
    assert [one.text for one in read_essays(cells, master(name).notebook.cells).values()] == [TEXT, MORE]


# --- pictures ---------------------------------------------------------------------------------------------------------


def with_picture(source: str, **attachments: object) -> NotebookNode:
    notebook = released()
    own = cell(notebook, ESSAY)
    own.source, own.attachments = source, {name.replace("__", "."): held for name, held in attachments.items()}
    return notebook


def test_pictures_stay_with_their_text() -> None:
    uri = f"data:image/png;base64,{PNG}"
    notebook = with_picture(f"![a](attachment:image.png) and ![b]({uri})", image__png={"image/png": PNG})
    second = new_markdown_cell('<img src="attachment:image.png" width="3"> ![c](attachment:my%20cat.gif)')
    second.attachments = {
        "image.png": {"image/jpeg": JPEG},
        "my cat.gif": {"image/gif": GIF},
        "old.png": {"image/png": PNG},
    }
    below(notebook, second)
    essay = found(notebook)
    assert essay.text == (
        "![a](attachment:image.png) and ![b](attachment:picture-2)\n\n"
        '<img src="attachment:picture-3" width="3"> ![c](attachment:my%20cat.gif)'
    )
    assert {name: [*held] for name, held in essay.pictures.items()} == {
        "image.png": ["image/png"], "picture-2": ["image/png"], "picture-3": ["image/jpeg"], "my cat.gif": ["image/gif"]
    }  # fmt: skip
    assert essay.notes == ["goes on in the cell below its own"]  # the old one was taken out of the text


def test_a_picture_of_another_cell_is_shown_and_one_that_is_nowhere_is_reported() -> None:
    notebook = with_picture("![](attachment:a%20b.png)")
    notebook.cells[0].attachments = {"a b.png": {"image/png": PNG}}
    essay = found(notebook)
    assert ([*essay.pictures], essay.notes) == (["a b.png"], [])
    for source in ("![](attachment:c.png)", "see ![my page](photo.jpg)", '<img width="3" src="C:\\me\\page.png">'):
        essay = found(with_picture(source))
        assert (essay.text, essay.pictures) == (source, {})
        assert essay.notes == ["pictures that its text shows and that are not in the file: 1"]


def test_a_picture_alone_is_an_answer() -> None:
    assert "(attachment:d.png)" in found(with_picture("![](attachment:d.png)", d__png={"image/png": PNG})).text
    assert "(attachment:d.png)" in found(with_picture("", d__png={"image/png": PNG})).text
    notebook = released()
    below(notebook, new_markdown_cell(f'<img src="data:image/png;base64,{PNG}"/>'))
    essay = found(notebook)
    assert (essay.text, essay.notes) == ('<img src="attachment:picture-1"/>', ["written in the cell below its own"])


@pytest.mark.parametrize(
    "held",
    [
        {"image/svg+xml": EVIL},
        {"image/png": "PHN2Zz48L3N2Zz4="},  # <svg></svg>
        {"text/html": EVIL},
        {"image/png": "no base64"},
        {"image/png": ["iVBORw0KGgo", 3]},
        {"image/png": "A" * (12 << 20)},
        {"image/png": {}},
        {},
        None,
        "x",
        7,
    ],
)
def test_what_is_no_safe_picture_is_not_kept(held: object) -> None:
    essay = found(with_picture(f"{TEXT} ![d](attachment:d.png)", d__png=held)) if isinstance(held, dict) else None
    cells = [{"cell_type": "markdown", "metadata": one.metadata, "source": one.source} for one in released().cells]
    cells[place(released())] |= {"source": f"{TEXT} ![d](attachment:d.png)", "attachments": {"d.png": held}}
    for one in [*([essay] if essay else []), read_essays(cells, master().notebook.cells)[ESSAY]]:
        assert (one.text, one.pictures) == (f"{TEXT} ![d](attachment:{DROPPED})", {})
        assert "cannot be shown: 1" in one.notes[-1]


@pytest.mark.parametrize(("data", "kind"), [(PNG, "png"), (JPEG, "jpeg"), (GIF, "gif"), (WEBP, "webp")])
def test_the_kind_of_a_picture_is_recognised_by_its_first_bytes(data: str, kind: str) -> None:
    assert read_picture(f" {data[:8]}\n{data[8:]}") == (f"image/{kind}", data)


def test_many_pictures_are_kept_up_to_a_size() -> None:
    big = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6" + "A" * (5 << 20)
    names = [f"p{number}.png" for number in range(5)]
    notebook = with_picture(" ".join(f"![{name}](attachment:{name})" for name in names))
    cell(notebook, ESSAY).attachments = {name: {"image/png": big} for name in names}
    essay = found(notebook)
    assert len(essay.pictures) == 3
    assert essay.text.count(DROPPED) == 2
    assert "cannot be shown: 2" in essay.notes[0]


# --- what grading makes of it -----------------------------------------------------------------------------------------


def work_of(notebook: NotebookNode, folder: Path) -> Work:
    path = folder / "somebody" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    return read(path.parent, master())


def test_the_graded_notebook_has_text_and_pictures_in_the_essay_s_own_cell(tmp_path: Path) -> None:
    from nbgrader.utils import determine_grade

    notebook = released()
    assert determine_grade(cell(rebuilt(master(), work_of(notebook, tmp_path)), ESSAY)) == (0, 2)
    plain = work_of(notebook, tmp_path)
    below(notebook, new_markdown_cell(f"{TEXT} ![d](attachment:d.png)"))
    notebook.cells[place(notebook) + 1].attachments = {"d.png": {"image/png": PNG}}
    work = work_of(notebook, tmp_path)
    assert work.repairs == [f"{ESSAY}: written in the cell below its own"]
    made = rebuilt(master(), work)
    nbformat.validate(made)
    assert determine_grade(cell(made, ESSAY)) == (None, 2)
    assert (cell(made, ESSAY).source, cell(made, ESSAY).attachments) == (
        f"{TEXT} ![d](attachment:d.png)",
        {"d.png": {"image/png": PNG}},
    )
    assert "attachments" not in cell(master().notebook, ESSAY)
    other = copy.deepcopy(work)
    other.pictures[ESSAY]["d.png"] = {"image/gif": GIF}
    assert len({one.digest() for one in (plain, work, other)}) == 3


def test_a_missing_cell_is_reported_and_looked_at(tmp_path: Path) -> None:
    from nbgrader.utils import determine_grade

    notebook = released()
    notebook.cells.remove(cell(notebook, ESSAY))
    work = work_of(notebook, tmp_path)
    assert work.repairs == [f"the cell of {ESSAY} is missing"]
    assert determine_grade(cell(rebuilt(master(), work), ESSAY)) == (None, 2)


def test_no_cell_of_any_form_stops_the_reading() -> None:
    """Cells as a hostile or damaged file may hold them, at the essay's place."""
    draw = random.Random(7)
    named = {"nbgrader": {"grade_id": ESSAY}}
    values: list[Any] = [None, 3, "", "x" * 30, [], ["a ", 3, None], {}, {"nbgrader": {"grade_id": 3}}, named, True]
    values += [1.5, {"a.png": {"image/png": [1]}}, {"\ud800": None}, "\ud800 text that has a half of a character"]
    keys = ["cell_type", "source", "metadata", "attachments", "id", "outputs", "input"]
    cells = json.loads(nbformat.writes(released()))["cells"]
    for _ in range(400):
        made = [{key: draw.choice([*values, "code", "markdown"]) for key in draw.sample(keys, 5)} for _ in range(3)]
        at = draw.randrange(len(cells))
        essay = read_essays([*cells[:at], *made, *cells[at:]], master().notebook.cells)[ESSAY]
        json.dumps([essay.text, essay.pictures, essay.notes]).encode()


@pytest.mark.parametrize(
    "text", ["a\n" * 200_000, "(" * 90_000, "data:image/png;" * 60_000, "1+" * 49_000, "```" * 300_000, "x " * 400_000]
)
def test_long_texts_cost_little(text: str) -> None:
    import time

    for made in (new_markdown_cell(text), new_code_cell(text)):
        notebook = released()
        below(notebook, made)
        cells = [*notebook.cells]
        start = time.process_time()
        read_essays(cells, master().notebook.cells)
        assert time.process_time() - start < 3
