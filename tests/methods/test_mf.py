"""Every factorization: conformance, sensitivity of what people really add, determinism, and
that noise never hurts."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.auditing.hunt import hunt
from tacit.bound import RowClip
from tacit.data.splits import per_rating
from tacit.evaluation.metrics import rmse
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial
from tacit.methods import find
from tacit.methods.base import Public
from tacit.methods.factorization.rounds import Learning, learning_round
from tacit.methods.factorization.state import FactorState, ValueState
from tacit.methods.first_order.rounds import ItemBiases
from tacit.methods.refine.global_mean import GlobalMean
from tacit.methods.refine.weights import Weights
from tacit.papers.factors.form import knorm_rows
from tacit.rounds.pattern import Pattern
from tacit.rounds.plan import Budget
from tacit.rounds.round import Block
from tacit.testing import MethodTests
from tacit.testing.small_sample import few_ratings

USER = ("als", "mf-objective", "mf-nonnegative", "mf-sgd", "mf-langevin")
XIAN = (
    "svd-gradient",
    "svdpp-gradient",
    "svd-objective",
    "svdpp-objective",
    "svd-output",
    "svdpp-output",
)
INPUT = ("mf-input-sgd", "mf-input-als")
ALL = USER + XIAN + INPUT
PAPER = tuple(name for name in ALL if "paper" in find(name).calibrations)


class TestALS(MethodTests):
    method = tacit.ALS


class TestObjectiveMF(MethodTests):
    method = tacit.ObjectiveMF


class TestNonnegativeMF(MethodTests):
    method = tacit.NonnegativeMF


class TestGradientMF(MethodTests):
    method = tacit.GradientMF


class TestLangevinMF(MethodTests):
    method = tacit.LangevinMF


class TestGradientSVD(MethodTests):
    method = tacit.GradientSVD


class TestGradientSVDPP(MethodTests):
    method = tacit.GradientSVDPP


class TestObjectiveSVD(MethodTests):
    method = tacit.ObjectiveSVD


class TestObjectiveSVDPP(MethodTests):
    method = tacit.ObjectiveSVDPP


class TestOutputSVD(MethodTests):
    method = tacit.OutputSVD


class TestOutputSVDPP(MethodTests):
    method = tacit.OutputSVDPP


class TestInputSGD(MethodTests):
    method = tacit.InputSGD


class TestInputALS(MethodTests):
    method = tacit.InputALS


@pytest.fixture(scope="module")
def split():
    return per_rating(tacit.sample(people=1500, seed=2), 0.1, 0)


def error(split, name, **options):
    model = trial(find(name)(**options), split.train, users=1500)
    return measure(model, split, lists=False)["rmse"]


@pytest.fixture(scope="module")
def fewer():
    """For twins, whose time goes with people and films: 13 of them are fitted twice."""
    return per_rating(few_ratings(people=600, seed=2), 0.1, 0)


@pytest.fixture(scope="module")
def middle(split):
    return without_data(split)


def without_data(split):
    """What a guess without any data scores: the middle of the scale plus everyone's own
    shrunk mean."""
    counts = np.diff(split.fold_in.ptr)
    own = np.bincount(split.fold_in.user, split.fold_in.value - 3.0, len(counts)) / (counts + 5.0)
    return rmse(3.0 + own[split.test.user], split.test.value)


@pytest.mark.parametrize("name", ALL)
def test_drowned_in_noise_it_is_no_worse_than_ones_own_mean(split, middle, name):
    for unit in find(name).units:
        assert error(split, name, epsilon=0.01, unit=unit) < 1.03 * middle


@pytest.mark.parametrize("name", [name for name in ALL if "user" in find(name).units])
@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(50.0, 0.0)], ids=["small", "pure"])
def test_where_factors_would_not_pay_the_plan_is_that_of_bias(name, budget):
    catalogue = tacit.Catalogue([str(i) for i in range(30)])
    public = Public(tacit.Schema(1, 5, users=2000), catalogue, "user", "sound", budget)
    ours, theirs = (find(n)(unit="user").plan(public).events(budget) for n in (name, "bias"))
    assert list(ours) == list(theirs)
    assert [noise_of(event) for event in ours.values()] == pytest.approx(
        [noise_of(e) for e in theirs.values()]
    )


def noise_of(event):
    return event.sigma if event.kind == "gaussian" else event.scale


@pytest.mark.parametrize("name", ALL)
def test_with_a_large_budget_it_beats_item_effects_alone(split, name):
    unit = find(name).units[-1]
    alone = error(split, "als", epsilon=0.5)
    assert error(split, name, epsilon=200.0, unit=unit) < alone


@pytest.mark.parametrize("name", ALL)
def test_the_twin_learns_and_a_seed_decides_it(fewer, name):
    first, second = (trial(find(name)(calibration="none", threads=k), fewer.train) for k in (1, 2))
    assert first.shared.digest() == second.shared.digest()
    found = measure(first, fewer, lists=False)["rmse"]
    assert found < 0.95 * without_data(fewer)


@pytest.mark.fresh_noise
@pytest.mark.parametrize("name", PAPER)
def test_a_printed_form_is_claimed_and_not_certified(split, name, tmp_path):
    method = find(name)(
        epsilon=5.0, calibration="paper", ledger=str(tmp_path / "book"), accept_unbounded=True
    )
    statement = method.fit(split.train, users=1500).statement_
    assert statement.certified == "claimed"
    assert statement.unit == method.paper_unit


@pytest.mark.parametrize(
    "how",
    [Learning(3, 0), Learning(3, 0, second=0.0, gradient=True, implicit=True)],
    ids=["stats", "gradient"],
)
def test_no_person_adds_more_than_the_clip(how):
    items, rng = 30, np.random.default_rng(0)
    public = Public(
        tacit.Schema(1, 5, users=100),
        tacit.Catalogue([str(i) for i in range(items)]),
        "user",
        "sound",
        Budget(1, 1e-6),
    )
    round_ = learning_round(public, how, "r", 1.0)
    item_biases = ItemBiases(rng.normal(size=items), np.full(items, 0.1), np.zeros(items))
    weights = Weights(
        rng.uniform(0.1, 50, items), np.full(items, 100.0), rng.normal(size=items), 1.0
    )
    state = FactorState(
        people=100.0,
        level=GlobalMean(0.3, 0.01, 40.0),
        effects=item_biases,
        weights=weights,
        factors=rng.normal(size=(items, 3)),
        implicit=rng.normal(size=(items, 3)),
    )
    part = round_.parts[0]

    def contribute(person):
        picked, values = person
        block = Block(np.zeros(1, np.int64), np.array([0, len(picked)]), picked, values)
        rows = round_.contribute(block, state)["factors"]
        out = np.zeros((items, part.width), np.int64)
        np.add.at(out, rows.index, part.bound.apply(rows))
        return out.ravel()

    worst = hunt(contribute, "user", items=items, span=50.0, starts=16, climbs=40)
    claimed = part.bound.sensitivity("user").l2
    assert 0.9 * claimed < worst.l2 <= claimed
    assert isinstance(part.bound, RowClip)


@pytest.mark.parametrize("name", ["svd-objective", "svd-output", "mf-input-sgd"])
def test_a_changed_value_moves_each_release_as_claimed(name):
    """All rounds of a plan at `value`, with what was released before held fixed."""
    items, rng = 20, np.random.default_rng(0)
    picked = np.arange(0, 12, dtype=np.uint32)
    pattern = Pattern(np.array([0, 12]), picked)
    public = Public(
        tacit.Schema(1, 5, users=1),
        tacit.Catalogue([str(i) for i in range(items)]),
        "value",
        "sound",
        Budget(1, 0),
        pattern,
    )
    plan = find(name)(epsilon=1.0, delta=0.0, unit="value").plan(public)
    state = ValueState(
        people=1.0,
        level=GlobalMean(0.1, 0.01, 12.0),
        effects=ItemBiases(rng.normal(size=items), np.zeros(items), np.zeros(items)),
        own=rng.normal(size=1),
        vectors=np.array([[0.6, 0.0, 0.8, 0.0, 0.0]]),
        left=rng.uniform(size=(items, 1, 1)) * np.eye(5),
    )
    for round_ in plan.rounds:
        part = round_.parts[0]
        worst = 0.0
        for _ in range(60):
            values = rng.choice([-2.0, 2.0, 0.5], 12)
            other = values.copy()
            other[rng.integers(12)] = rng.choice([-2.0, 2.0])
            moved = [np.zeros((part.size, part.width), np.int64) for _ in range(2)]
            for out, given in zip(moved, (values, other), strict=True):
                rows = round_.contribute(
                    Block(np.zeros(1, np.int64), pattern.ptr, picked, given), state
                )[part.name]
                np.add.at(out, rows.index, part.bound.apply(rows))
            worst = max(worst, float(np.linalg.norm(moved[0] - moved[1])))
        assert 0 < worst <= part.bound.sensitivity("value").l2


WAYS = [
    ("svdpp-gradient", "sound", "user"),
    ("svdpp-objective", "sound", "user"),
    ("svdpp-gradient", "sound", "value"),
    ("svdpp-gradient", "paper", "value"),
    ("svdpp-gradient", "none", "user"),
]


@pytest.mark.parametrize(("name", "calibration", "unit"), WAYS)
@pytest.mark.parametrize(("way", "array"), [("scalar", "lift"), ("learned", "implicit")])
def test_implicit_ratings_are_a_scalar_or_learned(
    split, middle, name, calibration, unit, way, array
):
    options = {"calibration": calibration, "unit": unit, "implicit": way}
    if calibration != "none":
        options["epsilon"] = 200.0
    model = trial(find(name)(**options), split.train, users=1500)
    assert {"lift", "implicit"} & set(model.shared.arrays) == {array}
    assert measure(model, split, lists=False)["rmse"] < 0.95 * middle


@pytest.mark.parametrize(("calibration", "way"), [("paper", "learned"), ("sound", "scalar")])
def test_solves_at_value_have_one_implicit_form(split, calibration, way):
    method = find("svdpp-objective")(
        epsilon=5.0, unit="value", calibration=calibration, implicit=way
    )
    with pytest.raises(tacit.TacitError, match="implicit"):
        trial(method, split.train, users=1500)


def test_likes_take_the_implicit_form():
    ratings = tacit.sample(people=800, seed=1)
    liked = ratings.take(ratings.value >= 4)
    from dataclasses import replace

    liked = replace(liked, schema=replace(liked.schema, positive=4.0))
    cut = per_rating(liked, 0.2, 0)
    for options in ({"epsilon": 20.0}, {"calibration": "none"}):
        model = trial(tacit.ALS(**options), cut.train, users=800)
        assert model.shared.personal == "liked factors"
        recall = measure(model, cut, lists=True)["recall@20"]
        assert recall is not None
        assert recall > 0.1


def test_nonnegative_factors_are_not_negative(split):
    for options in ({"epsilon": 100.0}, {"calibration": "none"}):
        model = trial(tacit.NonnegativeMF(**options), split.train, users=1500)
        # Level, popularity and agreement come before the factors.
        assert model.shared.arrays["loadings"][:, 3:].min() >= 0


def test_knorm_vectors_from_a_tape():
    draws = np.random.default_rng(0).laplace(size=2 * 20_000 * 5)
    rows = knorm_rows(draws, 20_000, 5)
    radius = np.linalg.norm(rows, axis=1)
    assert radius.mean() == pytest.approx(5.0, rel=0.05)  # Gamma(5): mean 5, variance 5
    assert radius.var() == pytest.approx(5.0, rel=0.2)
    assert np.abs(rows.mean(axis=0)).max() < 0.2
    assert np.allclose(np.cov(rows.T), 6.0 * np.eye(5), atol=0.6)  # (d + 1) a coordinate
