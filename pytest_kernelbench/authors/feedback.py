"""What a model hears of its last solution: the judge's facts, never a seed or an expected value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_kernelbench.authors.texts import Texts
    from pytest_kernelbench.verdict import Measurement, Verdict

KINDS = ("execution", "profile")
LIMIT_CHARACTERS = 12_000
"""Of compiler output, traceback and the like: the first errors are at its beginning."""
_ROWS = 12
_OUTCOMES = {
    Status.NOT_BUILT: "It could not be built.",
    Status.CRASHED: "Its process died.",
    Status.RAISED: "It raised an exception.",
    Status.TIMED_OUT: "It took too long and was ended.",
    Status.OUT_OF_MEMORY: "It ran out of memory.",
    Status.UNSTABLE: "Its result is right on some rounds only: a race, or memory never written.",
    Status.ALTERED_INPUTS: "It changed its inputs.",
    Status.NOT_A_KERNEL: "Its result is right, but only library kernels ran.",
    Status.SKIPPED: "It cannot run on this machine.",
}
_EXPECTED = re.compile(r"(\bgot\s+[^\s,;]+),\s+expected\s+[^\s,;]+")
_EXPECTED_LINE = re.compile(r"^.*\bexpected\b.*$\n?", re.MULTILINE | re.IGNORECASE)
_ONLY_ELEMENT = re.compile(
    r"(\b1 of 1 elements differ.{,300}?): got [^;]{,200}(; largest difference \S+)"
    r"(?: \([^)]{,200}\))?(?:; at worst [^;]*)?"
)
"""There, how far off it is would say what is due, beside what it got or by the scale of that."""
_SEED = re.compile(r"\bseeds?\b[\s:=]*[0-9]+", re.IGNORECASE)
_COMPARED = frozenset({Status.WRONG_VALUE, Status.UNSTABLE, Status.ALTERED_INPUTS})


def check_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """The kinds of feedback asked for, in our order; raises ``UsageError`` for any other."""
    wanted = set(kinds)
    if unknown := sorted(wanted - set(KINDS)):
        message = f"there is no feedback {unknown[0]!r}; there are {', '.join(KINDS)}"
        raise UsageError(message)
    if not wanted:
        message = f"feedback needs at least one of {', '.join(KINDS)}"
        raise UsageError(message)
    return tuple(kind for kind in KINDS if kind in wanted)


def feedback(verdict: Verdict, kinds: tuple[str, ...], texts: Texts) -> str:
    """The text for the next turn."""
    outcome = _outcome(verdict) if "execution" in kinds else ""
    facts = []
    if "execution" in kinds:
        facts += list(_execution(verdict))
    if "profile" in kinds:
        facts += list(_profile(verdict))
    text = texts.fill(
        "feedback", outcome=outcome, facts="\n\n".join(facts), request=_request(verdict, kinds)
    )
    return re.sub(r"\n{3,}", "\n\n", text)


def _outcome(verdict: Verdict) -> str:
    if verdict.status in (Status.FAST, Status.RIGHT):
        return (
            f"Its result is right in all {verdict.rounds} rounds."
            if verdict.rounds
            else ("Its result is right.")
        )
    return _OUTCOMES.get(verdict.status, "Its result is wrong.")


def _execution(verdict: Verdict) -> Iterator[str]:
    for reason in verdict.reasons:
        yield _cleaned(reason, verdict)
    compared = verdict.status in _COMPARED
    detail = _EXPECTED_LINE.sub("", verdict.detail) if compared else verdict.detail
    if any(_ONLY_ELEMENT.search(reason) for reason in verdict.reasons):
        detail = ""
    if detail.strip() and detail.strip() not in verdict.reasons:
        yield f"```\n{_shortened(_cleaned(detail.strip(), verdict))}\n```"
    if verdict.agreed and not verdict.status.right:
        yield "Before that, it agreed with the reference in every round."
    for measurement in verdict.measurements:
        yield _speed(measurement)
    findings = [note for note in verdict.notes if note.startswith("finding:")]
    for note in findings:
        yield without_secrets(note)


def _speed(measurement: Measurement) -> str:
    return (
        f"Against {measurement.baseline} PyTorch it is {measurement.speedup:.3g} times as fast "
        f"(95 % interval {measurement.low:.3g} to {measurement.high:.3g}): "
        f"{measurement.time_us:.4g} us a call against {measurement.baseline_us:.4g} us."
        + (
            f" No kernel can take less than {measurement.floor_us:.4g} us on this device."
            if measurement.floor_us
            else ""
        )
    )


def _profile(verdict: Verdict) -> Iterator[str]:
    if not verdict.kernels:
        yield "There is no profile: it did not run to its end."
        return
    rows = sorted(verdict.kernels.items(), key=lambda row: -row[1])[:_ROWS]
    table = "\n".join(f"| {' '.join(name.split())[:120]} | {share:.1%} |" for name, share in rows)
    measured = verdict.measurement
    call = f" (a call takes {measured.time_us:.4g} us)" if measured is not None else ""
    yield (
        f"Where its time goes, by kernel or operator{call}:\n\n"
        f"| kernel | share |\n|---|---|\n{table}"
    )


def _request(verdict: Verdict, kinds: tuple[str, ...]) -> str:
    if "execution" not in kinds:
        wish = "Write a better one."
    elif verdict.status is Status.NOT_A_KERNEL:
        wish = "Replace the library's kernels by your own."
    elif verdict.status.right:
        wish = "Make it faster, and keep it right."
    else:
        wish = "Find the fault and mend it."
    return f"{wish} Answer again with the complete file in a single code block."


def _cleaned(text: str, verdict: Verdict) -> str:
    """Without secrets, and without where on this machine the solution lies."""
    return without_secrets(text).replace(verdict.solution, "solution.py")


def without_secrets(text: str) -> str:
    """A text of the judge without expected values and seeds."""
    return _SEED.sub("a seed", _EXPECTED.sub(r"\1", _ONLY_ELEMENT.sub(r"\1\2", text)))


def _shortened(text: str) -> str:
    if len(text) <= LIMIT_CHARACTERS:
        return text
    head = LIMIT_CHARACTERS * 3 // 4
    left_out = len(text) - LIMIT_CHARACTERS
    return f"{text[:head]}\n[... {left_out} characters left out ...]\n{text[head + left_out :]}"
