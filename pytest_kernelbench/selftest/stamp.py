"""What the last whole selftest on this device said: kept in the cache, shown by later sessions."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_kernelbench import __version__
from pytest_kernelbench.decoding import decoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kernelbench.selftest.rule import Outcome

STAMP_FILE = "selftest.json"


@dataclass(frozen=True)
class Tally:
    """Counts over what this machine could judge."""

    cheats: int
    cheats_met: int
    honest: int
    honest_met: int
    not_run: int
    cheats_let_through: int
    """Of those met: right, but flagged as no kernel or without the gain that they were made for."""

    def __str__(self) -> str:
        return (
            f"rejected {self.cheats_met} of {self.cheats} cheats, "
            f"accepted {self.honest_met} of {self.honest} honest kernels; "
            f"{self.cheats_let_through} of the cheats were flagged as no kernel or gained nothing"
        )


def tally(outcomes: Sequence[Outcome]) -> Tally:
    """Count. A cheat that gained nothing, or was flagged where that is due, counts as rejected.

    How many these are is counted beside it: they came to an end without failing.
    """
    judged = [outcome for outcome in outcomes if outcome.judged]
    cheats = [outcome for outcome in judged if not outcome.case.honest]
    met = [outcome for outcome in cheats if outcome.ok]
    honest = [outcome.ok for outcome in judged if outcome.case.honest]
    return Tally(
        cheats=len(cheats),
        cheats_met=len(met),
        honest=len(honest),
        honest_met=sum(honest),
        not_run=len(outcomes) - len(judged),
        cheats_let_through=sum(outcome.verdict.status.right for outcome in met),
    )


def write_stamp(cache_dir: Path, device_uuid: str, counted: Tally) -> None:
    """Keep the tally for ``device_uuid``, beside those of other devices."""
    path = cache_dir / STAMP_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    stamps = _read(path)
    stamps[device_uuid] = {
        "said": str(counted),
        "version": __version__,
        "date": date.today().isoformat(),  # noqa: DTZ011 - the day as the user's clock has it
    }
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps(stamps, indent=1), encoding="utf-8")
    draft.replace(path)


def stamp(cache_dir: Path, device_uuid: str) -> str | None:
    """The last selftest in a line; None if there was none.

    ``selftest 2026-11-29 (version 0.1.0): rejected 80 of 80 cheats, ...``
    """
    made = _read(cache_dir / STAMP_FILE).get(device_uuid)
    if not isinstance(made, dict) or set(made) != {"said", "version", "date"}:
        return None
    return f"selftest {made['date']} (version {made['version']}): {made['said']}"


def _read(path: Path) -> dict[str, Any]:
    try:
        return decoded(path.read_bytes(), dict[str, Any])
    except (OSError, msgspec.MsgspecError):
        return {}  # none yet, or cut short by a full disk: the next selftest writes a new one
