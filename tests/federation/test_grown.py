"""Rows that a device has are not sent again, and what it puts together is the very bytes."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.data.catalogue import Catalogue
from tacit.data.sample import sample
from tacit.federation.protocol.arrays import Held, pack_state, without_held_rows
from tacit.federation.protocol.wire import digest
from tacit.methods import find
from tacit.methods.base import Public
from tacit.rounds.round import Released

NAMES = frozenset({"gradients"})


def told(rows: int) -> bytes:
    rng = np.random.default_rng(3)
    gradients = rng.normal(size=(6, 5, 2)).astype(np.float32)
    return pack_state({"people": np.ones(1), "gradients": gradients[:rows]})


def first() -> bytes:
    return pack_state({"people": np.ones(1)})


def test_a_follower_gets_one_row_a_round() -> None:
    held = Held(NAMES)
    for rows in range(6):
        payload = told(rows) if rows else first()
        short = without_held_rows(payload, NAMES, held.rows)
        sent = payload if short is None else short
        since = 0 if short is None else held.rows
        found = held.complete(sent, since, digest(payload))
        assert found is not None
        assert bytes(found) == payload
        assert held.rows == rows
        if rows > 1:
            assert len(payload) - len(sent) >= (rows - 1) * 5 * 2 * 4 - 8


def test_who_comes_late_gets_all_of_it() -> None:
    payload = told(4)
    assert without_held_rows(payload, NAMES, 0) is None
    assert without_held_rows(payload, NAMES, 5) is None, "more than there are"
    assert without_held_rows(first(), NAMES, 2) is None
    held = Held(NAMES)
    assert held.complete(payload, 0, "") is not None
    assert held.rows == 4


@pytest.mark.parametrize("since", [1, 3])
def test_rows_of_another_history_are_thrown_away(since: int) -> None:
    """A server that tells two stories, or counts other rows: the device asks for all."""
    held = Held(NAMES)
    held.complete(told(2), 0, "")
    short = without_held_rows(told(5), NAMES, since)
    assert short is not None
    assert held.complete(short, since, digest(told(5))) is None
    assert held.rows == 0
    held.complete(told(2), 0, "")
    short = without_held_rows(told(5), NAMES, 2)
    assert short is not None
    assert held.complete(short, 2, "0" * 64) is None


def test_the_path_follows_from_the_gradients_alone() -> None:
    """A device that was told gradients takes the very steps that the server took."""
    ratings = sample(people=30, ratings=600, seed=2)
    settings = {"form": "descent", "rounds": 4, "rank": 3}
    method = find("one-bit-projected")(epsilon=4.0, **settings)
    from tacit.fitting.check import check

    order = check(method, people=30)
    schema = ratings.schema.declare(30)
    public = Public(schema, Catalogue(ratings.items), "user", "sound", order.budget)
    state = method.first_state(public)
    rng = np.random.default_rng(0)
    for round_ in method.plan(public).rounds:
        (part,) = round_.parts
        value = rng.normal(size=(part.size, part.width))
        got = {part.name: Released(value, 0.0, reports=30)}
        state = round_.absorb(state, got)
    assert len(state.gradients) == 4
    sent = type(state).unpacked(state.packed())
    whole = method.finish(public, state).arrays
    rebuilt = method.finish(public, sent).arrays
    assert np.array_equal(whole["path"], rebuilt["path"])
