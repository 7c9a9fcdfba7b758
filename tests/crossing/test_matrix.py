"""Neighbouring files agree in all that is published or shown besides noised sums (issue: what
broke were crossings of options)."""

from __future__ import annotations

from pathlib import Path

import pytest

from .crossing import compare, earlier
from .matrix import Case, matrix, sample

MOST = 40
"""Cases of the sample that every run of the tests sees."""
CASES = matrix()
SAMPLE = sample(CASES, MOST)


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return earlier(tmp_path_factory.mktemp("earlier") / "book")


@pytest.mark.parametrize("case", SAMPLE, ids=str)
def test_neighbours_show_the_same(
    case: Case, tmp_path: Path, begun: Path
) -> None:
    assert compare(case, tmp_path, begun) == []
