"""In-context examples: a program with an answer to it, both our own, both judged right here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.settings import DTYPES

FOLDER = Path(__file__).with_name("examples")
SETS = {"none": (), "one": ("add",), "few": ("gelu", "matmul", "attention")}
"""``few`` are the three kinds that the KernelBench study shows its models."""
TITLES = {
    "add": "a sum of two tensors",
    "gelu": "an activation fused with what stands around it",
    "matmul": "a matrix product in tiles",
    "attention": "attention whose scores never leave the chip",
}
_WRITTEN_AS = {"hip": "cuda"}
_REMARKS = {"hip": "written in CUDA, which PyTorch translates to HIP as it builds"}
"""What a prompt says of an answer that is not in the backend it asks for."""
JUDGED_IN = "fp32"


@dataclass(frozen=True)
class Example:
    """One program and one answer."""

    name: str
    problem: Path
    answer: Path

    @property
    def title(self) -> str:
        """What it shows."""
        return TITLES[self.name]


def examples(which: str, backend: str) -> tuple[Example, ...]:
    """The examples of a set, answered in a backend; raises ``UsageError`` where there are none."""
    if which not in SETS:
        message = f"there are no examples called {which!r}; there are {', '.join(SETS)}"
        raise UsageError(message)
    found = []
    for name in SETS[which]:
        answer = FOLDER / name / f"with_{_WRITTEN_AS.get(backend, backend)}.py"
        if not answer.is_file():
            offered = [word for word in SETS if answered(word, backend)]
            message = (
                f"there is no example {name!r} in {backend}: for this backend examples can be "
                f"{' or '.join(offered)}"
            )
            raise UsageError(message)
        found.append(Example(name, FOLDER / name / "problem.py", answer))
    return tuple(found)


def remark(backend: str, precision: str) -> str:
    """What is to be said of answers that are not quite what is asked for: ", ..." or nothing."""
    said = []
    if precision != JUDGED_IN:
        said.append(f"for {DTYPES[JUDGED_IN]} tensors (yours will be {DTYPES[precision]})")
    if backend in _REMARKS:
        said.append(_REMARKS[backend])
    return "".join(f", {each}" for each in said)


def answered(which: str, backend: str) -> bool:
    """Whether there are answers to that set in a backend."""
    written = _WRITTEN_AS.get(backend, backend)
    return all((FOLDER / name / f"with_{written}.py").is_file() for name in SETS[which])
