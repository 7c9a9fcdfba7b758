"""Item factors: found where there are any, and exactly nothing where the noise is all there is."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.refine.factors import (
    _cost,
    _sized,
    clip_spectrum,
    item_factors,
    item_moments,
    person_moment,
    unpack,
)

ITEMS, WIDTH = 400, 3


def released(signal, sd, seed=0):
    rng = np.random.default_rng(seed)
    truth = signal * rng.normal(size=(ITEMS, WIDTH)) * np.array([2.0, 1.0, 0.2])
    weight = rng.uniform(1, 30, ITEMS)
    left = weight[:, None, None] * np.eye(WIDTH)
    right = weight[:, None] * truth + sd * rng.normal(size=(ITEMS, WIDTH))
    return (truth, right, left, np.broadcast_to(sd**2 * np.eye(WIDTH), left.shape))


def test_planted_factors_are_found():
    truth, right, left, noise = released(0.1, 0.5)
    found = item_factors(right, left, noise)
    assert np.corrcoef(found.mean.ravel(), truth.ravel())[0, 1] > 0.9
    assert found.prior[0, 0] == pytest.approx(0.04, rel=0.3)


@pytest.mark.parametrize("seed", range(5))
def test_noise_alone_leaves_exactly_nothing(seed):
    _, right, left, noise = released(0.0, 3.0, seed)
    assert not item_factors(right, left, noise).mean.any()


def test_a_later_round_may_take_directions_from_little_evidence():
    _, right, left, noise = released(0.02, 3.0)
    assert not item_factors(right, left, noise).mean.any()
    assert item_factors(right, left, noise, pays=-np.inf).mean.any()


def test_multiples_of_the_identity_take_a_shorter_way_to_the_same_answer():
    _, right, left, noise = released(0.1, 0.5)
    whole, short = (
        item_factors(right, left, noise),
        item_factors(right, left[:, 0, 0], noise[:, 0, 0]),
    )
    assert np.allclose(whole.mean, short.mean)
    assert np.allclose(whole.unknown, short.unknown)
    assert whole.gain == pytest.approx(short.gain)


def test_sizes_are_tried_in_the_common_eigenbasis():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(40, 6, 3))
    left = np.einsum("nka,nkb->nab", rows, rows)
    noise, right = 0.7 * left + 2.0 * np.eye(3), rng.normal(size=(40, 3)) * 3
    for size, found in zip(
        [0.0, 0.1, 2.0], _sized(right, left, noise, np.array([0.0, 0.1, 2.0])), strict=True
    ):
        assert found == pytest.approx(_cost(right, left, noise, size * np.eye(3)))


def test_shrinkage_beats_the_plain_solution():
    truth, right, left, noise = released(0.05, 2.0)
    plain = np.linalg.solve(left, right[:, :, None])[:, :, 0]
    shrunk = item_factors(right, left, noise).mean
    assert ((shrunk - truth) ** 2).mean() < 0.5 * ((plain - truth) ** 2).mean()


def test_what_is_not_finite_counts_nothing():
    _, right, left, noise = released(0.1, 0.5)
    right[3, 1] = np.inf
    assert not item_factors(right, left, noise).mean.any()


def test_packed_triangles_come_back():
    matrix = np.array([[1.0, 2.0], [2.0, 5.0]])
    packed = np.array([[1.0, 2.0 * np.sqrt(2), 5.0]])
    assert np.allclose(unpack(packed, 2)[0], matrix)
    assert np.linalg.norm(packed) == pytest.approx(np.linalg.norm(matrix))


def test_moments_are_positive_whatever_the_noise():
    rng = np.random.default_rng(0)
    moment = person_moment(rng.normal(size=(3, 3)) * 100, 10.0, 50.0)
    assert np.linalg.eigvalsh(moment).min() > 0
    left = item_moments(
        rng.normal(size=(20, 3, 3)) * 9, np.linspace(0, 5, 20), moment, np.full((3, 3), 9.0)
    )
    assert np.linalg.eigvalsh(left).min() >= 0
    assert np.allclose(clip_spectrum(np.diag([-1.0, 0.5, 7.0]), 0.0, 2.0), np.diag([0.0, 0.5, 2.0]))
