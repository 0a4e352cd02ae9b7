"""Relatives of BERT and Llama compute what they should; shards are one model; heads are left out when asked."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from helpers.llama import Llama, Slower
from helpers.models import LanguageModel, MaskedLanguageModel, TransformerBase
from helpers.weights import Model, load
from helpers.weights.files import INDEX

DATA = Path(__file__).resolve().parents[2] / "data"
sys.path.insert(0, str(DATA))

import make_tiny_weights as tiny  # noqa: E402  (the scripts of data/ are no package)

pytest.importorskip("safetensors", reason="the extra weights is not installed")

EXPECTED = json.loads((DATA / "tiny_expected.json").read_text())
KINDS = {
    "roberta": MaskedLanguageModel,
    "distilbert": MaskedLanguageModel,
    "mistral": Llama,
    "qwen2": Llama,
    "llama3": Llama,
}


def written(folder: Path, settings: dict[str, Any], tensors: dict[str, np.ndarray]) -> Path:
    """The folder, with a model in it."""
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "model.safetensors").write_bytes(tiny.safetensors(tensors))
    return folder


def relative(folder: Path, name: str, **settings: object) -> Path:
    """A folder with a relative of the tiny models, some of its settings changed."""
    told, tensors = tiny.relatives()[name]
    return written(folder, told | settings, tensors)


def hidden_states(model: Model, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
    """What the head reads, `(b, n, d)`."""
    if isinstance(model, Llama):
        return model.hidden_states(tokens, lengths)
    return (model if isinstance(model, TransformerBase) else model.base)(tokens, lengths)


def same(one: Any, other: Any) -> bool:
    """Whether two models have the same numbers."""
    first, second = one.state_dict(), other.state_dict()
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


# Relatives


@pytest.mark.parametrize("name", KINDS)
def test_relatives_compute_what_transformers_computed(name: str, tmp_path: Path) -> None:
    model, expected = load(relative(tmp_path, name)), EXPECTED[name]
    tokens = torch.tensor(expected["tokens"])
    assert type(model) is KINDS[name]
    with torch.no_grad():
        hidden, logits = hidden_states(model, tokens)[0, -1], model(tokens)[0, -1, :30]
    torch.testing.assert_close(hidden, torch.tensor(expected["hidden"]), atol=1e-4, rtol=0)
    torch.testing.assert_close(logits, torch.tensor(expected["logits"]), atol=1e-4, rtol=0)
    assert logits.std() > 0.5


@pytest.mark.parametrize("name", ["qwen2", "llama3"])
def test_what_makes_them_another_kind_shows(name: str) -> None:
    expected = EXPECTED[name]
    with torch.no_grad():
        logits = load("tiny_llama")(torch.tensor(expected["tokens"]))[0, -1, :30]
    assert (logits - torch.tensor(expected["logits"])).abs().max() > 0.1


def test_mistral_takes_as_many_tokens_as_it_sees_at_once(tmp_path: Path) -> None:
    model = load(relative(tmp_path, "mistral"))
    assert same(model, load("tiny_llama"))
    model(torch.zeros(1, 40, dtype=torch.long))
    with pytest.raises(ValueError, match="41 tokens are more than max_len=40, for which the model was made"):
        model(torch.zeros(1, 41, dtype=torch.long))
    assert load(relative(tmp_path, "mistral", sliding_window=None)).max_len == 128


@pytest.mark.parametrize("kind", ["camembert", "xlm-roberta"])
def test_other_names_of_roberta_are_roberta(kind: str, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    one, other = relative(tmp_path / "one", "roberta"), relative(tmp_path / "other", "roberta", model_type=kind)
    assert same(load(one), load(other))
    model: Any = load(one)
    assert len(model.base.position) == 62  # two of 64 are for padding


def test_slow_pairs_of_llama3_turn_more_slowly_and_fast_ones_as_before() -> None:
    slower = Slower(factor=8, low=1, high=4, length=100)
    turns = torch.tensor([8.0, 4.0, 2.5, 1.0, 0.1])  # within 100 tokens
    steps = turns * 2 * torch.pi / 100
    torch.testing.assert_close(slower.of(steps) / steps, torch.tensor([1, 1, 0.5 + 0.5 / 8, 1 / 8, 1 / 8]))


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        (
            "llama3",
            {"rope_scaling": {"rope_type": "llama3"}},
            "config.json beside it does not say factor, so the model",
        ),
        (
            "llama3",
            {"rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 2, "high_freq_factor": 2}},
            "does not say original_max_position_embeddings",
        ),
        (
            "llama3",
            {
                "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 2, "high_freq_factor": 2}
                | {"original_max_position_embeddings": 9}
            },
            "low_freq_factor is 2, expected less than high_freq_factor",
        ),
        ("llama3", {"rope_scaling": {"rope_type": "yarn"}}, "of the kind 'yarn', and only 'default' and 'llama3' are"),
        ("qwen2", {"use_sliding_window": True}, "use_sliding_window is True, and only False is computed here"),
        (
            "qwen2",
            {"model_type": "llama"},
            "holds model.layers.0.self_attn.k_proj.bias, for which the model has no place",
        ),
        (
            "mistral",
            {"model_type": "qwen2"},
            r"lacks model.layers.0.self_attn.k_proj.bias, of which our \S+key.bias is",
        ),
        ("mistral", {"sliding_window": -1}, "sliding_window is -1, expected a number above 0"),
        ("roberta", {"is_decoder": True}, "is_decoder is True, and only False is computed here"),
        ("roberta", {"tie_word_embeddings": False}, "tie_word_embeddings is False, and only True is computed here"),
        ("distilbert", {"activation": "swish"}, "there is no activation 'swish': take one of gelu"),
    ],
)
def test_what_relatives_do_not_compute_is_refused(
    name: str, settings: dict[str, object], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        load(relative(tmp_path, name, **settings))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "kind",
    ["flaubert", "modernbert", "electra", "gpt_neo", "gpt_neox", "opt", "qwen3", "gemma", "smollm3", "phi", "t5"],
)
def test_other_kinds_are_refused_with_those_there_are(kind: str, tmp_path: Path) -> None:
    known = "bert, roberta, camembert, xlm-roberta, distilbert, gpt2, llama, mistral, qwen2 can be loaded"
    for base_only in (False, True):
        with pytest.raises(ValueError, match=f"is a model of kind '{kind}': in safetensors, {known}"):
            load(relative(tmp_path, "mistral", model_type=kind), base_only=base_only)


def test_the_name_of_a_hub_is_answered_with_how_to_bring_the_model() -> None:
    with pytest.raises(FileNotFoundError, match=r"put its config.json and .safetensors files, .* and load that folder"):
        load("almanach/camembert-base")


# The base alone


@pytest.mark.parametrize("name", ["tiny_bert", "roberta", "distilbert", "tiny_gpt2", "mistral"])
def test_a_classifier_is_refused_and_its_base_is_loaded_when_asked(name: str, tmp_path: Path) -> None:
    made = {"tiny_bert": (tiny.BERT, tiny.bert()), "tiny_gpt2": (tiny.GPT2, tiny.gpt2())}
    settings, tensors = (made | tiny.relatives())[name]
    whole = load(written(tmp_path, settings, tensors))
    kept = {part: tensor for part, tensor in tensors.items() if not part.startswith(("cls.", "lm_head.", "vocab_"))}
    written(tmp_path, settings, kept | {"classifier.weight": np.zeros((5, 32), np.float32)})
    with pytest.raises(ValueError, match=r"holds classifier.weight, for which the model has no place: nothing was"):
        load(tmp_path)
    base = load(tmp_path, base_only=True)
    assert not isinstance(base, LanguageModel)
    assert same(base, whole.base if isinstance(whole, LanguageModel) else whole)


def test_a_head_for_words_is_left_out_when_the_base_is_asked_for_and_nothing_else() -> None:
    assert same(load("tiny_bert", base_only=True), load("tiny_bert").base)
    assert same(load("tiny_llama", base_only=True), load("tiny_llama"))
    assert same(load("tiny_llama_gguf", base_only=True), load("tiny_llama"))


def test_a_base_that_lacks_a_tensor_is_refused_all_the_same(tmp_path: Path) -> None:
    settings, tensors = tiny.relatives()["roberta"]
    tensors["roberta.extra"] = tensors.pop("roberta.encoder.layer.1.output.dense.bias")
    with pytest.raises(ValueError, match=r"lacks roberta.encoder.layer.1.output.dense.bias"):
        load(written(tmp_path, settings, tensors), base_only=True)


# Shards


def in_shards(folder: Path, **changes: object) -> Path:
    """A folder with the tiny Llama in three files, and the index of them, something in it changed."""
    tensors, places = tiny.llama(), dict[str, object]()
    for number in range(3):
        name = f"model-0000{number + 1}-of-00003.safetensors"
        part = {tensor: tensors[tensor] for tensor in sorted(tensors)[number::3]}
        (folder / name).write_bytes(tiny.safetensors(part))
        places |= dict.fromkeys(part, name)
    (folder / "config.json").write_text(json.dumps(tiny.LLAMA))
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": places | changes}))
    return folder


def test_a_model_in_shards_is_that_in_one_file(tmp_path: Path) -> None:
    folder = in_shards(tmp_path)
    assert same(load(folder), load("tiny_llama"))
    assert same(load(folder / INDEX), load("tiny_llama"))


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        (
            {"a": "model-00009-of-00003.safetensors"},
            FileNotFoundError,
            r"lacks model-00009\S+, which model.safetensors",
        ),
        ({"a": "model-00002-of-00003.safetensors"}, ValueError, r"model-00002\S+ lacks a, which \S+ says is there"),
        ({"a": "../other/model.safetensors"}, ValueError, r"names '../other\S+', which is no name of a safetensors"),
        ({"a": "/etc/passwd"}, ValueError, r"names '/etc/passwd', which is no name of a safetensors file"),
        ({"a": "model.bin"}, ValueError, r"names 'model.bin', which is no name of a safetensors file"),
        ({"a": 3}, ValueError, r"index.json does not say in which file each tensor is: fetch it again"),
    ],
)
def test_an_index_that_does_not_fit_is_refused(
    changes: dict[str, object], error: type[Exception], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=sentence) as caught:
        load(in_shards(tmp_path, **changes))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", ["", "[]", '{"weight_map": []}', '{"weight_map": {}}', "{}", '{"weight_map": null}']
)
def test_an_index_that_is_none_is_refused(content: str, tmp_path: Path) -> None:
    (in_shards(tmp_path) / INDEX).write_text(content)
    with pytest.raises(ValueError, match=r"index.json (is no JSON|does not say)"):
        load(tmp_path)


def test_several_files_without_an_index_are_refused(tmp_path: Path) -> None:
    (in_shards(tmp_path) / INDEX).unlink()
    with pytest.raises(FileNotFoundError, match=r"should hold one file of weights .*, and holds model-00001-of-00003"):
        load(tmp_path)


def test_a_shard_that_is_damaged_is_named(tmp_path: Path) -> None:
    path = in_shards(tmp_path) / "model-00002-of-00003.safetensors"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match=r"model-00002-of-00003.safetensors is cut short or damaged"):
        load(tmp_path)


# Beside transformers, with random models as its `save_pretrained` publishes them

ENCODER = {"vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4}
ENCODER |= {"intermediate_size": 40, "max_position_embeddings": 30}
DISTIL = {"vocab_size": 50, "dim": 24, "n_layers": 3, "n_heads": 4, "hidden_dim": 40, "max_position_embeddings": 30}
DECODER = {"vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 6, "head_dim": 16}
DECODER |= {"num_key_value_heads": 2, "intermediate_size": 40, "max_position_embeddings": 30}
ROPE = {"rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 2.0}
ROPE |= {"original_max_position_embeddings": 16}
PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "roberta": ("RobertaModel", ENCODER),
    "roberta with its head, another eps": ("RobertaForMaskedLM", ENCODER | {"layer_norm_eps": 1e-2}),
    "camembert": ("CamembertModel", ENCODER),
    "camembert with its head": ("CamembertForMaskedLM", ENCODER),
    "xlm-r": ("XLMRobertaModel", ENCODER),
    "xlm-r with its head": ("XLMRobertaForMaskedLM", ENCODER | {"type_vocab_size": 1}),
    "distilbert": ("DistilBertModel", DISTIL),
    "distilbert with its head": ("DistilBertForMaskedLM", DISTIL),
    "qwen2": ("Qwen2ForCausalLM", DECODER),
    "qwen2, tied": ("Qwen2ForCausalLM", DECODER | {"tie_word_embeddings": True}),
    "mistral": ("MistralForCausalLM", DECODER | {"sliding_window": 11}),
    "mistral that sees everything": ("MistralForCausalLM", DECODER | {"sliding_window": None}),
    "llama 3": ("LlamaForCausalLM", DECODER | {"rope_parameters": ROPE}),
}
HEADS: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("BertForSequenceClassification", ENCODER),
    "bert for tokens": ("BertForTokenClassification", ENCODER),
    "camembert": ("CamembertForSequenceClassification", ENCODER),
    "distilbert": ("DistilBertForSequenceClassification", DISTIL),
    "gpt2": ("GPT2ForSequenceClassification", {"vocab_size": 50, "n_embd": 24, "n_layer": 3, "n_head": 4}),
    "llama": ("LlamaForSequenceClassification", DECODER),
}


def peer(name: str, options: dict[str, Any]) -> Any:
    """A random model of transformers, its numbers so far from 0 and 1 that a forgotten one shows."""
    transformers = pytest.importorskip("transformers", reason="the extra peers is not installed")
    kind = getattr(transformers, name)
    torch.manual_seed(0)
    model = kind(kind.config_class(**options, pad_token_id=1)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    return model


@pytest.mark.parametrize("case", PEERS)
def test_relatives_compute_what_transformers_computes(case: str, tmp_path: Path) -> None:
    theirs = peer(*PEERS[case])
    theirs.save_pretrained(tmp_path)
    ours, tokens = load(tmp_path), torch.randint(2, 50, (3, 11))
    with torch.no_grad():
        expected = theirs(tokens, output_hidden_states=True)
        torch.testing.assert_close(hidden_states(ours, tokens), expected.hidden_states[-1], atol=1e-4, rtol=0)
        if "logits" in expected:
            torch.testing.assert_close(ours(tokens), expected.logits, atol=1e-4, rtol=0)
        lengths = torch.tensor([11, 4, 7])
        real = torch.arange(11) < lengths.unsqueeze(1)  # (b, n)
        read = tokens.masked_fill(~real, 1)
        padded = theirs(read, attention_mask=real.long(), output_hidden_states=True).hidden_states[-1]
        torch.testing.assert_close(hidden_states(ours, read, lengths)[real], padded[real], atol=1e-4, rtol=0)


@pytest.mark.parametrize("case", HEADS)
def test_the_base_of_a_classifier_computes_what_transformers_computes(case: str, tmp_path: Path) -> None:
    theirs = peer(*HEADS[case])
    theirs.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="for which the model has no place"):
        load(tmp_path)
    ours, tokens = load(tmp_path, base_only=True), torch.randint(2, 50, (3, 11))
    with torch.no_grad():
        expected = theirs(tokens, output_hidden_states=True).hidden_states[-1]
        torch.testing.assert_close(hidden_states(ours, tokens), expected, atol=1e-4, rtol=0)


def test_shards_that_transformers_writes_are_read(tmp_path: Path) -> None:
    theirs = peer("LlamaForCausalLM", DECODER)
    theirs.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("model-*-of-*.safetensors"))) > 2
    tokens = torch.randint(50, (3, 11))
    with torch.no_grad():
        torch.testing.assert_close(load(tmp_path)(tokens), theirs(tokens).logits, atol=1e-4, rtol=0)


def test_the_stored_answers_of_relatives_are_those_of_transformers() -> None:
    pytest.importorskip("transformers", reason="the extra peers is not installed")
    computed = tiny.expected()
    for name in KINDS:
        assert computed[name]["tokens"] == EXPECTED[name]["tokens"]
        for part in ("hidden", "logits"):
            assert np.allclose(computed[name][part], EXPECTED[name][part], atol=5e-5)
