"""Output that goes to a full disk ends in words and status 1; a reader who went away ends it
quietly."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import tacit
from tacit.cli.main import main

LINES = (
    *("--help", "--version", "fit --help", "recommend m", "recommend m --json"),
    *("statement m", "statement m --json", "ledger show", "ledger show --json", "verify m"),
    "plan --epsilon 1 --users 30 --items 12 --each 8",
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("output")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TACIT_HOME", str(folder / "home"))
        rows = [f"u{u},i{i},{1 + (u * i) % 5}" for u in range(30) for i in range(9) if (u + i) % 3]
        (folder / "r.csv").write_text("user,item,rating\n" + "\n".join(rows) + "\n")
        model = tacit.Popularity(epsilon=1).fit(folder / "r.csv", scale=(1, 5), users=30)
        model.save(folder / "m")
    return folder


@pytest.fixture
def run(desk, monkeypatch, capsys):
    def run(line: str, **streams: object) -> tuple[int, str]:
        monkeypatch.chdir(desk)
        monkeypatch.setenv("TACIT_HOME", str(desk / "home"))
        monkeypatch.setattr(sys, "argv", ["tacit", *line.split()])
        for name, stream in streams.items():
            monkeypatch.setattr(sys, name, stream)
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code or 0, capsys.readouterr().err

    return run


@pytest.mark.parametrize("line", LINES)
def test_a_full_disk_is_words(run, line):
    with open("/dev/full", "w") as full:
        status, told = run(line, stdout=full)
    assert status == 1
    assert "error: the output cannot be written: No space left on device" in told


@pytest.mark.parametrize("line", LINES)
def test_a_reader_who_went_away_is_no_error(run, line):
    reading, writing = os.pipe()
    os.close(reading)
    with suppress(BrokenPipeError), open(writing, "w") as pipe:
        status, told = run(line, stdout=pipe)
        assert "error" not in told
        assert status in (0, 1)


def test_output_that_was_closed_is_no_error(run):
    assert run("recommend m", stdout=None)[0] == 0


def test_nobody_reads_the_error_either(run):
    with open("/dev/full", "w") as full:
        assert run("recommend m", stdout=full, stderr=full)[0] == 1


def test_a_fit_says_that_its_model_is_written(run):
    line = "fit r.csv --scale 1,5 --users 30 --method popularity --epsilon 1 --out new"
    with open("/dev/full", "w") as full:
        status, told = run(line, stdout=full)
    assert status == 1
    assert "the model is written to new" in told
    assert Path("new/model.json").is_file()


def test_a_calendar_says_that_its_release_is_written(run, desk):
    (desk / "items.csv").write_text("item\n" + "\n".join(f"i{i}" for i in range(9)) + "\n")
    line = "refresh r.csv --scale 1,5 --users 30 --items items.csv --method popularity"
    with open("/dev/full", "w") as full:
        status, told = run(f"{line} --epsilon 1 --horizon 2 --out calendar", stdout=full)
    assert status == 1, told
    assert "release 1 is written to calendar/releases/01" in told
    assert "nothing needs to be repeated" in told


def test_a_library_that_gives_no_error_number_has_its_words(tmp_path):
    from tacit.atomic_write import open_atomic
    from tacit.errors import StorageError

    with pytest.raises(StorageError) as refused, open_atomic(tmp_path / "file"):
        raise OSError("7 requested and 0 written")
    assert "cannot be written: 7 requested and 0 written" in refused.value.message
