"""Functions that give recorded results: an answer calls them, and what it calls is seen."""

from contextlib import suppress
from typing import Any

import pytest

from tutor.checking import plain
from tutor.checking.answers import InProcess, Question, Reply

DOUBLE = plain.Recorded("double", [([1], 2), ([{"x": 2}], [4])])
ANYTHING = plain.Recorded("note")


def reply_to(answer: Any, *inputs: Any, **options: Any) -> Reply:
    return InProcess(answer).ask(Question(inputs, **options), 20)


def test_a_recorded_function_survives_encoding() -> None:
    for one in (DOUBLE, ANYTHING, plain.Recorded("f", [([1, "a"], None)], stop_at=3)):
        assert plain.decode(plain.encode(one)) == one


@pytest.mark.parametrize("data", [{"recorded": "f", "results": 3}, {"recorded": "f", "results": [[1]], "stop_at": "x"}])
def test_damaged_data_is_refused(data: Any) -> None:
    with pytest.raises(plain.NotPlain):
        plain.decode(data)


def test_it_gives_what_was_recorded() -> None:
    assert reply_to(lambda double: [double(1), double({"x": 2}), double(x=1)], DOUBLE).value == [2, [4], 2]
    assert reply_to(lambda note: note("whatever", 3), ANYTHING).value is None


def test_other_arguments_are_an_error() -> None:
    reply = reply_to(lambda double: double(5), DOUBLE)
    assert reply.outcome == "crashed"
    assert "double was called with arguments that are none of those it is made for" in reply.error


def test_the_log_holds_the_calls_in_order_with_the_arguments_as_they_were() -> None:
    def answer(double: Any, note: Any) -> None:
        kept: list[int] = []
        for _ in range(2):
            kept.append(double(1))
            note(kept)

    log = reply_to(answer, DOUBLE, ANYTHING, probe="log").value
    assert log == [["double", [1]], ["note", [[2]]], ["double", [1]], ["note", [[2, 2]]]]


def test_an_interruption_ends_the_log_and_passes_except_exception() -> None:
    def answer(double: Any) -> None:
        for _ in range(3):
            with suppress(Exception):
                double(1)

    stopped = plain.Recorded("double", DOUBLE.results, stop_at=2)
    assert reply_to(answer, stopped, probe="log").value == [["double", [1]], ["double", [1]], ["interrupted", []]]


@pytest.mark.parametrize("fails", [False, True])
def test_what_was_stopped_is_asked_once_more_on_what_it_has_left(fails: bool) -> None:
    def answer(double: Any, rows: list[int]) -> list[int]:
        rows.append(0)
        rows[-1] = double(1)
        return rows

    stopped = plain.Recorded("double", DOUBLE.results, stop_at=1, fails=fails)
    assert reply_to(answer, stopped, [], probe="resumed", changes=(1,)).value == [0, 2]
