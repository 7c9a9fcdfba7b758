"""A packed file holds what reading the table gives, whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from tacit.data.catalogue import Catalogue
from tacit.data.pack import pack
from tacit.data.packed import Packed, store
from tacit.data.packed.packed import write_pack
from tacit.data.read import read
from tacit.data.reading import parquet, spooled
from tacit.errors import DataError, SettingError, StorageError

ROWS = 3000


def table(kind: str) -> pl.DataFrame:
    """Repeated pairs, people in any order, values of a few kinds."""
    rng = np.random.default_rng(5)
    user = rng.zipf(1.4, ROWS) % 97
    item = rng.integers(0, 40, ROWS)
    named = {"text": "u", "number": "", "padded": "00"}[kind]
    return pl.DataFrame(
        {
            "user": [f"{named}{k}" for k in user.tolist()],
            "item": [f"i{k}" for k in item.tolist()],
            "rating": rng.integers(1, 11, ROWS) / 2,
            "time": rng.integers(10**9, 10**9 + 10**6, ROWS),
        }
    )


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """So that there are many blocks, buckets and slices of a small table."""
    monkeypatch.setattr(spooled, "PIECE", 700)
    monkeypatch.setattr(spooled, "PIECE", 700)
    monkeypatch.setattr(spooled, "SORT_BYTES", 1 << 19)
    monkeypatch.setattr(parquet, "SLICE", 999)


def same(one, other) -> None:
    for name in ("ptr", "item", "value", "time"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None)
        assert a is None or np.array_equal(a, b), name
    assert list(one.users) == list(other.users)
    assert list(one.items) == list(other.items)
    assert one.schema == other.schema
    assert one.notes.duplicates == other.notes.duplicates
    assert one.notes.dropped_items == other.notes.dropped_items


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["text", "number", "padded"])
def test_it_holds_what_reading_gives(tmp_path, form, kind):
    source = tmp_path / f"r.{form}"
    getattr(table(kind), f"write_{form}")(source)
    made = pack(source, tmp_path / "r.tacit", (0.5, 5), memory="600MB")
    same(read(source, (0.5, 5)), made.loaded())
    same(read(source, (0.5, 5)), read(tmp_path / "r.tacit"))
    assert stat.S_IMODE((tmp_path / "r.tacit").stat().st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == [f"r.{form}", "r.tacit"]


@pytest.mark.parametrize(
    "more",
    [
        {"duplicates": "mean"},
        {"positive": 4},
        {"items": Catalogue([f"i{k}" for k in range(30, 3, -2)])},
        {"columns": {"time": None}},
        {"users": 90},
    ],
    ids=str,
)
def test_options_mean_what_they_mean_in_reading(tmp_path, more):
    source = tmp_path / "r.csv"
    table("number").write_csv(source)
    made = pack(source, tmp_path / "r.tacit", (0.5, 5), **more)
    same(read(source, (0.5, 5), **more), made.loaded())


@pytest.mark.parametrize(
    "more",
    [{"positive": 4}, {"items": Catalogue([f"i{k}" for k in range(30, 3, -2)])}, {"users": 90}],
    ids=str,
)
@pytest.mark.parametrize("memory", [None, "500MB"], ids=["loaded", "streamed"])
def test_options_hold_for_a_packed_file(tmp_path, more, memory, monkeypatch):
    from tacit.data import packing
    from tacit.data.packed import packed

    monkeypatch.setattr(packed, "PIECE", 300)
    if memory:
        monkeypatch.setattr(packing, "LOADED", 1e-9)
    source = tmp_path / "r.csv"
    table("text").write_csv(source)
    pack(source, tmp_path / "r.tacit", (0.5, 5))
    found = read(tmp_path / "r.tacit", memory=memory, **more)
    assert isinstance(found, Packed) == bool(memory)
    whole = found.loaded() if isinstance(found, Packed) else found
    wanted = read(source, (0.5, 5), **more)
    for name in ("ptr", "item", "value", "time"):
        assert np.array_equal(getattr(whole, name), getattr(wanted, name))
    assert list(whole.users) == list(wanted.users)
    assert sorted(os.listdir(tmp_path)) == ["r.csv", "r.tacit"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_table_beyond_the_memory_is_streamed(tmp_path, form, monkeypatch):
    """Packed beside itself, in a file that has no name any more."""
    from tacit.data import packing

    source = tmp_path / f"r.{form}"
    getattr(table("text"), f"write_{form}")(source)
    wanted = read(source, (0.5, 5), memory="600MB")
    assert not isinstance(wanted, Packed)
    monkeypatch.setattr(packing, "LOADED", 1e-9)
    found = read(source, (0.5, 5), memory="600MB")
    assert isinstance(found, Packed)
    same(wanted, found.loaded())
    assert found.notes.columns == wanted.notes.columns
    assert os.listdir(tmp_path) == [f"r.{form}"]


def test_frames_and_many_values_are_packed_too(tmp_path):
    """Values that no table of 256 holds are floats; what is in memory goes through it."""
    rng = np.random.default_rng(1)
    frame = table("text").with_columns(pl.Series("rating", rng.uniform(1, 5, ROWS)))
    made = pack(frame, tmp_path / "r.tacit", (1, 5))
    same(read(frame, (1, 5)), made.loaded())
    frame.write_csv(tmp_path / "r.csv")
    again = pack(tmp_path / "r.csv", tmp_path / "s.tacit", (1, 5))
    assert np.array_equal(again.loaded().value, made.loaded().value)


def test_a_repeated_pair_is_an_error_where_asked(tmp_path):
    source = tmp_path / "r.csv"
    source.write_text("user,item,rating\na,x,1\nb,x,2\na,x,3\n")
    with pytest.raises(DataError, match="first line 2 and line 4"):
        pack(source, tmp_path / "r.tacit", (1, 5), duplicates="error")
    assert os.listdir(tmp_path) == ["r.csv"]


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    source = tmp_path / "r.csv"
    table("text").write_csv(source)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store.PackWriter, "finish", full)
    with pytest.raises(OSError, match="No space"):
        pack(source, tmp_path / "r.tacit", (0.5, 5))
    assert os.listdir(tmp_path) == ["r.csv"]
    monkeypatch.setattr(store.PackWriter, "_write", full)
    with pytest.raises(StorageError, match="No space"):
        pack(source, tmp_path / "r.tacit", (0.5, 5))
    assert os.listdir(tmp_path) == ["r.csv"]


def test_a_killed_process_leaves_nothing(tmp_path):
    source = tmp_path / "r.csv"
    table("text").write_csv(source)
    code = (
        "import os, signal\n"
        "from tacit.data.pack import pack\n"
        "from tacit.data.packed.store import PackWriter\n"
        "PackWriter._name = lambda self: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"pack({str(source)!r}, {str(tmp_path / 'r.tacit')!r}, (0.5, 5))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    assert os.listdir(tmp_path) == ["r.csv"]


def test_where_files_must_have_names_it_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "UNNAMED", None)
    made = pack(table("text"), tmp_path / "r.tacit", (0.5, 5))
    assert len(made)
    monkeypatch.setattr(store.PackWriter, "_name", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        pack(table("text"), tmp_path / "s.tacit", (0.5, 5))
    assert os.listdir(tmp_path) == ["r.tacit"]


def test_a_file_stays_unless_it_may_be_replaced(tmp_path):
    target = tmp_path / "r.tacit"
    target.write_bytes(b"old")
    with pytest.raises(StorageError, match="exists"):
        pack(table("text"), target, (0.5, 5))
    assert target.read_bytes() == b"old"
    pack(table("text"), target, (0.5, 5), overwrite=True)
    assert read(target).n_users > 1
    with pytest.raises(SettingError, match="private"):
        pack(table("text"), tmp_path / "r.csv", (0.5, 5))


def test_damage_is_told(tmp_path):
    target = tmp_path / "r.tacit"
    write_pack(read(table("text"), (0.5, 5)), target)
    whole = target.read_bytes()
    for broken in (
        whole[:-5],
        whole[:200],
        whole[:-40] + b"x" + whole[-39:],
        whole[: len(whole) // 2] + whole[len(whole) // 2 + 1 :],
    ):
        target.write_bytes(broken)
        with pytest.raises(DataError):
            read(target)
    # An item beyond the catalogue would reach outside of arrays.
    at = len(store.MAGIC)
    target.write_bytes(whole[:at] + b"\xff\xff" + whole[at + 2 :])
    with pytest.raises(DataError, match="whole packed"):
        read(target)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"scale": (1, 10)}, "scale"),
        ({"columns": {"user": 1}}, "no columns"),
        ({"layout": "netflix"}, "no columns"),
        ({"positive": True}, "have ratings"),
        ({"memory": "much"}, "no size"),
        ({"memory": "1KB"}, "at least"),
    ],
)
def test_what_a_packed_file_has_with_it_is_not_asked(tmp_path, more, said):
    target = tmp_path / "r.tacit"
    write_pack(read(table("text"), (0.5, 5)), target)
    with pytest.raises(SettingError, match=said):
        read(target, **more)
