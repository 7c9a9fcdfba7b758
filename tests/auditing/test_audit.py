"""The command, its table, its JSON and its page."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import tacit
from tacit.auditing.verdict import NEVER, AttackFinding, ClaimVerdict, Target, make_finding
from tacit.cli.main import tacit as command
from tacit.errors import SettingError


def run(*words):
    return CliRunner().invoke(command, ["audit", *words])


def test_a_method_is_audited_end_to_end(tmp_path):
    page, data = tmp_path / "audit.html", tmp_path / "audit.json"
    done = run(
        *("bias", "--quick", "--unit", "user", "--epsilon", "2"),
        *("--mistake", str(NEVER), "--out", str(page), "--out", str(data)),
    )
    assert done.exit_code == 0, done.output
    assert "not refuted" in done.output
    facts = json.loads(data.read_text())
    (best,) = facts["best"]
    assert best["verdict"] == "not refuted"
    assert 0.9 < best["reached"] <= 1
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "<script" not in text
    assert "What it cannot show" in text


def test_json_goes_to_the_terminal():
    done = run("popularity", "--quick", "--unit", "user", "--json")
    facts = json.loads(done.output)
    assert {f["attack"] for f in facts["findings"]} >= {
        "worst neighbours",
        "one run, transcript",
        "one run, published model",
    }


def test_a_twin_falls_and_is_no_failure_of_a_sound_claim():
    done = run("popularity", "--quick", "--calibration", "none", "--json")
    assert done.exit_code == 0
    best = json.loads(done.output)["best"]
    assert {each["verdict"] for each in best} == {"deterministic leak"}


@pytest.mark.parametrize("words", [(), ("bias", "--all")])
def test_one_of_method_and_all_is_needed(words):
    done = run(*words)
    assert isinstance(done.exception, SettingError)


def test_a_model_is_audited_by_its_shape(tmp_path):
    ratings = tacit.sample(100)
    model = tacit.Popularity(epsilon=3.0).fit(ratings, users=100)
    model.save(tmp_path / "model")
    done = run(str(tmp_path / "model"), "--quick", "--json")
    (best,) = json.loads(done.output)["best"]
    assert (best["method"], best["unit"]) == ("popularity", "user")
    assert best["claimed"] == 3.0


def test_the_owners_people_are_booked_as_an_evaluation(tmp_path):
    lines = ["user,item,rating"]
    ratings = tacit.sample(60)
    for cell, person in enumerate(ratings.user):
        lines.append(f"{person},{ratings.item[cell]},{ratings.value[cell]:g}")
    (tmp_path / "r.csv").write_text("\n".join(lines) + "\n")
    book = tmp_path / "book.db"
    done = run(
        *("popularity", "--quick", "--unit", "user", "--ledger", str(book)),
        *("--ratings", str(tmp_path / "r.csv"), "--scale", "1,5"),
    )
    assert done.exit_code == 0, done.output
    assert book.exists()
    assert "NOT PRIVATE" in done.output + done.stderr


def test_claims_of_papers_are_a_page_as_well(tmp_path):
    page, data = tmp_path / "claims.html", tmp_path / "claims.json"
    done = run(*("covariance-knn", "--claims"), *("--out", str(page), "--out", str(data)))
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "<script" not in text
    assert "covariance in L1" in text
    assert "What it cannot show" in text
    (claim,) = json.loads(data.read_text())["claims"]
    assert claim["verdict"] == "refuted"


def test_nothing_to_audit_is_said():
    with pytest.raises(SettingError, match="nothing to audit"):
        tacit.audit("bias", calibration="paper")


def test_verdicts():
    target = Target("bias", "user", "sound", 2.0)
    assert make_finding(target, "a", 2.1).verdict is ClaimVerdict.REFUTED
    assert make_finding(target, "a", 0.0, leak=True).verdict is ClaimVerdict.LEAK
    half = make_finding(target, "a", 1.0)
    assert half.verdict_text == "not refuted (at most 50% of the claim was reached)"
    assert half.facts()["reached"] == 0.5
    assert isinstance(half, AttackFinding)
    assert make_finding(target, "a", 0.0, leak=True).facts()["measured"] is None
