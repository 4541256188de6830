"""A model's linear layers on oneDNN, which torch ships for compiled models.

torch's own float32 product is MKL's, which leaves AVX-512 unused on other vendors' CPUs: there
oneDNN is twice as fast, and elsewhere no slower. Values differ in the last bits only.
"""

import platform
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch.nn import Module

_SAME = 1e-4  # what a vector of length 1 may differ by before the layers are put back


def use(model: "Module", probe: Callable[[], Any]) -> bool:
    """Exchange the float32 linear layers of a model on the CPU; whether that was done.

    `probe`: some output of the model. Layers that cannot be exchanged without moving it, because
    the model's code reads their weights, stay as they are.
    """
    if not _available():
        return False
    layers = list(_linear(model))
    before = np.asarray(probe(), dtype=np.float64)
    for parent, name, layer in layers:
        setattr(parent, name, _packed(layer))
    try:
        moved = np.abs(np.asarray(probe(), dtype=np.float64) - before).max()
    except (RuntimeError, AttributeError, TypeError, NotImplementedError):
        moved = np.inf
    if moved <= _SAME * max(1.0, float(np.linalg.norm(before))):
        return bool(layers)
    for parent, name, layer in layers:
        setattr(parent, name, layer)
    return False


def _available() -> bool:
    import torch

    return (
        platform.machine() in ("x86_64", "AMD64")
        and torch.backends.mkldnn.is_available()
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    )


def _linear(module: "Module") -> Iterator[tuple["Module", str, Any]]:
    import torch

    for name, child in module.named_children():
        if type(child) is torch.nn.Linear and child.weight.dtype == torch.float32:
            yield module, name, child
        else:
            yield from _linear(child)


def _packed(layer: Any) -> "Module":
    import torch

    class OneDnnLinear(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            weight = layer.weight.detach()
            self.packed = torch.ops.mkldnn._reorder_linear_weight(weight, None)
            self.bias = layer.bias
            self.weight = weight.to("meta")  # its type and shape, which some models look at

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
                x, self.packed, self.bias, "none", [], ""
            )
            return found

    return OneDnnLinear()
