"""What torch.compile made of a reference, kept for later sessions, out of a solution's reach.

Compiling takes ten seconds and more for each baseline of each problem. torch finds its results
again by the program's graph, its own version and the device, so one folder serves all problems. It
holds pickles that the baseline's process loads: whoever writes there runs code in that process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_kernelbench.sandbox import landlock

if TYPE_CHECKING:
    from pathlib import Path

_FOLDERS = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}


def kept_code(cache_dir: Path) -> dict[str, str]:
    """Variables that name the folders, for a baseline's environment.

    Empty where no wall keeps solutions from files of this user: then each process compiles anew.
    """
    if not landlock.abi():
        return {}
    variables = {}
    for name, folder in _FOLDERS.items():
        path = (cache_dir / "compiled" / folder).absolute()
        path.mkdir(parents=True, exist_ok=True)
        variables[name] = str(path)
    return variables
