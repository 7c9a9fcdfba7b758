"""McSherry & Mironov 2009 in plain float64 numpy, written from the paper alone.

Nothing of Tacit is imported. A person is a pair (items, ratings of 1 to 5); loops follow the
text:

- 4.2 GSum, GCnt and G; MSum_i, MCnt_i and MAvg_i = (MSum_i + beta_m G)/(MCnt_i + beta_m);
- 4.3 the global average recomputed of what item averages leave; a person's average with
  beta_p fictitious ratings at it; r^ = clamp(r - MAvg - own average, [-B, B]);
- 4.4 Cov = sum w r^ r^', Wgt = sum w e e', w = 1/||e||_2 for Gaussian noise (Theorems 5 and
  6 for l2) and 1/||e||_1 for Laplace noise (for l1);
- 4.5 for whole people every vector is divided by ||e||, so a product by its square;
- 4.6 shrinking to the average, the diagonal apart; scaling by sqrt(MCnt_i MCnt_j), rank k,
  scaling back;
- 5.2 kNN after Bell & Koren with ridge, neighbours by Wgt, and SVD with ridge; k = 20,
  beta_m = 15, beta_p = 20, B = 1.

`noise` gives the draws of each measurement, by name; nothing is drawn here.

The text leaves open, and here it is read so (in the program each is a setting):

- the level that a prediction adds back is the average of 4.3, from all of a person's
  ratings (`level=first`);
- what neighbours and factors are fitted to are the centred ratings before clamping
  (`residuals=plain`): clamping is there "to lower the sensitivity of the measurements", and
  a prediction measures nothing;
- a divisor made of noisy counts is at least one, of noisy weights at least a thousandth of
  their mean (`least_weight`);
- in 4.5 the global sum and count are numbers, not vectors: a person adds her average and
  one (`person_total=mean`), which is what gives the bounds that 4.5 states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LEAST_COUNT = 1.0


@dataclass
class Measured:
    """Everything that is released."""

    average: float
    item: np.ndarray
    count: np.ndarray
    again: float
    covariance: np.ndarray
    weights: np.ndarray


def nothing(name, shape):
    """No noise."""
    return np.zeros(shape)


def norm_of(count, law):
    """||e_u|| of a person with so many ratings."""
    return float(count) if law == "laplace" else float(np.sqrt(count))


def measure(
    people,
    items,
    *,
    law="gaussian",
    unit="rating",
    beta_m=15.0,
    beta_p=20.0,
    clamp=1.0,
    noise=nothing,
    person_total="mean",
):
    """Sections 4.2 to 4.5: each measurement with its own noise."""

    def vector(count):
        return norm_of(count, law) if unit == "user" else 1.0

    def number(count):
        if unit == "rating":
            return 1.0
        return float(count) if person_total == "mean" else norm_of(count, law)

    total, counted = 0.0, 0.0
    for own, values in people:
        if len(own):
            total += values.sum() / number(len(own))
            counted += len(own) / number(len(own))
    total += noise("global/sum", ())
    counted += noise("global/count", ())
    average = total / max(counted, LEAST_COUNT)

    sums, counts = np.zeros(items), np.zeros(items)
    for own, values in people:
        for i, r in zip(own, values, strict=True):
            sums[i] += r / vector(len(own))
            counts[i] += 1 / vector(len(own))
    sums += noise("items/sum", (items,))
    counts += noise("items/count", (items,))
    item = (sums + beta_m * average) / np.maximum(counts + beta_m, LEAST_COUNT)

    total, counted = 0.0, 0.0
    for own, values in people:
        if len(own):
            total += (values - item[own]).sum() / number(len(own))
            counted += len(own) / number(len(own))
    total += noise("recentred/sum", ())
    counted += noise("recentred/count", ())
    again = total / max(counted, LEAST_COUNT)

    covariance, weights = np.zeros((items, items)), np.zeros((items, items))
    for own, values in people:
        if not len(own):
            continue
        centred = values - item[own] - own_average(own, values, item, again, beta_p)
        centred = np.clip(centred, -clamp, clamp)
        w = 1 / norm_of(len(own), law)
        if unit == "user":
            w = w * w
        pairs = np.ix_(own, own)
        covariance[pairs] += w * np.outer(centred, centred)
        weights[pairs] += w
    covariance += noise("covariance/covariance", (items, items))
    weights += noise("covariance/weights", (items, items))
    return Measured(average, item, counts, again, covariance, weights)


def own_average(own, values, item, again, beta_p):
    """4.3: with beta_p fictitious ratings at the recomputed global average."""
    return ((values - item[own]).sum() + beta_p * again) / (len(own) + beta_p)


def averaged(found, diagonal, rest, least=1e-3):
    """4.6, first step: (Cov + b mean Cov)/(Wgt + b mean Wgt), the diagonal apart; with b = 0
    the plain Avg = Cov/Wgt of section 2."""
    out = np.empty_like(found.covariance)
    own = np.eye(len(out), dtype=bool)
    for part, b in ((own, diagonal), (~own, rest)):
        cov, wgt = found.covariance[part], found.weights[part]
        least_weight = least * abs(wgt.mean()) + 1e-12
        out[part] = (cov + b * cov.mean()) / np.maximum(wgt + b * wgt.mean(), least_weight)
    return out


def low_rank(matrix, k, scale):
    """4.6, second step: scaled up, rank k (its positive part), scaled down: one row an item."""
    values, vectors = np.linalg.eigh(matrix * np.outer(scale, scale))
    top = np.argsort(-values, kind="stable")[:k]
    return vectors[:, top] * np.sqrt(np.maximum(values[top], 0)) / scale[:, None]


def matrix_of(found, *, clean, k=20, diagonal=0.0, rest=0.0, least=1e-3):
    """What kNN is given: the cleaned matrix, or without cleaning the plain average."""
    if not clean:
        return averaged(found, 0.0, 0.0, least)
    rows = factor_of(found, clean=True, k=k, diagonal=diagonal, rest=rest, least=least)
    return rows @ rows.T


def factor_of(found, *, clean, k=20, diagonal=0.0, rest=0.0, least=1e-3):
    """What SVD is given: k dimensions of the cleaned matrix, or of the plain average."""
    if not clean:
        plain = averaged(found, 0.0, 0.0, least)
        return low_rank(plain, k, np.ones(len(plain)))
    scale = np.sqrt(np.maximum(found.count, LEAST_COUNT))
    return low_rank(averaged(found, diagonal, rest, least), k, scale)


def centred(found, own, values, beta_p, clamp):
    """A person's level, and what it leaves of her ratings."""
    level = own_average(own, values, found.item, found.again, beta_p)
    rest = values - found.item[own] - level
    return level, rest if clamp is None else np.clip(rest, -clamp, clamp)


def knn(found, matrix, own, values, asked, *, ridge, k=20, beta_p=20.0, clamp=None):
    """Bell & Koren's weights over the k own ratings of largest Wgt, with ridge."""
    level, rest = centred(found, own, values, beta_p, clamp)
    out = np.empty(len(asked))
    for place, i in enumerate(asked):
        near = np.argsort(-found.weights[i, own], kind="stable")[:k]
        system = matrix[np.ix_(own[near], own[near])] + ridge * np.eye(len(near))
        weight = np.linalg.solve(system, matrix[own[near], i])
        out[place] = found.item[i] + level + weight @ rest[near]
    return out


def svd(found, factor, own, values, asked, *, ridge, beta_p=20.0, clamp=None):
    """A ridge regression of what the level leaves on the factor rows of the own items."""
    level, rest = centred(found, own, values, beta_p, clamp)
    rows = factor[own]
    system = rows.T @ rows + ridge * np.eye(factor.shape[1])
    taste = np.linalg.solve(system, rows.T @ rest)
    return found.item[asked] + level + factor[asked] @ taste
