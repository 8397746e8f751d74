"""What a problem must hold so that kernels can be judged by it.

Each proof is one function that yields sentences about what fails. They run the reference only.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.errors import ProblemError
from pytest_kernelbench.judge.comparison import compare, real_parts
from pytest_kernelbench.judge.families import rounds, transformed
from pytest_kernelbench.judge.inside.casting import cast_module
from pytest_kernelbench.judge.inside.seeding import seed_everything
from pytest_kernelbench.judge.program import ALL_DTYPES, ALL_FAMILIES, Program, load_program
from pytest_kernelbench.settings import DEFAULT_TOLERANCE, DTYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

    from pytest_kernelbench.judge.comparison import Difference

MODEL_SEED, INPUT_SEED, OTHER_SEED, FORWARD_SEED = 11, 12, 13, 14

SENSITIVITY = 1e-2
"""Another seed must move the output by this share of its RMS: 100 times the float32 tolerance."""
SCALAR_ELEMENTS, SCALAR_SEEDS = 16, 8
"""Outputs this small may come near by chance: so many seeds are looked at instead of one."""
PRECISION_SHARE = 0.5
"""Share of the tolerance that float32 rounding of the reference itself may use up."""


@dataclass
class Evidence:
    """Reference runs that several proofs look at, and what was seen on the way."""

    program: Program
    device: torch.device
    sensitivity: float = SENSITIVITY
    outputs: dict[tuple[int, str], list[torch.Tensor]] = field(default_factory=dict)
    moved: float = math.inf
    """RMS of the change of output from one input seed to another, by the output's RMS."""
    draws_in_forward: bool = False
    """Whether the first ``run`` moved the random state: dropout, noise."""
    notes: list[str] = field(default_factory=list)
    """What could not be proved here, without being the problem's fault."""

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Name the dtypes to look at."""
        return tuple(dtype for dtype in self.program.DTYPES if dtype in ALL_DTYPES)

    @cached_property
    def pristine(self) -> torch.nn.Module:
        """The model as constructed, never run: what each run copies."""
        return self.program.make_model(MODEL_SEED, self.device)

    def inputs(self, seed: int = INPUT_SEED, dtype: str = "fp32") -> list[Any]:
        """Make the inputs of a seed."""
        return self.program.make_inputs(seed, self.device, torch_dtype(dtype))

    def run(self, input_seed: int = INPUT_SEED, dtype: str = "fp32") -> list[torch.Tensor]:
        """Give the output's tensors of an unused model; kept, so that proofs share them."""
        key = (input_seed, dtype)
        if key not in self.outputs:
            first = not self.outputs
            self.outputs[key] = self.forward(self.inputs(input_seed, dtype), dtype)
            if first:
                self.draws_in_forward = random_state_moved(self.device)
        return self.outputs[key]

    def forward(self, inputs: list[Any], dtype: str = "fp32") -> list[torch.Tensor]:
        """Run an unused copy of the model: some models keep state between calls."""
        import torch

        from pytest_kernelbench.judge.operator_mode import WideConvolutions

        with torch.no_grad(), WideConvolutions():
            # Parameters are not written to: in float32 the copy shares them, which saves minutes.
            shared = self.pristine.parameters() if dtype == "fp32" else ()
            memo = {id(parameter): parameter for parameter in shared}
            model = cast_module(copy.deepcopy(self.pristine, memo), torch_dtype(dtype))
            return run_forward(self.program, model, inputs)

    def forget(self, dtype: str) -> None:
        """Free the outputs in ``dtype``: at full size they are gigabytes."""
        self.outputs = {key: kept for key, kept in self.outputs.items() if key[1] != dtype}


def torch_dtype(dtype: str) -> torch.dtype:
    """Translate ``fp32``, ``fp16``, ``bf16``, and ``fp64``, which only the judge uses."""
    import torch

    found: torch.dtype = getattr(torch, DTYPES.get(dtype, "float64"))
    return found


def random_state_moved(device: torch.device) -> bool:
    """Whether anything was drawn since ``run_forward`` seeded; seeds anew."""
    import torch

    def probe() -> torch.Tensor:
        return torch.cat([torch.rand(8, device=device).cpu(), torch.rand(8)])

    found = probe()
    seed_everything(FORWARD_SEED)
    return not torch.equal(found, probe())


def run_forward(program: Program, model: torch.nn.Module, inputs: list[Any]) -> list[torch.Tensor]:
    """``model(*inputs)`` right after seeding, as a flat list of tensors."""
    seed_everything(FORWARD_SEED)
    try:
        outputs = [leaf for _, leaf in leaves(model(*inputs))]
    except Exception as error:
        message = f"{program.path}: forward raised {type(error).__name__}: {error}"
        raise ProblemError(message) from error
    if not outputs:
        message = f"{program.path}: forward returned no tensor"
        raise ProblemError(message)
    return outputs


def leaves(value: object, path: str = "out") -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors in nested lists, tuples and dicts with the path to each: ``out[0]['k']``."""
    import torch

    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]")


def declarations_are_known(evidence: Evidence) -> Iterator[str]:
    """DTYPES and FAMILIES hold names that the judge knows; the others are left out below."""
    program = evidence.program
    for what, declared, known in (
        ("DTYPES", program.DTYPES, ALL_DTYPES),
        ("FAMILIES", program.FAMILIES, ALL_FAMILIES),
    ):
        for name in set(declared).difference(known):
            yield f"{what} holds {name!r}; known are {', '.join(known)}"


def same_seed_same_output(evidence: Evidence) -> Iterator[str]:
    """Two runs of the reference, all made anew under the same seeds, agree and are finite."""
    import torch

    first = evidence.run()
    if not all(tensor.isfinite().all() for tensor in first):
        yield "output is not finite"
    inputs = evidence.inputs()
    with torch.no_grad():
        model = evidence.program.make_model(MODEL_SEED, evidence.device)
        again = run_forward(evidence.program, model, inputs)
    for found in differences(again, first):
        if not found.agrees:
            yield f"two runs under the same seeds disagree: {found}"
    pairs = zip(leaves(inputs, "input"), leaves(evidence.inputs()), strict=True)
    for (path, ours), (_, theirs) in pairs:
        if not torch.equal(ours, theirs):
            yield f"forward writes to {path}, or get_inputs() differs under the same seed"


def other_seed_other_output(evidence: Evidence) -> Iterator[str]:
    """Other inputs move each output tensor by far more than the float32 tolerance."""
    first = evidence.run()
    small = all(tensor.numel() <= SCALAR_ELEMENTS for tensor in first)
    seeds = range(OTHER_SEED, OTHER_SEED + (SCALAR_SEEDS if small else 1))
    for index, ours in enumerate(first):
        distances = [relative_distance(evidence.run(seed)[index], ours) for seed in seeds]
        moved = math.sqrt(sum(distance**2 for distance in distances) / len(distances))
        evidence.moved = min(evidence.moved, moved)
        if moved < evidence.sensitivity:
            yield f"another input seed moves the output by only {moved:.2g} of its RMS"


def imposters_fail(evidence: Evidence) -> Iterator[str]:
    """Answers that compute nothing fail the comparison in each declared dtype's tolerance."""
    first = evidence.run()
    inputs = evidence.inputs()
    candidates = [tensor for _, tensor in leaves(inputs)]
    for output in first:
        for name, imposter in _imposters(output, candidates):
            for dtype in evidence.dtypes:
                tolerance = DEFAULT_TOLERANCE[dtype]
                if compare(imposter, output, atol=tolerance, rtol=tolerance).agrees:
                    yield f"{name} would pass as the output in {dtype}"
                    break


def _imposters(
    output: torch.Tensor, inputs: list[torch.Tensor]
) -> Iterator[tuple[str, torch.Tensor]]:
    import torch

    yield "zeros", torch.zeros((), dtype=output.dtype, device=output.device).expand(output.shape)
    for index, tensor in enumerate(inputs):
        if tensor.shape == output.shape:
            yield f"input {index} itself", tensor
    if output.numel() == 1:
        return  # its own mean, and its own shuffle
    mean = output.mean(dtype=torch.float64).to(output.dtype)
    yield "its mean everywhere", mean.expand(output.shape)
    shifted = output.flatten().roll(output.numel() // 3 + 1)
    yield "the shuffled output", shifted.view(output.shape)


def halves_are_finite(evidence: Evidence) -> Iterator[str]:
    """In each declared dtype the output is finite and still depends on the inputs."""
    for dtype in evidence.dtypes:
        if dtype == "fp32":
            continue
        try:
            first = evidence.run(dtype=dtype)
        except ProblemError as error:
            if not isinstance(error.__cause__, NotImplementedError):
                raise
            evidence.notes.append(f"{dtype}: {error.__cause__}")  # torch's gap on this device
            continue
        if not all(tensor.isfinite().all() for tensor in first):
            yield f"{dtype} output is not finite (declare DTYPES without it)"
            continue
        other = evidence.run(OTHER_SEED, dtype)
        if any(found.agrees for found in differences(other, first, dtype)):
            yield f"{dtype} output hardly depends on the inputs (declare DTYPES without it)"
        evidence.forget(dtype)


def rounding_is_small(evidence: Evidence) -> Iterator[str]:
    """In float32 the reference is well within the tolerance of itself in float64.

    Otherwise an honest kernel that sums in another order is at the mercy of rounding. Programs that
    draw random numbers in ``forward`` draw others in float64: nothing can be said about them.
    """
    first = evidence.run()
    if evidence.draws_in_forward:
        return
    exact = evidence.run(dtype="fp64")
    evidence.forget("fp64")
    for found in differences(first, exact):
        if not found.agrees or found.used > PRECISION_SHARE:
            yield (
                f"float32 rounding uses {found.used:.2g} of the tolerance against float64 "
                f"(largest error {found.scaled:.2g} of RMS {found.rms:.3g})"
            )


def families_are_finite(evidence: Evidence) -> Iterator[str]:
    """Each declared family of inputs gives a finite output."""
    declared = evidence.program.FAMILIES
    for number, family in enumerate(rounds(declared)):
        inputs = evidence.inputs(INPUT_SEED + number)  # of a mixture it is not always the same
        outputs = evidence.forward(transformed(inputs, family, declared))
        if not all(tensor.isfinite().all() for tensor in outputs):
            yield f"output is not finite for {family} inputs (declare FAMILIES without it)"


def declared_shapes_run(evidence: Evidence) -> Iterator[str]:
    """Each of SHAPES runs, on the meta device: its numbers may be too large for this one."""
    import torch

    for index, overrides in enumerate(evidence.program.SHAPES):
        program = load_program(evidence.program.path, overrides)
        with torch.no_grad():
            model, inputs = program.make_model(0, "meta"), program.make_inputs(0, "meta")
            try:
                run_forward(program, model, inputs)
            except ProblemError as error:
                yield f"SHAPES[{index}]: {error}"


def differences(
    got: list[torch.Tensor], expected: list[torch.Tensor], dtype: str = "fp32"
) -> list[Difference]:
    """Compare output tensors one by one in the tolerance of ``dtype``."""
    tolerance = DEFAULT_TOLERANCE[dtype]
    return [
        compare(ours, theirs, atol=tolerance, rtol=tolerance)
        for ours, theirs in zip(got, expected, strict=True)
    ]


def relative_distance(got: torch.Tensor, expected: torch.Tensor) -> float:
    """RMS of the difference by the RMS of ``expected``."""
    import torch

    got, expected = real_parts(got), real_parts(expected)
    if not expected.is_floating_point():
        got, expected = got.double(), expected.double()
    scale = float(torch.linalg.vector_norm(expected, dtype=torch.float64))
    distance = float(torch.linalg.vector_norm(got - expected, dtype=torch.float64))
    return distance / scale if scale else 0.0


PROOFS = (
    declarations_are_known,
    same_seed_same_output,
    other_seed_other_output,
    imposters_fail,
    halves_are_finite,
    rounding_is_small,
    families_are_finite,
    declared_shapes_run,
)
