"""The laws that samplers are held against, and the tests of fit that hold them
(`tacit.testing.sampler`)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tacit.testing import sampler


@pytest.fixture(scope="session")
def fits() -> Callable[..., bool]:
    return sampler.fits


@pytest.fixture(scope="session")
def same() -> Callable[..., bool]:
    return sampler.same


@pytest.fixture(scope="session")
def cdfs() -> dict[str, Callable[..., sampler.Cdf]]:
    """`gaussian(sigma)`, `laplace(scale)` and `pmf(weights, first)`."""
    return {
        "gaussian": sampler.gaussian_cdf,
        "laplace": sampler.laplace_cdf,
        "pmf": sampler.pmf_cdf,
    }
