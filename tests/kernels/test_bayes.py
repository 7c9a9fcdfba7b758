"""The kernels of `bayes` against plain linear algebra, one person and one left-out rating
at a time."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.bayes.kernels import left_out_tastes, taste_moments

ITEMS = 30
WIDTH = 7
AXES = 3


@pytest.fixture
def people():
    rng = np.random.default_rng(4)
    rows = [
        np.sort(rng.permutation(ITEMS)[:size]) for size in (0, 1, 2, 12, 30)
    ]
    ptr = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    item = np.concatenate(rows).astype(np.uint32)
    axes = np.linalg.qr(rng.normal(size=(WIDTH, AXES)))[0]
    return (
        ptr,
        item,
        rng.normal(size=len(item)),
        rng.normal(0, 0.4, (ITEMS, WIDTH)),
        rng.uniform(0.5, 2, ITEMS),
        axes,
    )


def posterior(items, residual, loadings, precision):
    rows = loadings[items]
    covariance = np.linalg.inv(
        np.eye(WIDTH) + (rows.T * precision[items]) @ rows
    )
    return covariance @ (rows.T @ (precision[items] * residual)), covariance


def test_a_rating_is_predicted_from_the_others_alone(people):
    ptr, item, residual, loadings, precision, axes = people
    error, taste = np.empty(len(item)), np.empty((len(item), AXES))
    left_out_tastes(
        ptr, item, residual, loadings, precision, axes, error, taste, 0
    )
    for person in range(len(ptr) - 1):
        for cell in range(ptr[person], ptr[person + 1]):
            others = np.array(
                [c for c in range(ptr[person], ptr[person + 1]) if c != cell],
                np.int64,
            )
            mean, _ = posterior(
                item[others], residual[others], loadings, precision
            )
            assert error[cell] == pytest.approx(
                residual[cell] - loadings[item[cell]] @ mean, abs=1e-10
            )
            assert taste[cell] == pytest.approx(axes.T @ mean, abs=1e-10)


def test_moments_are_those_of_the_posterior(people):
    ptr, item, residual, loadings, precision, axes = people
    out = np.empty((len(ptr) - 1, AXES * (AXES + 1) // 2))
    taste_moments(ptr, item, residual, loadings, precision, axes, out)
    rows, columns = np.triu_indices(AXES)
    for person in range(len(ptr) - 1):
        cells = slice(ptr[person], ptr[person + 1])
        mean, covariance = posterior(
            item[cells], residual[cells], loadings, precision
        )
        moment = (
            axes.T @ (np.outer(mean, mean) + covariance - np.eye(WIDTH)) @ axes
        )
        expected = moment[rows, columns] * np.where(
            rows == columns, 1, np.sqrt(2)
        )
        assert out[person] == pytest.approx(
            expected if ptr[person + 1] > ptr[person] else 0 * expected,
            abs=1e-10,
        )


def test_the_packed_row_has_the_norm_of_the_matrix(people):
    ptr, item, residual, loadings, precision, axes = people
    out = np.empty((len(ptr) - 1, AXES * (AXES + 1) // 2))
    taste_moments(ptr, item, residual, loadings, precision, axes, out)
    rows, columns = np.triu_indices(AXES)
    full = np.zeros((AXES, AXES))
    full[rows, columns] = out[-1] / np.where(rows == columns, 1, np.sqrt(2))
    full[columns, rows] = full[rows, columns]
    assert np.linalg.norm(out[-1]) == pytest.approx(np.linalg.norm(full))


def test_the_cut_into_blocks_changes_no_bit(people):
    ptr, item, residual, loadings, precision, axes = people
    whole, tastes = np.empty(len(item)), np.empty((len(item), AXES))
    left_out_tastes(
        ptr, item, residual, loadings, precision, axes, whole, tastes, 0
    )
    cut = ptr[3]
    part, part_tastes = (
        np.empty(len(item) - cut),
        np.empty((len(item) - cut, AXES)),
    )
    left_out_tastes(
        ptr[3:] - cut,
        item[cut:],
        residual[cut:],
        loadings,
        precision,
        axes,
        part,
        part_tastes,
        0,
    )
    assert (part == whole[cut:]).all()
    assert (part_tastes == tastes[cut:]).all()
