"""What the tests of checking share: an exercise or two, models by recipe, and ways to ask."""

import copy
import json
from typing import Any

import torch
from torch import Tensor, nn

from grading.definitions.definition import Stage
from grading.definitions.exercise import Exercise
from helpers.models import Classifier
from tutor.checking import plain
from tutor.checking.answers import InProcess, Question
from tutor.checking.judging import judge
from tutor.checking.plain import Model
from tutor.checking.verdict import Verdict
from tutor.checks import public_examples


def verdict(answer: Any, name: str = "causal_mask") -> Verdict:
    """Returns the public verdict on an answer."""
    return judge(public_examples()[name], InProcess(answer))


def right_mask(size: int) -> Tensor:
    return torch.triu(torch.full((size, size), -torch.inf), diagonal=1)


def number_exercise() -> Exercise:
    def answer() -> float:
        return 0.1 + 0.2

    asks = [Question()]
    return Exercise(answer, [Stage("value", 1, "add", asks, lambda rng: asks)], [])


LANGUAGE_MODEL = Model(
    "LanguageModel", {"base": Model("TransformerBase", {"vocab_size": 6, "d_model": 8, "n_layers": 1, "n_heads": 2})}
)


TOKENS = torch.tensor([[1, 4, 5]])


def asked(answer: Any, *inputs: Any, **settings: Any) -> Any:
    """Returns the value of a reply that has crossed a process boundary in its encoded form."""
    question = Question.decode(json.loads(json.dumps(Question(inputs, **settings).encode())))
    reply = InProcess(answer).ask(question)
    assert reply.outcome == "value", reply.error
    return plain.decode(json.loads(json.dumps(plain.encode(reply.value))))


def classifier_of(model: Any) -> nn.Module:
    return Classifier(copy.deepcopy(model.base), 3)
