"""Similarities of items from a noisy covariance and noisy gradients: cleaned, scaled,
stepped, chosen.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.spectrum import noise_edge, shrink_spectrum

Floats = NDArray[np.float64]
RANK_MAX = 40
"""Eigenvalues of a covariance that are kept at most."""
DIAGONAL_VARIANCE = 0.1
"""Of how far an item's own entry lies from the line that its weight draws, relative to it."""
LEAST_DIAGONAL = 0.3
"""As a share of that line."""
ERROR_SD = 0.2
"""Prior spread of the mean squared error around the public guess."""
LEAST_VARIANCE = 0.1
"""Of a rating around any prediction."""
STANDS_OUT = 2.0
"""In standard deviations of the noise: what a choice must gain before it replaces the item means.
"""
SCALES = (0.3, 1.0, 3.0)
"""Typical divisors that are tried against a floor of 1: from shrunk neighbourhoods to plain
weighted means."""
POWERS = (0.0, 1.0)
"""Similarities enter as s |s|^power: 1 makes a few strong neighbours out of many weak ones."""


def unpack(triangle: Floats, size: int, diagonal: float) -> Floats:
    """The symmetric matrix of an upper triangle (row by row, diagonal included), its
    diagonal times `diagonal`."""
    out = np.zeros((size, size))
    rows, columns = np.triu_indices(size)
    out[rows, columns] = triangle
    out[columns, rows] = triangle
    out[np.diag_indices(size)] *= diagonal
    return out


def cosine(covariance: Floats, noise_sd: float, weight: Floats) -> Floats:
    """Cosines from a noisy covariance: its cleaned spectrum over sqrt of its diagonal, 0 on
    the diagonal.

    The diagonal is proportional to `weight`, how much each item is rated, but for its own
    noise (sqrt 2 x noise_sd): it is shrunk to that line, so that a noisy zero never divides
    anything.
    """
    spectrum = shrink_spectrum(covariance, noise_sd, RANK_MAX)
    line = weight * max(float(covariance.diagonal().sum()), 1e-12) / max(float(weight.sum()), 1e-12)
    signal = DIAGONAL_VARIANCE * line**2
    shrinkage = signal / (signal + 2.0 * noise_sd**2 + 1e-300)
    shrunk_diagonal = line + shrinkage * (covariance.diagonal() - line)
    scale = np.maximum(shrunk_diagonal, LEAST_DIAGONAL * line + 1e-12)
    out = np.clip(spectrum.dense() / np.sqrt(scale[:, None] * scale), -1.0, 1.0)
    np.fill_diagonal(out, 0.0)
    return np.asarray(out)


def scaled(similarity: Floats, chance: Floats, divisor: float) -> Floats:
    """The similarities, multiplied so that a typical person's divisor is `divisor`;
    `chance` is that of each item to be among a person's ratings. Zero stays zero."""
    typical = float(chance @ (np.abs(similarity) @ chance)) / max(float(chance.sum()), 1e-12)
    return similarity * (divisor / typical) if typical > 1e-12 else similarity * 0.0


def powered(similarity: Floats, power: float) -> Floats:
    """s |s|^power."""
    return np.asarray(similarity * np.abs(similarity) ** power)


def clean_step(gradient: Floats, noise_sd: float) -> Floats:
    """A symmetric gradient without what its noise explains: eigenvalues of either sign
    beyond the edge, shrunk."""
    edge = noise_edge(noise_sd, len(gradient))
    values, vectors = np.linalg.eigh(gradient)
    cleaned = np.sign(values) * np.sqrt(np.maximum(values**2 - edge**2, 0.0))
    out = (vectors * cleaned) @ vectors.T
    np.fill_diagonal(out, 0.0)
    return np.asarray(out)


def choose(released: Floats, sd: Floats, people: float, noise: float) -> tuple[int | None, float]:
    """The candidate of least error, or None if none stands out of the noise; and the
    variance of a rating around it.

    `released` is the sum of people's rows (`sd`: the noise of each number): the squared
    error without neighbours, and what each candidate adds to it. The variance is shrunk to
    `noise`, the public guess.
    """
    means, posterior_variance = released / people, sd / people
    shrinkage = ERROR_SD**2 / (ERROR_SD**2 + float(posterior_variance[0]) ** 2)
    variance = noise + shrinkage * (float(means[0]) - noise)
    best = int(np.argmin(means[1:])) if len(means) > 1 else -1
    if best < 0 or not means[1 + best] < -STANDS_OUT * posterior_variance[1 + best]:
        return None, max(variance, LEAST_VARIANCE)
    return best, max(variance + float(means[1 + best]), LEAST_VARIANCE)
