"""Neighbouring files agree in all that is published or shown besides noised sums, over crossed
options; what cannot agree is refused before it is charged. A sample of the matrix always, all
of it at the judged sizes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from .crossing import compare, earlier
from .files import ONE
from .matrix import Case, matrix, pairs, sample

FULL = bool(os.environ.get("TACIT_FULL"))


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book and models to start from."""
    return earlier(tmp_path_factory.mktemp("earlier") / "book")


@pytest.mark.parametrize("case", matrix() if FULL else sample(), ids=str)
def test_neighbours_show_the_same(case: Case, tmp_path: Path, begun: Path) -> None:
    assert compare(case, tmp_path, begun) == []


@pytest.mark.parametrize("case", pairs(all_of_them=FULL), ids=str)
def test_neighbours_show_the_same_whoever_is_seen(case: Case, tmp_path: Path, begun: Path) -> None:
    """Public people, people who are forgotten, ratings that are kept apart, calendars, and
    what is made of such models."""
    assert compare(case, tmp_path, begun) == []


@pytest.mark.parametrize("items", [True, False])
def test_who_is_forgotten_may_be_the_one_in_whom_neighbours_differ(
    tmp_path: Path, items: bool
) -> None:
    """In one file she is found and in the other nobody is: others see the same."""
    case = Case("popularity", "user", "sound", "threads", items=items)
    case = replace(case, without=True)
    assert compare(case, tmp_path, gone=f"{ONE}\nnobody\n") == []
