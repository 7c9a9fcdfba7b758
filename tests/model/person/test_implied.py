"""What a person's choice of items says of her tastes: against the joint Gaussian of all that is
known and asked, compiled answers against plain ones, and what it must not change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.model.person import gaussian
from tacit.model.person.base import Cells, Own
from tacit.model.person.gaussian import (
    DAY,
    IMPLICIT_MORE,
    SECONDS,
    TYPICAL,
    UNSURE,
    Daily,
    GaussianPersonal,
    daily,
    day_of,
)
from tacit.model.person.staged_neighbours import FactorNeighbours

ITEMS, WIDTH, NOISE = 40, 4, 0.7
COUNTS = (0, 1, 3, 25, 0, 12)
DOUBT = np.array([0.0, 0.01, 0.05, 0.2])
"""Of columns, at each rating."""

Arrays = dict[str, Any]


def arrays(**more: Any) -> Arrays:
    rng = np.random.default_rng(3)
    return {
        "baseline": rng.normal(0.2, 0.4, ITEMS),
        "variance": rng.uniform(0.01, 0.3, ITEMS),
        "loadings": rng.normal(0.0, 0.4, (ITEMS, WIDTH)),
        "implied": rng.normal(0.0, 4.0, (WIDTH, WIDTH)),
        "usual": rng.normal(0.0, 0.2, WIDTH),
        **more,
    }


def personal(held: Arrays) -> GaussianPersonal:
    return GaussianPersonal(held, {"noise": NOISE})


def without(held: Arrays) -> GaussianPersonal:
    """The same model, which knows nothing of choices."""
    return personal({k: v for k, v in held.items() if k not in ("implied", "usual")})


def somebody(count: int, seed: int = 4, asked: int | None = None, *, times: bool = False) -> Own:
    """Ratings on four days, if they have times."""
    rng = np.random.default_rng(seed)
    items = np.sort(rng.permutation(ITEMS)[:count])
    values = rng.uniform(-2, 2, count)
    when = rng.integers(0, 4 * SECONDS, count)
    return Own(items, values, when if times else None, asked)


def by_hand(held: Arrays, own: Own, day: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation: all that is seen and all that is asked are one Gaussian, whose
    mean is moved by what the choice implies, and nothing is solved in the space of tastes.

    A rating's doubt of a column is seen as one more sight of that column, which shows 0.
    """
    rows, prior = held["loadings"], np.zeros(WIDTH)
    for item in own.items:
        prior += (rows[item] - held["usual"]) @ held["implied"]
    prior /= len(own.items) + 20
    noise = NOISE if day is None else NOISE - DAY
    sights = [rows[own.items]]
    seen = [own.values - held["baseline"][own.items]]
    chance = [noise + held["variance"][own.items]]
    for column, posterior_variance in enumerate(held.get("per_rating", ())):
        if posterior_variance:
            count = len(own.items)
            sights.append(np.tile(np.eye(WIDTH)[column], (count, 1)))
            seen.append(np.zeros(count))
            chance.append(np.full(count, 1 / posterior_variance))
    known = np.concatenate(sights)
    both = np.concatenate([known, rows])
    spread = both @ both.T
    if day is not None:
        days = np.full(len(both), -1.0)
        days[: len(own.items)] = own.times // SECONDS
        days[len(known) :] = day
        spread += DAY * (days[:, None] == days) * (days >= 0)
    size = len(known)
    within = spread[:size, :size] + np.diag(np.concatenate(chance))
    gain = np.linalg.solve(within, spread[:size, size:]).T
    rest = np.concatenate(seen) - known @ prior
    mean = held["baseline"] + rows @ prior + gain @ rest
    left = np.diag(spread)[size:] - (gain * spread[size:, :size]).sum(axis=1)
    misfit = rest @ np.linalg.solve(within, rest)
    count = len(own.items)
    scale = (TYPICAL + UNSURE + misfit) / (TYPICAL + count)
    return mean, np.sqrt(left + scale * (noise + held["variance"]))


@pytest.mark.parametrize("count", [0, 1, 12, 30])
@pytest.mark.parametrize("posterior_variance", [False, True])
def test_it_is_the_posterior_of_the_joint_gaussian(count, posterior_variance):
    held = arrays(**({"per_rating": DOUBT} if posterior_variance else {}))
    own = somebody(count)
    found = personal(held).predict(own)
    for one, right in zip(found, by_hand(held, own), strict=True):
        np.testing.assert_allclose(one, right, atol=1e-12)
    plain = without(held).predict(own)
    for one, other in zip(found, plain, strict=True):
        assert (np.abs(one - other).max() > 1e-4) == (count > 0)


@pytest.mark.parametrize("day", [2, 99])
@pytest.mark.parametrize("posterior_variance", [False, True])
def test_it_is_with_the_shifts_of_days_too(day, posterior_variance):
    held = arrays(**({"per_rating": DOUBT} if posterior_variance else {}))
    own = somebody(12, asked=day * SECONDS + 5, times=True)
    found = personal(held).predict(own)
    for one, right in zip(found, by_hand(held, own, day), strict=True):
        np.testing.assert_allclose(one, right, atol=1e-12)


def test_few_items_say_little_and_many_what_their_mean_says():
    """What is added for one item alone is its hint over 1 and `IMPLIED_MORE`; twice the items of
    the same loadings are nearer to the hint itself."""
    held = arrays(loadings=np.tile(arrays()["loadings"][:1], (ITEMS, 1)))
    model = personal(held).model
    hint = (held["loadings"][0] - held["usual"]) @ held["implied"]
    for count in (1, 20, 40):
        means = model.implicit_of(np.arange(count)).sum(axis=0)
        np.testing.assert_allclose(means, hint * count / (count + IMPLICIT_MORE))
    assert IMPLICIT_MORE == 20


def people(seed: int = 5) -> Cells:
    """Some without ratings, some who are asked nothing; every question has a time."""
    own = [somebody(count, seed + row, times=True) for row, count in enumerate(COUNTS)]
    rng = np.random.default_rng(seed)
    asked = np.array([7, 5, 0, 9, 3, 8])
    return Cells(
        np.concatenate([[0], np.cumsum(COUNTS)]).astype(np.int64),
        np.concatenate([one.items for one in own]).astype(np.uint32),
        np.concatenate([one.values for one in own]),
        np.concatenate([[0], np.cumsum(asked)]).astype(np.int64),
        rng.integers(0, ITEMS, asked.sum()).astype(np.uint32),
        np.concatenate([one.times for one in own]),
        rng.integers(0, 6 * SECONDS, asked.sum()),
    )


@pytest.mark.parametrize("posterior_variance", [False, True])
def test_compiled_answers_are_those_of_each_person(posterior_variance):
    model = personal(arrays(**({"per_rating": DOUBT} if posterior_variance else {})))
    cells = replace(people(), time=None, ask_time=None)
    mean, sd = model.predict_cells_error(cells)
    scores = model.score_block(cells.ptr, cells.item, cells.value)
    for row in range(len(COUNTS)):
        own, ask = cells.person(row)
        where = slice(cells.ask_ptr[row], cells.ask_ptr[row + 1])
        right = model.predict(own)
        np.testing.assert_allclose(mean[where], right[0][ask], atol=1e-12)
        np.testing.assert_allclose(sd[where], right[1][ask], atol=1e-12)
        np.testing.assert_allclose(scores[row], right[0], atol=1e-12)


@pytest.mark.parametrize("posterior_variance", [False, True])
@pytest.mark.parametrize("told", [False, True])
def test_compiled_answers_by_day_are_those_of_each_person(posterior_variance, told):
    """Also without what choices imply: an interval is each person's own, not only the first's."""
    held = arrays(**({"per_rating": DOUBT} if posterior_variance else {}))
    given = personal(held) if told else without(held)
    model, cells = given.model, people()
    assert cells.time is not None
    assert cells.ask_time is not None
    mean, sd = given.predict_cells_error(cells)
    assert sd is not None
    for row in range(len(COUNTS)):
        own, ask = cells.person(row)
        when = day_of(cells.time[cells.ptr[row] : cells.ptr[row + 1]])
        rest = own.values - model.baseline[own.items]
        for cell, item in enumerate(ask, cells.ask_ptr[row]):
            day = int(cells.ask_time[cell]) // SECONDS
            alone = Daily(daily(model), own.items, rest, when, day).predict()
            assert mean[cell] == pytest.approx(alone[0][item], abs=1e-12)
            assert sd[cell] == pytest.approx(alone[1][item], abs=1e-12)


@pytest.mark.parametrize("day", [None, 2, 99])
@pytest.mark.parametrize("posterior_variance", [False, True])
def test_reasons_add_up_to_the_prediction(day, posterior_variance):
    held = arrays(**({"per_rating": DOUBT} if posterior_variance else {}))
    asked = None if day is None else day * SECONDS
    own = somebody(15, asked=asked, times=day is not None)
    model = personal(held)
    mean = model.predict(own)[0]
    for item in (0, 17, int(own.items[0])):
        reason = model.explain(own, item)
        assert reason.baseline == held["baseline"][item]
        assert reason.baseline + reason.own.sum() == pytest.approx(mean[item])


def test_a_rating_of_just_the_baseline_moves_by_having_been_given():
    held = arrays()
    items = np.arange(6)
    own = Own(items, held["baseline"][items])
    assert np.all(without(held).explain(own, 9).own == 0.0)
    model = personal(held)
    posterior = gaussian.fold_in(model.model, own.items, own.values)
    told = (held["loadings"][items] - held["usual"]) @ held["implied"]
    moved = told @ posterior.covariance @ held["loadings"][9] / 26
    np.testing.assert_allclose(model.explain(own, 9).own, moved)


@pytest.mark.parametrize("times", [False, True])
def test_somebody_without_ratings_is_told_what_everybody_is(times):
    held = arrays()
    nobody = somebody(0, asked=5, times=times)
    found, plain = personal(held).predict(nobody), without(held).predict(nobody)
    for one, other in zip(found, plain, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found[0], held["baseline"])
    assert personal(held).explain(nobody, 3).own.shape == (0,)


def test_a_choice_that_implies_nothing_changes_nothing():
    held = arrays(implied=np.zeros((WIDTH, WIDTH)))
    own, cells = somebody(12), people()
    for one, other in zip(personal(held).predict(own), without(held).predict(own), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(
        personal(held).predict_cells_error(cells),
        without(held).predict_cells_error(cells),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_units_of_the_loadings_are_free():
    """Wider loadings are smaller tastes: a model is the same in other columns."""
    held, rng = arrays(), np.random.default_rng(8)
    turn = np.linalg.qr(rng.standard_normal((WIDTH, WIDTH)))[0]
    other = arrays(
        loadings=held["loadings"] @ turn,
        implied=turn.T @ held["implied"] @ turn,
        usual=held["usual"] @ turn,
    )
    own = somebody(12)
    for one, same in zip(personal(held).predict(own), personal(other).predict(own), strict=True):
        np.testing.assert_allclose(one, same)


def test_models_with_neighbours_go_without():
    rng = np.random.default_rng(6)
    held = arrays(factor=0.1 * rng.standard_normal((ITEMS, 2)))
    numbers = {"noise": NOISE, "neighbours": 5.0}
    bare = {k: v for k, v in held.items() if k not in ("implied", "usual")}
    own, cells = somebody(12), replace(people(), time=None, ask_time=None)
    models = [FactorNeighbours(each, numbers) for each in (held, bare)]
    one, other = (each.predict(own)[0] for each in models)
    np.testing.assert_array_equal(one, other)
    one, other = (each.predict_cells(cells) for each in models)
    np.testing.assert_array_equal(one, other)
    one, other = (each.explain(own, 7).own for each in models)
    np.testing.assert_array_equal(one, other)


def test_who_chooses_by_taste_is_predicted_better_and_intervals_hold():
    """People drawn from the model: what their choice says is known before they have rated."""
    held, rng = arrays(), np.random.default_rng(7)
    told, bare = personal(held).model, without(held).model
    inside, errors = [], {"told": [], "bare": []}
    for _ in range(1500):
        items = rng.permutation(ITEMS)
        own, asked = items[:10], items[10:]
        user_factors = told.implicit_of(own).sum(axis=0) + rng.standard_normal(WIDTH)
        chance = np.sqrt(1 / told.precision) * rng.standard_normal(ITEMS)
        rated = told.baseline + told.loadings @ user_factors + chance
        mean, sd = gaussian.predict(told, gaussian.fold_in(told, own, rated[own]), asked)
        plain, _ = gaussian.predict(bare, gaussian.fold_in(bare, own, rated[own]), asked)
        inside.append(np.abs(rated[asked] - mean) < 1.2816 * sd)
        errors["told"].append((rated[asked] - mean) ** 2)
        errors["bare"].append((rated[asked] - plain) ** 2)
    assert np.mean(inside) == pytest.approx(0.8, abs=0.02)
    assert np.mean(errors["told"]) < np.mean(errors["bare"]) - 0.005
