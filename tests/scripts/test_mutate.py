"""Planted privacy bugs: every patch still applies, and a few are really caught."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from mutating.book import Book  # noqa: E402
from mutating.bugs import BUGS  # noqa: E402
from mutating.run import Caught, Tree  # noqa: E402

SOME = ("seeded noise", "rounds do not add up", "mask reused for another state")
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


def test_a_run_is_taken_up_where_it_was_cut_off(tmp_path: Path) -> None:
    first, second, third = BUGS[:3]
    path = tmp_path / "book.json"
    book = Book(path, fresh=False)
    book.write(Caught(first, "a/test_b.py::test_c", 1.0))
    book.write(Caught(second, "", 2.0))
    again = Book(path, fresh=False)
    found = again.find(first)
    assert found is not None
    assert found.by == "a/test_b.py::test_c"
    assert again.find(second) is None  # it survived: planted again
    assert again.find(third) is None
    other = replace(first, new=f"{first.new} ")
    assert again.find(other) is None  # another patch
    assert Book(path, fresh=True).find(first) is None


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
