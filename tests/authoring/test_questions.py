"""Questions at the end of a notebook: how they are written, shown and refused."""

from __future__ import annotations

import pytest

from grading.authoring.errors import BuildError
from grading.authoring.questions import rendered

SOURCE = """## Three questions

Open an answer.

1. Which axis?
   - The first. => That is
     the batch.
   + The last. => It runs over the keys.
   - Any. => No two of them give the same weights.
2. Which mask?
   + The causal one. => It hides the future.
   - None. => Then the model copies.
   - The padding's. => It hides
     `<pad>` alone."""


def test_answers_are_shown_one_by_one() -> None:
    shown = rendered("01.py:3", SOURCE)
    assert shown.startswith("## Three questions\n\nOpen an answer.\n\n**1. Which axis?**\n\n<details>")
    assert "<details><summary>The first.</summary>\n\nNo. That is the batch.\n\n</details>" in shown
    assert "<details><summary>The last.</summary>\n\nYes. It runs over the keys.\n\n</details>" in shown
    assert "**2. Which mask?**" in shown
    assert "No. It hides `<pad>` alone." in shown
    assert shown.count("<details>") == shown.count("</details>") == 6


def test_an_answer_is_shown_as_it_is_written() -> None:
    shown = rendered("01.py:3", SOURCE.replace("- The first.", "- The first, `dim=0`, as in `<pad>` & more."))
    wanted = "<summary>The first, <code>dim=0</code>, as in <code>&lt;pad&gt;</code> &amp; more.</summary>"
    assert wanted in shown
    for strange in ("*The* first.", "The $x$.", "The first_one."):
        with pytest.raises(BuildError, match="expected an answer of words and `code`"):
            rendered("01.py:3", SOURCE.replace("- The first.", f"- {strange}"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("   + The last.", "   - The last.", "'Which axis?' has 3, 0 of them right"),
        ("   - Any.", "   + Any.", "'Which axis?' has 3, 2 of them right"),
        ("   - None. => Then the model copies.\n", "", "'Which mask?' has 2, 1 of them right"),
        ("2. Which", "3. Which", "expected question 2, found 3"),
        ("   - Any. =>", "   - Any.", "expected `- an answer => what to say of it`, found '- Any. No two of them"),
        (
            "   - Any. => No two",
            "Any. => No two",
            "expected `- an answer => what to say of it`, found 'Any. => No two of them",
        ),
    ],
)
def test_what_is_no_question_is_refused(old: str, new: str, message: str) -> None:
    assert SOURCE.count(old) == 1
    with pytest.raises(BuildError) as refused:
        rendered("01.py:3", SOURCE.replace(old, new))
    assert str(refused.value).startswith("01.py:3: ")
    assert message in str(refused.value)
