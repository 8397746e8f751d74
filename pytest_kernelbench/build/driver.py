"""The compiler that ninja calls: tries the quick way, then the real one; keeps what it says.

    python -c "...; main()" <settings.json> <real tool> ARGUMENTS...

Runs without site-packages, once for each compile and link; imports as little as it can. A compile
is tried with the lean headers (``lean.py``) where they may do; whenever that fails the plain
command runs, and what *it* says counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.build import lean

if TYPE_CHECKING:
    from collections.abc import Iterable

WORK_VARIABLE = "PYTEST_KERNELBENCH_BUILD"
"""Names the work folder in which logs are kept; unset where nobody reads them."""
TOOL_LOGS, DEPENDENCIES_FILE, WISHES = "tools", "dependencies.txt", "wishes"
"""What it keeps there."""
PRECOMPILED = "precompiled"


def main() -> None:
    """Run one tool and exit as it does."""
    config_file, tool, *arguments = sys.argv[1:]
    with open(config_file, encoding="utf-8") as file:
        config: dict[str, Any] = json.load(file)
    status, said, how = _run(tool, arguments, config)
    sys.stdout.buffer.write(said)
    sys.stdout.flush()
    if compiled_source(arguments) or "-shared" in arguments:
        spent = os.times()
        seconds = spent.children_user + spent.children_system
        head = f"# {how}, {seconds:.2f} s of CPU: {shlex.join([tool, *arguments])}\n"
        keep(f"{tool}-{os.getpid()}.log", head, said)
    if status == 0:
        _keep_dependencies(arguments)
    sys.exit(status)


def compiled_source(arguments: list[str]) -> str:
    """The file that a compile command compiles; empty for links and questions such as ``-v``."""
    if "-c" not in arguments:
        return ""
    endings = lean.SOURCE_ENDINGS
    after = dict(zip(arguments[1:], arguments, strict=False))
    sources = [a for a in arguments if a.endswith(endings) and after.get(a) not in ("-o", "-MF")]
    return sources[0] if len(sources) == 1 else ""


def _run(tool: str, arguments: list[str], config: dict[str, Any]) -> tuple[int, bytes, str]:
    """Exit status, output, and which way it was done."""
    command = [config[tool]]
    source = compiled_source(arguments)
    if not source:
        return *_call([*command, *arguments]), "as it is"
    if config["ccache"]:
        command.insert(0, config["ccache"])
    # Last, so that they are only looked for where the toolkit itself has no such header.
    rest = [part for folder in config["more_includes"] for part in ("-isystem", folder)]
    quick = lean.plan(
        source, arguments, config, lambda: precompiled(arguments, config) if tool == "cxx" else ""
    )
    if quick is not None:
        status, said = _call([*command, *quick, *arguments, *rest])
        if status == 0:
            return status, said, "lean, precompiled" if "-include" in quick else "lean"
        _note("lean", said)
    how = "plain" if quick is None else "plain, after the lean headers did not do"
    return *_call([*command, *arguments, *rest]), how


def _call(command: list[str]) -> tuple[int, bytes]:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    status = done.returncode
    return (128 - status if status < 0 else status), done.stdout


def _note(what: str, said: bytes) -> None:
    """Keep what the first try said: of use to whoever improves the lean headers."""
    keep(f"{what}-{os.getpid()}.txt", "", said)


def flags_key(flags: Iterable[str]) -> str:
    """Names the precompiled header for a set of compiler flags."""
    return hashlib.sha256("\0".join(flags).encode()).hexdigest()[:16]


def host_flags(arguments: list[str]) -> list[str]:
    """What of a compile command a precompiled header depends on."""
    with_value = ("-isystem", "-I", "-MF", "-o", "-D", "-include", "-idirafter", "-iquote")
    ignored = ("-D", "-U", "-I", "-W", "-M", "-L", "-l", "-c")
    before = [None, *arguments]
    return [
        argument
        for previous, argument in zip(before, arguments, strict=False)
        if argument.startswith("-")
        and previous not in with_value
        and argument not in with_value
        and not argument.startswith(ignored)
    ]


def precompiled(arguments: list[str], config: dict[str, Any]) -> str:
    """The folder of the precompiled header for a host compile; where there is none, wish for it."""
    flags = host_flags(arguments)
    folder = os.path.join(config["lean"], PRECOMPILED, flags_key(flags))
    if os.path.isdir(folder):
        return folder
    work = os.environ.get(WORK_VARIABLE)
    if work:
        os.makedirs(os.path.join(work, WISHES), exist_ok=True)
        wish = os.path.join(work, WISHES, f"{flags_key(flags)}.json")
        with open(wish, "w", encoding="utf-8") as file:
            json.dump(flags, file)
    return ""


def keep(name: str, head: str, said: bytes) -> None:
    """Write a log into the work folder, if there is one."""
    work = os.environ.get(WORK_VARIABLE)
    if work:
        folder = os.path.join(work, TOOL_LOGS)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(head.encode(errors="replace") + said)


def _keep_dependencies(arguments: list[str]) -> None:
    """The headers that were read, so that the cache knows when one of them changes."""
    work = os.environ.get(WORK_VARIABLE)
    if not work or "-MF" not in arguments:
        return
    with open(arguments[arguments.index("-MF") + 1], encoding="utf-8", errors="replace") as file:
        text = file.read().replace("\\\n", " ")
    names = text.partition(": ")[2].replace("\\ ", "\0").split()
    with open(os.path.join(work, DEPENDENCIES_FILE), "a", encoding="utf-8") as file:
        file.writelines(os.path.abspath(name.replace("\0", " ")) + "\n" for name in names)
