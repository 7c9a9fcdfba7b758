"""The page's judged times, in a real browser and by wrk: prints JSON, one figure a line.

    python benchmarks/page.py            # needs Chromium (scripts/chromium); wrk where it is there

Medians of an otherwise idle machine are meant. The page is served from loopback to an empty
browser each time; `tests/web` has the same measures as tests.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import brotli
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]
from tests.web import models, serve  # noqa: E402
from tests.web.conftest import FLAGS  # noqa: E402
from tests.web.test_first_visit import WATCH  # noqa: E402
from tests.web.test_speed import TIME_CLICKS  # noqa: E402

from tacit.serving.slim import slim  # noqa: E402

VISITS = 5
CLICKS = 25
SIZES = ((4_000, 60), (60_000, 20))
SHOWN = """
() => Math.max(...['first-contentful-paint', 'tacit list'].map(
  name => performance.getEntriesByName(name)[0].startTime))
"""


def say(**facts: Any) -> None:
    """One line."""
    print(json.dumps(facts), flush=True)


@contextmanager
def visiting(browser: Browser, address: str) -> Iterator[Page]:
    """A page in a browser that was never here."""
    context = browser.new_context()
    context.add_init_script(WATCH)
    page = context.new_page()
    page.goto(address)
    page.locator(".rec .reason:not(:empty)").first.wait_for()
    yield page
    context.close()


def first_view(browser: Browser) -> None:
    """From a cold load to the list."""
    taken = []
    with serve.serving(models.films()) as place:
        for _ in range(VISITS):
            with visiting(browser, place.address) as page:
                taken.append(page.evaluate(SHOWN))
    say(what="first view", ms=round(median(taken)), best=round(min(taken)))


def shifts(browser: Browser) -> None:
    """What moved by itself, and what held the page up after it was loaded."""
    with (
        serve.serving(models.films()) as place,
        visiting(browser, place.address) as page,
    ):
        page.wait_for_timeout(1500)
        loaded = page.evaluate("performance.now()")
        for name in ("Map", "Promise", "Ledger", "For you"):
            page.get_by_role("link", name=name, exact=True).click()
            page.wait_for_timeout(1200)
        moved = sum(value for value, _ in page.evaluate("shifts"))
        tasks = page.evaluate("tasks")
    held = [length for begun, length in tasks if begun > loaded]
    say(what="layout shift", value=moved)
    say(what="longest task after load", ms=round(max(held, default=0)))


def clicks(browser: Browser, items: int, factors: int) -> None:
    """From a click on a star to the new list."""
    with (
        serve.serving(models.many(items, factors)) as place,
        visiting(browser, place.address) as page,
    ):
        page.fill("#search", "Film 7")
        page.locator(".found .film").first.wait_for()
        loaded = page.evaluate("performance.now()")
        times = page.evaluate(TIME_CLICKS, CLICKS)
        tasks = page.evaluate("tasks")
    held = [length for begun, length in tasks if begun > loaded]
    say(
        what="click",
        items=items,
        factors=factors,
        ms=round(median(times), 1),
        best=round(min(times), 1),
        longest_task=round(max(held, default=0)),
    )


def scripts() -> None:
    """Bytes, each file slimmed and compressed by itself, as they are sent."""
    web = ROOT / "src" / "tacit" / "serving" / "web"
    device = set((web / "js" / "device").glob("*.js")) - {
        web / "js" / "device" / "room.js"
    }

    def weight(paths: set[Path]) -> int:
        return sum(
            len(brotli.compress(slim(path.read_text()).encode()))
            for path in paths
        )

    every = set(web.rglob("*.js"))
    say(
        what="script",
        page=weight(every - device),
        device_when_taking_part=weight(device),
    )


def main() -> None:
    """All of them."""
    scripts()
    found = subprocess.run(
        [ROOT / "scripts" / "chromium"],
        capture_output=True,
        text=True,
        check=True,
    )
    chromium = found.stdout.split()[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=FLAGS
        )
        first_view(browser)
        shifts(browser)
        for items, factors in SIZES:
            clicks(browser, items, factors)
        browser.close()


if __name__ == "__main__":
    main()
