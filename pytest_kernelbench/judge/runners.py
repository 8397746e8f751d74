"""The referee's handle on a runner.

Every answer is a message of the wire, or the solution is rejected.
"""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING, NoReturn, TypeVar

from pytest_kernelbench.errors import MachineError, NoRoomError, ProblemError, Restless
from pytest_kernelbench.judge import wire
from pytest_kernelbench.judge.rejection import Rejected, StoodDown
from pytest_kernelbench.languages import lacks
from pytest_kernelbench.sandbox.channel import Closed, Garbled, Silent, close_all
from pytest_kernelbench.sandbox.tree import signal_name
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_kernelbench.sandbox.child import Child

Answer = TypeVar("Answer", bound=wire.Message)

ENTRY = "pytest_kernelbench.judge.inside.runner:main"
MESSAGE_LIMIT_BYTES = 4 << 20
MOST_PROCESSES = 160
"""A compiler's pool of workers (one a core) is fine."""
_DEATH_PATIENCE_S = 3.0
_STILL_NS, _STILL_SHARE = 50_000, 0.01
"""What stands still uses no processor time at all. Yet the kernel books what a thread has used when
it leaves its processor, and one that is interrupted on its way to standing still leaves it later: a
right solution on a busy host was seen to use 0.15 ms of a turn. A share that nobody gains by."""
_STILL_MOST_NS = 300_000
"""That share at most, on a CPU: how long it is stopped there depends on what has to be read."""
_STIRRED_NS = 20_000_000
"""Of all times together: more is no accident."""
_MOST_STIRS = 3
"""More, and nothing is concluded: only so many turns are measured again."""
_COMPILE_PATIENCE_S = 600.0


STIRRED = "who was stopped went on"


class Runner:
    """A process that holds one model: the contender (untrusted) or the baseline (trusted)."""

    def __init__(
        self,
        child: Child,
        timeout_s: float,
        *,
        trusted: bool,
        on_device: bool = False,
        host_bytes: int = 0,
    ) -> None:
        self.child = child
        self.timeout_s = timeout_s
        self.trusted = trusted
        self.on_device = on_device
        self.host_bytes = host_bytes
        """What its processes may hold between them."""
        self.notes: tuple[str, ...] = ()
        self.unmatched = ""
        """Why its parameters are not the reference's: of interest where its values are wrong."""
        self.stirs = 0
        """How often it went on while it was stopped: what was timed meanwhile is measured again."""
        self._stirred_ns = 0
        self.stands_in = False
        """Whether it is an earlier source in the baseline's place: untrusted, yet not judged."""

    @contextlib.contextmanager
    def patiently(self) -> Iterator[None]:
        """Wait longer than a solution may take: the first call of a baseline compiles it."""
        usual_s, self.timeout_s = self.timeout_s, max(self.timeout_s, _COMPILE_PATIENCE_S)
        try:
            yield
        finally:
            self.timeout_s = usual_s

    def ask(
        self, message: wire.Message, kind: type[Answer], fds: tuple[int, ...] = (), doing: str = ""
    ) -> Answer:
        """Send a message and wait for its answer; anything but ``kind`` ends the pair."""
        self.tell(message, doing, fds)
        return self.hear(kind, doing)

    def tell(self, message: wire.Message, doing: str = "", fds: tuple[int, ...] = ()) -> None:
        """Send a message and wait for nothing."""
        try:
            self.child.channel.send(message, fds, self.timeout_s)
        except Closed:
            self.died(doing)
        except Silent:
            self.reject(Status.TIMED_OUT, f"read nothing for {self.timeout_s:g} s {doing}".rstrip())

    def hear(self, kind: type[Answer], doing: str = "") -> Answer:
        """Wait for an answer of ``kind``."""
        try:
            answer = self.next_message(self.timeout_s, doing)
        except Silent:
            self.reject(
                Status.TIMED_OUT, f"gave no answer within {self.timeout_s:g} s {doing}".rstrip()
            )
        return self.judged(answer, kind, doing)

    def next_message(self, timeout_s: float, doing: str = "") -> wire.Message:
        """Take whatever message comes next; raises ``Silent`` where none comes in time."""
        answer: wire.Message
        try:
            answer, stray = self.child.channel.receive(timeout_s)
        except Closed:
            self.died(doing)
        except Garbled as error:
            self.reject(Status.CRASHED, f"wrote what is no message on the judge's channel: {error}")
        if stray:
            close_all(stray)
            self.reject(Status.CRASHED, "sent descriptors over the judge's channel")
        return answer

    def judged(self, answer: wire.Message, kind: type[Answer], doing: str = "") -> Answer:
        """``answer`` if it is of ``kind``; a failure, or an answer out of turn, ends the pair."""
        if isinstance(answer, wire.Failed):
            self._failed(answer, doing)
        if not isinstance(answer, kind):
            self.reject(Status.CRASHED, f"answered {type(answer).__name__} out of turn")
        return answer

    def died(self, doing: str = "") -> NoReturn:
        """The process is gone: say how."""
        status = self.child.ended(_DEATH_PATIENCE_S)
        tail = self.child.log_tail()
        if status is None:
            self.reject(Status.CRASHED, f"closed the judge's channel {doing}".rstrip(), tail)
        number = status & 0x7F
        if held := self.child.held_bytes:
            reason = f"held {held / (1 << 30):.1f} GiB of host memory {doing}".rstrip()
            limit = f"; at most {self.host_bytes / (1 << 30):.1f} GiB are for it"
            self.reject(Status.OUT_OF_MEMORY, reason + limit, tail)
        if number == signal.SIGKILL and self.child.starved():
            reason = f"was killed {doing}".rstrip() + ": the kernel had no host memory left"
            self.reject(Status.OUT_OF_MEMORY, reason, tail)
        if number:
            self.reject(Status.CRASHED, f"died of {signal_name(number)} {doing}".rstrip(), tail)
        code = status >> 8
        self.reject(Status.CRASHED, f"left with exit status {code} {doing}".rstrip(), tail)

    def _failed(self, failed: wire.Failed, doing: str) -> NoReturn:
        headline = failed.text.strip().splitlines()[-1] if failed.text.strip() else failed.error
        if failed.needs_device and not self.on_device:
            self.reject(Status.SKIPPED, f"needs a CUDA device: {headline}", failed.text)
        if failed.out_of_memory:
            self.reject(Status.OUT_OF_MEMORY, f"ran out of memory {doing}: {headline}", failed.text)
        if failed.device_error:
            self.reject(Status.CRASHED, f"device error {doing}: {headline}", failed.text)
        if failed.stage in ("import", "entry"):
            reason = headline
            if lacks(failed.missing_module):
                reason = f"needs the module {failed.missing_module}, which is not installed here"
                self.reject(Status.SKIPPED, reason, failed.text)
            self.reject(Status.NOT_BUILT, reason, failed.text)
        self.reject(Status.RAISED, f"raised {doing}: {headline}", failed.text)

    def reject(self, status: Status, reason: str, detail: str = "") -> NoReturn:
        """End the pair over what this process did: who is to blame depends on who it is."""
        reason = " ".join(reason.split())
        if self.stands_in:
            raise StoodDown(reason[:2000])
        if not self.trusted:
            raise Rejected(status, reason[:2000], detail[-16_000:])
        if status is Status.OUT_OF_MEMORY:
            # The oracle has run the same program alone: it is the company that is too much.
            raise NoRoomError(
                f"the reference, which fits by itself, {reason} beside the judge's other "
                "processes; choose a smaller size or a device with more memory"
            )
        if status in (Status.RAISED, Status.NOT_BUILT, Status.SKIPPED):
            raise ProblemError(f"the reference itself {reason}\n{detail}".strip())
        raise MachineError(f"the baseline's process {reason}\n{detail}".strip())

    def stop(self) -> int:
        """Freeze it with all that it has started; gives when nothing moved any more.

        By ``time.perf_counter_ns``. Who cannot be frozen is rejected.
        """
        try:
            return self.child.stop()
        except Restless as error:
            self.reject(Status.CRASHED, f"would not be frozen: {error}")

    def resume(self) -> None:
        """Let it go on; a solution that went on before, for long, is rejected."""
        worked_ns, stopped_ns = self.child.resume()
        share_ns = _STILL_SHARE * stopped_ns
        if worked_ns <= _STILL_NS + (share_ns if self.on_device else min(share_ns, _STILL_MOST_NS)):
            return
        self.stirs += 1
        self._stirred_ns += worked_ns
        if self._stirred_ns > _STIRRED_NS and not self.trusted:
            worked_ms = self._stirred_ns / 1e6
            reason = f"went on while it was stopped, for {worked_ms:.3g} ms of processor time"
            self.reject(Status.CRASHED, reason)

    def restlessness(self) -> str:
        """Why nothing may be concluded from what was timed while it was stopped, or nothing."""
        if self.trusted or self.stirs <= _MOST_STIRS:
            return ""
        return f"the solution went on {self.stirs} times while it was stopped"

    def close(self) -> None:
        """End the process with all its descendants."""
        self.child.kill()

    def leftovers(self) -> int:
        """How many processes it has started that still live."""
        return max(0, len(self.child.processes()) - 2)

    def expect_few_processes(self) -> None:
        """Reject a crowd of processes: the kernel's own limit on them does not bind root."""
        count = self.leftovers()
        if count > MOST_PROCESSES:
            reason = f"started {count} processes that still live; no more than {MOST_PROCESSES} may"
            self.reject(Status.CRASHED, reason)
