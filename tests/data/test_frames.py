"""Tables in memory: data frames of any library, parquet, sparse matrices."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.read import read
from tacit.errors import DataError, SettingError

DATA = {"user": [7, 7, 10], "item": ["b", "a", "a"], "rating": [4, 2, 5], "timestamp": [3, 2, 1]}
EXPECTED = {("7", "b"): 4.0, ("7", "a"): 2.0, ("10", "a"): 5.0}


def cells(ratings: Ratings) -> dict[tuple[str, str], float]:
    return {
        (ratings.users[int(u)], ratings.items[int(i)]): float(v)
        for u, i, v in zip(ratings.user, ratings.item, ratings.value, strict=True)
    }


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_any_frame(make: Any) -> None:
    ratings = read(make(DATA), (1, 5))
    assert cells(ratings) == EXPECTED
    assert ratings.time is not None
    assert ratings.time.tolist() == [2, 3, 1]


def test_parquet(tmp_path: Path) -> None:
    pl.DataFrame(DATA).write_parquet(tmp_path / "r.parquet")
    assert cells(read(tmp_path / "r.parquet", (1, 5))) == EXPECTED


def test_parquet_needs_a_scale(tmp_path: Path) -> None:
    pl.DataFrame(DATA).write_parquet(tmp_path / "r.parquet")
    with pytest.raises(SettingError, match=r"scale=\("):
        read(tmp_path / "r.parquet")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_dates(make: Any) -> None:
    frame = make({**DATA, "timestamp": [datetime(2005, 9, 6)] * 3})  # noqa: DTZ001
    time = read(frame, (1, 5)).time
    assert time is not None
    assert time.tolist() == [1125964800] * 3


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_text_and_category_ids(make: Any) -> None:
    frame = make({**DATA, "user": ["007", "007", "10"]})
    if isinstance(frame, pd.DataFrame):
        frame["item"] = frame["item"].astype("category")
    else:
        frame = frame.with_columns(pl.col("item").cast(pl.Categorical))
    assert cells(read(frame, (1, 5))) == {("007", "b"): 4.0, ("007", "a"): 2.0, ("10", "a"): 5.0}


def test_whole_floats_are_integers() -> None:
    assert cells(read(pd.DataFrame({**DATA, "user": [7.0, 7.0, 10.0]}), (1, 5))) == EXPECTED


def test_negative_integer_ids() -> None:
    assert cells(read(pl.DataFrame({**DATA, "user": [-7, -7, 10]}), (1, 5)))[("-7", "b")] == 4.0


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("rating", [4.0, None, 5.0], "row 2, column rating: an empty cell"),
        ("rating", [4.0, float("inf"), 5.0], "row 2, column rating: the rating is NaN or infinite"),
        ("rating", [4.0, 54321.0, 5.0], "row 2, column rating: the rating is outside"),
        ("rating", ["4", "54321x", "5"], "row 2, column rating: text where a number belongs"),
        ("user", [1.0, None, 5.0], "row 2, column user: an empty cell"),
        ("item", ["a", None, "b"], "row 2, column item: an empty cell"),
        ("user", [1.5, 2.0, 3.0], "holds fractions"),
    ],
)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_bad_cells(make: Any, column: str, values: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(make({**DATA, column: values}), (1, 5))
    assert "54321" not in str(caught.value)


@pytest.mark.parametrize("cell", ["\ud800x", 10**5000], ids=["half a letter", "digits"])
def test_a_cell_that_has_no_text(cell: object) -> None:
    """Python's own errors would show it."""
    frame = pd.DataFrame({**DATA, "user": pd.Series([7, cell, "b"], dtype=object)})
    with pytest.raises(DataError, match="row 2, column user: a cell that cannot be written"):
        read(frame, (1, 5))


def test_an_empty_frame() -> None:
    with pytest.raises(DataError, match="no row"):
        read(pl.DataFrame({"user": [], "item": [], "rating": []}), (1, 5))


def test_a_missing_column() -> None:
    with pytest.raises(DataError, match=r"missing column.*item"):
        read(pl.DataFrame({"user": [1], "rating": [2]}), (1, 5))


MATRIX = np.array([[0, 3, 0], [0, 0, 0], [1, 5, 0]])


@pytest.mark.parametrize(
    "make", [sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_matrix, sp.dok_array]
)
def test_sparse(make: Any) -> None:
    ratings = read(make(MATRIX), (1, 5))
    assert cells(ratings) == {("0", "1"): 3.0, ("2", "0"): 1.0, ("2", "1"): 5.0}
    assert list(ratings.items) == ["0", "1", "2"]


def test_sparse_columns_are_the_catalogue() -> None:
    ratings = read(sp.csr_array(MATRIX), (1, 5), items=Catalogue(["a", "b", "c"]))
    assert cells(ratings) == {("0", "b"): 3.0, ("2", "a"): 1.0, ("2", "b"): 5.0}
    with pytest.raises(DataError, match="3 columns and the catalogue 2 items"):
        read(sp.csr_array(MATRIX), (1, 5), items=Catalogue(["a", "b"]))


def test_sparse_likes() -> None:
    assert cells(read(sp.csr_array(MATRIX), positive=True)) == {
        ("0", "1"): 1.0,
        ("2", "0"): 1.0,
        ("2", "1"): 1.0,
    }
    assert cells(read(sp.csr_array(MATRIX), (1, 5), positive=3)) == {
        ("0", "1"): 3.0,
        ("2", "1"): 5.0,
    }


def test_sparse_off_the_scale() -> None:
    with pytest.raises(DataError, match=r"row 2, column 1.*outside the scale"):
        read(sp.csr_array(MATRIX), (1, 4))


class Streamed:
    """What only hands its columns over by the Arrow interface."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class Distant:
    """A frame that is somewhere else until it is fetched."""

    def __init__(self, frame: object) -> None:
        self.frame = frame

    def toPandas(self) -> object:  # noqa: N802 as Spark spells it
        return self.frame


@pytest.mark.parametrize(
    "source", [Streamed(pa.table(DATA)), Distant(pd.DataFrame(DATA))], ids=["arrow", "fetched"]
)
def test_frames_of_other_libraries(source: object) -> None:
    assert cells(read(source, (1, 5))) == EXPECTED


@pytest.mark.parametrize(
    "source",
    [pa.array([1, 2]), pd.Series([1, 2]), pl.Series([1, 2]), pd.DataFrame],
    ids=["array", "pandas column", "polars column", "class"],
)
def test_columns_and_classes_are_no_frames(source: object) -> None:
    with pytest.raises(SettingError, match="can be read from an object"):
        read(source, (1, 5))


def test_pandas_ids_beyond_a_signed_integer() -> None:
    user = pd.array([2**64 - 1, 7, 7], "UInt64")
    found = cells(read(pd.DataFrame({**DATA, "user": user}), (1, 5)))
    assert found[(str(2**64 - 1), "b")] == 4.0


def test_pandas_columns_of_one_name() -> None:
    frame = pd.DataFrame([[1, "a", 3, 4]], columns=["user", "item", "x", "x"])
    with pytest.raises(DataError, match="two columns are called x"):
        read(frame, (1, 5))


def test_a_notebook_is_told_which_columns_were_read() -> None:
    shown = read(pl.DataFrame({**DATA, "<b>": [1, 2, 3]}), (1, 5))._repr_html_()
    assert "read user from `user`, item from `item`" in shown
    assert "not read: `&lt;b&gt;`" in shown
