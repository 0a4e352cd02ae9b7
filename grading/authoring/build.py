"""Make notebooks from their text sources: `solutions/NN_name.py` -> solution notebook -> released notebook.

`grading.authoring.source` says how a source is written. Everything made is the same, byte for byte, in every run: fixed
ids and metadata, no times.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from grading.authoring import glossary, resuming, syllabus
from grading.authoring.errors import BuildError
from grading.authoring.source import EXPERIMENTS, Cell, grade_id, read, validate
from grading.definitions import catalogue
from grading.folder.course import ROOT, Course
from grading.notebooks.cells import AROUND, BEGIN_HIDDEN, END_HIDDEN, is_around, is_experiment
from grading.notebooks.names import bound, needs_training
from tutor.checking.globals_used import line_numbers
from tutor.files import write_whole
from tutor.pyproject import read_pyproject

CELL_SECONDS = 1800  # wall-clock: a last resort, for a busy machine is slow
TAGS = {  # of a cell, by its kind; another one has its kind as a tag
    "experiment": ["experiment"],
    "interactive": ["experiment", "nbval-ignore-output", "widget"],
    "measured": ["experiment", "nbval-ignore-output"],
}
PASSED = "  [passed] "  # before a stage in a verdict's text


def solution_notebook(path: Path, cells: Sequence[Cell], address: str = "") -> NotebookNode:
    """Returns the notebook of a source, not yet executed, with nbgrader's metadata and fixed ids.

    Where the helpers are missing, its set-up cell installs them from `address`, or says what to do if there is none.
    """
    notebook: NotebookNode = nbformat.v4.new_notebook(
        metadata={
            "kernelspec": {
                "display_name": "Python 3 (ipykernel)",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"name": "python"},
        }
    )
    setups = 0
    for number, cell in enumerate(cells):
        source, identifier = cell.source, f"cell-{number:03d}"
        metadata: dict[str, Any] = {}
        if cell.kind == "setup":
            setups += 1
            identifier = "setup" if setups == 1 else f"setup_{setups}"
            source = f"{set_up(address)}\n{source}" if setups == 1 else source
            metadata["nbgrader"] = _nbgrader(identifier, locked=True)
        elif cell.kind == "exercise":
            identifier = cell.name
            metadata["nbgrader"] = _nbgrader(identifier, solution=True)
        elif cell.kind == "check":
            identifier = grade_id(cell)
            metadata["nbgrader"] = _nbgrader(identifier, grade=True, locked=True, points=cell.points)
            hidden = f'from grading.definitions.examiner import mark\n\nmark("{path.stem}", "{cell.name}", {cell.name})'
            source = f"{source}\n{BEGIN_HIDDEN}\n{hidden}\n{END_HIDDEN}"
        elif cell.kind == "essay":
            identifier = cell.name
            metadata["nbgrader"] = _nbgrader(identifier, grade=True, solution=True, points=cell.points)
        elif cell.kind in EXPERIMENTS | AROUND:
            metadata["tags"] = TAGS.get(cell.kind, ["experiment", cell.kind])
            if cell.is_folded:
                metadata |= {"cellView": "form", "jupyter": {"source_hidden": True}}  # for Colab and for JupyterLab
        make: Any = nbformat.v4.new_markdown_cell if cell.language == "markdown" else nbformat.v4.new_code_cell
        made = make(source, metadata=metadata)
        made.id = identifier.replace("_", "-") if not metadata.get("nbgrader") else identifier
        notebook.cells.append(made)
    return notebook


def _nbgrader(
    identifier: str,
    *,
    grade: bool = False,
    solution: bool = False,
    locked: bool = False,
    points: Any = None,
) -> dict[str, Any]:
    keys = {
        "grade": grade,
        "grade_id": identifier,
        "locked": locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return keys | ({"points": points} if grade else {})


def execute(notebook: NotebookNode, folder: Path, *, experiments: bool = True) -> NotebookNode:
    """Returns the notebook with the outputs of a run in a fresh kernel; the same bytes each time.

    Raises:
        BuildError: naming the cell that failed.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    from grading.authoring.kernels import Manager

    notebook = copy.deepcopy(notebook)
    if not experiments:
        notebook.cells = [cell for cell in notebook.cells if "experiment" not in cell.metadata.get("tags", ())]
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        kernel_manager_class=Manager,
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],  # a kernel warns of how it is connected, each time
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        client.execute(env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": _this_clone_first()})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as problem:
        raise BuildError(f"{folder.name}: the solution notebook does not run: {problem}") from problem
    for cell in notebook.cells:
        if cell.cell_type == "code":
            widget = "widget" in cell.metadata.get("tags", ())  # its picture lives in the kernel only
            cell.outputs = [] if widget else [_steady(output) for output in cell.outputs]
    notebook.metadata = {key: notebook.metadata[key] for key in ("kernelspec", "language_info")}
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def _this_clone_first() -> str:
    """Returns where Python looks for modules: a kernel asks this clone's `tutor`, whichever is installed."""
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))


def _steady(output: NotebookNode) -> NotebookNode:
    if output.output_type == "stream":  # progress bars overwrite their line: keep what a reader sees last
        output.text = "\n".join(line.rsplit("\r", 1)[-1] for line in output.text.split("\n"))
    return output


def marks(notebook: NotebookNode) -> dict[str, tuple[float, float]]:
    """Returns for each check cell of an executed notebook its mark and its points, as nbgrader reads them."""
    from nbgrader.utils import determine_grade, is_grade, is_solution

    cells = [cell for cell in notebook.cells if is_grade(cell) and not is_solution(cell)]
    return {cell.metadata.nbgrader.grade_id: determine_grade(cell) for cell in cells}


def refuse_lost_marks(name: str, notebook: NotebookNode, how: str) -> None:
    """Raises BuildError when a check of the executed solution notebook does not give full marks."""
    for identifier, (mark, points) in marks(notebook).items():
        if mark != points:
            raise BuildError(f"{name}: {identifier} gives {mark} of {points} points to the solution, run {how}.")


def release(notebook: NotebookNode) -> NotebookNode:
    """Returns the student's notebook: nbgrader's own steps of generate_assignment, without its database."""
    from nbgrader import preprocessors as steps
    from traitlets.config import Config
    from traitlets.config.loader import PyFileConfigLoader

    config = Config()
    config.merge(PyFileConfigLoader("nbgrader_config.py", str(ROOT)).load_config())
    notebook, resources = copy.deepcopy(notebook), dict[str, Any]()
    for step in (  # all but IncludeHeaderFooter, InstantiateTests and SaveCells, which this course does not use
        steps.LockCells,
        steps.ClearSolutions,
        steps.ClearOutput,
        steps.CheckCellMetadata,
        steps.ComputeChecksums,
        steps.ClearHiddenTests,
        steps.ClearMarkScheme,
        steps.ComputeChecksums,
        steps.CheckCellMetadata,
    ):
        notebook, resources = step(config=config).preprocess(notebook, resources)
    return NotebookNode(notebook)


def text(notebook: NotebookNode) -> str:
    """Returns the bytes of a notebook file, as text: the same for the same content."""
    return str(nbformat.writes(notebook, indent=1, sort_keys=True)).rstrip("\n") + "\n"


def inputs(notebook: NotebookNode) -> str:
    """Returns the text of a notebook without outputs and execution counts."""
    bare = copy.deepcopy(notebook)
    for cell in bare.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return text(bare)


def sources(selected: Iterable[str] = ()) -> list[Path]:
    """Returns the sources of all notebooks, or of those whose name starts with one of `selected`.

    Raises:
        BuildError: when a selection fits no notebook.
    """
    paths = sorted((ROOT / "solutions").glob("[0-9][0-9]_*.py"))
    wanted = list(selected)
    for prefix in wanted:
        if not any(path.stem.startswith(prefix) for path in paths):
            raise BuildError(f"no notebook is called {prefix!r}; expected one of: {', '.join(p.stem for p in paths)}.")
    return [path for path in paths if not wanted or any(path.stem.startswith(prefix) for prefix in wanted)]


def course_setting(name: str) -> str:
    """Returns what an instructor has set in `[tool.course]` of pyproject.toml: "" for nothing.

    Raises:
        BuildError: when it is not there, or cannot stand in a line of Python.
    """
    setting = read_pyproject(ROOT).get("tool", {}).get("course", {}).get(name)
    if not isinstance(setting, str) or re.search(r'["\\\n]', setting):
        raise BuildError(
            f'pyproject.toml has no `{name} = "..."` in [tool.course]; expected an address, or "" for none.'
        )
    return setting


def set_up(address: str) -> str:
    """Returns the lines with which a notebook's set-up cell begins."""
    if address:
        return (
            "import importlib.util\nimport subprocess\nimport sys\n\n"
            'if importlib.util.find_spec("tutor") is None:  # as in Colab: fetch what the course imports, once\n'
            f'    address = "{address}"\n'
            '    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", address], check=True)\n'
        )
    return (
        "import importlib.util\n\n"
        'if importlib.util.find_spec("tutor") is None:\n'
        "    raise ModuleNotFoundError(\n"
        '        "The course is not installed here: open this notebook with `make lab`, or run "\n'
        '        "`%pip install FILE.whl` in a cell of its own, with the file that your instructor gives you."\n'
        "    )\n"
    )


def products(path: Path) -> dict[Path, str]:
    """Returns what is made of a source, as files and their content; of the solution notebook not yet the outputs.

    Raises:
        BuildError: when the source is not as it must be.
    """
    cells = read(path)
    validate(path, cells)
    draft, course = solution_notebook(path, cells, course_setting("install")), Course(ROOT)
    made = {_examples_file(path.stem, name): content for name, content in _examples(path.stem)}
    return made | {course.solution(path.stem): text(draft), course.released(path.stem): text(release(draft))}


def _examples(notebook: str) -> Iterator[tuple[str, str]]:
    import torch

    from grading.authoring import examples
    from grading.definitions.exercise import load

    torch.set_num_threads(1)  # as in grading: threads that wait for each other use up a known mistake's time
    for name, exercise in load(notebook).items() if notebook in catalogue.notebooks() else ():
        yield name, json.dumps(examples.encode(exercise), separators=(",", ":")) + "\n"


def _examples_file(notebook: str, exercise: str) -> Path:
    return ROOT / "tutor" / "check_examples" / notebook / f"{exercise}.json"


def common_products() -> dict[Path, str]:
    """Returns what is made of the heads of all sources, and of their last sections, as files and their content."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    made = {ROOT / name: content for name, content in syllabus.made(sources(), readme).items()}
    made[ROOT / "docs" / "glossary.md"] = glossary.page(sources(), glossary.words(ROOT / "solutions" / "words.md"))
    folder = ROOT / "tutor" / "check_examples"
    contents = {"experiments": _experiments(), "hints": _hints(), "notebooks": _notebooks(), "resuming": _resuming()}
    return made | {folder / f"{name}.json": content for name, content in contents.items()}


def _hints() -> str:
    """Returns the hints of every exercise, by its name."""
    from grading.definitions.exercise import load

    hints = {name: list(one.hints) for notebook in catalogue.notebooks() for name, one in load(notebook).items()}
    return json.dumps(hints, ensure_ascii=False, indent=0) + "\n"


def _experiments() -> str:
    """Returns for each notebook the variables that only its experiment cells make, and those that need a training.

    And the lines of these cells, as numbers: so a kernel knows them from the student's own.
    """
    lines = []
    for path in sources():
        notebook = solution_notebook(path, read(path))
        tried = [cell.source for cell in notebook.cells if is_experiment(cell)]
        others = [cell.source for cell in notebook.cells if cell.cell_type == "code" and not is_experiment(cell)]
        names = sorted(bound(tried) - bound(others))
        slow = [name for name in names if needs_training(tried, name)]
        variables: dict[str, Any] = {"made": [name for name in names if name not in slow], "trained": slow}
        variables["cells"] = [line_numbers(source) for source in tried if bound([source]) & set(names)]
        lines.append(f"{json.dumps(path.stem)}: {json.dumps(variables)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _notebooks() -> str:
    """Returns for each notebook its exercises and essays with their points, and the names that its cells make."""
    lines = []
    for path in sources():
        cells = read(path)
        parts: dict[str, Any] = {
            "exercises": {cell.name: cell.points for cell in cells if cell.kind == "check"},
            "essays": {cell.name: cell.points for cell in cells if cell.kind == "essay"},
            "names": sorted(bound(cell.source for cell in cells if cell.language == "code")),
        }
        lines.append(f"{json.dumps(path.stem)}: {json.dumps(parts)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _resuming() -> str:
    """Returns for each notebook with a place to stop what its later sittings need of what stands above."""
    needed = {path.stem: resuming.parts(read(path)) for path in sources()}
    return json.dumps({name: parts for name, parts in needed.items() if parts}, ensure_ascii=False, indent=0) + "\n"


def agrees(file: Path, content: str) -> bool:
    """Says whether a made file is what is made now: examples to their last digits, a solution without its outputs."""
    if not file.exists():
        return False
    stored = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        from grading.authoring import examples

        try:
            return examples.same(json.loads(stored), json.loads(content))
        except json.JSONDecodeError:
            return False
    if file == Course(ROOT).solution(file.stem):
        stored, content = (inputs(nbformat.reads(one, as_version=4)) for one in (stored, content))
    return stored == content


def build(
    selected: Iterable[str] = (),
    *,
    examples_only: bool = False,
    keep: bool = False,
    log: Callable[[str], object] = print,
) -> None:
    """Makes the notebooks, their `tutor/check_examples/`, syllabus, glossary and README's table; logs what has changed.

    With `examples_only` no notebook is run or written: what the checks ask is made, in seconds, and all that is common.
    With `keep` experiments are not run, and keep their outputs, of which the text may speak.

    Raises:
        BuildError: when a source is not as it must be, or a notebook does not run; then no file is another one.
    """
    paths = sources(selected)
    _refuse_shared_names()
    common, made_of = common_products(), {path: products(path) for path in paths}
    with _all_or_nothing() as write:
        for file, content in common.items():  # before any notebook runs: its last cell reads them
            if write(file, content):
                log(f"{file.relative_to(ROOT)}: made")
        for path, made in made_of.items():
            solution = Course(ROOT).solution(path.stem)
            for file in [file for file in made if file.suffix == ".json"]:  # the checks of the run below read them
                content = made.pop(file)
                if not agrees(file, content) and write(file, content):
                    log(f"{file.relative_to(ROOT)}: made")
            if examples_only:
                continue
            solve = _solved_but_for_experiments if keep else _solved
            made[solution] = text(solve(path.stem, nbformat.reads(made[solution], as_version=4), solution.parent))
            for file, content in made.items():
                log(f"{file.relative_to(ROOT)}: {'made' if write(file, content) else 'unchanged'}")


@contextlib.contextmanager
def _all_or_nothing() -> Iterator[Callable[[Path, str], bool]]:
    """Gives a function that writes a file whole, and says whether it has; after an error each is as it was before."""
    before = dict[Path, bytes | None]()

    def write(file: Path, content: str) -> bool:
        before.setdefault(file, file.read_bytes() if file.exists() else None)
        return write_whole(file, content)

    try:
        yield write
    except BaseException:
        for file, content in before.items():
            if content is None:
                file.unlink(missing_ok=True)
            else:
                write_whole(file, content)
        raise


def _solved(name: str, draft: NotebookNode, folder: Path) -> NotebookNode:
    folder.mkdir(parents=True, exist_ok=True)
    refuse_lost_marks(name, execute(draft, folder, experiments=False), "without its experiments")
    solved = execute(draft, folder)
    refuse_lost_marks(name, solved, "from top to bottom")
    return solved


def _solved_but_for_experiments(name: str, draft: NotebookNode, folder: Path) -> NotebookNode:
    """Returns the notebook with the outputs that its experiments have in the file; all other cells are run.

    Raises:
        BuildError: when an experiment is another one than in the file, or a cell does not run.
    """
    file = folder / f"{name}.ipynb"
    stored = nbformat.read(file, as_version=4).cells if file.exists() else []
    known = {_computed(cell): cell.outputs for cell in stored if is_experiment(cell)}
    for cell in filter(is_experiment, draft.cells):
        if is_around(cell):
            known[_computed(cell)] = []
        elif _computed(cell) not in known:
            first = cell.source.partition("\n")[0]
            raise BuildError(f"{name}: this experiment is new, {first!r}: build it without --keep.")
    run = execute(draft, folder, experiments=False)
    refuse_lost_marks(name, run, "without its experiments")
    outputs = {cell.id: cell.outputs for cell in run.cells if cell.cell_type == "code"}
    solved = copy.deepcopy(draft)
    solved.metadata = run.metadata
    for number, cell in enumerate((cell for cell in solved.cells if cell.cell_type == "code"), 1):
        cell.outputs, cell.execution_count = outputs.get(cell.id, known.get(_computed(cell), [])), number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
    return solved


def _computed(cell: NotebookNode) -> str:
    """Returns what a cell computes, without comments: another caption makes no other output."""
    try:
        return ast.dump(ast.parse(cell.source))
    except SyntaxError:  # a line that is IPython's, such as %time
        return str(cell.source)


def check(selected: Iterable[str] = ()) -> list[str]:
    """Returns one line for each made file that differs from its source; runs no kernel."""
    stale, paths = [], sources(selected)
    _refuse_shared_names()
    for path in paths:
        made = products(path)
        for file, content in made.items():
            if not agrees(file, content):
                defined = f"grading/exercises/{path.stem}/{file.stem}.py"
                origin = defined if file.suffix == ".json" else f"its source {path.name}"
                stale.append(f"{file.relative_to(ROOT)}: stale, {origin} says something else")
            elif file == Course(ROOT).solution(path.stem):
                stages = {one.stem: _stages(json.loads(text)) for one, text in made.items() if one.suffix == ".json"}
                stale += [
                    f"{file.relative_to(ROOT)}: stale, {name}'s check shows stages that are no longer its own"
                    for name in _shown_otherwise(nbformat.reads(file.read_text("utf-8"), as_version=4), stages)
                ]
    for file, content in common_products().items():
        if not agrees(file, content):
            stale.append(f"{file.relative_to(ROOT)}: stale, the heads of the sources say something else")
    known = {path.stem for path in sources()}
    examples_of = {notebook: catalogue.names(notebook) for notebook in catalogue.notebooks()}
    for pattern in ("solutions/*/*.ipynb", "notebooks/*/*.ipynb", "tutor/check_examples/*/*.json"):
        for file in sorted(ROOT.glob(pattern)):
            notebook = file.parent.name
            if notebook not in known or (file.suffix == ".json" and file.stem not in examples_of.get(notebook, ())):
                stale.append(f"{file.relative_to(ROOT)}: has no source; remove it")
    return stale


def _stages(examples: dict[str, Any]) -> list[str]:
    """Returns the stages that a check shows one by one, from the encoded examples of its exercise."""
    return [stage["name"] for stage in examples["stages"] if not stage.get("cost")]


def _shown_otherwise(solved: NotebookNode, stages: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yields the exercises whose checks show other stages, as text or page, than they have today, in a run notebook."""
    from tutor.checking.sentences import KEEPS
    from tutor.checking.verdict import sentence_as_html, sign_as_html

    for cell in solved.cells:
        name = cell.id.removesuffix("_check")
        if name not in stages or cell.id == name:
            continue
        for output in cell.get("outputs", ()):
            lines = output.get("data", {}).get("text/plain", "").splitlines()
            shown = [line.removeprefix(PASSED) for line in lines if line.startswith(PASSED)]
            page = output.get("data", {}).get("text/html", "")
            as_page = all(f"{sign_as_html('passed')}{sentence_as_html(stage)}</div>" in page for stage in shown)
            if shown and ([stage for stage in shown if stage != KEEPS] != stages[name] or not as_page):
                yield name
                break


def _refuse_shared_names() -> None:
    owner: dict[str, str] = {}
    for notebook in catalogue.notebooks():
        for name in catalogue.names(notebook):
            if name in owner:
                raise BuildError(f"exercise {name!r} is defined in both {owner[name]} and {notebook}; rename one.")
            owner[name] = notebook


def command(options: argparse.Namespace) -> int:
    """Runs `python -m grading build` and returns its exit status.

    Raises:
        BuildError: when a source is not as it must be, or a notebook does not run; then no file is another one.
    """
    if not options.check:
        build(options.notebook, examples_only=options.examples, keep=options.keep)
        return 0
    stale = check(options.notebook)
    for line in stale:
        print(line)
    print("run `make build` and commit the result." if stale else "every made file agrees with its source.")
    return 1 if stale else 0
