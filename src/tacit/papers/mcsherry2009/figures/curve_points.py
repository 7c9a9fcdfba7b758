"""Section 4.1: without noise the leading factors of items follow equally from the data
matrix, the item-item covariance and the person-person Gram matrix. With noise they do not.

Invented ratings of four tastes. Gaussian noise hides one cell (empty or filled, of at most
one point) in each of the three:

- data matrix: every cell, empty ones too, gets noise of sensitivity 1;
- covariance: the sum of yy'/|y|, whose upper triangle one cell moves by at most 1;
- person Gram YY': one cell of a person meets everyone who rated that item: sensitivity
  sqrt(2n - 1).

Told: the share of what the true leading factors explain that the noisy ones still explain.
Factors that are nothing but noise explain a share too: one for items, and another, much
smaller, for people. Where a place stands at its own chance nothing can be ordered, so a
second, larger epsilon is run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.ledger.account.calibrate import gaussian_mu
from tacit.methods.refine.spectrum import leading
from tacit.papers.machine.experiment import (
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
from tacit.papers.machine.sources import Sources

Array = NDArray[Any]
Learned = dict[str, tuple[float, float, float]]
"""Of each place: the share that it explains, chance, and what is beyond chance."""
RANK = 4
RATED = 0.25
"""Share of the cells that are filled."""
ITEMS = 100
PEOPLE = (250, 500, 1000, 2000, 4000)
EPSILONS = (1.0, 10.0)
"""At the first only the covariance is above chance with these few people."""
CLEAR = 0.02
"""Above its own chance by so much a place has learned something."""
DELTA = 1e-6
PLACE_NAMES = {"covariance": "covariance", "data": "data matrix", "gram": "person Gram"}
CHANCES = {"covariance": "chance", "data": "chance", "gram": "chance people"}
"""What factors of noise alone explain, of items or of people."""
LEVELS = {"chance": "chance, items", "chance people": "chance, people"}


def keys(request: Wanted) -> Iterable[Key]:
    """Numbers of people, by epsilon and seed."""
    people = PEOPLE[:3] if request.quick else PEOPLE
    for count in people:
        for epsilon in EPSILONS:
            for seed in request.splits:
                yield {"people": count, "seed": seed, "epsilon": epsilon}


def work(sources: Sources, key: Key) -> Values:
    """All three places on the same invented people."""
    people, seed = key["people"], key["seed"]
    rng = np.random.default_rng([people, seed])
    sd = 1 / gaussian_mu(key["epsilon"], DELTA)
    data = invented(people, rng)
    best = _explained(data, leading(data.T @ data, RANK)[1])
    noisy = data + sd * rng.standard_normal(data.shape)
    length = np.maximum(np.sqrt((data**2).sum(axis=1, keepdims=True)), 1e-9)
    covariance = data.T @ (data / length) + symmetric(ITEMS, sd, rng)
    gram = data @ data.T
    gram += symmetric(people, sd * np.sqrt(2 * people - 1), rng)
    by_people = leading(gram.astype(np.float32), RANK)[1]
    chance = np.linalg.qr(rng.standard_normal((ITEMS, RANK)))[0]
    anybody = np.linalg.qr(rng.standard_normal((people, RANK)))[0]
    return {
        "data": _explained(data, leading(noisy.T @ noisy, RANK)[1]) / best,
        "covariance": _explained(data, leading(covariance, RANK)[1]) / best,
        "gram": float(((by_people.T @ data) ** 2).sum()) / best,
        "chance": _explained(data, chance) / best,
        "chance people": float(((anybody.T @ data) ** 2).sum()) / best,
    }


def invented(people: int, rng: np.random.Generator) -> Array:
    """Centred, clamped ratings of a quarter of the cells; 0 where there is none."""
    user_factors = rng.standard_normal((people, RANK))
    user_factors = user_factors @ rng.standard_normal((RANK, ITEMS))
    noisy = 0.35 * user_factors + 0.6 * rng.standard_normal((people, ITEMS))
    rated = rng.random((people, ITEMS)) < RATED
    return np.asarray(np.clip(noisy, -1, 1) * rated)


def symmetric(size: int, sd: float, rng: np.random.Generator) -> Array:
    """Noise of a matrix whose upper triangle is released."""
    upper = np.triu(rng.standard_normal((size, size)) * sd)
    return np.asarray(upper + np.triu(upper, 1).T)


def _explained(data: Array, factors: Array) -> float:
    """What orthonormal factors of items explain of the ratings."""
    return float(((data @ factors) ** 2).sum())


def draw(results: Results) -> Iterable[Panel]:
    """One chart an epsilon, one curve a place."""
    for epsilon in EPSILONS:
        subset = results.select(epsilon=epsilon)
        feature_interactions = [
            Curve.of(label, subset.along("people", name))
            for name, label in (PLACE_NAMES | LEVELS).items()
        ]
        yield Panel(
            f"Where the noise is put, epsilon {epsilon:g}",
            "people",
            "share explained",
            tuple(feature_interactions),
            log_x=True,
            note="Factors of noise alone are at chance, which is less for people's factors "
            "than for items'.",
        )


def above_chance(results: Results, epsilon: float, people: int) -> Learned:
    """What each place explains, and how much of it is not chance: of 1 all, of 0 nothing."""
    explained = {}
    for name in PLACE_NAMES:
        subset = results.select(epsilon=epsilon, people=people)
        share = subset.mean(name) or 0.0
        chance = subset.mean(CHANCES[name]) or 0.0
        explained[name] = (share, chance, (share - chance) / (1 - chance))
    return explained


def judge_order(results: Results) -> Verdict:
    """Covariance, data matrix, Gram, in this order, with the most people: by what each
    explains beyond its own chance."""
    people_count = max(row.key["people"] for row in results.rows)
    clauses = []
    strict = 0
    right = True
    for epsilon in EPSILONS:
        explained = above_chance(results, epsilon, people_count)
        first, second, third = (explained[name][2] for name in PLACE_NAMES)
        right = right and first >= second - CLEAR and second >= third - CLEAR
        strict += first > second + CLEAR and second > third + CLEAR
        listing = ", ".join(
            f"{PLACE_NAMES[name]} {share:.2f} (chance {chance:.2f})"
            for name, (share, chance, _) in explained.items()
        )
        clauses.append(f"epsilon {epsilon:g}: {listing}")
    reason = (
        f"of what the true factors explain, with {people_count:,} people, {'; '.join(clauses)}. "
        "All of it "
        f"with {ITEMS} items and invented ratings: the paper prints no experiment"
    )
    good = right and strict
    return Verdict("holds" if good else "does not hold", reason)


def judge_growth(results: Results) -> Verdict:
    """The covariance comes near the truth with more people; the Gram matrix does not."""
    counts = sorted({row.key["people"] for row in results.rows})
    numbers: dict[str, float] = {}
    clauses = []
    for epsilon in EPSILONS:
        ends = {
            name: [
                above_chance(results, epsilon, people)[name][2]
                for people in (counts[0], counts[-1])
            ]
            for name in PLACE_NAMES
        }
        listing = ", ".join(
            f"{PLACE_NAMES[name]} {first:.2f} to {last:.2f}" for name, (first, last) in ends.items()
        )
        clauses.append(f"epsilon {epsilon:g}: {listing}")
        numbers |= {f"{name} {epsilon:g}": last - first for name, (first, last) in ends.items()}
    right = all(
        numbers[f"covariance {epsilon:g}"] > 0 and numbers[f"gram {epsilon:g}"] < CLEAR
        for epsilon in EPSILONS
    )
    return Verdict(
        "holds" if right else "does not hold",
        f"explained beyond chance, from {counts[0]:,} people to {counts[-1]:,}, "
        + "; ".join(clauses),
        numbers,
    )


PLACES = Experiment(
    figure="noise",
    title="the three places for noise",
    data=(),
    invented=True,
    split="none: factors against the true ones",
    parameters=f"{ITEMS} items, a quarter rated, {RANK} tastes, epsilon 1 and 10, "
    f"delta {DELTA:g}, unit rating: all chosen here, the paper argues without numbers",
    keys=keys,
    work=work,
    draw=draw,
    findings=(
        Finding(
            "order of places",
            "there is a clear ordering on them when we need to introduce noise for privacy "
            "(covariance, data matrix, Gram matrix).",
            "section 4.1",
            judge_order,
        ),
        Finding(
            "growth of places",
            "Adding noise to the covariance matrix ... does not need to grow as the number "
            "of participants increases, which gives the potential for arbitrarily accurate "
            "measurements for arbitrarily large populations. Working with the Gram matrix ... "
            "quickly becomes unmanageably disruptive.",
            "section 4.1",
            judge_growth,
        ),
    ),
)
