"""RAIFLE (Pham et al. 2023): a server chooses what devices see, so that their answers tell
most about one thing.

Here it trains its own model on people whom it has invented, who dislike every item that
hides a secret: whoever likes one then answers as far off as she may. It knows all but the
coins, so it computes the sums of both worlds and projects what it received on their
difference, round by round: the best linear test there is.

A twin has no devices. Its cell shows the same answers with the noise off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.gauntlet.exhibit import PEOPLE, TINY, Cell, Exhibit, Floats
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

DEVICES = ("federated", "simulate", "local")
Heard = list[dict[str, Released]]
TURN = 130.0
"""L: with 23 items and the printed gain a profile turns by about half a right angle."""
PUSH = 1e5
"""M: thousands of times the printed noise."""


@dataclass(frozen=True)
class AskedRounds:
    """The rounds of a plan, and the state that the server sends in each."""

    rounds: Sequence[Round]
    states: Sequence[AnyState]


def chosen_state(exhibit: Exhibit) -> Cell:
    """Guess the coins of single canaries from the sums of a server that chooses the state."""
    if not set(DEVICES) & set(exhibit.kind.engines):
        return exhibit.skip("chosen state", "no devices take part: a curator holds the ratings")
    target = exhibit.target
    method = exhibit.method
    quiet = target.calibration == "none"
    if quiet:
        method = exhibit.kind(epsilon=target.epsilon, delta=target.delta)
    probes = choose_states(exhibit, method)
    stage = exhibit.stage
    received = answers(exhibit, method, stage.after, probes, quiet=quiet)
    yes = answers(exhibit, method, stage_of(stage, True), probes, quiet=True)
    no = answers(exhibit, method, stage_of(stage, False), probes, quiet=True)
    scores = np.zeros(CANARIES)
    for round_, released, if_true, if_false in zip(probes.rounds, received, yes, no, strict=True):
        for part in round_.parts:
            if part.form == "gram" or part.name not in released:
                continue
            if part.choices:
                scores += by_choice(exhibit, round_, probes, released[part.name])
                continue
            true_rows = rows_of(if_true[part.name], stage.single)
            false_rows = rows_of(if_false[part.name], stage.single)
            released_rows = rows_of(released[part.name], stage.single)
            if true_rows is None or false_rows is None or released_rows is None:
                continue
            weight = max(released[part.name].sd, TINY) ** -2
            scores += weight * ((released_rows - false_rows) * (true_rows - false_rows)).sum(axis=1)
    return exhibit.guessed("chosen state", scores, stage.singles, box="white")


def by_choice(exhibit: Exhibit, round_: Round, probes: AskedRounds, released: Released) -> Floats:
    """What a choice says for each canary: whether it is one that her record makes likelier
    if her coin is true, less the same if it is false."""
    state = probes.states[list(probes.rounds).index(round_)]
    choices = {int(user): float(answer) for user, answer in released.value}
    scores = np.zeros(CANARIES)
    (part,) = (part for part in round_.parts if part.choices)
    for sign, coin in ((1.0, True), (-1.0, False)):
        people = stage_of(exhibit.stage, coin)
        block = block_of(people, slice(0, people.n_users))
        likelier = round_.contribute(block, state)[part.name].values
        for j in range(CANARIES):
            mine = choices.get(CROWD + j)
            if mine is not None:
                scores[j] += sign * float(mine in likelier[CROWD + j])
    return scores


def rows_of(released: Released, rows: NDArray[np.int64]) -> Floats | None:
    """The numbers of some items, where a part has a row an item."""
    value = np.asarray(released.value, np.float64)
    if value.ndim < 2 or len(value) <= rows.max():
        return None
    return value[rows].reshape(len(rows), -1)


def choose_states(exhibit: Exhibit, method: Method) -> AskedRounds:
    """The states of a plan that the server has run on people of its own."""
    stage = exhibit.stage
    liked = stage_of(stage, True)
    secret = np.isin(liked.item, stage.single)
    server_ratings = replace(liked, value=np.where(secret, LOW, liked.value).astype(np.float32))
    run = _run(exhibit, method, server_ratings)
    plan, state = run.settled.plan, run.first_state()
    if isinstance(state, ProfileState):
        return _profiles(exhibit, run, state)
    rounds: list[Round] = []
    states: list[AnyState] = []
    finished: list[str] = []
    for round_ in plan.rounds:
        if passed_over(plan, round_, state, finished):
            continue
        rounds.append(round_)
        states.append(state)
        released = run.engine.run(round_, state, NoNoise())
        finished.append(round_.name)
        state = round_.absorb(state, released)
    return AskedRounds(rounds, states)


def _profiles(exhibit: Exhibit, run: _Run, initial: ProfileState) -> AskedRounds:
    """Three states that turn people's profiles, where a paper bounds nothing."""
    rounds = run.settled.plan.rounds[:3]
    people = CROWD + np.arange(CANARIES)

    def owns(state: AnyState) -> Floats:
        run.engine.run(rounds[0], state, NoNoise())
        (profiles,) = kept_people(run.engine).values()
        return np.array(profiles[people])

    return AskedRounds(rounds, profile_states(initial, exhibit.stage.single, owns))


def answers(
    exhibit: Exhibit, method: Method, ratings: Ratings, probes: AskedRounds, *, quiet: bool
) -> Heard:
    """What the server receives of these people in each round."""
    run = _run(exhibit, method, ratings)
    charge = NoNoise() if quiet else Charge(run.events)
    received: Heard = []
    names = {round_.name for round_ in probes.rounds}
    states = dict(zip((r.name for r in probes.rounds), probes.states, strict=True))
    for round_ in run.settled.plan.rounds:
        if round_.name in names:
            released = run.engine.run(round_, states[round_.name], charge)
            received.append(dict(released))
    return received


def _run(exhibit: Exhibit, method: Method, ratings: Ratings) -> _Run:
    users = None if exhibit.kind.local else PEOPLE
    run = _Run(method, ratings, exhibit.stage.items, users, None)
    run.engine.watched = False  # type: ignore[attr-defined]
    return run


# The states of a server that attacks devices which train profiles as Hua et al. print it.
#
# Nothing bounds a residual r - u'v, and the server picks v. Three rounds are enough. In the
# first it sends nothing, and u stays what the public seed made it. In the second it sends each
# secret item as 3 u/|u|^2 + L w, w at right angles to u: the residual is r - 3, so that u turns
# toward w or away from it as the secret rating says. In the third it sends M u/|u|: the
# residual is about -M/|u| either way, so the gradient, which has both parts of u in it, differs
# by as much as the server likes.


def profile_states(
    initial: AnyState, rows: NDArray[np.int64], owns: Callable[[AnyState], Floats]
) -> list[AnyState]:
    """The three states. `rows` are the secret items, and `owns` gives the profile of each
    one's person after a round in which this state was sent: the server computes it, for it
    knows the seed."""
    size = initial.items.shape
    nothing = initial.after(items=np.zeros(size, initial.items.dtype))
    profiles = owns(nothing)
    length = np.linalg.norm(profiles, axis=1, keepdims=True)
    across = np.random.default_rng(0).normal(size=profiles.shape)
    across -= profiles * (across * profiles).sum(axis=1, keepdims=True) / length**2
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    states = []
    for vectors in (3 * profiles / length**2 + TURN * across, PUSH * profiles / length):
        items = np.zeros(size)
        items[rows] = vectors
        states.append(initial.after(items=items.astype(initial.items.dtype)))
    return [nothing, *states]
