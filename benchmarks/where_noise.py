"""Where to put the noise: data matrix, item-item covariance or person-person Gram (McSherry
& Mironov, section 4.1).

    python benchmarks/where_noise.py
    python benchmarks/where_noise.py --epsilon 5 --items 200

Without noise the three have the same leading factors. With Gaussian noise that hides one
cell (unit `rating`, empty or filled, values of at most one point) each gives others.
Printed: the share of what the true leading factors explain of the ratings that the noisy
ones still explain; `chance` is what random factors of items explain. Ratings and noise are
seeded and invented: this is an experiment and nothing here is private.

- data matrix: every cell, empty ones too, gets noise of sensitivity 1;
- covariance: sum of yy'/|y|, the release of `covariance-svd`: one cell moves its upper
  triangle by at most 1;
- person Gram YY': one cell of a person meets everyone who rated that item: sensitivity
  sqrt(2n - 1).
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.ledger.account.calibrate import gaussian_mu
from tacit.methods.refine.spectrum import leading

Array = NDArray[Any]
RANK, RATED = 4, 0.25


def invented(people: int, items: int, rng: np.random.Generator) -> Array:
    """Centred, clamped ratings of a quarter of the cells, from four tastes; 0 where there
    is none."""
    tastes = rng.standard_normal((people, RANK)) @ rng.standard_normal(
        (RANK, items)
    )
    noisy = 0.35 * tastes + 0.6 * rng.standard_normal((people, items))
    return np.asarray(
        np.clip(noisy, -1, 1) * (rng.random((people, items)) < RATED)
    )


def symmetric(size: int, sd: float, rng: np.random.Generator) -> Array:
    """Noise of a matrix whose upper triangle is released."""
    upper = np.triu(rng.standard_normal((size, size)) * sd)
    return np.asarray(upper + np.triu(upper, 1).T)


def explained(
    data: Array, by_items: Array | None = None, by_people: Array | None = None
) -> float:
    """What orthonormal factors, of items or of people, explain of the ratings."""
    part = (
        data @ by_items
        if by_items is not None
        else np.asarray(by_people).T @ data
    )
    return float((part**2).sum())


def shares(
    people: int, items: int, sd: float, rng: np.random.Generator
) -> tuple[float, float, float, float]:
    data = invented(people, items, rng)
    best = explained(data, leading(data.T @ data, RANK)[1])
    noisy = data + sd * rng.standard_normal(data.shape)
    length = np.maximum(np.sqrt((data**2).sum(axis=1, keepdims=True)), 1e-9)
    covariance = data.T @ (data / length) + symmetric(items, sd, rng)
    gram = (
        data @ data.T + symmetric(people, sd * np.sqrt(2 * people - 1), rng)
    ).astype(np.float32)
    chance = np.linalg.qr(rng.standard_normal((items, RANK)))[0]
    found = (
        explained(data, leading(noisy.T @ noisy, RANK)[1]),
        explained(data, leading(covariance, RANK)[1]),
        explained(data, by_people=leading(gram, RANK)[1]),
        explained(data, chance),
    )
    return tuple(each / best for each in found)  # type: ignore[return-value]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    sd = 1 / gaussian_mu(chosen.epsilon, chosen.delta)
    print(
        f"epsilon {chosen.epsilon:g}, delta {chosen.delta:g}, {chosen.items} items, noise "
        f"{sd:.2f} x sensitivity"
    )
    print(
        f"{'people':>8} {'data matrix':>12} {'covariance':>11} {'person Gram':>12} {'chance':>7}"
    )
    for people in (250, 500, 1000, 2000, 4000):
        runs = [
            shares(people, chosen.items, sd, np.random.default_rng([people, s]))
            for s in range(chosen.seeds)
        ]
        data, covariance, gram, chance = np.mean(runs, axis=0)
        print(
            f"{people:8,} {data:12.2f} {covariance:11.2f} {gram:12.2f} {chance:7.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
