"""What the numbers say of Wang & Tang's findings."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.evaluation.reproduce.experiment import Results, Verdict
from tacit.evaluation.reproduce.wang_tang.fits import BASES, LONG, NEAR, STEPS, TAU

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


def judged(results: Results, told: dict[str, tuple[bool, str]], tried: str) -> Verdict:
    """One verdict from one truth a reading."""
    reason = "; ".join(f"{WORDS.get(name, name)}: {words}" for name, (_, words) in told.items())
    right = [name for name, (good, _) in told.items() if good]
    numbers: dict[str, float] = {}
    if len(right) == len(told) and told:
        return Verdict("holds", f"{reason}. {tried}", numbers)
    if right:
        which = " and ".join(WORDS.get(name, name) for name in right)
        return Verdict("holds in one reading", f"{which}. {reason}. {tried}", numbers)
    return Verdict("does not hold", f"{reason}. {tried}", numbers)


def first_data(results: Results) -> Results:
    """The usual data set, without the long chains, which have a verdict of their own."""
    here = results.where(data=results.asked.data[0])
    return here.only(lambda row: row.key.get("steps") != LONG)


def bases(here: Results) -> dict[str, float]:
    """RMSE of COS and PCC."""
    return {name: here.mean("rmse", model=name) or 9.0 for name in BASES}


def better_sgd(results: Results) -> Verdict:
    """Figure 3: DPSGD-PNBM from epsilon 1 on below PCC and COS."""
    return _better(first_data(results), "DPSGD-PNBM", (1.0, 20.0))


def better_at_20(results: Results) -> Verdict:
    """The same where the budget is largest."""
    return _better(first_data(results), "DPSGD-PNBM", (20.0,))


def better_chain(results: Results) -> Verdict:
    """Figure 4: DPPS-PNBM from .1 x 200 on below PCC and COS."""
    return _better(first_data(results), "DPPS-PNBM", (0.1 * TAU, 1.0 * TAU))


def _better(here: Results, model: str, at: Iterable[float]) -> Verdict:
    base = bases(here)
    told = {}
    for reading in WORDS:
        found = {
            epsilon: here.mean("rmse", model=model, reading=reading, epsilon=epsilon)
            for epsilon in at
        }
        known = {e: value for e, value in found.items() if value is not None}
        if not known:
            continue
        good = all(value < min(base.values()) for value in known.values())
        some = ", ".join(f"{v:.3f} at epsilon {e:g}" for e, v in known.items())
        told[reading] = (good, some)
    words = ", ".join(f"{name} {value:.3f}" for name, value in base.items())
    largest = {name: here.mean("largest", model=name) or 0.0 for name in base}
    other = ", ".join(f"{name} {value:.3f}" for name, value in largest.items())
    verdict = judged(
        here,
        told,
        f"PCC and COS without noise: {words}, with neighbours of largest |s|; with those of "
        f"largest s, which the paper leaves open as well: {other}. {ONE_POINT}",
    )
    if verdict.outcome == "does not hold":
        return verdict
    harder = [
        WORDS[reading]
        for reading in WORDS
        if _all_below(here, model, reading, at, min(largest.values()))
    ]
    if harder:
        rest = f". Against those of largest s too: {' and '.join(harder)}"
    else:
        rest = ". Against those of largest s in neither reading"
    outcome = verdict.outcome if harder else "holds in one reading"
    return Verdict(outcome, verdict.reason + rest, verdict.numbers)


def _all_below(here: Results, model: str, reading: str, at: Iterable[float], limit: float) -> bool:
    found = [here.mean("rmse", model=model, reading=reading, epsilon=epsilon) for epsilon in at]
    known = [each for each in found if each is not None]
    return bool(known) and max(known) < limit


def factors_large(results: Results) -> Verdict:
    """Figure 3: DPSGD-MF at 20 little above its own without noise, and below PCC and COS."""
    here = first_data(results)
    base = bases(here)
    large = here.mean("rmse", model="DPSGD-MF", epsilon=20.0) or 9.0
    plain = here.mean("rmse", model="DPSGD-MF", epsilon=None) or 9.0
    good = large < plain + CLOSE and large < min(base.values())
    words = (
        f"{large:.3f} at epsilon 20, {plain:.3f} with its noise off, COS {base['COS']:.3f}, "
        f'PCC {base["PCC"]:.3f} ("not much" is {CLOSE} here). It loses little, and is better '
        "than PCC and not than COS"
        if large < plain + CLOSE and base["COS"] <= large < base["PCC"]
        else f"{large:.3f} at epsilon 20, {plain:.3f} with its noise off, COS "
        f"{base['COS']:.3f}, PCC {base['PCC']:.3f}"
    )
    words += (
        ". DPSGD-MF is that of [4], which this paper does not print, with our shares of "
        "epsilon and clamps, and one set of values at every epsilon"
    )
    return Verdict("holds" if good else "does not hold", words)


def factors_small(results: Results) -> Verdict:
    """Figure 3: DPSGD-MF loses fast below, PNBM does not."""
    here = first_data(results)
    told = {}
    fall = _gain(here, "DPSGD-MF")
    for reading in WORDS:
        own = _gain(here, "DPSGD-PNBM", reading=reading)
        if own is not None and fall is not None:
            words = f"from epsilon 20 to 1 DPSGD-MF {fall:+.3f}, DPSGD-PNBM {own:+.3f}"
            told[reading] = (fall > 2 * own, words)
    return judged(here, told, f"RMSE. {ONE_POINT}")


def _gain(here: Results, model: str, **more: object) -> float | None:
    few = here.mean("rmse", model=model, epsilon=1.0, **more)
    many = here.mean("rmse", model=model, epsilon=20.0, **more)
    return None if few is None or many is None else few - many


def chains_accurate(results: Results) -> Verdict:
    """Figure 4: DPPS-PNBM at .1 x 200 and at 1 x 200 hardly behind PCC. DPPS-MF, whose
    steps depend on epsilon, is judged over the printed ones (grid.py)."""
    here = first_data(results)
    limit = bases(here)["PCC"] + CLOSE
    told = {}
    for reading in WORDS:
        rows = [
            here.mean("rmse", model="DPPS-PNBM", reading=reading, epsilon=at)
            for at in (0.1 * TAU, 1.0 * TAU)
        ]
        if None not in rows:
            low, high = (float(each or 0.0) for each in rows)
            words = f"{low:.3f} at .1 x 200, {high:.3f} at 1 x 200"
            told[reading] = (max(low, high) < limit, words)
    return judged(
        here,
        told,
        f"At most {limit:.3f}, the error of PCC and {CLOSE} more, counts as accurate: chosen "
        "here. DPPS-MF is judged with its printed steps under `grid`",
    )


def longer_chains(results: Results) -> Verdict:
    """Section 5.2: has the error settled? 300 steps against 100."""
    here = results.where(data=results.asked.data[0])
    told = {}
    for reading in WORDS:
        same = {"model": "DPPS-PNBM", "reading": reading, "epsilon": 1.0 * TAU}
        long = here.mean("rmse", steps=LONG, **same)
        short = here.mean("rmse", seed=0, steps=STEPS, **same)
        if long is not None and short is not None:
            words = f"{short:.3f} after {STEPS} steps, {long:.3f} after {LONG}"
            told[reading] = (abs(long - short) < SETTLED, words)
    if not told:
        return Verdict("not run", "long chains are not part of a quick run")
    return judged(
        here,
        told,
        f"Of one fold; a change below {SETTLED} counts as settled, which is all that errors "
        "tell. It is an assumption of the paper and not a finding; the number of its steps is "
        "not printed, and no theorem bounds delta for a finite chain",
    )


def chain_better(results: Results) -> Verdict:
    """Figure 6: at the same rating-level epsilon of 1, DPPS below DPSGD."""
    here = first_data(results)
    told = {}
    for reading in WORDS:
        chain = here.mean("rmse", model="DPPS-PNBM", reading=reading, epsilon=1.0 * TAU)
        descent = here.mean("rmse", model="DPSGD-PNBM", reading=reading, epsilon=1.0)
        if chain is not None and descent is not None:
            words = f"DPPS {chain:.3f} (1 x 200), DPSGD {descent:.3f} (1)"
            told[reading] = (chain < descent, words)
    return judged(
        here,
        told,
        "A mean of 1 for each rating is an epsilon of 200 for a person: the two promises "
        "are not of one kind",
    )


def sizes_flat(results: Results) -> Verdict:
    """Figure 5: PNBM varies less with N than PCC and COS."""
    here = first_data(results)
    base = {name: _range(here, model=name) for name in BASES}
    told = {}
    for reading in WORDS:
        own = {
            model: _range(here, model=model, reading=reading)
            for model in ("DPSGD-PNBM", "DPPS-PNBM")
        }
        if all(own.values()):
            words = ", ".join(f"{m} {r:.3f}" for m, r in own.items())
            told[reading] = (max(own.values()) < min(base.values()), words)
    words = ", ".join(f"{name} {value:.3f}" for name, value in base.items())
    some = ", ".join(
        f"{model} {_range(here, FROM, model=model, **more):.3f}"
        for model, more in (
            ("DPSGD-PNBM", {"reading": "code"}),
            ("DPPS-PNBM", {"reading": "code"}),
            *((name, {}) for name in BASES),
        )
    )
    return judged(
        here,
        told,
        f"Largest less least RMSE over N from {NEAR[0]} to {NEAR[-1]}; {words}. From N {FROM} "
        f"on, with that program: {some}. Which N figure 5 has is not in the text",
    )


def sizes_small(results: Results) -> Verdict:
    """Figure 5: PNBM is best with fewer neighbours than PCC and COS."""
    here = first_data(results)
    base = {name: _best(here, model=name) for name in BASES}
    told = {}
    for reading in WORDS:
        own = {
            model: _best(here, model=model, reading=reading)
            for model in ("DPSGD-PNBM", "DPPS-PNBM")
        }
        words = ", ".join(f"{m} N {n}" for m, n in own.items())
        told[reading] = (max(own.values()) < min(base.values()), words)
    words = ", ".join(
        f"{name} N {n} ({_errors(here, model=name).get(n, 0.0):.3f}, at 900 "
        f"{_errors(here, model=name).get(900, 0.0):.3f})"
        for name, n in base.items()
    )
    return judged(here, told, f"N of the least error; {words}, where the paper takes 900 for both")


def _errors(here: Results, **same: object) -> dict[int, float]:
    found = {n: here.mean(f"n{n}", **same) for n in NEAR}
    return {n: value for n, value in found.items() if value is not None}


def _range(here: Results, least: int = 0, **same: object) -> float:
    told = _errors(here, **same).items()
    found = [error for n, error in told if n >= least]
    return max(found) - min(found) if found else 0.0


def _best(here: Results, **same: object) -> int:
    found = _errors(here, **same)
    return min(found, key=lambda n: found[n]) if found else 0
