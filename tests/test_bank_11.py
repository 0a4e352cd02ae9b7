"""The proof of the exercises of notebook 11, and of its BLEU against sacrebleu."""

import random

import sacrebleu

from grading import exercise
from tests.bank_proof import *  # noqa: F403 - pytest finds the tests in this module

NOTEBOOK = "11_translation"
WORDS = ("le", "la", "un", "chat", "chien", "dort", "voit", "ne", "pas", "l'", ".", "<oov>")


def test_bleu_is_that_of_sacrebleu_on_hundreds_of_random_corpora() -> None:
    bleu = exercise.load(NOTEBOOK)["corpus_bleu"].reference
    rng, above_zero = random.Random(0), 0
    for _ in range(500):
        few = WORDS[: rng.randint(2, len(WORDS))]
        references = [rng.choices(few, k=rng.randint(1, 14)) for _ in range(rng.randint(1, 6))]
        hypotheses = [
            [
                rng.choice((word, word, word, rng.choice(few)))
                for word in words
                for _ in range(rng.choice((0, 1, 1, 1, 2)))
            ]
            for words in references
        ]
        texts, wanted = ([" ".join(words) for words in sentences] for sentences in (hypotheses, references))
        theirs = sacrebleu.corpus_bleu(texts, [wanted], tokenize="none", smooth_method="none", force=True).score
        assert abs(bleu(hypotheses, references) - theirs) < 1e-6, (texts, wanted)
        above_zero += theirs > 0
    assert above_zero > 200  # where BLEU is 0, much could be wrong
