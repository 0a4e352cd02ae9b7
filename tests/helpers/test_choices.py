"""Every choice by name in what students import refuses a name that is not there, with the list of those that are."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pandas as pd
import pytest

import helpers
from helpers.batches import Batches, for_classifier, for_language_model, for_translation
from helpers.corpora import Corpus, Split, load
from helpers.device import choose_device
from helpers.diagrams import Diagram
from helpers.models import Classifier, EncoderDecoder, Layer, TransformerBase
from helpers.training import evaluate, schedule, train
from helpers.vocabulary import Vocabulary
from tutor import __main__ as command
from tutor.checking import verdict
from tutor.checks import check
from tutor.hints import hint

WRONG = "cosin"
VOCABULARY = Vocabulary(["a"])
SPLIT = Split("small/train", "train", pd.DataFrame({"text": ["a"], "label": [0]}))
MODEL = Classifier(TransformerBase(9, 4, 1, 1))


def batches(encode: Any = None) -> Batches:
    return Batches(SPLIT, encode or for_classifier(VOCABULARY))


# What takes a Literal, by its qualified name and parameter: found below by looking at all that `helpers` has.
LITERALS: dict[tuple[str, str], Callable[[], Any]] = {
    ("schedule", "kind"): lambda: schedule(WRONG, 1, 2),  # type: ignore[arg-type]
    ("train", "loss"): lambda: train(MODEL, batches(), WRONG, epochs=1, progress=False),  # type: ignore[arg-type]
    ("evaluate", "loss"): lambda: evaluate(MODEL, batches(), WRONG),  # type: ignore[arg-type]
    ("TransformerBase", "positions"): lambda: TransformerBase(9, 4, 1, 1, positions=WRONG),  # type: ignore[arg-type]
    ("TransformerBase", "activation"): lambda: TransformerBase(9, 4, 1, 1, activation=WRONG),  # type: ignore[arg-type]
    ("Layer", "activation"): lambda: Layer(4, 1, 4, 0.0, False, False, WRONG),  # type: ignore[arg-type]
    ("Vocabulary", "kind"): lambda: Vocabulary(["a"], WRONG),  # type: ignore[arg-type]
    ("Vocabulary.learn", "kind"): lambda: Vocabulary.learn(["a"], WRONG),  # type: ignore[arg-type]
    ("Split", "role"): lambda: Split("a", WRONG, pd.DataFrame()),  # type: ignore[arg-type]
    ("Diagram.box", "kind"): lambda: Diagram(1, 1).box("a", (0, 0), "a", WRONG),  # type: ignore[arg-type]
    ("Diagram.column", "boxes"): lambda: Diagram(1, 1).column(0, 0, [("a", "a", WRONG)]),  # type: ignore[list-item]
}
# Names that no type lists, with one of those that there are.
OTHERS: dict[str, tuple[Callable[[], Any], str]] = {
    "EncoderDecoder": (lambda: EncoderDecoder(9, 9, 4, 1, 1, positions=WRONG), "alibi"),
    "load": (lambda: load(WRONG), "reviews_fr"),
    "a part of a corpus": (lambda: Corpus("small", {"train": SPLIT})[WRONG], "train"),
    "a column of a split": (lambda: SPLIT[WRONG], "label"),
    "for_language_model": (lambda: batches(for_language_model(VOCABULARY, WRONG)), "label"),
    "for_classifier": (lambda: batches(for_classifier(VOCABULARY, WRONG)), "label"),
    "for_translation": (lambda: batches(for_translation(VOCABULARY, VOCABULARY, "text", WRONG)), "label"),
    "choose_device": (lambda: choose_device(WRONG), "cpu"),
    "hint": (lambda: hint(WRONG), "causal_mask"),
    "check": (lambda: check(len, WRONG), "costs"),  # of the many names those that are near
}


def words(kind: Any) -> list[str]:
    """Returns the names that a type leaves to choose from, [] for a type that is no choice."""
    if get_origin(kind) is Literal:
        return [word for word in get_args(kind) if isinstance(word, str)]
    return [word for part in get_args(kind) for word in words(part)]


def choices() -> Iterator[tuple[str, str, list[str]]]:
    """Yields each public function or class of `helpers`, a parameter that is a choice, and its names."""
    for module in pkgutil.iter_modules(helpers.__path__):
        found = vars(importlib.import_module(f"helpers.{module.name}"))
        for name, value in found.items():
            if name.startswith("_") or getattr(value, "__module__", "") != f"helpers.{module.name}":
                continue
            callables = {name: value.__init__ if inspect.isclass(value) else value}
            if inspect.isclass(value):
                methods = {n: m for n, m in inspect.getmembers(value, callable) if n in vars(value) and n[0] != "_"}
                callables |= {f"{name}.{n}": m for n, m in methods.items()}
            for path, function in callables.items():
                if inspect.isfunction(function) or inspect.ismethod(function):
                    known = {f.name for f in fields(value)} if is_dataclass(value) and path == name else None
                    hints = get_type_hints(value if known else function, localns=vars(verdict))
                    for parameter in known or inspect.signature(function).parameters:
                        if names := words(hints.get(parameter)):
                            yield path, parameter, names


ALL = list(choices())


def test_the_table_has_every_choice_that_a_type_names() -> None:
    assert {(path, parameter) for path, parameter, _ in ALL} == set(LITERALS)


@pytest.mark.parametrize(("path", "parameter", "names"), ALL, ids=[f"{path}-{name}" for path, name, _ in ALL])
def test_a_name_that_no_type_has_is_refused_with_the_list(path: str, parameter: str, names: list[str]) -> None:
    with pytest.raises(ValueError, match=f"there is no [a-z ]+ '{WRONG}': take one of {', '.join(names)}$"):
        LITERALS[path, parameter]()


@pytest.mark.parametrize("name", OTHERS)
def test_a_name_that_is_not_there_is_refused_with_the_list(name: str) -> None:
    call, known = OTHERS[name]
    with pytest.raises((ValueError, LookupError)) as refused:
        call()
    assert WRONG in str(refused.value)
    assert known in str(refused.value)


def test_the_command_line_names_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([WRONG]) == 2
    assert (
        capsys.readouterr().out == f"There is no {WRONG!r}: say `python -m tutor`, or behind it `work` or `progress`.\n"
    )
