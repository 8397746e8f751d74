"""What is said of parameters that a solution takes over from the reference, or does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kernelbench.judge import questions, wire

_NAMED = 5


def copied(adopted: wire.Adopted, prepared: questions.Prepared) -> tuple[str, ...]:
    """A note on those that are copied; empty if none are."""
    # It tells which; the names themselves are the reference's.
    told = set(adopted.copied)
    names = [name for name in prepared.state_names if name in told]
    return (f"parameters copied from the reference by name: {_listed(names)}",) if names else ()


def unmatched(ready: wire.Ready, prepared: questions.Prepared) -> str:
    """A note on parameters that are not copied, as names or shapes differ; empty if none do.

    It says which of the reference's there are not: the solution's own are names of its invention.
    """
    theirs = [(n, span.shape) for n, span in zip(prepared.state_names, prepared.state, strict=True)]
    ours = {(named.name, named.shape) for named in ready.state}
    if ours == set(theirs):
        return ""
    lacking = _listed([name for name, shape in theirs if (name, shape) not in ours])
    why = f"it has no {lacking} of Model's shape" if lacking else "it has some that Model has not"
    return f"no parameters were copied from the reference: {why}; its own are as it draws them"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
