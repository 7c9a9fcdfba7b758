"""What a noisy symmetric matrix still says, read off its whole spectrum.

`tacit.methods.refine.spectrum` drops every eigenvalue below the noise's edge. But where a matrix
holds more than a few strong directions, eigenvectors below the edge lean toward them too, and
say so: they push the spectrum apart. Of all estimates that keep the eigenvectors, the one of
least squared error gives the eigenvalue l the value

    u'Gu = l - 2 M sd^2 h(l),    h(l) = mean over all eigenvalues l' of 1/(l - l')

for noise of variance sd^2 (Bun, Allez, Bouchaud & Potters 2016, "Rotational invariant estimator
for general noisy matrices"). It needs released numbers alone. Above the edge it is the rule of
that module; of pure noise it leaves nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.spectrum import Spectrum, noise_edge, shrink_spectrum

Array = NDArray[Any]
Floats = NDArray[np.float64]

SMOOTH = 0.5
"""h is smoothed over this share of edge/sqrt(M). Chosen on splits that are not reported:
docs/results/covariance.md (seen: .2 to 1.5)."""
LARGEST = 2000
"""Rows up to which all eigenvalues are found, which takes seconds. Above it a matrix is as
large as its catalogue allows, not as the noise does, and little lies below the edge."""


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
