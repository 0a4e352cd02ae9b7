"""What the notebooks say of a run is what the run has printed.

A sentence with the words "our run" speaks of the run whose outputs are kept in the solution notebook: each of its
numbers, and each French or English example in italics, must stand in an output above it, in the same section. A
sentence that names `docs/results.md` has its numbers from there. Nothing is executed here.
"""

import re
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest

from grading.authoring import source
from grading.definitions import catalogue
from helpers.corpora import load

ROOT = Path(__file__).resolve().parents[2]
NUMBER = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w,]*\d)")
ROUNDING = re.compile(r".*difference.* \d\.\d+e-(?:0[6-9]|1\d).*")
EXAMPLE = re.compile(r"(?<!\*)\*(?![\s*])([^*]*[^*\s])\*(?!\*)")


def outputs(cell: Any) -> str:
    """Returns what a reader sees below a code cell as text: printed lines, tables, alternative texts."""
    parts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        page = re.sub(r"<(style|img)\b.*?(</style>|>)", " ", data.get("text/html", ""), flags=re.DOTALL)
        parts += [output.get("text", ""), data.get("text/plain", ""), re.sub(r"<[^>]*>", " ", page)]
    return "\n".join(parts)


def sentences(text: str) -> list[str]:
    """Returns the sentences of a cell's prose, without formulas and links."""
    text = re.sub(r"\$[^$]*\$|\]\([^)]*\)", " ", text)
    return re.split(r"(?<=[.?!)])\s+(?=[^a-z\d\s])", text)


def numbers(text: str) -> list[str]:
    """Returns the numbers of a text as they are written, without the commas between thousands."""
    return [found.replace(",", "") for found in NUMBER.findall(text)]


def is_there(number: str, numbers: list[float]) -> bool:
    """Returns whether one of the numbers, or its hundredfold as per cent, is this one when rounded as it is."""
    unit = 10.0 ** -len(number.partition(".")[2])
    return any(abs(float(number) - factor * other) <= 0.501 * unit for other in numbers for factor in (1, 100))


def untrue(cells: list[Any]) -> list[str]:
    """Returns what sentences with "our run" state and no output of their section above them has."""
    found, above = [], ""
    for cell in cells:
        if cell["cell_type"] != "markdown":
            above += outputs(cell)
            continue
        for part in re.split(r"(?m)^(?=## )", cell["source"]):
            above = "" if part.startswith("## ") else above
            measured = [float(number) for number in numbers(above)]
            for sentence in sentences(part):
                if re.search(r"\bour run\b", sentence, re.IGNORECASE):
                    words = " ".join(sentence.split())
                    found += [f"{number}: {words}" for number in numbers(sentence) if not is_there(number, measured)]
                    examples = [text for text in EXAMPLE.findall(sentence) if " " in text]  # one word is stressed
                    found += [f"{text}: {words}" for text in examples if text.lower() not in above.lower()]
    return found


@pytest.mark.parametrize("name", catalogue.notebooks())
def test_what_is_stated_of_our_run_stands_in_its_outputs(name: str) -> None:
    made = nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4)
    prose = {cell.source for cell in source.read(ROOT / "solutions" / f"{name}.py") if cell.kind == "prose"}
    if not prose <= {cell.source for cell in made.cells}:
        pytest.skip("the text is newer than the notebook; `make build` makes it again")
    assert untrue(made.cells) == []


@pytest.mark.parametrize("name", catalogue.notebooks())
def test_no_output_shows_digits_of_what_rounding_leaves(name: str) -> None:
    """Another processor rounds otherwise, and nbval would compare the digits."""
    replayed = [
        cell
        for cell in nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4).cells
        if cell.cell_type == "code" and "nbval-ignore-output" not in cell.metadata.get("tags", [])
    ]
    assert ROUNDING.findall("\n".join(map(outputs, replayed))) == []


def test_sentences_that_name_the_measured_results_have_their_numbers() -> None:
    measured = [float(number) for number in numbers((ROOT / "docs" / "results.md").read_text(encoding="utf-8"))]
    wrong, checked = [], 0
    for path in sorted((ROOT / "solutions").glob("*.py")):
        for cell in source.read(path):
            for sentence in sentences(cell.source) if cell.language == "markdown" else []:
                if "docs/results.md" in sentence:
                    checked += len(numbers(sentence))
                    wrong += [f"{path.name}: {n}: {sentence}" for n in numbers(sentence) if not is_there(n, measured)]
    assert wrong == []
    assert checked >= 5


def test_notebook_12_quotes_the_published_log() -> None:
    published = load("published_sweep")
    epochs, ends = published["epochs"].rows, published["ends"].rows.set_index("setting")
    assert epochs.groupby("setting")["epoch"].apply(list).tolist() == [list(range(1, 11))] * 4
    same = ["layers", "heads", "width", "dropout"]
    assert epochs.drop_duplicates(["setting", *same])[same].values.tolist() == ends[same].values.tolist()
    text = (ROOT / "solutions" / "12_hyperparameter_sweep.py").read_text(encoding="utf-8")
    last: pd.DataFrame = epochs[epochs["epoch"] == 10].set_index("setting")
    losses = epochs[epochs["setting"] == 4]["training_loss"].tolist()
    accuracies = epochs[epochs["setting"] == 4]["training_accuracy"]
    far = ends["dev_loss"] - last["training_loss"]
    minutes = epochs.groupby("setting")["seconds"].sum() / 60
    for sentence in (
        f"training accuracy stays at {last['training_accuracy'][4]:.1f} % and its training loss at {losses[-1]:.1f}",
        f"({ends['dev_accuracy'][4]:.1f} and {last['training_accuracy'][4]:.1f} %)",
        f"({far[4]:.1f}, with {far.drop(4).min():.1f} to {far.drop(4).max():.1f} for the others)",
        f"in ten epochs it falls by {100 * (1 - losses[-1] / losses[0]):.0f} per cent",
        f"*deep* has a loss of {ends['dev_loss'][4]:.3f} and gets {ends['dev_accuracy'][4]:.0f} % of the words right, "
        f"with a BLEU of {ends['bleu'][4]:.4f}",
        f"between {accuracies.min():.1f} and {accuracies.max():.1f} % in all ten epochs",
        f"took {minutes.min():.0f} to {minutes.max():.0f} minutes each",
        f"gains {ends['bleu'][3] - ends['bleu'][1]:.4f}",
        f"({ends['dev_loss'][3]:.3f} against {ends['dev_loss'][1]:.3f})",
    ):
        assert sentence in text, sentence
    assert losses[1] > losses[0]  # "Its loss *rises* in the second epoch"
    assert 7.5 < ends["decoding_seconds"][4] / ends["decoding_seconds"][3] < 8.5  # "eight times as long"
    assert ends["dev_loss"].idxmin() == 2  # "*Middle* has the lowest dev loss, *wide* the highest BLEU"
    assert ends["bleu"].idxmax() == 3
    gaps = last["training_accuracy"] - ends["dev_accuracy"]
    assert gaps.idxmin() == 4
    assert gaps.drop(4).min() > 10


# The checker itself


def notebook(*cells: str) -> list[Any]:
    """Returns cells: prose, and of each text that begins with ">" a code cell with the rest as its output."""
    code: Any = {"cell_type": "code", "source": ""}
    return [
        {**code, "outputs": [{"text": cell[1:]}]} if cell[0] == ">" else {"cell_type": "markdown", "source": cell}
        for cell in cells
    ]


@pytest.mark.parametrize(
    ("prose", "wrong"),
    [
        ("In our run it rises to 0.82 with 20 words, and then to 91 %.", 0),
        ("In our run it rises to 0.83 with 20 words.", 1),
        ("Elsewhere it is 0.99. In our run it is 0.8.", 0),
        ("It wrote *le chat noir* in our run.", 0),
        ("It wrote *le chien noir* in our run, and *never*.", 1),
        ("## 2. Next\n\nIn our run it is 0.82.", 1),  # no output of this section says so
        ("In our run it is 1,250 of $7$ words.", 0),
    ],
)
def test_a_number_or_an_example_without_its_output_is_found(prose: str, wrong: int) -> None:
    cells = notebook("## 1. First", ">accuracy 0.8172 at 20, then 0.9096; 1,250 times: Le chat noir dort", prose)
    assert len(untrue(cells)) == wrong
