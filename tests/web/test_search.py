"""Finding films: any case, with or without accents, years and genres, one slip allowed."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import Module, Visitor
from .serve import Place

CASES = [
    ("alien", "Alien"),
    ("AMELIE", "Amélie"),
    ("amélie", "Amélie"),
    ("godfather 1972", "The Godfather"),
    ("god fath", "The Godfather"),
    ("blde runner", "Blade Runner"),
    ("1979 horror", "Alien"),
]


def test_the_best_match_is_first(visitor: Visitor, place: Place) -> None:
    page = visitor.visit(place.address)
    first = page.locator(".found bdi").first
    for query, title in CASES:
        page.fill("#search", query)
        expect(first, query).to_have_text(title)
    page.fill("#search", "zzzzqq")
    expect(page.locator(".found .count")).to_have_text(
        "No film here has such a title, year or genre."
    )
    expect(page.locator("#announcer")).to_have_text("No film found")


SLIPS = [
    ("heat", "heat", True),
    ("heat", "haet", True),
    ("heat", "hea", True),
    ("heat", "cheat", True),
    ("heat", "hoot", False),
    ("heat", "heaven", False),
]


@pytest.mark.parametrize(("one", "other", "near"), SLIPS)
def test_one_slip(module: Module, one: str, other: str, near: bool) -> None:
    assert module("js/search.js", "oneSlip", one, other) is near
