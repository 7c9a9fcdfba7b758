"""The page as a device of a federation: by choice, to the bit, and no byte more than said."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tacit.data.ratings import Ratings
from tacit.data.sample import sample
from tacit.federation.agreed.assembled import assemble
from tacit.federation.protocol.task import Task
from tacit.methods import find

from .conftest import Meet, Visitor
from .serve import Place
from .test_nothing_leaves import ENTRIES

JUDGED = (20, 5)
"""Devices of Python and browsers of the judged federation; a few show the same every day."""
FEW = (3, 1)
LONG = 240_000.0
"""Milliseconds that a condition may take: servers, devices and browsers share the cores."""
E2E = Path(__file__).parents[1] / "e2e" / "conftest.py"
ADD = """
async rows => {
  const { Store } = await import('./js/person/store.js');
  await new Store().add(rows.map(([item, rating]) => ({ item, rating, at: 1, title: '' })));
}
"""
SETTINGS = """
new Promise((resolve, reject) => {
  const open = indexedDB.open('tacit ' + location.pathname);
  open.onerror = () => reject(open.error);
  open.onsuccess = () => {
    const store = open.result.transaction('settings').objectStore('settings');
    const keys = store.getAllKeys();
    keys.onsuccess = () => { open.result.close(); resolve(keys.result) };
  };
})
"""
JOIN = {"version", "task", "stamp", "done", "place", "holds", "items"}
"""All that a device says when it asks for a round: nothing of it follows from ratings."""
Found = Callable[..., Any]


def _federation_class() -> Any:
    """The servers of the end-to-end tests."""
    spec = importlib.util.spec_from_file_location("e2e_federation", E2E)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Federation


@pytest.fixture
def found(tmp_path: Path, place: Place) -> Iterator[Found]:
    """A federation whose operators list the page, and which the page's operator names."""
    made = list[Any]()

    def start(ratings: Ratings, **options: Any) -> Any:
        origin = place.address.rstrip("/")
        folder = tmp_path / f"federation-{len(made)}"
        folder.mkdir()
        near = ["--origins", origin, "--least", "1"]
        f = _federation_class()(folder, ratings, origins=origin, aggregator=near, **options)
        made.append(f)
        f.start()
        place.federation = (f.url["recommender"], f.url["aggregator"])
        listed = json.loads(place.data["models"])
        listed["federation"] = list(place.federation)
        place.data["models"] = json.dumps(listed).encode()
        return f

    yield start
    for each in made:
        each.stop()


def joins(visitor: Visitor, place: Place, ratings: Ratings, who: int) -> Page:
    """One person of the ratings opens the page, reads the terms and takes part."""
    visitor.context.set_default_timeout(LONG)
    page = visitor.visit(place.address)
    cells = ratings.row(who)
    items = [ratings.items[item] for item in ratings.item[cells]]
    own = list(zip(items, ratings.value[cells].tolist(), strict=True))
    page.evaluate(ADD, own)
    page.get_by_role("link", name="Promise", exact=True).click()
    page.get_by_role("button", name="What is asked of me?").click()
    join = page.get_by_role("button", name="Take part", exact=True)
    join.wait_for()
    accept = page.locator("#device-accept")
    if accept.count():
        expect(join).to_be_disabled()
        accept.check()
    join.click()
    page.locator("#device-switch[aria-checked=true]").wait_for()
    return page


class Fleet(threading.Thread):
    """Python's devices, beside the browser's event loop."""

    def __init__(self, f: Any, **options: Any) -> None:
        super().__init__(daemon=True)
        self.run_it = lambda: asyncio.run(asyncio.wait_for(f.fleet(**options), LONG / 1000))
        self.report: Any = None

    def run(self) -> None:
        self.report = self.run_it()

    def done(self) -> None:
        self.join(LONG / 1000)
        assert self.report is not None
        assert not self.report.failed, self.report.failed[:2]


# Without noise `mf-federated` is its twin, in which no browser takes part: "sound only".
@pytest.mark.parametrize("method", ["bias", "popularity", "one-bit"])
def test_browsers_and_python_make_the_model_of_python_alone(
    method: str, meet: Meet, place: Place, found: Found, full: bool
) -> None:
    if not full and method != "bias":
        pytest.skip("one method will do; TACIT_FULL=1 runs the others")
    python, browsers = JUDGED if full else FEW
    people = python + browsers
    ratings = sample(people=people, ratings=24 * people, seed=8)
    f = found(ratings, method=method, cohort=people, least=people)
    pages = [
        joins(meet(service_workers="block"), place, ratings, who) for who in range(python, people)
    ]
    fleet = Fleet(f, devices=python)
    fleet.start()
    for page in pages:
        expect(page.locator(".doing")).to_have_text(
            "The training is over. Nothing more is sent.", timeout=LONG
        )
    fleet.done()
    f.published()
    twin = find(method)(calibration="none", engine="federated")
    expected = twin.fit(ratings, users=people).model_.shared
    told = f.model().shared
    assert told.numbers == expected.numbers
    for name, array in expected.arrays.items():
        assert np.array_equal(told.arrays[name], array), name


def bodies(visitor: Visitor, start: str) -> list[bytes]:
    """What the browser's recorder saw go out to a server: once by the service worker, if there is
    one."""
    out = [
        each for each in visitor.requests if each.url.startswith(start) and each.method == "POST"
    ]
    by_worker = [each for each in out if each.service_worker]
    return [each.post_data_buffer or b"" for each in by_worker or out]


def payload(body: bytes) -> bytes:
    """Of a frame: what follows its header."""
    return body[10 + int.from_bytes(body[6:10], "little") :]


def header(body: bytes) -> Any:
    """Of a frame."""
    return json.loads(body[10 : 10 + int.from_bytes(body[6:10], "little")])


def counted(f: Any, role: str, what: str) -> float:
    """One of a server's own counts."""
    for line in f.get(role, "/metrics").splitlines():
        if line.startswith(f"tacit_{role}_{what} "):
            return float(line.split()[-1])
    return 0.0


def test_nothing_leaves_before_joining_then_what_was_announced(
    resident: Visitor, place: Place, found: Found
) -> None:
    ratings = sample(people=3, ratings=60, seed=8)
    f = found(ratings, method="popularity", calibration="sound", epsilon=1, cohort=3, least=3)
    servers = tuple(f.url.values())
    page = resident.visit(place.address)
    resident.settled()
    resident.rate("Alien", 5)
    page.get_by_role("link", name="Promise", exact=True).click()
    page.get_by_role("button", name="What is asked of me?").wait_for()
    # Until she asks nobody is spoken to, by the recorder and by both servers' own count.
    assert [e.url for e in resident.requests if e.url.startswith(servers)] == []
    assert [counted(f, role, "devices") for role in f.url] == [0, 0]
    page.get_by_role("button", name="What is asked of me?").click()
    page.locator(".terms").wait_for()
    asked = [e for e in resident.requests if e.url.startswith(servers)]
    assert {(e.method, e.post_data_buffer) for e in asked} == {("GET", None)}
    page = joins(resident, place, ratings, 2)
    fleet = Fleet(f, devices=2)
    fleet.start()
    expect(page.locator(".doing")).to_have_text(
        "The training is over. Nothing more is sent.", timeout=LONG
    )
    fleet.done()
    # Exactly what was announced, as Python works it out from the task.
    (sent,) = bodies(resident, f.url["aggregator"] + "/v1/upload")
    told = Task.model_validate(f.get("recommender", "/v1/task")["task"])
    assert len(payload(sent)) == assemble(told).bytes_of(0)
    joined = bodies(resident, f.url["recommender"] + "/v1/join")
    assert joined
    for each in joined:
        assert payload(each) == b""
        assert set(header(each)) == JOIN
    page.get_by_role("link", name="Ledger", exact=True).click()
    entries = page.evaluate(ENTRIES)
    answers = [each for each in entries if each["why"] == "answer"]
    assert [each["body"] for each in answers] == [len(sent)]
    # By the servers: two devices of Python's and this one, with one answer each.
    others = bodies(resident, f.url["aggregator"])
    enrolled = [body for body in others if body != sent]
    assert all(b"public" in body for body in enrolled)
    assert len({json.loads(body)["public"] for body in enrolled}) == 1
    assert [counted(f, role, "devices") for role in f.url] == [3, 3]
    uploads = 'requests_total{path="/v1/upload",status="200"}'
    assert counted(f, "aggregator", uploads) == 3
    # By the cut: no request at all while the network is cut.
    page.get_by_role("link", name="Promise", exact=True).click()
    page.locator(".network").click()
    before = len(resident.requests)
    page.locator("#device-switch").click()
    expect(page.locator(".doing")).to_have_text("The network is cut.")
    gone = [
        each
        for each in resident.requests[before:]
        if each.url.startswith(servers) and each.failure is None
    ]
    assert gone == []


def test_a_cap_holds_and_leaving_deletes_the_key_but_not_the_book(
    visitor: Visitor, place: Place, found: Found, full: bool
) -> None:
    if not full:
        pytest.skip("a quarter of a minute: only with scripts/test --full")
    ratings = sample(people=3, ratings=60, seed=8)
    f = found(ratings, method="popularity", calibration="sound", epsilon=1, cohort=3, least=3)
    page = visitor.visit(place.address)
    page.get_by_role("link", name="Promise", exact=True).click()
    page.get_by_role("button", name="What is asked of me?").click()
    page.locator("#device-cap").fill("0.5")
    page.get_by_text("All of it would cost more than your cap.").wait_for()
    join = page.get_by_role("button", name="Take part", exact=True)
    expect(join).to_be_disabled()
    page = joins(visitor, place, ratings, 2)
    expect(page.locator(".doing")).to_have_text("Waiting for a round.")
    assert {"member", "on", "federation"} <= set(page.evaluate(SETTINGS))
    page.reload()  # it goes on by itself, with the key that it had
    expect(page.locator(".doing")).to_have_text("Waiting for a round.")
    fleet = Fleet(f, devices=2)
    fleet.start()
    expect(page.locator(".doing")).to_have_text(
        "The training is over. Nothing more is sent.", timeout=LONG
    )
    fleet.done()
    figures = page.locator(".device .figures dd").all_inner_texts()
    assert figures[0].endswith("of 2.00")
    spent, own = (float(each.split()[0]) for each in figures[:2])
    assert 0 < own <= spent <= 1
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Leave, and delete the key").click()
    page.get_by_text("the key of this device is deleted").wait_for()
    left = set(page.evaluate(SETTINGS))
    assert not {"member", "on", "federation"} & left
    assert "book" in left
    page.get_by_role("button", name="What is asked of me?").click()
    page.get_by_text("was spent before").wait_for()


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("mf-federated", {"epsilon": 4, "users": 20_000}),
        ("bias", {"epsilon": 2, "noise": "both"}),
        ("one-bit", {"epsilon": 2, "least": 1, "seconds": 3}),
        ("one-bit-projected", {"epsilon": 2, "least": 1, "seconds": 3}),
        ("one-bit-naive", {"epsilon": 2, "least": 1, "seconds": 3}),
    ],
)
def test_it_takes_part_in_every_method(
    method: str, more: dict[str, Any], visitor: Visitor, place: Place, found: Found, full: bool
) -> None:
    if not full:
        pytest.skip("about 10 s each; TACIT_FULL=1 runs them")
    ratings = sample(people=3, ratings=60, seed=8)
    sound = {"calibration": "sound", "cohort": 3, "least": 3}
    f = found(ratings, method=method, **(sound | more))
    page = visitor.visit(place.address)
    page.evaluate(
        "import('./js/device/book.js').then(async ({readBook, write}) =>"
        " write({book: {...await readBook(), cap: 20}}))"
    )
    page = joins(visitor, place, ratings, 2)
    fleet = Fleet(f, devices=2)
    fleet.start()
    expect(page.locator(".doing")).to_have_text(
        "The training is over. Nothing more is sent.", timeout=LONG
    )
    fleet.done()
    f.published()
    answers = int(page.locator(".device .figures dd").nth(3).inner_text())
    local = method.startswith("one-bit")
    assert answers == 1 if local else answers >= 5
