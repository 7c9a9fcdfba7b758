"""The integer Gram against scipy's sparse product, alone and with its exact noise; lists
for everyone against implicit.

    python benchmarks/gram.py                                  # seeded ratings of ML-1M's
    shape, against scipy python benchmarks/gram.py --ratings ml-1m/ratings.dat      # the
    real ones python benchmarks/gram.py --shape ml-20m --threads 2       # large shapes:
    time and memory of ours alone python benchmarks/gram.py --shape netflix --threads 2

Noise is drawn as a fit draws it: through the engine's release, from a charged event. Lists
are the 20 best items of every person by 64 factors, without those already rated; the peer
is `implicit`'s ALS `recommend`, if it is installed.

Every measurement runs in a process of its own, so that its peak memory is its own. Ratios
are of processor time, which a busy machine does not change; both sides use one thread.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

SHAPES = {
    "ml-1m": (6_040, 3_706, 1_000_209),
    "ml-20m": (138_493, 26_744, 20_000_263),
    "netflix": (480_189, 17_770, 100_480_507),
}


@dataclass(frozen=True, eq=False)
class Table:
    """Ratings in user order, items ascending in each row."""

    items: int
    ptr: NDArray[np.int64]
    item: NDArray[np.uint32]
    value: NDArray[np.int16]
    """Half stars, 1 to 10."""


@njit(cache=True)
def _draw(people: Any, cumulative: Any, taste: Any, bias: Any, rng: Any) -> Any:
    """Each person's distinct items by popularity, and values from a two-factor model."""
    ptr = np.zeros(people.size + 1, np.int64)
    item = np.empty(people.sum(), np.uint32)
    value = np.empty(item.size, np.int16)
    at = 0
    seen = np.full(bias.size, -1, np.int64)
    for u in range(people.size):
        first = at
        for _ in range(people[u] * 4):
            if at - first == people[u]:
                break
            i = np.searchsorted(cumulative, rng.random())
            if seen[i] != u:
                seen[i] = u
                item[at] = i
                at += 1
        row = np.sort(item[first:at])
        item[first:at] = row
        shift = rng.standard_normal() * 0.45
        one = rng.standard_normal()
        two = rng.standard_normal()
        for k in range(first, at):
            i = item[k]
            star = (
                3.55
                + bias[i]
                + shift
                + one * taste[i, 0]
                + two * taste[i, 1]
                + rng.standard_normal() * 0.85
            )
            value[k] = min(max(int(np.round(2 * star)), 1), 10)
        ptr[u + 1] = at
    return ptr, item[:at].copy(), value[:at].copy()


def shaped(name: str, seed: int = 0) -> Table:
    """Seeded ratings with the numbers of people, items and ratings of a well-known set: a
    skewed popularity, a heavy tail of activity, item averages and two tastes.
    """
    users, items, ratings = SHAPES[name]
    rng = np.random.default_rng(seed)
    popularity = (np.arange(items) + 30.0) ** -1.1
    popularity = popularity[rng.permutation(items)]
    activity = np.exp(rng.normal(0, 1.1, users))
    people = np.clip(np.round(activity * (ratings / activity.sum())), 1, items // 3).astype(
        np.int64
    )
    spare = ratings - int(people.sum())
    people += max(spare, 0) // users
    taste = rng.normal(0, 0.3, (items, 2))
    bias = rng.normal(0, 0.4, items)
    ptr, item, value = _draw(people, np.cumsum(popularity) / popularity.sum(), taste, bias, rng)
    return Table(items, ptr, item, value)


def from_file(path: str) -> Table:
    """ML-1M's `user::item::rating::time`."""
    with open(path, encoding="latin-1") as lines:
        cells = np.array([line.split("::")[:3] for line in lines], dtype=np.int64)
    user, item = (np.unique(cells[:, column], return_inverse=True)[1] for column in (0, 1))
    order = np.lexsort((item, user))
    ptr = np.concatenate([[0], np.cumsum(np.bincount(user))]).astype(np.int64)
    return Table(
        int(item.max()) + 1,
        ptr,
        item[order].astype(np.uint32),
        (2 * cells[order, 2]).astype(np.int16),
    )


def ours(table: Table, threads: int, sigma: float | None) -> Callable[[], NDArray[np.float32]]:
    """The factor Gram of centred values at 100 steps, finished band by band into a mirrored
    float32 matrix."""
    from tacit.kernels import gram
    from tacit.ledger.account.event import Gaussian
    from tacit.noise.release import Charge, GramRelease, NoNoise

    cells = gram.arrange(
        table.ptr, table.item, ((table.value - 6) * 100 + 7).astype(np.int16), table.items
    )
    draws = table.items * (table.items + 1) // 2

    def run() -> NDArray[np.float32]:
        out = np.zeros((table.items, table.items), np.float32)
        charge: Charge = NoNoise()
        if sigma is not None:
            charge = Charge([Gaussian(name="gram", sensitivity=1.0, sigma=sigma, draws=draws)])
        opened = GramRelease("gram", table.items, True, 1, charge)

        def band(ends: tuple[int, int]) -> None:
            sums = np.empty((ends[1] - ends[0], table.items), np.int64)
            gram.factor_band(cells, *ends, sums)
            opened.band(ends[0], sums, out[ends[0] : ends[1]])

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(band, gram.bands(table.items)))
        gram.mirror(out)
        return out

    return run


def factors_of(table: Table) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    rng = np.random.default_rng(1)
    people = rng.standard_normal((len(table.ptr) - 1, 64), dtype=np.float32)
    return people, rng.standard_normal((table.items, 64), dtype=np.float32)


def lists(table: Table) -> Callable[[], NDArray[np.int32]]:
    from threadpoolctl import threadpool_limits

    from tacit.kernels.topn import top_n_all

    people, items = factors_of(table)

    def run() -> NDArray[np.int32]:
        with threadpool_limits(1):
            score = lambda first, last: people[first:last] @ items.T  # noqa: E731
            return top_n_all(score, len(people), 20, table.ptr, table.item)

    run()  # compiled before it is timed
    return run


def implicits(table: Table) -> Callable[[], NDArray[np.int32]]:
    """The same lists by `implicit`, whose model is given the factors instead of being trained."""
    import scipy.sparse as sparse
    from implicit.cpu.als import AlternatingLeastSquares
    from threadpoolctl import threadpool_limits

    model = AlternatingLeastSquares(factors=64, num_threads=1)
    model.user_factors, model.item_factors = factors_of(table)
    shape = len(table.ptr) - 1, table.items
    rated = sparse.csr_matrix(
        (np.ones(len(table.item), np.float32), table.item.astype(np.int32), table.ptr), shape
    )

    def run() -> NDArray[np.int32]:
        with threadpool_limits(1):
            found: NDArray[np.int32] = model.recommend(np.arange(shape[0]), rated, N=20)[0]
        return found

    return run


def scipys(table: Table) -> Callable[[], NDArray[np.float32]]:
    import scipy.sparse as sparse

    value = ((table.value - 6) * 100 + 7).astype(np.float32)
    index = (
        table.item.astype(np.int32),
        table.ptr.astype(np.int32),
    )  # scipy is fastest on 32-bit indices
    matrix = sparse.csr_matrix((value, *index), (len(table.ptr) - 1, table.items))

    def run() -> NDArray[np.float32]:
        dense: NDArray[np.float32] = (matrix.T @ matrix).toarray()
        return dense

    return run


def _measure(
    make: Callable[..., Callable[[], Any]], path: str, rest: tuple[Any, ...], best: int
) -> Any:
    with np.load(path) as saved:
        table = Table(int(saved["items"]), saved["ptr"], saved["item"], saved["value"])
    run = make(table, *rest)
    before, times = peak_memory(), []
    for _ in range(best):
        wall, used = time.perf_counter(), time.process_time()
        result = run()
        times.append((time.process_time() - used, time.perf_counter() - wall))
        del result
    return *min(times), peak_memory() - before, peak_memory()


def peak_memory() -> float:
    """MB, of this process alone (Linux; `ru_maxrss` would include what its parent once held)."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


def measure(label: str, make: Any, path: str, *rest: Any, best: int) -> tuple[float, float]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        used, wall, extra, peak = pool.apply(_measure, (make, path, rest, best))
    print(
        f"{label:34s} {used:8.3f} s CPU, {wall:8.3f} s, {extra:7.0f} MB more, {peak:7.0f} "
        "MB in all",
        flush=True,
    )
    return used, extra


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shape", choices=SHAPES, default="ml-1m")
    parser.add_argument("--ratings", help="ML-1M's ratings.dat instead of seeded ratings")
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    small = bool(chosen.ratings) or chosen.shape == "ml-1m"
    best = 15 if small else 1
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/table.npz"
        table = from_file(chosen.ratings) if chosen.ratings else shaped(chosen.shape)
        np.savez(path, items=table.items, ptr=table.ptr, item=table.item, value=table.value)
        print(
            f"{len(table.ptr) - 1:,} people, {table.items:,} items, {len(table.item):,} ratings",
            flush=True,
        )
        del table
        threads = chosen.threads
        plain = measure(f"tacit, {threads} thread(s)", ours, path, threads, None, best=best)
        noisy = measure("tacit with exact Gaussian noise", ours, path, threads, 5e4, best=best)
        if small:
            peer = measure("scipy sparse X.T @ X to float32", scipys, path, best=best)
            print(f"faster: {peer[0] / plain[0]:.1f} x, with noise {peer[0] / noisy[0]:.1f} x")
            print(
                f"memory: {plain[1] / max(peer[1], 1):.2f} of scipy's, with noise "
                f"{noisy[1] / max(peer[1], 1):.2f}"
            )
            listed = measure("tacit, top 20 for everyone", lists, path, best=best)
            if find_spec("implicit") is None:
                print("implicit is not installed: no comparison of lists")
            else:
                peer = measure("implicit, top 20 for everyone", implicits, path, best=best)
                print(f"lists: {peer[0] / listed[0]:.1f} x implicit")


if __name__ == "__main__":
    main()
