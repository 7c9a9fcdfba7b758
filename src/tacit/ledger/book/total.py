"""What the seal says was spent, so that a charge stays counted when its entry is gone.

The seal carries, for every population and unit, the composed cost of all sealed entries as an
accountant takes it. It is not read where the entries are whole; where one was changed or
removed, it is what remains true.
"""

from __future__ import annotations

from typing import Any

from tacit.ledger.account.account import epsilon_of
from tacit.ledger.account.cost import Cost, Tuned
from tacit.ledger.account.rounded import up
from tacit.ledger.book.rules import BookState
from tacit.units import UNITS

_DELTA = 1e-6
"""At which a total is told where no cap gives a delta."""
_MOST = 1e300
"""Infinity, for JSON."""


def sealed_total(state: BookState) -> dict[str, Any]:
    """The totals of a book as plain data."""
    return {
        unit: {
            **_plain(state.tally(unit).cost),
            "uncovered": state.tally(unit).uncovered,
            "releases": state.counts[unit],
            "cap": state.caps.get(unit),
        }
        for unit in UNITS
        if unit == "user" or unit in state.caps or state.counts[unit]
    }


def words(total: dict[str, Any]) -> str:
    """`user: epsilon 2.8 at delta 1e-06 over 7 releases`, for each unit."""
    return "; ".join(_words(unit, each) for unit, each in total.items())


def _words(unit: str, one: dict[str, Any]) -> str:
    delta = one["cap"][1] if one["cap"] else _DELTA
    releases = f"{one['releases']} release{'s' * (one['releases'] != 1)}"
    told = f"{unit}: epsilon {up(epsilon_of(_cost(one), delta))} at delta {delta:g} over {releases}"
    return f"{told}, {one['uncovered']} more without a bound" if one["uncovered"] else told


def _plain(cost: Cost) -> dict[str, Any]:
    return {
        "mu2": min(cost.mu2, _MOST),
        "draws": cost.draws,
        "pure": sorted((min(epsilon, _MOST), times) for epsilon, times in cost.pure.items()),
        "sampled": sorted((*coin, times) for coin, times in cost.sampled.items()),
        "renyi": min(cost.renyi, _MOST),
        "tuned": sorted((*search, times) for search, times in cost.tuned.items()),
    }


def _cost(one: dict[str, Any]) -> Cost:
    return Cost(
        mu2=one["mu2"],
        draws=one["draws"],
        pure=dict(one["pure"]),
        sampled={(multiplier, chance): times for multiplier, chance, times in one["sampled"]},
        renyi=one["renyi"],
        tuned={Tuned(*search): times for *search, times in one["tuned"]},
    )
