"""Table 1: the two data sets. Netflix-1M is told by its sizes only, so it is drawn by rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings

PEOPLE = 4996
FILMS = 3999
DENSITY = 0.0019
PRINTED = {
    "ml-1m": (6040, 3952, 4.19, 3.5816, 1.2479),
    "netflix": (PEOPLE, FILMS, 100 * DENSITY, 3.5956, 1.2208),
}
"""Users, movies, density in per cent, average and variance."""
SEED = 2017
LAST_ID = 3952
"""Of MovieLens-1M: the paper counts ids, of which 3,706 have ratings."""
COLUMNS = ("people", "films", "density", "average", "variance")


def sample_netflix(ratings: Ratings) -> Ratings:
    """Netflix-1M by rule: 3,999 films and then 4,996 of their raters, uniformly, and of their
    ratings as many as give the printed density; fewer of each where there are fewer."""
    rng = np.random.default_rng(SEED)
    films = np.zeros(ratings.n_items, bool)
    count = min(FILMS, ratings.n_items)
    films[rng.choice(ratings.n_items, count, replace=False)] = True
    of_films = films[ratings.item]
    raters = np.unique(ratings.user[of_films])
    people = np.zeros(ratings.n_users, bool)
    sampled = rng.choice(raters, min(PEOPLE, len(raters)), replace=False)
    people[sampled] = True
    mask = of_films & people[ratings.user]
    target = DENSITY * len(sampled) * count
    if count == FILMS and mask.sum() > target:
        mask &= rng.random(len(mask)) < target / mask.sum()
    return ratings.take(mask)


def ratings_of(sources: Sources, name: str) -> Ratings:
    """A data set as the paper uses it."""
    ratings = sources.ratings(name)
    return sample_netflix(ratings) if name.startswith("netflix") else ratings


def keys(request: Wanted) -> Iterable[Key]:
    """One cell a data set."""
    return ({"data": name} for name in request.data)


def work(sources: Sources, key: Key) -> Values:
    """What table 1 tells."""
    data = ratings_of(sources, key["data"])
    films = LAST_ID if key["data"] == "ml-1m" else data.n_items
    value = data.value.astype(np.float64)
    return {
        "people": data.n_users,
        "films": films,
        "density": 100 * len(data) / (data.n_users * films),
        "average": float(value.mean()),
        "variance": float(value.var()),
    }


def tables(results: Results) -> Iterable[PaperTable]:
    """Ours, and below it what is printed."""
    rows: list[tuple[object, ...]] = []
    for row in results.rows:
        name = row.key["data"]
        cells = (f"{row.values[column]:.6g}" for column in COLUMNS)
        rows.append((name, *cells))
        if name in PRINTED:
            rows.append((f"{name}, printed", *PRINTED[name]))
    yield PaperTable("Data sets", ("", *COLUMNS), tuple(rows))


def draw(results: Results) -> Iterable[Panel]:
    """Nothing: a table."""
    return ()


def judge(results: Results) -> Verdict:
    """MovieLens-1M is public, so its row can be counted."""
    rows = results.select(data="ml-1m").rows
    if not rows:
        return Verdict("not run", "needs ml-1m/ratings.dat")
    counts = rows[0].values
    off = max(
        abs(counts[name] / printed - 1)
        for name, printed in zip(COLUMNS, PRINTED["ml-1m"], strict=True)
    )
    reason = (
        f"counted: {counts['people']:,} people, {counts['density']:.2f} %, average "
        f"{counts['average']:.4f}, variance {counts['variance']:.4f}; 3,952 is the last id, 3,706 "
        "films have ratings. Netflix-1M's density of .19 % is 38,000 ratings and not a million"
    )
    return Verdict("holds" if off < 0.01 else "does not hold", reason)


TABLE = Experiment(
    figure="table 1",
    title="the data sets",
    data=("ml-100k", "ml-1m", "netflix", "netflix-100"),
    split="none",
    parameters="Netflix-1M drawn by rule: films, then people, uniformly, thinned to the "
    "printed density; netflix-100 stands for it with 100 films where the whole is missing",
    keys=keys,
    work=work,
    draw=draw,
    tables=tables,
    findings=(
        Finding(
            "table 1",
            "MovieLens-1M: Users 6040, Movies 3952, Density 4.19%, Average rating 3.5816, "
            "Variance rating 1.2479",
            "table 1",
            judge,
        ),
    ),
)
