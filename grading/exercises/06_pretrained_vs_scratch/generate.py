"""Exercise generate of notebook 06."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grading.exercise import Exercise, Mistake, Stage
from grading.exercises.draws import fixed, seed_from
from helpers.checking.answers import Ask
from helpers.checking.plain import Model
from helpers.data import EOS, OOV, SOS, Vocabulary

from ._common import WORDS, _language_model, _wanted


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
) -> list[int]:
    """Writes on; the options are the ways in which it goes wrong."""
    tokens = [SOS] * start + encode(vocabulary, prompt)
    given, logits = len(tokens), None
    while len(tokens) - start < max_len + extra:
        if again or logits is None:
            logits = model(torch.tensor([tokens]))[0, row]  # (V,)
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


def _new_words_counted(model: Any, vocabulary: Vocabulary, prompt: str, max_len: int, temperature: float) -> list[int]:
    return _write(model, vocabulary, prompt, max_len, temperature, extra=len(vocabulary.encode(prompt)))


def _unknown_crash(vocabulary: Vocabulary, prompt: str) -> list[int]:
    return [vocabulary.numbers[word] for word in vocabulary.split(prompt)]


def _unknown_dropped(vocabulary: Vocabulary, prompt: str) -> list[int]:
    return [number for number in vocabulary.encode(prompt) if number != OOV]


VOCABULARY, FEW = Model("Vocabulary", {"words": WORDS}), Model("Vocabulary", {"words": WORDS[:3]})
PROMPTS = ["", "le roman est", "un style", "le", "roman très long", "le style est bon et", "et un"]


def _write_ask(model: Model, prompt: str, max_len: int, temperature: float = 0.0, words: Model = VOCABULARY) -> Ask:
    return Ask((model, words, prompt, max_len, temperature))


def _writes(ask: Ask, **options: Any) -> list[int]:
    found: list[int] = _wanted(partial(_write, **options), ask)
    return found


def _telling(rng: random.Random, prompts: Sequence[str], max_len: int) -> Ask:
    """Returns a question whose greedy text does not end with <eos>, and that is not too simple."""
    while True:
        ask = _write_ask(_language_model(seed_from(rng), 0.6), rng.choice(prompts), max_len)
        text = _writes(ask)
        varied = len(set(text[len(ask.inputs[2].split()) :])) > 1
        if varied and EOS not in _writes(ask, stop=False, extra=8) and _told_apart(ask, text):
            return ask


def _told_apart(ask: Ask, text: list[int]) -> bool:
    """Says whether the three ways of reading too little write other texts, and not the same two."""
    first, once = _writes(ask, row=0), _writes(ask, again=False)
    return text not in (_writes(ask, start=False), first, once) and (first != once or not ask.inputs[2])


def _ending(rng: random.Random, max_len: int, prompts: Sequence[str]) -> Ask:
    """Returns a question whose greedy text ends with <eos> before `max_len`, after two words at least."""
    while True:
        prompt = rng.choice(prompts)
        model = _language_model(seed_from(rng), 0.6, vocab_size=7)
        ask = _write_ask(model, prompt, max_len, words=FEW)
        if len(prompt.split()) + 1 < len(_writes(ask)) < max_len - 2:
            return ask


def _endings(rng: random.Random) -> list[Ask]:
    return [_ending(rng, 14, ["le roman", "est", "roman est le"]), _ending(rng, 12, [""])]


def _longer(rng: random.Random, prompts: Sequence[str] = PROMPTS[1:]) -> list[Ask]:
    """Returns questions on a text that does not end: two lengths of a written text, and a prompt that is too long."""
    ask = _telling(rng, prompts, 8)
    model, words, prompt, _, temperature = ask.inputs
    given = len(prompt.split())
    return [Ask((model, words, prompt, length, temperature)) for length in (given + 2, given + 5, given, given - 1)]


def _unknown(rng: random.Random) -> list[Ask]:
    prompts = ["le xylophone est", "un roman zinzolin", "abracadabra", "le quokka et un ornithorynque"]
    return [_telling(rng, prompts, 9), _telling(rng, prompts, 9)]


def _cold(rng: random.Random) -> list[Ask]:
    """Returns questions at a low temperature: one word is nearly certain, so that chance plays no part."""
    found: list[Ask] = []
    while len(found) < 2:
        ask = _telling(rng, PROMPTS[1:], 9)
        model, words, prompt, max_len, _ = ask.inputs
        cold = Ask((model, words, prompt, max_len, 1e-4))
        if _writes(cold) == _writes(ask) != _writes(cold, scale=lambda logits, temperature: logits):
            found.append(cold)
    return found


SYLLABLES = [a + b for a in "bcdfglmnprst" for b in ("a", "e", "i", "o", "u", "an", "on", "eau")]
MANY = Model("Vocabulary", {"words": [a + b for a in SYLLABLES[:20] for b in SYLLABLES[20:44]]})


def _hot(rng: random.Random) -> list[Ask]:
    """Returns questions on models that repeat themselves when they write greedily: at a high temperature, and at a
    low one where all logits are alike. So many words are likely that a text of 24 hardly repeats any."""
    return [_repeating(rng, 0.6, 1000.0), _repeating(rng, 0.0, 0.5)]


def _repeating(rng: random.Random, spread: float, temperature: float) -> Ask:
    options = {"vocab_size": 4 + len(MANY.arguments["words"]), "positions": "none"}
    while True:
        prompt = " ".join(rng.sample(MANY.arguments["words"], 3))  # three words are many even if <eos> comes at once
        ask = _write_ask(_language_model(seed_from(rng), spread, **options), prompt, 24, temperature, MANY)
        text = _writes(ask, greedy=True)
        if len(text) == 24 and len(set(text)) < 8:
            return ask


EXERCISE = Exercise(
    generate,
    [
        Stage(
            "temperature 0: the most probable word, again and again",
            1,
            "Read <sos>, the prompt and all that is written so far; the last row of logits scores the next word.",
            fixed(lambda rng: [_telling(rng, PROMPTS[1:], 7), _telling(rng, PROMPTS[1:], 5)], 1),
            lambda rng: [_telling(rng, PROMPTS[1:], 8), _telling(rng, PROMPTS[1:], 6)],
        ),
        Stage(
            "max_len words, the prompt among them",
            0.5,
            "The list that you return has at most max_len numbers, those of the prompt counted and <sos> not; a prompt "
            "that is longer comes back as it is.",
            fixed(lambda rng: _longer(rng, ["un style", "roman très long"]), 2),
            _longer,
        ),
        Stage(
            "<eos> ends the text, and is no part of it",
            1,
            "When the model writes <eos>, the text is over: stop, and leave <eos> out. The prompt may be empty.",
            fixed(_endings, 3),
            _endings,
        ),
        Stage(
            "a prompt with a word that nobody knows",
            0.5,
            "vocabulary.encode gives <oov> for it, and so should you.",
            fixed(_unknown, 4),
            _unknown,
        ),
        Stage(
            "temperature near 0: nearly certainly the most probable word",
            0.5,
            "Divide the logits by the temperature before the softmax: a small one makes the largest stand out.",
            fixed(_cold, 5),
            _cold,
        ),
        Stage(
            "the words are drawn: many different ones",
            0.5,
            "Wherever the temperature is not 0, draw from the probabilities; torch.multinomial does it. At temperature "
            "1000 all words are about as likely, and at 0.5 those whose logits are alike.",
            fixed(_hot, 6),
            _hot,
            measure="variety",
        ),
    ],
    [
        Mistake(
            "it never stops at <eos>",
            "The model has written <eos>, which means that the text is over, and you went on. Look at each word before "
            "you go on.",
            partial(_write, stop=False),
        ),
        Mistake(
            "<eos> is kept",
            "<eos> is a sign for us, not a word of the text: stop without it.",
            partial(_write, keep_eos=True),
        ),
        Mistake(
            "<sos> is kept",
            "<sos> is there so that the model can begin. It is no part of the text that you return.",
            partial(_write, keep_sos=True),
        ),
        Mistake(
            "the model does not read <sos>",
            "Every text that the model has learned from began with <sos>; without it the first word cannot be asked "
            "for.",
            partial(_write, start=False),
        ),
        Mistake(
            "max_len counts the new words only",
            "max_len is the length of the whole text, prompt included.",
            _new_words_counted,
        ),
        Mistake(
            "one word too many",
            "The text may have max_len words and has one more: look at when the loop ends.",
            partial(_write, extra=1),
        ),
        Mistake(
            "one word too few",
            "The text may have max_len words and has one less. <sos> is not counted.",
            partial(_write, extra=-1),
        ),
        Mistake(
            "the prompt is not returned",
            "The text begins with the words of the prompt; you return only what follows them.",
            partial(_write, new_only=True),
        ),
        Mistake(
            "a word that nobody knows is an error",
            "vocabulary.numbers has no entry for it. vocabulary.encode gives <oov> for unknown words.",
            partial(_write, encode=_unknown_crash),
        ),
        Mistake(
            "a word that nobody knows is left out",
            "The model should know that there is a word, even if it does not know which: <oov> stands for it.",
            partial(_write, encode=_unknown_dropped),
        ),
        Mistake(
            "temperature 0 divides by zero",
            "At temperature 0 there is nothing to draw: take the most probable word, argmax.",
            partial(_write, zero=False, scale=lambda logits, temperature: logits / temperature),
        ),
        Mistake(
            "always the most probable word",
            "The temperature has no effect. Where it is not 0, divide the logits by it, take the softmax, and draw.",
            partial(_write, greedy=True),
        ),
        Mistake(
            "the logits are multiplied by the temperature",
            "A high temperature must make the words more alike: divide.",
            partial(_write, scale=lambda logits, temperature: logits * temperature),
        ),
        Mistake(
            "the temperature is ignored where it is not 0",
            "Dividing probabilities, or not dividing at all, leaves the odds as they are. Divide the logits, before "
            "the softmax.",
            partial(_write, scale=lambda logits, temperature: logits),
        ),
        Mistake(
            "what is written is not read again",
            "The logits are those of the prompt, for every word. Each new word depends on the words before it: call "
            "the model inside the loop, with all that is written so far.",
            partial(_write, again=False),
        ),
        Mistake(
            "the first row of the logits",
            "Row 0 knows <sos> only. The last row has read the whole text so far.",
            partial(_write, row=0),
        ),
    ],
)
