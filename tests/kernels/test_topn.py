"""The n best of a row: equal to a full stable sort, for all shapes, types and ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacit.kernels.topn import Scores, same_for_all, top_n, top_n_all


def reference(scores: Scores, n: int, exclude: list[list[int]]) -> NDArray[np.int32]:
    """A full sort of each row: the numpy twin of the kernel."""
    lists = np.full((len(scores), n), -1, dtype=np.int32)
    for row, known in enumerate(exclude):
        order = [
            i
            for i in np.argsort(-scores[row], kind="stable")
            if scores[row, i] > -np.inf and i not in known
        ]
        lists[row, : len(order[:n])] = order[:n]
    return lists


def compressed(exclude: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    ptr = np.concatenate([[0], np.cumsum([len(row) for row in exclude])]).astype(np.int64)
    return ptr, np.array([item for row in exclude for item in row], dtype=np.uint32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 20, 63, 300, 400])
def test_equals_a_full_sort(dtype: type, n: int) -> None:
    rng = np.random.default_rng(n)
    scores = rng.standard_normal((40, 300)).astype(dtype)
    exclude = [
        sorted(rng.choice(300, rng.integers(0, 200), replace=False).tolist()) for _ in scores
    ]
    lists, values = top_n(scores, n, *compressed(exclude))
    assert np.array_equal(lists, reference(scores, n, exclude))
    listed = lists >= 0
    assert values.dtype == dtype
    assert np.array_equal(
        values[listed], np.take_along_axis(scores, np.maximum(lists, 0), 1)[listed]
    )
    assert np.isnan(values[~listed]).all()


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=9, max_size=9), min_size=1, max_size=5),
    st.integers(1, 10),
)
def test_ties_go_to_the_lower_index(rows: list[list[int]], n: int) -> None:
    scores = np.array(rows, dtype=np.float32)
    assert np.array_equal(top_n(scores, n)[0], reference(scores, n, [[] for _ in rows]))


def test_nan_and_minus_infinity_are_never_listed() -> None:
    scores = np.array([[np.nan, 1, -np.inf, np.inf, np.nan]], dtype=np.float32)
    assert top_n(scores, 4)[0].tolist() == [[3, 1, -1, -1]]


def test_nan_after_a_full_heap_is_never_listed() -> None:
    scores = np.array([[1, 2, np.nan, 3, np.nan]], dtype=np.float64)
    assert top_n(scores, 2)[0].tolist() == [[3, 1]]


def test_everything_excluded_leaves_an_empty_list() -> None:
    lists, values = top_n(np.ones((1, 3), dtype=np.float32), 2, *compressed([[0, 1, 2]]))
    assert lists.tolist() == [[-1, -1]]
    assert np.isnan(values).all()


def test_no_rows_give_no_lists() -> None:
    assert top_n(np.zeros((0, 5), dtype=np.float32), 3)[0].shape == (0, 3)


def test_the_scores_are_left_as_they_were() -> None:
    scores = np.arange(6, dtype=np.float32).reshape(1, 6)
    top_n(scores, 2, *compressed([[5]]))
    assert scores.tolist() == [[0, 1, 2, 3, 4, 5]]


def test_a_list_does_not_depend_on_its_block() -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 5, (50, 30)).astype(np.float32)
    ptr, item = compressed([sorted(rng.choice(30, 7, replace=False).tolist()) for _ in scores])
    whole = top_n(scores, 6, ptr, item)[0]
    for rows in (1, 7, 50, 1_000):
        assert np.array_equal(
            top_n_all(lambda start, stop: scores[start:stop], 50, 6, ptr, item, rows), whole
        )


def test_one_order_for_everybody_gives_the_same_lists() -> None:
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 9, 40).astype(np.float64)
    own = [rng.choice(40, size, replace=False) for size in (0, 3, 30, 40)]
    ptr = np.concatenate([[0], np.cumsum([len(each) for each in own])])
    item = np.concatenate(own).astype(np.uint32)
    one = same_for_all(scores, 12, ptr, item)
    each = top_n_all(
        lambda start, stop: np.tile(scores, (stop - start, 1)), len(own), 12, ptr, item
    )
    np.testing.assert_array_equal(one, each)


def test_bad_arguments_are_refused_before_the_unchecked_loop() -> None:
    scores = np.ones((2, 3), dtype=np.float32)
    with pytest.raises(ValueError, match="at least 1"):
        top_n(scores, 0)
    with pytest.raises(ValueError, match="one entry more"):
        top_n(scores, 1, *compressed([[0]]))
    with pytest.raises(ValueError, match="column"):
        top_n(scores, 1, *compressed([[0], [3]]))


def test_scores_stay_where_an_item_is_named_twice_or_none_may_be_written() -> None:
    scores = np.arange(6, dtype=np.float32).reshape(1, 6)
    lists = top_n(scores, 2, *compressed([[5, 5, 3]]))[0]
    assert lists.tolist() == [[4, 2]]
    assert scores.tolist() == [[0, 1, 2, 3, 4, 5]]
    scores.setflags(write=False)
    assert top_n(scores, 2, *compressed([[5]]))[0].tolist() == [[4, 3]]


def test_many_equal_scores_are_listed_in_order() -> None:
    scores = np.ones((2, 5_000), dtype=np.float32)
    scores[1, 4_000:] = 2
    lists = top_n(scores, 3)[0]
    assert lists.tolist() == [[0, 1, 2], [4_000, 4_001, 4_002]]
