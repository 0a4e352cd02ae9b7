"""What a verdict shows: text, HTML with pictures, and data in a graded notebook."""

import json
import re
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.tutor.checking import right_mask, verdict
from tutor.checking.answers import InProcess
from tutor.checking.verdict import MIME, Verdict


def test_the_picture_shows_wanted_and_yours() -> None:
    page = verdict(lambda size: torch.triu(torch.full((size, size), -torch.inf)))._repr_html_()
    assert "the diagonal is blocked too" in page
    assert "Asked: causal_mask(1)" in page  # the first question that fails has little to show:
    assert "Pictures of causal_mask(5):" in page
    assert "wanted (5, 5)" in page
    assert "yours (5, 5)" in page
    assert "rgba" not in page  # see-through colours cannot be read in the dark theme
    page = verdict(lambda scores, mask: scores, "attention_weights")._repr_html_()
    assert page.index("scores (4, 4)") < page.index("mask (4, 4)") < page.index("wanted (4, 4)")


def test_html_escapes_what_a_student_wrote() -> None:
    def hostile(size: int) -> Tensor:
        raise ValueError("<script>alert(1)</script>")

    page = verdict(hostile)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_code_in_sentences_is_code_in_html_and_stays_text_elsewhere() -> None:
    notes = ("`hint(causal_mask)` shows a hint; `<b>` & ` alone",)
    judged = Verdict("causal_mask", "wrong", 0, 3, (("the mask is `(n, n)`", False),), notes=notes)
    page = judged._repr_html_()
    assert re.findall(r"<code[^>]*>(.*?)</code>", page) == ["(n, n)", "hint(causal_mask)", "&lt;b&gt;"]
    assert "</code> &amp; ` alone</div>" in page
    assert f"Note: {notes[0]}" in str(judged)


def shown(verdict: Any, **options: Any) -> dict[str, Any]:
    """Returns what a notebook holds of a value that is displayed."""
    from IPython.core.formatters import DisplayFormatter

    formatter = DisplayFormatter()
    formatter.active_types = formatter.format_types  # as in a kernel
    return dict(formatter.format(verdict, **options)[0])


def test_a_student_s_notebook_holds_text_and_html_of_a_check_and_nothing_else() -> None:
    judged = verdict(lambda size: torch.zeros(size, size))
    assert shown(judged) == {"text/plain": str(judged), "text/html": judged._repr_html_()}


def test_a_graded_notebook_holds_the_verdict_as_data_too() -> None:
    from grading.definitions import exercise
    from grading.definitions.examiner import examine

    defined = exercise.load("01_causal_mask")["causal_mask"]
    judged = examine(defined, InProcess(lambda size: torch.triu(torch.full((size, size), -torch.inf))), "ada")
    held = shown(judged)
    assert held == {"text/plain": str(judged), "text/html": judged._repr_html_(), MIME: judged.as_data()}
    assert shown(judged, exclude=(MIME,)).keys() == {"text/plain", "text/html"}
    data = json.loads(json.dumps(held[MIME]))
    assert data == held[MIME]
    assert (data["outcome"], data["said"], data["earned"], data["points"]) == ("wrong", "not yet right", 0.25, 3.0)
    assert data["headline"] == "causal_mask: not yet right - 0.25 of 3 points" == str(judged).split("\n")[0]
    assert [stage["passed"] for stage in data["stages"]] == [passed for _, passed in judged.stages]
    assert data["mistake"] == "the diagonal is blocked too"
    signs = {"passed": "[passed] ", "failed": "[failed] ", "note": "Note: "}
    lines = [f"  {signs.get(line['kind'], '')}{line['text']}" for line in data["lines"]]
    assert lines == str(judged).split("\n")[1:]


@pytest.mark.parametrize(("mode", "held"), [("autograde", True), ("", False)])
def test_a_solution_notebook_holds_no_data(monkeypatch: pytest.MonkeyPatch, mode: str, held: bool) -> None:
    from grading.definitions.examiner import mark

    outputs: list[dict[str, Any]] = []
    monkeypatch.setenv("NBGRADER_EXECUTION", mode)
    monkeypatch.setattr("IPython.display.display", lambda value, **options: outputs.append(shown(value, **options)))
    assert mark("01_causal_mask", "causal_mask", right_mask) == 3
    assert [MIME in output for output in outputs] == [held]
