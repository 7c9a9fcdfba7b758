"""Plain text in every writing: the same five ratings come out."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.read import read
from tacit.errors import DataError, SettingError

ROWS = [
    ("7", "20", "4", "100"),
    ("7", "3", "2", "200"),
    ("10", "3", "5", "50"),
    ("2", "20", "1", "60"),
]


def cells(ratings: Ratings) -> dict[tuple[str, str], float]:
    return {
        (ratings.users[int(u)], ratings.items[int(i)]): float(v)
        for u, i, v in zip(ratings.user, ratings.item, ratings.value, strict=True)
    }


EXPECTED = {("7", "20"): 4.0, ("7", "3"): 2.0, ("10", "3"): 5.0, ("2", "20"): 1.0}


def text(delimiter: str, end: str = "\n", header: str | None = None, quote: str = "") -> str:
    lines = [delimiter.join(f"{quote}{cell}{quote}" for cell in row) for row in ROWS]
    return "".join(line + end for line in ([header] if header else []) + lines)


def write(folder: Path, content: str | bytes, name: str = "r.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "delimiter", [",", "\t", ";", "|", "::", " ", "   ", "\t \t", ":", "^", "~", "#"]
)
def test_any_delimiter(tmp_path: Path, delimiter: str) -> None:
    assert cells(read(write(tmp_path, text(delimiter)), (1, 5))) == EXPECTED


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end(tmp_path: Path, end: str) -> None:
    assert cells(read(write(tmp_path, text(",", end)), (1, 5))) == EXPECTED


def test_mixed_line_ends_and_no_final_one(tmp_path: Path) -> None:
    content = "user,item,rating\r\n7,20,4\n7,3,2\r\n10,3,5\r2,20,1"
    assert cells(read(write(tmp_path, content), (1, 5))) == EXPECTED


@pytest.mark.parametrize(
    "header",
    [
        "user,item,rating,timestamp",
        "USER_ID,Item-Id,Stars,Date",
        "userId,movieId,rating,timestamp",
        "person,isbn,score,time",
        "reviewerID,asin,overall,unixReviewTime",
    ],
)
def test_usual_header_names(tmp_path: Path, header: str) -> None:
    assert cells(read(write(tmp_path, text(",", header=header)), (1, 5))) == EXPECTED


def test_columns_in_another_order_among_others(tmp_path: Path) -> None:
    rows = "\n".join(f"{r},x,{i},{u},y" for u, i, r, _ in ROWS)
    path = write(tmp_path, "stars,note,movie_id,customer,other\n" + rows)
    assert cells(read(path, (1, 5))) == EXPECTED


def test_columns_may_be_named_by_the_caller(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b,c,d\n" + text(","))
    assert cells(read(path, (1, 5), columns={"user": "a", "item": "b", "rating": "c"})) == EXPECTED


def test_columns_may_be_numbered_from_one(tmp_path: Path) -> None:
    path = write(tmp_path, "\n".join(f"{r},{i},{u}" for u, i, r, _ in ROWS))
    assert cells(read(path, (1, 5), columns={"user": 3, "item": 2, "rating": 1})) == EXPECTED


def test_quotes(tmp_path: Path) -> None:
    assert cells(read(write(tmp_path, text(",", quote='"')), (1, 5))) == EXPECTED


def test_quoted_text_may_hold_delimiters_quotes_and_line_ends(tmp_path: Path) -> None:
    content = 'user,item,rating,review\na,"x, ""y""",3,"two\nlines"\nb,"x, ""y""",4,\n'
    assert cells(read(write(tmp_path, content), (1, 5))) == {
        ("a", 'x, "y"'): 3.0,
        ("b", 'x, "y"'): 4.0,
    }


def test_a_stray_quote_is_a_character(tmp_path: Path) -> None:
    path = write(tmp_path, 'user,item,rating\n1,5" disc,3\n2,"a",4\n')
    assert cells(read(path, (1, 5))) == {("1", '5" disc'): 3.0, ("2", "a"): 4.0}


def test_byte_order_mark(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + text(",", header="user,item,rating,time").encode()
    assert cells(read(write(tmp_path, content), (1, 5))) == EXPECTED


def test_byte_order_mark_without_a_header(tmp_path: Path) -> None:
    assert cells(read(write(tmp_path, b"\xef\xbb\xbf" + text(",").encode()), (1, 5))) == EXPECTED


def test_blank_lines_and_blanks_around_fields(tmp_path: Path) -> None:
    content = "\n" + text(" , ", end="\n\n") + "   \n"
    assert cells(read(write(tmp_path, content), (1, 5))) == EXPECTED


def test_gzip(tmp_path: Path) -> None:
    assert (
        cells(read(write(tmp_path, gzip.compress(text(",").encode()), "r.csv.gz"), (1, 5)))
        == EXPECTED
    )


def test_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "r.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.csv", text(","))
    assert cells(read(tmp_path / "r.zip", (1, 5))) == EXPECTED


def test_ids_are_text_as_written(tmp_path: Path) -> None:
    path = write(tmp_path, "1,0104257,3\n02,104258,4\n+3,x,5\n")
    assert cells(read(path, (1, 5))) == {
        ("1", "0104257"): 3.0,
        ("02", "104258"): 4.0,
        ("+3", "x"): 5.0,
    }


def test_ids_beyond_32_bits(tmp_path: Path) -> None:
    path = write(tmp_path, "99999999999999999999,4294967296,3\n4294967295,1,4\n")
    assert cells(read(path, (1, 5))) == {
        ("99999999999999999999", "4294967296"): 3.0,
        ("4294967295", "1"): 4.0,
    }


def test_integer_ids_are_in_natural_order(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, text(",")), (1, 5))
    assert list(ratings.users) == ["2", "7", "10"]
    assert list(ratings.items) == ["3", "20"]


def test_text_ids_are_in_the_order_of_text(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, "b,10,3\na,x,3\n"), (1, 5))
    assert list(ratings.users) == ["a", "b"]
    assert list(ratings.items) == ["10", "x"]


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    lines = text(",").splitlines(True)
    one = read(write(tmp_path, "".join(lines), "a.csv"), (1, 5))
    two = read(write(tmp_path, "".join(reversed(lines)), "b.csv"), (1, 5))
    assert (one.ptr.tolist(), one.item.tolist(), one.value.tolist()) == (
        two.ptr.tolist(),
        two.item.tolist(),
        two.value.tolist(),
    )


def test_items_ascend_in_each_row(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, text(",")), (1, 5))
    assert all(
        np.all(np.diff(ratings.item[ratings.row(u)].astype(int)) > 0)
        for u in range(ratings.n_users)
    )


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("1125964800", 1125964800),
        ("1125964800.5", 1125964800),
        ("-86400", -86400),
        ("2005-09-06", 1125964800),
        ("2005-09-06 00:00:01", 1125964801),
        ("2005-09-06T00:00:01", 1125964801),
        ("2005-09-06T02:00:01+02:00", 1125964801),
        ("2005-09-06T00:00:01.250Z", 1125964801),
    ],
)
def test_times_become_seconds(tmp_path: Path, stamp: str, seconds: int) -> None:
    ratings = read(write(tmp_path, f"1,2,3,{stamp}\n2,2,3,{stamp}\n"), (1, 5))
    assert ratings.time is not None
    assert ratings.time.tolist() == [seconds, seconds]


def test_duplicates_the_latest_wins(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, "1,2,3,50\n1,2,4,90\n1,2,5,90\n1,2,1,10\n2,2,2,1\n"), (1, 5))
    assert cells(ratings) == {("1", "2"): 5.0, ("2", "2"): 2.0}
    assert ratings.notes.duplicates == 3
    assert ratings.time is not None
    assert ratings.time.tolist() == [90, 1]


def test_duplicates_without_times_the_last_wins(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, "1,2,3\n2,2,2\n1,2,4\n"), (1, 5))
    assert cells(ratings) == {("1", "2"): 4.0, ("2", "2"): 2.0}


def test_duplicates_mean(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, "1,2,3\n2,2,2\n1,2,4\n1,3,1\n"), (1, 5), duplicates="mean")
    assert cells(ratings) == {("1", "2"): 3.5, ("1", "3"): 1.0, ("2", "2"): 2.0}


def test_duplicates_error_names_lines_only(tmp_path: Path) -> None:
    path = write(tmp_path, "user,item,rating\n\n1,777,3\n2,777,2\n1,777,4\n")
    with pytest.raises(DataError, match="line 3 and line 5") as caught:
        read(path, (1, 5), duplicates="error")
    assert "777" not in str(caught.value)


def test_a_catalogue_sets_the_items_and_drops_others(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, text(",")), (1, 5), items=Catalogue(["99", "20", "1"]))
    assert list(ratings.items) == ["99", "20", "1"]
    assert cells(ratings) == {("7", "20"): 4.0, ("2", "20"): 1.0}
    assert ratings.notes.dropped_items == 2
    assert list(ratings.users) == ["2", "7"]


def test_likes_need_no_rating_and_no_scale(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, "user,item\n1,2\n2,3\n"), positive=True)
    assert cells(ratings) == {("1", "2"): 1.0, ("2", "3"): 1.0}
    assert (ratings.schema.low, ratings.schema.high, ratings.schema.positive) == (0, 1, 1.0)


def test_likes_from_a_least_rating(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, text(",")), (1, 5), positive=4)
    assert cells(ratings) == {("7", "20"): 4.0, ("10", "3"): 5.0}
    assert ratings.schema.positive == 4
    assert "2 ratings below 4" in ratings.notes.messages[0]


def test_a_like_taken_back_is_no_like(tmp_path: Path) -> None:
    path = write(tmp_path, "1,2,5,10\n1,2,1,20\n2,2,5,1\n3,2,4,1\n")
    assert cells(read(path, (1, 5), positive=4)) == {("2", "2"): 5.0, ("3", "2"): 4.0}


def test_the_least_rating_itself_is_a_like(tmp_path: Path) -> None:
    path = write(tmp_path, "1,2,3.3\n2,2,3.3\n3,2,3.2\n")
    assert list(read(path, (1, 5), positive=3.3).users) == ["1", "2"]


def test_likes_of_rated_data_ask_from_where(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="positive=4"):
        read(write(tmp_path, text(",")), (1, 5), positive=True)


def test_the_declared_number_of_people_is_in_the_schema(tmp_path: Path) -> None:
    assert read(write(tmp_path, text(",")), (1, 5), users=1000).schema.users == 1000


def test_large_files_take_the_byte_parser_and_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.data.reading import delimited, files

    rng = np.random.default_rng(3)
    user = rng.integers(1, 90, 4000)
    item = rng.integers(1, 40, 4000)
    half = rng.integers(1, 11, 4000)
    rows = [f"{user[k]},{item[k]},{half[k] / 2},{k}\n" for k in range(4000)]
    content = "user,item,rating,time\n" + "".join(rows)
    path = write(tmp_path, content)
    slow = read(path, (0.5, 5))
    monkeypatch.setattr(files.text_chunks, "__defaults__", (2000,))
    monkeypatch.setattr(delimited, "PATIENCE", 0)
    fast = read(path, (0.5, 5))
    for name in ("ptr", "item", "value", "time"):
        np.testing.assert_array_equal(getattr(slow, name), getattr(fast, name))
    assert (slow.users, slow.items, slow.notes) == (fast.users, fast.items, fast.notes)


def test_a_text_id_late_in_a_large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.data.reading import delimited, files

    rows = [(str(k % 50), str(k % 7), 3) for k in range(2000)]
    rows[1500] = ("050", "x", 4)
    path = write(tmp_path, "".join(f"{u},{i},{r}\n" for u, i, r in rows))
    monkeypatch.setattr(files.text_chunks, "__defaults__", (1000,))
    monkeypatch.setattr(delimited, "PATIENCE", 0)
    found = cells(read(path, (1, 5)))
    assert found == {(u, i): float(r) for u, i, r in rows}
