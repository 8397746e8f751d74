"""The device that pairs are judged on, as plain values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    """Where pairs are judged.

    ``torch_name`` is what runners call it: they see this device alone.
    """

    name: str
    """``NVIDIA H200``, or the processor's model."""
    uuid: str
    torch_name: str
    capability: str | None = None
    """``9.0``; None on a CPU."""
    driver: str = ""
    index: int = 0
    """As the driver counts: by PCI bus."""

    visible: str = ""
    """What makes it visible to CUDA, if its index does not: the UUID of a part of a GPU (MIG)."""

    @property
    def is_gpu(self) -> bool:
        """Whether it is a CUDA device."""
        return self.capability is not None

    @property
    def environment(self) -> dict[str, str]:
        """What makes this device, and no other, visible to a process."""
        if not self.is_gpu:
            return {"CUDA_VISIBLE_DEVICES": ""}
        visible = self.visible or str(self.index)
        return {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": visible}
