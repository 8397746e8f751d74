"""The page: complete, by itself, and deaf to what authors write into names, errors and sources."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from made_records import HOSTILE, outcome_of, record, runs_of, session

from pytest_kernelbench.reports.html import pictures
from pytest_kernelbench.reports.html.packing import PIECE, change, pack
from pytest_kernelbench.reports.html.page import page
from pytest_kernelbench.reports.html.runs import Runs, named
from pytest_kernelbench.verdict import Status


class Read(HTMLParser):
    """Elements with their attributes, and the texts of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is not None:
            self.raw.append((self.cdata_elem, data))
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for found, attributes in self.elements if found == tag]


def made(runs: Runs, **settings: Any) -> Read:
    return Read(page(runs, outcome_of(runs, **settings)))


@pytest.fixture(scope="module")
def hostile() -> Read:
    return made(runs_of(session(), session(factor=1.5)))


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text), -zlib.MAX_WBITS))


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# Nothing of an author's is markup


def test_no_element_but_ours(hostile: Read) -> None:
    assert HOSTILE in "".join(hostile.texts), "it is shown, as text"
    tags = {tag for tag, _ in hostile.elements}
    assert not tags & {"img", "iframe", "object", "embed", "link", "base", "audio", "video"}
    inert = [script for script in hostile.all("script") if script.get("type") == "text/plain"]
    assert len(hostile.all("script")) == len(inert) + 1
    assert not [key for _, attributes in hostile.elements for key in attributes if key[:2] == "on"]
    assert not [attributes for _, attributes in hostile.elements if "style" in attributes]


def test_only_our_style_and_script_may_do_anything(hostile: Read) -> None:
    (policy,) = [meta["content"] or "" for meta in hostile.all("meta") if "http-equiv" in meta]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    code = next(text for tag, text in reversed(hostile.raw) if tag == "script")
    style = next(text for tag, text in hostile.raw if tag == "style")
    assert rules["script-src"] == hash_of(code)
    assert rules["style-src"] == hash_of(style)


def test_every_address_is_within_the_page(hostile: Read) -> None:
    addresses = {
        value
        for _, attributes in hostile.elements
        for key, value in attributes.items()
        if key in ("href", "src", "action", "data", "xlink:href")
    }
    assert addresses
    assert all((address or "").startswith("#") for address in addresses)


# Everything is there


def test_rows_and_details_come_back() -> None:
    runs = runs_of(session(2 * PIECE + 2))
    packed = pack(runs, ["ann", HOSTILE], 10**9)
    rows = unpacked(packed.rows)
    assert rows["entrants"] == ["ann", HOSTILE]
    assert len(rows["rows"]) == len(runs.latest)
    assert [len(unpacked(piece)) for piece in packed.details] == [PIECE, PIECE, 2]
    for number, kept in enumerate(runs.latest):
        detail = unpacked(packed.details[number // PIECE])[number % PIECE]
        assert detail["nodeid"] == kept.nodeid
        assert detail.get("reasons", []) == list(kept.verdict.reasons)
        assert unpacked(packed.sources[number // PIECE])[number % PIECE] == kept.source
        level, problem, name, entrant, _, status, speedup = rows["rows"][number][:7]
        assert (level, problem, name) == (kept.verdict.level, kept.verdict.number, "relu")
        assert rows["entrants"][entrant] == kept.verdict.entrant
        assert status == kept.verdict.status.value
        wanted = kept.verdict.measurement
        assert speedup == (pytest.approx(wanted.speedup, rel=1e-3) if wanted else None)


def test_sources_that_find_no_room_are_left_out_and_counted() -> None:
    runs = runs_of(session(PIECE + 1))
    whole = pack(runs, ["ann", HOSTILE], 10**9)
    rest = len(whole.rows) + sum(map(len, whole.details))
    some = pack(runs, ["ann", HOSTILE], rest + len(whole.sources[0]))
    assert [bool(piece) for piece in some.sources] == [True, False]
    assert some.left_out == 1
    assert pack(runs, ["ann", HOSTILE], 0).left_out == PIECE + 1


def test_a_page_stays_below_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_kernelbench.reports.html.page.MOST_BYTES", 1_500_000)
    draw = random.Random(0)  # noqa: S311
    records = [record(n, speedup=2.0, source=draw.randbytes(10_000).hex()) for n in range(200)]
    runs = runs_of(records)
    text = page(runs, outcome_of(runs))
    assert 700_000 < len(text.encode()) < 1_500_000
    assert "To keep this page below 10 MB it lacks the sources of" in text


def test_scores_and_gates(hostile: Read) -> None:
    found = " ".join(" ".join(hostile.texts).split())
    assert "right and more than p times as fast as eager" in found
    gated = " ".join(made(runs_of(session()), fail_under=0.9).texts)
    assert "gate FAILED: fast_1 on level 1, ann: 0.300, below 0.9 (n = 10)" in gated


def test_pictures_by_level_and_device(hostile: Read) -> None:
    names = [svg["aria-labelledby"] for svg in hostile.all("svg") if svg.get("role") == "img"]
    assert [(name or "").split("-title")[0] for name in names] == [
        "fastp-1", "fastp-2", "speedups-1", "speedups-2", "roof-0", "two-runs",
    ]  # fmt: skip


def test_without_a_roof_it_says_so() -> None:
    text = " ".join(made(runs_of([record(speedup=2.0)])).texts)
    assert "There is no roofline" in text


def test_strict_pictures_have_no_library_kernels() -> None:
    """As the tables above them: neither their speedups nor room for them on the scales."""
    runs = runs_of([record(speedup=2.0), record(2, status=Status.NOT_A_KERNEL, speedup=300.0)])
    others = runs_of([record(speedup=2.0), record(2, status=Status.CRASHED)])
    drawn = [outcome_of(each, strict=True) for each in (runs, others)]
    for draw in (pictures.fast_p, pictures.speedups):
        one, other = (draw(outcome, {"ann": 0}) for outcome in drawn)
        assert one == other
    loose = pictures.speedups(outcome_of(runs), {"ann": 0})
    assert loose != pictures.speedups(drawn[0], {"ann": 0})


@pytest.mark.parametrize("scored", [True, False])
def test_nothing_right_or_scored_is_a_page_too(*, scored: bool) -> None:
    found = made(runs_of([replace(record(status=Status.NOT_BUILT), scored=scored)]))
    assert "1 pair of 1 problem" in " ".join(found.texts)
    pictures = [svg for svg in found.all("svg") if svg.get("role") == "img"]
    assert len(pictures) == scored


# Several runs


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        (record(speedup=1.0), record(speedup=1.5), "faster"),
        (record(speedup=1.5), record(speedup=1.0), "slower"),
        (record(speedup=1.0), record(speedup=1.01), ""),
        (record(status=Status.CRASHED), record(speedup=1.0), "fixed"),
        (record(speedup=1.0), record(status=Status.WRONG_VALUE), "broke"),
        (record(status=Status.CRASHED), record(status=Status.WRONG_VALUE), ""),
        (record(status=Status.RIGHT), record(speedup=2.0), ""),
    ],
)
def test_what_became_of_a_pair(before: Any, after: Any, word: str) -> None:
    assert change(before.verdict, after.verdict) == word


def test_the_latest_record_counts_and_the_others_are_its_history() -> None:
    runs = runs_of([record(speedup=1.0), record(2, speedup=1.0)], [record(speedup=2.0)])
    assert [
        each.verdict.measurement.speedup for each in runs.latest if each.verdict.measurement
    ] == [2.0, 1.0]
    packed = pack(runs, ["ann"], 10**9)
    first, second = unpacked(packed.details[0])
    assert [(past[0], past[3]) for past in first["history"]] == [(0, 1.0), (1, 2.0)]
    assert second["history"] == []
    assert unpacked(packed.rows)["rows"][0][-1] == ["right", 2.0, "faster"]


def test_two_runs_side_by_side(hostile: Read) -> None:
    text = " ".join(" ".join(hostile.texts).split())
    assert "Two runs side by side" in text
    assert "First run 1, then run 2." in text
    assert "1.50x of 8" in text


def test_parts_of_one_session_are_not_compared() -> None:
    text = " ".join(made(runs_of([record(1, speedup=2)], [record(2, speedup=2)])).texts)
    assert "Two runs side by side" not in text


def test_runs_of_the_same_name_get_numbers() -> None:
    assert named(["a", "b", "a", "a"]) == ["a", "b", "a (2)", "a (3)"]


@pytest.mark.parametrize("speedup", [1e308, 1e-308, 1e12])
def test_speedups_of_any_size_are_drawn(speedup: float) -> None:
    """Whoever writes a file of records could else keep its report from being made."""
    both = [record(1, speedup=2.0), record(2, speedup=speedup)]
    runs = runs_of(both, both)
    assert page(runs, outcome_of(runs))
