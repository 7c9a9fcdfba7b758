"""What every sampler must do: accept its true scale and reject one that is 30 % off, at p =
1e-20: never flaky.

class TestMine(SamplerTests):
    scales = (0.5, 10.0)
    def draw(self, n, scale): return mine(n, scale)
    def cdf(self, scale): return lambda k: ...
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Cdf = Callable[[NDArray[np.float64]], NDArray[np.float64]]

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


def fits(draws: NDArray[np.int64], cdf: Cdf, spread: float) -> bool:
    """Chi-square of integer draws against a law's cdf at integers, in about 60 bins over
    +-5 spreads."""
    from scipy.stats import chi2

    edges = np.unique(np.round(np.linspace(-5, 5, 61) * spread))
    share = np.diff(np.concatenate([[0.0], cdf(edges), [1.0]]))
    counts = np.bincount(np.searchsorted(edges, draws, side="left"), minlength=edges.size + 1)
    starts = _merge(share * draws.size)
    expected, observed = (
        np.add.reduceat(share * draws.size, starts),
        np.add.reduceat(counts, starts),
    )
    statistic = float(np.sum((observed - expected) ** 2 / expected))
    return bool(chi2.sf(statistic, len(starts) - 1) > THRESHOLD)


def same(a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
    """Chi-square of two samples, in bins of the pooled quantiles."""
    from scipy.stats import chi2_contingency

    edges = np.unique(
        np.quantile(np.concatenate([a, b]), np.linspace(0, 1, 41)[1:-1], method="nearest")
    )
    table = np.array(
        [np.bincount(np.searchsorted(edges, x), minlength=edges.size + 1) for x in (a, b)]
    )
    table = table[:, table.sum(axis=0) > 0]
    return bool(chi2_contingency(table).pvalue > THRESHOLD)


def gaussian_cdf(sigma: float) -> Cdf:
    """By summation up to 1,000 steps; above, the normal cdf at half steps, off by less than
    e^-(2 pi^2 10^6) + 1e-6."""
    from scipy.special import ndtr

    if sigma > 1000:
        return lambda k: ndtr((k + 0.5) / sigma)
    support = np.arange(-int(12 * sigma) - 3, int(12 * sigma) + 4)
    mass = np.exp(-(support**2) / (2 * sigma**2))
    sums = np.cumsum(mass / mass.sum())
    return lambda k: sums[np.clip(k - support[0], 0, support.size - 1).astype(int)]


def laplace_cdf(scale: float) -> Cdf:
    """The distribution function of the discrete Laplace law."""
    q = np.exp(-1 / scale)
    return lambda k: np.where(k >= 0, 1 - q ** (np.abs(k) + 1) / (1 + q), q ** np.abs(k) / (1 + q))


def pmf_cdf(pmf: NDArray[np.float64], start: int) -> Cdf:
    """The distribution function of these chances, the first of them at `start`."""
    sums = np.cumsum(pmf / pmf.sum())
    return lambda k: np.where(
        k < start, 0.0, sums[np.clip(k - start, 0, sums.size - 1).astype(int)]
    )


class SamplerTests:
    """Conformance of a sampler of integers with one scale."""

    scales: ClassVar[tuple[float, ...]] = (0.7, 10.0, 1e3, 1e6)
    draws: ClassVar[int] = 100_000

    @abstractmethod
    def draw(self, n: int, scale: float) -> NDArray[np.int64]: ...

    @abstractmethod
    def cdf(self, scale: float) -> Cdf:
        """The stated law, at integers."""

    def test_it_has_its_stated_law(self) -> None:
        for scale in self.scales:
            assert fits(self.draw(self.draws, scale), self.cdf(scale), scale), scale

    def test_another_scale_would_be_noticed(self) -> None:
        for scale in self.scales:
            for factor in (0.7, 1.3):
                assert not fits(self.draw(self.draws, scale * factor), self.cdf(scale), scale), (
                    scale,
                    factor,
                )

    def test_no_two_draws_repeat_a_stream(self) -> None:
        first, second = (self.draw(1000, self.scales[-1]) for _ in range(2))
        assert not np.array_equal(first, second)
