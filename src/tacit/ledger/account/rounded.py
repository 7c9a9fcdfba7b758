"""Numbers as they are told: what bounds something is rounded up, what is left is rounded down.
A bound that is rounded to the nearest may say less than was proven."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import ceil, isfinite

DIGITS = 4
"""Of an epsilon that is told."""
SLACK = 1e-12
"""Relative, as in the checks of a book: ten tenths are one."""


def up(value: float, digits: int = DIGITS) -> str:
    """Never smaller than it is: for what was spent, and for what holds at most."""
    return _render(value * (1 - SLACK), ROUND_CEILING, digits)


def percent(value: float) -> str:
    """A chance that is such at most, in a hundred with one decimal, and never smaller."""
    chance = value if isfinite(value) else 1.0
    return f"{ceil(1000 * chance * (1 - SLACK)) / 10:.1f}"


def down(value: float) -> str:
    """Never larger than it is: for what is left."""
    return _render(value * (1 + SLACK), ROUND_FLOOR, DIGITS)


def _render(value: float, rounding: str, digits: int) -> str:
    if not isfinite(value):
        return f"{value:g}"
    rounded = Context(prec=digits, rounding=rounding).create_decimal(Decimal(value))
    return f"{float(rounded):.{digits}g}"
