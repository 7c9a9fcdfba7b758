"""Screenshots of the page in its states, to be looked at: `python -m tests.web.pictures FOLDER
[SIZE [SCHEME]]`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from . import models, serve
from .conftest import FLAGS, ROOT

SIZES = {"desktop": (1440, 900), "phone": (360, 780), "4k": (3840, 2160)}
SCHEMES = ("light", "dark")
RATED = (("Alien", 5), ("Titanic", 2), ("The Shining", 4), ("Heat", 4))
OFFER = {
    "url": "https://one.example",
    "accept": [],
    "tickets": ["open", "tickets"],
    "method": "mf-federated",
    "purpose": "Better films for a club",
    "noise": "servers",
    "noisy": True,
    "people": 20_000,
    "least": 500,
    "epsilon": 1.37,
    "total": 1.71,
    "rounds": [
        {"name": "people", "bytes": 8, "epsilon": 0.21},
        {"name": "weights", "bytes": 13_288, "epsilon": 0.4},
        {"name": "factors 1", "bytes": 132_880, "epsilon": 0.9},
    ],
}
STATE = {
    "event": "state",
    "on": True,
    "doing": "waiting",
    "member": {"url": "https://one.example", "name": "00", "ran": []},
    "book": {"cap": 2, "delta": 1e-5, "answers": 3, "spent": 0.84, "realised": 0.31},
    "next": {"round": 3, "bytes": 13_288, "epsilon": 0.12},
}
FAKE = """
([state, offer]) => {
  // A worker that answers as the device's own would: pictures need no federation.
  const Real = Worker;
  window.Worker = class extends EventTarget {
    constructor(...given) {
      super();
      if (!String(given[0]).includes('desk')) return new Real(...given);
    }
    postMessage({ id, what }) {
      const tell = (data) => this.dispatchEvent(new MessageEvent('message', { data }));
      const now = what === 'join' || window.joined ? state : { ...state, member: null, on: false };
      window.joined ||= what === 'join';
      setTimeout(() => { tell(now); tell({ id, answer: what === 'look' ? offer : null }) }, 0);
    }
  };
}
"""


def rate(page: Page, title: str, stars: int) -> None:
    page.fill("#search", title)
    named = page.get_by_role("button", name=title, exact=True)
    row = page.locator(".found .film").filter(has=named)
    row.first.locator("input").press(str(stars))
    page.locator("#search").press("Escape")


def long_titles(catalogue: bytes) -> bytes:
    """The same films under names that no layout was made for."""
    facts = json.loads(catalogue)
    words = "Or How I Learned to Stop Worrying and Love the Extraordinary "
    facts["titles"] = [
        f"{title} {words * 2}" if row % 2 else f"{title.replace(' ', '')}{'x' * 90}"
        for row, title in enumerate(facts["titles"])
    ]
    return json.dumps(facts).encode()


def take(browser: Browser, folder: Path, size: str, scheme: str) -> None:
    """All states at one size in one scheme."""
    width, height = SIZES[size]
    data = models.films()
    listed = json.loads(data["models"])
    listed["federation"] = ["https://one.example", "https://two.example"]
    data["models"] = json.dumps(listed).encode()
    options: dict[str, Any] = {
        "viewport": {"width": width, "height": height},
        "color_scheme": scheme,
        "device_scale_factor": 2 if size == "phone" else 1,
        "is_mobile": size == "phone",
        "has_touch": size == "phone",
    }

    def shot(page: Page, name: str, *, whole: bool = False) -> None:
        page.wait_for_timeout(250)
        path = folder / f"{size}-{scheme}-{name}.png"
        page.screenshot(path=path, full_page=whole)

    with serve.serving(data) as place:
        context = browser.new_context(**options)
        page = context.new_page()
        page.goto(place.address)
        page.evaluate(FAKE, [STATE, OFFER])
        page.locator(".rec .reason:not(:empty)").first.wait_for()
        shot(page, "empty")
        for title, stars in RATED:
            rate(page, title, stars)
        page.evaluate("document.activeElement.blur()")
        shot(page, "full")
        page.locator(".rec .name").first.click()
        page.locator(".waterfall .total").wait_for()
        shot(page, "film")
        page.keyboard.press("Escape")
        page.fill("#search", "godfather")
        page.locator(".found .film").first.wait_for()
        shot(page, "search")
        page.locator(".found .name").first.click()
        page.locator(".waterfall .total").wait_for()
        page.locator(".sheet .standing").scroll_into_view_if_needed()
        shot(page, "absent")
        page.keyboard.press("Escape")
        page.locator("#search").press("Escape")
        page.evaluate("location.hash = 'yours'")
        page.get_by_role("button", name="Import").click()
        page.locator("dialog").wait_for()
        shot(page, "import")
        page.keyboard.press("Escape")
        for name, ready in (
            ("map", ".atlas aside .film"),
            ("promise", ".odds"),
            ("ledger", ".ledger tbody tr"),
        ):
            page.evaluate(f"location.hash = '{name}'")
            page.locator(ready).first.wait_for()
            shot(page, name, whole=name == "promise")
        page.evaluate("location.hash = 'promise'")
        page.get_by_role("button", name="What is asked of me?").click()
        page.locator(".terms").wait_for()
        page.locator(".device").scroll_into_view_if_needed()
        page.locator(".device").screenshot(path=folder / f"{size}-{scheme}-offer.png")
        page.get_by_role("button", name="Take part", exact=True).click()
        page.locator(".switch").wait_for()
        page.locator(".device").screenshot(path=folder / f"{size}-{scheme}-member.png")
        page.evaluate("location.hash = 'films'")
        page.locator(".network").click()
        shot(page, "offline")
        context.close()
        context = browser.new_context(**options, service_workers="block")
        page = context.new_page()
        place.data["catalogue"] = long_titles(data["catalogue"])
        page.goto(place.address)
        page.locator(".rec .reason:not(:empty)").first.wait_for()
        for _ in range(3):
            page.locator(".rec input").first.press("5")
        page.locator(".list").scroll_into_view_if_needed()
        shot(page, "long")
        page.locator(".rec .name").nth(1).click()
        page.locator(".waterfall .total").wait_for()
        shot(page, "long-film")
        context.close()
        context = browser.new_context(**options, service_workers="block")
        page = context.new_page()
        place.status = 503
        page.goto(place.address)
        page.locator(".trouble").wait_for()
        shot(page, "error")
        context.close()


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    command = [ROOT / "scripts" / "chromium"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=done.stdout.split()[0], args=FLAGS)
        for size in sys.argv[2:3] or SIZES:
            for scheme in sys.argv[3:4] or SCHEMES:
                take(browser, folder, size, scheme)
        browser.close()


if __name__ == "__main__":
    main()
