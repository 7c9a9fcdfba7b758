"""The packed form says how far it is from the published arrays, and is that far."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tacit.errors import ModelError, SettingError
from tacit.model.person.base import Own, personal_model
from tacit.model.shared import Shared, load_shared
from tacit.serving.compact import LEVELS, Precision, pack, unpack


@pytest.fixture
def shared(shelf_folder: Path) -> Shared:
    return load_shared(shelf_folder / "stars")[0]


@pytest.mark.parametrize("precision", ["auto", "float32", "float16", "int8"])
def test_the_stated_error_is_the_error(shared: Shared, precision: str) -> None:
    packed = pack(shared, "stars", precision)  # type: ignore[arg-type]
    seen = unpack(packed.data)
    assert set(seen.arrays) == set(shared.arrays) - {"kept"}
    for name, array in seen.arrays.items():
        gap = float(np.abs(array.astype(np.float64) - shared.arrays[name]).max())
        assert gap <= packed.error[name] * (1 + 1e-6) + 1e-9, name
        assert packed.error[name] <= gap + 1e-6, name
    listed = {each["name"]: each["error"] for each in seen.header["arrays"]}
    assert listed == dict(packed.error)


def test_fewer_bits_mean_fewer_bytes_and_more_error(shared: Shared) -> None:
    sizes = [len(pack(shared, "m", each).data) for each in ("float32", "float16", "int8")]
    assert sizes == sorted(sizes, reverse=True)
    errors = [pack(shared, "m", each).error["loadings"] for each in ("float32", "float16", "int8")]
    assert errors[0] == 0
    assert errors == sorted(errors)
    column = np.abs(shared.arrays["loadings"]).max(axis=0).max()
    assert errors[2] <= column / LEVELS / 2 * 1.001


def test_predictions_hardly_move(shared: Shared) -> None:
    seen = replace(shared, arrays=unpack(pack(shared, "m").data).arrays)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(shared.catalogue))[:40]
    own = Own(rows, rng.uniform(-2, 2, 40))
    told = [personal_model(each).predict(own) for each in (shared, seen)]
    assert np.abs(told[0][0] - told[1][0]).max() < 2e-3
    assert np.abs(told[0][1] - told[1][1]).max() < 2e-3


@pytest.mark.parametrize("precision", ["auto", "int8"])
def test_what_choices_imply_hardly_moves_either(shared: Shared, precision: Precision) -> None:
    rng = np.random.default_rng(1)
    width = shared.arrays["loadings"].shape[1]
    told = {
        "implied": rng.normal(0, 2, (width, width)).astype(np.float32),
        "usual": rng.normal(0, 0.1, width).astype(np.float32),
    }
    known = replace(shared, arrays={**shared.arrays, **told})
    packed = pack(known, "m", precision)
    seen = unpack(packed.data).arrays
    assert packed.error["usual"] == 0
    assert seen["implied"].shape == (width, width)
    rows = rng.permutation(len(shared.catalogue))[:40]
    own = Own(rows, rng.uniform(-2, 2, 40))
    bare = {k: v for k, v in known.arrays.items() if k not in told}
    before, after, without = (
        personal_model(replace(shared, arrays=arrays)).predict(own)[0]
        for arrays in (known.arrays, seen, bare)
    )
    allowed = 2e-3 if precision == "auto" else 0.03
    assert np.abs(before - after).max() < allowed
    assert np.abs(before - without).max() > 0.05


def test_what_a_later_fit_needs_is_not_sent(shared: Shared) -> None:
    assert "kept" in shared.arrays
    assert b'"kept","type"' not in pack(shared, "m").data


def test_places_are_exact_and_small(shared: Shared) -> None:
    for places in (np.array([0, 3, 65_535]), np.array([70_000, 2**32 - 1])):
        given = replace(shared, arrays={"head": places})
        np.testing.assert_array_equal(unpack(pack(given, "m").data).arrays["head"], places)
    with pytest.raises(ModelError, match="out of range"):
        pack(replace(shared, arrays={"head": np.array([-1])}), "m")


def test_numbers_beyond_a_half_are_sent_whole(shared: Shared) -> None:
    wide = np.array([[1e6, 1.0], [2.0, 3.0]], np.float32)
    packed = pack(replace(shared, arrays={"path": wide}), "m")
    assert packed.error["path"] == 0
    np.testing.assert_array_equal(unpack(packed.data).arrays["path"], wide)


def test_what_is_not_finite_is_refused(shared: Shared) -> None:
    broken = {"loadings": np.array([[1.0, np.nan]], np.float32)}
    with pytest.raises(ModelError, match="not finite"):
        pack(replace(shared, arrays=broken), "m")
    with pytest.raises(SettingError, match="precision"):
        pack(shared, "m", "float8")  # type: ignore[arg-type]


def test_damaged_bytes_are_refused(shared: Shared) -> None:
    data = pack(shared, "m").data
    wrong = [b"", data[:100], b"X" + data[1:], data[:8] + struct.pack("<II", 9, 8) + data[16:]]
    length = struct.unpack("<I", data[12:16])[0]
    header = json.loads(data[16 : 16 + length])
    header["arrays"][0]["at"] = 10**9
    words = json.dumps(header).encode()
    wrong.append(data[:12] + struct.pack("<I", len(words)) + words + data[16 + length :])
    for each in wrong:
        with pytest.raises(ModelError):
            unpack(each)
