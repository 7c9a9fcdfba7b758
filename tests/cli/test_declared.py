"""A table that has to be declared is read by every command that takes ratings, with the same
options."""

from __future__ import annotations

import json

import pytest

DECLARED = (
    *("--header", "no", "--columns", "user=1,item=2,rating=3,time=4"),
    *("--delimiter", ";", "--dates", "dmy", "--decimal", ","),
)
READ = "read user from column 1, item from column 2, rating from column 3, time from column 4"
PLAN = ("plan", "--method", "svd-objective", "--unit", "value", "--epsilon", 1, "--no-forecast")


@pytest.fixture
def headless(tmp_path):
    """Semicolons, decimal commas, days first, and no line of names."""
    path = tmp_path / "headless.csv"
    rows = [
        f"u{u};i{i};{1 + (u * i) % 4},5;{1 + u % 28:02d}.{1 + i:02d}.2024 10:00"
        for u in range(30)
        for i in range(12)
        if (u + i) % 3
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_plan_reads_it(tacit, headless):
    got = tacit(*PLAN, "--ratings", headless, "--scale", "1,5", *DECLARED)
    assert got.status == 0, got.err
    assert READ in got.err


def test_a_choice_reads_it(tacit, headless):
    shape = ("choose", "--range", "--method", "bias", "--runs", 1, "--scale", "1,5")
    got = tacit(*shape, "--ratings", headless, "--public-ratings", *DECLARED)
    assert got.status == 0, got.err
    assert READ in got.err


def test_an_audit_reads_it(tacit, headless, tmp_path):
    more = ("--quick", "--attack", "published", "--planted", 20, "--ledger", tmp_path / "l.sqlite")
    people = ("--ratings", headless, "--scale", "1,5", "--owner-only")
    got = tacit("audit", "popularity", *more, *people, *DECLARED)
    assert got.status == 0, got.err
    assert READ in got.err


def test_a_fleet_reads_it(tacit, headless):
    where = ("--recommender", "http://127.0.0.1:9")
    got = tacit("federate", "fleet", *where, "--data", headless, "--scale", "1,5", *DECLARED)
    assert READ in got.err
    assert "cannot be reached" in got.err


def test_public_people_come_as_a_pack(tacit, headless, table, tmp_path):
    fit = ("fit", table, "--scale", "1,5", "--epsilon", 1, "--users", 30, "--out", tmp_path / "m")
    ledger = ("--ledger", tmp_path / "l.sqlite")
    got = tacit(*fit, *ledger, "--public", headless)
    assert got.status == 2
    assert "tacit pack" in got.err
    pack = tmp_path / "public.tacit"
    assert tacit("pack", headless, "--scale", "1,5", "--out", pack, *DECLARED).status == 0
    got = tacit(*fit, *ledger, "--public", pack)
    assert got.status == 0, got.err


@pytest.mark.parametrize("command", [PLAN, ("choose", "--range"), ("audit", "popularity")])
def test_without_ratings_it_is_not_passed_over(tacit, command):
    got = tacit(*command, "--dates", "dmy")
    assert got.status == 2
    assert "--dates is for --ratings" in got.err


def test_a_plan_of_ratings_guesses_no_scale(tacit, headless, tmp_path):
    """As `fit`: what is the default for people whom nobody has shown holds for no file."""
    got = tacit(*PLAN, "--ratings", headless, *DECLARED)
    assert got.status == 2
    assert "--scale" in got.err
    known = tmp_path / "ratings.csv"
    known.write_text("userId,movieId,rating,timestamp\n1,2,0.5,9\n2,2,5,9\n2,3,4,9\n")
    got = tacit(*PLAN, "--ratings", known, "--json")
    assert got.status == 0, got.err
    assert "ratings from 0.5 to 5" in got.err
    assert json.loads(got.out)["method"] == "svd-objective"
