"""What a verdict tells of the first failure, to a student and, without inputs and values, in a mark."""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from tutor.checking import plain, sentences
from tutor.checking.answers import UNREADABLE, Reply
from tutor.checking.calls import as_code, in_one_line
from tutor.checking.cases import Asked, Case, Examples, InputsChanged, Raised, StageCases
from tutor.checking.compare import ONE_TENSOR, VIEWS, QuotesValues, difference, relation
from tutor.checking.model_probes import CHANGES
from tutor.checking.recognising import recognised
from tutor.checking.slips import NO_GPU, RAISED_ABOVE, WANTS_GPU, WITHOUT_GPU
from tutor.checking.verdict import Verdict


def explained(verdict: Verdict, examples: Examples, asked: Sequence[Asked], failed: Sequence[Asked]) -> Verdict:
    """Returns the verdict with what is reported of the first failure: a sentence, the known mistake, where to look.

    What would show the inputs or the wanted values is shown only while the verdict is not graded.
    """
    first = failed[0]
    mistake = recognised(examples, asked, asked) or recognised(
        examples, [one for one in asked if one.stage is first.stage], asked
    )
    stopped = first.reply.outcome in ("crashed", "late") and not raised_as_wanted(first)
    if stopped and WANTS_GPU.search(first.reply.error):
        mistake = NO_GPU
    verdict = replace(
        verdict,
        outcome=first.reply.outcome if stopped else "wrong",
        feedback=_feedback(first, graded=verdict.graded),
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
        others=_other_places(failed, verdict.feedback),
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
        if one.stage.feedback not in ("", shown) and one.reply.outcome == "value":
            found.setdefault(one.stage.feedback, one.stage.name)
    return tuple((name, feedback) for feedback, name in found.items())


def raised_as_wanted(asked: Asked) -> bool:
    """Says whether the exception that is wanted was raised: what is wrong then is its message, or what it has left."""
    return isinstance(asked.case.wanted, Raised) and asked.case.wanted.error_type in asked.reply.error_types


def _feedback(first: Asked, *, graded: bool) -> str:
    """Returns the sentence of the stage, or, where it cannot speak of what is wrong, that for this kind."""
    if not isinstance(first.problem, InputsChanged):
        if first.problem == RAISED_ABOVE:
            return ""
        return _look_at_kind(first) or f"{first.stage.feedback}{'' if graded else _try_it(first)}"
    kind = next((kind for kind in sentences.LEAVE_IT if kind in first.reply.changed_inputs), "kind")
    of_a_model = kind in ("mode", "settings", "hooks", "requires_grad", "gradients")
    return first.stage.feedback if first.stage.feedback and not of_a_model else sentences.LEAVE_IT[kind]


def _look_at_kind(first: Asked) -> str:
    """Returns where to look for what no stage is about: a name that is not there, another kind, a missing gradient."""
    reply, wanted, ask = first.reply, first.case.wanted, first.case.ask
    if (first.problem or "").endswith(ONE_TENSOR):
        return sentences.ONE_OBJECT
    if reply.outcome == "crashed" and "NameError" in reply.error_types:
        return sentences.NO_NAME
    if ask.probe == "gradients" and (first.problem or "").endswith("does not arrive"):
        return sentences.NO_GRADIENT
    if ask.probe == "gradients" and first.stage.cost and "arrives, where" in (first.problem or ""):
        return sentences.NEEDLESS_GRADIENT
    if ask.probe in ("again", "gradients again") and reply.outcome == "value":
        return next((feedback for found, feedback in sentences.KEPT_WHAT.items() if found in (first.problem or "")), "")
    if ask.probe != "result" or first.stage.measure or reply.outcome != "value" or reply.value is None:
        return ""
    if _is_another_shape(first.stage, wanted, reply.value):
        return sentences.OTHER_SHAPE
    if not _is_finite(reply.value) and _is_finite(wanted):
        return f"{first.stage.feedback} {sentences.NOT_FINITE}"
    is_kind = isinstance(reply.value, tuple | list if isinstance(wanted, tuple | list) else tuple | list | set)
    return "" if is_kind else sentences.OTHER_KIND.get(type(wanted).__name__, "")


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
    return f" {sentences.TRY_IT.format(number=place)}" if stopped and place else ""


def notes_on(replies: Sequence[Reply], *, named: bool) -> tuple[str, ...]:
    """Returns what to say beside the result: that one was printed, that symbols are not those of the notebook.

    The symbols are `named` to a student alone: in a mark, an answer could say anything by their names.
    """
    notes = []
    if any(reply.printed and reply.outcome == "value" and reply.value is None for reply in replies):
        notes.append(sentences.PRINTS)
    if bare := {name for reply in replies for name in _bare_symbols(reply.value)}:
        symbols = sentences.THE_SYMBOLS.format(names=", ".join(sorted(bare))) if named else sentences.SOME_SYMBOLS
        notes.append(sentences.NEW_SYMBOLS.format(symbols=symbols))
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
    if reply.outcome == "crashed" and not raised_as_wanted(asked):  # an exception's message may quote the inputs
        crashed = sentences.STOPPED_WITH.format(error=_builtin_error(reply), place="")
        return sentences.OF_A_STAGE.format(stage=stage.name, problem=crashed)
    problem = asked.problem or ""
    if isinstance(asked.problem, InputsChanged):
        problem = sentences.MEASURED.format(what=sentences.INPUTS_CHANGED, problem=_changes_in_words(examples, asked))
    elif reply.outcome == "late":
        problem = sentences.STOPPED
    elif problem.startswith(UNREADABLE):
        problem = sentences.UNREADABLE_RESULT
    elif raised_as_wanted(asked):
        problem = sentences.TOO_LITTLE.format(error=_builtin_error(reply))
    elif isinstance(asked.problem, QuotesValues) or _may_leak(reply, problem):
        problem = sentences.ANOTHER_RESULT
    return sentences.OF_A_VIEW.format(stage=stage.name, view=VIEWS[stage.view], problem=problem)


def _changes_in_words(examples: Examples, asked: Asked) -> str:
    """Returns which inputs are changed, by the names of the exercise, and what of them; no word is the answer's own."""
    names = examples.signature.partition("(")[2].rstrip(")").split(", ") if asked.case.ask.build is None else []
    found = []
    for number, kinds in re.findall(r"input (\d+): ([^;]+)", asked.reply.changed_inputs):
        name = f"`{names[int(number) - 1]}`" if int(number) <= len(names) else sentences.AN_INPUT.format(number=number)
        changes = ", ".join(CHANGES[kind] for kind in kinds.split(" and "))
        found.append(sentences.OF_AN_INPUT.format(changes=changes, input=name))
    return "; ".join(found)


def _builtin_error(reply: Reply) -> str:
    """Returns the first of an exception's classes that Python itself has; the student's own have any name."""
    if not reply.error_types:
        return ""
    return next((name for name in reply.error_types if _is_builtin_error(name)), sentences.AN_ERROR)


def _is_builtin_error(name: str) -> bool:
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, BaseException)


def _may_leak(reply: Reply, problem: str) -> bool:
    """Says whether a sentence on a result may reveal sizes, names or values of the question."""
    own_words = isinstance(reply.value, plain.Other)
    return reply.outcome in ("value", "unreadable") and (own_words or bool(re.search(r"[\d'\"]", problem)))


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
