"""Numbers for tokens: words, characters or pieces of words."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal, get_args

from helpers.choices import refuse_unknown

SPECIALS = ("<pad>", "<sos>", "<eos>", "<oov>", "<mask>")
PAD, SOS, EOS, OOV, MASK = range(5)
WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*'?|[^\w\s]")  # an elided word (l', qu') stands alone

Kind = Literal["word", "character", "piece"]


class Vocabulary:
    """Numbers for tokens: the special tokens first, then `words` in their order.

    Args:
        words: the tokens, most frequent first.
        kind: "word" (lower case, see `WORD`), "character", or "piece" (SentencePiece).
        mask: whether `<mask>` is among the special tokens.
        pieces: the SentencePiece model that cuts raw text; text in pieces needs none.

    Raises:
        ValueError: there is no such kind.
    """

    def __init__(self, words: Iterable[str], kind: Kind = "word", mask: bool = False, pieces: Any = None) -> None:
        refuse_unknown("kind of vocabulary", kind, get_args(Kind))
        self.kind, self.pieces = kind, pieces
        self.tokens = [*SPECIALS[: 4 + mask], *words]
        self.numbers = {token: number for number, token in enumerate(self.tokens)}

    @classmethod
    def learn(cls, texts: Iterable[str], kind: Kind = "word", min_count: int = 1, mask: bool = False) -> "Vocabulary":
        """Returns the vocabulary of all tokens that occur at least `min_count` times in `texts`."""
        empty = cls((), kind, mask)
        counts = Counter(token for text in texts for token in empty.split(text))
        ranked = sorted(counts, key=lambda token: (-counts[token], token))
        return cls((token for token in ranked if counts[token] >= min_count), kind, mask)

    def split(self, text: str) -> list[str]:
        """Returns the tokens of `text` as strings."""
        if self.kind == "word":
            return WORD.findall(text.lower())
        if self.kind == "character":
            return list(text)
        if self.pieces is None or "▁" in text:  # already in pieces
            return text.split()
        return self.pieces.encode(text, out_type=str)

    def encode(self, text: str) -> list[int]:
        """Returns the numbers of the tokens of `text`; unknown ones become `<oov>`."""
        return [self.numbers.get(token, OOV) for token in self.split(text)]

    def decode(self, numbers: Iterable[int]) -> str:
        """Returns the text of `numbers`, without special tokens other than `<oov>` and `<mask>`."""
        tokens = [self.tokens[number] for number in numbers if number not in (PAD, SOS, EOS)]
        if self.kind == "word":
            return " ".join(tokens).replace("' ", "'")
        return "".join(tokens).replace("▁", " ").strip() if self.kind == "piece" else "".join(tokens)

    def __len__(self) -> int:
        return len(self.tokens)
