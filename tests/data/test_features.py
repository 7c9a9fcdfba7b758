"""Public features as comparable columns."""

from __future__ import annotations

import numpy as np

from tacit.data.features import MOST_TAGS, NUMBER, TAG, YEAR, design

RNG = np.random.default_rng(0)
ITEMS = 500


def test_kinds_and_shape() -> None:
    years = RNG.integers(1920, 2020, ITEMS).astype(np.int32)
    tagged = (RNG.random((ITEMS, 6)) < 0.3).astype(np.uint8)
    numeric = RNG.standard_normal((ITEMS, 2)).astype(np.float32)
    found = design(ITEMS, years, tagged, numeric)
    assert found.matrix.shape == (ITEMS, 6 + 3 + 2)
    assert found.kind.tolist() == [TAG] * 6 + [YEAR] * 3 + [NUMBER] * 2
    np.testing.assert_allclose(found.matrix.mean(axis=0), 0.0, atol=0.05)
    np.testing.assert_allclose(found.matrix.std(axis=0), 1.0, atol=0.1)


def test_rare_tags_stay_small() -> None:
    tagged = np.zeros((ITEMS, 1), dtype=np.uint8)
    tagged[7] = 1
    assert design(ITEMS, tagged=tagged).matrix.max() <= 4.0


def test_unknown_years_sit_at_the_centre() -> None:
    years = np.where(np.arange(ITEMS) % 3 == 0, 0, 1900 + np.arange(ITEMS) % 100).astype(np.int32)
    assert np.all(design(ITEMS, years).matrix[years == 0] == 0.0)


def test_unknown_numbers_sit_at_the_centre() -> None:
    numeric = RNG.standard_normal((ITEMS, 1)).astype(np.float32)
    numeric[::4] = np.nan
    numeric[1] = np.inf
    matrix = design(ITEMS, numeric=numeric).matrix
    assert np.all(matrix[::4] == 0.0)
    assert matrix[1, 0] == 0.0


def test_a_wild_value_moves_nothing_else() -> None:
    numeric = np.arange(ITEMS, dtype=np.float32)[:, None]
    wild = numeric.copy()
    wild[-1] = 1e30
    np.testing.assert_array_equal(
        design(ITEMS, numeric=wild).matrix, design(ITEMS, numeric=numeric).matrix
    )


def test_columns_that_say_nothing_are_dropped() -> None:
    found = design(
        ITEMS,
        np.full(ITEMS, 1999, dtype=np.int32),
        np.ones((ITEMS, 3), dtype=np.uint8),
        np.full((ITEMS, 2), np.nan, dtype=np.float32),
    )
    assert found.width == 0


def test_many_tags_become_principal_components() -> None:
    tagged = (RNG.random((ITEMS, 300)) < 0.1).astype(np.uint8)
    found = design(ITEMS, tagged=tagged)
    assert found.width == MOST_TAGS
    assert np.all(np.isfinite(found.matrix))


def test_no_features_and_no_items() -> None:
    assert design(ITEMS).matrix.shape == (ITEMS, 0)
    assert design(0, np.zeros(0, np.int32), np.zeros((0, 3), np.uint8)).matrix.shape[0] == 0
