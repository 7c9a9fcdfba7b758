"""Similarities from noisy numbers: noise alone gives nothing, structure survives, and the
choice knows its noise."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.refine import similarity as similar

SIZE = 60


def symmetric_noise(sd, seed=0):
    raw = np.random.default_rng(seed).normal(0, sd, (SIZE, SIZE))
    upper = np.triu(raw, 1)
    return upper + upper.T + np.diag(raw.diagonal() * np.sqrt(2))


def test_noise_alone_has_no_similarities():
    assert not similar.cosine(symmetric_noise(1.0), 1.0, np.ones(SIZE)).any()


def test_a_planted_direction_survives_noise():
    taste = np.where(np.arange(SIZE) % 2, 1.0, -1.0)
    got = similar.cosine(np.outer(taste, taste) + symmetric_noise(1.0), 1.0, np.ones(SIZE))
    assert (np.sign(got) == np.sign(np.outer(taste, taste)))[np.triu_indices(SIZE, 1)].mean() > 0.9
    assert not got.diagonal().any()


def test_a_triangle_unpacks_to_its_matrix():
    matrix = symmetric_noise(1.0)
    triangle = matrix[np.triu_indices(SIZE)]
    again = similar.unpack(triangle, SIZE, 2.0)
    assert np.array_equal(again - np.diag(again.diagonal()), matrix - np.diag(matrix.diagonal()))
    assert again.diagonal() == pytest.approx(2 * matrix.diagonal())


def test_scaling_sets_the_typical_divisor():
    chance = np.linspace(0.1, 0.9, SIZE)
    got = similar.scaled(np.abs(symmetric_noise(1.0)), chance, 3.0)
    assert chance @ (got @ chance) / chance.sum() == pytest.approx(3.0)
    assert not similar.scaled(np.zeros((SIZE, SIZE)), chance, 3.0).any()


def test_a_step_keeps_eigenvalues_of_either_sign_beyond_the_edge():
    assert np.abs(similar.clean_step(symmetric_noise(1.0), 1.3)).max() < 0.5
    line = np.ones(SIZE) / np.sqrt(SIZE)
    for sign in (-1, 1):
        got = similar.clean_step(sign * 100 * np.outer(line, line), 1.0)
        assert np.sign(got[0, 1]) == sign


@pytest.mark.parametrize(("gain", "chosen"), [(-0.05, 1), (-0.001, None), (0.02, None)])
def test_a_choice_must_stand_out_of_its_noise(gain, chosen):
    released = 1000 * np.array([0.8, 0.0, gain])
    best, variance = similar.choose(released, np.full(3, 1.0), 1000.0, 0.75)
    assert best == chosen
    assert variance == pytest.approx(0.8 + (gain if chosen is not None else 0), abs=0.01)
