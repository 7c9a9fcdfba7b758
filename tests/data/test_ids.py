"""Who is one person is settled at the border: an id is its text."""

from __future__ import annotations

import gzip
import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.data.catalogue import Catalogue
from tacit.data.ids import clean, in_order, number_key, other_spelling
from tacit.data.read import read
from tacit.data.reading.items import read_items
from tacit.errors import DataError

COMPOSED = "Ren\u00e9"
HELD_OUT = "Rene\u0301"


def put(folder: Path, text: str, name: str = "r.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("other", [HELD_OUT, f" {COMPOSED}", f"{COMPOSED}\u00a0"])
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
def test_an_id_is_its_text_in_every_form(tmp_path, role, other):
    """A column never becomes numbers because its rows look like some."""
    rows = [["7", "x"], ["1", "y"], ["8", "x"], [other, "z"], ["9", "x"]]
    if role == "item":
        rows = [row[::-1] for row in rows]
    wanted = sorted({row[role == "item"] for row in rows})
    text = "user,item,rating\n\n" + "".join(f"{u},{i},3\n" for u, i in rows)
    packed = tmp_path / "r.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    frame = pl.DataFrame(rows, schema=["user", "item"], orient="row")
    frame = frame.with_columns(rating=pl.lit(3))
    frame.write_parquet(tmp_path / "r.parquet")
    pandas = pd.DataFrame(rows, columns=["user", "item"]).assign(rating=3)
    tacit.pack(frame, tmp_path / "r.tacit", (1, 5))
    whole = (tmp_path / "r.tacit", None)
    sources = [put(tmp_path, text), packed, frame, tmp_path / "r.parquet", pandas]
    for source, scale in [*((each, (1, 5)) for each in sources), whole]:
        assert sorted(getattr(read(source, scale), f"{role}s")) == wanted


def test_hexadecimal_ids_are_read(tmp_path):
    """Some of 20,000 of eight digits look like powers of ten."""
    ids = [f"{k:08x}" for k in range(0x0E268970, 0x0E268990)] + ["0e268977", "0e000001", "00e00001"]
    text = "user,item,rating\n" + "".join(f"{k},{k},3\n" for k in ids)
    assert set(read(put(tmp_path, text), (1, 5)).users) == set(ids)


@given(st.lists(st.sampled_from("0 00 1 01 2 10 a 1a é x-1 1.0 1e3".split()), unique=True))
def test_where_an_id_stands_depends_on_it_alone(ids):
    ordered = [ids[k] for k in in_order(ids)]
    every = "0 00 1 01 2 10 a 1a é x-1 1.0 1e3".split()
    whole = [every[k] for k in in_order(every)]
    assert ordered == [name for name in whole if name in ids]


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


def test_items_of_another_text_are_not_those_of_the_catalogue(tmp_path):
    text = "user,item,rating\nx,01,3\ny,2,3\nz,2,3\n"
    found = read(put(tmp_path, text), (1, 5), items=Catalogue(["1", "2"]))
    assert found.notes.dropped_items == 1


def test_a_catalogue_lists_no_id_twice(tmp_path):
    path = put(tmp_path, "id,title\n1,Heat\n2,Alien\n01,Heat again\n")
    assert list(read_items(path).ids) == ["1", "2", "01"]
    path = put(tmp_path, f"id,title\n{COMPOSED},Heat\n{HELD_OUT},Alien\n")
    with pytest.raises(DataError, match="the id of line 2 is repeated"):
        read_items(path)
    path = put(tmp_path, 'id,title\n1,Heat\n"2\n3",Alien\n')
    with pytest.raises(DataError, match="line 3: a control character"):
        read_items(path)


@given(st.text())
def test_the_rule_settles(text):
    assert clean(clean(text)) == clean(text)


@given(st.integers(-(10**30), 10**30), st.integers(0, 5), st.integers(0, 5))
def test_equal_numbers_have_equal_keys(number, zeros, decimals):
    sign, digits = ("-", str(-number)) if number < 0 else ("", str(number))
    written = f"{sign}{'0' * zeros}{digits}.{'0' * decimals}"
    assert number_key(written) == number_key(str(number))
    if written != str(number):
        assert other_spelling([written], [str(number)]) == (written, str(number))


@pytest.mark.parametrize(
    "text", ["", ".", "e5", "1_0", "abc", "1e", "0e268977", "1e3", "0x1", "١", "1 1"]
)
def test_other_texts_are_no_numbers(text):
    assert number_key(text) is None
