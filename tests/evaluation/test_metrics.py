"""Metrics against hand-worked figures, a plain loop, and their edge cases."""

from __future__ import annotations

from math import inf, log2, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import SettingError
from tacit.evaluation.metrics import Ranking, mae, rmse


def ranking(lists: list[list[int]], relevant: list[list[int]]) -> Ranking:
    width = max(map(len, lists), default=1)
    padded = [row + [-1] * (width - len(row)) for row in lists]
    return Ranking(
        np.array(padded, dtype=np.int32).reshape(len(lists), width),
        np.concatenate([[0], np.cumsum([len(row) for row in relevant])]).astype(np.int64),
        np.array([item for row in relevant for item in sorted(row)], dtype=np.uint32),
    )


def test_errors_by_hand() -> None:
    assert rmse([3, 4, 1], [3, 2, 2]) == pytest.approx(sqrt(5 / 3))
    assert mae([3, 4, 1], [3, 2, 2]) == pytest.approx(1)


@pytest.mark.parametrize("metric", [rmse, mae])
def test_no_rating_gives_no_error(metric: object) -> None:
    assert callable(metric)
    assert metric([], []) is None


@pytest.mark.parametrize("metric", [rmse, mae])
@pytest.mark.parametrize("bad", [nan, inf])
def test_a_silent_prediction_makes_the_error_unavailable(metric: object, bad: float) -> None:
    assert callable(metric)
    assert metric([3, bad], [3, 2]) is None


def test_float32_errors_are_summed_in_double() -> None:
    actual = np.full(2_000_000, 3, dtype=np.float32)
    assert rmse(actual + np.float32(0.5), actual) == pytest.approx(0.5, abs=1e-12)


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="predictions"):
        rmse([1, 2], [1])


def test_a_perfect_list_scores_one_even_when_little_is_relevant() -> None:
    lists = ranking([[4, 9, 1, 2]], [[4, 9]])
    assert lists.recall_at(4) == 1
    assert lists.ndcg_at(4) == pytest.approx(1)


def test_a_perfect_list_scores_one_even_when_much_is_relevant() -> None:
    lists = ranking([[4, 9]], [[0, 4, 5, 9]])
    assert lists.recall_at(2) == 1
    assert lists.ndcg_at(2) == pytest.approx(1)


def test_figures_by_hand() -> None:
    lists = ranking([[7, 3, 5], [1, 2, 0]], [[3, 8], [9]])
    assert lists.table(3) == {
        "recall@3": pytest.approx(0.25),
        "ndcg@3": pytest.approx(0.5 * (1 / log2(3)) / (1 + 1 / log2(3))),
        "precision@3": pytest.approx(1 / 6),
        "hit@3": pytest.approx(0.5),
        "f@3": pytest.approx(0.5 * (2 * 1 / (3 + 2))),
        "map@3": pytest.approx(0.5 * (1 / 2) / 2),
        "mrr@3": pytest.approx(0.5 * (1 / 2)),
    }


def test_only_the_first_k_places_count() -> None:
    assert ranking([[7, 3]], [[3]]).hit_at(1) == 0
    assert ranking([[7, 3]], [[3]]).hit_at(2) == 1


def test_people_without_relevant_items_are_left_out() -> None:
    assert ranking([[1], [2]], [[1], []]).recall_at(1) == 1


@pytest.mark.parametrize("lists", [[], [[1, 2]], [[-1, -1]]])
def test_nothing_relevant_makes_every_metric_unavailable(lists: list[list[int]]) -> None:
    table = ranking(lists, [[] for _ in lists]).table(1)
    assert set(table.values()) == {None}


def test_missing_places_are_misses_and_never_meet_the_last_item_of_another_person() -> None:
    assert ranking([[1, 0], [0, -1]], [[9], [5]]).hits.sum() == 0


@pytest.mark.parametrize("k", [0, 3, -1])
def test_k_beyond_the_lists_is_refused(k: int) -> None:
    with pytest.raises(SettingError, match="places"):
        ranking([[1, 2]], [[1]]).recall_at(k)


@given(
    st.lists(
        st.tuples(st.permutations(range(8)), st.sets(st.integers(0, 9), max_size=6)),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 5),
)
def test_agrees_with_a_plain_loop(people: list[tuple[list[int], set[int]]], k: int) -> None:
    recall, gain = [], []
    for row, wanted in people:
        if wanted:
            hit = [item in wanted for item in row[:k]]
            best = min(k, len(wanted))
            recall.append(sum(hit) / best)
            ideal = sum(1 / log2(place + 2) for place in range(best))
            gain.append(sum(found / log2(place + 2) for place, found in enumerate(hit)) / ideal)
    lists = ranking([row[:5] for row, _ in people], [sorted(wanted) for _, wanted in people])
    assert lists.recall_at(k) == (pytest.approx(np.mean(recall)) if recall else None)
    assert lists.ndcg_at(k) == (pytest.approx(np.mean(gain)) if gain else None)
