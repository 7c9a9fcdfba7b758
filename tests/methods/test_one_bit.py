"""The local methods: conformance, planted truth, and what distinguishes them."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.data.catalogue import Catalogue
from tacit.data.splits import per_rating
from tacit.errors import SettingError
from tacit.evaluation.sweep import measure
from tacit.fitting.run import fit, trial
from tacit.kernels.directions import favour, tally
from tacit.ledger.account.account import epsilon as account
from tacit.methods.base import Public
from tacit.methods.one_bit.one_bit import padded
from tacit.methods.one_bit.plan import gathered, spread_out
from tacit.methods.refine.reports import best_report
from tacit.papers.shin2018.printed.descent import LARGEST
from tacit.rounds.people import Slice
from tacit.rounds.plan import Budget
from tacit.testing import MethodTests


class TestNaive(MethodTests):
    method = tacit.NaiveLocalMF


class TestOneBit(MethodTests):
    method = tacit.OneBitMF


class TestProjected(MethodTests):
    method = tacit.ProjectedOneBitMF


class TestDescent(MethodTests):
    method = tacit.ProjectedOneBitMF
    settings = {"form": "descent", "rank": 3, "rounds": 4, "projection": 50}  # noqa: RUF012


@pytest.fixture(scope="module")
def split():
    return per_rating(tacit.sample(people=1500, ratings=60_000, seed=4), 0.1, 0)


def rmse(method, split, items=None):
    return measure(trial(method, split.train, items=items), split, lists=False)["rmse"]


def public(epsilon=1.0, delta=0.0, calibration="sound", items=20):
    schema = tacit.Schema(1, 5)
    return Public(
        schema,
        Catalogue([str(i) for i in range(items)]),
        "user",
        calibration,
        Budget(epsilon, delta),
    )


@pytest.mark.parametrize(("width", "size"), [(2, 400), (63, 64), (5, 0)])
def test_a_vector_spread_over_many_coordinates_keeps_its_length_and_comes_back(width, size):
    vectors = np.random.default_rng(0).normal(0, 0.4, (30, width))
    whole = spread_out(vectors, size)
    norm = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1.0)
    assert np.linalg.norm(whole, axis=1) == pytest.approx(1.0)
    assert whole.shape[1] <= max(size, width + 1)
    assert gathered(whole.sum(axis=0), width, size) == pytest.approx((vectors / norm).sum(axis=0))


@pytest.mark.parametrize("bits", [1, 7])
@pytest.mark.parametrize(("size", "close"), [(320, True), (0, False)])
def test_a_short_vector_is_heard_without_bias_only_if_it_is_spread_out(bits, size, close):
    """Of a vector with three coordinates the largest alone settles the answers."""
    people, report = 20_000, best_report(50.0, bits)
    whole = spread_out(np.tile([0.3, 0.1], (people, 1)), size)
    width = whole.shape[1]
    favoured = np.empty((people, report.favoured))
    ptr, index = (np.arange(people + 1) * width, np.tile(np.arange(width, dtype=np.uint32), people))
    favour(np.arange(people), ptr, index, whole.ravel(), np.uint64(5), report.pairs, favoured)
    said = np.random.default_rng(1).permuted(favoured, axis=1)[:, 0].astype(np.int64)
    total = np.zeros(width, np.int64)
    tally(np.arange(people), said, np.uint64(5), total)
    told = gathered(total / report.gain / people, 2, size)
    assert (np.abs(told - [0.3, 0.1]).max() < 0.06) == close  # six standard deviations


def test_every_person_answers_once_with_the_whole_budget():
    plan = tacit.ProjectedOneBitMF(epsilon=3.0).plan(public(3.0))
    events = plan.events(Budget(3.0, 0.0))
    assert all(event.epsilon == pytest.approx(3.0) for event in events.values())
    assert account(events.values(), 0.0) == pytest.approx(3.0)
    taken = [
        place
        for r in plan.rounds
        for place in range(r.takes_part.index, r.takes_part.index + r.takes_part.width)
    ]
    assert sorted(taken) == list(range(plan.rounds[0].takes_part.of))


def test_a_smaller_error_for_a_larger_budget_and_never_worse_than_alone(split):
    items = tacit.sample_catalogue()
    alone = rmse(tacit.OneBitMF(epsilon=1e-3), split)
    found = [rmse(tacit.ProjectedOneBitMF(epsilon=e), split, items) for e in (0.1, 8.0)]
    twin = rmse(tacit.ProjectedOneBitMF(calibration="none"), split, items)
    assert twin < found[1] < found[0] < alone + 0.005


def test_few_bits_tell_more_than_one_where_epsilon_is_large():
    one, few = (
        cls(epsilon=8.0).plan(public(8.0)) for cls in (tacit.OneBitMF, tacit.ProjectedOneBitMF)
    )
    assert one.rounds[0].parts[0].choices == 2
    assert few.rounds[0].parts[0].choices > 16
    strict = tacit.ProjectedOneBitMF(epsilon=8.0, bits=1).plan(public(8.0))
    assert strict.rounds[0].parts[0].choices == 2


def test_the_sound_descent_runs_k_rounds_over_people_of_their_own():
    plan = tacit.OneBitMF(epsilon=1.0, form="descent", rounds=5).plan(public())
    assert [r.takes_part for r in plan.rounds] == [Slice(i, 5) for i in range(5)]
    assert account(plan.events(Budget(1.0, 0.0)).values(), 0.0) == pytest.approx(1.0)


def test_people_who_answer_often_profit_from_delta():
    plan = tacit.OneBitMF(epsilon=1.0, form="descent", rounds=50, each=50).plan(public())
    each = [e.epsilon for e in plan.events(Budget(1.0, 1e-6)).values()]
    assert each[0] == pytest.approx(0.0344, abs=1e-4)  # exact composition: .0344 against .0200
    assert account(plan.events(Budget(1.0, 1e-6)).values(), 1e-6) <= 1.0
    assert plan.events(Budget(1.0, 0.0))["step 1/bits 1"].epsilon == pytest.approx(0.02)


def test_people_may_answer_in_some_of_the_rounds():
    plan = tacit.OneBitMF(epsilon=1.0, form="descent", rounds=6, each=2).plan(public())
    events = plan.events(Budget(1.0, 0.0))
    assert [e.epsilon for e in events.values()] == pytest.approx([0.5] * 6)
    assert account(events.values(), 0.0) == pytest.approx(1.0)
    with pytest.raises(SettingError, match="divide"):
        tacit.OneBitMF(epsilon=1.0, form="descent", rounds=6, each=4).plan(public())


def test_the_paper_runs_a_round_too_many_and_says_so():
    plan = tacit.OneBitMF(epsilon=1.0, calibration="paper", rounds=10).plan(
        public(calibration="paper")
    )
    events = plan.events(Budget(1.0, 0.0))
    assert len(events) == 11
    assert {event.kind for event in events.values()} == {"unbounded"}
    assert sum(event.claimed_epsilon for event in events.values()) == pytest.approx(1.1)


@pytest.mark.parametrize("cls", [tacit.OneBitMF, tacit.ProjectedOneBitMF])
def test_without_noise_the_descent_learns(split, cls):
    model = {"calibration": "none", "form": "descent", "rank": 5, "own_rate": 0.1}
    assert rmse(cls(**model, rounds=10), split) < rmse(cls(**model, rounds=1), split)


def test_the_naive_paper_diverges_and_nothing_wild_is_kept():
    ratings = tacit.sample(people=60, ratings=1000, seed=1)
    method = tacit.NaiveLocalMF(
        epsilon=0.5, calibration="paper", rank=2, rounds=3, correction="one", rate=1e30
    )
    model = trial(method, ratings)
    path = model.shared.arrays["path"]
    assert np.isfinite(path).all()
    assert np.abs(path).max() <= LARGEST
    assert all(np.isfinite(line.rating) for line in model.recommend({}, 3))


def test_a_square_projection_gives_the_gradient_back():
    from tacit.methods.one_bit.one_bit import ProjectedSettings
    from tacit.papers.shin2018.printed.descent import Projection

    rng = np.random.default_rng(0)
    for entries in ("gaussian", "sign"):
        project = Projection(300, ProjectedSettings(projection=60, entries=entries), rng)
        inside = project.matrix.T.astype(np.float64) @ rng.normal(size=(60, 2))
        assert np.allclose(project.back(project.matrix @ inside), inside, rtol=1e-2, atol=1e-2)
        outside = rng.normal(size=(300, 2))
        twice = project.back(project.matrix @ project.back(project.matrix @ outside))
        assert np.allclose(
            twice, project.back(project.matrix @ outside), atol=1e-2
        )  # a projection, so biased


def test_ratings_recovered_from_the_projection_are_an_option(split):
    few = tacit.sample(people=100, ratings=2000, seed=2)
    method = tacit.ProjectedOneBitMF(
        calibration="none", form="descent", rank=3, rounds=3, projection=60, recover="ratings"
    )
    model = trial(method, few)
    phi, own = model.personal.projection, np.ones((1, 3))
    recovered = model.personal._recover(own)[0]
    target = model.personal.reduced @ own[0]
    assert np.linalg.norm(phi @ recovered - target) < 0.2 * np.linalg.norm(target)
    assert (recovered == 0).mean() > 0.3  # sparse
    told = model.predict({few.items[0]: 5.0}, [few.items[1]])[0]
    assert few.schema.low <= told.rating <= few.schema.high


def test_padding_brings_every_row_to_norm_one():
    ptr, values = np.array([0, 2, 2, 5]), np.array([0.3, 0.4, 3.0, 4.0, 0.0])
    rows = padded(ptr, np.arange(5), values, 9)
    assert rows.ptr.tolist() == [0, 3, 4, 8]
    assert rows.index.tolist() == [0, 1, 9, 9, 2, 3, 4, 9]
    norms = [
        np.sum(rows.values[a:b] ** 2) for a, b in zip(rows.ptr[:-1], rows.ptr[1:], strict=True)
    ]
    assert norms == pytest.approx([1.0, 1.0, 1.0])


@pytest.mark.fresh_noise
def test_a_fit_states_what_is_promised_to_whom(tmp_path):
    ratings = tacit.sample(people=200, ratings=4000, seed=1)
    made = fit(tacit.OneBitMF(epsilon=1.0, ledger=str(tmp_path / "book")), ratings)
    assert made.statement.certified == "certified"
    assert "any two records of one person" in made.statement.neighbours
    assert "which devices take part" in made.statement.public
    assert not any("count" in event.name for event in made.statement.events)


def test_the_engines_agree_without_noise(split):
    few = tacit.sample(people=80, ratings=1500, seed=6)
    one, all_ = (
        trial(tacit.OneBitMF(calibration="none", engine=name), few)
        for name in ("local", "simulate")
    )
    for name, array in one.shared.arrays.items():
        assert np.allclose(array, all_.shared.arrays[name], atol=1e-6)
