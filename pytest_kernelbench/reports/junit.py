"""JUnit's XML from verdicts alone: for a page of CI that was not there when they were made."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from pytest_kernelbench.reports.messages import explain, faster_words
from pytest_kernelbench.texts import hanging, in_xml
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_kernelbench.reports.records import Record
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict

_ERRORS = frozenset({Status.NOT_BUILT, Status.BAD_PROBLEM, Status.NOT_JUDGED})


def properties(verdict: Verdict) -> Iterator[tuple[str, object]]:
    """What JUnit shows of a verdict, as names and plain values."""
    yield "kernelbench_status", verdict.status.value
    yield "entrant", verdict.entrant
    yield "level", verdict.level
    yield "problem", verdict.number
    yield "sample", verdict.sample
    measured = verdict.measurement
    if measured is not None:
        yield "baseline", measured.baseline
        yield "speedup", measured.speedup
        yield "speedup_low", measured.low
        yield "speedup_high", measured.high
        yield "time_us", measured.time_us
        yield "baseline_time_us", measured.baseline_us


def ending(record: Record, settings: Settings) -> tuple[str, str]:
    """``(passed | failure | error | skipped, message)``: what the pair's item comes to."""
    verdict = record.verdict
    if not record.scored and (verdict.status.right or verdict.status is Status.NOT_BUILT):
        right = verdict.status.right
        return ("failure", "is right, but must fail") if right else ("skipped", "fails, as it must")
    if verdict.status is Status.SKIPPED:
        return "skipped", hanging("; ".join(verdict.reasons))
    if verdict.status in _ERRORS:
        return "error", explain(verdict)
    strictly = settings.strict and verdict.status is Status.NOT_A_KERNEL
    if not verdict.status.right or strictly:
        return ("failure", explain(verdict)) if record.scored else ("skipped", "fails, as it must")
    p = settings.required_speedup
    if p is not None and not verdict.faster_than(p):
        return "failure", faster_words(verdict, p)
    return "passed", ""


def write(path: Path, records: Sequence[Record], settings: Settings) -> None:
    """Write one suite with a case for each record."""
    suite = ET.Element("testsuite", name="pytest-kernelbench")
    counts = {"failure": 0, "error": 0, "skipped": 0}
    total_s = 0.0
    for record in records:
        verdict = record.verdict
        taken_s = verdict.build_s + verdict.judge_s
        total_s += taken_s
        file, _, name = record.nodeid.rpartition("::")
        where = file.removesuffix(".py").replace("/", ".").replace("::", ".")
        case = ET.SubElement(
            suite, "testcase", classname=where, name=_clean(name), time=f"{taken_s:.3f}"
        )
        told = ET.SubElement(case, "properties")
        for key, value in properties(verdict):
            ET.SubElement(told, "property", name=key, value=_clean(str(value)))
        end, message = ending(record, settings)
        if end != "passed":
            counts[end] += 1
            first, _, _ = message.partition("\n")
            ET.SubElement(case, end, message=_clean(first)).text = _clean(message)
    suite.attrib |= {
        "tests": str(len(records)),
        "failures": str(counts["failure"]),
        "errors": str(counts["error"]),
        "skipped": str(counts["skipped"]),
        "time": f"{total_s:.3f}",
    }
    root = ET.Element("testsuites")
    root.append(suite)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _clean(text: str) -> str:
    return in_xml(text, "?")
