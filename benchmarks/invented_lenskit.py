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

import numpy as np
import pandas as pd
from lenskit.algorithms import als, basic, bias, item_knn, user_knn

LIKE, LENGTH = 4.0, 20


def algorithms() -> dict:
    """By name: the algorithm, and whether it learns from likes alone."""
    return {
        "Popular": (basic.PopScore(), True),
        "Bias": (bias.Bias(damping=5), False),
        "ItemItem": (item_knn.ItemItem(20, feedback="implicit"), True),
        "UserUser": (user_knn.UserUser(30, feedback="implicit"), True),
        "ImplicitMF": (als.ImplicitMF(50, iterations=15, rng_spec=1), True),
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
        pd.read_csv(path, usecols=list(types), dtype=types)
        for path in sys.argv[1:4]
    )
    likes = train[train.rating >= LIKE]
    items = np.array(sorted(likes["item"].unique()))
    wanted = {
        user: set(part["item"])
        for user, part in asked[asked.rating >= LIKE].groupby("user")
    }
    people = [
        (user, part) for user, part in told.groupby("user") if wanted.get(user)
    ]
    found = {}
    for name, (algorithm, from_likes) in algorithms().items():
        fitted = algorithm.fit(likes if from_likes else train)
        scores = []
        for user, part in people:
            # ImplicitMF 0.14 fails on items that nobody in its training liked.
            known = part[np.isin(part["item"], items)]
            known = known[known.rating >= LIKE] if from_likes else known
            own = known.set_index("item")["rating"]
            free = items[~np.isin(items, part["item"].to_numpy())]
            score = fitted.predict_for_user(f"new {user}", free, own)
            ranked = score.reindex(free).fillna(-np.inf).to_numpy()
            order = np.argsort(-ranked, kind="stable")[:LENGTH]
            scores.append(ndcg(free[order], wanted[user]))
        found[name] = float(np.mean(scores))
        print(name, found[name], file=sys.stderr, flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
