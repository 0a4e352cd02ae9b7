"""Files of published weights: what is in them, checked before a number is read.

    published = read("model.safetensors")
    published.tensors["wte.weight"].shape
    published.tensors["wte.weight"].read()

Two layouts are read. *safetensors* (huggingface.co/docs/safetensors): eight bytes of length, a head in JSON with names,
types and shapes, the numbers; the settings of the model stand beside it in `config.json`. A large model comes in
several such files, its shards, and `model.safetensors.index.json` says which tensor is in which. *GGUF* (ggml-org/ggml,
docs/gguf.md): settings, tokenizer, names and shapes, then the numbers, as a rule in a few bits each. Neither holds
code, so neither can run any: a pickle (`.bin`, `.pt`) could, and is refused.
"""

import json
import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

SAFETENSORS_KINDS = {"F64", "F32", "F16", "BF16"}
# What `gguf` unpacks into numbers; the first ones are not packed. Its whole numbers (I8, ...) are no weights.
GGUF_KINDS = {"F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"}
# Other files that people have under these names, by how they begin.
OTHERS = {
    b"PK\x03\x04": "a zip file, perhaps a pickle of PyTorch, which could run code",
    b"\x80": "a pickle, which could run code",
    b"version https://git-lfs": "only a pointer of Git LFS to the real file",
    b"<": "a web page",
}
AGAIN = "fetch it again"
INDEX = "model.safetensors.index.json"  # of a model in shards
GGUF_SIZES = (1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8)  # least bytes of a value of each type of GGUF, by its number
TEXT, LIST = 8, 9  # the types among them of which a value has a length of its own
AT_ONCE = 2**20  # numbers of a GGUF file, or bytes of packed ones, that are unpacked at a time
MOST_VALUES = 2**20  # in a head: the largest tokenizers have some 850,000, and the library takes 16 µs for each
DEEPEST = 4  # lists in lists


@dataclass(frozen=True)
class Stored:
    """A tensor in a file: what is known without reading it, and how to read it."""

    shape: tuple[int, ...]
    kind: str  # how a number is stored, such as "F32", "BF16" or "Q4_1"
    read: Callable[[], Tensor] = field(repr=False)  # in the type of the file; packed numbers become float32


@dataclass(frozen=True)
class Published:
    """All that a file says: settings of the model and its tensors by their published names."""

    path: Path  # of the file with the tensors, or of the index of several
    layout: str  # "safetensors" or "gguf"
    settings: dict[str, Any]  # of config.json, or GGUF's fields, the tokens and merges of the tokenizer among them
    tensors: dict[str, Stored]

    def setting(self, name: str, default: Any = None) -> Any:
        """Returns a setting by its published name.

        Raises:
            ValueError: when the file does not say it and there is no default.
        """
        found = self.settings.get(name)
        if found is None:
            if default is None:
                where = "config.json beside it" if self.layout == "safetensors" else "file"
                raise ValueError(f"{self.path}: the {where} does not say {name}, so the model cannot be built")
            return default
        return found

    def number(self, name: str, default: float | None = None) -> float:
        """Returns a setting that must be a number above 0, as `setting` does."""
        value = self.setting(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise ValueError(f"{self.path}: {name} is {value!r}, expected a number above 0")
        return value

    def whole(self, name: str, default: int | None = None) -> int:
        """Returns a setting that must be a whole number above 0, as `setting` does."""
        value = self.number(name, default)
        if not isinstance(value, int):
            raise ValueError(f"{self.path}: {name} is {value!r}, expected a whole number")
        return value

    def share(self, name: str, default: float) -> float:
        """Returns a setting that must be a number from 0 to 1, as `setting` does."""
        value = self.setting(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ValueError(f"{self.path}: {name} is {value!r}, expected a number from 0 to 1")
        return value


def read(path: str | Path) -> Published:
    """Returns what a file of weights holds, or the only such file of a folder, or its shards; no tensor is read yet.

    Raises:
        FileNotFoundError: there is none, or the `config.json` of a safetensors file or one of the shards is missing.
        ValueError: it is cut short, of another layout, or stores numbers in a way that is not read here.
        ModuleNotFoundError: the package that reads its layout is not installed.
    """
    path = _only_file(Path(path))
    if path.name == INDEX:
        return _read_shards(path)
    with path.open("rb") as file:
        start = file.read(32)
    if start.startswith(b"GGUF"):
        return _read_gguf(path)
    if start[8:9] == b"{" or len(start) <= 8:  # behind the length, whose bytes may be any
        return _read_safetensors(path)
    other = next((told for begin, told in OTHERS.items() if start.startswith(begin)), "of another layout")
    raise ValueError(f"{path} is {other}: only safetensors and GGUF are read")


def _only_file(path: Path) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():  # a named pipe is neither: to open it would wait for ever
        raise FileNotFoundError(f"there is no file or folder {path}")
    found = sorted(file for end in ("safetensors", "gguf") for file in path.glob(f"*.{end}") if file.is_file())
    if len(found) != 1 and (path / INDEX).is_file():
        return path / INDEX
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise FileNotFoundError(f"{path} should hold one file of weights (.safetensors or .gguf), and holds {names}")
    return found[0]


def _needed(package: str, layout: str) -> ModuleType:
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise  # it is there, and what it imports is not
        raise ModuleNotFoundError(
            f"files in {layout} need one package more: run `%pip install {package}`, or `pip install {package}` in a "
            "terminal",
            name=package,
        ) from None


def _read_shards(path: Path) -> Published:
    """Reads the files that an index names, which must lie beside it and hold what it says."""
    places = _read_json(path, "the places of tensors").get("weight_map")
    if not isinstance(places, dict) or not places or not all(isinstance(name, str) for name in places.values()):
        raise ValueError(f"{path} does not say in which file each tensor is: {AGAIN}")
    shards = {}
    for name in sorted(set(places.values())):
        if not re.fullmatch(r"[\w.-]+\.safetensors", name):  # so it is a name, and no path to somewhere else
            raise ValueError(f"{path} names {name!r}, which is no name of a safetensors file")
        if not (path.parent / name).is_file():
            raise FileNotFoundError(f"{path.parent} lacks {name}, which {path.name} names: fetch it, too")
        shards[name] = _read_safetensors(path.parent / name)
    for tensor, name in places.items():
        if tensor not in shards[name].tensors:
            raise ValueError(f"{path.parent / name} lacks {tensor}, which {path.name} says is there: {AGAIN}")
    tensors = {tensor: stored for shard in shards.values() for tensor, stored in shard.tensors.items()}
    return Published(path, "safetensors", next(iter(shards.values())).settings, tensors)


def _read_json(path: Path, what: str) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text("utf-8"))
        if not isinstance(told, dict):
            raise ValueError("expected names with values")
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON with {what} ({error}): {AGAIN}") from None
    return told


def _read_safetensors(path: Path) -> Published:
    library = _needed("safetensors", "safetensors")
    settings = path.with_name("config.json")
    if not settings.is_file():
        raise FileNotFoundError(f"{settings} is missing: it holds the model's settings, and {path.name} does not")
    told = _read_json(settings, "a model's settings")
    try:
        file = library.safe_open(path, framework="pt")
        slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118  (the file itself has no iterator)
    except library.SafetensorError as error:
        raise ValueError(f"{path} is cut short or damaged ({error}): {AGAIN}") from None
    tensors = {
        name: Stored(tuple(part.get_shape()), part.get_dtype(), partial(file.get_tensor, name))
        for name, part in slices.items()
    }
    return Published(path, "safetensors", told, tensors)


class _Head:
    """Walks over the head of a GGUF file, in which each count stands before what it counts: all must fit.

    The library believes a count and makes room for it, or goes on beyond the end of the file.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.size, self.order, self.values = file, size, "<", 0

    def check(self) -> None:
        """Raises ValueError when a count does not fit into the file."""
        self.file.seek(4)
        if not self.number("I") & 0xFFFF:  # the version, a small number: its bytes are the other way round
            self.order = ">"
        tensors, fields = self.number("Q"), self.number("Q")
        self.fits(tensors, 8 + 4 + 4 + 8)  # name, number of axes, type, place
        self.fits(fields, 8 + 4 + 1)  # name, type, value
        self.add(tensors + fields)
        for _ in range(fields):
            self.text()
            self.value(self.number("I"), 0)
        for _ in range(tensors):
            self.text()
            self.skip(self.number("I"), 8)
            self.skip(1, 4 + 8)

    def number(self, kind: str) -> int:
        """Returns a whole number of 4 bytes ("I") or 8 ("Q")."""
        form = self.order + kind
        if len(read := self.file.read(struct.calcsize(form))) < struct.calcsize(form):
            raise ValueError("it ends within its head")
        number: int = struct.unpack(form, read)[0]
        return number

    def fits(self, count: int, size: int) -> None:
        """Raises ValueError when so many things of at least so many bytes cannot stand behind here."""
        if count * size > self.size - self.file.tell():
            raise ValueError(f"its head counts {count:,} entries where {self.size - self.file.tell():,} bytes are left")

    def add(self, values: int) -> None:
        """Raises ValueError when with these the head holds more values than any that is in use."""
        self.values += values
        if self.values > MOST_VALUES:
            raise ValueError(f"its head holds {self.values:,} values, more than any tokenizer needs")

    def skip(self, count: int, size: int) -> None:
        """Goes past so many things of so many bytes."""
        self.fits(count, size)
        self.file.seek(count * size, 1)

    def text(self) -> None:
        """Goes past a text, which begins with its length."""
        self.skip(self.number("Q"), 1)

    def value(self, kind: int, depth: int) -> None:
        """Goes past a value of a type of GGUF."""
        if kind >= len(GGUF_SIZES):
            raise ValueError(f"type {kind} of a value in its head is not known")
        if kind == TEXT:
            self.text()
        elif kind != LIST:
            self.skip(1, GGUF_SIZES[kind])
        else:
            inner, count = self.number("I"), self.number("Q")
            self.add(count)
            if depth == DEEPEST:
                raise ValueError(f"its head holds lists in lists, more than {DEEPEST} deep")
            if inner in (TEXT, LIST):
                self.fits(count, GGUF_SIZES[inner])
                for _ in range(count):
                    self.value(inner, depth + 1)
            elif inner < len(GGUF_SIZES):
                self.skip(count, GGUF_SIZES[inner])
            else:
                raise ValueError(f"type {inner} of the values of a list in its head is not known")


def _read_gguf(path: Path) -> Published:
    library = _needed("gguf", "GGUF")
    try:
        with path.open("rb") as opened:
            _Head(opened, path.stat().st_size).check()
        file = library.GGUFReader(path)
        settings = {name: part.contents() for name, part in file.fields.items()}
    except (ValueError, IndexError, KeyError, OverflowError, RecursionError) as error:  # what damaged bytes lead to
        reason = f"is cut short or damaged ({error}): {AGAIN}"
        if unknown := re.search(r"(\d+)\)? is not a valid GGMLQuantizationType", str(error)):
            known = ", ".join(sorted(GGUF_KINDS))
            reason = f"stores numbers in type {unknown[1]} of GGUF, which is not known here: take a file with {known}"
        raise ValueError(f"{path} {reason}") from None

    def unpacked(part: Any) -> Tensor:
        """Reads and unpacks some rows at a time: the library would hold all of them twice, and the file's pages."""
        rows = np.empty(tuple(reversed(part.shape)), np.float32)  # PyTorch's own would leave holes that it cannot reuse
        behind = part.data.shape[1:]  # what a row is in the file
        at_once = max(1, AT_ONCE // math.prod(behind))
        with path.open("rb") as opened:
            opened.seek(part.data_offset)
            for start in range(0, len(rows), at_once):
                some = rows[start : start + at_once]
                stored = np.fromfile(opened, part.data.dtype, len(some) * math.prod(behind))
                some[:] = library.dequantize(stored.reshape(-1, *behind), part.tensor_type)
        return torch.from_numpy(rows)

    tensors = {
        part.name: Stored(
            tuple(map(int, reversed(part.shape))), part.tensor_type.name, partial(unpacked, part)
        )  # rows come last
        for part in file.tensors
    }
    return Published(path, "gguf", settings, tensors)


def refuse_unreadable(published: Published, names: set[str]) -> None:
    """Raises ValueError when one of these tensors is stored in a way that is not read here."""
    known = SAFETENSORS_KINDS if published.layout == "safetensors" else GGUF_KINDS
    for name in sorted(names):
        if (kind := published.tensors[name].kind) not in known:
            raise ValueError(
                f"{name} in {published.path} is stored as {kind}, which is not read here: take a file with "
                f"{', '.join(sorted(known))}"
            )


def free_memory() -> int | None:
    """Returns how many bytes a process may still take, or None where the system does not say it in a file.

    Linux does; in a container or on a hub, its limit counts too (cgroup v2). What it keeps of files that were read is
    free: it is given up when memory is asked for.
    """
    limits = Path("/sys/fs/cgroup")
    try:
        free = _table(Path("/proc/meminfo"))["MemAvailable:"] * 1024
        if (limits / "memory.max").is_file() and (most := (limits / "memory.max").read_text("ascii").strip()) != "max":
            taken = int((limits / "memory.current").read_text("ascii"))
            free = min(free, int(most) - taken + _table(limits / "memory.stat")["inactive_file"])
    except (OSError, KeyError, ValueError):
        return None  # another system: nobody is stopped on a guess
    return free


def _table(path: Path) -> dict[str, int]:
    return {line.split()[0]: int(line.split()[1]) for line in path.read_text("ascii").splitlines()}
