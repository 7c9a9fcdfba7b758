"""Charts as plain SVG: no script, no inline style; the style sheet gives them their colours."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT = 56, 16
TOP, BOTTOM = 14, 34
MARKS = 5


@dataclass(frozen=True)
class Step:
    """From this moment on, this much."""

    when: float
    """Seconds since 1970."""
    amount: float


@dataclass(frozen=True)
class _Frame:
    first: float
    last: float
    most: float

    def across(self, when: float) -> float:
        share = (when - self.first) / max(self.last - self.first, 1e-9)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def up(self, amount: float) -> float:
        return HEIGHT - BOTTOM - amount / self.most * (HEIGHT - TOP - BOTTOM)


def spent_chart(
    title: str, steps: Sequence[Step], caps: Sequence[Step], days: Sequence[str]
) -> str:
    """Epsilon over time as steps, and the caps that held. `days` are words for the two ends."""
    times = [step.when for step in (*steps, *caps)]
    highest = max([step.amount for step in (*steps, *caps)], default=1.0) or 1.0
    frame = _Frame(min(times), max(max(times), min(times) + 1), _round_up(highest))
    parts = [*_axis(frame), _ends(days), _line("spent", frame, steps)]
    if caps:
        parts.append(_line("cap", frame, caps))
    return _svg(title, HEIGHT, parts)


def cost_chart(title: str, bars: Sequence[tuple[str, float]]) -> str:
    """One bar for each model: what it cost."""
    row = 26
    height = TOP + row * max(len(bars), 1) + 8
    highest = max([amount for _, amount in bars], default=1.0) or 1.0
    label = 240
    parts = list[str]()
    for index, (name, amount) in enumerate(bars):
        top = TOP + row * index
        width = max(amount / highest * (WIDTH - label - 90), 1)
        parts.append(f'<text x="{label - 8}" y="{top + 15}" text-anchor="end">{_cut(name)}</text>')
        parts.append(
            f'<rect class="bar" x="{label}" y="{top + 3}" width="{width:.1f}" height="16"/>'
        )
        parts.append(f'<text x="{label + width + 6:.1f}" y="{top + 15}">{amount:.4g}</text>')
    return _svg(title, height, parts)


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    safe_title = html.escape(title, quote=True)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" role="img" '
        f'aria-label="{safe_title}"><title>{safe_title}</title>{"".join(parts)}</svg>'
    )


def _axis(frame: _Frame) -> list[str]:
    parts = list[str]()
    for mark in range(MARKS + 1):
        amount = frame.most * mark / MARKS
        y = frame.up(amount)
        parts.append(f'<path class="axis" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{amount:g}</text>')
    return parts


def _ends(days: Sequence[str]) -> str:
    y = HEIGHT - 10
    return (
        f'<text x="{LEFT}" y="{y}">{html.escape(days[0])}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{y}" text-anchor="end">{html.escape(days[-1])}</text>'
    )


def _line(kind: str, frame: _Frame, steps: Sequence[Step]) -> str:
    path = list[str]()
    for step in steps:
        x, y = frame.across(step.when), frame.up(step.amount)
        path.append(f"H{x:.1f}V{y:.1f}" if path else f"M{x:.1f} {y:.1f}")
    return f'<path class="{kind}" d="{"".join(path)}H{WIDTH - RIGHT}"/>'


def _round_up(amount: float) -> float:
    """To 1, 2 or 5 times a power of ten."""
    power = 10 ** floor(log10(amount))
    return float(
        next(step * power for step in (1, 2, 5, 10) if step >= ceil(amount / power * 10) / 10)
    )


def _cut(name: str) -> str:
    return html.escape(name if len(name) <= 34 else name[:33] + "…")
