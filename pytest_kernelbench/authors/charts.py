"""Curves as SVG, drawn without a library: a page that needs nothing else."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_kernelbench.authors.tables import Figure

_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 190, 12, 34
_COLOURS = ("#3366cc", "#dc3912", "#109618", "#ff9900", "#990099", "#0099c6", "#888888")
_DASHES = ("", "6 3", "2 3")


def chart(figure: Figure) -> str:
    """One figure: shares from 0 to 1 over the number of calls."""
    most = max((k for curve in figure.curves for k, _ in curve.points), default=1)
    parts = [*_axes(most)]
    for index, curve in enumerate(figure.curves):
        colour = _COLOURS[index % len(_COLOURS)]
        dash = _DASHES[index // len(_COLOURS) % len(_DASHES)]
        known = [(k, share) for k, share in curve.points if share is not None]
        path = " ".join(f"{_x(k, most):.1f},{_y(share):.1f}" for k, share in known)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dash}"/>'
        )
        parts += [
            f'<circle cx="{_x(k, most):.1f}" cy="{_y(share):.1f}" r="3" fill="{colour}">'
            f"<title>{html.escape(curve.label)}, k = {k}: {share:.3f}</title></circle>"
            for k, share in known
        ]
        y = _TOP + 10 + 18 * index
        x = _WIDTH - _RIGHT + 14
        parts.append(f'<rect x="{x}" y="{y - 9}" width="12" height="3" fill="{colour}"/>')
        parts.append(f'<text x="{x + 18}" y="{y - 3}">{html.escape(curve.label[-26:])}</text>')
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" font-size="11" role="img" '
        f'fill="currentColor"><title>{html.escape(figure.title)}</title>{"".join(parts)}</svg>'
    )


def _axes(most: int) -> Iterator[str]:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _y(share)
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share:g}</text>'
    step = max(1, most // 10)
    for k in range(1, most + 1, step):
        yield f'<text x="{_x(k, most):.1f}" y="{bottom + 16}" text-anchor="middle">{k}</text>'
    middle = (_LEFT + right) / 2
    yield f'<text x="{middle}" y="{bottom + 30}" text-anchor="middle">calls a problem (k)</text>'


def _x(k: int, most: int) -> float:
    return _LEFT + (k - 1) / max(1, most - 1) * (_WIDTH - _RIGHT - _LEFT)


def _y(share: float) -> float:
    return _TOP + (1 - share) * (_HEIGHT - _BOTTOM - _TOP)
