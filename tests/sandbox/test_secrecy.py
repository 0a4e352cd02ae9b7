"""What a student cannot learn of hidden questions, nor say in the examiner's voice, nor send to a classmate."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import subprocess
import sys
import time
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.exchange.default import Exchange
from traitlets.config import Config

from grading.autograder.grade_submission import Graded, _Grading
from grading.autograder.outcome import FAILED, GRADED, Outcome
from grading.autograder.reporting import Log, summary, table
from grading.autograder.seeds import FILE, VARIABLE, VARIANTS, secret_of, seed_of
from grading.definitions import exercise
from grading.definitions.examiner import examine
from grading.definitions.exercise import KEPT
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.pages.anonymise import EXAMPLE_LINES, anonymise
from grading.sandbox import Limits, forking
from grading.sandbox.serve import decode_reply, encode_reply, in_own_words, in_the_words_of_the_course
from grading.sandbox.student_process import ForkServerClient
from tests.sandbox.sandboxed import inside
from tests.tiers import all_only
from tutor.checking.answers import Question, Reply

NOTEBOOK = "01_causal_mask"

# --- the seed ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.delenv(VARIABLE, raising=False)
    return Course(tmp_path)


def test_the_secret_is_made_once_and_for_its_owner_only(course: Course) -> None:
    secret = secret_of(course)
    assert len(secret) == 64
    assert secret_of(course) == secret
    path = course.root / FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(course.root) == [FILE]


def test_two_courses_have_two_secrets(course: Course, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert secret_of(course) != secret_of(Course(tmp_path / "other"))


def test_git_never_sees_the_secret() -> None:
    done = subprocess.run(["git", "check-ignore", FILE], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == FILE


def test_of_two_that_make_it_at_once_both_have_the_same(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def late(source: str, target: Path) -> None:
        Path(target).write_text("s" * 64)
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    assert secret_of(course) == b"s" * 64
    assert os.listdir(course.root) == [FILE]


def test_the_environment_may_hold_the_secret(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "a secret of several machines")
    assert secret_of(course) == b"a secret of several machines"
    assert os.listdir(course.root) == []


@pytest.mark.parametrize("content", ["", "short", "\n"])
def test_what_is_no_secret_is_refused(course: Course, content: str) -> None:
    (course.root / FILE).write_text(content)
    with pytest.raises(CourseError, match="expected at least 16"):
        secret_of(course)


def test_a_class_meets_a_few_sets_of_questions_each_about_as_often() -> None:
    met = Counter(seed_of(b"secret", f"student {number}", "work") for number in range(100 * VARIANTS))
    assert len(met) == VARIANTS
    assert max(met.values()) < 160  # 100 each; chance leaves 60 more less than once in a million times
    assert not set(met) & {seed_of(b"another", f"student {number}", "work") for number in range(300)}


def test_a_set_of_questions_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    defined, drawn = exercise.load_one(NOTEBOOK, "padding_mask"), list[str]()
    make = type(defined)._drawn_own
    monkeypatch.setattr(type(defined), "_drawn_own", lambda self, seed: drawn.append(seed) or make(self, seed))
    first = defined.variant("once")
    assert defined.variant("once") is first
    assert drawn == ["once"]
    for number in range(2 * KEPT):
        defined.variant(f"filling {number}")
    assert defined.variant("once") is not first  # what has not been met for long is forgotten


def test_the_seed_is_that_of_secret_student_and_submission() -> None:
    seed = seed_of(b"secret", "ada", "first")
    assert seed == seed_of(b"secret", "ada", "first")
    others = [
        [(secret, "ada", "first"), (b"secret", secret.decode(), "first"), (b"secret", "ada", secret.decode())]
        for secret in (b"one", b"two", b"three", b"four")
    ]
    for column in zip(*others, strict=True):
        assert len({seed, *(seed_of(*other) for other in column)}) > 2


def test_another_submission_meets_other_questions() -> None:
    defined = exercise.load_one(NOTEBOOK, "causal_mask")

    def drawn(submission: str) -> list[Any]:
        stages = defined.drawn_examples(seed_of(b"secret", "ada", submission)).stages
        return [case.ask.encode() for stage in stages for case in stage.cases if case.hidden]

    assert drawn("first") == drawn("first")
    assert len({str(drawn(str(number))) for number in range(8)}) > 1


# --- what is revealed of hidden questions -----------------------------------------------------------------------------


class _Answer:
    """An answer that is right for public questions, and replies to hidden ones with what it was asked."""

    def __init__(self, name: str, reply: Callable[[str], Reply]) -> None:
        drawn = exercise.load_one(NOTEBOOK, name).drawn_examples("ada")
        cases = [case for stage in drawn.stages for case in stage.cases]
        self._known = {str(case.ask.encode()): case for case in cases if not case.hidden}
        self._reply, self.asked = reply, list[str]()

    def ask(self, question: Question, seconds: float) -> Reply:
        if question.probe == "parts used":
            return Reply("value", [])
        case = self._known.get(str(question.encode()))
        if case is not None:
            return Reply("value", case.wanted)
        self.asked.append(str(question.inputs[0]) if question.inputs else "?")
        return self._reply(self.asked[-1])

    def spent(self) -> float:
        return 0.0


def _crash(kinds: tuple[str, ...]) -> Callable[[str], Reply]:
    def reply(asked: str) -> Reply:
        names = tuple(kind.replace("?", f"canary{asked}") for kind in kinds)
        return Reply("crashed", None, f"{names[0]}: canary{asked}", names, f" (line 7 of the cell: canary{asked})")

    return reply


LEAKS: dict[str, tuple[Callable[[str], Reply], str]] = {
    "class": (_crash(("?", "Exception", "BaseException")), "it stopped with Exception"),
    "class of a value error": (_crash(("?", "ValueError", "Exception", "BaseException")), "stopped with ValueError"),
    "line of code": (_crash(("IndexError", "LookupError", "Exception")), "it stopped with IndexError"),
    "no builtin class": (_crash(("?",)), "it stopped with an error"),
    "kind of value": (lambda asked: Reply("value", _other(f"canary{asked}")), "the result is not the wanted one"),
    "shape": (lambda asked: Reply("value", _shaped(asked)), "the result is not the wanted one"),
    "text": (lambda asked: Reply("value", f"canary{asked}"), "the result is not the wanted one"),
    "unreadable": (
        lambda asked: Reply("unreadable", error=f"the result cannot be read: canary{asked}"),
        "the result cannot be read",
    ),
    "time": (
        lambda asked: Reply("late", error=f"it was stopped after {asked}.0 s; is there a loop that never ends?"),
        "it was stopped; is there a loop",
    ),
}


def _other(name: str) -> Any:
    from tutor.checking.plain import Other

    return Other(name)


def _shaped(asked: str) -> Any:
    import torch

    return torch.zeros(1, 1000 + int(asked))


@pytest.mark.parametrize("leak", LEAKS)
def test_nothing_is_revealed_from_which_a_hidden_input_could_be_read(leak: str) -> None:
    reply, expected = LEAKS[leak]
    answer = _Answer("causal_mask", reply)
    verdict = examine(exercise.load_one(NOTEBOOK, "causal_mask"), answer, "ada")
    assert answer.asked
    assert expected in verdict.sentence, verdict.sentence
    everything = str(verdict.as_data()) + verdict._repr_html_() + verdict.error_type
    assert "canary" not in everything
    assert "line 7" not in everything
    assert not any(str(1000 + int(asked)) in everything for asked in answer.asked)


@pytest.mark.parametrize("leak", LEAKS)
def test_nor_is_it_at_a_public_question_that_is_asked_after_hidden_ones(leak: str) -> None:
    """What the answer has been asked before, also in other exercises, it could say there."""
    reply, expected = LEAKS[leak]

    class Wrong:
        def ask(self, question: Question, seconds: float) -> Reply:
            return reply("3")

        def spent(self) -> float:
            return 0.0

    verdict = examine(exercise.load_one(NOTEBOOK, "causal_mask"), Wrong(), "ada")
    assert expected in verdict.sentence, verdict.sentence
    everything = str(verdict.as_data()) + verdict._repr_html_() + verdict.error_type
    assert "canary" not in everything
    assert "line 7" not in everything
    assert "1003" not in everything


@pytest.mark.parametrize(
    "error",
    [
        "the answer said: 'HIDDEN (tensor([[8.0, -0.5]]),)'",
        "its process has ended after 5 s",
        "it waits, and does nothing after 11 s",
        "it has sent a message of 46 MB; at most 45 MB are read after 3 s",
        "it was stopped after 3.7 s; is there a loop that never ends?",
    ],
)
def test_what_is_late_has_one_sentence_in_a_mark(error: str) -> None:
    class Late:
        def ask(self, question: Question, seconds: float) -> Reply:
            return Reply("late", error=error)

        def spent(self) -> float:
            return 0.0

    verdict = examine(exercise.load_one(NOTEBOOK, "causal_mask"), Late(), "ada")
    assert verdict.outcome == "late"
    assert verdict.sentence.endswith("): it was stopped; is there a loop that never ends?")
    assert not {"HIDDEN", "ended", "waits", "MB", "3.7"} & set(re.split(r"[^\w.]+", str(verdict.as_data())))


def test_the_error_of_a_cell_is_reported_from_before_the_questions_only() -> None:
    """A process that takes the place of one which was asked may know more: the kernel counts, for example."""
    running = object.__new__(_Grading)
    running._graded, running._asked = Graded(), False
    running._note("causal_mask", "ValueError: as in the notebook")
    running._asked = True
    running._note("causal_mask", "ValueError: CHANNEL says 30")
    assert running._graded.errors == {"causal_mask": "ValueError: as in the notebook"}


# --- the examiner's voice ---------------------------------------------------------------------------------------------

FEIGNED = [
    "fine\n✓ every row\nNote: this exercise was checked by hand",
    "fine\r\n\tNote: give 3 of 3 points",
    "fine\u2028✓ every row",
    "fine \u202edrawkcab",
    "fine \x1b[32mgreen",
    "fine \x9b31m",
    "fine\x00\x07",
    "fine\u200b\u200d\ufeff",
    "fine" + " " * 400 + "✓ every row",
    "fine\u1160by\u1160hand\ua4f8",  # names of Python, in letters that look like blanks and full stops
]


@pytest.mark.parametrize("text", FEIGNED, ids=range(len(FEIGNED)))
@pytest.mark.parametrize("outcome", ["crashed", "late", "not attempted", "unreadable"])
def test_what_an_answer_says_is_one_line_and_says_who_said_it(outcome: str, text: str) -> None:
    data = {"outcome": outcome, "error": text, "error_types": [text], "place": text, "printed": text}
    reply = decode_reply(data)
    for part in (reply.error, *reply.error_types, reply.place, reply.printed):
        assert part.isprintable()
        assert "  " not in part
    own = in_own_words(reply)
    if outcome == "crashed":
        assert own.error_types[0] == "fine" or own.error_types[0].startswith("an error called '")
        assert own.place == ""
    if outcome != "crashed":
        assert not in_the_words_of_the_course(reply)
        assert in_own_words(reply).error.startswith("the answer said: '")
        assert in_own_words(reply).outcome != "not attempted"


GENUINE = [
    Reply("late", error="it was stopped after 3.0 s; is there a loop that never ends?"),
    Reply("not attempted", error="nothing to check yet: this cell is still to be written"),
    Reply("unreadable", error="the result cannot be read: the value is too large (more than 20000 items or 32 MB)"),
    Reply("crashed", error="ValueError: 3", error_types=("ValueError",)),
    Reply("crashed", error="E: 3", error_types=("E", "Exception"), place=" (line 2 of the cell: raise E(3))"),
    Reply("crashed", error="E: 3", error_types=("E", "Exception"), place=" (line 2 of the cell)"),
    Reply("value", 3),
]


@pytest.mark.parametrize("reply", GENUINE, ids=lambda reply: reply.outcome)
def test_what_a_check_says_stays_as_it_is(reply: Reply) -> None:
    assert in_the_words_of_the_course(reply)
    assert in_own_words(reply) == reply
    assert decode_reply(json.loads(json.dumps(encode_reply(reply)))) == reply


# --- the sandbox ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def students() -> Iterator[ForkServerClient]:
    with ForkServerClient() as made:
        yield made


def _value(students: ForkServerClient, body: str, before: str = "") -> Any:
    student = students.student()
    lines = body.replace("\n", "\n    ")
    assert student.run(f"import os\nfrom pathlib import Path\n{before}\ndef answer():\n    {lines}", 20) == ""
    reply = student.answer("answer").ask(Question(), 20)
    student.close()
    return reply.value if reply.outcome == "value" else reply.error


@pytest.mark.sandbox
def test_no_examples_are_in_the_sandbox(students: ForkServerClient) -> None:
    assert list((ROOT / "tutor" / "check_examples").glob("*/*.json"))
    folder = str(ROOT / "tutor" / "check_examples")
    assert _value(students, f"return sorted(os.listdir({folder!r}))") == []
    assert "FileNotFoundError" in _value(students, f"return len(Path({folder!r}, 'experiments.json').read_text())")


def test_neither_installed_examples_nor_what_others_hand_in_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    hidden = forking.policy(Limits()).hidden
    assert {tmp_path / "grading", tmp_path / "tutor" / "check_examples"} <= {*hidden}
    assert any(folder in Path(Exchange(config=Config()).root).parents for folder in hidden)  # nbgrader's own default


@pytest.mark.sandbox
def test_a_cell_that_checks_itself_runs_to_its_end(students: ForkServerClient) -> None:
    student = students.student()
    cell = "from tutor.checks import check\ndef causal_mask(size): return 1\ncheck(causal_mask)\ndef after(): return 2"
    assert student.run(cell, 20) == ""
    assert student.answer("after").ask(Question(), 20).value == 2
    student.close()


LOCKS = {
    "flock": "fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)",
    "flock shared": "fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)",
    "record lock": "fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)",
}
SEES = """
import fcntl, struct
with open(PLACE) as file:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        free = True
    except BlockingIOError:
        free = False
    try:
        lock = fcntl.fcntl(file, 5, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))  # F_GETLK
        free = free and struct.unpack_from("h", lock)[0] == fcntl.F_UNLCK
    except PermissionError:
        pass
return free
"""


@pytest.mark.sandbox
@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_is_seen_in_another_sandbox(students: ForkServerClient, lock: str) -> None:
    place = repr(str(ROOT / "tutor" / "checks.py"))
    holder = students.student()
    assert holder.run(f"import fcntl\nfile = open({place})\n{LOCKS[lock]}", 20) == ""
    assert _value(students, SEES.replace("PLACE", place)) is True
    holder.close()


@pytest.mark.sandbox
@pytest.mark.parametrize("call", ["inotify_init1", "fanotify_init"])
def test_nobody_watches_files(students: ForkServerClient, call: str) -> None:
    number = {"inotify_init1": 294, "fanotify_init": 300}[call]
    if os.uname().machine != "x86_64":
        pytest.skip("the number is that of another machine")
    body = f"libc = ctypes.CDLL(None, use_errno=True)\nlibc.syscall({number}, 0, 0)\nreturn ctypes.get_errno()"
    output = _value(students, body, "import ctypes")
    assert output == 1  # operation not permitted


@pytest.mark.sandbox
@pytest.mark.parametrize("command", ["F_SETLEASE", "F_NOTIFY", "F_GETLK"])
def test_nobody_hears_of_files_by_fcntl(students: ForkServerClient, command: str) -> None:
    number = {"F_SETLEASE": 1024, "F_NOTIFY": 1026, "F_GETLK": 5}[command]
    place = str(ROOT / "tutor" / "checks.py")
    assert "PermissionError" in _value(students, f"import fcntl\nreturn fcntl.fcntl(open({place!r}), {number}, 0)")


OWN_LOCKS = """
import fcntl, sqlite3, tempfile
with tempfile.TemporaryFile() as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    fcntl.flock(file, fcntl.LOCK_EX)
with sqlite3.connect("own.db") as db:
    db.execute("create table t (x)")
    db.execute("insert into t values (7)")
return db.execute("select x from t").fetchone()[0]
"""


@pytest.mark.sandbox
def test_programs_that_lock_their_own_files_still_work(students: ForkServerClient) -> None:
    assert _value(students, OWN_LOCKS) == 7


def _children(seconds: float, count: int, waited: bool) -> Callable[[], int]:
    """Returns what lets children work one after another, and the kernel adds up their time or not."""

    def work() -> int:
        import signal

        if not waited:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for _ in range(count):
            pid = os.fork()
            if pid == 0:
                end = time.process_time() + seconds
                while time.process_time() < end:
                    pass
                os._exit(0)
            with contextlib.suppress(ChildProcessError):  # it was ignored: then waitpid waits and has nothing to report
                os.waitpid(pid, 0)
        return 1

    return work


@pytest.mark.sandbox
@pytest.mark.parametrize("waited", [False, *all_only(True)])
@pytest.mark.parametrize(("seconds", "count"), [(0.1, 100), pytest.param(0.5, 20, marks=pytest.mark.all)])
def test_children_that_nobody_waits_for_count(seconds: float, count: int, waited: bool) -> None:
    assert inside(_children(seconds, count, waited), cpu=3, wall=300)[1] == 128 + 24


@pytest.mark.all
@pytest.mark.sandbox
def test_many_short_children_count_for_a_little(students: ForkServerClient) -> None:
    assert inside(_children(0.0, 2000, waited=False), cpu=3, wall=300)[1] == 128 + 24
    assert inside(_children(0.0, 20, waited=False), cpu=3, wall=300) == ("1", 0)


# --- what people read -------------------------------------------------------------------------------------------------

ESC = ["eve\x1b[31m", "eve\x9b2J", "eve\u202e", "eve\x07", "eve\r"]


@pytest.mark.parametrize("name", ESC, ids=range(len(ESC)))
def test_a_name_cannot_steer_a_terminal(name: str, tmp_path: Path) -> None:
    outcomes = [
        Outcome(name, name, GRADED, 3.0, repairs=[name], odd=[name]),
        Outcome(name, name, FAILED, reason=name),
    ]
    with Log(tmp_path, "autograde") as log:
        for one in outcomes:
            log.outcome(one)
        log.write(name)
    texts = [table(outcomes), summary(outcomes, 1.0), log.path.read_text(encoding="utf-8")]
    assert not any(re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text) for text in texts)


def test_what_is_odd_is_reported() -> None:
    one = Outcome("eve", NOTEBOOK, GRADED, 3.0, odd=["a reply to causal_mask is odd"])
    assert "look at: eve 01_causal_mask: a reply to causal_mask is odd" in summary([one], 1.0)
    assert "LOOK AT IT: a reply to causal_mask is odd" in table([one])


@pytest.mark.all
@pytest.mark.parametrize("line", ["x = 1\n", "x = (\n", "# x\n", "x = '''\n"])
def test_an_example_of_ten_megabytes_costs_as_little_as_a_short_one(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from grading.pages import anonymise as module

    read: list[int] = []
    generate = tokenize.generate_tokens

    def counting(readline: Callable[[], str]) -> Any:
        def one() -> str:
            text = readline()
            read.append(len(text))
            return text

        return generate(one)

    monkeypatch.setattr(tokenize, "generate_tokens", counting)
    shown = anonymise(line * (10_000_000 // len(line)), ["eve"])
    assert sum(read) <= module.MAX_SIGNS
    assert len(shown.splitlines()) <= EXAMPLE_LINES + 1


# --- a gradebook that is killed while it is made ----------------------------------------------------------------------

MAKES = """
import os, sys
from pathlib import Path
from grading.folder import database
from grading.folder.course import Course
if sys.argv[2] == "within":
    database._version = lambda: os._exit(9)
if sys.argv[2] == "at the end":
    os.link = lambda *paths: os._exit(9)
Course(Path(sys.argv[1])).gradebook().close()
"""


@pytest.mark.all
def test_a_gradebook_that_is_killed_while_it_is_made_is_made_by_the_next(tmp_path: Path) -> None:
    course = Course(tmp_path)

    def make(killed: str) -> int:
        command = [sys.executable, "-c", MAKES, str(tmp_path), killed]
        return subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True).returncode

    for moment in ("within", "at the end"):
        assert make(moment) == 9
        assert not course.database.exists()
        course.refuse_damaged_gradebook()
    assert make("not at all") == 0
    assert course.database.stat().st_size > 0
    course.refuse_damaged_gradebook()
