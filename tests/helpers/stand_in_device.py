"""A device for tests on machines without a GPU: it computes on the processor and refuses to mix with its tensors.

    COURSE_DEVICE=standin python -m ...    # a program that calls `stand_in_device.install()` first

PyTorch then has a device `standin`, made by `_setup_privateuseone_for_python_backend` (experimental: see PyTorch's
test/test_privateuseone_python_backend.py), which stays for the rest of the process. A tensor on it keeps an ordinary
tensor and hands each operation to it. As on a GPU, and sometimes more strictly, these raise:

- an operation on tensors of both devices, also an index or a mask on the processor; only copies take both, and only
  element-wise operations take a number of the processor (a tensor without axes);
- `.numpy()` and all that needs it, such as matplotlib;
- a generator of the processor for random numbers on the device.

The device has random numbers of its own, seeded by `torch.manual_seed`. What it cannot show: a generator of its own
(PyTorch makes none for a device written in Python), memory, speed, other rounding, autocast, torch.compile and
streams.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "standin"
COPIES = {"aten::copy_", "aten::_to_copy", "aten::_copy_from", "aten::_copy_from_and_resize"}


class StandInTensor(Tensor):
    """A tensor that says it is on the stand-in device; its numbers are those of `kept`, on the processor."""

    kept: Tensor

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, kept: Tensor) -> StandInTensor:
        """Returns a tensor of the same size, strides and type as `kept`, without a history."""
        made: StandInTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            kept.size(),
            strides=kept.stride(),
            storage_offset=kept.storage_offset(),
            dtype=kept.dtype,
            device=torch.device(NAME, 0),
        )
        made.kept = kept
        return made

    @classmethod
    def __torch_dispatch__(cls, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        """Computes an operation of which at least one argument is on the stand-in device."""
        return compute(operation, args, kwargs or {})

    def tolist(self) -> Any:
        """Returns the numbers as lists; PyTorch's own method knows no tensors of a Python class."""
        return self.kept.tolist()

    def __repr__(self) -> str:  # type: ignore[override]
        """Writes the tensor as one on a GPU is written."""
        return f"{repr(self.kept)[:-1]}, device='{self.device}'{', requires_grad=True' * self.requires_grad})"

    def numpy(self, *, force: bool = False) -> Any:
        """Refuses as PyTorch does for a tensor on a GPU, unless `force`."""
        if force:
            return self.detach().cpu().numpy()
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    def __format__(self, spec: str) -> str:
        """Writes a number as a number is written."""
        return format(self.item(), spec) if self.dim() == 0 else object.__format__(self, spec)

    def _set_data(self, other: Tensor) -> None:
        torch.Tensor.data.__set__(self, other)  # type: ignore[attr-defined]  # refuses what does not fit
        self.kept = other.kept  # type: ignore[attr-defined]

    def _follow(self) -> None:
        """Takes over the sizes and strides of `kept`, which an operation has changed in place."""
        include, exclude = torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()
        autograd = torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradPrivateUse1)
        with torch._C._ForceDispatchKeyGuard(include, exclude - autograd):  # so that autograd's `set_data` takes it
            torch.Tensor.data.__set__(self, StandInTensor(self.kept))  # type: ignore[attr-defined]

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Is saved as PyTorch saves tensors of devices that have no storage."""
        return (
            torch._utils._rebuild_device_tensor_from_cpu_tensor,
            (self.detach().cpu(), self.dtype, str(self.device), self.requires_grad),
        )

    data = property(lambda self: self.detach(), _set_data)


class Random:
    """The random numbers of the device, apart from those of the processor; PyTorch asks it as it asks `torch.cuda`."""

    def __init__(self) -> None:
        self.state = torch.Generator().manual_seed(0).get_state()

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return True

    def current_device(self) -> int:
        return 0

    def device_count(self) -> int:
        return 1

    def device(self, index: Any) -> AbstractContextManager[None]:
        return nullcontext()

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        self.state = torch.Generator().manual_seed(seed).get_state()

    def get_rng_state(self, device: Any = NAME) -> Tensor:
        return self.state.clone()

    def set_rng_state(self, state: Tensor, device: Any = NAME) -> None:
        self.state = state.clone()


RANDOM = Random()


def compute(operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Returns the result of an operation, on the device where it belongs.

    Raises:
        RuntimeError: the tensors are on two devices, or the generator is on the other one.
    """
    given: list[Tensor] = []

    def take(tensor: Tensor) -> Tensor:
        given.append(tensor)
        return tensor.kept if isinstance(tensor, StandInTensor) else tensor

    plain_args, plain_kwargs = _map(args, take), {name: _map(value, take) for name, value in kwargs.items()}
    ours = [tensor for tensor in given if isinstance(tensor, StandInTensor)]
    _refuse_to_mix(operation, given)
    here = bool(ours)
    if kwargs.get("device") is not None:
        here = torch.device(kwargs["device"]).type == NAME
        plain_kwargs["device"] = torch.device("cpu")
    if here and kwargs.get("generator") is not None:
        raise RuntimeError(f"Expected a '{NAME}' device type for generator but found '{kwargs['generator'].device}'")

    result = _on_processor(operation, plain_args, plain_kwargs)

    for tensor in ours if operation._schema.is_mutable else ():
        if tensor.size() != tensor.kept.size() or tensor.stride() != tensor.kept.stride():  # `resize_`, `t_`, `out=`
            tensor._follow()
    same = {id(getattr(tensor, "kept", tensor)): tensor for tensor in given}  # changed in place, or copied into
    return _map(result, lambda t: same[id(t)] if id(t) in same else StandInTensor(t) if here else t)


def _map(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Returns an argument or a result of an operation with all its tensors changed."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_map(part, change) for part in value)
    return value


def _refuse_to_mix(operation: Any, given: list[Tensor]) -> None:
    numbers_may_mix = torch.Tag.pointwise in operation.tags
    strangers = [t for t in given if not isinstance(t, StandInTensor) and not (numbers_may_mix and t.dim() == 0)]
    if strangers and any(isinstance(t, StandInTensor) for t in given) and operation._schema.name not in COPIES:
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{NAME}:0 and {strangers[0].device}! ({operation})"
        )


def _on_processor(operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if operation is torch.ops.aten._copy_from.default:  # how a copy between devices begins; the processor has none
        return args[1].copy_(args[0])
    if torch.Tag.nondeterministic_seeded not in operation.tags:
        return operation(*args, **kwargs)
    before = torch.get_rng_state()
    torch.set_rng_state(RANDOM.state)
    try:
        return operation(*args, **kwargs)
    finally:
        RANDOM.state = torch.get_rng_state()
        torch.set_rng_state(before)


def _load(file: Any, map_location: Any = None, *, plain: Any = torch.load, **options: Any) -> Any:
    """Does what `torch.load` does. By itself it wants storages to move, and this device has none."""
    if not isinstance(map_location, str | torch.device):
        return plain(file, map_location, **options)
    return tree_map_only(Tensor, lambda tensor: tensor.to(map_location), plain(file, "cpu", **options))


KEPT_ALIVE: list[Any] = []  # what is registered with PyTorch lives as long as these objects


def install() -> torch.device:
    """Makes the device known to PyTorch, for this process, and returns it."""
    if not KEPT_ALIVE:
        _setup_privateuseone_for_python_backend(NAME, backend_module=RANDOM)
        library = torch.library.Library("_", "IMPL")
        library.fallback(lambda operation, *args, **kwargs: compute(operation, args, kwargs), "PrivateUse1")
        aten = torch.library.Library("aten", "IMPL")  # `torch.tensor(..., device=...)` asks for this one by its name
        aten.impl("_copy_from", lambda *args: compute(torch.ops.aten._copy_from.default, args, {}), "PrivateUse1")
        KEPT_ALIVE.extend([library, aten])
        # A module's parameters stay the same objects when it moves to a GPU; to this device they do by swapping only.
        torch.__future__.set_swap_module_params_on_conversion(True)
        torch.load = _load  # type: ignore[assignment]
    return torch.device(NAME)
