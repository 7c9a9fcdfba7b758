"""Who is counted on a cluster, and by which coin: what the driver hands to tasks, without one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tacit.bound import RowClip
from tacit.data.schema import Schema
from tacit.engine.spark import table
from tacit.engine.spark.engine import Spark
from tacit.engine.spark.keys import digests
from tacit.engine.spark.pack import Crowded
from tacit.engine.spark.scatter import places_for
from tacit.engine.spark.work import Keys, Partition
from tacit.methods.first_order.rounds import cell_rows
from tacit.rounds.round import Part, Round
from tacit.rounds.state import State

KEYS = Keys(b"c" * 32, b"p" * 32)


def block(*names: str) -> Crowded:
    """People with one rating each."""
    return Crowded(
        digests(names, b"k" * 32),
        np.arange(len(names) + 1),
        np.zeros(len(names), np.uint32),
        np.ones(len(names), np.float32),
    )


def partition(*names: str) -> Partition:
    """A task's engine over a block of these people."""
    return Partition(block(*names), Schema(1, 5), KEYS)


@pytest.mark.parametrize("asked", ["coins", "partition_words"])
def test_a_task_that_runs_twice_tosses_nobodys_coin_again(asked: str) -> None:
    """In some sums with her and in others without: one person would be in two data sets."""
    first = getattr(partition("a", "b", "c"), asked)()
    again = getattr(partition("a", "b", "c"), asked)()
    elsewhere = getattr(partition("c", "a"), asked)()
    assert np.array_equal(first, again)
    assert np.array_equal(first[[2, 0]], elsewhere)
    assert len(set(first.tolist())) == 3


def test_every_round_has_a_coin_of_its_own_and_one_place() -> None:
    ratings = SimpleNamespace(schema=Schema(1, 5), items=["a", "b"])
    engine = Spark(ratings, 1)  # type: ignore[arg-type]
    part = Part("sums", 2, RowClip(1.0))
    round_ = Round(
        "one", (part,), lambda b, s: {"sums": cell_rows(b, np.ones(len(b.item)))}, lambda s, r: s
    )
    keys = [engine._work(round_, State()).keys for _ in range(3)]
    assert len({each.coin for each in keys}) == 3
    assert len({each.place for each in keys}) == 1
    assert keys[0].coin != keys[0].place


class Frame:
    """In the place of a table of the cluster: remembers how it was cut."""

    sparkSession = None  # noqa: N815
    dtypes = (("user", "bigint"), ("item", "string"), ("value", "double"))

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def repartition(self, *by: Any) -> Frame:
        """Noted."""
        self.asked.append(("repartition", *by))
        return self

    def mapInArrow(self, task: Any, *_: Any) -> Frame:  # noqa: N802
        """Noted."""
        self.asked.append(("sent to", task.places))
        return self


def test_all_rows_of_a_person_come_to_one_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is in two partitions is bounded twice."""
    monkeypatch.setattr(table, "cores_of", lambda spark: 3)
    frame = Frame()
    made = table.SparkRatings(frame, Schema(1, 5), ["a", "b"], rows=10)
    made.people_together(["a", "b"])
    assert frame.asked == [("sent to", places_for(3)), ("repartition", 3, "place")]
