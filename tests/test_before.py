"""`docs/before.md`, "Before you start": its code prints what stands below it; its questions have one answer."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

from grading.authoring.questions import FEWEST
from grading.pages.leaflet import leaflet

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "=== the end of a block ==="
WORDS = 1300  # ten minutes at a student's pace, code besides


def text(repository: Path) -> str:
    return (repository / "docs" / "before.md").read_text(encoding="utf-8")


def test_each_block_prints_what_stands_below_it(repository: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall(text(repository))
    assert [language for language, _ in blocks] == ["python", "text"] * (len(blocks) // 2)
    program = f"print({END!r})\n".join(code for language, code in blocks if language == "python")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(f"{END}\n") == [said for language, said in blocks if language == "text"]


def test_the_training_loop_is_short_and_spoken_of(repository: Path) -> None:
    page = text(repository)
    [loop] = [code for language, code in BLOCK.findall(page) if language == "python" and "optimizer.step()" in code]
    assert len([line for line in loop.splitlines() if line.strip()]) <= 13
    said = page.partition(loop)[2].partition("\n## ")[0]
    named = (
        "manual_seed",
        "points",
        "labels",
        "nn.Sequential",
        "optimizer",
        "lr",
        "epoch",
        "randperm",
        "split",
        "loss",
    )
    assert not [word for word in (*named, "zero_grad()", "backward()", "step()") if word not in said]


def test_it_takes_ten_minutes(repository: Path) -> None:
    assert len(BLOCK.sub("", text(repository)).split()) <= WORDS


def test_three_questions_have_one_right_answer_each(repository: Path) -> None:
    asked = re.split(r"^\*\*\d\. .+\*\*$", text(repository), flags=re.MULTILINE)[1:]
    assert len(asked) == 3
    for question in asked:
        answers = re.findall(r"<details><summary>(.+)</summary>\n\n(Yes|No)\. .+\n\n</details>", question)
        assert len(answers) == question.count("<details>") >= FEWEST
        right, *wrong = sorted(answers, key=lambda answer: answer[1] == "No")
        assert right[1] == "Yes"
        assert {said for _, said in wrong} == {"No"}
        assert len(right[0]) <= max(len(answer) for answer, _ in wrong)  # the longest answer gives itself away


def test_the_file_for_students_needs_no_network(repository: Path) -> None:
    made = leaflet(text(repository))
    assert made == (repository / "notebooks" / "00_start_here" / "before.html").read_text(encoding="utf-8")
    tags = _Tags()
    tags.feed(made)
    assert not tags.addresses
    assert made.count("<details>") == text(repository).count("<details>")
    assert "$" not in re.sub(r"<style>.*?</style>|<pre.*?</pre>", "", made, flags=re.DOTALL)
    assert "<math" in made


class _Tags(HTMLParser):
    """Reads what a page would ask for."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
