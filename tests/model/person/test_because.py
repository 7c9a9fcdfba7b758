"""Reasons from public features."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import Bayes, sample, sample_catalogue
from tacit.data.catalogue import Catalogue
from tacit.fitting.run import trial
from tacit.model.person.results import by_features


@pytest.fixture
def catalogue():
    rng = np.random.default_rng(0)
    return Catalogue(
        [str(i) for i in range(200)],
        tags=["a", "b", "c"],
        tagged=(rng.random((200, 3)) < 0.4).astype(np.uint8),
    )


def test_a_taste_for_a_tag_is_named_first(catalogue):
    shift = 0.8 * catalogue.tagged[:, 1] - 0.2 * catalogue.tagged[:, 0]
    row = int(np.flatnonzero(catalogue.tagged.all(axis=1))[0])
    found = by_features(catalogue, shift, row)
    assert found[0][0] == "b"
    assert found[0][1] == pytest.approx(0.8 * (1 - catalogue.tagged[:, 1].mean()), rel=0.2)
    assert dict(found)["a"] < 0


def test_only_features_that_the_item_has_are_named(catalogue):
    row = int(np.flatnonzero(catalogue.tagged.sum(axis=1) == 1)[0])
    assert len(by_features(catalogue, np.ones(200), row)) == 1


def test_a_model_explains_with_features():
    items = sample_catalogue()
    model = trial(Bayes(epsilon=10), sample(people=1500, seed=1), items=items, users=1500)
    own = {items.ids[0]: 5.0, items.ids[5]: 1.0, items.ids[9]: 4.0}
    assert model.explain(own, items.ids[20]).features
    assert model.explain({}, items.ids[20]).features == ()
