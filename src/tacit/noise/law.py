"""Which noise is drawn for an event: its law, the one parameter of that law, and how many
numbers are paid for.

The noise of a release is drawn *from its event*, so what is charged is what is drawn: every
number here is one that stands in the book.
"""

from __future__ import annotations

from typing import NamedTuple

from tacit.ledger.account.event import (
    Event,
    Gaussian,
    KNorm,
    Laplace,
    Response,
    Selection,
    Skellam,
    Unbounded,
)


class Law(NamedTuple):
    """What is drawn for an event."""

    name: str
    """Empty where nothing is added."""
    spread: float
    """Its one parameter, in steps (of a report: its log-ratio)."""
    numbers: int
    """How many numbers it pays for, each drawn once."""


NOTHING = Law("", 0.0, 0)


def law_of(event: Event) -> Law:
    """The noise that is drawn for an event; nameless where none is."""
    match event:
        case Gaussian():
            return Law("gaussian", event.sigma, event.draws)
        case Laplace():
            return Law("laplace", event.scale, event.draws)
        case KNorm():
            return Law("knorm", event.scale, event.rows * event.dimension)
        case Response():
            return Law("response", event.epsilon, 0)
        case Unbounded():  # what the paper prints
            return Law(event.noise, event.scale, event.draws)
        case Skellam():  # devices draw it in shares
            return Law("", 0.0, event.draws)
        case Selection():  # nothing is added: a winner is drawn
            return Law("", 0.0, event.candidates)
    return NOTHING
