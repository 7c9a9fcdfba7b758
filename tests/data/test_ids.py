"""Who is one person is settled at the border (issue: one number written in several ways)."""

from __future__ import annotations

import gzip
import unicodedata
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tacit.data.catalogue import Catalogue
from tacit.data.ids import clean, number_key, two_ways
from tacit.data.layouts import named
from tacit.data.read import read
from tacit.data.reading.items import read_items
from tacit.errors import DataError

COMPOSED = "Ren\u00e9"
APART = "Rene\u0301"


def put(folder: Path, text: str, name: str = "r.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("other", [APART, f" {COMPOSED}", f"{COMPOSED}\u00a0"])
def test_one_person_in_two_writings_is_one_person(tmp_path, other):
    text = f"user,item,rating\n{COMPOSED},a,1\n{other},b,2\nmax,a,3\n"
    ratings = read(put(tmp_path, text), (1, 5))
    assert list(ratings.users) == [unicodedata.normalize("NFC", COMPOSED), "max"]
    frame = pl.DataFrame(
        {"user": [COMPOSED, other, "max"], "item": ["a", "b", "a"], "rating": [1, 2, 3]}
    )
    assert list(read(frame, (1, 5)).users) == list(ratings.users)


@pytest.mark.parametrize("other", ["01", "1.0", "+1", "1.", "1e0", "10e-1", "0001.00"])
@pytest.mark.parametrize("role", ["user", "item"])
def test_one_number_in_two_ways_is_refused_with_both_places(tmp_path, role, other):
    """1, 1.0 and 01 are not two people, nor two items."""
    rows = [["7", "x"], ["1", "y"], ["8", "x"], [other, "z"], ["9", "x"]]
    if role == "item":
        rows = [row[::-1] for row in rows]
    text = "user,item,rating\n\n" + "".join(f"{u},{i},3\n" for u, i in rows)
    with pytest.raises(DataError, match="lines 4 and 6 denote one number"):
        read(put(tmp_path, text), (1, 5))
    packed = tmp_path / "r.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(DataError, match="lines 4 and 6 denote one number"):
        read(packed, (1, 5))
    frame = pl.DataFrame(rows, schema=["user", "item"], orient="row")
    frame = frame.with_columns(rating=pl.lit(3))
    with pytest.raises(DataError, match="rows 2 and 4 denote one number"):
        read(frame, (1, 5))
    frame.write_parquet(tmp_path / "r.parquet")
    with pytest.raises(DataError, match="rows 2 and 4 denote one number"):
        read(tmp_path / "r.parquet", (1, 5))


def test_the_refusal_quotes_no_cell(tmp_path):
    text = "user,item,rating\n4711,a,3\n04711,a,3\n"
    with pytest.raises(DataError) as refused:
        read(put(tmp_path, text), (1, 5))
    assert "4711" not in str(refused.value)


def test_an_invisible_id_is_no_id(tmp_path):
    text = "user,item,rating\nx,a,3\n\u200b\u00a0,a,3\n"
    with pytest.raises(DataError, match=r"line 3.*an empty cell"):
        read(put(tmp_path, text), (1, 5))


def test_floats_that_cannot_tell_people_apart_are_refused():
    frame = pl.DataFrame({"user": [2.0**53, 2.0**53 + 2], "item": [1, 2], "rating": [1, 2]})
    with pytest.raises(DataError, match="cannot tell apart"):
        read(frame, (1, 5))


def test_rows_of_a_matrix_are_people_by_position():
    ratings = read(sp.csr_matrix(np.eye(3)), (1, 5))
    assert list(ratings.users) == ["0", "1", "2"]


def test_items_are_written_as_in_the_catalogue(tmp_path):
    text = "user,item,rating\nx,01,3\ny,2,3\n"
    with pytest.raises(DataError, match="one of the catalogue denote one number"):
        read(put(tmp_path, text), (1, 5), items=Catalogue(["1", "2"]))
    with pytest.raises(DataError, match="one of the catalogue denote one number"):
        read(put(tmp_path, text), (1, 5), items=Catalogue(["1.0", "2.0"]))


def test_a_catalogue_lists_no_number_twice(tmp_path):
    path = put(tmp_path, "id,title\n1,Heat\n2,Alien\n01,Heat again\n")
    with pytest.raises(DataError, match="lines 2 and 4 denote one number"):
        read_items(path)
    path = put(tmp_path, f"id,title\n{COMPOSED},Heat\n{APART},Alien\n")
    with pytest.raises(DataError, match="the id of line 2 is repeated"):
        read_items(path)


def test_isbns_only_look_like_numbers(tmp_path):
    assert named("book-crossing").item_text
    text = '"User-ID";"ISBN";"Book-Rating"\n"1";"0195153448";"5"\n"2";"195153448";"7"\n'
    ratings = read(put(tmp_path, text, "BX-Book-Ratings.csv"))
    assert set(ratings.items) == {"0195153448", "195153448"}


@given(st.text())
def test_the_rule_settles(text):
    assert clean(clean(text)) == clean(text)


@given(st.integers(-(10**30), 10**30), st.integers(0, 5), st.integers(0, 5))
def test_equal_numbers_have_equal_keys(number, zeros, decimals):
    sign, digits = ("-", str(-number)) if number < 0 else ("", str(number))
    written = f"{sign}{'0' * zeros}{digits}.{'0' * decimals}"
    assert number_key(written) == number_key(str(number))
    if written != str(number):
        assert two_ways([written, str(number)]) is not None


@given(st.sets(st.integers(-(10**12), 10**12).map(str), max_size=50))
def test_different_numbers_are_different(ids):
    assert two_ways(ids) is None


@pytest.mark.parametrize("text", ["", ".", "e5", "1_0", "abc", "1e", "0x1", "١", "1 1"])
def test_other_texts_are_no_numbers(text):
    assert number_key(text) is None


def test_very_long_numbers_are_compared_soon():
    assert two_ways(["1" * 100_000, "1" * 100_000 + ".0", "1e999999999"])
