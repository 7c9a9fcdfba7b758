"""The pages of a federation's threats and proofs name tests that guard them: each is there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("docs/threats.md", "docs/proofs/federated.md")
NAMED = re.compile(r"`(test_[a-z0-9_]+)(?:…|`)")
"""A test by its name, or by the beginning of it."""


@cache
def sources() -> str:
    """All sources of tests, and the names of their files."""
    files = sorted((ROOT / "tests").rglob("*.py"))
    return "\n".join(f"def {each.stem}\n{each.read_text()}" for each in files)


@pytest.mark.parametrize("page", PAGES)
def test_every_guard_that_a_page_names_exists(page: str) -> None:
    named = set(NAMED.findall((ROOT / page).read_text()))
    assert len(named) > 5
    assert {name for name in named if f"def {name}" not in sources()} == set()


PROOFS = sorted((ROOT / "docs" / "proofs").glob("*.md"))
FILE = re.compile(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.py)`")
ROOMS = (ROOT, ROOT / "src" / "tacit", ROOT / "src" / "tacit" / "methods")
"""Where a file that a proof names may lie."""


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.stem)
def test_every_file_that_a_proof_names_is_there(page: Path) -> None:
    """Thirteen had moved."""
    named = set(FILE.findall(page.read_text("utf-8")))
    lost = {name for name in named if not any((room / name).is_file() for room in ROOMS)}
    assert lost == set()
