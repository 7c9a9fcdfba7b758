"""`tacit evaluate --release` and `tacit tune`, as a user meets them."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def book(tmp_path):
    return tmp_path / "book.db"


@pytest.fixture
def fitted(tacit, table, tmp_path, book):
    def run(*more):
        done = tacit(
            "fit",
            table,
            "--scale",
            "1,5",
            "--method",
            "bias",
            "--epsilon",
            2,
            "--users",
            30,
            "--ledger",
            book,
            "--out",
            tmp_path / "model",
            *more,
        )
        assert done.status == 0, done.err
        return tmp_path / "model"

    return run


def test_figures_are_published_and_charged(tacit, table, fitted, book, tmp_path):
    model = fitted("--keep-apart", "20%")
    asked = ("evaluate", table, "--release", "--model", model, "--epsilon", ".5", "--ledger", book)
    shown = tacit(*asked, "--figures", tmp_path / "figures.json")
    assert shown.status == 0, shown.err
    assert "rmse" in shown.out
    assert "(0.5, 1e-06)-differentially private, unit user" in shown.out
    assert "NOT PRIVATE" not in shown.out
    facts = json.loads((tmp_path / "figures.json").read_text())
    assert facts["statement"]["certified"] == "certified"
    file = tmp_path / "figures.json"
    assert tacit("verify", file, "--ledger", book).status == 0
    better = file.read_text().replace('"value": ', '"value": 0')
    (tmp_path / "better.json").write_text(better)
    assert tacit("verify", tmp_path / "better.json").status == 2
    facts["figures"][0]["value"] = 0.1
    (tmp_path / "better.json").write_text(json.dumps(facts))
    seen = tacit("verify", tmp_path / "better.json", "--ledger", book)
    assert seen.status == 1
    assert "NOT VERIFIED" in seen.out
    told = json.loads(tacit(*asked, "--json").out)
    assert {each["name"] for each in told["figures"]} >= {"rmse", "recall@20"}
    ledger = tacit("ledger", "show", "--ledger", book).out
    assert "figures about entry 1" in ledger


def test_a_release_that_cannot_be_exits_2(tacit, table, fitted, book):
    model = fitted()
    base = ("evaluate", table, "--release", "--ledger", book)
    for more, says in (
        ((), "--model"),
        (("--model", model), "kept no ratings apart"),
        (("--model", model, "--epsilon", ".1,1"), "not one number"),
    ):
        seen = tacit(*base, *more)
        assert seen.status == 2
        assert says in seen.err
        assert "remedy" in seen.err


def test_a_tuned_model_is_written_with_its_promise(tacit, table, book, tmp_path):
    done = tacit(
        "tune",
        table,
        "--scale",
        "1,5",
        "--method",
        "bias,popularity",
        "--sweep",
        "sweeps=2,3",
        "--epsilon",
        2,
        "--users",
        30,
        "--trials",
        2,
        "--ledger",
        book,
        "--out",
        tmp_path / "won",
        "--json",
    )
    assert done.status == 0, done.err
    told = json.loads(done.out)
    assert told["method"] in ("bias", "popularity")
    assert told["statement"]["epsilon"] == 2
    assert tacit("verify", tmp_path / "won", "--ledger", book).status == 0
    assert "tune 3 candidates" in tacit("ledger", "show", "--ledger", book).out


def test_public_ratings_cost_nothing_and_say_so(tacit, table, tacit_home):
    done = tacit(
        "tune",
        table,
        "--scale",
        "1,5",
        "--method",
        "bias,popularity",
        "--epsilon",
        2,
        "--users",
        30,
        "--public-data",
        "--seeds",
        1,
    )
    assert done.status == 0, done.err
    assert "their owner says are public" in done.out
    assert not list(tacit_home.glob("*.sqlite"))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ((), "--out"),
        (("--sweep", "sweeps"), "NAME=VALUE"),
        (("--set", "sweeps=2"), "--sweep"),
        (("--public-data", "--trials", 3), "private ratings"),
        (("--sweep", "colour=red"), "colour"),
    ],
)
def test_a_tuning_that_cannot_be_exits_2(tacit, table, book, more, says):
    seen = tacit(
        "tune",
        table,
        "--scale",
        "1,5",
        "--method",
        "bias",
        "--epsilon",
        1,
        "--users",
        30,
        "--ledger",
        book,
        *more,
    )
    assert seen.status == 2
    assert says in seen.err
    assert not book.exists()
