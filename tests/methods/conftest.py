"""Accuracy is asked on the same draws of noise in every run: a limit that a lucky fit meets and an
unlucky one misses says nothing. Laws of noise are tested in tests/statistical, promises with fresh
noise by the conformance classes and wherever a test is marked `fresh_noise`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tacit.testing import inject_bits

SEED = 20
"""Of the noise."""


@pytest.fixture(autouse=True)
def steady_noise(request: pytest.FixtureRequest) -> Iterator[None]:
    """The same noise in every run, but for conformance classes and tests that ask for fresh one."""
    if request.cls is not None or request.node.get_closest_marker("fresh_noise"):
        yield
        return
    with inject_bits(np.random.default_rng(SEED).bytes):
        yield
