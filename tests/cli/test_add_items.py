"""`tacit add-items` through the entry point."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def model(tacit, tmp_path, table):
    items = tmp_path / "items.csv"
    items.write_text(
        "item,title,genres\n"
        + "\n".join(f"i{i},Film {i},{'A' if i % 2 else 'B'}" for i in range(12))
    )
    out = tmp_path / "model"
    book = tmp_path / "book.db"
    status = tacit(
        "fit",
        table,
        "--items",
        items,
        "--scale",
        "1,5",
        "--epsilon",
        1,
        "--users",
        30,
        "--out",
        out,
        "--ledger",
        book,
    )
    assert status.status == 0, status.err
    return out


def test_new_items_can_be_recommended(tacit, model, tmp_path):
    more = tmp_path / "more.csv"
    more.write_text("item,title,genres\ni3,Known,A\nn1,Brand New,A\n")
    out = tmp_path / "larger"
    done = tacit("add-items", model, more, "--out", out, "--json")
    assert json.loads(done.out)["added"] == 1
    mine = tmp_path / "mine.csv"
    mine.write_text("item,rating\ni1,5\n")
    assert "Brand New" in tacit("recommend", out, "--ratings", mine, "-n", 20).out


def test_a_file_of_known_items_is_refused(tacit, model, tmp_path):
    more = tmp_path / "more.csv"
    more.write_text("item,title\ni3,Known\n")
    refused = tacit("add-items", model, more, "--out", tmp_path / "larger")
    assert refused.status == 2
    assert "already" in refused.err
