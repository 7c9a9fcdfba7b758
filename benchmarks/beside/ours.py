"""What Tacit does in each comparison. Every job is made ready by `JOBS[name](data, threads)`, and
what comes back is run against the clock."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

FACTORS = 50
LISTS = 20
USER_FACTORS = 64
NOISY = 1_000_000
Data = dict[str, Any]
Run = Callable[[], Any]


def drawn(rows: int, width: int, seed: int = 1) -> np.ndarray:
    """Factors to begin with."""
    rng = np.random.default_rng(seed)
    return 0.1 * rng.standard_normal((rows, width), dtype=np.float32)


def shared_out(rows: int, threads: int, work: Callable[[int, int], Any]) -> None:
    """Rows in runs over threads."""
    step = max(1, rows // (8 * threads) + 1)
    with ThreadPoolExecutor(threads) as pool:
        starts = range(0, rows, step)
        list(pool.map(lambda a: work(a, min(a + step, rows)), starts))


def by_item(data: Data) -> Any:
    from tacit.kernels.order import by_item as ordered

    return ordered(data["ptr"], data["item"], int(data["items"]))


def gram(data: Data, threads: int) -> Run:
    from tacit.kernels import gram as found

    size = int(data["items"])
    value = (100 * (data["value"] - 3)).astype(np.int16)
    cells = found.arrange(data["ptr"], data["item"], value, size)

    def run() -> None:
        out = np.zeros((size, size), np.float32)

        def band(ends: tuple[int, int]) -> None:
            sums = np.empty((ends[1] - ends[0], size), np.int64)
            found.factor_band(cells, *ends, sums)
            out[ends[0] : ends[1]] = sums

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(band, found.bands(size)))
        found.mirror(out, threads)

    return run


def als(data: Data, threads: int) -> Run:
    """One epoch of explicit least squares."""
    from tacit.kernels.als import half_step

    order = by_item(data)
    value = (data["value"] - 3.5).astype(np.float32)
    rated = value[order.cell]
    people, items = len(data["ptr"]) - 1, int(data["items"])
    own, factors = drawn(people, FACTORS), drawn(items, FACTORS)
    ridges = [
        np.repeat(0.1 * np.diff(ptr)[:, None] + 1, FACTORS, 1).astype(np.float32)
        for ptr in (data["ptr"], order.ptr)
    ]

    def run() -> None:
        def person(a: int, b: int) -> None:
            half_step(data["ptr"], data["item"], value, factors, ridges[0], a, b, own)

        def item(a: int, b: int) -> None:
            half_step(order.ptr, order.person, rated, own, ridges[1], a, b, factors)

        shared_out(people, threads, person)
        shared_out(items, threads, item)

    return run


def likes(data: Data, threads: int) -> Run:
    """One epoch of implicit least squares, solved exactly."""
    from tacit.kernels.als import half_step_likes

    order = by_item(data)
    people, items = len(data["ptr"]) - 1, int(data["items"])
    own, factors = drawn(people, FACTORS), drawn(items, FACTORS)

    def run() -> None:
        sides = ((data["ptr"], data["item"], factors, own), (order.ptr, order.person, own, factors))
        for ptr, index, other, out in sides:
            everywhere = other.T @ other

            def work(
                a: int, b: int, each: Any = (ptr, index, other, everywhere), out: Any = out
            ) -> None:
                half_step_likes(*each, 40.0, 1.0, a, b, out)

            shared_out(len(ptr) - 1, threads, work)

    return run


def lists(data: Data, threads: int) -> Run:
    """The 20 best for everyone."""
    from tacit.kernels.topn import top_n_all

    people, items = len(data["ptr"]) - 1, int(data["items"])
    own, factors = drawn(people, USER_FACTORS), drawn(items, USER_FACTORS)

    def run() -> None:
        top_n_all(
            lambda first, last: own[first:last] @ factors.T,
            people,
            LISTS,
            data["ptr"],
            data["item"],
            threads=threads,
        )

    return run


def sgd(data: Data, threads: int) -> Run:
    """One epoch of biased gradient descent: people one after the other, on one thread."""
    from tacit.kernels.sgd import biased_epoch

    people, items = len(data["ptr"]) - 1, int(data["items"])
    value = (data["value"] - 3.5).astype(np.float32)
    bias = np.zeros(people, np.float32), np.zeros(items, np.float32)
    sides = drawn(people, FACTORS), drawn(items, FACTORS)
    order = np.random.default_rng(0).permutation(people)
    return lambda: biased_epoch(
        data["ptr"], data["item"], value, order, *bias, *sides, 0.005, 0.02, 0.02
    )


def svdpp(data: Data, threads: int) -> Run:
    """One epoch of SVD++ with 20 factors."""
    from tacit.kernels.svdpp import svdpp_epoch

    people, items = len(data["ptr"]) - 1, int(data["items"])
    value = (data["value"] - 3.5).astype(np.float32)
    bias = np.zeros(people, np.float32), np.zeros(items, np.float32)
    sides = drawn(people, 20), drawn(items, 20), drawn(items, 20)
    order = np.random.default_rng(0).permutation(people)
    return lambda: svdpp_epoch(
        data["ptr"], data["item"], value, order, *bias, *sides, 0.005, 0.02, 0.02
    )


def knn(data: Data, threads: int) -> Run:
    """Cosines of all items, and the 20 nearest of each."""
    make = gram_of_likes(data, threads)

    def run() -> None:
        found = make()
        norm = np.sqrt(np.maximum(found.diagonal(), 1.0))
        found /= norm
        found /= norm[:, None]
        np.fill_diagonal(found, -np.inf)
        np.argpartition(found, -LISTS, axis=1)[:, -LISTS:]

    return run


def gram_of_likes(data: Data, threads: int) -> Callable[[], np.ndarray]:
    """How often two items were rated by the same people."""
    from tacit.kernels import gram as found

    size = int(data["items"])
    ones = np.ones(len(data["item"]), np.int16)
    cells = found.arrange(data["ptr"], data["item"], ones, size)

    def run() -> np.ndarray:
        out = np.zeros((size, size), np.float32)

        def band(ends: tuple[int, int]) -> None:
            sums = np.empty((ends[1] - ends[0], size), np.int64)
            found.factor_band(cells, *ends, sums)
            out[ends[0] : ends[1]] = sums

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(band, found.bands(size)))
        found.mirror(out, threads)
        return out

    return run


def ease(data: Data, threads: int) -> Run:
    """Gram and inverse: the whole fit without noise."""
    make = gram_of_likes(data, threads)

    def run() -> None:
        from scipy.linalg import lapack

        found = make()
        found[np.diag_indices(len(found))] += 500.0
        factor, _ = lapack.spotrf(found, lower=1, overwrite_a=1)
        inverse, _ = lapack.spotri(factor, lower=1, overwrite_c=1)
        inverse /= -inverse.diagonal()

    return run


def noise(data: Data, threads: int) -> Run:
    """A million exact integers of a Gaussian."""
    from tacit.noise import discrete_gaussian

    return lambda: discrete_gaussian(NOISY, 1000.0)


def read(data: Data, threads: int) -> Run:
    """A csv, checked, with ids made dense, sorted by person."""
    from tacit.data.read import read as door

    path = str(data["csv"])
    return lambda: door(path, (1, 5))


def one_bit(data: Data, threads: int) -> Run:
    """A round of the local model: one bit of every person."""
    from tacit.fitting.run import trial
    from tacit.methods import find

    ratings = as_ratings(data)
    method = find("one-bit")
    made = method(epsilon=1.0, engine="simulate", threads=threads, rounds=1)
    return lambda: trial(made, ratings)


def as_ratings(data: Data) -> Any:
    """The table as Tacit holds it."""
    from tacit.data.ratings import Ratings
    from tacit.data.schema import Schema

    people, items = len(data["ptr"]) - 1, int(data["items"])
    return Ratings(
        Schema(1, 5),
        [str(k) for k in range(people)],
        [str(k) for k in range(items)],
        data["ptr"],
        data["item"],
        data["value"].astype(np.float32),
    )


def fold_in(data: Data, threads: int) -> Run:
    """A saved model is loaded, and a new person gets a list."""
    import tacit
    from tacit.methods import find

    folder = Path(tempfile.mkdtemp()) / "model"
    ratings = as_ratings(data)
    ledger = str(folder.parent / "ledger.sqlite")
    method = find("bayes")(epsilon=1.0, ledger=ledger, threads=threads)
    method.fit(ratings, users=ratings.n_users).model_.save(folder)
    mine = {str(k): 4.0 for k in range(20)}
    return lambda: tacit.load(folder).recommend(mine, n=10)


JOBS = {
    "gram": gram,
    "als": als,
    "implicit-als": likes,
    "top-n": lists,
    "sgd": sgd,
    "svdpp": svdpp,
    "knn": knn,
    "ease": ease,
    "noise": noise,
    "read": read,
    "one-bit": one_bit,
    "fold-in": fold_in,
}
