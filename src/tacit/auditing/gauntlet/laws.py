"""The laws that a method draws its noise from, for attacks on the drawing itself."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.ledger.account.event import Event, Skellam
from tacit.noise.law import Law, law_of

SUMS = ("gaussian", "laplace", "knorm")
"""Laws that are added to sums."""


def laws(events: Iterable[Event]) -> dict[str, Event]:
    """One event for each law that is drawn, by its name."""
    by_name: dict[str, Event] = {}
    for event in events:
        name = "skellam" if isinstance(event, Skellam) else law_of(event).name
        if name == "":
            name = event.kind
        if name != "none":
            by_name.setdefault(name, event)
    return by_name


def added(events: Iterable[Event]) -> dict[str, Law]:
    """Those that are added to sums."""
    return {
        name: law_of(event) for name, event in laws(events).items() if law_of(event).name in SUMS
    }
