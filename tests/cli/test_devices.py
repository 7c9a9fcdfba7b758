"""`--devices`: how simulated devices behave, and a ledger of theirs that outlives the run."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def run(tacit, table, tmp_path):
    def run(*more, engine="simulate", epsilon=4, method="one-bit-projected"):
        out = ("--out", tmp_path / "model", "--overwrite", "--json")
        asked = ("--method", method, "--engine", engine, "--epsilon", epsilon, "--scale", "1,5")
        return tacit("fit", table, *asked, *out, *more)

    return run


def test_a_scenario_is_run_and_said(run):
    seen = run("--devices", "drop_out=0.5", "--devices", "cheats=0.1", "--devices", "late=0.2")
    assert seen.status == 0
    told = json.loads(seen.out)["statement"]["settings"]
    assert {"devices: drop_out = 0.5", "devices: cheats = 0.1", "devices: late = 0.2"} <= set(told)


@pytest.mark.filterwarnings("default::UserWarning")
@pytest.mark.parametrize("engine", ["simulate", "local"])
def test_devices_remember_what_they_answered_in_an_earlier_run(run, tmp_path, engine):
    book = tmp_path / "devices"
    ledger = ("--devices", f"book={book}", "--devices", "cap=6")
    assert "not given" not in run(*ledger, engine=engine).err
    second = run(*ledger, engine=engine)
    assert second.status == 0
    assert "answers were not given: the devices' own ledgers have no room" in second.err
    assert str(book) not in second.out


def test_a_book_of_other_devices_is_refused(run, tmp_path, table):
    book = ("--devices", f"book={tmp_path / 'devices'}")
    assert run(*book).status == 0
    table.write_text(table.read_text().replace("\nu1,", "\nsomebody,"))
    seen = run(*book)
    assert seen.status == 2
    assert "another cap or fleet" in seen.err


@pytest.mark.parametrize(
    ("more", "engine", "method", "words"),
    [
        (("--devices", "cheats=0.1"), "local", "one-bit", "book, cap"),
        (("--devices", "mood=1"), "simulate", "one-bit", "drop_out, late"),
        (("--devices", "cheats=many"), "simulate", "one-bit", "no number"),
        (("--devices", "cheats=0.1"), "threads", "bias", "leave --devices out"),
        (("--devices", "cheats"), "simulate", "one-bit", "--devices cheats is not NAME=VALUE"),
    ],
)
def test_what_no_device_can_do_is_bad_use(run, more, engine, method, words):
    seen = run(*more, engine=engine, method=method)
    assert seen.status == 2
    assert words in seen.err
