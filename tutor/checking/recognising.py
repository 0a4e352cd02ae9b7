"""Which known mistake an answer has made, told by its results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tutor.checking.answers import Reply
from tutor.checking.cases import Asked, Case, Examples, Raised, StageCases, words
from tutor.checking.compare import difference
from tutor.checking.fingerprints import trace
from tutor.checking.problems import problem_of
from tutor.checking.seals import Sealed, sealed_problem

ENOUGH = 12  # bits: two floating point numbers, or four small whole ones, agree with a mistake by no coincidence


def recognised(examples: Examples, among: Sequence[Asked], asked: Sequence[Asked]) -> str:
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
    return problem_of(stage, case, reply, salt) is None


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
