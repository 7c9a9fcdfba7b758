"""The integer Gram against plain numpy, and that nothing but the numbers decides a sum."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.kernels import gram


def people(
    seed: int, users: int, items: int, top: int, dtype: type = np.int16
) -> tuple[gram.Cells, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    dense = rng.integers(-top, top + 1, (users, items)) * (rng.random((users, items)) < 0.3)
    dense[0] = 0  # someone without a rating
    rated = dense != 0
    ptr = np.concatenate([[0], np.cumsum(rated.sum(1))]).astype(np.int64)
    item = np.nonzero(rated)[1].astype(np.uint32)
    return gram.arrange(ptr, item, dense[rated].astype(dtype), items), dense.astype(np.int64)


def whole(
    cells: gram.Cells, rows: int, weight: NDArray[np.int64] | None = None, threads: int = 1
) -> NDArray[np.int64]:
    out = np.full((cells.n_items, cells.n_items), -7, np.int64)

    def band(first: int, last: int) -> None:
        if weight is None:
            gram.factor_band(cells, first, last, out[first:last])
        else:
            gram.entry_band(cells, weight, first, last, out[first:last])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda ends: band(*ends), gram.bands(cells.n_items, rows)))
    return out


def test_factor_form_is_the_upper_triangle_of_the_product() -> None:
    cells, dense = people(0, 60, 41, 2000)
    assert np.array_equal(whole(cells, 7), np.triu(dense.T @ dense))


def test_entry_form_rounds_every_entry_of_every_person() -> None:
    cells, dense = people(1, 50, 33, 900)
    weight = np.random.default_rng(2).integers(1, 2**34, 50)
    expected = np.zeros((33, 33), np.int64)
    for row, scale in zip(dense.tolist(), weight.tolist(), strict=True):
        for i, x in enumerate(row):
            for j in range(i, 33):
                expected[i, j] += (
                    scale * x * row[j] + 2 ** (gram.SHIFT - 1)
                ) // 2**gram.SHIFT  # unbounded integers
    assert np.array_equal(whole(cells, 32, weight), expected)


@pytest.mark.parametrize(("rows", "threads"), [(1, 1), (5, 2), (64, 5)])
def test_bands_and_threads_change_nothing(rows: int, threads: int) -> None:
    cells, _ = people(3, 80, 37, 1000)
    assert np.array_equal(whole(cells, rows, threads=threads), whole(cells, 37))


def test_products_beyond_32_bits_are_exact() -> None:
    cells, dense = people(4, 40, 12, 2_000_000, np.int32)
    assert np.array_equal(whole(cells, 5), np.triu(dense.T @ dense))


def test_a_catalogue_beyond_16_bits_is_summed_alike() -> None:
    items, ptr = (np.array([3, 65_536, 69_999], np.uint32), np.array([0, 3], np.int64))
    cells = gram.arrange(ptr, items, np.array([2, -3, 5], np.int16), 70_000)
    out = np.empty((1, 70_000), np.int64)
    gram.factor_band(cells, 3, 4, out)
    assert out[0, items].tolist() == [4, -6, 10]
    assert np.count_nonzero(out) == 3


def test_work_counts_the_multiplications() -> None:
    cells, dense = people(5, 30, 20, 9)
    rated = (dense != 0).astype(np.int64)
    assert np.array_equal(gram.work_by_row(cells), np.triu(rated.T @ rated).sum(1))


def test_mirror_completes_the_matrix() -> None:
    full = np.random.default_rng(6).normal(size=(300, 300)).astype(np.float32)
    full = full + full.T
    upper = np.triu(full)
    gram.mirror(upper)
    assert np.array_equal(upper, full)


def test_bytes_needed_counts_outputs_and_one_band() -> None:
    assert gram.bytes_needed(1000, matrices=2, rows=32) == 2 * 4_000_000 + 32 * 8_000


def test_a_band_that_does_not_fit_is_refused() -> None:
    cells, _ = people(7, 5, 6, 3)
    with pytest.raises(SettingError, match="does not fit"):
        gram.factor_band(cells, 0, 3, np.zeros((2, 6), np.int64))


def test_one_weight_a_person_is_required() -> None:
    cells, _ = people(8, 5, 6, 3)
    with pytest.raises(SettingError, match="one weight a person"):
        gram.entry_band(cells, np.ones(4, np.int64), 0, 6, np.zeros((6, 6), np.int64))
