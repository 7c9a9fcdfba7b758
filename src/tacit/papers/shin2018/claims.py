"""Shin et al. 2018: one randomized bit a round, and how many rounds there are."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np

from tacit.auditing.guesses import interval
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.engine.printed import PrintedSimulate
from tacit.ledger.account.event import Event
from tacit.methods import find
from tacit.methods.base import Public
from tacit.noise.device import log_ratio
from tacit.noise.release import Charge
from tacit.papers.attacks.claim import Force, PaperClaim, SeenByAttack
from tacit.rounds.options import Calibration
from tacit.rounds.plan import Budget

ROUNDS = 4
"""k."""
PEOPLE = {False: 100_000, True: 40_000}
"""Who all answer alike: as many runs of one device."""
STILL = 1e-9
"""A gain with which the state stays as it is, so that all rounds are independent."""


def bits(calibration: Calibration) -> Callable[[PaperClaim, Force], SeenByAttack]:
    """An attack by the frequency of bits: everybody gives 1, or everybody 5, whose gradients
    are at the two ends. The chance that all bits of a device are +1 multiplies over rounds."""

    def attack(claim: PaperClaim, force: Force) -> SeenByAttack:
        people = PEOPLE[force.quick]
        ones = count_positive_bits(claim, calibration, people, 1.0)
        fives = count_positive_bits(claim, calibration, people, 5.0)
        mistake_share = force.mistake / len(ones)
        proven = 0.0
        for one, five in zip(ones, fives, strict=True):
            lower = interval(one, people, mistake_share)[0]
            upper = interval(five, people, mistake_share)[1]
            proven += log(lower / upper)
        return SeenByAttack(
            max(proven, 0.0),
            f"{len(ones)} rounds answer where {ROUNDS} were meant",
            "everybody gives one item 1, or everybody 5",
        )

    return attack


def count_positive_bits(
    claim: PaperClaim, calibration: Calibration, people: int, stars: float
) -> list[int]:
    """How many bits of each round are +1, if all give `stars`."""
    extra = {} if calibration == "paper" else {"each": ROUNDS}
    method = find(claim.method)(
        epsilon=claim.epsilon,
        delta=0.0,
        calibration=calibration,
        form="descent",
        rank=1,
        rounds=ROUNDS,
        rate=STILL,
        own_rate=STILL,
        **extra,
    )
    ratings = Ratings(
        Schema(1, 5),
        [str(k) for k in range(people)],
        ["a"],
        np.arange(people + 1, dtype=np.int64),
        np.zeros(people, np.uint32),
        np.full(people, stars, np.float32),
    )
    budget = Budget(claim.epsilon, 0.0)
    public = Public(ratings.schema, Catalogue(["a"]), "user", calibration, budget)
    plan = method.plan(public)
    events: dict[str, Event] = plan.events(budget)
    engine = PrintedSimulate(ratings)
    state = method.first_state(public)
    counts = []
    for round_ in plan.rounds:
        event = events[f"{round_.name}/{round_.parts[0].name}"]
        got = engine.run(round_, state, Charge([event]))
        (released,) = got.values()
        mean = float(released.value.sum()) * np.tanh(log_ratio(event) / 2)
        counts.append(round((people + mean) / 2))
        state = round_.absorb(state, got)
    return counts


PAPER = "Shin et al. 2018"
RECORD = "any two records of one person"
CLAIMS = (
    PaperClaim(
        "k + 1 rounds",
        PAPER,
        "algorithm 1 is epsilon-private over its k rounds (it runs from 0 to k)",
        RECORD,
        "one-bit",
        "user",
        2.0,
        bits("paper"),
        "false",
    ),
    PaperClaim(
        "k rounds",
        PAPER,
        "the same with k rounds, as it is meant",
        RECORD,
        "one-bit",
        "user",
        2.0,
        bits("sound"),
        "true",
    ),
)
