"""Hostile submissions, graded as a class: no mark that was not earned, nothing seen, nothing left, nobody else hurt.

Each module of `tests/hostile` has the cases of one class. They run in three class-sized runs, because starting a run
costs more than grading a submission: a few of each class, the others, and with small limits what tries to use up time
or memory.
"""

from __future__ import annotations

import base64
import ctypes
import functools
import hashlib
import importlib
import json
import os
import random
import re
import secrets
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grading.autograder import seeds
from grading.autograder.graded_notebook import load_master
from grading.autograder.nbgrader_commands import nbgrader
from grading.autograder.submission import read
from grading.classroom import demo
from grading.definitions import catalogue, exercise
from grading.folder.course import ROOT, Course
from grading.folder.database import nbgrader_settings
from grading.notebooks.verdicts import read_verdict
from grading.sandbox.serve import decode_reply
from tests.classroom.submissions import ASSIGNMENT, AUTOMATIC, cell, perfect, released
from tests.definitions import kept
from tests.hostile import replies
from tests.hostile.case import VARIANTS, Case, World
from tests.tiers import all_only
from tutor.checking import plain
from tutor.checking.answers import Question, Reply
from tutor.checking.judging import judge

CLASSES = (
    "attempts",
    "cells",
    "costs",
    "files",
    "pages",
    "processes",
    "reading",
    "replies",
    "verdict",
    "voices",
    "writing",
)
CASES = [case for name in CLASSES for case in importlib.import_module(f"tests.hostile.{name}").CASES]
SAMPLE = {  # the first and the middle one of each class: what `make test` grades
    cheap[number].name
    for cheap in (
        [case for case in importlib.import_module(f"tests.hostile.{name}").CASES if not case.costly] for name in CLASSES
    )
    for number in {0, len(cheap) // 2}
    if cheap
}
SAMPLED, OTHERS, COSTLY = "sampled", "others", "costly"
GRADED = [SAMPLED, *all_only(OTHERS)]
RIGHT = "def attention_weights(scores, mask):\n    return torch.softmax(scores + mask, dim=-1)"
PR_SET_CHILD_SUBREAPER = 36
PROGRAM = Path(__file__).parents[1] / "programs" / "grade_hostile.py"


@dataclass
class Ran:
    """A finished run: what it reported of each student, what it printed, and what it found and left in the world."""

    world: World
    outcomes: dict[str, dict[str, Any]]
    printed: str
    canaries: dict[str, str]
    received: list[bytes]
    left: list[str]
    before: dict[str, str]
    scores: dict[str, float] = field(default_factory=dict)


def _canary() -> str:
    return f"canary-{secrets.token_hex(8)}"


def _put(folder: Path, content: str) -> None:
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_text(demo.RECEIVED, encoding="utf-8")
    (folder / f"{ASSIGNMENT}.ipynb").write_bytes(content.encode("utf-8", "surrogateescape"))


def submission(case: Case, world: World) -> str:
    """Returns the text of a case's notebook."""
    notebook = released()
    for name, source in {"attention_weights": RIGHT, **case.cells}.items():
        cell(notebook, name).source = world.fill(source)
    if case.change:
        case.change(notebook)
    text: str = json.dumps(notebook)
    return case.text(text) if case.text else text


def _course(folder: Path, canaries: dict[str, str]) -> Path:
    """Makes a class of two honest students, with canaries in the solutions and in the work of one of them."""
    folder.mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    source = nbformat.read(ROOT / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)
    for one in source.cells:
        one.source = one.source.replace("### END SOLUTION", f"# {canaries['master']}\n    ### END SOLUTION")
    path = folder / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(source, path)
    victim = perfect()
    cell(victim, "mask_essay").source += f"\n\n{canaries['victim']}"
    cell(victim, "causal_mask").source += f"\n# {canaries['victim']}"
    made = {"victim": nbformat.writes(victim), "half": demo.submissions(released())["blaise_half_done"]}
    for student, content in made.items():
        _put(folder / "gradebook" / "submitted" / student / ASSIGNMENT, content)
    return folder


def _fingerprints(world: World) -> dict[str, str]:
    """Returns a fingerprint of every file that a run must not change."""
    tutor = world.repository / "tutor"
    found = [world.secret, world.course / "nbgrader_config.py", tutor / "checks.py"]
    for folder in (world.course / "gradebook" / "submitted", world.course / "solutions", tutor / "check_examples"):
        inside = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
        assert inside, f"{folder} has no file to guard"
        found += inside
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def _children() -> set[str]:
    return {pid for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()}


def _left(before: set[str]) -> list[str]:
    """Returns what a run has left behind, when those that were killed have had time to end."""
    end = time.monotonic() + 600
    while (left := _children() - before) and time.monotonic() < end:
        for pid in left:
            os.waitpid(int(pid), os.WNOHANG)
        time.sleep(0.05)
    return [f"{pid}: {_command(Path('/proc', pid, 'cmdline'))!r}" for pid in left]


@pytest.fixture(scope="module", autouse=True)
def _orphans_come_here() -> Iterator[None]:
    """Makes this process the parent of whatever a run leaves behind."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    yield
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _ran(
    folder: Path, cases: list[Case], limits: Mapping[str, float], budget: Mapping[str, float], workers: int = 2
) -> Ran:
    canaries = {name: _canary() for name in ("secret", "environment", "master", "victim")}
    secret = folder / "secret.txt"
    secret.write_text(canaries["secret"])
    course = _course(folder / "course", canaries)
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:  # closed
                    return
                with connection:
                    received.append(connection.recv(100))

        threading.Thread(target=listen, daemon=True).start()
        submitted = course / "gradebook" / "submitted"
        victim = submitted / "victim" / ASSIGNMENT
        world = World(secret, course, ROOT, victim, server.getsockname()[1])
        for case in cases:
            place = submitted / case.name / ASSIGNMENT
            _put(place, submission(case, world))
            if case.files:
                case.files(place, world)
        before, children = _fingerprints(world), _children()
        settings = {"limits": limits, "budget": budget, "variants": VARIANTS, "workers": workers}
        request = json.dumps({"course": str(course), **settings})
        done = subprocess.run(
            [sys.executable, str(PROGRAM), request],
            env=os.environ | {"SECRET": canaries["environment"], "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=1500,
        )
        server.shutdown(socket.SHUT_RDWR)
    assert done.returncode == 0, done.stderr[-3000:]
    left = _left(children)
    outcomes = {one["student"]: one for one in json.loads(done.stdout.splitlines()[-1])}
    ran = Ran(world, outcomes, done.stdout + done.stderr, canaries, received, left, before)
    ran.scores = _marks(course)
    return ran


def _marks(course: Path) -> dict[str, float]:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course}/gradebook/gradebook.db", "transformers") as book:
        return {one.student_id: one.score for one in book.assignment_submissions(ASSIGNMENT)}


def run_of(case: Case) -> str:
    """Returns the run in which a case is graded."""
    return COSTLY if case.costly else SAMPLED if case.name in SAMPLE else OTHERS


def each(cases: list[Case]) -> pytest.MarkDecorator:
    """Gives a test each of these cases; those that are not in the sample belong to `make test-all`."""
    marks = [[] if case.name in SAMPLE else [pytest.mark.all] for case in cases]
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=case.name, marks=mark) for case, mark in zip(cases, marks, strict=True)]
    )


def _quick(folder: Path, run: str) -> Ran:
    cases = [case for case in CASES if run_of(case) == run]
    return _ran(folder, cases, {}, {"cell": 5, "exercise": 3, "notebook": 15})


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return _quick(tmp_path_factory.mktemp(SAMPLED), SAMPLED)


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return _quick(tmp_path_factory.mktemp(OTHERS), OTHERS)


@pytest.fixture(scope="module")
def costly(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    limits = {"memory": 400 << 20, "cpu": 2, "wall": 20, "processes": 20, "disk": 8 << 20, "file_size": 4 << 20}
    cases = [case for case in CASES if case.costly]
    budget = {"cell": 0.5, "exercise": 1.5, "notebook": 20, "reading": 1.5, "idle": 4, "wall": 40}
    return _ran(tmp_path_factory.mktemp("costly"), cases, limits, budget, workers=6)  # most of them wait


@pytest.fixture(params=[*GRADED, *all_only(COSTLY)])
def ran(request: pytest.FixtureRequest) -> Ran:
    made: Ran = request.getfixturevalue(request.param)
    return made


@pytest.fixture(params=GRADED)
def graded(request: pytest.FixtureRequest) -> Ran:
    made: Ran = request.getfixturevalue(request.param)
    return made


def test_there_are_enough_cases() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names) >= 300


@pytest.mark.sandbox
@each(CASES)
def test_the_mark_is_at_most_what_the_honest_part_earns(case: Case, request: pytest.FixtureRequest) -> None:
    ran: Ran = request.getfixturevalue(run_of(case))
    outcome = ran.outcomes[case.name]
    assert outcome["state"] == ("graded" if case.gradable else "could not be graded"), outcome
    assert case.least <= (outcome["score"] or 0.0) <= case.most, outcome
    assert ran.scores.get(case.name, 0.0) == (outcome["score"] or 0.0)


@pytest.mark.sandbox
@pytest.mark.all
def test_names_of_files_do_not_speak_for_the_examiner(others: Ran) -> None:
    reason = others.outcomes["name_that_says_a_mark"]["reason"]
    assert "(found: 'nothing); graded by hand, 14 of 14 points (x.txt'); ask for the file again." in reason


@pytest.mark.sandbox
def test_every_other_mark_is_unchanged(ran: Ran) -> None:
    assert (ran.scores["victim"], ran.scores["half"]) == (AUTOMATIC, 6)
    assert len(ran.outcomes) == len(list((ran.world.course / "gradebook" / "submitted").iterdir()))


@pytest.mark.sandbox
def test_no_canary_is_anywhere(ran: Ran) -> None:
    made = [p for p in (ran.world.course / "gradebook").rglob("*") if p.is_file() and "submitted" not in p.parts]
    assert len(made) > 20
    texts = {str(path): path.read_bytes() for path in made} | {"printed": ran.printed.encode()}
    for kind, canary in ran.canaries.items():
        for path, text in texts.items():
            own = kind == "victim" and "/victim/" in path
            assert own or canary.encode() not in text, f"{kind} in {path}"
            assert b"_diagonal_blocked" not in text, path  # a name that only the exercise's definition has
    assert ran.received == []


@pytest.mark.sandbox
def test_no_hidden_value_is_in_what_was_graded(graded: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeds, "VARIANTS", VARIANTS)
    defined, master = exercise.load(ASSIGNMENT), load_master(Course(graded.world.course), ASSIGNMENT)
    for case in CASES:
        path = graded.world.course / "gradebook" / "autograded" / case.name / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        if not path.exists():
            continue
        text = path.read_text(encoding="utf-8")
        work = read(graded.world.course / "gradebook" / "submitted" / case.name / ASSIGNMENT, master)
        seed = seeds.seed_of(seeds.secret_of(Course(graded.world.course)), case.name, work.digest())
        drawn = defined["attention_weights"].variant(seed).stages
        encoded = json.dumps([plain.encode(one.wanted) for stage in drawn for one in stage.cases])
        values = re.findall(r'"base64": "([^"]{20,60})', encoded)
        assert len(values) > 10
        assert not [value for value in values if value in text]


@pytest.mark.sandbox
def test_no_student_speaks_in_the_voice_of_the_examiner(graded: Ran) -> None:
    """What an answer says of itself is one line that says so; what it was asked in secret it cannot reveal."""
    cases = [case for case in importlib.import_module("tests.hostile.voices").CASES if case.name in graded.outcomes]
    assert cases
    for case in cases:
        path = graded.world.course / "gradebook" / "autograded" / case.name / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        verdict = read_verdict(cell(nbformat.read(path, as_version=4), "causal_mask_check"))
        assert verdict is not None
        for text in (verdict.headline, verdict.hint, *(line.text for line in verdict.lines)):
            assert text.isprintable(), case.name
            assert "hidden_size_" not in text, case.name
            before, feigned, _ = text.partition("FEIGNED")
            openings = ("the answer said: '", "the result cannot be read: ", "an error called '", "got a ")
            assert not feigned or any(words in before for words in openings), (case.name, text)
        if case.name.startswith(("voice_", "made_up")) and not case.name.endswith(("symbols", "kind_of_value")):
            assert graded.outcomes[case.name]["odd"], case.name


@pytest.mark.sandbox
def test_nothing_else_is_changed_and_no_process_is_left(ran: Ran) -> None:
    assert _fingerprints(ran.world) == ran.before
    assert ran.left == []
    strays = [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(ran.world.course).encode() in _command(p)]
    assert strays == []


def _command(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has just ended
        return b""


@pytest.mark.sandbox
def test_what_a_run_prints_cannot_steer_a_terminal(ran: Ran) -> None:
    texts = [ran.printed, *(f"{one['reason']} {one['repairs']}" for one in ran.outcomes.values())]
    assert not any(re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text.replace("\r", "")) for text in texts)


# --- the feedback pages -----------------------------------------------------------------------------------------------

PAGES = importlib.import_module("tests.hostile.pages").CASES


@functools.cache
def pages(course: Path, students: tuple[str, ...]) -> dict[str, str]:
    """Returns the feedback pages of those students of a run whose cases are about pages, and of the honest one."""
    shown = {case.name for case in PAGES} | {"victim"}
    others = [name for name in students if name not in shown]
    excluded = ",".join(others)
    done = nbgrader(course, "generate_feedback", ASSIGNMENT, f"--CourseDirectory.student_id_exclude={excluded}")
    assert done.returncode == 0, done.stderr[-2000:]
    folder = course / "gradebook" / "feedback"
    return {path.parent.parent.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.html")}


def pages_of(ran: Ran) -> dict[str, str]:
    """Returns the feedback pages of a run, made once."""
    return pages(ran.world.course, tuple(ran.outcomes))


@pytest.mark.sandbox
@each(PAGES)
def test_markup_of_a_student_is_never_part_of_the_page(case: Case, request: pytest.FixtureRequest) -> None:
    page = pages_of(request.getfixturevalue(run_of(case)))[case.name]
    assert "<script>document.title" not in page
    assert not re.search(r"<[^>]*\son(error|load|focus)\s*=", page)
    assert not re.search(r"<(iframe|object|embed|base|form|link)\b", page.partition("</head>")[2])
    assert not re.search(r"(href|src)\s*=\s*[\"']?\s*javascript:", page, re.IGNORECASE)
    assert not re.search(r"(href|src|data|action)\s*=\s*[\"']?(https?:)?//127", page)
    assert 'http-equiv="refresh"' not in page


@pytest.mark.sandbox
def test_feedback_does_not_show_hidden_lines(graded: Ran) -> None:
    for page in pages_of(graded).values():
        assert "BEGIN HIDDEN" not in page
        assert "grading.definitions.examiner" not in page
        for kind in ("secret", "environment", "master"):
            assert graded.canaries[kind] not in page


@pytest.mark.sandbox
@each(PAGES)
def test_markup_of_a_student_is_never_part_of_formgraders_page(case: Case, request: pytest.FixtureRequest) -> None:
    """formgrader's page has scripts of its own; it is made here with what `nbgrader_config.py` says of it."""
    from nbconvert.exporters import HTMLExporter
    from nbgrader.server_extensions.formgrader import handlers

    course = request.getfixturevalue(run_of(case)).world.course
    config = nbgrader_settings(course)
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    path = Course(course).autograded(case.name, ASSIGNMENT)
    page, _ = HTMLExporter(config=config).from_filename(str(path), resources={"base_url": "", "index": 0, "total": 1})
    assert "<script>document.title" not in page
    assert not re.search(r"<[^>]*\son(error|load|focus)\s*=", page)
    assert not re.search(r"<(iframe|object|embed|base|form|meta http-equiv)\b", page.partition("</head>")[2])
    assert not re.search(r"<[^>]*(javascript:|127\.0\.0\.1)", page, re.IGNORECASE)


# --- replies ----------------------------------------------------------------------------------------------------------


class _Fixed:
    """An answer that always gives the same reply."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    def ask(self, question: Question, seconds: float) -> Reply:
        return self._reply

    def spent(self) -> float:
        return 0.0


@pytest.mark.parametrize("notebook", [ASSIGNMENT, *all_only(*(n for n in catalogue.notebooks() if n != ASSIGNMENT))])
def test_no_reply_makes_judging_fail(notebook: str) -> None:
    rng, good = random.Random(0), list[Reply]()
    for data in replies.odd_replies(rng, 300):
        try:
            good.append(decode_reply(data))
        except plain.NotPlain:
            continue  # refused with a reason, as it should be; any other exception fails the test
    assert len(good) > 100
    for one in exercise.load(notebook).values():
        examples = one.variant(kept.IN_SANDBOX)
        for reply in rng.sample(good, 20):
            verdict = judge(examples, _Fixed(reply), hidden=True)
            assert verdict.earned < verdict.points
            assert "<script>" not in verdict._repr_html_()
            assert str(verdict)


def test_what_is_decoded_is_bounded() -> None:
    data = base64.b64encode(bytes(plain.MAX_BYTES + 8)).decode()
    with pytest.raises(plain.NotPlain, match="too large"):
        plain.decode({"tensor": "float64", "shape": [plain.MAX_BYTES // 8 + 1], "base64": data})
    with pytest.raises(plain.NotPlain, match="too large"):
        plain.decode([0] * (plain.MAX_ITEMS + 1))
