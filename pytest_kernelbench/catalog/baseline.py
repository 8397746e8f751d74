"""What a speedup may be measured against."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Baseline:
    """A way to run the problem's own model."""

    name: str
    """What ``--kb-baseline`` calls it."""
    prepare: str = ""
    """``module:function``, imported by the oracle and called with the model on its device.

    It gives back what is called in the model's place; empty means the model as it is.
    """


EAGER = Baseline("eager")
COMPILE = Baseline("compile", "torch:compile")
COMPILE_MAX = Baseline("compile-max", "pytest_kernelbench.judge.inside.compiling:max_autotune")
