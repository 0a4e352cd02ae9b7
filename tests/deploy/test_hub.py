"""The parts of a hub that need no browser: what is put in place, whom it belongs to, who gets which settings."""

from __future__ import annotations

import ast
import importlib.util
import os
import pwd
import re
import shlex
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

import pytest
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from deploy.hub import install
from grading.classroom.exchange import CollectOwned
from grading.folder.course import COURSE_ID

ME = pwd.getpwuid(os.getuid()).pw_name


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter; pytest's own are for one account. The umask is the strictest."""
    before = os.umask(0o077)
    with tempfile.TemporaryDirectory(prefix="hub-") as name:
        os.chmod(name, 0o755)
        yield Path(name)
    os.umask(before)


def test_a_hub_names_the_course_as_its_settings_do() -> None:
    """What a hub's server and its students run may lie where the course is not: it says the name itself."""
    assert install.COURSE_ID == COURSE_ID
    hub = Path(install.__file__).parent
    assert f'\nCOURSE = "{COURSE_ID}"' in (hub / "roles.py").read_text("utf-8")
    assert f'course_id = "{COURSE_ID}"\n' in (hub / "student" / "nbgrader_config.py").read_text("utf-8")


def test_settings_and_exchange_are_put_in_place(folder: Path) -> None:
    for _ in range(2):  # again for a newer course
        assert install.main([str(folder), "--only", "settings", "--only", "exchange", "--instructor", ME]) == 0
    assert stat.S_IMODE((folder / "settings" / "jupyterhub_config.py").stat().st_mode) == 0o644
    assert (folder / "settings" / "jupyter" / "student" / "labconfig" / "page_config.json").is_file()
    assert stat.S_IMODE((folder / "run").stat().st_mode) == 0o700
    exchange = folder / "exchange"
    assert stat.S_IMODE(exchange.stat().st_mode) == 0o1777  # writable, as nbgrader wants it, and nobody moves another's
    assert stat.S_IMODE((exchange / "transformers").stat().st_mode) == 0o755
    assert (exchange / "transformers").owner() == ME


def test_an_account_that_is_not_there_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert install.main([str(folder), "--only", "exchange", "--instructor", "no-such-account"]) == 1
    assert capsys.readouterr().err.startswith("There is no account 'no-such-account' on this machine: make it first")


def test_a_place_that_others_cannot_enter_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "private").mkdir(mode=0o700)
    assert install.main([str(folder / "private" / "hub"), "--only", "settings"]) == 1
    assert f"Other accounts may not enter {folder / 'private'}" in capsys.readouterr().err


def test_only_released_notebooks_are_copied(folder: Path, repository: Path) -> None:
    assert install.main([str(folder), "--only", "notebooks"]) == 0
    copied = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    assert copied == {path.relative_to(repository) for path in (repository / "notebooks").glob("*/*.ipynb")}


def test_the_steps_of_the_dockerfile_are_those_of_the_install_script(repository: Path) -> None:
    text = (repository / "Dockerfile").read_text(encoding="utf-8")
    first, second = re.findall(r"^FROM (\S+)", text, re.M)
    assert first == second  # the environment of the one runs in the other
    [step] = re.findall(r"^RUN (python3 -m deploy\.hub\.install.*)$", text, re.M)
    words = shlex.split(step)[3:]
    assert words[0] == "/srv/course"
    assert words[1::2] == ["--only"] * len(words[1::2])
    assert set(words[2::2]) == set(install.PARTS) - {"exchange"}
    assert re.findall(r"^COPY --from=made (\S+) (\S+)$", text, re.M) == [("/srv/course", "/srv/course")]
    assert len(re.findall(r"^COPY ", text, re.M)) == 2  # nothing else comes out of the clone
    [path] = re.findall(r"JUPYTER_CONFIG_PATH=(\S+)", text)
    for place in path.split(":"):
        inside = place.removeprefix("/srv/course/settings/")
        known = [repository / "deploy" / "hub" / inside, repository / "deploy" / inside]
        assert any(folder.is_dir() for folder in known), place


def test_the_last_step_of_the_dockerfile_makes_a_working_copy(repository: Path, tmp_path: Path) -> None:
    text = (repository / "Dockerfile").read_text(encoding="utf-8")
    [step] = re.findall(r"^RUN (cp .*)$", text, re.M)
    values = (repository / "deploy" / "hub" / "values.yaml").read_text(encoding="utf-8")
    assert step in values  # on Kubernetes, at each start
    install.notebooks(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        ["sh", "-ec", step.replace("/srv/course", str(tmp_path))],
        cwd=home,
        env=os.environ | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    released = {path.relative_to(tmp_path / "notebooks") for path in (tmp_path / "notebooks").glob("*/*.ipynb")}
    assert {path.relative_to(home / "work") for path in (home / "work").glob("*/*.ipynb")} == released


def test_the_packages_go_into_the_hubs_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(install, "run", lambda *words, **more: asked.append(([str(word) for word in words], more)))
    install.packages(tmp_path / "environment")
    (made, added), (undone, _) = asked
    assert made == [sys.executable, "-m", "deploy", "--extra", "hub"]
    assert undone[-1] == "transformers-course"  # a link to the clone, where the solutions are
    program = "from deploy import environment; print(environment.PYTHON, environment.STATE)"
    text = subprocess.check_output([sys.executable, "-c", program], env=os.environ | added, cwd=install.ROOT, text=True)
    assert all(word.startswith(str(tmp_path / "environment")) for word in text.split())


def test_what_git_ignores_of_people_does_not_get_into_the_image(repository: Path) -> None:
    left_out = set((repository / ".dockerignore").read_text(encoding="utf-8").split())
    assert {".git", "gradebook", "demo", "work", ".course_secret*"} <= left_out


# --- roles ----------------------------------------------------------------------------------------


@pytest.fixture
def roles(repository: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module as the hub reads it; what starts servers is for the test in the browser."""
    spawner = ModuleType("jupyterhub.spawner")
    spawner.LocalProcessSpawner = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jupyterhub", ModuleType("jupyterhub"))
    monkeypatch.setitem(sys.modules, "jupyterhub.spawner", spawner)
    monkeypatch.syspath_prepend(str(repository / "deploy" / "hub"))
    specification = importlib.util.spec_from_file_location("roles", repository / "deploy" / "hub" / "roles.py")
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def started(roles: ModuleType, folder: Path, name: str) -> SimpleNamespace:
    spawner = SimpleNamespace(
        user=SimpleNamespace(name=name),
        environment={"PATH": "/usr/bin"},
        notebook_dir="",
        mem_limit=2 << 30,
        cpu_limit=2.0,
    )
    roles.before_start(folder)(spawner)
    return spawner


def test_each_role_gets_its_settings(roles: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roles, "close_home", lambda account: None)
    student = started(roles, tmp_path, ME)
    places = student.environment["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert places[0] == str(tmp_path / "settings" / "student")
    assert "PYTHONPATH" not in student.environment
    assert student.environment["OMP_NUM_THREADS"] == "1"
    assert student.environment["PATH"] == "/usr/bin"
    files = Path(student.environment["JUPYTER_RUNTIME_DIR"])
    assert stat.S_IMODE(files.stat().st_mode) == 0o700
    assert files.owner() == ME
    monkeypatch.setattr(roles, "is_instructor", lambda account: account == ME)
    account = SimpleNamespace(pw_dir=str(tmp_path / "home"), pw_uid=os.getuid(), pw_gid=os.getgid())
    monkeypatch.setattr(roles.pwd, "getpwnam", lambda name: account)
    assert started(roles, tmp_path, ME).environment == student.environment  # no clone yet
    course = tmp_path / "home" / "transformers"
    course.mkdir(parents=True)
    (course / "nbgrader_config.py").touch()
    instructor = started(roles, tmp_path, ME)
    assert instructor.environment["PYTHONPATH"] == instructor.notebook_dir == str(course)
    assert instructor.mem_limit is None
    assert not any("student" in place for place in instructor.environment["JUPYTER_CONFIG_PATH"].split(os.pathsep))


def test_who_has_no_account_yet_is_a_student(roles: ModuleType) -> None:
    assert not roles.is_instructor("no-such-account")
    assert roles.members("no-such-group") == []


def test_a_home_that_others_may_read_is_closed(
    roles: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    account = SimpleNamespace(pw_dir=str(home), pw_uid=os.getuid())
    monkeypatch.setattr(roles.pwd, "getpwnam", lambda name: account)
    roles.close_home("ada")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    account.pw_uid += 1  # a home that is somebody else's is left alone
    home.chmod(0o755)
    roles.close_home("ada")
    assert stat.S_IMODE(home.stat().st_mode) == 0o755


# --- collecting -----------------------------------------------------------------------------------


@pytest.fixture
def collector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CollectOwned:
    """What collects 01_causal_mask, without a due date, from an exchange in which one honest submission lies."""
    gradebook = MagicMock()
    gradebook.return_value.__enter__.return_value.find_assignment.return_value.duedate = None
    monkeypatch.setattr("nbgrader.exchange.default.collect.Gradebook", gradebook)
    settings = Config()
    settings.CourseDirectory.root = str(tmp_path / "course")
    settings.CourseDirectory.course_id = "transformers"
    settings.CourseDirectory.assignment_id = "01_causal_mask"
    settings.Exchange.root = str(tmp_path / "exchange")
    found = CollectOwned(coursedir=CourseDirectory(config=settings), authenticator=None, config=settings)
    found.inbound_path = str(tmp_path / "exchange" / "transformers" / "inbound")
    hand_in(Path(found.inbound_path), ME, "2026-01-12 12:00:00 UTC")
    (tmp_path / "course").mkdir()
    return found


def hand_in(inbound: Path, name: str, time: str) -> Path:
    folder = inbound / f"{name}+01_causal_mask+{time}+random"
    folder.mkdir(parents=True)
    (folder / "01_causal_mask.ipynb").write_text(f"of {name}, {time}")
    (folder / "timestamp.txt").write_text(time)
    return folder


def collected(collector: CollectOwned) -> list[tuple[str, str]]:
    collector.init_src()
    return [(record["username"], record["filename"].split("+")[2]) for record in collector.src_records]


def test_the_newest_of_ones_own_is_collected(collector: CollectOwned) -> None:
    inbound = Path(collector.inbound_path)
    hand_in(inbound, ME, "2026-01-13 12:00:00 UTC")
    hand_in(inbound, "somebody-else", "2026-01-14 12:00:00 UTC")  # mine, under another's name
    elsewhere = hand_in(inbound.parent, ME, "2026-01-15 12:00:00 UTC")
    (inbound / elsewhere.name).symlink_to(elsewhere)  # leads to what is mine, and is no folder
    assert collected(collector) == [(ME, "2026-01-13 12:00:00 UTC")]
    collector.check_owner = False
    assert len(collected(collector)) == 2


def test_links_pipes_and_large_files_are_left_out(collector: CollectOwned, tmp_path: Path) -> None:
    [folder] = Path(collector.inbound_path).iterdir()
    (tmp_path / "solution").write_text("for the instructor only")
    (folder / "stolen.ipynb").symlink_to(tmp_path / "solution")
    os.mkfifo(folder / "waits")
    (folder / "folder").mkdir()
    (folder / "large").write_bytes(bytes(3000))
    collector.coursedir.max_file_size = 2  # kilobytes
    collector.do_copy(str(folder), str(tmp_path / "copy"))
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["01_causal_mask.ipynb", "timestamp.txt"]
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(NotADirectoryError):
        collector.do_copy(str(tmp_path / "link"), str(tmp_path / "other"))


def test_every_setting_of_the_page_is_there(repository: Path) -> None:
    page = (repository / "docs" / "hub.md").read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        ast.parse(block)
    source = (repository / "deploy" / "hub" / "roles.py").read_text(encoding="utf-8")
    groups = re.search(r'^INSTRUCTORS, STUDENTS = "(.+)", "(.+)"$', source, re.M)
    assert groups
    for group in groups.groups():
        assert f"groupadd {group}\n" in page
