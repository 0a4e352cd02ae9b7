"""Exercises of notebook 06: pretrained against scratch."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grading.exercise import Exercise, Mistake, Stage
from helpers.checking.answers import Ask, InProcess
from helpers.checking.plain import Model, Optimizer
from helpers.data import EOS, IGNORE, OOV, PAD, SOS, Batch, Vocabulary, scored_places

Record = dict[str, Any]


def _seed(rng: random.Random) -> int:
    return rng.randrange(10**6)


def _wanted(answer: Callable[..., Any], ask: Ask) -> Any:
    """Returns what an answer of this file makes of a question."""
    return InProcess(answer).ask(ask, 5).value


# --- perplexity -------------------------------------------------------------------------------------------------------


def perplexity(losses: Tensor, token_counts: Tensor) -> float:
    return math.exp(float((losses * _real_places(losses, token_counts)).sum() / token_counts.sum()))


def _real_places(losses: Tensor, token_counts: Tensor) -> Tensor:
    return torch.arange(losses.shape[1]) < token_counts.unsqueeze(1)  # (b, n)


def _losses(b: int, n: int, seed: int) -> Tensor:
    numbers = torch.rand(b, n, generator=torch.Generator().manual_seed(seed)) * 5
    return (10 * numbers).round() / 10  # one decimal, to be read in the picture


def _counts(*numbers: int) -> Tensor:
    return torch.tensor(numbers)


def _draw_losses(texts: int, spare: int, different: bool) -> Callable[[random.Random], list[Ask]]:
    """Returns what draws `texts` texts of the same or of `different` lengths, with `spare` columns of padding."""

    def draw(rng: random.Random) -> list[Ask]:
        n = rng.randint(texts + 3, texts + 7)
        counts = rng.sample(range(1, n), texts) if different else [n] * texts
        return [Ask((_losses(texts, n + spare, _seed(rng)), torch.tensor(counts)))]

    return draw


def _text_means(losses: Tensor, token_counts: Tensor) -> Tensor:
    return (losses * _real_places(losses, token_counts)).sum(dim=1) / token_counts


PERPLEXITY = Exercise(
    perplexity,
    [
        Stage(
            "one text",
            0.5,
            "Losses of ln 2 and ln 8 have the mean ln 4: a perplexity of 4, the mean taken before the exponential.",
            [Ask((torch.tensor([[math.log(2), math.log(8)]]), _counts(2))), Ask((_losses(1, 5, 1), _counts(5)))],
            _draw_losses(1, 0, False),
        ),
        Stage(
            "several texts of the same length",
            0.5,
            "One number for all texts together: the mean over all tokens, then one exponential.",
            [Ask((_losses(3, 4, 2), _counts(4, 4, 4)))],
            _draw_losses(4, 0, False),
        ),
        Stage(
            "what lies beyond a text is not counted",
            0.5,
            "Row k holds token_counts[k] losses; what follows them belongs to the padding and means nothing.",
            [Ask((_losses(2, 6, 3), _counts(4, 4)))],
            lambda rng: [Ask((_losses(3, n + 3, _seed(rng)), torch.tensor([n] * 3))) for n in (rng.randint(3, 6),)],
        ),
        Stage(
            "every token counts the same, in a short text and in a long one",
            0.5,
            "Divide the sum of all losses by the number of all tokens, not text by text.",
            [Ask((_losses(3, 7, 4), _counts(7, 2, 4)))],
            _draw_losses(4, 1, True),
        ),
    ],
    [
        Mistake(
            "padding is counted",
            "The mean runs over all places of the table, padding included. Only the first token_counts[k] numbers of "
            "row k are losses of tokens.",
            lambda losses, token_counts: float(losses.mean().exp()),
        ),
        Mistake(
            "padding is counted in the number of tokens",
            "The losses of padding are left out, but the sum is divided by all places: the perplexity comes out too "
            "low. Divide by token_counts.sum().",
            lambda losses, token_counts: float(
                (losses * _real_places(losses, token_counts)).sum().div(losses.numel()).exp()
            ),
        ),
        Mistake(
            "the mean of the perplexities of the texts",
            "One difficult text would outweigh all the others. Take the mean of the losses over all tokens first, and "
            "one exponential at the end.",
            lambda losses, token_counts: float(_text_means(losses, token_counts).exp().mean()),
        ),
        Mistake(
            "the mean of the exponentials",
            "exp of a mean is not the mean of exp: one token with a loss of 10 would count as 22026. First the mean of "
            "the losses, then the exponential.",
            lambda losses, token_counts: float(
                (losses.exp() * _real_places(losses, token_counts)).sum() / token_counts.sum()
            ),
        ),
        Mistake(
            "every text counts the same, however long",
            "This is the mean of the means of the texts: a token of a short text counts more than one of a long text. "
            "Weight by the number of tokens.",
            lambda losses, token_counts: float(_text_means(losses, token_counts).mean().exp()),
        ),
        Mistake(
            "the exponential is missing",
            "This is the mean loss in nats. The perplexity is its exponential.",
            lambda losses, token_counts: math.log(perplexity(losses, token_counts)),
        ),
        Mistake(
            "a power of 2",
            "Our losses are in nats (natural logarithm), so the base is e. 2 belongs to losses in bits.",
            lambda losses, token_counts: 2 ** math.log(perplexity(losses, token_counts)),
        ),
        Mistake(
            "the sum in place of the mean",
            "exp of the sum grows with the length of the text and soon beyond all numbers. Divide by the tokens first.",
            lambda losses, token_counts: float((losses * _real_places(losses, token_counts)).sum().exp()),
        ),
    ],
)


# --- models and batches by recipe -------------------------------------------------------------------------------------

WORDS = ["le", "roman", "est", "long", "bon", "un", "style", "très", "et", "fin"]
V = 4 + len(WORDS)


def _base(seed: int, **options: Any) -> Model:
    shape = {"vocab_size": V, "d_model": 8, "n_layers": 1, "n_heads": 2, "dropout": 0.0, "max_len": 40}
    return Model("TransformerBase", shape | options, seed)


def _language_model(seed: int, spread: float = 0.3, **options: Any) -> Model:
    return Model("LanguageModel", {"base": _base(seed, **options)}, seed, spread=spread)


def _classifier(seed: int, n_classes: int = 2, spread: float = 0.3, **options: Any) -> Model:
    return Model("Classifier", {"base": _base(seed, **options), "n_classes": n_classes}, seed, spread=spread)


def _batch(texts: Sequence[Sequence[int]], labels: Sequence[int] = ()) -> Model:
    """Returns a batch of texts, for a classifier where there are labels, else for a language model."""
    n = 1 + max(map(len, texts))

    def padded(rows: list[list[int]], value: int) -> Tensor:
        return torch.tensor([row + [value] * (n - len(row)) for row in rows])

    tokens = padded([[SOS, *text] for text in texts], PAD)
    target = torch.tensor(labels) if labels else padded([[*text, EOS] for text in texts], IGNORE)
    lengths = torch.tensor([1 + len(text) for text in texts])
    cells = {"tokens": tokens, "lengths": lengths, "target": target, "scored": scored_places(target)}
    return Model("Batch", {"rows": torch.arange(len(texts)), **cells, "n_tokens": int(lengths.sum())})


def _texts(rng: random.Random, lengths: Sequence[int]) -> list[list[int]]:
    return [[rng.randrange(4, V) for _ in range(length)] for length in lengths]


# --- train_step -------------------------------------------------------------------------------------------------------


def train_step(model: Any, batch: Batch, optimizer: torch.optim.Optimizer) -> float:
    return _step(model, batch, optimizer)


def _mean_loss(logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), target.flatten(), ignore_index=IGNORE)


def _clip(model: nn.Module) -> None:
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def _step(
    model: Any,
    batch: Batch,
    optimizer: torch.optim.Optimizer,
    *,
    loss: Callable[[Tensor, Tensor], Tensor] = _mean_loss,
    clear: str = "first",
    clip: Callable[[nn.Module], None] | None = _clip,
    lengths: bool = True,
    mode: bool = True,
    steps: int = 1,
) -> float:
    """Makes a training step; the options are the ways in which it goes wrong."""
    model.train(mode)
    logits = model(batch.tokens, batch.lengths) if lengths else model(batch.tokens)
    value = loss(logits, batch.target)
    if clear == "first":
        optimizer.zero_grad()
    value.backward()
    if clear == "late":
        optimizer.zero_grad()
    if clip:
        clip(model)
    for _ in range(steps):
        optimizer.step()
    return value.item()


def _with(**options: Any) -> Callable[..., Any]:
    """Returns a training step that goes wrong in these ways."""
    return lambda model, batch, optimizer: _step(model, batch, optimizer, **options)


def _mean_over_all_places(logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), target.flatten(), ignore_index=IGNORE, reduction="sum") / (
        target.numel()
    )


def _sum_over_places(logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), target.flatten(), ignore_index=IGNORE, reduction="sum")


def _padding_is_a_word(logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), target.flatten().where(target.flatten() != IGNORE, torch.tensor(PAD)))


def _padding_ignored(logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), target.flatten(), ignore_index=PAD)


def _softmax_first(logits: Tensor, target: Tensor) -> Tensor:
    return _mean_loss(torch.softmax(logits, dim=-1), target)


def _own_update(model: Any, batch: Batch, optimizer: torch.optim.Optimizer) -> float:
    rate = optimizer.param_groups[0]["lr"]
    return _step(model, batch, torch.optim.SGD(model.parameters(), lr=rate))


def _norm(model: Model, batch: Model) -> float:
    """Returns how long the gradient of the loss is."""

    def norm(model: Any, batch: Batch) -> float:
        _mean_loss(model(batch.tokens, batch.lengths), batch.target).backward()
        return float(nn.utils.clip_grad_norm_(model.parameters(), 1.0))

    found: float = _wanted(norm, Ask((model, batch)))
    return found


RATE = 0.5
PROBE = (torch.tensor([[SOS, 4, 5, 6, 7]]),)  # what the model is asked after the step


def _step_ask(model: Model, batch: Model, optimizer: str = "SGD", **settings: Any) -> Ask:
    return Ask((model, batch, Optimizer(optimizer, RATE if optimizer == "SGD" else 0.05)), changes=(0,), **settings)


def _with_gradient(rng: random.Random, low: float, high: float, spread: float) -> tuple[Model, Model]:
    """Returns a language model and a batch with a gradient of a length between `low` and `high`."""
    while True:
        model = _language_model(_seed(rng), spread)
        batch = _batch(_texts(rng, rng.sample(range(2, 8), 3)))
        if low < _norm(model, batch) < high:
            return model, batch


def _learned(asks: Sequence[tuple[Model, Model]], optimizer: str = "SGD") -> list[Ask]:
    return [_step_ask(model, batch, optimizer, take="after", then=PROBE) for model, batch in asks]


def _left_over(pair: tuple[Model, Model]) -> tuple[Model, Model]:
    return replace(pair[0], gradients=0.02), pair[1]


_FIRST = random.Random(6)
_SHORT, _LONG = _with_gradient(_FIRST, 0.2, 0.9, 0.05), _with_gradient(_FIRST, 2.0, 20.0, 0.8)

TRAIN_STEP = Exercise(
    train_step,
    [
        Stage(
            "it returns the loss of a language model",
            0.5,
            "cross_entropy takes the logits as they are, (k, V), and k targets: flatten both to k = b * n rows.",
            [_step_ask(_language_model(1), _batch([[4, 5, 6], [7, 8, 9]]))],
            lambda rng: [_step_ask(_language_model(_seed(rng)), _batch(_texts(rng, [5, 5, 5])))],
        ),
        Stage(
            "padding does not count",
            0.5,
            "Where the target is IGNORE nothing is asked: the mean runs over the other places only.",
            [_step_ask(_language_model(2), _batch([[4, 5, 6, 7, 8, 9], [7, 8]]))],
            lambda rng: [_step_ask(_language_model(_seed(rng)), _batch(_texts(rng, [8, rng.randint(1, 3), 5])))],
        ),
        Stage(
            "it returns the loss of a classifier",
            0.5,
            "A classifier gives logits (b, C) for targets (b,), and must know the lengths of the texts: "
            "model(batch.tokens, batch.lengths).",
            [_step_ask(_classifier(3, 3), _batch([[4, 5, 6, 7, 8, 9], [7, 8], [5, 6, 4]], [2, 0, 1]))],
            lambda rng: [
                _step_ask(
                    _classifier(_seed(rng), 3),
                    _batch(_texts(rng, [7, rng.randint(1, 3), 4, 2]), rng.sample([0, 1, 2, rng.randrange(3)], 4)),
                )
            ],
        ),
        Stage(
            "the model has made one step",
            1,
            "backward() fills the gradients, optimizer.step() moves the weights by them: in this order, once each.",
            [*_learned([_SHORT]), *_learned([_SHORT], "Adam")],
            lambda rng: [
                *_learned([_with_gradient(rng, 0.2, 0.9, 0.05)]),
                *_learned([_with_gradient(rng, 0.2, 0.9, 0.05)], "Adam"),
            ],
        ),
        Stage(
            "gradients left by an earlier step do not count",
            0.5,
            "backward() adds to the gradients that are there. optimizer.zero_grad() clears them, at any time before "
            "backward().",
            _learned([_left_over(_SHORT)]),
            lambda rng: _learned([_left_over(_with_gradient(rng, 0.2, 0.9, 0.05))]),
        ),
        Stage(
            "a long gradient is scaled down to length 1",
            0.5,
            "nn.utils.clip_grad_norm_(model.parameters(), 1.0), when the gradients are there and not yet used.",
            _learned([_LONG]),
            lambda rng: _learned([_with_gradient(rng, 2.0, 20.0, 0.8)]),
        ),
        Stage(
            "the model is in training mode",
            0.5,
            "Whoever measured the model before may have left it in evaluation mode, without dropout: call "
            "model.train() at the beginning of every step.",
            [_step_ask(_language_model(4, dropout=1.0), _batch([[4, 5, 6], [7, 8, 9]]))],
            lambda rng: [_step_ask(_language_model(_seed(rng), dropout=1.0), _batch(_texts(rng, [5, 5])))],
        ),
    ],
    [
        Mistake(
            "softmax before cross-entropy",
            "cross_entropy takes the logits and does the softmax itself. Done twice, all probabilities come close to "
            "each other, and the model hardly learns.",
            _with(loss=_softmax_first),
        ),
        Mistake(
            "gradients are not cleared",
            "backward() adds to what the steps before have left: the model follows the sum of all old gradients. Call "
            "optimizer.zero_grad() before backward().",
            _with(clear="never"),
        ),
        Mistake(
            "no step is made, or gradients are cleared before they are used",
            "The weights stay as they were. optimizer.step() must come after backward(), and no zero_grad() between "
            "them.",
            _with(clear="late"),
        ),
        Mistake(
            "the mean runs over the padding too",
            "The losses of padding are 0, but they are counted: the more padding, the smaller the loss. Divide by the "
            "number of targets that are not IGNORE; cross_entropy does so by itself.",
            _with(loss=_mean_over_all_places),
        ),
        Mistake(
            "padding is learned as a word",
            "IGNORE has been replaced by a word of the vocabulary: the model learns to write padding.",
            _with(loss=_padding_is_a_word),
        ),
        Mistake(
            "PAD is ignored in the target, not IGNORE",
            "In the target a padded place holds IGNORE, -100; PAD stands in the tokens. With ignore_index=PAD "
            "cross_entropy takes -100 for the number of a word. IGNORE is its default.",
            _with(loss=_padding_ignored),
        ),
        Mistake(
            "the sum of the losses in place of the mean",
            "A batch with more tokens would make a larger step. Take the mean, which cross_entropy does unless told.",
            _with(loss=_sum_over_places),
        ),
        Mistake(
            "the gradient is not clipped, or too late",
            "One batch with a very long gradient can throw the model far away. Scale it down to length 1 when it is "
            "there and not yet used: backward(), clip, step().",
            _with(clip=None),
        ),
        Mistake(
            "each number is clipped on its own",
            "clip_grad_value_ cuts single numbers and changes the direction. clip_grad_norm_ keeps the direction and "
            "makes the whole gradient shorter.",
            _with(clip=lambda model: nn.utils.clip_grad_value_(model.parameters(), 1.0)),
        ),
        Mistake(
            "the classifier reads the last row",
            "Without the lengths the classifier takes the last row of the batch, which is padding for most texts: "
            "model(batch.tokens, batch.lengths).",
            _with(lengths=False),
        ),
        Mistake(
            "the model is not in training mode",
            "The loss is right but dropout is off: the model may have come from a measurement. Call model.train() "
            "first.",
            _with(mode=False),
        ),
        Mistake(
            "two steps are made",
            "optimizer.step() is called twice with the same gradients.",
            _with(steps=2),
        ),
        Mistake(
            "another optimizer makes the step",
            "Use the optimizer that you are given: it remembers earlier gradients, and a new one, or an update by "
            "hand, does not.",
            _own_update,
        ),
    ],
)


# --- generate ---------------------------------------------------------------------------------------------------------


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


def _writing(**options: Any) -> Callable[..., Any]:
    """Returns a way to write that goes wrong in these ways."""
    return lambda model, vocabulary, prompt, max_len, temperature: _write(
        model, vocabulary, prompt, max_len, temperature, **options
    )


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
    found: list[int] = _wanted(_writing(**options), ask)
    return found


def _telling(rng: random.Random, prompts: Sequence[str], max_len: int) -> Ask:
    """Returns a question whose greedy text does not end with <eos>, and that is not too simple."""
    while True:
        ask = _write_ask(_language_model(_seed(rng), 0.6), rng.choice(prompts), max_len)
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
        model = _language_model(_seed(rng), 0.6, vocab_size=7)
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
        ask = _write_ask(_language_model(_seed(rng), spread, **options), prompt, 24, temperature, MANY)
        text = _writes(ask, greedy=True)
        if len(text) == 24 and len(set(text)) < 8:
            return ask


def _drawn(draw: Callable[[random.Random], list[Ask]], seed: int) -> list[Ask]:
    return draw(random.Random(seed))


GENERATE = Exercise(
    generate,
    [
        Stage(
            "temperature 0: the most probable word, again and again",
            1,
            "Read <sos>, the prompt and all that is written so far; the last row of logits scores the next word.",
            _drawn(lambda rng: [_telling(rng, PROMPTS[1:], 7), _telling(rng, PROMPTS[1:], 5)], 1),
            lambda rng: [_telling(rng, PROMPTS[1:], 8), _telling(rng, PROMPTS[1:], 6)],
        ),
        Stage(
            "max_len words, the prompt among them",
            0.5,
            "The list that you return has at most max_len numbers, those of the prompt counted and <sos> not; a prompt "
            "that is longer comes back as it is.",
            _drawn(lambda rng: _longer(rng, ["un style", "roman très long"]), 2),
            _longer,
        ),
        Stage(
            "<eos> ends the text, and is no part of it",
            1,
            "When the model writes <eos>, the text is over: stop, and leave <eos> out. The prompt may be empty.",
            _drawn(_endings, 3),
            _endings,
        ),
        Stage(
            "a prompt with a word that nobody knows",
            0.5,
            "vocabulary.encode gives <oov> for it, and so should you.",
            _drawn(_unknown, 4),
            _unknown,
        ),
        Stage(
            "temperature near 0: nearly certainly the most probable word",
            0.5,
            "Divide the logits by the temperature before the softmax: a small one makes the largest stand out.",
            _drawn(_cold, 5),
            _cold,
        ),
        Stage(
            "the words are drawn: many different ones",
            0.5,
            "Wherever the temperature is not 0, draw from the probabilities; torch.multinomial does it. At temperature "
            "1000 all words are about as likely, and at 0.5 those whose logits are alike.",
            _drawn(_hot, 6),
            _hot,
            measure="variety",
        ),
    ],
    [
        Mistake(
            "it never stops at <eos>",
            "The model has written <eos>, which means that the text is over, and you went on. Look at each word before "
            "you go on.",
            _writing(stop=False),
        ),
        Mistake(
            "<eos> is kept",
            "<eos> is a sign for us, not a word of the text: stop without it.",
            _writing(keep_eos=True),
        ),
        Mistake(
            "<sos> is kept",
            "<sos> is there so that the model can begin. It is no part of the text that you return.",
            _writing(keep_sos=True),
        ),
        Mistake(
            "the model does not read <sos>",
            "Every text that the model has learned from began with <sos>; without it the first word cannot be asked "
            "for.",
            _writing(start=False),
        ),
        Mistake(
            "max_len counts the new words only",
            "max_len is the length of the whole text, prompt included.",
            _new_words_counted,
        ),
        Mistake(
            "one word too many",
            "The text may have max_len words and has one more: look at when the loop ends.",
            _writing(extra=1),
        ),
        Mistake(
            "one word too few",
            "The text may have max_len words and has one less. <sos> is not counted.",
            _writing(extra=-1),
        ),
        Mistake(
            "the prompt is not returned",
            "The text begins with the words of the prompt; you return only what follows them.",
            _writing(new_only=True),
        ),
        Mistake(
            "a word that nobody knows is an error",
            "vocabulary.numbers has no entry for it. vocabulary.encode gives <oov> for unknown words.",
            _writing(encode=_unknown_crash),
        ),
        Mistake(
            "a word that nobody knows is left out",
            "The model should know that there is a word, even if it does not know which: <oov> stands for it.",
            _writing(encode=_unknown_dropped),
        ),
        Mistake(
            "temperature 0 divides by zero",
            "At temperature 0 there is nothing to draw: take the most probable word, argmax.",
            _writing(zero=False, scale=lambda logits, temperature: logits / temperature),
        ),
        Mistake(
            "always the most probable word",
            "The temperature has no effect. Where it is not 0, divide the logits by it, take the softmax, and draw.",
            _writing(greedy=True),
        ),
        Mistake(
            "the logits are multiplied by the temperature",
            "A high temperature must make the words more alike: divide.",
            _writing(scale=lambda logits, temperature: logits * temperature),
        ),
        Mistake(
            "the temperature is ignored where it is not 0",
            "Dividing probabilities, or not dividing at all, leaves the odds as they are. Divide the logits, before "
            "the softmax.",
            _writing(scale=lambda logits, temperature: logits),
        ),
        Mistake(
            "what is written is not read again",
            "The logits are those of the prompt, for every word. Each new word depends on the words before it: call "
            "the model inside the loop, with all that is written so far.",
            _writing(again=False),
        ),
        Mistake(
            "the first row of the logits",
            "Row 0 knows <sos> only. The last row has read the whole text so far.",
            _writing(row=0),
        ),
    ],
)


# --- accuracy ---------------------------------------------------------------------------------------------------------


def accuracy(model: Any, loader: Sequence[Batch]) -> float:
    return _share_right(model, loader)


@torch.no_grad()
def _share_right(
    model: Any,
    loader: Sequence[Batch],
    *,
    mode: bool | None = False,
    after: bool | None = None,
    lengths: bool = True,
    means: bool = False,
    last_only: bool = False,
    classes: int | None = None,
) -> float:
    """Returns the share of right classes; the options are the ways in which it goes wrong."""
    before = model.training
    if mode is not None:
        model.train(mode)
    shares, counts = list[float](), list[int]()
    for batch in list(loader)[-1:] if last_only else loader:
        logits = model(batch.tokens, batch.lengths) if lengths else model(batch.tokens)
        shares.append((logits[:, :classes].argmax(dim=-1) == batch.target).float().mean().item())
        counts.append(len(batch.target))
    if after is None:
        model.train(before)
    elif mode is not None:
        model.train(after)
    if means:
        return statistics.mean(shares)
    return math.fsum(share * count for share, count in zip(shares, counts, strict=True)) / sum(counts)


def _measuring(**options: Any) -> Callable[..., Any]:
    """Returns a measurement that goes wrong in these ways."""
    return lambda model, loader: _share_right(model, loader, **options)


def _draw_loader(
    sizes: Sequence[int], differs_from: Sequence[Callable[..., Any]], padded: bool = True, **model: Any
) -> Callable[[random.Random], list[Ask]]:
    """Returns what draws a question with batches of these sizes, on which these wrong answers are seen to be wrong."""

    def draw(rng: random.Random) -> list[Ask]:
        while True:
            loader = []
            for size in sizes:
                lengths = [rng.randint(1, 8) if padded else 5 for _ in range(size)]
                loader.append(_batch(_texts(rng, lengths), [rng.randrange(3) for _ in range(size)]))
            classifier = _classifier(_seed(rng), 3, 1.0, **{k: v for k, v in model.items() if k != "training"})
            ask = Ask((replace(classifier, training=model.get("training", False)), loader))
            wanted = _wanted(accuracy, ask)
            if not 0.3 < wanted < 0.95 or abs(1 - 2 * wanted) < 0.02:
                continue
            shares = (_wanted(wrong, ask) for wrong in (_TWO_CLASSES, *differs_from))
            if all(abs(share - wanted) > 0.02 for share in shares):
                return [ask]

    return draw


_TWO_CLASSES = _measuring(classes=2)
_LAST_ROW, _MEANS = _measuring(lengths=False), _measuring(means=True)
_NO_PADDING = _draw_loader([6], [], padded=False)
_PADDED = _draw_loader([12], [_LAST_ROW])
_UNEVEN = _draw_loader([10, 6, 2], [_LAST_ROW, _MEANS, _measuring(last_only=True)])
_DROPOUT = _draw_loader([8, 4], [_LAST_ROW, _measuring(mode=None), _measuring(mode=True)], dropout=1.0, training=True)


def _modes(rng: random.Random) -> list[Ask]:
    (ask,) = _UNEVEN(rng)
    model, loader = ask.inputs
    return [Ask((replace(model, training=training), loader), take="mode", changes=(0,)) for training in (True, False)]


ACCURACY = Exercise(
    accuracy,
    [
        Stage(
            "one batch without padding",
            0.5,
            "The class with the largest logit is the answer; count how many answers are the target, and divide.",
            _drawn(_NO_PADDING, 1),
            _NO_PADDING,
        ),
        Stage(
            "the last real token of each text",
            0.5,
            "The classifier finds the last real token by the lengths: model(batch.tokens, batch.lengths).",
            _drawn(_PADDED, 2),
            _PADDED,
        ),
        Stage(
            "batches of different sizes",
            1,
            "Count right answers and texts over all batches, and divide once, at the end.",
            _drawn(_UNEVEN, 3),
            lambda rng: [*_UNEVEN(rng), *_UNEVEN(rng)],
        ),
        Stage(
            "in evaluation mode",
            0.5,
            "The model may come in training mode, with dropout: call model.eval() before you ask it.",
            _drawn(_DROPOUT, 4),
            _DROPOUT,
        ),
        Stage(
            "the model goes back to the mode it was in",
            0.5,
            "Keep model.training before, and put it back at the end with model.train(before): a model left in "
            "evaluation mode would train on without dropout.",
            _drawn(_modes, 5),
            _modes,
        ),
    ],
    [
        Mistake(
            "measured in training mode",
            "Dropout is on, and the answers are noise in part. Call model.eval() before you measure.",
            _measuring(mode=None),
        ),
        Mistake(
            "the model is left in evaluation mode",
            "The next training step would run without dropout, and no error says so. Put the mode back as it was.",
            _measuring(after=False),
        ),
        Mistake(
            "the model is always left in training mode",
            "It may have come in evaluation mode: keep model.training, and put back what it was.",
            _measuring(after=True),
        ),
        Mistake(
            "the last row in place of the last real token",
            "Without the lengths the classifier reads the last row, which is padding for most texts: pass "
            "batch.lengths on.",
            _LAST_ROW,
        ),
        Mistake(
            "the last row, and the model is left in evaluation mode",
            "Two mistakes: pass batch.lengths on, and put the mode back as it was.",
            _measuring(lengths=False, after=False),
        ),
        Mistake(
            "the mean of the batches' means",
            "A text of a small batch counts more than one of a large batch. Count over all batches, divide once.",
            _MEANS,
        ),
        Mistake(
            "the mean of the batches' means, and the model is left in evaluation mode",
            "Count over all batches and divide once; and put the mode back as it was.",
            _measuring(means=True, after=False),
        ),
        Mistake(
            "only the last batch",
            "Counts must go on from batch to batch: set them to 0 before the loop.",
            _measuring(last_only=True),
        ),
        Mistake(
            "the share of wrong answers",
            "This is the error rate, 1 minus the accuracy.",
            lambda model, loader: 1 - _share_right(model, loader),
        ),
        Mistake(
            "in per cent",
            "A share lies between 0 and 1.",
            lambda model, loader: 100 * _share_right(model, loader),
        ),
        Mistake(
            "the number of right answers",
            "Divide it by the number of texts.",
            lambda model, loader: _share_right(model, loader) * sum(len(batch.target) for batch in loader),
        ),
    ],
)


# --- compare ----------------------------------------------------------------------------------------------------------


def compare(records: list[Record]) -> dict[str, dict[str, Any]]:
    return _compared(records)


Runs = dict[int, list[Record]]


def _first_best(column: str) -> Callable[[list[Record]], Record]:
    return lambda run: max(run, key=lambda record: record[column])


_BEST_BY_VALID = _first_best("valid")


def _compared(
    records: list[Record],
    *,
    choose: Callable[[list[Record]], Record] = _BEST_BY_VALID,
    seeds: Callable[[Runs], Runs] = lambda runs: runs,
    column: str = "valid",
    ordered: bool = True,
    spread: bool = False,
    summary: Callable[[list[float]], float] = statistics.mean,
) -> dict[str, dict[str, Any]]:
    """Returns curves, bands and results; the options are the ways in which they go wrong."""
    found = {}
    for way in dict.fromkeys(record["way"] for record in records):
        runs: Runs = {}
        for record in records:
            if record["way"] == way:
                runs.setdefault(record["seed"], []).append(record)
        if ordered:
            runs = {seed: sorted(run, key=lambda record: record["epoch"]) for seed, run in runs.items()}
        runs = seeds(runs)
        epochs = [[record[column] for record in places] for places in zip(*runs.values(), strict=False)]
        mean = [statistics.mean(values) for values in epochs]
        low, high = [min(values) for values in epochs], [max(values) for values in epochs]
        if spread:
            wide = [statistics.pstdev(values) for values in epochs]
            low = [m - w for m, w in zip(mean, wide, strict=True)]
            high = [m + w for m, w in zip(mean, wide, strict=True)]
        test = summary([choose(run)["test"] for run in runs.values()])
        found[way] = {"mean": mean, "low": low, "high": high, "test": test}
    return found


def _comparing(**options: Any) -> Callable[..., Any]:
    """Returns a comparison that goes wrong in these ways."""
    return lambda records: _compared(records, **options)


def _one_epoch_for_all(records: list[Record]) -> dict[str, dict[str, Any]]:
    found = _compared(records)
    for way, figures in found.items():
        epoch = 1 + figures["mean"].index(max(figures["mean"]))
        figures["test"] = statistics.mean(r["test"] for r in records if r["way"] == way and r["epoch"] == epoch)
    return found


def _last_best(run: list[Record]) -> Record:
    return _BEST_BY_VALID(run[::-1])


def _only_first(runs: Runs) -> Runs:
    return dict(list(runs.items())[:1])


def _only_luckiest(runs: Runs) -> Runs:
    best = max(runs, key=lambda seed: max(record["valid"] for record in runs[seed]))
    return {best: runs[best]}


def _records(
    rng: random.Random, ways: Sequence[str], seeds: int, fewest: int, tie: bool = False, uneven: bool = False
) -> list[Record]:
    """Returns records in order, in which test is best at another epoch than validation, which is lowest at a third.

    With `uneven`, each way has one seed and one epoch more than the way before it, and begins with another seed.
    """
    found: list[Record] = []
    for place, way in enumerate(ways):
        more = place if uneven else 0
        epochs = fewest + more
        for seed in range(more, more + seeds + more):
            valid = [v / 100 for v in rng.sample(range(50, 99), epochs)]
            test = [v / 100 for v in rng.sample(range(50, 99), epochs)]
            best = 0
            if epochs > 1:
                best = seed % (epochs - 1)  # never the last, and not the same in all runs
                place = valid.index(max(valid))
                valid[best], valid[place] = valid[place], valid[best]
                place, worst = test.index(max(test)), (best + 1) % epochs
                test[worst], test[place] = test[place], test[worst]
                place, lowest = valid.index(min(valid)), (best + 2) % epochs
                valid[lowest], valid[place] = valid[place], valid[lowest]
            if tie:
                valid[best + 1] = valid[best]
            found += [
                {"way": way, "seed": seed, "epoch": epoch, "valid": valid[epoch - 1], "test": test[epoch - 1]}
                for epoch in range(1, epochs + 1)
            ]
    return found


def _shuffled(rng: random.Random, records: list[Record]) -> list[Record]:
    """Returns the records in an order in which no run is in the order of its epochs."""
    mixed = sorted(records, key=lambda record: -record["epoch"])
    first, rest = mixed[:1], mixed[1:]
    return first + sorted(rest, key=lambda record: (-record["epoch"], rng.random()))


WAYS = ["scratch", "frozen", "pretrained"]


def _draw_records(ways: int, seeds: int, epochs: int, **settings: Any) -> Callable[[random.Random], list[Ask]]:
    shuffle = settings.pop("shuffle", False)

    def draw(rng: random.Random) -> list[Ask]:
        records = _records(rng, rng.sample(WAYS, ways), seeds, epochs, **settings)
        return [Ask((_shuffled(rng, records) if shuffle else records,))]

    return draw


_ONE_EPOCH, _ONE_RUN = _draw_records(2, 3, 1), _draw_records(2, 1, 4)
_ALL, _SHUFFLED = _draw_records(3, 4, 4, uneven=True), _draw_records(3, 3, 4, shuffle=True)
_TIED = _draw_records(2, 3, 4, tie=True)

COMPARE = Exercise(
    compare,
    [
        Stage(
            "one epoch, several seeds: mean, lowest, highest",
            0.5,
            "For each way: three lists with one number per epoch (mean, lowest and highest of valid over the seeds), "
            "and the mean of test.",
            _drawn(_ONE_EPOCH, 1),
            _ONE_EPOCH,
        ),
        Stage(
            "one seed, several epochs: validation chooses the epoch, test says how good it is",
            0.5,
            "Find the record with the best valid, and take the test of that same record.",
            _drawn(_ONE_RUN, 2),
            _ONE_RUN,
        ),
        Stage(
            "three ways, several seeds, several epochs",
            1,
            "Every run chooses an epoch of its own; the result is the mean of their test accuracies. One way may have "
            "other seeds, and more epochs, than another.",
            _drawn(_draw_records(3, 2, 3, uneven=True), 3),
            _ALL,
        ),
        Stage(
            "records in any order",
            0.5,
            "Place each number by its epoch, not by where it stands in the list.",
            _drawn(_SHUFFLED, 4),
            _SHUFFLED,
        ),
        Stage(
            "two epochs as good as each other: the earlier one",
            0.5,
            "Of several epochs with the best valid take the first, as somebody would who stops when it gets no better.",
            _drawn(_TIED, 5),
            _TIED,
        ),
    ],
    [
        Mistake(
            "validates on test",
            "The epoch was chosen by its test accuracy, so that luck on the test set counts as skill. Choose by valid, "
            "then report test, and never look back.",
            _comparing(choose=_first_best("test")),
        ),
        Mistake(
            "one seed",
            "Only the first run of each way is used. One run says as much about the seed as about the way: use all.",
            _comparing(seeds=_only_first),
        ),
        Mistake(
            "the luckiest seed",
            "Only the best run of each way is used. Whoever tries more seeds would win: use all.",
            _comparing(seeds=_only_luckiest),
        ),
        Mistake(
            "the highest test accuracy of all seeds",
            "This reports the luckiest run. Take the mean over the seeds.",
            _comparing(summary=max),
        ),
        Mistake(
            "always the last epoch",
            "The last epoch need not be the best. Choose by validation, in each run.",
            _comparing(choose=lambda run: run[-1]),
        ),
        Mistake(
            "one epoch for all seeds",
            "The epoch was chosen by the mean curve. Each run chooses its own, as it would if it were alone.",
            _one_epoch_for_all,
        ),
        Mistake(
            "the curve of the test accuracy",
            "The curve is there to choose by, so it shows validation. Test appears once, at the end.",
            _comparing(column="test"),
        ),
        Mistake(
            "the band is a standard deviation",
            "The band goes from the lowest to the highest run.",
            _comparing(spread=True),
        ),
        Mistake(
            "records are taken in the order in which they come",
            "The list is in any order: sort each run by its epoch.",
            _comparing(ordered=False),
        ),
        Mistake(
            "the later of two equal epochs",
            "Of several epochs with the best validation accuracy take the first.",
            _comparing(choose=_last_best),
        ),
    ],
)


# --- label_efficiency -------------------------------------------------------------------------------------------------


def label_efficiency(records: list[Record], wanted: float) -> dict[str, dict[str, Any]]:
    return _efficient(records, wanted)


def _efficient(
    records: list[Record],
    wanted: float,
    *,
    summary: Callable[[list[float]], float] = statistics.mean,
    reached: Callable[[list[float], float], bool] = lambda values, wanted: statistics.mean(values) >= wanted,
    ordered: bool = True,
    pick: Callable[[list[int]], Any] = lambda enough: min(enough, default=None),
) -> dict[str, dict[str, Any]]:
    """Returns accuracies by number of labels; the options are the ways in which they go wrong."""
    found = {}
    for way in dict.fromkeys(record["way"] for record in records):
        values: dict[int, list[float]] = {}
        for record in records:
            if record["way"] == way:
                values.setdefault(record["labels"], []).append(record["accuracy"])
        labels = sorted(values) if ordered else list(values)
        enough = [number for number in labels if reached(values[number], wanted)]
        found[way] = {
            "labels": labels,
            "accuracy": [summary(values[number]) for number in labels],
            "needed": pick(enough),
        }
    return found


def _saving(**options: Any) -> Callable[..., Any]:
    """Returns an account of labels that goes wrong in these ways."""
    return lambda records, wanted: _efficient(records, wanted, **options)


def _most_labels(records: list[Record], wanted: float) -> dict[str, dict[str, Any]]:
    found = _efficient(records, wanted)
    for figures in found.values():
        figures["needed"] = figures["needed"] or figures["labels"][-1]
    return found


def _label_records(
    rng: random.Random,
    ways: Sequence[str],
    seeds: int,
    *,
    exact: bool = False,
    never: bool = False,
    mixed: bool = False,
) -> list[Ask]:
    """Returns a question in which more labels are not always better, and each way has a number of labels of its own.

    In the first way the second number of labels is the first that is enough, and the third is not. Its mean is the
    wanted one where that is `exact`, else a little more, so that no rounding decides. One of three ways never gets
    there.
    """
    own = rng.sample([20, 25, 50, 75], len(ways))
    shared = [rng.choice([100, 150]), *rng.sample([10, 200, 300, 400], 3)]
    enough = rng.randint(19, 22)  # all accuracies are told in 32nds, whose means are exact
    records = []
    others = rng.sample([-9, rng.choice([-1, 1, 2])], len(ways) - 1)
    for way, number, better in zip(ways, own, [0, *others], strict=True):
        top = enough + better
        levels = [top - 2, top, top - 1, *rng.sample(range(top + 1, top + 5), 2)]
        for size, level in zip(sorted([number, *shared]), levels, strict=True):
            moved = [0] if seeds == 1 else rng.sample([-2, -1, 3], seeds)  # no seed, nor the middle one, is the mean
            records += [
                {"way": way, "labels": size, "seed": seed, "accuracy": (level + moved[seed]) / 32}
                for seed in range(seeds)
            ]
    if mixed:  # the number of its own is never the largest of a way, so that no way is in order
        records = sorted(rng.sample(records, len(records)), key=lambda record: record["labels"] in own)
    wanted = 0.97 if never else enough / 32 - (0 if exact else 1 / 64)
    return [Ask((records, wanted))]


def _one_run(rng: random.Random) -> list[Ask]:
    return [ask for exact in (True, False) for ask in _label_records(rng, ["scratch"], 1, exact=exact)]


def _several_ways(rng: random.Random) -> list[Ask]:
    return _label_records(rng, rng.sample(WAYS, 3), 3, mixed=True)


LABEL_EFFICIENCY = Exercise(
    label_efficiency,
    [
        Stage(
            "one way, one seed",
            0.5,
            "The smallest number of labels with at least the wanted accuracy: reaching it exactly is enough. More "
            "labels are not always better, so look at all numbers one by one.",
            _drawn(_one_run, 1),
            _one_run,
        ),
        Stage(
            "several seeds",
            0.5,
            "Take the mean over the seeds first, and compare the mean with what is wanted.",
            _drawn(lambda rng: _label_records(rng, ["pretrained"], 3), 2),
            lambda rng: _label_records(rng, ["pretrained"], 3),
        ),
        Stage(
            "never reached: None",
            0.5,
            "Where no number of labels was enough, say so: None. The largest number tried would be a claim.",
            _drawn(lambda rng: _label_records(rng, ["scratch"], 3, never=True), 3),
            lambda rng: _label_records(rng, ["scratch"], 3, never=True),
        ),
        Stage(
            "several ways, records in any order",
            0.5,
            "Group by way, then by number of labels, and sort the numbers. Not all ways have the same ones.",
            _drawn(_several_ways, 4),
            _several_ways,
        ),
    ],
    [
        Mistake(
            "the best seed in place of the mean",
            "The luckiest seed says what chance can do. Take the mean over the seeds.",
            _saving(summary=max, reached=lambda values, wanted: max(values) >= wanted),
        ),
        Mistake(
            "one seed",
            "Only the last record of each number of labels is kept: a dict entry that is assigned again forgets the "
            "one before.",
            _saving(summary=lambda values: values[-1], reached=lambda values, wanted: values[-1] >= wanted),
        ),
        Mistake(
            "enough for one seed is taken as enough",
            "Compare the mean with what is wanted, not the best seed.",
            _saving(reached=lambda values, wanted: max(values) >= wanted),
        ),
        Mistake(
            "more than wanted is asked for",
            "At least the wanted accuracy: >= and not >.",
            _saving(reached=lambda values, wanted: statistics.mean(values) > wanted),
        ),
        Mistake(
            "the largest number of labels in place of the smallest",
            "Several numbers of labels are enough. What is needed is the smallest of them.",
            _saving(pick=lambda enough: max(enough, default=None)),
        ),
        Mistake(
            "the largest number tried, where none was enough",
            "Nobody knows how many labels it would take. Say None.",
            _most_labels,
        ),
        Mistake(
            "0 where none was enough",
            "0 would mean that no label is needed. Say None.",
            _saving(pick=lambda enough: min(enough, default=0)),
        ),
        Mistake(
            "the numbers of labels are not sorted",
            "Records come in any order: sort the numbers of labels.",
            _saving(ordered=False),
        ),
    ],
)


# --- errors_by_length -------------------------------------------------------------------------------------------------


def errors_by_length(logits: Tensor, labels: Tensor, lengths: Tensor, edges: list[int]) -> Tensor:
    return _by_length(logits, labels, lengths, edges)


def _by_length(
    logits: Tensor,
    labels: Tensor,
    lengths: Tensor,
    edges: list[int],
    *,
    inside: Callable[[Tensor, int, int], Tensor] = lambda lengths, low, high: (low <= lengths) & (lengths < high),
    share: Callable[[Tensor, Tensor], Tensor] = lambda wrong, chosen: wrong[chosen].float().mean(),
) -> Tensor:
    """Returns one number for each bin; the options are the ways in which it goes wrong."""
    wrong = logits.argmax(dim=-1) != labels
    bins = itertools.pairwise(edges)
    return torch.stack([share(wrong, inside(lengths, low, high)) for low, high in bins])


def _counting(**options: Any) -> Callable[..., Any]:
    """Returns an account of errors that goes wrong in these ways."""
    return lambda logits, labels, lengths, edges: _by_length(logits, labels, lengths, edges, **options)


def _of_all(wrong: Tensor, chosen: Tensor) -> Tensor:
    return (wrong & chosen).float().mean()


def _of_the_errors(wrong: Tensor, chosen: Tensor) -> Tensor:
    return (wrong & chosen).sum() / wrong.sum()


def _number(wrong: Tensor, chosen: Tensor) -> Tensor:
    return (wrong & chosen).sum().float()


def _right(wrong: Tensor, chosen: Tensor) -> Tensor:
    return (~wrong)[chosen].float().mean()


def _zero_if_empty(wrong: Tensor, chosen: Tensor) -> Tensor:
    return (wrong & chosen).sum() / chosen.sum().clamp(min=1)


def _classified(rng: random.Random, lengths: list[int], wrong: list[int], edges: list[int]) -> Ask:
    """Returns a question with three classes in which the texts number `wrong` are misclassified, never as class 2.

    Of the others every third is in class 2, so that who compares two classes only finds more errors in every bin.
    """
    start = rng.randrange(3)
    labels = torch.tensor([rng.choice([0, 2]) if n in wrong else (start + n) % 3 for n in range(len(lengths))])
    logits = (10 * torch.randn(len(lengths), 3, generator=torch.Generator().manual_seed(_seed(rng)))).round() / 10
    best = torch.tensor([(int(label) + (n in wrong)) % 3 for n, label in enumerate(labels)])
    logits[torch.arange(len(lengths)), best] = 4.0
    return Ask((logits, labels, torch.tensor(lengths), edges))


def _draw_errors(*, on_edges: bool = False, empty: bool = False) -> Callable[[random.Random], list[Ask]]:
    def draw(rng: random.Random) -> list[Ask]:
        edges = sorted(rng.sample(range(10, 90, 10), 4))
        lengths, wrong = list[int](), list[int]()
        for number, (low, high) in enumerate(itertools.pairwise(edges)):
            if empty and number == 1:
                continue
            size = rng.choice([4, 5]) + 2 * number
            for place in range(size):
                if place < 1 + number:
                    wrong.append(len(lengths))
                lengths.append(low if on_edges and place < 2 else rng.randint(low + 1, high - 1))
        if on_edges:  # the end of the last bin belongs to no bin, nor does what is shorter or longer than all bins
            outside = [edges[-1], edges[-1] + rng.randint(1, 9), *rng.sample(range(1, edges[0]), 2)]
            wrong += range(len(lengths), len(lengths) + len(outside))
            lengths += outside
        return [_classified(rng, lengths, wrong, edges)]

    return draw


_INSIDE, _ON_EDGES, _EMPTY = _draw_errors(), _draw_errors(on_edges=True), _draw_errors(empty=True)

ERRORS_BY_LENGTH = Exercise(
    errors_by_length,
    [
        Stage(
            "a floating point tensor with one number for each bin",
            0.5,
            "k + 1 edges make k bins: the result has shape (k,).",
            _drawn(_INSIDE, 1),
            _INSIDE,
            view="shape",
        ),
        Stage(
            "of the texts in a bin, the share that is wrong",
            0.5,
            "Divide the errors of a bin by the texts of the same bin.",
            _drawn(_INSIDE, 2),
            _INSIDE,
        ),
        Stage(
            "lengths that are an edge, or outside all bins",
            0.5,
            "A bin holds its lower edge and not its upper one: low <= length < high. Texts that are shorter than the "
            "first edge, or not shorter than the last, are in no bin.",
            _drawn(_ON_EDGES, 3),
            _ON_EDGES,
        ),
        Stage(
            "a bin without texts: NaN",
            0.5,
            "0 errors of 0 texts is not 0 %: nobody was asked. The mean of an empty tensor is NaN, which is what we "
            "want.",
            _drawn(_EMPTY, 4),
            _EMPTY,
        ),
    ],
    [
        Mistake(
            "the number of errors in place of the share",
            "A bin with many texts has many errors. Divide by the number of its texts.",
            _counting(share=_number),
        ),
        Mistake(
            "the share of all texts",
            "Divide by the texts of the bin, not by all texts: else the bins with most texts look worst.",
            _counting(share=_of_all),
        ),
        Mistake(
            "how the errors are spread over the bins",
            "This answers 'of all errors, how many are in this bin?'. Asked is 'of the texts in this bin, how many are "
            "wrong?'.",
            _counting(share=_of_the_errors),
        ),
        Mistake(
            "the share of right answers",
            "Asked is the share of wrong ones.",
            _counting(share=_right),
        ),
        Mistake(
            "the upper edge belongs to the bin, the lower one does not",
            "A bin holds its lower edge and not its upper one: low <= length < high.",
            _counting(inside=lambda lengths, low, high: (low < lengths) & (lengths <= high)),
        ),
        Mistake(
            "both edges belong to the bin",
            "A text whose length is an edge is counted in two bins.",
            _counting(inside=lambda lengths, low, high: (low <= lengths) & (lengths <= high)),
        ),
        Mistake(
            "0 for a bin without texts",
            "It would read as 'no errors at this length', and nobody has looked. Use NaN (not a number).",
            _counting(share=_zero_if_empty),
        ),
    ],
)

EXERCISES = [PERPLEXITY, TRAIN_STEP, GENERATE, ACCURACY, COMPARE, LABEL_EFFICIENCY, ERRORS_BY_LENGTH]
