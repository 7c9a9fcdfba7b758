"""Hunts for the neighbour that breaks a constant of docs/proofs/covariance.md. Each
contribution is written out here in plain numpy, apart from the code that uses it, so that
the proofs are tested and not the implementation.
"""

from __future__ import annotations

from math import ceil, floor, isqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

Array = NDArray[Any]
SHRINK, CLAMP = 20.0, 1.0
"""The paper's fictitious ratings and clamp B."""


def centred(values: Array, clamp: float = CLAMP, fictitious: float = 0.0) -> Array:
    """The paper's row: own mean with 20 fictitious ratings at the (released) global mean,
    subtracted, clamped."""
    mean = (values.sum() + SHRINK * fictitious) / (len(values) + SHRINK)
    out: Array = np.clip(values - mean, -clamp, clamp)
    return out


def outer(row: Array, power: float) -> Array:
    """Weighted outer product: 1/n (power 1, Laplace) or 1/sqrt(n) (power 1/2, Gaussian)."""
    out: Array = np.outer(row, row) / max(len(row), 1) ** power
    return out


def moved(after: Array, before: Array) -> Array:
    """The difference of two square matrices, the smaller one padded (the new item is last)."""
    out = after.copy()
    out[: len(before), : len(before)] -= before
    return out


def norms(matrix: Array) -> tuple[float, float]:
    return float(np.abs(matrix).sum()), float(np.sqrt((matrix**2).sum()))


def rows(rng: np.random.Generator, reach: float, largest: int = 260) -> Array:
    """A person at or near the extremes: two groups of equal values, or anything in the range."""
    size = int(rng.integers(1, largest))
    if rng.random() < 0.7:
        split = int(rng.integers(0, size + 1))
        two: Array = np.r_[
            np.full(split, rng.uniform(-reach, reach)),
            np.full(size - split, rng.choice([-reach, reach])),
        ]
        return two
    return np.asarray(rng.uniform(-reach, reach, size))


def covariance_bound(alpha: float, cells: Array) -> Array:
    """Proof 3: L2 of the weighted covariance when one rating joins `cells` others."""
    shift = np.minimum(alpha / (cells + 1 + SHRINK), 2 * CLAMP)
    block = 2 * CLAMP * shift * cells / np.sqrt(cells + 1)
    block += CLAMP**2 * cells * (np.maximum(cells, 1) ** -0.5 - (cells + 1) ** -0.5)
    return np.asarray(np.sqrt(block**2 + CLAMP**4 * (2 * cells + 1) / (cells + 1)))


def value_bound(width: float, cells: Array) -> Array:
    """Proof 4: the same when one of `cells` values changes by at most `width`."""
    shift = np.minimum(width / (cells + SHRINK), 2 * CLAMP)
    block = (2 * CLAMP * shift * (cells - 1)) ** 2 / cells
    return np.asarray(np.sqrt(block + (8 * (cells - 1) + 1) * CLAMP**4 / cells))


@pytest.mark.parametrize(("alpha", "constant"), [(4.0, 1.6950), (8.0, 2.2879)])
def test_the_tight_constant_is_what_the_proof_computes(alpha: float, constant: float) -> None:
    assert covariance_bound(alpha, np.arange(200_000.0)).max() == pytest.approx(constant, abs=2e-4)


@pytest.mark.parametrize(("alpha", "constant"), [(4.0, 2.916), (8.0, 3.262)])
def test_the_value_constant_is_what_the_proof_computes(alpha: float, constant: float) -> None:
    assert value_bound(alpha, np.arange(1.0, 200_000.0)).max() == pytest.approx(constant, abs=1e-3)


@pytest.mark.parametrize("alpha", [4.0, 8.0])
def test_no_rating_moves_the_row_or_the_covariance_beyond_its_bound(alpha: float) -> None:
    rng, reach = np.random.default_rng(0), alpha / 2
    row_l2 = np.sqrt(alpha**2 / (4 * (SHRINK + 1)) + CLAMP**2)
    for _ in range(400):
        values = rows(rng, reach)
        new = np.r_[values, rng.choice([-reach, reach])]
        after, before = centred(new), centred(values)
        row = after - np.r_[before, 0.0]
        l1, l2 = float(np.abs(row).sum()), float(np.sqrt((row**2).sum()))
        assert l1 < alpha + CLAMP
        assert l2 <= row_l2 * (1 + 1e-12)
        _, cov_l2 = norms(moved(outer(after, 0.5), outer(before, 0.5)))
        assert cov_l2 <= float(covariance_bound(alpha, np.array(float(len(values))))) * (1 + 1e-12)
        cov_l1, _ = norms(moved(outer(after, 1.0), outer(before, 1.0)))
        assert cov_l1 < 2 * alpha * CLAMP + 3 * CLAMP**2


def test_the_row_bound_is_attained() -> None:
    """Beta + 1 others and the fictitious ratings at one end, inside the clamp; the new one
    at the other end."""
    values = np.full(21, 2.0)
    after, before = (centred(np.r_[values, -2.0], 9.0, 2.0), centred(values, 9.0, 2.0))
    shift = float(np.sqrt(((after[:-1] - before) ** 2).sum()))
    assert np.hypot(shift, CLAMP) == pytest.approx(np.sqrt(4.0**2 / (4 * (SHRINK + 1)) + CLAMP**2))


def test_the_papers_alpha_of_four_is_broken() -> None:
    """Item averages at both ends (5 and 1): a person's centred values span 8, and Laplace
    noise for 11 is short."""
    values = np.r_[np.full(387, -3.96), np.full(2842, 4.0)]
    after, before = centred(np.r_[values, -4.0]), centred(values)
    row_l1 = float(np.abs(after - np.r_[before, 0.0]).sum())
    cov_l1, _ = norms(moved(outer(after, 1.0), outer(before, 1.0)))
    assert row_l1 > 4.0 + CLAMP
    assert 13.0 < cov_l1 < 2 * 8 * CLAMP + 3 * CLAMP**2
    assert cov_l1 > 2 * 4 * CLAMP + 3 * CLAMP**2


def test_no_value_moves_the_covariance_beyond_its_bound() -> None:
    rng = np.random.default_rng(1)
    for _ in range(400):
        values = rows(rng, 2.0)
        other = values.copy()
        other[-1] = -values[-1] if rng.random() < 0.5 else rng.uniform(-2, 2)
        _, l2 = norms(outer(centred(values), 0.5) - outer(centred(other), 0.5))
        assert l2 <= float(value_bound(4.0, np.array(float(len(values))))) * (1 + 1e-12)


@pytest.mark.parametrize(("power", "index", "limit"), [(1.0, 0, 3.0), (0.5, 1, 2**0.5)])
def test_the_weight_matrix_approaches_its_bound_and_stays_below(
    power: float, index: int, limit: float
) -> None:
    found = [
        norms(moved(outer(np.ones(size + 1), power), outer(np.ones(size), power)))[index]
        for size in (1, 4, 60, 1500)
    ]
    assert max(found) < limit
    assert found[-1] > 0.999 * limit


def test_a_whole_person_is_bounded_by_the_squared_weight_only() -> None:
    row = np.full(400, CLAMP)
    assert norms(np.outer(row, row) / 400)[1] == pytest.approx(CLAMP**2)
    assert norms(outer(row, 0.5))[1] == pytest.approx(
        20 * CLAMP**2
    )  # the paper's rating weight is no user weight


# The sound release on the integer grid: y in steps, entries rounded one by one, the
# diagonal left out.

STEPS = 1024
CLIP = 2
OFFSET = 0.5
FINE = 2**20
SHIFT = 30


def grid_row(values: Array) -> Array:
    """v = trunc(s clip(x, 2)); mean = trunc(sum / (c + 20)); y = clamp(v - mean, s): all
    integers."""
    v = np.trunc(STEPS * np.clip(values, -CLIP, CLIP)).astype(np.int64)
    total, size = int(v.sum()), len(v) + int(SHRINK)
    mean = (abs(total) // size) * (1 if total >= 0 else -1)
    return np.asarray(np.clip(v - mean, -STEPS, STEPS))


def grid_weight(y: Array) -> int:
    """floor(2^30 fine / (s sqrt(|y|^2 + s^2 / 2))), in exact integers."""
    return isqrt((FINE << SHIFT) ** 2 // (STEPS**2 * (int((y * y).sum()) + STEPS**2 // 2)))


def grid_entries(y: Array) -> Array:
    """Upper triangle without the diagonal of round(weight y_i y_j / 2^30)."""
    upper = np.triu(np.outer(y, y), 1)
    return np.asarray((grid_weight(y) * upper + np.where(upper != 0, 1 << (SHIFT - 1), 0)) >> SHIFT)


def grid_row_bound(catalogue: int) -> float:
    """Proof 6: sqrt(max_c s^2 + c ceil(4 s / (c + 21))^2), over c below the catalogue."""
    moves = (c * min(ceil(2 * CLIP * STEPS / (c + 21)), 2 * STEPS) ** 2 for c in range(catalogue))
    return float(np.sqrt(STEPS**2 + max(moves)))


def grid_bound(catalogue: int) -> float:
    """Proof 7: fine/steps times the row's bound, plus one step (and a 2^-8th) for each pair."""
    pairs = catalogue * (catalogue - 1) / 2
    return FINE / STEPS * grid_row_bound(catalogue) + (1 + 2**-8) * float(np.sqrt(pairs))


def test_no_rating_moves_the_integer_covariance_beyond_its_bound() -> None:
    rng = np.random.default_rng(2)
    worst = 0.0
    limit = grid_bound(200)
    for _ in range(500):
        values = rows(rng, 2.5, 199)
        new = np.r_[values, rng.choice([-2.5, 2.5])]
        move = moved(grid_entries(grid_row(new)), grid_entries(grid_row(values)))
        worst = max(worst, float(np.sqrt((move.astype(float) ** 2).sum())))
    assert 0.85 * limit < worst <= limit


def test_a_rounded_factor_is_no_sound_release_for_one_rating() -> None:
    """Why entries are rounded and not the row: many equal factors cross a step of the grid
    together."""
    half, worst = 700, 0.0
    number = np.array([half, half, 1])
    pairs = np.triu(np.outer(number, number), 1) + np.diag(number * (number - 1) / 2)
    for size in np.linspace(0.3, 0.9, 400):
        parts = []
        for new in ([2.0], []):
            y = np.r_[
                centred(np.r_[np.full(half, size), np.full(half, -size), new]),
                np.zeros(1 - len(new)),
            ]
            q = np.trunc(64 * y / ((y * y).sum() + OFFSET) ** 0.25)[[0, half, -1]] / 64
            parts.append(np.outer(q, q))
        worst = max(worst, float(np.sqrt((pairs * (parts[0] - parts[1]) ** 2).sum())))
    assert worst > 2 * grid_row_bound(2 * half + 1) / STEPS


def test_a_whole_person_on_the_grid_is_bounded_by_an_integer_identity() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        y = rng.uniform(-1, 1, int(rng.integers(1, 500)))
        q = np.trunc(2048 * y / np.sqrt((y * y).sum() + OFFSET)).astype(np.int64)
        upper = np.triu(np.outer(q, q), 1)
        assert int((q * q).sum()) <= 2048**2
        assert 2 * int((upper * upper).sum()) <= 2048**4


def test_the_moment_moves_more_than_the_row() -> None:
    """|y|^2 / sqrt(|y|^2 + k) has slope up to sqrt(32/27) = 1.0887, at |y|^2 = 2k: the
    row's bound is too small."""
    size = np.sqrt(2 * OFFSET) + np.array([-0.1, 0.1])
    moment = size**2 / np.sqrt(size**2 + OFFSET)
    assert np.diff(moment)[0] / np.diff(size)[0] == pytest.approx(4 * np.sqrt(2 / 27), rel=1e-3)
    radius = np.linspace(0, 300, 400_001)
    assert np.diff(radius**2 / np.sqrt(radius**2 + OFFSET)).max() / radius[1] <= 4 * np.sqrt(2 / 27)


@pytest.mark.parametrize("size", [0, 1, 3, 10, 100, 2000])
def test_one_like_moves_the_top_n_gram_by_less_than_one(size: int) -> None:
    grams = [np.triu(np.ones((c, c)), 1) / np.sqrt(c + 5) for c in (size + 1, size)]
    assert norms(moved(grams[0], grams[1]))[1] < 1


@pytest.mark.parametrize("size", [1, 3, 10, 100, 2000])
def test_one_person_moves_the_top_n_gram_by_less_than_the_root_of_a_half(size: int) -> None:
    assert norms(np.triu(np.ones((size, size)), 1) / (size + 5))[1] < 2**-0.5


def test_swapping_one_kept_like_moves_a_sampled_gram_by_a_known_amount() -> None:
    kept = 12
    before, after = np.zeros(kept + 1), np.zeros(kept + 1)
    before[:kept], after[1:] = 1, 1
    assert norms(np.outer(after, after) - np.outer(before, before))[1] == pytest.approx(
        np.sqrt(4 * kept - 2)
    )


def test_the_mean_shift_on_the_grid_never_exceeds_the_next_integer() -> None:
    rng = np.random.default_rng(5)
    for _ in range(2000):
        values = rows(rng, 2.5, 80)
        y = [grid_row(values)[0], grid_row(np.r_[values, rng.choice([-2.5, 2.5])])[0]]
        assert abs(int(y[0]) - int(y[1])) <= ceil(2 * CLIP * STEPS / (len(values) + 21))
    assert floor(2 * CLIP * STEPS / 22) < STEPS
