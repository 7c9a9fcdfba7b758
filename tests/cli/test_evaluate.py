"""`tacit evaluate`: what it prints, what it writes, what it refuses."""

from __future__ import annotations

import json
import re
import stat

import pytest

BASE = "--scale 1,5 --users 30 --method popularity --epsilon 1,5 --seeds 1"


@pytest.fixture
def timed(tmp_path):
    """Ratings with times: 30 people, 12 items, a day apart."""
    path = tmp_path / "timed.csv"
    rows = [
        f"u{u},i{i},{1 + (u * i) % 5},{10**9 + 86400 * (u + i)}"
        for u in range(30)
        for i in range(12)
        if (u + i) % 3
    ]
    path.write_text("user,item,rating,timestamp\n" + "\n".join(rows) + "\n")
    return path


def _run(tacit, table, *more):
    return tacit("evaluate", table, *BASE.split(), "--no-reference", *more)


def test_files_for_the_owner_alone(tacit, table, tmp_path) -> None:
    import polars as pl

    names = ("page.html", "table.csv", "people.parquet")
    page, csv, people = (tmp_path / name for name in names)
    seen = _run(tacit, table, *("--report", page, "--csv", csv, "--people", people))
    assert seen.status == 0, seen.err
    for path in (page, csv, people):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = page.read_text()
    assert "NOT PRIVATE" in text
    plain = re.sub("</?span>", "", text)
    assert f"tacit evaluate {table} --method popularity" in plain
    assert "--report" not in text
    assert pl.read_csv(csv).height == 3 + 4
    assert set(pl.read_parquet(people)["method"]) == {"popularity"}


def test_json_says_what_the_numbers_depend_on(tacit, table) -> None:
    told = json.loads(_run(tacit, table, "--json").out)
    assert told["users"] == 30
    assert told["split"] == "90/10"
    assert told["seeds"] == 1
    assert len(told["data_digest"]) == 16
    assert told["cells"][0]["delta"] > 0
    assert [each["baseline"] for each in told["baselines"]] == [
        "global mean",
        "own mean",
        "item mean",
        "popularity",
    ]


def test_random_splits_are_said_to_let_the_future_in(tacit, timed) -> None:
    assert "future" in _run(tacit, timed).err
    assert "future" not in _run(tacit, timed, "--split", "time").err


def test_a_date_cuts_for_everybody(tacit, timed) -> None:
    more = ("--json", "--split", "2001-09-30", "--until", "2001-10-10")
    told = json.loads(_run(tacit, timed, *more).out)
    assert told["split"] == "2001-09-30"
    assert 0 < told["ratings"] < 240


@pytest.mark.parametrize(
    "bad",
    [
        ("--sweep", "nothing"),
        ("--sweep", "unknown=1,2"),
        ("--report", "page.txt"),
        ("--csv", "no/such/folder/table.csv"),
        ("--until", "yesterday"),
        ("--split", "2001-99-01"),
        ("--unit", "user,nobody"),
        ("--calibration", "sound,loud"),
        ("--epsilon", "1,much"),
    ],
)
def test_bad_options_are_refused_before_reading(tacit, table, bad) -> None:
    seen = _run(tacit, table, *bad)
    assert seen.status == 2
    assert "remedy" in seen.err


def test_public_people_are_for_the_fits_that_use_them(tacit, table, timed) -> None:
    asked = f"{BASE} --no-reference --no-twin".replace("1,5 --seeds", "5 --seeds")
    both = asked.replace("popularity", "popularity,bayes").split()
    told = tacit("evaluate", table, *both, "--public", timed, "--json")
    assert told.status == 0, told.err
    facts = json.loads(told.out)
    assert "30 people who are taken to be public" in facts["public_people"]
    methods = {cell["method"] for cell in facts["cells"]}
    assert methods == {"popularity", "bayes"}
    refused = tacit("evaluate", table, *asked.split(), "--public", timed)
    assert refused.status == 2
    assert "compare bayes too" in refused.err


def test_a_plan_says_why_it_takes_no_public_people(tacit, table) -> None:
    shape = ("--epsilon", "1", "--users", "30", "--items", "12")
    seen = tacit("plan", *shape, "--public", table)
    assert seen.status == 2
    assert "tacit evaluate --public" in seen.err
