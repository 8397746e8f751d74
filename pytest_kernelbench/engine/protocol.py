"""What pytest asks of whatever judges pairs, here or elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Future

    from pytest_kernelbench.build.builder import Progress
    from pytest_kernelbench.build.extension import Extension
    from pytest_kernelbench.catalog.pair import Pair
    from pytest_kernelbench.verdict import Verdict


class Engine(Protocol):
    """Builds solutions and judges them. One is made a session, in each process that runs items."""

    def ahead(self, pairs: Iterable[Pair]) -> None:
        """Hear which pairs will come, in order; building them in the background is allowed."""
        ...  # pragma: no cover

    def submit(self, pair: Pair) -> Future[Verdict]:
        """Build and judge in the background. Whatever happens is a verdict, whoever asks for it.

        Cancelling works until it is begun.
        """
        ...  # pragma: no cover

    def build(self, pair: Pair) -> Extension:
        """Compile the solution; raises ``BuildError`` (``not_built``) or ``MachineError``."""
        ...  # pragma: no cover

    def judge(self, pair: Pair, extension: Extension) -> Verdict:
        """Agreement, then time. Whatever a solution does is a verdict.

        ``MachineError`` only when the machine or the judge failed, and trying again did not help.
        """
        ...  # pragma: no cover

    def close(self) -> None:
        """End every process and give back every device. Called once, at the end of the session."""
        ...  # pragma: no cover


@runtime_checkable
class Building(Protocol):
    """An engine that also says how far its builds are; may be asked from any thread."""

    @property
    def builds(self) -> Progress:
        """Of everything asked for so far."""
        ...  # pragma: no cover
