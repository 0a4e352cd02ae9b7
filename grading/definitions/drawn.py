"""What is drawn for an exercise, as JSON data: questions, what the reference replies, and what known mistakes have.

So it can be kept, and need not be drawn again. With a seed it is what is asked with this seed alone, with `EVERYBODY`
what everybody is asked. Values are exact and plain: to read them runs no code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grading.definitions.exercise import Exercise, Results
from tutor.checking import plain
from tutor.checking.answers import Question, Reply
from tutor.checking.judging import Case, Examples, Raised, StageCases

EVERYBODY = ""


def draw(exercise: Exercise, seed: str) -> None:
    """Draws what is asked, where it was not drawn."""
    exercise.everybodys() if seed == EVERYBODY else exercise.own(seed)


def encode(exercise: Exercise, seed: str) -> Any:
    """Returns what is asked, which is drawn where it was not."""
    if seed != EVERYBODY:
        return [list(map(_encode_case, cases)) for cases in exercise.own(seed)]
    examples = exercise.everybodys()
    stages = [{**_fields(stage), "cases": list(map(_encode_case, stage.cases))} for stage in examples.stages]
    return {**_fields(examples), "stages": stages}


def take(exercise: Exercise, seed: str, data: Any) -> None:
    """Has an exercise ask what `encode` gave, which then is not drawn.

    Raises:
        Exception: of any kind, when the data is something else.
    """
    if seed != EVERYBODY:
        pairs = zip(exercise.stages, data, strict=True)
        exercise.take_own(seed, [_decode_cases(exercise, stage.measure, cases) for stage, cases in pairs])
        return
    stages = tuple(
        StageCases(**{**stage, "cases": _decode_cases(exercise, stage["measure"], stage["cases"])})
        for stage in data["stages"]
    )
    exercise.take_everybodys(Examples(**{**data, "stages": stages, "forbids": tuple(data["forbids"])}))


def replies_of_mistakes(exercise: Exercise, seed: str) -> int:
    """Returns how many replies of known mistakes are known."""
    examples = [one.cases for one in exercise.everybodys().stages] if seed == EVERYBODY else exercise.own(seed)
    results = (case.mistakes for cases in examples for case in cases if isinstance(case.mistakes, Results))
    return sum(len(one.replies) for one in results)


def _fields(value: Examples | StageCases) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def _encode_case(case: Case) -> dict[str, Any]:
    raised = isinstance(case.wanted, Raised)
    data = {"raised": vars(case.wanted)} if raised else {"wanted": plain.encode(case.wanted)}
    if isinstance(case.mistakes, Results):  # a late reply says how busy this machine was
        replies = {name: reply for name, reply in case.mistakes.replies.items() if reply.outcome != "late"}
        data["mistakes"] = {name: _encode_reply(reply) for name, reply in replies.items()}
    return {"ask": case.ask.encode(), "hidden": case.hidden, "corner": case.corner, **data}


def _decode_cases(exercise: Exercise, measure: str, data: Sequence[Mapping[str, Any]]) -> tuple[Case, ...]:
    return tuple(_decode_case(exercise, measure, one) for one in data)


def _decode_case(exercise: Exercise, measure: str, data: Mapping[str, Any]) -> Case:
    ask = Question.decode(data["ask"])
    wanted = Raised(**data["raised"]) if "raised" in data else plain.decode(data["wanted"])
    mistakes: Mapping[str, Any] = {}
    if "mistakes" in data:
        replies = {name: _decode_reply(reply) for name, reply in data["mistakes"].items()}
        mistakes = Results(exercise, ask, measure, replies)
    return Case(ask, wanted, mistakes, hidden=data["hidden"], corner=data["corner"])


def _encode_reply(reply: Reply) -> dict[str, Any]:
    return {**vars(reply), "value": plain.encode(reply.value)}


def _decode_reply(data: Mapping[str, Any]) -> Reply:
    return Reply(**{**data, "value": plain.decode(data["value"]), "error_types": tuple(data["error_types"])})
