"""`python -m grading new 01_causal_mask token_count`: the files of a new exercise, small and complete, to be rewritten.

What it writes is an exercise that passes its own tests at once: rewrite it part by part, and prove it again after each.
"""

from __future__ import annotations

import argparse
import keyword

from grading.authoring.errors import BuildError
from grading.definitions import catalogue
from grading.folder.course import ROOT
from tutor.files import write_whole

DEFINITION = '''"""Exercise NAME of notebook NN."""

import random
from collections.abc import Iterator

import torch
from torch import Tensor

from grading.definitions.definition import Definition
from grading.exercises.draws import seed_from
from tutor.checking.answers import Question

exercise = Definition(minutes=5, difficulty=1)


@exercise.reference
def NAME(x: Tensor) -> Tensor:
    return (x != 0).sum(dim=1)


# A tensor is drawn from a seed, so that a question is the same each time that it is made.
def _batch(b: int, n: int, seed: int) -> Question:
    """Returns a question on b sentences of n places: words from 1 to 9, and padding, 0, at the end of each at least."""
    x = torch.randint(10, (b, n), generator=torch.Generator().manual_seed(seed))
    x[:, -1] = 0  # not left to chance: a stage that looks at padding has some in each question
    return Question((x,))


# A stage has questions that every student's check asks, and others that are drawn for each student when grading.
@exercise.stage("one sentence", points=0.5, public=[_batch(1, 6, 1), _batch(1, 8, 2)])
def _(rng: random.Random) -> Iterator[Question]:
    """One sentence of n places: at how many of them is a word, and no padding?"""
    yield _batch(1, rng.randint(20, 30), seed_from(rng))


@exercise.stage("several sentences", points=0.5, public=[_batch(2, 5, 3), _batch(4, 3, 4)], decisive=True)
def _(rng: random.Random) -> Iterator[Question]:
    """Each of the b sentences is counted by itself: b numbers come back."""
    for _ in range(3):
        yield _batch(rng.randint(3, 9), rng.randint(12, 30), seed_from(rng))


# The domain of the arguments: every student is asked each value and each pair; a range stands for one of its numbers.
@exercise.corners("several sentences", b=(1, 2, range(65, 80)), n=(1, 2, range(101, 110), range(1001, 1010)))
def _(rng: random.Random, b: int, n: int) -> Question:
    return _batch(b, n, seed_from(rng))
'''

HINTS = """## Hint 1

A question that leads there: by which number do you see that there is no word at a place?

## Hint 2

The idea, with a small example: the sentence `[4, 7, 0, 0]` has two words, at the places where `x != 0` is True.

## Hint 3

The shape of each step, never the answer: True and False for each place, `(b, n)`, then one number for each row, `(b,)`.
"""

# The first answer with the name of a mistake is that mistake: it is recognised by its results, and gets the hint.
ANSWERS = """# %% right: compared and added up
def NAME(x):
    return (x != 0).sum(dim=1)


# %% right: counted by PyTorch
def NAME(x):
    return torch.count_nonzero(x, dim=1)


# %% right: counted sentence by sentence
# other: It reads like the definition, sentence by sentence; the solution counts all of them at once, without a loop.
def NAME(x):
    return torch.tensor([sum(token != 0 for token in sentence) for sentence in x.tolist()])


# %% wrong: the width -> padding counts as well
# hint: Where a token is 0, there is no word: `x != 0` says where one is.
def NAME(x):
    return torch.full((x.shape[0],), x.shape[1])


# %% wrong: no dimension -> the whole batch is counted
# hint: Each sentence is a row: `sum(dim=1)` adds what is in each row.
# ~ dim=1 =>

# %% wrong: the other comparison -> the padding is counted
# hint: That is how many places are empty. A word is where `x` is not 0.
# ~ != => ==

# %% wrong: the other dimension ->
# ~ dim=1 => dim=0

# %% wrong: the tokens themselves are added ->
# ~ (x != 0) => x
"""

CELLS = '''# %% exercise="NAME"
def NAME(x: torch.Tensor) -> torch.Tensor:
    """Returns how many words each sentence of a batch has, `(b,)`; in x, `(b, n)`, padding is 0."""
    ### BEGIN SOLUTION
    return (x != 0).sum(dim=1)
    ### END SOLUTION
'''

TODO = """{files}

Now four changes in {source}:
1. a row in the table at its head, where the exercise stands among the others; the total is the sum of all points:

# | `{name}` | how many words | 1 |

2. a cell, where students should meet the exercise (the check cell is added):

{cells}
3. the text around them;
4. the time in the head, if the build says that it is another one now.

Then make what the proof asks, prove it, and build the notebook:

.venv/bin/python -m grading build {number} --examples
.venv/bin/python -m grading prove {name}
.venv/bin/python -m grading build {number} --keep
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
        folder / f"{name}.answers.py": ANSWERS,
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
