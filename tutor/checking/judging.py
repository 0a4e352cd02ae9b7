"""Judge an answer on examples, stage by stage: ask every question, find what is wrong, explain it."""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from tutor.checking import plain
from tutor.checking.answers import UNREADABLE, Answer, Question, Reply, timed
from tutor.checking.calls import as_code, in_one_line
from tutor.checking.compare import (
    FORGOTTEN,
    ONE_TENSOR,
    VIEWS,
    QuotesValues,
    difference,
    name_of,
    relation,
)
from tutor.checking.fingerprints import trace
from tutor.checking.forwarding import REFUSED
from tutor.checking.measures import INPUTS_KEPT, MEASURES, SAYS_WHY, measured
from tutor.checking.model_probes import CHANGES
from tutor.checking.probes import OTHERS, OWN_WEIGHTS, SAME_OBJECT
from tutor.checking.seals import Sealed as Sealed
from tutor.checking.seals import sealed_problem
from tutor.checking.slips import NO_GPU, RAISED_ABOVE, WANTS_GPU, WITHOUT_GPU
from tutor.checking.verdict import Verdict

SECONDS = 5.0  # for one check, however many questions it asks; right answers take a tenth on a slow laptop
INPUTS_CHANGED = "what the function was given is no longer as it was; the caller still needs it"
INPUTS_STAY = "what it is given stays as it is"
SAYS_NOTHING = "the {0} says nothing; whoever meets it wants to read what was found and what was expected"
TOO_LITTLE = "the message of the {0} does not name all that it shall"
LEAVE_IT = {  # the kind of a change -> how to do without
    "numbers": "Work on a copy: `x = x + 1` in place of `x += 1`, `masked_fill` in place of `masked_fill_`, and "
    "`x = x.clone()` before `x[...] = ...`.",
    "weights": "Work on a copy of the model: `copy.deepcopy(model)`.",
    "mode": "Put the mode back: `was = model.training` at the beginning, and `model.train(was)` at the end, which "
    "reaches the parts of the model too.",
    "requires_grad": "`requires_grad_` acts on what the caller holds. Work on a copy, `x.detach().clone()` or "
    "`copy.deepcopy(model)`, or put it back at the end.",
    "gradients": "`backward()` adds to the gradients of all that trains, and the caller's next step follows the sum: "
    "`torch.autograd.grad(output, inputs)` gives those of `inputs` and leaves the others alone.",
    "settings": "Work on a copy of the model, `copy.deepcopy(model)`, or put the number back at the end.",
    "hooks": "Take each hook away again: `handle = part.register_forward_hook(...)`, and `handle.remove()` at the end.",
    "entries": "Work on a copy: `dict(entries)` of a dictionary, `list(words)` of a list, `copy.deepcopy` of one that "
    "holds others. `append`, `update`, `pop`, `sort` and `+=` change the caller's own.",
    "kind": "Work on a copy.",
}
STOPPED = "it was stopped; is there a loop that never ends?"  # all that a mark reveals of a late reply
OWN_PART = "a ready-made part in place of an answer"
NO_ANSWER = (
    "it uses {}, which is what this exercise asks for: that is no answer, and earns nothing (see notebook 00). Write "
    "it yourself; what else PyTorch has may be used"
)
ONLY_BESIDE = "what is passed so far earns its points together with {}."
AT_CORNERS = (
    "'{0}' fails only at the edges of what is asked for, such as the smallest input or a very long one. That costs "
    "{1:g} of the points, and not the whole stage."
)
SAID_OF = {  # what is taken of a call -> what is found in the sentence on its entries, and what replaces it
    **dict.fromkeys(
        ("learns", "learning"),
        (
            (
                r"the entry '(.+) \(asks for a gradient and gets none\)' is not expected",
                "{0} gets no gradient, and still asks for one: it is cut off, and not frozen",
            ),
            (r"the entry '(.+)' is missing", "{0} does not learn"),
            (r"the entry '(.+)' is not expected", "{0} still learns"),
        ),
    ),
    "gradients": ((r"the entry '(.+)' is missing", "{0} does not arrive"),),
    "device": ((r"expected '.+', got '(.+)'$", "{0}"),),
    "again": ((r"at entry 'what is handed out': expected '.+', got '(.+)'$", "what comes back is {0}"),),
    "gradients again": ((r"the entry '(.+)' is missing", "{0} does not arrive after a call without gradients"),),
    "shared": (
        (
            r"the entry '(.+)' is not expected(?: \((\d+) are not\))?",
            "{0} is not a copy: it lies in the memory of what was given, or of what another call returns",
        ),
    ),
}
NO_GRADIENT = "Training goes through here. `.detach()`, `.data`, `.item()`, `torch.no_grad()` and numpy stop gradients."
NO_NAME = "A name is used that is bound nowhere: misspelt, not imported, or made in a cell that has not run."
TRY_IT = "What the question gives may have other parts, and take other arguments, than you expect: try the line on {0}."
IN_PLACE = re.compile(r"in-?place operation")  # in what autograd says of a tensor that it needs and that is overwritten
KEPT_WHAT = {  # what is found in a sentence on the take "again" -> where to look
    SAME_OBJECT: "It hands out a list, a dictionary or a tensor that it keeps: whoever changes that changes what "
    "the next one gets. Make a new one in each call.",
    OWN_WEIGHTS: "A call changes the module's own weights. Work on a copy of them.",
    "a deep copy": "A deep copy of the module still uses what belongs to the first one: a function, a layer or a "
    "tensor that is bound to it. Take everything from `self` in each call.",
    "with other weights": "It keeps what it has made of its weights, and a step of training changes these. Make it "
    "anew in each call.",
    "does not arrive": "It keeps what a call without gradients has made, and no gradient passes through that. Make it "
    "anew in each call.",
    "with other numbers": "It finds a result that it has kept although the numbers are others: by the identity or the "
    "shape of what it is given. Work it out anew in each call.",
}
OTHER_KIND: dict[type[Any], str] = {  # the kind that is wanted -> how to make it of another one
    set: "`set(...)` makes a set of the numbers of a range, a list or a tuple.",
    list: "`list(...)` makes a list of a tuple, a set or a range, `.tolist()` of a tensor.",
    tuple: "`tuple(...)` makes a tuple of a list or a range; `return first, second` returns one.",
}
ONE_OBJECT = (
    "Two parts of the module are one and the same object. Make each of them anew, in a list, too: `[Layer(...)] * n` "
    "holds one layer n times, `[Layer(...) for _ in range(n)]` holds n."
)
OTHER_SHAPE = (
    "The numbers are right, and so is their order: only the shape is not. Look at what adds an axis or takes one away, "
    "such as an index, `squeeze`, `view` or `reshape`, also where a size is 1."
)
NOT_FINITE = (
    "A NaN comes of 0 * inf, inf - inf or 0 / 0, an infinity of the exponential of a large number, of the logarithm of "
    "0 or of a division by 0."
)
ENOUGH = 12  # bits: two floating point numbers, or four small whole ones, agree with a mistake by no coincidence
KEEPS = "what every answer keeps (see notebook 00)"


@dataclass(frozen=True)
class Raised:
    """The wanted outcome is an exception of this class; `changed` says what of the inputs is then not as it was.

    `said` is what `words` leaves of its message: of two mistakes that end in the same class, it shows which.
    """

    error_type: str
    changed: str = ""
    said: str = ""


def words(reply: Reply) -> str:
    """Returns the words of a message that PyTorch or Python wrote; others are in the student's own words."""
    if reply.error_type not in ("RuntimeError", "IndexError"):
        return ""
    return " ".join(re.findall(r"[A-Za-z]+", reply.error.removeprefix(reply.error_type)))[:60]


@dataclass(frozen=True)
class Case:
    """One question, the wanted result, and what each known mistake makes of it (None where it gives no value).

    Of a further question of a check, `traces` holds for the mistakes that are wrong there only the class of the
    exception or the trace of the value; None where nothing is known of mistakes.

    A `hidden` one is asked in grading only, and nothing is revealed from which its inputs could be read. A `corner` is
    at the edge of what the exercise promises; those of a stage come last.
    """

    ask: Question
    wanted: Any
    mistakes: Mapping[str, Any] = field(default_factory=dict)
    hidden: bool = False
    traces: Mapping[str, str | float] | None = None
    corner: bool = False

    @property
    def is_open(self) -> bool:
        """Whether anything is known of what mistakes make of it."""
        return bool(self.mistakes) or self.traces is not None

    @cached_property
    def sent(self) -> Question:
        """The question as it is sent: without what lies beside it."""
        return replace(self.ask, extra={}) if self.ask.extra else self.ask


@dataclass(frozen=True)
class StageCases:
    """A stage of a check: its name, where to look when it fails, its points, and its cases.

    With a `cost` it asks what every answer keeps: it earns nothing, and takes so many points off where it fails. Where
    a `decisive` one fails, the exercise earns at most half of its points; where it fails at nothing but corners, the
    `share` of its points is lost. A `weak` one is passed without the result that is wanted, by a known one or by what
    the answer's process says of itself: it earns only beside others.
    """

    name: str
    look: str
    points: float
    view: str
    tolerance: float
    cases: tuple[Case, ...]
    measure: str = ""
    cost: float = 0.0
    decisive: bool = False
    weak: bool = False


@dataclass(frozen=True)
class Examples:
    """All that is needed to judge an answer to one exercise; `kept` is what a change of its inputs costs.

    `order` is the seed of the order in which the questions are asked; without it they are asked stage by stage. An
    answer that uses one of the parts `forbids` is none: these are what the exercise asks for.
    """

    name: str
    signature: str
    stages: tuple[StageCases, ...]
    hints: Mapping[str, str]
    salt: str = ""
    kept: float = 0.0
    order: str = ""
    forbids: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """The full mark."""
        return sum(stage.points for stage in self.stages)


class InputsChanged(QuotesValues):
    """A sentence on an input that is no longer as it was; it quotes what it was."""


@dataclass(frozen=True)
class Asked:
    """A question that was put: the reply, and in one sentence what is wrong with it (None: nothing is)."""

    stage: StageCases
    case: Case
    reply: Reply
    problem: str | None
    apart: bool = False  # it was asked with copies of its inputs, since the answer changes them


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
            *_notes([one.reply for one in asked if not one.case.hidden], named=not hidden),
            *_on_points(examples, failures),
        ),
        graded=hidden,
    )
    failed = [failure for _, failure in failures if failure is not None]
    if not failed:
        return verdict
    if asked[0].reply.outcome == "not attempted" and asked[0].reply.error != RAISED_ABOVE:
        return replace(verdict, outcome="not attempted", earned=0.0, sentence=asked[0].reply.error)
    return _explained(verdict, examples, asked, failed)


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
    sentence = NO_ANSWER.format(used)
    return Verdict(examples.name, "wrong", 0.0, examples.points, stages, sentence, mistake=OWN_PART, graded=hidden)


Failures = list[tuple[StageCases, Asked | None]]  # each stage with its first question that is not answered as wanted


def share(points: float) -> float:
    """Returns what it costs not to keep one thing, or to fail a stage that decides at its corners alone: a tenth."""
    return round(points / 10, 2)


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
        return (ONLY_BESIDE.format(" or ".join(f"'{stage.name}'" for stage in missing)),)
    return tuple(AT_CORNERS.format(stage.name, _of_corners(examples, stage)) for stage in at_corners)


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
        *([(KEEPS, True)] if kept and all(passed for _, passed in kept) else []),
        *(k for k in kept if not k[1]),
    )


def _stops_alike(first: Asked, later: Asked) -> bool:
    """Says whether a later question has ended as the first failure did: its stage has not been reached."""
    alike = (first.reply.outcome, first.reply.error_type) == (later.reply.outcome, later.reply.error_type)
    return later is not first and alike and later.reply.outcome != "value" and not _raised_as_wanted(later)


def _ask(examples: Examples, stages: Sequence[StageCases], answer: Answer, seconds: float) -> list[Asked]:
    """Returns every question of these stages with its reply, stage by stage; what lies beside one is not sent."""
    pairs = [(stage, case) for stage in stages for case in stage.cases]
    replies = timed(answer, _watched(examples, stages), seconds, examples.order)
    asked = []
    for (stage, case), answered in zip(pairs, replies, strict=True):
        reply = measured(stage.measure, case.ask, answered)
        problem = _in_words(case.ask.probe, _problem(stage, case, reply, examples.salt))
        if problem == FORGOTTEN and any(one.wanted is None for every in examples.stages for one in every.cases):
            problem = "it returns None, and here there is something to return"
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


def _in_words(probe: str, problem: str | None) -> str | None:
    """Returns the problem of a question about gradients in words of learning."""
    for pattern, sentence in SAID_OF.get(probe, ()):
        if problem and (found := re.search(pattern, problem)):
            return type(problem)(sentence.format(*found.groups()))
    return problem


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
    stage = StageCases(INPUTS_STAY, "", 0, "values", 0, (), cost=examples.kept)
    changes = [one for one in asked if _changes_inputs(one)]
    changed = min(changes, key=lambda one: _is_by_the_way(one.reply), default=None)  # the first of those that show most
    return [(stage, changed and replace(changed, stage=stage, problem=_change_in_words(changed.reply)))]


def _is_by_the_way(reply: Reply) -> bool:
    """Says whether inputs only ask for a gradient now: `x += ...` does that, too, even where it adds nothing."""
    return "numbers" not in reply.changed_inputs and "requires_grad" in reply.changed_inputs


def _changes_inputs(one: Asked) -> bool:
    return bool(one.reply.changed_inputs) and not _may_change(one.case)


def _change_in_words(reply: Reply) -> InputsChanged:
    return InputsChanged(f"{reply.change}; the caller still needs it as it came" if reply.change else INPUTS_CHANGED)


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
    numbers has neither gradients nor type nor device. What a function, of which there is only one, has kept of an
    earlier call it gives in other questions; a module that changes its own weights stops gradients.
    """
    wrong = [one for one in kept if one.problem is not None]
    no_gradients = next((one.stage for one in wrong if one.case.ask.probe == "gradients"), None)
    made_anew = any(one.case.ask.probe in ("gradients", "in double") for one in wrong)
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


def _explained(verdict: Verdict, examples: Examples, asked: Sequence[Asked], failed: Sequence[Asked]) -> Verdict:
    """Returns the verdict with what is reported of the first failure: a sentence, the known mistake, where to look.

    What would show the inputs or the wanted values is shown only while the verdict is not graded.
    """
    first = failed[0]
    mistake = _recognised(examples, asked, asked) or _recognised(
        examples, [one for one in asked if one.stage is first.stage], asked
    )
    stopped = first.reply.outcome in ("crashed", "late") and not _raised_as_wanted(first)
    if stopped and WANTS_GPU.search(first.reply.error):
        mistake = NO_GPU
    verdict = replace(
        verdict,
        outcome=first.reply.outcome if stopped else "wrong",
        look=_where_to_look(first, graded=verdict.graded),
        mistake=mistake,
        hint=WITHOUT_GPU if mistake == NO_GPU else examples.hints.get(mistake, ""),
        error_type=_builtin_error(first.reply) if verdict.graded else first.reply.error_type,
    )
    if verdict.graded:
        needless = mistake and isinstance(first.problem, QuotesValues)  # a named mistake says more
        return replace(verdict, sentence="" if needless else _without_values(examples, first))
    drawn = next((one for one in failed if _shows_much(one.case)), first)
    return replace(
        verdict,
        call=as_code(
            examples.name, first.case.ask, at=first.case.wanted is not None and _has_letters(first.reply.value)
        ),
        question=first.case.ask,
        sentence=". ".join(filter(None, (first.problem, _in_one_way(first, asked)))),
        others=_other_places(failed, verdict.look),
        pictures=() if isinstance(first.problem, InputsChanged) else _pictures(examples, drawn.case, drawn.reply),
        picture_call=in_one_line(examples.name, drawn.case.ask) if drawn is not first else "",
    )


def _in_one_way(first: Asked, asked: Sequence[Asked]) -> str:
    """Returns how all numbers differ that a stage has found wrong, "" where they do not in one way."""
    wrong = [one for one in asked if one.stage is first.stage and one.problem is not None]
    if not wrong or first.stage.view != "values" or any(one.reply.outcome != "value" for one in wrong):
        return ""
    return relation([one.case.wanted for one in wrong], [one.reply.value for one in wrong])


def _other_places(failed: Sequence[Asked], shown: str) -> tuple[tuple[str, str], ...]:
    """Returns the names of the other failed stages, and where to look for what each of them asks."""
    found = dict[str, str]()  # by what it says, which two stages may share
    for one in failed[1:]:
        if one.stage.look not in ("", shown) and one.reply.outcome == "value":
            found.setdefault(one.stage.look, one.stage.name)
    return tuple((name, look) for look, name in found.items())


def _raised_as_wanted(asked: Asked) -> bool:
    """Says whether the exception that is wanted was raised: what is wrong then is its message, or what it has left."""
    return isinstance(asked.case.wanted, Raised) and asked.case.wanted.error_type in asked.reply.error_types


def _where_to_look(first: Asked, *, graded: bool) -> str:
    """Returns the sentence of the stage, or, where it cannot speak of what is wrong, that for this kind."""
    if not isinstance(first.problem, InputsChanged):
        if first.problem == RAISED_ABOVE:
            return ""
        return _look_at_kind(first) or f"{first.stage.look}{'' if graded else _try_it(first)}"
    kind = next((kind for kind in LEAVE_IT if kind in first.reply.changed_inputs), "kind")
    of_a_model = kind in ("mode", "settings", "hooks", "requires_grad", "gradients")
    return first.stage.look if first.stage.look and not of_a_model else LEAVE_IT[kind]


def _look_at_kind(first: Asked) -> str:
    """Returns where to look for what no stage is about: a name that is not there, another kind, a missing gradient."""
    reply, wanted, ask = first.reply, first.case.wanted, first.case.ask
    if (first.problem or "").endswith(ONE_TENSOR):
        return ONE_OBJECT
    if reply.outcome == "crashed" and "NameError" in reply.error_types:
        return NO_NAME
    if ask.probe == "gradients" and (first.problem or "").endswith("does not arrive"):
        return NO_GRADIENT
    if ask.probe in ("again", "gradients again") and reply.outcome == "value":
        return next((look for found, look in KEPT_WHAT.items() if found in (first.problem or "")), "")
    if ask.probe != "result" or first.stage.measure or reply.outcome != "value" or reply.value is None:
        return ""
    if _is_another_shape(first.stage, wanted, reply.value):
        return OTHER_SHAPE
    if not _is_finite(reply.value) and _is_finite(wanted):
        return f"{first.stage.look} {NOT_FINITE}"
    is_kind = isinstance(reply.value, tuple | list if isinstance(wanted, tuple | list) else tuple | list | set)
    return "" if is_kind else OTHER_KIND.get(type(wanted), "")


def _is_finite(value: Any) -> bool:
    """Says whether a number, or all numbers of a tensor, are finite; of all else nothing is known."""
    if isinstance(value, Tensor):
        return bool(value.isfinite().all())
    return not isinstance(value, float) or math.isfinite(value)


def _is_another_shape(stage: StageCases, wanted: Any, got: Any) -> bool:
    """Says whether a result has the wanted numbers in their order, and another shape."""
    if not (isinstance(wanted, Tensor) and isinstance(got, Tensor) and stage.view == "values"):
        return False
    same_size = wanted.shape != got.shape and wanted.numel() == got.numel() > 0
    return same_size and difference(wanted, got.reshape(wanted.shape), tolerance=stage.tolerance) is None


def _try_it(first: Asked) -> str:
    """Returns how to look at a model of a question at whose parts, or at a call of which, an answer has stopped."""
    ask, stopped = first.case.ask, {"AttributeError", "TypeError"} & set(first.reply.error_types)
    place = next((n for n, value in enumerate(ask.inputs, 1) if isinstance(value, plain.Model)), 0)
    return f" {TRY_IT.format(f'`check.given({place})`')}" if stopped and place else ""


def is_right(stage: StageCases, case: Case, reply: Reply, salt: str) -> bool:
    """Says whether a reply, of which is measured what the stage measures, is as wanted."""
    return _problem(stage, case, reply, salt) is None


def _problem(stage: StageCases, case: Case, reply: Reply, salt: str) -> str | None:
    """Returns None when a reply is as wanted, else one sentence."""
    if isinstance(case.wanted, Raised):
        if case.wanted.error_type in reply.error_types:
            if stage.measure == INPUTS_KEPT and reply.changed_inputs:
                return _change_in_words(reply)
            if stage.measure == SAYS_WHY and reply.error == reply.error_type:
                return SAYS_NOTHING.format(reply.error_type)
            missing = _missing_words(case.ask, reply.error) if stage.measure == SAYS_WHY else ""
            return f"the message of the {reply.error_type} does not name {missing}" if missing else None
        returned = isinstance(reply.value, plain.Other) and reply.value.type_name == case.wanted.error_type
        got = reply.error or ("it was returned, not raised" if returned else f"got {name_of(reply.value)}")
        return f"expected a {case.wanted.error_type} with a clear sentence; {got}"
    if reply.outcome != "value":
        error = reply.error or "no result came back"  # never empty: an empty problem must not pass for none
        return f"it stopped with {error}{reply.place}" if reply.outcome == "crashed" else error
    if isinstance(case.wanted, Sealed):
        return sealed_problem(case.wanted.seal, reply.value, case.ask.at, salt)
    problem = difference(case.wanted, reply.value, stage.view, stage.tolerance, case.ask.at)
    if problem and stage.measure == INPUTS_KEPT and reply.value is not None:
        return _change_in_words(reply)
    if problem and stage.measure and reply.value is not None:
        return type(problem)(f"{MEASURES[stage.measure][0]}: {problem}")
    return problem


def _missing_words(question: Question, error: str) -> str:
    """Returns the first of what a message shall name that it does not, "" when there is none.

    Each is a text, or a list of whole numbers, such as a shape, of which only the order counts: "(2, 3)" and "2 x 3".
    """
    for named in question.extra.get("named", ()):
        words = re.escape(named) if isinstance(named, str) else r"\D+".join(map(str, named))
        if not re.search(rf"(?<![\w.]){words}(?![\w.]*\w)", error):
            return named if isinstance(named, str) else f"the shape {tuple(named)}"
    return ""


def _notes(replies: Sequence[Reply], *, named: bool) -> tuple[str, ...]:
    """Returns what to say beside the result: that one was printed, that symbols are not those of the notebook.

    The symbols are `named` to a student alone: in a mark, an answer could say anything by their names.
    """
    notes = []
    if any(reply.printed and reply.outcome == "value" and reply.value is None for reply in replies):
        notes.append("the function prints its result; what counts is what it returns.")
    if bare := {name for reply in replies for name in _bare_symbols(reply.value)}:
        symbols = f"the symbols {', '.join(sorted(bare))}" if named else "some of its symbols"
        notes.append(
            f"{symbols} are made anew and without assumptions: to sympy they are others than those of the notebook, "
            "and a later `.subs` will not find them. Use the notebook's own."
        )
    return tuple(notes)


def _bare_symbols(value: Any) -> tuple[str, ...]:
    """Returns the symbols without assumptions in a formula, or in those of a dict or a sequence."""
    if isinstance(value, plain.Expression):
        return value.bare
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
    return tuple(name for part in parts for name in _bare_symbols(part))


def _without_values(examples: Examples, asked: Asked) -> str:
    """Returns the problem of a question without the inputs and the numbers that it may quote.

    Nothing is put in words or numbers that the answer has chosen, a class, a line of its code that stops there or a
    time: they could reveal what it was asked, also at a public question what it was asked before.
    """
    stage, reply = asked.stage, asked.reply
    if reply.outcome == "crashed" and not _raised_as_wanted(asked):  # an exception's message may quote the inputs
        return f"stage '{stage.name}': it stopped with {_builtin_error(reply)}"
    problem = asked.problem or ""
    if isinstance(asked.problem, InputsChanged):
        problem = f"{INPUTS_CHANGED}: {_changes_in_words(examples, asked)}"
    elif reply.outcome == "late":
        problem = STOPPED
    elif problem.startswith(UNREADABLE):
        problem = "the result cannot be read"
    elif _raised_as_wanted(asked):
        problem = TOO_LITTLE.format(_builtin_error(reply))
    elif isinstance(asked.problem, QuotesValues) or _may_leak(reply, problem):
        problem = "the result is not the wanted one"
    return f"stage '{stage.name}' ({VIEWS[stage.view]}): {problem}"


def _changes_in_words(examples: Examples, asked: Asked) -> str:
    """Returns which inputs are changed, by the names of the exercise, and what of them; no word is the answer's own."""
    names = examples.signature.partition("(")[2].rstrip(")").split(", ") if asked.case.ask.build is None else []
    found = []
    for number, kinds in re.findall(r"input (\d+): ([^;]+)", asked.reply.changed_inputs):
        name = f"`{names[int(number) - 1]}`" if int(number) <= len(names) else f"input {number}"
        found.append(f"{', '.join(CHANGES[kind] for kind in kinds.split(' and '))} of {name}")
    return "; ".join(found)


def _builtin_error(reply: Reply) -> str:
    """Returns the first of an exception's classes that Python itself has; the student's own have any name."""
    if not reply.error_types:
        return ""
    return next((name for name in reply.error_types if _is_builtin_error(name)), "an error")


def _is_builtin_error(name: str) -> bool:
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, BaseException)


def _may_leak(reply: Reply, problem: str) -> bool:
    """Says whether a sentence on a result may reveal sizes, names or values of the question."""
    own_words = isinstance(reply.value, plain.Other)
    return reply.outcome in ("value", "unreadable") and (own_words or bool(re.search(r"[\d'\"]", problem)))


def _recognised(examples: Examples, among: Sequence[Asked], asked: Sequence[Asked]) -> str:
    """Returns the first known mistake whose results are the answer's in all of `among`, and wrong in one; else "".

    An answer that is right, anywhere in `asked`, where a mistake is wrong did not make this mistake. Nor did, where
    `among` is only a part of it and shows little, one that is wrong where the mistake is right.
    """

    def made(name: str, one: Asked) -> bool:
        mistakes = one.case.mistakes
        if one.case.traces is not None:
            if name in one.case.traces:
                return _has_trace(one.reply, one.case.traces[name])
            return one.problem is None or one.stage.view != "values"  # what else is in such a result is not known
        return not mistakes or (name in mistakes and _same(one.case, mistakes[name], one.reply, examples.salt))

    def harmless(name: str, one: Asked) -> bool:
        mistakes = one.case.mistakes
        if one.case.traces is not None:
            return name not in one.case.traces
        return not mistakes or (name in mistakes and _passes(one.stage, one.case, mistakes[name], examples.salt))

    def explains(name: str) -> bool:
        """Says whether a mistake is wrong wherever the answer is, or agrees in so much that it is no coincidence."""
        strays = any(one.problem is not None and harmless(name, one) for one in asked if one.case.is_open)
        return not strays or _evidence_for(name, known) >= ENOUGH

    known = [one for one in among if not one.apart]  # with copies of the inputs no mistake was asked
    right = [one for one in asked if one.problem is None and not one.apart]
    if not any(one.problem is not None and one.case.is_open for one in known):
        return ""
    for name in examples.hints:
        agrees = all(made(name, one) for one in known) and all(harmless(name, one) for one in right)
        if agrees and (len(among) == len(asked) or explains(name)):
            return name
    return ""


def _evidence_for(name: str, among: Sequence[Asked]) -> float:
    """Returns about how many bits of these results are a known mistake's alone; a trace shows as much as a result."""
    seen = [one for one in among if name in one.case.mistakes]
    traced = sum(name in (one.case.traces or ()) for one in among)
    made = [(one.case.wanted, one.case.mistakes[name]) for one in seen]
    truths = {value for wanted, value in made if isinstance(value, bool) and value != wanted}  # "yes" to all is none
    evidence = len(truths) + sum(_evidence(*pair) for pair in made if not isinstance(pair[1], bool))
    return evidence * (1 + traced / len(seen)) if seen else 0.0


def _evidence(wanted: Any, made: Any) -> int:
    """Returns about how many bits of what a mistake makes are not those of the wanted value: more is less by chance."""
    if isinstance(wanted, Tensor) and isinstance(made, Tensor) and wanted.shape == made.shape:
        numbers = int((~torch.isclose(wanted.double(), made.double(), 1e-4, 1e-4, equal_nan=True)).sum())
        return numbers * (1 if made.dtype == torch.bool else 6 if made.is_floating_point() else 3)
    if isinstance(wanted, dict) and isinstance(made, dict):
        other_names = 6 * len(wanted.keys() ^ made.keys())
        return other_names + sum(_evidence(wanted[key], made[key]) for key in wanted.keys() & made.keys())
    if isinstance(wanted, list | tuple) and isinstance(made, list | tuple) and len(wanted) == len(made):
        return sum(map(_evidence, wanted, made))
    if isinstance(made, Raised):
        return ENOUGH
    if difference(wanted, made) is None:
        return 0
    if isinstance(made, int) and isinstance(wanted, int) and abs(made - wanted) == 1:
        return 1  # many mistakes are one off
    return 1 if isinstance(made, bool) else 3 if isinstance(made, int | str) else 6


def trace_of(stage: StageCases, case: Case, expected: Any, salt: str) -> str | float | None:
    """Returns what a further question shows of a known mistake that gives `expected`; None where it is right there."""
    if _passes(stage, case, expected, salt):
        return None
    return expected.error_type if isinstance(expected, Raised) else float(f"{trace(expected)[0]:.7g}")


def _has_trace(reply: Reply, expected: str | float) -> bool:
    """Says whether a reply is, as far as can be known, what a known mistake gives."""
    if isinstance(expected, str) or reply.outcome != "value":
        return reply.outcome == "crashed" and expected in reply.error_types
    found, size = trace(reply.value)
    return math.isclose(found, expected, rel_tol=0, abs_tol=1e-4 * max(size, 1e-3))


def _passes(stage: StageCases, case: Case, expected: Any, salt: str) -> bool:
    """Says whether what a known mistake gives in a case is good enough for its stage."""
    if isinstance(expected, Sealed):
        return isinstance(case.wanted, Sealed) and case.wanted.seal == expected.seal
    reply = Reply("value", expected)
    if isinstance(expected, Raised):
        kind = expected.error_type
        named = [str(part).strip("()[]") for part in case.ask.extra.get("named", ())]  # as far as can be known
        message = f"{kind}: in its own words {' '.join(named)}"
        reply = Reply("crashed", None, message, (kind,), changed_inputs=expected.changed)
    return _problem(stage, case, reply, salt) is None


def _same(case: Case, expected: Any, reply: Reply, salt: str) -> bool:
    """Says whether a reply is what a known mistake gives, an exception included."""
    if isinstance(expected, Raised):
        alike = expected.changed == reply.changed_inputs and expected.said in ("", words(reply))
        return reply.outcome == "crashed" and expected.error_type in reply.error_types and alike
    if reply.outcome != "value" or reply.value is None:
        return reply.outcome == "value" and expected is None
    if isinstance(expected, Sealed):
        return sealed_problem(expected.seal, reply.value, case.ask.at, salt) is None
    if expected is None:
        return False
    return difference(expected, reply.value, "values", 1e-4, case.ask.at) is None


def _has_letters(value: Any) -> bool:
    """Says whether there is a formula in a result, in which numbers take the place of letters."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
    return isinstance(value, plain.Expression) or any(map(_has_letters, parts))


def _shows_much(case: Case) -> bool:
    """Says whether a picture of a case is worth more than its sentence."""
    return isinstance(case.wanted, Tensor) and case.wanted.numel() > 1


def _pictures(examples: Examples, case: Case, reply: Reply) -> tuple[tuple[str, Tensor], ...]:
    """Returns inputs by name, wanted and yours, where these are small tensors of at least one dimension."""
    names = examples.signature.partition("(")[2].rstrip(")").split(", ")
    if case.ask.build is not None:  # these are the arguments that build a module, and not those of a call of it
        names = [f"input {number}" for number in range(1, len(case.ask.inputs) + 1)]
    inputs = [(name, value) for name, value in zip(names, case.ask.inputs, strict=False) if isinstance(value, Tensor)]
    found = [(name, value) for name, value in inputs if value.dim()][:2]
    if not isinstance(case.wanted, Tensor) or case.wanted.dim() == 0:
        return ()
    yours = [("yours", reply.value)] if isinstance(reply.value, Tensor) and reply.value.dim() else []
    return (*found, ("wanted", case.wanted), *yours)
