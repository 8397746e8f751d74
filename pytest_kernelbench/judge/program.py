"""A problem's file, loaded: its model, its inputs, its declared sizes.

Runs the file's code, so only trusted processes (oracle, audit, census) may use it.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pytest_kernelbench.errors import ProblemError
from pytest_kernelbench.judge.inside.casting import cast_module, cast_tensor
from pytest_kernelbench.judge.inside.seeding import seed_everything

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import CodeType, ModuleType

    import torch

OWN_MODULES = "pytest_kernelbench_problem_"
"""How the modules of problems' files are called, from the left."""
ALL_DTYPES = ("fp32", "fp16", "bf16")
ALL_FAMILIES = ("negated", "zero_mean", "large", "small", "mixed")


@dataclass
class Program:
    """One problem at one size. Made by ``load_program``."""

    path: Path
    module: ModuleType
    init_on: str = ""
    """Device type the model was really constructed on (``cpu`` where the file cannot be
    constructed under a device context); empty before the first ``make_model``."""
    inputs_on: str = ""
    """The same for ``get_inputs()``."""

    @property
    def is_native(self) -> bool:
        """Whether the file follows this project's format, not only the KernelBench task format."""
        return hasattr(self.module, "SMOKE")

    @property
    def SMOKE(self) -> dict[str, Any]:  # noqa: N802 - named as in the problem's file
        """Overrides for the small size; empty if the file declares none."""
        return dict(getattr(self.module, "SMOKE", {}))

    @property
    def SHAPES(self) -> tuple[dict[str, Any], ...]:  # noqa: N802 - named as in the problem's file
        """Overrides for further sizes."""
        return tuple(dict(shape) for shape in getattr(self.module, "SHAPES", ()))

    @property
    def DTYPES(self) -> tuple[str, ...]:  # noqa: N802 - named as in the problem's file
        """Those of ``fp32``, ``fp16``, ``bf16`` that give finite, meaningful outputs."""
        return tuple(getattr(self.module, "DTYPES", ALL_DTYPES))

    @property
    def FAMILIES(self) -> tuple[str, ...]:  # noqa: N802 - named as in the problem's file
        """Input families the problem's contract bears, beside ``get_inputs()`` itself."""
        return tuple(getattr(self.module, "FAMILIES", ALL_FAMILIES))

    def make_init_inputs(self, seed: int, device: torch.device | str = "cpu") -> list[Any]:
        """Make the constructor's arguments; none if the file has no ``get_init_inputs``."""
        getter = getattr(self.module, "get_init_inputs", None)
        if getter is None:
            return []
        made, _ = self._made_on("get_init_inputs()", getter, seed, device)
        return list(made)

    def make_model(
        self, seed: int, device: torch.device | str = "cpu", dtype: torch.dtype | None = None
    ) -> torch.nn.Module:
        """``Model(*get_init_inputs())`` on ``device``, constructed right after seeding.

        Constructed in the file's own dtype and cast afterwards: every dtype rounds the same values.
        """
        arguments = self.make_init_inputs(seed, device)
        made, self.init_on = self._made_on(
            "Model()", lambda: self.module.Model(*arguments), seed, device
        )
        model: torch.nn.Module = made.to(device)
        return model if dtype is None else cast_module(model, dtype)

    def make_inputs(
        self, seed: int, device: torch.device | str = "cpu", dtype: torch.dtype | None = None
    ) -> list[Any]:
        """``get_inputs()`` on ``device``, made right after seeding; only floats change dtype.

        What it leaves uninitialized (a buffer to be written to) is zero: the seed decides all of
        it, and none of it is memory that somebody else has used before.
        """
        from pytest_kernelbench.judge.operator_mode import Zeroed

        def make() -> Any:
            with Zeroed():
                return self.module.get_inputs()

        made, self.inputs_on = self._made_on("get_inputs()", make, seed, device)
        return [
            map_tensors(value, lambda tensor: cast_tensor(tensor.to(device), dtype))
            for value in made
        ]

    def _made_on(
        self, what: str, make: Callable[[], Any], seed: int, device: torch.device | str
    ) -> tuple[Any, str]:
        """``make()`` under the device's context, else (file not fit for that) on the CPU."""
        import torch

        target = torch.device(device)
        seed_everything(seed)
        try:
            with target:
                return make(), target.type
        except (Exception, SystemExit) as error:
            if isinstance(error, torch.OutOfMemoryError):
                raise
            if target.type == "cpu":
                raise self._failure(what, error) from error
        seed_everything(seed)
        try:
            with torch.device("cpu"):
                return make(), "cpu"
        except (Exception, SystemExit) as error:
            raise self._failure(what, error) from error

    def _failure(self, what: str, error: BaseException) -> ProblemError:
        return ProblemError(
            f"{self.path}: {what} raised {type(error).__name__}: {error}. "
            "The problem's own file must run before any solution can be judged by it."
        )


def load_program(path: Path, overrides: Mapping[str, object] | None = None) -> Program:
    """Import the problem file at ``path``, apart from any other, with module constants replaced.

    Raises ``ProblemError`` if it cannot be imported, lacks ``Model`` or ``get_inputs``, or does not
    define a name that ``overrides`` wants to replace.
    """
    program = Program(path, _imported(path))
    for name in ("Model", "get_inputs"):
        if not callable(getattr(program.module, name, None)):
            message = (
                f"{path} defines no {name}: a problem file needs Model, get_inputs() and, "
                "if the constructor takes arguments, get_init_inputs()."
            )
            raise ProblemError(message)
    for name, value in (overrides or {}).items():
        if name not in vars(program.module):
            constants = [key for key in vars(program.module) if key.isupper()]
            message = (
                f"{path} has no constant {name} to override; it has: {', '.join(constants)}. "
                "Correct the name in SMOKE or SHAPES."
            )
            raise ProblemError(message)
        setattr(program.module, name, value)
    return program


def map_tensors(  # any structure goes in, the same structure comes out
    value: Any,
    change: Callable[[torch.Tensor], torch.Tensor],
) -> Any:
    """``value`` with each tensor in its nested lists, tuples and dicts replaced by ``change``."""
    import torch

    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: map_tensors(item, change) for key, item in value.items()}
    if not isinstance(value, (list, tuple)):
        return value
    kind: Any = type(value)
    # One with names not by its constructor, which may ask more of items than that they be there.
    made = kind._make if issubclass(kind, tuple) and hasattr(kind, "_fields") else kind
    return made(map_tensors(item, change) for item in value)


def map_clone(arguments: list[Any]) -> list[Any]:
    """Copies of the tensors, so that a reference that works in place spoils nothing."""
    return [map_tensors(value, lambda tensor: tensor.clone()) for value in arguments]


class _FreshLoader(SourceFileLoader):
    """Neither reads nor writes ``__pycache__``: a problems folder may be shared or read-only."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def _imported(path: Path) -> ModuleType:
    # A name of its own: file names such as 1_add_.py are no identifiers, and the same file is
    # loaded at several sizes side by side.
    name = f"{OWN_MODULES}{uuid4().hex}"
    spec = importlib.util.spec_from_loader(name, _FreshLoader(name, str(path)))
    if spec is None or spec.loader is None:
        message = f"{path} cannot be imported as Python source."
        raise ProblemError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        message = (
            f"{path} cannot be imported: {type(error).__name__}: {error}. "
            "Run `python` on the file to see the whole traceback."
        )
        raise ProblemError(message) from error
    return module


def sizes(program: Program) -> Sequence[tuple[str, dict[str, Any]]]:
    """Name the sizes a problem declares: ``full``, ``smoke``, ``shape0``, ``shape1``, ..."""
    declared = [("full", dict[str, Any]())]
    if program.is_native:
        declared.append(("smoke", program.SMOKE))
    return [*declared, *((f"shape{i}", shape) for i, shape in enumerate(program.SHAPES))]
