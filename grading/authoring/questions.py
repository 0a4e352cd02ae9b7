"""Questions at the end of a notebook, each with answers of which one is right: written as lists, shown as `details`.

    1. Why is the mask added before the softmax?
       - It is faster so. => The cost is the same; what differs is ...
       + Each row still sums to 1. => What is blocked takes no share ...

`+` is the answer that is right, and behind `=>` stands what is said to who chooses it. A browser opens and closes
`details` by itself, by mouse and by keyboard; a screen reader announces them; no program has to run, so they work in
JupyterLab, in Colab, in the book and without a network.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grading.authoring.errors import BuildError

QUESTION = re.compile(r"(\d+)\. +(\S.*)")
OPTION = re.compile(r" +([-+]) +(\S.*?) +=> +(\S.*)")
CODE = re.compile(r"`([^`]+)`")
FEWEST = 3  # answers to a question


@dataclass
class Question:
    """One question with its answers: whether each is right, its text, and what is said of it."""

    text: str
    options: list[tuple[bool, str, str]]


def rendered(place: str, source: str) -> str:
    """Returns the Markdown of a cell of questions, with `details` in the place of the lists.

    Raises:
        BuildError: where a question has no right answer, several, or fewer than three; or a line is none of a list.
    """
    head, found = _read(place, source)
    parts = [head, *(_shown(number, one) for number, one in enumerate(found, 1))]
    return "\n\n".join(part for part in parts if part)


def _read(place: str, source: str) -> tuple[str, Sequence[Question]]:
    head: list[str] = []
    found: list[Question] = []
    for line in _joined(source.splitlines()):
        if match := QUESTION.fullmatch(line):
            found.append(Question(match[2], []))
            if int(match[1]) != len(found):
                raise BuildError(f"{place}: expected question {len(found)}, found {match[1]}.")
        elif found and (match := OPTION.fullmatch(line)):
            if strange := re.search(r"[*$_]", CODE.sub("", match[2])):
                raise BuildError(
                    f"{place}: expected an answer of words and `code`, found {strange[0]!r} in {match[2]!r}."
                )
            found[-1].options.append((match[1] == "+", match[2], match[3]))
        elif found and line.strip():
            raise BuildError(f"{place}: expected `- an answer => what to say of it`, found {line.strip()[:60]!r}.")
        elif not found:
            head.append(line)
    for one in found:
        right = sum(is_right for is_right, _, _ in one.options)
        if right != 1 or len(one.options) < FEWEST:
            raise BuildError(
                f"{place}: expected {FEWEST} answers or more, one of them right; {one.text[:60]!r} has "
                f"{len(one.options)}, {right} of them right."
            )
    return "\n".join(head).strip(), found


def _joined(lines: Sequence[str]) -> Iterator[str]:
    """Yields lines, each with those that go on from it: they are indented, and begin nothing of their own."""
    current: str | None = None
    for line in lines:
        begins = not line.strip() or not line.startswith(" ") or re.match(r" +[-+] ", line)
        if current is not None and current.strip() and not begins:
            current = f"{current} {line.strip()}"
            continue
        if current is not None:
            yield current
        current = line
    if current is not None:
        yield current


def _shown(number: int, question: Question) -> str:
    options = [
        f"<details><summary>{_as_html(option)}</summary>\n\n{'Yes.' if is_right else 'No.'} {said}\n\n</details>"
        for is_right, option, said in question.options
    ]
    return "\n\n".join([f"**{number}. {question.text}**", *options])


def _as_html(option: str) -> str:
    """Returns an answer as HTML: in a `summary` Markdown means nothing."""
    return CODE.sub(r"<code>\1</code>", html.escape(option, quote=False))
