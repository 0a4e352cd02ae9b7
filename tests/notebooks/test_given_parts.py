"""A notebook that builds on an earlier one imports its parts from `helpers`: it does not print their answers."""

import ast
from pathlib import Path

from grading.authoring import source
from grading.definitions import catalogue

ROOT = Path(__file__).resolve().parents[2]


def printed(path: Path) -> set[str]:
    """Returns the exercises of other notebooks that given cells of this one define."""
    others = {name for notebook in catalogue.notebooks() if notebook != path.stem for name in catalogue.names(notebook)}
    found = set[str]()
    for cell in source.read(path):
        if cell.language == "code" and cell.kind not in ("exercise", "check"):
            code = "\n".join("" if line.lstrip().startswith("%") else line for line in cell.source.split("\n"))
            for node in ast.walk(ast.parse(code)):
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    found |= {node.name} & others
    return found


def test_no_notebook_prints_the_answer_of_another_one() -> None:
    found = {path.stem: printed(path) for path in sorted((ROOT / "solutions").glob("[0-9][0-9]_*.py"))}
    assert not {notebook: names for notebook, names in found.items() if names}
