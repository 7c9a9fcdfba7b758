"""What a privacy officer is told, and what she is kept from."""

from __future__ import annotations

import json
import re

import pytest


@pytest.fixture
def model(tacit, popularity, tmp_path):
    """A small fit on a book with a cap."""
    assert tacit("ledger", "cap", "--epsilon", 3).status == 0
    out = tmp_path / "model"
    words = ("--epsilon", 1, "--users", 30, "--out", out)
    assert tacit(*popularity, *words).status == 0
    return out


def test_what_is_printed_as_left_may_be_asked(tacit, model, popularity):
    words = (*popularity, "--users", 30, "--out", model.parent / "b")
    refused = tacit(*words, "--epsilon", 3)
    assert refused.status == 2
    assert "remedy: lower --epsilon: " in refused.err
    left = re.search(r"at most epsilon (\S+) at", refused.err)
    assert left is not None
    done = tacit(*words, "--epsilon", left[1])
    assert done.status == 0, done.err


def test_a_new_population_or_book_is_told(tacit, model, popularity, tmp_path):
    told = tacit("ledger", "cap", "--epsilon", 3, "--population", "Default")
    assert "new population 'Default'" in told.err
    assert "did you mean 'default'?" in told.err
    other = tmp_path / "typo.sqlite"
    told = tacit("ledger", "cap", "--epsilon", 3, "--ledger", other)
    assert f"a new ledger is begun at {other}" in told.err
    words = ("--epsilon", 1, "--users", 30, "--out", tmp_path / "c")
    apart = ("--population", "defautl", "--other-people")
    told = tacit(*popularity, *words, *apart)
    assert "new population 'defautl'" in told.err


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "--no-twin", "--no-reference", "--seeds", 1),
        ("tune", "--sweep", "even=10,20", "--trials", 2, "--out", "won"),
        ("refresh", "--horizon", 2, "--out", "weeks", "--items", "items.csv"),
    ],
    ids=lambda words: words[0],
)
def test_whatever_begins_a_population_tells_so(tacit, model, table, words, monkeypatch):
    monkeypatch.chdir(model.parent)
    ids = "\n".join(f"i{k}" for k in range(12))
    (model.parent / "items.csv").write_text(f"id\n{ids}\n")
    command, *more = words
    fit = ("--scale", "1,5", "--method", "popularity", "--epsilon", 1)
    who = ("--users", 30, "--population", "defautl")
    if command != "evaluate":
        more.append("--other-people")
    told = tacit(command, table, *fit, *who, *more)
    assert told.status == 0, told.err
    assert told.err.count("new population 'defautl'") == 1
    assert "did you mean 'default'?" in told.err


def test_a_cap_below_what_is_spent_says_so(tacit, model):
    told = tacit("ledger", "cap", "--epsilon", 0.5)
    assert "is spent already" in told.out


def test_a_purpose_is_published_and_is_not_the_purpose_of_processing(tacit, popularity, tmp_path):
    out, page = tmp_path / "m", tmp_path / "page.md"
    told = tacit(
        *(*popularity, "--epsilon", 1, "--users", 30, "--out", out), *("--purpose", "spring")
    )
    assert "it should name nobody" in told.err
    assert tacit("statement", out, "--out", page).status == 0
    text = page.read_text()
    assert "| Purpose | not declared |" in text
    assert "| Note of the fit | spring |" in text


def test_figures_of_an_evaluation_are_warned_of(tacit, model, tmp_path):
    told = tacit(
        *("statement", model, "--out", tmp_path / "s.md"), *("--declare", "utility=RMSE .90")
    )
    assert "evaluate --release" in told.err


def test_an_audit_of_another_claim_is_refused(tacit, model, tmp_path):
    finding = {
        "attack": "x",
        "method": "bayes",
        "unit": "user",
        "calibration": "sound",
        "claimed": 1.0,
        "measured": 0.1,
        "mistake": 0.05,
        "verdict": "not refuted",
    }
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"findings": [finding], "best": [finding]}))
    told = tacit(*("statement", model, "--out", tmp_path / "s.md"), *("--audit", path))
    assert told.status == 2
    assert "about other claims" in told.err
    assert "remedy: run `tacit audit popularity" in told.err


ASKED = tuple(f"--declare={name}=2030-01-31" for name in ("name", "by", "region", "date"))


def test_the_registry_lists_what_is_certified_and_what_was_evaluated(
    tacit, model, popularity, tmp_path
):
    record = tacit("statement", model, "--registry", *ASKED)
    assert "No evaluation on these ratings stands in the book" in re.sub(r"\s+", " ", record.out)
    out = tmp_path / "none"
    made = tacit(*popularity, "--calibration", "none", "--out", out)
    assert made.status == 0, made.err
    refused = tacit("statement", out, "--registry", *ASKED)
    assert refused.status == 2
    assert "is not certified" in refused.err


def test_a_release_without_a_bound_is_not_a_total_of_nothing(tacit, tmp_path):
    from tacit.ledger.account.event import Unbounded
    from tacit.ledger.book.book import open_book

    event = Unbounded(name="x", noise="none", claimed_epsilon=1.0, reason="no proof")
    open_book().reserve([event], unit="user", budget=None, purpose="", method="m")
    told = tacit("ledger", "show").out
    assert "no bound" in told
    assert "1 without a bound" in told


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('date = "gestern"', "YYYY-MM-DD"),
        ("by = 5", "not a text"),
        ('colour = "red"', "about.toml"),
    ],
)
def test_what_is_declared_is_checked(tacit, model, tmp_path, line, says):
    path = tmp_path / "about.toml"
    path.write_text(line + "\n")
    told = tacit(*("statement", model, "--out", tmp_path / "s.md", "--about", path))
    assert told.status == 2
    assert says in told.err


SAID = ("name=a", "by=b", "region=c", "date=2026-01-02")


def test_the_record_has_the_total_of_today(tacit, model, popularity, tmp_path):
    words = ("--epsilon", 1, "--users", 30, "--out", tmp_path / "next")
    assert tacit(*popularity, *words).status == 0
    said = [word for each in SAID for word in ("--declare", each)]
    told = tacit("statement", model, "--registry", *said)
    total = re.search(r"running total by the book on \d{4}-.*", told.out)
    assert total is not None
    assert "over 2 releases; cap 3" in total[0]
    key = tmp_path / "key"
    assert tacit("ledger", "key", "--out", key).status == 0
    told = tacit("statement", model, "--registry", "--key", key, *said)
    assert "running total when it was released" in told.out
    assert "over 1 release; cap 3" in told.out


def test_a_verdict_names_its_model(tacit, model, tmp_path):
    page = tmp_path / "verdict.md"
    assert tacit("verify", model, "--out", page).status == 0
    text = page.read_text()
    digest = tacit("verify", model, "--json")
    assert digest.status == 0
    promise = json.loads((model / "statement.json").read_text())
    for name in ("artefact", "book_head", "signer"):
        assert promise[name] in text
    assert text.count(promise["artefact"]) == 2
    assert re.search(r"date of the check \| \d{4}-\d\d-\d\d", text)
    assert "of a cap of 3, today" in text


def test_the_annex_names_the_proof(tacit, model, tmp_path):
    page = tmp_path / "statement.md"
    assert tacit("statement", model, "--out", page).status == 0
    assert "`docs/proofs/first-order.md`" in page.read_text()


def test_the_book_says_what_delta_is(tacit, model, tmp_path):
    page = tmp_path / "book.html"
    assert tacit("ledger", "show", "--out", page).status == 0
    text = page.read_text()
    assert "beyond e^epsilon times" in text
    assert "chance that this fails" not in text
    assert "table { break-inside: avoid" not in text


def test_a_ledger_that_is_not_there_is_said_so(tacit, model, tmp_path):
    told = tacit("verify", model, "--ledger", tmp_path / "none.sqlite")
    assert told.status == 1
    assert "there is no such ledger" in told.out
