"""The errors that a user can meet, drawn once.

    KernelbenchError
      UsageError         options or files that cannot be understood; nothing has run
      SandboxError       a process could not be started or walled in
        Restless           a child's processes cannot be stopped
      MachineError       the machine failed, not the solution (status ``not_judged``)
        NoRoomError        the judge's own processes do not fit into memory side by side
      AuthorError        a language model's endpoint refused, or cannot be reached
        RefusedError       no other request will fare better: a wrong key, address or model
        BudgetError        nothing more may be asked of it: tokens or money are spent
      ProblemError       the problem's own file fails or cannot tell kernels apart (``bad_problem``)
      BuildError         the solution could not be built (``not_built``)
        MissingNeedError   it needs something that is not installed here (``skipped``)

What is wrong with a *solution* at judging time is none of them: it is a ``Verdict``.

Other exceptions of the package are outcomes and signals between its own parts, and caught before
anybody sees them. Each is defined where it is raised: how a channel ended (``sandbox.channel``),
what a solution did (``judge.rejection``), how a solution's code failed inside a child (``Stop``,
``MissingToolError``), why a foreign file has no rows (``catalog.sources``).
"""

from __future__ import annotations

BY_DATA = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
"""What Python raises where data are not what code expects. Where the data are a solution's, it is
to blame: if nobody were, it could choose not to be judged."""


class KernelbenchError(Exception):
    """The root: says what happened, where, and what to do about it."""


class UsageError(KernelbenchError):
    """Options, ini values or files contradict each other or cannot be understood."""


class SandboxError(KernelbenchError):
    """A child process could not be started, or ended where it must not."""


class Restless(SandboxError):  # noqa: N818 - what it is, not what went wrong
    """A child's processes keep waking each other while another process is to be timed."""


class MachineError(KernelbenchError):
    """The machine failed: device lost, disk full, oracle died."""


class NoRoomError(MachineError):
    """What the judge holds beside a solution does not fit: nobody's program is wrong."""


class AuthorError(KernelbenchError):
    """A language model gave no answer; ``lost_in`` and ``lost_out`` tokens were spent on that."""

    def __init__(self, message: str, lost_in: int = 0, lost_out: int = 0) -> None:
        super().__init__(message)
        self.lost_in = lost_in
        self.lost_out = lost_out


class RefusedError(AuthorError):
    """The key, the address or the model's name is wrong: no other request will fare better."""


class BudgetError(AuthorError):
    """Tokens or money are spent."""


class ProblemError(KernelbenchError):
    """A problem's file fails, or its output hardly depends on its inputs."""


class BuildError(KernelbenchError):
    """A solution could not be built; ``log`` names the file with the whole output."""

    def __init__(self, message: str, log: str = "", warnings: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.log = log
        self.warnings = warnings


class MissingNeedError(BuildError):
    """What a solution needs is not installed here; ``need`` names it.

    As in ``module tilelang`` or ``nvcc``.
    """

    def __init__(self, message: str, need: str, log: str = "") -> None:
        super().__init__(message, log)
        self.need = need


def said(error: BaseException) -> str:
    """Its message; empty where a solution's own exception has none that can be had."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - whatever its __str__ does
        return ""


def origins(error: BaseException) -> list[BaseException]:
    """The exception, and what it came from, the nearest first."""
    links: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in links:
        links.append(link)
        link = link.__cause__ or link.__context__
    return links
