"""What a tuning costs, against the exact law of its winner: never less, and a price for one
trial alone is refuted."""

from __future__ import annotations

from fractions import Fraction
from math import inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tacit.auditing.best_of import best, delta_of, divergence, found_epsilon
from tacit.errors import BudgetError, SettingError
from tacit.evaluation.tune import gamma_of, trials_of
from tacit.ledger.account import account
from tacit.ledger.account.calibrate import tuning_rho
from tacit.ledger.account.cost import Cost, Tuned, concentrated, cost
from tacit.ledger.account.event import EVENT, Gaussian, Laplace, TuningEvent
from tacit.ledger.account.gaussian import epsilon_at
from tacit.ledger.book.book import open_book
from tacit.rounds.plan import Budget

ORDERS = (1.05, 1.5, 2.0, 3.0, 8.0, 32.0)
LAWS = [
    ((1, 1), (1, 2)),
    ((1, 1), (1, 20)),
    ((0, 1), (1, 50)),
    ((1, 2), (1, 10)),
    ((-1, 2), (1, 30)),
]


def tuning(eta, gamma, **bound):
    return TuningEvent(name="tune/trials", eta=eta, gamma=gamma, candidates=3, **bound)


def chances(eta, gamma, most=4000):
    """P(k) by its formula, from the paper: for k = 1..most."""
    log_p = np.empty(most)
    running = 0.0
    for k in range(1, most + 1):
        if k > 1:
            running += log((k - 1 + eta) / k)
        log_p[k - 1] = k * log(1 - gamma) + running
    p = np.exp(log_p - log_p.max())
    return p / p.sum()


def slow_best(trial, event):
    """The law of the best, by adding up over the number of trials."""
    p = chances(event.shape, event.stop, 2000)
    below = np.concatenate([[0.0], np.cumsum(trial)])
    k = np.arange(1, len(p) + 1)
    reached = (p[:, None] * below[None, :] ** k[:, None]).sum(axis=0)
    return np.diff(reached)


@pytest.mark.parametrize(("eta", "gamma"), LAWS)
def test_the_law_of_the_best_is_that_of_the_number_of_trials(eta, gamma):
    event = tuning(eta, gamma, rho=0.1)
    trial = np.array([0.1, 0.4, 0.2, 0.25, 0.05])
    assert best(trial, event) == pytest.approx(slow_best(trial, event), rel=1e-9)
    number = chances(event.shape, event.stop)
    mean = float(number @ np.arange(1, len(number) + 1))
    assert Tuned(0.1, event.shape, event.stop).expected == pytest.approx(mean, rel=1e-9)


@given(
    st.lists(st.floats(0.01, 1), min_size=2, max_size=6),
    st.lists(st.floats(-0.5, 0.5), min_size=6, max_size=6),
    st.sampled_from(LAWS),
)
def test_no_pair_of_trials_diverges_more_than_the_theorem_says(weights, moves, law):
    """Any two laws: their own rho, over many orders and both ways, bounds that of the best."""
    one = np.array(weights) / sum(weights)
    other = one * np.exp(moves[: len(one)])
    other /= other.sum()
    fine = (*ORDERS, *np.geomspace(1.001, 400, 60))
    rho = max(max(divergence(one, other, a), divergence(other, one, a)) / a for a in fine)
    if rho < 1e-9:
        return
    event = tuning(*law, rho=rho)
    bound = Tuned(rho, event.shape, event.stop)
    left, right = best(one, event), best(other, event)
    for order in ORDERS:
        assert divergence(left, right, order) <= bound.divergence(order) + 1e-9
        assert divergence(right, left, order) <= bound.divergence(order) + 1e-9


@pytest.mark.parametrize("delta", [1e-4, 1e-6])
@pytest.mark.parametrize("rho", [0.001, 0.02, 0.5])
@pytest.mark.parametrize(("eta", "gamma"), LAWS)
def test_the_price_holds_and_that_of_one_trial_is_refuted(eta, gamma, rho, delta):
    """The exact law of the winner never needs more than is charged. To charge one trial is
    a mistake that this attack proves."""
    event = tuning(eta, gamma, rho=rho)
    found = found_epsilon(event, delta)
    charged = account.epsilon([event], delta)
    alone = epsilon_at((2 * rho) ** 0.5, delta)
    assert found <= charged
    assert found > alone * 1.01


@pytest.mark.parametrize(("eta", "gamma"), LAWS)
def test_pure_trials_cost_two_and_eta_times_as_much(eta, gamma):
    event = tuning(eta, gamma, epsilon=0.4)
    charged = account.epsilon([event], 0.0)
    assert charged == pytest.approx((2 + event.shape) * 0.4)
    found = found_epsilon(event, 0.0)
    assert 0.4 < found <= charged


@pytest.mark.parametrize("eta", [(1, 1), (0, 1)])
def test_the_pure_price_is_attained_by_very_many_trials(eta):
    """So the theorem cannot be bettered: no smaller factor than 2 + eta would do."""
    event = tuning(eta, (1, 10**7), epsilon=0.5)
    found = found_epsilon(event, 0.0)
    assert found == pytest.approx((2 + event.shape) * 0.5, rel=0.01)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("law", ["geometric", "logarithmic"])
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_a_budget_becomes_trials_that_cost_it(epsilon, law, delta):
    bound = trials_of(Budget(epsilon, delta), "user", law, 12, 4)
    charged = account.epsilon([bound.event], delta)
    assert charged <= epsilon
    assert charged == pytest.approx(epsilon, rel=1e-6)
    assert bound.fit.epsilon + bound.score.epsilon < 2 * epsilon


def test_what_a_trial_may_cost_is_split_and_no_more():
    bound = trials_of(Budget(2.0, 1e-6), "user", "geometric", 6, 2)
    parts = []
    for name, budget in (("fit", bound.fit), ("score", bound.score)):
        from tacit.ledger.account.calibrate import gaussian_mu, gaussian_sigma

        mu = gaussian_mu(budget.epsilon, budget.delta)
        parts.append(Gaussian(name=name, sensitivity=1e6, sigma=gaussian_sigma(1e6, mu), draws=1))
    found = concentrated(cost(parts))
    assert found == pytest.approx(bound.event.rho, rel=1e-6)
    assert found <= bound.event.rho * (1 + 1e-9)


def test_a_trial_is_bounded_by_what_is_pure_and_what_is_gaussian():
    pure = Laplace(name="a", sensitivity=1, scale=2.0, draws=1)
    assert concentrated(cost([pure])) == pytest.approx(0.125)
    sampled = Gaussian(name="b", sensitivity=1, sigma=20, draws=1, sampled=0.1)
    assert concentrated(cost([sampled])) is None
    assert concentrated(cost([sampled], "rating")) is not None


def test_groups_cost_the_square():
    """Two steps of a neighbour: four times the rho of each trial."""
    event = tuning((1, 1), (1, 8), rho=0.01)
    twice = tuning((1, 1), (1, 8), rho=0.04)
    assert cost([event], "user", 2) == cost([twice], "user")
    pure = tuning((0, 1), (1, 8), epsilon=0.1)
    assert cost([pure], "user", 3).pure_epsilon == pytest.approx(0.6)


def test_a_tuning_composes_with_everything_else():
    event = tuning((1, 1), (1, 8), rho=0.01)
    noise = Gaussian(name="g", sensitivity=1, sigma=20, draws=5)
    both = account.epsilon([event, noise], 1e-6)
    one, other = (account.epsilon([e], 1e-6) for e in (event, noise))
    assert max(one, other) < both < one + other
    assert account.epsilon([event], 0.0) == inf
    told = account.delta([event, noise], both)
    assert told <= 1e-6 * 1.001
    sampled = noise.model_copy(update={"sampled": 0.01})
    assert account.epsilon([event, sampled], 1e-6) < both


def test_a_capped_book_counts_it():
    event = tuning((1, 1), (1, 8), rho=tuning_rho(1.0, 1e-6, 1.0, 1 / 8))
    book = open_book()
    book.cap(1.5, 1e-6, "user")

    def charge():
        book.reserve([event], unit="user", budget=(1.0, 1e-6), purpose="tune", method="tune")

    charge()
    assert book.spent()["user"].epsilon == pytest.approx(1.0, rel=1e-6)
    with pytest.raises(BudgetError, match="overspent"):
        charge()
    book.verify()


@pytest.mark.parametrize("cap", [1.2001, 1.3, 5.0])
def test_a_refused_search_is_told_what_is_left_for_one(cap):
    """What is named fits, and a tenth more does not; or none does."""
    gamma = 1 / 8
    book = open_book()
    book.cap(cap, 1e-6, "user")

    def search(epsilon):
        rho = tuning_rho(epsilon, 1e-6, 1.0, gamma)
        book.check([tuning((1, 1), (1, 8), rho=rho)], unit="user", budget=(epsilon, 1e-6))

    book.reserve(
        [tuning((1, 1), (1, 8), rho=tuning_rho(1.2, 1e-6, 1.0, gamma))],
        unit="user",
        budget=(1.2, 1e-6),
        purpose="tune",
        method="tune",
    )
    with pytest.raises(BudgetError) as seen:
        search(cap)
    if cap < 1.3:
        assert "no search of so many trials fits" in seen.value.remedy
        return
    left = float(seen.value.remedy.split("epsilon ")[1].split()[0])
    search(left)
    with pytest.raises(BudgetError):
        search(1.1 * left)


def test_a_reservation_below_its_price_is_refused():
    """To charge a tuning at the price of one trial is refused by the book."""
    event = tuning((1, 1), (1, 8), rho=0.01)
    alone = epsilon_at(0.02**0.5, 1e-6)
    with pytest.raises(BudgetError, match="more than its"):
        open_book().reserve(
            [event], unit="user", budget=(alone, 1e-6), purpose="tune", method="tune"
        )


@pytest.mark.parametrize(
    "wrong",
    [
        {"rho": 0.1, "epsilon": 0.1},
        {},
        {"rho": 0.1, "eta": (2, 1)},
        {"rho": 0.1, "eta": (-1, 1)},
        {"rho": 0.1, "gamma": (1, 1)},
        {"rho": 0.1, "gamma": (0, 5)},
        {"rho": inf},
    ],
)
def test_events_without_a_law_are_not_made(wrong):
    given = {"name": "t", "gamma": (1, 5), "candidates": 2, **wrong}
    with pytest.raises(ValidationError):
        TuningEvent(**given)


def test_an_event_is_read_as_it_was_written():
    event = tuning((0, 1), (3, 100), rho=0.25)
    assert EVENT.validate_json(EVENT.dump_json(event)) == event


def test_too_many_trials_for_a_budget_are_refused():
    with pytest.raises(SettingError, match="trials"):
        tuning_rho(1e-5, 1e-6, 1.0, 1e-9)
    with pytest.raises(SettingError, match="trials"):
        trials_of(Budget(1.0, 1e-6), "user", "geometric", 1.0, 2)


@pytest.mark.parametrize("expected", [1.5, 4, 25.5, 300])
def test_gamma_gives_the_trials_that_were_asked(expected):
    for eta in (Fraction(1), Fraction(0)):
        found = gamma_of(eta, expected)
        told = Tuned(1.0, float(eta), float(found)).expected
        assert told == pytest.approx(expected, rel=1e-3)


def test_nothing_costs_nothing():
    assert concentrated(Cost()) == 0
    assert delta_of(np.array([1.0]), np.array([1.0]), 0.0) == 0
