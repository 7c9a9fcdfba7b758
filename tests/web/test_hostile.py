"""A hostile model or catalogue: it cannot script the page and cannot freeze it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from . import models
from .conftest import Meet, Visitor
from .serve import Place, serving

BAD = "<img src=x onerror=window.broken=1><script>window.broken=1</script>"


def test_a_title_is_text_whatever_it_holds(visitor: Visitor) -> None:
    rows = [
        (f"{BAD}{row}", f"{BAD} {row}", 1999, [BAD, "javascript:broken=1"]) for row in range(40)
    ]
    rows += [
        ("long", "A" * 400, 2000, ["Drama"]),
        ("turned", "\u202egnp.exe\u0007", 2001, ["Drama"]),
    ]
    with serving(models.published(rows)) as place:
        page = visitor.visit(place.address)
        page.fill("#search", "img")
        page.locator(".found .name").first.click()
        expect(page.locator(".sheet h2")).to_contain_text("<img src=x")
        page.locator(".waterfall .total").wait_for()
        page.keyboard.press("Escape")
        page.fill("#search", "exe")
        assert page.locator(".found bdi").first.inner_text() == "gnp.exe"
        page.fill("#search", "aaaa")
        assert len(page.locator(".found bdi").first.inner_text()) <= 160
        page.get_by_role("link", name="Map", exact=True).click()
        page.locator("aside .film").first.wait_for()
        assert page.evaluate("document.querySelectorAll('img, script:not([src])').length") == 0
        assert page.evaluate("window.broken") is None


def test_a_model_that_never_answers_does_not_freeze_the_page(meet: Meet, place: Place) -> None:
    visitor = meet(service_workers="block")
    page = visitor.page
    endless = "addEventListener('message', () => { for (;;); });"
    page.route(
        "**/js/worker.js", lambda it: it.fulfill(body=endless, content_type="text/javascript")
    )
    page.clock.install()
    page.goto(place.address)
    page.get_by_role("link", name="Ledger").click()  # the page goes on
    expect(page.get_by_role("heading", name="What has left this device")).to_be_visible()
    page.get_by_role("link", name="For you").click()
    page.clock.fast_forward("03:05")
    expect(page.get_by_role("alert")).to_contain_text("The model was stopped")


DENIED = """
Object.defineProperty(globalThis, 'indexedDB', {
  get() { throw new DOMException('no', 'SecurityError') } });
"""
FULL = """
IDBObjectStore.prototype.put = () => { throw new DOMException('full', 'QuotaExceededError') };
"""


@pytest.mark.parametrize("trouble", [DENIED, FULL])
def test_a_browser_that_keeps_nothing_still_recommends(
    visitor: Visitor, place: Place, trouble: str
) -> None:
    visitor.page.add_init_script(trouble)
    page = visitor.visit(place.address)
    visitor.rate("Alien", 5)
    expect(page.locator("section.yours .warn")).to_contain_text("Export them")
    expect(page.get_by_role("heading", name="For you")).to_be_visible()
    assert page.locator("section.yours .film").count() == 1


def test_below_a_path_of_a_place_that_is_not_secure(
    resident: Visitor, films: dict[str, bytes]
) -> None:
    """There a browser has no copy, no service worker and no cryptography: lists are made all the
    same, and ratings are kept."""
    with serving(films, prefix="/of/films/") as place:
        address = place.address.replace("127.0.0.1", "films.test")
        page = resident.visit(address)
        assert page.evaluate("[isSecureContext, 'caches' in window]") == [False] * 2
        resident.rate("Alien", 5)
        page.reload()
        page.locator("section.yours .film").wait_for()
        assert all(each.startswith("/of/films/") for each in place.paths())


def test_a_damaged_model_is_refused_in_words(visitor: Visitor, place: Place) -> None:
    place.data["model"] = place.data["model"][:200]
    visitor.page.goto(place.address)
    expect(visitor.page.get_by_role("alert")).to_contain_text("The model cannot be used")
    expect(visitor.page.get_by_role("alert")).to_contain_text("Your ratings are safe")


def test_a_model_that_changes_between_two_answers_is_fetched_again(
    meet: Meet, place: Place
) -> None:
    """Its catalogue came from the model before it, and a copy of that was kept."""
    visitor = meet()
    old = place.data["catalogue"].replace(models.DIGEST.encode(), b"6a" * 32)
    answers = [old]

    def answer(route: Route) -> None:
        body = answers.pop() if answers else place.data["catalogue"]
        route.fulfill(body=body, content_type="application/json")

    visitor.context.route("**/catalogue", answer)
    page = visitor.visit(place.address)
    assert answers == []
    expect(page.locator(".rec")).to_have_count(12)


def test_a_hostile_statement_is_text(visitor: Visitor, place: Place) -> None:
    place.data["statement"] = place.data["statement"].replace(b"A trusted curator", BAD.encode())
    page = visitor.visit(place.address)
    page.get_by_role("link", name="Promise").click()
    expect(page.locator(".cards")).to_contain_text("<script>")
    assert page.evaluate("window.broken") is None
