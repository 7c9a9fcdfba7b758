"""`scripts/compare` notices a changed number, and only where it changed."""

from __future__ import annotations

import copy
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from comparing.differ import differences  # noqa: E402

RECORD = {
    "arrays": {"bias": ["<f4", [3], "aa"], "level": ["<f8", [1], "bb"]},
    "use": {"predict": [{"rating": 3.5}, {"rating": math.nan}]},
    "words": "one\ntwo",
}


def changed(**parts):
    return differences(RECORD, {**copy.deepcopy(RECORD), **parts})


def test_equal_records_have_no_differences():
    assert differences(RECORD, json.loads(json.dumps(RECORD))) == []


LEVEL = {"level": ["<f8", [1], "bb"]}


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"arrays": LEVEL | {"bias": ["<f4", [3], "ab"]}}, "array bias: other values"),
        ({"arrays": LEVEL | {"bias": ["<f8", [3], "aa"]}}, "array bias: <f4 (3,) is now <f8 (3,)"),
        ({"arrays": LEVEL}, "array bias: gone"),
        (
            {"use": {"predict": [{"rating": 3.5000000000000004}, {"rating": math.nan}]}},
            "use.predict[0].rating",
        ),
        ({"use": {"predict": [{"rating": 3.5}]}}, "use.predict"),
        ({"words": "one\nto"}, "words: two -> to"),
    ],
)
def test_one_change_is_one_difference_with_its_place(parts, told):
    (line,) = changed(**parts)
    assert line.startswith(told)


def test_zero_has_a_sign():
    assert differences({"x": 0.0}, {"x": -0.0}) == ["x: 0.0 -> -0.0"]


def test_a_refusal_is_told_from_a_fit():
    refused = {"refused": "SettingError", "words": "no"}
    assert differences(RECORD, refused) == ["was fitted, is refused (SettingError: no)"]
    assert differences(refused, {**refused, "words": "yes"}) == ["words: no -> yes"]


def compare(old, new, cache, only, *more):
    command = [
        sys.executable,
        "-m",
        "comparing",
        str(old),
        str(new),
        "--cache",
        str(cache),
        "--only",
        only,
        *more,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


def test_a_changed_constant_is_found_where_it_counts_and_nowhere_else(tmp_path, full):
    """Run twice, the program gives the same; with fewer sweeps only what sweeps differs."""
    if not full:
        pytest.skip("half a minute: only with scripts/test --full")
    other, cache = tmp_path / "other", tmp_path / "cache"
    shutil.copytree(ROOT / "src", other / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", other)
    cells = "sound user threads rated features whole declared"
    same = compare(ROOT, other, cache, f"bias {cells}")
    assert same.returncode == 0, same.stdout + same.stderr
    assert "1 equal, 0 differ" in same.stdout
    (path,) = (other / "src").rglob("bias.py")
    text = path.read_text("utf-8")
    assert text.count("sweeps: int = Field(3,") == 1
    path.write_text(text.replace("sweeps: int = Field(3,", "sweeps: int = Field(2,"), "utf-8")
    found = compare(ROOT, other, cache, f"bias {cells}")
    assert found.returncode == 1
    assert "0 equal, 1 differ" in found.stdout
    assert "other values" in found.stdout
    assert compare(ROOT, other, cache, f"popularity {cells}").returncode == 0
