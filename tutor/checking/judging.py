"""Judge an answer on examples, stage by stage: ask every question, count points, and charge one fault once.

What is wrong with a reply is in `problems`, which mistake it is in `recognising`, what is told of it in `explaining`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tutor.checking import sentences
from tutor.checking.answers import Answer, Question, Reply, timed
from tutor.checking.cases import Asked
from tutor.checking.cases import Case as Case
from tutor.checking.cases import Examples as Examples
from tutor.checking.cases import Raised as Raised
from tutor.checking.cases import StageCases as StageCases
from tutor.checking.cases import share as share
from tutor.checking.cases import words as words
from tutor.checking.compare import FORGOTTEN
from tutor.checking.explaining import explained, notes_on, raised_as_wanted
from tutor.checking.forwarding import REFUSED
from tutor.checking.measures import INPUTS_KEPT, measured
from tutor.checking.probes.several_notebooks import OTHERS, OWN_WEIGHTS
from tutor.checking.problems import change_in_words, in_words, problem_of
from tutor.checking.problems import is_right as is_right
from tutor.checking.recognising import trace_of as trace_of
from tutor.checking.seals import Sealed as Sealed
from tutor.checking.slips import RAISED_ABOVE
from tutor.checking.verdict import Verdict

SECONDS = 5.0  # for one check, however many questions it asks; right answers take a tenth on a slow laptop
IN_PLACE = re.compile(r"in-?place operation")  # in what autograd says of a tensor that it needs and that is overwritten


def judge(examples: Examples, answer: Answer, seconds: float = SECONDS, *, hidden: bool = False) -> Verdict:
    """Returns the verdict on an answer, asked every case of every stage within `seconds` in all.

    What every answer keeps is asked of an answer that is right in all else.

    Args:
        hidden: the questions are those of grading, which stay secret: the verdict is `graded`, and shows nothing of the
            inputs and the wanted values.
    """
    end = answer.spent() + seconds
    if used := _forbidden_parts(examples, answer, seconds):
        return _no_answer(examples, used, hidden=hidden)
    main = [stage for stage in examples.stages if not stage.cost]
    asked = _with_inputs_apart(examples, answer, _ask(examples, main, answer, seconds), end)
    failures = _failures(asked)
    if all(failure is None for _, failure in failures):
        kept = _ask(examples, [stage for stage in examples.stages if stage.cost], answer, end - answer.spent())
        changed = _changed(examples, [*asked, *kept])
        kept = _with_inputs_apart(examples, answer, kept, end, [*asked, *kept])
        failures += [*changed, *_failures(_without_consequences(kept, changed))]
        asked = [*asked, *kept] if any(map(_forwards, kept)) else asked
    if used := _in_code(examples, [part for one in asked if _forwards(one) for part in _named_in(one.reply.error)]):
        return _no_answer(examples, used, hidden=hidden)
    verdict = Verdict(
        examples.name,
        "right",
        _earned(examples, failures),
        examples.points,
        _stages(failures),
        notes=(
            *notes_on([one.reply for one in asked if not one.case.hidden], named=not hidden),
            *_on_points(examples, failures),
        ),
        graded=hidden,
    )
    failed = [failure for _, failure in failures if failure is not None]
    if not failed:
        return verdict
    if asked[0].reply.outcome == "not attempted" and asked[0].reply.error != RAISED_ABOVE:
        return replace(verdict, outcome="not attempted", earned=0.0, sentence=asked[0].reply.error)
    return explained(verdict, examples, asked, failed)


def _forbidden_parts(examples: Examples, answer: Answer, seconds: float) -> str:
    """Returns the names of the parts that an answer uses and may not, "" where there are none."""
    if not examples.forbids:
        return ""
    used = answer.ask(Question(examples.forbids, probe="parts used"), seconds).value
    return _in_code(examples, used if isinstance(used, list) else [])


def _in_code(examples: Examples, used: Sequence[Any]) -> str:
    return ", ".join(f"`{part}`" for part in examples.forbids if part in used)


def _forwards(one: Asked) -> bool:
    """Says whether an answer has called a ready-made part while it was asked."""
    return one.reply.error_type == REFUSED


def _named_in(error: str) -> list[str]:
    return error.removeprefix(f"{REFUSED}: ").split(", ")


def _no_answer(examples: Examples, used: str, *, hidden: bool) -> Verdict:
    stages = tuple((stage.name, False) for stage in examples.stages if not stage.cost)
    sentence = sentences.NO_ANSWER.format(parts=used)
    return Verdict(
        examples.name, "wrong", 0.0, examples.points, stages, sentence, mistake=sentences.OWN_PART, graded=hidden
    )


Failures = list[tuple[StageCases, Asked | None]]  # each stage with its first question that is not answered as wanted


def _fails_at_corners(stage: StageCases, failure: Asked | None) -> bool:
    """Says whether a stage that decides is passed but for its corners, which come last."""
    return stage.decisive and failure is not None and failure.case.corner


def _sorted(failures: Failures) -> tuple[list[StageCases], list[StageCases], list[StageCases]]:
    """Returns the stages that are passed, those of them that fail at corners, and those that are not passed."""
    at_corners = [stage for stage, failure in failures if _fails_at_corners(stage, failure)]
    passed = [stage for stage, failure in failures if failure is None or _fails_at_corners(stage, failure)]
    failed = [stage for stage, failure in failures if failure is not None and not _fails_at_corners(stage, failure)]
    return passed, at_corners, failed


def _earned(examples: Examples, failures: Failures) -> float:
    """Returns the points: those of the passed stages, less what every answer keeps and this one does not.

    A corner never costs the stage that the exercise is there for, but a share.
    """
    passed, at_corners, failed = _sorted(failures)
    alone = _does_what_is_asked(examples, passed)
    earned = sum(stage.points for stage in passed if alone or not stage.weak)
    if any(stage.decisive for stage in failed):
        earned = min(earned, examples.points / 2)
    lost = sum(_of_corners(examples, stage) for stage in at_corners if alone or not stage.weak)
    return max(0.0, round(earned - lost - sum(stage.cost for stage in failed), 4))


def _of_corners(examples: Examples, stage: StageCases) -> float:
    return min(share(examples.points), stage.points)


def _on_points(examples: Examples, failures: Failures) -> tuple[str, ...]:
    """Returns what to say where a passed stage earns nothing: which one must be passed beside it; and of corners."""
    passed, at_corners, failed = _sorted(failures)
    if not _does_what_is_asked(examples, passed) and any(stage.weak and stage.points for stage in passed):
        strong = [stage for stage in failed if stage.decisive and not stage.weak]
        missing = strong or [one for one in failed if one.decisive] or [one for one in failed if not one.weak]
        return (sentences.ONLY_BESIDE.format(stages=sentences.OR.join(f"'{stage.name}'" for stage in missing)),)
    return tuple(
        sentences.AT_CORNERS.format(stage=stage.name, points=_of_corners(examples, stage)) for stage in at_corners
    )


def _does_what_is_asked(examples: Examples, passed: Sequence[StageCases]) -> bool:
    """Says whether the passed stages show that an answer does what the exercise asks, so that weak ones earn, too.

    One does that decides and is not weak; in an exercise without such a one, all that decide together, and one that is
    not weak, if there is any.
    """
    names = {stage.name for stage in passed}
    deciding = {stage.name for stage in examples.stages if stage.decisive}
    strong = {stage.name for stage in examples.stages if not (stage.weak or stage.cost)}
    if deciding & strong:
        return bool(deciding & strong & names)
    return deciding <= names and (not strong or bool(strong & names))


def _stages(failures: Failures) -> tuple[tuple[str, bool | None], ...]:
    """Returns names of stages and whether they are passed, None where the first failure stands in the way.

    Of what every answer keeps there is only what fails by itself.
    """
    first = next((failure for _, failure in failures if failure is not None), None)
    main = [
        (stage.name, None if first and failure and _stops_alike(first, failure) else failure is None)
        for stage, failure in failures
        if not stage.cost
    ]
    kept = [(stage.name, failure is None) for stage, failure in failures if stage.cost]
    return (
        *main,
        *([(sentences.KEEPS, True)] if kept and all(passed for _, passed in kept) else []),
        *(k for k in kept if not k[1]),
    )


def _stops_alike(first: Asked, later: Asked) -> bool:
    """Says whether a later question has ended as the first failure did: its stage has not been reached."""
    alike = (first.reply.outcome, first.reply.error_type) == (later.reply.outcome, later.reply.error_type)
    return later is not first and alike and later.reply.outcome != "value" and not raised_as_wanted(later)


def _ask(examples: Examples, stages: Sequence[StageCases], answer: Answer, seconds: float) -> list[Asked]:
    """Returns every question of these stages with its reply, stage by stage; what lies beside one is not sent.

    The same question in two stages, which look at different things, is asked once.
    """
    pairs = [(stage, case) for stage in stages for case in stage.cases]
    questions, different = _watched(examples, stages), dict[str, Question]()
    for question in questions:
        different.setdefault(question.text, question)
    replies = dict(zip(different, timed(answer, list(different.values()), seconds, examples.order), strict=True))
    asked = []
    for (stage, case), question in zip(pairs, questions, strict=True):
        reply = measured(stage.measure, case.ask, replies[question.text])
        problem = in_words(case.ask.probe, problem_of(stage, case, reply, examples.salt))
        if problem == FORGOTTEN and any(one.wanted is None for every in examples.stages for one in every.cases):
            problem = sentences.RETURNS_NONE
        asked.append(Asked(stage, case, reply, problem))
    return asked


def _watched(examples: Examples, stages: Sequence[StageCases]) -> list[Question]:
    """Returns the questions as they are sent: in some the answer may call no part that is forbidden.

    To watch its calls takes as long as they do. Of each stage it is the first question, the first hidden one, and the
    last that everybody is asked and that is no corner.
    """
    sent = list[Question]()
    for stage in stages:
        hidden = next((number for number, case in enumerate(stage.cases) if case.hidden), 0)
        last = max((n for n, case in enumerate(stage.cases) if not (case.hidden or case.corner)), default=0)
        watched = {0, hidden, last} if examples.forbids else set[int]()
        sent += [
            replace(case.sent, forbids=examples.forbids) if number in watched else case.sent
            for number, case in enumerate(stage.cases)
        ]
    return sent


def _failures(asked: Sequence[Asked]) -> Failures:
    """Returns for each stage the first question that is not answered as wanted, None where all are."""
    by_stage: dict[int, list[Asked]] = {}
    for one in asked:
        by_stage.setdefault(id(one.stage), []).append(one)
    return [(mine[0].stage, next((one for one in mine if one.problem is not None), None)) for mine in by_stage.values()]


def _changed(examples: Examples, asked: Sequence[Asked]) -> Failures:
    """Returns whether an answer leaves what it is given as it is, as a stage and its first question."""
    if not examples.kept:
        return []
    stage = StageCases(sentences.INPUTS_STAY, "", 0, "values", 0, (), cost=examples.kept)
    changes = [one for one in asked if _changes_inputs(one)]
    changed = min(changes, key=lambda one: _is_by_the_way(one.reply), default=None)  # the first of those that show most
    return [(stage, changed and replace(changed, stage=stage, problem=change_in_words(changed.reply)))]


def _is_by_the_way(reply: Reply) -> bool:
    """Says whether inputs only ask for a gradient now: `x += ...` does that, too, even where it adds nothing."""
    return "numbers" not in reply.changed_inputs and "requires_grad" in reply.changed_inputs


def _changes_inputs(one: Asked) -> bool:
    return bool(one.reply.changed_inputs) and not _may_change(one.case)


# --- one fault, one price: what follows from another fault is neither charged nor shown -------------------------------


def _with_inputs_apart(
    examples: Examples, answer: Answer, asked: Sequence[Asked], end: float, of: Sequence[Asked] = ()
) -> list[Asked]:
    """Returns the questions; of an answer that changes its inputs, those that it fails as answered with copies of them.

    What is right then was wrong only because the inputs had changed. `of` are the questions that show whether they do;
    of a stage that fails all the same, no more is asked than it takes to see it.
    """
    own_stage = any(stage.measure == INPUTS_KEPT for stage in examples.stages)
    if not (examples.kept or own_stage) or not any(map(_changes_inputs, of or asked)):
        return list(asked)
    fails, found = set[int](), list[Asked]()
    for one in asked:
        of_inputs = one.stage.measure == INPUTS_KEPT or one.case.ask.probe == "mode"
        if one.problem is not None and not of_inputs and id(one.stage) not in fails:
            case = replace(one.case, ask=replace(one.case.ask, apart=True))
            (again,) = _ask(examples, [replace(one.stage, cases=(case,))], answer, end - answer.spent())
            if again.problem is None:
                one = replace(one, reply=again.reply, problem=None, apart=True)
            elif not IN_PLACE.search(again.reply.error):
                fails.add(id(one.stage))
        found.append(one)
    return found


def _without_consequences(kept: Sequence[Asked], changed: Failures) -> list[Asked]:
    """Returns what every answer keeps as asked, without problems that follow from an earlier one or from `changed`.

    A mode or a setting left changed is reported once, and so is an input that is overwritten, which autograd refuses.
    Where no gradient arrives, none does for a long input either, nor after an evaluation; and what is made of plain
    numbers has neither gradients nor type nor device; a method that is not there makes nothing. What a function, of
    which there is only one, has kept of an earlier call it gives in other questions; a module that changes its own
    weights stops gradients.
    """
    wrong = [one for one in kept if one.problem is not None]
    no_gradients = next((one.stage for one in wrong if one.case.ask.probe == "gradients"), None)
    made_anew = any(one.case.ask.probe in ("gradients", "in double", "methods") for one in wrong)
    again = [one for one in wrong if one.case.ask.probe in ("again", "changed model", "loader")]
    of_a_function = all(one.case.ask.build is None for one in kept)
    changes_itself = any(
        isinstance(one.reply.value, dict) and one.reply.value.get(OWN_WEIGHTS) == OTHERS for one in again
    )
    mode = any(failure is not None and "mode" in failure.reply.changed_inputs for _, failure in changed)
    of_parts = any(
        failure is not None and any(kind in failure.reply.changed_inputs for kind in ("settings", "requires_grad"))
        for _, failure in changed
    )
    overwrites = any(failure is not None for _, failure in changed)

    def is_consequence(one: Asked) -> bool:
        probe = one.case.ask.probe
        if overwrites and IN_PLACE.search(one.reply.error):
            return True
        if probe == "gradients again":
            return no_gradients is not None
        if probe == "mode":
            return mode
        if probe == "left":
            return of_parts
        if probe == "device":
            return made_anew or changes_itself or (of_a_function and bool(again))
        if of_a_function and again and probe not in ("again", "changed model", "loader", "random numbers"):
            return True
        return probe == "gradients" and (changes_itself or one.stage is not no_gradients)

    return [replace(one, problem=None) if one.problem is not None and is_consequence(one) else one for one in kept]


def _may_change(case: Case) -> bool:
    """Says whether the reference itself leaves the inputs of a question changed, as it does where it is interrupted."""
    return isinstance(case.wanted, Raised) and bool(case.wanted.changed)
