"""The level of ratings and the typical count, and the sensitivity that their docstring claims."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.refine.global_mean import (
    COUNT_WEIGHT,
    GLOBAL_MEAN_SD,
    MEAN_WEIGHT,
    OWN_SHRINKAGE,
    RATING_SENSITIVITY,
    mean_of_ratings,
    mean_of_users,
    shrink,
)


def user_row(ratings: np.ndarray) -> np.ndarray:
    log = min(np.log2(len(ratings)), 12.0)
    return np.array([MEAN_WEIGHT * ratings.mean() / 2, COUNT_WEIGHT * (log - 6) / 6])


def rating_row(total: float, count: int) -> np.ndarray:
    return np.array(
        [total / (count + OWN_SHRINKAGE), count / (count + OWN_SHRINKAGE), np.log2(1 + count) / 6]
    )


def test_users_without_noise() -> None:
    rows = [user_row(np.full(16, 0.5)), user_row(np.full(64, 1.5))]
    level = mean_of_users(np.sum(rows, axis=0), 1e-9, 2)
    assert level.mean == pytest.approx(1.0)
    assert level.count == pytest.approx(32.0)


def test_ratings_without_noise() -> None:
    rows = [rating_row(0.5 * 15, 15), rating_row(0.5 * 63, 63)]
    level = mean_of_ratings(np.sum(rows, axis=0), 1e-9, 2)
    assert level.mean == pytest.approx(0.5)
    assert level.count == pytest.approx(32.0)


@pytest.mark.parametrize("decode", [mean_of_users, mean_of_ratings])
def test_noise_alone_gives_the_public_guess(decode: object) -> None:
    assert callable(decode)
    level = decode(np.array([1e6, -1e6, 1e6]), 1e9, 600)
    assert abs(level.mean) < 0.01
    assert level.variance == pytest.approx(GLOBAL_MEAN_SD**2, rel=1e-3)
    assert level.count == pytest.approx(32.0, rel=0.01)


def test_a_person_of_unit_user_has_norm_at_most_one() -> None:
    extremes = [
        user_row(np.full(count, value)) for count in (1, 2, 63, 64, 5000) for value in (-2.0, 2.0)
    ]
    assert max(np.linalg.norm(row) for row in extremes) <= 1.0


def test_one_cell_moves_unit_rating_by_no_more_than_claimed() -> None:
    worst = 0.0
    for count in range(2000):
        for sign in (
            -1.0,
            1.0,
        ):  # extremes: a linear first coordinate, the others do not depend on values
            before = rating_row(sign * 2.0 * count, count)
            for value in (-2.0, 2.0):
                worst = max(
                    worst,
                    float(
                        np.linalg.norm(rating_row(sign * 2.0 * count + value, count + 1) - before)
                    ),
                )
    assert worst <= RATING_SENSITIVITY * (1 + 1e-12)
    assert worst > 0.999 * RATING_SENSITIVITY


def test_shrink_weighs_by_precision() -> None:
    assert shrink(3.0, 1.0, 1.0, 1.0) == (2.0, 0.5)
