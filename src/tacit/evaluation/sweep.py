"""Every arm on every split, a cell each: one fit and what was measured of it. NOT PRIVATE:
owner only."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit import __version__
from tacit.data import splits
from tacit.data.splits import Split
from tacit.evaluation.arms import NOISE_OFF, Arm
from tacit.evaluation.cells import Report, run_cells
from tacit.evaluation.invented import InventedPerson, example_lists, invent
from tacit.evaluation.lists import lists_of
from tacit.evaluation.measured import PLACES, Measured, measured
from tacit.evaluation.metrics import Ranking, mae, rmse
from tacit.evaluation.prepared import Prepared, prepare
from tacit.evaluation.protocol import HeldBack
from tacit.fitting.public_prior import METHODS as KNOWING
from tacit.kernels.pools import one_blas_thread
from tacit.repr import shapes

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.data.public import PublicPeople
    from tacit.data.ratings import Ratings
    from tacit.fitting.rehearse import Rehearsed
    from tacit.model.model import Model

BASELINE = "baseline"
"""Stands for a method in the key of a baseline's cell."""
PRINTED = ("paper", NOISE_OFF)
"""Calibrations of an algorithm as a paper prints it."""
FORMAT = 1
"""Of a cell's file: a later one is not found by an earlier key."""
WITHOUT = ("auditing", "cli", "serving", "testing")
"""Rooms that no fit and no metric goes through."""
DIGITS = 16


@dataclass(eq=False)
class SweepTask:
    """What all cells share; sent once to every process."""

    ratings: Ratings
    items: Catalogue | None
    how: HeldBack
    arms: list[Arm]
    people: list[InventedPerson] = field(default_factory=list)
    public: PublicPeople | None = None
    rehearsed: dict[str, Rehearsed] = field(default_factory=dict)
    """By arm: what was planned already. Plans are no data, and stay in their process."""
    _last: tuple[int, Prepared] | None = None

    __repr__ = shapes

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_last": None, "rehearsed": {}}

    @cached_property
    def digest(self) -> str:
        """Of what cells depend on in the data; made where somebody asks for it."""
        return data_digest(self.sweep_ratings, self.items)

    def arm(self, key: Mapping[str, Any]) -> Arm:
        """The arm of a cell."""
        return next(
            arm for arm in self.arms if all(key[name] == value for name, value in arm.key().items())
        )

    @property
    def sweep_ratings(self) -> Ratings:
        """The ratings, without their times where nobody asks for them: a split is a copy, and
        times are half of it. Some printed algorithms do ask."""
        printed = any(arm.calibration in PRINTED for arm in self.arms)
        if printed or self.how.asks_when:
            return self.ratings
        return replace(self.ratings, time=None)

    def prepared(self, number: int) -> Prepared:
        """A split; the last one is kept, because cells come split by split."""
        if self._last is None or self._last[0] != number:
            part = self.how.part(self.sweep_ratings, number)
            on = prepare(
                part,
                _user_rows(self.ratings, part.test),
                seed=number,
                listed=self.how.listed,
                all_relevant=self.how.split == "people",
                days=self.how.by_day,
            )
            self._last = (number, on)
        return self._last[1]


def run(
    ratings: Ratings,
    arms: Iterable[Arm],
    how: HeldBack | None = None,
    *,
    items: Catalogue | None = None,
    public: PublicPeople | None = None,
    baselines: Iterable[str] = (),
    folder: Path | None = None,
    processes: int = 1,
    progress: Report | None = None,
    ready: Callable[[], None] | None = None,
) -> SweptCells:
    """Fit and measure every arm and baseline on every split.

    `public` are people whose ratings are public, for the arms that can make use of them.
    `ready` is called when every arm was rehearsed on invented people and the first split is
    made, before anything is compared with a rating: what is booked is booked there.
    """
    from tacit.fitting.run import rehearse

    how = how or HeldBack()
    if how.until is not None:
        ratings = splits.until(ratings, splits.parse_date(how.until))
    lines = list(arms)
    people = invent(ratings, items)
    task = SweepTask(ratings, items, how, lines, people, public)
    for arm in _kinds(lines):
        task.rehearsed[repr(arm.key())] = rehearse(
            arm.make(0), ratings, items=items, public=known_to(arm, public), once=True
        )
    task.prepared(0)
    if ready is not None:
        ready()
    names = list(baselines)
    common = {
        "format": FORMAT,
        "version": __version__,
        "code": None if folder is None else code_digest(),
        "data": None if folder is None else task.digest,
    }
    if public is not None:
        common["public"] = public.digest
    keys = [
        common | how.key() | cell_key | {"seed": number}
        for number in range(how.runs)
        for cell_key in (
            *({"method": BASELINE, "name": name} for name in names),
            *(arm.key() for arm in lines),
        )
    ]
    answers = run_cells(keys, work, task, folder=folder, processes=processes, progress=progress)
    return SweptCells(task, names, answers)


def _kinds(arms: Iterable[Arm]) -> list[Arm]:
    """Of every method, unit and setting the smallest budget: what a rehearsal can find does
    not depend on the budget, and quick fits are not to wait for many rehearsals."""
    smallest: dict[str, Arm] = {}
    for arm in arms:
        if arm.calibration != "sound":
            continue
        kind = repr((arm.method, arm.unit, sorted(arm.settings.items())))
        previous = smallest.setdefault(kind, arm)
        if (arm.epsilon or 0.0) < (previous.epsilon or 0.0):
            smallest[kind] = arm
    return list(smallest.values())


@dataclass(frozen=True, eq=False)
class SweptCells:
    """The answers of all cells, by arm and by baseline."""

    task: SweepTask
    names: list[str]
    answers: list[dict[str, Any]]

    __repr__ = shapes

    @property
    def _width(self) -> int:
        return len(self.names) + len(self.task.arms)

    def _of(self, column: int) -> list[dict[str, Any]]:
        return self.answers[column :: self._width]

    def baselines(self) -> Iterator[tuple[str, list[Measured]]]:
        """Each baseline's runs."""
        for column, name in enumerate(self.names):
            yield name, [_measured(answer) for answer in self._of(column)]

    def arms(self) -> Iterator[tuple[Arm, list[Measured]]]:
        """Each arm's runs."""
        for column, arm in enumerate(self.task.arms, len(self.names)):
            yield arm, [_measured(answer) for answer in self._of(column)]

    def example_lists(self, arm: Arm) -> list[list[int]]:
        """Lists of the invented people, from the arm's first run."""
        column = self.task.arms.index(arm) + len(self.names)
        lists: list[list[int]] = self.answers[column]["shown"]
        return lists

    def seconds(self) -> tuple[float, float]:
        """Spent in fits, and in judging them."""
        fits = sum(answer["seconds"][0] for answer in self.answers)
        return fits, sum(answer["seconds"][1] for answer in self.answers)


def _measured(answer: Mapping[str, Any]) -> Measured:
    """As it was found, or from the file of its cell."""
    measurement = answer["measured"]
    return measurement if isinstance(measurement, Measured) else Measured.from_json(measurement)


def work(task: SweepTask, key: Mapping[str, Any]) -> dict[str, Any]:
    """One cell."""
    from tacit.evaluation.baselines import baseline

    began = perf_counter()
    on = task.prepared(int(key["seed"]))
    threads = 1
    ready = perf_counter()
    if key["method"] == BASELINE:
        personal: Any = baseline(key["name"], on)
    else:
        arm = task.arm(key)
        threads = arm.threads
        personal = _fitted(arm, key, on, task).personal
    fitted = perf_counter()
    able = getattr(personal, "lists", True)
    # Small products: a pool of threads only waits on itself.
    with one_blas_thread():
        measurement = measured(personal, on, lists=able, threads=threads)
        lists = []
        if key["method"] != BASELINE:
            lists = example_lists(personal, task.people)
    ended = perf_counter()
    return {
        "measured": measurement,
        "shown": lists,
        "seconds": [round(fitted - ready, 4), round(ready - began + ended - fitted, 4)],
    }


def known_to(arm: Arm, public: PublicPeople | None) -> PublicPeople | None:
    """Public people, for an arm that can make use of them. Twins know all ratings anyway."""
    able = arm.method in KNOWING and arm.calibration == "sound"
    return public if able else None


def _fitted(arm: Arm, key: Mapping[str, Any], on: Prepared, task: SweepTask) -> Model:
    from tacit.fitting.run import trial

    if arm.calibration == NOISE_OFF:
        return _noise_off_arm(arm, key, on, task.items)
    seed = int(key["seed"])
    # Plans are made for a method with its seed.
    rehearsal = None if seed else task.rehearsed.get(repr(arm.key()))
    return trial(
        arm.make(seed) if rehearsal is None else rehearsal.method,
        on.split.train,
        items=task.items,
        public=known_to(arm, task.public),
        rehearsed=rehearsal,
    )


def _noise_off_arm(
    arm: Arm, key: Mapping[str, Any], on: Prepared, items: Catalogue | None
) -> Model:
    """A printed algorithm as it is, with its noise off."""
    from tacit.fitting.run import trial

    return trial(arm.make(int(key["seed"])), on.split.train, items=items, noise_off=True)


def _user_rows(all_ratings: Ratings, part: Ratings) -> NDArray[np.int32]:
    """The rows that people of a part have in the whole: both are in one order."""
    if part.n_users == all_ratings.n_users:
        return np.arange(all_ratings.n_users, dtype=np.int32)
    index = {name: row for row, name in enumerate(all_ratings.users)}
    return np.array([index[name] for name in part.users], np.int32)


def data_digest(ratings: Ratings, items: Catalogue | None) -> str:
    """Of all that a cell's answer depends on in the data. For the owner: it tells equal data
    from other data."""
    digest = hashlib.sha256()
    for array in (ratings.ptr, ratings.item, ratings.value, ratings.time):
        if array is not None:
            digest.update(np.ascontiguousarray(array).data)
    schema = ratings.schema
    digest.update(repr(schema).encode())
    digest.update("\n".join(ratings.items).encode())
    if items is not None:
        texts = (items.ids, items.titles, items.tags, items.numbers)
        digest.update(repr([column and list(column) for column in texts]).encode())
        for fact in (items.years, items.tagged, items.numeric):
            digest.update(b"-" if fact is None else fact.tobytes())
    return digest.hexdigest()[:16]


def measure(
    model: Model, part: Split, *, lists: bool, days: bool = False
) -> dict[str, float | None]:
    """Held-back ratings against predictions, or held-back likes against lists, of one model
    on one split: for benchmarks and tests.

    With `days` each prediction is asked for at the time of its rating, and may use on which
    day that was.
    """
    everyone = np.arange(part.test.n_users, dtype=np.int32)
    on = prepare(part, everyone, seed=0, listed=len(everyone), all_relevant=True, days=days)
    if lists:
        top_lists = lists_of(model.personal, on, max(PLACES))
        ranking = Ranking(top_lists, on.relevant_ptr, on.relevant_item)
        return ranking.table(*PLACES)
    schema = part.train.schema
    inner = model.personal.predict_cells(on.cells())
    predicted = schema.middle + schema.unit_width * inner
    predicted = np.clip(predicted, schema.low, schema.high)
    return {"rmse": rmse(predicted, part.test.value), "mae": mae(predicted, part.test.value)}


# Version of the code that computed a cell: a digest of Tacit's own source.
#
# A version says too little while somebody changes the code, and a cell of yesterday's code beside
# one of today's is a comparison of nothing.


@cache
def code_digest() -> str:
    """Of every module that a fit or a metric may go through. Methods of other packages are
    not in it."""
    return digest_of(Path(__file__).parent.parent)


def digest_of(root: Path) -> str:
    """Of the Python files under a folder, by their names and bytes."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        inner = path.relative_to(root)
        if inner.parts[0] in WITHOUT:
            continue
        digest.update(f"{inner.as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:DIGITS]
