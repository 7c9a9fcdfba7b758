"""Hua et al.'s deal: pieces of noise and of tau that devices hold."""

from __future__ import annotations

import numpy as np

from tacit.federation.protocol import wire
from tacit.noise.printed import looks_exponential, mixing, mixture
from tacit.papers.hua2015.printed.sharing import Deal, Tau

LAYOUT = wire.PartLayout(name="x", size=50, width=3, bits=32, sparse=True)


def test_mixing_numbers_are_exponential_and_the_test_for_it_rejects_others() -> None:
    mixed = mixing(b"s" * 32, np.arange(400), 50)
    assert looks_exponential(mixed)
    assert not looks_exponential(mixed * 1.3)
    assert not looks_exponential(mixed * 0.7)
    assert not looks_exponential(np.zeros((20, 50)))


def test_pieces_of_a_cohort_sum_to_laplace_noise() -> None:
    """Mean |x| of Laplace(b) is b."""
    rows = np.arange(200)
    mixed = mixing(b"h" * 32, rows, 50)
    total = sum(mixture(10.0, mixed, np.full(200, 8.0)) for _ in range(8))
    assert abs(np.abs(total).mean() / 10 - 1) < 0.12


def test_fixed_noise_is_the_same_in_every_round() -> None:
    rows, mixed = np.arange(5), mixing(b"h" * 32, np.arange(5), 4)
    one, two = (mixture(1.0, mixed, np.full(5, 3.0), fixed=(b"k" * 32, rows)) for _ in range(2))
    assert np.array_equal(one, two)
    assert one.any()


def joined() -> dict[str, np.ndarray]:
    return {
        "a": np.array([0, 1], np.uint32),
        "b": np.array([1, 2], np.uint32),
        "c": np.array([1], np.uint32),
    }


def test_pieces_of_tau_add_up_to_tau() -> None:
    tau = Tau(np.array([0, 1], np.uint32), np.array([[5, 6, 7], [8, 9, 2**32 - 1]], "<u4"))
    deal = Deal(LAYOUT, b"seed", joined(), tau)
    total = np.zeros((50, 3), "<u4")
    for device, piece in deal.pieces().items():
        total[joined()[device]] += piece
    assert np.array_equal(total[:2], tau.words)
    assert not total[2:].any()  # item 2 has no eta


def test_pieces_of_devices_that_are_missing_are_put_in_again() -> None:
    tau = Tau(np.array([0, 1], np.uint32), np.array([[5, 6, 7], [8, 9, 1]], "<u4"))
    deal = Deal(LAYOUT, b"seed", joined(), tau)
    total = deal.missing({"a", "c"})
    for device in ("a", "c"):
        total[joined()[device]] += deal.pieces()[device]
    assert np.array_equal(total[:2], tau.words)


def test_a_restart_deals_the_same_pieces() -> None:
    tau = Tau(np.array([1], np.uint32), np.array([[8, 9, 1]], "<u4"))
    one, two = (Deal(LAYOUT, b"seed", joined(), tau).pieces() for _ in range(2))
    assert all(np.array_equal(one[name], two[name]) for name in one)
