"""Without a server, without a network, below a sub-path: the page goes on."""

from __future__ import annotations

from playwright.sync_api import expect

from .conftest import Meet, Visitor
from .serve import Place, serving


def test_after_one_visit_the_server_is_not_needed(
    resident: Visitor, films: dict[str, bytes]
) -> None:
    resident.expected = ("ERR_CONNECTION_REFUSED", "Failed to fetch")
    with serving(dict(films), prefix="/some/where/") as place:
        resident.visit(place.address)
        resident.settled()
        resident.rate("Alien", 5)
    page = resident.visit(place.address)  # the server is gone
    expect(page.locator(".yours .film bdi")).to_have_text(["Alien"])
    resident.rate("Heat", 4)
    expect(page.locator(".yours .film")).to_have_count(2)
    page.get_by_role("link", name="Promise").click()
    expect(page.locator(".seal .standing")).to_have_text("Certified")
    page.locator("summary").click()
    expect(page.locator(".whole pre")).to_contain_text("Privacy statement")


def test_the_switch_cuts_the_page_and_it_works_on(resident: Visitor, place: Place) -> None:
    page = resident.visit(place.address)
    resident.settled()
    network = page.get_by_role("switch")
    network.click()
    expect(network).to_have_text("Network cut")
    asked = len(place.seen)
    page = resident.visit(place.address)
    resident.rate("Alien", 5)
    for name in ("Map", "Promise", "Ledger"):
        page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("switch")).to_have_attribute("aria-checked", "false")
    # The browser may look whether sw.js has changed: no page can keep it from that.
    assert set(place.paths()[asked:]) <= {"/sw.js"}
    page.get_by_role("switch").click()
    expect(page.get_by_role("switch")).to_have_text("Network on")


def test_a_first_visit_that_finds_no_server_says_so_and_tries_again(
    meet: Meet, place: Place
) -> None:
    visitor = meet()
    visitor.expected = ("503",)
    place.status = 503
    visitor.page.goto(place.address)
    expect(visitor.page.get_by_role("alert")).to_contain_text("The model could not be fetched")
    place.status = 200
    visitor.page.get_by_role("button", name="Try again").click()
    expect(visitor.page.locator(".rec")).to_have_count(12)


def test_a_newer_model_is_offered_and_not_forced(resident: Visitor, place: Place) -> None:
    resident.visit(place.address)
    resident.settled()
    place.data["models"] = place.data["models"].replace(b"5f5f", b"6a6a")
    page = resident.visit(place.address)
    expect(page.get_by_role("status").filter(has_text="A newer model")).to_be_visible()
    assert "/model" not in place.paths()[-3:]
