"""Writes three tiny models in the published layouts, with random weights; --check compares the files with them.

`tiny_bert`, `tiny_gpt2` and `tiny_llama` hold what `save_pretrained` of `transformers` writes, `config.json` and
`model.safetensors`; `tiny_llama_gguf` holds the same Llama, number for number, in GGUF. They know nothing: they are
there so that what reads and runs published weights can be tried without a network.

Both layouts are written here, a few lines each, so that the same bytes come out whatever is installed. With --expected,
`transformers` is asked what the models compute; the tests compare with its answers where it is not installed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import struct
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent
HASHES, EXPECTED = FOLDER / "tiny_sha256.json", FOLDER / "tiny_expected.json"
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
BLOCK, ALIGNMENT = 32, 32  # numbers packed together, and where tensors begin, in GGUF
F32, Q4_1, Q8_0 = 0, 3, 8  # types of tensors in GGUF
TYPES = {int: 4, float: 6, bool: 7, str: 8, list: 9}  # types of settings in GGUF: uint32, float32, bool, string, array

Tensors = dict[str, np.ndarray]
BERT: dict[str, Any] = {
    "architectures": ["BertForMaskedLM"],
    "model_type": "bert",
    "vocab_size": 96,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
    "type_vocab_size": 2,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
    "dtype": "float32",
}
GPT2: dict[str, Any] = {
    "architectures": ["GPT2LMHeadModel"],
    "model_type": "gpt2",
    "vocab_size": 320,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 64,
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-05,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "dtype": "float32",
}
LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 320,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "max_position_embeddings": 128,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-05,
    "rope_theta": 100000.0,
    "tie_word_embeddings": True,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "dtype": "float32",
}

TO_ROBERTA = {
    "bert.": "roberta.",
    "cls.predictions.transform.dense": "lm_head.dense",
    "cls.predictions.transform.LayerNorm": "lm_head.layer_norm",
    "cls.predictions.bias": "lm_head.bias",
}
TO_DISTILBERT = {
    "bert.encoder": "bert.transformer",
    "attention.self.query": "attention.q_lin",
    "attention.self.key": "attention.k_lin",
    "attention.self.value": "attention.v_lin",
    "attention.output.dense": "attention.out_lin",
    "attention.output.LayerNorm": "sa_layer_norm",
    "output.LayerNorm": "output_layer_norm",
    "intermediate.dense": "ffn.lin1",
    "output.dense": "ffn.lin2",
    "bert.": "distilbert.",
    "cls.predictions.transform.dense": "vocab_transform",
    "cls.predictions.transform.LayerNorm": "vocab_layer_norm",
    "cls.predictions.bias": "vocab_projector.bias",
}


class Draw:
    """Random tensors; `random.random` gives the same numbers in every version of Python."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def uniform(self, *shape: int, low: float, high: float) -> np.ndarray:
        """Numbers between two limits, in float32."""
        drawn = np.array([self.random.random() for _ in range(int(np.prod(shape)))])
        return (low + (high - low) * drawn).reshape(shape).astype(np.float32)

    def weight(self, *shape: int) -> np.ndarray:
        """A matrix that keeps about the size of what it is multiplied with, whichever way it stands."""
        limit = math.sqrt(3 / min(shape))
        return self.uniform(*shape, low=-limit, high=limit)

    def bias(self, size: int) -> np.ndarray:
        """So large that a forgotten one shows."""
        return self.uniform(size, low=-0.2, high=0.2)

    def norm(self, size: int) -> np.ndarray:
        """The scale of a norm, so far from 1 that a forgotten one shows."""
        return self.uniform(size, low=0.5, high=1.5)

    def linear(self, name: str, out: int, into: int) -> Tensors:
        """Weight and bias, as nn.Linear has them."""
        return {f"{name}.weight": self.weight(out, into), f"{name}.bias": self.bias(out)}

    def scale(self, name: str, size: int) -> Tensors:
        """Scale and bias, as nn.LayerNorm has them."""
        return {f"{name}.weight": self.norm(size), f"{name}.bias": self.bias(size)}


def bert() -> Tensors:
    """The tensors of BertForMaskedLM."""
    draw, d, inner = Draw(1), BERT["hidden_size"], BERT["intermediate_size"]
    tensors = {
        "bert.embeddings.word_embeddings.weight": draw.weight(BERT["vocab_size"], d),
        "bert.embeddings.position_embeddings.weight": draw.weight(BERT["max_position_embeddings"], d),
        "bert.embeddings.token_type_embeddings.weight": draw.uniform(2, d, low=-0.3, high=0.3),
        **draw.scale("bert.embeddings.LayerNorm", d),
    }
    for number in range(BERT["num_hidden_layers"]):
        layer = f"bert.encoder.layer.{number}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            tensors |= draw.linear(f"{layer}.attention.{part}", d, d)
        tensors |= draw.scale(f"{layer}.attention.output.LayerNorm", d)
        tensors |= draw.linear(f"{layer}.intermediate.dense", inner, d)
        tensors |= draw.linear(f"{layer}.output.dense", d, inner)
        tensors |= draw.scale(f"{layer}.output.LayerNorm", d)
    tensors |= draw.linear("cls.predictions.transform.dense", d, d)
    tensors |= draw.scale("cls.predictions.transform.LayerNorm", d)
    return tensors | {"cls.predictions.bias": draw.bias(BERT["vocab_size"])}


def gpt2() -> Tensors:
    """The tensors of GPT2LMHeadModel, whose matrices are stored `(in, out)`."""
    draw, d = Draw(2), GPT2["n_embd"]
    tensors = {
        "transformer.wte.weight": draw.weight(GPT2["vocab_size"], d),
        "transformer.wpe.weight": draw.weight(GPT2["n_positions"], d),
    }
    for number in range(GPT2["n_layer"]):
        layer = f"transformer.h.{number}"
        for part, into, out in (
            ("attn.c_attn", d, 3 * d),
            ("attn.c_proj", d, d),
            ("mlp.c_fc", d, 4 * d),
            ("mlp.c_proj", 4 * d, d),
        ):
            tensors |= {f"{layer}.{part}.weight": draw.weight(into, out), f"{layer}.{part}.bias": draw.bias(out)}
        tensors |= draw.scale(f"{layer}.ln_1", d) | draw.scale(f"{layer}.ln_2", d)
    return tensors | draw.scale("transformer.ln_f", d)


def relatives() -> dict[str, tuple[dict[str, Any], Tensors]]:
    """Settings and tensors of models that compute almost what BERT and Llama do, made of theirs; in no file."""
    base = {name: value for name, value in BERT.items() if name not in ("architectures", "model_type")}
    roberta = {"model_type": "roberta", "type_vocab_size": 1, "pad_token_id": 1, "layer_norm_eps": 1e-5}
    distilbert = {"model_type": "distilbert", "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}
    distilbert |= {"activation": "gelu", "vocab_size": 96, "max_position_embeddings": 64, "pad_token_id": 0}
    rope = {"rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "original_max_position_embeddings": 16}
    rope |= {"low_freq_factor": 1.0, "high_freq_factor": 2.0}
    found: dict[str, tuple[dict[str, Any], Tensors]] = {
        "roberta": ({**base, **roberta, "architectures": ["RobertaForMaskedLM"]}, renamed(bert(), TO_ROBERTA)),
        "distilbert": ({**distilbert, "architectures": ["DistilBertForMaskedLM"]}, renamed(bert(), TO_DISTILBERT)),
        "mistral": (LLAMA | {"model_type": "mistral", "sliding_window": 40}, llama()),
        "qwen2": (LLAMA | {"model_type": "qwen2"}, llama()),
        "llama3": (LLAMA | {"rope_scaling": rope, "rope_theta": 500.0}, llama()),
    }
    types = "roberta.embeddings.token_type_embeddings.weight"
    found["roberta"][1][types] = found["roberta"][1][types][:1]
    found["distilbert"][1].pop("distilbert.embeddings.token_type_embeddings.weight")
    draw = Draw(4)
    for number in range(LLAMA["num_hidden_layers"]):
        for part, size in (("q", 64), ("k", 32), ("v", 32)):
            found["qwen2"][1][f"model.layers.{number}.self_attn.{part}_proj.bias"] = draw.bias(size)
    return found


def renamed(tensors: Tensors, parts: dict[str, str]) -> Tensors:
    """The same tensors, parts of their names changed in this order."""
    found = {}
    for name, tensor in tensors.items():
        for old, new in parts.items():
            name = name.replace(old, new)
        found[name] = tensor
    return found


def llama() -> Tensors:
    """The tensors of LlamaForCausalLM; each number is one that GGUF can store in the type chosen below."""
    draw, d, inner = Draw(3), LLAMA["hidden_size"], LLAMA["intermediate_size"]
    keys = d // LLAMA["num_attention_heads"] * LLAMA["num_key_value_heads"]
    tensors = {"model.embed_tokens.weight": unpacked(draw.weight(LLAMA["vocab_size"], d), Q8_0)}
    for number in range(LLAMA["num_hidden_layers"]):
        layer = f"model.layers.{number}"
        for part, out, into in (
            ("self_attn.q_proj", d, d),
            ("self_attn.k_proj", keys, d),
            ("self_attn.v_proj", keys, d),
            ("self_attn.o_proj", d, d),
            ("mlp.gate_proj", inner, d),
            ("mlp.up_proj", inner, d),
            ("mlp.down_proj", d, inner),
        ):
            tensors[f"{layer}.{part}.weight"] = unpacked(draw.weight(out, into), Q4_1)
        for part in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"{layer}.{part}.weight"] = draw.norm(d)
    return tensors | {"model.norm.weight": draw.norm(d)}


# --- safetensors ------------------------------------------------------------------------------------------------------


def safetensors(tensors: Tensors) -> bytes:
    """The bytes of a file: eight of length, a head in JSON padded to a multiple of eight, the numbers."""
    head: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name in sorted(tensors):
        size = tensors[name].nbytes
        head[name] = {"dtype": "F32", "shape": list(tensors[name].shape), "data_offsets": [offset, offset + size]}
        offset += size
    told = json.dumps(head, separators=(",", ":")).encode()
    told += b" " * (-len(told) % 8)
    return (
        struct.pack("<Q", len(told))
        + told
        + b"".join(tensors[name].astype("<f4").tobytes() for name in sorted(tensors))
    )


# --- GGUF -------------------------------------------------------------------------------------------------------------


def packed(weight: np.ndarray, kind: int) -> bytes:
    """Numbers of a matrix in blocks of 32: Q4_1 as d q + m with q from 0 to 15, Q8_0 as d q with q from -127 to 127.

    d and m have half precision. What was packed once and unpacked comes out as the same bytes.
    """
    blocks = weight.reshape(-1, BLOCK)
    if kind == Q8_0:
        step = (np.abs(blocks).max(axis=1, keepdims=True) / 127).astype(np.float16)
        whole = np.rint(blocks / step.astype(np.float32)).astype(np.int8)
        return np.concatenate([step.view(np.uint8), whole.view(np.uint8)], axis=1).tobytes()
    low = blocks.min(axis=1, keepdims=True).astype(np.float16)
    step = ((blocks.max(axis=1, keepdims=True) - low.astype(np.float32)) / 15).astype(np.float16)
    whole = np.rint((blocks - low.astype(np.float32)) / step.astype(np.float32)).clip(0, 15).astype(np.uint8)
    nibbles = whole[:, : BLOCK // 2] | whole[:, BLOCK // 2 :] << 4  # number i with number i + 16
    return np.concatenate([step.view(np.uint8), low.view(np.uint8), nibbles], axis=1).tobytes()


def unpacked(weight: np.ndarray, kind: int) -> np.ndarray:
    """The matrix after packing: what a reader gets, in float32."""
    content = np.frombuffer(packed(weight, kind), np.uint8).reshape(weight.size // BLOCK, -1)
    step: np.ndarray = content[:, :2].copy().view(np.float16).astype(np.float32)
    if kind == Q8_0:
        return (step * content[:, 2:].view(np.int8).astype(np.float32)).reshape(weight.shape)
    low = content[:, 2:4].copy().view(np.float16).astype(np.float32)
    whole = np.concatenate([content[:, 4:] & 15, content[:, 4:] >> 4], axis=1).astype(np.float32)
    matrix: np.ndarray = (step * whole + low).reshape(weight.shape)
    return matrix


def neighbours(weight: np.ndarray) -> np.ndarray:
    """The rows of queries or keys with the two numbers of a rotary pair side by side, as llama.cpp stores them."""
    width = LLAMA["hidden_size"] // LLAMA["num_attention_heads"]
    heads = weight.reshape(-1, 2, width // 2, weight.shape[1])
    return np.ascontiguousarray(heads.swapaxes(1, 2)).reshape(weight.shape)


def string(text: str) -> bytes:
    """A string of GGUF: its length, its bytes."""
    return struct.pack("<Q", len(text.encode())) + text.encode()


def setting(value: object) -> bytes:
    """The value of a setting, behind its type."""
    kind = TYPES[type(value)]
    if isinstance(value, list):
        each = [setting(item) for item in value]
        return (
            struct.pack("<I", kind) + each[0][:4] + struct.pack("<Q", len(each)) + b"".join(item[4:] for item in each)
        )
    if isinstance(value, str):
        return struct.pack("<I", kind) + string(value)
    return struct.pack("<I" + {int: "I", float: "f", bool: "?"}[type(value)], kind, value)


def gguf(tensors: Tensors) -> bytes:
    """The bytes of a file: settings, names and shapes, then the numbers, each tensor at a multiple of 32."""
    tokens, merges = tokenizer(LLAMA["vocab_size"])
    settings = {
        "general.architecture": "llama",
        "general.name": "tiny llama",
        "general.license": "cc-by-4.0",
        "llama.block_count": LLAMA["num_hidden_layers"],
        "llama.context_length": LLAMA["max_position_embeddings"],
        "llama.embedding_length": LLAMA["hidden_size"],
        "llama.feed_forward_length": LLAMA["intermediate_size"],
        "llama.attention.head_count": LLAMA["num_attention_heads"],
        "llama.attention.head_count_kv": LLAMA["num_key_value_heads"],
        "llama.attention.layer_norm_rms_epsilon": LLAMA["rms_norm_eps"],
        "llama.rope.freq_base": LLAMA["rope_theta"],
        "llama.rope.dimension_count": LLAMA["hidden_size"] // LLAMA["num_attention_heads"],
        "llama.vocab_size": LLAMA["vocab_size"],
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.bos_token_id": LLAMA["bos_token_id"],
        "tokenizer.ggml.eos_token_id": LLAMA["eos_token_id"],
        "tokenizer.ggml.add_bos_token": False,
    }
    infos, numbers = b"", b""
    for name, (kind, weight) in as_llama_cpp(tensors).items():
        shape = weight.shape[::-1]
        infos += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, len(numbers))
        numbers += weight.astype("<f4").tobytes() if kind == F32 else packed(weight, kind)
        numbers += b"\0" * (-len(numbers) % ALIGNMENT)
    count = len(as_llama_cpp(tensors))
    head = b"GGUF" + struct.pack("<IQQ", 3, count, len(settings))
    head += b"".join(string(name) + setting(value) for name, value in settings.items()) + infos
    return head + b"\0" * (-len(head) % ALIGNMENT) + numbers


def as_llama_cpp(tensors: Tensors) -> dict[str, tuple[int, np.ndarray]]:
    """The tensors of Llama under llama.cpp's names, each with its type."""
    found = {
        "token_embd.weight": (Q8_0, tensors["model.embed_tokens.weight"]),
        "output_norm.weight": (F32, tensors["model.norm.weight"]),
    }
    for number in range(LLAMA["num_hidden_layers"]):
        ours, theirs = f"model.layers.{number}", f"blk.{number}"
        found |= {
            f"{theirs}.attn_norm.weight": (F32, tensors[f"{ours}.input_layernorm.weight"]),
            f"{theirs}.attn_q.weight": (Q4_1, neighbours(tensors[f"{ours}.self_attn.q_proj.weight"])),
            f"{theirs}.attn_k.weight": (Q4_1, neighbours(tensors[f"{ours}.self_attn.k_proj.weight"])),
            f"{theirs}.attn_v.weight": (Q4_1, tensors[f"{ours}.self_attn.v_proj.weight"]),
            f"{theirs}.attn_output.weight": (Q4_1, tensors[f"{ours}.self_attn.o_proj.weight"]),
            f"{theirs}.ffn_norm.weight": (F32, tensors[f"{ours}.post_attention_layernorm.weight"]),
            f"{theirs}.ffn_gate.weight": (Q4_1, tensors[f"{ours}.mlp.gate_proj.weight"]),
            f"{theirs}.ffn_up.weight": (Q4_1, tensors[f"{ours}.mlp.up_proj.weight"]),
            f"{theirs}.ffn_down.weight": (Q4_1, tensors[f"{ours}.mlp.down_proj.weight"]),
        }
    return found


def letters() -> list[str]:
    """The letter that GPT-2 writes for each byte: the byte's own where it can be seen, else one from 256 on."""
    seen = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return [chr(byte if byte in seen else 256 + hidden.index(byte)) for byte in range(256)]


def tokenizer(size: int) -> tuple[list[str], list[str]]:
    """Tokens and merges of a byte-level tokenizer, learned from the embedded biographies."""
    letter = letters()
    text = (FOLDER / "biographies" / "texts.txt").read_text("utf-8")
    words = Counter(f" {word}" for word in text.split())
    split = {word: [letter[byte] for byte in word.encode()] for word in sorted(words)}
    tokens, merges = SPECIALS + letter, list[str]()
    while len(tokens) < size:
        pairs = Counter[tuple[str, str]]()
        for word, parts in split.items():
            for pair in pairwise(parts):
                pairs[pair] += words[word]
        left, right = max(sorted(pairs), key=pairs.__getitem__)  # the first of those that are as frequent
        tokens.append(left + right)
        merges.append(f"{left} {right}")
        for word, parts in split.items():
            joined: list[str] = []
            for part in parts:
                if joined and (joined[-1], part) == (left, right):
                    joined[-1] = left + right
                else:
                    joined.append(part)
            split[word] = joined
    return tokens, merges


# --- files ------------------------------------------------------------------------------------------------------------


def files() -> dict[str, bytes]:
    """Every made file: path -> bytes."""
    contents = {}
    for name, config, tensors in (("bert", BERT, bert()), ("gpt2", GPT2, gpt2()), ("llama", LLAMA, llama())):
        contents[f"tiny_{name}/config.json"] = (json.dumps(config, indent=2) + "\n").encode()
        contents[f"tiny_{name}/model.safetensors"] = safetensors(tensors)
    contents["tiny_llama_gguf/model.gguf"] = gguf(llama())
    hashes = {path: hashlib.sha256(contents[path]).hexdigest() for path in sorted(contents)}
    contents[HASHES.name] = (json.dumps(hashes, indent=2) + "\n").encode()
    return contents


def expected() -> dict[str, Any]:
    """What `transformers` computes with each model for some tokens: the last hidden states, and the last logits."""
    import tempfile

    import torch
    import transformers

    found: dict[str, Any] = {"made_by": f"transformers {transformers.__version__}"}
    for name in ("bert", "gpt2", "llama"):
        kind = transformers.AutoModelForMaskedLM if name == "bert" else transformers.AutoModelForCausalLM
        model = kind.from_pretrained(FOLDER / f"tiny_{name}").eval()
        draw = random.Random(name)
        tokens = [[draw.randrange(model.config.vocab_size) for _ in range(9)] for _ in range(2)]
        with torch.no_grad():
            told = model(torch.tensor(tokens), output_hidden_states=True)
        hidden, logits = told.hidden_states[-1], told.logits[:, -1]
        found[f"tiny_{name}"] = {
            "tokens": tokens,
            "hidden": [[[round(x, 5) for x in row] for row in rows] for rows in hidden.tolist()],  # (b, n, d)
            "logits": [[round(x, 5) for x in row] for row in logits.tolist()],  # (b, V), at the last token
        }
    for name, (config, tensors) in relatives().items():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "config.json").write_text(json.dumps(config))
            (Path(folder) / "model.safetensors").write_bytes(safetensors(tensors))
            kind = transformers.AutoModelForMaskedLM if "bert" in name else transformers.AutoModelForCausalLM
            model = kind.from_pretrained(folder).eval()
        draw = random.Random(name)
        tokens = [[draw.randrange(3, model.config.vocab_size) for _ in range(30)]]  # none is RoBERTa's padding
        with torch.no_grad():
            told = model(torch.tensor(tokens), output_hidden_states=True)
        found[name] = {
            "tokens": tokens,
            "hidden": [round(x, 5) for x in told.hidden_states[-1][0, -1].tolist()],  # (d,), at the last token
            "logits": [round(x, 5) for x in told.logits[0, -1, :30].tolist()],  # of the first words
        }
    return found


def main() -> int:
    """Writes or checks; the exit status is 1 when a file differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, report differences")
    parser.add_argument("--expected", action="store_true", help="ask transformers, and write its answers")
    arguments = parser.parse_args()
    if arguments.expected:
        EXPECTED.write_text(json.dumps(expected()) + "\n", encoding="utf-8")
        return 0
    contents = files()
    different = [
        path for path, made in contents.items() if not (FOLDER / path).is_file() or (FOLDER / path).read_bytes() != made
    ]
    if arguments.check:
        for path in different:
            print(f"data/{path} is not what its script makes: run `python data/make_tiny_weights.py`")
        return 1 if different else 0
    for path in different:
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_bytes(contents[path])
    print(f"{len(contents)} files, {sum(map(len, contents.values())) / 1e6:.2f} MB, {len(different)} written anew")
    return 0


if __name__ == "__main__":
    sys.exit(main())
