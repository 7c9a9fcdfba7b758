"""Hua, Xia & Zhong 2015, schemes S1, S2 and S3, from the paper alone: plain loops in double
precision over ratings 1 to 5.

Equation (1) is minimised by (2) to (5); S1 is (6) with the noise of Theorem 1 or Lemma 1; S2
is (9) with eta of (12), the same in every round, and rho of section 4.2, fresh in each; S3
is 4.3: eta of every item is made before the first iteration, and in each iteration only a
cohort takes part. Noise comes in as numbers (sums over people, whose law Theorem 2 and
Lemma 1 give); so do the first profiles, "uniformly random norm 1 rows".

What the text leaves open, with the name of the setting; the first is the default here:

- (6) is divided by M, the number of ratings, and (2) to (5) are not. With the gain 2^-5 the
  latter diverge on both data sets of the paper. So the gain is read (`step`) as that of the
  *mean* gradient over a person's items and over an item's raters; of the *sum*, to the
  letter; of equation (1), over M (*objective*); of that over its curvature (*scaled*); or
  (1) and (6) are *solve*d.
- The proof of Theorem 1 has |u| <= 1; a profile that grows longer is brought back to 1 where
  there is noise (`bounded`).
- N(0, 1/k) of (12) has the variance 1/k, by which Theorem 2 and Lemma 1 hold; or the
  standard deviation (`pieces`), which divides the noise of a sum by the root of its raters.
- In (9) the signs of the gradient and of eta are printed the other way round than in (3) and
  (6), from which it follows; (6) is taken.
- S1 minimises (6) with as many steps as (1), from the items that (1) left.
- Predictions are products of u and v "derived from MF" (section 5), so those that the training
  left (`people`); or u is solved anew with lambda (3.3).
- eta of S3 is made by k online users for *every* item; how many are online at first is only
  called "much smaller" than the others: as many as take part in a round (`online`).
- Ratings are 1 to 5 as they are: no level, no mean.
- WNMF (section 6) is only named: multiplicative updates with weight 1 for rated cells and 0
  elsewhere, ridge lambda; eta by its sign above or below the fraction.
"""

from __future__ import annotations

import numpy as np


class Ratings:
    """Triples (i, j, r): who, what, 1 to 5."""

    def __init__(self, triples, n, m):
        self.n, self.m = n, m
        self.by_user = [[] for _ in range(n)]
        self.M = len(triples)
        for i, j, r in triples:
            self.by_user[i].append((j, r))


def move(x, total, ridge, gain, count, everything, step):
    """One update, of (2) or (3): `total` is the sum of -2 (..) e over `count` ratings, with
    its noise."""
    if step == "mean":
        return x - gain * (total / count + 2 * ridge * x)
    if step == "sum":
        return x - gain * (total + 2 * ridge * x)
    if step == "objective":
        return x - gain * (total / everything + 2 * ridge * x)
    curved = count / everything + ridge
    return x - gain * (total / everything + 2 * ridge * x) / curved


def shorten(u):
    length = np.linalg.norm(u)
    return u / length if length > 1 else u


def iteration(data, U, V, noise, *, step, gain, ridge, bounded, who=None, hold=False, thin=False):
    """All of those `who` take part, from the old U and V; `hold`: people stay."""
    here = range(data.n) if who is None else who
    sums = np.zeros_like(V)
    raters = np.zeros(data.m, int)
    new = U.copy()
    for i in here:
        total = np.zeros(U.shape[1])
        for j, r in data.by_user[i]:
            e = r - U[i] @ V[j]
            sums[j] += -2 * U[i] * e
            total += -2 * V[j] * e
            raters[j] += 1
        if not hold and data.by_user[i]:
            count = len(data.by_user[i])
            new[i] = move(U[i], total, ridge, gain, count, data.M, step)
            if bounded:
                new[i] = shorten(new[i])
    items = V.copy()
    for j in range(data.m):
        if raters[j]:
            added = noise[j] / (raters[j] ** 0.5 if thin else 1)
            items[j] = move(V[j], sums[j] + added, ridge, gain, raters[j], raters.sum(), step)
    return new, items


def s1(data, U, V, eta, *, T, step, gain=2**-5, ridge=0.001, bounded=True):
    """(1), then (6) for the items alone."""
    how = {"step": step, "gain": gain, "ridge": ridge, "bounded": bounded}
    nothing = np.zeros_like(V)
    for _ in range(T):
        U, V = iteration(data, U, V, nothing, **how)
    for _ in range(T):
        U, V = iteration(data, U, V, eta, hold=True, **how)
    return U, V


def s1_solved(data, V, eta, *, T, ridge=0.001):
    """(1) by solving each side exactly in turn, and (6) exactly: with M in front, its
    derivative is (2/M) sum u (u'v - r) + 2 mu v + eta/M = 0."""
    d = V.shape[1]
    full = ridge * data.M * np.eye(d)
    raters = [[] for _ in range(data.m)]
    for i, rated in enumerate(data.by_user):
        for j, r in rated:
            raters[j].append((i, r))

    def solved(pairs, other, term):
        if not pairs:
            return np.linalg.solve(full, -term)
        rows = np.array([other[k] for k, _ in pairs])
        value = np.array([r for _, r in pairs])
        return np.linalg.solve(rows.T @ rows + full, rows.T @ value - term)

    nothing = np.zeros(d)
    for _ in range(T):
        U = np.array([solved(rated, V, nothing) for rated in data.by_user])
        V = np.array([solved(each, U, nothing) for each in raters])
    V = np.array([solved(each, U, eta[j] / 2) for j, each in enumerate(raters)])
    return U, V


def s2(data, U, V, eta, rho, *, step, gain=2**-5, ridge=0.001, bounded=True, thin=False):
    """One iteration for each rho, everybody in each."""
    for fresh in rho:
        U, V = iteration(
            data, U, V, eta + fresh, step=step, gain=gain, ridge=ridge, bounded=bounded, thin=thin
        )
    return U, V


def s3(data, U, V, eta, rho, cohorts, *, step, gain=2**-5, ridge=0.001, bounded=True):
    """The same with those who are there; eta does not depend on who is."""
    for fresh, who in zip(rho, cohorts, strict=True):
        U, V = iteration(
            data, U, V, eta + fresh, step=step, gain=gain, ridge=ridge, bounded=bounded, who=who
        )
    return U, V


def wnmf(data, U, V, eta, *, T, ridge=0.001):
    """Weighted non-negative factorization, then the items alone with eta."""
    U, V = np.abs(U), np.abs(V)
    weight = np.zeros((data.n, data.m))
    R = np.zeros((data.n, data.m))
    for i, rated in enumerate(data.by_user):
        for j, r in rated:
            weight[i, j], R[i, j] = 1, r
    up, down = np.maximum(-eta / 2, 0), np.maximum(eta / 2, 0)
    for alone in (False, True):
        for _ in range(T):
            if not alone:
                U = U * (R @ V) / ((weight * (U @ V.T)) @ V + ridge * U)
            above = R.T @ U
            below = (weight * (U @ V.T)).T @ U + ridge * V
            if alone:
                above, below = above + up, below + down
            rated = weight.any(axis=0)
            V = np.where(rated[:, None], V * above / np.maximum(below, 1e-12), V)
    return U, V


def folded(data, V, ridge_of):
    """3.3: everybody's own ridge regression; `ridge_of` a person's number of ratings."""
    d = V.shape[1]
    U = np.zeros((data.n, d))
    for i, rated in enumerate(data.by_user):
        if rated:
            rows = np.array([V[j] for j, _ in rated])
            value = np.array([r for _, r in rated])
            full = ridge_of(len(rated)) * np.eye(d)
            U[i] = np.linalg.solve(rows.T @ rows + full, rows.T @ value)
    return U
