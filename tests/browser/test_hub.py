"""JupyterHub for a school: an instructor and two students, each an account of this machine, from sign-in to feedback.

The tests follow each other like the days of a week: what one does, the next finds.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlparse

import nbformat
import pytest
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Locator, Page, expect

from grading.authoring import bank
from grading.notebooks.cells import grade_id
from tests.browser.hub import ADA, ASSIGNMENT, BOB, PASSWORD, TEACHER, Hub, ask, processes, running_hub, why_no_hub
from tests.browser.lab import (
    RUN_SECONDS,
    SCREEN,
    START_SECONDS,
    STEP_SECONDS,
    Witness,
    cell,
    choose,
    follow,
    render,
    type_into,
    wait_until_idle,
)

NOTEBOOK = f"{ASSIGNMENT}/{ASSIGNMENT}.ipynb"
MATHJAX = "cdnjs.cloudflare.com"  # nbgrader's own pages ask for it; without it formulas stand as they are written
ESSAY = "Without the mask the model copies the next token from its own input."
COMMENT = "Say more on generation."
pytestmark = pytest.mark.skipif(bool(why_no_hub()), reason=why_no_hub())


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    """The hub with its accounts; afterwards nothing of theirs runs, or is left."""
    with running_hub() as hub:
        yield hub
        assert processes()
    assert not processes()
    assert not hub.folder.exists()
    with pytest.raises(ConnectionRefusedError):  # the proxy, which is no account's
        socket.create_connection(("127.0.0.1", hub.port), timeout=10)


@pytest.fixture(scope="module")
def seen() -> Iterator[Witness]:
    """What the browser has reported beside the pages: nothing but MathJax was fetched elsewhere, and nothing failed."""
    witness = Witness()
    yield witness
    assert {urlparse(address).hostname for address in witness.outside} <= {MATHJAX}
    assert [text for text in witness.errors if "MathJax" not in text and MATHJAX not in text] == []


def sign_in(browser: Browser, hub: Hub, seen: Witness, account: str) -> tuple[BrowserContext, Page]:
    """Returns a window in which somebody has come in, and its page, on which JupyterLab is there."""
    window = browser.new_context(viewport=SCREEN)
    window.set_default_timeout(STEP_SECONDS * 1000)
    page = window.new_page()
    seen.watch(page)
    page.goto(f"{hub.address}/hub/login")
    page.get_by_label("Username").fill(account)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.locator("#jp-main-dock-panel").wait_for(timeout=START_SECONDS * 1000)
    return window, page


@pytest.fixture(scope="module")
def teacher(browser: Browser, hub: Hub, seen: Witness) -> Iterator[Page]:
    """The instructor's window."""
    window, page = sign_in(browser, hub, seen, TEACHER)
    yield page
    window.close()


@pytest.fixture(scope="module")
def ada(browser: Browser, hub: Hub, seen: Witness) -> Iterator[Page]:
    """The window of a student who does well."""
    window, page = sign_in(browser, hub, seen, ADA)
    yield page
    window.close()


@pytest.fixture(scope="module")
def bob(browser: Browser, hub: Hub, seen: Witness) -> Iterator[Page]:
    """The window of a student with a mistake."""
    window, page = sign_in(browser, hub, seen, BOB)
    yield page
    window.close()


# --- what they click ----------------------------------------------------------------------------


def entries(page: Page) -> list[str]:
    """Returns what nbgrader's menu offers."""
    page.locator(".lm-MenuBar-itemLabel").get_by_text("Nbgrader", exact=True).click()
    labels = page.locator(".lm-Menu-itemLabel")
    labels.first.wait_for()
    found = [text for text in labels.all_inner_texts() if text]  # what is hidden has none
    page.keyboard.press("Escape")
    return found


@pytest.fixture(scope="module")
def formgrader(teacher: Page) -> FrameLocator:
    """Formgrader, opened from the instructor's menu."""
    choose(teacher, "Nbgrader", "Formgrader")
    frame = teacher.frame_locator("iframe[src*=formgrader]")
    frame.locator("tbody tr").first.wait_for()
    return frame


def manage_assignments(page: Page, formgrader: FrameLocator) -> None:
    """Goes to formgrader's first page, from wherever it is, as it is now."""
    [frame] = [frame for frame in page.frames if "/formgrader" in frame.url]
    frame.goto(f"{frame.url.partition('/formgrader')[0]}/formgrader/manage_assignments")
    formgrader.locator("tbody tr").filter(has_text=ASSIGNMENT).wait_for()


def click_in(page: Page, formgrader: FrameLocator, row: str, column: str) -> str:
    """Clicks a symbol in a row of formgrader's table, waits until it is done, and returns the log."""
    symbol = formgrader.locator("tbody tr").filter(has_text=row).locator(f"td.{column} a")
    with page.expect_response(
        lambda reply: reply.request.method == "POST" and "/formgrader/api/" in reply.url, timeout=RUN_SECONDS * 1000
    ) as done:
        symbol.click()
    expect(formgrader.locator(".modal-title")).to_have_text("Success")
    answer = done.value.json()
    assert answer["success"], answer
    formgrader.locator(".modal-footer button").click()
    formgrader.locator(".modal-backdrop").wait_for(state="detached")
    return str(answer["log"])


def assignments(page: Page) -> Locator:
    """Opens nbgrader's list of assignments, or has it looked up anew where it is open, and returns it."""
    choose(page, "Nbgrader", "Assignment List")
    section = page.locator("#assignments")
    section.locator("#refresh_assignments_list").click()
    expect(section.locator("#course_list_default")).to_have_text("transformers")
    return section


def answer(exercise: str, title: str) -> str:
    """Returns an answer of the bank."""
    [source] = [item.source for item in bank.answers(ASSIGNMENT) if (item.exercise, item.title) == (exercise, title)]
    return source


def work(page: Page, hub: Hub, account: str, texts: dict[str, str]) -> None:
    """Fetches the notebook, writes answers into it, saves it, and hands it in."""
    found = assignments(page)
    found.locator("#released_assignments_list").get_by_role("button", name="Fetch").click()
    found.locator("#fetched_assignments_list").get_by_role("button", name="Submit").wait_for()
    own = hub.homes / account / NOTEBOOK
    places = [grade_id(one) for one in nbformat.read(own, as_version=4).cells]
    page.goto(f"{hub.address}/user/{account}/lab/tree/{NOTEBOOK}?reset")
    kernel = page.locator(".jp-NotebookPanel-toolbar .jp-KernelName")
    expect(kernel).to_contain_text("Python 3", timeout=START_SECONDS * 1000)
    wait_until_idle(page)
    for name, text in texts.items():
        type_into(cell(page, places.index(name)), text)
    if "mask_essay" in texts:
        render(cell(page, places.index("mask_essay")))
    with page.expect_response(lambda reply: reply.request.method == "PUT" and "/api/contents/" in reply.url) as saved:
        page.keyboard.press("ControlOrMeta+s")
    assert saved.value.ok
    found = assignments(page)
    found.locator("#fetched_assignments_list").get_by_role("button", name="Submit").click()
    found.locator("#submitted_assignments_list").get_by_text(ASSIGNMENT).first.wait_for()


# --- the week -----------------------------------------------------------------------------------


def test_menus_go_by_role(hub: Hub, teacher: Page, ada: Page) -> None:
    assert {"Formgrader", "Assignment List"} <= set(entries(teacher))
    expect(teacher.locator(".lm-TabBar-tabLabel").get_by_text("Create Assignment")).to_have_count(1)
    expect(ada.locator("#assignments")).to_be_visible()  # on which a student's JupyterLab opens: nothing is fetched yet
    assert entries(ada) == ["Assignment List"]
    expect(ada.get_by_text("Create Assignment")).to_have_count(0)
    assert ada.request.get(f"{hub.address}/user/{ADA}/formgrader/").status == 404
    assert ada.request.get(f"{hub.address}/user/{TEACHER}/lab").status == 403  # the instructor's server


def test_the_instructor_sees_who_is_here_and_students_do_not(hub: Hub, teacher: Page, ada: Page) -> None:
    assert teacher.request.get(f"{hub.address}/hub/admin").ok
    assert ada.request.get(f"{hub.address}/hub/admin").status == 403
    assert teacher.request.get(f"{hub.address}/user/{ADA}/lab").status == 403


def test_the_instructor_releases(hub: Hub, teacher: Page, formgrader: FrameLocator) -> None:
    click_in(teacher, formgrader, ASSIGNMENT, "assign")
    click_in(teacher, formgrader, ASSIGNMENT, "release")
    assert (hub.exchange / "outbound" / NOTEBOOK).is_file()


def test_students_fetch_work_and_hand_in(hub: Hub, ada: Page, bob: Page) -> None:
    hub.service("kernels")
    work(ada, hub, ADA, {"causal_mask": answer("causal_mask", "two loops"), "mask_essay": ESSAY})
    work(bob, hub, BOB, {"causal_mask": answer("causal_mask", "triangle without the 1")})
    owners = sorted(path.owner() for path in (hub.exchange / "inbound").iterdir())
    assert owners == [ADA, BOB]


def status_of(process: int) -> dict[str, str]:
    """Returns what the system says of a process."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


@pytest.mark.parametrize(("kind", "name"), [("servers", "jupyterlab"), ("kernels", "ipykernel")])
def test_what_students_work_in_is_forked(hub: Hub, ada: Page, bob: Page, kind: str, name: str) -> None:
    """Their JupyterLabs, and the kernels of the notebooks in which they have worked."""
    service = hub.service(kind)
    for account in (ADA, BOB):
        forks = [status for status in map(status_of, processes(account)) if status["Name"] == name]
        assert {int(status["PPid"]) for status in forks} == {service}
        assert {status["CapBnd"] for status in forks} == {"0" * 16}
    assert "not forked" not in hub.log()
    # Its environment is where the memory of each begins, and the hub's has secrets.
    assert b"JUPYTERHUB" not in Path(f"/proc/{service}/environ").read_bytes()


def test_the_instructor_collects_and_grades_in_the_sandbox(hub: Hub, teacher: Page, formgrader: FrameLocator) -> None:
    # A forged submission in Ada's name, and a link to the solution beside Bob's own files.
    inbound = hub.exchange / "inbound"
    [own] = inbound.glob(f"{BOB}+*")
    forged = inbound / f"{ADA}+{ASSIGNMENT}+2099-01-01 00:00:00 UTC+forged"
    solution = hub.course / "solutions" / NOTEBOOK
    assert ask(BOB, "cp", "-r", own, forged).returncode == 0
    assert ask(BOB, "ln", "-s", solution, own / "stolen.ipynb").returncode == 0

    log = click_in(teacher, formgrader, ASSIGNMENT, "collect")
    assert f"{forged.name} is left out: it is named after {ADA}" in log
    assert "stolen.ipynb is left out" in log
    handed_in = hub.course / "gradebook" / "submitted"
    assert not list(handed_in.rglob("stolen.ipynb"))
    [honest] = inbound.glob(f"{ADA}+*+20[!9]*")
    kept = (handed_in / ADA / NOTEBOOK).read_bytes()
    assert kept == (honest / f"{ASSIGNMENT}.ipynb").read_bytes() != (forged / f"{ASSIGNMENT}.ipynb").read_bytes()

    formgrader.locator("tbody tr").filter(has_text=ASSIGNMENT).locator(".num-submissions a").click()
    expect(formgrader.locator("h1").last).to_have_text("Manage Submissions")
    for account in (ADA, BOB):
        log = click_in(teacher, formgrader, account, "autograde")
        assert "protected: its own user namespace, no privileges, system calls filtered" in log
    graded = {account: formgrader.locator("tbody tr").filter(has_text=account) for account in (ADA, BOB)}
    expect(graded[ADA].locator(".score")).to_have_text("3 / 16")
    expect(graded[ADA].locator(".status")).to_have_text("needs manual grading")
    expect(graded[BOB].locator(".status")).to_have_text("graded")


def test_an_essay_is_marked_and_feedback_comes_back(
    hub: Hub, teacher: Page, formgrader: FrameLocator, ada: Page
) -> None:
    follow(formgrader, "Manual Grading")
    formgrader.locator("tbody tr").filter(has_text=ASSIGNMENT).get_by_role("link", name=ASSIGNMENT).click()
    expect(formgrader.locator("thead")).to_contain_text("Notebook ID")
    formgrader.locator("tbody tr").filter(has_text=ASSIGNMENT).get_by_role("link", name=ASSIGNMENT).click()
    formgrader.locator("tbody tr").filter(has_text="3 / 16").get_by_role("link", name=re.compile("Submission")).click()
    essay = formgrader.locator("#mask_essay")
    expect(essay).to_have_class(re.compile("needs_manual_grade"))  # the marks have come
    comment = formgrader.locator("#mask_essay-comment")
    expect(comment).to_have_attribute("placeholder", re.compile("Type any comments"))
    for field, text in ((essay, "1.5"), (comment, COMMENT)):
        field.click()
        teacher.keyboard.type(text)
        with teacher.expect_response(re.compile(r"/formgrader/api/(grade|comment)/")) as saved:
            teacher.keyboard.press("Tab")
        assert saved.value.ok

    manage_assignments(teacher, formgrader)
    click_in(teacher, formgrader, ASSIGNMENT, "generate-feedback")
    click_in(teacher, formgrader, ASSIGNMENT, "release-feedback")
    found = assignments(ada)
    found.locator("#submitted_assignments_list").get_by_role("button", name="Fetch Feedback").click()
    fetched = found.locator("#submitted_assignments_list").get_by_text(re.compile("view feedback"))
    fetched.first.wait_for(state="attached")
    [page] = (hub.homes / ADA / ASSIGNMENT / "feedback").glob("*/*.html")
    ada.goto(page.as_uri())
    expect(ada.locator(".total")).to_have_text("4.5 of 16 points")
    expect(ada.locator("body")).to_contain_text(COMMENT)


def in_terminal(hub: Hub, account: str, *words: str) -> str:
    """Runs a Python module in a terminal of somebody's JupyterLab, and returns what it printed."""
    python = hub.folder / "environment" / "bin" / "python"
    settings = [f"PATH={python.parent}:/usr/bin:/bin", f"COURSE_EXCHANGE={hub.folder / 'exchange'}"]
    if account == TEACHER:
        place = hub.course
        settings += [f"PYTHONPATH={place}"]
    else:
        place = hub.homes / account
        settings += [f"JUPYTER_CONFIG_PATH={hub.folder / 'settings' / 'student'}"]
    done = ask(account, "env", *settings, python, "-m", *words, folder=place)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_what_was_graded_in_a_terminal_comes_back_too(
    hub: Hub, teacher: Page, formgrader: FrameLocator, ada: Page, bob: Page
) -> None:
    in_terminal(hub, TEACHER, "grading", "autograde", ASSIGNMENT, "--student", BOB, "--force")
    click_in(teacher, formgrader, ASSIGNMENT, "generate-feedback")
    log = click_in(teacher, formgrader, ASSIGNMENT, "release-feedback")
    assert f"Released the feedback of {BOB}" in log
    found = assignments(bob)
    found.locator("#submitted_assignments_list").get_by_role("button", name="Fetch Feedback").click()
    found.locator("#submitted_assignments_list").get_by_text(re.compile("view feedback")).first.wait_for(
        state="attached"
    )
    [page] = (hub.homes / BOB / ASSIGNMENT / "feedback").glob("*/*.html")
    assert BOB in page.read_text("utf-8")

    # Ada hands in once more; what she got for her first attempt stays, and the second gets a page of its own.
    [first] = (hub.homes / ADA / ASSIGNMENT / "feedback").glob("*/*.html")
    in_terminal(hub, ADA, "nbgrader", "submit", ASSIGNMENT)
    click_in(teacher, formgrader, ASSIGNMENT, "collect")
    for words in (("autograde",), ("feedback",), ("hand-back", "--format", "exchange")):
        in_terminal(hub, TEACHER, "grading", *words, ASSIGNMENT, "--student", ADA)
    in_terminal(hub, ADA, "nbgrader", "fetch_feedback", ASSIGNMENT)
    pages = sorted((hub.homes / ADA / ASSIGNMENT / "feedback").glob("*/*.html"))
    assert len(pages) == 2
    assert pages[0] == first


# --- who may read what --------------------------------------------------------------------------


def refused(account: str, *command: str | Path) -> bool:
    """Asks the system as an account of this machine; says whether it was refused for want of rights."""
    done = ask(account, *command)
    return done.returncode != 0 and ("Permission denied" in done.stderr or "not permitted" in done.stderr)


def test_nobody_reads_what_is_not_theirs(hub: Hub, ada: Page, bob: Page, teacher: Page) -> None:
    for account, other in ((ADA, BOB), (BOB, ADA)):
        assert ask(account, "cat", hub.homes / account / NOTEBOOK).returncode == 0
        for home in (other, TEACHER):
            assert refused(account, "ls", hub.homes / home)
        assert refused(account, "cat", hub.homes / other / NOTEBOOK)
        for part in ("gradebook/gradebook.db", f"solutions/{NOTEBOOK}", f"gradebook/submitted/{other}/{NOTEBOOK}"):
            assert (hub.course / part).is_file()
            assert refused(account, "cat", hub.course / part)
        # The exchange: what is handed in and handed back cannot be listed, and names have a part drawn at random.
        for part in ("inbound", "feedback"):
            assert refused(account, "ls", hub.exchange / part)
        assert refused(account, "touch", hub.exchange / "outbound" / NOTEBOOK)
        assert refused(account, "mv", hub.exchange, hub.exchange.with_name("mine"))
        assert refused(account, "ls", hub.folder / "run")
        assert refused(account, "touch", hub.folder / "settings" / "roles.py")
        assert refused(account, "touch", hub.folder / "environment" / "mine")
    assert not ask(ADA, "find", hub.folder / "environment" / "lib", "-path", "*/grading/*").stdout
    python = hub.folder / "environment" / "bin" / "python"
    program = "import importlib.util as i; print(i.find_spec('helpers').origin, i.find_spec('grading'))"
    helpers, grading = ask(ADA, python, "-c", program, folder=hub.homes / ADA).stdout.split()
    assert helpers.startswith(str(hub.folder / "environment"))
    assert grading == "None"


def command_of(process: int) -> bytes:
    """Returns the command line of a process, b"" when it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def test_students_have_limits(hub: Hub, ada: Page, teacher: Page) -> None:
    def limits_of(account: str) -> dict[str, str]:
        started = [pid for pid in processes(account) if b"jupyterhub.singleuser" in command_of(pid)]
        [server] = started or [pid for pid in processes(account) if status_of(pid)["Name"] == "jupyterlab"]
        limits = Path(f"/proc/{server}/limits")
        rows = [re.split(r"\s{2,}", line) for line in limits.read_text().splitlines()[1:]]
        return {row[0]: row[2] for row in rows}

    def goes_first(account: str) -> set[str]:
        return {Path(f"/proc/{process}/oom_score_adj").read_text().strip() for process in processes(account)}

    assert goes_first(ADA) == {"500"}
    assert goes_first(TEACHER) == {Path("/proc/self/oom_score_adj").read_text().strip()}
    student = limits_of(ADA)
    assert student["Max data size"] == str(2 << 30)
    assert student["Max processes"] == "512"
    assert limits_of(TEACHER)["Max data size"] == "unlimited"


# --- forks ----------------------------------------------------------------------------------------


def open_lab(page: Page, hub: Hub, account: str) -> None:
    page.goto(f"{hub.address}/user/{account}/lab")
    page.locator("#jp-main-dock-panel").wait_for(timeout=START_SECONDS * 1000)


def test_a_jupyterlab_outlives_the_service_that_has_forked_it_and_ends_as_others_do(hub: Hub, bob: Page) -> None:
    [server] = [process for process in processes(BOB) if status_of(process)["Name"] == "jupyterlab"]
    os.kill(hub.service("servers"), signal.SIGKILL)
    open_lab(bob, hub, BOB)
    bob.goto(f"{hub.address}/hub/home")
    bob.locator("#stop").click()
    expect(bob.locator("#start")).to_have_text(re.compile("Start My Server"), timeout=START_SECONDS * 1000)
    limit = time.monotonic() + STEP_SECONDS
    # A zombie has ended: its parent is gone, and who has taken it over may not have noticed.
    while server in processes(BOB) and status_of(server)["State"][0] != "Z":
        assert time.monotonic() < limit, (status_of(server), hub.log()[-3000:])
        time.sleep(0.1)
    bob.locator("#start").click()  # whether or not the hub has started the service again
    bob.locator("#jp-main-dock-panel").wait_for(timeout=START_SECONDS * 1000)
