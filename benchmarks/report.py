"""10,000 recorded verdicts as a page: how long it takes, how large it is, and whether it lags.

    python benchmarks/report.py                 # makes records, times the command, drives Chromium
    python benchmarks/report.py --keep FOLDER   # leaves records and page there

The verdicts are made up, the sources are the solutions of this tree with other names for what they
define and other numbers, as samples of a language model differ. Needs selenium and Chromium.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.reports.records import Record, encode
from pytest_kernelbench.verdict import Measurement, Provenance, Roofline, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
ENTRANTS = {"cuda-a": 1.4, "cuda-b": 0.8, "triton": 1.1, "tilelang": 0.9}
"""By name, about how much faster than the baseline each is."""
FAILURES = (
    (Status.NOT_BUILT, 'kernel.cu(41): error: identifier "__shfl_down" is undefined', 1200),
    (Status.WRONG_VALUE, "output[0]: 38 of 16,777,216 elements differ, first at (12, 801)", 700),
    (Status.WRONG_SHAPE, "output has shape (128, 4096), not (4096, 128)", 0),
    (Status.RAISED, "RuntimeError: CUDA error: invalid configuration argument", 900),
    (Status.TIMED_OUT, "no answer within 120 s in round 1", 0),
)  # fmt: skip
MOST_S, MOST_BYTES = 10.0, 10_000_000
LAG_MS = 100.0
"""What people notice between a key and its effect."""
FEW = 100
"""Pairs of the page that the large one is compared with."""
STAGES = ("scrolling", "flying", "searching", "sorting")
DRIVE = """
const [stage, done] = arguments;
const frame = () => new Promise(requestAnimationFrame);
const painted = async (act) => { // how long until what it did has been painted
  await frame();
  const start = performance.now();
  act();
  await frame();
  await frame();
  return performance.now() - start;
};
const moving = async (step) => {
  const scroller = document.getElementById("scroller"), found = [];
  scroller.scrollTop = 0;
  let before = await frame();
  for (let n = 0; n < 240; n++) {
    scroller.scrollTop += step(scroller);
    const now = await frame();
    found.push(now - before);
    before = now;
  }
  return found;
};
const scrolling = () => moving(() => 120);
const flying = () => moving((scroller) => scroller.scrollHeight / 240);
const searching = async () => {
  const search = document.getElementById("search"), found = [];
  const type = (text) => painted(() => {
    search.value = text;
    search.dispatchEvent(new Event("input", { bubbles: true }));
  });
  for (const word of ["triton", "conv wrong_value", "relu"]) {
    for (let end = 1; end <= word.length; end++) found.push(await type(word.slice(0, end)));
    found.push(await type(""));
  }
  return found;
};
const sorting = async () => {
  const found = [];
  for (const button of document.querySelectorAll("#table thead button")) {
    found.push(await painted(() => button.click()));
  }
  return found;
};
({ scrolling, flying, searching, sorting })[stage]().then(done);
"""
"""A turn of the wheel a frame; the whole table in 240 frames; three searches letter by letter; a
sort by every column. Gives milliseconds from frame to frame, or from a deed to its painting."""


def problems() -> list[tuple[int, int, str]]:
    """Every problem of this tree: level, number, name."""
    found = []
    for path in sorted((ROOT / "problems").glob("level*/[0-9]*.py")):
        number, _, name = path.stem.partition("_")
        found.append((int(path.parent.name.removeprefix("level")), int(number), name))
    return found


def varied(source: str, draw: random.Random) -> str:
    """A source with some of its names and numbers changed."""
    names = sorted(set(re.findall(r"\b[a-z_][a-z_0-9]{5,}\b", source)))
    for name in draw.sample(names, min(len(names), 12)):
        other = f"{name[:4]}_{draw.choice('abcdefghij')}{draw.randrange(100)}"
        source = re.sub(rf"\b{name}\b", other, source)
    return re.sub(r"\b(128|256|512)\b", lambda _: str(draw.choice((64, 128, 256, 512))), source)


def records(count: int, draw: random.Random) -> Iterator[Record]:
    """Records of every entrant on every problem, as many samples each as it takes."""
    sources = [p.read_text(encoding="utf-8") for p in sorted(ROOT.glob("solutions/*/level*/*.py"))]
    wanted = problems()
    made = 0
    for sample in range(count):
        for level, number, name in wanted:
            for entrant, pace in ENTRANTS.items():
                if made == count:
                    return
                made += 1
                path = f"solutions/{entrant}/level{level}/{number:03d}_{name}_sample{sample}.py"
                verdict = _verdict(level, number, name, entrant, sample, path, pace, draw)
                nodeid = f"{path}::test_kernel[level{level}/{number:03d}_{name}]"
                base = sources[(7 * number + level + 3 * len(entrant)) % len(sources)]
                yield Record(nodeid, 100, verdict, source=varied(base, draw))


def _verdict(  # noqa: PLR0913, PLR0917 - a pair's parts
    level: int, number: int, name: str, entrant: str, sample: int, path: str, pace: float,
    draw: random.Random,
) -> Verdict:  # fmt: skip
    known: dict[str, Any] = {
        "level": level, "number": number, "problem": name, "entrant": entrant, "solution": path,
        "sample": sample, "device": "NVIDIA H200", "device_uuid": "GPU-0", "size": "full",
        "dtype": "fp32", "rounds": 5, "build_s": draw.uniform(5, 60), "judge_s": draw.uniform(3, 9),
        "walls": ("namespaces", "landlock", "limits", "memory"),
        "provenance": Provenance(f"{draw.getrandbits(256):064x}", "b" * 64, {}, "2.11.0", "t",
                                 "0.1.0", "2026-11-29T20:00:00.000+00:00"),
    }  # fmt: skip
    if draw.random() < 0.35 + 0.1 * level:
        status, reason, size = draw.choice(FAILURES)
        detail = "".join(
            f"  at line {draw.randrange(200)}: {draw.random()}\n" for _ in range(size // 30)
        )
        return Verdict(status=status, reasons=(reason,), detail=detail, **known)
    speedup = pace * 2 ** draw.gauss(0, 0.9)
    half, baseline_us = draw.uniform(0.003, 0.04), 10 ** draw.uniform(2, 4.3)
    time_us = baseline_us / speedup
    turns = tuple(time_us * draw.uniform(0.99, 1.01) for _ in range(6))
    measured = Measurement(
        "eager", speedup, speedup * (1 - half), speedup * (1 + half), baseline_us, time_us, 90.0, 6,
        48, turns, tuple(turn * speedup for turn in turns), time_us * 1.004, time_us / 4,
        draw.uniform(10, 95), 1980, 45, ("stopped: decided",),
    )  # fmt: skip
    # The fastest takes 95 % of the roof.
    flops = 0.0 if number % 3 == 0 else time_us * 10 ** draw.uniform(6.0, 7.6)
    roofline = Roofline(int(time_us * draw.uniform(0.3, 3.9) * 1e6), flops, 4.2e12, 5.2e13)
    status = Status.FAST if measured.low > 1 else Status.RIGHT
    return Verdict(status=status, agreed=True, measurements=(measured,), roofline=roofline,
                   kernels={"kernel<float, 256>": 0.97}, **known)  # fmt: skip


def write_records(path: Path, count: int, seed: int) -> None:
    """A file as ``--kb-json`` writes it."""
    with path.open("wb") as file:
        for record in records(count, random.Random(seed)):  # noqa: S311 - figures, not secrets
            file.write(encode(record) + b"\n")


def main() -> None:
    """Print the figures; exit status 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        written, html = folder / "records.jsonl", folder / "report.html"
        write_records(written, args.count, 0)
        command = [sys.executable, "-m", "pytest_kernelbench.cli", "report", "--html", str(html)]
        start = time.monotonic()
        subprocess.run([*command, str(written)], check=True, stdout=subprocess.DEVNULL)
        took_s, size_bytes = time.monotonic() - start, html.stat().st_size
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{args.count} records, {written.stat().st_size / 1e6:.1f} MB, in {took_s:.1f} s "
              f"({used.ru_utime + used.ru_stime:.1f} s of a processor)")  # fmt: skip
        print(f"page: {size_bytes / 1e6:.2f} MB")
        few, small = folder / "few.jsonl", folder / "few.html"
        write_records(few, FEW, 0)
        command[-1] = str(small)
        subprocess.run([*command, str(few)], check=True, stdout=subprocess.DEVNULL)
        worst_ms = drive(html, small)
    sys.exit(took_s > MOST_S or size_bytes > MOST_BYTES or worst_ms > LAG_MS)


def drive(large: Path, small: Path) -> float:
    """Print how both pages feel in Chromium; gives the longest wait for a search or a sort."""
    sys.path.append(str(ROOT / "tests"))
    import browser

    if lacking := browser.missing():
        sys.exit(f"scrolling and searching are not measured: {lacking}")
    found: dict[tuple[Path, str], tuple[list[float], float]] = {}
    with browser.chromium() as driver:
        driver.set_script_timeout(120)
        driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        for path in (small, large):
            browser.look(driver, 1400)
            browser.opened(driver, path)
            for stage in STAGES:
                before_s = _busy_s(driver)
                waits_ms = driver.execute_async_script(DRIVE, stage)
                busy_ms = 1e3 * (_busy_s(driver) - before_s) / len(waits_ms)
                found[path, stage] = waits_ms, busy_ms
    print(f"{'ms':12}{'median':>8}{'worst':>8}{'processor':>11}{f'as with {FEW} rows':>20}")
    for stage in STAGES:
        waits_ms, busy_ms = found[large, stage]
        # A short table has nothing left to scroll after a few frames.
        ratio = f"{busy_ms / found[small, stage][1]:.2f}x" if stage in STAGES[2:] else ""
        middle = statistics.median(waits_ms)
        print(f"{stage:12}{middle:8.1f}{max(waits_ms):8.1f}{busy_ms:11.1f}{ratio:>20}")
    return max(max(found[large, stage][0]) for stage in STAGES[2:])


def _busy_s(driver: Any) -> float:  # noqa: ANN401 - a browser
    """Processor time of the page's main thread, which a busy machine does not lengthen."""
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(each["value"] for each in metrics if each["name"] == "TaskDuration")


if __name__ == "__main__":
    main()
