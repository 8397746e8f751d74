"""The compiler that ninja calls: runs the real one, keeps what it says, and tries the quick way first.

    python -c "...; main()" <settings.json> <real tool> ARGUMENTS...

Runs without site-packages, once for each compile and link; imports as little as it can. A compile is tried with the
lean headers (``lean.py``) where they may do; whenever that fails the plain command runs, and what *it* says counts.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from typing import Any

from pytest_kernelbench.build import lean

SETTINGS_VARIABLE = "PYTEST_KERNELBENCH_BUILD"
"""Names the work folder in which logs are kept; unset where nobody reads them."""


def main() -> None:
    """Run one tool and exit as it does."""
    config_file, tool, *arguments = sys.argv[1:]
    with open(config_file, encoding="utf-8") as file:
        config: dict[str, Any] = json.load(file)
    work = os.environ.get(SETTINGS_VARIABLE, "")
    source = compiled_source(arguments)
    command = [config[tool], *arguments]
    if source and config["compiler_cache"]:
        command.insert(0, config["compiler_cache"])
    status, said, how = _run(command, source, tool, config)
    sys.stdout.buffer.write(said)
    sys.stdout.flush()
    if work and (source or said):
        _keep(work, f"{tool}-{os.getpid()}", how, command, said)
    if work and source and status == 0:
        _keep_dependencies(work, arguments)
    sys.exit(status)


def compiled_source(arguments: list[str]) -> str:
    """The file that a compile command compiles; empty for links and questions such as ``-v``."""
    if "-c" not in arguments:
        return ""
    endings = lean.SOURCE_ENDINGS
    after = dict(zip(arguments[1:], arguments, strict=False))
    sources = [a for a in arguments if a.endswith(endings) and after.get(a) not in ("-o", "-MF")]
    return sources[0] if len(sources) == 1 else ""


def _run(
    command: list[str], source: str, tool: str, config: dict[str, Any]
) -> tuple[int, bytes, str]:
    quick = lean.plan(source, tool, command, config) if source else None
    if quick is not None:
        with contextlib.suppress(OSError):
            status, said = _call([*command, *quick.arguments])
            if status == 0:
                return status, said, "lean"
    status, said = _call(command)
    return status, said, "plain" if quick is None else "plain, after the lean headers did not do"


def _call(command: list[str]) -> tuple[int, bytes]:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    status = done.returncode
    return (128 - status if status < 0 else status), done.stdout


def _keep(work: str, name: str, how: str, command: list[str], said: bytes) -> None:
    folder = os.path.join(work, "tools")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{name}.log"), "wb") as file:
        file.write(f"# {how}: {' '.join(command)}\n".encode(errors="replace"))
        file.write(said)


def _keep_dependencies(work: str, arguments: list[str]) -> None:
    """The headers that were read, so that the cache knows when one of the solution's own changes."""
    if "-MF" not in arguments:
        return
    with open(arguments[arguments.index("-MF") + 1], encoding="utf-8", errors="replace") as file:
        text = file.read().replace("\\\n", " ")
    names = text.partition(": ")[2].replace("\\ ", "\0").split()
    with open(os.path.join(work, "dependencies.txt"), "a", encoding="utf-8") as file:
        file.writelines(os.path.abspath(name.replace("\0", " ")) + "\n" for name in names)
