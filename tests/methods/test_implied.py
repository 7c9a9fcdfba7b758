"""What people's choice of items says of their tastes: where it is asked, that what is published
is what was learned, and that choices that follow tastes are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacit import Bayes
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.fitting.run import trial
from tacit.methods.base import Public
from tacit.methods.bayes import plan as rule
from tacit.methods.bayes.implicit import NARROWEST, implicit_design
from tacit.methods.bayes.rounds import BayesState, ImplicitFeedback, SecondOrder
from tacit.methods.first_order.rounds import FirstOrder, ItemBiases, UserFactors
from tacit.methods.refine.choose import Choice
from tacit.methods.refine.global_mean import GlobalMean
from tacit.methods.refine.item_bias import Evidence
from tacit.methods.refine.weights import Weights
from tacit.methods.rehearsal import rehearsed
from tacit.model.person import gaussian
from tacit.model.person.base import personal_model
from tacit.rounds.plan import Budget

ITEMS = 40
FROM = {"user": rule.IMPLICIT_FROM, "rating": 2 * rule.IMPLICIT_FROM}
"""Reach from which it is asked what choices imply."""


def second_of(unit, reach, items=900, columns=25, pure=False):
    people = 10_000
    return rule.split(unit, people, reach / people, items, columns, pure).second


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_what_choices_imply_is_asked_where_it_pays(unit):
    assert not second_of(unit, 0.99 * FROM[unit]).implied
    enough = second_of(unit, 1.01 * FROM[unit])
    assert enough.implied > 0
    assert enough.leanings >= rule.LEAST_LEANINGS
    assert second_of(unit, float("inf")).leanings == rule.MOST_LEANINGS
    assert not second_of(unit, 1e7, pure=True).implied


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_one_item_leaves_no_choice_and_few_items_few_directions(unit):
    alone = second_of(unit, 1e7, items=1)
    assert (alone.implied, alone.leanings) == (0, 0)
    for items in (2, 4):
        assert second_of(unit, 1e7, items=items).leanings == items - 1


def public_of(unit, items, users=10**6):
    catalogue = Catalogue([str(i) for i in range(items)])
    schema = Schema(1, 5, users=users)
    return Public(schema, catalogue, unit, "sound", Budget(8.0, 1e-6))


@pytest.mark.parametrize("unit", ["user", "rating"])
@pytest.mark.parametrize("items", [1, 2, 3, ITEMS])
def test_choices_come_after_all_tastes_and_before_the_widths_of_people(unit, items):
    rounds = Bayes(unit=unit).plan(public_of(unit, items)).rounds
    names = [round_.name for round_ in rounds]
    if items == 1:
        assert not {"implied", "agreement"} & set(names)
        return
    assert names[-3:] == ["implied", "agreement", "choice"]
    (products,), (agreed,) = rounds[-3].parts, rounds[-2].parts
    kept = min(rule.MOST_LEANINGS, items - 1)
    assert products.width == kept**2 + kept * (kept + 1) // 2
    assert agreed.width == 2
    assert products.share > agreed.share > 0


@pytest.mark.parametrize("unit", ["user", "rating"])
@pytest.mark.parametrize("items", [1, 2, 3, ITEMS])
def test_without_noise_and_with_few_columns_every_number_is_finite(unit, items):
    """Seen: axes that loadings are too few for were divided by no noise, and invented people
    without noise (before every fit) made a model of NaN, with a warning."""
    shared = rehearsed(Bayes(unit=unit), public_of(unit, items))
    assert all(np.isfinite(each).all() for each in shared.arrays.values())


def state_of(rng, scales, kept=6):
    """Public state after all rounds, and a choice that widens and narrows."""
    weight = rng.uniform(1, 60, ITEMS)
    width = 4
    return BayesState(
        people=900.0,
        level=GlobalMean(0.3, 0.01, 12.0),
        weights=Weights(weight, weight**2 + 1, np.log(weight), 1.0),
        evidence=Evidence(*np.ones((5, ITEMS))),
        effects=ItemBiases(
            rng.normal(0, 0.6, ITEMS), rng.uniform(0.001, 0.2, ITEMS), np.full(ITEMS, 0.01)
        ),
        tastes=UserFactors(rng.normal(0, 0.4, (ITEMS, width)), rng.uniform(0, 0.1, ITEMS)),
        implied=ImplicitFeedback(rng.normal(0, 0.3, (kept, kept))),
        choice=Choice(np.asarray(scales), 0.6),
    )


@pytest.mark.parametrize("without", [[], [2, 4]])
def test_what_is_published_is_what_was_learned_in_its_own_units(without):
    """Her tastes are told in units of the published loadings, which the choice has widened; of
    columns that it took out, nothing is told and nothing is used."""
    rng = np.random.default_rng(3)
    second = SecondOrder(FirstOrder.of(public_of("user", ITEMS)))
    state = state_of(rng, ())
    coefficients = state.implied.coefficients
    known = implicit_design(second, state, len(coefficients))
    apart = known.model.loadings - known.leanings.usual
    turn = known.rotation(coefficients)
    assert known.hints(coefficients) == pytest.approx(apart @ turn)

    scales = rng.uniform(0.3, 2.0, len(turn))
    scales[without] = [0.0, 0.1 * NARROWEST][: len(without)]
    state = replace(state, choice=Choice(scales, 0.6))
    shared = Bayes().finish(second.first.public, state)
    mine = np.array([3, 8, 20])
    told = personal_model(shared).model.implicit_of(mine).sum(axis=0)
    there = scales > NARROWEST
    learned = (apart[mine].sum(axis=0) * there) @ turn
    learned /= len(mine) + gaussian.IMPLICIT_MORE
    assert told[there] * scales[there] == pytest.approx(learned[there], rel=1e-3, abs=1e-4)
    assert not told[~there].any()


def crowd(people, follows, seed, each=12):
    """People whose choice of items follows their tastes so far, or not at all."""
    rng = np.random.default_rng(seed)
    item_factors = np.random.default_rng(0).normal(0, 0.6, (60, 3))
    likes = rng.normal(size=(people, 3)) @ item_factors.T
    appeal = follows * likes + rng.gumbel(size=likes.shape)
    item = np.sort(np.argsort(-appeal, axis=1)[:, :each], axis=1)
    liked = 0.8 * np.take_along_axis(likes, item, 1)
    value = np.rint(3 + liked + rng.normal(0, 0.5, item.shape))
    return Ratings(
        Schema(1, 5),
        [str(i) for i in range(people)],
        [str(i) for i in range(60)],
        np.arange(people + 1) * each,
        item.astype(np.uint32).ravel(),
        np.clip(value, 1, 5).astype(np.float32).ravel(),
    )


def error(model, ratings, own=8):
    """Of people's last ratings, from the first ones."""
    people = ratings.n_users
    item = ratings.item.reshape(people, -1)
    value = ratings.value.reshape(people, -1) - 3.0
    order = np.random.default_rng(1).random(item.shape).argsort(axis=1)
    item, value = (np.take_along_axis(x, order, 1) for x in (item, value))
    asked = item.shape[1] - own
    mean, _ = gaussian.predict_cells(
        model,
        np.arange(people + 1) * own,
        np.ascontiguousarray(item[:, :own]).ravel(),
        np.ascontiguousarray(value[:, :own]).ravel(),
        np.arange(people + 1) * asked,
        np.ascontiguousarray(item[:, own:]).ravel(),
    )
    return float(np.sqrt(np.mean((mean - value[:, own:].ravel()) ** 2)))


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_choices_that_follow_tastes_are_found_and_others_say_nothing(unit):
    """Other people of the same kind are predicted better by it: by .03 to .05 here."""
    method = Bayes(epsilon=3.0, unit=unit, threads=1)
    for follows in (0.0, 1.0):
        made = trial(method, crowd(6000, follows, seed=1), users=6000)
        model = made.personal.model
        others = crowd(2000, follows, seed=2)
        gain = error(replace(model, implied=None), others) - error(model, others)
        assert gain > 0.02 if follows else abs(gain) < 0.002


def test_the_twin_knows_it_too():
    """Or what privacy costs would be told too small. It gains .015 here."""
    for follows in (0.0, 1.0):
        method = Bayes(calibration="none", threads=1)
        model = trial(method, crowd(3000, follows, seed=1)).personal.model
        others = crowd(2000, follows, seed=2)
        gain = error(replace(model, implied=None), others) - error(model, others)
        assert gain > 0.01 if follows else abs(gain) < 0.002


@pytest.mark.parametrize(("people", "items"), [(1, 1), (2, 1), (1, 3), (3, 2)])
def test_the_twin_of_hardly_anything_is_finite(people, items):
    item = np.tile(np.arange(items), people).astype(np.uint32)
    ratings = Ratings(
        Schema(1, 5),
        [str(i) for i in range(people)],
        [str(i) for i in range(items)],
        np.arange(people + 1) * items,
        item,
        np.full(len(item), 4, np.float32),
    )
    model = trial(Bayes(calibration="none", threads=1), ratings).personal.model
    assert np.isfinite(model.implied).all()
    assert np.isfinite(model.loadings).all()
