"""The commands as a user runs them, one after another, on a small table."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def items(tmp_path):
    path = tmp_path / "items.csv"
    rows = [
        f"i{i},Film {i} ({1950 + i}),{'Comedy|Drama' if i % 2 else 'Horror'}" for i in range(14)
    ]
    path.write_text("id,title,genres\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def model(tacit, table, items, tmp_path):
    args = (
        "--scale",
        "1,5",
        "--items",
        items,
        "--users",
        30,
        "--epsilon",
        2,
        "--out",
        tmp_path / "model",
    )
    assert tacit("fit", table, "--method", "bias", *args).status == 0
    return tmp_path / "model"


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("item,rating\nFilm 1,5\ni4,1\nNo Such Film,3\n")
    return path


def test_recommend_gives_a_list_with_reasons_and_names_the_unknown(tacit, model, mine):
    seen = tacit("recommend", model, "--ratings", mine, "-n", 4)
    assert seen.status == 0
    assert len(seen.out.splitlines()) == 5
    assert "No Such Film" in seen.err
    told = json.loads(tacit("recommend", model, "--ratings", mine, "-n", 20, "--json").out)
    listed = [line["item"] for line in told["recommendations"]]
    assert (
        len(listed) == 12
    )  # 14 items less two rated, and two that nobody ever rated are among them
    assert {"i12", "i13"} <= set(listed)
    assert told["unknown"] == ["No Such Film"]


def test_recommend_can_be_told_what_to_choose_from(tacit, model, mine, tmp_path):
    (tmp_path / "only").write_text("i2\ni3\nFilm 5\n")
    (tmp_path / "not").write_text("item\ni3\n")
    args = ("--ratings", mine, "--only", tmp_path / "only", "--exclude", tmp_path / "not", "--json")
    listed = json.loads(tacit("recommend", model, *args).out)["recommendations"]
    assert {line["item"] for line in listed} == {"i2", "i5"}


@pytest.mark.parametrize("by", ["rating", "liked", "explore"])
def test_recommend_orders_as_told(tacit, model, mine, by):
    listed = json.loads(tacit("recommend", model, "--ratings", mine, "--by", by, "--json").out)[
        "recommendations"
    ]
    scores = [line["score"] for line in listed]
    assert scores == sorted(scores, reverse=True)


def test_everyones_lists_are_marked_personal(tacit, model, table, tmp_path):
    seen = tacit(
        "recommend", model, "--people", table, "--out", tmp_path / "lists.parquet", "-n", 3
    )
    assert seen.status == 0, seen.err
    lists = pl.read_parquet(tmp_path / "lists.parquet")
    assert lists.height == 90
    assert lists["personal"].all()
    assert (tmp_path / "lists.parquet").stat().st_mode & 0o077 == 0


def test_the_statement_in_three_forms(tacit, model):
    words = tacit("statement", model).out
    assert "CERTIFIED" in words
    facts = json.loads(tacit("statement", model, "--json").out)
    assert (facts["unit"], facts["epsilon"], facts["certified"]) == ("user", 2.0, "certified")
    told = ("name=films", "date=2030-01-01", "by=A library", "region=EU")
    declared = [part for each in told for part in ("--declare", each)]
    record = json.loads(tacit("statement", model, "--registry", *declared, "--json").out)
    basic = record["deployment"]["basic"]
    assert (basic["name"], basic["publication_date"]) == ("films", "2030-01-01")
    missing = tacit("statement", model, "--registry")
    assert missing.status == 2
    assert "--declare region=" in missing.err


def test_the_statement_is_written_as_a_document(tacit, model, tmp_path):
    about = tmp_path / "about.toml"
    about.write_text('by = "A library"\ndata = "loans"\n')
    finding = {
        "method": "bias",
        "unit": "user",
        "calibration": "sound",
        "attack": "one run",
        "verdict": "not refuted",
    }
    (tmp_path / "audit.json").write_text(json.dumps({"findings": [finding]}))
    page, words = tmp_path / "s.html", tmp_path / "s.md"
    for out in (page, words):
        seen = tacit(
            *("statement", model, "--about", about, "--out", out),
            *("--declare", "contact=me", "--audit", tmp_path / "audit.json"),
        )
        assert seen.status == 0, seen.err
        text = out.read_text()
        assert "A library" in text
        assert "one run" in text
        assert "loans" in text
    again = tacit("statement", model, "--out", page)
    assert again.status == 2
    assert "--overwrite" in again.err
    assert tacit("statement", model, "--out", page, "--overwrite").status == 0


@pytest.mark.parametrize(
    ("args", "remedy"),
    [
        (("--out", "s.pdf"), ".html or .md"),
        (("--declare", "by=A"), "--out statement.html"),
        (("--audit", "a.json"), "--out statement.html"),
        (("--out", "s.md", "--declare", "by"), "NAME=TEXT"),
        (("--out", "s.md", "--declare", "colour=red"), "contact"),
        (("--out", "s.md", "--about", "none.toml"), "cannot be read"),
        (("--out", "s.md", "--audit", "none.json"), "no such file"),
        (("--out", "s.md", "--json"), "one of them"),
        (("--registry", "--declare", "date=soon"), "YYYY-MM-DD"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else each,
)
def test_a_document_that_cannot_be_says_why(tacit, model, tmp_path, monkeypatch, args, remedy):
    monkeypatch.chdir(tmp_path)
    seen = tacit("statement", model, *args)
    assert seen.status == 2
    assert remedy in seen.err
    assert not list(tmp_path.glob("s.*"))


def test_a_model_is_verified_against_its_book(tacit, model, tacit_home):
    assert tacit("verify", model).status == 0
    (tacit_home / "ledger.sqlite").rename(tacit_home / "gone.sqlite")
    assert tacit("verify", model, "--ledger", tacit_home / "other.sqlite").status == 1


def test_a_book_restored_from_an_old_copy_is_exposed(
    tacit, model, tacit_home, tmp_path, popularity
):
    old = {p: p.read_bytes() for p in tacit_home.iterdir() if p.is_file()}
    base = (*popularity, "--epsilon", 1)
    assert tacit(*base, "--out", tmp_path / "later").status == 0
    for path in tacit_home.iterdir():
        if path.is_file() and path not in old:
            path.unlink()
    for path, data in old.items():
        path.write_bytes(data)
    assert tacit("verify", model).status == 0
    seen = tacit("verify", tmp_path / "later")
    assert seen.status == 1
    assert "old copy" in seen.out


def test_the_ledger_shows_and_replays(tacit, model):
    shown = tacit("ledger", "show").out
    assert "bias" in shown
    told = json.loads(tacit("ledger", "show", "--json").out)
    assert [entry["kind"] for entry in told["entries"]] == ["reserve", "commit"]
    assert tacit("ledger", "verify").status == 0
    assert "no entry is affected" in tacit("ledger", "affected").out


def test_similar_and_export(tacit, model, tmp_path):
    near = json.loads(tacit("similar", model, "Film 3", "--json").out)["similar"]
    assert near[0]["closeness"] >= near[-1]["closeness"]
    assert tacit("export", model, "--to", "npz", "--out", tmp_path / "m.npz").status == 0
    with np.load(tmp_path / "m.npz") as arrays:
        assert arrays["ids"].shape == (14,)
    assert tacit("export", model, "--to", "parquet", "--out", tmp_path / "m.parquet").status == 0
    assert pl.read_parquet(tmp_path / "m.parquet").height == 14


def test_evaluate_compares_and_is_booked_once(tacit, table):
    base = (
        "evaluate",
        table,
        "--scale",
        "1,5",
        "--method",
        "bias,popularity",
        "--epsilon",
        "1,5",
        "--seeds",
        2,
    )
    cells = json.loads(tacit(*base, "--json").out)["cells"]
    assert [(c["method"], c["epsilon"]) for c in cells] == [
        ("bias", 1.0),
        ("bias", 5.0),
        ("bias", None),
        ("popularity", 1.0),
        ("popularity", 5.0),
        ("popularity", None),
    ]
    assert all(c["runs"] == 2 and c["rmse"] > 0 and c["rmse_sd"] is not None for c in cells)
    assert "NOT PRIVATE" in tacit(*base).out
    told = json.loads(tacit("ledger", "show", "--json").out)
    assert len(told["entries"]) == 1


def test_evaluation_is_refused_on_a_capped_book_unless_it_stays_with_the_owner(tacit, table):
    assert tacit("ledger", "cap", "--epsilon", 5).status == 0
    base = ("evaluate", table, "--scale", "1,5", "--method", "popularity", "--seeds", 1)
    assert tacit(*base).status == 2
    assert tacit(*base, "--owner-only").status == 0


@pytest.mark.parametrize("split", ["90/10", "people"])
def test_evaluate_splits(tacit, table, split):
    args = ("--scale", "1,5", "--method", "popularity", "--split", split, "--seeds", 1, "--json")
    extra = ("--positive", 3, "--hold", 5) if split == "people" else ()
    cell = json.loads(tacit("evaluate", table, *args, *extra).out)["cells"][0]
    assert cell["recall@20" if split == "people" else "rmse"] is not None


def test_plan_spends_nothing(tacit, tacit_home):
    seen = tacit(
        "plan", "--method", "bias", "--epsilon", 1, "--users", 2000, "--items", 300, "--no-forecast"
    )
    assert seen.status == 0
    assert "attacker" in seen.out
    assert not (tacit_home / "ledger.sqlite").exists()


def test_doctor_finds_this_machine_well(tacit, model):
    facts = json.loads(tacit("doctor", "--json").out)
    assert facts["entropy"].startswith("fresh")
    assert "2 entries" in facts["ledger"]


def test_help_is_light():
    code = (
        "import sys; sys.argv = ['tacit', '--help']\n"
        "from tacit.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'numba', 'numpy', 'polars', 'scipy', 'dp_accounting'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_every_command_has_help(tacit):
    from tacit.cli.main import COMMANDS

    for name in COMMANDS:
        seen = tacit(name, "--help")
        assert seen.status == 0
        assert "Usage" in seen.out
