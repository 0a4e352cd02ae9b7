"""What is wrong with one reply, in one sentence."""

from __future__ import annotations

import re

from tutor.checking import plain, sentences
from tutor.checking.answers import Question, Reply
from tutor.checking.cases import Case, InputsChanged, Raised, StageCases
from tutor.checking.compare import difference, name_of
from tutor.checking.measures import INPUTS_KEPT, MEASURES, SAYS_WHY
from tutor.checking.seals import Sealed, sealed_problem


def is_right(stage: StageCases, case: Case, reply: Reply, salt: str) -> bool:
    """Says whether a reply, of which is measured what the stage measures, is as wanted."""
    return problem_of(stage, case, reply, salt) is None


def problem_of(stage: StageCases, case: Case, reply: Reply, salt: str) -> str | None:
    """Returns None when a reply is as wanted, else one sentence."""
    if isinstance(case.wanted, Raised):
        if case.wanted.error_type in reply.error_types:
            if stage.measure == INPUTS_KEPT and reply.changed_inputs:
                return change_in_words(reply)
            if stage.measure == SAYS_WHY and reply.error == reply.error_type:
                return sentences.SAYS_NOTHING.format(error=reply.error_type)
            missing = _missing_words(case.ask, reply.error) if stage.measure == SAYS_WHY else ""
            if not missing:
                return None
            return sentences.DOES_NOT_NAME.format(error=reply.error_type, missing=missing)
        returned = isinstance(reply.value, plain.Other) and reply.value.type_name == case.wanted.error_type
        got = reply.error or (sentences.RETURNED if returned else sentences.GOT.format(kind=name_of(reply.value)))
        return sentences.NOT_RAISED.format(error=case.wanted.error_type, got=got)
    if reply.outcome != "value":
        error = reply.error or sentences.NO_RESULT  # never empty: an empty problem must not pass for none
        crashed = sentences.STOPPED_WITH.format(error=error, place=reply.place)
        return crashed if reply.outcome == "crashed" else error
    if isinstance(case.wanted, Sealed):
        return sealed_problem(case.wanted.seal, reply.value, case.ask.at, salt)
    problem = difference(case.wanted, reply.value, stage.view, stage.tolerance, case.ask.at)
    if problem and stage.measure == INPUTS_KEPT and reply.value is not None:
        return change_in_words(reply)
    if problem and stage.measure and reply.value is not None:
        return type(problem)(sentences.MEASURED.format(what=MEASURES[stage.measure][0], problem=problem))
    return problem


def _missing_words(question: Question, error: str) -> str:
    """Returns the first of what a message shall name that it does not, "" when there is none.

    Each is a text, or a list of whole numbers, such as a shape, of which only the order counts: "(2, 3)" and "2 x 3".
    """
    for named in question.extra.get("named", ()):
        words = re.escape(named) if isinstance(named, str) else r"\D+".join(map(str, named))
        if not re.search(rf"(?<![\w.]){words}(?![\w.]*\w)", error):
            return named if isinstance(named, str) else sentences.THE_SHAPE.format(shape=tuple(named))
    return ""


def change_in_words(reply: Reply) -> InputsChanged:
    return InputsChanged(
        sentences.INPUT_CHANGED.format(change=reply.change) if reply.change else sentences.INPUTS_CHANGED
    )


def in_words(probe: str, problem: str | None) -> str | None:
    """Returns the problem of a question about gradients in words of learning."""
    for pattern, sentence in sentences.OF_A_PROBE.get(probe, ()):
        if problem and (found := re.search(pattern, problem)):
            return type(problem)(sentence.format_map(found.groupdict()))
    return problem
