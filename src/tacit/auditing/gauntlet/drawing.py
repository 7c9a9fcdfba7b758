"""Attacks of the gauntlet on how noise is drawn: its last bits, its time and its generator."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit
from tacit.auditing.gauntlet.game import GameScore, epsilon_of, guess
from tacit.auditing.verdict import make_finding
from tacit.errors import Failure
from tacit.ledger.account.event import Event, RandomizedChoice, Response, Skellam
from tacit.noise.bits import Bits, fresh
from tacit.noise.device import choose, respond
from tacit.noise.gaussian import discrete_gaussian
from tacit.noise.knorm import knorm
from tacit.noise.laplace import discrete_laplace
from tacit.noise.law import Law, law_of
from tacit.noise.portion import skellam
from tacit.noise.release import Charge, draw_law

SUMS = ("gaussian", "laplace", "knorm")
"""Laws that are added to sums."""
COINS = 4000
NEAR = 0.25
"""Where sums with 1 are multiples of 2^-53 and sums with 0 need not be."""
LAST = 2.0**53
Noise = Callable[[int], NDArray[np.float64]]
TIMING_DRAWS = 1500
SPREAD = 1000.0
"""Steps."""
TOGETHER = 3
"""Dimensions of a K-norm draw."""
FORK_DRAWS = 64
WIDE = 1e6
"""Steps: two independent rows of this spread are never equal."""

# The laws that a method draws its noise from, for attacks on the drawing itself.


def laws(events: Iterable[Event]) -> dict[str, Event]:
    """One event for each law that is drawn, by its name."""
    by_name: dict[str, Event] = {}
    for event in events:
        name = "skellam" if isinstance(event, Skellam) else law_of(event).name
        if name == "":
            name = event.kind
        if name != "none":
            by_name.setdefault(name, event)
    return by_name


def added(events: Iterable[Event]) -> dict[str, Law]:
    """Those that are added to sums."""
    return {
        name: law_of(event) for name, event in laws(events).items() if law_of(event).name in SUMS
    }


# Mironov 2012: the last bits of a noisy number tell what was noised.
#
# Not every float can be the sum of a number and a float of noise, and which can depends on the
# number. The attack takes releases of 0 and of 1 and looks for values near 0 that are no
# multiple of 2^-53: only noise that was added to 0 gives them. Integers on a grid have none.


def floating_point(exhibit: Exhibit) -> Cell:
    """Attack every law that the method adds to sums, at a spread of 1."""
    laws = added(exhibit.events)
    if not laws:
        return exhibit.skip("floating point", "no noise is added to a sum")
    won = max(
        (_guessed(name, exhibit.target.mistake) for name in sorted(laws)),
        key=lambda finding: finding.epsilon,
    )
    return make_finding(
        exhibit.target, "floating point", won.epsilon, note=won.summary, box="white"
    )


@lru_cache(maxsize=8)
def _guessed(name: str, mistake: float) -> GameScore:
    return porous(on_grid(name), mistake)


def on_grid(name: str, steps: int = 2**20) -> Noise:
    """Noise of a law, in units, as `tacit.noise.release` leaves the grid."""

    def noise(count: int) -> NDArray[np.float64]:
        samples = draw_law(Law(name, float(steps), count), (count, 1)).steps
        return np.asarray(samples.ravel() / steps)

    return noise


def porous(noise: Noise, mistake: float, seed: int = 3) -> GameScore:
    """Guess 0 wherever a value near 0 is no multiple of 2^-53; pass over the rest."""
    coins = np.random.default_rng(seed).random(COINS) < 0.5
    noisy = coins + noise(COINS)
    scaled = noisy * LAST
    odd = (np.abs(noisy) < NEAR) & (scaled != np.rint(scaled))
    right = int((~coins[odd]).sum())
    guesses = int(odd.sum())
    epsilon = epsilon_of(right, guesses, COINS, 0.0, mistake)
    return GameScore(right, guesses, COINS, epsilon)


# Timing of samplers: does the work of a draw tell what was drawn?
#
# Seconds depend on the machine, and statements say that they are not protected. What they could
# tell is how many random words a draw took: the one thing in a sampler that varies. The attack
# counts words of single draws and asks whether large noise takes another number than small.


def timing(exhibit: Exhibit) -> Cell:
    """Guess the size of noise by the words that it took, for every law of the method."""
    laws = added(exhibit.events)
    if not laws:
        return exhibit.skip("timing", "no noise is added to a sum: a report takes one word")
    won = max(
        (_timing_guessed(name, exhibit.target.mistake) for name in sorted(laws)),
        key=lambda finding: finding.epsilon,
    )
    return make_finding(exhibit.target, "timing", won.epsilon, note=won.summary, box="white")


class CountedBits(Bits):
    """Bits that count how often they are asked, and for how much."""

    asked = 0

    def words(self, n: int) -> NDArray[np.uint64]:
        """As many words as ever."""
        self.asked += n
        return super().words(n)

    def word(self) -> int:
        """One of them."""
        self.asked += 1
        return super().word()


@lru_cache(maxsize=8)
def _timing_guessed(name: str, mistake: float) -> GameScore:
    bits = CountedBits()
    sizes = np.empty(TIMING_DRAWS)
    work = np.empty(TIMING_DRAWS)
    for k in range(TIMING_DRAWS):
        before = bits.asked
        sizes[k] = abs(_draw_one(name, bits))
        work[k] = bits.asked - before
    return by_work(work, sizes, mistake)


def by_work(work: NDArray[np.float64], sizes: NDArray[np.float64], mistake: float) -> GameScore:
    """Guess whether noise is above its median by the work that it took. Ties are broken by
    place, which knows nothing."""
    return guess(work, sizes > np.median(sizes), delta=0.0, mistake=mistake)


def _draw_one(name: str, bits: Bits) -> int:
    if name == "gaussian":
        return int(discrete_gaussian(1, SPREAD, bits)[0])
    if name == "laplace":
        return int(discrete_laplace(1, SPREAD, bits)[0])
    return int(knorm(1, TOGETHER, SPREAD, bits)[0, 0])


# Fork and replay of the generator: two processes, or two calls, that draw the same noise.
#
# The difference of two releases with the same noise is exact. The attack forks twice where a
# generator is alive, has either child draw noise of each law, and compares; and it asks for the
# noise of one paid event twice.


def fork_and_replay(exhibit: Exhibit) -> Cell:
    """Fork where each law is drawn; draw an event twice."""
    drawn_laws = laws(exhibit.events)
    if not drawn_laws:
        return exhibit.skip("fork and replay", "nothing is drawn")
    same = [name for name in sorted(drawn_laws) if _repeats(name)]
    twice = [e.name for e in drawn_laws.values() if _drawn_twice(e)]
    note = "children draw different noise, and an event is drawn once"
    if same or twice:
        note = f"drawn again: {', '.join([*same, *twice])}"
    return make_finding(exhibit.target, "fork and replay", 0.0, leak=bool(same or twice), note=note)


@lru_cache(maxsize=16)
def _repeats(name: str) -> bool:
    """Whether two children of one process draw the same noise of a law."""
    alive = fresh()
    alive.word()  # something is buffered
    return repeats(lambda: _bytes(name) + alive.token(16))


def repeats(draw: Callable[[], bytes]) -> bool:
    """Whether any part of what two forked children draw is equal."""
    first_child, second_child = _in_child(draw), _in_child(draw)
    size = 16
    return (
        first_child[-size:] == second_child[-size:] or first_child[:-size] == second_child[:-size]
    )


def _in_child(draw: Callable[[], bytes]) -> bytes:
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about threads: the child only draws
        child = os.fork()
    if child == 0:
        try:
            os.write(write, draw())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        got = pipe.read()
    os.waitpid(child, 0)
    return got


def _bytes(name: str) -> bytes:
    """Some noise of a law."""
    import numpy as np

    if name in ("gaussian", "laplace", "knorm"):
        return draw_law(Law(name, WIDE, FORK_DRAWS), (FORK_DRAWS, 1)).steps.tobytes()
    if name == "skellam":
        return skellam(FORK_DRAWS, WIDE**2).tobytes()
    if name == "choice":
        choice = RandomizedChoice(name="x", epsilon=0.1, choices=9, favoured=1)
        return choose(choice, np.zeros((FORK_DRAWS, 1))).tobytes()
    bit = Response(name="x", epsilon=0.1, reports=1)
    return respond(bit, np.zeros(4 * FORK_DRAWS)).tobytes()


def _drawn_twice(event: Event) -> bool:
    charge = Charge((event.model_copy(update={"instead": None}),))
    charge.draw(event.name)
    try:
        charge.draw(event.name)
    except Failure:
        return False
    return True
