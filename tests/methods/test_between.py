"""What is read off a noisy Gram of likes: popularity is known better from its own release, and
chance is no taste."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.methods.item_item.ease import beside_popularity, by_chance

ITEMS, RANK, SD = 200, 20, 1.0

Floats = NDArray[np.float64]


def popularity() -> Floats:
    return 100.0 / np.arange(1, ITEMS + 1) ** 0.8


def noisy(true: Floats) -> Floats:
    noise = np.triu(np.random.default_rng(0).normal(0, SD, true.shape), 1)
    return true + noise + noise.T


def direction() -> Floats:
    weight = popularity()
    return np.asarray(weight / np.sqrt((weight**2).sum()))


def test_a_gram_of_popularity_alone_says_nothing_beside_it() -> None:
    """However far it stands out of the noise, and though released popularity has an error."""
    matrix = noisy(900.0 * np.outer(direction(), direction()))
    found = beside_popularity(matrix, SD, popularity() + 0.1, RANK)
    assert found.shape == (ITEMS, 0)


def test_a_taste_stands_beside_popularity() -> None:
    taste = np.zeros(ITEMS)
    taste[20:40], taste[40:60] = 1.0, -1.0
    taste /= np.sqrt((taste**2).sum())
    true = 900.0 * np.outer(direction(), direction())
    true += 90.0 * np.outer(taste, taste)
    found = beside_popularity(noisy(true), SD, popularity(), RANK)
    first, second = found[:, 0], found[:, 1]
    assert first / np.sqrt((first**2).sum()) == pytest.approx(direction())
    assert (first**2).sum() == pytest.approx(900.0, rel=0.05)
    assert abs(second @ taste) / np.sqrt((second**2).sum()) > 0.9


def test_an_unreleased_diagonal_is_not_read() -> None:
    matrix = noisy(900.0 * np.outer(direction(), direction()))
    other = matrix.copy()
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(other, 50.0)
    made = [beside_popularity(one, 0.1, popularity(), RANK) for one in (matrix, other)]
    assert made[0] == pytest.approx(made[1], abs=1e-6)


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_chance_is_as_large_as_it_is(power: float) -> None:
    """Independent likes of ten items each, products over their length to this power."""
    rng = np.random.default_rng(1)
    people, items, each = 4000, 100, 10
    rows = np.zeros((people, items))
    order = np.argsort(rng.random(rows.shape), axis=1)[:, :each]
    np.put_along_axis(rows, order, each ** (-power / 2), axis=1)
    gram = rows.T @ rows
    seen = float(np.std(gram[np.triu_indices(items, 1)]))
    told = by_chance(people * each ** (2 - 2 * power), items)
    assert 0.6 < told / seen < 0.8
