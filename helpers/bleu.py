"""Corpus BLEU in its shortest form (Papineni et al. 2002), for notebooks that measure translations."""

import math
from collections import Counter
from collections.abc import Sequence


def _ngrams(words: Sequence[str], n: int) -> "Counter[tuple[str, ...]]":
    """Returns how often each run of n words occurs."""
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def bleu(ours: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """Returns the BLEU of translations, 0 to 100, with n = 1 to 4: 0 when no run of four words is right.

    Args:
        ours: what was written, the words of each sentence without special tokens.
        references: what was wanted, one for each.
    """
    logs = []
    for n in (1, 2, 3, 4):
        pairs = [(_ngrams(one, n), _ngrams(other, n)) for one, other in zip(ours, references, strict=True)]
        right = sum(sum((one & other).values()) for one, other in pairs)  # & clips the counts
        if right == 0:
            return 0.0
        logs.append(math.log(right / sum(sum(one.values()) for one, _ in pairs)))
    written, wanted = sum(map(len, ours)), sum(map(len, references))
    return 100 * math.exp(min(0.0, 1 - wanted / written) + sum(logs) / 4)
