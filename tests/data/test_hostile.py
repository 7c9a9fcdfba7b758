"""Tables that were made to hurt (break 9): bombs, pipes, panics, and texts without end."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import time
import zipfile
from pathlib import Path

import polars as pl
import pytest

from tacit.data.catalogue import Catalogue
from tacit.data.read import read
from tacit.data.reading import guard, parquet
from tacit.data.reading.dialect import is_number
from tacit.data.reading.items import read_items
from tacit.data.reading.personal import read_names, read_personal
from tacit.errors import DataError

GOOD = "user,item,rating\n1,1,3\n2,1,4\n3,2,5\n"


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Bombs of a few megabytes do, if a file may unpack to one."""
    monkeypatch.setattr(guard, "AT_LEAST", 1 << 20)


@pytest.mark.parametrize("door", [read, read_items, read_personal, read_names])
@pytest.mark.parametrize("what", ["pipe", "device", "link"])
def test_a_pipe_or_device_is_refused_and_not_waited_for(tmp_path, door, what):
    """Break 9: a fifo hung, a link to an endless device ate the memory."""
    path = tmp_path / "r.csv"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "link":
        path.symlink_to("/dev/zero")
    else:
        path = Path("/dev/zero")
    with pytest.raises(DataError, match="cannot be read here"):
        door(path)


def test_a_pipe_among_several_files(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(DataError, match="a pipe cannot be read here"):
        read([tmp_path / "a.csv"], (1, 5))


def bomb(kind: str) -> bytes:
    text = GOOD.encode() + b"4,2,3\n" * (1 << 19)
    held = io.BytesIO()
    if kind == "gz":
        return gzip.compress(text)
    if kind == "twice":
        return gzip.compress(gzip.compress(text))
    if kind == "zip":
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("r.csv", text)
        return held.getvalue()
    with tarfile.open(fileobj=held, mode="w") as tar:
        info = tarfile.TarInfo("r.csv")
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text))
    return gzip.compress(held.getvalue())


@pytest.mark.parametrize("door", [read, read_items, read_personal])
@pytest.mark.parametrize("kind", ["gz", "zip", "tar"])
def test_what_unpacks_is_counted(tmp_path, door, kind):
    path = tmp_path / f"r.{kind}"
    path.write_bytes(bomb(kind))
    with pytest.raises(DataError, match="unpacks to much more"):
        door(path, (1, 5)) if door is read else door(path)


def test_an_honest_archive_may_grow(tmp_path):
    rows = "".join(f"{k % 977},{k * 7919 % 1009},{1 + k % 5}\n" for k in range(300_000))
    path = tmp_path / "r.csv.gz"
    path.write_bytes(gzip.compress(b"user,item,rating\n" + rows.encode()))
    assert read(path, (1, 5)).n_users == 977


def test_a_locked_archive_says_so(tmp_path):
    path = tmp_path / "r.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("r.csv", GOOD)
    data = bytearray(path.read_bytes())
    data[data.find(b"PK\x01\x02") + 8] |= 1
    data[6] |= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match="locked with a password"):
        read(path, (1, 5))


def test_a_line_without_end(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(GOOD)
    os.truncate(path, 1 << 36)
    with pytest.raises(DataError):
        read(path, (1, 5))


def test_a_panic_of_rust_is_an_error_of_ours():
    """Break 9: polars' panic is no Exception, and escaped."""

    class PanicException(BaseException):
        pass

    with pytest.raises(DataError, match="cannot be read as a table"), guard.third_party("r"):
        raise PanicException
    with pytest.raises(KeyboardInterrupt), guard.third_party("r"):
        raise KeyboardInterrupt


def frame() -> pl.DataFrame:
    return pl.DataFrame({"user": [1, 2], "item": [1, 1], "rating": [3, 4]})


def test_a_parquet_file_that_declares_too_much(tmp_path):
    """A million equal rows take a few bytes."""
    path = tmp_path / "r.parquet"
    rows = 6_000_000
    many = pl.select(user=pl.repeat(1, rows), item=1, rating=3)
    many.write_parquet(path, compression="zstd")
    assert path.stat().st_size < 1 << 20
    with pytest.raises(DataError, match="unpacks to much more"):
        read(path, (1, 5))


def test_a_text_that_unpacks_without_bound(tmp_path):
    path = tmp_path / "r.parquet"
    long = pl.DataFrame({"user": ["x" * (1 << 24), "y"], "item": [1, 1], "rating": [3, 4]})
    # Statistics would hold the long text once more, as it is.
    long.write_parquet(path, compression="zstd", statistics=False)
    with pytest.raises(DataError, match="unpacks to much more"):
        read(path, (1, 5))


@pytest.mark.parametrize("cut", range(1, 60, 6))
def test_headers_that_are_cut(tmp_path, cut):
    path = tmp_path / "r.parquet"
    frame().write_parquet(path)
    data = path.read_bytes()
    path.write_bytes(data[:-cut] + data[-8:])
    with pytest.raises(DataError, match="not a whole parquet file"):
        read(path, (1, 5))


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "zstd", "gzip", "lz4"])
def test_good_files_pass_the_look(tmp_path, compression):
    path = tmp_path / "r.parquet"
    frame().write_parquet(path, compression=compression)
    assert len(read(path, (1, 5))) == 2


def test_files_of_pyarrow_pass_the_look(tmp_path):
    import pyarrow as arrow
    import pyarrow.parquet as written

    path = tmp_path / "r.parquet"
    columns = {"user": ["a", "b"] * 5000, "item": list(range(10_000)), "rating": [3.5] * 10_000}
    for version in ("1.0", "2.0"):
        written.write_table(
            arrow.table(columns), path, data_page_version=version, row_group_size=999
        )
        assert len(read(path, (1, 5))) == 10_000
    written.write_table(
        arrow.table(columns),
        path,
        use_dictionary=False,
        column_encoding={"user": "DELTA_BYTE_ARRAY"},
    )
    with pytest.raises(DataError, match="cannot be bounded"):
        read(path, (1, 5))


def test_the_look_reads_every_page(tmp_path):
    path = tmp_path / "r.parquet"
    big = pl.DataFrame({"user": range(50_000), "item": [1] * 50_000, "rating": [3.0] * 50_000})
    big.write_parquet(path, row_group_size=7_000, data_page_size=1000)
    found = parquet._Pages(path.read_bytes())
    data = path.read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    footer = parquet._Thrift(data, len(data) - 8 - length, len(data) - 8).struct()
    assert footer[3] == 50_000
    for group in footer[4]:
        for column in group[1]:
            found.walk(column[3])
    assert found.values >= 150_000
    assert found.unpacked > 0


def test_a_catalogue_of_too_many_features(tmp_path):
    path = tmp_path / "items.csv"
    rows = "".join(f"{k},only-{k}\n" for k in range(5000))
    path.write_text("id,tags\n" + rows)
    with pytest.raises(DataError, match="too many"):
        read_items(path)


def test_numbers_of_a_catalogue_are_finite(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("id,length\n1,1e999\n2,-1e300\n3,5\n")
    numeric = read_items(path).numeric
    assert numeric is not None
    assert abs(numeric).max() < float("inf")


def test_a_number_is_told_in_linear_time():
    began = time.perf_counter()
    assert not is_number("1" * 200_000 + "x")
    assert time.perf_counter() - began < 1


def test_an_empty_folder_holds_no_file_of_ones_own(tmp_path):
    with pytest.raises(DataError, match="no file in it"):
        read_personal(tmp_path)


def test_files_in_a_tar_are_read(tmp_path):
    held = tmp_path / "both.tar"
    with tarfile.open(held, "w") as tar:
        for name, text in (("movies.csv", "id,title\n1,Heat\n"), ("mine.csv", "Heat,4\n")):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    assert read_items(held).titles == ["Heat"]
    assert read_personal(held, likes=True)[0].item == "Heat"


def test_lines_are_known_where_fields_are_fenced(tmp_path):
    """A last line end is followed by no row, so that it has no line either."""
    rows = "".join(f'"{u}";"{i}";"5"\n' for u in range(1, 4) for i in range(1, 4))
    path = tmp_path / "BX-Book-Ratings.csv"
    path.write_text('"User-ID";"ISBN";"Book-Rating"\n' + rows)
    known = Catalogue(["1", "2"])
    assert len(read(path, items=known, duplicates="error")) == 6
    path.write_text('"User-ID";"ISBN";"Book-Rating"\n' + rows + '"3";"3";"4"\n')
    with pytest.raises(DataError, match="line 10 and line 11"):
        read(path, duplicates="error")


def test_an_id_is_no_essay(tmp_path):
    """A model with such an id would be paid for and not be read again."""
    path = tmp_path / "r.csv"
    path.write_text(f"user,item,rating\n1,{'x' * 10_001},3\n2,y,3\n")
    with pytest.raises(DataError, match="more than 10,000 letters"):
        read(path, (1, 5))
