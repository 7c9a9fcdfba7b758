"""What peers do in each comparison, by their own interpreters: nothing here needs Tacit.

`JOBS["job:peer"](data, threads)` makes a run ready. Where a peer only offers whole fits, one epoch
is what some epochs more cost.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

FACTORS = 50
Data = dict[str, Any]
Run = Callable[[], Any]


class Seconds(float):
    """What a run says that it took."""


def now() -> float:
    """By the clock; of processors where others compute on this machine (`compare.py`)."""
    if os.environ.get("BESIDE_PROCESSOR"):
        return time.process_time()
    return time.perf_counter()


def drawn(rows: int, width: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    return 0.1 * rng.standard_normal((rows, width), dtype=np.float32)


def sparse(data: Data, value: np.ndarray) -> Any:
    from scipy.sparse import csr_matrix

    shape = len(data["ptr"]) - 1, int(data["items"])
    index = data["item"].astype(np.int32), data["ptr"].astype(np.int32)
    return csr_matrix((value, *index), shape)


def triples(data: Data) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ptr = data["ptr"]
    user = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    return user, data["item"].astype(np.int64), data["value"].astype(float)


def frame(data: Data, *names: str) -> Any:
    import pandas as pd

    return pd.DataFrame(dict(zip(names, triples(data), strict=True)))


def epoch(fit: Callable[[int], object], few: int, many: int) -> Run:
    """Seconds of one epoch: what more of them cost."""

    def run() -> Seconds:
        spent = []
        for epochs in (few, many):
            start = now()
            fit(epochs)
            spent.append(now() - start)
        return Seconds((spent[1] - spent[0]) / (many - few))

    return run


def gram_scipy(data: Data, threads: int) -> Run:
    matrix = sparse(data, (100 * (data["value"] - 3)).astype(np.float32))
    return lambda: (matrix.T @ matrix).toarray()


def gram_blas(data: Data, threads: int) -> Run:
    matrix = sparse(data, (data["value"] - 3).astype(np.float32)).toarray()
    return lambda: matrix.T @ matrix


def als_lenskit(data: Data, threads: int) -> Run:
    import torch
    from lenskit.als import BiasedMFScorer
    from lenskit.data import from_interactions_df
    from lenskit.training import TrainingOptions

    torch.set_num_threads(threads)
    rated = from_interactions_df(frame(data, "user_id", "item_id", "rating"))

    def fit(epochs: int) -> None:
        made = BiasedMFScorer(features=FACTORS, epochs=epochs)
        made.train(rated, TrainingOptions())

    return epoch(fit, 1, 4)


def likes_implicit(data: Data, threads: int) -> Run:
    from implicit.cpu.als import AlternatingLeastSquares

    ones = sparse(data, np.full(len(data["item"]), 40.0, np.float32))

    def fit(epochs: int) -> None:
        made = AlternatingLeastSquares(
            factors=FACTORS,
            iterations=epochs,
            num_threads=threads,
            use_cg=False,
            regularization=1.0,
        )
        made.fit(ones, show_progress=False)

    return epoch(fit, 1, 3)


def lists_implicit(data: Data, threads: int) -> Run:
    from implicit.cpu.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(factors=64, num_threads=threads)
    people, items = len(data["ptr"]) - 1, int(data["items"])
    model.user_factors, model.item_factors = drawn(people, 64), drawn(items, 64)
    rated = sparse(data, np.ones(len(data["item"]), np.float32))
    return lambda: model.recommend(np.arange(people), rated, N=20)


def sgd_cornac(data: Data, threads: int) -> Run:
    from cornac.data import Dataset
    from cornac.models import MF

    rows = zip(*(each.tolist() for each in triples(data)), strict=True)
    rated = Dataset.from_uir(list(rows), seed=0)

    def fit(epochs: int) -> None:
        MF(k=FACTORS, max_iter=epochs, num_threads=threads, early_stop=False, verbose=False).fit(
            rated
        )

    return epoch(fit, 2, 22)


def svdpp_surprise(data: Data, threads: int) -> Run:
    from surprise import Dataset, Reader, SVDpp

    rated = Dataset.load_from_df(
        frame(data, "user", "item", "rating"), Reader(rating_scale=(1, 5))
    ).build_full_trainset()
    return lambda: SVDpp(n_factors=20, n_epochs=1).fit(rated)


def knn_implicit(data: Data, threads: int) -> Run:
    from implicit.nearest_neighbours import CosineRecommender

    ones = sparse(data, np.ones(len(data["item"]), np.float32))
    model = CosineRecommender(K=20, num_threads=threads)
    return lambda: model.fit(ones, show_progress=False)


def knn_lenskit(data: Data, threads: int) -> Run:
    from lenskit.data import from_interactions_df
    from lenskit.knn import ItemKNNScorer
    from lenskit.training import TrainingOptions

    rated = from_interactions_df(frame(data, "user_id", "item_id", "rating"))
    return lambda: ItemKNNScorer(max_nbrs=20, feedback="implicit").train(rated, TrainingOptions())


def ease_numpy(data: Data, threads: int) -> Run:
    matrix = sparse(data, np.ones(len(data["item"]), np.float32))

    def run() -> None:
        gram = (matrix.T @ matrix).toarray()
        gram[np.diag_indices(len(gram))] += 500.0
        inverse = np.linalg.inv(gram)
        inverse /= -np.diag(inverse)

    return run


def ease_rectools(data: Data, threads: int) -> Run:
    from rectools.dataset import Dataset
    from rectools.models import EASEModel

    table = frame(data, "user_id", "item_id", "weight")
    table["datetime"] = "2020-01-01"
    rated = Dataset.construct(table)
    return lambda: EASEModel(regularization=500.0).fit(rated)


def noise_opendp(data: Data, threads: int) -> Run:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    drawn_by = dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), 1000.0)
    zeros = np.zeros(100_000, np.int64)

    def run() -> Seconds:
        start = now()
        drawn_by(zeros)
        return Seconds(10 * (now() - start))

    return run


def noise_tumult(data: Data, threads: int) -> Run:
    from tmlt.core.random.discrete_gaussian import sample_dgauss
    from tmlt.core.utils.distributions import discrete_gaussian_pmf  # noqa: F401

    def run() -> Seconds:
        start = now()
        for _ in range(1000):
            sample_dgauss(1_000_000)
        return Seconds(1000 * (now() - start))

    return run


def read_polars(data: Data, threads: int) -> Run:
    import polars as pl

    path = str(data["csv"])
    return lambda: pl.read_csv(path).sort("user", "item")


def read_pandas(data: Data, threads: int) -> Run:
    import pandas as pd

    path = str(data["csv"])
    return lambda: pd.read_csv(path).sort_values(["user", "item"])


def fold_in_implicit(data: Data, threads: int) -> Run:
    from implicit.cpu.als import AlternatingLeastSquares
    from scipy.sparse import csr_matrix

    ones = sparse(data, np.ones(len(data["item"]), np.float32))
    model = AlternatingLeastSquares(factors=FACTORS, iterations=1)
    model.fit(ones, show_progress=False)
    path = tempfile.mkdtemp() + "/model.npz"
    model.save(path)
    mine = csr_matrix(
        (np.ones(20, np.float32), (np.zeros(20, int), np.arange(20))), (1, int(data["items"]))
    )

    def run() -> None:
        found = AlternatingLeastSquares.load(path)
        found.recommend(0, mine, N=10, recalculate_user=True)

    return run


JOBS = {
    "gram:frames": gram_scipy,
    "gram-blas:frames": gram_blas,
    "als:lenskit": als_lenskit,
    "implicit-als:implicit": likes_implicit,
    "top-n:implicit": lists_implicit,
    "sgd:cornac": sgd_cornac,
    "svdpp:surprise": svdpp_surprise,
    "knn:implicit": knn_implicit,
    "knn:lenskit": knn_lenskit,
    "ease:frames": ease_numpy,
    "ease:rectools": ease_rectools,
    "noise:opendp": noise_opendp,
    "noise:tumult": noise_tumult,
    "read-polars:frames": read_polars,
    "read-pandas:frames": read_pandas,
    "fold-in:implicit": fold_in_implicit,
}
