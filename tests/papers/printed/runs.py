"""How the program is run beside a reference: small ratings, and draws that both share."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np

from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.engine import printed as engine
from tacit.model.person.base import Cells


def invented(people=40, items=30, seed=0, filled=0.6):
    """Dense enough ratings of two tastes, as a matrix (0: none) and as the program reads
    them."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(people, 2)) @ rng.normal(size=(2, items))
    value = np.clip(np.rint(3.2 + taste + rng.normal(0, 0.5, taste.shape)), 1, 5)
    share = rng.uniform(filled / 2, min(1.5 * filled, 1), people)
    matrix = np.where(rng.random(value.shape) < share[:, None], value, 0.0)
    return matrix, as_ratings(matrix)


def as_ratings(matrix):
    """The same ratings in the program's rows."""
    rated = matrix > 0
    people, items = matrix.shape
    ptr = np.concatenate([[0], np.cumsum(rated.sum(axis=1))]).astype(np.int64)
    return Ratings(
        Schema(1, 5),
        [str(u) for u in range(people)],
        [str(i) for i in range(items)],
        ptr,
        np.nonzero(rated)[1].astype(np.uint32),
        matrix[rated].astype(np.float32),
    )


def predictions(model, ratings):
    """Of every person for every item, from her own ratings, on the scale of the ratings."""
    items = ratings.n_items
    people = ratings.n_users
    schema = ratings.schema
    value = (ratings.value - schema.middle) / schema.unit_width
    cells = Cells(
        ratings.ptr,
        ratings.item,
        value.astype(np.float64),
        np.arange(people + 1, dtype=np.int64) * items,
        np.tile(np.arange(items, dtype=np.uint32), people),
    )
    found = model.personal.predict_cells(cells).reshape(people, items)
    return np.clip(schema.middle + schema.unit_width * found, 1, 5)


class Tape:
    """Draws by the number of the step, for the program and the reference alike."""

    def __init__(self, law, shape, seed=1):
        self.law = law
        self.shape = shape
        self.seed = seed
        self.handed = 0

    def __call__(self, turn):
        rng = np.random.default_rng([self.seed, turn])
        draw = rng.laplace if self.law == "laplace" else rng.normal
        return draw(0.0, 1.0, self.shape)


@contextmanager
def handing(monkeypatch, tape):
    """A program whose printed steps are handed the numbers of a tape, in units of the scale
    that it books."""

    def handed(name, charge, draws):
        event = charge.draw(name)
        if not draws:
            return np.zeros(0)
        tape.handed += 1
        step = int(name.split("/")[0].split()[-1])
        return (tape(step) * event.scale).ravel()

    with monkeypatch.context() as patch:
        patch.setattr(engine, "handed", handed)
        yield
