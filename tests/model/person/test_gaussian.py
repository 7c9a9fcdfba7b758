"""The personal model, its compiled twin, and what it does when the public side knows nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacit.data.features import design
from tacit.methods.first_order.choice import left_out_rows
from tacit.methods.first_order.rounds import FEATURES, loadings
from tacit.methods.refine.choose import COVER_WEIGHT, NOMINAL, REACH
from tacit.model.person.gaussian import (
    GaussianModel,
    GaussianPersonal,
    fold_in,
    influence,
    predict,
    predict_cells,
)

ITEMS, WIDTH = 60, 5


def model(seed: int = 0) -> GaussianModel:
    rng = np.random.default_rng(seed)
    return GaussianModel(
        rng.normal(0.3, 0.3, ITEMS),
        rng.uniform(0.01, 0.2, ITEMS),
        0.3 * rng.standard_normal((ITEMS, WIDTH)),
        0.8,
    )


def person(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(ITEMS, count, replace=False)).astype(np.uint32), rng.uniform(
        -2, 2, count
    )


def people(counts: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = [person(10 + k, count) for k, count in enumerate(counts)]
    ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return (ptr, np.concatenate([r[0] for r in rows]), np.concatenate([r[1] for r in rows]))


def test_equals_conditioning_a_joint_gaussian() -> None:
    given = model()
    items, ratings = person(1, 20)
    posterior = fold_in(given, items, ratings)
    mean, sd = predict(given, posterior)
    kernel = given.loadings @ given.loadings.T
    observed = kernel[np.ix_(items, items)] + np.diag(given.noise + given.variance[items])
    gain = kernel[:, items] @ np.linalg.inv(observed)
    np.testing.assert_allclose(mean, given.baseline + gain @ (ratings - given.baseline[items]))
    spread = np.diag(kernel - gain @ kernel[items])
    around = posterior.scale * (given.noise + given.variance)
    np.testing.assert_allclose(sd, np.sqrt(spread + around))


def test_no_ratings_give_the_baseline() -> None:
    given = model()
    mean, _ = predict(given, fold_in(given, np.zeros(0, np.uint32), np.zeros(0)))
    np.testing.assert_allclose(mean, given.baseline)


def test_knowing_nothing_public_it_is_the_persons_own_shrunk_mean() -> None:
    matrix, _ = loadings(np.zeros(ITEMS))
    given = GaussianModel(np.full(ITEMS, 0.4), np.full(ITEMS, 0.08), matrix)
    items, ratings = person(2, 7)
    mean, _ = predict(given, fold_in(given, items, ratings))
    strength = (given.noise + 0.08) / matrix[0, 0] ** 2
    assert 4.5 < strength < 5.5
    np.testing.assert_allclose(mean, 0.4 + np.sum(ratings - 0.4) / (7 + strength))


def test_influence_adds_up() -> None:
    given = model()
    items, ratings = person(3, 15)
    mean, _ = predict(given, fold_in(given, items, ratings), np.array([33]))
    assert np.sum(influence(given, items, ratings, 33)) == pytest.approx(
        mean[0] - given.baseline[33]
    )


def test_more_ratings_never_widen_the_error() -> None:
    """But for what they tell of the chance that is in them."""
    given = model()
    items, ratings = person(4, 30)
    errors = []
    for count in (5, 30):
        posterior = fold_in(given, items[:count], ratings[:count])
        errors.append(predict(given, replace(posterior, scale=1.0))[1])
    assert np.all(errors[1] <= errors[0] + 1e-12)


def test_intervals_cover_what_they_say() -> None:
    given, rng = model(), np.random.default_rng(5)
    inside = []
    for _ in range(400):
        item_biases = given.baseline + np.sqrt(given.variance) * rng.standard_normal(ITEMS)
        ratings = (
            item_biases
            + given.loadings @ rng.standard_normal(WIDTH)
            + np.sqrt(0.8) * rng.standard_normal(ITEMS)
        )
        known = np.arange(20)
        mean, sd = predict(given, fold_in(given, known, ratings[known]), np.arange(20, ITEMS))
        inside.append(np.abs(ratings[20:] - mean) < 1.2816 * sd)
    assert np.mean(inside) == pytest.approx(0.8, abs=0.03)


def test_the_compiled_twin_agrees() -> None:
    given = model()
    ptr, item, value = people([0, 1, 3, 40])
    query_ptr = np.array([0, 4, 4, 10, 20], dtype=np.int64)
    query_item = np.random.default_rng(6).integers(0, ITEMS, 20).astype(np.uint32)
    mean, sd = predict_cells(given, ptr, item, value, query_ptr, query_item)
    for u in range(4):
        own, asked = (slice(ptr[u], ptr[u + 1]), slice(query_ptr[u], query_ptr[u + 1]))
        wanted = predict(given, fold_in(given, item[own], value[own]), query_item[asked])
        np.testing.assert_allclose(mean[asked], wanted[0])
        np.testing.assert_allclose(sd[asked], wanted[1])


def test_the_compiled_scores_agree() -> None:
    given = replace(model(), per_rating=np.linspace(0, 0.1, WIDTH))
    ptr, item, value = people([0, 1, 3, 40])
    personal = GaussianPersonal(
        {
            "baseline": given.baseline,
            "variance": given.variance,
            "loadings": given.loadings,
            "per_rating": given.per_rating_array,
        },
        {"noise": given.noise},
    )
    found = personal.score_block(ptr, item, value)
    for u in range(4):
        own = slice(ptr[u], ptr[u + 1])
        wanted = predict(given, fold_in(given, item[own], value[own]))[0]
        np.testing.assert_allclose(found[u], wanted)


def test_left_out_errors_equal_refitting_without_the_cell() -> None:
    given = model()
    ptr, item, value = people([1, 4, 12])
    scales = np.array([[1.0] * WIDTH, [0.5, 2.0, 0.0, 1.0, 1.0]])
    rows = left_out_rows(given, ptr, item, value, scales, np.zeros(ITEMS), np.ones(3))
    for u in range(3):
        items, ratings = item[ptr[u] : ptr[u + 1]], value[ptr[u] : ptr[u + 1]]
        loss, expected = np.zeros((2, len(items))), np.zeros(len(items))
        for k, scale in enumerate(scales):
            other = GaussianModel(
                given.baseline, given.variance, given.loadings * scale, given.noise
            )
            for j in range(len(items)):
                rest = np.arange(len(items)) != j
                posterior = fold_in(other, items[rest], ratings[rest])
                mean, sd = predict(other, replace(posterior, scale=1.0), items[j : j + 1])
                loss[k, j] = (ratings[j] - mean[0]) ** 2
                expected[j] = sd[0] ** 2 if k == 0 else expected[j]
        beyond = np.mean(loss[0] < REACH**2 * expected) - NOMINAL
        np.testing.assert_allclose(
            rows[u], [loss[1].mean() - loss[0].mean(), COVER_WEIGHT * beyond], atol=1e-12
        )


def test_a_person_without_ratings_adds_nothing_to_the_choice() -> None:
    given = model()
    ptr, item, value = people([0, 3])
    rows = left_out_rows(given, ptr, item, value, np.ones((2, WIDTH)), np.zeros(ITEMS), np.ones(2))
    assert np.all(rows[0] == 0.0)


def test_people_are_computed_alone() -> None:
    given = model()
    ptr, item, value = people([5, 9, 2])
    scales = np.array([np.ones(WIDTH), np.full(WIDTH, 0.5)])
    together = left_out_rows(given, ptr, item, value, scales, np.full(ITEMS, 0.1), np.ones(3))
    for u in range(3):
        own = slice(ptr[u], ptr[u + 1])
        lone = np.array([0, ptr[u + 1] - ptr[u]])
        alone = left_out_rows(
            given, lone, item[own], value[own], scales, np.full(ITEMS, 0.1), np.ones(1)
        )
        assert np.array_equal(alone[0], together[u])


def test_loadings_share_a_fixed_variance_between_the_columns_of_a_kind() -> None:
    rng = np.random.default_rng(7)
    tagged = (rng.random((400, 9)) < 0.3).astype(np.uint8)
    years = rng.integers(1950, 2000, 400).astype(np.int32)
    features = design(400, years, tagged)
    matrix, groups = loadings(rng.standard_normal(400), features)
    for kind in np.unique(features.kind):
        assert matrix[:, groups == 2 + kind].var(axis=0).sum() == pytest.approx(FEATURES[int(kind)])


def test_doubt_about_the_level_frees_the_persons_own() -> None:
    matrix, _ = loadings(np.zeros(3), level_variance=0.36)
    assert matrix[0, 0] ** 2 == pytest.approx(0.17 + 0.36)
