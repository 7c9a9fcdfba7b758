"""The local model, measured: `scale` for time and memory at the size of the paper, `figures
DATA` for its experiments.

    python benchmarks/one_bit.py scale
    python benchmarks/one_bit.py figures ../data/ml-1m --seeds 3

`scale` makes seeded synthetic ratings of 138,493 people, 26,744 items and 20 million
ratings. `figures` prints RMSE against epsilon and against k, the F-score of the top 10
against the non-private top 10, the distribution of errors, the largest error of the item
factors, and the traffic of a round. NOT PRIVATE: it compares with raw ratings.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np

from tacit.evaluation.sweep import measure

PEOPLE = 138_493
ITEMS = 26_744
RATINGS = 20_000_263


def synthetic(
    people: int = PEOPLE, items: int = ITEMS, ratings: int = RATINGS, seed: int = 0
) -> Any:
    """Ratings with a long tail of items and of people, a level for each, and noise; half
    stars from .5 to 5."""
    from tacit.data.ratings import Ratings
    from tacit.data.schema import Schema

    rng = np.random.default_rng(seed)
    busy = rng.lognormal(0.0, 1.1, people) + 0.14
    popular = (np.arange(items) + 30.0) ** -1.2
    edges = np.cumsum(popular) / popular.sum()
    counts = np.maximum(1, busy / busy.sum() * ratings * 1.35).astype(np.int64)
    cells = []
    for start in range(0, people, 8192):  # a block of people at a time: draw items, drop repeats
        block = counts[start : start + 8192]
        who = np.repeat(np.arange(len(block), dtype=np.int64), block)
        found = np.searchsorted(edges, rng.random(len(who))).clip(0, items - 1)
        cells.append(np.unique(who * items + found) + start * items)
    key = np.concatenate(cells)
    if len(key) > ratings:
        key = np.delete(key, rng.choice(len(key), len(key) - ratings, replace=False))
    user, item = key // items, (key % items).astype(np.uint32)
    del key, cells
    level, quality = rng.normal(0, 0.4, people), rng.normal(0, 0.4, items)
    value = 3.5 + level[user] + quality[item]
    value += rng.normal(0, 0.8, len(user))
    np.clip(np.round(2 * value, out=value), 1, 10, out=value)
    ptr = np.concatenate([[0], np.cumsum(np.bincount(user, minlength=people))]).astype(np.int64)
    schema = Schema(0.5, 5.0)
    names = [str(i) for i in range(people)]
    return Ratings(schema, names, names[:items], ptr, item, (value / 2).astype(np.float32))


def scale(args: argparse.Namespace) -> None:
    """d = 15, q = 2700, k = 10, every answer charged to a device's ledger before it is given."""
    import tacit
    from tacit.fitting.run import trial

    ratings = synthetic(args.people, args.items, args.ratings)
    print(
        f"{ratings.n_users:,} people, {ratings.n_items:,} items, {len(ratings):,} "
        f"ratings; made with {_peak():.2f} GB"
    )
    warm = synthetic(200, 100, 2000)
    runs: list[tuple[str, dict[str, Any]]] = [
        ("descent, everybody in all 10 rounds", {"form": "descent", "each": 10}),
        ("descent, each person in one round", {"form": "descent"}),
        ("effects, one answer a person", {}),
    ]
    for name, settings in runs:
        method = tacit.ProjectedOneBitMF(epsilon=4.0, threads=args.threads, **settings)
        trial(method, warm)  # compiled before the clock starts
        start, busy = time.perf_counter(), time.process_time()
        trial(method, ratings)
        busy = time.process_time() - busy  # tells more where others use the machine
        print(
            f"{name}: {time.perf_counter() - start:.1f} s, of processors {busy:.1f} s, "
            f"peak {_peak():.2f} GB",
            flush=True,
        )


EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
CORRECTIONS = ("one", "k", "k2")


def figures(args: argparse.Namespace) -> None:
    """The measurements of the paper on one data set, `paper` beside `sound`; means over seeds."""
    import tacit

    items = tacit.read_items(args.data)
    rated = {"features": tacit.read(args.data, items=items), "no features": tacit.read(args.data)}
    cell = _Cell(rated, items, args.seeds)
    print("RMSE against epsilon (sound; one answer a person)")
    names = ("NaiveLocalMF", "OneBitMF", "ProjectedOneBitMF")
    for kind in rated:
        for name in names:
            _line(f"{name}, {kind}", [cell.rmse(kind, name, epsilon=e) for e in EPSILONS])
        _line(f"twin, {kind}", [cell.rmse(kind, "OneBitMF", calibration="none")])
    print("RMSE against epsilon (paper, k = 10), by correction factor and learning rate")
    _line(
        "NaiveLocalMF, epsilon .1, 1, 4, 8",
        [cell.naive(epsilon) for epsilon in (0.1, 1.0, 4.0, 8.0)],
    )
    for name in names[1:]:
        for factor in CORRECTIONS:
            settings = {"calibration": "paper", "correction": factor}
            _line(
                f"{name}, f_k = {factor}",
                [cell.rmse("no features", name, epsilon=e, **settings) for e in EPSILONS],
            )
        slow = {"calibration": "paper", "rate": 0.01}
        _line(
            f"{name}, rate .01",
            [cell.rmse("no features", name, epsilon=e, **slow) for e in EPSILONS],
        )
    _line(
        "twin of the descent",
        [cell.rmse("no features", "OneBitMF", calibration="none", form="descent")],
    )
    print("RMSE against k = 1, 3, 5, 10, 20, 50 at epsilon .1")
    for how in ({"calibration": "paper"}, {"form": "descent"}):
        ks = (1, 3, 5, 10, 20, 50)
        _line(
            str(how),
            [
                cell.rmse("no features", "ProjectedOneBitMF", epsilon=0.1, rounds=k, **how)
                for k in ks
            ],
        )
    print("largest error of the item factors (paper, k = 10), by correction factor")
    for factor in CORRECTIONS:
        settings = {"calibration": "paper", "correction": factor}
        _line(
            f"f_k = {factor}",
            [cell.factor_error("ProjectedOneBitMF", epsilon=e, **settings) for e in EPSILONS],
        )
    print("F-score of the top 10 against the non-private top 10")
    _line("sound", [cell.f_score("features", {}, epsilon=e) for e in EPSILONS])
    _line(
        "paper",
        [
            cell.f_score("no features", {"form": "descent"}, epsilon=e, calibration="paper")
            for e in EPSILONS
        ],
    )
    print("share of errors of at most .5, 1, 1.5, 2 (one-bit-projected)")
    for kind, how in (("features", {}), ("no features", {"calibration": "paper"})):
        for e in (0.1, 1.0, 4.0):
            _line(f"{how or 'sound'}, epsilon {e:g}", cell.errors(kind, epsilon=e, **how))
    print("traffic of a round: bits up and bytes down, a device")
    for name, how in (
        ("OneBitMF", {}),
        ("ProjectedOneBitMF", {}),
        ("ProjectedOneBitMF", {"form": "descent"}),
    ):
        print(f"  {name} {how}: {cell.traffic(name, epsilon=4.0, **how)}")


def _line(name: str, values: list[float]) -> None:
    print(f"  {name:44s}" + " ".join(f"{value:8.4f}" for value in values), flush=True)


class _Cell:
    """Fits and measurements on shared splits."""

    def __init__(self, rated: dict[str, Any], items: Any, seeds: int) -> None:
        from tacit.data import splits

        self.items = {"features": items, "no features": None}
        self.splits = {
            kind: [splits.make(r, "90/10", seed=s) for s in range(seeds)]
            for kind, r in rated.items()
        }

    def fit(self, kind: str, name: str, seed: int, **settings: Any) -> Any:
        import tacit
        from tacit.fitting.run import trial

        method = getattr(tacit, name)(seed=seed, **settings)
        return trial(method, self.splits[kind][seed].train, items=self.items[kind])

    def rmse(self, kind: str, name: str, **settings: Any) -> float:
        parts = self.splits[kind]
        found = [
            measure(self.fit(kind, name, s, **settings), parts[s], lists=False)["rmse"]
            for s in range(len(parts))
        ]
        return float(np.mean([value for value in found if value is not None]))

    def naive(self, epsilon: float) -> float:
        """Section 4.1 as printed, one seed: every device draws items x rank numbers in each
        of 11 rounds."""
        model = self.fit("no features", "NaiveLocalMF", 0, epsilon=epsilon, calibration="paper")
        return float(measure(model, self.splits["no features"][0], lists=False)["rmse"] or np.nan)

    def errors(self, kind: str, **settings: Any) -> list[float]:
        from tacit.model.person.base import Cells

        part = self.splits[kind][0]
        model, schema = (self.fit(kind, "ProjectedOneBitMF", 0, **settings), part.train.schema)
        own = (part.fold_in.value - schema.middle) / schema.unit_width
        cells = Cells(
            part.fold_in.ptr, part.fold_in.item, own.astype(float), part.test.ptr, part.test.item
        )
        told = schema.middle + schema.unit_width * model.personal.predict_cells(cells)
        wrong = np.abs(np.clip(told, schema.low, schema.high) - part.test.value)
        return [float((wrong <= limit).mean()) for limit in (0.5, 1.0, 1.5, 2.0)]

    def factor_error(self, name: str, **settings: Any) -> float:
        exact = self.fit("no features", name, 0, calibration="none", form="descent")
        noisy = self.fit("no features", name, 0, **settings)
        last = [model.shared.arrays["path"][-1] for model in (exact, noisy)]
        return float(np.abs(last[0] - last[1]).max())

    def f_score(self, kind: str, form: dict[str, Any], **settings: Any) -> float:
        """Both lists have ten items, so precision and recall are both the share in common."""
        twin = self.fit(kind, "ProjectedOneBitMF", 0, calibration="none", **form)
        model = self.fit(kind, "ProjectedOneBitMF", 0, **settings)
        given = self.splits[kind][0].fold_in
        stop = int(given.ptr[500])
        own = ((given.value[:stop] - given.schema.middle) / given.schema.unit_width).astype(float)
        tops = []
        for each in (twin, model):
            score = each.personal.score_block(given.ptr[:501], given.item[:stop], own)
            score[np.repeat(np.arange(500), np.diff(given.ptr[:501])), given.item[:stop]] = -np.inf
            tops.append(np.argsort(-score, axis=1)[:, :10])
        return float(np.mean([len(set(a) & set(b)) / 10 for a, b in zip(*tops, strict=True)]))

    def traffic(self, name: str, **settings: Any) -> list[tuple[str, int, int]]:
        import tacit
        from tacit.data.catalogue import Catalogue
        from tacit.engine.simulate import Simulate
        from tacit.methods.base import Public
        from tacit.noise.release import Charge
        from tacit.rounds.plan import Budget

        train = self.splits["no features"][0].train
        budget = Budget(settings["epsilon"], 1e-6)
        public = Public(train.schema, Catalogue(train.items), "user", "sound", budget)
        plan = getattr(tacit, name)(**settings).plan(public)
        engine = Simulate(train)
        charge = Charge(plan.events(budget).values())
        state = {}
        for round_ in plan.rounds[:3]:
            state = dict(round_.absorb(state, engine.run(round_, state, charge)))
        return [(told.round, told.bits_up, told.bytes_down) for told in engine.traffic]


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    big = commands.add_parser("scale")
    big.add_argument("--people", type=int, default=PEOPLE)
    big.add_argument("--items", type=int, default=ITEMS)
    big.add_argument("--ratings", type=int, default=RATINGS)
    big.add_argument("--threads", type=int, default=2)
    big.set_defaults(run=scale)
    small = commands.add_parser("figures")
    small.add_argument("data")
    small.add_argument("--seeds", type=int, default=3)
    small.set_defaults(run=figures)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
