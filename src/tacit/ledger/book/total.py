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


def format_totals(total: dict[str, Any]) -> str:
    """`user: epsilon 2.8 at delta 1e-06 over 7 releases`, for each unit."""
    return "; ".join(_format_unit(unit, unit_total) for unit, unit_total in total.items())


def _format_unit(unit: str, unit_total: dict[str, Any]) -> str:
    delta = unit_total["cap"][1] if unit_total["cap"] else _DELTA
    releases = f"{unit_total['releases']} release{'s' * (unit_total['releases'] != 1)}"
    epsilon = up(epsilon_of(_cost(unit_total), delta))
    text = f"{unit}: epsilon {epsilon} at delta {delta:g} over {releases}"
    return (
        f"{text}, {unit_total['uncovered']} more without a bound"
        if unit_total["uncovered"]
        else text
    )


def _plain(cost: Cost) -> dict[str, Any]:
    return {
        "mu2": min(cost.mu2, _MOST),
        "draws": cost.draws,
        "pure": sorted((min(epsilon, _MOST), times) for epsilon, times in cost.pure.items()),
        "sampled": sorted((*coin, times) for coin, times in cost.sampled.items()),
        "renyi": min(cost.renyi, _MOST),
        "tuned": sorted((*search, times) for search, times in cost.tuned.items()),
    }


def _cost(unit_total: dict[str, Any]) -> Cost:
    return Cost(
        mu2=unit_total["mu2"],
        draws=unit_total["draws"],
        pure=dict(unit_total["pure"]),
        sampled={
            (multiplier, chance): times for multiplier, chance, times in unit_total["sampled"]
        },
        renyi=unit_total["renyi"],
        tuned={Tuned(*search): times for *search, times in unit_total["tuned"]},
    )
