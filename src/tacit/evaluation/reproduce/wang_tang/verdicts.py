"""What the numbers say of Wang & Tang's findings."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.evaluation.reproduce.experiment import Results, Verdict
from tacit.evaluation.reproduce.wang_tang.fits import (
    BASES,
    LONG,
    NEAR,
    STEPS,
    TAU,
)

WORDS = {
    "printed": "the printed formulas",
    "code": "the authors' published program",
}
SETTLED = 0.002
"""A chain whose error moves by less has settled, as far as errors tell: chosen here."""
CLOSE = 0.02
"""Within so much of its best an error counts as "not much" lost: chosen here."""


def judged(
    results: Results, told: dict[str, tuple[bool, str]], tried: str
) -> Verdict:
    """One verdict from one truth a reading."""
    reason = "; ".join(
        f"{WORDS.get(name, name)}: {words}" for name, (_, words) in told.items()
    )
    right = [name for name, (good, _) in told.items() if good]
    numbers: dict[str, float] = {}
    if len(right) == len(told) and told:
        return Verdict("holds", f"{reason}. {tried}", numbers)
    if right:
        which = " and ".join(WORDS.get(name, name) for name in right)
        return Verdict(
            "holds in one reading", f"{which}. {reason}. {tried}", numbers
        )
    return Verdict("does not hold", f"{reason}. {tried}", numbers)


def first_data(results: Results) -> Results:
    """The usual data set."""
    return results.where(data=results.asked.data[0])


def bases(here: Results) -> dict[str, float]:
    """RMSE of COS and PCC."""
    return {name: here.mean("rmse", model=name) or 9.0 for name in BASES}


def better_sgd(results: Results) -> Verdict:
    """Figure 3: DPSGD-PNBM from epsilon 1 on below PCC and COS."""
    return _better(first_data(results), "DPSGD-PNBM", (1.0, 20.0))


def better_chain(results: Results) -> Verdict:
    """Figure 4: DPPS-PNBM from .1 x 200 on below PCC and COS."""
    return _better(first_data(results), "DPPS-PNBM", (0.1 * TAU, 1.0 * TAU))


def _better(here: Results, model: str, at: Iterable[float]) -> Verdict:
    base = bases(here)
    told = {}
    for reading in WORDS:
        found = {
            epsilon: here.mean(
                "rmse", model=model, reading=reading, epsilon=epsilon
            )
            for epsilon in at
        }
        known = {e: value for e, value in found.items() if value is not None}
        if not known:
            continue
        good = all(value < min(base.values()) for value in known.values())
        some = ", ".join(f"{v:.3f} at epsilon {e:g}" for e, v in known.items())
        told[reading] = (good, some)
    words = ", ".join(f"{name} {value:.3f}" for name, value in base.items())
    other = ", ".join(
        f"{name} {here.mean('largest', model=name) or 0.0:.3f}" for name in base
    )
    return judged(
        here,
        told,
        f"Without noise: {words}, with neighbours of largest |s|; with those of largest s, "
        f"which the paper leaves open as well: {other}",
    )


def factors_large(results: Results) -> Verdict:
    """Figure 3: DPSGD-MF at 20 little above its own without noise, and below PCC and COS."""
    here = first_data(results)
    base = bases(here)
    large = here.mean("rmse", model="DPSGD-MF", epsilon=20.0) or 9.0
    plain = here.mean("rmse", model="DPSGD-MF", epsilon=None) or 9.0
    good = large < plain + CLOSE and large < min(base.values())
    words = (
        f"{large:.3f} at epsilon 20, {plain:.3f} with its noise off, COS {base['COS']:.3f}, "
        f'PCC {base["PCC"]:.3f} ("not much" is {CLOSE} here)'
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
    return judged(here, told, "RMSE")


def _gain(here: Results, model: str, **more: object) -> float | None:
    few = here.mean("rmse", model=model, epsilon=1.0, **more)
    many = here.mean("rmse", model=model, epsilon=20.0, **more)
    return None if few is None or many is None else few - many


def chains_accurate(results: Results) -> Verdict:
    """Figure 4: both chains lose little from 1 x 200 to .1 x 200."""
    here = first_data(results)
    told = {}
    ways = {
        **{
            f"DPPS-PNBM, {WORDS[r]}": ("DPPS-PNBM", {"reading": r})
            for r in WORDS
        },
        **{
            f"DPPS-MF, biases {b}": ("DPPS-MF", {"biases": b})
            for b in ("raw", "none")
        },
    }
    for name, (model, more) in ways.items():
        rows = [
            here.mean("rmse", model=model, epsilon=x * TAU, **more)
            for x in (0.1, 1.0)
        ]
        if None not in rows:
            low, high = (float(each or 0.0) for each in rows)
            words = f"{low:.3f} at .1 x 200, {high:.3f} at 1 x 200"
            told[name] = (low < high + CLOSE, words)
    return judged(here, told, f"Within {CLOSE} counts as accurate, chosen here")


def longer_chains(results: Results) -> Verdict:
    """Section 5.2: has the error settled? 300 steps against 100."""
    here = first_data(results)
    words = []
    moved = []
    for reading in WORDS:
        same = {"model": "DPPS-PNBM", "reading": reading, "epsilon": 1.0 * TAU}
        long = here.mean("rmse", steps=LONG, **same)
        short = here.mean("rmse", seed=0, steps=STEPS, **same)
        if long is not None and short is not None:
            moved.append(abs(long - short))
            words.append(
                f"{WORDS[reading]}: {short:.3f} after {STEPS} steps, {long:.3f} after "
                f"{LONG}"
            )
    if not words:
        return Verdict("not run", "long chains are not part of a quick run")
    settled = max(moved) < SETTLED
    told = "; ".join(words) + ". No theorem bounds delta for a finite chain"
    if settled:
        return Verdict("holds", f"as far as errors tell: {told}")
    return Verdict(
        "does not hold",
        f"the error still moves with the number of steps: {told}",
    )


def chain_better(results: Results) -> Verdict:
    """Figure 6: at the same rating-level epsilon of 1, DPPS below DPSGD."""
    here = first_data(results)
    told = {}
    for reading in WORDS:
        chain = here.mean(
            "rmse", model="DPPS-PNBM", reading=reading, epsilon=1.0 * TAU
        )
        descent = here.mean(
            "rmse", model="DPSGD-PNBM", reading=reading, epsilon=1.0
        )
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
    return judged(here, told, f"Largest less least RMSE over N; {words}")


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
    words = ", ".join(f"{name} N {value}" for name, value in base.items())
    return judged(here, told, f"Least error at; {words}")


def _errors(here: Results, **same: object) -> dict[int, float]:
    found = {n: here.mean(f"n{n}", **same) for n in NEAR}
    return {n: value for n, value in found.items() if value is not None}


def _range(here: Results, **same: object) -> float:
    found = _errors(here, **same).values()
    return max(found) - min(found) if found else 0.0


def _best(here: Results, **same: object) -> int:
    found = _errors(here, **same)
    return min(found, key=lambda n: found[n]) if found else 0
