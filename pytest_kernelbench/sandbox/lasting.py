"""A process that ends with this one, whichever of its threads asked for it."""

from __future__ import annotations

import subprocess
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from collections.abc import Sequence

_END_TIMEOUT_S = 5.0


@final
class LastingProcess:
    """Started by a thread that lives until ``end``.

    What a child asks of the kernel by ``kernel.die_with_parent`` is about the *thread* that forked
    it: started by a pool's thread, say, it would die as soon as that thread has nothing to do.
    """

    def __init__(self, arguments: Sequence[str], **options: Any) -> None:  # noqa: ANN401 - Popen's
        self._over = threading.Event()
        started: Future[subprocess.Popen[bytes]] = Future()
        # A daemon: a process that forgets to end its children ends nonetheless, and they with it.
        parent = threading.Thread(
            target=self._parent, args=(started, arguments, options), name="kb-parent", daemon=True
        )
        parent.start()
        self.process = started.result()

    def _parent(
        self,
        started: Future[subprocess.Popen[bytes]],
        arguments: Sequence[str],
        options: dict[str, Any],
    ) -> None:
        try:
            process = subprocess.Popen(arguments, **options)
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits for the process
            started.set_exception(error)
            return
        started.set_result(process)
        self._over.wait()

    @property
    def pid(self) -> int:
        """The process's."""
        return self.process.pid

    def ended(self, wait_s: float = 0.0) -> int | None:
        """Exit status (negative for a signal) if it ends within ``wait_s``, else None."""
        try:
            return self.process.wait(wait_s)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        """Kill it, if it is still there, and wait for its end."""
        if self.process.poll() is None:
            self.process.kill()
            self.ended(_END_TIMEOUT_S)
        self._over.set()
