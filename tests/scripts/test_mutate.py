"""Planted privacy bugs: every patch still applies, and a few are really caught."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from mutating.bugs import BUGS  # noqa: E402
from mutating.run import Tree  # noqa: E402

SOME = (
    "seeded noise",
    "rounds do not add up",
    "mask reused for another state",
)
"""Quick ones, of three rooms; `scripts/mutate` plants all."""


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_every_patch_applies_exactly_once(bug) -> None:
    text = (ROOT / "src" / "tacit" / bug.file).read_text()
    assert text.count(bug.old) == 1
    assert bug.new != bug.old
    compile(text.replace(bug.old, bug.new), bug.file, "exec")


def test_there_are_enough_of_them_and_each_names_a_test() -> None:
    assert len(BUGS) >= 40
    assert len({bug.name for bug in BUGS}) == len(BUGS)
    for bug in BUGS:
        for test in bug.caught_by:
            file, _, name = test.partition("::")
            text = (ROOT / "tests" / file).read_text()
            assert f"def {name}" in text or f"class {name}" in text


def test_some_are_planted_and_caught(tmp_path: Path, full: bool) -> None:
    if not full:
        pytest.skip("a quarter of a minute: only with scripts/test --full")
    tree = Tree(tmp_path)
    for bug in BUGS:
        if bug.name in SOME:
            before = (tree.folder / "src" / "tacit" / bug.file).read_text()
            assert tree.plant(bug).by
            after = (tree.folder / "src" / "tacit" / bug.file).read_text()
            assert after == before
