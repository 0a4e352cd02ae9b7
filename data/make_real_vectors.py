"""Has multilingual-e5-small read texts of the course, and writes their vectors; some ten minutes of a CPU.

    python -m helpers.weights fetch e5 && python data/make_real_vectors.py

Each vector is stored as a byte a value and a scale. Another CPU or PyTorch rounds otherwise, so the file is not
compared byte for byte with what this script makes; a test asks what the vectors know. The model is published under
the MIT licence (Wang et al. 2024, arXiv 2402.05672); the texts are the course's own.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional as F

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from helpers import real_vectors  # noqa: E402  (the scripts of data/ are no package)
from helpers.corpora import load  # noqa: E402
from helpers.models import TransformerBase, as_mask  # noqa: E402
from helpers.weights import find  # noqa: E402
from helpers.weights import load as load_weights  # noqa: E402

if TYPE_CHECKING:
    from tokenizers import Tokenizer

COUNTS = {"train": 300, "valid": 100, "test": 320, "unlabelled": 2000, "pairs": 200}
TEXTS = [  # of the batch whose states are stored token by token
    "Un livre très bon.",
    "A very good book.",
    "Un livre très mauvais.",
    "The train was late, it had rained since the morning, and nobody had taken an umbrella.",
]
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


def packed(values: Tensor) -> tuple[Tensor, Tensor]:
    """Returns codes `(..., d)`, int8, and scales `(...)`, float16, of values whose rows are not zero."""
    scales = (values.abs().amax(dim=-1) / 127).half()
    return (values / scales.float().unsqueeze(-1)).round().clamp(-127, 127).to(torch.int8), scales


def chosen(part: str, size: int) -> list[int]:
    """Returns rows of a part, drawn without a look at them."""
    if COUNTS[part] == size:
        return list(range(size))
    return sorted(torch.randperm(size, generator=torch.Generator().manual_seed(0))[: COUNTS[part]].tolist())


@torch.no_grad()
def states_of(model: TransformerBase, tokenizer: Tokenizer, texts: list[str]) -> tuple[Tensor, Tensor]:
    """Returns hidden states `(b, n, d)` and lengths `(b,)` of texts."""
    rows = [torch.tensor(tokenizer.encode(f"query: {text}").ids) for text in texts]
    lengths = torch.tensor([len(row) for row in rows])
    tokens = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=tokenizer.token_to_id("<pad>"))
    return model(tokens, lengths), lengths


def vectors_of(model: TransformerBase, tokenizer: Tokenizer, texts: list[str]) -> Tensor:
    """Returns the mean state of each text, `(n, d)`."""
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))  # little padding
    found: dict[int, Tensor] = {}
    for start in range(0, len(order), 16):
        batch = order[start : start + 16]
        states, lengths = states_of(model, tokenizer, [texts[number] for number in batch])
        is_token = ~as_mask(lengths, states.shape[1]).unsqueeze(2)
        found |= dict(zip(batch, (states * is_token).sum(dim=1) / lengths.unsqueeze(1), strict=True))
        if start % 320 == 0:
            print(f"{start:,} of {len(texts):,}", flush=True)
    return torch.stack([found[number] for number in range(len(texts))])


def probe(features: Tensor, labels: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    """Returns the weights `(d,)` and the bias `()` of a logistic regression, as exercise `linear_probe` wants them."""
    weight, bias = torch.zeros(features.shape[1], requires_grad=True), torch.zeros((), requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=300, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = F.binary_cross_entropy_with_logits(features @ weight + bias, labels.float())
        value = value + penalty * weight.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    return weight.detach(), bias.detach()


def main() -> None:
    """Reads, says how good the teacher is, and writes the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="e5", help="a name of helpers.weights, or a folder")
    from tokenizers import Tokenizer

    name = parser.parse_args().model
    tokenizer, model = Tokenizer.from_file(str(find(name) / "tokenizer.json")), load_weights(name)
    assert isinstance(model, TransformerBase)
    reviews, pairs = load("reviews_fr"), load("translation_en_fr")
    rows = {part: chosen(part, len(reviews[part])) for part in ("train", "valid", "test", "unlabelled")}
    rows["pairs"] = chosen("pairs", len(pairs.test))
    vectors = {}
    for part, numbers in rows.items():
        if part == "pairs":
            for language, column in (("english", "en"), ("french", "fr")):
                vectors[language] = vectors_of(model, tokenizer, [pairs.test[column][row] for row in numbers])
        else:
            vectors[part] = vectors_of(model, tokenizer, [reviews[part]["text"][row] for row in numbers])
    vectors["states"], lengths = states_of(model, tokenizer, TEXTS)
    unit = {part: F.normalize(vectors[part], dim=1) for part in ("train", "valid", "test", "unlabelled")}
    middle = unit["train"].mean(dim=0)
    labels = {part: torch.tensor(reviews[part]["label"])[rows[part]] for part in ("train", "valid", "test")}
    best = (-1.0, torch.zeros(0), torch.zeros(0))
    for penalty in PENALTIES:
        weight, bias = probe(unit["train"] - middle, labels["train"], penalty)
        right = {
            part: (((unit[part] - middle) @ weight + bias > 0) == labels[part].bool()).float().mean().item()
            for part in ("valid", "test")
        }
        print(f"penalty {penalty}: validation {right['valid']:.3f}, test {right['test']:.3f}")
        best = max(best, (right["valid"], weight, bias), key=lambda found: found[0])
    logits = (unit.pop("unlabelled") - middle) @ best[1] + best[2]
    del vectors["unlabelled"]
    path = FOLDER / real_vectors.FILE
    path.parent.mkdir(exist_ok=True)
    torch.save(
        {
            "vectors": {key: packed(value) for key, value in vectors.items()},
            "rows": rows,
            "lengths": lengths,
            "texts": TEXTS,
            "teacher": torch.stack([torch.zeros_like(logits), logits], dim=1).half(),
        },
        path,
    )
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
