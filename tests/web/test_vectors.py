"""Python and JavaScript tell a person the same: `spec/vectors` is what both must answer."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tacit.model.person.base import Own, personal_model

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path for path in (ROOT / "spec" / "vectors").glob("personal-*.json") if "items" not in path.name
)
CLOSE = 1e-5


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    """`spec/personal.py`, which made the files."""
    spec = importlib.util.spec_from_file_location("personal_vectors", ROOT / "spec" / "personal.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def same(found: Any, wanted: Any, where: str = "") -> None:
    """Equal but for rounding, however deep."""
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys(), where
        for key in wanted:
            same(found[key], wanted[key], f"{where}.{key}")
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), where
        for place, (one, other) in enumerate(zip(found, wanted, strict=True)):
            same(one, other, f"{where}[{place}]")
    else:
        np.testing.assert_allclose(found, wanted, atol=CLOSE, err_msg=where)


def test_every_kind_of_model_has_a_file(maker: ModuleType) -> None:
    from tacit.model.person.base import PERSONAL

    kinds = {maker.published(json.loads(path.read_text())).personal for path in FILES}
    assert kinds == set(PERSONAL)
    assert "personal-implied-gaussian" in {path.stem for path in FILES}
    size = sum(path.stat().st_size for path in (ROOT / "spec" / "vectors").glob("personal*"))
    assert size < 320_000


def test_what_choices_imply_is_in_the_answers_of_its_file(maker: ModuleType) -> None:
    path = ROOT / "spec" / "vectors" / "personal-implied-gaussian.json"
    shared = maker.published(json.loads(path.read_text()))
    arrays = dict(shared.arrays)
    assert np.abs(arrays.pop("implied")).max() > 1
    assert np.abs(arrays.pop("usual")).max() > 0.1
    own = Own(np.arange(10), np.linspace(-2, 2, 10))
    told, bare = (
        personal_model(each).predict(own) for each in (shared, replace(shared, arrays=arrays))
    )
    for one, other in zip(told, bare, strict=True):
        assert np.abs(one - other).max() > 100 * CLOSE


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_python_still_answers_as_written(path: Path, maker: ModuleType) -> None:
    facts = json.loads(path.read_text())
    shared = maker.published(facts)
    for case in facts["cases"]:
        told = maker.answers(shared, [(row, value) for row, value in case["ratings"]])
        same(json.loads(json.dumps(told)), case, path.stem)
    same(maker.similar(shared), facts["similar"]["found"], "similar")


@pytest.mark.parametrize("name", ["vectors", "person", "statement", "device", "noise"])
def test_javascript_answers_the_same(name: str) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    done = subprocess.run(
        [node, "--test", str(ROOT / "tests" / "web" / f"{name}.test.mjs")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "\n# pass 0\n" not in done.stdout
