"""Whom of the roster the name of a file or folder names as a whole word, whatever site has written it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from grading.classroom.roster import SHORT, Phrase, Roster, german, split_words, words_of

LONGEST = 14  # words of a name
# Words that say nothing about who somebody is: an id that is a word of a language counts beside these only.
FILLERS = frozenset(
    re.findall(
        r"\w+",
        """
        a an and answer answers assignment attempt by copy corrected course de doc document done draft ex exercise
        exercises file files final fixed for from group gruppe hand handed handin homework hw in ipynb jupyter kopie
        la lab last late latest mended my nb new no note notebook notebooks of on project resubmission section
        solution solutions student students submission submissions submit submitted task team test the this tp
        tutorial v version von work abgabe abgaben aufgabe uebung ubung loesung losung devoir rendu tarea entrega
        ejercicio compito consegna
        """,
    )
)


@dataclass(frozen=True)
class Named:
    """Who is named: nobody, one or several; `weak` where a word of the course may be meant; `key` is how."""

    students: frozenset[str] = frozenset()
    weak: bool = False
    key: str = ""


@dataclass(frozen=True)
class _Word:
    text: str  # as it is compared
    raw: str
    capital: bool
    follows: bool  # nothing that parts names stands between it and the word before


@dataclass(frozen=True)
class Namer:
    """Finds people of a roster in texts. `known` are the assignments, whose words name nobody."""

    people: Roster
    known: tuple[str, ...]

    @cached_property
    def _titles(self) -> set[str]:
        words = [words_of(name) for name in self.known]
        return {"".join(one[start:]) for one in words for start in (0, 1) if len(one) - start > 1}

    @cached_property
    def _course(self) -> frozenset[str]:
        return FILLERS | {word for name in self.known for word in words_of(name)} | self._titles

    def named(self, text: str) -> Named:
        """Returns whom a text names; several where it names several, or one of several of the same name."""
        for form in dict.fromkeys((text, german(text))):
            if (result := self._named(_split(form))).students:
                return result
        return Named()

    def _named(self, words: list[_Word]) -> Named:
        windows, free = self._windows(words), [True] * len(words)
        matches = list[tuple[int, int, dict[str, Phrase]]]()
        for start, end, whom in windows:
            if all(free[start:end]):
                free[start:end] = [False] * (end - start)
                matches += [(start, end, whom)] if whom else []
        matched = list[tuple[bool, set[str], str]]()  # whether weakly, whom, how
        for start, end, whom in matches:
            if students := {one for one in whom if self._counts((start, end), words, free, one)}:
                weak = all(word.text in self._course for word in words[start:end])
                matched.append((weak, students, " ".join(word.raw for word in words[start:end])))
        weak = all(one[0] for one in matched)
        matched = [one for one in matched if weak or not one[0]]  # "final" beside a full name says nothing
        if not matched:
            return Named()
        several = [one[1] for one in matched]
        key = " ".join(one[2] for one in matched)
        return Named(frozenset(set.intersection(*several) or set.union(*several)), weak, key)

    def _windows(self, words: list[_Word]) -> list[tuple[int, int, dict[str, Phrase]]]:
        """Returns what may name somebody, or is a title, as (start, end, whom), the longest first."""
        found = list[tuple[int, int, dict[str, Phrase]]]()
        for start in range(len(words)):
            for end in range(start + 1, min(len(words), start + LONGEST) + 1):
                split = tuple(word.text for word in words[start:end])
                joined = "".join(split)
                fitting = self.people.phrases.get(joined, {})
                whom = {one: how for one, how in fitting.items() if how.anyhow or split in how.splits}
                if joined in self._titles:
                    found.append((start, end, {}))
                elif whom:
                    found.append((start, end, whom))
        return sorted(found, key=lambda one: (-sum(len(word.text) for word in words[one[0] : one[1]]), one[0]))

    def _counts(self, place: tuple[int, int], text: list[_Word], free: list[bool], student: str) -> bool:
        """Says whether words name a student: a full name, an unmistakable id, or an id with nobody's name beside it."""
        start, end = place
        words = [word.text for word in text[start:end]]
        joined = "".join(words)
        if (joined.isdigit() and len(joined) < SHORT) or len(joined) == 1:
            return len(text) == 1
        own = self.people.words[student]
        strange = [unused and not self._harmless(word.text, own) for word, unused in zip(text, free, strict=True)]
        if not self.people.phrases[joined][student].is_name:
            with_digit = any(sign.isdigit() for sign in joined) and len(joined) >= 4
            return with_digit or (len(words) > 1 and len(joined) >= SHORT) or not any(strange)
        cased = any(word.capital for word in text)
        beside = [
            at
            for at, joins in ((start - 1, text[start].follows), (end, end < len(text) and text[end].follows))
            if joins
        ]
        return not any(strange[at] and (text[at].capital or not cased) for at in beside)

    def _harmless(self, word: str, own: set[str]) -> bool:
        return any(sign.isdigit() for sign in word) or len(word) == 1 or word in self._course or word in own


def _split(text: str) -> list[_Word]:
    """Returns the words of a text; brackets, commas, "+" and a hyphen between blanks part names."""
    found = list[_Word]()
    for piece in re.split(r"[()\[\],;+/]| -+ |--+", text):
        parts = [part for part in split_words(piece) if words_of(part)]
        found += [
            _Word("".join(words_of(part)), part.casefold(), part[0] != part[0].lower(), bool(at))
            for at, part in enumerate(parts)
        ]
    return found
