"""Bytes and seconds of an iteration of S3, as section 5 tells them."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter

import numpy as np

from tacit.papers.machine.experiment import (
    Experiment,
    Finding,
    Key,
    Panel,
    PaperTable,
    Results,
    Values,
    Verdict,
    Wanted,
)
from tacit.papers.machine.sources import Sources

FACTORS = 50
RATED = 20
PEOPLE = 1000
ITEMS = 10_000
TIMES = 10
"""A step that takes at most so many times as long as printed is as fast: chosen here."""
REPEATS = 5
PRINTED = {
    "down": ("recommender to a device, bytes", 12_000.0),
    "up": ("device to the third party, bytes", 5_000.0),
    "across": ("third party to the recommender, bytes", 3_000_000.0),
    "client": ("a device's own step, ms", 5.7e-4),
    "third": ("third party, ms", 400.0),
}


def keys(request: Wanted) -> Iterable[Key]:
    """One cell: sizes do not depend on ratings."""
    yield {"people": PEOPLE, "rated": RATED, "items": ITEMS}


def work(sources: Sources, key: Key) -> Values:
    """The bodies of messages as the wire packs them, and the time of both sides' sums."""
    from tacit.federation.protocol.arrays import pack_state
    from tacit.federation.protocol.wire import PartLayout, payload_size

    rated = key["rated"]
    layouts = tuple(
        PartLayout(name=name, size=key["items"], width=width, bits=32, sparse=True)
        for name, width in (("gradient", FACTORS), ("raters", 1))
    )
    message = pack_state(
        {
            "items": np.zeros((rated, FACTORS), np.float32),
            "k": np.zeros(rated, np.int32),
            "piece": np.zeros((rated, FACTORS), np.uint32),
        }
    )
    rows = min(key["items"], key["people"] * rated)
    return {
        "down": len(message),
        "up": payload_size(layouts, (rated, rated)),
        "across": payload_size(layouts, (rows, rows)),
        "client": 1000 * _client(rated) / PEOPLE,
        "third": 1000 * _third(key["people"], rated, key["items"]),
    }


def _client(rated: int) -> float:
    """Seconds for the steps of 1,000 devices, one after the other."""
    from tacit.kernels.user_step import take_step

    rng = np.random.default_rng(0)
    cells = PEOPLE * rated
    items = rng.standard_normal((ITEMS, FACTORS)).astype(np.float32)
    profiles = rng.standard_normal((PEOPLE, FACTORS))
    ptr = np.arange(0, cells + 1, rated)
    item = rng.integers(0, ITEMS, cells).astype(np.uint32)
    rating = rng.integers(1, 6, cells).astype(np.float64)
    out = np.empty((cells, FACTORS))
    best = np.inf
    for _ in range(REPEATS):
        began = perf_counter()
        take_step(
            np.arange(PEOPLE),
            ptr,
            item,
            rating,
            items,
            profiles,
            0,
            2.0**-5,
            0.001,
            (1.0, 0.0, 1.0, 0.0),
            True,
            out,
        )
        best = min(best, perf_counter() - began)
    return best


def _third(people: int, rated: int, items: int) -> float:
    """Seconds to add up the words of all devices modulo 2^32."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, items, (people, rated))
    words = rng.integers(0, 2**32, (people, rated, FACTORS), np.uint32)
    best = np.inf
    for _ in range(REPEATS):
        began = perf_counter()
        total = np.zeros((items, FACTORS), np.uint32)
        for item_rows, device_words in zip(rows, words, strict=True):
            np.add.at(total, item_rows, device_words)
        best = min(best, perf_counter() - began)
    return best


def draw(results: Results) -> Iterable[Panel]:
    """Nothing: a table."""
    return ()


def tables(results: Results) -> Iterable[PaperTable]:
    """Ours beside what is printed."""
    measured = results.rows[0].values
    rows = tuple(
        (label, f"{measured[name]:,.4g}", f"{printed:,.4g}")
        for name, (label, printed) in PRINTED.items()
    )
    yield PaperTable("An iteration of S3", ("", "here", "printed"), rows)


def judge_bytes(results: Results) -> Verdict:
    """At most as printed."""
    measured = results.rows[0].values
    good = all(measured[name] <= PRINTED[name][1] for name in ("down", "up", "across"))
    reason = (
        f"{RATED} items: {measured['down']:,.0f} bytes down, {measured['up']:,.0f} up; third party "
        f"to recommender {measured['across']:,.0f} for {ITEMS:,} items; bodies in 32-bit words, "
        "without HTTP headers and keys (docs/results/federated.md has whole rounds)"
    )
    return Verdict("holds" if good else "does not hold", reason, measured)


def judge_seconds(results: Results) -> Verdict:
    """A device's step and the third party's sum."""
    measured = results.rows[0].values
    reason = (
        f"a device's step takes {measured['client']:.2g} ms here with {RATED} items and d 50 "
        f"(printed 5.7e-4 ms, on Netflix, where people rated few of the 100 films), the third "
        f"party's sum {measured['third']:.3g} ms (printed 400). Machines differ: at most "
        f"{TIMES} times as long counts"
    )
    good = all(measured[name] <= TIMES * PRINTED[name][1] for name in ("client", "third"))
    return Verdict("holds" if good else "does not hold", reason, measured)


COST = Experiment(
    figure="cost",
    title="bytes and seconds of an iteration",
    data=(),
    invented=True,
    split="none",
    parameters=f"S3, {PEOPLE:,} people with {RATED} items each of {ITEMS:,}, d {FACTORS}",
    keys=keys,
    work=work,
    draw=draw,
    tables=tables,
    findings=(
        Finding(
            "bytes",
            "if a user rated no more than 20 items, she only needs to download at most 12KB data "
            "from the recommender and uploads at most 5KB data to the third-party in each "
            "iteration. ... the total data that the third-party has to send to the recommender "
            "in each iteration is less than 3MB",
            "section 5",
            judge_bytes,
        ),
        Finding(
            "seconds",
            "the average times for doing optimization on each client and the third party in "
            "each iteration are about 5.7 x 10^-4 ms and 400ms, respectively",
            "section 5",
            judge_seconds,
        ),
    ),
)
