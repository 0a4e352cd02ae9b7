"""Figures: they carry their text, tell colours apart, and leave nothing open."""

import base64
import html
import itertools
import re
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from PIL import Image

from helpers import plots


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    pages: list[dict[str, str]] = []
    monkeypatch.setattr(plots, "display", lambda data, raw: pages.append(data))
    return pages


def test_a_figure_is_shown_with_its_text_and_closed(shown: list[dict[str, str]]) -> None:
    before = plt.get_fignums()
    axes = plots.matrix(torch.eye(3), "a title", digits=1)
    plots.show(axes.figure, 'three "ones" & zeros')
    assert plt.get_fignums() == before
    alt = re.search(r'alt="([^"]*)"', shown[0]["text/html"])
    assert alt is not None
    assert html.unescape(alt.group(1)) == shown[0]["text/plain"] == 'three "ones" & zeros'


def test_the_same_figure_has_the_same_bytes(shown: list[dict[str, str]]) -> None:
    for _ in range(2):
        plots.show(plots.matrix(torch.rand(4, 4, generator=torch.Generator().manual_seed(0)), "t").figure, "x")
    assert shown[0] == shown[1]


def test_a_mask_with_infinities_is_drawn_and_described(shown: list[dict[str, str]], tmp_path: Any) -> None:
    mask = torch.zeros(5, 5).masked_fill(torch.ones(5, 5).triu(1).bool(), -torch.inf)
    text = plots.describe_matrix(mask, "The mask")
    assert "5 rows and 5 columns" in text
    assert "minus infinity in 10 entries" in text
    plots.show(plots.matrix(mask, "mask", digits=0).figure, text)
    data = re.search(r'base64,([^"]+)"', shown[0]["text/html"])
    assert data is not None
    (tmp_path / "mask.png").write_bytes(base64.b64decode(data.group(1)))
    pixels = np.asarray(Image.open(tmp_path / "mask.png").convert("RGB"))
    share = (pixels == 0x55).all(axis=-1).mean()
    assert 0.1 < share < 0.4  # ten of twenty-five squares, and the margins


@pytest.mark.parametrize("values", [torch.arange(24.0), torch.linspace(-5, 0, 24), torch.linspace(-1, 2, 24)])
def test_every_number_can_be_read_on_its_square(values: torch.Tensor) -> None:
    axes = plots.matrix(values.view(4, 6), "t", digits=1)
    (image,) = axes.get_images()
    squares = image.to_rgba(image.get_array())[..., :3].reshape(-1, 3)
    for square, text in zip(squares, axes.texts, strict=True):
        ink = matplotlib.colors.to_rgb(text.get_color())
        light, dark = sorted((plots.luminance(square), plots.luminance(ink)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) > 4.1
    plt.close("all")


def test_negative_numbers_have_a_colour_of_their_own() -> None:
    (image,) = plots.matrix(torch.tensor([[-1.0, 0.0, 1.0]]), "t").get_images()
    below, zero, above = image.to_rgba(image.get_array())[0, :, :3]
    assert below[0] > below[2] + 0.3
    assert above[2] > above[0] + 0.3
    assert (zero > 0.95).all()
    plt.close("all")


def test_a_matrix_without_a_finite_value_is_drawn() -> None:
    plots.matrix(torch.full((2, 2), -torch.inf), "nothing to see", digits=0)
    assert "no finite value" in plots.describe_matrix(torch.full((4, 4), -torch.inf), "m")
    assert "row by row: -inf, -inf; -inf, -inf" in plots.describe_matrix(torch.full((2, 2), -torch.inf), "m")
    plt.close("all")


def test_several_runs_get_a_band_and_a_mean() -> None:
    axes = plots.curves({"runs": [[0.0, 1.0], [1.0, 3.0]], "one": [1, 1]}, [1, 2], title="t", x_label="x", y_label="y")
    assert list(axes.lines[0].get_ydata()) == [0.5, 2.0]
    assert len(axes.collections) == 1
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["runs", "one"]
    assert axes.lines[0].get_marker() != axes.lines[1].get_marker()
    description = plots.describe_curves({"runs": [[0.0, 1.0], [1.0, 3.0]]}, [1, 2], "step")
    assert description == "runs goes from 0.5 at step 1 to 2 at 2."
    plt.close("all")


def test_curves_take_other_colours() -> None:
    lines = {"a": [0, 1], "b": [1, 0]}
    axes = plots.curves(lines, [1, 2], title="t", x_label="x", y_label="y", colours=("red", "blue"))
    assert [line.get_color() for line in axes.get_lines()] == ["red", "blue"]
    plt.close("all")


def test_neighbouring_colours_differ_in_lightness_for_all_readers() -> None:
    def grey(colour: str) -> float:
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    greys = [grey(colour) for colour in plots.COLOURS]
    assert all(abs(first - second) > 8 for first, second in itertools.pairwise(greys))


def test_a_clock_has_a_hand_for_each_pair_from_its_middle_to_the_pair() -> None:
    axes = plots.clock({"now": torch.tensor([0.0, 1.0]), "later": torch.tensor([1.0, 0.0])}, "t")
    named = [line for line in axes.lines if line.get_label() in ("now", "later")]
    hands = {line.get_label(): line.get_xydata().tolist() for line in named}
    assert hands == {"now": [[0.0, 0.0], [0.0, 1.0]], "later": [[0.0, 0.0], [1.0, 0.0]]}
    assert axes.get_aspect() == 1.0
    plt.close("all")
