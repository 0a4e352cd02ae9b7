"""Pages from the templates beside this file. Whatever is put into one is escaped, unless `markup` has made it."""

from __future__ import annotations

import functools
from pathlib import Path
from statistics import median
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grading.pages.markup import cut, markdown, python, sentence

TEMPLATES = Path(__file__).with_name("templates")


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
    environment.filters.update(cut=cut, markdown=markdown, python=python, sentence=sentence)
    environment.filters.update(number=number, percent=percent, median=median)
    return environment


def number(value: float) -> str:
    """Returns a mark or points with at most two decimals: "1.5"."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    """Returns a share in whole percent: "40%"."""
    return f"{share:.0%}"
