"""Where a process of ours that starts from nothing (``python -I``) finds packages."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def import_paths() -> tuple[list[str], list[str]]:
    """First what ``PYTHONPATH`` names, then site-packages, and last our own package.

    Folders that pytest itself put in front of ``sys.path`` are left out: a ``torch.py`` beside a
    solution must not be taken for torch.
    """
    wanted = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    site = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    package = str(Path(__file__).resolve().parents[2])
    return [os.path.abspath(path) for path in wanted], [*site, package]
