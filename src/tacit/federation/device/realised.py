"""What a device has really spent: the loss of its own answers, by their own norms.

Its book is charged for the most that anybody could add, because what is charged must not
depend on ratings. Afterwards the device alone knows how much it did add, and what that moved:
with her contribution replaced by nothing every sum moves by exactly that vector, so the
noise that was charged covers it at the price of its norm and no more (docs/proofs/federated.md,
Realised). The number follows from her ratings. It is hers, is kept in her device's folder and
is never sent, and no cap is measured by it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import inf, nextafter, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.ledger.account.account import epsilon_of
from tacit.ledger.account.cost import Cost, cost
from tacit.ledger.account.event import Event, Gaussian, Laplace, Skellam, Unbounded

FILE = "realised.json"


def realised_event(event: Event, contribution: NDArray[np.int64]) -> Event | None:
    """The event with the norms of this very contribution, summed in exact integers; None for
    a contribution of nothing, which no noise has to cover. An event that no theorem covers
    stays as it is."""
    if isinstance(event, Unbounded):
        return event
    magnitudes = [abs(magnitude) for magnitude in contribution[contribution != 0].tolist()]
    if not magnitudes:
        return None
    l1 = _round_up(sum(magnitudes))
    l2 = nextafter(sqrt(_round_up(sum(magnitude * magnitude for magnitude in magnitudes))), inf)
    if isinstance(event, Gaussian):
        changed = {"sensitivity": min(l2, event.sensitivity)}
    elif isinstance(event, Skellam):
        sensitivity = min(l2, event.sensitivity)
        changed = {"sensitivity": sensitivity, "l1": min(l1, event.l1)}
    elif isinstance(event, Laplace):
        changed = {"sensitivity": min(l1, event.sensitivity)}
    else:
        return event
    return event.model_copy(update=changed)


def _round_up(number: int) -> float:
    """The least float that is not below."""
    nearest = float(number)
    return nearest if nearest >= number else nextafter(nearest, inf)


class Realised:
    """The running total in a device's folder."""

    def __init__(self, home: Path) -> None:
        self.path = home / FILE
        self.answers = 0
        self.total = Cost()
        if self.path.is_file():
            self._read(json.loads(self.path.read_text()))

    def _read(self, facts: dict[str, Any]) -> None:
        self.answers = int(facts["answers"])
        pure = {float(epsilon): int(often) for epsilon, often in facts["pure"]}
        self.total = Cost(
            mu2=float(facts["mu2"]),
            draws=int(facts["draws"]),
            renyi=float(facts["renyi"]),
            pure=pure,
        )

    def add(self, events: Iterable[Event]) -> bytes:
        """One more answer, of these events; the file as it should be written before the
        answer is sent."""
        plain = {"times": 1, "beside": None, "instead": None, "sampled": 1.0}
        realised_events = [event.model_copy(update=plain) for event in events]
        self.total = self.total + cost(realised_events)
        self.answers += 1
        facts = {
            "answers": self.answers,
            "mu2": self.total.mu2,
            "draws": self.total.draws,
            "renyi": self.total.renyi,
            "pure": list(self.total.pure.items()),
        }
        return json.dumps(facts).encode()

    def epsilon(self, delta: float) -> float:
        """Of all answers together, for the whole person."""
        return epsilon_of(self.total, delta) if self.answers else 0.0
