"""A calendar of three releases and its owner, for the tests of calendars."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import numpy as np

import tacit
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.fitting.fixed import Periods
from tacit.fitting.refresh import Refreshed, refresh
from tacit.ledger.book.book import open_book

ITEMS = Catalogue([f"i{k}" for k in range(12)])
DAY = 86_400
PERIODS = Periods(date(1970, 1, 1), 1)
"""Times below are days since 1970."""


def people(days: dict[str, list[int]], seed: int = 0) -> Ratings:
    """Somebody who rated three items on each of her days."""
    rng = np.random.default_rng(seed)
    rows = []
    for name, when in days.items():
        items = rng.permutation(12)[: 3 * len(when)]
        for place, item in enumerate(items):
            value = float(rng.integers(1, 6))
            rows.append((name, int(item), value, when[place // 3] * DAY + 60))
    rows.sort(key=lambda row: (list(days).index(row[0]), row[1]))
    counts = [3 * len(when) for when in days.values()]
    return Ratings(
        Schema(1, 5),
        list(days),
        list(ITEMS.ids),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.array([row[1] for row in rows], np.uint32),
        np.array([row[2] for row in rows], np.float32),
        np.array([row[3] for row in rows], np.int64),
    )


EVERYBODY = people(
    {
        **{f"early {k}": [0] for k in range(6)},
        "often": [0, 1, 2],
        **{f"later {k}": [1] for k in range(5)},
        **{f"last {k}": [2] for k in range(4)},
    }
)


class Owner:
    """One calendar of three releases, in a folder of its own."""

    def __init__(self, folder: Path, **more: object) -> None:
        self.folder = folder
        self.out = folder / "calendar"
        self.ledger = folder / "ledger.sqlite"
        self.more = more

    def next(self, ratings: Ratings = EVERYBODY, **changed: object) -> Refreshed:
        """One more release."""
        method = tacit.Popularity(epsilon=changed.pop("epsilon", 2.0), ledger=str(self.ledger))
        asked = {"out": self.out, "horizon": 3, "items": ITEMS, "users": 16, "periods": PERIODS}
        return refresh(method, ratings, **(asked | self.more | changed))

    def charges(self) -> int:
        """Reservations in the book."""
        entries = open_book(self.ledger).entries()
        return sum(entry.kind == "reserve" for entry in entries)

    def released(self) -> dict[str, bytes]:
        """All that was published, byte by byte."""
        return {
            str(file.relative_to(self.out)): file.read_bytes()
            for file in sorted((self.out / "releases").rglob("*"))
            if file.is_file()
        }

    def names(self, week: int) -> list[str]:
        """The keyed list of a week."""
        text = (self.out / "private" / f"{week:02d}" / "people.json").read_text()
        return list(json.loads(text)["names"])
