"""What students read of `helpers` stays small enough to be read."""

import ast
import io
import tokenize
from pathlib import Path

LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def lines_of_code(source: str) -> int:
    """Returns how many lines hold code: no blank lines, no comments, no docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            text = node.body[0]
            lines.difference_update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return len(lines)


def test_lines_are_counted_without_comments_and_docstrings() -> None:
    source = (
        '"""A module."""\n\n# why\nx = [\n    1,  # one\n]\n\n\ndef f():\n    """Text\n    and text."""\n    return x\n'
    )
    assert lines_of_code(source) == 5


def test_what_notebooks_train_with_has_at_most_nine_hundred_lines(repository: Path) -> None:
    sizes = {
        name: lines_of_code((repository / "helpers" / f"{name}.py").read_text(encoding="utf-8"))
        for name in ("device", "vocabulary", "corpora", "batches", "models", "training", "checkpoints")
    }
    assert sum(sizes.values()) <= 900, sizes
