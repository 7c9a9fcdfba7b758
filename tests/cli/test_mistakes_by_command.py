"""Eighty mistakes more on the command line: names that nearly are, values that say nothing,
places that cannot be written, methods that make no sense for the data. Each is answered at once
with exit status 2, what is wrong and what to do, and costs nothing."""

from __future__ import annotations

import shlex
import sys

import pytest

from tacit.cli.main import main

FIT = "--scale 1,5 --epsilon 1 --users 30 --method bias --out m"
MISTAKES = f"""
audit byes
audit modl
audit ok.csv
audit bias --mistake nan
audit bias --out nowhere/x.html
audit bias --out file/x.html
audit bias --out emptydir
audit --lists none.csv,none.csv --canaries none.csv
audit --gauntlet --claims
audit --claims --parties
fit ok.csv {FIT} --epsilon 1e-300
fit ok.csv {FIT} --method ""
fit ok.csv {FIT} --threads 99999999999
fit ok.csv {FIT} --users 99999999999999
fit ok.csv {FIT} --positive 0
fit ok.csv {FIT} --ledger ""
fit ok.csv {FIT} --out ""
fit ok.csv {FIT} --method als --set factors=0
fit ok.csv {FIT} --method als --set factors=x
fit ok.csv {FIT} --method als --set factors=5 --set factors=6
fit ok.csv {FIT} --method one-bit --devices drop_out=2
fit likes.csv --positive --epsilon 1 --users 3 --out m --method bayes
fit likes.csv --positive --epsilon 1 --users 3 --out m --method bias
fit likes.csv --positive --epsilon 1 --users 3 --out m --method knn-cosine
recommend model --ratings mine.csv --by ""
recommend model --ratings mine.csv --explain ""
recommend model --ratings ""
recommend model --people ok.csv --out nowhere/x.csv
statement model --out nowhere/x.html
statement model --out emptydir
verify model --out x.pdf
verify model --out nowhere/x.html
verify model --out x.html --json
verify model --overwrite
verify model --out ok.csv
ledger show --ledger none.sqlite
ledger show --population nobody
ledger show --out x.pdf
ledger show --out nowhere/x.html
ledger show --out x.html --json
ledger show --ledger none.sqlite --out x.html
ledger cap --epsilon nan
ledger affected --version ""
plan --epsilon 1 --users 99999999999999 --items 5
plan --epsilon 1 --users 10 --items 5 --each nan
plan --epsilon 1 --users 10 --items 5 --each 9
plan --epsilon 1 --users 10 --items 5 --spread inf
plan --epsilon 1 --users 10 --items 5 --plot nowhere/x.svg
plan --epsilon 1 --users 10 --items 5 --plot x.bmp
plan --epsilon 1 --users 10 --items 5 --positive 9
plan --epsilon 1 --users 10 --items 5 --positive --method bayes
plan --epsilon 1 --users 10 --items 5 --columns item=colour
plan --epsilon 1 --users 10 --items noids.csv
plan --epsilon 1 --users 10 --items noids.csv --columns item=shape
plan --epsilon 1 --users 10 --items noids.csv --columns user=colour
choose --rmse nan --users 1000 --items 500
choose --rmse .9 --users 1000 --items 500 --report x.pdf
choose --rmse .9 --users 1000 --items 500 --report nowhere/x.html
choose --rmse .9 --users 1000 --items 500 --plot x.bmp
choose --rmse .9 --users 1000 --items 500 --columns item=x
evaluate ok.csv --scale 1,5 --method ""
evaluate ok.csv --scale 1,5 --population ""
evaluate ok.csv --scale 1,5 --epsilon nan
evaluate ok.csv --scale 1,5 --fold-in 200
evaluate ok.csv --scale 1,5 --method bias --out file
evaluate ok.csv --scale 1,5 --report nowhere/x.html
evaluate likes.csv --positive --method bayes --no-reference --users 3
synthesize model --people 99999999999999999999 --out invented.csv
synthesize model --people 10 --out invented.csv --each nan
tune ok.csv --scale 1,5 --users 30 --epsilon nan --out t --method bias,popularity
demo --epsilon nan
serve model --root x
""".strip().splitlines()
COMMANDS = sorted({line.split()[0] for line in MISTAKES})
FILES = {
    "numbers.csv": "user,item,rating\n"
    + "".join(f"{u},i{i},{1 + (u * i) % 5}\n" for u in range(9) for i in range(9)),
    "asfloats.txt": "7.0\n8\n",
    "asfloats.csv": "user,epsilon\n7.0,0.5\n",
}


@pytest.fixture(scope="module")
def desk(desk_of_mistakes):
    for name, text in FILES.items():
        (desk_of_mistakes / name).write_text(text)
    return desk_of_mistakes


@pytest.fixture
def told(desk, monkeypatch, capsys):
    """What somebody reads who makes a mistake, and the status."""
    monkeypatch.chdir(desk)
    monkeypatch.setenv("TACIT_HOME", str(desk / "home"))

    def run(line: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["tacit", *shlex.split(line)])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code or 0, capsys.readouterr().err

    return run


def entries(desk) -> int:
    import tacit

    return len(tacit.open_book(desk / "home" / "ledger.sqlite").entries())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_mistake_is_answered_and_costs_nothing(desk, told, command):
    before = sorted(desk.iterdir()), entries(desk)
    wrong = {}
    for line in MISTAKES:
        if line.split()[0] == command:
            status, said = told(line)
            if status != 2 or not ("error:" in said and "remedy:" in said):
                wrong[line] = (status, said)
    assert not wrong
    assert (sorted(desk.iterdir()), entries(desk)) == before


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("audit byes", "did you mean bayes?"),
        ("audit modl", "did you mean the model model?"),
        (f"fit numbers.csv {FIT}2 --without asfloats.txt", "'7.0'"),
        ("fit likes.csv --positive --epsilon 1 --users 3 --out m --method bayes", "--method ease"),
        ("recommend model --by ''", "--by: is empty"),
    ],
)
def test_what_was_meant_is_said(told, line, meant):
    assert meant in told(line)[1]


def test_a_job_without_a_standard_input_is_not_asked(desk, told, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    status, said = told(f"fit ok.csv {FIT} --out model")
    assert status == 2
    assert "--overwrite" in said
