"""Model folders of strangers (break 9): refused in words, soon and in little memory."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.errors import ModelError
from tacit.model.folder import FILES, arrays_of
from tacit.model.model import load
from tacit.model.person.base import PERSONAL, personal_class
from tacit.model.shared import Shared

ITEMS = 5
GAUSSIAN = {
    "baseline": np.zeros(ITEMS, np.float32),
    "variance": np.ones(ITEMS, np.float32),
    "loadings": np.ones((ITEMS, 3), np.float32),
    "weight": np.ones(ITEMS, np.float32),
}
CHOICE = {"implied": np.ones((3, 3), np.float32), "usual": np.ones(3, np.float32)}
LISTS = {
    "start": np.arange(ITEMS + 1, dtype=np.int64),
    "neighbour": np.array([1, 2, 3, 4, 0], np.int32),
    "similarity": np.ones(ITEMS, np.float32),
}
HOLDS: dict[str, tuple[dict[str, Any], dict[str, float]]] = {
    "gaussian": (GAUSSIAN, {"noise": 0.75}),
    "kept-neighbours": ({**GAUSSIAN, **LISTS}, {"noise": 0.75, "neighbours": 2.0}),
    "ease": (
        {
            "weight": np.ones(ITEMS, np.float32),
            "left": np.ones((2, 3), np.float32),
            "right": np.ones((2, 3), np.float32),
            "head": np.array([0, 2], np.int32),
        },
        {},
    ),
}


def shared(personal: str = "gaussian", **more: Any) -> Shared:
    arrays, numbers = HOLDS[personal]
    ids = [f"i{k}" for k in range(ITEMS)]
    return Shared(
        more.get("method", "bayes"),
        personal,
        {**arrays, **more.get("arrays", {})},
        {**numbers, **more.get("numbers", {})},
        Schema(1, 5, positive=4.0 if personal == "ease" else None),
        Catalogue(ids, [f"Film {k}" for k in ids]),
        more.get("settings", {}),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shared().save(tmp_path / "model", "{}")
    return tmp_path / "model"


def repaired(folder: Path, **changes: Any) -> Path:
    """The folder with these facts and with digests that fit its files, as its maker would."""
    facts = json.loads((folder / "model.json").read_bytes()) | changes
    for name in FILES:
        data = (folder / name).read_bytes()
        facts["files"][name] = hashlib.sha256(data).hexdigest()
    (folder / "model.json").write_text(json.dumps(facts))
    return folder


def refused(folder: Path, says: str) -> None:
    with pytest.raises(ModelError, match=says) as error:
        load(folder)
    assert error.value.remedy


def test_a_good_folder_is_read(folder):
    assert len(load(folder).recommend({"i0": 5}, 3)) == 3


@pytest.mark.parametrize("name", ["model.json", *FILES])
@pytest.mark.parametrize(
    "what", ["pipe", "socket", "folder", "zeros", "outside", "loop", "nothing"]
)
def test_what_is_no_file_is_not_read(folder, name, what, monkeypatch):
    """Break 9: a fifo hung, and a link to an endless device ate the memory."""
    path = folder / name
    path.unlink()
    if what == "pipe":
        os.mkfifo(path)
    elif what == "socket":
        monkeypatch.chdir(folder)
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(name)
    elif what == "folder":
        path.mkdir()
    elif what == "zeros":
        path.symlink_to("/dev/zero")
    elif what == "outside":
        other = folder.parent / "secret"
        other.write_text("{}")
        path.symlink_to(other)
    elif what == "loop":
        path.symlink_to(path)
    refused(folder, "damaged|cannot be read|is not a Tacit model")


def test_a_link_inside_of_the_folder_is_followed(folder):
    (folder / "blobs").mkdir()
    shutil.move(folder / "items.json", folder / "blobs" / "1")
    (folder / "items.json").symlink_to("blobs/1")
    load(folder)


@pytest.mark.parametrize("name", ["model.json", *FILES])
def test_a_file_of_a_terabyte_is_not_read(folder, name):
    os.truncate(folder / name, 1 << 40)
    refused(folder, "too large")


def test_how_large_a_model_may_be_can_be_said(folder, monkeypatch):
    os.truncate(folder / "arrays.safetensors", 3 << 20)
    monkeypatch.setenv("TACIT_MODEL_MB", "2")
    refused(folder, "TACIT_MODEL_MB")
    monkeypatch.setenv("TACIT_MODEL_MB", "4")
    refused(folder, "was changed")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[" * 100_000,
        '{"ids": [], "ids": []}',
        '{"ids": NaN}',
        "null",
        "[" + "[]," * 3_000_000 + "1]",
        "\ufeff{}",
        "9" * 10_000,
    ],
    ids=["empty", "cut", "deep", "twice", "nan", "null", "many", "mark", "long"],
)
@pytest.mark.parametrize("name", ["model.json", "items.json"])
def test_json_is_read_strictly(folder, name, text):
    (folder / name).write_text(text)
    if name == "items.json":
        repaired(folder)
    refused(folder, "damaged|too large")


def test_half_of_a_pair_is_no_text(folder):
    found = json.loads((folder / "items.json").read_bytes())
    found["titles"][0] = "\ud800"
    (folder / "items.json").write_text(json.dumps(found))
    refused(repaired(folder), "titles")


@pytest.mark.parametrize(
    "changes",
    [
        {"method": 3},
        {"method": "x" * 1000},
        {"personal": "nobody"},
        {"personal": ["gaussian"]},
        {"numbers": []},
        {"numbers": {"noise": "x"}},
        {"numbers": {"noise": True}},
        {"numbers": {"noise": 0}},
        {"numbers": {"noise": -1}},
        {"numbers": {"noise": 1e400}},
        {"numbers": {}},
        {"settings": None},
        {"settings": {"a": [[[[[[[[[[1]]]]]]]]]]}},
        {"schema": {}},
        {"schema": {"low": 5, "high": 1}},
        {
            "schema": {
                "low": 1,
                "high": 1 + 1e-9,
                "users": None,
                "max_ratings": None,
                "positive": None,
                "source": "given",
            }
        },
        {"digest": None},
        {"tacit_model": True},
        {"tacit_model": 0},
    ],
    ids=str,
)
def test_facts_are_checked(folder, changes):
    refused(repaired(folder, **changes), "damaged|no personal model")


@pytest.mark.parametrize(
    "changes",
    [
        {"ids": []},
        {"ids": None},
        {"ids": ["a"] * ITEMS},
        {"ids": [1, 2, 3, 4, 5]},
        {"titles": ["one"]},
        {"years": [1990]},
        {"years": [2**40] * ITEMS},
        {"years": [True] * ITEMS},
        {"tags": ["Drama"], "tagged": [[7]] * ITEMS},
        {"tags": ["Drama"], "tagged": [[-1]] * ITEMS},
        {"tags": ["Drama"], "tagged": [[0]]},
        {"tags": 3},
        {"numbers": ["x"], "numeric": [[]] * ITEMS},
        {"numbers": ["x"], "numeric": [["1"]] * ITEMS},
        {"numbers": ["x"], "numeric": [[1e300]] * ITEMS},
        {"tags": ["t"] * (1 << 22), "tagged": [[]] * ITEMS},
    ],
    ids=lambda changes: str(changes)[:60],
)
def test_catalogues_are_checked(folder, changes):
    found = json.loads((folder / "items.json").read_bytes()) | changes
    (folder / "items.json").write_text(json.dumps(found))
    refused(repaired(folder), "damaged|too large")


@pytest.mark.parametrize(
    ("personal", "changes"),
    [
        ("gaussian", {"baseline": np.zeros(ITEMS + 1, np.float32)}),
        ("gaussian", {"baseline": np.zeros((ITEMS, 1), np.float32)}),
        ("gaussian", {"baseline": np.zeros(ITEMS, np.int32)}),
        ("gaussian", {"variance": -np.ones(ITEMS, np.float32)}),
        ("gaussian", {"loadings": np.full((ITEMS, 3), np.nan, np.float32)}),
        ("gaussian", {"loadings": np.ones((ITEMS, 5000), np.float32)}),
        ("gaussian", {"loadings": np.ones((ITEMS, 0), np.float32)}),
        ("gaussian", {"implied": CHOICE["implied"]}),
        ("gaussian", {"usual": CHOICE["usual"]}),
        ("gaussian", CHOICE | {"implied": np.ones((3, 2), np.float32)}),
        ("gaussian", CHOICE | {"implied": np.ones((ITEMS, 3), np.float32)}),
        ("gaussian", CHOICE | {"implied": np.ones(3, np.float32)}),
        ("gaussian", CHOICE | {"implied": np.ones((3, 3), np.int32)}),
        ("gaussian", CHOICE | {"implied": np.full((3, 3), np.inf, np.float32)}),
        ("gaussian", CHOICE | {"usual": np.ones(ITEMS, np.float32)}),
        ("gaussian", CHOICE | {"usual": np.ones((1, 3), np.float32)}),
        ("gaussian", CHOICE | {"usual": np.full(3, np.nan, np.float32)}),
        ("kept-neighbours", {"start": np.array([0, 5, 1, 5, 2, 5], np.uint32)}),
        ("kept-neighbours", {"start": np.arange(ITEMS + 1)[::-1].copy()}),
        ("kept-neighbours", {"start": np.arange(ITEMS + 1) * 2}),
        ("kept-neighbours", {"neighbour": np.full(ITEMS, 7, np.int32)}),
        ("kept-neighbours", {"neighbour": np.full(ITEMS, -1, np.int32)}),
        ("kept-neighbours", {"similarity": np.ones(3, np.float32)}),
        ("ease", {"head": np.array([0, 9], np.int32)}),
        ("ease", {"head": np.array([1, 1], np.int32)}),
        ("ease", {"left": np.ones((2, 4), np.float32)}),
    ],
    ids=lambda value: value if isinstance(value, str) else str(next(iter(value))),
)
def test_arrays_fit_the_personal_model(tmp_path, personal, changes):
    """Break 9: shapes, indices and types that ended in tracebacks; all digests are right."""
    shared(personal, arrays=changes).save(tmp_path / "model", "{}")
    refused(tmp_path / "model", "damaged")


def test_what_a_choice_implies_is_read_where_both_arrays_are_there(tmp_path):
    shared(arrays=CHOICE).save(tmp_path / "model", "{}")
    assert set(load(tmp_path / "model").shared.arrays) == {*GAUSSIAN, *CHOICE}


def test_every_personal_model_declares_what_it_needs():
    for name in PERSONAL:
        needs = personal_class(name).arrays_needed
        assert needs, name
        assert any("items" in need.shape for need in needs.values())


def test_numbers_without_sense_are_an_error_of_the_model(tmp_path):
    """The right shapes, and a system that has no solution."""
    huge = {"loadings": np.full((ITEMS, 3), 3e38, np.float32)}
    shared(arrays=huge).save(tmp_path / "model", "{}")
    model = load(tmp_path / "model")
    for ask in (
        lambda: model.recommend({"i0": 5}),
        lambda: model.predict({"i0": 5}),
        lambda: model.explain({"i0": 5}, "i1"),
    ):
        with pytest.raises(ModelError, match="make no sense"):
            ask()


def tensors(header: Any, body: bytes = b"", length: int | None = None) -> bytearray:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(text) if length is None else length
    return bytearray(struct.pack("<Q", size) + text + body)


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    "data",
    [
        bytearray(),
        bytearray(b"\xff" * 8),
        tensors({}, length=1 << 62),
        tensors([]),
        tensors({"a": ENTRY}),
        tensors({"a": ENTRY}, bytes(9)),
        tensors({"a": ENTRY | {"shape": [3]}}, bytes(8)),
        tensors({"a": ENTRY | {"shape": [-1]}}, bytes(8)),
        tensors({"a": ENTRY | {"shape": [1 << 62, 1 << 62]}}, bytes(8)),
        tensors({"a": ENTRY | {"shape": [True, 2]}}, bytes(8)),
        tensors({"a": ENTRY | {"dtype": "F16"}}, bytes(8)),
        tensors({"a": ENTRY | {"dtype": []}}, bytes(8)),
        tensors({"a": ENTRY | {"data_offsets": [8, 0]}}, bytes(8)),
        tensors({"a": ENTRY | {"data_offsets": [0]}}, bytes(8)),
        tensors({"a": ENTRY | {"data_offsets": [-8, 0]}}, bytes(8)),
        tensors({"a": ENTRY, "b": ENTRY}, bytes(8)),
        tensors({"a": 3}, bytes(8)),
        tensors(b'{"a":{"dtype":"F32"', bytes(8)),
    ],
    ids=lambda data: str(bytes(data[8:60])),
)
def test_offsets_are_checked(data):
    with pytest.raises(ModelError, match="damaged"):
        arrays_of(data, Path("model"))


def test_arrays_are_read_as_they_were_written():
    data = tensors({"a": ENTRY}, np.array([1, 2], "<f4").tobytes())
    assert arrays_of(data, Path("model"))["a"].tolist() == [1, 2]
    none = ENTRY | {"shape": [0, 4], "data_offsets": [0, 0]}
    assert arrays_of(tensors({"a": none}), Path("model"))["a"].shape == (0, 4)
