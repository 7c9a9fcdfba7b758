"""Bad input: each error names the file, the line and a remedy, and never shows a cell."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tacit.data.catalogue import Catalogue
from tacit.data.read import read
from tacit.errors import DataError, SettingError, UsageError

GOOD = "user,item,rating,time\n1,2,3,4\n2,2,4,5\n"

CASES = {
    "empty": ("", "is empty", None),
    "blank lines only": ("\n\n  \n", "is empty", None),
    "header only": ("user,item,rating\n", "no row of data", None),
    "no rating column": ("user,item\n1,2\n2,2\n", "missing column.*rating", 1),
    "no user column": ("item,rating\n1,2\n2,2\n", "missing column.*user", 1),
    "unknown header": ("alpha,beta,gamma\n1,2,3\n2,2,3\n", "missing column.*user", 1),
    "too few fields": (GOOD + "3,54321\n", "too few fields: 2 instead of 4", 4),
    "too many fields": (GOOD + "3,4,5,6,54321\n", "too many fields: 5 instead of 4", 4),
    "no number": (GOOD + "3,4,54321x,6\n", "text where a number belongs", 4),
    "decimal comma": ("user;item;rating\n1;2;3\n2;2;4,54321\n", "a number with a decimal comma", 3),
    "nan": (GOOD + "3,4,NaN,6\n", "NaN or infinite", 4),
    "infinite": (GOOD + "3,4,-inf,6\n", "NaN or infinite", 4),
    "above the scale": (GOOD + "3,4,54321,6\n", "outside the scale 1 to 5", 4),
    "below the scale": (GOOD + "3,4,0.54321,6\n", "outside the scale 1 to 5", 4),
    "empty rating": (GOOD + "3,4,,6\n", "empty cell", 4),
    "empty user": (GOOD + ",4,3,6\n", "empty cell", 4),
    "empty item": (GOOD + "3,,3,6\n", "empty cell", 4),
    "only delimiters": (GOOD + ",,,\n3,4,4,4\n", "empty cell", 4),
    "no time": (GOOD + "3,4,3,54321x\n", "text where a time belongs", 4),
    "after blank lines": (GOOD + "\n\n3,4,54321,6\n", "outside the scale", 6),
    "a quoted line end": (
        'user,item,rating,note\n1,2,3,"a\nb"\n2,2,54321,\n',
        "a quotation mark is never closed in this line",
        2,
    ),
    "an unclosed quote": (GOOD + '3,"54321,3,6\n4,4,4,4\n', "never closed", 4),
    "a very long field": (
        GOOD + '3,4,5,"' + "54321" * 40_000 + "\n4,4,9,4\n",
        "never closed in this line",
        4,
    ),
    "first of two": (GOOD + "3,4,54321,6\n,4,3,6\n", "outside the scale", 4),
    "one person": ("user,item,rating\n54321,2,3\n54321,3,3\n", "one person only", None),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_text(tmp_path: Path, case: str) -> None:
    content, message, line = CASES[case]
    path = tmp_path / "r.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=message) as caught:
        read(path, (1, 5))
    assert caught.value.exit_status == 2
    assert caught.value.remedy
    assert caught.value.place is not None
    assert caught.value.place.startswith(str(path))
    assert (f", line {line}" in caught.value.place) == (line is not None)
    assert "54321" not in str(caught.value)


def test_the_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("rating,user,item\n3,1,2\nx,2,2\n")
    with pytest.raises(DataError, match=r"line 3, column 1 \(rating\)"):
        read(path, (1, 5))


def test_the_cause_shows_no_cell_either(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("user,item,rating\n1,2,54321x\n")
    with pytest.raises(DataError) as caught:
        read(path, (1, 5))
    assert caught.value.__suppress_context__


def test_a_fault_far_down_a_large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.data.reading import delimited, files

    monkeypatch.setattr(files.text_chunks, "__defaults__", (1000,))
    monkeypatch.setattr(delimited, "PATIENCE", 0)
    path = tmp_path / "r.csv"
    lines = [f"{k},{k % 7},3\n" for k in range(3000)]
    lines[2500] = "1,2,54321\n"
    path.write_text("user,item,rating\n" + "".join(lines))
    with pytest.raises(DataError, match="line 2502, column 3"):
        read(path, (1, 5))


def test_a_csv_without_a_scale(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(GOOD)
    with pytest.raises(SettingError, match=r"scale=\("):
        read(path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(GOOD.encode() + b"3,caf\xe9,4,4\n")
    with pytest.raises(DataError, match=r"line 4.*UTF-8"):
        read(path, (1, 5))


def test_bytes_that_are_no_text_in_a_later_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.data.reading import files

    monkeypatch.setattr(files.text_chunks, "__defaults__", (1000,))
    path = tmp_path / "r.csv"
    path.write_bytes(GOOD.encode() + b"1,a,4,4\n2,a,4,4\n" * 20_000 + b"3,caf\xe9,4,4\n")
    with pytest.raises(DataError, match="line 40004: bytes that are not UTF-8"):
        read(path, (1, 5))


def test_utf_16(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(GOOD, encoding="utf-16")
    with pytest.raises(DataError, match="UTF-16"):
        read(path, (1, 5))


@pytest.mark.parametrize("header", ["user,item,rating,note", "note,user,item,rating"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_too_many_fields_beside_a_column_that_is_not_read(
    tmp_path: Path, header: str, quote: str
) -> None:
    """An unquoted decimal comma must not move a row by a field."""
    path = tmp_path / "r.csv"
    path.write_text(f"{header}\n1,2,3,4\n54321,2,{quote}3{quote},5,4\n2,2,3,4\n")
    with pytest.raises(DataError, match="too many fields: 5 instead of 4") as caught:
        read(path, (1, 5))
    assert caught.value.place == f"{path}, line 3"


def test_a_first_line_without_end_is_told_as_one(tmp_path: Path) -> None:
    """Where the look at it ends, a letter of two bytes may be cut in half: no other encoding."""
    path = tmp_path / "r.csv"
    path.write_text("user,item,rating," + "é" * 70_000 + "\n1,2,3\n2,2,3\n")
    with pytest.raises(DataError, match="line 1 is longer than 64 kilobytes"):
        read(path, (1, 5))


def test_a_gzip_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "r.csv.gz"
    rows = "".join(f"{k},{k * 7919 % 10007},3\n" for k in range(60_000))
    data = gzip.compress(b"user,item,rating\n" + rows.encode())
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match="cut short"):
        read(path, (1, 5))


def test_a_zip_cut_short(tmp_path: Path) -> None:
    import zipfile

    path = tmp_path / "r.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("r.csv", GOOD * 1000)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match="damaged or cut short"):
        read(path, (1, 5))


def test_a_parquet_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    path.write_text(GOOD)
    with pytest.raises(DataError, match="not a parquet file"):
        read(path, (1, 5))


def test_a_parquet_cut_short(tmp_path: Path) -> None:
    import polars as pl

    path = tmp_path / "r.parquet"
    pl.DataFrame({"user": [1, 2], "item": [1, 1], "rating": [3, 4]}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="not a whole parquet file"):
        read(path, (1, 5))


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "nowhere.csv", (1, 5))


def test_a_folder_without_a_known_layout(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "more.txt").write_text("hello")
    with pytest.raises(DataError, match="no known layout"):
        read(tmp_path, (1, 5))


def test_a_spreadsheet(tmp_path: Path) -> None:
    path = tmp_path / "jester-data-1.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000))
    with pytest.raises(DataError, match="save it as csv"):
        read(path)


def test_nothing_in_the_catalogue(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(GOOD)
    with pytest.raises(DataError, match="same item ids"):
        read(path, (1, 5), items=Catalogue(["a", "b"]))


def test_likes_of_one_person_only(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(GOOD)
    with pytest.raises(DataError, match="one person only"):
        read(path, (1, 5), positive=4)


def test_no_like_is_left(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(GOOD)
    with pytest.raises(DataError, match="no rating is left"):
        read(path, (1, 5), positive=5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scale": (5, 1)}, "does not rise"),
        ({"scale": (1,)}, "two numbers"),
        ({"scale": (1, 5), "duplicates": "first"}, "last, mean or error"),
        ({"scale": (1, 5), "positive": 6}, "above the scale"),
        ({"scale": (1, 5), "users": 0}, "at least 1"),
        ({"scale": (1, 5), "layout": "ml-2m"}, "choose one of ml-100k"),
        ({"scale": (1, 5), "columns": {"who": "user"}}, "no role"),
        ({"scale": (1, 5), "columns": {"user": "who"}}, "no column 'who'"),
    ],
)
def test_bad_settings(tmp_path: Path, settings: dict[str, object], message: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(GOOD)
    with pytest.raises(UsageError, match=message):
        read(path, **settings)  # type: ignore[arg-type]


def test_something_that_is_no_table() -> None:
    with pytest.raises(
        SettingError, match="a path or a data frame; ratings may be a scipy sparse matrix"
    ):
        read(3.5, (1, 5))


@pytest.mark.parametrize("rating", ["", "five", "5"])
def test_a_first_row_of_people_is_quoted_to_nobody(tmp_path: Path, rating: str) -> None:
    """Where nobody says that there is no header, line 1 is one, and may be somebody's rating."""
    path = tmp_path / "r.csv"
    path.write_text(f"alice,Alien,{rating}\nbob,Heat,4\ncarol,Heat,3\n")
    with pytest.raises(DataError, match="missing column") as told:
        read(path, (1, 5))
    assert "alice" not in str(told.value)
    numbers = {"user": 1, "item": 2, "rating": 3}
    found = read(path, (1, 5), columns=numbers)
    assert list(found.users) == ["bob", "carol"]
    assert "alice" not in " ".join(found.notes.columns)
    twice = {"user": 1, "item": 1, "rating": 3}
    with pytest.raises(SettingError, match="column 1 is the user") as told_too:
        read(path, (1, 5), columns=twice)
    assert "alice" not in str(told_too.value)


def test_a_header_is_not_quoted_where_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("kunde,item,punkte\n1,2,3\n2,2,4\n")
    with pytest.raises(DataError, match="names no user and no rating") as told:
        read(path, (1, 5))
    assert "kunde" not in str(told.value)
    own = {"user": "kunde", "rating": "punkte"}
    found = read(path, (1, 5), columns=own)
    assert "user from `kunde`" in found.notes.columns[0]


def test_the_names_of_a_frame_are_no_row_of_people() -> None:
    import polars as pl

    frame = pl.DataFrame({"kunde": [1, 2], "artikel": [2, 2], "punkte": [3, 4]})
    with pytest.raises(DataError, match="`kunde`, `artikel`, `punkte`"):
        read(frame, (1, 5))
