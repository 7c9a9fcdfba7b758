"""A year on one budget: a calendar of releases beside what it is judged by.
`python benchmarks/refresh.py RATINGS ITEMS --method bias --json refresh.json`

The ratings are replayed by date in periods of equal length; a person is counted in the period of
her first rating, with what she had rated by its end. Compared are the last models, by the error on
ratings that were held back (90/10), or by recall@20 for methods that give lists: the calendar's;
one fit on everybody with 2.4 times the noise of a single release; and naive refreshes, one a
period, that share the budget. What was measured of a method takes its place in the file. NOT
PRIVATE: for the owner of the ratings.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from math import sqrt
from pathlib import Path

import numpy as np

import tacit
from tacit.data import splits
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings, aligned
from tacit.data.splits import Split
from tacit.evaluation.sweep import measure
from tacit.fitting.fixed import Periods
from tacit.fitting.refresh import refresh
from tacit.fitting.run import trial
from tacit.ledger.account.calibrate import gaussian_mu
from tacit.ledger.account.gaussian import epsilon_at
from tacit.methods import find
from tacit.methods.base import Method
from tacit.model.model import Model

ALLOWED_NOISE = 2.4
"""Times the noise of a single release: what the last model is held against."""
LISTS = {"popularity": "recall@20", "ease": "recall@20"}
"""Methods that give lists, and what they are measured by; all others by `rmse`."""


def main() -> None:
    """Run the arms that were asked for and print them."""
    given = _asked()
    ratings = tacit.read(given.ratings)
    items = tacit.read_items(given.items)
    if not given.features:
        items = Catalogue(items.ids, titles=items.titles)
    ratings = aligned(ratings, items)
    found: dict[str, list[float]] = {}
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        part = splits.per_rating(ratings, 0.1, seed)
        for name, error in Arms(given, part, items).all():
            found.setdefault(name, []).append(error)
            print(f"seed {seed}  {name:22s} {error:.4f}", flush=True)
    table = {name: float(np.mean(errors)) for name, errors in found.items()}
    for name, mean in table.items():
        print(f"mean {name:22s} {mean:.4f}")
    if given.json:
        _keep(given, {"each": found, "mean": table})


def _keep(given: argparse.Namespace, measured: dict[str, object]) -> None:
    """Beside what the file has of other methods."""
    place = Path(given.json)
    told = json.loads(place.read_text()) if place.exists() else {}
    told[given.method] = {
        "epsilon": given.epsilon,
        "delta": given.delta,
        "horizon": given.horizon,
        "features": given.features,
        "seeds": given.seeds,
        "metric": LISTS.get(given.method, "rmse"),
        **measured,
    }
    place.write_text(json.dumps(told, indent=1) + "\n")


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("ratings")
    parser.add_argument("items")
    parser.add_argument("--method", default="bias")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--horizon", type=int, default=52)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--features", action="store_true")
    parser.add_argument("--arms", default="calendar,once,naive")
    parser.add_argument("--json")
    return parser.parse_args()


class Arms:
    """What is compared, on one split."""

    def __init__(self, given: argparse.Namespace, part: Split, items: Catalogue) -> None:
        self.given, self.part, self.items = given, part, items
        self.mu = gaussian_mu(given.epsilon, given.delta)
        self.people = part.train.n_users
        assert part.train.time is not None
        first, last = int(part.train.time.min()), int(part.train.time.max())
        begins = datetime.fromtimestamp(first, UTC).date()
        whole = datetime.fromtimestamp(last, UTC).date() - begins
        days = -(-(whole.days + 1) // given.horizon)
        self.periods = Periods(begins, days)

    def all(self) -> list[tuple[str, float]]:
        """Every arm that was asked for."""
        runs = {
            "calendar": self.calendar,
            "once": lambda: self.once(ALLOWED_NOISE),
            "single": lambda: self.once(1.0),
            "naive": lambda: self.once(sqrt(self.given.horizon)),
            "chain": self.chain,
            "newcomers": self.newcomers,
        }
        done = []
        for name in self.given.arms.split(","):
            start = time.perf_counter()
            metric = LISTS.get(self.given.method, "rmse")
            lists = metric != "rmse"
            error = measure(runs[name](), self.part, lists=lists)[metric]
            assert error is not None
            print(f"  {name}: {time.perf_counter() - start:.0f} s", flush=True)
            done.append((name, error))
        return done

    def _method(self, noise: float, **more: object) -> Method:
        """With so many times the noise of a single release at the budget."""
        epsilon = epsilon_at(self.mu / noise, self.given.delta)
        made: Method = find(self.given.method)(
            epsilon=epsilon, delta=self.given.delta, threads=1, **more
        )
        return made

    def calendar(self) -> Model:
        """All releases, from all ratings so far; the last one."""
        with tempfile.TemporaryDirectory() as folder:
            method = self._method(1.0, ledger=f"{folder}/ledger.sqlite")
            for _ in range(self.given.horizon):
                made = refresh(
                    method,
                    self.part.train,
                    out=Path(folder) / "calendar",
                    horizon=self.given.horizon,
                    items=self.items,
                    users=self.people,
                    periods=self.periods,
                )
            return made.model

    def once(self, noise: float) -> Model:
        """One fit on everybody."""
        return trial(self._method(noise), self.part.train, items=self.items, users=self.people)

    def chain(self) -> Model:
        """A fit on everybody so far in each period, which starts from the one before."""
        model: Model | None = None
        for week in range(1, self.given.horizon + 1):
            so_far = self._until(week)
            model = trial(
                self._method(sqrt(self.given.horizon)),
                so_far,
                items=self.items,
                users=max(so_far.n_users, 1),
                start=model,
            )
        assert model is not None
        return model

    def newcomers(self) -> Model:
        """A fit on those who came in each period, at the whole budget, which each person pays
        once; it starts from the one before."""
        model: Model | None = None
        known: set[str] = set()
        for week in range(1, self.given.horizon + 1):
            new, _ = self._until(week).without(known)
            known |= set(new.users)
            if not new.n_users:
                continue
            model = trial(self._method(1.0), new, items=self.items, users=new.n_users, start=model)
        assert model is not None
        return model

    def _until(self, week: int) -> Ratings:
        train = self.part.train
        assert train.time is not None
        found = train.take(train.time <= self.periods.end(week))
        return replace(found, schema=train.schema)


if __name__ == "__main__":
    main()
