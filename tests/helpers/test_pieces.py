"""Cutting by the pair that was learned first gives what merging all pairs in their order gives."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from helpers.pieces import GPT2_WORD, Cutter, bpe_encode
from helpers.weights import find, is_here
from helpers.weights.files import Published, read

ODD = json.loads((Path(__file__).parent / "odd_strings.json").read_text())


def in_order(text: str, merges: list[tuple[int, int]]) -> list[int]:
    """Returns the pieces of a text without spaces or signs: every merge, wherever its pair stands, from the left."""
    numbers = list(text.encode())
    for new, pair in enumerate(merges, 256):
        found: list[int] = []
        for number in numbers:
            if found and (found[-1], number) == pair:
                found[-1] = new
            else:
                found.append(number)
        numbers = found
    return numbers


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_the_merges_decides(seed: int) -> None:
    rng = random.Random(seed)
    merges: list[tuple[int, int]] = []
    while len(merges) < 12:
        known = [97, 98, *range(256, 256 + len(merges))]
        if (pair := (rng.choice(known), rng.choice(known))) not in merges:
            merges.append(pair)
    for length in range(12):
        text = "".join(rng.choices("ab", k=length))
        assert bpe_encode(text, merges) == in_order(text, merges)


def test_no_piece_reaches_across_words() -> None:
    assert bpe_encode("aab b", [(97, 97), (256, 98)]) == [257, 32, 98]
    assert bpe_encode("a, a", [(97, 44), (97, 32), (32, 97)]) == [97, 44, 258]
    assert bpe_encode("é", []) == [195, 169]
    assert bpe_encode("", [(97, 97)]) == []


def test_a_real_model_s_words_are_cut_at_contractions_and_digits() -> None:
    cases = {
        "What's up? I don't know": ["What", "'s", " up", "?", " I", " don", "'t", " know"],
        "end.\n\n": ["end", ".", "\n\n"],
        "\n\nStart": ["\n", "\n", "Start"],
        "    x = 12": ["   ", " x", " =", " ", "1", "2"],
        "a_b": ["a", "_", "b"],
        "x² and 12½": ["x", "²", " and", " ", "1", "2", "½"],
    }
    for text, words in cases.items():
        assert GPT2_WORD.findall(text) == words


def test_a_cutter_gives_the_same_again() -> None:
    merges = [(97, 97), (256, 98)]
    cutter = Cutter(merges, GPT2_WORD)
    first = cutter.encode("aab aab'll 12")
    first.append(0)  # what is given away is not what is remembered
    assert cutter.encode("aab aab'll 12") == bpe_encode("aab aab'll 12", merges, GPT2_WORD) == first[:-1]


# The tokenizer of notebook 16, beside the library that the model's own tokenizer is published for


@pytest.fixture(scope="module")
def file() -> Published:
    """Returns the file of SmolLM2, of which only the tokenizer is read."""
    pytest.importorskip("gguf", reason="the extra weights is not installed")
    if not is_here("smollm2"):
        pytest.skip("SmolLM2 is not here (python -m helpers.weights fetch smollm2)")
    return read(find("smollm2"))


@pytest.fixture(scope="module")
def tokenizer(file: Published) -> Any:
    """Returns the tokenizer of notebook 16, made of the notebook's own cells."""
    source = (Path(__file__).parents[2] / "solutions" / "16_real_model.py").read_text()
    cells = [cell for cell in source.split("# %%") if "\nclass Tokenizer:" in cell or "\ndef letters()" in cell]
    names: dict[str, Any] = {"Cutter": Cutter, "GPT2_WORD": GPT2_WORD, "real": None, "kept": lambda *_: None}
    for cell in cells:
        exec(cell.partition("\n")[2], names)
    return names["Tokenizer"](*(file.setting(f"tokenizer.ggml.{part}") for part in ("tokens", "merges")))


def test_notebook_16_cuts_as_the_model_s_own_tokenizer(file: Published, tokenizer: Any) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the reference, tokenizers, is not installed")
    tokens, merges = (file.setting(f"tokenizer.ggml.{part}") for part in ("tokens", "merges"))
    vocabulary = {token: number for number, token in enumerate(tokens)}
    reference = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab=vocabulary, merges=[tuple(merge.split(" ")) for merge in merges])
    )
    reference.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Digits(individual_digits=True),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    assert file.setting("tokenizer.ggml.pre") == "smollm"  # which stands for these two
    different = [text for text in ODD if tokenizer.encode(text) != reference.encode(text).ids]
    assert different == []
    plain = [text for text in ODD if not text.startswith("<|")]
    assert [text for text in plain if tokenizer.decode(tokenizer.encode(text)) != text] == []
