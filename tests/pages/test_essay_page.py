"""Essays read by keyboard: what the page shows, who gets it, and that a mark is in nbgrader's gradebook, or refused."""

from __future__ import annotations

import asyncio
import http.client
import json
import queue
import re
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import nbformat
import pytest

from grading.__main__ import main
from grading.authoring import bank
from grading.classroom import demo, essays, export
from grading.classroom.essays import ChangedError, Given, Mark
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.pages import essays as pages
from tests.classroom.submissions import ASSIGNMENT, released
from tests.pages.test_feedback import EVIL, PNG, Page

ESSAY = "mask_essay"
TEXTS = {
    "ada": "Without the mask the model copies the **next** word: $p(x_t \\mid x_{<t})$ is not learned.",
    "bob": f"# My essay\n\n{EVIL}\n\n[a link](javascript:alert(1))",
    "eve": "It hides the padding.",
    "ivo": "Keys and values can be kept.\n\n```python\nx = 1\n```",
    "zoe": "",  # as it was released
}


def write_answer(course: Course, student: str, text: str) -> None:
    """Writes the graded notebook of a student, with this essay."""
    path = course.autograded(student, ASSIGNMENT)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(demo.fill(released(), {ESSAY: text} if text else {}), path)


def make_class(folder: Path) -> Course:
    """Makes a graded class of five, whose essays nobody has read."""
    course = Course(folder)
    for path in (course.solution(ASSIGNMENT), course.released(ASSIGNMENT)):
        path.parent.mkdir(parents=True)
        shutil.copy(ROOT / path.relative_to(course.root), path)
    with course.gradebook() as book:
        book.add_assignment(ASSIGNMENT)
        book.add_notebook(ASSIGNMENT, ASSIGNMENT)
        book.add_grade_cell(ESSAY, ASSIGNMENT, ASSIGNMENT, max_score=2, cell_type="markdown")
        book.add_solution_cell(ESSAY, ASSIGNMENT, ASSIGNMENT)
        book.add_grade_cell("causal_mask_check", ASSIGNMENT, ASSIGNMENT, max_score=3, cell_type="code")
        book.db.commit()
        for student, text in TEXTS.items():
            book.add_student(student, first_name=student.title(), last_name="Anonymous")
            book.add_submission(ASSIGNMENT, student)
            grade = book.find_grade(ESSAY, ASSIGNMENT, ASSIGNMENT, student)
            grade.auto_score, grade.needs_manual_grade = (None, True) if text else (0.0, False)
            check = book.find_grade("causal_mask_check", ASSIGNMENT, ASSIGNMENT, student)
            check.auto_score, check.needs_manual_grade = 3.0, False
        book.db.commit()
    for student, text in TEXTS.items():
        write_answer(course, student, text)
    return course


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_class(tmp_path_factory.mktemp("essays")).root


@pytest.fixture
def course(tmp_path: Path, template: Path) -> Course:
    shutil.copytree(template, tmp_path / "course")
    return Course(tmp_path / "course")


def read(course: Course) -> dict[str, essays.Answer]:
    """Returns the answers by student: a test knows who wrote what."""
    found = essays.answers(course, essays.question(course, ASSIGNMENT, ESSAY))
    whose = {text: student for student, text in TEXTS.items()}
    return {whose.get(one.text, "changed"): one for one in found}


def give(course: Course, answer: essays.Answer, points: float | None, comment: str = "") -> essays.Answer:
    asked = essays.question(course, ASSIGNMENT, ESSAY)
    ((saved, _),) = essays.save(course, asked, [Given(answer.key, Mark(points, comment), answer.seen)])
    return saved


def in_gradebook(course: Course, student: str) -> tuple[float | None, bool, str | None]:
    where = (ESSAY, ASSIGNMENT, ASSIGNMENT, student)
    with course.gradebook() as book:
        grade = book.find_grade(*where)
        return grade.manual_score, grade.needs_manual_grade, book.find_comment(*where).comment


# --- the question -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted((ROOT / "solutions").glob("*/*.ipynb")), ids=lambda path: path.stem)
def test_every_essay_has_its_question_rubric_and_samples(path: Path) -> None:
    for cell in bank.cells(path.stem):
        if cell.kind == "essay":
            asked = essays.question(Course(), path.stem, cell.name)
            assert asked.points == cell.points
            assert 100 < len(asked.text) < 2000
            assert "?" in asked.text or "**" in asked.text
            assert asked.rubric.startswith("**Rubric**")
            assert re.findall(r"(?m)^- \*(Full marks|Half|No marks) \(", asked.samples) == [
                "Full marks",
                "Half",
                "No marks",
            ]


def test_what_is_not_there_is_reported(course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CourseError, match="01_causal_mask has no essay 'other'; expected one of: mask_essay"):
        essays.question(course, ASSIGNMENT, "other")
    (tmp_path / "empty").mkdir()
    assert main(["essays", "--course", str(tmp_path / "empty")]) == 2
    assert "grade first" in capsys.readouterr().err
    assert main(["essays", "99_none", "--course", str(course.root)]) == 2
    assert "no assignment is called '99_none'" in capsys.readouterr().err


# --- marks ------------------------------------------------------------------------------------------------------------


def test_a_mark_is_nbgraders_own(course: Course) -> None:
    before = read(course)
    assert set(before) == {"ada", "bob", "eve", "ivo"}  # nobody reads what is as it was released
    saved = give(course, before["ada"], 1.5, "Say more on <generation>, $x_i$.")
    assert in_gradebook(course, "ada") == (1.5, False, "Say more on <generation>, $x_i$.")
    after = read(course)
    assert after["ada"] == saved
    assert (after["ada"].state, after["bob"].state) == ("read", "unread")
    assert [one.key for one in after.values()] == [one.key for one in before.values()]  # the order stays
    (mark,) = (one for one in export.marks(course)[0] if one.student == "ada")
    assert (mark.score, mark.unread) == (4.5, 0)
    assert essays.counts(course) == [essays.Count(ASSIGNMENT, ESSAY, 2.0, 4, 1, 1)]
    give(course, after["ada"], None)
    assert in_gradebook(course, "ada") == (None, True, None)


@pytest.mark.parametrize(("typed", "points"), [("1,5", 1.5), (" 2 ", 2.0), ("0", 0.0), ("", None)])
def test_points_as_people_type_them(course: Course, typed: str, points: float | None) -> None:
    asked = essays.question(course, ASSIGNMENT, ESSAY)
    assert essays.read_mark(asked, typed, " well\r\nsaid ") == Mark(points, "well\nsaid")


@pytest.mark.parametrize(("typed", "comment"), [("3", ""), ("-1", ""), ("nan", ""), ("two", ""), ("1", "x" * 5001)])
def test_what_is_no_mark_is_refused(course: Course, typed: str, comment: str) -> None:
    asked = essays.question(course, ASSIGNMENT, ESSAY)
    with pytest.raises(CourseError, match=r"expected .* nothing was saved"):
        essays.read_mark(asked, typed, comment)


def test_the_later_of_two_readers_is_reported(course: Course) -> None:
    mine = read(course)["eve"]
    give(course, mine, 2, "Good.")
    with pytest.raises(ChangedError, match=r'somebody else gave 2 points meanwhile, with the comment "Good\."') as info:
        give(course, mine, 0.5)
    assert in_gradebook(course, "eve") == (2.0, False, "Good.")
    give(course, mine, 2, "Good.")  # the same mark is no quarrel
    give(course, info.value.answers[0], 0.5)  # who has seen the other mark may put theirs in its place
    assert in_gradebook(course, "eve") == (0.5, False, None)


def test_a_newer_submission_is_shown_before_it_gets_a_mark(course: Course) -> None:
    mine = read(course)["eve"]
    write_answer(course, "eve", "It hides the future.")
    with pytest.raises(ChangedError, match="a newer submission was graded meanwhile") as info:
        give(course, mine, 0.5)
    assert info.value.answers[0].text == "It hides the future."
    assert in_gradebook(course, "eve") == (None, True, None)
    give(course, info.value.answers[0], 2)
    with course.gradebook() as book:  # as the autograder leaves it after a change
        book.find_grade(ESSAY, ASSIGNMENT, ASSIGNMENT, "eve").needs_manual_grade = True
        book.db.commit()
    again = read(course)["changed"]
    assert (again.state, again.mark.points, again.overtaken) == ("again", 2.0, False)
    course.submitted("eve", ASSIGNMENT).mkdir(parents=True)
    (course.submitted("eve", ASSIGNMENT) / "timestamp.txt").write_text("2030-01-12 18:00:00 UTC")
    assert read(course)["changed"].overtaken


def test_a_submission_that_is_being_graded_is_left_alone(course: Course) -> None:
    """The autograder writes the new notebook beside the old one, then the marks, then puts it in place."""
    mine = read(course)["eve"]
    path = course.autograded("eve", ASSIGNMENT)
    path.with_name(f".{path.name}.half").touch()
    with pytest.raises(CourseError, match="is being graded, or its grading was interrupted; nothing was saved"):
        give(course, mine, 1)
    assert set(read(course)) == {"ada", "bob", "ivo"}
    assert "Being graded, or left half graded: 1" in pages.question_page(
        course, essays.question(course, ASSIGNMENT, ESSAY)
    )


def test_a_gradebook_that_is_being_written_is_reported(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = read(course)["eve"]
    usual = sqlite3.connect
    monkeypatch.setattr("sqlite3.dbapi2.connect", lambda *a, **k: usual(*a, **(k | {"timeout": 0.05})))
    with usual(course.database, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CourseError, match="another program is writing the gradebook"):
            give(course, answer, 1)
        other.execute("ROLLBACK")
    other.close()
    assert in_gradebook(course, "eve") == (None, True, None)
    give(course, answer, 1)


# --- equal answers, pictures, and what grading has noted --------------------------------------------------------------


def read_all(course: Course) -> list[essays.Group]:
    return essays.groups(essays.answers(course, essays.question(course, ASSIGNMENT, ESSAY)))


def make_equal(course: Course) -> essays.Group:
    """Gives Ada, Eve and Ivo the same answer but for white space; returns their group."""
    for student, text in {"ada": "The same.\n\nIn two parts.", "eve": "The same. In two parts.\n"}.items():
        write_answer(course, student, text)
    write_answer(course, "ivo", " The same.\n\n\nIn two  parts.")
    (group,) = (one for one in read_all(course) if len(one.answers) > 1)
    return group


def give_all(course: Course, group: essays.Group, *marks: Mark) -> list[tuple[essays.Answer, Mark]]:
    """Gives a group one mark, or each of its answers its own."""
    each = marks if len(marks) > 1 else marks * len(group.answers)
    given = [Given(one.key, mark, one.seen) for one, mark in zip(group.answers, each, strict=True)]
    return essays.save(course, essays.question(course, ASSIGNMENT, ESSAY), given)


def test_equal_answers_get_one_mark_that_is_taken_back_in_one_step(course: Course) -> None:
    group = make_equal(course)
    assert [len(one.answers) for one in read_all(course)].count(1) == 1  # Bob's
    saved = give_all(course, group, Mark(1.5, "Good."))
    for student in ("ada", "eve", "ivo"):
        assert in_gradebook(course, student) == (1.5, False, "Good.")
    (read,) = (one for one in read_all(course) if len(one.answers) > 1)
    assert [one.state for one in read.answers] == ["read"] * 3
    assert essays.counts(course) == [essays.Count(ASSIGNMENT, ESSAY, 2.0, 4, 3, 1)]
    give_all(course, read, *(mark for _, mark in saved))
    for student in ("ada", "eve", "ivo"):
        assert in_gradebook(course, student) == (None, True, None)


def test_what_is_taken_back_was_there_before(course: Course) -> None:
    """Another mark for each, one of them to be read again: all are there again after one step."""
    make_equal(course)
    with course.gradebook() as book:
        for student, points in (("ada", 2.0), ("eve", 0.5)):
            grade = book.find_grade(ESSAY, ASSIGNMENT, ASSIGNMENT, student)
            grade.manual_score, grade.needs_manual_grade = points, student == "eve"
        book.db.commit()
    found = read_all(course)
    assert sorted((len(one.answers), one.twin) for one in found) == [(1, False), (1, True), (1, True), (1, True)]
    whole = essays.Group([answer for one in found if one.twin for answer in one.answers])
    saved = give_all(course, whole, Mark(1))
    again = essays.Group([one for one, _ in saved])
    give_all(course, again, *(mark for _, mark in saved))
    assert [in_gradebook(course, one)[:2] for one in ("ada", "eve", "ivo")] == [(2.0, False), (0.5, True), (None, True)]


def test_of_equal_answers_all_are_saved_or_none(course: Course) -> None:
    group = make_equal(course)
    write_answer(course, "eve", "Another text.")
    with pytest.raises(ChangedError, match="1 of these 3 answers were graded anew meanwhile") as info:
        give_all(course, group, Mark(1))
    assert len(info.value.answers) == 3
    assert [in_gradebook(course, one)[0] for one in ("ada", "eve", "ivo")] == [None] * 3
    (group,) = (one for one in read_all(course) if len(one.answers) > 1)
    give(course, group.answers[1], 2)
    with pytest.raises(ChangedError, match="somebody else gave 2 points meanwhile to one of these answers"):
        give_all(course, group, Mark(1))
    path = course.autograded("ada", ASSIGNMENT)
    path.with_name(f".{path.name}.half").touch()
    with pytest.raises(CourseError, match="is being graded"):
        give_all(course, group, Mark(1))
    assert sorted(in_gradebook(course, one)[0] or 0 for one in ("ada", "ivo")) == [0, 2]


def test_the_page_shows_pictures_and_what_grading_has_noted(course: Course) -> None:
    make_equal(course)
    for student in ("ada", "bob", "eve"):
        path = course.autograded(student, ASSIGNMENT)
        notebook = nbformat.read(path, as_version=4)
        notebook.metadata["grading"] = {
            "put_right": ["the file is called 'ada_lovelace.ipynb' in place of it", f"{ESSAY}: below {EVIL}"],
            "odd": [f"a reply of its own making {EVIL}"] if student == "bob" else [],
        }
        if student == "bob":
            own = next(one for one in notebook.cells if one.id == ESSAY)
            own.source, own.attachments = "See ![d](attachment:d.png)", {"d.png": {"image/png": PNG}}
        nbformat.write(notebook, path)
    text = pages.question_page(course, essays.question(course, ASSIGNMENT, ESSAY))
    page = Page(text)
    assert [attributes["src"] for tag, attributes in page.tags if tag == "img"] == [f"data:image/png;base64,{PNG}"]
    assert "its file had another name (2 of 3)" in page.text
    assert "lovelace" not in text
    assert f"LOOK AT IT: a reply of its own making {EVIL}" in page.text
    assert f"{ESSAY}: below {EVIL} (2 of 3)" in page.text
    assert ", given 3 times" in page.text
    assert "0 of 4 read" in " ".join(page.text.split())
    members = [json.loads(attributes["data-answers"] or "") for tag, attributes in page.tags if tag == "article"]
    assert sorted(map(len, members)) == [1, 3]


def test_another_picture_is_another_answer(course: Course) -> None:
    found = set()
    for data in (PNG, "R0lGODlhAQABAAAAACw="):
        path = course.autograded("bob", ASSIGNMENT)
        notebook = nbformat.read(path, as_version=4)
        own = next(one for one in notebook.cells if one.id == ESSAY)
        own.attachments = {"d.png": {"image/png": data}}
        nbformat.write(notebook, path)
        answer = read(course)["bob"]
        found |= {answer.words, answer.seen}
    assert len(found) == 4


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_names_nobody_and_runs_nothing(course: Course) -> None:
    give(course, read(course)["ada"], 1, "</textarea><script>alert(2)</script>")
    text = pages.question_page(course, essays.question(course, ASSIGNMENT, ESSAY))
    page = Page(text)
    names = [tag for tag, _ in page.tags]
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert scripts == [{"src": "../essays.js", "defer": None}]
    assert not {"img", "iframe", "svg", "link"} & set(names)
    values = [(name, value or "") for _, attributes in page.tags for name, value in attributes.items()]
    assert [name for name, value in values if name.startswith("on") or "javascript:" in value] == []
    assert '<script>alert("evil")</script>' in page.text
    assert not re.search(rf"\b({'|'.join(TEXTS)})\b|Anonymous", text, re.IGNORECASE)
    assert names.count("main") == names.count("h1") == 1
    assert names.count("article") == 4
    assert "math" in names
    fields = [attributes["id"] for tag, attributes in page.tags if tag in ("input", "textarea")]
    wrapped = {"unread", "keys"}  # their labels stand around them
    assert {one.get("for") for tag, one in page.tags if tag == "label"} - {None} == {*fields} - wrapped
    assert "1 of 4 read" in " ".join(page.text.split())
    assert "Without an answer: 1" in page.text


def test_the_last_comments_are_offered_again(course: Course) -> None:
    known = read(course)
    for student, comment in (("ada", "Say more."), ("bob", "Say more."), ("eve", '</div>"&amp; <b>x</b>')):
        give(course, known[student], 1, comment)
    page = Page(pages.question_page(course, essays.question(course, ASSIGNMENT, ESSAY)))
    (recent,) = [attributes for _, attributes in page.tags if attributes.get("id") == "recent"]
    assert json.loads(recent["data-comments"] or "") == ["Say more.", '</div>"&amp; <b>x</b>']


# --- the server -------------------------------------------------------------------------------------------------------


@contextmanager
def served(course: Course) -> Iterator[str]:
    """Serves the pages from a thread; gives their address."""
    messages: queue.Queue[str] = queue.Queue()
    loop = asyncio.new_event_loop()
    task = loop.create_task(pages.serve(course, show=messages.put))

    def run() -> None:
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield messages.get(timeout=300)
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()


def ask(address: str, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any, Any]:
    place = urlparse(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=300)
    if body is not None:
        headers = {"Content-Type": "application/json"} | headers
    connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply.status, reply.headers, json.loads(text) if method == "POST" else text


def test_a_mark_goes_through_the_server(course: Course, caplog: pytest.LogCaptureFixture) -> None:
    answer = read(course)["bob"]
    with served(course) as address:
        root = urlparse(address).path
        where = f"{root}{ASSIGNMENT}/{ESSAY}"
        status, headers, text = ask(address, "GET", root)
        assert (status, "0 of 4" in text) == (200, True)
        assert "script-src 'self'" in headers["Content-Security-Policy"]
        assert headers["Cache-Control"] == "no-store"
        assert ask(address, "GET", where)[2].startswith("<!DOCTYPE html>")
        assert "keydown" in ask(address, "GET", f"{root}essays.js")[2]
        sent = {"key": answer.key, "seen": answer.seen, "points": "1,5", "comment": "Good."}
        status, _, reply = ask(address, "POST", where, {"marks": [sent]})
        (now,) = reply["now"]
        assert (status, reply["told"], now["state"], now["points"]) == (200, "saved: 1.5 points", "read", "1.5")
        assert reply["before"] == [{"key": answer.key, "points": "", "comment": "", "again": False}]
        assert "<script" not in now["html"]
        status, _, reply = ask(address, "POST", where, {"marks": [sent | {"points": "1"}]})
        assert status == 409
        assert reply["told"].startswith("somebody else gave 1.5 points meanwhile")
        for seen in ("", " ", "x"):  # of no page of ours: the answer that is there is shown before it gets a mark
            status, _, reply = ask(address, "POST", where, {"marks": [sent | {"seen": seen}]})
            assert (status, reply["now"][0]["points"]) == (409, "1.5")
        status, _, reply = ask(address, "POST", where, {"marks": [sent | {"points": "7"}]})
        assert (status, reply) == (409, {"told": "expected points from 0 to 2, got '7'; nothing was saved."})
        wrong: Any
        for wrong in (
            {"key": "none"},
            {"marks": []},
            {"marks": [{"key": "none"}]},
            {"marks": [1]},
            {"marks": [sent, sent]},
            [],
        ):
            assert ask(address, "POST", where, wrong)[0] == 400
        assert ask(address, "POST", where, {"marks": [sent]}, **{"Content-Type": "text/plain"})[0] == 415
        assert ask(address, "GET", f"{root}{ASSIGNMENT}/other")[0] == 409
        assert ask(address, "GET", f"{where}/{answer.key}")[2].count('<div class="answer">') == 1
        assert ask(address, "GET", f"{where}/none")[0] == 409
        assert ask(address, "GET", f"{root}../../etc/passwd")[0] == 404
        assert ask(address, "POST", f"{where}/{answer.key}", {})[0] == 405
        assert root.strip("/") not in caplog.text  # who can read the terminal's log has no token
    assert in_gradebook(course, "bob") == (1.5, False, "Good.")


def test_who_does_not_have_the_address_gets_nothing(course: Course) -> None:
    answer = read(course)["bob"]
    sent = {"key": answer.key, "seen": answer.seen, "points": "1", "comment": ""}
    with served(course) as address:
        root = urlparse(address).path
        assert urlparse(address).hostname == "127.0.0.1"
        assert len(root) > 30
        for path in ("/", "/x/", f"/{'A' * 32}/", f"/x/{ASSIGNMENT}/{ESSAY}", f"{root[:-2]}/"):
            assert ask(address, "GET", path)[0] in (403, 404), path
        assert ask(address, "POST", f"/x/{ASSIGNMENT}/{ESSAY}", {"marks": [sent]})[0] == 403
        assert ask(address, "GET", root, Host="evil.example")[0] == 403  # a name that was made to lead here
    assert in_gradebook(course, "bob") == (None, True, None)


def test_a_port_that_is_taken_is_reported(course: Course) -> None:
    with served(course) as address, pytest.raises(CourseError, match=r"port .* cannot be used .* choose another"):
        asyncio.run(pages.serve(course, port=urlparse(address).port or 0))


def test_the_command_prints_the_address_and_ends_when_it_is_interrupted(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def interrupted(course: Course, assignments: list[str], port: int, *, show: Callable[[str], object]) -> None:
        show("http://127.0.0.1:9100/token/")
        raise KeyboardInterrupt

    monkeypatch.setattr(pages, "serve", interrupted)
    assert main(["essays", ASSIGNMENT, "--course", str(course.root)]) == 0
    counted, _, address, _, ended = capsys.readouterr().out.splitlines()
    assert counted == f"{ASSIGNMENT} {ESSAY}: 0 of 4 read"
    assert address == "http://127.0.0.1:9100/token/"
    assert ended == "ended; every mark that the page has called saved is in the gradebook."
