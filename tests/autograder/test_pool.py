"""Which worker gets which submission: the same questions are drawn once, and nobody is idle while somebody waits."""

from grading.autograder.pool import Job, _Queue
from grading.autograder.submission import Work


def _job(student: str, seed: str, assignment: str = "01_causal_mask") -> Job:
    return Job(assignment, student, Work(), f"key of {student}", seed)


def test_submissions_with_the_same_questions_go_to_the_same_worker() -> None:
    waiting = _Queue([_job("a", "1"), _job("b", "2"), _job("c", "1"), _job("d", "2"), _job("e", "3")])
    drawn: dict[int, set[tuple[str, str]]] = {0: set(), 1: set()}
    got: dict[int, list[str]] = {0: [], 1: []}
    while waiting:
        for worker in (0, 1):
            if waiting:
                job = waiting.next(drawn[worker], drawn[1 - worker])
                drawn[worker].add(job.questions)
                got[worker].append(job.student)
    assert got == {0: ["a", "c", "e"], 1: ["b", "d"]}


def test_a_worker_without_questions_of_its_own_helps_where_most_wait() -> None:
    waiting = _Queue([_job("a", "1"), _job("b", "2"), _job("c", "2")])
    taken = {("01_causal_mask", "1"), ("01_causal_mask", "2")}
    assert [waiting.next(set(), taken).student for _ in range(2)] == ["b", "a"]


def test_the_same_seed_in_another_notebook_asks_other_questions() -> None:
    waiting = _Queue([_job("a", "1", "02_positional_encoding"), _job("b", "1")])
    assert waiting.next({("01_causal_mask", "1")}, set()).student == "b"
    assert waiting


def test_a_job_that_comes_back_waits_again() -> None:
    waiting = _Queue([])
    assert not waiting
    waiting.add(_job("a", "1"))
    assert waiting.next(set(), set()).student == "a"
    assert not waiting
