"""Books and verdicts as documents that an officer forwards: one page, or Markdown."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def model(tacit, popularity, tmp_path, tacit_home):
    place = tmp_path / "model"
    paid = ("--epsilon", 1, "--users", 30, "--purpose", "a <b>test</b>")
    assert tacit(*popularity, *paid, "--out", place).status == 0
    return place


def test_a_book_is_a_page_that_stands_alone(tacit, model, tmp_path):
    assert tacit("ledger", "cap", "--epsilon", 3).status == 0
    page = tmp_path / "book.html"
    assert tacit("ledger", "show", "--out", page).status == 0
    text = page.read_text()
    assert "<script" not in text
    assert "@media print" in text
    assert "a &lt;b&gt;test&lt;/b&gt;" in text
    assert "left of a cap of 3" in text


def test_a_book_as_markdown_has_every_entry_and_its_head(tacit, model, tmp_path):
    page = tmp_path / "book.md"
    assert tacit("ledger", "show", "--out", page).status == 0
    facts = json.loads(tacit("ledger", "show", "--json").out)
    text = page.read_text()
    assert facts["head"] in text
    assert "| 1 |" in text
    assert "| fit | user | popularity |" in text


def test_a_damaged_book_is_no_page(tacit, model, tmp_path, tacit_home):
    import sqlite3
    from contextlib import closing

    book = next(tacit_home.glob("*.sqlite"))
    with closing(sqlite3.connect(book)) as ledger, ledger:
        names = [
            row[0]
            for row in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        ]
        for name in names:
            ledger.execute(f'DROP TRIGGER "{name}"')
        ledger.execute("UPDATE entry SET text = replace(text, '1.0', '0.1')")
    page = tmp_path / "book.html"
    seen = tacit("ledger", "show", "--out", page)
    assert seen.status == 2
    assert not page.exists()


@pytest.mark.parametrize("name", ["verdict.html", "verdict.md"])
def test_a_verdict_is_written_and_printed(tacit, model, tmp_path, name):
    page = tmp_path / name
    seen = tacit("verify", model, "--out", page)
    assert seen.status == 0
    assert "verified: charged as entry 1" in seen.out
    assert "charged as entry 1" in page.read_text()
    assert "NOT VERIFIED" not in page.read_text()


def test_a_model_that_is_not_in_the_book_gets_its_page_too(tacit, model, tmp_path):
    page = tmp_path / "verdict.md"
    place = tmp_path / "other.sqlite"
    assert tacit("ledger", "cap", "--epsilon", 1, "--ledger", place).status == 0
    seen = tacit("verify", model, "--ledger", place, "--out", page)
    assert seen.status == 1
    assert "NOT VERIFIED" in page.read_text()
