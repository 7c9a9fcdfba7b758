"""Who sums, and who is trusted. An engine runs a round where the ratings are and gives back
only what was released.

The conductor (`tacit.fitting.run`) touches no rating: what it must have done with them is a
verb of the engine, because on a cluster the ratings are elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from tacit.noise.release import Charge
from tacit.rounds.options import How
from tacit.rounds.pattern import Pattern
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Released, Round
from tacit.rounds.state import State

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue


class Engine(Protocol):
    """One run over one set of people. Personal state lives in it, on the people's side, and
    dies with it."""

    name: str
    like: str
    trust: str
    """Who must be trusted, in words."""
    refused: int
    """Answers that devices did not give because their own ledgers had no room."""

    @property
    def people(self) -> int:
        """How many people it has: private, but where a calibration or a unit shows it."""

    def align(self, items: Catalogue) -> None:
        """Put the ratings over the rows of a public catalogue; those of other items are
        dropped."""

    def limit(self, max_ratings: int) -> None:
        """Keep at most so many ratings of a person, chosen by fresh secret words."""

    def pattern(self) -> Pattern:
        """Who rated what, for a unit at which that is public."""

    def fingerprint(self) -> bytes:
        """Bytes that differ between data sets; the ledger stores a keyed digest of them."""

    def check(self, plan: Plan) -> None:
        """Refuse, before anything is paid, a plan that cannot be run here."""

    def run(self, round_: Round, state: State, charge: Charge) -> Mapping[str, Released]:
        """Sum the contributions, noise every part from its paid event, release."""


class EngineClass(Protocol):
    """What an entry point of `tacit.engines` names."""

    like: str
    """An engine whose methods and neighbouring data sets this one has too, such as
    `threads`; empty for the engines that methods name."""

    def over(self, ratings: Any, how: How, budget: Budget | None) -> Engine:
        """An engine over these ratings, or over those of a cluster where it has one.
        `budget` is what every device's own ledger lets it
        answer in all, in the local model."""
