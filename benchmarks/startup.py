"""What the plugin costs a test run that has nothing to do with kernels.

    python benchmarks/startup.py [--runs 12]

Processor time of `pytest -q` in an empty folder, with the plugin and with `-p no:kernelbench`, in
turns. The least of each is compared: what a busy machine adds is never negative. The goal is 50 ms.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

_NO_TESTS = 5
_QUICK = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=12)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_s(folder)  # compiles what has changed
        turns = [(run_s(folder), run_s(folder, "-p", "no:kernelbench")) for _ in range(runs)]
    ours_s, without_s = map(list, zip(*turns, strict=True))
    least_ms, middle_ms = (1e3 * (find(ours_s) - find(without_s)) for find in (min, median))
    print(f"pytest alone {min(without_s) * 1e3:.0f} ms, with the plugin {min(ours_s) * 1e3:.0f} ms")
    print(f"the plugin: {least_ms:.0f} ms by the least, {middle_ms:.0f} ms by the median")
    print(f"ratio {min(ours_s) / min(without_s):.2f}")


def run_s(folder: Path, *arguments: str) -> float:
    """Seconds of processor time of one run."""
    command = [sys.executable, "-m", "pytest", "-q", *_QUICK, *arguments]
    process = subprocess.Popen(command, cwd=folder, env=os.environ, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != _NO_TESTS:
        raise SystemExit(f"pytest ended with {process.returncode}, where there is nothing to test")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
