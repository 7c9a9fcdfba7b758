"""Products and solves in a fixed order: what numpy's are, without BLAS and LAPACK."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.kernels.fixed_order import BLOCK, inverse, product, solve, spread, steady_solve
from tacit.kernels.ridge_weights import steady_weights

SHAPES = [
    ((7,), (7,)),
    ((0,), (0,)),
    ((5, 7), (7,)),
    ((5, 0), (0,)),
    ((BLOCK // 100 + 3, 200), (200,)),
    ((7,), (7, 4)),
    ((0,), (0, 4)),
    ((5, 7), (7, 4)),
    ((5, 0), (0, 4)),
]


@pytest.mark.parametrize(("left", "right"), SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_products(left: tuple[int, ...], right: tuple[int, ...], dtype: type) -> None:
    rng = np.random.default_rng(0)
    one, other = (rng.standard_normal(shape).astype(dtype) for shape in (left, right))
    found = product(one, other)
    assert found.dtype == np.float64
    assert found.shape == (one @ other).shape
    wanted = one.astype(np.float64) @ other.astype(np.float64)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_spreads() -> None:
    rng = np.random.default_rng(1)
    rows, some = rng.standard_normal((BLOCK // 5 + 7, 6)), rng.standard_normal((9, 6))
    covariance = some.T @ some
    wanted = np.einsum("ij,jk,ik->i", rows, covariance, rows)
    np.testing.assert_allclose(spread(rows, covariance), wanted, rtol=1e-11)


@pytest.mark.parametrize("columns", [(), (1,), (5,)])
def test_a_solve_needs_no_order_of_pivots(columns: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    system, right = rng.standard_normal((9, 9)), rng.standard_normal((9, *columns))
    system[0, 0] = 0.0
    before = system.copy(), right.copy()
    np.testing.assert_allclose(solve(system, right), np.linalg.solve(system, right), rtol=1e-9)
    assert all(map(np.array_equal, before, (system, right)))


def test_inverses() -> None:
    some = np.random.default_rng(5).standard_normal((12, 9))
    system = np.eye(9) + some.T @ some
    before = system.copy()
    np.testing.assert_allclose(inverse(system), np.linalg.inv(system), rtol=1e-9, atol=1e-12)
    assert np.array_equal(before, system)


def test_a_stack_is_solved_as_one_by_one() -> None:
    rng = np.random.default_rng(3)
    systems, rights = rng.standard_normal((6, 4, 4)), rng.standard_normal((6, 4))
    found = solve(systems, rights)
    for system, right, each in zip(systems, rights, found, strict=True):
        assert np.array_equal(solve(system, right), each)
    assert solve(np.zeros((0, 4, 4)), np.zeros((0, 4))).shape == (0, 4)
    assert solve(np.zeros((3, 0, 0)), np.zeros((3, 0))).shape == (3, 0)


def test_no_solution_is_said_as_numpy_says_it() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        solve(np.ones((2, 2)), np.ones(2))
    with pytest.raises(np.linalg.LinAlgError):
        solve(np.zeros((3, 2, 2)), np.ones((3, 2)))


def test_steady_systems_are_those_of_the_compiled_twin() -> None:
    rng = np.random.default_rng(4)
    halved = 0
    for size in range(1, 8):
        some = rng.standard_normal((20, size, 3))
        off = 0.1 * rng.standard_normal((20, size, size))
        systems = some @ some.transpose(0, 2, 1) + off + off.transpose(0, 2, 1)
        systems += rng.uniform(0.01, 0.5, (20, 1, 1)) * np.eye(size)
        rights, counts = rng.standard_normal((20, size)), rng.integers(0, size + 1, 20)
        found = steady_solve(systems, rights, counts, 0.1)
        for system, right, count, each in zip(systems, rights, counts, found, strict=True):
            wanted = steady_weights(np.ascontiguousarray(system[:count, :count]), right[:count])
            halved += bool(count and not wanted[-1])
            np.testing.assert_allclose(each[:count], wanted, atol=1e-9)
            assert not each[count:].any()
    assert halved > 10
