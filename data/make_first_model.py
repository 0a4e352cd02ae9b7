"""Trains the small language model of notebook 00 on the embedded French reviews and writes it; two minutes of a CPU.

Weights are stored in half precision beside the words of the vocabulary. Another CPU or PyTorch rounds otherwise, so the
file is not compared byte for byte with what this script makes; a test asks what the model knows.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from helpers import batches, first_model, training  # noqa: E402  (the scripts of data/ are no package)
from helpers.corpora import load  # noqa: E402
from helpers.models import LanguageModel, TransformerBase  # noqa: E402
from helpers.vocabulary import Vocabulary  # noqa: E402

EPOCHS, RATE = 4, 4e-3


def main() -> None:
    """Trains, reports the perplexity on reviews that were not read, and writes the file."""
    torch.manual_seed(0)
    corpus = load("reviews_fr")
    vocabulary = Vocabulary.learn(corpus["unlabelled"]["text"])
    model = LanguageModel(TransformerBase(len(vocabulary), **first_model.SHAPE))
    encode = batches.for_language_model(vocabulary)
    reading = batches.Batches(corpus["unlabelled"], encode, token_budget=4096)
    steps = EPOCHS * len(reading.plan(0))
    valid = batches.Batches(corpus.valid, encode, token_budget=4096)
    history = training.train(
        model,
        reading,
        "language_model",
        epochs=EPOCHS,
        learning_rate=RATE,
        valid=valid,
        factor=training.schedule("linear", 50, steps),
        device=torch.device("cpu"),
    )
    print(history[["epoch", "perplexity", "valid_perplexity"]].to_string(index=False))
    words = vocabulary.tokens[4:]  # the special tokens come by themselves
    weights = {name: weight.half() for name, weight in model.state_dict().items()}
    (FOLDER / first_model.FILE).parent.mkdir(exist_ok=True)
    torch.save({"words": words, "weights": weights}, FOLDER / first_model.FILE)
    print(f"{FOLDER / first_model.FILE}: {(FOLDER / first_model.FILE).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
