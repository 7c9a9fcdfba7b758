"""Tables 2 and 3 of Shin et al.: what is hidden, and what is sent."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tacit.papers.machine.experiment import (
    Experiment,
    Finding,
    Key,
    PaperTable,
    Results,
    Values,
    Verdict,
    Wanted,
)
from tacit.papers.machine.sources import Sources
from tacit.papers.shin2018.figures.fits import RANKS, K, active_profiles

NUMBER = 4
"""Bytes of a number on the wire."""
YES, NO = "yes", "no"


def degree_keys(request: Wanted) -> Iterable[Key]:
    """The two readings of the loop."""
    for loop in ("k", "k+1"):
        yield {"loop": loop}


def degree_work(sources: Sources, key: Key) -> Values:
    """What all answers of a person cost together, at a claim of 1: from the plan."""
    from tacit.data.catalogue import Catalogue
    from tacit.data.schema import Schema
    from tacit.methods import find
    from tacit.methods.base import Public
    from tacit.rounds.plan import Budget

    method = find("one-bit-projected")(calibration="paper", epsilon=1.0, rounds=K, loop=key["loop"])
    catalogue = Catalogue([str(i) for i in range(100)])
    public = Public(Schema(1, 5), catalogue, "user", "paper", Budget(1.0, 0.0))
    events = method.plan(public).events(Budget(1.0, 0.0)).values()
    costs = [getattr(event, "claimed_epsilon", 0.0) for event in events]
    return {"rounds": len(costs), "epsilon": float(sum(costs))}


def degree_tables(results: Results) -> Iterable[PaperTable]:
    """The printed table, then what the answers cost."""
    yield PaperTable(
        "Table 2 as printed: what each protects",
        (
            "",
            "one item",
            "all items",
            "one rating",
            "all ratings",
            "one iteration",
            "all iterations",
        ),
        (
            ("Shin et al.", YES, YES, YES, YES, YES, YES),
            ("Hua et al.", NO, NO, YES, NO, YES, NO),
            ("Shen and Jin", YES, NO, NO, NO, "n/a", "n/a"),
        ),
    )
    yield PaperTable(
        f"All answers of a person, claimed epsilon 1, k {K}",
        ("loop", "rounds", "epsilon of all items, ratings and iterations"),
        tuple(
            (row.key["loop"], row.values["rounds"], f"{row.values['epsilon']:.2f}")
            for row in results.rows
        ),
    )


def judge_degrees(results: Results) -> Verdict:
    """Whether k rounds at epsilon/k are what is run."""
    cost = {loop: results.mean("epsilon", loop=loop) or 0.0 for loop in ("k", "k+1")}
    good = {loop: value <= 1 + 1e-9 for loop, value in cost.items()}
    text = (
        f"each answer is a bit of epsilon/k about a person's whole record: with k rounds "
        f"{cost['k']:.2f} of the claim, with the loops as printed (iter <= k from 0, so k + 1 "
        f"rounds) {cost['k+1']:.2f}"
    )
    if all(good.values()):
        return Verdict("holds", text, cost)
    if good["k"]:
        return Verdict("holds in one reading", f"k rounds. {text}", cost)
    return Verdict("does not hold", text, cost)


TABLE2 = Experiment(
    figure="table 2",
    title="degrees of privacy",
    data=(),
    invented=True,
    split="none",
    parameters="from the plan of GD-DR alone",
    keys=degree_keys,
    work=degree_work,
    draw=lambda results: (),
    tables=degree_tables,
    findings=(
        Finding(
            "a user's entire data, over all iterations",
            "noisy gradients submitted by each user over k iterations satisfy epsilon-LDP",
            "table 2, lemma 1",
            judge_degrees,
        ),
    ),
)


def cost_keys(request: Wanted) -> Iterable[Key]:
    """Each data set once."""
    for data in request.data:
        yield {"data": data}


def cost_work(sources: Sources, key: Key) -> Values:
    """Bytes of a round, from the sizes of the data."""
    from tacit.data.catalogue import Catalogue
    from tacit.methods import find
    from tacit.methods.base import Public
    from tacit.rounds.plan import Budget

    ratings = active_profiles(sources.ratings(key["data"]), key["data"])
    rank = RANKS.get(key["data"], 15)
    method = find("one-bit-projected")(calibration="paper", epsilon=1.0, rank=rank)
    public = Public(ratings.schema, Catalogue(ratings.items), "user", "paper", Budget(1.0, 0.0))
    rows = method.used(public)["projection"]
    rated = float(np.diff(ratings.ptr).mean())
    return {
        "q": rows,
        "up": 1 / 8,
        "down": NUMBER * rank * rows,
        "hua up": NUMBER * rank * rated,
        "hua down": NUMBER * rank * ratings.n_items,
    }


def cost_tables(results: Results) -> Iterable[PaperTable]:
    """As table 3, in bytes."""
    rows: list[tuple[object, ...]] = []
    for row in results.rows:
        v = row.values
        rows.append((f"GD-DR, {row.key['data']} (q {v['q']})", "1 bit", f"{v['down']:,.0f}"))
        rows.append(
            (f"Hua et al., {row.key['data']}", f"{v['hua up']:,.0f}", f"{v['hua down']:,.0f}")
        )
    rows.append(("GD-DR, paper, ML-20M (q 2700)", "1 bit", "about 150,000"))
    rows.append(("Hua et al., paper, ML-20M", "about 8,000", "about 1,500,000"))
    yield PaperTable(
        "Bytes of an iteration", ("", "a user to server", "server to a user"), tuple(rows)
    )


def judge_cost(results: Results) -> Verdict:
    """A tenth of what Hua et al. send down."""
    shares = [row.values["down"] / row.values["hua down"] for row in results.rows]
    listing = ", ".join(
        f"{row.key['data']} {row.values['down']:,.0f} of {row.values['hua down']:,.0f} bytes"
        for row in results.rows
    )
    good = all(share < 0.11 for share in shares)
    return Verdict(
        "holds" if good else "does not hold",
        f"{listing}: the gradient (q x d), from which a device rebuilds V; q is a tenth of the "
        "items, not O(log m)",
    )


TABLE3 = Experiment(
    figure="table 3",
    title="communication of an iteration",
    data=("ml-100k", "ml-1m", "ml-20m", "libimseti"),
    split="none",
    parameters="d 15 (LibimSeTi 20), numbers of 4 bytes",
    keys=cost_keys,
    work=cost_work,
    draw=lambda results: (),
    tables=cost_tables,
    findings=(
        Finding(
            "one bit up, a tenth down",
            "each user always transmits one bit to server ... Server transmits the updated V of "
            "dm elements to each user in Hua et al's method, which are about 1.5MB for MovieLens "
            "... In private GD-DR server transmits its reduced form of dq elements ... which are "
            "about 0.15MB for MovieLens",
            "section 5.2, table 3",
            judge_cost,
        ),
    ),
)
