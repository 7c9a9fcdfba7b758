"""One claim of a paper, and the attack that it has to stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, NamedTuple

from tacit.auditing.verdict import AttackFinding, Target, make_finding
from tacit.units import Unit

Expected = Literal["false", "open", "true"]
"""What derivation says: false, not known before it was measured, or true."""


class SeenByAttack(NamedTuple):
    """What an attack saw."""

    measured: float
    """Epsilon that the release surely costs; infinite for a deterministic leak."""
    note: str
    witness: str = ""


class Force(NamedTuple):
    """How hard an attack tries."""

    mistake: float
    quick: bool


@dataclass(frozen=True)
class PaperClaim:
    """A sentence of a paper as something that can be refuted."""

    name: str
    paper: str
    sentence: str
    """What is claimed, in short."""
    relation: str
    """Between which data sets."""
    method: str
    """That Tacit prints it by."""
    unit: Unit
    epsilon: float
    attack: Callable[[PaperClaim, Force], SeenByAttack]
    expected: Expected
    delta: float = 0.0

    def audit(self, mistake: float, quick: bool = False) -> AttackFinding:
        """Attack it."""
        target = Target(self.method, self.unit, "paper", self.epsilon, self.delta, mistake, quick)
        evidence = self.attack(self, Force(mistake, quick))
        return make_finding(
            target,
            self.name,
            evidence.measured,
            leak=evidence.measured == inf,
            note=evidence.note,
            witness=evidence.witness,
            box="white",
        )

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "claim": self.name,
            "paper": self.paper,
            "sentence": self.sentence,
            "relation": self.relation,
            "expected": self.expected,
        }
