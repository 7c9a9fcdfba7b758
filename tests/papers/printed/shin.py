"""Shin, Kim, Shin & Xiao 2018, Privacy Enhanced Matrix Factorization with Local Differential
Privacy: a plain second implementation in float64, written from the paper. Nothing of the
program is used.

Ratings are a matrix of people x items, 0 where there is none (section 4.1: y_ij, r_ij = 0).

- Equation 4 (`own_steps`): a person's step, -2 sum_j v_j (r_ij - u_i'v_j) over her ratings.
- Equation 6, line 8 of Algorithm 1 (`whole`): -2 y_ij u_i (r_ij - u_i'v_j) for every item.
- Algorithm 1 (`descent` without `phi`): each person draws one (j, l) and tells one bit about
  that number, cut to [-1, 1]: +-md (e^(eps/k) + 1)/(e^(eps/k) - 1), of mean x.
- Algorithm 2 (`descent` with `phi`): the same of the q x d numbers phi x gradient (lines 8 to
  14), and phi+ = phi'(phi phi')^-1 on the mean of the answers (equation 11, line 22).
- Section 4.2: V <- V - (gamma_t/f_k)(gradient + 2 lambda_v V), f_k = k^2; u without f_k.
- Section 4.1 (`simple`): every number with Laplace noise of scale sigma, presence by
  randomized response (equations 7 and 8) with p; of all items p = 2/(1 + e^(eps/2km)) and
  sigma = m Delta d/(eps/2k), of one item the same without m.
- Section 5.1: q = 2,700 of 26,744 items, so a tenth; d = 15; lambda = 1e-8; gamma_t O(1/t).

Left open by the text, each a setting of the program; first the default:

- rounds: `while iter <= k` from 0 is k + 1, each at epsilon/k; the text says k (`loop`);
- gamma_t: 1/t for items and .1/t for people (`rate`, `own_rate`); the text prints O(1/t);
- what divides a person's own gradient, as M is unknown: the number of her own ratings, or n
  (`own_mean`);
- the start of U and V: all products at mid-scale, V scattered by a tenth of that;
- q on other data: a tenth of the items (`share`), or a number (`projection`);
- entries of phi: Gaussian (Algorithm 2), or signs (4.3 names both) (`entries`);
- predictions are cut to the scale; V is kept within +-1,000 where it diverges.
"""

import numpy as np

LARGEST = 1e3


def own_steps(ratings, first, path, rate, ridge, people=None):
    """Equations 2 and 4 along the item factors after each round: everybody's u."""
    own = np.tile(first, (len(ratings), 1))
    rated = ratings > 0
    for t, items in enumerate(path, 1):
        error = np.where(rated, ratings - own @ items.T, 0.0)
        divisor = np.maximum(rated.sum(axis=1), 1)[:, None]
        if people is not None:
            divisor = people
        slope = -2 * error @ items / divisor
        own = own - rate / t * (slope + 2 * ridge * own)
    return own


def whole(ratings, own, items):
    """x_i of every person: people x items x factors."""
    error = np.where(ratings > 0, ratings - own @ items.T, 0.0)
    return -2 * error[:, :, None] * own[:, None, :]


def descent(
    ratings,
    own_first,
    items_first,
    *,
    epsilon,
    k,
    asked,
    uniform,
    phi=None,
    rounds=None,
    factor=None,
    rate=1.0,
    own_rate=0.1,
    ridge=1e-8,
    people=None,
):
    """Algorithms 1 and 2. `asked(t)` are the coordinates that people drew, `uniform(t)`
    numbers in (0, 1) that decide T. Gives the item factors after each round."""
    rank = items_first.shape[1]
    size = len(items_first) if phi is None else len(phi)
    ratio = np.exp(epsilon / k)
    answer = size * rank * (ratio + 1) / (ratio - 1)
    items = items_first
    path = []
    for t in range(1, (k + 1 if rounds is None else rounds) + 1):
        own = own_steps(ratings, own_first, path, own_rate, ridge, people)
        told = whole(ratings, own, items)
        if phi is not None:
            told = np.einsum("qj,ujl->uql", phi, told)
        drawn = asked(t)
        x = told.reshape(len(ratings), -1)[np.arange(len(ratings)), drawn]
        x = np.clip(x, -1, 1)
        chance = (x * (ratio - 1) + ratio + 1) / (2 * (ratio + 1))
        said = np.where(uniform(t) < chance, answer, -answer)
        slope = np.bincount(drawn, said, size * rank) / len(ratings)
        slope = slope.reshape(size, rank)
        if phi is not None:
            slope = phi.T @ np.linalg.solve(phi @ phi.T, slope)
        step = rate / t / (k**2 if factor is None else factor)
        items = items - step * (slope + 2 * ridge * items)
        items = np.clip(items, -LARGEST, LARGEST)
        path.append(items)
    return path


def exact(ratings, own_first, items_first, *, k, rate=1.0, own_rate=0.1, ridge=1e-8):
    """Non-private GD: equations 2 to 6, n for M in the items' steps."""
    items = items_first
    path = []
    for t in range(1, k + 1):
        own = own_steps(ratings, own_first, path, own_rate, ridge)
        slope = whole(ratings, own, items).mean(axis=0)
        items = items - rate / t * (slope + 2 * ridge * items)
        path.append(items)
    return path


def simple_scales(epsilon, k, items, rank, width, single=False):
    """p and sigma of section 4.1, half of epsilon each."""
    among = 1 if single else items
    p = 2 / (1 + np.exp(epsilon / 2 / k / among))
    return p, among * width * rank / (epsilon / 2 / k)


def simple_mean(ratings, own, items, p, noise, answers):
    """The estimate of section 4.1, from Laplace numbers and answers y* of all items."""
    told = -2 * (ratings - own @ items.T)[:, :, None] * own[:, None, :]
    told = np.where((ratings > 0)[:, :, None], told, 0.0) + noise
    weight = (answers - p / 2) / (1 - p)
    return (weight[:, :, None] * told).mean(axis=0)


def predicted(ratings, own_first, path, own_rate, ridge, people=None):
    """u_i'v_j after all rounds, on the scale."""
    own = own_steps(ratings, own_first, path, own_rate, ridge, people)
    return np.clip(own @ path[-1].T, 1, 5)
