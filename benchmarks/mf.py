"""Epochs of the factorization kernels beside their peers, one thread, in one run: python
benchmarks/mf.py RATINGS.

Peers (LensKit, cornac, Surprise) are timed where they can be imported; `--peer PYTHON`
names another interpreter that has them. Times are processor seconds of one epoch, the
median of a few, so a busy machine matters less.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

for name in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "LK_NUM_THREADS",
):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

FACTORS = {"als": 50, "svd": 50, "svdpp": 20}


def timed(work: Callable[[], object], times: int = 5) -> float:
    work()  # compile, warm up
    found = []
    for _ in range(times):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return statistics.median(found)


def ours(path: str) -> dict[str, float]:
    from threadpoolctl import threadpool_limits

    import tacit
    from tacit.kernels.als import half_step
    from tacit.kernels.sgd import biased_epoch
    from tacit.kernels.svdpp import svdpp_epoch

    data = tacit.read(path)
    order, rng = data.by_item, np.random.default_rng(0)
    value = (data.value - data.value.mean()).astype(np.float32)
    by_item = value[order.cell]
    people, items = data.n_users, data.n_items

    def draw(rows: int, width: int) -> np.ndarray:
        return (rng.standard_normal((rows, width)) * 0.1).astype(np.float32)

    def als() -> None:
        d = FACTORS["als"]
        half_step(data.ptr, data.item, value, factors, ridge_people, 0, people, own)
        half_step(order.ptr, order.user, by_item, own, ridge_items, 0, items, factors)
        assert d == factors.shape[1]

    own, factors = draw(people, FACTORS["als"]), draw(items, FACTORS["als"])
    ridge_people = np.repeat(0.1 * np.diff(data.ptr)[:, None] + 1, FACTORS["als"], 1).astype(
        np.float32
    )
    ridge_items = np.repeat(0.1 * np.diff(order.ptr)[:, None] + 1, FACTORS["als"], 1).astype(
        np.float32
    )
    found = {}
    with threadpool_limits(1):
        found["als"] = timed(als)
    bias = np.zeros(people, np.float32), np.zeros(items, np.float32)
    svd = draw(people, FACTORS["svd"]), draw(items, FACTORS["svd"])
    everyone = rng.permutation(people)
    found["svd"] = timed(
        lambda: biased_epoch(data.ptr, data.item, value, everyone, *bias, *svd, 0.005, 0.02, 0.02)
    )
    plus = (
        draw(people, FACTORS["svdpp"]),
        draw(items, FACTORS["svdpp"]),
        draw(items, FACTORS["svdpp"]),
    )
    found["svdpp"] = timed(
        lambda: svdpp_epoch(data.ptr, data.item, value, everyone, *bias, *plus, 0.005, 0.02, 0.02)
    )
    return found


def triples(path: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """People, items and ratings of a MovieLens folder or a `user item rating` table,
    without Tacit."""
    from pathlib import Path

    file = Path(path)
    for name in ("ratings.dat", "u.data"):
        if (file / name).is_file():
            file = file / name
    text = file.read_text().replace("::", "\t").replace(",", "\t")
    table = np.array(
        [line.split("\t")[:3] for line in text.splitlines() if line[:1].isdigit()], np.float64
    )
    return (table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2])


def difference(fit: Callable[[int], object], few: int, many: int) -> float:
    """Seconds of one epoch: what more epochs cost, so that setting up does not count."""
    spent = []
    for epochs in (few, few, many):  # the first only warms up
        start = time.process_time()
        fit(epochs)
        spent.append(time.process_time() - start)
    return (spent[2] - spent[1]) / (many - few)


def lenskit(path: str) -> float:
    import pandas as pd
    from lenskit.als import BiasedMFScorer
    from lenskit.data import from_interactions_df
    from lenskit.training import TrainingOptions

    user, item, rating = triples(path)
    data = from_interactions_df(pd.DataFrame({"user_id": user, "item_id": item, "rating": rating}))

    def fit(epochs: int) -> None:
        BiasedMFScorer(features=FACTORS["als"], epochs=epochs).train(data, TrainingOptions())

    return difference(fit, 2, 8)


def cornac(path: str) -> float:
    from cornac.data import Dataset
    from cornac.models import MF

    user, item, rating = triples(path)
    data = Dataset.from_uir(
        list(zip(user.tolist(), item.tolist(), rating.tolist(), strict=True)), seed=0
    )
    return difference(
        lambda epochs: MF(
            k=FACTORS["svd"], max_iter=epochs, num_threads=1, early_stop=False, verbose=False
        ).fit(data),
        5,
        45,
    )


def surprise(path: str) -> float:
    import pandas as pd
    from surprise import Dataset, Reader, SVDpp

    user, item, rating = triples(path)
    frame = pd.DataFrame({"user": user, "item": item, "rating": rating})
    data = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    start = time.process_time()
    SVDpp(n_factors=FACTORS["svdpp"], n_epochs=1).fit(data)
    return time.process_time() - start


PEERS = {
    "als": ("LensKit BiasedMF", lenskit),
    "svd": ("cornac MF", cornac),
    "svdpp": ("Surprise SVD++", surprise),
}


def peers(path: str) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for name, (_, run) in PEERS.items():
        try:
            found[name] = run(path)
        except Exception as error:  # noqa: BLE001 - a peer that is absent or broken is reported, not fatal
            found[name] = f"not measured ({type(error).__name__}: {str(error)[:60]})"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings")
    parser.add_argument("--peer", help="a Python that has the peers installed")
    parser.add_argument("--only-peers", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only_peers:
        print(json.dumps(peers(options.ratings)))
        return
    mine = ours(options.ratings)
    if options.peer:
        command = [options.peer, __file__, options.ratings, "--only-peers"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        theirs = json.loads(answer.stdout.splitlines()[-1])
    else:
        theirs = peers(options.ratings)
    print("| epoch | factors | here, s | peer | peer, s | here / peer |\n|---|---|---|---|---|---|")
    for name, (label, _) in PEERS.items():
        other = theirs[name]
        ratio = f"{mine[name] / other:.3f}" if isinstance(other, float) else "-"
        shown = f"{other:.3f}" if isinstance(other, float) else other
        print(f"| {name} | {FACTORS[name]} | {mine[name]:.3f} | {label} | {shown} | {ratio} |")


if __name__ == "__main__":
    sys.exit(main())
