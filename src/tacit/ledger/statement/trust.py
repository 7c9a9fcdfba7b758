"""Who must be honest for the promise of a federation to hold, one line each, with its price.

Guarantee: every epsilon here is the accountant's for the events as charged, or for what is
left of them when an assumption fails (docs/proofs/federated.md, Servers and Shares).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tacit.ledger.account.account import epsilon
from tacit.ledger.account.event import Event, Skellam
from tacit.ledger.account.rounded import up
from tacit.units import Unit

RECOMMENDER = (
    "against the recommender, whatever devices it invents or picks: the aggregator adds its "
    "own noise and keeps words and noise to itself; as stated"
)
AGGREGATOR = (
    "against the aggregator, whatever devices it invents: the recommender adds its own noise "
    "and keeps the sums before it to itself; as stated"
)
ANYBODY = "anybody may enrol"
ENROLMENT = {
    "open": ANYBODY,
    "token": "whoever knows one common token may enrol, any number of times",
    "tickets": "one device enrols for each one-time ticket that the operator gave out",
}
"""Who may enrol at a server, by the word with which it says so."""


@dataclass(frozen=True)
class Honesty:
    """What a federation assumes of whom."""

    noise: str
    """`servers`, `devices` or `both`."""
    enough: str
    """Whose shares of the noise suffice, in words."""
    shares: int | None = None
    """The same as a number, where it is known."""
    enrolment: tuple[str, str] | None = None
    """How the recommender and the aggregator enrol; None where nobody enrols."""

    def lines(self, events: Iterable[Event], unit: Unit, delta: float) -> tuple[str, ...]:
        """One for each adversary, and one for each server's enrolment."""
        listed = tuple(events)
        out = list[str]()
        if self.noise != "devices":
            out += [RECOMMENDER, AGGREGATOR]
        if self.noise == "devices":
            out.append(
                "against either server: the other keeps masks and words to itself, and in "
                f"every sum {self.enough} add their shares; devices that a server has "
                "invented add none; as stated"
            )
        if self.noise == "both":
            out.append(
                "against either server, should the other forget its noise: in every sum "
                f"{self.enough} add their shares; as stated"
            )
        out.append(self._colluding(listed, unit, delta))
        if self.enrolment is not None:
            for role, enrolment in zip(("recommender", "aggregator"), self.enrolment, strict=True):
                meaning = ENROLMENT.get(enrolment, "who may enrol is not known")
                out.append(f"enrolment at the {role}: {meaning}")
        return tuple(out)

    def _colluding(self, events: tuple[Event, ...], unit: Unit, delta: float) -> str:
        lead = "against both servers together: nobody can be trusted instead"
        if self.noise == "servers":
            return f"{lead}; nothing is promised, every contribution lies open"
        share_events = one_share(events, self.shares)
        if share_events is None:
            return f"{lead}; a device's own share is all that is left"
        share_epsilon = epsilon(share_events, delta, unit=unit)
        return f"{lead}; a device's own share is all that is left: epsilon {up(share_epsilon)}"


def one_share(events: Iterable[Event], shares: int | None) -> tuple[Event, ...] | None:
    """The events as they are when one share of the noise is all there is; None where that
    has no price here (Laplace shares, or an unknown number of them)."""
    listed = tuple(events)
    if shares is None or not listed:
        return None
    if not all(isinstance(event, Skellam) for event in listed):
        return None
    return tuple(
        event.model_copy(update={"variance": event.variance / shares})
        for event in listed
        if isinstance(event, Skellam)
    )
