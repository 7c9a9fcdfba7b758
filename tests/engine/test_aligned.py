"""People whose items are not in the public catalogue: gone where nobody sees who takes part,
there with nothing to give where that is seen."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.engine.federated import Federated
from tacit.engine.local import Local
from tacit.engine.simulate import Simulate
from tacit.engine.threads import Threads
from tacit.fitting.run import trial
from tacit.methods import find

USERS = ("ann", "bob", "cyd")
RATINGS = Ratings(
    Schema(1, 5),
    USERS,
    ("a", "b", "odd"),
    np.array([0, 2, 3, 5]),
    np.array([0, 1, 2, 1, 2], np.uint32),
    np.array([5, 4, 1, 2, 3], np.float32),
)
"""Bob has rated what is not in the catalogue, and nothing else."""
CATALOGUE = Catalogue(("b", "a", "c"))


@pytest.mark.parametrize(
    ("engine", "people"), [(Threads, 2), (Federated, 3), (Simulate, 3), (Local, 3)]
)
def test_who_takes_part_does_not_tell_what_was_rated(engine, people) -> None:
    made = engine(RATINGS)
    made.align(CATALOGUE)
    assert made.people == people
    counts = dict(zip(made.ratings.users, np.diff(made.ratings.ptr), strict=True))
    assert counts.get("bob", 0) == 0
    assert (counts["ann"], counts["cyd"]) == (2, 1)
    assert made.ratings.notes.dropped_items == 2


@pytest.mark.parametrize("method", ["popularity", "bias", "mf-federated"])
def test_she_takes_part_like_a_device_without_ratings(method) -> None:
    """Without noise the model is that of people of whom one has rated nothing."""
    settings = {"factors": 2, "rounds": 2} if method == "mf-federated" else {}

    def fitted(ratings: Ratings) -> dict[str, np.ndarray]:
        made = find(method)(calibration="none", engine="federated", **settings)
        return made.fit(ratings, items=CATALOGUE, users=3).model_.shared.arrays

    bare = Ratings(
        RATINGS.schema,
        USERS,
        CATALOGUE.ids,
        np.array([0, 2, 2, 3]),
        np.array([0, 1, 0], np.uint32),
        np.array([4, 5, 2], np.float32),
    )
    found, expected = fitted(RATINGS), fitted(bare)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert np.array_equal(found[name], array), name


@pytest.mark.parametrize("engine", ["simulate", "local"])
def test_her_device_reports_like_any_other(engine) -> None:
    made = find("one-bit")(epsilon=4.0, engine=engine)
    trial(made, RATINGS, items=CATALOGUE, users=3)
