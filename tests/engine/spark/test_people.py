"""Lists and errors of people, made where their ratings are, without Spark: the tasks of
executors over Arrow batches."""

from __future__ import annotations

import json
from copy import deepcopy

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from tacit.data.held_out import HeldOut  # noqa: E402
from tacit.engine.spark.code import Code  # noqa: E402
from tacit.engine.spark.lists import Listing  # noqa: E402
from tacit.engine.spark.pack import (  # noqa: E402
    Crowded,
    Pack,
)
from tacit.engine.spark.scatter import Scatter  # noqa: E402
from tacit.engine.spark.scores import Judge  # noqa: E402
from tacit.engine.spark.wire import BLOCK, batches_of, rows_of  # noqa: E402
from tacit.fitting.run import trial  # noqa: E402
from tacit.methods import find  # noqa: E402
from tacit.model.person.base import Cells  # noqa: E402
from tacit.model.person.lists import ListMaker  # noqa: E402
from tacit.testing.small_sample import few_ratings  # noqa: E402

KEY = bytes(32)


@pytest.fixture(scope="module")
def ratings():
    return few_ratings(people=120, seed=7)


@pytest.fixture(scope="module")
def model(ratings):
    return trial(find("bias")(epsilon=5.0, threads=1), ratings, users=2000)


def batches(ratings):
    """Rows as Spark hands them to a task."""
    whole = pa.RecordBatch.from_pydict(
        {
            "user": [ratings.users[row] for row in ratings.user],
            "item": [ratings.items[row] for row in ratings.item],
            "value": ratings.value.astype(np.float64),
        }
    )
    pieces = [whole.slice(at, 700) for at in range(0, len(ratings), 700)]
    schema = ratings.schema
    code = Code(tuple(ratings.items), schema.low, schema.high, True, False)
    return Scatter(code, (0,))(iter(pieces))


def pack_of(ratings, **more):
    return Pack(ratings.schema, ratings.n_items, KEY, "last", **more)


def test_lists_are_those_of_one_machine(ratings, model):
    maker = ListMaker(model, 5, None, model.allowed())
    task = Listing(pack_of(ratings), deepcopy(maker))
    found = pa.Table.from_batches(task(iter(batches(ratings)))).to_pylist()
    assert len(found) == 5 * ratings.n_users
    assert all(line["personal"] for line in found)
    for person in (0, ratings.n_users - 1):
        cells = ratings.row(person)
        lines = maker.lines(
            ratings.item[cells].astype(np.int64), ratings.value[cells].astype(np.float64)
        )
        mine = [x for x in found if x["person"] == ratings.users[person]]
        assert [x["item"] for x in mine] == [line.item for line in lines]
        assert [x["rank"] for x in mine] == [1, 2, 3, 4, 5]


def test_errors_are_those_of_what_was_kept_apart(ratings, model):
    apart = HeldOut(share=0.2, salt="0" * 32)
    pack = pack_of(ratings, apart=apart, items=tuple(ratings.items), judged=True)
    blocks = [row for row in rows_of(pack(iter(batches(ratings)))) if row.kind == BLOCK]
    judge = Judge(model.personal, ratings.schema)
    told = list(rows_of(judge(batches_of(blocks))))
    sums = json.loads(bytes(told[0].data))
    held = apart.held(ratings)
    assert 0 < sums["count"] <= held.sum()
    seen = ratings.take(~held)
    assert sum(len(Crowded.read(row.data).item) for row in blocks) == len(seen)
    # One person by hand.
    block = Crowded.read(blocks[0].data)
    assert len(block.held[0]) == len(block.ptr)
    own = (block.value - ratings.schema.middle) / ratings.schema.unit_width
    cells = Cells(
        block.ptr,
        block.item.astype(np.uint32),
        own.astype(np.float64),
        block.held[0],
        block.held[1].astype(np.uint32),
    )
    rating = ratings.schema.middle + ratings.schema.unit_width * (
        model.personal.predict_cells(cells)
    )
    wrong = np.clip(rating, 1, 5) - block.held[2]
    assert len(blocks) == 1
    assert sums["squares"] == pytest.approx(float(wrong @ wrong), rel=1e-6)
