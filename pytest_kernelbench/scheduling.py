"""pytest-xdist's order of items, with a problem's solutions together. Imported where xdist runs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController


_TEST = "::test_kernel["


class ProblemScheduling(LoadScopeScheduling):  # type: ignore[misc] # xdist has no types
    """Scopes are problems, read from the node id: ``...::test_kernel[level1/019_relu]``.

    Before that stand a file's path and, for an archive, a row: ``a.jsonl::row3::test_kernel[...]``.
    A problem's solutions share one oracle and one measurement of its baseline.
    """

    def _split_scope(self, nodeid: str) -> str:
        # The documented way to scope otherwise; what is no kernel is a scope of its own.
        _, test, problem = nodeid.partition(_TEST)
        return test + problem or nodeid

    def _reschedule(self, node: WorkerController) -> None:
        # A dead worker's successor is a node before it has collected anything: xdist's own
        # scheduler would give it work then, and fail. It is asked again once it has collected.
        if node in self.registered_collections:
            super()._reschedule(node)

    def _assign_work_unit(self, node: WorkerController) -> None:
        # A worker may be dead before its death is heard of. What it was given stays noted as
        # its own, and goes to others when ``remove_node`` is called for it.
        with suppress(OSError):
            super()._assign_work_unit(node)

    def remove_node(self, node: WorkerController) -> str | None:
        """Forget a dead worker and return the item it died of, or None.

        As xdist's, which however queues that item again, to be the death of the next worker.
        """
        workload: dict[str, dict[str, bool]] = self.assigned_work.pop(node)
        pending = [(s, i) for s, unit in workload.items() for i, done in unit.items() if not done]
        if not pending:
            return None
        scope, crashed = pending[0]
        workload[scope][crashed] = True
        self.workqueue.update((s, unit) for s, unit in workload.items() if not all(unit.values()))
        for other in self.nodes:
            self._reschedule(other)
        return crashed

    def mark_test_pending(self, item: str) -> None:
        """Put a crashed item back at the head of the queue."""
        scope = self._split_scope(item)
        self.workqueue.setdefault(scope, {})[item] = False
        self.workqueue.move_to_end(scope, last=False)
        for node in self.nodes:
            self._reschedule(node)
