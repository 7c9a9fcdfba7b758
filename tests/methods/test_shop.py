"""A shop whose customers like categories: lists say so where tastes are learned."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import Bayes, Bias
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.data.splits import per_rating
from tacit.evaluation.invented import LIKES, SHOWN
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial
from tacit.model.person.base import Own
from tacit.model.person.rank import order_scores, top

PEOPLE, ITEMS, KINDS, EACH = 1500, 160, 8, 10


@pytest.fixture(scope="module")
def shop():
    """Ratings of customers who like some categories, and the catalogue."""
    rng = np.random.default_rng(5)
    kind = np.arange(ITEMS) % KINDS
    fame = -0.8 * np.log(2.0 + rng.permutation(ITEMS))
    item_bias = 0.45 * rng.normal(size=ITEMS)
    liking = 0.6 * rng.normal(size=(PEOPLE, KINDS))[:, kind]
    appeal = fame + 0.7 * liking + rng.gumbel(size=liking.shape)
    item = np.sort(np.argsort(-appeal, axis=1)[:, :EACH], axis=1)
    level = 3.3 + 0.35 * rng.normal(size=(PEOPLE, 1))
    value = level + item_bias[item] + np.take_along_axis(liking, item, axis=1)
    value = np.clip(np.rint(value + 0.8 * rng.normal(size=item.shape)), 1, 5)
    names = [f"item {one}" for one in range(ITEMS)]
    ratings = Ratings(
        Schema(1, 5, source="invented"),
        [f"customer {one}" for one in range(PEOPLE)],
        names,
        EACH * np.arange(PEOPLE + 1),
        item.ravel().astype(np.uint32),
        value.ravel().astype(np.float32),
    )
    tags = [f"kind {one}" for one in range(KINDS)]
    tagged = (kind[:, None] == np.arange(KINDS)).astype(np.uint8)
    return per_rating(ratings, 0.1, 0), Catalogue(names, tags=tags, tagged=tagged)


def popularity_slope(model, catalogue, train):
    """Of the lists of people who like one category, the share that is of it."""
    counts = np.bincount(train.item, minlength=ITEMS)
    famous = np.argsort(-counts, kind="stable")
    found = []
    for kind in range(KINDS):
        inside = catalogue.tagged[famous, kind] > 0
        items = np.append(famous[inside][:LIKES], famous[~inside][:2])
        values = np.append(np.tile([2.0, 1.0], LIKES // 2), [-1.0, -1.0])
        scores = order_scores(model.personal, Own(items, values), None).scores
        allowed = np.ones(ITEMS, np.bool_)
        allowed[items] = False
        listed = top(scores, SHOWN, allowed)
        found.append(catalogue.tagged[listed, kind].mean())
    return float(np.mean(found))


@pytest.mark.parametrize("epsilon", [5.0, 10.0])
def test_lists_are_of_what_people_like(shop, epsilon):
    split, catalogue = shop
    known = {"items": catalogue, "users": PEOPLE}
    model = trial(Bayes(epsilon=epsilon), split.train, **known)
    assert popularity_slope(model, catalogue, split.train) > 0.8
    plain = trial(Bias(epsilon=epsilon), split.train, **known)
    errors = [measure(one, split, lists=False)["rmse"] for one in (model, plain)]
    assert errors[0] < errors[1] + 0.006
