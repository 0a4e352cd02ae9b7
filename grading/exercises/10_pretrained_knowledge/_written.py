"""What small models write behind questions, and answers that are nearly that.

A model is told by the seed of its weights. Wherever it writes one of these answers, or something else, it prefers each
number clearly.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from helpers.vocabulary import EOS, MASK, SOS
from tutor.checking.answers import Question
from tutor.checking.building import build
from tutor.checking.plain import Model

Numbers = tuple[list[int], list[int]]

LONGEST = 64  # of what the models read: enough for everybody who stops at all
MOST = 17  # numbers of an answer: who stops after twenty is found by the long answer alone, for every student
OFTEN = 1000  # questions among which a model has all kinds
CLEAR = 0.03  # by how much the best logit of a position leads

# Kinds of pairs. Of the wrong ones, "special" leaves out a special token that the model writes among the numbers, of
# "first" only the first number is wrong, "beyond" goes on after <eos>, the next two are given only without <sos>, and
# when looked for one row too early. After the question of "endless" the model never comes to an end.
KINDS = ("right", "right and long", "special", "first", "beyond", "without <sos>", "a row too early", "endless")


def asking_model(seed: int, training: bool = False, vocab_size: int = 12, max_len: int = LONGEST) -> Model:
    """Returns a model with much dropout, so that no answer of it is like another in training mode."""
    shape = {"vocab_size": vocab_size, "d_model": 32, "n_layers": 1, "n_heads": 2, "norm_first": True}
    shape["max_len"] = max_len
    base = Model("TransformerBase", shape | {"dropout": 0.95}, seed)
    return Model("LanguageModel", {"base": base}, seed, training=training)


@lru_cache(100)
def _built(seed: int, vocab_size: int, max_len: int) -> Any:
    return build(asking_model(seed, vocab_size=vocab_size, max_len=max_len))


@torch.no_grad()
def _scores(model: Any, tokens: Sequence[int]) -> Tensor:
    scores: Tensor = model(torch.tensor([tokens]))[0]
    return scores


def _lead(scores: Tensor) -> float:
    best = scores.topk(2).values
    return float((best[:, 0] - best[:, 1]).min())


def _written(
    model: Any, read: list[int], begun: Sequence[int] = (), row: int = -1, clear: float = CLEAR, most: int = LONGEST
) -> list[int]:
    """Returns what the model prefers after what it has read, up to <eos>, as long as it prefers it clearly."""
    tokens = [*read, *begun]
    while tokens[-1] != EOS and len(tokens) < most:
        scores = _scores(model, tokens)[row]
        if _lead(scores.unsqueeze(0)) < clear:
            break
        tokens.append(int(scores.argmax()))
    return tokens[len(read) :]


def other(number: int, rng: random.Random) -> int:
    """Returns another number than this."""
    return rng.choice([one for one in range(MASK + 1, 12) if one != number])


def pair(model_seed: int, kind: str, seed: int) -> Question:
    """Returns a question to a model about a single pair, whose answer is empty where the kind has none of this seed."""
    rng, model = random.Random(seed), _built(model_seed, 12, LONGEST)
    question = [rng.randrange(MASK + 1, 12) for _ in range(rng.randint(2, 7))]
    read, begun, row = [SOS, *question], list[int](), -1
    if kind == "without <sos>":
        read = question
    if kind == "a row too early":
        row = -2
    if kind == "first":
        begun = [other(int(_scores(model, read)[-1].argmax()), rng)]
    written = _written(model, read, begun, row, 0.0 if kind == "endless" else CLEAR)
    ends, answer = EOS in written, [number for number in written if number != EOS]
    if kind == "special":
        answer = [number for number in answer if number > MASK]
    elif kind == "beyond":
        answer.append(rng.randrange(MASK + 1, 12))
    elif kind == "endless":
        answer = answer[:3]
    return Question((asking_model(model_seed), [(question, answer if ends != (kind == "endless") else [])]))


def in_full(seed: int, vocab_size: int = 12, max_len: int = LONGEST) -> Question:
    """Returns a question to some model about all that it writes, be it long; the answer is empty without an end."""
    rng = random.Random(seed)
    model, question = rng.randrange(1000), [rng.randrange(MASK + 1, vocab_size) for _ in range(4)]
    clear = CLEAR * 12 / vocab_size / 2  # many words lie closer together
    written = _written(_built(model, vocab_size, max_len), [SOS, *question], clear=clear, most=max_len)
    answer = written[:-1] if EOS in written else []
    return Question((asking_model(model, vocab_size=vocab_size, max_len=max_len), [(question, answer)]))


def reordered(seed: int) -> Question:
    """Returns a question to some model about two numbers that it says in the other order, each where they are given.

    Told the first one, it says it again, and then ends: sorted, it says what the answer holds. Empty where none is so.
    """
    rng = random.Random(seed)
    model, question = rng.randrange(1000), [rng.randrange(MASK + 1, 12) for _ in range(rng.randint(2, 7))]
    built = _built(model, 12, LONGEST)
    last = int(_scores(built, [SOS, *question])[-1].argmax())
    pairs = [[first, last] for first in range(MASK + 1, 12) if first != last]
    found = (pair for pair in pairs if _sorted_alike(_scores(built, [SOS, *question, *pair])[len(question) :], pair))
    return Question((asking_model(model), [(question, next(found, []))]))


def _sorted_alike(scores: Tensor, pair: Sequence[int]) -> bool:
    return _lead(scores) >= CLEAR and scores.argmax(dim=-1).tolist() == [*pair[::-1], EOS]


def is_reordered(ask: Question) -> bool:
    """Says whether a question has an answer in another order than the model says it in, no special token in it."""
    [(_, answer)] = ask.inputs[1]
    return bool(answer) and min(answer) > MASK


def is_as_long(ask: Question, sizes: Collection[int]) -> bool:
    """Says whether an answer in full has one of these sizes, and no special token."""
    [(_, answer)] = ask.inputs[1]
    return len(answer) in sizes and min(answer) > MASK


def said(model: Any, question: list[int], wanted: list[int]) -> list[bool]:
    """Returns for each position of the answer and <eos> whether the model, told all before, says what stands there."""
    whole = [SOS, *question, *wanted, EOS]
    guesses = _scores(model, whole[:-1]).argmax(dim=-1).tolist()
    return [a == b for a, b in zip(guesses[len(question) :], whole[len(question) + 1 :], strict=True)]


def is_of_kind(ask: Question, kind: str) -> bool:
    """Says whether the answer of a question about one pair is of its kind, and the model sure of all that it says.

    Behind other questions than those of "endless" it comes to an end, and writes a special token only in "special".
    """
    recipe, [(question, answer)] = ask.inputs
    if not 0 < len(answer) <= MOST or min(answer) <= MASK:
        return False
    model, last = _built(recipe.seed, 12, LONGEST), len(answer)
    if _lead(_scores(model, [SOS, *question, *answer])[len(question) :]) < CLEAR:
        return False
    own = _written(model, [SOS, *question])
    if kind != "endless" and (own[-1:] != [EOS] or (min(own[:-1], default=0) <= MASK) != (kind == "special")):
        return False
    wrong = [position for position, right in enumerate(said(model, question, answer)) if not right]
    if kind in ("right", "right and long"):
        return not wrong and (last > 10) == (kind == "right and long")
    only = {"first": [0], "beyond": [last - 1], "endless": [last]}
    return wrong == only[kind] if kind in only else bool(wrong)


def is_useful(model_seed: int) -> bool:
    """Says whether a model has pairs of each kind so often that a search finds them."""
    return all(any(is_of_kind(pair(model_seed, kind, seed), kind) for seed in range(OFTEN)) for kind in KINDS)
