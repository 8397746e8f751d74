"""The untimed rounds: agreement on the problem's own inputs, then on the families it bears.

One more comes when the times have been taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_kernelbench.errors import NoRoomError
from pytest_kernelbench.judge.families import MIXED, PLAIN
from pytest_kernelbench.judge.rejection import Rejected
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from pytest_kernelbench.judge.bench import Bench
    from pytest_kernelbench.judge.device_trial import DeviceTrial
    from pytest_kernelbench.judge.host_trial import HostTrial
    from pytest_kernelbench.judge.progress import Progress
    from pytest_kernelbench.judge.runners import Runner

    Trial = HostTrial | DeviceTrial

_ANSWERED = frozenset({
    Status.WRONG_SHAPE, Status.WRONG_DTYPE, Status.WRONG_VALUE, Status.WRONG_STRUCTURE,
    Status.UNSTABLE, Status.ALTERED_INPUTS, Status.RAISED, Status.SKIPPED,
})  # fmt: skip
"""What a process says, or shows, that goes on. One that is dead can be asked nothing more."""


def agree(trial: Trial, bench: Bench, contender: Runner, progress: Progress) -> None:
    """Each round has inputs that no other had. Raises ``Rejected`` at the first that disagrees.

    Families beside the problem's own inputs decide where the problem says that it bears them; else
    what they find is a note, but for a contender that did not live to answer.
    """
    settings, prepared = bench.settings, bench.prepared
    for number in range(settings.seeds):
        try:
            trial.agree(PLAIN)
        except Rejected as rejected:
            named = _named(rejected, number, settings.seeds, trial)
            if named.status is Status.WRONG_VALUE and contender.unmatched:
                named.notes = (*named.notes, contender.unmatched)
            raise named from None
        contender.expect_few_processes()
        progress.rounds += 1
    for family in prepared.families:
        try:
            trial.agree(family)
        except Rejected as rejected:
            if prepared.hidden:
                raise rejected.because(prepared.hidden) from None
            if prepared.native or settings.strict:
                raise
            if rejected.status not in _ANSWERED:
                raise rejected.because(f"on {family} inputs") from None
            progress.notes.append(f"finding: {rejected.reason}")
    progress.agreed = True


def agree_again(trial: Trial, bench: Bench, progress: Progress) -> None:
    """Mixed inputs once more, after timing: who counts calls cannot know which one this will be.

    Only where families decide. Raises ``Rejected``.
    """
    if MIXED not in bench.prepared.families or not bench.families_decide:
        return
    try:
        trial.settle()
        trial.agree(MIXED)
    except NoRoomError as error:
        progress.notes.append(f"not tried on mixed inputs after timing: {error}")
    except Rejected as rejected:
        wrong = rejected.status is Status.WRONG_VALUE
        status = Status.UNSTABLE if wrong else rejected.status
        reason = f"after timing: {rejected.reason}; before it all rounds agreed"
        raise Rejected(status, reason, rejected.detail, rejected.notes) from None


def _named(rejected: Rejected, number: int, seeds: int, trial: Trial) -> Rejected:
    """Say in which round it was; tell what is always wrong from what is sometimes."""
    status = rejected.status
    if status in (Status.SKIPPED, Status.BAD_PROBLEM):
        return rejected
    reason = f"round {number + 1} of {seeds}: {rejected.reason}"
    if status is Status.WRONG_VALUE and (number > 0 or _agrees_now(trial)):
        status = Status.UNSTABLE
        reason += "; other rounds agreed"
    return Rejected(status, reason, rejected.detail, rejected.notes)


def _agrees_now(trial: Trial) -> bool:
    try:
        trial.agree(PLAIN)
    except Rejected:
        return False
    return True
