"""No value may decide what a promise takes as public (break 1: `--unit value --positive N` was
certified at an infinite epsilon)."""

from __future__ import annotations

import pytest

import tacit
from tacit.errors import SettingError
from tacit.methods import find, names

AT_VALUE = [name for name in names() if "value" in find(name).units]
HEAD = "user,item,rating\n"
ROWS = [f"p{u},i{i},{1 + (u * i) % 5}" for u in range(12) for i in range(5)]
BOOKS = '"User-ID";"ISBN";"Book-Rating"\n'


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(HEAD + "\n".join(ROWS) + "\n")
    return path


@pytest.fixture
def books(tmp_path):
    path = tmp_path / "books.csv"
    lines = [";".join(f'"{cell}"' for cell in row.split(",")) for row in ROWS]
    path.write_text(BOOKS + "\n".join([*lines, '"p1";"i2";"0"']) + "\n")
    return path


@pytest.mark.parametrize("name", AT_VALUE)
def test_break_1_no_threshold_at_the_unit_value(name, table, tmp_path):
    ledger = tmp_path / "book"
    ratings = tacit.read(table, (1, 5), positive=4)
    method = find(name)(epsilon=1.0, unit="value", ledger=str(ledger))
    with pytest.raises(SettingError, match="who rated what is public"):
        method.fit(ratings)
    assert not ledger.exists()


@pytest.mark.parametrize("name", AT_VALUE)
def test_break_1_no_value_that_means_absent_at_the_unit_value(name, books, tmp_path):
    ratings = tacit.read(books)
    assert ratings.schema.absent
    method = find(name)(epsilon=1.0, unit="value", ledger=str(tmp_path / "b"))
    with pytest.raises(SettingError, match="stands for no rating"):
        method.fit(ratings)


def test_likes_have_no_values_to_protect(tmp_path):
    path = tmp_path / "likes.csv"
    path.write_text("user,item\n" + "\n".join(r[: r.rfind(",")] for r in ROWS))
    ratings = tacit.read(path, positive=True)
    with pytest.raises(SettingError, match="these are likes"):
        find("svd-output")(epsilon=1.0, unit="value").fit(ratings)
    done = find("popularity")(epsilon=1.0, engine="federated", ledger=str(tmp_path / "b")).fit(
        ratings, users=12
    )
    assert done.statement_.certified == "certified"


def test_values_do_not_decide_who_takes_part(table, tmp_path):
    ratings = tacit.read(table, (1, 5), positive=4)
    for name, engine in (("one-bit", "local"), ("popularity", "federated")):
        method = find(name)(epsilon=1.0, engine=engine, ledger=str(tmp_path / "b"))
        with pytest.raises(SettingError, match="who takes part is public"):
            method.fit(ratings, users=12)


def test_refused_before_a_rating_is_read(tacit_run, table, books):
    """What cannot be is said before the rows: these hold no number."""
    table.write_text(HEAD + "p1,i1,none\n")
    words = ("fit", table, "--scale", "1,5", "--epsilon", 1, "--out", "m")
    done = tacit_run(*words, "--method", "svd-output", "--positive", 4)
    assert done[0] == 2
    assert "who rated what is public" in done[1]
    books.write_text(BOOKS + '"p1";"i1";"none"\n')
    words = ("fit", books, "--epsilon", 1, "--out", "m")
    done = tacit_run(*words, "--method", "svd-output")
    assert done[0] == 2
    assert "stands for no rating" in done[1]


def test_the_twin_promises_nothing_and_is_not_refused(table):
    ratings = tacit.read(table, (1, 5), positive=4)
    twin = find("svd-output")(calibration="none", unit="value").fit(ratings)
    assert twin.statement_.certified == "not private"


@pytest.fixture
def tacit_run(monkeypatch, capsys):
    import sys

    from tacit.cli.main import main

    def run(*args):
        monkeypatch.setattr(sys, "argv", ["tacit", *map(str, args)])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code, capsys.readouterr().err

    return run
