"""Run the real entry point in this process and see what a user would see."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from tacit.cli.main import main


@dataclass
class Outcome:
    status: int
    out: str
    err: str


@pytest.fixture
def tacit(monkeypatch, capsys):
    def run(*args: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["tacit", *map(str, args)])
        with pytest.raises(SystemExit) as stop:
            main()
        shown = capsys.readouterr()
        return Outcome(stop.value.code or 0, shown.out, shown.err)

    return run


@pytest.fixture
def table(tmp_path):
    """A small ratings table with a header: 30 people, 12 items."""
    path = tmp_path / "ratings.csv"
    rows = [
        f"u{u},i{i},{1 + (u * i) % 5}"
        for u in range(30)
        for i in range(12)
        if (u + i) % 3
    ]
    path.write_text("user,item,rating\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def popularity(table):
    """A fit of the smallest method on that table, but for its budget and its place."""
    return ("fit", table, "--scale", "1,5", "--method", "popularity")
