"""`tacit refresh` through the entry point."""

from __future__ import annotations

import json


def asked(table, tmp_path, *more):
    items = tmp_path / "items.csv"
    items.write_text("item\n" + "\n".join(f"i{i}" for i in range(12)))
    return (
        "refresh",
        table,
        *("--items", items),
        *("--scale", "1,5"),
        *("--method", "popularity"),
        *("--epsilon", 1),
        *("--users", 60),
        *("--horizon", 3),
        *("--out", tmp_path / "year"),
        *("--ledger", tmp_path / "book.db"),
        *more,
    )


def test_one_charge_pays_for_every_release(tacit, table, tmp_path):
    first = tacit(*asked(table, tmp_path, "--json"))
    assert first.status == 0, first.err
    told = json.loads(first.out)
    assert told["release"] == 1
    assert told["statement"]["schedule"]["horizon"] == 3
    second = tacit(*asked(table, tmp_path))
    assert "release 2 of 3 written to" in " ".join(second.out.split())
    again = json.loads(tacit(*asked(table, tmp_path, "--release", 1, "--json")).out)
    assert again["digest"] == told["digest"]
    book = tmp_path / "book.db"
    shown = tacit("ledger", "show", "--ledger", book).out
    assert "release 2 of the calendar of entry 1" in " ".join(shown.split())
    checked = tacit("verify", told["model"], "--ledger", book)
    assert checked.status == 0, checked.err


def test_what_cannot_be_promised_exits_2(tacit, table, tmp_path):
    for more, says in (
        (("--method", "als"), "no calendar"),
        (("--unit", "rating"), "use --unit user"),
        (("--delta", 0), "not pure"),
        (("--begins", "2026-01-05"), "give both"),
        (("--begins", "soon", "--days", 7), "not a day"),
        (("--horizon", 1), "between 2"),
    ):
        done = tacit(*asked(table, tmp_path, *more))
        assert done.status == 2
        assert says in " ".join(done.err.split())
    assert not (tmp_path / "book.db").exists()
