"""What a hostile submission is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

VARIANTS = 4  # sets of questions, each of which is drawn in every worker


@dataclass(frozen=True)
class World:
    """What an attack may know: it is shown where everything lies.

    Args:
        secret: a file outside the class with a canary in it.
        course: the class, with `gradebook/` and `solutions/`.
        repository: the course itself, with references and examples.
        victim: the submission folder of another student, with a canary in it.
        port: of a server on this machine that accepts connections.
    """

    secret: Path
    course: Path
    repository: Path
    victim: Path
    port: int

    def fill(self, text: str) -> str:
        """Returns a text with `@SECRET@`, `@COURSE@` and so on replaced."""
        for name, value in vars(self).items():
            text = text.replace(f"@{name.upper()}@", str(value))
        return text


@dataclass(frozen=True)
class Case:
    """One hostile submission. It holds one honest answer, `attention_weights`; all else is in the fields.

    Args:
        name: the student's name.
        cells: sources of solution cells by grade id.
        change: changes the notebook further.
        text: changes the text of the notebook's file.
        files: does something with the submission's folder after the notebook was written.
        most: the mark that it may have at most, that of the honest part.
        least: the mark that it must keep, when what it does concerns one exercise only.
        gradable: whether there is anything to grade.
        costly: whether it tries to use up time or memory: it is graded with small limits.
    """

    name: str
    cells: dict[str, str] = field(default_factory=dict)
    change: Callable[[NotebookNode], None] | None = None
    text: Callable[[str], str] | None = None
    files: Callable[[Path, World], None] | None = None
    most: float = 3.0
    least: float = 0.0
    gradable: bool = True
    costly: bool = False
