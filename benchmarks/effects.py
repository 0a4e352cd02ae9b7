"""What the experiments of the notebooks show, measured on the embedded corpora.

    python -m benchmarks.effects            # prints the tables: 3 minutes on two cores
    python -m benchmarks.effects --write    # and puts them into docs/results.md

`tests/notebooks/test_effects.py` asserts the directions with a margin, here and in the outputs of the notebooks.
"""

import argparse
import copy
import math
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import torch
from torch import Tensor

from helpers.batches import (
    IGNORE,
    Batch,
    Batches,
    Encode,
    Example,
    for_answers,
    for_classifier,
    for_language_model,
    for_translation,
)
from helpers.corpora import Corpus, Split, load
from helpers.models import (
    Classifier,
    EncoderDecoder,
    LanguageModel,
    MaskedLanguageModel,
    TransformerBase,
)
from helpers.training import evaluate, predict, schedule, train
from helpers.vocabulary import EOS, MASK, PAD, SOS, Vocabulary

CPU = torch.device("cpu")
Figures = dict[str, dict[str, float]]


def new_base(vocabulary: Vocabulary, layers: int = 1, **options: Any) -> TransformerBase:
    """Return the small base of all experiments on the reviews."""
    settings = {"d_model": 64, "n_heads": 2, "dropout": 0.0, "norm_first": True, **options}
    return TransformerBase(len(vocabulary), n_layers=layers, **{"positions": "alibi", **settings})


def learn(model: Any, batches: Batches, epochs: int, rate: float, task: str = "language_model") -> float:
    """Train with a short warm-up and a linear decay; return the seconds of CPU time it took."""
    steps, started = epochs * len(batches), time.process_time()
    train(
        model,
        batches,
        task,  # type: ignore[arg-type]
        epochs=epochs,
        learning_rate=rate,
        factor=schedule("linear", 50, steps),
        device=CPU,
        progress=False,
    )
    return time.process_time() - started


# Notebook 06: pretraining pays


def pretrained_base(corpus: Corpus, vocabulary: Vocabulary, epochs: int = 3) -> Any:
    """Return the base of a language model of the unlabelled reviews, and the CPU time it took (s)."""
    torch.manual_seed(0)
    model = LanguageModel(new_base(vocabulary))
    batches = Batches(corpus["unlabelled"], for_language_model(vocabulary), token_budget=700)
    return model.base, learn(model, batches, epochs, 6e-3)


def few_labels(
    corpus: Corpus, vocabulary: Vocabulary, base: TransformerBase, seeds: int = 5, epochs: int = 6
) -> Figures:
    """Return mean test accuracy after two epochs and at the end: scratch, frozen, pretrained.

    All three with the same learning rate; with ten times as much, frozen gets as good as pretrained.
    """
    encode = for_classifier(vocabulary)
    test = Batches(corpus.test, encode, 8192)
    figures: Figures = {}
    for way in ("scratch", "frozen", "pretrained"):
        curves = []
        for seed in range(seeds):
            torch.manual_seed(seed)
            start = new_base(vocabulary) if way == "scratch" else copy.deepcopy(base)
            model = Classifier(start)
            model.base.requires_grad_(way != "frozen")
            history = train(
                model,
                Batches(corpus.train, encode, token_budget=512, seed=seed),
                "classifier",
                epochs=epochs,
                learning_rate=1e-3,
                seed=seed,
                device=CPU,
                progress=False,
                after_epoch=lambda model=model: {  # type: ignore[misc]
                    "test": evaluate(model, test, "classifier")["accuracy"]
                },
            )
            curves.append(history["test"].tolist())
        ends = [curve[-1] for curve in curves]
        figures[way] = {
            "after 2 epochs": statistics.mean(curve[1] for curve in curves),
            f"after {epochs}": statistics.mean(ends),
            "lowest seed": min(ends),
            "highest seed": max(ends),
        }
    right = naive_bayes(
        [vocabulary.encode(text) for text in corpus.train["text"]],
        corpus.train["label"],
        [vocabulary.encode(text) for text in corpus.test["text"]],
    )
    pairs = zip(right, corpus.test["label"], strict=True)
    figures["naive Bayes"] = {f"after {epochs}": statistics.mean(a == b for a, b in pairs)}
    return figures


def naive_bayes(texts: Iterable[list[int]], labels: list[int], others: Iterable[list[int]]) -> list[int]:
    """Return the class, 0 or 1, of each of `others`: multinomial, add-one smoothing."""
    counts = [Counter[int](), Counter[int]()]
    for text, label in zip(texts, labels, strict=True):
        counts[label].update(text)
    vocabulary = len(counts[0] | counts[1]) + 1
    totals = [sum(count.values()) + vocabulary for count in counts]
    prior = math.log(sum(labels) / (len(labels) - sum(labels)))

    def evidence(token: int) -> float:
        return math.log((counts[1][token] + 1) / totals[1] * totals[0] / (counts[0][token] + 1))

    return [int(prior + sum(evidence(token) for token in text) > 0) for text in others]


# Notebook 07: both sides against the left side only


def hide_words(vocabulary: Vocabulary, share: float) -> Callable[[Batch, torch.Generator], Batch]:
    """Return what hides words of a batch, 80 / 10 / 10 as in BERT, and scores these only."""

    def change(batch: Batch, generator: torch.Generator) -> Batch:
        def draw() -> Tensor:
            return torch.rand(batch.tokens.shape, generator=generator)

        chosen = (draw() < share) & (batch.tokens > MASK)
        batch.target = batch.tokens.where(chosen, torch.tensor(IGNORE))
        how, words = draw(), torch.randint(MASK + 1, len(vocabulary), batch.tokens.shape,
                                           generator=generator)  # fmt: skip
        batch.tokens = batch.tokens.masked_fill(chosen & (how < 0.8), MASK)
        batch.tokens = words.where(chosen & (how >= 0.9), batch.tokens)
        return batch

    return change


def fill_blanks(model: LanguageModel, vocabulary: Vocabulary, rows: pd.DataFrame) -> float:
    """Return how often the right word gets a higher score than the other one."""
    causal, right = model.base.causal, 0
    model.eval()
    with torch.no_grad():
        for row in rows.itertuples():
            words, position = vocabulary.encode(str(row.text)), int(row.position)  # type: ignore[arg-type]
            if causal:
                logits = model(torch.tensor([[SOS, *words[:position]]]))[0, -1]
            else:
                words[position] = MASK
                logits = model(torch.tensor([[SOS, *words, EOS]]))[0, position + 1]
            answer, other = (vocabulary.numbers[str(word)] for word in (row.answer, row.other))
            right += int(logits[answer] > logits[other])
    return right / len(rows)


def both_sides(corpus: Corpus, vocabulary: Vocabulary, base: TransformerBase, epochs: int = 3) -> Figures:
    """Return the share of blanks filled right where the left, or only the right side, decides.

    Both models start from the word embeddings of the pretrained base and read the same reviews as
    often. The masked one hides 30 % of the words: with 15 %, it learns half as much per pass.
    """
    blanks = corpus["blanks"].rows

    def whole(row: dict[str, Any]) -> Example:
        tokens = [SOS, *vocabulary.encode(row["text"]), EOS]
        return Example(tokens, tokens)

    figures: Figures = {}
    for name, causal in (("left side only (causal)", True), ("both sides (masked)", False)):
        torch.manual_seed(0)
        start = new_base(vocabulary, causal=causal)
        start.embedding.load_state_dict(base.embedding.state_dict())
        model = LanguageModel(start) if causal else MaskedLanguageModel(start)
        encode = for_language_model(vocabulary) if causal else whole
        change = None if causal else hide_words(vocabulary, 0.3)
        learn(model, Batches(corpus["unlabelled"], encode, 700, change=change), epochs, 6e-3)
        figures[name] = {
            f"the {side} side decides": fill_blanks(model, vocabulary, blanks[blanks.side == side])
            for side in ("left", "right")
        }
    return figures


def turning_reviews(corpus: Corpus, vocabulary: Vocabulary, seeds: int = 4, epochs: int = 6) -> Figures:
    """Return test accuracy on reviews that turn at "mais", by where the turn is.

    Two layers, sinusoidal positions, trained from scratch on such reviews only.
    """
    encode = for_classifier(vocabulary)
    part = corpus["turns_test"]
    test, labels = Batches(part, encode, 8192), torch.tensor(part["label"])
    figures: Figures = {}
    for name, causal in (("left side only (causal)", True), ("both sides", False)):
        right = torch.zeros(len(part))
        for seed in range(seeds):
            torch.manual_seed(seed)
            model = Classifier(new_base(vocabulary, 2, positions="sinusoidal", causal=causal))
            batches = Batches(corpus["turns_train"], encode, 512, seed=seed)
            train(model, batches, "classifier", epochs=epochs, learning_rate=2e-3, seed=seed,
                  device=CPU, progress=False)  # fmt: skip
            right += (predict(model, test).argmax(dim=1) == labels) / seeds
        figures[name] = {
            f"{place} turn": right[torch.tensor((part.rows["place"] == place).to_numpy())].mean().item()
            for place in ("early", "middle", "late")
        }
    return figures


# Notebook 10: knowledge lives in the weights


@torch.no_grad()
def answers(model: LanguageModel, vocabulary: Vocabulary, questions: list[str]) -> list[str]:
    """Return the model's most probable answer to each question, character by character."""
    model.eval()
    prompts = [[SOS, *vocabulary.encode(question)] for question in questions]
    positions = torch.tensor([len(prompt) for prompt in prompts])
    longest = 16
    tokens = torch.tensor([p + [PAD] * (int(positions.max()) - len(p) + longest) for p in prompts])
    rows = torch.arange(len(prompts))
    for step in range(longest):
        hidden = model.base(tokens[:, : int(positions.max()) + step])[rows, positions + step - 1]
        tokens[rows, positions + step] = model.head(hidden).argmax(dim=1)
    written = [row[position:] for row, position in zip(tokens.tolist(), positions.tolist(), strict=True)]
    return [vocabulary.decode(row[: [*row, EOS].index(EOS)]) for row in written]


def birth_places(corpus: Corpus, epochs: int = 28, fine_epochs: int = 5) -> Figures:
    """Return the share of right answers of a character model that has read, and of one that has not.

    Both learn from the questions of the training people, each asked 4 times per epoch; the one
    that has read goes on reading meanwhile.
    """
    texts = [*corpus["texts"]["text"], *corpus.train["question"], *corpus.train["answer"]]
    vocabulary = Vocabulary.learn(texts, "character")
    read, ask = for_language_model(vocabulary), for_answers(vocabulary)

    def new_model() -> LanguageModel:
        torch.manual_seed(0)
        return LanguageModel(new_base(vocabulary, 2, d_model=128, n_heads=4))

    def encode(row: dict[str, Any]) -> Example:
        return ask(row) if row["question"] else read(row)

    questions = pd.concat([corpus.train.rows.assign(text="")] * 4)
    pages = corpus["texts"].rows.assign(question="", answer="")
    figures: Figures = {}
    for name in ("has read", "has not read"):
        model = new_model()
        rows = questions
        if name == "has read":
            learn(model, Batches(corpus["texts"], read, 1024), epochs, 3e-3)
            rows = pd.concat([questions, pages])
        split = Split("biographies/mixed", "train", rows.reset_index(drop=True))
        train(model, Batches(split, encode, 1024), "language_model", epochs=fine_epochs,
              learning_rate=1e-3, device=CPU, progress=False)  # fmt: skip
        figures[name] = {}
        for people, part in (("read about", corpus.valid), ("unseen", corpus.test)):
            found = zip(answers(model, vocabulary, part["question"]), part["answer"], strict=True)
            figures[name][people] = statistics.mean(a == b for a, b in found)
    constant = Counter(corpus.train["answer"]).most_common(1)[0][0]
    figures["one place for everybody"] = {
        people: part["answer"].count(constant) / len(part)
        for people, part in (("read about", corpus.valid), ("unseen", corpus.test))
    }
    return figures


# Notebook 11: translation


def translation(corpus: Corpus, epochs: int = 4) -> Figures:
    """Return BLEU (sacrebleu, on words) and the share of sentences that are right word by word."""
    import sacrebleu  # of the test dependencies

    english, french = (Vocabulary.learn(corpus.train[language]) for language in ("en", "fr"))
    torch.manual_seed(0)
    model = EncoderDecoder(len(english), len(french), 96, 2, 4, dropout=0.0, norm_first=True)
    encode: Encode = for_translation(english, french)
    seconds = learn(model, Batches(corpus.train, encode, 1024), epochs, 3e-3, "translation")
    model.eval()
    found: dict[int, str] = {}
    for batch in Batches(corpus.test, encode, 8192):
        assert batch.source is not None
        written = model.greedy(batch.source, batch.source_lengths, SOS, EOS, max_len=30)
        for row, numbers in zip(batch.rows.tolist(), written.tolist(), strict=True):
            found[row] = " ".join(french.tokens[n] for n in numbers if n != EOS)
    wanted = [" ".join(french.split(text)) for text in corpus.test["fr"]]
    ours = [found[row] for row in range(len(wanted))]
    bleu = sacrebleu.corpus_bleu(ours, [wanted], tokenize="none", force=True).score
    exact = statistics.mean(a == b for a, b in zip(ours, wanted, strict=True))
    return {"two layers": {"BLEU": bleu, "exact": exact, "CPU seconds": seconds}}


def as_table(figures: Figures, digits: Literal[0, 1] = 1) -> str:
    """Return figures as a Markdown table; shares in %."""
    columns = list(next(iter(figures.values())))
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name, row in figures.items():
        cells = [
            "" if column not in row else f"{row[column]:.1f}" if row[column] > 1
            else f"{100 * row[column]:.{digits}f} %" for column in columns
        ]  # fmt: skip
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2, help="of the CPU (default 2)")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/results.md")
    settings = parser.parse_args()
    torch.set_num_threads(settings.threads)
    reviews = load("reviews_fr")
    vocabulary = Vocabulary.learn(reviews["unlabelled"]["text"], mask=True)
    base, seconds = pretrained_base(reviews, vocabulary)
    parts = [
        f"Book reviews, test accuracy (`few_labels`: mean of 5 seeds, {len(reviews.train)} labelled "
        f"reviews; pretraining on {len(reviews['unlabelled']):,} reviews took {seconds:.0f} s of processor time):",
        as_table(few_labels(reviews, vocabulary, base)),
        "Blanks filled right (`both_sides`; the choice is between two words of opposite polarity):",
        as_table(both_sides(reviews, vocabulary, base)),
        'Reviews that turn at "mais", test accuracy (`turning_reviews`: mean of 4 seeds):',
        as_table(turning_reviews(reviews, vocabulary)),
        "Where was X born, right answers (`birth_places`):",
        as_table(birth_places(load("biographies"))),
        "English to French, test sentences (`translation`):",
        as_table(translation(load("translation_en_fr"))),
        f"{settings.threads} threads; processor time in all {time.process_time():.0f} s.",
    ]
    text = "\n\n".join(parts)
    print(text)
    if settings.write:
        path = Path(__file__).resolve().parent.parent / "docs" / "results.md"
        old = path.read_text("utf-8")
        block = f"<!-- effects -->\n{text}\n<!-- end of effects -->"
        pattern = "<!-- effects -->.*<!-- end of effects -->"
        path.write_text(re.sub(pattern, lambda _: block, old, flags=re.DOTALL), "utf-8")


if __name__ == "__main__":
    main()
