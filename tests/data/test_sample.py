"""The embedded sample: real films, invented people, structure that can be found again."""

from __future__ import annotations

import time

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.data.ratings import Ratings
from tacit.data.sample import NOTICE, SOURCE, sample, sample_catalogue
from tacit.errors import SettingError


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return sample()


def test_the_catalogue_has_enough_films_over_a_century() -> None:
    catalogue = sample_catalogue()
    assert len(catalogue) >= 420
    assert catalogue.years is not None
    decades = np.bincount(catalogue.years // 10 - 192, minlength=11)
    assert len(decades) == 11
    assert decades.min() >= 10


def test_every_film_has_a_unique_title_and_one_to_four_genres() -> None:
    catalogue = sample_catalogue()
    assert catalogue.titles is not None
    assert catalogue.tagged is not None
    assert len(set(catalogue.titles)) == len(catalogue)
    assert len(catalogue.tags) == 18
    assert set(np.unique(catalogue.tagged.sum(axis=1))) <= {1, 2, 3, 4}


def test_titles_with_letters_beyond_ascii_survive() -> None:
    assert "amelie-2001" in sample_catalogue().index
    assert sample_catalogue().by_title["amélie"] == [sample_catalogue().index["amelie-2001"]]


def test_the_sample_says_that_it_is_synthetic(ratings: Ratings) -> None:
    assert ratings.schema.source == SOURCE == "synthetic sample"
    assert ratings.notes.messages == (NOTICE,)
    assert "invented" in NOTICE


def test_the_default_is_two_thousand_people_with_a_hundred_thousand_ratings(
    ratings: Ratings,
) -> None:
    assert (ratings.n_users, len(ratings)) == (2_000, 100_000)
    assert list(ratings.items) == list(sample_catalogue().ids)


def test_rows_are_ascending_without_repeats(ratings: Ratings) -> None:
    key = ratings.user.astype(np.int64) * ratings.n_items + ratings.item
    assert (np.diff(key) > 0).all()


def test_values_are_whole_stars_and_each_is_used(ratings: Ratings) -> None:
    stars, counts = np.unique(ratings.value, return_counts=True)
    assert stars.tolist() == [1, 2, 3, 4, 5]
    assert counts.min() > 0.02 * len(ratings)


def test_times_span_years_and_never_precede_the_film(ratings: Ratings) -> None:
    years = sample_catalogue().years
    assert years is not None
    assert ratings.time is not None
    rated_in = ratings.time.astype("datetime64[s]").astype("datetime64[Y]").astype(int) + 1970
    assert rated_in.max() - rated_in.min() >= 5
    assert (rated_in >= years[ratings.item]).all()


def test_one_seed_gives_one_sample_and_another_seed_other_people() -> None:
    first = sample(50, seed=1)
    again = sample(50, seed=1)
    other = sample(50, seed=2)
    assert np.array_equal(first.item, again.item)
    assert np.array_equal(first.value, again.value)
    assert first.time is not None
    assert again.time is not None
    assert np.array_equal(first.time, again.time)
    assert not np.array_equal(first.item, other.item)


def test_it_takes_less_than_a_second_of_processor_time() -> None:
    sample_catalogue()
    began = time.process_time()
    sample(seed=5)
    assert time.process_time() - began < 1


@pytest.mark.parametrize(("people", "ratings"), [(1, 1), (3, 3), (7, 500), (2_100, 9_000)])
def test_any_size_is_met_exactly(people: int, ratings: int) -> None:
    made = sample(people, ratings)
    assert (made.n_users, len(made)) == (people, ratings)
    assert np.diff(made.ptr).min() >= 1


@pytest.mark.parametrize(
    ("people", "ratings", "seed"), [(0, 0, 0), (10, 9, 0), (10, 100_000, 0), (10, 500, -1)]
)
def test_impossible_sizes_and_seeds_are_refused(people: int, ratings: int, seed: int) -> None:
    with pytest.raises(SettingError):
        sample(people, ratings, seed)


def test_popularity_is_skewed(ratings: Ratings) -> None:
    counts = np.sort(np.bincount(ratings.item, minlength=ratings.n_items))[::-1]
    assert counts[: ratings.n_items // 5].sum() > 0.5 * len(ratings)


def test_people_differ_in_level_and_in_spread(ratings: Ratings) -> None:
    busy = [
        ratings.value[ratings.row(person)] for person in np.flatnonzero(np.diff(ratings.ptr) > 40)
    ]
    assert np.std([row.mean() for row in busy]) > 0.25
    spread = [row.std() for row in busy]
    assert np.percentile(spread, 95) > 1.5 * np.percentile(spread, 5)


@pytest.fixture(scope="module")
def predictions(ratings: Ratings) -> dict[str, NDArray[np.float64]]:
    """Predictions of one tenth from the rest, by ever more of the truth."""
    value, held = ratings.value.astype(np.float64), hold_back(ratings)
    user, item = ratings.user.astype(np.int64), ratings.item.astype(np.int64)

    def item_bias(
        index: NDArray[np.int64], residual: NDArray[np.float64], size: int
    ) -> NDArray[np.float64]:
        sums = np.bincount(index[~held], residual[~held], size)
        return (sums / (np.bincount(index[~held], minlength=size) + 4))[index]

    mean = np.full(len(value), value[~held].mean())
    items = mean + item_bias(item, value - mean, ratings.n_items)
    bias = items + item_bias(user, value - items, ratings.n_users)
    tagged = sample_catalogue().tagged
    assert tagged is not None
    features = tagged / np.sqrt(tagged.sum(axis=1, keepdims=True))
    genres = bias.copy()
    for person in range(ratings.n_users):
        row = ratings.row(person)
        every = features[item[row]]
        residual = (value - bias)[row]
        seen = ~held[row]
        known = every[seen]
        genres[row] += every @ np.linalg.solve(
            known.T @ known + 5 * np.eye(len(tagged.T)), known.T @ residual[seen]
        )
    return {"mean": mean, "items": items, "bias": bias, "genres": genres}


@pytest.fixture(scope="module")
def errors(ratings: Ratings, predictions: dict[str, NDArray[np.float64]]) -> dict[str, float]:
    held = hold_back(ratings)
    squares = {
        name: (predicted - ratings.value)[held] ** 2 for name, predicted in predictions.items()
    }
    return {name: float(np.sqrt(square.mean())) for name, square in squares.items()}


def hold_back(ratings: Ratings) -> NDArray[np.bool_]:
    return np.random.default_rng(0).random(len(ratings)) < 0.1


def test_films_differ_in_quality(errors: dict[str, float]) -> None:
    assert errors["items"] < errors["mean"] - 0.04


def test_people_differ_in_level_beyond_the_films_they_choose(errors: dict[str, float]) -> None:
    assert errors["bias"] < errors["items"] - 0.05


def test_people_have_tastes_in_genres(errors: dict[str, float]) -> None:
    assert errors["genres"] < errors["bias"] - 0.02


def test_hidden_traits_remain_beyond_genres(
    ratings: Ratings, predictions: dict[str, NDArray[np.float64]]
) -> None:
    """The common variation of what genres leave unexplained stands out from that of a
    shuffled table."""
    often = np.argsort(-np.bincount(ratings.item, minlength=ratings.n_items))[:120]
    place = np.full(ratings.n_items, -1)
    place[often] = np.arange(120)
    cells = place[ratings.item] >= 0
    residual = (ratings.value - predictions["genres"])[cells]

    def strongest(values: NDArray[np.float64]) -> float:
        table = np.zeros((ratings.n_users, 120))
        table[ratings.user[cells], place[ratings.item[cells]]] = values
        return float(np.linalg.eigvalsh(table.T @ table)[-1])

    assert strongest(residual) > 1.5 * strongest(np.random.default_rng(0).permutation(residual))


def test_the_well_known_is_liked_better(ratings: Ratings) -> None:
    counts = np.bincount(ratings.item, minlength=ratings.n_items)
    means = np.bincount(ratings.item, ratings.value, ratings.n_items) / np.maximum(counts, 1)
    often = counts > 20
    slope = np.polyfit(np.log(counts[often]), means[often], 1)[0]
    assert 0.05 < slope < 0.4
