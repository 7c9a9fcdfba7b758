"""What the printed forms of factorizations can be told: every constant that a paper prints,
and every reading that its text leaves open.

All of it is for `paper` alone. A setting that is left unset is the paper's own value, which
its folder in `papers/` holds and a statement tells; it is not part of a sound model.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from tacit.methods.factorization.base import FactorSettings

Positive = Field(None, gt=0)
NotNegative = Field(None, ge=0)


class PrintedSettings(FactorSettings):
    """What every printed factorization of this folder can be told."""

    rate: float | None = Positive
    """`paper`: gamma, the learning rate; unset .001 (Xian et al.)."""
    ridge: float | None = Positive
    """`paper`: lambda; unset .125 (Xian et al.)."""
    stop: float | None = NotNegative
    """`paper`: end when the training error changes by less. Unset 0: all iterations, whose
    number has to be given in advance (4.1); .0001 is the other reading of 5.2 (iv)."""
    start: float | None = Positive
    """`paper`: size of the first, random factors, which is not printed; unset .1."""
    first: Literal["normal", "uniform"] | None = None
    """`paper`: their law, which is not printed: N(0, start^2) unless said, or uniform
    between 0 and `start`."""
    people: Literal["trained", "folded"] | None = None
    """`paper`, in `evaluate` and `reproduce`: predict from the trained vectors of people, as
    the paper does (unset), or fold everybody in from her exact ratings. A published model
    never holds the former."""

    @model_serializer(mode="wrap")
    def _omit_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without what was not said: a sound model has none of it."""
        plain = FactorSettings.model_fields
        return {
            name: value
            for name, value in handler(self).items()
            if value is not None or name in plain or name == "implicit"
        }


class DescentSettings(PrintedSettings):
    """More, where errors are noised and clamped in every step."""

    error_limit: float | None = Positive
    """`paper`: e_max = -e_min, to which noisy errors are clamped; unset 2."""
    update: Literal["together", "in turn"] | None = None
    """`paper`: both factors of a step from the old ones (unset: equation 5), or the item's
    from the person's new ones (lines 11 and 12 one after the other)."""


class SolveSettings(PrintedSettings):
    """More, where solutions are noised."""

    own_most: float | None = Positive
    """`paper`: p_max, the assumed size of a person's vector; unset .4."""
    item_most: float | None = Positive
    """`paper`: q_max, that of an item's; unset .5."""
    enforce: bool | None = None
    """`paper`: cut noisy vectors to p_max and q_max; not printed by Xian et al., so unset no."""


class XianSettings(DescentSettings, SolveSettings):
    """What the methods of Xian et al. can be told."""

    item_shrink: float | None = NotNegative
    """`paper`: lambda_1, of the item biases; unset 10."""
    own_shrink: float | None = NotNegative
    """`paper`: lambda_2, of the people's biases; unset 25."""
    slack: float | None = Positive
    """`paper`: C of Algorithm 2; unset 2."""
    over: Literal["ratings", "people"] | None = None
    """`paper`: what divides b in Algorithm 2: N, the number of ratings (unset: equations 16
    to 19), or n, the number of people (equation 13)."""
    solve: Literal["objective", "equation 19"] | None = None
    """`paper`: items minimise equation 11 (unset: line 16), or are solved by equation 19,
    whose implicit term has the item's own count."""
    item_noise: Literal["lambda", "lambda_1"] | None = None
    """`paper`: ridge in the noise of Algorithm 3's items: lambda (unset: line 13) or lambda_1
    (point 2 of its explanation)."""


class ImplicitSettings(XianSettings):
    """What the methods of SVD++ can be told."""

    implicit: Literal["learned", "scalar"] | None = None
    """What having rated says: factors learned for each item (Koren 2008), or one number as
    Xian et al. print it; unset, the number in `paper` and learned factors elsewhere."""
    implicit_shrink: float | None = NotNegative
    """`paper`: lambda_3, of the implicit term; unset 10."""
    lifted: bool | None = None
    """`paper`: whether the implicit term also enters an item's step (the gradient of
    equation 3). Line 12 prints p_u alone, so unset no."""


class BerliozSettings(DescentSettings, SolveSettings):
    """What `mf-input-sgd` and `mf-input-als` can be told. Xian et al. compare with Algorithms
    4 and 5 of Berlioz et al. and print none of these but p_max and q_max."""

    global_share: float | None = Field(None, gt=0, lt=1)
    """`paper`: of epsilon, for the mean of all ratings; unset .02."""
    item_share: float | None = Field(None, gt=0, lt=1)
    """`paper`: for the items' averages; unset .14."""
    own_share: float | None = Field(None, gt=0, lt=1)
    """`paper`: for the people's averages; unset .14."""
    averages_shrink: float | None = NotNegative
    """`paper`: ratings at the mean (items) and at 0 (people) in the averages; unset 5."""
    averages_most: float | None = Positive
    """`paper`: averages are clamped to +-this; unset 2."""
    residual: float | None = Positive
    """`paper`: what is left of a rating is clamped to +-this; unset 1."""


class HuaSettings(FactorSettings):
    """What `mf-objective` can be told in `paper`: the same as `mf-federated`, and by whom
    equation 1 is minimised."""

    epochs: int | None = Field(None, ge=1, le=100_000)
    """Rounds; in `paper` iterations, 100 unless said (10 where everything is solved)."""
    rate: float | None = Positive
    """`paper`: gamma, the gain; unset 2^-5."""
    ridge: float | None = NotNegative
    """`paper`: lambda and mu; unset .001."""
    step: Literal["mean", "sum", "objective", "scaled", "solve"] | None = None
    """`paper`: what the gain multiplies, as in `mf-federated`, whose reading it shares
    (unset: mean); or `solve`: no gain, each side is solved against the other."""
    bounded: bool | None = None
    """`paper`: keep people's profiles within length 1, as the proof of Theorem 1 has them
    (unset), or let them grow."""
    model: Literal["plain", "weighted nonnegative"] | None = None
    """`paper`: the factorization of equation 1 (unset), or the weighted non-negative one that
    section 6 names as future work: only rated cells weigh, and no factor is negative."""
    people: Literal["trained", "solved"] | None = None
    """`paper`, in `evaluate` and `reproduce`: predict from the profiles that the training
    left with people (unset: section 5), or solve each anew against the published items with
    lambda (section 3.3), as every published model does."""

    @model_serializer(mode="wrap")
    def _omit_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without what was not said: a sound model has none of it."""
        printed_fields = set(HuaSettings.model_fields) - set(FactorSettings.model_fields)
        return {
            name: value
            for name, value in handler(self).items()
            if value is not None or name not in printed_fields
        }
