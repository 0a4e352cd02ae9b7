"""Pictures of how data flow through a model, in one style: boxes, arrows, ways around, frames.

    picture = Diagram(4.0, 3.0)  # inches; what is wider than 4.2 is hard to read on a telephone
    x = picture.box("x", (2, 0.4), "hidden states\\n(b, n, d)")
    part = picture.box("part", (2, 1.2), "attention", "attention")
    picture.arrow("x", "part")
    picture.show("An arrow from the hidden states to attention.")

Colours say what a box is: what data are is grey, what mixes tokens is orange, what learns and works on each token alone
is blue, what is frozen is hatched, and what is compared with a target is green.
"""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from helpers import plots
from helpers.choices import pick, refuse_unknown

Kind = Literal["data", "attention", "part", "frozen", "loss", "text"]
FACES = {
    "data": "#eeeeee",
    "attention": plots.COLOURS[1],
    "part": plots.COLOURS[0],
    "frozen": "#dce9f2",
    "loss": plots.COLOURS[3],
    "text": "none",
}
DARK = ("attention", "part", "loss")  # boxes with white writing
LINE = "#444444"
ABOVE = 0.1  # inches between a box and a frame above or below it: half of the gap in a column
ARROW: dict[str, Any] = {
    "arrowstyle": "-|>",
    "mutation_scale": 10,
    "color": LINE,
    "linewidth": 1.2,
    "shrinkA": 1,
    "shrinkB": 1,
}
Point = tuple[float, float]


class Diagram:
    """A drawing of `width` x `height` inches, whose points `(x, y)` are inches from its lower left corner."""

    def __init__(self, width: float, height: float, title: str = "") -> None:
        with matplotlib.rc_context(plots.STYLE):
            self.figure = plt.figure(figsize=(width, height))
            self.axes = self.figure.add_axes((0, 0, 1, 1))
            self.axes.set(xlim=(0, width), ylim=(0, height))
            self.axes.axis("off")
            if title:
                self.axes.text(width / 2, height - 0.02, title, ha="center", va="top", weight="bold")
        self.boxes: dict[str, FancyBboxPatch] = {}

    def box(  # noqa: PLR0913 - a box is a name, a place, a text and its looks
        self, name: str, centre: Point, text: str, kind: Kind = "data", width: float = 1.5, height: float = 0.34
    ) -> None:
        """Draws a box with `text`, which arrows find by its `name`."""
        refuse_unknown("kind of box", kind, get_args(Kind))
        (x, y), lines = centre, text.count("\n")
        height += 0.15 * lines
        shape = "round,pad=0,rounding_size=0.08"
        patch = FancyBboxPatch(
            (x - width / 2, y - height / 2), width, height, boxstyle=shape, facecolor=FACES[kind], linewidth=1
        )
        patch.set(edgecolor="none" if kind == "text" else LINE, hatch="///" if kind == "frozen" else None, zorder=2)
        self.boxes[name] = self.axes.add_patch(patch)
        white = {"boxstyle": "round,pad=0.1", "facecolor": FACES[kind], "edgecolor": "none"}
        self.axes.text(
            x,
            y,
            text,
            ha="center",
            va="center",
            fontsize=9,
            zorder=3,
            color="white" if kind in DARK else "#1a1a1a",
            bbox=white if kind == "frozen" else None,  # so that the hatching does not cross the writing
        )

    def column(
        self, x: float, bottom: float, boxes: Sequence[tuple[str, str, Kind]], step: float = 0.6, **size: float
    ) -> None:
        """Draws boxes `(name, text, kind)` from `bottom` upwards, `step` inches apart, with an arrow between two."""
        for index, (name, text, kind) in enumerate(boxes):
            self.box(name, (x, bottom + index * step), text, kind, **size)
            if index:
                self.arrow(boxes[index - 1][0], name)

    def arrow(self, start: str, end: str, text: str = "", corner: str = "", **line: Any) -> None:
        """Draws an arrow from box to box, with `text` beside its middle.

        Args:
            corner: "up" goes up or down first and enters from the side, "across" the other way round; "" goes straight.
            line: for matplotlib, such as `linestyle="--"`.
        """
        path = {"": "arc3", "up": "angle,angleA=90,angleB=0,rad=0", "across": "angle,angleA=0,angleB=90,rad=0"}
        (ax, ay), (bx, by) = self._centre(start), self._centre(end)
        self.axes.add_patch(
            FancyArrowPatch(
                (ax, ay),
                (bx, by),
                patchA=self.boxes[start],
                patchB=self.boxes[end],
                connectionstyle=pick("corner", corner, path),
                zorder=1,
                **(ARROW | line),
            )
        )
        if text:
            level = abs(by - ay) < abs(bx - ax)
            place = ((ax + bx) / 2, (ay + by) / 2 + 0.1) if level else ((ax + bx) / 2 + 0.08, (ay + by) / 2)
            self.note(place, text, ha="center" if level else "left", va="bottom" if level else "center")

    def around(self, start: str, end: str, reach: float = 1.0) -> None:
        """Draws a way around, `reach` inches to the side and into the side of `end`.

        A residual leads upwards and begins above `start`; a way back leads downwards and begins at its side.
        """
        (ax, ay), (bx, by) = self._centre(start), self._centre(end)
        sign = 1 if reach > 0 else -1
        side = bx + sign * self.boxes[end].get_width() / 2
        if by > ay:
            ay += self.boxes[start].get_height() / 2 + 0.06
        else:
            ax += sign * self.boxes[start].get_width() / 2
        edge = bx + reach
        self.axes.plot([ax, edge, edge], [ay, ay, by], color=LINE, linewidth=1.2, zorder=1)
        self.axes.add_patch(FancyArrowPatch((edge, by), (side, by), zorder=1, **ARROW))

    def frame(self, names: Sequence[str], text: str = "", margin: float = 0.18) -> None:
        """Draws a dashed frame around boxes, `margin` beside them, with `text` at its upper right."""
        patches = [self.boxes[name] for name in names]
        left = min(patch.get_x() for patch in patches) - margin
        right = max(patch.get_x() + patch.get_width() for patch in patches) + margin
        low = min(patch.get_y() for patch in patches) - ABOVE
        high = max(patch.get_y() + patch.get_height() for patch in patches) + ABOVE
        edge = {"fill": False, "linestyle": "--", "edgecolor": LINE, "linewidth": 1}
        self.axes.add_patch(Rectangle((left, low), right - left, high - low, zorder=0, **edge))
        if text:
            self.note((right + 0.06, high - 0.02), text, va="top")

    def note(self, place: Point, text: str, **options: Any) -> None:
        """Writes `text` at a point, over a line that passes there; `options` go to matplotlib."""
        white = {"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none"}
        plain = {"fontsize": 8.5, "color": "#1a1a1a", "va": "center", "zorder": 3, "bbox": white}
        self.axes.text(*place, text, **(plain | options))

    def show(self, alt: str) -> None:
        """Displays the drawing with its alternative text, and closes it."""
        plots.show(self.figure, alt)

    def _centre(self, name: str) -> Point:
        patch = self.boxes[name]
        return patch.get_x() + patch.get_width() / 2, patch.get_y() + patch.get_height() / 2
