"""What McSherry & Mironov print as constants, and what their text leaves open: settings of
calibration `paper`, each with the printed value or the likeliest reading as its default."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tacit.methods.item_item.plan import MatrixSettings

DIMENSION = 20
"""k: "the dimensionality for all algorithms is fixed at k = 20" (section 5.2)."""


class McSherrySettings(MatrixSettings):
    """All for `paper` alone; no other calibration looks at them."""

    theta: float | None = Field(None, gt=0)
    """The paper's one parameter of noise (it uses .15); from epsilon and delta unless
    given."""
    law: Literal["gaussian", "laplace"] = "gaussian"
    """The law of the noise."""
    shares: tuple[float, float, float] = (0.02, 0.19, 0.79)
    """Of theta: global average, item averages, covariance."""
    item_prior: float = Field(15.0, ge=0)
    """beta_m: fictitious ratings at the global average in an item's."""
    person_prior: float = Field(20.0, ge=0)
    """beta_p: fictitious ratings in a person's own average."""
    clamp: float = Field(1.0, gt=0)
    """B: where centred ratings are clamped before they are measured."""
    residuals: Literal["plain", "clamped"] = "plain"
    """What neighbours and factors see of a person's ratings when predicting. Left open;
    clamping is there to lower a sensitivity, and a prediction measures nothing."""
    shrink_diagonal: float | None = Field(None, ge=0)
    """Of the cleaning; fitted on the raw error of a probe set, as printed, unless given."""
    shrink_off: float | None = Field(None, ge=0)
    """The same off the diagonal."""
    ridge: float | None = Field(None, gt=0)
    """Of both predictions; fitted likewise unless given. With all three given there is no
    probe set, and all ratings are measured."""
    matrix_noise: Literal["triangle", "entries"] = "triangle"
    """Whether a pair of items has one draw, or each of its two entries its own and their
    mean is used. Left open."""
    person_total: Literal["mean", "norm"] = "mean"
    """Unit `user`: whether a person adds her mean to the global sum, which gives the bound
    that section 4.5 states, or her sum over ||e||, literally. Left open."""
    least_weight: float = Field(1e-3, gt=0)
    """Of the mean weight of a pair: noisy divisors are at least this. Left open."""


PAPER_ONLY = frozenset(McSherrySettings.model_fields) - frozenset(MatrixSettings.model_fields)
