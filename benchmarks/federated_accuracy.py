"""Hua et al.'s S1, S2 and S3 as printed: CDF of |error| and its mean increase over plain
factorization of 100 rounds.

    python benchmarks/federated_accuracy.py DATA... --out results.json [--only S3]

How the gain 2^-5 is applied is not printed, so every reading that could be meant is run
under its name (`READINGS`). Errors are on the training pairs with each person's own trained
profile, as the paper has it, and on a held-back tenth; `raw` as the products come out,
`kept` with predictions kept on the scale. A run in which a profile runs away is called
diverged and has no mean. Cells are kept in the file as they are made: a second call makes
only those that are missing (`federated_figures.py` makes tables and a picture of it). NOT
PRIVATE: for the owner of public research data only.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

import tacit
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.engine.federated import Federated
from tacit.engine.threads import _Total
from tacit.kernels.als import half_step, solve_rows
from tacit.methods.base import Public
from tacit.methods.factorization.federated import FederatedMF, FederatedSettings
from tacit.methods.factorization.kernels_turns import first_profile
from tacit.methods.factorization.printed.hua import OFFSET, VisibleGradients
from tacit.noise.release import Charge, NoNoise
from tacit.rounds.pattern import Pattern
from tacit.rounds.plan import Budget
from tacit.rounds.round import AnyState, Part, Round

LEVELS = (0.25, 0.5, 1.0, 1.5, 2.0)
EPSILONS = (0.05, 0.15, 0.4, 0.8)
DIVERGED = 1e3
"""A profile of a person beyond this has run away: clipping its predictions would pass an
overflow off as an error."""
READINGS: dict[str, dict[str, Any]] = {
    "mean": {"step": "mean", "bounded": False},
    "mean, |u| <= 1": {"step": "mean", "bounded": True},
    "sum": {"step": "sum", "bounded": False},
    "sum, |u| <= 1": {"step": "sum", "bounded": True},
    "over all ratings": {"step": "objective", "bounded": False},
    "equation 1, scaled": {"step": "scaled", "bounded": False},
    "mean, pieces of sd 1/k": {
        "step": "mean",
        "bounded": False,
    },  # N(0, 1/k) taken for a standard deviation
    "mean, pieces of sd 1/k, |u| <= 1": {"step": "mean", "bounded": True},
}
PLAIN = "mean"
MEAN = "mean"
FIT = "mean, |u| <= 1"
TRUE, SOLVED = "equation 1, scaled", "equation 1, solved"


@dataclass(frozen=True)
class Cell:
    """One run."""

    data: str
    scheme: str
    reading: str
    epsilon: float | None = None
    rounds: int = 100
    join: float = 0.005
    leave: float = 0.01

    @property
    def usual(self) -> bool:
        return (self.join, self.leave) == (0.005, 0.01)

    @property
    def key(self) -> str:
        return json.dumps(asdict(self))


@njit(cache=True)
def step_and_sum(
    people,
    ptr,
    item,
    rating,
    items,
    own,
    seed,
    how,
    bounded,
    limit,
    steps,
    total,
    raters,
):  # type: ignore[no-untyped-def]
    """`kernels.turns.take_step` with its gradients put on the grid and summed as they are
    made: the same integers."""
    rate, ridge, each, over, kept, more = how
    width = items.shape[1]
    change, top = np.empty(width), np.int64(np.floor(steps * limit))
    for person in people:
        u = own[person]
        if not u.any():
            first_profile(seed, person, u)
        change[:] = 0.0
        for cell in range(ptr[person], ptr[person + 1]):
            v = items[item[cell]]
            row = total[item[cell]]
            error = rating[cell]
            raters[item[cell], 0] += 1
            for a in range(width):
                error -= u[a] * v[a]
            for a in range(width):
                value = -2.0 * u[a] * error
                if value >= limit:
                    row[a] += top
                elif value <= -limit:
                    row[a] -= top
                elif value == value:
                    row[a] += np.int64(value * steps)
                change[a] -= 2.0 * v[a] * error
        cells, length = float(max(ptr[person + 1] - ptr[person], 1)), 0.0
        share, pull = each * cells + over, 2.0 * ridge * (kept * cells + more)
        for a in range(width):
            u[a] -= rate * (change[a] + pull * u[a]) / share
            length += u[a] * u[a]
        if bounded and length > 1.0:
            for a in range(width):
                u[a] /= np.sqrt(length)


class Fused(Federated):
    """The engine without arrays of cells, four times as fast; the first rounds of a run
    also go the usual way and must agree to the bit."""

    settings: FederatedSettings
    weights: tuple[float, float, float, float]
    seed: int
    values: NDArray[np.float64]

    def _sum(
        self, round_: Round, state: AnyState, tapes: Any, factors: Any = None
    ) -> Any:
        if round_.name == "initialise":
            return super()._sum(round_, state, tapes, factors or {})
        sums, check = (
            {each.name: _Total(each) for each in round_.parts},
            len(self.cohorts) < 3,
        )
        own = (
            self._personal["profile"].copy()
            if check
            else self._personal["profile"]
        )
        usual = (
            super()._sum(round_, state, tapes, factors or {}) if check else {}
        )
        if not check:
            self._who(round_.takes_part)
        given = self.settings
        part = round_.parts[0]
        people = self._present
        step_and_sum(
            np.arange(self.ratings.n_users) if people is None else people,
            self.ratings.ptr,
            self.ratings.item,
            self.values,
            np.asarray(state.items, np.float32),
            own,
            self.seed,
            (given.rate, given.ridge, *self.weights),
            bool(given.bounded),
            2.0**15,
            part.bound.steps,
            sums["gradient"].whole,
            sums["raters"].whole,
        )
        if check:
            assert np.array_equal(
                own, self._personal["profile"], equal_nan=True
            )
        assert all(
            np.array_equal(total.whole, sums[name].whole)
            for name, total in usual.items()
        )
        return sums


class Thinned(Fused):
    """Pieces of standard deviation 1/k: the noise of a sum shrinks with the root of its raters."""

    def _printed(
        self, round_: Round, part: Part, event: Any, shape: tuple[int, ...]
    ) -> tuple[NDArray[Any], float]:
        noise, sd = super()._printed(round_, part, event, shape)
        return np.round(
            noise / np.sqrt(np.maximum(self._raters(), 1))[:, None]
        ).astype(np.int64), sd


def cells(data: str) -> list[Cell]:
    """Everything that is run on one data set, what matters most first."""
    thin = [name for name in READINGS if "pieces" in name]
    made = [Cell(data, "plain", PLAIN), Cell(data, "plain", FIT)]
    made += [
        Cell(data, scheme, FIT, e) for scheme in ("S2", "S1") for e in EPSILONS
    ]
    made += [Cell(data, "S1", MEAN, e) for e in EPSILONS]
    made += [
        Cell(data, "plain", SOLVED),
        *(Cell(data, "S1", SOLVED, e) for e in EPSILONS),
    ]
    made += [
        Cell(data, "S3", FIT, e, 10_000) for e in (0.8, 0.15, None, 0.05, 0.4)
    ]
    made += [
        Cell(data, "plain", TRUE),
        *(Cell(data, "S2", TRUE, e) for e in EPSILONS),
    ]
    made += [Cell(data, "S3", TRUE, e, 10_000) for e in (0.8, 0.15, None, 0.05)]
    made += [
        Cell(data, "equation 13", name, e)
        for name in (FIT, TRUE)
        for e in (0.15, 0.8)
    ]
    made += [
        Cell(data, "plain", name)
        for name in ("sum", "sum, |u| <= 1", "over all ratings")
    ]
    made += [
        Cell(data, "S2", name, e)
        for name in (MEAN, "over all ratings", *thin)
        for e in (0.15, 0.8)
    ]
    made += [
        Cell(data, "S3", FIT, 0.8, 10_000, j, q)
        for j in (0.02, 0.01, 0.005)
        for q in (0.01, 0.02)
    ]
    made += [
        Cell(data, "S3", name, 0.8, 10_000)
        for name in (MEAN, "over all ratings", *thin)
    ]
    return list(dict.fromkeys(made))


Profiles = tuple[NDArray[np.float64], NDArray[np.float64]]


def run(train: Ratings, cell: Cell, seed: int) -> Profiles:
    """(people's profiles, items' profiles) after all rounds of a federation."""
    calibration = "none" if cell.epsilon is None else "paper"
    settings = READINGS[cell.reading] | {
        "rounds": cell.rounds,
        "join": cell.join,
        "leave": cell.leave,
    }
    settings |= {
        "scheme": "S3" if cell.scheme == "S3" else "S2",
        "third_party": cell.scheme != "equation 13",
    }
    settings |= {
        "cohort": (1000 if train.n_users > 10_000 else 100)
        if cell.scheme == "S3"
        else None
    }
    method = FederatedMF(
        calibration=calibration, epsilon=cell.epsilon, seed=seed, **settings
    )  # type: ignore[arg-type]
    budget = None if cell.epsilon is None else Budget(cell.epsilon, 0.0)
    schema = train.schema.declare(train.n_users)
    public = Public(
        schema,
        Catalogue(train.items),
        "value",
        method.calibration,
        budget,
        Pattern(train.ptr, train.item),
    )
    plan = method.plan(public)
    charge = (
        NoNoise() if budget is None else Charge(plan.events(budget).values())
    )
    engine = (Thinned if "pieces" in cell.reading else Fused)(
        train, threads=1, seed=seed
    )
    form = method.form(calibration)
    assert isinstance(form, VisibleGradients)
    engine.settings = form.settings
    engine.values = inner(train)
    engine.seed = seed
    engine.weights = form.weights(public)
    state: AnyState = form.first_state(public).after(
        people=float(train.n_users)
    )
    for round_ in plan.rounds:
        state = round_.absorb(state, engine.run(round_, state, charge))
    return engine._personal["profile"], np.asarray(state.items, np.float64)


def linear_term(
    shape: tuple[int, int], epsilon: float | None
) -> NDArray[np.float64]:
    """eta of Theorem 1 for every item: density ~ exp(-epsilon |eta| / 2 Delta)."""
    rng = np.random.default_rng()
    direction = rng.standard_normal(shape)
    length = (
        0.0
        if epsilon is None
        else rng.gamma(shape[1], 2 * 4.0 / epsilon, shape[0])
    )
    return direction * (length / np.sqrt((direction**2).sum(axis=1)))[:, None]


def solved(train: Ratings, seed: int) -> Profiles:
    """Equation 1 minimised by alternating least squares, which makes the ridge .001 M."""
    order, value = train.by_item, inner(train)
    items = np.random.default_rng(seed).standard_normal((train.n_items, 50))
    items /= np.sqrt((items**2).sum(axis=1))[:, None]
    own, ridge = (
        np.zeros((train.n_users, 50)),
        np.full((train.n_users + train.n_items, 50), 0.001 * len(train)),
    )
    for _ in range(10):
        half_step(
            train.ptr, train.item, value, items, ridge, 0, train.n_users, own
        )
        half_step(
            order.ptr,
            order.user,
            value[order.cell],
            own,
            ridge,
            0,
            train.n_items,
            items,
        )
    return own, items


def trusted(
    train: Ratings,
    cell: Cell,
    own: NDArray[np.float64],
    items: NDArray[np.float64],
) -> NDArray[np.float64]:
    """S1: from plain profiles, equation 6 for the items alone: solved, or 100 more steps."""
    width = own.shape[1]
    rate = 2.0**-5
    ridge = 0.001
    eta = linear_term(items.shape, cell.epsilon)
    order, value = train.by_item, inner(train)
    if cell.reading == SOLVED:
        solve_rows(
            order.ptr,
            order.user,
            own,
            np.full(items.shape, ridge * len(train)),
            eta / 2,
            shift := eta.copy(),
        )
        return items - shift
    square, right = np.zeros((len(items), width, width)), np.zeros_like(items)
    for item in range(len(items)):
        cut = slice(int(order.ptr[item]), int(order.ptr[item + 1]))
        people = own[order.user[cut]]
        square[item], right[item] = (
            people.T @ people,
            people.T @ value[order.cell[cut]],
        )
    raters = np.maximum(np.diff(order.ptr), 1)[:, None]
    for _ in range(cell.rounds):
        gradient = 2 * (np.einsum("jab,jb->ja", square, items) - right) + eta
        items = items - rate * (gradient / raters + 2 * ridge * items)
    return items


def refit(
    train: Ratings, items: NDArray[np.float64], reading: str
) -> NDArray[np.float64]:
    """Every person's profile by ridge regression on the final items, which section 3.3 says
    she does."""
    counts = (
        np.full(train.n_users, len(train))
        if reading in (TRUE, SOLVED)
        else np.diff(train.ptr)
    )
    ridge = np.repeat(0.001 * counts[:, None], items.shape[1], axis=1)
    own = np.zeros((train.n_users, items.shape[1]))
    half_step(
        train.ptr, train.item, inner(train), items, ridge, 0, train.n_users, own
    )
    return own


def inner(data: Ratings) -> NDArray[np.float64]:
    return (
        data.value.astype(np.float64) - data.schema.middle
    ) / data.schema.unit_width + OFFSET


def scores(
    pairs: dict[str, Ratings],
    own: NDArray[Any],
    items: NDArray[Any],
    rows: dict[str, Any],
) -> dict[str, Any]:
    """Means and distribution of |error| over the pairs of people who took part."""
    found: dict[str, Any] = {}
    for name, data in pairs.items():
        user = rows[name][data.user]
        here = (user >= 0) & own[user].any(axis=1)
        dots = np.einsum("ij,ij->i", own[user[here]], items[data.item[here]])
        value = inner(data)[here]
        kept = np.abs(np.clip(dots, 1, 5) - value)
        found[f"raw_{name}"] = float(np.abs(dots - value).mean())
        found[f"kept_{name}"] = float(kept.mean())
        found[f"cdf_{name}"] = [
            round(float((kept <= level).mean()), 4) for level in LEVELS
        ]
        found[f"fine_{name}"] = [
            round(float((kept <= level).mean()), 4)
            for level in np.arange(0, 4.01, 0.05)
        ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "data",
        nargs="+",
        help="folders of ratings; their names are used in the file",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("federated_accuracy.json")
    )
    parser.add_argument(
        "--only",
        help="a part of `SCHEME READING @`, where @ stands for the usual joins and leaves",
    )
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    done: dict[str, Any] = (
        json.loads(o.out.read_text()) if o.out.is_file() else {}
    )
    for folder in o.data:
        whole = tacit.read(folder)
        keep = np.random.default_rng(o.seed).random(len(whole)) < 0.9
        pairs = {"train": whole.take(keep), "held": whole.take(~keep)}
        place = {name: row for row, name in enumerate(pairs["train"].users)}
        rows = {
            name: np.array([place.get(p, -1) for p in data.users])
            for name, data in pairs.items()
        }
        plain: dict[str, Profiles] = {}
        for cell in cells(Path(folder).name):
            name = f"{cell.scheme} {cell.reading}" + (
                " @" if cell.usual else ""
            )
            if cell.key in done or (o.only and o.only not in name):
                continue
            began = time.process_time()
            with np.errstate(
                all="ignore"
            ):  # divergence is an outcome: named below, never averaged over
                if cell.scheme == "S1" or cell.reading == SOLVED:
                    if cell.reading not in plain:
                        first = Cell(cell.data, "plain", cell.reading)
                        known = cell.reading == SOLVED
                        plain[cell.reading] = (
                            solved(pairs["train"], o.seed)
                            if known
                            else run(pairs["train"], first, o.seed)
                        )
                    own, items = plain[cell.reading]
                    items = (
                        items
                        if cell.scheme == "plain"
                        else trusted(pairs["train"], cell, own, items)
                    )
                else:
                    own, items = run(pairs["train"], cell, o.seed)
            fine = bool(
                (np.abs(own).max() < DIVERGED) and np.isfinite(items).all()
            )
            line = (
                scores(pairs, own, items, rows) if fine else {"diverged": True}
            )
            many = (
                len(pairs["train"]) > 50 * pairs["train"].n_users
            )  # else they fit anything
            if many and np.isfinite(items).all():
                again = scores(
                    pairs,
                    refit(pairs["train"], items, cell.reading),
                    items,
                    rows,
                )
                line |= {
                    f"refit_{name}": value for name, value in again.items()
                }
            done[cell.key] = line | {
                "seconds": round(time.process_time() - began, 1)
            }
            o.out.write_text(json.dumps(done))
            print(
                cell.key,
                {
                    k: round(v, 4)
                    for k, v in line.items()
                    if "raw_" in k or "kept" in k
                },
                flush=True,
            )


if __name__ == "__main__":
    main()
