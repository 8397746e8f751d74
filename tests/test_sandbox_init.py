"""What the process above a child does, each in a process of its own: it kills all that is below."""

from __future__ import annotations

import json
import subprocess
import sys

from pytest_kernelbench.sandbox.import_paths import import_paths

_BOOT = """
import json, os, signal, sys, time
sys.path += [path for part in json.loads(sys.argv[1]) for path in part if path not in sys.path]
from pytest_kernelbench.sandbox import init, kernel
from pytest_kernelbench.sandbox.tree import descendants
kernel.adopt_orphans()
signal.pthread_sigmask(signal.SIG_BLOCK, init.HEARD)
"""


def said(body: str) -> str:
    """What ``body`` prints."""
    done = subprocess.run(
        [sys.executable, "-c", _BOOT + body, json.dumps(import_paths())],
        capture_output=True,
        check=False,
        timeout=60,
        encoding="utf-8",
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


DAEMONS = """
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(300)
        os._exit(0)
while len(descendants(os.getpid())) < 3: time.sleep(0.01)
"""


def test_all_that_is_below_is_ended_and_reaped() -> None:
    code = DAEMONS + "print(init.end_descendants(30), descendants(os.getpid()))"
    assert said(code) == "0 []"


def test_who_does_not_die_is_counted_and_not_waited_for_for_ever() -> None:
    """As in a call of a driver: the build's outer process waited without an end."""
    code = (
        DAEMONS
        + """
kill, init.send = init.send, lambda *_: None
time.sleep(0.2)  # until those between have ended
print(init.end_descendants(0.2))
init.send = kill
init.end_descendants(30)
"""
    )
    assert said(code) == "3"


def test_a_child_is_ended_for_what_a_look_found_and_looks_are_rare() -> None:
    code = """
looks = []
def look(pids):
    looks.append(pids)
    time.sleep(0.05)
    return "too much" if len(looks) == 3 else ""
if (child := os.fork()) == 0:
    time.sleep(300)
start = time.monotonic()
status, why = init.watch(child, look, print, 4)
took_s = time.monotonic() - start
print(status, why, looks == [[child]] * 3, took_s >= 0.1 + 2 * (0.05 + 4 * 0.05))
"""
    assert said(code) == "9 too much True True"
