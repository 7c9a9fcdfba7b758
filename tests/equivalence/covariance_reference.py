"""covariance-svd and covariance-knn without noise, as a plain float64 numpy program.

Written out person by person from the definitions (docs/proofs/covariance.md), the integer
grid among them: no kernel, band, block or compressed row of the program is used.
"""

from __future__ import annotations

import numpy as np

from tacit.rounds.state import is_filled

PEOPLE = 250


RANK = 12


ITEMS = 120


ASKED = np.arange(0, 400, 7, dtype=np.uint32)


def people(data):
    for u in range(len(data.ptr) - 1):
        cells = slice(data.ptr[u], data.ptr[u + 1])
        yield (data.item[cells].astype(int), data.value[cells].astype(np.float64) - 3.0)


def ridge(rows, posterior_variance, items, rest, asked):
    """What ratings `rest` of `items` say of the items asked about: c'(C + D)^-1 rest."""
    system = rows[items] @ rows[items].T + np.diag(posterior_variance[items])
    return rest @ np.linalg.solve(system, rows[items] @ rows[asked].T)


def nearest(rows, posterior_variance, items, rest, asked, strength, neighbours):
    """The same for one item, from its `neighbours` closest alone."""
    used = np.argsort(-strength, kind="stable")[:neighbours]
    return ridge(rows, posterior_variance, items[used], rest[used], asked)


def as_published(*arrays):
    return (np.float32(array).astype(np.float64) for array in arrays)


def reference(data, baseline, variance, rows, noise, neighbours=None, closeness=None):
    """Ridge over all own ratings, or over the `neighbours` closest for each item asked about."""
    baseline, variance, rows = as_published(baseline, variance, rows)
    out, posterior_variance = np.empty((PEOPLE, len(ASKED))), noise + variance
    for u, (items, values) in enumerate(people(data)):
        rest = values - baseline[items]
        out[u] = 3.0 + baseline[ASKED]
        if neighbours is None:
            out[u] += ridge(rows, posterior_variance, items, rest, ASKED)
            continue
        for k, asked in enumerate(ASKED):
            out[u, k] += nearest(
                rows, posterior_variance, items, rest, asked, closeness[asked, items], neighbours
            )
    return out


def staged(data, baseline, variance, shared_rows, factor, noise, neighbours):
    """Level and popularity from all own ratings; what they leave, by ridge over the
    `neighbours` closest."""
    whole = variance + (factor**2).sum(axis=1)
    baseline, whole, shared_rows, factor = as_published(baseline, whole, shared_rows, factor)
    out, posterior_variance = (
        np.empty((PEOPLE, len(ASKED))),
        noise + whole - (factor**2).sum(axis=1),
    )
    everything = np.arange(len(baseline))
    for u, (items, values) in enumerate(people(data)):
        mean = baseline + ridge(
            shared_rows, noise + whole, items, values - baseline[items], everything
        )
        rest = values - mean[items]
        for k, asked in enumerate(ASKED):
            strength = np.abs(factor[items] @ factor[asked]) / np.sqrt(posterior_variance[items])
            out[u, k] = (
                3.0
                + mean[asked]
                + nearest(factor, posterior_variance, items, rest, asked, strength, neighbours)
            )
    return out


def head_of(state):
    return np.sort(np.argsort(-state.weights.mean, kind="stable")[:ITEMS])


def matrix_of_people(data, state, head):
    """Unit user: the sum of qq', q = trunc(8192 y / sqrt(|y|^2 + 1/2)), over 8192^2,
    without its diagonal."""
    total = np.zeros((ITEMS, ITEMS))
    for items, values in people(data):
        rest = np.clip(values - state.level.mean - state.effects.mean[items], -2, 2)
        y = np.zeros(len(state.effects.mean))
        y[items] = np.clip(rest - rest.sum() / (len(rest) + 20), -1, 1)
        y = y[head]
        q = np.trunc(8192 * y / np.sqrt(0.5 + (y * y).sum()))
        total += np.outer(q, q)
    return (total - np.diag(np.diag(total))) / 8192.0**2


def matrix_of_cells(data, state, head):
    """Unit rating: every entry of y y' / sqrt(|y|^2 + 1/2) on a grid of 2^20, y on one of 2^12."""
    total = np.zeros((ITEMS, ITEMS))
    for items, values in people(data):
        rest = np.trunc(
            4096 * np.clip(values - state.level.mean - state.effects.mean[items], -2, 2)
        )
        y = np.zeros(len(state.effects.mean))
        y[items] = np.clip(rest - np.trunc(rest.sum() / (len(rest) + 20)), -4096, 4096)
        y = y[head]
        weight = np.floor(2.0**30 * 2**20 / (4096.0**2 * np.sqrt((y * y).sum() / 4096.0**2 + 0.5)))
        total += np.floor((weight * np.outer(y, y) + 2.0**29) / 2.0**30)
    return (total - np.diag(np.diag(total))) / 2.0**20


def leading_factors(matrix):
    """The leading eigenvectors, the diagonal filled in from them twice."""
    work = matrix.copy()
    for _ in range(3):
        values, vectors = np.linalg.eigh(work)
        values, vectors = values[::-1][:RANK], vectors[:, ::-1][:, :RANK]
        np.fill_diagonal(work, (vectors**2) @ values)
    return vectors * np.sqrt(values)


def weight_rule(state, head, unit):
    """a with the expected weight of a pair a_i a_j, and the scatter of an entry for a unit
    of it: the public rule."""
    counts = state.weights.mean[head]
    mean = counts.sum() / PEOPLE
    if unit == "user":
        each = 1.15 * mean**2 if mean**2 > 50 else np.sqrt(50) * mean
        pair = 1 / (1.5 * 0.45 * each + 0.5)
    else:
        each, pair = mean, 1 / np.sqrt(1.5 * 0.45 * mean + 0.5)
    return counts**0.9 * np.sqrt(PEOPLE * 1.35 * each**2 * pair) / (
        counts**0.9
    ).sum(), 0.45**2 * pair


def spectral_start(matrix, a, scatter):
    """The block of items that stand out most: its whitened eigenvalues beyond the edge 2
    sqrt(size), shrunk."""
    signal = a**2 / np.sqrt(scatter * a**2)
    order = np.argsort(-signal, kind="stable")
    best = np.argmax(np.cumsum(signal[order]) / np.sqrt(np.arange(1, len(a) + 1))) + 1
    block = np.sort(order[: max(2 * best, 50)])
    white = (scatter * a[block] ** 2) ** -0.25
    work, edge = (matrix[np.ix_(block, block)] * np.outer(white, white), 2 * np.sqrt(len(block)))
    for _ in range(3):
        values, vectors = np.linalg.eigh(work)
        kept = np.flatnonzero(values > edge * (1 + len(block) ** (-2 / 3)))[::-1][:RANK]
        shrunk, vectors = np.sqrt(values[kept] ** 2 - edge**2), vectors[:, kept]
        np.fill_diagonal(work, vectors**2 @ shrunk)
    item_factors = np.zeros((len(matrix), len(kept)))
    item_factors[block] = vectors * np.sqrt(shrunk) / (white * a[block])[:, None]
    return item_factors, block


def spectrum_cleaned(matrix, a, scatter):
    """Bayesian regressions of every item's row on the loadings of the others; item by item,
    in four turns a round."""
    item_factors, block = spectral_start(matrix, a, scatter)
    scatter = 3 * scatter  # entries of a row err together
    size, rank = item_factors.shape
    spread = np.zeros((size, rank, rank))

    def regress(items, on, prior):
        made = []
        for i in items:
            j = on[on != i]
            second = item_factors[j, :, None] * item_factors[j, None, :] + spread[j]
            precision = np.diag(1 / prior) + np.tensordot(a[i] * a[j] / scatter, second, 1)
            made.append((np.linalg.inv(precision), matrix[i, j] / scatter @ item_factors[j]))
        for i, (covariance, right) in zip(items, made, strict=True):
            item_factors[i], spread[i] = covariance @ right, covariance

    def widths(items):
        second = [np.outer(item_factors[i], item_factors[i]) + spread[i] for i in items]
        return np.maximum(np.diag(np.mean(second, axis=0)), 1e-6)

    prior, everyone = widths(block), np.arange(size)
    regress(np.setdiff1d(everyone, block), block, prior)
    for _ in range(6):
        above = below = 0.0
        for turn in range(4):
            items = everyone[turn::4]
            regress(items, everyone, prior)
            for i in items:
                others = everyone != i
                pair = a[i] * a[others]
                missed = matrix[i, others] - pair * (item_factors[others] @ item_factors[i])
                above, below = (
                    above + (missed**2 / pair).sum() / scatter**2,
                    below + others.sum() / scatter**2,
                )
        prior, scatter = widths(everyone), 3 * above / below
    return item_factors, np.trace(spread, axis1=1, axis2=2)


def uncleaned(matrix, a, scatter):
    return leading_factors(matrix) / a[:, None], np.zeros(len(a))


def on_grid(row):
    """A person's numbers within norm 1, toward zero on the grid."""
    return np.trunc(np.asarray(row) / max(1.0, np.linalg.norm(row)) * 2**20) / 2**20


def first_order_sums(data, state, unit, spread):
    """What the rounds before the covariance release, person by person: level, weights, and
    sums of residuals."""
    items = len(data.items)
    level = np.zeros(2 if unit == "user" else 3)
    weights = np.zeros(items)
    sums = np.zeros(items)
    item_bias = state.effects.mean if is_filled(state.effects) else np.zeros(items)
    typical = state.level.count if is_filled(state.level) else 1.0
    if is_filled(state.weights) and unit == "user":
        bottom = max(spread / 0.3, 0.5 / np.sqrt(typical))
        effort = (np.maximum(state.weights.mean, bottom) / bottom) ** -0.4
        clip = 0.5 * np.sqrt(state.weights.mean @ effort**2 / state.weights.mean.sum())
    for own, values in people(data):
        count = len(own)
        if unit == "user":
            level += on_grid([0.9 * values.mean() / 2, 0.43 * (min(np.log2(count), 12) - 6) / 6])
            each = 1 / np.sqrt(max(count, 0.25 * typical, 2.0))
            weights[own] += on_grid(np.full(count, each))
            if is_filled(state.weights):
                rest = np.clip(values - state.level.mean - item_bias[own], -3, 3)
                sums[own] += on_grid((rest - rest.sum() / (count + 5)) * each * effort[own] / clip)
        else:
            level += [values.sum() / (count + 5), count / (count + 5), np.log2(1 + count) / 6]
            weights[own] += 1.0
            if is_filled(state.level):
                rest = np.clip(values - state.level.mean - item_bias[own], -2, 2)
                sums[own] += np.clip(rest - rest.sum() / (count + 5), -2, 2)
    return {"level": level, "weights": weights, "sums": sums}
