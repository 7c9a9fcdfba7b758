"""Ratings in and out as files, and the button that wipes."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from playwright.sync_api import expect

from .conftest import Module, Visitor
from .serve import Place

FILES = {
    "tacit": "item,rating\nalien-1979,5\nThe Godfather,4\nno-such-film,3\n",
    "letterboxd": (
        "Date,Name,Year,Letterboxd URI,Rating\n"
        "2024-01-01,Alien,1979,https://example.org/a,4.5\n"
        '2024-01-02,"The Good, the Bad and the Ugly",1966,https://example.org/b,3\n'
        "2024-01-03,Alien,1900,https://example.org/c,1\n"
    ),
    "imdb": (
        "Const,Your Rating,Date Rated,Title,URL,Title Type,IMDb Rating,Runtime (mins),Year\n"
        "tt0078748,9,2024-01-01,Alien,https://example.org,Movie,8.5,117,1979\n"
        "tt0113277,2,2024-01-01,Heat,https://example.org,Movie,8.3,170,1995\n"
        "tt9999999,7,2024-01-01,Nowhere,https://example.org,Movie,5,90,2001\n"
    ),
    "netflix": "Title,Date\nAlien,1/2/24\nHeat,1/3/24\nSome Show: Season 1: Pilot,1/4/24\n",
}
TAKEN = {
    "tacit": {"Alien": "5", "The Godfather": "4"},
    "letterboxd": {"Alien": "4", "The Good, the Bad and the Ugly": "3"},
    "imdb": {"Alien": "4", "Heat": "1"},
    "netflix": {"Alien": "4", "Heat": "4"},
}


def test_files_are_read_here_and_their_films_are_found(
    visitor: Visitor, place: Place, tmp_path: Path
) -> None:
    page = visitor.visit(place.address)
    place.wait_for("/models", 1)  # what a visit asks for last
    asked = len(place.seen)
    file = tmp_path / "ratings.csv"
    for kind, text in FILES.items():
        file.write_text(text, encoding="utf-8")
        page.get_by_role("button", name="Import").click()
        page.locator("#file").set_input_files(file)
        expect(page.locator(".outcome")).to_contain_text("2 films are in this catalogue")
        expect(page.locator(".missing li")).to_have_count(1)
        page.get_by_role("button", name="Add 2 ratings").click()
        for title, stars in TAKEN[kind].items():
            value = page.locator(".yours").get_by_label(f"Your rating of {title}", exact=True)
            expect(value, kind).to_have_attribute("aria-valuetext", f"{stars} of 5 stars")
    assert place.paths()[asked:] == []


def test_a_file_of_something_else_is_refused_with_a_remedy(
    visitor: Visitor, place: Place, tmp_path: Path
) -> None:
    page = visitor.visit(place.address)
    file = tmp_path / "other.csv"
    file.write_text("name;colour\nsky;blue\n", encoding="utf-8")
    page.get_by_role("button", name="Import").click()
    page.locator("#file").set_input_files(file)
    expect(page.locator(".outcome")).to_contain_text("It needs a first line with names of columns")


def test_no_file_holds_the_page_up(visitor: Visitor, place: Place, tmp_path: Path) -> None:
    """Whatever it holds: the page draws and listens while it is read."""
    file = tmp_path / "ratings.csv"
    columns = ",".join(f"c{place}" for place in range(20_000))
    lines = "".join(f"Film {row},5\n" for row in range(20_000))
    endless = '"' + "x," * 400_000
    file.write_text(f"item,rating,{columns}\nAlien,5\n{lines}{endless}")
    page = visitor.visit(place.address)
    page.get_by_role("button", name="Import").click()
    page.evaluate(
        "window.turns = 0; setInterval(() => turns += !document.querySelector('dialog .main'))"
    )
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator("dialog")).to_contain_text("1 film is in this")
    assert page.evaluate("turns") > 5


def test_an_export_is_what_tacit_reads_and_comes_back(
    visitor: Visitor, place: Place, tmp_path: Path
) -> None:
    page = visitor.visit(place.address)
    visitor.rate("Alien", 5)
    visitor.rate("Titanic", 2)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Export").click()
    file = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(file)
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    assert rows == [["item", "rating"], ["alien-1979", "5"], ["titanic-1997", "2"]]


def test_wiping_leaves_nothing(resident: Visitor, place: Place) -> None:
    page = resident.visit(place.address)
    resident.settled()
    resident.rate("Alien", 5)
    expect(page.locator(".yours .film")).to_have_count(1)
    page.get_by_role("button", name="Wipe").click()
    page.get_by_role("button", name="Wipe everything").click()
    expect(page.locator(".yours .film")).to_have_count(0)
    resident.until("caches.keys().then(names => names.length === 0)")
    resident.until("navigator.serviceWorker.getRegistrations().then(all => all.length === 0)")
    resident.until("indexedDB.databases().then(all => all.length === 0)")
    assert (
        page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length") == 0
    )
    page = resident.visit(place.address)
    expect(page.get_by_role("heading", name="For anyone")).to_be_visible()


ROUND_TRIPS = [[["item", "rating"], ["a", "1"]], [["a,b", 'say "so"'], ["line\nbreak", " edge "]]]


@pytest.mark.parametrize("rows", ROUND_TRIPS)
def test_csv_goes_out_and_comes_back(module: Module, rows: list[list[str]]) -> None:
    text = module("js/person/csv.js", "writeCsv", rows)
    assert module("js/person/csv.js", "readCsv", text) == [
        [cell.strip() for cell in row] for row in rows
    ]
