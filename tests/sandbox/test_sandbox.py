"""The sandbox and the students' processes in it. Payloads are harmless: a canary file, loopback, small limits."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from grading.authoring import bank
from grading.autograder.drawn_sets import DrawnSets
from grading.autograder.pool import prepare
from grading.definitions import catalogue, exercise
from grading.definitions.examiner import examine
from grading.folder.course import ROOT
from grading.sandbox import kernel, namespaces, student_process
from grading.sandbox.fork_server import ForkServer
from grading.sandbox.serve import ChannelError
from grading.sandbox.student_process import ForkServerClient, Pace, Patience
from tests.sandbox.sandboxed import inside
from tests.tiers import all_only
from tutor.checking.answers import Question

pytestmark = pytest.mark.sandbox


def test_nothing_of_the_project_is_seen(tmp_path: Path, repository: Path) -> None:
    canary = tmp_path / "canary.txt"
    canary.write_text("canary")
    for path in (canary, repository / "solutions", repository / "grading", repository / "tests", Path("/etc/passwd")):
        assert path.exists()
        assert inside(path.exists) == ("False", 0)


def test_nothing_can_be_written_but_its_own_folder(repository: Path) -> None:
    assert inside(lambda: Path("/usr/x").write_text("x"))[0] == "OSError"
    assert inside(lambda: Path("/x").write_text("x"))[0] == "OSError"
    assert inside(lambda: Path(sys.prefix, "x").write_text("x"))[0] == "OSError"
    assert inside(lambda: (Path("x").write_text("x"), os.listdir("."))[1]) == ("['x']", 0)
    assert not Path("/usr/x").exists()


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "/tmp/Übung mit Leerzeichen", "/home/student"])
def test_a_course_may_lie_where_students_write(place: str) -> None:
    """Nothing that can be read covers a place where programs expect to be able to write, nor is it covered."""
    made = [folder for folder in [Path(place).parent, Path(place)] if not folder.exists()]
    if made and not os.access(made[0].parent, os.W_OK):
        pytest.skip(f"only root may make {made[0]}")
    try:
        Path(place).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place) as name:
            course = Path(name)
            course.chmod(0o755)  # the student is another user
            (course / "shown.txt").write_text("shown")

            def look() -> list[str]:
                for folder in (".", "/tmp", "/dev/shm", tempfile.gettempdir(), tempfile.mkdtemp()):
                    Path(folder, "new.txt").write_text("new")
                try:
                    (course / "new.txt").write_text("not here")
                except OSError as problem:
                    return [(course / "shown.txt").read_text(), type(problem).__name__, os.environ["TMPDIR"]]
                return ["written"]

            assert inside(look, readable=[course]) == (str(["shown", "OSError", "/home/student"]), 0)
            assert os.listdir(course) == ["shown.txt"]
    finally:
        for folder in reversed(made):
            folder.rmdir()


def test_the_writable_folders_share_one_limit() -> None:
    def fill() -> int:
        for number, folder in enumerate(["/tmp", "/dev/shm", "/home/student"] * 3):
            Path(folder, f"{number}").write_bytes(bytes(1 << 20))
        return 0

    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        assert inside(fill, readable=[Path(name)], disk=4 << 20)[0] == "OSError"


# An honest cell that works with files and with processes, in a course whose clone lies in a temporary folder.
FILES_AND_WORKERS = """
import os, sys, tempfile
from pathlib import Path
assert os.listdir('.') == []
import helpers
assert helpers.__file__.startswith(PLACE), helpers.__file__
Path(tempfile.mkdtemp(), 'x').write_text('x'); Path('/tmp/x').write_text('x'); Path('notes.txt').write_text('x')
import torch
from torch.utils.data import DataLoader
assert len(list(DataLoader(torch.arange(8), batch_size=4, num_workers=2))) == 2
"""
RUN_A_CELL = r"""
import sys
from grading.folder.course import ROOT
from grading.sandbox.student_process import ForkServerClient

if __name__ == "__main__":
    with ForkServerClient() as server:
        student = server.student()
        print(student.run(f"PLACE = {str(ROOT)!r}\n{sys.argv[1]}", 60) or "it works")
"""


@pytest.mark.all
def test_a_clone_in_a_temporary_folder_grades_as_any_other(tmp_path: Path, repository: Path) -> None:
    clone = tmp_path / "a clone"
    for name in ("grading", "helpers", "tutor", "data"):
        shutil.copytree(repository / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
    assert clone.is_relative_to("/tmp"), "pytest's temporary folder lies elsewhere: run it without --basetemp"
    done = subprocess.run(
        [sys.executable, "-c", RUN_A_CELL, FILES_AND_WORKERS],
        env=os.environ | {"PYTHONPATH": str(clone)}, cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "it works\n", done.stderr[-2000:]


def test_there_is_no_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert inside(lambda: socket.create_connection(("127.0.0.1", port), 2))[0] == "PermissionError"


def test_it_is_nobody_and_alone() -> None:
    assert inside(os.getpid) == ("2", 0)
    assert inside(lambda: sum(name.isdigit() for name in os.listdir("/proc"))) == ("2", 0)
    user = int(inside(os.geteuid)[0])
    assert user in namespaces.UNUSED_IDS if os.geteuid() == 0 else user == os.geteuid()


@pytest.mark.parametrize("call", ["unshare", "mount", "chroot"])
def test_the_way_out_is_closed(call: str) -> None:
    arguments = {"unshare": (namespaces.NEWUSER,), "mount": (b"x", b"/tmp", b"tmpfs", 0, b""), "chroot": (b"/tmp",)}[
        call
    ]
    assert inside(lambda: kernel.call(call, *arguments))[0] == "SandboxError"


def test_limits_hold() -> None:
    assert inside(lambda: Path("big").write_bytes(bytes(3 << 20)), file_size=1 << 20)[0] == "OSError"
    assert inside(lambda: [Path(f"x{i}").write_bytes(bytes(1 << 20)) for i in range(9)], disk=4 << 20)[0] == "OSError"
    assert inside(lambda: time.sleep(60), wall=0.3)[1] == 124
    assert inside(lambda: sum(iter(lambda: 1, 0)), cpu=1)[1] == 128 + 24  # SIGXCPU
    assert inside(lambda: (b"x" * (300 << 20), time.sleep(5)), memory=100 << 20)[1] == 137
    assert inside(lambda: [open(os.devnull) for _ in range(90)], open_files=40)[0] == "OSError"  # noqa: SIM115


def test_the_number_of_processes_is_limited() -> None:
    def breed() -> int:
        for _ in range(40):
            if os.fork() == 0:
                time.sleep(2)
                os._exit(0)
        return 0

    assert inside(breed, processes=10)[0] == "BlockingIOError"


def test_what_it_started_dies_with_it() -> None:
    def leave_one_behind() -> int:
        pid = os.fork()
        if pid == 0:
            os.setsid()
            time.sleep(600)
        return pid

    pid_text, status = inside(leave_one_behind)
    assert (int(pid_text) > 2, status) == (True, 0)
    mine = Path(f"/proc/{os.getpid()}/cmdline")  # whose parent may have ended too
    alive = [p for p in Path("/proc").glob("[0-9]*/cmdline") if _read(p) == mine.read_bytes() and _parent(p) == 1]
    assert {*alive} <= {mine}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has just ended
        return b""


def _parent(path: Path) -> int:
    try:
        return int((path.parent / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:  # it has just ended
        return 0


# --- students' processes ----------------------------------------------------------------------------------------------

NOTEBOOK = "01_causal_mask"


@pytest.fixture(scope="module")
def students() -> Iterator[ForkServerClient]:
    with ForkServerClient() as made:
        yield made


def marks(students: ForkServerClient, sources: dict[str, str]) -> dict[str, float]:
    """Returns the mark of each exercise for a notebook whose solution cells have these sources."""
    student = students.student()
    for cell in bank.cells(NOTEBOOK):
        if cell.kind in ("setup", "exercise"):
            student.run(sources.get(cell.name, cell.source), 20)
    defined = exercise.load(NOTEBOOK)
    found = {name: examine(one, student.answer(name), "ada").earned for name, one in defined.items()}
    student.close()
    return found


COUNT_MODELS = "from tutor.checking import building\nraise RuntimeError(len(building._models))"


def test_the_models_of_public_questions_are_made_before_the_students_processes() -> None:
    with ForkServer() as fork_server:
        prepare(fork_server, [NOTEBOOK], DrawnSets())
        with ForkServerClient(fork_server) as client:
            output = client.student().run(COUNT_MODELS, 20)
    assert int(output.removeprefix("RuntimeError: ")) > 5


@pytest.mark.all
def test_the_public_models_of_every_notebook_can_be_made() -> None:
    with ForkServer() as fork_server:
        prepare(fork_server, catalogue.notebooks(), DrawnSets())
        with ForkServerClient(fork_server) as client:  # it would say that the fork server has ended
            assert client.student().run("1 + 1", 20) == ""


@pytest.mark.all
@pytest.mark.parametrize("reply", ["", '[{"cut'])
def test_a_run_that_is_killed_while_it_lists_models_costs_no_other(monkeypatch: pytest.MonkeyPatch, reply: str) -> None:
    with ForkServer() as fork_server:
        with monkeypatch.context() as killed:
            killed.setattr("grading.sandbox.fork_server.json.dumps", lambda recipes: reply)
            fork_server.make_models([])
        with ForkServerClient(fork_server) as client:
            assert client.student().run("1 + 1", 20) == ""


KEEP_LOADED = "import sys\nloaded_before = set(sys.modules)"
TELL_LOADED = "raise RuntimeError(' '.join(sorted(set(sys.modules) - loaded_before)))"


def test_no_set_up_cell_has_to_import_anything(students: ForkServerClient) -> None:
    student = students.student()
    student.run(KEEP_LOADED, 20)
    for notebook in catalogue.notebooks():
        for cell in bank.cells(notebook):
            if cell.kind == "setup":
                assert student.run(cell.source, 20) == "", notebook
    assert student.run(TELL_LOADED, 20) == "RuntimeError:"
    student.close()


@pytest.mark.parametrize("notebook", [NOTEBOOK, *all_only(*(n for n in catalogue.notebooks() if n != NOTEBOOK))])
def test_no_students_process_has_to_import_anything(students: ForkServerClient, notebook: str) -> None:
    """A library that is imported, or imports more at its first use, costs each of a thousand submissions its time."""
    student = students.student()
    student.run(KEEP_LOADED, 20)
    for cell in bank.cells(notebook):
        if cell.kind in ("setup", "exercise"):
            assert student.run(cell.source, 20) == ""
    for one in exercise.load(notebook).values():
        answer = student.answer(one.name)
        for stage in one.public_examples().stages:
            for case in stage.cases[:2]:
                answer.ask(case.sent, 20)
    assert student.run(TELL_LOADED, 20) == "RuntimeError:"
    student.close()


def test_the_solution_gets_full_marks_in_the_sandbox(students: ForkServerClient) -> None:
    assert marks(students, {}) == {name: one.points for name, one in exercise.load(NOTEBOOK).items()}


def test_marks_in_the_sandbox_are_those_of_the_examiner_in_process(students: ForkServerClient) -> None:
    from tutor.checking.answers import InProcess

    some = [a for a in bank.answers(NOTEBOOK) if a.exercise in ("causal_mask", "padding_mask")][::6]
    defined = exercise.load(NOTEBOOK)
    for answer in some:  # `test_both_ways.py` compares the whole bank
        student = students.student()
        for cell in bank.cells(NOTEBOOK):
            if cell.kind == "setup":
                assert student.run(cell.source, 20) == ""
        student.run(answer.source, 20)
        safe = examine(defined[answer.exercise], student.answer(answer.exercise), "ada")
        plain = examine(defined[answer.exercise], InProcess(bank.run(answer)), "ada")
        student.close()
        assert (safe.earned, safe.mistake, safe.outcome) == (plain.earned, plain.mistake, plain.outcome), answer.label


def test_an_exit_costs_points_and_never_gives_any(students: ForkServerClient) -> None:
    found = marks(students, {"padding_mask": "def padding_mask(lengths, size):\n    import os\n    os._exit(0)"})
    assert found["padding_mask"] == 0
    assert found["causal_mask"] == 3


@pytest.mark.parametrize(
    "body",
    [
        "import sys; frame = sys._getframe()\n    while frame: frame.f_locals.update(wanted=1); frame = frame.f_back",
        "import gc; return [o for o in gc.get_objects() if type(o).__name__ in ('Exercise', 'Examples', 'Verdict')]",
        "import os; return dict(os.environ)",
        "import grading.definitions.exercise; return grading.definitions.exercise.load('01_causal_mask')",
        "return type('Always', (), {'__eq__': lambda s, o: True, '__bool__': lambda s: True})()",
        "return type('T', (torch.Tensor,), {'__torch_function__': classmethod(lambda *a, **k: True)})(size, size)",
        "raise SystemExit(0)",
        "raise KeyboardInterrupt",
        "return open('/proc/1/mem', 'r+b')",
        "return {'outcome': 'right', 'earned': 3}",
    ],
)
def test_tricks_earn_nothing(students: ForkServerClient, body: str) -> None:
    found = marks(students, {"causal_mask": f"def causal_mask(size):\n    {body}"})
    assert found["causal_mask"] == 0
    assert found["padding_mask"] == 3


def test_a_forged_reply_on_the_socket_is_no_mark(students: ForkServerClient) -> None:
    source = (
        "import socket, os\nreal = socket.socket(fileno=os.dup(3))\n"
        "def causal_mask(size):\n    real.sendall(b'\\x00\\x00\\x00\\x02{}' * 50)\n    return None"
    )
    assert marks(students, {"causal_mask": source})["causal_mask"] == 0


def test_a_reply_too_large_or_late_is_a_wrong_answer(students: ForkServerClient) -> None:
    student = students.student()
    assert student.run("def big(): return 'x' * 10**7\ndef slow():\n    while True: pass", 5) == ""
    assert student.answer("big").ask(Question(), 5).outcome == "unreadable"
    assert student.answer("slow").ask(Question(), 0.5).outcome == "late"
    assert student.answer("nothing").ask(Question(), 5).error_types == ("NameError",)
    assert "stopped after" in student.run("while True: pass", 0.5)
    assert "ZeroDivisionError" in student.run("1 / 0", 5)
    student.close()
    with pytest.raises(ChannelError):
        student.run("1", 5)


def test_who_sleeps_is_not_waited_for(students: ForkServerClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(student_process, "STANDSTILL", 2.0)
    student, start = students.student(), time.monotonic()
    assert student.run("import time\ndef sleeps():\n    time.sleep(600)", 5) == ""
    reply = student.answer("sleeps").ask(Question(), 60)  # else it would be waited for eight times as long
    assert (reply.outcome, "does nothing" in reply.error) == ("late", True)
    assert time.monotonic() - start < 240
    student.close()


@pytest.mark.all
@pytest.mark.parametrize(
    "body",
    [
        "end = time.process_time() + 4\n    while time.process_time() < end: pass",
        "if (pid := os.fork()): os.waitpid(pid, 0)\n    else: end()",
        "time.sleep(1)",
    ],
)
def test_who_works_is_waited_for(students: ForkServerClient, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(student_process, "STANDSTILL", 2.0)
    student = students.student()
    child = "def end():\n    while time.process_time() < 4: pass\n    os._exit(0)\n"
    assert student.run(f"import os, time\n{child}def works():\n    {body}\n    return 1", 5) == ""
    reply = student.answer("works").ask(Question(), 20)
    assert (reply.outcome, reply.value) == ("value", 1)
    student.close()


LAZY = """
import os, time
def lazy(hurry=0.01):
    while True:
        time.sleep(0.5)
        end = time.process_time() + hurry
        while time.process_time() < end: pass
def drips():
    os.write(3, b"\\0\\0\\1\\0")
    while True:
        time.sleep(0.5)
        os.write(3, b"[")
def has_lazy_children():
    while True:
        if os.fork() == 0:  # which takes a tenth of a second where much else runs: that is work
            time.sleep(30)
            os._exit(0)
        os.wait()
def rings():
    import signal
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3)
    while True: signal.pause()
def takes_no_more_questions():
    os.write(3, b"\\0\\0\\0\\2{}")
    time.sleep(600)
"""


@pytest.mark.all
@pytest.mark.parametrize("name", ["lazy", "drips", "has_lazy_children", "rings"])
def test_who_hardly_works_is_not_waited_for(
    students: ForkServerClient, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(student_process, "STANDSTILL", 4.0)
    student, start = students.student(), time.monotonic()
    assert student.run(LAZY, 5) == ""
    reply = student.answer(name).ask(Question(), 600)
    assert (reply.outcome, "does nothing" in reply.error) == ("late", True)
    assert time.monotonic() - start < 600
    student.close()


@pytest.mark.all
def test_a_cell_that_hardly_works_is_not_waited_for(
    students: ForkServerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(student_process, "WAITING", 4.0)
    student = students.student()
    with pytest.raises(ChannelError, match="does nothing"):
        student.run(f"{LAZY}\nlazy()", 600)


@pytest.mark.all
def test_who_takes_no_question_is_not_waited_for(students: ForkServerClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(student_process, "STANDSTILL", 2.0)
    student = students.student()
    assert student.run(LAZY, 5) == ""
    assert student.answer("takes_no_more_questions").ask(Question(), 600).outcome == "unreadable"
    reply = student.answer("lazy").ask(Question((torch.zeros(2_000_000),)), 600)  # more than a socket holds
    assert (reply.outcome, "does nothing" in reply.error) == ("late", True)


def test_what_comes_before_it_was_asked_is_no_reply(students: ForkServerClient) -> None:
    patience = Patience()
    student = students.student(patience)
    assert student.run(LAZY, 5) == ""
    forged = b"[b'', os.write(3, b'\\0\\0\\0\\2{}' * 9)][0]"
    assert student.run(f"def early():\n    return {forged.decode()}", 5) == ""
    assert student.answer("early").ask(Question(), 5).outcome == "unreadable"
    reply = student.answer("early").ask(Question(), 5)
    assert (reply.outcome, "before it was asked" in reply.error) == ("late", True)
    assert any("course's own code" in remark for remark in patience.odd)
    assert any("before it was asked" in remark for remark in patience.odd)


@pytest.mark.all
def test_the_processes_of_a_submission_share_their_patience(
    students: ForkServerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(student_process, "STANDSTILL", 30.0)
    monkeypatch.setattr(student_process, "NOTICED", 1.0)
    paces: list[Pace] = []
    patience = Patience(idle=4.0, wall=600.0, on_pace=paces.append)
    for _ in range(2):
        student = students.student(patience)
        assert student.run(LAZY + "\ndef works():\n    return 1", 5) == ""
        assert student.answer("works").ask(Question(), 5).value == 1  # who works is waited for
        reply = student.answer("lazy").ask(Question(), 600)
        assert (reply.outcome, "have done so too" in reply.error) == ("late", True)
    assert patience.idle < 0 < patience.wall < 600
    assert (paces[:2], paces[-1]) == ([Pace.IDLE, Pace.RUNNING], Pace.RUNNING)


def test_a_submission_is_waited_for_only_so_long(students: ForkServerClient) -> None:
    patience = Patience(wall=3.0)
    student = students.student(patience)
    assert student.run("def works():\n    while True: pass", 5) == ""
    reply = student.answer("works").ask(Question(), 600)
    assert (reply.outcome, "no reply in time" in reply.error) == ("late", True)
    assert patience.wall <= 0


def test_genuine_replies_are_nothing_odd(students: ForkServerClient) -> None:
    """Whatever an honest function returns or raises."""
    patience = Patience()
    student = students.student(patience)
    values = [
        "None", "1", "1.5", "float('nan')", "'x'", "b'x'", "[1, (2, {3})]", "{frozenset({1}): 2}", "{(1, (2,)): {4}}",
        "torch.ones(3).bool()", "sympy.oo", "sympy.nan", "sympy.zoo", "sympy.Float('1e-900')", "sympy.E ** 99",
        "sympy.Integer(10) ** 500", "object()", "iter([])", "numpy.float32(1)", "10 ** 400", "{1: 2}.items()",
        "{frozenset({1})}", "{None}", "{(None,)}", "set(range(5000))", "'x' * 10**6", "[0] * 10**6", "1 / 0", "len(1)",
        "exit(1)", "print('x' * 10**6)", "torch.zeros(10**8)", "sympy.Matrix([1])", "sympy.true", "sympy.I",
        "{True: 1, None: 2, (1, None): 3}", "'\\ud800'", "sympy.Float('1.5e300', 60)", "sympy.Float(2) ** -1000",
    ]  # fmt: skip
    assert student.run("import numpy, sympy, torch", 5) == ""
    for number, value in enumerate(values):
        assert student.run(f"def value_{number}():\n    return {value}", 5) == ""
        student.answer(f"value_{number}").ask(Question(), 5)
        assert patience.odd == [], value
    student.close()


def test_students_do_not_see_each_other(students: ForkServerClient) -> None:
    first, second = students.student(), students.student()
    assert first.run("secret = 1; open('mine', 'w').write('mine')", 5) == ""
    assert "NameError" in second.run("secret", 5)
    assert second.run("import os; assert os.listdir('.') == []", 5) == ""
    first.close()
    second.close()


def test_a_server_whose_run_has_ended_before_it_was_ready_ends_without_a_word() -> None:
    code = (
        "import socket; from grading.sandbox import forking; ours, theirs = socket.socketpair(); ours.close(); "
        "forking.serve_students(theirs, None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
