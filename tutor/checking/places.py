"""Watch where tensors stand: on the device of the inputs, or on the CPU, where a call has made them.

There is one device where a check runs. So the inputs and the weights of models count as standing on another one, what
`torch.zeros(3)` makes stands on the CPU, and what is made of a tensor stands where that does. The rules are those
of PyTorch for a GPU: two devices do not meet, but in copies, in indices, and where one of the tensors is a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

THERE = ""  # where the inputs stand; else the name of what has made a tensor on the CPU
MARK = "_stands"
ON_ONE = "all on the device of the inputs"
MEETS = "`{0}` makes a tensor on the CPU, and inputs stand elsewhere"
READ = "`{0}` stands on the CPU, as what a file held, and the model elsewhere"
RETURNED = "the result is on the CPU, by `{0}`; the inputs stand elsewhere"
COMES_BACK = "`{0}` comes back on the CPU; it came on another device"
NUMPY = "`{0}` of a tensor that does not stand on the CPU"
# Functions that take tensors of two devices, and those that take no number of another device either.
COPIES = {"copy_", "__setitem__", "index_put_", "index_put", "to", "cpu", "type_as", "tensor", "as_tensor", "is_set_to"}
COPIES |= {"__set__", "_has_compatible_shallow_copy_type"}  # what `module.to(device)` does with each parameter
FIRST = {"__getitem__", "copy_", "new_tensor"}  # whose result stands where the first tensor does
STRICT = {"stack", "cat", "concat", "concatenate", "hstack", "vstack", "dstack", "column_stack"}
MOVES = {"to", "cpu", "type_as"}
TO_NUMPY = {"numpy", "__array__"}
SET_DATA = Tensor.data.__set__  # type: ignore[attr-defined]


class Places(TorchFunctionMode):
    """Marks each tensor that PyTorch gives, and notes in `found` the first one that stands where it does not belong.

    `nn.Parameter(tensor)` gives another object unseen. So the memory of what stands on the CPU is known, too; it is
    held, so that no other tensor gets it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.found = ""
        self._memory = dict[int, tuple[torch.UntypedStorage, str]]()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls a function of PyTorch, and says where its results stand."""
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        given = list(_tensors((*args, *kwargs.values())))
        before = [self._place(tensor) for tensor in given]
        if name in TO_NUMPY and THERE in before and not kwargs.get("force"):
            self._note(NUMPY.format(".numpy()"))
        strangers = [place for tensor, place in zip(given, before, strict=True) if place and _must_not(name, tensor)]
        if strangers and THERE in before and not self._is_index(name, args):
            self._note((READ if strangers[0].startswith("input") else MEETS).format(strangers[0]))
        result = function(*args, **kwargs)
        if function == SET_DATA:
            self.stand(args[0], before[1] or THERE)
        stands = _where(function, name, args, kwargs, before)
        if stands is not None:
            if name in MOVES and result is args[0] and stands != before[0]:
                result = result.clone()  # as from one device to another
            known = set(map(id, given))
            for tensor in _tensors((result,)):
                if id(tensor) not in known:
                    self.stand(tensor, stands)
        return result

    def _note(self, problem: str) -> None:
        self.found = self.found or problem

    def stand(self, tensor: Tensor, place: str) -> None:
        """Says where a tensor stands."""
        with suppress(AttributeError, RuntimeError):  # a subclass may allow no attributes
            setattr(tensor, MARK, place)
        if place and tensor.layout == torch.strided:
            storage = tensor.untyped_storage()
            self._memory[storage._cdata] = storage, place

    def _place(self, tensor: Tensor) -> str | None:
        """Returns where a tensor stands; None where nothing is known of it, as of one that was made before."""
        place: str | None = getattr(tensor, "__dict__", {}).get(MARK)
        if place is None and self._memory and tensor.layout == torch.strided:
            return self._memory.get(tensor.untyped_storage()._cdata, (None, None))[1]
        return place

    def arrive(self, values: Iterable[Any]) -> None:
        """Says of all tensors in the inputs of a call, of the weights of models too, that they stand where inputs do.

        A state that is given beside a model, a dict of tensors, stands on the CPU: a file is read there.
        """
        given = list(values)
        for place, value in enumerate(given, 1):
            is_module = isinstance(value, nn.Module)
            held = [*value.parameters(), *value.buffers()] if is_module else _tensors((value,))
            is_read = isinstance(value, dict) and any(isinstance(other, nn.Module) for other in given)
            for tensor in held:
                self.stand(tensor, f"input {place}" if is_read else THERE)

    def left_behind(self, result: Any) -> str:
        """Returns in one sentence what of a result is on the CPU, and is no mere number; "" where nothing is."""
        if isinstance(result, nn.Module):
            named = [*result.named_parameters(), *result.named_buffers()]
            return next((COMES_BACK.format(name) for name, one in named if self._place(one)), "")
        tensors = _tensors((result,))
        return next((RETURNED.format(place) for one in tensors if (place := self._place(one)) and one.dim()), "")

    def _is_index(self, name: str, args: Any) -> bool:
        """Says whether the stranger is an index on the CPU, which a tensor anywhere takes."""
        return name == "__getitem__" and isinstance(args[0], Tensor) and not self._place(args[0])


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """Yields the tensors in lists, tuples, dictionaries and batches."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)
        elif isinstance(value, Mapping):
            yield from _tensors(value.values())
        elif type(value).__module__.startswith("helpers.") and hasattr(value, "__dict__"):
            yield from _tensors(vars(value).values())


def _must_not(name: str, tensor: Tensor) -> bool:
    """Says whether a function takes this tensor only where it stands with the others."""
    return name not in COPIES and (tensor.dim() > 0 or name in STRICT)


def _where(function: Any, name: str, args: Any, kwargs: Mapping[str, Any], before: list[str | None]) -> str | None:
    """Returns where the results of a function stand; None where it is not known."""
    dest = kwargs.get("device", next((a for a in args[1:] if name == "to" and isinstance(a, str | torch.device)), None))
    if name == "cpu" or (isinstance(dest, str) and dest.startswith("cpu")):
        return f".{name}()" if name in MOVES else _called(function)
    if dest is not None:
        return THERE  # of a device that the answer has asked a tensor for
    if name in MOVES and len(before) > 1:
        return before[1]
    if name == "tensor" and not (args and isinstance(args[0], Tensor)):
        return _called(function)  # also of a list of numbers that stand elsewhere
    if name in FIRST and before:
        return before[0]
    if not before:
        return _called(function)
    return THERE if THERE in before else next((place for place in before if place), None)


def _called(function: Callable[..., Any]) -> str:
    module = getattr(function, "__module__", None) or "torch"
    return f"{'torch' if '._' in module else module}.{getattr(function, '__name__', 'tensor')}"
