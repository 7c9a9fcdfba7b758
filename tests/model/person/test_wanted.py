"""The order of a list unless it is told otherwise: more of one's own taste, and what many know."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.model.person.base import Own, personal_class
from tacit.model.person.gaussian import GaussianPersonal
from tacit.model.person.rank import order_scores, top

ITEMS, PEOPLE, RATED, PLACES = 400, 300, 30, 20
NOBODY = Own(np.zeros(0, np.int64), np.zeros(0))


def arrays(seed: int = 0) -> dict[str, NDArray[Any]]:
    """A catalogue whose items differ in how well they are liked and known."""
    rng = np.random.default_rng(seed)
    return {
        "baseline": rng.normal(0.3, 0.45, ITEMS),
        "variance": np.full(ITEMS, 0.01),
        "loadings": 0.25 * rng.standard_normal((ITEMS, 4)),
        "weight": np.exp(rng.normal(2.0, 1.3, ITEMS)),
    }


def model(**other: NDArray[Any]) -> GaussianPersonal:
    """That catalogue, with other arrays in place of some."""
    return GaussianPersonal(arrays() | other, {"noise": 0.7})


def person(given: GaussianPersonal, seed: int) -> Own:
    """Somebody who rated items as the model says people do."""
    rng = np.random.default_rng(seed)
    items = np.sort(rng.choice(ITEMS, RATED, replace=False))
    taste = given.model.loadings[items] @ rng.standard_normal(4)
    noise = np.sqrt(0.7) * rng.standard_normal(RATED)
    return Own(items, given.model.baseline[items] + taste + noise)


def different(given: GaussianPersonal, by: str | None) -> int:
    """How many items all lists together hold."""
    held: set[int] = set()
    for seed in range(PEOPLE):
        own = person(given, seed)
        free = np.ones(ITEMS, bool)
        free[own.items] = False
        held |= set(top(order_scores(given, own, by).scores, PLACES, free))
    return len(held)


def test_lists_of_all_people_hold_more_different_items() -> None:
    assert different(model(), None) > 1.2 * different(model(), "rating")


def test_predictions_do_not_depend_on_the_order() -> None:
    given = model()
    own = person(given, 1)
    told, rated = (order_scores(given, own, by) for by in (None, "rating"))
    np.testing.assert_array_equal(told.mean, rated.mean)
    np.testing.assert_array_equal(told.sd, rated.sd)
    np.testing.assert_array_equal(rated.scores, given.predict(own)[0])
    assert not np.array_equal(np.argsort(told.scores), np.argsort(told.mean))


def test_of_two_items_alike_the_better_known_comes_first() -> None:
    same = {"baseline": np.zeros(ITEMS), "loadings": np.zeros((ITEMS, 1))}
    given = model(**same)
    weight = given.arrays["weight"]
    scores = order_scores(given, NOBODY, None).scores
    np.testing.assert_array_equal(np.argsort(scores), np.argsort(weight))


def test_what_noise_made_of_popularity_does_no_harm() -> None:
    """Released counts may be below zero, or all alike."""
    odd = np.where(np.arange(ITEMS) % 2, -3.0, 0.0)
    found = order_scores(model(weight=odd), NOBODY, None)
    assert np.isfinite(found.scores).all()
    np.testing.assert_array_equal(
        np.argsort(found.scores, kind="stable"), np.argsort(found.mean, kind="stable")
    )


def test_many_at_once_get_the_order_of_one() -> None:
    given = model()
    own = person(given, 3)
    block = given.score_block(
        np.array([0, RATED], np.int64), own.items.astype(np.uint32), own.values
    )
    np.testing.assert_allclose(block[0], given.scores(own))
    np.testing.assert_allclose(block[0], order_scores(given, own, None).scores)


def test_a_model_without_popularity_goes_by_the_expected_rating() -> None:
    given = arrays()
    del given["weight"]
    bare = GaussianPersonal(given, {"noise": 0.7})
    own = person(bare, 4)
    np.testing.assert_array_equal(order_scores(bare, own, None).scores, bare.predict(own)[0])


def test_models_that_add_neighbours_go_by_the_expected_rating() -> None:
    for name in ("kept-neighbours", "factor-neighbours", "neighbourhood"):
        assert personal_class(name)(arrays(), {"noise": 0.7}).lean() is None
