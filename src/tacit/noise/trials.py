"""How many trials a private selection runs: the truncated negative binomial law, exactly.

P(k) is proportional to (1 - gamma)^k times the product over l = 1..k-1 of (l + eta)/(l + 1),
for k = 1, 2, ..., with -1 < eta <= 1: geometric at eta 1, logarithmic at eta 0 (Papernot &
Steinke 2022). A geometric k is kept if coins of chance (l + eta)/(l + 1) all come up, each
tossed as soon as it is known that it will be needed; all chances are rational, and coins of
them are exact.
"""

from __future__ import annotations

from fractions import Fraction

from tacit.noise.bits import Bits


def trials(eta: Fraction, gamma: Fraction, bits: Bits) -> int:
    """One draw of the law, at least 1."""
    number = 1
    while not _coin(gamma, bits):
        # One trial more, if it is kept; else all begins anew.
        failed = eta == 1 or _coin((number + eta) / (number + 1), bits)
        number = number + 1 if failed else 1
    return number


def _coin(chance: Fraction, bits: Bits) -> bool:
    """True with exactly this chance."""
    return bits.below(chance.denominator) < chance.numerator
