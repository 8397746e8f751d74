"""A problem against the recorded facts of its original, at true size on the meta device."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.judge.operators import OperatorLog
from pytest_kernelbench.judge.program import load_program
from pytest_kernelbench.judge.proofs import leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import torch

FLOPS_TOLERANCE = 0.01


@dataclass(frozen=True)
class Facts:
    """What is known of one original: names, shapes, dtypes, counts."""

    level: int
    number: int
    title: str
    family: str
    init: list[str]
    forward: list[str]
    inputs: list[list[Any]]
    """``[shape, dtype]`` each; the shape of a plain number is None."""
    state: list[list[Any]]
    """``[name, shape, dtype]`` each, in order."""
    n_params: int
    outputs: list[list[Any]]
    """``[path, shape, dtype]`` each."""
    flops: int
    operators: dict[str, int]
    """How often each ran, as ``operators.significant`` counts."""
    departures: dict[str, str] = field(default_factory=dict)
    """Where good sense overrules a fact: how a sentence begins that is then not said, and why."""

    @property
    def stem(self) -> str:
        """What the problem's file is called, without ``.py``."""
        words = re.sub(r"[^0-9a-z]+", "_", self.title.lower()).strip("_")
        return f"{self.number:03d}_{words}"


def read_facts(path: Path) -> dict[tuple[int, int], Facts]:
    """Read a file of facts: one JSON object a line, found again by level and number.

    Raises ``UsageError``.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        message = f"cannot read the facts of the problems: {path}: {error}"
        raise UsageError(message) from error
    read = [_facts(line, f"{path}:{number}") for number, line in enumerate(lines, start=1)]
    return {(facts.level, facts.number): facts for facts in read}


def _facts(line: str, place: str) -> Facts:
    try:
        return msgspec.json.decode(line, type=Facts)
    except msgspec.DecodeError as error:
        message = f"{place}: these are no facts of a problem: {error}"
        raise UsageError(message) from error


def contradictions(path: Path, facts: Facts) -> Iterator[str]:
    """Compare the problem at ``path`` with ``facts``; one sentence for each that differs."""
    for sentence in _contradictions(path, facts):
        if not sentence.startswith(tuple(facts.departures)):
            yield sentence


def _contradictions(path: Path, facts: Facts) -> Iterator[str]:
    import torch

    program = load_program(path)
    if path.stem.replace("_", "") != facts.stem.replace("_", ""):  # ResNetBlock, resnet_block
        yield f"file name: {path.stem}, expected {facts.stem}"
    with torch.no_grad():
        model = program.make_model(0, "meta")
        inputs = program.make_inputs(0, "meta")
        with OperatorLog() as log:
            outputs = list(leaves(model(*inputs)))
    yield from _differs("constructor parameters", _constructor_parameters(type(model)), facts.init)
    yield from _differs("forward parameters", _parameters(model.forward), facts.forward)
    yield from _differs("inputs", [_described(value) for value in inputs], facts.inputs)
    state = [[name, *_described(tensor)] for name, tensor in model.state_dict().items()]
    yield from _state_differs(state, facts.state)
    count = sum(parameter.numel() for parameter in model.parameters())
    yield from _differs("number of parameters", count, facts.n_params)
    described = [[name, *_described(tensor)] for name, tensor in outputs]
    yield from _differs("outputs", described, facts.outputs)
    if abs(log.flops - facts.flops) > FLOPS_TOLERANCE * facts.flops:
        yield f"FLOPs: {log.flops:,}, expected {facts.flops:,}"
    yield from _counts_differ(log.operators, facts.operators)


def _differs(what: str, ours: object, theirs: object) -> Iterator[str]:
    if ours != theirs:
        yield f"{what}: {ours}, expected {theirs}"


def _counts_differ(ours: dict[str, int], theirs: dict[str, int]) -> Iterator[str]:
    for name in sorted(ours.keys() | theirs.keys()):
        count, expected = ours.get(name, 0), theirs.get(name, 0)
        if count != expected:
            yield f"operators: {name} runs {count} times, expected {expected}"


def _state_differs(ours: list[list[Any]], theirs: list[list[Any]]) -> Iterator[str]:
    names, expected_names = ([entry[0] for entry in state] for state in (ours, theirs))
    for name in [name for name in expected_names if name not in names]:
        yield f"state: {name} is missing"
    for name in [name for name in names if name not in expected_names]:
        yield f"state: {name} is not in the original"
    expected = {entry[0]: entry for entry in theirs}
    for entry in ours:
        if entry[0] in expected:
            yield from _differs("state", entry, expected[entry[0]])
    if names != expected_names and sorted(names) == sorted(expected_names):
        yield "state: same entries in another order"


def _constructor_parameters(model: type[torch.nn.Module]) -> list[str]:
    import torch

    inherited = model.__init__ is torch.nn.Module.__init__
    return [] if inherited else _parameters(model)


def _parameters(function: Callable[..., object]) -> list[str]:
    return list(inspect.signature(function).parameters)


def _described(value: object) -> list[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        return [list(value.shape), str(value.dtype).removeprefix("torch.")]
    return [None, type(value).__name__]
