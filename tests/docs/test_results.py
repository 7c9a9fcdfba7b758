"""A results page of a paper is what its numbers give today: no word of it is by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.evaluation.reproduce import find, names
from tacit.evaluation.reproduce.again import judge_again, read
from tacit.evaluation.reproduce.markdown import markdown

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.mark.parametrize("name", names())
def test_a_page_follows_from_the_numbers_beside_it(name):
    paper = find(name)
    made = read(RESULTS / f"{name}.json", paper)
    done = judge_again(paper, [made])
    page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert page == markdown(paper, done, made)
