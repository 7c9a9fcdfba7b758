"""Invented people have the declared shape, and nothing else is asked of them."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.evaluation.invent import Nature, Shape, draw_nature, invent, popularity


@pytest.mark.parametrize(
    "shape",
    [
        Shape(500, 300, 20),
        Shape(2000, 60, 2.5, 0.5, 5.0, 0.5),
        Shape(300, 400, 40, 0, 10, 1, tags=6),
    ],
)
def test_the_shape_is_kept(shape: Shape) -> None:
    ratings, items = invent(shape)
    assert ratings.n_users == shape.people
    assert ratings.n_items == len(items) == shape.items
    assert len(ratings) / shape.people == pytest.approx(shape.each, rel=0.1)
    steps = (ratings.value - shape.low) / shape.step
    assert np.allclose(steps, np.rint(steps))
    assert shape.low <= ratings.value.min() <= ratings.value.max() <= shape.high
    assert items.has_features == (shape.tags > 0)
    rows = np.diff(ratings.item.astype(np.int64))
    inside = np.ones(len(rows), dtype=bool)
    inside[ratings.ptr[1:-1] - 1] = False
    assert (rows[inside] > 0).all()  # ascending, no cell twice


def test_a_seed_is_a_population() -> None:
    shape = Shape(100, 50, 8)
    one, same, other = (invent(shape, seed=seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(one.value, same.value)
    assert not np.array_equal(one.value[:200], other.value[:200])


def test_more_taste_is_more_to_learn() -> None:
    """What is planted is there: people of strong tastes differ more about one item."""
    spreads = []
    for taste in (0.1, 0.6):
        ratings, _ = invent(Shape(2000, 30, 12), Nature(taste=taste, noise=0.5))
        first = ratings.value[ratings.item == 0]
        spreads.append(first.std())
    assert spreads[1] > 1.1 * spreads[0]


def test_popularity_falls() -> None:
    chance = popularity(200, Nature())
    assert chance.sum() == pytest.approx(1)
    assert (np.diff(chance) < 0).all()


def test_natures_differ() -> None:
    rng = np.random.default_rng(0)
    assert draw_nature(rng) != draw_nature(rng)
