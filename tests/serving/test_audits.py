"""Audits beside a model: shown to the officer, and never believed in their form."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tacit.serving.officer import read_audits
from tacit.serving.officer_page import officer_page

FINDING = {
    "attack": "one run",
    "method": "bayes",
    "unit": "user",
    "calibration": "sound",
    "claimed": 1.0,
    "proven": 0.98,
    "measured": 0.31,
    "delta": 1e-6,
    "verdict": "not refuted",
}


def shelved(folder: Path) -> Any:
    facts = {"method": "bayes", "promise": {"certified": "certified", "unit": "user"}}
    return SimpleNamespace(name="stars", folder=folder, facts=facts)


def test_an_audit_is_shown_with_its_verdict(tmp_path: Path) -> None:
    hostile = FINDING | {"verdict": "<script>", "measured": None}
    found = {"best": [FINDING, hostile], "findings": []}
    (tmp_path / "audit.json").write_text(json.dumps(found))
    rows = read_audits([shelved(tmp_path)])
    assert [row["verdict"] for row in rows] == ["not refuted", "<script>"]
    page = officer_page([], [shelved(tmp_path)], rows)
    for words in ("one run", "0.31", "0.98", "not refuted", "&lt;script&gt;"):
        assert words in page
    assert "<script" not in page


@pytest.mark.parametrize("text", ["{", "[]", '{"best": 3}', '{"findings": [1, {}]}', "\udcff"])
def test_a_file_of_another_form_does_no_harm(tmp_path: Path, text: str) -> None:
    path = tmp_path / "audit.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    rows = read_audits([shelved(tmp_path)])
    assert all(row["claimed"] is None for row in rows)
    officer_page([], [shelved(tmp_path)], rows)


def test_without_an_audit_it_says_how_to_make_one(tmp_path: Path) -> None:
    assert read_audits([shelved(tmp_path)]) == []
    assert "tacit audit MODEL" in officer_page([], [], [])
