"""The page's judged times, in a real browser: prints JSON, one figure a line.

    python benchmarks/page.py            # needs Chromium (scripts/chromium)

Medians of an otherwise idle machine are meant; `tests/web` has the same measures as tests.

*first view*: from the navigation to the frame in which the first list is drawn. The browser runs,
but was never here: an empty profile each time, no cache, no copy. The page comes from `tacit serve
--demo`, a process of its own on loopback, as a person would get it.

*click*: from the moment at which the browser got the press of a real mouse on a star to the new
list. `ms` is until the document holds it, `drawn` until the frame that shows it was drawn; a
screen shows at most one frame in 16.7 ms. One press a second, with the movements of the last one
over. The page comes from a server of the tests, which has models of any size; a press asks it for
nothing.

*longest task after load*: what the browser's own Long Tasks count, from 50 ms on, after the list is
there and the search has read the catalogue; 0 is none.

*script*: each file as it is sent, compressed by itself: by brotli and by gzip.
"""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import brotli
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]
from tests.web import models, serve  # noqa: E402
from tests.web.conftest import FLAGS  # noqa: E402
from tests.web.timing import WATCH, click_stars, first_list  # noqa: E402

from tacit.serving.app import read_page, web_folder  # noqa: E402

VISITS = 7
CLICKS = 11
SIZES = ((4_000, 60), (60_000, 20))
PATIENCE = 180.0
"""Seconds for the server to have its demonstration ready."""


def say(**facts: Any) -> None:
    """One line."""
    print(json.dumps(facts), flush=True)


@contextmanager
def demonstration() -> Iterator[str]:
    """`tacit serve --demo`; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/"
    command = [sys.executable, "-m", "tacit", "serve", "--demo"]
    server = subprocess.Popen(
        [*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + PATIENCE
        while not _answers(f"{address}healthz"):
            if server.poll() is not None or time.monotonic() > end:
                raise SystemExit("tacit serve --demo did not start")
            time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait()


def _answers(address: str) -> bool:
    try:
        with urlopen(address):
            return True
    except URLError:
        return False


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


def first_view(browser: Browser, address: str) -> None:
    """From a cold load to the list."""
    taken = []
    for _ in range(VISITS):
        with visiting(browser, address) as page:
            taken.append(first_list(page))
    say(what="first view", ms=round(median(taken)), best=round(min(taken)))


def shifts(browser: Browser, address: str) -> None:
    """What moved by itself, and what held the page up after it was loaded."""
    with visiting(browser, address) as page:
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
        page.locator("#search").press("Escape")
        waits = click_stars(page, CLICKS)
        tasks = page.evaluate("tasks")
    held = [length for begun, length in tasks if begun > loaded]
    say(
        what="click",
        items=items,
        factors=factors,
        **waits.facts(),
        longest_task=round(max(held, default=0)),
    )


def scripts() -> None:
    """Bytes, each file compressed by itself, as they are sent."""
    page = read_page(web_folder())
    scripts = {name: body for name, body in page.items() if name.endswith(".js")}
    device = {name for name in scripts if name.startswith("js/device/")}

    def weight(names: set[str], squeeze: Callable[[bytes], bytes]) -> int:
        return sum(len(squeeze(scripts[name])) for name in names)

    for coding, squeeze in (("br", brotli.compress), ("gzip", gzip.compress)):
        say(
            what="script",
            coding=coding,
            page=weight(set(scripts) - device, squeeze),
            device_when_taking_part=weight(device, squeeze),
        )


def main() -> None:
    """All of them."""
    scripts()
    found = subprocess.run(
        [ROOT / "scripts" / "chromium"], capture_output=True, text=True, check=True
    )
    chromium = found.stdout.split()[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        with demonstration() as address:
            first_view(browser, address)
            shifts(browser, address)
        for items, factors in SIZES:
            clicks(browser, items, factors)
        browser.close()


if __name__ == "__main__":
    main()
