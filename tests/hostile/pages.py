"""Markup that must not become part of a page: in errors, names, texts, essays and names of files."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

from nbformat import NotebookNode

from tests.hostile.case import Case, World

SCRIPT = "<script>document.title='taken over'</script><img src=x onerror=\"document.title='taken over'\">"
REMOTE = "http://127.0.0.1:9/remote"
ESSAY = f"""{SCRIPT}

<iframe src="{REMOTE}"></iframe> <object data="{REMOTE}"></object> <link rel="stylesheet" href="{REMOTE}">
<svg onload="document.title='taken over'"></svg> <form action="{REMOTE}"><input autofocus onfocus="alert(1)"></form>
<style>@import url({REMOTE});</style> <a href="javascript:alert(1)">a</a> [b](javascript:alert(1)) ![c]({REMOTE}/c.png)
<meta http-equiv="refresh" content="0;url={REMOTE}"> <base href="{REMOTE}"> </div></body></html>

$$ \\href{{javascript:alert(1)}}{{x}} \\require{{html}} \\style{{background:url({REMOTE})}}{{y}} $$
$<img src=x onerror="document.title='taken over'">$

![d](attachment:x.svg) ![e](attachment:y.png) <img src="attachment:z.png" onload="document.title='taken over'">
<img src='data:image/svg+xml;utf8,<svg onload=alert(1)>'> ![f](data:text/html;base64,PHNjcmlwdD4=)
"""


def _essay(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        settings = cell.metadata.get("nbgrader", {})
        if settings.get("grade") and settings.get("solution"):
            cell.source = ESSAY
            cell.attachments = {
                "x.svg": {"image/svg+xml": SCRIPT},
                "y.png": {"image/png": b64encode(b"\x89PNG\r\n\x1a\n" + SCRIPT.encode()).decode()},
                "z.png": {"image/png": f'AAAA" onerror="{SCRIPT}'},
            }


def _below(notebook: NotebookNode) -> None:
    """Leaves the essay as it is, and writes below it."""
    from nbformat.v4 import new_code_cell, new_markdown_cell

    place = next(number for number, cell in enumerate(notebook.cells) if cell.id == "mask_essay")
    notebook.cells[place].source = "*Your answer here: double-click, and replace this line.*"
    notebook.cells[place + 1 : place + 1] = [new_markdown_cell(ESSAY), new_code_cell(f"%%html\n{ESSAY}")]


def _outputs(notebook: NotebookNode) -> None:
    from nbformat.v4 import new_output

    data = {"text/html": SCRIPT, "image/svg+xml": f"<svg>{SCRIPT}</svg>", "application/javascript": "alert(1)"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [new_output("display_data", data), new_output("error", ename=SCRIPT, evalue=SCRIPT)]


def _named(folder: Path, world: World) -> None:
    (folder / "01_causal_mask.ipynb").rename(folder / "<script>taken over<img src=x onerror=alert(1)>.ipynb")


CASES = [
    Case("markup_in_an_error", {"causal_mask": f"raise ValueError({SCRIPT!r})"}),
    Case("markup_in_the_name_of_an_error", {"causal_mask": f"def causal_mask(size):\n    raise type({SCRIPT!r}, (Exception,), {{}})"}),
    Case("markup_in_a_line_of_code", {"causal_mask": f"def causal_mask(size):\n    raise ValueError({SCRIPT!r})  # {SCRIPT}"}),
    Case("markup_in_a_result", {"causal_mask": f"def causal_mask(size):\n    return {SCRIPT!r}"}),
    Case("markup_in_the_name_of_a_type", {"causal_mask": f"def causal_mask(size):\n    return type({SCRIPT!r}, (), {{}})()"}),
    Case("markup_in_a_symbol", {"wasted_scores": f"def wasted_scores():\n    return sympy.Symbol({SCRIPT!r}) * L"}),
    Case("markup_in_the_essay", change=_essay),
    Case("markup_below_the_essay", change=_below),
    Case("markup_in_outputs", change=_outputs),
    Case("markup_in_the_name_of_the_file", files=_named),
    Case("markup_shown_as_html", {"causal_mask": f"from IPython.display import HTML, display\ndisplay(HTML({SCRIPT!r}))\nclass C:\n    def _repr_html_(self): return {SCRIPT!r}\ndef causal_mask(size):\n    display(C()); return C()"}),
]  # fmt: skip
