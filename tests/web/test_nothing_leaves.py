"""Nothing derived from ratings leaves: the browser's recorder, the server's count, the ledger."""

from __future__ import annotations

import time
from collections import Counter
from urllib.parse import urlsplit

from playwright.sync_api import expect

from .conftest import PATIENCE, Visitor
from .serve import Place, Seen

RATED = (("Alien", 5), ("Titanic", 2), ("The Shining", 4))
ENTRIES = """
new Promise((resolve, reject) => {
  const open = indexedDB.open('tacit ' + location.pathname);
  open.onerror = () => reject(open.error);
  open.onsuccess = () => {
    const all = open.result.transaction('ledger').objectStore('ledger').getAll();
    all.onsuccess = () => { open.result.close(); resolve(all.result) };
  };
})
"""


def live(resident: Visitor, rated: tuple[tuple[str, int], ...]) -> None:
    """An evening with the page; only the ratings differ from one person to the next."""
    page = resident.page
    for title, stars in rated:
        resident.rate(title, stars)
    page.locator(".rec .name").first.click()
    page.locator(".waterfall .total").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("slider", name="From safe to explore").press("End")
    for name in ("Map", "Promise", "Ledger", "For you"):
        page.get_by_role("link", name=name, exact=True).click()
    page.locator(".rec").first.wait_for()


def bare(seen: Seen) -> tuple[str, str, bytes]:
    return seen.method, seen.path, seen.body


def test_rating_asks_for_nothing(resident: Visitor, place: Place) -> None:
    resident.visit(place.address)
    resident.settled()
    served, recorded = len(place.seen), len(resident.requests)
    live(resident, RATED)
    assert [bare(each) for each in place.seen[served:]] == []
    # The browser looks at its icon again and again: answered by the copy on the device.
    out = [each for each in resident.requests[recorded:] if not each.response().from_service_worker]
    assert [each.url for each in out] == []


def test_the_server_cannot_tell_two_people_apart(meet: object, place: Place) -> None:
    told = []
    for rated in (RATED, (("Heat", 1), ("Amélie", 5), ("Babe", 3))):
        place.seen.clear()
        visitor: Visitor = meet()  # type: ignore[operator]
        visitor.visit(place.address)
        visitor.settled()
        live(visitor, rated)
        visitor.visit(place.address)
        expect(visitor.page.locator(".yours .film")).to_have_count(3)
        visitor.until("performance.getEntriesByName('tacit list').length > 0")
        place.wait_for("/models", 2)
        # When the browser looks at sw.js again is its own affair.
        told.append(
            sorted(
                {
                    (bare(each), tuple(sorted(each.headers.items())))
                    for each in place.seen
                    if each.path != "/sw.js"
                }
            )
        )
        assert all(
            each.body == b"" and each.method == "GET" and "?" not in each.path
            for each in place.seen
        )
        visitor.context.close()
    assert told[0] == told[1]


def test_the_ledger_has_every_request_that_arrived(resident: Visitor, place: Place) -> None:
    resident.visit(place.address)
    resident.settled()
    live(resident, RATED)
    resident.visit(place.address)
    page = resident.page
    resident.until("document.querySelectorAll('.rec').length === 12")
    place.wait_for("/sw.js", 2)  # the browser's own look, some seconds after the second visit began

    def written() -> Counter[str]:
        return Counter(
            entry["address"].removeprefix("./")
            for entry in page.evaluate(ENTRIES)
            if not entry["cut"] and entry["status"] is not None
        )

    def arrived() -> Counter[str]:
        return Counter(path.removeprefix("/") for path in place.paths())

    end = time.monotonic() + PATIENCE / 1000
    while written() != arrived() and time.monotonic() < end:
        time.sleep(0.1)  # what is under way ends on both sides
    assert written() == arrived()
    page.get_by_role("link", name="Ledger").click()
    expect(page.locator(".figures dd").first).to_have_text("0 bytes")
    count = page.locator(".figures dd").nth(3).inner_text()
    assert int(count) == written().total()


def test_the_recorder_sees_the_service_worker_too(resident: Visitor, place: Place) -> None:
    resident.visit(place.address)
    resident.settled()
    by_worker = [each for each in resident.requests if each.service_worker]
    assert by_worker, "the recorder is blind: a request of the service worker must be among these"
    host = urlsplit(place.address).netloc
    assert {urlsplit(each.url).netloc for each in resident.requests} == {host}


def test_the_one_way_out_refuses_to_send(visitor: Visitor, place: Place) -> None:
    page = visitor.visit(place.address)
    tries = {
        "new Request('./model', {method: 'POST', body: 'alien=5'})": "only asks",
        "new Request('./model?alien=5')": "without a query",
        "new Request('http://127.0.0.2:9/model')": "own server only",
    }
    for request, words in tries.items():
        told = page.evaluate(
            f"import('./js/net.js').then(net => net.ask({request}, 'page', 'other'))"
            ".then(() => 'sent', e => e.message)"
        )
        assert words in told
    assert all("alien" not in each.path and not each.body for each in place.seen)
