"""Which tests a command runs, in which order, and in which process."""

import argparse
import json
import re
import subprocess
from pathlib import Path

import pytest

from grading.notebooks.cells import is_experiment, kind
from tests import replay, tiers
from tests.tiers import Seconds, group_of

PROGRAM = """
import pytest, time

@pytest.mark.parametrize("number", range(6))
def test_it(number, worker_id, tmp_path_factory):
    (tmp_path_factory.getbasetemp().parent / f"{__name__}-{number}").write_text(worker_id)
    time.sleep(0.05)
"""


@pytest.mark.parametrize(
    ("test", "group"),
    [
        ("solutions/01_causal_mask/01_causal_mask.ipynb::Cell 3", "01_causal_mask.ipynb"),
        ("tests/autograder/test_faults.py::test_killed[3]", "test_faults.py"),
        (".cache/replay/01_causal_mask/01_causal_mask.ipynb::Cell 3", "01_causal_mask.ipynb"),
        (
            "tests/definitions/test_bank.py::test_a_right_answer[split_heads-right-view, then transpose]",
            "split_heads",
        ),
        (
            "tests/definitions/test_bank.py::test_each_known_mistake[03_attention_heads-split_heads]",
            "split_heads",
        ),
        ("tests/definitions/test_bank.py::test_bleu", "test_bank.py"),
        ("tests/definitions/test_warnings.py::test_what_costs_half[03-split_heads-the view - alone]", "split_heads"),
        ("tests/definitions/test_warnings.py::test_a_list_quotes_its_notebook[03_attention_heads]", "test_warnings.py"),
        ("tests/autograder/test_both_ways.py::test_same[01_causal_mask-6]", "test_same[01_causal_mask"),
    ],
)
def test_the_group_of_a_test(test: str, group: str) -> None:
    assert group_of(test) == group


@pytest.fixture
def folder(pytester: pytest.Pytester, repository: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder that has what this one has in conftest.py."""
    monkeypatch.setenv("PYTHONPATH", str(repository))
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    pytester.makeconftest((repository / "tests" / "conftest.py").read_text("utf-8"))
    return pytester


@pytest.mark.all
def test_two_processes_share_groups_and_not_tests(folder: pytest.Pytester) -> None:
    folder.makepyfile(test_one=PROGRAM, test_two=PROGRAM, test_three=PROGRAM, test_four=PROGRAM)
    done = folder.runpytest_subprocess("-n", "2", "--no-loadscope-reorder", "--basetemp", str(folder.path / "temp"))
    done.assert_outcomes(passed=24)
    reports = {path.name: path.read_text() for path in (folder.path / "temp").glob("test_*-?")}
    assert len(reports) == 24
    for name in ("one", "two", "three", "four"):
        assert len({worker for file, worker in reports.items() if file.startswith(f"test_{name}-")}) == 1
    assert set(reports.values()) == {"gw0", "gw1"}
    assert len(Seconds(folder.path).known()) == 24


TIERS = """
import pytest, time

def test_cheap(): pass

@pytest.mark.all
def test_expensive(): time.sleep(0.2)

@pytest.mark.parametrize("case", [1, pytest.param(2, marks=pytest.mark.all)])
def test_cases(case): pass

@pytest.fixture(params=["sample", pytest.param("others", marks=pytest.mark.all)])
def graded(request): return request.param

def test_graded(graded): pass
"""


def collected(folder: pytest.Pytester, *options: str) -> set[str]:
    """Returns the tests that would be run."""
    output = folder.runpytest_subprocess("--collect-only", "-q", *options).outlines
    return {line for line in output if "::" in line}


def test_nothing_is_in_no_tier_or_in_two(folder: pytest.Pytester) -> None:
    file = folder.makepyfile(TIERS).name
    test, rest, everything = (collected(folder, *options) for options in ([], ["--rest"], ["--all"]))
    assert test == {f"{file}::{name}" for name in ("test_cheap", "test_cases[1]", "test_graded[sample]")}
    assert everything == test | rest
    assert len(everything) == 6
    assert not test & rest
    assert collected(folder, "--all", "--rest") == rest
    assert collected(folder, f"{file}::test_expensive") == {f"{file}::test_expensive"}  # what is named is run


def test_the_parts_are_the_whole_and_none_is_in_two(folder: pytest.Pytester) -> None:
    file = folder.makepyfile(TIERS).name
    for number in range(4):
        folder.makepyfile(**{f"test_more_{number}": TIERS})
    folder.makepyfile(TIERS)
    everything = collected(folder, "--all")
    parts = [collected(folder, "--all", "--shard", f"{number}/3") for number in (1, 2, 3)]
    assert set.union(*parts) == everything
    assert sum(map(len, parts)) == len(everything)
    assert min(map(len, parts)) >= 6
    mine = next(part for part in parts if f"{file}::test_cheap" in part)
    assert {test for test in everything if test.startswith(f"{file}::")} <= mine  # a file stays together
    assert collected(folder, "--shard", "1/1") == collected(folder)


@pytest.mark.parametrize("text", ["0/3", "4/3", "2", "1/0", "a/b", "-1/3"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected N/M"):
        tiers.shard(text)


def test_parts_are_of_about_one_length() -> None:
    known = tiers.of_a_fresh_clone()
    tests = [f"tests/{group}" for group in known if group.endswith(".py")]
    shards = [tiers.groups_of_a_shard(tests, number, 4) for number in (1, 2, 3, 4)]
    sums = [sum(known[group] for group in shard) for shard in shards]
    assert max(sums) <= max(1.3 * min(sums), max(known[test.rpartition("/")[2]] for test in tests))


SHARED = """
import pytest

@pytest.mark.all
@pytest.mark.parametrize("notebook", ["00_start_here", "01_causal_mask", "02_positions", "03_attention_heads"])
def test_a_notebook(notebook): pass

@pytest.mark.all
def test_all_of_them(): pass
"""


def test_a_share_of_the_notebooks_is_asked_and_all_of_what_is_about_none(folder: pytest.Pytester) -> None:
    file = folder.makepyfile(SHARED).name
    rest, third = collected(folder, "--rest"), collected(folder, "--rest", "--share", "3")
    assert len(rest) == 5
    assert f"{file}::test_all_of_them" in third
    asked = {int(test.partition("[")[2][:2]) for test in third if "[" in test}
    assert asked in ({0, 3}, {1}, {2})
    assert collected(folder, "--all", "--share", "3") == rest  # `make test-all` leaves nothing out


IN_TURN = """
import pytest

@pytest.mark.in_turn
@pytest.mark.parametrize("notebook", ["02_positions", "03_attention_heads", "04_heads"])
def test_a_notebook(notebook): pass
"""


@pytest.mark.parametrize("changed", ["", "03_attention_heads", "what is shared"])
def test_of_what_is_asked_in_turn_all_that_has_changed_is_asked_and_a_third_of_the_rest(
    folder: pytest.Pytester, changed: str
) -> None:
    folder.makepyfile(IN_TURN)
    state = f"""
from tests import tiers
tiers.changed_notebooks = lambda: {{{changed!r}}}
tiers.what_is_shared_has_changed = lambda: {changed == "what is shared"}
"""
    (folder.path / "conftest.py").write_text((folder.path / "conftest.py").read_text("utf-8") + state, "utf-8")
    test, rest, everything = (collected(folder, *options) for options in ([], ["--rest"], ["--all"]))
    assert everything == test | rest
    assert len(everything) == 3
    assert not test & rest
    assert len(test) in {"": {1}, "03_attention_heads": {1, 2}, "what is shared": {3}}[changed]
    assert not any("03_attention_heads" in one for one in rest if changed)


@pytest.mark.all
def test_a_failure_is_named_when_it_happens(folder: pytest.Pytester) -> None:
    folder.makepyfile(test_a="import os\ndef test_wrong(): assert False\ndef test_stops_all(): os._exit(1)")
    done = folder.runpytest_subprocess("-n", "1", "--max-worker-restart", "0")
    done.stdout.fnmatch_lines(["*FAILED test_a.py::test_wrong (call)", "*crashed while running*"])


@pytest.mark.all
def test_what_would_begin_too_late_is_skipped_and_reported(folder: pytest.Pytester) -> None:
    long_ago = "import os\ndef test_long(): os.environ['TESTS_BEGAN'] = '0'\ndef test_late(): pass"
    folder.makepyfile(test_a=long_ago)
    done = folder.runpytest_subprocess("-n", "1", "--minutes", "30", "-rs")
    done.assert_outcomes(passed=1, skipped=1)
    done.stdout.fnmatch_lines(["*not begun: this run had taken 30 minutes"])


def test_what_takes_long_begins_first(folder: pytest.Pytester) -> None:
    folder.makepyfile(test_a="def test_it(): pass", test_b="def test_it(): pass\ndef test_other(): pass")
    seconds = Seconds(folder.path)
    seconds.path.parent.mkdir(parents=True)
    seconds.path.write_text(json.dumps({"test_b.py::test_it": 20, "test_b.py::test_other": 20, "test_c.py::gone": 1}))
    done = folder.runpytest_subprocess("-v")
    assert [line.split()[0] for line in done.outlines if " PASSED" in line] == [
        "test_b.py::test_it", "test_b.py::test_other", "test_a.py::test_it",
    ]  # fmt: skip
    measured = seconds.known()
    assert measured["test_c.py::gone"] == 1  # other tests keep their records
    assert measured["test_b.py::test_it"] < 20
    assert sorted(measured) == ["test_a.py::test_it", "test_b.py::test_it", "test_b.py::test_other", "test_c.py::gone"]


def test_a_group_without_a_record_takes_what_it_took_in_a_fresh_clone(tmp_path: Path) -> None:
    known = next(iter(tiers.of_a_fresh_clone()))
    sums = Seconds(tmp_path).of_groups([f"tests/{known}::test_it", "tests/test_new.py::test_it"])
    assert sums == {known: tiers.of_a_fresh_clone()[known], "test_new.py": 0.0}
    (tmp_path / ".cache/tests").mkdir(parents=True)
    Seconds(tmp_path).path.write_text('{"cut off')
    assert Seconds(tmp_path).known() == {}


def test_what_a_test_does_hangs_on_no_option(repository: Path) -> None:
    """So that what `make test` and `make test-all PYTEST_ARGS=--rest` run is together what `make test-all` runs."""
    asked = {
        path.name
        for path in (repository / "tests").rglob("*.py")
        if re.search(r"""(getoption|\.option)\W+(all|rest|quick|share)\b""", path.read_text("utf-8"))
    }
    assert asked == {"tiers.py"}


def test_where_no_notebook_has_changed_the_first_two_are_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    class Git:
        stdout = "main"

    monkeypatch.setattr(subprocess, "run", lambda *_, **how: Git)
    assert tiers.changed_notebooks.__wrapped__() == {"00_start_here", "01_causal_mask"}
    Git.stdout = "solutions/05_parameter_counts.py"
    assert tiers.changed_notebooks.__wrapped__() == {"05_parameter_counts"}


def test_a_notebook_is_replayed_without_its_experiments(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "77_gone").mkdir()
    (tmp_path / "77_gone" / "77_gone.ipynb").write_text("{}")
    replay.write(tmp_path)
    cut = {path.name: json.loads(path.read_text("utf-8"))["cells"] for path in tmp_path.glob("*/*.ipynb")}
    whole = {path.name: json.loads(path.read_text("utf-8"))["cells"] for path in repository.glob("solutions/*/*.ipynb")}
    assert cut.keys() == whole.keys()
    for name, cells in whole.items():
        assert cut[name] == [cell for cell in cells if not is_experiment(cell)]  # with their outputs
        assert {"setup", "solution", "check"} <= {kind(cell) for cell in cut[name]}
