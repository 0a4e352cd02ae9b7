"""Notebook 16: what a student has written computes what published models compute."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from grading.authoring import bank
from helpers import llama

SIZES: dict[str, Any] = {"vocab_size": 320, "d_model": 64, "n_layers": 2, "n_heads": 4}
PARTS = {"forward.hidden": "forward.up", "forward.output": "forward.down"}  # our names -> those of helpers.llama


@pytest.fixture(scope="module")
def student() -> dict[str, Any]:
    """What a student has who has solved everything up to the heads that copy."""
    return bank.namespace("16_real_model", "induction_score")


def reference(name: str) -> Any:
    return importlib.import_module(f"grading.exercises.16_real_model.{name}").exercise.references[0]


def neighbours(name: str, weight: torch.Tensor) -> torch.Tensor:
    """Returns queries and keys with rotary pairs side by side, all others as they are."""
    if "q_proj" not in name and "k_proj" not in name:
        return weight
    return weight.unflatten(0, (-1, 2, 8)).transpose(1, 2).flatten(0, 2)


def test_the_published_tiny_model_gives_the_logits_of_transformers(student: dict[str, Any], repository: Path) -> None:
    published = student["read_safetensors"](repository / "data/tiny_llama/model.safetensors")
    tensors = {name: neighbours(name, weight) for name, weight in published.items()}
    model = student["Llama"](**SIZES, n_groups=2, d_feedforward=144, base=100000.0)
    student["load_weights"](model, tensors, student["NAMES"])
    known = json.loads((repository / "data/tiny_expected.json").read_text("utf-8"))["tiny_llama"]
    with torch.no_grad():
        logits = model(torch.tensor(known["tokens"]))[0][:, -1]
    torch.testing.assert_close(logits, torch.tensor(known["logits"]), rtol=0, atol=1e-4)


def test_the_table_in_the_notebook_is_what_transformers_computed(repository: Path) -> None:
    known = json.loads((repository / "data/tiny_expected.json").read_text("utf-8"))["tiny_llama"]
    rows = (repository / "data/measured_here/tiny_llama.tsv").read_text("utf-8").splitlines()[1:]
    kept = [[list(map(float, part.split())) for part in row.split("\t")] for row in rows]
    assert [tokens for tokens, _ in kept] == known["tokens"]
    torch.testing.assert_close(
        torch.tensor([logits for _, logits in kept]), torch.tensor(known["logits"]), rtol=0, atol=1e-4
    )


@pytest.mark.parametrize("whose", ["solution", "definition"])
def test_it_is_the_llama_of_the_course(student: dict[str, Any], whose: str) -> None:
    kind: type[nn.Module] = student["Llama"] if whose == "solution" else reference("Llama")
    torch.manual_seed(1)
    mine = kind(**SIZES, n_groups=2, d_feedforward=100, base=500.0, eps=1e-3)
    theirs = llama.Llama(**SIZES, n_kv_heads=2, d_feedforward=66, base=500.0, eps=1e-3)
    renamed = {}
    for name, tensor in mine.state_dict().items():
        for ours, other in PARTS.items():
            name = name.replace(ours, other)
        renamed[name] = tensor
    theirs.load_state_dict(renamed)
    tokens = torch.randint(320, (2, 15))
    with torch.no_grad():
        wanted = theirs(tokens)
        torch.testing.assert_close(mine(tokens)[0], wanted)
        first, cache = mine(tokens[:, :9])
        second, cache = mine(tokens[:, 9:14], cache)
        third, cache = mine(tokens[:, 14:], cache)
    torch.testing.assert_close(torch.cat([first, second, third], dim=1), wanted)
    assert [tuple(part.shape) for pair in cache for part in pair] == 4 * [(2, 2, 15, 16)]
