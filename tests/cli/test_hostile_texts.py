"""Texts of strangers on a terminal and in a book (break 9: escape sequences in titles)."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.model.shared import Shared

ESCAPE = "\x1b]0;gone\x07\x1b[2J\x9b31m\u202e\nCERTIFIED"
CONTROLS = {chr(code) for code in (*range(32), *range(127, 160))} - {"\n"}


@pytest.fixture
def model(tmp_path):
    ids = [f"i{k}{ESCAPE}" for k in range(4)]
    shared = Shared(
        "bayes",
        "gaussian",
        {
            "baseline": np.arange(4, dtype=np.float32) / 10,
            "variance": np.ones(4, np.float32),
            "loadings": np.ones((4, 2), np.float32),
        },
        {"noise": 0.75},
        Schema(1, 5),
        Catalogue(ids, [f"Film {k}{ESCAPE}" for k in range(4)]),
    )
    statement = {
        "certified": "not private",
        "reason": f"why {ESCAPE}",
        "method": f"bayes{ESCAPE}",
        "calibration": "none",
        "engine": "threads",
        "unit": "user",
        "neighbours": ESCAPE,
        "trust": ESCAPE,
        "joint": ESCAPE,
        "purpose": f"a purpose{ESCAPE}",
        "software": ESCAPE,
    }
    shared.save(tmp_path / "model", json.dumps(statement))
    sure = {"certified": "certified", "epsilon": 1.0, "delta": 1e-6}
    shared.save(tmp_path / "certified", json.dumps(statement | sure))
    return tmp_path / "model"


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.csv"
    known = f"film 0{ESCAPE}".replace("\n", " ")  # a row is one line
    path.write_text(f"item,rating\n{known},5\nunknown{ESCAPE[:-10]},4\n")
    return path


def clean(*texts: str) -> None:
    for text in texts:
        assert not CONTROLS & set(text)
        assert "\u202e" not in text
        assert "\nCERTIFIED" not in text


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_titles_and_ids(tacit, model, mine, more):
    """Break 9: escape sequences in titles reached the terminal."""
    shown = tacit("recommend", model, "--ratings", mine, *more)
    assert shown.status == 0
    clean(shown.out, shown.err)
    assert "Film 3" in shown.out
    if more:
        found = json.loads(shown.out)["recommendations"]
        assert found[0]["title"] == f"Film 3{ESCAPE}"


RECORD = ("name=a", "by=b", "region=c", "date=2030-01-01")
REGISTRY = tuple(part for each in RECORD for part in ("--declare", each))


def test_records_of_the_registry(tacit, model):
    words = ("--registry", "--json", *REGISTRY)
    refused = tacit("statement", model, *words)
    assert refused.status == 2
    clean(refused.err)
    shown = tacit("statement", model.with_name("certified"), *words)
    assert shown.status == 0
    clean(shown.out, shown.err)
    json.loads(shown.out)


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_statements(tacit, model, more):
    shown = tacit("statement", model, *more)
    assert shown.status == 0
    clean(shown.out, shown.err)
    if more:
        json.loads(shown.out)


def test_errors_that_name_what_others_wrote(tacit, model, tmp_path):
    shown = tacit("similar", model, f"nothing{ESCAPE}")
    assert shown.status == 2
    clean(shown.err)
    assert len(shown.err.splitlines()) == 2
    shown = tacit("similar", tmp_path / f"no{ESCAPE}", "x")
    assert shown.status == 2
    clean(shown.err)
    shown = tacit("similar", model, "x", f"--{ESCAPE}")
    assert shown.status == 2
    clean(shown.err)


def test_a_book_keeps_one_line(tacit, tmp_path, popularity):
    made = tacit(
        *popularity,
        "--epsilon",
        1,
        "--users",
        30,
        "--purpose",
        f"why{ESCAPE}",
        "--out",
        tmp_path / "made",
    )
    assert made.status == 0, made.err
    for more in ((), ("--json",)):
        shown = tacit("ledger", "show", *more)
        clean(shown.out, shown.err)
        assert "why" in shown.out
    shown = tacit("ledger", "show", "--population", f"x{ESCAPE}")
    assert shown.status == 2
    clean(shown.err)
    cap = tacit("ledger", "cap", "--epsilon", 9, "--note", ESCAPE)
    assert cap.status == 0
    clean(tacit("ledger", "show").out)


FORMULA = '=HYPERLINK("http://x.example")'


def test_personal_lists_and_invented_people_are_disarmed(tacit, tmp_path):
    import polars as pl

    ids = [f"{FORMULA}{k}" for k in range(4)]
    titles = ["\x1b[2J film", "@SUM(A1)", "-1+1", "Film"]
    pl.DataFrame({"item": ids, "title": titles}).write_csv(tmp_path / "items.csv")
    people = [f"+{k}" for k in range(6)]
    rows = [
        (who, item, (at + place) % 5 + 1)
        for at, who in enumerate(people)
        for place, item in enumerate(ids[:3])
    ]
    table = pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row")
    table.write_csv(tmp_path / "r.csv")
    asked = ("--method", "bias", "--epsilon", 9, "--users", 6, "--scale", "1,5")
    items = ("--items", tmp_path / "items.csv")
    made = tacit("fit", tmp_path / "r.csv", *asked, *items, "--out", tmp_path / "m")
    assert made.status == 0, made.err
    lists = ("recommend", tmp_path / "m", "--people", tmp_path / "r.csv", "--out")
    told = tacit(*lists, tmp_path / "x.csv")
    assert told.status == 0, told.err
    text = (tmp_path / "x.csv").read_text()
    clean(text)
    found = pl.read_csv(tmp_path / "x.csv", schema_overrides={"person": pl.String})
    assert set(found["person"]) == {f"'{each}" for each in people}
    assert all(each.startswith("'=") for each in found["item"])
    assert tacit(*lists, tmp_path / "x.parquet").status == 0
    assert set(pl.read_parquet(tmp_path / "x.parquet")["person"]) == set(people)
    out = tmp_path / "invented.csv"
    told = tacit("synthesize", tmp_path / "m", "--people", 9, "--out", out)
    assert told.status == 0, told.err
    assert all(each.startswith("'=") for each in pl.read_csv(out)["item"])
