"""Pictures: the same bytes for the same numbers, in the colours of the page."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from tacit.errors import SettingError
from tacit.evaluation.report.charts import COLOURS, NOT_PRIVATE, bare_log, picture


def _draw(figure: Any, narrow: bool) -> None:
    axes = figure.subplots()
    axes.plot([0.1, 1, 10], [3, 2, 1], marker="o", label="bayes")
    axes.fill_between([0.1, 1, 10], [2, 1, 0], [4, 3, 2], alpha=0.2)
    bare_log(axes, [0.1, 1, 10])
    axes.legend()


@pytest.fixture(scope="module")
def drawn() -> str:
    return picture("curve", _draw, description="A curve")


def test_equal_numbers_give_equal_bytes(drawn: str) -> None:
    assert drawn == picture("curve", _draw, description="A curve")


def test_every_id_is_one_of_a_kind(drawn: str) -> None:
    ids = re.findall(r'\bid="([^"]*)"', drawn)
    assert len(ids) == len(set(ids))
    used = re.findall(r'(?:url\(|href=")#([^)"]*)', drawn)
    assert set(used) <= set(ids)


def test_the_page_gives_the_colours(drawn: str) -> None:
    assert not any(value in drawn for value in COLOURS.values())
    assert "var(--c0)" in drawn


def test_the_mark_is_inside_of_both_sizes(drawn: str) -> None:
    assert drawn.count(NOT_PRIVATE) == 2
    assert NOT_PRIVATE not in picture("p", _draw, description="", private=True)


def test_the_users_own_look_changes_nothing(drawn: str) -> None:
    import matplotlib

    with matplotlib.rc_context({"font.size": 30, "svg.hashsalt": "other"}):
        assert picture("curve", _draw, description="A curve") == drawn


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SettingError, match="matplotlib") as caught:
        picture("curve", _draw, description="A curve")
    assert "tacit[plots]" in str(caught.value)
