"""The way through a term: the commands of `docs/instructor.md` are run in their order, on a small class from Moodle."""

import os
import re
import shlex
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

import nbformat
import pytest

from grading.__main__ import main
from grading.autograder import seeds
from grading.classroom import essays
from grading.classroom.essays import Given, Mark
from grading.command_line import parse
from grading.folder.course import ROOT, Course
from grading.pages import exporter
from tests.classroom.delivered import make_zip
from tests.classroom.submissions import ASSIGNMENT, cell, perfect
from tests.classroom.test_collect import moodle
from tutor.__main__ import main as tutor

pytestmark = pytest.mark.all

PYTHON = ".venv/bin/python -m grading "
# See tests/autograder/test_nbgrader.py.
DEMO = {"make demo", "make formgrader COURSE=demo", f"{PYTHON}report {ASSIGNMENT} --course demo"}
READING = f"{PYTHON}essays {ASSIGNMENT}"  # a server, which tests/pages/test_essay_page.py asks
# Other tests run what make starts.
RENEWING = {"git restore 'notebooks/*.ipynb' 'solutions/*.ipynb'", "git pull --autostash", "git pull"}
ELSEWHERE = {"make release", READING, "make build", "make build CHECK=1"} | RENEWING | DEMO
HELPERS = ".venv/bin/python -m tutor "
# The class is Moodle's: nobody came from these.
NOT_FROM_THERE = {"--format canvas": 2, "--format folders": 2, "--format exchange": 1}
WORKSHEET = """Identifier,"Full name","ID number","Email address",Status,Grade,"Maximum Grade","Last modified (grade)",\
"Feedback comments"
"Participant 7","Ada Lovelace",ada,ada@x.org,Submitted,,16.00,-,
"Participant 8","Bob Brown",bob,bob@x.org,Submitted,,16.00,-,
"Participant 9","Eve Elm",eve,eve@x.org,"No submission",,16.00,-,
"""


def blocks(language: str) -> list[str]:
    text = (ROOT / "docs" / "instructor.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    return [line for block in blocks("sh") for line in block.splitlines()]


def run(course: Path, words: Sequence[str], status: int = 0) -> None:
    assert main([*words, "--course", str(course)]) == status, words


def read_essays(course: Path) -> None:
    """Does what the page of `essays` does: a mark for each essay."""
    asked = essays.question(Course(course), ASSIGNMENT, "mask_essay")
    read = essays.answers(Course(course), asked)
    assert read
    essays.save(Course(course), asked, [Given(answer.key, Mark(1.5), answer.seen) for answer in read])


def test_every_command_is_known() -> None:
    for line in commands():
        if line.startswith(PYTHON):
            assert parse(shlex.split(line.removeprefix(PYTHON))).run.endswith(":command")
        elif not line.startswith(HELPERS):
            assert line in ELSEWHERE | {"make grade"} or line.split()[0] in ("mv", "mkdir"), line
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^grade:.*\n.* --run grading autograde \|\|", makefile, re.MULTILINE)
    assert re.search(r"^release:.*\n.* --run grading release(?: \$\(if \$\(ROUTE\).*)?$", makefile, re.MULTILINE)


def test_files_of_students_in_the_clone_are_not_committed(tmp_path: Path) -> None:
    files = {word for line in commands() for word in line.split() if re.fullmatch(r"[\w.]+\.(zip|ipynb)", word)}
    assert files == {"submissions.zip", "broken.ipynb", "broken_mended.ipynb", "bob_01_causal_mask.ipynb"}
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    shutil.copy(ROOT / ".gitignore", tmp_path)
    asked = [*files, "gradebook/", ".course_secret", "notebooks/01/01.ipynb"]
    command = ["git", "-C", str(tmp_path), "check-ignore", *asked]
    ignored = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    assert set(ignored) == files | {"gradebook/", ".course_secret"}
    assert {"*.zip", "*.ipynb"} <= set((ROOT / ".dockerignore").read_text(encoding="utf-8").split())


@pytest.mark.sandbox
def test_a_term(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    course = tmp_path / "course"
    for path in (Course(course).solution(ASSIGNMENT), Course(course).released(ASSIGNMENT)):
        path.parent.mkdir(parents=True)
        shutil.copy(ROOT / path.relative_to(course), path)
    shutil.copy(ROOT / "nbgrader_config.py", course)
    (course / "gradebook").mkdir()
    (course / "gradebook" / "students.csv").write_text(WORKSHEET, encoding="utf-8")
    mistaken = perfect()
    cell(mistaken, "causal_mask").source = "def causal_mask(size):\n    return 0"
    bob = nbformat.writes(mistaken).encode()
    make_zip(course / "submissions.zip", {moodle("Ada Lovelace", 7): nbformat.writes(perfect()).encode()})
    unknown = course / "gradebook" / "unknown" / "20260112-180000-1a2b3c"
    unknown.mkdir(parents=True)
    (unknown / "0001_x.ipynb").write_bytes(nbformat.writes(perfect()).encode())
    listed = "student,copy,file,received,reason\nada,0001_x.ipynb,A. L./x.ipynb,2026-01-12 11:00:00 UTC,unknown\n"
    (unknown / "list.csv").write_text(listed, encoding="utf-8")
    (course / "broken.ipynb").write_bytes(b"\xef\xbb\xbf" + bob)  # as an editor has saved it: nbgrader cannot read it
    (course / seeds.FILE).write_text(os.environ[seeds.VARIABLE], encoding="ascii")
    monkeypatch.delenv(seeds.VARIABLE)
    monkeypatch.chdir(course)
    done = []
    for line in commands():
        if line in ELSEWHERE:
            read_essays(course) if line == READING else None
        elif line.startswith(HELPERS):
            assert tutor(shlex.split(line.removeprefix(HELPERS))) == 0
            assert (course / "work" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").is_file()
        elif line == "make grade":
            run(course, ["autograde", "--workers", "1"])
        elif line.startswith(f"{PYTHON}doctor"):
            main(shlex.split(line.removeprefix(PYTHON)))
        elif line.startswith(PYTHON):
            away = next((status for word, status in NOT_FROM_THERE.items() if word in line and "hand-back" in line), 0)
            run(course, shlex.split(line.removeprefix(PYTHON)), status=away)
        else:
            subprocess.run(shlex.split(line), cwd=course, check=True)
        done.append(line)
    assert done == commands()
    output, errors = capsys.readouterr()
    assert "2 of 2 students get their feedback page." in output
    assert "expected --format moodle, got --format canvas" in errors
    kept = tmp_path / "class_2026"
    assert (kept / seeds.FILE).is_file()
    assert not (course / "gradebook").exists()
    with zipfile.ZipFile(kept / "gradebook" / "hand_back" / f"{ASSIGNMENT}_moodle.zip") as archive:
        assert sorted(archive.namelist()) == [
            f"Ada Lovelace_7_assignsubmission_file_/{ASSIGNMENT}.html",
            f"Bob Brown_8_assignsubmission_file_/{ASSIGNMENT}.html",
        ]
        page = archive.read(archive.namelist()[0]).decode()
    assert '<p class="total">15.5 of 16 points' in page
    assert exporter.NO_VERDICT not in page
    rows = (kept / "gradebook" / "hand_back" / f"{ASSIGNMENT}_worksheet.csv").read_text().splitlines()
    assert ',15.5,16.00,-,"15.5 of 16 points. Your feedback page has the reasons."' in rows[1]
    assert rows[3] == WORKSHEET.splitlines()[3]
    for form in ("csv", "exercises", "moodle", "canvas"):
        assert (kept / "gradebook" / f"marks_{form}.csv").is_file()
    monkeypatch.chdir(kept)
    [code] = blocks("py")
    exec(code, {})
    assert (kept / "gradebook" / "course.csv").read_text().splitlines() == [
        "student,01_causal_mask,02_positional_encoding,course",
        "ada,96.9,0.0,38.8",
        "bob,78.1,0.0,31.2",
    ]
