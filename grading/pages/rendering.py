"""Pages from the templates beside this file. Whatever is put into one is escaped, unless `markup` has made it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grading.pages.markup import cut, markdown, python, sentence

TEMPLATES = Path(__file__).with_name("templates")
MAX_PAGE = 20 << 20  # signs on one page of what students wrote, printed and drew


@dataclass
class Room:
    """How many signs there is still room for on a page: one student's work must not make it too large to be opened."""

    left: int = MAX_PAGE

    def takes(self, shown: Markup, spare: int = 0) -> bool:
        """Says whether a part fits and leaves `spare`, and counts it if it does."""
        fits = len(shown) <= self.left - spare
        self.left -= len(shown) if fits else 0
        return fits


def within(shown: Markup, room: Room, instead: str, spare: int = 0) -> Markup:
    """Returns a part of a page, or a sentence in its place where there is no room for it."""
    return shown if room.takes(shown, spare) else Markup('<p class="warn">{}</p>').format(instead)


def render(template: str, **values: Any) -> str:
    """Returns a page as HTML that needs nothing from outside.

    Raises:
        jinja2.UndefinedError: when a template needs what `values` do not hold.
    """
    return _environment().get_template(template).render(values)


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(cut=cut, markdown=markdown, python=python, sentence=sentence, within=within)
    environment.filters.update(number=number, percent=percent, median=median)
    return environment


def number(value: float) -> str:
    """Returns a mark or points with at most two decimals: "1.5"."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    """Returns a share in whole percent: "40%"."""
    return f"{share:.0%}"
