"""The table of strips, structurally: what the proof in `strips` assumes is checked with
exact numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tacit.errors import SettingError
from tacit.noise import kernels
from tacit.noise.interval import exp_minus_rational, one_minus_exp
from tacit.noise.strips import Law, Strips, table

SCALES = [2.0**-10, 0.3, 0.5, 1.0, 10.0, 45.999, 127.5, 1e3, 1e6 / 3, 2.0**45, 2.0**50]
CASES = [(law, scale) for law in ("gaussian", "laplace") for scale in SCALES]


@pytest.fixture(params=CASES, ids=[f"{law}-{scale:g}" for law, scale in CASES])
def strips(request: pytest.FixtureRequest) -> Strips:
    law, scale = request.param
    return table(law, scale)


def height(strips: Strips, magnitude: int, precision: int = 320) -> tuple[Fraction, Fraction]:
    """w(magnitude), by a direct exponential at a higher precision than the table's products."""
    low, high = exp_minus_rational(strips.exponent(magnitude), precision)
    return Fraction(low, 1 << precision), Fraction(high, 1 << precision)


def mass(strips: Strips, strip: int) -> Fraction:
    """c p_strip"""
    return Fraction(strips.constant * strips.weights[strip], 1 << 192)


def test_weights_fill_the_alias_table_exactly(strips: Strips) -> None:
    assert sum(strips.weights) == 1 << 42
    assert min(strips.weights) >= 0


def test_alias_columns_give_back_the_weights(strips: Strips) -> None:
    share = [0] * 1024
    for column, (kept, other) in enumerate(
        zip(strips.threshold.tolist(), strips.alias.tolist(), strict=True)
    ):
        share[column] += kept
        share[other] += (1 << 32) - kept
    assert share[: len(strips.weights)] == list(strips.weights)
    assert not any(share[len(strips.weights) :])


def test_the_envelope_dominates_every_strip(strips: Strips) -> None:
    for j in range(strips.strips):
        assert mass(strips, j) >= height(strips, j << strips.log_width)[0]


def test_the_envelope_dominates_the_tail(strips: Strips) -> None:
    low, _ = one_minus_exp(strips.tail_rate(), 320)
    width = 1 << strips.log_width
    room = mass(strips, strips.strips) * width * Fraction(low, 1 << 320)
    assert room >= height(strips, strips.start_of_tail)[0]


def test_the_squeeze_stays_below_the_acceptance_of_a_whole_strip(strips: Strips) -> None:
    for j in range(strips.strips):
        last = ((j + 1) << strips.log_width) - 1
        assert (
            Fraction(int(strips.squeeze[j]), 1 << 21) * mass(strips, j) <= height(strips, last)[1]
        )


def test_the_tail_and_the_reject_column_are_never_squeezed_in(strips: Strips) -> None:
    assert not strips.squeeze[strips.strips :].any()


def test_few_proposals_are_wasted_or_undecided(strips: Strips) -> None:
    kept = (
        sum(w * int(s) for w, s in zip(strips.weights, strips.squeeze.tolist(), strict=True))
        / 2**63
    )
    assert kept > 0.94


def test_the_tail_is_rare(strips: Strips) -> None:
    assert strips.weights[strips.strips] < 2**42 * 1e-9


def test_the_exponent_within_a_strip_is_at_most_a_quarter(strips: Strips) -> None:
    top, width = strips.start_of_tail, 1 << strips.log_width
    assert strips.exponent(top - 1) - strips.exponent(top - width) <= Fraction(1, 4)


def test_the_float_acceptance_is_within_its_margin(strips: Strips) -> None:
    rng = np.random.default_rng(1)
    width = 1 << strips.log_width
    for j in rng.integers(0, strips.strips, 60).tolist():
        offset = int(rng.integers(0, width))
        d = float(offset) * (strips.slope[j] + float(offset) * strips.curve)
        value = Fraction(float(strips.top[j] * kernels._exp_small(d)))
        low, high = strips.acceptance(j, (j << strips.log_width) + offset, 128)
        error = max(abs(value - Fraction(low, 1 << 128)), abs(value - Fraction(high, 1 << 128)))
        assert error < Fraction(kernels.MARGIN) / 16


def test_exact_acceptances_are_probabilities(strips: Strips) -> None:
    for j in (0, strips.strips // 2, strips.strips - 1):
        low, high = strips.acceptance(j, j << strips.log_width, 128)
        assert 0 <= low <= high <= (1 << 128) + 1
    low, high = strips.acceptance(strips.strips, strips.start_of_tail, 128)
    assert 0 <= low <= high <= (1 << 128) + 1


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize("scale", [0.0, -1.0, 2.0**-11, 2.0**51, float("inf"), float("nan")])
def test_a_scale_outside_the_proven_range_is_refused(law: Law, scale: float) -> None:
    with pytest.raises(SettingError, match="proven exact"):
        table(law, scale)


def test_a_table_is_made_once() -> None:
    assert table("laplace", 12.5) is table("laplace", 12.5)
