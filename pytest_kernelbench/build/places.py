"""Where a solution lies, in words that were said of the same source somewhere else."""

from __future__ import annotations

import re
from pathlib import Path


def moved(text: str, before: Path, now: Path) -> str:
    """The same words with ``now`` in the place of ``before``: its path, its folder, its name."""
    if before == now:
        return text
    places = {str(before): str(now), before.name: now.name}
    shapes = [_whole(re.escape(str(before)))]
    if before.parent != before.parent.parent:
        places[str(before.parent)] = str(now.parent)
        shapes.append(_whole(re.escape(str(before.parent))))
    shapes.append(rf"(?<![\w./-]){_whole(re.escape(before.name))}")
    # At once: what is put in is not looked at again.
    return re.sub("|".join(shapes), lambda found: places[found[0]], text)


def _whole(shape: str) -> str:
    """Not where a name goes on; a full stop may follow."""
    return rf"{shape}(?![\w-]|\.\w)"
