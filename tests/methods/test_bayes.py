"""Bayes: conformance, every bound hunted through the rounds themselves, and better than
`bias` where it can be."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from tacit import Bayes, Bias, sample, sample_catalogue
from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.data.splits import per_rating
from tacit.engine.per_person import given_by
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial
from tacit.ledger.account import account
from tacit.methods.base import Public
from tacit.methods.bayes.plan import split as divide
from tacit.methods.bayes.rounds import BayesState, ImplicitFeedback
from tacit.methods.first_order.rounds import ItemBiases, UserFactors
from tacit.methods.refine.global_mean import GlobalMean
from tacit.methods.refine.item_bias import Evidence
from tacit.methods.refine.weights import Weights
from tacit.model.person import gaussian
from tacit.rounds.plan import Budget
from tacit.rounds.round import Block
from tacit.rounds.state import NOT_YET
from tacit.testing import MethodTests


class TestBayes(MethodTests):
    method = Bayes


@pytest.fixture(scope="module")
def split():
    return per_rating(sample(people=3000, ratings=120_000, seed=2), 0.1, 0)


def error(method, split, **options):
    model = trial(method(**options), split.train, items=sample_catalogue(), users=3000)
    return measure(model, split, lists=False)["rmse"]


@pytest.mark.parametrize(("unit", "epsilon"), [("user", 10.0), ("rating", 5.0)])
def test_it_is_no_worse_than_bias(split, unit, epsilon):
    assert (
        error(Bayes, split, epsilon=epsilon, unit=unit)
        < error(Bias, split, epsilon=epsilon, unit=unit) + 0.002
    )


def test_a_tiny_budget_gives_about_the_own_mean(split):
    assert error(Bayes, split, epsilon=0.01) < 1.1


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_intervals_cover_what_they_say(split, unit):
    model = trial(Bayes(epsilon=5, unit=unit), split.train, items=sample_catalogue(), users=3000)
    schema = split.train.schema
    given = split.fold_in
    asked = split.test
    own = (given.value.astype(float) - schema.middle) / schema.unit_width
    true = (asked.value.astype(float) - schema.middle) / schema.unit_width
    mean, sd = gaussian.predict_cells(
        model.personal.model, given.ptr, given.item, own, asked.ptr, asked.item
    )
    assert 0.75 < np.mean(np.abs(true - mean) < 1.2816 * sd) < 0.85


@pytest.mark.parametrize("unit", ["user", "rating"])
@pytest.mark.parametrize("mu", [0.0275, 0.237, 1.02, 3.24, float("inf")])
@pytest.mark.parametrize("users", [16, 100, 6000, 500_000])
@pytest.mark.parametrize("columns", [2, 25])
def test_shares_add_up(unit, mu, users, columns):
    shares = divide(unit, users, mu, 3000, columns, False)
    parts = [shares.level, shares.weights, *shares.effects, shares.choice]
    assert sum(parts) + shares.second.total_share == pytest.approx(1)
    assert min(shares.level, shares.weights, *shares.effects, shares.choice) > 0
    assert shares.story()


def test_small_budgets_go_to_items():
    small, large = (divide("user", n, 0.237, 1700, 25, False) for n in (900, 9000))
    assert (len(small.effects), len(large.effects)) == (5, 3)
    assert not small.second.total_share
    assert large.second.total_share
    assert small.choice < large.choice
    assert small.weights > 0.3 > large.weights


def test_a_small_budget_asks_more_of_tastes_where_items_do_not_drown():
    shop = divide("user", 900, 0.237, 150, 25, False)
    plain = divide("user", 900, 0.237, 150, 3, False)
    assert shop.choice == pytest.approx(2 * plain.choice)


def test_later_sums_get_more_where_there_is_much_to_spend():
    item_biases = divide("user", 6040, 1.0, 3700, 3, pure=False).effects
    assert list(item_biases) == sorted(set(item_biases))
    assert len(item_biases) > 2
    # A pure budget is thinned out by many releases, and one rating's weights are known.
    for unit, pure in (("user", True), ("rating", False)):
        few = divide(unit, 6040, 1.0, 3700, 3, pure=pure).effects
        assert len(few) == 2
        assert few[0] == few[1]


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_the_closed_form_agrees_with_the_accountant(unit):
    items = Catalogue([str(i) for i in range(500)])
    budget = Budget(5.0, 1e-6)
    plan = Bayes(unit=unit).plan(Public(Schema(1, 5, users=6000), items, unit, "sound", budget))
    events = plan.events(budget)
    closed = account.epsilon(events.values(), 1e-6, unit=unit)
    checked = account.epsilon(events.values(), 1e-6, unit=unit, verify=True)
    assert closed == pytest.approx(checked, rel=1e-2)
    assert closed <= 5.0 * (1 + 1e-9)


ITEMS = 24


def leanings_of(plan):
    """Directions of choice that a plan asks for."""
    (width,) = (r.parts[0].width for r in plan.rounds if r.name == "implied")
    fits = (k for k in range(ITEMS) if k**2 + k * (k + 1) // 2 == width)
    return next(fits)


def state_of(rng, width=6, leanings=5):
    """Some public state: any will do, because a bound may not depend on it."""
    weight = rng.uniform(1, 60, ITEMS)
    size = 10 ** rng.uniform(-2, 3)
    return BayesState(
        people=900.0,
        level=GlobalMean(0.3, 0.01, 12.0),
        weights=Weights(weight, weight**2 + 1, np.log(weight), 1.0),
        effects=ItemBiases(
            rng.normal(0, 0.6, ITEMS), rng.uniform(0.001, 0.2, ITEMS), np.full(ITEMS, 0.01)
        ),
        evidence=Evidence(*np.ones((3, ITEMS))),
        tastes=UserFactors(rng.normal(0, 0.4, (ITEMS, width)), rng.uniform(0, 0.1, ITEMS)),
        implied=ImplicitFeedback(rng.normal(0, size, (leanings, leanings))),
    )


def summed(round_, state, items, values):
    """One person's integers in every part of a round, in one long vector a part."""
    block = Block(
        np.zeros(1, np.int64),
        np.array([0, len(items)], np.int64),
        items.astype(np.uint32),
        np.asarray(values, float),
    )
    found = {}
    for part in round_.parts:
        rows = given_by(round_, block, state)[part.name]
        q = part.bound.apply(rows)
        if part.form == "gram":
            inside = rows.index < part.size
            row = np.zeros(part.size, np.int64)
            row[rows.index[inside].astype(int)] = q[inside, 0]
            weights = part.bound.weights(rows, q)
            full = np.outer(row, row)
            if weights is not None:
                full = (weights[0] * full + 2**29) >> 30
            found[part.name] = full[np.triu_indices(part.size, 1)].astype(float)
        else:
            out = np.zeros((part.size, part.width))
            np.add.at(out, rows.index.astype(int), q)
            found[part.name] = out.ravel()
    return found


def films(featured):
    """Items of which years and tags are known, or nothing."""
    ids = [str(i) for i in range(ITEMS)]
    if not featured:
        return Catalogue(ids)
    rng = np.random.default_rng(2)
    return Catalogue(
        ids,
        years=rng.uniform(1950, 2020, ITEMS),
        tags=("a", "b", "c"),
        tagged=rng.random((ITEMS, 3)) < 0.4,
    )


@pytest.mark.parametrize("featured", [False, True])
@pytest.mark.parametrize("unit", ["user", "rating"])
def test_no_neighbour_breaks_the_bound_of_any_round(unit, featured):
    """Rounds as they are run, on hostile rows and any state: moves stay within the
    sensitivity that was paid for."""
    rng = np.random.default_rng(5)
    items = films(featured)
    public = Public(Schema(1, 5, users=6000), items, unit, "sound", Budget(8.0, 1e-6))
    plan = Bayes(unit=unit).plan(public)
    names = {r.name for r in plan.rounds}
    assert "covariance" in names
    assert ("widths" in names) == featured
    assert unit == "rating" or "sweep 1" in names
    assert {"implied", "agreement"} <= names
    furthest = defaultdict(float)
    for trial_ in range(60):
        state = state_of(rng, leanings=leanings_of(plan))
        size = int(rng.choice([0, 1, 2, 5, 15, ITEMS - 1]))
        chosen = rng.permutation(ITEMS)[: size + 1]
        order = np.argsort(chosen)
        values = np.where(
            rng.random(size + 1) < 0.6,
            rng.choice([-2.0, 2.0], size + 1),
            rng.uniform(-9, 9, size + 1),
        )
        kept = np.ones(size + 1, bool)
        kept[order[-1] if trial_ % 2 else 0] = False
        for round_ in plan.rounds:
            whole = summed(round_, state, chosen[order], values[order])
            less = summed(round_, state, chosen[order][kept[order]], values[order][kept[order]])
            for part in round_.parts:
                move = whole[part.name] - (less[part.name] if unit == "rating" else 0)
                claimed = part.bound.sensitivity(unit)
                moved = np.linalg.norm(move) / claimed.l2
                assert moved <= 1 + 1e-9, f"{round_.name}/{part.name}"
                furthest[round_.name] = max(moved, furthest[round_.name])
    # Rows that are all zero would keep to any bound.
    least = 0.9 if unit == "user" else 0.3
    assert min(furthest["implied"], furthest["agreement"]) > least


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_whether_a_round_ends_in_an_error_never_depends_on_a_person(unit):
    """Seen: under loadings of 1e9, which public people who are sure of nonsense can bring
    about, one who rated a single item ended the choice in a division by zero."""
    plan = Bayes(unit=unit).plan(
        Public(Schema(1, 5, users=6000), films(True), unit, "sound", Budget(8.0, 1e-6))
    )
    rng = np.random.default_rng(1)
    for size in (1e8, 1e9, 1e11):
        state = state_of(rng, leanings=leanings_of(plan))
        item_biases = replace(state.effects, mean=size * state.effects.mean)
        user_factors = replace(state.tastes, loadings=size * state.tastes.loadings)
        far = replace(state, effects=item_biases, tastes=user_factors)
        # So large that its square is no number.
        beyond = ImplicitFeedback(np.full_like(state.implied.coefficients, 1e300))
        for given in (far, replace(far, implied=beyond)):
            for round_ in plan.rounds:
                for item in range(ITEMS):
                    summed(round_, given, np.array([item]), [2.0])


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_one_item_has_no_covariance(unit):
    shares = divide(unit, 100_000, 1.0, 1, 3, False)
    assert not shares.second.covariance
    assert divide(unit, 100_000, 1.0, 2, 3, False).second.covariance


def test_slopes_and_tastes_are_asked_for_apart_by_a_small_budget():
    """And the row that asks keeps to its bound, whatever a person rates."""
    rng = np.random.default_rng(6)
    ids = [str(i) for i in range(ITEMS)]
    tagged = (np.arange(ITEMS)[:, None] % 3 == np.arange(3)).astype(np.uint8)
    items = Catalogue(ids, tags=["a", "b", "c"], tagged=tagged)

    def choice(users):
        known = Schema(1, 5, users=users)
        public = Public(known, items, "user", "sound", Budget(1.0, 1e-6))
        return Bayes().plan(public).rounds[-1]

    asked, together = choice(900).parts[0], choice(9000).parts[0]
    assert (asked.width, together.width) == (9, 6)
    for size in (1, 5, 15):
        state = replace(state_of(rng), tastes=NOT_YET)
        chosen = np.sort(rng.permutation(ITEMS)[:size])
        values = rng.uniform(-9, 9, size)
        move = summed(choice(900), state, chosen, values)["gains"]
        bound = asked.bound.sensitivity("user").l2
        assert 0 < np.linalg.norm(move) <= bound * (1 + 1e-9)


def test_a_plan_without_delta_is_that_of_first_order():
    items = Catalogue([str(i) for i in range(50)])
    plan = Bayes().plan(Public(Schema(1, 5, users=6000), items, "user", "sound", Budget(5.0, 0.0)))
    assert {r.name for r in plan.rounds} == {
        "people",
        "weights",
        "effects 1",
        "effects 2",
        "choice",
    }
