"""`python -m grading new 01_causal_mask token_count`: the files of a new exercise, small and complete, to be rewritten.

What it writes is an exercise that passes its own tests at once: rewrite it part by part, and prove it again after each.
"""

from __future__ import annotations

import argparse
import keyword

from grading.authoring.source import BuildError
from grading.definitions import catalogue
from grading.folder.course import ROOT
from tutor.files import write_whole

DEFINITION = '''"""Exercise NAME of notebook NN."""

from grading.definitions.definition import Definition
from tutor.checking.answers import Question

exercise = Definition(minutes=5, difficulty=1)


@exercise.reference
def NAME(b: int, n: int) -> int:
    return b * n


# A stage has questions that every student's check asks, and others that are drawn for each student when grading.
@exercise.stage("one sentence", points=0.5, public=[Question((1, 5)), Question((1, 8))])
def _(rng):
    """One sentence of n tokens: how many tokens are in the batch?"""
    yield Question((1, rng.randint(9, 30)))


@exercise.stage("several sentences", points=0.5, public=[Question((2, 5)), Question((4, 3))], decisive=True)
def _(rng):
    """Each of the b sentences has n tokens."""
    for _ in range(3):
        yield Question((rng.randint(3, 9), rng.randint(12, 30)))


# The domain of the arguments: every student is asked each value and each pair; a range stands for one of its numbers.
@exercise.corners("several sentences", b=(1, 2, range(65, 80)), n=(0, 1, range(101, 110), range(1001, 1010)))
def _(rng, b, n):
    return Question((b, n))


# A known mistake: a small wrong answer, recognised by its results, and the hint that it deserves.
@exercise.mistake("the sum")
def _(b, n):
    """Two sentences of five tokens are ten tokens, not seven."""
    return b + n


@exercise.mistake("the sentences are counted")
def _(b, n):
    """That is how many sentences there are. Each of them has n tokens."""
    return b


@exercise.mistake("the tokens of one sentence")
def _(b, n):
    """That is one sentence. There are b of them."""
    return n
'''

HINTS = """## Hint 1

A question that leads there: how many tokens are in one sentence, and how many in two of the same length?

## Hint 2

The idea, with a small example: with $b = 2$ and $n = 3$ there are three tokens in sentence 0, and three in sentence 1.

## Hint 3

The shape of each step, never the answer: one line is enough, with `return` and one operation on the two numbers.
"""

BANK = """# %% right: a product
def NAME(b, n):
    return b * n


# %% right: counted sentence by sentence
def NAME(b, n):
    tokens = 0
    for _ in range(b):
        tokens += n
    return tokens


# %% right: the length of a list
def NAME(b, n):
    return len([(sentence, token) for sentence in range(b) for token in range(n)])


# %% wrong: added -> the sum
def NAME(b, n):
    return b + n


# %% wrong: the first number -> the sentences are counted
def NAME(b, n):
    return b


# %% wrong: the second number -> the tokens of one sentence
def NAME(b, n):
    return n


# %% wrong: one too few ->
def NAME(b, n):
    return b * n - 1


# %% wrong: a square ->
def NAME(b, n):
    return n * n
"""

CELLS = '''# %% exercise="NAME"
def NAME(b: int, n: int) -> int:
    """Returns how many tokens a batch of b sentences of n tokens has."""
    ### BEGIN SOLUTION
    return b * n
    ### END SOLUTION
'''

TODO = """{files}

Now three changes in {source}:
1. a row in the table at its head, and 1 more in the table's total:

# | `{name}` | how many tokens | 1 |

2. a cell, where students should meet the exercise (the check cell is added):

{cells}
3. the text around them.

Then build and prove it:

.venv/bin/python -m grading build {number}
.venv/bin/python -m pytest tests/definitions/test_bank.py tests/tutor/test_hints.py --all -k {name}
"""


def command(options: argparse.Namespace) -> int:
    """Runs `python -m grading new` and returns its exit status.

    Raises:
        BuildError: when there is no such notebook, or the exercise cannot have this name; nothing is written then.
    """
    notebook, name = options.notebook, options.name
    source = ROOT / "solutions" / f"{notebook}.py"
    if not source.is_file():
        known = ", ".join(path.stem for path in sorted(source.parent.glob("[0-9][0-9]_*.py")))
        raise BuildError(f"no notebook is called {notebook!r}; expected one of: {known}.")
    if not (name.isidentifier() and name.isascii() and name[0].isalpha()) or keyword.iskeyword(name):
        raise BuildError(f"no function can be called {name!r}; expected letters, digits and underscores.")
    if taken := [other for other in catalogue.notebooks() if name in catalogue.names(other)]:
        raise BuildError(f"{taken[0]} has an exercise {name!r} already; a name is unique in the whole course.")
    folder = catalogue.FOLDER / notebook
    written = {
        folder / f"{name}.py": DEFINITION,
        folder / f"{name}.hints.md": HINTS,
        ROOT / "tests" / "bank" / notebook / f"{name}.py": BANK,
    }
    if not (folder / "__init__.py").exists():
        written[folder / "__init__.py"] = '"""Exercises of notebook NN."""\n'
    for path, text in written.items():
        write_whole(path, _filled(text, notebook, name))
    print(
        TODO.format(
            files="\n".join(f"wrote {path.relative_to(ROOT)}" for path in written),
            source=source.relative_to(ROOT),
            cells=_filled(CELLS, notebook, name),
            number=notebook[:2],
            name=name,
        ),
        end="",
    )
    return 0


def _filled(text: str, notebook: str, name: str) -> str:
    return text.replace("NAME", name).replace("NN", notebook[:2])
