"""What a rate for each depth is worth: multilingual-e5-small, fine-tuned on a hundred real French reviews.

    python -m helpers.weights fetch e5 && python -m benchmarks.real_transfer --out results   # half an hour of a CPU

The book reviews of `cls_books`, 100 labelled ones for training and 300 for the test, cut at 96 tokens; one draw of the
labels for each seed, and the same 300 for all. A head begins as the linear probe of notebook 18 on frozen vectors; then
everything is trained for five passes, by AdamW in batches of 16, with one rate for all or with one for each depth,
multiplied by `decay` with each step down from the head (Howard and Ruder 2018). Nothing is chosen by the test.
"""

import argparse
import copy
from pathlib import Path

import pandas as pd
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from benchmarks.real_encoders import fit_head, mean_state
from helpers.corpora import Split, load
from helpers.models import TransformerBase
from helpers.weights import find
from helpers.weights import load as load_weights

WAYS = {"one rate for all, 1e-4": (1e-4, 1.0), "one rate for all, 2e-5": (2e-5, 1.0), "1e-4, decay 0.8": (1e-4, 0.8)}
LABELS, TESTED, TOKENS, PASSES, BATCH = 100, 300, 96, 5, 16


class Encoder(nn.Module):
    """A base with a linear head on the mean of its states, over two classes."""

    def __init__(self, base: TransformerBase, head: tuple[Tensor, Tensor]) -> None:
        super().__init__()
        self.base = base
        self.head = nn.Linear(head[0].shape[1], 2)
        self.head.load_state_dict({"weight": head[0], "bias": head[1]})

    def forward(self, texts: list[Tensor]) -> Tensor:
        """Returns the logits `(b, 2)` of texts of tokens."""
        logits: Tensor = self.head(vectors(self.base, texts))
        return logits


def vectors(base: TransformerBase, texts: list[Tensor]) -> Tensor:
    """Returns the mean state of each text, `(b, d)`."""
    lengths = torch.tensor([len(text) for text in texts])
    return mean_state(base, pad_sequence(texts, batch_first=True, padding_value=1), lengths)


def rates(names: list[str], rate: float, decay: float) -> dict[str, float]:
    """Returns the rate of each parameter, as exercise `layerwise_rates` wants it."""
    layers = {name: int(name.split(".")[2]) for name in names if name.startswith("base.layers.")}
    count = 1 + max(layers.values())
    steps = {name: 0 if name.startswith("head.") else count - layers.get(name, -1) for name in names}
    return {name: rate * decay**down for name, down in steps.items()}


@torch.no_grad()
def accuracy(model: nn.Module, texts: list[Tensor], labels: Tensor) -> float:
    """Returns the share of texts that a model sorts rightly."""
    order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    right = 0
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        right += int((model([texts[row] for row in rows]).argmax(dim=1) == labels[rows]).sum())
    return right / len(texts)


def fine_tune(model: Encoder, texts: list[Tensor], labels: Tensor, rate: float, decay: float, seed: int) -> None:
    """Trains everything, each parameter at its rate."""
    torch.manual_seed(seed)
    named = dict(model.named_parameters())
    each = rates(list(named), rate, decay)
    optimizer = torch.optim.AdamW([{"params": [named[name]], "lr": each[name]} for name in named])
    for _ in range(PASSES):
        for rows in torch.randperm(len(texts)).split(BATCH):
            loss = F.cross_entropy(model([texts[row] for row in rows]), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def main() -> None:
    """Measures, and writes `real_rates.tsv` after each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--model", default="e5", help="a name of helpers.weights, or a folder")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(find(arguments.model) / "tokenizer.json"))
    corpus, base = load("cls_books", drop_copies=True), load_weights(arguments.model)
    assert isinstance(base, TransformerBase)

    def tokens(part: Split, rows: list[int]) -> tuple[list[Tensor], Tensor]:
        texts = [part["text"][row].replace(" ", "").replace("▁", " ").strip() for row in rows]
        cut = [torch.tensor(tokenizer.encode(f"query: {text}").ids[:TOKENS]) for text in texts]
        return cut, torch.tensor(part["label"])[rows]

    drawn = torch.randperm(len(corpus.test), generator=torch.Generator().manual_seed(0))[:TESTED].tolist()
    test, found = tokens(corpus.test, drawn), []
    arguments.out.mkdir(parents=True, exist_ok=True)
    for seed in range(arguments.seeds):
        order = torch.randperm(len(corpus.train), generator=torch.Generator().manual_seed(seed))[:LABELS].tolist()
        texts, labels = tokens(corpus.train, order)
        with torch.no_grad():
            features = torch.cat([vectors(base, texts[start : start + BATCH]) for start in range(0, LABELS, BATCH)])
        frozen = Encoder(base, fit_head(features, labels))
        found.append({"way": "frozen", "seed": seed, "accuracy": round(accuracy(frozen, *test), 4)})
        for way, (rate, decay) in WAYS.items():
            model = copy.deepcopy(frozen)
            fine_tune(model, texts, labels, rate, decay, seed)
            found.append({"way": way, "seed": seed, "accuracy": round(accuracy(model, *test), 4)})
            print(found[-1], flush=True)
            pd.DataFrame(found).to_csv(arguments.out / "real_rates.tsv", sep="\t", index=False)


if __name__ == "__main__":
    main()
