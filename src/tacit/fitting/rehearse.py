"""A rehearsal: the plan on a few invented people, before anything is charged.

Whatever would stop a fit half-way (a setting that does not fit the engine, a round that reads
what no round released, a method with an error in it) stops it here, while it is free. It
knows public facts alone: the people are invented, and noise is off because it protects nobody.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.engine import make_engine
from tacit.errors import Failure, TacitError
from tacit.fitting.order import Order
from tacit.fitting.planned import planned
from tacit.methods.base import Public
from tacit.model.shared import Shared
from tacit.noise.release import NoNoise
from tacit.rounds.loop import Loop
from tacit.rounds.pattern import Pattern

PEOPLE = 12
"""Invented: enough for every shape of a row, from one rating to all items."""
ITEMS = 60
"""Of the catalogue, at most: what a plan needs for more is checked from its sizes."""


def rehearse(order: Order, public: Public) -> Shared:
    """Run the plan for these public facts, to the finished model, of invented people."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _run(order, public)
    except TacitError:
        raise
    except Exception as error:
        raise Failure(
            f"{order.method.name} failed on invented people ({type(error).__name__}: "
            f"{error}); nothing was charged",
        ) from error


def _run(order: Order, public: Public) -> Shared:
    method = order.method
    catalogue = few_items(public.catalogue)
    ratings = invented(public.schema, catalogue)
    how = replace(
        order.how, engine=order.runs_on, threads=1, progress=None, devices=None
    )
    printed = order.calibration != "sound"
    engine = make_engine(ratings, how, budget=None, printed=printed)
    if public.schema.max_ratings is not None:
        engine.limit(public.schema.max_ratings)
    pattern: Pattern | None = None
    if public.pattern is not None:
        pattern = engine.pattern()
    facts = replace(public, catalogue=catalogue, pattern=pattern)
    plan = planned(order, facts).plan
    engine.check(plan)
    state = method.first_state(facts).after(people=float(engine.people))
    loop = Loop(plan, state)
    while (round_ := loop.next()) is not None:
        loop.absorb(round_, engine.run(round_, loop.state, NoNoise()))
    return method.finish(facts, loop.state)


def few_items(catalogue: Catalogue) -> Catalogue:
    """The first items of a catalogue, with all that is known about them."""
    if len(catalogue) <= ITEMS:
        return catalogue
    titles, years = catalogue.titles, catalogue.years
    tagged, numeric = catalogue.tagged, catalogue.numeric
    return replace(
        catalogue,
        ids=catalogue.ids[:ITEMS],
        titles=None if titles is None else titles[:ITEMS],
        years=None if years is None else years[:ITEMS],
        tagged=None if tagged is None else tagged[:ITEMS],
        numeric=None if numeric is None else numeric[:ITEMS],
    )


def invented(schema: Schema, catalogue: Catalogue, seed: int = 0) -> Ratings:
    """People who exist nowhere: the first rated one item, the last rated all of them."""
    rng = np.random.default_rng(seed)
    items = len(catalogue)
    counts = np.linspace(1, items, PEOPLE).astype(np.int64)
    rows = [
        np.sort(rng.choice(items, count, replace=False)) for count in counts
    ]
    cells = int(counts.sum())
    least = schema.low if schema.positive is None else schema.positive
    value = rng.uniform(least, schema.high, cells)
    return Ratings(
        schema,
        [f"invented {number}" for number in range(PEOPLE)],
        list(catalogue.ids),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate(rows).astype(np.uint32),
        value.astype(np.float32),
    )
