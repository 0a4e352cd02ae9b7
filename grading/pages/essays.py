"""Read essays by keyboard: one page with all answers to one question, whose marks go into nbgrader's gradebook.

A small server on this machine only. Its address holds a token that is new each time: whoever does not have the address
gets nothing, other users of the machine included. What students wrote is text on these pages, and never runs.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tornado import web
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from grading.classroom import essays
from grading.classroom.essays import Answer, Given, Mark, Question
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError

if TYPE_CHECKING:
    from markupsafe import Markup

    from grading.pages.rendering import Room

HERE = "127.0.0.1"
HOSTS = {HERE, "localhost"}  # another name in a request is that of a page elsewhere (DNS rebinding)
POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SCRIPT = Path(__file__).with_name("templates") / "essays.js"
MAX_ANSWER = 8 << 20  # signs of an answer among the others: a picture of 4 MB has 5.6 million
MAX_ANSWERS = 64 << 20  # of all of them together
SMALL = 1 << 16  # of an answer that is shown in any case: all that an honest text has
OFFERED = 5  # comments under keys: as many as the page's script offers
STATES = {"read": "read", "unread": "not read yet", "again": "to be read again: graded anew since it was read"}


def index_page(course: Course, assignments: Sequence[str] = ()) -> str:
    """Returns the page that lists the essays and how far each is read."""
    from grading.pages.rendering import render  # only now: what is mistyped is answered at once

    return render("essay_list.html", title="Essays", counts=essays.counts(course, assignments))


def question_page(course: Course, asked: Question) -> str:
    """Returns the page of one question with all its answers.

    Raises:
        CourseError: when the gradebook cannot be read.
    """
    from grading.pages.rendering import Room, render

    found = essays.answers(course, asked)
    groups = essays.groups(found)
    none = essays.Count(asked.assignment, asked.name, asked.points, 0, 0, 0)
    count = next((one for one in essays.counts(course, [asked.assignment]) if one.name == asked.name), none)
    return render(
        "essays.html",
        title=f"{asked.assignment}: {asked.name}",
        question=asked,
        groups=groups,
        answers=len(found),
        read=sum(one.state == "read" for one in found),
        empty=count.empty,
        left_out=count.answers - len(found),
        states=STATES,
        room=Room(MAX_ANSWERS),
        show=lambda answer, room: answer_within(asked, answer, room),
        comments=json.dumps(_comments(found)),
        members=lambda group: json.dumps([{"key": one.key, "seen": one.seen} for one in group.answers]),
    )


def _comments(found: Sequence[Answer]) -> list[str]:
    """Returns comments that can be used again: those that most answers have, the gradebook keeps no times."""
    counted = Counter(one.mark.comment for one in found if one.mark.comment)
    return [comment for comment, _ in counted.most_common(OFFERED)]


def answer_page(course: Course, asked: Question, key: str) -> str:
    """Returns the page of one answer, which is too large to stand among the others.

    Raises:
        CourseError: when there is no such answer.
    """
    from grading.pages.rendering import render

    one = next((one for one in essays.answers(course, asked) if one.key == key), None)
    if one is None:
        raise CourseError("this answer is no longer in the gradebook; load the page of all answers again.")
    return render("essay.html", title=f"{asked.assignment}: {asked.name}", question=asked, answer=one)


def answer_within(asked: Question, answer: Answer, room: Room) -> Markup:
    """Returns an answer as HTML in which nothing runs; a link to its own page where there is no room for it."""
    from markupsafe import Markup

    from grading.pages.markup import markdown

    made = markdown(answer.text, under=3, pictures=answer.pictures)
    if len(made) <= SMALL or (len(made) <= MAX_ANSWER and room.takes(made)):
        return made
    sentence = (
        '<p class="warn">This answer has {} MB, too much to stand among the others: <a href="{}/{}">read it</a>.</p>'
    )
    return Markup(sentence).format(max(1, len(made) >> 20), asked.name, answer.key)


def shown(asked: Question, answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Returns answers as the page's script takes them; one that stands alone has `html`, in which nothing runs."""
    from grading.pages.rendering import Room

    made = [
        {"key": one.key, "state": one.state, "said": STATES[one.state], "seen": one.seen} | _typed(one.mark)
        for one in answers
    ]
    if len(made) == 1:
        made[0]["html"] = str(answer_within(asked, answers[0], Room(MAX_ANSWER)))
    return made


def _typed(mark: Mark) -> dict[str, Any]:
    points = "" if mark.points is None else f"{mark.points:g}"
    return {"points": points, "comment": mark.comment, "again": mark.again}


def _read_marks(asked: Question, body: bytes) -> list[Given]:
    """Returns the marks that a page has sent.

    Raises:
        HTTPError: when this is no list of marks.
        CourseError: when points or comment are none.
    """
    try:
        sent = [
            (str(one["key"]), str(one["points"]), str(one["comment"]), bool(one.get("again")), str(one["seen"]))
            for one in json.loads(body)["marks"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise web.HTTPError(HTTPStatus.BAD_REQUEST) from problem
    if not sent or len({key for key, *_ in sent}) < len(sent):
        raise web.HTTPError(HTTPStatus.BAD_REQUEST)
    return [
        Given(key, replace(essays.read_mark(asked, points, comment), again=again), seen)
        for key, points, comment, again, seen in sent
    ]


# --- the server -------------------------------------------------------------------------------------------------------


class Page(web.RequestHandler):
    """Answers nobody without the token, and sends nothing that a page elsewhere could use."""

    @property
    def course(self) -> Course:
        """The class whose essays are read."""
        return cast(Course, self.settings["course"])

    def prepare(self) -> None:
        """Refuses a request with another token, or under another name than this machine's."""
        given, token = self.path_kwargs.get("token", ""), self.settings["token"]
        if self.request.host_name not in HOSTS or not secrets.compare_digest(given.encode(), token.encode()):
            self.reply(HTTPStatus.FORBIDDEN, "give the whole address that `python -m grading essays` has printed.")

    def set_default_headers(self) -> None:
        """Sets the headers of every answer, errors included."""
        self.set_header("Content-Security-Policy", POLICY)
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Cache-Control", "no-store")
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        self.clear_header("Server")

    def reply(self, status: int, sentence: str, **more: Any) -> None:
        """Ends the request with one sentence, as JSON for the script and as text for a person."""
        self.set_status(status)
        if self.request.method == "POST":
            self.finish({"told": sentence, **more})
        else:
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(f"{sentence}\n")

    def write_error(self, status_code: int, **keywords: Any) -> None:
        """Reports what a person can mend; of anything else the terminal has the details."""
        problem = (keywords.get("exc_info") or (None, None))[1]
        if isinstance(problem, CourseError):
            self.reply(HTTPStatus.CONFLICT, str(problem))
        else:
            self.reply(status_code, f"{HTTPStatus(status_code).phrase}: nothing was saved.")

    def log_exception(self, kind: Any, value: Any, trace: Any) -> None:
        """Keeps what the page shows out of the terminal, and what a wrong request asks for."""
        if not isinstance(value, (CourseError, web.HTTPError)):
            super().log_exception(kind, value, trace)

    def _request_summary(self) -> str:
        return f"{self.request.method}"  # tornado's own has the address, and the token in it


class List(Page):
    """The list of essays."""

    def get(self, token: str) -> None:
        """Sends it."""
        self.finish(index_page(self.course, self.settings["assignments"]))


class Script(Page):
    """The program of the page of a question."""

    def get(self, token: str) -> None:
        """Sends it."""
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.finish(SCRIPT.read_bytes())


class QuestionPage(Page):
    """The page of a question, and the place to which it sends marks."""

    def get(self, token: str, assignment: str, name: str) -> None:
        """Sends the page."""
        self.finish(question_page(self.course, essays.question(self.course, assignment, name)))

    def post(self, token: str, assignment: str, name: str) -> None:
        """Saves marks, all or none. A page elsewhere cannot send JSON without being asked first."""
        if not self.request.headers.get("Content-Type", "").startswith("application/json"):
            raise web.HTTPError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        asked = essays.question(self.course, assignment, name)
        given = _read_marks(asked, self.request.body)
        try:
            saved = essays.save(self.course, asked, given)
        except essays.ChangedError as problem:
            self.reply(HTTPStatus.CONFLICT, str(problem), now=shown(asked, problem.answers))
            return
        (first, _), *others = saved
        result = "saved; not read yet" if first.mark.points is None else f"saved: {first.mark.points:g} points"
        before = [{"key": one.key, **_typed(mark)} for one, mark in saved]
        sentence = f"{result}, for {len(saved)} equal answers" if others else result
        self.reply(HTTPStatus.OK, sentence, now=shown(asked, [one for one, _ in saved]), before=before)


class AnswerPage(Page):
    """The page of one answer."""

    def get(self, token: str, assignment: str, name: str, key: str) -> None:
        """Sends it."""
        self.finish(answer_page(self.course, essays.question(self.course, assignment, name), key))


class Nothing(Page):
    """Every other address."""

    def get(self, **parts: str) -> None:
        """Says that there is nothing."""
        self.reply(HTTPStatus.NOT_FOUND, "there is no such page.")


def application(course: Course, token: str, assignments: Sequence[str] = ()) -> web.Application:
    """Returns the server: below /TOKEN/ the list of essays, a page for each, and its script."""
    name, within = "[0-9A-Za-z_.-]+", "/(?P<token>[^/]*)"
    return web.Application(
        [
            (f"{within}/", List),
            (f"{within}/essays.js", Script),
            (f"{within}/(?P<assignment>{name})/(?P<name>{name})", QuestionPage),
            (f"{within}/(?P<assignment>{name})/(?P<name>{name})/(?P<key>{name})", AnswerPage),
            (f"{within}.*", Nothing),
        ],
        log_function=lambda handler: None,  # a log would hold the token
        course=course,
        token=token,
        assignments=assignments,
    )


def command(options: argparse.Namespace) -> int:
    """Runs `python -m grading essays` until it is interrupted."""
    course = Course((options.course or ROOT).resolve())
    found = essays.counts(course, options.assignment)
    if not found:
        raise CourseError("the gradebook has no essays; grade first (python -m grading autograde).")
    for one in found:
        print(f"{one.assignment} {one.name}: {one.read} of {one.answers} read")
    print("Open this address in a browser on this machine; Ctrl-C ends it:", flush=True)
    try:
        show = functools.partial(print, flush=True)  # a pipe has it at once too
        asyncio.run(serve(course, options.assignment, options.port, show=show))
    except KeyboardInterrupt:
        print("\nended; every mark that the page has called saved is in the gradebook.")
    return 0


async def serve(
    course: Course, assignments: Sequence[str] = (), port: int = 0, *, show: Callable[[str], object] = print
) -> None:
    """Serves the pages on this machine until it is cancelled; `show` gets their address when they can be fetched.

    Raises:
        CourseError: when the port is taken.
    """
    token = secrets.token_urlsafe(24)
    largest = 16 << 20  # bytes: a comment for each of a large class
    server = HTTPServer(application(course, token, assignments), max_body_size=largest)
    try:
        sockets = bind_sockets(port, HERE)
    except OSError as problem:
        raise CourseError(f"port {port} cannot be used ({problem.strerror}); choose another with --port.") from problem
    server.add_sockets(sockets)
    number = sockets[0].getsockname()[1]
    show(f"http://{HERE}:{number}/{token}/")
    try:
        await asyncio.Event().wait()
    finally:
        server.stop()
        await server.close_all_connections()
