"""Exact integer noise: ours beside OpenDP's, one thread, in one run. `python
benchmarks/noise.py [--draws 1000000]`

Prints millions of draws a second, the best of `--repeat` runs on both sides, and their
ratio. Tables are made and kernels compiled before the clock starts; the time of a first
table is in its own column.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import opendp.prelude as dp

from tacit.noise import discrete_gaussian, discrete_laplace
from tacit.noise.strips import Law, table

TARGET = 100.0


def best(run: Callable[[], object], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def theirs(law: Law, scale: float) -> dp.Measurement:
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if law == "gaussian":
        return dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), scale)
    return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1_000_000, help="length of the vector")
    parser.add_argument(
        "--repeat", type=int, default=2, help="runs of each, of which the best counts"
    )
    parser.add_argument("--scales", type=float, nargs="+", default=[10.0, 1e3, 1e6])
    args = parser.parse_args()
    dp.enable_features("contrib")
    zeros = np.zeros(args.draws, dtype=np.int64)
    discrete_gaussian(10, 5.0)  # compile

    print(f"{'law':9} {'scale':>9} {'table ms':>9} {'ours M/s':>9} {'OpenDP M/s':>11} {'ratio':>7}")
    lowest = np.inf
    for law, sampler in (("gaussian", discrete_gaussian), ("laplace", discrete_laplace)):
        for scale in args.scales:
            table.cache_clear()
            first = best(lambda law=law, scale=scale: table(law, scale), 1)
            # Noise and sum on both sides: OpenDP's measurement adds to its argument.
            ours = (
                args.draws
                / best(lambda f=sampler, s=scale: zeros + f(args.draws, s), args.repeat)
                / 1e6
            )
            mechanism = theirs(law, scale)
            other = args.draws / best(lambda m=mechanism: m(zeros), args.repeat) / 1e6
            lowest = min(lowest, ours / other)
            print(
                f"{law:9} {scale:9g} {1e3 * first:9.1f} {ours:9.1f} {other:11.3f} "
                f"{ours / other:7.0f}",
                flush=True,
            )
    print(
        f"lowest ratio {lowest:.0f} (target {TARGET:.0f}): "
        f"{'met' if lowest >= TARGET else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
