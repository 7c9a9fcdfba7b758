"""Section 4.1: without noise the leading factors of items follow equally from the data
matrix, the item-item covariance and the person-person Gram matrix. With noise they do not.

Invented ratings of four tastes. Gaussian noise hides one cell (empty or filled, of at most
one point) in each of the three:

- data matrix: every cell, empty ones too, gets noise of sensitivity 1;
- covariance: the sum of yy'/|y|, whose upper triangle one cell moves by at most 1;
- person Gram YY': one cell of a person meets everyone who rated that item: sensitivity
  sqrt(2n - 1).

Told: the share of what the true leading factors explain that the noisy ones still explain.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.reproduce.experiment import (
    Curve,
    Experiment,
    Finding,
    Key,
    Panel,
    Results,
    Values,
    Verdict,
    Wanted,
)
from tacit.evaluation.reproduce.sources import Sources
from tacit.ledger.account.calibrate import gaussian_mu
from tacit.methods.refine.spectrum import leading

Array = NDArray[Any]
RANK = 4
RATED = 0.25
"""Share of the cells that are filled."""
ITEMS = 100
PEOPLE = (250, 500, 1000, 2000, 4000)
EPSILON = 1.0
DELTA = 1e-6
PLACE_NAMES = {
    "covariance": "covariance",
    "data": "data matrix",
    "gram": "person Gram",
}


def keys(asked: Wanted) -> Iterable[Key]:
    """Numbers of people, by seed."""
    people = PEOPLE[:3] if asked.quick else PEOPLE
    for count in people:
        for seed in asked.splits:
            yield {"people": count, "seed": seed}


def work(sources: Sources, key: Key) -> Values:
    """All three places on the same invented people."""
    people, seed = key["people"], key["seed"]
    rng = np.random.default_rng([people, seed])
    sd = 1 / gaussian_mu(EPSILON, DELTA)
    data = invented(people, rng)
    best = _explained(data, leading(data.T @ data, RANK)[1])
    noisy = data + sd * rng.standard_normal(data.shape)
    length = np.maximum(np.sqrt((data**2).sum(axis=1, keepdims=True)), 1e-9)
    covariance = data.T @ (data / length) + symmetric(ITEMS, sd, rng)
    gram = data @ data.T
    gram += symmetric(people, sd * np.sqrt(2 * people - 1), rng)
    by_people = leading(gram.astype(np.float32), RANK)[1]
    chance = np.linalg.qr(rng.standard_normal((ITEMS, RANK)))[0]
    return {
        "data": _explained(data, leading(noisy.T @ noisy, RANK)[1]) / best,
        "covariance": _explained(data, leading(covariance, RANK)[1]) / best,
        "gram": float(((by_people.T @ data) ** 2).sum()) / best,
        "chance": _explained(data, chance) / best,
    }


def invented(people: int, rng: np.random.Generator) -> Array:
    """Centred, clamped ratings of a quarter of the cells; 0 where there is none."""
    tastes = rng.standard_normal((people, RANK))
    tastes = tastes @ rng.standard_normal((RANK, ITEMS))
    noisy = 0.35 * tastes + 0.6 * rng.standard_normal((people, ITEMS))
    there = rng.random((people, ITEMS)) < RATED
    return np.asarray(np.clip(noisy, -1, 1) * there)


def symmetric(size: int, sd: float, rng: np.random.Generator) -> Array:
    """Noise of a matrix whose upper triangle is released."""
    upper = np.triu(rng.standard_normal((size, size)) * sd)
    return np.asarray(upper + np.triu(upper, 1).T)


def _explained(data: Array, factors: Array) -> float:
    """What orthonormal factors of items explain of the ratings."""
    return float(((data @ factors) ** 2).sum())


def draw(results: Results) -> Iterable[Panel]:
    """One curve a place."""
    curves = [
        Curve.of(words, results.along("people", name))
        for name, words in PLACE_NAMES.items()
    ]
    chance = results.along("people", "chance")
    curves.append(Curve("chance", chance.x, chance.y, style="line"))
    yield Panel(
        "Where the noise is put",
        "people",
        "share explained",
        tuple(curves),
        log_x=True,
    )


def judge_order(results: Results) -> Verdict:
    """Covariance, data matrix, Gram, in this order, with the most people."""
    most = max(row.key["people"] for row in results.rows)
    found = {
        name: results.mean(name, people=most) or 0.0
        for name in (*PLACE_NAMES, "chance")
    }
    right = found["covariance"] > found["data"] > found["gram"]
    words = ", ".join(
        f"{PLACE_NAMES.get(name, name)} {value:.2f}"
        for name, value in found.items()
    )
    reason = (
        f"of what the true factors explain, with {most:,} people: {words} (epsilon "
        f"{EPSILON:g}, {ITEMS} items, invented ratings: the paper prints no experiment)"
    )
    return Verdict("holds" if right else "does not hold", reason, found)


def judge_growth(results: Results) -> Verdict:
    """Only the covariance gets better with more people."""
    ends = {}
    for name in PLACE_NAMES:
        series = results.along("people", name)
        ends[name] = (series.y[0], series.y[-1])
    gained = {name: last - first for name, (first, last) in ends.items()}
    right = gained["covariance"] > 0.1 and gained["gram"] <= 0
    words = "; ".join(
        f"{PLACE_NAMES[name]} {first:.2f} to {last:.2f}"
        for name, (first, last) in ends.items()
    )
    return Verdict(
        "holds" if right else "does not hold",
        f"from the fewest people to the most: {words}",
        gained,
    )


PLACES = Experiment(
    figure="noise",
    title="the three places for noise",
    data=(),
    invented=True,
    split="none: factors against the true ones",
    parameters=f"{ITEMS} items, a quarter rated, {RANK} tastes, epsilon {EPSILON:g}, "
    f"delta {DELTA:g}, unit rating: all chosen here, the paper argues without numbers",
    keys=keys,
    work=work,
    draw=draw,
    findings=(
        Finding(
            "order of places",
            "There is a clear ordering on them when we need to introduce noise "
            "(covariance, data matrix, Gram matrix).",
            "section 4.1",
            judge_order,
        ),
        Finding(
            "growth of places",
            "Noise in the covariance need not grow with the participants, which gives "
            "arbitrarily accurate measurements for large populations; in the Gram matrix "
            "it is unmanageable.",
            "section 4.1",
            judge_growth,
        ),
    ),
)
