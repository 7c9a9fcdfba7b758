"""What stands of a promise, through the entry point: keys, books, forgeries, extensions."""

from __future__ import annotations

import json
import re

import pytest

from tacit.ledger.book.book import sign
from tacit.ledger.statement.sign import signed
from tacit.model.model import Model, load

SELF = "SAYS OF ITSELF THAT IT IS CERTIFIED"
MODEST = (
    SELF,
    SELF.lower(),
    "is not certified",
    '"certified":',  # a key, whose value is looked at
    '"says_of_itself": "certified"',
)


@pytest.fixture
def items(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text(
        "item,title,genres\n"
        + "\n".join(f"i{i},Film {i},{'A' if i % 2 else 'B'}" for i in range(12))
    )
    return path


@pytest.fixture
def fit(tacit, tmp_path, table, items):
    def run(out, *more):
        done = tacit(
            *("fit", table, "--items", items, "--scale", "1,5"),
            *("--epsilon", 1, "--users", 30, "--out", tmp_path / out, *more),
        )
        assert done.status == 0, done.err
        return done

    return run


@pytest.fixture
def model(fit, tmp_path):
    fit("model")
    return tmp_path / "model"


@pytest.fixture
def key(tacit, model, tmp_path):
    path = tmp_path / "owner.key"
    assert tacit("ledger", "key", "--out", path).status == 0
    return path


def forge(model, out, **changes):
    """A folder that promises epsilon .01, whole, and signed by somebody."""
    real = load(model)
    secret = b"f" * 32
    fake = real.statement.model_copy(update={"epsilon": 0.01, **changes})
    made = signed(
        fake, real.shared.digest(), lambda message: sign(secret, message), sign(secret, b"").signer
    )
    if "signature" in changes:
        made = made.model_copy(update=changes)
    Model(real.shared, made).save(out)
    return out


def boasts(text: str) -> bool:
    """Whether a text calls something certified, in words or as JSON."""
    for modest in MODEST:
        text = text.replace(modest, "")
    return re.search(r"\bcertified\b", text, re.IGNORECASE) is not None


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"population": "strangers"},
        {"population": None, "book_number": None, "book_head": None},
        {"signature": None, "signer": None},
    ],
    ids=["entry", "population", "nowhere", "unsigned"],
)
def test_no_command_calls_a_forged_folder_certified(tacit, model, key, tmp_path, table, changes):
    """Break 9: digests repaired, signed by its maker's own key."""
    fake = forge(model, tmp_path / "fake", **changes)
    mine = tmp_path / "mine.csv"
    mine.write_text("item,rating\ni1,5\n")
    more = tmp_path / "more.csv"
    more.write_text("item,title,genres\nn1,New,A\n")
    commands = {
        "statement": ("statement", fake),
        "json": ("statement", fake, "--json"),
        "registry": (
            *("statement", fake, "--registry", "--declare", "name=a"),
            *("--declare", "by=b", "--declare", "region=c"),
            *("--declare", "date=2030-01-01"),
        ),
        "key": ("statement", fake, "--key", key),
        "verify": ("verify", fake),
        "verify json": ("verify", fake, "--json"),
        "verify key": ("verify", fake, "--key", key),
        "recommend": ("recommend", fake, "--ratings", mine),
        "recommend json": ("recommend", fake, "--ratings", mine, "--json"),
        "similar": ("similar", fake, "i1"),
        "export": ("export", fake, "--to", "npz", "--out", tmp_path / "x.npz"),
        "add-items": ("add-items", fake, more, "--out", tmp_path / "more"),
        "extended": ("statement", tmp_path / "more"),
        "verify extended": ("verify", tmp_path / "more"),
        "show": ("ledger", "show"),
        "show json": ("ledger", "show", "--json"),
        "start": (
            *("fit", table, "--scale", "1,5", "--epsilon", 1, "--users", 30),
            *("--start", fake, "--out", tmp_path / "second"),
        ),
    }
    seen = {name: tacit(*args) for name, args in commands.items()}
    loud = [name for name, s in seen.items() if boasts(s.out + s.err)]
    assert loud == []
    refused = {name for name, s in seen.items() if s.status}
    assert refused == {
        *("key", "verify", "verify json", "verify key"),
        *("verify extended", "start"),
    }
    assert SELF in seen["statement"].out
    told = json.loads(seen["json"].out)
    assert (told["certified"], told["says_of_itself"], told["checked"]) == (
        "not checked",
        "certified",
        None,
    )
    assert "status: not checked" in seen["registry"].out


def test_the_check_of_boasts_can_fail(tacit, model):
    assert boasts(tacit("statement", model).out)
    assert boasts(tacit("statement", model, "--json").out)


def test_a_key_is_enough_to_verify(tacit, model, key, tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_HOME", str(tmp_path / "elsewhere"))
    done = tacit("verify", model, "--key", key)
    assert done.status == 0
    assert "not checked against a book" in done.out
    told = tacit("statement", model)
    assert SELF in told.out
    assert "not checked" in told.err
    assert tacit("statement", model, "--key", key).out.startswith("Privacy statement: CERTIFIED")
    facts = json.loads(tacit("verify", model, "--key", key, "--json").out)
    assert (facts["verified"], facts["certified"]) == (True, "certified")
    assert not (tmp_path / "elsewhere").exists()


def test_the_default_and_a_given_ledger_check_a_statement(tacit, model, tmp_path):
    assert "CERTIFIED" in tacit("statement", model).out.splitlines()[0]
    assert SELF not in tacit("statement", model).out
    other = tacit("statement", model, "--ledger", tmp_path / "none.db")
    assert other.status == 1
    assert SELF in other.out


@pytest.mark.parametrize("text", ["", "abc", "0" * 63, "\x1b[2J"])
def test_what_is_no_key_is_refused(tacit, model, tmp_path, text):
    (tmp_path / "bad.key").write_text(text)
    seen = tacit("verify", model, "--key", tmp_path / "bad.key")
    assert seen.status == 2
    assert "no public key" in seen.err


def test_an_empty_ledger_has_no_key(tacit, tmp_path):
    seen = tacit("ledger", "key", "--ledger", tmp_path / "none.db")
    assert seen.status == 2
    assert "no key before its first entry" in seen.err


def test_an_extended_model_leads_back_to_its_entry(tacit, model, key, tmp_path):
    """Break 10: the paid model stays, and the extended one verifies."""
    more = tmp_path / "more.csv"
    more.write_text("item,title,genres\nn1,New,A\nn2,Newer,B\n")
    before = sorted((p.name, p.read_bytes()) for p in model.iterdir())
    for out in (model, tmp_path / "." / "model"):
        refused = tacit("add-items", model, more, "--out", out, "--overwrite")
        assert refused.status == 2
        assert "paid for" in refused.err
    assert tacit("add-items", model, more).status == 2
    larger = tmp_path / "larger"
    assert tacit("add-items", model, more, "--out", larger).status == 0
    assert sorted((p.name, p.read_bytes()) for p in model.iterdir()) == before
    for how in ((), ("--key", key)):
        assert tacit("verify", model, *how).status == 0
        seen = tacit("verify", larger, *how)
        assert seen.status == 0, seen.out
        assert "extended from entry 1 by public features (2 more" in seen.out
    (tmp_path / "again.csv").write_text("item,title\nn3,Newest\n")
    largest = tmp_path / "largest"
    args = (tmp_path / "again.csv", "--out", largest)
    assert tacit("add-items", larger, *args).status == 0
    assert "(3 more items)" in tacit("verify", largest).out


def test_fit_and_show_tell_the_running_total(tacit, fit, table, tmp_path):
    first = fit("one", "--population", "films")
    assert "'films' has spent epsilon 1 at delta 1e-06, over 1 release" in first.out
    tacit("ledger", "cap", "--epsilon", 4, "--population", "films")
    second = fit("two", "--population", "films", "--start", tmp_path / "one")
    assert "epsilon 1.455 at delta 1e-06, over 2 releases; its cap is 4" in second.out
    assert "with all that it builds on" in second.out
    fit("three", "--population", "books", "--other-people")
    shown = tacit("ledger", "show").out
    films, books = (shown.split("population films")[1], shown.split("population films")[0])
    assert "population books" in books
    rows = [line.split() for line in films.splitlines() if " bayes " in line]
    assert [(row[0], row[3]) for row in rows] == [("1", "fit"), ("4", "fit")]
    assert [row[8] for row in rows] == ["1", "1.455"]
    assert "other people than 'films'" in books
    assert "people" not in films
    facts = json.loads(tacit("ledger", "show", "--json").out)
    assert facts["populations"] == ["books", "films"]


def test_a_name_that_the_ledger_does_not_know_is_told(tacit, fit):
    fit("one", "--population", "films")
    for command in ("show", "verify", "affected"):
        seen = tacit("ledger", command, "--population", "flims")
        assert "did you mean 'films'?" in seen.err
    assert "it has 'films'" in tacit("ledger", "show", "--population", "xyz").err
    assert tacit("ledger", "show", "--population", "films").err == ""


def test_another_name_is_refused_beside_a_cap(tacit, fit, table, tmp_path):
    """Break 6, as a user meets it: refused, and an option is offered."""
    fit("one")
    tacit("ledger", "cap", "--epsilon", 1.2)
    args = ("fit", table, "--scale", "1,5", "--epsilon", 1, "--users", 30)
    seen = tacit(*args, "--population", "other", "--out", tmp_path / "two")
    assert seen.status == 2
    assert "--other-people" in seen.err
    assert not (tmp_path / "two").exists()
