"""Both orders of the ratings against plain numpy, and rows against themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.data.ratings import MOST, Notes, check_size
from tacit.data.reading import assemble
from tacit.data.reading.assemble import RowsRead, by_row_plain
from tacit.data.schema import Schema
from tacit.errors import DataError
from tacit.kernels.order import by_item, by_row, gather


@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(1, 12), st.integers(1, 9))
def test_row_order_is_that_of_numpy(seed: int, size: int, users: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    user, item = (
        rng.integers(0, users, size).astype(np.uint32),
        rng.integers(0, items, size).astype(np.uint32),
    )
    for ours, plain in zip(by_row(user, item, users), by_row_plain(user, item, users), strict=True):
        np.testing.assert_array_equal(ours, plain)
        assert ours.dtype == plain.dtype


@given(st.integers(0, 2**32 - 1), st.integers(0, 300), st.integers(1, 12), st.integers(1, 9))
def test_item_order_is_that_of_numpy(seed: int, size: int, users: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    item = rng.integers(0, items, size).astype(np.uint32)
    ptr = np.sort(np.concatenate([[0], rng.integers(0, size + 1, users - 1), [size]])).astype(
        np.int64
    )
    start, user, cell = by_item(ptr, item, items)
    np.testing.assert_array_equal(cell, np.argsort(item, kind="stable"))
    np.testing.assert_array_equal(user, np.repeat(np.arange(users), np.diff(ptr))[cell])
    np.testing.assert_array_equal(np.diff(start), np.bincount(item, minlength=items))
    assert (start.dtype, user.dtype, cell.dtype) == (np.int64, np.uint32, np.uint32)


@pytest.mark.parametrize(
    ("given_as", "wanted"), [(np.uint8, np.float32), (np.int32, np.int64), (np.float32, np.float32)]
)
def test_gather(given_as: type[np.generic], wanted: type[np.generic]) -> None:
    values = np.arange(9).astype(given_as)
    order = np.array([8, 0, 3], np.uint32)
    found = gather(values, order, wanted)
    np.testing.assert_array_equal(found, [8, 0, 3])
    assert found.dtype == wanted


def test_the_large_path_assembles_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def build() -> list[object]:
        rng = np.random.default_rng(5)
        user, item = (
            rng.integers(0, 20, 900).astype(np.uint32),
            rng.integers(0, 30, 900).astype(np.uint32),
        )
        cells = RowsRead(
            user, item, rng.integers(1, 6, 900).astype(np.float32), rng.integers(0, 50, 900)
        )
        names = [str(k) for k in range(30)]
        found = assemble.assemble(cells, names[:20], names, Schema(1, 5), Notes(), "here")
        assert found.time is not None
        return [
            found.ptr.tolist(),
            found.item.tolist(),
            found.value.tolist(),
            found.time.tolist(),
            found.notes,
        ]

    small = build()
    monkeypatch.setattr(assemble, "SMALL", 0)
    assert build() == small


def test_too_many_cells_are_refused() -> None:
    check_size(MOST - 1)
    with pytest.raises(DataError, match="split the data"):
        check_size(MOST)
