"""BLEU in its shortest form is that of notebook 11, where no special token stands."""

import random

import pytest

from grading.definitions.exercise import load_one
from helpers.bleu import bleu

CORPUS_BLEU = load_one("11_translation", "corpus_bleu").reference


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_reference_of_notebook_11(seed: int) -> None:
    rng = random.Random(seed)
    texts = [[[rng.choice("abc") for _ in range(rng.randint(0, 12))] for _ in range(4)] for _ in range(2)]
    assert bleu(*texts) == pytest.approx(CORPUS_BLEU(*texts))


def test_no_run_of_four_words_is_no_bleu() -> None:
    assert bleu([["le", "chat", "dort"]], [["le", "chat", "dort"]]) == 0
    assert bleu([[]], [["le", "chat", "dort", "bien"]]) == 0
    assert bleu([["le", "chat", "dort", "bien"]], [["le", "chat", "dort", "bien"]]) == pytest.approx(100)
