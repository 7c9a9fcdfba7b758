"""A rehearsal before anything is charged: the method tries itself on invented people
(`tacit.methods.rehearsal`). Tacit's own engines answer for themselves (`Engine.check`).
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.engine import OWN, make_engine
from tacit.engine.federated import Federated
from tacit.errors import Failure, TacitError
from tacit.fitting.order import Order
from tacit.fitting.price import Priced
from tacit.methods.base import Method, Public
from tacit.methods.rehearsal import invented, reduce_public, rehearsed
from tacit.model.shared import Shared
from tacit.noise.release import NoNoise
from tacit.rounds.loop import Loop
from tacit.rounds.people import Crowd

_PASSED: set[Hashable] = set()
"""What was rehearsed in this process: the same code on the same public facts says the same."""


def rehearse(order: Order, public: Public, *, with_draws: bool = True) -> Shared:
    """Run the plan for these public facts, to the finished model, of invented people.
    `with_draws`: as a fit would, with its own draws of who takes part, and on its own engine
    where that is not Tacit's; else everybody takes part, and no secret word is drawn."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            crowd_of = _crowd_of if with_draws else None
            shared = rehearsed(order.method, public, crowd_of)
            if with_draws and order.runs_on not in OWN:
                _try_engine(order, reduce_public(public))
            return shared
    except TacitError:
        raise
    except Exception as error:
        raise Failure(
            f"{order.method.name} failed on invented people ({type(error).__name__}: "
            f"{error}); nothing was charged"
        ) from error


def rehearse_once(order: Order, public: Public) -> None:
    """The same, once in a process for the same method on the same public facts: for trials,
    which publish nothing and are many."""
    public_facts = facts(order, public)
    if public_facts not in _PASSED:
        rehearse(order, public, with_draws=order.runs_on not in OWN)
        _PASSED.add(public_facts)


def facts(order: Order, public: Public) -> Hashable:
    """Everything that the verdict depends on; a verdict is used again only while all of it is
    equal."""
    settings = repr(sorted(order.settings.items()))
    items = (public.items, public.catalogue.has_features)
    start = None if public.start is None else public.start.digest()
    return (
        type(order.method),
        order.runs_on,
        settings,
        order.budget,
        public.unit,
        public.schema,
        items,
        public.pattern is None,
        start,
        None if public.known is None else public.known.words,
    )


def _crowd_of(people: Ratings) -> Crowd:
    """They have devices, so that whatever kind of participation can be asked of them."""
    crowd = Federated(people, 1)
    if people.schema.max_ratings is not None:
        crowd.limit(people.schema.max_ratings)
    return crowd


def _try_engine(order: Order, public: Public) -> None:
    """Of an engine that is not Tacit's nothing is known: it runs the plan too."""
    people = invented(public.schema, public.catalogue)
    execution = replace(order.how, engine=order.runs_on, threads=1, progress=None)
    engine = make_engine(people, execution)
    first_state = order.method.first_state(public)
    state = replace(first_state, people=float(len(people.users)))
    loop = Loop(order.method.plan(public), state)
    loop.run(partial(engine.run, charge=NoNoise()))


# A rehearsed plan, with its prices, for a trial of the very same method over the same public facts:
# an evaluation rehearses before it books itself, and need not plan twice.


@dataclass(frozen=True, eq=False)
class Rehearsed:
    """A method and what was planned for it."""

    method: Method
    public: Public
    priced: Priced

    def plan_for(self, method: Method, public: Public) -> Priced | None:
        """The same plan, where it would be made again; None where anything differs."""
        same = (
            method is self.method
            and _plain(public)
            and _plain(self.public)
            and _alike(public.catalogue, self.public.catalogue)
            and replace(public, catalogue=self.public.catalogue) == self.public
        )
        return self.priced if same else None


def _plain(public: Public) -> bool:
    """Without what is too large to be compared in passing."""
    return public.pattern is None and public.start is None and not public.known


def _alike(left_catalogue: Catalogue, right_catalogue: Catalogue) -> bool:
    """The same object, or ids alone, which are the same."""
    if left_catalogue is right_catalogue:
        return True
    bare = not (left_catalogue.has_features or right_catalogue.has_features)
    return bare and (left_catalogue.titles, left_catalogue.ids) == (
        right_catalogue.titles,
        right_catalogue.ids,
    )
