"""Measure an answer: judge what it does where many answers are right, and not what it is.

A stage that names a measure compares what the measure makes of an answer's value: of a query, for example, what
attention gives out when it is asked with this query. Questions carry what a measure needs beside the inputs
(`Question.extra`). A measure takes the question and a plain value, and returns a plain value; it knows the task, not
its solution.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from tutor.checking.answers import Question, Reply
from tutor.checking.compare import dtype_kind, name_of

FAR_APART = 6.5  # standard errors: no right answer is so far from what is even, in any number of classes


class NotMeasured(ValueError):
    """The value has not the kind or the shape that is measured; the message is one sentence."""


def measured(measure: str, ask: Question, reply: Reply) -> Reply:
    """Returns the reply with its value measured; a value that cannot be measured becomes an unreadable reply.

    Args:
        measure: one of `MEASURES`, `INPUTS_KEPT`, or "" or `SAYS_WHY` to leave the reply as it is.
    """
    if measure in ("", SAYS_WHY) or reply.outcome != "value" or reply.value is None:
        return reply
    if measure == INPUTS_KEPT:
        return dataclasses.replace(reply, value=reply.changed_inputs or "kept")
    try:
        return dataclasses.replace(reply, value=MEASURES[measure][1](ask, reply.value))
    except NotMeasured as problem:
        error = str(problem)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):  # of any odd value
        error = f"the result has not the form that is asked for: got {name_of(reply.value)}"
    return dataclasses.replace(reply, outcome="unreadable", value=None, error=error)


def _numbers(value: Any, shape: tuple[int, ...]) -> Tensor:
    """Returns a tensor of this shape in double precision; a tuple or list of its rows will do as well."""
    if isinstance(value, tuple | list) and len(shape) > 1:
        if len(value) != shape[0]:
            raise NotMeasured(f"expected {shape[0]} tensors of shape {shape[1:]}, got {name_of(value)}")
        return torch.stack([_numbers(row, shape[1:]) for row in value])
    if not isinstance(value, Tensor):
        raise NotMeasured(f"expected a tensor of shape {shape}, got {name_of(value)}")
    if tuple(value.shape) != shape:
        raise NotMeasured(f"expected a tensor of shape {shape}, got {tuple(value.shape)}")
    if dtype_kind(value) not in ("floating", "integer"):
        raise NotMeasured(f"expected floating point values, got {name_of(value)}")
    return value.to(torch.float64)


def _one_head(ask: Question, value: Any) -> Tensor:
    """Returns the output of attention for one query: see `_outputs`."""
    return _outputs(ask, _numbers(value, (ask.inputs[0].shape[-1],)).unsqueeze(0))


def _leads(ask: Question, value: Any) -> Tensor:
    """Returns by how much the score of each key, a row of the first input `(n, d)`, is above the lowest one, `(n,)`.

    Less than a thousandth is none: that much is left of rounding, which differs from one processor to another.
    """
    keys: Tensor = ask.inputs[0].to(torch.float64)
    scores = keys @ _numbers(value, (keys.shape[-1],))
    return F.threshold(scores - scores.min(), 1e-3, 0.0)


def _two_heads(ask: Question, value: Any) -> Tensor:
    """Returns the mean of the outputs of attention for two queries: see `_outputs`."""
    return _outputs(ask, _numbers(value, (2, ask.inputs[0].shape[-1])))


def _outputs(ask: Question, queries: Tensor) -> Tensor:
    """Returns the output of attention, the mean over the heads, one query `(d,)` a head.

    Keys are `extra["keys"]` `(n, d)` or `(m, n, d)`, else the first input. Values are `extra["values"]` `(n, w)`,
    else one-hot, so that the output `(n,)` is the list of weights.
    """
    keys: Tensor = ask.extra.get("keys", ask.inputs[0]).to(torch.float64)
    values: Tensor = ask.extra.get("values", torch.eye(keys.shape[-2])).to(torch.float64)
    weights = torch.softmax(keys @ queries.T, dim=-2)  # (..., n, h), the softmax runs over the keys
    return weights.mean(dim=-1) @ values  # (..., w)


def _self_attention(ask: Question, value: Any) -> Tensor:
    """Returns c1 and c2, `(2, d)`, of x1 = u_d + u_b, x2 = u_a, x3 = u_c + u_b, for K, Q and V of shape `(d, d)`."""
    u_a, u_b, u_c, u_d = (vector.to(torch.float64) for vector in ask.inputs)
    width = u_a.shape[0]
    key_matrix, query_matrix, value_matrix = _numbers(value, (3, width, width))
    x = torch.stack([u_d + u_b, u_a, u_c + u_b])  # (3, d)
    keys, queries, values = x @ key_matrix.T, x @ query_matrix.T, x @ value_matrix.T  # (3, d) each
    outputs: Tensor = torch.softmax(queries @ keys.T, dim=-1) @ values
    return outputs[:2]


def _shifted(ask: Question, value: Any) -> Tensor:
    """Returns what a `(d, d)` matrix makes of the rows of `extra["rows"]` `(m, d)`."""
    rows: Tensor = ask.extra["rows"].to(torch.float64)
    shifted: Tensor = rows @ _numbers(value, (rows.shape[-1],) * 2).T
    return shifted


def _scores(ask: Question, value: Any) -> Tensor:
    """Returns the scores `(..., n, n)` of queries `value[0]` and keys `value[1]`, a value as large as the input."""
    queries, keys = _numbers(value, tuple(ask.inputs[0].shape))[:2]
    scores: Tensor = queries @ keys.transpose(-2, -1)
    return scores


def _new_head(ask: Question, value: Any) -> str:
    """Returns in words whether the scores `(b, C)` are those that rows of the old head give, `extra["old"]` `(b, V)`.

    The mean of all rows counts as one of them. Up to a bias, which adds the same to a class of all texts.
    """
    old: Tensor = ask.extra["old"]
    if not isinstance(value, Tensor) or value.dim() != 2 or len(value) != len(old):
        return "a new head"  # another stage reports the shape
    scores, rows = ((part - part.mean(dim=0)).T for part in (value, old))
    rows = torch.cat([rows, rows.mean(dim=0, keepdim=True)])  # (V + 1, b)
    close = (scores[:, None] - rows[None]).abs().amax(dim=-1) < 1e-4  # (C, V + 1)
    return "rows of the old head" if bool(close.any(dim=1).all()) else "a new head"


def _rows_alike(ask: Question, value: Any) -> bool:
    """Returns whether all rows of a tensor `(b, ...)` hold the same numbers, up to rounding; of `(1, n, ...)` the n."""
    if not isinstance(value, Tensor) or value.dim() < 2:
        raise NotMeasured(f"expected a tensor with a row for each text, got {name_of(value)}")
    if value.dim() > 2 and len(value) == 1:
        value = value[0]
    return torch.allclose(value, value[:1].expand_as(value), atol=1e-5)


ONE_BY_ONE = "each by itself"


def _masking(ask: Question, value: Any) -> dict[str, str]:
    """Returns in words how words were hidden, of `(input, target)` for the first input, tokens `(b, n)`.

    Only `extra["of"]` is reported: "what is chosen", "targets", "what happens", "random words" or, for a vocabulary of
    two words and some 15,000 chosen places, "drawn <mask>". Tokens below `extra["specials"]` are no words (0 is
    padding, the last of them <mask>), the second input is the vocabulary's size, and a target of -100 is not scored.
    Shares are given with a margin of over four standard errors, so that chance does not change the result; of a
    "drawn <mask>" nothing is reported where only a part of the words was chosen.
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
        # Drawn beside two words it takes a third of their tenth: 83.3 % are <mask>, not 80; five standard errors
        # lie between each of these and the border. Where all special tokens are drawn, "random words" reports it.
        "drawn <mask>": lambda: {
            "as another word": "too few are chosen to tell"
            if few
            else "yes"
            if float(hidden[scored].double().mean()) > 0.8 + 1 / 60
            and not bool((put < ask.extra["specials"]).any())
            and _independent(hidden, scored, tokens) == ONE_BY_ONE
            else "no"
        },
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


def _variety(ask: Question, value: Any) -> bool:
    """Returns whether more than half of the numbers of a list are different ones."""
    numbers = _whole_list(value)
    return 2 * len(set(numbers)) > len(numbers)


def _two_calls(ask: Question, value: Any) -> str:
    """Returns in words whether a list that is drawn is another one when it is drawn again, of what "again" takes."""
    if not isinstance(value, dict):
        raise NotMeasured(f"expected a list, got {name_of(value)}")
    first, *others = [_whole_list(part) for name, part in value.items() if isinstance(part, list | tuple | Tensor)]
    return "another one each time" if len(others) > 1 and first not in others else "the same one again"


LARGEST = 2**53  # of larger whole numbers, many can be made that Python's sets take for each other at first


def _whole_list(value: Any) -> list[int]:
    """Returns the whole numbers of a tensor, or of a list of numbers or of tensors with one number."""
    numbers = value.tolist() if isinstance(value, Tensor) else value
    if isinstance(numbers, list | tuple):
        numbers = [one.item() if isinstance(one, Tensor) and one.numel() == 1 else one for one in numbers]
    if not isinstance(numbers, list | tuple) or not all(isinstance(number, int) for number in numbers):
        raise NotMeasured(f"expected a list of whole numbers, got {name_of(value)}")
    if not all(abs(number) < LARGEST for number in numbers):
        raise NotMeasured("expected a list of numbers of words, got one that is far too large")
    return list(numbers)


def _chances(ask: Question, value: Any) -> dict[str, str]:
    """Returns in words how many of the words behind the prompt are of `extra["likeliest"]`, a list of numbers.

    The prompt has `extra["given"]` words. Those are meant to come half of the time; of 60 words, between a fifth and
    four fifths of them are about half: chance alone leaves that less than once in a million times. With
    `extra["rarest"]`, which are meant to come a fifth of the time, it is noted whether any comes: none does by chance
    about once in a million times.
    """
    numbers = _whole_list(value)
    new = numbers[ask.extra["given"] :]
    if "rarest" in ask.extra:
        is_one = len(set(new)) == 1  # again and again: which one says nothing
        drawn = not is_one and bool(set(new) & set(ask.extra["rarest"]))
        return {"of the rare words": "some are drawn" if drawn else "none is drawn"}
    likeliest = set(ask.extra["likeliest"])
    share = sum(number in likeliest for number in new) / max(1, len(new))
    share_in_words = "hardly any" if share < 0.2 else "nearly all" if share > 0.8 else "about half"
    return {"of the drawn words": f"{share_in_words} are of the likeliest"}


def _spans(ask: Question, value: Any) -> dict[str, Any]:
    """Returns in words how spans were moved behind a text, of `(x, y)` or of many draws of it (`Question.probe`).

    The inputs are a text `(n,)` of numbers that all differ, a generator and a size; x and y are of that size. Only
    `extra["of"]` is reported: "shift", "pattern", "kept", "content", "ends" or "place". `extra` also holds the numbers
    of `mask` and `padding`. Means have a tolerance of more than six standard errors.
    """
    text, mask, padding = ask.inputs[0], ask.extra["mask"], ask.extra["padding"]
    draws = _drawn_pairs(ask, value)
    if ask.extra["of"] == "shift":
        return {"y": _shift(text, draws, mask, padding)}
    # of the whole, which x and y share; whether its end is padding or -100 is asked by "shift" alone
    last = [padding if number == -100 else number for number in (int(y[-1]) for _, y in draws)]
    parts = [_parts([*x.tolist(), end], mask, padding) for (x, _), end in zip(draws, last, strict=True)]
    if ask.extra["of"] == "pattern":
        counts = {len(found) - 1 for found in parts}
        masks = {0: "none", 1: "one", 2: "two"}.get(min(counts), "") if len(counts) == 1 else ""
        return {
            "<mask>": masks or f"sometimes {'fewer' if min(counts) < 2 else 'more'} than two",
            "order": _order(text, parts),
            "padding": "at the end only" if not any(padding in found for one in parts for found in one) else "between",
            "the last number of y": "always <mask>" if all(end == mask for end in last) else "not always <mask>",
        }
    sizes = [sum(map(len, one)) for one in parts]  # how much of the text is kept
    if ask.extra["of"] == "kept":
        low, high, mean = min(sizes), max(sizes), sum(sizes) / len(sizes)
        at_ends = _more_at_the_ends([(size - low, high - low) for size in sizes])
        even = abs(mean - (low + high) / 2) < 0.1 * mean and abs(at_ends) < FAR_APART
        return {"shortest": low, "longest": high, "all lengths": "equally often" if even else "some more often"}
    thirds = [one for one in parts if len(one) == 3]
    if ask.extra["of"] == "ends":
        at = {"begins with the first": 0, "ends with the last": 1}
        seldom = {name: sum(not one[part] for one in thirds) < 0.15 * len(draws) for name, part in at.items()}
        return {f"the content {name} number": "seldom" if seldom[name] else "often" for name in at}
    if ask.extra["of"] == "place":
        at = {"the first": 0, "the last": 1}  # where no prefix, or no suffix, is left
        often = {name: any(not one[part] and one[2] for one in thirds) for name, part in at.items()}
        ends = {f"{name} number is in the content": "sometimes" if often[name] else "never" for name in at}
        place = _place(thirds) if 2 * len(thirds) > len(draws) else "not to be told"
        return ends | {"the place": place, "how much is kept, and the place": _together(thirds, _kept_and_place)}
    contents = [one[2] for one in thirds]
    share = sum(map(len, contents)) / max(1, sum(sizes))
    by_size = {(size, len(one[-1])) for size, one in zip(sizes, parts, strict=True)}
    return {
        "content": "sometimes empty" if not all(contents) else "never empty",
        "mean length": "about 25 %" if abs(share - 0.25) < 0.04 else f"about {5 * round(20 * share)} %",
        "length, where as much is kept": "varies" if len(by_size) > len(set(sizes)) else "always the same",
        "length and place": _together([one for one in thirds if sum(map(len, one)) > 12], _length_and_place),
    }


def _place(thirds: list[list[list[int]]]) -> str:
    """Returns whether contents stand near the end as often as near the beginning, with six standard errors.

    Of few places less than half may lie in the middle, one of five for example: what counts is how many more are drawn.
    """
    places = [(len(one[0]), len(one[0]) + len(one[1])) for one in thirds if one[0] or one[1]]
    mean = sum(start / last for start, last in places) / max(1, len(places))
    if abs(mean - 0.5) > 0.075:
        return "more often near the beginning" if mean < 0.5 else "more often near the end"
    expected = [sum(_in_the_middle(start, last) for start in range(last + 1)) / (last + 1) for _, last in places]
    more = (sum(_in_the_middle(*place) for place in places) - sum(expected)) / max(1, len(places))
    if abs(more) > 0.13:
        return "more often in the middle" if more > 0 else "more often near both ends"
    at_ends = _more_at_the_ends(places)
    if abs(at_ends) > FAR_APART:
        return "more often in the middle" if at_ends < 0 else "more often near both ends"
    return "evenly"


def _more_at_the_ends(places: Iterable[tuple[int, int]]) -> float:
    """Returns how many more places `(start, last)` are 0 or `last` than of even draws, in standard errors.

    A share that is rounded, for example, gives the first and the last place half as often as each other one.
    """
    found = [(start in (0, last), 2 / (last + 1)) for start, last in places if last > 1]
    spread = math.sqrt(sum(share * (1 - share) for _, share in found))
    return sum(at_end - share for at_end, share in found) / spread if found else 0.0


def _in_the_middle(start: int, last: int) -> bool:
    """Says whether a place from 0 to `last` is nearer to the middle than to both ends."""
    return last < 4 * start < 3 * last


def _length_and_place(prefix: int, suffix: int, content: int) -> tuple[float, float]:
    return content / (prefix + suffix + content), prefix / (prefix + suffix)


def _kept_and_place(prefix: int, suffix: int, content: int) -> tuple[float, float]:
    return prefix + suffix + content, prefix / (prefix + suffix)


def _together(thirds: list[list[list[int]]], look: Callable[[int, int, int], tuple[float, float]]) -> str:
    """Returns whether two numbers that `look` sees in the sizes of prefix, suffix and content go together."""
    pairs = [look(*map(len, one)) for one in thirds if one[2] and (one[0] or one[1])]
    if len(pairs) < 100 or 1 in map(len, map(set, zip(*pairs, strict=True))):  # what never varies goes with nothing
        return "drawn apart"
    both = torch.tensor(pairs, dtype=torch.float64).T
    return "drawn apart" if abs(float(torch.corrcoef(both)[0, 1])) < 0.3 else "go together"


def _shift(text: Tensor, draws: list[tuple[Tensor, Tensor]], mask: int, padding: int) -> str:
    """Returns in words how y is shifted against x, the same in all draws."""
    known = {*text.tolist(), mask}  # with what a whole may begin
    found: dict[str, Callable[[Tensor, Tensor], bool]] = {
        "x one place ahead": lambda x, y: torch.equal(y[:-1], x[1:]),
        "x itself": torch.equal,
        "x one place behind": lambda x, y: torch.equal(y[1:], x[:-1]) and int(y[0]) in known,
        "x one place ahead, but -100 for the padding": lambda x, y: torch.equal(
            y[:-1], x[1:].masked_fill(x[1:] == padding, -100)
        ),
    }
    return next((name for name, fits in found.items() if all(fits(x, y) for x, y in draws)), "something else")


def _drawn_pairs(ask: Question, value: Any) -> list[tuple[Tensor, Tensor]]:
    """Returns x and y of each draw; of many draws they may come stacked, and then all are as the first one."""
    shape = (ask.inputs[2],)
    if ask.probe != "draws":
        return [_pair(value, shape)]
    if isinstance(value, list):
        return [_pair(one, shape) for one in value]
    stacked = [part for part in value if isinstance(part, Tensor) and part.dim()] if isinstance(value, tuple) else []
    _pair(tuple(part[0] for part in stacked if len(part)), shape)
    return list(zip(*stacked, strict=False))


def _pair(value: Any, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Returns two tensors of whole numbers of this shape."""
    tensors = [part for part in value if isinstance(part, Tensor)] if isinstance(value, tuple | list) else []
    if len(tensors) != 2 or len(value) != 2:
        raise NotMeasured(f"expected two tensors of shape {shape}, x and y, got {name_of(value)}")
    if wrong := [part for part in tensors if tuple(part.shape) != shape or dtype_kind(part) != "integer"]:
        raise NotMeasured(f"expected two integer tensors of shape {shape}, got {name_of(wrong[0])}")
    return tensors[0], tensors[1]


def _parts(whole: list[int], mask: int, padding: int) -> list[list[int]]:
    """Returns what stands before, between and after the masks, without the padding at the end."""
    parts, start = list[list[int]](), 0
    for _ in range(whole.count(mask)):
        end = whole.index(mask, start)
        parts.append(whole[start:end])
        start = end + 1
    end = len(whole)
    while end > start and whole[end - 1] == padding:
        end -= 1
    return [*parts, whole[start:end]]


def _order(text: Tensor, parts: list[list[list[int]]]) -> str:
    """Returns in which order three parts put together are the beginning of the text."""
    numbers = text.tolist()
    orders = {"prefix, suffix, content": (0, 2, 1), "prefix, content, suffix": (0, 1, 2)}
    for name, order in orders.items():
        joined = [[number for part in order for number in one[part]] for one in parts if len(one) == 3]
        if len(joined) == len(parts) and all(one == numbers[: len(one)] for one in joined):
            return name
    return "another"


def _sweep(ask: Question, value: Any) -> Any:
    """Returns what the log of a sweep (`Question.probe`) shows: calls of `train_one(setting)` and `save(table)`.

    With `extra["of"]` "trained": the names of the settings trained, in order. With "saved": the table last saved when
    each training began and when all was over; before the first save that is the third input, the table so far; at the
    end whether the sweep was interrupted. What is no log, but what the sweep returns or leaves, stays as it is.
    """
    if ask.probe != "log":
        return value
    try:
        calls = [(name, given[0]) for name, given in value if name != "interrupted"]
        trained = [setting["name"] for name, setting in calls if name == "train_one"]
    except (TypeError, ValueError, LookupError):
        raise NotMeasured("expected train_one(setting) and save(table), each with one argument") from None
    if ask.extra["of"] == "trained":
        return trained
    tables: list[Any] = [ask.inputs[2]]
    for name, table in calls:
        if name == "train_one":
            tables.append(tables[-1])
        else:
            tables[-1] = table
    return [*tables, "interrupted" if any(name == "interrupted" for name, _ in value) else "not interrupted"]


def _whole_numbers(ask: Question, value: Any) -> Any:
    """Returns tensors as they are, if they hold whole numbers: tokens are looked up in a vocabulary."""
    for part in value if isinstance(value, tuple | list) else [value]:
        if isinstance(part, Tensor) and dtype_kind(part) != "integer":
            raise NotMeasured(f"expected whole numbers, got {name_of(part)}: tokens are looked up by their number")
    return value


def _at_places(ask: Question, value: Any) -> Tensor:
    """Returns the numbers of a large tensor at `extra["places"]`, indices `(m, axes)`; its shape `extra["shape"]`."""
    shape = tuple(ask.extra["shape"])
    if not isinstance(value, Tensor):
        raise NotMeasured(f"expected a tensor of shape {shape}, got {name_of(value)}")
    if tuple(value.shape) != shape:
        raise NotMeasured(f"expected a tensor of shape {shape}, got {tuple(value.shape)}")
    return value[ask.extra["places"].unbind(dim=1)]


def _any_order(ask: Question, value: Any) -> Any:
    """Returns the numbers of a tuple or list, sorted; any other value as it is."""
    numbers = isinstance(value, tuple | list) and all(isinstance(part, int | float) for part in value)
    return sorted(value) if numbers else value


def _random_start(ask: Question, value: Any) -> str:
    """Returns in words what was added to zeros `(1, n, d)`: rows of a random table, or of which other one.

    `extra["sinusoids"]` `(n, d)` is the table of sines and cosines.
    """
    rows = _numbers(value, tuple(ask.inputs[0].shape))[0]
    if not bool(rows.isfinite().all()):
        return "not numbers"
    if len(rows.mul(1e6).round().unique(dim=0)) < len(rows):
        return "some rows are alike"
    if not bool((rows - rows[:, :1]).abs().amax(dim=1).gt(1e-6).all()):
        return "all numbers of a row are alike"
    if torch.allclose(rows, ask.extra["sinusoids"].to(torch.float64), atol=1e-3):
        return "sinusoids"
    steps = rows.flatten().diff()
    return "counted numbers" if torch.allclose(steps, steps[:1].expand_as(steps), atol=1e-6) else "random numbers"


def _start(ask: Question, value: Any) -> dict[str, str]:
    """Returns how the weights of a causal attention of one head are shared out, read off its output `(1, n, n)`.

    The tokens are one-hot and come out as they go in, so that row i of the output holds the weights of row i.
    """
    n = ask.inputs[0].shape[1]
    rows = _numbers(value, (1, n, n))[0]
    if not bool(rows.isfinite().all()):
        raise NotMeasured("expected weights that are numbers, got NaN or infinity")
    if ask.extra["of"] == "alike":
        return {"all weights of a row alike": "yes" if torch.allclose(rows[-1], rows[-1].mean(), atol=1e-6) else "no"}
    return {"one place has nearly all": "yes" if bool(rows[n // 2 :].amax(dim=-1).mean() > 0.9) else "no"}


def _shapes(ask: Question, value: Any) -> dict[str, str]:
    """Returns for each entry of a dict whether it is a shape: a tuple or a list of whole numbers."""
    if not isinstance(value, dict):
        raise NotMeasured(f"expected a dict, got {name_of(value)}")

    def kind(shape: Any) -> str:
        if not isinstance(shape, tuple | list):
            return name_of(shape)
        return ", ".join(sorted({"whole numbers" if type(size) is int else name_of(size) for size in shape}))

    return {str(name): kind(shape) for name, shape in value.items()}


SAYS_WHY = "says why"  # measures no value, but an exception that is wanted: whether it says anything
INPUTS_KEPT = "inputs kept"  # measures the call and not its value: whether what was given is left as it was


def _pairs(ask: Question, value: Any) -> Any:
    """Returns a list of pairs as it is; each is a tuple, which is equal to another tuple and to no list."""
    strange = [pair for pair in value if not isinstance(pair, tuple)] if isinstance(value, tuple | list) else []
    if strange:
        raise NotMeasured(f"expected each pair to be a tuple, got {name_of(strange[0])}")
    return value


# name -> (what it measures, as a sentence about it begins; the function)
MEASURES: dict[str, tuple[str, Callable[[Question, Any], Any]]] = {
    "attention": ("the output of attention with your query", _one_head),
    "leads": ("by how much each score with your query is above the lowest", _leads),
    "two heads": ("the mean output of attention with your two queries", _two_heads),
    "self-attention": ("the outputs c1 and c2 (two rows) with your matrices", _self_attention),
    "shifted rows": ("what your matrix makes of encoded positions, one a row", _shifted),
    "scores": ("the scores of your queries and keys", _scores),
    "masking": ("what your function does to a batch of words", _masking),
    "variety": ("whether most of the words differ from each other", _variety),
    "two calls": ("what two calls in a row draw", _two_calls),
    "chances": ("how often the likeliest words are drawn", _chances),
    "spans": ("what your function does to a text", _spans),
    "pairs": ("the pairs", _pairs),
    "sweep": ("what a sweep does, told by its calls", _sweep),
    "at places": ("some places of a large result, one after the other", _at_places),
    "any order": ("the numbers, in order of size", _any_order),
    "random start": ("what the new table holds", _random_start),
    "start": ("the weights that a new module has", _start),
    "shapes": ("what the entries of your dict are", _shapes),
    "new head": ("where the head comes from, told by its scores", _new_head),
    "whole numbers": ("the tokens", _whole_numbers),
    "rows alike": ("whether all rows get the same numbers", _rows_alike),
}
