"""A runner: constructs one model and calls it as the referee says.

The contender and the baseline are both this.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from pytest_kernelbench.judge import wire
from pytest_kernelbench.judge.inside import forms, loading
from pytest_kernelbench.judge.inside.memory import Sheet, dtype
from pytest_kernelbench.sandbox.channel import Channel, Closed

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

_empty = torch.empty
_manual_seed = torch.manual_seed
_no_grad = torch.no_grad


def main(sock: socket.socket) -> None:
    """Answer the referee until it closes the channel."""
    channel: Channel[Any] = Channel(sock, wire.ToRunner, limit_bytes=64 << 20)
    Runner(channel).serve()


class Runner:
    """Holds the model, and the outputs of the last call until they have been read."""

    def __init__(self, channel: Channel[Any]) -> None:
        self.channel = channel
        self.order: wire.Construct | None = None
        self.model: Any = None
        self.called: Any = None
        """The model, or what a baseline made of it."""
        self.inputs: Any = None
        self.outputs: list[torch.Tensor] = []
        self.nulls: list[torch.Tensor] = []
        self.device: Any = None

    def serve(self) -> None:
        """One answer for each message."""
        answers: dict[type, Callable[[Any, tuple[int, ...]], wire.Message]] = {
            wire.Construct: self.construct,
            wire.Adopt: self.adopt,
            wire.Outline: self.outline,
            wire.Call: self.call,
            wire.Profile: self.profile,
            wire.Release: self.release,
        }
        while True:
            try:
                message, fds = self.channel.receive()
            except Closed:
                return
            handler = answers.get(type(message)) or self._on_device().handler(message)
            try:
                answer = handler(message, fds)
            except loading.Stop as stop:
                answer = stop.failed
            self.channel.send(answer)

    def _on_device(self) -> Any:
        if self.device is None:
            from pytest_kernelbench.judge.inside.batches import DeviceRunner

            self.device = DeviceRunner(self)
        return self.device

    def construct(self, order: wire.Construct, _: tuple[int, ...]) -> wire.Ready:
        """Import and construct; the state that the model has is told by name, type and shape."""
        torch.set_num_threads(order.threads)
        loading.pin_precision(tf32=order.tf32)
        if order.extension:
            from pytest_kernelbench.build import replay

            replay.install(Path(order.extension))
        self.order = order
        self.model = loading.construct(order)
        self.called = loading.prepared(self.model, order)
        state = self._state()
        named = tuple(
            wire.Named(name, str(value.dtype).removeprefix("torch."), tuple(value.shape))
            for name, value in state.items()
        )
        return wire.Ready(named)

    def _state(self) -> dict[str, torch.Tensor]:
        if not isinstance(self.model, torch.nn.Module):
            return {}
        return {
            name: value
            for name, value in self.model.state_dict(keep_vars=True).items()
            if isinstance(value, torch.Tensor)
        }

    def adopt(self, order: wire.Adopt, fds: tuple[int, ...]) -> wire.Adopted:
        """Copy the reference's state where names and shapes match and values differ."""
        sheet = Sheet(fds[0], order.size_bytes)
        os.close(fds[0])
        theirs = dict(zip(order.names, sheet.tensors(order.spans), strict=True))
        ours = self._state()
        fitting = {n: v for n, v in theirs.items() if n in ours and ours[n].shape == v.shape}
        copied = []
        if ours.keys() == theirs.keys() == fitting.keys():
            with _no_grad():
                for name, value in fitting.items():
                    mine = ours[name]
                    there = value.to(mine.device, mine.dtype)
                    if not torch.equal(mine, there):
                        mine.copy_(there)
                        copied.append(name)
        return wire.Adopted(tuple(copied))

    def outline(self, order: wire.Outline, _: tuple[int, ...]) -> wire.Done:
        """Prepare the memory that null calls return.

        Written once, so that its pages are there, as those of an output are.
        """
        if self.device is not None:
            self.device.outline(order)
            return wire.Done()
        self.nulls = [_empty(span.shape, dtype=dtype(span.dtype)).fill_(1) for span in order.leaves]
        return wire.Done()

    def call(self, order: wire.Call, fds: tuple[int, ...]) -> wire.Returned:
        """One forward on inputs in shared memory; see ``wire.Call``."""
        sheet = Sheet(fds[0], order.size_bytes)
        os.close(fds[0])
        arguments = forms.fill(order.pickled_layout, sheet.tensors(order.spans))
        self.inputs, self.outputs = (sheet, arguments), []  # the referee reads both after the call
        if order.null:
            self.outputs = self.nulls
            structure = "null"
        else:
            structure, self.outputs = self.forward(arguments, order.rng)
        return wire.Returned(structure, tuple(map(forms.leaf, self.outputs)), sheet.address)

    def release(self, order: wire.Release, fds: tuple[int, ...]) -> wire.Done:
        """Leave memory to others: inputs and outputs are forgotten, the model stays."""
        self.inputs, self.outputs = None, []
        if self.device is not None:
            self.device.release(order, fds)
        return wire.Done()

    def profile(self, order: wire.Profile, fds: tuple[int, ...]) -> wire.Profiled:
        """Find out what one forward runs; see ``wire.Profile``."""
        from pytest_kernelbench.judge.inside import profile

        if not fds:
            self.inputs, self.outputs = None, []
            arguments = profile.device_arguments(self._on_device())
            return profile.on_device(lambda: self.forward(arguments, order.rng))
        sheet = Sheet(fds[0], order.size_bytes)
        os.close(fds[0])
        arguments = forms.fill(order.pickled_layout, sheet.tensors(order.spans))
        self.inputs, self.outputs = (sheet, arguments), []
        return profile.on_host(lambda: self.forward(arguments, order.rng))

    def forward(self, arguments: list[Any], rng: int | None) -> tuple[str, list[torch.Tensor]]:
        """``model(*arguments)`` without gradients; raises ``Stop`` with the file's traceback."""
        assert self.order is not None
        loading.pin_precision(tf32=self.order.tf32)
        if rng is not None:
            _manual_seed(rng)
        try:
            with _no_grad():
                result = self.called(*arguments)
            structure, tensors = forms.flatten(result)
            return structure, [forms.plain(tensor) for tensor in tensors]
        except BaseException as error:  # noqa: BLE001 - it is told
            raise loading.Stop(loading.failure("forward", error, self.order.source)) from None
