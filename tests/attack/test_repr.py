"""What holds private cells shows its shapes and nothing else (break 10)."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tacit.data.read import read
from tacit.repr import shapes

ROOMS = (
    "tacit.data",
    "tacit.bound",
    "tacit.rounds.round",
    "tacit.engine",
    "tacit.model.person",
    "tacit.kernels",
)
"""Where private cells are held."""
PUBLIC = {
    "Catalogue": "public",
    "PublicPeople": "their ratings are public, and hide themselves",
    "Design": "public features",
    "GaussianModel": "released numbers",
    "Released": "noised",
    "Stationary": "released numbers",
    "RecordShape": "how a file is written",
    "TableFacts": "ids of items, and how many rows: for the owner",
    "ListLine": "told to its owner, who asked",
    "Glance": "names of files",
    "Layout": "public",
    "Dialect": "how a file is written",
    "DeclaredText": "how a file is written",
    "Roles": "which column is which",
    "Explanation": "told to its owner, who asked",
    "Prediction": "told to its owner, who asked",
    "Recommendation": "told to its owner, who asked",
    "Similar": "public",
    "Share": "told to its owner, who asked",
    "UnknownItem": "told to its owner, who asked",
    "Part": "a name of a plan",
    "Stream": "a name of a file",
    "Bundle": "a name",
    "Schema": "declared",
    "Size": "a limit",
    "Needed": "what a model must hold",
    "Number": "what a model must hold",
    "Split": "three Ratings, which hide themselves",
    "Scenario": "settings of a simulation",
    "Sensitivity": "public",
    "Personal": "a name",
    "Round": "public",
    "Traffic": "bytes that everybody sends",
    "Fleet": "invented people",
}


def marked() -> Any:
    rows = [(f"secret-{u}", f"i{i}", 4.25) for u in range(3) for i in range(4)]
    import polars as pl

    frame = pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row")
    return read(frame, (1, 5))


def test_ratings_show_no_id_and_no_value():
    """Break 10: `repr(Ratings)` printed private ids and values."""
    ratings = marked()
    for text in (repr(ratings), str(ratings), f"{ratings}", repr([ratings])):
        assert "secret" not in text
        assert "4.25" not in text
    assert "users: 3" in repr(ratings)


def _classes() -> Iterator[type]:
    for room in ROOMS:
        module = importlib.import_module(room)
        names = [room]
        if hasattr(module, "__path__"):
            found = pkgutil.walk_packages(module.__path__, f"{room}.")
            names += [each.name for each in found]
        for name in names:
            for _, each in inspect.getmembers(importlib.import_module(name)):
                if inspect.isclass(each) and each.__module__ == name:
                    yield each


def _held() -> list[type]:
    """Classes whose `repr` Python would make of their fields."""
    return [
        each for each in _classes() if dataclasses.is_dataclass(each) or hasattr(each, "_fields")
    ]


@pytest.mark.parametrize("kind", _held(), ids=lambda kind: kind.__name__)
def test_every_record_of_the_private_rooms_hides_or_is_public(kind):
    """Break 10, as a class: who adds a record of cells must hide it or say why not."""
    told = "".join(str(each) for each in inspect.get_annotations(kind).values())
    settings = kind.__module__.startswith("tacit.bound") and "NDArray" not in told
    public = kind.__name__ in PUBLIC or kind.__name__.startswith("_")
    hides = kind.__repr__ is shapes or "shapes" in kind.__repr__.__code__.co_names
    assert hides or public or settings


def test_shapes_show_nothing_of_what_they_hold():
    @dataclasses.dataclass(repr=True)
    class Held:
        cells: np.ndarray
        names: list[str]
        word: str
        number: float
        by: dict[str, int]
        none: None = None

        __repr__ = shapes

    text = repr(Held(np.full(3, 77), ["secret"], "secret", 77.0, {"secret": 7}))
    assert text == (
        "Held(cells: (3,) int64, names: 1, word: str, number: float, by: 1 by name, none: none)"
    )
