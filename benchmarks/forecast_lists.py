"""Runs of lists that forecasts are fitted to: recall of a method, and of popularity beside it, on
people held out. Part of `forecast.py`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.data.ratings import Ratings
from tacit.data.splits import Split, per_person
from tacit.evaluation.baselines import baseline
from tacit.evaluation.lists import lists_of
from tacit.evaluation.metrics import Ranking
from tacit.evaluation.prepared import prepare
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial

LIST_EPSILONS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
"""Of lists: those that are judged."""
LIKED = 0.75
"""Of the way from the lowest rating to the highest: 4 on a scale of 1 to 5."""
HELD_PART, HELD = 4, 3000
"""One person in so many is held out of a fit, and at most so many people."""
ASKED = 1500
LEAST_SPLITS, MOST_SPLITS = 2, 6
"""A share of recall is the mean over splits: so many that this number of people is asked, at
least and at most so many. One split of a few hundred people moves it by .02 to .05. Twins of
sets that are not judged are slow and take the least; what the best private cell finds on the
others stands for what they would (`over_all`)."""
PLACES = 20


def lists(ratings: Ratings, methods: Iterable[Any], most: int = MOST_SPLITS) -> dict[str, Any]:
    """Recall at 20 of each method over splits, and how often it looked at pairs."""
    made = splits_of(ratings, most)
    found = [[recall(make, split) for split in made] for make in methods]
    train = made[0].train
    return {
        "measured": [float(np.mean([one for one, _ in each])) for each in found],
        "over_splits": [[one for one, _ in each] for each in found],
        "pairs": [float(np.mean([two for _, two in each])) for each in found],
        "popular": [popular(split) for split in made],
        "people": train.n_users,
        "liked": len(train) / train.n_users,
        "root": float(np.sqrt(np.diff(train.ptr)).mean()),
    }


def splits_of(ratings: Ratings, most: int) -> list[Split]:
    """Likes, with people held out."""
    schema = ratings.schema
    least = schema.low + LIKED * (schema.high - schema.low)
    liked = ratings.take(ratings.value >= least)
    liked = replace(liked, schema=replace(schema, positive=least))
    hold = min(HELD, liked.n_users // HELD_PART)
    many = int(np.clip(-(-ASKED // hold), LEAST_SPLITS, most))
    return [per_person(liked, hold, 0.8, seed) for seed in range(many)]


def recall(make: Any, split: Split) -> tuple[float, bool]:
    """Of one fit; and whether it holds weights between items."""
    model = trial(make, split.train, users=split.train.n_users)
    found = measure(model, split, lists=True)[f"recall@{PLACES}"]
    assert found is not None
    return found, "left" in model.shared.arrays


def over_all(twin: list[float], private: list[float]) -> float:
    """What the twin finds over all splits of a private cell, from some of them: who is asked
    moves both alike."""
    few = len(twin)
    apart = np.mean(private) - np.mean(private[:few])
    return float(np.mean(twin) + apart)


def popular(split: Split) -> float:
    """Of what is liked most, without noise."""
    rows = np.arange(split.test.n_users, dtype=np.int32)
    on = prepare(split, rows, seed=0, listed=len(rows), all_relevant=True)
    made = lists_of(baseline("popularity", on), on, PLACES)
    table = Ranking(made, on.relevant_ptr, on.relevant_item).table(PLACES)
    found = table[f"recall@{PLACES}"]
    assert found is not None
    return found
