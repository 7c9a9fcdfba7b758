"""Who sums, and who is trusted. An engine runs a round where the ratings are and gives back
only what was released."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from tacit.noise.release import Charge
from tacit.rounds.round import Released, Round
from tacit.rounds.state import State

Progress = Callable[[int, int, str], None]
"""Called with (done, total, what); may come from any thread."""


class Engine(Protocol):
    """One run over one set of people. Personal state lives in it, on the people's side, and
    dies with it."""

    name: str
    trust: str

    def run(
        self, round_: Round, state: State, charge: Charge
    ) -> Mapping[str, Released]:
        """Sum the contributions, noise every part from its paid event, release."""
