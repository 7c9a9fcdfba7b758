"""`scripts/speed` tells a change from noise, whichever checkout comes first."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from speeding.rule import Change  # noqa: E402
from speeding.shapes import SHAPES  # noqa: E402


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ([10.0, 10.1, 9.9], [10.2, 10.4, 10.3], ""),  # 3 %: no change worth a word
        ([10.0, 10.1, 9.9], [12.0, 12.1, 11.9], "more"),
        ([7.0, 10.0, 13.0], [12.0, 12.1, 11.9], ""),  # the old one's own runs differ by more
        ([10.0, 10.1, 9.9], [9.0, 12.0, 15.0], ""),
        ([7.5, 7.6, 7.4], [16.5, 15.0, 17.0], "more"),  # seen: what choices imply
    ],
)
def test_more_is_more_beyond_noise_and_less_from_the_other_side(old, new, verdict):
    assert Change.of(old, new).verdict == verdict
    assert Change.of(new, old).verdict == ("less" if verdict else "")


def test_one_run_that_was_disturbed_moves_no_median():
    assert Change.of([10.0, 10.0, 30.0], [10.0, 10.0, 10.0]).ratio == 1


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_table_has_the_shape_that_it_is_named_for(shape, tmp_path):
    small = shape.quick()
    for name in ("one", "two"):
        small.write(tmp_path / name)
    table = pl.read_parquet(tmp_path / "one")
    assert table.equals(pl.read_parquet(tmp_path / "two"))  # both checkouts have the same
    assert table["user"].n_unique() == small.people
    assert not table.select("user", "item").is_duplicated().any()
    assert 0.4 * small.each < len(table) / small.people < small.each + 2
    assert set(table["rating"].unique()) <= {1, 2, 3, 4, 5}
