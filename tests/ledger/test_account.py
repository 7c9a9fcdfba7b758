"""Accountants checked against each other and against sums by hand."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from math import exp, fsum, inf, log

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import SettingError
from tacit.ledger.account.account import delta, delta_of, epsilon, epsilon_of, profile
from tacit.ledger.account.cost import Cost, amplified, cost, group
from tacit.ledger.account.event import (
    EvaluationEvent,
    Event,
    Gaussian,
    KNorm,
    Laplace,
    Reserve,
    Response,
    Selection,
    Unbounded,
)
from tacit.ledger.account.renyi import SAMPLED, renyi, sampled_gaussian

TINY = 1e-6


def normal(
    mu: float, *, name: str = "g", sampled: float = 1.0, times: int = 1, beside: str | None = None
) -> Gaussian:
    """An event that costs `mu` each time."""
    return Gaussian(
        name=name,
        sensitivity=mu * 1e6,
        sigma=(1e12 + 4) ** 0.5,
        draws=1,
        sampled=sampled,
        times=times,
        beside=beside,
    )


def test_the_discrete_gaussian_pays_for_its_grid() -> None:
    coarse = Gaussian(name="g", sensitivity=4, sigma=16, draws=1)
    assert cost([coarse]).mu2 == pytest.approx(16 / (256 - 4), rel=1e-15)


def test_the_coarsest_grid_is_covered_by_the_closed_form() -> None:
    """The exact hockey-stick of the discrete Gaussian at sigma 16, summed over the integers."""
    sigma, shift = 16.0, 4
    k = np.arange(-700, 701)
    weight = np.exp(-(k**2) / (2 * sigma**2))
    ones, two = (weight / weight.sum(), np.exp(-((k - shift) ** 2) / (2 * sigma**2)) / weight.sum())
    event = Gaussian(name="g", sensitivity=shift, sigma=sigma, draws=1)
    for at in (0.1, 0.5, 1.0, 1.4):
        truth = fsum(np.maximum(ones - exp(at) * two, 0.0))
        assert truth <= delta([event], at)
        assert delta([event], at) == pytest.approx(truth, rel=0.5)


def test_rounds_compose_as_one() -> None:
    assert epsilon([normal(0.1)] * 9, TINY) == pytest.approx(
        epsilon([normal(0.3)], TINY), rel=1e-12
    )
    assert epsilon([normal(0.1, times=9)], TINY) == pytest.approx(
        epsilon([normal(0.3)], TINY), rel=1e-12
    )


@pytest.mark.parametrize("mu", [0.05, 0.237, 1.0, 3.0])
def test_closed_form_against_loss_distributions_and_renyi(mu: float) -> None:
    closed = epsilon([normal(mu)], TINY)
    assert epsilon([normal(mu)], TINY, verify=True) == pytest.approx(closed, rel=2e-3, abs=2e-4)
    assert closed < renyi(cost([normal(mu)])).epsilon(TINY) < 1.3 * closed


@pytest.mark.parametrize(
    "event",
    [
        Laplace(name="l", sensitivity=3, scale=10, draws=5),
        KNorm(name="k", sensitivity=3, scale=10, dimension=4, rows=7),
        Selection(name="s", sensitivity=1, epsilon=0.3, candidates=4),
        Response(name="r", epsilon=0.1, reports=3),
        Reserve(name="e", epsilon=0.3),
    ],
)
def test_pure_events_add_at_delta_zero(event: Event) -> None:
    assert epsilon([event, event.model_copy(update={"times": 2})], 0.0) == pytest.approx(0.9)
    assert delta([event], 0.3 * (1 + 1e-12)) == 0


def test_pure_composition_lies_between_laplace_and_the_sum() -> None:
    events = [Laplace(name="l", sensitivity=1, scale=10, draws=1, times=8)]
    laplace = pld.from_laplace_mechanism(10).self_compose(8).get_epsilon_for_delta(TINY)
    ours = epsilon(events, TINY)
    assert laplace - 1e-6 <= ours <= 0.8
    assert ours == pytest.approx(epsilon(events, TINY, verify=True), rel=1e-3)


@pytest.mark.parametrize(("k", "each", "total"), [(50, 0.0344, 1.0), (200, 0.0598, 4.0)])
def test_randomized_responses_compose_exactly(k: int, each: float, total: float) -> None:
    event = Response(name="r", epsilon=each, reports=k)
    with mpmath.workdps(40):
        p = 1 / (1 + mpmath.exp(-mpmath.mpf(each)))
        gap = [
            p**x * (1 - p) ** (k - x) - mpmath.exp(total) * (1 - p) ** x * p ** (k - x)
            for x in range(k + 1)
        ]
        right = mpmath.fsum(
            mpmath.binomial(k, x) * each_gap for x, each_gap in enumerate(gap) if each_gap > 0
        )
    assert delta([event], total) == pytest.approx(float(right), rel=1e-9)
    assert epsilon([event], TINY) == pytest.approx(total, rel=3e-3)


def test_mixed_events_compose_exactly() -> None:
    events: list[Event] = [
        normal(0.237),
        Response(name="r", epsilon=0.1, reports=3),
        Laplace(name="l", sensitivity=1, scale=5, draws=1),
    ]
    ours = epsilon(events, TINY)
    assert ours == pytest.approx(epsilon(events, TINY, verify=True), rel=1e-3)
    assert ours < epsilon([normal(0.237)], TINY) + 0.5


def test_delta_and_epsilon_are_inverse_for_mixed_events() -> None:
    events: list[Event] = [normal(0.4), Response(name="r", epsilon=0.2, reports=5)]
    assert delta(events, epsilon(events, TINY)) == pytest.approx(TINY, rel=1e-6)


def test_sampled_rounds_are_amplified_for_whole_people() -> None:
    event = normal(1 / 3.43, sampled=0.05, times=200)
    assert epsilon([event], TINY) == pytest.approx(1.0, rel=5e-3)
    assert epsilon([event], TINY, verify=True) < epsilon([event], TINY)


def test_sampling_people_does_not_amplify_for_one_rating() -> None:
    event = normal(0.1, sampled=0.05, times=4)
    assert epsilon([event], TINY, unit="rating") == epsilon([normal(0.1, times=4)], TINY)
    laplace = Laplace(name="l", sensitivity=1, scale=1, draws=1, sampled=0.1)
    assert epsilon([laplace], 0.0, unit="rating") == 1
    assert epsilon([laplace], 0.0) == pytest.approx(log(1 + 0.1 * (exp(1) - 1)))


@pytest.mark.parametrize(
    ("multiplier", "chance"), [(0.5, 0.01), (1.3, 0.8), (40.0, 0.8), (3.0, 0.999)]
)
def test_divergences_of_sampled_rounds_are_those_of_dp_accounting(
    multiplier: float, chance: float
) -> None:
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.rdp import RdpAccountant

    orders = (2, 3, 10, 64, 256, 1024)
    peer = RdpAccountant(orders).compose(PoissonSampledDpEvent(chance, GaussianDpEvent(multiplier)))
    ours = dict(zip(SAMPLED, sampled_gaussian(multiplier, chance), strict=True))
    for order, theirs in zip(orders, peer._rdp, strict=True):
        assert theirs <= ours[order] <= theirs + 1.1e-9 + 1e-9 * theirs


def test_the_step_from_divergence_to_epsilon_is_that_of_dp_accounting() -> None:
    from dp_accounting.rdp.rdp_privacy_accountant import compute_delta, compute_epsilon

    found = renyi(Cost(mu2=0.1, sampled={(1.5, 0.3): 4}))
    assert found.epsilon(TINY) == pytest.approx(
        compute_epsilon(found.orders, found.divergence, TINY)[0], rel=1e-12
    )
    assert found.delta(2.0) == pytest.approx(
        compute_delta(found.orders, found.divergence, 2.0)[0], rel=1e-9
    )


@given(st.floats(0.01, 0.999), st.floats(0.01, 3), st.integers(1, 50))
def test_a_coin_never_costs(chance: float, mu: float, times: int) -> None:
    coin, everyone = (normal(mu, sampled=chance, times=times), normal(mu, times=times))
    assert epsilon([coin], TINY) <= epsilon([everyone], TINY) * (1 + 1e-12)
    assert delta([coin], 1.0) <= delta([everyone], 1.0) * (1 + 1e-12)


def test_sampled_and_pure_events_cost_no_more_than_apart() -> None:
    sampled, pure = (
        normal(0.3, sampled=0.05, times=50),
        Laplace(name="l", sensitivity=1, scale=4, draws=1),
    )
    both = epsilon([sampled, pure], TINY)
    assert epsilon([sampled], TINY) < both <= epsilon([sampled], TINY) + 0.25
    assert delta([sampled, pure], both) <= TINY * (1 + 1e-6)
    assert epsilon([sampled, pure], TINY, verify=True) <= both


def test_many_different_pure_events_fall_back_to_a_valid_bound() -> None:
    pure = {0.01 + 0.0001 * k: 1 for k in range(60)}
    total = Cost(pure=pure)
    ours = epsilon_of(total, TINY)
    assert epsilon_of(total, TINY, verify=True) < ours < total.pure_epsilon
    assert delta_of(total, ours) <= TINY * (1 + 1e-6)


def test_an_envelope_costs_what_it_holds() -> None:
    assert epsilon([Reserve(name="e", mu=0.237)], TINY) == pytest.approx(
        epsilon([normal(0.237)], TINY), rel=1e-12
    )


def test_an_envelope_is_of_one_kind() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        Reserve(name="e", mu=1, epsilon=1)
    with pytest.raises(ValueError, match="exactly one"):
        Reserve(name="e")


def test_claims_are_unbounded_and_evaluations_free() -> None:
    claim = Unbounded(name="u", claimed_epsilon=0.1, reason="raw means")
    assert epsilon([claim], TINY) == inf
    assert delta([claim], 5.0) == 1
    assert profile([claim]) == []
    assert epsilon([EvaluationEvent(name="v")], 0.0) == 0


def test_a_part_beside_an_equal_one_is_free() -> None:
    events: list[Event] = [
        normal(0.2, name="a"),
        normal(0.2, name="b", beside="a"),
        normal(0.1, name="c", beside="a"),
    ]
    assert epsilon(events, TINY) == pytest.approx(epsilon([normal(0.2)], TINY), rel=1e-12)


@pytest.mark.parametrize("lead", ["a", "nobody"])
def test_a_part_beside_a_cheaper_one_or_none_is_refused(lead: str) -> None:
    with pytest.raises(SettingError, match="does not pay"):
        epsilon([normal(0.1, name="a"), normal(0.2, name="b", beside=lead)], TINY)


def test_a_profile_holds_all_deltas_and_zero_if_pure() -> None:
    assert [at for _, at in profile([normal(0.3)])] == [float(f"1e-{k}") for k in range(4, 13)]
    pairs = profile([Laplace(name="l", sensitivity=1, scale=1, draws=1)])
    assert pairs[-1] == (1.0, 0.0)
    assert all(one[0] <= two[0] for one, two in pairwise(pairs))


@pytest.mark.parametrize(
    ("of", "at", "limit", "steps"),
    [
        ("user", "user", None, 1),
        ("user", "rating", None, 2),
        ("user", "value", 9, 2),
        ("rating", "user", 9, 9),
        ("rating", "user", None, None),
        ("rating", "value", 9, 2),
        ("value", "user", 9, None),
        ("value", "rating", 9, None),
    ],
)
def test_units_are_translated_by_group_privacy(
    of: str, at: str, limit: int | None, steps: int | None
) -> None:
    assert group(of, at, limit) == steps  # type: ignore[arg-type]


@given(st.floats(1e-9, 30), st.floats(1e-6, 1))
def test_amplification_never_raises_and_is_right(each: float, chance: float) -> None:
    with mpmath.workdps(40):
        right = float(mpmath.log1p(chance * mpmath.expm1(each)))
    assert amplified(each, chance) == pytest.approx(right, rel=1e-12)
    assert amplified(each, chance) <= each


@given(st.lists(st.floats(0.01, 0.5), min_size=1, max_size=4), st.floats(1e-12, 0.1))
def test_more_events_never_cost_less(pures: list[float], at: float) -> None:
    events: list[Event] = [normal(0.2)]
    last = epsilon(events, at)
    for each in pures:
        events.append(Response(name="r", epsilon=each, reports=1))
        now = epsilon(events, at)
        assert now >= last * (1 - 1e-9)
        last = now


@pytest.mark.parametrize("bad", [-0.1, 1.0, float("nan")])
def test_a_delta_out_of_range_is_refused(bad: float) -> None:
    with pytest.raises(SettingError, match="delta"):
        epsilon([normal(1)], bad)


def test_gaussian_plans_start_without_heavy_imports() -> None:
    code = (
        "import sys; from tacit.ledger.account.calibrate import gaussian_mu; from "
        "tacit.ledger.book.book import open_book;"
        "gaussian_mu(1, 1e-6); open_book().spent();"
        "assert not {'numpy', 'scipy', 'dp_accounting', 'numba', 'polars'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_second_opinion_without_its_package_says_how_to_get_it(monkeypatch):
    """dp-accounting is an extra: nothing else may need it."""
    import sys

    from tacit.errors import SettingError
    from tacit.ledger.account.account import epsilon_of
    from tacit.ledger.account.cost import Cost

    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    assert epsilon_of(Cost(mu2=0.04), 1e-6) > 0
    with pytest.raises(SettingError, match="dp-accounting") as told:
        epsilon_of(Cost(mu2=0.04), 1e-6, verify=True)
    assert "tacit[oracle]" in str(told.value)
