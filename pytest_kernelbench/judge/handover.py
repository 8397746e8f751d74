"""What a problem's file returned, as runners are given it: pickled, and the tensors apart."""

from __future__ import annotations

import io
import pickle
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from pytest_kernelbench.errors import ProblemError
from pytest_kernelbench.judge.inside.forms import Filling
from pytest_kernelbench.judge.program import OWN_MODULES, map_tensors
from pytest_kernelbench.judge.spans import contiguous_spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_kernelbench.judge.wire import Span

_CHANGING = (
    "what get_inputs() returns beside tensors, or how many there are, changes from one draw to the "
    "next, and runners are told once. Return the same plain values each time, or tensors of one "
    "element in their place"
)
_ADVICE = "Return tensors, plain values, tuples, lists and dicts, or instances of installed classes"


def laid_out(arguments: list[Any]) -> tuple[bytes, list[torch.Tensor]]:
    """The arguments of ``forward`` for ``forms.fill``; and their tensors, contiguous.

    Raises ``ProblemError`` where a runner could not read them.
    """
    file, seen = io.BytesIO(), list[torch.Tensor]()
    with _told("get_inputs()"):
        _Apart(file, seen).dump(arguments)
        _Elsewhere(file.getvalue(), seen).load()
    if len(seen) != _reached(arguments):
        raise ProblemError(
            "get_inputs() returns a tensor inside of an object, where the judge cannot vary it. "
            f"{_ADVICE} without any."
        )
    return file.getvalue(), [tensor.detach().contiguous() for tensor in seen]


@dataclass(frozen=True)
class Form:
    """What runners are told of a problem's inputs, once for all draws."""

    layout: bytes
    spans: tuple[Span, ...]

    @classmethod
    def of(cls, arguments: list[Any]) -> Form:
        """That of one draw."""
        layout, tensors = laid_out(arguments)
        return cls(layout, contiguous_spans(tensors)[0])

    def require(self, arguments: list[Any]) -> None:
        """Raise ``ProblemError`` where another draw has another form."""
        drawn = Form.of(arguments)
        if drawn.layout != self.layout:
            raise ProblemError(_CHANGING)
        for index, (now, before) in enumerate(zip(drawn.spans, self.spans, strict=True)):
            if now != before:
                raise ProblemError(
                    f"tensor {index} of what get_inputs() returns is {_words(now)} in one draw and "
                    f"{_words(before)} in another, and memory is set up once. Make sizes constants "
                    "of the file, the same for each draw; SHAPES declares others to be judged at"
                )


def _words(span: Span) -> str:
    return f"{span.dtype} {list(span.shape)}"


def _reached(arguments: list[Any]) -> int:
    """How many tensors are where ``map_tensors`` finds them."""
    found = list[torch.Tensor]()

    def count(tensor: torch.Tensor) -> torch.Tensor:
        found.append(tensor)
        return tensor

    map_tensors(arguments, count)
    return len(found)


def pickled(init_inputs: list[Any]) -> bytes:
    """The constructor's arguments. Raises ``ProblemError`` where a runner could not read them."""
    with _told("get_init_inputs()"):
        data = pickle.dumps(init_inputs)
        _Elsewhere(data, []).load()
    return data


@contextmanager
def _told(function: str) -> Iterator[None]:
    """Say of which function what cannot be handed over is."""
    try:
        yield
    except _OwnError as own:
        why = f"{own}, which the file itself defines: no solution has it"
    except Exception as error:  # noqa: BLE001 - whatever its classes do
        why = f"what no other process can have: {type(error).__name__}: {error}"
    else:
        return
    raise ProblemError(f"{function} returns {why}. {_ADVICE}.")


class _Apart(pickle.Pickler):
    """Writes a number in the place of each tensor."""

    def __init__(self, file: io.BytesIO, tensors: list[torch.Tensor]) -> None:
        super().__init__(file)
        self._tensors = tensors

    def persistent_id(self, value: Any) -> int | None:
        if not isinstance(value, torch.Tensor):
            return None
        self._tensors.append(value)
        return len(self._tensors) - 1


class _OwnError(Exception):
    """A class or function of a problem's file; the message is its name."""


class _Elsewhere(Filling):
    """Reads as a process does that has not loaded any problem's file."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith(OWN_MODULES):
            raise _OwnError(name)
        return super().find_class(module, name)
