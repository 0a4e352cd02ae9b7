"""The field's words: where each is introduced, that none is used before, and what a notebook asks to read at first.

A word is introduced where it first stands emphasised, `*so*` or `**so**`, with its meaning beside it, in the text or in
the last section, "What others call it". The first cell, headings and tables announce, and do not count.
"""

import itertools
import re
from functools import cache
from pathlib import Path

import pytest

from grading.authoring import glossary, pacing, plans, source
from grading.authoring.errors import BuildError
from grading.notebooks.names import bound, statements

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "solutions").glob("[0-9][0-9]_*.py"))

# The notebook that introduces a word, and the word as a regular expression.
INTRODUCED = {
    "00": ("tokens?", "batch size", "hidden size"),
    "01": (
        "autoregressive", "inference", "generation", "key padding masks?", "target leakage", "next-token prediction",
    ),
    "02": (
        "context window", "context length", "length extrapolation", "RoPE", "NoPE", "permutation equivariance",
        "embeddings?", "hidden states?",
    ),
    "03": (
        "MLPs?", "multilayer perceptron", "GELU", "regularisation", "decoder-only", "encoder-only", "skip connections?",
        "residual stream", "FlashAttention", "online softmax", "rank collapse", "pre-LN", "residuals?",
        "warm-up", "recurrent",
    ),
    "04": (
        "transfer learning", "tokenizers?", "subwords?", "linear probing", "pooling", "Vision Transformers?",
        "backbone", "logits", "perplexity", "frozen", "checkpoints?", "fine-tuning",
    ),
    "05": ("mixture of experts", "quantisation", "optimizer state", "activation memory", "active parameters"),
    "06": (
        "DataLoader", "sampling", "contamination", "ablation", "early stopping", "sample efficiency", "memorisation",
        "baseline", "epochs?", r"overfit\w*", "temperature",
    ),
    "07": (
        "bidirectional", "attention sink", "in-context learning", "few-shot", "coreference", "cloze", "dynamic masking",
        "prompt",
    ),
    "08": ("content-based addressing", "convex combination", "inverse temperature", "QK circuit", "superposition"),
    "09": ("associative recall", "Bayes-optimal accuracy", "token mixing", "quadratic complexity"),
    "10": (
        "hallucinations?", "calibrated", "expected calibration error", "retrieval", "retrieval-augmented generation",
        "out-of-distribution", "closed-book question answering", "selective prediction", "parametric knowledge",
    ),
    "11": ("exposure bias", "KV cache", "beam search", "sequence-to-sequence", "word alignment", "teacher forcing"),
    "12": ("generalisation gap", "grid search", "confounding", "training instability", "learning-rate schedule"),
    "13": ("vanishing gradient", "backpropagation through time", "receptive field", "linear attention"),
    "14": ("nucleus sampling", "scaling laws?", "FLOPs", "byte-pair encoding", "compute-optimal", "gradient clipping"),
    "15": ("parameter-efficient fine-tuning", "catastrophic forgetting", "intrinsic rank", "QLoRA"),
    "16": ("multi-query",),
    "17": ("zero-shot", "supervised fine-tuning", "RLHF", "reward hacking", "KL penalty"),
    "18": (
        "sentence embeddings?", "semantic search", "discriminative fine-tuning", "distillation",
        "pseudo-labelling", "bootstrap",
    ),
}  # fmt: skip
ORDER = [(word, number) for number, words in INTRODUCED.items() for word in words]
AT_FIRST = 670  # words that a student reads before the first exercise
LONGER = {"14": 760, "15": 760}


@cache
def prose(path: Path) -> str:
    """Returns what a notebook says, without its first cell, headings, tables, code, formulas and links."""
    cells = [cell.source for cell in source.read(path) if cell.kind == "prose"][1:]
    text = re.sub(r"```.*?```|`[^`\n]*`|\$+[^$]*\$+|\]\([^)]*\)", " ", "\n\n".join(cells), flags=re.DOTALL)
    return "\n".join(line for line in text.split("\n") if not re.match(r"#|\||> \|", line))


def places(word: str, text: str) -> list[int]:
    """Returns where a word stands in a text."""
    return [found.start() for found in re.finditer(rf"(?<![\w-]){word}(?![\w-])", text, re.IGNORECASE)]


def emphasised(word: str, text: str) -> list[int]:
    """Returns where a word stands in `*emphasis*` or `**emphasis**`."""
    spans = re.finditer(r"(?<![\w*])(\*{1,2})(?=\S)([^*]+?)(?<=\S)\1(?![\w*])", text)
    return [span.start(2) + place for span in spans for place in places(word, span.group(2))]


@pytest.mark.parametrize(("word", "number"), ORDER)
def test_a_word_is_used_only_where_it_has_been_introduced(word: str, number: str) -> None:
    before = [path.stem for path in SOURCES if path.stem[:2] < number and places(word, prose(path))]
    assert before == [], f"{word!r} is introduced in {number}"
    (path,) = (path for path in SOURCES if path.stem[:2] == number)
    text = prose(path)
    assert emphasised(word, text), f"{path.name} does not introduce {word!r}: write it once as *{word}*"
    assert places(word, text)[0] == emphasised(word, text)[0], f"{path.name} uses {word!r} before it is emphasised"


def test_a_word_is_found_where_it_stands_alone() -> None:
    text = "A *token*, a **tokenizer (or cutter)** and 2 * 3 tokens * 4."
    assert places("tokens?", text) == [3, 49]
    assert emphasised("tokens?", text) == [3]
    assert emphasised("cutter", text) == [text.index("cutter")]


@pytest.mark.parametrize("path", SOURCES, ids=[path.stem for path in SOURCES])
def test_a_notebook_ends_with_what_others_call_it(path: Path) -> None:
    assert len({word.lower() for entry in glossary.entries(path) for word in entry.words}) >= 5
    kept = [cell for cell in source.read(path) if cell.kind == "prose"]
    assert kept[-1].source.startswith(glossary.HEADING)


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        (["- **a word**: what it means.\n"] * 1, "with five to ten lines .*; found 1 in 1 cells"),
        (["".join(f"- **word {n}**: what it means.\n" for n in range(6))] * 2, "found 12 in 2 cells"),
    ],
)
def test_a_section_that_is_not_as_it_must_be_is_refused(tmp_path: Path, sections: list[str], message: str) -> None:
    path = tmp_path / "77_mine.py"
    cells = [f"{glossary.HEADING}\n\n{lines}" for lines in sections]
    path.write_text(
        "\n".join("# %% [markdown]\n" + re.sub("^", "# ", one, flags=re.M) for one in cells), encoding="utf-8"
    )
    with pytest.raises(BuildError, match=message):
        glossary.page([path])


def test_a_word_that_two_notebooks_explain_is_refused_and_a_notebook_without_words_has_none(tmp_path: Path) -> None:
    text = f"# %% [markdown]\n# {glossary.HEADING}\n#\n" + "".join(
        f"# - **word {n}**: it means {n}.\n" for n in range(5)
    )
    for name, contents in {"77_mine.py": text, "78_yours.py": text, "79_bare.py": "# %% [markdown]\n# Text\n"}.items():
        (tmp_path / name).write_text(contents, encoding="utf-8")
    with pytest.raises(BuildError, match="the notebooks 77 and 78 both explain 'word 0'"):
        glossary.page([tmp_path / "77_mine.py", tmp_path / "78_yours.py"])
    assert "\n- **word 4**: it means 4. (77)\n" in glossary.page([tmp_path / "77_mine.py", tmp_path / "79_bare.py"])


def test_a_word_of_the_course_that_is_not_explained_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "words.md"
    path.write_text("Words.\n\n- **loss**: what training makes small. (01)\n", encoding="utf-8")
    assert glossary.words(path) == [(("loss",), "**loss**: what training makes small.", "01")]
    path.write_text("- **loss**: what training makes small.\n", encoding="utf-8")
    with pytest.raises(BuildError, match=r"words\.md: expected"):
        glossary.words(path)


def test_the_glossary_has_every_line_in_order() -> None:
    own = glossary.words(ROOT / "solutions" / "words.md")
    page = glossary.page(SOURCES, own)
    lines = re.findall(r"^- (.+) \((\d\d)\)$", page, re.MULTILINE)
    assert sorted(lines) == sorted(
        (e.line, e.notebook) for part in (own, *map(glossary.entries, SOURCES)) for e in part
    )
    firsts = [re.findall(r"\*\*(.+?)\*\*", line)[0].lower() for line, _ in lines]
    assert firsts == sorted(set(firsts))
    assert (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8") == page


@pytest.mark.parametrize("path", SOURCES, ids=[path.stem for path in SOURCES])
def test_not_much_is_read_before_the_first_exercise(path: Path) -> None:
    cells = itertools.takewhile(lambda cell: cell.kind != "exercise", source.read(path))
    text = "\n".join(cell.source for cell in cells if cell.kind == "prose")
    words = re.findall(r"[^\W\d_][\w'’-]+", re.sub(r"\$+[^$]*\$+|\]\([^)]*\)", " ", text))
    assert len(words) <= LONGER.get(path.stem[:2], AT_FIRST)


def test_the_route_of_six_is_described_in_00_and_at_the_end_of_each_of_the_six() -> None:
    last = {path.stem[:2]: [c for c in source.read(path) if c.kind == "prose"][-1].source for path in SOURCES}
    numbers = [number for number, text in last.items() if "**The short route**" in text]
    route = plans.notebooks("six-weeks")[1:]  # without 00
    assert numbers == route
    for number, following in itertools.pairwise(route):
        assert re.search(rf"The short route.*\b{following}\b", last[number]), number
    assert re.findall(r"\*\*(\d\d)\*\*", SOURCES[0].read_text(encoding="utf-8")) == route


def test_students_read_at_most_two_lines_of_given_code_for_each_they_write() -> None:
    read = [source.read(path) for path in SOURCES]
    given, written = (sum(map(lines, read)) for lines in (pacing.lines_given, pacing.lines_written))
    assert written > 600
    assert given <= 2 * written


@pytest.mark.parametrize("path", SOURCES, ids=[path.stem for path in SOURCES])
def test_each_notebook_asks_for_a_guess_an_example_by_hand_and_three_questions(path: Path) -> None:
    cells = source.read(path)
    assert {"guess", "reveal", "by_hand"} <= {cell.kind for cell in cells}
    (questions,) = [cell.source for cell in cells if cell.kind == "questions"]
    assert len(re.findall(r"^\*\*\d\. ", questions, re.MULTILINE)) == 3
    assert cells[[cell.kind for cell in cells].index("questions") + 1].source.startswith("## What to remember")


@pytest.mark.parametrize("path", SOURCES, ids=[path.stem for path in SOURCES])
def test_what_reveals_a_guess_leaves_no_variable_that_a_later_cell_takes_for_its_own(path: Path) -> None:
    """Who runs no `reveal` has the same variables as who runs all."""
    code = [cell for cell in source.read(path) if cell.language == "code"]
    for number, cell in enumerate(code):
        if cell.kind != "reveal":
            continue
        left = bound([cell.source])
        for later in (one for one in code[number + 1 :] if one.kind != "reveal"):
            for statement in statements(later.source):
                assert not left & statement.uses, f"line {later.line} of {path.name} uses {left & statement.uses}"
                left -= statement.binds
