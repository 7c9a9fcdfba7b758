"""Is any twin beaten by its own private cell? `python benchmarks/twins.py RATINGS [ITEMS]`

For each method and unit: the error of the non-private twin, the best private cell over the
epsilons, and the gap between them (above .001 a twin fails). With `--likes 4` the same for
recall at 20 from ratings of 4 and more. NOT PRIVATE: for the owner of the ratings.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

import tacit
from tacit.data import splits
from tacit.data.catalogue import Catalogue
from tacit.data.splits import Split
from tacit.errors import SettingError
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial
from tacit.methods import METHODS, find

ALLOWED = 0.001
"""A private cell may be so much better, by its own luck."""
RATINGS, LIKES = "rmse", "recall@20"
"""What is compared."""
FOR_LIKES = ("popularity", "ease", "als", "mf-nonnegative")
"""Methods that take likes."""
LIKES_ONLY = ("popularity", "ease")
"""Those that say nothing about ratings."""


@dataclass(frozen=True)
class Survey:
    """The data, and what is compared on it."""

    parts: tuple[Split, ...]
    items: Catalogue | None
    metric: str

    def mean(self, method: str, **options: object) -> float:
        """The metric, averaged over splits; lower is better."""
        found = []
        for seed, part in enumerate(self.parts):
            made = find(method)(seed=seed, **options)
            # In a federation who takes part is known.
            users = None if "threads" in made.engines else part.train.n_users
            model = trial(made, part.train, items=self.items, users=users)
            told = measure(model, part, lists=self.metric == LIKES)
            value = told[self.metric]
            assert value is not None
            found.append(-value if self.metric == LIKES else value)
        return float(np.mean(found))

    def line(self, method: str, unit: str, epsilons: Iterable[float]) -> str:
        """One row of the table."""
        twin = self.mean(method, unit=unit, calibration="none")
        cells = {e: self.mean(method, unit=unit, epsilon=e) for e in epsilons}
        best = min(cells, key=cells.__getitem__)
        gap = twin - cells[best]
        verdict = "FAILS" if gap > ALLOWED else "holds"
        return (
            f"{method:18} {unit:7} {abs(twin):.4f} {abs(cells[best]):.4f} "
            f"at {best:<5g} {gap:+.4f} {verdict}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings")
    parser.add_argument("items", nargs="?")
    parser.add_argument("--method", default=",".join(METHODS))
    parser.add_argument("--epsilon", default="1,5,20,100")
    parser.add_argument("--unit", default="user,rating,value")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--likes", type=float)
    given = parser.parse_args()
    items = tacit.read_items(given.items) if given.items else None
    likes = given.likes
    options = {} if likes is None else {"positive": likes}
    ratings = tacit.read(given.ratings, items=items, **options)
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    how = "90/10" if likes is None else "people"
    parts = tuple(splits.make(ratings, how, seed=seed) for seed in seeds)
    survey = Survey(parts, items, RATINGS if likes is None else LIKES)
    epsilons = [float(each) for each in given.epsilon.split(",")]
    print("method             unit    twin   best private cell and gap")
    for method in given.method.split(","):
        if (method not in FOR_LIKES) if likes else (method in LIKES_ONLY):
            continue
        for unit in find(method).units:
            if unit not in given.unit.split(","):
                continue
            try:
                print(survey.line(method, unit, epsilons), flush=True)
            except SettingError as refused:
                print(f"{method:18} {unit:7} refused: {refused}", flush=True)


if __name__ == "__main__":
    main()
