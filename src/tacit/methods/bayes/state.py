"""State of `bayes`, as its rounds release it: first-order statistics, item factors, and while
sweeps go on their pooled evidence."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.methods.first_order.state import FirstState, Floats, UserFactors
from tacit.methods.refine.user_factors import Axes, UserFactorEvidence
from tacit.rounds.state import NOT_YET


@dataclass(frozen=True)
class Swept:
    """Evidence of all sweeps so far, along common axes."""

    axes: Axes
    """The same in every sweep, so that their evidence adds up."""
    base: UserFactors
    """Before the first sweep: changes are counted from here."""
    evidence: UserFactorEvidence
    change: Floats
    """Change of the item factors along the axes, items x axes."""


@dataclass(frozen=True)
class ImplicitFeedback:
    """How a person's choice of items predicts her user factors."""

    coefficients: Floats
    """Directions of choice x axes of user factors. Which these are follows from earlier releases
    (`tacit.methods.bayes.implicit.implicit_design`), so a state has as many numbers everywhere."""


@dataclass(frozen=True)
class BayesState(FirstState):
    """First-order statistics and item factors (`FirstState`), the evidence of sweeps, and implicit
    feedback."""

    swept: Swept = NOT_YET
    implied: ImplicitFeedback = NOT_YET
