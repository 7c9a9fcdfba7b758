"""The published arrays for other systems: all of them in an archive, those of items in a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.model.model import Model, load
from tacit.model.shared import Shared

ITEMS = 4
"""As many as columns of taste, so that a shape alone does not tell them apart."""
BY_ITEM = {"baseline", "variance", "loadings", "weight"}


@pytest.fixture
def model(tmp_path: Path) -> Model:
    rng = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "baseline": (ITEMS,),
        "variance": (ITEMS,),
        "loadings": (ITEMS, ITEMS),
        "weight": (ITEMS,),
        "per_rating": (ITEMS,),
        "implied": (ITEMS, ITEMS),
        "usual": (ITEMS,),
        "kept": (2, ITEMS),
    }
    arrays = {name: rng.uniform(0.1, 1, shape).astype(np.float32) for name, shape in shapes.items()}
    ids = [f"i{k}" for k in range(ITEMS)]
    facts = Schema(1, 5), Catalogue(ids, [f"Film {k}" for k in ids])
    shared = Shared("bayes", "gaussian", arrays, {"noise": 0.7}, *facts)
    shared.save(tmp_path / "model", "{}")
    return load(tmp_path / "model")


def test_an_archive_holds_all_that_a_person_is_predicted_from(model, tmp_path):
    model.export(tmp_path / "items.npz")
    with np.load(tmp_path / "items.npz") as found:
        assert set(found) == BY_ITEM | {"ids", "per_rating", "implied", "usual"}
        for name in set(found) - {"ids"}:
            np.testing.assert_array_equal(found[name], model.shared.arrays[name])


def test_a_table_holds_what_is_by_item_whatever_its_shape(model, tmp_path):
    model.export(tmp_path / "items.parquet")
    found = pl.read_parquet(tmp_path / "items.parquet")
    assert set(found.columns) == BY_ITEM | {"item", "title"}


def test_items_are_alike_by_their_loadings_alone(model):
    closeness = {each.item: each.closeness for each in model.similar("i0", 3)}
    rows = model.shared.arrays["loadings"][:, 1:].astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert closeness == pytest.approx({f"i{k}": float(rows[0] @ rows[k]) for k in range(1, ITEMS)})
