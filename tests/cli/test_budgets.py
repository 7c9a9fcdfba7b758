"""`tacit fit --budgets`: what is said, to whom, and what is published."""

from __future__ import annotations

import json


def test_people_ask_for_less_and_only_the_owner_is_told(tacit, table, tmp_path) -> None:
    asked = tmp_path / "asked.csv"
    asked.write_text("user,epsilon\nu1,0.2\nu2,0\nsomebody,0.1\n")
    out = tmp_path / "model"
    seen = tacit(
        *("fit", table, "--scale", "1,5", "--epsilon", "1", "--users", "30"),
        *("--method", "popularity", "--out", out, "--budgets", asked),
    )
    assert seen.status == 0, seen.err
    assert "of 3 people with budgets of their own 2 are in the table" in seen.err
    told = json.loads((out / "statement.json").read_text())
    assert any("asked for less" in line for line in told["per_person"])
    published = "".join(path.read_text(errors="replace") for path in out.iterdir())
    assert "somebody" not in published
    assert "0.2" not in json.dumps(told["per_person"])


def test_another_unit_says_why_not(tacit, table, tmp_path) -> None:
    asked = tmp_path / "asked.csv"
    asked.write_text("user,epsilon\nu1,0.2\n")
    seen = tacit(
        *("fit", table, "--scale", "1,5", "--epsilon", "1", "--unit", "rating"),
        *("--method", "bias", "--out", "m", "--budgets", asked),
    )
    assert seen.status == 2
    assert "whole people" in seen.err
