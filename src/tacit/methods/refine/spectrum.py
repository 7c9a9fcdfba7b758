"""What a noisy symmetric matrix of items still says: its spectrum, cleaned by rule from the
known noise level.

Everything here is post-processing of released numbers and costs no budget. With independent
noise of standard deviation `noise_sd` off the diagonal of an M x M matrix, the noise alone
has eigenvalues up to the *edge* 2 noise_sd sqrt(M) (Wigner's semicircle). A true eigenvalue
t > edge/2 shows up at t + (edge/2)^2/t with a vector whose squared cosine with the true one
is 1 - (edge/2)^2/t^2, and the shrinkage of least squared error is their product, sqrt(l^2 -
edge^2). Anything below the edge is noise and is dropped, so a matrix that says nothing
cleans itself to nothing.

A float64 matrix is decomposed by LAPACK. A float32 one by subspace iteration, which is
fast: eigenvalues well above the noise are as exact as float32, those at the edge, which the
shrinkage all but removes, to a few per cent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError

Array = NDArray[Any]
Floats = NDArray[np.float64]
SMOOTH = 0.5
"""h is smoothed over this share of edge/sqrt(M). Chosen on splits that are not reported:
docs/results/covariance.md (seen: .2 to 1.5)."""
LARGEST = 2000
"""Rows up to which all eigenvalues are found, which takes seconds. Above it a matrix is as
large as its catalogue allows, not as the noise does, and little lies below the edge."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A low-rank symmetric matrix: `vectors` (items x rank) times `values` (descending,
    positive) times vectors'."""

    values: Array
    vectors: Array

    @property
    def rank(self) -> int:
        """Number of eigenvalues that were retained."""
        return len(self.values)

    @property
    def loadings(self) -> Array:
        """L with L L' equal to the matrix: one row an item; the compact download of a client."""
        return np.asarray(self.vectors * np.sqrt(self.values))

    def diagonal(self) -> Array:
        """Diagonal of the matrix."""
        return np.asarray((self.vectors * self.vectors) @ self.values)

    def dense(self) -> Array:
        """The matrix itself, items x items."""
        return np.asarray((self.vectors * self.values) @ self.vectors.T)


def noise_edge(noise_sd: float, size: int) -> float:
    """The largest eigenvalue that symmetric noise of this standard deviation reaches in
    this many dimensions."""
    return 2.0 * noise_sd * float(np.sqrt(size))


def leading(
    matrix: Array, rank: int, *, near: Array | None = None, rounds: int = 3
) -> tuple[Array, Array]:
    """The `rank` algebraically largest eigenvalues, descending, and their vectors; deterministic.

    `near`: vectors to start from when a matrix hardly differs from one already decomposed.
    """
    size = len(matrix)
    rank = min(rank, size)
    if rank == 0:
        return np.zeros(0, matrix.dtype), np.zeros((size, 0), matrix.dtype)
    if matrix.dtype != np.float32 or size <= 4 * rank + 40:
        from scipy.linalg import eigh

        values, vectors = eigh(matrix, subset_by_index=[size - rank, size - 1])
        return values[::-1], vectors[:, ::-1]
    # What clears the edge is larger than the noise's eigenvalues of either sign, so little
    # room beyond `rank` will do.
    width = min(size, rank + max(20, rank // 3))
    basis = np.random.default_rng(0).standard_normal((size, width), dtype=np.float32)
    if near is not None:
        basis[:, : near.shape[1]] = near * np.float32(np.sqrt(size))
    for _ in range(rounds if near is None else 1):
        basis = np.linalg.qr(matrix @ (matrix @ basis))[0]
    product = matrix @ basis
    small = basis.T @ product
    values, rotation = np.linalg.eigh((small + small.T) / 2)
    return values[::-1][:rank], np.asarray(basis @ rotation[:, ::-1][:, :rank])


def shrink_spectrum(
    matrix: Array,
    noise_sd: float,
    rank_max: int = 60,
    *,
    impute: bool = True,
    passes: int = 2,
    margin: float = 1.0,
) -> Spectrum:
    """Keep the eigenvalues that clear the noise, shrunk to sqrt(l^2 - edge^2).

    `impute`: the diagonal was never released; it is filled with that of the low-rank fit,
    `passes` times. An eigenvalue must clear the edge by `margin` M^(-2/3), the width of the
    edge's own fluctuation (Tracy-Widom), to be believed.
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise SettingError(f"a spectrum needs a square matrix, not one of shape {matrix.shape}")
    if not noise_sd >= 0:
        raise SettingError(f"noise_sd must be 0 or more, not {noise_sd}")
    size = len(matrix)
    edge = noise_edge(noise_sd, size)
    believed = edge * (1.0 + margin * max(size, 1) ** (-2.0 / 3.0))
    work = matrix.copy() if impute else matrix
    if impute:
        np.fill_diagonal(work, 0.0)
    spectrum = Spectrum(np.zeros(0, matrix.dtype), np.zeros((size, 0), matrix.dtype))
    vectors = None
    for sweep in range(1 + passes if impute else 1):
        values, vectors = leading(work, rank_max, near=vectors)
        # With no noise at all, rounding is the floor.
        keep = values > max(
            believed, float(np.finfo(matrix.dtype).eps) * size * float(values[:1].sum())
        )
        spectrum = Spectrum(np.sqrt(values[keep] ** 2 - edge**2), vectors[:, keep])
        if impute and sweep < passes:
            np.fill_diagonal(work, spectrum.diagonal())
    return spectrum


def project_psd(matrix: Array) -> Array:
    """The nearest positive semi-definite matrix: negative eigenvalues set to zero."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def paper_average(
    covariance: Array, weight: Array, shrink_diagonal: float, shrink_off: float
) -> Array:
    """McSherry & Mironov's *shrinking to the average*, the diagonal and the rest apart.

    Avg_ij = (Cov_ij + b mean Cov) / (Wgt_ij + b mean Wgt). A noisy weight may be negative:
    the divisor is kept at a thousandth of the mean weight or more.
    """
    size = len(covariance)
    off = ~np.eye(size, dtype=bool)
    out = np.empty_like(covariance)
    for part, pull in ((~off, shrink_diagonal), (off, shrink_off)):
        cov, wgt = covariance[part], weight[part]
        if cov.size:
            mean = float(np.abs(wgt.mean()))
            out[part] = (cov + pull * cov.mean()) / np.maximum(
                wgt + pull * wgt.mean(), 1e-3 * mean + 1e-12
            )
    return out


def paper_clean(
    covariance: Array,
    weight: Array,
    counts: Array,
    *,
    rank: int = 20,
    shrink_diagonal: float = 25.0,
    shrink_off: float = 25.0,
) -> Array:
    """The paper's cleaning: shrink to the average, scale by sqrt(counts), rank-k, unscale.
    Loadings L, Avg = L L'."""
    scale = np.sqrt(np.maximum(counts, 1.0)).astype(covariance.dtype)
    average = paper_average(covariance, weight, shrink_diagonal, shrink_off)
    values, vectors = leading(average * scale[:, None] * scale, rank)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)) / scale[:, None])


# What a noisy symmetric matrix still says, read off its whole spectrum.
#
# The rule above drops every eigenvalue below the noise's edge. But where a matrix
# holds more than a few strong directions, eigenvectors below the edge lean toward them too, and
# say so: they push the spectrum apart. Of all estimates that keep the eigenvectors, the one of
# least squared error gives the eigenvalue l the value
#
#     u'Gu = l - 2 M sd^2 h(l),    h(l) = mean over all eigenvalues l' of 1/(l - l')
#
# for noise of variance sd^2 (Bun, Allez, Bouchaud & Potters 2016, "Rotational invariant estimator
# for general noisy matrices"). It needs released numbers alone. Above the edge it is the rule of
# that module; of pure noise it leaves nothing.


def shrink_whole_spectrum(
    matrix: Array, noise_sd: float, rank_max: int = 60, *, margin: float = 1.0
) -> Spectrum:
    """The at most `rank_max` leading directions, each with the value that it is worth.

    The diagonal was never released: it is filled with that of a first estimate. A matrix none
    of whose eigenvalues clears the edge by `margin` (see `shrink_spectrum`) says nothing.
    """
    size = len(matrix)
    if size > LARGEST or not noise_sd > 0:
        return shrink_spectrum(matrix, noise_sd, rank_max, margin=margin)
    edge = noise_edge(noise_sd, size)
    believed = edge * (1.0 + margin * max(size, 1) ** (-2.0 / 3.0))
    work = matrix.copy()
    np.fill_diagonal(work, 0.0)
    spectrum = _shrink(work, edge, believed, rank_max)
    np.fill_diagonal(work, spectrum.diagonal())
    return _shrink(work, edge, believed, rank_max)


def _shrink(matrix: Array, edge: float, believed: float, rank_max: int) -> Spectrum:
    values, vectors = np.linalg.eigh(matrix)
    values, vectors = values[::-1], vectors[:, ::-1]
    if not len(values) or values[0] <= believed:
        return Spectrum(values[:0], vectors[:, :0])
    plan_report = _worth(values.astype(np.float64), edge, rank_max)
    # A direction is worth no more than one that stands out further.
    plan_report = np.minimum.accumulate(plan_report)
    positive = plan_report > 0
    return Spectrum(plan_report[positive].astype(matrix.dtype), vectors[:, :rank_max][:, positive])


def _worth(values: Floats, edge: float, rank_max: int) -> Floats:
    """u'Gu of the leading eigenvectors."""
    smooth = SMOOTH * edge / np.sqrt(len(values))
    leading_values = values[:rank_max]
    gaps = leading_values[:, None] - values
    pushed = (gaps / (gaps**2 + smooth**2)).mean(axis=1)
    plan_report = leading_values - edge**2 / 2 * pushed
    # What smoothing leaves of pure noise: its own h at l + i smooth, in closed form.
    noise_worth = np.sqrt((leading_values + 1j * smooth) ** 2 - edge**2).real
    return np.asarray(plan_report - np.where(leading_values < edge, np.abs(noise_worth), 0.0))
