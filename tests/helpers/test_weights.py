"""Published weights compute in our models what they compute where they come from, and what is damaged loads nothing."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pickle
import random
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from helpers.llama import Llama
from helpers.models import LanguageModel, MaskedLanguageModel, TransformerBase, rotary_angles, rotate
from helpers.weights import TINY, Model, copy_into, find, is_here, load, loading
from helpers.weights import files as weight_files
from helpers.weights.files import Published, Stored, read
from helpers.weights.names import pairs_side_by_side

DATA = Path(__file__).resolve().parents[2] / "data"
sys.path.insert(0, str(DATA))

import make_tiny_weights as tiny  # noqa: E402  (the scripts of data/ are no package)

pytest.importorskip("safetensors", reason="the extra weights is not installed")
pytest.importorskip("gguf", reason="the extra weights is not installed")

KINDS = {
    "tiny_bert": MaskedLanguageModel,
    "tiny_gpt2": LanguageModel,
    "tiny_llama": Llama,
    "tiny_llama_gguf": Llama,
}
Change = Callable[[dict[str, np.ndarray], dict[str, Any]], object]


def hidden_states(model: Model, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
    """What the head reads, `(b, n, d)`."""
    if isinstance(model, Llama):
        return model.hidden_states(tokens, lengths)
    return (model if isinstance(model, TransformerBase) else model.base)(tokens, lengths)


def changed(folder: Path, name: str, change: Change) -> Path:
    """A folder with a tiny model whose tensors and settings were changed."""
    tensors = {"tiny_bert": tiny.bert, "tiny_gpt2": tiny.gpt2, "tiny_llama": tiny.llama}[name]()
    settings = dict({"tiny_bert": tiny.BERT, "tiny_gpt2": tiny.GPT2, "tiny_llama": tiny.LLAMA}[name])
    change(tensors, settings)
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "model.safetensors").write_bytes(tiny.safetensors(tensors))
    return folder


def same(one: nn.Module, other: nn.Module) -> bool:
    """Whether two models have the same numbers."""
    first, second = one.state_dict(), other.state_dict()
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


# The tiny models


def test_the_script_makes_the_same_bytes_again() -> None:
    """In a fresh process with another hash seed, so that no order depends on it."""
    done = subprocess.run(
        [sys.executable, "make_tiny_weights.py", "--check"],
        cwd=DATA,
        env=os.environ | {"PYTHONHASHSEED": "12345", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_has_its_hash_and_all_are_small() -> None:
    made = [path for path in DATA.glob("tiny_*/*") if path.name != "__pycache__"]
    hashes = {path.relative_to(DATA).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in made}
    assert hashes == json.loads((DATA / "tiny_sha256.json").read_text())
    assert sum(path.stat().st_size for path in [*made, *DATA.glob("tiny_*.json")]) < 1_000_000


def test_check_sees_a_changed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tiny, "FOLDER", tmp_path)
    monkeypatch.setattr(tiny, "files", lambda: {"a/b": b"one"})
    monkeypatch.setattr(sys, "argv", ["make_tiny_weights.py"])
    assert tiny.main() == 0
    monkeypatch.setattr(sys, "argv", ["make_tiny_weights.py", "--check"])
    assert tiny.main() == 0
    (tmp_path / "a" / "b").write_bytes(b"two")
    assert tiny.main() == 1
    assert "a/b" in capsys.readouterr().out


@pytest.mark.parametrize("name", TINY)
def test_the_readme_tells_how_many_numbers_there_are(name: str) -> None:
    count = sum(np.prod(stored.shape, dtype=int) for stored in read(find(name)).tensors.values())
    assert re.search(rf"^\| `{name}` \|.*\| {count:,} \|$", (DATA / "README.md").read_text("utf-8"), re.M)


@pytest.mark.parametrize("name", TINY)
def test_models_compute_what_transformers_computed(name: str) -> None:
    expected = json.loads((DATA / "tiny_expected.json").read_text())[name.removesuffix("_gguf")]
    model, tokens = load(name), torch.tensor(expected["tokens"])
    assert type(model) is KINDS[name]
    assert not model.training
    with torch.no_grad():
        hidden, logits = hidden_states(model, tokens), model(tokens)[:, -1]
    torch.testing.assert_close(hidden, torch.tensor(expected["hidden"]), atol=1e-4, rtol=0)
    torch.testing.assert_close(logits, torch.tensor(expected["logits"]), atol=1e-4, rtol=0)
    assert logits.std() > 0.5  # far more than what is let pass


def test_both_layouts_hold_the_same_llama() -> None:
    assert same(load("tiny_llama"), load("tiny_llama_gguf"))
    settings = read(find("tiny_llama_gguf")).settings
    tokens, merges = settings["tokenizer.ggml.tokens"], settings["tokenizer.ggml.merges"]
    assert len(tokens) == 320
    assert [left + right for left, right in (merge.split(" ") for merge in merges)] == tokens[-len(merges) :]


@pytest.mark.parametrize("name", TINY)
def test_loaded_models_learn_and_no_two_tensors_share_memory(name: str) -> None:
    model = load(name)
    model(torch.arange(8).unsqueeze(0)).square().mean().backward()
    parameters = dict(model.named_parameters())
    assert [name for name, weight in parameters.items() if weight.grad is None] == []
    places = {weight.untyped_storage().data_ptr() for weight in parameters.values()}
    assert len(places) == len(parameters)
    assert all(weight.untyped_storage().nbytes() == weight.nbytes for weight in parameters.values())


# Beside transformers, with random models as its `save_pretrained` publishes them


def bert_options() -> dict[str, Any]:
    return {"vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4} | {
        "intermediate_size": 40,
        "max_position_embeddings": 30,
    }


def gpt2_options() -> dict[str, Any]:
    return {"vocab_size": 50, "n_embd": 24, "n_layer": 3, "n_head": 4, "n_positions": 30}


def llama_options() -> dict[str, Any]:
    return {"vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 6} | {
        "num_key_value_heads": 2,
        "intermediate_size": 40,
        "max_position_embeddings": 30,
    }


PEERS = {
    "bert": ("BertModel", bert_options()),
    "bert with its head": ("BertForMaskedLM", bert_options()),
    "bert with relu and another eps": (
        "BertForMaskedLM",
        bert_options() | {"hidden_act": "relu", "layer_norm_eps": 1e-2},
    ),
    "gpt2": ("GPT2LMHeadModel", gpt2_options()),
    "gpt2 without its head": ("GPT2Model", gpt2_options()),
    "gpt2, not tied, exact gelu, narrow": (
        "GPT2LMHeadModel",
        gpt2_options() | {"tie_word_embeddings": False, "activation_function": "gelu", "n_inner": 30},
    ),
    "llama": ("LlamaForCausalLM", llama_options()),
    "llama, tied": ("LlamaForCausalLM", llama_options() | {"tie_word_embeddings": True, "rms_norm_eps": 1e-2}),
    "llama, wide heads": ("LlamaForCausalLM", llama_options() | {"head_dim": 10}),
    "llama, one head for all": ("LlamaForCausalLM", llama_options() | {"num_key_value_heads": 1}),
    "llama with another base": (
        "LlamaForCausalLM",
        llama_options() | {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
    ),
    "llama without its head": ("LlamaModel", llama_options()),
}


@pytest.mark.parametrize("case", PEERS)
def test_models_compute_what_transformers_computes(case: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="the extra peers is not installed")
    name, options = PEERS[case]
    kind = getattr(transformers, name)
    torch.manual_seed(0)
    theirs = kind(kind.config_class(**options)).eval()
    with torch.no_grad():
        for weight in theirs.parameters():  # so far from 0 and 1 that a forgotten one shows
            weight.add_(0.2 * torch.randn_like(weight))
    theirs.save_pretrained(tmp_path)
    ours, tokens = load(tmp_path), torch.randint(50, (3, 11))
    with torch.no_grad():
        expected = theirs(tokens, output_hidden_states=True)
        torch.testing.assert_close(hidden_states(ours, tokens), expected.hidden_states[-1], atol=1e-4, rtol=0)
        if "logits" in expected:
            torch.testing.assert_close(ours(tokens), expected.logits, atol=1e-4, rtol=0)
        lengths = torch.tensor([11, 4, 7])
        real = torch.arange(11) < lengths.unsqueeze(1)  # (b, n)
        padded = theirs(tokens, attention_mask=real.long(), output_hidden_states=True).hidden_states[-1]
        torch.testing.assert_close(hidden_states(ours, tokens, lengths)[real], padded[real], atol=1e-4, rtol=0)


def test_the_stored_answers_are_those_of_transformers() -> None:
    pytest.importorskip("transformers", reason="the extra peers is not installed")
    computed, stored = tiny.expected(), json.loads((DATA / "tiny_expected.json").read_text())
    assert computed.keys() == stored.keys()
    for name in ("tiny_bert", "tiny_gpt2", "tiny_llama"):
        assert computed[name]["tokens"] == stored[name]["tokens"]
        for part in ("hidden", "logits"):
            assert np.allclose(computed[name][part], stored[name][part], atol=5e-5)


# Names and types


def test_rows_in_pairs_turn_as_rows_in_halves_did() -> None:
    heads, width, d = 3, 8, 12
    torch.manual_seed(0)
    weight, x = torch.randn(heads * width, d).double(), torch.randn(1, 6, d).double()
    angles = rotary_angles(torch.arange(6).double(), width)  # (n, w/2)
    halves = (x @ weight.T).unflatten(-1, (heads, width)).transpose(1, 2)  # (b, h, n, w)
    first, second = halves.chunk(2, dim=-1)
    turned = torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -1)
    pairs = (x @ pairs_side_by_side(width)(weight).T).unflatten(-1, (heads, width)).transpose(1, 2)
    ours = rotate(pairs, angles)
    torch.testing.assert_close(ours @ ours.transpose(-2, -1), turned @ turned.transpose(-2, -1))
    torch.testing.assert_close(ours[..., 0::2], turned[..., : width // 2])


def older_bert(tensors: dict[str, np.ndarray], _: dict[str, Any]) -> None:
    for name in list(tensors):
        old = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        tensors[old] = tensors.pop(name)
    tensors["bert.embeddings.position_ids"] = np.arange(64, dtype=np.float32)[None]
    for name, *shape in (("bert.pooler.dense", 32, 32), ("cls.seq_relationship", 2, 32)):
        tensors |= {f"{name}.weight": np.zeros(shape, np.float32), f"{name}.bias": np.zeros(shape[0], np.float32)}
    tensors["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"]


def older_gpt2(tensors: dict[str, np.ndarray], settings: dict[str, Any]) -> None:
    for name in list(tensors):
        tensors[name.removeprefix("transformer.")] = tensors.pop(name)
    for layer in range(2):
        tensors[f"h.{layer}.attn.bias"] = np.tril(np.ones((1, 1, 64, 64), np.float32))
        tensors[f"h.{layer}.attn.masked_bias"] = np.array(-1e4, np.float32)
    settings["n_inner"] = None


def older_llama(tensors: dict[str, np.ndarray], settings: dict[str, Any]) -> None:
    for layer in range(2):
        tensors[f"model.layers.{layer}.self_attn.rotary_emb.inv_freq"] = np.ones(8, np.float32)
    settings["rope_scaling"] = settings["head_dim"] = None


@pytest.mark.parametrize(
    ("name", "change"), [("tiny_bert", older_bert), ("tiny_gpt2", older_gpt2), ("tiny_llama", older_llama)]
)
def test_what_older_files_hold_besides_or_under_other_names_is_known(name: str, change: Change, tmp_path: Path) -> None:
    assert same(load(changed(tmp_path, name, change)), load(name))


def as_stored(folder: Path, name: str, dtype: torch.dtype) -> Path:
    """A tiny model stored in another type, by the library itself."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(find(name), folder, dirs_exist_ok=True)
    tensors = {part: weight.to(dtype) for part, weight in load_file(folder / "model.safetensors").items()}
    save_file(tensors, folder / "model.safetensors")
    return folder


@pytest.mark.parametrize("stored", [torch.float16, torch.bfloat16, torch.float64])
def test_numbers_are_converted_as_asked_or_kept(stored: torch.dtype, tmp_path: Path) -> None:
    folder = as_stored(tmp_path, "tiny_gpt2", stored)
    kept, asked = load(folder, dtype=None), load(folder)
    assert {weight.dtype for weight in kept.parameters()} == {stored}
    assert {weight.dtype for weight in asked.parameters()} == {torch.float32}
    whole = load("tiny_gpt2").base.embedding.weight.to(stored)  # divided before it is rounded
    tolerance = 2 * torch.finfo(stored).eps if stored != torch.float64 else 1e-7
    torch.testing.assert_close(kept.base.embedding.weight, whole, rtol=tolerance, atol=0)
    assert load("tiny_llama_gguf", dtype=None).norm.weight.dtype == torch.float32  # what was packed becomes float32
    assert load("tiny_llama_gguf", dtype=torch.bfloat16)(torch.arange(4)[None]).dtype == torch.bfloat16


# What is damaged, or not what it seems: one sentence, and nothing is loaded


def take(name: str) -> Change:
    return lambda tensors, _: tensors.pop(name)


def put(name: str, *shape: int) -> Change:
    return lambda tensors, _: tensors.update({name: np.zeros(shape, np.float32)})


def say(name: str, value: object) -> Change:
    return lambda _, settings: settings.update({name: value})


WRONG: list[tuple[str, Change, str]] = [
    (
        "tiny_bert",
        take("bert.encoder.layer.1.output.dense.bias"),
        r"lacks bert.encoder.layer.1.output.dense.bias, of which our base.layers.1.feed_forward.output.bias is made: ",
    ),
    ("tiny_gpt2", take("transformer.wte.weight"), r"lacks transformer.wte.weight, of which our (base.embedd|head)"),
    (
        "tiny_llama",
        say("num_hidden_layers", 3),
        r"lacks model.layers.2.\S+, of which our layers.2\S+ is made, and 8 more",
    ),
    (
        "tiny_llama",
        say("num_hidden_layers", 1),
        r"holds model.layers.1.\S+, for which the model has no place, and 8 more",
    ),
    ("tiny_bert", put("bert.extra", 3), r"holds bert.extra, for which the model has no place: nothing was loaded"),
    (
        "tiny_gpt2",
        put("transformer.h.0.attn.c_attn.weight", 32, 95),
        r"transformer.h.0.attn.c_attn.weight \(32, 95\) in \S+ gives \(31, 32\) and should become our base.layers.0."
        r"attention.value.weight \(32, 32\)",
    ),
    ("tiny_gpt2", put("transformer.h.0.mlp.c_fc.weight", 128, 32), r"c_fc.weight \(128, 32\) in \S+ gives \(32, 128\)"),
    (
        "tiny_gpt2",
        put("transformer.wpe.weight", 63, 32),
        r"wpe.weight \(63, 32\) in \S+ should become our base.position \(64,",
    ),
    (
        "tiny_llama",
        put("model.layers.0.self_attn.k_proj.weight", 30, 64),
        r"k_proj.weight \(30, 64\) in \S+ cannot become our layers.0.attention.key.weight \(32, 64\)",
    ),
    (
        "tiny_bert",
        put("bert.embeddings.token_type_embeddings.weight", 2, 1),
        r"position_embeddings.weight \(64, 32\) and bert.embeddings.token_type_embeddings.weight \(2, 1\) in \S+ can",
    ),
    (
        "tiny_bert",
        say("vocab_size", 95),
        r"word_embeddings.weight \(96, 32\) in \S+ gives \(96, 32\) and should .* \(95, 32\)",
    ),
    (
        "tiny_llama",
        say("model_type", "mamba"),
        r"is a model of kind 'mamba': in safetensors, bert, roberta, .*, qwen2 can be loaded",
    ),
    (
        "tiny_llama",
        say("rope_scaling", {"rope_type": "yarn"}),
        r"rotary positions of the kind 'yarn', and only 'default' and 'llama3' are computed here",
    ),
    ("tiny_llama", say("rope_parameters", "yes"), r"the settings of rotary positions are 'yes'"),
    ("tiny_llama", say("attention_bias", True), r"attention_bias is True, and only False is computed here"),
    (
        "tiny_bert",
        say("position_embedding_type", "relative_key"),
        r"position_embedding_type is 'relative_key', and only",
    ),
    ("tiny_bert", say("tie_word_embeddings", False), r"tie_word_embeddings is False, and only True is computed here"),
    ("tiny_gpt2", say("scale_attn_by_inverse_layer_idx", True), r"scale_attn_by_inverse_layer_idx is True"),
    ("tiny_gpt2", say("activation_function", "swish"), r"there is no activation 'swish': take one of gelu"),
    ("tiny_gpt2", say("n_embd", None), r"the config.json beside it does not say n_embd, so the model cannot be built"),
    ("tiny_llama", say("model_type", ["llama"]), r"is a model of kind \['llama'\]: in safetensors, bert, roberta"),
    ("tiny_llama", say("partial_rotary_factor", 0.5), r"turns 0.5 of each head, and only whole heads are turned here"),
    ("tiny_llama", say("rope_parameters", {"partial_rotary_factor": 0.25}), r"turns 0.25 of each head"),
    ("tiny_llama", say("sliding_window", 4096), r"sliding_window is 4096, and only None is computed here"),
    ("tiny_gpt2", say("n_embd", 10**9), r"its settings ask for a tensor that no memory holds"),
    (
        "tiny_gpt2",
        put("transformer.wpe.weight", *[1] * 30),
        r"wpe.weight \(1, 1, 1, 1, 1, 1, 1, 1, ... 30 axes\) in \S+ should become",
    ),
    ("tiny_gpt2", say("n_layer", 10**9), r"n_layer is 1000000000, more than the 28 tensors in it"),
    ("tiny_gpt2", say("n_head", -1), r"n_head is -1, expected a number above 0"),
    ("tiny_gpt2", say("n_head", 1.5), r"n_head is 1.5, expected a whole number"),
    ("tiny_gpt2", say("n_head", True), r"n_head is True, expected a number above 0"),
    ("tiny_gpt2", say("resid_pdrop", 2), r"resid_pdrop is 2, expected a number from 0 to 1"),
]


@pytest.mark.parametrize(("name", "change", "sentence"), WRONG)
def test_what_does_not_fit_is_named(name: str, change: Change, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        load(changed(tmp_path, name, change))
    assert "\n" not in str(caught.value)


def whole_file(name: str) -> bytes:
    return (find(name) / ("model.gguf" if name.endswith("gguf") else "model.safetensors")).read_bytes()


GGUF = whole_file("tiny_llama_gguf")
SAFETENSORS = whole_file("tiny_llama")
FILES = {
    "cut in its head": (SAFETENSORS[:500], "is cut short or damaged"),
    "cut in its numbers": (SAFETENSORS[:-1], "is cut short or damaged"),
    "longer than it says": (SAFETENSORS + b"12345678", "is cut short or damaged"),
    "empty": (b"", "is cut short or damaged"),
    "GGUF cut in its head": (GGUF[:5000], "is cut short or damaged"),
    "GGUF cut in its numbers": (GGUF[:-40], "is cut short or damaged"),
    "GGUF of 4 bytes": (b"GGUF", "is cut short or damaged"),
    "GGUF of a later version": (b"GGUF" + struct.pack("<I", 99) + GGUF[8:], "is cut short or damaged .*version 99"),
    "GGUF of another kind": (
        GGUF.replace(b"llama", b"bloom"),
        "is a model of kind 'bloom': in gguf, llama can be loaded",
    ),
    "a pickle": (
        pickle.dumps({"weight": [0.0]}),
        "is a pickle, which could run code: only safetensors and GGUF are read",
    ),
    "a zip file": (b"PK\x03\x04" + b"\0" * 40, "is a zip file, perhaps a pickle of PyTorch, which could run code"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\n", "is only a pointer of Git LFS to the real file"),
    "a web page": (b"<!DOCTYPE html><html></html>", "is a web page: only safetensors and GGUF are read"),
    "something else": (b"what is this, then?", "is of another layout: only safetensors and GGUF are read"),
}


def text(content: bytes) -> bytes:
    """As GGUF stores it."""
    return struct.pack("<Q", len(content)) + content


def head(field: bytes = b"", fields: int = 2, tensors: int = 0, order: str = "<") -> bytes:
    """The head of a GGUF file of a Llama, with one more field."""
    counts = struct.pack(f"{order}IQQ", 3, tensors, fields)
    return b"GGUF" + counts + text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama") + field


def listed(kind: int, count: int, values: bytes = b"") -> bytes:
    """A field that is a list."""
    return text(b"tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, kind, count) + values


@pytest.mark.parametrize(
    "content",
    [
        head(listed(4, 2**40)),
        head(listed(8, 2**64 - 1)),
        head(listed(8, 1_100_000, text(b"") * 1_100_000)),
        head(listed(0, 9_000_000, bytes(9_000_000))),
        head(listed(9, 1, struct.pack("<IQ", 9, 1) * 1000)),
        head(listed(9, 900_000, struct.pack("<IQ", 9, 0) * 900_000), fields=200_000),
        head(struct.pack("<Q", 2**63)),
        head(listed(99, 1, bytes(8))),
        head(text(b"a number") + struct.pack("<I", 99)),
        head(fields=2**60),
        head(fields=1, tensors=2**60),
        head(fields=1, tensors=1) + text(b"token_embd.weight") + struct.pack("<I", 2**31) + bytes(100),
        head(fields=2**60, order=">"),
    ],
    ids=range(13),
)
def test_a_head_that_counts_more_than_a_file_can_hold_is_refused_before_it_is_read(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the library reads it, for hours")

    monkeypatch.setattr(pytest.importorskip("gguf"), "GGUFReader", never)
    (tmp_path / "model.gguf").write_bytes(content)
    with pytest.raises(ValueError, match="is cut short or damaged") as caught:
        load(tmp_path)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["model.gguf", "model.safetensors"])
def test_only_a_file_is_opened(name: str, tmp_path: Path) -> None:
    """A named pipe would wait for ever."""
    os.mkfifo(tmp_path / name)
    for path in (tmp_path, tmp_path / name):
        with pytest.raises(FileNotFoundError, match=r"there is no file|holds none"):
            load(path)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(FileNotFoundError, match="holds none"):
        load(tmp_path)


@pytest.mark.parametrize("case", FILES)
def test_a_file_is_checked_before_it_is_used(case: str, tmp_path: Path) -> None:
    content, sentence = FILES[case]
    shutil.copy(find("tiny_llama") / "config.json", tmp_path)
    path = tmp_path / ("model.gguf" if "GGUF" in case else "model.safetensors")
    path.write_bytes(content)
    with pytest.raises(ValueError, match=sentence) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("first", [0x80, ord("<")])
def test_a_head_may_have_any_length(first: int, tmp_path: Path) -> None:
    """Its lowest byte stands first in the file, where a pickle has 0x80 and a web page "<"."""
    shutil.copy(find("tiny_llama") / "config.json", tmp_path)
    size = int.from_bytes(SAFETENSORS[:8], "little")
    longer = size + (first - size) % 256
    content = longer.to_bytes(8, "little") + SAFETENSORS[8 : 8 + size].ljust(longer) + SAFETENSORS[8 + size :]
    assert content[0] == first
    (tmp_path / "model.safetensors").write_bytes(content)
    assert same(load(tmp_path), load("tiny_llama"))


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (99, r"stores numbers in type 99 of GGUF, which is not known here: take a file with .*Q4_1, .*Q8_0$"),
        (26, r"token_embd.weight in \S+ is stored as I32, which is not read here: take a file with BF16, F16, F32, "),
    ],
)
def test_numbers_stored_in_another_way_are_refused(kind: int, sentence: str, tmp_path: Path) -> None:
    place = GGUF.index(b"token_embd.weight") + len("token_embd.weight") + 4 + 2 * 8  # behind the name and two sizes
    damaged = bytearray(GGUF)
    assert struct.unpack_from("<I", damaged, place) == (tiny.Q8_0,)
    struct.pack_into("<I", damaged, place, kind)
    (tmp_path / "model.gguf").write_bytes(damaged + b"\0" * 200_000)  # as many as the other kind takes
    with pytest.raises(ValueError, match=sentence):
        load(tmp_path)


def test_whole_numbers_are_no_weights(tmp_path: Path) -> None:
    def rename(tensors: dict[str, np.ndarray], _: dict[str, Any]) -> None:
        tensors["transformer.wpe.weight"] = tensors["transformer.wpe.weight"]

    path = changed(tmp_path, "tiny_gpt2", rename) / "model.safetensors"
    content = path.read_bytes()
    name = b'"transformer.wpe.weight":{"dtype":"'
    path.write_bytes(content.replace(name + b"F32", name + b"I32"))
    with pytest.raises(ValueError, match=r"transformer.wpe.weight in \S+ is stored as I32, which is not read here"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        ("llama.rope.scaling.type", "yarn", "rotary positions of the kind 'yarn', and only 'none' is computed here"),
        ("llama.rope.dimension_count", 8, "turns 8 numbers of a head of 16, and only all are turned here"),
        (
            "llama.vocab_size",
            100,
            r"token_embd.weight \(320, 64\) in \S+ should become our embedding.weight \(100, 64\)",
        ),
        ("llama.context_length", None, "the file does not say llama.context_length, so the model cannot be built"),
    ],
)
def test_settings_of_gguf_that_ask_for_something_else_are_refused(
    setting: str, value: object, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = read(find("tiny_llama_gguf"))
    published.settings[setting] = value
    monkeypatch.setattr(loading, "read", lambda _: published)
    with pytest.raises(ValueError, match=sentence):
        load("tiny_llama_gguf")


def test_hundreds_of_damaged_files_get_one_sentence_each(tmp_path: Path) -> None:
    """Bytes at random places, most of them in the head, where every one means something."""
    draw, outcomes, sentences = random.Random(0), {"loaded": 0, "refused": 0}, list[str]()
    for name in ("tiny_gpt2", "tiny_llama_gguf"):
        content = whole_file(name)
        shutil.copy(find("tiny_gpt2") / "config.json", tmp_path)
        path = tmp_path / f"{name}.file"
        for _ in range(100):
            damaged = bytearray(content)
            for _ in range(draw.choice([1, 1, 4])):
                damaged[draw.randrange(8000)] = draw.randrange(256)
            path.write_bytes(damaged)
            try:
                load(path)
                outcomes["loaded"] += 1  # a letter of a token, or a number that is another number now
            except ValueError as error:
                outcomes["refused"] += 1
                sentences.append(str(error))
    assert [sentence for sentence in sentences if str(tmp_path) not in sentence or "\n" in sentence] == []
    assert outcomes["refused"] > 50
    assert outcomes["loaded"] > 20


# Nothing half loaded


class Two(nn.Module):
    """A model of somebody's own."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 2), nn.Linear(2, 3, bias=False)


NAMES = {"first.weight": "a", "first.bias": "b", "second.weight": "c"}


def published(**changes: Stored | None) -> Published:
    """Three tensors, or others."""
    shapes = {"a": (2, 3), "b": (2,), "c": (3, 2)}
    stored = {name: Stored(shape, "F32", functools.partial(torch.ones, shape)) for name, shape in shapes.items()}
    chosen = {name: part for name, part in (stored | changes).items() if part is not None}
    return Published(Path("file"), "safetensors", {}, chosen)


def broken(error: Exception) -> Stored:
    def fail() -> Tensor:
        raise error

    return Stored((3, 2), "F32", fail)


def test_a_model_of_ones_own_is_filled() -> None:
    model = Two()
    copy_into(model, published(), NAMES)
    assert all(torch.equal(weight, torch.ones_like(weight)) for weight in model.parameters())
    copy_into(model, published(d=Stored((1,), "I64", torch.ones)), NAMES, unused=["d"], dtype=torch.float64)
    assert {weight.dtype for weight in model.parameters()} == {torch.float64}


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"c": None}, ValueError, "file lacks c, of which our second.weight is made: nothing was loaded"),
        ({"d": Stored((1,), "F32", torch.ones)}, ValueError, "file holds d, for which the model has no place"),
        (
            {"c": Stored((2, 3), "F32", torch.ones)},
            ValueError,
            r"c \(2, 3\) in file should become our second.weight \(3, 2\)",
        ),
        (
            {"c": Stored((3, 2), "F8_E4M3", torch.ones)},
            ValueError,
            "c in file is stored as F8_E4M3, which is not read here",
        ),
        ({"c": broken(RuntimeError("the disk is gone\nreally"))}, ValueError, "file cannot be read: the disk is gone$"),
        (
            {"c": broken(RuntimeError("can't allocate memory"))},
            MemoryError,
            "file does not fit into memory: close other",
        ),
        ({"c": broken(MemoryError())}, MemoryError, "file does not fit into memory: close other kernels"),
    ],
)
def test_a_model_keeps_its_numbers_when_anything_is_wrong(
    changes: dict[str, Stored | None], error: type[Exception], sentence: str
) -> None:
    model, untouched = Two(), Two()
    untouched.load_state_dict(model.state_dict())
    before = [id(weight) for weight in model.parameters()]
    with pytest.raises(error, match=sentence):
        copy_into(model, published(**changes), NAMES)
    assert same(model, untouched)
    assert [id(weight) for weight in model.parameters()] == before


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            {"first.weight": "a", "first.bias": "b"},
            "the table of names does not say from what our second.weight is made",
        ),
        (NAMES | {"third.weight": "c"}, "the table of names has third.weight, and the model has no such tensor"),
    ],
)
def test_a_table_that_is_not_the_models_is_refused(names: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        copy_into(Two(), published(), names)


@pytest.mark.parametrize("name", ["tiny_llama_gguf", "tiny_bert"])
def test_what_is_read_some_rows_at_a_time_is_what_is_read_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gguf = pytest.importorskip("gguf", reason="the extra weights is not installed")
    whole, unpack, sizes = load(name), gguf.dequantize, list[int]()

    def noted(data: np.ndarray, kind: int) -> np.ndarray:
        sizes.append(data.size)
        return unpack(data, kind)

    monkeypatch.setattr(gguf, "dequantize", noted)
    monkeypatch.setattr(weight_files, "AT_ONCE", 200)
    monkeypatch.setattr(loading, "ROWS", 3)
    assert same(load(name), whole)
    assert max(sizes, default=0) <= 200


def test_a_model_that_needs_more_memory_than_is_free_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "free_memory", lambda: 200_000)
    message = r"needs 0.0 GB of memory and 0.0 GB are free: close other kernels, or load it with dtype=torch.bfloat16"
    with pytest.raises(MemoryError, match=message):
        load("tiny_llama")
    monkeypatch.setattr(loading, "free_memory", lambda: 600_000)
    assert load("tiny_llama").tied
    monkeypatch.setattr(loading, "free_memory", lambda: None)  # where nobody says it
    assert load("tiny_llama").tied


def test_free_memory_is_the_smaller_of_the_machines_and_the_containers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if Path("/proc/meminfo").is_file():
        free = weight_files.free_memory()
        assert free is None or 0 < free < 2**50
    files = {
        "/proc/meminfo": "MemTotal:  99 kB\nMemAvailable:  10 kB\n",
        "/sys/fs/cgroup/memory.max": "9000\n",
        "/sys/fs/cgroup/memory.current": "4000\n",
        "/sys/fs/cgroup/memory.stat": "anon 1\ninactive_file 1000\n",
    }
    for name, text in files.items():
        (tmp_path / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name[1:]).write_text(text)
    monkeypatch.setattr(weight_files, "Path", lambda name: tmp_path / str(name)[1:])
    assert weight_files.free_memory() == 6000
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("max\n")
    assert weight_files.free_memory() == 10 * 1024
    (tmp_path / "proc/meminfo").unlink()
    assert weight_files.free_memory() is None


# What is not there


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for package, name in (("safetensors", "tiny_llama"), ("gguf", "tiny_llama_gguf")):
        monkeypatch.setitem(sys.modules, package, None)  # what a missing module looks like
        with pytest.raises(ModuleNotFoundError, match=f"one package more: run `%pip install {package}`, or `pip"):
            load(name)


def test_the_packages_are_imported_only_when_a_file_is_read(repository: Path) -> None:
    program = "import sys, helpers.weights; print(sorted({'gguf', 'safetensors', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], cwd=repository, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_not_there_is_named_with_what_to_do(tmp_path: Path, cache: Path) -> None:
    assert not is_here("smollm2")
    assert not is_here("nothing")
    assert is_here("tiny_bert")
    with pytest.raises(
        FileNotFoundError, match=r"smollm2 is not here yet: run `python -m helpers.weights fetch smollm2`"
    ):
        load("smollm2")
    with pytest.raises(FileNotFoundError, match=r"no model of this name: there are tiny_bert, .*, smollm2, minilm, e5"):
        load("nothing")
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        read(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError, match=r"should hold one file of weights .*, and holds none"):
        load(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(SAFETENSORS)
    with pytest.raises(FileNotFoundError, match=r"config.json is missing: it holds the model's settings"):
        load(tmp_path)
    (tmp_path / "model-2.safetensors").write_bytes(SAFETENSORS)
    with pytest.raises(FileNotFoundError, match=r"holds model-2.safetensors, model.safetensors"):
        load(tmp_path)


@pytest.mark.parametrize("content", ["", "[1]", "{", "\0", "[" * 100_000])
def test_settings_that_are_none_are_refused(content: str, tmp_path: Path) -> None:
    shutil.copytree(find("tiny_llama"), tmp_path, dirs_exist_ok=True)
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ValueError, match=r"config.json is no JSON with a model's settings \(.*\): fetch it again"):
        load(tmp_path)
