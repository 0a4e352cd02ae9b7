"""A class in which some try to hold whoever grades: the run ends, and every honest mark is as without them."""

from pathlib import Path

import pytest

from benchmarks import hold_up
from grading.autograder import run as autograde
from grading.autograder.grade_submission import Budget
from grading.autograder.outcome import GRADED
from grading.course import Course
from grading.sandbox.fork_server import ForkServer


@pytest.mark.sandbox
def test_honest_marks_are_the_same_among_submissions_that_cost_much(tmp_path: Path) -> None:
    names = hold_up.make(tmp_path, honest=4, hostile=6)
    course, budget = Course(tmp_path), Budget(idle=6.0)
    with ForkServer() as fork_server:
        alone = autograde.run(
            autograde.Settings(course, students=names, workers=2, progress=False, budget=budget), fork_server
        )
        both = autograde.run(
            autograde.Settings(course, workers=2, progress=False, budget=budget, force=True), fork_server
        )
    before, after = ({one.student: one for one in outcomes} for outcomes in (alone, both))
    assert len(after) == 10
    assert all(one.state == GRADED for one in after.values()), after
    assert {name: after[name].score for name in names} == {name: before[name].score for name in names}
    assert all(not after[name].odd for name in names)
    hostile = [one for name, one in after.items() if name not in names]
    assert all(one.score == 0 for one in hostile)
    assert [one.student for one in hostile if "dear" in one.student and not one.odd] == []
