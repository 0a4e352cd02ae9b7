"""What is measured of answers in notebook 07: how words are hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tutor.checking.answers import Question
from tutor.checking.compare import dtype_kind, name_of
from tutor.checking.measures.registry import NotMeasured, measure

ONE_BY_ONE = "each by itself"
OF_TWO_WORDS = ("<mask> as another word", "the same word as another word")


@measure("masking", "what your function does to a batch of words")
def _masking(ask: Question, value: Any) -> dict[str, str]:
    """Returns in words how words were hidden, of `(input, target)` for the first input, tokens `(b, n)`.

    Only `extra["of"]` is reported: "what is chosen", "targets", "what happens", "random words" or, for a vocabulary of
    two words and some 15,000 chosen places, "two words". Tokens below `extra["specials"]` are no words (0 is
    padding, the last of them <mask>), the second input is the vocabulary's size, and a target of -100 is not scored.
    Shares are given with a margin of over four standard errors, so that chance does not change the result; of
    "two words" nothing is reported where only a part of the words was chosen.
    """
    tokens: Tensor = ask.inputs[0]
    shape = tuple(tokens.shape)
    pair = value if isinstance(value, tuple | list) else (value,)
    if len(pair) != 2 or not all(isinstance(part, Tensor) and tuple(part.shape) == shape for part in pair):
        raise NotMeasured(f"expected two tensors of shape {shape}, the input and the target, got {name_of(value)}")
    if any(dtype_kind(part) != "integer" for part in pair):
        raise NotMeasured(f"expected whole numbers, got {' and '.join(map(name_of, pair))}")
    read, target = (part.to(torch.int64) for part in pair)
    chosen, words = target != -100, tokens >= ask.extra["specials"]
    hidden = chosen & (read == ask.extra["specials"] - 1)  # <mask> is the last of the special tokens
    other = chosen & ~hidden & (read != tokens)
    scored = chosen & words  # whether others are chosen is reported once
    everything = ask.keywords.get("share") == 1
    few = everything and int(scored.sum()) < 0.9 * int(words.sum())  # the requested share does not count here
    margin = 0.08 if few else 0.03
    put = read[other]  # what stands in place of other words
    about: dict[str, Callable[[], dict[str, str]]] = {
        "what is chosen": lambda: {
            "words": _share(chosen[words], ask.keywords.get("share", 0.15), 0.04),
            "padding": "some" if bool(chosen[tokens == 0].any()) else "none",
            "other special tokens": "some" if bool(chosen[~words & (tokens != 0)].any()) else "none",
            "place by place": _independent(chosen, words, tokens),
        },
        "targets": lambda: {
            "places scored": "all"
            if bool(chosen.all())
            else "none"
            if everything and not bool(chosen.any())
            else "some",
            "where scored": "the words that stood there" if torch.equal(target[chosen], tokens[chosen]) else "others",
            "where not scored": "as it was" if torch.equal(read[~chosen], tokens[~chosen]) else "changed",
        },
        "what happens": lambda: {
            "<mask>": _share(hidden[scored], 0.8, margin),
            "another word": _share(other[scored], 0.1, margin),
            "left as it is": _share((read == tokens)[scored], 0.1, margin),
            "place by place": _independent(hidden, scored, tokens),
        },
        "random words": lambda: {
            "special tokens": "some" if bool((put < ask.extra["specials"]).any()) else "none",
            "beyond the vocabulary": "some" if bool((put >= ask.inputs[1]).any()) else "none",
            "different words": _how_many(put, ask.inputs[1]),
            "from the whole vocabulary": "yes" if _spread(put, ask.extra["specials"], ask.inputs[1]) else "no",
            "place by place": _varied(other, read),
            "the word before it": _traces(tokens[other], put) if ask.inputs[1] < 20 else "",
        },
        "two words": lambda: (
            _of_two_words(
                hidden[scored],
                (read == tokens)[scored],
                told=not bool((put < ask.extra["specials"]).any())
                and _independent(hidden, scored, tokens) == ONE_BY_ONE,
            )
            if not few
            else dict.fromkeys(OF_TWO_WORDS, "too few are chosen to tell")
        ),
    }
    return about[ask.extra["of"]]()


def _share(happened: Tensor, wanted: float, margin: float) -> str:
    """Returns in words the share of True: the wanted one, up to the margin, or more or less; of 0 and 1 exactly."""
    share = float(happened.double().mean()) if len(happened) else 0.0
    margin = margin if 0 < wanted < 1 else 0.0
    if abs(share - wanted) <= margin:
        return f"about {100 * wanted:g} %" if margin else f"{100 * wanted:g} %"
    if share > wanted:
        return "nearly all" if share > 0.96 else f"more than {100 * wanted:g} %"
    return "hardly any" if share < 0.04 else f"less than {100 * wanted:g} %"


def _independent(happened: Tensor, among: Tensor, tokens: Tensor) -> str:
    """Returns in words whether something happened for each place of `tokens`, `(b, n)`, by itself.

    The counts of rows, of columns and of the places of a word then vary as those of thrown coins do, or less; and two
    places are no more alike than by chance, however far they are from each other.
    """
    share = float(happened[among].double().mean()) if bool(among.any()) else 0.0
    if len(happened) <= 30 or not 0 < share < 1:
        return ONE_BY_ONE
    rows, columns = torch.meshgrid(*map(torch.arange, happened.shape), indexing="ij")
    groups = (("places of a text", rows, 3.0), ("places of a column", columns, 3.0), ("places of a word", tokens, 1.6))
    surplus = (happened.double() - share) * among
    for name, number, most in groups:
        size = number[among].bincount()
        varies = number[among].bincount(surplus[among])[size > 0].square() / (size[size > 0] * share * (1 - share))
        if len(varies) > 30 and float(varies.mean()) > most:
            return f"the {name} have the same fate"
    shape = [2 * length for length in happened.shape]
    pairs = torch.fft.ifft2(torch.fft.fft2(among.double(), s=shape).abs().square()).real.round()  # at each distance
    alike = torch.fft.ifft2(torch.fft.fft2(surplus, s=shape).abs().square()).real / (share * (1 - share))
    far = (pairs >= 200) & (torch.arange(pairs.numel()).view_as(pairs) > 0)  # the first one is no distance at all
    if bool((alike[far] / pairs[far] > 0.1 + 6 / pairs[far].sqrt()).any()):
        return "places at some distance have the same fate"
    return ONE_BY_ONE


def _of_two_words(hidden: Tensor, left: Tensor, *, told: bool) -> dict[str, str]:
    """Returns whether <mask>, and the word that stood there, come up where another word of two is drawn.

    <mask> takes a third of the tenth that is drawn: 83.3 % are <mask>, not 80. The same word takes half of it: 15 % are
    as they were, not 10. Five standard errors lie between the first two and the border, eight between the others.
    Where special tokens are drawn, or places share their fate, both shares change: that is not `told` here.
    """
    masked = told and float(hidden.double().mean()) > 0.8 + 1 / 60
    same = not told or masked or float(left.double().mean()) > 0.125
    return dict(zip(OF_TWO_WORDS, ("yes" if masked else "no", "yes" if same else "no"), strict=True))


def _how_many(put: Tensor, vocab_size: int) -> str:
    """Returns in words how many different words were put in."""
    found = len(put.unique())
    return ("none", "one")[found] if found < 2 else "many" if found > min(len(put), vocab_size) / 2 else "few"


def _varied(put_in: Tensor, read: Tensor) -> str:
    """Returns in words whether the words that were put in, `(b, n)`, differ within rows and within columns."""
    for name, where, words in (("text", put_in, read), ("column", put_in.T, read.T)):
        line, word = where.nonzero()[:, 0], words[where]
        together = line[1:] == line[:-1]  # neighbours among those that were put in
        if bool(together.any()) and float((word[1:] == word[:-1])[together].double().mean()) > 0.5:
            return f"the same word in a whole {name}"
    return ONE_BY_ONE


def _traces(before: Tensor, put: Tensor) -> str:
    """Returns in words whether it follows from a word which other one takes its place."""
    commonest = [float(put[before == word].bincount().max()) for word in before.unique()]
    return "decides which other one comes" if sum(commonest) > 0.6 * len(put) else "does not count"


def _spread(words: Tensor, low: int, high: int) -> bool:
    """Returns whether each tenth of the numbers from `low` to `high` - 1 holds about a tenth of the words.

    Of few words it may hold less, or more: five standard errors.
    """
    if not len(words) or bool((words < low).any()) or bool((words >= high).any()):
        return False
    tenths = ((words - low) * 10).div(high - low, rounding_mode="floor").bincount(minlength=10) / len(words)
    chance: float = 5 * (0.1 * 0.9 / len(words)) ** 0.5
    return float(tenths.min()) > 0.1 - max(0.07, chance) and float(tenths.max()) < 0.1 + max(0.12, chance)
