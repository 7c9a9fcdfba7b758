"""How model folders are damaged, and how their digests are repaired."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_corrupt import damage

Random = random.Random
NAMES = ("model.json", "items.json", "statement.json", "arrays.safetensors")
HOSTILE = "\x1b[2J\x1b]0;gone\x07\u202e\x9b31m\nCERTIFIED"
"""Moves the cursor, retitles the window, turns the writing around, forges a line."""
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    10**40,
    1e308,
    -1e-320,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud800",
    "\x1b[2J\u2028",
    "y" * 30_000,
    [],
    {},
    [[]],
    [None],
    {"a": {}},
    "gaussian",
    "ease",
    "mean",
    "certified",
    "user",
]


def mutate_json(value: Any, rng: Random) -> Any:
    """One node, replaced, removed, repeated or wrapped."""
    spots: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        keys = node if isinstance(node, dict) else range(len(node))
        for key in list(keys):
            spots.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    if not isinstance(value, dict | list) or not value:
        return rng.choice(VALUES)
    walk(value)
    node, key = rng.choice(spots if rng.random() < 0.5 else spots[: 1 + len(spots) // 4])
    act = rng.randrange(7)
    if act <= 2:
        node[key] = rng.choice(VALUES)
    elif act == 3:
        del node[key]
    elif act == 4:
        node[key] = [node[key]] * rng.choice([1, 2, 300])
    elif act == 5 and isinstance(node, dict):
        node[rng.choice(["__proto__", "\x1b", "", str(key) + " "])] = node[key]
    elif isinstance(node[key], int | float) and not isinstance(node[key], bool):
        node[key] = node[key] * rng.choice([-1, 0, 1e9, 10**20, 0.5])
    elif isinstance(node, list):
        node.append(node[key])
    return value


def raw_json(value: Any, rng: Random) -> bytes:
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    act = rng.randrange(30)
    if act == 0:
        text = "[" * rng.choice([50, 100_000]) + text
    elif act == 1:
        text = text.replace("{", '{"method":"x",', 1)
    elif act == 2:
        text = text + " " + text
    elif act == 3:
        text = "[" + "[]," * 400_000 + "1]"
    data = text.encode("utf-8", "surrogatepass")
    return damage(data, rng) if act == 4 else data


def tensors(arrays: dict[str, Any], rng: Random) -> bytes:
    """A safetensors file of our own, whose header may lie."""
    names = {"float32": "F32", "float64": "F64", "int32": "I32", "int64": "I64"}
    names |= {"uint32": "U32", "uint8": "U8", "float16": "F16", "bool": "BOOL"}
    header: dict[str, Any] = {}
    at, body = 0, b""
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": names.get(str(array.dtype), "F32"),
            "shape": list(array.shape),
            "data_offsets": [at, at + len(data)],
        }
        at += len(data)
        body += data
    act = rng.randrange(4)
    if act == 0:
        header = mutate_json(header, rng)
    text = json.dumps(header).encode("utf-8", "surrogatepass")
    length = len(text)
    if act == 1 and rng.random() < 0.5:
        length = rng.choice([0, 2**63, length + 1, length - 1, 2**31])
    found = struct.pack("<Q", length) + text + body
    return damage(found, rng) if act == 2 and rng.random() < 0.5 else found


def mutate_arrays(arrays: dict[str, Any], rng: Random) -> dict[str, Any]:
    """Values, shapes and types of some array."""
    found = dict(arrays)
    name = rng.choice(list(found))
    array = np.array(found[name])
    act = rng.randrange(9)
    if act == 0 and array.size:
        array.flat[rng.randrange(array.size)] = rng.choice(
            [np.nan, np.inf, -1, 1e38, 0, -1e38]
            if array.dtype.kind == "f"
            else [0, 1, 7, 100]
            if array.dtype.kind in "ub"
            else [-1, 2**30, 0, 10**6]
        )
    elif act == 1:
        times = rng.choice([0, -1, 1e30, 1e-30])
        if array.dtype.kind != "f":
            times = rng.choice([0, -1, 1000])
        with np.errstate(all="ignore"):
            array = (array * np.float64(times)).astype(found[name].dtype)
    elif act == 2:
        array = array[: rng.randrange(len(array) + 1)]
    elif act == 3:
        array = array.reshape(-1) if rng.random() < 0.5 else array[None]
    elif act == 4:
        kind = rng.choice(
            [np.float64, np.float32, np.int32, np.int64, np.uint8, np.float16, np.bool_]
        )
        array = array.astype(kind)
    elif act == 5:
        array = np.concatenate([array, array])
    elif act == 6:
        array = np.zeros([rng.choice([0, 1, 3, 1000, size]) for size in array.shape], array.dtype)
    elif act == 7:
        array = array.T
    found[name] = array
    if act == 8:
        if rng.random() < 0.5:
            del found[name]
        else:
            found[rng.choice(["kept", "implicit", "lift", "head", "\x1b", "extra"])] = array
    return found


def damage_model(folder: Path, rng: Random) -> None:
    """Something in a model folder, with its digests repaired in half of the cases."""
    act = rng.randrange(13)
    repair = rng.random() < 0.5
    if act == 12:
        write_hostile(folder, rng)
        return
    if act <= 1:
        name = rng.choice(["model.json", "items.json", "statement.json", "arrays.safetensors"])
        (folder / name).write_bytes(damage((folder / name).read_bytes(), rng))
    elif act == 2:
        replace_file(folder, rng)
        return
    elif act <= 6:
        name = rng.choice(
            ["model.json", "model.json", "items.json", "items.json", "statement.json"]
        )
        value = json.loads((folder / name).read_bytes())
        for _ in range(rng.choice([1, 1, 1, 3])):
            value = mutate_json(value, rng)
        (folder / name).write_bytes(raw_json(value, rng))
    else:
        from safetensors.numpy import load

        held = load((folder / "arrays.safetensors").read_bytes())
        for _ in range(rng.choice([0, 1, 1, 2])):
            held = mutate_arrays(held, rng) if held else held
        (folder / "arrays.safetensors").write_bytes(tensors(held, rng))
    if repair:
        repair_digests(folder)


def write_hostile(folder: Path, rng: Random) -> None:
    """All that is well formed, and texts that a terminal would obey."""
    found = json.loads((folder / "items.json").read_bytes())
    for name in ("ids", "titles", "tags"):
        if rng.random() < 0.7:
            found[name] = [f"{HOSTILE}{text}" for text in found[name]]
    (folder / "items.json").write_text(json.dumps(found))
    told = json.loads((folder / "statement.json").read_bytes())
    for name in ("purpose", "population", "method", "trust", "software"):
        if rng.random() < 0.5:
            told[name] = f"{HOSTILE}{told[name]}"
    (folder / "statement.json").write_text(json.dumps(told))
    repair_digests(folder)


def replace_file(folder: Path, rng: Random) -> None:
    """What is no file, or not the file that it should be."""
    path = folder / rng.choice(["model.json", "items.json", "statement.json", "arrays.safetensors"])
    kept = path.read_bytes()
    path.unlink()
    acts: list[Callable[[], object]] = [
        lambda: None,
        lambda: os.mkfifo(path),
        lambda: path.mkdir(),
        lambda: path.symlink_to("/dev/zero"),
        lambda: path.symlink_to("/dev/full"),
        lambda: path.symlink_to("/dev/tty"),
        lambda: path.symlink_to(path),
        lambda: path.symlink_to("../../../../etc/hostname"),
        lambda: path.symlink_to("/proc/self/mem"),
        lambda: path.write_bytes(b""),
        lambda: _sparse(path, kept, rng.choice([1 << 28, 1 << 36])),
        lambda: _socket(path),
    ]
    rng.choice(acts)()


def _sparse(path: Path, head: bytes, size: int) -> None:
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def repair_digests(folder: Path) -> None:
    """As somebody would who makes a folder to hurt: all digests fit."""
    from safetensors.numpy import load

    from tacit.data.catalogue import catalogue_from
    from tacit.data.schema import Schema
    from tacit.model.shared import Shared

    try:
        facts = json.loads((folder / "model.json").read_bytes())
        names = ("arrays.safetensors", "items.json", "statement.json")
        for name in names:
            facts["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        # What cannot be digested has no digest.
        with contextlib.suppress(Exception):
            facts["digest"] = Shared(
                facts["method"],
                facts["personal"],
                load((folder / "arrays.safetensors").read_bytes()),
                facts["numbers"],
                Schema(**facts["schema"]),
                catalogue_from(json.loads((folder / "items.json").read_bytes())),
                facts["settings"],
            ).digest()
        (folder / "model.json").write_bytes(json.dumps(facts).encode("utf-8", "surrogatepass"))
    except Exception:  # noqa: BLE001  nor can what is no JSON be repaired
        return
