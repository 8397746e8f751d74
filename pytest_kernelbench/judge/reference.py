"""The problem's own program at one size.

Inputs from seeds, expected outputs in its dtype and in float64.
"""

from __future__ import annotations

import copy
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from pytest_kernelbench.errors import ProblemError
from pytest_kernelbench.judge import families
from pytest_kernelbench.judge.inside import forms
from pytest_kernelbench.judge.inside.casting import cast_module, cast_tensor
from pytest_kernelbench.judge.inside.loading import pin_precision
from pytest_kernelbench.judge.inside.seeding import seed_everything
from pytest_kernelbench.judge.operators import OperatorLog
from pytest_kernelbench.judge.program import Program, load_program, map_tensors, sizes
from pytest_kernelbench.settings import DTYPES

if TYPE_CHECKING:
    from pytest_kernelbench.judge.questions import Prepare


class Reference:
    """A problem loaded as ``order`` says. Raises ``ProblemError`` where its own file fails."""

    def __init__(self, order: Prepare) -> None:
        path = Path(order.path)
        declared = dict(sizes(load_program(path)))
        if order.size not in declared and order.size != "smoke":
            names = ", ".join(declared)
            raise ProblemError(f"{path} has no size called {order.size}; it has: {names}")
        # A foreign problem file declares no small size: it is judged as it is.
        self.overrides = declared.get(order.size, {})
        self.program: Program = load_program(path, self.overrides)
        self.device = torch.device(order.device)
        self.dtype: torch.dtype = getattr(torch, DTYPES[order.dtype])
        self.seed = order.seed
        self.tf32 = order.tf32
        pin_precision(tf32=order.tf32)
        cast = None if order.dtype == "fp32" else self.dtype
        self._cast = cast
        self.model = self.program.make_model(order.seed, self.device, cast)
        self._wide: torch.nn.Module | None = None
        self.no_double = ""

    def init_inputs(self) -> list[Any]:
        """The constructor's arguments, on the CPU."""
        made = self.program.make_init_inputs(self.seed, self.device)
        return [map_tensors(value, lambda tensor: tensor.cpu()) for value in made]

    def state(self) -> dict[str, torch.Tensor]:
        """The model's parameters and buffers by name."""
        state = self.model.state_dict()
        return {name: value for name, value in state.items() if isinstance(value, torch.Tensor)}

    def inputs(self, seed: int, family: str) -> list[Any]:
        """The arguments of ``forward`` that ``seed`` draws."""
        arguments = self.program.make_inputs(seed, self.device, self._cast)
        return families.transformed(arguments, family, self.program.FAMILIES)

    def forward(self, arguments: list[Any], rng: int | None) -> tuple[str, list[torch.Tensor]]:
        """``(structure, tensors)`` of one forward without gradients."""
        return self._called(self.model, arguments, rng)

    def _called(
        self, model: torch.nn.Module, arguments: list[Any], rng: int | None
    ) -> tuple[str, list[torch.Tensor]]:
        pin_precision(tf32=self.tf32)
        if rng is not None:
            torch.manual_seed(rng)
        try:
            with torch.no_grad():
                structure, tensors = forms.flatten(model(*arguments))
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            path = self.program.path
            raise ProblemError(
                f"{path}: forward() raised {type(error).__name__}: {error}"
            ) from error
        return structure, [forms.plain(tensor) for tensor in tensors]

    def exact(self, arguments: list[Any], without: str = "") -> list[torch.Tensor] | None:
        """The outputs in float64, of a model that draws no random numbers.

        The parameter ``without`` is zero in it. None where it does not run in float64
        (``no_double`` says why then), or memory does not suffice. ``arguments`` may be altered.
        """
        if self.no_double:
            return None
        usual = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)  # what forward() makes anew is float64, too
        try:
            wide = [map_tensors(value, _double) for value in arguments]
            return self._called(self._in_double(without), wide, None)[1]
        except torch.OutOfMemoryError:
            return None
        except Exception as error:  # noqa: BLE001 - nor does each model let itself be copied
            self.no_double = str(error)
            return None
        finally:
            torch.set_default_dtype(usual)

    def _in_double(self, without: str) -> torch.nn.Module:
        if self._wide is None:
            self._wide = cast_module(copy.deepcopy(self.model), torch.float64)
            for module in self._wide.modules():  # and tensors that are no buffers
                vars(module).update(
                    (name, _double(value))
                    for name, value in vars(module).items()
                    if isinstance(value, torch.Tensor)
                )
        if not without:
            return self._wide
        model = copy.deepcopy(self._wide)
        with torch.no_grad():
            model.get_parameter(without).zero_()
        return model

    def draws_random(self, arguments: list[Any]) -> bool:
        """Whether ``forward`` draws random numbers (dropout, noise)."""
        before = self._generator_state()
        self.forward(arguments, None)
        return not torch.equal(before, self._generator_state())

    def _generator_state(self) -> torch.Tensor:
        if self.device.type == "cuda":
            return torch.cuda.get_rng_state(self.device)
        return torch.get_rng_state()

    def mutates(self, arguments: list[Any], rng: int | None) -> bool:
        """Whether ``forward`` changes its own inputs."""
        _, before = forms.flatten(arguments)
        copies = [tensor.clone() for tensor in before]
        self.forward(arguments, rng)
        return not all(torch.equal(a, b) for a, b in zip(before, copies, strict=True))

    def forward_us(self, arguments: list[Any], rng: int | None) -> float:
        """About how long one forward takes, by the wall clock of a few calls: to plan with."""
        times = []
        for _ in range(3):
            self._synchronize()
            start = time.perf_counter()
            self.forward(arguments, rng)
            self._synchronize()
            times.append(time.perf_counter() - start)
            if times[-1] > 1.0:
                break
        return min(times) * 1e6

    def _synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def operators(self, arguments: list[Any], rng: int | None) -> OperatorLog:
        """What one forward runs, with its floating-point operations by torch's own formulas."""
        log = OperatorLog()
        with log:
            self.forward(arguments, rng)
        return log

    def restore(self) -> None:
        """Construct the model anew: forwards of the planning phase may have moved its buffers."""
        seed_everything(self.seed)
        self.model = self.program.make_model(self.seed, self.device, self._cast)
        self._wide = None


def _double(tensor: torch.Tensor) -> torch.Tensor:
    return cast_tensor(tensor, torch.float64)


def finite(tensors: list[torch.Tensor]) -> bool:
    """Whether no float among ``tensors`` is NaN or infinite."""
    return all(
        bool(tensor.isfinite().all())
        for tensor in tensors
        if tensor.is_floating_point() or tensor.is_complex()
    )
