"""A file with a model, imported and constructed as its runner was told."""

from __future__ import annotations

import importlib
import importlib.util
import linecache
import os
import pickle
import re
import sys
import traceback
from typing import TYPE_CHECKING, Any

import torch

from pytest_kernelbench.deviceless import lacks_device
from pytest_kernelbench.errors import said
from pytest_kernelbench.judge.inside import interpreter
from pytest_kernelbench.judge.inside.casting import cast_module
from pytest_kernelbench.judge.inside.seeding import seed_everything
from pytest_kernelbench.judge.wire import Construct, Failed
from pytest_kernelbench.unwritable import advice_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

_TEXT_LIMIT = 16_000
_DEVICE_ERROR = re.compile(
    r"CUDA error|CUDA driver error|Triton Error \[CUDA\]|cudaError|HIP error"
)
_ASKS_FOR_DEVICE = re.compile(r"\bis_cuda\b|\bcuda\b|\bgpus?\b", re.IGNORECASE)
_NO_MEMORY = re.compile(
    r"out of memory|can't allocate memory|std::bad_alloc|Cannot allocate memory"
)
MODULE_NAME = "kernelbench_solution"


class Stop(Exception):  # noqa: N818 - carries a message, is no error of ours
    """The file's own code failed; ``failed`` says how."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.text)
        self.failed = failed


def failure(stage: str, error: BaseException, source: str) -> Failed:
    """Describe an exception by the file's own frames (the judge's help nobody)."""
    folder = os.path.dirname(source)
    stack = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in stack if frame.filename.startswith(folder)]
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(own)] if own else []
    raised = "".join(traceback.format_exception_only(error)).removeprefix(
        f"{type(error).__module__}."
    )
    if advice := advice_on(error):
        raised = f"{raised.rstrip()}; {advice}\n"
    text = "".join([*lines, raised]).replace(folder + os.sep, "")
    message = said(error)
    missing = str(error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    memory = isinstance(error, (MemoryError, torch.OutOfMemoryError)) or bool(
        _NO_MEMORY.search(message)
    )
    return Failed(
        stage=stage,
        error=type(error).__name__,
        text=text[-_TEXT_LIMIT:],
        missing_module=missing,
        out_of_memory=memory,
        device_error=not memory and bool(_DEVICE_ERROR.search(message)),
        needs_device=interpreter.interprets() and _needs_device(error, own, source),
    )


def _needs_device(error: BaseException, own: Sequence[traceback.FrameSummary], source: str) -> bool:
    """Whether what was raised on a CPU is that it is one: the file says so, or what it uses."""
    if lacks_device(error) or interpreter.falls_short(error, "".join(linecache.getlines(source))):
        return True
    asked = own[-1].line or "" if own else ""
    return bool(_ASKS_FOR_DEVICE.search(f"{asked}\n{said(error)}"))


def _switches() -> Iterator[Any]:
    """Where newer releases of torch have the precision of fp32 by backend and operator."""
    backends: Any = torch.backends
    for path in ("", "cuda.matmul", "cudnn", "cudnn.conv", "cudnn.rnn", *_MKLDNN):
        place = backends
        for name in path.split(".") if path else ():
            place = getattr(place, name, None)
        if hasattr(place, "fp32_precision"):
            yield place


_MKLDNN = ("mkldnn", "mkldnn.matmul", "mkldnn.conv", "mkldnn.rnn")
_PRECISION = tuple(_switches())
_ACCUMULATES = hasattr(torch.backends.cuda.matmul, "allow_fp16_accumulation")


def pin_precision(*, tf32: bool) -> None:
    """The same precision switches on every side, whatever the file has set since."""
    for place in _PRECISION:
        place.fp32_precision = "none"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    if _ACCUMULATES:
        torch.backends.cuda.matmul.allow_fp16_accumulation = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def import_file(source: str) -> ModuleType:
    """Import the file under one fixed name, from its own folder.

    Its source is at hand for tracebacks.
    """
    sys.path.insert(0, os.path.dirname(source))
    spec = importlib.util.spec_from_file_location(MODULE_NAME, source)
    if spec is None or spec.loader is None:
        raise ImportError(f"{source} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE_NAME] = module
    linecache.getlines(source)
    spec.loader.exec_module(module)
    return module


def construct(order: Construct) -> Any:
    """Import, seed, construct, move and cast; raises ``Stop`` with the stage that failed.

    What the entry makes need be no ``Module``: it is enough that it can be called.
    """
    try:
        module = import_file(order.source)
        interpreter.complete()
        for name, value in order.overrides.items():
            setattr(module, name, value)
    except BaseException as error:  # noqa: BLE001 - it is told
        raise Stop(failure("import", error, order.source)) from None
    entry = getattr(module, order.entry, None)
    if not callable(entry):
        names = [name for name, value in vars(module).items() if isinstance(value, type)]
        text = f"the file defines no {order.entry}; it defines: {', '.join(names) or 'no class'}"
        raise Stop(Failed("entry", "AttributeError", text))
    try:
        return _instance(entry, order)
    except BaseException as error:  # noqa: BLE001 - it is told
        raise Stop(failure("construct", error, order.source)) from None


def prepared(model: Any, order: Construct) -> Any:
    """What is called in the model's place: the model itself unless the order names a function."""
    if not order.prepare:
        return model
    module, _, function = order.prepare.partition(":")
    return getattr(importlib.import_module(module), function)(model)


def _instance(entry: Any, order: Construct) -> Any:
    arguments = pickle.loads(order.pickled_init)  # noqa: S301 - made by the oracle
    if order.construct_on_device:
        seed_everything(order.seed)
        with torch.device(order.device):
            model = entry(*arguments)
    else:
        seed_everything(order.seed)
        model = entry(*arguments)
    if not callable(model):
        raise TypeError(f"{order.entry}() made a {type(model).__name__}, which cannot be called")
    if isinstance(model, torch.nn.Module):
        model = model.to(order.device)
        dtype: torch.dtype = getattr(torch, order.dtype)
        # In float32 each parameter keeps what its own file gave it, as the oracle's do.
        return model if dtype is torch.float32 else cast_module(model, dtype)
    return model
