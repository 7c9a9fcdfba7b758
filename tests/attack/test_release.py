"""Attacks on released figures: neighbours that move a sum too far, people who are not computed
alone, and a distinguisher that sees the published numbers."""

from __future__ import annotations

from dataclasses import replace
from math import inf, log

import numpy as np
import pytest

import tacit
from tacit.auditing.neighbours import CrowdShape, broken
from tacit.auditing.per_person import not_alone
from tacit.bound import Box, Sensitivity
from tacit.bound.box import ListedItems
from tacit.data import held_out
from tacit.data.catalogue import Catalogue
from tacit.data.held_out import HeldOut
from tacit.data.sample import sample
from tacit.evaluation.release import doubled
from tacit.evaluation.summed import SHARES, MeasuredMethod
from tacit.fitting.run import _Run
from tacit.ledger.account import account
from tacit.ledger.account.calibrate import gaussian_mu, gaussian_sigma
from tacit.ledger.account.event import Gaussian
from tacit.noise.release import Charge, release
from tacit.rounds.plan import Budget
from tacit.testing import inject_bits

PEOPLE = 200
FEW = 60
SEED = 12
"""Of the noise in the models."""
SALT = "07" * 16
"""Chooses what is kept apart."""
CROWDS = (
    CrowdShape(12, 2, 1, 5, 80),
    CrowdShape(2, 60, 1, 9, 25),
    CrowdShape(9, 80, 30, 4, 12),
    CrowdShape(40, 110, 40, 7, 4),
)
"""Some with many ratings kept apart, so that the box is filled."""


@pytest.fixture(scope="module")
def ratings():
    """Few items, so that lists and what is kept apart meet."""
    whole = sample(people=PEOPLE, ratings=20_000, seed=8)
    few = whole.take(whole.item < FEW)
    return replace(few, items=whole.items[:FEW])


@pytest.fixture(scope="module")
def fitted(ratings, tmp_path_factory):
    """A model for each unit, with ratings kept apart; the same in every run, because what lists
    hold decides which figures a neighbour can move."""
    ledger = str(tmp_path_factory.mktemp("book") / "book.db")
    both = {}
    with pytest.MonkeyPatch.context() as fixed:
        fixed.setattr(held_out, "keep_apart", lambda share: HeldOut(share=share, salt=SALT))
        for unit in ("user", "rating"):
            rated = tacit.Bayes(epsilon=6.0, unit=unit, ledger=ledger, threads=1)
            with inject_bits(np.random.default_rng(SEED).bytes):
                rated.fit(ratings, users=PEOPLE, keep_apart=0.4)
            both[unit] = rated.model_
    return both


def method_of(fitted, unit, **options):
    return MeasuredMethod(fitted[unit], epsilon=1.0, unit=unit, **options)


@pytest.mark.parametrize("unit", ["user", "rating"])
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_no_neighbour_moves_a_figure_by_more_than_was_charged(fitted, ratings, unit, delta):
    data = doubled(fitted[unit], ratings)
    method = method_of(fitted, unit, delta=delta, worst=0.1, most=1)
    items = Catalogue(data.items)
    assert broken(method, items, data, users=PEOPLE, crowds=CROWDS) == []


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_a_bound_that_says_less_would_be_found(fitted, ratings, unit, monkeypatch):
    """The hunt can tell: claims of nine tenths are refuted."""
    for bound in (Box, ListedItems):
        real = bound.sensitivity

        def less(self, unit, limited=None, *, real=real):
            whole = real(self, unit, limited)
            return Sensitivity(0.9 * whole.l1, 0.9 * whole.l2, whole.rows)

        monkeypatch.setattr(bound, "sensitivity", less)
    data = doubled(fitted[unit], ratings)
    method = method_of(fitted, unit, worst=0.1, most=1)
    found = broken(method, Catalogue(data.items), data, users=PEOPLE, crowds=CROWDS)
    if unit == "user":
        # Whether hits are at stake depends on what a noisy model lists.
        assert {"figures/errors", "figures/lists"} <= set(found)
    else:  # one rating alone seldom changes the whole of a list
        assert {"figures/errors", "figures/hits"} <= set(found)


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_everybody_is_scored_alone(fitted, ratings, unit):
    data = doubled(fitted[unit], ratings)
    method = method_of(fitted, unit)
    items = Catalogue(data.items)
    assert not_alone(method, data, items, users=PEOPLE) == []


def scores_of(epsilon, delta, runs, wrong):
    """What a distinguisher makes of `runs` releases without and with the worst person: she
    adds the far corner of two boxes and a full list to the third. It sees all numbers and weighs
    each by its noise, which is best. `wrong` scales the noise."""
    bounds = (Box((0.6, 1.0)), Box((0.3, 1.0)), ListedItems(20))
    corners = (np.array([0.6, 1.0]), np.array([0.3, 1.0]), np.ones(20))
    found = np.zeros((2, runs))
    for bound, corner, share in zip(bounds, corners, SHARES.values(), strict=True):
        mu = gaussian_mu(epsilon, delta) * share**0.5
        needed = bound.sensitivity("user").l2
        worst = np.floor(corner * bound.steps)
        event = Gaussian(
            name="x",
            sensitivity=needed,
            sigma=gaussian_sigma(needed, mu),
            draws=2 * len(worst) * runs,
        )
        nothing = np.zeros((2, runs, len(worst)), np.int64)
        noise = release("x", nothing, 1, Charge([event])).value * wrong
        noise[1] += worst
        found += noise @ worst / event.sigma**2
    return found


def proven(hits, false, runs, delta):
    """The epsilon that so many hits and false alarms prove, 99.9 % sure (Clopper and
    Pearson)."""
    from scipy.stats import beta

    low = beta.ppf(0.0005, hits, runs - hits + 1) if hits else 0.0
    high = beta.ppf(0.9995, false + 1, runs - false) if false < runs else 1.0
    return log((low - delta) / high) if low > delta else -inf


def measured(epsilon, delta, *, wrong=1.0, runs=40_000):
    """The epsilon that the distinguisher proves; its threshold is chosen on other runs."""
    absent, present = scores_of(epsilon, delta, runs, wrong)
    half = runs // 2

    def at(threshold, part):
        hits = int((present[part] > threshold).sum())
        false = int((absent[part] > threshold).sum())
        return proven(hits, false, half, delta)

    tried = np.quantile(present[:half], np.linspace(0.02, 0.98, 49))
    best = max(tried, key=lambda t: at(t, slice(half)))
    return at(best, slice(half, None))


def test_an_attacker_who_sees_the_figures_gains_no_more_than_was_charged():
    """A distinguisher of the worst person proves a good part of what is claimed, never more;
    with half of the noise it refutes the claim."""
    claimed = 2.0
    assert 0.4 * claimed <= measured(claimed, 1e-4) <= claimed
    assert measured(claimed, 1e-4, wrong=0.5) > claimed


def test_the_plan_costs_what_was_asked(fitted, ratings):
    method = method_of(fitted, "user")
    run = _Run(method, doubled(fitted["user"], ratings), None, PEOPLE, None)
    cost = account.epsilon(run.settled.events.values(), 1e-6)
    assert cost <= 1.0
    assert cost == pytest.approx(1.0, rel=1e-6)
    half = replace(run.settled.plan).events(Budget(0.5, 1e-6))
    assert account.epsilon(half.values(), 1e-6) == pytest.approx(0.5, rel=1e-6)
