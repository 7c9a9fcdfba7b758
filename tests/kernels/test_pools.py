"""BLAS keeps to one thread, also one that was loaded meanwhile."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy  # noqa: F401  brings a BLAS
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tacit.kernels import pools


def threads_of_blas() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_every_blas_has_one_thread_inside_and_its_own_after() -> None:
    with threadpool_limits(2, user_api="blas"):
        with pools.one_blas_thread():
            assert threads_of_blas() == {1}
        assert threads_of_blas() == {2}


def test_pools_are_looked_for_again_once_a_module_was_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pools.one_blas_thread():
        known = pools.pools(len(sys.modules))
    assert pools.pools(len(sys.modules)) is known
    monkeypatch.setitem(sys.modules, "loaded_meanwhile", ModuleType("loaded"))
    assert pools.pools(len(sys.modules)) is not known
