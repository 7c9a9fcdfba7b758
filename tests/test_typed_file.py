"""Small files of ours that were damaged: words with the file and the field, never a traceback,
and no value of the file in them."""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.fitting.calendars import Owner

from tacit.errors import ModelError, StorageError, TacitError
from tacit.federation.protocol.keys import Identity
from tacit.fitting import refresh as conductor
from tacit.ledger.statement.declared import declare, read_declared
from tacit.typed_file import read_json

WRONG = (None, True, -1, 1.5, 10**400, "", "x", "zz" * 32, "\ud800", [], [1], {}, {"a": 1})


def places(value: Any, at: tuple = ()) -> Iterator[tuple]:
    yield at
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(min(len(value), 2)):
            yield from places(value[key], (*at, key))


def changed(value: Any, at: tuple, new: Any) -> Any:
    if not at:
        return new
    whole = copy.deepcopy(value)
    inner = whole
    for key in at[:-1]:
        inner = inner[key]
    if new is Ellipsis:
        del inner[at[-1]]
    else:
        inner[at[-1]] = new
    return whole


def damaged_json(data: bytes) -> Iterator[bytes]:
    value = json.loads(data)
    for at in places(value):
        for new in (*WRONG, *[...] * bool(at)):
            yield json.dumps(changed(value, at, new)).encode()
    yield from damaged_bytes(data)


def damaged_bytes(data: bytes) -> Iterator[bytes]:
    yield from (b"", data[: len(data) // 2], data + b"\xff", b"NaN", b"1" * 6000)
    yield from (b"[" * 100_000, b'{"a":' * 100_000)
    rng = random.Random(7)
    for _ in range(8):
        flipped = bytearray(data)
        flipped[rng.randrange(len(data))] = rng.randrange(256)
        yield bytes(flipped)


def test_an_error_names_the_file_and_the_field(tmp_path):
    class Wanted(BaseModel):
        keys: list[int]

    path = tmp_path / "some.json"
    path.write_text('{"keys": [1, "secret"]}')
    with pytest.raises(StorageError) as refused:
        read_json(path, Wanted, StorageError, "restore it")
    told = str(refused.value)
    assert f"{path} cannot be read: `keys.1`" in told
    assert "restore it" in told
    assert "secret" not in told
    path.write_text('{"keys": [], "keys": [1]}')
    with pytest.raises(ModelError, match="not proper JSON"):
        read_json(path, Wanted, ModelError, "restore it")


def test_a_damaged_identity_is_words(tmp_path):
    path = tmp_path / "identity.json"
    whole = Identity(path)
    whole.rotate()
    whole.hold(whole.current, "training")
    data = path.read_bytes()
    secrets = [key.hex() for key in whole.exchange]
    told = list[str]()
    for damaged in damaged_json(data):
        path.write_bytes(damaged)
        try:
            Identity(path)
        except TacitError as error:
            told.append(str(error))
    assert len(told) > 70
    assert all("identity.json" in each for each in told)
    assert not any(key in each for each in told for key in secrets)


TABLE = 'name = "a"\nby = "A library"\ndate = 2024-01-01\n'


def damaged_toml() -> Iterator[bytes]:
    yield from damaged_bytes(TABLE.encode())
    for value in ("1", "[]", "{}", "nan", "10:00:00", "1" * 6000, "[" * 5000, "{a=" * 3000):
        for name in ("name", "date", "a.b", '""'):
            yield f"{name} = {value}\n".encode()


def test_a_damaged_declaration_is_words(tmp_path):
    path = tmp_path / "about.toml"
    for damaged in damaged_toml():
        path.write_bytes(damaged)
        with suppress(TacitError):
            declare(read_declared(str(path)))


def test_a_damaged_calendar_is_words(tmp_path, monkeypatch):
    monkeypatch.setattr(conductor, "rehearse", lambda *_, **__: None)
    (tmp_path / "made").mkdir()
    Owner(tmp_path / "made").next()
    files = [each for each in sorted((tmp_path / "made" / "calendar").rglob("*")) if each.is_file()]
    rng = random.Random(3)
    for file in files:
        if file.name == "lock":
            continue
        data = file.read_bytes()
        forms = list(damaged_json(data) if file.suffix == ".json" else damaged_bytes(data))
        for damaged in rng.sample(forms, 1):
            case = tmp_path / "case"
            shutil.rmtree(case, ignore_errors=True)
            shutil.copytree(tmp_path / "made", case)
            (case / file.relative_to(tmp_path / "made")).write_bytes(damaged)
            with suppress(TacitError):
                Owner(case).next()


def test_a_release_of_another_shape_is_refused(tmp_path, monkeypatch):
    """Noisy numbers of the open week are in no digest yet."""
    import numpy as np

    from tacit.fitting.diary import Diary

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    monkeypatch.setattr(conductor, "rehearse", lambda *_, **__: None)
    owner = Owner(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Diary, "put_arrays", killed)
        with pytest.raises(Killed):
            owner.next()
    noisy = next((owner.out / "private" / "01").glob("*.noisy.npy"))
    np.save(noisy, np.zeros(3, np.int64))
    with pytest.raises(ModelError, match="is damaged"):
        owner.next()


def test_further_trainings_are_tables(tmp_path):
    from tacit.cli.federate.serve import further

    path: Path = tmp_path / "also.toml"
    for text in ("training = [1]", "training = 1", "x = 1", "[[training]]\n[other]", "=", "["):
        path.write_text(text)
        with pytest.raises(TacitError, match=r"also\.toml cannot be read"):
            further({"also": str(path)})
