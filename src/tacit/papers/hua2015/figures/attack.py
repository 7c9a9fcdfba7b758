"""The difference attack of equation 11: what the recommender learns from gradients of two
iterations, whose common eta cancels.

The attacker knows everything but one rating: the item profiles that it sent out, the
victim's first profile and her other ratings, as differential privacy supposes. For each
rating from 1 to 5 it follows the victim's profile through the iterations and compares the
differences of gradients that she would have sent with those that came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.papers.hua2015.figures.runs import split_of
from tacit.papers.machine.experiment import (
    Curve,
    Experiment,
    Finding,
    Key,
    Panel,
    Results,
    Values,
    Verdict,
    Wanted,
)
from tacit.papers.machine.sources import Sources

Floats = NDArray[np.float64]
ROUNDS = 100
FACTORS = 50
GAIN = 2.0**-5
RIDGE = 0.001
SPAN = 4.0
VICTIMS = 200
EPSILONS = (0.05, 0.15, 0.8, 4.0, 20.0)
VIEWS = {
    "eta": "her gradient with eta alone",
    "own rho": "with a rho of her own (equation 13)",
    "sum": "the sum of all raters with rho (4.2)",
}
CHANCE = 20.0
"""Per cent of right guesses among five ratings."""


def keys(request: Wanted) -> Iterable[Key]:
    """All views of one run."""
    for data in request.data:
        for seed in request.splits:
            for epsilon in EPSILONS[1::2] if request.quick else EPSILONS:
                victims = 60 if request.quick else VICTIMS
                yield {"data": data, "seed": seed, "epsilon": epsilon, "victims": victims}


def work(sources: Sources, key: Key) -> Values:
    """Per cent of ratings that are guessed, by view."""
    part = split_of(sources, key)
    train = part.train
    path = profiles_sent(part, key["seed"])
    rng = np.random.default_rng(key["seed"])
    right = dict.fromkeys(VIEWS, 0)
    cells = rng.choice(len(train), min(key["victims"], len(train)), replace=False)
    schema = train.schema
    value = train.value.astype(np.float64)
    rating = (value - schema.middle) / schema.unit_width + 3.0
    scale = 2 * SPAN / key["epsilon"]
    for cell in cells:
        person, _item = int(train.user[cell]), int(train.item[cell])
        user_cells = slice(int(train.ptr[person]), int(train.ptr[person + 1]))
        position = int(cell) - user_cells.start
        items = train.item[user_cells].astype(np.int64)
        candidates = np.stack(
            [
                followed(path, items, rating[user_cells], position, guess, person, key)
                for guess in range(1, 6)
            ]
        )
        true = int(np.rint(rating[cell])) - 1
        for view in VIEWS:
            received = candidates[true] + noise(view, scale, rng)
            away = distances(view, np.diff(received, axis=0), np.diff(candidates, axis=1))
            right[view] += int(away.argmin()) == true
    return {view: 100 * count / len(cells) for view, count in right.items()}


def profiles_sent(part: Any, seed: int) -> Floats:
    """What the recommender sent in each iteration, of the items: it knows that exactly."""
    from tacit.fitting.run import trial
    from tacit.methods import find

    path: list[Floats] = []

    def watch(name: str, state: Any, user_arrays: Mapping[str, Floats]) -> None:
        path.append(np.asarray(state.items, np.float64))

    method = find("mf-federated")(calibration="paper", epsilon=1.0, seed=seed, rounds=ROUNDS)
    trial(method, part.train, noise_off=True, watch=watch)
    return np.stack(path)


def followed(
    path: Floats,
    items: NDArray[np.int64],
    rating: Floats,
    position: int,
    guess: int,
    person: int,
    key: Key,
) -> Floats:
    """The gradients of one item that the victim sends if her rating of it is `guess`."""
    from tacit.kernels.user_step import first_profile

    u = np.empty(FACTORS)
    first_profile(key["seed"], person, u)
    assumed = rating.copy()
    assumed[position] = guess
    gradients = np.empty((len(path), FACTORS))
    for t, profiles in enumerate(path):
        v = profiles[items]
        error = assumed - v @ u
        gradients[t] = -2 * u * error[position]
        u = u - GAIN * (-2 * error @ v / len(items) + 2 * RIDGE * u)
        u /= max(1.0, float(np.linalg.norm(u)))
    return gradients


def noise(view: str, scale: float, rng: np.random.Generator) -> Floats:
    """Beside eta, which a difference takes away: nothing; K-norm noise of the victim; or, of
    a sum whose other terms are known, Laplace noise by Lemma 1."""
    if view == "eta":
        return np.zeros((ROUNDS, FACTORS))
    if view == "sum":
        return rng.laplace(scale=scale * FACTORS**0.5, size=(ROUNDS, FACTORS))
    direction = rng.standard_normal((ROUNDS, FACTORS))
    length = rng.gamma(FACTORS, scale, ROUNDS)
    away = np.sqrt((direction**2).sum(axis=1))
    return np.asarray(direction * (length / away)[:, None])


def distances(view: str, received: Floats, candidates: Floats) -> Floats:
    """Of what came from what each rating would have sent."""
    away = received[None] - candidates
    if view == "sum":
        return np.asarray(np.abs(away).sum(axis=(1, 2)))
    return np.asarray((away**2).sum(axis=(1, 2)))


def draw(results: Results) -> Iterable[Panel]:
    """One curve a view."""
    for data in results.asked.data:
        feature_interactions = [
            Curve.of(label, results.along("epsilon", view, data=data))
            for view, label in VIEWS.items()
        ]
        over = results.along("epsilon", "eta", data=data)
        feature_interactions.append(Curve.level("chance", CHANCE, over))
        yield Panel(
            f"Ratings that the recommender guesses, {data}",
            "epsilon",
            "per cent",
            tuple(feature_interactions),
            log_x=True,
            note=f"Among five ratings, from {ROUNDS} iterations.",
        )


def judge_attack(results: Results) -> Verdict:
    """With eta alone."""
    share = results.mean("eta") or 0.0
    reason = (
        f"with eta alone the recommender names {share:.0f} % of the ratings at every epsilon "
        f"(chance {CHANCE:.0f} %)"
    )
    return Verdict("holds" if share > 2 * CHANCE else "does not hold", reason)


def judge_defence(results: Results) -> Verdict:
    """With rho: the claim is for one iteration, and there are 100."""
    clauses = []
    good = True
    for view in ("own rho", "sum"):
        series = results.along("epsilon", view)
        shares = ", ".join(f"{y:.0f} % at {x:g}" for x, y in zip(series.x, series.y, strict=True))
        clauses.append(f"{VIEWS[view]}: {shares}")
        small = [y for x, y in zip(series.x, series.y, strict=True) if x <= 1]
        good = good and max(small, default=CHANCE) < CHANCE + 10
    reason = "; ".join(clauses) + (
        ". The epsilon of rho is that of one iteration; over 100 it adds up, which shows from "
        "where guesses rise above chance"
    )
    return Verdict("holds" if good else "does not hold", reason)


ATTACK = Experiment(
    figure="attack",
    title="the difference attack of equation 11",
    data=("ml-100k",),
    split="none: ratings of the training half are guessed",
    parameters=f"reading mean, bounded; {VICTIMS} ratings, {ROUNDS} iterations; the attacker "
    "knows all but the rating",
    keys=keys,
    work=work,
    draw=draw,
    findings=(
        Finding(
            "difference attack",
            "the recommender learns the difference between the true local gradients and the "
            "effect of eta has been eliminated",
            "section 4.2, equation 11",
            judge_attack,
        ),
        Finding(
            "defence",
            "the privacy leak due to (11) can be prevented if rho ... satisfies "
            "epsilon-differential privacy",
            "section 4.2, after Rajkumar and Agarwal",
            judge_defence,
        ),
    ),
)
