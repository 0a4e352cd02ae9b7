"""Finds a published model and gives its numbers to one of the course's, all of them or none."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from helpers.embedded import embedded
from helpers.weights.fetching import REAL, folder_of, problem
from helpers.weights.files import Published, free_memory, read, refuse_unreadable
from helpers.weights.kinds import Model, build
from helpers.weights.names import BY_ROWS, Made, Names, unchanged

ROWS = 2**12  # made at a time
TINY = ("tiny_bert", "tiny_gpt2", "tiny_llama", "tiny_llama_gguf")  # of data/, made by data/make_tiny_weights.py


def find(name: str | Path) -> Path:
    """Returns where a model lies: one of the course, one that was fetched, or a file or folder by its path.

    Raises:
        FileNotFoundError: it is not there; the message says how to get it.
    """
    if name in TINY:
        return embedded(str(name))
    if name in REAL:
        folder = folder_of(str(name))
        if not all((folder / part.name).is_file() for part in REAL[str(name)].parts):
            raise FileNotFoundError(f"{name} is not here yet: run `python -m helpers.weights fetch {name}` once")
        return folder
    if not Path(name).exists():
        names = ", ".join([*TINY, *REAL])
        raise FileNotFoundError(
            f"there is no file or folder {name}, and no model of this name: there are {names}. To bring one from "
            "a hub, put its config.json and .safetensors files, or one .gguf file, into a folder, and load that folder"
        )
    return Path(name)


def _whole(name: str | Path) -> Path:
    """Returns where a model lies, as `find` does, and refuses a real one that is damaged."""
    place = find(name)
    if name in REAL and " is damaged: " in (why := problem(str(name))):
        raise ValueError(why)
    return place


def is_here(name: str) -> bool:
    """Returns whether `load(name)` finds its files."""
    try:
        return find(name).exists()
    except FileNotFoundError:
        return False


def load(name: str | Path, dtype: torch.dtype | None = torch.float32, *, base_only: bool = False) -> Model:
    """Returns a published model as one of the course's, in evaluation mode.

    BERT and its relatives become a TransformerBase, or a MaskedLanguageModel where the file has that head (its text is
    read as BERT's first type; a second text is not). GPT-2 becomes a LanguageModel, Llama, Mistral and Qwen2 a Llama,
    which takes no more tokens than Mistral sees at once. Heads that share the embedding's weight have a copy of it in
    the first three, which multiply the embedding by sqrt(d). The few published tensors that have no place in a model
    are listed in `helpers.weights.names`, each with the reason; any other stops the load.

    Args:
        name: a name of `find`, or the path of a file or folder.
        dtype: of the numbers in memory, to which all are converted; None keeps what each tensor has in the file (packed
            numbers of GGUF become float32).
        base_only: leave every head out, so that a file with a classifier can be loaded, which is refused otherwise.

    Raises:
        FileNotFoundError: there are no such files.
        ModuleNotFoundError: the package that reads them is missing.
        ValueError: they are damaged, of another layout, or of a model that is not computed here; the message names
            the tensor that is missing, left over or of another shape.
        MemoryError: the model does not fit into the memory that is free.
    """
    published = read(_whole(name))
    with torch.device("meta"):  # shapes without numbers: the file brings them
        model, names, unused = build(published, base_only=base_only)
    copy_into(model, published, names, unused, dtype)
    return model.eval()


def copy_into(
    model: nn.Module,
    published: Published,
    names: Names,
    unused: Iterable[str] = (),
    dtype: torch.dtype | None = torch.float32,
) -> None:
    """Gives a model the numbers of a file, all of them or, when something is wrong, none.

    Args:
        model: any module, which may be on the device "meta". Its parameters are replaced by new ones on the CPU, so
            make the optimizer afterwards.
        names: for each tensor of the model, the published one that it is, or from which it is `Made`; `{layer}` stands
            for each number that gives a tensor of the model.
        unused: published names that need no place, with `{layer}` too.
        dtype: as in `load`.

    Raises:
        ValueError, MemoryError: as `load` does, before the model is touched.
    """
    own = model.state_dict()
    sources = _sources(names, own)
    needed = {name for made in sources.values() for name in made.names}
    _refuse_names(published, own, sources, set(_numbered(unused, len(published.tensors))))
    refuse_unreadable(published, needed)
    for name, made in sources.items():
        _refuse_shape(published, name, made, own[name].shape)
    _refuse_size(published, own.values(), dtype)
    try:
        tensors = {name: _make(published, made, dtype) for name, made in sources.items()}
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or "alloc" in str(error):  # how PyTorch says it
            raise MemoryError(f"{published.path} does not fit into memory: close other kernels") from None
        raise ValueError(f"{published.path} cannot be read: {str(error).splitlines()[0]}") from error
    model.load_state_dict(tensors, assign=True)


def _numbered(names: Iterable[str], count: int) -> list[str]:
    return [name.replace("{layer}", str(layer)) for name in names for layer in range(count if "{layer}" in name else 1)]


def _sources(names: Names, own: Mapping[str, Tensor]) -> dict[str, Made]:
    """Returns from what each tensor is made: the table, written out for every layer that the model has."""
    found = {}
    for pattern, source in names.items():
        made = source if isinstance(source, Made) else Made(unchanged, source)
        ours = {layer: name for layer, name in enumerate(_numbered([pattern], len(own))) if name in own}
        if not ours:
            raise ValueError(f"the table of names has {pattern}, and the model has no such tensor")
        for layer, name in ours.items():
            found[name] = Made(made.change, *(part.replace("{layer}", str(layer)) for part in made.names))
    return found


def _refuse_names(published: Published, own: Mapping[str, Tensor], sources: dict[str, Made], unused: set[str]) -> None:
    """Raises ValueError when a tensor of ours has no source, one is missing in the file, or one is left over."""
    if untold := sorted(set(own) - set(sources)):
        raise ValueError(f"the table of names does not say from what our {untold[0]} is made")
    wanted = {name: ours for ours, made in sources.items() for name in made.names}
    there = set(published.tensors)
    if missing := sorted(set(wanted) - there):
        raise ValueError(
            f"{published.path} lacks {missing[0]}, of which our {wanted[missing[0]]} is made{_more(missing)}: "
            "nothing was loaded"
        )
    if left := sorted(there - set(wanted) - unused):
        raise ValueError(
            f"{published.path} holds {left[0]}, for which the model has no place{_more(left)}: nothing was loaded"
        )


def _more(names: list[str]) -> str:
    return f", and {len(names) - 1} more like it" if len(names) > 1 else ""


def _refuse_shape(published: Published, name: str, made: Made, wanted: torch.Size) -> None:
    """Raises ValueError when published tensors do not give one of our shape; no number is read for that."""
    parts = [torch.empty(published.tensors[part].shape, device="meta") for part in made.names]
    told = " and ".join(f"{part} {_shown(tensor.shape)}" for part, tensor in zip(made.names, parts, strict=True))
    try:
        given = made.change(*parts).shape
    except (RuntimeError, IndexError):  # what PyTorch says of shapes that cannot be split, added or turned
        raise ValueError(
            f"{told} in {published.path} cannot become our {name} {_shown(wanted)}: nothing was loaded"
        ) from None
    if given != wanted:
        into = "" if made.change is unchanged else f" gives {_shown(given)} and"
        raise ValueError(
            f"{told} in {published.path}{into} should become our {name} {_shown(wanted)}: nothing was loaded"
        )


def _shown(shape: torch.Size) -> str:
    axes = list(map(str, shape[:8])) + [f"... {len(shape)} axes"] * (len(shape) > 8)
    return f"({', '.join(axes)}{',' * (len(shape) == 1)})"


def _refuse_size(published: Published, own: Iterable[Tensor], dtype: torch.dtype | None) -> None:
    """Raises MemoryError when the numbers need more memory than is free."""
    counts = [tensor.numel() for tensor in own]
    size = (dtype or torch.float32).itemsize
    needed, free = sum(counts) * size + 8 * max(counts), free_memory()  # one tensor is there as it was published, too
    if free is not None and needed > free:
        raise MemoryError(
            f"{published.path} needs {needed / 1e9:.1f} GB of memory and {free / 1e9:.1f} GB are free: close other "
            "kernels, or load it with dtype=torch.bfloat16"
        )


def _make(published: Published, made: Made, dtype: torch.dtype | None) -> Tensor:
    """Returns one of our tensors, in memory of its own.

    What can be made of a few rows at a time is: an embedding of many languages takes 400 MB, and would be there twice.
    """
    parts = [published.tensors[name].read() for name in made.names]
    shape = made.change(*(torch.empty(part.shape, device="meta") for part in parts)).shape
    own = torch.empty(shape, dtype=dtype or parts[0].dtype, device="cpu")
    blocks = [(own, *parts)]
    if made.change in BY_ROWS:
        blocks = [*zip(*(torch.atleast_1d(part).split(ROWS) for part in (own, *parts)), strict=True)]
    for place, *some in blocks:
        if made.change is not unchanged:  # half precision would round
            some = [part.to(torch.promote_types(part.dtype, torch.float32)) for part in some]
        place.copy_(made.change(*some))
    return own
