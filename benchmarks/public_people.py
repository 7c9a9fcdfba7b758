"""What public people are worth: `python benchmarks/public_people.py RATINGS`

A twentieth of the people are public. `bayes` is fitted to the others at the unit `user`, without
features: with the public people, with their ratings inverted, with their ratings shuffled, and
without them. RMSE on a tenth of the others' ratings. NOT PRIVATE: for the owner of the ratings.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import numpy as np

import tacit
from tacit.data import splits
from tacit.data.public import PublicPeople
from tacit.data.ratings import Ratings
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial

KINDS = ("without", "public", "inverted", "shuffled")


def apart(ratings: Ratings, share: float, seed: int) -> tuple[Ratings, Ratings]:
    """The public people, and all others."""
    rng = np.random.default_rng([seed, 77])
    count = int(share * ratings.n_users)
    out = np.zeros(ratings.n_users, bool)
    out[rng.permutation(ratings.n_users)[:count]] = True
    cell = np.repeat(out, np.diff(ratings.ptr))
    return ratings.take(cell), ratings.take(~cell)


def as_kind(public: Ratings, kind: str, seed: int) -> PublicPeople | None:
    """The public people as they are, or unlike the others."""
    scale = public.schema
    value = public.value
    if kind == "without":
        return None
    if kind == "inverted":
        value = (scale.low + scale.high - value).astype(np.float32)
    if kind == "shuffled":
        value = np.random.default_rng([seed, 78]).permutation(value)
    return PublicPeople(replace(public, value=value), kind)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--kinds", default=",".join(KINDS))
    given = parser.parse_args()
    ratings = tacit.read(given.ratings)
    found: dict[str, list[float]] = {}
    for seed in map(int, given.seeds.split(",")):
        public, private = apart(ratings, given.share, seed)
        part = splits.per_rating(private, 0.1, seed)
        for kind in given.kinds.split(","):
            model = trial(
                tacit.Bayes(epsilon=given.epsilon, delta=1e-6, unit="user", seed=seed),
                part.train,
                users=part.train.n_users,
                public=as_kind(public, kind, seed),
            )
            rmse = measure(model, part, lists=False)["rmse"]
            found.setdefault(kind, []).append(float(rmse or np.nan))
            print(seed, kind, f"{found[kind][-1]:.4f}", flush=True)
    told = {
        "epsilon": given.epsilon,
        "share": given.share,
        "rmse": {kind: float(np.mean(each)) for kind, each in found.items()},
        "seeds": found,
    }
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
