"""What executors do, without Spark: Arrow batches in, rows out."""

from __future__ import annotations

import json

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from tacit.data.ratings import Notes  # noqa: E402
from tacit.data.schema import Schema  # noqa: E402
from tacit.engine.spark.code import UNLISTED, Code, IdRows  # noqa: E402
from tacit.engine.spark.keys import cell_words, digests, secret_words  # noqa: E402
from tacit.engine.spark.pack import (  # noqa: E402
    Crowded,
    Pack,
    whole_people,
)
from tacit.engine.spark.scatter import _bytes_of  # noqa: E402
from tacit.engine.spark.table import PackedBlocks, SparkRatings  # noqa: E402
from tacit.engine.spark.wire import (  # noqa: E402
    BLOCK,
    CODED,
    FAULT,
    TOLD,
    WireRow,
    batches_of,
    guarded,
    narrow,
    pack_arrays,
    rows_of,
    unpack_arrays,
)

KEY = bytes(range(32))
ITEMS = ("1", "2", "10", "é")


def batch(users, items, values, times=None):
    columns = {"user": users, "item": items, "value": values}
    if times is not None:
        columns["time"] = times
    return pa.RecordBatch.from_pydict(columns)


def coded(*batches, timed=False):
    made = list(Code(ITEMS, 1.0, 5.0, True, timed)(iter(batches)))
    return pa.Table.from_batches(made).to_pydict()


def handed_on(rows):
    """Coded rows as they come to where people are brought together."""
    return WireRow(CODED, 0, 0, _bytes_of(pa.Table.from_batches([rows])))


def packed(rows, **more):
    pack = Pack(Schema(1, 5), len(ITEMS), KEY, "last", **more)
    found = list(rows_of(pack(batches_of(map(handed_on, rows)))))
    blocks = [Crowded.read(row.data) for row in found if row.kind == BLOCK]
    told = json.loads(bytes(found[-1].data))
    assert found[-1].kind == TOLD
    return blocks, told


def sorted_rows(users, items, values, times):
    return pa.RecordBatch.from_arrays(
        [
            pa.array(users),
            pa.array(items, pa.int32()),
            pa.array(values, pa.float32()),
            pa.array(times, pa.int64()),
        ],
        ["user", "item", "value", "time"],
    )


def test_arrays_come_back_as_they_were():
    given = {
        "a": np.arange(5, dtype=np.int64),
        "b": np.zeros((2, 3), np.uint8),
        "c": np.zeros(0, np.float32),
    }
    found = unpack_arrays(pack_arrays(given))
    assert list(found) == list(given)
    for name, array in given.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)


@pytest.mark.parametrize("most", [1, 127, 128, 2**15, 2**31, 2**40])
def test_narrow_integers_are_the_same_integers(most):
    given = np.array([most, -most, 0], np.int64)
    assert np.array_equal(narrow(given).astype(np.int64), given)


def test_ids_are_compared_as_everywhere():
    found = coded(batch(["a ", "b", "a"], ["1", "e\u0301", "7"], [1.0, 5.0, 3.0]))
    assert found["user"] == ["a", "b", None]
    assert found["item"] == [0, 3, UNLISTED]
    assert found["value"][2] == 1.0


def test_items_are_named_once_and_rows_counted():
    one = pa.RecordBatch.from_pydict({"item": ["a", "b ", "a", None]})
    two = pa.RecordBatch.from_pydict({"item": ["b", "c", "", "c"]})
    found = pa.Table.from_batches(IdRows()(iter([one, two]))).to_pydict()
    assert found["name"] == ["a", "b", "c", None]
    assert found["count"] == [0, 0, 0, 8]


def test_numbers_are_ids_too():
    found = coded(batch([7, 8], [10, 3], [1.0, 5.0]))
    assert found["user"] == [7, None]
    assert found["item"] == [2, UNLISTED]


@pytest.mark.parametrize(
    ("row", "mark"),
    [
        ((None, "1", 3.0), -2),
        ((" ", "1", 3.0), -2),
        (("a", None, 3.0), -3),
        (("a", "1", None), -4),
        (("a", "1", 5.5), -5),
    ],
)
def test_what_cannot_be_read_is_a_mark_without_its_cell(row, mark):
    good = ("z", "2", 4.0)
    found = coded(batch(*([a, b] for a, b in zip(row, good, strict=True))))
    assert mark in found["item"]
    assert found["user"][found["item"].index(mark)] is None


def test_people_are_never_cut_in_two():
    users = ["a"] * 3 + ["b"] * 5 + ["c"]
    rows = sorted_rows(users, [0] * 9, [1.0] * 9, [0] * 9)
    single = [rows.slice(place, 1) for place in range(9)]
    found = [run.names for run in whole_people(iter(single), 2)]
    assert [name for names in found for name in names] == ["a", "b", "c"]


def test_a_block_does_not_depend_on_the_order_of_rows():
    users = ["a", "a", "a", "b", "b"]
    items = [2, 0, 2, 1, 1]
    values = [5.0, 1.0, 3.0, 2.0, 4.0]
    times = [10, 0, 20, 7, 7]
    one, _ = packed([sorted_rows(users, items, values, times)])
    order = [2, 1, 0, 4, 3]
    moved = [[column[k] for k in order] for column in (items, values, times)]
    other, _ = packed([sorted_rows(users, *moved)])
    assert one[0].write(4) == other[0].write(4)
    # The latest counts, of equally late ones the highest.
    assert one[0].value.tolist() == [1.0, 3.0, 4.0]


def test_ids_that_are_numbers_are_packed_as_they_are():
    rows = batch([3, 3, 4], [10, 1, 7], [5.0, 2.0, 4.0])
    code = Code(ITEMS, 1.0, 5.0, True, False)
    blocks, told = packed(code(iter([rows])))
    assert blocks[0].item.tolist() == [0, 2]
    assert blocks[0].value.tolist() == [2.0, 5.0]
    assert told["faults"] == {str(UNLISTED): 1}


def test_no_id_stands_in_a_block():
    blocks, told = packed([sorted_rows(["person-7"], [0], [1.0], [0])])
    assert b"person-7" not in blocks[0].write(4)
    assert "person-7" not in json.dumps(told)


def test_who_is_left_out_is_not_there():
    rows = sorted_rows(["a", "b"], [0, 1], [1.0, 2.0], [0, 0])
    blocks, told = packed([rows], without=frozenset({"a"}))
    assert blocks[0].item.tolist() == [1]
    assert told["facts"]["left_out"] == 1


def test_coins_follow_from_person_and_key_alone():
    who = digests(["a", "b", "c"], KEY)
    some = secret_words(KEY, who)
    assert np.array_equal(secret_words(KEY, who[[2, 0]]), some[[2, 0]])
    assert not np.array_equal(secret_words(bytes(32), who), some)
    assert len(set(digests(["a"], KEY)[0]) ^ set(digests(["a"], KEY[::-1])[0]))


def test_coins_are_uniform():
    coins = secret_words(KEY, digests(map(str, range(4000)), KEY))
    share = (coins < np.uint64(2**62)).mean()
    # 0.25 within five standard deviations.
    assert abs(share - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 4000)


def test_a_limit_keeps_the_same_ratings_however_people_are_blocked():
    who = digests(["a", "b"], KEY)
    item = np.array([0, 1, 2, 3, 0, 2], np.uint32)
    value = np.arange(6, dtype=np.float32)
    both = Crowded(who, np.array([0, 4, 6]), item, value).limited(2, KEY)
    alone = Crowded(who[:1], np.array([0, 4]), item[:4], value[:4])
    assert both.ptr.tolist() == [0, 2, 4]
    assert both.item[:2].tolist() == alone.limited(2, KEY).item.tolist()
    owner = np.zeros(4, np.int64)
    assert len(set(cell_words(KEY, who, owner, item[:4]).tolist())) == 4


def test_what_the_cluster_notices_is_told_once():
    read = Notes(messages=("times are not read",))
    seen = Notes(duplicates=3, dropped_items=2, messages=read.messages)
    made = {ITEMS: PackedBlocks(None, 9, 90, b"", seen)}
    ratings = SparkRatings(None, Schema(1, 5), ITEMS, notes=read, made=made)
    assert ratings.noticed() == [
        "merged 3 duplicate ratings",
        "dropped 2 ratings of items outside the catalogue",
    ]


def test_an_error_in_a_task_says_nothing_of_a_rating():
    class Task:
        @guarded
        def run(self, rows):
            yield WireRow(BLOCK, 0, 0, b"")
            raise ValueError("user 7 rated 5")

    found = list(rows_of(batches_of(Task().run(iter(())))))
    assert [row.kind for row in found] == [BLOCK, FAULT]
    assert "ValueError" in bytes(found[1].data).decode()
    assert "rated" not in bytes(found[1].data).decode()


def test_text_is_read_by_the_rules_of_one_machine():
    values = ["4,5", " 3 ", "2,5", "1.5", "five"]
    times = ["06.09.2005", "06.09.2005 00:00", "6/9/2005", "6.9.2005", "2005-09-06"]
    people, items = ["a", "b", "c", "d", "e"], ["1"] * 5
    code = Code(ITEMS, 1.0, 5.0, True, True, dates="dmy", decimal=",")
    made = pa.Table.from_batches(
        list(code(iter([batch(people, items, values, times)])))
    ).to_pydict()
    assert made["value"][:3] == [4.5, 3.0, 2.5]
    assert made["time"][:3] == [1125964800] * 3
    assert made["user"][:3] == ["a", "b", "c"]
    assert sorted(made["item"][3:]) == [-4]
    assert made["value"][3:] == [2.0]
    late = coded(batch(["a", "b"], ["1", "1"], ["3", "3"], ["soon", "06.09.2005"]), timed=True)
    assert late["item"] == [-6]


def test_an_id_holds_no_control_character():
    made = coded(batch(["a\nb", "b"], ["1", "1\x00"], [3.0, 3.0]))
    assert made["item"] == [-8]
    assert made["value"] == [2.0]
