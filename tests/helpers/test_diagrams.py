"""Pictures of how data flow: arrows meet the boxes that they name, and the picture carries its text."""

from typing import Any

import matplotlib.pyplot as plt
import pytest
from matplotlib.patches import FancyArrowPatch, Rectangle

from helpers import plots
from helpers.diagrams import Diagram


@pytest.fixture
def picture() -> Any:
    drawn = Diagram(4.0, 3.0, "a title")
    drawn.column(2.0, 0.5, [("x", "x (b, n, d)", "data"), ("part", "attention", "attention"), ("sum", "add", "data")])
    yield drawn
    plt.close(drawn.figure)


def arrows(drawn: Diagram) -> list[FancyArrowPatch]:
    return [patch for patch in drawn.axes.patches if isinstance(patch, FancyArrowPatch)]


def test_a_column_has_an_arrow_from_each_box_to_the_next(picture: Diagram) -> None:
    ends = [(arrow.patchA, arrow.patchB) for arrow in arrows(picture)]
    assert ends == [(picture.boxes["x"], picture.boxes["part"]), (picture.boxes["part"], picture.boxes["sum"])]


@pytest.mark.parametrize(("reach", "side"), [(1.0, 2.75), (-1.0, 1.25)])
def test_a_residual_starts_above_its_box_and_ends_at_the_side_of_another(
    picture: Diagram, reach: float, side: float
) -> None:
    picture.around("x", "sum", reach)
    [line] = picture.axes.lines
    assert line.get_xydata()[0] == pytest.approx((2.0, 0.5 + 0.17 + 0.06))
    assert line.get_xydata()[-1] == pytest.approx((2.0 + reach, 1.7))
    extent = arrows(picture)[-1].get_window_extent().transformed(picture.axes.transData.inverted())
    assert (extent.x0 if reach > 0 else extent.x1) == pytest.approx(side, abs=0.05)


def test_a_way_back_starts_at_the_side(picture: Diagram) -> None:
    picture.around("sum", "x", 1.2)
    assert picture.axes.lines[0].get_xydata()[0] == pytest.approx((2.75, 1.7))


def test_a_frame_is_around_its_boxes(picture: Diagram) -> None:
    picture.frame(["part", "sum"], "× M")
    [frame] = [patch for patch in picture.axes.patches if isinstance(patch, Rectangle)]
    assert frame.get_bbox().y0 < 1.1 - 0.17
    assert frame.get_bbox().y1 > 1.7 + 0.17
    assert any(text.get_text() == "× M" for text in picture.axes.texts)


def test_it_is_shown_with_its_text(picture: Diagram, monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[dict[str, str]] = []
    monkeypatch.setattr(plots, "display", lambda data, raw: pages.append(data))
    picture.show("from x to the sum")
    assert pages[0]["text/plain"] == "from x to the sum"


def test_an_unknown_kind_of_box_and_corner_are_named(picture: Diagram) -> None:
    with pytest.raises(ValueError, match="kind of box"):
        picture.box("y", (1, 1), "y", "blue")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="corner"):
        picture.arrow("x", "sum", corner="around")
