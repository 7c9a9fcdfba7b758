"""Catalogues: known layouts, any table, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tacit.data.catalogue import Catalogue
from tacit.data.reading.items import GENRES_100K, read_items
from tacit.errors import DataError, SettingError


def tags(catalogue: Catalogue, row: int) -> set[str]:
    assert catalogue.tagged is not None
    return {name for name, flag in zip(catalogue.tags, catalogue.tagged[row], strict=True) if flag}


def years(catalogue: Catalogue) -> list[int]:
    assert catalogue.years is not None
    return [int(year) for year in catalogue.years]


def put(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def u_item(identity: int, title: str, *genres: str) -> str:
    flags = "|".join("1" if name in genres else "0" for name in GENRES_100K)
    return f"{identity}|{title}|01-Jan-1995||http://x|{flags}\n"


def test_movielens_100k(tmp_path: Path) -> None:
    text = u_item(1, "Toy Story (1995)", "Animation", "Comedy") + u_item(
        2, "Misérables, Les (1995)", "unknown"
    )
    for source in (put(tmp_path / "u.item", text, "latin-1"), tmp_path):
        found = read_items(source)
        assert list(found.ids) == ["1", "2"]
        assert found.titles == ["Toy Story (1995)", "Misérables, Les (1995)"]
        assert years(found) == [1995, 1995]
        assert (tags(found, 0), tags(found, 1)) == ({"Animation", "Comedy"}, set())


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_movielens_1m(tmp_path: Path, encoding: str) -> None:
    text = '1::Toy Story (1995)::Animation|Children\'s\n02::Café: a "film" (2000)::Drama\n'
    found = read_items(put(tmp_path / "movies.dat", text, encoding))
    assert list(found.ids) == ["1", "02"]
    assert found.titles == ["Toy Story (1995)", 'Café: a "film" (2000)']
    assert years(found) == [1995, 2000]
    assert tags(found, 0) == {"Animation", "Children's"}


def test_movielens_csv(tmp_path: Path) -> None:
    text = (
        'movieId,title,genres\r\n1,"American President, The '
        '(1995)",Comedy|Drama\r\n2,Odd,(no genres listed)\r\n'
    )
    found = read_items(put(tmp_path / "movies.csv", text))
    assert found.titles == ["American President, The (1995)", "Odd"]
    assert years(found) == [1995, 0]
    assert (tags(found, 0), tags(found, 1)) == ({"Comedy", "Drama"}, set())
    assert found.by_title["the american president"] == [0]


def test_netflix(tmp_path: Path) -> None:
    text = '1,2003,Dinosaur Planet\n2,NULL,Café, and so on, "quoted\n3,1997,Character\n'
    for name in ("movie_titles.txt", "movie_titles.csv"):
        found = read_items(put(tmp_path / name, text, "latin-1"))
        assert list(found.ids) == ["1", "2", "3"]
        assert found.titles == ["Dinosaur Planet", 'Café, and so on, "quoted', "Character"]
        assert years(found) == [2003, 0, 1997]


def test_any_csv(tmp_path: Path) -> None:
    text = "item;name;released;tags;length;score;imdb_id;note\n"
    text += "a;Heat;1995-12-15;x|y;170;;113277;long\nb;Alien;;y;117;8.5;78748;\n"
    found = read_items(put(tmp_path / "things.csv", text))
    assert list(found.ids) == ["a", "b"]
    assert found.titles == ["Heat", "Alien"]
    assert years(found) == [1995, 0]
    assert list(found.tags) == ["x", "y"]
    assert list(found.numbers) == ["length", "score"]
    assert found.numeric is not None
    np.testing.assert_array_equal(found.numeric, np.array([[170, np.nan], [117, 8.5]], np.float32))


def test_ids_only(tmp_path: Path) -> None:
    found = read_items(put(tmp_path / "ids.txt", "0104257\n17\nx y\n"))
    assert list(found.ids) == ["0104257", "17", "x y"]
    assert not found.has_features


def test_without_a_header(tmp_path: Path) -> None:
    found = read_items(
        put(tmp_path / "i.csv", "7,Heat (1995),Crime|Drama\n8,Alien (1979),Horror\n")
    )
    assert found.titles == ["Heat (1995)", "Alien (1979)"]
    assert list(found.tags) == ["Crime", "Drama", "Horror"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames(make: type) -> None:
    found = read_items(
        make({"item_id": [3, 1], "title": ["A", "B"], "year": [1999, 2001], "weight": [0.5, 2.0]})
    )
    assert list(found.ids) == ["3", "1"]
    assert years(found) == [1999, 2001]
    assert list(found.numbers) == ["weight"]


def test_lists_of_tags_in_a_frame() -> None:
    found = read_items(pl.DataFrame({"id": ["a", "b"], "genres": [["x", "y"], []]}))
    assert (tags(found, 0), tags(found, 1)) == ({"x", "y"}, set())


def test_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["a", "b"], "title": ["A", "B"]}).write_parquet(tmp_path / "i.parquet")
    assert list(read_items(tmp_path / "i.parquet").ids) == ["a", "b"]


def test_repeated_ids_name_both_lines(tmp_path: Path) -> None:
    path = put(tmp_path / "i.csv", "id,title\na,A\nb,B\n\na,C\n")
    with pytest.raises(DataError, match="line 5: the id of line 2 is repeated"):
        read_items(path)


def test_repeated_ids_in_a_frame() -> None:
    with pytest.raises(DataError, match="row 3: the id of row 1 is repeated"):
        read_items(pl.DataFrame({"id": ["a", "b", "a"]}))


def test_no_id_column(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="missing column"):
        read_items(put(tmp_path / "i.csv", "title,year\nA,1990\n"))


def test_an_empty_id(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 3: an item without an id"):
        read_items(put(tmp_path / "i.csv", "id,title\na,A\n,B\n"))


def test_empty_and_header_only(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is empty"):
        read_items(put(tmp_path / "a.csv", "\n"))
    with pytest.raises(DataError, match="no row of data"):
        read_items(put(tmp_path / "b.csv", "id,title\n"))


def test_an_unknown_layout(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="ml-100k"):
        read_items(put(tmp_path / "a.csv", "id\n1\n"), layout="imdb")


@pytest.mark.parametrize(("name", "count", "genres"), [("ml-100k", 1682, 18), ("ml-1m", 3883, 18)])
def test_real_data(public_data: Path, name: str, count: int, genres: int) -> None:
    if not (public_data / name).is_dir():
        pytest.skip(f"there is no {name} in TACIT_DATA")
    found = read_items(public_data / name)
    assert (len(found), len(found.tags)) == (count, genres)


def test_ids_in_a_column_that_is_named() -> None:
    frame = pl.DataFrame({"thing_key": ["a", "b"], "description": ["Tea", "Brie"]})
    with pytest.raises(DataError, match="names no item"):
        read_items(frame)
    found = read_items(frame, item="thing_key")
    assert list(found.ids) == ["a", "b"]
    assert found.titles == ["Tea", "Brie"]
