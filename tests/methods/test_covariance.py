"""Covariance methods and EASE: conformance, a plain reference, and planted structure."""

from __future__ import annotations

from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from tacit import EASE, CovarianceKNN, CovarianceSVD, Popularity, sample, sample_catalogue
from tacit.data.catalogue import Catalogue
from tacit.data.splits import per_person, per_rating
from tacit.errors import SettingError
from tacit.evaluation.sweep import measure
from tacit.fitting.run import fit, trial
from tacit.methods import find
from tacit.methods.base import Public
from tacit.methods.item_item.plan import EaseState
from tacit.model.person.base import Cells, Own
from tacit.model.person.ease import EasePersonal
from tacit.model.person.staged_neighbours import StoredNeighbours
from tacit.testing import MethodTests


class TestSVD(MethodTests):
    method = CovarianceSVD


class TestKNN(MethodTests):
    method = CovarianceKNN


class TestEase(MethodTests):
    method = EASE
    rated = False


@pytest.fixture(scope="module")
def split():
    return per_rating(sample(people=2000, seed=2), 0.1, 0)


def error(split, cls, **options):
    return measure(trial(cls(**options), split.train, users=2000), split, lists=False)["rmse"]


@pytest.mark.parametrize("cls", [CovarianceSVD, CovarianceKNN])
@pytest.mark.parametrize("unit", ["user", "rating"])
def test_a_generous_budget_finds_the_tastes(split, cls, unit):
    """On the sample: item and person effects .97, factors .85 without noise."""
    assert error(split, cls, epsilon=50, unit=unit) < 0.93


def test_little_budget_falls_back_to_effects(split):
    from tacit import Bias

    assert error(split, CovarianceSVD, epsilon=0.5) < error(split, Bias, epsilon=0.5) + 0.02


def test_ease_beats_popularity():
    likes = sample(people=2000, seed=4).take(sample(people=2000, seed=4).value >= 4)
    part = per_person(likes, 300, 0.8, 0)

    def recall(cls, **options):
        return measure(trial(cls(**options), part.train, users=2000), part, lists=True)["recall@20"]

    assert recall(EASE, epsilon=20, unit="rating") > 1.1 * recall(
        Popularity, epsilon=20, unit="rating"
    )


def test_ease_places_what_it_does_not_cover_after_the_rest_by_popularity():
    arrays = {
        "weight": np.array([9.0, 5.0, 7.0, 1.0]),
        "left": np.array([[1.0], [-2.0]]),
        "right": np.array([[1.0], [1.0]]),
        "head": np.array([0, 1]),
    }
    scores = EasePersonal(arrays, {}).scores(Own(np.array([0]), np.zeros(1)))
    assert np.argsort(-scores).tolist() == [1, 0, 2, 3]
    assert scores.min() > -2


def test_a_forecast_of_lists_promises_no_ratings():
    from tacit.evaluation.plan_report import try_out

    assert try_out(EASE(epsilon=5.0), 200, 60).private is None


def test_few_own_ratings_make_neighbours_and_factors_agree(split):
    model = trial(CovarianceKNN(epsilon=20), split.train, users=2000)
    own = {model.shared.catalogue.ids[i]: 1.0 + i % 5 for i in range(20)}
    near = np.array([p.rating for p in model.predict(own)])
    told = model.explain(own, model.shared.catalogue.ids[40])
    assert told.rating == pytest.approx(near[40], abs=1e-5)


class TestStoredNeighbours(MethodTests):
    """A few neighbours of each item instead of the rank-k factor."""

    method = CovarianceKNN
    settings: ClassVar = {"keep": 10}


@pytest.fixture(scope="module")
def kept(split):
    return trial(CovarianceKNN(epsilon=50, unit="rating", keep=30), split.train, users=2000)


def test_fewer_kept_neighbours_make_a_smaller_model(split, kept):
    fewer = trial(CovarianceKNN(epsilon=50, unit="rating", keep=5), split.train, users=2000)
    assert np.diff(fewer.shared.arrays["start"]).max() <= 5
    assert fewer.shared.nbytes < kept.shared.nbytes


def test_kept_neighbours_beat_effects(split, kept):
    """Effects alone give .97."""
    assert measure(kept, split, lists=False)["rmse"] < 0.94


def test_the_compiled_kept_neighbours_are_the_plain_ones(split, kept):
    items = np.arange(0, 90, 3)
    own = Own(items, (items % 5 - 2).astype(np.float64))
    mean, _ = kept.personal.predict(own)
    everything = np.arange(len(mean), dtype=np.uint32)
    ends = np.array([0, len(items)]), np.array([0, len(mean)])
    cells = Cells(ends[0], items.astype(np.uint32), own.values, ends[1], everything)
    np.testing.assert_allclose(kept.personal.predict_cells(cells), mean, rtol=1e-9, atol=1e-9)


def test_kept_neighbours_that_contradict_each_other_are_used_in_part():
    """Three items that all covary by .9, of variance 1, the last two of them by -.9: no
    such items can be."""
    arrays = {
        "baseline": np.zeros(4),
        "variance": np.full(4, 0.9),
        "loadings": np.zeros((4, 1)),
        "weight": np.ones(4),
        "start": np.array([0, 3, 5, 7, 9]),
        "neighbour": np.array([1, 2, 3, 2, 3, 1, 3, 1, 2]),
        "similarity": np.array([0.9, 0.9, 0.9, 0.9, 0.9, 0.9, -0.9, 0.9, -0.9]),
    }
    model = StoredNeighbours(arrays, {"noise": 0.1, "neighbours": 50.0})
    told = model.explain(Own(np.array([1, 2, 3]), np.ones(3)), 0)
    assert told.own.tolist() == pytest.approx([0.9, 0.0, 0.0])


def test_explaining_kept_neighbours_adds_up(kept):
    ids = kept.shared.catalogue.ids
    own = {ids[i]: 1.0 + i % 5 for i in range(40)}
    told = kept.explain(own, ids[60])
    assert told.rating == pytest.approx(kept.predict(own, [ids[60]])[0].rating, abs=1e-6)


@pytest.mark.parametrize("cls", [CovarianceSVD, CovarianceKNN])
def test_the_twin_is_no_worse_than_a_private_fit(split, cls):
    assert (
        error(split, cls, calibration="none") < error(split, cls, epsilon=50, unit="rating") + 0.005
    )


class TestPaperCleaning(MethodTests):
    """Covariance and weights measured apart, at sound bounds."""

    method = CovarianceSVD
    settings: ClassVar = {"cleaning": "paper"}


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_the_default_cleaning_beats_the_papers(split, unit):
    for epsilon in (2, 50):
        paper = error(split, CovarianceSVD, epsilon=epsilon, unit=unit, cleaning="paper")
        assert error(split, CovarianceSVD, epsilon=epsilon, unit=unit) < paper + 0.002


@pytest.mark.parametrize("unit", ["user", "rating"])
@pytest.mark.parametrize("cleaning", ["spectrum", "paper"])
def test_a_pure_promise_is_kept_by_laplace_noise(unit, cleaning):
    made = CovarianceSVD(epsilon=4.0, delta=0.0, unit=unit, cleaning=cleaning, items=50)
    model = trial(made, sample(people=100, ratings=3000, seed=1), users=100)
    assert {event.kind for event in model.statement.events} == {"laplace"}


@pytest.mark.fresh_noise
@pytest.mark.parametrize(("noise", "claimed"), [("gaussian", 0.838), ("laplace", 0.15)])
def test_the_printed_theta_claims_what_the_paper_says(noise, claimed, tmp_path):
    made = CovarianceSVD(
        epsilon=0.9,
        calibration="paper",
        theta=0.15,
        law=noise,
        cleaning="none",
        ledger=str(tmp_path / "book"),
    )
    model = fit(made, sample(people=80, ratings=2000, seed=1), items=sample_catalogue(), users=80)
    statement = model.statement
    assert (statement.certified, statement.unit) == ("claimed", "rating")
    assert statement.claimed_epsilon == pytest.approx(claimed, abs=1e-3)
    scale = {event.name: event.scale / 2**20 for event in statement.events}
    constant = {"gaussian": (1 + 8**0.5, 2**0.5), "laplace": (11.0, 3.0)}[noise]
    assert scale["items/sum"] == pytest.approx(5 / (0.19 * 0.15))
    assert scale["covariance/covariance"] == pytest.approx(constant[0] / (0.79 * 0.15))
    assert scale["covariance/weights"] == pytest.approx(constant[1] / (0.79 * 0.15))


def test_a_theta_beyond_the_budget_is_refused():
    with pytest.raises(SettingError, match=r"theta 0\.15 claims epsilon 0\.838"):
        trial(
            CovarianceKNN(epsilon=0.5, calibration="paper", theta=0.15),
            sample(people=50, ratings=600, seed=1),
        )


def test_the_printed_reasons_add_up_to_the_prediction():
    """Through the level every own rating speaks, by its weight only the neighbours do."""
    model = trial(
        CovarianceKNN(epsilon=50.0, calibration="paper"),
        sample(people=200, ratings=9000, seed=1),
        users=200,
    )
    ids = model.shared.catalogue.ids
    own = {ids[i]: 1.0 + i % 5 for i in range(30)}
    told = model.explain(own, ids[40])
    assert len(told.own) == 30
    assert told.rating == pytest.approx(
        told.baseline + sum(points for _, points in told.own), abs=1e-6
    )
    found = model.predict(own, [ids[40]])[0].rating
    assert found == pytest.approx(min(max(told.rating, 1.0), 5.0), abs=1e-4)


def test_a_catalogue_too_large_for_memory_is_refused_before_anything_is_charged(monkeypatch, split):
    monkeypatch.setattr("os.sysconf", lambda name: 1 if name == "SC_PAGE_SIZE" else 1000)
    with pytest.raises(SettingError, match=r"need [\d,]+ bytes"):
        CovarianceSVD(epsilon=1.0).fit(split.train, users=2000)


def test_a_gram_of_which_nothing_is_left_leaves_popularity_alone():
    """A matrix of no columns was written, and refused as damaged when it was read."""
    ratings = sample(people=60, ratings=600, seed=3)
    items = Catalogue(ratings.items)
    nothing = np.zeros((5, 0))
    state = EaseState(
        weight=np.ones(len(items.ids)),
        between=SimpleNamespace(left=nothing, right=nothing),
        head=np.arange(5),
    )
    public = Public(ratings.schema.declare(60), items, "user")
    made = find("ease")().form("sound").finish(public, state)
    assert set(made.arrays) == {"weight"}
