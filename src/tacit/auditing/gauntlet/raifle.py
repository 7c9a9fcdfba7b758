"""RAIFLE (Pham et al. 2023): a server chooses what devices see, so that their answers tell
most about one thing.

Here it trains its own model on people whom it has invented, who dislike every item that
hides a secret: whoever likes one then answers as far off as she may. It knows all but the
coins, so it computes the sums of both worlds and projects what it received on their
difference, round by round: the best linear test there is.

A twin has no devices. Its cell shows the same answers with the noise off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.gauntlet.exhibit import PEOPLE, TINY, Cell, Exhibit, Floats
from tacit.auditing.gauntlet.hua_profiles import profile_states
from tacit.auditing.gauntlet.stage import CANARIES, CROWD, LOW, stage_of
from tacit.data.ratings import Ratings
from tacit.engine.blocks import block_of
from tacit.fitting.run import _Run
from tacit.fitting.trained import kept_people
from tacit.methods.base import Method
from tacit.methods.factorization.state import ProfileState
from tacit.noise.release import Charge, NoNoise
from tacit.rounds.loop import passed_over
from tacit.rounds.round import AnyState, Released, Round

NAME = "chosen state"
DEVICES = ("federated", "simulate", "local")
Heard = list[dict[str, Released]]


@dataclass(frozen=True)
class AskedRounds:
    """The rounds of a plan, and the state that the server sends in each."""

    rounds: Sequence[Round]
    states: Sequence[AnyState]


def attack(shown: Exhibit) -> Cell:
    """Guess the coins of single canaries from the sums of a server that chooses the state."""
    if not set(DEVICES) & set(shown.kind.engines):
        return shown.skip(NAME, "no devices take part: a curator holds the ratings")
    target = shown.target
    method = shown.method
    quiet = target.calibration == "none"
    if quiet:
        method = shown.kind(epsilon=target.epsilon, delta=target.delta)
    asked = chosen(shown, method)
    stage = shown.stage
    heard = answers(shown, method, stage.after, asked, quiet=quiet)
    yes = answers(shown, method, stage_of(stage, True), asked, quiet=True)
    no = answers(shown, method, stage_of(stage, False), asked, quiet=True)
    scores = np.zeros(CANARIES)
    for round_, told, most, least in zip(asked.rounds, heard, yes, no, strict=True):
        for part in round_.parts:
            if part.form == "gram" or part.name not in told:
                continue
            if part.choices:
                scores += by_choice(shown, round_, asked, told[part.name])
                continue
            own = rows_of(most[part.name], stage.single)
            none = rows_of(least[part.name], stage.single)
            seen = rows_of(told[part.name], stage.single)
            if own is None or none is None or seen is None:
                continue
            weight = max(told[part.name].sd, TINY) ** -2
            scores += weight * ((seen - none) * (own - none)).sum(axis=1)
    return shown.guessed(NAME, scores, stage.singles, box="white")


def by_choice(shown: Exhibit, round_: Round, asked: AskedRounds, told: Released) -> Floats:
    """What a choice says for each canary: whether it is one that her record makes likelier
    if her coin is true, less the same if it is false."""
    state = asked.states[list(asked.rounds).index(round_)]
    said = {int(who): float(answer) for who, answer in told.value}
    scores = np.zeros(CANARIES)
    (part,) = (part for part in round_.parts if part.choices)
    for sign, coin in ((1.0, True), (-1.0, False)):
        people = stage_of(shown.stage, coin)
        block = block_of(people, slice(0, people.n_users))
        likelier = round_.contribute(block, state)[part.name].values
        for j in range(CANARIES):
            mine = said.get(CROWD + j)
            if mine is not None:
                scores[j] += sign * float(mine in likelier[CROWD + j])
    return scores


def rows_of(released: Released, rows: NDArray[np.int64]) -> Floats | None:
    """The numbers of some items, where a part has a row an item."""
    value = np.asarray(released.value, np.float64)
    if value.ndim < 2 or len(value) <= rows.max():
        return None
    return value[rows].reshape(len(rows), -1)


def chosen(shown: Exhibit, method: Method) -> AskedRounds:
    """The states of a plan that the server has run on people of its own."""
    stage = shown.stage
    liked = stage_of(stage, True)
    secret = np.isin(liked.item, stage.single)
    own = replace(liked, value=np.where(secret, LOW, liked.value).astype(np.float32))
    run = _run(shown, method, own)
    plan, state = run.settled.plan, run.first()
    if isinstance(state, ProfileState):
        return _profiles(shown, run, state)
    rounds: list[Round] = []
    states: list[AnyState] = []
    done: list[str] = []
    for round_ in plan.rounds:
        if passed_over(plan, round_, state, done):
            continue
        rounds.append(round_)
        states.append(state)
        released = run.engine.run(round_, state, NoNoise())
        done.append(round_.name)
        state = round_.absorb(state, released)
    return AskedRounds(rounds, states)


def _profiles(shown: Exhibit, run: _Run, first: ProfileState) -> AskedRounds:
    """Three states that turn people's profiles, where a paper bounds nothing."""
    rounds = run.settled.plan.rounds[:3]
    people = CROWD + np.arange(CANARIES)

    def owns(state: AnyState) -> Floats:
        run.engine.run(rounds[0], state, NoNoise())
        (profiles,) = kept_people(run.engine).values()
        return np.array(profiles[people])

    return AskedRounds(rounds, profile_states(first, shown.stage.single, owns))


def answers(
    shown: Exhibit, method: Method, ratings: Ratings, asked: AskedRounds, *, quiet: bool
) -> Heard:
    """What the server receives of these people in each round."""
    run = _run(shown, method, ratings)
    charge = NoNoise() if quiet else Charge(run.events)
    heard: Heard = []
    names = {round_.name for round_ in asked.rounds}
    states = dict(zip((r.name for r in asked.rounds), asked.states, strict=True))
    for round_ in run.settled.plan.rounds:
        if round_.name in names:
            told = run.engine.run(round_, states[round_.name], charge)
            heard.append(dict(told))
    return heard


def _run(shown: Exhibit, method: Method, ratings: Ratings) -> _Run:
    users = None if shown.kind.local else PEOPLE
    run = _Run(method, ratings, shown.stage.items, users, None)
    run.engine.watched = False  # type: ignore[attr-defined]
    return run
