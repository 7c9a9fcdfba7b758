"""Shared by all tests: a home of their own, and few fixed profiles for random examples."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Deterministic examples and no time limit: two busy cores must not turn a slow example into a failure.
settings.register_profile("small", deadline=None, derandomize=True, max_examples=40, database=None)
settings.register_profile(
    "full", deadline=None, max_examples=500, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("full" if os.environ.get("TACIT_FULL") else "small")


@pytest.fixture(autouse=True)
def tacit_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test may touch the real ledger, key or caches, not even through a default."""
    home = tmp_path_factory.mktemp("tacit-home")
    monkeypatch.setenv("TACIT_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def full() -> bool:
    """Whether the judged sizes were asked for (`scripts/test --full`)."""
    return bool(os.environ.get("TACIT_FULL"))


@pytest.fixture(scope="session")
def public_data() -> Path:
    """The folder of real public data sets, for the few tests that also look there."""
    folder = os.environ.get("TACIT_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("TACIT_DATA names no folder of public data sets")
    return Path(folder)
