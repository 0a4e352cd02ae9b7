"""What runs in one process: the cells of a notebook, the tests of a file, the proof of an exercise."""

import pytest

from tests.conftest import SECONDS, group_of

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
        ("tests/test_faults.py::test_killed[3]", "test_faults.py"),
        ("tests/test_bank.py::test_a_right_answer[split_heads-right-view, then transpose]", "split_heads"),
        ("tests/test_bank.py::test_each_known_mistake[03_attention_heads-split_heads]", "split_heads"),
        ("tests/test_bank.py::test_bleu", "test_bank.py"),
        ("tests/test_both_ways.py::test_same[01_causal_mask-6]", "test_same[01_causal_mask"),
    ],
)
def test_the_group_of_a_test(test: str, group: str) -> None:
    assert group_of(test) == group


def test_two_processes_share_groups_and_not_tests(pytester: pytest.Pytester, repository) -> None:
    pytester.makeconftest((repository / "tests" / "conftest.py").read_text("utf-8"))
    pytester.makepyfile(test_one=PROGRAM, test_two=PROGRAM, test_three=PROGRAM, test_four=PROGRAM)
    done = pytester.runpytest_subprocess("-n", "2", "--no-loadscope-reorder", "--basetemp", str(pytester.path / "temp"))
    done.assert_outcomes(passed=24)
    said = {path.name: path.read_text() for path in (pytester.path / "temp").glob("test_*-?")}
    assert len(said) == 24
    for name in ("one", "two", "three", "four"):
        assert len({worker for file, worker in said.items() if file.startswith(f"test_{name}-")}) == 1
    assert set(said.values()) == {"gw0", "gw1"}


def test_what_takes_long_is_there(request: pytest.FixtureRequest, repository) -> None:
    files = {path.name for folder in ("tests", "solutions") for path in (repository / folder).rglob("*")}
    exercises = {path.stem for path in (repository / "tests" / "bank").rglob("*.py")}
    assert set(SECONDS) <= files | exercises
