"""Five algorithms of LensKit, trained on one table and tested on people of another.

    python benchmarks/invented_lenskit.py TRAIN.csv TOLD.csv ASKED.csv

Run by `benchmarks/invented.py` in an environment of its own, because LensKit (0.14) wants other
versions than Tacit. All three tables have columns user, item, rating. TOLD is what test people
say of themselves, ASKED what is held back. Prints JSON: nDCG at 20 of likes (4 and more), by
algorithm. Settings are LensKit's examples; none was tuned.
"""

from __future__ import annotations

import json
import sys
from typing import NamedTuple

import numpy as np
import pandas as pd
from lenskit.algorithms import als, basic, bias, item_knn, user_knn

LIKE, LENGTH = 4.0, 20


class Person(NamedTuple):
    """Of the test."""

    free: np.ndarray
    """Items that she may be told of."""
    ratings: pd.Series
    likes: pd.Series
    wanted: set


def algorithms() -> dict:
    """By name: the algorithm, and whether it learns from likes alone."""
    return {
        "Popular": (basic.PopScore(), True),
        "Bias": (bias.Bias(damping=5), False),
        "ItemItem": (item_knn.ItemItem(20, feedback="implicit"), True),
        "UserUser": (user_knn.UserUser(30, feedback="implicit"), True),
        "ImplicitMF": (als.ImplicitMF(50, iterations=10, rng_spec=1), True),
    }


def ndcg(ranked: np.ndarray, liked: set) -> float:
    """Of the first `LENGTH` of a list."""
    gain = 1 / np.log2(np.arange(2, LENGTH + 2))
    hit = np.array([item in liked for item in ranked[:LENGTH]])
    return float(gain[: len(hit)][hit].sum() / gain[: len(liked)].sum())


def main() -> None:
    """One line of JSON."""
    types = {"user": str, "item": str, "rating": float}
    train, told, asked = (
        pd.read_csv(path, usecols=list(types), dtype=types) for path in sys.argv[1:4]
    )
    # Numbers instead of texts: comparing texts would take most of the time.
    names = pd.Index(train["item"].unique())
    for table in (train, told, asked):
        table["item"] = names.get_indexer(table["item"])
    told = told[told["item"] >= 0]
    likes = train[train.rating >= LIKE]
    items = np.array(sorted(likes["item"].unique()))
    liked = asked[(asked.rating >= LIKE)]
    wanted = {user: set(part["item"]) for user, part in liked.groupby("user")}
    people = [
        Person(
            items[~np.isin(items, part["item"].to_numpy())],
            part.set_index("item")["rating"],
            # ImplicitMF 0.14 fails on items that nobody in its training liked.
            part[np.isin(part["item"], items) & (part.rating >= LIKE)].set_index("item")["rating"],
            wanted[user],
        )
        for user, part in told.groupby("user")
        if user in wanted
    ]
    found = {}
    for name, (algorithm, from_likes) in algorithms().items():
        fitted = algorithm.fit(likes if from_likes else train)
        scores = []
        for person in people:
            own = person.likes if from_likes else person.ratings
            score = fitted.predict_for_user(-1, person.free, own)
            ranked = score.reindex(person.free).fillna(-np.inf).to_numpy()
            order = np.argsort(-ranked, kind="stable")[:LENGTH]
            scores.append(ndcg(person.free[order], person.wanted))
        found[name] = float(np.mean(scores))
        print(name, found[name], file=sys.stderr, flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
