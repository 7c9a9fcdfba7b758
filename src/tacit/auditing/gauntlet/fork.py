"""Fork and replay of the generator: two processes, or two calls, that draw the same noise.

The difference of two releases with the same noise is exact. The attack forks twice where a
generator is alive, has either child draw noise of each law, and compares; and it asks for the
noise of one paid event twice.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import lru_cache

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit
from tacit.auditing.gauntlet.laws import laws
from tacit.auditing.verdict import make_finding
from tacit.errors import Failure
from tacit.ledger.account.event import Event, RandomizedChoice, Response
from tacit.noise.bits import fresh
from tacit.noise.device import choose, respond
from tacit.noise.law import Law
from tacit.noise.portion import skellam
from tacit.noise.release import Charge, draw_law

NAME = "fork and replay"
DRAWS = 64
WIDE = 1e6
"""Steps: two independent rows of this spread are never equal."""


def attack(exhibit: Exhibit) -> Cell:
    """Fork where each law is drawn; draw an event twice."""
    drawn_laws = laws(exhibit.events)
    if not drawn_laws:
        return exhibit.skip(NAME, "nothing is drawn")
    same = [name for name in sorted(drawn_laws) if _repeats(name)]
    twice = [e.name for e in drawn_laws.values() if _drawn_twice(e)]
    note = "children draw different noise, and an event is drawn once"
    if same or twice:
        note = f"drawn again: {', '.join([*same, *twice])}"
    return make_finding(exhibit.target, NAME, 0.0, leak=bool(same or twice), note=note)


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
        return draw_law(Law(name, WIDE, DRAWS), (DRAWS, 1)).steps.tobytes()
    if name == "skellam":
        return skellam(DRAWS, WIDE**2).tobytes()
    if name == "choice":
        choice = RandomizedChoice(name="x", epsilon=0.1, choices=9, favoured=1)
        return choose(choice, np.zeros((DRAWS, 1))).tobytes()
    bit = Response(name="x", epsilon=0.1, reports=1)
    return respond(bit, np.zeros(4 * DRAWS)).tobytes()


def _drawn_twice(event: Event) -> bool:
    charge = Charge((event.model_copy(update={"instead": None}),))
    charge.draw(event.name)
    try:
        charge.draw(event.name)
    except Failure:
        return False
    return True
