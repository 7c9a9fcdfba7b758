"""What a release costs somebody who asked for less than the rest.

Her numbers are multiplied, after they were bounded, by a weight of her own that is at most 1
(`tacit.bound.personal`). Everybody else's noise is hers too, so for her every event has its
sensitivity times that weight: rho becomes weight^2 rho, a pure epsilon weight x epsilon
(docs/proofs/personal.md).
"""

from __future__ import annotations

from collections.abc import Iterable

from tacit.errors import SettingError
from tacit.ledger.account.account import epsilon
from tacit.ledger.account.event import Event, Gaussian, KNorm, Laplace, Reserve, Skellam
from tacit.units import Unit

WHOLE = 1 << 20
"""The weight of somebody who asked for nothing: weights are whole numbers up to it."""


def lesser(event: Event, weight: int) -> Event:
    """The same event as it costs somebody with this weight, which is not nought."""
    part = weight / WHOLE
    if isinstance(event, Gaussian | Laplace | KNorm):
        return event.model_copy(update={"sensitivity": event.sensitivity * part})
    if isinstance(event, Skellam):
        update = {"sensitivity": event.sensitivity * part, "l1": event.l1 * part}
        return event.model_copy(update=update)
    if isinstance(event, Reserve):
        parameters = event.model_dump(include={"mu", "epsilon"}, exclude_none=True)
        scaled = {name: parameter * part for name, parameter in parameters.items()}
        return event.model_copy(update=scaled)
    raise SettingError(
        f"a release of the kind {event.kind} costs everybody the same: nobody can ask for less",
        remedy="use a method whose rounds are sums, or let those who want less stay out",
    )


def weight_for(
    events: Iterable[Event], target_epsilon: float, delta: float, *, unit: Unit = "user"
) -> int:
    """The largest weight at which all of these events cost somebody at most `target_epsilon`; 0
    where none does."""
    events = tuple(events)
    low, high = 0, WHOLE + 1  # holds at low, and may not at high
    while high - low > 1:
        middle = (low + high) // 2
        mine = [lesser(event, middle) for event in events]
        if epsilon(mine, delta, unit=unit) <= target_epsilon:
            low = middle
        else:
            high = middle
    return low
