"""Every command of the tutorial runs, in order, on fewer people; figures of the guides are true."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

from tacit.cli.main import main
from tacit.ledger.account.gaussian import delta_at, epsilon_at
from tacit.ledger.account.odds import odds_times

ROOT = Path(__file__).parents[2]
SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
PEOPLE = 300


def commands(page: str) -> list[list[str]]:
    """The lines of a page's shell blocks, as words, for fewer people."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    lines = "".join(SHELL.findall(text)).splitlines()
    return [shlex.split(line.replace("20000", str(PEOPLE)), comments=True) for line in lines]


def run(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", words)
    if words[0] == "python":
        script = str(ROOT / words[1])
        monkeypatch.setattr(sys, "argv", [script, "--people", str(PEOPLE)])
        runpy.run_path(script, run_name="__main__")
        return
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code, words


@pytest.mark.parametrize("page", ["tutorial.md", "choosing-epsilon.md"])
def test_the_commands_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TACIT_HOME", str(tmp_path / "home"))
    for words in commands(page):
        run(words, monkeypatch)
    if page == "tutorial.md":
        assert "A film club" in (tmp_path / "statement.html").read_text("utf-8")
        report = (tmp_path / "cost.html").read_text("utf-8")
        drawn = runpy.run_path(str(ROOT / "scripts" / "tutorial_pictures.py"))
        assert "RMSE" in drawn["figure"](report)
        shown = capsys.readouterr().out
        assert "because you rated" in shown
        assert "certified: (1, " in shown


def best_guess(epsilon: float) -> float:
    """Right of a hundred, of the best guess about one person at delta 1e-6."""
    low, high = 1e-4, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        fits = epsilon_at(middle, 1e-6) <= epsilon
        low, high = (middle, high) if fits else (low, middle)
    return 50 * (1 + delta_at(low, 0.0))


def test_the_table_of_guesses_is_true():
    text = (ROOT / "docs" / "choosing-epsilon.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.,]+) times", text, re.MULTILINE)
    assert len(rows) == 6
    for epsilon, guesses, odds in rows:
        most = best_guess(float(epsilon))
        assert most <= float(guesses) <= most + 0.1
        said = float(odds.replace(",", ""))
        most = odds_times(float(epsilon), 1e-6)
        assert most <= said <= 1.01 * most
