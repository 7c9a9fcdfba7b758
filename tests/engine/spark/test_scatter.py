"""Rows on their way to where people are brought together: nobody is in two places."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from tacit.engine.spark import scatter as module  # noqa: E402
from tacit.engine.spark.code import Code  # noqa: E402
from tacit.engine.spark.scatter import (  # noqa: E402
    TABLE,
    WORDS,
    Scatter,
    gathered,
    partition_of,
    places_for,
    table_of,
    words_of,
)
from tacit.engine.spark.wire import FAULT, WireRow, batches_of, rows_of  # noqa: E402
from tacit.errors import Failure  # noqa: E402

CODE = Code(("1", "2", "3"), 1.0, 5.0, True, False)


def batches(users, kind):
    """Some rows of each person, in no order."""
    rng = np.random.default_rng(3)
    users = rng.permutation(np.repeat(users, 4))
    table = pa.table(
        {
            "user": pa.array(users.tolist(), kind),
            "item": pa.array(rng.integers(1, 4, len(users)), pa.int64()),
            "value": pa.array(rng.integers(1, 6, len(users)), pa.float64()),
        }
    )
    return table.to_batches(max_chunksize=7)


def arrived(sent, place):
    """Whose rows come to one place, in their order there."""
    here = batches_of(row for row in sent if row.place == place)
    return [name for batch in gathered(here) for name in batch.column("user").to_pylist()]


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
def test_nobody_is_in_two_places_and_no_row_is_lost(kind, monkeypatch):
    monkeypatch.setattr(module, "HELD", 50)
    users = np.arange(-30, 70)
    if kind == pa.string():
        users = np.array([f"person {each}" for each in users])
    places = places_for(5)
    sent = list(rows_of(Scatter(CODE, places)(iter(batches(users, kind)))))
    assert {row.place for row in sent} == set(places)
    seen = [arrived(sent, place) for place in places]
    for rows in seen:
        assert rows == sorted(rows)
        assert len(rows) == 4 * len(set(rows))
    assert sorted(set().union(*seen)) == sorted(users.tolist())


@pytest.mark.parametrize(
    ("user", "value", "short"),
    [(2**36 - 1, 4.75, True), (2**36, 3.0, False), (-1, 3.0, False), (7, 3.1, False)],
)
def test_a_rating_is_one_word_where_it_fits(user, value, short):
    rows = pa.RecordBatch.from_pydict({"user": [user, 5], "item": [3, 1], "value": [value, 1.0]})
    (row,) = rows_of(Scatter(CODE, (0,))(iter([rows])))
    assert row.part == (WORDS if short else TABLE)
    (found,) = gathered(batches_of([row]))
    people = sorted([(5, 0, 1.0), (user, 2, pytest.approx(value))])
    columns = (found.column(name).to_pylist() for name in ("user", "item", "value"))
    assert list(zip(*columns, strict=True)) == people


@pytest.mark.parametrize(("item", "short"), [(2**20 - 1, True), (2**20, False)])
def test_an_item_never_runs_into_the_bits_of_a_person(item, short):
    """Somebody's rating would be another person's, and two would be bounded for one."""
    rows = {"user": [4, 5], "item": [item, 0], "value": [1.0, 2.0]}
    kinds = {"user": pa.int64(), "item": pa.int32(), "value": pa.float32()}
    table = pa.table({n: pa.array(rows[n], kinds[n]) for n in rows})
    words = words_of(table)
    assert (words is not None) == short
    if words is not None:
        assert table_of(words).column("user").to_pylist() == [4, 5]


def test_words_and_tables_of_one_partition_come_together():
    tasks = []
    for value in (3.0, 3.1):
        rows = pa.RecordBatch.from_pydict({"user": [9, 4], "item": [1, 2], "value": [value, value]})
        tasks += rows_of(Scatter(CODE, (0,))(iter([rows])))
    (found,) = gathered(batches_of(tasks))
    assert found.column("user").to_pylist() == [4, 4, 9, 9]


def test_a_place_follows_from_the_id_alone_in_every_process():
    """Hashes of Python and Arrow differ between processes or machines."""
    names = [f"näme {each}" for each in range(200)]
    here = partition_of(pa.chunked_array([names]), 7).tolist()
    code = (
        "import pyarrow as pa; from tacit.engine.spark.scatter import partition_of; "
        "names = [f'näme {each}' for each in range(200)][::-1]; "
        "print(partition_of(pa.chunked_array([names]), 7).tolist())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert str(here[::-1]) == other.stdout.strip()
    assert len(set(here)) == 7


def test_places_are_those_of_sparks_hash():
    """What `select pmod(hash(id), 4)` of ids 0 to 7 gave on Spark 4."""
    found = [module._murmur(each) % 4 for each in range(8)]
    assert found == [1, 1, 0, 3, 0, 0, 1, 3]
    assert [module._murmur(each) % 6 for each in places_for(6)] == [*range(6)]


def test_a_fault_on_the_way_stops_the_task_that_gathers():
    fault = WireRow(FAULT, 0, 0, b'{"message": "no", "remedy": "mend it"}')
    with pytest.raises(Failure, match="no"):
        list(gathered(batches_of([fault])))
