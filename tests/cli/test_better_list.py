"""Whose list is better than the default's is said wherever somebody could choose it."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

import tacit as api
from tacit.evaluation.report.story import list_words
from tacit.methods import find

ROOT = Path(__file__).parents[2]
ADVICE = find("bayes").better_list
FIT = ("--scale", "1,5", "--epsilon", 1, "--users", 30)


def said(text):
    """Without marks and breaks of lines."""
    return " ".join(text.replace("`", "").split())


def test_it_names_methods_and_a_command_that_runs(tacit, table, tmp_path):
    words = re.search(r"--method (\S+) --positive (\d)", ADVICE)
    assert words is not None
    assert find(words[1]).better_list == ""
    seen = tacit("fit", table, *FIT, *words[0].split(), "--out", tmp_path / "m")
    assert seen.status == 0, seen.err
    assert api.load(tmp_path / "m").shared.method == words[1]
    assert said(ADVICE) not in said(seen.err)


@pytest.mark.parametrize("page", ["README.md", "docs/methods/bayes.md"])
def test_pages_say_it(page):
    assert said(ADVICE) in said((ROOT / page).read_text("utf-8"))


def test_a_fit_says_it_whatever_the_rows_are(tacit, table, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(
        "user,item,rating\n" + "".join(f"u{u},i{u % 3},5\n" for u in range(30)), "utf-8"
    )
    for source in (table, other):
        seen = tacit("fit", source, *FIT, "--out", tmp_path / source.stem)
        assert seen.status == 0, seen.err
        assert f"note: {ADVICE}\n" in seen.err
    seen = tacit("fit", table, *FIT, "--method", "popularity", "--out", tmp_path / "p")
    assert "MovieLens" not in seen.err


def test_python_is_told_too(table, tmp_path):
    made = api.Bayes(epsilon=1.0, ledger=str(tmp_path / "book.sqlite"))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        made.fit(table, scale=(1, 5), users=30)
    told = [str(each.message) for each in heard if "positive=4" in str(each.message)]
    assert len(told) == 1


def test_a_plan_says_it(tacit):
    seen = tacit("plan", "--epsilon", 1, "--users", 50, "--items", 9)
    assert said(ADVICE) in said(seen.out)
    seen = tacit("plan", "--epsilon", 1, "--users", 50, "--items", 9, "--positive")
    assert "MovieLens" not in seen.out


def test_an_evaluation_says_it_and_what_these_rows_say(tacit, table):
    words = ("--scale", "1,5", "--users", 30, "--seeds", 1, "--no-reference", "--no-twin")
    seen = tacit("evaluate", table, *words, "--method", "bayes,popularity")
    assert seen.status == 0, seen.err
    assert said(ADVICE) in said(seen.out)


class Measured:
    """As much of an evaluation as the words need."""

    metric = "rmse"

    def __init__(self, *cells):
        names = ("method", "unit", "epsilon", "recall@20")
        self.cells = [dict(zip(names, cell, strict=True)) for cell in cells]


def test_methods_are_compared_at_one_unit_and_epsilon():
    told = list_words(
        Measured(
            ("bayes", "user", 1.0, 0.14),
            ("bayes", "user", 5.0, 0.16),
            ("bayes", "user", None, 0.2),
            ("popularity", "user", 1.0, 0.17),
            ("popularity", "rating", 5.0, 0.3),
            ("ease", "user", 5.0, 0.15),
        )
    )
    assert len(told) == 2
    assert told[1] == (
        "Here, at epsilon 1 and unit user: recall@20 0.1400 for bayes, popularity 0.1700."
    )
    assert list_words(Measured(("ease", "user", 1.0, 0.1))) == []


def test_a_calendar_says_it(tacit, table, tmp_path):
    items = tmp_path / "items.csv"
    items.write_text("item\n" + "".join(f"i{i}\n" for i in range(60)), "utf-8")
    line = ("refresh", table, *FIT, "--items", items, "--horizon", 2, "--out", tmp_path / "c")
    seen = tacit(*line)
    assert seen.status == 0, seen.err
    assert f"note: {ADVICE}\n" in seen.err
