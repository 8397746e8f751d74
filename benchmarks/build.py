"""How long sixteen KernelBench-style CUDA sources take to build: plain torch against ours.

    python benchmarks/build.py [--only plain|ours] [--sources N] [--json FILE]

*plain*: each source in a fresh interpreter that does what a harness without a builder does: it
imports the file, one after another, with an empty extension cache. *ours, cold*: one ``Builder``,
all sources asked for at once, with an empty cache (headers are precompiled within the measured
time). *ours, warm*: the same again. CPU time is that of all processes together. Nothing is run on a
device, so none is needed; both sides build for one architecture alone.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from pytest_kernelbench.build.builder import Builder
from pytest_kernelbench.build.cache import store_of
from pytest_kernelbench.build.environment import child_environment, passed_on
from pytest_kernelbench.build.store import Entry
from pytest_kernelbench.build.toolchain import find_toolchain
from pytest_kernelbench.errors import KernelbenchError
from pytest_kernelbench.settings import Settings

SOURCES = sorted((Path(__file__).parent / "build_sources").glob("*.py"))
ARCH = "9.0"
COLD, WARM = "ours, cold", "ours, warm"
_PLAIN = (
    "import importlib.util, sys;"
    "spec = importlib.util.spec_from_file_location('solution', sys.argv[1]);"
    "spec.loader.exec_module(importlib.util.module_from_spec(spec))"
)


@dataclass(frozen=True)
class Figures:
    """One way of building all sources."""

    way: str
    sources: int
    wall_s: float
    cpu_s: float
    failed: int


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("plain", "ours"))
    parser.add_argument("--sources", type=int, default=len(SOURCES))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sources = SOURCES[: options.sources]
    rows: list[Figures] = []
    with tempfile.TemporaryDirectory() as scratch:
        if options.only != "plain":
            rows += [
                ours(COLD, sources, Path(scratch)),
                ours(WARM, sources, Path(scratch)),
            ]
            show(rows[-2:])
        if options.only != "ours":
            rows.append(plain(sources, Path(scratch)))
            show(rows[-1:])
    if options.only is None:
        compare(rows)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))


def plain(sources: list[Path], scratch: Path) -> Figures:
    """Fresh interpreters one after another, torch as it comes."""
    tools = find_toolchain(os.environ)
    failed = 0
    started, cpu_before = time.monotonic(), cpu_s()
    for source in sources:
        work = scratch / f"plain-{source.stem}"
        work.mkdir()
        passed = passed_on(tools, work, ARCH)
        environment = child_environment(os.environ, work, passed, len(os.sched_getaffinity(0)))
        # The real compilers under their own names, and none of our variables.
        environment["CXX"] = tools.cxx
        environment["PYTORCH_NVCC"] = tools.nvcc
        environment["CPLUS_INCLUDE_PATH"] = os.pathsep.join(tools.more_includes)
        del environment["PYTEST_KERNELBENCH_BUILD"]
        begun = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", _PLAIN, str(source)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        # As it goes: whoever has to stop early knows what was measured until then.
        spent_s, so_far_s = time.monotonic() - begun, time.monotonic() - started
        print(f"  plain {source.stem}: {spent_s:.1f} s wall, {so_far_s:.1f} s so far", flush=True)
        if done.returncode:
            failed += 1
            print(f"plain: {source.name} failed\n{done.stdout.decode()[-2000:]}", file=sys.stderr)
    return Figures("plain", len(sources), time.monotonic() - started, cpu_s() - cpu_before, failed)


def ours(way: str, sources: list[Path], scratch: Path) -> Figures:
    """One builder, everything asked for at once."""
    failed = 0
    started, cpu_before = time.monotonic(), cpu_s()
    began_at = time.time()
    builder = Builder(Settings(cache_dir=scratch / "cache"), arch=ARCH)
    builder.ahead((source, "ModelNew") for source in sources)
    for source in sources:
        failed += not builds(builder, source)
    wall_s = time.monotonic() - started
    builder.close()
    # Build children are no children of this process: what they spent is in their entries.
    rows = list(store_of(scratch / "cache").rows())
    if way == COLD:
        detail([entry for _, entry, _ in rows], began_at)
    spent_s = 0.0 if way == WARM else sum(entry.cpu_s for _, entry, _ in rows)
    return Figures(way, len(sources), wall_s, cpu_s() - cpu_before + spent_s, failed)


def detail(entries: list[Entry], began_at: float) -> None:
    """A line for each build: how long it took among the others, and when it was done."""
    cores = len(os.sched_getaffinity(0))
    print(f"  {cores} cores may be used")
    for entry in sorted(entries, key=lambda each: each.made_at):
        print(
            f"  ours {Path(entry.solution).stem}: {entry.seconds:.1f} s wall, "
            f"{entry.cpu_s:.1f} s CPU, done at {entry.made_at - began_at:.1f} s",
            flush=True,
        )


def builds(builder: Builder, source: Path) -> bool:
    """Whether it can be built; says why where it cannot."""
    try:
        builder.build(source)
    except KernelbenchError as error:
        print(f"{source.name} failed\n{error}", file=sys.stderr)
        return False
    return True


def cpu_s() -> float:
    """CPU seconds of this process and of all its children that have ended."""
    own, children = (
        resource.getrusage(resource.RUSAGE_SELF),
        resource.getrusage(resource.RUSAGE_CHILDREN),
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def show(rows: list[Figures]) -> None:
    """One line each."""
    for row in rows:
        print(
            f"{row.way:12} {row.sources} sources, {row.failed} failed: "
            f"{row.wall_s:8.2f} s wall ({row.wall_s / row.sources:.3f} a source), "
            f"{row.cpu_s:8.2f} s CPU ({row.cpu_s / row.sources:.2f} a source)",
            flush=True,
        )


def compare(rows: list[Figures]) -> None:
    """How many times less than plain."""
    by_way = {row.way: row for row in rows}
    cold, base = by_way[COLD], by_way["plain"]
    print(
        f"cold: {base.wall_s / cold.wall_s:.1f} times less wall, "
        f"{base.cpu_s / cold.cpu_s:.1f} times less CPU"
    )


if __name__ == "__main__":
    main()
