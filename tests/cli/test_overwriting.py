"""What is there is never replaced unasked, whatever writes it."""

from __future__ import annotations

import shutil

import pytest

from tacit.cli.main import COMMANDS
from tacit.cli.main import tacit as commands

FITTED = "--scale 1,5 --epsilon 1 --users 30 --method bias"
SHAPE = "--users 30 --items 12 --each 8"
WRITERS = {
    "fit --out": f"fit r.csv {FITTED} --out old",
    "pack --out": "pack r.csv --scale 1,5 --out old.tacit",
    "tune --out": f"tune r.csv {FITTED} --sweep sweeps=1,2 --out old",
    "add-items --out": "add-items model more.csv --out old",
    "export --out": "export model --to npz --out old.npz",
    "recommend --out": "recommend model --people r.csv --out old.csv",
    "synthesize --out": "synthesize model --people 9 --out old-invented.csv",
    "statement --out": "statement model --out old.html",
    "evaluate --report": "evaluate r.csv --report old.html",
    "evaluate --csv": "evaluate r.csv --csv old.csv",
    "evaluate --people": "evaluate r.csv --people old.parquet",
    "evaluate --figures": "evaluate r.csv --release --model model --figures old.json",
    "audit --out": "audit bias --quick --out old.html",
    "reproduce --out": "reproduce hua2015 --quick --out old",
    "plan --plot": f"plan --epsilon 1 {SHAPE} --plot old.svg",
    "choose --plot": f"choose --rmse .9 {SHAPE} --plot old.svg",
    "choose --report": f"choose --rmse .9 {SHAPE} --report old.html",
    "demo --out": "demo --out old",
    "key --out": "ledger key --out old.key",
    "show --out": "ledger show --out old.html",
    "verify --out": "verify model --out old.html",
}
OTHERS = {
    "refresh --out": "a calendar, which the next release goes on with",
    "evaluate --out": "a folder of finished fits, which are used again",
    "ticket --out": "tests/federation: refused, a ticket is a secret",
    "recommender --out": "refused for a new training: test_unused.py",
}
NAMES = ("out", "report", "csv", "people", "figures", "plot")
NOT_WRITTEN = {"recommend --people", "reproduce --figures", "synthesize --people"}  # are asked for


def every_command():
    for name in COMMANDS:
        found = commands.get_command(None, name)
        inner = getattr(found, "commands", {})
        yield from inner.values() if inner else [found]


def test_every_option_that_writes_is_here():
    found = {
        f"{each.name} --{param.name}"
        for each in every_command()
        for param in each.params
        if param.name in NAMES
    }
    assert found - NOT_WRITTEN == set(WRITERS) | set(OTHERS)


@pytest.mark.parametrize("line", WRITERS.values(), ids=WRITERS)
def test_what_is_there_stays(line, tacit, table, tmp_path, monkeypatch):
    words = line.split()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TACIT_HOME", str(tmp_path / "home"))
    table.rename(tmp_path / "r.csv")
    (tmp_path / "more.csv").write_text("item,title\nx,X\n")
    target = tmp_path / words[-1]
    if words[0] in ("fit", "tune", "add-items") or "model" in words:
        made = tacit("fit", "r.csv", *FITTED.split(), "--out", "model")
        assert made.status == 0, made
    if words[0] in ("fit", "tune", "add-items"):
        shutil.copytree(tmp_path / "model", target)
        target /= "model.json"
    elif not target.suffix:
        target.mkdir()
        target /= "index.html"
    if not target.exists():
        target.write_text("mine")
    before = target.read_bytes()
    outcome = tacit(*words)
    assert outcome.status in (1, 2), outcome
    assert "exists" in outcome.err or "holds a model" in outcome.err, outcome
    assert target.read_bytes() == before
