"""How busy the engine keeps its devices, and what it costs a pair.

    python benchmarks/engine.py gpu [--arms cold-1 warm-1 serial-1 warm-2] [--pairs 24] [--budget S]
    python benchmarks/engine.py cpu [--arms in-process engine xdist ray] [--pairs 200]

*gpu*: pairs of level 1 out of ``solutions/`` (copies of them, where there are fewer), full sizes.
An arm is a build cache (``cold``: empty; ``warm``: of the arm before; ``serial``: warm, and one
judge a GPU instead of two that take turns) and a number of GPUs. Busy is the share of time in which
a kernel ran, as the driver says, sampled ten times a second from the first kernel to the last one.

*cpu*: copies of small references as their own solutions, correctness alone. *in-process* is a bare
referee in a loop, without builds, pytest and reports: what no engine can go below.

Each arm is a process of its own. CPU time is that of the whole machine meanwhile, since processes
that are killed leave theirs to nobody: run it where nothing else runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parents[1]
EVERY_S = 0.1
SERIAL = """
from pytest_kernelbench.engine import local
local._SEATS_OF_GPU = 1
"""
IN_PROCESS = """
import sys
from pathlib import Path
from pytest_kernelbench.build.extension import Extension
from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.catalog.pair import Pair, Solution
from pytest_kernelbench.engine.devices import find_device
from pytest_kernelbench.judge.referee import Referee
from pytest_kernelbench.settings import Settings
root, folder = Path(sys.argv[1]), Path(sys.argv[2])
settings = Settings(problem_roots=(root,), cache_dir=folder / "cache", correctness_only=True)
catalog = ProblemCatalog((root,))
nothing = Extension(folder, folder / "build.log", 0.0, cached=True)
(folder / "manifest.json").write_text('{"calls": {}}')
referee = Referee(settings, find_device("cpu"))
for path in sorted((folder / "solutions").rglob("*.py")):
    problem = catalog.get(1, int(path.name[:3]))
    print(referee.judge(Pair(problem, Solution(path, "copy")), nothing).status.value)
referee.close()
"""
"""Small and quick to compute: what is left is the judge's own."""
SMALL = (19, 20, 21, 22, 25, 26, 28, 30, 32, 88)


@dataclass(frozen=True)
class Run:
    """One arm."""

    arm: str
    pairs: int
    wall_s: float
    cpu_s: float
    statuses: dict[str, int]
    busy: tuple[float, ...] = ()

    def row(self) -> str:
        """In the columns of ``HEAD``."""
        busy = " ".join(f"{100 * share:.0f} %" for share in self.busy) or "-"
        done = ", ".join(f"{count} {status}" for status, count in sorted(self.statuses.items()))
        return (
            f"| {self.arm} | {self.pairs} | {self.wall_s:.1f} | {self.cpu_s:.1f} | "
            f"{self.wall_s / self.pairs:.2f} | {60 * self.pairs / self.wall_s:.1f} | {busy} | "
            f"{done} |"
        )


HEAD = """\
| arm | pairs | wall s | CPU s | wall s a pair | pairs a minute | GPU busy | ended |
|---|---|---|---|---|---|---|---|"""


class Sampler:
    """Shares of time in which a kernel ran, by device, as NVML says."""

    def __init__(self, devices: int) -> None:
        import pynvml  # type: ignore[import-untyped]

        pynvml.nvmlInit()
        self._nvml: Any = pynvml
        self._handles = [pynvml.nvmlDeviceGetHandleByIndex(number) for number in range(devices)]
        self._samples: list[list[int]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def _sample(self) -> None:
        while not self._over.wait(EVERY_S):
            rates = [self._nvml.nvmlDeviceGetUtilizationRates(each).gpu for each in self._handles]
            self._samples.append(rates)

    def __enter__(self) -> Sampler:  # noqa: PYI034 - Self is of Python 3.11
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def busy(self) -> tuple[float, ...]:
        """From the first sample with a kernel on any device to the last one."""
        used = [number for number, rates in enumerate(self._samples) if any(rates)]
        if not used:
            return ()
        between = self._samples[used[0] : used[-1] + 1]
        columns = zip(*between, strict=True)
        return tuple(sum(column) / 100 / len(between) for column in columns)


def timed(  # noqa: PLR0913, PLR0917 - what an arm is
    arm: str, pairs: int, command: list[str], folder: Path, environment: dict[str, str], gpus: int
) -> Run:
    """Run one arm; its verdicts are in ``verdicts.jsonl``, or on its lines."""
    verdicts = folder / "verdicts.jsonl"
    verdicts.unlink(missing_ok=True)
    before_s = _cpu_s()
    start_s = time.monotonic()
    sampler = Sampler(gpus) if gpus else None
    with (folder / f"{arm}.log").open("w", encoding="utf-8") as log:
        options: Any = {"cwd": folder, "stdout": log, "stderr": subprocess.STDOUT}
        options["env"] = {**os.environ, **environment}
        if sampler is None:
            subprocess.run(command, check=False, **options)
        else:
            with sampler:
                subprocess.run(command, check=False, **options)
    wall_s = time.monotonic() - start_s
    cpu_s = _cpu_s() - before_s
    statuses = Counter(_statuses(verdicts, folder / f"{arm}.log"))
    if not statuses:
        print((folder / f"{arm}.log").read_text(encoding="utf-8")[-3000:], file=sys.stderr)
    return Run(arm, pairs, wall_s, cpu_s, dict(statuses), sampler.busy() if sampler else ())


def _cpu_s() -> float:
    """Of all processors since the machine started, but for idling and waiting."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq)


def _statuses(verdicts: Path, log: Path) -> list[str]:
    if not verdicts.exists():
        return log.read_text(encoding="utf-8").split()
    records = map(json.loads, verdicts.read_text(encoding="utf-8").splitlines())
    return [record["status"] for record in records if "status" in record]


def pytest_command(*more: str) -> list[str]:
    """The plugin over the arm's tree of solutions."""
    return [
        sys.executable, "-m", "pytest", "solutions", "-q", "-p", "no:cacheprovider",
        "-p", "no:hypothesispytest", "-p", "no:benchmark", "--kb-json", "verdicts.jsonl",
        "--kb-cache", "cache", "--kb-problems", str(ROOT / "problems"), *more,
    ]  # fmt: skip


def written(folder: Path, texts: dict[str, list[str]], pairs: int) -> int:
    """``solutions/ENTRANT/level1/NNN_name_sampleK.py``, each text its own; how many."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    count = sample = 0
    while count < pairs:
        for name, sources in sorted(texts.items()):
            for number, source in enumerate(sources):
                if count == pairs:
                    return count
                place = folder / "solutions" / f"e{number}" / "level1"
                place.mkdir(parents=True, exist_ok=True)
                path = place / f"{name}_sample{sample}.py"
                path.write_text(f"{source}\n# sample {sample}\n", encoding="utf-8")
                count += 1
        sample += 1
    return count


def gpu_sources() -> dict[str, list[str]]:
    """What the project has for level 1 on a GPU, by problem."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "solutions").glob("*/level1/*.py")):
        if path.parts[-3] in ("cuda", "triton"):
            found.setdefault(path.stem, []).append(path.read_text(encoding="utf-8"))
    return found


def cpu_sources() -> dict[str, list[str]]:
    """References as solutions, by problem."""
    found = {}
    for number in SMALL:
        (path,) = (ROOT / "problems" / "level1").glob(f"{number:03d}_*.py")
        text = path.read_text(encoding="utf-8").replace("class Model(", "class ModelNew(")
        text = text.replace("super(Model,", "super(ModelNew,")
        found[path.stem] = [text]
    return found


def gpu(args: argparse.Namespace, folder: Path) -> list[Run]:
    """Cold, warm, and on more devices."""
    pairs = written(folder, gpu_sources(), args.pairs)
    runs = []
    for arm in args.arms or ("cold-1", "warm-1", "serial-1", "warm-2"):
        kind, _, count = arm.partition("-")
        devices = ",".join(map(str, range(int(count))))
        (folder / "conftest.py").write_text(SERIAL if kind == "serial" else "")
        if kind == "cold":
            subprocess.run(["rm", "-rf", str(folder / "cache" / "build")], check=True)  # noqa: S607
        command = pytest_command("--kb-device", "cuda", "--kb-budget", str(args.budget))
        environment = {"CUDA_VISIBLE_DEVICES": devices}
        runs.append(timed(arm, pairs, command, folder, environment, int(count)))
        print(runs[-1].row(), flush=True)
    return runs


def cpu(args: argparse.Namespace, folder: Path) -> list[Run]:
    """The same pairs by each way there is; builds are cached before."""
    pairs = written(folder, cpu_sources(), args.pairs)
    common = ("--kb-device", "cpu", "--kb-correctness-only")
    subprocess.run(
        pytest_command("--kb-build-only"), check=False, cwd=folder, stdout=subprocess.DEVNULL
    )
    commands = {
        "in-process": [sys.executable, "-c", IN_PROCESS, str(ROOT / "problems"), str(folder)],
        "engine": pytest_command(*common),
        "xdist": pytest_command(*common, "-n", "2"),
        "ray": pytest_command(*common, "--kb-engine", "ray"),
    }
    runs = []
    for arm in args.arms or commands:
        if arm == "in-process":
            (folder / "verdicts.jsonl").unlink(missing_ok=True)
        runs.append(timed(arm, pairs, commands[arm], folder, {}, 0))
        print(runs[-1].row(), flush=True)
    return runs


def main() -> None:
    """Print a table, and what its rows say of each other."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("where", choices=("gpu", "cpu"))
    parser.add_argument("--arms", nargs="+", default=[])
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--budget", type=float, default=1.0, help="seconds of timing a pair")
    parser.add_argument("--keep", type=Path, help="a folder to work in, kept")
    args = parser.parse_args()
    args.pairs = args.pairs or (24 if args.where == "gpu" else 200)
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory(prefix="kb-engine-") as temporary:
        folder = args.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        runs = {run.arm: run for run in (gpu if args.where == "gpu" else cpu)(args, folder)}
    for one, other in (("warm-1", "warm-2"), ("serial-1", "warm-1")):
        if one in runs and other in runs:
            ratio = runs[one].wall_s / runs[other].wall_s
            print(f"{other} is {ratio:.2f}x as fast as {one}")
    if "in-process" in runs:
        least_s = runs["in-process"].wall_s / runs["in-process"].pairs
        for run in runs.values():
            over_s = run.wall_s / run.pairs - least_s
            print(f"{run.arm}: {1000 * over_s:+.0f} ms of wall a pair beside in-process")


if __name__ == "__main__":
    main()
