"""The bench on which a cell is run: ratings, models to start from, noise bits that repeat."""

from __future__ import annotations

import csv
import hashlib
import itertools
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from comparing.version import find, inject_bits, tacit, trial

PEOPLE = 120
RATINGS = 3000
"""Of the sample that most cells are fitted to: small, because there are two thousand of them."""
MANY_PEOPLE = 400
MANY_RATINGS = 16_000
"""Of the larger sample, on which a large budget lets the finer parts of a model through."""
CAP = 15
"""Of a capped cell: below the mean of 25 ratings a person, so that most people are cut."""
LIKE = 4
"""The least rating that is a like."""


def source() -> Callable[[int], bytes]:
    """Bits for one cell: a hash of a counter that starts again with every call of this function."""
    count = itertools.count()

    def draw(nbytes: int) -> bytes:
        number = next(count)
        blocks = range(-(-nbytes // 32))
        found = (hashlib.sha256(b"tacit compare %d %d" % (number, at)).digest() for at in blocks)
        return b"".join(found)[:nbytes]

    return draw


class Bench:
    """The data, and a folder of its own in which the process works, so that paths do not differ."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tacit-compare-")
        self.root = Path(self._folder.name)
        self._number = itertools.count()
        os.environ["TACIT_HOME"] = str(self.root / "home")
        self.catalogue = tacit.sample_catalogue()
        sample = tacit.sample(people=PEOPLE, ratings=RATINGS, seed=7)
        times = sample.item.tolist()
        famous = sorted(set(times), key=lambda row: (-times.count(row), row))[:5]
        self.famous = [sample.items[row] for row in famous]
        self.own = dict(zip(self.famous, (5, 4, 2, 5), strict=False))
        """Ratings of one more person, whom no fit saw; the fifth famous item is asked about."""

    def folder(self) -> Path:
        """A new empty folder, and from now on the working one."""
        made = self.root / f"cell{next(self._number)}"
        made.mkdir()
        os.chdir(made)
        return made

    @cache  # noqa: B019 (one bench a process, which lives as long as it)
    def ratings(self, kind: str = "rated", cap: bool = False, many: bool = False) -> Any:
        """The sample as rated data, or read back as likes; capped or whole."""
        if cap:
            whole = self.ratings(kind, False, many)
            return replace(whole, schema=whole.schema.declare(max_ratings=CAP))
        size = (MANY_PEOPLE, MANY_RATINGS) if many else (PEOPLE, RATINGS)
        found = tacit.sample(people=size[0], ratings=size[1], seed=7)
        if kind == "rated":
            return found
        path = self.root / f"ratings-{size[0]}.csv"
        write_ratings(path, found)
        return tacit.read(path, (1, 5), positive=LIKE)

    def method(self, name: str, options: Mapping[str, Any]) -> Any:
        """An unfitted method on one thread, with a ledger of its own in the working folder."""
        return find(name)(threads=1, ledger="book.db", population="compare", **options)

    def fit(self, name: str, options: Mapping[str, Any], **data: Any) -> Any:
        """The model of a cell: charged to its book, under bits that repeat."""
        with inject_bits(source()):
            return self._run(self.method(name, options), tried=False, **data)

    def fit_for_real(self, name: str, options: Mapping[str, Any], **data: Any) -> Any:
        """The same under the system's own bits: only what was promised can be compared."""
        return self._run(self.method(name, options), tried=False, **data)

    def try_from(self, name: str, options: Mapping[str, Any], start: str, **data: Any) -> Any:
        """A trial from an earlier model, which under injected bits no book would certify."""
        earlier = self.start(start, data.get("kind", "rated"))
        with inject_bits(source()):
            return self._run(self.method(name, options), tried=True, start=earlier, **data)

    @cache  # noqa: B019
    def start(self, name: str, kind: str) -> Any:
        """An earlier model of other people, over the items that happen to be rated."""
        size = (PEOPLE, RATINGS)
        people = tacit.sample(people=size[0], ratings=size[1], seed=11)
        path = self.root / f"earlier-{kind}.csv"
        write_ratings(path, people)
        ratings = tacit.read(path, (1, 5), positive=LIKE if kind == "likes" else None)
        options = {"epsilon": 20.0, "calibration": "sound"}
        with inject_bits(source()):
            return trial(self.method(name, options), ratings, users=PEOPLE)

    def _run(
        self,
        method: Any,
        *,
        tried: bool,
        kind: str = "rated",
        features: bool = True,
        cap: bool = False,
        declared: bool = True,
        many: bool = False,
        start: Any = None,
    ) -> Any:
        ratings = self.ratings(kind, cap, many)
        items = self.catalogue if features else None
        users = (MANY_PEOPLE if many else PEOPLE) if declared else None
        if tried:
            return trial(method, ratings, items=items, users=users, start=start)
        return method.fit(ratings, items=items, users=users, start=start).model_


def write_ratings(path: Path, ratings: Any, delimiter: str = ",") -> None:
    """The ratings as a table with a header and times."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        rows.writerow(("user", "item", "rating", "timestamp"))
        for row in range(len(ratings.users)):
            for cell in range(int(ratings.ptr[row]), int(ratings.ptr[row + 1])):
                item = ratings.items[int(ratings.item[cell])]
                value = int(ratings.value[cell])
                rows.writerow((ratings.users[row], item, value, int(ratings.time[cell])))
