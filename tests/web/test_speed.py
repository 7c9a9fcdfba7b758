"""After a click the list is new at once, and nothing holds the page up."""

from __future__ import annotations

from statistics import median

import pytest

from . import models
from .conftest import Visitor
from .serve import serving
from .timing import WATCH, click_stars

CLICKS = 15
FEW = 3
SHARED = 5.0
LONG_TASK = 50.0
"""Milliseconds: what holds the page up longer is felt."""


@pytest.mark.parametrize(("items", "factors", "most"), [(4_000, 60, 16.0), (60_000, 20, 100.0)])
def test_a_click_makes_a_new_list(
    visitor: Visitor, items: int, factors: int, most: float, full: bool
) -> None:
    if items > 10_000 and not full:
        pytest.skip("only with --full")
    visitor.page.add_init_script(WATCH)
    with serving(models.many(items, factors)) as place:
        page = visitor.visit(place.address)
        visitor.until("document.querySelector('#search').value = 'Film 7', true")
        page.locator("#search").dispatch_event("input")
        page.locator(
            ".found .film"
        ).first.wait_for()  # the search has read the catalogue: loading is over
        loaded = page.evaluate("performance.now()")
        page.locator("#search").press("Escape")
        waits = click_stars(page, CLICKS if full else FEW)
        held = [task for task in page.evaluate("tasks") if task[0] > loaded]
    # Judged is the median on a free machine. Where other work shares the cores the best click is
    # nearest to the page's own time, and even that may wait.
    taken = median(waits.new) if full else min(waits.new) / SHARED
    assert taken < most
    if full:
        assert [round(length) for _, length in held if length > LONG_TASK] == []
