"""JupyterLab as a student meets it: answer, check, run, validate."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
import pytest
from playwright.sync_api import Locator, Page, Response, expect

from grading.authoring import bank
from grading.classroom import demo
from grading.folder.course import ROOT
from tests.browser.lab import (
    SCREEN,
    START_SECONDS,
    TOKEN,
    Server,
    Witness,
    cell,
    choose,
    click_into,
    hard_to_read,
    jupyterlab,
    open_notebook,
    outputs,
    put_at_the_top,
    render,
    run,
    run_all_cells,
    source_of,
    type_into,
    validate,
    wait_until_idle,
)
from tutor import resuming
from tutor.work import Work

ASSIGNMENT = "01_causal_mask"
PATH = f"{ASSIGNMENT}/{ASSIGNMENT}.ipynb"


def cells_of(path: Path) -> list[Any]:
    """Returns the cells of a notebook file."""
    return list(nbformat.read(path, as_version=4).cells)


def place(path: Path, name: str) -> int:
    """Returns the place of the cell that nbgrader knows by this name."""
    names = [item.metadata.get("nbgrader", {}).get("grade_id") for item in cells_of(path)]
    return names.index(name)


def answer(exercise: str, title: str) -> str:
    """Returns an answer of the bank."""
    found = [item.source for item in bank.answers(ASSIGNMENT) if (item.exercise, item.title) == (exercise, title)]
    assert len(found) == 1, f"the bank has no answer {title!r} to {exercise}"
    return found[0]


def right_answers() -> dict[str, str]:
    """Returns a right answer to each exercise, by name."""
    return {item.exercise: item.source for item in reversed(bank.answers(ASSIGNMENT)) if item.right}


@pytest.fixture(autouse=True)
def _nothing_else_happens(witness: Witness) -> Any:
    """No request leaves this machine, and no error comes up in the console."""
    yield
    assert witness.outside == []
    assert witness.errors == []


def test_validate_says_that_nothing_is_written_yet(page: Page, lab: Server, notebook: Path) -> None:
    open_notebook(page, lab, PATH)
    message = validate(page)
    assert "Success" not in message
    for exercise in right_answers():
        assert f"{exercise}: not attempted yet" in message
    assert "this cell is still to be written" in message


def test_the_instructors_parts_of_nbgrader_are_not_there(page: Page, lab: Server, notebook: Path) -> None:
    open_notebook(page, lab, PATH)
    page.get_by_role("menuitem", name="Nbgrader").click()
    expect(page.get_by_role("menuitem", name="Assignment List")).to_be_visible()
    expect(page.get_by_role("menuitem", name="Formgrader")).to_have_count(0)
    expect(page.get_by_text("Create Assignment")).to_have_count(0)
    page.keyboard.press("Escape")


def test_a_wrong_answer_gets_its_hint_and_a_right_one_passes(
    page: Page, lab: Server, notebook: Path, save_screenshot: Callable[[Page, str], None]
) -> None:
    open_notebook(page, lab, PATH)
    exercise = cell(page, place(notebook, "causal_mask"))
    check = cell(page, place(notebook, "causal_mask_check"))
    run(check)
    expect(outputs(check)).to_have_text(re.compile("^`check` is not there yet: run the cells above first"))
    run(cell(page, place(notebook, "setup")))

    run(check)
    expect(outputs(check)).to_have_text(re.compile("`causal_mask` is not there yet: run the cells above first"))
    run(exercise)
    run(check)
    expect(outputs(check)).to_contain_text("causal_mask: not attempted yet")

    type_into(exercise, answer("causal_mask", "triangle without the 1"))
    run(exercise)
    run(check)
    verdict = outputs(check)
    expect(verdict).to_contain_text("causal_mask: not yet right")
    expect(verdict).to_contain_text("This looks like: the diagonal is blocked too.")

    type_into(exercise, answer("causal_mask", "lower triangle"))
    run(exercise)
    run(check)
    expect(verdict).to_contain_text("This looks like: the past is blocked in place of the future.")
    expect(verdict.locator("caption")).to_have_text([re.compile("^wanted"), re.compile("^yours")])
    put_at_the_top(cell(page, place(notebook, "causal_mask") - 1))  # the text above the exercise
    save_screenshot(page, "student.png")

    type_into(exercise, answer("causal_mask", "two loops"))
    run(exercise)
    run(check)
    expect(verdict).to_contain_text("causal_mask: all checks passed")
    expect(verdict).not_to_contain_text("This looks like")


DARK = "JupyterLab Dark"


@pytest.mark.parametrize("theme", ["JupyterLab Light", DARK])
def test_a_verdict_is_readable(page: Page, lab: Server, notebook: Path, theme: str) -> None:
    wrong = {"attention_weights": answer("attention_weights", "softmax down the columns")}
    nbformat.write(demo.fill(nbformat.read(notebook, as_version=4), wrong), notebook)
    open_notebook(page, lab, PATH)
    choose(page, "Settings", "Theme", theme)
    expect(page.locator("body")).to_have_attribute("data-jp-theme-name", theme)
    experiment = built_figures()[0]
    for name in ("setup", "attention_weights", "attention_weights_check"):
        run(cell(page, place(notebook, name)))
    panel = outputs(cell(page, place(notebook, "attention_weights_check"))).get_by_role("status")
    expect(panel).to_contain_text("softmax over the wrong axis")
    panel.scroll_into_view_if_needed()
    assert hard_to_read(panel) == []
    brightness = panel.evaluate("box => Number(getComputedStyle(box).backgroundColor.match(/\\d+/)[0])")
    assert (brightness < 80) == (theme == DARK)
    figure = cell(page, experiment)
    run(figure)
    drawn = pictures_of(figure)
    expect(drawn).to_have_css("filter", re.compile("invert") if theme == DARK else "none")
    last = cell(page, len(cells_of(notebook)) - 1)
    run(last)
    table = outputs(last).get_by_role("status")
    expect(table).to_contain_text("01_causal_mask: ")
    assert hard_to_read(table) == []


def test_jupyterlab_opens_on_the_first_notebook_and_then_on_the_last_one_open(
    page: Page, repository: Path, tmp_path: Path
) -> None:
    names = ("00_start_here", "02_positional_encoding", "12_hyperparameter_sweep")  # the last is the longest
    for name in names:
        shutil.copytree(repository / "notebooks" / name, tmp_path / "notebooks" / name)
    assert Work(tmp_path).follow()
    front = page.locator(".lm-DockPanel-tabBar .lm-mod-current .lm-TabBar-tabLabel")
    with jupyterlab(tmp_path, tmp_path / "work", tmp_path / "home") as server:
        page.goto(f"{server.address}/lab?token={TOKEN}")
        expect(front).to_have_text("00_start_here.ipynb", timeout=START_SECONDS * 1000)
        wait_until_idle(page)
        expect(page.locator(".jp-NotebookPanel-toolbar .jp-KernelName")).to_contain_text("Python 3")
        expect(page.locator(".jp-mod-dirty")).to_have_count(0)  # nobody has touched it
        for width in (SCREEN["width"], 911):  # the second: enlarged to 150 %
            page.set_viewport_size({"width": width, "height": SCREEN["height"]})
            labels = page.locator(".jp-DirListing-itemName")
            expect(labels).to_have_count(len(names))
            wide = "labels => labels.map(label => [label.innerText, label.scrollWidth <= label.clientWidth])"
            assert labels.evaluate_all(wide) == [[name, True] for name in names]
        page.locator(".jp-DirListing-item", has_text=names[1]).click()  # one click each

        def is_kept(reply: Response) -> bool:  # what is open is written down whenever it changes, for a busy page late
            is_workspace = "/lab/api/workspaces/" in reply.url and reply.request.method == "PUT"
            return is_workspace and f"{names[1]}.ipynb" in (reply.request.post_data or "")

        with page.expect_response(is_kept):
            page.locator(".jp-DirListing-item", has_text=f"{names[1]}.ipynb").click()
            expect(front).to_have_text(f"{names[1]}.ipynb")
        page.goto("about:blank")
    with jupyterlab(tmp_path, tmp_path / "work", tmp_path / "home") as server:
        page.goto(f"{server.address}/lab?token={TOKEN}")
        expect(front).to_have_text(f"{names[1]}.ipynb", timeout=START_SECONDS * 1000)
        page.goto("about:blank")


def test_a_newer_release_meets_what_was_saved(
    page: Page, lab: Server, notebook: Path, student_server: tuple[Server, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_notebook(page, lab, PATH)
    exercise = cell(page, place(notebook, "causal_mask"))
    mine = right_answers()["causal_mask"]
    type_into(exercise, mine)
    for name in ("setup", "setup", "causal_mask", "causal_mask_check"):  # with other numbers than in the next kernel
        run(cell(page, place(notebook, name)))
    page.keyboard.press("ControlOrMeta+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    assert mine in [one.source for one in cells_of(notebook)]
    page.goto("about:blank")
    lab.end_kernels()

    _, course = student_server
    newer = nbformat.read(course / "notebooks" / PATH, as_version=4)
    at = place(notebook, "causal_mask")
    newer.cells[at].source = newer.cells[at].source.replace("Returns the causal mask", "Returns a causal mask")
    newer.cells[0].source = newer.cells[0].source.replace("# 01", "# Newer: 01")
    nbformat.write(newer, course / "notebooks" / PATH)
    monkeypatch.setenv("HOME", str(course / "home"))  # where Jupyter keeps what it trusts
    update = Work(course)
    assert update.follow()
    assert "1 answer stays" in update.lines[0]

    open_notebook(page, lab, PATH)
    expect(cell(page, 0).locator("h1")).to_contain_text("Newer: 01")
    notice = cell(page, place(notebook, "causal_mask") - 1)
    expect(notice).to_contain_text(
        "The newer release begins this exercise in another way. Your answer below is as you left"
    )
    exercise, check = (cell(page, place(notebook, name)) for name in ("causal_mask", "causal_mask_check"))
    assert source_of(exercise) == mine
    expect(outputs(check).get_by_role("status")).to_contain_text("causal_mask: all checks passed")  # with its colours
    put_at_the_top(notice)
    for name in ("setup", "causal_mask", "causal_mask_check"):
        run(cell(page, place(notebook, name)))
    expect(outputs(check)).to_contain_text("causal_mask: all checks passed")


def test_a_second_sitting_goes_on_after_the_set_up_cell_alone(
    page: Page, lab: Server, notebook: Path, repository: Path, witness: Witness
) -> None:
    """In a folder with an odd name and a renamed file, in which the first sitting was answered on another day."""
    name = next(iter(json.loads(resuming.PARTS.read_text("utf-8"))))
    later = notebook.parent.parent / "cours d'été n° 1" / "李雷.ipynb"
    later.parent.mkdir(exist_ok=True)
    solved = nbformat.read(repository / "solutions" / name / f"{name}.ipynb", as_version=4)
    for item in solved.cells:
        if item.cell_type == "code":
            item.update(outputs=[], execution_count=None)
    nbformat.write(solved, later)
    open_notebook(page, lab, f"{quote(later.parent.name)}/{quote(later.name)}")
    begin = tagged(later, "resume")
    names = [item.metadata.get("nbgrader", {}).get("grade_id", "") for item in solved.cells]
    check = next(index for index in range(begin, len(names)) if names[index].endswith("_check"))
    for index in (names.index("setup"), begin, names.index(names[check].removesuffix("_check")), check):
        run(cell(page, index))
    expect(outputs(cell(page, begin))).to_have_text("Your answers above are back, and what else the rest needs.")
    expect(outputs(cell(page, check)).get_by_role("status")).to_contain_text("all checks passed")


def tagged(path: Path, tag: str) -> int:
    """Returns the place of the first cell with a tag."""
    return next(index for index, item in enumerate(cells_of(path)) if tag in item.metadata.get("tags", []))


@pytest.mark.parametrize("theme", ["JupyterLab Light", DARK])
def test_an_experiment_is_folded_below_its_caption_and_opens_by_click_and_by_key(
    page: Page, lab: Server, notebook: Path, theme: str, save_screenshot: Callable[[Page, str], None]
) -> None:
    open_notebook(page, lab, PATH)
    choose(page, "Settings", "Theme", theme)
    expect(page.locator("body")).to_have_attribute("data-jp-theme-name", theme)
    run(cell(page, place(notebook, "setup")))
    experiment = cell(page, built_figures()[0])
    caption = experiment.locator(".jp-InputPlaceholder")
    expect(caption).to_contain_text("The weights of three tokens, with the mask and without")
    expect(experiment.locator(".jp-InputArea-editor")).to_be_hidden()
    assert hard_to_read(caption) == []
    click_into(cell(page, tagged(notebook, "by_hand")))
    for _ in range(3):  # this one, the text below it, the experiment
        page.keyboard.press("Shift+Enter")
    expect(pictures_of(experiment)).to_have_count(1)
    expect(caption).to_be_visible()

    caption.locator(".jp-Placeholder-content").click()
    expect(experiment.locator(".jp-InputArea-editor")).to_be_visible()
    expect(experiment.locator(".jp-InputArea-editor")).to_contain_text("torch.softmax(scores + mask, dim=-1)")

    other = cell(page, place(notebook, "causal_mask_check") + 2)
    expect(other.locator(".jp-InputPlaceholder")).to_be_visible()
    click_into(cell(page, place(notebook, "causal_mask_check")))
    for key in ("Shift+Enter", "Shift+Enter", "Enter"):  # the check, the text below it, and into the experiment
        page.keyboard.press(key)
    expect(other.locator(".jp-InputArea-editor")).to_be_visible()


def test_a_guess_is_told_beside_what_came_out_and_a_pencil_is_corrected(
    page: Page, lab: Server, notebook: Path, witness: Witness
) -> None:
    open_notebook(page, lab, PATH)
    run(cell(page, place(notebook, "setup")))
    for tag in ("by_hand", "guess"):
        run(cell(page, tagged(notebook, tag)))
        expect(outputs(cell(page, tagged(notebook, tag)))).to_have_count(0)
    by_hand = cell(page, tagged(notebook, "by_hand"))
    type_into(by_hand, 'by_hand("attention_weights", [[0.67, 0, 0], [0.11, 0.79, 0], [0.09, 0.24, 0.67]])')
    run(by_hand)
    panel = outputs(by_hand).get_by_role("status")
    expect(panel).to_contain_text("this looks like: the mask comes after the softmax")
    assert hard_to_read(panel) == []

    guessed = cell(page, tagged(notebook, "guess"))
    type_into(guessed, 'guess("the sum of the first row", 1)')
    run(guessed)
    expect(outputs(guessed)).to_have_text("Noted: 1. The cell after the experiment compares.")
    run(cell(page, tagged(notebook, "by_hand") + 2))
    run(cell(page, tagged(notebook, "guess") + 1))
    reveal = cell(page, tagged(notebook, "reveal"))
    run(reveal)
    told = outputs(reveal).get_by_role("status")
    expect(told).to_have_text("the sum of the first row: You guessed 1; it is 0.665.")
    assert hard_to_read(told) == []
    last = cell(page, len(cells_of(notebook)) - 1)
    run(last)
    expect(outputs(last)).to_contain_text("Guesses: 0 of 1 close (within a factor of two, shares within 0.1).")


def test_a_question_is_answered_where_it_stands(page: Page, lab: Server, notebook: Path) -> None:
    open_notebook(page, lab, PATH)
    place_of_questions = next(i for i, item in enumerate(cells_of(notebook)) if "## Three questions" in item.source)
    questions = cell(page, place_of_questions)
    questions.scroll_into_view_if_needed()
    said = questions.locator("details p", has_text="A weight of zero hides the token, too.")
    expect(said).to_be_hidden()
    summary = questions.locator("summary", has_text="Zeros after the softmax")
    summary.click()
    expect(said).to_be_visible()
    assert hard_to_read(questions.locator(".jp-MarkdownOutput")) == []
    summary.focus()
    page.keyboard.press("Enter")
    expect(said).to_be_hidden()


def test_a_check_cannot_be_edited(page: Page, lab: Server, notebook: Path) -> None:
    open_notebook(page, lab, PATH)
    check = cell(page, place(notebook, "causal_mask_check"))
    before = source_of(check)
    click_into(check)
    page.keyboard.type("pass  # ")
    page.keyboard.press("Delete")
    assert source_of(check) == before == "check(causal_mask)"


def test_a_whole_notebook_runs_and_validates(page: Page, lab: Server, notebook: Path) -> None:
    released = nbformat.read(notebook, as_version=4)
    nbformat.write(demo.fill(released, right_answers()), notebook)
    open_notebook(page, lab, PATH)
    essay = cell(page, place(notebook, "mask_essay"))
    type_into(essay, "Without a mask the model copies the next word.\n\nWith it, it has to guess.")
    render(essay)

    run_all_cells(page)
    for index in built_figures():
        pictures = pictures_of(cell(page, index))
        expect(pictures).to_have_count(1)
        assert_is_readable(pictures.first)
    assert page.locator(".jp-RenderedImage").count() == 0, "a figure without alternative text"

    slider_moves_the_picture(page, interactive_cell(notebook))
    assert "Success! Your notebook passes all the tests." in validate(page)


def test_run_all_of_an_unfinished_notebook_goes_through(page: Page, lab: Server, notebook: Path) -> None:
    open_notebook(page, lab, PATH)
    run_all_cells(page)
    last = outputs(cell(page, len(cells_of(notebook)) - 1))
    expect(last).to_contain_text("01_causal_mask: 0 of 14 points so far")
    output = page.locator(".jp-OutputArea-output", has_text="Not yet: this cell needs your `causal_mask`")
    cell(page, place(notebook, "causal_mask_check") + 2).scroll_into_view_if_needed()
    expect(output.first).to_be_visible()
    expect(page.locator("[data-mime-type='application/vnd.jupyter.error']")).to_have_count(0)


def built_figures() -> list[int]:
    """Returns the places of the cells that show a figure in the solution notebook."""
    built = ROOT / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    shown = [
        index
        for index, item in enumerate(cells_of(built))
        for output in item.get("outputs", [])
        if "<img " in output.get("data", {}).get("text/html", "")
    ]
    assert shown, f"{built} shows no figure"
    return shown


def interactive_cell(path: Path) -> int:
    """Returns the place of the cell with the slider."""
    tags = [item.metadata.get("tags", []) for item in cells_of(path)]
    return next(index for index, names in enumerate(tags) if "widget" in names)


def pictures_of(cell: Locator) -> Locator:
    """Returns the figures that a cell shows."""
    return outputs(cell).locator("img[src^='data:image/png']")


def assert_is_readable(picture: Locator) -> None:
    """Makes sure that a figure has a text, and is drawn no smaller than half of its size."""
    alt = picture.get_attribute("alt") or ""
    assert len(alt) > 20, f"alternative text {alt!r}"
    width, shown = picture.evaluate("image => [image.naturalWidth, image.clientWidth]")
    assert 0 < width <= 2 * shown, f"{alt}: {shown} of {width} pixels wide"


def slider_moves_the_picture(page: Page, index: int) -> None:
    """Moves the slider with the keyboard; picture, text and number must follow."""
    place = cell(page, index)
    slider = place.get_by_role("slider")
    picture = pictures_of(place)
    expect(picture).to_have_attribute("alt", re.compile("the weights for 6 tokens"))
    before = picture.get_attribute("src")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(picture).to_have_attribute("alt", re.compile("the weights for 7 tokens"))
    expect(slider).to_have_attribute("aria-valuenow", re.compile(r"^7(\.0)?$"))
    expect(place.locator(".widget-readout")).to_have_text("7")
    assert picture.get_attribute("src") != before
    page.keyboard.press("End")
    expect(picture).to_have_attribute("alt", re.compile("the weights for 12 tokens"))
