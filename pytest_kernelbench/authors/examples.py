"""In-context examples: a program with an answer to it, both our own, both judged right here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_kernelbench.errors import UsageError

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
"""PyTorch translates CUDA sources to HIP as it builds them."""


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


def answered(which: str, backend: str) -> bool:
    """Whether there are answers to that set in a backend."""
    written = _WRITTEN_AS.get(backend, backend)
    return all((FOLDER / name / f"with_{written}.py").is_file() for name in SETS[which])
