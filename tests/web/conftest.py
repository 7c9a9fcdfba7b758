"""A real browser, one for each process; for each test a server and a person who was never here."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

os.environ.setdefault("PW_EXPERIMENTAL_SERVICE_WORKER_NETWORK_EVENTS", "1")
from playwright import sync_api
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from . import models, serve

ROOT = Path(__file__).parents[2]
FLAGS = [
    *"--no-sandbox --disable-gpu --disable-quic --no-first-run".split(),
    *"--disable-background-networking --disable-component-update --disable-sync".split(),
    "--host-resolver-rules=MAP films.test 127.0.0.1",
]
"""`films.test` is a name of this machine that no browser takes for secure."""
PATIENCE = 60_000.0
"""Milliseconds that a condition may take on a busy machine."""
expect.set_options(timeout=PATIENCE)


@dataclass(frozen=True)
class Tools:
    """Where Chromium is, and the folder of axe-core."""

    chromium: str
    modules: Path


@pytest.fixture(scope="session")
def tools() -> Tools:
    """Installed if they are missing and this user may."""
    done = subprocess.run(
        [ROOT / "scripts" / "chromium"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no browser here: {done.stderr.strip()[-200:]}")
    chromium, modules = done.stdout.split()
    return Tools(chromium, Path(modules))


@pytest.fixture(scope="module")
def browser(tools: Tools) -> Iterator[Browser]:
    """For one file of tests: while it runs, its event loop would refuse another."""
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=tools.chromium, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def films() -> dict[str, bytes]:
    return models.films()


@pytest.fixture
def place(films: dict[str, bytes]) -> Iterator[serve.Place]:
    with serve.serving(dict(films)) as found:
        yield found


ENDED = (
    "ERR_CONNECTION_RESET",
    "ERR_CONNECTION_REFUSED",
    "ERR_EMPTY_RESPONSE",
    "An unknown error occurred when fetching the script",
)
"""What a browser says where a place ends while its page still asks: tests that make their own
place end it before the visitor leaves."""


@dataclass
class Visitor:
    """A person with an empty browser: her page, what it asked for, what went wrong in it."""

    context: BrowserContext
    page: Page
    requests: list[Request] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()
    """Faults that the test causes."""

    def visit(self, address: str) -> Page:
        """Opens the page and waits for the list."""
        self.page.goto(address)
        self.page.locator(".rec .reason:not(:empty)").first.wait_for()
        return self.page

    def settled(self) -> Page:
        """Waits until the service worker has its copy and serves the page, and nothing is asked."""
        self.until("navigator.serviceWorker.controller !== null")
        self.until(
            "caches.keys().then(async names => { for (const name of names) {"
            " if (!name.startsWith('tacit data')) continue;"
            " return (await (await caches.open(name)).keys()).length >= 4 } return false })"
        )
        # The last thing that a visit asks for: is there a newer model?
        self.until(
            "performance.getEntriesByType('resource').some(each => each.name.endsWith('/models'))"
        )
        return self.page

    def until(self, condition: str) -> None:
        """Until it holds. Playwright's own waiting evaluates strings, which the policy forbids."""
        end = time.monotonic() + PATIENCE / 1000
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, f"this never came true: {condition}"
            time.sleep(0.02)

    def rate(self, title: str, stars: int) -> None:
        """By the keyboard, from the search; until the list is of this rating too."""
        lists = "performance.getEntriesByName('tacit list').length"
        before = self.page.evaluate(lists)
        self.page.fill("#search", title)
        row = self.page.locator(".found .film").filter(
            has=self.page.get_by_role("button", name=title, exact=True)
        )
        row.first.locator("input").press(str(stars))
        self.until(f"{lists} > {before}")
        self.page.locator("#search").press("Escape")


Meet = Callable[..., Visitor]


@pytest.fixture
def meet(browser: Browser) -> Iterator[Meet]:
    """New visitors; none of them may leave with a fault in her console."""
    met = list[Visitor]()

    def new(**options: object) -> Visitor:
        context = browser.new_context(**options)  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE)
        visitor = Visitor(context, context.new_page())
        context.on("request", lambda asked: visitor.requests.append(asked))
        context.on("weberror", lambda fault: visitor.faults.append(str(fault.error)))
        context.on(
            "console", lambda said: said.type == "error" and visitor.faults.append(said.text)
        )
        met.append(visitor)
        return visitor

    yield new
    for visitor in met:
        visitor.context.close()
    for visitor in met:
        unforeseen = [
            fault
            for fault in visitor.faults
            if not any(part in fault for part in (*visitor.expected, *ENDED))
        ]
        assert unforeseen == []


@pytest.fixture
def visitor(meet: Meet) -> Visitor:
    """Without a service worker: most tests do not need the copy, and it doubles the work."""
    return meet(service_workers="block")


@pytest.fixture
def resident(meet: Meet) -> Visitor:
    """Whose browser keeps a copy of the page."""
    return meet()


Module = Callable[..., object]


@pytest.fixture(scope="module")
def module(browser: Browser) -> Iterator[Module]:
    """Calls a function of one of the page's modules: `module(path, name, *arguments)`."""
    with serve.serving({}) as place:
        page = browser.new_page()
        page.goto(f"{place.address}texts/en.js")  # any document of that origin

        def call(path: str, name: str, *arguments: object) -> object:
            return page.evaluate(
                "async ([path, name, given]) => (await import(path))[name](...given)",
                [f"/{path}", name, list(arguments)],
            )

        yield call
        page.close()
