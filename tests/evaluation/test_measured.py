"""One model on one split, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.data.ratings import Ratings
from tacit.evaluation.baselines import baseline
from tacit.evaluation.lists import alike, overlap
from tacit.evaluation.measured import PLACES, Measured, measured, pack_array, unpack_array
from tacit.evaluation.prepared import Prepared
from tacit.evaluation.protocol import HeldBack
from tacit.evaluation.sweep import SweepTask
from tacit.evaluation.tables import _between
from tacit.fitting.run import trial
from tacit.methods.baselines.bias import Bias


@pytest.fixture(scope="module")
def on(small: Ratings) -> Prepared:
    return SweepTask(small, None, HeldBack(listed=20), []).prepared(0)


@pytest.fixture(scope="module")
def found(on: Prepared) -> Measured:
    return measured(baseline("item mean", on), on)


def test_errors_agree_with_a_plain_loop(found: Measured, on: Prepared) -> None:
    level = baseline("item mean", on).level
    test = on.split.test
    errors = []
    for item, value in zip(test.item, test.value, strict=True):
        predicted = np.clip(3 + level[item], 1, 5)
        errors.append(abs(predicted - value))
    assert found.sums["rmse"].value() == pytest.approx(
        np.sqrt(np.mean(np.square(errors))), rel=1e-6
    )
    assert found.sums["mae"].value() == pytest.approx(np.mean(errors), rel=1e-6)
    half = np.mean(np.array(errors) <= 0.5 + 1e-9)
    assert found.arrays["cdf"][5] / found.arrays["cdf"][-1] == half
    assert found.arrays["fifth_errors"].sum(axis=1) == pytest.approx(
        [len(errors), np.square(errors).sum(), np.sum(errors)]
    )


def test_lists_hold_nothing_that_was_rated(found: Measured, on: Prepared) -> None:
    lists = found.arrays["lists"]
    assert len(lists) == 20
    for row in range(20):
        own = set(on.own.item[on.own.row(row)].tolist())
        shown = [item for item in lists[row].tolist() if item >= 0]
        assert not own & set(shown)
        assert len(shown) == len(set(shown)) == min(30, 30 - len(own))


def test_looks_agree_with_a_plain_loop(found: Measured, on: Prepared) -> None:
    place = PLACES[0]
    row = found.arrays["lists"][3][:place]
    shown = row[row >= 0]
    share = np.maximum(on.counts, 0.5) / on.split.train.n_users
    assert found.arrays[f"novelty@{place}"][3] == pytest.approx(
        np.mean(-np.log2(share[shown])), rel=1e-5
    )
    own = share[on.own.item[on.own.row(3)]].mean()
    assert found.arrays[f"popularity_lift@{place}"][3] == pytest.approx(
        share[shown].mean() / own - 1, rel=1e-4
    )
    every = found.arrays["lists"][:, :place]
    distinct = len(set(every[every >= 0].tolist()))
    assert found.numbers[f"coverage@{place}"] == distinct / 30


def test_json_gives_the_same_back(found: Measured) -> None:
    again = Measured.from_json(found.to_json())
    assert again.numbers == found.numbers
    for name, sums in found.sums.items():
        assert again.sums[name].value() == sums.value()
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(unpack_array(pack_array(array)), array)


def test_liked_means_the_upper_quarter(on: Prepared) -> None:
    test = on.split.test
    liked: dict[int, set[int]] = {}
    for row in range(test.n_users):
        cells = test.row(row)
        high = test.value[cells] >= 4
        liked[row] = set(test.item[cells][high].tolist())
    for place, row in enumerate(on.listed.tolist()):
        first, last = on.relevant_ptr[place], on.relevant_ptr[place + 1]
        assert set(on.relevant_item[first:last].tolist()) == liked[row]


def test_lists_alike() -> None:
    one = np.array([[1, 2, 3, -1], [4, 5, 6, 7]], np.int32)
    other = np.array([[3, 9, -1, -1], [7, 6, 5, 4]], np.int32)
    assert overlap(one, other).tolist() == [1, 4]
    share, score = alike(one, other, 4)
    assert share.tolist() == [0.5, 1.0]
    assert score.tolist() == [2 / 5, 1.0]


def _silent() -> type:
    from tacit.evaluation.baselines import Simple

    class Silent(Simple):
        """Answers nothing for one item."""

        def predict_cells(self, cells):
            told = super().predict_cells(cells)
            told[0] = np.nan
            return told

    return Silent


def test_a_model_that_stays_silent_has_no_error(on: Prepared) -> None:
    flat = np.zeros(30)
    quiet = _silent()(flat, flat, user_shift=False, rates=True)
    assert "rmse" not in measured(quiet, on).sums


@pytest.mark.parametrize("threads", [2, 3, 200])
def test_what_is_measured_does_not_depend_on_threads(on: Prepared, threads: int) -> None:
    """Also where there are more threads than people, and people who are asked nothing."""
    model = trial(Bias(epsilon=5.0, delta=1e-6), on.split.train)
    one = measured(model.personal, on)
    more = measured(model.personal, on, threads=threads)
    assert one.to_json() == more.to_json()


def test_deciles_are_numpys_to_the_last_bit() -> None:
    shares = np.arange(1, 10) / 10
    for size in (1, 2, 7, 101):
        values = np.random.default_rng(size).exponential(size=size)
        told = _between(np.sort(values), shares)
        np.testing.assert_array_equal(told, np.quantile(values, shares))
