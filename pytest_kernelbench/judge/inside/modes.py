"""How the inputs of a call may be made from their bases; ``judge.variation`` chooses."""

from __future__ import annotations

COPY, SCALE, SYMMETRIC, PICK, MIX = "copy", "scale", "symmetric", "pick", "mix"
NUMBERS = {COPY: 0, SCALE: 1, SYMMETRIC: 2, PICK: 3, MIX: 4}
"""As the kernel has them."""
VARIANTS = {COPY: 1, SCALE: 1, SYMMETRIC: 1, PICK: 4, MIX: 4}
"""How many draws an input takes."""
