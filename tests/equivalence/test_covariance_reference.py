"""With the noise switched off, covariance-svd and covariance-knn are what a plain float64
numpy program computes.

The reference is `covariance_reference.py`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from covariance_reference import (
    ASKED,
    ITEMS,
    PEOPLE,
    RANK,
    first_order_sums,
    head_of,
    matrix_of_cells,
    matrix_of_people,
    reference,
    spectrum_cleaned,
    staged,
    uncleaned,
    weight_rule,
)

from tacit import CovarianceKNN, CovarianceSVD, sample
from tacit.data.catalogue import Catalogue
from tacit.engine.printed import PrintedThreads as Threads
from tacit.methods.base import Public
from tacit.methods.first_order.rounds import strength
from tacit.model.model import Model
from tacit.model.person.base import Cells, personal_model
from tacit.noise.release import NoNoise
from tacit.rounds.plan import Budget
from tacit.rounds.round import Released

ROUNDED = 1e-4
"""Sums on a grid and sums without one differ by their rounding, and how widely effects differ is
searched for in steps: the next step moves a prediction by a few hundred thousandths."""


LITTLE = 0.01
"""Said of the noise where two ways to the same numbers are compared: without any, what is likely
is so by 1e16 to one, and which of two steps is more so is a matter of rounding."""


@pytest.fixture(scope="module")
def data():
    return sample(people=PEOPLE, ratings=14_000, seed=5)


def run(method, data, unit, calibration="sound", sd=0.0):
    """(public state, its variances those of the effects alone; the published model) without
    noise; `sd` is what is said of it."""
    schema = data.schema.declare(PEOPLE)
    public = Public(schema, Catalogue(data.items), unit, calibration, Budget(20.0, 1e-6))
    engine = Threads(data, 2)
    state = method.first_state(public).after(people=float(PEOPLE))
    for round_ in method.plan(public).rounds:
        before = state
        made = engine.run(round_, state, NoNoise())
        heard = {name: replace(each, sd=sd) for name, each in made.items()}
        state = round_.absorb(state, heard)
    alone = state
    if calibration == "sound":
        alone = state.after(effects=before.effects)
    return alone, method.finish(public, state)


def predictions(data, shared):
    """What the program predicts of ASKED for everyone, on the scale of 1 to 5."""
    ask_ptr = np.arange(PEOPLE + 1, dtype=np.int64) * len(ASKED)
    value = data.value.astype(np.float64) - 3.0
    cells = Cells(data.ptr, data.item, value, ask_ptr, np.tile(ASKED, PEOPLE))
    return 3.0 + personal_model(shared).predict_cells(cells).reshape(PEOPLE, -1)


@pytest.mark.parametrize(
    ("cleaning", "clean"), [("spectrum", spectrum_cleaned), ("none", uncleaned)]
)
@pytest.mark.parametrize("method", [CovarianceSVD, CovarianceKNN])
@pytest.mark.parametrize(
    ("unit", "matrix"), [("user", matrix_of_people), ("rating", matrix_of_cells)]
)
def test_without_noise_the_sound_release_is_the_plain_one(
    data, method, unit, matrix, cleaning, clean
):
    made = method(
        epsilon=20.0, unit=unit, cleaning=cleaning, items=ITEMS, rank=RANK, **near(method)
    )
    state, shared = run(made, data, unit)
    head = head_of(state)
    found, spread = clean(
        matrix(data, state, head).astype(np.float32).astype(np.float64),
        *weight_rule(state, head, unit),
    )
    assert found.shape[1] > 0
    learned, variance = (np.zeros((len(data.items), found.shape[1])), state.effects.variance.copy())
    learned[head] = found
    variance[head] += spread
    level = np.sqrt(0.17 + state.level.variance)
    popularity = shared.arrays["loadings"][:, 1].astype(
        np.float64
    )  # of the released weights: tests/model
    popularity_slope = 0.35 * state.effects.mean
    common = np.column_stack([np.full(len(learned), level), popularity, popularity_slope])
    baseline = state.level.mean + state.effects.mean
    if method is CovarianceKNN:
        wanted = staged(data, baseline, variance, common, learned, 0.9, **near(method))
    else:
        wanted = reference(data, baseline, variance, np.column_stack([common, learned]), 0.9)
    np.testing.assert_allclose(predictions(data, shared), wanted, rtol=1e-6)


def near(method):
    return {"neighbours": 15} if method is CovarianceKNN else {}


def test_what_is_published_without_noise_says_so(data):
    from tacit.fitting.run import trial

    model = trial(CovarianceSVD(calibration="none"), data)
    assert isinstance(model, Model)
    assert model.statement.certified == "not private"


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_first_order_releases_are_what_people_add_up_to(data, unit):
    public = Public(
        data.schema.declare(PEOPLE), Catalogue(data.items), unit, "sound", Budget(20.0, 1e-6)
    )
    method = CovarianceSVD(unit=unit)
    engine = Threads(data, 2)
    state = method.first_state(public).after(people=float(PEOPLE))
    plan = method.plan(public)
    seen = 0
    for round_ in plan.rounds:
        released = engine.run(round_, state, NoNoise())
        (part,) = round_.parts
        if part.form == "rows":
            spread = 1 / (strength(public.budget) * np.sqrt(part.share))
            expected = first_order_sums(data, state, unit, spread)[part.name]
            found = released[part.name].value.reshape(expected.shape)
            adding = (
                PEOPLE
                if part.name == "level"
                else np.bincount(data.item, minlength=len(data.items))
            )
            assert (
                np.abs(found - expected) <= 3 * adding / part.bound.steps
            ).all()  # what rounding to the grid can do
            seen += 1
        state = round_.absorb(state, released)
    assert seen >= 3


@pytest.mark.parametrize("unit", ["user", "rating"])
@pytest.mark.parametrize("method", [CovarianceSVD, CovarianceKNN])
def test_predictions_follow_from_plain_sums_of_the_ratings(data, method, unit):
    """No engine and no kernel between the ratings and the released numbers: only what
    people add up to."""
    made = method(unit=unit, rank=RANK, items=ITEMS)
    public = Public(
        data.schema.declare(PEOPLE), Catalogue(data.items), unit, "sound", Budget(20.0, 1e-6)
    )
    state = made.first_state(public).after(people=float(PEOPLE))
    for round_ in made.plan(public).rounds:
        (part,) = round_.parts
        if part.form == "gram":
            matrix = matrix_of_people if unit == "user" else matrix_of_cells
            value = matrix(data, state, head_of(state))
        else:
            spread = 1 / (strength(public.budget) * np.sqrt(part.share))
            value = first_order_sums(data, state, unit, spread)[part.name].reshape(
                part.size, part.width
            )
        heard = {part.name: Released(value, LITTLE, False)}
        state = round_.absorb(state, heard)
    again = method(unit=unit, rank=RANK, items=ITEMS)
    _, shared = run(again, data, unit, sd=LITTLE)
    np.testing.assert_allclose(
        predictions(data, shared), predictions(data, made.finish(public, state)), rtol=ROUNDED
    )
