"""Plain text in every writing: the same five ratings come out."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path
from typing import Any

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


HEADLESS: dict[str, Any] = {"header": False, "columns": {"user": 1, "item": 2, "rating": 3}}
TIMED: dict[str, Any] = {"header": False, "columns": {"user": 1, "item": 2, "rating": 3, "time": 4}}
"""What is declared of a table without a header."""
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
    header = delimiter.join(["user", "item", "rating", "time"])
    assert cells(read(write(tmp_path, text(delimiter, header=header)), (1, 5))) == EXPECTED
    if not delimiter.isspace() or len(delimiter) == 1:
        path = write(tmp_path, text(delimiter))
        assert cells(read(path, (1, 5), delimiter=delimiter, **HEADLESS)) == EXPECTED


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end(tmp_path: Path, end: str) -> None:
    assert cells(read(write(tmp_path, text(",", end)), (1, 5), **TIMED)) == EXPECTED


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
    assert (
        cells(read(path, (1, 5), header=False, columns={"user": 3, "item": 2, "rating": 1}))
        == EXPECTED
    )


def test_quotes(tmp_path: Path) -> None:
    assert cells(read(write(tmp_path, text(",", quote='"')), (1, 5), **TIMED)) == EXPECTED


def test_quoted_text_may_hold_delimiters_and_quotes(tmp_path: Path) -> None:
    content = 'user,item,rating,review\na,"x, ""y""",3,"two, three"\nb, "x, ""y""" ,4,\n'
    assert cells(read(write(tmp_path, content), (1, 5))) == {
        ("a", 'x, "y"'): 3.0,
        ("b", 'x, "y"'): 4.0,
    }


@pytest.mark.parametrize("many", [1, 3000])
def test_quotes_are_followed_within_a_line_alone(tmp_path: Path, many: int) -> None:
    """A stray mark in one line has another line of the block read alone."""
    content = "user,item,rating\n" + 'a,"x, ""y""",3\nb,5" disc,4\nc,"z",1\n' * many
    assert cells(read(write(tmp_path, content), (1, 5))) == {
        ("a", 'x, "y"'): 3.0,
        ("b", '5" disc'): 4.0,
        ("c", "z"): 1.0,
    }


@pytest.mark.parametrize("line", ['a,"x,3', 'a,"x"y,3', '"a,x,3', 'a,x,"3'])
def test_a_line_end_inside_quotes_is_refused(tmp_path: Path, line: str) -> None:
    """It swallowed the lines up to the next mark: those of other people."""
    content = f'user,item,rating\nc,x,4\n{line}\nb,z,5\n"d",y,2\n'
    with pytest.raises(DataError, match=r"line 3: (a quotation mark|text follows)"):
        read(write(tmp_path, content), (1, 5))


def test_a_stray_quote_is_a_character(tmp_path: Path) -> None:
    path = write(tmp_path, 'user,item,rating\n1,5" disc,3\n2,"a",4\n')
    assert cells(read(path, (1, 5))) == {("1", '5" disc'): 3.0, ("2", "a"): 4.0}


def test_byte_order_mark(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + text(",", header="user,item,rating,time").encode()
    assert cells(read(write(tmp_path, content), (1, 5))) == EXPECTED


def test_byte_order_mark_without_a_header(tmp_path: Path) -> None:
    assert (
        cells(read(write(tmp_path, b"\xef\xbb\xbf" + text(",").encode()), (1, 5), **TIMED))
        == EXPECTED
    )


def test_blank_lines_and_blanks_around_fields(tmp_path: Path) -> None:
    content = "\n" + text(" , ", end="\n\n") + "   \n"
    assert cells(read(write(tmp_path, content), (1, 5), **TIMED)) == EXPECTED


def test_gzip(tmp_path: Path) -> None:
    assert (
        cells(read(write(tmp_path, gzip.compress(text(",").encode()), "r.csv.gz"), (1, 5), **TIMED))
        == EXPECTED
    )


def test_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "r.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.csv", text(","))
    assert cells(read(tmp_path / "r.zip", (1, 5), **TIMED)) == EXPECTED


def test_ids_are_text_as_written(tmp_path: Path) -> None:
    path = write(tmp_path, "1,0104257,3\n02,104258,4\n+3,x,5\n")
    assert cells(read(path, (1, 5), **HEADLESS)) == {
        ("1", "0104257"): 3.0,
        ("02", "104258"): 4.0,
        ("+3", "x"): 5.0,
    }


def test_ids_beyond_32_bits(tmp_path: Path) -> None:
    path = write(tmp_path, "99999999999999999999,4294967296,3\n4294967295,1,4\n")
    assert cells(read(path, (1, 5), **HEADLESS)) == {
        ("99999999999999999999", "4294967296"): 3.0,
        ("4294967295", "1"): 4.0,
    }


def test_integer_ids_are_in_natural_order(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, text(",")), (1, 5), **TIMED)
    assert list(ratings.users) == ["2", "7", "10"]
    assert list(ratings.items) == ["3", "20"]


def test_text_ids_are_behind_digits_in_the_order_of_text(tmp_path: Path) -> None:
    """Nobody's id decides how those of others are ordered."""
    path = write(tmp_path, "b,x,3\na,10,3\n10,9,3\n9,y,2\n09,010,1\n")
    ratings = read(path, (1, 5), **HEADLESS)
    assert list(ratings.users) == ["9", "09", "10", "a", "b"]
    assert list(ratings.items) == ["9", "10", "010", "x", "y"]


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    lines = text(",").splitlines(True)
    one = read(write(tmp_path, "".join(lines), "a.csv"), (1, 5), **TIMED)
    two = read(write(tmp_path, "".join(reversed(lines)), "b.csv"), (1, 5), **TIMED)
    assert (one.ptr.tolist(), one.item.tolist(), one.value.tolist()) == (
        two.ptr.tolist(),
        two.item.tolist(),
        two.value.tolist(),
    )


def test_items_ascend_in_each_row(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, text(",")), (1, 5), **TIMED)
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
    ratings = read(write(tmp_path, f"1,2,3,{stamp}\n2,2,3,{stamp}\n"), (1, 5), **TIMED)
    assert ratings.time is not None
    assert ratings.time.tolist() == [seconds, seconds]


def test_duplicates_the_latest_wins(tmp_path: Path) -> None:
    ratings = read(
        write(tmp_path, "1,2,3,50\n1,2,4,90\n1,2,5,90\n1,2,1,10\n2,2,2,1\n"), (1, 5), **TIMED
    )
    assert cells(ratings) == {("1", "2"): 5.0, ("2", "2"): 2.0}
    assert ratings.notes.duplicates == 3
    assert ratings.time is not None
    assert ratings.time.tolist() == [90, 1]


def test_duplicates_without_times_the_last_wins(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, "1,2,3\n2,2,2\n1,2,4\n"), (1, 5), **HEADLESS)
    assert cells(ratings) == {("1", "2"): 4.0, ("2", "2"): 2.0}


def test_duplicates_mean(tmp_path: Path) -> None:
    ratings = read(
        write(tmp_path, "1,2,3\n2,2,2\n1,2,4\n1,3,1\n"), (1, 5), duplicates="mean", **HEADLESS
    )
    assert cells(ratings) == {("1", "2"): 3.5, ("1", "3"): 1.0, ("2", "2"): 2.0}


def test_duplicates_error_names_lines_only(tmp_path: Path) -> None:
    path = write(tmp_path, "user,item,rating\n\n1,777,3\n2,777,2\n1,777,4\n")
    with pytest.raises(DataError, match="line 3 and line 5") as caught:
        read(path, (1, 5), duplicates="error")
    assert "777" not in str(caught.value)


def test_a_catalogue_sets_the_items_and_drops_others(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, text(",")), (1, 5), items=Catalogue(["99", "20", "1"]), **TIMED)
    assert list(ratings.items) == ["99", "20", "1"]
    assert cells(ratings) == {("7", "20"): 4.0, ("2", "20"): 1.0}
    assert ratings.notes.dropped_items == 2
    assert list(ratings.users) == ["2", "7"]


def test_likes_need_no_rating_and_no_scale(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, "user,item\n1,2\n2,3\n"), positive=True)
    assert cells(ratings) == {("1", "2"): 1.0, ("2", "3"): 1.0}
    assert (ratings.schema.low, ratings.schema.high, ratings.schema.positive) == (0, 1, 1.0)


def test_likes_from_a_least_rating(tmp_path: Path) -> None:
    ratings = read(write(tmp_path, text(",")), (1, 5), positive=4, **TIMED)
    assert cells(ratings) == {("7", "20"): 4.0, ("10", "3"): 5.0}
    assert ratings.schema.positive == 4
    assert "2 ratings below 4" in ratings.notes.messages[0]


def test_a_like_taken_back_is_no_like(tmp_path: Path) -> None:
    path = write(tmp_path, "1,2,5,10\n1,2,1,20\n2,2,5,1\n3,2,4,1\n")
    assert cells(read(path, (1, 5), positive=4, **TIMED)) == {("2", "2"): 5.0, ("3", "2"): 4.0}


def test_the_least_rating_itself_is_a_like(tmp_path: Path) -> None:
    path = write(tmp_path, "1,2,3.3\n2,2,3.3\n3,2,3.2\n")
    assert list(read(path, (1, 5), positive=3.3, **HEADLESS).users) == ["1", "2"]


def test_likes_of_rated_data_ask_from_where(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="positive=4"):
        read(write(tmp_path, text(",")), (1, 5), positive=True, **TIMED)


def test_the_declared_number_of_people_is_in_the_schema(tmp_path: Path) -> None:
    assert read(write(tmp_path, text(",")), (1, 5), users=1000, **TIMED).schema.users == 1000


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
    found = cells(read(path, (1, 5), **HEADLESS))
    assert found == {(u, i): float(r) for u, i, r in rows}


def test_lines_that_end_in_a_carriage_return_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The byte parser wrote behind its arrays where a block ends in one."""
    from tacit.data.reading import delimited, files

    monkeypatch.setattr(files.text_chunks, "__defaults__", (200,))
    monkeypatch.setattr(delimited, "PATIENCE", 0)
    lines = "".join(f"{k % 7},{k % 50},3\r" for k in range(400))
    path = write(tmp_path, lines[:1200].replace("\r", "\n") + lines[1200:])
    assert len(cells(read(path, (1, 5), **HEADLESS))) == 350


@pytest.mark.parametrize(
    ("dates", "stamp", "seconds"),
    [
        ("dmy", "01.02.2025 00:21", 1738369260),
        ("dmy", "1/2/2025", 1738368000),
        ("mdy", "02/01/2025 00:21:59", 1738369319),
        ("mdy", "2-1-2025", 1738368000),
    ],
)
def test_the_order_of_a_date_is_declared(
    tmp_path: Path, dates: str, stamp: str, seconds: int
) -> None:
    path = write(tmp_path, f"1,2,3,{stamp}\n2,2,3,{stamp}\n")
    ratings = read(path, (1, 5), dates=dates, **TIMED)
    assert ratings.time is not None
    assert ratings.time.tolist() == [seconds, seconds]


@pytest.mark.parametrize(
    ("dates", "stamp", "message"),
    [
        (None, "01.01.2025 00:21", "not a date in the form year-month-day"),
        (None, "2025-13-01", "no date of the calendar"),
        (None, "31.12.24", "a year of two digits"),
        (None, "1735689600000", "the times look like milliseconds"),
        (None, "soon", "text where a time belongs"),
        ("dmy", "2025-01-31", "not a date in the form day-month-year"),
        ("dmy", "1735689600", "a number, and not a date in the form day-month-year"),
        ("dmy", "01.31.2025", "no date of the calendar"),
        ("mdy", "31.01.2025", "no date of the calendar"),
    ],
)
def test_a_time_in_another_order_is_refused_with_its_line(
    tmp_path: Path, dates: str | None, stamp: str, message: str
) -> None:
    good = {None: "5", "dmy": "31.12.2024", "mdy": "12/31/2024"}[dates]
    path = write(tmp_path, f"1,2,3,{good}\n2,2,3,{stamp}\n")
    with pytest.raises(DataError, match=rf"line 2, column 4 \(time\): {message}") as told:
        read(path, (1, 5), dates=dates, **TIMED)
    assert stamp not in str(told.value)


def test_decimals_and_encodings_are_declared(tmp_path: Path) -> None:
    said = {"delimiter": ";", **HEADLESS}
    path = write(tmp_path, "Zo\u00eb;x;4,5\nann;x;2\n".encode("cp1252"))
    with pytest.raises(DataError, match=r"line 1: bytes that are not UTF-8.*\n.*cp1252"):
        read(path, (1, 5), decimal=",", **said)
    with pytest.raises(
        DataError, match=r"line 1, column 3 \(rating\): a number with a decimal com"
    ):
        read(path, (1, 5), encoding="cp1252", **said)
    found = read(path, (1, 5), encoding="cp1252", decimal=",", **said)
    assert cells(found) == {("Zo\u00eb", "x"): 4.5, ("ann", "x"): 2.0}
    write(tmp_path, "ann;x;4.5\n")
    with pytest.raises(DataError, match="decimal point"):
        read(path, (1, 5), decimal=",", **said)


def test_line_1_is_the_header_and_nobodys_row(tmp_path: Path) -> None:
    """A first row of likes, person `book` and item `member`, is one only where it is declared."""
    path = write(tmp_path, "book,member\nann,x\nbob,x\n")
    said = {"positive": True, "header": False, "columns": {"user": 1, "item": 2}}
    assert list(read(path, **said).users) == ["ann", "bob", "book"]
    write(tmp_path, "ann,Heat\nbob,Heat\ncarol,Heat\n")
    with pytest.raises(DataError, match="line 1: missing column") as told:
        read(path, positive=True)
    assert "ann" not in str(told.value)
    assert "Heat" not in str(told.value)
    assert "header=False" in str(told.value)


def test_without_a_header_columns_are_numbered(tmp_path: Path) -> None:
    path = write(tmp_path, text(","))
    with pytest.raises(SettingError, match=r'header=False columns=\{"user": 1'):
        read(path, (1, 5), header=False)
    with pytest.raises(SettingError, match="where no header names them"):
        read(path, (1, 5), header=False, columns={"user": "7", "item": 2, "rating": 3})


@pytest.mark.parametrize("ids", [["7", "007", "7.0"], ["0e268977", "0e1", "1e3", "1000"]])
def test_an_id_is_its_text(tmp_path: Path, ids: list[str]) -> None:
    rows = "".join(f"{each},{each},3\n" for each in ids)
    assert set(read(write(tmp_path, rows), (1, 5), **HEADLESS).users) == set(ids)


@pytest.mark.parametrize("cell", ["a\x1fb", "a\x85b", "a\u2028b", "a\x7f", "\x0ba"])
def test_a_control_character_in_an_id_is_refused_with_its_line(tmp_path: Path, cell: str) -> None:
    path = write(tmp_path, f"user,item,rating\nann,x,3\nbob,{cell},3\n")
    with pytest.raises(DataError, match=r"line 3, column 2 \(item\): a control character"):
        read(path, (1, 5))


@pytest.mark.parametrize(
    "said",
    [
        {"header": "no"},
        {"delimiter": "ab"},
        {"delimiter": '"'},
        {"dates": "ymd"},
        {"decimal": "'"},
        {"encoding": "utf-16"},
    ],
)
def test_what_cannot_be_declared(tmp_path: Path, said: dict[str, str]) -> None:
    with pytest.raises(SettingError):
        read(write(tmp_path, "user,item,rating\n1,2,3\n2,2,3\n"), (1, 5), **said)
