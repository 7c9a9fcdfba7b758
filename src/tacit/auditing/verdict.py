"""What an attack on a claim found: the small typed result that every attack fills.

An attack takes a *Target* (a method, its unit, its calibration and the epsilon that it claims)
and gives a *finding*: an epsilon that the mechanism surely costs, but for a stated chance of
a mistake. Above the claim, the claim is refuted. Below it nothing is proven: the finding says
how much of the claim the attack reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import floor, inf, isinf
from typing import Any, Literal, Protocol

from tacit.units import Unit

Calibration = Literal["sound", "paper", "none"]
MISTAKE = 0.05
"""Chance that a true claim is refuted, unless another is asked for: 95 % confidence."""
NEVER = 1e-9
"""The same in automatic tests, which must not fail by chance."""


class ClaimVerdict(Enum):
    """What may be said of a claim after an attack."""

    REFUTED = "refuted"
    NOT_REFUTED = "not refuted"
    LEAK = "deterministic leak"


@dataclass(frozen=True)
class Target:
    """What is attacked, and how sure an attack must be."""

    method: str
    """Its name on the command line."""
    unit: Unit
    calibration: Calibration
    epsilon: float
    """That is claimed; for a twin, which claims nothing, that of the fit beside it."""
    delta: float = 1e-6
    mistake: float = MISTAKE
    quick: bool = False
    """Smaller crowds and fewer runs: less is reached, and nothing else changes."""


@dataclass(frozen=True)
class AttackFinding:
    """What one attack found about one target.

    Guarantee: where `measured` exceeds `claimed`, a claim that holds was met with a chance of
    at most `mistake`.
    """

    attack: str
    method: str
    unit: Unit
    calibration: Calibration
    claimed: float
    """Epsilon; for a twin that of the private fit beside it."""
    proven: float
    """Epsilon at `delta` that the account proves; infinite where nothing is."""
    measured: float
    """Epsilon at `delta` that it surely costs; 0 where the attack found nothing, infinite for
    a deterministic leak."""
    delta: float
    mistake: float = MISTAKE
    """0 where it was computed from the law of the noise, and not measured."""
    leak: bool = False
    """Whether something private is told without noise: no number of runs is needed."""
    note: str = ""
    """One sentence: what was seen, or why the attack cannot reach more."""
    witness: str = ""
    """The pair of neighbours, or the canary, that showed it; invented people only."""
    box: Literal["white", "black"] = "black"
    """White: every released number was seen. Black: the published model or its lists alone."""

    @property
    def target(self) -> tuple[str, str, str]:
        """Which claim it is about."""
        return self.method, self.unit, self.calibration

    @property
    def verdict(self) -> ClaimVerdict:
        """Refuted above the claim; a leak is refuted without a number."""
        if self.leak:
            return ClaimVerdict.LEAK
        if self.measured > self.claimed:
            return ClaimVerdict.REFUTED
        return ClaimVerdict.NOT_REFUTED

    @property
    def fell(self) -> bool:
        """Whether the claim did not stand."""
        return self.verdict is not ClaimVerdict.NOT_REFUTED

    @property
    def reached(self) -> float:
        """The share of the claim that was reached."""
        return inf if self.leak else self.measured / self.claimed

    @property
    def verdict_text(self) -> str:
        """The verdict as it is printed."""
        if self.fell:
            return self.verdict.value
        share = floor(100 * self.reached)
        return f"not refuted (at most {share}% of the claim was reached)"

    def facts(self) -> dict[str, Any]:
        """As JSON: None stands for a number that is not finite."""
        return {
            "attack": self.attack,
            "method": self.method,
            "unit": self.unit,
            "calibration": self.calibration,
            "claimed": _finite(self.claimed),
            "proven": _finite(self.proven),
            "measured": _finite(self.measured),
            "delta": self.delta,
            "mistake": self.mistake,
            "verdict": self.verdict.value,
            "reached": _finite(self.reached),
            "box": self.box,
            "note": self.note,
            "witness": self.witness,
        }


class Attack(Protocol):
    """A named program that attacks a target."""

    name: str

    def __call__(self, target: Target) -> AttackFinding | None:
        """What it found; None where it does not apply to this target."""


def make_finding(
    target: Target,
    attack: str,
    measured: float,
    *,
    proven: float = inf,
    leak: bool = False,
    note: str = "",
    witness: str = "",
    box: Literal["white", "black"] = "black",
) -> AttackFinding:
    """A finding about this target."""
    return AttackFinding(
        attack=attack,
        method=target.method,
        unit=target.unit,
        calibration=target.calibration,
        claimed=target.epsilon,
        proven=proven,
        measured=inf if leak else max(measured, 0.0),
        delta=target.delta,
        mistake=target.mistake,
        leak=leak,
        note=note,
        witness=witness,
        box=box,
    )


def _finite(number: float) -> float | None:
    return None if isinf(number) else number
