"""Are invented people worth training on?

    python benchmarks/invented.py RATINGS ITEMS --lenskit PYTHON

Some people are held back. `bayes` is fitted to the others, invented people are drawn from the
model, and three questions asked. Do LensKit's algorithms rank alike when trained on them and on
the real ones (Kendall's tau, tested on held-out people)? Is a bias model trained on them as good?
Can an attacker tell from them who was in the training? NOT PRIVATE: for the owner of the ratings.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse, stats

import tacit
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.model.model import Model
from tacit.model.synthesize import Invented, synthesize

TOLD = 0.8
"""Of a held-out person's ratings, what she says of herself."""
DAMPING = 5.0
"""Fictitious ratings in the means of the bias model."""
RESAMPLED = 2000
"""Draws of people for the interval of the attack."""


def apart(ratings: Ratings, held: int, seed: int) -> tuple[Ratings, Ratings]:
    """The training, and so many people held back."""
    rng = np.random.default_rng([seed, held])
    out = np.zeros(ratings.n_users, bool)
    out[rng.permutation(ratings.n_users)[:held]] = True
    cell = np.repeat(out, np.diff(ratings.ptr))
    return ratings.take(~cell), ratings.take(cell)


def write(ratings: Ratings, path: Path) -> str:
    """As a table for another program."""
    Invented(ratings, {}).write(path)
    return str(path)


class BiasModel:
    """Damped means of items, and a person's damped mean of what is left."""

    def __init__(self, ratings: Ratings) -> None:
        self.mean = float(ratings.value.mean())
        rest = ratings.value.astype(float) - self.mean
        self.item = np.zeros(ratings.n_items)
        for _ in range(5):
            own = self._means(ratings.user, rest - self.item[ratings.item])
            self.item = self._means(ratings.item, rest - own[ratings.user], ratings.n_items)

    @staticmethod
    def _means(group: np.ndarray, value: np.ndarray, size: int = 0) -> np.ndarray:
        total = np.bincount(group, value, minlength=size)
        return total / (np.bincount(group, minlength=size) + DAMPING)

    def squares(self, told: Ratings, asked: Ratings) -> np.ndarray:
        """Squared errors of what people are asked, after what they told."""
        rest = told.value - self.mean - self.item[told.item]
        level = dict(zip(told.users, self._means(told.user, rest), strict=False))
        own = np.array([level.get(name, 0.0) for name in asked.users])
        said = self.mean + self.item[asked.item] + own[asked.user]
        low, high = asked.schema.low, asked.schema.high
        return (asked.value - np.clip(said, low, high)) ** 2

    def loss(self, people: Ratings) -> np.ndarray:
        """Mean squared error of each person's ratings, own level included."""
        squares = self.squares(people, people)
        count = np.diff(people.ptr)
        return np.bincount(people.user, squares) / count


def rows(ratings: Ratings, items: int) -> sparse.csr_matrix:
    """Ratings about each person's own mean, one row a person, of length 1."""
    count = np.diff(ratings.ptr)
    mean = np.bincount(ratings.user, ratings.value) / count
    value = ratings.value - mean[ratings.user] + 1.0
    made = sparse.csr_matrix(
        (value, ratings.item.astype(np.int64), ratings.ptr), shape=(len(count), items)
    )
    length = np.sqrt(np.asarray(made.multiply(made).sum(axis=1)).ravel())
    return sparse.diags(1 / np.maximum(length, 1e-9)) @ made


def attacks(published: Ratings, people: Ratings) -> dict[str, np.ndarray]:
    """Each attack's score of each person: higher says that she was in the training."""
    mine = rows(people, people.n_items)
    theirs = rows(published, people.n_items)
    nearest = np.concatenate(
        [
            (mine[at : at + 100] @ theirs.T).max(axis=1).toarray().ravel()
            for at in range(0, people.n_users, 100)
        ]
    )
    return {"nearest": nearest, "loss": -BiasModel(published).loss(people)}


def area(members: np.ndarray, others: np.ndarray) -> dict[str, float]:
    """Chance that a member scores above another; .5 is a guess. With its 95 % interval."""
    rng = np.random.default_rng(0)

    def one(a: np.ndarray, b: np.ndarray) -> float:
        rank = stats.rankdata(np.concatenate([a, b]))[: len(a)].sum()
        return float((rank - len(a) * (len(a) + 1) / 2) / (len(a) * len(b)))

    drawn = [
        one(rng.choice(members, len(members)), rng.choice(others, len(others)))
        for _ in range(RESAMPLED)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return {"auc": one(members, others), "low": float(low), "high": float(high)}


def told_asked(test: Ratings, seed: int) -> tuple[Ratings, Ratings]:
    """What held-out people say of themselves, and what they are asked."""
    told = np.random.default_rng([seed, 1]).random(len(test)) < TOLD
    return test.take(told), test.take(~told)


def fitted(given: argparse.Namespace, train: Ratings, items: Catalogue, folder: str) -> Model:
    """The model, fitted now or kept from before."""
    if given.model and Path(given.model).exists():
        return tacit.load(given.model)
    bayes = tacit.Bayes(epsilon=given.epsilon, delta=1e-6, unit="user", ledger=f"{folder}/book.db")
    model = bayes.fit(train, items=items, users=train.n_users).fitted
    if given.model:
        model.save(given.model)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings")
    parser.add_argument("items")
    parser.add_argument("--lenskit", help="a Python that has lenskit 0.14")
    parser.add_argument("--epsilon", type=float, default=5.0)
    parser.add_argument("--held", type=int, default=600)
    parser.add_argument("--lean", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", help="use this model, or keep it there")
    given = parser.parse_args()
    items = tacit.read_items(given.items)
    ratings = tacit.read(given.ratings, items=items)
    train, test = apart(ratings, given.held, given.seed)
    with tempfile.TemporaryDirectory() as folder:
        model = fitted(given, train, items, folder)
    made = synthesize(model, people=train.n_users, seed=given.seed, lean=given.lean)
    invented = made.ratings
    told, asked = told_asked(test, given.seed)
    found: dict = {
        "epsilon": given.epsilon,
        "people": train.n_users,
        "ratings": {"real": len(train), "invented": len(invented)},
        "assumed": made.facts["assumed"],
        "bias rmse": {
            name: float(np.sqrt(BiasModel(made).squares(told, asked).mean()))
            for name, made in (("real", train), ("invented", invented))
        },
    }
    members = train.take(np.repeat(np.arange(train.n_users) % 8 == 0, np.diff(train.ptr)))
    for name, published in (("invented", invented), ("real", train)):
        yes = attacks(published, members)
        no = attacks(published, test)
        found[f"attack on {name}"] = {kind: area(yes[kind], no[kind]) for kind in yes}
    print(json.dumps(found), file=sys.stderr, flush=True)
    if given.lenskit:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            tables = [
                write(part, place / f"invented-{name}.csv")
                for name, part in (("told", told), ("asked", asked))
            ]
            for name, part in (("real", train), ("invented", invented)):
                found[name] = json.loads(
                    subprocess.check_output(
                        [
                            given.lenskit,
                            str(Path(__file__).with_name("invented_lenskit.py")),
                            write(part, place / f"invented-{name}.csv"),
                            *tables,
                        ]
                    )
                )
        names = list(found["real"])
        tau = stats.kendalltau(
            [found["real"][name] for name in names], [found["invented"][name] for name in names]
        )
        found["kendall"] = round(float(tau.statistic), 6)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
