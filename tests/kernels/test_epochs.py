"""Epochs of gradient descent against plain loops over the ratings."""

from __future__ import annotations

import numpy as np

from tacit.kernels.sgd import biased_epoch, full_gradient, noisy_epoch
from tacit.kernels.svdpp import noisy_plus_epoch, svdpp_epoch

PEOPLE = 40


ITEMS = 25


WIDTH = 6


def _singles(data):
    ptr, item, value, factors = data
    rng = np.random.default_rng(1)
    own = rng.normal(size=(PEOPLE, WIDTH)).astype(np.float32) * 0.1
    return (ptr, item, value.astype(np.float32), own, factors.astype(np.float32) * 0.1)


def test_a_biased_epoch_is_what_it_says(data):
    ptr, item, value, own, factors = _singles(data)
    level, bias = np.zeros(PEOPLE, np.float32), np.zeros(ITEMS, np.float32)
    order = np.random.default_rng(2).permutation(PEOPLE)
    p = own.astype(float)
    q = factors.astype(float)
    b = level.astype(float)
    c = bias.astype(float)
    for u in order:
        for cell in range(ptr[u], ptr[u + 1]):
            i = item[cell]
            e = value[cell] - b[u] - c[i] - p[u] @ q[i]
            b[u], c[i] = (b[u] + 0.05 * (e - 0.2 * b[u]), c[i] + 0.05 * (e - 0.2 * c[i]))
            p[u], q[i] = (
                p[u] + 0.05 * (e * q[i] - 0.1 * p[u]),
                q[i] + 0.05 * (e * p[u] - 0.1 * q[i]),
            )
    biased_epoch(ptr, item, value, order, level, bias, own, factors, 0.05, 0.1, 0.2)
    for got, told in ((own, p), (factors, q), (level, b), (bias, c)):
        assert np.allclose(got, told, atol=1e-5)


def test_svdpp_without_implicit_steps_is_the_biased_epoch(data):
    ptr, item, value, own, factors = _singles(data)
    one, two = (own.copy(), factors.copy()), (own.copy(), factors.copy())
    biases = [(np.zeros(PEOPLE, np.float32), np.zeros(ITEMS, np.float32)) for _ in range(2)]
    order = np.arange(PEOPLE)
    biased_epoch(ptr, item, value, order, *biases[0], *one, 0.05, 0.1, 0.2)
    implicit = np.zeros((ITEMS, WIDTH), np.float32)
    # fresh implicit factors for each person: the deferred step comes after her ratings
    for person in order:
        svdpp_epoch(
            ptr, item, value, np.array([person]), *biases[1], *two, implicit, 0.05, 0.1, 0.2
        )
        implicit[:] = 0.0
    assert np.allclose(one[0], two[0], atol=1e-6)
    assert np.allclose(one[1], two[1], atol=1e-6)


def test_svdpp_learns_from_having_rated(data):
    ptr, item, value, own, factors = _singles(data)
    implicit = np.zeros((ITEMS, WIDTH), np.float32)
    level, bias = np.zeros(PEOPLE, np.float32), np.zeros(ITEMS, np.float32)
    errors = [
        svdpp_epoch(
            ptr,
            item,
            value,
            np.arange(PEOPLE),
            level,
            bias,
            own,
            factors,
            implicit,
            0.02,
            0.01,
            0.01,
        )
        for _ in range(60)
    ]
    assert implicit.any()
    assert errors[-1] < 0.7 * errors[0]


def test_a_printed_epoch_clamps_the_noisy_error(data):
    ptr, item, value, own, factors = _singles(data)
    p, q = own.astype(float), factors.astype(float)
    noise = np.random.default_rng(3).laplace(size=len(value)) * 10
    for u in range(PEOPLE):
        for cell in range(ptr[u], ptr[u + 1]):
            i = item[cell]
            e = np.clip(value[cell] - (p[u] + 0.3) @ q[i] + noise[cell], -2, 2)
            p[u], q[i] = (
                p[u] + 0.01 * (e * q[i] - 0.125 * p[u]),
                q[i] + 0.01 * (e * (p[u] + 0.3) - 0.125 * q[i]),
            )
    lift = np.full(PEOPLE, 0.3, np.float32)
    noisy_epoch(ptr, item, value, lift, own, factors, 0.01, 0.125, 2.0, noise)
    assert np.allclose(own, p, atol=1e-5)
    assert np.allclose(factors, q, atol=1e-5)


def test_the_full_gradient_trims_people(data):
    ptr, item, value, own, factors = _singles(data)
    own_step, step = np.empty_like(own), np.empty_like(factors)
    full_gradient(ptr, item, value, own, factors, 3, own_step, step)
    told = np.zeros_like(step)
    for u in range(PEOPLE):
        for cell in range(ptr[u], min(ptr[u + 1], ptr[u] + 3)):
            told[item[cell]] += (value[cell] - own[u] @ factors[item[cell]]) * own[u]
    assert np.allclose(step, told, atol=1e-5)


def test_a_printed_epoch_may_learn_implicit_factors(data):
    ptr, item, value, own, factors = _singles(data)
    implicit, noise = (np.full((ITEMS, WIDTH), 0.1, np.float32), np.zeros(len(value)))
    before = noisy_plus_epoch(ptr, item, value, own, factors, implicit, 0.02, 0.01, 99.0, noise)
    for _ in range(60):
        after = noisy_plus_epoch(ptr, item, value, own, factors, implicit, 0.02, 0.01, 99.0, noise)
    assert after < 0.7 * before


def test_an_item_that_is_rated_twice_takes_one_step_after_the_other():
    rng = np.random.default_rng(3)
    ptr, order = np.array([0, 3]), np.array([0])
    item = np.array([1, 1, 2], np.uint32)
    value = rng.normal(size=3).astype(np.float32)
    sides = rng.normal(size=(1, WIDTH)), rng.normal(size=(3, WIDTH))
    one = [side.astype(np.float32) for side in sides]
    two = [side.astype(np.float32) for side in sides]
    biases = [(np.zeros(1, np.float32), np.zeros(3, np.float32)) for _ in range(2)]
    rates = 0.05, 0.1, 0.2
    biased_epoch(ptr, item, value, order, *biases[0], *one, *rates)
    for cell in range(3):
        part = slice(cell, cell + 1)
        biased_epoch(np.array([0, 1]), item[part], value[part], order, *biases[1], *two, *rates)
    for a, b in zip((*one, *biases[0]), (*two, *biases[1]), strict=True):
        assert np.allclose(a, b, atol=1e-6)
