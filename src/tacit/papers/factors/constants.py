"""The constants of printed factorizations, with the values that the papers print, and the
readings that they leave open."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal


@dataclass(frozen=True)
class PaperConstants:
    """Constants of a paper: those of Xian et al. (5.2) unless it has its own.

    The inner scale has width 4, as their 1 to 5 has, so they carry over.
    """

    factors: int = 5
    """d."""
    epochs: int = 20
    """k."""
    seed: int = 0
    rate: float = 0.001
    """gamma."""
    ridge: float = 0.125
    """lambda."""
    own_ridge: float = 1.0
    """Ridge of a person's fold-in beside `ridge` for each of her ratings."""
    lift: bool = False
    """Whether SVD++'s scalar implicit term, as printed, is added to every factor of a person."""
    learned: bool = False
    """Whether implicit factors are learned for each item instead (Koren 2008), from the
    same noisy errors."""
    stop: float = 0.0
    start: float = 0.1
    first: Literal["normal", "uniform"] = "normal"
    people: Literal["trained", "folded"] = "trained"
    error_limit: float = 2.0
    """e_max."""
    update: Literal["together", "in turn"] = "together"
    lifted: bool = False
    item_shrink: float = 10.0
    """lambda_1."""
    own_shrink: float = 25.0
    """lambda_2."""
    implicit_shrink: float = 10.0
    """lambda_3."""
    slack: float = 2.0
    """C."""
    over: Literal["ratings", "people"] = "ratings"
    solve: Literal["objective", "equation 19"] = "objective"
    own_most: float = 0.4
    """p_max."""
    item_most: float = 0.5
    """q_max."""
    enforce: bool = False
    item_noise: Literal["lambda", "lambda_1"] = "lambda"
    global_share: float = 0.02
    item_share: float = 0.14
    own_share: float = 0.14
    """Of epsilon, to the three averages (Berlioz et al., as far as it is known)."""
    averages_shrink: float = 5.0
    averages_most: float = 2.0
    residual: float = 1.0

    @property
    def columns(self) -> int:
        """Of what is published for each item: mean, bias, factors and implicit factors."""
        return 2 + self.factors * (2 if self.learned else 1)

    @property
    def averages_share(self) -> float:
        """Of epsilon, for all averages; the rest is for the factors."""
        return sum((self.global_share, self.item_share, self.own_share))

    def overridden(self, settings: Any) -> PaperConstants:
        """These, but for what a method was told."""
        overrides = {field.name: getattr(settings, field.name, None) for field in fields(self)}
        return replace(self, **{k: v for k, v in overrides.items() if v is not None})
