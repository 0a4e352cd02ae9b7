"""Essays read without a mouse: points and comments by keyboard, in the light, in the dark, and on a telephone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.lab import Witness, hard_to_read
from tests.classroom.submissions import ASSIGNMENT
from tests.pages.test_essay_page import ESSAY, give, in_gradebook, make_class, make_equal, read, served, write_answer

TELEPHONE = 390  # CSS pixels


def status_of(answer: Locator) -> Locator:
    return answer.get_by_role("status")


def test_two_essays_are_read_by_keyboard(
    browser: Browser, page: Page, witness: Witness, tmp_path: Path, save_screenshot: Callable[[Page, str], None]
) -> None:
    course = make_class(tmp_path / "course")
    known = read(course)
    order = list(known)  # the students, in the order of the page
    with served(course) as address:
        page.goto(address)
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_role("article")).to_have_count(4)
        first, second, third = (page.locator("article").nth(place) for place in range(3))
        expect(first).to_be_focused()
        assert page.locator("math").count() >= 1
        assert page.get_by_role("main").get_by_role("heading", level=1).count() == 1

        page.keyboard.type("1,5")
        page.keyboard.press("Enter")
        expect(status_of(first)).to_have_text("saved: 1.5 points")
        expect(first).to_be_focused()
        page.keyboard.press("c")
        page.keyboard.type("Say more on j and k.")
        page.keyboard.press("Escape")
        expect(status_of(first)).to_have_text("saved: 1.5 points")
        assert in_gradebook(course, order[0]) == (1.5, False, "Say more on j and k.")
        expect(page.locator("#read")).to_have_text("1")

        page.keyboard.press("j")
        expect(second).to_be_focused()
        give(course, known[order[1]], 0, "Read before you.")  # somebody else, meanwhile
        page.keyboard.type("2")
        page.keyboard.press("j")  # saves, and goes on
        expect(third).to_be_focused()
        expect(status_of(second)).to_contain_text(
            'somebody else gave 0 points meanwhile, with the comment "Read before you."'
        )
        assert in_gradebook(course, order[1]) == (0, False, "Read before you.")
        page.keyboard.press("k")
        page.keyboard.type("2")
        page.keyboard.press("Enter")
        expect(status_of(second)).to_have_text("saved: 2 points")
        assert in_gradebook(course, order[1]) == (2, False, None)

        page.keyboard.press("j")
        page.keyboard.press("u")
        expect(first).to_be_hidden()
        expect(second).to_be_hidden()
        expect(third).to_be_focused()
        page.keyboard.type("9")
        page.keyboard.press("Enter")
        expect(status_of(third)).to_have_text("expected points from 0 to 2, got '9'; nothing was saved.")
        page.keyboard.press("r")
        expect(page.get_by_role("region", name="question and rubric")).to_be_focused()
        page.keyboard.press("r")
        page.keyboard.type("1")
        page.keyboard.press("Escape")  # back to what was there
        page.keyboard.press("u")
        keys = page.locator("#help")
        page.keyboard.press("?")
        expect(keys).to_be_focused()
        page.keyboard.press("?")
        expect(third).to_be_focused()
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(keys).to_be_in_viewport()
        page.evaluate("scrollTo(0, 0)")
        save_screenshot(page, "essays.png")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert hard_to_read(page.get_by_role("main")) == []
        witness.errors = [text for text in witness.errors if "409" not in text]  # Chromium reports each refused save
        page.set_viewport_size({"width": TELEPHONE, "height": 800})
        page.reload()
        expect(page.get_by_role("article").first).to_have_attribute("data-state", "read")
        assert page.evaluate("document.documentElement.scrollWidth") <= TELEPHONE
    assert page.url.endswith(f"/{ASSIGNMENT}/{ESSAY}")
    assert witness.outside == []
    assert witness.errors == []


def test_the_last_comments_are_given_again_by_key(page: Page, witness: Witness, tmp_path: Path) -> None:
    course = make_class(tmp_path / "course")
    order = list(read(course))
    with served(course) as address:
        page.goto(f"{address}{ASSIGNMENT}/{ESSAY}")
        answers = page.get_by_role("article")
        first, second, third = (answers.nth(place) for place in range(3))
        offered = page.locator("#recent").get_by_role("button")
        expect(page.locator("#recent")).to_be_hidden()
        page.keyboard.press("a")  # there is none yet
        expect(first).to_be_focused()
        for comment in ("Say more.", "<b>Which</b> state?"):
            page.keyboard.press("c")
            page.keyboard.press("ControlOrMeta+A")
            page.keyboard.type(comment)
            page.keyboard.press("Escape")
            expect(status_of(first)).to_contain_text("saved")
            expect(offered.first).to_have_text(comment)
        expect(offered).to_have_text(["<b>Which</b> state?", "Say more."])
        page.keyboard.press("j")
        page.keyboard.type("1")
        page.keyboard.press("Enter")
        expect(status_of(second)).to_have_text("saved: 1 points")
        for digit in "21":
            page.keyboard.press("a")
            expect(page.locator("#recent")).to_be_focused()
            page.keyboard.press(digit)
            expect(second).to_be_focused()
        both = "Say more.\n<b>Which</b> state?"
        expect(second.locator(".remark")).to_have_value(both)
        expect(offered).to_have_text(["<b>Which</b> state?", "Say more."])  # each keeps its number
        expect(page.locator("[data-busy]")).to_have_count(0)
        assert in_gradebook(course, order[1]) == (1.0, False, both)
        page.keyboard.press("j")
        page.keyboard.press("a")
        page.keyboard.press("Escape")
        expect(third).to_be_focused()
        offered.nth(1).click()
        expect(third.locator(".remark")).to_have_value("Say more.")
        page.reload()
        expect(offered).to_have_count(3)  # in the order of the answers, which is drawn: each was given once
        assert {" ".join(text.split()) for text in offered.all_inner_texts()} == {
            "Say more.",
            "<b>Which</b> state?",
            " ".join(both.split()),
        }
    assert witness.errors == []
    assert witness.outside == []


def test_equal_answers_are_marked_at_once_and_taken_back(page: Page, witness: Witness, tmp_path: Path) -> None:
    course = make_class(tmp_path / "course")
    make_equal(course)
    students = ("ada", "eve", "ivo")
    with served(course) as address:
        page.goto(f"{address}{ASSIGNMENT}/{ESSAY}")
        expect(page.get_by_role("article")).to_have_count(2)
        group = page.get_by_role("article").filter(has_text="given 3 times")
        group.focus()
        page.keyboard.type("2")
        page.keyboard.press("Enter")
        expect(status_of(group)).to_have_text("saved: 2 points, for 3 equal answers")
        expect(page.locator("#read")).to_have_text("3")
        assert [in_gradebook(course, one)[0] for one in students] == [2.0] * 3
        page.keyboard.press("z")
        expect(status_of(group)).to_have_text("taken back, for 3 equal answers")
        expect(page.locator("#read")).to_have_text("0")
        expect(group.locator(".points")).to_have_value("")
        assert [in_gradebook(course, one)[:2] for one in students] == [(None, True)] * 3
        write_answer(course, "eve", "It hides the future.")  # graded anew, meanwhile
        page.keyboard.type("1")
        page.keyboard.press("Enter")
        expect(status_of(group)).to_contain_text("1 of these 3 answers were graded anew meanwhile")
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        expect(status_of(group)).to_have_text("saved: 1 points, for 2 equal answers")
        assert [in_gradebook(course, one)[0] for one in students] == [1.0, None, 1.0]
        group.get_by_role("button", name="Take back").click()
        expect(status_of(group)).to_have_text("taken back, for 2 equal answers")
    assert [text for text in witness.errors if "409" not in text] == []
