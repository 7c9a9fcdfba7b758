"""What the numbers say of Wang & Tang's findings."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.papers.machine.experiment import Results, Verdict
from tacit.papers.wang_tang.figures.fits import BASES, LONG, NEAR, STEPS, TAU

WORDS = {"printed": "the printed formulas", "code": "the authors' published program"}
FROM = 100
"""Figure 5 is judged over all N, and told from here on as well: fewer serve nobody."""
SETTLED = 0.002
"""A chain whose error moves by less has settled, as far as errors tell: chosen here."""
ONE_POINT = (
    "One point of the printed grid at every epsilon, that of the authors' published program; "
    "the paper takes the best for each (see `grid`)"
)
CLOSE = 0.02
"""Within so much of its best an error counts as "not much" lost: chosen here."""


def judged(results: Results, judgements: dict[str, tuple[bool, str]], tried: str) -> Verdict:
    """One verdict from one truth a reading."""
    reason = "; ".join(f"{WORDS.get(name, name)}: {text}" for name, (_, text) in judgements.items())
    right = [name for name, (good, _) in judgements.items() if good]
    numbers: dict[str, float] = {}
    if len(right) == len(judgements) and judgements:
        return Verdict("holds", f"{reason}. {tried}", numbers)
    if right:
        which = " and ".join(WORDS.get(name, name) for name in right)
        return Verdict("holds in one reading", f"{which}. {reason}. {tried}", numbers)
    return Verdict("does not hold", f"{reason}. {tried}", numbers)


def first_data(results: Results) -> Results:
    """The usual data set, without the long chains, which have a verdict of their own."""
    subset = results.select(data=results.asked.data[0])
    return subset.only(lambda row: row.key.get("steps") != LONG)


def bases(subset: Results) -> dict[str, float]:
    """RMSE of COS and PCC."""
    return {name: subset.mean("rmse", model=name) or 9.0 for name in BASES}


def better_sgd(results: Results) -> Verdict:
    """Figure 3: DPSGD-PNBM from epsilon 1 on below PCC and COS."""
    return _better(first_data(results), "DPSGD-PNBM", (1.0, 20.0))


def better_at_20(results: Results) -> Verdict:
    """The same where the budget is largest."""
    return _better(first_data(results), "DPSGD-PNBM", (20.0,))


def better_chain(results: Results) -> Verdict:
    """Figure 4: DPPS-PNBM from .1 x 200 on below PCC and COS."""
    return _better(first_data(results), "DPPS-PNBM", (0.1 * TAU, 1.0 * TAU))


def _better(subset: Results, model: str, at: Iterable[float]) -> Verdict:
    base = bases(subset)
    judgements = {}
    for reading in WORDS:
        measured = {
            epsilon: subset.mean("rmse", model=model, reading=reading, epsilon=epsilon)
            for epsilon in at
        }
        available = {e: value for e, value in measured.items() if value is not None}
        if not available:
            continue
        good = all(value < min(base.values()) for value in available.values())
        listing = ", ".join(f"{v:.3f} at epsilon {e:g}" for e, v in available.items())
        judgements[reading] = (good, listing)
    base_listing = ", ".join(f"{name} {value:.3f}" for name, value in base.items())
    largest = {name: subset.mean("largest", model=name) or 0.0 for name in base}
    largest_listing = ", ".join(f"{name} {value:.3f}" for name, value in largest.items())
    verdict = judged(
        subset,
        judgements,
        f"PCC and COS without noise: {base_listing}, with neighbours of largest |s|; with those of "
        f"largest s, which the paper leaves open as well: {largest_listing}. {ONE_POINT}",
    )
    if verdict.outcome == "does not hold":
        return verdict
    harder = [
        WORDS[reading]
        for reading in WORDS
        if _all_below(subset, model, reading, at, min(largest.values()))
    ]
    if harder:
        addition = f". Against those of largest s too: {' and '.join(harder)}"
    else:
        addition = ". Against those of largest s in neither reading"
    outcome = verdict.outcome if harder else "holds in one reading"
    return Verdict(outcome, verdict.reason + addition, verdict.numbers)


def _all_below(
    subset: Results, model: str, reading: str, at: Iterable[float], limit: float
) -> bool:
    measured = [
        subset.mean("rmse", model=model, reading=reading, epsilon=epsilon) for epsilon in at
    ]
    available = [error for error in measured if error is not None]
    return bool(available) and max(available) < limit


def factors_large(results: Results) -> Verdict:
    """Figure 3: DPSGD-MF at 20 little above its own without noise, and below PCC and COS."""
    subset = first_data(results)
    base = bases(subset)
    large = subset.mean("rmse", model="DPSGD-MF", epsilon=20.0) or 9.0
    plain = subset.mean("rmse", model="DPSGD-MF", epsilon=None) or 9.0
    good = large < plain + CLOSE and large < min(base.values())
    reason = (
        f"{large:.3f} at epsilon 20, {plain:.3f} with its noise off, COS {base['COS']:.3f}, "
        f'PCC {base["PCC"]:.3f} ("not much" is {CLOSE} here). It loses little, and is better '
        "than PCC and not than COS"
        if large < plain + CLOSE and base["COS"] <= large < base["PCC"]
        else f"{large:.3f} at epsilon 20, {plain:.3f} with its noise off, COS "
        f"{base['COS']:.3f}, PCC {base['PCC']:.3f}"
    )
    reason += (
        ". DPSGD-MF is that of [4], which this paper does not print, with our shares of "
        "epsilon and clamps, and one set of values at every epsilon"
    )
    return Verdict("holds" if good else "does not hold", reason)


def factors_small(results: Results) -> Verdict:
    """Figure 3: DPSGD-MF loses fast below, PNBM does not."""
    subset = first_data(results)
    judgements = {}
    fall = _gain(subset, "DPSGD-MF")
    for reading in WORDS:
        neighbour_gain = _gain(subset, "DPSGD-PNBM", reading=reading)
        if neighbour_gain is not None and fall is not None:
            text = f"from epsilon 20 to 1 DPSGD-MF {fall:+.3f}, DPSGD-PNBM {neighbour_gain:+.3f}"
            judgements[reading] = (fall > 2 * neighbour_gain, text)
    return judged(subset, judgements, f"RMSE. {ONE_POINT}")


def _gain(subset: Results, model: str, **criteria: object) -> float | None:
    small_epsilon_error = subset.mean("rmse", model=model, epsilon=1.0, **criteria)
    large_epsilon_error = subset.mean("rmse", model=model, epsilon=20.0, **criteria)
    return (
        None
        if small_epsilon_error is None or large_epsilon_error is None
        else small_epsilon_error - large_epsilon_error
    )


def chains_accurate(results: Results) -> Verdict:
    """Figure 4: DPPS-PNBM at .1 x 200 and at 1 x 200 hardly behind PCC. DPPS-MF, whose
    steps depend on epsilon, is judged over the printed ones (grid.py)."""
    subset = first_data(results)
    limit = bases(subset)["PCC"] + CLOSE
    judgements = {}
    for reading in WORDS:
        rows = [
            subset.mean("rmse", model="DPPS-PNBM", reading=reading, epsilon=at)
            for at in (0.1 * TAU, 1.0 * TAU)
        ]
        if None not in rows:
            low, high = (float(error or 0.0) for error in rows)
            text = f"{low:.3f} at .1 x 200, {high:.3f} at 1 x 200"
            judgements[reading] = (max(low, high) < limit, text)
    return judged(
        subset,
        judgements,
        f"At most {limit:.3f}, the error of PCC and {CLOSE} more, counts as accurate: chosen "
        "here. DPPS-MF is judged with its printed steps under `grid`",
    )


def longer_chains(results: Results) -> Verdict:
    """Section 5.2: has the error settled? 300 steps against 100."""
    subset = results.select(data=results.asked.data[0])
    judgements = {}
    for reading in WORDS:
        same = {"model": "DPPS-PNBM", "reading": reading, "epsilon": 1.0 * TAU}
        long = subset.mean("rmse", steps=LONG, **same)
        short = subset.mean("rmse", seed=0, steps=STEPS, **same)
        if long is not None and short is not None:
            text = f"{short:.3f} after {STEPS} steps, {long:.3f} after {LONG}"
            judgements[reading] = (abs(long - short) < SETTLED, text)
    if not judgements:
        return Verdict("not run", "long chains are not part of a quick run")
    return judged(
        subset,
        judgements,
        f"Of one fold; a change below {SETTLED} counts as settled, which is all that errors "
        "tell. It is an assumption of the paper and not a finding; the number of its steps is "
        "not printed, and no theorem bounds delta for a finite chain",
    )


def chain_better(results: Results) -> Verdict:
    """Figure 6: at the same rating-level epsilon of 1, DPPS below DPSGD."""
    subset = first_data(results)
    judgements = {}
    for reading in WORDS:
        chain = subset.mean("rmse", model="DPPS-PNBM", reading=reading, epsilon=1.0 * TAU)
        descent = subset.mean("rmse", model="DPSGD-PNBM", reading=reading, epsilon=1.0)
        if chain is not None and descent is not None:
            text = f"DPPS {chain:.3f} (1 x 200), DPSGD {descent:.3f} (1)"
            judgements[reading] = (chain < descent, text)
    return judged(
        subset,
        judgements,
        "A mean of 1 for each rating is an epsilon of 200 for a person: the two promises "
        "are not of one kind",
    )


def sizes_flat(results: Results) -> Verdict:
    """Figure 5: PNBM varies less with N than PCC and COS."""
    subset = first_data(results)
    base = {name: _range(subset, model=name) for name in BASES}
    judgements = {}
    for reading in WORDS:
        ranges = {
            model: _range(subset, model=model, reading=reading)
            for model in ("DPSGD-PNBM", "DPPS-PNBM")
        }
        if all(ranges.values()):
            listing = ", ".join(f"{m} {r:.3f}" for m, r in ranges.items())
            judgements[reading] = (max(ranges.values()) < min(base.values()), listing)
    listing = ", ".join(f"{name} {value:.3f}" for name, value in base.items())
    code_listing = ", ".join(
        f"{model} {_range(subset, FROM, model=model, **criteria):.3f}"
        for model, criteria in (
            ("DPSGD-PNBM", {"reading": "code"}),
            ("DPPS-PNBM", {"reading": "code"}),
            *((name, {}) for name in BASES),
        )
    )
    return judged(
        subset,
        judgements,
        f"Largest less least RMSE over N from {NEAR[0]} to {NEAR[-1]}; {listing}. From N {FROM} "
        f"on, with that program: {code_listing}. Which N figure 5 has is not in the text",
    )


def sizes_small(results: Results) -> Verdict:
    """Figure 5: PNBM is best with fewer neighbours than PCC and COS."""
    subset = first_data(results)
    base = {name: _best(subset, model=name) for name in BASES}
    judgements = {}
    for reading in WORDS:
        best_sizes = {
            model: _best(subset, model=model, reading=reading)
            for model in ("DPSGD-PNBM", "DPPS-PNBM")
        }
        listing = ", ".join(f"{m} N {n}" for m, n in best_sizes.items())
        judgements[reading] = (max(best_sizes.values()) < min(base.values()), listing)
    listing = ", ".join(
        f"{name} N {n} ({_errors(subset, model=name).get(n, 0.0):.3f}, at 900 "
        f"{_errors(subset, model=name).get(900, 0.0):.3f})"
        for name, n in base.items()
    )
    return judged(
        subset, judgements, f"N of the least error; {listing}, where the paper takes 900 for both"
    )


def _errors(subset: Results, **same: object) -> dict[int, float]:
    errors = {n: subset.mean(f"n{n}", **same) for n in NEAR}
    return {n: value for n, value in errors.items() if value is not None}


def _range(subset: Results, smallest: int = 0, **same: object) -> float:
    size_errors = _errors(subset, **same).items()
    selected = [error for n, error in size_errors if n >= smallest]
    return max(selected) - min(selected) if selected else 0.0


def _best(subset: Results, **same: object) -> int:
    errors = _errors(subset, **same)
    return min(errors, key=lambda n: errors[n]) if errors else 0
