"""Run the real entry point in this process and see what a user would see."""

from __future__ import annotations

import os
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
    rows = [f"u{u},i{i},{1 + (u * i) % 5}" for u in range(30) for i in range(12) if (u + i) % 3]
    path.write_text("user,item,rating\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def popularity(table):
    """A fit of the smallest method on that table, but for its budget and its place."""
    return ("fit", table, "--scale", "1,5", "--method", "popularity")


@pytest.fixture(scope="module")
def desk_of_mistakes(tmp_path_factory):
    """Files that the mistakes name, and a model."""
    folder = tmp_path_factory.mktemp("mistakes")
    rows = [f"u{u},i{i},{1 + (u * i) % 5}" for u in range(30) for i in range(12) if (u + i) % 3]
    files = {
        "ok.csv": "user,item,rating\n" + "\n".join(rows) + "\n",
        "likes.csv": "user,item\na,x\nb,y\nc,x\n",
        "empty.csv": "",
        "blank.csv": "\n\n\n",
        "header.csv": "user,item,rating\n",
        "text.csv": "user,item,rating\na,b,good\n",
        "off.csv": "user,item,rating\na,b,9\n",
        "nan.csv": "user,item,rating\na,b,nan\n",
        "short.csv": "user,item,rating\na,b,3\nc,d\n",
        "nouser.csv": "colour,item,rating\nred,x,3\n",
        "noitem.csv": "user,colour,rating\na,red,3\n",
        "double.csv": "user,item,rating\na,b,3\na,b,4\n",
        "noid.csv": "user,item,rating\n,b,3\nc,d,4\n",
        "ms.csv": "user,item,rating,timestamp\na,b,3,1600000000000\n",
        "badtime.csv": "user,item,rating,timestamp\na,b,3,yesterday\n",
        "alone.csv": "user,item,rating\na,b,3\n",
        "quote.csv": 'user,item,rating\n"a,b,3\nc,d,4\n',
        "items.csv": "id,title\n" + "\n".join(f"i{k},Film {k}" for k in range(12)),
        "twice.csv": "id,title\ni1,A\ni1,B\n",
        "noids.csv": "colour,title\nred,A\n",
        "mine.csv": "item,rating\ni1,5\n",
        "mineoff.csv": "item,rating\ni1,9\n",
        "minetext.csv": "item,rating\ni1,good\n",
        "minenone.csv": "item,rating\nnothing,3\n",
        "names.txt": "nothing\n",
        "bad.toml": "by = [",
        "list.toml": 'by = ["a"]\n',
        "other.toml": 'colour = "red"\n',
        "bad.json": "{",
        "file": "x",
        "sheet.xls": "\xd0\xcf\x11\xe0",
        "bad.parquet": "PAR1 no",
        "bad.zip": "PK\x03\x04 no",
        "bad.gz": "\x1f\x8b no",
        "key": "short",
        "budgets.csv": "user,epsilon\nu1,0.5\nu2,x\n",
        "below.csv": "user,epsilon\nu1,-1\n",
        "bad.tacit": "no",
        "euro.csv": "user;item;rating\na;b;4,5\nc;d;9,5\n",
        "thousand.csv": 'user,item,rating\na,b,"1,000"\n',
        "rivals.csv": "user,item,stars,score\na,b,3,5\nc,d,4,2\n",
        "slash.csv": "user,item,rating,date\na,b,3,07/08/2024\n",
    }
    for name, text in files.items():
        (folder / name).write_bytes(text.encode("latin-1"))
    (folder / "bytes.csv").write_bytes(b"user,item,rating\n\xff\xfe\xfa,b,3\n")
    (folder / "emptydir").mkdir()
    (folder / "full").mkdir()
    (folder / "full" / "x").write_text("x")
    (folder / "broken").mkdir()
    (folder / "broken" / "model.json").write_text("{")
    old = {name: os.environ.get(name) for name in ("TACIT_HOME",)}
    os.environ["TACIT_HOME"] = str(folder / "home")
    try:
        import tacit

        ratings = tacit.read(folder / "ok.csv", scale=(1, 5))
        tacit.Bias(epsilon=5.0).fit(ratings, users=30).save(folder / "model")
    finally:
        for name, value in old.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value
    return folder
