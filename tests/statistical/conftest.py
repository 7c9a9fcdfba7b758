"""Goodness of fit at p = 1e-20: a right sampler never fails, one with a scale 30 % off always does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

Cdf = Callable[[NDArray[np.float64]], NDArray[np.float64]]
Fit = Callable[[NDArray[np.int64], Cdf, float], bool]
Same = Callable[[NDArray[np.int64], NDArray[np.int64]], bool]

THRESHOLD = 1e-20
FEWEST = 25.0


def _merge(expected: NDArray[np.float64]) -> list[int]:
    """Starts of groups of neighbouring bins with at least FEWEST expected draws each."""
    starts, held = [0], 0.0
    for i, value in enumerate(expected.tolist()):
        if held >= FEWEST and float(expected[i:].sum()) >= FEWEST:
            starts.append(i)
            held = 0.0
        held += value
    return starts


def _fits(draws: NDArray[np.int64], cdf: Cdf, spread: float) -> bool:
    """Chi-square of integer draws against a law's cdf at integers, in about 60 bins over +-5 spreads."""
    from scipy.stats import chi2

    edges = np.unique(np.round(np.linspace(-5, 5, 61) * spread))
    share = np.diff(np.concatenate([[0.0], cdf(edges), [1.0]]))
    counts = np.bincount(np.searchsorted(edges, draws, side="left"), minlength=edges.size + 1)
    starts = _merge(share * draws.size)
    expected, observed = np.add.reduceat(share * draws.size, starts), np.add.reduceat(counts, starts)
    statistic = float(np.sum((observed - expected) ** 2 / expected))
    return bool(chi2.sf(statistic, len(starts) - 1) > THRESHOLD)


def _same(a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
    """Chi-square of two samples, in bins of the pooled quantiles."""
    from scipy.stats import chi2_contingency

    edges = np.unique(np.quantile(np.concatenate([a, b]), np.linspace(0, 1, 41)[1:-1], method="nearest"))
    table = np.array([np.bincount(np.searchsorted(edges, x), minlength=edges.size + 1) for x in (a, b)])
    table = table[:, table.sum(axis=0) > 0]
    return bool(chi2_contingency(table).pvalue > THRESHOLD)


@pytest.fixture(scope="session")
def fits() -> Fit:
    return _fits


@pytest.fixture(scope="session")
def same() -> Same:
    return _same


def gaussian_cdf(sigma: float) -> Cdf:
    """By summation up to 1,000 steps; above, the normal cdf at half steps, off by less than e^-(2 pi^2 10^6) + 1e-6."""
    from scipy.special import ndtr

    if sigma > 1000:
        return lambda k: ndtr((k + 0.5) / sigma)
    support = np.arange(-int(12 * sigma) - 3, int(12 * sigma) + 4)
    mass = np.exp(-(support**2) / (2 * sigma**2))
    sums = np.cumsum(mass / mass.sum())
    return lambda k: sums[np.clip(k - support[0], 0, support.size - 1).astype(int)]


def laplace_cdf(scale: float) -> Cdf:
    q = np.exp(-1 / scale)
    return lambda k: np.where(k >= 0, 1 - q ** (np.abs(k) + 1) / (1 + q), q ** np.abs(k) / (1 + q))


def pmf_cdf(pmf: NDArray[np.float64], first: int) -> Cdf:
    sums = np.cumsum(pmf / pmf.sum())
    return lambda k: np.where(k < first, 0.0, sums[np.clip(k - first, 0, sums.size - 1).astype(int)])


@pytest.fixture(scope="session")
def cdfs() -> dict[str, Callable[..., Cdf]]:
    """`gaussian(sigma)`, `laplace(scale)` and `pmf(weights, first)`."""
    return {"gaussian": gaussian_cdf, "laplace": laplace_cdf, "pmf": pmf_cdf}
