"""Epsilons as they are told: what was spent is rounded up, what is left is rounded down."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import isfinite

DIGITS = 4
"""Of an epsilon that is told."""
SLACK = 1e-12
"""Relative, as in the checks of a book: ten tenths are one."""


def up(value: float) -> str:
    """Never smaller than it is: for what was spent."""
    return _told(value * (1 - SLACK), ROUND_CEILING)


def down(value: float) -> str:
    """Never larger than it is: for what is left."""
    return _told(value * (1 + SLACK), ROUND_FLOOR)


def _told(value: float, way: str) -> str:
    if not isfinite(value):
        return f"{value:g}"
    return f"{float(Context(prec=DIGITS, rounding=way).create_decimal(Decimal(value))):.{DIGITS}g}"
