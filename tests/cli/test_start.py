"""`tacit fit --start`: the running total is shown; what may not be built upon is refused
before a rating is read."""

from __future__ import annotations

import pytest


@pytest.fixture
def fit(tacit, tmp_path, table):
    def run(out, *more, ratings=table):
        return tacit(
            "fit",
            ratings,
            "--scale",
            "1,5",
            "--epsilon",
            1,
            "--users",
            30,
            "--ledger",
            tmp_path / "book.db",
            "--out",
            tmp_path / out,
            *more,
        )

    return run


def test_a_refresh_shows_what_all_entries_cost_together(tacit, fit, tmp_path):
    assert fit("first").status == 0
    done = fit("second", "--start", tmp_path / "first")
    assert done.status == 0, done.err
    assert "'default' has spent epsilon 1.455 at delta 1e-06" in done.out
    told = tacit("statement", tmp_path / "second", "--ledger", tmp_path / "book.db").out
    assert "(1, 1e-06)-differentially private" in told
    assert "It starts from a released model of bayes" in told
    assert "its own promise of epsilon 1 for the unit user" in " ".join(told.split())
    assert tacit("verify", tmp_path / "second", "--ledger", tmp_path / "book.db").status == 0


def test_a_model_that_was_not_paid_for_is_refused_before_a_rating_is_read(
    tacit, fit, table, tmp_path
):
    twin = ["--calibration", "none", "--scale", "1,5"]
    assert tacit("fit", table, *twin, "--out", tmp_path / "twin").status == 0
    refused = fit("second", "--start", tmp_path / "twin", ratings=tmp_path / "missing.csv")
    assert refused.status == 2
    assert "not certified" in refused.err


def test_a_start_of_a_weaker_unit_is_refused_and_of_a_stronger_one_not(fit, tmp_path):
    assert fit("weak", "--unit", "rating").status == 0
    refused = fit("second", "--start", tmp_path / "weak")
    assert refused.status == 2
    assert "each rating" in refused.err
    assert fit("strong").status == 0
    assert fit("third", "--unit", "rating", "--start", tmp_path / "strong").status == 0


def test_a_folder_that_is_no_model_is_refused(fit, tmp_path):
    refused = fit("second", "--start", tmp_path)
    assert refused.status == 2
    assert "not a Tacit model" in refused.err


def test_days_need_times(tacit, table, tmp_path):
    refused = tacit("evaluate", table, "--scale", "1,5", "--days", "--ledger", tmp_path / "book.db")
    assert refused.status == 2
    assert "these ratings have none" in refused.err


def test_people_invented_from_a_chain_are_told_what_it_costs(tacit, fit, tmp_path):
    assert fit("first", "--method", "bias").status == 0
    more = ("--method", "bias", "--start", tmp_path / "first")
    assert fit("second", *more).status == 0
    made = tacit(
        *("synthesize", tmp_path / "second", "--people", 5), *("--out", tmp_path / "invented.csv")
    )
    assert made.status == 0, made.err
    assert "(1, 1e-06) for a user" in made.out
    assert "builds on 1 earlier" in made.out
    assert "epsilon 1.455 at delta 1e-06" in made.out


def test_a_start_takes_tags_by_the_names_of_their_columns(fit, tmp_path, table):
    lines = table.read_text().splitlines()
    ids = sorted({line.split(",")[1] for line in lines[1:]})
    shelf = tmp_path / "shelf.csv"
    rows = [f"{name},Ware {name},{'a' if k % 2 else 'b'}" for k, name in enumerate(ids)]
    shelf.write_text("\n".join(["item,label,style", *rows]) + "\n")
    named = ["--items", shelf, "--columns", "title=label,tags=style"]
    assert fit("first", *named).status == 0
    for out, more in {"second": named, "third": named[:2]}.items():
        done = fit(out, *more, "--start", tmp_path / "first")
        assert done.status == 0, done.err
