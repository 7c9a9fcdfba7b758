"""The twin of `bayes`: its personal Gaussian model, fitted to all ratings without noise."""

from __future__ import annotations

from tacit.methods.noiseless.twin import GaussianTwin


class BayesTwin(GaussianTwin):
    """Effects, loadings and levels by variational Bayes, with public features where there
    are any. NOT PRIVATE."""
