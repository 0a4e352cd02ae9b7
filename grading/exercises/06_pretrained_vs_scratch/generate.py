"""Exercise generate of notebook 06."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import both, fixed, seed_from
from grading.exercises.searched import Kind, Searched
from helpers.vocabulary import EOS, OOV, SOS, Vocabulary
from tutor.checking.answers import Question
from tutor.checking.building import build
from tutor.checking.plain import Model

from ._common import WORDS, _language_model, _wanted

exercise = Definition(minutes=20, difficulty=2)


@exercise.reference
def generate(model: Any, vocabulary: Vocabulary, prompt: str, max_len: int, temperature: float) -> list[int]:
    return _write(model, vocabulary, prompt, max_len, temperature)


def _hotter(logits: Tensor, temperature: float) -> Tensor:
    return logits / temperature if temperature else logits / 1e-6


@torch.no_grad()
def _write(
    model: Any,
    vocabulary: Vocabulary,
    prompt: str,
    max_len: int,
    temperature: float,
    *,
    encode: Callable[[Vocabulary, str], list[int]] = lambda vocabulary, prompt: vocabulary.encode(prompt),
    scale: Callable[[Tensor, float], Tensor] = _hotter,
    greedy: bool = False,
    stop: bool = True,
    keep_eos: bool = False,
    keep_sos: bool = False,
    start: bool = True,
    row: int = -1,
    extra: int = 0,
    new_only: bool = False,
    zero: bool = True,
    again: bool = True,
    window: int = 0,
) -> list[int]:
    """Writes on; the options are the ways in which it goes wrong."""
    tokens = [SOS] * start + encode(vocabulary, prompt)
    given, logits = len(tokens), None
    while len(tokens) - start < max_len + extra:
        if again or logits is None:
            logits = model(torch.tensor([tokens[-window:]]))[0, row]  # (V,); 0 leaves out nothing
        if (temperature == 0 and zero) or greedy:
            following = int(logits.argmax())
        else:
            following = int(torch.multinomial(torch.softmax(scale(logits, temperature), dim=-1), 1))
        if following == EOS and stop:
            if keep_eos:
                tokens.append(EOS)
            break
        tokens.append(following)
    return tokens[given:] if new_only else tokens[start - keep_sos :]


VOCABULARY, FEW = Model("Vocabulary", {"words": WORDS}), Model("Vocabulary", {"words": WORDS[:3]})
PROMPTS = ["le roman est", "un style", "le", "roman très long", "le style est bon et", "et un"]
ENDING = ["le roman", "est", "roman est le"]
# As people write: capitals, commas and full stops, and words that the vocabulary does not know.
WRITTEN = ["Le roman est", "UN STYLE,", "Roman très long!", "Le style, est bon et", "L'été est long", "Et un..."]
UNKNOWN = ["le xylophone est", "un roman zinzolin", "abracadabra", "le quokka et un ornithorynque"]
SYLLABLES = [a + b for a in "bcdfglmnprst" for b in ("a", "e", "i", "o", "u", "an", "on", "eau")]
MANY = Model("Vocabulary", {"words": [a + b for a in SYLLABLES[:20] for b in SYLLABLES[20:44]]})


def _write_ask(
    model: Model, prompt: str, max_len: int, temperature: float = 0.0, words: Model = VOCABULARY
) -> Question:
    return Question((model, words, prompt, max_len, temperature))


def _many_words(seed: int, spread: float, **options: Any) -> Model:
    """Returns a model of many words without positions, so that a text may be as long as one likes."""
    return _language_model(seed, spread, vocab_size=4 + len(MANY.arguments["words"]), positions="none", **options)


def _without_layers(seed: int, spread: float, **options: Any) -> Model:
    """Returns a model of many words that scores the next one by the last alone, for texts of many calls: it is fast."""
    return _many_words(seed, spread, n_layers=0, norm_first=True, **options)


# --- The questions


def _telling(seed: int, prompts: Sequence[str] = PROMPTS, max_len: int = 9) -> Question:
    rng = random.Random(seed)
    return _write_ask(_language_model(seed_from(rng), 0.6), rng.choice(prompts), max_len)


def _far(seed: int) -> Question:
    return _telling(seed, max_len=22)


def _very_far(seed: int) -> Question:
    """Asks for a text so long that the last 64 words do not tell the next one; with seed 1 they do not."""
    return _write_ask(_language_model(seed, 0.6, max_len=80), "le roman est", 72)


def _as_written(seed: int) -> Question:
    return _telling(seed, WRITTEN)


def _unknown(seed: int) -> Question:
    return _telling(seed, UNKNOWN)


def _cold(seed: int) -> Question:
    """Asks at a low temperature: one word is nearly certain, so that chance plays no part."""
    return Question((*_telling(seed).inputs[:4], 1e-4))


def _special(seed: int) -> Question:
    return _telling(seed, max_len=12)


def _ending(seed: int, prompts: Sequence[str] = ENDING) -> Question:
    rng = random.Random(seed)
    return _write_ask(_language_model(seed_from(rng), 0.6, vocab_size=7), rng.choice(prompts), 14, words=FEW)


def _from_nothing(seed: int) -> Question:
    return _ending(seed, [""])


def _repeating(seed: int) -> Question:
    """Asks a model that repeats itself when it writes greedily for a text at a high temperature."""
    rng = random.Random(seed)
    prompt = " ".join(rng.sample(MANY.arguments["words"], 3))  # three words are many even if <eos> comes at once
    return _write_ask(_many_words(seed_from(rng), 0.6), prompt, 24, 1000.0, MANY)


def _alike(seed: int) -> Question:
    """Asks a model whose logits are all alike for a text at a low temperature."""
    rng = random.Random(seed)
    prompt = " ".join(rng.sample(MANY.arguments["words"], 3))
    return _write_ask(_without_layers(seed_from(rng), 0.0), prompt, 24, 0.5, MANY)


LEAD = 0.12  # of the likeliest word's logit at temperature 0: who draws at 0.01 draws it as well, and is seen elsewhere
NEW = 60  # words that are drawn to see how often the likeliest come


def _chances(seed: int, spread: float = 10.0, sharpness: float = 2.8) -> tuple[Tensor, Question]:
    """Returns logits, and a question at a temperature where few words share half of the chances.

    A model of width 1 is constant before its head: it gives the same logits whatever it has read. Those of `spread` are
    far apart, and want a temperature far above 1, the higher, the smaller the `sharpness`.
    """
    rng = random.Random(seed)
    model = _without_layers(seed_from(rng), spread, d_model=1, n_heads=1)
    logits = _logits(model)
    temperature = round(float(logits.std()) / sharpness, 1) if spread else 0.1
    ask = _write_ask(model, rng.choice(MANY.arguments["words"]), 1 + NEW, temperature, MANY)
    return logits, replace(ask, extra={"likeliest": _first(logits, temperature, 0.5), "given": 1})


@torch.no_grad()
def _logits(model: Model) -> Tensor:
    logits: Tensor = build(model)(torch.tensor([[SOS]]))[0, -1]
    return logits


def _first(logits: Tensor, temperature: float, share: float) -> list[int]:
    """Returns the words with the largest logits that have this share of the chances together."""
    chances, order = torch.softmax(logits.double() / temperature, dim=-1).sort(descending=True)
    return order[: int((chances.cumsum(0) < share).sum()) + 1].tolist()


def _far_apart(seed: int) -> Question:
    return _chances(seed)[1]


def _close(seed: int) -> Question:
    return _chances(seed, 0.0)[1]


def _many_rare(seed: int) -> Question:
    """Asks at a temperature where many rare words have a fifth of the chances together."""
    logits, ask = _chances(seed, sharpness=2.0)
    others = _first(logits, ask.inputs[4], 0.8)
    return replace(ask, extra={"rarest": sorted({*range(len(logits))} - {*others}), "given": 1})


def _writes(ask: Question, **options: Any) -> list[int]:
    written: list[int] = _wanted(partial(_write, **options), ask)
    return written


def _goes_on(ask: Question) -> bool:
    """Says whether the greedy text does not end, and is another one for who reads too little."""
    text, given = _writes(ask), len(build(ask.inputs[1]).encode(ask.inputs[2]))
    first, once = _writes(ask, row=0), _writes(ask, again=False)
    varied = len(set(text[given:])) > 1
    told_apart = text not in (_writes(ask, start=False), first, once) and first != once
    words_only = min(text[given:], default=0) > OOV  # who stops at <oov> or <pad> fails where that is asked
    clearly = EOS not in _writes(ask, stop=False, extra=8) and _lead(ask) > LEAD
    return words_only and varied and clearly and told_apart


def _looks_far_back(ask: Question) -> bool:
    """Says whether the text is another one for who reads the last eight, twelve or sixteen tokens only."""
    return _goes_on(ask) and all(_writes(ask, window=window) != _writes(ask) for window in (8, 12, 16))


def _writes_special(ask: Question) -> bool:
    """Says whether the model writes <oov>, and words after it."""
    return OOV in _writes(ask)[len(ask.inputs[2].split()) + 1 : -2] and _is_plain(ask)


@torch.no_grad()
def _lead(ask: Question) -> float:
    """Returns by how much the logit of the most probable word leads, in the step of a greedy text where it is least.

    The last step writes <eos>, where the text ends before its greatest length.
    """
    model, vocabulary, prompt, max_len = build(ask.inputs[:4])
    text = _writes(ask, greedy=True)
    steps = slice(len(vocabulary.encode(prompt)), len(text) + (len(text) < max_len))
    first, second = model(torch.tensor([[SOS, *text]]))[0, steps].topk(2).values.T
    return float((first - second).min())


def _is_plain(ask: Question) -> bool:
    """Says whether who draws at 0.01 writes the same, and who reads the last eight tokens: both are seen elsewhere."""
    return _lead(ask) > LEAD and _writes(ask, window=8) == _writes(ask)


def _goes_on_plainly(ask: Question) -> bool:
    return _goes_on(ask) and _is_plain(ask)


def _is_cold(ask: Question) -> bool:
    """Says whether chance plays no part, either, for who divides by 0.01, the root of the temperature."""
    warm = Question((*ask.inputs[:4], 0.0))
    if _lead(ask) < 0.18 or _writes(warm, window=8) != _writes(warm):  # how far back one reads is asked elsewhere
        return False
    unscaled = _writes(ask, scale=lambda logits, temperature: logits)
    same: bool = _writes(ask) == _writes(warm) != unscaled
    return same and bool(_goes_on(warm))


def _ends_at_once(ask: Question) -> bool:
    """Says whether the first word that is written is <eos>, after none of the prompt."""
    return not _writes(ask) and not ask.inputs[2] and _lead(ask) > LEAD


def _ends(ask: Question) -> bool:
    """Says whether the greedy text ends with <eos> in time, after two words at least."""
    return bool(len(ask.inputs[2].split()) + 1 < len(_writes(ask)) < ask.inputs[3] - 2) and _is_plain(ask)


def _repeats(ask: Question) -> bool:
    text = _writes(ask, greedy=True)
    return len(text) == 24 and len(set(text)) < 8


def _is_fair(ask: Question) -> bool:
    """Says whether the likeliest words have about half of the chances, and <eos> none, also at other temperatures."""
    logits, temperature = _logits(ask.inputs[0]).double(), ask.inputs[4]
    share = float(torch.softmax(logits / temperature, dim=-1)[ask.extra["likeliest"]].sum())
    ends = max(float(torch.softmax(logits / (temperature * factor), dim=-1)[EOS]) for factor in (0.5, 1, 2))
    return 0.48 < share < 0.53 and len(ask.extra["likeliest"]) < 25 and ends < 1e-3


def _has_rare_words(ask: Question) -> bool:
    """Says whether the rarest words have about a fifth of the chances, none is among the best fifty, and none ends."""
    chances = torch.softmax(_logits(ask.inputs[0]).double() / ask.inputs[4], dim=-1)
    rarest = ask.extra["rarest"]
    return (
        0.19 < float(chances[rarest].sum()) <= 0.2 and len(chances) - len(rarest) >= 50 and float(chances[EOS]) < 1e-6
    )


# What a kind of question must be good for holds for all its seeds; `seeds.json` has as many.
SEARCHED = Searched(
    __file__,
    {
        "goes on": Kind(_telling, _goes_on, 25),
        "looks far back": Kind(_far, _looks_far_back, 12),
        "ends": Kind(_ending, _ends, 25),
        "ends, from nothing": Kind(_from_nothing, _ends, 25),
        "ends at once": Kind(_from_nothing, _ends_at_once, 14),
        "as people write": Kind(_as_written, _goes_on_plainly, 16),
        "unknown words": Kind(_unknown, _goes_on_plainly, 18),
        "cold": Kind(_cold, _is_cold, 7),
        "repeats": Kind(_repeating, _repeats, 12),
        "alike": Kind(_alike, _repeats, 12),
        "far apart": Kind(_far_apart, _is_fair, 12),
        "close": Kind(_close, _is_fair, 12),
        "many rare": Kind(_many_rare, _has_rare_words, 11),
        "special tokens": Kind(_special, _writes_special, 15),
    },
)


# Of a short prompt not even the longest text is so long that it matters how far back an answer reads.
SHORT = [seed for seed in SEARCHED.seeds("goes on") if len(_telling(seed).inputs[2].split()) <= 3]
_TELLING, _FAR = SEARCHED.asked("goes on", 2), SEARCHED.asked("looks far back")


def _nearly_alike(seed: int) -> Question:
    """Asks for words that are so nearly as probable as another one that who draws at 0.01 draws that, too."""
    return _write_ask(_many_words(seed, 0.6), MANY.arguments["words"][seed], 16, 0.0, MANY)


@exercise.stage(
    "temperature 0: the most probable word, again and again",
    points=1,
    public=[*fixed(both(_TELLING, _FAR), 1), _nearly_alike(235)],
    decisive=True,
)
def _(rng: random.Random) -> list[Question]:
    """Read <sos>, the prompt and all that is written so far; the last row of logits scores the next word. At 0 nothing
    is drawn: take the argmax.
    """
    return both(_TELLING, _FAR)(rng)


def _longer(ask: Question) -> list[Question]:
    """Returns questions on a text that does not end: of some words more, of none, and a prompt that is too long."""
    model, words, prompt, _, temperature = ask.inputs
    given = len(prompt.split())
    return [Question((model, words, prompt, length, temperature)) for length in (given + 3, given, given - 1)]


@exercise.stage("max_len words, the prompt among them", points=0.5, public=_longer(_telling(28)))
def _(rng: random.Random) -> list[Question]:
    """The list that you return has at most max_len numbers, those of the prompt counted and <sos> not; a prompt that is
    longer comes back as it is.
    """
    return _longer(_telling(rng.choice(SHORT)))


_ENDINGS = both(*map(SEARCHED.asked, ("ends", "ends, from nothing", "special tokens", "ends at once")))


# The model writes <oov> and <pad> in the special ones.
@exercise.stage(
    "<eos> ends the text, and is no part of it", points=0.75, public=[*fixed(_ENDINGS, 3), _special(76), _special(217)]
)
def _(rng: random.Random) -> list[Question]:
    """When the model writes <eos>, and only then, the text is over: stop, and leave <eos> out. The prompt
    may be empty, and so may the text.
    """
    return _ENDINGS(rng)


_ANY_PROMPT = both(SEARCHED.asked("unknown words"), SEARCHED.asked("as people write", 2))


@exercise.stage("any prompt: capitals, commas, words that nobody knows", points=0.5, seed=4)
def _(rng: random.Random) -> list[Question]:
    """vocabulary.encode makes small letters, cuts off commas and full stops, and gives <oov> for what it
    does not know.
    """
    return _ANY_PROMPT(rng)


@exercise.stage(
    "temperature near 0: nearly certainly the most probable word", points=0.25, public=[_cold(239), _cold(159)]
)
def _(rng: random.Random) -> list[Question]:
    """Divide the logits by the temperature before the softmax: a small one makes the largest stand out."""
    return SEARCHED.asked("cold")(rng)


_DRAWN = both(SEARCHED.asked("repeats"), SEARCHED.asked("alike"))


@exercise.stage("the words are drawn: many different ones", points=0.5, seed=6, measure="variety")
def _(rng: random.Random) -> list[Question]:
    """Wherever the temperature is not 0, draw from the probabilities; torch.multinomial does it. At temperature 1000
    all words are about as likely, and at 0.5 those whose logits are alike.
    """
    return _DRAWN(rng)


@exercise.stage("two calls draw different texts", points=0.25, seed=8, measure="two calls")
def _(rng: random.Random) -> list[Question]:
    """Chance is not to begin anew in each call: no seed, and no generator of its own."""
    # Of many words that are about as likely no two calls draw the same five by chance. It takes five calls.
    (ask,) = SEARCHED.asked("alike")(rng)
    model, words, prompt, _, temperature = ask.inputs
    inputs = model, words, prompt, len(prompt.split()) + 5, temperature
    return [replace(ask, inputs=inputs, probe="again", follow_up=inputs)]


_CHANCES = both(SEARCHED.asked("far apart"), SEARCHED.asked("close"), SEARCHED.asked("many rare"))


@exercise.stage("how often the likeliest words are drawn", points=0.25, seed=7, measure="chances")
def _(rng: random.Random) -> list[Question]:
    """Here a few words have half of the chances together, in softmax(logits / temperature), and in another question
    many rare ones a fifth. Divide by the temperature itself, whether it is 0.1 or 30, and draw each word anew, from all
    words.
    """
    return _CHANCES(rng)


exercise.large += [_very_far(1)]


@exercise.corners(
    "max_len words, the prompt among them",
    words=(1, range(301, 304)),
    max_len=("one", "one less", "as many"),
    temperature=(0.0, 1.0),
)
def _(rng: random.Random, words: int, max_len: str, temperature: float) -> Question:
    """Asks with prompts as long as the text may be, or longer: they come back as they are."""
    prompt = " ".join(rng.choices(MANY.arguments["words"], k=words))
    most = {"one": 1, "one less": max(words - 1, 1), "as many": words}[max_len]
    return _write_ask(_many_words(1, 0.6), prompt, most, temperature, MANY)
