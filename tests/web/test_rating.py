"""Rating: by mouse, keys and touch; the list moves, says why, and is there again after a reload."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from .conftest import Meet, Visitor
from .serve import Place


def star(row: Locator, stars: int) -> tuple[float, float]:
    """The middle of a star: the slider has a slot for "not rated" before the first."""
    box = row.locator(".stars").bounding_box()
    assert box is not None
    return box["x"] + box["width"] * (stars + 0.5) / 6, box["y"] + box["height"] / 2


def names(page: Page) -> list[str]:
    return page.locator(".rec bdi").all_inner_texts()


def test_a_click_gives_the_star_under_it_and_the_list_is_new(
    visitor: Visitor, place: Place
) -> None:
    page = visitor.visit(place.address)
    before = names(page)
    row = page.locator(".rec").first
    title = row.locator("bdi").inner_text()
    page.mouse.click(*star(row, 4))
    expect(page.get_by_role("heading", name="For you")).to_be_visible()
    # It stays under the pointer, so that a second click cannot hit the next film ...
    expect(page.locator(".rec.done bdi")).to_have_text(title)
    assert (
        page.get_by_label(f"Your rating of {title}").first.get_attribute("aria-valuetext")
        == "4 of 5 stars"
    )
    page.mouse.move(5, 5)  # ... and goes when the pointer does.
    expect(page.locator(".rec.done")).to_have_count(0)
    assert title not in names(page)
    assert names(page) != before
    expect(page.locator(".yours .film bdi")).to_have_text([title])


def test_the_keyboard_alone_finds_rates_and_takes_back(visitor: Visitor, place: Place) -> None:
    page = visitor.visit(place.address)
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("blade runner")
    expect(page.locator(".found .film").first).to_contain_text("Blade Runner")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".found .stars.rated")).to_have_count(1)
    page.keyboard.press("5")
    stars = page.locator(".found").get_by_label("Your rating of Blade Runner", exact=True)
    assert stars.get_attribute("aria-valuetext") == "5 of 5 stars"
    expect(page.locator(".yours .film")).to_have_count(1)
    page.keyboard.press("Delete")
    expect(page.locator(".yours .film")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator(".found")).to_be_hidden()
    expect(page.locator("#search")).to_be_focused()


def test_a_finger_rates(meet: Meet, place: Place) -> None:
    visitor = meet(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = visitor.visit(place.address)
    row = page.locator(".start .film").first
    title = row.locator("bdi").inner_text()
    page.touchscreen.tap(*star(row, 3))
    page.get_by_role("link", name="Yours").click()
    expect(page.locator(".yours .film bdi")).to_have_text([title])
    assert page.locator(".yours input").first.get_attribute("aria-valuetext") == "3 of 5 stars"


def test_ratings_are_there_after_a_reload(visitor: Visitor, place: Place) -> None:
    page = visitor.visit(place.address)
    visitor.rate("Alien", 5)
    visitor.rate("Titanic", 2)
    listed = names(page)
    page.reload()
    expect(page.locator(".yours .film bdi")).to_have_text(["Titanic", "Alien"])
    expect(page.get_by_role("heading", name="For you")).to_be_visible()
    assert names(page) == listed


def test_a_second_tab_follows(visitor: Visitor, place: Place) -> None:
    visitor.visit(place.address)
    other = visitor.context.new_page()
    other.goto(place.address)
    other.locator(".rec").first.wait_for()
    visitor.rate("Alien", 5)
    expect(other.locator(".yours .film bdi")).to_have_text(["Alien"])


def test_reasons_add_up_and_name_what_was_rated(visitor: Visitor, place: Place) -> None:
    page = visitor.visit(place.address)
    visitor.rate("Alien", 5)
    visitor.rate("The Shining", 5)
    expect(
        page.locator(".rec .reason").filter(has_text=re.compile("ou liked")).first
    ).to_be_visible()
    page.locator(".rec .name").first.click()
    points = page.locator(".waterfall .points")
    expect(page.locator(".waterfall .total")).to_be_visible()
    parts = [float(text.replace("−", "-")) for text in points.all_inner_texts()]
    assert sum(parts[:-1]) == pytest.approx(parts[-1], abs=0.05 * len(parts))
    assert page.locator(".waterfall").inner_text().count("You liked") >= 1
    expect(page.locator(".sheet .standing")).to_have_text("Number 1 in your list")
    low, high = re.findall(r"\d\.\d", page.locator(".sheet .range").inner_text())
    assert float(low) <= float(page.locator(".sheet .figure").inner_text()) <= float(high)


def test_why_a_film_is_not_there(visitor: Visitor, place: Place) -> None:
    page = visitor.visit(place.address)
    visitor.rate("Alien", 1)
    listed = names(page)
    page.fill("#search", "horror")
    missing = next(
        name
        for name in page.locator(".found bdi").all_inner_texts()[::-1]
        if name not in (*listed, "Alien")
    )
    page.locator(".found").get_by_role("button", name=missing, exact=True).click()
    expect(page.locator(".sheet .standing")).to_contain_text("Not in your list: it would be number")
    page.get_by_role("button", name="Do not suggest it").click()
    expect(page.locator(".sheet .standing")).to_have_text("You asked not to be shown it.")
    page.locator(".alike .name").first.click()  # more like this
    expect(page.locator(".sheet")).to_have_count(1)
    assert page.locator(".sheet h2").inner_text() != missing


def test_the_slider_and_the_genre_change_the_list(visitor: Visitor, place: Place) -> None:
    page = visitor.visit(place.address)
    visitor.rate("Alien", 5)
    before = names(page)
    page.get_by_label("Genre", exact=True).select_option(label="Documentary")
    expect(page.locator(".rec bdi").first).not_to_have_text(before[0])
    page.locator(".rec .name").first.click()
    expect(page.locator(".sheet > .inside > .facts")).to_contain_text("Documentary")
    page.keyboard.press("Escape")
    slider = page.get_by_role("slider", name="From safe to explore")

    widths = (
        "[...document.querySelectorAll('.rec .interval')].reduce((sum, e) => sum"
        " + (e.style.getPropertyValue('--high') - e.style.getPropertyValue('--low')), 0)"
    )
    usual = page.evaluate(widths)
    slider.press("Home")
    visitor.until(f"{widths} < {usual}")
    safe = page.evaluate(widths)
    slider.press("End")
    visitor.until(f"{widths} > {safe}")
    assert slider.get_attribute("aria-valuetext") == "explore: where the model knows you least"


def test_the_map_shows_the_person_and_opens_a_film(visitor: Visitor, place: Place) -> None:
    page = visitor.visit(place.address)
    page.get_by_role("link", name="Map", exact=True).click()
    near = page.locator("aside .film bdi")
    expect(near).to_have_count(8)
    before = near.all_inner_texts()
    visitor.rate("Alien", 5)
    visitor.rate("The Shining", 5)
    expect(near.first).not_to_have_text(before[0])
    near.first.click()
    expect(page.locator(".sheet")).to_be_visible()
