"""Figures: each has a title, named axes, colours that colour-blind readers can tell apart, and a text.

`show` displays a figure as an `<img>` with alternative text. JupyterLab, the feedback page and exported notebooks all
keep that; a plain matplotlib output loses its alternative text in JupyterLab.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import torch
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from helpers.theme import FIGURES

# Okabe and Ito (2008), "Color Universal Design"; black and yellow left out: one is text, the other too light.
COLOURS = ("#0072B2", "#D55E00", "#56B4E9", "#009E73", "#E69F00", "#CC79A7")
MARKERS = ("o", "s", "^", "D", "v", "P")
STYLE = {
    "figure.dpi": 110,
    "savefig.dpi": 110,
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": matplotlib.cycler(color=COLOURS),
    "legend.frameon": False,
}


def show(figure: Figure, alt: str) -> None:
    """Displays a figure with its alternative text, and closes it.

    Args:
        figure: what to show.
        alt: what a reader who cannot see the figure should know: the data's message, with numbers.
    """
    buffer = BytesIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(buffer, format="png", bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    text = html.escape(alt, quote=True)
    image = f'<img alt="{text}" class="course-figure" style="max-width:100%" src="data:image/png;base64,{data}">'
    display({"text/html": f"{FIGURES}{image}", "text/plain": alt}, raw=True)


def panels(count: int, width: float = 3.2, height: float = 3.0) -> tuple[Figure, list[Axes]]:
    """Returns a figure of `count` axes side by side, each of the given size in inches."""
    with matplotlib.rc_context(STYLE):
        figure, axes = plt.subplots(1, count, figsize=(width * count, height), squeeze=False, layout="constrained")
    return figure, list(axes[0])


def _numbers(values: Any) -> Any:
    """Returns an array of a tensor, also one on a GPU or with a gradient, or of nested lists, also of such numbers."""
    if isinstance(values, Tensor):
        return values.detach().cpu().to(torch.float64).numpy()  # in this order: GPUs of Macs have no float64
    if isinstance(values, list | tuple):
        return np.array([_numbers(value) for value in values], dtype=float)
    return np.asarray(values, dtype=float)


def matrix(
    values: Tensor,
    title: str,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    row_label: str = "query (who looks)",
    column_label: str = "key (who is looked at)",
    digits: int | None = None,
    axes: Axes | None = None,
    limits: tuple[float, float] | None = None,
) -> Axes:
    """Draws a matrix `(n, m)` as coloured squares: grey where -inf, numbers in the squares where they fit.

    The greatest number is the darkest blue. Where there are negative ones, they are red and 0 is white.

    Args:
        values: the matrix; bool is drawn as 0 and 1.
        rows, columns: names of the rows and columns, for example the tokens.
        digits: decimals of the numbers in the squares; None writes none.
        limits: smallest and largest value of the colour scale.
    """
    with matplotlib.rc_context(STYLE):
        if axes is None:
            size = max(2.6, 0.42 * max(values.shape))
            axes = plt.subplots(figsize=(size + 0.8, size), layout="constrained")[1]
        numbers = _numbers(values)
        shown = np.ma.masked_invalid(numbers)
        finite = numbers[np.isfinite(numbers)] if np.isfinite(numbers).any() else np.zeros(1)
        low, high = limits or (min(0.0, float(finite.min())), max(1e-9, float(finite.max())))
        end = 1.25 * max(high, low + 1e-9, -low)  # the ends of a scale of colours are too dark to write on
        colours = matplotlib.colormaps["RdBu" if low < 0 else "Blues"].with_extremes(bad="#555555")
        image = axes.imshow(shown, cmap=colours, vmin=-end if low < 0 else low, vmax=end, aspect="equal")
        axes.set(title=title, xlabel=column_label, ylabel=row_label)
        axes.set_xticks(range(numbers.shape[1]), columns or [str(j) for j in range(numbers.shape[1])])
        axes.set_yticks(range(numbers.shape[0]), rows or [str(i) for i in range(numbers.shape[0])])
        if columns and max(map(len, columns)) > 3:
            plt.setp(axes.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")
        axes.tick_params(length=0)
        axes.set_xticks(np.arange(numbers.shape[1] + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(numbers.shape[0] + 1) - 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=1)
        axes.tick_params(which="minor", length=0)
        if digits is not None:
            _write_numbers(axes, numbers, digits, image.to_rgba(shown))
    return axes


def luminance(colours: Any) -> Any:
    """Returns the relative luminance, `(...)` from 0 to 1, of colours `(..., 3)` in sRGB, as WCAG 2 defines it."""
    parts = np.asarray(colours)
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def _write_numbers(axes: Axes, numbers: Any, digits: int, colours: Any) -> None:
    """Writes each number into its square, in black or white: whichever stands out more on the square's colour."""
    dark = luminance(colours[..., :3]) < 0.2  # below it white has the higher contrast
    for (i, j), number in np.ndenumerate(numbers):
        text = "−∞" if number == -np.inf else "NaN" if np.isnan(number) else f"{number:.{digits}f}"
        axes.text(j, i, text, ha="center", va="center", fontsize=8, color="white" if dark[i, j] else "#1a1a1a")


def describe_matrix(values: Tensor, name: str) -> str:
    """Returns a sentence on a matrix for its alternative text: size, range, blocked entries."""
    values = values.detach().cpu()
    finite = values[values.isfinite()].to(torch.float64)
    blocked = int((values == -torch.inf).sum()) if values.is_floating_point() else 0
    size = f"{name}: a matrix of {values.shape[0]} rows and {values.shape[1]} columns"
    if values.numel() <= 9:  # small enough to be read out
        rows = "; ".join(", ".join(f"{number:.2g}" for number in row) for row in values.tolist())
        return f"{size}, row by row: {rows}."
    if not finite.numel():
        span = "no finite value"
    elif finite.min() == finite.max():
        span = f"{finite.min():.3g} in {finite.numel()} entries"
    else:
        span = f"values from {finite.min():.3g} to {finite.max():.3g}"
    extra = f", minus infinity in {blocked} entries" if blocked else ""
    return f"{size}, {span}{extra}."


def curves(
    lines: Mapping[str, Any],
    x: Sequence[float] | Tensor,
    *,
    title: str,
    x_label: str,
    y_label: str,
    axes: Axes | None = None,
    log_x: bool = False,
    log_y: bool = False,
    colours: Sequence[str] = COLOURS,
) -> Axes:
    """Draws lines over `x`, with markers that differ too; a line of shape (runs, n) gets its mean and a band.

    Args:
        lines: name -> values, `(n,)` or `(runs, n)`; the band goes from the smallest to the largest run.
        colours: of the lines in their order, and then again from the first.
    """
    with matplotlib.rc_context(STYLE):
        if axes is None:
            axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")[1]
        x = x.tolist() if isinstance(x, Tensor) else x
        for index, (name, values) in enumerate(lines.items()):
            runs = np.atleast_2d(_numbers(values))
            colour, marker = colours[index % len(colours)], MARKERS[index % len(MARKERS)]
            every = max(1, len(x) // 10)
            axes.plot(
                x,
                runs.mean(axis=0),
                label=name,
                color=colour,
                marker=marker,
                markevery=every,
                markersize=5,
            )
            if len(runs) > 1:
                axes.fill_between(x, runs.min(axis=0), runs.max(axis=0), color=colour, alpha=0.18, linewidth=0)
        axes.set(title=title, xlabel=x_label, ylabel=y_label)
        if log_x:
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter("{x:g}")
        if log_y:
            axes.set_yscale("log")
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.legend()
    return axes


def describe_curves(lines: Mapping[str, Any], x: Sequence[float] | Tensor, x_label: str, digits: int = 3) -> str:
    """Returns a sentence for each line for the alternative text: where it starts and where it ends.

    Few `digits` keep the sentence the same on every processor, for results of training.
    """
    parts, x = [], x.tolist() if isinstance(x, Tensor) else x
    for name, values in lines.items():
        mean = np.atleast_2d(_numbers(values)).mean(axis=0)
        first, last = f"{mean[0]:.{digits}g}", f"{mean[-1]:.{digits}g}"
        parts.append(f"{name} goes from {first} at {x_label} {x[0]:g} to {last} at {x[-1]:g}")
    return "; ".join(parts) + "."


def clock(hands: Mapping[str, Tensor], title: str, *, axes: Axes | None = None) -> Axes:
    """Draws pairs of numbers as hands of one clock: the first number to the right, the second upwards.

    Args:
        hands: name -> pair `(2,)`; a pair (sine, cosine) is a hand that starts at twelve and turns clockwise.
    """
    with matplotlib.rc_context(STYLE):
        if axes is None:
            axes = plt.subplots(figsize=(2.6, 2.6), layout="constrained")[1]
        turn = np.linspace(0, 2 * np.pi, 200)
        axes.plot(np.sin(turn), np.cos(turn), color="#999999", linewidth=1)
        for index, (name, pair) in enumerate(hands.items()):
            right, up = pair.detach().tolist()
            colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
            width = max(1.5, 4.5 - 2 * index)  # a later hand lies on an earlier one and does not hide it
            axes.plot([0, right], [0, up], color=colour, linewidth=width, solid_capstyle="round", label=name)
            axes.plot(right, up, color=colour, marker=marker, markersize=max(4, 8 - 2 * index))
        axes.set(title=title, xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    return axes
