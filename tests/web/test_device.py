"""The page as a device of a federation: by choice, to the bit, no byte more than said."""

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
from tacit.methods import find

from .conftest import Meet, Visitor
from .serve import Place

PYTHON = 20
BROWSERS = 5
PEOPLE = PYTHON + BROWSERS
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
        near = ["--origins", origin]
        f = _federation_class()(
            folder, ratings, origins=origin, aggregator=near, **options
        )
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
        self.run_it = lambda: asyncio.run(
            asyncio.wait_for(f.fleet(**options), 90)
        )
        self.report: Any = None

    def run(self) -> None:
        self.report = self.run_it()

    def done(self) -> None:
        self.join(90)
        assert self.report is not None
        assert not self.report.failed, self.report.failed[:2]


@pytest.mark.parametrize("method", ["bias"])
def test_browsers_and_python_make_the_model_of_python_alone(
    method: str, meet: Meet, place: Place, found: Found
) -> None:
    ratings = sample(people=PEOPLE, ratings=600, seed=8)
    f = found(ratings, method=method, cohort=PEOPLE, least=PEOPLE)
    pages = [
        joins(meet(service_workers="block"), place, ratings, who)
        for who in range(PYTHON, PEOPLE)
    ]
    fleet = Fleet(f, devices=PYTHON)
    fleet.start()
    for page in pages:
        expect(page.locator(".doing")).to_have_text(
            "The training is over. Nothing more is sent.", timeout=60_000
        )
    fleet.done()
    f.published()
    twin = find(method)(calibration="none", engine="federated")
    expected = twin.fit(ratings, users=PEOPLE).model_.shared
    told = f.model().shared
    assert told.numbers == expected.numbers
    for name, array in expected.arrays.items():
        assert np.array_equal(told.arrays[name], array), name
